"""Methods that are looked for by how their names begin or end, of an object that callers pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer

GRAMMAR = """
# --- m.py
class Production:
    def __init__(self, items):
        self.items = items

    def __getitem__(self, index):
        return self.items[index]

    def __setitem__(self, index, value):
        self.items[index] = value


class Engine:
    def __init__(self, module):
        self.rules = {0}

    def parse(self, value):
        production = Production([None, value])
        for rule in self.rules:
            rule(production)
        return production.items


class Parser:
    def p_number(self, p):
        p[0] = int(p[1])

    def t_number(self, t):
        return t


def parse(text):
    return Engine(Parser()).parse(text)
"""


@pytest.mark.parametrize(
    "rules",
    [
        "dict((getattr(module, k), k) for k in dir(module) if k.startswith('p_'))",
        "[getattr(module, k) for k in dir(module) if k.startswith('p_')]",
        "[getattr(module, k) for k in dir(module) if k[:2] == 'p_']",
        "[getattr(module, k) for k in dir(module) if k[0:2] == 'p_' and k[-7:] == '_number']",
        "[getattr(module, k) for k in dir(module) if not k[:2] != 'p_']",
        "[f for k, f in [(k, getattr(module, k)) for k in dir(module) if k.startswith('p_')]]",
    ],
)
def test_what_they_do_with_what_they_are_passed(tmp_path: Path, rules: str) -> None:
    files = GRAMMAR.replace("{0}", rules)
    assert answer(files, "m:parse", "m.parse('1')", tmp_path) == "[1, '1']"


def test_of_another_length(tmp_path: Path) -> None:
    """What is compared with more than is cut off is never so: nothing is told of the name."""
    files = GRAMMAR.replace("{0}", "[getattr(module, k) for k in dir(module) if k[:1] == 'p_']")
    assert answer(files, "m:parse", "m.parse('1')", tmp_path) == "[None, '1']"
