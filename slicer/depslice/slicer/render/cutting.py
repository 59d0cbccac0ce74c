"""Cutting one source file down to the statements a slice keeps.

Kept code is copied as text, never printed from a tree, so formatting,
comments and decorators survive by construction. Two things make that fast:
the outline of a file (where its statements, suites and headers lie) depends on
its text alone and is remembered between cuts, and nothing is parsed a second
time except the few statements that change inside, which are imports that lose
names and variables shown in a smaller form. LibCST, whose import alone costs
more than cutting a hundred files, is loaded only for an import statement that
loses names and has comments between them.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from depslice.slicer.cut import FileCut, Form, StatementPath
from depslice.slicer.render.imports import Segment, cut_import, with_noqa
from depslice.slicer.render.outline import (
    Clause,
    Outline,
    Statement,
    indent_of,
    is_blank_or_comment,
    outline_of,
)

_COOKIE = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")  # PEP 263
_JOIN = re.compile(r"(?:[ \t\f]|\\\n)*;(?:[ \t\f]|\\\n)*")


def cut_file(cut: FileCut) -> str:
    r"""Return the text of ``cut.path`` with only the kept statements in it.

    >>> cut_file(FileCut(path="m.py", module="m", is_package=False,
    ...     text="import os, re\n\nA = 1  # one\nB = 2\n",
    ...     keep=frozenset({("body", 0), ("body", 1)}),
    ...     aliases={("body", 0): frozenset({"re"})}))
    'import re\n\nA = 1  # one\n'

    What is kept is what :class:`~depslice.slicer.cut.FileCut` says. Beyond it:

    * The comment block directly above a kept statement stays, as do comments
      on its lines and those indented into its suite. Banners, licence headers
      (where a file begins with them, also several lines directly above an import),
      the shebang and the encoding cookie go.
    * Between kept statements there are two blank lines around top-level
      definitions, one around members, otherwise at most one. Nothing changes
      inside a kept statement, nor in a class or compound statement all of
      which is kept. Line ends are ``\n``.
    * The docstring of a kept class is kept, except in ``undocumented``; that of
      the module when its path is in ``keep``.
    * An emptied suite becomes ``pass``; an emptied ``else`` or ``finally``
      goes (a ``finally`` without handlers cannot). All handlers of a ``try``
      and all cases of a ``match`` stay, since they decide what runs.
    * A name in ``reexports`` is written so that Ruff's F401 is silent:
      ``from x import y as y`` where Python allows it, else ``# noqa: F401``.
    * Forms. ``signature`` of a function is its decorators, header, docstring
      and ``...``; of a class its header, docstring, kept fields and the
      signatures of its kept methods; of a variable ``NAME: annotation = ...``.
      ``name`` is ``def f(*args, **kwargs): ...`` (of the decorators, those of
      static and class methods and properties stay), ``class C: ...``,
      ``NAME = ...``. A form holds for all that stands inside, except what has
      a form of its own; for that a class keeps its header, whatever its form. Statements that build a variable's value without binding
      it (``X.append(1)``) have no smaller form and go.

    The result parses whenever ``cut.text`` does, and ends with a newline
    unless it is empty. ``cut.text`` must be text that :func:`ast.parse`
    accepts, as it was for whoever made the paths; otherwise its
    :exc:`SyntaxError` comes through.
    """
    if not cut.keep:
        return ""
    text = cut.text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _Cutter(cut, outline_of(text)).module()


class _Piece(NamedTuple):
    """Text for statements that stand together, and the lines they came from."""

    text: str
    is_definition: bool
    first: int
    last: int
    after_blank: bool = False  # a blank line stood between it and the piece before it


class _Cutter:
    """Carries out one cut over one outline."""

    def __init__(self, cut: FileCut, outline: Outline) -> None:
        self._cut = cut
        self._keep = cut.keep
        self._text = outline.text
        self._lines = outline.lines
        self._starts = outline.starts
        self._body = outline.body
        # By suite, so that a few statements of a large file are not looked for among all.
        self._kept_in: dict[StatementPath, list[int]] = {}
        for *suite, at in cut.keep:
            if isinstance(at, int):
                self._kept_in.setdefault(tuple(suite), []).append(at)
        # What in a class has a form of its own; such a class is never its name alone.
        self._inside: dict[StatementPath, set[StatementPath]] = {}
        for path in cut.forms:
            for length in range(2, len(path), 2) if path in cut.keep else ():
                self._inside.setdefault(path[:length], set()).add(path[length : length + 2])

    def module(self) -> str:
        pieces = self._suite(self._body, ("body",), above=-1, form=Form.FULL)
        text = _without_file_headers(_join(pieces, around_definitions=2))
        return f"{text}\n" if text else ""

    # statements

    def _suite(
        self,
        body: Sequence[Statement],
        path: StatementPath,
        *,
        above: int,
        form: Form,
        has_docstring: bool = False,
    ) -> list[_Piece]:
        """The pieces of a suite. ``above`` is the last line before it."""
        pieces: list[_Piece] = []
        kept = sorted({*self._kept_in.get(path, ()), *([0] if has_docstring else [])})
        stop = 0
        for at in kept:
            if at < stop:  # with the one before it
                continue
            index, stop = self._line_of(body, at)
            if index:
                above = body[index - 1].footer
            here = kept[bisect_left(kept, index) : bisect_left(kept, stop)]
            piece = self._piece(body, path, index, stop, here, above=above, form=form)
            if piece is not None:
                pieces.append(self._after(pieces[-1], piece) if pieces else piece)
        return pieces

    def _line_of(self, body: Sequence[Statement], at: int) -> tuple[int, int]:
        """The statements that semicolons join with this one: the first, and the one behind them."""
        index, stop = at, at + 1
        while index > 0 and self._joined(body[index - 1], body[index]):
            index -= 1
        while stop < len(body) and self._joined(body[stop - 1], body[stop]):
            stop += 1
        return index, stop

    def _joined(self, statement: Statement, following: Statement) -> bool:
        """Whether a semicolon is all that stands between two statements."""
        if statement.clauses or following.clauses:
            return False
        found = _JOIN.match(self._text, statement.end)
        return found is not None and found.end() == following.start

    def _after(self, before: _Piece, piece: _Piece) -> _Piece:
        edges = {before.last + 1, piece.first - 1} - {before.last, piece.first}
        return piece._replace(after_blank=any(not self._lines[at].strip() for at in edges))

    def _piece(
        self,
        body: Sequence[Statement],
        path: StatementPath,
        index: int,
        stop: int,
        kept: Sequence[int],
        *,
        above: int,
        form: Form,
    ) -> _Piece | None:
        statement = body[index]
        first = statement.first
        if statement.clauses:
            own = (*path, index)
            shown = self._cut.forms.get(own, form)
            text = self._block_statement(statement, own, form=shown)
        else:
            line_start = self._starts[first]
            text = self._simple_statements(
                self._text[line_start : statement.start],
                [body[at] for at in range(index, stop)],
                path,
                index,
                kept,
            )
            shown = Form.FULL
        if not text:
            return None
        if shown is not Form.NAME:
            comments = self._comments_above(first, above)
            starts_file = statement.kind == "import" and above < 0 and first == len(comments)
            if comments and not (starts_file and _is_of_file(comments)):
                first -= len(comments)
                text = "\n".join((*comments, text))
        return _Piece(
            text=text,
            is_definition=statement.kind in {"function", "class"},
            first=first,
            last=body[stop - 1].footer,
        )

    def _comments_above(self, line: int, above: int) -> Sequence[str]:
        top = line
        while top - 1 > above and self._lines[top - 1].lstrip().startswith("#"):
            top -= 1
        return self._lines[top:line]

    def _verbatim(self, statement: Statement) -> str:
        lines = self._lines[statement.first : statement.footer + 1]
        return _without_continuation(
            "\n".join(lines), statement.end - self._starts[statement.first]
        )

    def _is_whole(self, statement: Statement, path: StatementPath) -> bool:
        """Whether all of a kept statement is kept, as it is."""
        if self._cut.forms.get(path, Form.FULL) is not Form.FULL:
            return False
        match statement.kind:
            case "simple" | "function":
                return True
            case "import":
                return self._import(statement, path) == Segment(self._source(statement))
        return all(self._is_whole_clause(statement, clause, path) for clause in statement.clauses)

    def _is_whole_clause(self, statement: Statement, clause: Clause, path: StatementPath) -> bool:
        if clause.node and (*path, *clause.node) not in self._keep:
            return False
        for at, child in enumerate(clause.body):
            own = (*path, *clause.key, at)
            if at == 0 and statement.has_docstring:
                if path in self._cut.undocumented:
                    return False
                continue
            if own not in self._keep or not self._is_whole(child, own):
                return False
        return True

    def _source(self, statement: Statement) -> str:
        return self._text[statement.start : statement.end]

    def _block_statement(self, statement: Statement, path: StatementPath, *, form: Form) -> str:
        if form is Form.FULL and self._is_whole(statement, path):
            return self._verbatim(statement)
        if statement.kind == "compound":
            return self._compound(statement, path, form=form)
        if form is Form.NAME and not self._has_forms_inside(statement, path):
            return self._name_only(statement)
        if statement.kind == "class":
            return self._compound(statement, path, form=form)
        return self._signature(statement)

    def _has_forms_inside(self, statement: Statement, path: StatementPath) -> bool:
        inside = self._inside.get(path, set())
        return bool(inside - {("body", 0)} if statement.has_docstring else inside)

    def _name_only(self, statement: Statement) -> str:
        indent = indent_of(self._lines[statement.first])
        if statement.kind == "class":
            return f"{indent}class {statement.name}: ..."
        decorators = "".join(f"{indent}@{name}\n" for name in statement.binding_decorators)
        return f"{decorators}{indent}def {statement.name}(*args, **kwargs): ..."

    def _signature(self, statement: Statement) -> str:
        if statement.is_stub:
            return self._verbatim(statement)
        clause = statement.clauses[0]
        docstring = [self._source(child) for child in clause.body]
        if clause.inline >= 0:
            header = self._text[self._starts[clause.first] : clause.inline]
            return header + "; ".join((*docstring, "..."))
        header = "\n".join(self._lines[clause.first : clause.header_last + 1])
        indent = self._body_indent(clause, statement)
        return "\n".join((header, *(f"{indent}{line}" for line in (*docstring, "..."))))

    def _body_indent(self, clause: Clause, statement: Statement) -> str:
        if clause.body:
            return indent_of(self._lines[clause.body[0].first])
        outer = indent_of(self._lines[statement.first])
        line = clause.header_last + 1
        while line <= statement.last and is_blank_or_comment(self._lines[line]):
            line += 1
        return indent_of(self._lines[line]) if line <= statement.last else f"{outer}    "

    # clauses

    def _compound(self, statement: Statement, path: StatementPath, *, form: Form) -> str:
        has_handlers = any(clause.word == "except" for clause in statement.clauses)
        texts: list[str] = []
        above = statement.first - 1
        for clause in statement.clauses:
            if clause.node and (*path, *clause.node) not in self._keep:
                break
            suite = self._clause_suite(statement, clause, path, form=form)
            is_optional = clause.word == "else" or (clause.word == "finally" and has_handlers)
            if suite or not is_optional:
                if texts:
                    texts.extend(self._header_comments(clause, above))
                texts.append(self._with_header(clause, suite, form=form))
            if clause.body:
                above = clause.body[-1].footer
        return "\n".join(texts)

    def _header_comments(self, clause: Clause, above: int) -> Iterator[str]:
        indent = indent_of(self._lines[clause.first])
        for comment in self._comments_above(clause.first, above):
            if indent_of(comment) == indent:
                yield comment

    def _clause_suite(
        self, statement: Statement, clause: Clause, path: StatementPath, *, form: Form
    ) -> str:
        """The text of a clause's suite; for one on the header's line, header included."""
        own = (*path, *clause.key)
        documented = statement.has_docstring and path not in self._cut.undocumented
        if clause.inline < 0:
            pieces = self._suite(
                clause.body,
                own,
                above=clause.header_last,
                form=form,
                has_docstring=documented and form is not Form.NAME,
            )
            return _join(pieces, around_definitions=1)
        kept = [
            at
            for at in range(len(clause.body))
            if (*own, at) in self._keep or (documented and at == 0)
        ]
        header = self._text[self._starts[clause.first] : clause.inline]
        return self._simple_statements(header, clause.body, own, 0, kept) if kept else ""

    def _with_header(self, clause: Clause, suite: str, *, form: Form) -> str:
        if clause.inline >= 0:
            header = self._text[self._starts[clause.first] : clause.inline]
            return suite or f"{header}{'pass' if form is Form.FULL else '...'}"
        header = "\n".join(self._lines[clause.first : clause.header_last + 1])
        if clause.word == "match":
            return header
        if not suite:
            indent = indent_of(self._lines[clause.body[0].first])
            suite = f"{indent}{'pass' if form is Form.FULL else '...'}"
        return f"{header}\n{suite}"

    # simple statements

    def _simple_statements(
        self,
        prefix: str,
        group: Sequence[Statement],
        path: StatementPath,
        index: int,
        kept: Sequence[int],
    ) -> str:
        """Statements that share a line after ``prefix`` (an indentation or a header).

        ``index`` is the position of the first of ``group`` in its suite,
        ``kept`` the positions of those to keep. Empty if nothing is left.
        """
        segments: list[Segment] = []
        is_changed = len(kept) < len(group)
        for at in kept:
            statement = group[at - index]
            segment = self._segment(statement, (*path, at))
            is_changed = is_changed or segment != Segment(self._source(statement))
            if segment is not None:
                segments.append(segment)
        if not segments:
            return ""
        end = group[-1].end
        line_end = self._starts[group[-1].last + 1] - 1
        if not is_changed:
            body = self._text[group[0].start : line_end]
            return prefix + _without_continuation(body, end - group[0].start)
        text = prefix + "; ".join(segment.text for segment in segments)
        padding, hash_sign, comment = self._text[end:line_end].partition("#")
        comment = (hash_sign + comment).rstrip()
        if all(segment.drop_comment for segment in segments):
            comment = ""
        if any(segment.mark for segment in segments):
            comment = with_noqa(comment)
        if not comment:
            return text
        return f"{text}{padding if padding.isspace() else '  '}{comment}"

    def _segment(self, statement: Statement, path: StatementPath) -> Segment | None:
        if statement.kind == "import":
            return self._import(statement, path)
        source = self._source(statement)
        form = self._cut.forms.get(path, Form.FULL)
        if form is Form.FULL:
            return Segment(source)
        reduced = _reduced(source, form)
        return Segment(reduced, drop_comment=form is Form.NAME) if reduced else None

    def _import(self, statement: Statement, path: StatementPath) -> Segment | None:
        cut = self._cut
        if path not in cut.aliases and path not in cut.stars and path not in cut.reexports:
            return Segment(self._source(statement))
        return cut_import(
            self._source(statement),
            indent=indent_of(self._lines[statement.first]),
            kept=cut.aliases.get(path),
            stars=cut.stars.get(path, frozenset()),
            reexports=cut.reexports.get(path, frozenset()),
            run=cut.runs.get(path),
            submodules=cut.submodules.get(path, {}),
        )


def _join(pieces: Sequence[_Piece], *, around_definitions: int) -> str:
    texts = [piece.text for piece in pieces[:1]]
    for before, piece in pairwise(pieces):
        if before.is_definition or piece.is_definition:
            texts += [""] * around_definitions
        elif piece.after_blank:
            texts.append("")
        texts.append(piece.text)
    return "\n".join(texts)


def _without_file_headers(text: str) -> str:
    """Leave out shebang and encoding cookie, and any comment that has become one."""
    while True:
        lines = text.split("\n", 2)[:2]
        if lines[0].startswith("#!") or _COOKIE.match(lines[0]):
            text = text.partition("\n")[2]
        elif len(lines) == 2 and is_blank_or_comment(lines[0]) and _COOKIE.match(lines[1]):
            text = lines[0] + text[len(lines[0]) + 1 + len(lines[1]) :]
        else:
            return text


def _is_of_file(comments: Sequence[str]) -> bool:
    """Whether comments that a file begins with, above an import, are about the file: one line of
    them may be about the import.
    """
    return sum(not (each.startswith("#!") or _COOKIE.match(each)) for each in comments) > 1


def _without_continuation(text: str, end: int) -> str:
    """Drop a backslash after ``end`` that would join the text to what comes next."""
    rest = text[end:]
    if rest.endswith("\\") and "#" not in rest:
        return text[:end]
    return text


def _reduced(source: str, form: Form) -> str:
    """A statement that builds a variable, in a smaller form; empty if it binds none."""
    node = ast.parse(source).body[0]
    match node:
        case ast.AnnAssign(target=ast.Name(id=name)):
            if form is Form.NAME:
                return f"{name} = ..."
            if node.value is None:
                return source
            annotation = ast.get_source_segment(source, node.annotation)
            if annotation and "\n" in annotation:  # was parenthesised, or holds brackets
                annotation = f"({annotation})"
            return f"{name}: {annotation} = ..."
        case ast.Assign():
            names = [
                name.id
                for target in node.targets
                for name in ast.walk(target)
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
            ]
            return " = ".join((*names, "...")) if names else ""
        case ast.Expr(value=ast.Constant(value=str())):  # a docstring
            return source
        case ast.AnnAssign() | ast.AugAssign() | ast.Expr() | ast.Delete():
            return ""
    alias: ast.AST | None = getattr(node, "name", None)  # `type X = ...`, Python 3.12
    if form is Form.NAME and isinstance(alias, ast.Name):
        return f"{alias.id} = ..."
    return source
