"""What the shell is told when somebody presses Tab where a TARGET or a plug-in's name is to stand.

Never loud: whatever goes wrong, there is nothing to complete. Only the module that the text names
is loaded, so that it takes no longer in a large repository.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from click.shell_completion import BashComplete, CompletionItem, add_completion_class

if TYPE_CHECKING:
    import click

    from depslice.callgraph import Module, Program

_MOST: Final = 500
_SMALL: Final = 400  # files: so many are read for the end of a name
_DEFINED: Final = re.compile(rb"(?m)^[ \t]*(?:async[ \t]+def|def|class)[ \t]+([A-Za-z_]\w*)")


def register() -> None:
    """Have bash, which takes a colon for the end of a word, be told what it wants."""
    add_completion_class(_Bash)


class _Bash(BashComplete):
    """Puts together what bash takes apart: ``pkg.mod:f`` are three words of it."""

    def get_completion_args(self) -> tuple[list[str], str]:
        args, incomplete = super().get_completion_args()
        words = _joined([*args, incomplete])
        self._behind = words[-1].rpartition(":")[1:2] == (":",)
        return words[:-1], words[-1]

    def format_completion(self, item: CompletionItem) -> str:
        # Bash replaces what stands behind the colon.
        if self._behind and item.type == "plain":
            item = CompletionItem(item.value.rpartition(":")[2])
        return super().format_completion(item)


def _joined(words: list[str]) -> list[str]:
    found: list[str] = []
    for word in words:
        behind = bool(found) and found[-1].endswith(":")
        if found and (behind or word == ":"):
            found[-1] += word
        else:
            found.append(word)
    return found


def targets_like(context: click.Context, text: str) -> list[CompletionItem]:
    """The targets of REPO that begin with ``text``."""
    try:
        # Before a value is there that an option wants, Click leaves arguments where they are.
        repo = context.params.get("repo") or context.args[0]
        return [CompletionItem(each) for each in _found(repo, context.params, text)]
    except Exception:  # noqa: BLE001 - a traceback would stand in the middle of what is typed
        return []


def names_like(names: Callable[[], Iterable[str]], text: str) -> list[CompletionItem]:
    """Those of ``names`` that begin with ``text``: of what is built in and of plug-ins."""
    try:
        return [CompletionItem(each) for each in names() if each.startswith(text)]
    except Exception:  # noqa: BLE001 - as above
        return []


def _found(repo: str, given: dict[str, Any], text: str) -> list[str]:
    from depslice.callgraph import open_program

    program = open_program(
        repo,
        cache=None if given.get("no_cache") else "auto",
        include=given.get("include") or (),
        exclude=given.get("exclude") or (),
        respect_gitignore=not given.get("no_gitignore"),
    )
    try:
        found = dict.fromkeys(each for each in _spelled(program, text) if each.startswith(text))
    finally:
        program.close()
    return sorted(found)[:_MOST]


def _spelled(program: Program, text: str) -> Iterator[str]:
    head, colon, _ = text.partition(":")
    if colon:
        file = program.files.get(head) or program.by_path.get(head.removeprefix("./"))
        module = None if file is None else program.module(file.module)
        yield from _members(program, module, f"{head}:")
        return
    names = [name for name in program.files if name.startswith(text)]
    paths = [path for path in program.by_path if text and path.startswith(text)]
    yield from names
    yield from paths
    if len(names) == 1:  # no space behind it: a member may be meant
        yield from _members(program, program.module(names[0]), f"{names[0]}:")
    elif len(paths) == 1:
        yield from _members(
            program, program.module(program.by_path[paths[0]].module), f"{paths[0]}:"
        )
    parts = text.split(".")
    for length in range(len(parts) - 1, 0, -1):
        name = ".".join(parts[:length])
        if name in program.files:
            yield from _members(program, program.module(name), f"{name}.")
            return
    if text and "/" not in text and len(program.files) <= _SMALL:
        yield from _ends(program)


def _members(program: Program, module: Module | None, before: str) -> Iterator[str]:
    for symbol in program.symbol_table(module).values() if module is not None else ():
        if symbol.qualname and "<" not in symbol.qualname:
            yield before + symbol.qualname


def _ends(program: Program) -> Iterator[str]:
    """The names of functions and classes, wherever they are."""
    from depslice.callgraph.project import read_file

    for file in program.project.files:
        try:
            data = read_file(program.project, file)
        except OSError:
            continue
        yield from (match.decode() for match in _DEFINED.findall(data))
