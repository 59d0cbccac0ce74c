"""Options and fixtures of all tests."""

from __future__ import annotations

import os
import sys
from zlib import crc32

import pytest
from hypothesis import settings

# How long an example takes is no property of the code: machines are slow, and busy at times.
settings.register_profile("depslice", settings.default, deadline=None)
settings.load_profile("depslice")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the one switch that rewrites expected answers."""
    parser.addoption(
        "--regenerate",
        action="store_true",
        help="write the slices found into fixtures/*/expected.json instead of comparing",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to rewrite expected answers where nobody looks at the difference.

    The engine raises the recursion limit; Hypothesis warns of one that a test changed.
    """
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))
    if config.getoption("--regenerate") and os.environ.get("CI", "").lower() == "true":
        raise pytest.UsageError("--regenerate is refused when CI=true: review the answers locally")
    if config.getoption("--regenerate") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--regenerate writes from one process: add -n0")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Make all but one in eight programs of a corpus slow, unless some are asked for by name."""
    if config.getoption("keyword") or any("::" in each for each in config.args):
        return
    for item in items:
        if item.get_closest_marker("corpus") and crc32(item.nodeid.encode()) % 8:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def regenerate(request: pytest.FixtureRequest) -> bool:
    """Whether expected answers are rewritten rather than compared."""
    return bool(request.config.getoption("--regenerate"))
