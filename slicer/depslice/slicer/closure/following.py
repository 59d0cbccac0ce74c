"""From the facts of kept code to demands: one rule for each kind of fact.

The engine tells what a unit refers to (:mod:`depslice.callgraph.engine.facts`); here each
fact becomes a demand of the symbol that the unit belongs to, on a name, a member, a class, a
function or a module. What is done with values that nobody knows yet goes to
:mod:`~depslice.slicer.closure.open_values`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import TypeAlias

from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.values import Class, Function, Lookup
from depslice.callgraph.model import ReferenceKind, Unresolved
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Position, Unit
from depslice.callgraph.unknown import UNNAMED, Words, once_each
from depslice.slicer.closure.added import AddedMembers
from depslice.slicer.closure.attribute_reads import attribute_reads, tests
from depslice.slicer.closure.classes import Classes
from depslice.slicer.closure.computed import ComputedNames
from depslice.slicer.closure.growth import Followed, Growth
from depslice.slicer.closure.importing import Importing
from depslice.slicer.closure.model import Demand
from depslice.slicer.closure.names import Names
from depslice.slicer.closure.open_values import Given, OpenValues, OutsideCall, Use
from depslice.slicer.closure.outside_state import OutsideState
from depslice.slicer.closure.testing import Tests
from depslice.slicer.closure.turns import News, Turns
from depslice.slicer.closure.type_arguments import OF_BASES, OF_INSTANCES, Fate, named_types
from depslice.slicer.pieces import start_of, units_of_piece

_BY_ANY_NAME = frozenset({f.BY_NAME, f.DYNAMIC, f.LISTED, f.NAMED})
_NAMING = frozenset({f.NAME, f.ANNOTATE, f.MODULE, f.EXTERNAL})
"""What is of use of code that only type checkers see (PEP 484): what it names, no more."""
_NAMED_AT = {f.MEMBER: 2, f.UNKNOWN: 1}
"""Where facts have the name of a member, which nothing spells if it was put together."""
_Rule: TypeAlias = Callable[[Followed, f.Fact], None]


class Following:
    """Follows the facts of the kept pieces, and again when the engine finds more."""

    def __init__(
        self,
        growth: Growth,
        *,
        classes: Classes,
        names: Names,
        importing: Importing,
        open_values: OpenValues,
        computed: ComputedNames,
        outside: OutsideState,
        added: AddedMembers,
    ) -> None:
        self._growth = growth
        self._engine = growth.engine
        self._classes = classes
        self._names = names
        self._importing = importing
        self._open = open_values
        self._tests = Tests(growth)
        self._outside = outside
        self._added = added
        # Class statements whose metaclass need not do anything so far.
        self._resting: dict[Class, Followed] = {}
        self._reading: dict[Function, frozenset[int]] = {}
        self._testing: dict[Function, frozenset[int]] = {}
        self._types: dict[Function, tuple[list[f.Fact], dict[int, Fate]]] = {}
        # By place: the names of attributes of what nobody knows, as the facts have it.
        self._unknown: dict[Function, tuple[list[f.Fact], dict[Position, list[str]]]] = {}
        # Names that stand for types alone, as long as nobody has what their statement binds.
        self._named_as_types: list[tuple[Followed, f.Fact, Fate]] = []
        # Arguments of aliases of which nobody makes anything so far.
        self._types_in_aliases: list[tuple[Followed, f.Fact, Fate]] = []
        # Types of class bodies that nobody takes from there so far, and what was guessed of all these.
        self._types_of_fields: list[tuple[Followed, f.Fact]] = []
        self._guessed: set[tuple[Function, f.Fact]] = set()
        self._outside_calls: Turns[OutsideCall] = Turns()
        self._calling_outside: dict[Function, list[OutsideCall]] = {}
        self._asking: dict[Lookup, set[OutsideCall]] = {}
        self._changed, self._anew = News(growth.engine.changed), News(growth.followed_anew)
        self._retold = News(growth.engine.retold)
        self._rules: dict[int, _Rule] = {
            f.NAME: self._name,
            f.MEMBER: self._member,
            f.CALL: self._call,
            f.UNKNOWN: self._attribute_of_open,
            f.PROTOCOL: self._protocol_of_open,
            f.APPLY: self._call_of_open,
            f.PASS: self._pass,
            f.FILL: self._fill,
            f.EXTERNAL: self._external,
            f.INSTANCE: self._instance,
            f.CLASSREF: self._class_as_value,
            f.MODULE: self._module,
            f.ANNOTATE: self._annotation,
            f.WRITE: self._write,
            f.UNRESOLVED: self._unresolved,
            f.DYNAMIC: computed.follow,
            f.NAMED: self._named_by_open,
            f.BY_NAME: self._by_name,
            f.LISTED: self._listed_of_open,
            f.HANDED: self._hand,
            f.IMPORTED: self._imported_of_open,
        }

    def drain(self) -> None:
        """Follow every kept piece, those that are kept on the way included."""
        growth = self._growth
        while growth.is_pending:
            self._expand(*growth.next_piece())

    def revisit(self) -> bool:
        """Queue the pieces of units that the engine knows more of since they were followed."""
        self._engine.settle()
        placed = self._classes.place()
        retold = map(self._growth.followed.get, dict.fromkeys(self._retold.take()))
        stale = [each for each in retold if each and each.function.facts is not each.facts]
        stale.sort(key=lambda each: each.place)
        awake = [made for made in self._resting if not self._classes.rests(made)]
        stale += [self._resting.pop(made) for made in awake]
        for each in stale:
            self._growth.follow(each.module, each.piece.index, each.item)
        taken = self._take_types_as_values()
        return self._follow_outside() or bool(stale) or placed or taken

    def _follow_outside(self) -> bool:
        """Follow what code outside does that functions were handed; whether something is new."""
        new = False
        for call in islice(self._open.called_outside, len(self._outside_calls), None):
            self._outside_calls.place(call)
            self._outside_calls.wake((call,))
            self._calling_outside.setdefault(call[0], []).append(call)
        for call in self._outside_calls.due(self._hear):
            where, lookup, pos = call
            for asked in _asked_with(lookup):
                self._asking.setdefault(asked, set()).add(call)
            at = self._growth.followed[where]
            new |= self._follow(at, f.answered(lookup, pos))
            if at.made is not None:  # what is its metaclass's may be left for later
                self._outside_calls.wake((call,))
        return new

    def _hear(self) -> None:
        """Wake calls of code outside of which the engine knows more, or that are nearer."""
        for lookup in self._changed.take():
            self._outside_calls.wake(self._asking.get(lookup, ()))
        for function in self._anew.take():
            self._outside_calls.wake(self._calling_outside.get(function, ()))

    def note_unresolved(self) -> None:
        """Record what is still unresolved when all values have settled."""
        of_item: dict[str, list[Followed]] = {}
        for function, followed in self._growth.followed.items():
            of_item.setdefault(followed.item, []).append(followed)
            for fact in function.facts:
                if fact[0] == f.UNRESOLVED:
                    name = fact[1] or UNNAMED
                    self._growth.note_unresolved(followed.item, name, fact[2], fact[3])
        words = Words(self._growth.program)
        closure = self._growth.closure
        closure.unresolved = once_each(
            _named(each, of_item.get(each.source, ()), words) for each in closure.unresolved
        )

    def _expand(self, module: Module, index: int, item: str) -> None:
        """Follow what one kept piece refers to."""
        piece = module.summary.pieces[index]
        if piece.unit < 0:
            return
        for number in units_of_piece(module, index):
            function = self._engine.function(module, number)
            facts = self._engine.facts_of(function)
            followed = self._growth.followed.get(function)
            if followed is None:
                place = len(self._growth.followed)
                followed = Followed(
                    module=module,
                    piece=piece,
                    item=item,
                    function=function,
                    place=place,
                    supposed=self._growth.guesses_to_run(module),
                )
                self._growth.followed[function] = followed
                self._added.spell(function.unit)
                self._classes.note_read(function.unit)
            elif not followed.seen and piece.kind == "class":  # nearer than when it became live
                self._classes.ask_for_own(self._growth.class_of(module, piece))
            followed.facts = function.facts
            if number == piece.unit and piece.kind == "class":
                followed.bases = {fact[1] for fact in facts if fact[0] == f.INHERIT}
                followed.made = class_ = self._growth.class_of(module, piece)
                self._classes.want_read_by_type(class_, item)
                self._classes.hand_to_hook(class_)
            self._follow(followed, facts)

    def _follow(self, at: Followed, facts: Iterable[f.Fact]) -> bool:
        """Follow ``facts`` that were not; whether there are such."""
        new = False
        made = at.made if at.made is not None and self._classes.rests(at.made) else None
        if at.piece.type_checking:
            facts = [fact for fact in facts if fact[0] in _NAMING]
        for fact in facts:
            if fact not in at.seen:
                if made is not None and self._is_of_metaclass(at, made, fact):
                    self._resting[made] = at
                    continue
                at.seen.add(fact)
                new = True
                if fact[0] == f.BY_NAME and fact[2] == "fill":
                    pass  # only what fields of templates spell
                elif fact[0] in _BY_ANY_NAME or (fact[0] == f.MEMBER and fact[2] == f.ALL):
                    self._added.ask_all()
                elif fact[0] in _NAMED_AT:
                    self._added.ask(fact[_NAMED_AT[fact[0]]])
                rule = self._rules.get(fact[0])
                if rule is not None:
                    rule(at, fact)
        return new

    def _is_of_metaclass(self, at: Followed, made: Class, fact: f.Fact) -> bool:
        """Whether the statement of ``made`` does that by its metaclass, which makes the class.

        The metaclass is kept as a name then.
        """
        metaclasses = set(self._engine.metaclasses_of(made))
        if fact[0] == f.MEMBER:
            return fact[1] is made or any(fact[1] in self._engine.mro(m) for m in metaclasses)
        if fact[0] != f.NAME:
            by_metaclass = fact[0] == f.CALL and fact[4] == "metaclass"
            return by_metaclass or (fact[0] == f.CLASSREF and fact[1] in metaclasses)
        source = self._growth.program.module(fact[1])
        named = source is not None and self._names_base(source, fact[2], fact[3], metaclasses)
        if named:
            self._name(at, fact, value=False)
        return named

    # --- names, modules

    def _name(self, at: Followed, fact: f.Fact, *, value: bool = True) -> None:
        _, owner, name, versions, pos, *dynamic = fact
        source = self._growth.program.module(owner)
        if source is None:
            return
        inherits = bool(at.bases) and self._names_base(source, name, versions, at.bases)
        written = pos < 0
        kind = (
            ReferenceKind.INHERIT
            if inherits
            else ReferenceKind.WRITE
            if written
            else ReferenceKind.READ
        )
        demand = _demand(at, kind, "name", pos)
        if name == "__call__" and name not in source.summary.scope:  # the module is called
            self._names.want_replaced(source, name, demand)
            return
        if source is not at.module:
            self._growth.keep_module(source.name)
            self._importing.note_use(at.module, f"{source.name}.{name}")
        if source is not at.module and not written:
            self._names.want_replaced(source, name, demand)
        if at.piece.type_checking or (
            value and not written and not inherits and self._only_names_type(at, fact)
        ):
            value, demand.kind = False, ReferenceKind.ANNOTATE
        demand.reads = value and not written and self._only_reads(at, source, name, versions, pos)
        demand.tests = value and not written and self._only_tests(at, pos)
        self._names.want_name(
            source,
            name,
            demand,
            versions=versions,
            # `globals()["name"]` reads a name that linters do not see read.
            local=source is at.module and not dynamic,
            value=value and not inherits,
            written=written,
        )

    def _names_base(
        self, source: Module, name: str, versions: tuple[int, ...] | None, bases: set[Class]
    ) -> bool:
        values = self._engine.values
        return any(
            values[value][0] == "C" and values[value][1] in bases
            for value in self._engine.name_values(source, name, versions)
        )

    def _only_reads(
        self,
        at: Followed,
        source: Module,
        name: str,
        versions: tuple[int, ...] | None,
        pos: int,
    ) -> bool:
        """Whether that name stands for classes of which code only reads attributes there."""
        places = self._reading.get(at.function)
        if places is None:
            places = self._reading[at.function] = attribute_reads(at.function.unit)
        if pos not in places:
            return False
        values = self._engine.name_values(source, name, versions)
        kinds = [self._engine.values[value] for value in values]
        return bool(kinds) and all(
            kind[0] == "C" and self._classes.is_made_alone(kind[1]) for kind in kinds
        )

    def _only_tests(self, at: Followed, pos: int) -> bool:
        """Whether code only asks there whether something is an instance of what is named."""
        places = self._testing.get(at.function)
        if places is None:
            places = self._testing[at.function] = tests(at.function.unit)
        return pos in places

    def _only_names_type(self, at: Followed, fact: f.Fact) -> bool:
        """Whether that name is the argument of an alias, and nobody gets at it by that so far."""
        function, pos = at.function, fact[f.POSITION[f.NAME]]
        known = self._types.get(function)
        if known is None or known[0] is not function.facts:
            types = named_types(self._engine, function)
            known = self._types[function] = function.facts, types
        fate = known[1].get(pos)
        if fate is None:
            return False
        self._types_in_aliases.append((at, fact, fate))
        if self._may_be_asked_for(at, fate):
            return False
        self._named_as_types.append((at, fact, fate))
        return True

    def _may_be_asked_for(self, at: Followed, fate: Fate) -> bool:
        """Whether somebody may ask for the arguments of an alias that has this ``fate``."""
        if fate.is_bound and (at.module.name, at.piece.index) in self._growth.as_values:
            return True
        if fate.is_based and (at.made is None or not self._classes.is_made_alone(at.made)):
            return True
        return self._may_be_made_of(fate)

    def _may_be_made_of(self, fate: Fate) -> bool:
        """Whether somebody asks classes, or instances, for the arguments of such an alias."""
        asked = self._classes.asks_of_aliases
        if (fate.is_based or fate.is_bound) and not asked.isdisjoint(OF_BASES):
            return True
        return fate.is_called and not asked.isdisjoint(OF_INSTANCES)

    def _take_types_as_values(self) -> bool:
        """Follow names of types anew that are more by now; whether there are such."""
        known, self._named_as_types = self._named_as_types, []
        awake = []
        for each in known:
            at, fact, fate = each
            if self._may_be_asked_for(at, fate):
                awake.append((at, fact))
            else:
                self._named_as_types.append(each)
        for at, fact in awake:
            self._name(at, fact)
        named, self._types_in_aliases = self._types_in_aliases, []
        for each in named:
            at, fact, fate = each
            if self._may_be_made_of(fate):
                self._take_all_of_type(at, fact)
            else:
                self._types_in_aliases.append(each)
        fields = self._types_of_fields if self._classes.types_are_taken else []
        given = [each for each in fields if self._gives_type(each[0])]
        for at, fact in given:
            self._types_of_fields.remove((at, fact))
            self._annotation(at, fact)
        made = len(named) > len(self._types_in_aliases)
        return self._guess_types() or bool(awake) or bool(given) or made

    def _guess_types(self) -> bool:
        """Guess that code gets types which reads annotations, whosever; whether there are new ones.

        Of class bodies, and of aliases that are bound to a name, which annotations may have. A base
        outside of which nothing is known may get them as well.
        """
        classes = self._classes
        named = self._named_as_types if classes.annotations_are_read else []
        types = [(at, fact) for at, fact, fate in named if fate.is_bound]
        types += [
            (at, fact)
            for at, fact in self._types_of_fields
            if classes.types_are_taken or classes.may_make_fields(self._class_around(at))
        ]
        new = [(at, fact) for at, fact in types if (at.function, fact) not in self._guessed]
        for at, fact in new:
            self._guessed.add((at.function, fact))
            _, owner, name, versions, *_ = fact
            source = self._growth.program.module(owner)
            if source is not None:
                pos = fact[f.POSITION[fact[0]]]
                guess = _demand(at, ReferenceKind.READ, "annotation", pos, certain=False).guessed()
                known = versions if fact[0] == f.NAME else None
                self._names.want_name(source, name, guess, versions=known)
        return bool(new)

    def _take_all_of_type(self, at: Followed, fact: f.Fact) -> None:
        """Ask for all of a class that somebody takes from the arguments of an alias.

        ``get_args(self.__orig_bases__[0])[0](…)``: what is done with it then is not followed.
        """
        _, owner, name, versions, pos, *_ = fact
        source = self._growth.program.module(owner)
        demand = _demand(at, ReferenceKind.READ, "name", pos).guessed("unknown-receiver")
        values = self._engine.name_values(source, name, versions) if source is not None else ()
        for kind in [self._engine.values[value] for value in sorted(values)]:
            if kind[0] == "C":
                self._classes.make_instance(kind[1], demand)
                for class_ in self._engine.mro(kind[1]):
                    self._growth.keep_members(class_, demand)

    def _annotation(self, at: Followed, fact: f.Fact) -> None:
        _, owner, name, pos, eager = fact
        source = self._growth.program.module(owner)
        if source is not None:
            demand = _demand(at, ReferenceKind.ANNOTATE, "annotation", pos)
            local = source is at.module and eager is not None
            in_body = at.piece.owner >= 0 and at.piece.kind == "assign"
            value = in_body and self._gives_type(at)
            if in_body and not value:
                self._types_of_fields.append((at, fact))
            self._names.want_name(source, name, demand, local=local, value=value)

    def _gives_type(self, at: Followed) -> bool:
        """Whether somebody does more with an annotation of a class body than to read it.

        A base makes the value by it, or code asks that class for its annotations.
        """
        class_ = self._class_around(at)
        taken = self._classes.types_are_taken and class_ in self._classes.listed
        return taken or self._classes.makes_fields(class_)

    def _class_around(self, at: Followed) -> Class:
        return self._engine.class_(at.module, at.piece.owner)

    def _write(self, at: Followed, fact: f.Fact) -> None:
        _, owner, name, pos = fact
        source = self._growth.program.module(owner)
        if source is not None and pos == 0:  # a function rebinds it: `global name`
            demand = _demand(at, ReferenceKind.WRITE, "global", start_of(at.piece))
            self._names.want_name(source, name, demand, value=False, written=True)
        if source is not None and source is not at.module:
            self._engine.patch(source, name, at.function)

    def _unresolved(self, at: Followed, fact: f.Fact) -> None:
        _, name, reason, pos = fact
        source = None
        if reason == "undefined-name":
            source = at.module
            demand = _demand(at, ReferenceKind.READ, "outside-state", pos, certain=False)
            self._outside.note_use(f"builtins.{name}", demand)
        elif reason == "missing-name":
            owner, _, name = name.rpartition(".")
            source = self._growth.program.module(owner)
        elif reason == "no-such-attribute":
            demand = _demand(at, ReferenceKind.READ, reason, pos, certain=False)
            owner, _, name = name.rpartition(".")
            self._classes.build_absent(owner, name, demand)
        if source is not None:
            demand = _demand(at, ReferenceKind.READ, reason, pos, certain=False)
            self._names.want_made(source, name, demand)

    def _module(self, at: Followed, fact: f.Fact) -> None:
        _, name, pos, *through_package = fact
        demand = _demand(at, ReferenceKind.IMPORT, "module", pos)
        self._importing.want_module(at.module, name, demand)
        if through_package:  # `package.module`: somebody's import must have bound it
            self._growth.effects.setdefault(name)

    def _external(self, at: Followed, fact: f.Fact) -> None:
        self._importing.note_use(at.module, fact[1])
        demand = _demand(at, ReferenceKind.READ, "outside-state", fact[2], certain=False)
        self._outside.note_use(fact[1], demand)

    # --- classes, functions

    def _member(self, at: Followed, fact: f.Fact) -> None:
        _, owner, name, pos, is_open, how, certain = fact
        if how in ("class", "line"):
            self._classes.look_at(owner)
        if how in ("write", "delete"):
            demand = _demand(at, ReferenceKind.WRITE, "member", pos)
            if name == f.ALL:  # `setattr(x, key, value)`: which one is told, nobody knows
                demand = demand.guessed("dynamic-attribute")
            self._classes.want_notified(owner, name, how, demand, below=is_open)
            return
        if how == "checked":
            self._classes.want_what_is_checked(
                owner, _demand(at, ReferenceKind.READ, "member", pos)
            )
            return
        if how == "named":
            named = _demand(at, ReferenceKind.ANNOTATE, "annotation", pos)
            self._classes.want_named(owner, name, named)
            return
        kind = ReferenceKind.CALL if how == "call" else ReferenceKind.READ
        demand = _demand(at, kind, "member", pos, certain=certain)
        if name == f.ALL:
            self._classes.want_all(owner, how, demand, below=is_open)
            return
        if certain:
            self._classes.want_member(owner, name, demand, written=pos < 0)
        if how == "super":
            self._classes.want_after(owner, name, demand)
        elif is_open and pos >= 0:
            if how == "class":
                self._classes.want_override(owner, name, demand, of_class=True)
            elif how == "line":
                self._classes.want_in_line(owner, name, demand)
            else:
                self._classes.want_on_instance(owner, name, demand)

    def _call(self, at: Followed, fact: f.Fact) -> None:
        _, function, pos, certain, rule, _ = fact
        demand = _demand(at, ReferenceKind.CALL, rule, pos, certain=certain)
        self._growth.keep_function(function, demand)

    def _instance(self, at: Followed, fact: f.Fact) -> None:
        _, class_, pos = fact
        self._classes.make_instance(class_, _demand(at, ReferenceKind.CALL, "instance", pos))

    def _class_as_value(self, at: Followed, fact: f.Fact) -> None:
        _, class_, pos = fact
        self._classes.make_live(class_, _demand(at, ReferenceKind.READ, "class", pos))

    # --- open values

    def _attribute_of_open(self, at: Followed, fact: f.Fact) -> None:
        _, name, pos, how, value = fact
        kind = ReferenceKind.READ if how == "read" else ReferenceKind.WRITE
        self._note_open(at, how, value, name, kind, "receiver-of-argument", pos)

    def _named_by_open(self, at: Followed, fact: f.Fact) -> None:
        _, value, name, how, pos, of_many = fact
        kind = ReferenceKind.READ if how == "read" else ReferenceKind.WRITE
        demand = _demand(at, kind, "dynamic-attribute", pos, certain=False)
        self._open.note_named(value, name, how, demand, of_many=of_many)

    def _imported_of_open(self, at: Followed, fact: f.Fact) -> None:
        _, value, pos, is_there = fact
        demand = _demand(at, ReferenceKind.IMPORT, "module", pos, certain=False)
        self._open.note("imported", value, is_there, demand)

    def _by_name(self, at: Followed, fact: f.Fact) -> None:
        _, value, how, pos = fact
        if how == "fill":
            demand = _demand(at, ReferenceKind.READ, "dynamic-attribute", pos, certain=False)
            self._open.note("filled", value, None, demand.guessed())
            return
        kind = ReferenceKind.READ if how == "read" else ReferenceKind.WRITE
        self._growth.note_unresolved(at.item, "…", "dynamic-attribute", pos)
        demand = _demand(at, kind, "dynamic-attribute", pos, certain=False)
        self._open.note("spelled", value, how, demand.guessed())

    def _listed_of_open(self, at: Followed, fact: f.Fact) -> None:
        _, value, name, how, pos = fact
        demand = _demand(at, ReferenceKind.READ, "dynamic-attribute", pos, certain=False)
        tests = self._tests.made_by(at) if name == f.ALL else ()
        demand = demand if how == "outside" else demand.guessed()
        self._open.note("listed", value, (name, how, tests), demand)

    def _protocol_of_open(self, at: Followed, fact: f.Fact) -> None:
        _, name, pos, value = fact
        self._note_open(at, "protocol", value, name, ReferenceKind.CALL, "protocol", pos)

    def _call_of_open(self, at: Followed, fact: f.Fact) -> None:
        _, value, args, keywords, spread, pos = fact
        given = Given(args, keywords, spread, at.function)
        demand = _demand(at, ReferenceKind.CALL, "call-of-argument", pos, certain=False)
        self._open.note_called(value, given, demand)

    def _hand(self, at: Followed, fact: f.Fact) -> None:
        _, values, pos, whose = fact
        demand = _demand(at, ReferenceKind.CALL, "handed", pos, certain=False)
        self._open.hand(values, demand, whose)
        for name in self._read_at(at.function, pos):  # `pickle.loads(text).run(values)`
            self._open.pass_by_name(name, values, demand)

    def _read_at(self, function: Function, pos: Position) -> Iterable[str]:
        """The attributes of who knows what that ``function`` uses there."""
        known = self._unknown.get(function)
        if known is None or known[0] is not function.facts:
            names: dict[Position, list[str]] = {}
            for fact in function.facts:
                if fact[0] == f.UNKNOWN:
                    names.setdefault(fact[2], []).append(fact[1])
            known = self._unknown[function] = function.facts, names
        return known[1].get(pos, ())

    def _pass(self, at: Followed, fact: f.Fact) -> None:
        _, function, index, values = fact
        self._open.bind(function, index, values)
        for kind in map(self._engine.values.__getitem__, values):
            if kind[0] == "I":  # declared, perhaps: whoever gets it asks for more than a name
                self._classes.note_met(kind[1])

    def _fill(self, at: Followed, fact: f.Fact) -> None:
        _, holder, name, values = fact
        self._open.fill(holder, name, values)

    def _note_open(
        self,
        at: Followed,
        use: Use,
        value: int,
        name: object,
        kind: ReferenceKind,
        rule: str,
        pos: int,
    ) -> None:
        self._open.note(use, value, name, _demand(at, kind, rule, pos, certain=False))


def _asked_with(lookup: Lookup) -> set[Lookup]:
    """``lookup``, and those whose facts it tells as well."""
    found, waiting = {lookup}, [lookup]
    while waiting:
        for fact in waiting.pop().facts:
            if fact[0] == f.ASKED and fact[1] not in found:
                found.add(fact[1])
                waiting.append(fact[1])
    return found


def _demand(
    at: Followed, kind: ReferenceKind, rule: str, pos: int, *, certain: bool = True
) -> Demand:
    # What stands nowhere (a display, a parameter) is somewhere in the statement.
    place = pos or start_of(at.piece)
    demand = Demand.of(at.item, at.module, kind, rule, place, certain=certain)
    return demand.supposing(at.supposed)


def _named(gap: Unresolved, of_item: Iterable[Followed], words: Words) -> Unresolved:
    """``gap``, in the words of the code where so far only its place tells what it is."""
    if gap.name != UNNAMED:
        return gap
    near = [each for each in of_item if _has_line(each.function.unit, gap.site.line)]
    return words.named(gap, [(each.module, each.function.unit) for each in near])


def _has_line(unit: Unit, line: int) -> bool:
    return unit.line <= line <= unit.end_line
