"""The ``jedi`` resolver: asks jedi where each call goes.

What jedi may do. Jedi reads Python source, but *imports* modules it finds no
source for (``sys.builtin_module_names`` and extension modules) into the process
that asks. So it is shown a copy of the sources in an empty folder, which holds
no extension module, and a search path of that folder and the standard library
alone: of analysed code nothing can be imported, site-packages are out of its
reach, and the answer does not depend on what is installed. Its cache of
pickled syntax trees goes to the same folder.
"""

from __future__ import annotations

import ast
import sys
import sysconfig
import tempfile
import time
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depslice.callgraph.errors import ResolverUnavailable
from depslice.callgraph.model import (
    Certainty,
    Diagnostic,
    Reference,
    ReferenceKind,
    Severity,
    Site,
    Symbol,
    SymbolKind,
    Unresolved,
)
from depslice.callgraph.resolvers.protocol import (
    CallSite,
    ResolveRequest,
    ResolverFile,
    ResolverResult,
    write_source_tree,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

EVIDENCE = "jedi"
DEFAULT_TIMEOUT = 30.0


class JediResolver:
    """Resolves each call site by ``Script.goto``, then ``Script.infer``.

    The option ``jedi.timeout`` is the number of seconds for one file (30). It
    is looked at between call sites: one site cannot be interrupted.
    """

    name = "jedi"

    def resolve(self, request: ResolveRequest) -> ResolverResult:
        """References of kind ``call`` with evidence ``jedi``.

        ``definite`` if jedi knows one target, ``possible`` if several. A call
        of a class is a reference to the ``__init__`` that it defines or
        inherits in the repository, else to the class; a call of an instance
        one to its ``__call__``. Reasons of the unresolved: ``external``,
        ``jedi-unknown``, ``jedi-error``, ``time-limit``.

        Raises:
            ResolverUnavailable: jedi is not installed.
            OptionError: ``jedi.timeout`` is not a number.
        """
        timeout = request.number("jedi.timeout", DEFAULT_TIMEOUT)
        with tempfile.TemporaryDirectory(prefix="depslice-jedi-") as temporary:
            # Resolved, because jedi reports resolved paths (macOS: /var -> /private/var).
            folder = Path(temporary).resolve()
            tree = folder / "sources"
            tree.mkdir()
            written, diagnostics = write_source_tree(request.files, tree)
            with _jedi(cache=folder / "cache") as jedi:
                session = _Session(jedi, tree=tree, written=written, symbols=request.symbols)
                return session.run(request, timeout=timeout, diagnostics=diagnostics)


@contextmanager
def _jedi(*, cache: Path) -> Iterator[Any]:
    """The jedi module, set up to be deterministic and to write nowhere but to ``cache``."""
    recursion_limit = sys.getrecursionlimit()
    try:
        import jedi  # sets the recursion limit of the process to 3000
    except ImportError as cause:
        raise ResolverUnavailable(
            f"the jedi resolver cannot run: {cause}", hint="pip install jedi"
        ) from cause
    sys.setrecursionlimit(max(recursion_limit, sys.getrecursionlimit()))
    ours: dict[str, Any] = {
        "cache_directory": str(cache),
        # These search other files in the order of the file system.
        "dynamic_params_for_other_modules": False,
        # These would be imported.
        "auto_import_modules": [],
    }
    before = {name: getattr(jedi.settings, name) for name in ours}
    try:
        for name, value in ours.items():
            setattr(jedi.settings, name, value)
        yield jedi
    finally:
        for name, value in before.items():
            setattr(jedi.settings, name, value)
        sys.setrecursionlimit(recursion_limit)


def _standard_library() -> list[str]:
    # In a virtual environment "platstdlib" is a folder of the environment.
    base = {"platbase": sys.base_exec_prefix}
    paths = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib", vars=base)]
    folders = [path for path in dict.fromkeys(paths) if path]
    return [*folders, *(f"{path}/lib-dynload" for path in folders)]


class _Session:
    def __init__(
        self,
        jedi: Any,
        *,
        tree: Path,
        written: dict[Path, ResolverFile],
        symbols: Iterable[Symbol],
    ) -> None:
        from jedi.api.environment import InterpreterEnvironment

        class StandardLibraryEnvironment(InterpreterEnvironment):  # type: ignore[misc,unused-ignore]
            """What jedi calls safe to import from: the standard library alone."""

            def get_sys_path(self) -> list[str]:
                return _standard_library()

        self._jedi = jedi
        self._environment = StandardLibraryEnvironment()
        self._project = jedi.Project(
            tree,
            sys_path=[str(tree), *_standard_library()],
            smart_sys_path=False,
            load_unsafe_extensions=False,
        )
        self._written = written
        self._copies = {file.path: copy for copy, file in written.items()}
        self._symbols = _SymbolIndex(symbols)
        self._scripts: dict[str, Any] = {}
        self._bases: dict[str, dict[tuple[str, int], list[tuple[int, int]]]] = {}
        self._methods: dict[tuple[str, str], str | None] = {}
        self._lines: dict[Path, list[str]] = {}

    def run(
        self, request: ResolveRequest, *, timeout: float, diagnostics: tuple[Diagnostic, ...]
    ) -> ResolverResult:
        by_path: defaultdict[str, list[CallSite]] = defaultdict(list)
        for site in request.call_sites:
            by_path[site.path].append(site)
        edges: defaultdict[tuple[str, str], dict[Site, Certainty]] = defaultdict(dict)
        unresolved: list[Unresolved] = []
        late: list[Diagnostic] = []
        for done, path in enumerate(sorted(by_path), start=1):
            deadline = time.monotonic() + timeout
            overdue = 0
            for site in sorted(by_path[path], key=lambda site: site.name_site):
                if time.monotonic() > deadline:
                    overdue += 1
                    unresolved.append(_unresolved(site, reason="time-limit"))
                    continue
                targets = self._targets(site)
                if isinstance(targets, Unresolved):
                    unresolved.append(targets)
                    continue
                certainty = Certainty.DEFINITE if len(targets) == 1 else Certainty.LIKELY
                for target in targets:
                    edges[site.source, target][site.name_site] = certainty
            if overdue:
                late.append(
                    Diagnostic(
                        slug="jedi-time-limit",
                        severity=Severity.WARNING,
                        message=f"not resolved within {timeout:g} s: {overdue} call{'s' * (overdue != 1)}",
                        path=path,
                    )
                )
            # A script holds the inference state of all files it looked at.
            self._scripts.clear()
            if request.progress is not None:
                request.progress(done, len(by_path))
        return ResolverResult(
            references=tuple(
                Reference(
                    source=source,
                    target=target,
                    kind=ReferenceKind.CALL,
                    sites=tuple(sorted(sites)),
                    certainty=(
                        Certainty.DEFINITE
                        if Certainty.DEFINITE in sites.values()
                        else Certainty.LIKELY
                    ),
                    evidence=(EVIDENCE,),
                )
                for (source, target), sites in sorted(edges.items())
            ),
            unresolved=tuple(sorted(unresolved, key=lambda u: (u.source, u.site, u.name))),
            diagnostics=(*diagnostics, *late),
        )

    def _targets(self, site: CallSite) -> list[str] | Unresolved:
        copy = self._copies.get(site.path)
        if copy is None:
            return _unresolved(site, reason="jedi-unknown")
        column = _character_column(self._line(copy, site.name_site.line), site.name_site.column)
        try:
            names = self._definitions(copy, site.name_site.line, column)
            targets = {target for name in names for target in self._called(name)}
        except Exception:  # noqa: BLE001 (jedi fails in many ways on code it does not expect)
            return _unresolved(site, reason="jedi-error")
        if targets:
            return sorted(targets)
        outside = sorted(
            name.full_name
            for name in names
            if name.full_name and name.type in ("function", "class")
        )
        if outside and all(name.module_path not in self._written for name in names):
            return Unresolved(
                source=site.source, name=outside[0], reason="external", site=site.name_site
            )
        return _unresolved(site, reason="jedi-unknown")

    def _definitions(self, copy: Path, line: int, column: int) -> list[Any]:
        script = self._script(copy)
        found: list[Any] = script.goto(
            line, column, follow_imports=True, follow_builtin_imports=True
        )
        if found and all(name.type in ("function", "class") for name in found):
            return found
        # A variable, a parameter or a property: what matters is the value it holds.
        return script.infer(line, column) or found

    def _called(self, name: Any) -> list[str]:
        """Symbol ids that a call of this definition reaches."""
        file = self._written.get(name.module_path)
        if file is None or name.line is None:
            return []
        symbol = self._symbols.at(file.path, name.line, name.name)
        if symbol is None:
            return []
        if symbol.kind is SymbolKind.CLASS:
            if name.type == "instance":
                called = self._method(symbol, "__call__")
                return [called] if called else []
            return [self._method(symbol, "__init__") or symbol.id]
        if symbol.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD) and name.type == "function":
            return [symbol.id]
        return []

    def _method(self, symbol: Symbol, method: str) -> str | None:
        """The method of this name that a class of the repository defines or inherits in it.

        Bases are searched depth first, left to right.
        """
        key = (symbol.id, method)
        if key not in self._methods:
            self._methods[key] = None  # ends the search in inheritance cycles
            self._methods[key] = self._search_method(symbol, method)
        return self._methods[key]

    def _search_method(self, symbol: Symbol, method: str) -> str | None:
        own = f"{symbol.id}.{method}"
        if own in self._symbols:
            return own
        copy = self._copies.get(symbol.path)
        if copy is None:
            return None
        for line, column in self._base_sites(copy, symbol):
            for name in self._definitions(copy, line, column):
                file = self._written.get(name.module_path)
                if file is None or name.line is None or name.type != "class":
                    continue
                base = self._symbols.at(file.path, name.line, name.name)
                if base is not None and base.kind is SymbolKind.CLASS:
                    found = self._method(base, method)
                    if found is not None:
                        return found
        return None

    def _base_sites(self, copy: Path, symbol: Symbol) -> list[tuple[int, int]]:
        """Line and character column of the last identifier of each base of a class."""
        file = self._written[copy]
        if file.path not in self._bases:
            self._bases[file.path] = _base_sites(file.text)
        class_name = symbol.qualname.rpartition(".")[2]
        return self._bases[file.path].get((class_name, symbol.span.start), [])

    def _script(self, copy: Path) -> Any:
        file = self._written[copy]
        if file.path not in self._scripts:
            self._scripts[file.path] = self._jedi.Script(
                file.text, path=copy, project=self._project, environment=self._environment
            )
        return self._scripts[file.path]

    def _line(self, copy: Path, line: int) -> str:
        if copy not in self._lines:
            self._lines = {copy: _source_lines(self._written[copy].text)}  # one file at a time
        lines = self._lines[copy]
        return lines[line - 1] if line <= len(lines) else ""


class _SymbolIndex:
    """Finds the symbol that a definition's name line belongs to."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self._ids = set()
        self._by_name: defaultdict[tuple[str, str], list[Symbol]] = defaultdict(list)
        for symbol in symbols:
            self._ids.add(symbol.id)
            last = symbol.qualname.rpartition(".")[2]
            if last.startswith("<lambda>"):
                last = "<lambda>"
            self._by_name[symbol.path, last].append(symbol)

    def __contains__(self, symbol_id: str) -> bool:
        return symbol_id in self._ids

    def at(self, path: str, line: int, name: str) -> Symbol | None:
        """The innermost symbol of this name whose span holds ``line``.

        Spans start at the first decorator, definitions are reported at their
        name, so the line alone does not decide.
        """
        around = [
            symbol
            for symbol in self._by_name.get((path, name), ())
            if symbol.span.start <= line <= symbol.span.end
        ]
        return max(around, key=lambda s: (s.span.start, -s.span.end, s.id), default=None)


def _base_sites(text: str) -> dict[tuple[str, int], list[tuple[int, int]]]:
    sites: dict[tuple[str, int], list[tuple[int, int]]] = {}
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return sites
    lines = _source_lines(text)
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        found = []
        for expression in node.bases:
            base = expression
            while isinstance(base, ast.Subscript):  # Generic[T]: the class is Generic
                base = base.value
            if not isinstance(base, ast.Name | ast.Attribute):
                continue
            line = base.end_lineno or base.lineno
            width = len((base.id if isinstance(base, ast.Name) else base.attr).encode())
            column = (base.end_col_offset or 0) - width
            found.append((line, _character_column(lines[line - 1], column)))
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        sites[node.name, first] = found
    return sites


def _source_lines(text: str) -> list[str]:
    # str.splitlines also ends lines at form feeds and other characters; Python does not.
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _character_column(line: str, byte_column: int) -> int:
    return len(line.encode("utf-8", "replace")[:byte_column].decode("utf-8", "ignore"))


def _unresolved(site: CallSite, *, reason: str) -> Unresolved:
    return Unresolved(source=site.source, name=site.text, reason=reason, site=site.name_site)
