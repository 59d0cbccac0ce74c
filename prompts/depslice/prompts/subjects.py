"""From a target to the subject of a prompt: its definition, and its context within a limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from depslice.callgraph.arguments import (
    check_choice,
    check_kind,
    check_number,
    check_program,
)
from depslice.callgraph.errors import OptionError
from depslice.callgraph.model import Symbol, SymbolKind
from depslice.callgraph.program import Program
from depslice.prompts.definition import definition_of, hollowed, lines_of
from depslice.prompts.model import Feedback, Subject
from depslice.slicer.model import RenderedFile
from depslice.slicer.rendering import slice_context
from depslice.slicer.tokens import ESTIMATE, find_tokenizer

STRATEGIES: Final = ("sliced", "usages", "full", "naive")
"""``sliced``: the dependency slice; ``usages``: with callers and tests beside it; ``full``: its
file and the files that it imports; ``naive``: the target alone (R2E, section 3.2)."""

LIMIT: Final = 6000
"""Tokens of context at most, as in R2E."""

_USAGES: Final = 3


def subject_of(
    program: Program,
    target: Symbol,
    *,
    strategy: str = "sliced",
    limit: int = LIMIT,
    tokenizer: str = ESTIMATE,
    hide_target: bool = False,
    examples: tuple[str, ...] = (),
    feedback: Feedback | None = None,
) -> Subject:
    """What prompts about ``target`` need. ``limit``: tokens of context.

    :raises OptionError: the target is no function, or there is no such strategy.
    """
    check_program(program)
    check_kind("target", target, Symbol, "a Symbol, as find_symbol gives")
    check_choice("strategy", strategy, STRATEGIES)
    limit = check_number("limit", limit, least=1, optional=False)
    module = program.module(target.module)
    if target.kind not in (SymbolKind.FUNCTION, SymbolKind.METHOD) or module is None:
        raise OptionError(f"{target.id} is a {target.kind.value}: prompts are about functions")
    definition = definition_of(program.text(module), target.qualname, target.span.start)
    files = _context(program, target, strategy, limit, tokenizer)
    if hide_target:
        files = tuple(
            replace(file, text=hollowed(file.text, target.qualname))
            if file.path == target.path
            else file
            for file in files
        )
    return Subject(
        target=target.id,
        module=target.module,
        qualname=target.qualname,
        name=target.qualname.rpartition(".")[2],
        call=definition.call,
        source="" if hide_target else definition.source,
        outline=definition.outline,
        docstring=definition.docstring,
        strategy=strategy,
        files=files,
        is_hidden=hide_target,
        examples=examples,
        feedback=feedback,
    )


def _context(
    program: Program, target: Symbol, strategy: str, limit: int, tokenizer: str
) -> tuple[RenderedFile, ...]:
    sliced = strategy in ("sliced", "usages")
    _, context = slice_context(
        program,
        [target.id],
        budget=limit if sliced else None,
        format="tree",
        strategy="sliced" if sliced else strategy,
        usages=_USAGES if strategy == "usages" else 0,
        tokenizer=tokenizer,
    )
    count = find_tokenizer(tokenizer).count
    if strategy == "full":
        return _fitted(context.files, target, limit, count)
    return _with_usages(context.files, limit, count)


def _with_usages(
    files: tuple[RenderedFile, ...], limit: int, count: Callable[[str], int]
) -> tuple[RenderedFile, ...]:
    """The slice, which has been cut already, and the usages for which there is room."""
    left = limit
    kept = []
    for file in files:
        left -= count(file.text)
        if left >= 0 or not file.path.startswith("usages/"):
            kept.append(file)
    return tuple(kept)


def _fitted(
    files: tuple[RenderedFile, ...], target: Symbol, limit: int, count: Callable[[str], int]
) -> tuple[RenderedFile, ...]:
    """Whole files as far as they fit; the file of the target first, cut around it if it must be."""
    left = limit
    kept: dict[str, RenderedFile] = {}
    for file in sorted(files, key=lambda file: file.path != target.path):
        size = count(file.text)
        if size <= left:
            kept[file.path] = file
            left -= size
        elif file.path == target.path:
            cut = around(file.text, target, limit, count)
            kept[file.path] = replace(file, text=cut)
            left -= count(cut)
    return tuple(kept[file.path] for file in files if file.path in kept)


def around(text: str, target: Symbol, limit: int, count: Callable[[str], int]) -> str:
    """The lines of the target, and as many on both sides as fit; the target is never cut."""
    lines = lines_of(text)
    sizes = [count(line) for line in lines]
    first, last = min(target.span.start, len(lines)), min(target.span.end, len(lines))
    left = limit - sum(sizes[first - 1 : last])
    while left > 0 and (first > 1 or last < len(lines)):
        if first > 1:
            first -= 1
            left -= sizes[first - 1]
        if last < len(lines) and left > 0:
            last += 1
            left -= sizes[last - 1]
    before = "# ...\n" if first > 1 else ""
    after = "# ...\n" if last < len(lines) else ""
    return before + "".join(lines[first - 1 : last]) + after
