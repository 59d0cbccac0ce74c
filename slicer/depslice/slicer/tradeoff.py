"""What a smaller or larger context costs, and what it loses: tokens against definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

from depslice.callgraph.arguments import check_kind, check_number
from depslice.callgraph.counting import counted
from depslice.callgraph.model import Certainty, SymbolKind
from depslice.callgraph.program import Program
from depslice.slicer.assemble import assemble
from depslice.slicer.budget import BudgetFitter, files_size, slice_size
from depslice.slicer.closure import Closure, grow_closure
from depslice.slicer.cut import Form
from depslice.slicer.memory import key_of, recall, remember
from depslice.slicer.model import Slice
from depslice.slicer.slicing import (
    engine_of,
    forget_engine,
    items_within,
    slice_symbols,
    slice_with_closure,
)
from depslice.slicer.strategies import Strategy, full_files, naive_files
from depslice.slicer.tokens import ESTIMATE, Tokenizer, find_tokenizer
from depslice.slicer.usages import usage_files

AXES: Final = ("strategy", "certainty", "depth", "budget", "form")
_SMALLEST_BUDGET: Final = 250
_EVERY_DEPTH: Final = 8
# From so many definitions on, a depth takes nearly as long as the slice itself.
_LARGE: Final = 2000

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A definition of the complete slice that a context shows smaller, or not at all.

    ``form`` is what is left of it; ``None`` when nothing is.
    """

    symbol: str
    distance: int
    form: Form | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One context of a target: what it costs, and what of the complete slice it has.

    ``axis`` is the option that is varied, ``value`` its value: a :class:`Strategy` or
    ``sliced+usages``, how certain references are, a depth, a budget in tokens, a form for all items but the target.
    ``items`` counts the definitions that are shown, those outside the slice included;
    ``lost`` is by distance, then id.
    """

    axis: str
    value: str | int
    tokens: int
    items: int
    lost: tuple[Loss, ...]

    @property
    def left_out(self) -> int:
        """How many definitions of the slice are not shown at all."""
        return sum(loss.form is None for loss in self.lost)

    def in_form(self, form: Form) -> int:
        """How many definitions of the slice are shown in that smaller form."""
        return sum(loss.form is form for loss in self.lost)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tradeoff:
    """The contexts of one target, by axis. ``items`` and ``tokens`` are the complete slice's."""

    target: str
    tokenizer: str
    items: int
    tokens: int
    points: tuple[Point, ...]

    def along(self, axis: str) -> tuple[Point, ...]:
        """The points of one axis, in order."""
        return tuple(point for point in self.points if point.axis == axis)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The complete slice of a target with what measured it, for those who ask further."""

    tradeoff: Tradeoff
    found: Slice
    closure: Closure
    fitter: BudgetFitter


def tradeoff_of(
    program: Program,
    target: str,
    *,
    tokenizer: str = ESTIMATE,
    depths: Sequence[int] | None = None,
    budgets: Sequence[int] | None = None,
    usages: int = 3,
    whole_classes: bool = False,
    progress: Progress | None = None,
) -> Tradeoff:
    """The tradeoff of the symbol ``target`` (an id), or what an earlier run found of it.

    ``depths`` are by default those of :func:`default_depths` up to the depth of the slice;
    ``budgets`` 250 tokens and its doubles, as far as they bind. ``usages`` is how many
    callers and tests ``sliced+usages`` adds. Every point is what ``slice`` gives with these options.

    :raises UnknownTarget: no module of the program defines it.
    :raises OptionError: a negative depth, a budget that is not positive, an unknown tokenizer.
    :raises TokenizerUnavailable: the tokenizer's package is not installed.
    """
    depths, budgets = _listed("depths", depths, 0), _listed("budgets", budgets, 1)
    usages = check_number("usages", usages, least=0, optional=False)
    listed = (depths, budgets)
    question = ("tradeoff", target, tokenizer, *listed, usages, whole_classes)
    key = key_of(program, question)
    known: Tradeoff | None = recall(program, key)
    if known is not None:
        return known
    measured = measure(
        program,
        target,
        tokenizer=tokenizer,
        depths=depths,
        budgets=budgets,
        usages=usages,
        whole_classes=whole_classes,
        progress=progress,
    )
    remember(program, key, measured.tradeoff)
    return measured.tradeoff


def measure(
    program: Program,
    target: str,
    *,
    tokenizer: str,
    depths: Sequence[int] | None = None,
    budgets: Sequence[int] | None = None,
    usages: int = 3,
    whole_classes: bool = False,
    sparse: bool = False,
    progress: Progress | None = None,
) -> Measured:
    """As :func:`tradeoff_of`, always anew, and with the slice itself.

    ``sparse``: by default fewer depths of a large slice, each twice the one before.
    """
    depths, budgets = _listed("depths", depths, 0), _listed("budgets", budgets, 1)
    say = progress or _silent
    counter = find_tokenizer(tokenizer)
    say("slice")
    found, closure = slice_with_closure(program, target, whole_classes=whole_classes)
    forget_engine(program)
    by_depth = _by_depth(
        program,
        target,
        found,
        depths=_doubled_depths() if depths is None and sparse and _is_large(found) else depths,
        whole_classes=whole_classes,
        say=say,
    )
    fitter = BudgetFitter(program, closure, found, tokenizer=counter)
    points = [*_strategies(program, found, fitter.size(), usages, counter, say)]
    for least in (Certainty.DEFINITE, Certainty.LIKELY):
        say(f"{least.value} references")
        surer = assemble(
            program,
            grow_closure(
                program,
                engine_of(program),
                [target],
                depth=None,
                whole_classes=whole_classes,
                least=least,
            ),
            (target,),
        )
        size = slice_size(surer, counter)
        points.append(_point("certainty", least.value, size, found, surer))
    for depth, smaller in by_depth:
        points.append(_point("depth", depth, slice_size(smaller, counter), found, smaller))
    for budget in default_budgets(fitter) if budgets is None else budgets:
        say(f"budget {budget:,}")
        if len(closure.distances) <= items_within(budget):
            smaller, size = fitter.fit(budget)
        else:
            smaller = slice_symbols(
                program, [target], budget=budget, whole_classes=whole_classes, tokenizer=tokenizer
            )
            size = slice_size(smaller, counter)
        points.append(_point("budget", budget, size, found, smaller))
    points += _forms(found, fitter)
    return Measured(
        tradeoff=Tradeoff(
            target=target,
            tokenizer=tokenizer,
            items=len(found.items),
            tokens=fitter.size(),
            points=tuple(points),
        ),
        found=found,
        closure=closure,
        fitter=fitter,
    )


def mean_of(found: Sequence[Tradeoff]) -> Tradeoff:
    """The rounded means of several tradeoffs, for the points that all of them have.

    A slice that is complete at a smaller depth, or within a smaller budget, counts as such.
    ``lost`` is empty: definitions of different slices have no mean.
    """
    keys = dict.fromkeys((point.axis, point.value) for each in found for point in each.points)
    points = []
    for axis, value in keys:
        there = [_at(each, axis, value) for each in found]
        points.append(
            Point(
                axis=axis,
                value=value,
                tokens=round(fmean(point.tokens for point in there)),
                items=round(fmean(point.items for point in there)),
                lost=(),
            )
        )
    axes = {axis: place for place, axis in enumerate(AXES)}
    # Strategies and forms have their order; numbers of several targets are merged.
    points.sort(key=lambda p: (axes[p.axis], p.value if isinstance(p.value, int) else 0))
    return Tradeoff(
        target=f"mean of {len(found)} targets",
        tokenizer=found[0].tokenizer,
        items=round(fmean(each.items for each in found)),
        tokens=round(fmean(each.tokens for each in found)),
        points=tuple(points),
    )


def _at(found: Tradeoff, axis: str, value: str | int) -> Point:
    """The point, or the one that the tradeoff has in its place.

    Past its last number the slice is complete; below its first budget there is only the
    target, which is never cut.
    """
    points = found.along(axis)
    for point in points:
        if point.value == value:
            return point
        if isinstance(point.value, int) and isinstance(value, int) and value < point.value:
            return point
    [whole] = (p for p in found.points if (p.axis, p.value) == ("strategy", "sliced"))
    return whole


def default_budgets(fitter: BudgetFitter, *, step: float = 2.0) -> list[int]:
    """Budgets that bind, from 250 tokens on, each ``step`` times the one before.

    The first is the largest that no smaller one differs from, since targets are never cut.
    """
    whole = fitter.size()
    if not fitter.outermost:
        return []
    least = fitter.least()
    found: list[int] = []
    budget = float(_SMALLEST_BUDGET)
    while budget < whole:
        if budget * step > least:
            found.append(round(budget))
        budget *= step
    return found


def default_depths() -> Iterator[int]:
    """Every depth up to 8, then two for each time that it doubles: 12, 16, 24, 32, …"""
    yield from range(_EVERY_DEPTH)
    double = _EVERY_DEPTH
    while True:
        yield double
        yield double * 3 // 2
        double *= 2


def _doubled_depths() -> Iterator[int]:
    yield 0
    depth = 1
    while True:
        yield depth
        depth *= 2


def _is_large(found: Slice) -> bool:
    return len(found.items) > _LARGE


def _by_depth(
    program: Program,
    target: str,
    whole: Slice,
    *,
    depths: Sequence[int] | Iterator[int] | None,
    whole_classes: bool,
    say: Progress,
) -> list[tuple[int, Slice]]:
    """The slices of growing depth, up to the ``whole`` one, or all of a list of ``depths``.

    They share one engine: a slice evaluates what the shallower ones have, and more, so that but for
    what meets in places that are full it finds what it would find alone.
    """
    engine = engine_of(program)
    listed = isinstance(depths, Sequence)
    count = counted(len(whole.items), "definition")
    reason = f" ({count}: a depth takes about as long as the slice)" if _is_large(whole) else ""
    found: list[tuple[int, Slice]] = []
    for depth in default_depths() if depths is None else depths:
        say(f"depth {depth}{reason}")
        closure = grow_closure(program, engine, [target], depth=depth, whole_classes=whole_classes)
        if all(why != "depth" for why, _ in closure.omitted.values()):
            found.append((depth, whole))
            if not listed:
                break
        else:
            found.append((depth, assemble(program, closure, (target,))))
    return found


def _strategies(
    program: Program, found: Slice, tokens: int, usages: int, counter: Tokenizer, say: Progress
) -> Iterable[Point]:
    naive = naive_files(program, found)
    targets = [item for item in found.items if item.is_target]
    yield Point(
        axis="strategy",
        value=Strategy.NAIVE.value,
        tokens=files_size(naive, counter),
        items=len(targets),
        lost=_lost(found, dict.fromkeys((item.symbol.id for item in targets), Form.FULL)),
    )
    yield _point("strategy", Strategy.SLICED.value, tokens, found, found)
    if usages:
        say("usages")
        shown = usage_files(program, found, usages)
        tokens += files_size(shown, counter)
        more = _point("strategy", "sliced+usages", tokens, found, found)
        yield more
    say("full")
    files = full_files(program, found)
    paths = {file.path for file in files}
    yield Point(
        axis="strategy",
        value=Strategy.FULL.value,
        tokens=files_size(files, counter),
        items=sum(_definitions(program, path) for path in paths),
        lost=_lost(found, {i.symbol.id: Form.FULL for i in found.items if i.symbol.path in paths}),
    )


def _forms(found: Slice, fitter: BudgetFitter) -> Iterable[Point]:
    for form in (Form.FULL, Form.SIGNATURE, Form.NAME):
        smaller = replace(
            found,
            items=tuple(i if i.is_target else replace(i, form=form) for i in found.items),
        )
        yield _point("form", form.value, fitter.size(form), found, smaller)


def _point(axis: str, value: str | int, tokens: int, found: Slice, smaller: Slice) -> Point:
    return Point(
        axis=axis,
        value=value,
        tokens=tokens,
        items=len(smaller.items),
        lost=_lost(found, {item.symbol.id: item.form for item in smaller.items}),
    )


def _lost(found: Slice, forms: dict[str, Form]) -> tuple[Loss, ...]:
    return tuple(
        Loss(symbol=item.symbol.id, distance=item.distance, form=forms.get(item.symbol.id))
        for item in found.items
        if forms.get(item.symbol.id) is not Form.FULL
    )


def _definitions(program: Program, path: str) -> int:
    module = program.module(program.by_path[path].module)
    assert module is not None
    kinds = Counter(
        symbol.kind for symbol in program.symbol_table(module).values() if "<" not in symbol.id
    )
    return kinds.total() - kinds[SymbolKind.MODULE]


def _listed(name: str, values: Sequence[int] | None, least: int) -> tuple[int, ...] | None:
    if values is None:
        return None
    check_kind(name, values, Sequence, "a list of numbers, or None")
    numbers = {check_number(name, value, least=least, optional=False) for value in values}
    return tuple(sorted(numbers))


def _silent(_what: str) -> None:
    pass
