"""``depslice solve``: answers of a solver to problems."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from depslice.cli.failures import Finished
from depslice.cli.modelling import ModelOptions
from depslice.cli.notes import Notes
from depslice.cli.options import Command, Output, output_options
from depslice.cli.results import json_text, result_stream
from depslice.cli.solving import Asked, solver_option, solving_options

if TYPE_CHECKING:
    from depslice.solvers.problem import Task
    from depslice.solvers.running.attempt import Proposed

SOLUTION_SCHEMA = "depslice.solution/1"


@click.command(
    "solve",
    cls=Command,
    examples=("depslice solve problems.jsonl --solver direct --model openai:NAME",),
)
@solving_options
@solver_option(multiple=False)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["code", "jsonl"]),
    default="code",
    show_default=True,
    help="jsonl: a line for each problem, with task_id and solution.",
)
@output_options
def solve(*, asked: Asked, asking: ModelOptions, solver: str, format_: str, output: Output) -> None:
    """Give the answers of a solver to PROBLEMS, a file of JSON lines. Nothing is graded.

    PROBLEMS has the fields of HumanEval, EvalPlus or MBPP, or names functions of repositories
    with their harnesses; `.gz` is unpacked.
    """
    from depslice.solvers.choosing import SolverSpec
    from depslice.solvers.execution.trials import with_true_examples
    from depslice.solvers.running.attempt import check_hidden, check_solver, propose

    notes = Notes(output)
    spec = SolverSpec.of(solver)
    tasks = asked.tasks(notes)
    check_hidden(Path(asked.path), tasks, [spec], python=asked.python)
    unanswered = 0
    with asked.place(asking, notes) as place, notes.progress("solving", slow=True) as progress:
        tasks = [with_true_examples(task, place.grounds) for task in tasks]
        wanted = [(task, sample) for task in tasks for sample in range(asking.samples)]
        progress(0, len(wanted))
        check_solver(spec, place.grounds.sandbox, oracle=place.oracle)
        with result_stream(output) as write:
            for number, (task, sample) in enumerate(wanted, 1):
                progress(number - 1, len(wanted), f"{task.problem.id}, {spec}")
                proposed = propose(task, spec, place, sample=sample)
                write(_text(task, sample, proposed, str(spec), format_))
                if proposed.code is None:
                    unanswered += 1
                    notes.tell(f"{task.problem.id}: {proposed.why}")
                progress(number, len(wanted))
    if unanswered:
        raise Finished(1)


def _text(task: Task, sample: int, proposed: Proposed, solver: str, format_: str) -> str:
    if format_ == "code":
        return f"# {task.problem.id}\n{proposed.code or f'# {proposed.why}'}\n\n"
    return json_text(
        {
            "schema": SOLUTION_SCHEMA,
            "task_id": task.problem.id,
            "solver": solver,
            "sample": sample,
            "solution": proposed.code,
            "why": proposed.why,
        },
        indent=None,
    )
