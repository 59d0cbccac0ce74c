"""Builtins that a module has another object for on some of its ways alone.

``if PY2: str = unicode``, ``try: from itertools import izip as zip``, with ``str = str`` on the other
way, or nothing at all. Where no name of the module is there, Python takes the builtin; so a name
that is called otherwise in the flat file has to be the builtin to begin with.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from typing import Final

from depslice.slicer.render.flatten_scopes import ModuleScopes

_BUILTINS: Final = frozenset(dir(builtins))


def shadowed_in_part(scopes: ModuleScopes, live: Callable[[int], bool]) -> dict[str, int]:
    """The builtins that a module may bind, or not; the first of its statements that may.

    Of the statements that are ``live``. Names that it deletes are told of elsewhere.
    """
    places: dict[str, set[int]] = {}
    for use in scopes.uses:
        if use.stores and not use.chain and use.name in _BUILTINS:
            scope = use.scope
            if scope.parent is None or use.name in scope.global_names:
                places.setdefault(use.name, set()).add(use.unit)
    for name, imported in scopes.scope.imports.items():
        if name in _BUILTINS:
            units = {one.statement.unit for one in imported if not one.statement.typing_only}
            places.setdefault(name, set()).update(units)
    found: dict[str, int] = {}
    for name in sorted(places.keys() - scopes.deleted):
        first = min(filter(live, places[name]), default=None)
        if first is not None:
            statement = scopes.tree.body[first]
            if not _binds([statement], name) or (
                _is_compound(statement) and _reads(statement, name)
            ):
                found[name] = first
    return found


def _is_compound(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    return hasattr(statement, "body") or isinstance(statement, ast.Match)


def _reads(statement: ast.stmt, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for node in ast.walk(statement)
    )


def _binds(suite: Sequence[ast.stmt], name: str) -> bool:
    """Whether statements bind ``name`` on every way that goes on behind them."""
    return any(_binds_one(statement, name) for statement in suite)


def _binds_one(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return any((each.asname or each.name.partition(".")[0]) == name for each in names)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return statement.name == name
        case ast.If(body=body, orelse=orelse):
            return all(_binds(each, name) or _leaves(each) for each in (body, orelse))
        case ast.With(body=body):
            return _binds(body, name)
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
            ends = [[*body, *orelse], *(each.body for each in handlers)]
            return _binds(final, name) or all(_binds(each, name) or _leaves(each) for each in ends)
    return not _is_compound(statement) and any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in ast.walk(statement)
    )


def _leaves(suite: Sequence[ast.stmt]) -> bool:
    return bool(suite) and isinstance(suite[-1], ast.Raise)
