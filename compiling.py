"""Build hook: what is compiled before the first run.

With ``DEPSLICE_COMPILE=1`` a wheel has the engine compiled by mypyc. That needs a C compiler, and
gives a wheel for one Python and one platform. Sources stay in the wheel; Python takes the compiled
module where there are both.

An editable install gets the byte code that pip makes of wheels. Without it the first command made
it while somebody waited, and took three times as long as the next.
"""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompilingHook(BuildHookInterface):  # type: ignore[type-arg]  # of a builder's settings
    """Compiles the modules that ``pyproject.toml`` names; to byte code, those of a checkout."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What the environment of the build needs besides."""
        return ["mypy>=1.15", "setuptools"] if _is_wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile outside the source tree, and put what comes out beside the sources.

        :raises RuntimeError: mypyc or the C compiler fails; its output is shown.
        """
        if version == "editable":
            for component in self.build_config.dev_mode_dirs:
                make_byte_code(Path(self.root, component))
            return
        if not _is_wanted():
            return
        self._folder = mkdtemp(prefix="depslice-compiling-")
        folder = Path(self._folder)
        root = Path(self.root)
        modules = [
            path.relative_to(root)
            for pattern in self.config["modules"]
            for path in sorted(root.glob(pattern))
            if path.name != "__init__.py"
        ]
        for component in sorted({module.parts[0] for module in modules}):
            shutil.copytree(root / component, folder, dirs_exist_ok=True)
        _compile(folder, [Path(*module.parts[1:]) for module in modules])
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"].update(
            {
                str(path): str(path.relative_to(folder))
                for path in folder.rglob("*.so")
                if "build" not in path.relative_to(folder).parts
            }
        )

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled: it is in the wheel."""
        if folder := getattr(self, "_folder", None):
            shutil.rmtree(folder)


def make_byte_code(folder: Path) -> None:
    """Compile what is below ``folder``, as far as it can be written there."""
    compileall.compile_dir(folder, quiet=2, workers=0)


def _is_wanted() -> bool:
    return os.environ.get("DEPSLICE_COMPILE", "0") not in ("", "0")


def _compile(folder: Path, modules: list[Path]) -> None:
    options = ["--config-file=", "--namespace-packages", "--explicit-package-bases"]
    run = subprocess.run(
        [sys.executable, "-m", "mypyc", *options, "--ignore-missing-imports", *map(str, modules)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if run.returncode:
        raise RuntimeError(f"mypyc cannot compile the engine:\n{run.stdout}")
