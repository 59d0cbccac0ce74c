"""Defaults from ``pyproject.toml``, of commands in groups too; in one process."""

from __future__ import annotations

from pathlib import Path

import pytest

from depslice.cli.main import main


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEPSLICE_CACHE_DIR", str(tmp_path / "cache"))


def told(capfd: pytest.CaptureFixture[str], table: str, *arguments: str) -> tuple[int, str, str]:
    Path("pyproject.toml").write_text(table, encoding="utf-8")
    return main([*arguments]), *capfd.readouterr()


@pytest.mark.parametrize(
    "table",
    [
        '[tool.depslice]\nformat = "json"',
        '[tool.depslice.cache]\nformat = "json"',
        (
            '[tool.depslice]\nformat = "md"\n[tool.depslice.cache]\nformat = "text"\n'
            '[tool.depslice.cache.info]\nformat = "json"\n[tool.depslice.cache.clear]\nnope = 1'
        ),
    ],
)
def test_of_commands_in_a_group(capfd: pytest.CaptureFixture[str], table: str) -> None:
    code, out, _ = told(capfd, table, "cache", "info")
    assert code == 0
    assert out.startswith("{")


@pytest.mark.parametrize(
    ("arguments", "table", "said"),
    [
        ("cache info", "[tool.depslice.cache.info]\nfmt = 1", "cache.info.fmt: info has no option"),
        ("cache info", "[tool.depslice.cache]\nformt = 1", "cache has no option --formt; did you"),
        ("cache info", "[tool.depslice.cache.inf]", "cache has no option --inf; did you mean"),
        ("cache info", "[tool.depslice.cache]\ninfo = 1", "tool.depslice.cache.info must be a tab"),
        ("cache info", "[tool.depslice]\ncache = 1", "tool.depslice.cache must be a table"),
        ("cache info", "[tool.depslice.info]", "info is no command"),
        ("cache info", '[tool.depslice.cache.info]\nformat = "x"', "cache.info.format: 'x' is not"),
        ("cache info", '[tool.depslice.cache]\nformat = "x"', "depslice.cache.format: 'x' is not"),
        ("slice . f", "[tool.depslice]\nslice = 5", "tool.depslice.slice must be a table"),
        ("slice . f", "[tool.depslice.slice.all]\nx = 1", "tool.depslice.slice.all must be true"),
        ("doctor", '[tool.depslice.doctor]\nformat = "x"', "depslice.doctor.format: 'x' is not"),
    ],
)
def test_what_is_unknown_or_misplaced(
    capfd: pytest.CaptureFixture[str], arguments: str, table: str, said: str
) -> None:
    code, _, error = told(capfd, table, *arguments.split())
    assert code == 2
    assert said in error


def test_a_command_may_be_called_as_an_option_is(capfd: pytest.CaptureFixture[str]) -> None:
    Path("m.py").write_text("def f(): pass\n")
    code, out, _ = told(capfd, '[tool.depslice.report]\nformat = "json"', "slice", ".", "f")
    assert code == 0
    assert "def f()" in out
