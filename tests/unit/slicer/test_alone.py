"""Slices beside the program: run alone, in both formats, they answer as the whole does."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, run_expression, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols
from depslice.slicer.render import write_tree

STARS = {
    "a star that is asked before the last": """
# --- pkg/__init__.py
from .first import *
from .second import *
# --- pkg/first.py
class Base:
    def f(self): return "first"
# --- pkg/mid.py
from pkg import Base
class Mid(Base): pass
# --- pkg/second.py
from .mid import *
class Base:
    def f(self): return "second"
# --- m.py
from pkg import Mid, Base
def go(): return Mid().f(), Base().f()
""",
    "global in a function": """
# --- one.py
COUNT = 4
# --- m.py
from one import *
def fill():
    global COUNT
    COUNT += 1
fill()
def go(): return COUNT
""",
    "global, lazily": """
# --- one.py
CONNECTION = None
# --- m.py
from one import *
class Connection:
    def name(self): return "c"
def get():
    global CONNECTION
    if CONNECTION is None: CONNECTION = Connection()
    return CONNECTION
def go(): return get().name()
""",
    "global of an imported name": """
# --- one.py
COUNT = 4
# --- m.py
from one import COUNT
def fill():
    global COUNT
    COUNT = 7
fill()
def go(): return COUNT
""",
    "name of a handler": """
# --- one.py
e = 5
# --- m.py
from one import *
try:
    raise ValueError(e)
except ValueError as e:
    KEPT = str(e)
def go(): return KEPT
""",
    "target of an empty loop": """
# --- one.py
X, ITEMS = 3, []
# --- m.py
from one import *
for X in ITEMS: pass
def go(): return X, ITEMS
""",
    "bound by one branch alone": """
# --- one.py
FLAG = 0
def f(): return "one"
# --- m.py
from one import *
if FLAG:
    def f(): return "own"
SEEN = f()
def go(): return SEEN, f()
""",
    "listed by vars": """
# --- one.py
def load_a(): return "a"
# --- lib.py
from one import *
def load_z(): return "z"
# --- m.py
import lib
def go(): return sorted(f() for n, f in vars(lib).items() if n.startswith("load_"))
""",
    "named by a computed name": """
# --- one.py
def load_a(): return "a"
# --- lib.py
from one import *
def load_z(): return "z"
# --- m.py
import lib
def go(): return [getattr(lib, "load_" + k)() for k in "az"]
""",
}
TRIED = {
    "what is imported": """
# --- fast.py
import nothing_of_that_name
def f(): return "fast"
# --- m.py
try:
    from fast import f
except ImportError:
    def f(): return "own"
def go(): return f()
""",
    "the module": """
# --- fast.py
import nothing_of_that_name
def f(): return "fast"
# --- slow.py
def f(): return "slow"
# --- m.py
try:
    import fast as used
except ImportError:
    import slow as used
def go(): return used.f()
""",
    "a star": """
# --- fast.py
from nothing_of_that_name import g
def f(): return "fast"
# --- slow.py
def f(): return "slow"
# --- m.py
try:
    from fast import *
except ImportError:
    from slow import *
def go(): return f()
""",
    "what a module raises": """
# --- fast.py
import sys
if sys.platform != "nowhere":
    raise ImportError("not here")
def f(): return "fast"
# --- m.py
try:
    from fast import f
except ImportError:
    def f(): return "own"
def go(): return f()
""",
}
BELOW = {
    "super behind either base": """
# --- m.py
import sys
class A:
    def h(self): return "a"
class B:
    def h(self): return "b"
class C(B if sys.argv is not None else A):
    pass
class D(C):
    def h(self): return "d" + super().h()
def go(): return D().h()
""",
    "a mixin beside the base has it": """
# --- m.py
class Y:
    def name(self): return "y"
class Base:
    def make(self): return None
    def go(self):
        m = self.make()
        return m.name() if m else None
class Mixin:
    def make(self): return Y()
class Sub(Mixin, Base): pass
def use(c: Base): return c.go()
def go():
    return use(Base()), use(Sub())
""",
    "a mixin beside the base stores it": """
# --- m.py
class Y:
    def name(self): return "y"
class Base:
    part = None
    def go(self):
        m = self.part
        return m.name() if m else None
class Mixin:
    def __init__(self):
        super().__init__()
        self.part = Y()
class Mid(Mixin): pass
class Sub(Mid, Base): pass
def use(c: Base): return c.go()
def go():
    return use(Base()), use(Sub())
""",
    "call": """
# --- m.py
class Y:
    def name(self): return "y"
class Base:
    def __call__(self): return None
    def go(self):
        m = self()
        return m.name() if m else None
class Sub(Base):
    def __call__(self): return Y()
def use(c: Base): return c.go()
def go():
    return use(Base()), use(Sub())
""",
    "getattr": """
# --- m.py
class Y:
    def name(self): return "y"
class Base:
    def __getattr__(self, n):
        if n.startswith("__"): raise AttributeError(n)
        return None
    def go(self):
        m = self.whatever
        return m.name() if m else None
class Sub(Base):
    def __getattr__(self, n):
        if n.startswith("__"): raise AttributeError(n)
        return Y()
def use(c: Base): return c.go()
def go():
    return use(Base()), use(Sub())
""",
    "missing": """
# --- m.py
class H:
    def name(self): return "h"
class Base(dict):
    def __missing__(self, k): return None
class Sub(Base):
    def __missing__(self, k): return H()
def use(b: Base):
    r = b["x"]
    return r and r.name()
def go():
    return use(Base()), use(Sub())
""",
    "new": """
# --- m.py
class H:
    def name(self): return "h"
class Base:
    def name(self): return "b"
    @classmethod
    def mk(cls): return cls()
class Sub(Base):
    def __new__(cls): return H()
def use(k: type[Base]): return k.mk().name()
def go():
    return use(Base), use(Sub)
""",
    "partialmethod": """
# --- m.py
from functools import partialmethod
class H:
    def name(self): return "h"
class Base:
    def mk(self): return None
    def go(self):
        c = self.mk()
        return c and c.name()
class Sub(Base):
    def _mk(self, k): return k()
    mk = partialmethod(_mk, H)
def use(b: Base): return b.go()
def go():
    return use(Base()), use(Sub())
""",
    "stored from outside": """
# --- m.py
class H:
    def name(self): return "h"
class Base:
    helper = None
    def go(self):
        return self.helper.name()
class Sub(Base): pass
def make():
    s = Sub()
    s.helper = H()
    return s
def use(b: Base): return b.go()
def go():
    return use(make())
""",
    "set on the class": """
# --- m.py
class H:
    def name(self): return "h"
class Base:
    helper = None
    def go(self):
        return self.helper.name()
class Sub(Base): pass
Sub.helper = H()
def use(b: Base): return b.go()
def go():
    return use(Sub())
""",
    "stored by name": """
# --- m.py
class Y:
    def name(self): return "y"
class A:
    part = None
    def go(self):
        return self.part and self.part.name()
class B(A):
    def __init__(self):
        setattr(self, "part", Y())
def use(c: A): return c.go()
def go():
    return use(B())
""",
}
TURNED = {
    "special methods": """
# --- m.py
class Base:
    def __init__(self): self.items = []
    def freeze(self): self.__class__ = Frozen
    def add(self, x): self.items.append(x)
    def __iter__(self): return iter(self.items)
class Frozen(Base):
    def add(self, x): raise err()
    def __len__(self): return 3
    def __iter__(self): return iter(frozen_items())
    def __getitem__(self, k): return "f"
def err(): return TypeError("no")
def frozen_items(): return [9]
def go():
    b = Base(); b.add(1); b.freeze()
    try: b.add(2)
    except TypeError as e: return str(e), list(b), b[0], len(b)
""",
    "property and length": """
# --- m.py
class A:
    @property
    def p(self): return "a"
    def turn(self, k): self.__class__ = k
class B(A):
    @property
    def p(self): return hb()
    def __str__(self): return "BSTR"
    def __len__(self): return 7
def hb(): return "hb"
def go():
    a = A(); a.turn(B)
    return a.p, str(a), len(a)
""",
    "by object": """
# --- m.py
class A:
    def f(self): return "a"
    def sw(self): object.__setattr__(self, "__class__", B)
class B(A):
    def f(self): return "b"
def go():
    a = A(); a.sw()
    return a.f()
""",
    "from outside": """
# --- m.py
class A:
    def f(self): return "a"
class B:
    def f(self): return "b"
def go():
    x = A()
    x.__class__ = B
    return x.f()
""",
    "length": """
# --- m.py
class A:
    def become(self): self.__class__ = B
    def __len__(self): return 1
class B:
    def __len__(self): return 2
def go():
    x = A(); x.become()
    return len(x)
""",
}
ABSENT = {
    "compared": """
# --- lib.py
import nothere_abc as nh
def base(): return X
X = nh.A < 3
# --- m.py
def go(flag=0):
    if flag:
        from lib import X, base
        return base()
    return 'no'
""",
    "in a comprehension": """
# --- lib.py
import nothere_abc as nh
def base(): return X
X = [nh.make(n) for n in 'ab']
# --- m.py
def go(flag=0):
    if flag:
        from lib import X, base
        return base()
    return 'no'
""",
    "in a helper": """
# --- lib.py
import nothere_abc as nh
def base(): return X
def helper(x): return nh.make(x)
X = helper(1)
# --- m.py
def go(flag=0):
    if flag:
        from lib import X, base
        return base()
    return 'no'
""",
    "in a decorator": """
# --- lib.py
import nothere_abc as nh
def base(): return X
def deco(f):
    return nh.wrap(f)
@deco
def X(): return 1
# --- m.py
def go(flag=0):
    if flag:
        from lib import X, base
        return base()
    return 'no'
""",
    "inverted": """
# --- lib.py
import nothere_abc as nh
def base(): return X
X = ~nh.Q(a=1) & nh.Q(b=2)
# --- m.py
def go(flag=0):
    if flag:
        from lib import X, base
        return base()
    return 'no'
""",
    "a type": """
# --- lib.py
import nothere_abc as nh
def base(): return X
X = isinstance(1, nh.Base)
# --- m.py
def go(flag=0):
    if flag:
        from lib import X, base
        return base()
    return 'no'
""",
    "in a lambda": """
# --- lib.py
import nothere_abc as nh
def base(): return X
X = (lambda: nh.make(1))()
# --- m.py
def go(flag=0):
    if flag:
        from lib import X, base
        return base()
    return 'no'
""",
    "negative": """
# --- lib.py
import nothere_abc as nh
def base(): return X
X = -nh.A
# --- m.py
def go(flag=0):
    if flag:
        from lib import X, base
        return base()
    return 'no'
""",
    "sums": """
# --- lib.py
import nothere_abc as nh
def base(): return X
X = nh.A + nh.B - nh.C
# --- m.py
def go(flag=0):
    if flag:
        from lib import X, base
        return base()
    return 'no'
""",
    "its version": """
# --- lib.py
import nothere_abc as nh
def base(): return X
X = tuple(int(p) for p in nh.__version__.split('.')) > (1,)
# --- m.py
def go(flag=0):
    if flag:
        from lib import X, base
        return base()
    return 'no'
""",
    "entered": """
# --- lib.py
import nothere_abc as nh
def base(): return X
with nh.ctx(): X = 1
# --- m.py
def go(flag=0):
    if flag:
        from lib import X, base
        return base()
    return 'no'
""",
}
OWN = {
    "a statement": """
# --- lib.py
import lib
TABLE = {}
lib.TABLE["one"] = 1
def run(): return TABLE
# --- m.py
from lib import run
def go(): return run()
""",
    "a decorator": """
# --- lib/__init__.py
import lib
TABLE = {}
def register(f):
    lib.TABLE[f.__name__] = f
    return f
@register
def one(): return 1
def run(): return sorted(lib.TABLE)
# --- m.py
from lib import run
def go(): return run()
""",
}
BUILT = {
    "put into a list by a function": """
# --- m.py
A = []
def put(t, v): t.append(v)
L = []
put(L, A)
L[0].append(2)
def go(): return A
""",
    "a list that is extended": """
# --- m.py
A = []
L = []
L += [A]
L[0].append(2)
def go(): return A
""",
    "a namespace by exec": """
# --- m.py
ns = {}
exec("def f(): return 3", ns)
f = ns["f"]
def go(): return f()
""",
    "__set_name__ by getattr": """
# --- m.py
class Field:
    def __set_name__(self, owner, name): getattr(owner, "table")[name] = 1
class Form:
    table = {}
    a = Field()
def go(): return Form.table
""",
}
ASKED = {
    "annotations by vars": """
# --- m.py
class A:
    x: int
def go(): return list(vars(A).get("__annotations__", {}))
""",
    "keys of a class below a container": """
# --- m.py
from collections import Counter
class A:
    def __hash__(self): return 1
    def __eq__(self, o): return True
class C(Counter): pass
def go(): return len(C([A(), A()]))
""",
}
MADE = {
    "by __new__ of object": """
# --- m.py
import asyncio
class Meta(type):
    def __new__(m, name, bases, ns): return super().__new__(m, name, bases, ns)
class Box:
    @classmethod
    def make(cls, n):
        box = cls.__new__(cls)
        box.n = n
        return box
    @classmethod
    async def later(cls, n):
        box = cls.__new__(cls)
        box.n = n
        return box
    def again(self):
        made = self.__class__.__new__(self.__class__)
        made.n = self.n + 1
        return made
    def __len__(self): return self.n
    def get(self): return self.n
class Sub(Box):
    def get(self): return -self.n
class Made(metaclass=Meta):
    def get(self): return 8
class Own:
    def __new__(cls): return object.__new__(cls)
    def get(self): return 4
class Below(Own):
    def get(self): return 5
class Failed(Exception):
    def get(self): return 9
class Pair(tuple):
    def get(self): return len(self)
class Given:
    def get(self): return 1
class Given2:
    def get(self): return 2
def new(cls): return cls.__new__(cls)
def of_object(cls): return object.__new__(cls)
def go():
    class Local:
        def get(self): return 7
    make = Local.__new__
    return (
        len(Box.make(3)), Sub.make(3).again().get(), len(asyncio.run(Box.later(2))),
        Made.__new__(Made).get(), Below.__new__(Below).get(), Failed.__new__(Failed).get(),
        Pair.__new__(Pair, [1, 2]).get(), new(Given).get(), of_object(Given2).get(),
        make(Local).get(),
    )
""",
    "attributes": """
# --- m.py
class M1(type):
    def hey(cls): return "m1"
    def __len__(cls): return 1
class M2(type):
    def hey(cls): return "m2"
    def __len__(cls): return 2
def make(m):
    class C(metaclass=m):
        pass
    return C
def go():
    return [make(k).hey() for k in (M1, M2)], [len(make(k)) for k in (M1, M2)]
""",
    "calls and protocols": """
# --- m.py
class M1(type):
    def __call__(cls, *a):
        return "m1", super().__call__(*a)
    def hey(cls): return 1
class M2(type):
    def __call__(cls, *a):
        return "m2", h2()
    def hey(cls): return h2()
    def __iter__(cls): return iter([h2()])
    def __len__(cls): return 4
def h2(): return "h2"
def make(m):
    class C(metaclass=m): pass
    return C
def go():
    return make(M1)()[0], make(M2)(), make(M2).hey(), list(make(M2)), len(make(M2)), make(M1).hey()
""",
    "called by who gets the class": """
# --- m.py
class M1(type):
    def __call__(cls): return "m1"
class M2(type):
    def __call__(cls): return "m2"
def make(m):
    class C(metaclass=m):
        pass
    return C
C1 = make(M1)
C2 = make(M2)
def use(c): return c()
def go():
    return use(C1), use(C2)
""",
}
STORED = {
    "by a decorator of another module": """
# --- d.py
class H:
    def name(self): return "h"
def deco(c):
    c.helper = H()
    return c
# --- m.py
from d import deco
class Base:
    helper = None
    def go(self):
        return self.helper.name()
@deco
class Sub(Base): pass
def go(): return Sub().go()
""",
    "by a decorator of the class": """
# --- m.py
class H:
    def name(self): return "h"
def deco(c):
    c.helper = H()
    return c
@deco
class Sub:
    def go(self):
        return self.helper.name()
def go(): return Sub().go()
""",
    "by a decorator, below a base": """
# --- m.py
class H:
    def name(self): return "h"
def deco(c):
    c.helper = H()
    return c
class Base:
    helper = None
    def go(self):
        return self.helper.name()
@deco
class Sub(Base): pass
def go(): return Sub().go()
""",
    "by a function that gets the instance": """
# --- m.py
class H:
    def name(self): return "h"
def setup(s):
    s.helper = H()
class Base:
    helper = None
    def go(self):
        return self.helper.name()
class Sub(Base): pass
def go():
    s = Sub()
    setup(s)
    return s.go()
""",
    "by another module": """
# --- ext.py
class Ext:
    def __init__(self, app=None):
        if app: self.init(app)
    def init(self, app):
        app.ext = self
    def hello(self): return "hi"
# --- m.py
from ext import Ext
class App:
    ext = None
    def run(self): return self.ext.hello()
def go():
    app = App()
    Ext(app)
    return app.run()
""",
    "bases of a local class are in a list that grows": """
# --- m.py
class A:
    def f(self): return "a"
class B:
    def f(self): return "b"
BASES = [A]
BASES.append(B)
def make(i):
    base = BASES[i]
    class C(base): pass
    return C
def use(i): return make(i)().f()
def go(): return use(0), use(1)
""",
}
ERRORS = """
# --- m.py
class Err(Exception):
    def __init__(self): self.errors = []
    def push_error(self, e): self.errors.append(e)
    def add(self, e): self.errors.append(e)
    def get(self): return 4
    @property
    def items(self): return 5
    def __iter__(self): return iter([7])
    def __len__(self): return 0
    def __getitem__(self, k): return k
    def __contains__(self, k): return k == 3
    def __repr__(self): return "shown"
    def __eq__(self, other): return True
class Low(ValueError):
    def get(self): return 6
def fail(): raise Err()
"""
CAUGHT = {
    "methods, loops and operators": ERRORS
    + """
def go():
    try: fail()
    except Exception as e:
        e.push_error(1)
        e.add(2)
        (first,) = e
        return (
            e.errors, e.get(), e.items, list(e), first, bool(e), len(e), e[8], 3 in e, repr(e),
            e == 1, getattr(e, "get")(), [x for x in e],
        )
""",
    "what leaves a block": ERRORS
    + """
import asyncio
class Held:
    def __enter__(self): return self
    def __exit__(self, kind, error, trace):
        self.found = error.get()
        return True
    async def __aenter__(self): return self
    async def __aexit__(self, kind, error, trace):
        self.found = len(error)
        return True
async def later():
    async with Held() as held: fail()
    return held.found
def go():
    with Held() as held: fail()
    return held.found, asyncio.run(later())
""",
    "truth": ERRORS
    + """
def go():
    try: fail()
    except Exception as e:
        return 1 if e else 2
""",
    "bases, groups and names": ERRORS
    + """
import asyncio, sys
from concurrent.futures import ThreadPoolExecutor
def handle(e): return e.get(), len(e)
def typed(e: Exception): return e.get()
def low():
    try: raise Low()
    except (KeyError, ValueError) as e: return e.get()
def bare():
    try: fail()
    except: return sys.exc_info()[1].get()
def context():
    try:
        try: fail()
        except Err: raise KeyError
    except KeyError as e: return e.__context__.get()
async def later():
    try: fail()
    except Exception as e: return e.get()
def go():
    with ThreadPoolExecutor() as pool:
        found = pool.submit(fail).exception().get()
    try: fail()
    except Exception as e: return handle(e), typed(e), low(), bare(), context(), found, asyncio.run(later())
""",
}
PROGRAMS = {
    f"{kind}: {name}": files
    for kind, programs in {
        "star": STARS,
        "tried": TRIED,
        "below": BELOW,
        "turned": TURNED,
        "absent": ABSENT,
        "own": OWN,
        "built": BUILT,
        "asked": ASKED,
        "made": MADE,
        "stored": STORED,
        "caught": CAUGHT,
    }.items()
    for name, files in programs.items()
}


def _run(folder: Path, module: str) -> str:
    done = run_expression(folder, module, "m.go()")
    return done.stdout.strip() if not done.returncode else done.stderr.strip()


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_answers_as_the_whole_does(name: str, tmp_path: Path) -> None:
    write_files(PROGRAMS[name], tmp_path / "whole")
    program = open_program(tmp_path / "whole", cache=None)
    found = slice_symbols(program, ["m:go"])
    write_tree(render(program, found).files, tmp_path / "tree")
    [flat] = render(program, found, format="module").files
    (tmp_path / "flat.py").write_text(flat.text, encoding="utf-8")
    whole = _run(tmp_path / "whole", "m")
    assert "Error" not in whole
    assert _run(tmp_path / "tree", "m") == whole
    assert _run(tmp_path, "flat") == whole


def test_a_star_is_left_out_where_every_branch_binds_the_name(tmp_path: Path) -> None:
    files = """
# --- one.py
FLAG = 0
def f(): return "one"
# --- m.py
from one import *
if FLAG:
    def f(): return "A"
else:
    def f(): return "B"
def go(): return f()
"""
    write_files(files, tmp_path)
    found = slice_symbols(open_program(tmp_path, cache=None), ["m:go"])
    assert {item.symbol.id for item in found.items} == {"m:go", "m:f", "one:FLAG"}


def test_more_callables_than_are_told_apart_are_told(tmp_path: Path) -> None:
    """A function gets 25 of them by ``*args``; each has a ``__call__`` of its own.

    To take any live class for one doubled slices of rich.
    """
    classes = [f"class C{i}:\n    def __call__(self): return {i}" for i in range(25)]
    made = ", ".join(f"C{i}()" for i in range(25))
    use = ["def use(*given): return [each() for each in given]", f"def go(): return use({made})"]
    write_files("# --- m.py\n" + "\n".join(classes + use), tmp_path)
    found = slice_symbols(open_program(tmp_path, cache=None), ["m:go"])
    gaps = {(gap.source, gap.reason) for gap in found.unresolved}
    assert ("m:use", "unknown-callee") in gaps


def test_only_what_may_be_caught_is_asked(tmp_path: Path) -> None:
    files = (
        ERRORS
        + """
class Other:
    def get(self): return 1
def go():
    try: fail()
    except ValueError as e: return e.get(), Other(), Low
    except Err: return None
"""
    )
    write_files(files, tmp_path)
    found = slice_symbols(open_program(tmp_path, cache=None), ["m:go"])
    ids = {item.symbol.id for item in found.items}
    assert "m:Low.get" in ids
    assert not ids & {"m:Err.get", "m:Other.get", "m:Err.__len__"}


def test_a_module_by_a_protocol(tmp_path: Path) -> None:
    """Under its own path: what stands in for a module in one file has no attributes to be found
    statically, as Python 3.12 looks for them.
    """
    files = """
# --- impl.py
def run(): pass
# --- m.py
from typing import Protocol, runtime_checkable
import impl
@runtime_checkable
class P(Protocol):
    def run(self): ...
def go(): return isinstance(impl, P)
"""
    assert answer(files, "m:go", "m.go()", tmp_path) == "True"


@pytest.mark.parametrize(
    "done",
    ["return e + 1", "e += 1\n    return e", "return 1 - e", "return e()", "with e as x: return x"],
)
def test_operators_calls_and_with_reach_what_may_be_caught(done: str, tmp_path: Path) -> None:
    files = f"""
# --- m.py
class AppError(Exception):
    def __add__(self, other): return shown("added")
    def __rsub__(self, other): return shown("taken")
    def __call__(self): return shown("called")
    def __enter__(self): return shown("entered")
    def __exit__(self, *given): return None
def shown(text): return text
def get():
    try:
        raise AppError("a")
    except Exception as e:
        return e
def go():
    e = get()
    {done}
"""
    assert answer(files, "m:go", "m.go()", tmp_path)


@pytest.mark.parametrize(
    "done",
    [
        "e.data = 1\n    return e.kept",
        "e.other = 1\n    return vars(e)['other']",
        "del e.data\n    return vars(e)['data']",
        "return getattr(e, 'to_' + kind)()",
        "return ask(e, 'to_text')",
        "return call(lambda each: each.items(), e)",
        "return HANDLERS[kind](e)",
        "return Told(e).error.items()",
        "return [e] == [1], e in (1, 2), repr([e]), {'k': (e,)} != {'k': (1,)}",
    ],
)
def test_what_may_be_caught_is_stored_computed_handed_and_held(done: str, tmp_path: Path) -> None:
    files = f"""
# --- m.py
from dataclasses import dataclass

class AppError(Exception):
    @property
    def data(self): return 0
    @data.setter
    def data(self, value): self.kept = shown(value)
    @data.deleter
    def data(self): vars(self)["data"] = shown("deleted")
    def __setattr__(self, name, value): super().__setattr__(name, shown(value))
    def __eq__(self, other): return shown(True)
    __hash__ = Exception.__hash__
    def __repr__(self): return shown("App")
    def to_text(self): return shown("text")
    def items(self): return shown("items")

def shown(value): return (value, "shown") if value == 1 else value

@dataclass
class Told:
    error: object

def ask(error, name): return getattr(error, name)()
def call(function, *given): return function(*given)
def on_text(error): return error.items()
HANDLERS = {{"text": on_text}}

def get():
    try:
        raise AppError("a")
    except Exception as e:
        return e

def go(kind="text"):
    e = get()
    {done}
"""
    given = answer(files, "m:go", "m.go()", tmp_path)
    assert given == run_expression(tmp_path / "repo", "m", "m.go()").stdout.strip()


def test_what_pytest_raises_has_caught_is_of_the_class_it_expects(tmp_path: Path) -> None:
    files = """
# --- m.py
import pytest

class First(Exception):
    def add(self): return shown("first")
class Second(Exception):
    def add(self): return shown("second")
    def idle(self): return 1
class Below(First):
    def add(self): return shown("below")
def shown(text): return text
def fail(kind): raise kind
def caught(expected, kind):
    with pytest.raises(expected) as info:
        fail(kind)
    assert info.type is kind and info.match("")
    return info.value.add()
def go():
    with pytest.raises((First, Second)) as info:
        fail(Second)
    called = pytest.raises(First, fail, First)
    base = pytest.raises(Exception, fail, Second)
    return info.value.add(), called.value.add(), caught(First, Below), base.value.add()
"""
    made = answer(files, "m:go", "m.go()", tmp_path)
    assert made == "('second', 'first', 'below', 'second')"
    assert not {"m:Second.idle"} & slice_ids(tmp_path / "repo", "m:go")
