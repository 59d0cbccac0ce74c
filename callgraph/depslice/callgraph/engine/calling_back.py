"""What code outside calls of an object of the repo: what it overrides, what a protocol declares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.library import DICTS
from depslice.callgraph.engine.passing import FunctionCalls
from depslice.callgraph.engine.structural import chosen
from depslice.callgraph.engine.values import EMPTY, Class, Values
from depslice.callgraph.stubs.called_back import MAKE
from depslice.callgraph.summary import Position

_TEST_CASE: Final = "unittest.TestCase"


class CallingBack(FunctionCalls):
    """Calls that are made where no code of the repo is seen."""

    def call_back(
        self, number: int, name: str, pos: Position, *, written: bool, call: Call | None = None
    ) -> bool:
        """What a method that an object has from a base outside calls of what its class overrides.

        ``written``: the call is there to be read, no operator. ``call``: what it was called with,
        of which a collection passes on what is to be added. Whether the base is one whose methods
        are known.
        """
        rule = "called-by-base" if written else "asked-by-base"
        _, class_, exact = self.values[number]
        asked = self.outside.asked_by(class_, name)
        for each in asked.own:
            if each == MAKE:
                made = self.single(("C", class_, exact))
                self.call(made, [], {}, pos, rule=rule, external=True)
            else:
                given = () if call is None else self._passed_on(name, each, call)
                self._call_back_method(self.only(number), each, pos, rule, given)
        if not exact and class_.subclasses:
            for each in asked.others:
                self.facts.append((f.MEMBER, class_, each, pos, True, "call", False))
        return asked.known

    def _passed_on(self, name: str, asked: str, call: Call) -> Sequence[Values]:
        """What ``name``, a method of a collection, gives ``asked``, which adds to it.

        By the abstract base classes: ``append`` and ``extend`` call ``insert``, ``update`` and
        ``setdefault`` call ``__setitem__``, ``|=`` calls ``add``.
        """
        last = call.args[-1] if call.args else EMPTY
        if asked == "insert" and name == "append":
            return [self.constants[s.INT], last]
        if asked == "insert" and name in ("extend", "__iadd__"):
            return [self.constants[s.INT], self.iterate(last, call.pos, is_async=False)]
        if asked == "add" and name == "__ior__":
            return [self.iterate(last, call.pos, is_async=False)]
        if asked == "__setitem__" and name == "setdefault":
            return [call.args[0], last] if len(call.args) > 1 else ()
        if asked == "__setitem__" and name in ("update", "__init__", "__ior__"):
            return self._entries_given(call)
        return ()

    def _entries_given(self, call: Call) -> Sequence[Values]:
        """The keys and values of ``update(…)``: of a mapping, of pairs, of keywords."""
        keys = self.constants[s.STR] if call.keywords else EMPTY
        held: Values = EMPTY.union(*call.keywords.values())
        for value in call.args[0] if call.args else EMPTY:
            kind = self.values[value]
            given = self.iterate(self.only(value), call.pos, is_async=False)
            if kind[0] == "K" and kind[1] in DICTS:
                names, loose = self.names_of(self.only(value))
                keys, held = keys | given, held.union(loose, *names.values())
            elif kind[0] == "K":
                keys = keys | self.unpack_item(given, 0, call.pos)
                held = held | self.unpack_item(given, 1, call.pos)
            elif kind[0] == "I":
                keys, held = keys | given, held | self.entries_of(self.only(value), call.pos)
        return [keys, held]

    def call_back_methods(
        self, number: int, protocols: Sequence[Sequence[str]], pos: Position
    ) -> None:
        """Code outside uses an object of the repo as one of ``protocols`` (PEP 544)."""
        _, class_, exact = self.values[number]
        called = set(chosen(protocols, partial(self.answers, class_)))
        for name in sorted(called):
            self._call_back_method(self.only(number), name, pos, "callback")
        if not self.whole and any("__getitem__" in methods for methods in protocols):
            self.ask_missing(number, pos)
        if not exact:  # a subclass may have the others
            for name in sorted({each for methods in protocols for each in methods} - called):
                self.facts.append((f.MEMBER, class_, name, pos, True, "call", False))

    def hand_to_base(self, number: int, names: Sequence[str], pos: Position) -> None:
        """An object, or a class to make one of, is handed to code that knows its base.

        ``names`` are what its class overrides: any of it may be called, some time. A test case
        is handed over to be run.
        """
        receivers: Values = self.only(number)
        rule = "called-by-base" if self._is_test_case(self.values[number][1]) else "handed"
        if self.values[number][0] == "C":
            receivers = self.call(receivers, [], {}, pos, rule=rule, external=True)
        for name in names:
            self._call_back_method(receivers, name, pos, rule)
        if rule != "handed":
            self.call_kept_by(f"{_TEST_CASE}.addCleanup", pos)

    def iterate(self, values: Values, pos: Position, *, is_async: bool) -> Values:
        """Implemented by the protocol part."""
        raise NotImplementedError

    def entries_of(self, values: Values, pos: Position) -> Values:
        """Implemented by the protocol part."""
        raise NotImplementedError

    def names_of(self, values: Values) -> tuple[dict[str, Values], Values]:
        """Implemented by the call part."""
        raise NotImplementedError

    def unpack_item(self, values: Values, index: int, pos: Position) -> Values:
        """Implemented by the container part."""
        raise NotImplementedError

    def call_kept_by(self, method: str, pos: Position) -> None:
        """Implemented by the part for calls of code outside."""
        raise NotImplementedError

    def run_tests(self, classes: Iterable[Class], pos: Position) -> None:
        """``unittest.main()`` runs those of ``classes`` that are test cases."""
        base = self.outside.stubs.class_named(_TEST_CASE)
        if base is None:
            return
        for class_ in classes:
            if self._is_test_case(class_):
                names = self.outside.overridden.all_of(class_, [base])
                self.hand_to_base(self.intern(("C", class_, True)), names, pos)

    def _is_test_case(self, class_: Class) -> bool:
        bases = [base for base, _ in self.outside.types.outer_bases(class_)]
        return any(
            each.dotted == _TEST_CASE for base in bases for each in self.outside.stubs.mro(base)
        )

    def _call_back_method(
        self,
        instance: Values,
        name: str,
        pos: Position,
        rule: str,
        given: Sequence[Values] = (),
    ) -> None:
        found = self.load_attribute(instance, name, pos)
        made = self.call(found, given, {}, pos, rule=rule, external=True)
        self.note_handed((made,), pos)
