"""Classes: what makes them, their bases in order, what their bodies bind."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, permutations

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.annotations import AnnotationEvaluation
from depslice.callgraph.engine.library import INERT_BASES, METACLASSES
from depslice.callgraph.engine.metaclasses import metaclasses_put
from depslice.callgraph.engine.mro import linearise
from depslice.callgraph.engine.namespaces import BASES, NAMESPACE, listing, stored
from depslice.callgraph.engine.values import (
    EMPTY,
    NAMED_TUPLE,
    NO_KEYWORDS,
    OPEN,
    Cell,
    Class,
    Function,
    Value,
    Values,
    has_no_statement,
)
from depslice.callgraph.summary import ClassInfo, FileSummary, Op, Piece, Position, Register

_MOST_OVERRIDES = 3  # where more come, each may run, and nothing is told of what they give
_MOST_SUBCLASSES = 200
_MANY_SUBCLASSES = 8  # what these override is worth remembering
MAKING_BELOW = ("__mro_entries__", "__init_subclass__", "__prepare__", "__new__", "__init__")
"""What a class statement runs of a base: of the object, of the class, of its metaclass."""


class ClassEvaluation(AnnotationEvaluation):
    """Class statements (language reference, 3.3.3) and the linearisation of bases (C3)."""

    def call_function(
        self,
        function: Function,
        args: Sequence[Values],
        pos: Position,
        *,
        rule: str,
        certain: bool = True,
        external: bool = False,
        keywords: Mapping[str, Values] = NO_KEYWORDS,
        spread: Values = EMPTY,
    ) -> Values:
        """Implemented by the call part."""
        raise NotImplementedError

    def call(
        self,
        callees: Values,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        pos: Position,
        *,
        spread: Values = EMPTY,
    ) -> Values:
        """Implemented by the call part."""
        raise NotImplementedError

    def make_class(self, function: Function, op: Op, registers: Sequence[Values]) -> Values:
        """A class statement runs: its bases are known from here on."""
        module = function.module
        made = self.class_(module, op[2])
        bases, put = self._without_put([registers[r] for r in op[3]])
        makers = put.union(*(registers[r] for name, r in op[4] if name == "metaclass"))
        bases = [self._entries(base, op[5]) for base in bases]
        self._set_bases(made, bases, makers)
        keywords = self._class_keywords(op[4], registers) if op[4] else NO_KEYWORDS
        for base in made.base_values or ():
            for value in base:
                kind = self.values[value]
                if (
                    kind[0] == "X"
                    and self.whole
                    and kind[1] not in INERT_BASES
                    and not kind[1].endswith("()")
                ):
                    self.facts.append((f.INHERIT_EXTERNAL, kind[1], op[5]))
                if kind[0] == "C":
                    self.facts.append((f.INHERIT, kind[1], op[5]))
                elif kind[0] in OPEN:
                    self._note_subclassed(value, op[5])
        self._init_subclass(made, keywords, op[5])
        inherited = self.metaclasses_of(made)
        for metaclass in dict.fromkeys((*made.metaclasses, *inherited)):
            self._make_by(metaclass, made, op[5], keywords)
        if made.open_metaclasses:
            given = [self.constants[s.STR], EMPTY, EMPTY]
            self.call(made.open_metaclasses, given, NO_KEYWORDS, op[5])
            self.call(self.made_by_open(made), [], NO_KEYWORDS, op[5])  # for who calls the class
        for index in made.info.pieces:
            piece = module.summary.pieces[index]
            if made.info.parent_function >= 0 and piece.unit >= 0:
                body = self.function(module, piece.unit)
                self.called.add(body)
                self.ensure(body)
        self._set_names(made, op[5])
        if self.whole and any(b.startswith("enum.") for b in self.external_bases(made)):
            members = [n for n in made.info.members if self.is_enum_member(made, made, n)]
            self._make_members(made, members, op[5])
        return self.single(("C", made, True))

    def made_class(
        self,
        key: tuple[Function, int],
        bases: Sequence[Values],
        members: Mapping[str, Values],
        pos: Position,
    ) -> Values:
        """``type(name, bases, members)`` over a whole program: a class without a statement.

        ``key``: the function and the register that it goes to. Empty where it is its own base.
        """
        function = key[0]
        unit = function.unit
        made = self._made_classes.get(key)
        if made is None:
            number = -2 - len(self._made_classes)  # of no statement
            info = ClassInfo(
                index=number,
                qualname=f"{unit.qualname}.<class{-1 - number}>",
                piece=-1,
                unit=unit.index,
                parent_function=-1,
                owner=-1,
                bases=(),
                keywords=(),
                decorators=(),
                members={},
                line=pos >> 12,
                end_line=pos >> 12,
                pieces=(),
                name_line=pos >> 12,
                self_stores={},
                final={},
            )
            made = self._made_classes[key] = self.own_class(function.module, info)
        if any(made in self.mro(base) for base in self.classes_in(EMPTY.union(*bases))):
            return EMPTY
        if members.keys() - made.info.members.keys():
            made.info.members.update(dict.fromkeys(members, (unit.piece,)))
            self._order_anew(made)
        for name, values in members.items():
            self.write(self.cell("cv", made, name, unit.piece), values)
        self._set_bases(made, bases, EMPTY)
        self._init_subclass(made, NO_KEYWORDS, pos)
        for metaclass in dict.fromkeys(self.metaclasses_of(made)):
            self._make_by(metaclass, made, pos)
        for name in members:
            for value in tuple(self.member_values(made, name)):
                kind = self.values[value]
                if kind[0] == "I":
                    given = [self.only(value), self.single(("C", made, True)), EMPTY]
                    self.call_member(kind[1], "__set_name__", given, pos, "descriptor")
        return self.single(("C", made, True))

    def _make_by(
        self,
        metaclass: Class,
        made: Class,
        pos: Position,
        keywords: Mapping[str, Values] = NO_KEYWORDS,
    ) -> None:
        """What ``metaclass`` does when it makes a class, and what of that it reads (3.3.3)."""
        self.facts.append((f.CLASSREF, metaclass, pos))
        given = [self.single(("C", made, True))]
        namespaces = self.call_member(metaclass, "__prepare__", given, pos, "metaclass", keywords)
        self._run_body_in(namespaces, made, pos)
        dunders = ("__new__", "__init__", "__call__")
        for dunder in dunders[:2] if self.whole else dunders:
            self.call_member(metaclass, dunder, given, pos, "metaclass", keywords)
        self._list_namespace(metaclass, made, pos)

    def make_again(self, values: Values, makers: Values, pos: Position) -> None:
        """``@add_metaclass(makers)``: the classes among ``values`` are made once more, by these."""
        for class_ in self.classes_in(values):
            for metaclass in self.classes_in(makers):
                self.join_metaclass(class_, metaclass)
                self._make_by(metaclass, class_, pos)

    def _class_keywords(
        self, keywords: tuple[tuple[str, Register], ...], registers: Sequence[Values]
    ) -> dict[str, Values]:
        """What a class statement passes to what it runs (3.3.3.1, 3.3.3.3)."""
        given: dict[str, Values] = {}
        for name, register in keywords:
            if name == "**":
                given.update(self.names_of(registers[register])[0])
            elif name != "metaclass":
                given[name] = registers[register]
        return given

    def places_of(self, values: Values) -> list[Values] | None:
        """Implemented by the call part."""
        raise NotImplementedError

    def names_of(self, values: Values) -> tuple[dict[str, Values], Values]:
        """Implemented by the call part."""
        raise NotImplementedError

    def iterate(self, values: Values, pos: Position, *, is_async: bool) -> Values:
        """Implemented by the protocol part."""
        raise NotImplementedError

    def attribute_cell(self, class_: Class, name: str) -> Cell:
        """Implemented by the attribute part."""
        raise NotImplementedError

    def _make_members(self, made: Class, names: Sequence[str], pos: Position) -> None:
        """The members of an enumeration, which are made when the class is.

        Each is made with its value, those of a tuple one by one (documentation of ``enum``).
        """
        member = self.single(("I", made, True))
        for name in names:
            value = self.member_values(made, name)
            tuples = {v for v in value if self.values[v][0] == "K" and self.values[v][1] == "tuple"}
            places = self.places_of(tuples) if tuples and len(tuples) == len(value) else None
            given = [value] if places is None else places
            self.call_member(made, "__new__", [self.single(("C", made, True)), *given], pos, "enum")
            self.call_member(made, "__init__", [member, *given], pos, "enum")
            for attribute in ("value", "_value_"):
                self.write(self.attribute_cell(made, attribute), value)

    def _entries(self, base: Values, pos: Position) -> Values:
        """``base``, and what objects among it have the class extend instead (3.3.3.2)."""
        found = EMPTY
        for value in base:
            kind = self.values[value]
            if kind[0] == "I" and not self.is_metaclass(kind[1]):
                given = [self.only(value), EMPTY]
                entries = self.call_member(kind[1], "__mro_entries__", given, pos, "protocol")
                found = found | self.iterate(entries, pos, is_async=False)
        return base | found

    def _without_put(self, bases: list[Values]) -> tuple[list[Values], Values]:
        """``bases``, for ``with_metaclass(M, A, B)`` these of it; the metaclasses that this puts in."""
        known = self.values
        if not any(known[value][0] == "WM" for base in bases for value in base):
            return bases, EMPTY
        found: list[Values] = []
        for base in bases:
            put = sorted(value for value in base if known[value][0] == "WM")
            if not put or len(put) < len(base):
                found.append(base.difference(put))
            found += [values for value in put for values in known[value][2] or ()]
        return found, EMPTY.union(*(metaclasses_put(base, known) for base in bases))

    def _set_bases(self, made: Class, bases: Sequence[Values], makers: Values) -> None:
        known = made.base_values
        makers = frozenset(makers)
        unchanged = known is not None and [set(b) for b in known] == [set(b) for b in bases]
        if unchanged and makers <= made.makers:
            return
        made.makers |= makers
        made.base_values = [frozenset(base) for base in bases]
        self.based += 1
        self.either_base = self.either_base or any(len(base) > 1 for base in bases)
        made.mro_cache, made.settled = None, False
        external: list[str] = []
        metaclasses = list(self.classes_in(makers))
        for base in bases:
            for value in base:
                kind = self.values[value]
                if kind[0] == "XI" and kind[1] in METACLASSES:  # `ABCMeta("Base", (), {})`
                    external.append("abc.ABC" if kind[1] == "abc.ABCMeta" else "builtins.object")
                elif kind[0] in ("X", "XI", "G", "XA"):
                    external.append(kind[1])
                elif kind[0] == "I" and self.is_metaclass(kind[1]):  # `Meta("Base", (), {})`
                    metaclasses.append(kind[1])
                elif kind[0] == "NT":
                    external.append(NAMED_TUPLE)
                    made.named = kind[1]
                elif kind[0] == "C":
                    self._join_family(made, kind[1])
                elif kind[0] in OPEN:
                    external.append("?")
        made.external_bases = tuple(dict.fromkeys(external))
        made.metaclasses = tuple(dict.fromkeys((*made.metaclasses, *metaclasses)))
        if not self.whole:
            made.open_metaclasses = frozenset(v for v in makers if self.values[v][0] in OPEN)
        self._order_anew(made)

    def _order_anew(self, class_: Class) -> None:
        """Who answers for ``class_`` and those below it is asked again: what it has has changed."""
        self.based += 1
        for each in (class_, *self.live_subclasses(class_)):
            each.mro_cache, each.settled = None, False
            self.wake(each.family)
            if not self.whole:
                self.see_beside(each)

    def see_beside(self, class_: Class) -> None:
        """More is known of what ``class_`` has or extends: it may answer for its bases."""
        for each in self.mro(class_)[1:]:
            self.note_below(each, class_)

    def note_below(self, class_: Class, below: Class) -> None:
        """Implemented by the attribute part."""
        raise NotImplementedError

    def _run_body_in(self, namespaces: Values, made: Class, pos: Position) -> None:
        """The body of a class runs in what ``__prepare__`` gave: names are its keys (3.3.3.4).

        A namespace that has something to say when a name is bound is told of every name.
        """
        for value in namespaces:
            kind = self.values[value]
            if kind[0] == "K" and not self.whole:
                self.bind_prepared(value, made, pos)
            if kind[0] != "I":
                continue
            held = [self.member_values(made, name) for name in made.info.members]
            bound = [self.constants[s.STR], EMPTY.union(*held)]
            for dunder in ("__setitem__", "__getitem__", "__missing__", "__delitem__"):
                known = dunder == "__setitem__"  # the others, if the body reads or deletes names
                if self.find_member(kind[1], dunder) is not None and (known or not self.whole):
                    given = [self.only(value), *(bound if known else bound[:1])]
                    self.call_member(kind[1], dunder, given, pos, "protocol")
            if not self.whole and self.find_member(kind[1], "__setitem__") is not None:
                for name in made.info.members:
                    self.facts.append((f.MEMBER, made, name, pos, False, "class", True))

    def _list_namespace(self, metaclass: Class, made: Class, pos: Position) -> None:
        """The members of a class that the metaclass reads when it makes the class."""
        pieces = made.module.summary.pieces
        for dunder in ("__new__", "__init__"):
            owner = self.find_member(metaclass, dunder)
            for value in self.member_values(owner, dunder) if owner is not None else ():
                kind = self.values[value]
                if kind[0] != "F" or len(kind[1].unit.params) <= NAMESPACE:
                    continue
                if not self.whole and not self.is_declared(kind[1], BASES):
                    # Python passes them: a call that makes another class passes only those of that.
                    self.facts.append((f.PASS, kind[1], BASES, self.unknown))
                if self.whole:
                    namespace = self.intern(("ND", self.intern(("C", made, True))))
                    self.write(self.parameter_cell(kind[1], NAMESPACE), {namespace})
                    continue
                read = listing(kind[1].module.summary, kind[1].unit, NAMESPACE)
                if read.names and stored(kind[1].unit, NAMESPACE):
                    self.pass_namespace(kind[1], made, read.names)
                for name, places in made.info.members.items():
                    plain = all(
                        pieces[place].kind == "def"
                        and not _is_decorated(made.module.summary, pieces[place])
                        for place in places
                    )
                    if (
                        name in read.names
                        if read.names is not None
                        else not (read.tested and plain)
                    ):
                        self.facts.append((f.MEMBER, made, name, pos, False, "class", True))

    def bind_prepared(self, container: int, made: Class, pos: Position) -> None:
        """Implemented by the container part."""
        raise NotImplementedError

    def pass_namespace(self, maker: Function, made: Class, names: Collection[str]) -> None:
        """Implemented by the container part."""
        raise NotImplementedError

    def _init_subclass(self, made: Class, keywords: Mapping[str, Values], pos: Position) -> None:
        """The first of the bases of ``made`` that asks for it is told of it, as by ``super()``.

        It may tell the next one so. A slice asks for all of them at the statement: it is by what the
        statement runs that those who read a table find who enters themselves there.
        """
        name = "__init_subclass__"
        asking = [k for k in self.mro(made)[1:] if self.binds(k, name)]
        for found in asking[:1] if self.whole else asking:
            owners = (found, *self.instead_of(made, found, name, made))
            given = [self.single(("C", made, True))]
            self.call_members(owners, name, given, pos, "init-subclass", keywords, of=made)

    def make_below(self, bases: Values, pos: Position) -> None:
        """A class without a statement is made below ``bases``: ``type(name, bases, members)``."""
        for base in bases:
            kind = self.values[base]
            if kind[0] == "C":
                below = [self.single(("C", kind[1], False))]
                self.call_member(kind[1], "__init_subclass__", below, pos, "init-subclass")
                for metaclass in self.metaclasses_of(kind[1]):
                    for dunder in ("__prepare__", "__new__", "__init__"):
                        given = [self.single(("C", kind[1], False))]
                        self.call_member(metaclass, dunder, given, pos, "metaclass")
            elif kind[0] in OPEN:
                self._note_subclassed(base, pos)
        # The methods of each get an instance that has what the others have.
        classes = [kind[1] for kind in map(self.values.__getitem__, bases) if kind[0] == "C"]
        for base, other in permutations(classes, 2) if not self.whole else ():
            self.join_beside(base, other)
        for base in bases if not self.whole else ():
            if self.values[base][0] in OPEN and base != self.unknown_id:
                self.made_beside.setdefault(base, {}).update(dict.fromkeys(classes))

    def join_made_beside(self, base: int, class_: Class) -> None:
        """``class_`` is behind the open value ``base``, below which a class is made, in a slice."""
        for other in self.made_beside.get(base, ()):
            if other is not class_:
                self.join_beside(class_, other)
                self.join_beside(other, class_)

    def _note_subclassed(self, base: int, pos: Position) -> None:
        """A class is made below one that callers know: what that runs (3.3.3)."""
        for dunder in MAKING_BELOW:
            self.note_protocol(dunder, pos, base)

    def _set_names(self, made: Class, pos: Position) -> None:
        """``__set_name__`` of descriptors in the class body (3.3.3.6)."""
        summary = made.module.summary
        for name, pieces in made.info.members.items():
            if all(
                summary.pieces[p].kind == "assign" or _is_decorated(summary, summary.pieces[p])
                for p in pieces
            ):
                for value in tuple(self.member_values(made, name)):
                    kind = self.values[value]
                    if kind[0] == "I" and self.find_member(kind[1], "__set_name__") is not None:
                        self.call_member(
                            kind[1],
                            "__set_name__",
                            [self.single(kind), self.single(("C", made, True)), EMPTY],
                            pos,
                            "set-name",
                        )
                    elif kind[0] in OPEN and value != self.unknown_id and not self.whole:
                        self.note_protocol("__set_name__", pos, value)

    def instead_of(
        self, class_: Class, owner: Class, name: str, behind: Class | None = None
    ) -> list[Class]:
        """Implemented by the part for bases that may be one of several."""
        raise NotImplementedError

    def call_member(
        self,
        owner: Class,
        name: str,
        args: Sequence[Values],
        pos: Position,
        rule: str,
        keywords: Mapping[str, Values] = NO_KEYWORDS,
        spread: Values = EMPTY,
    ) -> Values:
        """Call what ``owner`` finds under ``name``, where that is a function of the repo."""
        found = self.find_member(owner, name)
        if found is None:
            return EMPTY
        owners = (found, *self.instead_of(owner, found, name))
        return self.call_members(owners, name, args, pos, rule, keywords, spread, of=owner)

    def call_members(
        self,
        owners: Sequence[Class],
        name: str,
        args: Sequence[Values],
        pos: Position,
        rule: str,
        keywords: Mapping[str, Values] = NO_KEYWORDS,
        spread: Values = EMPTY,
        of: Class | None = None,
    ) -> Values:
        """Call what each of ``owners`` binds ``name`` to, for the class ``of``, or the first."""
        of = of or owners[0]
        self.facts += [(f.MEMBER, each, name, pos, False, "call", True) for each in owners]
        values: set[int] = set()
        members = [value for each in owners for value in self.member_values(each, name)]
        for value in dict.fromkeys(members):
            kind = self.values[value]
            if kind[0] == "F":
                values |= self.call_function(
                    kind[1], args, pos, rule=rule, keywords=keywords, spread=spread
                )
            elif kind[0] == "C":  # `class __prepare__(dict): …` is no method, and not bound
                values |= self.call(self.only(value), args[1:], keywords, pos, spread=spread)
            elif kind[0] == "X" and args:  # `__eq__ = Mapping.__eq__`
                method = self.method_of_base(of, kind[1])
                if method is not None:
                    self._call_back_each(args[0], method, pos)
        return values

    def call_overrides(
        self,
        class_: Class,
        owner: Class | None,
        dunder: str,
        args: Sequence[Values],
        pos: Position,
    ) -> Values:
        """Call a special method of the classes below ``class_`` that have one of their own."""
        values: Values = EMPTY
        for found, subclass in self.overrides_apart(class_, owner, dunder, pos):
            receiver = self.single(("I", subclass, False))
            values = values | self.call_member(found, dunder, [receiver, *args], pos, "override")
        return values

    def overrides_apart(
        self, class_: Class, owner: Class | None, dunder: str, pos: Position
    ) -> Sequence[tuple[Class, Class]]:
        """Where few override a special method, who that is; else each may run, and is noted."""
        if self.asked(("overrides", class_, owner, dunder), pos):
            return ()
        return self.overriding(class_, owner, dunder)

    def note_overrides(self, class_: Class, owner: Class | None, dunder: str) -> Values:
        """Where more of them come than are told apart: each may run. Else nothing is noted.

        Each operator asks that of each class its operand may be of, whatever the other is.
        """
        below = self.overriding(class_, owner, dunder)
        if len(below) <= _MOST_OVERRIDES:
            return EMPTY
        for found, _ in below:
            for value in self.member_values(found, dunder):
                kind = self.values[value]
                if kind[0] == "F":
                    self.facts.append((f.CALL, kind[1], 0, True, "override", False))
        return self.unknown

    def _call_back_each(self, receivers: Values, method: str, pos: Position) -> None:
        for receiver in receivers:
            if self.values[receiver][0] == "I":
                self.call_back(receiver, method, pos, written=False)

    def know_bases(self, class_: Class) -> None:
        """Have the class statement evaluated, so that its bases are known."""
        if class_.base_values is None:
            definer = self.function(class_.module, class_.info.unit)
            self.ensure(definer)

    def mro(self, class_: Class) -> tuple[Class, ...]:
        """The linearisation of ``class_`` over its bases in the repo (C3)."""
        if class_.mro_cache is not None:
            if class_.shifting:
                self.depend(class_.family)
            return class_.mro_cache
        self.know_bases(class_)
        if self._is_remembered(class_) and self._asks_in_vain(class_):
            self.depend(class_.family)
            return class_.order_so_far[1]
        based = self.based
        found = linearise(class_, self.repo_bases)
        if found == class_.order_so_far[1]:
            found = class_.order_so_far[1]
        class_.holders = {}
        class_.declarers = {}
        class_.outer = class_.orders = None
        class_.shifting = self.whole and any(
            k.info.bases and k.info.parent_function >= 0 for k in found
        )
        if class_.base_values and not all(class_.base_values):
            self.depend(class_.family)
        elif all(k.base_values is not None for k in found):
            class_.mro_cache = found
            class_.settled = not class_.shifting and class_.info.parent_function < 0
            if class_.shifting:
                self.depend(class_.family)
        else:
            self.depend(class_.family)  # a class statement is running, or has yet to know a base
        if class_.mro_cache is None:
            class_.order_so_far = (based, found)
        return found

    def _order_lasts(self, class_: Class) -> bool:
        """Whether what was found by its linearisation is so until :meth:`mro` makes another.

        That forgets what was found. In a slice it is what surely stays.
        """
        if class_.mro_cache is not None:
            return True
        return self.whole and self._is_remembered(class_)

    def _is_remembered(self, class_: Class) -> bool:
        """Whether its order is as it was found last: no class has got bases since then."""
        return class_.order_so_far[0] == self.based

    def _asks_in_vain(self, class_: Class) -> bool:
        """Whether asking for bases that are not known runs no class statement.

        It may, as long as only what is called runs.
        """
        if self.closed:
            for each in class_.order_so_far[1]:
                self.know_bases(each)
        return self._is_remembered(class_)

    def repo_bases(self, class_: Class) -> list[Class]:
        """Its bases in the repo, in the order of the class statement."""
        self.know_bases(class_)
        bases: list[Class] = []
        for base in class_.base_values or ():
            candidates = [self.values[v][1] for v in base if self.values[v][0] == "C"]
            bases.extend(sorted(candidates, key=lambda c: c.id))
        return [base for base in dict.fromkeys(bases) if base is not class_]

    def metaclasses_of(self, class_: Class) -> list[Class]:
        """The metaclasses in the repo that ``class_`` or a class it inherits from names."""
        return [metaclass for k in self.mro(class_) for metaclass in k.metaclasses]

    def is_metaclass(self, class_: Class) -> bool:
        """Whether its instances are classes."""
        return not METACLASSES.isdisjoint(self.external_bases(class_))

    def is_object(self, value: Value) -> bool:
        """Whether it is an instance of a class of the repo, and surely no class itself.

        What a metaclass of the repo gives may be told as an instance of the class it makes.
        """
        return (
            value[0] == "I"
            and not self.is_metaclass(value[1])
            and not self.metaclasses_of(value[1])
        )

    def join_metaclass(self, class_: Class, metaclass: Class) -> None:
        """Something makes a class below ``class_`` by calling ``metaclass``, in a slice."""
        if metaclass not in self.metaclasses_of(class_):
            class_.metaclasses = (*class_.metaclasses, metaclass)
            for below in (class_, *self.live_subclasses(class_)):
                self.wake(below.family)

    def made_by_open(self, class_: Class) -> Values:
        """What stands for a class that only callers' metaclass makes: ``class C(metaclass=m)``."""
        makers = [v for k in self.mro(class_) for v in k.open_metaclasses if v != self.unknown_id]
        return EMPTY.union(*(self.derive("R", maker, ()) for maker in makers))

    def open_bases(self, class_: Class, *, instances: bool) -> Values:
        """What stands for the bases of a class that only callers know: ``class Wrapped(cls)``.

        Or for ``instances`` of them: what calling them gives. Only in a slice; over a whole
        program they are known by what callers pass.
        """
        if self.whole:
            return EMPTY
        line = self.mro(class_)
        if not any("?" in k.external_bases for k in line):
            return EMPTY
        found: set[int] = set()
        for value in {v for k in line for base in k.base_values or () for v in base}:
            if self.values[value][0] in OPEN and value != self.unknown_id:
                found |= self.derive("R", value, ()) if instances else {value}
        return found

    def external_bases(self, class_: Class) -> tuple[str, ...]:
        """Dotted names of the bases outside the repo, over the whole MRO (``?`` for unknown)."""
        order = self.mro(class_)
        known = class_.outer
        if known is None:
            known = tuple(dict.fromkeys([b for k in order for b in k.external_bases]))
            if self._order_lasts(class_):
                class_.outer = known
        return known

    def active_bases(self, class_: Class) -> tuple[str, ...]:
        """Those of the bases outside the repo that may call members of the class."""
        outer = self.external_bases(class_)
        return tuple([base for base in outer if base not in INERT_BASES]) if outer else outer

    def method_of_base(self, class_: Class, dotted: str) -> str | None:
        """The method of a base outside that code names by its class: ``run = Base.visit``."""
        base, _, name = dotted.rpartition(".")
        return name if base in self.external_bases(class_) else None

    def find_member(self, class_: Class, name: str) -> Class | None:
        """The class of the MRO whose body binds ``name``.

        Where none does, the first that tells only its type (``x: T``): something else makes it.
        """
        known = class_.holders
        if class_.settled and name in known:
            return known[name]
        line = self.mro(class_)
        known = class_.holders
        if class_.info.parent_function >= 0 and not self.whole:
            self.depend(class_.family)  # its function may run with another base
        lasting = self._order_lasts(class_)
        if lasting and name in known:
            return known[name]
        first: Class | None = None
        found: Class | None = None
        for candidate in line:
            if name in candidate.info.members:
                if self.binds(candidate, name):
                    found = candidate
                    break
                first = first or candidate
        if found is not None and first is not None:
            class_.declarers[name] = first
        if lasting:
            known[name] = found or first
        return found or first

    def hashes_no_more(self, class_: Class) -> bool:
        """Whether an ``__eq__`` without ``__hash__`` stands before what would hash (3.3.1)."""
        comparing, hashing = (self.find_member(class_, each) for each in ("__eq__", "__hash__"))
        if comparing is None or hashing is None:
            return comparing is not None
        line = self.mro(class_)
        return line.index(comparing) < line.index(hashing)

    def needed_to_delete(self, class_: Class, name: str) -> list[Class]:
        """Whose member of that name ``del class_.name`` needs: none, where it is not its own.

        It has to be there, and what is behind it answers from then on.
        """
        having = [k for k in self.mro(class_) if self.binds(k, name)]
        return having[:2] if having[:1] == [class_] else []

    def binds(self, class_: Class, name: str) -> bool:
        """Whether the body of ``class_`` binds ``name`` when it runs.

        A ``def`` that only type checkers see does not (``if TYPE_CHECKING:``, PEP 484), nor a
        type without a value (``x: T``, 7.2.2).
        """
        return bool(self._bound(class_, name)) and not self.is_only_declared(class_, name)

    def is_only_declared(self, owner: Class, name: str) -> bool:
        """Whether the body of ``owner`` says what type the member has, and gives it no value."""
        if has_no_statement(owner):
            return False
        summary = owner.module.summary
        for index in owner.info.members.get(name, ()):
            piece = summary.pieces[index]
            if piece.kind != "assign" or not _is_declaration(summary, piece):
                return False
        return name in owner.info.members

    def _bound(self, class_: Class, name: str) -> Sequence[int]:
        pieces = class_.info.members.get(name, ())
        known = class_.module.summary.pieces
        if has_no_statement(class_):
            return pieces
        for index in pieces:
            if known[index].type_checking:
                return [i for i in pieces if known[i].kind != "def" or not known[i].type_checking]
        return pieces

    def overriding(
        self, class_: Class, owner: Class | None, name: str
    ) -> Sequence[tuple[Class, Class]]:
        """Classes below ``class_`` that bind ``name`` anew, each with one that has it from there."""
        if name.startswith("__") and not name.endswith("__"):
            return ()  # mangled with the class's own name (6.2.1)
        below = self.live_subclasses(class_)
        known = class_.overrides.get((owner, name)) if len(below) >= _MANY_SUBCLASSES else None
        if known is not None and known[0] is below:
            return known[1]
        seen = {owner}
        overriding = []
        for subclass in below:
            if subclass.settled and name in subclass.holders:
                found = subclass.holders[name]  # what `find_member` says: there are many to ask
            else:
                found = self.find_member(subclass, name)
            if found is not None and found not in seen:
                seen.add(found)
                overriding.append((found, subclass))
        if len(below) >= _MANY_SUBCLASSES and all(k.mro_cache is not None for k in below):
            class_.overrides[owner, name] = below, overriding
        return overriding

    def member_values(self, owner: Class, name: str) -> Values:
        """What ``owner``'s body binds ``name`` to: at last, over a whole program."""
        pieces = self._bound(owner, name) or owner.info.members.get(name, ())
        if self.whole and name in owner.info.final:
            pieces = self._bound_at_last(owner, name, pieces)
        if len(pieces) == 1:
            return self.class_piece_values(owner, name, pieces[0])
        values: set[int] = set()
        for piece in pieces:
            values |= self.class_piece_values(owner, name, piece)
        return values

    def _bound_at_last(self, owner: Class, name: str, pieces: Sequence[int]) -> Sequence[int]:
        """Those of ``pieces`` that count once the body of ``owner`` has run.

        All of them do where a metaclass may prepare a namespace that keeps each; also one of a base
        outside the repo may.
        """
        if owner.info.keywords or self.metaclasses_of(owner) or self.external_bases(owner):
            return pieces
        final = owner.info.final[name]
        return [index for index in pieces if index in final]

    def class_piece_values(self, owner: object, name: str, index: int) -> Values:
        """What one piece of ``owner``'s body binds ``name`` to."""
        assert isinstance(owner, Class)
        module = owner.module
        if has_no_statement(owner):
            return self.read(self.cell("cv", owner, name, index))
        piece = module.summary.pieces[index]
        direct = self.direct_definition(module, piece)
        if direct is not None:
            return direct
        if piece.unit >= 0:
            self.ensure(self.function(module, piece.unit))
        return self.read(self.cell("cv", owner, name, index))

    def classes_in(self, values: Iterable[int]) -> Iterator[Class]:
        """The repo classes among ``values``."""
        for value in values:
            kind = self.values[value]
            if kind[0] == "C":
                yield kind[1]

    def is_enum_member(self, class_: Class, owner: Class, name: str) -> bool:
        """Whether ``name``, which the body of ``owner`` binds, is a member of an enumeration."""
        pieces = owner.info.members[name]
        return (
            not name.startswith("_")
            and owner.module.summary.pieces[pieces[-1]].kind == "assign"
            and any(base.startswith("enum.") for base in self.external_bases(class_))
        )

    def is_protocol(self, class_: Class) -> bool:
        """Whether ``class_`` says what others have to have (PEP 544)."""
        self.know_bases(class_)
        return any(base.endswith(".Protocol") for base in class_.external_bases)

    def live_subclasses(self, class_: Class) -> list[Class]:
        """Subclasses of ``class_`` known so far, nearest first."""
        self.depend(class_.family)
        if class_.descendants is None:
            found = islice(class_.below(), _MOST_SUBCLASSES)
            class_.descendants = sorted(found, key=lambda c: c.id)
        return class_.descendants

    def note_borrowed(self, owner: Class, values: Values) -> None:
        """A class body binds ``values``: methods of other classes may run for its instances, too."""
        for kind in [self.values[value] for value in values]:
            if kind[0] == "F" and kind[1].unit.owner >= 0:
                self.join_beside(owner, self.class_(kind[1].module, kind[1].unit.owner))

    def join_beside(self, made: Class, lender: Class) -> None:
        """What methods of ``lender`` call ``self`` may be an instance of ``made``, in a slice."""
        if lender not in made.lenders and lender not in self.mro(made):
            made.lenders = (*made.lenders, lender)
            self._join_family(made, lender)
            for ancestor in self.mro(lender):
                for each in (made, *made.below()):
                    self.note_below(ancestor, each)

    def _join_family(self, made: Class, base: Class) -> None:
        """``made`` is a subclass of ``base`` from now on, and of what ``base`` inherits from."""
        if made in base.subclasses:
            return
        base.subclasses[made] = None
        for ancestor in self.mro(base):
            ancestor.descendants = None
            self.wake(ancestor.family)


def _is_declaration(summary: FileSummary, piece: Piece) -> bool:
    """Whether it is ``x: T``, without a value."""
    ops = summary.units[piece.unit].ops if piece.unit >= 0 else ()
    return any(op[0] == s.DECLARE and op[3] is None for op in ops)


def _is_decorated(summary: FileSummary, piece: Piece) -> bool:
    """Whether it is a function with a decorator that is none of Python's own."""
    if piece.kind != "def" or piece.unit < 0:
        return False
    made = [op[2] for op in summary.units[piece.unit].ops if op[0] == s.FUNCTION]
    return any(summary.units[index].flags & s.DECORATED for index in made)
