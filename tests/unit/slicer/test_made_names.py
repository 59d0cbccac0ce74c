"""Names that no statement spells: modules make them when they run, and stars carry them on."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, answers, run_expression, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols

PACKAGE = """
# --- pk/__init__.py
from .flags import *
# --- pk/more.py
NOT = "asked for"
globals()["MORE"] = 4
# --- use.py
import pk


def attribute():
    return pk.WRITE


def imported():
    from pk import WRITE
    return WRITE


def perhaps():
    return getattr(pk, "EXECUTE", "none"), pk.WRITE


class Reader:
    def read(self, module=pk):
        return [module.WRITE for _ in (1, 2)]
# --- star.py
from pk.flags import *


def plain():
    return WRITE


class Own:
    value = WRITE


async def later():
    return (lambda: WRITE)()
# --- pk/flags.py
"""
MAKING = {
    "update": """
import enum
class Flag(enum.IntEnum):
    READ = 1
    WRITE = 2
globals().update(Flag.__members__)
""",
    "a loop": """
for place, name in enumerate(("READ", "WRITE"), 1):
    globals()[name] = place
""",
    "setattr in a function": """
import sys as _sys
def _make(name, value):
    setattr(_sys.modules[__name__], name, value)
_make("READ", 1)
_make("WRITE", 2)
""",
    "a function that calls one": """
import sys
def _make(name, value): setattr(sys.modules[__name__], name, value)
def _fill(values):
    for name, value in values.items(): _make(name, value)
class Filler:
    def fill(self): _fill({"READ": 1, "WRITE": 2})
Filler().fill()
""",
    "a variable, and another star": """
from .more import *
space = globals()
space["WRITE"] = 2
""",
    "a computed __all__": """
import enum
class Flag(enum.IntEnum):
    READ = 1
    WRITE = 2
globals().update(Flag.__members__)
__all__ = ["Flag", *Flag.__members__]
""",
    "a literal __all__": """
UNUSED = 1
__all__ = ["UNUSED", "WRITE"]
vars().update({"WRITE": 2})
""",
}
ASKING = [
    ("use:attribute", "m.attribute()", "2"),
    ("use:imported", "m.imported()", "2"),
    ("use:Reader", "m.Reader().read()", "[2, 2]"),
    ("star:plain", "m.plain()", "2"),
    ("star:Own", "int(m.Own.value)", "2"),
    ("star:later", "__import__('asyncio').run(m.later())", "2"),
]


def answer_of_one_file(target: str, expression: str, folder: Path) -> str:
    """What ``expression`` gives in the one file of the slice of ``target`` in ``folder``'s repo."""
    program = open_program(folder / "repo", cache=None)
    [flat] = render(program, slice_symbols(program, [target]), format="module").files
    (folder / "flat.py").write_text(flat.text, encoding="utf-8")
    done = run_expression(folder, "flat", expression)
    assert not done.returncode, done.stderr + flat.text
    return done.stdout.strip()


@pytest.mark.parametrize("making", MAKING)
def test_a_star_gives_what_a_module_makes(making: str, tmp_path: Path) -> None:
    for number, (target, expression, expected) in enumerate(ASKING):
        folder = tmp_path / str(number)
        shown = answer(f"{PACKAGE}{MAKING[making]}", target, expression, folder)
        assert shown.replace("<Flag.WRITE: 2>", "2") == expected, target
        shown = answer_of_one_file(target, expression, folder)
        assert shown.replace("<Flag.WRITE: 2>", "2") == expected, target


def test_a_name_that_is_not_made_is_not_imported(tmp_path: Path) -> None:
    shown = answer(f"{PACKAGE}{MAKING['a loop']}", "use:perhaps", "m.perhaps()", tmp_path)
    assert shown == "('none', 2)"
    assert answer_of_one_file("use:perhaps", "m.perhaps()", tmp_path) == "('none', 2)"


DIRECT = """
# --- made.py
for each in ("one", "two"):
    globals()[each] = each * 2
THREE = 3
# --- user.py
import made
from made import one, two as second
WRITE = [made.one]
def whole(module=made): return [getattr(module, name) for name in ("one", "THREE")]
def run(): return one, second, made.two, WRITE, whole(), hasattr(made, "four")
def inside():
    from made import one as first
    return first
# --- lazy.py
_known = {}
def __getattr__(name):
    globals()[name] = _known[name] = name * 3
    return _known[name]
def ask():
    import lazy
    return lazy.some, lazy.some
"""


@pytest.mark.parametrize("target", ["user:run", "user:inside", "lazy:ask"])
def test_one_file_finds_what_its_modules_make(target: str, tmp_path: Path) -> None:
    expression = f"m.{target.partition(':')[2]}()"
    expected = answer(DIRECT, target, expression, tmp_path)
    assert answer_of_one_file(target, expression, tmp_path) == expected


def test_a_star_that_cannot_give_the_name_stays_away(tmp_path: Path) -> None:
    """What is private, what its ``__all__`` lacks, and what a module makes of which there is no star."""
    write_files(
        """
# --- m.py
from a import *
from b import *
import c
def main(): return _hidden, MADE
# --- a.py
globals()["_hidden"] = 1
__all__ = ["OTHER"]
# --- b.py
X = 1
# --- c.py
globals()["MADE"] = 1
""",
        tmp_path,
    )
    program = open_program(tmp_path, cache=None)
    files = render(program, slice_symbols(program, ["m:main"])).files
    assert [file.path for file in files] == ["m.py"]


REPLACED = """
# --- lazy.py
import sys, types
KEPT = 1
class Lazy(types.ModuleType):
    def __getattr__(self, name): return helper(name)
    @property
    def now(self): return clock()
def helper(name): return name * 2
def clock(): return "now"
sys.modules[__name__].__class__ = Lazy
# --- whole.py
from sys import modules
class _Whole:
    one = 1
    def two(self): return two()
    def three(self): return not_asked()
def not_asked(): return 3
def two(): return 2
def _install(): modules[__name__] = _Whole()
_install()
# --- proxy.py
import sys
from base import chosen
this = sys.modules[__name__]
sys.modules[__name__] = chosen()
if False:
    from other import shown
# --- base.py
class Proxy:
    def __getattr__(self, name):
        if name.startswith("_"): raise AttributeError(name)
        return loud(name)
def chosen(): return Proxy()
def loud(name): return name.upper()
# --- other.py
shown = 1
# --- alias.py
import sys, base
sys.modules[__name__] = base
# --- m.py
import lazy, whole, alias
from lazy import KEPT
from proxy import shown
def kept(): return KEPT
def unbound(): return lazy.abc, whole.one
def found(): return lazy.now, whole.two()
def inside():
    from whole import two
    from lazy import xyz
    return two(), xyz
def typed(): return shown
def other(): return alias.loud("a")
async def later(): return [shown for _ in (1, 2)]
class Reader:
    def read(self): return shown
"""


@pytest.mark.parametrize(
    ("target", "expected", "lacking"),
    [
        ("kept", "1", "lazy:Lazy"),
        ("unbound", "('abcabc', 1)", "whole:not_asked"),
        ("found", "('now', 2)", "base:Proxy"),
        ("inside", "(2, 'xyzxyz')", "whole:_Whole.three"),
        ("typed", "SHOWN", "whole:_Whole"),
        ("other", "A", "base:Proxy"),
    ],
)
def test_what_stands_in_the_place_of_a_module_answers(
    target: str, expected: str, lacking: str, tmp_path: Path
) -> None:
    assert answer(REPLACED, f"m:{target}", f"m.{target}()", tmp_path) == expected
    assert lacking not in slice_ids(tmp_path / "repo", f"m:{target}")


def test_a_method_and_a_coroutine_ask_it_as_well(tmp_path: Path) -> None:
    assert answer(REPLACED, "m:Reader", "m.Reader().read()", tmp_path / "a") == "SHOWN"
    run = "__import__('asyncio').run(m.later())"
    assert answer(REPLACED, "m:later", run, tmp_path / "b") == "['SHOWN', 'SHOWN']"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("sys.modules[__name__] = object()", True),
        ("this = sys.modules[__name__]\nthis.__class__ = type('Lazy', (type(this),), {})", True),
        ("sys.modules[__name__].__class__ = type('Lazy', (type(sys),), {'__slots__': ()})", True),
        ("setattr(sys.modules[__name__], 'real', 1)", False),
    ],
)
def test_one_file_says_that_it_cannot_replace_a_module(
    code: str, told: bool, tmp_path: Path
) -> None:
    write_files(
        f"""
# --- a.py
import sys
{code}
# --- m.py
import a
def main(): return a.real
""",
        tmp_path,
    )
    program = open_program(tmp_path, cache=None)
    context = render(program, slice_symbols(program, ["m:main"]), format="module")
    assert [one.slug for one in context.diagnostics] == (["module-replaced"] if told else [])


@pytest.mark.parametrize("is_old", [True, False])
def test_a_star_may_leave_a_name_to_the_builtins(is_old: bool, tmp_path: Path) -> None:
    """An import of a name that nothing has bound fails: schematics could not be imported."""
    files = f"""
# --- compat.py
text = str
if {is_old}:
    bytes = str
    def range(n): return [n]
    idle = 1
# --- between.py
from compat import *
def other(): return 1
# --- app.py
from between import *
def target(): return text(bytes(2)) + text(range(2)) + str(other())
"""
    expected = "2[2]1" if is_old else str(bytes(2)) + "range(0, 2)1"
    assert answer(files, "app:target", "m.target()", tmp_path) == expected


LISTED = """
# --- pk/__init__.py
from . import en
from .en import *
__all__ = ["own", *en.__all__]
def own(): pass
# --- pk/en.py
import enum
class Color(enum.Enum):
    RED = 1
def unused(): pass
globals().update(Color.__members__)
{all}
# --- go.py
import pk
from pk import en
def straight(): return [getattr(en, name).name for name in en.__all__ if name != "Color"]
def names(module): return module.__all__
def value(module, name): return getattr(module, name).name
def passed(): return [value(en, name) for name in names(en) if name != "Color"]
def vars_of(): return [vars(en)[name].name for name in en.__all__ if name != "Color"]
def whole(): return [getattr(pk, name).name for name in pk.__all__ if name not in ("own", "Color")]
"""


@pytest.mark.parametrize(
    "listing",
    [
        '__all__ = ["Color", *Color.__members__]',
        '__all__ = [each.name for each in Color] + ["Color"]',
        '__all__ = ["Color"]\n__all__ += list(Color.__members__)',
        '__all__ = ["Color"]\n__all__.extend(Color.__members__)',
        '__all__ = ["Color", "RED"]',
    ],
)
def test_what_a_computed_all_lists_is_made(listing: str, tmp_path: Path) -> None:
    files = LISTED.replace("{all}", listing)
    for name in ("straight", "passed", "vars_of", "whole"):
        folder = tmp_path / name
        assert answer(files, f"go:{name}", f"m.{name}()", folder) == "['RED']", name
        if name in ("straight", "passed"):  # what a stand-in makes is in no dictionary of it
            assert answer_of_one_file(f"go:{name}", f"m.{name}()", folder) == "['RED']", name


CALLABLE = """
# --- pk/__init__.py
# --- pk/callme.py
import sys, types
class Base(types.ModuleType):
    @property
    def PLUS(self): return 1
    def __call__(self, one, more=()): return called(one) + self.PLUS + sum(map(worth, more))
class CallMod(Base): pass
def called(one): return one.worth()
def worth(one): return one.worth()
def unused(): pass
{replacing}
# --- go.py
from pk import callme
import pk.callme
class Value:
    def worth(self): return 1
def plain(): return callme(Value())
def whole(): return pk.callme(Value(), more=[Value()])
def handed(function=callme): return function(Value())
def mapped(): return list(map(callme, [Value()]))
async def later(): return [callme(each) for each in (Value(),)]
class Holder:
    call = callme
    def held(self): return self.call(Value())
"""


@pytest.mark.parametrize(
    "replacing",
    [
        "sys.modules[__name__].__class__ = CallMod",
        "import sys as system\nthis = system.modules[__name__]\nthis.__class__ = CallMod",
        "made = CallMod(__name__)\nsys.modules[__name__] = made",
    ],
)
def test_a_module_is_called(replacing: str, tmp_path: Path) -> None:
    files = CALLABLE.replace("{replacing}", replacing)
    shown = {
        "plain": ("m.plain()", "2"),
        "whole": ("m.whole()", "3"),
        "handed": ("m.handed()", "2"),
        "mapped": ("m.mapped()", "[2]"),
        "later": ("__import__('asyncio').run(m.later())", "[2]"),
        "Holder.held": ("m.Holder().held()", "2"),
    }
    for target, (expression, expected) in shown.items():
        folder = tmp_path / target
        assert answer(files, f"go:{target}", expression, folder) == expected, target


def test_a_call_of_a_module_that_cannot_be_called_asks_nothing(tmp_path: Path) -> None:
    files = """
# --- plain.py
globals()["made"] = 1
def __getattr__(name): raise AttributeError(name)
# --- go.py
import plain
def main():
    try: return plain()
    except TypeError: return "no"
"""
    write_files(files, tmp_path)
    assert slice_ids(tmp_path, "go:main") == {"go:main"}


@pytest.mark.parametrize(
    "reads",
    [
        "import pkg\ndef run(): return pkg.__doc__",
        "from pkg import __doc__ as text\ndef run(): return text",
        "from . import __doc__, lib\ndef run(): return __doc__ + lib.__doc__",
        "import pkg\ndef run(module=pkg): return module.__doc__",
        "import pkg.lib\ndef run(): return getattr(pkg.lib, '__doc__') + pkg.__doc__",
    ],
)
def test_the_docstring_of_a_module_is_read_from_another(reads: str, tmp_path: Path) -> None:
    files = f"""
# --- pkg/__init__.py
'''Of the package.'''
# --- pkg/lib.py
'''Of lib.'''
# --- pkg/app.py
{reads}
"""
    original, *slices = answers(files, tmp_path)
    assert slices == [original, original]
    assert original.startswith("Of ")


def test_the_docstring_of_a_module_that_nobody_reads_is_left_out(tmp_path: Path) -> None:
    files = """
# --- pkg/__init__.py
'''Of the package.'''
def made(): return 1
# --- pkg/app.py
from pkg import made
def run(): return made.__doc__
"""
    answers(files, tmp_path)
    assert "Of the" not in (tmp_path / "tree" / "pkg" / "__init__.py").read_text()
