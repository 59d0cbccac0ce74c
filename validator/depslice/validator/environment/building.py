"""Environments: one for each state of what a repository declares, made once and kept.

An environment lives in the cache folder under the digest of everything that it is made of:
the declarations, the files that a build reads, the imports nobody declared, the
interpreter. Who makes one holds the lock of its name, so that two processes make it once; it
counts from the moment its record is written, so that one that was killed on the way is
made anew.

Building runs build scripts of third parties. All of it happens in the sandbox, on a copy
of the sources, with the registry as its only network.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any, Final

from depslice.callgraph.cache import cache_directory
from depslice.callgraph.project import Project
from depslice.validator.environment.declared import read_declared
from depslice.validator.environment.model import (
    Cause,
    Declared,
    Environment,
    EnvironmentFailed,
    Interpreter,
)
from depslice.validator.environment.pythons import choose_interpreter, find_interpreters
from depslice.validator.environment.registry import index_places, index_settings, registry_door
from depslice.validator.environment.undeclared import needed_imports, read_mapping
from depslice.validator.sandbox import (
    INSIDE,
    Ending,
    Job,
    Limits,
    Outcome,
    Running,
    Sandbox,
    interpreter_folders,
)
from depslice.validator.sandbox.supervised import supervisor_python
from depslice.validator.scratch import scratch_folder

_FORMAT: Final = 1
_RECORD: Final = "environment.json"
_MAPPING: Final = "pipreqs==0.5.0"  # its file of imports and distributions, not its code
_MAPPING_FILE: Final = "mapping/pipreqs/mapping"
_LIMITS: Final = Limits(
    wall_seconds=1800,
    cpu_seconds=3600,
    memory_bytes=8 << 30,
    processes=512,
    open_files=4096,
    file_bytes=8 << 30,
    disk_bytes=20 << 30,
    files=500_000,
    output_bytes=32 << 20,
)
_PROGRAM: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); from depslice_inside import building;"
    " building.main(sys.argv[2])"
)
_NOT_COPIED: Final = (
    "__pycache__", ".git", ".hg", ".svn", ".tox", ".nox", ".venv", "venv", "node_modules",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", "*.egg-info",
)  # fmt: skip
_BUILD_INPUTS: Final = frozenset({
    "pyproject.toml", "setup.py", "setup.cfg", "MANIFEST.in", "requirements.txt", "uv.lock",
    "poetry.lock", "pylock.toml", "Pipfile.lock", "PKG-INFO", ".python-version", "meson.build",
    "CMakeLists.txt", "Cargo.toml", "Cargo.lock", "version.py", "_version.py", "__about__.py",
    "__version__.py", "VERSION",
})  # fmt: skip
_NATIVE: Final = frozenset(
    {".c", ".cc", ".cpp", ".h", ".hpp", ".pyx", ".pxd", ".rs", ".f90", ".toml"}
)
_DECORATION: Final = " \t│├╰─▶\N{MULTIPLICATION SIGN}"  # of uv's messages
_VERSION: Final = "1.0.0"  # of what asks version control, which is not there


def make_environment(
    project: Project,
    sandbox: Sandbox,
    *,
    python: Path | None = None,
    extras: Sequence[str] = (),
    network: bool = True,
    cache: Path | None = None,
) -> Environment:
    """The environment of ``project``: found, or made now in ``sandbox``.

    ``python`` is the interpreter; without it, one that the project wants. Without
    ``network`` nothing is fetched. ``cache`` is the folder that environments are kept in.

    :raises EnvironmentFailed: it cannot be made, with the cause and the log.
    """
    root = (cache or cache_directory()).absolute() / "environments"
    plan = _plan(project, python, tuple(extras))
    root.mkdir(parents=True, exist_ok=True)
    with _locked(root / f"{plan.key}.lock"):
        found = _read_record(root / plan.key)
        if found is not None:
            return found
        shutil.rmtree(root / plan.key, ignore_errors=True)
        return _Build(plan, sandbox, root, network=network).run()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What is to be made, and the digest of it."""

    project: Project
    declared: Declared
    interpreter: Interpreter
    extras: tuple[str, ...]
    imports: tuple[str, ...]
    key: str


def _plan(project: Project, python: Path | None, extras: tuple[str, ...]) -> _Plan:
    root = Path(project.root)
    declared = read_declared(root)
    unknown = sorted(set(extras) - set(declared.extras))
    if unknown:
        raise EnvironmentFailed(Cause.METADATA, f"the project has no extra {unknown[0]!r}")
    interpreters = find_interpreters()
    if python is not None:
        wanted = python.resolve()
        interpreters = tuple(each for each in interpreters if each.path == wanted)
        if not interpreters:
            raise EnvironmentFailed(Cause.PYTHON, f"{python} is no Python that can be used")
    interpreter = choose_interpreter(
        "" if python is not None else declared.requires_python,
        interpreters,
        preferred=sys.version_info[:2],
    )
    imports = needed_imports(project)
    digest = hashlib.sha256()
    said: Sequence[Any] = (
        _FORMAT, asdict(declared), str(interpreter.path), interpreter.version, extras, imports,
        platform.machine(), platform.libc_ver(), index_settings(os.environ),
    )  # fmt: skip
    digest.update(json.dumps(said, sort_keys=True).encode())
    for path in _build_inputs(root):
        digest.update(b"\0" + str(path.relative_to(root)).encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return _Plan(
        project=project,
        declared=declared,
        interpreter=interpreter,
        extras=extras,
        imports=imports,
        key=digest.hexdigest()[:32],
    )


def _build_inputs(root: Path) -> Iterator[Path]:
    """Files that can make a build come out differently, in order."""
    ignored = {name for name in _NOT_COPIED if "*" not in name}
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in ignored)
        for name in sorted(files):
            path = Path(folder, name)
            wanted = name in _BUILD_INPUTS or path.suffix in _NATIVE
            if (wanted or "requirements" in path.parts) and path.is_file():
                yield path


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@dataclass(slots=True)
class _Build:
    """One build; what is installed grows from step to step."""

    plan: _Plan
    sandbox: Sandbox
    root: Path
    network: bool
    guessed: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return self.root / self.plan.key

    @property
    def log(self) -> Path:
        return self.root / f"{self.plan.key}.log"

    @property
    def python(self) -> Path:
        return self.folder / "venv" / "bin" / "python"

    def run(self) -> Environment:
        """Make it.

        :raises EnvironmentFailed: it cannot be made.
        """
        uv = find_uv()
        self.folder.mkdir()
        try:
            self._copy_sources()
            (self.folder / "tmp").mkdir()
            with scratch_folder() as door:
                self._install(uv, door)
            self._keep_what_was_generated()
            return self._write_record()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def _copy_sources(self) -> None:
        source = self.folder / "source"
        try:
            shutil.copytree(
                self.plan.project.root,
                source,
                symlinks=True,
                ignore=shutil.ignore_patterns(*_NOT_COPIED),
            )
        except (OSError, shutil.Error) as error:
            raise EnvironmentFailed(Cause.METADATA, f"cannot copy the sources: {error}") from None
        constraints = "\n".join(self.plan.declared.constraints)
        (self.folder / "constraints.txt").write_text(constraints, encoding="utf-8")

    def _install(self, uv: Path, place: Path) -> None:
        settings = index_settings(os.environ)
        hosts, folders = index_places(settings)
        place.chmod(0o755)
        door = place / "door"
        with contextlib.ExitStack() as stack:
            refused = stack.enter_context(
                registry_door(door, hosts if self.network else frozenset())
            )
            job = self._job(uv, door, settings, folders)
            running = stack.enter_context(self.sandbox.start(job))
            failure = self._steps(running, uv)
            running.finish()
            outcome = running.wait()
        self._write_log(outcome, refused)
        if failure is not None or outcome.ending is not Ending.EXITED:
            raise self._failure(outcome, failure or "", refused)

    def _job(
        self, uv: Path, door: Path, settings: Mapping[str, str], folders: Sequence[Path]
    ) -> Job:
        supervisor = supervisor_python()
        temporary = str(self.folder / "tmp")
        return Job(
            argv=(str(supervisor), "-I", "-S", "-c", _PROGRAM, str(INSIDE.parent), str(door)),
            readable=(
                uv,
                door,
                *folders,
                *interpreter_folders(supervisor),
                *interpreter_folders(self.plan.interpreter.path),
            ),
            writable=self.folder,
            environment={
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                "LANG": "C.UTF-8",
                "TMPDIR": temporary,
                "UV_CACHE_DIR": f"{temporary}/uv",
                "UV_NO_CONFIG": "1",
                "UV_NO_PROGRESS": "1",
                "UV_PYTHON_DOWNLOADS": "never",
                "UV_NATIVE_TLS": "1",
                **({} if self.network else {"UV_OFFLINE": "1"}),
                **settings,
                **self._versions(),
            },
            limits=_LIMITS,
            channel=True,
        )

    def _versions(self) -> dict[str, str]:
        """There is no version control in the sandbox: tools that ask it are told a version."""
        names = ("SETUPTOOLS_SCM_PRETEND_VERSION", "PBR_VERSION", "PDM_BUILD_SCM_VERSION",
                 "POETRY_DYNAMIC_VERSIONING_BYPASS", "UV_DYNAMIC_VERSIONING_BYPASS",
                 "HATCH_VCS_PRETEND_VERSION")  # fmt: skip
        return dict.fromkeys(names, _VERSION) if self.plan.declared.dynamic else {}

    def _steps(self, running: Running, uv: Path) -> str | None:
        """Do all steps; what was being done when one failed, or ``None``."""
        venv = str(self.folder / "venv")
        python = str(self.plan.interpreter.path)
        if not _step(running, uv, "venv", "--python", python, venv):
            return "making the environment"
        declared = self.plan.declared
        source = str(self.folder / "source")
        extras = f"[{','.join(self.plan.extras)}]" if self.plan.extras else ""
        if declared.installable and not self._pip(running, uv, "--editable", f"{source}{extras}"):
            return "installing the project"
        for name in declared.requirements:
            if not self._pip(running, uv, "--requirement", f"{source}/{name}"):
                return f"installing {name}"
        self._install_undeclared(running, uv)
        return None

    def _pip(self, running: Running, uv: Path, *arguments: str) -> bool:
        constraints = str(self.folder / "constraints.txt")
        return _step(
            running, uv, "pip", "install", "--python", str(self.python), "--compile-bytecode",
            "--constraint", constraints, *arguments,
        )  # fmt: skip

    def _install_undeclared(self, running: Running, uv: Path) -> None:
        """Imports that nothing installed so far gives: the distributions that have them."""
        missing = sorted(set(self.plan.imports) - top_levels(self.folder / "venv"))
        if not missing:
            return
        mapping = self._mapping(uv)
        for name in missing:
            distribution = mapping.get(name, name)
            if self._pip(running, uv, distribution) and name in top_levels(self.folder / "venv"):
                self.guessed[name] = distribution
            else:
                self.unknown.append(name)

    def _mapping(self, uv: Path) -> Mapping[str, str]:
        """The mapping of pipreqs, fetched once: of its wheel one file of text is kept."""
        kept = self.root / f"{_MAPPING}.txt"
        if not kept.is_file() and self.network:
            with scratch_folder() as door:
                text = self._fetch_mapping(uv, door)
            if text is None:
                return {}
            making = kept.with_suffix(f".{os.getpid()}")
            making.write_bytes(text)
            making.replace(kept)
        if not kept.is_file():
            return {}
        return read_mapping(kept.read_text(encoding="utf-8", errors="replace"))

    def _fetch_mapping(self, uv: Path, place: Path) -> bytes | None:
        settings = index_settings(os.environ)
        hosts, folders = index_places(settings)
        place.chmod(0o755)
        job = self._job(uv, place / "door", settings, folders)
        arguments = ("pip", "install", "--no-deps", "--no-build", "--target", "mapping", _MAPPING)
        program = [str(uv), *arguments, "--python", str(self.plan.interpreter.path)]
        fetching = Job(
            argv=job.argv,
            readable=job.readable,
            environment={
                name: value
                for name, value in job.environment.items()
                if name not in {"TMPDIR", "UV_CACHE_DIR"}
            },
            limits=Limits(wall_seconds=120, processes=128, open_files=1024),
            collect=(_MAPPING_FILE,),
            channel=True,
            messages=({"argv": program, "environment": {}},),
        )
        with registry_door(place / "door", hosts), self.sandbox.start(fetching) as running:
            running.receive()
            running.finish()
            return running.wait().files.get(_MAPPING_FILE)

    def _write_log(self, outcome: Outcome, refused: Sequence[str]) -> None:
        said = outcome.stdout + outcome.stderr
        notes = [f"refused: {each}\n" for each in dict.fromkeys(refused)]
        notes.append(f"ended: {outcome.ending} {outcome.detail}\n")
        self.log.write_bytes(said + "".join(notes).encode())

    def _failure(self, outcome: Outcome, doing: str, refused: Sequence[str]) -> EnvironmentFailed:
        text = outcome.stdout.decode("utf-8", "replace")
        cause = _cause(outcome, text)
        lines = [line.strip(_DECORATION) for line in text.splitlines()]
        telling = [line for line in lines if line and not line.startswith(("hint", "warning"))]
        if cause in {Cause.LIMIT, Cause.SANDBOX}:
            why = f"ended by {outcome.ending} {outcome.detail}".strip()
        else:
            errors = [
                line for line in telling if "error" in line.lower() or "failed" in line.lower()
            ]
            why = (errors or telling or ["no output"])[0 if errors else -1]
        if refused and cause is Cause.NETWORK:
            why = f"{why} (refused: {refused[0]})"
        return EnvironmentFailed(cause, f"{doing or 'building'}: {why[:300]}", log=self.log)

    def _keep_what_was_generated(self) -> None:
        """Take the sources out of the environment, but for files that the build has added."""
        forget_editable(site_packages(self.folder / "venv"))
        source, generated = self.folder / "source", self.folder / "generated"
        generated.mkdir()
        original = Path(self.plan.project.root)
        for path in sorted(source.rglob("*")):
            name = path.relative_to(source)
            if path.is_symlink() or not path.is_file() or (original / name).exists():
                continue
            if _is_by_product(name):
                continue
            (generated / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, generated / name)
        for done_with in ("source", "tmp"):
            shutil.rmtree(self.folder / done_with, ignore_errors=True)

    def _write_record(self) -> Environment:
        packages = site_packages(self.folder / "venv")
        installed = sorted(
            f"{each.metadata['Name']}=={each.version}"
            for each in distributions(path=[str(packages)])
        )
        record = {
            "installed": installed,
            "guessed": sorted(self.guessed.items()),
            "unknown": sorted(self.unknown),
            "interpreter": str(self.plan.interpreter.path),
        }
        making = self.folder / f"{_RECORD}.new"
        making.write_text(json.dumps(record, indent=2), encoding="utf-8")
        making.replace(self.folder / _RECORD)
        found = _read_record(self.folder, fresh=True)
        assert found is not None
        return found


def _cause(outcome: Outcome, text: str) -> Cause:
    if outcome.ending in {Ending.LOST, Ending.NOT_STARTED}:
        return Cause.SANDBOX
    if outcome.ending not in {Ending.EXITED, Ending.KILLED}:
        return Cause.LIMIT
    words = {
        Cause.LIMIT: ("No space left on device", "Disk quota"),
        Cause.NETWORK: ("Failed to fetch", "error sending request", "dns error", "network was disabled",
                        "Network connectivity is disabled", "tunnel error", "timed out"),
        Cause.RESOLUTION: ("No solution found", "not found in the package registry",
                           "no versions of", "unsatisfiable"),
        Cause.PYTHON: ("No interpreter found", "does not satisfy Python"),
    }  # fmt: skip
    for cause, each in words.items():
        if any(word in text for word in each):
            return cause
    return Cause.BUILD


def _step(running: Running, uv: Path, *arguments: str) -> bool:
    """Have ``uv`` do something; whether it did."""
    running.send({"argv": [str(uv), *arguments], "environment": {}})
    answer = running.receive()
    return answer is not None and answer.get("code") == 0


def find_uv() -> Path:
    """The program of the ``uv`` package, else the one on the path.

    :raises EnvironmentFailed: there is none.
    """
    try:
        from uv import find_uv_bin

        return Path(find_uv_bin())
    except (ImportError, FileNotFoundError):
        on_path = shutil.which("uv")
    if on_path is not None and not Path(on_path).read_bytes().startswith(b"#!"):
        return Path(on_path).resolve()
    raise EnvironmentFailed(Cause.UV, "uv is not installed: pip install 'depslice[validate]'")


def site_packages(venv: Path) -> Path:
    """Where packages are installed in a virtual environment."""
    return next(iter(sorted((venv / "lib").glob("python3.*/site-packages"))), venv / "lib")


def top_levels(venv: Path) -> set[str]:
    """Names that can be imported from an environment's packages."""
    try:
        names = os.listdir(site_packages(venv))
    except OSError:
        return set()
    return {name.partition(".")[0] for name in names if not name.endswith((".dist-info", ".pth"))}


def forget_editable(packages: Path) -> None:
    """Remove what leads from an environment to the sources of its project; metadata stays."""
    for each in distributions(path=[str(packages)]):
        if not _is_editable(each):
            continue
        for file in each.files or ():
            path = packages / file
            if path.parent == packages and path.suffix in {".pth", ".py"}:
                path.unlink(missing_ok=True)


def _is_editable(found: Distribution) -> bool:
    try:
        said = json.loads(found.read_text("direct_url.json") or "{}")
        return bool(said.get("dir_info", {}).get("editable"))
    except (ValueError, AttributeError):
        return False


def _is_by_product(name: Path) -> bool:
    return any(
        part in {"__pycache__", "build", "dist", ".eggs"} or part.endswith((".egg-info", ".pyc"))
        for part in name.parts
    )


def _read_record(folder: Path, *, fresh: bool = False) -> Environment | None:
    """The environment in ``folder``, when it was made to its end and its Python is still there."""
    try:
        record = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
        if not Path(record["interpreter"]).exists():
            return None
        return Environment(
            folder=folder,
            python=folder / "venv" / "bin" / "python",
            generated=folder / "generated",
            log=folder.with_suffix(".log"),
            installed=tuple(record["installed"]),
            guessed=tuple((name, value) for name, value in record["guessed"]),
            unknown=tuple(record["unknown"]),
            fresh=fresh,
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
