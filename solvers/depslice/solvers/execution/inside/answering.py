"""The process of an answer: loads it, and does what its tests ask of it.

It never has a test: it is asked to call a function with arguments, and for what objects of
its own are. What an answer does to this process, it does to its own results.
"""

from __future__ import annotations

import asyncio
import builtins
import importlib
import operator
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

from links import Link  # type: ignore[import-not-found,unused-ignore]
from telling import ANSWER, described  # type: ignore[import-not-found,unused-ignore]
from values import (  # type: ignore[import-not-found,unused-ignore]
    Decoding,
    Encoding,
    changed,
    elements,
    error_of,
    own_attributes,
    refill,
)

Message = dict[str, Any]
_THEIRS = "_depslice_theirs"  # names the number of something of the tests
_DEEP = 20_000  # calls: values may nest deeper than an answer's own calls may


def serve(link: Link, order: dict[str, Any]) -> None:
    """Load the answer of an order, say what it defines, and do what is asked."""
    code = order["code"]
    module = ModuleType("answer")
    sys.modules["answer"] = module
    try:
        # What is given has names of its own: an answer that defines one again changes nothing there.
        given: dict[str, Any] = {"__name__": "answer"}
        exec(compile(order["given"], "<given>", "exec"), given)
        module.__dict__.update((n, v) for n, v in given.items() if not n.startswith("__"))
        exec(compile(code, ANSWER, "exec", dont_inherit=True), module.__dict__)
        found = callable(getattr(module, order["entry_point"], None))
    except BaseException as error:  # noqa: BLE001 - it may raise anything
        link.send({"failure": described(error, code)})
        return
    if not found:
        message = f"the answer does not define {order['entry_point']}"
        link.send({"failure": {"kind": "missing", "message": message}})
        return
    side = _Side(link, code, given, module.__dict__)
    link.send({"names": [str(name) for name in list(module.__dict__)]})
    while True:
        link.send(side.done(link.receive()))


class _Side:
    """Objects by number, and what is done with them."""

    def __init__(self, link: Link, code: str, given: dict[str, Any], names: dict[str, Any]) -> None:
        self._link = link
        self._code = code
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._theirs: dict[int, Any] = {}
        self._talking = threading.RLock()
        self._limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(self._limit, _DEEP))
        self._operations = {
            **_OPERATIONS,
            "given": given.__getitem__,  # as it was before the answer
            "name": names.__getitem__,
        }

    def done(self, message: Message) -> Message:
        """Do what a message asks for: the value, or what was raised, and changed arguments."""
        decoding = Decoding(self._of_theirs, self._objects.__getitem__, {})
        args = [decoding.of(each) for each in message["args"]]
        keywords = {name: decoding.of(each) for name, each in message["keywords"].items()}
        containers = decoding.containers
        before = {number: elements(each) for number, each in containers.items()}
        encoding = self._encoding({id(each): n for n, each in containers.items()})
        answer: Message = {}
        try:
            with self._own_depth():
                value = self._operations[message["op"]](*args, **keywords)
            answer["value"] = encoding.of(value)
        except BaseException as error:  # noqa: BLE001 - it may raise anything
            if message["op"] not in _ENDS and isinstance(error, StopIteration):
                error = RuntimeError("it raised StopIteration")  # which would end a loop there
            answer = {"raised": self._raised(error, encoding)}
        answer["changed"] = changed(containers, before, encoding)
        return answer

    @contextmanager
    def _own_depth(self) -> Iterator[None]:
        """The answer's own limit of recursion while its code runs, whatever it makes of it."""
        sys.setrecursionlimit(self._limit)
        try:
            yield
        finally:
            self._limit = sys.getrecursionlimit()
            sys.setrecursionlimit(max(self._limit, _DEEP))

    def _encoding(self, known: dict[int, int] | None = None) -> Encoding:
        return Encoding(Theirs, self._handle, known, guarded=True)

    def _raised(self, error: BaseException, encoding: Encoding) -> Message:
        number = getattr(error, _THEIRS, None)
        if isinstance(number, int):  # raised by something of the tests, and passed on
            return {"yours": number}
        try:
            args, held = encoding.of(error.args), encoding.of(own_attributes(error))
        except Exception:  # noqa: BLE001 - then without
            args, held = encoding.of(()), None
        kind = encoding.of(type(error))
        told = described(error, self._code)
        return {"class": kind, "args": args, "held": held, "told": told}

    def call_back(self, what: str, number: int, *args: Any, **keywords: Any) -> Any:
        """Use something of the tests; they may ask for more before it is done."""
        limit = sys.getrecursionlimit()
        with self._talking:  # one thread at a time
            sys.setrecursionlimit(max(limit, _DEEP))
            encoding = self._encoding()
            self._link.send(
                {
                    "callback": number,
                    "what": what,
                    "args": [encoding.of(each) for each in args],
                    "keywords": {name: encoding.of(each) for name, each in keywords.items()},
                }
            )
            while "op" in (message := self._link.receive()):
                self._link.send(self.done(message))
            sys.setrecursionlimit(limit)
        decoding = Decoding(self._of_theirs, self._objects.__getitem__, encoding.containers)
        refill(encoding.containers, message["changed"], decoding)
        if "error" in message:
            kind = getattr(builtins, message["error"], Exception)
            error = error_of(kind, [decoding.of(each) for each in message["args"]])
            setattr(error, _THEIRS, message["number"])
            raise error
        return decoding.of(message["value"])

    def _of_theirs(self, node: list[Any], decoding: Decoding) -> Any:
        number, kind = int(node[1]), str(node[2])
        if number not in self._theirs:
            if node[0] == "like":
                made = _like(self, number, kind, decoding.of(node[3]))
            else:
                made = _proxy(kind, tuple(node[4]))(self, number, str(node[3]))
            self._theirs[number] = made
        return self._theirs[number]

    def _handle(self, value: Any, plain: Any) -> list[Any]:
        if isinstance(value, Theirs) or hasattr(type(value), _THEIRS):
            return ["yours", object.__getattribute__(value, _THEIRS)]
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        kind = type(value)
        if plain is not None:
            return ["like", number, kind.__name__, plain]
        if isinstance(value, type) and issubclass(value, BaseException):
            bases = [self._encoding().of(each) for each in value.__bases__]
            return ["exception", number, value.__name__, bases]
        return ["handle", number, kind.__name__, str(getattr(value, "__name__", ""))]


class Theirs:
    """Something that the tests pass: a function, an iterator, an object. It is used there.

    Special methods are those of a class that is made for it: see :func:`_proxy`.
    """

    def __init__(self, side: _Side, number: int, name: str) -> None:
        object.__setattr__(self, "_side", side)
        object.__setattr__(self, _THEIRS, number)
        if name:
            object.__setattr__(self, "__name__", name)
            object.__setattr__(self, "__qualname__", name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _used(self, "__getattr__", name)

    def __setattr__(self, name: str, value: Any) -> None:
        _used(self, "__setattr__", name, value)

    def __delattr__(self, name: str) -> None:
        _used(self, "__delattr__", name)


def _used(theirs: Theirs, method: str, *args: Any, **keywords: Any) -> Any:
    side: _Side = object.__getattribute__(theirs, "_side")
    number: int = object.__getattribute__(theirs, _THEIRS)
    return side.call_back(method, number, *args, **keywords)


@cache
def _proxy(kind: str, methods: tuple[str, ...]) -> type[Theirs]:
    """A class for what the tests pass, with the special methods that it has there."""

    def made(method: str) -> Callable[..., Any]:
        def use(self: Theirs, *args: Any, **keywords: Any) -> Any:
            return _used(self, method, *args, **keywords)

        return use

    return type(kind, (Theirs,), {method: made(method) for method in methods})


def _like(side: _Side, number: int, kind: str, value: Any) -> Any:
    """A value of a type of the tests' that extends a builtin one, with what else it has."""
    base = type(value)

    def ask(_: Any, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return side.call_back("__getattr__", number, name)

    made = type(kind, (base,), {"__getattr__": ask, _THEIRS: number})
    return base.__new__(made, value)


def _awaited(value: Any) -> Any:
    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def _plain(value: Any) -> Any:
    """What a value of a type that extends a container holds."""
    for base in (list, dict, set, deque):
        if isinstance(value, base):
            return base(value)
    return NotImplemented


_ENDS = ("next", "send")  # operations that a StopIteration ends
_OPERATIONS: dict[str, Callable[..., Any]] = {
    "call": lambda function, *args, **keywords: function(*args, **keywords),
    "await": _awaited,
    "import": importlib.import_module,  # noqa: TID251 - in the sandbox
    "enter": lambda manager: type(manager).__enter__(manager),
    "exit": lambda manager, *args: type(manager).__exit__(manager, *args),
    "plain": _plain,
    "send": lambda generator, value: generator.send(value),
    **{
        name: getattr(operator, f"__{name}__")
        for name in (
            *("getitem", "setitem", "delitem", "index", "eq", "ne", "lt", "le", "gt", "ge"),
            *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow"),
            *("and", "or", "xor", "neg", "pos", "abs", "invert"),
        )
    },
    **{
        name: getattr(builtins, name)
        for name in (
            *("getattr", "setattr", "delattr", "iter", "next", "len", "str", "repr", "bool"),
            *("int", "float", "hash", "isinstance", "issubclass"),
        )
    },
}
