"""What the kernel is asked for by ``prctl``."""

from __future__ import annotations

# `ctypes` takes a quarter of the time that the supervisor needs to start; its C half does not.
import _ctypes
import os
import sys

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int) -> None:
    if sys.platform != "linux":
        return
    everything = _ctypes.dlopen(None, os.RTLD_NOW)  # type: ignore[arg-type,unused-ignore]
    function = _ctypes.dlsym(everything, "prctl")
    if _ctypes.call_function(function, (option, value, 0, 0, 0)):
        raise OSError(f"prctl {option} failed")


def set_dumpable(*, dumpable: bool) -> None:
    """Whether others of the same user may trace this process and open its files in /proc."""
    _prctl(_PR_SET_DUMPABLE, int(dumpable))


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent ends."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
