"""What a session does when files change at the worst moment, which no client can time."""

from __future__ import annotations

import os
import threading
from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path
from typing import Literal

import pytest

from check import write_files
from depslice.callgraph.errors import UnknownTarget
from depslice.callgraph.program import Program
from depslice.callgraph.workspace import Workspace
from depslice.server.answers import SliceAnswer
from depslice.server.desk import Desk
from depslice.server.questions import OutsideRepository, SliceOptions, named_symbol, slice_function
from depslice.server.session import Question, RepositoryBusy, Session

LONG_AGO = 1_600_000_000


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    write_files(
        """
        # --- a.py
        from b import two
        def one(): return two()
        # --- b.py
        def two(): return 2
        # --- c.py
        def three(): return 3
        """.replace("\n        ", "\n"),
        tmp_path,
    )
    for path in (*tmp_path.iterdir(), tmp_path):
        os.utime(path, (LONG_AGO, LONG_AGO))
    return tmp_path


class Asking:
    """A question that counts how often it is answered, and lets a file change each time."""

    def __init__(self, target: str, *, change: Path | None = None, times: int = 0) -> None:
        self.answered = 0
        self.question = Question(label=f"slice {target}", key=(target,), answer=self._answer)
        self._target, self._change, self._times = target, change, times

    def _answer(self, program: Program) -> SliceAnswer:
        self.answered += 1
        answer = slice_function(program, self._target, SliceOptions())
        if self._change is not None and self.answered <= self._times:
            self._change.write_text(f"def two(): return 'change {self.answered}'\n")
        return answer


def test_an_answer_that_holds_is_not_made_again(repo: Path) -> None:
    session, asking = Session(Workspace(repo)), Asking("a:one")
    first = session.ask(asking.question)
    assert session.ask(asking.question) == first
    assert asking.answered == 1
    (repo / "c.py").write_text("def three(): return 33\n")  # which it has not read
    assert session.ask(asking.question).text == first.text
    assert asking.answered == 1
    (repo / "b.py").write_text("def two(): return 22\n")
    assert "22" in session.ask(asking.question).text
    assert asking.answered == 2


def test_a_new_file_makes_answers_anew(repo: Path) -> None:
    session, asking = Session(Workspace(repo)), Asking("a:one")
    session.ask(asking.question)
    (repo / "b.py").unlink()
    (repo / "b").mkdir()
    (repo / "b" / "__init__.py").write_text("def two(): return 'package'\n")
    assert "package" in session.ask(asking.question).text


def test_a_change_while_it_is_answered_is_in_the_answer(repo: Path) -> None:
    session = Session(Workspace(repo))
    asking = Asking("a:one", change=repo / "b.py", times=3)
    assert "change 3" in session.ask(asking.question).text
    assert asking.answered == 4


def test_files_that_never_rest(repo: Path) -> None:
    session = Session(Workspace(repo))
    asking = Asking("a:one", change=repo / "b.py", times=10**6)
    with pytest.raises(RepositoryBusy, match=r"b\.py"):
        session.ask(asking.question)


def test_an_error_is_not_remembered(repo: Path) -> None:
    session, asking = Session(Workspace(repo)), Asking("c:four")
    with pytest.raises(UnknownTarget):
        session.ask(asking.question)
    (repo / "c.py").write_text("def four(): return 4\n")
    assert session.ask(asking.question).target == "c:four"


def test_outdated_are_those_that_have_read_the_file(repo: Path) -> None:
    session = Session(Workspace(repo))
    for target in ("a:one", "c:three"):
        session.ask(Asking(target).question)
    (repo / "b.py").write_text("def two(): return 22\n")
    assert session.ask(Asking("c:three").question).outdated == ("slice a:one",)
    assert session.ask(Asking("a:one").question).outdated == ()


def test_a_new_file_outdates_those_that_import_its_name(repo: Path) -> None:
    (repo / "c.py").write_text("import late\ndef three(): return late.x\n")
    session = Session(Workspace(repo))
    for target in ("a:one", "c:three"):
        session.ask(Asking(target).question)
    (repo / "late.py").write_text("x = 1\n")
    assert session.ask(Asking("b:two").question).outdated == ("slice c:three",)
    assert "x = 1" in session.ask(Asking("c:three").question).text


@pytest.mark.parametrize("path", ["../x.py", "/x.py:1", "~/x.py", "a/../../x.py:f", "~root"])
def test_paths_outside(repo: Path, path: str) -> None:
    with pytest.raises(OutsideRepository):
        named_symbol(Program(Workspace(repo).program().project), path)


def test_a_desk_raises_what_its_work_raises(repo: Path) -> None:
    desk = Desk(lambda: Session(Workspace(repo)))
    with pytest.raises(UnknownTarget):
        desk.ask(lambda session: session.ask(Asking("a:nobody").question)).result()
    assert desk.ask(lambda session: session.ask(Asking("a:one").question)).result().target
    desk.close()
    with pytest.raises(FileNotFoundError):
        Desk(lambda: os.stat(repo / "nowhere"))  # type: ignore[arg-type, return-value]


def test_a_question_that_is_taken_back_is_given_up_at_once(repo: Path) -> None:
    desk, at_work = Desk(lambda: Session(Workspace(repo))), threading.Event()

    def endless(program: Program) -> SliceAnswer:
        at_work.set()
        while True:
            with suppress(Exception):  # as analysis does, where a file is at fault
                sorted(program.files)

    try:
        never = desk.ask(lambda s: s.ask(Question(label="", key=("never",), answer=endless)))
        waiting = desk.ask(lambda s: s.ask(Asking("b:two").question))
        next_one = desk.ask(lambda s: s.ask(Asking("a:one").question))
        assert at_work.wait(10)
        desk.take_back(waiting)
        desk.take_back(never)
        desk.take_back(never)
        with pytest.raises(CancelledError):
            never.result(timeout=20)
        assert waiting.cancelled()
        assert next_one.result(timeout=20).target == "a:one"
        desk.take_back(next_one)  # too late to matter
        assert desk.ask(lambda s: s.ask(Asking("b:two").question)).result(timeout=20).text
    finally:
        desk.close()


@pytest.mark.parametrize("strategy", ["full", "naive"])
def test_a_budget_holds_for_whole_files_and_never_cuts_the_target(
    strategy: Literal["full", "naive"], tmp_path: Path
) -> None:
    """It was passed over, and of a long file its beginning was given, without the target."""
    lines = [f"def before_{n}(): return 'a word or two'" for n in range(3000)]
    lines += ["import other", "def target():", "    return other.VALUE, 'it'"]
    lines += [f"def after_{n}(): return 'a word or two'" for n in range(100)]
    (tmp_path / "long.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "other.py").write_text("VALUE = 1\n" * 500, encoding="utf-8")
    program = Workspace(tmp_path).program()
    for budget in (None, 700, 5):
        options = SliceOptions(strategy=strategy, budget=budget)
        found = slice_function(program, "long:target", options)
        assert "    return other.VALUE, 'it'\n" in found.text
        assert not found.omitted
        if strategy == "full":
            assert found.tokens <= max(budget or 12_000, 60)
            assert [each.what for each in found.cut] == ["lines of text"]
            assert ("before_2990" in found.text) == (budget != 5)
