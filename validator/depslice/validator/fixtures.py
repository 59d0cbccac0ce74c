"""Harnesses under plain pytest: ``pytest -p depslice.validator.fixtures HARNESS``.

Gives tests what ``depslice validate`` gives them: ``candidate``, ``reference``, ``context``.
Here all is imported in one process, with the rights of whoever calls pytest: to write a
harness and to see it fail, not to judge a candidate.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from depslice.validator.child.comparing import Tolerance
from depslice.validator.child.harness.context import Context
from depslice.validator.child.harness.subjects import callable_of
from depslice.validator.validation.harness import data_folder


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--candidate FILE``."""
    parser.addoption(
        "--candidate",
        metavar="FILE",
        type=Path,
        help="a file that defines another function of the target's name",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Files as ``depslice harness`` writes them, ``clamp.replay.py``, have no module's name."""
    if any("." in Path(each.partition("::")[0]).stem for each in config.args):
        config.option.importmode = "importlib"
    path: Path | None = config.getoption("--candidate")
    if path is not None and not path.is_file():
        raise pytest.UsageError(f"--candidate: there is no file {path}")


@pytest.fixture
def reference(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """What the harness names as its ``TARGET``."""
    module, _, qualname = _target(request).partition(":")
    found: Callable[..., Any] = callable_of(importlib.import_module(module), qualname)
    return found


@pytest.fixture
def candidate(request: pytest.FixtureRequest, reference: Callable[..., Any]) -> Callable[..., Any]:
    """The function of ``--candidate``, or the target itself."""
    path: Path | None = request.config.getoption("--candidate")
    if path is None:
        return reference
    name = _target(request).rpartition(":")[2].rpartition(".")[2]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise pytest.UsageError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        pytest.fail(f"{path} does not define {name}")
    found: Callable[..., Any] = getattr(module, name)
    return found


@pytest.fixture
def context(
    request: pytest.FixtureRequest,
    candidate: Callable[..., Any],
    reference: Callable[..., Any],
) -> Context:
    """Strict comparison, with the harness's ``TOLERANCE``."""
    declared = getattr(request.module, "TOLERANCE", {})
    data = data_folder(Path(request.module.__file__ or ""))
    return Context(candidate, reference, tolerance=Tolerance(**declared), data=str(data))


def _target(request: pytest.FixtureRequest) -> str:
    target = getattr(request.module, "TARGET", None)
    if not isinstance(target, str) or ":" not in target:
        raise pytest.UsageError('the harness needs a line like TARGET = "package.module:function"')
    return target
