"""Statements that change a class by a class method of it which goes by another name.

    register = One.register
    register("=", f)
    for put in (One.register, Two.register):
        put("=", f)
    map(One.register, names, functions)
    One().register("=", f)

Where a statement names the class itself, syntax tells; here the engine says of which class a
method is. It is asked about statements that spell such a method, or a name that one goes by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.values import Class, Function
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Piece, Unit
from depslice.slicer.closure.arguments import Arguments
from depslice.slicer.closure.registering import fills_alone

_ROUNDS = 3  # names for names
_HOOKS = frozenset({"__init_subclass__", "__class_getitem__"})
_NAMED = {s.GLOBAL: 2, s.ATTR: 3, s.CLASSVAR: 3, s.STRING: 2}  # where an operation has a name
_KINDS = frozenset({"assign", "class", "def", "expr", "loop", "with"})


@dataclass(slots=True)
class _Search:
    """What has been found for one class: names its methods go by, functions that call them."""

    class_: Class
    methods: frozenset[Function]
    names: set[str]
    callers: set[Function] = field(default_factory=set)


class ByMethods:
    """Answers for one engine."""

    def __init__(self, engine: Engine, arguments: Arguments) -> None:
        self._engine = engine
        self._arguments = arguments
        self._spelling: dict[str, dict[str, list[Unit]]] = {}  # module -> name -> units
        self._methods: dict[tuple[Class, ...], frozenset[Function]] = {}
        self._held: dict[Function, tuple[list[f.Fact], frozenset[tuple[Function, Class]]]] = {}

    def methods_that_change(self, class_: Class) -> frozenset[Function]:
        """The class methods of ``class_`` and of its bases that change the class."""
        order = self._engine.mro(class_)
        found = self._methods.get(order)
        if found is None:
            found = self._methods[order] = frozenset(self._changing(order))
        return found

    def changing(self, modules: Sequence[Module], class_: Class) -> Iterator[tuple[Module, Piece]]:
        """The statements of ``modules`` that change ``class_`` so."""
        methods = self.methods_that_change(class_)
        names = {_own_name(method) for method in methods}
        search = _Search(class_, methods, names)
        for _ in range(_ROUNDS if methods else 0):
            known = len(names), len(search.callers)
            for module in modules:
                for unit in self._that_spell(module, names):
                    self._note_names(module, unit, search)
            if known == (len(names), len(search.callers)):
                break
        for module in modules if methods else ():
            for unit in self._that_spell(module, names):
                piece = module.summary.pieces[unit.piece]
                if unit.kind != "piece" or piece.kind not in _KINDS:
                    continue
                called = self._called(self._engine.function(module, unit.index), search)
                # What `instance = get("x")` puts into the class, others would.
                if called and (piece.kind != "assign" or all(fills_alone(e.unit) for e in called)):
                    yield module, piece

    def _changing(self, order: Iterable[Class]) -> set[Function]:
        methods = [
            self._engine.function(k.module, unit.index)
            for k in order
            for unit in k.module.summary.units
            if unit.owner == k.info.index and unit.flags & s.CLASSMETHOD and unit.params
        ]
        methods = [each for each in methods if _own_name(each) not in _HOOKS]
        found = {
            each for each in methods if self._arguments.changes_parameter(each, 0, defined=True)
        }
        while found:
            calling = {each for each in methods if each not in found and self._calls(each, found)}
            if not calling:
                break
            found |= calling
        return found

    def _calls(self, function: Function, called: set[Function]) -> bool:
        facts = self._engine.facts_of(function)
        return any(fact[0] == f.CALL and fact[1] in called for fact in facts)

    def _note_names(self, module: Module, unit: Unit, search: _Search) -> None:
        """Note the names that a unit gives to such a method, or to what calls one."""
        piece = module.summary.pieces[unit.piece]
        function = self._engine.function(module, unit.index)
        if unit.kind == "piece":
            if piece.kind in ("assign", "loop", "with") and self._holds(function, search):
                search.names.update(piece.binds)
                search.names.update(op[2] for op in unit.ops if op[0] == s.SETATTR)
        elif function not in search.callers and self._called(function, search):
            search.callers.add(function)
            search.names.update(piece.binds)

    def _called(self, function: Function, search: _Search) -> set[Function]:
        """What a unit calls of the methods, on the class itself, and of what calls them.

        And of functions that stand in them, which they give: ``put = One.method("=")``, ``@put``.
        """
        facts = self._engine.facts_of(function)
        called = {fact[1] for fact in facts if fact[0] == f.CALL}
        wanted = search.callers
        held = [c for method, c in self._methods_in(function) if method in search.methods]
        if search.class_ in held:
            wanted = wanted | search.methods
        elif not held:
            wanted = wanted | {each for each in called if self._stands_in(each, search.methods)}
        return called & wanted

    def _stands_in(self, function: Function, methods: frozenset[Function]) -> bool:
        parent = function.unit.parent
        while parent >= 0:
            outer = self._engine.function(function.module, parent)
            if outer in methods:
                return True
            parent = outer.unit.parent
        return False

    def _holds(self, function: Function, search: _Search) -> bool:
        """Whether a unit has one of the methods, of that class, in hand."""
        return any(
            class_ is search.class_ and method in search.methods
            for method, class_ in self._methods_in(function)
        )

    def _methods_in(self, function: Function) -> frozenset[tuple[Function, Class]]:
        """The methods of classes that a unit has in its registers, be it in partials."""
        facts = self._engine.facts_of(function)
        known = self._held.get(function)
        if known is None or known[0] is not facts:
            values = {value for register in function.registers for value in register}
            known = self._held[function] = facts, frozenset(self._bound(values))
        return known[1]

    def _bound(self, values: Iterable[int]) -> Iterator[tuple[Function, Class]]:
        for kind in map(self._engine.values.__getitem__, values):
            if kind[0] == "B":
                receiver = self._engine.values[kind[2]]
                if receiver[0] == "C":
                    yield kind[1], receiver[1]
            elif kind[0] == "PT":
                yield from self._bound(kind[1])

    def _that_spell(self, module: Module, names: Iterable[str]) -> list[Unit]:
        """The statements, lambdas and functions of ``module`` whose code has one of ``names``.

        Functions that spell a method are found by the name of the class.
        """
        by_name = self._spelling.get(module.name)
        if by_name is None:
            by_name = self._spelling[module.name] = {}
            for unit in module.summary.units:
                where = (s.GLOBAL,) if unit.kind == "function" else _NAMED
                for name in {op[_NAMED[op[0]]] for op in unit.ops if op[0] in where}:
                    by_name.setdefault(name, []).append(unit)
        found = {unit.index: unit for name in names for unit in by_name.get(name, ())}
        return [found[index] for index in sorted(found)]


def _own_name(method: Function) -> str:
    return method.unit.qualname.rpartition(".")[2]
