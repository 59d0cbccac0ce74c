"""Small programs in which a reader of the code saw, before anyone ran them, that something is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.slicer import slice_symbols

JOINED = {
    "numbers": ('", ".join([1, 2])', "f()"),
    "texts that are made": ('", ".join([f"one {a}", f"two {a}"])', "f(3)"),
    "a name": ('getattr(K(), "_".join(["one", "two"]))()', "f()"),
}


@pytest.mark.parametrize("what", JOINED)
def test_a_list_of_constants_that_is_joined(what: str, tmp_path: Path) -> None:
    joined, call = JOINED[what]
    files = f"""
# --- app.py
class K:
    def one_two(self): return 12
def f(a=0):
    try: return {joined}
    except TypeError: return "no text"
"""
    answer(files, "app:f", f"m.{call}", tmp_path)


STARS = """
# --- a.py
from b import *
from c import *
A = 1
# --- b.py
from a import *
B = 1
# --- c.py
C = 3
# --- d.py
from b import *
def f(): return C
# --- e.py
from a import *
def g(): return C
# --- t.py
try: from u import made
except ImportError: from c import C as made
# --- u.py
try: from t import made
except ImportError:
    def made(): pass
# --- v.py
from t import made
def f(): return made
"""


@pytest.mark.parametrize("target", ["d:f", "v:f"])
@pytest.mark.parametrize("before", ["e:g", "a:A", "u:made", "t"])
def test_circles_of_imports_are_the_same_whatever_was_asked_before(
    before: str, target: str, tmp_path: Path
) -> None:
    write_files(STARS, tmp_path)
    alone = slice_symbols(open_program(tmp_path, cache=None), [target])
    program = open_program(tmp_path, cache=None)
    slice_symbols(program, [before])
    assert slice_symbols(program, [target]).items == alone.items
    assert len(alone.items) > 1


@pytest.mark.parametrize("stored", ["after", "below", "line", "or", "other"])
def test_attributes_are_called_as_they_like(stored: str, tmp_path: Path) -> None:
    files = f"""
# --- app.py
class Base:
    def write(self): return "base"
class C(Base):
    def go(self):
        self.{stored if stored != "or" else "or_"} = 1
        return super().write()
class Mixin(Base):
    def write(self): return "mixin"
class D(C, Mixin): pass
def run(): return D().go()
"""
    assert answer(files, "app:run", "m.run()", tmp_path) == "mixin"


WALRUS = {
    "with": "with (m := make()): pass",
    "with as": "with make() as n, (m := make()): pass",
    "guard": "match 3:\n    case _ if (m := make()): pass",
}


@pytest.mark.parametrize("where", WALRUS)
@pytest.mark.parametrize("inside", [False, True])
def test_names_bound_by_the_way(where: str, inside: bool, tmp_path: Path) -> None:
    if inside:
        lines = "\n".join(f"    {line}" for line in WALRUS[where].splitlines())
        code = f"def target():\n{lines}\n    def inner(): return m.n\n    return inner()"
    else:
        code = f"{WALRUS[where]}\ndef target(): return m.n"
    files = f"""
# --- app.py
class Made:
    n = 5
    def __enter__(self): return self
    def __exit__(self, *of): return None
def make(): return Made()
{code}
"""
    assert answer(files, "app:target", "m.target()", tmp_path) == "5"


NAMES = {
    "a text": ("x: str", "'stop'"),
    "a text, perhaps": ("x: Optional[str] = None", "'stop'"),
    "one of some": ('x: Literal["run", "stop"]', "'stop'"),
    "texts": ("*x: str", "'stop'"),
    "nobody says what": ("x", "'stop'"),
}


@pytest.mark.parametrize("what", NAMES)
def test_whoever_calls_the_target_gives_the_name(what: str, tmp_path: Path) -> None:
    declared, given = NAMES[what]
    each = "x[0]" if declared[0] == "*" else "x"
    files = f"""
# --- app.py
from typing import Literal, Optional
class K:
    def run(self): return 1
    def stop(self): return 2
def target({declared}): return getattr(K(), {each})()
"""
    assert answer(files, "app:target", f"m.target({given})", tmp_path) == "2"


def test_a_default_that_is_no_name_asks_for_nothing(tmp_path: Path) -> None:
    files = """
# --- app.py
class K:
    def run(self): return 1
def inner(x: str | None = None): return getattr(K(), x)() if x else 0
def target(): return inner()
"""
    write_files(files, tmp_path)
    assert "app:K.run" not in slice_ids(tmp_path, "app:target")


CIRCLES = {
    "two stars of one": """
# --- m0.py
from m4 import *
from m5 import *
from m2 import *
# --- m2.py
from m5 import *
from m3 import *
# --- m3.py
from m0 import *
# --- m4.py
from m3 import *
def f4(): return 4
# --- m5.py
def s(): return 5
# --- a.py
from m0 import *
def g(): return s, f4
""",
    "each of three": """
# --- m0.py
from m2 import *
from m1 import *
# --- m1.py
from m2 import *
from m0 import *
# --- m2.py
from m1 import *
def f2(): return 2
# --- a.py
from m0 import *
def g(): return f2
""",
}


@pytest.mark.parametrize("which", CIRCLES)
def test_circles_of_stars_come_to_an_end(which: str, tmp_path: Path) -> None:
    write_files(CIRCLES[which], tmp_path)
    ids = slice_ids(tmp_path, "a:g")
    assert "a:g" in ids
    assert ids & {"m5:s", "m2:f2"}


def test_a_long_ring_of_stars_gives_what_its_last_module_has(tmp_path: Path) -> None:
    ring = 60
    files = "".join(
        f"# --- m{n}.py\nfrom m{(n + 1) % ring} import *\ndef f{n}(): return {n}\n"
        for n in range(ring)
    )
    write_files(f"{files}# --- a.py\nfrom m0 import *\ndef g(): return f{ring - 1}()\n", tmp_path)
    assert f"m{ring - 1}:f{ring - 1}" in slice_ids(tmp_path, "a:g")
