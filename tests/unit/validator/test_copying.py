"""A repository's folder as it is copied for a sandbox."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from depslice.validator.copying import copy_folder


def test_what_is_no_file_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, copy = tmp_path / "repo", tmp_path / "new" / "copy"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "a.py").write_text("A = 1\n", encoding="utf-8")
    (root / ".git").mkdir()
    (root / "link").symlink_to("nowhere")
    os.mkfifo(root / "pkg" / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        monkeypatch.chdir(root)  # paths of sockets are short
        listening.bind("socket")
        copy_folder(root, copy, without=[".git"])
    found = sorted(str(path.relative_to(copy)) for path in copy.rglob("*"))
    assert found == ["link", "pkg", "pkg/a.py"]
    assert os.readlink(copy / "link") == "nowhere"


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_what_nobody_may_read_stays_behind(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    (root / "closed").mkdir(parents=True)
    (root / "secret").touch(mode=0)
    (root / "closed").chmod(0)
    copy_folder(root, tmp_path / "copy", without=[])
    (root / "closed").chmod(0o700)
    assert [*(tmp_path / "copy").iterdir()] == []


def test_what_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: str, target: str, **more: object) -> None:
        raise OSError(28, "No space left on device", target)

    monkeypatch.setattr("shutil.copyfile", full)
    (tmp_path / "repo").mkdir()
    for name in ("a", "b"):
        (tmp_path / "repo" / name).touch()
    with pytest.raises(OSError, match=r"^[ab]: .*No space left on device.* \(and 1 more\)$"):
        copy_folder(tmp_path / "repo", tmp_path / "copy", without=[])


def test_holes_in_files_stay_holes(tmp_path: Path) -> None:
    """An image of a disk was written out whole, gigabytes of zeros for each run."""
    (tmp_path / "repo").mkdir()
    image = tmp_path / "repo" / "disk.img"
    with image.open("wb") as file:
        file.write(b"first")
        file.seek(1 << 30)
        file.write(b"in the middle" * 100_000)
        file.truncate(3 << 30)
    image.chmod(0o640)
    if image.stat().st_blocks * 512 > 1 << 26:
        pytest.skip("no holes in files here")
    copy_folder(tmp_path / "repo", tmp_path / "copy", without=[])
    copied = tmp_path / "copy" / "disk.img"
    assert copied.stat().st_size == 3 << 30
    assert copied.stat().st_blocks * 512 < 1 << 26
    assert copied.stat().st_mode == image.stat().st_mode
    with image.open("rb") as one, copied.open("rb") as other:
        for place in (0, (1 << 30) - 100, (1 << 30) + 1_299_000):
            one.seek(place)
            other.seek(place)
            assert one.read(5000) == other.read(5000)
