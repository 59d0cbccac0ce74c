"""Comparison where a repository's own tests make the calls, and the recorder before it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest

from depslice.callgraph import open_program
from depslice.validator import CheckUnavailable, check_limits, open_workspace
from depslice.validator.child.evidence.assertions import only_in_situ
from depslice.validator.child.harness.trampoline import trampoline
from depslice.validator.child.harness.worlds import member
from depslice.validator.reaching import Reaching, record_reaching
from depslice.validator.validation import Accepted, Evidence, Gates, Rejected, Session, Verdict
from harnesses import some_sandbox, validating, verdict_on

FILES = {
    "shop.py": """
        import itertools
        import queue
        import threading
        import time

        class Line:
            def __init__(self, price, count=1):
                self.price, self.count = price, count

        class Basket:
            def __init__(self, stream):
                self.stream = stream      # an open file: nothing that could be copied
                self.lines = []

            def read(self, limit):
                for text in self.stream:
                    if len(self.lines) >= limit:
                        break
                    price, count = text.split(",")
                    self.lines.append(Line(int(price), int(count)))
                return len(self.lines)

            def total(self, discount=0):
                found = sum(line.price * line.count for line in self.lines)
                if discount:
                    found -= found * discount // 100
                return found

            @classmethod
            def of(cls, *prices):
                made = cls(None)
                made.lines = [Line(price) for price in prices]
                return made

        def counted(values):
            seen = 0
            for each in values:
                if each:
                    seen += 1
                yield each, seen

        async def doubled(value):
            if value < 0:
                raise ValueError(value)
            return value * 2

        def now(scale):
            return time.perf_counter_ns() * scale

        class Worker(threading.Thread):
            def __init__(self):
                super().__init__(daemon=True)
                self.asked, self.answers = queue.Queue(), queue.Queue()
                self.start()

            def run(self):
                while True:
                    self.answers.put(self.asked.get() * 2)

            def ask(self, value):
                self.asked.put(value)
                return self.answers.get()

        def sign(number):
            if number < 0:
                return -1
            if number > 0:
                return 1
            return 0
    """,
    "tests/test_shop.py": """
        import asyncio
        import pytest
        import shop

        def test_read(tmp_path):
            path = tmp_path / "lines"
            path.write_text("3,2\\n10,1\\n5,5\\n")
            with path.open() as stream:
                basket = shop.Basket(stream)
                assert basket.read(2) == 2
                assert basket.total() == 16
                assert basket.total(50) == 8

        def test_of():
            assert shop.Basket.of(1, 2).total() == 3

        def test_counted():
            assert list(shop.counted([0, 1, 1])) == [(0, 0), (1, 1), (1, 2)]

        def test_doubled():
            assert asyncio.run(shop.doubled(2)) == 4
            with pytest.raises(ValueError):
                asyncio.run(shop.doubled(-1))

        def test_now():
            assert shop.now(1) > 0

        def test_worker():
            worker = shop.Worker()
            assert [worker.ask(number) for number in range(9)] == [*range(0, 18, 2)]

        @pytest.mark.parametrize("number", [0, 5, -5, 7, 8, 9])
        def test_sign(number):
            for _ in range(3):
                assert abs(shop.sign(number)) <= 1
    """,
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with validating(
        tmp_path_factory.mktemp("shop"), FILES, gates=Gates(seconds=30, mutants=40)
    ) as found:
        yield found


def in_situ(session: Session, target: str, calls: dict[str, list[int]]) -> Verdict:
    text = f'"""By pytest."""\nCALLS = {calls!r}\n\ndef test_it(context):\n    context.in_situ(CALLS)\n'
    return verdict_on(session, f"shop:{target}", text)


def evidence_of(verdict: Verdict) -> Evidence:
    assert isinstance(verdict, Accepted | Rejected), verdict
    assert verdict.evidence is not None, verdict
    return verdict.evidence


@pytest.mark.parametrize(
    ("target", "calls"),
    [
        ("Basket.total", {"tests/test_shop.py::test_read": [0, 1]}),
        ("counted", {"tests/test_shop.py::test_counted": [0]}),
        ("doubled", {"tests/test_shop.py::test_doubled": [0, 1]}),
        ("sign", {f"tests/test_shop.py::test_sign[{n}]": [0] for n in (0, 5, -5)}),
    ],
)
def test_functions_of_all_kinds_are_compared(
    session: Session, target: str, calls: dict[str, list[int]]
) -> None:
    verdict = in_situ(session, target, calls)
    assert isinstance(verdict, Accepted), verdict
    assert verdict.evidence.candidate_calls == sum(map(len, calls.values()))
    assert verdict.evidence.branches_missed == ()
    assert verdict.evidence.mutants is not None
    assert verdict.evidence.mutants.killed > 0


def test_open_files_are_read_by_both_and_by_the_test(session: Session) -> None:
    found = evidence_of(in_situ(session, "Basket.read", {"tests/test_shop.py::test_read": [0]}))
    assert [run.failures for run in found.runs] == [(), (), ()]
    assert found.candidate_calls == 1


def test_other_tests_may_run_before(session: Session) -> None:
    text = """
        CALLS = {"tests/test_shop.py::test_sign[5]": [0], "tests/test_shop.py::test_sign[0]": [2]}
        TESTS = ["tests/test_shop.py"]
        def test_it(context):
            context.in_situ(CALLS, tests=TESTS)
    """
    found = evidence_of(verdict_on(session, "shop:sign", text))
    assert found.candidate_calls == 2
    assert found.branches_hit == 3


def test_what_differs_from_itself_is_no_evidence(session: Session) -> None:
    verdict = in_situ(session, "now", {"tests/test_shop.py::test_now": [0]})
    assert isinstance(verdict, Rejected)
    assert "no call to compare, 1 differ from themselves" in verdict.reasons[0].message


def test_calls_that_wait_for_another_thread_are_given_up(session: Session) -> None:
    """Each of them waited for five seconds, and all of them longer than a harness has."""
    verdict = in_situ(session, "Worker.ask", {"tests/test_shop.py::test_worker": [*range(9)]})
    assert isinstance(verdict, Rejected)
    assert "no call to compare, they wait for another thread" in verdict.reasons[0].message


def test_calls_that_no_test_makes_are_told(session: Session) -> None:
    verdict = in_situ(session, "sign", {"tests/test_shop.py::test_of": [0]})
    assert isinstance(verdict, Rejected)
    assert "no call to compare" in verdict.reasons[0].message


def test_one_run_for_all_mutants_is_only_for_harnesses_that_do_nothing_else() -> None:
    plain = "CALLS = {}\ndef test_it(context):\n    context.in_situ(CALLS)\n"
    assert only_in_situ(plain)
    assert only_in_situ(plain.replace("(CALLS)", "(CALLS, tests=TESTS)"))
    assert not only_in_situ(plain.replace("(CALLS)", "(CALLS, tests=made())"))
    hiding = (
        "CALLS = {}\ndef test_it(context):\n    try:\n        context.in_situ(CALLS)\n"
        "    except AssertionError:\n        pass\n"
    )
    assert not only_in_situ(hiding)
    assert not only_in_situ(plain + "def test_more(candidate):\n    assert candidate(1)\n")


def test_a_harness_that_hides_differences_lets_wrong_candidates_pass(session: Session) -> None:
    text = """
        CALLS = {"tests/test_shop.py::test_sign[5]": [0]}
        def test_it(context):
            try:
                context.in_situ(CALLS)
            except AssertionError:
                pass
    """
    verdict = verdict_on(session, "shop:sign", text)
    assert isinstance(verdict, Rejected)
    assert any(reason.slug.startswith("control-") for reason in verdict.reasons)


# --- the code that takes a function's place


def original(a: int, /, b: int, *rest: int, c: int = 3, **more: int) -> Any:
    return a, b, rest, c, more


def test_a_trampoline_passes_on_and_looks_the_same() -> None:
    def function(a: int, /, b: int = 2, *rest: int, c: int = 3, **more: int) -> Any:
        return None

    before = inspect.signature(function)
    function.__code__ = trampoline(function.__code__, original)
    assert function(1, 4, 5, c=6, d=7) == (1, 4, (5,), 6, {"d": 7})
    assert function(1) == (1, 2, (), 3, {})
    assert inspect.signature(function) == before


def test_a_trampoline_is_of_the_same_kind() -> None:
    def generator(n: int) -> Any:
        yield n

    async def coroutine(n: int) -> Any:
        return n

    async def both(n: int) -> Any:
        yield n

    for function in (generator, coroutine, both):
        function.__code__ = trampoline(function.__code__, iter)
    assert inspect.isgeneratorfunction(generator)
    assert inspect.iscoroutinefunction(coroutine)
    assert inspect.isasyncgenfunction(both)


# --- what is recorded for it


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Reaching:
    folder = tmp_path_factory.mktemp("recorded")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(dedent(text), encoding="utf-8")
    program = open_program(str(folder))
    names = ("sign", "Basket.total", "Basket.of", "Basket.read", "counted", "Line.__init__")
    with open_workspace(
        program.project,
        python=sys.executable,
        sandbox=some_sandbox(),
        limits=check_limits(120),
    ) as space:
        return record_reaching(space, program, [f"shop:{name}" for name in names])


def test_calls_are_chosen_by_the_branches_they_reach(recorded: Reaching) -> None:
    calls = recorded.calls["shop:sign"]
    assert [call.arguments for call in calls if call.arcs] == ["0", "5", "-5"]
    assert {call.test for call in calls} >= {"tests/test_shop.py::test_sign[0]"}
    assert all(call.number == 0 for call in calls)


def test_calls_are_numbered_within_their_test(recorded: Reaching) -> None:
    calls = [(call.test, call.number) for call in recorded.calls["shop:Basket.total"]]
    assert ("tests/test_shop.py::test_read", 1) in calls


def test_generators_are_one_call_each(recorded: Reaching) -> None:
    [call] = recorded.calls["shop:counted"]
    assert (call.test, call.number) == ("tests/test_shop.py::test_counted", 0)
    assert call.arguments == "[0, 1, 1]"


def test_receivers_of_class_methods_are_not_arguments(recorded: Reaching) -> None:
    [call] = recorded.calls["shop:Basket.of"]
    assert call.arguments == "1, 2"


def test_what_has_no_text_is_known_all_the_same(recorded: Reaching) -> None:
    [call] = recorded.calls["shop:Basket.read"]
    assert call.arguments is None
    assert call.arcs
    assert recorded.failures["shop:Basket.read"]


def test_instances_are_data_or_constructors(recorded: Reaching) -> None:
    texts = [call.arguments for call in recorded.calls["shop:Basket.total"]]
    assert texts[-1] is None  # its constructor takes no lines
    assert all(call.data for call in recorded.calls["shop:Basket.total"] if call.arguments)


@pytest.mark.parametrize(
    ("tests", "why"),
    [(["--no-such-option"], ""), ([], "No module named 'nothing_here'")],
)
def test_tests_that_do_not_start_are_told(tmp_path: Path, tests: list[str], why: str) -> None:
    (tmp_path / "small.py").write_text("def f(x):\n    return x\n", encoding="utf-8")
    (tmp_path / "test_small.py").write_text("import nothing_here\n", encoding="utf-8")
    program = open_program(str(tmp_path))
    with (
        open_workspace(
            program.project,
            python=sys.executable,
            sandbox=some_sandbox(),
            limits=check_limits(60),
        ) as space,
        pytest.raises(CheckUnavailable, match=f"the tests could not be run.*{why}"),
    ):
        record_reaching(space, program, ["small:f"], tests=tests)


def test_a_test_that_does_not_end_is_stopped_and_the_others_run(tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text("def f(x):\n    return x\n", encoding="utf-8")
    (tmp_path / "test_small.py").write_text(
        dedent(
            """
            import time
            from small import f

            def test_first():
                f(1)

            def test_spin():
                f(2)
                while True:
                    try:
                        f(3)
                    except Exception:
                        pass

            def test_last():
                f(4)
            """
        ),
        encoding="utf-8",
    )
    program = open_program(str(tmp_path))
    with open_workspace(
        program.project, python=sys.executable, sandbox=some_sandbox(), limits=check_limits(30)
    ) as space:
        found = record_reaching(space, program, ["small:f"])
    assert {call.arguments for call in found.calls["small:f"]} >= {"1", "2", "4"}
    assert found.ended == "stopped after 5 s: test_small.py::test_spin"


def test_private_methods_are_found_by_the_name_that_is_written() -> None:
    class Box:
        def __hidden(self) -> int:
            return 1

    module = ModuleType("boxes")
    vars(module)["Box"] = Box
    assert member(module, "Box.__hidden") is vars(Box)["_Box__hidden"]


def test_arguments_that_name_a_file_of_a_test_are_not_kept(tmp_path: Path) -> None:
    """Such a harness compared FileNotFoundError with itself, and was accepted."""
    files = {
        "conf.py": """
            from pathlib import Path

            class Reader:
                def __init__(self, path):
                    self.path = path

                def text(self):
                    return Path(self.path).read_text().upper()

            def load(path):
                return Reader(path).text()

            def size(*paths, base="."):
                return sum(len(Path(base, path).read_text()) for path in paths)
        """,
        "own.txt": "own",
        "test_conf.py": """
            import os
            import pytest
            from conf import Reader, load, size

            def test_load(tmp_path):
                (tmp_path / "a.txt").write_text("a")
                assert load(tmp_path / "a.txt") == "A"
                assert load(str(tmp_path / "a.txt")) == "A"
                with pytest.raises(OSError):
                    load("nowhere.txt")
                assert load("own.txt") == "OWN"

            def test_size(tmp_path, monkeypatch):
                (tmp_path / "a.txt").write_text("a")
                assert size("a.txt", base=tmp_path) == 1
                monkeypatch.chdir(tmp_path)
                assert size(os.fsencode("a.txt").decode()) == 1
        """,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(dedent(text), encoding="utf-8")
    program = open_program(str(tmp_path))
    names = ("conf:load", "conf:size", "conf:Reader.text")
    with open_workspace(
        program.project,
        python=sys.executable,
        sandbox=some_sandbox(),
        limits=check_limits(60),
        whole_folder=True,
    ) as space:
        found = record_reaching(space, program, names)
    kept = {name: [c.arguments for c in found.calls[name] if c.data] for name in names}
    assert kept["conf:load"] == ["'nowhere.txt'", "'own.txt'"]
    assert kept["conf:size"] == []
    assert kept["conf:Reader.text"] == ["conf.Reader(path='nowhere.txt')"]
    # Where they are, they can be compared all the same.
    assert [call.number for call in found.calls["conf:load"]] == [0, 1, 2, 3]
    for name in names:
        assert "a file that only its test has: " in found.failures[name]
        assert "pytest-" in found.failures[name]
