"""A persistent store of derived values, in the user's cache folder.

What is stored can always be computed again, so nothing here ever fails: a
missing, locked, full, foreign or corrupt cache is a cache that knows nothing.
SQLite with a rollback journal: a process killed at any moment leaves a file
that the next one rolls back, and unlike a write-ahead log it asks for no shared
memory, which network file systems do not have.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, Self

_PREFIX: Final = "depslice-"
_SUFFIX: Final = ".sqlite3"
_FILES_KEPT: Final = 4  # of other versions, for those who switch between them
_MAX_BYTES: Final = 2 * 2**30
_MAX_VALUE_BYTES: Final = 256 * 2**20
_PENDING_BYTES: Final = 8 * 2**20
_PENDING_SECONDS: Final = 1.0
_BUSY_SECONDS: Final = 2.0
_KEYS_PER_QUERY: Final = 500
_SECONDS_PER_DAY: Final = 86400
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS entries (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    used INTEGER NOT NULL,
    checksum BLOB NOT NULL,
    payload BLOB NOT NULL,
    PRIMARY KEY (kind, key)
)
"""


class Cache(Protocol):
    """Values by kind and key. One thread, and not across a fork."""

    @property
    def is_open(self) -> bool:
        """Whether it keeps anything."""

    def get_many(self, kind: str, keys: Sequence[str]) -> dict[str, bytes]:
        """The values there are, by key; keys that are not known are missing in it."""

    def get(self, kind: str, key: str) -> bytes | None:
        """The value of one key, or ``None``."""

    def put_many(self, kind: str, items: Iterable[tuple[str, bytes]]) -> None:
        """Store values. They may reach the disk as late as :meth:`close`."""

    def close(self) -> None:
        """Write what is pending and let go of the file; later calls do nothing."""

    def __enter__(self) -> Self:
        """Give the cache itself."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        """Close the cache, whatever happened."""


class NullCache:
    """A cache that knows nothing and keeps nothing; ``reason`` says why it stands in."""

    def __init__(self, reason: str = "") -> None:
        self.reason = reason

    @property
    def is_open(self) -> bool:
        """Never."""
        return False

    def get_many(self, kind: str, keys: Sequence[str]) -> dict[str, bytes]:
        """Nothing."""
        return {}

    def get(self, kind: str, key: str) -> bytes | None:
        """Nothing."""
        return None

    def put_many(self, kind: str, items: Iterable[tuple[str, bytes]]) -> None:
        """Forget the values."""

    def close(self) -> None:
        """Do nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def open_cache(
    directory: Path | None = None, *, version: str, max_bytes: int = _MAX_BYTES
) -> Cache:
    """Open the cache of ``version`` in ``directory`` (default: :func:`cache_directory`).

    ``version`` names the program and the form of its values; values are never
    seen by another version, nor by another Python. A corrupt file is rebuilt.
    Beyond ``max_bytes`` the values used least recently are dropped, by day.

    Never raises: where there can be no cache, the answer is a
    :class:`NullCache`. That includes a directory or a file that belongs to
    somebody else or that everybody may write to, since values are unmarshalled.
    """
    directory = cache_directory() if directory is None else directory
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        problem = _distrust(directory)
        if problem:
            return NullCache(problem)
        tag = f"{version}/{sys.implementation.cache_tag}"
        digest = hashlib.blake2b(tag.encode(), digest_size=8).hexdigest()
        path = directory / f"{_PREFIX}{digest}{_SUFFIX}"
        if path.is_symlink() or path.exists():
            problem = _distrust(path)
            if problem:
                return NullCache(problem)
        else:
            _drop_old_files(directory)
        cache = _SqliteCache(path, tag=tag, max_bytes=max_bytes)
    except OSError as error:
        return NullCache(f"{directory}: {(error.strerror or str(error)).lower()}")
    except ValueError as error:
        return NullCache(f"{directory}: {error}")
    return cache if cache.is_open else NullCache(f"{path} cannot be opened")


def clear_cache(directory: Path | None = None) -> int:
    """Remove the cache files in ``directory``, and nothing else; how many bytes they had.

    Files that cannot be removed stay, silently.
    """
    directory = cache_directory() if directory is None else directory
    removed = 0
    for path in _cache_files(directory):
        removed += _remove(path) or 0
    return removed


def cache_directory() -> Path:
    r"""Where the cache is kept: ``DEPSLICE_CACHE_DIR``, or the platform's cache folder.

    ``~/.cache/depslice``, or what ``XDG_CACHE_HOME`` says; ``~/Library/Caches/depslice``
    on macOS; ``%LOCALAPPDATA%\depslice\Cache`` on Windows.
    """
    chosen = os.environ.get("DEPSLICE_CACHE_DIR")
    if chosen:
        return Path(os.path.abspath(os.path.expanduser(chosen)))
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
        return Path(local) / "depslice" / "Cache"
    if sys.platform == "darwin":
        return Path(os.path.expanduser("~/Library/Caches/depslice"))
    # The XDG base directory specification: a relative path is to be ignored.
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.expanduser("~/.cache")
    return Path(base) / "depslice"


class _SqliteCache:
    """The cache proper. Every method catches what SQLite and the system may raise."""

    _connection: sqlite3.Connection | None = None

    def __init__(self, path: Path, *, tag: str, max_bytes: int) -> None:
        self._path = path
        self._checksum_key = hashlib.blake2b(tag.encode(), digest_size=32).digest()
        self._max_bytes = max_bytes
        self._today = int(time.time() // _SECONDS_PER_DAY)
        self._pending: dict[tuple[str, str], bytes] = {}
        self._pending_bytes = 0
        self._pending_since = 0.0
        self._touched: list[tuple[str, str]] = []
        self._writable = True
        self._has_grown = False
        self._connection = self._connect()

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    def get_many(self, kind: str, keys: Sequence[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for start in range(0, len(keys), _KEYS_PER_QUERY):
            chunk = keys[start : start + _KEYS_PER_QUERY]
            for key, used, checksum, payload in self._select(kind, chunk):
                # The checksum guards unmarshalling: what was truncated, damaged or
                # written by another version is a value that is not there.
                if checksum != self._checksum(kind, key, payload):
                    continue
                found[key] = payload
                if used != self._today:
                    self._touched.append((kind, key))
        if self._pending:
            for key in keys:
                pending = self._pending.get((kind, key))
                if pending is not None:
                    found[key] = pending
        return found

    def get(self, kind: str, key: str) -> bytes | None:
        return self.get_many(kind, (key,)).get(key)

    def put_many(self, kind: str, items: Iterable[tuple[str, bytes]]) -> None:
        if not (self._writable and self.is_open):
            return
        for key, payload in items:
            if len(payload) > _MAX_VALUE_BYTES:
                continue
            if not self._pending:
                self._pending_since = time.monotonic()
            self._pending[kind, key] = payload
            self._pending_bytes += len(payload)
            # Few large transactions: one for each value would cost more than the work saved.
            late = time.monotonic() - self._pending_since > _PENDING_SECONDS
            if late or self._pending_bytes > _PENDING_BYTES:
                self._flush()

    def close(self) -> None:
        if self._connection is None:
            return
        self._flush()
        if self._touched:
            touched, self._touched = self._touched, []
            self._write(
                "UPDATE entries SET used = ? WHERE kind = ? AND key = ?",
                [(self._today, kind, key) for kind, key in touched],
            )
        if self._has_grown:
            self._shrink()
        self._disconnect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        # Who forgets to close loses what was not yet written; Python 3.13 would warn as well.
        self._disconnect()

    def _select(self, kind: str, keys: Sequence[str]) -> list[tuple[str, int, bytes, bytes]]:
        if self._connection is None:
            return []
        marks = ",".join("?" * len(keys))
        query = (
            "SELECT key, used, checksum, payload FROM entries"  # noqa: S608 - marks alone
            f" WHERE kind = ? AND key IN ({marks})"
        )
        try:
            rows = self._connection.execute(query, (kind, *keys)).fetchall()
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                self._rebuild()
            return []
        except (sqlite3.Error, OverflowError, MemoryError):
            self._rebuild()
            return []
        return [row for row in rows if _is_well_formed(row)]

    def _flush(self) -> None:
        if not self._pending:
            return
        pending, self._pending, self._pending_bytes = self._pending, {}, 0
        self._has_grown = True
        self._write(
            "INSERT OR REPLACE INTO entries (kind, key, used, checksum, payload)"
            " VALUES (?, ?, ?, ?, ?)",
            [
                (kind, key, self._today, self._checksum(kind, key, payload), payload)
                for (kind, key), payload in pending.items()
            ],
        )

    def _write(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        """All of ``rows`` in one transaction, or none of them."""
        connection = self._connection
        if connection is None or not self._writable:
            return
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.executemany(statement, rows)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.OperationalError as error:
            # Full, read-only or refused: what is there can still be read. Somebody
            # else writing for two seconds: what we have is lost, and no harm done.
            if not _is_busy(error):
                self._writable = False
        except (sqlite3.Error, OverflowError, MemoryError, UnicodeError):
            self._rebuild()

    def _shrink(self) -> None:
        """Drop the values used least recently until a tenth of the room is free again."""
        if self._connection is None or self._live_bytes() <= self._max_bytes:
            return
        surplus = self._live_bytes() - self._max_bytes * 9 // 10
        doomed: list[tuple[int]] = []
        try:
            rows = self._connection.execute(
                "SELECT rowid, length(payload) FROM entries ORDER BY used, rowid"
            )
            for rowid, size in rows:
                doomed.append((rowid,))
                surplus -= size
                if surplus <= 0:
                    break
            rows.close()
        except sqlite3.Error:
            self._rebuild()
            return
        self._write("DELETE FROM entries WHERE rowid = ?", doomed)

    def _live_bytes(self) -> int:
        """The bytes in use. Freed pages are used again, so the file itself need not shrink."""
        pragmas = ("page_count", "freelist_count", "page_size")
        if self._connection is None:
            return 0
        try:
            pages, free, size = (
                int(self._connection.execute(f"PRAGMA {pragma}").fetchone()[0])
                for pragma in pragmas
            )
        except sqlite3.Error:
            return 0
        return (pages - free) * size

    def _connect(self) -> sqlite3.Connection | None:
        for attempt in (1, 2):
            try:
                return self._connected()
            except sqlite3.OperationalError as error:
                if _is_busy(error) or not self._path.exists():
                    return None
            except sqlite3.Error:
                pass
            # Not a database, or one we cannot use: once, start over.
            if attempt == 1 and _remove(self._path) is None:
                return None
        return None

    def _connected(self) -> sqlite3.Connection:
        if not self._path.exists():
            # SQLite would create it with the umask's permissions.
            with suppress(OSError):
                os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = sqlite3.connect(
            self._path,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,  # one thread uses it, but any may collect it, and close it
        )
        try:
            # Only a crash of the whole machine can now damage the file, and the
            # checksums notice.
            connection.execute("PRAGMA synchronous = OFF")
            # Damaged structure is found where it is met, not trusted.
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
            tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
            if ("entries",) not in tables:  # asked first: the file may be read-only
                connection.execute(_SCHEMA)
            connection.execute("SELECT kind, key, used, checksum, payload FROM entries LIMIT 1")
        except BaseException:
            connection.close()
            raise
        return connection

    def _rebuild(self) -> None:
        """Start over with an empty file, after damage."""
        self._disconnect()
        self._touched.clear()
        if _remove(self._path) is not None:
            self._connection = self._connect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _checksum(self, kind: str, key: str, payload: bytes) -> bytes:
        name = f"{kind}\0{key}\0".encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(name, digest_size=16, key=self._checksum_key)
        digest.update(payload)
        return digest.digest()


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def _is_well_formed(row: tuple[object, ...]) -> bool:
    """SQLite columns hold whatever the file says, not what the schema says."""
    key, used, checksum, payload = row
    return (
        isinstance(key, str)
        and isinstance(used, int)
        and isinstance(checksum, bytes)
        and isinstance(payload, bytes)
    )


def _distrust(path: Path) -> str:
    """Why what stands at ``path`` may not be believed; empty when it may."""
    status = os.stat(path)
    if hasattr(os, "geteuid"):
        if status.st_uid != os.geteuid():
            return f"{path} belongs to another user"
        if status.st_mode & stat.S_IWOTH:
            return f"{path} can be written to by everybody"
    return ""


def _cache_files(directory: Path) -> list[Path]:
    try:
        return sorted(directory.glob(f"{_PREFIX}*{_SUFFIX}"))
    except OSError:
        return []


def _drop_old_files(directory: Path) -> None:
    """Make room for a new file: keep those of a few other versions, the latest used."""
    ages: list[tuple[float, Path]] = []
    for path in _cache_files(directory):
        with suppress(OSError):
            ages.append((path.stat().st_mtime, path))
    for _, path in sorted(ages, reverse=True)[_FILES_KEPT:]:
        _remove(path)


def _remove(path: Path) -> int | None:
    """Remove a database and its journal; the bytes they had, ``None`` when they stay."""
    removed = 0
    # The journal first: one without its database would be rolled back into the next.
    for part in (f"{path}-journal", f"{path}-wal", f"{path}-shm", str(path)):
        try:
            size = os.lstat(part).st_size
            os.unlink(part)
        except FileNotFoundError:
            continue
        except OSError:
            return None
        removed += size
    return removed
