"""The reference graph: merging, queries, order, neighbourhoods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from depslice.callgraph.errors import UnknownTarget
from depslice.callgraph.graph import ReferenceGraph, external_name, is_external
from depslice.callgraph.model import (
    Certainty,
    Diagnostic,
    Reference,
    ReferenceKind,
    Severity,
    Site,
    Span,
    Symbol,
    SymbolKind,
    Unresolved,
)

if TYPE_CHECKING:
    import random


def symbol(symbol_id: str, kind: SymbolKind = SymbolKind.FUNCTION) -> Symbol:
    module = symbol_id.partition(":")[0]
    path = module.replace(".", "/") + ".py"
    return Symbol(id=symbol_id, kind=kind, path=path, span=Span(start=1, end=2))


def reference(
    source: str,
    target: str,
    kind: ReferenceKind = ReferenceKind.CALL,
    *,
    line: int = 1,
    certainty: Certainty = Certainty.DEFINITE,
    evidence: str = "name",
    via_external: bool = False,
) -> Reference:
    return Reference(
        source=source,
        target=target,
        kind=kind,
        sites=(Site(line=line, column=0),),
        certainty=certainty,
        evidence=(evidence,),
        via_external=via_external,
    )


def chain() -> ReferenceGraph:
    """a -> b -> c -> d by calls; b reads V; d is written in another module."""
    return ReferenceGraph(
        symbols=[
            symbol("m:a"),
            symbol("m:b"),
            symbol("m:c"),
            symbol("n:d"),
            symbol("m:V", SymbolKind.VARIABLE),
        ],
        references=[
            reference("m:c", "n:d"),
            reference("m:a", "m:b"),
            reference("m:b", "m:c", certainty=Certainty.POSSIBLE),
            reference("m:b", "m:V", ReferenceKind.READ),
            reference("m:a", "external:builtins.print"),
        ],
        unresolved=[
            Unresolved(source="n:d", name="x.y", reason="exec", site=Site(line=3, column=0)),
            Unresolved(source="m:a", name="z", reason="exec", site=Site(line=2, column=0)),
        ],
        diagnostics=[
            Diagnostic(slug="s", severity=Severity.NOTE, message="n", path="n.py"),
            Diagnostic(slug="s", severity=Severity.NOTE, message="m", path="m.py"),
        ],
    )


def edges(graph: ReferenceGraph) -> list[tuple[str, str, str]]:
    return [(r.source, r.target, r.kind.value) for r in graph.references()]


def test_evidence_of_one_edge_is_merged() -> None:
    graph = ReferenceGraph(
        symbols=[symbol("m:a"), symbol("m:b")],
        references=[
            reference("m:a", "m:b", line=9, certainty=Certainty.POSSIBLE, evidence="pycg"),
            reference("m:a", "m:b", line=4, evidence="jedi", via_external=True),
            reference("m:a", "m:b", line=4, certainty=Certainty.POSSIBLE, evidence="name"),
        ],
    )
    [merged] = graph.references()
    assert merged.sites == (Site(line=4, column=0), Site(line=9, column=0))
    assert merged.evidence == ("jedi", "name", "pycg")
    assert merged.certainty is Certainty.DEFINITE
    assert not merged.via_external


def test_an_edge_seen_only_through_external_code_says_so() -> None:
    graph = ReferenceGraph(
        symbols=[symbol("m:a"), symbol("m:b")],
        references=[reference("m:a", "m:b", via_external=True)] * 2,
    )
    [merged] = graph.references()
    assert merged.via_external


def test_kinds_are_different_edges() -> None:
    graph = ReferenceGraph(
        symbols=[symbol("m:a"), symbol("m:b")],
        references=[reference("m:a", "m:b"), reference("m:a", "m:b", ReferenceKind.READ)],
    )
    assert [r.kind for r in graph.outgoing("m:a")] == [ReferenceKind.CALL, ReferenceKind.READ]
    assert [r.kind for r in graph.incoming("m:b", kind=ReferenceKind.READ)] == [ReferenceKind.READ]


def test_merge_adds_another_resolver_and_leaves_the_first_graph_alone() -> None:
    graph = chain()
    before = edges(graph)
    late = Unresolved(source="m:c", name="q", reason="jedi-unknown", site=Site(line=1, column=1))
    merged = graph.merge(
        [reference("m:b", "m:c", evidence="jedi"), reference("m:a", "m:c", evidence="jedi")],
        unresolved=[late],
    )
    assert edges(graph) == before
    [step] = [r for r in merged.references() if (r.source, r.target) == ("m:b", "m:c")]
    assert step.evidence == ("jedi", "name")
    assert step.certainty is Certainty.DEFINITE
    assert merged.callees("m:a") == ("external:builtins.print", "m:b", "m:c")
    assert late in merged.unresolved


def test_references_are_filtered_by_kind_and_certainty() -> None:
    graph = chain()
    assert [r.target for r in graph.references(kind=ReferenceKind.READ)] == ["m:V"]
    everything = list(graph.references(certainty=Certainty.POSSIBLE))
    assert everything == list(graph.references())
    likely = list(graph.references(certainty=Certainty.LIKELY))
    assert [(r.source, r.target) for r in everything if r not in likely] == [("m:b", "m:c")]
    assert list(graph.at_least(Certainty.LIKELY).references()) == likely


@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        (0, ()),
        (1, ("external:builtins.print", "m:b")),
        (2, ("external:builtins.print", "m:b", "m:c")),
        (None, ("external:builtins.print", "m:b", "m:c", "n:d")),
    ],
)
def test_callees_within_a_depth(depth: int | None, expected: tuple[str, ...]) -> None:
    assert chain().callees("m:a", depth=depth) == expected


def test_callers_follow_calls_alone() -> None:
    graph = chain()
    assert graph.callers("n:d") == ("m:c",)
    assert graph.callers("n:d", depth=None) == ("m:a", "m:b", "m:c")
    assert graph.callers("m:V", depth=None) == ()


def test_a_recursive_function_is_its_own_callee_only_if_it_is() -> None:
    graph = ReferenceGraph(
        symbols=[symbol("m:a"), symbol("m:b"), symbol("m:c")],
        references=[reference("m:a", "m:b"), reference("m:b", "m:a"), reference("m:c", "m:c")],
    )
    assert graph.callees("m:a") == ("m:b",)
    assert graph.callees("m:a", depth=None) == ("m:a", "m:b")
    assert graph.callees("m:c") == ("m:c",)


def test_the_call_graph_keeps_every_symbol() -> None:
    calls = chain().call_graph()
    assert {r.kind for r in calls.references()} == {ReferenceKind.CALL}
    assert calls.symbols == chain().symbols


def test_neighbourhood_holds_what_was_followed_and_what_belongs_to_it() -> None:
    graph = chain()
    ahead = graph.neighbourhood(["m:b"], direction="targets", depth=1)
    assert edges(ahead) == [("m:b", "m:V", "read"), ("m:b", "m:c", "call")]
    assert [s.id for s in ahead.symbols] == ["m:V", "m:b", "m:c"]
    assert ahead.unresolved == ()
    assert [d.path for d in ahead.diagnostics] == ["m.py"]
    behind = graph.neighbourhood(["m:b"], direction="sources", depth=None)
    assert edges(behind) == [("m:a", "m:b", "call")]
    both = graph.neighbourhood(["m:b"], direction="both", depth=1)
    assert edges(both) == sorted(edges(ahead) + edges(behind))


def test_neighbourhood_of_depth_zero_is_the_symbol() -> None:
    alone = chain().neighbourhood(["m:b"], direction="both", depth=0)
    assert [s.id for s in alone.symbols] == ["m:b"]
    assert edges(alone) == []


def test_an_unknown_symbol_names_the_nearest() -> None:
    graph = ReferenceGraph(symbols=[symbol("pkg.mod:load"), symbol("pkg.mod:dump")])
    assert "pkg.mod:load" in graph
    with pytest.raises(UnknownTarget, match=r"pkg\.mod:laod") as caught:
        graph.symbol("pkg.mod:laod")
    assert caught.value.candidates[0] == "pkg.mod:load"
    with pytest.raises(UnknownTarget):
        graph.callees("pkg.mod:laod")


def test_external_ids() -> None:
    assert is_external("external:os.path.join")
    assert external_name("external:os.path.join") == "os.path.join"
    assert not is_external("pkg.mod:external")


def test_to_networkx_keeps_nodes_edges_and_evidence() -> None:
    converted = chain().to_networkx()
    assert converted.number_of_nodes() == 6
    assert converted.nodes["external:builtins.print"] == {"kind": "external"}
    assert converted.nodes["n:d"]["path"] == "n.py"
    assert converted.edges["m:b", "m:c", "call"]["certainty"] == "possible"
    assert list(converted.edges(keys=True)) == edges(chain())


_IDS = st.sampled_from([f"m:f{n}" for n in range(6)])
_REFERENCES = st.lists(
    st.builds(
        reference,
        _IDS,
        _IDS,
        st.sampled_from(ReferenceKind),
        line=st.integers(1, 5),
        certainty=st.sampled_from(Certainty),
        evidence=st.sampled_from(["name", "jedi", "pycg"]),
        via_external=st.booleans(),
    ),
    max_size=25,
)


@given(_REFERENCES, st.randoms(use_true_random=False))
def test_order_of_building_does_not_show(
    references: list[Reference], shuffler: random.Random
) -> None:
    symbols = [symbol(f"m:f{n}") for n in range(6)]
    shuffled = list(references)
    shuffler.shuffle(shuffled)
    shuffler.shuffle(symbols)
    built = ReferenceGraph(symbols=symbols, references=references)
    again = ReferenceGraph(symbols=sorted(symbols, key=lambda s: s.id), references=shuffled)
    assert list(built.references()) == list(again.references())
    assert built.symbols == again.symbols
    half = len(references) // 2
    merged = ReferenceGraph(symbols=symbols, references=references[:half]).merge(references[half:])
    assert list(merged.references()) == list(built.references())


@given(_REFERENCES, st.integers(0, 4))
def test_neighbourhoods_grow_with_depth(references: list[Reference], depth: int) -> None:
    graph = ReferenceGraph(symbols=[symbol(f"m:f{n}") for n in range(6)], references=references)
    smaller = graph.neighbourhood(["m:f0"], direction="both", depth=depth)
    larger = graph.neighbourhood(["m:f0"], direction="both", depth=depth + 1)
    assert set(edges(smaller)) <= set(edges(larger)) <= set(edges(graph))
    assert set(graph.callees("m:f0", depth=depth)) <= set(graph.callees("m:f0", depth=depth + 1))
