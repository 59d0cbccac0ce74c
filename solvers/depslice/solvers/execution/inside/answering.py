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
from collections.abc import Callable
from types import ModuleType
from typing import Any

from links import Link  # type: ignore[import-not-found,unused-ignore]
from telling import ANSWER, described  # type: ignore[import-not-found,unused-ignore]
from values import Decoding, Encoding, container_of  # type: ignore[import-not-found,unused-ignore]

Message = dict[str, Any]


def serve(link: Link, order: dict[str, Any]) -> None:
    """Load the answer of an order, say what it defines, and do what is asked."""
    code = order["code"]
    module = ModuleType("answer")
    sys.modules["answer"] = module
    try:
        exec(compile(order["given"], "<given>", "exec"), module.__dict__)
        exec(compile(code, ANSWER, "exec", dont_inherit=True), module.__dict__)
        found = callable(getattr(module, order["entry_point"], None))
    except BaseException as error:  # noqa: BLE001 - it may raise anything
        link.send({"failure": described(error, code)})
        return
    if not found:
        message = f"the answer does not define {order['entry_point']}"
        link.send({"failure": {"kind": "missing", "message": message}})
        return
    side = _Side(link, code)
    link.send({"names": side.names(module)})
    while True:
        link.send(side.done(link.receive()))


class _Side:
    """Objects by number, and what is done with them."""

    def __init__(self, link: Link, code: str) -> None:
        self._link = link
        self._code = code
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}

    def names(self, module: ModuleType) -> dict[str, Any]:
        """What the answer's module has."""
        found = {}
        for name, value in list(vars(module).items()):
            if not name.startswith("__"):
                found[name] = Encoding(self._handle, {}).of(value)
        return found

    def done(self, message: Message) -> Message:
        """Do what a message asks for: the value, or what was raised, and changed arguments."""
        decoding = Decoding(lambda number, _: Theirs(self, number), self._objects.__getitem__, {})
        args = [decoding.of(each) for each in message["args"]]
        keywords = {name: decoding.of(each) for name, each in message["keywords"].items()}
        containers = decoding.containers
        before = {number: _elements(each) for number, each in containers.items()}
        encoding = Encoding(self._handle, {id(each): n for n, each in containers.items()})
        answer: Message = {}
        try:
            answer["value"] = encoding.of(_OPERATIONS[message["op"]](*args, **keywords))
        except BaseException as error:  # noqa: BLE001 - it may raise anything
            answer = {"raised": self._raised(error, encoding)}
        answer["changed"] = {
            number: encoding.content(each, container_of(each))
            for number, each in containers.items()
            if not _same(before[number], _elements(each))
        }
        return answer

    def _raised(self, error: BaseException, encoding: Encoding) -> Message:
        names = [
            each.__name__
            for each in type(error).__mro__
            if getattr(builtins, each.__name__, None) is each
        ]
        try:
            args = [encoding.of(each) for each in error.args]
        except Exception:  # noqa: BLE001 - then without
            args = []
        return {"types": names, "args": args, "told": described(error, self._code)}

    def call_back(self, number: int, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call a function of the tests; they may ask for more before it is done."""
        encoding = Encoding(self._handle, {})
        self._link.send(
            {
                "callback": number,
                "args": [encoding.of(each) for each in args],
                "keywords": {name: encoding.of(each) for name, each in keywords.items()},
            }
        )
        while "op" in (message := self._link.receive()):
            self._link.send(self.done(message))
        decoding = Decoding(lambda number, _: Theirs(self, number), self._objects.__getitem__, {})
        if "error" in message:
            raise getattr(builtins, message["error"], Exception)(message["message"])
        return decoding.of(message["value"])

    def _handle(self, value: Any) -> list[Any]:
        if type(value) is Theirs:
            return ["yours", value.number]
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return ["handle", number, type(value).__name__]


class Theirs:
    """A function that the tests pass: called, it runs there."""

    def __init__(self, side: _Side, number: int) -> None:
        self._side = side
        self.number = number

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call it, with what can travel."""
        return self._side.call_back(self.number, args, keywords)


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


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "call": lambda function, *args, **keywords: function(*args, **keywords),
    "await": _awaited,
    "import": importlib.import_module,  # noqa: TID251 - in the sandbox
    "enter": lambda manager: type(manager).__enter__(manager),
    "exit": lambda manager, *args: type(manager).__exit__(manager, *args),
    "getitem": operator.getitem,
    "setitem": operator.setitem,
    "delitem": operator.delitem,
    "index": operator.index,
    **{name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    **{
        name: getattr(builtins, name)
        for name in ("getattr", "setattr", "delattr", "iter", "next", "len", "str", "repr", "bool")
    },
    **{name: getattr(builtins, name) for name in ("int", "float", "isinstance", "issubclass")},
}
