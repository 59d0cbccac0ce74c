"""What comes of calls with arguments that are known as text: examples for people and models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from depslice.callgraph.program import Program
from depslice.validator.calls import functions_of, own_modules
from depslice.validator.workspace import Workspace, read_results

_LONGEST: Final = 300  # characters of an example, and of what an exception says


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A call as an expression, and what came of it, twice.

    ``imports`` are the statements that both need, in the names of the target's module.
    ``value`` is the source of an equal value; where an exception was raised it is empty, and
    ``raised`` has its type and what it says. ``which`` is the number of the call that was
    asked for.
    """

    which: int
    call: str
    value: str = ""
    imports: tuple[str, ...] = ()
    raised: tuple[str, str] = ("", "")

    @property
    def text(self) -> str:
        """On one line: ``clamp(20) == 10``, ``clamp(None) raises TypeError: …``."""
        if self.value:
            return f"{self.call} == {self.value}"
        kind, said = self.raised
        return f"{self.call} raises {kind}: {said}" if said else f"{self.call} raises {kind}"


def observe(
    space: Workspace,
    program: Program,
    target: str,
    calls: Sequence[tuple[str, tuple[str, ...]]],
) -> list[Observed]:
    """What comes of ``calls`` of ``target``, each an argument list and its imports.

    Calls that do not give the same twice, that take longer than seconds, or whose value has
    no text are left out; so are all calls of what is not called by its name (a property, a
    nested function).

    :raises CheckUnavailable: the code cannot be run.
    """
    symbols = functions_of(program, [target])
    if not symbols or not calls or "<locals>" in target:
        return []
    module, _, qualname = target.partition(":")
    original = space.original()
    order = {
        "folder": str(original.folder),
        "roots": [str(root) for root in original.roots],
        "own": sorted(own_modules(program, symbols)),
        "module": module,
        "qualname": qualname,
        "calls": [{"arguments": text, "imports": list(imports)} for text, imports in calls],
        "results": "outcomes.jsonl",
    }
    kept = space.path("outcomes.jsonl")
    space.run("outcomes", order, makes={"outcomes.jsonl": kept})
    found = (_observed(line) for line in read_results(kept))
    return [each for each in found if each is not None and len(each.text) <= _LONGEST]


def _observed(line: Mapping[str, Any]) -> Observed | None:
    """A line, which code nobody vetted may have written."""
    match line:
        case {
            "call": int(which),
            "text": str(text),
            "value": str(value),
            "imports": [*imports],
        }:
            lines = tuple(each for each in imports if isinstance(each, str))
            return Observed(which=which, call=text, value=value, imports=lines)
        case {"call": int(which), "text": str(text), "raised": [str(kind), str(said)]}:
            return Observed(which=which, call=text, raised=(kind, " ".join(said.split())))
        case _:
            return None
