"""The ``pycg`` resolver: runs PyCG in another process and translates its names.

PyCG (Salis et al., ICSE 2021) is an optional extra. It runs apart, by
``pycg_runner.py``, because it replaces parts of Python's import system, can
grow without bound, and does not run on every Python. It reads a copy of the
sources. Its dotted names (``docs/formats/pycg.md``) end in this module.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depslice.callgraph.errors import OptionError, ResolverUnavailable
from depslice.callgraph.export.pycg_form import dotted_names
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
    from collections.abc import Iterable, Mapping

EVIDENCE = "pycg"
PYTHON_VARIABLE = "DEPSLICE_PYCG_PYTHON"
DEFAULT_TIMEOUT = 300.0
DEFAULT_MEMORY_MIB = 4096.0
DEFAULT_ITERATIONS = 1.0

_RUNNER = Path(__file__).with_name("pycg_runner.py")
_INSTALL = (
    "install it with `pip install 'depslice[pycg]'`, or name a Python that has it"
    f" by --pycg-python (in the API pycg.python) or the variable {PYTHON_VARIABLE}"
)


class PycgResolver:
    """Adds the edges of PyCG's call graph.

    Options: ``pycg.python`` (an interpreter that has PyCG; default: the
    variable ``DEPSLICE_PYCG_PYTHON``, else the running one), ``pycg.max-iter``
    (passes over the sources, 1; a negative number means until nothing
    changes), ``pycg.timeout`` (seconds, 300), ``pycg.memory`` (MiB, 4096).
    """

    name = "pycg"

    def resolve(self, request: ResolveRequest) -> ResolverResult:
        """References of kind ``call``, certainty ``likely``, evidence ``pycg``.

        PyCG does not tell where a call stands: sites are those calls of the
        source that end in the target's name, and may be none. Callees outside
        the repository become :class:`Unresolved` with reason ``external``.

        Raises:
            ResolverUnavailable: PyCG is missing, crashed, or ran out of time or memory.
            OptionError: an option has a senseless value.
        """
        with tempfile.TemporaryDirectory(prefix="depslice-pycg-") as temporary:
            folder = Path(temporary).resolve()
            written, diagnostics = write_source_tree(request.files, folder)
            answer = _run_pycg(request, folder=folder, files=sorted(written))
        names = _Names(request.symbols, written=written, answer=answer)
        references, unresolved = _translated(answer["graph"], names, request.call_sites)
        return ResolverResult(
            references=references,
            unresolved=unresolved,
            diagnostics=(*diagnostics, *_skipped(answer["skipped"], written)),
        )


def _run_pycg(request: ResolveRequest, *, folder: Path, files: list[Path]) -> dict[str, Any]:
    python = request.options.get("pycg.python") or os.environ.get(PYTHON_VARIABLE) or sys.executable
    timeout = _positive(request, "pycg.timeout", DEFAULT_TIMEOUT)
    memory = _positive(request, "pycg.memory", DEFAULT_MEMORY_MIB)
    order = {
        "folder": str(folder),
        "files": [str(file) for file in files],
        "max_iter": int(request.number("pycg.max-iter", DEFAULT_ITERATIONS)),
        "memory": int(memory * 1024 * 1024),
    }
    try:
        process = subprocess.run(
            # No user site, no bytecode written, none of the warnings of newer Pythons.
            [python, "-s", "-B", "-X", "utf8", "-W", "ignore", str(_RUNNER)],
            input=json.dumps(order),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            cwd=folder,
            env=_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ResolverUnavailable(
            f"PyCG did not finish within {timeout:g} s",
            hint="leave the pycg resolver out, or raise pycg.timeout (in the API)",
        ) from None
    except OSError as cause:
        raise ResolverUnavailable(
            f"the Python for PyCG cannot be started: {python}: {cause.strerror or cause}",
            hint=f"check --pycg-python (in the API pycg.python) and the variable {PYTHON_VARIABLE}",
        ) from cause
    return _checked(process, python=python, memory=memory)


def _environment() -> dict[str, str]:
    """Isolated as by ``python -I``, which would also ignore the hash seed.

    PyCG iterates over sets: with a random seed its answer varies from run to run.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "PYTHONHASHSEED": "0"}


def _checked(
    process: subprocess.CompletedProcess[str], *, python: str, memory: float
) -> dict[str, Any]:
    try:
        answer = json.loads(process.stdout)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        last = (process.stderr.strip().splitlines() or ["no message"])[-1]
        # Out of memory, the interpreter sometimes cannot even raise MemoryError.
        raise ResolverUnavailable(
            f"PyCG ended without an answer (exit status {process.returncode},"
            f" memory limit {memory:g} MiB): {last}",
            hint="leave the pycg resolver out, or raise pycg.memory (in the API)",
        )
    detail = answer.get("detail", "")
    match answer.get("error"):
        case None:
            return answer
        case "missing":
            raise ResolverUnavailable(f"{python} has no working PyCG: {detail}", hint=_INSTALL)
        case "python":
            raise ResolverUnavailable(
                f"PyCG does not run on {detail} ({python})",
                hint=f"name an older Python by --pycg-python (in the API pycg.python) or the variable"
                f" {PYTHON_VARIABLE}; 3.12 works",
            )
        case "memory":
            raise ResolverUnavailable(
                f"PyCG needs more than {memory:g} MiB of memory",
                hint="leave the pycg resolver out, or raise pycg.memory (in the API)",
            )
        case _:
            raise ResolverUnavailable(f"PyCG crashed: {detail}", hint="leave the pycg resolver out")


def _positive(request: ResolveRequest, option: str, default: float) -> float:
    value = request.number(option, default)
    if not value > 0:
        raise OptionError(f"{option} has to be positive, not {value:g}")
    return value


def _skipped(
    skipped: Mapping[str, str], written: Mapping[Path, ResolverFile]
) -> Iterable[Diagnostic]:
    for path, error in sorted(skipped.items()):
        file = written.get(Path(path))
        if file is not None:
            yield Diagnostic(
                slug="pycg-skipped-file",
                severity=Severity.WARNING,
                message=f"PyCG cannot process this file: {error}",
                path=file.path,
            )


class _Names:
    """Symbols by PyCG's dotted names."""

    def __init__(
        self,
        symbols: Iterable[Symbol],
        *,
        written: Mapping[Path, ResolverFile],
        answer: Mapping[str, Any],
    ) -> None:
        self.symbols = {symbol.id: symbol for symbol in symbols}
        paths = {file.module: file.path for file in written.values()}
        self._lambdas: defaultdict[tuple[str, int], list[Symbol]] = defaultdict(list)
        self._by_name: defaultdict[str, list[Symbol]] = defaultdict(list)
        for symbol_id, name in sorted(dotted_names(self.symbols.values()).items()):
            symbol = self.symbols[symbol_id]
            self._by_name[name].append(symbol)
            if symbol.qualname.rpartition(".")[2].startswith("<lambda>"):
                self._lambdas[symbol.path, symbol.span.start].append(symbol)
        self._lines = {
            name: (paths.get(module, ""), line)
            for module, lines in answer["lines"].items()
            for name, line in lines.items()
            if line is not None
        }

    def callers(self, name: str) -> list[Symbol]:
        """The symbols that ``name`` can mean as a caller: those of the longest module prefix.

        The body of module ``a.b`` and function ``b`` of package ``a`` have one
        name in PyCG; the module it is.
        """
        found = self._find(name)
        longest = max((len(symbol.module) for symbol in found), default=0)
        return [symbol for symbol in found if len(symbol.module) == longest]

    def callees(self, name: str) -> list[Symbol]:
        """The symbols that ``name`` can mean as a callee: modules cannot be called."""
        return [symbol for symbol in self._find(name) if symbol.kind is not SymbolKind.MODULE]

    def _find(self, name: str) -> list[Symbol]:
        # PyCG numbers lambdas in the order of its own traversal, so they are
        # found by the line it reports where it reports one.
        if name.rpartition(".")[2].startswith("<lambda") and name in self._lines:
            return self._lambdas.get(self._lines[name], [])
        found = self._by_name.get(name, [])
        return [symbol for symbol in found if symbol.kind is not SymbolKind.VARIABLE]


@dataclass(slots=True)
class _Sites:
    """Call sites by the symbol that calls and the last identifier of what it calls."""

    by_name: defaultdict[tuple[str, str], set[Site]] = field(
        default_factory=lambda: defaultdict(set)
    )

    def add(self, site: CallSite) -> None:
        last = site.text.rpartition(".")[2]
        self.by_name[site.source, last].add(site.name_site)

    def of(self, source: str, target: str) -> tuple[Site, ...]:
        head, _, last = target.replace(":", ".").rpartition(".")
        if last == "__init__":
            last = head.rpartition(".")[2]
        return tuple(sorted(self.by_name.get((source, last), ())))


def _translated(
    graph: Mapping[str, list[str]], names: _Names, call_sites: Iterable[CallSite]
) -> tuple[tuple[Reference, ...], tuple[Unresolved, ...]]:
    sites = _Sites()
    for site in call_sites:
        sites.add(site)
    edges: set[tuple[str, str]] = set()
    outside: set[Unresolved] = set()
    for caller, callees in graph.items():
        for source in names.callers(caller):
            for callee in callees:
                targets = names.callees(callee)
                edges.update((source.id, _called(target, names)) for target in targets)
                if not targets:
                    outside.update(_outside(source, callee, sites))
    references = tuple(
        Reference(
            source=source,
            target=target,
            kind=ReferenceKind.CALL,
            sites=sites.of(source, target),
            certainty=Certainty.LIKELY,
            evidence=(EVIDENCE,),
        )
        for source, target in sorted(edges)
    )
    unresolved = tuple(sorted(outside, key=lambda u: (u.source, u.site, u.name)))
    return references, unresolved


def _called(target: Symbol, names: _Names) -> str:
    """A call of a class is a call of its ``__init__`` where it defines one."""
    initializer = f"{target.id}.__init__"
    if target.kind is SymbolKind.CLASS and initializer in names.symbols:
        return initializer
    return target.id


def _outside(source: Symbol, callee: str, sites: _Sites) -> Iterable[Unresolved]:
    name = callee.replace("<builtin>.", "builtins.")
    found = sites.of(source.id, name) or (Site(line=source.span.start, column=0),)
    for site in found:
        yield Unresolved(source=source.id, name=name, reason="external", site=site)
