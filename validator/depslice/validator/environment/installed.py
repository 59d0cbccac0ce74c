"""What stands in a virtual environment, read without running it."""

from __future__ import annotations

import json
import os
import shutil
from importlib.metadata import Distribution, distributions
from pathlib import Path


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


def installed_lines(packages: Path) -> list[str]:
    """``name==version`` of each distribution, sorted."""
    return sorted(
        f"{each.metadata['Name']}=={each.version}" for each in distributions(path=[str(packages)])
    )


def keep_generated(source: Path, original: Path, generated: Path) -> None:
    """Copy the files that a build has added to its copy of the sources, but for by-products."""
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source)
        if path.is_symlink() or not path.is_file() or (original / name).exists():
            continue
        if not _is_by_product(name):
            (generated / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, generated / name)


def _is_by_product(name: Path) -> bool:
    return any(
        part in {"__pycache__", "build", "dist", ".eggs"} or part.endswith((".egg-info", ".pyc"))
        for part in name.parts
    )
