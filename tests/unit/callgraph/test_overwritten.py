"""Values that nobody can have seen in a container: by example, and by running programs."""

from __future__ import annotations

import ast
import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from depslice.callgraph.lowering.overwritten import overwritten


def unseen(text: str) -> list[str]:
    return sorted(ast.unparse(node) for node in overwritten(ast.parse(text).body))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("t = {'a': f}\nt['a'] = g", ["f"]),
        ("t: dict = {'a': f}\nt['a'] = g", ["f"]),
        ("t = {'a': f, 'b': f2}\nt['b'] = g\nt['b'] = h", ["f2", "g"]),
        ("t = {'a': {'b': f, 'c': f2}}\nt['a']['b'] = g", ["f"]),
        ("t = {'a': {'b': f, 'c': f2}}\nt['a'] = g", ["f", "f2"]),
        ("t = {'a': f}\nt.update({'a': g})\nt.update(a=h)", ["f", "g"]),
        ("t = {1: f, '1': f2}\nt[1] = g", ["f"]),
        ("t = [f, f2]\nt[0] = g", ["f"]),
        ("t = {'a': f}\ndef look(): return t['a']\nt['a'] = g", ["f"]),  # nobody has called it
        ("t = {'a': f}\nalias = t\nt['a'] = g", ["f"]),  # one object
        ("t = {'a': f}\nt['a']()\nt['a'] = g", []),
        ("t = {'a': f}\nlook()\nt['a'] = g", []),
        ("t = {'a': f}\nx = t['a']\nt['a'] = g", []),
        ("t = {'a': f}\nu = {**t}\nt['a'] = g", []),
        ("t = {'a': f}\nu = [*t]\nt['a'] = g", []),
        ("t = {'a': f}\nt[key] = g\nt['a'] = h", []),
        ("t = {'a': f}\nif x: t['a'] = g", []),
        ("t = {'a': f}\ndef look(x=t['a']): pass\nt['a'] = g", []),
        ("t = {'a': f}\n@mark\ndef look(): pass\nt['a'] = g", []),
        ("t = {'a': f}\nclass C: x = t['a']\nt['a'] = g", []),
        ("t = {'a': x}\nt['a']['b'] = g\nt['a']['b'] = h", []),  # who knows what `x` is
        ("t = {'a': f}\nt = {'a': g}\nt['a'] = h", ["g"]),
        ("t = u = {'a': f}\nt['a'] = g", []),
        ("t = {'a': f}\nt.setdefault('a', g)\nt['a'] = h", []),
        ("x.t = {'a': f}\nx.t['a'] = g", []),
        (f"t = {{0x{'F' * 6000}: f}}\nt[0x{'F' * 6000}] = g", ["f"]),  # it has no decimal text
        ("t = {True: f, 1: f2}\nt[1] = g", []),
        ("t = {'a': f}\nt['b']['c'] = g\nt['a'] = h", []),  # it fails, and `f` stays
        ("t = [f]\nt[1] = g\nt[0] = h", []),
        ("t = [f]\nt.update({0: g})\nt[0] = h", []),
        ("t = {'a': f}\nt['b'] = {'c': g}\nt['b']['c'] = h", ["g"]),
    ],
)
def test_what_is_overwritten_unseen(text: str, found: list[str]) -> None:
    assert unseen(text) == found


_NAMES = ("t", "u")
_KEYS = ("'a'", "'b'", "0", "1")


@st.composite
def _statements(draw: st.DrawFn) -> str:
    """A program that fills two containers; every value in it has a name of its own."""
    count = 0

    def value() -> str:
        nonlocal count
        count += 1
        return f"v{count}"

    def display(depth: int) -> str:
        kind = draw(st.sampled_from(["name", "dict", "list", "tuple"])) if depth else "name"
        if kind == "name":
            return draw(st.sampled_from(_NAMES)) if draw(st.integers(0, 5)) == 0 else value()
        inner = [display(depth - 1) for _ in range(draw(st.integers(0, 3)))]
        if kind == "dict":
            keys = [draw(st.sampled_from(_KEYS)) for _ in inner]
            return "{" + ", ".join(f"{k}: {v}" for k, v in zip(keys, inner, strict=True)) + "}"
        return f"[{', '.join(inner)}]" if kind == "list" else f"(*[{', '.join(inner)}],)"

    lines = ["t = {}", "u = []"]
    for _ in range(draw(st.integers(1, 8))):
        name = draw(st.sampled_from(_NAMES))
        key = "".join(f"[{draw(st.sampled_from(_KEYS))}]" for _ in range(draw(st.integers(1, 2))))
        lines.append(
            draw(
                st.sampled_from(
                    [
                        f"{name} = {display(2)}",
                        f"{name}{key} = {display(1)}",
                        f"{name}.update({{{draw(st.sampled_from(_KEYS))}: {display(1)}}})",
                        f"{name}.update(a={value()})",
                        f"other = {name}",
                        "look()",
                        "def late(): return t",
                        f"x = {name}{key}",
                    ]
                )
            )
        )
    return "\n".join(lines)


class _Value:
    """A value that tells nothing of itself."""


def _held(value: Any, seen: set[int]) -> set[int]:
    if id(value) in seen:
        return set()
    seen.add(id(value))
    inner = value.values() if isinstance(value, dict) else value
    if not isinstance(value, (dict, list, tuple)):
        return {id(value)}
    return set().union(*(_held(each, seen) for each in inner))


@given(_statements())
def test_what_is_dropped_is_in_no_container_when_code_runs(program: str) -> None:
    tree = ast.parse(program)
    names = {f"v{number}": _Value() for number in range(1, 200)}
    found = {ast.unparse(node) for node in overwritten(tree.body)}
    dropped = {id(names[name]) for name in found & names.keys()}
    space: dict[str, Any] = {**names}
    observed: set[int] = set()

    def look() -> None:
        for each in ("t", "u", "other", "x"):
            observed.update(_held(space.get(each), set()))

    space["look"] = look
    with contextlib.suppress(KeyError, IndexError, TypeError, AttributeError):
        exec(compile(tree, "<program>", "exec"), space)  # noqa: S102 (made here)
    look()  # whoever catches the error may look, too
    assert not dropped & observed
