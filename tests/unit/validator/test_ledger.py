"""Results in a file that others write to as well, or that nobody may write to."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from depslice.callgraph import open_program
from depslice.validator.validation import Gates, ledger, parse_harness
from depslice.validator.validation.ledger import Ledger, LedgerError, key_of

SCHEMA = "depslice.verdict/1"


def opened(path: Path) -> Ledger:
    return Ledger(path, SCHEMA)


def added(path: Path, *keys: str) -> Path:
    made = opened(path)
    for key in keys:
        made.add(key, {"schema": SCHEMA, "of": key})
    return path


def test_a_whole_line_without_its_end_counts(tmp_path: Path) -> None:
    path = added(tmp_path / "results.jsonl", "a", "b")
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert [each["of"] for each in opened(path).documents()] == ["a", "b"]
    opened(path).add("c", {"schema": SCHEMA, "of": "c"})
    assert [each["of"] for each in opened(path).documents()] == ["a", "b", "c"]
    assert path.read_bytes().count(b"\n") == 3


def test_a_line_that_is_read_before_its_end_is_written(tmp_path: Path) -> None:
    path = added(tmp_path / "results.jsonl", "a")
    whole = path.read_bytes()
    path.write_bytes(whole.rstrip(b"\n"))
    reading = Ledger(path, SCHEMA, only_read=True)
    with path.open("ab") as file:
        file.write(b"\n" + whole.replace(b'"a"', b'"b"'))
    assert reading.get("b") is not None


def test_half_a_line_is_taken_away(tmp_path: Path) -> None:
    path = added(tmp_path / "results.jsonl", "a", "b")
    path.write_bytes(path.read_bytes()[:-9])
    assert [each["of"] for each in opened(path).documents()] == ["a"]
    added(path, "c")
    assert [each["of"] for each in opened(path).documents()] == ["a", "c"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to anything")
def test_what_may_only_be_read_is_read_and_says_so(tmp_path: Path) -> None:
    path = added(tmp_path / "results.jsonl", "a")
    path.chmod(0o400)
    found = opened(path)
    assert found.get("a") is not None
    with pytest.raises(LedgerError, match="permission denied"):
        found.add("b", {"schema": SCHEMA})


def test_what_a_file_system_without_rights_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = added(tmp_path / "results.jsonl", "a")
    plain_open = Path.open

    def read_only(self: Path, mode: str = "r", *args: object, **kwargs: object) -> object:
        if "a" in mode:
            raise OSError(errno.EROFS, "Read-only file system")
        return plain_open(self, mode, *args, **kwargs)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", read_only)
    assert opened(path).get("a") is not None
    with pytest.raises(LedgerError, match="read-only file system"):
        opened(path).add("b", {"schema": SCHEMA})


def test_a_file_system_without_locks_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    assert opened(added(tmp_path / "results.jsonl", "a")).get("a") is not None


def test_a_verdict_depends_on_what_judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another form of harness, another way of judging, another Python: another verdict."""
    (tmp_path / "small.py").write_text("def f(): pass\n", encoding="utf-8")
    program = open_program(str(tmp_path))
    harness = parse_harness("def test(context): pass", program, target="small:f")

    def key(python: str = "") -> str:
        return key_of(harness, program, Gates(), python)

    keys = [key(), key("python3.12")]
    for name in ("JUDGED", "FORMAT"):
        monkeypatch.setattr(ledger, name, getattr(ledger, name) + 1)
        keys.append(key())
    assert len(set(keys)) == 4
