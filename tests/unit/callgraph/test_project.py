from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from check import write_files
from depslice.callgraph.errors import RepositoryError
from depslice.callgraph.project import Project, find_project, read_file


def found(root: Path, files: str, **options: object) -> Project:
    write_files(files, root)
    return find_project(root, **options)  # type: ignore[arg-type]


def modules(project: Project) -> dict[str, str]:
    """Path -> ``source_root:module``; the root itself is not spelt out."""
    return {
        file.path: file.module if file.source_root == "." else f"{file.source_root}:{file.module}"
        for file in project.files
    }


def left_out(project: Project) -> dict[str, str]:
    return {left.path: left.reason for left in project.left_out}


# --- layouts


def test_flat_layout_with_several_packages_and_tests_beside(tmp_path: Path) -> None:
    project = found(
        tmp_path,
        """
# --- setup.py
# --- one/__init__.py
# --- one/deep/__init__.py
# --- one/deep/mod.py
# --- one/data/script.py
# --- two/__init__.py
# --- single.py
# --- tests/test_one.py
from one.deep import mod
""",
    )
    assert modules(project) == {
        "one/__init__.py": "one",
        "one/data/script.py": "one.data.script",
        "one/deep/__init__.py": "one.deep",
        "one/deep/mod.py": "one.deep.mod",
        "setup.py": "setup",
        "single.py": "single",
        "tests/test_one.py": "tests.test_one",
        "two/__init__.py": "two",
    }
    assert [file.path for file in project.files if file.is_package] == [
        "one/__init__.py",
        "one/deep/__init__.py",
        "two/__init__.py",
    ]


@pytest.mark.parametrize("folder", ["src", "lib", "python"])
def test_source_folder_layouts(tmp_path: Path, folder: str) -> None:
    project = found(
        tmp_path,
        f"""
# --- {folder}/pkg/__init__.py
# --- {folder}/pkg/a.py
# --- {folder}/top.py
# --- tests/test_a.py
import pkg.a
""",
    )
    assert modules(project) == {
        f"{folder}/pkg/__init__.py": f"{folder}:pkg",
        f"{folder}/pkg/a.py": f"{folder}:pkg.a",
        f"{folder}/top.py": f"{folder}:top",
        "tests/test_a.py": "tests.test_a",
    }


def test_src_that_the_code_imports_as_a_namespace_is_no_source_root(tmp_path: Path) -> None:
    project = found(
        tmp_path,
        """
# --- src/models/__init__.py
# --- src/train.py
from src.models import net
# --- main.py
import src.train
""",
    )
    assert modules(project)["src/train.py"] == "src.train"
    assert modules(project)["src/models/__init__.py"] == "src.models"


def test_namespace_package_below_src(tmp_path: Path) -> None:
    project = found(
        tmp_path,
        """
# --- src/google/cloud/thing/__init__.py
from google.cloud.thing import client
# --- src/google/cloud/thing/client.py
# --- src/google/loose.py
""",
    )
    assert modules(project) == {
        "src/google/cloud/thing/__init__.py": "src:google.cloud.thing",
        "src/google/cloud/thing/client.py": "src:google.cloud.thing.client",
        "src/google/loose.py": "src:google.loose",
    }


def test_folder_whose_code_imports_from_it_is_a_source_root(tmp_path: Path) -> None:
    project = found(
        tmp_path,
        """
# --- backend/app/__init__.py
# --- backend/app/models.py
# --- backend/app/views.py
from app.models import User
# --- scripts/build.py
import json
# --- tests/helpers.py
# --- tests/test_app.py
import helpers
""",
    )
    assert modules(project) == {
        "backend/app/__init__.py": "backend:app",
        "backend/app/models.py": "backend:app.models",
        "backend/app/views.py": "backend:app.views",
        "scripts/build.py": "scripts.build",
        "tests/helpers.py": "tests:helpers",
        "tests/test_app.py": "tests:test_app",
    }


def test_a_name_of_the_standard_library_is_no_evidence(tmp_path: Path) -> None:
    project = found(
        tmp_path,
        """
# --- tools/json.py
# --- tools/run.py
import json
""",
    )
    assert modules(project) == {"tools/json.py": "tools.json", "tools/run.py": "tools.run"}


@pytest.mark.parametrize(
    "metadata",
    [
        '# --- pyproject.toml\n[tool.setuptools.packages.find]\nwhere = ["code"]',
        '# --- pyproject.toml\n[tool.setuptools]\npackage-dir = {"" = "code"}',
        '# --- pyproject.toml\n[tool.hatch.build.targets.wheel]\npackages = ["code/pkg"]',
        '# --- pyproject.toml\n[tool.hatch.build.targets.wheel]\nsources = ["code"]',
        '# --- pyproject.toml\n[[tool.poetry.packages]]\ninclude = "pkg"\nfrom = "code"',
        '# --- pyproject.toml\n[tool.maturin]\npython-source = "code"',
        '# --- pyproject.toml\n[tool.pytest.ini_options]\npythonpath = "code"',
        "# --- setup.cfg\n[options]\npackage_dir =\n    =code",
        "# --- setup.cfg\n[options.packages.find]\nwhere = code",
    ],
)
def test_packaging_metadata_names_the_source_root(tmp_path: Path, metadata: str) -> None:
    project = found(
        tmp_path, f"{metadata}\n# --- code/pkg/__init__.py\n# --- code/pkg/a.py\nimport code\n"
    )
    assert modules(project)["code/pkg/a.py"] == "code:pkg.a"


@pytest.mark.parametrize(
    "metadata",
    [
        "# --- pyproject.toml\nwhere = [[[",
        "# --- pyproject.toml\n[tool.setuptools.packages.find]\nwhere = 3",
        "# --- pyproject.toml\ntool = 'where'",
        '# --- pyproject.toml\n[tool.setuptools.packages.find]\nwhere = ["../..", "/", "none"]',
        "# --- setup.cfg\nwhere where",
        "# --- setup.cfg\n[options]\npackage_dir = nonsense",
    ],
)
def test_senseless_packaging_metadata_is_no_obstacle(tmp_path: Path, metadata: str) -> None:
    project = found(tmp_path, f"{metadata}\n# --- pkg/__init__.py\n")
    assert modules(project) == {"pkg/__init__.py": "pkg"}


def test_a_distribution_within_the_repository_is_a_source_root(tmp_path: Path) -> None:
    project = found(
        tmp_path,
        """
# --- packages/core/pyproject.toml
# --- packages/core/src/core/__init__.py
# --- packages/extra/setup.py
# --- packages/extra/extra/__init__.py
""",
    )
    assert modules(project) == {
        "packages/core/src/core/__init__.py": "packages/core/src:core",
        "packages/extra/extra/__init__.py": "packages/extra:extra",
        "packages/extra/setup.py": "packages/extra:setup",
    }


def test_this_repository_is_read_as_the_design_says() -> None:
    repo = Path(__file__).parents[3]
    names = {file.path: file for file in find_project(repo).files}
    file = names["callgraph/depslice/callgraph/project.py"]
    assert (file.source_root, file.module) == ("callgraph", "depslice.callgraph.project")


# --- what REPO may be


def test_a_package_folder_carries_its_name(tmp_path: Path) -> None:
    write_files("# --- pkg/__init__.py\n# --- pkg/sub/a.py\n# --- pkg/b.py\n", tmp_path)
    assert modules(find_project(tmp_path / "pkg")) == {
        "__init__.py": "..:pkg",
        "b.py": "..:pkg.b",
        "sub/a.py": "..:pkg.sub.a",
    }


def test_a_package_inside_a_package_carries_both_names(tmp_path: Path) -> None:
    write_files("# --- pkg/__init__.py\n# --- pkg/sub/__init__.py\n# --- pkg/sub/a.py\n", tmp_path)
    assert modules(find_project(tmp_path / "pkg" / "sub")) == {
        "__init__.py": "../..:pkg.sub",
        "a.py": "../..:pkg.sub.a",
    }


@pytest.mark.parametrize(
    ("init", "main", "is_package"),
    [
        ("", "from helpers import f", False),
        ("", "    import sub.a as a", False),
        ("", "import json", True),
        ("", "from helpers import f\nfrom pkg.helpers import g", True),
        ("", "from helpers import f\nfrom . import sub", True),
        ("from .main import x", "from helpers import f", True),
        ("", "import helpers2", True),
    ],
)
def test_a_folder_with_an_init_file_by_mistake(
    init: str, main: str, is_package: bool, tmp_path: Path
) -> None:
    files = f"# --- __init__.py\n{init}\n# --- main.py\n{main}\n# --- helpers.py\n"
    write_files(
        files + "# --- sub/__init__.py\n# --- sub/a.py\nfrom . import b\n", tmp_path / "pkg"
    )
    names = modules(find_project(tmp_path / "pkg"))
    assert names["main.py"] == ("..:pkg.main" if is_package else "main")
    assert names["sub/a.py"] == ("..:pkg.sub.a" if is_package else "sub.a")


def test_what_a_package_below_imports_from_above_makes_it_a_package(tmp_path: Path) -> None:
    files = "# --- __init__.py\n# --- main.py\nimport helpers\n# --- helpers.py\n"
    write_files(files + "# --- sub/__init__.py\nfrom .. import helpers\n", tmp_path / "pkg")
    assert modules(find_project(tmp_path / "pkg"))["main.py"] == "..:pkg.main"


def test_a_repository_with_an_init_file_is_still_a_repository(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    project = found(repo, "# --- setup.py\n# --- __init__.py\n# --- pkg/__init__.py\n")
    assert modules(project)["pkg/__init__.py"] == "pkg"


def test_a_single_script_is_a_project(tmp_path: Path) -> None:
    write_files("# --- tool.py\nx = 1\n# --- other.py\n", tmp_path)
    project = find_project(tmp_path / "tool.py")
    assert modules(project) == {"tool.py": "tool"}
    assert project.root == tmp_path
    assert read_file(project, project.files[0]) == b"x = 1\n"


def test_relative_and_str_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files("# --- a.py\n", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert find_project(".").root == tmp_path
    assert modules(find_project("a.py")) == {"a.py": "a"}


def refused(root: Path | str, **options: object) -> str:
    with pytest.raises(RepositoryError) as caught:
        find_project(root, **options)  # type: ignore[arg-type]
    assert "\n" not in caught.value.message
    return caught.value.message


def test_what_cannot_be_analysed_is_refused_in_one_line(tmp_path: Path) -> None:
    write_files("# --- text.txt\nhello\n# --- big.py\nx = 1\n# --- e/notes.md\n", tmp_path)
    assert "no such file" in refused(tmp_path / "none")
    assert "not a directory or a Python file" in refused(tmp_path / "text.txt")
    assert "no Python files" in refused(tmp_path / "e")
    assert "more than the limit" in refused(tmp_path / "big.py", max_file_bytes=3)
    assert "too-large 1" in refused(tmp_path, max_file_bytes=3)
    assert "cannot read" in refused(f"{tmp_path}/a\0b")
    os.mkfifo(tmp_path / "pipe.py")
    assert "not a directory or a Python file" in refused(tmp_path / "pipe.py")
    os.symlink("loop.py", tmp_path / "loop.py")
    assert "cannot read" in refused(tmp_path / "loop.py")


@pytest.mark.parametrize(
    ("files", "hint"),
    [
        ("# --- a.ipynb\n", "nbconvert"),
        ("# --- a.ipynb\n# --- vendor/a.py\nx = 1\n", "--include"),
        ("# --- mine/a.py\nx = 1\n", ""),
    ],
)
def test_the_hint_where_all_is_left_out_is_one_that_helps(
    tmp_path: Path, files: str, hint: str
) -> None:
    write_files(files, tmp_path)
    with pytest.raises(RepositoryError, match="left out") as caught:
        find_project(tmp_path, exclude=["mine"])
    assert hint in caught.value.hint
    assert bool(hint) == bool(caught.value.hint)


# --- what is left out


def test_left_out_by_default_and_said_so(tmp_path: Path) -> None:
    project = found(
        tmp_path,
        """
# --- pkg/__init__.py
# --- pkg/_vendor/six.py
# --- pkg/__pycache__/a.py
# --- pkg/build/__init__.py
# --- vendor/a.py
# --- third_party/a.py
# --- node_modules/x/setup.py
# --- env/pyvenv.cfg
# --- env/lib/a.py
# --- .hidden/a.py
# --- .dot.py
# --- build/lib/pkg/__init__.py
# --- dist/a.py
# --- pkg.egg-info/a.py
# --- notes.ipynb
# --- stub.pyi
""",
    )
    assert modules(project) == {"pkg/__init__.py": "pkg", "pkg/build/__init__.py": "pkg.build"}
    assert left_out(project) == {
        ".dot.py": "hidden",
        ".hidden": "hidden",
        "build": "build",
        "dist": "build",
        "env": "virtualenv",
        "node_modules": "vendored",
        "notes.ipynb": "notebook",
        "pkg.egg-info": "build",
        "pkg/_vendor": "vendored",
        "third_party": "vendored",
        "vendor": "vendored",
    }


def test_a_package_called_build_is_analysed(tmp_path: Path) -> None:
    project = found(tmp_path, "# --- src/build/__init__.py\n# --- src/build/a.py\n")
    assert modules(project)["src/build/a.py"] == "src:build.a"


@pytest.mark.parametrize(
    ("include", "paths"),
    [
        (["pkg/_vendor"], ["pkg/__init__.py", "pkg/_vendor/deep/b.py", "pkg/_vendor/six.py"]),
        (["pkg/_vendor/*.py"], ["pkg/__init__.py", "pkg/_vendor/six.py"]),
        (["_vendor/**/b.py"], ["pkg/__init__.py"]),
        (["**/b.py"], ["pkg/__init__.py", "pkg/_vendor/deep/b.py"]),
        ([".dot.py"], [".dot.py", "pkg/__init__.py"]),
        (["env/a.py"], ["env/a.py", "pkg/__init__.py"]),
        (["ignored"], ["ignored/a.py", "pkg/__init__.py"]),
    ],
)
def test_include_brings_back(tmp_path: Path, include: Sequence[str], paths: list[str]) -> None:
    project = found(
        tmp_path,
        """
# --- .gitignore
ignored/
# --- pkg/__init__.py
# --- pkg/_vendor/six.py
# --- pkg/_vendor/deep/b.py
# --- env/pyvenv.cfg
# --- env/a.py
# --- .dot.py
# --- ignored/a.py
""",
        include=include,
    )
    assert [file.path for file in project.files] == paths


def test_scripts_by_their_first_line(tmp_path: Path) -> None:
    """Those that `include` names, and they take no module its name."""
    files = """
# --- tool.py
# --- bin/tool
#!/usr/bin/env python3
import tool
# --- bin/shell
#!/bin/sh
# --- bin/text
python
# --- tool
#! /usr/bin/python3.12 -u
# --- pkg/__init__.py
# --- pkg/pkg
#!/usr/bin/python
# --- pkg/more.py
"""
    assert [file.path for file in found(tmp_path, files).files] == [
        *("pkg/__init__.py", "pkg/more.py", "tool.py")
    ]
    project = find_project(tmp_path, include=["bin", "tool", "pkg"], exclude=["/pkg/more.py"])
    assert modules(project) == {
        "bin/tool": "bin.tool",
        "pkg/__init__.py": "pkg",
        "pkg/pkg": "pkg.pkg",
        "tool": "tool~2",
        "tool.py": "tool",
    }
    assert modules(find_project(tmp_path / "bin" / "tool")) == {"tool": "tool"}
    assert "not a directory or a Python file" in refused(tmp_path / "bin" / "text")


def test_exclude_takes_out_and_wins(tmp_path: Path) -> None:
    project = found(
        tmp_path,
        "# --- a.py\n# --- b/c.py\n# --- b/d.py\n# --- vendor/e.py\n",
        include=["vendor"],
        exclude=["c.py", "vendor/"],
    )
    assert [file.path for file in project.files] == ["a.py", "b/d.py"]
    assert left_out(project) == {"b/c.py": "excluded", "vendor": "excluded"}


GITIGNORED = """
# --- .gitignore
*.log.py
!keep.log.py
/top.py
gen/
docs/**/x.py
!
# --- a.log.py
# --- keep.log.py
# --- top.py
# --- sub/top.py
# --- sub/gen/a.py
# --- gen/__init__.py
# --- docs/a/b/x.py
# --- docs/y.py
# --- nested/.gitignore
local.py
!/again.log.py
# --- nested/local.py
# --- nested/again.log.py
# --- nested/deep/local.py
# --- nested/deep/again.log.py
# --- local.py
"""


def test_gitignore_as_git_itself_reads_it(tmp_path: Path) -> None:
    project = found(tmp_path, GITIGNORED)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard", "*.py"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert [file.path for file in project.files] == sorted(listed.stdout.split())
    assert left_out(project)["gen"] == "gitignored"
    assert left_out(project)["top.py"] == "gitignored"
    everything = find_project(tmp_path, respect_gitignore=False)
    assert len(everything.files) == len(re.findall(r"^# --- .*\.py$", GITIGNORED, re.MULTILINE))
    assert "gitignored" not in left_out(everything).values()


def test_git_info_exclude(tmp_path: Path) -> None:
    project = found(tmp_path, "# --- .git/info/exclude\nsecret.py\n# --- secret.py\n# --- a.py\n")
    assert left_out(project) == {"secret.py": "gitignored"}


def test_everything_ignored_says_so(tmp_path: Path) -> None:
    write_files("# --- .gitignore\n*\n# --- a.py\n", tmp_path)
    assert "gitignored 1" in refused(tmp_path)


def test_too_large_files_are_left_out_with_a_diagnostic(tmp_path: Path) -> None:
    project = found(tmp_path, "# --- a.py\n# --- big.py\nx = 1234567890\n", max_file_bytes=10)
    assert left_out(project) == {"big.py": "too-large"}
    [diagnostic] = project.diagnostics
    assert (diagnostic.slug, diagnostic.path) == ("file-too-large", "big.py")


# --- names


def test_names_that_are_no_identifiers_are_kept(tmp_path: Path) -> None:
    project = found(tmp_path, "# --- my-scripts/run-it.py\n# --- v1.2/a.py\n# --- v1/2/a.py\n")
    assert modules(project) == {
        "my-scripts/run-it.py": "my-scripts.run-it",
        "v1.2/a.py": "v1.2.a",
        "v1/2/a.py": "v1.2.a~2",
    }


def test_names_that_cannot_be_written_are_left_out(tmp_path: Path) -> None:
    write_files("# --- a.py\n# --- b:c.py\n", tmp_path)
    (tmp_path / os.fsdecode(b"\xff.py")).touch()
    (tmp_path / "new\nline").mkdir()
    project = find_project(tmp_path)
    assert modules(project) == {"a.py": "a"}
    assert set(left_out(project).values()) == {"unnameable"}
    assert len(project.left_out) == 3
    for left in project.left_out:
        left.path.encode()


def test_a_package_shadows_the_module_beside_it(tmp_path: Path) -> None:
    project = found(tmp_path, "# --- a.py\n# --- a/__init__.py\n# --- b.py\n# --- b/c.py\n")
    assert modules(project) == {"a/__init__.py": "a", "b.py": "b", "b/c.py": "b.c"}
    assert left_out(project) == {"a.py": "shadowed"}
    assert [diagnostic.slug for diagnostic in project.diagnostics] == ["shadowed-module"]


def test_two_source_roots_with_one_name(tmp_path: Path) -> None:
    project = found(
        tmp_path,
        """
# --- a/pyproject.toml
# --- a/common/__init__.py
# --- a/common/x.py
# --- b/pyproject.toml
# --- b/common/__init__.py
# --- b/common/y.py
# --- b/other.py
""",
    )
    assert modules(project) == {
        "a/common/__init__.py": "a:common",
        "a/common/x.py": "a:common.x",
        # The whole package, so that its relative imports stay right.
        "b/common/__init__.py": "b.common",
        "b/common/y.py": "b.common.y",
        "b/other.py": "b:other",
    }
    assert [(found.slug, found.path) for found in project.diagnostics] == [
        ("duplicate-module", "b/common/__init__.py")
    ]


# --- links, permissions, shapes of trees


def test_links(tmp_path: Path) -> None:
    repo, outside = tmp_path / "repo", tmp_path / "outside"
    write_files("# --- pkg/__init__.py\n# --- pkg/real.py\n", repo)
    write_files("# --- secret.py\n", outside)
    (repo / "pkg" / "alias.py").symlink_to("real.py")
    (repo / "pkg" / "self.py").symlink_to("self.py")
    (repo / "pkg" / "gone.py").symlink_to("nowhere.py")
    (repo / "pkg" / "out.py").symlink_to(outside / "secret.py")
    (repo / "up").symlink_to("..")
    (repo / "pkg" / "loop").symlink_to("..")
    (repo / "again").symlink_to("pkg")
    (repo / "pipe.py").symlink_to("pipe2.py")
    os.mkfifo(repo / "pipe2.py")
    project = find_project(repo)
    assert [file.path for file in project.files] == [
        "pkg/__init__.py",
        "pkg/alias.py",
        "pkg/real.py",
    ]
    assert left_out(project) == {
        "again": "symlink",
        "pipe.py": "not-a-file",
        "pipe2.py": "not-a-file",
        "pkg/gone.py": "symlink-broken",
        "pkg/loop": "symlink-loop",
        "pkg/out.py": "symlink-outside",
        "pkg/self.py": "symlink-loop",
        "up": "symlink-outside",
    }


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_an_unreadable_folder_is_a_diagnostic() -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is closed to other users
        repo = Path(folder)
        repo.chmod(0o755)
        write_files("# --- a.py\n# --- locked/b.py\n", repo)
        (repo / "locked").chmod(0)

        def look() -> bool:
            project = find_project(repo)
            return (
                modules(project) == {"a.py": "a"}
                and left_out(project) == {"locked": "unreadable"}
                and [found.slug for found in project.diagnostics] == ["unreadable-directory"]
            )

        try:
            assert as_ordinary_user(look)
        finally:
            (repo / "locked").chmod(0o700)


def as_ordinary_user(check: Callable[[], bool]) -> bool:
    """Run ``check`` in a fork that permissions bind, root being exempt from them."""
    if os.geteuid() != 0:
        return check()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgid(65534)
            os.setuid(65534)
            code = 0 if check() else 1
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def test_a_tree_of_any_depth(tmp_path: Path) -> None:
    # Deeper than the recursion limit would allow, as far as the path length lets us.
    depth = 400
    deep = tmp_path.joinpath(*["d"] * depth)
    deep.mkdir(parents=True)
    (deep / "x.py").touch()
    [file] = find_project(tmp_path).files
    assert file.module == "d." * depth + "x"


def test_the_order_the_system_lists_in_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(GITIGNORED, tmp_path)
    expected = find_project(tmp_path)
    scandir = os.scandir

    class Reversed:
        def __init__(self, path: str) -> None:
            self.entries = sorted(scandir(path), key=lambda entry: entry.name, reverse=True)

        def __enter__(self) -> list[os.DirEntry[str]]:
            return self.entries

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(os, "scandir", Reversed)
    assert find_project(tmp_path) == expected


def test_heavy_modules_are_not_imported_for_a_plain_repository(tmp_path: Path) -> None:
    write_files("# --- pkg/__init__.py\n", tmp_path)
    program = (
        "import sys; from depslice.callgraph.project import find_project;"
        f"find_project({str(tmp_path)!r});"
        "print([m for m in ('pathspec', 'tomllib', 'configparser') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout == "[]\n"


def test_module_names_are_the_same_in_every_process(tmp_path: Path) -> None:
    for number in range(100):  # more than evidence is looked for
        folder = tmp_path / f"part{number}"
        folder.mkdir()
        (folder / f"near{number}.py").touch()
        (folder / f"main{number}.py").write_text(f"import near{number}\n")
    code = (
        "import sys; from depslice.callgraph import open_program;"
        "print([f.module for f in open_program(sys.argv[1], cache=None).project.files])"
    )
    named = {
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(3)
    }
    assert len(named) == 1
