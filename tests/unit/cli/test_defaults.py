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


CSV = "tradeoff . f --format csv --tokenizer characters/4"


@pytest.mark.parametrize(
    ("table", "arguments", "said"),
    [
        ("[tool.depslice]\ndepth = 1", CSV, ",depth,1,"),
        ("[tool.depslice]\ndepth = 1", "slice . f", "g()"),
        ("[tool.depslice]\nbudget = 500", CSV, ",budget,500,"),
        ("[tool.depslice.tradeoff]\ndepth = [0, 1]", CSV, ",depth,0,"),
        ('[tool.depslice]\nexclude = "other.py"', "slice . f", "g()"),
        ('[tool.depslice.graph]\nexplain = ["f", "g"]', "graph .", "m:f -> m:g"),
    ],
)
def test_one_default_for_commands_that_take_one_or_several(
    capfd: pytest.CaptureFixture[str], table: str, arguments: str, said: str
) -> None:
    Path("m.py").write_text("def g(): pass\ndef f(): g()\n")
    code, out, error = told(capfd, table, *arguments.split())
    assert code == 0, error
    assert said in out


@pytest.mark.parametrize(
    ("table", "arguments", "said"),
    [
        ("[tool.depslice]\ndepth = [1, 2]", "slice . f", "depth must be a single value"),
        (
            "[tool.depslice.tradeoff]\ndepth = {a = 1}",
            "tradeoff . f",
            "depth must be a list of numbers",
        ),
        ("[tool.depslice]\ndepth = [true]", "tradeoff . f", "depth must be a list of numbers"),
        ('[tool.depslice]\ndepth = "x"', "tradeoff . f", "depth: x is not a whole number"),
        ("[tool.depslice]\nexclude = 5", "slice . f", "exclude must be a list of strings"),
        ('[tool.depslice.graph]\nexplain = "fg"', "graph .", "explain must be a list of strings"),
        ('[tool.depslice.graph]\nexplain = ["f"]', "graph .", "explain: Takes 2 values but 1"),
        *(
            (f'[tool.depslice.harness]\n{option} = "x"', "harness . f", "on the command line")
            for option in (
                *("into", "problems", "completions", "base-url", "key-variable", "model", "price"),
            )
        ),
    ],
)
def test_what_is_no_such_default(
    capfd: pytest.CaptureFixture[str], table: str, arguments: str, said: str
) -> None:
    code, _, error = told(capfd, table, *arguments.split())
    assert code == 2
    assert said in error
