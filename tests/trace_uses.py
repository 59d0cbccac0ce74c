"""Run every function of a program of ``fixtures/uses`` and write down what runs below it.

A script of its own, because it imports the program: tests start it in another process as
``python -I -B trace_uses.py FOLDER ANSWER``. The answer is an object: for each function
``local_…``, ``passed_…``, ``declared_…`` and ``returned_…`` of ``main.py`` the ids of the
functions of ``main.py`` and ``kinds.py`` that ran while it did, in whatever thread. What it
raises is no matter.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

_FORMS = ("local_", "passed_", "declared_", "returned_")
_OUTER = ("<module>", "<lambda>")


def main(folder: str, answer: str) -> None:
    """The command line; see the module's docstring."""
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    warnings.simplefilter("ignore")
    logging.raiseExceptions = False
    tempfile.tempdir = folder
    import kinds  # type: ignore[import-not-found]  # of the program
    import main as program  # type: ignore[import-not-found]

    files = {kinds.__file__: "kinds", program.__file__: "main"}
    seen: set[str] = set()

    def record(frame: FrameType, event: str, _arg: Any) -> None:
        module = files.get(frame.f_code.co_filename) if event == "call" else None
        if module is not None:
            name = frame.f_code.co_qualname.partition(".<locals>")[0]
            if name not in _OUTER and not name.endswith("_NAME"):
                seen.add(f"{module}:{name}")

    found: dict[str, list[str]] = {}
    for name in [each for each in vars(program) if each.startswith(_FORMS)]:
        seen.clear()
        quiet = contextlib.redirect_stdout(io.StringIO())
        errors = contextlib.redirect_stderr(io.StringIO())
        with quiet, errors, contextlib.suppress(BaseException):
            threading.setprofile(record)
            sys.setprofile(record)
            try:
                vars(program)[name]()
            finally:
                sys.setprofile(None)
                threading.setprofile(None)  # type: ignore[arg-type]  # as documented
        found[name] = sorted(seen - {f"main:{name}"})
    Path(answer).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
