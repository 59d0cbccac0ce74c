"""What analysis cannot tell, in the words of the code, and once for each place.

Facts say where something is unknown, not what stands there: summaries keep no texts, and names
of local variables are gone from them. So what a place asks for is read of its operations, and
where these begin with a local variable, of the line of source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.errors import SourceChanged
from depslice.callgraph.model import Unresolved
from depslice.callgraph.program import Module, Program

UNNAMED: Final = "…"
"""The name of what only its place tells."""
_CALLEE: Final = "unknown-callee"
_SPELT: Final = frozenset({s.GLOBAL, s.FREE, s.CLASSVAR, s.SUPER, s.ATTR, s.SUB, s.CALL})
"""Operations whose result the code has words for."""
_TAILS: Final = {s.ATTR: ".", s.SUB: "[…]", s.CALL: "(…)"}
"""What stands behind what such an operation is made of."""
_OF_NAMES: Final = {s.ATTR: (2, 3), s.SETATTR: (1, 2), s.DELETE_ATTR: (1, 2)}
"""Where operations have an object, and the name that they ask it for."""
_OWNERS: Final = re.compile(r"(?:[^\W\d]\w*\.)+$")
_LONGEST: Final = 60


class Words:
    """The words of the code of one program, for what analysis cannot tell."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._lines: dict[str, list[str]] = {}  # by module
        self._places: dict[tuple[str, int], _Places] = {}  # by module and unit

    def named(self, gap: Unresolved, holding: Sequence[tuple[Module, s.Unit]]) -> Unresolved:
        """``gap`` by what stands at its place, which is in one of the units ``holding``."""
        line, column = gap.site.line, gap.site.column
        spelled = (self._spelled(*each, s.pack(line, column)) for each in holding)
        name = next((each for each in spelled if each != UNNAMED), UNNAMED)
        if name.startswith(UNNAMED) and holding:
            lines = self._lines_of(holding[0][0])
            if line <= len(lines):
                name = completed(name, lines[line - 1], column)
        return replace(gap, name=name)

    def _spelled(self, module: Module, unit: s.Unit, pos: int) -> str:
        key = module.name, unit.index
        if key not in self._places:
            self._places[key] = _Places(unit)
        return self._places[key].spelled_at(pos)

    def _lines_of(self, module: Module) -> list[str]:
        lines = self._lines.get(module.name)
        if lines is None:
            try:
                lines = self._program.text(module).split("\n")
            except SourceChanged:  # what was read is told
                lines = []
            self._lines[module.name] = lines
        return lines


class _Places:
    """What stands where in one unit."""

    def __init__(self, unit: s.Unit) -> None:
        self._unit = unit
        self._made = {op[1]: op for op in unit.ops if op[0] in _SPELT}
        # The last one: in `made(1)()` both calls have one place, and if the first is not known,
        # neither is the other.
        self._called = {op[-1]: op for op in unit.ops if op[0] in (s.CALL, s.DECORATE)}
        self._asked = {op[-1]: op for op in unit.ops if op[0] in _OF_NAMES}

    def spelled_at(self, pos: int) -> str:
        """What is called or read at a place: ``table[…]``, ``made(…).run``.

        As far as operations tell: a local variable is ``…``, and so is all that has no name.
        """
        called, asked = self._called.get(pos), self._asked.get(pos)
        if called is not None:
            return self._spelling(called[2])
        if asked is not None:
            owner, name = _OF_NAMES[asked[0]]
            return f"{self._spelling(asked[owner])}.{asked[name]}"
        return UNNAMED

    def _spelling(self, register: int) -> str:
        tails: list[str] = []
        while True:
            op = self._made.get(register)
            if op is None or op[0] not in _TAILS:
                return "".join((self._root(register, op), *reversed(tails)))
            tails.append(f".{op[3]}" if op[0] == s.ATTR else _TAILS[op[0]])
            register = op[2]

    def _root(self, register: int, op: s.Op | None) -> str:
        if op is None:
            params = self._unit.params
            return params[register][0] if 0 <= register < len(params) else UNNAMED
        if op[0] == s.GLOBAL:
            return str(op[2])
        return "super()" if op[0] == s.SUPER else str(op[3])


def completed(name: str, line: str, column: int) -> str:
    """A name that begins with a local variable, with the words of its ``line`` of source.

    ``column`` counts the bytes in front of the place, which is that of an attribute where
    one is asked for, else where the expression begins.
    """
    if not name.startswith(UNNAMED):
        return name
    data = line.encode()
    before, text = data[:column].decode(errors="replace"), data[column:].decode(errors="replace")
    last = name.rpartition(".")[2]
    owners = _OWNERS.search(before)
    if owners is not None and last != UNNAMED and text.startswith(last):
        return f"{owners.group()}{last}"
    return _expression(text) or name


def _expression(text: str) -> str:
    """Source up to where brackets around it end, or the next argument or block begins."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0 or (depth == 0 and letter in ",:;#"):
            text = text[:place]
            break
    text = text.strip()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def once_each(found: Iterable[Unresolved]) -> dict[Unresolved, None]:
    """Without the calls of what is unknown for another reason, which is said of that place."""
    every = dict.fromkeys(found)
    said = {(each.source, each.site) for each in every if each.reason != _CALLEE}
    return {
        each: None
        for each in every
        if each.reason != _CALLEE or (each.source, each.site) not in said
    }
