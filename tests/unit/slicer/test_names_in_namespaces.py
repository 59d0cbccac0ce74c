"""What is taken of the namespace of a class by a name that callers pass: ``C.__dict__[name]``."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, slice_ids, write_files

PROGRAM = """\
# --- app.py
from __future__ import annotations

import functools


class Kind:
    def run(self):
        return 1
    def other(self):
        return 2
    size = 3

class Special(Kind):
    def run(self):
        return 4
    def more(self):
        return 5

NAMES = ["run", "other", "size"]

def has(C, name): return any(name in each.__dict__ for each in C.__mro__)
def take(C, name): return C.__dict__[name]
def taken(C: type, name: str): return vars(C).get(name)
def look(C, name):
    for each in C.__mro__:
        if name in vars(each):
            return vars(each)[name]
def passed(C, name): return take(C, name)

class Registry:
    def get(self, name): return Kind.__dict__[name]
    def got(self, name: str): return Kind.__dict__[name]

class Keeper:
    def __init__(self, name): self.name = name
    def get(self): return take(Kind, self.name)
    def given(self): return Kind.__dict__[self.name]

def call(function, name): return function(Kind, name)
def chosen(C, name="run"): return passed(C, name)
"""
ALL = {"run", "other", "size"}


def members(body: str, folder: Path, head: str = "use()") -> set[str]:
    """What of ``Kind`` is in the slice of a function."""
    write_files(f"{PROGRAM}\ndef {head}:\n    {body}\n", folder)
    target = f"app:{head.partition('(')[0]}"
    return {each.rpartition(".")[2] for each in slice_ids(folder, target) if "Kind." in each}


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("return has(Kind, 'run')", {"run"}),
        ("return take(Kind, 'run')", {"run"}),
        ("return take(C=Kind, name='run')", {"run"}),
        ("return taken(Kind, 'run')", {"run"}),
        ("return look(Kind, 'size')", {"size"}),
        ("return passed(Kind, 'run')", {"run"}),
        ("return [take(Kind, each) for each in ('run', 'size')]", {"run", "size"}),
        ("return take(Kind, 'r' + 'un')", {"run"}),
        ("return take(*[Kind, 'run'])", {"run"}),
        ("return functools.partial(take, Kind)('run')", {"run"}),
        ("return Keeper('run').get()", {"run"}),
        ("return Registry().get('run'), Registry().got('size')", {"run", "size"}),
    ],
)
def test_a_name_that_is_passed_takes_that_alone(body: str, kept: set[str], tmp_path: Path) -> None:
    assert members(body, tmp_path) == kept


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ("return Kind.__dict__[name]", "use(name)"),
        ("return Kind.__dict__[name]", "use(name: str)"),
        ("return Kind.__dict__[name]", "use(name='run')"),
        ("return take(Kind, name)", "use(name)"),
        ("return take(Kind, name)", "use(name: str)"),
        ("return take(Kind, name), take(Kind, 'run')", "use(name: str)"),
        ("return taken(Kind, name), taken(Kind, 'run')", "use(name: str = 'run')"),
        ("hasattr(Kind, name)\n    return take(Kind, name), take(Kind, 'run')", "use(name: str)"),
        ("return take(Kind, input()), take(Kind, 'run')", "use()"),
        ("return take(Kind, 'r' + name), take(Kind, 'run')", "use(name)"),
        ("return take(Kind, unknown()), take(Kind, 'run')", "use()"),
        ("return take(Kind, *rest), take(Kind, 'run')", "use(rest)"),
        ("return take(Kind, **rest), take(Kind, 'run')", "use(rest)"),
        ("return take(Kind, rest['name']), take(Kind, 'run')", "use(rest)"),
        ("return list(map(take, [Kind], NAMES)), take(Kind, 'run')", "use()"),
        ("return passed(Kind, input()), passed(Kind, 'run')", "use()"),
        ("return passed(Kind, rest.name), passed(Kind, 'run')", "use(rest)"),
        ("return call(passed, input()), passed(Kind, 'run')", "use()"),
        ("return Keeper(input()).get(), Keeper('run').get()", "use()"),
        ("return Keeper(input()).given(), Keeper('run').given()", "use()"),
        ("return chosen(Kind), chosen(Kind, unknown())", "use()"),
        ("return use('run', None) if again else Kind.__dict__[name]", "use(name: str, again)"),
        ("import outside\n    outside.call(take)\n    return take(Kind, 'run')", "use()"),
        (
            "import outside\n    outside.call(Registry().get)\n    return Registry().get('run')",
            "use()",
        ),
        ("import outside\n    outside.give(Registry())\n    return Registry().get('run')", "use()"),
        ("import outside\n    outside.give(Registry())\n    return Registry().got('run')", "use()"),
    ],
)
def test_any_may_be_taken_where_a_text_is_not_known(body: str, head: str, tmp_path: Path) -> None:
    assert members(body, tmp_path, head) == ALL


@pytest.mark.parametrize("target", ["Registry.get", "Registry.got"])
def test_a_method_that_is_called_from_outside(target: str, tmp_path: Path) -> None:
    write_files(PROGRAM, tmp_path)
    assert {f"app:Kind.{each}" for each in ALL} <= slice_ids(tmp_path, f"app:{target}")


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("return look(Special, 'run')(None), look(Special, 'other')(None)", "(4, 2)"),
        ("return has(Special, 'other'), has(Special, 'gone')", "(True, False)"),
        ("return taken(Kind, 'size'), taken(Kind, 'gone')", "(3, None)"),
        ("return [take(type(each), 'run')(each) for each in (Kind(), Special())]", "[1, 4]"),
    ],
)
def test_what_is_taken_is_there(body: str, given: str, tmp_path: Path) -> None:
    files = f"{PROGRAM}\ndef use():\n    {body}\n"
    assert answer(files, "app:use", "m.use()", tmp_path) == given
