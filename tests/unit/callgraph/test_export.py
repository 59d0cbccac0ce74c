"""The forms a graph is exported in."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import networkx as nx
import pytest

from depslice.callgraph.export import (
    export_dot,
    export_graphml,
    export_html,
    export_json,
    export_mermaid,
    export_pycg,
)
from depslice.callgraph.export.pycg_form import dotted_names
from depslice.callgraph.graph import ReferenceGraph
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
    from collections.abc import Callable

MODULE, CLASS, FUNCTION, METHOD, VARIABLE = (
    SymbolKind.MODULE,
    SymbolKind.CLASS,
    SymbolKind.FUNCTION,
    SymbolKind.METHOD,
    SymbolKind.VARIABLE,
)
CALL, READ, INHERIT, DECORATE = (
    ReferenceKind.CALL,
    ReferenceKind.READ,
    ReferenceKind.INHERIT,
    ReferenceKind.DECORATE,
)


def graph_of(
    symbols: dict[str, tuple[SymbolKind, int]],
    references: list[tuple[str, ReferenceKind, str]],
    *,
    certainty: Certainty = Certainty.DEFINITE,
) -> ReferenceGraph:
    """Symbols as ``id -> (kind, line)``, references as ``(source, kind, target)``."""
    return ReferenceGraph(
        symbols=[
            Symbol(
                id=symbol_id,
                kind=kind,
                path=symbol_id.partition(":")[0].replace(".", "/") + ".py",
                span=Span(start=line, end=line + 1),
            )
            for symbol_id, (kind, line) in symbols.items()
        ],
        references=[
            Reference(
                source=source,
                target=target,
                kind=kind,
                sites=(Site(line=5, column=4),),
                certainty=certainty,
                evidence=("name",),
            )
            for source, kind, target in references
        ],
    )


SMALL = graph_of(
    {
        "a.b": (MODULE, 1),
        "a.b:f": (FUNCTION, 3),
        "a.b:f.<locals>.g": (FUNCTION, 4),
        "a.b:C": (CLASS, 10),
        "a.b:C.m": (METHOD, 11),
        "c": (MODULE, 1),
        "c:unused_variable": (VARIABLE, 2),
    },
    [
        ("a.b", CALL, "a.b:f"),
        ("a.b:f", CALL, "a.b:f.<locals>.g"),
        ("a.b:f", CALL, "external:builtins.print"),
        ("a.b:f", READ, "a.b:C"),
        ("a.b:C.m", CALL, "external:os.path.join"),
    ],
)
POSSIBLE = graph_of(
    {"m:f": (FUNCTION, 1), "m:g": (FUNCTION, 3)},
    [("m:f", CALL, "m:g")],
    certainty=Certainty.POSSIBLE,
)
# What the analysed code could hold to break out of a form; ids reach exporters unchecked.
HOSTILE_ID = 'm:"]</script><!--&#x\\N`<img src=x onerror=alert(1)>'
HOSTILE = graph_of({HOSTILE_ID: (FUNCTION, 1), "m:g": (FUNCTION, 3)}, [(HOSTILE_ID, CALL, "m:g")])


# ---------------------------------------------------------------- json


def test_json_holds_everything_as_plain_values() -> None:
    graph = ReferenceGraph(
        symbols=[Symbol(id="m:f", kind=FUNCTION, path="m.py", span=Span(start=3, end=9))],
        references=[
            Reference(
                source="m:f",
                target="external:os.getcwd",
                kind=CALL,
                sites=(Site(line=5, column=4),),
                certainty=Certainty.DEFINITE,
                evidence=("jedi", "name"),
            )
        ],
        unresolved=[
            Unresolved(source="m:f", name="x.y", reason="exec", site=Site(line=6, column=2))
        ],
        diagnostics=[
            Diagnostic(slug="syntax-error", severity=Severity.ERROR, message="bad", path="n.py")
        ],
    )
    exported = export_json(graph)
    assert json.loads(json.dumps(exported)) == exported
    assert exported == {
        "schema": "depslice.graph/1",
        "symbols": [{"id": "m:f", "kind": "function", "path": "m.py", "span": [3, 9]}],
        "references": [
            {
                "source": "m:f",
                "target": "external:os.getcwd",
                "kind": "call",
                "sites": [[5, 4]],
                "certainty": "definite",
                "evidence": ["jedi", "name"],
                "via_external": False,
            }
        ],
        "unresolved": [{"source": "m:f", "name": "x.y", "reason": "exec", "site": [6, 2]}],
        "diagnostics": [
            {
                "slug": "syntax-error",
                "severity": "error",
                "message": "bad",
                "path": "n.py",
                "span": None,
            }
        ],
    }


# ---------------------------------------------------------------- pycg


def test_pycg_names_modules_functions_nested_ones_and_externals() -> None:
    assert export_pycg(SMALL) == {
        "<builtin>.print": [],
        "a.b": ["a.b.f"],
        "a.b.C.m": ["os.path.join"],
        "a.b.f": ["<builtin>.print", "a.b.f.g"],
        "a.b.f.g": [],
        "c": [],
        "os.path.join": [],
    }


def test_pycg_without_externals() -> None:
    exported = export_pycg(SMALL, externals=False)
    assert exported["a.b.f"] == ["a.b.f.g"]
    assert exported["a.b.C.m"] == []
    assert "os.path.join" not in exported


def test_pycg_numbers_lambdas_per_scope_in_source_order() -> None:
    graph = graph_of(
        {
            "m": (MODULE, 1),
            "m:f": (FUNCTION, 3),
            "m:<lambda>@10": (FUNCTION, 10),
            "m:<lambda>@9": (FUNCTION, 9),
            "m:f.<locals>.<lambda>@4": (FUNCTION, 4),
            "m:f.<locals>.<lambda>@4.<locals>.<lambda>@5": (FUNCTION, 5),
        },
        [("m", CALL, "m:<lambda>@10")],
    )
    assert dotted_names(graph.symbols) == {
        "m": "m",
        "m:f": "m.f",
        "m:<lambda>@9": "m.<lambda1>",
        "m:<lambda>@10": "m.<lambda2>",
        "m:f.<locals>.<lambda>@4": "m.f.<lambda1>",
        "m:f.<locals>.<lambda>@4.<locals>.<lambda>@5": "m.f.<lambda1>.<lambda1>",
    }
    assert export_pycg(graph)["m"] == ["m.<lambda2>"]


def test_pycg_has_no_edge_to_a_class_without_initializer_in_the_repository() -> None:
    graph = graph_of(
        {
            "m": (MODULE, 1),
            "m:Plain": (CLASS, 2),
            "m:Own": (CLASS, 4),
            "m:Own.__init__": (METHOD, 5),
        },
        [("m", CALL, "m:Plain"), ("m", CALL, "m:Own.__init__")],
    )
    assert export_pycg(graph) == {"m": ["m.Own.__init__"], "m.Own.__init__": []}


def test_pycg_calls_the_initializer_of_external_bases() -> None:
    graph = graph_of(
        {
            "m": (MODULE, 1),
            "m:Sub": (CLASS, 2),
            "m:Base": (CLASS, 4),
            "m:Error": (CLASS, 6),
        },
        [
            ("m", CALL, "m:Sub"),
            ("m", CALL, "m:Error"),
            ("m:Sub", INHERIT, "m:Base"),
            ("m:Base", INHERIT, "external:json.JSONEncoder"),
            ("m:Error", INHERIT, "external:builtins.Exception"),
        ],
    )
    assert export_pycg(graph)["m"] == ["json.JSONEncoder.__init__"]
    assert export_pycg(graph, externals=False)["m"] == []


def test_pycg_survives_an_inheritance_cycle() -> None:
    graph = graph_of(
        {"m": (MODULE, 1), "m:A": (CLASS, 2), "m:B": (CLASS, 4)},
        [("m", CALL, "m:A"), ("m:A", INHERIT, "m:B"), ("m:B", INHERIT, "m:A")],
    )
    assert export_pycg(graph) == {"m": []}


def test_pycg_gives_decorators_and_assignments_to_the_scope_around_them() -> None:
    graph = graph_of(
        {
            "m": (MODULE, 1),
            "m:deco": (FUNCTION, 2),
            "m:f": (FUNCTION, 5),
            "m:f.<locals>.g": (FUNCTION, 7),
            "m:VALUE": (VARIABLE, 9),
            "m:C": (CLASS, 10),
            "m:C.field": (VARIABLE, 11),
        },
        [
            ("m:f", DECORATE, "m:deco"),
            ("m:f.<locals>.g", DECORATE, "m:deco"),
            ("m:VALUE", CALL, "m:f"),
            ("m:C.field", CALL, "m:f"),
            ("m:f", CALL, "m:VALUE"),
        ],
    )
    assert export_pycg(graph) == {
        "m": ["m.deco", "m.f"],
        "m.C": ["m.f"],
        "m.deco": [],
        "m.f": ["m.deco"],
        "m.f.g": [],
    }


# ---------------------------------------------------------------- dot, mermaid


def test_dot_clusters_by_module_and_styles_kinds() -> None:
    text = export_dot(SMALL)
    assert text.startswith("digraph depslice {\n")
    assert 'label="a.b";' in text
    assert '"a.b:f.<locals>.g" [label="f.g"];' in text
    assert re.search(r'"a.b:f" -> "a.b:C" \[.*label="read"\];', text)
    assert re.search(r'"a.b" -> "a.b:f" \[color="#\w+"\];', text)
    assert "print" not in text
    assert "unused_variable" not in text
    assert "style=dashed" not in text
    assert "style=dashed" in export_dot(POSSIBLE)


def test_dot_quotes_what_would_end_a_string() -> None:
    quoted = HOSTILE_ID.replace("\\", "\\\\").replace('"', '\\"')
    assert f'"{quoted}" -> "m:g"' in export_dot(HOSTILE)


def test_mermaid_clusters_by_module_and_uses_plain_ids() -> None:
    text = export_mermaid(SMALL)
    assert text.startswith("flowchart LR\n")
    labels = dict(re.findall(r'^    (n\d+)\W+"([^"]*)"', text, re.MULTILINE))
    by_label = {label: node for node, label in labels.items()}
    assert set(by_label) == {"a.b", "f", "f.g", "C", "C.m"}
    assert f"  {by_label['a.b']} --> {by_label['f']}\n" in text
    assert f"  {by_label['f']} -->|read| {by_label['C']}\n" in text
    assert " -.-> " in export_mermaid(POSSIBLE)


def test_mermaid_escapes_labels() -> None:
    text = export_mermaid(HOSTILE)
    [label] = re.findall(r'^    n0\["(.*)"\]$', text, re.MULTILINE)
    assert not set(label) & set('"<>`')
    assert "#quot;" in label
    assert "#35;x" in label


def test_mermaid_warns_of_more_edges_than_it_draws() -> None:
    symbols = {f"m:f{n}": (FUNCTION, n + 1) for n in range(30)}
    references = [(a, CALL, b) for a in symbols for b in symbols]
    assert export_mermaid(graph_of(symbols, references)).startswith("%% 900 edges")
    assert not export_mermaid(graph_of(symbols, references[:500])).startswith("%%")


@pytest.mark.parametrize("export", [export_dot, export_mermaid, export_html])
def test_externals_are_drawn_on_request(export: Callable[..., str]) -> None:
    assert "os.path.join" not in export(SMALL)
    assert "os.path.join" in export(SMALL, externals=True)


# ---------------------------------------------------------------- graphml


def test_graphml_reads_back() -> None:
    read = nx.read_graphml(io.BytesIO(export_graphml(SMALL).encode()))
    assert set(read.nodes) == set(SMALL.to_networkx().nodes)
    assert set(read.edges()) == set(SMALL.to_networkx().edges())
    assert read.nodes["a.b:C"]["kind"] == "class"
    assert read.edges["a.b:f", "a.b:C"]["kind"] == "read"
    assert read.edges["a.b:f", "a.b:C"]["sites"] == "5:4"


def test_graphml_keeps_parallel_edges_apart() -> None:
    graph = graph_of(
        {"m:f": (FUNCTION, 1), "m:C": (CLASS, 3)}, [("m:f", CALL, "m:C"), ("m:f", READ, "m:C")]
    )
    text = export_graphml(graph)
    read = nx.read_graphml(io.BytesIO(text.encode()))
    assert sorted(data["kind"] for _, _, data in read.edges(data=True)) == ["call", "read"]
    ids = re.findall(r'<edge [^>]*id="(\w+)"', text)
    assert len(set(ids)) == len(ids) == 2


def test_graphml_spells_out_what_xml_cannot_hold() -> None:
    graph = ReferenceGraph(
        symbols=[Symbol(id="m", kind=MODULE, path="bad\x01\udcff.py", span=Span(start=1, end=1))]
    )
    read = nx.read_graphml(io.BytesIO(export_graphml(graph).encode()))
    assert read.nodes["m"]["path"] == r"bad\x01\udcff.py"


# ---------------------------------------------------------------- html


class _Page(HTMLParser):
    """The elements of a page, its scripts, and every attribute that could load something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.scripts: list[str] = []
        self.title = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [f"{tag}.{name}" for name, _ in attrs if name in ("src", "href")]
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "script" and self.scripts:
            self.scripts[-1] += data
        if self.tags and self.tags[-1] == "title":
            self.title += data.strip()


def test_html_is_one_file_with_the_graph_in_it() -> None:
    page = _Page(export_html(SMALL, title="a & <b>"))
    assert page.loads == []
    assert page.title == "a & <b>"
    data = json.loads(page.scripts[0])
    ids = [node[0] for node in data["nodes"]]
    assert ids == ["a.b", "a.b:C", "a.b:C.m", "a.b:f", "a.b:f.<locals>.g"]
    drawn = {(ids[source], ids[target], kind) for source, target, kind, *_ in data["edges"]}
    assert drawn == {
        ("a.b", "a.b:f", "call"),
        ("a.b:f", "a.b:C", "read"),
        ("a.b:f", "a.b:f.<locals>.g", "call"),
    }


def test_html_keeps_analysed_names_out_of_the_markup() -> None:
    page = _Page(export_html(HOSTILE))
    assert "img" not in page.tags
    assert json.loads(page.scripts[0])["nodes"][0][0] == HOSTILE_ID
    assert len(page.scripts) == 2


# ---------------------------------------------------------------- all


@pytest.mark.parametrize(
    "export", [export_json, export_pycg, export_dot, export_mermaid, export_graphml, export_html]
)
def test_every_form_takes_an_empty_graph_and_ignores_the_order_of_building(
    export: Callable[[ReferenceGraph], object],
) -> None:
    json.dumps(export(ReferenceGraph(symbols=[])))
    reversed_graph = ReferenceGraph(
        symbols=reversed(SMALL.symbols), references=reversed(list(SMALL.references()))
    )
    assert json.dumps(export(SMALL)) == json.dumps(export(reversed_graph))
