"""From slices to text: one facade over all renderings, and the memory of earlier answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from depslice.callgraph.arguments import (
    check_choice,
    check_kind,
    check_number,
    check_program,
    check_text,
)
from depslice.callgraph.errors import OptionError
from depslice.callgraph.model import Certainty
from depslice.callgraph.program import Program
from depslice.slicer.limits import check_slicing
from depslice.slicer.memory import key_of, recall, remember
from depslice.slicer.model import GUESSES, Context, RenderedFile, Slice, Strategy
from depslice.slicer.tokens import ESTIMATE, find_tokenizer

FORMATS: Final = ("tree", "module", "bundle", "md", "xml", "json")


def slice_context(
    program: Program,
    targets: Sequence[str],
    *,
    depth: int | None = None,
    budget: int | None = None,
    whole_classes: bool = False,
    format: str = "bundle",  # noqa: A002 - the word users know
    strategy: str = "sliced",
    usages: int = 0,
    spelled: Sequence[str] = (),
    tokenizer: str = ESTIMATE,
    least: Certainty = Certainty.POSSIBLE,
    guesses: int | None = GUESSES,
    progress: Callable[[int], None] | None = None,
) -> tuple[Slice, Context]:
    """Slice and render, or recall what an earlier run found in files that have not changed.

    The slice comes without ``cuts`` when it is recalled. Takes the options, and raises the
    errors, of :func:`~depslice.slicer.slicing.slice_symbols` and :func:`render`.
    """
    depth, budget = check_slicing(
        *(program, targets),
        depth=depth,
        budget=budget,
        whole_classes=whole_classes,
        spelled=spelled,
        tokenizer=tokenizer,
        least=least,
        guesses=guesses,
    )
    _, usages = _check_form(format, strategy, usages, tokenizer)
    bounds = (depth, budget, whole_classes, least, guesses)
    question = (
        *("slice", tuple(targets), tuple(spelled)),
        *(*bounds, format, strategy, usages, tokenizer),
    )
    key = key_of(program, question)
    known: tuple[Slice, Context] | None = recall(program, key)
    if known is not None:
        return known
    # What makes slices is imported where one is made: half the time of an answer that is known.
    from depslice.slicer.slicing import slice_symbols

    found = slice_symbols(
        program,
        targets,
        depth=depth,
        budget=budget,
        whole_classes=whole_classes,
        spelled=spelled,
        tokenizer=tokenizer,
        least=least,
        guesses=guesses,
        progress=progress,
    )
    context = render(
        program, found, format=format, strategy=strategy, usages=usages, tokenizer=tokenizer
    )
    # The cuts are of use only to render it again.
    remember(program, key, (replace(found, cuts=(), without_late=None), context))
    return found, context


def render(
    program: Program,
    found: Slice,
    *,
    format: str = "tree",  # noqa: A002 - the word users know
    strategy: str = "sliced",
    usages: int = 0,
    tokenizer: str = ESTIMATE,
) -> Context:
    """Render a slice.

    ``format``: ``tree`` (the repo's own files, cut), ``module`` (one runnable file),
    ``bundle`` (all files in one text), ``md``, ``xml`` or ``json``. ``strategy``: see
    :class:`Strategy`. ``usages``: how many callers and tests of the targets to add.
    ``tokenizer``: what the size is measured by, see :mod:`depslice.slicer.tokens`.

    :raises OptionError: an unknown format or strategy, or a combination without meaning; what is
        passed is of another type, or a slice that was recalled.
    """
    from depslice.slicer.render.bundle import render_bundle
    from depslice.slicer.render.jsonform import slice_to_json
    from depslice.slicer.render.markup import render_markdown, render_xml

    check_program(program)
    check_kind("found", found, Slice, "a Slice, as slice_symbols makes it")
    chosen, usages = _check_form(format, strategy, usages, tokenizer)
    if found.items and not found.cuts and chosen is Strategy.SLICED:
        raise OptionError(
            "the slice was recalled by slice_context, and has nothing to render",
            hint="slice_symbols makes one that has",
        )
    if format == "module":
        if chosen is not Strategy.SLICED or usages:
            raise OptionError(
                "the module rendering is made of slices alone: no strategy, no usages"
            )
        from depslice.slicer.render.flatten import flatten_and_tell

        name = found.targets[0].partition(":")[2].replace(".", "_") or "module"
        text, told = flatten_and_tell(found)
        flat = RenderedFile(path=f"{name}.py", text=text)
        return replace(_context(strategy, (flat,), tokenizer), diagnostics=tuple(told))
    files = _files(program, found, chosen)
    if usages:
        from depslice.slicer.usages import usage_files

        files = (*files, *usage_files(program, found, usages))
    if format == "tree":
        return _context(strategy, files, tokenizer)
    text = {
        "bundle": lambda: render_bundle(files),
        "md": lambda: render_markdown(found, files),
        "xml": lambda: render_xml(found, files),
        "json": lambda: (
            json.dumps(slice_to_json(found, files=files), indent=2, ensure_ascii=False) + "\n"
        ),
    }[format]()
    suffix = {"bundle": "py", "md": "md", "xml": "xml", "json": "json"}[format]
    one = (RenderedFile(path=f"slice.{suffix}", text=text),)
    # JSON is for tools: its size is that of the code in it, not of the reasons around it.
    return _context(strategy, one, tokenizer, measured=files if format == "json" else one)


def _check_form(format: str, strategy: str, usages: int, tokenizer: str) -> tuple[Strategy, int]:  # noqa: A002
    """The strategy, and the number of usages."""
    check_choice("format", format, FORMATS)
    check_choice("strategy", strategy, (each.value for each in Strategy))
    number = check_number("usages", usages, least=0, optional=False)
    check_text("tokenizer", tokenizer)
    return Strategy(strategy), number


def _files(program: Program, found: Slice, strategy: Strategy) -> tuple[RenderedFile, ...]:
    from depslice.slicer.strategies import full_files, naive_files

    if strategy is Strategy.NAIVE:
        return naive_files(program, found)
    if strategy is Strategy.FULL:
        return full_files(program, found)
    from depslice.slicer.render import render_tree

    return render_tree(found)


def _context(
    strategy: str,
    files: tuple[RenderedFile, ...],
    tokenizer: str,
    *,
    measured: tuple[RenderedFile, ...] | None = None,
) -> Context:
    measure = find_tokenizer(tokenizer)
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.path.encode() + b"\0" + file.data() + b"\0")
    return Context(
        strategy=strategy,
        files=files,
        tokens=sum(measure.count(file.text) for file in (files if measured is None else measured)),
        tokenizer=tokenizer,
        digest=digest.hexdigest(),
    )


__all__ = ["FORMATS", "render"]
