"""Copies of a definition: other files that hold its text, in whatever form people keep it.

Notes, patches, notebooks, listings as HTML, what editors leave: a line of the definition is
looked for as its words one after the other, whatever stands between them and around it.
"""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_WORD: Final = re.compile(r"\w+")
_TAG: Final = re.compile(r"<[^<>\n]*>")
_ESCAPED: Final = re.compile(r"\\[nrt]")  # line ends and tabs in JSON
_LEAST_WORDS: Final = 8  # a shorter definition is written again as easily
_SHARE: Final = 0.8  # of the words: a copy may be of another version
_MOST_BYTES: Final = 64 << 20


def copies_of(source: str, definition: ast.AST, folder: Path, *, user: str = "") -> Iterator[Path]:
    """Files below ``folder`` that hold the text of a definition in ``source``.

    But for modules that others, or the code of a ``user``, name: what imports them could not
    be imported without.
    """
    lines = _lines(source, definition)
    words = sorted({w.encode() for line in lines for w in line.split()}, key=len, reverse=True)
    if sum(map(_size, lines)) < _LEAST_WORDS:
        return
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and not p.is_symlink()]
    for path in files:
        if _is_copy(path, lines, words) and not _is_needed(path, folder, files, user):
            yield path


def _is_copy(path: Path, lines: list[str], words: list[bytes]) -> bool:
    if path.stat().st_size > _MOST_BYTES:
        return False
    data = path.read_bytes()
    return _may_hold(data, words) and _holds(data.decode("utf-8", "replace"), lines)


def _lines(source: str, definition: ast.AST) -> list[str]:
    """The words of each line of its body, but for docstring and comments."""
    body: list[ast.stmt] = list(getattr(definition, "body", ()))
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        del body[0]
    if not body:
        return []
    lines = source.split("\n")[body[0].lineno - 1 : body[-1].end_lineno]
    return [_words(line) for line in lines if not line.lstrip().startswith("#")]


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text))} "


def _size(line: str) -> int:
    return len(line.split())


def _may_hold(data: bytes, words: list[bytes]) -> bool:
    """Whether most of the words are somewhere: few files have even the longest ones."""
    allowed = len(words) * (1 - _SHARE)
    for word in words:
        if word not in data:
            allowed -= 1
            if allowed < 0:
                return False
    return True


def _holds(text: str, lines: list[str]) -> bool:
    plain = _TAG.sub("", text) if "</" in text else text
    told = _words(_ESCAPED.sub(" ", html.unescape(plain)))
    found = sum(_size(line) for line in lines if line in told)
    return found >= _SHARE * sum(map(_size, lines))


def _is_needed(path: Path, folder: Path, files: list[Path], user: str) -> bool:
    """Whether it is a module that some other one, or the user, names."""
    inside = path.relative_to(folder)
    names = [*inside.parent.parts, inside.stem]
    if inside.suffix != ".py" or not all(name.isidentifier() for name in names):
        return False
    name = names[-2] if names[-1] == "__init__" and len(names) > 1 else names[-1]
    pattern = re.compile(rf"\b{name}\b".encode())
    others = (each for each in files if each.suffix == ".py" and each != path)
    texts = (each.read_bytes() for each in others if each.exists())
    return any(pattern.search(text) for text in (user.encode(), *texts))
