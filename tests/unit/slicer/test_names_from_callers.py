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
