"""From the bytes of a file to its text, as the Python tokenizer would read it."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections import Counter

_UTF8_BOM = codecs.BOM_UTF8
# PEP 263: the declaration stands on line 1 or 2, and line 2 counts only when
# line 1 is blank or a comment.
_DECLARATION = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK_OR_COMMENT = re.compile(rb"^[ \t\f]*(?:#.*)?$")
_LINE_END = re.compile(rb"\r\n|\r|\n")


class UndecodableSource(Exception):
    """The bytes are not Python source text.

    Internal: callers turn it into a :class:`~depslice.callgraph.model.Diagnostic`
    with the same ``slug`` (``undecodable``, ``unknown-encoding``, ``nul-byte``);
    ``line`` is 1-based, or ``None`` when no line can be named.
    """

    def __init__(self, slug: str, message: str, line: int | None) -> None:
        super().__init__(message)
        self.slug = slug
        self.message = message
        self.line = line


def decode_source(data: bytes) -> str:
    r"""Decode ``data`` as PEP 263 says, with universal newlines.

    ``b"# coding: latin-1\r\nx = '\xe9'\r\n"`` gives ``"# coding: latin-1\nx = 'é'\n"``.
    A byte order mark is dropped; form feeds stay. The text has exactly the
    lines that :func:`ast.parse` counts, so ``text.split("\n")[n - 1]`` is line n.

    :raises UndecodableSource: bytes outside the declared encoding, an unknown or
        contradictory declaration, or a NUL byte.
    """
    encoding = _declared_encoding(data)
    if encoding == "utf-8" and data.startswith(_UTF8_BOM):
        data = data[len(_UTF8_BOM) :]
    if b"\0" in data:
        # CPython: "source code string cannot contain null bytes". A UTF-16 file
        # lands here too, which is right: PEP 263 excludes it.
        line = _line_of(data, data.index(b"\0"))
        raise UndecodableSource("nul-byte", "the file contains NUL bytes", line)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = _line_of(data, error.start)
        byte = data[error.start]
        message = f"byte 0x{byte:02x} is not {encoding}"
        raise UndecodableSource("undecodable", message, line) from None
    except (UnicodeError, ValueError) as error:  # a codec with errors of its own (idna, ...)
        raise UndecodableSource("undecodable", f"not {encoding}: {error}", None) from None
    if "\0" in text:
        raise UndecodableSource("nul-byte", f"NUL characters when read as {encoding}", None)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def line_end_of(data: bytes) -> str:
    r"""What ends most lines of ``data``: ``"\n"``, ``"\r\n"`` or ``"\r"``, as Python reads lines.

    The first of those that are equally many; ``"\n"`` where there is none.
    """
    counts = Counter(_LINE_END.findall(data))
    return counts.most_common(1)[0][0].decode() if counts else "\n"


def as_utf8(text: str) -> str:
    """``text`` of a source file, with no declaration that it is encoded otherwise than in UTF-8."""
    lines = text.split("\n", 2)
    for number, line in enumerate(lines[:2]):
        match = _DECLARATION.match(line.encode("ascii", "replace"))
        if match is not None:
            lines[number] = f"{line[: match.start(1)]}utf-8{line[match.end(1) :]}"
            break
        if not _BLANK_OR_COMMENT.match(line.encode("ascii", "replace")):
            break
    return "\n".join(lines)


def content_digest(data: bytes) -> str:
    """BLAKE2b of ``data``, 16 bytes, as 32 hexadecimal digits: the cache key of a file."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _declared_encoding(data: bytes) -> str:
    """The codec name to decode with; ``utf-8`` when nothing is declared."""
    has_bom = data.startswith(_UTF8_BOM)
    match = _find_declaration(data[len(_UTF8_BOM) :] if has_bom else data)
    if match is None:
        return "utf-8"
    declared, line = match
    normal = declared.lower().replace("_", "-")
    if normal == "utf-8" or normal.startswith("utf-8-"):
        return "utf-8"
    if has_bom:
        message = f"a UTF-8 byte order mark, yet declared as {declared}"
        raise UndecodableSource("unknown-encoding", message, line)
    try:
        codec = codecs.lookup(declared)
    except (LookupError, ValueError):
        codec = None
    # rot13 and friends are codecs, but not text encodings; the attribute is
    # private, yet it is what `bytes.decode` itself consults.
    if codec is None or not getattr(codec, "_is_text_encoding", True):
        raise UndecodableSource("unknown-encoding", f"unknown encoding: {declared}", line)
    return codec.name


def _find_declaration(data: bytes) -> tuple[str, int] | None:
    # The first two lines are enough, and long one-line files exist.
    start = 0
    for line in (1, 2):
        end = _LINE_END.search(data, start)
        content = data[start : end.start()] if end else data[start:]
        match = _DECLARATION.match(content)
        if match is not None:
            return match[1].decode("ascii", "replace"), line
        if end is None or not _BLANK_OR_COMMENT.match(content):
            return None
        start = end.end()
    return None


def _line_of(data: bytes, offset: int) -> int:
    return len(_LINE_END.findall(data, 0, offset)) + 1
