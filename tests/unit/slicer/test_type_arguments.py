"""A class that code names as a type alone is there as a name; who has its alias may make one."""

from __future__ import annotations

import tempfile
from pathlib import Path
from textwrap import dedent

import pytest

from check import answer, slice_ids, write_files

KINDS = """\
# --- kinds.py
from typing import Generic, TypeVar

class Made:
    def __init__(self):
        self.value = given()
    def told(self):
        return 7
def given():
    return 7

T = TypeVar("T")
class Box(Generic[T]):
    pass
"""


def made(text: str, target: str = "app:use") -> set[str]:
    """What of ``Made`` is in the slice beside its statement, and what that needs."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(f"{KINDS}# --- app.py\n{dedent(text)}", Path(folder))
        found = slice_ids(Path(folder), target)
    return {each.partition(":")[2] for each in found if each.startswith("kinds:")} & {
        *("Made.__init__", "Made.told", "given")
    }


@pytest.mark.parametrize(
    "text",
    [
        "from typing import Union\nKind = Union[Made, int]\ndef use(x: Kind): return 1\n",
        "Kind = Box[Made]\ndef use(x: Kind): return 1\n",
        "from typing import Callable\nKind = Callable[[Made, list[Made]], Made]\ndef use(x: Kind): return 1\n",
        "Kind = Made | None\nOther = list[Kind]\ndef use(x: Other): return 1\n",
        "from elsewhere import Signal\nKind = Signal[Made]\ndef use(x: Kind): return 1\n",
        "from typing import cast\ndef use(x): return cast(Made, x)\n",
        "def use(): return Box[Made]()\n",
        "class Own(Box[Made]): pass\ndef use(): return Own()\n",
        "from typing import TypeVar\nK = TypeVar('K', bound=Made)\ndef use(x: K) -> K: return x\n",
        "from typing import TypeVar\nK = TypeVar('K', Made, int)\ndef use(x: K) -> K: return x\n",
        "from typing import NewType\nK = NewType('K', Made)\ndef use(x: K): return 1\n",
        "import kinds\nKind = dict[str, kinds.Made]\ndef use(x: Kind): return 1\n",
        "Kind = list[Made]\ndef use(x):\n    from typing import cast\n    return cast('Kind', x)\n",
    ],
)
def test_what_only_names_a_type_makes_none(text: str) -> None:
    assert made(f"from kinds import Box, Made\n{text}") == set()


@pytest.mark.parametrize(
    "text",
    [
        "    Kind = Union[Made, int]\n",
        "    Kind = Made\n",
        "    class Kind(Made): pass\n",
        "    def Kind(x: int = Made().told()): pass\n",
    ],
)
def test_nothing_runs_that_only_type_checkers_see(text: str) -> None:
    files = (
        "import inspect\nfrom typing import TYPE_CHECKING, Union\nfrom kinds import Box, Made\n"
        f"if TYPE_CHECKING:\n{text}"
        "def use(x: 'Kind'): return str(inspect.signature(use).parameters['x'].annotation)\n"
    )
    assert made(files) == set()


def test_what_is_done_with_one_that_is_cast_is_asked_of_its_class() -> None:
    text = (
        "from typing import cast\nfrom kinds import Made\ndef use(x): return cast(Made, x).told()\n"
    )
    assert "Made.told" in made(text)


@pytest.mark.parametrize(
    "text",
    [
        # Somebody has the alias as a value.
        """
        from typing import List, get_args
        from kinds import Made
        Kind = List[Made]
        def use():
            return get_args(Kind)[0]().value
        """,
        """
        from kinds import Made
        Inner = list[Made]
        Kind = dict[str, Inner]
        def make(kind):
            return kind.__args__[1].__args__[0]()
        def use():
            return make(Kind).value
        """,
        """
        from kinds import Made
        Kind = Made | None
        def use(name="Kind"):
            return globals()[name].__args__[0]().value
        """,
        """
        from kinds import Made
        Kinds = {"one": list[Made]}
        def use():
            return Kinds["one"].__args__[0]().value
        """,
        """
        import app
        from kinds import Made
        Kind = list[Made]
        def use():
            return getattr(app, "Ki" + "nd").__args__[0]().value
        """,
        # A class that extends an alias asks for it, or what stands above it.
        """
        from typing import get_args
        from kinds import Box, Made
        class Own(Box[Made]):
            def make(self):
                return get_args(type(self).__orig_bases__[0])[0]()
        def use():
            return Own().make().value
        """,
        """
        from typing import get_args
        from kinds import Box, Made
        Kind = Box[Made]
        class Own(Kind):
            def make(self):
                return get_args(getattr(type(self), "__orig_bases__")[0])[0]()
        def use():
            return Own().make().value
        """,
        """
        from typing import get_args
        from kinds import Box, Made
        class Telling(type):
            def __new__(cls, name, bases, body):
                made = super().__new__(cls, name, bases, body)
                for base in body.get("__orig_bases__", ()):
                    made.kind = get_args(base)[0]
                return made
        class Root(Box[Made], metaclass=Telling):
            pass
        def use():
            return Root.kind().value
        """,
        # An instance asks by which alias it was made.
        """
        from typing import Generic, TypeVar
        from kinds import Made
        T = TypeVar("T")
        class Own(Generic[T]):
            def make(self):
                return self.__orig_class__.__args__[0]()
        def use():
            return Own[Made]().make().value
        """,
        # The subscript is a call of code in the repository.
        """
        from kinds import Made
        class Own:
            def __class_getitem__(cls, kind):
                return kind()
        Kind = Own[Made]
        def use():
            return Kind.value
        """,
        """
        from kinds import Made
        class Meta(type):
            def __getitem__(cls, kind):
                return kind()
        class Own(metaclass=Meta):
            pass
        Kind = Own[Made]
        def use():
            return Kind.value
        """,
        """
        from kinds import Made
        class Meta(type):
            def __or__(cls, kind):
                cls.kind = kind
                return cls
        class Own(metaclass=Meta):
            pass
        Kind = Own | Made
        def use():
            return Kind.kind().value
        """,
        # It is no alias.
        """
        from kinds import Made
        Table = {Made: Made}
        Kind = Table[Made]
        def use():
            return Kind().value
        """,
        """
        from typing import Annotated, get_type_hints
        from kinds import Made
        Kind = Annotated[int, Made]
        def use(x: Kind = 1):
            return Kind.__metadata__[0]().value
        """,
        """
        from typing import TypeVar
        from kinds import Made
        K = TypeVar("K", bound=Made)
        def use():
            return K.__bound__().value
        """,
        """
        from typing import NewType
        from kinds import Made
        K = NewType("K", Made)
        def use():
            return K.__supertype__().value
        """,
    ],
)
def test_who_has_the_alias_may_make_one(text: str, tmp_path: Path) -> None:
    files = f"{KINDS}# --- app.py\n{dedent(text)}"
    assert answer(files, "app:use", "m.use()", tmp_path) == "7"


def test_a_base_outside_may_ask_for_the_arguments() -> None:
    text = """\
        from elsewhere import Model
        from kinds import Box, Made
        class Own(Box[Made], Model):
            pass
        def use():
            return Own()
        """
    assert "Made.__init__" in made(text)


def test_an_alias_of_another_module_that_is_handed_to_code_outside(tmp_path: Path) -> None:
    write_files(
        f"""{KINDS}
# --- names.py
from kinds import Made
Kind = list[Made]
# --- app.py
from elsewhere import read
from names import Kind
def use(data):
    return read(data, Kind)
""",
        tmp_path,
    )
    assert "kinds:Made.__init__" in slice_ids(tmp_path, "app:use")
