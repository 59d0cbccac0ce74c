"""Arguments of classes that a slice has not, and of which it has a base in part: they are as they were.

Each target has a slice that lacks nothing of what it asks by a name; what its arguments are and
inherit is their own affair.
"""

from __future__ import annotations

import sys

import pytest

from check import write_files
from depslice.callgraph import open_program
from depslice.slicer import slice_symbols
from depslice.validator import Check, CheckReport, check_limits, open_workspace, record
from depslice.validator.sandbox import choose_sandbox

TARGETS = ("shown", "sized", "same", "hashed", "made", "weighed", "other", "Slotted.parse")

KINDS = """\
from typing import NamedTuple


class Told:
    def __repr__(self):
        return self.__str__()

    def __eq__(self, other):
        return str(self) == str(other)

    __hash__ = None

    def __len__(self):
        return 2

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return "any " + name

    @classmethod
    def __class_getitem__(cls, item):
        return cls(item)

    def weight(self):
        return 3

    def asked(self):
        return "asked"


class Token(Told):
    def __init__(self, kind):
        self.kind = kind

    def __str__(self):
        return f"<{self.kind}>"


class Below(Token):
    pass


class Louder(Told):
    def __repr__(self):
        return super().__repr__() + "!"

    def __str__(self):
        return "louder " + self.volume

    def __len__(self):
        return super().__len__() + 1

    def weight(self):
        return super().weight() + 1


class Mixed(Told, ValueError):
    pass


class Slotted:
    __slots__ = ("name",)

    def __init__(self, name=""):
        self.name = name

    def parse(self):
        return self.found(), self.name


class Compound(Slotted):
    __slots__ = ("members", "__secret")

    def __init__(self, *members):
        super().__init__("x")
        self.members = members
        self.__secret = 1

    def secret(self):
        return self.__secret


class Sequence(Compound):
    def found(self):
        return self.members, self.secret()


class Bare(Compound):
    __slots__ = ("__weakref__",)

    def found(self):
        return hasattr(self, "__dict__"), hasattr(self, "__weakref__"), self.members


class Pair(NamedTuple):
    left: int
    right: int = 2

    def __str__(self):
        return f"{self.left} and {self.right}"


class Refusing(type):
    pass


class Refused(metaclass=Refusing):
    name = "refused"


def refuse(*_):
    raise TypeError("there are kinds enough")


Refusing.__new__ = staticmethod(refuse)


def refused():
    return Refused.name


class Kept(Told):
    def __str__(self):
        return "kept"

    tag = "a base in part"


def shown(items):
    return Kept.tag, "%s" % items


def listed(items):
    return Kept.tag, "%s" % items


def sized(item):
    return Kept.tag, len(item), bool(item)


def same(one, other):
    return Kept.tag, one == other, one in [other]


def hashed(item):
    try:
        return Kept.tag, hash(item)
    except TypeError as error:
        return str(error)


def made(kind):
    return Kept.tag, str(kind["a"])


def weighed(item):
    return Kept.tag, item.weight()


def called(function, number):
    return Kept.tag, function(), number


def other(item):
    return Kept.tag, item.asked()
"""

SCRIPT = """\
import kinds

kinds.shown([kinds.Token("a")])
kinds.shown([kinds.Below("a")])
kinds.shown([kinds.Louder()])
kinds.shown([kinds.Mixed("a")])
kinds.shown([kinds.Pair(1)])
kinds.listed([kinds.Kept()])
kinds.called(kinds.refused, 1)
kinds.called(kinds.refused, 2)
kinds.sized(kinds.Below("a"))
kinds.sized(kinds.Louder())
kinds.same(kinds.Token("a"), kinds.Below("a"))
kinds.hashed(kinds.Token("a"))
kinds.made(kinds.Below)
kinds.weighed(kinds.Louder())
kinds.other(kinds.Token("a"))
kinds.Sequence("a", "b").parse()
kinds.Bare("a").parse()
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CheckReport]:
    folder = tmp_path_factory.mktemp("kinds")
    write_files(f"# --- kinds.py\n{KINDS}", folder / "repo")
    calls = folder / "calls.py"
    calls.write_text(SCRIPT)
    program = open_program(folder / "repo", cache=None)
    targets = [f"kinds:{name}" for name in (*TARGETS, "listed", "called")]
    with open_workspace(
        program.project, python=sys.executable, sandbox=choose_sandbox(), limits=check_limits(60)
    ) as space:
        check = Check(space, program, record(space, program, targets, script=calls))
        return {each: check.of(slice_symbols(program, [each])) for each in targets}


@pytest.mark.parametrize("target", TARGETS)
def test_they_answer_as_they_did(target: str, reports: dict[str, CheckReport]) -> None:
    report = reports[f"kinds:{target}"]
    assert not report.differences
    assert report.recorded == report.steady == report.same > 0
    assert not report.not_in_slice


def test_a_class_that_the_slice_has_gets_nothing(reports: dict[str, CheckReport]) -> None:
    [difference] = reports["kinds:listed"].differences
    assert "kinds.Kept object at 0x" in difference.sliced


def test_what_cannot_be_made_is_never_half_made(reports: dict[str, CheckReport]) -> None:
    report = reports["kinds:called"]
    assert not report.differences
    assert report.recorded == report.unbuilt > 1
