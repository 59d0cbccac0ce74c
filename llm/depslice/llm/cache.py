"""Answers kept on disk: what was paid for once is not paid for again.

The key of an answer is all that it may depend on: the model, the messages, the options and
the number of the sample; nothing else, and nothing less. An answer is a JSON file that
holds question and answer, and appears whole or not at all. So a folder of answers can be
read, merged, and kept beside results as their recording: ``Mode.REPLAY`` answers from it
alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import Any, Final, get_args
from weakref import WeakValueDictionary

from depslice.callgraph.cache import cache_directory
from depslice.callgraph.errors import OptionError
from depslice.callgraph.locking import held
from depslice.llm.port import CacheMiss, Completion, FinishReason, Usage
from depslice.llm.request import Request, Source

SCHEMA: Final = "depslice.completion/1"


class Mode(Enum):
    """How answers are used."""

    USE = "use"  # answer from the folder, ask for what is not there
    REPLAY = "replay"  # answer from the folder; what is not there is an error
    REFRESH = "refresh"  # ask for all, and keep the new answers
    OFF = "off"  # neither read nor write


def completions_directory() -> Path:
    """Where answers are kept by default; ``depslice cache clear`` leaves them alone."""
    return cache_directory() / "completions"


class Store:
    """A folder of answers; safe for threads and processes at once."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def read(self, model: str, request: Request) -> Completion | None:
        """The answer, or None: it is not there, or its file is damaged."""
        question = _question(model, request)
        try:
            document = json.loads(self._path(question).read_text(encoding="utf-8"))
            return _completion(document["answer"]) if document["question"] == question else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, model: str, request: Request, completion: Completion) -> None:
        """Keep an answer.

        :raises OptionError: the folder cannot be written.
        """
        question = _question(model, request)
        answer = asdict(completion)
        del answer["from_cache"]
        document = {"schema": SCHEMA, "question": question, "answer": answer}
        path = self._path(question)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_whole(path, json.dumps(document, indent=1) + "\n")
        except OSError as error:
            raise self._unwritable(error) from None

    @contextmanager
    def turn(self, model: str, request: Request) -> Iterator[None]:
        """Of two processes with one question the second waits, and finds the first one's answer.

        :raises OptionError: the folder cannot be written.
        """
        path = self._path(_question(model, request)).with_suffix(".asked")
        with ExitStack() as stack:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                stack.enter_context(held(path))
            except OSError as error:
                raise self._unwritable(error) from None
            yield

    def _unwritable(self, error: OSError) -> OptionError:
        return OptionError(
            f"cannot keep completions in {self.directory}: {error.strerror}",
            hint="another --completions, or --no-cache",
        )

    def _path(self, question: dict[str, Any]) -> Path:
        key = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()
        return self.directory / key[:2] / f"{key[2:]}.json"


class Cached:
    """Asks only for what the store has not."""

    def __init__(self, source: Source, store: Store, mode: Mode) -> None:
        self.name = source.name
        self._source = source
        self._store = store
        self._mode = mode
        self._guard = threading.Lock()
        self._asking: WeakValueDictionary[Request, threading.Lock] = WeakValueDictionary()

    def ask(self, request: Request) -> Completion:
        """See :class:`~depslice.llm.request.Source`.

        :raises CacheMiss: it is not there, in a replay.
        """
        with self._turn(request):
            known = self._known(request)
            if known is not None:
                return known
            if self._mode is Mode.REPLAY:
                raise CacheMiss(
                    f"no recorded answer of {self.name} to this prompt (sample {request.sample})"
                    f" in {self._store.directory}",
                    hint="without --replay it is asked for, and recorded",
                )
            with self._store.turn(self.name, request):
                known = self._known(request)
                if known is not None:
                    return known
                completion = self._source.ask(request)
                self._store.write(self.name, request, completion)
                return completion

    def _known(self, request: Request) -> Completion | None:
        return None if self._mode is Mode.REFRESH else self._store.read(self.name, request)

    def _turn(self, request: Request) -> threading.Lock:
        """Of two threads with one question the second waits, and finds the first one's answer."""
        with self._guard:
            lock = self._asking.get(request)
            if lock is None:
                lock = self._asking[request] = threading.Lock()
            return lock


def _question(model: str, request: Request) -> dict[str, Any]:
    options = asdict(request.options)
    return {
        "model": model,
        "messages": [asdict(message) for message in request.messages],
        "options": {**options, "stop": list(options["stop"])},
        "sample": request.sample,
    }


def _completion(answer: dict[str, Any]) -> Completion:
    if not isinstance(answer["text"], str) or answer["finish_reason"] not in get_args(FinishReason):
        raise ValueError("not an answer")
    return Completion(
        text=answer["text"],
        finish_reason=answer["finish_reason"],
        usage=Usage(**answer["usage"]),
        from_cache=True,
    )


def _write_whole(path: Path, text: str) -> None:
    """Write it beside, then put it in place: a reader never sees half a file."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
