"""``depslice why``: the chain of references that put a symbol into a slice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from depslice.callgraph.counting import counted
from depslice.cli.failures import Finished
from depslice.cli.notes import Notes
from depslice.cli.opening import opened
from depslice.cli.options import (
    Command,
    Output,
    Repository,
    format_option,
    guesses_option,
    output_options,
    repository_options,
    target_argument,
    whole_classes_option,
)
from depslice.cli.results import json_text, write_result

if TYPE_CHECKING:
    from depslice.callgraph import Program
    from depslice.callgraph.model import Symbol
    from depslice.slicer import Explanation, Step
    from depslice.slicer.closure import Closure

WHY_SCHEMA = "depslice.why/1"
_EFFECTS = 3


@click.command(
    cls=Command,
    examples=("depslice why . package.module:function package.other:Helper",),
)
@repository_options
@target_argument()
@target_argument("symbol")
@format_option("text", "json")
@guesses_option
@whole_classes_option
@output_options
def why(
    *,
    repository: Repository,
    target: str,
    symbol: str,
    format_: str,
    guesses: int | None,
    whole_classes: bool,
    output: Output,
) -> None:
    """Show why SYMBOL is in the slice of TARGET.

    Exit code 1 when it is not.
    """
    from depslice.callgraph import find_symbol
    from depslice.slicer import explain_symbol
    from depslice.slicer.slicing import slice_with_closure

    notes = Notes(output)
    with opened(repository, notes) as program:
        wanted = find_symbol(program, target)
        asked = find_symbol(program, symbol)
        found, closure = slice_with_closure(
            program, wanted.id, whole_classes=whole_classes, guesses=guesses
        )
        explanation = explain_symbol(found, asked.id)
        document = _document(program, closure, explanation, wanted=wanted)
        document["omitted"] = len(found.omitted)
        write_result(output, json_text(document) if format_ == "json" else _text(document))
    if explanation.item is None:
        raise Finished(1)


def _document(
    program: Program, closure: Closure, explanation: Explanation, *, wanted: Symbol
) -> dict[str, Any]:
    from depslice.slicer.explaining import SourceLines, effects_of

    item, lines = explanation.item, SourceLines(program)
    return {
        "schema": WHY_SCHEMA,
        "target": wanted.id,
        "symbol": explanation.symbol,
        "in_slice": item is not None,
        "item": None if item is None else item.symbol.id,
        "distance": None if item is None else item.distance,
        "chain": [
            _step(step, lines.of(step))
            | {
                "effects": [
                    {
                        "path": each.path,
                        "line": each.line,
                        "text": lines.at(each.path, each.line),
                        "item": each.item,
                    }
                    for each in effects_of(program, closure, [wanted.id], step)
                ]
            }
            for step in explanation.chain
        ],
        "nearest": list(explanation.nearest),
    }


def _step(step: Step, text: str) -> dict[str, Any]:
    return {
        "source": step.source,
        "target": step.target,
        "kind": step.kind.value,
        "certainty": step.certainty.value,
        "evidence": step.evidence,
        "path": step.path,
        "line": step.site.line,
        "column": step.site.column,
        "text": text,
    }


def _text(document: Mapping[str, Any]) -> str:
    target, symbol, item = document["target"], document["symbol"], document["item"]
    if item is None:
        lines = [f"{symbol} is not in the slice of {target}"]
        lines += [f"  nearest: {near}" for near in document["nearest"]]
        if document["omitted"]:
            lines.append(
                f"  {counted(document['omitted'], 'definition')} omitted, with what only they bring:"
                " --guesses any follows all"
            )
        return "\n".join(lines) + "\n"
    lines = []
    if item != symbol:
        lines.append(f"{symbol} is a part of {item}")
    if not document["chain"]:
        lines.append(f"{item} is the target itself")
    for step in document["chain"]:
        how = f"{step['kind']} ({step['certainty']}, {step['evidence']})"
        lines.append(
            f"{step['source']}  --{how}-->  {step['target']}   {step['path']}:{step['line']}"
        )
        if step["text"]:
            lines.append(f"    {step['text']}")
        lines += _effects(step["effects"])
    return "\n".join(lines) + "\n"


def _effects(effects: list[dict[str, Any]]) -> Iterator[str]:
    """The statements that an import is there for, the nearest few."""
    for each in effects[:_EFFECTS]:
        yield f"    runs {each['path']}:{each['line']}, which has an effect on {each['item']}"
        yield f"        {each['text']}"
    if len(effects) > _EFFECTS:
        yield f"    and {counted(len(effects) - _EFFECTS, 'more such statement')}"
