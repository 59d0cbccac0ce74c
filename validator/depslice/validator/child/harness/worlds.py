"""Two copies of the repository's modules in one process: own module objects, own globals.

The *home* world is the one the harness imports from, and in which the reference runs. The
*other* holds the candidate. Only one is in ``sys.modules`` at a time, so what a function
imports when it is called comes from its own world.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType, ModuleType
from typing import Any

Owns = Callable[[str], bool]
_NO_INSTANCE = (str, bytes, int, float, complex, type(None), tuple, ModuleType, type, FunctionType)


class World:
    """The modules of one copy; ``modules`` holds them while the other world is in place."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.modules: dict[str, ModuleType] = {}

    def __repr__(self) -> str:
        return f"<{self.name} world>"


class Worlds:
    """Both worlds, and which one is in place."""

    def __init__(self, own: frozenset[str]) -> None:
        self.names = own
        owns = owner_of(own)
        self.home = World("home")
        self.other = World("other")
        self._owns = owns
        self._known: dict[str, bool] = {}
        self._now = self.home
        self._size = 0
        self._globals: dict[str, tuple[int, dict[int, tuple[str, str]]]] = {}

    def outside(self, known: frozenset[str]) -> list[str]:
        """Modules that were imported since ``known`` and are not the repository's."""
        return [name for name in sys.modules if name not in known and not self._owns(name)]

    def module(self, world: World, name: str) -> ModuleType | None:
        """A module of a world, if it was imported there."""
        return (sys.modules if world is self._now else world.modules).get(name)

    def globals(self, world: World) -> dict[int, tuple[str, str]]:
        """Module and name of each instance that is a global of a world, by its id."""
        now = world is self._now
        names = self._all_owned() if now else list(world.modules)
        count, found = self._globals.get(world.name, (-1, {}))
        if count != len(names):
            found = {}
            for name in names:
                module = (sys.modules if now else world.modules).get(name)
                for key, each in list(vars(module).items()) if module is not None else ():
                    if not key.startswith("__") and not isinstance(each, _NO_INSTANCE):
                        found.setdefault(id(each), (name, key))
            self._globals[world.name] = (len(names), found)
        return found

    def import_in_both(self, name: str) -> None:
        """Import a module in each world; raises what its import raises."""
        with _compiled_once():
            self._import_in_both(name)

    def _import_in_both(self, name: str) -> None:
        for world in (self.home, self.other):
            with self.entered(world):
                importlib.import_module(name)

    @contextmanager
    def entered(self, world: World) -> Iterator[None]:
        """With ``world`` in place, for a while."""
        before = self._now
        self._switch(world)
        try:
            yield
        finally:
            self._switch(before)

    def _switch(self, world: World) -> None:
        if world is self._now:
            return
        leaving = self._now
        loaded = sys.modules
        # A look at all modules is needed only when some were imported since the last one.
        names = leaving.modules if len(loaded) == self._size else self._all_owned()
        leaving.modules = {name: loaded.pop(name) for name in list(names) if name in loaded}
        loaded.update(world.modules)
        self._now = world
        self._size = len(loaded)

    def _all_owned(self) -> list[str]:
        known = self._known
        found = []
        for name in list(sys.modules):
            owned = known.get(name)
            if owned is None:
                owned = known[name] = self._owns(name)
            if owned:
                found.append(name)
        return found


@contextmanager
def _compiled_once() -> Iterator[None]:
    """What has no bytecode beside it is compiled for the first world alone."""
    codes: dict[str, CodeType | None] = {}
    plain = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, fullname: str) -> CodeType | None:
        if loader.path not in codes:
            codes[loader.path] = plain(loader, fullname)
        return codes[loader.path]

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        SourceFileLoader.get_code = plain  # type: ignore[method-assign]


def owner_of(own: frozenset[str]) -> Owns:
    """Whether a module is the repository's: one of ``own``, or made in one of its packages."""
    tops = {name.partition(".")[0] for name in own}
    # A package of several distributions has modules that are none of ours.
    ours = {top for top in tops if top in own}

    def owns(name: str) -> bool:
        return name in own or name.partition(".")[0] in ours

    return owns


def member(module: ModuleType, qualname: str) -> Any:
    """What ``qualname`` names in a module, as written: not what a descriptor makes of it."""
    value: Any = module
    for part in qualname.split("."):
        value = _in_class(value, part) if isinstance(value, type) else vars(value)[part]
    return value


def _in_class(kind: type, name: str) -> Any:
    for each in kind.__mro__:
        # As written, or as the compiler has it: a private name holds that of its class.
        for known in (name, f"_{each.__name__.lstrip('_')}{name}"):
            if known in vars(each):
                return vars(each)[known]
    raise KeyError(name)
