"""Members that a class gets behind its statement: ``Table.join = join``.

As one that its body binds, such a member is there if it is asked for: by an attribute of that
name somewhere in the slice, a text that spells the name, or by who lists what the class has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.values import Class
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Piece, Unit
from depslice.slicer.closure.growth import Growth
from depslice.slicer.closure.overrides import Overrides
from depslice.slicer.pieces import ops_of

_PLAIN: Final = frozenset({s.ATTR, s.FREE, s.FUNCTION, s.GLOBAL, s.LAMBDA, s.SETATTR, s.STRING})

_Keep = Callable[[Module, Piece, str], None]


class AddedMembers:
    """Those of the classes of one slice."""

    def __init__(self, growth: Growth, keep: _Keep) -> None:
        self._growth = growth
        self._keep = keep
        self._overrides = Overrides(growth.program.stubs)
        self._spelled: set[str] = set()
        self._fitting: set[tuple[str, str]] = set()
        self._listed: set[Class] = set()
        # By name, for whom they wait: (classes, module, statement, item that it belongs to).
        self._waiting: dict[str, list[tuple[list[Class], Module, Piece, str]]] = {}

    def waits(self, module: Module, name: str, piece: Piece, item: str) -> bool:
        """Whether ``piece``, which changes the object of ``name``, is not to be kept so far.

        It is kept when it is asked for.
        """
        ops = ops_of(module, piece)
        stored = [op for op in ops if op[0] == s.SETATTR]
        if piece.kind != "assign" or len(stored) != 1 or any(op[0] not in _PLAIN for op in ops):
            return False
        member = stored[0][2]
        classes = list(self._classes_of(module, name, member))
        if not classes or member.startswith("__") or self._is_asked(classes, member):
            return False
        self._waiting.setdefault(member, []).append((classes, module, piece, item))
        return True

    def _classes_of(self, module: Module, name: str, member: str) -> Iterator[Class]:
        """The classes that ``name`` stands for, if no base outside may ask for ``member``."""
        engine = self._growth.engine
        kinds = [engine.values[value] for value in engine.name_values(module, name, None)]
        if all(kind[0] == "C" and not self._may_call(kind[1], member) for kind in kinds):
            yield from (kind[1] for kind in kinds)

    def _may_call(self, class_: Class, member: str) -> bool:
        outside = self._growth.engine.active_bases(class_)
        private = member.startswith("_")
        return bool(outside) and (private or self._overrides.asks_for(outside, member))

    def _is_asked(self, classes: list[Class], member: str) -> bool:
        return (
            member in self._spelled
            or any(
                member.startswith(start) and member.endswith(end) for start, end in self._fitting
            )
            or not self._listed.isdisjoint(classes)
        )

    def spell(self, unit: Unit) -> None:
        """The code of ``unit`` is in the slice: what attributes and texts it spells."""
        for op in unit.ops:
            if op[0] == s.ATTR:
                self._ask_by_name(op[3])
            elif op[0] == s.STRING:
                self._ask_by_name(op[2])

    def _ask_by_name(self, name: str) -> None:
        if name not in self._spelled:
            self._spelled.add(name)
            self._keep_all(self._waiting.pop(name, []))

    def ask_fitting(self, prefix: str, suffix: str) -> None:
        """Some name is asked for that starts and ends so."""
        if (prefix, suffix) not in self._fitting:
            self._fitting.add((prefix, suffix))
            self._look_again()

    def list_of(self, class_: Class) -> None:
        """Somebody asks for all that ``class_`` has."""
        if class_ not in self._listed:
            self._listed.add(class_)
            self._look_again()

    def _look_again(self) -> None:
        for name, waiting in list(self._waiting.items()):
            asked = [each for each in waiting if self._is_asked(each[0], name)]
            self._waiting[name] = [each for each in waiting if each not in asked]
            self._keep_all(asked)

    def _keep_all(self, asked: list[tuple[list[Class], Module, Piece, str]]) -> None:
        for _, module, piece, item in asked:
            self._keep(module, piece, item)
