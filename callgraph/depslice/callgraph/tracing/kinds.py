"""What kind of call an edge is: decided from the syntax at the caller and from the callee.

The kinds are those by which static call graphs differ: what has to be known to find the
callee. ``self.m()`` of the own class needs next to nothing, ``self.attr.m()`` the type of
an attribute, a dispatch table the values of a container.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from depslice.callgraph.tracing.trace import CallSite, DynamicCall, Through


class CallKind(StrEnum):
    """Kinds of call, by what finding the callee takes."""

    DIRECT = "direct name"
    MODULE = "module.f()"
    OWN = "self.m()"
    INHERITED = "inherited or overridden self.m()"
    CLASS = "cls.m(), Class.m()"
    SUPER = "super().m()"
    ANNOTATED = "annotated parameter.m()"
    PARAMETER = "parameter.m()"
    LOCAL = "variable.m()"
    SELF_ATTRIBUTE = "self.attr.m()"
    DEEPER = "deeper attribute"
    RESULT = "result of a call"
    ELEMENT = "element of a container"
    CONSTRUCTOR = "constructor"
    INHERITED_CONSTRUCTOR = "inherited constructor, cls()"
    PROPERTY = "property, descriptor"
    FALLBACK = "__getattr__"
    OPERATOR = "operator, builtin protocol"
    ITERATION = "iteration"
    CONTEXT = "with"
    INSTANCE = "call of an instance"
    DECORATOR = "decorator applied"
    WRAPPER = "decorator wrapper, returned function"
    CALLBACK_PARAMETER = "callback parameter"
    CALLBACK = "callback via external"
    ALIAS = "alias, getattr, dispatch"
    CREATION = "class creation hook"
    OTHER = "other"


_CONSTRUCTORS: Final = frozenset({"__init__", "__new__", "__post_init__", "__attrs_post_init__"})
_CREATION: Final = frozenset(
    {"__init_subclass__", "__set_name__", "__prepare__", "__class_getitem__", "__mro_entries__"}
)
_ITERATION: Final = frozenset({"__iter__", "__next__", "__aiter__", "__anext__", "__reversed__"})
_CONTEXT: Final = frozenset({"__enter__", "__exit__", "__aenter__", "__aexit__"})
_FALLBACK: Final = frozenset({"__getattr__", "__getattribute__", "__setattr__", "__delattr__"})
_DESCRIPTOR: Final = frozenset({"__get__", "__set__", "__delete__"})
_BY_STRING: Final = frozenset({"getattr", "hasattr", "setattr", "delattr"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class SourceFileSyntax:
    """The syntax tree of one file, with what is asked of it.

    :raises SyntaxError: ``text`` does not parse.
    """

    def __init__(self, text: str) -> None:
        self._parents: dict[ast.AST, ast.AST] = {}
        self._ending: dict[tuple[int, int], list[ast.expr]] = {}
        self._real_names: dict[str, str] = {}  # of what is imported `as` another
        self._modules: set[str] = set()  # names that `import` binds
        self._classes: set[str] = set()
        self._decorators: set[ast.AST] = set()
        self._functions: dict[tuple[str, int], ast.AST] = {}
        tree = ast.parse(text)
        for node, parent in _walk(tree):
            self._parents[node] = parent
            self._note(node)

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.ImportFrom(names=names):
                self._real_names.update({a.asname: a.name for a in names if a.asname})
            case ast.Import(names=names):
                self._modules.update(a.asname or a.name.partition(".")[0] for a in names)
            case ast.ClassDef(name=name):
                self._classes.add(name)
                self._decorators.update(node.decorator_list)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                self._decorators.update(node.decorator_list)
                self._functions[name, node.lineno] = node
                for each in node.decorator_list:
                    self._functions.setdefault((name, each.lineno), node)
            case _:
                pass
        if isinstance(node, ast.expr) and node.end_lineno is not None:
            key = (node.end_lineno, node.end_col_offset or 0)
            self._ending.setdefault(key, []).append(node)

    def decorated(self, name: str, line: int) -> bool:
        """Whether the function ``name`` that starts at ``line`` has a decorator."""
        node = self._functions.get((name, line))
        return bool(getattr(node, "decorator_list", None))

    def node(self, site: CallSite) -> ast.expr | None:
        """The expression at ``site``.

        Python reports a method call that spans lines from the line of the attribute on:
        then it is the call that ends there.
        """
        ending = self._ending.get((site.end_line, site.end_column), [])
        for node in ending:
            if (node.lineno, node.col_offset) == (site.line, site.column):
                return node
        calls = [node for node in ending if isinstance(node, ast.Call)]
        return min(calls, key=lambda n: (-n.lineno, -n.col_offset)) if calls else None

    def is_decorator(self, node: ast.AST) -> bool:
        """Whether ``node`` is a decorator, to be applied."""
        return node in self._decorators

    def real_name(self, name: str) -> str:
        """The name that ``import … as name`` stands for."""
        return self._real_names.get(name, name)

    def functions_around(self, node: ast.AST) -> Iterator[_Function]:
        """The functions and lambdas that ``node`` stands in, inside out."""
        parent = self._parents.get(node)
        while parent is not None:
            if isinstance(parent, _Function):
                yield parent
            parent = self._parents.get(parent)

    def is_method(self, function: _Function) -> bool:
        """Whether ``function`` stands in a class body."""
        return isinstance(self._parents.get(function), ast.ClassDef)

    def is_module(self, name: str) -> bool:
        """Whether an ``import`` statement binds ``name``."""
        return name in self._modules

    def is_class(self, name: str) -> bool:
        """Whether ``name`` looks like a class: it is one of this file, or is spelt like one."""
        real = self.real_name(name)
        return real in self._classes or (real[:1].isupper() and not real.isupper())


def kind_of_call(call: DynamicCall, site: CallSite | None, syntax: SourceFileSyntax) -> CallKind:
    """The kind of ``call`` as made at ``site``, a position in the caller's file."""
    node = None if site is None else syntax.node(site)
    name = call.callee.rpartition(".")[2].rpartition(":")[2]
    explicit = isinstance(node, ast.Call) and _last_name(node.func, syntax) == name
    if not explicit:
        special = _special(call.callee, node, syntax)
        if special is not None:
            return special
    match node:
        case ast.Call(func=function):
            if explicit:
                return _by_receiver(function, call, syntax)
            return _unlike_its_name(function, call, syntax)
        case ast.Attribute(ctx=context):
            if syntax.is_decorator(node):
                return CallKind.DECORATOR
            return CallKind.PROPERTY if not isinstance(context, ast.Del) else CallKind.OTHER
        case None:
            return CallKind.CALLBACK if call.via_external else CallKind.OTHER
        case _ if syntax.is_decorator(node):
            return CallKind.DECORATOR
        case _:
            return CallKind.CALLBACK if call.via_external else CallKind.OTHER


def _special(callee: str, node: ast.expr | None, syntax: SourceFileSyntax) -> CallKind | None:
    """The kind of a call of a special method that syntax, not its name, calls."""
    name = callee.rpartition(".")[2]
    if not (name.startswith("__") and name.endswith("__")):
        return None
    if name in _CONSTRUCTORS:
        return _construction(node, callee, syntax)
    for names, kind in (
        (_CREATION, CallKind.CREATION),
        (_ITERATION, CallKind.ITERATION),
        (_CONTEXT, CallKind.CONTEXT),
        (_FALLBACK, CallKind.FALLBACK),
        (_DESCRIPTOR, CallKind.PROPERTY),
        (frozenset({"__call__"}), CallKind.INSTANCE),
    ):
        if name in names:
            return kind
    return CallKind.OPERATOR


def _construction(node: ast.expr | None, callee: str, syntax: SourceFileSyntax) -> CallKind:
    """Whether the class that is called is the one that has the constructor."""
    called = _last_name(node.func, syntax) if isinstance(node, ast.Call) else None
    if called is None and isinstance(node, ast.expr):
        called = _last_name(node, syntax)  # `raise Error`
    holder = callee.rpartition(".")[0].rpartition(":")[2].rpartition(".")[2]
    return CallKind.CONSTRUCTOR if called == holder else CallKind.INHERITED_CONSTRUCTOR


def _by_receiver(function: ast.expr, call: DynamicCall, syntax: SourceFileSyntax) -> CallKind:
    """The kind of a call that names its callee."""
    if isinstance(function, ast.Name):
        return CallKind.DIRECT
    assert isinstance(function, ast.Attribute)
    receiver = function.value
    around = list(syntax.functions_around(function))
    match receiver:
        case ast.Call(func=ast.Name(id="super")):
            return CallKind.SUPER
        case ast.Name(id=name):
            return _by_name(name, call, around, syntax)
        case ast.Attribute(value=ast.Name(id=name)) if name == _self_name(around, syntax):
            return CallKind.SELF_ATTRIBUTE
        case ast.Attribute(value=ast.Name(id=name)) if syntax.is_module(name):
            return CallKind.MODULE
        case ast.Attribute(attr=name) if syntax.is_class(name):
            return CallKind.CLASS
        case ast.Attribute():
            return CallKind.DEEPER
        case ast.Call() | ast.Await():
            return CallKind.RESULT
        case ast.Subscript():
            return CallKind.ELEMENT
        case _:
            return CallKind.OTHER


def _by_name(
    name: str, call: DynamicCall, around: list[_Function], syntax: SourceFileSyntax
) -> CallKind:
    if name == _self_name(around, syntax):
        if name == "cls":
            return CallKind.CLASS
        method = call.callee.rpartition(".")[0]
        return CallKind.OWN if call.caller.startswith(f"{method}.") else CallKind.INHERITED
    for scope in around:
        for argument in _arguments(scope):
            if argument.arg == name:
                annotated = argument.annotation is not None
                return CallKind.ANNOTATED if annotated else CallKind.PARAMETER
    if syntax.is_module(name):
        return CallKind.MODULE
    return CallKind.CLASS if syntax.is_class(name) else CallKind.LOCAL


def _unlike_its_name(function: ast.expr, call: DynamicCall, syntax: SourceFileSyntax) -> CallKind:
    """The kind of a call that does not name its callee."""
    caller, callee = call.caller, call.callee
    if isinstance(function, ast.Name) and function.id in _BY_STRING:
        return CallKind.ALIAS
    if call.through in (Through.C, Through.LIBRARY):
        return CallKind.CALLBACK
    if isinstance(function, ast.Name):
        around = list(syntax.functions_around(function))
        for depth, scope in enumerate(around):
            if any(argument.arg == function.id for argument in _arguments(scope)):
                return CallKind.CALLBACK_PARAMETER if depth == 0 else CallKind.WRAPPER
    if syntax.is_decorator(function):
        return CallKind.DECORATOR
    holder, nested, _ = callee.rpartition(".<locals>.")
    if nested and caller != holder and not caller.startswith(f"{holder}.<locals>."):
        return CallKind.WRAPPER
    return CallKind.ALIAS


def _self_name(around: list[_Function], syntax: SourceFileSyntax) -> str | None:
    """The first parameter of the method that the place is in, closures included."""
    for function in around:
        if syntax.is_method(function):
            arguments = _arguments(function)
            return arguments[0].arg if arguments else None
    return None


def _arguments(function: _Function) -> list[ast.arg]:
    given = function.args
    packed = [each for each in (given.vararg, given.kwarg) if each is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *packed]


def _last_name(function: ast.expr, syntax: SourceFileSyntax) -> str | None:
    match function:
        case ast.Name(id=name):
            return syntax.real_name(name)
        case ast.Attribute(attr=name):
            return name
        case _:
            return None


def _walk(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """All nodes below ``tree``, each with its parent."""
    waiting = [tree]
    while waiting:
        parent = waiting.pop()
        for child in ast.iter_child_nodes(parent):
            yield child, parent
            waiting.append(child)
