"""A candidate differs wherever the harness would see it: not in what calls give alone."""

from __future__ import annotations

import ast
import hashlib
import re
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from depslice.validator.child.comparing import difference
from depslice.validator.child.harness.altering import Echo
from depslice.validator.child.harness.comparisons import noting
from depslice.validator.validation import Accepted, Gates, parse_harness
from depslice.validator.validation.candidates import Different, Referee, Same
from harnesses import refereeing, validating, verdict_on

SOURCE = """\
import contextlib
import logging
import warnings

log = logging.getLogger("small")


def lazy(xs):
    return map(lambda x: x + 1, xs)


def adder(n):
    return lambda x: x + n


def local(n):
    class Made:
        def get(self):
            return n + 1

    return Made()


def counting(n):
    for each in range(n):
        yield each


def shout(text):
    print(text.upper())


def save(path, text):
    path.write_text(text.upper())


def warned(n):
    if n > 3:
        warnings.warn("too many")
    return n


def logged(n):
    log.warning("n is %d", n)


@contextlib.contextmanager
def managed(x):
    yield x + 1


def keys(d):
    return {k.lower(): v for k, v in d.items()}.keys()
"""
CASES: dict[str, tuple[str, str]] = {
    "lazy": (
        "def test(candidate, reference):\n    assert list(candidate([1])) == list(reference([1]))",
        "def lazy(xs):\n    return map(lambda x: x - 1, xs)",
    ),
    "adder": (
        "def test(candidate, reference):\n    assert abs(candidate(1)(2) - reference(1)(2)) < 1e-9",
        "def adder(n):\n    return lambda x: x - n",
    ),
    "local": (
        (
            "def same(one, other):\n"
            "    if one.get() != other.get():\n"
            "        raise AssertionError\n"
            "def test(candidate, reference):\n"
            "    same(candidate(3), reference(3))"
        ),
        (
            "def local(n):\n"
            "    class Made:\n"
            "        def get(self):\n"
            "            return n - 1\n"
            "    return Made()"
        ),
    ),
    "shout": (
        (
            "def test(candidate, reference, capsys):\n"
            "    candidate('a')\n"
            "    one = capsys.readouterr()\n"
            "    reference('a')\n"
            "    assert one == capsys.readouterr()"
        ),
        "def shout(text):\n    print(text)",
    ),
    "save": (
        (
            "def saved(f, path):\n"
            "    f(path, 'a')\n"
            "    return path.read_text()\n"
            "def test(candidate, reference, tmp_path):\n"
            "    assert saved(candidate, tmp_path / 'a') == saved(reference, tmp_path / 'a')"
        ),
        "def save(path, text):\n    path.write_text(text)",
    ),
    "warned": (
        (
            "import warnings\n"
            "def seen(f):\n"
            "    with warnings.catch_warnings(record=True) as told:\n"
            "        warnings.simplefilter('always')\n"
            "        f(5)\n"
            "    return [str(each.message) for each in told]\n"
            "def test(candidate, reference):\n"
            "    assert seen(candidate) == seen(reference)"
        ),
        "def warned(n):\n    return n",
    ),
    "logged": (
        (
            "def test(candidate, reference, caplog):\n"  # by pytest
            "    candidate(3)\n"
            "    one = caplog.text\n"
            "    caplog.clear()\n"
            "    reference(3)\n"
            "    assert one == caplog.text"
        ),
        "def logged(n):\n    log.warning('n is %d', n + 1)",
    ),
    "managed": (
        (
            "def test(candidate, reference):\n"
            "    with candidate(3) as one, reference(3) as other:\n"
            "        assert one == other"
        ),
        "def managed(x):\n    yield x - 1",
    ),
    "keys": (
        "def test(context):\n    context.check({'A': 1})",
        "def keys(d):\n    return d.keys()",
    ),
}


@pytest.fixture(scope="module")
def referee(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Referee]:
    folder = tmp_path_factory.mktemp("small")
    with refereeing(folder, {"small.py": SOURCE}) as found:
        yield found


@pytest.mark.parametrize("target", CASES)
def test_what_is_seen_of_a_wrong_candidate_differs(referee: Referee, target: str) -> None:
    text, wrong = CASES[target]
    harness = parse_harness(text, referee.ground.program, target=f"small:{target}")
    original = next(n for n in ast.parse(SOURCE).body if getattr(n, "name", "") == target)
    assert isinstance(original, ast.FunctionDef)
    original.decorator_list = []
    assert referee.compare(harness, ast.unparse(original)) == Same()
    found = referee.compare(harness, wrong)
    assert isinstance(found, Different), found
    assert found.why.slug == "differs", found


STEADY = {
    "elapsed": (
        "import time\n"
        "def test(candidate, reference):\n"
        "    started = time.perf_counter()\n"
        "    one = candidate(1)(1)\n"
        "    ended = time.perf_counter()\n"
        "    assert ended - started < 60 and started != ended\n"
        "    assert one == reference(1)(1)"
    ),
    "numbers": (
        "import os, threading\n"
        "def test(candidate, reference):\n"
        "    assert os.getpid() == os.getpid()\n"
        "    assert threading.get_ident() == threading.get_ident()\n"
        "    one = candidate(1)\n"
        "    assert id(one) == id(one)\n"
        "    assert one(1) == reference(1)(1)"
    ),
    "made anew": (
        "import datetime, uuid\n"
        "def test(candidate, reference, tmp_path):\n"
        "    key, now = uuid.uuid4(), datetime.datetime.now()\n"
        "    assert {key: now} == {key: now}\n"
        "    tmp_path.joinpath('a').touch()\n"
        "    assert tmp_path.joinpath('a').stat() == tmp_path.joinpath('a').stat()\n"
        "    assert candidate(1)(1) == reference(1)(1)"
    ),
    "fixtures": (
        "import logging\n"
        "def same(candidate, reference, *fixtures):\n"
        "    assert candidate(1)(1) == reference(1)(1)\n"
        "def test(candidate, reference, caplog, capsys, tmp_path, request, monkeypatch):\n"
        "    logging.warning('told')\n"
        "    assert list(caplog.records) == caplog.records\n"
        "    same(candidate, reference, caplog, capsys, tmp_path, request, monkeypatch)\n"
        "    assert (caplog, request) == (caplog, request)"
    ),
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def seen(f, n):\n"
        "    assert n in (n, str(n))\n"
        "    return f(n)\n"
        "def test(candidate, reference):\n"
        "    given = range(20)\n"
        "    with ThreadPoolExecutor(4) as pool:\n"
        "        one = list(pool.map(lambda n: seen(candidate, n)(1), given))\n"
        "        assert one == list(pool.map(lambda n: seen(reference, n)(1), given))"
    ),
    "as often as there is time": (
        "import time\n"
        "def test(candidate, reference):\n"
        "    until = time.monotonic() + 0.01\n"
        "    number = 0\n"
        "    while time.monotonic() < until:\n"
        "        number += 1\n"
        "        assert number in range(number + 1)\n"
        "    assert candidate(1)(1) == reference(1)(1)"
    ),
}


@pytest.mark.parametrize("name", STEADY)
def test_what_is_never_the_same_says_nothing_of_a_candidate(referee: Referee, name: str) -> None:
    harness = parse_harness(STEADY[name], referee.ground.program, target="small:adder")
    assert referee.compare(harness, "def adder(n):\n    return lambda x: x + n") == Same()
    # The numbers of processes are others each time.
    assert referee.compare(harness, "def adder(n):\n    return lambda x: n + x") == Same()
    found = referee.compare(harness, "def adder(n):\n    return lambda x: x - n")
    assert isinstance(found, Different) or name == "as often as there is time", found


def test_what_a_closure_is_called_inside_is_not_compared(referee: Referee) -> None:
    harness = parse_harness(CASES["adder"][0], referee.ground.program, target="small:adder")
    named = "def adder(n):\n    m = n\n    def added(x):\n        return x + m\n    return added"
    assert referee.compare(harness, named) == Same()


def test_the_lines_of_a_candidate_are_its_own(referee: Referee) -> None:
    harness = parse_harness(CASES["logged"][0], referee.ground.program, target="small:logged")
    longer = "def logged(n):\n    text = 'n is %d'\n    log.warning(text, n)"
    assert referee.compare(harness, longer) == Same()
    other = "def logged(n):\n    log.warning('small.py:1 %d', n)"
    assert isinstance(referee.compare(harness, other), Different)


def test_steps_of_a_generator_are_not_dear(referee: Referee) -> None:
    """Looking at all files around each of them took minutes."""
    text = (
        "def test(candidate, reference, tmp_path):\n"
        "    for number in range(50):\n"
        "        (tmp_path / str(number)).touch()\n"
        "    assert list(candidate(10000)) == list(reference(10000))"
    )
    harness = parse_harness(text, referee.ground.program, target="small:counting")
    started = time.monotonic()
    found = referee.compare(harness, "def counting(n):\n    yield from range(n)")
    assert found == Same()
    assert time.monotonic() - started < 45


def test_the_original_is_like_itself_where_times_are_compared(tmp_path: Path) -> None:
    files = {
        "small.py": """
            def adder(n):
                return n + 1
            """
    }
    text = """
import time

def same(candidate, reference, caplog):
    for number in range(-3, 3):
        assert candidate(number) == reference(number)

def test(candidate, reference, caplog):
    started = time.perf_counter()
    same(candidate, reference, caplog)
    ended = time.perf_counter()
    assert ended - started < 60 and ended != started
"""
    with validating(tmp_path, files, gates=Gates(mutants=4)) as session:
        verdict = verdict_on(session, "small:adder", text)
    assert isinstance(verdict, Accepted), verdict


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("assert f(1) == [1, -2]", "assert f(1) == [1, -2]"),
        ("a = b in c", "a = N(b) in N(c)"),
        ("a = b < c", "a = b < c"),
        ("a = b - c", "a = b - c"),
        ("assert not a ^ b, c == d", "assert not a ^ b, c == d"),
        (
            "a = candidate(b)\nassert not a ^ b, c == d",
            "a = candidate(b)\nassert not N(a) ^ N(b), c == d",
        ),
        ("assert isclose(a, candidate(b), rel=1)", "assert isclose(a, N(candidate(b)), rel=1)"),
        ("assert all((a == b for a in c))", "assert all((N(a) == N(b) for a in c))"),
        ("a = assert_same(b, key=c)", "a = assert_same(N(b), key=N(c))"),
        ("same(candidate, reference, b)", "same(candidate, reference, b)"),
        (
            "same(reference(a), *self.candidate(b), c)",
            "same(N(reference(a)), *N(self.candidate(b)), c)",
        ),
        (
            "with a(candidate) as b:\n    for c, d in b:\n        same(c, d, e)",
            "with a(candidate) as b:\n    for c, d in b:\n        same(N(c), N(d), e)",
        ),
        ("a = same(candidate(b))", "a = same(candidate(b))"),
        ("reference(a)", "reference(a)"),
        ("say(f'{candidate(a) == b}')", "say(N(f'{candidate(a) == b}'))"),
        ("print(a)", "print(a)"),
        ("log.error(format_exc())", "log.error(format_exc())"),
    ],
)
def test_what_is_noted(text: str, noted: str) -> None:
    told = ast.unparse(noting(text, "harness.py")).replace("_depslice_compared", "N")
    assert told == noted


def taking(n: int) -> Any:
    return lambda x=n: x


def naming(n: int) -> Any:
    return lambda *, x=n: x


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}.keys(), {"b": 1}.keys()),
        ({"a": 1}.items(), {"a": 2}.items()),
        ({"a": 1}.values(), {"a": 2}.values()),
        (OrderedDict(a=1, b=1).keys(), OrderedDict(b=1, a=1).keys()),
        (memoryview(b"ab"), memoryview(b"ac")),
        (*re.finditer("a", "aa"),),
        ({"a": 1}.get, {"a": 2}.get),
        (hashlib.sha256(b"a"), hashlib.sha256(b"b")),
        (hashlib.shake_128(b"a"), hashlib.shake_128(b"b")),
        (taking(1), taking(2)),
        (naming(1), naming(2)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_c_keeps_to_itself_is_compared(one: Any, other: Any) -> None:
    assert difference(one, one) is None
    assert difference(one, other) is not None


def test_a_row_of_a_database_is_compared() -> None:
    with sqlite3.connect(":memory:") as connection:
        connection.row_factory = sqlite3.Row
        one, other = connection.execute("select 1 union select 2").fetchall()
    assert difference(one, one) is None
    assert difference(one, other) is not None


def test_the_order_of_keys_is_not_compared() -> None:
    assert difference({"a": 1, "b": 2}.keys(), {"b": 2, "a": 1}.keys()) is None
    released = memoryview(b"a")
    released.release()
    assert difference(released, memoryview(b"a")) is not None


def test_a_stream_that_is_heard_is_like_itself(tmp_path: Path) -> None:
    heard: list[str] = []
    with (tmp_path / "out.txt").open("w", encoding="latin-1") as file:
        echo = Echo(file, heard.append)
        assert (echo.encoding, echo.fileno(), echo.isatty()) == ("latin-1", file.fileno(), False)
        print("a", "b", file=echo)
        echo.writelines(["c", "d"])
        echo.flush()
        del echo
        assert not file.closed
    assert "".join(heard) == "a b\ncd" == (tmp_path / "out.txt").read_text(encoding="latin-1")


def test_a_bound_method_is_made_each_time() -> None:
    """Whether two places hold one and the same, nobody means."""
    path = Path("a")
    method = path.exists
    assert difference([method, method], [path.exists, path.exists]) is None
    assert difference([method], [Path("b").exists]) is not None


PARTIALS = """
import functools, operator
import small

class Mine(functools.partial):
    pass

def test_partials(context, candidate, reference):
    for kind in (functools.partial, Mine):
        context.check_with(lambda: ((kind(small.adder, 1),), {}))
        made = kind(small.adder, 2)
        assert candidate(made) == reference(made) == 5
        assert made.func is small.adder
"""


def test_partials_go_from_side_to_side(tmp_path: Path) -> None:
    """What they hold cannot be set as attributes."""
    files = {
        "small.py": """
            def adder(n):
                return n + 1

            def used(f):
                return f() + 2
            """
    }
    gates = Gates(mutants=4)
    with validating(tmp_path, files, gates=gates) as session:
        verdict = verdict_on(session, "small:used", PARTIALS)
    assert isinstance(verdict, Accepted), verdict
