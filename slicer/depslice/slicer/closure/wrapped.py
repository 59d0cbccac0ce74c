"""Functions that are called by what a decorator made of them.

After ``@locked def register(name, function): …`` everybody calls the wrapper, which calls
whatever it was made for: that a statement calls it tells nothing. That it names ``register``
does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, TypeAlias

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.parts import reads
from depslice.callgraph.engine.values import Function
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Piece, Unit

_READING: Final = {s.GLOBAL: 2, s.CLASSVAR: 3}  # where an operation has the name that it reads

_Statements: TypeAlias = Collection[tuple[Module, Piece]]


class Wrapped:
    """Answers for one engine; ``called_by`` gives the functions that a call of a value runs."""

    def __init__(
        self, engine: Engine, called_by: Callable[[int], Iterable[tuple[Function, Any, Any]]]
    ) -> None:
        self._engine = engine
        self._called_by = called_by
        # Statements that bind what was made of a function: its facts, and who is called then.
        self._made: dict[Function, tuple[list[f.Fact], frozenset[Function]]] = {}
        self.by_wrapper: dict[Function, set[Function]] = {}
        """What wrappers run, of the functions whose names have been asked for."""
        self.known = 0
        """How much that is: it only grows."""
        # By module and name: the statements that bind it and may wrap something.
        self._wrapping: dict[tuple[str, str], list[tuple[Module, Piece]]] = {}
        self._handed: dict[str, dict[str, list[Piece]]] = {}  # module -> name -> assignments

    def names(self, function: Function) -> Iterable[str]:
        """The names that stand for what a decorator, or another function, made of ``function``.

        ``@locked def register``, ``register = locked(_register)``.
        """
        if function.unit.parent >= 0 or function.unit.kind != "function":
            return ()
        found: set[str] = set()
        for piece in self._binding(function):
            made = self._wrappers(function.module, piece) - {function}
            wrappers = [each for each in made if _calls_what_it_has(each.module, each.unit)]
            for wrapper in wrappers:
                run = self.by_wrapper.setdefault(wrapper, set())
                self.known += function not in run
                run.add(function)
            if wrappers:
                found.update(piece.binds)
        return found

    def met(
        self,
        facts: Iterable[f.Fact],
        called: Iterable[Function],
        functions: AbstractSet[Function],
    ) -> Iterator[Function]:
        """Which of the ``called`` are run for one of ``functions``, by the ``facts`` of the caller.

        Of functions whose names have been asked for. Where no name tells for which, for any.
        """
        named: _Statements | None = None
        for wrapper in called if self.by_wrapper else ():
            run = self.by_wrapper.get(wrapper)
            if run is None or functions.isdisjoint(run):
                continue
            if named is None:
                named = self._named_in(facts)
            meant = set(self._meant(wrapper, named))
            if not meant or not functions.isdisjoint(meant):
                yield wrapper

    def behind(self, wrapper: Function, facts: Iterable[f.Fact]) -> Iterator[Function]:
        """What a call that runs ``wrapper`` is meant for, by the ``facts`` of its place."""
        yield from self._meant(wrapper, self._named_in(facts))

    def _meant(self, wrapper: Function, named: _Statements) -> Iterator[Function]:
        """What one of the statements ``named`` makes ``wrapper`` of."""
        if wrapper.unit.parent < 0 and wrapper.unit.owner < 0:
            return  # a function that stands for itself
        for module, piece in named:
            if wrapper in self._wrappers(module, piece):
                yield from self._made_of(module, piece) - {wrapper}

    def _named_in(self, facts: Iterable[f.Fact]) -> _Statements:
        """The statements that bind what is named in ``facts``, of those that may wrap something."""
        found: dict[tuple[str, int], tuple[Module, Piece]] = {}
        for fact in facts:
            if fact[0] == f.NAME:
                for module, piece in self._wrapping_name(fact[1], fact[2]):
                    found[module.name, piece.index] = module, piece
            elif fact[0] == f.MEMBER:
                module = fact[1].module
                for index in fact[1].info.members.get(fact[2], ()):
                    piece = module.summary.pieces[index]
                    if _may_wrap(module, piece):
                        found[module.name, index] = module, piece
        return found.values()

    def _wrapping_name(self, module: str, name: str) -> Sequence[tuple[Module, Piece]]:
        """The statements that bind a name of a module, of those that may wrap something."""
        found = self._wrapping.get((module, name))
        if found is None:
            source = self._engine.program.module(module)
            bound = () if source is None else self._binding_name(source, name, set())
            found = [each for each in bound if _may_wrap(*each)]
            self._wrapping[module, name] = found
        return found

    def _binding_name(
        self, module: Module, name: str, seen: set[tuple[str, str]]
    ) -> Iterator[tuple[Module, Piece]]:
        """The statements that bind a name of ``module``, be it in the module it comes from."""
        if (module.name, name) in seen:
            return
        seen.add((module.name, name))
        program = self._engine.program
        for index in module.summary.scope.get(name, ()):
            piece = module.summary.pieces[index]
            yield module, piece
            for alias, level, target, item in piece.imports:
                if alias == name and item is not None:
                    source = program.module(program.import_target(module, level, target))
                    if source is not None:
                        yield from self._binding_name(source, item, seen)
        for source, _ in program.star_sources(module, name):
            yield from self._binding_name(source, name, seen)

    def _made_of(self, module: Module, piece: Piece) -> set[Function]:
        """The functions that a statement decorates, or hands to what it calls."""
        statement = self._engine.function(module, piece.unit)
        self._engine.facts_of(statement)
        found: set[Function] = set()
        for op in statement.unit.ops:
            if op[0] == s.FUNCTION:
                found.add(self._engine.function(module, op[2]))
            elif op[0] == s.CALL:
                for register in reads(op)[1:]:
                    kinds = [self._engine.values[each] for each in statement.registers[register]]
                    found.update(kind[1] for kind in kinds if kind[0] == "F")
        return found

    def _binding(self, function: Function) -> Iterator[Piece]:
        """The statements that bind what something makes of ``function``."""
        module = function.module
        own = module.summary.pieces[function.unit.piece] if function.unit.piece >= 0 else None
        if own is not None and own.kind == "def" and function.unit.flags & s.DECORATED:
            yield own
        yield from self._handed_in(module).get(function.unit.qualname.rpartition(".")[2], ())

    def _handed_in(self, module: Module) -> dict[str, list[Piece]]:
        """By names that a module reads: the assignments of what a call with that name gives."""
        found = self._handed.get(module.name)
        if found is None:
            found = self._handed[module.name] = {}
            for piece in module.summary.pieces:
                if piece.kind == "assign" and piece.unit >= 0 and piece.binds:
                    ops = module.summary.units[piece.unit].ops
                    named = {op[1]: op[_READING[op[0]]] for op in ops if op[0] in _READING}
                    given = {
                        named[register]
                        for op in ops
                        if op[0] == s.CALL
                        for register in reads(op)[1:]
                        if register in named
                    }
                    for name in sorted(given):
                        found.setdefault(name, []).append(piece)
        return found

    def _wrappers(self, module: Module, piece: Piece) -> frozenset[Function]:
        """The functions that run when somebody calls what ``piece`` binds."""
        engine = self._engine
        statement = engine.function(module, piece.unit)
        facts = engine.facts_of(statement)
        known = self._made.get(statement)
        if known is None or known[0] is not facts:
            bound = {op[2] for op in statement.unit.ops if op[0] == s.BIND}
            called = {
                function
                for register in bound
                for value in statement.registers[register]
                for function, _, _ in self._called_by(value)
            }
            known = self._made[statement] = facts, frozenset(called)
        return known[1]


def _may_wrap(module: Module, piece: Piece) -> bool:
    """Whether a statement makes something of a function: it calls something, be it a decorator."""
    return piece.unit >= 0 and any(
        op[0] in (s.CALL, s.DECORATE) for op in module.summary.units[piece.unit].ops
    )


def _calls_what_it_has(module: Module, unit: Unit) -> bool:
    """Whether code calls something that it does not name: of a closure, an instance, an argument.

    Or a function does that it defines. ``def __call__(self, function): self.function = function;
    return self`` wraps nothing by that.
    """
    named = {op[1] for op in unit.ops if op[0] in (s.GLOBAL, s.CLASSVAR)}
    named |= {op[1] for op in unit.ops if op[0] == s.ATTR and op[2] in named}
    return any(
        (op[0] == s.CALL and op[2] not in named)
        or (
            op[0] in (s.FUNCTION, s.LAMBDA)
            and _calls_what_it_has(module, module.summary.units[op[2]])
        )
        for op in unit.ops
    )
