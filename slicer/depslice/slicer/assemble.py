"""From a closure to a :class:`~depslice.slicer.model.Slice`: items, and a cut of each file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Final

from depslice.callgraph.model import Diagnostic, Severity, Symbol
from depslice.callgraph.program import Module, Program, top_bound
from depslice.callgraph.project import INCLUDABLE, left_out_for
from depslice.slicer.closure import Closure, PieceKey
from depslice.slicer.cut import FileCut, Form, Link, StatementPath
from depslice.slicer.model import Item, Omitted, Slice
from depslice.slicer.order import dependency_order

_OTHERS: Final = frozenset({"build", "virtualenv", "hidden"})
"""Why folders are left out that are called like a package from elsewhere (``build``) by chance."""
NEEDED: Final = "needed-but-left-out"
"""The slug of what is left out of the analysis and imported by the slice."""


def assemble(
    program: Program,
    closure: Closure,
    targets: tuple[str, ...],
    forms: Mapping[str, Form] | None = None,
) -> Slice:
    """The slice that ``closure`` is for ``targets``; ``forms``: items shown smaller."""
    smaller = forms or {}
    chains = closure.chains()
    items = tuple(
        sorted(
            (
                Item(
                    symbol=symbol,
                    reason=chains[identifier],
                    distance=distance,
                    form=smaller.get(identifier, Form.FULL),
                )
                for identifier, distance in closure.distances.items()
                if (symbol := _symbol(program, identifier)) is not None
            ),
            key=lambda item: (item.distance, item.symbol.id),
        )
    )
    return Slice(
        targets=targets,
        items=items,
        externals=closure.imports_from_outside(),
        unresolved=tuple(
            sorted(closure.unresolved, key=lambda u: (u.source, u.site, u.name, u.reason))
        ),
        omitted=tuple(
            Omitted(symbol=symbol, why=why, distance=distance)
            for symbol, (why, distance) in sorted(closure.omitted.items())
            if symbol not in closure.distances
        ),
        cuts=make_cuts(program, closure, smaller),
        diagnostics=(
            *(d for d in program.diagnostics if _concerns(program, d.path, closure)),
            *_needed_but_left_out(program, closure),
        ),
    )


def _needed_but_left_out(program: Program, closure: Closure) -> Iterator[Diagnostic]:
    """What the slice imports of the repo, and is not analysed: ``pkg/vendor``, a ``big.py``."""
    asked: dict[str, str] = {}  # paths below packages -> what is imported
    for module, name in closure.externals:
        package, _, rest = module.partition(".")
        found = program.files.get(package)
        if found is not None and rest:
            folder = found.path.rpartition("/")[0]
            path = f"{folder}/" if folder else ""
            for part in rest.split("."):
                path += part
                asked.setdefault(path, f"{module}.{name}" if name else module)
                path += "/"
        elif found is None and package not in sys.stdlib_module_names:
            left = left_out_for(program.project, package)
            if left is not None and left.reason not in _OTHERS:
                asked.setdefault(
                    left.path.removesuffix(".py"), f"{module}.{name}" if name else module
                )
    for left in program.project.left_out:
        wanted = asked.get(left.path.removesuffix(".py"))
        if wanted is not None:
            again = f"; --include '/{left.path}' brings it in" if left.reason in INCLUDABLE else ""
            yield Diagnostic(
                slug=NEEDED,
                severity=Severity.WARNING,
                message=f"left out ({left.reason}), and the slice imports {wanted} from it{again}",
                path=left.path,
            )


def _concerns(program: Program, path: str, closure: Closure) -> bool:
    file = program.by_path.get(path)
    return file is None or file.module in closure.modules


def _symbol(program: Program, identifier: str) -> Symbol | None:
    module = program.module(identifier.partition(":")[0])
    if module is None:
        return None
    return program.symbol_table(module).get(identifier)


def make_cuts(program: Program, closure: Closure, forms: Mapping[str, Form]) -> tuple[FileCut, ...]:
    """What to keep of each file; ``forms`` are items shown in a smaller form."""
    kept: dict[str, list[int]] = {}
    for name, index in closure.kept:
        kept.setdefault(name, []).append(index)
    smaller: dict[str, dict[StatementPath, Form]] = {}
    for identifier, form in forms.items():
        for name, index in closure.pieces_of.get(identifier, ()):
            module = program.module(name)
            assert module is not None
            smaller.setdefault(name, {})[module.summary.pieces[index].path] = form
    cuts: dict[str, FileCut] = {}
    for name in closure.modules:
        module = program.module(name)
        if module is not None:
            cuts[name] = _cut(
                program, module, sorted(kept.get(name, ())), closure, smaller.get(name, {})
            )
    return tuple(dependency_order(program, cuts, closure.kept))


def _cut(
    program: Program,
    module: Module,
    kept: list[int],
    closure: Closure,
    forms: Mapping[StatementPath, Form],
) -> FileCut:
    summary = module.summary
    keep: set[StatementPath] = set()
    aliases: dict[StatementPath, frozenset[str]] = {}
    stars: dict[StatementPath, frozenset[str]] = {}
    reexports: dict[StatementPath, frozenset[str]] = {}
    runs: dict[StatementPath, str] = {}
    submodules: dict[StatementPath, dict[str, tuple[str, ...]]] = {}
    links: dict[str, Link] = {}
    substance = any(summary.pieces[i].kind != "future" for i in kept)
    for index in kept:
        piece = summary.pieces[index]
        if piece.kind == "future" and not substance:
            continue
        keep.add(piece.path)
        if piece.kind != "import":
            continue
        key: PieceKey = (module.name, index)
        wanted = frozenset(closure.aliases.get(key, ()))
        explicit = frozenset(closure.stars.get(key, ()))
        if explicit and "*" not in wanted:
            stars[piece.path] = explicit
            wanted = explicit
        aliases[piece.path] = wanted
        if key in closure.submodules:
            submodules[piece.path] = {
                bound: tuple(modules) for bound, modules in closure.submodules[key].items()
            }
        if not wanted and key in closure.runs:
            runs[piece.path] = closure.runs[key].text
        unread = frozenset(
            n
            for n in wanted
            if n != "*" and piece.owner < 0 and (module.name, n) not in closure.read_names
        )
        if unread:
            reexports[piece.path] = unread
        if piece.owner < 0:
            links.update(_links(program, module, piece.index, wanted))
    text = program.text(module) if keep else ""
    return FileCut(
        path=module.file.path,
        module=module.name,
        is_package=module.is_package,
        text=text,
        keep=frozenset(keep),
        aliases=aliases,
        stars=stars,
        reexports=reexports,
        runs=runs,
        submodules=submodules,
        links=links,
        overriding=_overriding(program, module, kept),
        modules=program.called_otherwise(module) if keep else {},
        undocumented=frozenset(
            summary.pieces[i].path for i in kept if (module.name, i) in closure.undocumented
        ),
        forms={path: form for path, form in forms.items() if path in keep},
        line_end=program.line_end(module) if keep else "\n",
    )


def _overriding(program: Program, module: Module, kept: list[int]) -> dict[str, str]:
    """What star imports from outside the repo bind anew of what the module has bound before."""
    found: dict[str, str] = {}
    summary = module.summary
    stars = [index for index in kept if index in summary.stars]
    for name, pieces in summary.scope.items() if stars else ():
        for index in stars:
            if min(pieces) < index and name[0] != "_":
                dotted = program.given_outside(module, index, name)
                if dotted is not None:
                    found[name] = dotted.rpartition(".")[0]
    return found


def _links(
    program: Program,
    module: Module,
    index: int,
    wanted: frozenset[str],
) -> dict[str, Link]:
    """What names that the import statement ``index`` binds are."""
    imports = module.summary.pieces[index].imports
    links: dict[str, Link] = {}
    for bound, level, target, item in imports:
        if bound == "*":
            for name in wanted - {"*"}:
                source = program.star_of(module, index, name)
                if source is not None:
                    outside = _outside(program, source, name)
                    links[name] = Link(module=source.name, name=name, outside=outside)
            continue
        if bound not in wanted:
            continue
        absolute = program.import_target(module, level, target)
        if item is None:
            name = absolute if level < 0 else top_bound(absolute, target)
            links[bound] = Link(module=name) if program.is_module(name) else Link()
            continue
        source = program.module(absolute)
        inner = f"{absolute}.{item}"
        if (
            source is not None
            and item in source.summary.scope
            and not (source is module and program.is_module(inner))
            and not program.comes_as_submodule(module, absolute, item)
        ):
            links[bound] = Link(module=absolute, name=item)
        elif program.is_module(inner):
            links[bound] = Link(module=inner)
        elif source is not None:
            outside = _outside(program, source, item)
            links[bound] = Link(module=absolute, name=item, outside=outside)
        else:
            links[bound] = Link()
    return links


def _outside(
    program: Program, source: Module, name: str, seen: frozenset[str] = frozenset()
) -> str | None:
    """The module outside the repo from which ``source`` has ``name`` by a star, if it has.

    ``seen``: the modules of the repo that have been gone through, which may be a circle.
    """
    if name in source.summary.scope or source.name in seen:
        return None
    for index in reversed(source.summary.stars):
        given_by = program.star_of(source, index, name)
        if given_by is not None:
            return _outside(program, given_by, name, seen | {source.name})
        dotted = program.given_outside(source, index, name)
        if dotted is not None:
            return dotted.rpartition(".")[0]
    return None
