"""Results remembered between runs: a slice stays valid while the files it has seen do.

What is stored is our own pickle, in the user's own cache folder, behind the checksum of
:mod:`depslice.callgraph.cache`; nothing of an analysed repository is ever unpickled.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from dataclasses import replace
from functools import cache
from typing import Final

import depslice.callgraph
import depslice.slicer
from depslice.callgraph.program import Program
from depslice.callgraph.summary import FORMAT
from depslice.slicer.model import Context, Slice

_KIND: Final = f"slice-2-{FORMAT}"


def key_of(program: Program, question: tuple[object, ...]) -> str:
    """The key of a question put to a project with just these files."""
    digest = hashlib.blake2b(digest_size=20)
    digest.update(repr((question, _code_state(), program.stubs.identity)).encode())
    for file in program.project.files:
        digest.update(f"\0{file.path}\0{file.module}".encode(errors="surrogatepass"))
    return digest.hexdigest()


@cache
def _code_state() -> tuple[tuple[str, int, int], ...]:
    """What this depslice is: its modules' sizes and times. Another one answers anew."""
    found: list[tuple[str, int, int]] = []
    for package in (depslice.slicer, depslice.callgraph):
        for folder, _, names in os.walk(package.__path__[0]):
            for name in sorted(names):
                if name.endswith(".py"):
                    status = os.stat(os.path.join(folder, name))
                    found.append((name, status.st_size, status.st_mtime_ns))
    return tuple(sorted(found))


def recall(program: Program, key: str) -> tuple[Slice, Context] | None:
    """The stored answer, if every file that it was made from is unchanged.

    The slice comes without its cuts: they are of use only to render it again.
    """
    blob = program.cached(_KIND, key)
    if blob is None:
        return None
    seen, found, context = pickle.loads(blob)
    if not all(program.digest_now(name) == digest for name, digest in seen.items()):
        return None
    result: tuple[Slice, Context] = (found, context)
    return result


def remember(program: Program, key: str, found: Slice, context: Context) -> None:
    """Store an answer with the digests of all files that were read for it."""
    bare = replace(found, cuts=())
    blob = pickle.dumps((dict(program.digests), bare, context), protocol=5)
    program.cache_result(_KIND, key, blob)
    program.stubs.save()
