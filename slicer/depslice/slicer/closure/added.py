"""Members that a class gets behind its statement: ``Table.join = join``.

As one that its body binds, such a member is there if it is asked for. Who asks for members of a
body is found by the engine, which does not know these; so they wait only where the slice does not
spell their name in any way, has no computed names, and where no code outside may ask for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.values import Class
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Piece, Unit
from depslice.slicer.closure.growth import Growth
from depslice.slicer.closure.overrides import Overrides
from depslice.slicer.pieces import ops_of

_PLAIN: Final = frozenset({s.ATTR, s.FREE, s.FUNCTION, s.GLOBAL, s.LAMBDA, s.SETATTR, s.STRING})
_NAMED: Final = {s.FREE: 3, s.GLOBAL: 2, s.SETGLOBAL: 1}
"""Where operations have the name of a variable."""
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*")
_LONGEST: Final = 10_000  # texts in which nobody spells names of members
_LISTING: Final = frozenset(
    {
        *("__annotations__", "__dict__", "__mro__", "dir", "locals", "vars"),
        *("classify_class_attrs", "getmembers", "getmembers_static"),
        *("Mock", "MagicMock", "NonCallableMock", "create_autospec", "dataclass"),
    }
)
"""What gives, or takes, all members of a class at once."""
_ASKED_OUTSIDE: Final = frozenset(
    {
        # files
        *("close", "closed", "encoding", "errors", "fileno", "flush", "getvalue", "isatty"),
        *("mode", "newlines", "read", "readable", "readinto", "readline", "readlines", "seek"),
        *("seekable", "tell", "truncate", "writable", "write", "writelines", "buffer"),
        # containers
        *("add", "append", "clear", "copy", "count", "discard", "extend", "get", "index", "insert"),
        *("items", "keys", "pop", "popitem", "remove", "reverse", "setdefault", "sort", "update"),
        *("values", "isdisjoint"),
        # generators, futures, locks, queues, threads
        *("acquire", "cancel", "done", "exception", "get_nowait", "locked", "notify"),
        *("put", "put_nowait", "release", "result", "run", "send", "start", "stop", "throw"),
        *("wait", "aclose", "asend", "athrow"),
        # logging, encoders, time zones, imports, numbers
        *("emit", "filter", "format", "formatException", "formatTime", "handle"),
        *("decode", "default", "encode", "feed", "object_hook"),
        *("dst", "fromutc", "tzname", "utcoffset"),
        *("create_module", "exec_module", "find_module", "find_spec", "get_code", "get_source"),
        *("is_package", "load_module"),
        *("conjugate", "denominator", "imag", "numerator", "real", "mro"),
    }
)
"""Names by which code outside asks objects of any class for something."""

_Keep = Callable[[Module, Piece, str], None]
_Waiting = tuple[list[Class], Callable[[], None]]


class AddedMembers:
    """Those of the classes of one slice."""

    def __init__(self, growth: Growth, keep: _Keep) -> None:
        self._growth = growth
        self._keep = keep
        self._overrides = Overrides(growth.program.stubs)
        self._all_are_asked = growth.whole_classes
        self._spelled: set[str] = set()
        # By name, for whom they wait, and what keeps them.
        self._waiting: dict[str, list[_Waiting]] = {}

    def waits(self, module: Module, name: str, piece: Piece, item: str) -> bool:
        """Whether ``piece``, which changes the object of ``name``, is not to be kept so far.

        It is kept when it is asked for.
        """
        ops = ops_of(module, piece)
        stored = [op for op in ops if op[0] == s.SETATTR]
        if piece.kind != "assign" or len(stored) != 1 or any(op[0] not in _PLAIN for op in ops):
            return False
        member = stored[0][2]
        classes = list(self._classes_of(module, name))
        if (
            self._all_are_asked
            or not classes
            or member.startswith("_")
            or member in _ASKED_OUTSIDE
            or member in self._spelled
            or any(self._may_call(each, member) for each in classes)
        ):
            return False
        waiting = classes, partial(self._keep, module, piece, item)
        self._waiting.setdefault(member, []).append(waiting)
        return True

    def when_asked(self, class_: Class, member: str, keep: Callable[[], None]) -> None:
        """Have something kept as soon as somebody asks for that member of ``class_``."""
        if self._all_are_asked or member in self._spelled or self._may_call(class_, member):
            keep()
        else:
            self._waiting.setdefault(member, []).append(([class_], keep))

    def _classes_of(self, module: Module, name: str) -> Iterator[Class]:
        """The classes that ``name`` stands for, if it stands for nothing else."""
        engine = self._growth.engine
        kinds = [engine.values[value] for value in engine.name_values(module, name, None)]
        if all(kind[0] == "C" for kind in kinds):
            yield from (kind[1] for kind in kinds)

    def _may_call(self, class_: Class, member: str) -> bool:
        """Whether a base outside, of the class or of one below, may ask for ``member``."""
        engine = self._growth.engine
        return any(
            self._overrides.asks_for(engine.active_bases(each), member)
            for each in (class_, *class_.below())
        )

    def spell(self, unit: Unit) -> None:
        """The code of ``unit`` is in the slice: what names it spells, in whatever way."""
        if self._all_are_asked:
            return
        named = {op[_NAMED[op[0]]] for op in unit.ops if op[0] in _NAMED}
        if not named.isdisjoint(_LISTING):
            self.ask_all()
        spelling = [op for op in unit.ops if op[0] not in _NAMED]
        if unit.owner < 0:  # what a class body binds is a member, as those of protocols
            spelling = [op for op in spelling if op[0] != s.BIND]
        for text in _texts(spelling):
            if text in self._spelled or len(text) > _LONGEST:
                continue
            self._spelled.add(text)
            for name in _IDENTIFIER.findall(text):
                for each in (name, name.lower(), name.upper()):
                    self._ask_by_name(each)

    def _ask_by_name(self, name: str) -> None:
        if name in _LISTING:
            self.ask_all()
            return
        self._spelled.add(name)
        self._keep_all(self._waiting.pop(name, []))

    def ask(self, name: str) -> None:
        """Somebody asks for a member of that name."""
        if name not in self._spelled:
            self._ask_by_name(name)

    def ask_all(self) -> None:
        """Somebody asks for members by names that are not known, or for all of them."""
        self._all_are_asked = True
        waiting, self._waiting = self._waiting, {}
        for each in waiting.values():
            self._keep_all(each)

    def meet(self, class_: Class) -> None:
        """``class_`` is live: its bases outside may ask for what the others have got."""
        engine = self._growth.engine
        outside = engine.active_bases(class_) if self._waiting else ()
        order = engine.mro(class_) if outside else ()
        for name in [each for each in self._waiting if self._overrides.asks_for(outside, each)]:
            asked = [each for each in self._waiting[name] if not set(order).isdisjoint(each[0])]
            self._waiting[name] = [each for each in self._waiting[name] if each not in asked]
            self._keep_all(asked)

    def _keep_all(self, asked: list[_Waiting]) -> None:
        for _, keep in asked:
            keep()


def _texts(operands: object) -> Iterator[str]:
    """The texts among the operands of operations: names, attributes, keys, what strings say."""
    waiting = [operands]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, tuple | list):
            waiting.extend(each)
