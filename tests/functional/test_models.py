"""Commands that write prompts or ask a model, against an endpoint in this process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from endpoint import Asked, Reply, chat, failure, serving
from functional.running import Depslice

CANARY = "sk-canary-51d2"


def test_prompt_as_text_json_and_files(depslice: Depslice, shop: Path, tmp_path: Path) -> None:
    text = depslice("prompt", shop, "quote", "--strategy", "naive")
    assert text.code == 0
    assert text.out.startswith("=== system\nYou write test harnesses")
    assert "=== user\nshop/api.py:" in text.out
    assert "builder equivalence 1, strategy naive" in text.err
    found = json.loads(depslice("prompt", shop, "quote", "--format", "json").out)
    assert found["schema"] == "depslice.prompt/1"
    assert found["target"] == "shop.api:quote"
    assert [each["role"] for each in found["messages"]] == ["system", "user"]
    folder = tmp_path / "out"
    arguments = ("prompt", shop, "quote", "--builder", "direct", "--format", "files", "-o", folder)
    assert depslice(*arguments).code == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "1-system.txt",
        "2-user.txt",
        "prompt.json",
    ]
    about = json.loads((folder / "prompt.json").read_text(encoding="utf-8"))
    assert about["messages"] == ["1-system.txt", "2-user.txt"]
    assert "is not empty" in depslice(*arguments).error


def test_prompt_for_a_repair(depslice: Depslice, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "h.py").write_text("def test_it(candidate): ...\n", encoding="utf-8")
    verdict = {
        "reasons": [{"slug": "coverage", "message": "half of it"}],
        "evidence": {"branches_missed": [[3, 4]], "mutants": {"survived": [{"diff": "-a\n+b"}]}},
    }
    (tmp_path / "v.json").write_text(json.dumps(verdict), encoding="utf-8")
    done = depslice(
        "prompt", shop, "quote", "--builder", "repair",
        "--harness", tmp_path / "h.py", "--verdict", tmp_path / "v.json",
    )  # fmt: skip
    assert done.code == 0, done.err
    for told in ("coverage: half of it", "line 3 to line 4", "+b", "def test_it(candidate)"):
        assert told in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("prompt", "SHOP", "quote", "--builder", "rhyme"), "no prompt builder is called 'rhyme'"),
        (("prompt", "SHOP", "quote", "--builder", "repair"), "nothing to repair"),
        (("prompt", "SHOP", "Stock"), "prompts are about functions"),
        (("prompt", "SHOP", "quote", "--format", "files"), "needs a folder"),
        (("prompt", "SHOP", "quote", "--harness", "SHOP/shop/api.py"), "go together"),
        (("refine", "SHOP", "quote"), "--model is needed"),
        (("refine", "SHOP", "quote", "--model", "gpt"), "names no model"),
        (("refine", "SHOP", "quote", "--model", "openai:m"), "no OPENAI_API_KEY"),
        (("refine", "SHOP", "quote", "--model", "local:x.gguf"), "x.gguf: no such file"),
        (("refine", "SHOP", "quote", "--model", "m", "--base-url", "ftp://x"), "is no URL"),
        (("refine", "SHOP", "quote", "--model", "m", "--price", "1"), "is no price"),
        (("refine", "SHOP", "quote", "--model", "m", "--samples", "2"), "one sample"),
        (("refine", "SHOP", "quote", "--model", "m", "--no-cache", "--replay"), "exclude"),
        (
            ("refine", "SHOP", "quote", "--model", "m", "--base-url", "http://127.0.0.1:9", "--max-dollars", "1"),
            "needs a price",
        ),
        (("harness", "SHOP", "quote", "--generator", "llm"), "needs a model"),
        (("harness", "SHOP", "quote", "--into", "SHOP/shop/api.py/h"), "not a directory"),
    ],
)  # fmt: skip
def test_bad_input(depslice: Depslice, shop: Path, arguments: tuple[str, ...], said: str) -> None:
    named = [each.replace("SHOP", str(shop)) for each in arguments]
    done = depslice(*named, env={"OPENAI_API_KEY": ""})
    assert done.code in (2, 3)
    assert said in done.error
    assert done.out == ""


def test_what_asks_nothing_needs_no_key(depslice: Depslice, shop: Path) -> None:
    """Who wants to know what it would take has perhaps no key yet."""
    asking = ("refine", shop, "quote", "--model", "openai:gpt-4o-mini", "--dry-run")
    done = depslice(*asking, env={"OPENAI_API_KEY": ""})
    assert done.code == 0, done.err
    assert "at most: 1 call," in done.err


def test_refine_is_recorded_and_replayed_byte_for_byte(
    depslice: Depslice, shop: Path, tmp_path: Path
) -> None:
    common = ("--model", "m", "--completions", tmp_path / "answers", "--format", "json")
    with serving([chat('```\n"""The price."""\n```')]) as provider:
        asking = ("refine", shop, "quote", *common, "--base-url", provider.url)
        dry = depslice(*asking, "--dry-run", "-q")
        assert provider.asked == []
        assert "at most: 1 call," in dry.err
        first = depslice(*asking, env={"DEPSLICE_API_KEY": CANARY})
        assert first.code == 0, first.err
        again = depslice(*asking)
        assert len(provider.asked) == 1
        missing = depslice(*asking, "--replay", "--max-tokens", "7")
    offline = depslice(*asking, "--replay")  # the endpoint is gone
    assert first.out == again.out == offline.out
    assert json.loads(first.out)["specification"] == "The price."
    assert "no recorded answer" in missing.error
    assert missing.code == 3
    written = "".join(path.read_text("utf-8") for path in tmp_path.rglob("*.json"))
    assert CANARY not in written + first.out + first.err


def test_refine_shows_calls_and_tries_the_examples_of_the_answer(
    depslice: Depslice, tmp_path: Path, unsafe: list[str]
) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "shapes.py").write_text(SOURCE, encoding="utf-8")
    tests = "from shapes import clamp\n\ndef test_it():\n    assert clamp(7, 0, 5) == 5\n"
    (repo / "test_shapes.py").write_text(tests, encoding="utf-8")
    answer = ">>> clamp(7, 0, 5)\n5\n\n- clamp(-1, 0, 5) == 0\n- clamp(3, 0, high=5) == 4\n"
    with serving([chat(answer)]) as provider:
        asking = ("--model", "m", "--base-url", provider.url, "--no-cache", "--format", "json")
        done = depslice("refine", repo, "shapes:clamp", "--examples", "3", *asking, *unsafe)
        [asked] = provider.asked
    assert done.code == 0, done.err
    assert "clamp(7, 0, 5) == 5" in asked.body["messages"][-1]["content"]
    assert json.loads(done.out)["examples"] == {
        "shown": ["clamp(7, 0, 5) == 5"],
        "tried": 3,
        "wrong": [{"said": "clamp(3, 0, high=5) == 4", "observed": "clamp(3, 0, high=5) == 3"}],
    }
    assert "2 of 3 examples that were tried are right" in done.err


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (failure(401, f"bad key {CANARY}"), "HTTP 401: bad key [key]"),
        (failure(429, retry_after="9999"), "HTTP 429"),
        (chat("The pri", reason="length"), "not complete (length)"),
        (chat("  "), "is empty"),
        (Reply(body=b"<html>"), "no completion"),
    ],
)
def test_a_model_that_fails(depslice: Depslice, shop: Path, reply: Reply, said: str) -> None:
    with serving([reply]) as provider:
        done = depslice(
            "refine", shop, "quote", "--model", "m", "--base-url", provider.url, "--no-cache",
            env={"DEPSLICE_API_KEY": CANARY},
        )  # fmt: skip
    assert done.code == 3
    assert said in done.error
    assert CANARY not in done.err


SOURCE = """
def clamp(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x
"""
WEAK = """
def test_inside(candidate, reference):
    assert candidate(1, 0, 3) == reference(1, 0, 3)
"""
GOOD = """
def test_all(candidate, reference):
    for x in (-2, -1, 0, 1, 2, 3, 4, 5):
        assert candidate(x, 0, 3) == reference(x, 0, 3)
"""


@pytest.mark.slow
def test_from_a_function_to_a_validated_harness(depslice: Depslice, tmp_path: Path) -> None:
    """Wrong, weak, good: a round without running, one with evidence; then all again, offline."""
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "shapes.py").write_text(SOURCE, encoding="utf-8")
    answers = [f"```python\n{code}```" for code in ("import nowhere\n" + WEAK, WEAK, GOOD)]

    def writer(asked: Asked) -> Reply:
        told = str(asked.body["messages"])
        return chat(answers[2 if "not reached" in told else 1 if "nowhere" in told else 0])

    def made(into: str, *more: object) -> dict[str, object]:
        done = depslice(
            "harness", repo, "clamp", "--generator", "llm", "--model", "m",
            "--base-url", provider.url, "--completions", tmp_path / "answers",
            "--into", tmp_path / into, "--format", "jsonl", *more,
        )  # fmt: skip
        assert done.code == 0, done.err
        found: dict[str, object] = json.loads(done.out)
        del found["seconds"]
        return found

    with serving(writer) as provider:
        first = made("one")
        assert len(provider.asked) == 3
        assert made("one") == first  # the manifest knows
        assert len(provider.asked) == 3
    assert made("two", "--replay") == first  # the endpoint is gone
    assert first["verdict"] == "accepted"
    assert first["rounds"] == 2
    assert first["tokens"] == 3 * 15
    harness = "shapes/clamp.llm-sliced.py"
    assert (tmp_path / "one" / harness).read_bytes() == (tmp_path / "two" / harness).read_bytes()


def _problem(name: str) -> str:
    prompt = f'def {name}(x):\n    """Twice."""\n'
    test = "def check(f):\n    assert f(2) == 4\n"
    return json.dumps({"task_id": name, "prompt": prompt, "entry_point": name, "test": test})


def _heed_interrupts() -> None:
    """Whoever runs the tests in the background of a shell has interrupts ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("command", ["harness", "evaluate"])
def test_interrupted_while_a_model_thinks(
    environment: dict[str, str], shop: Path, tmp_path: Path, command: str
) -> None:
    problems = tmp_path / "problems.jsonl"
    problems.write_text("\n".join(map(_problem, ("one", "two", "three"))), encoding="utf-8")
    arguments: dict[str, list[str | Path]] = {
        "harness": [
            shop,
            "shop.text:plural",
            "quote",
            "--generator",
            "llm",
            "--into",
            tmp_path / "h",
        ],
        "evaluate": [problems, "--solver", "direct", "--results", tmp_path / "results"],
    }
    both, answered = threading.Semaphore(0), threading.Event()

    def thinking(_: Asked) -> Reply:
        both.release()
        answered.wait(60)
        return chat("nothing")

    with serving(thinking) as provider:
        process = subprocess.Popen(
            [
                sys.executable, "-m", "depslice.cli", command, *arguments[command],
                "--model", "m", "--base-url", provider.url, "--workers", "2",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
            preexec_fn=_heed_interrupts,  # noqa: PLW1509 - it does nothing else
        )  # fmt: skip
        try:
            assert all(both.acquire(timeout=120) for _ in range(2))
            started = time.monotonic()
            os.killpg(process.pid, signal.SIGINT)
            _, err = process.communicate(timeout=50)
        finally:
            answered.set()
            process.kill()
        assert time.monotonic() - started < 30  # the answers would take 60
        assert process.returncode == 130
        assert err.decode().endswith("depslice: interrupted\n")
        assert b"Traceback" not in err
        assert len(provider.asked) == 2
