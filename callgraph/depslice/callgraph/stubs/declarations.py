"""What a stub declares, as plain tuples that the cache can hold.

Types are :data:`~depslice.callgraph.summary.TypeExpr` with two kinds more, and
their names are resolved when they are used, in the module that holds them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

from depslice.callgraph import summary as s
from depslice.callgraph.stubs.outline import condition, parse
from depslice.callgraph.summary import TypeExpr

T_LITERAL: Final = 7
"""``(T_LITERAL, texts)``: ``Literal`` of strings."""
T_ELLIPSIS: Final = 8

Declaration: TypeAlias = tuple[Any, ...]
"""Starts with its kind, one of the following:

* ``(CLASS, parameters, bases, members, is_protocol)``: names of type variables of
  ``Generic[…]``/``Protocol[…]`` or of the brackets of PEP 695 (empty: those of the
  bases, in order), types, name -> declaration
* ``(FUNCTION, overloads, how)``: an overload is ``(params, returns, is_async)``, with params
  as in :class:`~depslice.callgraph.summary.Unit`; ``how`` is one of the strings
  ``""``, ``"static"``, ``"class"``, ``"property"``
* ``(VARIABLE, type)``
* ``(ALIAS, type, parameters)``
* ``(TYPE_VARIABLE, bounds)``: the types it can be, none if any
"""
CLASS: Final = 0
FUNCTION: Final = 1
VARIABLE: Final = 2
ALIAS: Final = 3
TYPE_VARIABLE: Final = 4

_UNKNOWN: Final[TypeExpr] = (s.T_UNKNOWN,)
_TYPING: Final = frozenset(
    (s.T_NAME, name) for name in ("_t", "_te", "_typing", "t", "te", "typing", "typing_extensions")
)
"""What stubs call ``typing`` where they import all of it."""
_VARIABLE_MAKERS: Final = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple"})
_HOW: Final = {
    "staticmethod": "static",
    "classmethod": "class",
    "property": "property",
    "cached_property": "property",
    "abstractproperty": "property",
    "DynamicClassAttribute": "property",
    "_magic_enum_attr": "property",  # what typeshed's enum.pyi calls it
}
_ACCESSORS: Final = ("setter", "deleter")
_OF_CLASSES: Final = ("__new__", "__class_getitem__", "__init_subclass__")


def read_declaration(texts: Sequence[str], name: str) -> Declaration | None:
    """The declaration of ``name`` by the statements ``texts``; ``None`` if there is none.

    :raises SyntaxError: one of them is no Python.
    """
    body: list[ast.stmt] = []
    for text in texts:
        tree = parse(f"if 1:\n{text}" if text[:1].isspace() else text)
        body.extend(_chosen(tree.body))
    return _declarations(body).get(name)


def stub_type(node: ast.expr | None) -> TypeExpr:
    """An annotation of a stub.

    >>> stub_type(ast.parse("dict[str, T] | None", mode="eval").body)
    (3, ((2, (0, 'dict'), ((0, 'str'), (0, 'T'))), (5,)))
    """
    match node:
        case ast.Name(id=name):
            return (s.T_NAME, name)
        case ast.Attribute(value=value, attr=attr):
            return (s.T_ATTR, stub_type(value), attr)
        case ast.Subscript(value=value, slice=key):
            base = stub_type(value)
            if base[-1] == "Literal":
                return _literal(key)
            elements = key.elts if isinstance(key, ast.Tuple) else [key]
            return (s.T_SUBSCRIPT, base, tuple([stub_type(element) for element in elements]))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            first, second = stub_type(left), stub_type(right)
            return (s.T_UNION, (*_alternatives(first), *_alternatives(second)))
        case ast.Constant(value=None):
            return (s.T_NONE,)
        case ast.Constant(value=str(text)):
            return _quoted(text)
        case ast.Constant(value=value) if value is ...:
            return (T_ELLIPSIS,)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return (s.T_LIST, tuple([stub_type(element) for element in elements]))
        case ast.Starred(value=value):
            return stub_type(value)
    return _UNKNOWN


def _alternatives(expression: TypeExpr) -> tuple[TypeExpr, ...]:
    inner: tuple[TypeExpr, ...] = expression[1] if expression[0] == s.T_UNION else (expression,)
    return inner


def _quoted(text: str) -> TypeExpr:
    try:
        body = parse(f"({text})").body
    except (SyntaxError, ValueError):
        return _UNKNOWN
    return stub_type(body[0].value) if body and isinstance(body[0], ast.Expr) else _UNKNOWN


def _literal(key: ast.expr) -> TypeExpr:
    elements = key.elts if isinstance(key, ast.Tuple) else [key]
    values = [e.value if isinstance(e, ast.Constant) else ... for e in elements]
    if all(isinstance(value, str) for value in values):
        return (T_LITERAL, tuple(values))
    names = {type(value).__name__ for value in values if value is not ...}
    kinds = tuple([(s.T_NAME, name) for name in sorted(names & {"int", "bool", "str", "bytes"})])
    return (s.T_UNION, kinds) if kinds else _UNKNOWN


def _chosen(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of ``body`` and of those branches in it that can be taken."""
    found: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.If):
            holds = True if isinstance(node.test, ast.Constant) else condition(node.test)
            if holds is not False:
                found.extend(_chosen(node.body))
            if holds is not True:
                found.extend(_chosen(node.orelse))
        else:
            found.append(node)
    return found


def _declarations(body: list[ast.stmt]) -> dict[str, Declaration]:
    found: dict[str, Declaration] = {}
    overloaded: set[str] = set()
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                _add_function(found, overloaded, name, node)
            case ast.ClassDef(name=name):
                found[name] = _class(node)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                found[name] = _annotated(annotation, value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = _assigned(value)
            case _ if type(node).__name__ == "TypeAlias":  # Python 3.12
                alias: Any = node
                found[alias.name.id] = (ALIAS, stub_type(alias.value), _parameters(node))
    return found


def _annotated(annotation: ast.expr, value: ast.expr | None) -> Declaration:
    expression = stub_type(annotation)
    name = expression[-1]
    if name == "TypeAlias":
        return (ALIAS, stub_type(value), ())
    if name == "Final" and expression[0] != s.T_SUBSCRIPT and value is not None:
        return (VARIABLE, _type_of(value))
    return (VARIABLE, expression)


def _assigned(value: ast.expr) -> Declaration:
    if isinstance(value, ast.Call):
        called = stub_type(value.func)[-1]
        if called in _VARIABLE_MAKERS:
            bounds = [k.value for k in value.keywords if k.arg == "bound"] or value.args[1:]
            return (TYPE_VARIABLE, tuple([stub_type(bound) for bound in bounds]))
        if called == "NewType" and len(value.args) == 2:
            return (ALIAS, stub_type(value.args[1]), ())
        return (VARIABLE, stub_type(value.func))
    if isinstance(value, (ast.Constant, ast.JoinedStr)) and not (
        isinstance(value, ast.Constant) and value.value is None
    ):
        return (VARIABLE, _type_of(value))
    return (ALIAS, stub_type(value), ())


def _type_of(value: ast.expr) -> TypeExpr:
    """The type of a constant; of other values the stub should have said it."""
    match value:
        case ast.Constant(value=constant) if constant is not None and constant is not ...:
            return (s.T_NAME, type(constant).__name__)
        case ast.JoinedStr():
            return (s.T_NAME, "str")
        case ast.Call(func=func):
            return stub_type(func)
        case ast.UnaryOp(operand=operand):
            return _type_of(operand)
    return _UNKNOWN


def _class(node: ast.ClassDef) -> Declaration:
    parameters = _parameters(node)
    bases: list[TypeExpr] = []
    is_protocol = False
    for base in node.bases:
        expression = stub_type(base)
        subscripted = expression[0] == s.T_SUBSCRIPT
        named = expression[1] if subscripted else expression
        name = named[-1] if _is_of_typing(named) else ""
        is_protocol = is_protocol or name == "Protocol"
        if name in ("Generic", "Protocol"):
            if subscripted:
                parameters = tuple([e[-1] for e in expression[2] if e[0] == s.T_NAME])
        else:
            bases.append(expression)
    members = _declarations(_chosen(node.body))
    for inner in node.body:
        if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
            for name, expression in _assigned_on_self(inner):
                members.setdefault(name, (VARIABLE, expression))
    return (CLASS, parameters, tuple(bases), members, is_protocol)


def _is_of_typing(named: TypeExpr) -> bool:
    """Whether a name may be one of ``typing``: ``Protocol``, ``t.Protocol``; not ``protocols.Protocol``."""
    return named[0] != s.T_ATTR or named[1] in _TYPING


def _assigned_on_self(node: ast.FunctionDef) -> Iterator[tuple[str, TypeExpr]]:
    """Attributes whose types the ``__init__`` of a source file tells: ``self.a: T``, ``self.a = p``."""
    if not node.args.args:
        return
    receiver = node.args.args[0].arg
    declared = {arg.arg: arg.annotation for arg in (*node.args.args, *node.args.kwonlyargs)}
    for inner in ast.walk(node):
        match inner:
            case ast.AnnAssign(
                target=ast.Attribute(value=ast.Name(id=name), attr=attr), annotation=annotation
            ) if name == receiver:
                yield attr, stub_type(annotation)
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id=name), attr=attr)],
                value=ast.Name(id=given),
            ) if name == receiver and declared.get(given) is not None:
                yield attr, stub_type(declared[given])


def _parameters(node: ast.AST) -> tuple[str, ...]:
    """PEP 695: the names in the brackets."""
    return tuple([parameter.name for parameter in getattr(node, "type_params", ())])


def _add_function(
    found: dict[str, Declaration],
    overloaded: set[str],
    name: str,
    node: ast.FunctionDef | ast.AsyncFunctionDef,
) -> None:
    how = ""
    is_overload = False
    for decorator in node.decorator_list:
        simple = stub_type(decorator)[-1]
        if simple in _ACCESSORS:
            return
        is_overload = is_overload or simple == "overload"
        how = _HOW.get(simple, how) if isinstance(simple, str) else how
    if name in _OF_CLASSES:
        how = "class"
    returns: TypeExpr = stub_type(node.returns)
    overload = (_signature(node.args), returns, isinstance(node, ast.AsyncFunctionDef))
    if not is_overload:
        if name not in overloaded:  # else it is what implements them, in a source file
            found[name] = (FUNCTION, (overload,), how)
        return
    earlier = found[name][1] if name in overloaded else ()
    overloaded.add(name)
    found[name] = (FUNCTION, (*earlier, overload), how)


def _signature(args: ast.arguments) -> tuple[tuple[str, str, TypeExpr | None, bool], ...]:
    params: list[tuple[str, str, TypeExpr | None, bool]] = []
    positional = [*args.posonlyargs, *args.args]
    required = len(positional) - len(args.defaults)
    for index, arg in enumerate(positional):
        private = arg.arg.startswith("__") and not arg.arg.endswith("__")  # PEP 484
        kind = "po" if index < len(args.posonlyargs) or private else "pk"
        params.append((arg.arg, kind, _declared(arg), index >= required))
    if args.vararg is not None:
        params.append((args.vararg.arg, "va", _declared(args.vararg), True))
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        params.append((arg.arg, "ko", _declared(arg), default is not None))
    if args.kwarg is not None:
        params.append((args.kwarg.arg, "kw", _declared(args.kwarg), True))
    return tuple(params)


def _declared(arg: ast.arg) -> TypeExpr | None:
    return None if arg.annotation is None else stub_type(arg.annotation)
