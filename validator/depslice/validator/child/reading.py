"""Descriptions for people: their words, spelled as Python spells values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

_BUILTIN = "builtins."
_CUT = "…"
_BRACKETS = {"builtins.list": ("[", "]"), "builtins.set": ("{", "}")}


class Value(NamedTuple):
    """A described value: a word, or a kind with ``parts``; ``name``, where it is an attribute's."""

    word: str
    parts: tuple[Value, ...] | None = None
    name: str = ""

    def __str__(self) -> str:
        if self.parts is None:
            return self.name + self.word.removeprefix(_BUILTIN)
        inside = [str(each) for each in self.parts]
        if self.word == "builtins.tuple":
            text = f"({inside[0]},)" if len(inside) == 1 else f"({', '.join(inside)})"
        elif self.word == "builtins.dict":
            pairs = zip(inside[::2], inside[1::2], strict=False)
            text = "{" + ", ".join(f"{key}: {each}" for key, each in pairs) + "}"
        elif self.word in _BRACKETS and (inside or self.word != "builtins.set"):
            start, end = _BRACKETS[self.word]
            text = f"{start}{', '.join(inside)}{end}"
        else:
            text = f"{self.word.removeprefix(_BUILTIN)}({', '.join(inside)})"
        return self.name + text


def values_of(words: Sequence[str]) -> list[Value] | None:
    """The values that words describe; ``None`` where they are cut off."""
    found = list(_values(iter(words), 0))
    return None if _is_cut(found) else found


def _values(words: Iterator[str], depth: int) -> Iterator[Value]:
    name = ""
    for word in words:
        if word == ")" and depth:
            return
        if word.endswith("=") and word[:-1].isidentifier():
            name = word
            continue
        if word.endswith("(") and not word.startswith(("'", '"', "b'", 'b"')):
            yield Value(word[:-1], tuple(_values(words, depth + 1)), name)
        else:
            yield Value(word, None, name)
        name = ""
    if depth:
        yield Value(_CUT)


def _is_cut(values: Sequence[Value]) -> bool:
    return any(
        each.word == _CUT or (each.parts is not None and _is_cut(each.parts)) for each in values
    )


__all__ = ["Value", "values_of"]
