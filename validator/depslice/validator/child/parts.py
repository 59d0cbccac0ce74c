"""What instances hold, read without running any code of their classes."""

from __future__ import annotations

from threading import local
from types import (
    BuiltinFunctionType,
    MemberDescriptorType,
    MethodDescriptorType,
    WrapperDescriptorType,
)
from typing import Any

HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: not a class written in C as a static type
IMMUTABLE = (str, int, float, complex, bytes, tuple, frozenset)
_IN_C = (MethodDescriptorType, WrapperDescriptorType, BuiltinFunctionType)
_MUTABLE = (list, dict, set, bytearray)

# Of classes, past their metaclass: that may have its own say, and is code like any other.
mro_of = type.__dict__["__mro__"].__get__
namespace_of = type.__dict__["__dict__"].__get__
flags_of = type.__dict__["__flags__"].__get__
qualname_of = type.__dict__["__qualname__"].__get__


def module_of(kind: type) -> str:
    """The name of the module in which a class was made."""
    found = namespace_of(kind).get("__module__")
    if type(found) is str:
        return found
    return "" if flags_of(kind) & HEAP_TYPE else type.__getattribute__(kind, "__module__")


def ids_of(*kinds: type) -> frozenset[int]:
    """Builtin classes by identity: ``in`` would ask the metaclass of others, which has an ``__eq__``."""
    return frozenset(map(id, kinds))


def c_base_of(kind: type) -> Any:
    """The first of its line that is written in C as a static type."""
    return next(each for each in mro_of(kind) if not flags_of(each) & HEAP_TYPE)


def parts(value: Any) -> tuple[type, tuple[Any, ...], dict[str, Any], dict[str, Any], Any] | None:
    """What an instance of a Python class holds: base in C, its content, attributes, slots, items.

    ``None`` when the base keeps what it holds to itself. Runs none of the class's code.
    """
    kind = type(value)
    base: Any = c_base_of(kind)
    if base is object and issubclass(kind, local):
        base = local
    content: tuple[Any, ...] = ()
    items: Any = None
    if base in IMMUTABLE:
        content = (frozenset(value),) if base is frozenset else _plain(base, value)
    elif base in _MUTABLE:
        # `dict.copy` would ask the subclass; its views do not.
        if base is dict:
            items = dict(dict.items(value))
        else:
            plain: dict[Any, Any] = {list: list.copy, set: set, bytearray: bytes}
            items = plain[base](value)
    elif issubclass(base, BaseException):
        content = BaseException.__getattribute__(value, "args")
    elif base not in (object, local) or _keeps_to_itself(kind):
        return None
    return base, content, attributes_of(value), slots_of(value), items


def attributes_of(value: Any) -> dict[str, Any]:
    """What is in the ``__dict__`` of an instance, if it has one."""
    try:
        return dict(dictionary_of(value))
    except (AttributeError, TypeError, ValueError):
        return {}


def dictionary_of(value: Any) -> Any:
    """The ``__dict__`` of an instance itself: of what is local to threads, this thread's."""
    read = local if issubclass(type(value), local) else object
    return read.__getattribute__(value, "__dict__")


def slots_of(value: Any) -> dict[str, Any]:
    """What is in the slots of an instance, those of its base classes included."""
    found: dict[str, Any] = {}
    for each in mro_of(type(value)):
        if not flags_of(each) & HEAP_TYPE:
            continue
        for name, slot in namespace_of(each).items():
            if type(slot) is MemberDescriptorType:
                try:
                    found.setdefault(name, slot.__get__(value))
                except AttributeError:
                    continue
    return found


def _keeps_to_itself(kind: type) -> bool:
    """Whether a base written in C has its own way of being copied: `deque`, `Pattern`."""
    for each in mro_of(kind)[:-1]:
        for name in ("__reduce_ex__", "__reduce__"):
            # Not what Python code defines: that says what the class likes to say.
            if type(namespace_of(each).get(name)) in _IN_C:
                return True
    return False


def _plain(base: Any, value: Any) -> Any:
    return base.__getnewargs__(value)
