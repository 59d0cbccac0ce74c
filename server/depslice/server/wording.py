"""Answers as text for models and people to read; the same answers as data go beside it."""

from __future__ import annotations

from collections.abc import Iterator

from depslice.callgraph.counting import counted
from depslice.callgraph.errors import AmbiguousTarget, DepsliceError, UnknownTarget
from depslice.server.answers import (
    Answer,
    CallsAnswer,
    ExplanationAnswer,
    SliceAnswer,
    StatsAnswer,
    SymbolsAnswer,
)


def worded(answer: Answer) -> list[str]:
    """The texts that say what ``answer`` is: first the answer, then what is to be known of it."""
    match answer:
        case SymbolsAnswer():
            text = "\n".join(
                f"{each.id}  ({each.kind}, {each.path}:{each.start}-{each.end})"
                for each in answer.symbols
            )
        case SliceAnswer():
            text = answer.text
        case StatsAnswer():
            text = "\n".join(_stats(answer))
        case ExplanationAnswer():
            text = "\n".join(_explanation(answer))
        case CallsAnswer():
            text = (
                "\n".join(_calls(answer)) or f"no {answer.direction} of {answer.target} are known"
            )
        case _:
            raise TypeError(f"no words for {type(answer).__name__}")
    notes = "\n".join(_notes(answer))
    return [text, notes] if notes else [text]


def worded_error(error: DepsliceError) -> str:
    """``error`` with its candidates and its hint."""
    lines = [error.message]
    if isinstance(error, UnknownTarget) and error.candidates:
        label = "one of" if isinstance(error, AmbiguousTarget) else "nearest"
        lines += [f"{label}:", *(f"  {candidate}" for candidate in error.candidates)]
    if hint := client_hint(error):
        lines.append(hint)
    return "\n".join(lines)


def client_hint(error: DepsliceError) -> str:
    """The hint; where it names a command, what a client of the server can do instead."""
    if "depslice functions" in error.hint:
        return "find_symbol tells which definitions a shorter name may mean; slice_function takes FILE:LINE"
    if "--include" in error.hint:
        return f"whoever starts the server can {error.hint}"
    return error.hint


def _notes(answer: Answer) -> Iterator[str]:
    if isinstance(answer, SymbolsAnswer) and not answer.exact:
        yield f"{answer.query!r} may be any of these: name one of them in full"
    if isinstance(answer, SliceAnswer):
        yield f"slice of {answer.target}: {counted(answer.tokens, 'token')} ({answer.tokenizer})"
        if answer.externals:
            yield f"imports from outside the repository: {', '.join(answer.externals)}"
        if answer.unresolved:
            yield f"unresolved: {', '.join(dict.fromkeys(each.name for each in answer.unresolved))}"
        if answer.omitted:
            yield f"omitted: {', '.join(answer.omitted)}"
    for cut in answer.cut:
        yield f"cut: {cut.shown} of {cut.total} {cut.what} ({cut.why})"
    if answer.stale_files:
        yield f"stale: these files have changed since: {', '.join(answer.stale_files)}"
    if answer.outdated:
        yield f"files have changed; no longer rely on: {'; '.join(answer.outdated)}"


def _stats(answer: StatsAnswer) -> Iterator[str]:
    yield (
        f"{answer.target}: {counted(answer.definitions, 'definition')} of {counted(answer.files, 'file')},"
        f" {counted(answer.lines, 'line')}"
    )
    yield "kinds: " + ", ".join(f"{count} {kind}" for kind, count in answer.by_kind.items())
    yield "by distance: " + ", ".join(str(count) for count in answer.by_distance)
    tokens = ", ".join(f"{strategy} {count}" for strategy, count in answer.tokens.items())
    yield f"tokens ({answer.tokenizer}): {tokens}"
    if answer.externals:
        yield f"imports from outside the repository: {', '.join(answer.externals)}"
    if answer.unresolved:
        reasons = ", ".join(f"{count} {reason}" for reason, count in answer.unresolved.items())
        yield f"unresolved: {reasons}"


def _explanation(answer: ExplanationAnswer) -> Iterator[str]:
    if not answer.in_slice:
        yield f"{answer.symbol} is not in the slice of {answer.target}"
        yield from (f"  nearest: {near}" for near in answer.nearest)
        return
    if answer.item != answer.symbol:
        yield f"{answer.symbol} is a part of {answer.item}"
    if not answer.chain:
        yield f"{answer.item} is the target itself"
    for step in answer.chain:
        how = f"{step.kind} ({step.certainty}, {step.evidence})"
        yield f"{step.source}  --{how}-->  {step.target}   {step.path}:{step.line}"
        if step.code:
            yield f"    {step.code}"
        for each in step.effects:
            yield f"    runs {each.path}:{each.line}, which has an effect on {each.item}"
            yield f"        {each.code}"


def _calls(answer: CallsAnswer) -> Iterator[str]:
    for call in answer.calls:
        lines = ",".join(str(line) for line in call.lines)
        yield f"{call.caller} -> {call.callee}  ({call.certainty}, {call.path}:{lines})"
