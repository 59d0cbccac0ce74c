"""The process of one test: runs it on an answer that is elsewhere.

What the answer defines stands here as :class:`Remote` objects. They ask the answer's process
for what can be asked without telling what is expected: operands of a comparison never leave
this process, so an object that claims to be equal to anything is equal to itself alone.
"""

from __future__ import annotations

import ast
import builtins
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Generator, Iterator, Sequence
from types import ModuleType
from typing import Any

from links import Gone, Link  # type: ignore[import-not-found,unused-ignore]
from telling import (  # type: ignore[import-not-found,unused-ignore]
    TEST,
    Failure,
    described,
    shown,
)
from values import Decoding, Encoding, container_of  # type: ignore[import-not-found,unused-ignore]

_ACTUAL, _EXPECTED = "_depslice_actual", "_depslice_expected"
_TOLD = "_depslice_told"
_NONSENSE = {"kind": "lost", "message": "its process said what nobody can read"}


def test(link: Link, order: dict[str, Any]) -> None:
    """Run the test of an order, and say how it failed, or that it did not."""
    link.send({"done": _failure_of(link, order)})


def _failure_of(link: Link, order: dict[str, Any]) -> Failure | None:
    names: dict[str, Any] = {"__name__": "answer"}
    try:
        side = Side(link)
        exec(compile(order["given"], "<given>", "exec"), names)
        for name, node in order["names"].items():
            if name == order["entry_point"] or not _is_known(name, node, names):
                names[name] = side.decoded(node)
        if order["modules"]:
            sys.meta_path.append(_RemoteModules(side))
        exec(compile(order["setup"], TEST, "exec", dont_inherit=True), names)
        exec(compile(_watched(order["text"]), TEST, "exec", dont_inherit=True), names)
    except Nonsense:
        return _NONSENSE
    except BaseException as error:  # noqa: BLE001 - the answer may raise anything
        told = getattr(error, _TOLD, None)
        found: Failure = dict(told) if told else described(error, "")
        if not told and isinstance(error, AssertionError):
            found["kind"] = "wrong"
            for key, name in (("actual", _ACTUAL), ("expected", _EXPECTED)):
                if name in names:
                    found[key] = shown(names[name])
        return found
    return None


def _is_known(name: str, node: Any, names: dict[str, Any]) -> bool:
    """Whether a test means something else by a name, whatever the answer has made of it.

    What the problem itself gives, builtins, and modules of the standard library: else an
    answer could say what `abs` is, or `math`.
    """
    if name in names or hasattr(builtins, name):
        return True
    return name in sys.stdlib_module_names and node != ["module", name]


def _watched(text: str) -> ast.Module:
    """The test, its two sides kept where it is one comparison, so that they can be shown."""
    tree = ast.parse(text, TEST)
    match tree.body:
        case [ast.Assert(test=ast.Compare(left=left, comparators=[right]) as compared)]:
            tree.body[:0] = [_kept(_ACTUAL, left), _kept(_EXPECTED, right)]
            compared.left, compared.comparators = _name(_ACTUAL), [_name(_EXPECTED)]
        case [ast.Assert(test=ast.expr() as value) as asserted]:
            tree.body[:0] = [_kept(_ACTUAL, value)]
            asserted.test = _name(_ACTUAL)
    return ast.fix_missing_locations(tree)


def _kept(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value)


def _name(name: str) -> ast.expr:
    return ast.Name(id=name, ctx=ast.Load())


class Nonsense(BaseException):
    """The answer's process has sent what is no reply."""


class Side:
    """The tests' end of the link to an answer."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._functions: list[Any] = []
        self._remotes: dict[int, Remote] = {}

    def ask(self, operation: str, *args: Any, **keywords: Any) -> Any:
        """What the answer's process says; raises what it has raised."""
        encoding = Encoding(self._handle, {})
        self._link.send(
            {
                "op": operation,
                "args": [encoding.of(each) for each in args],
                "keywords": {name: encoding.of(each) for name, each in keywords.items()},
            }
        )
        while "callback" in (message := self._received()):
            self._link.send(self._called(message))
        decoding = Decoding(self._remote, self._functions.__getitem__, encoding.containers)
        try:
            raised = message.get("raised")
            value = decoding.of(message["value"]) if raised is None else None
            error = None if raised is None else _error(raised, decoding)
            for number, content in message["changed"].items():
                _refill(encoding.containers[int(number)], decoding, content)
        except Exception:  # noqa: BLE001 - which there are many ways to cause
            raise Nonsense from None
        if error is not None:
            raise error
        return value

    def decoded(self, node: Any) -> Any:
        """A value that the answer's process has sent."""
        try:
            return Decoding(self._remote, self._functions.__getitem__, {}).of(node)
        except Exception:  # noqa: BLE001
            raise Nonsense from None

    def _received(self) -> dict[str, Any]:
        try:
            received: dict[str, Any] = self._link.receive()
        except Gone:
            raise Nonsense from None
        return received

    def _called(self, message: dict[str, Any]) -> dict[str, Any]:
        function = self._functions[int(message["callback"])]
        try:
            args = [self.decoded(each) for each in message["args"]]
            keywords = {name: self.decoded(each) for name, each in message["keywords"].items()}
            return {"value": Encoding(self._handle, {}).of(function(*args, **keywords))}
        except Exception as error:  # noqa: BLE001 - passed on to the answer, as a call would
            return {"error": type(error).__name__, "message": shown(error, str)}

    def _remote(self, number: int, kind: str) -> Remote:
        if number not in self._remotes:
            self._remotes[number] = Remote(self, number, kind)
        return self._remotes[number]

    def _handle(self, value: Any) -> list[Any]:
        if type(value) is Remote:
            return ["yours", object.__getattribute__(value, "_number")]
        self._functions.append(value)
        return ["handle", len(self._functions) - 1, type(value).__name__]


def _refill(container: Any, decoding: Decoding, content: Any) -> None:
    container.clear()
    decoding.fill(container, container_of(container), content)


def _error(raised: dict[str, Any], decoding: Decoding) -> BaseException:
    """An exception like that of the answer: of the first type of its own that is built in."""
    told = {str(key): value for key, value in dict(raised["told"]).items()}
    found = [getattr(builtins, str(name), None) for name in raised["types"]]
    bases = [e for e in found if isinstance(e, type) and issubclass(e, BaseException)]
    base: type[BaseException] = bases[0] if bases else Exception
    name = str(told.get("type"))
    kind: type[BaseException] = base if base.__name__ == name else type(name, (base,), {})
    error: BaseException = kind.__new__(kind)
    error.args = tuple(decoding.of(each) for each in raised["args"])
    setattr(error, _TOLD, told)
    return error


class Remote:
    """An object of the answer's."""

    __slots__ = ("_kind", "_number", "_side")

    def __init__(self, side: Side, number: int, kind: str) -> None:
        object.__setattr__(self, "_side", side)
        object.__setattr__(self, "_number", number)
        object.__setattr__(self, "_kind", kind)

    def _side_of(self) -> Side:
        side: Side = object.__getattribute__(self, "_side")
        return side

    def _ask(self, operation: str, *args: Any, **keywords: Any) -> Any:
        return self._side_of().ask(operation, self, *args, **keywords)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call it, with what can travel."""
        return self._ask("call", *args, **keywords)

    def __getattr__(self, name: str) -> Any:
        return self._ask("getattr", name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._ask("setattr", name, value)

    def __delattr__(self, name: str) -> None:
        self._ask("delattr", name)

    def __iter__(self) -> Iterator[Any]:
        iterator = self._ask("iter")
        if type(iterator) is not Remote:
            return iter(iterator)
        return iterator if iterator is self else _Iterator(iterator)

    def __next__(self) -> Any:
        return self._ask("next")

    def __len__(self) -> Any:
        return self._ask("len")

    def __getitem__(self, key: Any) -> Any:
        return self._ask("getitem", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._ask("setitem", key, value)

    def __delitem__(self, key: Any) -> None:
        self._ask("delitem", key)

    def __contains__(self, item: Any) -> bool:
        return any(each is item or each == item for each in self)

    def __bool__(self) -> bool:
        return bool(self._ask("bool"))

    def __int__(self) -> Any:
        return self._ask("int")

    def __float__(self) -> Any:
        return self._ask("float")

    def __index__(self) -> Any:
        return self._ask("index")

    def __str__(self) -> str:
        return str(self._ask("str"))

    def __repr__(self) -> str:
        return str(self._ask("repr"))

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Remote and self._ask("eq", other) is True)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: object) -> Any:
        return self._ask("lt", other) if type(other) is Remote else NotImplemented

    def __le__(self, other: object) -> Any:
        return self._ask("le", other) if type(other) is Remote else NotImplemented

    def __gt__(self, other: object) -> Any:
        return self._ask("gt", other) if type(other) is Remote else NotImplemented

    def __ge__(self, other: object) -> Any:
        return self._ask("ge", other) if type(other) is Remote else NotImplemented

    def __instancecheck__(self, instance: object) -> bool:
        return type(instance) is Remote and bool(self._side_of().ask("isinstance", instance, self))

    def __enter__(self) -> Any:
        return self._ask("enter")

    def __exit__(self, *error: object) -> Any:
        return self._ask("exit", None, None, None)

    def __await__(self) -> Generator[None, None, Any]:
        yield from ()  # a generator, as `await` wants it
        return self._ask("await")


class _Iterator:
    """What goes through an iterator of the answer's."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    def __iter__(self) -> _Iterator:
        return self

    def __next__(self) -> Any:
        return next(self._remote)


class _RemoteModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules that are the answer's: their names are asked for where it is."""

    def __init__(self, side: Side) -> None:
        self._side = side

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec:
        """There is one, until it is asked for."""
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        """Let its names be asked for."""
        remote = self._side.ask("import", module.__name__)
        module.__dict__["__getattr__"] = lambda name: getattr(remote, name)
