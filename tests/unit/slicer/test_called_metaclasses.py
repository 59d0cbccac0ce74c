"""Classes that a call of a metaclass makes: ``Node = Meta("Node", (Base,), {})``."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, slice_ids, write_files
from depslice.callgraph import build_graph, open_program
from depslice.callgraph.model import ReferenceKind

GIVES_ANOTHER = """
# --- m.py
class Wrapper:
    def __init__(self, made):
        self.made = made

    def __call__(self):
        return self.made()


class Meta(type):
    def __new__(mcs, name, bases, namespace):
        return Wrapper(type.__new__(mcs, name, bases, namespace))


class Base:
    pass


Node = Meta("Node", (Base,), {})


def use():
    return type(Node()).__name__
"""
BELOW = """
# --- m.py
{0}

class Meta({1}):
    def __getitem__(cls, key):
        return item(key)


def item(key):
    return key * 3


class Base:
    def go(self):
        return self.hook()


Node = Meta("Node", (Base,), {{}})


class Leaf(Node):
    def hook(self):
        return 55


def use():
    return Leaf().go(), Leaf[2]
"""


def test_what_its_new_gives_instead(tmp_path: Path) -> None:
    assert answer(GIVES_ANOTHER, "m:use", "m.use()", tmp_path) == "Node"


@pytest.mark.parametrize(
    ("imported", "base"), [("", "type"), ("from abc import ABCMeta", "ABCMeta")]
)
def test_a_class_below(tmp_path: Path, imported: str, base: str) -> None:
    assert answer(BELOW.format(imported, base), "m:use", "m.use()", tmp_path) == "(55, 6)"


PUT_IN = """
# --- compat.py
import types

try:
    from six import add_metaclass, with_metaclass
except ImportError:
    def with_metaclass(meta, *bases):
        class metaclass(type):
            def __new__(cls, name, this_bases, d):
                return meta(name, types.resolve_bases(bases), d)

            @classmethod
            def __prepare__(cls, name, this_bases):
                return meta.__prepare__(name, bases)

        return type.__new__(metaclass, "temporary_class", (), {})

    def add_metaclass(metaclass):
        def wrapper(cls):
            members = dict(cls.__dict__)
            members.pop("__dict__", None)
            members.pop("__weakref__", None)
            return metaclass(cls.__name__, cls.__bases__, members)

        return wrapper


def with_one(meta, base=object):
    class metaclass(meta):
        def __new__(cls, name, this_bases, d):
            if this_bases is None:
                return type.__new__(cls, name, (), d)
            return meta(name, (base,), d)

    return metaclass("temporary_class", None, {})
# --- m.py
from compat import add_metaclass, with_metaclass, with_one


class Once(type):
    made = None

    def __new__(mcs, name, bases, members):
        members["tag"] = shown("tagged")
        return super().__new__(mcs, name, bases, members)

    def __call__(cls, *given):
        if cls.made is None:
            cls.made = super().__call__(*given)
        return cls.made

    def update(cls):
        return shown("updated")


def shown(text):
    return text


class Base:
    def items(self):
        return shown("items")

    def idle(self):
        return shown("idle")


class First(with_metaclass(Once, Base)):
    pass


Above = with_one(Once, Base)


class Second(Above):
    def go(self):
        return self.items()


@add_metaclass(Once)
class Third(Base):
    pass


def tell(class_):
    return class_() is class_(), class_.tag, class_.update(), class_().items()


def first():
    return First() is First(), First.tag, First.update(), First().items()


def second():
    return Second() is Second(), Second.tag, Second.update(), Second().go()


def third():
    return tell(Third)
"""


@pytest.mark.parametrize("name", ["first", "second", "third"])
def test_a_metaclass_that_a_function_puts_in_makes_the_class(name: str, tmp_path: Path) -> None:
    given = answer(PUT_IN, f"m:{name}", f"m.{name}()", tmp_path)
    assert given == "(True, 'tagged', 'updated', 'items')"
    assert "m:Base.idle" not in slice_ids(tmp_path / "repo", f"m:{name}")


def test_the_graph_knows_the_bases_that_a_function_puts_in(tmp_path: Path) -> None:
    write_files(PUT_IN, tmp_path)
    graph = build_graph(open_program(tmp_path, cache=None))
    called = {
        (each.source, each.target) for each in graph.references() if each.kind is ReferenceKind.CALL
    }
    assert {("m:first", "m:Base.items"), ("m:first", "m:Once.update")} <= called
    assert {("m:Second.go", "m:Base.items"), ("m:second", "m:Once.update")} <= called


READS_BASES = """
# --- m.py
class Meta(type):
    made = {{}}

    def {method}(cls, name, bases{annotation}, members):
        made = {made}
        for base in bases:
            if base is not object:
                base.made[name] = 1
        {end}

    def idle(cls):
        return 1


Base = Meta("Base", (object,), {{}})


class Sentence(Base):
    @staticmethod
    def parse(name):
        return name


def inside():
    class Local(Base):
        pass

    return Local
"""


@pytest.mark.parametrize("annotation", ["", ": tuple[type, ...]"])
@pytest.mark.parametrize(
    ("method", "made", "end"),
    [
        ("__init__", "None", "super().__init__(name, bases, members)"),
        ("__new__", "type.__new__(cls, name, bases, members)", "return made"),
    ],
)
def test_python_calls_it_for_classes_below_too(
    method: str, made: str, end: str, annotation: str, tmp_path: Path
) -> None:
    """With bases that the call does not pass: pynmea2 has its sentences so."""
    files = READS_BASES.format(method=method, made=made, end=end, annotation=annotation)
    assert answer(files, "m:Sentence.parse", "m.Sentence.parse('x')", tmp_path / "top") == "x"
    inside = answer(files, "m:inside", "m.inside().made", tmp_path / "inside")
    assert inside in ("{'Local': 1}", "{'Sentence': 1, 'Local': 1}")
    assert "m:Meta.idle" not in slice_ids(tmp_path / "top" / "repo", "m:Sentence.parse")


ADDING = """
# --- m.py
class Field:
    def __init__(self, name="f"): self.name = name
    def __get__(self, instance, owner): return self.name
    def unused(self): return 1
class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases): return {prepared}
    def __new__(mcs, name, bases, space):
        {filled}
        return super().__new__(mcs, name, bases, space)
class Base(metaclass=Meta): pass
class A(Base): pass
def look(): return A().other
"""


@pytest.mark.parametrize(
    ("prepared", "filled"),
    [
        ("{}", "space.update(other=Field())"),
        ("{}", "space.update({'other': Field()})"),
        ("{}", "space.setdefault('other', Field())"),
        ("{'other': Field()}", "pass"),
        ("dict(other=Field())", "pass"),
    ],
)
def test_what_a_metaclass_puts_into_the_namespace_in_whatever_way(
    prepared: str, filled: str, tmp_path: Path
) -> None:
    files = ADDING.replace("{prepared}", prepared).replace("{filled}", filled)
    assert answer(files, "m:look", "m.look()", tmp_path) == "f"
    assert "m:Field.unused" not in slice_ids(tmp_path / "repo", "m:look")
