"""`getattr(self, "_" + name)`: what methods store under such a name, and under computed ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, slice_ids, write_files

CLASSES = """
# --- app.py
import sys
class Representer:
    def represent(self, data): return f"- {data}"
    def idle(self): pass
"""
LAZY = """
class Yaml:
    def __init__(self): self.make = Representer
    @property
    def representer(self):
        name = "_" + sys._getframe().f_code.co_name
        if getattr(self, name, None) is None: setattr(self, name, self.make())
        return getattr(self, name)
    def dump(self, data): return self.representer.represent(data)
"""
STORED = """
class Yaml:
    def __init__(self): self._representer = Representer()
    def _other(self): return 1
    def dump(self, data): return getattr(self, "_" + "".join("representer")).represent(data)
"""
PASSED = """
class Kept:
    def __init__(self): self._representer = Representer()
    def _other(self): return 1
def get(thing, name): return getattr(thing, "_" + name)
class Yaml:
    def dump(self, data): return get(Kept(), "".join("representer")).represent(data)
"""


@pytest.mark.parametrize("code", [LAZY, STORED, PASSED])
def test_what_an_instance_has_beside_its_class(code: str, tmp_path: Path) -> None:
    assert answer(CLASSES + code, "app:Yaml", "m.Yaml().dump(3)", tmp_path) == "- 3"
    assert "app:Representer.idle" not in slice_ids(tmp_path / "repo", "app:Yaml")


def test_special_methods_are_none_that_begin_with_a_line(tmp_path: Path) -> None:
    code = (
        "class A:\n"
        "    def _one(self): return 1\n"
        "    def __len__(self): return 3\n"
        "    def go(self): return getattr(self, '_' + ''.join('one'))()\n"
    )
    assert answer(CLASSES + code, "app:A.go", "m.A().go()", tmp_path) == "1"
    assert "app:A.__len__" not in slice_ids(tmp_path / "repo", "app:A.go")


@pytest.mark.parametrize(
    ("does", "given"),
    [
        ("setattr(it, 'val_' + key, 1)", "it.val_a"),
        ("setattr(it, f'{key}_of', 1)", "it.kept"),
        ("delattr(it, 'val_' + key)", "it.gone"),
        ("[setattr(each, key + '_of', 1) for each in [it]]", "it.kept"),
    ],
)
def test_what_is_stored_by_a_computed_name_of_what_callers_pass(
    does: str, given: str, tmp_path: Path
) -> None:
    files = f"""
# --- m.py
class Told:
    val_b = 1
    @property
    def a_of(self): return 1
    @a_of.setter
    def a_of(self, value): vars(self)["kept"] = shown(value)
    def __setattr__(self, name, value):
        super().__setattr__(name, value if name == "a_of" else shown(value))
    def __delattr__(self, name): vars(self)["gone"] = shown(1)
    def idle(self): return 1
def shown(value): return (value, "shown")
def does(it, key): return {does}
def go():
    it = Told()
    does(it, "a")
    return {given}
"""
    assert answer(files, "m:go", "m.go()", tmp_path) == "(1, 'shown')"
    assert "m:Told.idle" not in slice_ids(tmp_path / "repo", "m:go")


def test_names_in_the_slots_of_a_subclass(tmp_path: Path) -> None:
    """What a base goes through is what the subclass says, also by a name that Python knows."""
    program = """
# --- app.py
class Node:
    __slots__ = ()
    __names__ = ()
    def show(self): return [getattr(self, each) for each in self.__slots__]
    def named(self): return [getattr(self, each)() for each in self.__names__]
    def kind(self): return "node"
class Leaf(Node):
    __slots__ = ("text",)
    __names__ = ("size",)
    def __init__(self, text): self.text = text
    def size(self): return len(self.text)
    def children(self): return []
def shown(): return Leaf("a").show()
def named(): return Leaf("a").named()
"""
    write_files(program, tmp_path)
    leaf = {"app:Node", "app:Node.__slots__", "app:Leaf", "app:Leaf.__slots__", "app:Leaf.__init__"}
    assert slice_ids(tmp_path, "app:shown") == leaf | {"app:shown", "app:Node.show"}
    names = {"app:Node.__names__", "app:Leaf.__names__", "app:Leaf.size"}
    assert slice_ids(tmp_path, "app:named") == leaf | names | {"app:named", "app:Node.named"}
