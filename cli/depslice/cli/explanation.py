"""``graph --explain``: how a call was found, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from depslice.callgraph import Program
    from depslice.callgraph.explaining import Derivation

EXPLAIN_SCHEMA = "depslice.explain/1"


def explanation_document(caller: str, callee: str, derivations: list[Derivation]) -> dict[str, Any]:
    """The explanation as plain values: ``docs/formats/json.md``."""
    return {
        "schema": EXPLAIN_SCHEMA,
        "caller": caller,
        "callee": callee,
        "sites": [
            {
                "path": each.path,
                "line": each.site.line,
                "column": each.site.column,
                "rule": each.rule,
                "certainty": each.certainty.value,
                "alternatives": list(each.alternatives),
                "values": [list(values) for values in each.values],
            }
            for each in derivations
        ],
    }


def explanation_text(
    program: Program, caller: str, callee: str, derivations: list[Derivation]
) -> str:
    """The explanation for people: each site with its source line and its values."""
    if not derivations:
        return f"{caller} does not call {callee}, as far as depslice sees\n"
    lines = [f"{caller} -> {callee}"]
    module = program.module(caller.partition(":")[0])
    source = program.text(module).split("\n") if module is not None else []
    for each in derivations:
        line = each.site.line
        lines.append(f"  {each.path}:{line}:{each.site.column}  {each.rule}, {each.certainty}")
        if 0 < line <= len(source):
            lines.append(f"      {source[line - 1].strip()}")
        for place, values in enumerate(each.values):
            what = "callee or receiver" if place == 0 else f"operand {place}"
            lines.append(f"      {what}: {'; '.join(values) or 'nothing known'}")
        others = [other for other in each.alternatives if other != callee]
        if others:
            lines.append(f"      the site may also call: {', '.join(others[:8])}")
    return "\n".join(lines) + "\n"
