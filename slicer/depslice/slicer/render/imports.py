"""Cutting one import statement down to the names a slice keeps."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

_NOQA = r"#\s*noqa\b(?P<colon>\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*))?"
NO_SUBMODULES: Final[Mapping[str, Sequence[str]]] = MappingProxyType({})
_LINE_LENGTH = 88  # of import statements that have to be laid out anew


class Segment(NamedTuple):
    """A simple statement's text; ``mark`` asks for ``# noqa: F401`` on its last line."""

    text: str
    mark: bool = False
    drop_comment: bool = False


class _Name(NamedTuple):
    """An imported name as written, with the comments above it and beside it."""

    text: str
    above: tuple[str, ...] = ()
    beside: str = ""


def cut_import(
    source: str,
    *,
    indent: str,
    kept: frozenset[str] | None,
    stars: frozenset[str],
    reexports: frozenset[str],
    run: str | None = None,
    submodules: Mapping[str, Sequence[str]] = NO_SUBMODULES,
) -> Segment | None:
    """Return an import statement with only the bound names ``kept`` (``None``: all).

    ``source`` is the statement's text from its first character on, ``indent``
    what stands before it on its line. ``stars`` are the names that replace a
    ``*``, ``reexports`` the bound names that linters must not call unused.
    Where no name is left, it is the statement ``run``; ``None`` if there is none either.
    ``submodules`` are imported too, by the bound name of their package.
    """
    if run is not None and not kept:
        return Segment(run, mark=run.startswith("import "))
    node = ast.parse(source).body[0]
    if isinstance(node, ast.Import):
        aliases = [a for a in node.names if kept is None or _bound(a, dotted=True) in kept]
        if not aliases:
            return None
        mark = any(_bound(a, dotted=True) in reexports and a.asname != a.name for a in aliases)
        if len(aliases) == len(node.names) and not submodules:
            return Segment(source, mark)
        # `import xml as x, xml.etree` binds `xml`, which nothing reads.
        mark = mark or any(a.asname is not None and a.asname in submodules for a in aliases)
        left = dict(submodules)
        written = [text for alias in aliases for text in _with_submodules(alias, left)]
        return Segment("import " + ", ".join(written), mark)
    assert isinstance(node, ast.ImportFrom)
    header = f"from {'.' * node.level}{node.module or ''} import"
    if node.names[0].name == "*":
        if not stars:
            return Segment(source) if kept is None or kept else None
        explicit_names = (
            f"{name} as {name}" if name in reexports else name for name in sorted(stars)
        )
        return Segment(_laid_out(header, list(map(_Name, explicit_names)), indent))
    aliases = [a for a in node.names if kept is None or _bound(a) in kept]
    if not aliases:
        return None
    # `y as y` is a re-export to every linter; a name that is renamed needs a comment.
    explicit = [a for a in aliases if a.asname is None and a.name in reexports]
    mark = any(a.asname not in {None, a.name} and a.asname in reexports for a in aliases)
    if len(aliases) == len(node.names):
        text = _with_explicit(source, explicit)
    else:
        texts = {id(a): f"{a.name} as {a.name}" if a in explicit else _written(a) for a in aliases}
        if "#" in source:  # an import statement has no strings: this is a comment
            first, names = _with_comments(source, node, texts)
            text = _exploded(header, names, indent, first)
        else:
            longest = max(len(line) for line in source.split("\n"))
            text = _laid_out(header, [_Name(t) for t in texts.values()], indent, longest)
    return _marked(text, indent) if mark else Segment(text)


def _bound(alias: ast.alias, *, dotted: bool = False) -> str:
    return alias.asname or (alias.name.partition(".")[0] if dotted else alias.name)


def _written(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _with_submodules(alias: ast.alias, left: dict[str, Sequence[str]]) -> list[str]:
    """What imports ``alias``, and the modules ``left`` of it; ``import a.b`` binds ``a`` as well."""
    modules = list(left.pop(_bound(alias, dotted=True), ()))
    is_bound = bool(modules) and alias.asname is None and "." not in alias.name
    return modules if is_bound else [_written(alias), *modules]


def _with_explicit(source: str, aliases: Sequence[ast.alias]) -> str:
    lines = source.split("\n")
    for alias in reversed(aliases):
        line = lines[(alias.end_lineno or 1) - 1].encode()
        at = alias.end_col_offset or 0
        lines[(alias.end_lineno or 1) - 1] = (
            line[:at] + f" as {alias.name}".encode() + line[at:]
        ).decode()
    return "\n".join(lines)


def _laid_out(header: str, names: Sequence[_Name], indent: str, limit: int = 0) -> str:
    line = f"{header} {', '.join(name.text for name in names)}"
    if len(indent) + len(line) <= max(_LINE_LENGTH, limit):
        return line
    return _exploded(header, names, indent)


def _exploded(header: str, names: Sequence[_Name], indent: str, comment: str = "") -> str:
    inner = f"{indent}    "
    lines = [f"{header} (  {comment}".rstrip()]
    for name in names:
        lines.extend(f"{inner}{text}" for text in name.above)
        lines.append(f"{inner}{name.text},{'  ' if name.beside else ''}{name.beside}")
    return "\n".join((*lines, f"{indent})"))


def _marked(text: str, indent: str) -> Segment:
    """Put the ``noqa`` where Ruff reads it: on the line that opens the parenthesis."""
    opening, newline, rest = text.partition("\n")
    if not newline or "(" not in text:
        return Segment(text, mark=True)
    if opening.endswith("\\") and "#" not in opening:
        return _marked(re.sub(r"\\\n\s*", "", text, count=1), indent)
    code, hash_sign, comment = opening.partition("#")
    marked = f"{code.rstrip()}  {with_noqa(hash_sign + comment)}"
    return Segment(f"{marked}\n{rest}")


def _with_comments(
    source: str, node: ast.ImportFrom, kept: dict[int, str]
) -> tuple[str, Sequence[_Name]]:
    """The comment after the parenthesis, and the kept names with their comments.

    A comment beside several names of one line goes to the last of them that is
    kept. Without LibCST's grammar for this Python, comments are lost.
    """
    import libcst as cst

    try:
        parsed = cst.parse_statement(source + "\n")
    except cst.ParserSyntaxError:
        return "", [_Name(text) for text in kept.values()]
    statement = parsed.body[0] if isinstance(parsed, cst.SimpleStatementLine) else None
    if (
        not isinstance(statement, cst.ImportFrom)
        or isinstance(statement.names, cst.ImportStar)
        or statement.lpar is None
        or statement.rpar is None
    ):
        return "", [_Name(text) for text in kept.values()]
    opening = statement.lpar.whitespace_after
    first, above = _comments(opening)
    names: list[_Name] = []
    line_start = 0
    for alias, named in zip(node.names, statement.names, strict=True):
        if id(alias) in kept:
            names.append(_Name(kept[id(alias)], above))
        after: cst.BaseParenthesizableWhitespace = statement.rpar.whitespace_before
        if isinstance(named.comma, cst.Comma):
            # Behind the last comma LibCST gives a comment to the comma or to `)`.
            behind = named.comma.whitespace_after
            if alias is not node.names[-1] or isinstance(behind, cst.ParenthesizedWhitespace):
                after = behind
        beside, above = _comments(after)
        if isinstance(after, cst.ParenthesizedWhitespace):
            if beside and len(names) > line_start:
                names[-1] = names[-1]._replace(beside=beside)
            line_start = len(names)
    return first, names


def _comments(whitespace: object) -> tuple[str, tuple[str, ...]]:
    """The comment at the end of a line, and those on the lines below it."""
    import libcst as cst

    if not isinstance(whitespace, cst.ParenthesizedWhitespace):
        return "", ()
    first = whitespace.first_line.comment
    below = (line.comment.value for line in whitespace.empty_lines if line.comment)
    return first.value if first else "", tuple(below)


def with_noqa(comment: str) -> str:
    """The comment, saying also that unused imports are meant."""
    found = re.search(_NOQA, comment, re.IGNORECASE)
    if found is None:
        return f"{comment}  # noqa: F401" if comment else "# noqa: F401"
    if found["colon"] is None and comment[found.end() :].lstrip().startswith(":"):
        return f"# noqa: F401  {comment}"  # the other is malformed, and Ruff reads the first
    if found["colon"] is None or "F401" in re.split(r"[\s,]+", found["codes"].upper()):
        return comment
    return f"{comment[: found.end()]}, F401{comment[found.end() :]}"
