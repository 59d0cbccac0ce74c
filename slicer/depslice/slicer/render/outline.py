"""The outline of a source file: where its statements, suites and headers lie.

It depends on the text alone and is remembered between cuts, without the syntax
tree it is read from.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from depslice.slicer.cut import StatementPath

_INDENT = re.compile(r"[ \t\f]*")
# Files whose outlines are remembered: all of a slice's, which its budgets cut one after the other.
# With fewer each would be gone when its turn comes again.
_OUTLINES = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement's place: offsets of its first and past its last character, 0-based lines.

    ``start`` and ``first`` include decorators; ``footer`` is the last line of
    the comments below that are indented into its suite, ``last`` if there are
    none. A function's clause lists its docstring at most.
    """

    kind: Literal["simple", "import", "function", "class", "compound"]
    start: int
    end: int
    first: int
    last: int
    footer: int
    clauses: tuple[Clause, ...] = ()
    name: str = ""
    has_docstring: bool = False
    is_stub: bool = False  # a function whose body is only a docstring or `...`
    binding_decorators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A header and its suite.

    ``key`` is what the suite's statement paths have between the statement's
    own path and the index; ``node`` the path, from the statement, of the
    ``If`` that an ``elif`` is. ``inline`` is the offset of a suite that stands
    on its header's line, else -1.
    """

    word: Literal["head", "match", "elif", "else", "except", "finally", "case"]
    key: StatementPath
    first: int
    header_last: int
    inline: int
    body: tuple[Statement, ...]
    node: StatementPath = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A file's text, its lines, the offsets where they start, and its statements."""

    text: str
    lines: Sequence[str]
    starts: Sequence[int]
    body: tuple[Statement, ...]


@lru_cache(maxsize=_OUTLINES)
def outline_of(text: str) -> Outline:
    r"""Return the outline of ``text``, whose line ends are ``\n``.

    Raises :exc:`SyntaxError` as :func:`ast.parse` does.
    """
    return _Outliner(text).outline()


class _Outliner:
    """Builds the outline of one file from its syntax tree and its lines."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.split("\n")  # not splitlines: a form feed ends no line
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def outline(self) -> Outline:
        tree = ast.parse(self._text)
        return Outline(
            text=self._text,
            lines=self._lines,
            starts=self._starts,
            body=self._statements(tree.body),
        )

    def _offset(self, line: int, column: int) -> int:
        """The character offset of a 1-based line and a UTF-8 byte column."""
        content = self._lines[line - 1]
        if not content.isascii():
            column = len(content.encode()[:column].decode())
        return self._starts[line - 1] + column

    def _statements(self, nodes: Sequence[ast.stmt]) -> tuple[Statement, ...]:
        return tuple(map(self._statement, nodes))

    def _statement(self, node: ast.stmt) -> Statement:
        start, first = self._start(node)
        last = (node.end_lineno or node.lineno) - 1
        end = self._offset(last + 1, node.end_col_offset or 0)
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                documented = _is_docstring(node.body[0])
                return Statement(
                    kind="function",
                    start=start,
                    end=end,
                    first=first,
                    last=last,
                    footer=self._footer(first, last),
                    clauses=(self._function_clause(node, first, documented=documented),),
                    name=node.name,
                    has_docstring=documented,
                    is_stub=len(node.body) == 1 and (documented or _is_ellipsis(node.body[0])),
                    binding_decorators=tuple(_binding_decorators(node)),
                )
            case ast.ClassDef():
                return Statement(
                    kind="class",
                    start=start,
                    end=end,
                    first=first,
                    last=last,
                    footer=self._footer(first, last),
                    clauses=(self._clause("head", ("body",), node.body, first, node),),
                    name=node.name,
                    has_docstring=_is_docstring(node.body[0]),
                )
            case ast.Import() | ast.ImportFrom():
                kind: Literal["import", "simple"] = "import"
            case _:
                clauses = tuple(self._compound_clauses(node, first))
                if clauses:
                    return Statement(
                        kind="compound",
                        start=start,
                        end=end,
                        first=first,
                        last=last,
                        footer=self._footer(first, last),
                        clauses=clauses,
                    )
                kind = "simple"
        return Statement(kind=kind, start=start, end=end, first=first, last=last, footer=last)

    def _start(self, node: ast.stmt) -> tuple[int, int]:
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        if decorators:
            # A decorator's position is its expression's; `@` may stand lines before it.
            first = decorators[0].lineno - 1
            while not self._lines[first].lstrip().startswith("@"):
                first -= 1
            start = self._text.index("@", self._starts[first])
        else:
            start = self._offset(node.lineno, node.col_offset)
            first = node.lineno - 1
        while first and self._lines[first - 1].strip() == "\\":
            first -= 1  # the indentation that counts is that of the continued line
        return start, first

    def _footer(self, first: int, last: int) -> int:
        width = _width(self._lines[first])
        footer, line = last, last + 1
        while line < len(self._lines):
            content = self._lines[line].lstrip()
            if content.startswith("#"):
                if _width(self._lines[line]) <= width:
                    break
                footer = line
            elif content:
                break
            line += 1
        return footer

    def _function_clause(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, first: int, *, documented: bool
    ) -> Clause:
        clause = self._clause("head", ("body",), node.body[:1], first, node)
        if documented:
            return clause
        return Clause(
            word="head",
            key=clause.key,
            first=first,
            header_last=clause.header_last,
            inline=clause.inline,
            body=(),
        )

    def _compound_clauses(self, node: ast.stmt, first: int) -> Iterator[Clause]:
        match node:
            case ast.If():
                yield self._clause("head", ("body",), node.body, first, node)
                yield from self._else_if_clauses(node)
            case ast.For() | ast.AsyncFor() | ast.While():
                yield self._clause("head", ("body",), node.body, first, node)
                yield from self._final_clause("else", ("orelse",), node.orelse, node.body)
            case ast.With() | ast.AsyncWith():
                yield self._clause("head", ("body",), node.body, first, node)
            case ast.Try() | ast.TryStar():
                yield self._clause("head", ("body",), node.body, first, None)
                previous = node.body
                for index, handler in enumerate(node.handlers):
                    at = self._next_header(previous)
                    key = ("handlers", index, "body")
                    yield self._clause("except", key, handler.body, at, handler)
                    previous = handler.body
                yield from self._final_clause("else", ("orelse",), node.orelse, previous)
                previous = node.orelse or previous
                yield from self._final_clause("finally", ("finalbody",), node.finalbody, previous)
            case ast.Match():
                yield from self._match_clauses(node, first)

    def _else_if_clauses(self, node: ast.If) -> Iterator[Clause]:
        path: StatementPath = ()
        while node.orelse:
            inner = node.orelse[0]
            if isinstance(inner, ast.If) and self._text.startswith(
                "elif", self._offset(inner.lineno, inner.col_offset)
            ):
                path += ("orelse", 0)
                at = self._next_header(node.body)
                yield self._clause("elif", (*path, "body"), inner.body, at, inner, path)
                node = inner
            else:
                key = (*path, "orelse")
                yield from self._final_clause("else", key, node.orelse, node.body)
                return

    def _match_clauses(self, node: ast.Match, first: int) -> Iterator[Clause]:
        at = node.subject.end_lineno or node.lineno
        while not self._lines[at].lstrip().startswith("case"):
            at += 1
        bound = (node.subject.end_lineno or node.lineno) - 1
        last = self._header_last(at, bound)
        yield Clause(word="match", key=(), first=first, header_last=last, inline=-1, body=())
        for index, case in enumerate(node.cases):
            yield self._clause("case", ("cases", index, "body"), case.body, at, case)
            at = self._next_header(case.body)

    def _final_clause(
        self,
        word: Literal["else", "finally"],
        key: StatementPath,
        body: Sequence[ast.stmt],
        previous: Sequence[ast.stmt],
    ) -> Iterator[Clause]:
        if body:
            yield self._clause(word, key, body, self._next_header(previous), None)

    def _next_header(self, previous: Sequence[ast.stmt]) -> int:
        """The line of the first code below a suite (or the end of the file)."""
        line = previous[-1].end_lineno or 0
        while line < len(self._lines) and is_blank_or_comment(self._lines[line]):
            line += 1
        return line

    def _header_last(self, below: int, bound: int) -> int:
        """The last line of a header that ends at ``bound`` or after, above ``below``."""
        line = below - 1
        while line > bound and is_blank_or_comment(self._lines[line]):
            line -= 1
        return line

    def _clause(
        self,
        word: Literal["head", "elif", "else", "except", "finally", "case"],
        key: StatementPath,
        body: Sequence[ast.stmt],
        first: int,
        header: ast.AST | None,
        node: StatementPath = (),
    ) -> Clause:
        statements = self._statements(body)
        start, below = statements[0].start, statements[0].first
        line, column = _header_end(header)
        bound = max(line - 1, first)
        inline = -1
        if self._text[self._starts[below] : start].strip(" \t\f\\\n"):
            inline, header_last = start, below
        else:
            header_last = self._header_last(below, bound)
            content = self._lines[header_last]
            if content.endswith("\\"):
                at = self._offset(line, column) - self._starts[line - 1] if line else 0
                if "#" not in (content[at:] if header_last == line - 1 else content):
                    inline = start
        return Clause(
            word=word,
            key=key,
            first=first,
            header_last=header_last,
            inline=inline,
            body=statements,
            node=node,
        )


def _header_end(node: ast.AST | None) -> tuple[int, int]:
    """The 1-based line and byte column where the expressions of a header end."""
    end = (0, 0)
    pending: list[ast.AST] = [] if node is None else [node]
    while pending:
        for name, value in ast.iter_fields(pending.pop()):
            if name in _SUITES:
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.arguments | ast.withitem | ast.keyword):
                    pending.append(child)
                elif line := getattr(child, "end_lineno", None):
                    end = max(end, (line, getattr(child, "end_col_offset", 0)))
    return end


_SUITES = frozenset({"body", "orelse", "handlers", "finalbody", "cases", "decorator_list"})


def _binding_decorators(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """The decorators without which a name bound by ``def`` is another kind of thing."""
    for decorator in node.decorator_list:
        match decorator:
            case ast.Name(id="staticmethod" | "classmethod" | "property" as name):
                yield name
            case ast.Attribute(value=ast.Name(id=owner), attr="setter" | "getter" | "deleter") if (
                owner == node.name
            ):
                yield f"{owner}.{decorator.attr}"


def _is_docstring(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def _is_ellipsis(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant(value=value)):
            return value is ...
    return False


def is_blank_or_comment(line: str) -> bool:
    """Whether a line between two statements holds no code."""
    content = line.lstrip()
    return not content or content.startswith("#")


def indent_of(line: str) -> str:
    """The white space that a line begins with."""
    found = _INDENT.match(line)
    return found.group() if found else ""


def _width(line: str) -> int:
    return len(indent_of(line).rpartition("\f")[2].expandtabs(8))
