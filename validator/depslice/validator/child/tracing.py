"""Which branch arcs single calls reach: pairs of lines, told when the call is left."""

from __future__ import annotations

import dis
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

Arc = tuple[int, int]
_LAZY = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR


class Visit:
    """A call that is traced: ``left`` gets the arcs that are new since it was last called."""

    def __init__(self, left: Callable[[set[Arc]], None]) -> None:
        self.left = left
        self.arcs: set[Arc] = set()

    def tracer(self, frame: FrameType) -> Callable[..., Any]:
        """A local trace function for a frame of the call, or of code within it."""
        last = -frame.f_code.co_firstlineno

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal last
            if event == "line":
                self.arcs.add((last, frame.f_lineno))
                last = frame.f_lineno
            elif event == "return":
                self.arcs.add((last, -frame.f_code.co_firstlineno))
                found, self.arcs = self.arcs, set()
                self.left(found)
            return trace

        return trace


def trace_calls(entered: Callable[[CodeType, FrameType], Visit | None]) -> Callable[[], None]:
    """Ask ``entered`` whenever code starts; the result ends that.

    Generators and coroutines start once, when they are first resumed.
    """
    starts: dict[int, tuple[CodeType, int]] = {}

    def on_call(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if code.co_flags & _LAZY and frame.f_lasti > _start(code, starts):
            return None  # it goes on, with the trace function that it has
        visit = entered(code, frame)
        return None if visit is None else visit.tracer(frame)

    def end() -> None:
        sys.settrace(None)
        threading.settrace(None)

    threading.settrace(on_call)
    sys.settrace(on_call)
    return end


def _start(code: CodeType, known: dict[int, tuple[CodeType, int]]) -> int:
    if id(code) not in known:
        offsets = (each.offset for each in dis.get_instructions(code) if each.opname == "RESUME")
        known[id(code)] = code, next(offsets, 0)
    return known[id(code)][1]
