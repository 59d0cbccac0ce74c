"""The tests of a harness: plain functions, run here; whatever needs more, by pytest."""

from __future__ import annotations

import inspect
import itertools
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, Protocol

from ..describing import text_of

GIVEN = ("candidate", "reference", "context")
_TEXT = 500


class Result(NamedTuple):
    """How a test ended: ``passed``, ``failed`` or ``skipped``, why, and in how many seconds."""

    name: str
    status: str
    why: str
    seconds: float


class Suite(Protocol):
    """The tests of a harness that was imported."""

    def run(
        self,
        given: dict[str, Any],
        *,
        only: frozenset[str] | None,
        shuffle: int,
        started: Callable[[str], None],
    ) -> list[Result]:
        """Run the tests, or ``only`` some; ``shuffle`` is the seed of their order, 0 for none."""
        ...


class NeedsPytest(Exception):
    """The tests use what only pytest provides."""


class _Test(NamedTuple):
    name: str
    make: Callable[[], Callable[..., Any]]
    arguments: dict[str, Any]
    wants: tuple[str, ...]


class PlainSuite:
    """Functions, and methods of classes without fixtures, ``parametrize`` among the marks."""

    def __init__(self, module: ModuleType) -> None:
        """Collect.

        :raises NeedsPytest: see there.
        """
        self.tests: list[_Test] = []
        for name, value in list(vars(module).items()):
            if _is_fixture(value) and name not in GIVEN:
                raise NeedsPytest
            if name.startswith("test") and isinstance(value, FunctionType):
                self._collect(name, value, lambda value=value: value)  # type: ignore[misc]
            elif name.startswith("Test") and isinstance(value, type):
                self._collect_class(name, value)

    def _collect_class(self, name: str, kind: type) -> None:
        if any(hasattr(kind, each) for each in ("setUp", "setup_method", "setup_class", "runTest")):
            raise NeedsPytest
        if _marks(kind):
            raise NeedsPytest
        for key, value in list(vars(kind).items()):
            if _is_fixture(value):
                raise NeedsPytest
            if key.startswith("test") and isinstance(value, FunctionType):
                make: Any = lambda kind=kind, key=key: getattr(kind(), key)  # noqa: E731
                self._collect(f"{name}.{key}", value, make, bound=True)

    def _collect(
        self,
        name: str,
        function: FunctionType,
        make: Callable[[], Callable[..., Any]],
        *,
        bound: bool = False,
    ) -> None:
        for label, arguments in _parameters(function):
            wants = []
            for each in list(inspect.signature(function).parameters.values())[bound:]:
                if each.name in arguments or each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
                    continue
                if each.name not in (*GIVEN, "tmp_path"):
                    if each.default is not each.empty:
                        continue
                    raise NeedsPytest
                wants.append(each.name)
            self.tests.append(_Test(name + label, make, arguments, tuple(wants)))

    def run(
        self,
        given: dict[str, Any],
        *,
        only: frozenset[str] | None,
        shuffle: int,
        started: Callable[[str], None],
    ) -> list[Result]:
        """See :meth:`Suite.run`."""
        tests = [each for each in self.tests if only is None or each.name in only]
        if shuffle:
            random.Random(shuffle).shuffle(tests)  # noqa: S311 - an order, not a secret
        return [self._run(test, given, started) for test in tests]

    def _run(self, test: _Test, given: dict[str, Any], started: Callable[[str], None]) -> Result:
        arguments = dict(test.arguments)
        for name in test.wants:
            if name == "tmp_path":
                arguments[name] = Path(tempfile.mkdtemp(dir=os.environ.get("TMPDIR")))
            else:
                arguments[name] = given[name]
        started(test.name)
        begun = time.perf_counter()
        status, why = "passed", ""
        try:
            value = test.make()(**arguments)
            if inspect.iscoroutine(value):
                import asyncio  # takes longer than all the rest

                asyncio.run(value)
        except BaseException as error:  # noqa: BLE001 - SystemExit and all
            status, why = _status(error), text_of(error)
        return Result(test.name, status, why, time.perf_counter() - begun)


def _status(error: BaseException) -> str:
    names = [kind.__name__ for kind in type(error).__mro__]
    return "skipped" if names[:2] == ["Skipped", "OutcomeException"] else "failed"


def _is_fixture(value: object) -> bool:
    return type(value).__name__ == "FixtureFunctionDefinition" or hasattr(
        value, "_pytestfixturefunction"
    )


def _marks(value: Any) -> Sequence[Any]:
    found = getattr(value, "pytestmark", ())
    return found if isinstance(found, (list, tuple)) else [found]


def _parameters(function: FunctionType) -> Iterator[tuple[str, dict[str, Any]]]:
    """Label and arguments of each case of a test."""
    axes = []
    for mark in reversed(_marks(function)):
        if mark.name != "parametrize" or len(mark.args) != 2 or set(mark.kwargs) - {"ids"}:
            raise NeedsPytest
        names, cases = mark.args
        if isinstance(names, str):
            names = [name.strip() for name in names.split(",")]
        axes.append([_case(names, case) for case in cases])
    for number, chosen in enumerate(itertools.product(*axes)):
        arguments: dict[str, Any] = {}
        for each in chosen:
            arguments |= each
        yield (f"[{number}]" if axes else ""), arguments


def _case(names: Sequence[str], case: Any) -> dict[str, Any]:
    if type(case).__name__ == "ParameterSet":
        if case.marks:
            raise NeedsPytest
        case = case.values if len(names) > 1 else case.values[0]
    return dict(zip(names, case if len(names) > 1 else [case], strict=True))


class PytestSuite:
    """The tests as pytest finds them; imports the harness when they run."""

    def __init__(self, path: str) -> None:
        self.path = path

    def run(
        self,
        given: dict[str, Any],
        *,
        only: frozenset[str] | None,
        shuffle: int,
        started: Callable[[str], None],
    ) -> list[Result]:
        """See :meth:`Suite.run`."""
        import pytest  # type: ignore[import-not-found,unused-ignore]

        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        plugin = _plugin(given, only, shuffle, started)
        options = ["--noconftest", "-p", "no:cacheprovider", "-p", "no:terminal"]
        options += ["--rootdir", os.path.dirname(self.path), "-c", os.devnull, "--capture=sys"]
        pytest.main([*options, self.path], plugins=[plugin])
        found: list[Result] = plugin.results
        return found


def _plugin(
    given: dict[str, Any],
    only: frozenset[str] | None,
    shuffle: int,
    started: Callable[[str], None],
) -> Any:
    import pytest

    class Plugin:
        """Gives the harness its arguments, and hears of its tests."""

        def __init__(self) -> None:
            self.results: list[Result] = []

        @pytest.fixture
        def candidate(self) -> Any:
            return given["candidate"]

        @pytest.fixture
        def reference(self) -> Any:
            return given["reference"]

        @pytest.fixture
        def context(self) -> Any:
            return given["context"]

        def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Any:
            # A harness may bring fixtures of these names, for use without depslice.
            if fixturedef.argname not in GIVEN:
                return None
            value = given[fixturedef.argname]
            fixturedef.cached_result = (value, fixturedef.cache_key(request), None)
            return value

        def pytest_collection_modifyitems(self, items: list[Any]) -> None:
            if only is not None:
                items[:] = [item for item in items if _name(item.nodeid) in only]
            if shuffle:
                random.Random(shuffle).shuffle(items)  # noqa: S311 - as above

        def pytest_runtest_setup(self, item: Any) -> None:
            started(_name(item.nodeid))

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.when == "call" or report.outcome != "passed":
                why = "" if report.outcome == "passed" else str(report.longrepr)[-_TEXT:]
                status = report.outcome
                if hasattr(report, "wasxfail"):
                    status, why = "skipped", f"xfail: {report.wasxfail}"
                name = _name(report.nodeid)
                self.results.append(Result(name, status, why, report.duration))

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed:
                why = str(report.longrepr)[-_TEXT:]
                self.results.append(Result("(import)", "failed", why, 0.0))

    return Plugin()


def _name(nodeid: str) -> str:
    return nodeid.partition("::")[2]
