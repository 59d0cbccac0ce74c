"""How many guesses are followed in a row, and which way to a definition has the fewest."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from tests.check import answer, slice_ids, write_files

from depslice.callgraph import list_functions, open_program
from depslice.callgraph.errors import OptionError
from depslice.slicer import Slice, slice_symbols

FIXTURES = Path(__file__).parents[3] / "fixtures"

_FILES = """
# --- app.py
class Near:
    def begin(self, other):
        return other.proceed()


class Far:
    def proceed(self):
        return helper()


def helper():
    return 1


KINDS = (Near, Far)


def run(first, second):
    assert KINDS
    return first.begin(second)


def run_surely(first, second):
    assert KINDS
    first.begin(second)
    return one_more(Far())


def one_more(far):
    return and_more(far)


def and_more(far: Far):
    return far.proceed()
"""


def _sliced(tmp_path: Path, target: str = "app:run", **limits: int | None) -> Slice:
    write_files(_FILES, tmp_path)
    return slice_symbols(open_program(tmp_path, cache=None), [target], **limits)  # type: ignore[arg-type]


def _names(found: Slice) -> set[str]:
    return {item.symbol.id.partition(":")[2] for item in found.items}


def test_a_guess_behind_a_guess_is_left_out_and_told(tmp_path: Path) -> None:
    found = _sliced(tmp_path)
    assert "Near.begin" in _names(found)
    assert not {"Far.proceed", "helper"} & _names(found)
    assert [(each.symbol, each.why, each.distance) for each in found.omitted] == [
        ("app:Far.proceed", "guesses", 2)
    ]


@pytest.mark.parametrize("guesses", [2, 7, None])
def test_as_many_guesses_as_are_asked_for(tmp_path: Path, guesses: int | None) -> None:
    found = _sliced(tmp_path, guesses=guesses)
    assert {"Near.begin", "Far.proceed", "helper"} <= _names(found)
    assert not found.omitted


def test_no_guess_at_all(tmp_path: Path) -> None:
    found = _sliced(tmp_path, guesses=0)
    assert "Near.begin" not in _names(found)
    assert [(each.symbol, each.why) for each in found.omitted] == [("app:Near.begin", "guesses")]


@pytest.mark.parametrize("guesses", [0, 1, 2])
def test_what_is_sure_by_a_longer_way_is_there(tmp_path: Path, guesses: int) -> None:
    found = _sliced(tmp_path, "app:run_surely", guesses=guesses)
    assert {"Far.proceed", "helper"} <= _names(found)
    chains = {item.symbol.id: item for item in found.items}
    proceed = chains["app:Far.proceed"]
    assert [step.source for step in proceed.reason] == [
        "app:run_surely",
        "app:one_more",
        "app:and_more",
    ]
    assert proceed.distance == len(proceed.reason)


def test_chains_have_no_more_guesses_than_are_followed(tmp_path: Path) -> None:
    for guesses in (0, 1, 2):
        for target in ("app:run", "app:run_surely"):
            for item in _sliced(tmp_path, target, guesses=guesses).items:
                guessed = sum(step.certainty.value == "possible" for step in item.reason)
                assert guessed <= guesses
                assert item.distance == len(item.reason)


def test_within_a_depth_the_shortest_way_counts(tmp_path: Path) -> None:
    whole = _names(_sliced(tmp_path, "app:run_surely", guesses=2))
    for depth in range(6):
        found = _sliced(tmp_path, "app:run_surely", guesses=2, depth=depth)
        assert _names(found) <= whole
        assert all(item.distance == len(item.reason) <= depth for item in found.items)
    shallow = _sliced(tmp_path, "app:run_surely", guesses=2, depth=2)
    assert "Far.proceed" in _names(shallow)  # two guesses, two references


@pytest.mark.parametrize("wrong", [-1, 1.5, "many", True])
def test_no_number_of_guesses(tmp_path: Path, wrong: object) -> None:
    with pytest.raises(OptionError, match="guesses"):
        _sliced(tmp_path, guesses=wrong)  # type: ignore[arg-type]


_BEGUN = """
# --- app.py
import elsewhere


class Sure:
    def go(self):
        return 1


class Guessed:
    def go(self):
        return elsewhere.give().proceed()


class Begins:
    def begin(self):
        return run(Guessed())


class Proceeds:
    def proceed(self):
        return 2


KINDS = (Begins, Proceeds)


def run(one):
    return one.go()


def target(first):
    assert KINDS
    return run(Sure()), first.begin()
"""


def test_what_guessed_code_passes_to_sure_code_is_a_guess(tmp_path: Path) -> None:
    """``run`` is called for sure, with a ``Guessed`` only if ``first`` is a ``Begins``."""
    write_files(_BEGUN, tmp_path)
    program = open_program(tmp_path, cache=None)
    surely = _names(slice_symbols(program, ["app:target"], guesses=0))
    once = slice_symbols(program, ["app:target"])
    assert "Sure.go" in surely
    assert "Guessed.go" not in surely
    assert "Guessed.go" in _names(once)
    assert "Proceeds.proceed" not in _names(once)
    assert [each.why for each in once.omitted if each.symbol == "app:Proceeds.proceed"] == [
        "guesses"
    ]
    assert "Proceeds.proceed" in _names(slice_symbols(program, ["app:target"], guesses=2))


@pytest.mark.parametrize(
    "fixture", ["callbacks", "class_listings", "attribute_hooks", "base_init_overridden"]
)
def test_a_guess_more_takes_nothing_away(fixture: str) -> None:
    program = open_program(FIXTURES / fixture, cache=None)
    for function in list_functions(program):
        by_guesses = [
            _names(slice_symbols(program, [function.id], guesses=guesses))
            for guesses in (0, 1, 2, None)
        ]
        for fewer, more in pairwise(by_guesses):
            assert fewer <= more, function.id


INJECTED = """
# --- app.py
import inspect
def build(cls):
    return cls(**{name: build(of) for name, of in types_of(cls.__init__)})
{types_of}
class Store:
    def __init__(self): self.url = url()
def url(): return "store"
class Rows:
    def __init__(self, store: Store): self.rows = [store.url]
class Service:
    def __init__(self, rows: Rows): self.rows = rows.rows
class Page:
    def __init__(self, service: Service): self.service = service
    def shown(self): return self.service.rows
def run(): return build(Page).shown()
"""


@pytest.mark.parametrize(
    "types_of",
    [
        "def types_of(f): return [*inspect.get_annotations(f).items()]",
        """def types_of(f):
    of = inspect.signature(f).parameters
    return [(each, of[each].annotation) for each in of if each != "self"]""",
    ],
)
def test_what_constructors_take_by_their_annotations_is_one_guess(
    types_of: str, tmp_path: Path
) -> None:
    files = INJECTED.replace("{types_of}", types_of)
    assert answer(files, "app:run", "m.run()", tmp_path) == "['store']"


def test_the_annotations_of_a_syntax_tree_are_no_types_to_make(tmp_path: Path) -> None:
    of_tree = "def types_of(f): return [(a.arg, a.annotation) for a in inspect.ast.parse(f).body]"
    write_files(INJECTED.replace("{types_of}", of_tree), tmp_path)
    assert "app:Store.__init__" not in slice_ids(tmp_path, "app:run")


LATE = """
# --- pkg/__init__.py
# --- pkg/table.py
TABLE = {}
# --- pkg/words.py
from pkg.table import TABLE
def word(job): return job.proceed_on()
TABLE["word"] = word
# --- pkg/app.py
import pickle
from pkg.table import TABLE
class Loader:
    def load_words(self):
        import pkg.words
class Job:
    def proceed_on(self): return 1
def saved(): return pickle.dumps([Loader(), Job()])
def run():
    {load}
    return len(TABLE)
"""


@pytest.mark.parametrize(
    ("load", "is_sure"),
    [("pickle.loads(saved())[0].load_words()", False), ("Loader().load_words(); saved()", True)],
)
def test_what_modules_do_that_guessed_functions_import_is_a_guess(
    load: str, tmp_path: Path, *, is_sure: bool
) -> None:
    files = LATE.replace("{load}", load)
    assert answer(files, "pkg.app:run", "m.run()", tmp_path) == "1"
    assert ("pkg.app:Job.proceed_on" in slice_ids(tmp_path / "repo", "pkg.app:run")) == is_sure


PASSED = """
# --- app.py
import pickle
class Page:
    def __init__(self): self.text = "a"
    def replace_text(self, text): self.text = ended(text)
def ended(text): return text + "."
class Job:
    def work_on(self, page): page.replace_text(page.text.upper())
def saved(): return pickle.dumps(Job())
def passed_on(job, page): job.work_on({page})
def run():
    page = Page()
    {work}
    return page.text
"""


@pytest.mark.parametrize(
    ("work", "page"),
    [
        ("pickle.loads(saved()).work_on(page)", "page"),
        ("(pickle\n.loads(saved())\n.work_on(\npage=page))", "page"),
        ("passed_on(pickle.loads(saved()), page)", "page"),
        ("passed_on(pickle.loads(saved()), page)", "page=page"),
    ],
)
def test_who_is_guessed_by_a_name_gets_what_is_passed_by_it(
    work: str, page: str, tmp_path: Path
) -> None:
    files = PASSED.replace("{work}", work).replace("{page}", page)
    assert answer(files, "app:run", "m.run()", tmp_path) == "A."


BAGS = """
# --- app.py
class Event:
    def __init__(self, **values):
        {store}
class User:
    def greet_in(self, style): return style.write_name("bob")
class Style:
    def write_name(self, name): return written(name)
def written(name): return name.title()
def handle(event): return event.user.greet_in(event.style)
def run():
    return handle(Event({given}))
"""


@pytest.mark.parametrize(
    "store",
    [
        "self.__dict__.update(values)",
        "vars(self).update(**values)",
        "[setattr(self, name, value) for name, value in values.items()]",
        "for name in values: self.__dict__[name] = values[name]",
    ],
)
@pytest.mark.parametrize(
    "given", ["user=User(), style=Style()", "**{'user': User(), 'style': Style()}"]
)
def test_what_is_stored_by_any_name_may_be_what_is_read_by_one(
    store: str, given: str, tmp_path: Path
) -> None:
    """Two attributes that only callers name are no two guesses."""
    files = BAGS.replace("{store}", store).replace("{given}", given)
    assert answer(files, "app:run", "m.run()", tmp_path) == "Bob"
