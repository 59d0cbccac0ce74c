"""Decoding agrees with CPython, which is asked for comparison."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from depslice.callgraph.source import UndecodableSource, content_digest, decode_source


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"x = 1\n", "x = 1\n"),
        ("x = 'é'\n".encode(), "x = 'é'\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"\xef\xbb\xbf# coding: utf-8\nx\n", "# coding: utf-8\nx\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n'\x80'\n", None),
        (b"\n# coding: latin-1\n'\xe9'\n", "\n# coding: latin-1\n'é'\n"),
        (b"# coding: UTF_8\n'\xc3\xa9'\n", "# coding: UTF_8\n'é'\n"),
        (b"a\r\nb\rc\nd", "a\nb\nc\nd"),
        (b"# coding: latin-1\r'\xe9'\r", "# coding: latin-1\n'é'\n"),
        (b"a\n\x0cb\n", "a\n\x0cb\n"),
    ],
)
def test_decodes(data: bytes, text: str | None) -> None:
    if text is None:
        assert "'€'" in decode_source(data)
    else:
        assert decode_source(data) == text


def test_a_declaration_after_code_does_not_count() -> None:
    # Line 1 is code, so line 2 is an ordinary comment and the file is UTF-8.
    assert decode_source("x = 1\n# coding: latin-1\n'é'\n".encode()).endswith("'é'\n")


@pytest.mark.parametrize(
    ("data", "slug", "line"),
    [
        (b"x = 1\ny = '\xff'\n", "undecodable", 2),
        (b"# coding: ascii\r\n\r\n'\xe9'\r\n", "undecodable", 3),
        (b"# coding: no-such-codec\n", "unknown-encoding", 1),
        (b"\n# coding: rot13\n", "unknown-encoding", 2),
        (b"\xef\xbb\xbf# coding: latin-1\n", "unknown-encoding", 1),
        (b"x = 1\n\0\n", "nul-byte", 2),
        ("x = 1\n".encode("utf-16"), "nul-byte", 1),
        (b"# coding: idna\n\xff", "undecodable", None),
    ],
)
def test_says_what_is_wrong_and_where(data: bytes, slug: str, line: int | None) -> None:
    with pytest.raises(UndecodableSource) as caught:
        decode_source(data)
    assert caught.value.slug == slug
    if line is not None:
        assert caught.value.line == line
    assert caught.value.message


LINES = st.sampled_from(
    [
        b"# coding: latin-1",
        b"# -*- coding: utf-8 -*-",
        b"# coding: shift_jis",
        b"# coding: nonsense",
        b"\xef\xbb\xbf# bom",
        b"",
        b"  ",
        b"x = 1",
        "s = 'é'".encode(),
        b"s = '\xe9'",
        b"\x0cy = 2",
    ]
)


@given(
    lines=st.lists(LINES, max_size=5),
    end=st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_agrees_with_the_compiler(lines: list[bytes], end: bytes) -> None:
    data = end.join([*lines, b""])
    try:
        expected = ast.dump(ast.parse(data), include_attributes=True)
    except (SyntaxError, ValueError):
        expected = None
    try:
        text: str | None = decode_source(data)
    except UndecodableSource:
        text = None
    found = None
    if text is not None:
        assert "\r" not in text
        try:
            found = ast.dump(ast.parse(text), include_attributes=True)
        except SyntaxError:
            found = None
    assert found == expected


@given(st.binary(max_size=60))
def test_any_bytes_decode_or_are_refused(data: bytes) -> None:
    try:
        text = decode_source(data)
    except UndecodableSource as error:
        assert error.slug in {"undecodable", "unknown-encoding", "nul-byte"}
    else:
        assert "\0" not in text
        assert "\r" not in text


def test_digest_is_of_the_bytes() -> None:
    assert content_digest(b"x") == content_digest(b"x")
    assert content_digest(b"x") != content_digest(b"x\n")
    assert len(content_digest(b"")) == 32
