"""Small faults, one at a time, in a function's syntax tree.

Each :class:`Mutation` replaces one node by another, and can take that back, so that the
tree is copied for none of them. What is looked for follows the usual mutation operators
(Offutt's sufficient set, and the statement, argument and handler operators of later tools).
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from .definitions import Definition, Function

_BINARY: Final[dict[type[ast.AST], type[ast.operator]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
}  # fmt: skip
_COMPARED: Final[dict[type[ast.AST], tuple[type[ast.cmpop], ...]]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
_DELETED: Final = (
    ast.Assign, ast.AugAssign, ast.Raise, ast.Delete, ast.Assert,
)  # fmt: skip
_NOT_LOOKED_AT: Final = {"annotation", "returns", "decorator_list", "format_spec", "type_params"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """``new`` in the place of a node: in ``field`` of ``holder``, at ``index`` if it is a list.

    ``lines``: first and last of the statement, or of its header: who executes one of them
    may notice.
    """

    kind: str
    line: int
    lines: tuple[int, int]
    holder: ast.AST
    field: str
    index: int | None
    new: ast.AST

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The tree with the fault, for a while."""
        old = self._swap(self.new)
        try:
            yield
        finally:
            self._swap(old)

    def _swap(self, node: Any) -> Any:
        held: Any = getattr(self.holder, self.field)
        if self.index is None:
            setattr(self.holder, self.field, node)
            return held
        old, held[self.index] = held[self.index], node
        return old


def mutations(function: Function) -> list[Mutation]:
    """All faults of a function's body, nested functions included, in the order of the source."""
    walker = _Walker()
    for index, statement in enumerate(function.body):
        if index or not _is_docstring(statement):
            walker.visit(function, "body", index, statement)
    return sorted(walker.found, key=lambda each: each.line)


def difference_text(definition: Definition, mutation: Mutation) -> str:
    """The fault as a difference of the function's lines, as :func:`ast.unparse` writes them."""
    before = ast.unparse(definition.node).splitlines()
    with mutation.applied():
        after = ast.unparse(definition.node).splitlines()
    lines = list(difflib.unified_diff(before, after, lineterm="", n=1))[2:]
    return "\n".join(line for line in lines if not line.startswith("@@"))


class _Walker:
    """Finds faults; ``found`` grows."""

    def __init__(self) -> None:
        self.found: list[Mutation] = []
        self.lines = (0, 0)

    def visit(self, holder: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
        """Look at ``node`` and at what is in it."""
        around = self.lines
        self.lines = _header(node) or around
        for kind, new in _faults(node):
            self.put(kind, node, holder, field, index, new)
        if isinstance(node, ast.Compare):
            for number, operator in enumerate(node.ops):
                for other in _COMPARED[type(operator)]:
                    self.put("comparison", node, node, "ops", number, other())
        for name, value in ast.iter_fields(node):
            if name in _NOT_LOOKED_AT or isinstance(node, ast.arguments):
                continue
            for number, child in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(child, ast.AST) or (name == "body" and _hidden(node, number)):
                    continue
                self.visit(node, name, number if isinstance(value, list) else None, child)
        self.lines = around

    def put(
        self, kind: str, at: Any, holder: ast.AST, field: str, index: int | None, new: ast.AST
    ) -> None:
        """Remember a fault."""
        line: int = getattr(at, "lineno", 0) or getattr(holder, "lineno", 0)
        near = at if hasattr(at, "lineno") else holder
        if hasattr(new, "lineno") or isinstance(new, (ast.expr, ast.stmt)):
            ast.copy_location(new, near)
        ast.fix_missing_locations(new)
        self.found.append(
            Mutation(
                kind=kind,
                line=line,
                lines=self.lines,
                holder=holder,
                field=field,
                index=index,
                new=new,
            )
        )


def _header(node: ast.AST) -> tuple[int, int] | None:
    """The lines of a statement, without those of the statements in it."""
    if not isinstance(node, (ast.stmt, ast.ExceptHandler)):
        return None
    cases: list[ast.match_case] = getattr(node, "cases", [])
    inner = [cases[0].pattern] if cases else getattr(node, "body", [])
    last = inner[0].lineno - 1 if inner else node.end_lineno or node.lineno
    return node.lineno, max(node.lineno, last)


def _hidden(node: ast.AST, number: int) -> bool:
    """Whether a statement is the docstring of a nested definition."""
    return (
        number == 0
        and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        and _is_docstring(node.body[0])
    )


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _faults(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What one node can be replaced by."""
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            if type(op) in _BINARY:
                yield "operator", ast.BinOp(left=left, op=_BINARY[type(op)](), right=right)
        case ast.AugAssign(target=target, op=op, value=value):
            if type(op) in _BINARY:
                new = ast.AugAssign(target=target, op=_BINARY[type(op)](), value=value)
                yield "operator", new
        case ast.UnaryOp(operand=operand):
            yield "operator", operand
        case ast.BoolOp(op=op, values=values):
            other: ast.boolop = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield "condition", ast.BoolOp(op=other, values=values)
            for drop in range(len(values)):
                rest = [*values[:drop], *values[drop + 1 :]]
                yield "condition", rest[0] if len(rest) == 1 else ast.BoolOp(op=op, values=rest)
        case ast.Constant(value=value):
            yield from (("constant", ast.Constant(value=other)) for other in _others(value))
        case ast.If(test=test, body=body, orelse=orelse):
            yield "condition", ast.If(test=_negated(test), body=body, orelse=orelse)
        case ast.While(test=test, body=body, orelse=orelse):
            yield "condition", ast.While(test=_negated(test), body=body, orelse=orelse)
        case ast.IfExp(test=test, body=one, orelse=two):
            yield "condition", ast.IfExp(test=_negated(test), body=one, orelse=two)
        case ast.comprehension(ifs=ifs) if ifs:
            negated = [_negated(ifs[0]), *ifs[1:]]
            yield (
                "condition",
                ast.comprehension(
                    target=node.target, iter=node.iter, ifs=negated, is_async=node.is_async
                ),
            )
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield "return", ast.Return(value=ast.Constant(value=None))
        case ast.Yield(value=ast.expr() as value) if not _is_none(value):
            yield "return", ast.Yield(value=ast.Constant(value=None))
        case ast.Break():
            yield "statement", ast.Continue()
        case ast.Continue():
            yield "statement", ast.Break()
        case ast.Slice(lower=lower, upper=upper, step=step):
            if lower is not None and not isinstance(lower, ast.Constant):
                yield "off-by-one", ast.Slice(lower=_plus_one(lower), upper=upper, step=step)
            if upper is not None and not isinstance(upper, ast.Constant):
                yield "off-by-one", ast.Slice(lower=lower, upper=_plus_one(upper), step=step)
        case ast.Call():
            yield from _of_call(node)
        case ast.ExceptHandler(type=kind, name=name, body=body):
            if not (len(body) == 1 and isinstance(body[0], ast.Raise) and body[0].exc is None):
                yield "handler", ast.ExceptHandler(type=kind, name=name, body=[ast.Raise()])
        case _:
            pass
    if isinstance(node, _DELETED) or (
        isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
    ):
        yield "statement", ast.Pass()


def _of_call(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    args = node.args
    if any(isinstance(each, ast.Starred) for each in args):
        return
    if len(args) >= 2 and ast.dump(args[0]) != ast.dump(args[1]):
        swapped = [args[1], args[0], *args[2:]]
        yield "arguments", ast.Call(func=node.func, args=swapped, keywords=node.keywords)
    if isinstance(node.func, ast.Name) and node.func.id == "range":
        for number, each in enumerate(args[:2]):
            if not isinstance(each, ast.Constant):
                moved = [*args[:number], _plus_one(each), *args[number + 1 :]]
                yield "off-by-one", ast.Call(func=node.func, args=moved, keywords=[])


def _others(value: object) -> list[Any]:
    match value:
        case bool():
            return [not value]
        case int() | float() | complex():
            return [value + 1]
        case str():
            return [value + "XX"] if value else ["XX"]
        case bytes():
            return [value + b"XX"]
        case _:
            return []


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(op=ast.Not(), operand=test)


def _plus_one(value: ast.expr) -> ast.expr:
    return ast.BinOp(left=value, op=ast.Add(), right=ast.Constant(value=1))


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
