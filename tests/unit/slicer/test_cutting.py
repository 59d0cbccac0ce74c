"""What is kept survives exactly, what is dropped leaves no trace, and the rest parses."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import difflib
import enum
import itertools
import logging
import random
import subprocess
import sys
import textwrap
import typing
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from depslice.slicer.cut import FileCut, Form, StatementPath
from depslice.slicer.render import cut_file, cutting

CORPUS = tuple(
    Path(str(module.__file__))
    for module in (argparse, ast, dataclasses, difflib, enum, logging, subprocess, typing)
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def cut(
    text: str,
    keep: set[StatementPath],
    *,
    aliases: Mapping[StatementPath, set[str]] | None = None,
    stars: Mapping[StatementPath, set[str]] | None = None,
    reexports: Mapping[StatementPath, set[str]] | None = None,
    undocumented: AbstractSet[StatementPath] = frozenset(),
    forms: Mapping[StatementPath, Form] | None = None,
) -> str:
    """Cut ``text``; ancestors of ``keep`` are kept too."""
    return cut_file(
        FileCut(
            path="m.py",
            module="m",
            is_package=False,
            text=text,
            keep=frozenset(ancestor for path in keep for ancestor in ancestors(path)),
            aliases={path: frozenset(names) for path, names in (aliases or {}).items()},
            stars={path: frozenset(names) for path, names in (stars or {}).items()},
            reexports={path: frozenset(names) for path, names in (reexports or {}).items()},
            undocumented=frozenset(undocumented),
            forms=forms or {},
        )
    )


def ancestors(path: StatementPath) -> Iterator[StatementPath]:
    for end in range(2, len(path) + 1, 2):
        if path[end - 2] not in {"handlers", "cases"}:
            yield path[:end]


def children(node: ast.AST, path: StatementPath = ()) -> Iterator[tuple[StatementPath, ast.stmt]]:
    """The statements of a node's suites and their paths, as they stand in the source."""
    suites: list[tuple[StatementPath, list[ast.stmt]]]
    suites = [((*path, name), getattr(node, name, [])) for name in ("body", "orelse", "finalbody")]
    for name in ("handlers", "cases"):
        for index, clause in enumerate(getattr(node, name, [])):
            suites.append(((*path, name, index, "body"), clause.body))
    found = [((*key, index), child) for key, suite in suites for index, child in enumerate(suite)]
    yield from sorted(found, key=lambda pair: (pair[1].lineno, pair[1].col_offset))


def kept(
    node: ast.AST, share: float, chance: random.Random, path: StatementPath = ()
) -> dict[StatementPath, ast.stmt]:
    """A random ``share`` of the statements, closed under ancestors."""
    found: dict[StatementPath, ast.stmt] = {}
    for own, child in children(node, path):
        if chance.random() < share:
            found[own] = child
            if not isinstance(child, FUNCTIONS):
                found |= kept(child, share, chance, own)
    return found


def everything(text: str) -> dict[StatementPath, ast.stmt]:
    return kept(ast.parse(text), 1, seeded(0))


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  # a choice of test data


def leaves(node: ast.AST) -> Iterator[str]:
    """The dumps of all statements that are kept whole or not at all."""
    for _, child in children(node):
        if isinstance(child, FUNCTIONS) or not any(children(child)):
            yield ast.dump(child)
        else:
            yield from leaves(child)


def is_leaf(node: ast.stmt) -> bool:
    return isinstance(node, FUNCTIONS) or not any(children(node))


def segment(lines: list[str], node: ast.stmt) -> str:
    """The text of a statement; :func:`ast.get_source_segment` splits the file each time."""
    assert node.end_lineno is not None
    covered = lines[node.lineno - 1 : node.end_lineno]
    covered[-1] = covered[-1].encode()[: node.end_col_offset].decode()
    covered[0] = covered[0].encode()[node.col_offset :].decode()
    return "\n".join(covered)


def source(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


# -- properties over real files --------------------------------------------------------


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_everything_kept_is_the_same_program_and_cutting_again_changes_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    keep = set(everything(text))
    once = cut(text, keep)
    assert ast.dump(ast.parse(once)) == ast.dump(ast.parse(text))
    assert cut(once, keep) == once


@settings(max_examples=60)
@given(
    path=st.sampled_from(CORPUS),
    seed=st.integers(0, 2**16),
    share=st.sampled_from([0.1, 0.3, 0.5, 0.8, 0.95]),
)
def test_kept_statements_survive_exactly(path: Path, seed: int, share: float) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    keep = kept(ast.parse(text), share, seeded(seed))
    result = cut(text, set(keep))
    in_result = leaves(ast.parse(result))
    for node in sorted(keep.values(), key=lambda node: (node.lineno, node.col_offset)):
        if is_leaf(node):
            assert ast.dump(node) in in_result  # in order: this consumes the iterator
            assert segment(lines, node) in result


@settings(max_examples=40)
@given(path=st.sampled_from(CORPUS), seed=st.integers(0, 2**16))
def test_nothing_but_what_is_kept_is_there(path: Path, seed: int) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    keep = kept(tree, 0.4, seeded(seed))
    docstrings = {
        ast.dump(node.body[0]) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    }
    allowed = {ast.dump(node) for node in keep.values()} | {ast.dump(ast.Pass())} | docstrings
    assert set(leaves(ast.parse(cut(text, set(keep))))) <= allowed


@settings(max_examples=40)
@given(path=st.sampled_from(CORPUS), seed=st.integers(0, 2**16))
def test_any_mixture_of_forms_and_names_parses(path: Path, seed: int) -> None:
    text = path.read_text(encoding="utf-8")
    chance = seeded(seed)
    keep = kept(ast.parse(text), 0.6, chance)
    aliases = {
        own: {name for name in bound(node) if chance.random() < 0.5}
        for own, node in keep.items()
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    forms = {own: chance.choice(list(Form)) for own in keep if chance.random() < 0.5}
    ast.parse(cut(text, set(keep), aliases=aliases, reexports=aliases, forms=forms))


def bound(node: ast.Import | ast.ImportFrom) -> list[str]:
    dotted = isinstance(node, ast.Import)
    return [a.asname or (a.name.partition(".")[0] if dotted else a.name) for a in node.names]


ODD = [
    "if x: \\\n  a = 1; b = 2 \\\n\nc = 3\n",
    "x = 1; \\\ny = 2\nz = 3",
    "class A: x = 1; y = 2 # c\nclass B:\n\tx = 1\n\n\tdef f(self): return 1\n\ty = 3\n",
    "\x0cclass A:\n    x = 1\n\x0c\n    y = 2\n\x0c\ndef f(): pass\n",
    "class A:  # see C:\\\n    x = 1\n    y = 2\n",
    "class A: \\\n    x = 1\nz = 2\n",
    "def f(): \\\n  'doc'; return 1\n",
    "@(\n  # @foo\n  dec\n)\ndef f(): pass\n@ \\\n dec\nclass B: pass\n",
    "ünï = 1; zwéi = 'ü'; y = 2 # ü\nclass Ü: 'doc'; ä = 1; ö = 2\n",
    "try: import a\nexcept E: a = 1\nelse: b = 2\nfinally: c = 3; d = 4\n",
    "try:\n    x = 1\n# about finally\nfinally: \n    y = 1\n",
    "try:\n    x = 1\nexcept* E:\n    y = 1\n",
    "if a: x=1\nelif b: y=1\nelse: z=1\n",
    "if a:\n    x=1\nelse:\n    if b:\n        y=1\n    else : # c2\n        z=1\n",
    "for i in x: a = 1\nelse: b = 2\nwhile x:\n  a = 1\nelse:\n  b = 2",
    "with (a as b,\n  c as d\n  ):\n   x = 1\n   y = 2\n",
    "match (\n x\n):\n  # 0\n  case (\n   A() | B()\n  ) if f(\n    1): x = 1\n  case _:\n    z = 1\n",
    "if x == '''\n# foo''':\n  a = 1\n  b = 2\n",
    "class A(B,\n  # comment\n  C,  # foo\n):\n  # first\n  x = 1\n\n  # banner\n\n  y = 2\n",
    "if 1:\n    \\\n  x = 1\n    y = 2\n",
    "async def f(\n  a=lambda: 1,\n  b={1: 2}\n  ) -> {1: 2}: # c\n  # c1\n  '''doc'''; x = 1\n",
    "def g(): 'doc'; return 1\ndef h(): 'doc'\n",
    "\ufeffx = 1\r\nif x:\r\n  y = '''a\r\nb'''\r\n  z = 2\r\n",
    "x: (int\n | str) = 3\ny: int\n(a.b): int = 3\na[1] = 2\na, (b, *c) = d = e\n",
]
if sys.version_info >= (3, 12):
    ODD += [
        "type X = int\nx = 1\ntype Y[T] = (\n  list[T]\n)\n",
        "def f[T: (int, str)](\n a: T\n) -> T:\n  return a\nclass C[T](\n  B[T]):\n  x = 1\n  y = 2\n",
    ]


@pytest.mark.parametrize("text", ODD)
def test_every_selection_of_an_odd_layout_parses(text: str) -> None:
    plain = text.removeprefix("\ufeff")
    keep = everything(plain)
    assert ast.dump(ast.parse(cut(text, set(keep)))) == ast.dump(ast.parse(plain))
    for size in range(1, len(keep) + 1):
        for chosen in itertools.combinations(keep, size):
            closed = {ancestor for path in chosen for ancestor in ancestors(path)}
            if closed != set(chosen):
                continue
            got = list(leaves(ast.parse(cut(text, closed))))
            assert all(ast.dump(keep[path]) in got for path in closed if is_leaf(keep[path]))
            for form in (Form.SIGNATURE, Form.NAME):
                ast.parse(cut(text, closed, forms=dict.fromkeys(closed, form)))


# -- statements, suites, comments, blank lines -------------------------------------------


def test_a_statement_of_a_large_file_is_not_looked_for_among_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "".join(f"def f{n}():\n    return {n}\n" for n in range(2000)) + "a = 1; b = 2; c = 3\n"
    looked_at = []
    joined = cutting._Cutter._joined

    def counted(self: typing.Any, *both: typing.Any) -> bool:
        looked_at.append(both)
        return joined(self, *both)

    monkeypatch.setattr(cutting._Cutter, "_joined", counted)
    cut = FileCut(
        path="m.py",
        module="m",
        is_package=False,
        text=text,
        keep=frozenset({("body", 1000), ("body", 2000), ("body", 2002)}),
    )
    assert cut_file(cut) == "def f1000():\n    return 1000\n\n\na = 1; c = 3\n"
    assert len(looked_at) < 20


def test_nothing_kept_is_nothing() -> None:
    assert cut("import os\n", set()) == ""


def test_the_comment_block_directly_above_stays_and_banners_go() -> None:
    text = source(
        """
        #!/usr/bin/env python
        # -*- coding: latin-1 -*-
        # Licence.

        '''Module.'''

        # ---- banner ----

        # About f,
        # in two lines.
        @decorate(  # here
            1)
        def f( a,b ) :
            return a  +  b
            # done

        # about B
        B = 2  # two
        C = 3
        """
    )
    assert cut(text, {("body", 1), ("body", 3)}) == source(
        """
        # About f,
        # in two lines.
        @decorate(  # here
            1)
        def f( a,b ) :
            return a  +  b
            # done


        C = 3
        """
    )


def test_module_docstring_only_if_kept() -> None:
    text = '"""Doc."""\nx = 1\n'
    assert cut(text, {("body", 0), ("body", 1)}) == text
    assert cut(text, {("body", 1)}) == "x = 1\n"


def test_shebang_and_cookie_go_but_the_comment_below_them_stays() -> None:
    text = "#!/usr/bin/python\n# coding: latin-1\n# About os.\nimport os\n"
    assert cut(text, {("body", 0)}) == "# About os.\nimport os\n"


def test_comments_that_a_file_begins_with_are_the_files_and_not_its_first_imports() -> None:
    header = "#!/usr/bin/env python\n# Copyright.\n#\n# Licence.\n"
    imports = "import os\n# Why,\n# at length.\nimport re\n"
    assert cut(header + imports, {("body", 0), ("body", 1)}) == imports
    table = "# What it is,\n# at length.\nA = 1\n"
    assert cut(table, {("body", 0)}) == table


def test_no_comment_becomes_a_cookie() -> None:
    text = "import os\n\n\nimport re\n\n# Why.\n# see coding: latin-1\nx = 'ü'\n"
    result = cut(text, {("body", 2)})
    assert result == "# Why.\nx = 'ü'\n"
    assert "latin-1" in cut(text, {("body", 0), ("body", 1), ("body", 2)})


def test_a_comment_indented_into_a_suite_belongs_to_it_alone() -> None:
    text = "def f():\n    return 1\n    # end of f\nx = 1\n"
    assert cut(text, {("body", 1)}) == "x = 1\n"
    assert cut(text, {("body", 0)}) == "def f():\n    return 1\n    # end of f\n"
    assert cut(text, {("body", 0), ("body", 1)}).count("# end of f") == 1


def test_blank_lines_are_normalised_between_statements_and_not_inside() -> None:
    text = source(
        """
        a = 1



        b = 2
        c = 3
        def f():



            return 1
        class C:
            x = 1
            def g(self): ...



            def h(self): ...
            z = 1
            y = 2
        d = 4
        """
    )
    keep: set[StatementPath] = {("body", index) for index in (0, 1, 2, 3, 4, 5)}
    keep |= {("body", 4, "body", index) for index in (0, 1, 2, 4)}
    assert cut(text, keep) == source(
        """
        a = 1

        b = 2
        c = 3


        def f():



            return 1


        class C:
            x = 1

            def g(self): ...

            def h(self): ...

            y = 2


        d = 4
        """
    )


def test_semicolons() -> None:
    text = "a = 1; b = [\n  2]; c = 3;  # all\n"
    assert cut(text, {("body", 1)}) == "b = [\n  2]  # all\n"
    assert cut(text, {("body", 0), ("body", 2)}) == "a = 1; c = 3  # all\n"
    assert cut(text, {("body", 0), ("body", 1), ("body", 2)}) == text


def test_a_class_keeps_header_docstring_and_kept_members() -> None:
    text = source(
        """
        @register
        class C(  # why
            Base, metaclass=Meta,
        ):  # type: ignore[misc]
            '''Doc.'''

            # -- fields --

            x: int = 1  # x

            # About f.
            @property
            def f(self):  # noqa
                return 1

            def g(self):
                pass
        """
    )
    header = text[: text.index("    '''")]
    assert cut(text, {("body", 0)}) == f"{header}    '''Doc.'''\n"
    assert cut(text, {("body", 0, "body", 2)}) == (
        f"{header}    '''Doc.'''\n\n    # About f.\n    @property\n"
        "    def f(self):  # noqa\n        return 1\n"
    )


def test_an_empty_class_passes() -> None:
    assert cut("class C:\n\tx = 1\n", {("body", 0)}) == "class C:\n\tpass\n"
    assert cut("class C: x = 1  # c\n", {("body", 0)}) == "class C: pass\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('class C(B):\n    """What it is."""\n\n    x = 1\n', "class C(B):\n    pass\n"),
        ('@d\nclass C:\n    r"""Of two\n    lines."""\n', "@d\nclass C:\n    pass\n"),
        ('class C: "what"; x = 1  # c\n', "class C: pass\n"),
    ],
)
def test_an_undocumented_class_has_no_docstring(text: str, expected: str) -> None:
    at: StatementPath = ("body", 0)
    assert cut(text, {at}, undocumented={at}) == expected
    assert ast.parse(cut(text, {at}, undocumented={at}, forms={at: Form.SIGNATURE}))


def test_compound_statements_inside_a_class() -> None:
    text = source(
        """
        class C:
            if sys.version_info >= (3, 12):  # new
                def f(self): ...
                def g(self): ...
            else:
                f = None
                g = None
        """
    )
    at: StatementPath = ("body", 0, "body", 0)
    assert cut(text, {(*at, "body", 1), (*at, "orelse", 1)}) == source(
        """
        class C:
            if sys.version_info >= (3, 12):  # new
                def g(self): ...
            else:
                g = None
        """
    )


def test_emptied_suites() -> None:
    text = source(
        """
        if a:
            x = 1
        # or b
        elif b:
            x = 2
        else:
            x = 3
        """
    )
    at: StatementPath = ("body", 0)
    assert cut(text, {at}) == "if a:\n    pass\n"
    assert cut(text, {(*at, "orelse", 0, "body", 0)}) == (
        "if a:\n    pass\n# or b\nelif b:\n    x = 2\n"
    )
    assert cut(text, {(*at, "orelse", 0, "orelse", 0)}) == (
        "if a:\n    pass\n# or b\nelif b:\n    pass\nelse:\n    x = 3\n"
    )


def test_a_try_keeps_its_handlers() -> None:
    text = source(
        """
        try:
            import fast
        except ImportError as error:  # slow
            fast = None
        except OSError:
            fast = 0
        else:
            ok = 1
        finally:
            done = 1
        """
    )
    at: StatementPath = ("body", 0)
    assert cut(text, {(*at, "body", 0), (*at, "handlers", 1, "body", 0)}) == source(
        """
        try:
            import fast
        except ImportError as error:  # slow
            pass
        except OSError:
            fast = 0
        """
    )


def test_a_finally_without_handlers_cannot_go() -> None:
    text = "try:\n    x = 1\nfinally:\n    y = 1\n"
    assert cut(text, {("body", 0, "body", 0)}) == "try:\n    x = 1\nfinally:\n    pass\n"


def test_cases_of_a_match_stay() -> None:
    text = "match x:\n    case 1:\n        a = 1\n    case _:\n        b = 1\n"
    assert cut(text, {("body", 0, "cases", 1, "body", 0)}) == (
        "match x:\n    case 1:\n        pass\n    case _:\n        b = 1\n"
    )


# -- imports -------------------------------------------------------------------------------


def test_only_the_named_aliases_are_imported() -> None:
    text = "import os.path, re, json as j  # std\n"
    at: StatementPath = ("body", 0)
    assert cut(text, {at}, aliases={at: {"os", "j"}}) == "import os.path, json as j  # std\n"
    assert cut(text, {at}) == text
    assert cut(text, {at}, aliases={at: set()}) == ""


def test_future_imports_and_relative_imports() -> None:
    text = (
        "from __future__ import annotations, division\nfrom ..a import b, c\nfrom . import d, e\n"
    )
    keep: set[StatementPath] = {("body", 0), ("body", 1), ("body", 2)}
    aliases: dict[StatementPath, set[str]]
    aliases = {("body", 0): {"annotations"}, ("body", 1): {"c"}, ("body", 2): {"d"}}
    assert cut(text, keep, aliases=aliases) == (
        "from __future__ import annotations\nfrom ..a import c\nfrom . import d\n"
    )


def test_a_parenthesised_import_is_refilled() -> None:
    names = [f"a_rather_long_name_{index}" for index in range(8)]
    text = f"from m import (\n    {', '.join(names[:4])},\n    {', '.join(names[4:])},\n)\n"
    at: StatementPath = ("body", 0)
    assert (
        cut(text, {at}, aliases={at: set(names[2:4])}) == f"from m import {', '.join(names[2:4])}\n"
    )
    assert cut(text, {at}, aliases={at: set(names[1:])}) == (
        "from m import (\n" + "".join(f"    {name},\n" for name in names[1:]) + ")\n"
    )


COMMENTED = """\
from m import (  # all of m
    # about a
    a,  # a's
    b, c as d,  # b's and d's
    # about e
    e  # e's
    # the end
)  # after
"""


def test_comments_of_kept_names_survive() -> None:
    at: StatementPath = ("body", 0)
    assert cut(COMMENTED, {at}, aliases={at: {"a", "b"}}) == (
        "from m import (  # all of m\n    # about a\n    a,  # a's\n    b,  # b's and d's\n"
        ")  # after\n"
    )
    assert cut(COMMENTED, {at}, aliases={at: {"e"}}) == (
        "from m import (  # all of m\n    # about e\n    e,  # e's\n)  # after\n"
    )


def test_stars_become_sorted_names() -> None:
    text = "from m import *  # noqa: F403\n"
    at: StatementPath = ("body", 0)
    assert cut(text, {at}, aliases={at: {"*"}}) == text
    assert cut(text, {at}, stars={at: {"b", "a"}}, reexports={at: {"a"}}) == (
        "from m import a as a, b  # noqa: F403\n"
    )


REEXPORTS = """\
import a, b.c as d, e.f  # keep
import g as g
import h  # noqa: E402
import i  # noqa:F401,E402
import j  # noqa
import k  # noqa: because
from m import (  # opening
    aa,  # aa's
    bb, cc as dd,
)
from n import (aaa, bbb,
               ccc)  # type: ignore
from o import one, two, \\
    three as drei
from . import q
from .r import s as s, t as u  # type: ignore
import v as v, w \\
   , x
from y \\
  import (y1,
  y2 as y3
)
try:
    import a1; import a2
    from k import (z1,  # noqa: E501
       z2 as zwei)
except ImportError: import a3
if TYPE_CHECKING: from k2 import o as o2, p as p3
class K:
    from kk import a4, a5 as a6
    import a7
"""


@pytest.mark.parametrize("share", [1.0, 0.7, 0.4])
def test_ruff_calls_no_reexport_unused(share: float, tmp_path: Path) -> None:
    keep = everything(REEXPORTS)
    names = {
        path: bound(node)
        for path, node in keep.items()
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    chance = seeded(1)
    for number in range(1 if share == 1 else 10):
        aliases = {
            path: {name for name in all_names if chance.random() < share}
            for path, all_names in names.items()
        }
        text = cut(
            REEXPORTS, set(keep), aliases=aliases, reexports={p: set(n) for p, n in names.items()}
        )
        imported = [
            name
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in bound(node)
        ]
        assert sorted(imported) == sorted(name for kept in aliases.values() for name in kept)
        for file in ("__init__.py", "module.py"):
            (tmp_path / str(number)).mkdir(exist_ok=True)
            (tmp_path / str(number) / file).write_text(text)
    assert unused_imports(tmp_path) == ""


def test_ruff_calls_the_same_imports_unused_without_reexports(tmp_path: Path) -> None:
    """The check above would notice."""
    (tmp_path / "module.py").write_text(cut(REEXPORTS, {("body", 0)}))
    assert "F401" in unused_imports(tmp_path)


def unused_imports(folder: Path) -> str:
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache"]
    options = ["--select", "F401", "--output-format", "concise", "--quiet", str(folder)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.stdout


def test_unused_marks_join_an_existing_noqa() -> None:
    text = "import a  # noqa: E402\nimport b  # noqa\nimport c  # type: ignore\nimport d as d\n"
    keep: set[StatementPath] = {("body", index) for index in range(4)}
    reexports: dict[StatementPath, set[str]]
    reexports = {("body", 0): {"a"}, ("body", 1): {"b"}, ("body", 2): {"c"}}
    reexports[("body", 3)] = {"d"}
    assert cut(text, keep, reexports=reexports) == (
        "import a  # noqa: E402, F401\nimport b  # noqa\nimport c  # type: ignore  # noqa: F401\n"
        "import d as d\n"
    )


# -- forms ---------------------------------------------------------------------------------


FORMS = '''\
# About f.
@functools.cache
async def f(a: int,
            b=1) -> str:  # why
    """Doc
    of f."""
    return await g(a)


class C(Base):
    """Doc of C."""

    x: int = field(
        default=1)
    y = {"a": 1}  # y

    # About m.
    @classmethod
    @other
    def m(cls): return 1

    @m.setter
    def m(self, value):
        self._m = value

    def dropped(self): ...


V: dict[str, int] = {}
V["a"] = 1
W = U = load()  # slow
'''


def test_signatures() -> None:
    members: set[StatementPath] = {("body", 1, "body", index) for index in (1, 2, 3, 4)}
    keep = {("body", 0), *members, ("body", 2), ("body", 3), ("body", 4)}
    forms: dict[StatementPath, Form]
    forms = {("body", index): Form.SIGNATURE for index in range(5)}
    assert (
        cut(FORMS, keep, forms=forms)
        == '''\
# About f.
@functools.cache
async def f(a: int,
            b=1) -> str:  # why
    """Doc
    of f."""
    ...


class C(Base):
    """Doc of C."""

    x: int = field(
        default=1)
    y = {"a": 1}  # y

    # About m.
    @classmethod
    @other
    def m(cls): ...

    @m.setter
    def m(self, value):
        ...


V: dict[str, int] = ...
W = U = ...  # slow
'''
    )


def test_names() -> None:
    keep: set[StatementPath] = {("body", 1, "body", index) for index in (3, 4)}
    keep |= {("body", 0), ("body", 2), ("body", 3), ("body", 4)}
    forms = dict.fromkeys(keep, Form.NAME)
    assert (
        cut(FORMS, keep, forms=forms)
        == '''\
def f(*args, **kwargs): ...


class C(Base):
    """Doc of C."""

    @classmethod
    def m(*args, **kwargs): ...

    @m.setter
    def m(*args, **kwargs): ...


V = ...
W = U = ...
'''
    )
    assert cut(FORMS, {("body", 1)}, forms={("body", 1): Form.NAME}) == "class C: ...\n"


# -- promises --------------------------------------------------------------------------------


def test_libcst_is_imported_only_for_comments_between_names(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        source(
            """
            import sys
            from depslice.slicer.cut import FileCut
            from depslice.slicer.render import cut_file, render_tree, slice_to_json

            at = ("body", 0)
            for text in (
                "from m import (\\n    a,\\n    b,\\n)\\n",
                "class C:\\n    x = 1\\n    y = 2\\n",
                "from m import (\\n    a,  # a\\n    b,\\n)\\n",
            ):
                cut_file(FileCut(path="m.py", module="m", is_package=False, text=text,
                         keep=frozenset({at}), aliases={at: frozenset({"a"})}))
                print("libcst" in sys.modules)
            """
        )
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True"]


def test_a_syntax_error_is_the_callers() -> None:
    with pytest.raises(SyntaxError):
        cut("def f(:\n", {("body", 0)})
