"""What classes of the standard library call of their own objects, as it was read from them."""

from __future__ import annotations

import pytest

from depslice.callgraph.stubs.called_back import MAKE, called_back
from depslice.callgraph.stubs.store import Stubs


def test_classes_go_by_their_names_in_the_stubs() -> None:
    """Where not, the stubs are others: run ``benchmarks/called_back.py``."""
    stubs = Stubs()
    unknown = []
    for name in called_back():
        found = stubs.class_named(name)
        if found is None or found.dotted != name:
            unknown.append(name)
    assert not unknown


@pytest.mark.parametrize(
    ("name", "method", "asked"),
    [
        ("threading.Thread", "_bootstrap_inner", "run"),
        ("html.parser.HTMLParser", "feed", "goahead"),
        ("html.parser.HTMLParser", "goahead", "parse_starttag"),
        ("ast.NodeVisitor", "visit", "visit_*"),
        ("cmd.Cmd", "onecmd", "do_*"),
        ("typing.Mapping", "get", "__getitem__"),
        ("typing.Mapping", "items", "__iter__"),
        ("typing.AbstractSet", "_from_iterable", MAKE),
        ("socketserver.BaseRequestHandler", "__init__", "handle"),
        ("logging.Handler", "handle", "emit"),
    ],
)
def test_what_methods_ask_for(name: str, method: str, asked: str) -> None:
    assert asked in called_back()[name][method]


def test_methods_that_are_written_in_c_have_no_entry() -> None:
    assert not [name for name in called_back() if name.startswith("builtins.")]
    assert "collections.OrderedDict" not in called_back()
