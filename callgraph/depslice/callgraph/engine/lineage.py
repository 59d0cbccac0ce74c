"""What a class is made of: ``__mro__``, ``mro()``, ``__bases__``; ``vars(C)``, ``dir(x)``."""

from __future__ import annotations

from typing import Final

from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.library import INERT_BASES
from depslice.callgraph.engine.storing import StoreEvaluation
from depslice.callgraph.engine.values import EMPTY, OPEN, Class, Values
from depslice.callgraph.summary import Position

_ATTRIBUTES: Final = ("__mro__", "__bases__", "__base__")
_METHODS: Final = ("mro", "__subclasses__")
_MOST_MEMBERS: Final = 60
_FIRST: Final = -20_000
"""Where the tuples stand that no display makes: beside the registers of the class's statement."""


class Lineages(StoreEvaluation):
    """Classes asked for their bases (library reference, Special Attributes), or for all names."""

    def lineage_attribute(self, class_: Class, name: str, *, exact: bool) -> Values:
        """What of that name any class has, if it is about classes."""
        if name in _METHODS:
            return self.single(("SC", class_, exact, name))
        if name not in _ATTRIBUTES:
            return EMPTY
        classes = self.line_of(class_, name, exact=exact)
        if name == "__base__":
            return classes
        number = _FIRST - 4 * class_.info.index - 2 * _ATTRIBUTES.index(name) - exact
        definer = self.function(class_.module, class_.info.unit)
        made = self.intern(("K", "tuple", definer, number))
        self.write(self.elements_cell(made), classes)
        return self.only(made)

    def line_of(self, class_: Class, name: str, *, exact: bool) -> Values:
        """The classes that ``name`` of a class gives; of its subclasses too, unless ``exact``."""
        if name == "__subclasses__":
            if not self.whole:
                return {self.intern(("C", class_, False))}
            self.depend(class_.family)
            subclasses = tuple(class_.subclasses) if exact else self.live_subclasses(class_)
            return {self.intern(("C", subclass, True)) for subclass in subclasses}
        found: dict[Class, None] = {}
        outside: dict[str, None] = {}
        below = () if exact or not self.whole else self.live_subclasses(class_)
        for kind in (class_, *below):
            line = self.mro(kind)
            if name not in ("__mro__", "mro"):
                line = tuple(self.repo_bases(kind))
            found |= dict.fromkeys(line)
            outside |= dict.fromkeys(
                self.external_bases(kind) if name in ("__mro__", "mro") else kind.external_bases
            )
        classes = {self.intern(("C", k, True)) for k in found}
        if not exact and not self.whole:
            classes.add(self.intern(("C", class_, None)))
        return classes | {
            self.intern(("X", base)) for base in outside if base != "?" and base not in INERT_BASES
        }

    def names_in(self, receivers: Values, pos: Position, *, inherited: bool) -> Values:
        """All names of a class at once (``inherited``: with those of its bases, as ``dir`` does).

        What objects store on themselves is no matter of their class.
        """
        how = "dir" if inherited else "vars"
        for receiver in receivers:
            kind = self.values[receiver]
            if kind[0] == "C" or (kind[0] == "I" and (inherited or self.is_metaclass(kind[1]))):
                of_any = kind[0] == "C" and kind[2] is None and not inherited
                listed = "line" if of_any else how  # of any class that it is made of
                self.facts.append((f.MEMBER, kind[1], f.ALL, pos, not kind[2], listed, False))
            elif kind[0] in OPEN and not self.whole:
                self.facts.append((f.LISTED, receiver, f.ALL, how, pos))
            elif kind[0] in OPEN and inherited:
                self.facts.append((f.DYNAMIC, None, "", "", pos, receiver))
            elif kind[0] == "M" and (inherited or not self.whole):
                self.facts.append((f.DYNAMIC, kind[1], "", "", pos, receiver))
                if not self.whole:
                    self.facts.append((f.LISTED, receiver, f.ALL, how, pos))
        return self.single(("N", "", ""))

    def values_in(self, owner: int) -> Values:
        """What ``vars`` maps names to: of a class, not what a descriptor would give for it.

        Of a module what it defines or imports, over a whole program: a slice does not know what
        of the module will be in it.
        """
        kind = self.values[owner]
        if kind[0] == "M" and self.whole:
            module = self.program.module(kind[1])
            names = {} if module is None else self.program.names_in(module)
            if module is None or len(names) > _MOST_MEMBERS:
                return self.unknown
            return EMPTY.union(*(self.module_member(module, name) for name in names))
        if kind[0] != "C" or len(kind[1].info.members) > _MOST_MEMBERS:
            return self.unknown
        return EMPTY.union(*(self.member_values(kind[1], name) for name in kind[1].info.members))

    def members_of(self, owner: int, pos: Position) -> Values:
        """What ``inspect.getmembers`` gives: attributes, of its class and of those above."""
        kind = self.values[owner]
        if kind[0] == "M":
            return self.values_in(owner)
        if kind[0] not in ("C", "I") or not self.whole:
            return self.unknown
        names = {name: None for k in self.mro(kind[1]) for name in k.info.members}
        if len(names) > _MOST_MEMBERS:
            return self.unknown
        receiver = self.only(owner)
        return EMPTY.union(*(self.load_attribute(receiver, name, pos) for name in names))
