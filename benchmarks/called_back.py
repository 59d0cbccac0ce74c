"""What classes of the standard library call of their own objects: the data the engine reads.

``python benchmarks/called_back.py [PYTHON…]`` reads the source of every class that the modules of
the standard library define, in this interpreter and the others named, and writes
``callgraph/depslice/callgraph/stubs/called_back.json``: for each class, by its name in typeshed,
and each method, the names it asks ``self`` (or ``cls``) for. A subclass that overrides one of
them is called back (``HTMLParser.feed`` calls ``handle_starttag``). Methods written in C have no
entry: they call no overrides by name. ``private_names.json`` beside it has the private names of each class, data
and mangled ones too, and those that its module asks of any object with ``getattr`` or ``hasattr``: stubs leave most
of them out.

- Syntax counts as the special method it reaches: ``self[key]``, ``for x in self``, ``len(self)``.
- ``getattr(self, "visit_" + kind)`` asks for ``visit_*``.
- ``cls(…)``, ``self.__class__(…)`` and ``type(self)(…)`` make an instance: ``()``.
- ``super().method(…)`` and ``Base.method(self, …)`` ask for what that method asks for.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import inspect
import io
import json
import os
import pkgutil
import subprocess
import sys
import textwrap
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType
from typing import Any, Final

from depslice.callgraph.stubs.store import Stubs

_STUBS: Final = Path(__file__).parents[1] / "callgraph" / "depslice" / "callgraph" / "stubs"
OUT: Final = _STUBS / "called_back.json"
OUT_PRIVATE: Final = _STUBS / "private_names.json"
_LEFT_OUT: Final = frozenset(
    {
        *("antigravity", "this", "idlelib", "lib2to3", "test", "turtledemo", "ensurepip", "venv"),
        *("__main__", "__phello__", "_pyrepl", "_aix_support", "_ios_support", "nt", "winreg"),
    }
)
_MAKE: Final = "()"
_OF_ANY: Final = frozenset(
    {"__class__", "__dict__", "__name__", "__doc__", "__module__", "__init__"}
)
_VIEWS: Final = {  # what going through them asks of the mapping
    "KeysView": ("__iter__",),
    "ItemsView": ("__iter__", "__getitem__"),
    "ValuesView": ("__iter__", "__getitem__"),
}
_ITERATING: Final = frozenset(
    {
        *("iter", "list", "tuple", "set", "frozenset", "sorted", "enumerate", "dict", "sum", "any"),
        *("all", "min", "max", "zip", "filter", "map"),
    }
)
_FUNCTIONS: Final = {
    **dict.fromkeys(_ITERATING, ("__iter__",)),
    **_VIEWS,
    "len": ("__len__",),
    "str": ("__str__",),
    "repr": ("__repr__",),
    "hash": ("__hash__",),
    "bool": ("__bool__", "__len__"),
    "next": ("__next__",),
    "reversed": ("__reversed__",),
    "format": ("__format__",),
    "int": ("__int__",),
    "float": ("__float__",),
    "abs": ("__abs__",),
}
_OPERATORS: Final = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.Mod: "mod",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.FloorDiv: "floordiv",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.MatMult: "matmul",
}
_SIGNS: Final = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}
_COMPARISONS: Final = {
    ast.Eq: ("eq", "eq"),
    ast.NotEq: ("ne", "ne"),
    ast.Lt: ("lt", "gt"),
    ast.Gt: ("gt", "lt"),
    ast.LtE: ("le", "ge"),
    ast.GtE: ("ge", "le"),
}


def main(pythons: list[str]) -> None:
    """Read the standard libraries, and write what they say together."""
    found: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    private: defaultdict[str, set[str]] = defaultdict(set)
    for read in map(_read_by, (sys.executable, *pythons)):
        for name, methods in read["asked"].items():
            for method, names in methods.items():
                found[name][method] |= set(names)
        for name, names in read["private"].items():
            private[name] |= set(names)
    _write(OUT, {n: {m: sorted(found[n][m]) for m in sorted(found[n])} for n in found})
    _write(OUT_PRIVATE, {name: sorted(names) for name, names in private.items()})


def _write(path: Path, document: Mapping[str, Any]) -> None:
    """A line for each class."""
    lines = [f"{json.dumps(name)}: {json.dumps(document[name])}" for name in sorted(document)]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _read_by(python: str) -> Mapping[str, Any]:
    command = [python, "-X", "frozen_modules=off", __file__, "--print"]  # frozen, without source
    ours = [path for path in sys.path if not path.startswith(sys.base_prefix)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(ours)}  # others lack depslice
    made = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=environment)
    read: Mapping[str, Any] = json.loads(made.stdout)
    return read


def asked() -> dict[str, dict[str, list[str]]]:
    """For each class of this standard library, its methods and what they ask ``self`` for."""
    stubs = Stubs()
    found = {}
    for class_ in sorted(set(_classes()), key=lambda c: (c.__module__, c.__qualname__)):
        methods = {
            name: sorted(names) for name in vars(class_) if (names := _Asked(class_, name).names())
        }
        known = stubs.class_named(f"{class_.__module__}.{class_.__qualname__}")
        if methods and known is not None:
            found[known.dotted] = methods
    return found


def private() -> dict[str, list[str]]:
    """For each class of this standard library, the private names that it or its module asks for."""
    stubs = Stubs()
    found: dict[str, list[str]] = {}
    for class_ in set(_classes()):
        known = stubs.class_named(f"{class_.__module__}.{class_.__qualname__}")
        names = {name for name in vars(class_) if _is_private(name)} | _asked_by(class_.__module__)
        if names and known is not None:
            found[known.dotted] = sorted({*names, *found.get(known.dotted, ())})
    return found


def _is_private(name: str) -> bool:
    is_special = name.startswith("__") and name.endswith("__")
    return name.startswith("_") and not is_special and name != "_abc_impl"


@functools.cache
def _asked_by(module: str) -> frozenset[str]:
    """The private names that the code of a module asks of any object by ``getattr``."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError, SyntaxError):
        return frozenset()
    return frozenset(
        node.args[1].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1
        if node.func.id in ("getattr", "hasattr") and isinstance(node.args[1], ast.Constant)
        if isinstance(node.args[1].value, str) and _is_private(node.args[1].value)
    )


def _classes() -> Iterator[type]:
    for name in _modules():
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.suppress(ImportError, AttributeError, OSError),
        ):
            warnings.simplefilter("ignore")
            for value in vars(importlib.import_module(name)).values():
                if isinstance(value, type) and value.__module__.split(".")[0] in _STANDARD:
                    yield value


_STANDARD: Final = sys.stdlib_module_names - _LEFT_OUT


def _modules() -> Iterator[str]:
    for top in sorted(_STANDARD):
        yield top
        with contextlib.suppress(ImportError, AttributeError, OSError):
            folders = getattr(importlib.import_module(top), "__path__", ())
            for each in pkgutil.walk_packages(folders, f"{top}."):
                if not each.name.endswith("__main__") and ".test" not in each.name:
                    yield each.name


class _Asked:
    """What one method asks the object for that it is called on."""

    def __init__(self, class_: type, name: str, seen: frozenset[object] = frozenset()) -> None:
        self._class = class_
        self._seen = seen
        self._function, self._is_class_method = _function_of(vars(class_)[name])
        self._self = ""
        self._texts: dict[str, str] = {}

    def names(self) -> set[str]:
        """The names; empty for what is no method written in Python."""
        function = self._function
        if function is None or function in self._seen:
            return set()
        self._seen |= {function}
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        except (OSError, TypeError, SyntaxError):
            return set()
        defined = tree.body[0]
        if not isinstance(defined, ast.FunctionDef | ast.AsyncFunctionDef):
            return set()
        params = [*defined.args.posonlyargs, *defined.args.args]
        if not params:
            return set()
        self._self = params[0].arg
        self._texts = {
            node.targets[0].id: prefix
            for node in ast.walk(defined)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
            if (prefix := _prefix(node.value, {})) is not None
        }
        nodes = [node for part in defined.body for node in ast.walk(part)]
        run = {name for node in nodes if (name := self._called_of_own(node))}
        return {n for node in nodes for n in self._of(node) if self._may_be_code(n, n in run)}

    def _called_of_own(self, node: ast.AST) -> str | None:
        match node:
            case ast.Call(func=ast.Attribute(value=of, attr=name)) if self._is_self(of):
                return name
        return None

    def _may_be_code(self, name: str, is_called: bool) -> bool:
        """Whether a subclass may have code of this name, not the plain data the class has."""
        if name in _OF_ANY or (name == _MAKE and self._class.__module__ == "enum"):
            return False  # members of an enumeration are looked up, not made
        try:
            held = inspect.getattr_static(self._class, name)
        except AttributeError:
            return is_called or "*" in name or name == _MAKE or name[:2] == "__"
        return callable(held) or hasattr(held, "__get__")

    def _is_self(self, node: ast.expr | None) -> bool:
        return isinstance(node, ast.Name) and node.id == self._self

    def _is_class(self, node: ast.expr) -> bool:
        """``cls``, ``self.__class__``, ``type(self)``."""
        if self._is_class_method:
            return self._is_self(node)
        if isinstance(node, ast.Attribute):
            return node.attr == "__class__" and self._is_self(node.value)
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "type"
            and len(node.args) == 1
            and self._is_self(node.args[0])
        )

    def _of(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Attribute(value=of, attr=name, ctx=ast.Load()) if self._is_self(of):
                yield name
            case ast.Attribute(value=of, attr=name) if self._is_class(of):
                yield name
            case ast.Subscript(value=of, ctx=ctx) if self._is_self(of):
                if not self._is_class_method:
                    kind = {ast.Load: "get", ast.Store: "set", ast.Del: "del"}[type(ctx)]
                    yield f"__{kind}item__"
            case ast.For(iter=of) | ast.comprehension(iter=of) if self._is_self(of):
                yield "__iter__"
            case ast.AsyncFor(iter=of) if self._is_self(of):
                yield "__aiter__"
            case ast.Starred(value=of, ctx=ast.Load()) | ast.YieldFrom(value=of):
                if self._is_self(of):
                    yield "__iter__"
            case ast.Await(value=of) if self._is_self(of):
                yield "__await__"
            case ast.withitem(context_expr=of) if self._is_self(of):
                yield from ("__enter__", "__exit__", "__aenter__", "__aexit__")
            case ast.FormattedValue(value=of, conversion=how) if self._is_self(of):
                yield "__repr__" if how == ord("r") else "__str__"
            case ast.If(test=of) | ast.While(test=of) | ast.IfExp(test=of):
                yield from ("__bool__", "__len__") if self._is_self(of) else ()
            case ast.UnaryOp(op=ast.Not(), operand=of) if self._is_self(of):
                yield from ("__bool__", "__len__")
            case ast.UnaryOp(op=op, operand=of) if self._is_self(of) and type(op) in _SIGNS:
                yield f"__{_SIGNS[type(op)]}__"
            case ast.GeneratorExp(generators=[first, second, *_]):
                if isinstance(first.iter, ast.Tuple) and any(map(self._is_self, first.iter.elts)):
                    is_of_each = ast.dump(second.iter) == ast.dump(_loaded(first.target))
                    yield from ["__iter__"] * is_of_each
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                yield from [f"__{_OPERATORS[type(op)]}__"] * self._is_self(left)
                yield from [f"__r{_OPERATORS[type(op)]}__"] * self._is_self(right)
            case ast.AugAssign(target=of, op=op) if self._is_self(of) and type(op) in _OPERATORS:
                yield from (f"__i{_OPERATORS[type(op)]}__", f"__{_OPERATORS[type(op)]}__")
            case ast.Compare():
                yield from self._compared(node)
            case ast.Call():
                yield from self._called(node)

    def _compared(self, node: ast.Compare) -> Iterator[str]:
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.In | ast.NotIn) and self._is_self(right):
                yield "__contains__"
            for forward, reflected in [_COMPARISONS[type(op)]] if type(op) in _COMPARISONS else []:
                yield from [f"__{forward}__"] * self._is_self(left)
                yield from [f"__{reflected}__"] * self._is_self(right)
            left = right

    def _called(self, node: ast.Call) -> Iterator[str]:
        called, args = node.func, node.args
        if self._is_class(called):
            yield _MAKE
        elif self._is_self(called):
            yield "__call__"
        elif isinstance(called, ast.Name) and args and self._is_self(args[0]):
            if called.id in ("getattr", "hasattr") and len(args) > 1:
                prefix = _prefix(args[1], self._texts)
                yield from () if prefix is None else (prefix,)
            yield from _FUNCTIONS.get(called.id, ())
        elif isinstance(called, ast.Attribute):
            yield from self._of_base(called, args)

    def _of_base(self, called: ast.Attribute, args: list[ast.expr]) -> Iterator[str]:
        """``super().method(…)`` and ``Base.method(self, …)``."""
        function = self._function
        assert function is not None
        of = called.value
        if isinstance(of, ast.Call) and isinstance(of.func, ast.Name) and of.func.id == "super":
            bases = self._class.__mro__[1:]
        elif isinstance(of, ast.Name) and args and self._is_self(args[0]):
            named = function.__globals__.get(of.id)
            bases = named.__mro__ if isinstance(named, type) else ()
            bases = bases if named in self._class.__mro__ else ()
        else:
            return
        for base in bases:
            if called.attr in vars(base):
                yield from _Asked(base, called.attr, self._seen).names()
                return


def _loaded(target: ast.expr) -> ast.expr:
    """A name that is bound, as it is read."""
    return ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else target


def _function_of(member: Any) -> tuple[FunctionType | None, bool]:
    """The function a member of a class is made of, and whether it takes the class."""
    is_class_method = isinstance(member, classmethod)
    if isinstance(member, classmethod | staticmethod):
        member = None if isinstance(member, staticmethod) else member.__func__
    elif isinstance(member, property):
        member = member.fget
    elif hasattr(member, "func") and hasattr(member, "attrname"):  # `cached_property`
        member = member.func
    if callable(member):
        member = inspect.unwrap(member)
    return (member if isinstance(member, FunctionType) else None), is_class_method


def _prefix(node: ast.expr, known: Mapping[str, str]) -> str | None:
    """The pattern of a computed name: what it begins and ends with."""
    text: object = None
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name):
            return known.get(name)
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Add()):
            return f"{text}*"
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
            first, _, rest = text.partition("%")
            last = rest[1:]
            return f"{first}*{last}" if "%" not in last and first + last else None
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            return f"{text}*"
    return None


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        print(json.dumps({"asked": asked(), "private": private()}))
    else:
        main(sys.argv[1:])
