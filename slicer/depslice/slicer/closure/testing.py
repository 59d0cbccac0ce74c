"""What code that goes through all that a module has looks for: ``issubclass(each, Plugin)``.

``for each in globals().values()``, ``inspect.getmembers(module)``: no name tells what is read.
What each is tested for does: a base class, a kind of object, a mark that a decorator leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.values import OPEN, Class, Function, Value
from depslice.callgraph.program import Module
from depslice.slicer.closure.growth import Followed, Growth
from depslice.slicer.pieces import enclosing_pieces

Test: TypeAlias = tuple[str, Class | str | None]
"""A function that tests, and the class that it tests for, or the attribute."""

_OF_CLASS: Final = {"builtins.issubclass": "C", "builtins.isinstance": "I"}
_MARKED: Final = frozenset({"builtins.getattr", "builtins.hasattr"})
_FUNCTIONS: Final = frozenset({"B", "CM", "F", "PT", "SM", "W"})
_KINDS: Final = {
    "builtins.callable": _FUNCTIONS | {"C"},
    "inspect.isclass": frozenset({"C"}),
    "inspect.iscoroutinefunction": _FUNCTIONS,
    "inspect.isfunction": _FUNCTIONS,
    "inspect.isgeneratorfunction": _FUNCTIONS,
    "inspect.isroutine": _FUNCTIONS,
}
_OF_NAMES: Final = frozenset({"endswith", "startswith"})
"""Tests of names by which a loop of a module tells: in a function the engine knows the names."""
_OF_CLASSES: Final = frozenset({"builtins.callable", "inspect.isclass"})
"""What says no more of something that is tested for a class, too."""
_GIVEN: Final = 2  # arguments that a test for something has
_UPPER: Final = "isupper"
_INITIAL: Final = "istitle"  # of the first letter: `name[0].isupper()`
_PUBLIC: Final = "isidentifier"
_OF_SPELLING: Final[dict[str, Callable[[str], bool]]] = {
    _UPPER: str.isupper,
    _INITIAL: lambda name: name[:1].isupper(),
    _PUBLIC: lambda name: not name.startswith("_"),
}
"""Tests of names that no text tells. That of names without an underscore says least of all."""
_TAKING: Final = frozenset({"getattr", "getmembers", "items", "values"})
"""Where code has what a module has under names, not the names alone."""


class Tests:
    """Answers for one slice."""

    def __init__(self, growth: Growth) -> None:
        self._growth = growth
        self._engine = growth.engine

    def made_by(self, at: Followed) -> tuple[Test, ...]:
        """The tests that code makes of what nobody knows, those in the body of a loop included.

        What computes ``__all__`` lists what there is, and needs nothing of it.
        """
        if at.function.unit.kind == "piece" and "__all__" in at.piece.binds:
            return ()
        found = dict.fromkeys(self._made_in(at.function))
        found |= dict.fromkeys(_of_spelling(at.function))
        if at.function.unit.kind == "piece":
            for piece in at.module.summary.pieces:
                if piece.unit >= 0 and at.piece in enclosing_pieces(at.module, piece):
                    within = self._engine.function(at.module, piece.unit)
                    found |= dict.fromkeys(self._made_in(within))
                    found |= dict.fromkeys(_of_names(within))
                    found |= dict.fromkeys(_of_spelling(within))
        if any(name != _PUBLIC for name, _ in found):
            found.pop((_PUBLIC, None), None)
        if any(name in _OF_CLASS for name, _ in found):
            return tuple(test for test in found if test[0] not in _OF_CLASSES)
        return tuple(found)

    def passing(self, module: Module, tests: Iterable[Test]) -> Iterator[str]:
        """The names of ``module`` for what may pass one of ``tests``."""
        engine = self._engine
        for name in self._growth.program.names_in(module):
            kinds = [engine.values[each] for each in engine.module_member(module, name)]
            if any(
                _is_spelled(name, test) or any(self._passes(kind, test) for kind in kinds)
                for test in tests
            ):
                yield name

    def _made_in(self, function: Function) -> Iterator[Test]:
        engine = self._engine
        facts = engine.facts_of(function)
        texts = {op[1]: op[2] for op in function.unit.ops if op[0] == s.STRING}
        for fact in facts:
            if fact[0] == f.EXTERNAL and fact[1] in _KINDS:
                yield fact[1], None
        for op in function.unit.ops:
            if op[0] != s.CALL or len(op[3]) < _GIVEN or not self._is_open(function, op[3][0]):
                continue
            called = [engine.values[each] for each in function.registers[op[2]]]
            for dotted in [kind[1] for kind in called if kind[0] == "X"]:
                if dotted in _OF_CLASS:
                    given = function.registers[op[3][1]]
                    held = (engine.read(engine.elements_cell(each)) for each in given)
                    for class_ in engine.classes_in(given.union(*held)):
                        yield dotted, class_
                elif dotted in _MARKED and op[3][1] in texts:
                    yield dotted, texts[op[3][1]]

    def _is_open(self, function: Function, register: int) -> bool:
        """Whether nobody knows what is in a register, but what a test before has shown."""
        tags = {self._engine.values[each][0] for each in function.registers[register]}
        return not tags.isdisjoint(OPEN) or "XI" in tags

    def _passes(self, kind: Value, test: Test) -> bool:
        name, wanted = test
        if name in _OF_NAMES or name in _OF_SPELLING:
            return False
        if kind[0] in OPEN:
            return True
        if isinstance(wanted, Class):
            return kind[0] == _OF_CLASS[name] and wanted in self._engine.mro(kind[1])
        if wanted is None:
            return kind[0] in _KINDS[name]
        if kind[0] in ("C", "I"):
            return self._engine.find_member(kind[1], wanted) is not None or any(
                wanted in each.info.self_stores for each in self._engine.mro(kind[1])
            )
        return kind[0] == "F" and self._may_be_marked(kind[1])

    def _may_be_marked(self, function: Function) -> bool:
        """Whether a decorator, or a statement, may have stored something on a function."""
        unit = function.unit
        return (
            bool(unit.flags & s.DECORATED)
            or unit.parent >= 0
            or unit.qualname in function.module.summary.mutations
        )


def _of_names(function: Function) -> Iterator[Test]:
    """The tests that code makes of names: of how they start, not whether with an underscore."""
    ops = function.unit.ops
    texts = {op[1]: op[2] for op in ops if op[0] == s.STRING}
    tested = {op[1]: op[3] for op in ops if op[0] == s.ATTR and op[3] in _OF_NAMES}
    for op in ops:
        if op[0] == s.CALL and op[2] in tested and len(op[3]) == 1:
            text = texts.get(op[3][0], "")
            if text.strip("_"):
                yield tested[op[2]], text


def _of_spelling(function: Function) -> Iterator[Test]:
    """The tests that code makes of how names are spelled: ``isupper()``, ``not startswith("_")``.

    The latter only where it takes what is behind those names, and does not hand it on under them
    (``setattr(self, name, …)``): who reads it then has the name.
    """
    ops = function.unit.ops
    texts = {op[1]: op[2] for op in ops if op[0] == s.STRING}
    parts = {op[1] for op in ops if op[0] == s.SUB}
    asked: dict[int, tuple[int, str]] = {}
    named: set[str] = set()
    for op in ops:
        code = op[0]
        if code == s.ATTR:
            asked[op[1]] = op[2], op[3]
            named.add(op[3])
        elif code == s.GLOBAL:
            named.add(op[2])
        elif code == s.CALL and op[2] in asked:
            receiver, name = asked[op[2]]
            if name == _UPPER and not op[3]:
                yield (_INITIAL if receiver in parts else _UPPER), None
    underscores = any(text and not text.strip("_") for text in texts.values())
    if underscores and not named.isdisjoint(_TAKING) and "setattr" not in named:
        yield _PUBLIC, None


def _is_spelled(name: str, test: Test) -> bool:
    """Whether ``name`` passes a test of names."""
    how, text = test
    if how in _OF_SPELLING:
        return _OF_SPELLING[how](name)
    return how in _OF_NAMES and bool(getattr(name, how)(text))
