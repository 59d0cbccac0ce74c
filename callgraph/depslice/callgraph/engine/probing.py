"""What a slice asks of known values, when they turn up where code has an open one."""

from __future__ import annotations

from typing import Any

from depslice.callgraph.engine.container_methods import ContainerMethods
from depslice.callgraph.engine.values import (
    AWAITED,
    EMPTY,
    ENTERED_ASYNC,
    IMPORTED,
    MODULES_IN,
    NO_KEYWORDS,
    Class,
    Function,
    Lookup,
    Values,
)


class Probing(ContainerMethods):
    """Questions whose answers grow with the engine; nothing is noted for whoever asks."""

    def probe(self, receiver: int, tag: str, extra: object, where: Function) -> Lookup:
        """The attribute ``extra``, an element, or the result of a call of a known value.

        ``where`` is whose code asks, which has reasons of its own to do so; but an attribute is
        the same for all.
        """
        if tag == "A" and isinstance(extra, str) and extra[-1] != "=":
            return self.attribute_of(receiver, extra)
        return self.question(("probe", receiver, tag, extra, where))

    def called_outside(
        self,
        callee: int,
        args: tuple[Values, ...],
        keywords: tuple[tuple[str, Values], ...],
        spread: Values,
        where: Function,
    ) -> Lookup:
        """A call of code outside the repo that ``where`` was handed: ``show(str, objects)``.

        The facts of the answer are what that code does with what it is given.
        """
        return self.question(("called-outside", callee, args, keywords, spread, where))

    def carried(self, name: str) -> Lookup:
        """Whatever functions of the program carry as their attribute ``name``."""
        return self.question(("carried", name))

    def opened_in(self, value: int) -> Function:
        """The function whose parameter an open value is made of.

        Or that defines its class, or has made its container.
        """
        kind = self.root_of(value)
        if kind[0] == "O" and not isinstance(kind[1], Class):  # what a container is filled with
            maker: Function = self.values[kind[1]][2]
            return maker
        if kind[0] == "O":
            class_: Class = kind[1]
            return self.function(class_.module, class_.info.unit)
        function: Function = kind[1]
        return function

    def find_probed(self, receiver: int, tag: str, extra: Any, where: Function) -> Values:
        """The answer to :meth:`probe`."""
        self.current = where
        values = self.only(receiver)
        if tag == "A":
            found = self.setters_of(values, extra[:-1])
        elif tag == "AM":
            found = self.dynamic_attribute(values, extra[0], extra[1], 0)
        elif tag == "E" and extra != "":
            found = self.unpack_item(values, extra, 0)
        elif tag == "E":
            found = self.iterate(values, 0, is_async=False) | self.subscript(values, EMPTY, 0)
        elif isinstance(extra, str) and extra.startswith(IMPORTED):
            found = self.imported(values, extra.removeprefix(IMPORTED), 0)
        elif extra == MODULES_IN:
            kind = self.values[receiver]
            starts = self.program.packages_in(kind[1]) if kind[0] == "M" else ()
            names = (self.single(("N", f"{package}.", "")) for package in starts)
            found = EMPTY.union(*names) or self.unknown
        elif extra == AWAITED:
            found = self.await_value(values, 0)
        elif isinstance(extra, str):
            found = self.enter_context(values, 0, is_async=extra == ENTERED_ASYNC)
        else:
            found = self.call(values, extra, NO_KEYWORDS, 0)
        self.facts = []
        return found
