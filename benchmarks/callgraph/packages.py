"""The packages whose own test suites say what is really called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """A release whose source distribution has its tests.

    ``root`` is what is analysed, relative to the unpacked source; ``tests`` are pytest's
    arguments there; ``needs`` the requirements of the tests; ``left_out`` gitignore
    patterns within ``root``. ``development`` tells that the engine was worked on with this
    package's misses in view: scores are given apart for those and the others.
    """

    name: str
    version: str
    root: str
    tests: tuple[str, ...] = ("tests",)
    needs: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    development: bool = False


PACKAGES: Final = (
    Traced(name="click", version="8.3.1", root="src/click", development=True),
    Traced(name="jinja2", version="3.1.6", root="src/jinja2", needs=("trio",), development=True),
    Traced(
        name="attrs",
        version="25.4.0",
        root="src",
        needs=("hypothesis", "cloudpickle", "pympler"),
        development=True,
    ),
    Traced(name="parso", version="0.8.5", root="parso", tests=("test",), development=True),
    Traced(name="mistune", version="3.1.4", root="src/mistune", development=True),
    Traced(name="humanize", version="4.17.0", root="src/humanize", needs=("freezegun",)),
    Traced(name="boltons", version="26.2.0", root="boltons", development=True),
    Traced(name="more-itertools", version="11.2.1", root="more_itertools"),
    Traced(
        name="packaging",
        version="26.3",
        root="src/packaging",
        needs=("pretend", "hypothesis", "tomli_w"),
    ),
    Traced(
        name="werkzeug",  # its live servers wait for each other on a busy machine
        version="3.1.9",
        root="src/werkzeug",
        tests=("tests", "--ignore", "tests/test_serving.py"),
        needs=("cryptography", "ephemeral-port-reserve", "pytest-timeout", "watchdog"),
        development=True,
    ),
    Traced(name="toolz", version="1.2.0", root="toolz", tests=("toolz",), left_out=("tests/",)),
    Traced(name="tomlkit", version="0.15.2", root="tomlkit", needs=("pyyaml",)),
    Traced(name="marshmallow", version="4.4.0", root="src/marshmallow", needs=("simplejson",)),
    Traced(
        name="pyparsing",
        version="3.3.3",
        root="pyparsing",
        needs=("railroad-diagrams", "jinja2"),
        development=True,
    ),
    Traced(
        name="networkx",
        version="3.7",
        root="networkx",
        tests=(
            "networkx/classes",
            "networkx/algorithms/shortest_paths",
            "networkx/algorithms/flow",
            "networkx/readwrite",
        ),
        left_out=("tests/", "conftest.py"),
        development=True,
    ),
    Traced(
        name="sqlglot",
        version="30.30.0",
        root="sqlglot",
        tests=(
            *("tests", "--ignore", "tests/test_executor.py", "--ignore", "tests/test_optimizer.py"),
            *("--ignore", "tests/test_sqlglotc.py", "--ignore", "tests/test_docs.py"),
        ),
        needs=("python-dateutil", "pytz", "typing_extensions"),
        development=True,
    ),
    Traced(name="sqlparse", version="0.6.1", root="sqlparse", development=True),
    Traced(
        name="markdown",
        version="3.11.3",
        root="markdown",
        tests=("tests", "--continue-on-collection-errors"),
        needs=("pyyaml",),
    ),
    Traced(
        name="voluptuous",
        version="0.16.0",
        root="voluptuous",
        tests=("voluptuous/tests/tests.py",),
        left_out=("tests/",),
    ),
    Traced(name="wtforms", version="3.3.2", root="src/wtforms", needs=("babel", "email-validator")),
    Traced(
        name="jsonschema",
        version="4.26.0",
        root="jsonschema",
        tests=("jsonschema/tests",),
        needs=("jsonpath-ng",),
        left_out=("tests/", "benchmarks/"),
    ),
    Traced(name="tinydb", version="4.9.0", root="tinydb", needs=("pyyaml",)),
)  # fmt: skip


def select(names: list[str]) -> tuple[Traced, ...]:
    """The packages of these names; all when none is given.

    Raises ``SystemExit`` with one line when a name is not in the list.
    """
    known = {package.name for package in PACKAGES}
    if unknown := set(names) - known:
        raise SystemExit(f"not in the list: {', '.join(sorted(unknown))}")
    return tuple(package for package in PACKAGES if not names or package.name in names)
