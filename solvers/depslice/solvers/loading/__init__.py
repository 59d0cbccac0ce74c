"""Problems out of files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from depslice.callgraph.cache import Cache
from depslice.solvers.loading.evalplus import described_task, is_description
from depslice.solvers.loading.humaneval import humaneval_task, is_humaneval
from depslice.solvers.loading.lines import Line, read_lines
from depslice.solvers.loading.mbpp import is_mbpp, mbpp_task
from depslice.solvers.loading.repository import Repositories, is_repository
from depslice.solvers.problem import ProblemError, Task

__all__ = ["load_tasks"]


def load_tasks(
    path: Path, *, strategies: Sequence[str] = (), cache: Cache | Literal["auto"] | None = "auto"
) -> list[Task]:
    """The tasks of a file of JSON lines: HumanEval's, EvalPlus', MBPP's, or functions of
    repositories, told by their fields. These give one task for each context strategy; they are
    analysed with ``cache``, as :func:`~depslice.callgraph.open_program` takes it.

    :raises ProblemError: it cannot be read, has no problems, has one twice, or a line is
        broken (its number is said).
    """
    found: dict[tuple[str, str], Task] = {}
    repositories = Repositories(strategies, cache)
    for line in read_lines(path):
        for task in repositories.tasks(line) if is_repository(line) else [_task(line)]:
            key = (task.problem.id, task.problem.strategy)
            if key in found:
                raise line.error(f"{task.problem.id} was there before")
            found[key] = task
    if not found:
        raise ProblemError(f"{path} has no problems")
    return list(found.values())


def _task(line: Line) -> Task:
    try:
        return _told_task(line)
    except (RecursionError, MemoryError):
        raise line.error("its code nests deeper than Python reads") from None


def _told_task(line: Line) -> Task:
    if is_mbpp(line):
        return mbpp_task(line)
    if is_humaneval(line) and is_description(line):
        return described_task(line)
    if is_humaneval(line):
        return humaneval_task(line)
    raise line.error(
        "neither HumanEval's fields (prompt, entry_point, test), nor MBPP's (text, test_list),"
        " nor those of a function of a repository (repo, harness)"
    )
