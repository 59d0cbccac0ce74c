"""Programs that attack the machine: every one contained, nothing left, the next run clean."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from depslice.validator.sandbox import Job, Sandbox, all_sandboxes, interpreter_folders
from hostile_programs import (
    PYTHON,
    HostileProgram,
    Surroundings,
    ending_of,
    load_hostile_programs,
    surroundings,
)

PROGRAMS = {program.name: program for program in load_hostile_programs()}
# Their run takes seconds, or all of a core: `./test --slow`.
SLOW = frozenset({"fork_bomb", "loop_ignoring_signals", "loop_in_many_processes", "exec_of_others",
                  "sleep_an_hour", "stops_itself", "many_sockets", "zombies"})  # fmt: skip
WORKING = [each for each in all_sandboxes() if each.isolates and each.availability().ok]

pytestmark = pytest.mark.skipif(not WORKING, reason="no isolating sandbox works here")


@pytest.fixture(params=WORKING, ids=lambda sandbox: str(sandbox.name))
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    found = request.param
    assert isinstance(found, Sandbox)
    return found


@pytest.fixture(scope="module")
def around(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Surroundings]:
    with surroundings(tmp_path_factory.mktemp("around")) as found:
        yield found


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in PROGRAMS],
)
def test_contained(sandbox: Sandbox, around: Surroundings, name: str) -> None:
    program = PROGRAMS[name]
    before = state_of_machine()
    outcome = sandbox.run(around.job(program))
    assert program.accepts(outcome), (ending_of(outcome), outcome)
    assert outcome.wall_seconds < program.limits.wall_seconds + 2
    assert outcome.messages == ()
    assert around.traces() == []
    assert state_of_machine() == before
    check_next_run(sandbox)
    check_collected(program, outcome.files, outcome.refused)


def state_of_machine() -> tuple[set[str], str]:
    """Mounts, and files of other users where programs leave them.

    Other tests make files there at the same time, as the user that we are.
    """
    with os.scandir(tempfile.gettempdir()) as entries:
        files = {entry.name for entry in entries if _owner(entry) not in (os.getuid(), None)}
    return files, Path("/proc/self/mounts").read_text(encoding="utf-8")


def _owner(entry: os.DirEntry[str]) -> int | None:
    try:
        return entry.stat(follow_symlinks=False).st_uid
    except FileNotFoundError:
        return None


def check_next_run(sandbox: Sandbox) -> None:
    text = "import os; print(os.listdir(), os.listdir('/dev/shm'), len(os.listdir('/tmp')))"
    outcome = sandbox.run(Job(argv=(str(PYTHON), "-c", text), readable=interpreter_folders(PYTHON)))
    assert outcome.succeeded
    assert outcome.stdout.startswith(b"[] []")


def check_collected(
    program: HostileProgram, files: dict[str, bytes], refused: dict[str, str]
) -> None:
    assert {*files, *refused} == set(program.collect)
    if program.name == "links_for_the_collector":
        assert refused == {
            "link": "Too many levels of symbolic links",
            "folder/inside": "Not a directory",
            "pipe": "not a regular file",
            "directory": "not a regular file",
            "large": "too large",
            "loop": "Too many levels of symbolic links",
        }
    elif program.collect:
        assert files == {"out": b"out"}


def test_there_are_enough() -> None:
    assert len(PROGRAMS) >= 45
