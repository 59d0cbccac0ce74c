"""An interrupt that arrives just as a file or a folder has been made leaves neither behind."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from depslice.cli.options import Output
from depslice.cli.results import write_result
from depslice.slicer.model import RenderedFile
from depslice.slicer.render import write_tree


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder; who makes files and folders from now on is interrupted when they are there."""
    opened, made = os.open, os.mkdir

    def open_(path: Any, flags: int, mode: int = 0o777, **options: Any) -> int:
        descriptor = opened(path, flags, mode, **options)
        if flags & os.O_EXCL:
            os.close(descriptor)
            raise KeyboardInterrupt
        return descriptor

    def mkdir(path: Any, mode: int = 0o777, **options: Any) -> None:
        made(path, mode, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "open", open_)
    monkeypatch.setattr(os, "mkdir", mkdir)
    return tmp_path


@pytest.mark.parametrize("before", [None, "as it was"])
def test_a_result(folder: Path, before: str | None) -> None:
    path = folder / "out"
    if before is not None:
        path.write_text(before)
    with pytest.raises(KeyboardInterrupt):
        write_result(Output(path=str(path), quiet=True, verbose=False, color=False), "text")
    assert [found.read_text() for found in folder.iterdir()] == ([before] if before else [])


def test_a_tree(folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_tree([RenderedFile(path="m.py", text="x = 1\n")], folder / "out")
    assert not list(folder.iterdir())
