"""The body of the flat file: the edited statements, in order, module by module."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from depslice.slicer.render.flatten_imports import ImportPlan
from depslice.slicer.render.flatten_names import EntityKind, Source
from depslice.slicer.render.flatten_order import Unit
from depslice.slicer.render.flatten_plan import KNOWN_ATTRIBUTES, FlatPlan
from depslice.slicer.render.flatten_positions import SourceBytes
from depslice.slicer.render.flatten_scopes import Place, Scope, Use
from depslice.slicer.render.flatten_spelled import keys_of_globals


def body_regions(plan: FlatPlan) -> Iterator[str]:
    """The statements of the flat file, one part per stretch of one module.

    Some parts are empty. Each starts with a comment that names the file.
    """
    return _Body(plan).regions()


@dataclass(slots=True, eq=False)
class _Edits:
    """Replacements in the bytes of one module."""

    source: SourceBytes
    found: list[tuple[int, int, bytes]] = field(default_factory=list)

    def replace(self, span: tuple[int, int] | None, text: str) -> None:
        if span is not None and self.source.data[span[0] : span[1]] != text.encode():
            self.found.append((*span, text.encode()))

    def apply(self, start: int, end: int) -> str:
        """The text of a byte range with its replacements made; ``found`` must be sorted."""
        data = self.source.data
        parts: list[bytes] = []
        for first, last, text in self.found[bisect_left(self.found, (start, 0, b"")) :]:
            if first > end or last > end:
                break
            parts += data[start:first], text
            start = max(start, last)
        parts.append(data[start:end])
        return b"".join(parts).decode()


class _Body:
    def __init__(self, plan: FlatPlan) -> None:
        self._plan = plan

    def regions(self) -> Iterator[str]:
        texts = {source.module: self._unit_texts(source) for source in self._plan.sources}
        yield from self._region_texts(self._plan.order.units, texts, set())

    def _region_texts(
        self, units: list[Unit], texts: dict[str, list[str]], blocks: set[str]
    ) -> Iterator[str]:
        """The text of a run of statements, one part per stretch of one module."""
        current, region = "", ""
        for unit in units:
            source = self._plan.program.sources[unit.module]
            block = source.block_units.get(unit.number)
            if unit in self._plan.dropped or block in blocks:
                continue
            if block is not None:
                blocks.add(block)
            text = texts[unit.module][unit.number]
            if "\0" in text:
                text = self._fill(text, texts, blocks)
            if not text.strip():
                continue
            if unit.module != current:
                yield region
                current, region = unit.module, f"# --- {source.cut.path}\n\n{text.lstrip(chr(10))}"
            else:
                region += text
        yield region

    def _fill(self, text: str, texts: dict[str, list[str]], blocks: set[str]) -> str:
        """Put inlined modules where the imports that run them were."""
        lines: list[str] = []
        for line in text.split("\n"):
            mark = line.strip()
            if not mark.startswith("\0"):
                lines.append(line)
                continue
            number = int(mark.split("\0")[1])
            parts = self._region_texts(self._plan.order.inlined[number], texts, blocks)
            inner = "\n\n".join(part.strip("\n") for part in parts if part.strip())
            indent = line[: len(line) - len(line.lstrip())]
            lines += _indented(inner, indent) or [f"{indent}pass"]
        return "\n".join(lines)

    def _unit_texts(self, source: Source) -> list[str]:
        """The edited text of each top-level statement, with the comments above it."""
        data = SourceBytes(source.scopes.text)
        edits = _Edits(data)
        self._edit_names(source, edits)
        self._edit_unbound(source, edits)
        self._edit_keys_of_globals(source, edits)
        self._edit_imports(source, edits)
        self._edit_declarations(source, edits)
        if self._plan.spelled_lazy and source.scopes.lazy_annotations:
            self._edit_annotations(source, edits)
        body = source.scopes.tree.body
        if (
            "__doc__" in source.scopes.scope.bound
            and ast.get_docstring(source.scopes.tree) is not None
        ):
            program = self._plan.program
            entity = program.resolve(source.module, "__doc__")
            start, _ = data.span(body[0])
            if entity is not None and entity.flat:
                edits.replace((start, start), f"{entity.flat} = ")
            if source.module in self._plan.standins:
                standin = program.module_entity(source.module).flat
                edits.replace((start, start), f"{standin}.__doc__ = ")
        edits.found = sorted(set(edits.found))
        texts: list[str] = []
        before = self._shadowed(source)
        previous = 0  # the last line that is used up
        for index, statement in enumerate(body):
            first, last = _first_line(statement), statement.end_lineno or 0
            follower = _first_line(body[index + 1]) if index + 1 < len(body) else last + 1
            if first > previous and follower > last:
                start, end = data.line_start(previous + 1), data.line_start(last + 1)
            else:  # several statements on one line
                start, end = data.span(statement)
            text = edits.apply(start, end).rstrip("\n") + "\n"
            if index in before:
                rest = text.lstrip("\n")
                text = text[: len(text) - len(rest)] + before[index] + rest
            texts.append(text)
            previous = last
        return texts

    def _edit_names(self, source: Source, edits: _Edits) -> None:
        for use, (entity, consumed, imported_here) in self._plan.meanings[source.module]:
            rest = use.chain[consumed:]
            if entity.kind is EntityKind.MODULE and rest and rest[0].attr in KNOWN_ATTRIBUTES:
                known = rest[0].attr
                span = edits.source.chain_span(use, consumed + 1)
                if known == "__name__":
                    known = _literal(entity.module, use, edits.source, span)
                edits.replace(span, known)
                continue
            if not entity.flat or not self._plan.live(source, use.unit):
                continue
            if not consumed and entity.flat == use.name and not imported_here:
                continue
            edits.replace(edits.source.chain_span(use, consumed), entity.flat)
            if use.place is Place.DEFINITION:
                start = edits.source.offset(*use.start)
                line = edits.source.line_start(use.start[0])
                indent = edits.source.data[line:start].decode()
                if not indent.strip():
                    edits.replace((line, line), f'{indent}@{self._plan.named.flat}("{use.name}")\n')

    def _edit_unbound(self, source: Source, edits: _Edits) -> None:
        package = source.module if source.cut.is_package else source.module.rpartition(".")[0]
        for name, value in (("__name__", source.module), ("__package__", package)):
            for owner, use in self._plan.program.unbound.get(name, ()):
                if owner is source and id(use.node) not in source.scopes.runtime_names:
                    span = edits.source.name_span(use)
                    edits.replace(span, _literal(value, use, edits.source, span))
        for owner, use in self._plan.program.unbound.get("__path__", ()):
            if owner is source and use.fstring is None:
                edits.replace(edits.source.name_span(use), '[__file__.rpartition("/")[0]]')

    def _shadowed(self, source: Source) -> dict[int, str]:
        """What has names that a builtin has too be the builtin until they are bound, if ever."""
        lines: dict[int, str] = {}
        for name, unit in self._plan.shadowed[source.module].items():
            entity = self._plan.program.resolve_global(source, name)
            if entity is not None and entity.flat not in ("", name):
                lines[unit] = f"{lines.get(unit, '')}{entity.flat} = {name}\n"
        return lines

    def _edit_keys_of_globals(self, source: Source, edits: _Edits) -> None:
        renamed: dict[str, str] | None = None
        for key, name in keys_of_globals(source.scopes):
            if name is None:
                renamed = self._plan.renamed_in(source) if renamed is None else renamed
                if renamed:
                    table = ", ".join(f'"{each}": "{flat}"' for each, flat in renamed.items())
                    start, end = edits.source.span(key)
                    edits.replace((start, start), f"(lambda name: {{{table}}}.get(name, name))(")
                    edits.replace((end, end), ")")
                continue
            entity = self._plan.program.resolve_global(source, name)
            if entity is not None and entity.flat not in ("", name):
                edits.replace(edits.source.span(key), f'"{entity.flat}"')

    def _edit_annotations(self, source: Source, edits: _Edits) -> None:
        """Spell annotations as the texts that ``from __future__ import annotations`` makes of them."""
        for node in source.scopes.annotations:
            start, end = edits.source.span(node)
            opening, closing = _quotes(edits.source.data[start:end].decode())
            edits.replace((start, start), opening)
            edits.replace((end, end), closing)

    def _edit_imports(self, source: Source, edits: _Edits) -> None:
        plans = [
            one
            for one in self._plan.imports[source.module]
            if self._plan.live(source, one.statement.unit) and not one.unchanged
        ]
        gone = {id(one.statement.node) for one in plans if not one.lines()}
        for plan in plans:
            node, suite = plan.statement.node, plan.statement.suite
            if id(node) not in gone:
                self._replace_statement(plan, edits)
                continue
            keeps = any(id(one) not in gone for one in suite)
            if suite is source.scopes.tree.body:
                edits.replace(edits.source.span(node), "")
            elif keeps or node is not suite[0]:
                self._delete_statement(node, edits)
            else:
                edits.replace(edits.source.span(node), "pass")

    def _replace_statement(self, plan: ImportPlan, edits: _Edits) -> None:
        data, node = edits.source, plan.statement.node
        alone = _alone(node, data)
        lines = plan.lines(alone=alone)
        start, end = data.span(node)
        indent = data.data[data.line_start(node.lineno) : start].decode()
        separator = f"\n{indent}" if alone else "; "
        if not alone:  # a comment would swallow what follows on the line
            lines = [line.partition("  #")[0] for line in lines]
        noqa = "  # noqa: F401" if alone and b"noqa" in data.data[start:end] else ""
        edits.replace((start, end), separator.join(lines) + noqa)

    def _delete_statement(self, node: ast.stmt, edits: _Edits) -> None:
        data = edits.source
        if _alone(node, data):
            edits.replace(
                (data.line_start(node.lineno), data.line_start((node.end_lineno or 0) + 1)), ""
            )
        else:
            edits.replace(data.span(node), "pass")

    def _edit_declarations(self, source: Source, edits: _Edits) -> None:
        """Declare ``global X`` where ``m.X = 1`` has become ``X = 1``."""
        wanted: dict[Scope, set[str]] = {}
        for use, (entity, consumed, _) in self._plan.meanings[source.module]:
            written = use.stores and consumed and consumed == len(use.chain)
            if written and use.scope.parent is not None and entity.kind is EntityKind.OWN:
                wanted.setdefault(use.scope, set()).add(entity.flat)
            elif written and entity.kind is EntityKind.OWN:
                self._excuse_patch(use.start[0], edits)
        for scope, names in wanted.items():
            declared = {
                meaning.entity.flat
                for use, meaning in self._plan.meanings[source.module]
                if use.place is Place.DECLARATION and use.scope is scope
            }
            missing = sorted(names - declared)
            if missing:
                self._declare(scope.node, f"global {', '.join(missing)}", edits)

    def _excuse_patch(self, line: int, edits: _Edits) -> None:
        """``m.f = g`` was no redefinition; ``f = g`` is one, and means to be."""
        data = edits.source
        start, end = data.line_start(line), data.line_start(line + 1)
        text = data.data[start:end].rstrip()
        if (
            text
            and not text.endswith(b"\\")
            and b'"""' not in text
            and b"'''" not in text
            and b"#" not in text
        ):
            place = start + len(text)
            edits.replace((place, place), "  # noqa: F811")

    def _declare(self, node: ast.AST, statement: str, edits: _Edits) -> None:
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        documented = ast.get_docstring(node, clean=False) is not None
        first = node.body[1 if documented and len(node.body) > 1 else 0]
        data = edits.source
        line = _first_line(first)
        start = data.line_start(line)
        column = data.offset(line, min(first.col_offset, _indent(first, data)))
        indent = data.data[start:column]
        if indent.strip():  # `def f(): m.X = 1`
            at = data.offset(first.lineno, first.col_offset)
            edits.replace((at, at), f"{statement}; ")
        else:
            edits.replace((start, start), f"{indent.decode()}{statement}\n")


def _indented(text: str, indent: str) -> list[str]:
    """The lines of some statements, indented where they do not continue a string."""
    inside: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
        ):
            inside.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
    return [
        line if number in inside or not line else indent + line
        for number, line in enumerate(text.split("\n"), 1)
        if text
    ]


def _literal(value: str, use: Use, data: SourceBytes, span: tuple[int, int] | None) -> str:
    """A string literal that may stand where ``use`` stands, in ``span``; else what stands there.

    Before Python 3.12 what delimits an f-string may stand nowhere within it.
    """
    if use.fstring is None or span is None:
        return f'"{value}"'
    start, end = data.span(use.fstring)
    before, after = data.data[start : span[0]].decode(), data.data[span[1] : end].decode()
    for quote in sorted("\"'", key=lambda each: before.find(each) % (end - start), reverse=True):
        literal = f"{quote}{value}{quote}"
        if _is_expression(f"({before}{literal}{after})"):
            return literal
    return data.data[slice(*span)].decode()


def _quotes(text: str) -> tuple[str, str]:
    """What makes an expression a text, which may be evaluated: before it, and behind it."""
    raw = "r" if "\\" in text else ""
    for quote in ('"', "'") if "\n" not in text else ():
        if quote not in text:
            return f"{raw}{quote}", quote
    quote = '"""' if '"""' not in text else "'''"
    # Only where it must: dataclasses look for `ClassVar` where such a text begins.
    if text.endswith(quote[0]) or not _is_expression(text):
        return f"{raw}{quote}(", f"){quote}"
    return f"{raw}{quote}", quote


def _is_expression(text: str) -> bool:
    """Whether it is one as it stands: lines end within brackets alone."""
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])


def _indent(statement: ast.stmt, data: SourceBytes) -> int:
    """The column a statement starts at, that of ``@`` when it is decorated."""
    line = _first_line(statement)
    if line == statement.lineno:
        return statement.col_offset
    start = data.line_start(line)
    return data.data.index(b"@", start) - start


def _alone(node: ast.stmt, data: SourceBytes) -> bool:
    """Whether a statement has its lines to itself, comments aside."""
    start, end = data.span(node)
    before = data.data[data.line_start(node.lineno) : start]
    after = data.data[end : data.line_start((node.end_lineno or 0) + 1)].strip()
    return not before.strip() and (not after or after.startswith(b"#"))
