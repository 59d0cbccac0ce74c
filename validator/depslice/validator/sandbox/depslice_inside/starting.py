"""The first process in a sandbox: starts the program, and then becomes what watches it.

It reads the job from descriptor 0. Where it has a process namespace of its own it is
process 1 of that: signals from inside do not reach it, and when it ends everything in there
ends. It is not dumpable, so its memory and descriptors cannot be reached through ``/proc``
either.
"""

from __future__ import annotations

# `signal` would import `enum`: a quarter of the time that a sandbox takes to start.
import _signal as signal  # type: ignore[import-not-found]
import os

from . import frames
from .order import read_nonce, read_order, write_files
from .program import Program
from .protection import adopt_orphans, set_dumpable


def main() -> None:
    """Run one job."""
    # Python's own handler would make this signal reach a process 1.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    set_dumpable(dumpable=False)
    reader = frames.Frames(read_nonce(), 1 << 31)
    order, more = read_order(reader)
    if not order.isolated:
        adopt_orphans()
    folder = write_files(order)
    program = Program(order)
    # It is being loaded by now; what watches it is loaded meanwhile.
    from .supervisor import Run

    run = Run(order, program, folder, reader)
    run.deliver(more)
    run.follow()
    run.finish()
    os._exit(0)  # Python's own way to end takes time, and nothing is left to be done
