"""The public interface: what ``docs/api.md`` promises, and that its examples are true."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

import depslice.callgraph
import depslice.slicer

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
