"""Both protocols, through the SDKs and real HTTP, with everything that can go wrong."""

from __future__ import annotations

import json
import logging
import re
import socket
import time
from pathlib import Path

import pytest

from depslice.callgraph.errors import OptionError
from depslice.llm import (
    Caps,
    Mode,
    ModelError,
    ModelSettings,
    OpenModel,
    Options,
    Usage,
    open_model,
)
from depslice.llm.clock import RealClock
from depslice.llm.expecting import input_tokens
from depslice.llm.port import BadReply, ModelUnavailable, PromptTooLong, RateLimited, Unauthorized
from depslice.llm.prices import FixedPrice, Tokens
from depslice.llm.providers.failing import retry_after
from depslice.llm.retrying import Patience
from depslice.prompts import Message
from depslice.slicer.tokens import count_tokens
from endpoint import FakeProvider, Reply, Script, as_json, chat, failure, message, serving

SPECS = {"openai": "openai:m", "anthropic": "anthropic:m"}
ANSWERS = {"openai": chat, "anthropic": message}
QUESTION = [Message(role="system", content="Be brief."), Message(role="user", content="Why?")]
CANARY = "sk-canary-7f3a91d2c4"


def model_at(url: str, spec: str = "openai:m", **settings: object) -> OpenModel:
    chosen: dict[str, object] = {
        "base_url": url.removesuffix("/v1") if spec.startswith("anthropic") else url,
        "mode": Mode.OFF,
        "patience": Patience(tries=3, seconds=5, first=0.01),
        "timeout": 20.0,
        **settings,
    }
    return open_model(spec, ModelSettings(**chosen))  # type: ignore[arg-type]


@pytest.fixture(params=SPECS)
def protocol(request: pytest.FixtureRequest) -> str:
    return request.param


def asked_of(script: Script, protocol: str = "openai") -> tuple[object, FakeProvider]:
    """The completion, or the failure, and what the endpoint has seen."""
    with serving(script) as provider, model_at(provider.url, SPECS[protocol]) as model:
        try:
            return model.complete(QUESTION)[0], provider
        except ModelError as error:
            return error, provider


def test_a_completion(protocol: str) -> None:
    with serving([ANSWERS[protocol]("Because.")]) as provider:
        price = FixedPrice(input=1.0, output=2.0, cached=0.5)
        with model_at(provider.url, SPECS[protocol], price=price) as model:
            [completion] = model.complete(
                QUESTION, options=Options(temperature=0.5, max_tokens=77, stop=("END",))
            )
    assert completion.text == "Because."
    assert completion.finish_reason == "stop"
    usage = completion.usage
    assert (usage.calls, usage.input_tokens, usage.cached_tokens) == (1, 10, 4)
    assert usage.output_tokens == 5
    assert usage.dollars == pytest.approx((6 * 1.0 + 4 * 0.5 + 5 * 2.0) / 1e6)
    [asked] = provider.asked
    assert asked.body["max_tokens"] == 77
    assert asked.body.get("temperature") == (0.5 if protocol == "openai" else None)
    assert (asked.body.get("stop") or asked.body["stop_sequences"]) == ["END"]
    assert asked.body["model"] == "m"
    assert "Be brief." in str(asked.body)
    assert asked.body["messages"][-1] == {"role": "user", "content": "Why?"}


def test_each_sample_has_its_own_seed() -> None:
    with serving([chat("x")]) as provider, model_at(provider.url) as model:
        model.complete(QUESTION, n=3, options=Options(seed=40))
    assert sorted(asked.body["seed"] for asked in provider.asked) == [40, 41, 42]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (chat("def f(", reason="length"), "length"),
        (chat("", reason="content_filter"), "refused"),
        (chat("x", reason="something new"), "other"),
        (message("def f(", reason="max_tokens"), "length"),
        (message("", reason="refusal"), "refused"),
    ],
)
def test_how_it_ended_is_told(reply: Reply, reason: str) -> None:
    protocol = "anthropic" if b'"stop_reason"' in reply.body else "openai"
    completion, _ = asked_of([reply], protocol)
    assert completion.finish_reason == reason  # type: ignore[attr-defined]


def test_an_empty_completion_is_one() -> None:
    completion, _ = asked_of([chat(None)])
    assert completion.text == ""  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        [7],
        {"prompt_tokens": "12", "input_tokens": "12"},
        {"prompt_tokens": -1, "input_tokens": -1, "prompt_tokens_details": "?"},
    ],
)
def test_usage_that_is_not_reported_is_estimated(protocol: str, usage: object) -> None:
    document = json.loads(ANSWERS[protocol]("Because.").body)
    completion, _ = asked_of([as_json({**document, "usage": usage})], protocol)
    found = completion.usage  # type: ignore[attr-defined]
    assert found.input_tokens == input_tokens(QUESTION)
    assert found.output_tokens == count_tokens("Because.")
    assert found.cached_tokens == 0


def test_an_end_that_no_protocol_knows() -> None:
    document = json.loads(chat("Because.").body)
    document["choices"][0]["finish_reason"] = ["stop"]
    completion, _ = asked_of([as_json(document)])
    assert completion.finish_reason == "other"  # type: ignore[attr-defined]


def test_a_huge_completion() -> None:
    text = "x = 1\n" * 100_000
    completion, _ = asked_of([chat(text, tokens=(10, 100_000))])
    assert completion.text == text  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("reply", "kind", "requests"),
    [
        (failure(401), Unauthorized, 1),
        (failure(403), Unauthorized, 1),
        (failure(404), ModelUnavailable, 1),
        (failure(400, "context is too long"), PromptTooLong, 1),
        (failure(400, "no such parameter"), BadReply, 1),
        (failure(429), RateLimited, 3),
        (failure(429, retry_after="3600"), RateLimited, 1),
        (failure(500), ModelUnavailable, 3),
        (failure(529), ModelUnavailable, 3),
        (Reply(body=b"<html>down</html>", headers={"content-type": "text/html"}), BadReply, 3),
        (Reply(body=b"\xff{", headers={"content-type": "application/json"}), BadReply, 3),
        (Reply(body=b"[" * 200_000, headers={"content-type": "application/json"}), BadReply, 3),
        (as_json({}), BadReply, 3),
        (as_json([]), BadReply, 3),
        (as_json(None), BadReply, 3),
        (as_json({"choices": [], "content": None}), BadReply, 3),
        (as_json({"choices": [{"message": None}], "content": [7]}), BadReply, 3),
    ],
)
def test_failures(protocol: str, reply: Reply, kind: type[ModelError], requests: int) -> None:
    error, provider = asked_of([reply], protocol)
    assert type(error) is kind
    assert "\n" not in str(error)
    assert len(str(error)) < 500
    assert len(provider.asked) == requests


def test_a_connection_that_breaks(protocol: str) -> None:
    whole = ANSWERS[protocol]("Because.")
    broken = Reply(body=whole.body, headers=whole.headers, cut=20)
    error, provider = asked_of([broken], protocol)
    assert type(error) is ModelUnavailable
    completion, provider = asked_of([broken, whole], protocol)
    assert completion.text == "Because."  # type: ignore[attr-defined]
    assert len(provider.asked) == 2


def test_nobody_listens(protocol: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with (
        model_at(f"http://127.0.0.1:{port}/v1", SPECS[protocol]) as model,
        pytest.raises(ModelUnavailable, match="cannot be reached"),
    ):
        model.complete(QUESTION)


def test_retry_after_is_honoured(protocol: str) -> None:
    script = [failure(429, retry_after="0.4"), ANSWERS[protocol]("Because.")]
    started = time.monotonic()
    completion, provider = asked_of(script, protocol)
    assert completion.text == "Because."  # type: ignore[attr-defined]
    assert time.monotonic() - started >= 0.4
    assert len(provider.asked) == 2


def test_a_broken_reply_is_asked_for_again(protocol: str) -> None:
    """A proxy that stumbles once ended a whole evaluation."""
    whole = ANSWERS[protocol]("Because.")
    cut = Reply(body=whole.body[:40], headers=whole.headers)
    passing = as_json({"error": {"code": 502, "message": "upstream"}})
    answer, provider = asked_of([cut, passing, whole], protocol)
    assert getattr(answer, "text", answer) == "Because."
    assert len(provider.asked) == 3


def test_nobody_waits_for_long_for_what_was_never_an_endpoint() -> None:
    page = Reply(body=b"<html>hello</html>", headers={"content-type": "text/html"})
    patience = Patience(tries=9, seconds=60, first=0.01)
    with serving([page]) as provider, model_at(provider.url, patience=patience) as model:
        with pytest.raises(BadReply):
            model.complete(QUESTION)
        assert len(provider.asked) == 3


def test_who_refuses_connections_is_not_waited_for(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For 40 seconds nothing was said of a server that had never been started."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
    told: list[str] = []
    slept: list[float] = []
    monkeypatch.setattr(RealClock, "sleep", lambda _self, seconds: slept.append(seconds))
    with model_at(url, SPECS[protocol], patience=Patience(), say=told.append) as model:
        for _ in range(2):
            with pytest.raises(ModelUnavailable, match=r"cannot be reached: .*refused"):
                model.complete(QUESTION)
    assert len(slept) == 2
    [line] = told
    assert re.search(r"cannot be reached: .*refused; asking again in \d\.\d seconds$", line)


def test_a_failure_that_is_asked_again_is_told_once_a_kind() -> None:
    told: list[str] = []
    script = [failure(429), failure(500), failure(429), chat("Because.")]
    patience = Patience(first=0.01)
    with (
        serving(script) as provider,
        model_at(provider.url, patience=patience, say=told.append) as model,
    ):
        assert model.complete(QUESTION)[0].text == "Because."
    assert [re.search(r"HTTP \d+", each)[0] for each in told] == ["HTTP 429", "HTTP 500"]


def test_a_spent_quota_is_not_tried_again() -> None:
    body = {"error": {"message": "quota", "code": "insufficient_quota"}}
    error, provider = asked_of([as_json(body, status=429)])
    assert type(error) is RateLimited
    assert len(provider.asked) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_the_key_is_sent_and_goes_nowhere_else(
    protocol: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("DEPSLICE_API_KEY", CANARY)
    monkeypatch.setenv("OPENAI_LOG", "debug")
    monkeypatch.setenv("ANTHROPIC_LOG", "debug")
    answer = ANSWERS[protocol](f"your key is {CANARY}")
    script = [
        answer,
        failure(401, f"Incorrect API key provided: {CANARY}"),
        failure(400, f"{CANARY} {CANARY}"),
        as_json({"error": CANARY}),
        Reply(body=CANARY.encode()),
    ]
    told = []
    with serving(script) as provider:
        settings = {
            "mode": Mode.USE,
            "completions": tmp_path / "completions",
            "patience": Patience(tries=1),
        }
        with model_at(provider.url, SPECS[protocol], **settings) as model:
            for number, _ in enumerate(script):
                question = [Message(role="user", content=str(number))]
                try:
                    told.append(repr(model.complete(question)))
                except ModelError as error:
                    told.append(f"{error!r} {error.hint} {error.__cause__!r}")
            told.append(repr(vars(model)))
    assert all(CANARY in str(asked.headers) for asked in provider.asked)
    assert len(provider.asked) == len(script)
    captured = capfd.readouterr()
    assert CANARY not in "".join((*told, captured.out, captured.err, caplog.text))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert all(CANARY not in path.read_text(encoding="utf-8") for path in files)
    assert "your key is [key]" in files[0].read_text(encoding="utf-8")


def test_a_providers_key_is_not_sent_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.delenv("DEPSLICE_API_KEY", raising=False)
    _, provider = asked_of([chat("x")])
    assert CANARY not in str(provider.asked[0].headers)


def test_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(Unauthorized, match="OPENAI_API_KEY"):
        open_model("openai:m")
    monkeypatch.setenv("OPENAI_API_KEY", "two\nlines")
    with pytest.raises(Unauthorized, match="characters"):
        open_model("openai:m")


@pytest.mark.parametrize(
    ("spec", "settings"),
    [
        ("", ModelSettings()),
        ("m", ModelSettings()),
        ("openai:", ModelSettings()),
        ("local:", ModelSettings()),
        ("m", ModelSettings(base_url="not a url")),
        ("m", ModelSettings(base_url="http://user:secret@127.0.0.1/v1")),
        ("m", ModelSettings(base_url="http://127.0.0.1/v1?key=secret")),
        ("m", ModelSettings(base_url="http://127.0.0.1/v1", caps=Caps(dollars=1.0))),
    ],
)
def test_what_names_no_model(spec: str, settings: ModelSettings) -> None:
    with pytest.raises(OptionError) as failed:
        open_model(spec, settings)
    assert "secret" not in str(failed.value)


def test_usages_add_up() -> None:
    one = Usage(calls=1, input_tokens=10, cached_tokens=4, output_tokens=5, seconds=1, dollars=0.5)
    assert one + one == Usage(
        calls=2, input_tokens=20, cached_tokens=8, output_tokens=10, seconds=2, dollars=1.0
    )
    assert (one + Usage(dollars=None)).dollars is None


def test_list_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    with open_model("openai:gpt-4o") as model:
        dollars = model.price.dollars(Tokens(input=1_000_000, output=0))
    assert dollars is not None
    assert 0 < dollars < 1000
    with open_model("openai:of-tomorrow") as model:
        assert model.price.dollars(Tokens(input=1, output=1)) is None
