"""Answers that are kept, caps, pace: what stands between the port and a provider."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

import pytest

from depslice.callgraph.errors import OptionError
from depslice.llm import Caps, Mode, ModelSettings, OpenModel, Options, Pace, open_model
from depslice.llm.expecting import expected_usage
from depslice.llm.pacing import Paced
from depslice.llm.port import (
    CacheMiss,
    CapReached,
    Completion,
    ModelUnavailable,
    RateLimited,
    Usage,
)
from depslice.llm.prices import FixedPrice, parse_price
from depslice.llm.request import Request, Transient
from depslice.llm.retrying import Patience, Retrying
from depslice.prompts import Message
from endpoint import Asked, Reply, chat, serving


def question(text: str) -> list[Message]:
    return [Message(role="user", content=text)]


def echo(asked: Asked) -> Reply:
    return chat(f"You said {asked.body['messages'][0]['content']}.")


def model_at(url: str, folder: Path, mode: Mode = Mode.USE, **settings: object) -> OpenModel:
    chosen = {"base_url": url, "completions": folder, "mode": mode, **settings}
    return open_model("m", ModelSettings(**chosen))  # type: ignore[arg-type]


def snapshot(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# Recorded answers.


def test_what_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    with serving(echo) as provider:
        with model_at(provider.url, tmp_path) as model:
            first = model.complete(question("a"), n=2)
        with model_at(provider.url, tmp_path) as model:
            again = model.complete(question("a"), n=3)
            assert model.ledger.spent.calls == 1
        assert len(provider.asked) == 3
    assert [each.from_cache for each in first + again] == [False, False, True, True, False]
    assert [each.usage for each in again[:2]] == [each.usage for each in first]
    assert again[0].spent == Usage()


def test_a_replay_is_the_same_byte_for_byte_and_needs_no_network(tmp_path: Path) -> None:
    with serving(echo) as provider, model_at(provider.url, tmp_path) as model:
        recorded = model.complete(question("a"), n=2)
    before = snapshot(tmp_path)
    replays = []
    for _ in range(2):  # the endpoint is gone
        with model_at(provider.url, tmp_path, Mode.REPLAY) as model:
            replays.append(model.complete(question("a"), n=2))
            with pytest.raises(CacheMiss, match="no recorded answer"):
                model.complete(question("b"))
    assert repr(replays[0]) == repr(replays[1])
    assert [(e.text, e.usage) for e in replays[0]] == [(e.text, e.usage) for e in recorded]
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    "options",
    [
        Options(temperature=0.1),
        Options(temperature=None),
        Options(top_p=0.5),
        Options(max_tokens=7),
        Options(stop=("x",)),
        Options(seed=0),
    ],
)
def test_other_options_are_another_question(tmp_path: Path, options: Options) -> None:
    with serving(echo) as provider, model_at(provider.url, tmp_path) as model:
        model.complete(question("a"))
        assert not model.complete(question("a"), options=options)[0].from_cache


def test_roles_and_models_are_part_of_the_question(tmp_path: Path) -> None:
    with serving(echo) as provider:
        with model_at(provider.url, tmp_path) as model:
            model.complete(question("a"))
            [other] = model.complete([Message(role="system", content="a")])
        settings = ModelSettings(base_url=provider.url, completions=tmp_path)
        with open_model("n", settings) as model:
            [another] = model.complete(question("a"))
    assert not other.from_cache
    assert not another.from_cache


def test_refresh_asks_again_and_keeps_the_new_answer(tmp_path: Path) -> None:
    with serving([chat("old"), chat("new"), chat("newer")]) as provider:
        for mode, text in ((Mode.USE, "old"), (Mode.REFRESH, "new"), (Mode.USE, "new")):
            with model_at(provider.url, tmp_path, mode) as model:
                assert model.complete(question("a"))[0].text == text
        with model_at(provider.url, tmp_path / "off", Mode.OFF) as model:
            assert model.complete(question("a"))[0].text == "newer"
    assert not (tmp_path / "off").exists()


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"question": 1}'])
def test_a_damaged_answer_is_asked_for_again(tmp_path: Path, damage: str) -> None:
    with serving(echo) as provider, model_at(provider.url, tmp_path) as model:
        model.complete(question("a"))
        [path] = tmp_path.rglob("*.json")
        good = json.loads(path.read_text(encoding="utf-8"))["answer"]["text"]
        path.write_text(damage, encoding="utf-8")
        assert model.complete(question("a"))[0].text == good
        assert model.complete(question("a"))[0].from_cache


def test_the_same_question_twice_at_once_is_asked_once(tmp_path: Path) -> None:
    with serving(echo) as provider, model_at(provider.url, tmp_path) as model:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: model.complete(question("a")), range(8)))
        assert len(provider.asked) == 1
    assert len({each.text for [each] in answers}) == 1


def test_the_same_question_by_two_runs_at_once_is_asked_once(tmp_path: Path) -> None:
    both, answered = threading.Barrier(2), threading.Event()

    def late(asked: Asked) -> Reply:
        answered.wait(0.5)  # until the other run has had time to ask, too
        return echo(asked)

    def run() -> Completion:
        with model_at(provider.url, tmp_path) as model:  # each with a lock of its own, as processes
            both.wait()
            return model.complete(question("a"))[0]

    with serving(late) as provider, ThreadPoolExecutor(2) as pool:
        found = [each.result() for each in [pool.submit(run), pool.submit(run)]]
        assert len(provider.asked) == 1
    assert sorted(each.from_cache for each in found) == [False, True]
    assert [path.suffix for path in tmp_path.rglob("*") if path.is_file()] == [".json"]


def test_a_run_that_was_killed_while_it_asked_stops_no_other(tmp_path: Path) -> None:
    with serving(echo) as provider, model_at(provider.url, tmp_path) as model:
        model.complete(question("a"))
        [answer] = tmp_path.rglob("*.json")
        answer.rename(answer.with_suffix(".asked"))  # what it has locked is still there
        model.complete(question("a"))
        assert [path.suffix for path in tmp_path.rglob("*") if path.is_file()] == [".json"]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with (
        serving(echo) as provider,
        model_at(provider.url, tmp_path / "file") as model,
        pytest.raises(OptionError, match="cannot keep completions"),
    ):
        model.complete(question("a"))


def test_a_killed_run_resumes_without_paying_twice(tmp_path: Path) -> None:
    program = dedent("""
        import sys
        from pathlib import Path
        from depslice.llm import ModelSettings, open_model
        from depslice.prompts import Message
        settings = ModelSettings(base_url=sys.argv[1], completions=Path(sys.argv[2]))
        model = open_model("m", settings)
        for number in range(6):
            model.complete([Message(role="user", content=str(number))])
    """)
    started: list[subprocess.Popen[bytes]] = []

    def kills(asked: Asked) -> Reply:
        if len(provider.asked) == 4:
            started[0].kill()
        return echo(asked)

    with serving(kills) as provider:
        command = [sys.executable, "-c", program, provider.url, str(tmp_path)]
        for _ in range(2):
            started.append(subprocess.Popen(command))
            started[-1].wait(120)
        asked = [each.body["messages"][0]["content"] for each in provider.asked]
    assert [each.returncode for each in started] == [-9, 0]
    # The request in flight when it was killed is the only one that is asked again.
    assert asked == ["0", "1", "2", "3", "3", "4", "5"]
    assert not list(tmp_path.rglob("*.part"))


# Caps.


@pytest.mark.parametrize(
    ("caps", "requests"),
    [
        (Caps(calls=3), 3),
        (Caps(tokens=31), 3),  # 15 each: 30 are below, the next one passes it
        (Caps(tokens=30), 2),
        (Caps(dollars=0.000_02), 2),  # 0.000015 each
    ],
)
def test_a_cap_stops_within_one_request(tmp_path: Path, caps: Caps, requests: int) -> None:
    price = FixedPrice(input=1.0, output=1.0)
    with (
        serving(echo) as provider,
        model_at(provider.url, tmp_path, caps=caps, price=price) as model,
    ):
        answered = 0
        with pytest.raises(CapReached, match="the run's cap of"):
            for number in range(10):
                model.complete(question(str(number)))
                answered += 1
        assert answered == requests == len(provider.asked)
        # What is recorded can still be had.
        assert model.complete(question("0"))[0].from_cache


def test_a_cap_holds_for_many_at_once(tmp_path: Path) -> None:
    caps = Caps(tokens=40)
    with (
        serving(echo) as provider,
        model_at(provider.url, tmp_path, caps=caps, pace=Pace(concurrency=8)) as model,
        ThreadPoolExecutor(8) as pool,
    ):
        futures = [pool.submit(model.complete, question(str(number))) for number in range(16)]
        failed = [each.exception() for each in futures if each.exception()]
    assert len(provider.asked) == 3  # 15 each: 30 < 40 <= 45
    assert len(failed) == 13
    assert all(isinstance(each, CapReached) for each in failed)


def test_a_task_stops_at_the_same_request_when_it_is_replayed(tmp_path: Path) -> None:
    with serving(echo) as provider:
        asked = []
        for mode in (Mode.USE, Mode.REPLAY):
            with model_at(provider.url, tmp_path, mode) as model:
                task = model.for_task(Caps(calls=2))
                with pytest.raises(CapReached, match="the task's cap of 2 calls"):
                    for number in range(5):
                        task.complete(question(str(number)))
                asked.append(task.ledger.spent.calls)
        assert len(provider.asked) == 2
    assert asked == [2, 2]


def test_what_is_expected_is_at_least_what_is_spent() -> None:
    price = FixedPrice(input=1.0, output=2.0)
    usage = expected_usage(question("four"), price, n=3, options=Options(max_tokens=100))
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (3, 15, 300)
    assert usage.dollars == pytest.approx((15 + 600) / 1e6)


def test_prices_are_read() -> None:
    assert parse_price("0.5/2") == FixedPrice(input=0.5, output=2.0)
    assert parse_price("1/2/0.1") == FixedPrice(input=1.0, output=2.0, cached=0.1)
    for nonsense in ("", "1", "1/2/3/4", "-1/2", "a/b", "inf/1", "nan/1"):
        with pytest.raises(OptionError, match="is no price"):
            parse_price(nonsense)


# Pace, by a clock that is turned by hand.


@dataclass
class Hand:
    """A clock that only sleeping moves."""

    time: float = 0.0
    slept: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds


@dataclass
class Answering:
    """Answers at once, with 10 tokens; or fails as it is told."""

    failures: list[Exception] = field(default_factory=list)
    name: str = "m"
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, request: Request) -> Completion:
        with self.lock:
            self.at_once += 1
            self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            if self.failures:
                raise self.failures.pop(0)
            usage = Usage(calls=1, input_tokens=6, output_tokens=4)
            threading.Event().wait(0.01)
            return Completion(text="x", finish_reason="stop", usage=usage)
        finally:
            with self.lock:
                self.at_once -= 1


REQUEST = Request(messages=tuple(question("abcd" * 5)), options=Options(max_tokens=11))


@pytest.mark.parametrize(
    ("pace", "times"),
    [
        (Pace(), [0, 0, 0, 0, 0]),
        (Pace(requests_per_minute=2), [0, 0, 60, 60, 120]),
        # A request is expected to take 9 + 11 tokens, and then has taken 10.
        (Pace(tokens_per_minute=30), [0, 0, 60, 60, 120]),
        (Pace(tokens_per_minute=5), [0, 60, 120, 180, 240]),
    ],
)
def test_pace(pace: Pace, times: list[float]) -> None:
    clock = Hand()
    paced = Paced(Answering(), pace, concurrency=1, patience=180, clock=clock)
    seen = []
    for _ in times:
        paced.ask(REQUEST)
        seen.append(clock.time)
    assert seen == times


def test_no_more_at_once_than_allowed() -> None:
    source = Answering()
    paced = Paced(source, Pace(), concurrency=3, patience=180, clock=Hand())
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(paced.ask, [REQUEST] * 24))
    assert source.most_at_once == 3


def test_all_wait_when_a_provider_asks_for_it() -> None:
    clock = Hand()
    source = Answering([Transient(RateLimited("slow down"), retry_after=30.0)])
    paced = Paced(source, Pace(), concurrency=2, patience=180, clock=clock)
    with pytest.raises(Transient):
        paced.ask(REQUEST)
    paced.ask(REQUEST)
    assert clock.time == 30


def test_nobody_waits_for_a_provider_that_is_away_for_hours() -> None:
    clock = Hand()
    source = Answering([Transient(RateLimited("no more today"), retry_after=3600.0)])
    paced = Paced(source, Pace(), concurrency=2, patience=180, clock=clock)
    model = Retrying(paced, Patience(seconds=180), clock)
    with pytest.raises(RateLimited, match="no more today"):
        model.ask(REQUEST)
    with pytest.raises(RateLimited, match="3,600 seconds"):
        model.ask(REQUEST)
    assert clock.time == 0
    clock.time = 3600.0
    assert model.ask(REQUEST)


def test_what_does_not_answer_in_time_is_not_asked_for_an_hour() -> None:
    clock = Hand()
    silent = [Transient(ModelUnavailable("no answer"), waited=100) for _ in range(9)]
    source = Answering(silent)
    with pytest.raises(ModelUnavailable):
        Retrying(source, Patience(tries=6, seconds=180, first=1), clock).ask(REQUEST)
    assert len(clock.slept) == 1  # the second time 200 seconds have gone by


def test_waits_double_and_end() -> None:
    clock = Hand()
    source = Answering([Transient(RateLimited("slow down")) for _ in range(9)])
    with pytest.raises(RateLimited):
        Retrying(source, Patience(tries=5, seconds=100, first=1), clock).ask(REQUEST)
    assert len(clock.slept) == 4
    for number, wait in enumerate(clock.slept):
        assert 2**number / 2 <= wait <= 2**number
