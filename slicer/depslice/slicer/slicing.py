"""The facade: slices of one, several, or all functions of a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from depslice.callgraph.engine.core import Engine
from depslice.callgraph.model import Certainty, Symbol
from depslice.callgraph.program import Program
from depslice.callgraph.resting import without_collection
from depslice.slicer.assemble import assemble
from depslice.slicer.budget import BudgetFitter
from depslice.slicer.closure import Closure, grow_closure
from depslice.slicer.limits import check_slicing
from depslice.slicer.model import GUESSES, Slice
from depslice.slicer.tokens import ESTIMATE, find_tokenizer

_PER_ITEM: Final = 16
"""The tokens that most items take, a third of them in full, with what is around them."""
_MOST_ANYHOW: Final = 50


@without_collection()
def slice_symbols(
    program: Program,
    targets: Sequence[str],
    *,
    depth: int | None = None,
    budget: int | None = None,
    whole_classes: bool = False,
    observed: Sequence[str] = (),
    spelled: Sequence[str] = (),
    tokenizer: str = ESTIMATE,
    least: Certainty = Certainty.POSSIBLE,
    guesses: int | None = GUESSES,
    progress: Callable[[int], None] | None = None,
) -> Slice:
    """What the symbols ``targets`` (ids) depend on: R2E, section 2 and appendix A.

    ``depth`` bounds the number of references from a target, ``budget`` the tokens of the
    rendered files, by ``tokenizer``: items nearest the target first, forms step down before
    anything is left out, and the targets are never cut. ``whole_classes`` keeps every
    member of a class that is needed at all. ``observed`` are ids that analysis does not
    find, but an execution showed to be needed: their reason is one step, ``observed``. ``spelled``
    are names of module scopes (``pkg:Name``) by which the targets are to be importable too, such as
    :func:`~depslice.callgraph.targets.find_spelled` tells. ``least`` is how certain a reference has
    to be to be followed: with ``LIKELY``, what only a guess reaches (a receiver nobody knows) is
    left out, with ``DEFINITE`` also what is one of a few that can be meant (overrides, callbacks),
    so that the slice may lack something. ``guesses`` is how many guesses are followed in a row, on
    the way with the fewest (``None``: any number): what is only there if several are right hardly
    ever is (``benchmarks/guesses.py``), and in large packages it is most of what there is.
    ``progress`` is told again and again how many definitions have been found so far.

    :raises UnknownTarget: an id that no module of the program defines.
    :raises OptionError: a negative depth or budget, no target or none that is an id in a list, an
        unknown tokenizer or certainty.
    :raises TokenizerUnavailable: the tokenizer's package is not installed.
    """
    depth, budget = check_slicing(
        *(program, targets),
        depth=depth,
        budget=budget,
        whole_classes=whole_classes,
        observed=observed,
        spelled=spelled,
        tokenizer=tokenizer,
        least=least,
        guesses=guesses,
    )
    measure = find_tokenizer(tokenizer)
    most = None if budget is None else items_within(budget)
    while True:
        forget_engine(program)  # what other slices made it evaluate must not show in this one
        closure = grow_closure(
            program,
            engine_of(program),
            targets,
            depth=depth,
            whole_classes=whole_classes,
            observed=observed,
            spelled=spelled,
            least=least,
            guesses=guesses,
            most=most,
            progress=progress,
        )
        found = replace(assemble(program, closure, tuple(targets)), spelled=tuple(spelled))
        if budget is None or most is None:
            if closure.without_late is None:
                return found
            once = assemble(program, closure.without_late, tuple(targets))
            return replace(found, without_late=once, late=closure.late)
        # What a budget has no room for is not looked for: what is nearest is found first, and a
        # function from which all of a large package is reached would cost as much as all of it.
        fitter = BudgetFitter(program, closure, found, tokenizer=measure)
        is_whole = all(each.why != "budget" for each in found.omitted)
        if is_whole or fitter.size() > budget:
            return fitter.fit(budget)[0]
        most *= 2  # all of it has room, in full


@without_collection()
def slice_with_closure(
    program: Program,
    target: str,
    *,
    whole_classes: bool = False,
    guesses: int | None = GUESSES,
) -> tuple[Slice, Closure]:
    """The whole slice of a target, and what it was made of.

    :raises UnknownTarget: see :func:`slice_symbols`.
    """
    forget_engine(program)  # what others made it evaluate must not show in this one
    closure = grow_closure(
        program,
        engine_of(program),
        [target],
        depth=None,
        whole_classes=whole_classes,
        guesses=guesses,
    )
    return assemble(program, closure, (target,)), closure


def items_within(budget: int) -> int:
    """How many items are looked for at first that are to be shown within a budget."""
    return budget // _PER_ITEM + _MOST_ANYHOW


def engine_of(program: Program) -> Engine:
    """The engine whose facts the slice at hand is made of."""
    found = program.attachments.get("slicing-engine")
    if not isinstance(found, Engine):
        found = program.attachments["slicing-engine"] = Engine(program, whole=False)
    return found


def function_symbols(program: Program) -> list[Symbol]:
    """The functions and methods of the program, by path and line; nested ones are left out.

    :raises OptionError: ``program`` is none.
    """
    from depslice.callgraph.references import list_functions  # graphs are no part of slices

    return [symbol for symbol in list_functions(program, workers=1) if "<" not in symbol.id]


def forget_engine(program: Program) -> None:
    """Start the next slice from nothing but the summaries."""
    engine = program.attachments.pop("slicing-engine", None)
    if isinstance(engine, Engine):
        engine.conclude()
        engine.release()
