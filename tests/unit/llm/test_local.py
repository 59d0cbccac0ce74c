"""Models of this machine: a real one where ``DEPSLICE_TEST_MODEL`` names a GGUF file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

from depslice.llm import Mode, ModelSettings, Options, open_model
from depslice.llm.port import CacheMiss, ModelUnavailable, PromptTooLong
from depslice.prompts import Message

MODEL = os.environ.get("DEPSLICE_TEST_MODEL", "")
real = pytest.mark.skipif(not MODEL, reason="DEPSLICE_TEST_MODEL names no GGUF file")
_MARK = "DEPSLICE_TEST_MARK"
QUESTION = [Message(role="user", content="Write a Python function that adds two numbers.")]


def test_what_is_no_model_file(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="no such file"):
        open_model(f"local:{tmp_path}/none.gguf")
    (tmp_path / "text.gguf").write_text("hello", encoding="utf-8")
    with pytest.raises(ModelUnavailable, match="is no GGUF file"):
        open_model(f"local:{tmp_path}/text.gguf")


def test_a_model_is_known_by_its_content(tmp_path: Path) -> None:
    names = []
    for folder, tail in (("a", b"1"), ("b", b"1"), ("c", b"2")):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "m.gguf"
        path.write_bytes(b"GGUF" + bytes(3 << 20) + tail)
        with open_model(f"local:{path}") as model:
            names.append(model.name)
    assert names[0] == names[1] != names[2]
    assert names[0].startswith("local:m.gguf#")
    # A replay needs no file, only its name.
    settings = ModelSettings(mode=Mode.REPLAY, completions=tmp_path)
    with open_model(names[0], settings) as model, pytest.raises(CacheMiss):
        model.complete(QUESTION)


def test_a_file_that_is_damaged_says_so(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + bytes(100))
    with (
        open_model(f"local:{tmp_path}/m.gguf", ModelSettings(mode=Mode.OFF)) as model,
        pytest.raises(ModelUnavailable, match="does not start"),
    ):
        model.complete(QUESTION)


@real
@pytest.mark.slow
def test_a_real_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(_MARK, str(tmp_path))
    settings = ModelSettings(completions=tmp_path, context=2048)
    with open_model(f"local:{MODEL}", settings) as model:
        [answer] = model.complete(QUESTION, options=Options(max_tokens=64))
        [again] = model.complete(QUESTION, options=Options(max_tokens=64))
        assert "def " in answer.text
        assert answer.usage.output_tokens <= 64
        assert answer.usage.dollars == 0.0
        assert again.from_cache
        assert _servers(tmp_path)
        with pytest.raises(PromptTooLong, match="context"):
            model.complete([Message(role="user", content="again and " * 4000)])
    assert not _servers(tmp_path)


@real
@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None])
def test_no_server_is_left_behind(tmp_path: Path, how: signal.Signals | None) -> None:
    program = dedent(f"""
        import os, sys
        from depslice.llm import Mode, ModelSettings, Options, open_model
        from depslice.prompts import Message
        model = open_model("local:" + sys.argv[1], ModelSettings(mode=Mode.OFF, context=512))
        model.complete([Message(role="user", content="Hi")], options=Options(max_tokens=2))
        if {how is not None}:
            os.kill(os.getpid(), {int(how or 0)})
    """)
    subprocess.run(
        [sys.executable, "-c", program, MODEL],
        check=how is None,
        timeout=300,
        env={**os.environ, _MARK: str(tmp_path)},
    )
    ends = time.monotonic() + 10
    while _servers(tmp_path) and time.monotonic() < ends:
        time.sleep(0.1)
    assert not _servers(tmp_path)


def _servers(mark: Path) -> list[str]:
    """Servers that run with this mark in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            marked = f"{_MARK}={mark}".encode() in (folder / "environ").read_bytes()
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if marked and b"llama_server.py" in command:
            found.append(command.decode(errors="replace"))
    return found
