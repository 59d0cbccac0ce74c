"""Options of slicing: budget, depth, whole classes, strategies, usages, and misuse."""

from __future__ import annotations

import _thread
import ast
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check import check_slice, write_files
from depslice.callgraph import Certainty, Program, build_graph, find_symbol, open_program
from depslice.callgraph.errors import OptionError, UnknownTarget
from depslice.callgraph.model import SymbolKind
from depslice.slicer import (
    Form,
    Slice,
    function_symbols,
    render,
    slice_all,
    slice_context,
    slice_symbols,
)
from depslice.slicer.budget import files_size
from depslice.slicer.parallel import map_slices
from depslice.slicer.tokens import ESTIMATE, count_tokens, find_tokenizer
from depslice.slicer.tradeoff import tradeoff_of
from specimens import FIXTURES, load_specimens

QUOTE = "shop.api:quote"
TARGETS = [(found.name, target) for found in load_specimens() for target in found.slices]
POSSIBLE = Certainty.POSSIBLE
STEPS = (Form.FULL, Form.SIGNATURE, Form.NAME)

CHAIN = """
# --- app.py
from lib import near
def target():
    return near()
# --- lib.py
from deep import far
def near():
    '''Near.'''
    total = 0
    for number in range(10):
        total += number
    return far() + total
# --- deep.py
def far():
    '''Far.'''
    total = 1
    for number in range(20):
        total *= number
    return farther() - total
def farther():
    '''Farther.'''
    result = []
    for number in range(30):
        result.append(number)
    return len(result)
"""


@cache
def program_of(name: str) -> Program:
    """A specimen, with every slice made once: see `ORDER_MATTERS` in test_engine.py."""
    program = open_program(FIXTURES / name / "repo", cache=None)
    for found, target in TARGETS:
        if found == name:
            slice_symbols(program, [target])
    return program


@pytest.fixture
def chain(tmp_path: Path) -> Program:
    return made(CHAIN, tmp_path)


def made(files: str, folder: Path) -> Program:
    write_files(files, folder)
    return open_program(folder, cache=None)


def ids(found: Slice) -> set[str]:
    return {item.symbol.id for item in found.items}


def size(program: Program, found: Slice) -> int:
    return files_size(render(program, found).files, find_tokenizer(ESTIMATE))


def text_of(program: Program, found: Slice, **options: object) -> str:
    context = render(program, found, format="bundle", **options)  # type: ignore[arg-type]
    return context.files[0].text


# Budgets.


def test_forms_step_down_from_the_farthest_item(chain: Program) -> None:
    everything = slice_symbols(chain, ["app:target"])
    assert [item.symbol.id for item in everything.items] == [
        "app:target",
        "lib:near",
        "deep:far",
        "deep:farther",
    ]
    full = size(chain, everything)
    tighter = slice_symbols(chain, ["app:target"], budget=full - 5)
    assert [item.form for item in tighter.items] == [Form.FULL] * 3 + [Form.SIGNATURE]
    assert size(chain, tighter) <= full - 5
    text = text_of(chain, tighter)
    assert "'''Farther.'''" in text  # a signature keeps its docstring
    assert "range(30)" not in text
    assert "range(20)" in text


def test_items_step_down_one_after_another(chain: Program) -> None:
    seen: list[tuple[int, ...]] = []
    for budget in range(size(chain, slice_symbols(chain, ["app:target"])), 20, -1):
        found = slice_symbols(chain, ["app:target"], budget=budget)
        assert size(chain, found) <= budget
        state = tuple(STEPS.index(item.form) for item in found.items if not item.is_target)
        if not seen or seen[-1] != state:
            seen.append(state)
    assert seen[:2] == [(0, 0, 0), (0, 0, 1)]  # the farthest first
    assert (0, 1, 2) in seen  # each in another form
    assert seen[-1] in [(2,), ()]
    assert all(state == tuple(sorted(state)) for state in seen)
    # With less room nothing is shown in a larger form than with more.
    shown = [(*state, *[3] * (3 - len(state))) for state in seen]
    assert all(
        less >= more
        for before, after in pairwise(shown)
        for more, less in zip(before, after, strict=True)
    )


def test_the_nearest_are_in_full_however_many_there_are(tmp_path: Path) -> None:
    body = "".join(f"    x{n} = x + {n}\n" for n in range(20))
    calls = "".join(f"    f{n}(1)\n" for n in range(100))
    functions = "".join(f"\ndef f{n}(x):\n{body}    return g{n}(x)\n" for n in range(100))
    farther = "".join(f"\ndef g{n}(x):\n{body}    return x\n" for n in range(100))
    program = made(f"# --- app.py\ndef target():\n{calls}{functions}{farther}", tmp_path)

    found = slice_symbols(program, ["app:target"], budget=4_000)

    assert 3_600 < size(program, found) <= 4_000
    forms = Counter(item.form for item in found.items if not item.is_target)
    assert min(forms[form] for form in Form) > 10
    assert {item.distance for item in found.items if item.form is Form.FULL} == {0, 1}
    # No more was looked for than there may be room for.
    assert len(found.items) + len(found.omitted) < 1 + 300


def test_what_is_large_leaves_its_room_to_what_comes_next(tmp_path: Path) -> None:
    body = "".join(f"    x{n} = x + {n}\n" for n in range(150))
    calls = "".join(f"    small{n}(x)\n" for n in range(40))
    small = "".join(f"\ndef small{n}(x):\n    'Small.'\n    return x\n" for n in range(40))
    text = f"def target(x):\n    large(x)\n{calls}\ndef large(x):\n{body}{small}"
    program = made(f"# --- app.py\n{text}", tmp_path)
    before: dict[str, int] = {}
    for budget in range(300, 1_800, 50):
        found = slice_symbols(program, ["app:target"], budget=budget)
        forms = {item.symbol.id: STEPS.index(item.form) for item in found.items}
        no_more = all(form == 0 for name, form in forms.items() if name != "app:large")
        assert (no_more and len(forms) == 42) or 0.7 * budget < size(program, found) <= budget
        # A larger budget shows nothing less.
        assert all(forms.get(name, 3) <= form for name, form in before.items())
        before = forms
    assert set(before.values()) == {0}


def test_a_larger_budget_shows_nothing_less(tmp_path: Path) -> None:
    imports = "".join(f"from a_rather_long_name_{n} import f{n}\n" for n in range(50))
    calls = "".join(f"    f{n}(1)\n" for n in range(50))
    files = "".join(
        f"# --- a_rather_long_name_{n}.py\nimport sys\ndef f{n}(x):\n    return sys.path\n"
        for n in range(50)
    )
    program = made(f"# --- app.py\n{imports}\ndef target():\n{calls}{files}", tmp_path)
    before: dict[str, int] = {}
    for budget in range(900, 1_300, 8):
        found = slice_symbols(program, ["app:target"], budget=budget)
        forms = {item.symbol.id: STEPS.index(item.form) for item in found.items}
        assert all(forms.get(name, 3) <= form for name, form in before.items())
        before = forms


def test_what_a_budget_leaves_out_is_listed(chain: Program) -> None:
    everything = slice_symbols(chain, ["app:target"])
    found = slice_symbols(chain, ["app:target"], budget=25)
    left_out = {each.symbol: each.distance for each in found.omitted if each.why == "budget"}
    assert left_out
    assert ids(found).isdisjoint(left_out)
    assert ids(found) | left_out.keys() == ids(everything)
    assert left_out == {
        item.symbol.id: item.distance
        for item in everything.items
        if item.symbol.id not in ids(found)
    }


def test_a_target_is_never_cut(chain: Program) -> None:
    found = slice_symbols(chain, ["deep:far"], budget=1)
    [target] = [item for item in found.items if item.is_target]
    assert target.form is Form.FULL
    assert "for number in range(20):\n        total *= number" in text_of(chain, found)


ORDER = """
# --- registry.py
RULES = {}
# --- pkg/__init__.py
from . import rules
# --- pkg/rules.py
from registry import RULES
def double(value):
    return value * 2
RULES["double"] = double
# --- pkg/core.py
def apply(value):
    return value
"""


def test_the_order_of_targets_does_not_matter(tmp_path: Path) -> None:
    """Whoever imports the second target registers what the first one holds."""
    write_files(ORDER, tmp_path)
    program = open_program(tmp_path, cache=None)
    targets = ["registry:RULES", "pkg.core:apply"]
    found = slice_symbols(program, targets)
    assert "pkg.rules:double" in ids(found)
    assert ids(found) == ids(slice_symbols(program, targets[::-1]))


NEARER = """
# --- app.py
def target():
    far()
    return near(Shape())
def far():
    return farther()
def farther():
    return Shape().area()
def near(shape):
    return shape.area()
class Shape:
    def area(self):
        return side()
def side():
    return 1
"""


def test_a_depth_counts_from_who_is_nearest(tmp_path: Path) -> None:
    """`farther` asks first, and from too far; what `near` is passed shows only later."""
    write_files(NEARER, tmp_path)
    program = open_program(tmp_path, cache=None)
    found = slice_symbols(program, ["app:target"], depth=2)
    distances = {item.symbol.id: item.distance for item in found.items}
    assert distances["app:Shape.area"] == 2
    assert "app:side" not in distances
    assert [each.symbol for each in found.omitted] == ["app:side"]
    deeper = slice_symbols(program, ["app:target"], depth=3)
    assert {item.symbol.id: item.distance for item in deeper.items}["app:side"] == 3


@given(st.sampled_from(TARGETS), st.integers(0, 8))
def test_a_deeper_slice_has_what_a_shallower_one_has(each: tuple[str, str], depth: int) -> None:
    name, target = each
    program = program_of(name)
    found = slice_symbols(program, [target], depth=depth)
    assert ids(found) <= ids(slice_symbols(program, [target], depth=depth + 1))
    assert all(
        item.distance <= depth or item.reason[-1].evidence == "encloses" for item in found.items
    )


REGISTRY = """
# --- pkg/__init__.py
from .handlers import handle
# --- pkg/registry.py
REGISTRY = {}
# --- pkg/handlers.py
from .registry import REGISTRY
def handle(value):
    '''What the budget leaves out, though its import makes the registration run.'''
    return value * 2
REGISTRY["handle"] = handle
# --- pkg/target.py
from .registry import REGISTRY
def target(name, value):
    return REGISTRY[name](value)
"""


def test_budgets_that_leave_out_what_an_import_for_its_effect_names(tmp_path: Path) -> None:
    write_files(REGISTRY, tmp_path)
    program = open_program(tmp_path, cache=None)
    everything = slice_symbols(program, ["pkg.target:target"])
    for budget in range(1, size(program, everything)):
        found = slice_symbols(program, ["pkg.target:target"], budget=budget)  # used not to end
        assert ids(found) < ids(everything) or size(program, found) <= budget


@given(st.sampled_from(TARGETS), st.integers(1, 400))
def test_budgets_lose_nothing_silently(each: tuple[str, str], budget: int) -> None:
    name, target = each
    program = program_of(name)
    everything = slice_symbols(program, [target])
    found = slice_symbols(program, [target], budget=budget)
    left_out = {each.symbol for each in found.omitted if each.why == "budget"}
    assert ids(found) | left_out == ids(everything)
    assert all(item.form is Form.FULL for item in found.items if item.is_target)
    sure = [i for i in everything.items if all(s.certainty is not POSSIBLE for s in i.reason)]
    forms = {item.symbol.id: STEPS.index(item.form) for item in found.items}
    # Classes are there as long as something in them is.
    sure = [i for i in sure if not i.is_target and i.symbol.kind is not SymbolKind.CLASS]
    steps = [forms.get(item.symbol.id, 3) for item in sure]
    assert steps == sorted(steps)
    for file in render(program, found).files:
        ast.parse(file.text)


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "target"), TARGETS)
def test_a_budget_that_is_no_constraint_changes_nothing(name: str, target: str) -> None:
    program = program_of(name)
    everything = slice_symbols(program, [target])
    assert slice_symbols(program, [target], budget=10**6) == everything


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("inventory", QUOTE),
        ("generators", "app:evens"),
        ("decorator_wraps", "app:use"),
    ],
)
def test_a_budget_of_exactly_its_size_changes_nothing(name: str, target: str) -> None:
    program = program_of(name)
    everything = slice_symbols(program, [target])
    assert slice_symbols(program, [target], budget=size(program, everything)) == everything


@pytest.mark.parametrize("budget", [150, 200])
def test_the_result_fits_when_the_target_alone_does(budget: int) -> None:
    everything = slice_symbols(program_of("inventory"), [QUOTE])
    assert render(program_of("inventory"), everything, strategy="naive").tokens < budget
    assert (
        size(
            program_of("inventory"), slice_symbols(program_of("inventory"), [QUOTE], budget=budget)
        )
        <= budget
    )


@pytest.mark.parametrize("name", ["inventory", "inheritance_across_files", "src_layout"])
def test_budgets_hold_for_the_text_that_is_shown(name: str) -> None:
    program = program_of(name)
    for target in [target for found, target in TARGETS if found == name]:
        least = len(text_of(program, slice_symbols(program, [target], budget=1)))
        for budget in range((least + 3) // 4 + 1, 400, 9):
            found = slice_symbols(program, [target], budget=budget)
            assert render(program, found, format="bundle").tokens <= budget


@pytest.mark.parametrize("budget", [600, 750, 900, 5000])
def test_the_result_fits_when_smaller_forms_suffice(budget: int) -> None:
    assert (
        size(
            program_of("inventory"), slice_symbols(program_of("inventory"), [QUOTE], budget=budget)
        )
        <= budget
    )


# Depth.


@pytest.mark.parametrize(
    ("depth", "expected", "omitted"),
    [
        (0, {"app:target"}, {"lib:near": 1}),
        (1, {"app:target", "lib:near"}, {"deep:far": 2}),
        (2, {"app:target", "lib:near", "deep:far"}, {"deep:farther": 3}),
        (3, {"app:target", "lib:near", "deep:far", "deep:farther"}, {}),
        (99, {"app:target", "lib:near", "deep:far", "deep:farther"}, {}),
    ],
)
def test_depth(chain: Program, depth: int, expected: set[str], omitted: dict[str, int]) -> None:
    found = slice_symbols(chain, ["app:target"], depth=depth)
    assert ids(found) == expected
    assert {each.symbol: each.distance for each in found.omitted} == omitted
    assert {each.why for each in found.omitted} <= {"depth"}
    for file in render(chain, found).files:
        ast.parse(file.text)


def test_a_depth_leaves_no_import_of_what_it_left_out(chain: Program) -> None:
    assert "import" not in text_of(chain, slice_symbols(chain, ["app:target"], depth=0))


def test_depth_and_budget_together(chain: Program) -> None:
    found = slice_symbols(chain, ["app:target"], depth=2, budget=20)
    assert ("deep:farther", "depth") in {(each.symbol, each.why) for each in found.omitted}
    assert ids(found) <= {"app:target", "lib:near", "deep:far"}


# Whole classes.


def test_whole_classes_keep_all_members_and_what_those_need(tmp_path: Path) -> None:
    program = made(
        """
# --- app.py
def helper(): pass
class Base:
    def unused_base(self): pass
class A(Base):
    limit = 3
    def used(self): pass
    def unused(self): helper()
def main(): A().used()
""",
        tmp_path,
    )
    few = slice_symbols(program, ["app:main"])
    all_ = slice_symbols(program, ["app:main"], whole_classes=True)
    assert ids(few) == {"app:main", "app:A", "app:A.used", "app:Base"}
    assert ids(all_) == ids(few) | {
        "app:A.limit",
        "app:A.unused",
        "app:Base.unused_base",
        "app:helper",
    }


def test_what_only_annotations_name_has_no_docstring(tmp_path: Path) -> None:
    program = made(
        """
# --- app.py
from kinds import Named, Asked, Read
def target(first: Named, second: Asked, third: Read) -> bool:
    return isinstance(second, Asked) or third.size > 1
# --- kinds.py
class Base:
    "What the base says."
class Shared:
    "What both inherit."
class Named(Base, Shared):
    "What is named."
class Asked(Shared):
    "What is asked for."
class Read:
    "What is read."
    size = 1
""",
        tmp_path,
    )
    text = text_of(program, slice_symbols(program, ["app:target"]))
    assert "class Named(Base, Shared):\n    pass" in text
    assert "What the base says" not in text
    assert all(f'"What {each}."' in text for each in ("both inherit", "is asked for", "is read"))
    whole = text_of(program, slice_symbols(program, ["app:target", "kinds:Named"]))
    assert "What is named" in whole
    assert "What the base says" in whole


def test_members_come_when_reached() -> None:
    check_slice(
        """
# --- app.py
class A:
    def used(self): return self.also()
    def also(self): return 1
    def unused(self): return 2
def main(a: A): return a.used()
""",
        "app:main",
        {"app:main", "app:A", "app:A.used", "app:A.also"},
    )


def test_overrides_come_with_live_subclasses_only() -> None:
    files = """
# --- app.py
class A:
    def go(self): pass
class Live(A):
    def go(self): pass
class Dead(A):
    def go(self): pass
def use(a: A): a.go()
def main(): use(Live())
"""
    check_slice(
        files,
        "app:main",
        {"app:main", "app:use", "app:A", "app:A.go", "app:Live", "app:Live.go"},
    )
    check_slice(files, "app:use", {"app:use", "app:A", "app:A.go"})


def test_a_class_as_target_brings_all_its_members() -> None:
    check_slice(
        "\n# --- app.py\nclass A:\n    x = 1\n    def f(self): g()\ndef g(): pass\ndef h(): A()\n",
        "app:A",
        {"app:A", "app:A.x", "app:A.f", "app:g"},
    )


def test_a_variable_as_target_brings_all_that_builds_it() -> None:
    check_slice(
        "\n# --- app.py\nX = []\nif len(X) == 0:\n    X.append(one())\nX += [2]\nY = 3\n"
        "def one(): return 1\n",
        "app:X",
        {"app:X", "app:one"},
    )


def test_several_targets_give_one_slice(chain: Program) -> None:
    found = slice_symbols(chain, ["lib:near", "deep:farther"])
    assert [item.symbol.id for item in found.items if item.is_target] == [
        "deep:farther",
        "lib:near",
    ]
    assert ids(found) == {"lib:near", "deep:far", "deep:farther"}
    assert found.targets == ("lib:near", "deep:farther")


def test_what_is_imported_from_outside_is_listed(tmp_path: Path) -> None:
    program = made(
        "\n# --- app.py\nimport os.path\nfrom json import dumps, loads\nimport re\n"
        "def f(): return dumps(os.path.sep)\n",
        tmp_path,
    )
    found = slice_symbols(program, ["app:f"])
    assert [(each.module, each.names) for each in found.externals] == [
        ("json", ("dumps",)),
        ("os.path", ()),
    ]


# Strategies and usages.


def test_naive_is_the_target_alone(chain: Program) -> None:
    found = slice_symbols(chain, ["app:target"])
    [file] = render(chain, found, strategy="naive").files
    assert file.path == "app.py"
    assert file.text == "def target():\n    return near()\n"


def test_full_is_the_file_and_what_it_imports_whole(chain: Program, tmp_path: Path) -> None:
    found = slice_symbols(chain, ["app:target"])
    files = {file.path: file.text for file in render(chain, found, strategy="full").files}
    assert files == {name: (tmp_path / name).read_text() for name in ("lib.py", "app.py")}


def test_strategies_differ_in_size_as_they_should() -> None:
    found = slice_symbols(program_of("inventory"), [QUOTE])
    naive = render(program_of("inventory"), found, strategy="naive")
    sliced = render(program_of("inventory"), found, strategy="sliced")
    assert naive.strategy == "naive"
    assert naive.tokens < sliced.tokens
    assert (
        len(
            {
                naive.digest,
                sliced.digest,
                render(program_of("inventory"), found, strategy="full").digest,
            }
        )
        == 3
    )


USED = """
# --- app.py
def target(): return 1
def here(): return target()
def not_a_caller(): return 2
# --- other.py
from app import target
def there(): return target()
class A:
    def method(self): return target()
    def unrelated(self): return 3
# --- tests/test_app.py
from app import target
def test_target(): assert target() == 1
"""


def test_usages_come_from_the_module_then_tests_then_elsewhere(tmp_path: Path) -> None:
    program = made(USED, tmp_path)
    found = slice_symbols(program, ["app:target"])
    counts = []
    for most in range(5):
        files = {file.path: file.text for file in render(program, found, usages=most).files}
        counts.append({path for path in files if path.startswith("usages/")})
    here = "usages/app.py"
    test = "usages/tests/test_app.py"
    there = "usages/other.py"
    assert counts == [set(), {here}, {here, test}, {here, test, there}, {here, test, there}]
    assert files[here] == "def here(): return target()\n"
    assert "def method(self)" in files[there]
    assert "unrelated" not in files[there]


# All functions.


def test_slices_of_all_functions_come_by_path_and_line(chain: Program) -> None:
    found = list(slice_all(chain, workers=1))
    assert [each.targets for each in found] == [
        ("app:target",),
        ("deep:far",),
        ("deep:farther",),
        ("lib:near",),
    ]
    for each in found:
        assert each == slice_symbols(chain, each.targets)


def test_options_hold_for_all(chain: Program) -> None:
    found = list(slice_all(chain, workers=1, depth=0))
    assert all(len(each.items) == 1 for each in found)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is one process elsewhere")
def test_processes_end_when_nobody_waits_for_them(chain: Program, tmp_path: Path) -> None:
    chain.load_all(workers=1)
    pids = tmp_path / "pids"
    pids.mkdir()

    def make(*_: object) -> None:
        (pids / str(os.getpid())).touch()
        time.sleep(120)

    def interrupt() -> None:
        while len(list(pids.iterdir())) < 2:
            time.sleep(0.05)
        _thread.interrupt_main()

    # Shells have what they run in the background ignore interrupts.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt, daemon=True).start()
    started = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            next(map_slices(chain, function_symbols(chain), make, workers=2))
    finally:
        signal.signal(signal.SIGINT, handler)
    while {str(each.pid) for each in multiprocessing.active_children()} & {*os.listdir(pids)}:
        assert time.monotonic() - started < 60
        time.sleep(0.05)


# Misuse.


@pytest.mark.parametrize("target", ["app:nothing", "nowhere:f", "app:target.x", "", "app:"])
def test_an_unknown_target_is_refused(chain: Program, target: str) -> None:
    with pytest.raises(UnknownTarget):
        slice_symbols(chain, [target])


@pytest.mark.parametrize(
    "options", [{"depth": -1}, {"budget": 0}, {"budget": -5}], ids=["depth", "zero", "budget"]
)
def test_options_without_meaning_are_refused(chain: Program, options: dict[str, int]) -> None:
    with pytest.raises(OptionError, match="must"):
        slice_symbols(chain, ["app:target"], **options)  # type: ignore[arg-type]


def test_no_target_is_refused(chain: Program) -> None:
    with pytest.raises(OptionError, match="no target"):
        slice_symbols(chain, [])
    symbol = find_symbol(chain, "app:target")
    for target in ("app:target", [symbol]):
        with pytest.raises(OptionError, match="targets must be a list of ids"):
            slice_symbols(chain, target)  # type: ignore[arg-type]


def test_what_can_mean_one_thing_only_is_taken(tmp_path: Path) -> None:
    write_files("# --- app.py\ndef f(): return 1\n# --- left/out.py\ndef g(): pass\n", tmp_path)
    for exclude in (["left/"], (each for each in ["left/"]), [Path("left")], {"left"}):
        program = open_program(tmp_path, cache=None, include=None, exclude=exclude)
        assert [each.id for each in function_symbols(program)] == ["app:f"]
    program = open_program(tmp_path, cache=None, exclude=None, max_file_bytes=1e6)  # type: ignore[arg-type]
    assert len(function_symbols(program)) == 2
    found = slice_symbols(program, ["app:f"], budget=100.0, depth=2.0)  # type: ignore[arg-type]
    assert found == slice_symbols(program, ["app:f"], budget=100, depth=2)
    functions = function_symbols(program)
    for limits in ({"budget": 100.0, "workers": 1.0}, {"budget": 100, "workers": 1}):
        made = map_slices(program, functions, lambda *made: made[2], depth=2, **limits)  # type: ignore[arg-type]
        assert found in list(made)
    _, context = slice_context(program, ["app:f"], format="bundle", budget=100.0, usages=1.0)  # type: ignore[arg-type]
    assert "def f" in context.files[0].text
    measured = tradeoff_of(program, "app:f", depths=[1.0], budgets=[100.0], usages=1.0)  # type: ignore[list-item, arg-type]
    assert measured == tradeoff_of(program, "app:f", depths=[1], budgets=[100], usages=1)
    with pytest.raises(OptionError, match="depths must not be less than 0: -1"):
        tradeoff_of(program, "app:f", depths=[-1])
    graph = build_graph(program, workers=1.0)  # type: ignore[arg-type]
    assert graph.neighbourhood(["app:f"], direction="targets", depth=1.0)  # type: ignore[arg-type]
    for exclude in ("left/", Path("left"), [1]):
        with pytest.raises(OptionError, match="exclude must be"):
            open_program(tmp_path, cache=None, exclude=exclude)  # type: ignore[arg-type]
    for budget in (100.5, float("nan"), True, "100"):
        with pytest.raises(OptionError, match="budget must be"):
            slice_symbols(program, ["app:f"], budget=budget)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "pdf"}, "unknown format"),
        ({"strategy": "clever"}, "unknown strategy"),
        ({"format": "module", "strategy": "full"}, "slices alone"),
        ({"format": "module", "usages": 1}, "slices alone"),
    ],
)
def test_renderings_without_meaning_are_refused(
    chain: Program, options: dict[str, object], message: str
) -> None:
    found = slice_symbols(chain, ["app:target"])
    with pytest.raises(OptionError, match=message):
        render(chain, found, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("format_", ["tree", "bundle", "module", "json", "md", "xml"])
def test_a_context_says_how_large_it_is_and_what_bytes_it_has(chain: Program, format_: str) -> None:
    found = slice_symbols(chain, ["app:target"])
    context = render(chain, found, format=format_)
    shown = context.files if format_ != "json" else render(chain, found).files  # its code
    assert context.tokens == sum(count_tokens(file.text) for file in shown)
    assert context.digest == render(chain, found, format=format_).digest
    assert len(context.digest) == 64
    assert (
        context.digest != render(chain, slice_symbols(chain, ["lib:near"]), format=format_).digest
    )
    if format_ == "json":
        assert json.loads(context.files[0].text)["schema"] == "depslice.slice/1"


# --- a target that stands in a class

MEMBER = """
# --- app.py
import json


class Holder:
    \"\"\"A docstring that takes more tokens than a budget of ten allows.\"\"\"

    field = json

    def target(self) -> int:
        return self.near() + 1

    def near(self) -> int:
        return far()


def far() -> int:
    return 2
"""


@pytest.fixture(scope="module")
def member(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("member")
    write_files(MEMBER, folder)
    return open_program(folder, cache=None)


@pytest.mark.parametrize("options", [{"depth": 0}, *({"budget": n} for n in range(1, 90, 4))])
def test_no_option_cuts_a_method_that_is_the_target(
    member: Program, options: dict[str, int]
) -> None:
    found = slice_symbols(member, ["app:Holder.target"], **options)
    [file] = render(member, found).files
    assert "        return self.near() + 1\n" in file.text


@pytest.mark.parametrize("budget", range(20, 90, 2))
def test_items_have_the_form_that_is_said_of_them(member: Program, budget: int) -> None:
    found = slice_symbols(member, ["app:Holder.target"], budget=budget)
    [file] = render(member, found).files
    shown = {
        "app:far": {Form.FULL: "return 2", Form.SIGNATURE: "far() -> int", Form.NAME: "def far("},
        "app:Holder.near": {
            Form.FULL: "return far()",
            Form.SIGNATURE: "near(self) -> int",
            Form.NAME: "def near(*args",
        },
    }
    forms = {item.symbol.id: item.form for item in found.items}
    for symbol, texts in shown.items():
        for form in STEPS[: STEPS.index(forms.get(symbol, Form.NAME))]:
            assert texts[form] not in file.text, symbol
        assert (texts[forms[symbol]] in file.text) if symbol in forms else True, symbol


@pytest.mark.parametrize(
    ("test", "method"),
    [
        ("callable(box)", "__call__"),
        ("isinstance(box, Callable)", "__call__"),
        ("isinstance(box, (int, Sized))", "__len__"),
        ("issubclass(Box, Iterable) and box", "__iter__"),
    ],
)
def test_what_a_class_is_recognised_by_comes_with_it(
    tmp_path: Path, test: str, method: str
) -> None:
    (tmp_path / "app.py").write_text(
        "from collections.abc import Callable, Iterable, Sized\n\n\n"
        "class Box:\n"
        "    def __call__(self):\n        return 1\n\n"
        "    def __len__(self):\n        return 1\n\n"
        "    def __iter__(self):\n        return iter(())\n\n\n"
        f"def check(box):\n    return {test}\n\n\n"
        "def main():\n    return check(Box())\n"
    )
    found = slice_symbols(open_program(tmp_path, cache=None), ["app:main"])
    names = (item.symbol.id.rpartition(".") for item in found.items)
    members = {name for owner, _, name in names if owner == "app:Box"}
    assert members == {method}


def test_an_iterator_that_is_passed_on_brings_its_steps(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        "from itertools import islice\n\n\n"
        "class Box:\n"
        "    def __iter__(self):\n        return self\n\n"
        "    def __next__(self):\n        raise StopIteration\n\n"
        "    def seek(self, n):\n        drain(self, n)\n\n\n"
        "def drain(items, n):\n    next(islice(items, n, n), None)\n"
    )
    found = slice_symbols(open_program(tmp_path, cache=None), ["app:Box.seek"])
    assert "app:Box.__next__" in {item.symbol.id for item in found.items}


def test_a_receiver_nobody_knows_asks_getattr_for_the_names_that_are_read(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        "import pickle\n\n\n"
        "class Inner:\n"
        "    def wanted(self):\n        return 1\n\n"
        "    def other(self):\n        return 2\n\n\n"
        "class Proxy:\n"
        "    def __getattr__(self, name):\n"
        "        return getattr(Inner(), name)\n\n\n"
        "def target(data):\n    return Proxy(), pickle.loads(data).wanted\n"
    )
    found = slice_symbols(open_program(tmp_path, cache=None), ["app:target"])
    names = {item.symbol.id.partition(":")[2] for item in found.items}
    assert names == {"target", "Proxy", "Proxy.__getattr__", "Inner", "Inner.wanted"}


def test_a_closure_gets_the_names_that_callers_tell(tmp_path: Path) -> None:
    write_files(
        """
# --- app.py
class Box:
    def opened(self): return 1
    def other(self): return 3
def calling(name: str):
    def call(box): return getattr(box, name)()
    return call
def target(): return calling("opened")(Box()), "other"
""",
        tmp_path,
    )
    found = slice_symbols(open_program(tmp_path, cache=None), ["app:target"])
    names = {item.symbol.id for item in found.items}
    assert "app:Box.opened" in names
    assert "app:Box.other" not in names


def test_what_is_like_a_protocol_has_what_that_has(tmp_path: Path) -> None:
    write_files(
        """
# --- app.py
from typing import Protocol
class Dumps(Protocol):
    def dumps(self, given): ...
class Like:
    def dumps(self, given): return given
    def __bool__(self): return True
class Unlike:
    def __bool__(self): return True
def either(given: Dumps | None = None): return not given
def target(): return either(), Like(), Unlike()
""",
        tmp_path,
    )
    found = slice_symbols(open_program(tmp_path, cache=None), ["app:target"])
    names = {item.symbol.id for item in found.items}
    assert "app:Like.__bool__" in names
    assert "app:Unlike.__bool__" not in names


def test_the_size_of_json_is_that_of_its_code(tmp_path: Path) -> None:
    write_files("# --- app.py\ndef g():\n    return 1\n\ndef f():\n    return g()\n", tmp_path)
    program = open_program(tmp_path, cache=None)
    found = slice_symbols(program, ["app:f"])
    sizes = {name: render(program, found, format=name).tokens for name in ("tree", "json", "md")}
    assert sizes["tree"] == sizes["json"] < sizes["md"]


def test_progress_tells_how_many_definitions_there_are(tmp_path: Path) -> None:
    write_files(
        "# --- app.py\ndef f(): return g() + h()\ndef g(): return h()\ndef h(): return 1\n",
        tmp_path,
    )
    program = open_program(tmp_path, cache=None)
    told: list[int] = []
    found = slice_symbols(program, ["app:f"], progress=told.append)
    assert told == sorted(told)
    assert told[0] == 1
    assert told[-1] == len(found.items) == 3
