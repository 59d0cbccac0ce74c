"""Byte positions of names in source text, also where :mod:`ast` has none."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator

from depslice.slicer.render.flatten_scopes import Place, Use

_KEYWORD = re.compile(rb"(?:async(?:\s|\\\n)+)?(?:def|class)(?:\s|\\\n)+")
_WORD = re.compile(rb"[^\W\d](?:\w|[\x80-\xff])*|[\x80-\xff](?:\w|[\x80-\xff])*")


class SourceBytes:
    """The UTF-8 bytes of a module, addressed by line and column."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self._starts = [0]
        for match in re.finditer(b"\n", self.data):
            self._starts.append(match.end())
        self._fixed: dict[int, bool] = {}

    def offset(self, line: int, column: int) -> int:
        """The byte offset of a position of :mod:`ast`."""
        return self._starts[line - 1] + column

    def line_start(self, line: int) -> int:
        """The byte offset at which a line starts; the end of the text past the last."""
        return self._starts[line - 1] if line <= len(self._starts) else len(self.data)

    def span(self, node: ast.stmt | ast.expr | ast.alias) -> tuple[int, int]:
        """The byte range of a node, decorators left out."""
        return (
            self.offset(node.lineno, node.col_offset),
            self.offset(node.end_lineno or 0, node.end_col_offset or 0),
        )

    def name_span(self, use: Use) -> tuple[int, int] | None:
        """The byte range of the name of a use; ``None`` when it cannot be found."""
        node = use.node
        if use.place is Place.NAME:
            assert isinstance(node, ast.Name)
            return self.span(node) if self._settled(use.fstring) else None
        start = self.offset(*use.start)
        name = use.name.encode()
        if use.place is Place.DEFINITION:
            match = _KEYWORD.match(self.data, start)
            return (match.end(), match.end() + len(name)) if match else None
        if use.place is Place.HANDLER:
            assert isinstance(node, ast.ExceptHandler)
            if node.type is not None:
                start = self.offset(node.type.end_lineno or 0, node.type.end_col_offset or 0)
            end = self.offset(node.body[0].lineno, node.body[0].col_offset)
            return self._word(name, start, end)
        assert isinstance(node, (ast.stmt, ast.pattern))
        end = self.offset(node.end_lineno or 0, node.end_col_offset or 0)
        if isinstance(node, (ast.MatchAs, ast.MatchStar)):
            return end - len(name), end
        if isinstance(node, ast.MatchMapping):
            if node.patterns:
                last = node.patterns[-1]
                start = self.offset(last.end_lineno, last.end_col_offset)
            return self._word(name, start, end)
        return self._word(name, start, end)

    def chain_span(self, use: Use, consumed: int) -> tuple[int, int] | None:
        """The byte range of a name and the first ``consumed`` attributes read off it."""
        if not consumed:
            return self.name_span(use)
        if not self._settled(use.fstring):
            return None
        return self.span(use.chain[consumed - 1])

    def _word(self, name: bytes, start: int, end: int) -> tuple[int, int] | None:
        for match in _WORD.finditer(self.data, start, end):
            if match.group() == name:
                return match.span()
        return None

    def _settled(self, node: ast.JoinedStr | None) -> bool:
        """Whether positions inside an f-string can be relied on."""
        if node is None or sys.version_info >= (3, 12):
            return True
        if id(node) not in self._fixed:
            self._fixed[id(node)] = self._fix(node)
        return self._fixed[id(node)]

    def _fix(self, node: ast.JoinedStr) -> bool:
        """Give the expressions of an f-string their true positions.

        Before Python 3.12 those that :mod:`ast` reports are wrong in multi-line
        and concatenated strings.
        """
        try:
            fields = [*self._fields(node)]
        except (SyntaxError, tokenize.TokenError, IndexError):
            return False
        values = [*_formatted(node)]
        if len(fields) != len(values):
            return False
        for value, (start, end) in zip(values, fields, strict=True):
            line = self.data.count(b"\n", 0, start) + 1
            column = start - self._starts[line - 1]
            try:
                expression = self.data[start:end].decode()
                parsed = ast.parse(f"({expression})", mode="eval").body
            except SyntaxError:
                return False
            pairs = zip(ast.walk(value), ast.walk(parsed), strict=False)
            nested = []
            for old, new in pairs:
                if type(old) is not type(new):
                    return False
                if isinstance(old, ast.expr) and isinstance(new, ast.expr):
                    _place(old, new, line, column)
                if isinstance(old, ast.JoinedStr):
                    nested.append(old)
            if not all(self._fix(one) for one in nested):
                return False
        return True

    def _fields(self, node: ast.JoinedStr) -> Iterator[tuple[int, int]]:
        start, end = self.span(node)
        text = self.data[start:end].decode()
        lines = text.split("\n")
        widths = [0]
        for line in lines:
            widths.append(widths[-1] + len(line) + 1)
        for token in tokenize.generate_tokens(io.StringIO(f"({text}\n)").readline):
            if token.type != tokenize.STRING:
                continue
            prefix = re.match(r"[a-zA-Z]*", token.string)
            assert prefix is not None
            if "f" not in prefix.group().lower():
                continue
            row, column = token.start
            base = widths[row - 1] + column - (row == 1)
            scanner = _FieldScanner(token.string, raw="r" in prefix.group().lower())
            for first, last in scanner.fields(prefix.end()):
                yield (
                    start + len(text[: base + first].encode()),
                    start + len(text[: base + last].encode()),
                )


def _place(old: ast.expr, new: ast.expr, line: int, column: int) -> None:
    shift = column - 1  # the parenthesis around the parsed text
    old.lineno = new.lineno + line - 1
    old.col_offset = new.col_offset + (shift if new.lineno == 1 else 0)
    last = new.end_lineno or new.lineno
    old.end_lineno = last + line - 1
    old.end_col_offset = (new.end_col_offset or 0) + (shift if last == 1 else 0)


def _formatted(node: ast.JoinedStr) -> Iterator[ast.expr]:
    for value in node.values:
        if isinstance(value, ast.FormattedValue):
            yield value.value
            if isinstance(value.format_spec, ast.JoinedStr):
                yield from _formatted(value.format_spec)


class _FieldScanner:
    """Finds the expressions of one f-string token, as Python 3.11 delimits them."""

    def __init__(self, text: str, *, raw: bool) -> None:
        self._text = text
        self._raw = raw

    def fields(self, start: int) -> Iterator[tuple[int, int]]:
        quote = 3 if self._text[start : start + 3] in ('"""', "'''") else 1
        index, end = start + quote, len(self._text) - quote
        while index < end:
            if self._text.startswith(("{{", "}}"), index):
                index += 2
            elif self._text.startswith("\\N{", index) and not self._raw:
                index = self._text.index("}", index) + 1
            elif self._text[index] == "\\" and not self._raw:
                index += 2 if self._text[index + 1] not in "{}" else 1
            elif self._text[index] == "{":
                found, index = self._field(index + 1)
                yield from found
            else:
                index += 1

    def _field(self, start: int) -> tuple[list[tuple[int, int]], int]:
        """The fields of one replacement field, and where it ends."""
        end = index = self._expression_end(start)
        found = [(start, end)]
        while self._text[index] not in ":}":
            index += 1
        if self._text[index] == ":":
            index += 1
            while self._text[index] != "}":
                if self._text[index] == "{":
                    inner, index = self._field(index + 1)
                    found.extend(inner)
                else:
                    index += 1
        return found, index + 1

    def _expression_end(self, index: int) -> int:
        depth = 0
        text = self._text
        while True:
            char = text[index]
            if char in "\"'":
                quote = char * 3 if text.startswith(char * 3, index) else char
                index = text.index(quote, index + len(quote)) + len(quote)
                continue
            if char in "([{":
                depth += 1
            elif char in ")]}" and depth:
                depth -= 1
            elif not depth:
                if char in "}:":
                    return index
                if text[index : index + 2] in ("!=", "==", "<=", ">="):
                    index += 2
                    continue
                if char in "!=":
                    return index
            index += 1
