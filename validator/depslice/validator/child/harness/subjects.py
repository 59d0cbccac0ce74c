"""What a harness calls ``candidate`` and ``reference``: the target as it is found in a world."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any

from .altering import Altering
from .crossing import Crossing
from .state import Values, changes
from .worlds import World, Worlds, member


class Absent(AttributeError):
    """The candidate defines nothing of this name."""


def callable_of(module: types.ModuleType, qualname: str) -> Any:
    """The target as callers have it: functions bound to their class where they are class methods.

    Of a property it is what reads it; of a nested function the outermost one around it.

    :raises KeyError: the module has no such definition.
    """
    qualname = qualname.partition(".<locals>")[0]
    raw = member(module, qualname)
    owner, _, name = qualname.rpartition(".")
    if isinstance(raw, property):
        return raw.fget
    if isinstance(raw, functools.cached_property):
        return raw.func
    if isinstance(raw, (staticmethod, classmethod)):
        return getattr(member(module, owner), name)
    return raw


class Subject:
    """A callable that stands for the target in one world, and counts its calls.

    ``heard`` is told of each call: positional and keyword arguments before it. ``told``
    gets what came of calls, as it comes: a word for it, and the values. ``altering`` makes
    what they return something else. ``watched`` gives what variables of the module hold.
    """

    def __init__(self, worlds: Worlds, world: World, function: Any, name: str) -> None:
        self._worlds = worlds
        self._world = world
        self._function = function
        self.calls = 0
        self.heard: Callable[[tuple[Any, ...], dict[str, Any]], None] | None = None
        self.told: Callable[..., None] | None = None
        self.altering: Altering | None = None
        self.watched: Callable[[], Values] = dict
        self.__name__ = name
        self.__doc__ = getattr(function, "__doc__", None)
        with contextlib.suppress(TypeError, ValueError):
            self.__signature__ = inspect.signature(function)

    def __repr__(self) -> str:
        return f"<{self.__name__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the target; arguments, results and exceptions are of the home world."""
        self.calls += 1
        if self.heard is not None:
            self.heard(args, kwargs)
        if self._function is None:
            raise Absent(f"the candidate does not define {self.__name__}")
        if self.altering is not None:
            return self.altering.call(lambda: self._call(args, kwargs), args, kwargs)
        if self.told is None:
            return self._call(args, kwargs)
        before = self.watched()
        try:
            value = self._call(args, kwargs)
        except BaseException as error:
            self.told("raised", error, args, kwargs)
            self._tell_changes(before)
            raise
        self.told("returned", value, args, kwargs)
        self._tell_changes(before)
        return value

    def _tell_changes(self, before: Values) -> None:
        changed = changes(before, self.watched())
        if changed and self.told is not None:
            self.told("changed", changed)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._world is not self._worlds.home:
            return self._cross(self._function, args, kwargs)
        value = self._function(*args, **kwargs)
        return value if self.told is None else self._lazy(value)

    def _cross(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        into = Crossing(self._worlds, self._worlds.home, self._world)
        passed = [into.of(each) for each in args]
        named = {key: into.of(each) for key, each in kwargs.items()}
        back = Crossing(self._worlds, self._world, self._worlds.home)
        try:
            with self._worlds.entered(self._world):
                result = function(*passed, **named)
        except BaseException as error:  # noqa: BLE001 - the caller gets it
            raise back.of(error) from error.__cause__
        finally:
            for each in (*args, *passed, *kwargs.values(), *named.values()):
                back.of(each)
        return self._lazy(back.of(result))

    def _lazy(self, value: Any) -> Any:
        """Code that has yet to run does so in its own world."""
        match value:
            case types.GeneratorType():
                return self._generator(value)
            case types.CoroutineType():
                return self._coroutine(value)
            case types.AsyncGeneratorType():
                return self._async_generator(value)
            case _:
                return value

    def _step(self, step: Callable[..., Any], *args: Any) -> Any:
        back = Crossing(self._worlds, self._world, self._worlds.home)
        into = Crossing(self._worlds, self._worlds.home, self._world)
        passed = [into.of(each) for each in args]
        try:
            with self._worlds.entered(self._world):
                value = back.of(step(*passed))
            if self.told is not None:
                self.told("went on", value)
            return value
        except BaseException as error:
            crossed = back.of(error)
            if self.told is not None:
                self.told("ended", crossed)
            if crossed is error:
                raise
            raise crossed from error.__cause__

    def _generator(self, inner: Any) -> Generator[Any, Any, Any]:
        step, args = inner.send, (None,)  # type: tuple[Any, tuple[Any]]
        try:
            while True:
                try:
                    value = self._step(step, *args)
                except StopIteration as end:
                    return end.value
                try:
                    step, args = inner.send, ((yield value),)
                except GeneratorExit:
                    raise
                except BaseException as error:  # noqa: BLE001 - the inner one is to see it
                    step, args = inner.throw, (error,)
        finally:
            self._step(inner.close)

    async def _coroutine(self, inner: Coroutine[Any, Any, Any]) -> Any:
        return await _awaiting(self, inner)

    async def _async_generator(self, inner: AsyncGenerator[Any, Any]) -> AsyncGenerator[Any, Any]:
        value = None
        try:
            while True:
                try:
                    found = await _awaiting(self, inner.asend(value))
                except StopAsyncIteration:
                    return
                value = yield found
        finally:
            await _awaiting(self, inner.aclose())


def shown(subject: Subject) -> Callable[..., Any]:
    """What a test gets of ``subject``: it can be called, and nothing leads to what it knows."""

    class Shown:
        # No function: those are bound where a class has them, and `inspect` looks into them.
        __slots__ = ()
        __name__ = subject.__name__
        __doc__ = subject.__doc__

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return subject(*args, **kwargs)

        def __repr__(self) -> str:
            return repr(subject)

    signature = getattr(subject, "__signature__", None)
    if signature is not None:
        Shown.__signature__ = signature  # type: ignore[attr-defined]
    return Shown()


@types.coroutine
def _awaiting(subject: Subject, inner: Any) -> Generator[Any, Any, Any]:
    return (yield from subject._generator(inner))  # noqa: SLF001 - its own other half
