"""The questions: each a function from a program to an answer, without memory or side effects."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeVar

from depslice.callgraph.errors import AmbiguousTarget, OptionError, UnknownTarget
from depslice.callgraph.graph import ReferenceGraph, is_external
from depslice.callgraph.model import Certainty, Reference, ReferenceKind, Symbol
from depslice.callgraph.program import Program
from depslice.callgraph.targets import Spelled, find_spelled
from depslice.prompts.subjects import around
from depslice.server.answers import (
    CallEdge,
    CallsAnswer,
    ChainStep,
    Cut,
    EffectOfImport,
    ExplanationAnswer,
    Gap,
    Place,
    SliceAnswer,
    SlicedDefinition,
    StatsAnswer,
    SymbolsAnswer,
)
from depslice.slicer import Context, Slice, explain_symbol, render, slice_symbols
from depslice.slicer.cut import Form
from depslice.slicer.explaining import SourceLines, effects_of
from depslice.slicer.model import GUESSES
from depslice.slicer.slicing import slice_with_closure
from depslice.slicer.tokens import count_tokens

# What an answer has at most, unless more is asked for. Models read these.
ANSWER_TOKENS: Final = 12_000
_WITHIN: Final = 11_500  # with headings, and as one module
_DEFINITIONS: Final = 200
_UNRESOLVED: Final = 40
_OMITTED: Final = 40
_STEPS: Final = 60
_SITES: Final = 5
_CODE: Final = 300
_EFFECTS: Final = 3
_EXTERNALS: Final = 100
_CANDIDATES: Final = 5

_T = TypeVar("_T")
Direction = Literal["callees", "callers", "both"]


class OutsideRepository(UnknownTarget):
    """A path leads out of the repository that is served."""

    slug = "outside-repository"


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceOptions:
    """How to slice and show; the options of ``depslice slice``."""

    depth: int | None = None
    budget: int | None = None
    certainty: Literal["definite", "likely", "possible"] = "possible"
    guesses: int | None = GUESSES
    format: Literal["bundle", "module"] = "bundle"
    strategy: Literal["sliced", "naive", "full"] = "sliced"
    usages: int = 0
    whole_classes: bool = False


def named_symbol(program: Program, text: str) -> Symbol:
    """The symbol that ``text`` names, as :func:`~depslice.callgraph.find_symbol` finds it.

    :raises OutsideRepository: it names a path outside of the repository.
    :raises UnknownTarget: nothing has that name; ``candidates`` are the nearest.
    """
    return _named(program, text).symbol


def _named(program: Program, text: str) -> Spelled:
    """What ``text`` names, and the re-exports by which it does.

    :raises OutsideRepository: it names a path outside of the repository.
    :raises UnknownTarget: nothing has that name; ``candidates`` are the nearest.
    """
    path = text.strip().partition(":")[0]
    if path.startswith("~") or "/" in path or os.sep in path:
        root = str(program.project.root)
        absolute = os.path.normpath(os.path.join(root, path))
        if path.startswith("~") or os.path.commonpath([root, absolute]) != root:
            name = "/" + os.path.basename(path)
            inside = [known for known in program.by_path if f"/{known}".endswith(name)]
            raise OutsideRepository(
                f"{path} is outside of the repository that is served",
                candidates=tuple(inside[:_CANDIDATES]),
                hint="paths are relative to its root",
            )
    return find_spelled(program, text)


def find_symbols(program: Program, query: str, *, limit: int) -> SymbolsAnswer:
    """What ``query`` names: one symbol, or those that it may be.

    :raises UnknownTarget: nothing; ``candidates`` are the nearest.
    """
    try:
        found = [named_symbol(program, query)]
        exact = True
    except AmbiguousTarget as error:
        named = (_symbol(program, candidate) for candidate in error.candidates)
        found = [symbol for symbol in named if symbol is not None]
        exact = False
        if not found:  # files, of which a path's end was given
            raise
    shown, cut = _bounded("symbols", [_place(symbol) for symbol in found], limit)
    return SymbolsAnswer(query=query, exact=exact, symbols=shown, cut=cut)


def _refuse_bounds(options: SliceOptions) -> None:
    """As the command line does: who asks for a depth would take the answer for one of that depth."""
    usual = SliceOptions()
    given = [
        name
        for name in ("depth", "certainty", "guesses", "whole_classes")
        if getattr(options, name) != getattr(usual, name)
    ]
    if options.strategy != "sliced" and given:
        raise OptionError(
            f"{' and '.join(given)}: of slices alone, not of strategy {options.strategy}"
        )


def slice_function(program: Program, target: str, options: SliceOptions) -> SliceAnswer:
    """The dependency slice of ``target``, as code.

    Without a budget an answer has no more than :data:`ANSWER_TOKENS`: of a slice, the farthest
    definitions are shown as signatures and names, then left out. Of whole files, what is
    farthest from the target's own goes first, then lines of that which are far from the target.

    :raises UnknownTarget: see :func:`named_symbol`.
    """
    _refuse_bounds(options)
    named = _named(program, target)
    symbol = named.symbol
    limit = max(ANSWER_TOKENS, options.budget or 0)
    # A slice is cut to its budget by definitions, other files by lines.
    is_slice = options.strategy == "sliced"
    budget = (options.budget or _WITHIN) if is_slice else None
    found, context = _sliced(program, named, options, budget)
    cut: list[Cut] = []
    smaller = sum(item.form is not Form.FULL for item in found.items)
    left_out = sum(each.why == "budget" for each in found.omitted)
    if is_slice and options.budget is None and (smaller or left_out):
        cut.append(
            Cut(
                what="definitions of the slice",
                shown=len(found.items) - smaller,
                total=len(found.items) + left_out,
                why=f"an answer has up to {limit} tokens: the farthest {smaller} are shown as"
                f" signatures or names, {left_out} are left out, with what only those reach;"
                " give a budget, a depth or a certainty for another choice",
            )
        )
    if options.format == "module":
        text, left = _shortened(context.files[0].text, context.files[0].text, limit)
    else:
        most = limit if is_slice else options.budget or ANSWER_TOKENS
        text, left = _fitting(context, symbol, most)
    if left is not None:
        cut.append(left)
    definitions, no_definitions = _bounded(
        "definitions",
        [
            SlicedDefinition(
                id=item.symbol.id,
                kind=item.symbol.kind.value,
                path=item.symbol.path,
                start=item.symbol.span.start,
                end=item.symbol.span.end,
                distance=item.distance,
                form=item.form.value,
            )
            for item in found.items
        ],
        _DEFINITIONS,
    )
    unresolved, no_unresolved = _bounded(
        "unresolved",
        [
            Gap(source=each.source, name=each.name, reason=each.reason, line=each.site.line)
            for each in found.unresolved
        ],
        _UNRESOLVED,
    )
    omitted, no_omitted = _bounded("omitted", [each.symbol for each in found.omitted], _OMITTED)
    externals, no_externals = _bounded("externals", _externals(found), _EXTERNALS)
    return SliceAnswer(
        target=symbol.id,
        format=options.format,
        text=text,
        tokens=count_tokens(text),
        tokenizer=context.tokenizer,
        definitions=definitions,
        externals=externals,
        unresolved=unresolved,
        omitted=omitted,
        cut=(*cut, *no_definitions, *no_unresolved, *no_omitted, *no_externals),
    )


def slice_stats(program: Program, target: str, *, whole_classes: bool = False) -> StatsAnswer:
    """How large the slice of ``target`` is, and of what it consists.

    :raises UnknownTarget: see :func:`named_symbol`.
    """
    symbol = named_symbol(program, target)
    found = slice_symbols(program, [symbol.id], whole_classes=whole_classes)
    sizes = {
        strategy: render(program, found, format="bundle", strategy=strategy)
        for strategy in ("naive", "sliced", "full")
    }
    distances = Counter(item.distance for item in found.items)
    externals, cut = _bounded("externals", _externals(found), _EXTERNALS)
    return StatsAnswer(
        target=symbol.id,
        definitions=len(found.items),
        files=len({item.symbol.path for item in found.items}),
        lines=sizes["sliced"].files[0].text.count("\n"),
        by_kind=dict(sorted(Counter(item.symbol.kind.value for item in found.items).items())),
        by_distance=tuple(distances[n] for n in range(max(distances, default=0) + 1)),
        tokens={strategy: context.tokens for strategy, context in sizes.items()},
        tokenizer=sizes["sliced"].tokenizer,
        externals=externals,
        unresolved=dict(sorted(Counter(each.reason for each in found.unresolved).items())),
        cut=cut,
    )


def explain_slice(
    program: Program, target: str, symbol: str, *, whole_classes: bool = False
) -> ExplanationAnswer:
    """Why ``symbol`` is in the slice of ``target``, or that it is not.

    :raises UnknownTarget: see :func:`named_symbol`.
    """
    wanted, asked = named_symbol(program, target), named_symbol(program, symbol)
    found, closure = slice_with_closure(program, wanted.id, whole_classes=whole_classes)
    explanation = explain_symbol(found, asked.id)
    lines = SourceLines(program)
    chain, cut = _bounded(
        "chain",
        [
            ChainStep(
                source=step.source,
                target=step.target,
                kind=step.kind.value,
                certainty=step.certainty.value,
                evidence=step.evidence,
                path=step.path,
                line=step.site.line,
                code=lines.of(step)[:_CODE],
                effects=tuple(
                    EffectOfImport(
                        path=each.path,
                        line=each.line,
                        code=lines.at(each.path, each.line)[:_CODE],
                        item=each.item,
                    )
                    for each in effects_of(program, closure, [wanted.id], step)[:_EFFECTS]
                ),
            )
            for step in explanation.chain
        ],
        _STEPS,
    )
    return ExplanationAnswer(
        target=wanted.id,
        symbol=asked.id,
        in_slice=explanation.item is not None,
        item=None if explanation.item is None else explanation.item.symbol.id,
        chain=chain,
        nearest=explanation.nearest,
        cut=cut,
    )


def calls_around(
    program: Program,
    graph: ReferenceGraph,
    target: str,
    *,
    direction: Direction,
    depth: int,
    limit: int,
    least: Certainty,
) -> CallsAnswer:
    """The calls within ``depth`` steps of ``target`` in ``graph``, the nearest ``limit`` of them.

    Those that are at least as certain as ``least``, and stay in the repository.

    Those of a class are its members', those of a module its definitions'. Code inside of the
    target is its own: it is no caller of the target, but where it calls the very target.

    :raises UnknownTarget: see :func:`named_symbol`; or ``graph`` was made before the symbol was.
    """
    symbol = named_symbol(program, target)
    if symbol.id not in graph:
        raise UnknownTarget(
            f"{symbol.id} is newer than the last call graph", hint="ask without allow_stale"
        )
    starts = graph.inside(symbol.id)
    edges: dict[tuple[str, str], CallEdge] = {}
    for forward in (True, False):
        if direction == ("callers" if forward else "callees"):
            continue
        for distance, each in _calls(graph, starts, depth, least, forward=forward):
            is_own = each.source in starts and each.target in starts
            if is_own and not forward and each.target != symbol.id:
                continue
            edges.setdefault((each.source, each.target), _edge(graph, each, distance))
    nearest = sorted(edges.values(), key=lambda e: (e.distance, e.caller, e.callee))
    calls, cut = _bounded("calls", nearest, limit)
    return CallsAnswer(target=symbol.id, direction=direction, depth=depth, calls=calls, cut=cut)


# --- slices that fit


def _sliced(
    program: Program, named: Spelled, options: SliceOptions, budget: int | None
) -> tuple[Slice, Context]:
    found = slice_symbols(
        program,
        [named.symbol.id],
        spelled=named.names,
        depth=options.depth,
        budget=budget,
        whole_classes=options.whole_classes,
        least=Certainty(options.certainty),
        guesses=options.guesses,
    )
    format_ = "module" if options.format == "module" else "tree"
    context = render(
        program, found, format=format_, strategy=options.strategy, usages=options.usages
    )
    return found, context


def _fitting(context: Context, symbol: Symbol, limit: int) -> tuple[str, Cut | None]:
    """The files in one text; of what is too much, whole files first, the target's own last."""
    from depslice.slicer.render import render_bundle

    files = list(context.files)
    # In dependency order what comes first is farthest away.
    dispensable = [file for file in files if file.path != symbol.path]
    while dispensable and sum(count_tokens(file.text) for file in files) > limit:
        files.remove(dispensable.pop(0))
    whole = render_bundle(context.files)
    if context.strategy == "sliced":
        return _shortened(render_bundle(files), whole, limit)
    # The target's own file, whole or around the target; the target alone is never cut.
    left = limit - sum(count_tokens(file.text) for file in files if file.path != symbol.path)
    if context.strategy == "full":
        files = [
            replace(file, text=around(file.text, symbol, left, count_tokens))
            if file.path == symbol.path and count_tokens(file.text) > left
            else file
            for file in files
        ]
    text = render_bundle(files)
    return text, _cut_of(text, whole, limit)


def _shortened(text: str, whole: str, limit: int) -> tuple[str, Cut | None]:
    if count_tokens(text) > limit:
        text = text[: 4 * limit].rpartition("\n")[0] + "\n"
    return text, _cut_of(text, whole, limit)


def _cut_of(text: str, whole: str, limit: int) -> Cut | None:
    if text == whole:
        return None
    why = f"more than {limit} tokens; give a budget or a depth, or ask for a nearer target"
    lines = whole.count("\n")
    return Cut(what="lines of text", shown=text.count("\n"), total=lines, why=why)


# --- parts of answers


def _bounded(what: str, found: Sequence[_T], limit: int) -> tuple[tuple[_T, ...], tuple[Cut, ...]]:
    if len(found) <= limit:
        return tuple(found), ()
    why = f"at most {limit} are listed"
    return tuple(found[:limit]), (Cut(what=what, shown=limit, total=len(found), why=why),)


def _place(symbol: Symbol) -> Place:
    return Place(
        id=symbol.id,
        kind=symbol.kind.value,
        path=symbol.path,
        start=symbol.span.start,
        end=symbol.span.end,
    )


def _symbol(program: Program, identifier: str) -> Symbol | None:
    module = program.module(identifier.partition(":")[0])
    return None if module is None else program.symbol_table(module).get(identifier)


def _externals(found: Slice) -> list[str]:
    return sorted({external.module for external in found.externals})


def _calls(
    graph: ReferenceGraph,
    starts: Sequence[str],
    depth: int,
    least: Certainty,
    *,
    forward: bool,
) -> Iterator[tuple[int, Reference]]:
    """The calls that are followed from ``starts``, with the number of steps to each."""
    seen, frontier = set(starts), list(starts)
    for distance in range(1, depth + 1):
        reached: list[str] = []
        for identifier in frontier:
            ends = graph.outgoing if forward else graph.incoming
            for each in ends(identifier, kind=ReferenceKind.CALL):
                other = each.target if forward else each.source
                if each.certainty.rank > least.rank or is_external(other):
                    continue
                yield distance, each
                if other not in seen:
                    seen.add(other)
                    reached.append(other)
        frontier = reached


def _edge(graph: ReferenceGraph, call: Reference, distance: int) -> CallEdge:
    return CallEdge(
        caller=call.source,
        callee=call.target,
        certainty=call.certainty.value,
        path=graph.symbol(call.source).path,
        lines=tuple(sorted({site.line for site in call.sites})[:_SITES]),
        distance=distance,
    )
