"""What the shell completes a TARGET to; bash takes ``pkg.mod:f`` apart into three words."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import write_files
from depslice.cli.main import main

FILES = """
# --- pyproject.toml
[tool.depslice]
nonsense = 1
# --- pkg/__init__.py
# --- pkg/mod.py
class Shop:
    def price(self): return lambda: 1
def quote(): pass
# --- pkg/model.py
def load(): pass
# --- broken.py
def (
"""


@pytest.fixture
def tab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> object:
    """What is offered behind a command line, by a shell."""
    write_files(FILES, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEPSLICE_CACHE_DIR", str(tmp_path / "cache"))

    def offered(line: str, shell: str = "zsh") -> list[str]:
        words = line.replace(":", " : ").split() if shell == "bash" else line.split()
        number = len(words) - (0 if line.endswith(" ") else 1)
        monkeypatch.setenv("_DEPSLICE_COMPLETE", f"{shell}_complete")
        monkeypatch.setenv("COMP_WORDS", " ".join(words))
        monkeypatch.setenv("COMP_CWORD", str(number))
        with pytest.raises(SystemExit):
            main([])
        out, error = capfd.readouterr()
        assert error == ""
        lines = out.splitlines()
        return [each.partition(",")[2] for each in lines] if shell == "bash" else lines[1::3]

    return offered


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("slice . pkg.mod:", ["pkg.mod:Shop", "pkg.mod:Shop.price", "pkg.mod:quote"]),
        ("slice . pkg.mod:q", ["pkg.mod:quote"]),
        ("slice . pkg.mod.S", ["pkg.mod.Shop", "pkg.mod.Shop.price"]),
        ("slice . pkg/mod.py:q", ["pkg/mod.py:quote"]),
        ("slice . pkg/mo", ["pkg/mod.py", "pkg/model.py"]),
        ("slice . pkg.mode", ["pkg.model", "pkg.model:load"]),
        ("slice . quo", ["quote"]),
        ("slice . quote pkg.mod:q", ["pkg.mod:quote"]),
        ("why . quote pkg.model:", ["pkg.model:load"]),
        ("slice . --exclude pkg/mod.py pkg.mo", ["pkg.model", "pkg.model:load"]),
        ("slice . broken:", []),
        ("slice . nowhere:", []),
        ("slice nowhere pkg", []),
        ("slice . zzz", []),
    ],
)
def test_targets(tab: object, line: str, offered: list[str]) -> None:
    assert callable(tab)
    assert tab(f"depslice {line}") == offered


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("graph . --resolver ", ["own", "jedi", "pycg"]),
        ("graph . --resolver j", ["jedi"]),
        ("graph . --explain pkg.mod:q", ["pkg.mod:quote"]),
        ("graph . --explain pkg.mod:quote pkg.model:", ["pkg.model:load"]),
        ("validate . --target pkg.model:", ["pkg.model:load"]),
        ("solve problems.jsonl --solver code", ["codetree", "codetree-bfs", "codetree-dfs"]),
        ("harness . --generator in", ["insitu"]),
        ("prompt . --builder re", ["refine", "repair"]),
        ("slice . --sandbox bub", ["bubblewrap"]),
        ("graph --explain pkg", []),
    ],
)
def test_values_of_options(tab: object, line: str, offered: list[str]) -> None:
    assert callable(tab)
    assert tab(f"depslice {line}") == offered


def test_bash_is_told_what_stands_behind_the_colon(tab: object) -> None:
    assert callable(tab)
    assert tab("depslice slice . pkg.mod:", "bash") == ["Shop", "Shop.price", "quote"]
    assert tab("depslice slice . pkg.mod:q", "bash") == ["quote"]
    assert tab("depslice why . pkg.mod:quote pkg.model:l", "bash") == ["load"]
    assert tab("depslice slice . pkg.mode", "bash") == ["pkg.model", "pkg.model:load"]
