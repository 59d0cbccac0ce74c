"""Records, inside a running program, which code object calls which.

Self-contained: :mod:`~depslice.callgraph.tracing.session` copies this file as
``sitecustomize.py`` into a folder on ``PYTHONPATH``, so that each Python which the
traced command starts runs it, whether depslice is installed there or not. It knows
nothing of symbols; :mod:`~depslice.callgraph.tracing.gathering` finds them afterwards.

The folder holds ``files``, the paths of the code of interest, with NUL between. Every process
(a forked one too) appends lines to a part of its own, ``PID-RANDOM.part``, at the moment
something is seen for the first time, so that a killed process loses nothing::

    v 3.13.0 monitoring            the Python, and by which means it records
    c 0 12 7 3 C.method            code 0: file 12, first line 7, flags 3, qualified name
    e 0 4 31 8 31 20 c 0           code 0 calls code 4, at 31:8 to 31:20; a C function
                                   stands between ("-": nothing; "l": an installed
                                   library; "f": other code); 1: seen when resumed
    l 12 31                        line 31 of file 12 runs

By means of ``sys.monitoring`` (PEP 669) from Python 3.12 on: code that is not of interest
costs one event in its life. By ``sys.setprofile`` on 3.11, without lines; a generator or
coroutine is seen there only when it first runs, called by who resumes it.
"""

from __future__ import annotations

import os
import sys
from itertools import count, islice
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

_OPTIMIZED = 1  # CO_OPTIMIZED: a function, not the body of a class or module
_SUSPENDED = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
_INLINE = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: not a class written in C as a static type
_LIBRARY, _FOREIGN = -1, -2
_OFTEN = 20
_HIGH_DESCRIPTOR = 200  # programs close and reuse the low ones by number


class Recorder:
    """What a process has seen, and the part it writes to."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.descriptor = -1
        # The functions themselves: tests replace those of `os` by fakes.
        self._open, self._write, self._pid = os.open, os.write, os.getpid
        self._realpath = os.path.realpath
        self._started_in = os.getcwd()
        # Besides files: what dataclasses, namedtuple and attrs compile for a class. Other
        # code without a file, such as a template's, is as foreign as a test.
        made = ("<frozen ", "<string>", "<attrs generated ")
        self._library = (os.path.dirname(os.__file__) + os.sep, *made)
        with open(os.path.join(folder, "files"), encoding="utf-8", errors="surrogateescape") as f:
            self.files = {path: number for number, path in enumerate(f.read().split("\0"))}
        self.where: dict[str, int] = {}  # co_filename -> number of the file, or negative
        self.numbers: dict[int, int] = {}  # id of a code object -> its number
        self.kept: list[CodeType] = []  # so that no id is used twice
        self.lines: list[str] = []  # what has declared these codes, for forked processes
        self.callable: set[int] = set()  # numbers of functions; bodies and comprehensions are not
        self.seen: set[tuple[int, int, int]] = set()
        self.seen_through: set[tuple[int, int, int, str]] = set()
        self.through_c: set[tuple[int, int]] = set()  # code and offset of calls of C functions
        self.outside: dict[tuple[int, int, int], int] = {}
        self.kept_foreign: list[CodeType] = []
        self.created: set[int] = set()  # numbers of generators whose creation is seen
        self._next = count()
        self._how = "monitoring" if sys.version_info >= (3, 12) else "profile"

    def open_part(self) -> None:
        """Start a part of this process's own, with the codes that are known already."""
        name = f"{self._pid()}-{os.urandom(6).hex()}.part"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        descriptor = self._open(os.path.join(self.folder, name), flags, 0o600)
        try:
            import fcntl

            high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH_DESCRIPTOR)
            os.close(descriptor)
            descriptor = high
        except (ImportError, OSError, ValueError):
            pass  # a low one will do
        self.descriptor = descriptor
        version = ".".join(map(str, sys.version_info[:3]))
        self.put("".join([f"v {version} {self._how}\n", *self.lines]))

    def turn_to(self, folder: str) -> None:
        """Record into another folder from now on, as if the program had just started."""
        self.folder = folder
        for known in (self.numbers, self.callable, self.created, self.outside):
            known.clear()
        for seen in (self.seen, self.seen_through, self.lines):
            seen.clear()
        self.open_part()

    def put(self, text: str) -> None:
        """Append to the part."""
        data = text.encode("utf-8", "surrogateescape")
        try:
            self._write(self.descriptor, data)
        except OSError:  # the program has closed it
            self.descriptor = -1
            self.open_part()
            self._write(self.descriptor, data)

    def place(self, filename: str) -> int:
        """The number of a file of interest; negative for other code."""
        known = self.where.get(filename)
        if known is None:
            path = filename
            if not filename.startswith("<"):
                path = self._realpath(os.path.join(self._started_in, filename))
            known = self.files.get(path, _FOREIGN)
            if known < 0 and (
                path.startswith(self._library)
                or f"{os.sep}site-packages{os.sep}" in path
                or f"{os.sep}dist-packages{os.sep}" in path
            ):
                known = _LIBRARY
            self.where[filename] = known
        return known

    def number(self, code: CodeType) -> int:
        """The number of a code object, declared when it is new; negative if of no interest."""
        known = self.numbers.get(id(code))
        if known is not None:
            return known
        file = self.place(code.co_filename)
        if file < 0:
            return file
        self.kept.append(code)
        mine = next(self._next)
        if code.co_flags & _OPTIMIZED and code.co_name not in _INLINE:
            self.callable.add(mine)
        number = self.numbers.setdefault(id(code), mine)
        if number == mine:
            flags = code.co_flags
            line = f"c {mine} {file} {code.co_firstlineno} {flags} {code.co_qualname}\n"
            self.lines.append(line)
            self.put(line)
        return number

    def called(self, frame: FrameType | None, callee: int, *, resumed: bool) -> None:
        """Code number ``callee`` was entered; ``frame`` is the one below it on the stack."""
        through = "-"
        below = frame
        while frame is not None:
            code = frame.f_code
            place = self.place(code.co_filename)
            if place >= 0:
                break
            if place == _FOREIGN or through == "-":
                through = "f" if place == _FOREIGN else "l"
            frame = frame.f_back
        else:
            if through == "f" and below is not None:
                self._called_from_outside(below, callee)
            return
        self.edge(code, frame.f_lasti, callee, through, resumed=resumed)

    def _called_from_outside(self, below: FrameType, callee: int) -> None:
        """Nothing of interest is on the stack: a test calls. After a while, look no more.

        To walk up the stack of a test runner costs much more than most calls. What can
        be missed is a call through foreign code, which is of little interest.
        """
        if self.place(below.f_code.co_filename) == _FOREIGN:
            key = (id(below.f_code), below.f_lasti, callee)
            times = self.outside[key] = self.outside.get(key, 0) + 1
            if times == _OFTEN:
                self.kept_foreign.append(below.f_code)
                self.seen.add(key)

    def edge(
        self, code: CodeType, offset: int, callee: int, through: str, *, resumed: bool
    ) -> None:
        """Write that ``code`` called ``callee`` by its instruction at ``offset``."""
        key = (id(code), offset, callee)
        if through == "-":
            if key in self.seen:
                return
            self.seen.add(key)
            if (id(code), offset) in self.through_c:
                through = "c"
        elif (*key, through) in self.seen_through:
            return
        else:
            self.seen_through.add((*key, through))
        caller = self.number(code)
        line, end_line, column, end_column = next(
            islice(code.co_positions(), max(offset, 0) // 2, None), (None,) * 4
        )
        place = f"{line or 0} {column or 0} {end_line or 0} {end_column or 0}"
        self.put(f"e {caller} {callee} {place} {through} {resumed:d}\n")


def _stands_between(function: Any) -> bool:
    """Whether what ``function`` calls back is called by code written in C.

    To make an instance is not: ``C()`` calls ``C.__init__``. Nor is the class statement.
    """
    if isinstance(function, type):
        return not function.__flags__ & _HEAP_TYPE
    if getattr(function, "__name__", "") == "__build_class__":
        return False
    method = getattr(type(function), "__call__", None)  # noqa: B004 - which one it is
    return not hasattr(method, "__code__")


if sys.version_info >= (3, 12):

    def _watch(recorder: Recorder) -> None:
        monitoring = sys.monitoring
        events, disable = monitoring.events, monitoring.DISABLE
        free = [n for n in (monitoring.PROFILER_ID, 4, 3) if monitoring.get_tool(n) is None]
        if not free:
            return
        tool = free[0]
        monitoring.use_tool_id(tool, "depslice")
        numbers, seen, callable_ = recorder.numbers, recorder.seen, recorder.callable
        through_c = recorder.through_c
        getframe = sys._getframe  # noqa: SLF001 - the only way to a frame that costs nothing

        def on_start(code: CodeType, _: int) -> object:
            callee = numbers.get(id(code))
            if callee is None:
                callee = recorder.number(code)
                if callee < 0:
                    return disable
                monitoring.set_local_events(tool, code, events.LINE)
            if callee not in callable_:
                return disable
            below = getframe(1).f_back
            if below is None or (id(below.f_code), below.f_lasti, callee) in seen:
                return None
            suspended = bool(code.co_flags & _SUSPENDED)
            # Who resumes it first need not be who made it: that is better known if seen.
            if not suspended or callee not in recorder.created:
                recorder.called(below, callee, resumed=suspended)
            return None

        def on_call(code: CodeType, offset: int, function: Any, _: object) -> object:
            of_interest = id(code) in numbers
            kind = type(function)
            if kind is MethodType:
                function = function.__func__
            elif kind is not FunctionType:
                if not of_interest:
                    return disable
                if _stands_between(function):
                    through_c.add((id(code), offset))
                elif through_c:
                    through_c.discard((id(code), offset))
                # What is called by its own name is the same the next time.
                own_name = getattr(function, "__name__", None) in code.co_names
                return disable if own_name else None
            if through_c:
                through_c.discard((id(code), offset))
            made = getattr(function, "__code__", None)
            if made is None or not made.co_flags & _SUSPENDED:
                return None if of_interest else disable
            callee = numbers.get(id(made))
            if callee is None:
                callee = recorder.number(made)
                if callee >= 0:
                    monitoring.set_local_events(tool, made, events.LINE)
            if callee in callable_ and (id(code), offset, callee) not in seen:
                recorder.created.add(callee)
                recorder.called(getframe(1), callee, resumed=False)
            return None

        def on_line(code: CodeType, line: int) -> object:
            recorder.put(f"l {recorder.place(code.co_filename)} {line}\n")
            return disable

        monitoring.register_callback(tool, events.PY_START, on_start)
        monitoring.register_callback(tool, events.CALL, on_call)
        monitoring.register_callback(tool, events.LINE, on_line)
        # CALL in all code: a test may make the generator that code of interest runs.
        monitoring.set_events(tool, events.PY_START | events.CALL)

else:

    def _watch(recorder: Recorder) -> None:
        import opcode
        import threading

        resume = opcode.opmap["RESUME"]
        numbers, seen, callable_ = recorder.numbers, recorder.seen, recorder.callable
        starts: dict[int, int] = {}  # of generators: the offset at which they first run

        def first_run(code: CodeType) -> int:
            text = code.co_code
            return next(i for i in range(0, len(text), 2) if text[i] == resume)

        def on_event(frame: FrameType, event: str, arg: Any) -> None:
            if event == "call":
                code = frame.f_code
                callee = numbers.get(id(code))
                if callee is None:
                    callee = recorder.number(code)
                if callee not in callable_:
                    return
                below = frame.f_back
                if below is None or (id(below.f_code), below.f_lasti, callee) in seen:
                    return
                suspended = bool(code.co_flags & _SUSPENDED)
                if suspended:
                    if callee not in starts:
                        starts[callee] = first_run(code)
                    if frame.f_lasti > starts[callee]:
                        return
                recorder.called(below, callee, resumed=suspended)
            elif event == "c_call":
                code = frame.f_code
                if id(code) in numbers and arg.__name__ != "__build_class__":
                    recorder.through_c.add((id(code), frame.f_lasti))

        threading.setprofile(on_event)
        sys.setprofile(on_event)


def start(folder: str) -> Recorder:
    """Record into ``folder`` from now on, until the process ends."""
    recorder = Recorder(folder)
    recorder.open_part()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=recorder.open_part)
    _watch(recorder)
    return recorder


def _start_up() -> None:
    """Give way to the interpreter's own ``sitecustomize``, then record."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    this = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError:
        sys.modules["sitecustomize"] = this  # the import system looks for it again
    if hasattr(CodeType, "co_qualname"):  # Python 3.11: older ones are not recorded
        start(folder)


if __name__ == "sitecustomize":
    _start_up()
