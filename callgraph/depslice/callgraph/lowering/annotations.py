"""Annotations as small tuples (:data:`~depslice.callgraph.summary.TypeExpr`)."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from functools import lru_cache

from depslice.callgraph.summary import (
    T_ATTR,
    T_LIST,
    T_NAME,
    T_NONE,
    T_SUBSCRIPT,
    T_UNION,
    T_UNKNOWN,
    TypeExpr,
)

_UNKNOWN: TypeExpr = (T_UNKNOWN,)


def type_expression(node: ast.expr) -> TypeExpr:
    """The annotation ``node``; strings in it are parsed as PEP 484 forward references.

    >>> type_expression(ast.parse("dict[str, 'm.C | None']", mode="eval").body)
    (2, (0, 'dict'), ((0, 'str'), (3, ((1, (0, 'm'), 'C'), (5,)))))
    """
    match node:
        case ast.Name(id=name):
            return (T_NAME, name)
        case ast.Attribute(value=value, attr=attr):
            base = type_expression(value)
            return (T_ATTR, base, attr) if base[0] in (T_NAME, T_ATTR) else base
        case ast.Subscript(value=value, slice=key):
            return _subscript(value, key)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return (T_UNION, (type_expression(left), type_expression(right)))
        case ast.Constant(value=None):
            return (T_NONE,)
        case ast.Constant(value=str(text)):
            return parse_type(text)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return (T_LIST, tuple([type_expression(element) for element in elements]))
        case ast.Starred(value=value):
            return type_expression(value)
        case ast.Call(func=func):
            # Not a type, but its names must stay bound all the same.
            return (T_SUBSCRIPT, _UNKNOWN, (type_expression(func),))
    return _UNKNOWN


def _subscript(value: ast.expr, key: ast.expr) -> TypeExpr:
    base = type_expression(value)
    name = base[-1] if base[0] in (T_NAME, T_ATTR) else ""
    elements = key.elts if isinstance(key, ast.Tuple) else [key]
    if name == "Literal":  # PEP 586: of members of enumerations alone there are names
        members = [element for element in elements if isinstance(element, ast.Attribute)]
        named = tuple([type_expression(member) for member in members])
        return (T_SUBSCRIPT, base, named) if named else base
    if name == "Annotated":  # PEP 593: the rest is metadata, evaluated but not a type
        rest = tuple([_metadata(element) for element in elements[1:]])
        return (T_SUBSCRIPT, base, (type_expression(elements[0]), *rest))
    return (T_SUBSCRIPT, base, tuple([type_expression(element) for element in elements]))


def _metadata(node: ast.expr) -> TypeExpr:
    names = tuple((T_NAME, child.id) for child in ast.walk(node) if isinstance(child, ast.Name))
    return (T_LIST, names)


def calls_in(node: ast.expr) -> Iterator[ast.Call]:
    """The outermost calls of an annotation, which making a function or class runs."""
    if isinstance(node, ast.Call):
        yield node
    else:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from calls_in(child)


@lru_cache(maxsize=4096)
def parse_type(text: str) -> TypeExpr:
    """The type a string annotation or ``# type:`` comment spells; unknown when it is none."""
    if len(text) > 2000:
        return _UNKNOWN
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return type_expression(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _UNKNOWN


def type_names(expression: TypeExpr) -> Iterator[tuple[str, ...]]:
    """The dotted names an annotation mentions: ``("m", "C")`` for ``m.C``."""
    kind = expression[0]
    if kind == T_NAME:
        yield (expression[1],)
    elif kind == T_ATTR:
        for name in type_names(expression[1]):
            yield (*name, expression[2])
    elif kind == T_SUBSCRIPT:
        yield from type_names(expression[1])
        for argument in expression[2]:
            yield from type_names(argument)
    elif kind in (T_UNION, T_LIST):
        for alternative in expression[1]:
            yield from type_names(alternative)
