"""Names: module scopes, class scopes, free variables, parameters, imports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.idle import IdlePieces
from depslice.callgraph.engine.parts import STORES, names_members
from depslice.callgraph.engine.values import EMPTY, Cell, Class, Function, Value, Values
from depslice.callgraph.program import BUILTIN_NAMES, MODULE_NAMES, Module, top_bound
from depslice.callgraph.summary import Op, Piece, Position, TypeExpr

_IMPORTING = frozenset({"importlib", "pkgutil", "runpy"})  # modules that import others by name


class ScopeEvaluation(IdlePieces):
    """What names stand for."""

    def is_protocol(self, class_: Class) -> bool:
        """Implemented by the part for class statements."""
        raise NotImplementedError

    def declared(self, module: Module, function: Function | None, expression: TypeExpr) -> Values:
        """Implemented by the annotation part."""
        raise NotImplementedError

    def tells_all(self, module: Module, function: Function | None, expression: TypeExpr) -> bool:
        """Implemented by the annotation part."""
        raise NotImplementedError

    def load_attribute(self, receivers: Values, name: str, pos: Position) -> Values:
        """Implemented by the attribute part."""
        raise NotImplementedError

    # --- module scope

    def module_name(self, module: Module, name: str) -> frozenset[int]:
        """What names of its own a module has (language reference, 3.2.8)."""
        if name == "__name__":
            return self.single(("S", module.name))
        if name == "__package__":
            return self.single(("S", module.package))
        return self.constants[s.STR]

    def read_name(
        self, module: Module, name: str, versions: tuple[int, ...] | None, pos: Position
    ) -> Values:
        """The values of a module-scope (or builtin) name, read at ``pos`` in ``module``."""
        known = self._names.get(module.name)
        if known is None:
            known = self._names[module.name] = {}
        key = name if versions is None else (name, versions)
        lookup = known.get(key)
        if lookup is None:
            lookup = known[key] = self.new_lookup(("name", module, name, versions))
            self.answer(lookup)
        return self.ask(lookup, pos)

    def find_name(
        self, module: Module, name: str, versions: tuple[int, ...] | None, pos: Position
    ) -> Values:
        """Evaluate a name that was not asked for before."""
        found = self._find_bound(module, name, versions, pos)
        if not self.whole and versions is None:
            found = found | self._stored_elsewhere(module, name)
        if versions is None and name in module.summary.deleted and name in BUILTIN_NAMES:
            self.facts.append((f.EXTERNAL, f"builtins.{name}", pos, False))
            return found | self.single(("X", f"builtins.{name}"))
        return found

    def _find_bound(
        self, module: Module, name: str, versions: tuple[int, ...] | None, pos: Position
    ) -> Values:
        is_bound = name in module.summary.scope
        found = None if is_bound else self.program.star_source(module, name)
        if is_bound or (found is not None and found[0] and name in module.summary.global_writers):
            self.facts.append((f.NAME, module.name, name, versions, pos))
            return self.name_values(module, name, versions)
        if found is not None:
            source, piece = found
            if source is not None:
                values: Values = EMPTY
                for each, index in self.program.star_sources(module, name, versions):
                    self.facts.append((f.NAME, module.name, name, (index,), pos))
                    values = values | self.module_member(each, name)
                return values
            self.facts.append((f.NAME, module.name, name, (piece,), pos))
            dotted = self.program.given_outside(module, piece, name)
            if dotted is None:
                return self.unknown
            self.facts.append((f.EXTERNAL, dotted, pos, False))
            return self.single(("X", dotted))
        if name in MODULE_NAMES:
            if name == "__doc__":
                self.facts.append((f.NAME, module.name, name, None, pos))
            return self.module_name(module, name)
        if name in BUILTIN_NAMES:
            self.facts.append((f.EXTERNAL, f"builtins.{name}", pos, False))
            return self.single(("X", f"builtins.{name}"))
        if name in module.summary.global_writers:
            self.facts.append((f.NAME, module.name, name, None, pos))
            return self.name_values(module, name, None)
        stored = self.read(self.variable_cell(module, name, -1)) if self.whole else EMPTY
        if stored:
            return stored
        inner = f"{module.name}.{name}"
        if self.program.is_module(inner):  # whoever imports a submodule binds it in its package
            self.facts.append((f.MODULE, inner, pos, "attribute"))
            return self.single(("M", inner))
        self.facts.append((f.UNRESOLVED, name, "undefined-name", pos))
        return self.unknown

    def _stored_elsewhere(self, module: Module, name: str) -> Values:
        """What code of other modules puts in the place of a name, in a slice: ``lib.name = value``."""
        return self.read(self.variable_cell(module, name, -1))

    def name_values(self, module: Module, name: str, versions: tuple[int, ...] | None) -> Values:
        """The values of a name of ``module``'s scope."""
        patched = name in self.stored
        alone = versions is None or (len(versions) == 1 and versions[0] not in module.summary.stars)
        if alone and not patched:
            stable = self._stable_values(module, name)
            if stable is not None:
                return stable
        pieces = self.program.binding_pieces(module, name, versions)
        writers = module.summary.global_writers.get(name, ())
        if len(pieces) == 1 and not writers and not patched:
            return self._piece_values(module, name, pieces[0])
        values: set[int] = set()
        for piece in self.that_run(module, pieces):
            values |= self._piece_values(module, name, piece)
        for unit in writers:
            writer = self.function(module, unit)
            if writer is not self.current:
                self.ensure(writer, STORES)
        if writers or patched:
            values |= self.read(self.variable_cell(module, name, -1))
        return values

    def _stable_values(self, module: Module, name: str) -> Values | None:
        """The one object a name can only ever be: defined once, undecorated, never rebound."""
        key = (module.name, name)
        try:
            return self._stable[key]
        except KeyError:
            self._stable[key] = None  # a cycle of imports settles nothing
            found = self._stable[key] = self._find_stable(module, name)
            return found

    def _find_stable(self, module: Module, name: str) -> Values | None:
        summary = module.summary
        pieces = summary.scope.get(name, ())
        if len(pieces) != 1 or name in summary.global_writers:
            return None
        if summary.stars and self.program.binding_pieces(module, name, None) != tuple(pieces):
            return None
        piece = summary.pieces[pieces[0]]
        if piece.kind != "import":
            return self.direct_definition(module, piece)
        for bound, level, target, item in piece.imports:
            if bound != name or item is None:
                continue
            absolute = self.program.import_target(module, level, target)
            if self.program.comes_as_submodule(module, absolute, item):
                return self.module_value(f"{absolute}.{item}")
            source = self.program.module(absolute)
            if source is not None and source is not module and item in source.summary.scope:
                return self._stable_values(source, item)
            if not self.program.is_module(absolute):
                return self.single(("X", f"{absolute}.{item}"))
        return None

    def _piece_values(self, module: Module, name: str, index: int) -> Values:
        piece = module.summary.pieces[index]
        if index in module.summary.stars:
            source = self.program.star_of(module, index, name)
            if source is not None:
                return self.module_member(source, name)
            dotted = self.program.given_outside(module, index, name)
            return EMPTY if dotted is None else self.single(("X", dotted))
        if piece.kind == "import":
            return self._imported(module, piece, name)
        direct = self.direct_definition(module, piece)
        if direct is not None:
            return direct
        cell = self.variable_cell(module, name, index)
        if piece.unit >= 0:
            self.ensure(self.function(module, piece.unit))
        return self.read(cell)

    def direct_definition(self, module: Module, piece: Piece) -> Values | None:
        """The object an undecorated ``def`` or ``class`` binds, known without evaluation."""
        if piece.kind not in ("def", "class"):
            return None
        if piece not in self._direct:
            self._direct[piece] = self._find_direct(module, piece)
        return self._direct[piece]

    def _find_direct(self, module: Module, piece: Piece) -> Values | None:
        for op in module.summary.units[piece.unit].ops:
            if op[0] == s.FUNCTION:
                if module.summary.units[op[2]].flags & (s.DECORATED | s.PROPERTY):
                    return None
                return self.single(("F", self.function(module, op[2])))
            if op[0] == s.CLASS:
                if module.summary.classes[op[2]].decorators:
                    return None
                return self.single(("C", self.class_(module, op[2]), True))
        return None

    def _imported(self, module: Module, piece: Piece, name: str) -> Values:
        for bound, level, target, item in piece.imports:
            if bound == name:
                if item is not None:
                    absolute = self.program.import_target(module, level, target)
                    if self.program.comes_as_submodule(module, absolute, item):
                        return self.module_value(f"{absolute}.{item}")
                return self.import_entry(module, level, target, item)
        return EMPTY

    def import_entry(self, module: Module, level: int, target: str, item: str | None) -> Values:
        """What one alias of an import statement binds."""
        absolute = self.program.import_target(module, level, target)
        if item is None:
            return self.module_value(absolute if level < 0 else top_bound(absolute, target))
        return self.from_import(module, absolute, item)

    def module_value(self, name: str) -> Values:
        """The module object of a dotted name."""
        if self.program.is_module(name):
            return self.single(("M", name))
        return self.single(("X", name))

    def from_import(self, importer: Module, absolute: str, item: str) -> Values:
        """``from absolute import item``."""
        source = self.program.module(absolute)
        if source is not None and source is not importer and self.program.may_have(source, item):
            found = self.module_member(source, item)
            for early in self._given_early(importer, source, item):
                found = found | self.module_member(early, item)
            return found
        if self.program.is_module(f"{absolute}.{item}"):
            return self.single(("M", f"{absolute}.{item}"))
        if source is not None and item in source.summary.scope:
            return self.module_member(source, item)
        if source is not None:
            return self._module_getattr(source, item)
        if self.program.is_module(absolute):
            return self.unknown
        return self.single(("X", f"{absolute}.{item}"))

    def _given_early(self, importer: Module, package: Module, name: str) -> Iterator[Module]:
        """What gives a module of a package ``name``, if that runs while the package does.

        ``from .first import *; from .second import *``: what the second imports has it from the
        first, if it asks the package.
        """
        stars = package.summary.stars
        if self.whole or len(stars) < 2 or not importer.name.startswith(f"{package.name}."):
            return
        for index in stars:
            given_by = self.program.star_of(package, index, name)
            if given_by is not None:
                yield given_by

    def module_member(self, module: Module, name: str) -> Values:
        """``module.name`` as another module sees it."""
        if (module.name, name) in self._resolving:
            return EMPTY
        self._resolving.add((module.name, name))
        try:
            if name in module.summary.scope:
                found = self.name_values(module, name, self._left_behind(module, name))
                return found if self.whole else found | self._stored_elsewhere(module, name)
            return EMPTY.union(*(self._own(each, name) for each in self._givers(module, name)))
        finally:
            self._resolving.discard((module.name, name))

    def _left_behind(self, module: Module, name: str) -> tuple[int, ...] | None:
        """The bindings that other modules see when ``module`` has run; ``None``: all that count.

        They do over a whole program, if nothing else of that runs while it does.
        """
        bound = module.summary.scope.get(name, ())
        if not self.whole or len(bound) < 2 or module.summary.stars:
            return None
        if module not in self._running_others:
            self._running_others[module] = self._runs_others(module)
        if self._running_others[module]:
            return None
        final = module.summary.final.get(name, ())
        left = tuple([p for p in module.current_pieces(name, None) if p in final])
        return left or None

    def _runs_others(self, module: Module) -> bool:
        """Whether a module imports another of the program, or may: those may look back at it.

        Anywhere in it, and by name too (``importlib``, ``__import__``, ``sys.modules``).
        """
        summary = module.summary
        named = [i[1:] for piece in summary.pieces for i in piece.imports]
        named += [op[2:5] for unit in summary.units for op in unit.ops if op[0] == s.IMPORT]
        for level, target, item in named:
            base = self.program.import_target(module, level, target)
            if base.partition(".")[0] in _IMPORTING:
                return True
            if self.program.module(base) or self.program.module(f"{base}.{item}"):
                return True
        return any(
            (op[0] == s.GLOBAL and op[2] == "__import__")
            or (op[0] == s.ATTR and op[3] == "modules")
            for unit in summary.units
            for op in unit.ops
        )

    def _givers(self, module: Module, name: str) -> Iterator[Module]:
        """The modules that bind ``name``, or have it from outside: this one, or by its stars."""
        waiting = {module.name: module}
        seen: set[str] = set()
        while waiting:
            _, each = waiting.popitem()
            seen.add(each.name)
            sources: Sequence[tuple[Module, int]] = ()
            if name not in each.summary.scope and name not in each.summary.global_writers:
                sources = self.program.star_sources(each, name)
            if not sources:
                yield each
            waiting |= {source.name: source for source, _ in sources if source.name not in seen}

    def _own(self, module: Module, name: str) -> Values:
        """``module.name``, where no star of a module of the program gives it."""
        if name in module.summary.scope or name in module.summary.global_writers:
            return self.name_values(module, name, None)
        found = self.program.star_source(module, name)
        if found is None or found[0] is not None:
            return EMPTY
        dotted = self.program.given_outside(module, found[1], name)
        return self.unknown if dotted is None else self.single(("X", dotted))

    def _module_getattr(self, module: Module, name: str, pos: Position = -1) -> Values:
        """PEP 562: what the module's ``__getattr__`` gives."""
        values: set[int] = set(self.unknown)
        for value in self.name_values(module, "__getattr__", None):
            kind = self.values[value]
            if kind[0] == "F" and self.whole:
                if pos >= 0:
                    self.facts.append((f.CALL, kind[1], pos, True, "getattr", False))
                asked = self._asked_for(kind[1], name)
                self.ensure(asked)
                values |= self.read(asked.ret)
            elif kind[0] == "F":
                if kind[1].unit.params:
                    self.facts.append((f.PASS, kind[1], 0, self.single(("S", name))))
                self.ensure(kind[1])
                values |= self.read(kind[1].ret)
        return values

    def _asked_for(self, getter: Function, name: str) -> Function:
        """A module's ``__getattr__`` at work for just this name."""
        key = (getter.module.name, getter.unit.index, name)
        found = self._getters.get(key)
        if found is None:
            found = self._getters[key] = self.new_function(getter.module, getter.unit)
            self.tasks.append(found)
            self.called.add(found)
            self.write(self.parameter_cell(found, 0), self.single(("S", name)))
        return found

    def import_values(
        self, module: Module, level: int, target: str, item: str | None, pos: Position
    ) -> Values:
        """An import statement that runs in a function or a class body."""
        absolute = self.program.import_target(module, level, target)
        if item is None:
            top = absolute if level < 0 else top_bound(absolute, target)
            if self.program.is_module(absolute):
                self.facts.append((f.MODULE, absolute, pos))
            elif self.program.is_module(top):
                self.facts.append((f.UNRESOLVED, absolute, "missing-module", pos))
            else:
                self.facts.append((f.EXTERNAL, absolute, pos, False))
            return self.module_value(top)
        source = self.program.module(absolute)
        if source is not None and self.program.may_have(source, item):
            self.facts.append((f.NAME, source.name, item, None, pos))
        elif self.program.is_module(f"{absolute}.{item}"):
            self.facts.append((f.MODULE, f"{absolute}.{item}", pos))
        elif source is not None and "__getattr__" in source.summary.scope:
            self.facts.append((f.NAME, source.name, item, None, pos))
        elif self.program.is_module(absolute):
            self.facts.append((f.UNRESOLVED, f"{absolute}.{item}", "missing-name", pos))
        else:
            self.facts.append((f.EXTERNAL, f"{absolute}.{item}", pos, False))
        inner = f"{absolute}.{item}"
        if source and not self.program.may_have(source, item) and not self.program.is_module(inner):
            return self._module_getattr(source, item, pos)
        return self.from_import(module, absolute, item)

    def bind(self, function: Function, name: str, values: Values) -> None:
        """A piece binds ``name`` in its scope."""
        module = function.module
        piece = module.summary.pieces[function.unit.piece]
        if function.unit.owner >= 0:
            owner = self.class_(module, function.unit.owner)
            self.write(self.cell("cv", owner, name, piece.index), values)
            if not self.whole and piece.kind == "assign":
                self.note_borrowed(owner, values)
        else:
            self.write(self.variable_cell(module, name, piece.index), values)

    def note_borrowed(self, owner: Class, values: Values) -> None:
        """Implemented by the class part."""
        raise NotImplementedError

    # --- class scope and free variables

    def read_class_variable(
        self, module: Module, class_index: int, name: str, versions: tuple[int, ...], pos: Position
    ) -> Values:
        """A name of the class scope, read in the class body."""
        owner = self.class_(module, class_index)
        self.facts.append((f.MEMBER, owner, name, pos, False, "read", True))
        values: set[int] = set()
        for piece in versions:
            values |= self.class_piece_values(owner, name, piece)
        return values

    def class_piece_values(self, owner: object, name: str, index: int) -> Values:
        """Implemented by the attribute part."""
        raise NotImplementedError

    def read_free(self, module: Module, owner_unit: int, name: str) -> Values:
        """A variable of an enclosing function."""
        owner = self.function(module, owner_unit)
        if owner is not self.current:
            self.ensure(owner)
        return self.read(self.free_cell(owner, name))

    # --- parameters

    def parameter_values(self, function: Function, index: int) -> Values:
        """What parameter ``index`` can be: declared type, default, receiver, arguments."""
        unit = function.unit
        _, kind, annotation, has_default = unit.params[index]
        receiver = self.receiver(function, index)
        if receiver is not None:
            return self._actual_receivers(function, receiver) if self.whole else receiver
        values: set[int] = set()
        values.add(self.intern(("P", function, index)))
        if kind == "va":
            return self._variadic(function, index, annotation, "builtins.tuple")
        if kind == "kw":
            return self._variadic(function, index, annotation, "builtins.dict")
        if annotation is not None:
            declared = self.declared(function.module, function, annotation)
            if self._says_something(declared) and not self._is_told_by_callers(
                function, index, declared
            ):
                if self._may_be_alike(declared) or not (
                    self.whole or self.tells_all(function.module, function, annotation)
                ):
                    values |= declared
                else:
                    values = set(declared)
        default: Values = EMPTY
        if has_default and self._is_left_out(function, index):
            default = self._default_values(function, index)
        values |= default
        if self.whole:
            passed: Values = self.read(self.parameter_cell(function, index)) - self.unknown
            if passed and annotation is not None:
                passed = self.fitting(function, annotation, passed)
            if passed and annotation is not None and not self.is_open(function, index):
                # callers say it more precisely
                values = {self.intern(("P", function, index))} | default
            values |= passed
        return values

    def is_declared(self, function: Function, index: int) -> bool:
        """Whether an annotation says something of what the parameter is."""
        annotation = function.unit.params[index][2]
        if annotation is None:
            return False
        declared = self.declared(function.module, function, annotation)
        held = [self.values[v][2][-1:] for v in declared if self.values[v][0] == "G"]
        if any(last == (EMPTY,) for last in held):  # `list[Any]`: what is in it may be anything
            return False
        return self._says_something(declared)

    def _says_something(self, declared: Values) -> bool:
        return bool(declared) and not declared <= self.unknown and not self.is_vague(declared)

    def _is_told_by_callers(self, function: Function, index: int, declared: Values) -> bool:
        """``name: str`` that names an attribute: which one, only callers say."""
        return not self.whole and any(
            self.values[v] == ("XI", "builtins.str") and index in names_members(function)
            for v in declared
        )

    def _may_be_alike(self, declared: Values) -> bool:
        """Whether something of no such class may be passed: a callable, what fits a protocol.

        Only callers know what that is; in a whole program it has been passed.
        """
        if self.whole:
            return False
        kinds = [self.values[value] for value in declared]
        return any(
            kind[0] == "CB"
            or (kind[0] == "I" and self.is_protocol(kind[1]))
            or (kind[0] in ("XI", "G") and self.outside.is_structural(kind))
            for kind in kinds
        )

    def is_vague(self, declared: Values) -> bool:
        """``x: object``, ``cls: type``: what is passed says more."""
        return all(
            self.values[v][0] == "XI" and self.values[v][1] in ("builtins.object", "builtins.type")
            for v in declared
        )

    def is_open(self, function: Function, index: int) -> bool:
        """Whether a caller passes something unknown, or nobody is known to call."""
        return self.unknown_id in self.parameter_cell(function, index).values

    def _actual_receivers(self, function: Function, anything: Values) -> Values:
        """The instances that known callers call a method on; ``anything`` subsumes them."""
        passed = self.read(self.parameter_cell(function, 0))
        [receiver] = anything
        if not anything <= passed:
            # A wrapper of many methods passes each the instances of all: none may be its own.
            return passed if self._has_own(passed, self.values[receiver]) else passed | anything
        heirs = self.heirs(receiver, function.unit.qualname.rpartition(".")[2])
        if heirs is not None:
            return heirs | (passed - anything)
        tag, class_, _ = self.values[receiver]
        kinds = [(value, self.values[value]) for value in passed]
        others = {value for value, kind in kinds if kind[0] != tag}
        if tag == "C" and self.is_metaclass(class_):  # Python passes it the classes it makes, too
            others |= {v for v, kind in kinds if kind[0] == "C" and class_ not in self.mro(kind[1])}
        return anything | others

    def _has_own(self, passed: Values, receiver: Value) -> bool:
        """Whether one of ``passed`` is of the receiver's class, or of one below it."""
        return not passed or any(
            kind[0] != receiver[0] or receiver[1] in self.mro(kind[1])
            for kind in map(self.values.__getitem__, passed)
        )

    def mro(self, class_: Class) -> tuple[Class, ...]:
        """Implemented by the part for class statements."""
        raise NotImplementedError

    def is_metaclass(self, class_: Class) -> bool:
        """Implemented by the part for class statements."""
        raise NotImplementedError

    def heirs(self, receiver: int, method: str) -> Values | None:
        """Implemented by the fitting part."""
        raise NotImplementedError

    def fitting(self, function: Function, annotation: TypeExpr, passed: Values) -> Values:
        """Implemented by the fitting part."""
        raise NotImplementedError

    def has_receiver(self, function: Function) -> bool:
        """Whether some instance is known that ``function`` is called on, if it needs one."""
        if function in self.called and (
            not function.unit.params or self.receiver(function, 0) is None
        ):
            return True
        cell = function.params.get(0)
        return cell is not None and bool(cell.values)

    def open_function(self, function: Function) -> None:
        """Nobody of the program calls ``function``: someone else may, with anything."""
        self.opened.add(function)
        if function.signature.optional:
            self.leave_out(function, function.signature.optional)
        for index, (_, _, annotation, _) in enumerate(function.unit.params):
            receiver = self.receiver(function, index)
            if receiver is not None:
                self.write(self.parameter_cell(function, index), receiver)
            elif annotation is not None:
                self.write(self.parameter_cell(function, index), self.unknown)

    def leave_out(self, function: Function, parameters: AbstractSet[int]) -> None:
        """Somebody calls ``function`` without an argument for ``parameters``."""
        cell = self.cell("left out", function)
        self.mark(cell, parameters)
        if cell.values == function.signature.optional:
            self.spared.add(function)

    def _is_left_out(self, function: Function, index: int) -> bool:
        """Whether the default of a parameter is used: by a caller that is known, or may be."""
        if not self.whole or function in self.spared:
            return True
        return index in self.read(self.cell("left out", function))

    def _default_values(self, function: Function, index: int) -> Values:
        cell = function.defaults.get(index)
        if cell is None:
            cell = function.defaults[index] = Cell()
        piece = function.module.summary.pieces[function.unit.piece]
        parent = function.unit.parent
        if parent < 0 and piece.unit >= 0:
            definer = self.function(function.module, piece.unit)
            if definer is not self.current:
                self.ensure(definer)
        return self.read(cell)

    def _variadic(
        self,
        function: Function,
        index: int,
        annotation: TypeExpr | None,
        kind: str,
    ) -> Values:
        container = self.intern(("K", kind.partition(".")[2], function, index))
        elements = self.elements_cell(container)
        if annotation is not None:
            self.write(elements, self.declared(function.module, function, annotation))
        if self.whole:
            self.write(elements, self.read(self.parameter_cell(function, index)) - self.unknown)
            if function in self.called:
                return {container}
        anything = self.derive("E", self.intern(("P", function, index)))
        self.write(elements, anything)
        self.write(self.anywhere_cell(container), anything)
        return {container}

    def parameter_cell(self, function: Function, index: int) -> Cell:
        """What callers pass to parameter ``index``."""
        cell = function.params.get(index)
        if cell is None:
            cell = function.params[index] = Cell()
        return cell

    def receiver(self, function: Function, index: int) -> Values | None:
        """What parameter ``index`` is if it is the receiver of a method."""
        unit = function.unit
        if index or unit.owner < 0 or unit.kind == "lambda":
            return None
        owner = self.class_(function.module, unit.owner)
        simple = unit.qualname.rpartition(".")[2]
        if simple == "__new__" or unit.flags & s.CLASSMETHOD:
            return self.single(("C", owner, False))
        if unit.flags & s.STATIC:
            return None
        return self.single(("I", owner, False))

    def make_function(self, function: Function, op: Op, registers: Sequence[Values]) -> Values:
        """A ``def`` or lambda: its defaults are values of its parameters."""
        made = self.function(function.module, op[2])
        for index, register in op[3]:
            cell = made.defaults.get(index)
            if cell is None:
                cell = made.defaults[index] = Cell()
            self.write(cell, registers[register])
        return self.single(("F", made))
