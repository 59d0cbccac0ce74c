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
import json
import operator
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from types import (
    BuiltinFunctionType,
    CodeType,
    FrameType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any

from links import Gone, Link, Unreadable  # type: ignore[import-not-found,unused-ignore]
from telling import (  # type: ignore[import-not-found,unused-ignore]
    TEST,
    Failure,
    described,
    shown,
)
from values import (  # type: ignore[import-not-found,unused-ignore]
    Decoding,
    Encoding,
    changed,
    elements,
    error_of,
    refill,
)

_ACTUAL, _EXPECTED = "_depslice_actual", "_depslice_expected"
_TOLD, _REMOTE = "_depslice_told", "_depslice_remote"
_DEEP = 20_000  # calls
_NONSENSE = {"kind": "lost", "message": "its process said what nobody can read"}


def test(link: Link, order: dict[str, Any]) -> None:
    """Run the test of an order, and say how it failed, or that it did not."""
    link.send({"done": _failure_of(link, order)})


def _failure_of(link: Link, order: dict[str, Any]) -> Failure | None:
    sys.setrecursionlimit(_DEEP)
    names: dict[str, Any] = {"__name__": "answer"}
    try:
        side = Side(link)
        exec(compile(order["given"], "<given>", "exec"), names)
        _take_names(side, names, order)
        if order["modules"]:
            sys.meta_path.append(_RemoteModules(side))
        exec(compile(order["setup"], TEST, "exec", dont_inherit=True), names)
        exec(compile(_watched(order["text"]), TEST, "exec", dont_inherit=True), names)
    except Nonsense:
        return _NONSENSE
    except BaseException as error:  # noqa: BLE001 - the answer may raise anything
        told = getattr(error, _TOLD, None)
        found: Failure = dict(told) if isinstance(told, dict) else described(error, "")
        if not told and isinstance(error, AssertionError):
            found["kind"] = "wrong"
            for key, name in (("actual", _ACTUAL), ("expected", _EXPECTED)):
                if name in names:
                    found[key] = shown(names[name])
        return found
    return None


def _take_names(side: Side, names: dict[str, Any], order: dict[str, Any]) -> None:
    """Let the names of an answer stand for what it defines, as far as the test uses them.

    What the problem gives, builtins, and modules of the standard library a test means itself,
    whatever the answer has made of them: else it could say what `abs` is, or `math`. Only if
    the problem gives classes, all that it gives is the answer's, as it was before the answer:
    their instances have to be there.
    """
    given = {name: value for name, value in names.items() if not name.startswith("__")}
    elsewhere = any(
        isinstance(value, type) and value.__module__ == names["__name__"]
        for value in given.values()
    )
    try:
        defined = set(json.loads(order["loaded"])["names"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Nonsense from None
    for name in sorted(_used(order["setup"]) | _used(order["text"])):
        if name == order["entry_point"]:
            names[name] = side.ask("name", name)
        elif name in given:
            if elsewhere and not isinstance(given[name], ModuleType):
                names[name] = side.ask("given", name)
        elif name in defined and not hasattr(builtins, name):
            value = side.ask("name", name)
            if name not in sys.stdlib_module_names or isinstance(value, ModuleType):
                names[name] = value


def _used(text: str) -> set[str]:
    """The names in a program; nothing of one that is none, which will be told."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return set()
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


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
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._remotes: dict[int, Any] = {}
        self._talking = threading.RLock()

    def ask(self, operation: str, *args: Any, **keywords: Any) -> Any:
        """What the answer's process says; raises what it has raised."""
        with self._talking:  # one thread at a time
            return self._asked(operation, args, keywords)

    def _asked(self, operation: str, args: Sequence[Any], keywords: dict[str, Any]) -> Any:
        encoding = Encoding(Remote, self._handle)
        self._link.send(
            {
                "op": operation,
                "args": [encoding.of(each) for each in args],
                "keywords": {name: encoding.of(each) for name, each in keywords.items()},
            }
        )
        while "callback" in (message := self._received()):
            self._link.send(self._called(message))
        decoding = Decoding(
            self._of_answer, self._objects.__getitem__, encoding.containers, guarded=True
        )
        try:
            raised = message.get("raised")
            value = decoding.of(message["value"]) if raised is None else None
            error = None if raised is None else self._error(raised, decoding)
            refill(encoding.containers, message["changed"], decoding)
        except Exception:  # noqa: BLE001 - which there are many ways to cause
            raise Nonsense from None
        if error is not None:
            raise error
        return value

    def _error(self, raised: dict[str, Any], decoding: Decoding) -> BaseException:
        """An exception like that of the answer; or what the tests have raised themselves."""
        if "yours" in raised:
            own: BaseException = self._objects[int(raised["yours"])]
            if not isinstance(own, BaseException):
                raise ValueError("no exception")
            return own
        told = {str(key): value for key, value in dict(raised["told"]).items()}
        kind = decoding.of(raised["class"])
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            kind = Exception
        args, held = decoding.of(raised["args"]), decoding.of(raised["held"])
        error: BaseException = error_of(kind, args, held)
        setattr(error, _TOLD, told)
        return error

    def _received(self) -> dict[str, Any]:
        try:
            received: dict[str, Any] = self._link.receive()
        except (Gone, Unreadable):
            raise Nonsense from None
        return received

    def _called(self, message: dict[str, Any]) -> dict[str, Any]:
        """Do what the answer asks of something that it was passed."""
        decoding = Decoding(self._of_answer, self._objects.__getitem__, {}, guarded=True)
        try:
            use = _USES[message["what"]]
            used = self._objects[int(message["callback"])]
            args = [decoding.of(each) for each in message["args"]]
            keywords = {name: decoding.of(each) for name, each in message["keywords"].items()}
        except Exception:  # noqa: BLE001
            raise Nonsense from None
        containers = decoding.containers
        before = {number: elements(each) for number, each in containers.items()}
        encoding = Encoding(Remote, self._handle, {id(each): n for n, each in containers.items()})
        answer: dict[str, Any] = {}
        try:
            answer["value"] = encoding.of(use(used, *args, **keywords))
        except Exception as error:  # noqa: BLE001 - passed on to the answer, as a call would
            name = next(c.__name__ for c in type(error).__mro__ if hasattr(builtins, c.__name__))
            args = [encoding.of(each) for each in error.args]
            answer = {"error": name, "args": args, "number": self._number(error)}
        return answer | {"changed": changed(containers, before, encoding)}

    def _of_answer(self, node: list[Any], decoding: Decoding) -> Any:
        """What stands here for something of the answer's."""
        kind, number, name, more = str(node[0]), int(node[1]), str(node[2]), node[3]
        if kind == "like":
            return _like(Remote(self, number, name), name, decoding.of(more))
        if number not in self._remotes:
            if kind == "exception":
                bases = tuple(decoding.of(each) for each in more)
                known = all(isinstance(b, type) and issubclass(b, BaseException) for b in bases)
                made: Any = type(name, bases if known and bases else (Exception,), {})
            elif name == "coroutine":
                made = _coroutine(self, Remote(self, number, name))
            elif name == "generator":
                made = _generator(self, Remote(self, number, name))
            else:
                made = Remote(self, number, name)
            self._remotes[number] = made
        return self._remotes[number]

    def _handle(self, value: Any, plain: Any) -> list[Any]:
        if type(value) is Remote:
            return ["yours", object.__getattribute__(value, "_number")]
        if _REMOTE in getattr(value, "__dict__", ()):
            return self._handle(value.__dict__[_REMOTE], None)
        for number, each in self._remotes.items():
            if each is value:
                return ["yours", number]
        kind = type(value)
        number = self._number(value)
        if plain is not None:
            return ["like", number, kind.__name__, plain]
        name = str(getattr(value, "__name__", ""))
        return ["handle", number, kind.__name__, name, _special_methods(kind)]

    def _number(self, value: Any) -> int:
        number = self._numbers.get(id(value), -1)
        if number < 0:
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return number


def _attribute(value: Any, name: str) -> Any:
    """An attribute of an object that was passed; functions and classes have none to show."""
    _see_open(value, name)
    return getattr(value, name)


def _set_attribute(value: Any, name: str, held: Any) -> None:
    _see_open(value, name)
    setattr(value, name, held)


def _delete_attribute(value: Any, name: str) -> None:
    _see_open(value, name)
    delattr(value, name)


def _see_open(value: Any, name: str) -> None:
    is_own = name.startswith("_") and not (isinstance(value, tuple) and name in _OF_NAMED_TUPLES)
    if is_own or isinstance(value, _CLOSED):
        raise AttributeError(name)


def _left(manager: Any, *error: Any) -> Any:
    """Leave a context; what was raised stays where it was."""
    return manager.__exit__(*(error if error and error[0] is None else (None, None, None)))


_CLOSED = (FunctionType, MethodType, BuiltinFunctionType, ModuleType, FrameType, CodeType, type)
_OF_NAMED_TUPLES = ("_fields", "_asdict", "_replace")
_USES: dict[str, Callable[..., Any]] = {
    "__call__": lambda value, *args, **keywords: value(*args, **keywords),
    "__iter__": iter,
    "__next__": next,
    "__len__": len,
    "__bool__": bool,
    "__str__": str,
    "__repr__": repr,
    "__hash__": hash,
    "__reversed__": reversed,
    "__enter__": lambda manager: manager.__enter__(),
    "__exit__": _left,
    **{
        f"__{name}__": getattr(operator, f"__{name}__")
        for name in (
            *("getitem", "setitem", "delitem", "contains", "index", "neg", "abs"),
            *("eq", "ne", "lt", "le", "gt", "ge"),
            *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or"),
        )
    },
    "__radd__": lambda value, other: other + value,
    "__rsub__": lambda value, other: other - value,
    "__rmul__": lambda value, other: other * value,
    "__getattr__": _attribute,
    "__setattr__": _set_attribute,
    "__delattr__": _delete_attribute,
}
"""What an answer may do with things of the tests."""
_SPECIAL = tuple(name for name in _USES if not name.endswith("attr__"))


def _special_methods(kind: type) -> list[str]:
    """Those that objects of a type have, and not all objects have anyway."""
    found: dict[str, Any] = {}
    for k in reversed(type.mro(kind)[:-1]):
        found |= vars(k)
    return [name for name in _SPECIAL if found.get(name) is not None]


def _like(remote: Remote, name: str, value: Any) -> Any:
    """A value of a type that extends a builtin one: the value, and what else is asked for."""
    base = type(value)

    def ask(self: Any, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return getattr(remote, attribute)

    made = base.__new__(type(name, (base,), {"__getattr__": ask}), value)
    setattr(made, _REMOTE, remote)
    return made


def _generator(side: Side, remote: Remote) -> Generator[Any, Any, Any]:
    """What goes on in a generator of the answer's."""
    sent = None
    while True:
        try:
            value = side.ask("send", remote, sent)
        except StopIteration as end:
            return end.value
        try:
            sent = yield value
        except GeneratorExit:
            remote.close()
            raise


async def _coroutine(side: Side, remote: Remote) -> Any:
    return side.ask("await", remote)


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

    def _asked(self, operation: str, *args: Any, **keywords: Any) -> Any:
        return self._side_of().ask(operation, self, *args, **keywords)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call it, with what can travel."""
        return self._asked("call", *args, **keywords)

    def __getattr__(self, name: str) -> Any:
        return self._asked("getattr", name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._asked("setattr", name, value)

    def __delattr__(self, name: str) -> None:
        self._asked("delattr", name)

    def __iter__(self) -> Iterator[Any]:
        iterator = self._asked("iter")
        if type(iterator) is not Remote:
            return iter(iterator)
        return iterator if iterator is self else _Iterator(iterator)

    def __next__(self) -> Any:
        return self._asked("next")

    def __len__(self) -> Any:
        return self._asked("len")

    def __getitem__(self, key: Any) -> Any:
        return self._asked("getitem", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._asked("setitem", key, value)

    def __delitem__(self, key: Any) -> None:
        self._asked("delitem", key)

    def __contains__(self, item: Any) -> bool:
        """Whether going through it gives the item: who has it is not asked."""
        return any(each is item or each == item for each in self)

    def __bool__(self) -> bool:
        return bool(self._asked("bool"))

    def __int__(self) -> Any:
        return self._asked("int")

    def __float__(self) -> Any:
        return self._asked("float")

    def __index__(self) -> Any:
        return self._asked("index")

    def __str__(self) -> str:
        return str(self._asked("str"))

    def __repr__(self) -> str:
        return str(self._asked("repr"))

    def __hash__(self) -> int:
        return hash(self._asked("hash"))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is Remote:
            return self._asked("eq", other) is True
        held = self._asked("plain")  # what it is compared with stays here
        return held is not NotImplemented and bool(held == other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __instancecheck__(self, instance: object) -> bool:
        return type(instance) is Remote and bool(self._side_of().ask("isinstance", instance, self))

    def __enter__(self) -> Any:
        return self._asked("enter")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> Any:
        # A failed assertion is the test's own: nobody there swallows it, or reads what it says.
        if kind is None or issubclass(kind, AssertionError):
            self._asked("exit", None, None, None)
            return False
        return self._asked("exit", kind, error, None)

    def __await__(self) -> Generator[None, None, Any]:
        yield from ()  # a generator, as `await` wants it
        return self._asked("await")


def _alone(operation: str) -> Callable[[Remote], Any]:
    def use(self: Remote) -> Any:
        return self._asked(operation)

    return use


def _between_remotes(operation: str) -> Callable[[Remote, object], Any]:
    """An operator between two of them: another operand may tell what is expected."""

    def use(self: Remote, other: object) -> Any:
        return self._asked(operation, other) if type(other) is Remote else NotImplemented

    return use


for _name_of_one in ("neg", "pos", "abs", "invert"):
    setattr(Remote, f"__{_name_of_one}__", _alone(_name_of_one))
for _name_of_two in (
    *("lt", "le", "gt", "ge", "and", "or", "xor"),
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow"),
):
    setattr(Remote, f"__{_name_of_two}__", _between_remotes(_name_of_two))


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
