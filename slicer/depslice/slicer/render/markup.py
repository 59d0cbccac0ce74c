"""The ``md`` and ``xml`` renderings: a slice with its reasons, for readers and prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from depslice.callgraph.model import Certainty, ReferenceKind, Span
from depslice.slicer.model import Item, RenderedFile, Slice, Step
from depslice.slicer.render.jsonform import SCHEMA

_VERBS: Mapping[ReferenceKind, str] = {
    ReferenceKind.CALL: "called by",
    ReferenceKind.READ: "read by",
    ReferenceKind.WRITE: "written by",
    ReferenceKind.INHERIT: "base of",
    ReferenceKind.DECORATE: "decorates",
    ReferenceKind.ANNOTATE: "annotates",
    ReferenceKind.IMPORT: "imported by",
}


def render_markdown(sliced: Slice, files: Sequence[RenderedFile]) -> str:
    """Return the slice as a Markdown document (CommonMark with GitHub's tables).

    It has a title, a table of the definitions with their distance from the
    target and why each is there, the external imports, what could not be
    resolved, what was left out, and each file that has text in a fenced block.
    A part with nothing to say is absent. No file's text can end its fence.
    """
    parts = [f"# Slice of {', '.join(map(_code, sliced.targets))}"]
    if sliced.items:
        rows = [
            (_code(item.symbol.id), item.symbol.kind, str(item.distance), item.form, _why(item))
            for item in sliced.items
        ]
        header = ("Definition", "Kind", "Distance", "Form", "Why")
        parts += ["## Definitions", _table(header, rows)]
    if sliced.externals:
        lines = (
            f"- {_code(external.module)}"
            + (f": {', '.join(map(_code, external.names))}" if external.names else "")
            for external in sliced.externals
        )
        parts += ["## External imports", "\n".join(lines)]
    if sliced.unresolved:
        lines = (
            f"- {_code(item.name)} in {_code(item.source)}, line {item.site.line}: {item.reason}"
            for item in sliced.unresolved
        )
        parts += ["## Unresolved", "\n".join(lines)]
    if sliced.omitted:
        lines = (
            f"- {_code(item.symbol)}: {item.why} (distance {item.distance})"
            for item in sliced.omitted
        )
        parts += ["## Omitted", "\n".join(lines)]
    if sliced.diagnostics:
        lines = (
            f"- {item.severity}: {_code(item.path)}{_lines(item.span)}: {_plain(item.message)}"
            for item in sliced.diagnostics
        )
        parts += ["## Diagnostics", "\n".join(lines)]
    shown = [file for file in files if file.text.strip()]
    if shown:
        parts.append("## Files")
    for file in shown:
        fence = "`" * max(3, _longest_run(file.text) + 1)
        text = file.text.removesuffix("\n")
        parts += [f"### {_code(file.path)}", f"{fence}python\n{text}\n{fence}"]
    return "\n\n".join(parts) + "\n"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    # A cell ends at a bar, in a code span too, unless the bar is escaped.
    lines = [header, ["---"] * len(header), *([c.replace("|", "\\|") for c in r] for r in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _why(item: Item) -> str:
    if item.is_target:
        return "target"
    step = item.reason[-1]
    possibly = {Certainty.POSSIBLE: "possibly ", Certainty.LIKELY: "probably "}.get(
        step.certainty, ""
    )
    place = f"{step.path}:{step.site.line}"
    return f"{possibly}{_VERBS[step.kind]} {_code(step.source)} ({_code(place)})"


def _code(text: str) -> str:
    """The text as a code span of one line."""
    text = _plain(text)
    fence = "`" * (_longest_run(text) + 1)
    return f"{fence} {text} {fence}" if len(fence) > 1 else f"`{text}`"


def _plain(text: str) -> str:
    return " ".join(text.split())


def _lines(span: Span | None) -> str:
    if span is None:
        return ""
    return f":{span.start}" if span.start == span.end else f":{span.start}-{span.end}"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall(r"`+", text)), default=0)


def render_xml(sliced: Slice, files: Sequence[RenderedFile]) -> str:
    """Return the slice as a well-formed XML 1.0 document.

    The root is ``<slice>``; its children are, in this order, ``<target>``,
    ``<item>`` with a ``<step>`` for each link of its reason, ``<external>``,
    ``<unresolved>``, ``<omitted>``, ``<diagnostic>`` and ``<document path>``
    with a file's exact text as character data. Their attributes are named like
    the keys of the JSON rendering.

    XML has no way to write control characters: they become Unicode's pictures
    of them (a form feed ``␌``), other code points it forbids ``U+FFFD``.
    """
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<slice schema="{SCHEMA}">']
    lines.extend(_tag("target", id=target) + "/>" for target in sliced.targets)
    for item in sliced.items:
        lines.extend(_item(item))
    lines.extend(
        _tag("external", module=external.module, names=" ".join(external.names)) + "/>"
        for external in sliced.externals
    )
    lines.extend(
        _tag(
            "unresolved",
            source=item.source,
            name=item.name,
            reason=item.reason,
            line=item.site.line,
            column=item.site.column,
        )
        + "/>"
        for item in sliced.unresolved
    )
    lines.extend(
        _tag("omitted", symbol=item.symbol, why=item.why, distance=item.distance) + "/>"
        for item in sliced.omitted
    )
    for diagnostic in sliced.diagnostics:
        start = _tag(
            "diagnostic", slug=diagnostic.slug, severity=diagnostic.severity, path=diagnostic.path
        )
        if diagnostic.span is not None:
            start += f' start="{diagnostic.span.start}" end="{diagnostic.span.end}"'
        lines.append(f"{start}>{_escaped(diagnostic.message)}</diagnostic>")
    for file in files:
        text = _legal(file.text).replace("]]>", "]]]]><![CDATA[>")
        lines.append(f"{_tag('document', path=file.path)}><![CDATA[{text}]]></document>")
    lines.append("</slice>")
    return "\n".join(lines) + "\n"


def _item(item: Item) -> Iterator[str]:
    start = _tag(
        "item",
        id=item.symbol.id,
        kind=item.symbol.kind,
        path=item.symbol.path,
        start=item.symbol.span.start,
        end=item.symbol.span.end,
        distance=item.distance,
        form=item.form,
    )
    if item.is_target:
        yield f"{start}/>"
        return
    yield f"{start}>"
    yield from map(_step, item.reason)
    yield "</item>"


def _step(step: Step) -> str:
    start = _tag(
        "step",
        source=step.source,
        target=step.target,
        kind=step.kind,
        certainty=step.certainty,
        evidence=step.evidence,
        path=step.path,
        line=step.site.line,
        column=step.site.column,
    )
    return f"{start}/>"


def _tag(element: str, /, **attributes: str | int) -> str:
    """A start tag without its ``>``."""
    written = (f' {key}="{_escaped(str(value))}"' for key, value in attributes.items())
    return f"<{element}{''.join(written)}"


_ENTITIES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;"}
)
# XML 1.0, production 2 (Char). A carriage return is legal, yet every parser reads it as
# a line feed.
_ILLEGAL = "[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""Compiled when it is first looked for: so large a set takes a while."""


def _escaped(text: str) -> str:
    return _legal(text).translate(_ENTITIES)


def _legal(text: str) -> str:
    return re.sub(_ILLEGAL, _picture, text)


def _picture(found: re.Match[str]) -> str:
    code = ord(found.group())
    return chr(0x2400 + code) if code < 0x20 else "\N{REPLACEMENT CHARACTER}"
