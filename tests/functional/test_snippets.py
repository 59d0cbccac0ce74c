"""What README.md and docs/ print runs as it is printed, and says what is shown."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from depslice.validator.sandbox import SandboxUnavailable, choose_sandbox
from endpoint import chat, serving
from functional.running import ROOT, Depslice

_PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_URL = "http://127.0.0.1:8080/v1"  # of a model's server, as printed


def _blocks(*languages: str) -> list[tuple[str, str]]:
    """The blocks in these languages, each with its page and line."""
    found = []
    for page in _PAGES:
        text = page.read_text(encoding="utf-8")
        for block in _FENCED.finditer(text):
            if block[1] in languages:
                line = text.count("\n", 0, block.start()) + 2
                found.append((f"{page.relative_to(ROOT)}:{line}", block[2]))
    return found


def _commands() -> list[tuple[str, str, str]]:
    """Commands about the repositories in ``fixtures``, with what is shown of their output."""
    found = []
    for place, text in _blocks("", "console"):
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            if command.startswith("depslice ") and "fixtures/" in command:
                found.append((place, command, shown))
    return found


_COMMANDS = _commands()
_PROGRAMS = [(place, text) for place, text in _blocks("python") if ">>> " not in text]
_HARNESS = next(text for place, text in _PROGRAMS if place.startswith("docs/harness.md"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """As the root of a clone, to those who read and write there."""
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    (tmp_path / "harness.py").write_text(_HARNESS, encoding="utf-8")
    return tmp_path


def test_something_is_shown() -> None:
    assert len(_COMMANDS) > 4
    assert len(_PROGRAMS) > 7


@pytest.mark.parametrize(
    ("command", "shown"),
    [(command, shown) for _, command, shown in _COMMANDS],
    ids=[f"{place} {command}" for place, command, _ in _COMMANDS],
)
def test_commands_say_what_is_shown(
    depslice: Depslice, folder: Path, command: str, shown: str
) -> None:
    done = depslice(*shlex.split(command, comments=True)[1:], cwd=folder)
    assert done.code == 0, done.err
    said = "".join(f"{line.rstrip()}\n" for line in done.out.rstrip().splitlines())
    lines = [
        r"(?:.*\n)*?" if line.strip() == "[…]" else re.escape(line).replace("…", ".*") + r"\n"
        for line in shown.splitlines()
    ]
    assert not shown or re.fullmatch("".join(lines), said), said


@pytest.mark.parametrize("text", [text for _, text in _PROGRAMS], ids=[at for at, _ in _PROGRAMS])
def test_programs_run(environment: dict[str, str], folder: Path, text: str) -> None:
    if "choose_sandbox" in text:
        try:
            choose_sandbox()
        except SandboxUnavailable as error:
            pytest.skip(error.message)
    with serving([chat("Hello back")]) as provider:
        done = subprocess.run(
            [sys.executable, "-c", text.replace(_URL, provider.url)],
            cwd=folder,
            env=environment,
            capture_output=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr.decode()
    assert bool(done.stdout.strip()) is ("print(" in text), done.stderr.decode()
    assert not re.match(rb"Different\(|Unknown\(", done.stdout)  # what compares, finds the same


def test_the_harness_is_one(depslice: Depslice, folder: Path, unsafe: list[str]) -> None:
    done = depslice("validate", "fixtures/inventory/repo", "harness.py", *unsafe, cwd=folder)
    assert (done.code, done.out.split()[0]) == (0, "accepted"), done.out


def test_the_template_is_one(depslice: Depslice, folder: Path) -> None:
    [(_, text)] = _blocks("jinja")
    (folder / "mine").mkdir()
    (folder / "mine" / "haiku.j2").write_text(text, encoding="utf-8")
    options = ("--templates", "mine", "--builder", "haiku")
    done = depslice("prompt", "fixtures/inventory/repo", "quote", *options, cwd=folder)
    assert done.code == 0, done.err
    assert "Write a test for `quote`" in done.out


@pytest.mark.parametrize(("place", "text"), _blocks("toml"))
def test_settings_are_taken(depslice: Depslice, folder: Path, place: str, text: str) -> None:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    for name in tomllib.loads(text).get("tool", {}).get("depslice", {"functions": {}}):
        given = ("functions",) if name == "exclude" else (name,)
        rest = {"slice": ("quote",), "validate": ("harness.py", "--target", "x")}.get(name, ())
        done = depslice(*given, "fixtures/inventory/repo", *rest, cwd=folder)
        assert "pyproject.toml" not in done.err, place


def test_code_for_programs_is_marked_as_such() -> None:
    """What is in no language is shown, not to be run."""
    for place, text in _blocks(""):
        assert not re.search(r"^(?:from|import) \w", text, re.MULTILINE), place
