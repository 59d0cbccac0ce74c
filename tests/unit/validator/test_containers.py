"""The command line of a container, where no engine runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from depslice.validator.sandbox import Job, Limits, SandboxUnavailable
from depslice.validator.sandbox.docker import (
    ContainerSandbox,
    container_launch,
    container_options,
    find_engines,
)
from depslice.validator.sandbox.supervised import INSIDE, supervisor_argv

JOB = Job(
    argv=("/usr/bin/python3", "x.py"),
    readable=(Path("/srv/repo"), Path('/srv/odd,"name')),
    environment={"SECRET": "1"},
    limits=Limits(memory_bytes=1 << 30, processes=20, disk_bytes=1000, files=30),
)


def options(job: Job) -> dict[str, list[str]]:
    """Values by option; those without a value have none."""
    found: dict[str, list[str]] = {}
    name = ""
    for each in container_options(job):
        if each.startswith("--"):
            name = each
            found.setdefault(name, [])
        else:
            found[name].append(each)
    return found


def test_what_contains() -> None:
    found = options(JOB)
    assert found["--network"] == ["none"]
    assert found["--cap-drop"] == ["ALL"]
    assert found["--security-opt"] == ["no-new-privileges"]
    assert found["--user"] == ["65534:65534"]
    assert found["--pids-limit"] == ["21"]
    assert found["--memory"] == found["--memory-swap"] == [str((1 << 30) + (64 << 20))]
    assert found["--tmpfs"] == ["/tmp:rw,nosuid,nodev,exec,mode=1777,size=1000,nr_inodes=30"]  # noqa: S108 - inside
    assert found["--pull"] == ["never"]
    for alone in ("--rm", "--read-only", "--interactive"):
        assert found[alone] == []


def test_network_only_when_asked_for() -> None:
    job = Job(argv=JOB.argv, network=True)
    assert options(job)["--network"] == ["bridge"]


def test_all_binds_are_read_only_and_quoted() -> None:
    mounts = options(JOB)["--mount"]
    assert "type=bind,source=/srv/repo,target=/srv/repo,readonly" in mounts
    odd = '"source=/srv/odd,""name","target=/srv/odd,""name"'
    assert f"type=bind,{odd},readonly" in mounts
    assert any(f"source={INSIDE}," in each for each in mounts)
    assert all(each.endswith(",readonly") for each in mounts)


def test_the_supervisor_is_process_1_and_gets_no_environment() -> None:
    launch = container_launch("/usr/bin/docker", "image", JOB)
    program, *arguments = supervisor_argv()
    assert launch.argv[:3] == ("/usr/bin/docker", "run", "--name")
    assert tuple(launch.argv)[-len(arguments) - 3 :] == (
        "--entrypoint", program, "image", *arguments,
    )  # fmt: skip
    assert "--init" not in launch.argv
    assert "--env" not in launch.argv
    assert "SECRET" not in launch.environment
    assert launch.isolated


def engine(folder: Path, text: str) -> None:
    path = folder / "docker"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_no_engine(path: Path) -> None:
    found = ContainerSandbox().availability()
    assert (found.ok, found.reason) == (False, "no Docker or Podman is installed")
    with pytest.raises(SandboxUnavailable, match="no container engine works here"):
        ContainerSandbox().start(JOB)


def test_an_engine_that_does_not_run(path: Path) -> None:
    engine(path, "echo 'Cannot connect to the daemon' >&2; exit 1")
    found = ContainerSandbox("some/image").availability()
    assert found.reason == "docker: Cannot connect to the daemon"
    assert found.remedy == "start the engine, then: docker pull some/image"


def test_an_engine_that_runs_nothing(path: Path) -> None:
    engine(path, 'test "$1" = image || { echo "no such runtime" >&2; exit 125; }')
    assert ContainerSandbox("other/image").availability().reason == "docker: no such runtime"


def test_live() -> None:
    sandbox = ContainerSandbox()
    found = sandbox.availability()
    if not found.ok:
        pytest.skip(f"no container engine works here: {found.reason}")
    assert find_engines()
    outcome = sandbox.run(Job(argv=("/bin/sh", "-c", "id -u; ls /home; cat /proc/1/environ")))
    assert outcome.stdout == b"65534\n"
