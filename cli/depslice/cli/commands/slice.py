"""``depslice slice``: what one or several definitions, or each function, depend on."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from depslice.callgraph.counting import counted
from depslice.callgraph.errors import DepsliceError
from depslice.cli.checked import CheckOptions, check_options, check_slice
from depslice.cli.failures import Finished
from depslice.cli.interpreters import Interpreter
from depslice.cli.notes import Notes
from depslice.cli.numbers import Whole
from depslice.cli.opening import find_spelled_targets, opened, refuse_sources
from depslice.cli.options import (
    Command,
    Output,
    Repository,
    format_option,
    guesses_option,
    output_options,
    repository_options,
    target_argument,
    tokenizer_option,
    whole_classes_option,
)
from depslice.cli.results import (
    json_text,
    refuse_without_parent,
    result_stream,
    write_result,
)

if TYPE_CHECKING:
    from depslice.callgraph import Program
    from depslice.callgraph.model import Symbol
    from depslice.slicer import Context, Item, Slice

SLICES_SCHEMA = "depslice.slices/1"
_MANY = 200  # definitions, of which most people would want fewer
_FOUND = "definitions found"
_LONG = "this takes long: --budget TOKENS and --depth N show what is nearest, in less time"
_FORMATS = ("bundle", "tree", "module", "json", "md", "xml")


@click.command(
    "slice",
    cls=Command,
    examples=(
        "depslice slice . package.module:function",
        "depslice slice . src/package/module.py:120 --budget 4000",
        "depslice slice . Class.method --format tree -o slice/",
        "depslice slice . function --check --repair",
    ),
)
@repository_options
@target_argument("targets", nargs=-1, required=False, metavar="TARGET...")
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Slice each function and method, but those inside functions: one line of JSON for "
    "each, as they come.",
)
@format_option(
    *_FORMATS,
    help="bundle: files in one text. tree: files under their own paths (-o FOLDER). "
    "module: one runnable file.",
)
@click.option(
    "--depth",
    type=Whole(min=0),
    metavar="N",
    help="At most so many references away.  [default: any number]",
)
@click.option(
    "--budget",
    type=Whole(min=1),
    metavar="TOKENS",
    help="At most so many tokens, as a bundle; the nearest first, the target always.",
)
@click.option(
    "--certainty",
    type=click.Choice(["definite", "likely", "possible"]),
    default="possible",
    show_default=True,
    help="Follow references at least so certain. likely: no guesses. definite: no callbacks or "
    "overrides either. Smaller, and something may be missing.",
)
@guesses_option
@click.option(
    "--strategy",
    type=click.Choice(["naive", "full", "sliced"]),
    default="sliced",
    show_default=True,
    help="The target alone, its file and those it imports, or its slice.",
)
@click.option(
    "--usages",
    type=Whole(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Add so many callers and tests that show how it is used.",
)
@whole_classes_option
@tokenizer_option(default="characters/4")
@click.option(
    "--force",
    is_flag=True,
    help="Write into a folder that holds files; replace those of the same name.",
)
@check_options
@output_options
def slice_(
    *,
    repository: Repository,
    targets: tuple[str, ...],
    every: bool,
    format_: str,
    depth: int | None,
    budget: int | None,
    certainty: str,
    guesses: int | None,
    strategy: str,
    usages: int,
    whole_classes: bool,
    tokenizer: str,
    force: bool,
    check: bool,
    repair: bool,
    sandbox: str | None,
    unsafe_no_sandbox: bool,
    calls: str | None,
    check_python: str | None,
    make_environment: bool,
    check_seconds: int,
    report: str | None,
    output: Output,
) -> None:
    """Show all that TARGET needs of REPO, and nothing else.

    Several targets give one slice of them all.
    """
    if every == bool(targets):
        raise click.UsageError("give TARGETs, or --all" + (", not both" if every else ""))
    checking = CheckOptions(
        check=check,
        repair=repair,
        sandbox=sandbox,
        unsafe=unsafe_no_sandbox,
        calls=calls,
        interpreter=Interpreter(path=check_python, make=make_environment),
        seconds=check_seconds,
        report=report,
    )
    checking.refuse_nonsense()
    from depslice.callgraph.model import Certainty

    followed: dict[str, Any] = {
        "whole_classes": whole_classes,
        "least": Certainty(certainty),
        "guesses": guesses,
    }
    limits = {**followed, "depth": depth, "budget": budget, "tokenizer": tokenizer}
    _refuse_bounds(strategy)
    notes = Notes(output)
    if every:
        _refuse_rendering(strategy=strategy, usages=usages)
        if check:
            raise click.UsageError("--check takes TARGETs, not --all")
        with opened(repository, notes) as program:
            _slice_every(program, repository, output, notes, limits)
        return
    if check and (depth is not None or budget is not None or strategy != "sliced"):
        raise click.UsageError("a bounded context does not run: --check takes whole slices")
    from depslice.slicer import render, slice_context

    with opened(repository, notes) as program:
        ids, spelled = find_spelled_targets(program, targets)
        if check:
            from depslice.slicer import slice_symbols

            with notes.count(_FOUND) as progress:
                whole = slice_symbols(program, ids, spelled=spelled, progress=progress, **followed)
            found, code = check_slice(
                program,
                whole,
                repository,
                checking,
                notes,
                limits=followed,
            )
            context = render(program, found, format=format_, usages=usages)
            _write(program, context, output, is_tree=format_ == "tree", force=force)
            _say_what_it_is(found, context, notes)
            if code:
                raise Finished(code)
            return
        with notes.count(_FOUND, hint=_LONG if budget is None else "") as progress:
            found, context = slice_context(
                program,
                ids,
                format=format_,
                strategy=strategy,
                usages=usages,
                spelled=spelled,
                progress=progress,
                **limits,
            )
        _write(program, context, output, is_tree=format_ == "tree", force=force)
        _say_what_it_is(found, context, notes)
        if budget is not None and format_ == "bundle" and context.tokens > budget:
            why = "usages come on top" if usages else "the target is never cut"
            notes.say(f"more than the budget of {counted(budget, 'token')}: {why}")


def _refuse_bounds(strategy: str) -> None:
    """Only a slice can be smaller than it is: no other context has an option for that."""
    context = click.get_current_context()
    typed = [
        f"--{name.replace('_', '-')}"
        for name in ("depth", "budget", "certainty", "guesses", "whole_classes")
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if strategy != "sliced" and typed:
        raise click.UsageError(
            f"{' and '.join(typed)}: of slices alone, not of --strategy {strategy}"
        )


def _refuse_rendering(*, strategy: str, usages: int) -> None:
    source = click.get_current_context().get_parameter_source("format_")
    if source is click.core.ParameterSource.COMMANDLINE or strategy != "sliced" or usages:
        raise click.UsageError(
            "--all gives lines of JSON: --format, --strategy and --usages do not go with it"
        )


def _write(
    program: Program, context: Context, output: Output, *, is_tree: bool, force: bool
) -> None:
    if not is_tree:
        write_result(output, "".join(file.text for file in context.files))
    elif output.path is None:
        from depslice.slicer.render import render_bundle

        write_result(output, render_bundle(context.files))
    else:
        from depslice.slicer.render import write_tree

        refuse_without_parent(output.path)
        paths = (os.path.join(output.path, file.path) for file in context.files)
        refuse_sources(program, *paths, folder=output.path)
        write_tree(context.files, output.path, force=force)


def _is_doubted(item: Item) -> bool:
    """Whether the shortest chain to it has a possible reference."""
    return any(step.certainty.value == "possible" for step in item.reason)


def _options_in(found: Slice) -> str:
    """The options that left something out."""
    return ", ".join(sorted({f"--{each.why}" for each in found.omitted}))


def _say_what_it_is(found: Slice, context: Context, notes: Notes) -> None:
    paths = {item.symbol.path for item in found.items}
    whole = f"{counted(len(found.items), 'definition')} of {counted(len(paths), 'file')}"
    said = [f"{counted(context.tokens, 'token')} ({context.tokenizer})"]
    if context.strategy == "sliced":
        said.insert(0, whole)
    else:
        said = [f"{context.strategy}: {said[0]}", f"the slice has {whole}"]
    if found.unresolved:
        said.append(f"{counted(len(found.unresolved), 'name')} unresolved")
    if found.omitted:
        said.append(
            f"{counted(len(found.omitted), 'definition')} omitted ({_options_in(found)}), with what"
            " only they bring"
        )
    notes.say("; ".join(said))
    if not any(file.text.strip() for file in context.files):
        notes.say(f"{', '.join(found.targets)}: there is no code in it")
    doubted = sum(map(_is_doubted, found.items))
    if doubted > _MANY and doubted * 2 >= len(found.items) - 1:
        notes.say(
            f"hint: {doubted:,} of them only by possible references; --certainty likely leaves"
            " these out"
        )
    needed = [each for each in found.diagnostics if each.slug == "needed-but-left-out"]
    for diagnostic in (*needed, *context.diagnostics):
        notes.say(f"{diagnostic.path}: {diagnostic.severity.value}: {diagnostic.message}")
    for unresolved in found.unresolved:
        notes.detail(
            f"  unresolved: {unresolved.name} in {unresolved.source},"
            f" line {unresolved.site.line}: {unresolved.reason}"
        )
    for omitted in found.omitted:
        notes.detail(f"  omitted: {omitted.symbol}, distance {omitted.distance}: {omitted.why}")


# --- all functions


def _slice_every(
    program: Program,
    repository: Repository,
    output: Output,
    notes: Notes,
    limits: dict[str, Any],
) -> None:
    from depslice.slicer import function_symbols, map_slices

    started = time.monotonic()
    with notes.progress("reading") as progress:
        program.load_all(workers=repository.workers, progress=progress)
    functions = function_symbols(program)
    failed = done = 0
    with notes.progress("slicing") as progress, result_stream(output) as write:
        for line in map_slices(
            program,
            functions,
            partial(_line, limits["tokenizer"]),
            workers=repository.workers,
            **limits,
        ):
            failed += "error" in line
            done += 1
            write(json_text(line, indent=None))
            progress(done, len(functions))
    seconds = time.monotonic() - started
    notes.say(f"{counted(done, 'slice')}, {failed:,} failed, {seconds:.1f} s")


def _line(
    tokenizer: str, program: Program, symbol: Symbol, outcome: Slice | Exception
) -> dict[str, Any]:
    """What ``--all`` says of one function; see ``docs/formats/json.md``."""
    from depslice.slicer import render

    line: dict[str, Any] = {
        "schema": SLICES_SCHEMA,
        "target": symbol.id,
        "path": symbol.path,
        "line": symbol.span.start,
    }
    if isinstance(outcome, Exception):
        return line | {"error": _error(outcome)}
    try:
        tokens = render(program, outcome, format="tree", tokenizer=tokenizer).tokens
    except Exception as error:  # noqa: BLE001 - one failure does not end the run
        return line | {"error": _error(error)}
    return line | {
        "items": [
            {"id": item.symbol.id, "distance": item.distance, "form": item.form.value}
            for item in outcome.items
        ],
        "externals": sorted({external.module for external in outcome.externals}),
        "tokens": tokens,
        "unresolved": len(outcome.unresolved),
        "omitted": len(outcome.omitted),
        "diagnostics": [
            {"slug": diagnostic.slug, "path": diagnostic.path} for diagnostic in outcome.diagnostics
        ],
    }


def _error(error: Exception) -> dict[str, str]:
    slug = error.slug if isinstance(error, DepsliceError) else "internal"
    message = (
        error.message if isinstance(error, DepsliceError) else f"{type(error).__name__}: {error}"
    )
    return {"slug": slug, "message": message}
