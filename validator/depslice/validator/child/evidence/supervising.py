"""Gathers evidence on harnesses, one after the other; the only process here that is ours.

Gets messages on the sandbox's channel: first what the repository is (``config``), then
harnesses (``job``), until an ``end``. Answers each job with a message. It runs no code but
its own: modules are imported, and harnesses run, in warm processes, one for each hash seed.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

from depslice_inside.channel import Channel  # type: ignore[import-not-found,unused-ignore]
from depslice_inside.forks import end_the_rest  # type: ignore[import-not-found,unused-ignore]
from depslice_inside.protection import adopt_orphans  # type: ignore[import-not-found,unused-ignore]
from depslice_inside.sweeping import Places  # type: ignore[import-not-found,unused-ignore]

_MOST = 12 << 20  # bytes of an answer


class WarmProcess:
    """A process of :mod:`.warm`, as this one sees it."""

    def __init__(self, config: Mapping[str, Any], seed: int) -> None:
        environment = dict(os.environ) | {"PYTHONHASHSEED": str(seed)}
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", config["boot"], *config["folders"], "warm"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        self.rest = b""
        self.holds = -1  # the files of which job
        self._send(config)

    def hold(self, job: Mapping[str, Any]) -> None:
        """Have it hold the files of a job, which each run gets anew."""
        if self.holds != job["id"]:
            self.holds = job["id"]
            files = {"name": job["name"], "text": job["text"], "data": job["files"]}
            self._send({"files": files})

    def _send(self, document: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(document).encode() + b"\n")
            self.process.stdin.flush()

    def ask(self, order: Mapping[str, Any], seconds: float) -> dict[str, Any] | None:
        """The answer to an order; ``None`` when there is none in time, or no sensible one."""
        self._send(order)
        line = self._line(time.monotonic() + seconds)
        try:
            found = json.loads(line) if line is not None else None
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def _line(self, until: float) -> bytes | None:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        pieces = [self.rest]
        size = 0
        while b"\n" not in pieces[-1]:
            wait = until - time.monotonic()
            if wait <= 0 or size > _MOST or not select.select([descriptor], [], [], wait)[0]:
                return None
            data = os.read(descriptor, 1 << 20)
            if not data:
                return None
            pieces.append(data)
            size += len(data)
        line, _, self.rest = b"".join(pieces).partition(b"\n")
        return line

    def end(self) -> None:
        """End it, and what it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


class Supervisor:
    """The warm processes, and the answers."""

    def __init__(self, config: Mapping[str, Any], scratch: str) -> None:
        self.config = {**config, "scratch": scratch}
        self.scratch = scratch
        self.warm: dict[tuple[int, bool], WarmProcess] = {}
        self.job: Mapping[str, Any] = {}
        self.places = Places([*config["places"], scratch])
        self.places.remember()
        self._process(0)  # it gets ready while this one imports what is left

    def ask(self, seed: int, order: dict[str, Any]) -> dict[str, Any]:
        """Have an order answered by the process with this hash seed.

        One that is ``fresh`` keeps nothing of the repository in memory: each run imports it.
        """
        allowed = float(order["seconds"]) + float(self.config["import_seconds"])
        process = self._process(seed, fresh=order["fresh"])
        process.hold(self.job)
        answer = process.ask(order, allowed)
        if answer is None:
            self.start_again()
            return {"ended": "lost"}
        return answer

    def _process(self, seed: int, *, fresh: bool = False) -> WarmProcess:
        key = seed, fresh
        if key not in self.warm:
            other = {"fresh": True, "measures": False} if fresh else {}
            self.warm[key] = WarmProcess({**self.config, **other}, seed)
        return self.warm[key]

    def answer(self, job: dict[str, Any]) -> dict[str, Any]:
        """What the answer to a job says."""
        from .gathering import Gathering, Unusable

        self.job = job
        for seed in range(job["runs"]):
            self._process(seed)  # they get ready side by side
        try:
            gathering = Gathering(job, self.ask, self.scratch)
            if job["kind"] == "record":
                return {"record": gathering.record()}
            if job["kind"] == "imports":
                return {"imports": gathering.imports()}
            return {"evidence": gathering.gather()}
        except Unusable as reason:
            return {"unusable": list(reason.args)}

    def start_again(self) -> None:
        """End all warm processes, and what a run has left that ended its own."""
        self.end()
        end_the_rest()
        self.places.sweep()

    def end(self) -> None:
        """End all warm processes."""
        for each in self.warm.values():
            each.end()
        self.warm.clear()


def main() -> None:
    """Answer jobs until there are no more."""
    channel = Channel()
    config = channel.receive()
    if config is None:
        return
    # Forks inherit what is read here, and nothing of the environment is theirs.
    scratch = os.getcwd()
    os.chdir("/")  # which no run can move
    adopt_orphans()
    supervisor = Supervisor(config, scratch)
    try:
        for job in iter(channel.receive, None):
            channel.send({"id": job["id"], **supervisor.answer(job)})
    finally:
        supervisor.end()


if __name__ == "__main__":
    main()
