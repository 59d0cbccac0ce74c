"""What code outside the repository looks for in a class: by stubs, tables, or anything."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from check import answer, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.slicer import slice_symbols


def members(tmp_path: Path, text: str, target: str = "app:use") -> set[str]:
    """The members of ``Own`` in the slice of ``use``."""
    (tmp_path / "app.py").write_text(dedent(text))
    found = slice_symbols(open_program(tmp_path, cache=None), [target])
    names = (item.symbol.id.partition(":")[2] for item in found.items)
    return {name.partition(".")[2] for name in names if name.startswith("Own.")}


@pytest.mark.parametrize(
    ("base", "own", "kept"),
    [
        (
            "threading.Thread",
            ("run", "name", "helper", "_helper", "__own", "__eq__", "_target"),
            {"run", "name", "__eq__", "_target"},
        ),
        ("http.server.BaseHTTPRequestHandler", ("do_GET", "page"), {"do_GET"}),
        (
            "ast.NodeVisitor",
            ("visit_Name", "generic_visit", "found"),
            {"visit_Name", "generic_visit"},
        ),
        ("unittest.TestCase", ("test_it", "setUp", "value"), {"test_it", "setUp"}),
        (
            "urllib.request.HTTPHandler",
            ("http_open", "https_open", "other"),
            {"http_open", "https_open"},
        ),
        ("collections.abc.Mapping", ("keys", "__len__", "sort_all"), {"keys", "__len__"}),
        ("json.JSONEncoder", ("default", "extra"), {"default"}),
        ("asyncio.Protocol", ("data_received", "serve"), {"data_received"}),
        ("types.ModuleType", ("anything",), {"anything"}),
        ("torch.nn.Module", ("forward", "_scale", "_apply"), {"forward", "_apply"}),
        ("torch.nn.Linear", ("forward", "loss"), {"forward", "loss"}),
        ("pydantic.BaseModel", ("model_post_init", "label", "_of"), {"model_post_init"}),
        ("django.db.models.Model", ("save", "publish"), {"save"}),
        ("somewhere.Base", ("anything", "_private"), {"anything", "_private"}),
    ],
)
def test_members_that_a_base_looks_for(
    tmp_path: Path, base: str, own: tuple[str, ...], kept: set[str]
) -> None:
    body = "\n".join(f"    def {name}(self, *args): return 1" for name in own)
    module = base.rpartition(".")[0]
    text = f"import {module}, outside\n\nclass Own({base}):\n{body}\n\ndef use():\n    outside.take(Own())\n"
    assert members(tmp_path, text) == kept


def test_what_the_slice_calls_comes_all_the_same(tmp_path: Path) -> None:
    text = """
        import threading

        class Own(threading.Thread):
            def run(self): return self.step()
            def step(self): return 1
            def stop(self): return 2

        def use():
            return Own().start()
    """
    assert members(tmp_path, text) == {"run", "step"}


def test_a_mixin_answers_the_base_beside_it(tmp_path: Path) -> None:
    text = """
        import threading

        class Own:
            def run(self): return 1
            def stop(self): return 2
            def _inner(self): return 3

        class Worker(Own, threading.Thread):
            pass

        def use():
            return Worker().start()
    """
    assert members(tmp_path, text) == {"run"}


_WAITING = """
    import collections.abc
    import outside

    class Own(collections.abc.MutableMapping):
        def __init__(self): self.held = {}
        def __getitem__(self, key): return self.held[key]
        def __setitem__(self, key, value): self.held[key] = value
        def __delitem__(self, key): del self.held[key]
        def __iter__(self): return iter(self.held)
        def __len__(self): return len(self.held)
        def items(self): return list(self.held.items())
        def get(self, key, default=None): return default
        def __contains__(self, key): return key in self.held
        def sort_all(self): return sorted(self)

    class Keeper:
        def __init__(self, own): self.own = own
        def give(self): return self.own

    def pass_on(thing): return outside.take(thing)
    def compare(thing, other): return thing == other
    def use():
"""
_UNDEFINED = {"__init__", "__getitem__", "__setitem__", "__delitem__", "__iter__", "__len__"}
_ALL = {*_UNDEFINED, "items", "get", "__contains__"}


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("return Own()", set()),
        ("return Keeper(Own()).give()", set()),
        ("return 'a' in Own()", {"__contains__"}),
        ("return Own().pop('a')", set()),
        ("return Own() == {}", {"items"}),
        ("return compare(Own(), {})", {"items"}),
        ("return isinstance(Own(), dict), id(Own()), [Own()]", set()),
        ("return outside.take(Own())", _ALL),
        ("return outside.take(Own)", _ALL),
        ("return outside.take({'a': [Own()]})", _ALL),
        ("return outside.take(key=Own())", _ALL),
        ("return outside.Thing().take(*[Own()])", _ALL),
        ("return pass_on(Own())", _ALL),
        ("return pass_on(Keeper(Own()).give())", _ALL),
        ("return [pass_on(each) for each in [Own()]]", _ALL),
        ("outside.thing = Own()", _ALL),
        ("outside.things['a'] = Own()", _ALL),
        ("outside.things.append(Own())", _ALL),
    ],
)
def test_an_interface_asks_only_who_uses_it(tmp_path: Path, body: str, kept: set[str]) -> None:
    assert members(tmp_path, dedent(_WAITING) + f"    {body}\n") == _UNDEFINED | kept


def test_data_of_a_base_that_waits(tmp_path: Path) -> None:
    text = """
        import string

        class Own(string.Template):
            delimiter = "%"
            limit = 3
            def safe_substitute(self): return 1

        def use():
            return Own("%a").substitute(a=1)
    """
    assert members(tmp_path, text) == {"delimiter"}


def test_the_end_of_a_file(tmp_path: Path) -> None:
    text = """
        import io

        class Own(io.RawIOBase):
            def close(self): return self._leave()
            def _leave(self): return super().close()
            def readinto(self, buffer): return 0

        def use():
            return Own()
    """
    assert members(tmp_path, text) == {"close", "_leave"}


def test_a_class_that_subscripts_itself_is_a_base_of_the_program(tmp_path: Path) -> None:
    text = """
        from typing import Generic, TypeVar

        T = TypeVar("T")

        class Base(Generic[T]):
            def __class_getitem__(cls, kinds): return super().__class_getitem__(kinds)
            def run(self): return self.step()
            def step(self): raise NotImplementedError

        class Own(Base[str]):
            def step(self): return 1
            def other(self): return 2

        def use():
            return Own().run()
    """
    assert members(tmp_path, text) == {"step"}


def test_bases_that_are_known_late(tmp_path: Path) -> None:
    text = """
        class Root:
            def run(self): return self.step()
            def step(self): return 1

        class Middle(Root):
            pass

        class Own(Middle):
            def use(self, run=Root.run): return run(self)
            def step(self): return 2
    """
    assert members(tmp_path, text, "app:Own.use") == {"use", "step"}


def test_what_a_function_gives_that_is_handed_over(tmp_path: Path) -> None:
    text = """
        import threading
        import outside

        class Own(threading.Thread):
            def run(self): return 1
            def join(self): return 2

        @outside.route
        def make(): return Own()

        def use():
            outside.call(lambda: make())
    """
    assert members(tmp_path, text) == {"run", "join"}


def test_a_decorator_may_have_registered_it(tmp_path: Path) -> None:
    text = """
        import atexit, http.server

        class Own(http.server.BaseHTTPRequestHandler):
            @atexit.register
            def leave(self): return 1
            @property
            def size(self): return 1
            @classmethod
            def make(cls): return cls()

        def use():
            return Own()
    """
    assert members(tmp_path, text) == {"leave"}


def test_fields_of_a_model_come_from_classes_between(tmp_path: Path) -> None:
    text = """
        from pydantic import BaseModel, field_validator

        class First(BaseModel):
            a: int

        class Own(First):
            b: int
            limit = 3

            @field_validator("b")
            @classmethod
            def small(cls, value): return value

            def shown(self): return str(self.b)

        class Last(Own):
            c: int

        def use():
            return Last(a=1, b=2, c=3)
    """
    assert members(tmp_path, text) == {"b", "limit", "small"}


def test_a_declarative_class_is_complete_where_it_is_only_named(tmp_path: Path) -> None:
    text = """
        import sqlalchemy as sa
        from sqlalchemy.orm import DeclarativeBase

        class Base(DeclarativeBase):
            pass

        class Own(Base):
            __tablename__ = "own"
            id = sa.Column(sa.Integer, primary_key=True)

            def label(self): return str(self.id)

        def use(row: Own):
            return row
    """
    assert members(tmp_path, text) == {"__tablename__", "id"}


def test_pydantic_asks_an_annotation_for_its_schema(tmp_path: Path) -> None:
    text = """
        from typing import Annotated
        from pydantic import BaseModel

        class Own:
            @classmethod
            def __get_pydantic_core_schema__(cls, source, handler): return handler(source)
            def other(self): return 1

        Name = Annotated[str, Own]

        class Model(BaseModel):
            name: Name

        def use():
            return Model(name="x")
    """
    assert members(tmp_path, text) == {"__get_pydantic_core_schema__"}


STUBS = """
# --- a.py
class Result:
    def failure(self):
        raise NotImplementedError
    def is_ok(self):
        return True
    @property
    def shown(self):
        '''As text.'''
    @classmethod
    def of(cls, e):
        return Failure(e)

class Failure(Result):
    def __init__(self, e):
        self.e = e
    def failure(self):
        return self.e
    def is_ok(self):
        return False
    @property
    def shown(self):
        return f"<{self.e}>"
    def other(self):
        return 1

class Unused(Result):
    def failure(self):
        return 3

def make(e):
    return Failure(e)

async def later(e):
    return make(e)
"""


def test_a_target_class_has_what_those_below_it_override(tmp_path: Path) -> None:
    asked = "[(r.failure(), r.is_ok(), r.shown) for r in (m.Result.of(1),)]"
    assert answer(STUBS, "a:Result", asked, tmp_path) == "[(1, False, '<1>')]"
    ids = slice_ids(tmp_path / "repo", "a:Result")
    assert ids.isdisjoint({"a:Failure.other", "a:Unused.failure", "a:Unused"})
    program = open_program(tmp_path / "repo", cache=None)
    for maker in ("a:make", "a:later"):
        found = {each.symbol.id for each in slice_symbols(program, ["a:Result", maker]).items}
        assert "a:Failure.failure" in found
    assert "a:Failure.failure" not in slice_ids(tmp_path / "repo", "a:make")


OPERATORS = """
# --- m.py
class Parser:
    def __neg__(self): return Ignored()
    def __add__(self, other): return "Parser"
    def __iter__(self): return iter("p")
    def __own(self): return 1
class Ignored(Parser):
    def __add__(self, other): return "Ignored"
    def __iter__(self): return iter("i")
    def __len__(self): return 3
    def __own(self): return 2
"""


def test_a_target_class_has_the_operators_that_those_below_it_override(tmp_path: Path) -> None:
    asked = "[-m.Parser() + 1, *-m.Parser()]"
    assert answer(OPERATORS, "m:Parser", asked, tmp_path) == "['Ignored', 'i']"
    ids = slice_ids(tmp_path / "repo", "m:Parser")
    assert ids.isdisjoint({"m:Ignored.__len__", "m:Ignored.__own"})


SETS = """
from collections.abc import MutableSet, Set
class Letters(Set):
    def __init__(self, held=()): self.held = held
    def __contains__(self, each): return each in self.held
    def __iter__(self): return iter(self.held)
    def __len__(self): return len(self.held)
    @classmethod
    def _from_iterable(cls, many): return sorted(many)
class Filled(Letters, MutableSet):
    def add(self, each): self.held += each
    def discard(self, each): self.held = self.held.replace(each, "")
"""


@pytest.mark.parametrize(
    "expression",
    [
        'Letters("ab").__and__("bc")',
        'Letters("ab").__rand__("bc")',
        'list(map(Letters("ab").__sub__, ["a"]))[0]',
        'Letters.__and__(Letters("ab"), "bc")',
        'getattr(Filled("ab"), "__and__")("bc")',
        'Filled("a").__or__("b")[1:]',
    ],
)
def test_an_operator_of_a_base_asks_its_object_also_by_its_name(
    expression: str, tmp_path: Path
) -> None:
    files = f"# --- app.py{SETS}def use(): return {expression}\n"
    assert answer(files, "app:use", "m.use()", tmp_path) == "['b']"


@pytest.mark.parametrize(
    ("base", "parser"),
    [
        ("sax.ContentHandler", "sax.make_parser()"),
        ("object", "expatreader.ExpatParser()"),
        ("object", "saxutils.XMLFilterBase(expatreader.create_parser())"),
        ("object", "Parser()"),
    ],
)
def test_a_parser_calls_the_handler_that_a_property_of_it_is(
    base: str, parser: str, tmp_path: Path
) -> None:
    files = f"""
# --- app.py
import io
from xml import sax
from xml.sax import expatreader, saxutils
from xml.sax.handler import property_lexical_handler
class Parser(expatreader.ExpatParser): pass
class Handler({base}):
    def __init__(self): self.got = []
    def comment(self, text): self.got.append(text)
    def startCDATA(self): self.got.append("<")
    def endCDATA(self): self.got.append(">")
    def startDTD(self, name, public_id, system_id): self.got.append(name)
    def endDTD(self): self.got.append("end")
    def helper(self): return self.got
def use():
    handler, parser = Handler(), {parser}
    parser.setProperty(property_lexical_handler, handler)
    parser.parse(io.StringIO("<!DOCTYPE a><a><!--c--><![CDATA[]]></a>"))
    return handler.got
"""
    assert answer(files, "app:use", "m.use()", tmp_path) == "['a', 'end', 'c', '<', '>']"
    assert "app:Handler.helper" not in slice_ids(tmp_path / "repo", "app:use")


MISSING = """
# --- m.py
import collections, functools, operator

class Cache(BASE):
    def __init__(self, func):
        super().__init__()
        self.func = func
    def __missing__(self, key):
        self[key] = result = self.func(key)
        return result

class Own(Cache):
    def __getitem__(self, key):
        return super().__getitem__(key)

class Plain(BASE):
    def look(self, key):
        return self.__getitem__(key)

class Below(Plain):
    def __missing__(self, key):
        return str(key)

class Keeper:
    def __init__(self, func):
        self.get = Cache(func).__getitem__

def held(func): return Keeper(func).get(3)
def called(func): return Cache(func).__getitem__(3)
def mapped(func): return next(map(Cache(func).__getitem__, [3]))
def given(func): return (functools.partial(Cache(func).__getitem__, 3))()
def unbound(func): return Cache.__getitem__(Cache(func), 3)
def spelled(func): return getattr(Cache(func), "__getitem__")(3)
def fetched(func): return operator.getitem(Cache(func), 3)
def reduced(func): return functools.reduce(operator.getitem, [3], Cache(func))
def translated(func): return "3".translate(Cache(lambda key: func(chr(key))))
def passed(func): return Own(func)[3]
def below(func): return Below().look(3)
"""


@pytest.mark.parametrize("base", ["dict", "collections.UserDict", "collections.OrderedDict"])
@pytest.mark.parametrize(
    "name",
    [
        *("held", "called", "mapped", "given", "unbound", "spelled", "fetched", "reduced"),
        *("translated", "passed", "below"),
    ],
)
def test_who_has_getitem_of_a_dictionary_by_name_asks_for_what_is_missing(
    name: str, base: str, tmp_path: Path
) -> None:
    files = MISSING.replace("BASE", base)
    assert answer(files, f"m:{name}", f"m.{name}(str)", tmp_path) == "3"


@pytest.mark.parametrize("annotation", ["Own", "Optional[Own]", "Kind", "'Own'", "list['Own']"])
@pytest.mark.parametrize("base", ["pydantic.BaseModel", "elsewhere.Base"])
def test_a_base_makes_what_fields_are_annotated_with(
    tmp_path: Path, base: str, annotation: str
) -> None:
    text = f"""
        from typing import Optional
        import elsewhere, pydantic

        class Own({base}):
            size: int
            def __init__(self, size): self.size = size

        Kind = Optional[Own]

        class Model({base}):
            own: {annotation}

        def use(data):
            return Model(**data)
    """
    assert members(tmp_path, text) == {"size", "__init__"}


def test_fields_of_other_classes_make_nothing(tmp_path: Path) -> None:
    text = """
        from dataclasses import dataclass

        class Own:
            def __init__(self, size): self.size = size

        @dataclass
        class Model:
            own: Own

        def use(own):
            return Model(own)
    """
    assert members(tmp_path, text) == set()


@pytest.mark.parametrize(
    ("asking", "kept"),
    [
        ("return 1", set()),
        ("return getattr(kind, '__get_validators__', None)", {"Own.__get_validators__"}),
    ],
)
def test_who_asks_for_a_schema_may_be_in_the_repository(
    tmp_path: Path, asking: str, kept: set[str]
) -> None:
    write_files(
        f"""
# --- pydantic/__init__.py
from pydantic.own import Own
# --- pydantic/own.py
from pydantic.finding import find
class Own:
    @classmethod
    def __get_validators__(cls): return [int]
def use(kind=None): return find(kind or Own)
# --- pydantic/finding.py
def find(kind): {asking}
""",
        tmp_path,
    )
    found = slice_ids(tmp_path, "pydantic.own:use")
    assert {each.partition(":")[2] for each in found if ".__get_" in each} == kept
