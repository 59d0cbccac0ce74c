"""The facade: slices of one, several, or all functions of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from depslice.callgraph.engine.core import Engine
from depslice.callgraph.errors import OptionError, UnknownTarget
from depslice.callgraph.model import Symbol, SymbolKind
from depslice.callgraph.program import Program
from depslice.slicer.assemble import assemble
from depslice.slicer.budget import BudgetFitter
from depslice.slicer.closure import Slicer
from depslice.slicer.cut import Form
from depslice.slicer.model import Slice
from depslice.slicer.tokens import ESTIMATE, find_tokenizer


def slice_symbols(
    program: Program,
    targets: Sequence[str],
    *,
    depth: int | None = None,
    budget: int | None = None,
    whole_classes: bool = False,
    observed: Sequence[str] = (),
    tokenizer: str = ESTIMATE,
) -> Slice:
    """What the symbols ``targets`` (ids) depend on: R2E, section 2 and appendix A.

    ``depth`` bounds the number of references from a target, ``budget`` the tokens of the
    rendered files, by ``tokenizer``: items nearest the target first, forms step down before
    anything is left out, and the targets are never cut. ``whole_classes`` keeps every
    member of a class that is needed at all. ``observed`` are ids that analysis does not
    find, but an execution showed to be needed: their reason is one step, ``observed``.

    :raises UnknownTarget: an id that no module of the program defines.
    :raises OptionError: a negative depth or budget, no target, an unknown tokenizer.
    :raises TokenizerUnavailable: the tokenizer's package is not installed.
    """
    if not targets:
        raise OptionError("no target to slice")
    if depth is not None and depth < 0:
        raise OptionError(f"the depth must not be negative: {depth}")
    if budget is not None and budget <= 0:
        raise OptionError(f"the budget must be positive: {budget}")
    measure = find_tokenizer(tokenizer)
    forget_engine(program)  # what other slices made it evaluate must not show in this one
    engine = engine_of(program)
    slicer = grow(
        program, engine, targets, depth=depth, whole_classes=whole_classes, observed=observed
    )
    found = assemble(program, slicer, tuple(targets))
    if budget is not None:

        def without(excluded: frozenset[str], forms: Mapping[str, Form]) -> Slice:
            smaller = grow(
                program,
                engine,
                targets,
                depth=depth,
                whole_classes=whole_classes,
                excluded=excluded,
                observed=observed,
            )
            return assemble(program, smaller, tuple(targets), forms)

        fitter = BudgetFitter(program, slicer, found, without=without, tokenizer=measure)
        return fitter.fit(budget)[0]
    return found


def grow(
    program: Program,
    engine: Engine,
    targets: Sequence[str],
    *,
    depth: int | None,
    whole_classes: bool,
    excluded: frozenset[str] = frozenset(),
    observed: Sequence[str] = (),
) -> Slicer:
    """Run the closure of the targets.

    :raises UnknownTarget: an id that no module of the program defines.
    """
    slicer = Slicer(program, engine, depth=depth, whole_classes=whole_classes, excluded=excluded)
    for target in targets:
        module = program.module(target.partition(":")[0])
        if module is None or target not in program.symbol_table(module):
            raise UnknownTarget(f"no symbol {target}")
        slicer.add_target(module, target)
    for name in observed:
        module = program.module(name.partition(":")[0])
        if module is None or name not in program.symbol_table(module):
            raise UnknownTarget(f"no symbol {name}")
        slicer.add_observed(module, name, targets[0])
    slicer.run()
    return slicer


def engine_of(program: Program) -> Engine:
    """The engine whose facts the slice at hand is made of."""
    found = program.attachments.get("slicing-engine")
    if not isinstance(found, Engine):
        found = program.attachments["slicing-engine"] = Engine(program, whole=False)
    return found


def function_symbols(program: Program) -> list[Symbol]:
    """The functions and methods of the program, by path and line; nested ones are left out."""
    found: list[Symbol] = []
    for file in program.project.files:
        module = program.module(file.module)
        if module is not None:
            found.extend(
                symbol
                for symbol in program.symbol_table(module).values()
                if symbol.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD) and "<" not in symbol.id
            )
    return found


def forget_engine(program: Program) -> None:
    """Start the next slice from nothing but the summaries."""
    program.attachments.pop("slicing-engine", None)
