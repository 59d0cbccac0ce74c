"""A reference graph as text for people."""

from __future__ import annotations

from collections.abc import Sequence

from depslice.callgraph.graph import ReferenceGraph
from depslice.callgraph.model import Certainty, Reference, ReferenceKind


def outline_graph(graph: ReferenceGraph) -> str:
    """Every symbol that refers to something, and under it what.

    ::

        shop.api:quote  shop/api.py:13
          shop.pricing:gross_price
          shop.models:Product.label  ?
          read shop.config:SETTINGS

    A ``?`` marks what is only possible; a kind is named unless it is a call. What is called is
    read, too: that is not said again.
    """
    lines: list[str] = []
    for symbol in graph.symbols:
        references = _next(graph, symbol.id, callers=False)
        if references:
            lines.append(f"{symbol.id}  {symbol.path}:{symbol.span.start}")
            lines += [f"  {_labelled(reference, reference.target)}" for reference in references]
    return "".join(f"{line}\n" for line in lines)


def outline_tree(graph: ReferenceGraph, starts: Sequence[str], *, callers: bool) -> str:
    """What ``starts`` refer to, or with ``callers`` what refers to them, as trees.

    ::

        shop.api:sell
        ├── shop.stock:Stock.take
        │   └── shop.stock:Stock.quantity
        └── shop.models:Product.label  ?

    What was already unfolded, here or in another tree, is marked ``…`` when it
    comes again. Of several starts those without references are left out.
    """
    lines: list[str] = []
    unfolded: set[str] = set()
    for start in starts:
        if len(starts) > 1 and (start in unfolded or not _next(graph, start, callers=callers)):
            continue
        lines.append(start)
        unfolded.add(start)
        # A stack, because chains of calls can be longer than Python's own.
        pending = _rows(graph, start, indent="", callers=callers)
        while pending:
            reference, indent, is_last = pending.pop()
            other = reference.source if callers else reference.target
            below = _next(graph, other, callers=callers)
            again = other in unfolded and bool(below)
            branch = "└── " if is_last else "├── "
            lines.append(f"{indent}{branch}{_labelled(reference, other)}{'  …' if again else ''}")
            if not again:
                unfolded.add(other)
                inner = indent + ("    " if is_last else "│   ")
                pending += _rows(graph, other, indent=inner, callers=callers)
    return "".join(f"{line}\n" for line in lines) or "".join(f"{each}\n" for each in starts[:1])


def _rows(
    graph: ReferenceGraph, symbol: str, *, indent: str, callers: bool
) -> list[tuple[Reference, str, bool]]:
    """The branches below a symbol, the first of them last, as a stack wants them."""
    references = _next(graph, symbol, callers=callers)
    rows = [(each, indent, place == len(references)) for place, each in enumerate(references, 1)]
    return rows[::-1]


def _next(graph: ReferenceGraph, symbol: str, *, callers: bool) -> tuple[Reference, ...]:
    found = graph.incoming(symbol) if callers else graph.outgoing(symbol)
    called = {(r.source, r.target) for r in found if r.kind is ReferenceKind.CALL}
    return tuple(
        each
        for each in found
        if each.kind is not ReferenceKind.READ or (each.source, each.target) not in called
    )


def _labelled(reference: Reference, other: str) -> str:
    kind = "" if reference.kind is ReferenceKind.CALL else f"{reference.kind.value} "
    doubt = "  ?" if reference.certainty is Certainty.POSSIBLE else ""
    return f"{kind}{other}{doubt}"
