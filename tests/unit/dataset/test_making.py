"""Generate, validate, repair: rounds, the best draft, and runs that go on where one ended."""

from __future__ import annotations

import pickle
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from depslice.callgraph.model import Symbol
from depslice.callgraph.targets import find_symbol
from depslice.dataset.making import Maker
from depslice.dataset.model import Made, made_document, parse_made
from depslice.dataset.recorded import Recording
from depslice.dataset.summary import summarized
from depslice.harness import (
    Attempt,
    Declined,
    Draft,
    GeneratorUnavailable,
    HarnessGenerator,
    Task,
)
from depslice.validator.validation import Gates, Session
from depslice.validator.validation.ledger import LedgerError
from harnesses import validating

SOURCE = """
def clamp(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


def double(x):
    return x * 2
"""
GOOD = """
def test_clamp(context):
    for x in (-1, 0, 5, 10, 11):
        context.check(x, 0, 10)
"""
WEAK = """
def test_clamp(context):
    context.check(5, 0, 10)
"""


class Script:
    """A generator that gives texts, one a round, and remembers what it was told."""

    needs_calls = False

    def __init__(
        self, name: str, *texts: str, fails: bool = False, files: Mapping[str, bytes] | None = None
    ) -> None:
        self.name = name
        self.rounds = max(1, len(texts))
        self.texts = texts
        self.fails = fails
        self.files = files or {}
        self.asked: list[tuple[str, tuple[Attempt, ...]]] = []

    def draft(self, task: Task, attempts: Sequence[Attempt]) -> Sequence[Draft] | Declined:
        self.asked.append((task.target.id, tuple(attempts)))
        if self.fails:
            raise ZeroDivisionError("a plug-in's own fault")
        if not self.texts:
            return Declined(slug="nothing", message="it has nothing to say", tokens=7)
        text = self.texts[len(attempts)]
        return [Draft(text=text, files=self.files, tokens=10, dollars=0.5)]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("small")
    gates = Gates(seconds=10, mutants=10, runs=1)
    with validating(folder, {"small.py": SOURCE}, gates=gates) as found:
        yield found


def make(
    session: Session,
    folder: Path,
    *generators: HarnessGenerator,
    targets: Sequence[str] = ("clamp",),
    every: bool = False,
    workers: int = 1,
    progress: Callable[[int, int, str], None] = lambda done, total, at_hand: None,
) -> list[Made]:
    maker = Maker(
        session=session,
        generators=generators,
        recording=Recording(calls={}, failures={}),
        folder=folder,
        every=every,
        workers=workers,
    )
    symbols: list[Symbol] = [find_symbol(session.ground.program, f"small:{t}") for t in targets]
    return list(maker.make(symbols, progress=progress))


def test_a_draft_is_repaired_with_what_the_validator_said(session: Session, tmp_path: Path) -> None:
    script = Script("script", WEAK, GOOD)
    [made] = make(session, tmp_path, script)
    assert (made.verdict, made.rounds, made.tokens, made.dollars) == ("accepted", 2, 20, 1.0)
    assert made.self_equivalent
    [_, (_, (attempt,))] = script.asked
    assert attempt.assessment.verdict == "rejected"
    assert "coverage" in dict(attempt.assessment.reasons)
    assert attempt.assessment.uncovered
    assert attempt.assessment.survivors
    assert (tmp_path / made.harness).read_text() == GOOD


def test_the_best_draft_is_kept(session: Session, tmp_path: Path) -> None:
    [made] = make(session, tmp_path, Script("script", WEAK, "def test_it(context):\n    pass\n"))
    assert made.verdict == "rejected"
    assert made.self_equivalent
    assert (tmp_path / made.harness).read_text() == WEAK


def test_what_is_no_harness_is_an_outcome(session: Session, tmp_path: Path) -> None:
    found = make(
        session,
        tmp_path,
        Script("rust", "fn main() { assert!(true); }"),
        Script("silent"),
        Script("broken", fails=True),
        Script("good", GOOD),
        Script("never", GOOD),
    )
    assert [
        (made.generator, made.verdict, [slug for slug, _ in made.reasons]) for made in found
    ] == [
        ("rust", "rejected", ["not-a-harness"]),
        ("silent", "declined", ["nothing"]),
        ("broken", "declined", ["generator-failed"]),
        ("good", "accepted", []),
    ]
    assert "a plug-in's own fault" in found[2].reasons[0][1]
    assert found[1].tokens == 7


@pytest.mark.parametrize(
    "given",
    [
        *("nope", None, [], [GOOD]),
        [Draft(text=5)],  # type: ignore[arg-type]
        [Draft(text=GOOD, files={"1": "text"})],  # type: ignore[dict-item]
    ],
)
def test_what_is_no_draft_is_a_generator_that_failed(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: object
) -> None:
    script = Script("script")
    monkeypatch.setattr(script, "draft", lambda task, attempts: given)
    [made] = make(session, tmp_path, script)
    [(slug, message)] = made.reasons
    assert (made.verdict, slug) == ("declined", "generator-failed")
    assert "it gives" in message


def test_a_run_goes_on_where_it_was_ended(session: Session, tmp_path: Path) -> None:
    first = make(session, tmp_path, Script("script", WEAK), targets=("clamp", "double"))
    manifest = tmp_path / "manifest.jsonl"
    lines = manifest.read_bytes().splitlines(keepends=True)
    assert len(lines) == 2
    manifest.write_bytes(lines[0] + lines[1][:40])  # killed while it wrote
    again = Script("script", WEAK)
    second = make(session, tmp_path, again, targets=("clamp", "double"))
    assert [target for target, _ in again.asked] == ["small:double"]
    assert [made.verdict for made in second] == [made.verdict for made in first]
    assert made_document(second[0]) == made_document(first[0])
    assert manifest.read_bytes().startswith(lines[0])


@pytest.mark.parametrize("gone", ["clamp.script-sliced.py", "clamp.script-sliced.data"])
def test_a_harness_that_is_gone_is_made_again(session: Session, tmp_path: Path, gone: str) -> None:
    loads = WEAK + "    context.check_with(lambda: context.load('1'))\n"
    script = Script("script", loads, files={"1": pickle.dumps(((1, 0, 2), {}))})
    [made] = make(session, tmp_path, script)
    path = tmp_path / "small" / gone
    assert path.exists(), made
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    make(session, tmp_path, script)
    assert len(script.asked) == 2
    assert path.exists()
    make(session, tmp_path, script)
    assert len(script.asked) == 2


def test_a_changed_target_is_not_known(session: Session, tmp_path: Path) -> None:
    make(session, tmp_path, Script("script", WEAK))
    other = Script("script", WEAK)
    gates = session.gates
    session.gates = Gates(seconds=10, mutants=10, runs=1, branches=0.1, mutation=0.0)
    try:
        make(session, tmp_path, other)
    finally:
        session.gates = gates
    assert len(other.asked) == 1


def test_made_is_stored_and_read() -> None:
    made = Made(
        target="m:f", generator="g", strategy="", verdict="rejected",
        reasons=(("coverage", "too little"),), branch_coverage=0.5, harness="m/f.g.py", rounds=2,
        provenance={"calls": 3},
    )  # fmt: skip
    assert parse_made(made_document(made)) == made


@pytest.mark.parametrize(
    "change",
    [
        {"target": 5},
        {"verdict": None},
        {"reasons": 7},
        {"reasons": ["x"]},
        {"mutation_score": 10**400},
        {"tokens": [1]},
        {"self_equivalent": None},
        {"harness": ["x"]},
        {"provenance": "text"},
    ],
)
def test_what_is_no_result_is_made_again(change: dict[str, object]) -> None:
    document = made_document(Made(target="a:b", generator="g", strategy="s", verdict="accepted"))
    assert parse_made(document) is not None
    assert parse_made(document | change) is None
    assert parse_made({k: v for k, v in document.items() if k not in change}) is None


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_folder_that_is_full_is_named(session: Session, tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "clamp.script-sliced.py").symlink_to("/dev/full")
    with pytest.raises(LedgerError, match="no space left on device"):
        make(session, tmp_path, Script("script", GOOD))


def test_the_summary_counts_by_generator_and_together() -> None:
    def made(target: str, generator: str, verdict: str, **more: object) -> Made:
        return Made(target=target, generator=generator, strategy="", verdict=verdict, **more)  # type: ignore[arg-type]

    rows = summarized(
        [
            made("m:a", "one", "rejected", reasons=(("flaky", "x"),), tokens=5),
            made("m:a", "two", "accepted", self_equivalent=True, branch_coverage=1.0),
            made("m:b", "one", "accepted", self_equivalent=True, branch_coverage=0.8, dollars=0.1),
        ]
    )
    one, two, together = rows
    assert (one.name, one.functions, one.accepted, one.causes) == ("one", 2, 1, (("flaky", 1),))
    assert (two.functions, two.accepted) == (1, 1)
    assert (together.functions, together.accepted, together.tokens) == (2, 2, 5)
    assert together.branch_coverage == pytest.approx(0.9)
    assert together.dollars == pytest.approx(0.1)


def test_several_workers_give_what_one_gives_in_its_order(session: Session, tmp_path: Path) -> None:
    double = GOOD.replace("x, 0, 10", "x").replace("test_clamp", "test_double")
    told = []
    for workers in (1, 2):
        script = Script("script", WEAK, GOOD, double)
        made = make(
            session,
            tmp_path / str(workers),
            script,
            Script("silent"),
            targets=("double", "clamp"),
            every=True,
            workers=workers,
        )
        told.append([replace(each, seconds=0.0) for each in made])
    assert told[0] == told[1]
    assert [(m.target, m.generator, m.verdict, m.rounds) for m in told[0]] == [
        ("small:double", "script", "accepted", 3),
        ("small:double", "silent", "declined", 0),
        ("small:clamp", "script", "accepted", 2),
        ("small:clamp", "silent", "declined", 0),
    ]


def test_what_is_done_is_counted_whatever_comes_first(session: Session, tmp_path: Path) -> None:
    another_is_done = threading.Event()
    named: list[str] = []

    class Slow(Script):
        def draft(self, task: Task, attempts: Sequence[Attempt]) -> Sequence[Draft] | Declined:
            if task.target.id == "small:double":
                with task.waiting():
                    assert another_is_done.wait(timeout=20)
            return Declined(slug="nothing", message="")

    def progress(done: int, total: int, at_hand: str) -> None:
        named.append(at_hand)
        if (done, total) == (1, 2):
            another_is_done.set()

    [slow, _] = make(
        session, tmp_path, Slow("slow"), targets=("double", "clamp"), workers=2, progress=progress
    )
    assert slow.target == "small:double"
    assert slow.reasons == (("nothing", ""),)
    assert "small:double (slow, draft 1)" in named


def test_a_worker_that_fails_ends_the_run(session: Session, tmp_path: Path) -> None:
    class Unable(Script):
        def draft(self, task: Task, attempts: Sequence[Attempt]) -> Sequence[Draft] | Declined:
            raise GeneratorUnavailable("it will never work")

    with pytest.raises(GeneratorUnavailable, match="never work"):
        make(session, tmp_path, Unable("unable"), targets=("double", "clamp"), workers=2)


def test_a_model_that_cannot_be_asked_says_nothing_about_the_function(
    session: Session, tmp_path: Path
) -> None:
    class Out(Script):
        def draft(self, task: Task, attempts: Sequence[Attempt]) -> Sequence[Draft] | Declined:
            self.asked.append((task.target.id, tuple(attempts)))
            return Declined(slug="model-unavailable", message="down", passing=True, dollars=None)

    out = Out("out")
    for _ in range(2):
        [made] = make(session, tmp_path, out)
        assert (made.verdict, made.dollars) == ("inconclusive", None)
        assert made.reasons == (("model-unavailable", "down"),)
    assert len(out.asked) == 2  # the next run asks again
    assert summarized([made])[0].dollars is None


def test_a_generator_of_any_name_has_a_file(session: Session, tmp_path: Path) -> None:
    """A slash in the name was one in the path: a folder for each function."""
    [made] = make(session, tmp_path, Script("my/own: gen", GOOD))
    assert made.generator == "my/own: gen"
    assert made.harness == "small/clamp.my_own__gen-sliced.py"
    [made] = make(session, tmp_path, Script("long" * 80, GOOD))
    assert len(Path(made.harness).name) < 100
    assert (tmp_path / made.harness).read_text() == GOOD
