"""Renderings of a slice for files, prompts, readers and programs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from depslice.callgraph.errors import OptionError
from depslice.callgraph.model import (
    Certainty,
    Diagnostic,
    ReferenceKind,
    Severity,
    Site,
    Span,
    Symbol,
    SymbolKind,
    Unresolved,
)
from depslice.slicer.cut import FileCut, Form
from depslice.slicer.model import ExternalImport, Item, Omitted, RenderedFile, Slice, Step
from depslice.slicer.render import (
    render_bundle,
    render_markdown,
    render_tree,
    render_xml,
    slice_to_json,
    write_tree,
)

STEP = Step(
    source="pkg.mod:f",
    target="pkg.util:G",
    kind=ReferenceKind.CALL,
    certainty=Certainty.POSSIBLE,
    evidence="rule",
    path="pkg/mod.py",
    site=Site(line=6, column=11),
)


def item(name: str, path: str, *steps: Step, kind: SymbolKind = SymbolKind.FUNCTION) -> Item:
    symbol = Symbol(id=name, kind=kind, path=path, span=Span(start=4, end=6))
    return Item(symbol=symbol, reason=steps, distance=len(steps))


SLICE = Slice(
    targets=("pkg.mod:f",),
    items=(
        item("pkg.mod:f", "pkg/mod.py"),
        item("pkg.util:G", "pkg/util.py", STEP, kind=SymbolKind.CLASS),
        item("pkg.mod:f.<locals>.<lambda>@5", "pkg/a|b.py", STEP),
    ),
    externals=(
        ExternalImport(module="json", names=("dumps", "loads")),
        ExternalImport(module="os"),
    ),
    unresolved=(
        Unresolved(
            source="pkg.mod:f", name="x.run", reason="unknown-receiver", site=Site(line=7, column=4)
        ),
    ),
    omitted=(Omitted(symbol="pkg.mod:h", why="depth", distance=2),),
    cuts=(
        FileCut(
            path="pkg/__init__.py", module="pkg", is_package=True, text="# x\n", keep=frozenset()
        ),
        FileCut(
            path="pkg/util.py",
            module="pkg.util",
            is_package=False,
            text="class G:\n    def __call__(self): return 2\n    def h(self): ...\n",
            keep=frozenset({("body", 0), ("body", 0, "body", 0)}),
        ),
        FileCut(
            path="pkg/mod.py",
            module="pkg.mod",
            is_package=False,
            text="import os\nfrom pkg.util import G\n\ndef f():\n    return G()()\n",
            keep=frozenset({("body", 1), ("body", 2)}),
        ),
    ),
    diagnostics=(
        Diagnostic(
            slug="syntax-error",
            severity=Severity.WARNING,
            message='two\nlines & <"quotes">',
            path="pkg/bad.py",
            span=Span(start=3, end=3),
        ),
        Diagnostic(slug="cycle", severity=Severity.NOTE, message="a > b", path="pkg/mod.py"),
    ),
)


def file(text: str, path: str = "pkg/mod.py") -> RenderedFile:
    return RenderedFile(path=path, text=text)


# -- tree ------------------------------------------------------------------------------


def test_tree_has_every_cut_file_under_its_path_and_runs(tmp_path: Path) -> None:
    files = render_tree(SLICE)
    assert [(rendered.path, rendered.text) for rendered in files] == [
        ("pkg/__init__.py", ""),
        ("pkg/util.py", "class G:\n    def __call__(self): return 2\n"),
        ("pkg/mod.py", "from pkg.util import G\n\n\ndef f():\n    return G()()\n"),
    ]
    write_tree(files, tmp_path / "new" / "out")
    command = [
        sys.executable,
        "-I",
        "-c",
        "import sys; sys.path[0:0] = ['.']\nimport pkg.mod\nprint(pkg.mod.f())",
    ]
    done = subprocess.run(
        command, cwd=tmp_path / "new" / "out", capture_output=True, text=True, check=True
    )
    assert done.stdout == "2\n"


def test_written_files_are_exact_and_nothing_else_is_left(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()  # an empty directory will do
    write_tree([file("x = 'ü'\n", "a.py"), file("", "b/c/d.py")], out)
    assert (out / "a.py").read_bytes() == "x = 'ü'\n".encode()
    assert contents(tmp_path) == {"out/a.py", "out/b/c/d.py"}


def contents(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if not p.is_dir()}


def test_a_directory_with_files_is_refused_unless_forced(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("old")
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OptionError, match="not empty"):
        write_tree([file("new\n", "a.py")], tmp_path)
    assert (tmp_path / "a.py").read_text() == "old"
    write_tree([file("new\n", "a.py"), file("", "b/c.py")], tmp_path, force=True)
    assert (tmp_path / "a.py").read_text() == "new\n"
    assert contents(tmp_path) == {"a.py", "b/c.py", "mine.txt"}


@pytest.mark.parametrize("path", ["../a.py", "/a.py", "a/../../b.py", "", ".", "a\0.py"])
@pytest.mark.parametrize("force", [False, True])
def test_a_path_that_escapes_is_refused(path: str, force: bool, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="refusing"):
        write_tree([file("", "ok.py"), file("x\n", path)], tmp_path / "out", force=force)
    assert not contents(tmp_path)


def test_a_link_that_escapes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "pkg").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OptionError, match="link"):
        write_tree([file("x\n", "pkg/a.py")], tmp_path / "out", force=True)
    assert not contents(tmp_path / "elsewhere")


def test_the_same_path_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="twice"):
        write_tree([file("", "a.py"), file("", "./a.py")], tmp_path / "out")


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="cannot write"):
        write_tree([file("", "a"), file("", "a/b.py")], tmp_path / "out")
    (tmp_path / "plain").write_text("")
    with pytest.raises(OptionError, match="not a directory"):
        write_tree([file("", "a.py")], tmp_path / "plain")
    with pytest.raises(OptionError, match="cannot write"):
        write_tree([file("", "a.py")], tmp_path / "plain" / "out")
    assert contents(tmp_path) == {"plain"}


# -- bundle ----------------------------------------------------------------------------


def test_bundle_puts_each_file_with_text_under_its_path() -> None:
    files = [file("A = 1\n", "a.py"), file("", "b/__init__.py"), file("import a\n", "b/c.py")]
    assert render_bundle(files) == "# a.py\nA = 1\n\n# b/c.py\nimport a\n"
    assert render_bundle([]) == ""


def test_a_path_cannot_break_out_of_its_comment() -> None:
    bundle = render_bundle([file("A = 1\n", "a\nimport evil\n.py")])
    assert bundle == "# a\\nimport evil\\n.py\nA = 1\n"


# -- markdown --------------------------------------------------------------------------


def test_markdown_says_what_is_there_and_why() -> None:
    text = render_markdown(SLICE, render_tree(SLICE))
    assert (
        text
        == """\
# Slice of `pkg.mod:f`

## Definitions

| Definition | Kind | Distance | Form | Why |
| --- | --- | --- | --- | --- |
| `pkg.mod:f` | function | 0 | full | target |
| `pkg.util:G` | class | 1 | full | possibly called by `pkg.mod:f` (`pkg/mod.py:6`) |
| `pkg.mod:f.<locals>.<lambda>@5` | function | 1 | full \
| possibly called by `pkg.mod:f` (`pkg/mod.py:6`) |

## External imports

- `json`: `dumps`, `loads`
- `os`

## Unresolved

- `x.run` in `pkg.mod:f`, line 7: unknown-receiver

## Omitted

- `pkg.mod:h`: depth (distance 2)

## Diagnostics

- warning: `pkg/bad.py`:3: two lines & <"quotes">
- note: `pkg/mod.py`: a > b

## Files

### `pkg/util.py`

```python
class G:
    def __call__(self): return 2
```

### `pkg/mod.py`

```python
from pkg.util import G


def f():
    return G()()
```
"""
    )


def test_every_kind_of_reference_has_a_reason() -> None:
    for kind in ReferenceKind:
        step = Step(
            source="m:a",
            target="m:b",
            kind=kind,
            certainty=Certainty.DEFINITE,
            evidence="",
            path="m.py",
            site=Site(line=1, column=0),
        )
        slice_ = Slice(
            targets=("m:a",),
            items=(item("m:b", "m.py", step),),
            externals=(),
            unresolved=(),
            omitted=(),
            cuts=(),
        )
        assert re.search(r"\| \w+( \w+)? `m:a` \(`m.py:1`\) \|", render_markdown(slice_, []))


@given(st.text(alphabet="`a\n~ ", max_size=30))
def test_no_text_ends_its_fence(text: str) -> None:
    document = render_markdown(SLICE, [file(text + "x\n")]).split("### `pkg/mod.py`\n\n")[1]
    opening, *rest = document.split("\n")
    fence = opening.removesuffix("python")
    closing = next(
        index
        for index, line in enumerate(rest)
        if re.fullmatch(rf" {{0,3}}`{{{len(fence)},}}\s*", line)  # CommonMark 0.31, section 4.5
    )
    assert "\n".join(rest[:closing]) == text + "x"
    assert rest[closing:] == [fence, ""]


# -- xml -------------------------------------------------------------------------------


def parsed(document: str) -> ET.Element:
    return ET.fromstring(document)  # noqa: S314  # our own output


def test_xml_carries_the_slice() -> None:
    root = parsed(render_xml(SLICE, render_tree(SLICE)))
    assert root.tag == "slice"
    assert root.attrib == {"schema": "depslice.slice/1"}
    assert [child.tag for child in root] == [
        "target",
        *["item"] * 3,
        *["external"] * 2,
        "unresolved",
        "omitted",
        *["diagnostic"] * 2,
        *["document"] * 3,
    ]
    assert root.findall("item")[1].attrib == {
        "id": "pkg.util:G",
        "kind": "class",
        "path": "pkg/util.py",
        "start": "4",
        "end": "6",
        "distance": "1",
        "form": "full",
    }
    assert root.findall("item/step")[0].attrib["certainty"] == "possible"
    assert root.findall("diagnostic")[0].text == 'two\nlines & <"quotes">'
    assert {d.attrib["path"]: d.text or "" for d in root.findall("document")} == {
        rendered.path: rendered.text for rendered in render_tree(SLICE)
    }


@given(
    st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("]>&<\n\t"))
)
def test_xml_keeps_text_and_paths(text: str) -> None:
    text = re.sub("[\ufffe\uffff]", "", text)
    root = parsed(render_xml(SLICE, [file(text, text), file("x = a[b[0]]>1\n")]))
    first, second = root.findall("document")
    assert (first.text or "", first.attrib["path"]) == (text, text)
    assert second.text == "x = a[b[0]]>1\n"


@given(st.text(alphabet=st.characters()))
def test_xml_is_well_formed_whatever_the_text(text: str) -> None:
    document = render_xml(SLICE, [file(text, text)])
    root = parsed(document)
    assert len(root.findall("document")[0].text or "") == len(text)


def test_xml_shows_what_it_cannot_carry() -> None:
    root = parsed(render_xml(SLICE, [file("a\x0cb\x00c\ufffed\re")]))
    assert root.findall("document")[0].text == "a␌b␀c\N{REPLACEMENT CHARACTER}d␍e"


# -- json ------------------------------------------------------------------------------


def plain(value: object) -> Iterator[type]:
    yield type(value)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield type(key)
            yield from plain(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from plain(inner)


def test_json_is_documented_plain_and_in_order() -> None:
    document = slice_to_json(SLICE, files=render_tree(SLICE), root="repo")
    assert set(plain(document)) <= {dict, list, str, int, type(None)}  # no enum slips through
    assert list(document) == [
        "schema",
        "root",
        "targets",
        "items",
        "externals",
        "unresolved",
        "omitted",
        "diagnostics",
        "files",
    ]
    assert document["schema"] == "depslice.slice/1"
    assert document["items"][1] == {
        "id": "pkg.util:G",
        "kind": "class",
        "path": "pkg/util.py",
        "span": {"start": 4, "end": 6},
        "distance": 1,
        "form": "full",
        "reason": [
            {
                "source": "pkg.mod:f",
                "target": "pkg.util:G",
                "kind": "call",
                "certainty": "possible",
                "evidence": "rule",
                "path": "pkg/mod.py",
                "line": 6,
                "column": 11,
            }
        ],
    }
    assert document["externals"] == [
        {"module": "json", "names": ["dumps", "loads"]},
        {"module": "os", "names": []},
    ]
    assert document["unresolved"] == [
        {
            "source": "pkg.mod:f",
            "name": "x.run",
            "reason": "unknown-receiver",
            "line": 7,
            "column": 4,
        }
    ]
    assert document["omitted"] == [{"symbol": "pkg.mod:h", "why": "depth", "distance": 2}]
    assert [d["span"] for d in document["diagnostics"]] == [{"start": 3, "end": 3}, None]
    assert [f["path"] for f in document["files"]] == [cut.path for cut in SLICE.cuts]
    assert json.loads(json.dumps(document)) == document


def test_json_without_files_or_root() -> None:
    document = slice_to_json(SLICE, files=None)
    assert "files" not in document
    assert "root" not in document


def test_renderings_depend_on_the_slice_alone() -> None:
    def render(files: Sequence[RenderedFile]) -> list[str]:
        document = json.dumps(slice_to_json(SLICE, files=files))
        bundle = render_bundle(files)
        return [bundle, render_markdown(SLICE, files), render_xml(SLICE, files), document]

    assert render(render_tree(SLICE)) == render(render_tree(SLICE))


def test_forms_are_named() -> None:
    symbol = SLICE.items[1].symbol
    reduced = Item(symbol=symbol, reason=(STEP,), distance=1, form=Form.SIGNATURE)
    slice_ = Slice(
        targets=("pkg.mod:f",), items=(reduced,), externals=(), unresolved=(), omitted=(), cuts=()
    )
    assert "| signature |" in render_markdown(slice_, [])
    assert 'form="signature"' in render_xml(slice_, [])
    assert slice_to_json(slice_, files=None)["items"][0]["form"] == "signature"
