"""What code outside does with an object that it is handed: what the protocol it takes declares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from depslice.callgraph import summary as s
from depslice.callgraph.stubs import declarations as d
from depslice.callgraph.stubs.store import StubClass, StubModule, Stubs
from depslice.callgraph.summary import TypeExpr

_FILES: Final = frozenset({"typing.IO", "typing.TextIO", "typing.BinaryIO"})
"""Classes that stubs take for protocols: hardly any file of a program inherits from them."""
ABSTRACT: Final = frozenset(
    f"typing.{name}"
    for name in (
        *("AbstractSet", "Mapping", "MutableMapping", "MutableSequence", "MutableSet", "Sequence"),
        *("Generator", "AsyncGenerator", "Coroutine", "ByteString", "MappingView"),
    )
)
"""Code that is not checked passes to a function that takes one of these what is merely like it."""
_NUMBERS: Final = {
    "builtins.int": (("__index__",),),
    "builtins.float": (("__float__",), ("__index__",)),
    "builtins.complex": (("__complex__",), ("__float__",), ("__index__",)),
}
"""What code in C makes a number of, where it is none (PEP 357 and data model, 3.3.8)."""
_OF_ANY: Final = frozenset({"__init__", "__class_getitem__", "__eq__", "__hash__", "__del__"})
"""Special methods that objects have, whatever a protocol says."""
_NAMING: Final = frozenset({"Optional", "Union", "Annotated", "Final", "type", "Type"})
_WRAPPING: Final = frozenset({"Optional", "Union", "Annotated", "Final"})


class Located(NamedTuple):
    """The type of elements, and the module whose names it is written in.

    ``exact``: of a builtin container, for which nothing else that can be iterated is taken.
    """

    module: StubModule
    expression: TypeExpr
    exact: bool


class Protocols:
    """The methods of the protocols in the types of stubs (PEP 544)."""

    def __init__(self, stubs: Stubs) -> None:
        self._stubs = stubs
        self._known: dict[tuple[str, TypeExpr], tuple[tuple[str, ...], ...]] = {}
        self._classes: dict[tuple[str, TypeExpr], tuple[StubClass, ...]] = {}
        self._elements: dict[tuple[str, TypeExpr], tuple[Located, ...]] = {}

    def of(self, module: StubModule, expression: TypeExpr) -> tuple[tuple[str, ...], ...]:
        """The methods of each protocol that a type of ``module`` may mean.

        ``SupportsInt | SupportsIndex`` has two, ``__int__`` and ``__index__``.
        """
        key = (module.name, expression)
        known = self._known.get(key)
        if known is None:
            self._known[key] = ()  # for a type that names itself
            known = self._known[key] = tuple(dict.fromkeys(self._read(module, expression)))
        return known

    def _read(self, module: StubModule, expression: TypeExpr) -> Iterator[tuple[str, ...]]:
        kind = expression[0]
        if kind == s.T_UNION:
            for alternative in expression[1]:
                yield from self.of(module, alternative)
        if kind not in (s.T_NAME, s.T_ATTR, s.T_SUBSCRIPT):
            return
        name = expression[1] if kind == s.T_SUBSCRIPT else expression
        definition = self._stubs.resolve(module, name)
        if definition is None or definition.declaration is None:
            return
        if kind == s.T_SUBSCRIPT and definition.name in _WRAPPING:
            for argument in expression[2]:
                yield from self.of(module, argument)
        declaration = definition.declaration
        if declaration[0] == d.ALIAS:
            yield from self.of(definition.module, declaration[1])
        elif declaration[0] == d.TYPE_VARIABLE:
            for bound in declaration[1]:
                yield from self.of(definition.module, bound)
        elif declaration[0] == d.CLASS:
            class_ = self._stubs.class_of(definition)
            yield from _NUMBERS.get(class_.dotted, ())
            methods = tuple(self.methods_of(class_))
            if methods:
                yield methods

    def elements(self, module: StubModule, expression: TypeExpr) -> tuple[Located, ...]:
        """The types of what iterating gives, of the iterables that a type of ``module`` may mean."""
        key = (module.name, expression)
        known = self._elements.get(key)
        if known is None:
            self._elements[key] = ()  # for a type that names itself
            known = self._elements[key] = tuple(self._read_elements(module, expression))
        return known

    def _read_elements(self, module: StubModule, expression: TypeExpr) -> Iterator[Located]:
        kind = expression[0]
        if kind == s.T_UNION:
            for alternative in expression[1]:
                yield from self.elements(module, alternative)
        if kind not in (s.T_NAME, s.T_ATTR, s.T_SUBSCRIPT):
            return
        name = expression[1] if kind == s.T_SUBSCRIPT else expression
        definition = self._stubs.resolve(module, name)
        if definition is None or definition.declaration is None:
            return
        declaration = definition.declaration
        if kind == s.T_SUBSCRIPT and definition.name in _WRAPPING:
            for argument in expression[2]:
                yield from self.elements(module, argument)
        elif declaration[0] == d.ALIAS:
            yield from self.elements(definition.module, declaration[1])
        elif declaration[0] == d.TYPE_VARIABLE:
            for bound in declaration[1]:
                yield from self.elements(definition.module, bound)
        elif kind == s.T_SUBSCRIPT and declaration[0] == d.CLASS and expression[2]:
            class_ = self._stubs.class_of(definition)
            if any(each.dotted == "typing.Iterable" for each in self._stubs.mro(class_)):
                exact = class_.dotted.startswith("builtins.")
                yield Located(module, expression[2][0], exact)

    def classes(self, module: StubModule, expression: TypeExpr) -> tuple[StubClass, ...]:
        """The classes that a type of ``module`` names, ``type[Class]`` among them."""
        key = (module.name, expression)
        known = self._classes.get(key)
        if known is None:
            self._classes[key] = ()  # for a type that names itself
            known = self._classes[key] = tuple(self._read_classes(module, expression))
        return known

    def _read_classes(self, module: StubModule, expression: TypeExpr) -> Iterator[StubClass]:
        kind = expression[0]
        if kind == s.T_UNION:
            for alternative in expression[1]:
                yield from self.classes(module, alternative)
        if kind not in (s.T_NAME, s.T_ATTR, s.T_SUBSCRIPT):
            return
        name = expression[1] if kind == s.T_SUBSCRIPT else expression
        definition = self._stubs.resolve(module, name)
        if definition is None or definition.declaration is None:
            return
        if kind == s.T_SUBSCRIPT and definition.name in _NAMING:
            for argument in expression[2]:
                yield from self.classes(module, argument)
        elif definition.declaration[0] == d.ALIAS:
            yield from self.classes(definition.module, definition.declaration[1])
        elif definition.declaration[0] == d.TYPE_VARIABLE:
            for bound in definition.declaration[1]:
                yield from self.classes(definition.module, bound)
        elif definition.declaration[0] == d.CLASS:
            class_ = self._stubs.class_of(definition)
            if not class_.is_protocol:
                yield class_

    def methods_of(self, class_: StubClass) -> Iterator[str]:
        """The methods that a class declares as a protocol, if it is one."""
        if class_.is_protocol or class_.dotted in _FILES:
            for each in self._stubs.mro(class_):
                if each.is_protocol or each.dotted in _FILES:
                    for name, member in each.members.items():
                        if member[0] == d.FUNCTION and name not in _OF_ANY:
                            yield name

    @staticmethod
    def is_protocol(class_: StubClass) -> bool:
        """Whether what is merely like it is passed for it."""
        return class_.is_protocol or class_.dotted in _FILES or class_.dotted in ABSTRACT

    def declared_by(self, class_: StubClass) -> tuple[str, ...]:
        """The methods that a class declares, and its bases but ``object``."""
        order = [each for each in self._stubs.mro(class_) if each.dotted != "builtins.object"]
        names = dict.fromkeys(
            name
            for each in order
            for name, member in each.members.items()
            if member[0] == d.FUNCTION and name not in _OF_ANY
        )
        return tuple(names)


def chosen(protocols: Sequence[Sequence[str]], has: Callable[[str], bool]) -> Sequence[str]:
    """What is called of an object that ``has`` some methods: those of the first protocol it fits.

    If it fits none, what it has of any: code may ask for more than it uses.
    """
    for methods in protocols:
        if all(map(has, methods)):
            return methods
    return sorted({name for methods in protocols for name in methods if has(name)})
