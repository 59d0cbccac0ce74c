"""Where results go: standard output, or a file that is there whole or not at all."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from depslice.cli.failures import OutputError, ReaderGone
from depslice.cli.notes import erase_progress
from depslice.cli.options import Output

Write = Callable[[str], None]
_ROWS_AT_ONCE = 1000


def write_result(output: Output, text: str | Iterable[str]) -> None:
    """Write ``text``, or its pieces, with a line end, as :func:`result_stream` does."""
    with result_stream(output) as write:
        last = ""
        for piece in (text,) if isinstance(text, str) else text:
            write(piece)
            last = piece or last
        if last and not last.endswith("\n"):
            write("\n")


def json_text(document: object, *, indent: int | None = 2) -> str:
    """JSON for people and programs: keys in the order given, no ASCII escapes."""
    return json.dumps(document, indent=indent, ensure_ascii=False) + "\n"


def json_rows(document: Mapping[str, str | Iterable[object]]) -> Iterator[str]:
    """As :func:`json_text` for long lists of objects: one object to a line, and fast.

    In pieces, so that a long list need not be there as a whole. The encoder in C knows no
    indentation. Between two objects it writes ``}, {"``, which cannot stand in a string,
    where a quote is escaped.
    """
    before = "{\n"
    for key, value in document.items():
        yield f"{before}  {json.dumps(key)}: "
        before = ",\n"
        if isinstance(value, str):
            yield json.dumps(value, ensure_ascii=False)
            continue
        between = "[\n    "
        rows = iter(value)
        while chunk := list(islice(rows, _ROWS_AT_ONCE)):
            text = json.dumps(chunk, ensure_ascii=False)
            yield between + text[1:-1].replace('}, {"', '},\n    {"')
            between = ",\n    "
        yield "[]" if between.startswith("[") else "\n  ]"
    yield "\n}\n"


@contextmanager
def result_stream(output: Output) -> Iterator[Write]:
    """Give a function that writes text, as UTF-8 whatever the locale.

    Standard output is flushed after each call, so that results can be used as they
    come. A file takes its place when all is written; what stood there stays until then.

    :raises OutputError: it cannot be written.
    """
    if output.path is None:
        yield _to_standard_output
        return
    path = os.path.realpath(output.path)
    try:
        mode = os.stat(path).st_mode
    except OSError:
        mode = None
    if mode is not None and stat.S_ISDIR(mode):
        raise OutputError(f"cannot write to {output.path}: it is a directory")
    try:
        if mode is not None and not stat.S_ISREG(mode):
            with open(path, "wb") as device:  # /dev/null, a named pipe
                yield _writer(device)
            return
        yield from _replacing(path, mode)
    except BrokenPipeError:
        raise ReaderGone from None
    except OSError as error:
        raise _output_error(output.path, error) from None


def _replacing(path: str, mode: int | None) -> Iterator[Write]:
    """Write beside ``path``, then put it in place; the permissions of what stood there stay."""
    folder, name = os.path.split(path)
    _make_last(folder)
    # Named before it is made: of an interrupt as it is made, nothing stays behind either.
    draft = os.path.join(folder, f".{name}.{os.urandom(4).hex()}")
    permissions = 0o666 if mode is None else stat.S_IMODE(mode)
    try:
        with open(draft, "xb", opener=lambda at, flags: os.open(at, flags, permissions)) as file:
            if mode is not None:
                os.chmod(draft, permissions)  # whatever the umask takes away
            yield _writer(file)
        os.replace(draft, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft)
        raise


def refuse_output(path: str, *, is_folder: bool) -> None:
    """See that something can be written to ``path``, before the work whose result it is.

    :raises OutputError: it cannot, as far as can be told without writing.
    """
    if not path:
        raise OutputError("the path to write to is empty")
    if path == "-":
        return
    if not is_folder and os.path.isdir(path):
        raise OutputError(f"cannot write to {path}: it is a directory")
    folder = os.path.realpath(path if is_folder else os.path.dirname(os.path.realpath(path)))
    if not os.path.exists(folder):
        refuse_without_parent(folder)
        folder = os.path.dirname(folder)
    elif not os.path.isdir(folder):
        raise OutputError(f"cannot write to {path}: {folder} is not a directory")
    if not os.path.exists(path) and not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"cannot write to {path}: permission denied")


def make_folder(path: Path) -> None:
    """See that ``path`` is a folder that can be written, before anything is done for it.

    :raises OutputError: it is none.
    """
    import tempfile

    try:
        _make_last(str(path))
        tempfile.TemporaryFile(dir=path).close()
    except OSError as error:
        raise _output_error(str(path), error) from None


def refuse_without_parent(folder: str) -> None:
    """See that what a folder is in, or would be, is there: of a slip in a path none is made.

    :raises OutputError: it is not there.
    """
    parent = os.path.dirname(os.path.realpath(folder))
    if not os.path.lexists(parent):
        raise OutputError(f"cannot make {folder}: there is no folder {parent}")


def _make_last(folder: str) -> None:
    refuse_without_parent(folder)
    if not os.path.isdir(folder):
        os.mkdir(folder)


def _to_standard_output(text: str) -> None:
    if sys.stdout is None:
        raise OutputError("standard output is closed", hint="write to a file with -o PATH")
    if sys.stdout.isatty():
        erase_progress()
    try:
        sys.stdout.buffer.write(_encoded(text))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise ReaderGone from None
    except OSError as error:
        raise _output_error("standard output", error) from None


def _writer(file: BinaryIO) -> Write:
    def write(text: str) -> None:
        file.write(_encoded(text))

    return write


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _output_error(where: str, error: OSError) -> OutputError:
    return OutputError(f"cannot write to {where}: {(error.strerror or str(error)).lower()}")
