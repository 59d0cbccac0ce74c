"""``depslice evaluate``: solvers compared on problems, by hidden tests and by cost."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from depslice.callgraph.counting import counted
from depslice.cli.modelling import ModelOptions
from depslice.cli.notes import Notes
from depslice.cli.numbers import Whole
from depslice.cli.options import Command, Output, output_options
from depslice.cli.results import json_text, write_result
from depslice.cli.solving import Asked, solver_option, solving_options

if TYPE_CHECKING:
    from depslice.solvers.running.evaluating import Wanted
    from depslice.solvers.running.record import Attempt
    from depslice.solvers.scoring import Score


@click.command(
    "evaluate",
    cls=Command,
    short_help="Compare solvers on PROBLEMS: pass@k and costs.",
    examples=(
        "depslice evaluate problems.jsonl --solver direct --solver adacoder --model openai:NAME",
        "depslice evaluate problems.jsonl --results attempts.jsonl --known",
    ),
)
@solving_options
@solver_option(multiple=True)
@click.option(
    "-k",
    "ks",
    type=Whole(min=1),
    multiple=True,
    default=(1,),
    metavar="K",
    help="Report pass@K too; repeat.  [default: 1]",
)
@click.option(
    "--results",
    type=click.Path(),
    metavar="FILE",
    help="Keep attempts there as lines of JSON; those it holds already are not made again.",
)
@click.option(
    "--known",
    "known_only",
    is_flag=True,
    help="Make no attempts: report on those that --results holds, of a run that is under way too."
    " With --model and --solver those of exactly these options, else all of PROBLEMS.",
)
@click.option(
    "--workers",
    type=Whole(min=1, max=64),
    default=1,
    show_default=True,
    metavar="N",
    help="Attempts made side by side.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json", "html"]),
    default="table",
    show_default=True,
    help="html: a page to compare solvers on.",
)
@output_options
def evaluate(
    *,
    asked: Asked,
    asking: ModelOptions,
    solvers: tuple[str, ...],
    ks: tuple[int, ...],
    results: str | None,
    known_only: bool,
    workers: int,
    format_: str,
    output: Output,
) -> None:
    """Compare solvers on PROBLEMS, a file of JSON lines: pass@k by hidden tests, and costs.

    A solver runs in a sandbox of its own, which the hidden tests do not enter. PROBLEMS has
    the fields of HumanEval, EvalPlus or MBPP, or names functions of repositories with
    their harnesses; `.gz` is unpacked.
    """
    from depslice.solvers.choosing import SolverSpec
    from depslice.solvers.execution.trials import with_true_examples
    from depslice.solvers.running.attempt import check_hidden
    from depslice.solvers.running.evaluating import (
        Known,
        attempts_in,
        attempts_of,
        impassable,
    )
    from depslice.solvers.running.evaluating import evaluate as evaluated
    from depslice.solvers.scoring import scores

    if known_only and not results:
        raise click.UsageError("--known needs --results")
    whatever = known_only and not (solvers and asking.model)
    if not solvers and not known_only:
        raise click.UsageError("missing option '--solver'")
    if max(ks) > asking.samples and not whatever:
        raise click.UsageError(f"pass@{max(ks)} needs --samples {max(ks)} or more")
    notes = Notes(output)
    specs = list(dict.fromkeys(map(SolverSpec.of, solvers)))
    tasks = asked.tasks(notes)
    if whatever and results:
        made = list(
            attempts_in(
                Path(results),
                tasks,
                specs=specs,
                model=asking.model,
                every_strategy=not asked.strategies,
            )
        )
        write_result(output, _rendered(scores(made, ks=(1, *ks)), made, format_))
        notes.say(f"{counted(len(made), 'attempt')}, whatever the options they were made with")
        return
    check_hidden(Path(asked.path), tasks, specs, python=asked.python)
    started = time.monotonic()
    made = []
    with (
        _kept(results, notes) as path,
        asked.place(asking, notes) as place,
        notes.progress("evaluating", slow=True) as progress,
    ):
        tasks = [with_true_examples(task, place.grounds) for task in tasks]
        wanted = attempts_of(tasks, specs, samples=asking.samples)
        known = Known(path, place, only_read=known_only)
        if known_only:
            wanted = [each for each in wanted if known.get(each) is not None]
        # What is known comes first, then what is missing, in its order.
        order = sorted(wanted, key=lambda each: known.get(each) is None)
        progress(0, len(wanted), _next_of(order, 0))
        for attempt in evaluated(wanted, place, known=known, workers=workers):
            made.append(attempt)
            notes.detail(_line(attempt))
            progress(len(made), len(wanted), _next_of(order, len(made)))
        if not known_only:
            for told in impassable(tasks, made, place):
                notes.tell(f"{told}: no answer can pass")
    found = scores(made, ks=(1, *ks))
    write_result(output, _rendered(found, made, format_))
    notes.say(f"{counted(len(made), 'attempt')}; {time.monotonic() - started:.0f} s")


@contextmanager
def _kept(results: str | None, notes: Notes) -> Iterator[Path]:
    """Where attempts are kept: without ``--results`` in a file that goes when all are made.

    What ends a run late, a model that is gone or a cap, takes none of them away.
    """
    if results:
        yield Path(results)
        return
    descriptor, name = tempfile.mkstemp(prefix="depslice-attempts-", suffix=".jsonl")
    os.close(descriptor)
    path = Path(name)
    try:
        yield path
    except BaseException:
        number = len(path.read_bytes().splitlines())
        if number:
            notes.tell(f"{counted(number, 'attempt')} kept: go on with --results {path}")
        else:
            path.unlink()
        raise
    path.unlink()


def _next_of(wanted: Sequence[Wanted], done: int) -> str:
    """What is waited for."""
    if done >= len(wanted):
        return ""
    found = wanted[done]
    return f"{found.task.problem.id}, {found.spec}"


def _line(attempt: Attempt) -> str:
    verdict = "passed" if attempt.passed else attempt.why or "failed"
    return f"{attempt.solver}  {attempt.problem}  {attempt.sample}  {verdict}"


def _rendered(found: list[Score], attempts: list[Attempt], format_: str) -> str:
    match format_:
        case "json":
            from depslice.solvers.telling import evaluation_document

            return json_text(evaluation_document(found))
        case "html":
            from depslice.solvers.page import comparison_page

            return comparison_page(found, attempts)
        case _:
            from depslice.solvers.telling import score_table

            return score_table(found)
