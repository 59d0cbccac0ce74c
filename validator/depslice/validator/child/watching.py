"""Which code of a folder runs: by ``sys.monitoring`` from Python 3.12 on, else a profile."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

Entered = Callable[[CodeType, FrameType], bool]  # whether to hear of this code again

if sys.version_info >= (3, 12):

    def watch(entered: Entered) -> Callable[[], None]:
        """Call ``entered`` whenever code starts; the result forgets what it has waved off."""
        monitoring = sys.monitoring
        free = [n for n in (monitoring.PROFILER_ID, 4, 3) if monitoring.get_tool(n) is None]
        if not free:
            raise RuntimeError("no tool id of sys.monitoring is free")
        monitoring.use_tool_id(free[0], "depslice")
        getframe = sys._getframe  # noqa: SLF001 - the only way to the frame

        def on_start(code: CodeType, _: int) -> object:
            return None if entered(code, getframe(1)) else monitoring.DISABLE

        monitoring.register_callback(free[0], monitoring.events.PY_START, on_start)
        monitoring.set_events(free[0], monitoring.events.PY_START)
        return monitoring.restart_events

else:

    def watch(entered: Entered) -> Callable[[], None]:
        """Call ``entered`` whenever code starts; the result forgets what it has waved off."""
        import threading

        # By identity: functions of two files that are alike have equal code.
        done: dict[int, CodeType] = {}

        def on_event(frame: FrameType, event: str, _: Any) -> None:
            code = frame.f_code
            if event == "call" and id(code) not in done and not entered(code, frame):
                done[id(code)] = code

        threading.setprofile(on_event)
        sys.setprofile(on_event)
        return done.clear


class Executed:
    """The code objects of some folders that have started, as JSON."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self.folders = tuple(folder.rstrip(os.sep) + os.sep for folder in folders)
        self.found: dict[tuple[str, str], None] = {}

    def __call__(self, code: CodeType, frame: FrameType) -> bool:
        """Take note of a start; for :func:`watch`."""
        if code.co_filename.startswith(self.folders):
            self.found.setdefault((code.co_filename, code.co_qualname))
        return False

    def take(self) -> list[list[str]]:
        """What was found since the last time: paths and qualified names."""
        found, self.found = self.found, {}
        return [list(each) for each in found]
