"""Many files at once: the same answers however they are come by. Real processes."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from depslice.callgraph import loading
from depslice.callgraph import program as program_module
from depslice.callgraph.cache import open_cache
from depslice.callgraph.loading import load_many
from depslice.callgraph.program import Problem, Program, summarize_bytes
from depslice.callgraph.project import Project, SourceFile, find_project
from depslice.callgraph.source import content_digest
from depslice.callgraph.summary import FileSummary, load_summary

KIND = "test"
PARENT = os.getpid()


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """120 files: different, equal, empty, broken, and one much larger than the rest."""
    folder = tmp_path_factory.mktemp("many")
    for number in range(100):
        text = f"class C{number}:\n    def m(self):\n        return {number}\n" * (1 + number % 7)
        (folder / f"m{number:03}.py").write_text(text)
    for number in range(15):
        (folder / f"same{number}.py").write_text("def same(): pass\n")
    (folder / "empty.py").write_text("")
    (folder / "broken.py").write_text("def f(:\n")
    (folder / "latin.py").write_bytes(b"x = '\xe9'\n")
    (folder / "large.py").write_text("def f(x): return x + 1\n" * 700)
    (folder / "last.py").write_text("z = 1\n")
    return find_project(folder)


@pytest.fixture
def few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_PARALLEL_FILES", 1)


def plain(blob: bytes | None) -> object:
    """The value of a blob; equal summaries need not have equal bytes (marshal)."""
    if blob is None or blob[:1] != b"S":
        return blob
    return shape(load_summary(blob[1:]))


def shape(summary: FileSummary) -> object:
    return (
        [[getattr(p, n) for n in p.__slots__] for p in summary.pieces],
        [[getattr(u, n) for n in u.__slots__] for u in summary.units],
        [[getattr(c, n) for n in c.__slots__] for c in summary.classes],
        summary.scope,
        summary.lines,
    )


def loaded(project: Project, workers: int | None = None, **options: object) -> list[object]:
    cache = options.pop("cache", None)
    return [
        (file.path, digest, plain(blob))
        for file, digest, blob in load_many(
            project, project.files, cache, KIND, workers=workers, **options
        )
    ]


def expected(project: Project) -> list[object]:
    answers: list[object] = []
    for file in project.files:
        data = (project.root / file.path).read_bytes()
        outcome = summarize_bytes(data)
        value = outcome.dump() if isinstance(outcome, Problem) else shape(outcome)
        answers.append((file.path, content_digest(data), value))
    return answers


@pytest.fixture(scope="module")
def answers(many: Project) -> list[object]:
    return expected(many)


@pytest.mark.parametrize("workers", [1, 2, 5, None])
def test_any_number_of_workers_gives_the_same(
    many: Project, answers: list[object], workers: int | None
) -> None:
    assert loaded(many, workers) == answers


def test_spawned_workers_give_the_same(
    many: Project, answers: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_start_method", lambda: "spawn")
    assert loaded(many, 2) == answers


def test_beside_threads_nothing_is_forked() -> None:
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()
    try:
        assert loading._start_method() == "spawn"
    finally:
        release.set()
        thread.join()
    if sys.platform == "linux":
        assert loading._start_method() == "fork"


@pytest.mark.parametrize("workers", [1, 2])
def test_the_cache_is_filled_and_then_asked(
    many: Project,
    answers: list[object],
    tmp_path: Path,
    workers: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with open_cache(tmp_path, version="t") as cache:
        assert loaded(many, workers, cache=cache) == answers
    monkeypatch.setattr(loading, "summarize_bytes", None)  # would fail if it were called
    monkeypatch.setattr(loading, "_Pool", None)
    with open_cache(tmp_path, version="t") as cache:
        assert loaded(many, workers, cache=cache) == answers


def test_only_what_the_cache_lacks_is_done(
    many: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[bytes] = []

    def counted(data: bytes) -> FileSummary | Problem:
        done.append(data)
        return summarize_bytes(data)

    monkeypatch.setattr(loading, "summarize_bytes", counted)
    with open_cache(tmp_path, version="t") as cache:
        list(load_many(many, many.files[:50], cache, KIND, workers=1))
        assert len(done) == len(set(done))  # equal files are done once
        first = len(done)
        list(load_many(many, many.files, cache, KIND, workers=1))
        assert len(done) == len(set(done)) > first


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_counts_up_to_all(many: Project, workers: int) -> None:
    steps: list[tuple[int, int]] = []
    loaded(many, workers, progress=lambda done, total: steps.append((done, total)))
    assert steps == sorted(steps)
    assert steps[-1] == (len(many.files), len(many.files))
    assert len(steps) > 20


def test_files_come_as_soon_as_they_can(many: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[bytes] = []

    def counted(data: bytes) -> FileSummary | Problem:
        done.append(data)
        return summarize_bytes(data)

    monkeypatch.setattr(loading, "summarize_bytes", counted)
    iterator = load_many(many, many.files, None, KIND, workers=1)
    next(iterator)
    assert len(done) == 1


def test_no_files() -> None:
    nothing = Project(root=Path("/nowhere"), files=(), left_out=(), diagnostics=())
    assert loaded(nothing, 2) == []


@pytest.mark.usefixtures("few_are_enough")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_that_has_gone_is_left_to_the_caller(tmp_path: Path, workers: int) -> None:
    for name in "abcd":
        (tmp_path / f"{name}.py").write_text(f"{name} = 1\n")
    project = find_project(tmp_path)
    (tmp_path / "b.py").unlink()
    found = list(load_many(project, project.files, None, KIND, workers=workers))
    assert [(file.path, blob is None) for file, _, blob in found] == [
        ("a.py", False),
        ("b.py", True),
        ("c.py", False),
        ("d.py", False),
    ]
    program = Program(project)
    assert [module.name for module in program.load_all(workers=workers)] == ["a", "c", "d"]
    assert [each.slug for each in program.diagnostics] == ["unreadable"]


@pytest.mark.usefixtures("few_are_enough")
def test_a_file_that_changes_meanwhile_is_left_to_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        (tmp_path / f"{name}.py").write_text("same = 1\n")
    project = find_project(tmp_path)
    real = loading._summarized

    def change_first(project: Project, file: SourceFile, index: int) -> object:
        (tmp_path / file.path).write_text("changed = 2\n")
        return real(project, file, index)

    monkeypatch.setattr(loading, "_summarized", change_first)
    with open_cache(tmp_path / "cache", version="t") as cache:
        found = list(load_many(project, project.files, cache, KIND, workers=2))
        assert [blob for _, _, blob in found] == [None, None, None]
        changed = cache.get(KIND, content_digest(b"changed = 2\n"))
        assert changed is not None
        assert "changed" in load_summary(changed[1:]).scope
        assert cache.get(KIND, content_digest(b"same = 1\n")) is None


# --- things that go wrong


def deadly(data: bytes) -> FileSummary | Problem:
    """Ends the worker at files that say KILL, the first time at those that say ONCE."""
    if b"KILL" in data and os.getpid() != PARENT:
        os.kill(os.getpid(), signal.SIGKILL)
    if b"ONCE" in data and os.getpid() != PARENT:
        marker = data.decode().split("'")[1]
        if not os.path.exists(marker):
            Path(marker).touch()
            os._exit(7)
    if b"RAISE" in data:
        raise RecursionError("too deep")
    return summarize_bytes(data)


def crashes(found: Sequence[tuple[SourceFile, str, bytes | None]]) -> dict[str, str]:
    return {
        file.path: Problem.load(blob).message
        for file, _, blob in found
        if blob is not None and blob.startswith(b"Eanalyser-crashed")
    }


@pytest.mark.skipif(sys.platform != "linux", reason="the workers must inherit the fault")
def test_a_file_that_kills_its_process_costs_that_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(60):
        (tmp_path / f"m{number:02}.py").write_text(f"x = {number}\n")
    (tmp_path / "m07.py").write_text("x = 'KILL'\n")
    (tmp_path / "m33.py").write_text("x = 'KILL too'\n")
    (tmp_path / "m20.py").write_text(f"x = '{tmp_path / 'mark'}'  # ONCE\n")
    project = find_project(tmp_path)
    monkeypatch.setattr(loading, "summarize_bytes", deadly)
    with open_cache(tmp_path / "cache", version="t") as cache:
        found = list(load_many(project, project.files, cache, KIND, workers=2))
        assert [file for file, _, _ in found] == list(project.files)
        assert crashes(found) == {
            "m07.py": "the analyser failed on this file (its process ended with -9)",
            "m33.py": "the analyser failed on this file (its process ended with -9)",
        }
        assert all(blob is not None for _, _, blob in found)
        # It may have been the machine's fault.
        assert cache.get(KIND, content_digest(b"x = 'KILL'\n")) is None
        assert cache.get(KIND, content_digest(b"x = 59\n")) is not None


@pytest.mark.parametrize("workers", [1, 2])
def test_an_exception_costs_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    for number in range(50):
        (tmp_path / f"m{number:02}.py").write_text(f"x = {number}\n")
    (tmp_path / "m07.py").write_text("x = 'RAISE'\n")
    project = find_project(tmp_path)
    monkeypatch.setattr(loading, "summarize_bytes", deadly)
    monkeypatch.setattr(loading, "_start_method", lambda: "fork")
    found = list(load_many(project, project.files, None, KIND, workers=workers))
    assert crashes(found) == {
        "m07.py": "the analyser failed on this file (RecursionError: too deep)"
    }


def test_where_no_process_can_start_the_work_is_done_here(
    many: Project, answers: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading._Pool, "_start", lambda _: False)
    assert loaded(many, 2) == answers


@pytest.mark.skipif(sys.platform != "linux", reason="the workers must inherit the fault")
def test_workers_that_die_at_their_start_are_not_started_again(
    many: Project, answers: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    real = loading._Pool._start

    def start(self: loading._Pool) -> bool:
        started.append(1)
        return real(self)

    monkeypatch.setattr(loading._Pool, "_start", start)
    monkeypatch.setattr(loading, "_work", lambda *_: os._exit(1))
    assert loaded(many, 2) == answers
    assert len(started) <= 4


def workers_of(iterator: Iterator[object]) -> list[int]:
    import multiprocessing

    assert iterator
    return [process.pid for process in multiprocessing.active_children() if process.pid]


def test_closing_ends_the_processes(many: Project) -> None:
    iterator = load_many(many, many.files, None, KIND, workers=2)
    next(iterator)
    assert workers_of(iterator)
    iterator.close()  # type: ignore[attr-defined]
    assert not workers_of(iterator)


def test_what_was_done_before_closing_is_kept(many: Project, tmp_path: Path) -> None:
    with open_cache(tmp_path, version="t") as cache:
        iterator = load_many(many, many.files, cache, KIND, workers=1)
        _, digest, _ = next(iterator)
        iterator.close()  # type: ignore[attr-defined]
        assert cache.get(KIND, digest) is not None


def test_a_script_without_a_main_guard(many: Project, tmp_path: Path) -> None:
    """Beside a thread workers are spawned; they must not run the script again."""
    script = tmp_path / "script.py"
    script.write_text(
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(3,), daemon=True).start()\n"
        "from depslice.callgraph.project import find_project\n"
        "from depslice.callgraph.program import Program\n"
        f"modules = Program(find_project({str(many.root)!r})).load_all(workers=2)\n"
        "print('ran', len(modules))\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, script],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == (f"ran {len(many.files) - 2}\n", "")


def test_spawned_workers_run_nothing_from_the_working_directory(
    many: Project, answers: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pickle", "multiprocessing", "signal", "ast"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'RAN')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(loading, "_start_method", lambda: "spawn")
    assert loaded(many, 2) == answers
    assert not (tmp_path / "RAN").exists()
    assert "PYTHONSAFEPATH" not in os.environ
    assert sys.modules["__main__"].__dict__.get("__name__") == "__main__"


def test_results_and_files_can_be_sent_to_processes(many: Project) -> None:
    assert pickle.loads(pickle.dumps(many.files)) == many.files


# --- several modules, as a slice asks for them


@pytest.mark.usefixtures("few_are_enough")
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_several_modules_are_read_side_by_side(
    many: Project, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["m003", "m001", "broken", "nowhere", "large", "m001"]
    alone = Program(many)
    expected = [alone.module(name) for name in names]
    started: list[int] = []
    start = loading._Pool._start
    monkeypatch.setattr(loading._Pool, "_start", lambda pool: started.append(1) or start(pool))
    monkeypatch.setattr(program_module, "_SHARED_BYTES", 0)
    together = Program(many)
    together.workers = workers
    together.load_several(names)
    monkeypatch.setattr(program_module, "summarize_bytes", None)  # nothing is left to do
    if workers > 1:
        assert started
        found = [together.module(name) for name in names]
        assert [each and shape(each.summary) for each in found] == [
            each and shape(each.summary) for each in expected
        ]
        assert together.diagnostics == alone.diagnostics
        assert together.digests == alone.digests
    else:
        assert not started
        assert not together.digests


def test_a_few_modules_are_read_when_they_are_asked_for(many: Project) -> None:
    together = Program(many)
    together.load_several(["m001", "m002", "large"])
    assert not together.digests
