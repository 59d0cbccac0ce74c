"""Which sandbox to use: the first that isolates and works here."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from depslice.validator.sandbox.bubblewrap import BubblewrapSandbox
from depslice.validator.sandbox.docker import ContainerSandbox
from depslice.validator.sandbox.model import Sandbox, SandboxUnavailable
from depslice.validator.sandbox.unsafe import UnsafeSandbox

GROUP: Final = "depslice.sandboxes"
_BUILT_IN: Final = (BubblewrapSandbox, ContainerSandbox, UnsafeSandbox)


def all_sandboxes() -> tuple[Sandbox, ...]:
    """Built-in ones in order of preference, then those of plug-ins by name.

    :raises SandboxUnavailable: a plug-in cannot be loaded, or is no sandbox.
    """
    built_in = tuple(each() for each in _BUILT_IN)
    names = {each.name for each in built_in}
    return (*built_in, *(_load(point) for point in _points() if point.name not in names))


def _points() -> Iterator[EntryPoint]:
    yield from sorted(entry_points(group=GROUP), key=lambda point: point.name)


def _load(point: EntryPoint) -> Sandbox:
    try:
        found = point.load()()
    except Exception as error:
        raise SandboxUnavailable(
            f"the sandbox {point.name!r} ({point.value}) cannot be loaded: {error}"
        ) from error
    if not isinstance(found, Sandbox):
        raise SandboxUnavailable(f"{point.value} ({point.name!r}) is not a sandbox")
    return found


def choose_sandbox(name: str | None = None) -> Sandbox:
    """The sandbox called ``name``; without a name, the first that isolates and works here.

    :raises SandboxUnavailable: there is none, and why.
    """
    found = all_sandboxes()
    if name is not None:
        for sandbox in found:
            if sandbox.name == name:
                return _working(sandbox)
        known = ", ".join(sandbox.name for sandbox in found)
        raise SandboxUnavailable(f"no sandbox is called {name!r}", hint=f"there are: {known}")
    reasons = []
    remedies = []
    for sandbox in found:
        if not sandbox.isolates:
            continue
        availability = sandbox.availability()
        if availability.ok:
            return sandbox
        reasons.append(f"{sandbox.name}: {availability.reason}")
        remedies.append(availability.remedy)
    raise SandboxUnavailable(
        f"no sandbox works here ({'; '.join(reasons)})",
        hint=next(filter(None, remedies), "`depslice doctor` tells more"),
    )


def _working(sandbox: Sandbox) -> Sandbox:
    availability = sandbox.availability()
    if not availability.ok:
        raise SandboxUnavailable(
            f"the sandbox {sandbox.name} does not work here: {availability.reason}",
            hint=availability.remedy,
        )
    return sandbox
