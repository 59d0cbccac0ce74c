"""Module and class scopes to pieces, with what each binds, mutates, and runs under."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from depslice.callgraph import summary as s
from depslice.callgraph.lowering.definitions import DefinitionLowering, Function, Path
from depslice.callgraph.lowering.expressions import CAUGHT
from depslice.callgraph.lowering.frame import ClassScope, Frame
from depslice.callgraph.lowering.names import bind_target, bound_names, pattern_names
from depslice.callgraph.lowering.narrowing import Shown, classes_shown
from depslice.callgraph.lowering.overwritten import overwritten, replaced_members, replaced_unseen
from depslice.callgraph.lowering.standing import Line
from depslice.callgraph.lowering.syntax import (
    asks_for_main,
    constant_texts,
    ends_in_jump,
    flags_of_checkers,
    import_entries,
    is_overload,
    known_truth,
    made_each_time,
    operands,
    root_name,
    string_list,
)
from depslice.callgraph.summary import FileSummary, Piece, pack

_COMPOUND_KINDS: dict[type[ast.stmt], str] = {
    ast.If: "if",
    ast.For: "loop",
    ast.AsyncFor: "loop",
    ast.While: "loop",
    ast.With: "with",
    ast.AsyncWith: "with",
    ast.Try: "try",
    ast.TryStar: "try",
    ast.Match: "match",
}


class _When(NamedTuple):
    """When the statements of a block run, as :class:`Piece` has it."""

    conditional: bool = False
    type_checking: bool = False
    script: bool = False


_ALWAYS = _When()

_VERSIONS = {s.GLOBAL: 3, s.CLASSVAR: 4}
"""Where an operation that reads a name has the pieces that may have bound it, after the name."""


class FileLowering(DefinitionLowering):
    """Lowers one module; :func:`depslice.callgraph.lowering.summarize` is the way in."""

    def __init__(self, *, future_annotations: bool, walrus: Sequence[int]) -> None:
        super().__init__(future_annotations=future_annotations, walrus=walrus)
        self.module_versions = {}
        self.dynamic = []
        self.scope: dict[str, list[int]] = {}
        self.mutations: dict[str, dict[int, None]] = {}
        self.deleted: dict[str, None] = {}
        self.stars: list[int] = []
        self.line = Line({})
        self.overloads: set[int] = set()  # their later redefinition does not replace them
        self.dunder_all: tuple[str, ...] | None = None
        self.all_is_open = False
        self.frame = Frame(unit=-1, parent=None, piece=-1, class_scope=None, is_function=False)

    def scope_body(
        self,
        body: list[ast.stmt],
        path: Path,
        *,
        parent: int,
        owner: ClassScope | None,
        qualprefix: str,
        outer: Frame | None,
        when: _When = _ALWAYS,
    ) -> list[int]:
        """The pieces of ``body``, a block of the module scope or of a class scope."""
        made: list[int] = []
        if parent < 0 or self.pieces[parent].kind == "class":
            self.unseen.update(overwritten(body))
        if parent < 0:
            self.unseen.update(replaced_unseen(body))
        assumed = self.assumed
        for index, node in enumerate(body):
            place = (*path, index)
            piece = self._piece(node, place, parent, owner, when)
            made.append(piece.index)
            context = (owner, qualprefix, outer, piece)
            if isinstance(node, Function):
                self._function_piece(node, *context)
            elif isinstance(node, ast.ClassDef):
                defined = len(self.classes)
                self._class_piece(node, *context)
                if owner is None and outer is None and parent < 0:
                    self._replace_members(body, index, defined)
            elif type(node) in _COMPOUND_KINDS:
                self._compound_piece(node, *context)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self._import_piece(node, piece, owner, qualprefix, outer)
            else:
                self._simple_piece(node, index, *context)
            if owner is None:  # what is shown for the rest of the block
                if isinstance(node, ast.Assert):
                    self._assume(node.test, positive=True)
                elif isinstance(node, ast.If) and ends_in_jump(node.body):
                    self._assume(node.test, positive=False)
        self.assumed = assumed
        return made

    def _assume(self, test: ast.expr, *, positive: bool) -> None:
        """What ``test`` has shown of names of the module holds from here on."""
        for name, classes, how in classes_shown(test, positive=positive):
            self._assume_classes(name, classes, positive=how)

    def _assume_classes(self, name: str, classes: ast.expr, *, positive: bool | int) -> None:
        if name in self.rebound or isinstance(classes, ast.Call):
            return
        shown = (self.module_versions.get(name), classes, positive)
        self.assumed = {**self.assumed, name: (*self.assumed.get(name, ()), shown)}

    def _piece(
        self,
        node: ast.stmt,
        path: Path,
        parent: int,
        owner: ClassScope | None,
        when: _When,
    ) -> Piece:
        start = node.lineno
        decorators = getattr(node, "decorator_list", None)
        if decorators:
            start = min(start, decorators[0].lineno)
        piece = Piece(
            index=len(self.pieces),
            path=path,
            kind="other",
            parent=parent,
            unit=-1,
            owner=-1 if owner is None else owner.index,
            start=start,
            end=node.end_lineno or node.lineno,
            binds=(),
            mutates=(),
            conditional=when.conditional,
            imports=(),
            type_checking=when.type_checking,
            script=when.script,
            name_line=node.lineno,
        )
        self.pieces.append(piece)
        return piece

    def _open_piece(self, piece: Piece, owner: ClassScope | None, outer: Frame | None) -> Frame:
        frame = Frame(
            unit=len(self.units),
            parent=outer,
            piece=piece.index,
            class_scope=owner,
            is_function=False,
        )
        self.units.append(None)
        piece.unit = frame.unit
        if owner is None and outer is None:
            frame.line = self.line
        self.frame = frame
        return frame

    def _close_piece(
        self, frame: Frame, piece: Piece, qualname: str, owner: ClassScope | None
    ) -> None:
        self.finish_unit(
            frame,
            kind="piece",
            qualname=qualname,
            owner=-1 if owner is None else owner.index,
            line=piece.start,
            end_line=piece.end,
            name_line=piece.name_line,
        )
        if frame.line is self.line and self.line.places:
            self.line.step(frame.ops)

    def _bind_scope(self, piece: Piece, names: Iterable[str], owner: ClassScope | None) -> None:
        """``names`` are bound by ``piece``: they are current from here on."""
        unique = tuple(dict.fromkeys(names))
        piece.binds = piece.binds + tuple(n for n in unique if n not in piece.binds)
        versions = self.module_versions if owner is None else owner.versions
        for name in unique:
            versions[name] = (piece.index,)
            if owner is None:
                self.deleted.pop(name, None)
                known = self.scope.setdefault(name, [])
                if piece.index not in known:
                    known.append(piece.index)

    def _function_piece(
        self,
        node: Function,
        owner: ClassScope | None,
        prefix: str,
        outer: Frame | None,
        piece: Piece,
    ) -> None:
        piece.kind = "def"
        frame = self._open_piece(piece, owner, outer)
        self._decorator_mutations(node, piece, owner)
        register = self.define_function(node, prefix + node.name, owner)
        self.frame.ops.append((s.BIND, node.name, register))
        versions = self.module_versions if owner is None else owner.versions
        before = tuple([p for p in versions.get(node.name, ()) if p in self.overloads])
        self._bind_scope(piece, (node.name,), owner)
        versions[node.name] = (*before, piece.index)
        if any(is_overload(decorator) for decorator in node.decorator_list):
            self.overloads.add(piece.index)
        self._close_piece(frame, piece, prefix + node.name, owner)

    def _class_piece(
        self,
        node: ast.ClassDef,
        owner: ClassScope | None,
        prefix: str,
        outer: Frame | None,
        piece: Piece,
    ) -> None:
        piece.kind = "class"
        frame = self._open_piece(piece, owner, outer)
        self._decorator_mutations(node, piece, owner)
        register = self.define_class(node, prefix + node.name, owner, piece)
        self.frame.ops.append((s.BIND, node.name, register))
        self._bind_scope(piece, (node.name,), owner)
        self._close_piece(frame, piece, prefix + node.name, owner)
        self.line.clear()

    def _replace_members(self, body: list[ast.stmt], index: int, made: int) -> None:
        """Members that the next statements of the module replace before anybody can look are gone."""
        info = self.classes[made]
        assert info is not None
        for attribute in replaced_members(body, index, self._is_surely_bound):
            if attribute in info.members:
                info.final[attribute] = ()

    def _is_surely_bound(self, name: str) -> bool:
        """Whether a name of the module that one of its statements defines has stayed so far."""
        known = self.scope.get(name, ())
        return (
            name not in self.rebound
            and name not in self.mutations
            and all(self.pieces[piece].kind == "def" for piece in known)
        )

    def _decorator_mutations(
        self, node: Function | ast.ClassDef, piece: Piece, owner: ClassScope | None
    ) -> None:
        for decorator in node.decorator_list:
            call = decorator
            while isinstance(call, ast.Call):
                call = call.func
            if isinstance(call, ast.Attribute | ast.Subscript):
                root = root_name(call)
                if root is not None and (owner is None or root not in owner.versions):
                    self._mutates(piece, root, owner)
            elif isinstance(call, ast.Name) and owner is None:
                self._mutates(piece, call.id, owner)
            self._argument_mutations(decorator, piece, owner)

    def _mutates(self, piece: Piece, name: str, owner: ClassScope | None) -> None:
        if name not in piece.mutates:
            piece.mutates = (*piece.mutates, name)
        if owner is None or name not in owner.versions:
            self.mutations.setdefault(name, {})[piece.index] = None

    def _import_piece(
        self,
        node: ast.Import | ast.ImportFrom,
        piece: Piece,
        owner: ClassScope | None,
        prefix: str,
        outer: Frame | None,
    ) -> None:
        piece.kind = "import"
        self.line.interrupt()
        entries = import_entries(node)
        if isinstance(node, ast.ImportFrom) and node.module == "__future__" and not node.level:
            piece.kind = "future"
            self._bind_scope(piece, [bound for bound, *_ in entries], owner)
            return
        piece.imports = entries
        if any(bound == "*" for bound, *_ in entries):
            self.stars.append(piece.index)
            self.deleted.clear()  # it may bind any of them
            versions = self.module_versions if owner is None else owner.versions
            versions.update({bound: (*known, piece.index) for bound, known in versions.items()})
            return
        if owner is not None or outer is not None:  # imports of a class scope are values of it
            frame = self._open_piece(piece, owner, outer)
            for bound, level, module, name in entries:
                register = frame.new()
                pos = pack(node.lineno, node.col_offset)
                frame.ops.append((s.IMPORT, register, level, module, name, pos))
                frame.ops.append((s.BIND, bound, register))
            self._close_piece(frame, piece, prefix.rstrip("."), owner)
        self._bind_scope(piece, [bound for bound, *_ in entries], owner)

    def _simple_piece(
        self,
        node: ast.stmt,
        index: int,
        owner: ClassScope | None,
        prefix: str,
        outer: Frame | None,
        piece: Piece,
    ) -> None:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            piece.kind = "doc" if index == 0 and isinstance(node.value.value, str) else "other"
            return
        if isinstance(node, ast.Pass):
            return
        frame = self._open_piece(piece, owner, outer)
        names: set[str] = set()
        versions = self.module_versions if owner is None else owner.versions
        kept: dict[str, tuple[int, ...]] = {}
        match node:
            case ast.Assign(targets=targets):
                piece.kind = "assign"
                for target in targets:
                    bind_target(target, names)
                    self._store_mutation(target, piece, owner)
                self._argument_mutations(node.value, piece, owner)
                self._note_all(node.targets, node.value, owner)
            case ast.AnnAssign(target=target):
                piece.kind = "assign"
                if node.value is not None or owner is not None or not self._is_bound(target):
                    bind_target(target, names)
                if node.value is None:  # it binds nothing
                    kept = {name: versions[name] for name in names if name in versions}
                self._store_mutation(target, piece, owner)
                if node.value is not None:
                    self._note_all([target], node.value, owner)
            case ast.AugAssign(target=target):
                piece.kind = "assign"
                if isinstance(target, ast.Name):
                    if target.id == "__all__":
                        self._extend_all(node.value)
                    elif owner is not None or self._is_bound(target):
                        names.add(target.id)
                    self._mutates(piece, target.id, owner)
                else:
                    self._store_mutation(target, piece, owner)
            case ast.Expr(value=value):
                piece.kind = "expr"
                self._call_mutation(value, piece, owner)
            case ast.Delete(targets=targets):
                for target in targets:
                    self._store_mutation(target, piece, owner)
                    for deleted in _names_in(target):
                        self._mutates(piece, deleted, owner)
                        if owner is None and not piece.conditional:
                            self.deleted[deleted] = None
            case ast.Raise() | ast.Break() | ast.Continue():
                piece.kind = "jump"
            case _:
                name = getattr(node, "name", None)  # `type X = …`
                if isinstance(name, ast.Name):
                    piece.kind = "assign"
                    names.add(name.id)
        self.statement(node)
        if self.walrus_lines:
            names |= bound_names([node], walrus=self.walrus_lines).local
        self._bind_scope(piece, sorted(names), owner)
        versions.update({name: (*before, piece.index) for name, before in kept.items()})
        self._close_piece(frame, piece, prefix.rstrip("."), owner)

    def _is_bound(self, target: ast.expr) -> bool:
        """Whether a name of the module is bound already: a type without a value binds nothing."""
        if not isinstance(target, ast.Name):
            return False
        return bool(self.stars or self.module_versions.get(target.id))

    def _store_mutation(self, target: ast.expr, piece: Piece, owner: ClassScope | None) -> None:
        if isinstance(target, ast.Attribute | ast.Subscript):
            root = root_name(target)
            if root is not None:
                self._mutates(piece, root, owner)
        elif isinstance(target, ast.Tuple | ast.List):
            for element in target.elts:
                self._store_mutation(element, piece, owner)

    def _call_mutation(self, value: ast.expr, piece: Piece, owner: ClassScope | None) -> None:
        if isinstance(value, ast.Await):
            value = value.value
        for made in made_each_time(value):  # `[setattr(C, name, 1) for name in NAMES]`
            self._call_mutation(made, piece, owner)
        for operand in operands(value):  # `first >> second`, for what the operator does
            root = root_name(operand)
            if root is not None:
                self._mutates(piece, root, owner)
        self._argument_mutations(value, piece, owner)
        if not isinstance(value, ast.Call):
            return
        if isinstance(value.func, ast.Attribute):
            root = root_name(value.func)
            if root == "__all__" and owner is None:
                argument = value.args[0] if value.args else ast.Constant(value=None)
                if value.func.attr == "append":
                    argument = ast.List(elts=[argument])
                self._extend_all(argument)
            if root is not None:
                self._mutates(piece, root, owner)
        elif isinstance(value.func, ast.Name) and value.func.id in ("setattr", "delattr"):
            root = root_name(value.args[0]) if value.args else None
            if root is not None:
                self._mutates(piece, root, owner)
        elif isinstance(value.func, ast.Call):  # `register("x")(f)`
            self._call_mutation(value.func, piece, owner)

    def _argument_mutations(self, value: ast.expr, piece: Piece, owner: ClassScope | None) -> None:
        """``setup(app)`` at the module scope may change ``app``; whether it does is seen later."""
        waiting: list[ast.AST] = [value]
        while waiting:
            node = waiting.pop()
            if not isinstance(node, ast.Call):  # `[Item(group) for name in NAMES]`
                if not isinstance(node, ast.Lambda):
                    waiting += [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
                continue
            for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                passed = argument
                while isinstance(passed, ast.Attribute | ast.Starred):
                    passed = passed.value
                if not isinstance(passed, ast.Name):
                    waiting.append(passed)
                elif owner is None or passed.id not in owner.versions:
                    self._mutates(piece, passed.id, owner)
            if isinstance(node.func, ast.Name) and owner is None:  # it may be an instance
                self._mutates(piece, node.func.id, owner)
            waiting.append(node.func.value if isinstance(node.func, ast.Attribute) else node.func)

    def _note_all(self, targets: list[ast.expr], value: ast.expr, owner: ClassScope | None) -> None:
        if owner is None and any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets):
            names = string_list(value)
            self.dunder_all = names

    def _extend_all(self, value: ast.expr) -> None:
        names = string_list(value)
        if names is None:
            self.all_is_open = True
        elif self.dunder_all is not None:
            self.dunder_all += names

    def _compound_piece(
        self, node: Any, owner: ClassScope | None, prefix: str, outer: Frame | None, piece: Piece
    ) -> None:
        piece.kind = _COMPOUND_KINDS[type(node)]
        frame = self._open_piece(piece, owner, outer)
        names: set[str] = set()
        versions = self.module_versions if owner is None else owner.versions
        before = dict(versions)
        self._compound_header(node, names)
        for target in _targets_of(node):  # `with opened() as TABLE["x"]: …`
            self._store_mutation(target, piece, owner)
        if self.walrus_lines:
            for each in ast.iter_child_nodes(node):
                for child in (
                    each,
                    getattr(each, "context_expr", None),
                    getattr(each, "guard", None),
                ):
                    if isinstance(child, ast.expr):
                        shown: list[ast.stmt] = [ast.Expr(value=child)]
                        names |= bound_names(shown, walrus=self.walrus_lines).local
        self._close_piece(frame, piece, prefix.rstrip("."), owner)
        if names:
            self._bind_scope(piece, sorted(names), owner)
            if not isinstance(node, ast.With | ast.AsyncWith):
                unbound = self._given_by_stars(owner)
                for name in names:
                    versions[name] = tuple(sorted({*before.get(name, unbound), piece.index}))
        self._compound_blocks(node, owner, prefix, outer, piece)
        self.line.clear()

    def _given_by_stars(self, owner: ClassScope | None) -> tuple[int, ...]:
        """What a name may be by that nothing else has bound so far: the stars of the module."""
        return tuple(self.stars) if owner is None else ()

    def _compound_header(self, node: Any, names: set[str]) -> None:
        match node:
            case ast.If(test=test) | ast.While(test=test):
                self._test(test)
            case ast.For() | ast.AsyncFor():
                self._loop_target(node)
                bind_target(node.target, names)
            case ast.With() | ast.AsyncWith():
                self._enter_items(node)
                for item in node.items:
                    if item.optional_vars is not None:
                        bind_target(item.optional_vars, names)
            case ast.Try() | ast.TryStar():
                for handler in node.handlers:
                    if handler.type is not None:
                        self._handler(handler, grouped=type(node) is ast.TryStar)
                    if handler.name:
                        names.add(handler.name)
            case ast.Match(subject=subject, cases=cases):
                value = self.expression(subject)
                for case_ in cases:
                    self._pattern(case_.pattern, value)
                    pattern_names(case_.pattern, names)
                    if case_.guard is not None:
                        self._test(case_.guard)

    def _go_round(
        self,
        pieces: list[Piece],
        start: dict[str, tuple[int, ...]],
        end: dict[str, tuple[int, ...]],
    ) -> None:
        """What a loop reads that its body has not bound yet may be what the last round bound."""
        carried = {name: bound for name, bound in end.items() if bound != start.get(name)}
        units = [self.units[piece.unit] for piece in pieces if piece.unit >= 0]
        for unit in filter(None, units if carried else ()):
            for index, op in enumerate(unit.ops):
                place = _VERSIONS.get(op[0])
                if place is None or op[place] is None or op[place - 1] not in carried:
                    continue
                name, known = op[place - 1], op[place]
                if known and not set(known).intersection(start.get(name, ())):
                    continue  # of this round
                merged = tuple(sorted({*known, *carried[name]}))
                unit.ops[index] = (*op[:place], merged, *op[place + 1 :])

    def _compound_blocks(
        self, node: Any, owner: ClassScope | None, prefix: str, outer: Frame | None, piece: Piece
    ) -> None:
        versions = self.module_versions if owner is None else owner.versions
        start = dict(versions)
        known = dict(self.line.places)
        test = node.test if isinstance(node, ast.If) else None
        holds = known_truth(node.test, self.flags) if isinstance(node, ast.If | ast.While) else None
        outside = _When(
            conditional=not isinstance(node, ast.With | ast.AsyncWith),
            type_checking=piece.type_checking,
            script=piece.script,
        )
        inside = outside._replace(
            type_checking=piece.type_checking or holds is False,
            script=piece.script or asks_for_main(test),
        )
        otherwise = outside._replace(
            type_checking=piece.type_checking or (test is not None and holds is True)
        )
        merged: dict[str, tuple[int, ...]] | None = None

        def union(
            left: dict[str, tuple[int, ...]], right: dict[str, tuple[int, ...]]
        ) -> dict[str, tuple[int, ...]]:
            return _union(left, right, self._given_by_stars(owner))

        exclusive = isinstance(node, ast.If | ast.Try | ast.TryStar | ast.Match)
        body_end = start

        def block(
            body: list[ast.stmt],
            path: Path,
            entry: dict[str, tuple[int, ...]],
            when: _When = inside,
            shown: Iterable[Shown] = (),
        ) -> dict[str, tuple[int, ...]]:
            versions.clear()
            versions.update(entry)
            self.line.places = dict(known) if isinstance(node, ast.If) else {}
            assumed = self.assumed
            for name, classes, how in shown if owner is None else ():
                self._assume_classes(name, classes, positive=how)
            self.scope_body(
                body,
                path,
                parent=piece.index,
                owner=owner,
                qualprefix=prefix,
                outer=outer,
                when=when,
            )
            self.assumed = assumed
            return dict(versions)

        if isinstance(node, ast.Match):
            merged = dict(start)
            for index, case_ in enumerate(node.cases):
                merged = union(
                    merged,
                    block(case_.body, (*piece.path, "cases", index, "body"), start),
                )
        elif isinstance(node, ast.Try | ast.TryStar):
            first = len(self.pieces)
            body_end = block(node.body, (*piece.path, "body"), start)
            handler_entry = union(start, body_end)
            for each in self.pieces[first:]:  # what broke off may have come before the last
                for name in each.binds if each.owner == piece.owner else ():
                    bound = {*handler_entry.get(name, ()), each.index}
                    handler_entry[name] = tuple(sorted(bound))
            ends = []
            for index, handler in enumerate(node.handlers):
                end = block(
                    handler.body,
                    (*piece.path, "handlers", index, "body"),
                    handler_entry,
                    shown=_caught(node, handler),
                )
                if not ends_in_jump(handler.body):
                    ends.append(end)
            else_end = (
                block(node.orelse, (*piece.path, "orelse"), body_end) if node.orelse else body_end
            )
            merged = else_end
            for end in ends:
                merged = union(merged, end)
            if node.finalbody:
                merged = block(node.finalbody, (*piece.path, "finalbody"), merged)
        else:
            first = len(self.pieces)
            tested = node.test if isinstance(node, ast.If | ast.While) else None
            holding = classes_shown(tested, positive=True)
            body_end = block(node.body, (*piece.path, "body"), start, shown=holding)
            other_start = start
            if isinstance(node, ast.For | ast.AsyncFor | ast.While):
                self._go_round([piece, *self.pieces[first:]], start, body_end)
                other_start = union(start, body_end)
            if isinstance(node, ast.With | ast.AsyncWith):
                merged = body_end
            else:
                other = (
                    block(
                        node.orelse,
                        (*piece.path, "orelse"),
                        other_start,
                        otherwise,
                        classes_shown(test, positive=False),
                    )
                    if node.orelse
                    else start
                )
                if exclusive and ends_in_jump(node.body):
                    merged = other
                elif exclusive and node.orelse and ends_in_jump(node.orelse):
                    merged = body_end
                else:
                    merged = union(body_end, other)
                    decided = None if test is None else known_truth(test)
                    if decided is not None:  # what but one of the two binds, annotations may name
                        ran = body_end if decided else other
                        both = [
                            n for n in merged if start.get(n) not in (body_end.get(n), other.get(n))
                        ]
                        merged |= {name: ran[name] for name in both if name in ran}
        versions.clear()
        versions.update(merged)


def lower_module(
    tree: ast.Module,
    *,
    lines: int,
    walrus: Sequence[int],
    by_name: bool,
    changing: frozenset[str],
    rebound: frozenset[str],
) -> FileSummary:
    """Lower a parsed module.

    ``by_name``: its code may store under names that it computes. ``changing``: names that
    augmented assignments may change. ``rebound``: those that functions may rebind which they are
    no locals of.
    """
    future = any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in tree.body[:20]
    )
    lowering = FileLowering(future_annotations=future, walrus=walrus)
    lowering.stores_by_name = by_name
    lowering.changing = changing
    lowering.rebound = rebound
    lowering.flags = flags_of_checkers(tree.body)
    lowering.constant_texts = constant_texts(tree.body) - rebound
    lowering.scope_body(tree.body, ("body",), parent=-1, owner=None, qualprefix="", outer=None)
    for frame, name in lowering.captures:
        owner = lowering.units[frame.unit]
        if owner is not None:
            owner.captured[name] = frame.shown_to_nested(name)
    summary = FileSummary(
        pieces=lowering.pieces,
        units=[unit for unit in lowering.units if unit is not None],
        classes=[info for info in lowering.classes if info is not None],
        scope={name: tuple(found) for name, found in lowering.scope.items()},
        final=dict(lowering.module_versions),
        mutations={name: tuple(found) for name, found in lowering.mutations.items()},
        deleted=tuple(lowering.deleted),
        dunder_all=lowering.dunder_all,
        all_is_open=lowering.all_is_open,
        stars=tuple(lowering.stars),
        future_annotations=future,
        global_writers={name: tuple(found) for name, found in lowering.global_writers.items()},
        attribute_writers={n: tuple(found) for n, found in lowering.attribute_writers.items()},
        lines=lines,
        dynamic=tuple(lowering.dynamic),
    )
    vars(lowering).clear()  # its tables hold methods of itself: a cycle that keeps all it made
    return summary


def _caught(node: ast.Try | ast.TryStar, handler: ast.ExceptHandler) -> list[Shown]:
    """What a handler's name holds, where another binds the same: of these classes."""
    same = [each for each in node.handlers if each.name == handler.name]
    if handler.name is None or handler.type is None or len(same) == 1:
        return []
    return [(handler.name, handler.type, s.GROUPED if type(node) is ast.TryStar else CAUGHT)]


def _targets_of(node: ast.stmt) -> list[ast.expr]:
    """What the header of a loop or ``with`` stores into."""
    match node:
        case ast.For(target=target) | ast.AsyncFor(target=target):
            return [target]
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return [item.optional_vars for item in items if item.optional_vars is not None]
    return []


def _names_in(target: ast.expr) -> Iterator[str]:
    """The names that a target of ``del`` deletes."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from _names_in(element)


def _union(
    left: dict[str, tuple[int, ...]],
    right: dict[str, tuple[int, ...]],
    unbound: tuple[int, ...],
) -> dict[str, tuple[int, ...]]:
    """What is bound where two branches meet; ``unbound``: what binds what one of them does not."""
    merged = dict(left)
    for name, versions in right.items():
        known = merged.get(name, unbound)
        merged[name] = versions if known == versions else tuple(sorted({*known, *versions}))
    if unbound:
        for name in left.keys() - right.keys():
            merged[name] = tuple(sorted({*left[name], *unbound}))
    return merged
