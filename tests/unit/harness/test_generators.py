"""Generators as text writers: what they make of recorded calls, and when they decline."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from textwrap import dedent
from typing import Any

import hypothesis
import pytest

from depslice.callgraph import open_program
from depslice.callgraph.targets import find_symbol
from depslice.harness import (
    Assessment,
    Attempt,
    Declined,
    Draft,
    GeneratorUnavailable,
    RecordedCall,
    Settings,
    Task,
    choosing,
    generator_names,
    open_generator,
)
from specimens import FIXTURES

SOURCE = '''
import enum


class Colour(enum.Enum):
    RED = 1


class Box:
    def __init__(self, width: int, height: int = 1) -> None:
        self.width, self.height = width, height

    def area(self) -> int:
        return self.width * self.height


def join(words: list[str], sep=", ", *, colour: Colour | None = None):
    """Join words.

    >>> join(["a"], "-")
    'a'
    """
    return sep.join(words)


def outside(value: "unknown.Thing"):
    return value
'''


def task_of(
    folder: Path, target: str, calls: Sequence[RecordedCall] = (), *, source: str = SOURCE
) -> Task:
    (folder / "small.py").write_text(dedent(source), encoding="utf-8")
    program = open_program(str(folder))
    return Task(program=program, target=find_symbol(program, f"small:{target}"), calls=tuple(calls))


def only(drafts: Sequence[Draft] | Declined) -> Draft:
    assert not isinstance(drafts, Declined), drafts
    [draft] = drafts
    ast.parse(draft.text)
    return draft


def rejected(draft: Draft, *failures: str) -> Attempt:
    return Attempt(draft=draft, assessment=Assessment(verdict="rejected", failures=failures))


def call(test: str, number: int = 0, **more: object) -> RecordedCall:
    return RecordedCall(test=test, number=number, **more)  # type: ignore[arg-type]


def test_replay_writes_literals_constructors_and_files(tmp_path: Path) -> None:
    calls = [
        call("t.py::a", arguments="['a', 'b'], '-'", arcs=1),
        call("t.py::b", arguments="small.make(1)", imports=("import small",), arcs=3),
        call("t.py::c", data=b"\x80", arcs=2),
    ]
    draft = only(open_generator("replay").draft(task_of(tmp_path, "join", calls), ()))
    assert "    context.check(['a', 'b'], '-')" in draft.text
    assert "context.check_with(lambda: given(small.make(1)))" in draft.text
    assert "import small\n" in draft.text
    assert "context.check_with(lambda: context.load('test_2.pickle'))" in draft.text
    assert draft.files == {"test_2.pickle": b"\x80"}
    assert "pickle" not in draft.text.replace("test_2.pickle", "")


def test_replay_leaves_out_what_failed_on_the_original(tmp_path: Path) -> None:
    calls = [call("t.py::a", arguments="1", arcs=2), call("t.py::b", arguments="2", arcs=1)]
    task = task_of(tmp_path, "join", calls)
    generator = open_generator("replay")
    first = only(generator.draft(task, ()))
    second = only(generator.draft(task, (rejected(first, "test_1: AssertionError: it differs"),)))
    assert "check(1)" not in second.text
    assert "check(2)" in second.text
    again = (rejected(first, "test_1: x"), rejected(second))
    assert isinstance(generator.draft(task, again), Declined)


def test_replay_without_arguments_declines(tmp_path: Path) -> None:
    found = open_generator("replay").draft(task_of(tmp_path, "join", [call("t.py::a")]), ())
    assert isinstance(found, Declined)
    assert found.slug == "no-arguments"
    found = open_generator("replay").draft(task_of(tmp_path, "join"), ())
    assert isinstance(found, Declined)
    assert found.slug == "no-calls"


def test_insitu_names_tests_and_calls(tmp_path: Path) -> None:
    calls = [call("t.py::a", 3, arcs=1), call("t.py::a", 0), call("t.py::b[x y]", 1, arcs=5)]
    draft = only(open_generator("insitu").draft(task_of(tmp_path, "join", calls), ()))
    assert "    't.py::b[x y]': [1],\n    't.py::a': [0, 3],\n" in draft.text
    assert draft.text.endswith("def test_in_situ(context):\n    context.in_situ(CALLS)\n")


def test_insitu_takes_every_call_that_reaches_something(tmp_path: Path) -> None:
    calls = [call(f"t.py::t{n}", arcs=1) for n in range(30)]
    calls += [call(f"t.py::u{n}") for n in range(30)]
    draft = only(open_generator("insitu").draft(task_of(tmp_path, "join", calls), ()))
    assert all(f"'t.py::t{n}'" in draft.text for n in range(30))
    assert "t.py::u" not in draft.text


def test_insitu_leaves_out_tests_that_differ_from_themselves_then_takes_more(
    tmp_path: Path,
) -> None:
    calls = [call(f"t.py::t{n}") for n in range(12)]
    task = task_of(tmp_path, "join", calls)
    generator = open_generator("insitu")
    first = only(generator.draft(task, ()))
    failed = rejected(first, "test_in_situ: AssertionError: t.py::t0: candidate 1 != 2")
    second = only(generator.draft(task, (failed,)))
    assert "'t.py::t0'" in first.text
    assert "'t.py::t0'" not in second.text
    third = only(generator.draft(task, (failed, rejected(second))))
    assert all(f"'t.py::t{n}'" in third.text for n in range(1, 12))
    done = generator.draft(task, (failed, rejected(second), rejected(third)))
    assert isinstance(done, Declined)


def test_insitu_runs_whole_files_when_tests_need_others_before_them(tmp_path: Path) -> None:
    task = task_of(tmp_path, "join", [call("tests/t.py::a"), call("tests/t.py::b")])
    generator = open_generator("insitu")
    first = only(generator.draft(task, ()))
    failed = rejected(first, "test_in_situ: AssertionError: no call to compare")
    second = only(generator.draft(task, (failed,)))
    assert "TESTS = ['tests/t.py']\n" in second.text
    assert "context.in_situ(CALLS, tests=TESTS)" in second.text


def test_hypothesis_draws_from_annotations_defaults_and_docstrings(tmp_path: Path) -> None:
    draft = only(open_generator("hypothesis").draft(task_of(tmp_path, "join"), ()))
    assert "st.lists(st.text(max_size=12), max_size=5)" in draft.text
    assert "st.sampled_from(['-'])" in draft.text  # the docstring
    assert "st.just(', ')" in draft.text  # the default
    assert "st.sampled_from(small.Colour)" in draft.text
    assert draft.provenance["from"] == ["annotations", "defaults", "docstring"]


def test_hypothesis_makes_receivers_by_constructors(tmp_path: Path) -> None:
    draft = only(open_generator("hypothesis").draft(task_of(tmp_path, "Box.area"), ()))
    assert "st.builds(small.Box, width=" in draft.text
    assert "import small\n" in draft.text


def test_hypothesis_stays_near_recorded_values(tmp_path: Path) -> None:
    calls = [call("t.py::a", arguments="['x'], 'yy'")]
    draft = only(open_generator("hypothesis").draft(task_of(tmp_path, "join", calls), ()))
    assert "context.check(['x'], 'yy')" in draft.text
    assert "st.sampled_from(['yy'])" in draft.text
    assert "recorded" in draft.provenance["from"]


MORE = """
import enum
from abc import ABC, abstractmethod

def total(first, *rest: int, scale=2, **more: float):
    return sum(rest)

class Colour(enum.IntEnum):
    RED = 1
    def shade(self, n: int): return self * n

class Meta(type):
    def label(cls): return cls.__name__

class Single(metaclass=Meta):
    pass

class Shape(ABC):
    @abstractmethod
    def area(self): ...
    def twice(self): return 2 * self.area()

class Odd(Shape):
    pass

class Square(Shape):
    def __init__(self, side: int): self.side = side
    def area(self): return self.side ** 2

class Lonely(type):
    def label(cls): return cls.__name__
"""


@pytest.mark.parametrize(
    ("target", "drawn"),
    [
        ("Colour.shade", "st.sampled_from(small.Colour)"),
        ("Meta.label", "st.sampled_from([small.Single])"),
        ("Shape.twice", "st.builds(small.Square, side="),
    ],
)
def test_hypothesis_makes_receivers_of_other_classes(
    tmp_path: Path, target: str, drawn: str
) -> None:
    found = open_generator("hypothesis").draft(task_of(tmp_path, target, source=MORE), ())
    assert drawn in only(found).text


def test_hypothesis_knows_no_class_of_a_metaclass_that_makes_none(tmp_path: Path) -> None:
    found = open_generator("hypothesis").draft(task_of(tmp_path, "Lonely.label", source=MORE), ())
    assert isinstance(found, Declined)
    assert found.slug == "unknown-arguments"


def test_hypothesis_draws_more_arguments_than_have_names(tmp_path: Path) -> None:
    calls = [call("t.py::a", arguments="1, 2, 30, scale=1, width=0.5")]
    found = open_generator("hypothesis").draft(task_of(tmp_path, "total", calls, source=MORE), ())
    text = only(found).text
    start = text.index("CALLS = ")
    names: dict[str, Any] = {}
    exec("from hypothesis import strategies as st\n" + text[start : text.index("@seed")], names)  # noqa: S102 - what was made just now
    drawn: list[Any] = []

    @hypothesis.given(names["CALLS"])
    @hypothesis.settings(database=None, max_examples=200, derandomize=True)
    def draw(call: Any) -> None:
        drawn.append(call)

    draw()
    args, kwargs = [each for each, _ in drawn], [each for _, each in drawn]
    assert {len(each) for each in args} == {1, 2, 3, 4}
    assert {30, 2} <= {value for each in args for value in each[1:]}
    assert {key for each in kwargs for key in each} == {"scale", "width"}


@pytest.mark.parametrize("name", ["hypothesis", "insitu"])
def test_no_more_is_made_of_a_target_that_does_not_end(tmp_path: Path, name: str) -> None:
    task = task_of(tmp_path, "join", [call(f"t.py::t{n}") for n in range(30)])
    generator = open_generator(name)
    first = only(generator.draft(task, ()))
    slow = Assessment(verdict="rejected", reasons=(("fails-on-original", "did not end in time"),))
    done = generator.draft(task, (Attempt(draft=first, assessment=slow),))
    assert isinstance(done, Declined)


def test_hypothesis_is_deterministic(tmp_path: Path) -> None:
    task = task_of(tmp_path, "join")
    texts = {only(open_generator("hypothesis").draft(task, ())).text for _ in range(2)}
    assert len(texts) == 1
    seeded = open_generator("hypothesis", Settings(seed=7)).draft(task, ())
    assert "@seed(7)" in only(seeded).text


def test_a_generator_of_another_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = FIXTURES / "third_party_generator"
    code = (folder / "depslice_constant.py").read_text(encoding="utf-8")
    page = FIXTURES.parent / "docs" / "harnesses.md"
    assert f"```python\n{code}```\n" in page.read_text(encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    assert "constant" in generator_names()
    generator = open_generator("constant", Settings(options={"arguments": "[], 'x'"}))
    draft = only(generator.draft(task_of(tmp_path, "join"), ()))
    assert "context.check([], 'x')" in draft.text
    assert isinstance(generator.draft(task_of(tmp_path, "Box.__init__"), ()), Declined)


@pytest.mark.parametrize(
    ("lacks", "said"),
    [
        ("draft", "has no method 'draft'"),
        ("needs_calls", r"has no 'needs_calls' \(bool\)"),
        ("rounds", "has a 'rounds' that is str, not int"),
    ],
)
def test_what_a_generator_lacks_is_told(
    monkeypatch: pytest.MonkeyPatch, lacks: str, said: str
) -> None:
    parts = {"name": "mine", "needs_calls": False, "rounds": 1, "draft": len}
    kind = type("Mine", (), parts | {lacks: "1" if lacks == "rounds" else None})
    point = EntryPoint("mine", "mine:Mine", choosing.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda self: lambda settings: kind())
    monkeypatch.setattr(choosing, "entry_points", lambda group: [point])
    with pytest.raises(GeneratorUnavailable, match=f"'mine' .* {said}"):
        open_generator("mine")


def test_a_generator_that_fails_to_load_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "broken-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(
        "[depslice.harness_generators]\nbroken = nowhere.at:All\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(GeneratorUnavailable, match=r"'broken' \(nowhere.at:All\) fails to load"):
        open_generator("broken")
    with pytest.raises(GeneratorUnavailable, match="no generator is called 'nothing'"):
        open_generator("nothing")


ELSEWHERE = {
    "base.py": """
        from __future__ import annotations
        import typing as t

        if t.TYPE_CHECKING:
            Key = t.Union[str, bytes]


        class Signer:
            def __init__(self, key: Key, sep: bytes = b".") -> None:
                self.key = key
    """,
    "timed.py": """
        import typing as t
        from base import Signer


        class Timed(Signer):
            @t.overload
            def unsign(self, value: str, full: t.Literal[False] = False) -> bytes: ...
            @t.overload
            def unsign(self, value: str, full: bool) -> tuple[bytes, int]: ...
            def unsign(self, value: str, full: bool = False, age: int = 0) -> object:
                return value


        class Asking:
            def __init__(self, inner):
                self.inner = inner

            def __getattr__(self, name):
                return getattr(self.inner, name)
    """,
}


def elsewhere(folder: Path, target: str) -> Draft:
    for name, text in ELSEWHERE.items():
        (folder / name).write_text(dedent(text), encoding="utf-8")
    program = open_program(str(folder))
    task = Task(program=program, target=find_symbol(program, f"timed:{target}"))
    return only(open_generator("hypothesis").draft(task, ()))


def test_hypothesis_takes_the_definition_that_runs_and_bases_from_other_modules(
    tmp_path: Path,
) -> None:
    """It took the stub, and left out what the constructor of a base elsewhere needs."""
    text = elsewhere(tmp_path, "Timed.unsign").text
    assert "st.builds(timed.Timed, key=st.one_of(st.text(" in text
    assert "st.booleans()" in text
    [calls] = [line for line in text.splitlines() if "st.builds" in line]
    assert "st.integers()" in calls  # the third parameter, which no stub has


def test_hypothesis_does_not_copy_what_is_not_made_yet(tmp_path: Path) -> None:
    """Where `__getattr__` asks for a field, copying has no end before there are fields."""
    text = elsewhere(tmp_path, "Asking.__init__").text
    assert "deepcopy(call))" not in text
    names: dict[str, Any] = {}
    sys.path.insert(0, str(tmp_path))
    try:
        exec(text, names)  # noqa: S102 - it is what was made just now
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("timed"), sys.modules.pop("base")

    class Both:
        seen = 0

        def check_with(self, made: Callable[[], tuple[tuple[Any, ...], dict[str, Any]]]) -> None:
            (one, *_), _ = made()
            (other, *_), _ = made()
            assert one is not other
            Both.seen += 1

    names["test_made_up"](context=Both())
    assert Both.seen
