"""Values that travel from the original's process to the slice's, as pickles.

Definitions of the repository travel by name, instances of its classes by what they hold:
no code of theirs runs, neither here nor there (a slice need not have their
``__getstate__``). A name that the slice does not have is *lent*: the original's
definition by value. So arguments bring along the code of theirs that the slice has no
business with, such as a caller's own subclass, with what that inherits (:mod:`.inherited`).
"""

from __future__ import annotations

import enum
import importlib
import io
import math
import os
import pickle
import sys
import threading
import typing
import weakref
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import cloudpickle

from .describing import text_of
from .inherited import (
    Inherited,
    Members,
    Owned,
    Special,
    asked_members,
    give,
    give_to_owners,
    members_named,
    names_in,
    special_members,
)
from .parts import (
    HEAP_TYPE,
    IMMUTABLE,
    attributes_of,
    dictionary_of,
    flags_of,
    ids_of,
    module_of,
    mro_of,
    namespace_of,
    parts,
    qualname_of,
)

_SIMPLE = (str, bytes, int, float, complex, bool, type(None), tuple, ModuleType, type, FunctionType)


_LOCK, _RLOCK = threading.Lock(), threading.RLock()
_IMMUTABLE = ids_of(*IMMUTABLE)
_MADE_ANEW = ids_of(threading.local, threading.Event, threading.Condition)
_OF_CLASSES = frozenset({"__class_getitem__", "__del__", "__slots__"})
_ALIVE: list[Any] = []  # what only weak references hold


class Unportable(pickle.PicklingError):
    """A value that cannot travel."""


class Home:
    """Which modules are the repository's own, and what is lent where they lack something.

    ``lenders`` are the folders of the files with code that comes with arguments.
    """

    def __init__(self, own: frozenset[str], folder: str, *scripts: str) -> None:
        self.own = own
        self.folder = folder.rstrip(os.sep) + os.sep
        self.lenders = (self.folder, *(each.rstrip(os.sep) + os.sep for each in scripts))
        self.lent: dict[str, bytes] = {}
        self.found: dict[str, Any] = {}
        self.borrowed: list[str] = []
        self.not_lent: dict[str, str] = {}
        self.asked: dict[str, None] = {}
        self._globals: dict[int, str] = {}
        self._constants: dict[int, str] = {}
        self._outside: dict[str, dict[int, str]] = {}  # by module
        self._modules = 0

    def name_of(self, value: Any) -> str:
        """``module:qualname`` of a function or class that its own module has under that name."""
        module: Any
        qualname: Any
        if issubclass(type(value), type):
            module, qualname = module_of(value), qualname_of(value)
        else:
            module = getattr(value, "__module__", None)
            qualname = getattr(value, "__qualname__", None)
        if not isinstance(module, str) or module not in self.own or not isinstance(qualname, str):
            return ""
        found = sys.modules.get(module)
        try:
            return f"{module}:{qualname}" if look_up(found, qualname) is value else ""
        except (AttributeError, KeyError):
            return ""

    def global_name(self, value: Any) -> str:
        """``module:name``, or several, of an instance that a module has as a global: a sentinel, say."""
        self._read_globals()
        return self._globals.get(id(value), "")

    def constant_name(self, value: Any) -> str:
        """As :meth:`global_name`, of a number or a tuple: what `is` tells from one that is equal."""
        self._read_globals()
        return self._constants.get(id(value), "")

    def outside_name(self, value: Any) -> str:
        """``module:name`` of an instance of which the module of its class, not of the repository, has one.

        A library tells its marks from their equals, too.
        """
        kind = type(value)
        if not flags_of(kind) & HEAP_TYPE or self.is_ours(kind):
            return ""
        module = module_of(kind)
        names = self._outside.get(module)
        if names is None:
            loaded = sys.modules.get(module)
            held = attributes_of(loaded) if type(loaded) is ModuleType else {}
            names = self._outside[module] = {
                id(each): f"{module}:{name}"
                for name, each in held.items()
                if not name.startswith("__") and not _is_simple(type(each))
            }
        return names.get(id(value), "")

    def _read_globals(self) -> None:
        loaded = [m for name, m in list(sys.modules.items()) if name in self.own]
        if len(loaded) == self._modules:
            return
        self._modules = len(loaded)
        self._globals, self._constants = {}, {}
        for module in loaded:
            for name, each in list(vars(module).items()):
                simple = _is_simple(type(each))
                if name.startswith("__") or (simple and not _is_told_by_identity(each)):
                    continue
                names = self._constants if simple else self._globals
                known = names.get(id(each))
                own = f"{module.__name__}:{name}"
                # Imported under several names: a slice may have any of them.
                names[id(each)] = f"{known} {own}" if known else own

    def is_ours(self, kind: type) -> bool:
        """Whether Python code of the repository, tests included, defines the class."""
        module = module_of(kind)
        if module in self.own or "<locals>" in qualname_of(kind):
            return True
        place = getattr(sys.modules.get(module), "__file__", None) or ""
        return place.startswith(self.folder)

    def find(self, name: str) -> Any:
        """The definition of this name here; or else the one that is lent, or AttributeError."""
        if name in self.found:
            return self.found[name]
        self.asked.setdefault(name)
        for each in name.split():
            module, _, qualname = each.partition(":")
            try:
                value = look_up(importlib.import_module(module), qualname)
                if type(value) in (Inherited, Special):
                    raise AttributeError(name)  # as before somebody had to borrow it
                if type(value) is ModuleType:
                    raise AttributeError(name)  # a module that the package's own variable hides
                break
            except (AttributeError, ImportError, KeyError) as error:
                missing = error
        else:
            if name not in self.lent or name in self.borrowed:
                raise missing
            self.borrowed.append(name)
            try:
                value = load(self, self.lent[name])
            except BaseException:
                self.found.pop(name, None)  # it has begun, and is not what it should be
                raise
        self.found[name] = value
        return value


def _is_simple(kind: type) -> bool:
    """Whether values are texts, numbers and definitions: not of classes of their own that extend these."""
    if not issubclass(kind, _SIMPLE):
        return False
    extends = bool(flags_of(kind) & HEAP_TYPE) and issubclass(kind, IMMUTABLE)
    return not extends or issubclass(kind, enum.Enum)


def _is_told_by_identity(value: Any) -> bool:
    """Whether it is a constant of which there may be several that are equal, unlike `True`."""
    return type(value) in (float, complex) or (type(value) is tuple and bool(value))


HOME = Home(frozenset(), os.sep)


def _is_of_the_system(name: str) -> bool:
    """Whether a global of a module is one that each has, made by the import."""
    return name.startswith("__") and name != "__all__"


def look_up(start: Any, qualname: str) -> Any:
    """What a qualified name means in a module; raises AttributeError or KeyError."""
    value = start
    for part in qualname.split("."):
        is_class = issubclass(type(value), type)
        value = namespace_of(value)[part] if is_class else getattr(value, part)
        if issubclass(type(value), (staticmethod, classmethod)):
            value = value.__func__
    return value


def find(name: str) -> Any:
    """In pickles: what :meth:`Home.find` gives."""
    return HOME.find(name)


class Hole:
    """Stands in lent code for a value that cannot travel; whoever uses it fails.

    ``used``: the kinds of those that somebody has tried to use, whatever came of that.
    """

    used: list[str] = []  # noqa: RUF012 - of all of them

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by Python, which looks whether there is one
            raise AttributeError(name, name=name, obj=self)
        return self._fail()

    def _fail(self, *_: object, **__: object) -> Any:
        Hole.used.append(self.kind)
        raise RuntimeError(f"a value of the type {self.kind} cannot travel")


def hole(kind: str, special: tuple[str, ...]) -> Hole:
    """In pickles: a hole that has these special methods, as has what it stands for."""
    members = dict.fromkeys(special, Hole._fail)  # noqa: SLF001 - its own
    made: Hole = type(kind, (Hole,), members)(kind)
    return made


def _special_of(kind: type) -> tuple[str, ...]:
    """The special methods by which instances are used, beyond those of any object."""
    found = {name for each in mro_of(kind) for name in namespace_of(each)}
    return tuple(
        sorted(
            name
            for name in found - set(dir(Hole)) - _OF_CLASSES
            if name.startswith("__") and name.endswith("__")
        )
    )


def weak(value: Any) -> Any:
    """In pickles: a weak reference, the value of which stays alive."""
    if value is None:
        return weakref.ref(Hole("gone"))
    _ALIVE.append(value)
    return weakref.ref(value)


def make_text(kind: Any, buffer: Any, how: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    """In pickles: a text stream over bytes in memory."""
    made: Any = kind.__new__(kind)
    io.TextIOWrapper.__init__(made, buffer, *how)
    vars(made).update(attributes)
    return made


class _Module(ModuleType):
    """A module of the repository as lent code sees it: what the slice's has not is lent."""

    def __getattr__(self, name: str) -> Any:
        if _is_of_the_system(name):
            raise AttributeError(name)
        try:
            return getattr(importlib.import_module(self.__name__), name)
        except (AttributeError, ImportError):
            return HOME.find(f"{self.__name__}:{name}")


def find_module(name: str) -> Any:
    """In pickles: a module of the repository."""
    try:
        members = vars(importlib.import_module(name))
    except ImportError:
        members = {}
    for member in members:
        if not _is_of_the_system(member):
            HOME.asked.setdefault(f"{name}:{member}")
    return _Module(name)


def begin(name: str, maker: Any, args: tuple[Any, ...]) -> Any:
    """In pickles: a lent definition before it has its state, which may lead back to it."""
    HOME.found[name] = made = maker(*args)
    if isinstance(made, type):  # a class inside another is made without it
        made.__qualname__ = name.split(maxsplit=1)[0].partition(":")[2]
    return made


def finish(kind: Any, state: tuple[Any, Members, Owned]) -> Any:
    """In pickles: give a class that came by value its members, those of its bases included."""
    own, inherited, special = state
    cloudpickle.cloudpickle._class_setstate(kind, own)  # noqa: SLF001 - what it pickles
    give(kind, inherited, special, HOME)
    return kind


def member(kind: Any, name: str, value: Any) -> Any:
    """In pickles: a member of an enumeration, which a slice may have without this member."""
    found = kind._member_map_.get(name)
    if found is None:
        key = f"{kind.__module__}:{kind.__qualname__}.{name}"
        found = HOME.found.get(key)
        if found is None:
            base = next((b for b in mro_of(kind) if id(b) in _IMMUTABLE), object)
            found = make(kind, base, () if base is object else (value,))
            found._name_, found._value_ = name, value
            HOME.found[key] = found
    return found


def make(kind: type, base: Any, content: tuple[Any, ...]) -> Any:
    """In pickles: an instance without calling the class's own code."""
    return base.__new__(kind, *content)


def fill(instance: Any, state: tuple[dict[str, Any], dict[str, Any], Any]) -> None:
    """In pickles: give an instance what it held."""
    attributes, slots, content = state
    if attributes:
        dictionary_of(instance).update(attributes)
    for name, value in slots.items():
        object.__setattr__(instance, name, value)
    if isinstance(content, dict):
        for key, value in content.items():
            dict.__setitem__(instance, key, value)
    elif isinstance(content, list):
        list.extend(instance, content)
    elif isinstance(content, set):
        set.update(instance, content)
    elif isinstance(content, bytes):
        bytearray.extend(instance, content)


def code_of(file: str, arguments: tuple[Any, ...]) -> CodeType:
    """Code that has its file, by which is told what ran: cloudpickle 3.1.3 leaves that out."""
    return CodeType(*arguments).replace(co_filename=file)


class _Global:
    """In the globals of code that is lent: the constant that a module has by this name."""

    def __init__(self, name: str) -> None:
        self.name = name


class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Pickles as the module's docstring tells.

    ``whole`` is the definition of this ``name`` that is taken by value, to be lent.
    """

    def __init__(self, file: io.BytesIO, home: Home, whole: object, name: str) -> None:
        super().__init__(file, protocol=5)
        self.home = home
        self.whole = whole
        self.name = name
        self.named: set[str] = set()
        self.kinds: dict[int, type] = {}

    def persistent_id(self, value: Any) -> Any:
        """Globals that are instances keep their identity."""
        kind = type(value)  # not `isinstance`, which asks `__class__`
        if value is self.whole:
            return None
        if kind is _Global:
            name = value.name
        elif kind is float and not math.isfinite(value):
            name = self.home.constant_name(value)
        elif _is_simple(kind):
            return None
        else:
            name = self.home.global_name(value)
            if not name and self.whole is not None:
                # The other parts of what is lent may have it from the slice's own modules.
                return self.home.outside_name(value) or None
        if name:
            self.home.asked.setdefault(name)
        return name or None

    def reducer_override(self, value: Any) -> Any:
        """How definitions and instances travel; everything else as cloudpickle has it."""
        kind: Any = type(value)
        if kind is FunctionType or issubclass(kind, type):
            return self._definition(value)
        if kind is MethodType:
            return MethodType, (value.__func__, value.__self__)
        if kind is ModuleType:
            return self._module(value)
        if kind is CodeType:
            return code_of, (value.co_filename, self.dispatch_table[CodeType](value)[1])
        if id(kind) in _MADE_ANEW:
            return kind, ()
        if value is self.whole and isinstance(value, typing.TypeVar):
            return kind, (value.__name__,)
        if kind is weakref.ReferenceType:
            return weak, (value(),)
        if kind is type(_RLOCK):
            return threading.RLock, ()
        if kind is type(_LOCK):
            return threading.Lock, ()
        if issubclass(kind, io.TextIOWrapper) and isinstance(value.buffer, io.BytesIO):
            keywords = (value.encoding, value.errors, None, value.line_buffering)
            return make_text, (kind, value.buffer, keywords, dict(vars(value)))
        if self.whole is not None and not self._can_travel(value):
            return hole, (kind.__name__, _special_of(kind))
        if not flags_of(kind) & HEAP_TYPE or not self.home.is_ours(kind):
            return NotImplemented
        if issubclass(kind, enum.Enum):
            held = dictionary_of(value)
            return member, (kind, held["_name_"], held["_value_"])
        found = parts(value)
        if found is None:
            return NotImplemented
        self.kinds[id(kind)] = kind
        base, content, attributes, slots, items = found
        reduced = make, (kind, base, content)
        if value is self.whole:  # what it holds may hold it by its name
            return begin, (self.name, *reduced), (attributes, slots, items), None, None, fill
        return *reduced, (attributes, slots, items), None, None, fill

    def _can_travel(self, value: Any) -> bool:
        if type(value) in self.dispatch_table:
            return True
        try:
            value.__reduce_ex__(5)
        except Exception:  # noqa: BLE001 - which has many ways to say so
            return False
        return True

    def _definition(self, value: Any) -> Any:
        if value is not self.whole:
            name = self.home.name_of(value)
            if name:
                self.home.asked.setdefault(name)
                return find, (name,)
            self.named.update(names_in(value))
        place = getattr(sys.modules.get(value.__module__ or ""), "__file__", None) or ""
        if value is not self.whole and not place.startswith(self.home.folder):
            return self._with_inherited(value, super().reducer_override(value))
        reduced = (
            self._dynamic_function_reduce(value)
            if isinstance(value, FunctionType)
            else cloudpickle.cloudpickle._dynamic_class_reduce(value)  # noqa: SLF001
        )
        reduced = self._with_inherited(value, reduced)
        if value is self.whole:
            return begin, (self.name, *reduced[:2]), *reduced[2:]
        return reduced

    def _dynamic_function_reduce(self, function: FunctionType) -> Any:
        """A function by value; with the constants that its module and a slice both have."""
        maker, args, (attributes, slots), *rest = super()._dynamic_function_reduce(function)
        names = {}
        for name, value in slots["__globals__"].items():
            if _is_told_by_identity(value) and (known := self.home.constant_name(value)):
                names[name] = _Global(known)
        slots = slots | {"__globals__": slots["__globals__"] | names}
        return maker, args, (attributes, slots), *rest

    def _with_inherited(self, value: Any, reduced: Any) -> Any:
        """How a class travels by value, if it does, with what its code asks of its bases."""
        if reduced is NotImplemented or isinstance(value, FunctionType) or len(reduced) != 6:
            return reduced
        members = asked_members(value, self.home.name_of)
        special = special_members(value, self.home.name_of)
        for _, _, key in (*members, *(member for _, member in special)):
            self.home.asked.setdefault(key)
        maker, args, (own, slots), *_ = reduced
        if maker is cloudpickle.cloudpickle._make_skeleton_class:  # noqa: SLF001 - as above
            args, own = _with_slots(value, args, own)
        return maker, args, ((own, slots), members, special), None, None, finish

    def _module(self, value: ModuleType) -> Any:
        if value.__name__ in self.home.own:
            for name in vars(value):
                if not _is_of_the_system(name):
                    self.home.asked.setdefault(f"{value.__name__}:{name}")
            return find_module, (value.__name__,)
        if (getattr(value, "__file__", None) or "").startswith(self.home.folder):
            raise Unportable(f"the module {value.__name__}")
        return NotImplemented


def _with_slots(
    kind: type, args: tuple[Any, ...], own: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What makes a class with the slots it has, and its other members: cloudpickle forgets them."""
    maker, name, bases, members, *more = args
    if typing.NamedTuple in bases:  # what is made of it makes it anew, of fields that it has not
        bases = kind.__bases__
        args = (maker, name, bases, members, *more)
    if "__slots__" not in own:
        return args, own
    slots = [name for name, each in namespace_of(kind).items() if _is_slot_of(kind, each)]
    slots += [name for name in ("__dict__", "__weakref__") if name in namespace_of(kind)]
    others = {name: each for name, each in own.items() if not _is_slot_of(kind, each)}
    return (maker, name, bases, {**members, "__slots__": tuple(slots)}, *more), others


def _is_slot_of(kind: type, value: Any) -> bool:
    return type(value) is MemberDescriptorType and value.__objclass__ is kind


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, home: Home) -> None:
        super().__init__(file)
        self.home = home

    def persistent_load(self, name: str) -> Any:
        return self.home.find(name)


def dump(home: Home, value: Any, *, whole: object = None, name: str = "") -> bytes:
    """``value`` as bytes; raises what pickling raises."""
    file = io.BytesIO()
    pickler = Pickler(file, home, whole, name)
    pickler.dump(value)
    asked = members_named(pickler.kinds.values(), pickler.named, home.name_of)
    if asked:
        pickle.dump(asked, file)
    return file.getvalue()


def load(home: Home, data: bytes) -> Any:
    """The value of these bytes."""
    global HOME  # noqa: PLW0603 - functions named in pickles have no other way to it
    HOME = home
    file = io.BytesIO(data)
    value = _Unpickler(file, home).load()
    if file.tell() < len(data):
        give_to_owners(pickle.load(file), home)
    return value


def lend(home: Home, *, most: int) -> dict[str, bytes]:
    """By value, what the calls named, and what those definitions name in turn."""
    found: dict[str, bytes] = {}
    queue = list(home.asked)
    seen = set(queue)
    while queue and len(found) < most:
        name = queue.pop(0)
        home.asked = {}
        try:
            value = home.find(name)
            found[name] = dump(home, value, whole=value, name=name)
        except Exception as error:  # noqa: BLE001 - it is then not lent
            home.not_lent[name] = text_of(error, 200)
            continue
        new = [each for each in home.asked if each not in seen]
        seen.update(new)
        queue += new
    return found
