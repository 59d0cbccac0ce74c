"""Problems out of files."""

from __future__ import annotations

from pathlib import Path

from depslice.solvers.loading.humaneval import humaneval_task, is_humaneval
from depslice.solvers.loading.lines import Line, read_lines
from depslice.solvers.loading.mbpp import is_mbpp, mbpp_task
from depslice.solvers.problem import ProblemError, Task

__all__ = ["load_tasks"]


def load_tasks(path: Path) -> list[Task]:
    """The tasks of a file of JSON lines, HumanEval's, EvalPlus' or MBPP's, told by their fields.

    :raises ProblemError: it cannot be read, has no problems, has one twice, or a line is
        broken (its number is said).
    """
    found: dict[str, Task] = {}
    for line in read_lines(path):
        task = _task(line)
        if task.problem.id in found:
            raise line.error(f"{task.problem.id} was there before")
        found[task.problem.id] = task
    if not found:
        raise ProblemError(f"{path} has no problems")
    return list(found.values())


def _task(line: Line) -> Task:
    if is_mbpp(line):
        return mbpp_task(line)
    if is_humaneval(line):
        return humaneval_task(line)
    raise line.error(
        "neither HumanEval's fields (prompt, entry_point, test) nor MBPP's (text, test_list)"
    )
