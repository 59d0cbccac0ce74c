"""Slices beside their original: what passes, what does not, what a repair adds."""

from __future__ import annotations

import itertools
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from check import write_files
from depslice.callgraph import open_program
from depslice.callgraph.model import Certainty
from depslice.slicer import Slice, slice_symbols
from depslice.validator import Check, check_limits, open_workspace, record, repair
from depslice.validator.calls import test_files as files_of_tests
from depslice.validator.child.describing import Description
from depslice.validator.sandbox import choose_sandbox
from depslice.validator.telling import check_lines, where_they_differ

SHAPES = """\
import functools
import io
import threading


class Square:
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side**2

    def name(self):
        return "square"


class Greeting:
    def __call__(self):
        return "hello"


class Lines(io.RawIOBase):
    def __init__(self, name):
        self.name = name

    def label(self):
        return self.name.upper()

    def __next__(self):
        return b"line"


def is_callable(thing):
    return callable(thing)


def greets():
    return is_callable(Greeting())


class Base:
    def __getstate__(self):
        raise AssertionError("no code of arguments runs")

    def helper(self):
        return "base"


def describe(shape):
    return f"{shape.area()} {shape.name()}"


def by_word(word):
    return globals()["_say_" + word]()


def _say_hello():
    return PREFIX + "hello"


PREFIX = "*"


def calls(word):
    return getattr(sys_modules()[__name__], "_make_" + word)()


def sys_modules():
    import sys

    return sys.modules


def _make_tea():
    return "tea"


def counted(items):
    for number, item in enumerate(items):
        yield number, item


@functools.lru_cache
def cached(number):
    return number + 1


async def later(number):
    return number * 2


def fails(text):
    raise ValueError(f"no: {text}")


def unsteady():
    import time

    return time.time_ns()


SERIAL = [0]


def numbered():
    SERIAL[0] += 1
    return SERIAL[0]


def takes(base):
    return base.helper()


def counts_rows():
    return [list(range(1000)), globals().get("_total", "none")]


def _total():
    return 2000


def never():
    return 1


class Tool:
    unit = "kg"

    def weight(self):
        return f"{self.number()} {self.unit}"

    def number(self):
        return 3

    @staticmethod
    def named(name):
        return name.title()


class Hammer(Tool):
    def told(self):
        return self.named("hammer") + super().weight()


class Settings(threading.local):
    def __init__(self):
        self.unit = "kg"


class Scale:
    def __init__(self):
        self.settings = Settings()
        self.settings.unit = "t"


def unit_of(scale):
    return scale.settings.unit


NEVER = float("inf")


def times(clock):
    return [NEVER, clock.told()]


class Clock:
    def __init__(self):
        self.ends = NEVER

    def told(self):
        return self.next() is NEVER and self.ends is NEVER

    def next(self):
        return NEVER


def told(kinds):
    return [kind().told() for kind in kinds if issubclass(kind, Tool)]


def weighed(kind):
    return issubclass(kind, Tool) and kind().weight()


class Parcel:
    def __init__(self):
        self._sent = "no"

    @property
    def sent(self):
        return self._sent

    @sent.setter
    def sent(self, how):
        self._sent = self._how(how)

    def _how(self, how):
        return f"by {how}"


def sends(parcel: Parcel, callback):
    callback(parcel)
    return parcel._sent


def looks(parcel: Parcel, callback):
    callback(parcel)
    return getattr(parcel, "se" + "nt", "unknown")


class Kinds(type):
    def __eq__(cls, other):
        raise AssertionError("no code of arguments runs")

    __hash__ = type.__hash__


class Word(str, metaclass=Kinds):
    def __getattr__(self, name):
        return getattr(self.spelt, name)


def spelt(word):
    return [word, word.upper()]


def misspelt(word):
    raise AttributeError("it has no such spelling", name="spelling", obj=word)
"""

SCRIPT = """\
import asyncio
import shapes


class Mine(shapes.Square):
    def name(self):
        return "mine"


def by_train(parcel):
    parcel.sent = "train"
    assert parcel.sent == "by train"


shapes.describe(shapes.Square(2))
shapes.describe(Mine(3))
shapes.by_word("hello")
shapes.calls("tea")
list(shapes.counted(["a", "b"]))
shapes.cached(1)
asyncio.run(shapes.later(4))
shapes.takes(shapes.Base())
shapes.unsteady()
shapes.numbered()
shapes.greets()
shapes.Lines("a").label()
shapes.counts_rows()
shapes.told([shapes.Hammer])
shapes.weighed(shapes.Hammer)
shapes.times(shapes.Clock())
shapes.unit_of(shapes.Scale())
shapes.sends(shapes.Parcel(), by_train)
shapes.looks(shapes.Parcel(), by_train)
shapes.spelt(shapes.Word("a"))
try:
    shapes.misspelt(shapes.Word("a"))
except AttributeError:
    pass
try:
    shapes.fails("x")
except ValueError:
    pass
"""


@contextmanager
def checking(tmp_path: Path, *targets: str) -> Iterator[Check]:
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "shapes.py").write_text(SHAPES)
    script = tmp_path / "calls.py"
    script.write_text(SCRIPT)
    program = open_program(repo, cache=None)
    with open_workspace(
        program.project,
        python=sys.executable,
        sandbox=choose_sandbox(),
        limits=check_limits(60),
    ) as space:
        yield Check(space, program, record(space, program, targets, script=script))
    assert sorted(path.name for path in repo.iterdir()) == ["shapes.py"]


def sliced(check: Check, target: str) -> Slice:
    return slice_symbols(check.program, [target])


def without(check: Check, target: str, *missing: str) -> Slice:
    """A slice that analysis got wrong: these definitions are not in it."""
    from dataclasses import replace

    found = sliced(check, target)
    [cut] = found.cuts
    import ast

    body = ast.parse(cut.text).body
    names = {("body", i): getattr(node, "name", "") for i, node in enumerate(body)}
    names |= {
        ("body", i, "body", j): f"{node.name}.{getattr(child, 'name', '')}"
        for i, node in enumerate(body)
        if isinstance(node, ast.ClassDef)
        for j, child in enumerate(node.body)
    }
    keep = {path for path in cut.keep if names.get(path, "") not in missing}
    items = tuple(item for item in found.items if item.symbol.id.partition(":")[2] not in missing)
    return replace(found, cuts=(replace(cut, keep=frozenset(keep)),), items=items)


def test_what_gives_the_same_passes(tmp_path: Path) -> None:
    targets = [
        f"shapes:{name}"
        for name in (
            "describe",
            "counted",
            "cached",
            "later",
            "fails",
            "takes",
            "unsteady",
            "numbered",
            "never",
        )
    ]
    with checking(tmp_path, *targets) as check:
        reports = {target: check.of(sliced(check, target)) for target in targets}
    assert all(report.passes for report in reports.values())
    proven = {target for target, report in reports.items() if report.proven}
    assert proven == set(targets) - {"shapes:unsteady", "shapes:numbered", "shapes:never"}
    assert reports["shapes:unsteady"].recorded == 1
    assert reports["shapes:numbered"].recorded == 1  # what ran before is no argument
    [numbered] = reports["shapes:numbered"].unsteady
    assert (numbered.first.split()[0], numbered.again.split()[0]) == ("1", "2")
    lines = "\n".join(check_lines(reports["shapes:numbered"], everything=False))
    assert "is not the same twice on the original\n    first: 1 " in lines
    assert reports["shapes:never"].not_recorded == {"shapes:never": "calls.py does not call it"}


def test_a_file_is_what_it_holds(tmp_path: Path) -> None:
    with checking(tmp_path, "shapes:Lines.label") as check:
        found = sliced(check, "shapes:Lines.label")
        report = check.of(found)
    assert "shapes:Lines.__next__" not in {item.symbol.id for item in found.items}
    assert report.same == report.steady == 1


def test_what_is_local_to_a_thread_is_an_argument_as_others_are(tmp_path: Path) -> None:
    with checking(tmp_path, "shapes:unit_of") as check:
        report = check.of(sliced(check, "shapes:unit_of"))
        [outcome] = check.outcomes.values()
    assert outcome.text.startswith("'t' ")
    assert report.same == report.steady == 1


def test_nobody_asks_an_argument_or_its_metaclass_for_attributes(tmp_path: Path) -> None:
    """`Word.__getattr__` asks itself, without end."""
    with checking(tmp_path, "shapes:spelt", "shapes:misspelt") as check:
        reports = [check.of(sliced(check, f"shapes:{each}")) for each in ("spelt", "misspelt")]
        texts = [outcome.text for outcome in check.outcomes.values()]
    assert texts[0].startswith("builtins.list( shapes.Word( 'a' ) 'A' )")
    assert texts[1].startswith("raised builtins.AttributeError( 'it has no such spelling' )")
    assert all(report.proven for report in reports)


def test_arguments_bring_their_own_code(tmp_path: Path) -> None:
    with checking(tmp_path, "shapes:describe") as check:
        found = without(check, "shapes:describe", "Square", "Square.area", "Square.name")
        report = check.of(found)
    assert report.steady == report.same == 2
    assert report.from_arguments == ("shapes:Square.area", "shapes:Square.name")
    assert report.not_in_slice == ()


TOOLS = ("Tool.weight", "Tool.number", "Tool.named", "Tool.unit", "Hammer", "Hammer.told")


def test_classes_that_are_passed_bring_what_their_code_inherits(tmp_path: Path) -> None:
    with checking(tmp_path, "shapes:told") as check:
        report = check.of(without(check, "shapes:told", *TOOLS))
    assert report.steady == report.same == 1
    assert report.not_in_slice == ()
    assert "shapes:Tool.named" in report.from_arguments


def test_what_the_slice_itself_asks_of_a_passed_class_it_must_have(tmp_path: Path) -> None:
    with checking(tmp_path, "shapes:weighed") as check:
        [difference] = check.of(without(check, "shapes:weighed", *TOOLS)).differences
    assert "'Hammer' object has no attribute 'weight'" in difference.sliced


PARCEL = ("Parcel.sent", "Parcel._how")


def test_callbacks_that_are_passed_have_all_that_arguments_have(tmp_path: Path) -> None:
    with checking(tmp_path, "shapes:sends") as check:
        report = check.of(without(check, "shapes:sends", *PARCEL))
    assert report.steady == report.same == 1
    assert "shapes:Parcel._how" in report.from_arguments


def test_what_callbacks_have_of_arguments_the_slice_has_not(tmp_path: Path) -> None:
    with checking(tmp_path, "shapes:looks") as check:
        [difference] = check.of(without(check, "shapes:looks", *PARCEL)).differences
    assert difference.original.startswith("'by train'")
    assert difference.sliced.startswith("'unknown'")


def test_a_constant_is_one_object_for_the_slice_and_for_what_is_passed(tmp_path: Path) -> None:
    with checking(tmp_path, "shapes:times") as check:
        found = without(
            check, "shapes:times", "Clock", *(f"Clock.{n}" for n in ("__init__", "told", "next"))
        )
        report = check.of(found)
        [outcome] = check.outcomes.values()
    assert "inf True" in outcome.text
    assert report.steady == report.same == 1


def test_a_missing_definition_shows_and_is_repaired(tmp_path: Path) -> None:
    with checking(tmp_path, "shapes:calls") as check:
        found = without(check, "shapes:calls", "_make_tea")
        report = check.of(found)
        assert not report.passes
        assert report.not_in_slice == ("shapes:_make_tea",)
        [difference] = report.differences
        assert "'tea'" in difference.original
        assert "AttributeError" in difference.sliced
        mended, after = repair(check, found)
    assert after.proven
    added = {each.symbol for each in after.observed}
    items = {item.symbol.id: item for item in mended.items}
    assert added <= items.keys()
    assert all(items[each].reason[-1].evidence == "observed" for each in added)


def test_a_repair_follows_what_its_slice_followed(tmp_path: Path) -> None:
    with checking(tmp_path, "shapes:calls") as check:
        found = without(check, "shapes:calls", "_make_tea")
        mended, after = repair(check, found, least=Certainty.DEFINITE)
        definite = slice_symbols(check.program, ["shapes:calls"], least=Certainty.DEFINITE)
    assert after.proven
    items = {item.symbol.id for item in mended.items}
    added = {each.symbol for each in after.observed}
    assert items - added <= {item.symbol.id for item in definite.items}


def test_a_long_difference_is_told_from_where_it_begins(tmp_path: Path) -> None:
    with checking(tmp_path, "shapes:counts_rows") as check:
        [difference] = check.of(without(check, "shapes:counts_rows", "_total")).differences
    assert difference.original.startswith("… ")
    assert "_total" in difference.original
    assert "'none'" in difference.sliced


def test_a_special_method_that_is_only_looked_for_is_repaired(tmp_path: Path) -> None:
    with checking(tmp_path, "shapes:greets") as check:
        found = without(check, "shapes:greets", "Greeting.__call__")
        assert not check.of(found).passes
        _, after = repair(check, found)
    assert after.proven


def test_what_a_repair_does_not_need_it_takes_out_again(tmp_path: Path) -> None:
    with checking(tmp_path, "shapes:calls") as check:
        found = slice_symbols(check.program, ["shapes:calls"], observed=["shapes:never"])
        assert "shapes:never" in {item.symbol.id for item in found.items}
        mended, after = repair(check, without(check, "shapes:calls", "_make_tea", "sys_modules"))
    assert after.proven
    assert "shapes:never" not in {item.symbol.id for item in mended.items}


def test_idle_functions_are_named(tmp_path: Path) -> None:
    with checking(tmp_path, "shapes:cached") as check:
        found = slice_symbols(check.program, ["shapes:cached"], observed=["shapes:never"])
        assert check.of(found).never_executed == ("shapes:never",)


def test_a_module_that_does_not_import_is_told(tmp_path: Path) -> None:
    with checking(tmp_path, "shapes:by_word") as check:
        found = slice_symbols(check.program, ["shapes:by_word"])
        [cut] = found.cuts
        from dataclasses import replace

        broken = replace(cut, text=cut.text.replace("def by_word", "undefined\ndef by_word"))
        done = check.replayed(
            [*_files(replace(found, cuts=(replace(broken, keep=_all(broken.text)),)))],
            ["shapes"],
            found.targets,
        )
        report = check.report(found, done)
    assert not report.passes
    assert "NameError" in report.import_errors["shapes"]


def _files(found: Slice) -> object:
    from depslice.slicer.render import render_tree

    return render_tree(found)


def _all(text: str) -> frozenset[tuple[str | int, ...]]:
    import ast

    paths: set[tuple[str | int, ...]] = set()
    for i, node in enumerate(ast.parse(text).body):
        paths.add(("body", i))
        if isinstance(node, ast.ClassDef):
            paths.update(("body", i, "body", j) for j in range(len(node.body)))
    return frozenset(paths)


def test_which_tests_are_run_first(tmp_path: Path) -> None:
    """Those called like the target or its module; what measures speed at last."""
    write_files(
        """
# --- pkg/joining.py
def join(rows): return rows
# --- benchmarks/test_join.py
from pkg.joining import join
# --- tests/test_all.py
from pkg.joining import join
# --- tests/test_joining.py
from pkg.joining import join
# --- tests/test_other.py
# --- tests/test_bench.py
from pkg.joining import join
""",
        tmp_path,
    )
    program = open_program(tmp_path, cache=None)
    module = program.module("pkg.joining")
    assert module is not None
    symbol = program.symbol_table(module)["pkg.joining:join"]
    found = [str(Path(path).relative_to(tmp_path)) for path in files_of_tests(tmp_path, [symbol])]
    assert found == [
        "tests/test_joining.py",
        "tests/test_all.py",
        "tests/test_other.py",
        "benchmarks/test_join.py",
        "tests/test_bench.py",
    ]


def test_tests_that_are_called_as_unittest_looks_for_them(tmp_path: Path) -> None:
    """param has ``tests/testlist.py``, and was said to have no tests."""
    files = """
# --- pkg/testing.py
def compare(): pass
# --- tests/testlist.py
class TestList:
    def test_it(self): pass
# --- pkg/tests.py
def test_it(): pass
"""
    write_files(files, tmp_path)

    def found() -> list[str]:
        return [
            Path(each).relative_to(tmp_path).as_posix() for each in files_of_tests(tmp_path, ())
        ]

    assert found() == ["pkg/tests.py", "tests/testlist.py"]
    write_files("# --- tests/test_it.py\n", tmp_path)
    assert found() == ["tests/test_it.py"]


def test_counting_on_for_ever_is_told_by_where_it_is() -> None:
    def words(start: int, step: int) -> list[str]:
        description = Description(())
        description.add(itertools.count(start, step))
        return description.words

    assert words(3, 1) == ["itertools.count(", "3", "4", ")"]
    assert words(3, 1) != words(3, 2)


def test_weak_references_are_not_gone_through() -> None:
    """A proxy has ``__next__``, whatever it stands for: the links of an ordered set."""

    class Link:
        def __init__(self) -> None:
            self.next: object = None

    first, second = Link(), Link()
    first.next, second.next = second, weakref.proxy(first)
    description = Description(())
    description.add(first)
    assert description.words[-3:] == ["weakref.ProxyType", ")", ")"]


def test_attributes_that_are_made_when_they_are_asked_for_are_no_state() -> None:
    """The tokens of pygments and sqlparse: which there are, depends on who has asked."""

    class Token(tuple[str, ...]):  # noqa: SLOT001 - as theirs
        parent: Token | None = None

        def __getattr__(self, name: str) -> Token:
            made = Token((*self, name))
            setattr(self, name, made)
            made.parent = self
            return made

    class Plain(tuple[str, ...]):  # noqa: SLOT001 - has attributes
        more: object = ""

    class Linked(Plain):
        def __getattr__(self, name: str) -> str:
            return f"no {name}"

    def words(value: object) -> list[str]:
        found = Description(())
        found.add(value)
        return found.words

    one, other = Token(), Token()
    assert one.Keyword is one.Keyword
    assert words(one) == words(other)
    assert words(one.Keyword) == words(other.Keyword) != words(other.Name)
    plain, marked = Plain("a"), Plain("a")
    marked.more = "b"
    assert words(plain) != words(marked)
    first, second = Linked("a"), Linked("a")
    first.more, second.more = Linked("b"), Linked("c")
    assert words(first) != words(second)
    one.parent = Token("a")
    assert words(one) != words(other)


def test_a_module_that_makes_its_attributes_is_not_asked_for_any() -> None:
    lazy = ModuleType("lazy")
    lazy.__dict__["__getattr__"] = lambda name: 1 / 0
    description = Description(())
    description.add(lazy)
    assert description.words == [".lazy"]


def test_long_answers_are_toldwhere_they_differ() -> None:
    assert where_they_differ("(1, 2)", "(1, 3)") == ("(1, 2)", "(1, 3)")
    alike = "x" * 400
    one, other = where_they_differ(f"{alike}a{alike}", f"{alike}b")
    assert one == f"…{'x' * 60}a{'x' * 239}…"
    assert other == f"…{'x' * 60}b"
