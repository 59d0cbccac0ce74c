"""Answers remembered between runs: a slice stays valid while the files it has seen do.

What is stored is our own pickle, in the user's own cache folder, behind the checksum of
:mod:`depslice.callgraph.cache`; nothing of an analysed repository is ever unpickled.
"""

from __future__ import annotations

import pickle
from typing import Any, Final

import depslice.slicer
from depslice.callgraph import memory
from depslice.callgraph.program import ANALYSER_CRASHED, Program
from depslice.callgraph.summary import FORMAT

_KIND: Final = f"answer-6-{FORMAT}"


def key_of(program: Program, question: tuple[object, ...]) -> str:
    """The key of a question put to a project with just these files."""
    return memory.key_of(program, (*question, memory.code_state(depslice.slicer)))


def recall(program: Program, key: str) -> Any:
    """The stored answer, or ``None`` unless every file it was made from is unchanged.

    What was wrong with these files the ``program`` knows then as if it had read them.
    """
    blob = program.cached(_KIND, key)
    if blob is None:
        return None
    seen, wrong, answer = pickle.loads(blob)
    if not all(program.digest_now(name) == digest for name, digest in seen.items()):
        return None
    program.adopt_diagnostics(wrong)
    return answer


def remember(program: Program, key: str, answer: object) -> None:
    """Store an answer with the digests of all files that were read for it.

    A file that could not be read has none: the answer holds as long as that is so. Nothing is
    stored where the analysis of a file crashed, which may not happen again.
    """
    wrong = program.file_diagnostics
    if any(each.slug == ANALYSER_CRASHED for each in wrong):
        return
    unread = {program.by_path[each.path].module: None for each in wrong}
    seen = {**unread, **program.digests}
    blob = pickle.dumps((seen, wrong, answer), protocol=5)
    program.cache_result(_KIND, key, blob)
    program.stubs.save()
