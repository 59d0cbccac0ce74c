"""The specimens of ``fixtures/``: are their expectations true, and does slicing meet them?

The first half validates the expectations without the analysis: against the syntax
tree, and against what really happens when the specimen runs. The second half
holds the slicer to them.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from check import difference, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.callgraph.tracing.gathering import gather
from depslice.callgraph.tracing.session import recording_session
from depslice.callgraph.tracing.trace import DynamicCall, Trace
from specimens import Specimen, load_specimens, rewrite_slice

TESTS = Path(__file__).parents[2]
SPECIMENS = load_specimens()
BY_NAME = {specimen.name: specimen for specimen in SPECIMENS}
each_specimen = pytest.mark.parametrize("specimen", SPECIMENS, ids=lambda s: s.name)
each_target = pytest.mark.parametrize(
    ("specimen", "target"),
    [
        pytest.param(specimen, target, id=f"{specimen.name}-{target}")
        for specimen in SPECIMENS
        for target in specimen.slices
    ],
)


# The expectations against the source text.


def test_there_are_specimens() -> None:
    assert len(SPECIMENS) >= 70


@each_specimen
def test_specimen_is_explained_in_one_line(specimen: Specimen) -> None:
    readme = specimen.repo.with_name("README.md").read_text(encoding="utf-8")
    assert len(readme.strip().splitlines()) == 1


@each_specimen
def test_expected_ids_are_defined(specimen: Specimen) -> None:
    named = {*specimen.slices, *specimen.edges, *specimen.runs}
    for ids in (*specimen.slices.values(), *specimen.edges.values()):
        named.update(ids)
    assert named <= _definitions(specimen.source_root)


@each_target
def test_expected_slice_is_well_formed(specimen: Specimen, target: str) -> None:
    items = specimen.slices[target]
    assert list(items) == sorted(set(items))
    assert target in items
    for item in items:
        module, _, qualname = item.partition(":")
        assert qualname, f"{item} is a module"
        assert "<locals>" not in qualname, f"{item} belongs to the function around it"
        holder = qualname.rpartition(".")[0]
        assert not holder or f"{module}:{holder}" in items, f"{item} without its class"


# The expectations against a run.


@pytest.mark.parametrize("specimen", [s for s in SPECIMENS if s.runs], ids=lambda s: s.name)
def test_expectations_are_true_at_run_time(specimen: Specimen) -> None:
    observed = _observe(specimen.name)
    functions = _functions(specimen.source_root)
    expected = {(caller, callee) for caller in specimen.edges for callee in specimen.edges[caller]}
    callees = {callee for _, callee in expected}

    seen = {(call.caller, call.callee) for call in observed.calls}
    # Who resumes a generator need not be who called it: those only have to be called by somebody.
    resumed = {call.callee for call in observed.calls if call.resumed}
    unexpected = {call for call in seen - expected if call[1] not in resumed & callees}
    assert not unexpected, "calls that happen and are not expected"

    unseen = {call for call in expected - seen if call[1] in functions and call[1] not in resumed}
    assert not unseen, "calls that are expected and do not happen"

    for target, executed in observed.executed.items():
        if target in specimen.slices:
            items = set(specimen.slices[target])
            strangers = {name for name in executed if not _belongs(name, items)}
            assert not strangers, f"functions that {target} runs and its slice lacks"


@each_target
def test_expected_target_runs(specimen: Specimen, target: str) -> None:
    if not specimen.runs or target not in _functions(specimen.source_root):
        pytest.skip("nothing to run")
    assert target in specimen.runs, "a target without a run proves nothing"
    assert target in _observe(specimen.name).executed.get(target, ())


def _belongs(name: str, items: set[str]) -> bool:
    """Whether a function that ran is part of the slice ``items``.

    A method of a class which the slice does not know came in with an argument,
    and then stands in the place of a member that the slice does have.
    """
    outer = name.partition(".<locals>.")[0]
    if outer in items or outer.endswith(">") or "<lambda>" in outer:
        return True
    holder, _, member = outer.rpartition(".")
    in_class = "." in outer.partition(":")[2]
    return (
        in_class
        and holder not in items
        and any(item.partition(":")[2].endswith(f".{member}") for item in items)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Observed:
    """What the runs of a specimen do.

    ``executed``: by target, the functions that ran because of it, itself included: those
    that it reaches by calls of its own run.
    """

    calls: tuple[DynamicCall, ...]
    executed: dict[str, set[str]]


@cache
def _observe(name: str) -> _Observed:
    """What ``tests/observe.py`` records of that specimen, in its own process."""
    specimen = BY_NAME[name]
    program = open_program(specimen.repo, cache=None)
    with recording_session(program.project) as session:
        done = subprocess.run(
            [sys.executable, "-I", "-B", str(TESTS / "observe.py")],
            input=json.dumps(
                {
                    "root": str(specimen.source_root),
                    "session": str(session.folder),
                    "runs": dict(specimen.runs),
                }
            ),
            cwd=specimen.source_root,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        if done.returncode != 0:
            pytest.fail(f"{specimen.name} does not run:\n{done.stderr}")
        traces = {
            target: gather(
                replace(session, folder=session.folder / str(number)),
                program,
                command=(target,),
                exit_code=0,
            )
            for number, target in enumerate(specimen.runs)
        }
    return _Observed(
        calls=tuple(call for trace in traces.values() for call in trace.calls),
        executed={target: _under(target, trace) for target, trace in traces.items()},
    )


def _under(target: str, trace: Trace) -> set[str]:
    """What ran because the target did."""
    found: set[str] = set()
    pending = [target] if target in trace.executed else []
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += [call.callee for call in trace.calls if call.caller == name]
    return found


# The slicer against the expectations.


@each_target
def test_slice(specimen: Specimen, target: str, regenerate: bool, no_marker_is_left: None) -> None:
    actual = slice_ids(specimen.repo, target)
    if regenerate:
        rewrite_slice(specimen, target, tuple(actual))
        return
    expected = specimen.slices[target]
    assert actual == set(expected), difference(target, actual=actual, expected=expected)


@pytest.fixture
def no_marker_is_left(specimen: Specimen) -> Iterator[None]:
    yield
    assert not list(specimen.repo.rglob("EXECUTED")), "analysis ran the code it analysed"


# The tools these tests rely on.


def test_regenerating_is_refused_in_ci() -> None:
    refused = subprocess.run(
        [sys.executable, "-m", "pytest", "--regenerate", "--collect-only", "-q", str(TESTS)],
        check=False,
        env={**os.environ, "CI": "true"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert refused.returncode == pytest.ExitCode.USAGE_ERROR
    assert "CI=true" in refused.stderr


def test_multi_file_string_is_written_as_files(tmp_path: Path) -> None:
    write_files("\n# --- a/__init__.py\n# --- a/b.py\nx = 1\ny = 2\n", tmp_path)
    assert (tmp_path / "a/__init__.py").read_text() == ""
    assert (tmp_path / "a/b.py").read_text() == "x = 1\ny = 2\n"


def test_text_outside_any_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="before the first"):
        write_files("x = 1\n# --- a.py\n", tmp_path)


def test_difference_shows_what_is_missing_and_what_is_too_much() -> None:
    text = difference("m:f", actual={"m:f", "m:x"}, expected={"m:f", "m:g"})
    assert "- m:g" in text
    assert "+ m:x" in text
    assert "    m:f" in text


# What the source defines, found without depslice.


def _definitions(root: Path) -> set[str]:
    return {name for name, _ in _walk_repo(root)}


def _functions(root: Path) -> set[str]:
    return {
        name
        for name, node in _walk_repo(root)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    }


@cache
def _walk_repo(root: Path) -> tuple[tuple[str, ast.AST], ...]:
    return tuple(
        pair
        for path in sorted(root.rglob("*.py"))
        for pair in _walk_file(path, path.relative_to(root))
    )


def _walk_file(path: Path, relative: Path) -> Iterator[tuple[str, ast.AST]]:
    module = ".".join(relative.with_suffix("").parts).removesuffix(".__init__")
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError:
        return
    yield module, tree
    yield from _walk(tree, f"{module}:", is_function=False)


def _walk(node: ast.AST, prefix: str, *, is_function: bool) -> Iterator[tuple[str, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield prefix + name, child
                yield from _walk(child, f"{prefix}{name}.<locals>.", is_function=True)
            case ast.ClassDef(name=name):
                yield prefix + name, child
                yield from _walk(child, f"{prefix}{name}.", is_function=False)
            case ast.Lambda(lineno=line):
                yield f"{prefix}<lambda>@{line}", child
                yield from _walk(child, f"{prefix}<lambda>@{line}.<locals>.", is_function=True)
            case ast.Name(id=name, ctx=ast.Store()) if not is_function:
                yield prefix + name, child
            case _:
                yield from _walk(child, prefix, is_function=is_function)
