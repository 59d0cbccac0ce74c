"""Fixtures of the tests of solvers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from depslice.solvers.execution.executor import Executor
from depslice.validator.sandbox import Sandbox, SandboxUnavailable, choose_sandbox


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    """The sandbox that works here."""
    try:
        return choose_sandbox()
    except SandboxUnavailable as error:
        pytest.skip(error.message)


@pytest.fixture(scope="session")
def executor(sandbox: Sandbox) -> Iterator[Executor]:
    """One sandbox for the programs of all tests."""
    with Executor(sandbox=sandbox) as opened:
        yield opened
