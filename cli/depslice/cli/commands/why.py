"""``depslice why``: the chain of references that put a symbol into a slice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from depslice.cli.failures import Finished
from depslice.cli.notes import Notes
from depslice.cli.opening import opened
from depslice.cli.options import Command, Output, Repository, output_options, repository_options
from depslice.cli.results import json_text, write_result

if TYPE_CHECKING:
    from depslice.callgraph import Program
    from depslice.callgraph.model import Symbol
    from depslice.slicer import Item, Slice, Step

WHY_SCHEMA = "depslice.why/1"
_NEAREST = 5


@click.command(cls=Command)
@repository_options
@click.argument("target")
@click.argument("symbol")
@click.option(
    "--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True
)
@click.option("--whole-classes", is_flag=True, help="As for `slice`.")
@output_options
def why(
    *,
    repository: Repository,
    target: str,
    symbol: str,
    format_: str,
    whole_classes: bool,
    output: Output,
) -> None:
    """Show why SYMBOL is in the slice of TARGET.

    Exit code 1 when it is not.
    """
    from depslice.callgraph import find_symbol
    from depslice.slicer import slice_symbols

    notes = Notes(output)
    with opened(repository, notes) as program:
        wanted = find_symbol(program, target)
        asked = find_symbol(program, symbol)
        found = slice_symbols(program, [wanted.id], whole_classes=whole_classes)
        item = _item(found, asked)
        document = _document(program, found, wanted=wanted, asked=asked, item=item)
        write_result(output, json_text(document) if format_ == "json" else _text(document))
    if item is None:
        raise Finished(1)


def _item(found: Slice, asked: Symbol) -> Item | None:
    """The item that ``asked`` is, or is a part of: a nested function, an item of a class."""
    items = {item.symbol.id: item for item in found.items}
    identifier = asked.id
    while identifier not in items:
        shorter = identifier.rpartition(".")[0]
        if ":" not in shorter:
            return None
        identifier = shorter
    # Nested definitions belong to the function that holds them; members of a class do not.
    inside = asked.id[len(identifier) :]
    return items[identifier] if not inside or inside.startswith(".<locals>") else None


def _document(
    program: Program, found: Slice, *, wanted: Symbol, asked: Symbol, item: Item | None
) -> dict[str, Any]:
    return {
        "schema": WHY_SCHEMA,
        "target": wanted.id,
        "symbol": asked.id,
        "in_slice": item is not None,
        "item": None if item is None else item.symbol.id,
        "distance": None if item is None else item.distance,
        "chain": [] if item is None else [_step(program, step) for step in item.reason],
        "nearest": _nearest(found, asked) if item is None else [],
    }


def _step(program: Program, step: Step) -> dict[str, Any]:
    return {
        "source": step.source,
        "target": step.target,
        "kind": step.kind.value,
        "certainty": step.certainty.value,
        "evidence": step.evidence,
        "path": step.path,
        "line": step.site.line,
        "column": step.site.column,
        "text": _source_line(program, step),
    }


def _source_line(program: Program, step: Step) -> str:
    file = program.by_path.get(step.path)
    module = None if file is None else program.module(file.module)
    lines = [] if module is None else program.text(module).split("\n")
    return lines[step.site.line - 1].strip() if 0 < step.site.line <= len(lines) else ""


def _nearest(found: Slice, asked: Symbol) -> list[str]:
    """Items whose names are like the one asked for, those of its module and class first."""
    import difflib

    ids = [item.symbol.id for item in found.items]
    holder = asked.id.rpartition(".")[0] if "." in asked.qualname else f"{asked.module}:"
    close = difflib.get_close_matches(asked.id, ids, n=_NEAREST, cutoff=0)
    siblings = [each for each in ids if each.startswith(holder)]
    return list(dict.fromkeys([*siblings[:_NEAREST], *close]))[:_NEAREST]


def _text(document: Mapping[str, Any]) -> str:
    target, symbol, item = document["target"], document["symbol"], document["item"]
    if item is None:
        lines = [f"{symbol} is not in the slice of {target}"]
        lines += [f"  nearest: {near}" for near in document["nearest"]]
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
    return "\n".join(lines) + "\n"
