"""Descriptors that a class gets behind its statement, which nobody knows where they are stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, slice_ids, write_files

CLASSES = """
# --- orm.py
class Accessor:
    def __init__(self, name): self.name = name
    def __get__(self, instance, owner): return instance.data.get(self.name)
class Link(Accessor):
    def __get__(self, instance, owner): return "link " + instance.data.get(self.name)
    def idle(self): pass
class Set(Accessor):
    def __set__(self, instance, value): instance.data[self.name] = "set " + value
    def __delete__(self, instance): instance.data[self.name] = "deleted"
class Model:
    def __init__(self, **data): self.data = data
"""
BIND = "def bind(self, model, name): setattr(model, name, self.accessor(name))"
FIELD = f"""
class Field:
    accessor = Accessor
    {BIND}
class LinkField(Field): accessor = Link
class SetField(Field): accessor = Set
"""
READ = "return getattr(Model(**{name: 'x'}), name)"


@pytest.mark.parametrize(
    "code",
    [
        f"{FIELD}def go(name):\n    LinkField().bind(Model, name)\n    {READ}",
        (
            f"class Field:\n    accessor = None\n    {BIND}\n"
            f"class LinkField(Field): accessor = Link\n"
            f"def go(name):\n    LinkField().bind(Model, name)\n    {READ}"
        ),
        (
            f"class Field:\n    def __init__(self, accessor=Accessor): self.accessor = accessor\n"
            f"    {BIND}\ndef go(name):\n    Field(Link).bind(Model, name)\n    {READ}"
        ),
        (
            f"class Field:\n    def accessor(self, name): return Accessor(name)\n    {BIND}\n"
            f"class LinkField(Field):\n    def accessor(self, name): return Link(name)\n"
            f"def go(name):\n    LinkField().bind(Model, name)\n    {READ}"
        ),
        (
            f"def bind(model, name, made): setattr(model, name, made(name))\n"
            f"def go(name):\n    bind(Model, name, Link)\n    {READ}"
        ),
        (
            f"def bind(model, name, given): setattr(model, name, given)\n"
            f"def go(name):\n    bind(Model, name, Link(name))\n    {READ}"
        ),
        (
            f"def bind(model, name, given): type.__setattr__(model, name, given)\n"
            f"def go(name):\n    bind(Model, name, Link(name))\n    {READ}"
        ),
        f"def bind(given): Model.a = given\ndef go(name):\n    bind(Link(name))\n    {READ}",
        (
            f"def bind(model, given): model.a = given\n"
            f"def go(name):\n    bind(Model, Link(name))\n    {READ}"
        ),
        (
            "def make(name, given): return type('M', (Model,), {name: given})\n"
            "def go(name): return getattr(make(name, Link(name))(**{name: 'x'}), name)"
        ),
        (
            f"{FIELD}class Meta(type):\n"
            "    def __new__(mcs, name, bases, namespace):\n"
            "        for key, value in list(namespace.items()):\n"
            "            if isinstance(value, Field): namespace[key] = value.accessor(key)\n"
            "        return super().__new__(mcs, name, bases, namespace)\n"
            "class Big(Model, metaclass=Meta):\n    a = LinkField()\n"
            "def go(name): return Big(a='x').a"
        ),
        (
            f"{FIELD}class Base(Model):\n"
            "    def __init_subclass__(cls):\n"
            "        for key, value in list(vars(cls).items()):\n"
            "            if isinstance(value, Field): value.bind(cls, key)\n"
            "class Big(Base):\n    a = LinkField()\n"
            "def go(name): return Big(a='x').a"
        ),
    ],
)
def test_what_a_class_gets_is_asked_as_a_descriptor(code: str, tmp_path: Path) -> None:
    files = f"{CLASSES}{code}\n"
    assert answer(files, "orm:go", "m.go('a')", tmp_path) == "link x"
    found = slice_ids(tmp_path / "repo", "orm:go")
    assert not found & {"orm:Link.idle", "orm:Set.__set__", "orm:Set.__delete__"}


@pytest.mark.parametrize(
    ("use", "expected"), [("setattr(m, name, 'y')", "set y"), ("delattr(m, name)", "deleted")]
)
def test_what_stores_and_deletes(use: str, expected: str, tmp_path: Path) -> None:
    body = (
        f"    SetField().bind(Model, name)\n    m = Model()\n    {use}\n    return getattr(m, name)"
    )
    files = f"{CLASSES}{FIELD}def go(name):\n{body}\n"
    assert answer(files, "orm:go", "m.go('a')", tmp_path) == expected


def test_an_instance_gets_none(tmp_path: Path) -> None:
    code = (
        "def put(thing, name, given): setattr(thing, name, given)\n"
        "def go(name):\n    m = Model()\n    put(m, name, Link(name))\n    return m\n"
    )
    write_files(CLASSES + code, tmp_path)
    assert "orm:Link.__get__" not in slice_ids(tmp_path, "orm:go")


@pytest.mark.parametrize(
    "made",
    [
        "mcs, name, bases, new",
        "mcs, name, bases, {**new, 'meta': Options(fields)}",
        "mcs, name, bases, dict(new, meta=Options(fields))",
    ],
)
@pytest.mark.parametrize("base", ["super()", "type"])
def test_what_a_metaclass_makes_a_class_with(base: str, made: str, tmp_path: Path) -> None:
    """A dictionary of its own: descriptors in it, and what it has under constant keys."""
    files = f"""
# --- m.py
class Options:
    def __init__(self, fields): self.fields = fields
    def get(self): return helper(self.fields)
    def idle(self): return 1
def helper(fields): return sorted(fields)
class Field:
    def made(self): return Value(self)
    def pop(self): return other()
class Value:
    def __init__(self, field): self.field = field
    def __get__(self, instance, owner): return self.field.pop()
    def __set__(self, instance, value): unasked(value)
def other(): return 3
def unasked(value): raise AttributeError(value)
class Meta(type):
    def __new__(mcs, name, bases, attrs):
        fields = {{k: v for k, v in attrs.items() if isinstance(v, Field)}}
        new = {{k: v for k, v in attrs.items() if k not in fields}}
        for key, field in fields.items():
            new[key] = field.made()
        {'new["meta"] = Options(fields)' if "Options" not in made else ""}
        return {base}.__new__({made})
class Base(metaclass=Meta):
    def show(self): return self.meta.get()
class Record(Base):
    a = Field()
    b = Field()
def go(): return Record().show(), Record().a, Record.meta.get()
"""
    assert answer(files, "m:go", "m.go()", tmp_path) == "(['a', 'b'], 3, ['a', 'b'])"
    assert "m:Options.idle" not in slice_ids(tmp_path / "repo", "m:go")
