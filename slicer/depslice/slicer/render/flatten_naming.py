"""Giving every entity one name in the flat file, readable and never captured."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Collection, Iterable, Iterator

from depslice.slicer.render.flatten_names import Entity, EntityKind, identifier
from depslice.slicer.render.flatten_scopes import Scope, ScopeKind, local_names

# Bound in the flat file they would say something about that file.
_MODULE_ATTRIBUTES = frozenset(
    {
        "__all__",
        "__annotations__",
        "__dir__",
        "__doc__",
        "__file__",
        "__getattr__",
        "__loader__",
        "__name__",
        "__package__",
        "__path__",
        "__spec__",
    }
)

Vanishes = Callable[[Scope, str], bool]
"""Whether the only binding of a name in a block is an import that the flat file drops."""


def give_names(
    entities: Iterable[Entity],
    *,
    reserved: Collection[str],
    vanishes: Vanishes,
) -> None:
    """Set ``flat`` of every entity; those that come first keep their names.

    No two get the same name, none gets one of ``reserved`` (builtins and unknown
    names in use), and none gets a name that a block which refers to it binds.
    """
    ordered = list(entities)
    taken = set(reserved)
    wanted = {one.bound for one in ordered}
    for entity in ordered:
        for candidate in _candidates(entity):
            own = candidate == entity.bound
            if (
                candidate not in taken
                and (own or candidate not in wanted)
                and not keyword.iskeyword(candidate)
                and not any(
                    _hidden(candidate, scope, names, last, vanishes)
                    for scope, (names, last) in entity.scopes.items()
                )
            ):
                entity.flat = candidate
                taken.add(candidate)
                break


def _candidates(entity: Entity) -> Iterator[str]:
    # A name that nothing uses must not look redefined wherever a local has it.
    base = f"_{entity.bound}" if entity.effect_only else entity.bound
    if base not in _MODULE_ATTRIBUTES:
        yield base
    if base.startswith("__"):
        base = "_" + base.strip("_")
    if entity.module.startswith("<"):
        suffixes = ["fallback"]
    elif entity.kind is EntityKind.OWN or entity.name is not None:
        suffixes = [entity.module.rpartition(".")[2], entity.module]
    else:
        suffixes = ["module", f"{entity.module}_module"]
    for suffix in suffixes:
        yield _joined(base, suffix)
    count = 2
    while True:
        yield _joined(base, f"{suffixes[0]}_{count}")
        count += 1


def _joined(base: str, suffix: str) -> str:
    name = f"{base}_{identifier(suffix).strip('_') or 'module'}"
    # Two leading underscores would be mangled in a class.
    return "_" + name.lstrip("_") if name.startswith("__") else name


def _hidden(
    candidate: str, scope: Scope, names: set[str], last: tuple[int, int], vanishes: Vanishes
) -> bool:
    """Whether code in ``scope`` would find something else under ``candidate``."""
    mangled = candidate.startswith("__") and not candidate.endswith("__")
    current: Scope | None = scope
    while mangled and current is not None:
        if current.kind is ScopeKind.CLASS:
            return True
        current = current.parent
    if candidate in names:
        return False  # spelled like that in the source, where it is not hidden
    for block in local_names(scope):
        if not block.binds(candidate) or vanishes(block, candidate):
            continue
        if block.kind is ScopeKind.CLASS and last < block.first_binding(candidate):
            continue
        return True
    return False
