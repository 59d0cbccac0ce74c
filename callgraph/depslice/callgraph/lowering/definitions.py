"""Functions, lambdas and classes, wherever they stand, to units and class records."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeAlias

from depslice.callgraph import summary as s
from depslice.callgraph.lowering.frame import ClassScope, Frame
from depslice.callgraph.lowering.names import bound_names
from depslice.callgraph.lowering.overwritten import (
    binds_surely,
    overwritten,
    rebound_unseen,
    replaced_unseen,
)
from depslice.callgraph.lowering.statements import StatementLowering
from depslice.callgraph.lowering.syntax import (
    Definition,
    all_arguments,
    declared_type,
    has_docstring,
    is_unimplemented,
    never_returns,
)
from depslice.callgraph.summary import ClassInfo, Piece, Register, TypeExpr, Unit, pack

Path: TypeAlias = tuple[str | int, ...]
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

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
_OF_LIBRARY = frozenset({"abc", "builtins", "functools", "typing", "typing_extensions"})
_BUILT_IN = frozenset({"classmethod", "property", "staticmethod"})


class DefinitionLowering(StatementLowering):
    """Lowers definitions: each body in a frame of its own; scopes are its subclass's."""

    def __init__(self, *, future_annotations: bool, walrus: Sequence[int]) -> None:
        super().__init__(future_annotations=future_annotations, walrus=walrus)
        self.pieces: list[Piece] = []
        self.units: list[Unit | None] = []
        self.classes: list[ClassInfo | None] = []
        self.global_writers: dict[str, list[int]] = {}
        self.attribute_writers: dict[str, list[int]] = {}
        self._lambdas: dict[str, int] = {}  # how many of each name
        self._qualnames: dict[int, str] = {}  # of units
        self._class_names: dict[int, str] = {}

    # Implemented by the lowering of scopes.
    def scope_body(
        self,
        body: list[ast.stmt],
        path: Path,
        *,
        parent: int,
        owner: ClassScope | None,
        qualprefix: str,
        outer: Frame | None,
    ) -> list[int]:
        """Lower the block of a class scope: each of its statements a piece."""
        raise NotImplementedError

    def define(self, node: Definition) -> Register:
        """Lower a function or class that a function defines."""
        qualname = f"{self._local_prefix()}{node.name}"
        if isinstance(node, ast.ClassDef):
            return self.define_class(node, qualname, None, None)
        return self.define_function(node, qualname, None)

    def define_function(self, node: Function, qualname: str, owner: ClassScope | None) -> Register:
        """Lower a ``def``: its decorators, defaults and annotations here, its body as a unit."""
        frame = self.frame
        flags = s.ASYNC if isinstance(node, ast.AsyncFunctionDef) else 0
        flags |= s.UNIMPLEMENTED if is_unimplemented(node.body) else 0
        flags |= s.REFUSES if never_returns(node) else 0
        decorators: list[tuple[Register, int, bool]] = []
        for decorator in node.decorator_list:
            is_property = bool(flags & (s.PROPERTY | s.CACHED_PROPERTY))
            flags |= self._mark(decorator, owner)
            at = pack(decorator.lineno, decorator.col_offset)
            decorators.append((self.expression(decorator), at, is_property))
        if owner is not None and node.name in ("__new__", "__init_subclass__", "__class_getitem__"):
            flags |= s.CLASSMETHOD if node.name != "__new__" else s.STATIC
        defaults = self._defaults(node.args)
        params = self._params(node.args)
        eager = not self.future_annotations
        for argument in all_arguments(node.args):
            if argument.annotation is not None:
                self._annotation(argument.annotation, eager=eager)
        returns = None
        if node.returns is not None:
            returns = self._annotation(node.returns, eager=eager)
        unit = self._body_unit(node, node.body, params, returns, qualname, owner, flags)
        register = frame.new()
        frame.ops.append((s.FUNCTION, register, unit, defaults))
        for decorator_register, pos, below in reversed(decorators):
            result = frame.new()
            frame.ops.append((s.DECORATE, result, decorator_register, register, below, pos))
            register = result
        return register

    def _mark(self, decorator: ast.expr, owner: ClassScope | None) -> int:
        name = root = ""
        if isinstance(decorator, ast.Name):
            name = root = decorator.id
        elif isinstance(decorator, ast.Attribute):
            name = decorator.attr
            if name in ("setter", "getter", "deleter"):
                return s.PROPERTY
            root = decorator.value.id if isinstance(decorator.value, ast.Name) else ""
        flags = _MARKING.get(name, s.DECORATED)
        # What has such a name and comes from elsewhere does what the library's does, and more.
        return flags if self._is_of_library(name, root, owner) else flags | s.DECORATED

    def _is_of_library(self, name: str, root: str, owner: ClassScope | None) -> bool:
        """Whether a decorator of that name, read of ``root``, is the one that Python knows."""
        if self.frame.is_function:
            return True  # its value is evaluated in any case
        if owner is not None and root in owner.versions:
            return False
        bound = self.module_versions.get(root, ())
        if not bound:
            return name == root and name in _BUILT_IN and not self.stars  # one may give its own
        for index in bound:
            origins = [e for e in self.pieces[index].imports if e[0] == root]
            if not origins or not all(
                level <= 0 and module in _OF_LIBRARY and item in (name, None)
                for _, level, module, item in origins
            ):
                return False
        return True

    def lower_lambda(self, node: ast.Lambda) -> Register:
        """Lower a lambda: its defaults here, its body as a unit of its own."""
        frame = self.frame
        prefix = self._local_prefix()
        name = f"{prefix}<lambda>@{node.lineno}"
        count = self._lambdas[name] = self._lambdas.get(name, 0) + 1
        if count > 1:  # of those on one line the first has the plain name
            name = f"{name}#{count}"
        defaults = self._defaults(node.args)
        params = self._params(node.args)
        body: list[ast.stmt] = [
            ast.Return(value=node.body, lineno=node.lineno, col_offset=node.col_offset)
        ]
        unit = self._body_unit(node, body, params, None, name, None, 0)
        register = frame.new()
        frame.ops.append((s.LAMBDA, register, unit, defaults))
        return register

    def _local_prefix(self) -> str:
        frame = self.frame
        if frame.is_function:
            return f"{self._qualnames[frame.unit]}.<locals>."
        scope = frame.class_scope
        return f"{self._class_names[scope.index]}." if scope is not None else ""

    def _body_unit(
        self,
        node: Function | ast.Lambda,
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
        self._qualnames[frame.unit] = qualname
        names = bound_names(body, walrus=self.walrus_lines)
        frame.locals = names.local
        frame.globals = names.global_
        frame.nonlocals = names.nonlocal_
        frame.body = body
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
        self.unseen.update(overwritten(body))
        self.unseen.update(replaced_unseen(body))
        self.block(body)
        self.frame = outer
        self.finish_unit(
            frame,
            kind="lambda" if isinstance(node, ast.Lambda) else "function",
            qualname=qualname,
            owner=-1 if owner is None else owner.index,
            line=min([node.lineno, *[d.lineno for d in getattr(node, "decorator_list", ())]]),
            end_line=node.end_lineno or node.lineno,
            name_line=node.lineno,
            params=params,
            returns=returns,
            docstring=has_docstring(body),
        )
        if owner is not None:
            for attribute in sorted(frame.self_stores):
                owner.self_stores.setdefault(attribute, []).append(frame.unit)
        return frame.unit

    def finish_unit(
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
        """Make the unit of what ``frame`` has collected, and note what it writes."""
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
            standing=frame.standing or None,
            stored_for=tuple(frame.stored_for),
        )
        for op in frame.ops:
            if op[0] == s.FREE:
                self._capture(frame, op[2], op[3])
        for name in sorted(frame.globals_written):
            self.global_writers.setdefault(name, []).append(frame.unit)
        for name in sorted(frame.stores | frame.self_stores):
            self.attribute_writers.setdefault(name, []).append(frame.unit)

    def _capture(self, frame: Frame, unit: int, name: str) -> None:
        """A function reads a name of one around it."""
        owner: Frame | None = frame
        while owner is not None and owner.unit != unit:
            owner = owner.parent
        if owner is not None:
            owner.show(name)
            self.captures.append((owner, name))

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
            found.append((arg.arg, kind, declared_type(arg), index >= defaulted))
        if args.vararg is not None:
            found.append((args.vararg.arg, "va", declared_type(args.vararg), False))
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            found.append((arg.arg, "ko", declared_type(arg), default is not None))
        if args.kwarg is not None:
            found.append((args.kwarg.arg, "kw", declared_type(args.kwarg), False))
        return tuple(found)

    def _base(self, node: ast.expr) -> Register:
        """A base of a class; of ``*bases`` one that stands for each of them."""
        if not isinstance(node, ast.Starred):
            return self.expression(node)
        bases = self.expression(node.value)
        register = self.frame.new()
        pos = pack(node.lineno, node.col_offset)
        self.frame.ops.append((s.ITER, register, bases, pos, False))
        return register

    def _counting(
        self, body: list[ast.stmt], path: Path, scope: ClassScope, name: str, found: Sequence[int]
    ) -> tuple[int, ...]:
        """Those of the pieces that bind a name of a class body whose values it may have at last.

        Nothing, where all count: each has to be a statement of the body itself, which surely binds.
        """
        places: dict[int, int] = {}
        for index in found:
            place = self.pieces[index].path
            if place[:-1] != path or not binds_surely(body[int(place[-1])], name):
                return ()
            places[int(place[-1])] = index
        if len(places) < 2 or scope.versions[name] != (found[-1],):
            return ()
        gone = rebound_unseen(body, name, sorted(places))
        return (
            tuple([index for place, index in places.items() if place not in gone]) if gone else ()
        )

    def define_class(
        self, node: ast.ClassDef, qualname: str, owner: ClassScope | None, piece: Piece | None
    ) -> Register:
        """Lower a class statement: its header here, each statement of its body as a piece."""
        frame = self.frame
        decorators = tuple([self.expression(d) for d in node.decorator_list])
        bases = tuple([self._base(base) for base in node.bases])
        keywords = tuple([(k.arg or "**", self.expression(k.value)) for k in node.keywords])
        index = len(self.classes)
        self.classes.append(None)
        self._class_names[index] = qualname
        register = frame.new()
        pos = pack(node.lineno, node.col_offset)
        frame.ops.append((s.CLASS, register, index, bases, keywords, pos))
        scope = ClassScope(index)
        before = len(self.pieces)
        path: Path = (*piece.path, "body") if piece is not None else ("local", index, "body")
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
            final={
                name: counting
                for name, found in members.items()
                if len(found) > 1
                and (counting := self._counting(node.body, path, scope, name, found))
            },
        )
        for decorator_register, decorator in zip(
            reversed(decorators), reversed(node.decorator_list), strict=True
        ):
            result = frame.new()
            at = pack(decorator.lineno, decorator.col_offset)
            frame.ops.append((s.DECORATE, result, decorator_register, register, False, at))
            register = result
        return register
