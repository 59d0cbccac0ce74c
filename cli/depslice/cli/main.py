"""The entry point: runs a command and turns whatever happens into an exit code.

Imports nothing at first, so that there is no moment at which Ctrl-C gives a traceback.
"""

from __future__ import annotations

import gc
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0 done; 1 the answer is no (``why``); 2 usage; 3 could not tell; 130 interrupted;
    141 the reader of standard output has gone, as a shell says it of SIGPIPE.
    """
    try:
        from depslice.cli.app import run

        code = run(arguments)
        gc.freeze()  # the process ends: nothing is won by looking for cycles once more
        return code
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("depslice: interrupted\n")
        # CPython remembers an interrupt that came in the `exec` of a string (every
        # dataclass is one) as unhandled, and would end the process by the signal.
        # The next `exec` makes it forget: pythonrun.c, run_eval_code_obj.
        exec("")  # noqa: S102
        _leave_threads()
        return 130


def _leave_threads() -> None:
    """End the process now if threads are at work: what they wait for may take minutes.

    Python waits for threads at its end. What they had to clean up, their sandboxes, ends
    with the process.
    """
    import os
    import threading
    from contextlib import suppress

    if threading.active_count() > 1:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                if stream is not None:
                    stream.flush()
        os._exit(130)
