"""Defaults of options from ``[tool.depslice]`` in the user's own ``pyproject.toml``.

That is the nearest one upwards from the working directory, not the analysed
repository's: who looks at a stranger's code does not take orders from it. And
since one may stand in a stranger's repository, no default may name a program to
run or a file to write, nor weaken the sandbox.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from depslice.callgraph.errors import OptionError

_NEVER = frozenset(
    {
        *("pycg_python", "check_python", "run_python", "check", "calls"),
        *("output_path", "force", "report", "results"),
        *("sandbox", "unsafe_no_sandbox", "make_environment"),
    }
)
_TOO_LARGE = 10 * 2**20


def defaults_for(command: click.Command) -> dict[str, Any]:
    """The defaults that the file sets for ``command``, by parameter name.

    ::

        [tool.depslice]            # of every command that has the option
        exclude = ["tests"]
        [tool.depslice.slice]      # of one command; wins
        format = "module"

    :raises OptionError: the file cannot be read, or sets what it may not set. Options
        no command has are an error of the command they are set for.
    """
    path = _nearest(Path.cwd())
    if path is None:
        return {}
    table = _table(path)
    options = {
        name: parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for name in (opt.removeprefix("--") for opt in parameter.opts if opt.startswith("--"))
    }
    found: dict[str, Any] = {}
    for name, value in table.items():
        if not isinstance(value, dict) and name in options:
            found.update(_default(path, f"tool.depslice.{name}", options[name], value))
    own = table.get(command.name or "")
    for name, value in own.items() if isinstance(own, dict) else ():
        key = f"tool.depslice.{command.name}.{name}"
        if name not in options:
            raise OptionError(f"{path}: {key}: {command.name} has no option --{name}")
        found.update(_default(path, key, options[name], value))
    return found


def _default(path: Path, key: str, option: click.Option, value: object) -> dict[str, Any]:
    assert option.name is not None
    if option.name in _NEVER:
        raise OptionError(f"{path}: {key} can only be given on the command line")
    if option.is_flag and not isinstance(value, bool):
        raise OptionError(f"{path}: {key} must be true or false")
    if option.multiple:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise OptionError(f"{path}: {key} must be a list of strings")
    elif isinstance(value, (list, dict)):
        raise OptionError(f"{path}: {key} must be a single value")
    return {option.name: value}


def _nearest(directory: Path) -> Path | None:
    for folder in (directory, *directory.parents):
        path = folder / "pyproject.toml"
        if os.path.isfile(path):
            return path
    return None


def _table(path: Path) -> Mapping[str, Any]:
    try:
        data = path.read_bytes() if path.stat().st_size < _TOO_LARGE else b""
    except OSError:
        return {}  # somebody else's, above us
    if b"depslice" not in data:
        return {}
    import tomllib

    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise OptionError(f"{path}: {error}") from None
    tool = document.get("tool")
    table = tool.get("depslice") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise OptionError(f"{path}: tool.depslice must be a table")
    return table or {}
