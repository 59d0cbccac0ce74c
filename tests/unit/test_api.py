"""The public interface: what ``docs/api.md`` promises, and that its examples are true."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import depslice.callgraph
import depslice.slicer
from depslice.callgraph import (
    DepsliceError,
    build_graph,
    find_symbol,
    list_functions,
    open_program,
    open_workspace,
)
from depslice.slicer import (
    explain_symbol,
    function_symbols,
    map_slices,
    render,
    slice_all,
    slice_context,
    slice_symbols,
)

REPO = Path(__file__).parents[2]
PAGE = (REPO / "docs" / "api.md").read_text(encoding="utf-8")
# Parameters that callers may pass. To take one away, or to rename it, breaks tools.
PARAMETERS = {
    "open_program": "path cache include exclude respect_gitignore max_file_bytes python",
    "open_workspace": "path cache include exclude respect_gitignore python",
    "find_symbol": "program text",
    "list_functions": "program workers",
    "build_graph": "program resolvers workers progress options",
    "slice_symbols": "program targets depth budget whole_classes least",
    "slice_context": "program targets depth budget whole_classes format strategy usages least",
    "render": "program found format strategy usages",
    "explain_symbol": "found symbol_id",
    "function_symbols": "program",
}


def documented(package: ModuleType) -> set[str]:
    table = PAGE.partition(f"| `{package.__name__}` | |\n")[2].partition("\n\n")[0]
    return set(re.findall(r"`(\w+)`", table))


@pytest.mark.parametrize("package", [depslice.callgraph, depslice.slicer], ids=lambda p: p.__name__)
def test_what_is_public_is_documented(package: ModuleType) -> None:
    assert documented(package) == set(package.__all__)


@pytest.mark.parametrize(
    ("package", "name"),
    [(p, name) for p in (depslice.callgraph, depslice.slicer) for name in p.__all__],
)
def test_what_is_public_is_typed_and_described(package: ModuleType, name: str) -> None:
    public = getattr(package, name)
    assert public.__doc__
    if inspect.isfunction(public):
        signature = inspect.signature(public)
        assert signature.return_annotation is not inspect.Signature.empty
        for parameter in signature.parameters.values():
            assert parameter.annotation is not inspect.Parameter.empty


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_stay(name: str) -> None:
    home = depslice.callgraph if name in depslice.callgraph.__all__ else depslice.slicer
    parameters = inspect.signature(getattr(home, name)).parameters
    wanted = PARAMETERS[name].split()
    assert list(parameters)[: len(wanted)] == wanted or set(wanted) <= parameters.keys()
    # What was added since must not be asked of those who do not know it.
    for added in parameters.keys() - set(wanted):
        assert parameters[added].default is not inspect.Parameter.empty


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        depslice.callgraph.nonsense  # noqa: B018


WRONG = (None, "", 0, -1, 1.5, b"x", ["x"], object(), "nonsense")


def test_what_is_wrong_is_told_where_it_comes_in(tmp_path: Path) -> None:
    """Each value that an option does not take is one error, not an answer to another question."""
    (tmp_path / "m.py").write_text("def f(): g()\ndef g(): pass\n")
    program = open_program(tmp_path, cache=None)
    found = slice_symbols(program, ["m:f"])
    graph = build_graph(program)
    [symbol] = [each for each in graph.symbols if each.id == "m:f"]
    none_or_number = {None, 0}
    calls: list[tuple[Callable[[Any], object], set[object]]] = [
        (lambda x: open_program(x, cache=None), set()),
        (lambda x: open_workspace(x, cache=None), set()),
        (lambda x: open_program(tmp_path, cache=x), {None}),
        (lambda x: open_program(tmp_path, cache=None, include=x), {None, "['x']"}),
        (lambda x: open_program(tmp_path, cache=None, respect_gitignore=x), set()),
        (lambda x: open_program(tmp_path, cache=None, max_file_bytes=x), set()),
        (lambda x: open_workspace(tmp_path, cache=None, python=x), {None}),
        (lambda x: find_symbol(x, "f"), set()),
        (lambda x: find_symbol(program, x), set()),
        (list_functions, set()),
        (lambda x: list_functions(program, workers=x), {None}),
        (build_graph, set()),
        (lambda x: build_graph(program, resolvers=x), set()),
        (lambda x: build_graph(program, workers=x), {None}),
        (lambda x: build_graph(program, progress=x), {None}),
        (lambda x: build_graph(program, options=x), {None}),
        (lambda x: slice_symbols(x, ["m:f"]), set()),
        (lambda x: slice_symbols(program, x), set()),
        (lambda x: slice_symbols(program, ["m:f"], depth=x), none_or_number),
        (lambda x: slice_symbols(program, ["m:f"], budget=x), {None}),
        (lambda x: slice_symbols(program, ["m:f"], whole_classes=x), set()),
        (lambda x: slice_symbols(program, ["m:f"], observed=x), set()),
        (lambda x: slice_symbols(program, ["m:f"], spelled=x), set()),
        (lambda x: slice_symbols(program, ["m:f"], tokenizer=x), set()),
        (lambda x: slice_symbols(program, ["m:f"], least=x), set()),
        (lambda x: slice_context(x, ["m:f"]), set()),
        (lambda x: slice_context(program, x), set()),
        (lambda x: slice_context(program, ["m:f"], strategy=x), set()),
        (lambda x: slice_context(program, ["m:f"], usages=x), {0}),
        (lambda x: render(x, found), set()),
        (lambda x: render(program, x), set()),
        (lambda x: render(program, found, format=x), set()),
        (lambda x: render(program, found, strategy=x), set()),
        (lambda x: render(program, found, tokenizer=x), set()),
        (lambda x: explain_symbol(x, "m:f"), set()),
        (lambda x: explain_symbol(found, x), {"", "nonsense"}),
        (function_symbols, set()),
        (slice_all, set()),
        (lambda x: slice_all(program, depth=x), none_or_number),
        (lambda x: map_slices(program, x, print), {""}),
        (lambda x: map_slices(program, [symbol], x), set()),
        (lambda x: map_slices(program, [symbol], print, budget=x), {None}),
        (lambda x: map_slices(program, [symbol], print, nonsense=x), set()),
        (graph.symbol, set()),
        (graph.callees, set()),
        (lambda x: graph.callers("m:f", depth=x), none_or_number),
        (graph.outgoing, set()),
        (lambda x: graph.incoming("m:f", kind=x), {None}),
        (lambda x: graph.references(certainty=x), {None}),
        (graph.at_least, set()),
        (graph.select, set()),
        (lambda x: graph.neighbourhood(x, direction="both", depth=1), set()),
        (lambda x: graph.neighbourhood(["m:f"], direction=x, depth=1), set()),
    ]
    for number, (call, right) in enumerate(calls):
        for value in WRONG:
            if (value if value.__hash__ else str(value)) in right:
                call(value)
                continue
            with pytest.raises(DepsliceError) as raised:
                pytest.fail(f"call {number} takes {value!r}: {call(value)!r}")
            assert "\n" not in raised.value.message


def test_a_slice_that_was_recalled_is_not_rendered_as_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPSLICE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "m.py").write_text("def f(): pass\n")
    with closing(open_program(tmp_path)) as program:
        slice_context(program, ["m:f"])
        found, context = slice_context(program, ["m:f"])
        assert context.files[0].text
        assert "def f" in render(program, found, strategy="naive").files[0].text
        with pytest.raises(DepsliceError, match="recalled"):
            render(program, found)


def test_what_is_public_is_shown_in_short(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def f(): g()\ndef g(): pass\n")
    workspace = open_workspace(tmp_path, cache=None)
    program = workspace.program()
    found = slice_symbols(program, ["m:f"], depth=0)
    shown = [workspace, program, program.module("m"), found, render(program, found)]
    assert [*map(repr, shown)] == [
        f"<Workspace {tmp_path}: 1 files, revision 1>",
        f"<Program {tmp_path}: 1 files>",
        "<Module m: m.py>",
        "<Slice of m:f: 1 items, 1 omitted>",
        "<Context sliced: 4 tokens (characters/4) in m.py>",
    ]
    workspace.close()
    workspace.close()
    for ask in (workspace.refresh, workspace.program, lambda: workspace.settle(program)):
        with pytest.raises(DepsliceError, match="the workspace is closed"):
            ask()
    assert "closed" in repr(workspace)


def test_the_examples_are_true(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(REPO)
    monkeypatch.setenv("DEPSLICE_CACHE_DIR", str(tmp_path / "cache"))
    examples = doctest.DocTestParser().get_doctest(
        re.sub(r"^```.*$", "", PAGE, flags=re.MULTILINE), {}, "api.md", "docs/api.md", 0
    )
    assert len(examples.examples) > 25
    said: list[str] = []
    outcome = doctest.DocTestRunner().run(examples, out=said.append)
    assert outcome.failed == 0, "".join(said)
