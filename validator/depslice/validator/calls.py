"""Real calls of targets: recorded once, replayed on the original, kept when they are steady.

A call is *steady* when two replays on the original give the same: one that depends on
the time, or on what ran before it, says nothing about a slice.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from depslice.callgraph.definitions import definitions_of, first_line, tree_of
from depslice.callgraph.model import Symbol, SymbolKind
from depslice.callgraph.program import Program
from depslice.validator.sandbox import Ending
from depslice.validator.sandbox import Outcome as SandboxOutcome
from depslice.validator.workspace import (
    CheckUnavailable,
    Tree,
    Workspace,
    read_results,
    why_ended,
)

MOST_CALLS: Final = 20
_HINT_NEEDS: Final = (
    "--make-environment makes an environment that has what the tests need (packages, and what"
    " is compiled), --check-python names one"
)
_TEST_FILE: Final = re.compile(r"(^|/)(test_[^/]*|[^/]*_test)\.py$")
_UNITTEST_FILE: Final = re.compile(r"(^|/)test[^/]*\.py$")
"""What ``unittest`` looks for; ``testing.py`` fits as well, so it has to have tests."""
_TEST: Final = re.compile(r"(?m)^[ \t]*(?:async[ \t]+)?def test")
_TEST_PART: Final = re.compile(r"tests?|testing_data|conftest|test_.*|.*_test")
_BENCHMARK: Final = re.compile(r"(test_)?(bench|perf(ormance)?(_|s|\.|$))")
_CALL_SECONDS: Final = 5
_SHARE_OF_A_TEST: Final = 0.1
_LEAST_FOR_A_TEST: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one call: a digest to compare, a text for people.

    ``stage`` is where it ended: ``call``, or before it ``target`` or ``arguments``.
    ``missing`` is what exceptions say is not there; ``executed`` the files and qualified
    names of code that ran.
    """

    call: int
    target: str
    stage: str
    digest: str
    text: str
    missing: tuple[tuple[str, tuple[str, ...], str], ...]
    executed: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """One replay: modules that failed to import with their errors, and the calls' outcomes.

    ``ended`` is empty, or tells why the process did not come to the end.
    """

    imports: Mapping[str, str]
    missing: tuple[tuple[str, tuple[str, ...], str], ...]
    imported: frozenset[tuple[str, str]]
    outcomes: Mapping[int, Outcome]
    borrowed: tuple[str, ...]
    ended: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The calls of targets: the file they are in, how many of each function, why there are none.

    ``targets`` are functions: of a class that is a target, its methods. ``caller`` is who was
    to call them: a script's name, or ``test``; empty where the repository has no tests.
    ``incomplete`` tells that, and why, some tests were not run to their ends; ``hint`` what to do
    where a call is missing.
    """

    path: Path
    lent: Path
    own: frozenset[str]
    targets: tuple[Symbol, ...]
    numbers: Mapping[str, int]
    failures: Mapping[str, str]
    incomplete: str = ""
    caller: str = "test"
    hint: str = "--calls FILE takes the calls of a script, or of a file test_*.py"

    def functions_of(self, targets: Iterable[str]) -> set[str]:
        """The ids of those functions that are the calls' own of these targets."""
        wanted = set(targets)
        return {
            symbol.id
            for symbol in self.targets
            if symbol.id in wanted or symbol.id.rpartition(".")[0] in wanted
        }


def record(
    space: Workspace,
    program: Program,
    targets: Sequence[str],
    *,
    script: Path | None = None,
    tests: Sequence[str] = (),
    most: int = MOST_CALLS,
) -> Recorded:
    """Run the tests, or ``script``, and keep calls of ``targets``: functions, methods of classes.

    ``tests`` are arguments for pytest; without them, test files that mention a target
    come first and the others after them, until there are ``most`` calls of each.

    :raises CheckUnavailable: the code cannot be run.
    """
    symbols = tuple(_called_of(program, targets))
    original = space.original()
    copied = None if script is None else _copied(space, script)
    calls = space.path("calls.jsonl")
    calls.touch()
    recorded = Recorded(
        path=calls,
        lent=space.path("lent.pickle"),
        own=own_modules(program, symbols),
        targets=symbols,
        numbers={},
        failures={},
    )
    if not symbols:
        return recorded
    order: dict[str, Any] = {
        "folder": str(original.folder),
        "roots": roots_for(program, symbols, original),
        "own": sorted(recorded.own),
        "targets": places_of(program, symbols, original),
        "most": most,
        "choose": "first",
        "seconds": seconds_for_a_test(space),
        "calls": "calls.jsonl",
    }
    if script is None or copied is None:
        found = list(tests) or test_files(original.folder, symbols)
        if not found:
            return replace(recorded, caller="", incomplete=misnamed_tests(original.folder))
        order["tests"] = found
    # A file of tests is run as one, whatever else it is.
    elif _TEST_FILE.search(script.name):
        order["tests"] = [str(copied)]
    else:
        order["script"] = str(copied)
    ended = space.run("recording", order, makes={"calls.jsonl": calls})
    lines = read_results(calls)
    numbers: dict[str, int] = {}
    failures: dict[str, str] = {}
    for line in lines:
        if "data" in line:
            numbers[str(line["target"])] = numbers.get(str(line["target"]), 0) + 1
        elif "target" in line:
            failures[str(line.get("target"))] = str(line.get("failed"))[:200]
    why = why_tests_ended(ended, lines, "--check-seconds")
    if not lines and why and not ran_out(ended):
        raise CheckUnavailable(
            f"the tests could not be run by {space.python}: {why}",
            hint="--check-python names an interpreter that has pytest and what the tests need,"
            " --make-environment makes one",
        )
    return Recorded(
        path=calls,
        lent=recorded.lent,
        own=recorded.own,
        targets=symbols,
        numbers=numbers,
        failures=failures,
        incomplete=why
        or "; ".join(filter(None, (not_run(lines, order["seconds"]), *_ended_early(lines)))),
        caller="test" if script is None else script.name,
        hint=_HINT_NEEDS if _unimportable(lines) else recorded.hint,
    )


def _copied(space: Workspace, script: Path) -> Path:
    """A copy of the script that the sandbox can read."""
    copied = space.path(script.name)
    try:
        copied.write_bytes(script.read_bytes())
    except OSError as error:
        raise CheckUnavailable(
            f"cannot read {script}: {(error.strerror or str(error)).lower()}"
        ) from None
    return copied


def _called_of(program: Program, targets: Sequence[str]) -> list[Symbol]:
    """The functions whose calls are those of ``targets``: of a class, its own methods'."""
    found = {symbol.id: symbol for symbol in functions_of(program, targets)}
    for target in targets:
        module = program.module(target.partition(":")[0])
        table = program.symbol_table(module) if module is not None else {}
        if target in table and table[target].kind is SymbolKind.CLASS:
            members = [name for name in table if name.rpartition(".")[0] == target]
            found |= {symbol.id: symbol for symbol in functions_of(program, members)}
    return list(found.values())


def ran_out(outcome: SandboxOutcome) -> bool:
    """Whether a run of tests reached the limit of its time."""
    return outcome.ending in {Ending.WALL_CLOCK, Ending.CPU}


def why_tests_ended(
    outcome: SandboxOutcome, lines: Sequence[Mapping[str, Any]], option: str
) -> str:
    """Why tests, or a script, were not run to their end; empty when they were.

    ``lines`` are what the recording has written, ``option`` is what gives it more time.
    """
    if ran_out(outcome):
        return f"the tests did not end within the limit of {option}"
    if outcome.succeeded and not any("ended" in line for line in lines):
        return "what was run has ended the process itself (os._exit)"
    return why_ended(outcome)


def seconds_for_a_test(space: Workspace) -> float:
    """Of the time for all tests, what one of them may take: else one that hangs takes all."""
    return max(_LEAST_FOR_A_TEST, space.limits.wall_seconds * _SHARE_OF_A_TEST)


def not_run(lines: Sequence[Mapping[str, Any]], seconds: float) -> str:
    """What of the tests was not run, and why; empty when all were run to their ends."""
    given_up = [f"the tests ended with {line['tests']}" for line in lines if "tests" in line]
    return "; ".join(filter(None, (*given_up, _unimportable(lines), _stopped(lines, seconds))))


def _ended_early(lines: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Why a script, or tests, may not have come to what they would call."""
    for line in lines:
        match line:
            case {"script": str(why)}:
                yield f"it ended with {why}"
            case {"how": "failed" | "skipped" as how, "number": int(number)}:
                count = "a test" if number == 1 else f"{number:,} tests"
                verb = how if how == "failed" else "was skipped" if number == 1 else "were skipped"
                yield f"{count} {verb}: {line.get('test')}: {line.get('why')}"


def are_unimportable(lines: Sequence[Mapping[str, Any]]) -> bool:
    """Whether there are test files that could not be imported."""
    return bool(_unimportable(lines))


def _stopped(lines: Sequence[Mapping[str, Any]], seconds: float) -> str:
    found = list(dict.fromkeys(str(line["stopped"]) for line in lines if "stopped" in line))
    if not found:
        return ""
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"stopped after {seconds:g} s: {found[0]}{more}"


def _unimportable(lines: Sequence[Mapping[str, Any]]) -> str:
    broken = {str(line["broken"]): str(line.get("why")) for line in lines if "broken" in line}
    if not broken:
        return ""
    first = min(broken)
    count = f"{len(broken)} test files" if len(broken) > 1 else "a test file"
    return f"{count} could not be imported: {first}: {broken[first]}"


def replay(
    space: Workspace,
    program: Program,
    recorded: Recorded,
    tree: Tree,
    modules: Sequence[str],
    *,
    targets: Sequence[Symbol] | None = None,
    lend: bool = False,
    backwards: bool = False,
) -> Replay:
    """Import ``modules`` from ``tree`` and make the recorded calls there.

    ``lend``: the tree is the original; write what slices may have to borrow.
    ``backwards``: the last call first, and each twice, of which the second counts.
    """
    results = space.path("results.jsonl")
    guarded = _guarded(program)
    order = {
        "folder": str(tree.folder),
        "roots": roots_for(program, recorded.targets, tree),
        "guarded": sorted(guarded),
        "tests": sorted(name for name in guarded - recorded.own if is_test_module(name)),
        "own": sorted(recorded.own),
        "original": str(space.original().folder),
        "modules": list(modules),
        "targets": places_of(program, recorded.targets if targets is None else targets, tree),
        "calls": str(recorded.path),
        "lent": "lent.pickle" if lend else str(recorded.lent),
        "lend": lend,
        "backwards": backwards,
        "seconds": _CALL_SECONDS,
        "results": "results.jsonl",
    }
    makes = {"results.jsonl": results} | ({"lent.pickle": recorded.lent} if lend else {})
    ended = space.run("replaying", order, makes=makes)
    lines, why = read_results(results), why_ended(ended)
    if not lines:
        raise CheckUnavailable(
            f"{space.python} does not run the check: {why or 'it did nothing'}",
            hint="--check-python names a Python",
        )
    done = _read_replay(lines, why)
    told = {str(line.get("module")) for line in lines}
    died = {name: f"no answer: {why}" for name in modules if name not in told}
    return replace(done, imports={**done.imports, **died})


def _read_replay(lines: Sequence[Mapping[str, Any]], why: str) -> Replay:
    imports: dict[str, str] = {}
    missing: list[tuple[str, tuple[str, ...], str]] = []
    imported: frozenset[tuple[str, str]] = frozenset()
    outcomes: dict[int, Outcome] = {}
    borrowed: tuple[str, ...] = ()
    for line in lines:
        match line:
            case {"module": str(module)}:
                if "error" in line:
                    imports[module] = str(line["error"])
                    missing += _missing(line)
            case {"during": "import"}:
                imported = _executed(line)
            case {"call": int(call), "target": str(target), "stage": str(stage)}:
                outcomes[call] = Outcome(
                    call=call,
                    target=target,
                    stage=stage,
                    digest=str(line.get("digest")),
                    text=str(line.get("text")),
                    missing=tuple(_missing(line)),
                    executed=_executed(line),
                )
            case {"borrowed": [*names]}:
                borrowed = tuple(map(str, names))
            case _:
                pass
    return Replay(
        imports=imports,
        missing=tuple(missing),
        imported=imported,
        outcomes=outcomes,
        borrowed=borrowed,
        ended=why,
    )


def _missing(line: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...], str]]:
    found = []
    for each in line.get("missing") or ():
        match each:
            case {"what": str(what), "of": [*owners], "name": str(name)}:
                found.append((what, tuple(map(str, owners)), name))
            case _:
                pass
    return found


def _executed(line: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    found = set()
    for each in line.get("executed") or ():
        match each:
            case [str(path), str(qualname)]:
                found.add((path, qualname))
            case _:
                pass
    return frozenset(found)


def functions_of(program: Program, targets: Sequence[str]) -> list[Symbol]:
    """Those of ``targets`` that are functions."""
    found = []
    for target in targets:
        module = program.module(target.partition(":")[0])
        symbol = program.symbol_table(module).get(target) if module is not None else None
        if symbol is not None and symbol.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD):
            found.append(symbol)
    return found


def places_of(program: Program, symbols: Sequence[Symbol], tree: Tree) -> list[dict[str, Any]]:
    """Where the definitions are, for orders; ``lines``: of each that may be the one that runs."""
    trees: dict[str, ast.Module | None] = {}
    found = []
    for symbol in symbols:
        module, _, qualname = symbol.id.partition(":")
        if module not in trees:
            trees[module] = tree_of(program, module)
        parsed = trees[module]
        known = None if parsed is None else definitions_of(parsed, qualname, symbol.span.start)
        lines = [] if known is None else [*map(first_line, (known.chosen, *known.others))]
        found.append(
            {
                "id": symbol.id,
                "module": module,
                "qualname": qualname,
                "path": str(tree.folder / symbol.path),
                "lines": lines or [symbol.span.start],
            }
        )
    return found


def roots_for(program: Program, symbols: Sequence[Symbol], tree: Tree) -> list[str]:
    """What ``sys.path`` begins with: of several modules of one name that beside the targets is meant."""
    files = [program.by_path[symbol.path] for symbol in symbols if symbol.path in program.by_path]
    beside = sorted({file.own_root or file.source_root for file in files})
    first = [os.path.normpath(tree.folder / root) for root in beside]
    return list(dict.fromkeys([*first, *map(str, tree.roots)]))


def own_modules(program: Program, symbols: Sequence[Symbol]) -> frozenset[str]:
    """The modules of the targets' packages, without their tests: arguments name what is there."""
    modules = {symbol.id.partition(":")[0] for symbol in symbols}
    tops = {name.partition(".")[0] for name in modules}
    return frozenset(
        name
        for name in program.files
        if name in modules or (name.partition(".")[0] in tops and not is_test_module(name))
    )


def is_test_module(name: str) -> bool:
    """Whether a module is one of tests, by its name."""
    return any(_TEST_PART.fullmatch(part) for part in name.split("."))


def is_test_file(path: str) -> bool:
    """Whether a file or a folder is one of tests, by its path relative to the repository."""
    return is_test_module(path.removesuffix(".py").replace("/", "."))


def _guarded(program: Program) -> set[str]:
    found: set[str] = set()
    for name in program.files:
        parts = name.split(".")
        found.update(".".join(parts[:end]) for end in range(1, len(parts) + 1))
    return found


def test_files(folder: Path, symbols: Sequence[Symbol]) -> list[str]:
    """Test files of the copied repository: those first that mention a target.

    Of those that mention as much, the ones that are called like a target or its module. What
    measures speed comes last: it does the same for longer. Where none is called as pytest looks
    for them (``test_*.py``), those that ``unittest`` does (``testthis.py``).
    """
    called = {part for symbol in symbols for part in (*_telling_names(symbol), symbol.module)}
    stems = {name.rpartition(".")[2] for name in called}
    names = {part for symbol in symbols for part in _telling_names(symbol)}
    found = []
    for path, text in _files_of_tests(folder):
        words = set(re.findall(r"\w+", text)) if names else set()
        measures = any(map(_BENCHMARK.match, path.relative_to(folder).parts))
        like = not stems.isdisjoint((path.stem, *path.stem.split("_", 1)))
        found.append((measures, -len(names & words), not like, str(path)))
    return [path for *_, path in sorted(found)]


def _files_of_tests(folder: Path) -> list[tuple[Path, str]]:
    def texts(named: re.Pattern[str]) -> Iterable[tuple[Path, str]]:
        for path in files:
            if named.search(path.as_posix()):
                yield path, path.read_text(encoding="utf-8", errors="replace")

    files = sorted(folder.rglob("*.py"))
    found = list(texts(_TEST_FILE))
    return found or [each for each in texts(_UNITTEST_FILE) if _TEST.search(each[1])]


def misnamed_tests(folder: Path) -> str:
    """What lies among tests and has some, but is not named as pytest has it; empty if nothing."""
    found = [
        name
        for path in sorted(folder.rglob("*.py"))
        if is_test_file(name := path.relative_to(folder).as_posix())
        and not _TEST_FILE.search(name)
        and path.name != "conftest.py"
        and _TEST.search(path.read_text(encoding="utf-8", errors="replace"))
    ]
    if not found:
        return ""
    more = f", nor are {len(found) - 1} more" if len(found) > 1 else ""
    return f"{found[0]} is not named test_*.py or *_test.py{more}"


def _telling_names(symbol: Symbol) -> list[str]:
    parts = symbol.id.partition(":")[2].split(".")
    last = parts[-1]
    return parts[:-1] if last.startswith("__") and len(parts) > 1 else parts
