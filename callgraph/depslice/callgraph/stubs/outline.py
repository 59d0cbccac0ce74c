"""Where a stub file says what: its top-level names, found without parsing all of it.

A stub has long classes of which a program uses two, so only the statements that
declare a wanted name are parsed (:mod:`depslice.callgraph.stubs.reading`). What
starts in the column of its block starts a statement; files in which that need not be
so (those with text in triple quotes) are parsed as a whole.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Final, TypeAlias

from depslice.callgraph.stubs.names import VERSION

Place: TypeAlias = tuple[int, int, bool]
"""A half-open range of characters with a statement, and whether it is indented."""
Import: TypeAlias = tuple[int, str, str | None]
"""Level, module, and the name taken from it (``None``: the module itself)."""

_STATEMENT: Final = re.compile(
    r"(?:async\s+)?(?:class|def)\s+(\w+)|(import|from)\b|(if|try|with)\b|(\w+)\s*[:=]"
)
_INNER: Final = re.compile(r"(?:[ \t]*(?:#.*)?\n)*([ \t]+)")


@dataclass(slots=True)
class Outline:
    """The names of one stub module: where each is declared, or what it is imported from."""

    places: dict[str, list[Place]] = field(default_factory=dict)
    imports: dict[str, Import] = field(default_factory=dict)
    stars: list[tuple[int, str]] = field(default_factory=list)

    def dump(self) -> object:
        """Plain data for the cache."""
        return self.places, self.imports, self.stars

    @classmethod
    def load(cls, plain: object) -> Outline:
        """The inverse of :meth:`dump`."""
        assert isinstance(plain, tuple)
        return cls(*plain)


def outline_of(text: str) -> Outline:
    r"""The outline of a stub (or source) file.

    >>> outline_of("from a import b\ndef f() -> int: ...\nclass C:\n    x: int\n").places
    {'f': [(16, 38, False)], 'C': [(38, 57, False)]}

    :raises SyntaxError: the file, or a part that had to be parsed, is no Python.
    """
    outline = Outline()
    if '"""' in text or "'''" in text:
        _add_text(outline, text, 0)
        return outline
    imports: list[str] = []
    _scan(outline, imports, text, 0, len(text), "")
    _add_text(outline, "".join(imports), 0)
    return outline


def _scan(
    outline: Outline, imports: list[str], text: str, start: int, end: int, indent: str
) -> None:
    """Add the statements that stand at ``indent`` in a range; text of imports is collected."""
    margin = len(indent)
    for first, last in _statements(text, start, end, indent):
        place = first + margin
        if text.startswith("@", place):
            decorated = _decorated(indent).search(text, first, last)
            place = place if decorated is None else decorated.start() + margin
        match = _STATEMENT.match(text, place)
        if match is None:
            continue
        defined, imported, compound, bound = match.groups()
        if imported:
            lines = text[first:last].splitlines(keepends=True)
            imports.extend(line.removeprefix(indent) for line in lines)
        elif compound:
            if not _scan_branches(outline, imports, text, first, last, indent):
                chunk = text[first:last]
                _add_text(outline, f"if 1:\n{chunk}" if indent else chunk, first, bool(indent))
        else:
            outline.places.setdefault(defined or bound, []).append((first, last, margin > 0))


def _scan_branches(
    outline: Outline, imports: list[str], text: str, start: int, end: int, indent: str
) -> bool:
    """Add what the branches of an ``if`` that can be taken declare; false if it is another."""
    heads = list(_heads(indent).finditer(text, start, end))
    if not all(head[1] in ("if", "elif", "else") for head in heads):
        return False
    ends = [*(head.start() for head in heads[1:]), end]
    inner = _INNER.match(text, heads[0].end()) if heads and heads[0].start() == start else None
    if inner is None:
        return False
    for head, last in zip(heads, ends, strict=True):
        holds = True if head[1] == "else" else _condition_of(head[2].strip())
        if holds is not False:
            _scan(outline, imports, text, head.end(), last, inner[1])
        if holds:
            break
    return True


@cache
def _heads(indent: str) -> re.Pattern[str]:
    return re.compile(
        rf"^{indent}(if|elif|else|try|except|finally|with)\b(.*):[ \t]*(?:#.*)?\n", re.MULTILINE
    )


@cache
def _decorated(indent: str) -> re.Pattern[str]:
    return re.compile(rf"^{indent}(?:async|class|def)\b", re.MULTILINE)


@cache
def _starts(indent: str) -> re.Pattern[str]:
    """What starts a statement at ``indent``; group 1: it goes on with what stands before."""
    return re.compile(
        rf"^{indent}(?:@.*\n(?:(?!{indent}[A-Za-z_]).*\n)*.|(else|elif|except|finally)\b|[A-Za-z_])",
        re.MULTILINE,
    )


@cache
def _condition_of(text: str) -> bool | None:
    try:
        body = parse(text).body
    except SyntaxError:
        return None
    return condition(body[0].value) if body and isinstance(body[0], ast.Expr) else None


def _statements(text: str, start: int, end: int, indent: str) -> Iterator[tuple[int, int]]:
    """Half-open ranges of characters: each a statement with its decorators."""
    first = -1
    for match in _starts(indent).finditer(text, start, end):
        if match[1]:
            continue
        if first >= 0:
            yield first, match.start()
        first = match.start()
    if first >= 0:
        yield first, end


def parse(text: str) -> ast.Module:
    """The syntax tree; warnings about odd literals are not ours to give."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _add_text(outline: Outline, text: str, offset: int, wrapped: bool = False) -> None:
    """Parse ``text``, which stands at ``offset`` of the file (but for a line put before it)."""
    starts = [0]
    offset -= len("if 1:\n") if wrapped else 0
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    _add_statements(outline, parse(text).body, [start + offset for start in starts])


def _add_statements(outline: Outline, body: list[ast.stmt], starts: list[int]) -> None:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                _add(outline, name, node, starts)
            case ast.ClassDef(name=name):
                _add(outline, name, node, starts)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                _add(outline, name, node, starts)
            case ast.Import(names=names):
                for alias in names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    module = alias.name if alias.asname else bound
                    outline.imports[bound] = (0, module, None)
            case ast.ImportFrom(module=module, names=names, level=level):
                for alias in names:
                    if alias.name == "*":
                        outline.stars.append((level, module or ""))
                    else:
                        outline.imports[alias.asname or alias.name] = (
                            level,
                            module or "",
                            alias.name,
                        )
            case ast.If(test=test, body=inner, orelse=other):
                holds = condition(test)
                if holds is not False:
                    _add_statements(outline, inner, starts)
                if holds is not True:
                    _add_statements(outline, other, starts)
            case ast.Try(body=inner, handlers=handlers, orelse=other):
                _add_statements(outline, inner, starts)
                _add_statements(outline, other, starts)
                for handler in handlers:
                    _add_missing(outline, handler.body, starts)
            case ast.With(body=inner):
                _add_statements(outline, inner, starts)
            case _ if type(node).__name__ == "TypeAlias":  # Python 3.12
                _add(outline, node.name.id, node, starts)  # type: ignore[attr-defined]


def _add(outline: Outline, name: str, node: ast.stmt, starts: list[int]) -> None:
    decorators = getattr(node, "decorator_list", None)
    first = min([node.lineno, *(d.lineno for d in decorators or ())])
    place = (starts[first - 1], starts[node.end_lineno or node.lineno], node.col_offset > 0)
    outline.places.setdefault(name, []).append(place)


def _add_missing(outline: Outline, body: list[ast.stmt], starts: list[int]) -> None:
    """What an ``except`` branch binds where the ``try`` did not."""
    other = Outline()
    _add_statements(other, body, starts)
    for name, places in other.places.items():
        if name not in outline.imports:
            outline.places.setdefault(name, places)
    for name, what in other.imports.items():
        if name not in outline.places:
            outline.imports.setdefault(name, what)


def listed_names(text: str) -> frozenset[str] | None:
    r"""What ``__all__`` of a file lists; ``None`` where it is not spelt out.

    >>> sorted(listed_names("__all__ = ['a']\nif 1:\n    __all__ += ['b']\n"))
    ['a', 'b']
    """
    try:
        return frozenset(_listed(parse(text).body))
    except (SyntaxError, ValueError, RecursionError):
        return None


def _listed(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id="__all__")], value=value)
                | ast.AnnAssign(target=ast.Name(id="__all__"), value=ast.expr() as value)
                | ast.AugAssign(target=ast.Name(id="__all__"), value=value)
            ):
                yield from ast.literal_eval(value)
            case ast.If(test=test, body=inner, orelse=other):
                holds = condition(test)
                yield from _listed(inner if holds is not False else other)


def condition(test: ast.expr) -> bool | None:
    """What a test says on the Python that stubs are read for, on Linux; ``None`` if unknown.

    Version and platform tests are those of PEP 484; ``TYPE_CHECKING`` holds.
    """
    match test:
        case ast.Constant(value=int(value)):
            return bool(value)
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = condition(operand)
            return None if inner is None else not inner
        case ast.BoolOp(op=op, values=values):
            found = [condition(value) for value in values]
            decisive = isinstance(op, ast.Or)
            if decisive in found:
                return decisive
            return None if None in found else not decisive
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _comparison(ast.unparse(left), op, right)
        case ast.Call(func=ast.Attribute(attr="startswith", value=value), args=[argument]):
            if ast.unparse(value) == "sys.platform" and isinstance(argument, ast.Constant):
                return "linux".startswith(str(argument.value))
    return None


def _comparison(left: str, op: ast.cmpop, right: ast.expr) -> bool | None:
    try:
        value = ast.literal_eval(right)
    except ValueError:
        return None
    match left, op:
        case "sys.platform", ast.Eq():
            return bool(value == "linux")
        case "sys.platform", ast.NotEq():
            return bool(value != "linux")
        case "sys.version_info" | "sys.version_info[:2]", ast.GtE():
            return bool(value <= VERSION)
        case "sys.version_info" | "sys.version_info[:2]", ast.Lt():
            return bool(value > VERSION)
        case "sys.version_info[0]", ast.GtE():
            return bool(value <= VERSION[0])
        case "sys.version_info[0]", ast.Eq():
            return bool(value == VERSION[0])
    return None
