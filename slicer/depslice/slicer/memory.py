"""Answers remembered between runs: a slice stays valid while the files it has seen do.

What is stored is our own pickle, in the user's own cache folder, behind the checksum of
:mod:`depslice.callgraph.cache`; nothing of an analysed repository is ever unpickled.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from functools import cache
from typing import Any, Final

import depslice.callgraph
import depslice.slicer
from depslice.callgraph.program import Program
from depslice.callgraph.summary import FORMAT

_KIND: Final = f"answer-1-{FORMAT}"


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


def recall(program: Program, key: str) -> Any:
    """The stored answer, or ``None`` unless every file it was made from is unchanged."""
    blob = program.cached(_KIND, key)
    if blob is None:
        return None
    seen, answer = pickle.loads(blob)
    if not all(program.digest_now(name) == digest for name, digest in seen.items()):
        return None
    return answer


def remember(program: Program, key: str, answer: object) -> None:
    """Store an answer with the digests of all files that were read for it."""
    blob = pickle.dumps((dict(program.digests), answer), protocol=5)
    program.cache_result(_KIND, key, blob)
    program.stubs.save()
