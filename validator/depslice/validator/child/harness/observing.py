"""Everything that can be told of one call: result or exception, arguments after it, output,
warnings, files written.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from ..describing import Description, room

_MOST_FILES = 500
_MOST_BYTES = 8 << 20


def observe(
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    folders: tuple[str, ...],
    *,
    place: str = ".",
    opaque: frozenset[str] = frozenset(),
    spelled: bool = False,
) -> Description:
    """Call ``function``, and describe all that came of it.

    What the function writes into the folder ``place`` is described, and taken back; what
    belongs to the packages ``opaque`` is named only; arrays may be ``spelled``.
    """
    description = Description(folders, opaque=opaque, spelled=spelled)
    before = _files(place)
    _seed()
    out, err = io.StringIO(), io.StringIO()
    with warnings.catch_warnings(record=True) as told, _standard_streams(out, err), room():
        warnings.simplefilter("always")
        try:
            value = function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - it is the outcome
            description.error(error)
        else:
            description.add(value)
        description.add([args, kwargs])
    description.add([_text(out), _text(err)])
    description.add([(w.category.__name__, str(w.message)) for w in told or ()])
    after = _files(place)
    if after != before:
        description.add({path: data for path, data in after.items() if before.get(path) != data})
        description.add(sorted(before.keys() - after.keys()))
        _restore(place, before, after)
    return description


def _seed() -> None:
    random.seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)


@contextlib.contextmanager
def _standard_streams(out: io.StringIO, err: io.StringIO) -> Iterator[None]:
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield


def _text(stream: io.StringIO) -> str:
    try:
        return stream.getvalue()
    except ValueError:  # closed by the function
        return "(closed)"


def _files(place: str) -> dict[str, bytes]:
    """The files below a folder, as far as they are not too many or too large."""
    found: dict[str, bytes] = {}
    size = 0
    for folder, _, names in os.walk(place):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue  # to read a pipe would take for ever
            try:
                with open(path, "rb") as file:
                    data = file.read(_MOST_BYTES - size)
            except OSError:
                continue
            size += len(data)
            found[path] = data
            if len(found) >= _MOST_FILES or size >= _MOST_BYTES:
                return found
    return found


def _restore(place: str, before: dict[str, bytes], after: dict[str, bytes]) -> None:
    for path in after.keys() - before.keys():
        with contextlib.suppress(OSError):
            os.unlink(path)
    for path, data in before.items():
        if after.get(path) != data:
            with contextlib.suppress(OSError):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(data)
    for name in os.listdir(place):
        path = os.path.join(place, name)
        if os.path.isdir(path) and not any(p.startswith(path + os.sep) for p in before):
            shutil.rmtree(path, ignore_errors=True)
