"""What a harness does that tests have no reason to do: an audit hook takes note.

It cannot be removed. It does not prevent anything: a harness that looks for the tracer, the
frames above it or objects that nobody gave it is told of in the verdict.
"""

from __future__ import annotations

import sys
from typing import Any

_EVENTS = frozenset(
    {
        "sys.settrace",
        "sys.setprofile",
        "sys._getframe",
        "sys._current_frames",
        "sys.monitoring.register_callback",
        "gc.get_objects",
        "gc.get_referrers",
        "ctypes.dlopen",
        "code.__new__",
        "os.kill",
        "os.killpg",
        "signal.pthread_kill",
    }
)
_CODE = frozenset({"__code__", "__closure__", "__globals__"})


class Tampering:
    """``found``: what was done, as far as code of the harness itself did it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.found: dict[str, None] = {}
        self.on = True

    def watch(self) -> None:
        """Listen from here on, for the rest of the process."""
        getframe = sys._getframe  # noqa: SLF001 - to know who asks

        def hear(event: str, args: tuple[Any, ...]) -> None:
            if not self.on:
                return
            if event == "object.__setattr__":
                if len(args) < 2 or args[1] not in _CODE:
                    return
                event = f"set {args[1]}"
            elif event not in _EVENTS:
                return
            self.on = False
            try:
                caller: Any = getframe(1)
                if caller is not None and caller.f_code.co_filename in (self.path, "<string>"):
                    self.found.setdefault(event)
            finally:
                self.on = True

        sys.addaudithook(hear)
