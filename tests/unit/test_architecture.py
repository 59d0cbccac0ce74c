"""The shape of the project: the import contract, the lists of components, the wheel."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))
TOOL = PYPROJECT["tool"]
COMPONENTS = sorted(path.parent.parent.name for path in REPO.glob("*/depslice/*/"))
SOURCES = sorted(path for component in COMPONENTS for path in (REPO / component).rglob("*.py"))


def contract_holds(repo: Path) -> subprocess.CompletedProcess[str]:
    program = "import sys; from importlinter.cli import lint_imports_command as c; c()"
    path = os.pathsep.join(str(repo / component) for component in COMPONENTS)
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache", "--no-logo"],
        cwd=repo,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )


def test_the_import_contract_holds() -> None:
    done = contract_holds(REPO)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "statement", "contract"),
    [
        ("callgraph/depslice/callgraph/a.py", "import depslice.slicer.model", "downwards"),
        ("slicer/depslice/slicer/a.py", "import click", "Click"),
        ("slicer/depslice/slicer/a.py", "import networkx", "networkx"),
        ("slicer/depslice/slicer/a.py", "import jedi", "jedi"),
        ("callgraph/depslice/callgraph/a.py", "import libcst", "libcst"),
        ("callgraph/depslice/callgraph/a.py", "import depslice.callgraph.layout", "Layout"),
        ("cli/depslice/stray/a.py", "x = 1", "downwards"),
    ],
)
def test_the_import_contract_can_break(
    tmp_path: Path, path: str, statement: str, contract: str
) -> None:
    for component in COMPONENTS:
        shutil.copytree(REPO / component, tmp_path / component)
    shutil.copy(REPO / "pyproject.toml", tmp_path)
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(statement + "\n", encoding="utf-8")
    done = contract_holds(tmp_path)
    assert done.returncode != 0
    broken = [line for line in done.stdout.splitlines() if " BROKEN" in line]
    named = [line for line in broken if contract in line]
    assert named or "stray" in done.stdout + done.stderr


def test_no_component_is_forgotten() -> None:
    assert (
        sorted(path.name for path in REPO.iterdir() if (path / "depslice").is_dir()) == COMPONENTS
    )
    wheel = TOOL["hatch"]["build"]["targets"]["wheel"]
    assert sorted(wheel["sources"]) == COMPONENTS
    assert sorted(wheel["only-include"]) == [f"{name}/depslice" for name in COMPONENTS]
    assert sorted(TOOL["hatch"]["build"]["dev-mode-dirs"]) == COMPONENTS
    assert sorted(TOOL["mypy"]["mypy_path"]) == COMPONENTS
    assert sorted(TOOL["mypy"]["packages"]) == [f"depslice.{name}" for name in COMPONENTS]
    assert sorted(TOOL["coverage"]["run"]["source_pkgs"]) == [
        f"depslice.{name}" for name in COMPONENTS
    ]
    assert set(COMPONENTS) <= set(TOOL["ruff"]["src"])
    [layers] = [entry for entry in TOOL["importlinter"]["contracts"] if entry["id"] == "layers"]
    named = set(re.findall(r"\w+", " ".join(layers["layers"])))
    assert set(COMPONENTS) <= named


def test_depslice_is_a_namespace_package_that_is_typed() -> None:
    for component in COMPONENTS:
        namespace = REPO / component / "depslice"
        assert {path.name for path in namespace.iterdir()} - {"__pycache__"} == {component}
        assert (namespace / component / "py.typed").is_file()


@pytest.mark.parametrize("group", sorted(PYPROJECT["project"].get("entry-points", {})))
def test_every_entry_point_loads(group: str) -> None:
    for name, value in PYPROJECT["project"]["entry-points"][group].items():
        assert callable(EntryPoint(name=name, value=value, group=group).load())


def test_the_command_loads() -> None:
    for name, value in PYPROJECT["project"]["scripts"].items():
        assert callable(EntryPoint(name=name, value=value, group="console_scripts").load())


READS = re.compile(r"\b(?:scandir|listdir|os\.walk|rglob|iterdir|read_text|read_bytes)\b|\bopen\(")
# Who may touch files, and which: `project` the analysed tree; the others their own.
MAY_READ = {
    "callgraph/depslice/callgraph/project.py",
    "callgraph/depslice/callgraph/cache.py",
    "callgraph/depslice/callgraph/stubs/places.py",  # the folders of what is installed
    "callgraph/depslice/callgraph/stubs/called_back.py",  # data of the package
    "callgraph/depslice/callgraph/stubs/store.py",  # declarations of code outside the tree
    "callgraph/depslice/callgraph/resolvers/pycg_resolver.py",
    "callgraph/depslice/callgraph/resolvers/pycg_runner.py",
    "callgraph/depslice/callgraph/tracing/recorder.py",  # in the traced program
    "callgraph/depslice/callgraph/tracing/session.py",  # the recorder, to copy it
    "callgraph/depslice/callgraph/tracing/gathering.py",  # what the recorder has written
    "slicer/depslice/slicer/render/tree.py",  # the folder it writes the rendering to
    "validator/depslice/validator/copying.py",  # copies the tree
    "validator/depslice/validator/workspace.py",  # reads what its runs wrote
    "validator/depslice/validator/calls.py",  # the copy's tests: which mention a target
    "validator/depslice/validator/child/own_tests.py",  # settings of the tests, in a sandbox
    "validator/depslice/validator/child/outcomes.py",  # in the checked program
    "validator/depslice/validator/child/recording.py",
    "validator/depslice/validator/child/replaying.py",
    "validator/depslice/validator/child/spelling.py",
    "llm/depslice/llm/cache.py",  # recorded answers
    "llm/depslice/llm/providers/local.py",  # a model file: is it one, and which
    # What runs in a sandbox, and what runs need: interpreters, handing folders over.
    "validator/depslice/validator/sandbox/bubblewrap.py",  # settings of the machine, to hand over
    "validator/depslice/validator/sandbox/depslice_inside/collecting.py",
    "validator/depslice/validator/sandbox/depslice_inside/order.py",
    "validator/depslice/validator/sandbox/depslice_inside/program.py",
    "validator/depslice/validator/sandbox/depslice_inside/sweeping.py",
    "validator/depslice/validator/sandbox/depslice_inside/family.py",
    "validator/depslice/validator/sandbox/depslice_inside/watching.py",
    "validator/depslice/validator/sandbox/interpreters.py",
    "validator/depslice/validator/sandbox/staging.py",
    "validator/depslice/validator/sandbox/slots.py",  # locks
    "validator/depslice/validator/scratch.py",
    # An environment: metadata and build inputs of the tree, copied; what a build made.
    "validator/depslice/validator/environment/declared.py",
    "validator/depslice/validator/environment/planning.py",
    "validator/depslice/validator/environment/building.py",
    "validator/depslice/validator/environment/guessing.py",
    "validator/depslice/validator/environment/installed.py",
    "validator/depslice/validator/environment/record.py",
    "validator/depslice/validator/environment/uv.py",
    "validator/depslice/validator/environment/pythons.py",
    # Harnesses and verdicts; the copy's file, to put a candidate into it.
    "validator/depslice/validator/validation/harness.py",
    "validator/depslice/validator/validation/ledger.py",
    "validator/depslice/validator/validation/candidates.py",
    "validator/depslice/validator/validation/copies.py",
    # In the sandbox: the copy, and what runs have written.
    "validator/depslice/validator/child/evidence/arcs.py",
    "validator/depslice/validator/child/evidence/gathering.py",
    "validator/depslice/validator/child/evidence/trial.py",
    "validator/depslice/validator/child/evidence/warm.py",
    "validator/depslice/validator/child/harness/observing.py",
    "validator/depslice/validator/child/harness/context.py",  # data files of a harness
    "validator/depslice/validator/child/harness/in_situ.py",  # nothing: the null device
    "dataset/depslice/dataset/recorded.py",  # its own file of recorded calls
    "validator/depslice/validator/sandbox/depslice_inside/forks.py",  # /proc
    "solvers/depslice/solvers/loading/lines.py",  # files of problems
    "solvers/depslice/solvers/execution/inside/hosting.py",  # /dev/null
    "slicer/depslice/slicer/report/page.py",  # the parts of its pages
    "callgraph/depslice/callgraph/locking.py",  # lock files, beside what they lock
    "callgraph/depslice/callgraph/memory.py",  # depslice's own modules: is it the same version?
}


def test_only_project_reads_the_source_tree() -> None:
    """Invariant 2."""
    readers = {
        str(path.relative_to(REPO))
        for path in SOURCES
        if not path.is_relative_to(REPO / "cli")
        and any(
            isinstance(node, ast.Call) and READS.search(ast.unparse(node.func) + "(")
            for node in ast.walk(ast.parse(path.read_bytes()))
        )
    }
    assert readers <= MAY_READ
    assert "callgraph/depslice/callgraph/project.py" in readers


@pytest.mark.slow
def test_the_wheel_holds_depslice_alone(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path, REPO]
    if find_spec("pip") is None:  # a virtual environment that uv made
        build = ["uv", "build", "--quiet", "--wheel", "-o", tmp_path, REPO]
    subprocess.run(build, check=True)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next(name for name in names if name.endswith("/METADATA"))
        described = archive.read(metadata).decode()
    top = {name.partition("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"depslice"}
    assert {name.split("/")[1] for name in names if name.startswith("depslice/")} == set(COMPONENTS)
    assert "depslice/__init__.py" not in names
    packed = {name for name in names if name.endswith(".py")}
    assert packed == {str(Path(*path.relative_to(REPO).parts[1:])) for path in SOURCES}
    assert "License-Expression: MIT" in described
