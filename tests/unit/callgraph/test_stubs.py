"""Types of code outside the repo: stubs as data, and what the engine makes of them."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from check import check_slice, write_files
from depslice.callgraph import build_graph, open_program
from depslice.callgraph.cache import open_cache
from depslice.callgraph.engine.stubtypes import StubTypes
from depslice.callgraph.errors import EnvironmentNotFound
from depslice.callgraph.graph import ReferenceGraph
from depslice.callgraph.model import ReferenceKind
from depslice.callgraph.stubs import (
    StubFolder,
    Stubs,
    bundled_folders,
    environment_folders,
    store,
    typeshed_folders,
)
from depslice.callgraph.stubs import declarations as d
from depslice.callgraph.stubs.outline import outline_of

THING = """\
class Thing:
    def run(self): ...
    def __lt__(self, other): return True
def make(*args): return Thing()
"""


def stubs_of(tmp_path: Path, files: str) -> Stubs:
    """Stubs of a multi-file string, with ``builtins`` and ``typing`` of the shipped typeshed."""
    write_files(files, tmp_path / "stubs")
    return Stubs((StubFolder(str(tmp_path / "stubs"), "test"), *bundled_folders()))


def graph_of(source: str, folder: Path, **options: Path) -> ReferenceGraph:
    """The graph of a module ``m``."""
    write_files(f"# --- m.py\n{textwrap.dedent(source)}", folder)
    return build_graph(open_program(folder, cache=None, **options))


def calls(graph: ReferenceGraph, caller: str = "m:f") -> set[str]:
    """What ``caller`` calls; without the module part in the module ``m``."""
    return {
        reference.target.removeprefix("m:").removeprefix("external:")
        for reference in graph.references(kind=ReferenceKind.CALL)
        if reference.source == caller
    }


# Outlines and declarations.


def test_an_outline_has_every_name_once_it_can_be_bound() -> None:
    text = textwrap.dedent(
        """\
        import sys
        from a import (
            b as c,
            d,
        )
        from .e import *
        @deco(
            1,
        )
        @other
        def f(
            x: int,
        ) -> int: ...
        class K:
            y: int
        if sys.version_info >= (3, 12):
            def new() -> int: ...
        else:
            def old() -> int: ...
        if sys.platform == "win32":
            class Registry: ...
        VALUE: int
        try:
            import fast
        except ImportError:
            fast = None
        """
    )
    outline = outline_of(text)
    assert set(outline.places) == {"f", "K", "old", "VALUE"}
    assert outline.imports == {
        "sys": (0, "sys", None),
        "c": (0, "a", "b"),
        "d": (0, "a", "d"),
        "fast": (0, "fast", None),
    }
    assert outline.stars == [(1, "e")]
    start, end, _ = outline.places["f"][0]
    assert text[start:end].startswith("@deco(")
    assert text[start:end].endswith("int: ...\n")


def test_an_outline_of_a_file_with_long_texts_is_that_of_its_tree() -> None:
    text = 'X: int\nTEXT = """\ndef no(): ...\n"""\nclass K:\n    def f(self) -> int: ...\n'
    outline = outline_of(text)
    assert set(outline.places) == {"X", "TEXT", "K"}
    start, end, _ = outline.places["K"][0]
    assert text[start:end].startswith("class K:")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x: int", (d.VARIABLE, (0, "int"))),
        ("x: Final = 3", (d.VARIABLE, (0, "int"))),
        ("x = y", (d.ALIAS, (0, "y"), ())),
        ("x: TypeAlias = int | None", (d.ALIAS, (3, ((0, "int"), (5,))), ())),
        ('x = TypeVar("x", bound=int)', (d.TYPE_VARIABLE, ((0, "int"),))),
        ('x: Literal["a", "b"]', (d.VARIABLE, (d.T_LITERAL, ("a", "b")))),
        ("x: Literal[1, True]", (d.VARIABLE, (3, ((0, "bool"), (0, "int"))))),
        ('x: "dict[str, y]"', (d.VARIABLE, (2, (0, "dict"), ((0, "str"), (0, "y"))))),
        (
            "@property\ndef x(self) -> int: ...",
            (d.FUNCTION, (((("self", "pk", None, False),), (0, "int"), False),), "property"),
        ),
        (
            "async def x(a, /, *b: int, c=1) -> None: ...",
            (
                d.FUNCTION,
                (
                    (
                        (
                            ("a", "po", None, False),
                            ("b", "va", (0, "int"), True),
                            ("c", "ko", None, True),
                        ),
                        (5,),
                        True,
                    ),
                ),
                "",
            ),
        ),
        (
            "class x(Base[T], Protocol[S]):\n    a: int",
            (
                d.CLASS,
                ("S",),
                ((2, (0, "Base"), ((0, "T"),)),),
                {"a": (d.VARIABLE, (0, "int"))},
                True,
            ),
        ),
    ],
)
def test_declarations(text: str, expected: d.Declaration) -> None:
    assert d.read_declaration([text], "x") == expected


def test_overloads_stand_together_and_their_implementation_apart() -> None:
    text = """\
@overload
def x(a: int) -> int: ...
@overload
def x(a: str) -> str: ...
def x(a): return a
"""
    declaration = d.read_declaration([text], "x")
    assert declaration is not None
    assert [overload[1] for overload in declaration[1]] == [(0, "int"), (0, "str")]


def test_names_are_followed_to_what_declares_them(tmp_path: Path) -> None:
    stubs = stubs_of(
        tmp_path,
        """
# --- pkg/__init__.pyi
from . import inner as inner
from .inner import Second as Renamed
from ._hidden import *
# --- pkg/inner.pyi
class First: ...
Second = First
# --- pkg/_hidden.pyi
class Public: ...
""",
    )
    found = {name: stubs.find(f"pkg.{name}") for name in ("Renamed", "inner.First", "Public", "no")}
    assert {name: None if f is None else f.dotted for name, f in found.items()} == {
        "Renamed": "pkg.inner.First",
        "inner.First": "pkg.inner.First",
        "Public": "pkg.Public",
        "no": None,
    }


def test_a_star_gives_what_its_module_lists(tmp_path: Path) -> None:
    stubs = stubs_of(
        tmp_path,
        """
# --- pkg/__init__.pyi
from .tasks import *
from .protocols import *
# --- pkg/tasks.pyi
from typing import Protocol
__all__ = ("Task",)
class Task: ...
# --- pkg/protocols.pyi
__all__ = ("Protocol",)
class Protocol: ...
""",
    )
    found = stubs.find("pkg.Protocol")
    assert found is not None
    assert found.dotted == "pkg.Protocol"


@pytest.mark.parametrize(
    ("module", "name", "expected"),
    [
        ("threading", None, True),
        ("threading", "Always", True),
        ("threading", "Later", False),
        ("threading", "missing", False),
        ("fcntl", None, False),
        ("fcntl", "Always", False),
    ],
)
def test_what_every_python_has(
    module: str, name: str | None, expected: bool, tmp_path: Path
) -> None:
    text = "class Always: ...\nif sys.version_info >= (3, 10):\n    class Later: ...\n"
    files = f"# --- stdlib/threading.pyi\n{text}# --- stdlib/fcntl.pyi\n{text}"
    write_files(files, tmp_path)
    stubs = Stubs((StubFolder(str(tmp_path / "stdlib"), "test"),))
    assert stubs.is_everywhere(module, name) is expected


def test_import_cycles_and_broken_stubs_end(tmp_path: Path) -> None:
    stubs = stubs_of(
        tmp_path,
        """
# --- a.pyi
from b import x as x
from b import *
# --- b.pyi
from a import x as x
from a import *
# --- broken.pyi
if (:
def f( -> int: ...
# --- half.pyi
def f( -> int: ...
x: int
""",
    )
    for name in ("a.x", "b.y", "broken.f", "half.f", "missing.thing"):
        assert stubs.find(name) is None
    found = stubs.find("half.x")
    assert found is not None
    assert found.dotted == "half.x"


def test_the_typeshed_of_older_jedis_has_a_folder_for_each_version(tmp_path: Path) -> None:
    for part in ("stdlib/2", "stdlib/2and3", "stdlib/3", "stdlib/3.9", "stdlib/3.14"):
        write_files("# --- m.pyi\nx: int\n", tmp_path / part)
    write_files("# --- requests.pyi\nx: int\n", tmp_path / "third_party/3")
    folders = typeshed_folders(str(tmp_path), "old")
    assert [folder.path.removeprefix(f"{tmp_path}/") for folder in folders] == [
        "stdlib/3.9",
        "stdlib/3",
        "stdlib/2and3",
        "third_party/3",
    ]


def test_without_stubs_nothing_is_known_and_nothing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "bundled_folders", tuple)
    graph = graph_of("import re\ndef f(x: 'list[int]'):\n    re.compile('a').match('b')", tmp_path)
    assert "re.compile" in calls(graph)


def test_a_second_run_parses_no_stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = (
        "import re, logging\nL = logging.getLogger()\ndef f():\n    re.compile('a').match('b')\n"
    )
    write_files(f"# --- m.py\n{source}    L.info('x')\n", tmp_path / "repo")

    def run() -> set[str]:
        monkeypatch.setattr(store, "_READ", {})
        with open_cache(tmp_path / "cache", version="test") as cache:
            return calls(build_graph(open_program(tmp_path / "repo", cache=cache)))

    def fail(text: str) -> None:
        raise AssertionError(text)

    first = run()
    monkeypatch.setattr(store, "outline_of", fail)
    monkeypatch.setattr(d, "parse", fail)
    assert run() == first == {"re.compile", "re.Pattern.match", "logging.Logger.info"}


# Environments.


def environment(tmp_path: Path) -> Path:
    """A virtual environment with a typed package, an untyped one, and stubs of a third."""
    site = "lib/python3.12/site-packages"
    write_files(
        f"""
# --- pyvenv.cfg
home = /nowhere/bin
# --- bin/python
raise SystemExit("this must not run")
# --- {site}/typed/__init__.py
from typed.core import Client
raise SystemExit("nor this")
# --- {site}/typed/py.typed
# --- {site}/typed/core.py
class Session:
    def close(self) -> None: ...
class Client:
    def __init__(self, session: Session) -> None:
        self.session = session
    def connect(self) -> Session: ...
# --- {site}/plain.py
class Plain:
    def go(self): ...
def plain() -> Plain: ...
# --- {site}/other-stubs/__init__.pyi
def other() -> str: ...
# --- {site}/other/__init__.py
def other() -> int: ...
""",
        tmp_path,
    )
    return tmp_path


def test_packages_of_an_environment_tell_types(tmp_path: Path) -> None:
    env = environment(tmp_path / "env")
    source = """
        from typed import Client
        import plain, other
        def f(c: Client):
            c.connect().close()
            c.session.close()
            plain.plain().go()
            other.other().upper()
    """
    with_types = calls(graph_of(source, tmp_path / "repo", python=env / "bin/python"))
    assert with_types == {
        "typed.Client.connect",
        "typed.core.Session.close",
        "plain.plain",
        "plain.Plain.go",
        "other.other",
        "builtins.str.upper",
    }
    graph = graph_of(source, tmp_path / "repo")
    assert "typed.core.Session.close" not in calls(graph)


def test_an_environment_is_found_by_its_folder_or_its_interpreter(tmp_path: Path) -> None:
    env = environment(tmp_path)
    assert environment_folders(env) == environment_folders(env / "bin/python")


def test_a_type_of_itself_binds_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is passed for one was followed into all that each of its parts holds, eight deep."""
    env = tmp_path / "env"
    site = "lib/python3.12/site-packages"
    write_files(
        f"""
# --- pyvenv.cfg
home = /nowhere/bin
# --- {site}/typed/__init__.py
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar
T = TypeVar("T")
Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str"
Many: TypeAlias = "Mapping[str, Many[T]] | Sequence[T]"
def store(data: Json) -> None: ...
def first(data: Many[T]) -> T: ...
# --- {site}/typed/py.typed
""",
        env,
    )
    bound: list[str] = []
    bind_generic = StubTypes._bind_generic

    def counting(self: StubTypes, *arguments: Any) -> None:
        bound.append(arguments[0])
        bind_generic(self, *arguments)

    monkeypatch.setattr(StubTypes, "_bind_generic", counting)
    text = """
import typed
class Thing:
    def run(self): ...
def save(*data): typed.store([{"a": [data, {"b": data}]}, data, "text"])
def f(): typed.first([Thing()]).run()
"""
    graph = graph_of(text, tmp_path / "repo", python=env)
    assert "Thing.run" in calls(graph)
    assert not any("Json" in str(each) for each in bound)


def test_the_python_of_debian_has_its_packages_elsewhere(tmp_path: Path) -> None:
    folders = ["local/lib/python3.12/dist-packages", "lib/python3/dist-packages"]
    for folder in (*folders, "local/lib/python3.13/site-packages"):
        (tmp_path / folder).mkdir(parents=True)
    found = environment_folders(tmp_path / "bin/python3")
    assert [each.path for each in found] == [str(tmp_path / folder) for folder in folders]


def test_no_environment_there(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentNotFound, match="no site-packages"):
        environment_folders(tmp_path / "bin/python")


def test_stubs_of_another_environment_are_others(tmp_path: Path) -> None:
    env = environment(tmp_path / "env")
    plain = open_program(graph_repo(tmp_path), cache=None)
    other = open_program(graph_repo(tmp_path), cache=None, python=env)
    assert plain.stubs.identity != other.stubs.identity
    assert plain.stubs.identity == open_program(graph_repo(tmp_path), cache=None).stubs.identity


def graph_repo(tmp_path: Path) -> Path:
    """A repo of one empty module."""
    write_files("# --- m.py\n", tmp_path / "repo")
    return tmp_path / "repo"


# The engine: what `f` calls.


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            "import re\ndef f(t):\n    m = re.compile('a').match(t)\n    m.group(1).upper()",
            {"re.compile", "re.Pattern.match", "re.Match.group", "builtins.str.upper"},
            id="result-of-a-function",
        ),
        pytest.param(
            "from pathlib import Path\ndef f(p: Path):\n    p.parent.joinpath('x').read_text()\n"
            "    (p / 'x').exists()",
            {"pathlib.Path.joinpath", "pathlib.Path.read_text", "pathlib.Path.exists"},
            id="self-properties-operators",
        ),
        pytest.param(
            "def f(p):\n    with open(p, 'rb') as b, open(p) as t:\n        b.read().decode()\n"
            "        for line in t: line.strip()",
            {
                "builtins.open",
                "io.BufferedReader.read",
                "builtins.bytes.decode",
                "builtins.str.strip",
            },
            id="overload-by-literal",
        ),
        pytest.param(
            "import os, sys\ndef f():\n    os.environ.get('x').upper()\n    sys.argv[0].lower()\n"
            "    for root, folders, files in os.walk('.'):\n        files[0].title()",
            {
                "os.environ.get",
                "os.walk",
                "builtins.str.upper",
                "builtins.str.lower",
                "builtins.str.title",
            },
            id="variables",
        ),
        pytest.param(
            "def f(d: dict[str, Thing]):\n    d.get('a').run()",
            {"builtins.dict.get", "Thing.run"},
            id="dict-get",
        ),
        pytest.param(
            "def f(d: dict[str, Thing]):\n    for k, v in d.items():\n        v.run(); k.upper()",
            {"builtins.dict.items", "Thing.run", "builtins.str.upper"},
            id="dict-items",
        ),
        pytest.param(
            "def f(xs: list[Thing]):\n    sorted(xs)[0].run()",
            {"builtins.sorted", "Thing.run", "Thing.__lt__"},
            id="sorted",
        ),
        pytest.param(
            "def f(xs: list[Thing]):\n    next(iter(xs)).run()",
            {"builtins.next", "builtins.iter", "Thing.run"},
            id="next-iter",
        ),
        pytest.param(
            "import itertools\ndef key(x): x.run()\ndef f(xs: list[Thing]):\n"
            "    for k, g in itertools.groupby(xs, key=key):\n        for x in g: x.run()",
            {"itertools.groupby", "key", "Thing.run"},
            id="groupby",
        ),
        pytest.param(
            "import itertools\ndef f(xs: list[Thing]):\n"
            "    for a, b in itertools.product(xs, 'ab'): a.run(); b.upper()",
            {"itertools.product", "Thing.run", "builtins.str.upper"},
            id="new-tells-the-arguments",
        ),
        pytest.param(
            "import queue\nq = queue.Queue()\ndef put():\n    q.put(Thing())\n"
            "def f():\n    q.get().run()",
            {"queue.Queue.get", "Thing.run"},
            id="what-methods-are-given-is-held",
        ),
        pytest.param(
            "import queue\ndef f():\n    q = queue.Queue[Thing]()\n    q.get().run()",
            {"queue.Queue", "queue.Queue.get", "Thing.run"},
            id="class-with-arguments",
        ),
        pytest.param(
            "import weakref\nr = weakref.ref(Thing())\ndef f():\n    r().run()",
            {"Thing.run"},
            id="calling-an-instance",
        ),
        pytest.param(
            "from contextvars import ContextVar\nV: ContextVar[Thing] = ContextVar('v')\n"
            "W = ContextVar('w', default=Thing())\ndef f():\n    V.get().run()\n    W.get().run()",
            {"contextvars.ContextVar.get", "Thing.run"},
            id="declared-arguments",
        ),
        pytest.param(
            "import contextlib\nclass CM:\n    def __enter__(self): return Thing()\n"
            "    def __exit__(self, *a): ...\ndef f():\n"
            "    with contextlib.ExitStack() as s:\n        s.enter_context(CM()).run()",
            {
                "contextlib.ExitStack",
                "contextlib.ExitStack.enter_context",
                "CM",
                "CM.__enter__",
                "CM.__exit__",
                "Thing.run",
            },
            id="enter-context",
        ),
        pytest.param(
            "import asyncio\nasync def one(): return Thing()\nasync def f():\n"
            "    a, b = await asyncio.gather(one(), one())\n    b.run()\n"
            "    t = asyncio.create_task(one())\n    (await t).run()",
            {"asyncio.gather", "asyncio.create_task", "one", "Thing.run"},
            id="await",
        ),
        pytest.param(
            "from concurrent.futures import ThreadPoolExecutor\ndef f():\n"
            "    with ThreadPoolExecutor() as pool:\n        pool.submit(make, 1).result().run()",
            {
                "concurrent.futures.ThreadPoolExecutor",
                "concurrent.futures.ThreadPoolExecutor.submit",
                "concurrent.futures.Future.result",
                "make",
                "Thing.run",
            },
            id="parameter-specification",
        ),
        pytest.param(
            "import atexit\ndef bye(x): x.run()\ndef f():\n    atexit.register(bye, Thing())",
            {"atexit.register", "bye", "Thing"},
            id="callback",
        ),
        pytest.param(
            "import random\nfrom typing import Iterator\ndef f(xs: Iterator[Thing], ys: list[Thing]):\n"
            "    for x in xs: x.run()\n    random.choice(ys).run()",
            {"random.choice", "Thing.run"},
            id="annotated-iterator",
        ),
        pytest.param(
            "class Own:\n    def __next__(self): return Thing()\ndef f():\n    next(Own()).run()",
            {"builtins.next", "Own", "Own.__next__", "Thing.run"},
            id="protocol-of-a-repo-class",
        ),
        pytest.param(
            "import logging\nclass Own:\n    def info(self): ...\n"
            "def f(log: logging.Logger):\n    log.info('x')",
            {"logging.Logger.info"},
            id="an-outside-receiver-is-none-of-the-repo",
        ),
    ],
)
def test_calls(source: str, expected: set[str], tmp_path: Path) -> None:
    graph = graph_of(THING + source, tmp_path)
    assert calls(graph) == expected
    assert [u for u in graph.unresolved if u.source == "m:f"] == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            "class A(dict[str, Thing]):\n    def f(self):\n        self.get('x').run()\n"
            "        self['x'].run()\n        for k in self: k.upper()",
            {"builtins.dict.get", "Thing.run", "builtins.str.upper"},
            id="dict",
        ),
        pytest.param(
            "import threading\nclass A(threading.Thread):\n    def f(self):\n"
            "        self.start()\n        self.name.upper()",
            {"threading.Thread.start", "builtins.str.upper"},
            id="thread",
        ),
        pytest.param(
            "import enum\nclass A(enum.Enum):\n    X = 1\n    def f(self):\n        self.name.upper()",
            {"builtins.str.upper"},
            id="enum",
        ),
        pytest.param(
            "class A(dict):\n    def f(self):\n        return {self: 1}",
            set(),
            id="what-is-declared-is-no-function",  # `__hash__: ClassVar[None]`
        ),
        pytest.param(
            "from pathlib import PosixPath\nclass A(PosixPath):\n    def f(self):\n"
            "        self.parent.g()\n    def g(self): ...",
            {"A", "A.g"},
            id="self-is-the-repo-class",
        ),
    ],
)
def test_members_of_outer_bases(source: str, expected: set[str], tmp_path: Path) -> None:
    graph = graph_of(THING + source, tmp_path)
    assert calls(graph, "m:A.f") == expected
    assert [u for u in graph.unresolved if u.source == "m:A.f"] == []


def test_a_slice_follows_what_an_outer_container_holds() -> None:
    check_slice(
        """
# --- app.py
import queue
from thing import Thing
JOBS: "queue.Queue[Thing]" = queue.Queue()
class Other:
    def run(self): ...
def f():
    JOBS.get().run()
# --- thing.py
class Thing:
    def run(self): ...
    def stop(self): ...
""",
        "app:f",
        {"app:f", "app:JOBS", "thing:Thing", "thing:Thing.run"},
    )


def test_an_operator_of_the_library_calls_no_methods_of_strangers(tmp_path: Path) -> None:
    text = """
from fractions import Fraction
class Amount:
    def __radd__(self, other): return self
    def limit_denominator(self, most=1): return self
    def as_integer_ratio(self): return 1, 1
def f(): return Fraction(1) + Amount()

"""
    assert {each for each in calls(graph_of(text, tmp_path)) if "." in each} == {
        "Amount.__radd__",
        "fractions.Fraction",
    }


def test_an_operator_in_place_takes_what_its_own_method_does(tmp_path: Path) -> None:
    text = """
from collections import UserDict
class Options:
    def keys(self): return ["a"]
    def __getitem__(self, key): return key
def f():
    known = UserDict()
    known |= Options()

"""
    assert {"Options.keys", "Options.__getitem__"} <= calls(graph_of(text, tmp_path))
