"""Names of a package that are imported when first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module  # noqa: TID251 - of modules of the package that asks


def names_of(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The ``__getattr__`` of ``package`` (PEP 562): ``homes`` tells the module of each name."""

    def __getattr__(name: str) -> object:  # noqa: N807 - it is one
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{home}"), name)

    return __getattr__
