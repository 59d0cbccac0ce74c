"""What a harness does that tests have no reason to do.

An audit hook, which cannot be removed, takes note of who looks for the tracer, the frames
above or objects that nobody gave it; what was patched and left so shows afterwards. It
does not prevent anything: it is told of in the verdict.

What listens, and what compares at the end, asks no name that a harness could give another
value: all that it needs is in its own cells, and reading those is heard.
"""

from __future__ import annotations

import dis
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping
from types import CodeType, FrameType, ModuleType
from typing import Any

_EVENTS = frozenset(
    {
        "sys.settrace",
        "sys.setprofile",
        "sys._getframe",
        "sys._current_frames",
        "sys.monitoring.register_callback",
        "gc.get_objects",
        "gc.get_referents",
        "gc.get_referrers",
        "ctypes.dlopen",
        "code.__new__",
        "os.kill",
        "os.killpg",
        "signal.pthread_kill",
    }
)
_OURS = "depslice_child"
_WATCHED = (_OURS, "coverage", "builtins")
_INNER = frozenset(
    {
        *("__code__", "__closure__", "__globals__", "tb_frame"),
        *("gi_frame", "gi_code", "cr_frame", "cr_code", "ag_frame", "ag_code"),
    }
)
_GO_BETWEENS = frozenset({dis.__file__, inspect.__file__})
# The rest of `traceback` makes text, as tests may well do.
_WALKS = frozenset({traceback.walk_tb.__code__, traceback.walk_stack.__code__})
# Functions of other modules that give frames to whoever calls them: ends of paths, and names.
_GIVERS = (
    ("logging/__init__.py", ("currentframe", "<lambda>")),
    ("asyncio/base_tasks.py", ("_task_get_stack",)),
    ("_pytest/_code/code.py", ("TracebackEntry.frame",)),
)
# What modules are configured with; other values they may well exchange while they work.
_CONSTANTS = (str, bytes, int, float, tuple, frozenset)
_NAMED = 5

Space = Mapping[str, Any]
"""The names of a module or a class, as they are at any time."""


def watch(path: str) -> Callable[[], list[str]]:
    """Listen from here on, for the rest of the process, to what the code of ``path`` does.

    What is given ends that, and tells all that was found, with what is no longer as it was.
    """
    found: dict[str, None] = {}
    listening = [True]
    events, inner, asked_by = _EVENTS, _INNER, _asker()
    getframe = sys._getframe  # noqa: SLF001 - to know who asks
    changed_since = _watcher()

    def hear(event: str, args: tuple[Any, ...]) -> None:
        if not listening:
            return
        if event in ("object.__setattr__", "object.__getattr__"):
            name = args[1:2]
            if not name or name[0] not in inner:
                return
            event = f"{'set' if event == 'object.__setattr__' else 'read'} {name[0]}"
        elif event not in events:
            return
        listening.clear()
        try:
            if asked_by(getframe(1)) in (path, "<string>"):
                found.setdefault(event)
        finally:
            listening.append(True)

    def finish() -> list[str]:
        listening.clear()
        return [*found, *changed_since()]

    sys.addaudithook(hear)
    return finish


def _asker() -> Callable[[FrameType | None], str]:
    """Tells the file of the code that asked, by itself or through one made for looking."""
    between, walks, givers = _GO_BETWEENS, _WALKS, _GIVERS

    def gives(code: CodeType) -> bool:
        for end, names in givers:
            if code.co_filename.endswith(end):
                return code.co_qualname in names or code.co_name in names
        return False

    def asked_by(frame: FrameType | None) -> str:
        while frame is not None:
            code = frame.f_code
            if code.co_filename not in between and code not in walks and not gives(code):
                return code.co_filename
            frame = frame.f_back
        return ""

    return asked_by


def _watcher() -> Callable[[], list[str]]:
    """Tells what has changed of that which judges the harness in this process.

    That is what can be called; in our own modules also their constants, and what can be called
    and is new there: it may stand in for a builtin.
    """
    is_callable, module_type, most = callable, ModuleType, _NAMED
    kind_of: Callable[[object], type] = type
    watched = [
        (space, name, key, value)
        for name, space in _spaces()
        for key, value in space.items()
        if is_callable(value) or (name.startswith(_OURS) and type(value) in _CONSTANTS)
    ]
    own = [(s, name, frozenset(s)) for name, s in _spaces() if name.startswith(_OURS)]

    def changed_since() -> list[str]:
        found: dict[str, None] = {}
        for space, name, key, value in watched:
            if space.get(key) is not value:
                found[f"replaced {name}.{key}"] = None
        for space, name, keys in own:
            for key, value in space.items():
                if key not in keys and is_callable(value) and kind_of(value) is not module_type:
                    found[f"added {name}.{key}"] = None
        return [*found][:most]

    return changed_since


def _spaces() -> list[tuple[str, Space]]:
    """The modules of those that judge, and their classes, by name."""
    found: list[tuple[str, Space]] = []
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in _WATCHED:
            found.append((name, vars(module)))
            found += [
                (f"{name}.{key}", vars(value))
                for key, value in list(vars(module).items())
                if isinstance(value, type) and value.__module__ == name
            ]
    return found
