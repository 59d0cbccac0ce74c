"""Runs PyCG in a process of its own: a script, never imported by depslice.

``python -s -B -X utf8 pycg_runner.py`` reads one JSON object from standard input
(``folder``, ``files``, ``max_iter``, ``memory`` in bytes) and writes one to
standard output: ``{"graph": ..., "lines": ..., "skipped": ...}``, or
``{"error": slug, "detail": text}``. It has to run on every Python that PyCG
runs on, which is why it uses no newer syntax and none of depslice.

PyCG parses the files, but looks for what they import with Python's import
system, under hooks that replace every source by an empty one. Three things
here see to it that nothing is ever run: the import path is empty but for the
copied sources, finders that packages installed (editable installs) are
removed, and an audit hook ends the process if any module body with a
statement in it is about to be executed.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

# PyCG's hooks make every import that happens while they are installed fail or
# come out empty. These are imported lazily by the import system (3.13 dies of
# the first), by error reporting, and by reading files.
PRELOADED = (
    "importlib.metadata",
    "zipfile",
    "ast",
    "copy",
    "encodings.ascii",
    "encodings.latin_1",
    "encodings.utf_8",
    "importlib.abc",
    "importlib.util",
    "linecache",
    "re",
    "tokenize",
    "traceback",
    "types",
    "unicodedata",
    "warnings",
)
MOST_SKIPPED = 50


def main() -> None:
    """Read the order, write the answer."""
    answer = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    sys.stdout = sys.stderr
    sys.path.pop(0)  # this folder: no module of it may stand in for another
    request = json.load(sys.stdin)
    try:
        result = run(request)
    except MemoryError:
        result = {"error": "memory", "detail": "MemoryError"}
    json.dump(result, answer)
    answer.close()


def run(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to an order; raises MemoryError."""
    limit_memory(request["memory"])
    for name in PRELOADED:
        __import__(name)
    problem = load_pycg()
    if problem:
        return problem
    close_imports()
    skipped: dict[str, str] = {}
    for path in request["files"]:
        error = syntax_error(path)
        if error:
            blank(path)
            skipped[path] = error
    while True:
        try:
            generator = analyse(request)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 (PyCG fails in many ways)
            detail = f"{type(error).__name__}: {error}"
            path = file_being_processed(error)
            if path is None or path in skipped or len(skipped) >= MOST_SKIPPED:
                return {"error": "crash", "detail": detail}
            blank(path)
            skipped[path] = detail
            continue
        return {
            "graph": {name: sorted(callees) for name, callees in generator.output().items()},
            "lines": lines_of(generator),
            "skipped": skipped,
        }


def limit_memory(size: int) -> None:
    """Bound the address space of this process."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        size = min(size, hard)
    resource.setrlimit(resource.RLIMIT_AS, (size, hard))


def load_pycg() -> dict[str, Any] | None:
    """Make `pycg` importable, or say why it is not."""
    import ast

    if sys.version_info >= (3, 12) and not hasattr(ast, "Num"):
        return {"error": "python", "detail": "Python {}.{}".format(*sys.version_info)}
    try:
        __import__("pycg.pycg")
        return None
    except ImportError as error:
        detail = str(error)
    try:
        # The wheel of 0.0.8 has a folder `PyCG` whose modules import `pycg`.
        sys.modules["pycg"] = __import__("PyCG")
        __import__("pycg.pycg")
        return None
    except ImportError as error:
        if "PyCG" not in str(error):
            detail = str(error)
        return {"error": "missing", "detail": detail}


def close_imports() -> None:
    """Leave nothing to import but built-in and frozen modules, and what PyCG adds."""
    from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder

    sys.meta_path[:] = [BuiltinImporter, FrozenImporter, PathFinder]
    sys.path[:] = []
    if hasattr(sys, "addaudithook"):
        sys.addaudithook(refuse_execution)


def refuse_execution(event: str, arguments: tuple[Any, ...]) -> None:
    """End the process before a module body is run (an audit hook)."""
    if event == "exec":
        code = arguments[0]
        # An empty module loads None and returns it; a docstring would be a constant too.
        runs_something = bool(code.co_names) or any(c is not None for c in code.co_consts)
        frozen = code.co_filename.startswith("<frozen ")
        if runs_something and not frozen:
            sys.stderr.write("refused to execute " + code.co_filename + "\n")
            sys.stderr.flush()
            os._exit(70)


def syntax_error(path: str) -> str | None:
    """Why this Python cannot parse the file, if it cannot."""
    import ast

    try:
        with open(path, encoding="utf-8", errors="replace") as source:
            ast.parse(source.read(), path)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 (RecursionError, ValueError, ...)
        return f"{type(error).__name__}: {error}"
    return None


def blank(path: str) -> None:
    """Empty a file: its module stays importable."""
    with open(path, "w", encoding="utf-8"):
        pass


def analyse(request: dict[str, Any]) -> Any:
    """Run PyCG once over all files."""
    from pycg.pycg import CallGraphGenerator  # type: ignore[import-not-found,unused-ignore]

    path, path_hooks = list(sys.path), list(sys.path_hooks)
    try:
        generator = CallGraphGenerator(
            request["files"], request["folder"], request["max_iter"], "call-graph"
        )
        generator.analyze()
        return generator
    finally:
        # PyCG leaves them behind when it fails.
        sys.path[:], sys.path_hooks[:] = path, path_hooks


def file_being_processed(error: Exception) -> str | None:
    """The file whose processor is innermost in the traceback."""
    found: str | None = None
    frames = error.__traceback__
    while frames is not None:
        owner: Any = frames.tb_frame.f_locals.get("self")
        if hasattr(owner, "filename") and hasattr(owner, "modname"):
            found = owner.filename
        frames = frames.tb_next
    return found


def lines_of(generator: Any) -> dict[str, dict[str, Any]]:
    """First line of each definition, by module and PyCG's name."""
    return {
        module: {name: method["first"] for name, method in found["methods"].items()}
        for module, found in generator.output_internal_mods().items()
    }


if __name__ == "__main__":
    main()
