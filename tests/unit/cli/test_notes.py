"""What is said while a command works: lines where nobody looks, one line of a terminal."""

from __future__ import annotations

import io

import pytest

from depslice.cli import notes as module
from depslice.cli.notes import Notes
from depslice.cli.options import Output


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """Goes on by seconds as it is told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(module, "time", found)
    return found


def notes(*, quiet: bool = False) -> Notes:
    return Notes(Output(path=None, quiet=quiet, verbose=False, color=False))


def work(clock: Clock, seconds: float, **options: bool) -> str:
    """Ten things done, each in ``seconds``; what is said meanwhile."""
    with notes(quiet=options.pop("quiet", False)).progress("things", **options) as progress:
        for done in range(10):
            progress(done, 10)
            clock.now += seconds
    assert module.sys.stderr is not None
    text: str = module.sys.stderr.getvalue()  # type: ignore[attr-defined]
    return text


def test_lines_are_written_now_and_then(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert work(clock, 4.0) == "things 3/10\nthings 6/10\nthings 9/10\n"


def test_what_is_slow_is_told_when_it_begins(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert work(clock, 0.1, slow=True) == "things 0/10\n"


def test_what_is_quick_or_quiet_is_not_told(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert work(clock, 0.1) == ""
    assert work(clock, 60.0, slow=True, quiet=True) == ""


def test_what_is_at_hand_is_named_at_once_and_on_one_line(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "30")
    with notes().progress("harnesses") as progress:
        progress(0, 2)
        progress(0, 2, "m:f (replay, draft 1)")
        progress(0, 2, "m:f (replay, draft 1)")
        progress(0, 2, "m:f (replay, draft 1: validating)")
    with notes().steps("m:f") as step:
        step("recording")
        step("replaying")
    assert module.sys.stderr.getvalue().split("\r\x1b[K") == [  # type: ignore[union-attr]
        "",
        "harnesses 0/2",
        "harnesses 0/2: m:f (replay, …",
        "harnesses 0/2: m:f (replay, …",
        "",
        "m:f: recording",
        "m:f: replaying",
        "",
    ]


def test_quiet_leaves_what_tells_of_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    said = notes(quiet=True)
    said.say("how it came to be")
    said.tell("the check fails")
    assert module.sys.stderr.getvalue() == "the check fails\n"  # type: ignore[union-attr]


def test_a_terminal_has_one_line_that_is_gone_at_the_end(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    text = work(clock, 0.06)
    assert "\n" not in text
    assert text.startswith("\r\x1b[Kthings 0/10\r\x1b[Kthings 2/10")
    assert text.endswith("\r\x1b[K")


def test_what_is_counted_without_an_end_gets_a_hint_when_it_takes_long(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with notes().count("definitions found", hint="ask for less") as progress:
        for number in range(0, 4000, 1000):
            progress(number)
            clock.now += 12.0
    assert module.sys.stderr.getvalue() == (  # type: ignore[union-attr]
        "definitions found: 1,000 so far\nask for less\n"
        "definitions found: 2,000 so far\ndefinitions found: 3,000 so far\n"
    )
