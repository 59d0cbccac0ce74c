"""What a resolver is given, what it answers, and how one is found by name.

A resolver says which definitions the calls of a repository reach. Resolvers
are found through the entry-point group ``depslice.resolvers``; each entry is a
callable without parameters that gives a :class:`Resolver`. The built-in ones
use the same door.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol

from depslice.callgraph.errors import DepsliceError, OptionError, ResolverUnavailable
from depslice.callgraph.model import Diagnostic, Reference, Severity, Site, Symbol, Unresolved
from depslice.callgraph.plugins import lacking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP = "depslice.resolvers"

# Used when depslice runs from its source tree, where no metadata is installed.
_BUILT_IN = {
    "jedi": "depslice.callgraph.resolvers.jedi_resolver:JediResolver",
    "pycg": "depslice.callgraph.resolvers.pycg_resolver:PycgResolver",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolverFile:
    """A source file: ``path`` and ``source_root`` are relative to the repository root, with ``/``.

    ``module`` is its dotted name; ``text`` its decoded source.
    """

    path: str
    module: str
    is_package: bool
    source_root: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """A call in ``path``, made by symbol ``source``.

    ``name_site`` is where the last identifier of the called expression stands
    (``m`` in ``x.y.m(...)``), its column in UTF-8 bytes, or where the expression
    begins; ``text`` is the called expression (``x.y.m``), empty of a decorator.
    """

    source: str
    path: str
    name_site: Site
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveRequest:
    """A repository as values. ``options`` are ``resolver.option`` -> value.

    ``progress`` is called with the number of files done and the number of all.
    """

    root: Path
    files: tuple[ResolverFile, ...]
    symbols: tuple[Symbol, ...]
    call_sites: tuple[CallSite, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    progress: Callable[[int, int], None] | None = None

    def number(self, option: str, default: float) -> float:
        """The value of a numeric option, such as ``jedi.timeout``.

        Raises:
            OptionError: its value is not a number.
        """
        value = self.options.get(option)
        if value is None:
            return default
        try:
            return float(value)
        except ValueError:
            raise OptionError(f"{option} wants a number, not {value!r}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolverResult:
    """What a resolver found, sorted; ``references`` point at symbols of the request alone."""

    references: tuple[Reference, ...]
    unresolved: tuple[Unresolved, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


class Resolver(Protocol):
    """Finds what calls reach. Never imports or runs the code it is shown."""

    name: str

    def resolve(self, request: ResolveRequest) -> ResolverResult:
        """The references of the repository, as far as this resolver sees.

        Raises:
            ResolverUnavailable: it cannot run here; the message says why, the hint what to do.
            OptionError: one of its options has a senseless value.
        """


def load_resolvers(names: Sequence[str]) -> list[Resolver]:
    """The resolvers with these names, in this order.

    Raises:
        OptionError: a name is unknown; the message lists those there are.
        ResolverUnavailable: a plug-in fails to load; the message names it and the cause.
    """
    known = _known_entry_points()
    resolvers = []
    for name in names:
        if name not in known:
            raise OptionError(
                f"no resolver is called {name!r}",
                hint=f"there are: {', '.join(['own', *sorted(known)])}",
            )
        resolvers.append(_loaded(known[name]))
    return resolvers


def resolver_names() -> list[str]:
    """The names that :func:`load_resolvers` takes, sorted."""
    return sorted(_known_entry_points())


def _known_entry_points() -> dict[str, EntryPoint]:
    from importlib import metadata  # 0.05 s to import

    known = {
        name: metadata.EntryPoint(name=name, value=value, group=ENTRY_POINT_GROUP)
        for name, value in _BUILT_IN.items()
    }
    for entry_point in metadata.entry_points(group=ENTRY_POINT_GROUP):
        rival = known.get(entry_point.name)
        if rival is not None and rival.value != entry_point.value:
            raise OptionError(
                f"two resolvers are called {entry_point.name!r}:"
                f" {rival.value} and {entry_point.value}",
                hint="uninstall one of the two packages",
            )
        known[entry_point.name] = entry_point
    return known


def _loaded(entry_point: EntryPoint) -> Resolver:
    try:
        factory = entry_point.load()
        resolver: Resolver = factory()
    except Exception as cause:  # a plug-in is foreign code: anything can go wrong
        raise ResolverUnavailable(
            f"the resolver {entry_point.name!r} ({entry_point.value}) fails to load:"
            f" {type(cause).__name__}: {cause}",
            hint="reinstall the package that provides it, or choose another resolver",
        ) from cause
    lacks = lacking(resolver, "resolve", {"name": str})
    if lacks:
        raise ResolverUnavailable(
            f"the resolver {entry_point.name!r} ({entry_point.value}) {lacks}"
        )
    return resolver


def resolved(resolver: Resolver, request: ResolveRequest) -> ResolverResult:
    """What a resolver answers.

    Raises:
        ResolverUnavailable: it cannot run here, or fails.
        OptionError: one of its options has a senseless value.
    """
    try:
        result = resolver.resolve(request)
        if not isinstance(result, ResolverResult):
            raise TypeError(f"it gives {type(result).__name__}, not ResolverResult")
    except DepsliceError:
        raise
    except Exception as cause:  # as where it is loaded
        raise ResolverUnavailable(
            f"the resolver {resolver.name!r} fails: {type(cause).__name__}: {cause}",
            hint="choose another resolver, or report it to who provides this one",
        ) from cause
    return result


def write_source_tree(
    files: Iterable[ResolverFile], folder: Path
) -> tuple[dict[Path, ResolverFile], tuple[Diagnostic, ...]]:
    """Write a copy of the sources into ``folder``, laid out by module name.

    Resolvers that read files themselves read this copy. So they see the files
    that project discovery chose, decoded as it decoded them, all importable
    from one root; and neither extension modules nor anything else that would
    be run. Gives the files by their path in the copy, and a diagnostic
    for each file whose module name another file already has.
    """
    written: dict[Path, ResolverFile] = {}
    diagnostics = []
    for file in sorted(files, key=lambda file: file.path):
        parts = PurePosixPath(*file.module.split("."))
        relative = parts / "__init__.py" if file.is_package else parts.with_name(f"{parts.name}.py")
        target = folder / relative
        if not _is_importable(file.module) or target in written:
            diagnostics.append(
                Diagnostic(
                    slug="resolver-skipped-file",
                    severity=Severity.NOTE,
                    message=f"no module name of its own ({file.module})",
                    path=file.path,
                )
            )
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        # Surrogates stand for undecodable bytes; `?` keeps columns in characters right.
        target.write_bytes(file.text.encode("utf-8", "replace"))
        written[target] = file
    return written, tuple(diagnostics)


def _is_importable(module: str) -> bool:
    # `my-script` cannot be imported but can be analysed; a separator would leave the folder.
    return all(part and not {"/", "\\", "\0"} & set(part) for part in module.split("."))


__all__ = [
    "ENTRY_POINT_GROUP",
    "CallSite",
    "ResolveRequest",
    "Resolver",
    "ResolverFile",
    "ResolverResult",
    "load_resolvers",
    "resolved",
    "resolver_names",
    "write_source_tree",
]
