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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from links import Link  # type: ignore[import-not-found,unused-ignore]
from telling import ANSWER, described  # type: ignore[import-not-found,unused-ignore]
from values import Decoding, Encoding  # type: ignore[import-not-found,unused-ignore]

Message = dict[str, Any]
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
        self._theirs: dict[int, Theirs] = {}
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
        before = {number: _elements(each) for number, each in containers.items()}
        encoding = self._encoding({id(each): n for n, each in containers.items()})
        answer: Message = {}
        try:
            with self._own_depth():
                value = self._operations[message["op"]](*args, **keywords)
            answer["value"] = encoding.of(value)
        except BaseException as error:  # noqa: BLE001 - it may raise anything
            if message["op"] == "call" and isinstance(error, StopIteration):
                error = RuntimeError("it raised StopIteration")  # which would end a loop there
            answer = {"raised": self._raised(error, encoding)}
        answer["changed"] = {
            number: encoding.content(each, type(each).__name__)
            for number, each in containers.items()
            if not _same(before[number], _elements(each))
        }
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
        return Encoding(Theirs, self._handle, known)

    def _raised(self, error: BaseException, encoding: Encoding) -> Message:
        try:
            args = [encoding.of(each) for each in error.args]
        except Exception:  # noqa: BLE001 - then without
            args = []
        kind = encoding.of(type(error))
        return {"class": kind, "args": args, "told": described(error, self._code)}

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
        decoding = Decoding(self._of_theirs, self._objects.__getitem__, {})
        if "error" in message:
            kind = getattr(builtins, message["error"], Exception)
            raise kind(*[decoding.of(each) for each in message["args"]])
        return decoding.of(message["value"])

    def _of_theirs(self, node: list[Any], _: Decoding) -> Theirs:
        number = int(node[1])
        if number not in self._theirs:
            self._theirs[number] = Theirs(self, number, str(node[3]))
        return self._theirs[number]

    def _handle(self, value: Any, plain: Any) -> list[Any]:
        if type(value) is Theirs:
            return ["yours", object.__getattribute__(value, "_number")]
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
    """Something that the tests pass: a function, an iterator, an object. It is used there."""

    def __init__(self, side: _Side, number: int, name: str) -> None:
        self._side = side
        self._number = number
        if name:
            self.__name__ = self.__qualname__ = name

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call it, with what can travel."""
        return self._side.call_back("call", self._number, *args, **keywords)

    def __iter__(self) -> Any:
        return self._side.call_back("iter", self._number)

    def __next__(self) -> Any:
        return self._side.call_back("next", self._number)

    def __len__(self) -> Any:
        return self._side.call_back("len", self._number)

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: Any) -> Any:
        return self._side.call_back("getitem", self._number, key)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._side.call_back("getattr", self._number, name)


def _elements(container: Any) -> list[Any]:
    """What is in a container, to be compared by identity."""
    if isinstance(container, dict):
        return [each for pair in dict.items(container) for each in pair]
    return list(container)


def _same(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(map(operator.is_, one, other))


def _awaited(value: Any) -> Any:
    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def _plain(value: Any) -> Any:
    """What a value of a type that extends a container holds."""
    for base in (list, dict, set):
        if isinstance(value, base):
            return base(value)
    return NotImplemented


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "call": lambda function, *args, **keywords: function(*args, **keywords),
    "await": _awaited,
    "import": importlib.import_module,  # noqa: TID251 - in the sandbox
    "enter": lambda manager: type(manager).__enter__(manager),
    "exit": lambda manager, *args: type(manager).__exit__(manager, *args),
    "plain": _plain,
    **{
        name: getattr(operator, name)
        for name in (
            *("getitem", "setitem", "delitem", "index", "eq", "ne", "lt", "le", "gt", "ge"),
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
