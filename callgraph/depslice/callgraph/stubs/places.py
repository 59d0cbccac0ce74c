"""Where declarations of code outside the repo lie: folders, found without running anything.

The type stubs of the standard library and of common packages are typeshed's
(https://github.com/python/typeshed), of which jedi ships a copy. Packages of an
environment are found by the paths of its interpreter; PEP 561 says which of their
files may be read for types, and a ``pyvenv.cfg`` (PEP 405) where the rest is.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from depslice.callgraph.errors import EnvironmentNotFound
from depslice.callgraph.stubs.names import STANDARD_MODULES, VERSION

_NUMBERED: Final = re.compile(r"3(?:\.(\d+))?$")
_SITE: Final = ("lib", "lib64")


@dataclass(frozen=True, slots=True)
class StubFolder:
    """A folder to look for modules in, as the import system does in one of ``sys.path``.

    ``identity`` changes when its files do. With ``sources``, ``.py`` files count, too.
    """

    path: str
    identity: str
    sources: bool = False


@cache
def bundled_folders() -> tuple[StubFolder, ...]:
    """The folders of the typeshed that jedi ships, the standard library first; maybe none.

    jedi itself is not imported. Up to 0.19 its typeshed has a folder for each version
    of Python (``stdlib/3.7``, ``stdlib/3``, ``stdlib/2and3``, ``third_party/…``); later
    ones have ``stdlib`` and a folder of ``stubs`` for each distribution.
    """
    spec = importlib.util.find_spec("jedi")
    if spec is None or spec.origin is None:
        return ()
    package = os.path.dirname(spec.origin)
    identity = _package_identity(package)
    shipped = os.path.join(package, "third_party")
    django = os.path.join(shipped, "django-stubs")
    return (
        *typeshed_folders(os.path.join(shipped, "typeshed"), identity),
        *([StubFolder(django, identity)] if os.path.isdir(django) else ()),
    )


def typeshed_folders(root: str, identity: str) -> tuple[StubFolder, ...]:
    """The folders of modules in the typeshed at ``root``, in either layout."""
    found: list[str] = []
    for part in ("stdlib", "third_party"):
        folder = os.path.join(root, part)
        names = _listed(folder)
        if "builtins.pyi" in names:
            found.append(folder)
        found.extend(os.path.join(folder, name) for name in _of_version(names))
    stubs = os.path.join(root, "stubs")
    found.extend(os.path.join(stubs, name) for name in _listed(stubs))
    return tuple([StubFolder(path, identity) for path in found])


def _of_version(names: list[str]) -> list[str]:
    """``3.9``, …, ``3``, ``2and3``: what holds for :data:`VERSION`, the closest first."""
    numbered = [
        (int(match[1] or 0), name)
        for name in names
        if (match := _NUMBERED.fullmatch(name)) and int(match[1] or 0) <= VERSION[1]
    ]
    closest = [name for _, name in sorted(numbered, reverse=True)]
    return [*closest, *(name for name in names if name == "2and3")]


def environment_folders(python: Path | str) -> tuple[StubFolder, ...]:
    """The ``site-packages`` of an interpreter, or of the environment in a folder.

    ``python`` is the path of an interpreter (``env/bin/python``) or of a folder above it.
    Nothing is run. A virtual environment that sees its parent's packages
    (``include-system-site-packages``) has them, too, after its own.

    :raises EnvironmentNotFound: there are no packages where that interpreter has them.
    """
    path = Path(os.path.abspath(os.path.expanduser(python)))
    prefix = path if path.is_dir() else path.parent.parent
    found = _site_packages(prefix)
    configuration = _configuration(prefix)
    if configuration.get("include-system-site-packages", "").lower() == "true":
        found += _site_packages(Path(configuration.get("home", "")).parent)
    if not found and path.is_symlink():
        found = _site_packages(path.resolve().parent.parent)
    if not found:
        raise EnvironmentNotFound(str(python))
    return tuple([StubFolder(folder, _folder_identity(folder), True) for folder in found])


def _site_packages(prefix: Path) -> list[str]:
    found = _packages_in([prefix / library for library in _SITE], "site-packages")
    if not found:  # Debian's own Python
        found = _packages_in([prefix / "local" / "lib", prefix / "lib"], "dist-packages")
    windows = prefix / "Lib" / "site-packages"
    if not found and windows.is_dir():
        found.append(str(windows))
    return found


def _packages_in(libraries: list[Path], called: str) -> list[str]:
    return [
        str(folder)
        for base in libraries
        if not base.is_symlink()
        for name in _listed(str(base))
        if name.startswith(("python3", "pypy3")) and (folder := base / name / called).is_dir()
    ]


def _configuration(prefix: Path) -> dict[str, str]:
    """The keys of ``pyvenv.cfg`` (PEP 405)."""
    try:
        text = (prefix / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    pairs = (line.partition("=") for line in text.splitlines())
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _package_identity(package: str) -> str:
    """The version of an installed package, as its own ``__init__.py`` states it."""
    try:
        with open(os.path.join(package, "__init__.py"), encoding="utf-8") as file:
            match = re.search(r"""^__version__ = ['"]([^'"]+)""", file.read(), re.MULTILINE)
    except (OSError, ValueError):
        match = None
    return f"jedi-{match[1]}" if match else f"jedi-at-{package}"


def _folder_identity(folder: str) -> str:
    """What is installed in ``site-packages``: names and versions, and when that last changed."""
    digest = hashlib.blake2b(folder.encode(errors="surrogatepass"), digest_size=12)
    for name in _listed(folder):
        if name.endswith((".dist-info", ".egg-info", ".pth")):
            digest.update(f"\0{name}".encode(errors="surrogatepass"))
    digest.update(str(os.stat(folder).st_mtime_ns).encode())
    return digest.hexdigest()


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


class ModuleFiles:
    """Which file declares a module: the first folder that has it wins (PEP 561)."""

    def __init__(self, folders: tuple[StubFolder, ...]) -> None:
        self._folders = folders
        self._standard = tuple([f for f in folders if "stdlib" in f.path and not f.sources])
        self._tops: dict[str, list[tuple[str, bool]]] | None = None

    def find(self, module: str) -> tuple[str, bool] | None:
        """The file of ``module`` and whether it is a package; ``None`` where nothing has it."""
        top, _, rest = module.partition(".")
        if top in STANDARD_MODULES:
            places = [(os.path.join(folder.path, top), False) for folder in self._standard]
        else:
            places = self._top_level().get(top, [])
        for place, sources in places:
            path = os.path.join(place, *rest.split(".")) if rest else place
            for suffix in (".pyi", ".py") if sources else (".pyi",):
                inner = os.path.join(path, f"__init__{suffix}")
                if os.path.isfile(inner):
                    return inner, True
                if os.path.isfile(path + suffix):
                    return path + suffix, False
        return None

    def _top_level(self) -> dict[str, list[tuple[str, bool]]]:
        """By top-level name: where to look for it.

        The order is that of PEP 561, but for packages that do not say they are typed: the
        stubs that are shipped for them tell more.
        """
        if self._tops is None:
            ranked: dict[str, list[tuple[int, str, bool]]] = {}
            for folder in self._folders:
                for name in _listed(folder.path):
                    is_stubs = name.endswith("-stubs")
                    top = name if is_stubs else name.partition(".")[0]
                    place = os.path.join(folder.path, top)
                    rank = 0 if is_stubs else 1
                    if folder.sources and not is_stubs and not _is_typed(place):
                        rank = 2
                    found = ranked.setdefault(top.removesuffix("-stubs"), [])
                    if (rank, place, folder.sources) not in found:
                        found.append((rank, place, folder.sources))
            self._tops = {
                top: [(place, sources) for _, place, sources in sorted(found, key=_rank)]
                for top, found in ranked.items()
            }
        return self._tops


def _rank(place: tuple[int, str, bool]) -> int:
    return place[0]


def _is_typed(package: str) -> bool:
    """Whether an installed package declares types (PEP 561), or is a single stub."""
    return os.path.isfile(os.path.join(package, "py.typed")) or os.path.isfile(package + ".pyi")
