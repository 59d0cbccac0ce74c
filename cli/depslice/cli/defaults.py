"""Defaults of options from ``[tool.depslice]`` in the user's own ``pyproject.toml``.

That is the nearest one upwards from the working directory, not the analysed
repository's: who looks at a stranger's code does not take orders from it. And
since one may stand in a stranger's repository, no default may name a program to
run or a file to write, nor weaken the sandbox, nor say where code and keys are sent or what
that costs, by which caps count.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import click

from depslice.callgraph.errors import OptionError
from depslice.cli.numbers import Number, Whole

_NEVER = frozenset(
    {
        *("pycg-python", "check-python", "run-python", "check", "calls"),
        *("output", "force", "report", "results", "into", "problems", "completions"),
        *("sandbox", "unsafe-no-sandbox", "make-environment"),
        *("base-url", "key-variable", "model", "price"),
    }
)
"""Options that only the command line sets, without their dashes."""
_TOO_LARGE = 10 * 2**20


def defaults_for(command: click.Command, group: click.Context | None = None) -> dict[str, Any]:
    """The defaults that the file sets for ``command``, by parameter name.

    ``group`` is the context of all commands: without it only the command's own table is
    looked at for what there is not.

    ::

        [tool.depslice]            # of every command that has the option
        exclude = ["tests"]
        [tool.depslice.slice]      # of one command; wins
        format = "module"
        [tool.depslice.cache.info] # of a command in a group

    :raises OptionError: the file cannot be read, sets what it may not set, or names a
        command or an option that there is not. The table of another command is that one's business.
    """
    path = _nearest(Path.cwd())
    if path is None:
        return {}
    table = _table(path)
    groups, options = _groups_of(group), _options_of(command)
    names = [*(each.command.name or "" for each in groups[1:]), command.name or ""]
    if groups:
        strange = [name for name in table if name not in options and name != names[0]]
        _refuse_unknown(path, {name: table[name] for name in strange}, groups[0])
    found: dict[str, Any] = {}
    key = "tool.depslice"
    for depth, name in enumerate((*names, "")):
        inside = _commands_in(groups[depth]) if depth < len(groups) else {}
        known = {*options, *inside}.union(*map(_options_of, inside.values())) if depth else {*table}
        for option, value in table.items():
            if option not in known:
                meant = did_you_mean(option, known)
                of = names[depth - 1]
                raise OptionError(f"{path}: {key}.{option}: {of} has no option --{option}{meant}")
            # A command may be called as an option is: `report`.
            is_command = isinstance(value, dict) and (option in inside or not depth)
            if option in options and not is_command:
                if option in _NEVER:
                    raise OptionError(
                        f"{path}: {key}.{option} can only be given on the command line"
                    )
                found.update(_default(path, f"{key}.{option}", options[option], value))
        inner = table.get(name, {})
        key = f"{key}.{name}"
        if not isinstance(inner, dict):
            raise OptionError(f"{path}: {key} must be a table")
        table = inner
    return found


def _groups_of(context: click.Context | None) -> list[click.Context]:
    """The contexts of the groups that a command is in, that of all commands first."""
    found: list[click.Context] = []
    while context is not None:
        found.insert(0, context)
        context = context.parent
    return found


def _commands_in(group: click.Context) -> dict[str, click.Command]:
    """The commands of a group; of all commands none, which would have to be imported."""
    if group.parent is None or not isinstance(group.command, click.Group):
        return {}
    return _taking_defaults(group, group.command.list_commands(group))


def refuse_default(context: click.Context, option: click.Option, message: str) -> NoReturn:
    """Say where the file sets what ``option`` of the command of ``context`` cannot take.

    :raises OptionError: always.
    """
    path = _nearest(Path.cwd())
    table: Any = _table(path) if path is not None else {}
    names = [name for name, each in _options_of(context.command).items() if each is option]
    key = inside = "tool.depslice"
    for each in _groups_of(context)[1:]:
        table, key = table.get(each.command.name, {}), f"{key}.{each.command.name}"
        if any(name in table for name in names):
            inside = key
    raise OptionError(f"{path}: {'.'.join([inside, *names[:1]])}: {message.rstrip('.')}") from None


def _options_of(command: click.Command) -> dict[str, click.Option]:
    """Its long options, without their dashes."""
    return {
        name: parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for name in (opt.removeprefix("--") for opt in parameter.opts if opt.startswith("--"))
    }


def _refuse_unknown(path: Path, table: Mapping[str, Any], group: click.Context) -> None:
    """Raise ``OptionError`` for tables of no command, and for options that none has.

    Only what is not of the command at hand is looked at: the others have to be imported.
    """
    if not table or not isinstance(group.command, click.Group):
        return
    named = group.command.list_commands(group)
    for name, value in table.items():
        key = f"{path}: tool.depslice.{name}"
        if isinstance(value, dict):
            if name in named and _taking_defaults(group, [name]):
                continue
            of = "takes no defaults" if name in named else "is no command"
            meant = did_you_mean(name, _taking_defaults(group, named))
            raise OptionError(f"{key}: {name} {of}{meant}")
        commands = _taking_defaults(group, named).values()
        options = {option for command in commands for option in _options_of(command)}
        if name not in options:
            raise OptionError(
                f"{key}: no command has an option --{name}{did_you_mean(name, options)}"
            )


def _taking_defaults(group: click.Context, names: Iterable[str]) -> dict[str, click.Command]:
    """Those of the commands with these names that the file may set defaults of."""
    assert isinstance(group.command, click.Group)
    found = {name: group.command.get_command(group, name) for name in names}
    return {
        name: command
        for name, command in found.items()
        if command is not None and getattr(command, "takes_defaults", False)
    }


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """What is like ``name``, as the end of a message; empty if nothing is."""
    import difflib

    near = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _default(path: Path, key: str, option: click.Option, value: object) -> dict[str, Any]:
    """What ``value`` sets.

    Of what may be repeated one alone is enough: the same name is an option of one value in
    other commands (``depth``), and a default of all of them.
    """
    assert option.name is not None
    if option.is_flag and not isinstance(value, bool):
        raise OptionError(f"{path}: {key} must be true or false")
    if option.multiple or option.nargs != 1:
        members = value if isinstance(value, list) or option.nargs != 1 else [value]
        is_number = isinstance(option.type, (Whole, Number))
        kinds = (str, int, float) if is_number else (str,)
        if not isinstance(members, list) or not all(type(each) in kinds for each in members):
            of = "numbers" if is_number else "strings"
            raise OptionError(f"{path}: {key} must be a list of {of}")
        return {option.name: members}
    if isinstance(value, (list, dict)):
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
