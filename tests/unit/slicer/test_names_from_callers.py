"""`getattr(x, name)` where callers know the name: what it gives, and what is done with that."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, slice_ids, write_files

FILES = """
# --- app.py
class Tag:
    def match(self, text): return text
class Other:
    def match(self, text): return None
class Plugin:
    def taggers(self): return [Tag()]
    def others(self): return [Other()]
class Parser:
    def __init__(self, plugins):
        self.plugins = []
        for plugin in plugins: self.add(plugin)
    def add(self, plugin):
        if isinstance(plugin, type): plugin = plugin()
        self.plugins.append(plugin)
    def gather(self, name):
        found = []
        for plugin in self.plugins:
            method = getattr(plugin, name)
            for item in method(): found.append((item, 0))
        return [item for item, _ in found]
    def taggers(self): return self.gather("taggers")
def gather(plugin, name): return getattr(plugin, name)()
"""


@pytest.mark.parametrize(
    "body",
    [
        "for tag in gather(Plugin(), 'taggers'): return tag.match('a')",
        "for tag in Parser([Plugin()]).taggers(): return tag.match('a')",
        "for tag in Parser([Plugin]).taggers(): return tag.match('a')",
    ],
)
def test_what_methods_give_that_callers_name(body: str, tmp_path: Path) -> None:
    files = f"{FILES}def target():\n    {body}\n"
    assert answer(files, "app:target", "m.target()", tmp_path) == "a"


def test_other_names_bring_nothing(tmp_path: Path) -> None:
    files = f"{FILES}def target(): return gather(Plugin(), 'taggers')[0].match('a')\n"
    write_files(files, tmp_path)
    found = slice_ids(tmp_path, "app:target")
    assert "app:Tag.match" in found
    assert not found & {"app:Other", "app:Plugin.others"}


TEMPLATES = """
# --- app.py
from string import Template


class Macros:
    escape = "e"
    nmchar = "[a-z]|" + escape

    def idle(self): return 1


class Keyed:
    def __getitem__(self, key): return key + "!"
    def idle(self): return 1


class Record:
    name = "n"

    @property
    def size(self): return 5

    def __str__(self): return "record"
    def idle(self): return 1


class Padded:
    def __format__(self, how): return "padded " + how
    def idle(self): return 1


def made(pattern: ANNOTATION):
    return VALUE


def target():
    return made(TEXT)
"""
FILLED = [
    ("pattern % vars(Macros)", "%(nmchar)s", "[a-z]|e"),
    ("pattern % Macros.__dict__", "%(nmchar)s", "[a-z]|e"),
    ("str(pattern).strip() % vars(Macros)", "%(nmchar)s", "[a-z]|e"),
    ("pattern.format_map(vars(Macros))", "{nmchar}", "[a-z]|e"),
    ("Template(pattern).substitute(vars(Macros))", "$nmchar", "[a-z]|e"),
    ("pattern.format(m=Macros)", "{m.nmchar}", "[a-z]|e"),
    ("pattern % Keyed()", "%(a)s", "a!"),
    ("pattern.format_map(Keyed())", "{a}", "a!"),
    ("pattern.format(Keyed())", "{0[a]}", "a!"),
    ("pattern.format(Record())", "{0.name} {0.size} {0}", "n 5 record"),
    ("pattern.format_map({'r': Record()})", "{r.name} {r}", "n record"),
    ("pattern % {'r': Record()}", "%(r)s", "record"),
    ("pattern % (Record(), 1)", "%s %s", "record 1"),
    ("pattern.format(Padded())", "{:x}", "padded x"),
]


@pytest.mark.parametrize("annotation", ["str", "'Unknown'"])
@pytest.mark.parametrize(("value", "text", "expected"), FILLED)
def test_templates_from_callers_ask_what_they_are_filled_with(
    value: str, text: str, expected: str, annotation: str, tmp_path: Path
) -> None:
    files = TEMPLATES.replace("ANNOTATION", annotation).replace("VALUE", value)
    files = files.replace("TEXT", repr(text))
    assert answer(files, "app:target", "m.target()", tmp_path) == expected
    used = slice_ids(tmp_path / "repo", "app:target")
    assert "Macros" in value or not {each for each in used if each.endswith(".idle")}


@pytest.mark.parametrize(
    "value", ["id(vars(Macros)) > 0", "isinstance(vars(Macros), object)", "bool(Macros.__dict__)"]
)
def test_a_namespace_that_is_asked_for_no_name_brings_none(value: str, tmp_path: Path) -> None:
    files = TEMPLATES.replace("ANNOTATION", "str").replace("VALUE", value)
    assert answer(files.replace("TEXT", "''"), "app:target", "m.target()", tmp_path) == "True"
    assert "app:Macros.idle" not in slice_ids(tmp_path / "repo", "app:target")


WRAPPED = """
# --- app.py
class Record:
    @property
    def size(self): return 5
    def __getitem__(self, key): return key + "!"
    def __str__(self): return "record"
    def idle(self): return 1


class Keyed(dict):
    def __missing__(self, key): return key
    def idle(self): return 1


def one(text, value): return text.format(value)
def declared(text: str, value): return text.format(value)
def stars(text, *values): return text.format(*values)
def keywords(text, **values): return text.format(**values)
async def later(text, **values): return text.format(**values)
def mapped(text, values): return text.format_map(values)
def declared_mapped(text: str, values): return text.format_map(values)
def modulo(text, values): return text % values
def nested(text):
    def run(value): return text.format(value)
    return run


class Messages:
    texts = {"a": "{v.size} {v}"}

    def render(self, key, **values): return self.texts[key].format(**values)


def show(formatter, record): return formatter.format(record)


class Formatter:
    def format(self, record): return "formatted"


def target():
    return VALUE
"""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("one('{0.size} {0}', Record())", "5 record"),
        ("one('{0[a]}', Record())", "a!"),
        ("declared('{0.size}', Record())", "5"),
        ("stars('{1.size}', 1, Record())", "5"),
        ("keywords('{v.size}', v=Record())", "5"),
        ("__import__('asyncio').run(later('{v.size}', v=Record()))", "5"),
        ("mapped('{q}', Keyed())", "q"),
        ("declared_mapped('{q}', Keyed())", "q"),
        ("modulo('%(q)s', Keyed())", "q"),
        ("modulo('%s', Record())", "record"),
        ("nested('{0.size}')(Record())", "5"),
        ("Messages().render('a', v=Record())", "5 record"),
        ("show(Formatter(), Record())", "formatted"),
    ],
)
def test_templates_that_are_passed_with_what_fills_them(
    value: str, expected: str, tmp_path: Path
) -> None:
    assert answer(WRAPPED.replace("VALUE", value), "app:target", "m.target()", tmp_path) == expected
    used = slice_ids(tmp_path / "repo", "app:target")
    assert not {each for each in used if each.endswith(".idle")}
    assert "show" not in value or not {each for each in used if each.startswith("app:Record.")}


@pytest.mark.parametrize(
    ("shows", "given", "text"),
    [
        ("self.text.format(value)", "Named()", "{0.name}"),
        ("self.text.format(value=value)", "Named()", "{value.name}"),
        ("self.text.format_map(value)", "Named()", "{name}"),
        ("self.text % value", "Named()", "%(name)s"),
        ("self.text % vars(value)", "Named", "%(kind)s"),
        ("[self.text.format(each) for each in [value]][0]", "Named()", "{0.name}"),
    ],
)
@pytest.mark.parametrize(
    "make", ["Shower({text!r})", "Shower('').using({text!r})", "Shower(text={text!r})"]
)
def test_a_template_that_is_stored_asks_what_it_is_filled_with(
    shows: str, given: str, text: str, make: str, tmp_path: Path
) -> None:
    files = f"""
# --- m.py
class Named:
    kind = "shown"
    @property
    def name(self): return shown()
    def __getitem__(self, key): return shown() if key == "name" else None
    def idle(self): return 1
def shown(): return "shown"
class Shower:
    def __init__(self, text): self.text = text
    def using(self, other):
        self.text = other or self.text
        return self
    def show(self, value): return {shows}
def go(): return {make.format(text=text)}.show({given})
"""
    assert answer(files, "m:go", "m.go()", tmp_path) == "shown"
    assert "m:Named.idle" not in slice_ids(tmp_path / "repo", "m:go")
