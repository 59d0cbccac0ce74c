"""The cache under everything that may happen to a file. Real processes, real signals."""

from __future__ import annotations

import marshal
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from depslice.callgraph import cache as cache_module
from depslice.callgraph.cache import Cache, NullCache, cache_directory, clear_cache, open_cache


def opened(directory: Path, version: str = "1", **options: int) -> Cache:
    cache = open_cache(directory, version=version, **options)
    assert not isinstance(cache, NullCache), cache.reason
    return cache


def database(directory: Path) -> Path:
    [path] = directory.glob("*.sqlite3")
    return path


def filled(directory: Path, count: int = 50, size: int = 2000) -> dict[str, bytes]:
    values = {f"k{number}": bytes([number % 251]) * size for number in range(count)}
    with opened(directory) as cache:
        cache.put_many("summary", values.items())
    return values


# --- the ordinary day


def test_values_come_back_after_closing(tmp_path: Path) -> None:
    values = {f"key {number}": os.urandom(number) for number in range(1201)}
    with opened(tmp_path / "new" / "cache") as cache:
        cache.put_many("a", values.items())
        assert cache.get("a", "key 7") == values["key 7"]  # before it is on disk
        cache.put_many("b", [("key 7", b"other kind")])
    with opened(tmp_path / "new" / "cache") as cache:
        assert cache.get_many("a", [*values, "missing"]) == values
        assert cache.get("b", "key 7") == b"other kind"
        assert cache.get("b", "key 8") is None
        assert cache.get_many("a", []) == {}


def test_the_last_value_of_a_key_counts(tmp_path: Path) -> None:
    for value in (b"one", b"two"):
        with opened(tmp_path) as cache:
            cache.put_many("a", [("k", b"older"), ("k", value)])
    with opened(tmp_path) as cache:
        assert cache.get("a", "k") == b"two"


def test_a_closed_cache_knows_nothing_and_says_nothing(tmp_path: Path) -> None:
    cache = opened(tmp_path)
    cache.close()
    cache.close()
    cache.put_many("a", [("k", b"v")])
    assert cache.get("a", "k") is None
    cache.close()
    with opened(tmp_path) as again:
        assert again.get("a", "k") is None


def test_what_was_put_before_an_error_is_kept(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), opened(tmp_path) as cache:
        cache.put_many("a", [("k", b"v")])
        raise KeyboardInterrupt
    with opened(tmp_path) as cache:
        assert cache.get("a", "k") == b"v"


def test_versions_do_not_see_each_other(tmp_path: Path) -> None:
    with opened(tmp_path, "1") as one, opened(tmp_path, "2") as two:
        one.put_many("a", [("k", b"one")])
        two.put_many("a", [("k", b"two")])
    with opened(tmp_path, "1") as one:
        assert one.get("a", "k") == b"one"
    with opened(tmp_path, "3") as three:
        assert three.get("a", "k") is None


def test_a_file_of_another_version_in_our_place_gives_nothing(tmp_path: Path) -> None:
    filled(tmp_path)
    ours = database(tmp_path)
    with opened(tmp_path, "2") as other:
        other.put_many("summary", [("k1", b"of version 2")])
    [theirs] = set(tmp_path.glob("*.sqlite3")) - {ours}
    theirs.replace(ours)
    with opened(tmp_path) as cache:
        assert cache.get("summary", "k1") is None
        cache.put_many("summary", [("k1", b"ours")])
    with opened(tmp_path) as cache:
        assert cache.get("summary", "k1") == b"ours"


def test_old_versions_are_dropped(tmp_path: Path) -> None:
    for number in range(12):
        opened(tmp_path, str(number)).close()
    assert len(list(tmp_path.glob("*"))) <= 5


def test_the_size_is_bounded_and_the_least_recently_used_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    today = time.time()
    for day in range(6):
        monkeypatch.setattr(time, "time", lambda day=day: today + day * 86400)
        with opened(tmp_path, max_bytes=1_000_000) as cache:
            cache.get("a", "0-0")  # used every day
            cache.put_many("a", [(f"{day}-{n}", os.urandom(30_000)) for n in range(10)])
        assert database(tmp_path).stat().st_size < 1_500_000
    with opened(tmp_path) as cache:
        kept = {day for day in range(6) if cache.get("a", f"{day}-5")}
        assert kept in ({4, 5}, {3, 4, 5})
        assert cache.get("a", "0-0")
        assert not cache.get("a", "0-9")


def test_the_directory_is_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        filled(tmp_path / "c")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "c").stat().st_mode) == 0o700
    assert stat.S_IMODE(database(tmp_path / "c").stat().st_mode) == 0o600


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DEPSLICE_CACHE_DIR", str(tmp_path / "x"))
    assert cache_directory() == tmp_path / "x"
    monkeypatch.delenv("DEPSLICE_CACHE_DIR")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "depslice"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/someone")
    assert cache_directory() == Path("/home/someone/.cache/depslice")


def test_clearing_removes_the_cache_and_nothing_else(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "mine.txt").write_text("precious")
    size = database(tmp_path).stat().st_size
    assert clear_cache(tmp_path) == size > 0
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert clear_cache(tmp_path) == 0
    assert clear_cache(tmp_path / "missing") == 0


def test_clearing_under_a_running_process_harms_nobody(tmp_path: Path) -> None:
    with opened(tmp_path) as cache:
        cache.put_many("a", [("k", b"v")])
        clear_cache(tmp_path)
        cache.put_many("a", [("l", b"w")])
        cache.get("a", "k")
    filled(tmp_path)
    with opened(tmp_path) as cache:
        assert cache.get("summary", "k3")


# --- damage


def damage_truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 + 100)


def damage_truncate_to_header(path: Path) -> None:
    os.truncate(path, 100)


def damage_empty(path: Path) -> None:
    os.truncate(path, 0)


def damage_garbage(path: Path) -> None:
    path.write_bytes(os.urandom(50_000))


def damage_text(path: Path) -> None:
    path.write_text("not a database at all")


def damage_schema(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE entries (something, else_)")
    connection.close()


def damage_types(path: Path) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("UPDATE entries SET checksum = 'text', payload = 5, used = 'x'")
    connection.close()


def damage_stray_journal(path: Path) -> None:
    Path(f"{path}-journal").write_bytes(os.urandom(5000))


DAMAGE = [
    damage_truncate,
    damage_truncate_to_header,
    damage_empty,
    damage_garbage,
    damage_text,
    damage_schema,
    damage_types,
    damage_stray_journal,
]


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_rebuilt_silently(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    values = filled(tmp_path)
    damage(database(tmp_path))
    with opened(tmp_path) as cache:
        found = cache.get_many("summary", list(values))
        assert all(values[key] == value for key, value in found.items())
        cache.put_many("summary", values.items())
    with opened(tmp_path) as cache:
        assert cache.get_many("summary", list(values)) == values


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_damage_under_an_open_cache_is_survived(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    values = filled(tmp_path)
    with opened(tmp_path) as cache:
        cache.get("summary", "k1")
        damage(database(tmp_path))
        found = cache.get_many("summary", list(values))
        assert all(values[key] == value for key, value in found.items())
        cache.put_many("summary", values.items())
    for _ in range(2):  # the first may have to rebuild
        with opened(tmp_path) as cache:
            cache.put_many("summary", values.items())
    with opened(tmp_path) as cache:
        assert cache.get_many("summary", list(values)) == values


def test_no_flipped_byte_ever_gives_a_wrong_value(tmp_path: Path) -> None:
    values = filled(tmp_path, count=12, size=700)
    whole = database(tmp_path).read_bytes()
    for offset in range(0, len(whole), 97):
        damaged = bytearray(whole)
        damaged[offset] ^= 0x55
        for path in tmp_path.iterdir():
            path.unlink()
        ours = tmp_path / database_name(tmp_path)
        ours.write_bytes(damaged)
        with open_cache(tmp_path, version="1") as cache:
            found = cache.get_many("summary", list(values))
        assert all(values[key] == value for key, value in found.items()), offset


def database_name(directory: Path) -> str:
    filled(directory, count=1)
    path = database(directory)
    path.unlink()
    return path.name


# --- other processes


def python(program: str, directory: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, str(directory), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )


WRITER = """
import sys, marshal
from pathlib import Path
from depslice.callgraph.cache import open_cache
directory, name, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
for number in range(rounds):
    with open_cache(directory, version="1") as cache:
        items = [(f"{name}-{number}-{n}", marshal.dumps([name, number, n] * 200))
                 for n in range(20)]
        cache.put_many("both", items)
        cache.get_many("both", [f"{other}-{number}-{n}" for other in "ab" for n in range(20)])
"""


def test_two_writers_at_once(tmp_path: Path) -> None:
    writers = [python(WRITER, tmp_path / "c", name, "25") for name in "ab"]
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    keys = [f"{name}-{number}-{n}" for name in "ab" for number in range(25) for n in range(20)]
    with opened(tmp_path / "c") as cache:
        found = cache.get_many("both", keys)
    assert len(found) == len(keys)
    for key, value in found.items():
        name, number, n = key.split("-")
        assert marshal.loads(value) == [name, int(number), int(n)] * 200


KILLED = """
import os, sys
from pathlib import Path
from depslice.callgraph.cache import open_cache
cache = open_cache(Path(sys.argv[1]), version="1")
number = 0
print("ready", flush=True)
while True:
    # More than what is held back: each call writes.
    cache.put_many("k", ((f"{number}-{n}", f"{number}-{n}".encode() * 50_000) for n in range(60)))
    number += 1
"""


@pytest.mark.parametrize("delay", [0.0, 0.013, 0.05, 0.11, 0.2])
def test_killed_in_the_middle_of_writing(tmp_path: Path, delay: float) -> None:
    filled(tmp_path)
    process = python(KILLED, tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    keys = [f"{number}-{n}" for number in range(100) for n in range(60)]
    with opened(tmp_path) as cache:
        # What was there is there, what was being written is whole or absent.
        assert len(cache.get_many("summary", [f"k{number}" for number in range(50)])) == 50
        for key, value in cache.get_many("k", keys).items():
            assert value == key.encode() * 50_000
        cache.put_many("k", [("after", b"fine")])
    with opened(tmp_path) as cache:
        assert cache.get("k", "after") == b"fine"


def test_a_lock_that_is_never_released_costs_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "_BUSY_SECONDS", 0.05)
    filled(tmp_path)
    holder = sqlite3.connect(database(tmp_path), isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with open_cache(tmp_path, version="1") as cache:
        cache.put_many("summary", [("new", b"value")])
        assert cache.get("summary", "k1") is None
    holder.execute("ROLLBACK")
    holder.close()
    with opened(tmp_path) as cache:
        assert cache.get("summary", "k1")


def test_a_lock_that_comes_while_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_BUSY_SECONDS", 0.05)
    filled(tmp_path)
    cache = opened(tmp_path)
    holder = sqlite3.connect(database(tmp_path), isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    assert cache.get("summary", "k1") is None
    cache.put_many("summary", [("new", b"value")])
    cache.close()
    holder.execute("ROLLBACK")
    holder.close()
    with opened(tmp_path) as again:
        assert again.get("summary", "k1")  # nothing was rebuilt on account of a lock


def test_a_full_disk_costs_no_result(tmp_path: Path) -> None:
    values = filled(tmp_path)
    cache = opened(tmp_path)
    connection = cache._connection  # type: ignore[attr-defined]
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")  # SQLITE_FULL beyond
    cache.put_many("summary", [(f"n{number}", os.urandom(10_000)) for number in range(900)])
    assert cache.get("summary", "k1") == values["k1"]
    cache.close()
    with opened(tmp_path) as again:
        assert again.get_many("summary", list(values)) == values


# --- whose file it is


def test_no_cache_where_none_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for directory in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/none/such")):
        with open_cache(directory, version="1") as cache:
            assert isinstance(cache, NullCache)
            assert cache.reason
            cache.put_many("a", [("k", b"v")])
            assert cache.get("a", "k") is None
            assert cache.get_many("a", ["k"]) == {}


def test_what_everybody_may_write_is_not_trusted(tmp_path: Path) -> None:
    filled(tmp_path / "c")
    path = database(tmp_path / "c")
    path.chmod(0o666)
    assert isinstance(open_cache(tmp_path / "c", version="1"), NullCache)
    path.chmod(0o600)
    (tmp_path / "c").chmod(0o777)
    assert isinstance(open_cache(tmp_path / "c", version="1"), NullCache)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs owners")
def test_what_belongs_to_somebody_else_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    cache = open_cache(tmp_path, version="1")
    assert isinstance(cache, NullCache)
    assert "another user" in cache.reason


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_read_only_folder_can_still_be_read() -> None:
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        values = filled(directory)
        path = database(directory)
        path.chmod(0o400)
        directory.chmod(0o500)
        if os.geteuid() == 0:  # who may write everywhere: become someone who may not
            os.chown(directory, 65534, 65534)
            os.chown(path, 65534, 65534)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                if os.geteuid() == 0:
                    os.setgid(65534)
                    os.setuid(65534)
                with open_cache(directory, version="1") as cache:
                    cache.put_many("summary", [("new", b"value")])
                    found = cache.get_many("summary", list(values))
                with open_cache(directory, version="other") as cache:
                    cache.put_many("summary", [("new", b"value")])
                code = 0 if found == values else 2
            finally:
                os._exit(code)
        status = os.waitpid(child, 0)[1]
        directory.chmod(0o700)
        assert os.waitstatus_to_exitcode(status) == 0
