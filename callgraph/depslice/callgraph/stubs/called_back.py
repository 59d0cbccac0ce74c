"""What classes of the standard library call of their own objects.

Stubs do not say it, so it was read from the sources once: ``benchmarks/called_back.py`` writes
``called_back.json``, and describes its form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

_IN_C: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "pickle.Pickler": {"dump": ("persistent_id", "reducer_override")},
    "pickle.Unpickler": {"load": ("find_class", "persistent_load")},
}
"""Written in C, so that no source tells (library reference, pickle)."""
MAKE: Final = "()"
"""Stands among the names for a new instance of the object's own class."""


@cache
def called_back() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """For classes, by their names in typeshed: method -> the names it asks its object for.

    A name with ``*`` stands for all that fit, :data:`MAKE` for making an instance.
    """
    text = files("depslice.callgraph.stubs").joinpath("called_back.json").read_bytes()
    read: Mapping[str, Mapping[str, Sequence[str]]] = json.loads(text)
    return {**read, **_IN_C}
