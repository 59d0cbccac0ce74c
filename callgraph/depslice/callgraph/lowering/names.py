"""Which names a function body binds: Python language reference, section 4.2.1."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class BoundNames:
    """The names a block binds, and those it declares to live elsewhere."""

    local: set[str] = field(default_factory=set)
    global_: set[str] = field(default_factory=set)
    nonlocal_: set[str] = field(default_factory=set)


def bound_names(body: list[ast.stmt], *, walrus: Sequence[int]) -> BoundNames:
    """The names bound anywhere in ``body``, nested blocks included, nested scopes not.

    ``walrus`` are the lines of the file that have a ``:=``, ascending; only expressions of
    statements that span one are walked.
    """
    found = BoundNames()
    local = found.local
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is ast.Expr or kind is ast.Return:
            pass
        elif kind is ast.Assign:
            for target in node.targets:  # type: ignore[attr-defined]  # narrowed by `kind`
                bind_target(target, local)
        elif kind is ast.If or kind is ast.While:
            stack.extend(node.body)  # type: ignore[attr-defined]
            stack.extend(node.orelse)  # type: ignore[attr-defined]
        else:
            _statement(node, found, stack)
        if walrus and _spans(node, walrus):
            _walrus(node, local)
    local -= found.global_
    local -= found.nonlocal_
    return found


def bind_target(target: ast.AST, into: set[str]) -> None:
    """Add the plain names an assignment target binds."""
    kind = type(target)
    if kind is ast.Name:
        into.add(target.id)  # type: ignore[attr-defined]
    elif kind is ast.Tuple or kind is ast.List:
        for element in target.elts:  # type: ignore[attr-defined]
            bind_target(element, into)
    elif kind is ast.Starred:
        bind_target(target.value, into)  # type: ignore[attr-defined]


def _statement(node: ast.AST, found: BoundNames, stack: list[ast.AST]) -> None:
    local = found.local
    match node:
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            bind_target(target, local)
        case (
            ast.For(target=target, body=body, orelse=orelse)
            | ast.AsyncFor(target=target, body=body, orelse=orelse)
        ):
            bind_target(target, local)
            stack.extend(body)
            stack.extend(orelse)
        case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
            for item in items:
                if item.optional_vars is not None:
                    bind_target(item.optional_vars, local)
            stack.extend(body)
        case ast.Try() | ast.TryStar():
            stack.extend(node.body)
            stack.extend(node.handlers)
            stack.extend(node.orelse)
            stack.extend(node.finalbody)
        case ast.ExceptHandler(name=name, body=body):
            if name:
                local.add(name)
            stack.extend(body)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            local.add(name)
        case ast.Import(names=names):
            local.update(alias.asname or alias.name.partition(".")[0] for alias in names)
        case ast.ImportFrom(names=names):
            local.update(alias.asname or alias.name for alias in names)
        case ast.Global(names=names):
            found.global_.update(names)
        case ast.Nonlocal(names=names):
            found.nonlocal_.update(names)
        case ast.Match(cases=cases):
            for case_ in cases:
                pattern_names(case_.pattern, local)
                if case_.guard is not None:
                    _walrus(ast.Expr(case_.guard), local)
                stack.extend(case_.body)
        case ast.Delete(targets=targets):
            for target in targets:
                bind_target(target, local)
        case _:
            name = getattr(node, "name", None)  # `type X = …` (3.12)
            if isinstance(name, ast.Name):
                local.add(name.id)


def pattern_names(pattern: ast.AST, into: set[str]) -> None:
    """Add the names a match pattern captures (PEP 634)."""
    for node in ast.walk(pattern):
        if isinstance(node, ast.MatchAs | ast.MatchStar):
            if node.name:
                into.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            into.add(node.rest)


def _spans(node: ast.AST, lines: Sequence[int]) -> bool:
    first = getattr(node, "lineno", None)
    last = getattr(node, "end_lineno", None)
    if first is None or last is None:
        return True  # made here, around an expression
    place = bisect_left(lines, first)
    return place < len(lines) and lines[place] <= last


def _walrus(node: ast.AST, local: set[str]) -> None:
    """Names bound by ``:=`` in the expressions of one statement, comprehensions included."""
    stack: list[ast.AST] = [
        child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr | ast.withitem)
    ]
    while stack:
        child = stack.pop()
        if isinstance(child, ast.NamedExpr) and isinstance(child.target, ast.Name):
            local.add(child.target.id)
        if not isinstance(child, ast.Lambda):
            stack.extend(ast.iter_child_nodes(child))
