"""The resolver door, and the jedi and PyCG adapters.

PyCG is an optional extra: the tests that need it run if the chosen interpreter
(``DEPSLICE_PYCG_PYTHON``, else the running one) has it, and assert the clear
error otherwise. The translation of its answers is tested in both cases.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import subprocess
import sys
import sysconfig
import textwrap
import venv
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from depslice.callgraph import build_graph, open_program
from depslice.callgraph.errors import OptionError, ResolverUnavailable
from depslice.callgraph.model import (
    Certainty,
    Diagnostic,
    ReferenceKind,
    Site,
    Span,
    Symbol,
    SymbolKind,
    Unresolved,
)
from depslice.callgraph.resolvers import (
    CallSite,
    ResolveRequest,
    ResolverFile,
    ResolverResult,
    load_resolvers,
    pycg_resolver,
    resolver_names,
)
from depslice.callgraph.resolvers import protocol as protocol_module
from depslice.callgraph.resolvers.called import called_expressions
from depslice.callgraph.resolvers.jedi_resolver import JediResolver
from depslice.callgraph.resolvers.protocol import write_source_tree
from depslice.callgraph.resolvers.pycg_resolver import PycgResolver

REPO = Path(__file__).parents[3]
THIRD_PARTY = REPO / "fixtures" / "third_party_resolver"

if TYPE_CHECKING:
    from collections.abc import Callable

RUNNER = Path(pycg_resolver.__file__).with_name("pycg_runner.py")
PYCG_PYTHON = os.environ.get(pycg_resolver.PYTHON_VARIABLE) or sys.executable


# ---------------------------------------------------------------- a repository as values


def request_for(files: dict[str, str], **options: str) -> ResolveRequest:
    """A request for these sources, with the symbols and call sites that ``ast`` shows."""
    sources = []
    symbols: list[Symbol] = []
    sites: list[CallSite] = []
    for path, raw in files.items():
        text = textwrap.dedent(raw).lstrip("\n")
        module, is_package = _module_name(path)
        sources.append(
            ResolverFile(
                path=path, module=module, is_package=is_package, source_root=".", text=text
            )
        )
        span = Span(start=1, end=max(1, text.count("\n")))
        symbols.append(Symbol(id=module, kind=SymbolKind.MODULE, path=path, span=span))
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        _Scan(path, symbols, sites).scan(tree, module=module)
    return ResolveRequest(
        root=Path("/nowhere"),
        files=tuple(sources),
        symbols=tuple(symbols),
        call_sites=tuple(sites),
        options={name.replace("__", ".").replace("_", "-"): v for name, v in options.items()},
    )


def _module_name(path: str) -> tuple[str, bool]:
    parts = path.removesuffix(".py").split("/")
    if parts[-1] == "__init__":
        return ".".join(parts[:-1]), True
    return ".".join(parts), False


class _Scan:
    def __init__(self, path: str, symbols: list[Symbol], sites: list[CallSite]) -> None:
        self.path, self.symbols, self.sites = path, symbols, sites

    def scan(self, tree: ast.AST, *, module: str) -> None:
        self._children(tree, module, prefix="", source=module, in_class=False)

    def _children(
        self, node: ast.AST, module: str, *, prefix: str, source: str, in_class: bool
    ) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call) and isinstance(child.func, ast.Name | ast.Attribute):
                self._call(child.func, source)
            if not isinstance(
                child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
            ):
                self._children(child, module, prefix=prefix, source=source, in_class=in_class)
                continue
            name = f"<lambda>@{child.lineno}" if isinstance(child, ast.Lambda) else child.name
            is_class = isinstance(child, ast.ClassDef)
            kind = SymbolKind.METHOD if in_class else SymbolKind.FUNCTION
            lines = [child.lineno, *(d.lineno for d in getattr(child, "decorator_list", []))]
            symbol = Symbol(
                id=f"{module}:{prefix}{name}",
                kind=SymbolKind.CLASS if is_class else kind,
                path=self.path,
                span=Span(start=min(lines), end=child.end_lineno or child.lineno),
            )
            self.symbols.append(symbol)
            inner = f"{prefix}{name}." if is_class else f"{prefix}{name}.<locals>."
            self._children(child, module, prefix=inner, source=symbol.id, in_class=is_class)

    def _call(self, func: ast.Name | ast.Attribute, source: str) -> None:
        name = func.id if isinstance(func, ast.Name) else func.attr
        column = (func.end_col_offset or 0) - len(name.encode())
        self.sites.append(
            CallSite(
                source=source,
                path=self.path,
                name_site=Site(line=func.end_lineno or func.lineno, column=column),
                text=ast.unparse(func),
            )
        )


def edges(result: ResolverResult) -> set[tuple[str, str]]:
    return {(reference.source, reference.target) for reference in result.references}


# ---------------------------------------------------------------- finding resolvers


class _Silent:
    name = "silent"

    def resolve(self, request: ResolveRequest) -> ResolverResult:
        return ResolverResult(references=())


class _Telling(_Silent):
    name = "telling"

    def resolve(self, request: ResolveRequest) -> ResolverResult:
        assert request.progress is not None
        request.progress(40, 41)
        return ResolverResult(references=())


def _broken() -> _Silent:
    raise RuntimeError("no licence")


def _install(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    points = [
        EntryPoint(name=name, value=value, group=protocol_module.ENTRY_POINT_GROUP)
        for name, value in values.items()
    ]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: points)


def test_built_in_resolvers_are_there_without_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch)
    assert resolver_names() == ["jedi", "pycg"]
    assert [resolver.name for resolver in load_resolvers(["pycg", "jedi"])] == ["pycg", "jedi"]


def test_plug_ins_come_through_the_same_door(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, silent=f"{__name__}:_Silent")
    assert [type(resolver).__name__ for resolver in load_resolvers(["silent"])] == ["_Silent"]


def test_what_is_called_is_told_in_its_own_words() -> None:
    """It was empty, and so were the names of what jedi could not resolve."""
    called = called_expressions(
        "@deco\ndef f(x):\n    return x.a(é.b.c(1), x\n        .d())\nf()()\nt[0](x)\n"
    )
    places = [(3, 13), (3, 20), (4, 9), (5, 0), (5, 0), (6, 0), (1, 1)]
    assert [called(Site(line=line, column=column)) for line, column in places] == [
        *("x.a", "é.b.c", "x.d", "f", "f()", "t[0]", ""),
    ]
    assert called(Site(line=5, column=0)) == "f"  # lowered twice


def test_the_resolver_that_the_documents_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (THIRD_PARTY / "depslice_by_name.py").read_text(encoding="utf-8")
    page = REPO / "docs" / "resolvers.md"
    assert f"```python\n{code}```\n" in page.read_text(encoding="utf-8")
    monkeypatch.syspath_prepend(str(THIRD_PARTY))
    assert resolver_names() == ["by-name", "jedi", "pycg"]
    (tmp_path / "m.py").write_text(
        "def f(x): return x.only() + x.two()\nclass A:\n    def only(self): pass\n"
        "    def two(self): pass\nclass B:\n    def two(self): pass\n"
    )
    program = open_program(tmp_path, cache=None)
    graph = build_graph(program, resolvers=["by-name"])
    assert [(each.source, each.target, each.evidence) for each in graph.references()] == [
        ("m:f", "m:A.only", ("by-name",))
    ]
    assert [(each.name, each.reason) for each in graph.unresolved] == [
        ("x.two", "unknown-receiver")
    ]
    both = build_graph(program, resolvers=["own", "by-name"])
    found = [each for each in both.references() if each.target == "m:A.only"]
    assert ["by-name" in each.evidence for each in found if each.kind is ReferenceKind.CALL] == [
        True
    ]


def test_an_unknown_resolver_lists_the_known(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch)
    with pytest.raises(OptionError, match="'jdei'") as caught:
        load_resolvers(["jdei"])
    assert caught.value.hint == "there are: own, jedi, pycg"


def test_an_unknown_resolver_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    told: list[int] = []
    with pytest.raises(OptionError, match="no resolver is called 'magic'"):
        build_graph(
            open_program(tmp_path, cache=None),
            resolvers=["own", "magic"],
            progress=lambda done, _: told.append(done),
        )
    assert told == []


def test_a_resolver_is_given_the_progress_to_tell(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text("")
    _install(monkeypatch, telling=f"{__name__}:_Telling")
    told: list[tuple[int, int]] = []
    build_graph(
        open_program(tmp_path, cache=None),
        resolvers=["telling"],
        progress=lambda done, of: told.append((done, of)),
    )
    assert (40, 41) in told


class _Nameless:
    def resolve(self, request: ResolveRequest) -> ResolverResult:
        return ResolverResult()


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        ("no_such_module_at_all:thing", "No module named 'no_such_module_at_all'"),
        (f"{__name__}:missing", "missing"),
        (f"{__name__}:_broken", "RuntimeError: no licence"),
        ("builtins:dict", "has no method 'resolve'"),
        (f"{__name__}:_Nameless", "has no 'name' (str)"),
    ],
)
def test_a_plug_in_that_fails_to_load_is_named_with_the_cause(
    monkeypatch: pytest.MonkeyPatch, value: str, cause: str
) -> None:
    _install(monkeypatch, mine=value)
    with pytest.raises(ResolverUnavailable) as caught:
        load_resolvers(["mine"])
    assert "'mine'" in caught.value.message
    assert cause in caught.value.message


class _Crashing(_Silent):
    name = "crashing"

    def resolve(self, request: ResolveRequest) -> ResolverResult:
        raise RuntimeError("boom")


class _Chatty(_Silent):
    name = "chatty"

    def resolve(self, request: ResolveRequest) -> ResolverResult:
        return "all is well"  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("value", "cause"),
    [("_Crashing", "'crashing' fails: RuntimeError: boom"), ("_Chatty", "gives str")],
)
def test_a_plug_in_that_fails_while_it_resolves_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, cause: str
) -> None:
    _install(monkeypatch, mine=f"{__name__}:{value}")
    (tmp_path / "m.py").write_text("def f():\n    return f()\n")
    with pytest.raises(ResolverUnavailable, match=cause):
        build_graph(open_program(str(tmp_path)), resolvers=["mine"])


def test_two_resolvers_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, jedi=f"{__name__}:_Silent")
    with pytest.raises(OptionError, match="two resolvers are called 'jedi'"):
        load_resolvers(["pycg"])


# ---------------------------------------------------------------- the copy of the sources


def test_the_copy_is_laid_out_by_module_name(tmp_path: Path) -> None:
    files = [
        ResolverFile(
            path="src/p/__init__.py", module="p", is_package=True, source_root="src", text="é\r\n"
        ),
        ResolverFile(path="src/p/m.py", module="p.m", is_package=False, source_root="src", text=""),
        ResolverFile(path="run-me.py", module="run-me", is_package=False, source_root=".", text=""),
        ResolverFile(path="z/p/m.py", module="p.m", is_package=False, source_root="z", text=""),
        ResolverFile(path="up.py", module="..up", is_package=False, source_root=".", text=""),
    ]
    written, diagnostics = write_source_tree(files, tmp_path)
    assert {str(copy.relative_to(tmp_path)): file.path for copy, file in written.items()} == {
        "p/__init__.py": "src/p/__init__.py",
        "p/m.py": "src/p/m.py",
        "run-me.py": "run-me.py",
    }
    assert (tmp_path / "p/__init__.py").read_bytes() == "é\r\n".encode()
    assert {diagnostic.path for diagnostic in diagnostics} == {"z/p/m.py", "up.py"}


# ---------------------------------------------------------------- jedi

SHOP = {
    "shop/__init__.py": "from .till import charge\n",
    "shop/till.py": """
        import functools
        import os.path

        def logged(f):
            @functools.wraps(f)
            def inner(*args):
                return f(*args)
            return inner

        @logged
        def charge(amount):
            return helper(amount)

        def helper(amount):
            return os.path.join("a", str(amount))
        """,
    "shop/items.py": """
        from shop import charge

        class Base:
            def __init__(self):
                self.helper = Plain()

        class Plain:
            def ping(self):
                return 1

        class Item(Base):
            def buy(self):
                self.helper.ping()
                return charge(1)

            def __call__(self):
                return self.buy()

        def main():
            item = Item()
            alias = charge
            été = "é"; alias(été); item()
            Plain()
            unknown.thing()
            chosen = Item if item else Plain
            chosen()
        """,
}


def test_jedi_resolves_across_files() -> None:
    result = JediResolver().resolve(request_for(SHOP))
    assert edges(result) == {
        ("shop.items:Base.__init__", "shop.items:Plain"),
        ("shop.items:Item.__call__", "shop.items:Item.buy"),
        ("shop.items:Item.buy", "shop.items:Plain.ping"),
        ("shop.items:Item.buy", "shop.till:charge"),
        ("shop.items:main", "shop.items:Base.__init__"),
        ("shop.items:main", "shop.items:Item.__call__"),
        ("shop.items:main", "shop.items:Plain"),
        ("shop.items:main", "shop.till:charge"),
        ("shop.till:charge", "shop.till:helper"),
    }
    assert all(reference.evidence == ("jedi",) for reference in result.references)


def test_jedi_says_what_it_could_not_resolve_and_why() -> None:
    unresolved = JediResolver().resolve(request_for(SHOP)).unresolved
    found = {(u.source, u.name): u.reason for u in unresolved}
    assert found["shop.items:main", "unknown.thing"] == "jedi-unknown"
    assert found["shop.till:helper", "os.path.join"] == "external"
    assert found["shop.till:helper", "builtins.str"] == "external"


def test_jedi_edges_carry_sites_and_certainty() -> None:
    files = {
        "m.py": """
            def f(): pass
            def g(): pass
            def h(x):
                k = f if x else g
                k()
                é = f(); f()
            """
    }
    result = JediResolver().resolve(request_for(files))
    by_target = {reference.target: reference for reference in result.references}
    assert by_target["m:g"].certainty is Certainty.LIKELY
    assert by_target["m:f"].certainty is Certainty.DEFINITE
    # Columns are UTF-8 bytes: `é` takes two.
    assert [(s.line, s.column) for s in by_target["m:f"].sites] == [(5, 4), (6, 9), (6, 14)]


def test_jedi_finds_the_inherited_initializer_through_generic_and_imported_bases() -> None:
    files = {
        "a.py": """
            class Root:
                def __init__(self): pass
            class Ring(Root): pass
            """,
        "b.py": """
            import a
            from typing import Generic, TypeVar
            T = TypeVar("T")
            class Mid(Generic[T], a.Ring): pass
            class Leaf(Mid[int]): pass
            class Loop(Loop): pass
            class Outer:
                class Leaf: pass
            def make():
                Leaf()
                Loop()
                Outer.Leaf()
            """,
    }
    result = JediResolver().resolve(request_for(files))
    assert {target for source, target in edges(result) if source == "b:make"} == {
        "a:Root.__init__",
        "b:Loop",
        "b:Outer.Leaf",
    }


def test_jedi_takes_decorated_definitions_lambdas_and_syntax_errors() -> None:
    files = {
        "m.py": """
            import functools
            @functools.lru_cache(
                maxsize=None,
            )
            def cached(): pass

            def main():
                cached()
                double = lambda n: n * 2
                double(1)
            """,
        "broken.py": "def f(:\n",
    }
    assert edges(JediResolver().resolve(request_for(files))) == {
        ("m:main", "m:cached"),
        ("m:main", "m:main.<locals>.<lambda>@9"),
    }


def test_a_crash_of_jedi_costs_one_site(monkeypatch: pytest.MonkeyPatch) -> None:
    import jedi

    goto = jedi.Script.goto

    def failing(self: jedi.Script, line: int, column: int, **options: bool) -> object:
        if line == 4:
            raise AssertionError("inside jedi")
        return goto(self, line, column, **options)

    monkeypatch.setattr(jedi.Script, "goto", failing)
    files = {"m.py": "def f(): pass\n\ndef g():\n    f()\n    f()\n"}
    result = JediResolver().resolve(request_for(files))
    assert result.unresolved == (
        Unresolved(source="m:g", name="f", reason="jedi-error", site=Site(line=4, column=4)),
    )
    assert [r.sites for r in result.references] == [(Site(line=5, column=4),)]


def test_jedi_stops_at_the_time_limit_of_a_file() -> None:
    files = {"m.py": "def f(): pass\n\ndef g():\n    f()\n    f()\n"}
    result = JediResolver().resolve(request_for(files, jedi__timeout="-1"))
    assert result.references == ()
    assert [u.reason for u in result.unresolved] == ["time-limit", "time-limit"]
    [diagnostic] = result.diagnostics
    assert (diagnostic.slug, diagnostic.path) == ("jedi-time-limit", "m.py")


def test_jedi_reports_progress_and_leaves_its_settings_as_they_were() -> None:
    import jedi

    before = (jedi.settings.cache_directory, sys.getrecursionlimit())
    seen: list[tuple[int, int]] = []
    request = request_for(SHOP)
    JediResolver().resolve(
        ResolveRequest(
            root=request.root,
            files=request.files,
            symbols=request.symbols,
            call_sites=request.call_sites,
            progress=lambda done, total: seen.append((done, total)),
        )
    )
    assert seen == [(1, 2), (2, 2)]
    assert (jedi.settings.cache_directory, sys.getrecursionlimit()) == before


def test_jedi_missing_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jedi", None)
    with pytest.raises(ResolverUnavailable) as caught:
        JediResolver().resolve(request_for({"m.py": ""}))
    assert caught.value.hint == "pip install jedi"


def test_options_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(OptionError, match=r"jedi\.timeout wants a number, not 'soon'"):
        JediResolver().resolve(request_for({"m.py": ""}, jedi__timeout="soon"))
    with pytest.raises(OptionError, match=r"pycg\.memory has to be positive"):
        PycgResolver().resolve(request_for({"m.py": ""}, pycg__memory="0"))


# `{marker!r}` is replaced by the path of a file that must never come to be.
MARKER_REPOSITORY = {
    "pkg/__init__.py": "open({marker!r}, 'w').close()\nfrom . import inner\n",
    "pkg/inner.py": "open({marker!r}, 'w').close()\ndef f(): pass\n",
    "conftest_of_the_specimen.py": "open({marker!r}, 'w').close()\n",
    "sitecustomize.py": "open({marker!r}, 'w').close()\n",
    "main.py": """
        open({marker!r}, 'w').close()
        import pkg.inner, pkg.missing, math, extension
        extension.start(1)
        from pkg import *
        pkg.inner.f()
        inner.f()
        math.sin(1)
        __import__("pkg")
        """,
}


def _marked(marker: Path) -> dict[str, str]:
    return {
        path: text.replace("{marker!r}", repr(str(marker)))
        for path, text in MARKER_REPOSITORY.items()
    }


class _Audit:
    """Records which files under a folder this process executes or loads, while it is active.

    Audit hooks cannot be removed: this one falls silent instead.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        self.seen: list[str] = []
        self.active = True
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active or event not in ("exec", "import"):
            return
        file = arguments[0].co_filename if event == "exec" else arguments[1]
        if isinstance(file, str) and file.startswith(self.folder):
            self.seen.append(Path(file).name)


def test_jedi_runs_no_analysed_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = tmp_path / "executed"
    for path, text in _marked(marker).items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(textwrap.dedent(text).lstrip("\n"))
    # The worst case: the repository can be imported, and holds an extension module.
    extension = f"extension{sysconfig.get_config_var('EXT_SUFFIX')}"
    (tmp_path / extension).write_bytes(b"not really")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    audit = _Audit(tmp_path)
    result = JediResolver().resolve(request_for(_marked(marker)))
    assert ("main", "pkg.inner:f") in edges(result)
    assert audit.seen == []
    assert not marker.exists()
    # The audit would have noticed.
    with pytest.raises(ImportError):
        importlib.import_module("extension")
    importlib.import_module("conftest_of_the_specimen")
    audit.active = False
    monkeypatch.delitem(sys.modules, "conftest_of_the_specimen")
    assert audit.seen == [extension, "conftest_of_the_specimen.py"]
    assert marker.exists()


# ---------------------------------------------------------------- PyCG: names


@pytest.fixture
def answering(tmp_path: Path) -> Callable[..., str]:
    """A stand-in for Python that gives a canned answer whatever it is asked to run."""

    def make(**answer: object) -> str:
        (tmp_path / "answer.json").write_text(json.dumps(answer))
        script = tmp_path / "python"
        script.write_text(f"#!/bin/sh\ncat > /dev/null\ncat '{tmp_path}/answer.json'\n")
        script.chmod(0o755)
        return str(script)

    return make


def _translated(
    answering: Callable[..., str],
    graph: dict[str, list[str]],
    files: dict[str, str],
    lines: dict[str, dict[str, int]] | None = None,
) -> ResolverResult:
    python = answering(graph=graph, lines=lines or {}, skipped={})
    return PycgResolver().resolve(request_for(files, pycg__python=python))


NAMED = {
    "a/__init__.py": """
        def b(): pass
        """,
    "a/b.py": """
        import os
        class C:
            def __init__(self): pass
            def m(self): pass
        class D(C): pass
        def f():
            def g(): pass
            g()
            C()
            os.getcwd()
        f()
        """,
}


def test_pycg_names_become_symbol_ids(answering: Callable[..., str]) -> None:
    graph = {
        "a.b": ["a.b.f", "a.b"],
        "a.b.f": ["a.b.f.g", "a.b.C.__init__", "a.b.C", "a.b.C.m"],
    }
    result = _translated(answering, graph, NAMED)
    assert edges(result) == {
        ("a.b", "a.b:f"),
        ("a.b:f", "a.b:f.<locals>.g"),
        ("a.b:f", "a.b:C.__init__"),
        ("a.b:f", "a.b:C.m"),
        # Module `a.b` and function `b` of package `a` have one name.
        ("a.b", "a:b"),
    }
    by_target = {reference.target: reference for reference in result.references}
    assert by_target["a.b:C.__init__"].sites == (Site(line=9, column=4),)
    assert by_target["a.b:C.m"].sites == ()
    assert {r.certainty for r in result.references} == {Certainty.LIKELY}
    assert {r.evidence for r in result.references} == {("pycg",)}


def test_pycg_callees_outside_the_repository_are_unresolved(answering: Callable[..., str]) -> None:
    result = _translated(
        answering, {"a.b.f": ["os.getcwd", "<builtin>.print"], "os.x": ["os.y"]}, NAMED
    )
    assert result.references == ()
    assert result.unresolved == (
        Unresolved(
            source="a.b:f", name="builtins.print", reason="external", site=Site(line=6, column=0)
        ),
        Unresolved(
            source="a.b:f", name="os.getcwd", reason="external", site=Site(line=10, column=7)
        ),
    )


def test_pycg_lambdas_are_found_by_line_then_by_number(answering: Callable[..., str]) -> None:
    files = {
        "m.py": """
            table = {"a": lambda: f()}
            later = lambda: f()
            def f(): pass
            """
    }
    graph = {"m.<dict1>.<lambda1>": ["m.f"], "m.<lambda2>": ["m.f"]}
    result = _translated(answering, graph, files, {"m": {"m.<dict1>.<lambda1>": 1, "m": 1}})
    assert edges(result) == {("m:<lambda>@1", "m:f"), ("m:<lambda>@2", "m:f")}


def test_pycg_reports_the_files_it_had_to_skip(tmp_path: Path) -> None:
    # The path in the answer is that of the copy, which only the process knows.
    script = tmp_path / "python"
    script.write_text(
        f"#!{sys.executable}\n"
        "import json, sys\n"
        "order = json.load(sys.stdin)\n"
        "skipped = {order['files'][0]: 'IndexError: x'}\n"
        "json.dump({'graph': {}, 'lines': {}, 'skipped': skipped}, sys.stdout)\n"
    )
    script.chmod(0o755)
    result = PycgResolver().resolve(request_for(NAMED, pycg__python=str(script)))
    [diagnostic] = result.diagnostics
    assert isinstance(diagnostic, Diagnostic)
    assert (diagnostic.slug, diagnostic.path) == ("pycg-skipped-file", "a/__init__.py")
    assert diagnostic.message.endswith("IndexError: x")


# ---------------------------------------------------------------- PyCG: when it cannot run


def _unavailable(**options: str) -> ResolverUnavailable:
    with pytest.raises(ResolverUnavailable) as caught:
        PycgResolver().resolve(request_for(NAMED, **options))
    assert "\n" not in caught.value.message
    return caught.value


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A real interpreter that has no PyCG."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False, symlinks=True)
    return str(folder / "bin" / "python")


def test_a_python_without_pycg_says_how_to_install_it(bare_python: str) -> None:
    error = _unavailable(pycg__python=bare_python)
    assert error.message == f"{bare_python} has no working PyCG: No module named 'pycg'"
    assert "pip install 'depslice[pycg]'" in error.hint


def test_the_environment_variable_names_the_python(
    bare_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(pycg_resolver.PYTHON_VARIABLE, bare_python)
    assert _unavailable().message.startswith(bare_python)


@pytest.mark.parametrize("name", ["missing", "not-executable"])
def test_a_python_that_cannot_be_started(tmp_path: Path, name: str) -> None:
    (tmp_path / "not-executable").write_text("")
    python = str(tmp_path / name)
    error = _unavailable(pycg__python=python)
    assert error.message.startswith(f"the Python for PyCG cannot be started: {python}")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"error": "python", "detail": "Python 3.14"}, "PyCG does not run on Python 3.14"),
        ({"error": "memory", "detail": ""}, "PyCG needs more than 4096 MiB of memory"),
        ({"error": "crash", "detail": "KeyError: 1"}, "PyCG crashed: KeyError: 1"),
    ],
)
def test_what_the_runner_reports(
    answering: Callable[..., str], answer: dict[str, str], message: str
) -> None:
    assert _unavailable(pycg__python=answering(**answer)).message.startswith(message)


def test_a_program_that_is_no_python(tmp_path: Path) -> None:
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\ncat > /dev/null\necho 'killed for fun' >&2\nexit 9\n")
    script.chmod(0o755)
    message = _unavailable(pycg__python=str(script)).message
    assert "exit status 9" in message
    assert message.endswith("killed for fun")


def test_pycg_is_stopped_at_the_time_limit(tmp_path: Path) -> None:
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\nexec sleep 60\n")
    script.chmod(0o755)
    error = _unavailable(pycg__python=str(script), pycg__timeout="0.2")
    assert error.message == "PyCG did not finish within 0.2 s"
    assert "pycg.timeout" in error.hint


def test_the_runner_refuses_to_execute_module_bodies(tmp_path: Path) -> None:
    """The last line of defence, tried directly: an import that PyCG's hooks do not blank."""
    (tmp_path / "victim.py").write_text("open('executed', 'w')\n")
    (tmp_path / "empty.py").write_text("")
    code = (
        "import sys, runpy, os\n"
        f"runner = runpy.run_path({str(RUNNER)!r}, run_name='runner')\n"
        "[__import__(name) for name in runner['PRELOADED']]\n"
        "runner['close_imports']()\n"
        f"sys.path.append({str(tmp_path)!r})\n"
        "import empty\n"
        "print('still alive', flush=True)\n"
        "import victim\n"
    )
    process = subprocess.run(
        [sys.executable, "-B", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.stdout == "still alive\n"
    assert process.returncode == 70
    assert "refused to execute" in process.stderr
    assert not (tmp_path / "executed").exists()


# ---------------------------------------------------------------- PyCG: the real one


def _pycg_or_its_error(files: dict[str, str], **options: str) -> ResolverResult | None:
    """PyCG's result; or None, after checking the error, if the interpreter has no PyCG."""
    code = "import importlib.util as u, sys; sys.exit(not (u.find_spec('pycg') or u.find_spec('PyCG')))"
    has_pycg = subprocess.run([PYCG_PYTHON, "-s", "-c", code], check=False).returncode == 0
    if has_pycg:
        return PycgResolver().resolve(request_for(files, **options))
    with pytest.raises(ResolverUnavailable, match="has no working PyCG"):
        PycgResolver().resolve(request_for(files, **options))
    return None


def test_pycg_resolves_across_files() -> None:
    result = _pycg_or_its_error(SHOP)
    if result is not None:
        assert {
            ("shop.items:Item.buy", "shop.till:charge"),
            ("shop.items:Item.buy", "shop.items:Plain.ping"),
            ("shop.items:main", "shop.items:Base.__init__"),
            ("shop.till:charge", "shop.till:helper"),
        } <= edges(result)
        assert ("shop.till:helper", "os.path.join") in {
            (u.source, u.name) for u in result.unresolved
        }


def test_pycg_gives_the_same_answer_every_time() -> None:
    first = _pycg_or_its_error(SHOP)
    assert first == _pycg_or_its_error(SHOP)


def test_pycg_runs_no_analysed_code(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    result = _pycg_or_its_error(_marked(marker))
    assert not marker.exists()
    if result is not None:
        assert ("main", "pkg.inner:f") in edges(result)


def test_pycg_leaves_out_the_files_it_fails_on_and_keeps_the_rest() -> None:
    files = {
        "good.py": "def f(): pass\n\ndef g():\n    f()\n",
        "broken.py": "def f(:\n",
        # PyCG 0.0.8 raises an IndexError here.
        "positional.py": "def f(a=1, /): pass\n",
    }
    result = _pycg_or_its_error(files)
    if result is not None:
        assert edges(result) == {("good:g", "good:f")}
        skipped = {d.path: d.message for d in result.diagnostics}
        assert set(skipped) == {"broken.py", "positional.py"}
        assert "SyntaxError" in skipped["broken.py"]
        assert "IndexError" in skipped["positional.py"]


def test_pycg_is_stopped_at_the_memory_limit() -> None:
    big = {"big.py": "x = [1, 2, 3]\n" * 20_000}
    with pytest.raises(ResolverUnavailable) as caught:
        PycgResolver().resolve(request_for(big, pycg__python=PYCG_PYTHON, pycg__memory="48"))
    error = caught.value
    # What is missing shows only if there was room to look for it.
    assert "48 MiB" in error.message or "has no working PyCG" in error.message
