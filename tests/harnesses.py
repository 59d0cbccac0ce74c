"""Validating harnesses in tests: one sandbox for many, small repositories."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

from depslice.callgraph import Program, open_program
from depslice.validator.sandbox import Sandbox, SandboxUnavailable, choose_sandbox
from depslice.validator.validation import Gates, Session, Verdict, open_session, parse_harness
from depslice.validator.validation.candidates import Referee, open_referee
from depslice.validator.validation.ground import open_ground


def some_sandbox() -> Sandbox:
    """One that isolates, where there is one; what is tested is not the sandbox."""
    try:
        return choose_sandbox()
    except SandboxUnavailable:
        return choose_sandbox("unsafe")


@contextmanager
def validating(
    folder: Path, files: dict[str, str], *, gates: Gates | None = None
) -> Iterator[Session]:
    """A session for a repository of these files."""
    program = _written(folder, files)
    with open_session(
        program, sandbox=some_sandbox(), python=sys.executable, gates=gates
    ) as session:
        yield session


@contextmanager
def refereeing(
    folder: Path, files: dict[str, str], *, gates: Gates | None = None
) -> Iterator[Referee]:
    """A referee of candidates for functions of a repository of these files."""
    program = _written(folder, files)
    with (
        open_ground(program, sandbox=some_sandbox(), python=sys.executable) as ground,
        open_referee(ground, gates) as referee,
    ):
        yield referee


def _written(folder: Path, files: dict[str, str]) -> Program:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    return open_program(str(folder))


def verdict_on(session: Session, target: str, text: str) -> Verdict:
    """The verdict on a harness of this text."""
    return session.validate(parse_harness(dedent(text), session.ground.program, target=target))
