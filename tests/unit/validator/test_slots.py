from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from depslice.validator.sandbox import SandboxUnavailable
from depslice.validator.sandbox.slots import claim_slot


def test_each_who_claims_has_a_slot_of_their_own(tmp_path: Path) -> None:
    first, held = claim_slot(tmp_path)
    second, also_held = claim_slot(tmp_path)
    assert (first, second) == (0, 1)
    os.close(held)
    assert claim_slot(tmp_path)[0] == 0
    os.close(also_held)


def test_without_locks_there_is_no_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ended with an internal error."""

    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.raises(SandboxUnavailable, match="cannot be locked: no locks available"):
        claim_slot(tmp_path)
