"""Other call graph tools, each in an environment of its own, their edges as ours.

What a tool gives are dotted names; they become symbol ids by the rules of
``docs/formats/pycg.md``. An edge to a class counts as one to its ``__init__``, which is
what a run shows. A tool that crashes or runs out of time has no edges.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from language_server import ask_server

from depslice.callgraph import Program, build_graph
from depslice.callgraph.errors import DepsliceError
from depslice.callgraph.export.pycg_form import dotted_names
from depslice.callgraph.graph import ReferenceGraph
from depslice.callgraph.model import Certainty, Reference, ReferenceKind, SymbolKind

TIMEOUT: Final = 300  # seconds for one tool on one package, unless said otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool says of a package: its graph, the CPU seconds it took, or why not."""

    graph: ReferenceGraph
    seconds: float
    failure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A tool: the requirement that installs it, the Python it wants, how to ask it."""

    name: str
    requirement: str
    python: str
    ask: Callable[[Program, Path, int], Iterable[Reference]]


def ask(peer: Peer, program: Program, environments: Path, *, timeout: int = TIMEOUT) -> Answer:
    """The edges of ``peer`` for ``program``; its environment is made when it is missing."""
    environment = environments / peer.name
    symbols = [s for module in program.load_all() for s in program.symbol_table(module).values()]
    before = _cpu()
    try:
        _install(peer, environment)
        before = _cpu()
        references = list(peer.ask(program, environment / "bin" / "python", timeout))
    except subprocess.TimeoutExpired:
        return _failed(symbols, before, f"not within {timeout} s")
    except (DepsliceError, subprocess.CalledProcessError, ValueError, OSError) as error:
        return _failed(symbols, before, " ".join(str(error).split())[:200])
    graph = ReferenceGraph(symbols=symbols, references=references)
    return Answer(graph=graph, seconds=_cpu() - before)


def _failed(symbols: Iterable[object], before: float, why: str) -> Answer:
    graph = ReferenceGraph(symbols=symbols)  # type: ignore[arg-type]
    return Answer(graph=graph, seconds=_cpu() - before, failure=why)


def _cpu() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime for usage in usages)


def _install(peer: Peer, environment: Path) -> None:
    if not peer.requirement or (environment / ".complete").exists():
        return
    subprocess.run([peer.python, "-m", "venv", "--clear", str(environment)], check=True)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, peer.requirement], check=True, capture_output=True)
    (environment / ".complete").touch()


def _pycg(program: Program, python: Path, timeout: int) -> Iterable[Reference]:
    options = {"pycg.python": str(python), "pycg.timeout": str(timeout)}
    return build_graph(program, resolvers=("pycg",), options=options).references()


class _OutOfTime(BaseException):
    """Not an Exception: the adapter takes those for faults of jedi in one file."""


def _jedi(program: Program, python: Path, timeout: int) -> Iterable[Reference]:
    def stop(*_: object) -> None:
        raise _OutOfTime

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(timeout)
    try:
        return build_graph(program, resolvers=("jedi",)).references()
    except _OutOfTime:
        raise subprocess.TimeoutExpired("jedi", timeout) from None
    finally:
        signal.alarm(0)


def _pyan(program: Program, python: Path, timeout: int) -> Iterable[Reference]:
    script = str(Path(__file__).with_name("peer_pyan.py"))
    done = _run([str(python), script, str(program.project.root)], timeout)
    return _named(program, json.loads(done))


def _jarvis(program: Program, python: Path, timeout: int) -> Iterable[Reference]:
    root = program.project.root
    top = root.parent if (root / "__init__.py").exists() else root
    files = [os.path.relpath(root / file.path, top) for file in program.project.files]
    output = _run([str(python.with_name("jarviscg")), *files, "--package", "."], timeout, cwd=top)
    adjacency = json.loads(output[output.index("{") :])
    return _named(
        program, ((caller, callee) for caller in adjacency for callee in adjacency[caller])
    )


def _ty(program: Program, python: Path, timeout: int) -> Iterable[Reference]:
    command = [str(python.with_name("ty")), "server"]
    return _references(program, ask_server(command, program, timeout=timeout))


def _pyrefly(program: Program, python: Path, timeout: int) -> Iterable[Reference]:
    command = [str(python.with_name("pyrefly")), "lsp"]
    return _references(program, ask_server(command, program, timeout=timeout))


def _references(program: Program, pairs: Iterable[tuple[str, str]]) -> Iterable[Reference]:
    """Pairs of ids as references, those that depslice has symbols for."""
    known = {i for module in program.load_all() for i in program.symbol_table(module)}
    return [_reference(*pair) for pair in pairs if known.issuperset(pair)]


def _reference(source: str, target: str) -> Reference:
    return Reference(
        source=source,
        target=target,
        kind=ReferenceKind.CALL,
        sites=(),
        certainty=Certainty.POSSIBLE,
        evidence=("peer",),
    )


def _run(command: list[str], timeout: int, cwd: Path | None = None) -> str:
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise OSError(lines[-1] if lines else f"exit code {done.returncode}")
    return done.stdout


def _named(program: Program, pairs: Iterable[Iterable[str]]) -> Iterable[Reference]:
    """Pairs of dotted names as references between symbols; unknown names are left out."""
    symbols = [s for module in program.load_all() for s in program.symbol_table(module).values()]
    bodies = [s for s in symbols if s.kind is not SymbolKind.VARIABLE]
    ids: dict[str, str] = {}
    for identifier, name in dotted_names(bodies).items():
        ids.setdefault(name, identifier)
    constructors: Mapping[str, str] = {
        s.id: f"{s.id}.__init__" for s in bodies if s.kind is SymbolKind.CLASS
    }
    for caller, callee in pairs:
        source, target = ids.get(_lambda(caller)), ids.get(_lambda(callee))
        if source is not None and target is not None:
            yield _reference(source, constructors.get(target, target))


def _lambda(name: str) -> str:
    """Pyan counts lambdas from 0: ``f.lambda.0`` is ``f.<lambda1>``."""
    return re.sub(r"\.lambda\.(\d+)", lambda found: f".<lambda{int(found[1]) + 1}>", name)


PEERS: Final = (
    Peer(name="pyan3", requirement="pyan3==2.9.0", python=sys.executable, ask=_pyan),
    Peer(name="pycg", requirement="pycg==0.0.8", python=sys.executable, ask=_pycg),
    Peer(name="jarviscg", requirement="jarviscg==0.1.0rc7", python=sys.executable, ask=_jarvis),
    Peer(name="ty", requirement="ty==0.0.104", python=sys.executable, ask=_ty),
    Peer(name="pyrefly", requirement="pyrefly==1.4.1", python=sys.executable, ask=_pyrefly),
    Peer(name="jedi", requirement="", python=sys.executable, ask=_jedi),
)
