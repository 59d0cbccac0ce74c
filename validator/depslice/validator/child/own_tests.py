"""The repository's own tests, run by pytest as its settings say."""

from __future__ import annotations

import argparse
import configparser
import contextlib
import importlib
import os
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

_OPTIONS = ("-q", "-o", "addopts=", "-p", "no:cacheprovider", "--no-header", "--tb=line")
# Another order, other processes, another tracer; a summary that takes a second to load.
_WITHOUT = ("randomly", "xdist", "pytest_cov", "hypothesispytest")
_AGAIN = 1.0  # seconds until a test that goes on is stopped once more
NOT_RUN = (2, 3, 4)  # exit codes of pytest: interrupted, internal error, usage


@dataclass
class Ran:
    """How a run of tests ended: pytest's exit code, files that could not be imported, tests that
    were stopped, that failed, or were skipped; where there is a reason, with it.
    """

    code: int = 0
    broken: dict[str, str] = field(default_factory=dict)
    stopped: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)


def run_own_tests(
    wanted: Sequence[str],
    folder: str,
    plugins: Sequence[Any] = (),
    *,
    seconds: float | None = None,
) -> Ran:
    """Run files or ids below ``folder``, which ids are relative to; a test for so long at most.

    What pytest would not collect by itself is left out; a file that cannot be imported stops
    no other one. Of ``addopts`` of the repository that holds what chooses or imports tests:
    the rest is for people, or for plugins that are not here.
    """
    import pytest  # type: ignore[import-not-found,unused-ignore]

    without = [option for name in _WITHOUT for option in ("-p", f"no:{name}")]
    # Rewritten assertions cannot be kept here, and rewriting takes longer than most tests.
    options = [*_OPTIONS, *without, "--assert=plain", "--continue-on-collection-errors"]
    as_by_hand = _AsByHand()
    stopped: list[str] = []
    stopping = [] if seconds is None else [_stopping(seconds, stopped)]
    code = pytest.main(
        [*options, "--rootdir", folder, *wanted], plugins=[as_by_hand, *stopping, *plugins]
    )
    if as_by_hand.broken and not as_by_hand.collected:
        code = NOT_RUN[0]
    failed = {test: why for test, why in as_by_hand.failed.items() if test not in stopped}
    return Ran(int(code), as_by_hand.broken, stopped, failed, as_by_hand.skipped)


class _Stopped(BaseException):
    """A test has had its time. No ``Exception``, which the test might catch."""


def _stopping(seconds: float, stopped: list[str]) -> Any:
    """A plugin that ends a test after so long, and notes its id in ``stopped``."""
    import pytest

    def stop(*_: object) -> None:
        raise _Stopped(f"stopped after {seconds:g} s")

    def within(item: Any) -> Iterator[None]:
        # What is raised while a tracer runs takes the tracer away.
        tracer, profiler = sys.gettrace(), sys.getprofile()
        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
        outcome: Any = yield
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if sys.gettrace() is not tracer or sys.getprofile() is not profiler:
            sys.settrace(tracer)
            sys.setprofile(profiler)
        if outcome.excinfo is not None and issubclass(outcome.excinfo[0], _Stopped):
            stopped.append(item.nodeid)

    class Stopping:
        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_setup(self, item: Any) -> Iterator[None]:
            yield from within(item)

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_call(self, item: Any) -> Iterator[None]:
            yield from within(item)

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_teardown(self, item: Any) -> Iterator[None]:
            yield from within(item)

    return Stopping()


class _AsByHand:
    """A plugin: the files that ``pytest`` alone would take, with its settings for them.

    Files that are named pytest collects whatever its settings say.
    """

    def __init__(self) -> None:
        self.broken: dict[str, str] = {}
        self.failed: dict[str, str] = {}
        self.skipped: dict[str, str] = {}
        self.collected = 0

    def pytest_configure(self, config: Any) -> None:
        chosen = _chosen(_added_options(config.inipath))
        for name, value in vars(chosen).items():
            if value:
                setattr(config.option, name, value)
        named = [Path(argument) for argument in config.args if "::" not in argument]
        left = {str(path) for path in _collected(named, config, chosen)}
        if left:
            config.args[:] = [each for each in config.args if "::" in each or each in left]

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.broken[report.nodeid] = _reason(report)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.setdefault(report.nodeid, _reason(report))
        elif report.skipped:
            self.skipped.setdefault(report.nodeid, _reason(report))

    def pytest_collection_finish(self, session: Any) -> None:
        self.collected = len(session.items)


def _reason(report: Any) -> str:
    """Why a test, or a file of tests, did not come to a good end, as pytest tells it."""
    if isinstance(report.longrepr, tuple):  # of one that is skipped: path, line, reason
        return str(report.longrepr[2]).removeprefix("Skipped: ")[:200]
    lines = str(report.longrepr).splitlines() or [""]
    told = [line for line in lines if line.startswith("E  ")]
    return (told or lines)[-1].removeprefix("E").strip()[:200]


def _collected(files: Sequence[Path], config: Any, chosen: argparse.Namespace) -> list[Path]:
    """Those of ``files`` that pytest would find below the folders that it searches."""
    root = config.rootpath
    ignored = [root / name for name in chosen.ignore or ()]
    globs = [str(root / name) for name in chosen.ignore_glob or ()]
    places = [place for name in config.getini("testpaths") for place in root.glob(name)]
    searched = [
        path
        for path in files
        if not any(
            _is_left_out(folder, config) for folder in path.parents if root in folder.parents
        )
        and not any(path == each or each in path.parents for each in ignored)
        and not any(fnmatch(str(path), each) for each in globs)
    ]
    within = [path for path in searched if any(p == path or p in path.parents for p in places)]
    return within or searched


def _is_left_out(folder: Path, config: Any) -> bool:
    """Whether ``norecursedirs`` names it, as pytest understands that."""
    for pattern in config.getini("norecursedirs"):
        if "/" not in pattern:
            found = fnmatch(folder.name, pattern)
        else:
            found = fnmatch(folder.as_posix(), pattern if pattern[0] == "/" else f"*/{pattern}")
        if found:
            return True
    return False


def _chosen(options: Sequence[str]) -> argparse.Namespace:
    """Of options for pytest those that say which tests there are, and how they are imported."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--import-mode", dest="importmode")
    parser.add_argument("--ignore", action="append")
    parser.add_argument("--ignore-glob", action="append")
    parser.add_argument("--deselect", action="append")
    parser.add_argument("-m", dest="markexpr")
    try:
        return parser.parse_known_args(list(options))[0]
    except argparse.ArgumentError:
        return parser.parse_args([])


def _added_options(settings: Path | None) -> list[str]:
    """``addopts`` of the file with pytest's settings."""
    added: Any = ""
    with contextlib.suppress(OSError, ValueError, KeyError, configparser.Error):
        if settings is not None and settings.suffix == ".toml":
            import tomllib

            tables = tomllib.loads(settings.read_text(encoding="utf-8"))
            table = tables["tool"]["pytest"] if "tool" in tables else tables["pytest"]
            added = table.get("ini_options", table).get("addopts", "")
        elif settings is not None:
            read = configparser.ConfigParser(interpolation=None)
            read.read_string(settings.read_text(encoding="utf-8"))
            section = "tool:pytest" if settings.name == "setup.cfg" else "pytest"
            added = read.get(section, "addopts", fallback="")
        return shlex.split(added) if isinstance(added, str) else [str(each) for each in added]
    return []


def preload(tools: Sequence[str]) -> None:
    """Import what tests will want, before processes are forked: pytest, Hypothesis.

    Hypothesis, of which ``texts`` are wanted, looks at each character there is before it makes the first text up: a second or
    two here, a minute in a run whose lines are measured.
    """
    with contextlib.suppress(ImportError):
        if "hypothesis" in tools:
            import hypothesis.strategies  # type: ignore[import-not-found,unused-ignore]

            if "texts" in tools:
                with contextlib.suppress(Exception):  # its own affair, if a test wants it
                    hypothesis.strategies.text().validate()
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
