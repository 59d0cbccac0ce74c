"""What has been stored in a place just now is there: where it surely is, and nowhere else.

``fixtures/callgraph`` has programs whose graphs are exact by it. In these it must not be believed:
each replaces what was stored in a way that the statement around does not show.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from check import calls_missed

_PROGRAMS = """\
== others_between
# --- main.py
class Box:
    def __init__(self):
        self.handler = a

    def change(self):
        self.handler = c

    def __enter__(self):
        self.handler = d
        return self

    def __exit__(self, *error):
        pass

    def __add__(self, other):
        self.handler = d
        return self

def a():
    pass

def b():
    pass

def c():
    pass

def d():
    pass

def alias(box, same):
    box.handler = b
    same.handler = a
    box.handler()

def method(box):
    box.handler = b
    box.change()
    box.handler()

def operator(box):
    box.handler = b
    box + 1
    box.handler()

def rounds(box):
    box.handler = a
    for each in (b, c):
        box.handler()
        box.handler = each

def branch(box, really):
    box.handler = a
    if really:
        box.handler = b
    box.handler()

def handled(box):
    box.handler = a
    try:
        box.handler = b
        raise ValueError
    except ValueError:
        box.handler()

def managed(box):
    box.handler = a
    with box:
        box.handler()

def rebound(box, other):
    box.handler = b
    box = other
    box.handler()

def by_name(box):
    box.handler = a
    setattr(box, "handler", c)
    box.handler()

def yielding(box):
    box.handler = a
    yield
    box.handler()

def captured():
    def change():
        nonlocal box
        box = Box()
    box = Box()
    box.handler = b
    change()
    box.handler()

one = Box()
alias(one, one)
method(one)
operator(one)
rounds(one)
branch(one, True)
branch(one, False)
handled(one)
managed(one)
rebound(Box(), one)
by_name(one)
for turn in yielding(one):
    one.handler = d
captured()
== property_and_hooks
# --- main.py
class Guarded:
    @property
    def handler(self):
        return a
    @handler.setter
    def handler(self, value):
        pass
class Hooked:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, a)
class Base:
    pass
class Below(Base):
    @property
    def handler(self):
        return d
    @handler.setter
    def handler(self, value):
        pass
class Data:
    def __get__(self, instance, owner):
        return c
    def __set__(self, instance, value):
        pass
class Described:
    handler = Data()
def a(): pass
def b(): pass
def c(): pass
def d(): pass
def store(box):
    box.handler = b
    box.handler()
one = Guarded()
one.handler = b
one.handler()
two = Hooked()
two.handler = b
two.handler()
three = Described()
three.handler = b
three.handler()
store(Base())
store(Below())
== globals_between
# --- main.py
def a(): pass
def b(): pass
def c(): pass
class Box: pass
def change():
    global box
    box = Box()
    box.handler = c
def other():
    second.handler = a
box = Box()
box.handler = b
change()
box.handler()
second = Box()
second.handler = b
other()
second.handler()
third = Box()
third.handler = b
[third.handler() for third in (box, second)]
== by_another_module
# --- main.py
import other
def a(): pass
def b(): pass
class Box: pass
box = Box()
box.hook = a
other.change(box)
box.hook()
box.hand = a
import late
box.hand()
# --- other.py
def c(): pass
def change(box):
    box.hook = c
# --- late.py
import main
def d(): pass
main.box.hand = d
== replaced_holder
# --- main.py
import other
def a(): pass
def b(): pass
class Box: pass
box = Box()
box.hook = a
other.change()
box.hook()
# --- other.py
def b(): pass
class Other:
    def hook(self): b()
def change():
    import main
    main.box = Other()
== class_receiver
# --- main.py
def a(*args): pass
def b(*args): pass
class K:
    f = a
K.f = classmethod(a)
K.f()
K.g = staticmethod(b)
K.g()
== namespaces
# --- main.py
def a(): pass
def b(): pass
def c(): pass
class Box: pass
box = Box()
box.f = a
box.__dict__["f"] = b
box.f()
box.g = a
vars(box)["g"] = c
box.g()
def change(name):
    setattr(box, name, b)
box.h = a
change("h")
box.h()
== class_asked_before
# --- main.py
def a(*args): pass
class K:
    def f(self): pass
    def g(self): pass
class L(K): pass
class Bound:
    def f(self): pass
class Other:
    def f(self): pass
kept = [K.f]
K.f = a
kept[0](1)
before = vars(K)["g"]
K.g = a
before(1)
Same = Bound
Bound = Other
Bound.f = a
Same().f()
def deco(kind):
    kind().f()
    return kind
@deco
class Decorated:
    def f(self): pass
Decorated.f = a
class Meta(type):
    def __init__(cls, *args):
        cls().f()
class Made(metaclass=Meta):
    def f(self): pass
Made.f = a
== lists_of_others
# --- main.py
def a(): pass
def b(): pass
def c(): pass
def alias():
    rows = [a, b]
    same = rows
    same.reverse()
    rows[0]()
def passed():
    rows = [a]
    change(rows)
    rows[0]()
def change(rows):
    rows[0] = b
def captured():
    def inner():
        rows.insert(0, c)
    rows = [a]
    inner()
    rows[0]()
def perhaps(really):
    rows = [a, b]
    taken = rows.pop() if really else None
    rows[-1]()
    really and rows.append(c)
    rows[-1]()
    0 < really < rows.append(a) if really else 1
def rounds():
    rows = [a, b, c]
    for each in (1, 2):
        rows[0]()
        rows.pop(0)
    while rows:
        rows.pop()()
def comprehended():
    rows = [a, b, c]
    [rows.pop()() for each in (1, 2, 3)]
    rows = [a, b]
    lazy = (rows.reverse() for each in (1, 2, 3))
    rows = [a, b]
    next(lazy)
    rows[0]()
def branch(really):
    rows = [a, b]
    if really:
        rows.pop(0)
    rows[0]()
def held():
    rows = [a]
    table = {"rows": rows}
    table["rows"].insert(0, b)
    rows[0]()
def tried():
    rows = [a, b]
    try:
        rows.pop(0)
        raise ValueError
    except ValueError:
        rows[0]()
def rebinding():
    rows = [a]
    (rows := [b])[0]()
    rows[0]()
alias()
passed()
captured()
try:
    perhaps(True)
except TypeError:
    pass
perhaps(False)
rounds()
comprehended()
branch(True)
branch(False)
held()
tried()
rebinding()
== list_of_functions
# --- main.py
def a(): pass
def b(): pass
def c(): pass
def changes():
    table.reverse()
table = [a, b]
changes()
table[0]()
second = [a]
def later():
    second[0] = c
later()
second[0]()
fourth = [a]
(fourth := [b])[0](), fourth[0]()
nested = [a]
nested.append(nested)
nested[-1].insert(0, c)
nested[0]()
def same(rows):
    rows.reverse()
    return a
asked = [a, b]
asked.append(same(asked))
asked[0]()
hidden = [a, b]
class Body:
    hidden.reverse()
hidden[0]()
rounds = [a, b]
for each in (1, 2):
    rounds[0]()
    rounds.reverse()
def unpack(one, *rest):
    one.reverse()
given = [a, b]
unpack(*[given])
given[0]()
starred = [a, b]
first, *starred = b, c
starred[0]()
== list_by_namespace
# --- main.py
def a(): pass
def b(): pass
other = [a, b]
globals()["other"].reverse()
other[0]()
== list_of_another_module
# --- main.py
import another
def a(): pass
def b(): pass
third = [a, b]
another.change()
third[0]()
# --- another.py
def change():
    import main
    main.third.reverse()
== base_constructor
# --- main.py
def a(): pass
def b(): pass
class Base:
    def __init__(self):
        self.f = b
class K(Base):
    def __init__(self):
        self.f = a
        super().__init__()
        self.f()
K()
== sort_key
# --- main.py
def f(): pass
def g(): pass
def run():
    a = [f, g]
    a.sort(key=lambda x: x.__name__, reverse=True)
    a[0]()
run()
== sort_key_module
# --- main.py
def f(): pass
def g(): pass
a = [f, g]
a.sort(key=lambda x: x.__name__, reverse=True)
a[0]()
== insert_star
# --- main.py
def f(): pass
def g(): pass
def run():
    a = [f]
    a.insert(*(0, g))
    a[0]()
run()
== insert_star_module
# --- main.py
def f(): pass
def g(): pass
a = [f]
a.insert(*(0, g))
a[0]()
== pkg_sub
# --- main.py
import pkg
# --- pkg/__init__.py
def f(): pass
a = [f, f]
a.reverse()
import pkg.sub
a[0]()
# --- pkg/sub.py
import pkg.helper
def g(): pass
pkg.a[0] = g
# --- pkg/helper.py
== pkg_sub2
# --- main.py
import pkg.sub
# --- pkg/__init__.py
def f(): pass
a = [f, f]
import pkg.sub
a[0]()
# --- pkg/sub.py
import pkg.helper as h, sys
def g(): pass
sys.modules['pkg'].a.insert(0, g)
# --- pkg/helper.py
== module_getattr
# --- main.py
import other
def f(): pass
other.h = f
other.h()
other.setit()
other.h()
# --- other.py
def g(): pass
def setit():
    global h
    h = g
== delattr_fallback
# --- main.py
def f(): pass
class Box:
    def handler(self): pass
def d(o): delattr(o, 'handler')
b = Box()
b.handler = f
d(b)
b.handler()
== del_fallback
# --- main.py
def f(): pass
class Box:
    def handler(self): pass
def d(o): del o.handler
b = Box()
b.handler = f
d(b)
b.handler()
== setattr_alias
# --- main.py
def f(): pass
def g(): pass
class Box: pass
s = setattr
def patch(o): s(o, 'handler', g)
b = Box()
b.handler = f
patch(b)
b.handler()
== partial_setattr
# --- main.py
import functools
def f(): pass
def g(): pass
class Box: pass
b = Box()
p = functools.partial(setattr, b, 'handler')
b.handler = f
p(g)
b.handler()
== map_setattr
# --- main.py
def f(): pass
def g(): pass
class Box: pass
b = Box()
b.handler = f
list(map(setattr, [b], ['handler'], [g]))
b.handler()
== getattr_touched
# --- main.py
def f(): pass
def g(): pass
class Box:
    def __getattr__(self, name):
        self.handler = g
        return 1
def run():
    b = Box()
    b.handler = f
    b.other
    b.handler()
run()
== desc_decorator
# --- main.py
def f(): pass
def g(): pass
def deco(cls):
    cls.handler = property(
        lambda self: g,
        lambda self, v: v)
    return cls
@deco
class Box: pass
def run():
    b = Box()
    b.handler = f
    b.handler()
run()
== desc_init_subclass
# --- main.py
def f(): pass
def g(): pass
class Desc:
    def __get__(self, o, t=None): return g
    def __set__(self, o, v): pass
class Base:
    def __init_subclass__(cls):
        cls.handler = Desc()
class Box(Base): pass
def run():
    b = Box()
    b.handler = f
    b.handler()
run()
== desc_meta
# --- main.py
def f(): pass
def g(): pass
class Desc:
    def __get__(self, o, t=None): return g
    def __set__(self, o, v): pass
class Meta(type):
    def __new__(m, name, bases, ns):
        ns['handler'] = Desc()
        return super().__new__(m, name, bases, ns)
class Box(metaclass=Meta): pass
def run():
    b = Box()
    b.handler = f
    b.handler()
run()
== desc_meta_setattr
# --- main.py
def f(): pass
def g(): pass
class Desc:
    def __get__(self, o, t=None): return g
    def __set__(self, o, v): pass
class Meta(type):
    def __init__(cls, name, bases, ns):
        cls.handler = Desc()
class Box(metaclass=Meta): pass
def run():
    b = Box()
    b.handler = f
    b.handler()
run()
== desc_patched_outside
# --- main.py
def f(): pass
def g(): pass
class Desc:
    def __get__(self, o, t=None): return g
    def __set__(self, o, v): pass
class Box: pass
Box.handler = Desc()
def run():
    b = Box()
    b.handler = f
    b.handler()
run()
== desc_setattr_cls
# --- main.py
def f(): pass
def g(): pass
class Desc:
    def __get__(self, o, t=None): return g
    def __set__(self, o, v): pass
class Box: pass
setattr(Box, 'handler', Desc())
def run():
    b = Box()
    b.handler = f
    b.handler()
run()
== class_assign
# --- main.py
def f(): pass
def g(): pass
class Box: pass
class Box2(Box):
    handler = property(
        lambda self: g,
        lambda self, v: v)
b = Box()
b.handler = f
b.__class__ = Box2
b.handler()
def run():
    b = Box()
    b.handler = f
    b.__class__ = Box2
    b.handler()
run()
def run2():
    b = Box()
    b.__class__ = Box2
    b.handler = f
    b.handler()
run2()
== dyn_import
# --- main.py
import importlib, sys
def f(): pass
def g(): pass
def h(): importlib.import_module('main').a.insert(0, g)
a = [f]
h()
a[0]()
== sys_modules
# --- main.py
import sys
def f(): pass
def g(): pass
def h(): sys.modules['main'].a.insert(0, g)
a = [f]
h()
a[0]()
== sys_modules_name
# --- main.py
import sys
def f(): pass
def g(): pass
def h(): sys.modules[__name__].a.insert(0, g)
a = [f]
h()
a[0]()
== pkg_attr_through_sub
# --- main.py
import pkg
# --- pkg/__init__.py
def f(): pass
lst = [f]
from .sub import x
lst[0]()
# --- pkg/sub.py
import pkg.other
def g(): pass
x = 1
pkg.lst.insert(0, g)
# --- pkg/other.py
== submodule_attr
# --- main.py
import pkg
def f(): pass
pkg.sub = f
import pkg.sub as s
pkg.sub.k()
# --- pkg/__init__.py
# --- pkg/sub.py
def k(): pass
== submodule_attr_fn
# --- main.py
import pkg
class N:
    def k(self): pass
pkg.sub = N()
def load(): import pkg.sub as s
pkg.sub.k()
load()
pkg.sub.k()
# --- pkg/__init__.py
# --- pkg/sub.py
def k(): pass
== reload
# --- main.py
import importlib, other
def f(): pass
other.h = f
importlib.reload(other)
other.h()
# --- other.py
def h(): pass
== weakref_del
# --- main.py
def f(): pass
def g(): pass
class B: pass
b = B()
class T:
    def __del__(self): b.h = g
def run():
    t = T()
    b.h = f
    t = None
    b.h()
run()
def run2():
    t = T()
    b.h = f
    del t
    b.h()
run2()
== list_in_the_next_round
# --- main.py
def f(): pass
def g(): pass
def by_function():
    inner = None
    for _ in range(2):
        rows = [f]
        inner and inner()
        rows[0]()
        inner = lambda: rows.insert(0, g)
def by_generator():
    lazy = iter([1, 2])
    for _ in range(2):
        rows = [f]
        next(lazy)
        rows[0]()
        lazy = (rows.insert(0, g) for _ in range(2))
by_function()
by_generator()
"""
_FOUND = re.split(r"^== (\w+)$", _PROGRAMS, flags=re.MULTILINE)[1:]
PROGRAMS = dict(zip(_FOUND[::2], _FOUND[1::2], strict=True))
# Calls that the graph had not before it knew of what stands where either.
_BY_NOBODY = {
    "desc_decorator": {("main.run", "main.deco.<lambda2>")},
    **{
        name: {("main.run", "main.Desc.__set__")}
        for name in (
            *("desc_init_subclass", "desc_meta", "desc_meta_setattr", "desc_patched_outside"),
            "desc_setattr_cls",
        )
    },
    "class_assign": {("main.run2", "main.Box2.<lambda2>")},
    "submodule_attr_fn": {("main", "main.N.k")},  # the submodule has the name
    "weakref_del": {("main.run", "main.T.__del__"), ("main.run2", "main.T.__del__")},
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_replaced_unseen_is_still_called(name: str, tmp_path: Path) -> None:
    missing = calls_missed(PROGRAMS[name].lstrip("\n"), tmp_path / name)
    missing -= _BY_NOBODY.get(name, set())
    assert not missing, missing
