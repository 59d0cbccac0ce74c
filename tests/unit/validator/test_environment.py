"""Environments: what is declared, which Python, the door to the registry, building."""

from __future__ import annotations

import os
import socket
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from depslice.callgraph.project import find_project
from depslice.validator.environment import (
    Cause,
    Environment,
    EnvironmentFailed,
    Interpreter,
    choose_interpreter,
    find_interpreters,
    make_environment,
    needed_imports,
    read_declared,
)
from depslice.validator.environment.registry import index_places, registry_door
from depslice.validator.environment.undeclared import (
    imports_of,
    imports_of_tests,
    read_mapping,
)
from depslice.validator.sandbox import (
    Job,
    all_sandboxes,
    choose_sandbox,
    interpreter_folders,
)

WORKING = [each for each in all_sandboxes() if each.isolates and each.availability().ok]
needs_sandbox = pytest.mark.skipif(not WORKING, reason="no isolating sandbox works here")


# --- declared


def test_project_metadata(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[project]\nname = 'x'\nrequires-python = '>=3.9'\n"
        "[project.optional-dependencies]\ntest = ['pytest']\n"
        "[build-system]\nrequires = ['hatchling', 'hatch-vcs']\n"
    )
    (tmp_path / "requirements.txt").write_text("ruff\n")
    found = read_declared(tmp_path)
    assert (found.name, found.requires_python, found.installable) == ("x", ">=3.9", True)
    assert (found.extras, found.dynamic) == (("test",), True)
    assert found.requirements == ()  # metadata is enough
    assert found.sources == ("pyproject.toml", "requirements.txt")


@pytest.mark.parametrize(
    ("said", "specifier"),
    [
        ("^0.23.1", ">=0.23.1,<0.24"),
        ("^0.0.3", ">=0.0.3,<0.0.4"),
        ("^0", ">=0,<1"),
        ("~1.2", ">=1.2,<1.3"),
        ("~3", ">=3,<4"),
        ("~3.8.2", ">=3.8.2,<3.9"),
        ("~2.7 || ^3.6", ">=3.6,<4"),
        ("^3.8", ">=3.8,<4"),
        (">=3.8,<3.13", ">=3.8,<3.13"),
        ("3.11.*", "==3.11.*"),
        ("*", ""),
    ],
)
def test_poetry(tmp_path: Path, said: str, specifier: str) -> None:
    (tmp_path / "pyproject.toml").write_text(
        f"[tool.poetry]\nname = 'p'\n[tool.poetry.dependencies]\npython = '{said}'\n"
    )
    assert read_declared(tmp_path).requires_python == specifier


def test_groups_for_tests(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[dependency-groups]\nDev = ['pytz>2021', {include-group = 'Un_it'}, '--index-url=x', 3]\n"
        "un-it = ['mock', {include-group = 'dev'}, {include-group = 'no-such'}]\n"
        "lint = ['ruff']\ntest = 'no list'\n"
    )
    assert read_declared(tmp_path).for_tests == ("pytz>2021", "mock")


def test_requirements_of_tests_outside_metadata(tmp_path: Path) -> None:
    """Poetry's groups and requirement files; a file outside the project is not read."""
    repo = tmp_path / "repo"
    (repo / "requirements").mkdir(parents=True)
    (repo / "pyproject.toml").write_text(
        "[tool.poetry.group.test.dependencies]\npytest-mock = '^3.1'\nown = {path = '../own'}\n"
        "trio = {version = '*', extras = ['x']}\n[tool.poetry.group.docs.dependencies]\n"
        "sphinx = '*'\n[tool.poetry.dev-dependencies]\nmock = '1.*'\nodd = '^?'\n"
    )
    (repo / "dev-requirements.txt").write_text(
        "-r requirements/test.txt  # more\n-r ../outside.txt\n-e .[all]\n--no-index\npytz>2021 # why\n"
    )
    (repo / "requirements/test.txt").write_text("-r ../dev-requirements.txt\nfreezegun\n\n# x\n")
    (tmp_path / "outside.txt").write_text("outside\n")
    assert read_declared(repo).for_tests == (
        "pytest-mock>=3.1,<4", "trio[x]", "mock==1.*", "pytz>2021", "freezegun",
    )  # fmt: skip


def test_setup_files(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text(
        "[metadata]\nname = old\n[options.extras_require]\ndocs = sphinx\n"
    )
    (tmp_path / "setup.py").write_text("raise SystemExit\nsetup(python_requires='>=3.7')\n")
    found = read_declared(tmp_path)
    assert (found.name, found.requires_python, found.extras) == ("old", ">=3.7", ("docs",))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uv.lock", ("[[package]]\nname='a'\nversion='1'\nsource={registry='r'}\n"
         "[[package]]\nname='own'\nversion='0'\nsource={editable='.'}\n"
         "[[package]]\nname='two'\nversion='1'\n[[package]]\nname='two'\nversion='2'\n")),
        ("poetry.lock", "[[package]]\nname='a'\nversion='1'\n"),
        ("pylock.toml", "[[packages]]\nname='a'\nversion='1'\n"),
        ("Pipfile.lock", '{"default": {"a": {"version": "==1"}, "b": {"path": "."}}}'),
    ],
)  # fmt: skip
def test_lock_files(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    found = read_declared(tmp_path)
    assert found.constraints == ("a==1",)
    assert found.sources == (name,)


@pytest.mark.parametrize(
    ("name", "text"),
    [("pyproject.toml", "= 1"), ("Pipfile.lock", "[1]"), ("setup.cfg", "no section")],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(EnvironmentFailed, match=name) as caught:
        read_declared(tmp_path)
    assert caught.value.cause is Cause.METADATA


# --- Python

PYTHONS = [
    Interpreter(path=Path(f"/python{minor}.{micro}"), version=(3, minor, micro))
    for minor, micro in [(13, 0), (12, 1), (11, 7), (11, 2), (8, 18)]
]


@pytest.mark.parametrize(
    ("requires", "version"),
    [
        ("", (3, 11, 7)),
        (">=3.8", (3, 11, 7)),
        (">=3.12", (3, 12, 1)),
        (">3.12.4", (3, 13, 0)),
        ("<3.11", (3, 8, 18)),
        ("==3.11.2", (3, 11, 2)),
    ],
)
def test_which_python(requires: str, version: tuple[int, int, int]) -> None:
    assert choose_interpreter(requires, PYTHONS, preferred=(3, 11)).version == version


def test_no_python() -> None:
    with pytest.raises(
        EnvironmentFailed, match=r"needs Python >=4; this machine has 3\.13\.0, 3\.12"
    ):
        choose_interpreter(">=4", PYTHONS, preferred=(3, 11))
    with pytest.raises(EnvironmentFailed, match="not a version specifier: 'new'"):
        choose_interpreter("new", PYTHONS, preferred=(3, 11))


def test_interpreters_here() -> None:
    found = find_interpreters()
    assert sys.version_info[:3] in {each.version for each in found}
    assert len({each.path for each in found}) == len(found)
    assert all(each.path.is_file() and not each.path.is_symlink() for each in found)


# --- imports


def test_imports_that_have_to_be_there() -> None:
    source = b"""
import os, a.b, c as d
from e.f import g
from . import h
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import i
if sys.version_info >= (3, 14):
    import j
try:
    import k
except ImportError:
    k = None
try:
    import l
except ImportError:
    raise
try:
    import m
finally:
    import n
def function():
    import o
class Class:
    import p
with q: import r
"""
    assert sorted(imports_of(source)) == ["a", "c", "e", "l", "m", "n", "os", "p", "r", "typing"]
    assert list(imports_of(b"def (")) == []


def test_needed_imports_of_a_project(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("import yaml, os, pkg.other\n")
    (tmp_path / "pkg" / "other.py").write_text("import pkg, setuptools, requests.api\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_pkg.py").write_text("import pytest, base, pytz.tzinfo, yaml\n")
    (tmp_path / "tests" / "base.py").write_text("import six\n")
    assert imports_of_tests(find_project(tmp_path)) == ("pytest", "pytz", "yaml")
    assert needed_imports(find_project(tmp_path)) == ("requests", "yaml")


def test_mapping() -> None:
    assert read_mapping("yaml:PyYAML\n\nbad\na:first\na:second\n") == {
        "yaml": "PyYAML",
        "a": "first",
    }


# --- the door


def test_places_of_an_index(tmp_path: Path) -> None:
    hosts, folders = index_places(
        {
            "UV_INDEX": f"own=https://user:word@index.example:8443/simple file://{tmp_path}",
            "UV_FIND_LINKS": "/no/such/folder",
        }
    )
    assert ("index.example", 8443) in hosts
    assert ("pypi.org", 443) in hosts
    assert folders == [tmp_path]


@pytest.fixture
def echo() -> Iterator[int]:
    """A server that answers with what it hears; its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                with client:
                    client.sendall(client.recv(100))

        threading.Thread(target=serve, daemon=True).start()
        yield int(server.getsockname()[1])
        server.shutdown(socket.SHUT_RDWR)


def ask(door: Path, text: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(door))
        client.sendall(text)
        head = client.recv(1000)
        if b" 200 " in head:
            client.sendall(b"hello")
            return client.recv(100)
        return head


def test_the_door_opens_to_the_registry_alone(
    tmp_path: Path, echo: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a path of a Unix socket is short
    door = Path("door")
    with registry_door(door, frozenset({("127.0.0.1", echo)})) as refused:
        assert ask(door, f"CONNECT 127.0.0.1:{echo} HTTP/1.1\r\n\r\n".encode()) == b"hello"
        for text in (
            f"CONNECT localhost:{echo} HTTP/1.1\r\n\r\n",
            "CONNECT 127.0.0.1:22 HTTP/1.1\r\n\r\n",
            f"GET http://127.0.0.1:{echo}/ HTTP/1.1\r\n\r\n",
            "CONNECT evil\r\n.example:443 HTTP/1.1\r\n\r\n",
        ):
            assert ask(door, text.encode()).startswith(b"HTTP/1.1 403")
    assert refused[:2] == [f"localhost:{echo}", "127.0.0.1:22"]
    assert len(refused) == 4
    assert not door.exists()


@needs_sandbox
def test_inside_there_is_the_door_and_nothing_else(
    tmp_path: Path, echo: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o755)
    text = (
        "import socket, sys\n"
        "try: socket.create_connection(('127.0.0.1', int(sys.argv[2])), 2)\n"
        "except OSError as error: print('refused')\n"
        "client = socket.socket(socket.AF_UNIX); client.connect(sys.argv[1])\n"
        "client.sendall(b'CONNECT 127.0.0.1:%d HTTP/1.1\\r\\n\\r\\n' % int(sys.argv[2]))\n"
        "print(client.recv(100)); client.sendall(b'hello'); print(client.recv(100))\n"
    )
    python = find_interpreters()[0].path
    door = tmp_path / "d"
    with registry_door(Path("d"), frozenset({("127.0.0.1", echo)})):
        outcome = WORKING[0].run(
            Job(
                argv=(str(python), "-c", text, str(door), str(echo)),
                readable=(*interpreter_folders(python), door),
            )
        )
    assert outcome.stdout == b"refused\nb'HTTP/1.1 200 Connected\\r\\n\\r\\n'\nb'hello'\n", outcome


# --- building

# A backend that needs nothing: no registry is asked.
BACKEND = """\
import pathlib, zipfile
def build_editable(folder, settings=None, metadata=None):
    pathlib.Path("pkg/_made.py").write_text("made = True")
    {more}
    name = "pkg-1.2-py3-none-any.whl"
    with zipfile.ZipFile(folder + "/" + name, "w") as wheel:
        wheel.writestr("pkg.pth", str(pathlib.Path.cwd()))
        info = "pkg-1.2.dist-info/"
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: pkg\\nVersion: 1.2\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: own\\n"
                       "Root-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "RECORD", "pkg.pth,,\\n" + info + "METADATA,,\\n" + info + "WHEEL,,\\n"
                       + info + "RECORD,,\\n")
    return name
build_wheel = build_editable
"""
PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "pkg"
version = "1.2"
requires-python = ">=3.8"
"""


def project(root: Path, more: str = "pass") -> Path:
    repo = root / "repo"
    (repo / "pkg").mkdir(parents=True)
    (repo / "pkg" / "__init__.py").write_text("import os\n")
    (repo / "pyproject.toml").write_text(PYPROJECT)
    (repo / "backend.py").write_text(BACKEND.replace("{more}", more))
    return repo


def make(repo: Path, cache: Path, *, tests: bool = False) -> Environment:
    return make_environment(find_project(repo), WORKING[0], cache=cache, network=False, tests=tests)


@needs_sandbox
def test_an_environment_is_made_once(tmp_path: Path) -> None:
    repo = project(tmp_path)
    before = sorted(repo.rglob("*"))
    made = make(repo, tmp_path / "cache")
    assert made.fresh
    assert made.installed == ("pkg==1.2",)
    assert [path.name for path in made.generated.rglob("*.py")] == ["_made.py"]
    assert "Built pkg" in made.log.read_text() or "pkg" in made.log.read_text()
    assert sorted(repo.rglob("*")) == before
    # The sources are not in it: neither copied nor linked.
    assert not list(made.folder.rglob("*.pth")) or all(
        path.name.startswith("_virtualenv") for path in made.folder.rglob("*.pth")
    )
    assert not (made.folder / "source").exists()
    again = make(repo, tmp_path / "cache")
    assert not again.fresh
    assert again.folder == made.folder
    text = "import importlib.metadata as m; print(m.version('pkg'))\nimport pkg"
    outcome = WORKING[0].run(
        Job(argv=(str(made.python), "-c", text), readable=interpreter_folders(made.python))
    )
    assert outcome.stdout == b"1.2\n"
    assert b"No module named 'pkg'" in outcome.stderr
    if os.getuid() == 0:
        assert {path.lstat().st_uid for path in made.folder.rglob("*")} == {0}


@needs_sandbox
def test_another_state_is_another_environment(tmp_path: Path) -> None:
    repo = project(tmp_path)
    first = make(repo, tmp_path / "cache")
    (repo / "pkg" / "more.py").write_text("x = 1\n")
    assert make(repo, tmp_path / "cache").folder == first.folder  # nothing that a build reads
    (repo / "pyproject.toml").write_text(PYPROJECT.replace(">=3.8", ">=3.9"))
    assert make(repo, tmp_path / "cache").folder != first.folder


def wheel(folder: Path, name: str, version: str) -> None:
    """A distribution that can be installed without a registry, with a module of its name."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}.py", "")
        file.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        file.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: own\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        names = [f"{name}.py", *(f"{info}/{each}" for each in ("METADATA", "WHEEL", "RECORD"))]
        file.writestr(f"{info}/RECORD", "".join(f"{each},,\n" for each in names))


@needs_sandbox
def test_an_environment_to_run_tests_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pytest no test can be run; it was there only if something declared or imported it."""
    for name, version in (
        ("pytest", "9.0"), ("mock", "5.0"), ("pytz", "2024.1"), ("trio", "0.1"),
    ):  # fmt: skip
        wheel(tmp_path / "wheels", name, version)
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "wheels"))
    repo = project(tmp_path)
    (repo / "pyproject.toml").write_text(
        PYPROJECT + "[project.optional-dependencies]\ntests = ['trio']\ndev = ['no-such-at-all']\n"
        "[dependency-groups]\ndev = ['mock', 'nobody-has-this']\n"
    )
    (repo / "tests").mkdir()
    (repo / "tests" / "test_pkg.py").write_text("import unittest, pytz\n")
    made = make(repo, tmp_path / "cache", tests=True)
    assert made.installed == (
        "mock==5.0", "pkg==1.2", "pytest==9.0", "pytz==2024.1", "trio==0.1",
    )  # fmt: skip
    assert made.guessed == (("pytz", "pytz"),)
    assert make(repo, tmp_path / "cache").installed == ("pkg==1.2",)


@needs_sandbox
def test_two_at_once_make_it_once(tmp_path: Path) -> None:
    repo = project(tmp_path, "import time; time.sleep(1)")
    found: list[Environment] = []
    threads = [
        threading.Thread(target=lambda: found.append(make(repo, tmp_path / "cache")))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each.fresh for each in found) == [False, False, True]


@needs_sandbox
def test_a_build_that_was_killed_is_made_anew(tmp_path: Path) -> None:
    repo = project(tmp_path)
    made = make(repo, tmp_path / "cache")
    (made.folder / "environment.json").unlink()
    (made.folder / "left").touch()
    again = make(repo, tmp_path / "cache")
    assert again.fresh
    assert not (again.folder / "left").exists()


@needs_sandbox
@pytest.mark.parametrize(
    ("more", "cause", "message"),
    [
        ("raise SystemExit('no compiler')", Cause.BUILD, "installing the project"),
        ("open('/usr/mark', 'w')", Cause.BUILD, "installing the project"),
    ],
)
def test_builds_that_fail(tmp_path: Path, more: str, cause: Cause, message: str) -> None:
    with pytest.raises(EnvironmentFailed, match=message) as caught:
        make(project(tmp_path, more), tmp_path / "cache")
    assert caught.value.cause is cause
    assert caught.value.log is not None
    log = caught.value.log.read_text()
    assert "no compiler" in log or "Read-only file system" in log
    left = [path.suffix for path in (tmp_path / "cache" / "environments").iterdir()]
    assert left == [".log"]


@needs_sandbox
def test_what_is_not_there_without_a_network(tmp_path: Path) -> None:
    repo = project(tmp_path)
    (repo / "pyproject.toml").write_text(PYPROJECT + "dependencies = ['requests']\n")
    with pytest.raises(EnvironmentFailed) as caught:
        make(repo, tmp_path / "cache")
    assert caught.value.cause in {Cause.NETWORK, Cause.RESOLUTION}


@needs_sandbox
@pytest.mark.slow
def test_with_the_registry(tmp_path: Path) -> None:
    repo = project(tmp_path)
    (repo / "pkg" / "__init__.py").write_text("import yaml, surely_nobody_has_this_name_9\n")
    try:
        socket.create_connection(("pypi.org", 443), 10).close()
    except OSError:
        pytest.skip("no registry can be reached")
    made = make_environment(find_project(repo), WORKING[0], cache=tmp_path / "cache")
    assert made.guessed == (("yaml", "PyYAML"),)
    assert made.unknown == ("surely_nobody_has_this_name_9",)
    assert any(each.startswith("PyYAML==") for each in made.installed)


def test_where_no_environment_can_be_kept(tmp_path: Path) -> None:
    """It ended with an internal error."""
    (tmp_path / "a.py").touch()
    (tmp_path / "taken").touch()
    project = find_project(tmp_path)
    with pytest.raises(EnvironmentFailed, match=r"cannot be kept in .*: not a directory") as caught:
        make_environment(project, choose_sandbox("unsafe"), cache=tmp_path / "taken")
    assert caught.value.cause is Cause.FOLDER
