"""Candidates for a target: whether one does what the original does, as far as a harness tells.

A candidate is code nobody vetted, and may look for the answers: so it runs in a sandbox
that has its own text where the repository has the original's, in a process of its own, of
which nothing is left when the next candidate comes. Each side runs the harness
with both names standing for itself; what is compared is what each of their calls did.
"""

from __future__ import annotations

import ast
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from depslice.callgraph.definitions import Function as _Function
from depslice.callgraph.definitions import accessor, definitions_of
from depslice.callgraph.source import UndecodableSource, as_utf8, decode_source
from depslice.validator.calls import is_test_file
from depslice.validator.sandbox import Message, Outcome
from depslice.validator.validation.copies import copies_of
from depslice.validator.validation.gates import Gates
from depslice.validator.validation.ground import Ground, Habits
from depslice.validator.validation.harness import Harness, HarnessError, why_not_python
from depslice.validator.validation.session import IMPORT_SECONDS, Session, loss_reason
from depslice.validator.validation.verdict import Reason

_LEAST_SECONDS, _IMPORT_FACTOR = 5.0, 10.0  # the machine may be busier than it was
_COPIES: Final = ("~", ".bak", ".egg", ".orig", ".pyc", ".rej", ".tar.gz", ".whl", ".zip")
_COMPARED: Final = "compared"
_NO_CALLS: Final = ("test", _COMPARED)  # what a transcript has without any
SCHEMA: Final = "depslice.candidate/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Same:
    """Every call of the harness did the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Different:
    """The candidate does something else; ``why`` tells what."""

    why: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """It cannot be told, and that is not the candidate's doing."""

    cause: Reason


Comparison = Same | Different | Unknown


def replaced_text(source: str, harness: Harness, candidate: str) -> str:
    """The target's file with a candidate in the target's place.

    ``candidate`` is a text that defines a function of the target's name, in a class or
    not. What else stands in it, imports and helpers, comes before or after the statement
    that holds the target, as in the candidate, and further methods of its class before the
    target; but what the file itself defines stays as it is. Decorators of the original
    stay, unless the candidate has its own. A target with definitions in several branches is
    replaced in each.

    :raises HarnessError: it is not Python, or defines no such function.
    """
    try:
        return _replaced(source, harness, candidate)
    except SyntaxError as error:
        raise HarnessError(f"the candidate is not Python: {why_not_python(error)}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        # Digits or depth beyond what Python reads or writes.
        told = f": {error}" if str(error) else ""
        raise HarnessError(f"the candidate cannot be read ({type(error).__name__}{told})") from None


def _replaced(source: str, harness: Harness, candidate: str) -> str:
    name = _name(harness)
    given = ast.parse(candidate)
    found = _functions(given, name)
    if not found:
        raise HarnessError(f"the candidate does not define {name}")
    tree = ast.parse(source)
    places = _originals(tree, harness)
    new = _meant(found, places[0])
    tops = [_holding(tree.body, each) for each in places]
    place = given.body.index(_holding(given.body, new))
    lines = source.split("\n")
    edits = _Edits()
    edits.put(_docstring_end(tree), filter(_is_future, given.body))
    edits.put(min(min(_starts(each)) for each in tops) - 1, _new(given.body[:place], tree))
    for old in places:
        beside = _new_methods(_class_around(given, new), new, _class_around(tree, old))
        head = lines[old.lineno - 1]
        margin = head[: len(head) - len(head.lstrip())]  # perhaps tabs
        above = min(_starts(old)) - 1
        edits.put(above, beside, margin)
        start = above if new.decorator_list else old.lineno - 1
        edits.put(start, [new], margin, end=old.end_lineno or old.lineno)
    last = max(each.end_lineno or each.lineno for each in tops)
    edits.put(last, _new(given.body[place + 1 :], tree))
    return edits.made(lines)


class _Edits:
    """Statements to be put into the lines of a file, in any order."""

    def __init__(self) -> None:
        self._edits: list[tuple[int, int, list[str]]] = []

    def put(
        self,
        start: int,
        statements: Iterable[ast.stmt],
        margin: str = "",
        *,
        end: int | None = None,
    ) -> None:
        """Have ``statements`` behind ``start`` lines, or in the place of those up to ``end``."""
        new = [line for each in statements for line in _lines(each, margin)]
        self._edits.append((start, start if end is None else end, new))

    def made(self, lines: Sequence[str]) -> str:
        """The text of the file; of what comes in one place, what was put first stands first."""
        found = list(lines)
        self._edits.sort(key=lambda each: each[0])
        for start, end, new in reversed(self._edits):
            found[start:end] = new
        text = "\n".join(found)
        return text if text.endswith("\n") else text + "\n"


def _lines(statement: ast.stmt, margin: str) -> list[str]:
    """A statement, indented; what stands inside of texts of several lines stays as it is."""
    text = ast.unparse(statement)
    inside = {
        line
        for each in ast.walk(ast.parse(text))
        if isinstance(each, (ast.Constant, ast.JoinedStr))
        for line in range(each.lineno + 1, (each.end_lineno or each.lineno) + 1)
    }
    return [
        line if number in inside or not line else margin + line
        for number, line in enumerate(text.split("\n"), 1)
    ]


def _name(harness: Harness) -> str:
    return harness.target.rpartition(".")[2].rpartition(":")[2]


def _originals(tree: ast.Module, harness: Harness) -> tuple[_Function, ...]:
    """The target, and its definitions in other branches: one of them runs."""
    found = definitions_of(tree, harness.target.partition(":")[2], harness.line)
    if found is None:
        raise HarnessError(f"{harness.path} does not define {harness.target}")
    return found.chosen, *found.others


def _meant(found: Sequence[_Function], old: _Function) -> _Function:
    """Of the functions of a name in a candidate, the one that is what ``old`` is: a class with a
    property may have come whole.
    """
    alike = [each for each in found if accessor(each) == accessor(old)]
    return (alike or found)[-1]


def _new(statements: Iterable[ast.stmt], tree: ast.Module) -> Iterator[ast.stmt]:
    """Those that bind a name which the file does not, or none at all.

    A candidate repeats what it was shown of the file; that is there already, and may have
    been shown in part.
    """
    there = {name for each in tree.body for name in _binds(each)}
    for each in statements:
        bound = _binds(each)
        if not _is_future(each) and (not bound or not bound <= there):
            yield each


def _binds(statement: ast.stmt) -> set[str]:
    """The names that a statement binds in its own scope."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {statement.name}
        case ast.Import() | ast.ImportFrom():
            return {(a.asname or a.name).partition(".")[0] for a in statement.names}
        case _:
            nodes = ast.walk(statement)
            return {n.id for n in nodes if isinstance(n, ast.Name) and _is_store(n)}


def _is_store(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _new_methods(
    given: ast.ClassDef | None, new: _Function, known: ast.ClassDef | None
) -> Iterator[ast.stmt]:
    """Functions beside the candidate in its class that the original's class lacks."""
    if given is None or known is None:
        return
    there = {name for each in known.body for name in _binds(each)}
    for each in given.body:
        if isinstance(each, _Function) and each is not new and each.name not in there:
            yield each


def _holding(statements: Sequence[ast.stmt], node: ast.AST) -> ast.stmt:
    return next(s for s in statements if any(each is node for each in ast.walk(s)))


def _class_around(tree: ast.Module, function: _Function) -> ast.ClassDef | None:
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return next((node for node in classes if function in node.body), None)


def _docstring_end(tree: ast.Module) -> int:
    """The number of lines up to the end of the module's docstring."""
    if ast.get_docstring(tree, clean=False) is None:
        return 0
    return tree.body[0].end_lineno or 0


def _functions(tree: ast.AST, name: str) -> list[_Function]:
    return [n for n in ast.walk(tree) if isinstance(n, _Function) and n.name == name]


def _starts(node: ast.AST) -> list[int]:
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    line: int = getattr(node, "lineno", 1)
    return [line, *(each.lineno for each in decorators)]


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    """A sandbox for candidates in one file of the repository: ``file`` holds each in turn.

    The repository's tests are there if ``tests``: who reads them may know what is expected.
    A run of it imports the repository anew, in ``seconds`` at most; what that needs from
    ``outside`` the repository stays in memory. Of ``hidden`` targets there is no copy.
    """

    path: str
    tests: bool
    file: Path
    session: Session
    outside: tuple[str, ...]
    seconds: float
    hidden: set[str]  # targets of which there is no copy


@dataclass(slots=True, kw_only=True)
class Referee:
    """Compares candidates with the original; used by one thread, made by :func:`open_referee`."""

    ground: Ground
    gates: Gates
    reference: Session
    _bench: _Bench | None = None
    _stack: ExitStack = field(default_factory=ExitStack)

    def compare(self, harness: Harness, candidate: str) -> Comparison:
        """Whether a candidate, as :func:`replaced_text` takes it, does as the original does.

        Those of one file are best compared one after the other: they share a sandbox.

        :raises SandboxUnavailable: no sandbox can be started.
        """
        path = self.ground.tree.folder / harness.path
        try:
            text = replaced_text(source_of(path), harness, candidate)
        except HarnessError as error:
            return Different(why=Reason(slug="no-candidate", message=error.message))
        bench = self._bench_for(harness, text)
        put(bench.file, text)
        if harness.target not in bench.hidden:
            bench.hidden.add(harness.target)
            remove_copies(self.ground, bench.session.ground, harness)
        moved = replace(harness, line=0)
        seconds = self.gates.seconds + bench.seconds
        answer = bench.session.ask(
            moved, kind="record", expected=None, outside=bench.outside, seconds=seconds
        )
        done = _record(answer)
        if isinstance(done, Reason):
            return Different(why=done)
        expected = self._against(harness, done, varying=self._habits(harness).varying)
        if isinstance(expected, Reason):
            return Unknown(cause=expected)
        if expected.get("difference"):
            return Different(why=Reason(slug="differs", message=str(expected["difference"])[:1000]))
        if all(entry[0] in _NO_CALLS for entry in done["transcript"]):
            message = "no test calls the target here: all are skipped, or there are none"
            return Unknown(cause=Reason(slug="candidate-not-called", message=message))
        return Same()

    def _bench_for(self, harness: Harness, text: str) -> _Bench:
        tests = self._habits(harness).needs_tests
        if self._bench is not None and (self._bench.path, self._bench.tests) == (
            harness.path,
            tests,
        ):
            return self._bench
        self.close()
        ground = self._stack.enter_context(with_file(self.ground, harness, text, with_tests=tests))
        session = Session(ground=ground, gates=self.gates, measures=False, fresh=True)
        self._stack.enter_context(closing(session))
        outside, seconds = self._imports(harness)
        self._bench = _Bench(
            path=harness.path,
            tests=tests,
            file=ground.tree.folder / harness.path,
            session=session,
            outside=outside,
            seconds=seconds,
            hidden={harness.target},
        )
        return self._bench

    def _habits(self, harness: Harness) -> Habits:
        """What of the original is not the same in another run of the harness.

        Harnesses in situ run the repository's tests; others may take classes from them, or the
        repository itself may.
        """
        key, known = (harness.target, harness.digest), self.ground.habits
        if key not in known:
            without = self._run_again(harness, tests=False)
            if without is not None and without.varying == ():
                known[key] = without
            else:
                found = self._run_again(harness, tests=True)
                found = found or Habits(needs_tests=True, varying=None)
                same = without is not None and _vary_alike(without, found)
                known[key] = replace(found, needs_tests=not same)
        return known[key]

    def _run_again(self, harness: Harness, *, tests: bool) -> Habits | None:
        """Run the original in another sandbox; ``None``: there it does something else."""
        text = source_of(self.ground.tree.folder / harness.path)
        with with_file(self.ground, harness, text, with_tests=tests) as ground:
            session = Session(ground=ground, gates=self.gates, measures=False)
            with closing(session):  # not that of candidates: they do not see the original
                done = _record(session.ask(harness, kind="record", expected=None))
        if isinstance(done, Reason):
            return None
        varying: set[int] | None = set()
        compares = any(entry[0] == _COMPARED for entry in done["transcript"])
        # In one sandbox addresses are alike, in two the numbers of processes may be.
        for _ in range(2 if compares else 1):
            found = self._against(harness, done, varying=None)
            if isinstance(found, Reason) or found.get("difference"):
                return None
            match found.get("varying"):
                case list() as numbers if varying is not None:
                    varying.update(map(int, numbers))
                case _:
                    varying = None
        told = None if varying is None else tuple(sorted(varying))
        return Habits(needs_tests=tests, varying=told)

    def _against(
        self, harness: Harness, done: dict[str, Any], *, varying: Sequence[int] | None
    ) -> dict[str, Any] | Reason:
        """How the original differs from what was done elsewhere."""
        told = None if varying is None else list(varying)
        answer = self.reference.ask(
            harness, kind="record", expected=done["transcript"], varying=told
        )
        return _record(answer)

    def _imports(self, harness: Harness) -> tuple[tuple[str, ...], float]:
        """What the original imports from outside, and seconds that are enough for its import."""
        match self.reference.ask(harness, kind="imports"):
            case {"imports": {"outside": list() as names, "seconds": float(took)}}:
                enough = _LEAST_SECONDS + _IMPORT_FACTOR * took
                return tuple(map(str, names)), min(enough, IMPORT_SECONDS)
            case _:  # which the first comparison will tell
                return (), IMPORT_SECONDS

    def finish(self) -> float:
        """End both sandboxes; the CPU seconds they have used."""
        used = self.reference.finish()
        if self._bench is not None:
            used += self._bench.session.finish()
        return used

    def close(self) -> None:
        """End the sandbox for candidates."""
        self._stack.close()
        self._bench = None


def _vary_alike(without: Habits, found: Habits) -> bool:
    """Whether what varies without the repository's tests does so beside them."""
    if found.varying is None or without.varying is None:
        return found.varying is None
    return set(without.varying) <= set(found.varying)


def _record(answer: Message | Outcome) -> dict[str, Any] | Reason:
    """What was recorded, or why nothing can be."""
    match answer:
        case Outcome():
            return loss_reason(answer)
        case {"unusable": [str(what), str(why)]}:
            return Reason(slug=what, message=why)
        case {"record": {"ended": "result", "failed": [first, *_]}}:
            return Reason(slug="fails", message=str(first)[:1000])
        case {"record": {"ended": "result"}}:
            found: dict[str, Any] = answer["record"]
            return found
        case {"record": {"ended": ended}}:
            return Reason(slug="ended", message=f"the run ended without a result: {ended}")
        case _:
            return Reason(slug="evidence", message="no record came back")


@contextmanager
def open_referee(ground: Ground, gates: Gates | None = None) -> Iterator[Referee]:
    """A referee on a repository."""
    found = gates or Gates()
    with (
        closing(Session(ground=ground, gates=found)) as session,
        closing(Referee(ground=ground, gates=found, reference=session)) as referee,
    ):
        yield referee


@contextmanager
def with_file(
    ground: Ground, harness: Harness, text: str, *, with_tests: bool = True
) -> Iterator[Ground]:
    """The ground with another text in the file of a harness's target.

    What is built of the repository, distributions and other files that hold the text of the
    target are not there (:mod:`.copies`). Without tests, the files and folders that have their
    names are not there either.
    """
    tree = ground.tree
    top = ground.folder / tree.folder.relative_to(ground.folder).parts[0]
    place = Path(tempfile.mkdtemp(prefix="candidate-", dir=ground.folder.parent))
    try:
        # Nobody writes there, so that names for the same files are as good as copies.
        ignored = _copies_among if with_tests else _tests_and_copies_among
        shutil.copytree(top, place / top.name, symlinks=True, ignore=ignored, copy_function=os.link)
        for each in ground.folders:
            if each.is_relative_to(ground.folder):
                shutil.copytree(each, place / each.name, copy_function=os.link)
        folder = place / tree.folder.relative_to(ground.folder)
        put(folder / harness.path, text)
        place.chmod(0o755)
        hidden = replace(
            ground,
            folder=place,
            tree=replace(
                tree,
                folder=folder,
                roots=tuple(place / root.relative_to(ground.folder) for root in tree.roots),
            ),
            folders=tuple(
                place / each.name if each.is_relative_to(ground.folder) else each
                for each in ground.folders
            ),
        )
        remove_copies(ground, hidden, harness)
        yield hidden
    finally:
        shutil.rmtree(place, ignore_errors=True)


def remove_copies(original: Ground, hidden: Ground, harness: Harness) -> None:
    """Remove other files that hold the text of a harness's target, but not from the original."""
    source = source_of(original.tree.folder / harness.path)
    folder = hidden.tree.folder
    for definition in _originals(ast.parse(source), harness):
        for path in copies_of(source, definition, folder, user=harness.text):
            if path != folder / harness.path:
                path.unlink()


def source_of(path: Path) -> str:
    """The text of a source file, to be written again as UTF-8.

    :raises HarnessError: it is none.
    """
    try:
        return as_utf8(decode_source(path.read_bytes()))
    except UndecodableSource as error:
        raise HarnessError(f"{path.name} cannot be read: {error.message}") from None


def put(path: Path, text: str) -> None:
    """Let a file be another one: what has the same name elsewhere stays as it is."""
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)


def _tests_and_copies_among(folder: str, names: list[str]) -> list[str]:
    return [*_copies_among(folder, names), *filter(is_test_file, names)]


def _copies_among(folder: str, names: list[str]) -> list[str]:
    """What may have the text of the repository's files: archives, copies, ``build/lib``."""
    return [
        name
        for name in names
        if name.endswith(_COPIES) or (name == "build" and any(Path(folder, name).glob("lib*")))
    ]


def candidate_document(harness: Harness, comparison: Comparison) -> dict[str, Any]:
    """A comparison as JSON; see ``docs/formats/json.md``."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "harness": harness.name,
        "target": harness.target,
        "digest": harness.digest,
    }
    match comparison:
        case Same():
            return document | {"verdict": "same", "reasons": []}
        case Different(why=reason):
            verdict = "different"
        case Unknown(cause=reason):
            verdict = "unknown"
    return document | {
        "verdict": verdict,
        "reasons": [{"slug": reason.slug, "message": reason.message}],
    }
