"""The static call graph beside the calls of a run: recall, precision, causes of misses.

**Edges** are pairs of function bodies. A tracer sees that ``C()`` runs ``C.__init__``; so of
the two references that the graph has for it, to the class and to ``__init__``, only the
second counts, and a class without a constructor of its own is no callee. Applying a
decorator of the repository is a call by the scope around the definition (the graph says
``decorate``). Module bodies and class bodies are callers and no callees.

**Recall** is the share of the run's edges that the graph has. Left out are edges seen only
through code that is neither in the repository nor installed (a test's own function that the
repository calls back): no analysis of the repository can know them.

**Precision on covered callers** is the share of the graph's edges whose caller ran that
were seen, in whatever way. It is a lower bound, for a run takes some branches only: where
the trace has lines, ``precision_at_lines`` is the share among edges one of whose sites
stands on a line that ran.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from depslice.callgraph.graph import ReferenceGraph
from depslice.callgraph.model import Certainty, Reference, ReferenceKind, SymbolKind
from depslice.callgraph.tracing.kinds import CallKind, SourceFileSyntax, kind_of_call
from depslice.callgraph.tracing.trace import CallSite, DynamicCall, Through, Trace

if TYPE_CHECKING:
    from depslice.callgraph.program import Program

COMPARE_SCHEMA = "depslice.compare/1"
_FUNCTIONS: Final = (SymbolKind.FUNCTION, SymbolKind.METHOD)

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How many edges the run made, how many the graph has, and how many agree.

    ``real`` edges of the run, of which ``found`` are in the graph; ``covered`` edges of the
    graph whose caller ran, of which ``seen`` happened; ``at_lines`` and ``seen_at_lines``
    the same among edges with a site on a line that ran.
    """

    certainty: str
    real: int
    found: int
    covered: int
    seen: int
    at_lines: int
    seen_at_lines: int

    @property
    def recall(self) -> float | None:
        """Share of the run's edges that the graph has; ``None`` without any."""
        return _share(self.found, self.real)

    @property
    def precision(self) -> float | None:
        """Share of the graph's edges of executed callers that happened: a lower bound."""
        return _share(self.seen, self.covered)

    @property
    def precision_at_lines(self) -> float | None:
        """The same among edges with a site on a line that ran."""
        return _share(self.seen_at_lines, self.at_lines)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of recall and precision."""
        recall, precision = self.recall, self.precision
        if recall is None or precision is None or not recall + precision:
            return None
        return 2 * recall * precision / (recall + precision)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedEdge:
    """An edge that only one side has, with a place to look at.

    ``kind`` is the kind of call for an edge of the run, ``None`` for one of the graph;
    ``evidence`` the rules that found it, for one of the graph. ``ran`` tells whether a
    line of the site ran (``None``: not known).
    """

    caller: str
    callee: str
    kind: CallKind | None
    through: Through | None
    certainty: Certainty | None
    evidence: tuple[str, ...]
    path: str
    line: int
    text: str
    ran: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KindScore:
    """For one kind of call: the edges of the run, and how many each certainty finds."""

    kind: CallKind
    real: int
    found: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Scores by certainty, kinds by size, missed edges by kind, edges that were not seen."""

    scores: tuple[Score, ...]
    kinds: tuple[KindScore, ...]
    missed: tuple[ComparedEdge, ...]
    unseen: tuple[ComparedEdge, ...]
    through_foreign: int
    unknown: int


def compare(program: Program, graph: ReferenceGraph, trace: Trace) -> Comparison:
    """Compare ``graph``, of ``program``, with the calls of ``trace``.

    Edges of the trace whose ends the graph does not know (the source has changed since)
    are counted as ``unknown`` and left out.
    """
    known = [c for c in trace.calls if c.caller in graph and c.callee in graph]
    real = {(c.caller, c.callee): c for c in known if c.through is not Through.FOREIGN}
    happened = {(c.caller, c.callee) for c in known}
    executed = set(trace.executed)
    static = static_edges(graph)
    places = _Places(program, graph, trace)
    scores = []
    found: dict[str, set[Pair]] = {}
    for certainty, is_in in CERTAINTIES.items():
        pairs = {pair: reference for pair, reference in static.items() if is_in(reference)}
        found[certainty] = pairs.keys() & real.keys()
        covered = [pair for pair in pairs if pair[0] in executed]
        at_lines = [pair for pair in covered if places.ran(pairs[pair])]
        scores.append(
            Score(
                certainty=certainty,
                real=len(real),
                found=len(found[certainty]),
                covered=len(covered),
                seen=sum(pair in happened for pair in covered),
                at_lines=len(at_lines),
                seen_at_lines=sum(pair in happened for pair in at_lines),
            )
        )
    kinds = {pair: places.kind(call) for pair, call in real.items()}
    missed = [places.missed(call, kinds[pair]) for pair, call in real.items() if pair not in static]
    unseen = [
        places.unseen(reference)
        for pair, reference in static.items()
        if pair[0] in executed and pair not in happened
    ]
    return Comparison(
        scores=tuple(scores),
        kinds=_by_kind(kinds, found),
        missed=tuple(sorted(missed, key=lambda e: (str(e.kind), e.path, e.line, e.callee))),
        unseen=tuple(sorted(unseen, key=lambda e: (e.path, e.line, e.callee))),
        through_foreign=len(happened) - len(real),
        unknown=len(trace.calls) - len(known),
    )


# What `--certainty` shows, by the references it lets through; each has those before it.
CERTAINTIES: Final[Mapping[str, Callable[[Reference], bool]]] = {
    "definite": lambda reference: reference.certainty.rank <= Certainty.DEFINITE.rank,
    "likely": lambda reference: reference.certainty.rank <= Certainty.LIKELY.rank,
    "possible": lambda _: True,
}


def static_edges(graph: ReferenceGraph) -> dict[Pair, Reference]:
    """The graph as pairs of bodies, each with the reference that says it: see the module."""
    edges: dict[Pair, Reference] = {}
    for reference in graph.references():
        if reference.target not in graph or reference.source not in graph:
            continue
        if graph.symbol(reference.target).kind not in _FUNCTIONS:
            continue
        if reference.kind is ReferenceKind.CALL:
            pair = (reference.source, reference.target)
        elif reference.kind is ReferenceKind.DECORATE:
            pair = (_scope(reference.source), reference.target)
        else:
            continue
        known = edges.get(pair)
        if known is None or reference.certainty.rank < known.certainty.rank:
            edges[pair] = reference
    return edges


def _scope(symbol_id: str) -> str:
    """The body that a definition stands in: ``m:f.<locals>.g`` -> ``m:f``, ``m:f`` -> ``m``."""
    module, _, qualname = symbol_id.partition(":")
    holder = qualname.rpartition(".")[0].removesuffix(".<locals>")
    return f"{module}:{holder}" if holder else module


def _by_kind(
    kinds: Mapping[Pair, CallKind], found: Mapping[str, set[Pair]]
) -> tuple[KindScore, ...]:
    pairs: dict[CallKind, list[Pair]] = {}
    for pair, kind in kinds.items():
        pairs.setdefault(kind, []).append(pair)
    scores = [
        KindScore(
            kind=kind,
            real=len(of_kind),
            found={name: sum(pair in those for pair in of_kind) for name, those in found.items()},
        )
        for kind, of_kind in pairs.items()
    ]
    return tuple(sorted(scores, key=lambda score: (-score.real, score.kind.value)))


class _Places:
    """Looks at the source: what stands at a site, and whether it ran."""

    def __init__(self, program: Program, graph: ReferenceGraph, trace: Trace) -> None:
        self._program = program
        self._graph = graph
        self._ran = {path: frozenset(lines) for path, lines in trace.lines.items()}
        self._syntax: dict[str, SourceFileSyntax | None] = {}
        self._texts: dict[str, list[str]] = {}

    def ran(self, reference: Reference) -> bool | None:
        """Whether a line of the reference's sites ran; ``None`` when the trace cannot tell."""
        path = self._graph.symbol(reference.source).path
        if not self._ran:
            return None
        lines = self._ran.get(path, frozenset())
        return any(site.line in lines for site in reference.sites)

    def kind(self, call: DynamicCall) -> CallKind:
        """The kind of a call of the run, by its first site that tells."""
        symbol = self._graph.symbol(call.caller)
        syntax = self._parsed(symbol.path)
        if syntax is None:
            return CallKind.OTHER
        sites: Iterable[CallSite | None] = call.sites or (None,)
        kinds = [kind_of_call(call, site, syntax) for site in sites]
        telling = [kind for kind in kinds if kind is not CallKind.OTHER]
        return telling[0] if telling else CallKind.OTHER

    def missed(self, call: DynamicCall, kind: CallKind) -> ComparedEdge:
        """An edge of the run that the graph lacks."""
        symbol = self._graph.symbol(call.caller)
        line = call.sites[0].line if call.sites else symbol.span.start
        return ComparedEdge(
            caller=call.caller,
            callee=call.callee,
            kind=kind,
            through=call.through,
            certainty=None,
            evidence=(),
            path=symbol.path,
            line=line,
            text=self._line(symbol.path, line),
            ran=True,
        )

    def unseen(self, reference: Reference) -> ComparedEdge:
        """An edge of the graph that did not happen, though its caller ran."""
        symbol = self._graph.symbol(reference.source)
        lines = self._ran.get(symbol.path, frozenset())
        executed = [site.line for site in reference.sites if site.line in lines]
        first = [site.line for site in reference.sites] or [symbol.span.start]
        line = (executed or first)[0]
        return ComparedEdge(
            caller=reference.source,
            callee=reference.target,
            kind=None,
            through=None,
            certainty=reference.certainty,
            evidence=reference.evidence,
            path=symbol.path,
            line=line,
            text=self._line(symbol.path, line),
            ran=self.ran(reference),
        )

    def _text(self, path: str) -> str | None:
        file = self._program.by_path.get(path)
        module = None if file is None else self._program.module(file.module)
        return None if module is None else self._program.text(module)

    def _line(self, path: str, line: int) -> str:
        lines = self._texts.get(path)
        if lines is None:
            lines = self._texts[path] = (self._text(path) or "").split("\n")
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""

    def _parsed(self, path: str) -> SourceFileSyntax | None:
        if path not in self._syntax:
            text = self._text(path)
            try:
                self._syntax[path] = None if text is None else SourceFileSyntax(text)
            except (SyntaxError, ValueError, RecursionError):
                self._syntax[path] = None
        return self._syntax[path]


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """The comparison as a dictionary that :func:`json.dumps` takes: ``depslice.compare/1``."""
    return {
        "schema": COMPARE_SCHEMA,
        "scores": [
            {
                "certainty": score.certainty,
                "real": score.real,
                "found": score.found,
                "covered": score.covered,
                "seen": score.seen,
                "at_lines": score.at_lines,
                "seen_at_lines": score.seen_at_lines,
                "recall": _rounded(score.recall),
                "precision": _rounded(score.precision),
                "precision_at_lines": _rounded(score.precision_at_lines),
                "f1": _rounded(score.f1),
            }
            for score in comparison.scores
        ],
        "kinds": [
            {"kind": each.kind.value, "real": each.real, "found": dict(each.found)}
            for each in comparison.kinds
        ],
        "missed": [
            {
                "caller": edge.caller,
                "callee": edge.callee,
                "kind": None if edge.kind is None else edge.kind.value,
                "through": None if edge.through is None else edge.through.value,
                "path": edge.path,
                "line": edge.line,
                "text": edge.text,
            }
            for edge in comparison.missed
        ],
        "unseen": [
            {
                "caller": edge.caller,
                "callee": edge.callee,
                "certainty": None if edge.certainty is None else edge.certainty.value,
                "evidence": list(edge.evidence),
                "path": edge.path,
                "line": edge.line,
                "text": edge.text,
                "line_ran": edge.ran,
            }
            for edge in comparison.unseen
        ],
        "through_foreign": comparison.through_foreign,
        "unknown": comparison.unknown,
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
