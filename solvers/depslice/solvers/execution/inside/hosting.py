"""Runs what is not ours in forks, each within its limits, and passes messages to them and back.

Both sandboxes of an executor run this: one hosts answers, the other tests. This process
executes nothing that it is sent and does not even read the messages that it passes on. Forks
have neither its channel nor the nonce.

Orders: ``start`` forks, ``pass`` gives the fork a message; both are answered with the next one
of the fork (``said``) or how it ended (``ended``). ``end`` ends it.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from depslice_inside.channel import Channel  # type: ignore[import-not-found,unused-ignore]
from depslice_inside.forks import (  # type: ignore[import-not-found,unused-ignore]
    cpu_seconds_of_forks,
    end_the_rest,
)
from depslice_inside.protection import (  # type: ignore[import-not-found,unused-ignore]
    adopt_orphans,
)
from links import Gone, Link, Unreadable  # type: ignore[import-not-found,unused-ignore]

_PATIENCE = 5  # times the limit by the clock, for a busy machine
_GRACE = 2.0
_STEP = 0.05  # seconds between looks at a process that computes
_CORES = os.cpu_count() or 1

Reply = dict[str, Any]
Run = Callable[[Link, dict[str, Any]], None]


class Fork:
    """One process that runs what is not ours, and all that it starts."""

    def __init__(self, run: Run, order: dict[str, Any], channel: Channel) -> None:
        self._seconds = float(order["seconds"])
        self._waited = 0.0
        self._looked = 0.0
        self._folder = tempfile.mkdtemp(prefix="run-")
        ours, theirs = socket.socketpair()
        self._pid = channel.fork()
        if not self._pid:
            ours.close()
            _become(run, order, self._folder, Link(theirs))
        theirs.close()
        self._link = Link(ours)

    def reply(self, message: str | None = None) -> Reply:
        """Its next message, after it got ``message``; or how it ended instead."""
        started = time.monotonic()
        until = started + _PATIENCE * self._seconds + _GRACE - self._waited
        try:
            if message is not None:
                self._link.send_line(message, timeout=max(0.01, until - started))
            said = self._next(started, until)
        except TimeoutError:
            said = None
        except Gone:
            return {"ended": self._how_it_ended()}
        except Unreadable as error:
            return {"ended": {"kind": "lost", "message": str(error)}}
        self._waited += time.monotonic() - started
        if said is None:
            return {"ended": {"kind": "time", "message": f"ran longer than {self._seconds:g} s"}}
        return {"said": said}

    def _next(self, started: float, until: float) -> str | None:
        """The next message; ``None`` where it takes too long, all told."""
        while True:
            now = time.monotonic()
            if now >= until:
                return None
            if self._has_computed_enough(started):
                return None
            # As long as it cannot have computed for longer than it may, nobody looks.
            left = self._seconds / _CORES - (self._waited + now - started)
            if select.select([self._link], [], [], min(max(left, _STEP), until - now))[0]:
                said: str | None = self._link.feed()
                if said is not None:
                    return None if self._has_computed_enough(started) else said

    def _has_computed_enough(self, started: float) -> bool:
        """Whether its CPU time is used up: on all cores it can be, before the clock says so."""
        now = time.monotonic()
        if (self._waited + now - started) * _CORES < self._seconds or now < self._looked + _STEP:
            return False
        self._looked = now
        used: float = cpu_seconds_of_forks()
        return used >= self._seconds

    def _how_it_ended(self) -> dict[str, str]:
        # Closed by the process, or with it: that is told apart soon.
        until = time.monotonic() + _GRACE
        while time.monotonic() < until:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self._pid = 0
                if os.WIFSIGNALED(status):
                    name = signal.Signals(os.WTERMSIG(status)).name
                    return {"kind": "ended", "message": f"ended by {name}"}
                break
            time.sleep(0.002)
        return {"kind": "ended", "message": "ended the process"}

    def end(self) -> None:
        """End it, with all that it has started."""
        if self._pid:
            for kill in (os.killpg, os.kill):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    kill(self._pid, signal.SIGKILL)
        end_the_rest()
        self._link.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _become(run: Run, order: dict[str, Any], folder: str, link: Link) -> None:
    """The forked process."""
    try:
        os.setsid()
        os.chdir(folder)
        limit = int(order["memory_bytes"])
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        sys.set_int_max_str_digits(0)
        run(link, order)
    finally:
        os._exit(0)


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Carry out orders until there are none."""
    channel = Channel()  # before all else
    # Before the first fork: what the modules import is no work of what runs there.
    if sys.argv[1] == "answers":
        from answering import serve as run  # type: ignore[import-not-found,unused-ignore]
    else:
        from testing import test as run  # type: ignore[import-not-found,unused-ignore]
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    adopt_orphans()
    fork: Fork | None = None
    before = _cpu_seconds()
    for order in iter(channel.receive, None):
        answer: Reply = {}
        if order["do"] == "start":
            if fork is not None:  # its order was given up
                fork.end()
            fork = Fork(run, order, channel)
            answer = fork.reply()
        elif order["do"] == "pass" and fork is not None:
            answer = fork.reply(order["message"])
        elif order["do"] == "end":
            if fork is not None:
                fork.end()
                fork = None
            now = _cpu_seconds()
            answer = {"cpu_seconds": now - before}
            before = now
        channel.send(answer)
