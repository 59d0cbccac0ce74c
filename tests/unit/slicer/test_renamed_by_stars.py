"""Names that star imports, deletions and builtins compete for: who wins in a slice is who wins there."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answers, write_files
from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols

FROM_OUTSIDE = {
    "own definition before the star": """
# --- pkg/__init__.py
# --- pkg/app.py
def join(*a): return 'own'
from os.path import *
def run(): return join('a', 'b') + basename('/x/y')
""",
    "class and function before the star": """
# --- pkg/__init__.py
# --- pkg/app.py
class Text: pass
def cast(t, v): return 'own cast'
from typing import *
def run(): return (cast(int, 3), Text is str, List[int])
""",
    "several modules": """
# --- pkg/__init__.py
# --- pkg/other.py
def join(*a): return 'other'
def go(): return join('a')
# --- pkg/third.py
from os.path import *
def join(*a): return 'third'
def third(): return join('a'), basename('/a/b')
# --- pkg/mid.py
def join(*a): return 'mid'
V = join()
from os.path import *
def mid(): return V, join('a', 'b')
# --- pkg/app.py
from .other import go, join
W = join(1)
from os.path import *
from .mid import mid
from .third import third
def run(): return W, join('a', 'b'), go(), mid(), third()
""",
    "by way of a module of the package": """
# --- pkg/__init__.py
# --- pkg/types.py
from typing import *
Pair = Tuple[int, int]
def cast(t, v): return 'own cast'
# --- pkg/app.py
from .types import *
def run(): return str(Pair), str(List[int]), cast(int, 1)
""",
    "listed by a computed __all__": """
# --- pkg/__init__.py
# --- pkg/typing_.py
from typing import *
import typing as _t
__all__ = _t.__all__ + ['Own']
class Own: pass
# --- pkg/app.py
from .typing_ import *
def run(x: "Optional[int]" = None): return str(Dict[str, int]), Own.__name__
""",
    "by two modules, under other names": """
# --- pkg/__init__.py
# --- pkg/types.py
from typing import *
# --- pkg/more.py
from .types import *
# --- pkg/app.py
from .more import List as L, Dict
from . import more
def List(): return 'own'
def run(): return str(L[int]), str(Dict[int, int]), List(), str(more.Tuple)
""",
    "two stars in one file": """
# --- pkg/__init__.py
# --- pkg/app.py
from math import *
from cmath import *
def run(): return sqrt(-1), floor(2.5)
""",
    "asked of the module": """
# --- pkg/__init__.py
# --- pkg/base.py
from math import *
def half(): return cos(0) / 2
# --- pkg/more.py
from .base import *
# --- pkg/app.py
import pkg.base
from pkg import base, more
from pkg.more import sin
def cos(value): return 'own'
def ask(module): return module.cos(0), module.half(), hasattr(module, 'none')
def run(): return pkg.base.cos(0), base.tan(0), sin(0), cos(0), ask(base), more.cos(0)
""",
}


@pytest.mark.parametrize("case", FROM_OUTSIDE)
def test_a_star_from_outside_wins_over_what_stands_before(case: str, tmp_path: Path) -> None:
    original, *slices = answers(FROM_OUTSIDE[case], tmp_path)
    assert slices == [original, original]


def test_names_of_stars_that_two_files_have_otherwise_are_told(tmp_path: Path) -> None:
    files = """
# --- pkg/__init__.py
# --- pkg/more.py
from cmath import *
def far(): return sqrt(-1), phase(1)
# --- pkg/app.py
from math import *
from .more import far
def run(): return sqrt(4), far(), floor(2.5)
"""
    write_files(files, tmp_path)
    program = open_program(tmp_path, cache=None)
    context = render(program, slice_symbols(program, ["pkg.app:run"]), format="module")
    assert [one.slug for one in context.diagnostics] == ["stars-met"]
    assert "sqrt may be another one" in context.diagnostics[0].message


BUILTINS = {
    "staticmethod": """
# --- pkg/__init__.py
# --- pkg/compat.py
class staticmethod:
    def __init__(self, f): self.f = f
    def __get__(self, o, t=None): return lambda *a: ("own", self.f(*a))
# --- pkg/app.py
from .compat import *
class A:
    @staticmethod
    def go(x): return x
def run(): return A.go(1), A().go(2)
""",
    "a function that registers": """
# --- pkg/__init__.py
# --- pkg/compat.py
REG = []
def log(f): return f.__name__
def staticmethod(f):
    REG.append(log(f))
    return f
# --- pkg/app.py
from .compat import *
class A:
    @staticmethod
    def go(self, x): return self.other(x)
    def other(self, x): return x + 1
def run(): return A().go(1), REG
""",
}


@pytest.mark.parametrize("case", BUILTINS)
def test_a_decorator_with_a_name_of_a_builtin_may_come_by_a_star(case: str, tmp_path: Path) -> None:
    original, *slices = answers(BUILTINS[case], tmp_path)
    assert slices == [original, original]


DELETED = {
    "a name of a star": """
# --- pkg/__init__.py
# --- pkg/x.py
def y(): return 'y'
def z(): return 'z'
# --- pkg/app.py
from .x import *
del y
def run():
    try:
        y
    except NameError:
        return z() + ' no y'
    return 'y is there'
""",
    "a builtin behind one": """
# --- pkg/__init__.py
# --- pkg/x.py
def open(n): return 'own'
def str(n): return 'ownstr'
def use(): return str(2)
# --- pkg/app.py
from .x import *
del str
def run():
    return str(1) + open(1) + use()
""",
    "several": """
# --- pkg/__init__.py
# --- pkg/x.py
def helper(): return 1
LIMIT = helper()
# --- pkg/app.py
from .x import *
VALUE = LIMIT + helper()
del helper, LIMIT
def run(): return VALUE, 'helper' in globals()
""",
    "an imported one": """
# --- pkg/__init__.py
# --- pkg/x.py
def str(n): return 'ownstr'
# --- pkg/app.py
from .x import str
V = str(3)
del str
def run():
    return V, str(1)
""",
    "an own function": """
# --- pkg/__init__.py
# --- pkg/app.py
def str(n): return 'ownstr'
V = str(3)
del str
class K:
    def __str__(self): return 'K'
def run():
    return V, str(1), str(K())
""",
    "own variables": """
# --- pkg/__init__.py
# --- pkg/app.py
str = lambda n: 'ownstr'
open = 3
V = str(3)
del str, open
class K:
    def __str__(self): return 'K'
def run():
    return V, str(1), str(K())
""",
    "what the builtin asks": """
# --- pkg/__init__.py
# --- pkg/x.py
def str(n): return 'ownstr'
# --- pkg/app.py
from .x import *
V = str(3)
del str
class K:
    def __str__(self): return 'K'
def run():
    return V, str(1), str(K())
""",
    "what was read before": """
# --- pkg/__init__.py
# --- pkg/app.py
SEEN = []
def len(x): return "own"
def size(x): return len(x)
def add(): SEEN.append(id)
FIRST = size("ab")
for id in (1, 2): add()
del len, id
def run(): return FIRST, size("abc"), SEEN
""",
    "what it no longer exports": """
# --- pkg/__init__.py
# --- pkg/x.py
def y(n): return 'x.y'
def z(n): return 'x.z'
# --- pkg/w.py
def y(n): return 'w.y'
# --- pkg/mid.py
from .x import *
del y
# --- pkg/app.py
from .w import *
from .mid import *
def run():
    return y(1), z(2)
""",
    "the variable of a loop": """
# --- pkg/__init__.py
# --- pkg/x.py
def names(): return ['a', 'b']
# --- pkg/app.py
from .x import names
T = {}
for n in names():
    T[n] = n
del n, names
def run():
    return T
""",
}


@pytest.mark.parametrize("case", DELETED)
def test_what_a_module_deletes_is_gone(case: str, tmp_path: Path) -> None:
    original, *slices = answers(DELETED[case], tmp_path)
    assert slices == [original, original]
