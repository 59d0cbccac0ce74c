"""What others provide through entry points, looked at where it comes in."""

from __future__ import annotations

from collections.abc import Mapping


def lacking(plugin: object, method: str, attributes: Mapping[str, type]) -> str:
    """What ``plugin`` lacks of its interface, in words; empty: nothing.

    >>> lacking("text", "resolve", {})
    "has no method 'resolve'"
    >>> lacking(3j, "conjugate", {"real": float, "rounds": int})
    "has no 'rounds' (int)"
    >>> lacking(3j, "conjugate", {"real": str})
    "has a 'real' that is float, not str"
    """
    if not callable(getattr(plugin, method, None)):
        return f"has no method {method!r}"
    for name, kind in attributes.items():
        value = getattr(plugin, name, None)
        if value is None:
            return f"has no {name!r} ({kind.__name__})"
        if not isinstance(value, kind):
            return f"has a {name!r} that is {type(value).__name__}, not {kind.__name__}"
    return ""
