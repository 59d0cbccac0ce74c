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


_PLAIN: Final = ("-o", "addopts=", "--continue-on-collection-errors")
"""Without the plug-ins that a project has its pytest start with."""

MORE: Final = (
    Traced(name="pluggy", version="1.7.0", root="src/pluggy", tests=("testing",)),
    Traced(
        name="Mako",
        version="1.4.3",
        root="mako",
        tests=("test",),
        needs=("babel", "markupsafe"),
        left_out=("testing/",),
        development=True,
    ),
    Traced(name="anytree", version="2.13.0", root="src/anytree", tests=(*_PLAIN, "tests")),
    Traced(name="cachetools", version="8.0.2", root="src/cachetools"),
    Traced(name="cssselect", version="1.6.0", root="cssselect", needs=("lxml",), development=True),
    Traced(
        name="dacite",
        version="1.9.2",
        root="dacite",
        tests=(*_PLAIN, "tests", "--ignore", "tests/performance"),
    ),
    Traced(
        name="deepdiff",
        version="9.1.0",
        root="deepdiff",
        tests=(*_PLAIN, "tests"),
        needs=("jsonpickle", "pyyaml", "tomli-w", "numpy", "pydantic", "pytz", "python-dateutil"),
    ),
    Traced(name="dominate", version="2.9.1", root="dominate", development=True),
    Traced(name="dpath", version="2.2.0", root="dpath", needs=("nose2", "hypothesis")),
    Traced(name="flask", version="3.1.3", root="src/flask", needs=("asgiref",)),
    Traced(name="funcy", version="2.1", root="funcy", needs=("whatever",)),
    Traced(
        name="glom",
        version="25.12.0",
        root="glom",
        tests=("glom",),
        needs=("pyyaml",),
        left_out=("test/",),
        development=True,
    ),
    Traced(
        name="h11",
        version="0.16.0",
        root="h11",
        tests=("h11",),
        left_out=("tests/",),
        development=True,
    ),
    Traced(
        name="hyperlink",
        version="21.0.0",
        root="src/hyperlink",
        tests=("src/hyperlink",),
        left_out=("test/",),
    ),
    Traced(name="inflect", version="7.6.0", root="inflect", needs=("pytest",)),
    Traced(
        name="jmespath",
        version="1.1.0",
        root="jmespath",
        tests=(*_PLAIN, "tests"),
        needs=("hypothesis",),
    ),
    Traced(
        name="lark",
        version="1.3.1",
        root="lark",
        tests=("tests/__main__.py", "tests"),
        needs=("regex",),
        development=True,
    ),
    Traced(
        name="pyflakes",
        version="4.1.0",
        root="pyflakes",
        tests=("pyflakes",),
        left_out=("test/", "scripts/"),
    ),
    Traced(name="pyrsistent", version="0.20.0", root="pyrsistent", needs=("hypothesis",)),
    Traced(
        name="python-box",
        version="8.0.0",
        root="box",
        tests=("test",),
        needs=("ruamel.yaml", "toml", "msgpack", "tomli-w"),
    ),
    Traced(
        name="soupsieve",
        version="4.1.3",
        root="soupsieve",
        needs=("beautifulsoup4", "html5lib", "lxml"),
    ),
    Traced(
        name="starlette",
        version="1.10.0",
        root="starlette",
        tests=(*_PLAIN, "tests"),
        needs=(
            "trio",
            "httpx",
            "httpx2",
            "itsdangerous",
            "jinja2",
            "python-multipart",
            "pyyaml",
            "anyio",
        ),
    ),
    Traced(
        name="traitlets",
        version="5.16.1",
        root="traitlets",
        tests=(*_PLAIN, "tests", "--ignore", "tests/test_typing.py"),
        needs=("pytest-mock", "argcomplete"),
        development=True,
    ),
    Traced(
        name="transitions",
        version="0.9.3",
        root="transitions",
        tests=(*_PLAIN, "tests", "--ignore", "tests/test_codestyle.py"),
        needs=("dill", "mock"),
        development=True,
    ),
    Traced(name="webob", version="1.8.11", root="src/webob"),
    Traced(
        name="nameparser",
        version="2.6.0",
        root="nameparser",
        tests=(*_PLAIN, "tests"),
        needs=("dill", "hypothesis"),
    ),
    Traced(name="parse", version="1.22.4", root="parse", tests=(*_PLAIN, "tests")),
    Traced(name="asteval", version="1.0.10", root="asteval", tests=(*_PLAIN, "tests")),
    Traced(
        name="textdistance", version="4.6.3", root="textdistance", needs=("hypothesis", "numpy")
    ),
    Traced(
        name="prettytable",
        version="3.18.0",
        root="src/prettytable",
        needs=("pytest-lazy-fixtures",),
    ),
    Traced(name="blinker", version="1.9.0", root="src/blinker", needs=("pytest-asyncio",)),
    Traced(
        name="cattrs",
        version="26.2.1",
        root="src/cattrs",
        tests=(*_PLAIN, "tests"),
        needs=("hypothesis", "immutables", "typing_extensions", "attrs"),
        development=True,
    ),
)
"""Taken when the engine was done, to see what it is worth elsewhere: ``development`` where a rule was
mended after that for what the package showed."""


def select(names: list[str], *, more: bool = False) -> tuple[Traced, ...]:
    """The packages of these names; all when none is given. ``more``: of :data:`MORE`.

    Raises ``SystemExit`` with one line when a name is not in the list.
    """
    packages = MORE if more else PACKAGES
    known = {package.name for package in packages}
    if unknown := set(names) - known:
        raise SystemExit(f"not in the list: {', '.join(sorted(unknown))}")
    return tuple(package for package in packages if not names or package.name in names)
