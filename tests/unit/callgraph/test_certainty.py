"""The more a site can call, the less each of it says; and what some rules are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from depslice.callgraph import build_graph, open_program
from depslice.callgraph.certainty import Standing, call_certainty
from depslice.callgraph.explaining import explain_call
from depslice.callgraph.model import Certainty, ReferenceKind

if TYPE_CHECKING:
    from pathlib import Path

D, L, P = Certainty.DEFINITE, Certainty.LIKELY, Certainty.POSSIBLE


@pytest.mark.parametrize(
    ("rule", "shown", "callees", "exact", "expected"),
    [
        ("call", True, 1, True, D),
        ("call", True, 1, False, L),
        ("method", True, 1, False, D),
        ("method", True, 15, False, L),
        ("method", True, 16, False, P),
        ("method", True, 200, True, L),
        ("call", True, 40, False, L),
        ("init", True, 1, False, D),
        ("partial", True, 1, True, D),
        ("property", True, 1, False, D),
        ("property", True, 3, False, L),
        ("property", True, 4, False, P),
        ("protocol", True, 1, True, D),
        ("protocol", True, 1, False, L),
        ("protocol", True, 2, False, P),
        ("protocol", True, 3, True, L),
        ("context", True, 1, False, D),
        ("context", True, 2, False, L),
        ("getattr", True, 1, False, P),
        ("callback", False, 1, False, L),
        ("callback", False, 2, True, P),
        ("by-name", False, 2, False, L),
        ("by-name", False, 3, False, P),
        ("init-of-subclass", False, 1, False, P),
    ],
)
def test_certainties(
    rule: str, shown: bool, callees: int, exact: bool, expected: Certainty
) -> None:
    assert call_certainty(rule, Standing(callees), shown=shown, exact=exact) is expected


def certainty_of(tmp_path: Path, text: str, caller: str, callee: str) -> Certainty:
    (tmp_path / "m.py").write_text(text)
    graph = build_graph(open_program(tmp_path, cache=None), workers=1)
    [call] = [
        each
        for each in graph.outgoing(f"m:{caller}", kind=ReferenceKind.CALL)
        if each.target == f"m:{callee}"
    ]
    return call.certainty


ELSEWHERE = """
class Own:
    def __init__(self): self.of_class = [type(self)]
    def __len__(self): return 1
    def __getitem__(self, key): return key
    def __enter__(self): return self
    def __exit__(self, *error): pass
    @property
    def name(self): return "own"

def of_own(): return len(Own())
def of_either(x): return len(x)
def item_of_own(): return Own()["a"]
def item_of_either(x): return x["a"]
def name_of(x): return x.name
def name_of_either(x): return x.name
def made(x): return x.of_class[0]()
def within_own(x: Own):
    with x: return 1
def within_either(x):
    with x: return 1
for each in (Own(), [1]):
    of_either(each)
for each in (Own(), open("m.py")):
    within_either(each)
for each in (Own(), {}):
    item_of_either(each)
    name_of_either(each)
name_of(Own())
made(Own())
"""


@pytest.mark.parametrize(
    ("caller", "callee", "expected"),
    [
        ("of_own", "Own.__len__", D),
        ("of_either", "Own.__len__", L),
        ("item_of_own", "Own.__getitem__", D),
        ("name_of_either", "Own.name", L),
        ("within_own", "Own.__enter__", D),
        ("within_own", "Own.__exit__", D),
        ("within_either", "Own.__enter__", L),
    ],
)
def test_beside_something_from_elsewhere_nothing_is_definite(
    tmp_path: Path, caller: str, callee: str, expected: Certainty
) -> None:
    assert certainty_of(tmp_path, ELSEWHERE, caller, callee) is expected


ASKED = """
class Name:
    def __str__(self):
        return "name"
    def __bool__(self):
        return True
    def __eq__(self, other):
        return True

def known():
    return f"{Name()}"

def among_texts(flag):
    return f"{Name() if flag else 'none'}"

def tested(flag):
    return 1 if (Name() if flag else 0) else 2

def all_tested():
    return any([Name(), Name()])

def one_tested():
    return any([Name(), 0])

def same_declared(pairs: tuple[tuple[Name, Name], ...], others: list[Name]):
    return pairs == ((Name(), Name()),)

def same_among_declared(pairs: tuple[tuple[Name, int], ...]):
    return pairs == ((Name(), 1),)

def looked_up(counts: dict[Name, int], key: Name):
    return key in counts

class Names:
    def __iter__(self):
        return iter(())
    def __getitem__(self, place):
        return place
    def __hash__(self):
        return 1

def names_or_number(flag):
    for each in Names() if flag else len("names"):
        each

def names_or_text(flag):
    for each in Names() if flag else input():
        each

def part_or_number(flag):
    return (Names() if flag else len("names"))[0]

def hash_or_list(flag):
    return hash(Names() if flag else [1])

def hash_or_tuple(flag):
    return hash(Names() if flag else (1,))
"""


@pytest.mark.parametrize(
    ("caller", "callee", "expected"),
    [
        ("known", "Name.__str__", D),
        ("among_texts", "Name.__str__", P),
        ("tested", "Name.__bool__", P),
        ("all_tested", "Name.__bool__", L),
        ("one_tested", "Name.__bool__", P),
        ("same_declared", "Name.__eq__", L),
        ("same_among_declared", "Name.__eq__", P),
        ("looked_up", "Name.__eq__", L),
        ("names_or_number", "Names.__iter__", L),
        ("names_or_text", "Names.__iter__", P),
        ("part_or_number", "Names.__getitem__", L),
        ("hash_or_list", "Names.__hash__", L),
        ("hash_or_tuple", "Names.__hash__", P),
    ],
)
def test_what_builtin_objects_answer_as_well_is_possible(
    tmp_path: Path, caller: str, callee: str, expected: Certainty
) -> None:
    assert certainty_of(tmp_path, ASKED, caller, callee) is expected


LEFT_OPEN = """
from typing import Protocol

class Writer(Protocol):
    def __call__(self, text: str) -> None: ...

class Shape:
    def area(self):
        raise NotImplementedError

class Square(Shape):
    def area(self):
        return 1

class Derived(Shape):
    def area(self):
        return super().area()

def write(writer: Writer):
    writer("text")

def measure(flag):
    return (Square() if flag else Shape()).area()
"""


@pytest.mark.parametrize(
    ("caller", "callee", "expected"),
    [
        ("write", "Writer.__call__", P),
        ("measure", "Shape.area", P),
        ("Derived.area", "Shape.area", D),
    ],
)
def test_a_method_that_stands_there_for_those_of_subclasses_is_possible(
    tmp_path: Path, caller: str, callee: str, expected: Certainty
) -> None:
    assert certainty_of(tmp_path, LEFT_OPEN, caller, callee) is expected


BACKPORT = """
import sys
if sys.version_info >= (3, 12):
    from typing import override
else:
    def override(method): return method
def own(method): return method
class Box:
    def size(self): return 1
class Small(Box):
    @override
    def size(self): return 2
    @own
    def other(self): return 3
"""


@pytest.mark.parametrize(("callee", "expected"), [("override", L), ("own", D)])
def test_what_may_be_called_outside_instead_is_likely(
    callee: str, expected: Certainty, tmp_path: Path
) -> None:
    (tmp_path / "m.py").write_text(BACKPORT)
    graph = build_graph(open_program(tmp_path, cache=None), workers=1)
    calls = graph.outgoing("m:Small", kind=ReferenceKind.CALL)
    assert {each.target: each.certainty for each in calls}[f"m:{callee}"] is expected


TABLE = """
import elsewhere
def negated(x): return -x
def added(x, y): return x + y
def scaled(x, *, by): return x * by
def any_number(*numbers): return numbers
@elsewhere.wrapped
def timed(): return 0

TABLE = {"neg": negated, "add": added, "scale": scaled, "any": any_number}

def one(name, x):
    return TABLE[name](x)

def two(name, x):
    return TABLE[name](x, x)

def by_name(name, x):
    return TABLE[name](x, by=2)

def spread(name, *given):
    return TABLE[name](*given)

class Plain:
    def draw(self): return 0
class Sized:
    def draw(self, size): return size

def draw(flag):
    return (Plain() if flag else Sized()).draw()
def timed_call():
    return timed(1)
"""


@pytest.mark.parametrize(
    ("caller", "callee", "expected"),
    [
        ("one", "negated", L),
        ("one", "added", P),
        ("one", "scaled", P),
        ("one", "any_number", L),
        ("two", "added", L),
        ("two", "negated", P),
        ("by_name", "scaled", D),
        ("by_name", "added", P),
        ("by_name", "any_number", P),
        ("spread", "added", L),
        ("spread", "negated", L),
        ("draw", "Plain.draw", D),
        ("draw", "Sized.draw", P),
    ],
)
def test_what_does_not_take_the_arguments_is_possible_and_no_alternative(
    tmp_path: Path, caller: str, callee: str, expected: Certainty
) -> None:
    assert certainty_of(tmp_path, TABLE, caller, callee) is expected


def test_what_a_decorator_makes_of_a_function_may_take_other_arguments(tmp_path: Path) -> None:
    assert certainty_of(tmp_path, TABLE, "timed_call", "timed") is not P


@pytest.mark.parametrize(
    ("rule", "callees", "lost", "named", "expected"),
    [
        ("method", 7, True, False, L),
        ("method", 8, True, False, P),
        ("method", 15, False, False, L),
        ("call", 15, True, False, L),
        ("call", 16, True, False, P),
        ("property", 3, True, False, L),
        ("method", 100, True, True, L),
        ("method", 101, True, True, P),
        ("method", 1, True, True, D),
        ("callback", 2, True, True, P),
    ],
)
def test_where_anything_may_stand_fewer_are_likely_unless_a_name_chooses(
    rule: str, callees: int, lost: bool, named: bool, expected: Certainty
) -> None:
    standing = Standing(callees, named=named)
    found = call_certainty(rule, standing, shown=True, exact=False, lost=lost)
    assert found is expected


def visiting(methods: int) -> str:
    handlers = "".join(f"    def visit_{n}(self): return {n}\n" for n in range(methods))
    return f"""
class Visitor:
    def __init__(self, kinds):
        self.table = {{kind: getattr(self, f"visit_{{kind}}", self.other) for kind in kinds}}
    def other(self): return None
{handlers}
    def at_once(self, kind):
        return getattr(self, "visit_" + kind)()
    def handler(self, kind):
        return getattr(self, f"visit_{{kind}}", None)
    def by_handler(self, kind):
        return self.handler(kind)()
    def by_table(self, kind):
        return self.table[kind]()
    def by_suffix(self, kind):
        return getattr(self, kind + "_7")()
"""


@pytest.mark.parametrize("caller", ["at_once", "by_handler", "by_table"])
@pytest.mark.parametrize("methods", [20, 45])
def test_all_that_a_name_with_a_known_start_may_choose_is_likely(
    tmp_path: Path, caller: str, methods: int
) -> None:
    text = visiting(methods)
    assert certainty_of(tmp_path, text, f"Visitor.{caller}", "Visitor.visit_7") is L


@pytest.mark.parametrize(
    ("count", "drawn", "expected"),
    [
        (7, "def drawn(x): return x.draw()", L),
        (9, "def drawn(x): return x.draw()", P),
        (9, "def drawn(x): return [each.draw() for each in MADE]", L),
    ],
)
def test_many_beside_what_may_be_anything_are_possible(
    tmp_path: Path, count: int, drawn: str, expected: Certainty
) -> None:
    names = [f"S{n}" for n in range(count)]
    classes = "".join(f"class {name}:\n    def draw(self): return 0\n" for name in names)
    made = f"MADE = [{', '.join(f'{name}()' for name in names)}]\n"
    calls = "".join(f"drawn({name}())\n" for name in names)
    text = f"{classes}{made}{drawn}\n{calls}"
    assert certainty_of(tmp_path, text, "drawn", "S3.draw") is expected


PLAIN = """
class Field:
    kind = "field"
    def __init__(self):
        self.data = None
    @property
    def label(self): return ""
class Form(Field):
    @property
    def data(self): return {}
    @property
    def kind(self): return "form"
    @property
    def label(self): return "form"
    @property
    def only_here(self): return 1
def checked(field: Field):
    return field.data, field.kind, field.label, field.only_here
def of_form(form: Form):
    return form.data
"""


@pytest.mark.parametrize(
    ("caller", "callee", "expected"),
    [
        ("checked", "Form.data", P),
        ("checked", "Form.kind", P),
        ("checked", "Form.label", L),
        ("checked", "Field.label", L),
        ("checked", "Form.only_here", D),
        ("of_form", "Form.data", D),
    ],
)
def test_a_property_of_a_subclass_is_possible_where_the_class_has_a_plain_attribute(
    tmp_path: Path, caller: str, callee: str, expected: Certainty
) -> None:
    assert certainty_of(tmp_path, PLAIN, caller, callee) is expected


@pytest.mark.parametrize(
    ("rule", "standing", "lost", "expected"),
    [
        ("method", Standing(4, overriding=True), False, L),
        ("method", Standing(5, overriding=True), False, P),
        ("method", Standing(5, overriding=True, own=True), False, L),
        ("method", Standing(40, overriding=True, own=True), False, L),
        ("method", Standing(40, own=True), True, P),
        ("method", Standing(40, overridden=True), False, L),
        ("method", Standing(40, overridden=True), True, P),
        ("property", Standing(2, overriding=True), False, L),
        ("property", Standing(2, overriding=True), True, P),
        ("property", Standing(2, overridden=True), True, L),
    ],
)
def test_what_overrides_another_is_meant_less_often_but_of_self(
    rule: str, standing: Standing, lost: bool, expected: Certainty
) -> None:
    assert call_certainty(rule, standing, shown=True, exact=False, lost=lost) is expected


def shapes(count: int) -> str:
    classes = "".join(
        f"class S{n}(Shape):\n    def area(self): return {n}\n" for n in range(count - 1)
    )
    return f"""
class Shape:
    def area(self): return 0
    def size(self): return self.area()
    @classmethod
    def of_class(cls): return cls.area(cls())
{classes}
def measured(shape: Shape): return shape.area()
"""


@pytest.mark.parametrize(
    ("count", "caller", "callee", "expected"),
    [
        (4, "measured", "S2.area", L),
        (5, "measured", "S2.area", P),
        (5, "measured", "Shape.area", L),
        (20, "measured", "Shape.area", L),
        (20, "Shape.size", "S2.area", L),
        (20, "Shape.size", "Shape.area", L),
    ],
)
def test_each_object_of_a_subclass_asks_itself(
    tmp_path: Path, count: int, caller: str, callee: str, expected: Certainty
) -> None:
    assert certainty_of(tmp_path, shapes(count), caller, callee) is expected


REFUSING = """
from typing import NoReturn
class Headers(dict):
    def __setitem__(self, name, value): return super().__setitem__(name, value)
    def drop(self, name): return name
class Fixed(Headers):
    def __setitem__(self, name, value) -> NoReturn: refuse()
    def drop(self, name):
        if name:
            name = name.lower()
        raise TypeError(name)
def refuse() -> NoReturn:
    raise TypeError
def put(headers: Headers): headers["x"] = 1
def dropped(headers: Headers): return headers.drop("x")
def put_fixed(): Fixed()["x"] = 1
def dropped_fixed(): return Fixed().drop("x")
class Graph:
    def add(self, node): return node
def frozen(*arguments): raise TypeError(arguments)
def freeze(graph: Graph):
    graph.add = frozen
def added(graph: Graph): return graph.add(1)
def only_frozen(): return frozen(1)
"""


@pytest.mark.parametrize(
    ("caller", "callee", "expected"),
    [
        ("put", "Headers.__setitem__", L),
        ("put", "Fixed.__setitem__", P),
        ("dropped", "Headers.drop", L),
        ("dropped", "Fixed.drop", P),
        ("put_fixed", "Fixed.__setitem__", D),
        ("added", "Graph.add", L),
        ("added", "frozen", P),
        ("only_frozen", "frozen", D),
        ("dropped_fixed", "Fixed.drop", D),
    ],
)
def test_a_method_that_only_raises_is_possible_beside_others(
    tmp_path: Path, caller: str, callee: str, expected: Certainty
) -> None:
    assert certainty_of(tmp_path, REFUSING, caller, callee) is expected


APART = """
class Node:
    kind: str
class Word(Node):
    kind = "word"
class Line(Node):
    kind = "line"
class Page(Node):
    kind = "page"
class Title(Word):
    @property
    def kind(self): return "title"
    @property
    def level(self): return 1
def one_of(nodes: "list[Line] | list[Page] | list[Word] | list[Node]"):
    return nodes[0].kind
def told(word: Word):
    return word.level
class Runner:
    def start(self): return 1
class Other:
    def start(self): return 2
class Stranger:
    def begin(self): return 3
    def end(self): return 4
def started(unknown, flag):
    runner = Runner() if flag else Other() if unknown else unknown
    return runner.start()
Runner.kept = Stranger().begin
setattr(Other(), "start", Stranger().end)
"""


@pytest.mark.parametrize(
    ("caller", "callee", "expected"),
    [
        ("one_of", "Title.kind", P),
        ("told", "Title.level", D),
        ("started", "Runner.start", L),
        ("started", "Other.start", L),
        ("started", "Stranger.end", P),
    ],
)
def test_what_no_object_there_is_known_to_have_is_possible(
    tmp_path: Path, caller: str, callee: str, expected: Certainty
) -> None:
    assert certainty_of(tmp_path, APART, caller, callee) is expected


BESIDE_OUTSIDE = """
def first(): return 1
def second(): return 2
def made(unknown):
    return [each() for each in (dict, first, second, unknown.maker)]
def known():
    return [each() for each in (dict, first, second)]
"""


@pytest.mark.parametrize(
    ("caller", "callee", "expected"), [("made", "first", P), ("known", "first", L)]
)
def test_what_is_called_beside_what_is_outside_and_anything_is_possible(
    tmp_path: Path, caller: str, callee: str, expected: Certainty
) -> None:
    assert certainty_of(tmp_path, BESIDE_OUTSIDE, caller, callee) is expected


MET = """
class Shape:
    def __iter__(self): return iter("ab")
class Round(Shape): pass
class Flat:
    def __iter__(self): return iter("c")
class Tall:
    def __iter__(self): return iter("d")
def measured(shape: "Shape | Flat | Tall"):
    return [side for side in shape]
def any_of(shape: "Shape | Flat | Tall", other):
    return [side for side in (shape if other else other.shape)]
"""


@pytest.mark.parametrize(
    ("caller", "callee", "expected"),
    [
        ("measured", "Shape.__iter__", L),
        ("measured", "Flat.__iter__", L),
        ("any_of", "Flat.__iter__", P),
    ],
)
def test_what_several_objects_there_answer_themselves_is_likely(
    tmp_path: Path, caller: str, callee: str, expected: Certainty
) -> None:
    assert certainty_of(tmp_path, MET, caller, callee) is expected


ALL_REFUSE = """
class One:
    def go(self): raise ValueError(1)
    @property
    def area(self): raise ValueError
class Two:
    def go(self): raise KeyError(2)
def either(flag):
    x = One() if flag else Two()
    x.go()
def read(x: One): return x.area
"""


@pytest.mark.parametrize(
    ("caller", "callee"), [("either", "One.go"), ("either", "Two.go"), ("read", "One.area")]
)
def test_where_all_only_raise_that_is_meant(tmp_path: Path, caller: str, callee: str) -> None:
    assert certainty_of(tmp_path, ALL_REFUSE, caller, callee) is not P


def dispatching(tables: dict[str, int]) -> str:
    """A function for each of ``tables``, which chooses from so many of the same functions.

    Their arguments are changed by what nobody knows, so that any other may be among them.
    """
    names = [f"f{n}" for n in range(max(tables.values()))]
    text = "".join(f"def {name}(): return 0\n" for name in names)
    for name, count in tables.items():
        table = ", ".join(f"{n}: {each}" for n, each in enumerate(names[:count]))
        text += f"{name.upper()} = {{{table}}}\n"
        text += f"def fill_{name}(key, value): {name.upper()}[key] = value\n"
        text += f"def {name}(key): return {name.upper()}.get(key)()\n"
    return text


@pytest.mark.parametrize(
    ("tables", "caller", "expected"),
    [
        ({"only": 45}, "only", L),
        ({"wide": 60, "narrow": 45}, "wide", L),
        ({"wide": 60, "narrow": 45}, "narrow", P),
        ({"one": 45, "other": 45}, "one", P),
        ({"one": 50, "other": 45}, "one", P),  # hardly more
    ],
)
def test_who_alone_chooses_from_so_many_likely_calls_each(
    tmp_path: Path, tables: dict[str, int], caller: str, expected: Certainty
) -> None:
    assert certainty_of(tmp_path, dispatching(tables), caller, "f3") is expected


COMPUTED = """
class Made:
{methods}
    def run(self, name):
        return getattr(self, name)()
"""


def test_what_any_name_chooses_from_many_is_possible(tmp_path: Path) -> None:
    methods = "".join(f"    def m{n}(self): return 0\n" for n in range(45))
    text = COMPUTED.format(methods=methods) + "\ndef run(name): Made().run(name)\n"
    assert certainty_of(tmp_path, text, "Made.run", "Made.m3") is P


def overriding(callers: int) -> str:
    """Two shapes, the second of which overrides what so many functions ask them for."""
    text = "class Shape:\n    def area(self): return 0\n"
    text += "class Round(Shape):\n    def area(self): return 3\n"
    for n in range(callers):
        text += f"def asked{n}(shape: Shape): return shape.area()\n"
    return text


@pytest.mark.parametrize(("callers", "expected"), [(8, L), (9, P)])
def test_an_override_that_many_may_call_is_possible_of_each(
    tmp_path: Path, callers: int, expected: Certainty
) -> None:
    text = overriding(callers)
    assert certainty_of(tmp_path, text, "asked0", "Round.area") is expected
    assert certainty_of(tmp_path, text, "asked0", "Shape.area") is not P


def choosing(callers: int) -> str:
    """So many functions that call one of the same five."""
    text = "".join(f"def {name}(): return 0\n" for name in "abcde")
    for n in range(callers):
        text += f"def chosen{n}(flag): return (a, b, c, d, e)[flag]()\n"
    return text


@pytest.mark.parametrize(("callers", "expected"), [(4, L), (5, P)])
def test_one_of_several_that_others_call_too_is_possible(
    tmp_path: Path, callers: int, expected: Certainty
) -> None:
    assert certainty_of(tmp_path, choosing(callers), "chosen0", "a") is expected


def test_why_there_is_an_edge_says_the_same_certainty(tmp_path: Path) -> None:
    for folder, text, caller, callee in (
        ("wide", dispatching({"wide": 60, "narrow": 45}), "wide", "f3"),
        ("narrow", dispatching({"wide": 60, "narrow": 45}), "narrow", "f3"),
        ("many", overriding(9), "asked0", "Round.area"),
        ("few", choosing(4), "chosen0", "a"),
    ):
        (tmp_path / folder).mkdir()
        expected = certainty_of(tmp_path / folder, text, caller, callee)
        program = open_program(tmp_path / folder, cache=None)
        [found] = explain_call(program, f"m:{caller}", f"m:{callee}")
        assert found.certainty is expected


INSTEAD = """
class Shape:
    def area(self): return 0
    def name(self): return ""
class Round(Shape):
    def area(self): return 3
class Rows:
    def append(self, row): return row
class Note:
    text = ""
class Told(Note):
    @property
    def text(self): return self.said
    @text.setter
    def text(self, said): self.said = said

def asked_for_area(shapes): return (shapes.get("x") or Shape()).area()
def asked_for_name(shapes): return (shapes.get("x") or Shape()).name()
def added(flag): (Rows() if flag else "a b".split()).append(1)
def read(flag): return (Note() if flag else Told()).text
def stored(flag): (Note() if flag else Told()).text = "a"
def read_of_one(): return Told().text

def of_known(): return known()
def known(): return 1
def sure(): return 2
def of_sure(): return sure()
known.__code__ = sure.__code__

class Lazily:
    def __call__(self, function):
        def wrapper(*args): return Lazily.compiled(*args)(*args)
        return wrapper
    @staticmethod
    def compiled(wrapper):
        wrapper.__code__ = compile("1", "", "eval")
        return wrapper
@Lazily()
def decorated(): return 1
def of_wrapper(): return decorated()
"""


@pytest.mark.parametrize(
    ("caller", "callee", "expected"),
    [
        ("asked_for_area", "Shape.area", L),  # that of a class below, perhaps
        ("asked_for_name", "Shape.name", D),
        ("added", "Rows.append", L),  # that of a list, perhaps
        ("read", "Told.text", L),
        ("stored", "Told.text", L),
        ("read_of_one", "Told.text", D),
        ("of_known", "known", L),  # other code, perhaps
        ("of_sure", "sure", D),
        ("of_wrapper", "Lazily.__call__.<locals>.wrapper", L),  # what is replaced is not known
    ],
)
def test_where_something_else_may_stand_in_its_place_a_call_is_likely(
    tmp_path: Path, caller: str, callee: str, expected: Certainty
) -> None:
    assert certainty_of(tmp_path, INSTEAD, caller, callee) is expected


TABLES = """
def add(a, b): return a + b
def sub(a, b): return a - b
OPS = {"+": add, "-": sub}
def first(n): return OPS[n](1, 2)
def second(n): return OPS[n](2, 3)
def third(n): return OPS[n](3, 4)
def fourth(n): return OPS[n](4, 5)
def fifth(n): return OPS[n](5, 6)
"""


def test_of_a_small_table_many_may_choose(tmp_path: Path) -> None:
    assert certainty_of(tmp_path, TABLES, "fifth", "add") is L


def test_a_module_is_asked_whether_it_is_a_package_unless_something_stands_for_its_function(
    tmp_path: Path,
) -> None:
    getter = "def __getattr__(name): raise AttributeError(name)\n"
    (tmp_path / "plain.py").write_text(getter)
    (tmp_path / "kept.py").write_text(f"import functools\n@functools.cache\n{getter}")
    (tmp_path / "perhaps.py").write_text(f"import sys\nif sys.argv:\n    {getter}")
    (tmp_path / "never.py").write_text(f"import typing\nif typing.TYPE_CHECKING:\n    {getter}")
    names = ("plain", "kept", "perhaps", "never")
    text = "".join(f"from {name} import __doc__\n" for name in names)
    (tmp_path / "m.py").write_text(f"{text}if False:\n    from plain import __name__\n")
    program = open_program(tmp_path, cache=None)
    calls = build_graph(program, workers=1).outgoing("m", kind=ReferenceKind.CALL)
    assert {call.target: call.certainty for call in calls} == {
        "plain:__getattr__": D,
        "kept:__getattr__": L,
        "perhaps:__getattr__": L,
    }
    [found] = explain_call(program, "m", "plain:__getattr__")
    assert (found.rule, found.site.line) == ("import", 1)


BY_NAME = """
class Renderer:
    def method(self, name):
        return object.__getattribute__(self, name)
class Page(Renderer):
    def text(self, token): return 1
    def link(self, token): return 2
    def show(self, token, name):
        return self.method(name)(token)
class Tool:
    def mend(self, token): return 0
    def clean(self, token): return 0
class Holding:
    def __init__(self): self.tools = {"mend": Tool().mend, "clean": Tool().clean}
    def method(self, name): return self.tools.get(name) or getattr(self, "own_" + name)
    def own_help(self, token): return 1
    def use(self, name, token): return self.method(name)(token)
Holding().use(input(), 1)
class Paper(Renderer):
    def text(self, token): return 3
    def link(self, token): return 4
    def show(self, token, name):
        return self.method(name)(token)
def either(name, unknown):
    for each in (name, unknown):
        Page().show(each, each)
        Paper().show(each, each)
either("text", input())
either("link", input())
"""


@pytest.mark.parametrize(
    ("caller", "callee", "expected"),
    [
        ("Page.show", "Page.text", L),
        ("Page.show", "Page.link", L),
        ("Page.show", "Paper.text", P),
        ("Paper.show", "Paper.text", L),
        ("Paper.show", "Page.link", P),
        ("Holding.use", "Holding.own_help", L),
        ("Holding.use", "Tool.mend", L),
    ],
)
def test_a_method_that_gives_methods_gives_those_of_the_object_that_asks(
    tmp_path: Path, caller: str, callee: str, expected: Certainty
) -> None:
    assert certainty_of(tmp_path, BY_NAME, caller, callee) is expected


PASSED = """
import unittest

class Full(Exception): ...
class Queue:
    def put(self, n): raise Full
class Client:
    def __init__(self, on_data): self.on_data = on_data
    def run(self): self.on_data(b"x")
class Sink:
    def take(self, data): return data
def good(): Client(Sink().take).run()
def failing(data): raise ZeroDivisionError
def bad(): Client(failing).run()
class T(unittest.TestCase):
    def test_put(self):
        queue = Queue()
        self.assertRaises(Full, queue.put, 1)
    def test_value(self):
        self.assertRaises(ValueError, Queue().put, 1)
"""


@pytest.mark.parametrize(
    ("caller", "callee", "expected"),
    [
        ("Client.run", "Sink.take", L),
        ("Client.run", "failing", L),
        ("T.test_put", "Queue.put", D),
        ("T.test_value", "Queue.put", D),
    ],
)
def test_what_callers_pass_to_be_called_is_meant(
    tmp_path: Path, caller: str, callee: str, expected: Certainty
) -> None:
    """Whether it only raises, or is passed beside a class of exceptions."""
    assert certainty_of(tmp_path, PASSED, caller, callee) is expected


def crowd(first: str) -> str:
    """Thirteen classes of which one object each meets in a place, which has room for ten."""
    others = "".join(f"class K{number}: pass\n" for number in range(1, 12))
    last = "class K12:\n    def only(self, x): return x\n"
    passing = "".join(f"use(K{number}())\n" for number in range(13))
    return f"class K0:\n    {first}\n{others}{last}def use(it):\n    it.only(1)\n{passing}"


def test_of_an_object_that_there_was_no_room_for_a_method_is_found_by_its_name(
    tmp_path: Path,
) -> None:
    # What else is there does not tell against it, be it something that may have any attribute.
    text = crowd("def __getattr__(self, name): return name")
    assert certainty_of(tmp_path, text, "use", "K12.only") is P


def test_what_is_known_to_have_the_method_is_meant(tmp_path: Path) -> None:
    text = crowd("def only(self, x): return 2")
    with pytest.raises(ValueError, match="not enough values"):
        certainty_of(tmp_path, text, "use", "K12.only")
    assert certainty_of(tmp_path, text, "use", "K0.only") is not P
