"""What classes of the standard library call of their own objects.

Stubs do not say it, so it was read from the sources once: ``benchmarks/called_back.py`` writes
``called_back.json`` and ``private_names.json``, and describes their form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

MAKE: Final = "()"
"""Stands among the names for a new instance of the object's own class."""

_FILE: Final[Mapping[str, Sequence[str]]] = {
    "__del__": ("close",),
    "__enter__": ("closed",),
    "__exit__": ("close",),
    "__iter__": ("closed",),
    "__next__": ("readline",),
    "close": ("flush",),
    "flush": ("closed",),
    "isatty": ("closed",),
    "readline": ("peek", "read"),
    "readlines": ("__iter__", "__next__"),
    "tell": ("seek",),
    "writelines": ("closed", "write"),
}
_NOT_IN_SOURCE: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "pickle.Pickler": {"dump": ("persistent_id", "reducer_override")},
    "pickle.Unpickler": {"load": ("find_class", "persistent_load")},
    "_io._IOBase": _FILE,
    "_io._RawIOBase": {**_FILE, "read": ("readall", "readinto"), "readall": ("read",)},
    "_io._BufferedIOBase": {**_FILE, "readinto": ("read",), "readinto1": ("read1",)},
    "_io._TextIOBase": _FILE,
    "datetime.tzinfo": {"fromutc": ("dst", "utcoffset")},
    # `(self - other) | (other - self)`
    "typing.AbstractSet": {"__xor__": ("__or__",), "__rxor__": ("__or__",)},
    "contextlib.ContextDecorator": {"__call__": ("__enter__", "__exit__")},
    "contextlib.AsyncContextDecorator": {"__call__": ("__aenter__", "__aexit__")},
    "collections.UserDict": {"copy": ("__copy__", "__getitem__", "__iter__", "keys", "update")},
    "unittest.TestCase": {"_callTestMethod": ("runTest", "test*")},
    "unittest.IsolatedAsyncioTestCase": {"_callTestMethod": ("runTest", "test*")},
    "logging.Handler": {"__del__": ("acquire", "flush", "close", "release")},
    # Actions get the parser: `--help`, `--version`
    "argparse.ArgumentParser": {
        "add_subparsers": (MAKE,),
        "parse_known_args": ("error", "exit", "format_help", "print_help", "_print_message"),
    },
}
"""What no method says: those in C (library reference, pickle and io; `_pyio` has the latter in
Python), what a result of theirs does, what is passed on. `__del__` stands for the end of an object:
files close themselves then, handlers when the program ends."""


@cache
def called_back() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """For classes, by their names in typeshed: method -> the names it asks its object for.

    A name with ``*`` stands for all that fit, :data:`MAKE` for making an instance.
    """
    read: dict[str, dict[str, Sequence[str]]] = _read("called_back.json")
    for dotted, methods in _NOT_IN_SOURCE.items():
        known = read.setdefault(dotted, {})
        for method, names in methods.items():
            known[method] = sorted({*known.get(method, ()), *names})
    return read


@cache
def private_names() -> Mapping[str, Sequence[str]]:
    """For classes, by their names in typeshed: the private names that code beside them looks for."""
    read: Mapping[str, Sequence[str]] = _read("private_names.json")
    return read


def _read(name: str) -> Any:
    from importlib.resources import files

    return json.loads(files("depslice.callgraph.stubs").joinpath(name).read_bytes())
