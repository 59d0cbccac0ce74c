"""Functions of repositories: a line names a repository, and a harness of depslice.

``repo`` and ``harness`` are paths, relative to the file of problems; ``target`` is needed
where the harness names none. A solver sees signature and docstring, the context that a
strategy chooses, without what the function does, the examples of the docstring, and the
calls in ``visible``, if there are some: objects with ``text``, an assertion, and perhaps
``setup``. The harness decides. It may be made of the repository's tests, so nothing of them
is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from depslice.callgraph.cache import Cache
from depslice.callgraph.errors import DepsliceError
from depslice.callgraph.opening import open_program
from depslice.callgraph.program import Program
from depslice.callgraph.targets import find_symbol
from depslice.prompts.model import Subject
from depslice.prompts.subjects import subject_of
from depslice.solvers.loading.examples import doctests_of
from depslice.solvers.loading.lines import Line
from depslice.solvers.problem import HiddenHarness, Problem, ProblemError, Task, VisibleTest
from depslice.validator.calls import is_test_file
from depslice.validator.validation import Harness, read_harness

_SECONDS: Final = 10.0  # for a visible test: the module has to be imported for it


class Repositories:
    """The repositories of a file of problems, each opened once."""

    def __init__(self, strategies: Sequence[str], cache: Cache | Literal["auto"] | None) -> None:
        self._strategies = strategies
        self._cache = cache
        self._programs: dict[Path, Program] = {}

    def tasks(self, line: Line) -> list[Task]:
        """The tasks of a line, one for each strategy.

        :raises ProblemError: a field is missing or cannot be used.
        """
        repo = line.path.parent / line.file_name("repo")
        place = line.path.parent / line.file_name("harness")
        if place.resolve().is_relative_to(repo.resolve()):
            raise line.error("the harness lies in the repository, where answers could read it")
        try:
            program = self._program(repo)
            harness = read_harness(place, program, line.optional("target") or None)
            return [
                self._task(program, harness, place, strategy, line)
                for strategy in self._strategies or (line.optional("strategy") or "sliced",)
            ]
        except ProblemError:
            raise
        except DepsliceError as error:
            raise line.error(error.message) from None

    def _program(self, repo: Path) -> Program:
        if repo not in self._programs:
            self._programs[repo] = open_program(str(repo), cache=self._cache)
        return self._programs[repo]

    def _task(
        self, program: Program, harness: Harness, place: Path, strategy: str, line: Line
    ) -> Task:
        target = find_symbol(program, harness.target)
        subject = subject_of(program, target, strategy=strategy, hide_target=True)
        problem = Problem(
            id=line.optional("task_id") or harness.target,
            specification=subject.outline.rstrip(),
            entry_point=subject.name,
            context=_context(subject),
            strategy=strategy,
            visible=tuple(dict.fromkeys((*doctests_of(subject.docstring), *_shown(line)))),
            seconds=_SECONDS,
        )
        hidden = HiddenHarness(program=program, harness=harness, place=place)
        return Task(problem=problem, hidden=hidden)


def is_repository(line: Line) -> bool:
    """Whether a line has this form."""
    return "repo" in line.fields and "harness" in line.fields


def _shown(line: Line) -> tuple[VisibleTest, ...]:
    """The calls that the line shows.

    :raises ProblemError: one has other fields than these.
    """
    found = line.objects("visible")
    if any("text" not in each or each.keys() - {"text", "setup"} for each in found):
        raise line.error("'visible' has objects without 'text', or with more than 'setup'")
    return tuple(VisibleTest(**each) for each in found)


def _context(subject: Subject) -> str:
    """The files of the context, as one text; the naive one has nothing but the function."""
    if subject.strategy == "naive":
        return ""
    shown = (file for file in subject.files if not is_test_file(file.path))
    return "\n\n".join(f"# {file.path}\n{file.text.rstrip()}" for file in shown)
