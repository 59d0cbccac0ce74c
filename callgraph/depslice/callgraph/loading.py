"""Many files at once: what the cache knows of them, and the rest summarised by processes.

Workers are processes over plain pipes and the parent is one thread: so a worker
may die without taking the others with it, and a fork is safe.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple

from depslice.callgraph.program import (
    ANALYSER_CRASHED,
    Problem,
    default_workers,
    summarize_bytes,
)
from depslice.callgraph.project import Project, SourceFile, read_file
from depslice.callgraph.source import content_digest
from depslice.callgraph.summary import dump_summary

if TYPE_CHECKING:
    from multiprocessing.context import ForkContext, SpawnContext
    from multiprocessing.process import BaseProcess

    from depslice.callgraph.cache import Cache

# Less than this is done before the processes would have started.
_PARALLEL_FILES: Final = 40
_PARALLEL_BYTES: Final = 400_000
_LOOKUP_FILES: Final = 500
_STORE_FILES: Final = 50
# The big files first, within a window: the parent can take in one window's
# summaries while the workers are busy with the next.
_WINDOW_BYTES: Final = 1_500_000
_CHUNK_BYTES: Final = 100_000
_CHUNK_FILES: Final = 50
# A worker has the next chunk before it asks. A chunk is a list of at most
# _CHUNK_FILES numbers, so that sending two never fills a pipe and never blocks.
_CHUNKS_AHEAD: Final = 2


def load_many(
    project: Project,
    files: Sequence[SourceFile],
    cache: Cache | None,
    kind: str,
    *,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[tuple[SourceFile, str, bytes | None]]:
    """Yield each of ``files``, in their order, with the digest of its bytes and its blob.

    The blob is ``b"S"`` and the dumped summary, or a dumped
    :class:`~depslice.callgraph.program.Problem`. It comes from ``cache`` under
    ``kind``, or is computed and stored there: by ``workers`` processes (``None``:
    one for each core) where there is enough to do. It is ``None`` for a file that
    cannot be read, or was changed meanwhile: the caller loads that one itself.

    What is yielded does not depend on ``workers``. A file that breaks the
    analyser, or twice kills the process it is analysed in, gets a Problem
    ``analyser-crashed``, which is not stored. ``progress`` is called with the
    numbers of files done and of all. Closing the iterator ends the processes.
    """
    loading = _Loading(project, files, cache, kind)
    return loading.run(default_workers() if workers is None else workers, progress)


def starts_at_once() -> bool:
    """Whether a process takes next to no time to start here."""
    return _start_method() == "fork" and not _is_nested()


def _is_nested() -> bool:
    """A worker shares its cores with its siblings (and a daemon may start none)."""
    return multiprocessing.parent_process() is not None


class _Result(NamedTuple):
    """What became of one file. ``blob`` is ``None`` when it could not be read."""

    number: int  # in `files`
    digest: str
    blob: bytes | None
    storable: bool


class _Loading:
    """One call of :func:`load_many`: what is known so far, by index in ``files``."""

    def __init__(
        self, project: Project, files: Sequence[SourceFile], cache: Cache | None, kind: str
    ) -> None:
        self._project = project
        self._files = files
        self._cache = cache
        self._kind = kind
        self._digests: list[str] = []
        self._ready: dict[int, bytes | None] = {}
        self._missing: dict[str, list[int]] = {}  # digest -> files with these bytes
        self._unstored: list[tuple[str, bytes]] = []
        self._next = 0
        self._done = 0

    def run(
        self, workers: int, progress: Callable[[int, int], None] | None
    ) -> Iterator[tuple[SourceFile, str, bytes | None]]:
        report = progress or (lambda _done, _all: None)
        total = len(self._files)
        for start in range(0, total, _LOOKUP_FILES):
            self._look_up(range(start, min(start + _LOOKUP_FILES, total)))
            report(self._done, total)
            yield from self._in_order()
        # One file stands for all that have its bytes: most `__init__.py` are empty.
        todo = [indexes[0] for indexes in self._missing.values()]
        try:
            for result in self._results(todo, workers):
                self._take(result)
                report(self._done, total)
                yield from self._in_order()
        finally:
            self._store()

    def _look_up(self, indexes: range) -> None:
        keys: list[str] = []
        for index in indexes:
            try:
                digest = content_digest(read_file(self._project, self._files[index]))
            except OSError:
                digest = ""
                self._settle(index, None)
            self._digests.append(digest)
            if digest:
                keys.append(digest)
        known = {} if self._cache is None else self._cache.get_many(self._kind, keys)
        for index in indexes:
            digest = self._digests[index]
            if digest in known:
                self._settle(index, known[digest])
            elif digest:
                self._missing.setdefault(digest, []).append(index)

    def _results(self, todo: Sequence[int], workers: int) -> Iterator[_Result]:
        sizes = {index: self._files[index].size for index in todo}
        small = len(todo) <= _PARALLEL_FILES and sum(sizes.values()) <= _PARALLEL_BYTES
        if workers < 2 or small or _is_nested():
            for index in todo:
                yield _summarized(self._project, self._files[index], index)
            return
        pool = _Pool(self._project, self._files, _chunks(todo, sizes))
        try:
            yield from pool.run(workers)
        finally:
            pool.close()

    def _take(self, result: _Result) -> None:
        index, digest, blob, storable = result
        if storable and blob is not None and self._cache is not None:
            self._unstored.append((digest, blob))
            if len(self._unstored) >= _STORE_FILES:
                self._store()
        same = self._missing[self._digests[index]]
        unchanged = digest == self._digests[index]
        for other in same:
            self._settle(other, blob if unchanged else None)

    def _settle(self, index: int, blob: bytes | None) -> None:
        self._ready[index] = blob
        self._done += 1

    def _in_order(self) -> Iterator[tuple[SourceFile, str, bytes | None]]:
        while self._next in self._ready:
            index = self._next
            self._next += 1
            yield self._files[index], self._digests[index], self._ready.pop(index)

    def _store(self) -> None:
        if self._cache is not None and self._unstored:
            stored, self._unstored = self._unstored, []
            self._cache.put_many(self._kind, stored)


def _summarized(project: Project, file: SourceFile, index: int) -> _Result:
    """Read and summarise one file; whatever happens is a result."""
    try:
        data = read_file(project, file)
    except OSError:
        return _Result(index, "", None, storable=False)
    digest = content_digest(data)
    try:
        outcome = summarize_bytes(data)
        blob = outcome.dump() if isinstance(outcome, Problem) else b"S" + dump_summary(outcome)
    except Exception as error:  # noqa: BLE001 - a fault of ours must cost one file, not the run
        return _Result(index, digest, _crash(f"{type(error).__name__}: {error}"), storable=False)
    return _Result(index, digest, blob, storable=True)


def _crash(cause: str) -> bytes:
    return Problem(ANALYSER_CRASHED, f"the analyser failed on this file ({cause})", None).dump()


def _chunks(todo: Sequence[int], sizes: dict[int, int]) -> Iterator[list[int]]:
    """Split into portions of work, window by window, the big files of each window first."""
    window: list[int] = []
    gathered = 0
    for index in todo:
        window.append(index)
        gathered += sizes[index]
        if gathered >= _WINDOW_BYTES:
            yield from _window_chunks(window, sizes)
            window, gathered = [], 0
    yield from _window_chunks(window, sizes)


def _window_chunks(window: Sequence[int], sizes: dict[int, int]) -> Iterator[list[int]]:
    chunk: list[int] = []
    gathered = 0
    for index in sorted(window, key=lambda index: (-sizes[index], index)):
        if chunk and (gathered + sizes[index] > _CHUNK_BYTES or len(chunk) >= _CHUNK_FILES):
            yield chunk
            chunk, gathered = [], 0
        chunk.append(index)
        gathered += sizes[index]
    if chunk:
        yield chunk


class _Worker:
    """A process, the parent's end of its pipe, and what it has not answered yet."""

    def __init__(self, process: BaseProcess, connection: Connection) -> None:
        self.process = process
        self.connection = connection
        self.chunks: deque[deque[int]] = deque()
        self.has_started = False


class _Pool:
    """Processes that summarise; a dead one is replaced."""

    def __init__(
        self, project: Project, files: Sequence[SourceFile], chunks: Iterator[list[int]]
    ) -> None:
        # A worker needs no more of the project than its root.
        self._project = Project(root=project.root, files=(), left_out=(), diagnostics=())
        self._files = files
        self._queue = deque(chunks)
        self._workers: dict[Connection, _Worker] = {}
        self._suspects: set[int] = set()  # in work when a process died
        self._can_start = True

    def run(self, count: int) -> Iterator[_Result]:
        """Yield the results as they come; in which order depends on the processes."""
        while self._queue or self._workers:
            while self._can_start and len(self._workers) < min(count, len(self._queue)):
                self._can_start = self._start()
            if not self._workers:  # no process can be started here
                for index in self._queue.popleft():
                    yield _summarized(self._project, self._files[index], index)
                continue
            self._feed()
            # None is left when the last answer has come; to wait for nothing is for ever.
            for connection in wait(list(self._workers)) if self._workers else ():
                assert isinstance(connection, Connection)
                yield from self._receive(self._workers[connection])

    def _feed(self) -> None:
        for worker in list(self._workers.values()):
            while self._queue and len(worker.chunks) < _CHUNKS_AHEAD:
                chunk = self._queue.popleft()
                worker.chunks.append(deque(chunk))
                try:
                    worker.connection.send(chunk)
                except OSError:
                    break  # it is dead; its end of the pipe says so to `_receive`
            if not worker.chunks:
                self._dismiss(worker)

    def _receive(self, worker: _Worker) -> Iterator[_Result]:
        if worker.connection.closed:
            return
        try:
            result: _Result | None = worker.connection.recv()
        except (EOFError, OSError):
            yield from self._bury(worker)
            return
        if result is None:
            worker.has_started = True
            return
        chunk = worker.chunks[0]
        chunk.remove(result.number)
        if not chunk:
            worker.chunks.popleft()
        yield result

    def _bury(self, worker: _Worker) -> Iterator[_Result]:
        """Give back the work of a dead process; the file it was at gets one more chance."""
        chunks = [list(chunk) for chunk in worker.chunks if chunk]
        self._dismiss(worker)
        if not worker.has_started:  # no file can be blamed for that, nor will the next one do
            self._can_start = False
            self._queue.extendleft(reversed(chunks))
            return
        if not chunks:
            return
        suspect = chunks[0].pop(0)
        self._queue.extendleft(chunk for chunk in reversed(chunks) if chunk)
        if suspect in self._suspects:
            digest = content_digest(_bytes(self._project, self._files[suspect]))
            cause = f"its process ended with {worker.process.exitcode}"
            yield _Result(suspect, digest, _crash(cause), storable=False)
            return
        self._suspects.add(suspect)
        self._queue.append([suspect])

    def _start(self) -> bool:
        method = _start_method()
        context: ForkContext | SpawnContext = (
            multiprocessing.get_context("fork")
            if method == "fork"
            else multiprocessing.get_context("spawn")
        )
        ours, theirs = context.Pipe()
        # A pipe has ended when every copy of its other end is closed, those that a
        # fork made included.
        inherited = (*self._workers, ours) if method == "fork" else ()
        process = context.Process(
            target=_work, args=(theirs, inherited, self._project, self._files), daemon=True
        )
        try:
            with _starting(method):
                process.start()
        except (OSError, RuntimeError):
            ours.close()
            return False
        finally:
            theirs.close()
        self._workers[ours] = _Worker(process, ours)
        return True

    def _dismiss(self, worker: _Worker) -> None:
        del self._workers[worker.connection]
        worker.connection.close()  # which it takes as the end of its work
        worker.process.join(timeout=1)
        if worker.process.is_alive():
            worker.process.kill()

    def close(self) -> None:
        """End all processes now."""
        for worker in self._workers.values():
            worker.connection.close()
            worker.process.terminate()
        for worker in self._workers.values():
            worker.process.join(timeout=1)
            if worker.process.is_alive():
                worker.process.kill()
        self._workers.clear()


def _work(
    connection: Connection,
    inherited: Sequence[Connection],
    project: Project,
    files: Sequence[SourceFile],
) -> None:
    """What a worker does: chunks of indexes in, results out, until the pipe is closed.

    First of all it says ``None``: it has started.
    """
    # Ctrl-C goes to the whole process group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in inherited:
        other.close()
    with suppress(EOFError, OSError):
        connection.send(None)
        while True:
            for index in connection.recv():
                connection.send(_summarized(project, files[index], index))


def _start_method() -> str:
    # A fork takes 1 ms where a new interpreter takes 100, and does not run the
    # caller's main module again. Beside other threads it may inherit a held lock,
    # and macOS' own libraries do not survive it.
    alone = threading.active_count() == 1
    return "fork" if sys.platform == "linux" and alone else "spawn"


@contextmanager
def _starting(method: str) -> Iterator[None]:
    """What must hold while a process is started."""
    blocks = hasattr(signal, "pthread_sigmask")
    # Between its first instruction and `_work` a child would answer Ctrl-C with a traceback.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if blocks else None
    try:
        with warnings.catch_warnings():
            # Python warns of forks beside threads of C libraries too; those hold no
            # lock that a worker needs.
            warnings.simplefilter("ignore", DeprecationWarning)
            if method == "fork":
                yield
            else:
                with _clean_interpreter():
                    yield
    finally:
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _clean_interpreter() -> Iterator[None]:
    """A new interpreter that runs nothing but what it is told to.

    It is started by ``-c``, which puts the working directory on its path: that may
    be the repository, whose ``pickle.py`` must not be run. And it would run the
    caller's main module again, which few scripts guard against.
    """
    main = sys.modules["__main__"]
    safe_path = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        if safe_path is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = safe_path


def _bytes(project: Project, file: SourceFile) -> bytes:
    try:
        return read_file(project, file)
    except OSError:
        return b""
