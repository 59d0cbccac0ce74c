"""Which import brings a name of the standard library."""

from __future__ import annotations

import collections
import functools
import itertools
import math
import operator
import re
import string
import sys
import typing
from collections.abc import Iterable
from functools import cache
from types import ModuleType
from typing import Final

# The first one that has a name gives it: `Counter` is that of collections.
_MODULES: Final = (collections, typing, itertools, functools, math, re, string, operator)
_OTHERS: Final = {
    "bisect": ("bisect_left", "bisect_right", "insort"),
    "copy": ("deepcopy",),
    "dataclasses": ("dataclass", "field"),
    "datetime": ("date", "timedelta"),
    "decimal": ("Decimal", "ROUND_HALF_UP"),
    "enum": ("Enum", "auto"),
    "fractions": ("Fraction",),
    "hashlib": ("md5", "sha256"),
    "heapq": ("heapify", "heappop", "heappush", "heapreplace", "nlargest", "nsmallest"),
    "statistics": ("mean", "median", "stdev"),
}


def import_of(name: str) -> str | None:
    """The statement that imports ``name``.

    >>> import_of("List"), import_of("math"), import_of("fly")
    ('from typing import List', 'import math', None)
    """
    if name in sys.stdlib_module_names:
        return f"import {name}"
    module = _table().get(name)
    return f"from {module} import {name}" if module else None


@cache
def _table() -> dict[str, str]:
    found: dict[str, str] = {}
    for module in _MODULES:
        for name in _public(module):
            found.setdefault(name, module.__name__)
    for other, names in _OTHERS.items():
        for name in names:
            found.setdefault(name, other)
    return found


def _public(module: ModuleType) -> Iterable[str]:
    names: Iterable[str] = getattr(module, "__all__", None) or vars(module)
    return [name for name in names if not name.startswith("_")]
