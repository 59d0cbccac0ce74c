"""``depslice graph``: who refers to whom, as text, data or a picture."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

import click

from depslice.callgraph.counting import counted
from depslice.cli.notes import Notes
from depslice.cli.numbers import Whole
from depslice.cli.opening import opened
from depslice.cli.options import (
    Command,
    Output,
    Repository,
    complete_names,
    complete_target,
    format_option,
    output_options,
    repository_options,
    target_argument,
)
from depslice.cli.results import json_rows, json_text, write_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypedDict

    from depslice.callgraph import Program
    from depslice.callgraph.graph import Direction, ReferenceGraph, Selection
    from depslice.callgraph.tracing import Trace

    class _Making(TypedDict):
        resolvers: Sequence[str]
        workers: int | None
        progress: Callable[[int, int], None]
        options: Mapping[str, str]


_FORMATS = ("text", "json", "pycg", "dot", "mermaid", "graphml", "html")
# What is data has everything by default; pictures and text are for the repository.
_WITH_EXTERNALS = frozenset({"json", "pycg", "graphml"})


def _resolvers() -> list[str]:
    from depslice.callgraph.resolvers import resolver_names

    return ["own", *resolver_names()]


@click.command(
    cls=Command,
    examples=(
        "depslice graph . package.module:function --depth 2",
        "depslice graph . function --callers",
        "depslice graph . --format html -o graph.html",
        "depslice graph . --explain package.a:caller package.b:callee",
    ),
)
@repository_options
@target_argument(required=False)
@format_option(*_FORMATS)
@click.option(
    "--kind",
    type=click.Choice(["call", "all"]),
    default="call",
    show_default=True,
    help="Calls, or all references: reads, bases, decorators, annotations...",
)
@click.option("--callers", is_flag=True, help="What refers to TARGET, not what it refers to.")
@click.option(
    "--depth",
    type=Whole(min=0),
    metavar="N",
    help="At most so many steps from TARGET.  [default: any number]",
)
@click.option(
    "--certainty",
    type=click.Choice(["definite", "likely", "possible"]),
    default="likely",
    show_default=True,
    help="References at least so certain: definite for the fewest wrong ones, possible for "
    "the fewest missing ones.",
)
@click.option(
    "--externals/--no-externals",
    default=None,
    help="With what lies outside the repository.  [default: in json, pycg, graphml]",
)
@click.option(
    "--resolver",
    "resolvers",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_names(_resolvers),
    help="own, jedi, pycg or a plug-in's; several are merged.  [default: own]",
)
@click.option(
    "--pycg-python",
    type=click.Path(),
    metavar="PATH",
    help="The Python that has PyCG, for --resolver pycg.",
)
@click.option(
    "--compare",
    "trace_path",
    type=click.Path(),
    metavar="TRACE",
    help="Compare with the calls of a run (`depslice trace`): as text or json.",
)
@click.option(
    "--explain",
    nargs=2,
    default=None,
    metavar="CALLER CALLEE",
    shell_complete=complete_target,
    help="Tell how the call between the two was found: sites, rules, values.",
)
@output_options
def graph(
    *,
    repository: Repository,
    target: str | None,
    format_: str,
    kind: str,
    callers: bool,
    depth: int | None,
    certainty: str,
    externals: bool | None,
    resolvers: tuple[str, ...],
    pycg_python: str | None,
    trace_path: str | None,
    explain: tuple[str, str] | None,
    output: Output,
) -> None:
    """Show the call graph of REPO, or the part of it around TARGET.

    As text: under each function what it calls (a "?" marks what is only possible),
    or with TARGET, a tree of calls.
    """
    from depslice.callgraph import build_graph, find_symbol
    from depslice.callgraph.references import build_around

    run = None if trace_path is None else _read_run(trace_path, target=target, format_=format_)
    if explain is not None and (target or callers or depth is not None or resolvers or run):
        raise click.UsageError(
            "--explain is about one call that depslice itself found: no TARGET, --callers,"
            " --depth, --resolver or --compare"
        )
    if target is None and (callers or depth is not None):
        raise click.UsageError("--callers and --depth need a TARGET")
    if externals is None:
        externals = format_ in _WITH_EXTERNALS
    selection = _selection("pycg" if format_ == "pycg" else kind, certainty, externals=externals)
    notes = Notes(output)
    gc.disable()  # what is made here is needed to the end; walking it is a fifth of the time
    if explain is not None:
        _explain(repository, notes, explain, format_=format_, output=output)
        return
    with opened(repository, notes) as program:
        start = None if target is None else find_symbol(program, target)
        # What other resolvers do with the files is no reading.
        with notes.progress("files" if {*resolvers} - {"own"} else "reading files") as told:

            def progress(done: int, total: int) -> None:
                told(done, total, "making the call graph" if done == total else "")

            making: _Making = {
                "resolvers": resolvers or ("own",),
                "workers": repository.workers,
                "progress": progress,
                "options": {} if pycg_python is None else {"pycg.python": pycg_python},
            }
            if start is None:
                found = build_graph(program, **making)
            else:
                direction: Direction = "sources" if callers else "targets"
                found = build_around(
                    program, start.id, selection, direction=direction, depth=depth, **making
                )
        if run is not None:
            write_result(output, _compared(program, found, run, format_=format_, output=output))
            return
        part = found if start is not None else found.select(selection)
        if start is not None and callers:
            part = _called_from_outside(part, start.id)
        title = os.path.basename(os.path.abspath(repository.path))
        write_result(
            output,
            _rendered(
                part,
                format_,
                starts=[] if start is None else part.inside(start.id),
                callers=callers,
                title=title,
                externals=externals,
            ),
        )
    edges = sum(1 for _ in part.references())
    notes.say(f"{counted(len(part.symbols), 'symbol')}, {counted(edges, 'reference')}")


def _explain(
    repository: Repository,
    notes: Notes,
    ends: tuple[str, str],
    *,
    format_: str,
    output: Output,
) -> None:
    """Write how the call from the first to the second of ``ends`` was found.

    Exits with 1 if the graph has no such call.
    """
    from depslice.callgraph import find_symbol
    from depslice.callgraph.explaining import explain_call
    from depslice.cli.explanation import explanation_document, explanation_text

    if format_ not in ("text", "json"):
        raise click.UsageError("--explain has --format text and json")
    with opened(repository, notes) as program:
        caller, callee = (find_symbol(program, end) for end in ends)
        derivations = explain_call(program, caller.id, callee.id)
        if format_ == "json":
            text = json_text(explanation_document(caller.id, callee.id, derivations))
        else:
            text = explanation_text(program, caller.id, callee.id, derivations)
        write_result(output, text)
    if not derivations:
        raise click.exceptions.Exit(1)


def _read_run(path: str, *, target: str | None, format_: str) -> Trace:
    """The trace that ``--compare`` names.

    :raises TraceError: it cannot be read, is none, or has no calls.
    """
    from depslice.callgraph.tracing.trace import TraceError, read_trace

    if target is not None:
        raise click.UsageError("--compare is about all of REPO, and takes no TARGET")
    if format_ not in ("text", "json"):
        raise click.UsageError("--compare has --format text and json")
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        run = read_trace(text)
    except TraceError as error:
        raise TraceError(f"{path}: {error.message}", hint=error.hint) from None
    except OSError as error:
        raise TraceError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise TraceError(f"not a trace: {path} is not UTF-8 text") from None
    if not run.calls:
        raise TraceError(
            f"{path} has no calls: nothing was recorded",
            hint="--root of `depslice trace` names whose calls are recorded",
        )
    return run


def _compared(
    program: Program, graph: ReferenceGraph, run: Trace, *, format_: str, output: Output
) -> str:
    from depslice.callgraph.tracing.comparing import compare, comparison_document
    from depslice.callgraph.tracing.trace import TraceError
    from depslice.cli.comparison import comparison_text

    found = compare(program, graph, run)
    if found.unknown == len(run.calls):
        raise TraceError(
            f"no call of the trace ({found.unknown:,}) is of this repository",
            hint="REPO must be what `depslice trace --root` named, with the same source",
        )
    if format_ == "json":
        return json_text(comparison_document(found))
    return comparison_text(found, every=output.verbose)


def _selection(kind: str, certainty: str, *, externals: bool) -> Selection:
    """The references that the options ask for."""
    from depslice.callgraph.graph import Selection
    from depslice.callgraph.model import Certainty, ReferenceKind

    kinds = {
        "call": frozenset({ReferenceKind.CALL}),
        # Decorators are calls there, and bases outside the repository have constructors.
        "pycg": frozenset({ReferenceKind.CALL, ReferenceKind.DECORATE, ReferenceKind.INHERIT}),
    }.get(kind)
    return Selection(kinds=kinds, least=Certainty(certainty), externals=externals)


def _called_from_outside(graph: ReferenceGraph, target: str) -> ReferenceGraph:
    """Code inside of the target is its own: it refers to it only where it names the very target."""
    own = set(graph.inside(target))
    return graph.where(
        lambda each: each.target == target or each.source not in own or each.target not in own
    )


def _rendered(
    graph: ReferenceGraph,
    format_: str,
    *,
    starts: list[str],
    callers: bool,
    title: str,
    externals: bool,
) -> str | Iterator[str]:
    from depslice.callgraph import export

    match format_:
        case "json":
            return json_rows(export.json_parts(graph))
        case "pycg":
            return json_text(export.export_pycg(graph, externals=externals))
        case "dot":
            return export.export_dot(graph, externals=externals)
        case "mermaid":
            return export.export_mermaid(graph, externals=externals)
        case "graphml":
            return export.export_graphml(graph)
        case "html":
            return export.export_html(graph, title=title, externals=externals, starts=starts)
        case _:
            from depslice.cli.outline import outline_graph, outline_tree

            return outline_tree(graph, starts, callers=callers) if starts else outline_graph(graph)
