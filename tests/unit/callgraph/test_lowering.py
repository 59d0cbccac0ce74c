"""Lowering: what the summary of one file says, and that it is a value one can store."""

from __future__ import annotations

import ast
import symtable
import sys
from operator import is_
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from depslice.callgraph import summary as s
from depslice.callgraph.lowering import SourceSyntaxError, summarize
from depslice.callgraph.summary import FileSummary, Unit, dump_summary, load_summary
from specimens import FIXTURES

SOURCES = sorted(FIXTURES.glob("*/repo/**/*.py"))


def unit(summary: FileSummary, qualname: str) -> Unit:
    [found] = [u for u in summary.units if u.kind != "piece" and u.qualname == qualname]
    return found


def operations(summary: FileSummary, qualname: str, code: int) -> list[s.Op]:
    return [op for op in unit(summary, qualname).ops if op[0] == code]


# Pieces.


@pytest.mark.parametrize(
    ("text", "is_old"),
    [
        ("print 'x'", True),
        ("print x, y", True),
        ("exec code in space", True),
        ("raise E, 'x'", True),
        ("try:\n  pass\nexcept E, e:\n  pass", True),
        ("try:\n  pass\nexcept (E, F), e:\n  pass", True),
        ("os.chmod(p, 0644)", True),
        ("x = 10L", True),
        ("x = 0xFFL", True),
        ("x = a <> b", True),
        ("x = `y`", True),
        ("x = ur'a'", True),
        ("def f(a, (b, c)): pass", True),
        ("f(lambda (k, v): k)", True),
        ("async = 1", False),
        ("{% if x %}", False),
        ("x = 10la", False),
        ("case = 1 +", False),
        ("x = 'a `b` <> c' d", False),
        ("try:\n  pass\nexcept A, B:\n  pass", False),
        ("let x = 1", False),
    ],
)
def test_python_2_is_told(text: str, is_old: bool) -> None:
    with pytest.raises(SourceSyntaxError) as told:
        summarize(text)
    assert ("Python 2" in told.value.message) is is_old


def test_pieces_are_named_by_their_place_in_the_syntax_tree() -> None:
    text = """\
import os
class A:
    x = 1
    if os.name == "nt":
        def f(self): pass
try:
    y = 1
except KeyError:
    y = 2
"""
    summary = summarize(text)
    tree = ast.parse(text)
    assert [(p.kind, p.path) for p in summary.pieces] == [
        ("import", ("body", 0)),
        ("class", ("body", 1)),
        ("assign", ("body", 1, "body", 0)),
        ("if", ("body", 1, "body", 1)),
        ("def", ("body", 1, "body", 1, "body", 0)),
        ("try", ("body", 2)),
        ("assign", ("body", 2, "body", 0)),
        ("assign", ("body", 2, "handlers", 0, "body", 0)),
    ]
    for piece in summary.pieces:
        node: object = tree
        for step in piece.path:
            node = node[step] if isinstance(node, list) else getattr(node, str(step))
        assert isinstance(node, ast.stmt)
        assert piece.start == node.lineno
        assert piece.end == node.end_lineno


def test_decorators_belong_to_a_piece_and_its_name_has_a_line_of_its_own() -> None:
    [piece] = summarize("@one\n@two(\n    3)\ndef f():\n    pass\n").pieces
    assert (piece.start, piece.name_line, piece.end) == (1, 4, 5)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('"""Doc."""', "doc"),
        ("from __future__ import annotations", "future"),
        ("raise SystemExit", "jump"),
        ("f()", "expr"),
        ("x: int = 1", "assign"),
        ("x += 1", "assign"),
        ("for x in y: pass", "loop"),
        ("while x: pass", "loop"),
        ("with x: pass", "with"),
        ("match x:\n    case 1: pass", "match"),
        ("async def f(): pass", "def"),
    ],
)
def test_kinds_of_pieces(text: str, kind: str) -> None:
    assert summarize(text + "\n").pieces[0].kind == kind


@pytest.mark.parametrize(
    ("text", "current"),
    [
        ("x = 1\nx = 2", (1,)),
        ("if c:\n    x = 1\nelse:\n    x = 2", (1, 2)),
        ("x = 1\nif c:\n    x = 2", (0, 2)),
        ("try:\n    import x\nexcept ImportError:\n    x = None", (1, 2)),
        ("x = 1\nfor x in y: pass", (0, 1)),
        ("from a import x\ndef x(): pass", (1,)),
    ],
)
def test_which_bindings_can_be_current_at_the_end(text: str, current: tuple[int, ...]) -> None:
    assert summarize(text + "\n").final["x"] == current


def test_module_code_reads_the_binding_of_its_place_and_functions_read_the_last() -> None:
    summary = summarize("x = 1\ny = x\nx = 2\ndef f(): return x\n")
    module_level = [op for op in summary.units[1].ops if op[0] == s.GLOBAL]
    assert [(op[2], op[3]) for op in module_level] == [("x", (0,))]
    assert [(op[2], op[3]) for op in operations(summary, "f", s.GLOBAL)] == [("x", None)]


def test_what_changes_the_object_a_name_stands_for() -> None:
    summary = summarize(
        "X = []\nX.append(1)\nX[0] = 2\nX += [1]\nX.y = 1\n@X.register\ndef f(): pass\ny = X\n"
    )
    assert summary.scope["X"] == (0, 3)
    assert summary.mutations["X"] == (1, 2, 3, 4, 5)
    assert "y" not in summary.mutations


def test_imports_say_what_they_bind_and_from_where() -> None:
    summary = summarize(
        "from .a import b as c, d\nimport x.y\nimport x.z as z\n"
        "from q import *\nif TYPE_CHECKING:\n    from t import u\n"
    )
    assert [p.imports for p in summary.pieces if p.kind == "import"] == [
        (("c", 1, "a", "b"), ("d", 1, "a", "d")),
        (("x", 0, "x.y", None),),
        (("z", -1, "x.z", None),),  # binds x.z, where `import x.z` binds x
        (("*", 0, "q", "*"),),
        (("u", 0, "t", "u"),),
    ]
    assert summary.stars == (3,)
    assert [p.type_checking for p in summary.pieces] == [False] * 5 + [True]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('__all__ = ["a", "b"]', ("a", "b")),
        ('__all__ = ("a",)\n__all__ += ["b"]', ("a", "b")),
        ("__all__ = [name for name in dir()]", None),
        ("x = 1", None),
    ],
)
def test_dunder_all(text: str, names: tuple[str, ...] | None) -> None:
    assert summarize(text + "\n").dunder_all == names


def test_exec_and_eval_are_noted_with_their_place() -> None:
    summary = summarize("def f(text):\n    exec(text)\n    return eval(text)\n")
    assert [(s.unpack(pos), name) for pos, name in summary.dynamic] == [
        ((2, 4), "exec"),
        ((3, 11), "eval"),
    ]


# Units.


def test_parameters() -> None:
    function = unit(summarize("def f(a, /, b: int, *c, d=1, **e): pass\n"), "f")
    assert function.params == (
        ("a", "po", None, False),
        ("b", "pk", (s.T_NAME, "int"), False),
        ("c", "va", None, False),
        ("d", "ko", None, True),
        ("e", "kw", None, False),
    )


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("def f(): yield 1", s.GENERATOR),
        ("async def f(): pass", s.ASYNC),
        ("def f():\n    for x in y: pass", s.HAS_LOOP),
        ("def f():\n    while x: pass", s.HAS_LOOP),
        ("@other\ndef f(): pass", s.DECORATED),
        ("def f(): return locals()", s.USES_LOCALS),
    ],
)
def test_flags_of_functions(text: str, flag: int) -> None:
    assert unit(summarize(text + "\n"), "f").flags & flag
    assert not unit(summarize("def f(): return 1\n"), "f").flags


@pytest.mark.parametrize(
    ("decorator", "flag"),
    [
        ("staticmethod", s.STATIC),
        ("classmethod", s.CLASSMETHOD),
        ("property", s.PROPERTY),
        ("abstractmethod", s.ABSTRACT),
        ("functools.cached_property", s.CACHED_PROPERTY),
        ("overload", s.OVERLOAD),
    ],
)
def test_flags_of_methods(decorator: str, flag: int) -> None:
    summary = summarize(f"class A:\n    @{decorator}\n    def f(self): pass\n")
    assert unit(summary, "A.f").flags & flag


def test_a_loop_joins_what_stood_before_it_with_what_it_assigns() -> None:
    summary = summarize("def f(a, b):\n    x = a\n    while x:\n        x = b\n    return x\n")
    [returned] = operations(summary, "f", s.RETURN)
    joins = {op[1]: op[2] for op in operations(summary, "f", s.PHI)}
    assert sorted(joins[returned[1]]) == [0, 1]  # the registers of a and b


def test_branches_are_joined_and_straight_assignments_are_not() -> None:
    summary = summarize(
        "def straight(a, b):\n    x = a\n    x = b\n    return x\n"
        "def branch(a, b):\n    x = a\n    if b: x = b\n    return x\n"
    )
    assert operations(summary, "straight", s.RETURN) == [(s.RETURN, 1)]
    assert not operations(summary, "straight", s.PHI)
    [join] = operations(summary, "branch", s.PHI)
    assert sorted(join[2]) == [0, 1]
    assert operations(summary, "branch", s.RETURN) == [(s.RETURN, join[1])]


def test_nested_functions_name_their_parent_and_what_they_capture() -> None:
    summary = summarize(
        "def outer(a):\n    b = a\n    def inner():\n        return b\n    return lambda: inner()\n"
    )
    outer = unit(summary, "outer")
    inner = unit(summary, "outer.<locals>.inner")
    anonymous = unit(summary, "outer.<locals>.<lambda>@5")
    assert inner.parent == anonymous.parent == outer.index
    assert set(outer.captured) == {"b", "inner"}
    assert outer.captured["b"] == (0,)  # it is what `a` is
    assert [(op[2], op[3]) for op in inner.ops if op[0] == s.FREE] == [(outer.index, "b")]


def test_global_and_nonlocal_writes() -> None:
    summary = summarize(
        "def f():\n    global g\n    g = 1\n    n = 1\n    def h():\n"
        "        nonlocal n\n        n = 2\n    return h\n"
    )
    assert unit(summary, "f").globals_written == ("g",)
    assert summary.global_writers == {"g": (unit(summary, "f").index,)}
    [write] = operations(summary, "f.<locals>.h", s.SETFREE)
    assert write[1:3] == (unit(summary, "f").index, "n")


def test_classes_know_members_bases_and_the_attributes_methods_assign() -> None:
    summary = summarize(
        "class A(B, metaclass=M):\n    x = 1\n    def m(self):\n"
        "        self.y = 1\n        self.z.w = 2\n"
    )
    [class_] = summary.classes
    method = unit(summary, "A.m")
    assert set(class_.members) == {"x", "m"}
    assert len(class_.bases) == 1
    assert [name for name, _ in class_.keywords] == ["metaclass"]
    assert class_.self_stores == {"y": (method.index,)}
    assert method.stores == ("w",)


def test_a_comprehension_does_not_leak_its_variable() -> None:
    summary = summarize("x = 1\ny = [x for x in z]\n")
    assert summary.scope["x"] == (0,)
    assert "z" in {op[2] for op in summary.units[1].ops if op[0] == s.GLOBAL}


# What is wrong with a text.


@pytest.mark.parametrize(
    ("text", "line"),
    [("def f(:\n", 1), ("x = 1\nprint 'a'\n", 2), ("x = {{ name }\n", 1), ("x = 1\0", None)],
)
def test_a_syntax_error_says_where(text: str, line: int | None) -> None:
    with pytest.raises(SourceSyntaxError) as caught:
        summarize(text)
    assert caught.value.slug == "syntax-error"
    assert caught.value.message
    assert caught.value.line == line


@pytest.mark.parametrize(
    "text",
    [
        "x = " + " + ".join(["a"] * 3000),
        "x = " + " + ".join(["a"] * 20_000),
        "x = " + "-" * 5000 + "1",
        "x = a" + ".b" * 5000,
        "x = a" + "()" * 5000,
        "x = " + "lambda: " * 1500 + "1",
        "x = " + "(" * 190 + "1" + ")" * 190,
        "".join(" " * i + "if a:\n" for i in range(99)) + " " * 99 + "x = 1",
    ],
    ids=["sum", "long-sum", "minus", "attributes", "calls", "lambdas", "parentheses", "ifs"],
)
def test_deep_nesting_is_lowered_or_refused_and_nothing_else(text: str) -> None:
    before = sys.getrecursionlimit()
    try:
        summary = summarize(text + "\n")
    except SourceSyntaxError as error:
        assert error.slug in ("too-deep", "syntax-error")
    else:
        assert "x" in summary.scope
    assert sys.getrecursionlimit() == before


def test_long_flat_code_is_lowered() -> None:
    terms = " + ".join(f"f{i}()" for i in range(600))
    called = {op[2] for op in summarize(f"x = {terms}\n").units[0].ops if op[0] == s.GLOBAL}
    assert called == {f"f{i}" for i in range(600)}
    chain = "if a: x = 1\n" + "".join(f"elif b{i}: x = {i}\n" for i in range(300))
    assert len(summarize(chain).final["x"]) == 301


def test_warnings_of_the_parser_are_not_ours() -> None:
    assert summarize('x = "\\d"\n').scope == {"x": (0,)}  # errors are raised for warnings here


# A summary is a value.


def plain(summary: FileSummary) -> object:
    """All of a summary as data that compare by value."""
    named = {name: getattr(summary, name) for name in FileSummary.__slots__}
    for name in ("pieces", "units", "classes"):
        named[name] = [
            [(slot, getattr(row, slot)) for slot in type(row).__slots__] for row in named[name]
        ]
    return named


def load(path: Path) -> FileSummary | None:
    try:
        return summarize(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, SourceSyntaxError):
        return None


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(FIXTURES)))
def test_storing_and_loading_gives_an_equal_summary(path: Path) -> None:
    summary = load(path)
    if summary is None:
        pytest.skip("not text that can be summarised")
    stored = dump_summary(summary)
    assert plain(load_summary(stored)) == plain(summary)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(FIXTURES)))
def test_sharing_what_operations_hold_leaves_it_as_it_is(path: Path) -> None:
    summary, again = load(path), load(path)
    if summary is None or again is None:
        pytest.skip("not text that can be summarised")
    known: dict[object, object] = {(0,): (0,), (1,): (1,)}  # equal to `(False,)`, `(True,)`
    s.share_operations(summary.units, known)
    s.share_operations(again.units, known)
    for first, second, before in zip(summary.units, again.units, load(path).units, strict=True):
        assert repr([_without_lists(op) for op in before.ops]) == repr(first.ops)
        for op, other in zip(first.ops, second.ops, strict=True):
            parts = [part for part in op if type(part) in (int, str)]
            assert all(map(is_, parts, [part for part in other if type(part) in (int, str)]))


def _without_lists(part: object) -> object:
    return tuple(map(_without_lists, part)) if isinstance(part, list | tuple) else part


def test_operations_share_equal_lists_of_registers_but_not_across_types() -> None:
    summary = summarize("def f(a, b):\n    g(a, b)\n    g(a, b)\n")
    [unit] = [each for each in summary.units if each.kind == "function"]
    unit.ops += [(s.CALL, (0, 1)), (s.CALL, (False, True)), (s.CALL, (False, True))]
    s.share_operations([unit], {})
    first, second = (op for op in unit.ops if op[0] == s.CALL and len(op) > 2)
    assert first[3] is second[3]
    assert repr(unit.ops[-3:]) == repr(
        [(s.CALL, (0, 1)), (s.CALL, (False, True)), (s.CALL, (False, True))]
    )


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(FIXTURES)))
def test_registers_are_defined_and_units_in_order(path: Path) -> None:
    summary = load(path)
    if summary is None:
        pytest.skip("not text that can be summarised")
    for index, found in enumerate(summary.units):
        assert found.index == index
        assert found.parent < index
        assert 0 <= found.piece < len(summary.pieces)
        defined = range(-8, found.registers)
        assert all(r in defined for registers in found.captured.values() for r in registers)
    for index, piece in enumerate(summary.pieces):
        assert piece.index == index
        assert piece.parent < index
        if piece.parent >= 0 and piece.path[0] != "local":
            holder = summary.pieces[piece.parent].path
            assert piece.path[: len(holder)] == holder


NAMES = st.sampled_from(["a", "b", "c"])
LINES = st.one_of(
    st.builds("{} = {}".format, NAMES, NAMES),
    st.builds("{}.append({})".format, NAMES, NAMES),
    st.builds("def {}({}): return {}".format, NAMES, NAMES, NAMES),
    st.builds("if {}: {} = 1".format, NAMES, NAMES),
    st.builds("import {} as {}".format, NAMES, NAMES),
    st.builds("for {} in {}: {}".format, NAMES, NAMES, NAMES),
    st.builds("class {}: {} = 1".format, NAMES, NAMES),
)


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_every_name_python_binds_is_bound_and_no_other(text: str) -> None:
    summary = summarize(text + "\n")
    # The compiler's own symbol table is the authority.
    table = symtable.symtable(text + "\n", "<test>", "exec")
    bound = {
        x.get_name()
        for x in table.get_symbols()
        if x.is_assigned() or x.is_imported() or x.is_namespace()
    }
    assert set(summary.scope) == bound
    assert set(summary.final) == bound
    for name, current in summary.final.items():
        assert set(current) <= set(summary.scope[name])
        assert current


@pytest.mark.parametrize(
    ("rows", "made"),
    [
        ("(1, 2), " * 100, 1),
        ("(1, 2), (1, None), " * 50, 2),
        ("(1, 2), " * 10, 10),  # no table
        ("(1, 'name'), " * 100, 100),  # a text may be a name
        ("(1, f), " * 100, 100),
        ("(), " * 100, 100),
    ],
)
def test_rows_of_numbers_that_are_alike_are_one_in_a_table(rows: str, made: int) -> None:
    summary = summarize(f"def f(): ...\nTABLE = [{rows}]\n")
    sequences = [op for u in summary.units for op in u.ops if op[0] == s.SEQUENCE]
    assert [op[2] for op in sequences] == ["tuple"] * made + ["list"]
    assert len(sequences[-1][3]) == rows.count("), ")
