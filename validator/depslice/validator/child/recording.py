"""Runs the repository's tests, or a script, and keeps the arguments of the targets' calls.

    python -m depslice_child.recording ORDER.json

ORDER has ``folder`` (the copied repository), ``roots`` (what is put on ``sys.path``),
``own`` (the modules a slice may hold), ``targets`` (``id``, ``path``, ``qualname``),
``most`` (calls of each), ``pytest`` (arguments) or ``script``, and ``calls``: the file
to write. A line of JSON is appended for each call, so a killed run loses none, and one
for each target whose calls could not be kept.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import runpy
import sys
from collections import Counter
from types import CodeType, FrameType
from typing import Any

from .portable import Home, dump
from .watching import watch

_ATTEMPTS = 3000  # at a target whose calls repeat themselves, or cannot be kept
_FROM_ONE_PLACE = 3  # calls of one line of a test are much alike
_BYTES = 1 << 20


class Recorder:
    """Writes the calls of targets as they begin."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.home = Home(frozenset(order["own"]), order["folder"])
        self.most = order["most"]
        self.targets = {(t["path"], t["qualname"]): t["id"] for t in order["targets"]}
        self.file = open(order["calls"], "a", encoding="utf-8")  # noqa: SIM115 - until the end
        self.kept: Counter[str] = Counter()
        self.attempts: Counter[str] = Counter()
        self.places: Counter[tuple[str, str, int]] = Counter()
        self.seen: set[bytes] = set()
        self.failed: dict[str, str] = {}
        self.open = set(self.targets.values())
        self.process = os.getpid()
        self.busy = False

    def __call__(self, code: CodeType, frame: FrameType) -> bool:
        """Code starts: keep its arguments if it is a target's; for ``watch``."""
        target = self.targets.get((code.co_filename, code.co_qualname))
        if target is None or target not in self.open or os.getpid() != self.process:
            return False
        if self.busy:
            return True
        self.busy = True
        try:
            self._keep(target, code, frame)
        finally:
            self.busy = False
        if not self.open:
            self.finish()
        return target in self.open

    def _keep(self, target: str, code: CodeType, frame: FrameType) -> None:
        self.attempts[target] += 1
        below = frame.f_back
        place = (target, below.f_code.co_filename if below else "", below.f_lineno if below else 0)
        if self.places[place] < _FROM_ONE_PLACE:
            try:
                data = dump(self.home, arguments(code, frame))
            except Exception as error:  # noqa: BLE001 - values that cannot travel have many ways
                self.failed.setdefault(target, f"{type(error).__name__}: {error}"[:200])
            else:
                self._write(target, data, place, code)
        if self.kept[target] >= self.most or self.attempts[target] >= _ATTEMPTS:
            self.open.discard(target)

    def _write(self, target: str, data: bytes, place: tuple[str, str, int], code: CodeType) -> None:
        digest = hashlib.sha256(target.encode() + data).digest()
        if digest in self.seen or len(data) > _BYTES:
            return
        self.seen.add(digest)
        self.places[place] += 1
        self.kept[target] += 1
        line = {
            "target": target,
            "code": hashlib.sha256(code.co_code).hexdigest(),
            "data": base64.b64encode(data).decode(),
        }
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def finish(self) -> None:
        """Write what could not be kept, and end the process at once."""
        for target, why in self.failed.items():
            if not self.kept[target]:
                self.file.write(json.dumps({"target": target, "failed": why}) + "\n")
        self.file.flush()
        os._exit(0)


def arguments(code: CodeType, frame: FrameType) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments with which a frame that just starts was called."""
    values = frame.f_locals
    names = code.co_varnames
    plain = code.co_argcount
    only = code.co_kwonlyargcount
    positional = tuple(values[name] for name in names[:plain])
    keywords = {name: values[name] for name in names[plain : plain + only]}
    rest = plain + only
    if code.co_flags & 0x04:  # CO_VARARGS
        positional += tuple(values[names[rest]])
        rest += 1
    if code.co_flags & 0x08:  # CO_VARKEYWORDS
        keywords.update(values[names[rest]])
    return positional, keywords


def main() -> None:
    """Read the order, run what it names."""
    with open(sys.argv[1], encoding="utf-8") as file:
        order = json.load(file)
    sys.path[:0] = [*order["roots"], order["folder"]]
    recorder = Recorder(order)  # which opens a file beside the order
    os.chdir(order["folder"])
    watch(recorder)
    try:
        if "script" in order:
            sys.argv = [order["script"]]
            runpy.run_path(order["script"], run_name="__main__")
        else:
            import pytest  # type: ignore[import-not-found,unused-ignore]

            pytest.main(order["pytest"])
    finally:
        sys.setprofile(None)
        recorder.finish()


if __name__ == "__main__":
    main()
