"""A loop that applies operations to what the one before gave: values of values of values."""

from __future__ import annotations

from pathlib import Path

from check import answer
from depslice.callgraph import find_symbol, open_program
from depslice.slicer.slicing import engine_of, slice_symbols

OPERATIONS = ("+", "-", "*", "//", "%", "**", "&", "|", "^", "<<", ">>")
BRANCHES = "\n".join(
    f'        elif operation == "{each}":\n            current = current {each} argument'
    for each in OPERATIONS
)
FILES = """
# --- m.py
class Number:
    def __init__(self, value):
        self.value = value

    def __xor__(self, other):
        return Number(self.value ^ other.value)


def evaluate(current, operations):
    for operation, argument in operations:
        if operation == ".":
            current = getattr(current, argument)
        elif operation == "[":
            current = current[argument]
        elif operation == "(":
            current = current(*argument)
        elif operation == "m":
            current = current.made(argument)
BRANCHES
    return current


def run():
    return evaluate(Number(5), [("^", Number(1)), (".", "value")])
""".replace("BRANCHES", BRANCHES)


def test_what_operations_give_does_not_multiply_without_end(tmp_path: Path) -> None:
    assert answer(FILES, "m:run", "m.run()", tmp_path) == "4"
    program = open_program(tmp_path / "repo", cache=None)
    target = find_symbol(program, "m:evaluate")
    slice_symbols(program, [target.id])
    engine = engine_of(program)
    module = program.module("m")
    assert module is not None
    [unit] = [
        each
        for each in module.summary.units
        if each.kind == "function" and each.qualname == "evaluate"
    ]
    registers = engine.function(module, unit.index).registers
    assert max(map(len, registers)) < 200
