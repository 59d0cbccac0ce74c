"""What a harness does that tests have no reason to do.

An audit hook, which cannot be removed, takes note of who looks for the tracer, the frames
above or objects that nobody gave it; what was patched and left so shows afterwards. It
does not prevent anything: it is told of in the verdict.
"""

from __future__ import annotations

import dis
import inspect
import sys
import traceback
from types import FrameType
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
_OURS = ("depslice_child", "coverage")
_INNER = frozenset(
    {
        *("__code__", "__closure__", "__globals__", "tb_frame"),
        *("gi_frame", "gi_code", "cr_frame", "cr_code", "ag_frame", "ag_code"),
    }
)
_GO_BETWEENS = frozenset({dis.__file__, inspect.__file__})
# The rest of `traceback` makes text, as tests may well do.
_WALKS = frozenset({traceback.walk_tb.__code__, traceback.walk_stack.__code__})


class Tampering:
    """``found``: what was done, as far as code of the harness itself did it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.found: dict[str, None] = {}
        self.on = True
        self._before: dict[str, Any] = {}

    def watch(self) -> None:
        """Listen from here on, for the rest of the process."""
        getframe = sys._getframe  # noqa: SLF001 - to know who asks

        def hear(event: str, args: tuple[Any, ...]) -> None:
            if not self.on:
                return
            if event in ("object.__setattr__", "object.__getattr__"):
                if len(args) < 2 or args[1] not in _INNER:
                    return
                event = f"{'set' if event == 'object.__setattr__' else 'read'} {args[1]}"
            elif event not in _EVENTS:
                return
            self.on = False
            try:
                if _asked_by(getframe(1)) in (self.path, "<string>"):
                    self.found.setdefault(event)
            finally:
                self.on = True

        self._before = _state()
        sys.addaudithook(hear)

    def finish(self) -> list[str]:
        """All that was found, with what is no longer as it was."""
        self.on = False
        after = _state()
        changed = [key for key, value in self._before.items() if after.get(key) is not value]
        return [*self.found, *(f"replaced {key}" for key in changed[:5])]


def _asked_by(frame: FrameType | None) -> str:
    """The file of the code that asked, by itself or through a module made for looking."""
    while frame is not None:
        code = frame.f_code
        if code.co_filename not in _GO_BETWEENS and code not in _WALKS:
            return code.co_filename
        frame = frame.f_back
    return ""


def _state() -> dict[str, Any]:
    """What the parts of this process that judge the harness are made of."""
    found: dict[str, Any] = {}
    for name, module in list(sys.modules.items()):
        if name == "builtins" or name.partition(".")[0] in _OURS:
            for key, value in list(vars(module).items()):
                if callable(value):
                    found[f"{name}.{key}"] = value
                if isinstance(value, type) and value.__module__ == name:
                    for inner, each in list(vars(value).items()):
                        if callable(each):
                            found[f"{name}.{key}.{inner}"] = each
    return found
