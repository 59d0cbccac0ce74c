"""Flattened packages must do what the packages do: both are run and compared."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
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


def _links(module: str, path: str, files: Files, modules: dict[str, str]) -> dict[str, Link]:
    found: dict[str, Link] = {}
    known = {*modules, *(name.partition(".")[0] for name in modules)}
    for node in ast.walk(ast.parse(files[path])):
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
                if f"{base}.{alias.name}" in modules:
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
        [2, 6, [[2, 3], {"x": 3}], 4, [3, "module"], 2, [2, "ValueError"], "module",
         ["module", "module", 3]],
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
        [["zero", [1, "module"], [4, [5], 0], [1, {"j": 2}, 1], 1, {"z": 2}, 1, [2, 3],
          [1, 2, 3]], None],
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
