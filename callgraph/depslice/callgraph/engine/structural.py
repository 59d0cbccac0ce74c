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
COLLECTIONS: Final = frozenset(
    f"typing.{name}"
    for name in (
        *("AbstractSet", "Collection", "Mapping", "MutableMapping", "MutableSequence"),
        *("MutableSet", "Sequence"),
    )
)
"""Abstract classes of containers: what is declared so is most often a builtin one."""
IMITATED: Final = COLLECTIONS | {
    f"typing.{name}"
    for name in ("AsyncGenerator", "ByteString", "Coroutine", "Generator", "MappingView")
}
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


class _Named(NamedTuple):
    """A class that a type names, and its type arguments, as ``module`` writes them."""

    class_: StubClass
    module: StubModule
    arguments: tuple[TypeExpr, ...]


class Protocols:
    """The methods of the protocols in the types of stubs (PEP 544)."""

    def __init__(self, stubs: Stubs) -> None:
        self._stubs = stubs
        self._named: dict[tuple[str, TypeExpr, frozenset[str]], tuple[_Named, ...]] = {}
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
            found: dict[tuple[str, ...], None] = {}
            for class_, _, _ in self._named_by(module, expression, _WRAPPING):
                found |= dict.fromkeys(_NUMBERS.get(class_.dotted, ()))
                methods = tuple(self.methods_of(class_))
                if methods:
                    found[methods] = None
            known = self._known[key] = tuple(found)
        return known

    def elements(self, module: StubModule, expression: TypeExpr) -> tuple[Located, ...]:
        """The types of what iterating gives, of the iterables that a type of ``module`` may mean."""
        key = (module.name, expression)
        known = self._elements.get(key)
        if known is None:
            known = self._elements[key] = tuple(
                Located(where, arguments[0], class_.dotted.startswith("builtins."))
                for class_, where, arguments in self._named_by(module, expression, _WRAPPING)
                if arguments
                and any(each.dotted == "typing.Iterable" for each in self._stubs.mro(class_))
            )
        return known

    def classes(self, module: StubModule, expression: TypeExpr) -> tuple[StubClass, ...]:
        """The classes that a type of ``module`` names, ``type[Class]`` among them."""
        key = (module.name, expression)
        known = self._classes.get(key)
        if known is None:
            known = self._classes[key] = tuple(
                class_
                for class_, _, _ in self._named_by(module, expression, _NAMING)
                if not class_.is_protocol
            )
        return known

    def _named_by(
        self, module: StubModule, expression: TypeExpr, through: frozenset[str]
    ) -> tuple[_Named, ...]:
        """The classes that a type of ``module`` may mean.

        By way of unions, aliases, the bounds of type variables, and the arguments of what
        ``through`` names.
        """
        key = (module.name, expression, through)
        known = self._named.get(key)
        if known is None:
            self._named[key] = ()  # for a type that names itself
            found = tuple(self._find_named(module, expression, through))
            known = self._named[key] = found
        return known

    def _find_named(
        self, module: StubModule, expression: TypeExpr, through: frozenset[str]
    ) -> Iterator[_Named]:
        kind = expression[0]
        if kind == s.T_UNION:
            for alternative in expression[1]:
                yield from self._named_by(module, alternative, through)
        if kind not in (s.T_NAME, s.T_ATTR, s.T_SUBSCRIPT):
            return
        arguments = expression[2] if kind == s.T_SUBSCRIPT else ()
        name = expression[1] if kind == s.T_SUBSCRIPT else expression
        definition = self._stubs.resolve(module, name)
        if definition is None or definition.declaration is None:
            return
        declaration = definition.declaration
        if kind == s.T_SUBSCRIPT and definition.name in through:
            for argument in arguments:
                yield from self._named_by(module, argument, through)
        elif declaration[0] == d.ALIAS:
            yield from self._named_by(definition.module, declaration[1], through)
        elif declaration[0] == d.TYPE_VARIABLE:
            for bound in declaration[1]:
                yield from self._named_by(definition.module, bound, through)
        elif declaration[0] == d.CLASS:
            yield _Named(self._stubs.class_of(definition), module, arguments)

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
        return class_.is_protocol or class_.dotted in _FILES or class_.dotted in IMITATED

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
