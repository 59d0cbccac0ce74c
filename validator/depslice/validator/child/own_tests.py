"""The repository's own tests, run by pytest as they are."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

_OPTIONS = ("-q", "-o", "addopts=", "-p", "no:cacheprovider", "--no-header", "--tb=line")
# Another order, other processes, another tracer; a summary that takes a second to load.
_WITHOUT = ("randomly", "xdist", "pytest_cov", "hypothesispytest")


def run_own_tests(wanted: Sequence[str], folder: str, plugins: Sequence[Any] = ()) -> int:
    """Run files or ids below ``folder``, which ids are relative to; pytest's exit code."""
    import pytest  # type: ignore[import-not-found,unused-ignore]

    without = [option for name in _WITHOUT for option in ("-p", f"no:{name}")]
    # Rewritten assertions cannot be kept here, and rewriting takes longer than most tests.
    options = [*_OPTIONS, *without, "--assert=plain", "--rootdir", folder]
    return int(pytest.main([*options, *wanted], plugins=list(plugins)))


def preload(tools: Sequence[str]) -> None:
    """Import what tests will want, before processes are forked: pytest, Hypothesis."""
    with contextlib.suppress(ImportError):
        if "hypothesis" in tools:
            import hypothesis.strategies  # type: ignore[import-not-found,unused-ignore]  # noqa: F401
        if "pytest" in tools:
            from importlib.metadata import entry_points

            import pytest  # noqa: F401

            for point in entry_points(group="pytest11"):
                if not point.name.startswith(_WITHOUT):
                    with contextlib.suppress(Exception):
                        point.load()


def preload_modules(names: Sequence[str]) -> None:
    """Import what is known to be wanted; what cannot be imported alone is left to who wants it."""
    for name in names:
        if name not in sys.modules:
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def test_at_hand() -> str:
    """The id of the test that runs now; empty while tests are collected, or without pytest."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
