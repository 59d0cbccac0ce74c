"""Statements to pieces, units and operations."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from depslice.callgraph import summary as s
from depslice.callgraph.lowering.annotations import type_expression, type_names
from depslice.callgraph.lowering.expressions import BINARY_DUNDERS, ExpressionLowering
from depslice.callgraph.lowering.frame import ClassScope, Frame
from depslice.callgraph.lowering.names import bind_target, bound_names, pattern_names
from depslice.callgraph.summary import ClassInfo, FileSummary, Piece, Register, TypeExpr, Unit, pack

_Path: TypeAlias = tuple[str | int, ...]
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_COMPOUND = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
)
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
_MARKING = {
    "staticmethod": s.STATIC,
    "classmethod": s.CLASSMETHOD,
    "property": s.PROPERTY,
    "abstractmethod": s.ABSTRACT,
    "overload": s.OVERLOAD,
    "cached_property": s.CACHED_PROPERTY,
    "abstractproperty": s.PROPERTY | s.ABSTRACT,
    "final": 0,
    "override": 0,
}
_CHANGING = frozenset(
    {"add", "append", "appendleft", "clear", "extend", "insert", "remove", "update"}
)
_EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class _When(NamedTuple):
    """When the statements of a block run, as :class:`Piece` has it."""

    conditional: bool = False
    type_checking: bool = False
    script: bool = False


_ALWAYS = _When()


class FileLowering(ExpressionLowering):
    """Lowers one module; :func:`depslice.callgraph.lowering.summarize` is the way in."""

    def __init__(self, *, future_annotations: bool, walrus: Sequence[int]) -> None:
        super().__init__()
        self.future_annotations = future_annotations
        self.walrus_lines = walrus  # ascending
        self.pieces: list[Piece] = []
        self.units: list[Unit | None] = []
        self.classes: list[ClassInfo | None] = []
        self.module_versions: dict[str, tuple[int, ...]] = {}
        self.scope: dict[str, list[int]] = {}
        self.mutations: dict[str, list[int]] = {}
        self.global_writers: dict[str, list[int]] = {}
        self.attribute_writers: dict[str, list[int]] = {}
        self.stars: list[int] = []
        self.overloads: set[int] = set()  # their later redefinition does not replace them
        self.dynamic: list[tuple[int, str]] = []
        self.dunder_all: tuple[str, ...] | None = None
        self.all_is_open = False
        self.frame = Frame(unit=-1, parent=None, piece=-1, class_scope=None, is_function=False)
        self.captures: list[tuple[int, str]] = []
        self.histories: dict[int, dict[str, list[Register]]] = {}
        self.lambdas: dict[str, int] = {}

    # --- module and class scopes: pieces

    def scope_body(
        self,
        body: list[ast.stmt],
        path: _Path,
        *,
        parent: int,
        owner: ClassScope | None,
        qualprefix: str,
        outer: Frame | None,
        when: _When = _ALWAYS,
    ) -> list[int]:
        """The pieces of ``body``, a block of the module scope or of a class scope."""
        made: list[int] = []
        for index, node in enumerate(body):
            place = (*path, index)
            piece = self._piece(node, place, parent, owner, when)
            made.append(piece.index)
            context = (owner, qualprefix, outer, piece)
            if isinstance(node, _Function):
                self._function_piece(node, *context)
            elif isinstance(node, ast.ClassDef):
                self._class_piece(node, *context)
            elif isinstance(node, _COMPOUND):
                self._compound_piece(node, *context)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self._import_piece(node, piece, owner, qualprefix, outer)
            else:
                self._simple_piece(node, index, *context)
        return made

    def _piece(
        self,
        node: ast.stmt,
        path: _Path,
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
        self.frame = frame
        return frame

    def _close_piece(
        self, frame: Frame, piece: Piece, qualname: str, owner: ClassScope | None
    ) -> None:
        self._finish_unit(
            frame,
            kind="piece",
            qualname=qualname,
            owner=-1 if owner is None else owner.index,
            line=piece.start,
            end_line=piece.end,
            name_line=piece.name_line,
        )

    def _finish_unit(
        self,
        frame: Frame,
        *,
        kind: str,
        qualname: str,
        owner: int,
        line: int,
        end_line: int,
        name_line: int,
        params: tuple[tuple[str, str, TypeExpr | None, bool], ...] = (),
        returns: TypeExpr | None = None,
        docstring: bool = False,
    ) -> None:
        parent = frame.parent
        while parent is not None and not parent.is_function:
            parent = parent.parent
        self.units[frame.unit] = Unit(
            index=frame.unit,
            kind=kind,
            qualname=qualname,
            parent=-1 if parent is None else parent.unit,
            owner=owner,
            piece=frame.piece,
            line=line,
            end_line=end_line,
            params=params,
            returns=returns,
            flags=frame.flags,
            registers=frame.registers,
            ops=frame.ops,
            captured={},
            globals_written=tuple(sorted(frame.globals_written)),
            self_stores=tuple(sorted(frame.self_stores)),
            stores=tuple(sorted(frame.stores)),
            name_line=name_line,
            docstring=docstring,
        )
        for op in frame.ops:
            if op[0] == s.FREE:
                self.captures.append((op[2], op[3]))
        self.histories[frame.unit] = frame.history
        for name in frame.globals_written:
            self.global_writers.setdefault(name, []).append(frame.unit)
        for name in frame.stores | frame.self_stores:
            self.attribute_writers.setdefault(name, []).append(frame.unit)

    def _bind_scope(self, piece: Piece, names: Iterable[str], owner: ClassScope | None) -> None:
        """``names`` are bound by ``piece``: they are current from here on."""
        unique = tuple(dict.fromkeys(names))
        piece.binds = piece.binds + tuple(n for n in unique if n not in piece.binds)
        versions = self.module_versions if owner is None else owner.versions
        for name in unique:
            versions[name] = (piece.index,)
            if owner is None:
                known = self.scope.setdefault(name, [])
                if piece.index not in known:
                    known.append(piece.index)

    def _function_piece(
        self,
        node: _Function,
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
        if any(_is_overload(decorator) for decorator in node.decorator_list):
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

    def _decorator_mutations(
        self, node: _Function | ast.ClassDef, piece: Piece, owner: ClassScope | None
    ) -> None:
        for decorator in node.decorator_list:
            call = decorator.func if isinstance(decorator, ast.Call) else decorator
            if isinstance(call, ast.Attribute):
                root = _root_name(call)
                if root is not None and (owner is None or root not in owner.versions):
                    self._mutates(piece, root, owner)

    def _mutates(self, piece: Piece, name: str, owner: ClassScope | None) -> None:
        if name not in piece.mutates:
            piece.mutates = (*piece.mutates, name)
        if owner is None or name not in owner.versions:
            known = self.mutations.setdefault(name, [])
            if piece.index not in known:
                known.append(piece.index)

    def _import_piece(
        self,
        node: ast.Import | ast.ImportFrom,
        piece: Piece,
        owner: ClassScope | None,
        prefix: str,
        outer: Frame | None,
    ) -> None:
        piece.kind = "import"
        entries = import_entries(node)
        if isinstance(node, ast.ImportFrom) and node.module == "__future__" and not node.level:
            piece.kind = "future"
            self._bind_scope(piece, [bound for bound, *_ in entries], owner)
            return
        piece.imports = entries
        if any(bound == "*" for bound, *_ in entries):
            self.stars.append(piece.index)
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
                bind_target(target, names)
                self._store_mutation(target, piece, owner)
                if node.value is not None:
                    self._note_all([target], node.value, owner)
            case ast.AugAssign(target=target):
                piece.kind = "assign"
                if isinstance(target, ast.Name):
                    if target.id == "__all__":
                        self._extend_all(node.value)
                    self._mutates(piece, target.id, owner)
                else:
                    self._store_mutation(target, piece, owner)
            case ast.Expr(value=value):
                piece.kind = "expr"
                self._call_mutation(value, piece, owner)
            case ast.Delete(targets=targets):
                for target in targets:
                    self._store_mutation(target, piece, owner)
                    if isinstance(target, ast.Name):
                        self._mutates(piece, target.id, owner)
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
        self._close_piece(frame, piece, prefix.rstrip("."), owner)

    def _store_mutation(self, target: ast.expr, piece: Piece, owner: ClassScope | None) -> None:
        if isinstance(target, ast.Attribute | ast.Subscript):
            root = _root_name(target)
            if root is not None:
                self._mutates(piece, root, owner)
        elif isinstance(target, ast.Tuple | ast.List):
            for element in target.elts:
                self._store_mutation(element, piece, owner)

    def _call_mutation(self, value: ast.expr, piece: Piece, owner: ClassScope | None) -> None:
        if isinstance(value, ast.Await):
            value = value.value
        for operand in _operands(value):  # `first >> second`, for what the operator does
            root = _root_name(operand)
            if root is not None:
                self._mutates(piece, root, owner)
        self._argument_mutations(value, piece, owner)
        if not isinstance(value, ast.Call):
            return
        if isinstance(value.func, ast.Attribute):
            root = _root_name(value.func)
            if root == "__all__" and owner is None:
                argument = value.args[0] if value.args else ast.Constant(value=None)
                if value.func.attr == "append":
                    argument = ast.List(elts=[argument])
                self._extend_all(argument)
            if root is not None:
                self._mutates(piece, root, owner)
        elif isinstance(value.func, ast.Name) and value.func.id in ("setattr", "delattr"):
            root = _root_name(value.args[0]) if value.args else None
            if root is not None:
                self._mutates(piece, root, owner)
        elif isinstance(value.func, ast.Call):  # `register("x")(f)`
            self._call_mutation(value.func, piece, owner)

    def _argument_mutations(self, value: ast.expr, piece: Piece, owner: ClassScope | None) -> None:
        """``setup(app)`` at the module scope may change ``app``; whether it does is seen later."""
        while owner is None and isinstance(value, ast.Call):
            for argument in (*value.args, *(keyword.value for keyword in value.keywords)):
                passed = argument
                while isinstance(passed, ast.Attribute | ast.Starred):
                    passed = passed.value
                if isinstance(passed, ast.Name):
                    self._mutates(piece, passed.id, owner)
                self._argument_mutations(argument, piece, owner)
            value = value.func.value if isinstance(value.func, ast.Attribute) else value.func

    def _note_all(self, targets: list[ast.expr], value: ast.expr, owner: ClassScope | None) -> None:
        if owner is None and any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets):
            names = _string_list(value)
            self.dunder_all = names

    def _extend_all(self, value: ast.expr) -> None:
        names = _string_list(value)
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
        if self.walrus_lines:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    names |= bound_names([ast.Expr(value=child)], walrus=self.walrus_lines).local
        self._close_piece(frame, piece, prefix.rstrip("."), owner)
        if names:
            self._bind_scope(piece, sorted(names), owner)
            if not isinstance(node, ast.With | ast.AsyncWith):
                for name in names:
                    versions[name] = tuple(sorted({*before.get(name, ()), piece.index}))
        self._compound_blocks(node, owner, prefix, outer, piece)

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
                        self._handler(handler)
                    if handler.name:
                        names.add(handler.name)
            case ast.Match(subject=subject, cases=cases):
                value = self.expression(subject)
                for case_ in cases:
                    self._pattern(case_.pattern, value)
                    pattern_names(case_.pattern, names)
                    if case_.guard is not None:
                        self._test(case_.guard)

    def _compound_blocks(
        self, node: Any, owner: ClassScope | None, prefix: str, outer: Frame | None, piece: Piece
    ) -> None:
        versions = self.module_versions if owner is None else owner.versions
        start = dict(versions)
        test = node.test if isinstance(node, ast.If) else None
        outside = _When(
            conditional=not isinstance(node, ast.With | ast.AsyncWith),
            type_checking=piece.type_checking,
            script=piece.script,
        )
        inside = outside._replace(
            type_checking=piece.type_checking or _is_type_checking(test),
            script=piece.script or _asks_for_main(test),
        )
        merged: dict[str, tuple[int, ...]] | None = None
        exclusive = isinstance(node, ast.If | ast.Try | ast.TryStar | ast.Match)
        body_end = start

        def block(
            body: list[ast.stmt],
            path: _Path,
            entry: dict[str, tuple[int, ...]],
            when: _When = inside,
        ) -> dict[str, tuple[int, ...]]:
            versions.clear()
            versions.update(entry)
            self.scope_body(
                body,
                path,
                parent=piece.index,
                owner=owner,
                qualprefix=prefix,
                outer=outer,
                when=when,
            )
            return dict(versions)

        if isinstance(node, ast.Match):
            merged = dict(start)
            for index, case_ in enumerate(node.cases):
                merged = _union(
                    merged,
                    block(case_.body, (*piece.path, "cases", index, "body"), start),
                )
        elif isinstance(node, ast.Try | ast.TryStar):
            body_end = block(node.body, (*piece.path, "body"), start)
            handler_entry = _union(start, body_end)
            ends = []
            for index, handler in enumerate(node.handlers):
                end = block(
                    handler.body,
                    (*piece.path, "handlers", index, "body"),
                    handler_entry,
                )
                if not _leaves(handler.body):
                    ends.append(end)
            else_end = (
                block(node.orelse, (*piece.path, "orelse"), body_end) if node.orelse else body_end
            )
            merged = else_end
            for end in ends:
                merged = _union(merged, end)
            if node.finalbody:
                merged = block(node.finalbody, (*piece.path, "finalbody"), merged)
        else:
            body_end = block(node.body, (*piece.path, "body"), start)
            if isinstance(node, ast.With | ast.AsyncWith):
                merged = body_end
            else:
                other = (
                    block(node.orelse, (*piece.path, "orelse"), start, outside)
                    if node.orelse
                    else start
                )
                if exclusive and _leaves(node.body):
                    merged = other
                elif exclusive and node.orelse and _leaves(node.orelse):
                    merged = body_end
                else:
                    merged = _union(body_end, other)
        versions.clear()
        versions.update(merged)

    # --- functions and classes, wherever they stand

    def define_function(self, node: _Function, qualname: str, owner: ClassScope | None) -> Register:
        """Lower a ``def``: its decorators, defaults and annotations here, its body as a unit."""
        frame = self.frame
        flags = s.ASYNC if isinstance(node, ast.AsyncFunctionDef) else 0
        flags |= s.UNIMPLEMENTED if _is_unimplemented(node.body) else 0
        decorators: list[tuple[Register, int]] = []
        for decorator in node.decorator_list:
            flags |= self._mark(decorator)
            decorators.append(
                (self.expression(decorator), pack(decorator.lineno, decorator.col_offset))
            )
        if owner is not None and node.name in ("__new__", "__init_subclass__", "__class_getitem__"):
            flags |= s.CLASSMETHOD if node.name != "__new__" else s.STATIC
        defaults = self._defaults(node.args)
        params = self._params(node.args)
        eager = not self.future_annotations
        for argument in _arguments(node.args):
            if argument.annotation is not None:
                self._annotation(argument.annotation, eager=eager)
        returns = None
        if node.returns is not None:
            returns = self._annotation(node.returns, eager=eager)
        unit = self._body_unit(node, node.body, params, returns, qualname, owner, flags)
        register = frame.new()
        frame.ops.append((s.FUNCTION, register, unit, defaults))
        for decorator_register, pos in reversed(decorators):
            result = frame.new()
            frame.ops.append((s.DECORATE, result, decorator_register, register, pos))
            register = result
        return register

    def _mark(self, decorator: ast.expr) -> int:
        name = ""
        if isinstance(decorator, ast.Name):
            name = decorator.id
        elif isinstance(decorator, ast.Attribute):
            name = decorator.attr
            if name in ("setter", "getter", "deleter"):
                return s.PROPERTY
        return _MARKING.get(name, s.DECORATED)

    def lower_lambda(self, node: ast.Lambda) -> Register:
        """Lower a lambda: its defaults here, its body as a unit of its own."""
        frame = self.frame
        defaults = self._defaults(node.args)
        params = self._params(node.args)
        body: list[ast.stmt] = [
            ast.Return(value=node.body, lineno=node.lineno, col_offset=node.col_offset)
        ]
        prefix = self._local_prefix()
        name = f"{prefix}<lambda>@{node.lineno}"
        count = self.lambdas[name] = self.lambdas.get(name, 0) + 1
        if count > 1:  # of those on one line the first has the plain name
            name = f"{name}#{count}"
        unit = self._body_unit(node, body, params, None, name, None, 0)
        register = frame.new()
        frame.ops.append((s.LAMBDA, register, unit, defaults))
        return register

    def _local_prefix(self) -> str:
        frame = self.frame
        if frame.is_function:
            return f"{self.qualnames[frame.unit]}.<locals>."
        scope = frame.class_scope
        return f"{self.class_names[scope.index]}." if scope is not None else ""

    qualnames: dict[int, str]
    class_names: dict[int, str]

    def _body_unit(
        self,
        node: _Function | ast.Lambda,
        body: list[ast.stmt],
        params: tuple[tuple[str, str, TypeExpr | None, bool], ...],
        returns: TypeExpr | None,
        qualname: str,
        owner: ClassScope | None,
        flags: int,
    ) -> int:
        outer = self.frame
        scope = owner if owner is not None else outer.class_scope
        frame = Frame(
            unit=len(self.units),
            parent=outer,
            piece=outer.piece,
            class_scope=scope,
            is_function=True,
        )
        self.units.append(None)
        self.qualnames[frame.unit] = qualname
        names = bound_names(body, walrus=self.walrus_lines)
        frame.locals = names.local
        frame.globals = names.global_
        frame.nonlocals = names.nonlocal_
        frame.flags = flags
        for name, *_ in params:
            frame.locals.add(name)
            frame.set_local(name, frame.new())
        frame.parameters = len(params)
        if owner is not None and params and not flags & s.STATIC:
            frame.first_param = params[0][0]
        elif owner is not None and node.__class__ is not ast.Lambda and flags & s.STATIC and params:
            frame.first_param = params[0][0] if getattr(node, "name", "") == "__new__" else ""
        elif owner is None and outer.is_function:
            frame.first_param = ""
        self.frame = frame
        self.block(body)
        self.frame = outer
        self._finish_unit(
            frame,
            kind="lambda" if isinstance(node, ast.Lambda) else "function",
            qualname=qualname,
            owner=-1 if owner is None else owner.index,
            line=min([node.lineno, *[d.lineno for d in getattr(node, "decorator_list", ())]]),
            end_line=node.end_lineno or node.lineno,
            name_line=node.lineno,
            params=params,
            returns=returns,
            docstring=_has_docstring(body),
        )
        if owner is not None:
            for attribute in frame.self_stores:
                owner.self_stores.setdefault(attribute, []).append(frame.unit)
        return frame.unit

    def _defaults(self, args: ast.arguments) -> tuple[tuple[int, Register], ...]:
        positional = [*args.posonlyargs, *args.args]
        found: list[tuple[int, Register]] = []
        first = len(positional) - len(args.defaults)
        for offset, default in enumerate(args.defaults):
            found.append((first + offset, self.expression(default)))
        index = len(positional) + (args.vararg is not None)
        for keyword_default in args.kw_defaults:
            if keyword_default is not None:
                found.append((index, self.expression(keyword_default)))
            index += 1
        return tuple(found)

    def _params(self, args: ast.arguments) -> tuple[tuple[str, str, TypeExpr | None, bool], ...]:
        defaulted = len(args.posonlyargs) + len(args.args) - len(args.defaults)
        found: list[tuple[str, str, TypeExpr | None, bool]] = []
        for index, arg in enumerate([*args.posonlyargs, *args.args]):
            kind = "po" if index < len(args.posonlyargs) else "pk"
            found.append((arg.arg, kind, _type_of(arg), index >= defaulted))
        if args.vararg is not None:
            found.append((args.vararg.arg, "va", _type_of(args.vararg), False))
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            found.append((arg.arg, "ko", _type_of(arg), default is not None))
        if args.kwarg is not None:
            found.append((args.kwarg.arg, "kw", _type_of(args.kwarg), False))
        return tuple(found)

    def _annotation(self, node: ast.expr, *, eager: bool | None) -> TypeExpr:
        found = type_expression(node)
        if any(True for _ in type_names(found)):
            pos = pack(node.lineno, node.col_offset)
            self.frame.ops.append((s.ANNOTATION, found, pos, eager))
        return found

    def define_class(
        self, node: ast.ClassDef, qualname: str, owner: ClassScope | None, piece: Piece | None
    ) -> Register:
        """Lower a class statement: its header here, each statement of its body as a piece."""
        frame = self.frame
        decorators = tuple([self.expression(d) for d in node.decorator_list])
        bases = tuple(
            [self.expression(b.value if isinstance(b, ast.Starred) else b) for b in node.bases]
        )
        keywords = tuple([(k.arg or "**", self.expression(k.value)) for k in node.keywords])
        index = len(self.classes)
        self.classes.append(None)
        self.class_names[index] = qualname
        register = frame.new()
        pos = pack(node.lineno, node.col_offset)
        frame.ops.append((s.CLASS, register, index, bases, keywords, pos))
        scope = ClassScope(index)
        before = len(self.pieces)
        path: _Path = (*piece.path, "body") if piece is not None else ("local", index, "body")
        outer = frame
        self.scope_body(
            node.body,
            path,
            parent=-1 if piece is None else piece.index,
            owner=scope,
            qualprefix=qualname + ".",
            outer=outer,
        )
        self.frame = frame
        own = [p for p in self.pieces[before:] if p.owner == index]
        members: dict[str, list[int]] = {}
        for member in own:
            if piece is None:
                member.parent = -1
            for name in (*member.binds, *member.mutates):
                if name in scope.versions:
                    members.setdefault(name, []).append(member.index)
        parent = frame
        while not parent.is_function and parent.parent is not None:
            parent = parent.parent
        self.classes[index] = ClassInfo(
            index=index,
            qualname=qualname,
            piece=-1 if piece is None else piece.index,
            unit=frame.unit,
            parent_function=parent.unit if parent.is_function else -1,
            owner=-1 if owner is None else owner.index,
            bases=bases,
            keywords=keywords,
            decorators=decorators,
            members={name: tuple(dict.fromkeys(found)) for name, found in members.items()},
            line=min([node.lineno, *[d.lineno for d in node.decorator_list]]),
            end_line=node.end_lineno or node.lineno,
            pieces=tuple([p.index for p in own]),
            name_line=node.lineno,
            self_stores={name: tuple(units) for name, units in scope.self_stores.items()},
        )
        for decorator_register, decorator in zip(
            reversed(decorators), reversed(node.decorator_list), strict=True
        ):
            result = frame.new()
            at = pack(decorator.lineno, decorator.col_offset)
            frame.ops.append((s.DECORATE, result, decorator_register, register, at))
            register = result
        return register

    # --- blocks of a function

    def block(self, body: list[ast.stmt]) -> bool:
        """Lower ``body``; whether control leaves it before its end."""
        frame = self.frame
        guards = frame.guards
        leaves = any(self.statement(node) for node in body)  # what follows a jump is dead
        frame.guards = guards
        return leaves

    def statement(self, node: ast.stmt) -> bool:
        """Lower one statement of a function (or a simple one of any scope)."""
        kind = type(node)
        if kind is ast.Expr:
            if type(node.value) is not ast.Constant:  # type: ignore[attr-defined]
                self._call_statement(node.value)  # type: ignore[attr-defined]
            return False
        if kind is ast.Assign:
            value = self.expression(node.value)  # type: ignore[attr-defined]
            for target in node.targets:  # type: ignore[attr-defined]
                self.assign(target, value)
            return False
        if kind is ast.If:
            return self._if(node)  # type: ignore[arg-type]
        if kind is ast.Return:
            value = s.NONE if node.value is None else self.expression(node.value)  # type: ignore[attr-defined]
            guards = self.frame.guards
            self.frame.ops.append((s.RETURN, value, guards) if guards else (s.RETURN, value))
            return True
        return self._other(node)

    def _other(self, node: ast.stmt) -> bool:
        match node:
            case ast.For() | ast.AsyncFor():
                self._loop(node)
            case ast.While():
                self._while(node)
            case ast.With() | ast.AsyncWith():
                self._enter_items(node)
                return self.block(node.body) and not _may_swallow(node)
            case ast.Try() | ast.TryStar():
                return self._try(node)
            case ast.Raise(exc=exc, cause=cause):
                if exc is not None:
                    value = self.expression(exc)
                    self.frame.ops.append((s.RAISE, value, pack(node.lineno, node.col_offset)))
                if cause is not None:
                    self.expression(cause)
                return True
            case ast.Continue() | ast.Break():
                return True
            case ast.AugAssign():
                self._augmented(node)
            case ast.AnnAssign():
                self._annotated(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                qualname = f"{self._local_prefix()}{node.name}"
                self._bind_name(node.name, self.define_function(node, qualname, None))
            case ast.ClassDef():
                qualname = f"{self._local_prefix()}{node.name}"
                self._bind_name(node.name, self.define_class(node, qualname, None, None))
            case ast.Import() | ast.ImportFrom():
                self._local_import(node)
            case ast.Assert(test=test, msg=msg):
                self._test(test)
                if msg is not None:
                    self.expression(msg)
                self.narrow(test, positive=True)
            case ast.Delete(targets=targets):
                self._delete(targets)
            case ast.Match():
                self._match(node)
            case _:
                alias, aliased = getattr(node, "name", None), getattr(node, "value", None)
                if isinstance(alias, ast.Name) and isinstance(aliased, ast.expr):  # `type X = …`
                    self._annotation(aliased, eager=False)
                    self._bind_name(alias.id, self.expression(aliased))
        return False

    def _test(self, test: ast.expr) -> None:
        value = self.expression(test)
        if value >= 0:
            self.frame.ops.append((s.TRUTH, value, pack(test.lineno, test.col_offset)))

    def _if(self, node: ast.If) -> bool:
        # `elif` chains nest in `orelse`; walk them in a loop, deep ones are real.
        frame = self.frame
        ends: list[dict[str, Register]] = []
        current: ast.If = node
        outer = frame.guards
        shown: tuple[tuple[int, str, bool], ...] = ()  # by the branches that have left
        while True:
            self._test(current.test)
            before = frame.env
            frame.env = dict(before)
            self.narrow(current.test, positive=True)
            guard = self._guard(current.test)
            guards = frame.guards
            if guard is not None:
                frame.guards = (*guards, guard)
            if not self.block(current.body):
                ends.append(frame.env)
            if guard is not None:
                opposite = (*guard[:2], not guard[2])
                frame.guards = (*guards, opposite)
                if not ends:
                    shown = (*shown, opposite)
            frame.env = dict(before)
            self.narrow(current.test, positive=False)
            orelse = current.orelse
            if len(orelse) == 1 and type(orelse[0]) is ast.If:
                current = orelse[0]
                continue
            if not self.block(orelse):
                ends.append(frame.env)
            elif guard is not None and current is node:
                shown = (guard,)
            break
        frame.guards = (*outer, *shown)
        if not ends:
            frame.env = dict(before)
            return True
        frame.env = ends[0]
        for end in ends[1:]:
            frame.merge(frame.env, end)
        return False

    def _guard(self, test: ast.expr) -> tuple[int, str, bool] | None:
        """What ``test`` shows of a parameter when it holds: given (not ``None``), callable."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self._guard(operand)
                return None if inner is None else (*inner[:2], not inner[2])
            case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[ast.Constant(None)]):
                if not isinstance(op, ast.Is | ast.IsNot):
                    return None
                shown = ("given", isinstance(op, ast.IsNot))
            case ast.Name(id=name):
                shown = ("given", True)
            case ast.Call(func=ast.Name(id="callable"), args=[ast.Name(id=name)], keywords=[]):
                shown = ("callable", True)
            case _:
                return None
        register = self.frame.env.get(name, -1)
        return (register, *shown) if 0 <= register < self.frame.parameters else None

    def _loop_target(self, node: ast.For | ast.AsyncFor) -> None:
        iterable = self.expression(node.iter)
        frame = self.frame
        item = frame.new()
        pos = pack(node.iter.lineno, node.iter.col_offset)
        frame.ops.append((s.ITER, item, iterable, pos, isinstance(node, ast.AsyncFor)))
        self.assign(node.target, item)

    def _loop_heads(self, body: list[ast.stmt]) -> list[tuple[str, list[Register], int]]:
        """Open a φ for every name the loop rebinds: (name, its sources, history length)."""
        frame = self.frame
        frame.flags |= s.HAS_LOOP
        heads: list[tuple[str, list[Register], int]] = []
        for name in sorted(bound_names(body, walrus=self.walrus_lines).local & frame.locals):
            before = frame.env.get(name)
            sources = [] if before is None else [before]
            frame.env[name] = frame.phi(sources)
            heads.append((name, sources, len(frame.history.get(name, ()))))
        return heads

    def _close_loop(
        self, heads: list[tuple[str, list[Register], int]], env: dict[str, Register]
    ) -> None:
        frame = self.frame
        for name, sources, seen in heads:
            sources.extend(frame.history.get(name, ())[seen:])
        after = dict(frame.env)
        after.update({name: env[name] for name, *_ in heads if name in env})
        frame.env = after

    def _loop(self, node: ast.For | ast.AsyncFor) -> None:
        iterable = self.expression(node.iter)
        frame = self.frame
        frame.env = dict(frame.env)
        item = frame.new()
        pos = pack(node.iter.lineno, node.iter.col_offset)
        heads = self._loop_heads([*node.body, ast.Assign(targets=[node.target], value=node.iter)])
        head_env = dict(frame.env)
        frame.ops.append((s.ITER, item, iterable, pos, isinstance(node, ast.AsyncFor)))
        self.assign(node.target, item)
        self.block(node.body)
        self._close_loop(heads, head_env)
        self.block(node.orelse)

    def _while(self, node: ast.While) -> None:
        frame = self.frame
        frame.env = dict(frame.env)
        heads = self._loop_heads([*node.body, ast.Expr(value=node.test)])
        head_env = dict(frame.env)
        self._test(node.test)
        self.narrow(node.test, positive=True)
        self.block(node.body)
        self._close_loop(heads, head_env)
        self.block(node.orelse)

    def _enter_items(self, node: ast.With | ast.AsyncWith) -> None:
        frame = self.frame
        for item in node.items:
            manager = self.expression(item.context_expr)
            register = frame.new()
            pos = pack(item.context_expr.lineno, item.context_expr.col_offset)
            frame.ops.append((s.ENTER, register, manager, pos, isinstance(node, ast.AsyncWith)))
            if item.optional_vars is not None:
                self.assign(item.optional_vars, register)

    def _handler(self, handler: ast.ExceptHandler) -> None:
        if handler.type is None:
            return
        value = self.expression(handler.type)
        if handler.name:
            frame = self.frame
            register = frame.new()
            frame.ops.append((s.NARROW, register, s.UNBOUND, value, True))
            self._bind_name(handler.name, register)

    def _try(self, node: ast.Try | ast.TryStar) -> bool:
        frame = self.frame
        before = dict(frame.env)
        seen = {name: len(versions) for name, versions in frame.history.items()}
        left = self.block(node.body)
        body_end = frame.env
        entry = dict(before)
        for name, versions in frame.history.items():
            fresh = versions[seen.get(name, 0) :]
            if fresh:
                known = [entry[name]] if name in entry else []
                entry[name] = frame.phi([*known, *fresh])
        ends: list[dict[str, Register]] = []
        for handler in node.handlers:
            frame.env = dict(entry)
            self._handler(handler)
            if not self.block(handler.body):
                ends.append(frame.env)
        if not left:
            frame.env = body_end
            if not self.block(node.orelse):
                ends.insert(0, frame.env)
        frame.env = ends[0] if ends else dict(entry)
        for end in ends[1:]:
            frame.merge(frame.env, end)
        final_left = self.block(node.finalbody)
        return final_left or not ends

    def _match(self, node: ast.Match) -> None:
        frame = self.frame
        subject = self.expression(node.subject)
        before = frame.env
        ends: list[dict[str, Register]] = [dict(before)]
        for case_ in node.cases:
            frame.env = dict(before)
            matched = self._pattern(case_.pattern, subject)
            if (
                isinstance(node.subject, ast.Name)
                and matched != subject
                and node.subject.id in frame.env
            ):
                frame.env[node.subject.id] = matched
            if case_.guard is not None:
                self._test(case_.guard)
            if not self.block(case_.body):
                ends.append(frame.env)
        frame.env = ends[0]
        for end in ends[1:]:
            frame.merge(frame.env, end)

    def _pattern(self, pattern: ast.pattern, subject: Register) -> Register:
        """Lower a pattern (PEP 634); the register of the subject when it matched."""
        frame = self.frame
        pos = pack(pattern.lineno, pattern.col_offset)
        match pattern:
            case ast.MatchValue(value=value):
                right = self.expression(value)
                frame.ops.append((s.COMPARE, subject, right, "__eq__", pos))
            case ast.MatchAs(pattern=inner, name=name):
                if inner is not None:
                    subject = self._pattern(inner, subject)
                if name is not None:
                    self._bind_name(name, subject)
            case ast.MatchStar(name=name):
                if name is not None:
                    self._bind_name(name, subject)
            case ast.MatchOr(patterns=patterns):
                return frame.phi([self._pattern(option, subject) for option in patterns])
            case ast.MatchSequence(patterns=patterns):
                for index, element in enumerate(patterns):
                    register = frame.new()
                    frame.ops.append((s.ITEM, register, subject, index, pos))
                    self._pattern(element, register)
            case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
                for key, value_pattern in zip(keys, patterns, strict=True):
                    register = frame.new()
                    frame.ops.append((s.SUB, register, subject, self.expression(key), pos))
                    self._pattern(value_pattern, register)
                if rest is not None:
                    self._bind_name(rest, s.OPAQUE)
            case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=values):
                types = self.expression(cls)
                matched = frame.new()
                frame.ops.append((s.CLASS_MATCH, matched, subject, types, pos))
                if patterns:
                    args = frame.new()
                    frame.ops.append((s.ATTR, args, types, "__match_args__", pos))
                for index, element in enumerate(patterns):
                    register = frame.new()
                    frame.ops.append((s.MATCH_ARG, register, matched, types, index, pos))
                    self._pattern(element, register)
                for name, value_pattern in zip(names, values, strict=True):
                    register = frame.new()
                    frame.ops.append((s.ATTR, register, matched, name, pos))
                    self._pattern(value_pattern, register)
                return matched
        return subject

    def _local_import(self, node: ast.Import | ast.ImportFrom) -> None:
        frame = self.frame
        pos = pack(node.lineno, node.col_offset)
        for bound, level, module, name in import_entries(node):
            if bound == "*":
                self.dynamic.append((pos, "star-import"))
                continue
            register = frame.new()
            frame.ops.append((s.IMPORT, register, level, module, name, pos))
            self._bind_name(bound, register)

    def _delete(self, targets: list[ast.expr]) -> None:
        for target in targets:
            if isinstance(target, ast.Subscript):
                obj, key = self.expression(target.value), self.expression(target.slice)
                pos = pack(target.lineno, target.col_offset)
                self.frame.ops.append((s.DELETE_SUB, obj, key, pos))
                self._note_write(target)
            elif isinstance(target, ast.Attribute):
                obj = self.expression(target.value)
                pos = pack(target.lineno, target.col_offset)
                self.frame.ops.append((s.DELETE_ATTR, obj, target.attr, pos))
            elif isinstance(target, ast.Name):
                if self.frame.is_function:
                    self.frame.env.pop(target.id, None)
                else:
                    self.load(target.id, pack(target.lineno, target.col_offset))
            elif isinstance(target, ast.Tuple | ast.List):
                self._delete(target.elts)

    def _augmented(self, node: ast.AugAssign) -> None:
        target = node.target
        frame = self.frame
        pos = pack(node.lineno, node.col_offset)
        current = self.expression(target)
        value = self.expression(node.value)
        result = frame.new()
        name = BINARY_DUNDERS[type(node.op)]
        frame.ops.append((s.BINARY, result, current, value, "i" + name, pos))
        if isinstance(target, ast.Name):
            self._bind_name(target.id, result)
        else:
            self.assign(target, result)

    def _annotated(self, node: ast.AnnAssign) -> None:
        frame = self.frame
        eager = not self.future_annotations and not frame.is_function
        declared = self._annotation(node.annotation, eager=eager)
        value = None if node.value is None else self.expression(node.value)
        if declared[-1] == "TypeAlias" and node.value is not None:
            # Linters do not follow `X: "TypeAlias" = "…"`.
            unseen = isinstance(node.annotation, ast.Constant)
            self._annotation(node.value, eager=None if unseen else False)
        register = frame.new()
        frame.ops.append((s.DECLARE, register, declared, value))
        if isinstance(node.target, ast.Name) and value is None and frame.is_function:
            frame.set_local(node.target.id, register)
            return
        self.assign(node.target, register)

    # --- stores

    def assign(self, target: ast.expr, value: Register) -> None:
        """Lower the binding of an assignment target."""
        match target:
            case ast.Name(id=name):
                self._bind_name(name, value)
            case ast.Attribute(value=obj, attr=attr):
                receiver = self.written(obj)
                frame = self.frame
                end = target.end_lineno or target.lineno
                column = max((target.end_col_offset or 0) - len(attr.encode()), 0)
                frame.ops.append((s.SETATTR, receiver, attr, value, pack(end, column)))
                if receiver == 0 and frame.first_param:
                    frame.self_stores.add(attr)
                else:
                    frame.stores.add(attr)
                self._note_write(target)
            case ast.Subscript(value=obj, slice=key):
                receiver, index = self.written(obj), self.key(key)
                pos = pack(target.lineno, target.col_offset)
                self.frame.ops.append((s.SETSUB, receiver, index, value, pos))
                self._note_write(target)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for index, element in enumerate(elements):
                    register = self.frame.new()
                    pos = pack(element.lineno, element.col_offset)
                    if isinstance(element, ast.Starred):
                        self.frame.ops.append((s.SEQUENCE, register, "list", (), (value,), True))
                        self.assign(element.value, register)
                    else:
                        self.frame.ops.append((s.ITEM, register, value, index, pos))
                        self.assign(element, register)
            case ast.Starred(value=inner):
                self.assign(inner, value)

    def _bind_name(self, name: str, value: Register) -> None:
        frame = self.frame
        if not frame.is_function:
            frame.ops.append((s.BIND, name, value))
        elif name in frame.globals:
            frame.ops.append((s.SETGLOBAL, name, value))
            frame.globals_written.add(name)
        elif name in frame.nonlocals:
            owner = frame.owner_of(name)
            if owner is not None:
                frame.ops.append((s.SETFREE, owner.unit, name, value))
                owner.rebound.add(name)
                self.captures.append((owner.unit, name))
        else:
            frame.set_local(name, value)

    def _note_write(self, target: ast.expr) -> None:
        """A store through a module-scope name changes that module's state."""
        frame = self.frame
        root = _root_name(target)
        if root is not None and frame.is_function and self._is_global(root):
            frame.globals_written.add(root)

    def _call_statement(self, value: ast.expr) -> None:
        """``X.append(…)`` whose result nobody wants changes ``X`` rather than reads it."""
        start = len(self.frame.ops)
        self.expression(value)
        if not self.frame.is_function:
            return
        self._note_call(value)
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if (
                attr in _CHANGING
            ):
                op = self.frame.ops[start] if len(self.frame.ops) > start else None
                if op is not None and op[0] == s.GLOBAL and op[2] == name:
                    self.frame.ops[start] = (*op[:4], -op[4])

    def _note_call(self, value: ast.expr) -> None:
        if isinstance(value, ast.Await):
            value = value.value
        roots = [_root_name(operand) for operand in _operands(value)]
        self.frame.globals_written.update(r for r in roots if r is not None and self._is_global(r))
        if not isinstance(value, ast.Call):
            return
        root = None
        if isinstance(value.func, ast.Attribute):
            root = _root_name(value.func)
        elif isinstance(value.func, ast.Name) and value.func.id in ("setattr", "delattr"):
            root = _root_name(value.args[0]) if value.args else None
        elif isinstance(value.func, ast.Call):  # `X.register("x")(f)`
            self._note_call(value.func)
        if root is not None and self._is_global(root):
            self.frame.globals_written.add(root)

    def _is_global(self, name: str) -> bool:
        frame = self.frame
        if name in frame.globals:
            return True
        return name not in frame.locals and name not in frame.inner and frame.owner_of(name) is None


def lower_module(tree: ast.Module, *, lines: int, walrus: Sequence[int]) -> FileSummary:
    """Lower a parsed module."""
    future = any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in tree.body[:20]
    )
    lowering = FileLowering(future_annotations=future, walrus=walrus)
    lowering.qualnames = {}
    lowering.class_names = {}
    lowering.scope_body(tree.body, ("body",), parent=-1, owner=None, qualprefix="", outer=None)
    for unit_index, name in lowering.captures:
        owner = lowering.units[unit_index]
        versions = lowering.histories[unit_index].get(name, [])
        if owner is not None:
            owner.captured[name] = tuple(versions)
    summary = FileSummary(
        pieces=lowering.pieces,
        units=[unit for unit in lowering.units if unit is not None],
        classes=[info for info in lowering.classes if info is not None],
        scope={name: tuple(found) for name, found in lowering.scope.items()},
        final=dict(lowering.module_versions),
        mutations={name: tuple(found) for name, found in lowering.mutations.items()},
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


def import_entries(
    node: ast.Import | ast.ImportFrom,
) -> tuple[tuple[str, int, str, str | None], ...]:
    """``(bound name, level, module, name or None)`` for each alias.

    ``import a.b`` binds ``a`` to the package ``a`` but imports ``a.b`` too; its entry
    is ``("a", 0, "a.b", None)``. ``import a.b as c`` binds ``a.b`` itself: ``("c", -1,
    "a.b", None)``.
    """
    if isinstance(node, ast.Import):
        return tuple(
            [
                (a.asname or a.name.partition(".")[0], -1 if a.asname else 0, a.name, None)
                for a in node.names
            ]
        )
    return tuple([(a.asname or a.name, node.level, node.module or "", a.name) for a in node.names])


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    """The operands of a chain of binary operators; nothing for another expression."""
    if isinstance(node, ast.BinOp):
        for side in (node.left, node.right):
            if isinstance(side, ast.BinOp):
                yield from _operands(side)
            else:
                yield side


def _root_name(node: ast.expr) -> str | None:
    while True:
        if isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
            node = node.value
        elif isinstance(node, ast.Call):
            of = isinstance(node.func, ast.Name) and node.func.id == "vars" and node.args
            node = node.args[0] if of else node.func
        else:
            break
    return node.id if isinstance(node, ast.Name) else None


def _string_list(value: ast.expr) -> tuple[str, ...] | None:
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        found = [
            e.value for e in value.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)
        ]
        return tuple(found) if len(found) == len(value.elts) else None
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        left, right = _string_list(value.left), _string_list(value.right)
        return None if left is None or right is None else left + right
    return None


def _type_of(arg: ast.arg) -> TypeExpr | None:
    return None if arg.annotation is None else type_expression(arg.annotation)


def _arguments(args: ast.arguments) -> list[ast.arg]:
    found = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    if args.vararg is not None:
        found.append(args.vararg)
    if args.kwarg is not None:
        found.append(args.kwarg)
    return found


def _is_type_checking(test: ast.expr | None) -> bool:
    match test:
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
    return False


def _asks_for_main(test: ast.expr | None) -> bool:
    """Whether a test holds in a script alone (language reference, 10.1: ``__main__``)."""
    match test:
        case (
            ast.Compare(
                left=ast.Name(id="__name__"),
                ops=[ast.Eq()],
                comparators=[ast.Constant(value="__main__")],
            )
            | ast.Compare(
                left=ast.Constant(value="__main__"),
                ops=[ast.Eq()],
                comparators=[ast.Name(id="__name__")],
            )
        ):
            return True
        case ast.BoolOp(op=ast.And(), values=values):
            return any(map(_asks_for_main, values))
    return False


def _is_overload(decorator: ast.expr) -> bool:
    match decorator:
        case ast.Name(id="overload") | ast.Attribute(attr="overload"):
            return True
    return False


def _is_unimplemented(body: list[ast.stmt]) -> bool:
    """Whether a method is left to subclasses (library reference, ``NotImplementedError``)."""
    match body[1:] if _has_docstring(body) else body:
        case [ast.Raise(exc=ast.Call(func=ast.Name(id=name)) | ast.Name(id=name))]:
            return name == "NotImplementedError"
    return False


def _has_docstring(body: list[ast.stmt]) -> bool:
    return (
        bool(body)
        and isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    )


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], _EXITS)


def _may_swallow(node: ast.With | ast.AsyncWith) -> bool:
    """``with suppress(…): return x`` may go on behind the block."""
    return any(isinstance(item.context_expr, ast.Call) for item in node.items)


def _union(
    left: dict[str, tuple[int, ...]], right: dict[str, tuple[int, ...]]
) -> dict[str, tuple[int, ...]]:
    merged = dict(left)
    for name, versions in right.items():
        known = merged.get(name)
        if known is None:
            merged[name] = versions
        elif known != versions:
            merged[name] = tuple(sorted({*known, *versions}))
    return merged
