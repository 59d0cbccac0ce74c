"""Flattened packages must do what the packages do: both are run and compared."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from depslice.slicer.cut import FileCut, Link, StatementPath
from depslice.slicer.model import Slice
from depslice.slicer.render.flatten import flatten_slice

Files = dict[str, str]


def parse_files(text: str) -> Files:
    """Split ``#- path`` headed text into files."""
    files: Files = {}
    path = ""
    for line in textwrap.dedent(text).strip("\n").splitlines():
        if line.startswith("#- "):
            path = line[3:].strip()
            files[path] = ""
        else:
            files[path] += line + "\n"
    return files


def make_slice(files: Files, *targets: str) -> Slice:
    """A slice that keeps everything, with the links an analysis would find."""
    modules = {_module(path): path for path in files}
    return Slice(
        targets=targets,
        items=(),
        externals=(),
        unresolved=(),
        omitted=(),
        cuts=tuple(
            FileCut(
                path=path,
                module=module,
                is_package=path.endswith("__init__.py"),
                text=files[path],
                keep=frozenset(_paths(ast.parse(files[path]))),
                links=_links(module, path, files, modules),
            )
            for module, path in modules.items()
        ),
    )


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _paths(node: ast.AST, path: StatementPath = ()) -> Iterator[StatementPath]:
    for name, value in ast.iter_fields(node):
        if not isinstance(value, list):
            continue
        for index, one in enumerate(value):
            below = (*path, name, index)
            if isinstance(one, ast.stmt):
                yield below
            if isinstance(one, (ast.stmt, ast.excepthandler, ast.match_case)):
                yield from _paths(one, below)


def _module_level(node: ast.AST) -> Iterator[ast.AST]:
    for one in ast.iter_child_nodes(node):
        yield one
        if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield from _module_level(one)


def _binds(text: str, name: str) -> bool:
    return any(
        name in (getattr(node, "id", ""), getattr(node, "asname", ""), getattr(node, "name", ""))
        for node in _module_level(ast.parse(text))
        if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    )


def _links(module: str, path: str, files: Files, modules: dict[str, str]) -> dict[str, Link]:
    found: dict[str, Link] = {}
    known = {*modules, *(name.partition(".")[0] for name in modules)}
    for node in _module_level(ast.parse(files[path])):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                bound = alias.asname or name
                found[bound] = Link(module=name) if name in known else Link()
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                drop = node.level - path.endswith("__init__.py")
                base = ".".join([*parts[: len(parts) - drop], *([base] if base else [])])
            for alias in node.names:
                bound = alias.asname or alias.name
                package = files.get(modules.get(base, ""), "")
                if f"{base}.{alias.name}" in modules and not _binds(package, alias.name):
                    found[bound] = Link(module=f"{base}.{alias.name}")
                elif base in known:
                    found[bound] = Link(module=base, name=alias.name)
                else:
                    found[bound] = Link()
    return found


_RUN = """
import json, sys
sys.path.insert(0, sys.argv[1])
import {module}
print(json.dumps(sys.modules[{module!r}].{function}()))
"""


def run(folder: Path, module: str, function: str) -> object:
    """The JSON value of a function of a module in another process."""
    script = _RUN.format(module=module, function=function)
    done = subprocess.run(
        [sys.executable, "-B", "-c", script, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def lint(path: Path) -> str:
    """What Ruff says about undefined and unused names; empty when nothing."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "ruff",
            "check",
            "--isolated",
            "--no-cache",
            "--quiet",
            "--output-format=concise",
            "--select=F821,F822,F823,F401,F811",
            str(path),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def write(folder: Path, files: Files) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def check_flat(folder: Path, text: str, target: str, expected: object) -> str:
    """Flatten, run both, compare; the flat text."""
    files = parse_files(text)
    write(folder / "original", files)
    module, _, function = target.partition(":")
    assert run(folder / "original", module, function) == expected, "the specimen itself"
    flat = flatten_slice(make_slice(files, target))
    write(folder / "flat", {"flat.py": flat})
    assert lint(folder / "flat" / "flat.py") == "", flat
    assert run(folder / "flat", "flat", function) == expected, flat
    return flat


def test_documented_example() -> None:
    files = {
        "pkg/b.py": "def scale(x): return x * 2\n",
        "pkg/a.py": "from .b import scale as s\ndef run(x): return s(x)\n",
    }
    assert flatten_slice(make_slice(files, "pkg.a:run")) == textwrap.dedent(
        """\
        # --- pkg/b.py

        def scale(x): return x * 2


        # --- pkg/a.py

        def run(x): return scale(x)
        """
    )


CASES = {
    "collision": (
        """
        #- pkg/__init__.py
        #- pkg/a.py
        LIMIT = 1
        def helper():
            return ["a", LIMIT]
        def go():
            return helper()
        #- pkg/b.py
        from pkg import a
        from pkg.a import helper as other
        LIMIT = 2
        def helper():
            return ["b", LIMIT, *other()]
        def run():
            return [helper(), a.go(), a.LIMIT]
        """,
        "pkg.b:run",
        [["b", 2, "a", 1], ["a", 1], 1],
    ),
    "strings in aliases": (
        """
        #- pkg/__init__.py
        #- pkg/a.py
        class Model:
            value = "a"
        kind, table = type["Model"], dict[str, "Model"]
        def own():
            return [eval(kind.__args__[0]).value, eval(table.__args__[1]).value]
        #- pkg/b.py
        from .a import own
        class Model:
            value = "b"
        many = list["Model"]
        dict = {"Model": "item"}
        def run():
            return [eval(many.__args__[0]).value, dict["Model"], *own()]
        """,
        "pkg.b:run",
        ["b", "item", "a", "a"],
    ),
    "attributes that modules are given": (
        """
        #- pkg/__init__.py
        #- pkg/a.py
        #- pkg/b.py
        from . import a
        def give(module):
            module.gift = 1
        def run():
            give(a)
            first = a.gift
            del a.gift
            return [first, hasattr(a, "gift")]
        """,
        "pkg.b:run",
        [1, False],
    ),
    "re-export chain": (
        """
        #- pkg/__init__.py
        from .core import Thing as Thing, make
        #- pkg/core/__init__.py
        from .impl import *
        from .impl import _hidden
        #- pkg/core/impl.py
        __all__ = ["Thing", "make"]
        class Thing:
            value = 3
        def make():
            return Thing()
        def _hidden():
            return 1
        #- app.py
        import pkg
        from pkg import make as build
        import pkg.core as c
        def run():
            return [build().value, pkg.Thing.value, pkg.core._hidden(), c.impl.make().value]
        """,
        "app:run",
        [3, 3, 1, 3],
    ),
    "package imports its own submodule": (
        """
        #- pkg/__init__.py
        from . import a
        from .b import b
        def run():
            return [a.f(), b()]
        #- pkg/a.py
        def f():
            return "f"
        #- pkg/b.py
        def b():
            return "b"
        """,
        "pkg:run",
        ["f", "b"],
    ),
    "module as a value": (
        """
        #- pkg/__init__.py
        #- pkg/a.py
        from json import dumps
        STATE = 1
        def one():
            return STATE
        def bump():
            global STATE
            STATE += 1
        #- pkg/b.py
        import pkg.a as m
        from . import a
        def call(module, name):
            return getattr(module, name)()
        def run():
            m.bump()
            setattr(m, "STATE", m.STATE + 10)
            return [call(m, "one"), m is a, m.__name__, "one" in dir(m), hasattr(m, "zzz"),
                    sorted(n for n in vars(m) if not n.startswith("__"))]
        """,
        "pkg.b:run",
        [12, True, "pkg.a", True, False, ["STATE", "bump", "dumps", "one"]],
    ),
    "writing globals of another module": (
        """
        #- settings.py
        DEBUG = False
        LEVEL = 0
        def show():
            return [DEBUG, LEVEL, EXTRA]
        #- app.py
        import settings
        from settings import DEBUG
        def enable(level):
            'Turn it on.'
            settings.DEBUG = True
            settings.LEVEL += level
            settings.EXTRA = "x"
        def reset(): settings.LEVEL = 5
        def run():
            enable(2)
            before = settings.show()
            reset()
            return [before, settings.LEVEL, DEBUG]
        """,
        "app:run",
        [[True, 2, "x"], 5, False],
    ),
    "local imports": (
        """
        #- pkg/__init__.py
        #- pkg/a.py
        def helper():
            return "a"
        VALUE = 7
        #- pkg/b.py
        def helper():
            return "b"
        def first():
            from .a import helper
            return helper()
        def second():
            import pkg.a
            from . import a as m
            return [pkg.a.VALUE, m.helper()]
        def third(helper):
            def inner():
                from .a import helper
                return helper()
            return [inner(), helper]
        def fourth():
            try:
                from .a import helper
            except ImportError:
                helper = None
            return helper()
        def fifth():
            from .a import VALUE; VALUE += 1
            return VALUE
        def empty():
            from .a import helper
        class Holder:
            from .a import helper
            def call(self):
                return type(self).helper()
        def run():
            return [helper(), first(), second(), third(1), fourth(), fifth(), empty(),
                    Holder().call()]
        """,
        "pkg.b:run",
        ["b", "a", [7, "a"], ["a", 1], "a", 8, None, "a"],
    ),
    "shadowing": (
        """
        #- a.py
        def helper(x):
            return x + 1
        name = "module"
        item = 3
        #- b.py
        from a import helper as h, name as n, item as i
        def parameter(helper):
            return h(helper)
        def local():
            helper = 5
            return h(helper)
        def comprehension():
            return [h(helper) for helper in (1, 2)], {item: i for item in "x"}
        def lambdas():
            return (lambda helper: h(helper))(3)
        def walrus():
            if (helper := 2) and [name for name in [n]]:
                return [h(helper), n]
        def nested():
            helper = 1
            def inner():
                return h(helper)
            return inner()
        def caught():
            try:
                raise ValueError
            except ValueError as helper:
                return [h(1), type(helper).__name__]
        class K:
            name = n
            helper = h
            item = i
            def get(self):
                return [n, self.name, i]
        def run():
            return [parameter(1), local(), comprehension(), lambdas(), walrus(), nested(),
                    caught(), K.name, K().get()]
        """,
        "b:run",
        [
            2,
            6,
            [[2, 3], {"x": 3}],
            4,
            [3, "module"],
            2,
            [2, "ValueError"],
            "module",
            ["module", "module", 3],
        ],
    ),
    "class scope": (
        """
        #- a.py
        size = 1
        kind = "a"
        #- b.py
        size = 2
        kind = "b"
        class Box:
            size = size
            kind = kind
            pair = [size, kind]
            def both(self):
                return [size, self.size, kind]
            many = [size for _ in range(2)]
        def run():
            import a
            return [Box.size, Box.pair, Box().both(), Box.many, a.size, a.kind]
        """,
        "b:run",
        [2, [2, "b"], [2, 2, "b"], [2, 2], 1, "a"],
    ),
    "global statements": (
        """
        #- a.py
        count = 0
        def bump():
            global count
            count += 1
            return count
        def make():
            global made
            made = "a"
        #- b.py
        import a
        count = 100
        def bump():
            global count, extra
            count += 1
            extra = count
            return count
        def run():
            a.bump(); a.make()
            return [bump(), extra, a.bump(), a.count, count, a.made]
        """,
        "b:run",
        [101, 101, 2, 2, 101, "a"],
    ),
    "an imported value that is rebound later": (
        """
        #- a.py
        flag = None
        def init():
            global flag
            flag = 1
        #- b.py
        from a import flag, init
        import a
        def run():
            init()
            return [flag, a.flag]
        """,
        "b:run",
        [None, 1],
    ),
    "decorators, defaults, dataclasses, enums": (
        """
        #- pkg/__init__.py
        #- pkg/deco.py
        import functools
        REGISTRY = {}
        def register(name=None):
            def wrap(function):
                @functools.wraps(function)
                def inner(*args, **kwargs):
                    return ["wrapped", function(*args, **kwargs)]
                REGISTRY[name or function.__name__] = inner
                return inner
            return wrap
        #- pkg/types.py
        from __future__ import annotations
        import dataclasses
        from dataclasses import dataclass, field
        from enum import Enum
        class Color(Enum):
            RED = 1
            BLUE = 2
        @dataclass(frozen=True)
        class Point:
            x: int
            y: int = 0
            color: Color = Color.RED
            tags: list[str] = field(default_factory=list)
        #- pkg/main.py
        from . import types as t
        from .deco import register as reg, REGISTRY
        from .types import Color as Hue
        @reg("pt")
        def point(x, hue=Hue.BLUE, *, origin=t.Point(0)):
            return [t.Point(x, color=hue).color.name, origin.y]
        def run():
            return [point(1), sorted(REGISTRY), REGISTRY["pt"](2, Hue.RED)]
        """,
        "pkg.main:run",
        [["wrapped", ["BLUE", 0]], ["pt"], ["wrapped", ["RED", 0]]],
    ),
    "import cycle": (
        """
        #- pkg/__init__.py
        #- pkg/a.py
        from __future__ import annotations
        class Base:
            def partner(self):
                return b.Derived()
        from . import b
        def make() -> b.Derived:
            return b.Derived()
        #- pkg/b.py
        from __future__ import annotations
        from .a import Base
        class Derived(Base):
            name = "derived"
        #- pkg/c.py
        from .a import make
        def run():
            return [make().name, make().partner().name]
        """,
        "pkg.c:run",
        ["derived", "derived"],
    ),
    "deferred cycle reached through a call": (
        """
        #- one.py
        def build():
            from two import WORD
            return WORD + "!"
        BUILT = build()
        def run():
            return BUILT
        #- two.py
        WORD = "two"
        """,
        "one:run",
        "two!",
    ),
    "an import inside a method that class creation reaches": (
        """
        #- pkg/__init__.py
        from .fields import Text
        #- pkg/choices.py
        def normalize(value):
            from pkg.kinds import Kind
            return Kind(value)
        #- pkg/kinds.py
        class Kind:
            def __init__(self, value):
                self.value = value
        #- pkg/fields.py
        from .choices import normalize
        class Field:
            def __init__(self, value):
                self.kind = value
            @property
            def kind(self):
                return self._kind.value
            @kind.setter
            def kind(self, value):
                self._kind = normalize(value)
        class Text(Field):
            pass
        class Model:
            text = Text("t")
        #- pkg/main.py
        from .fields import Model
        def run():
            return Model.text.kind
        """,
        "pkg.main:run",
        "t",
    ),
    "f-strings": (
        '''
        #- a.py
        word = "a"
        def wrap(x, width=0):
            return f"<{x:>{width}}>"
        width = 4
        #- b.py
        import a as m
        from a import wrap as w, width as n, word as o
        word = "b"
        def run():
            word2 = 1
            return [
                f"{w(word)} {m.word!r} {{w}} {o=}"[:12],
                f"é{w('ü')}" f"{word:>{n}}|{m.wrap(m.word, width=m.width)}",
                f"""
                {w(word)} {w(
                    m.word
                )} {m.width:0{m.width}d}""".split(),
                rf"\\d{o}" "plain" f'{f"{o}{word}"}',
                f"{__name__}" == __name__,
                f"{__name__.split('.')[-1]}",
                f"a'{__name__[:3]}" f'{__name__.split("-")}',
                f"{ {'k': o}['k'] } {o if o != 'x' else w}",
            ]
        ''',
        "b:run",
        [
            "<b> 'a' {w} ",
            "é<ü>   b|<   a>",
            ["<b>", "<a>", "0004"],
            "\\daplainab",
            True,
            "b",
            "a'b['b']",
            "a a",
        ],
    ),
    "match": (
        """
        #- a.py
        class Node:
            __match_args__ = ("left",)
            def __init__(self, left):
                self.left = left
        ZERO = 0
        rest = "module"
        #- b.py
        import a
        from a import Node as N, rest as r
        rest = "b"
        match {"k": 1, "z": 2}:
            case {"k": key, **rest_of}:
                pass
        match [1, 2, 3]:
            case [head, *tail] as whole:
                pass
        def visit(value):
            match value:
                case N(left=a.ZERO):
                    return "zero"
                case N(rest):
                    return [rest, r]
                case [ZERO, *rest]:
                    return [ZERO, rest, a.ZERO]
                case {"k": rest, **Node}:
                    return [rest, Node, N(1).left]
                case _:
                    return rest
        def run():
            return [visit(N(0)), visit(N(1)), visit([4, 5]), visit({"k": 1, "j": 2}),
                    key, rest_of, head, tail, whole]
        #- c.py
        import b
        key = rest_of = head = tail = whole = None
        def run():
            return [b.run(), key]
        """,
        "c:run",
        [
            [
                "zero",
                [1, "module"],
                [4, [5], 0],
                [1, {"j": 2}, 1],
                1,
                {"z": 2},
                1,
                [2, 3],
                [1, 2, 3],
            ],
            None,
        ],
    ),
    "imports": (
        """
        #- a.py
        import os.path
        import json
        import collections.abc as cabc
        from typing import Any
        try:
            import no_such_module as nsm
        except ImportError:
            nsm = None
        if len("x") == 1:
            import string
        def f(x: Any):
            return [os.path.join(string.digits[0], x), json.dumps(1), nsm,
                    issubclass(list, cabc.Sized)]
        #- b.py
        import json as j
        import os
        from os import path as json
        from typing import Any, TYPE_CHECKING
        import a
        import string
        try:
            import no_such_module as nsm
        except ImportError:
            nsm = None
        if TYPE_CHECKING:
            from collections.abc import Callable
            from a import f
        class json_user:
            os = os
        def g(x: "Callable[[Any], f]") -> "f":
            return json.join("b", x), j.loads("2"), os.sep, nsm, string.digits
        def run():
            return [a.f("x"), g("y")]
        """,
        "b:run",
        [["0/x", "1", None, True], ["b/y", 2, "/", None, "0123456789"]],
    ),
    "builtins of another module": (
        """
        #- a.py
        _open = open
        def open(x):
            return ["opened", x, callable(_open)]
        class type:
            pass
        def list(*args):
            return "list"
        #- b.py
        import a
        from a import list as make
        def run():
            return [a.open(1), type(1).__name__, list("ab"), make(), a.type.__name__[:4]]
        """,
        "b:run",
        [["opened", 1, True], "int", ["a", "b"], "list", "type"],
    ),
    "a package of the slice that lacks a module": (
        """
        #- pkg/__init__.py
        #- pkg/written_in_c/__init__.py
        #- pkg/main.py
        try:
            from .written_in_c import speed as fast
        except ImportError:
            fast = None
        def run():
            return "slow"
        if fast is not None:
            run = fast.run
        """,
        "pkg.main:run",
        "slow",
    ),
    "conditional definitions and fallbacks": (
        """
        #- pkg/__init__.py
        #- pkg/fast.py
        def speed():
            return "fast"
        #- pkg/main.py
        import sys
        try:
            from .fast import speed
        except ImportError:
            def speed():
                return "slow"
        try:
            from ._missing import other
        except ImportError:
            from .fast import speed as other
        if sys.version_info >= (3, 0):
            from .fast import speed as third
        else:
            third = None
        for index in range(3):
            total = index
        del index
        def run():
            return [speed(), other(), third(), total]
        """,
        "pkg.main:run",
        ["fast", "fast", "fast", 2],
    ),
    "dunder names": (
        '''
        #- pkg/__init__.py
        """Package text."""
        __version__ = "1"
        #- pkg/a.py
        """Module text."""
        import logging, sys
        logger = logging.getLogger(__name__)
        def info():
            return [__doc__, logger.name, __package__, sys.modules[__name__].info is info]
        #- pkg/b.py
        from . import __version__
        from .a import info
        def __private(): return 1
        def run():
            return [__version__, info(), __name__, __private()]
        ''',
        "pkg.b:run",
        ["1", ["Module text.", "pkg.a", "pkg", True], "pkg.b", 1],
    ),
    "read __all__": (
        """
        #- a.py
        __all__ = ["f"]
        __all__ += ["g"]
        def f(): pass
        def g(): pass
        #- b.py
        import a
        __all__ = ["run"] + a.__all__
        from a import *
        def run():
            return [a.__all__, f(), g(), __all__]
        """,
        "b:run",
        [["f", "g"], None, None, ["run", "f", "g"]],
    ),
    "semicolons, one-liners, comments": (
        """
        #- a.py
        X = 1; Y = 2
        def f(): return X
        #- b.py
        import a; from a import X as P; Q = P + a.Y
        # about X
        X = 10  # ten
        if X: from a import Y
        def f(): import a; return a.f() + X
        def g():
            # only an import
            from a import X  # trailing
            # and the rest
            return X
        def run():
            return [Q, X, Y, f(), (a
                .X), (a).Y, g()]
        """,
        "b:run",
        [3, 10, 2, 11, 1, 2, 1],
    ),
    "nonlocal and closures": (
        """
        #- a.py
        value = "module a"
        def outer():
            value = 0
            def step():
                nonlocal value
                value += 1
                return value
            step()
            return step()
        #- b.py
        import a
        value = "module b"
        def outer():
            from a import value
            def change():
                nonlocal value
                value = "changed"
            change()
            return value
        def run():
            return [a.outer(), outer(), value, a.value]
        """,
        "b:run",
        [2, "changed", "module b", "module a"],
    ),
    "name mangling": (
        """
        #- a.py
        def __secret():
            return "s"
        #- b.py
        from a import __secret as secret
        class K:
            def get(self):
                return secret()
        def run():
            return K().get()
        """,
        "b:run",
        "s",
    ),
    "external and definition share a name": (
        """
        #- a.py
        import json
        from os import path
        def dump(x):
            return json.dumps(x) + path.sep
        #- b.py
        from a import dump
        def json():
            return "json"
        def path():
            return dump(json())
        def run():
            return path()
        """,
        "b:run",
        '"json"/',
    ),
    "lazy module attributes": (
        """
        #- pkg/__init__.py
        def __getattr__(name):
            if name == "magic":
                return 42
            raise AttributeError(name)
        #- app.py
        import pkg
        def run():
            return [pkg.magic, hasattr(pkg, "other")]
        """,
        "app:run",
        [42, False],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_does_what_the_package_does(name: str, tmp_path: Path) -> None:
    text, target, expected = CASES[name]
    check_flat(tmp_path, text, target, expected)


def flat_of(text: str, target: str) -> str:
    return flatten_slice(make_slice(parse_files(text), target))


def definitions(text: str) -> set[str]:
    return {
        node.name
        for node in ast.parse(text).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }


def test_the_target_keeps_its_name_and_the_other_says_where_it_is_from() -> None:
    text = """
        #- pkg/__init__.py
        #- pkg/a.py
        def helper(): pass
        #- pkg/b.py
        from .a import helper as other
        def helper(): return other()
        """
    assert definitions(flat_of(text, "pkg.b:helper")) >= {"helper", "helper_a"}
    assert definitions(flat_of(text, "pkg.a:helper")) >= {"helper", "helper_b"}


def test_a_class_keeps_its_name_against_what_is_not_the_target() -> None:
    flat = flat_of(
        """
        #- a.py
        Catalan = 1
        #- b.py
        import a
        class Catalan: pass
        def run(): return Catalan, a.Catalan
        """,
        "b:run",
    )
    assert "class Catalan:" in flat
    assert "Catalan_a = 1" in flat


def test_renamed_definitions_keep_their_own_name(tmp_path: Path) -> None:
    check_flat(
        tmp_path,
        """
        #- a.py
        REGISTRY = {}
        def register(function):
            REGISTRY[function.__name__] = function
            return function
        @register
        def job():
            return "a"
        class Task:
            pass
        #- b.py
        from a import REGISTRY, Task as Other
        class Task:
            pass
        def job():
            return [sorted(REGISTRY), Other.__name__, Task.__name__, REGISTRY["job"]()]
        """,
        "b:job",
        [["job"], "Task", "Task", "a"],
    )


def test_modules_behind_a_condition_stay_behind_it(tmp_path: Path) -> None:
    flat = check_flat(
        tmp_path,
        '''
        #- pkg/__init__.py
        #- pkg/windows.py
        import no_such_module
        from no_such_module import other
        TEXT = """one
        two"""
        def beep(): return no_such_module.beep(other, TEXT)
        #- pkg/posix.py
        import os
        TEXT = """one
          two"""
        def beep(): return [TEXT, os.sep]
        #- pkg/main.py
        import os
        if os.name == "none":
            from .windows import beep
        else:
            from .posix import beep
        def run():
            return beep()
        ''',
        "pkg.main:run",
        ["one\n  two", "/"],
    )
    assert "    # --- pkg/windows.py\n" in flat
    assert flat.count("import os\n") == 1


def test_what_only_functions_import_need_not_be_installed(tmp_path: Path) -> None:
    check_flat(
        tmp_path,
        """
        #- pkg/__init__.py
        #- pkg/plot.py
        import no_such_module as nsm
        from no_such_module.sub import draw
        import json
        def plot(): return nsm.plot(draw, json)
        #- pkg/main.py
        def show():
            from .plot import plot
            return plot()
        def run():
            try:
                show()
            except (ImportError, AttributeError):
                return "cannot plot"
        """,
        "pkg.main:run",
        "cannot plot",
    )


def test_one_fallback_for_all_that_spell_it_alike() -> None:
    fallback = "try:\n    import tomllib\nexcept ImportError:\n    import tomli as tomllib\n"
    files = {
        "a.py": f"{fallback}def load(x): return tomllib.loads(x)\n",
        "b.py": f"from a import load\n{fallback}def run(x): return tomllib.loads(x), load(x)\n",
    }
    flat = flatten_slice(make_slice(files, "b:run"))
    assert flat.count("import tomllib") == 1
    assert "tomllib_" not in flat


def test_typing_only_imports_are_gathered_or_vanish() -> None:
    flat = flat_of(
        """
        #- pkg/__init__.py
        #- pkg/a.py
        from __future__ import annotations
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from collections.abc import Callable
            from .b import B
            from .missing import Missing
        def f(x: B, y: Callable[[], Missing]) -> None: ...
        #- pkg/b.py
        from __future__ import annotations
        import typing as t
        from .a import f
        if t.TYPE_CHECKING:
            from collections.abc import Callable
        class B:
            g: Callable = f
        """,
        "pkg.a:f",
    )
    assert flat.startswith(
        textwrap.dedent(
            """\
            from __future__ import annotations

            from typing import TYPE_CHECKING

            if TYPE_CHECKING:
                from collections.abc import Callable
                from pkg.missing import Missing


            # --- pkg/"""
        )
    )


def test_a_test_whether_a_name_is_there_is_no_unused_import(tmp_path: Path) -> None:
    text = """
        #- pkg/__init__.py
        #- pkg/a.py
        try:
            from ssl import SSLContext as SSLContext
        except ImportError:
            there = 0
        else:
            there = 1
        try: from ssl import SSLError as SSLError; there += 1
        except ImportError: pass
        #- pkg/b.py
        from . import a
        try:
            from ssl import SSLContext as SSLContext
            there = 1
        except ImportError:
            there = 0
        def run():
            return [a.there, there]
        """
    flat = check_flat(tmp_path, text, "pkg.b:run", [2, 1])
    assert flat.count("import SSLContext as SSLContext_a  # noqa: F401") == 1


def test_typing_only_code_comes_after_the_names_that_it_mentions(tmp_path: Path) -> None:
    check_flat(
        tmp_path,
        """
        #- pkg/__init__.py
        #- pkg/a.py
        from __future__ import annotations
        from typing import TYPE_CHECKING, TypeVar
        if TYPE_CHECKING:
            from .b import Base
            T = TypeVar("T", bound=Base)
        def same(x: T) -> T:
            return x
        #- pkg/b.py
        from .a import same
        class Base:
            value = same(1)
        def run():
            return Base.value
        """,
        "pkg.b:run",
        1,
    )


def test_typing_only_code_waits_no_longer_than_it_must(tmp_path: Path) -> None:
    flat = check_flat(
        tmp_path,
        """
        #- pkg/__init__.py
        #- pkg/a.py
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from .b import Base
            Names = set[str]
        def make():
            return {"a"}
        #- pkg/b.py
        from typing import TYPE_CHECKING
        from .a import make
        if TYPE_CHECKING:
            from .a import Names
        class Base:
            if TYPE_CHECKING:
                names: Names
            names = make()
        def run():
            return sorted(Base.names)
        """,
        "pkg.b:run",
        ["a"],
    )
    assert flat.index("Names = set[str]") < flat.index("class Base")


def test_what_the_slice_lacks_is_imported_by_its_absolute_name() -> None:
    flat = flat_of(
        """
        #- pkg/__init__.py
        #- pkg/a.py
        from .missing import thing
        from .b import f, gone
        def run():
            from .other import more
            return thing, f, gone, more
        #- pkg/b.py
        def f(): pass
        """,
        "pkg.a:run",
    )
    assert "from pkg.b import gone\nfrom pkg.missing import thing\n" in flat
    assert "    from pkg.other import more\n" in flat


def test_unchanged_code_is_copied_letter_for_letter() -> None:
    function = (
        "# about f\n"
        "@ decorate  # why\n"
        "def f( a,b = 1 ) :   # spaced\n"
        "\t# tab\n"
        "\treturn ( a\n"
        "      +b )  ;  x = 'é'\n"
    )
    files = {"a.py": f"def decorate(f): return f\n\n\n{function}"}
    assert function in flatten_slice(make_slice(files, "a:f"))


def test_the_same_whatever_the_hash_seed() -> None:
    script = (
        "import sys; sys.path[:0] = sys.argv[1].split(':');"
        "import test_flatten as t;"
        "print(*(t.flat_of(*t.CASES[one][:2]) for one in ('imports', 'module as a value')))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-B", "-c", script, ":".join([str(Path(__file__).parent), *sys.path])],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1
    assert flat_of(*CASES["imports"][:2]) in outputs.pop()


# Random packages

_NAMES = ("f", "g", "h")
_IMPORTS = {  # style: the statement, what it binds, the callee
    "from": ("from .{m} import {f}", "{f}", "{f}"),
    "from as": ("from .{m} import {f} as {u}", "{u}", "{u}"),
    "import": ("import pkg.{m}", "pkg", "pkg.{m}.{f}"),
    "import as": ("import pkg.{m} as {u}", "{u}", "{u}.{f}"),
    "module": ("from . import {m}", "{m}", "{m}.{f}"),
}


class _Package:
    """Modules of functions that call functions made before them, so every call returns."""

    def __init__(self, modules: int) -> None:
        self.imports: list[dict[str, str]] = [{} for _ in range(modules)]  # bound -> statement
        self.bodies: list[list[str]] = [[] for _ in range(modules)]
        self.made: list[tuple[int, str]] = []

    def free(self, module: int) -> list[str]:
        """The names that a new function of ``module`` may have."""
        taken = {name for place, name in self.made if place == module}
        return [name for name in _NAMES if name not in taken | self.imports[module].keys()]

    def add(
        self, module: int, name: str, parameter: str, calls: list[tuple[int, str, str, bool]]
    ) -> None:
        local: dict[str, str] = {}
        values = [f"str({parameter})", f"[{parameter} for {parameter} in (1, 2)]"]
        for number, (place, callee, style, inside) in enumerate(calls):
            if place == module:
                if callee not in (parameter, *local):
                    values.append(f"{callee}({number})")
                continue
            if not inside and place > module and style.startswith("from"):
                style = "import as"  # noqa: PLW2901 - the others would fail in a cycle of imports
            unique = f"{callee}_{len(self.made)}_{number}"
            statement, bound, used = (
                one.format(m=f"m{place}", f=callee, u=unique) for one in _IMPORTS[style]
            )
            known = local if inside else self.imports[module]
            own = {one for at, one in self.made if at == module} | {name}
            hidden = {parameter, *(() if inside else local)}
            if bound in hidden or (known.get(bound, statement) != statement and bound != "pkg"):
                continue
            if bound in own and (not inside or f"{bound}(" in "".join(values)):
                continue
            known[bound if bound != "pkg" else statement] = statement
            values.append(f"{used}({number})")
        self.bodies[module].append(
            f"def {name}({parameter}=0):\n"
            + "".join(f"    {one}\n" for one in local.values())
            + f"    return ['m{module}.{name}', f'{{{parameter}}}', {', '.join(values)}]\n"
        )
        self.made.append((module, name))

    def files(self) -> Files:
        return {
            "pkg/__init__.py": "",
            **{
                f"pkg/m{index}.py": "".join(
                    [
                        *(f"{one}\n" for one in imports.values() if not self._late(index, one)),
                        *bodies,
                        *(f"{one}\n" for one in imports.values() if self._late(index, one)),
                    ]
                )
                for index, (imports, bodies) in enumerate(
                    zip(self.imports, self.bodies, strict=True)
                )
            },
        }

    def _late(self, module: int, statement: str) -> bool:
        """Imports of later modules come last, so that cycles find the definitions."""
        return any(f"m{one}" in statement for one in range(module + 1, len(self.bodies)))


@st.composite
def packages(draw: st.DrawFn) -> tuple[Files, str]:
    """Few names in many places, under all styles of import, modules in cycles too."""
    package = _Package(draw(st.integers(2, 4)))
    for _ in range(draw(st.integers(2, 8))):
        module = draw(st.integers(0, len(package.bodies) - 1))
        free = package.free(module)
        if free:
            name = draw(st.sampled_from(free))
            parameter = draw(st.sampled_from((*_NAMES, "x")))
            callees = (
                st.lists(
                    st.tuples(
                        st.sampled_from(package.made),
                        st.sampled_from(sorted(_IMPORTS)),
                        st.booleans(),
                    ),
                    max_size=3,
                )
                if package.made
                else st.just([])
            )
            calls = [(*callee, style, inside) for callee, style, inside in draw(callees)]
            package.add(module, name, parameter, calls)
    module, name = package.made[-1]
    return package.files(), f"pkg.m{module}:{name}"


def run_here(folder: Path, target: str) -> object:
    module, _, name = target.partition(":")
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        return getattr(importlib.import_module(module), name)()
    finally:
        sys.path.remove(str(folder))
        for one in set(sys.modules) - before:
            del sys.modules[one]


@settings(max_examples=150)
@given(packages())
def test_random_packages_do_the_same(package: tuple[Files, str]) -> None:
    files, target = package
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), files)
        try:
            expected = run_here(Path(folder), target)
        except ImportError:  # a cycle that Python cannot import from this end either
            reject()
    flat = flatten_slice(make_slice(files, target))
    namespace: dict[str, Any] = {"__name__": "flat"}
    exec(compile(flat, "flat.py", "exec"), namespace)  # noqa: S102 - our own snippets
    assert namespace[target.partition(":")[2]]() == expected, flat
