"""Where a stub file says what: its top-level names, found without parsing all of it.

A stub has long classes of which a program uses two, so only the statements that
declare a wanted name are parsed (:mod:`depslice.callgraph.stubs.reading`). What
starts in column 0 starts a statement; files in which that need not be so (those
with text in triple quotes) are parsed as a whole.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from depslice.callgraph.stubs.names import VERSION

Place: TypeAlias = tuple[int, int, bool]
"""First and last line of a statement (from 1), and whether it is indented."""
Import: TypeAlias = tuple[int, str, str | None]
"""Level, module, and the name taken from it (``None``: the module itself)."""

_STATEMENT: Final = re.compile(
    r"(?:async\s+)?(?:class|def)\s+(\w+)|(import|from)\b|(if|try|with)\b|(\w+)\s*[:=]"
)
_CONTINUES: Final = ("else", "elif", "except", "finally")


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
    """The outline of a stub (or source) file.

    >>> outline_of("from a import b\\ndef f() -> int: ...\\nclass C:\\n    x: int\\n").places
    {'f': [(2, 2, False)], 'C': [(3, 4, False)]}

    :raises SyntaxError: the file, or a part that had to be parsed, is no Python.
    """
    outline = Outline()
    if '"""' in text or "'''" in text:
        _add_statements(outline, parse(text).body)
        return outline
    lines = text.splitlines()
    imports: list[str] = []
    for start, end in _statements(lines):
        heading = next((i for i in range(start, end) if lines[i][0:1] not in "@) ]}#"), start)
        match = _STATEMENT.match(lines[heading])
        if match is None:
            continue
        defined, imported, compound, bound = match.groups()
        if imported:
            imports.extend(lines[start:end])
        elif compound:
            tree = parse("\n".join(lines[start:end]))
            ast.increment_lineno(tree, start)
            _add_statements(outline, tree.body)
        else:
            outline.places.setdefault(defined or bound, []).append((start + 1, end, False))
    _add_statements(outline, parse("\n".join(imports)).body)
    return outline


def _statements(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Half-open ranges of lines: each a top-level statement with its decorators."""
    start = -1
    decorated = False
    for number, line in enumerate(lines):
        first = line[:1]
        if not (first.isalpha() or first in ("_", "@")):
            continue
        if decorated or line.startswith(_CONTINUES):
            decorated = first == "@"
            continue
        if start >= 0:
            yield start, number
        start = number
        decorated = first == "@"
    if start >= 0:
        yield start, len(lines)


def parse(text: str) -> ast.Module:
    """The syntax tree; warnings about odd literals are not ours to give."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _add_statements(outline: Outline, body: list[ast.stmt]) -> None:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                _add(outline, name, node)
            case ast.ClassDef(name=name):
                _add(outline, name, node)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                _add(outline, name, node)
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
                    _add_statements(outline, inner)
                if holds is not True:
                    _add_statements(outline, other)
            case ast.Try(body=inner, handlers=handlers, orelse=other):
                _add_statements(outline, inner)
                _add_statements(outline, other)
                for handler in handlers:
                    _add_missing(outline, handler.body)
            case ast.With(body=inner):
                _add_statements(outline, inner)
            case _ if type(node).__name__ == "TypeAlias":  # Python 3.12
                _add(outline, node.name.id, node)  # type: ignore[attr-defined]


def _add(outline: Outline, name: str, node: ast.stmt) -> None:
    decorators = getattr(node, "decorator_list", None)
    first = min([node.lineno, *(d.lineno for d in decorators or ())])
    place = (first, node.end_lineno or node.lineno, node.col_offset > 0)
    outline.places.setdefault(name, []).append(place)


def _add_missing(outline: Outline, body: list[ast.stmt]) -> None:
    """What an ``except`` branch binds where the ``try`` did not."""
    other = Outline()
    _add_statements(other, body)
    for name, places in other.places.items():
        if name not in outline.imports:
            outline.places.setdefault(name, places)
    for name, what in other.imports.items():
        if name not in outline.places:
            outline.imports.setdefault(name, what)


def condition(test: ast.expr) -> bool | None:
    """What a test says on the Python that stubs are read for, on Linux; ``None`` if unknown.

    Version and platform tests are those of PEP 484; ``TYPE_CHECKING`` holds.
    """
    match test:
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
