"""A process that has the repository's modules imported, and forks for each run.

Reads lines of JSON on descriptor 0 and answers each with one on descriptor 1. The first
one says what the repository is: ``roots``, ``own``, ``scratch``, ``measures``, ``fresh``,
and the ``places`` to sweep after each run. The others are the files of a harness, or orders
(:meth:`Warm.answer`). No harness runs in here: each has a fork that ends with it, and all
that the fork has started is ended too.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from depslice_inside.forks import (  # type: ignore[import-not-found,unused-ignore]
    end_the_rest,
    wait_for,
)
from depslice_inside.protection import (  # type: ignore[import-not-found,unused-ignore]
    adopt_orphans,
    set_dumpable,
)
from depslice_inside.sweeping import Places  # type: ignore[import-not-found,unused-ignore]

from ..describing import text_of
from ..harness.worlds import Worlds
from ..own_tests import preload, preload_modules
from .arcs import Measurement, load_coverage
from .trial import Roots, Trial, find_roots, in_folder_of_its_own

_BYTES = 8 << 20  # of what a run says
_HEAD = 8 + 32


class Warm:
    """Both worlds, and the functions to exchange, by target."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.worlds = Worlds(frozenset(config["own"]))
        self.scratch = config["scratch"]
        self.places = Places([*config["places"], self.scratch])
        self.files: dict[str, Any] = {}
        # Each run imports the repository itself, because it is another one each time.
        self.fresh: bool = config["fresh"]
        self.paths: list[str] = config["roots"]
        self.known = frozenset(sys.modules)
        self.took: dict[str, float] = {}  # seconds that importing a module took
        self.roots: dict[tuple[str, str, int], Roots] = {}
        self.measurements: dict[str, Measurement] = {}

    def answer(self, order: dict[str, Any], closed: tuple[int, ...]) -> dict[str, Any]:
        """Run one order: ``ended`` is ``result``, or how the run ended without one."""
        roots = None
        if self.fresh:
            preload_modules(order["outside"])
        else:
            try:
                roots = self._roots(order["target"])
            except BaseException as error:  # noqa: BLE001 - modules may raise anything
                return {"ended": "import", "why": text_of(error)}
            if not roots.candidate and not order["record"]:
                why = "the module does not define the target when imported"
                return {"ended": "import", "why": why}
        outside = self.worlds.outside(self.known)
        preload(order["tools"])
        if order["only_import"]:
            seconds = self.took.get(order["target"]["module"], 0.0)
            made = roots.candidate if roots is not None else []
            lines = sorted({each.__code__.co_firstlineno for each in made})
            return {"ended": "imported", "seconds": seconds, "outside": outside, "lines": lines}
        return self._fork(order, roots, closed)

    def _roots(self, target: dict[str, Any]) -> Roots:
        key = (target["module"], target["root"], target["line"])
        if key not in self.roots:
            started = time.perf_counter()
            self.roots[key] = find_roots(self.worlds, target)
            # Another target of the module finds it imported already.
            self.took.setdefault(key[0], time.perf_counter() - started)
        return self.roots[key]

    def _fork(
        self, order: dict[str, Any], roots: Roots | None, closed: tuple[int, ...]
    ) -> dict[str, Any]:
        nonce = os.urandom(16)
        trial = Trial(order, self.files, self.worlds, roots, self._measurement(order))
        self.places.remember()
        with mmap.mmap(-1, _BYTES) as memory:
            started = time.perf_counter()
            pid = os.fork()
            if not pid:
                if self.fresh:
                    sys.path[:0] = self.paths
                _become(trial, closed, memory, nonce)
            ended = wait_for(pid, order["seconds"], order["cpu_seconds"])
            seconds = time.perf_counter() - started
            end_the_rest()
            found = _read(memory, nonce) if ended == "exit" else None
        self.places.sweep()
        os.chdir(self.scratch)  # a run may have moved it
        if found is None:
            return {"ended": "silent" if ended == "exit" else ended, "seconds": seconds}
        return {"ended": "result", "seconds": seconds, **found}

    def _measurement(self, order: dict[str, Any]) -> Measurement | None:
        path = order["measure"]
        if path is not None and path not in self.measurements:
            harnesses = os.path.join(self.scratch, "run-*", "harness", "*")
            self.measurements[path] = Measurement([path, harnesses])
        return None if path is None else self.measurements[path]


def _become(trial: Trial, closed: tuple[int, ...], memory: mmap.mmap, nonce: bytes) -> None:
    """The forked process: run, leave the result where no descriptor leads, end."""
    try:
        os.setsid()
        for descriptor in closed:
            os.close(descriptor)
        set_dumpable(dumpable=True)
        in_folder_of_its_own()
        encode, digest = encoder(), hashlib.sha256  # as they are before the harness runs
        data = encode(trial.run())
        if len(data) <= _BYTES - _HEAD:
            memory[8:_HEAD] = digest(nonce + data).digest()
            memory[_HEAD : _HEAD + len(data)] = data
            memory[:8] = len(data).to_bytes(8, "big")
    finally:
        os._exit(0)


def encoder() -> Callable[[Any], bytes]:
    """Values as JSON; in C all along, where nobody can put something else into the way."""
    make: Callable[..., Any] | None = getattr(json.encoder, "c_make_encoder", None)
    if make is None:  # another Python
        return lambda value: json.dumps(value).encode()
    quoted = json.encoder.encode_basestring_ascii
    pieces = make(None, json.JSONEncoder().default, quoted, None, ": ", ", ", False, False, True)
    join = "".join
    return lambda value: join(pieces(value, 0)).encode()


def _read(memory: mmap.mmap, nonce: bytes) -> dict[str, Any] | None:
    size = int.from_bytes(memory[:8], "big")
    data = memory[_HEAD : _HEAD + min(size, _BYTES - _HEAD)]
    if not size or hashlib.sha256(nonce + data).digest() != memory[8:_HEAD]:
        return None
    found: dict[str, Any] = json.loads(data)
    return found


def main() -> None:
    """Answer orders until there are none."""
    orders = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    adopt_orphans()
    set_dumpable(dumpable=False)  # forks may not reach into this memory
    warnings.simplefilter("ignore")
    with contextlib.suppress(ImportError):
        import time_machine  # type: ignore[import-not-found,unused-ignore]  # noqa: F401 - warm
    config = json.loads(orders.readline())
    if config["measures"]:
        load_coverage()  # before modules of the repository can stand in its place
    if not config["fresh"]:
        sys.path[:0] = config["roots"]
    os.chdir(config["scratch"])
    warm = Warm(config)
    closed = (orders.fileno(), answers.fileno())
    for line in orders:
        order = json.loads(line)
        if "files" in order:
            warm.files = order["files"]
            continue
        answer = warm.answer(order, closed)
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
