"""What nobody can have seen in a container or class: by example, and by running programs."""

from __future__ import annotations

import ast
import contextlib
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check import calls_missed
from depslice.callgraph.lowering.overwritten import overwritten


def unseen(text: str) -> list[str]:
    return sorted(ast.unparse(node) for node in overwritten(ast.parse(text).body))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("t = {'a': f}\nt['a'] = g", ["f"]),
        ("t: dict = {'a': f}\nt['a'] = g", ["f"]),
        ("t = {'a': f, 'b': f2}\nt['b'] = g\nt['b'] = h", ["f2", "g"]),
        ("t = {'a': {'b': f, 'c': f2}}\nt['a']['b'] = g", ["f"]),
        ("t = {'a': {'b': f, 'c': f2}}\nt['a'] = g", ["f", "f2"]),
        ("t = {'a': f}\nt.update({'a': g})\nt.update(a=h)", ["f", "g"]),
        ("t = {1: f, '1': f2}\nt[1] = g", ["f"]),
        ("t = [f, f2]\nt[0] = g", ["f"]),
        ("t = {'a': f}\ndef look(): return t['a']\nt['a'] = g", ["f"]),  # nobody has called it
        ("t = {'a': f}\nalias = t\nt['a'] = g", ["f"]),  # one object
        ("t = {'a': f}\nt['a']()\nt['a'] = g", []),
        ("t = {'a': f}\nlook()\nt['a'] = g", []),
        ("t = {'a': f}\nx = t['a']\nt['a'] = g", []),
        ("t = {'a': f}\nu = {**t}\nt['a'] = g", []),
        ("t = {'a': f}\nu = [*t]\nt['a'] = g", []),
        ("t = {'a': f}\nt[key] = g\nt['a'] = h", []),
        ("t = {'a': f}\nif x: t['a'] = g", []),
        ("t = {'a': f}\ndef look(x=t['a']): pass\nt['a'] = g", []),
        ("t = {'a': f}\n@mark\ndef look(): pass\nt['a'] = g", []),
        ("t = {'a': f}\nclass C: x = t['a']\nt['a'] = g", []),
        ("t = {'a': x}\nt['a']['b'] = g\nt['a']['b'] = h", []),  # who knows what `x` is
        ("t = {'a': f}\nt = {'a': g}\nt['a'] = h", ["g"]),
        ("t = u = {'a': f}\nt['a'] = g", []),
        ("t = {'a': f}\nt.setdefault('a', g)\nt['a'] = h", []),
        ("x.t = {'a': f}\nx.t['a'] = g", []),
        (f"t = {{0x{'F' * 6000}: f}}\nt[0x{'F' * 6000}] = g", ["f"]),  # it has no decimal text
        ("t = {True: f, 1: f2}\nt[1] = g", []),
        ("t = {'a': f}\nt['b']['c'] = g\nt['a'] = h", []),  # it fails, and `f` stays
        ("t = [f]\nt[1] = g\nt[0] = h", []),
        ("t = [f]\nt.update({0: g})\nt[0] = h", []),
        ("t = {'a': f}\nt['b'] = {'c': g}\nt['b']['c'] = h", ["g"]),
    ],
)
def test_what_is_overwritten_unseen(text: str, found: list[str]) -> None:
    assert unseen(text) == found


_NAMES = ("t", "u")
_KEYS = ("'a'", "'b'", "0", "1")


@st.composite
def _statements(draw: st.DrawFn) -> str:
    """A program that fills two containers; every value in it has a name of its own."""
    count = 0

    def value() -> str:
        nonlocal count
        count += 1
        return f"v{count}"

    def display(depth: int) -> str:
        kind = draw(st.sampled_from(["name", "dict", "list", "tuple"])) if depth else "name"
        if kind == "name":
            return draw(st.sampled_from(_NAMES)) if draw(st.integers(0, 5)) == 0 else value()
        inner = [display(depth - 1) for _ in range(draw(st.integers(0, 3)))]
        if kind == "dict":
            keys = [draw(st.sampled_from(_KEYS)) for _ in inner]
            return "{" + ", ".join(f"{k}: {v}" for k, v in zip(keys, inner, strict=True)) + "}"
        return f"[{', '.join(inner)}]" if kind == "list" else f"(*[{', '.join(inner)}],)"

    lines = ["t = {}", "u = []"]
    for _ in range(draw(st.integers(1, 8))):
        name = draw(st.sampled_from(_NAMES))
        key = "".join(f"[{draw(st.sampled_from(_KEYS))}]" for _ in range(draw(st.integers(1, 2))))
        lines.append(
            draw(
                st.sampled_from(
                    [
                        f"{name} = {display(2)}",
                        f"{name}{key} = {display(1)}",
                        f"{name}.update({{{draw(st.sampled_from(_KEYS))}: {display(1)}}})",
                        f"{name}.update(a={value()})",
                        f"other = {name}",
                        "look()",
                        "def late(): return t",
                        f"x = {name}{key}",
                    ]
                )
            )
        )
    return "\n".join(lines)


class _Value:
    """A value that tells nothing of itself."""


def _held(value: Any, seen: set[int]) -> set[int]:
    if id(value) in seen:
        return set()
    seen.add(id(value))
    inner = value.values() if isinstance(value, dict) else value
    if not isinstance(value, (dict, list, tuple)):
        return {id(value)}
    return set().union(*(_held(each, seen) for each in inner))


@given(_statements())
def test_what_is_dropped_is_in_no_container_when_code_runs(program: str) -> None:
    tree = ast.parse(program)
    names = {f"v{number}": _Value() for number in range(1, 200)}
    found = {ast.unparse(node) for node in overwritten(tree.body)}
    dropped = {id(names[name]) for name in found & names.keys()}
    space: dict[str, Any] = {**names}
    observed: set[int] = set()

    def look() -> None:
        for each in ("t", "u", "other", "x"):
            observed.update(_held(space.get(each), set()))

    space["look"] = look
    with contextlib.suppress(KeyError, IndexError, TypeError, AttributeError):
        exec(compile(tree, "<program>", "exec"), space)  # noqa: S102 (made here)
    look()  # whoever catches the error may look, too
    assert not dropped & observed


_CLASSES = """\
== cls_anno_only
# --- main.py
class C:
    def f(self): pass
    f: object
C().f()
== cls_with
# --- main.py
import contextlib
class C:
    def f(self): pass
    with contextlib.suppress(NameError):
        f = undefined
    def k(self): pass
    with contextlib.suppress(NameError):
        undefined
        def k(self): pass
C().f()
C().k()
== cls_twice_loop
# --- main.py
def g(self): pass
class C:
    for i in range(2):
        if i:
            saved = f
        def f(self): pass
    f = g
C().saved()
C().f()
== cls_walrus
# --- main.py
class C:
    def f(self): pass
    x = (f := f)
    def h(self): pass
    y = False and (h := None)
C().f(); C().h()
== nameerror
# --- main.py
try:
    class C:
        def m(self): pass
    C.m = fast
except NameError:
    pass
C().m()
== nameerror2
# --- main.py
import contextlib
with contextlib.suppress(NameError):
    class C:
        def m(self): pass
    C.m = fast
C().m()
== importerror
# --- main.py
try:
    class C:
        def m(self): pass
    C.m = undefined
    fast = 1
except NameError:
    class D(C): pass
D().m()
== annotated
# --- main.py
from typing import Any
class C:
    def m(self): pass
C.m: Any
C().m()
== setattr_runs
# --- main.py
class Box:
    def __setattr__(self, n, v): v().m()
box = Box()
class C:
    def m(self): pass
def new(self): pass
box.x = C
C.m = new
C().m()
== property_runs
# --- main.py
class Box:
    def _set(self, v): v().m()
    x = property(None, _set)
box = Box()
class C:
    def m(self): pass
box.x = C
C.m = len
== set_name
# --- main.py
class D:
    def __set_name__(self, owner, name): owner().m()
d = D()
class C:
    x = d
    def m(self): pass
def new(self): pass
C.m = new
== read_between
# --- main.py
def g(self=None): pass
class C:
    def f(self=None): pass
    kept = f
    f = g
class L:
    def f(self=None): pass
    kept = lambda f=f: f()
    f = g
class A:
    def f(self=None): pass
    f: object
    kept = f
C().kept()
L.kept()
A().kept()
== bound_perhaps
# --- main.py
def g(self=None): pass
flag = 0
class C:
    def f(self): pass
    if flag:
        f = g
    def t(self): pass
    try:
        t = g
        missing
    except NameError:
        def t(self): pass
    def m(self): pass
    match flag:
        case 1:
            m = g
    def w(self): pass
    while flag:
        w = g
    def x(self): pass
    for x in ():
        pass
C().f()
C().t()
C().m()
C().w()
C().x()
== registered_before_an_error
# --- main.py
import registry
try:
    import failing
except NameError:
    pass
for each in registry.callbacks:
    each()
# --- registry.py
callbacks = []
# --- failing.py
import registry
def deleted(self): pass
del deleted
def one(): C().m()
def two(): D().m()
def three(): E().m()
registry.callbacks += [one, two, three]
class E:
    def m(self): pass
class D:
    def m(self): pass
class C:
    def m(self): pass
C.m = deleted
== registered_before_an_annotation
# --- main.py
import registry
try:
    import failing
except NameError:
    pass
for each in registry.callbacks:
    each()
# --- registry.py
callbacks = []
# --- failing.py
import registry
def new(self): pass
def one(): C().m()
registry.callbacks.append(one)
class C:
    def m(self): pass
def between(what: missing): pass
C.m = new
== made_with_code
# --- main.py
def new(self): pass
class Base:
    def __init_subclass__(cls):
        cls().m()
class C(Base):
    def m(self): pass
C.m = new
class Private:
    def __m(self): pass
    def k(self): self.__m()
Private.__m = new
Private().k()
"""
_FOUND = re.split(r"^== (\w+)$", _CLASSES, flags=re.MULTILINE)[1:]
CLASSES = dict(zip(_FOUND[::2], _FOUND[1::2], strict=True))


@pytest.mark.parametrize("name", CLASSES)
def test_members_that_may_not_be_replaced_or_are_seen_before(name: str, tmp_path: Path) -> None:
    missing = calls_missed(CLASSES[name].lstrip("\n"), tmp_path / name)
    assert not missing, missing
