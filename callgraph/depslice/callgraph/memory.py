"""Keys of what is remembered between runs: a question, the project's files, this depslice."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from types import ModuleType

import depslice.callgraph
from depslice.callgraph.program import Program

CodeState = tuple[tuple[str, int, int], ...]


def key_of(program: Program, question: tuple[object, ...]) -> str:
    """The key of a question put to a project with just these files, whatever is in them."""
    digest = hashlib.blake2b(digest_size=20)
    state = code_state(depslice.callgraph)
    digest.update(repr((question, state, program.stubs.identity)).encode())
    for file in program.project.files:
        digest.update(f"\0{file.path}\0{file.module}".encode(errors="surrogatepass"))
    return digest.hexdigest()


@cache
def code_state(package: ModuleType) -> CodeState:
    """What a package of this depslice is: its modules' sizes and times.

    Another one answers anew.
    """
    found: list[tuple[str, int, int]] = []
    for folder, _, names in os.walk(package.__path__[0]):
        for name in names:
            if name.endswith(".py"):
                status = os.stat(os.path.join(folder, name))
                found.append((name, status.st_size, status.st_mtime_ns))
    return tuple(sorted(found))
