"""Code of other modules that changes a variable, in whatever way it gets at it.

Every program is sliced and its target called in the slice, by another process: what it gives
tells whether the statement was kept. Those that only read must not be.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from check import answer, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols
from depslice.slicer.render import write_tree

LIB = """
# --- lib.py
class Handler:
    tag = "base"
    def run(self): return self.tag
class Box:
    def __init__(self): self.found = {}
    def append(self, key, function): self.found[key] = function
    def get(self, key): return self.found[key]
class Registry:
    known = {}
    _instance = None
    @classmethod
    def instance(cls):
        if cls._instance is None:
            cls._instance = cls()
        return cls._instance
    @classmethod
    def section(cls, name): return cls.known.setdefault(name, {})
    def __init__(self): self.table = {}
handler = Handler()
table = {}
box = Box()
def registry(): return Registry.instance()
def section(name): return Registry.section(name)
def fill(function): globals()["table"]["k"] = function
# --- again.py
from lib import *
# --- renamed.py
from lib import table as known
# --- pack/__init__.py
from pack.inner import table as entries
# --- pack/inner.py
from lib import table
# --- holder.py
import lib
# --- spelled.py
NAME = "table"
# --- app.py
import lib, other
def look(): return lib.table["k"]()
def look_in_box(): return lib.box.get("k")()
def look_in_registry(): return lib.registry().table["k"]()
def look_in_section(): return lib.Registry.known["s"]["k"]()
def run(): return lib.handler.run()
# --- other.py
def h(): return helper()
def helper(): return 5
"""

TABLE = {
    "star": "from lib import *\ntable['k'] = h",
    "star of a star": "from again import *\ntable['k'] = h",
    "star in a function's module": "from lib import *\ndef go(): table['k'] = h\ngo()",
    "attribute of who has a star": "import again\nagain.table['k'] = h",
    "another name": "import renamed\nrenamed.known['k'] = h",
    "another name, imported": "from renamed import known\nknown['k'] = h",
    "another name, in a function": "import renamed\ndef go(): renamed.known['k'] = h\ngo()",
    "package": "import pack\npack.entries['k'] = h",
    "module of a package": "import pack.inner\npack.inner.table['k'] = h",
    "import in a function": "def go():\n    from lib import table as t\n    t['k'] = h\ngo()",
    "module in a function": "def go():\n    import lib as l\n    l.table['k'] = h\ngo()",
    "module by a name": "import lib\nq = lib\nq.table['k'] = h",
    "module by a walrus": "import lib\n(q := lib)\nq.table['k'] = h",
    "module in a table": "import lib\nALL = {'a': lib}\nALL['a'].table['k'] = h",
    "module of a loop": "import lib\nfor q in (lib,):\n    q.table['k'] = h",
    "module that a function gives": "import lib\ndef q(): return lib\nq().table['k'] = h",
    "module of a class": "import lib\nclass C:\n    q = lib\nC.q.table['k'] = h",
    "module that is looked up": "import sys, lib\nsys.modules['lib'].table['k'] = h",
    "module by importlib": "import importlib\nimportlib.import_module('lib').table['k'] = h",
    "module of two imports": "import renamed as q\nimport lib as q\nq.table['k'] = h",
    "module that another has": "import holder\nholder.lib.table['k'] = h",
    "module from another": "from holder import lib as q\ndef go(): q.table.update(k=h)\ngo()",
    "function of a function": (
        "import lib\ndef go(): lib.table['k'] = h\ndef main(): go()\nmain()"
    ),
    "one of a list": (
        "import lib\ndef put(many):\n    for each in many: each['k'] = h\nput([lib.table])"
    ),
    "method that a function calls": "import lib\ndef call(f): f(k=h)\ncall(lib.table.update)",
    "comprehension": "import lib\n[lib.table.update({k: h}) for k in 'k']",
    "condition": "import lib\nlib.table.update(k=h) if lib else None",
    "default": "import lib\ndef f(a=lib.table.update(k=h)): pass",
    "lambda": "import lib\nput = lambda f: lib.table.update(k=f)\nput(h)",
    "lambda, by a special method": "import lib\nput = lambda f: lib.table.__setitem__('k', f)\nput(h)",
    "method": "import lib\nput = lib.table.update\nput(k=h)",
    "method in a function": "import lib\nput = lib.table.update\ndef go(): put(k=h)\ngo()",
    "partial": "import lib, functools\nput = functools.partial(lib.table.__setitem__, 'k')\nput(h)",
    "method of the class": "import lib\ndict.update(lib.table, k=h)",
    "operator": "import lib, operator\noperator.setitem(lib.table, 'k', h)",
    "augmented": "import lib\nlib.table |= {'k': h}",
    "alias": "import lib\nt = lib.table\nt['k'] = h",
    "alias in a function": "import lib\nt = lib.table\ndef go(): t['k'] = h\ngo()",
    "alias in a decorator": (
        "import lib\nt = lib.table\n"
        "def put(f):\n    t['k'] = f\n    return f\n@put\ndef again(): return 5"
    ),
    "class attribute": (
        "import lib\nclass C:\n    t = lib.table\n"
        "    def __init_subclass__(cls): cls.t['k'] = cls.make\n"
        "class D(C):\n    @staticmethod\n    def make(): return 5"
    ),
    "property": "import lib\nclass C:\n    @property\n    def t(self): return lib.table\nC().t['k'] = h",
    "instance that is given it": (
        "import lib\nclass C:\n    def __init__(self, t): self.t = t\n"
        "    def put(self, f): self.t['k'] = f\nc = C(lib.table)\nc.put(h)"
    ),
    "thread": (
        "import lib, threading\ndef go(): lib.table['k'] = h\n"
        "worker = threading.Thread(target=go)\nworker.start()\nworker.join()"
    ),
    "function that has it by a text": "import lib\nlib.fill(h)",
    "getattr": "import lib\nfrom spelled import NAME\ngetattr(lib, NAME)['k'] = h",
    "getattr by another name": "import lib\nfrom spelled import NAME\ng = getattr\ng(lib, NAME)['k'] = h",
    "getattr of builtins": "import lib, builtins\nbuiltins.getattr(lib, 'table')['k'] = h",
    "attrgetter": "import lib, operator\noperator.attrgetter('table')(lib)['k'] = h",
    "attrgetter of a method": "import lib, operator\noperator.attrgetter('table.update')(lib)({'k': h})",
    "vars": "import lib\nvars(lib)['table']['k'] = h",
    "vars, replaced": "import lib\nvars(lib)['table'] = {'k': h}",
    "vars, updated": "import lib\nvars(lib).update(table={'k': h})",
    "dict": "import lib\nlib.__dict__['table'] = {'k': h}",
    "dict, updated": "import lib\nlib.__dict__.update({'table': {'k': h}})",
    "dict, got": "import lib\nlib.__dict__.get('table')['k'] = h",
    "dict by a name": "import lib\nspace = lib.__dict__\nspace['table'] = {'k': h}",
    "setattr": "import lib\nfrom spelled import NAME\nsetattr(lib, NAME, {'k': h})",
    "setattr by another name": "import lib\nfrom spelled import NAME\ns = setattr\ns(lib, NAME, {'k': h})",
    "setattr of builtins": "import lib, builtins\nbuiltins.setattr(lib, 'table', {'k': h})",
    "setattr of the module": "import lib\nlib.__setattr__('table', {'k': h})",
    "setattr of object": "import lib\nobject.__setattr__(lib, 'table', {'k': h})",
    "function that sets": (
        "import lib\ndef put(m, n, v): setattr(m, n, v)\nput(lib, 'table', {'k': h})"
    ),
    "function that sets keywords": (
        "import lib\ndef put(m, **kw):\n    for k, v in kw.items(): setattr(m, k, v)\n"
        "put(lib, table={'k': h})"
    ),
}  # fmt: skip

BOX = {
    "star": "from lib import *\nbox.append('k', h)",
    "in a function": "import lib\ndef go(): lib.box.append('k', h)\ngo()",
    "module by a name": "import lib\nq = lib\nq.box.append('k', h)",
    "import in a function": "def go():\n    from lib import box as b\n    b.append('k', h)\ngo()",
    "comprehension": "import lib\n[lib.box.append(k, h) for k in 'k']",
    "method": "import lib\nput = lib.box.append\nput('k', h)",
    "getattr": "import lib\ng = getattr\ng(lib, 'box').append('k', h)",
}

REPLACED = {
    "attribute": "lib.handler = Special()",
    "in a function": "def go(): lib.handler = Special()\ngo()",
    "by another name": "def go():\n    import lib as l\n    l.handler = Special()\ngo()",
    "setattr": "setattr(lib, 'handler', Special())",
    "vars": "vars(lib)['handler'] = Special()",
    "dict": "lib.__dict__.update(handler=Special())",
    "argument": "def go(it): lib.handler = it\ngo(Special())",
}

HERE = {
    "walrus": "if (q := T) is not None:\n    q['k'] = h",
    "comprehension": "[T.update({k: h}) for k in 'k']",
    "condition": "if T.setdefault('k', h): pass",
    "match": "match {'t': T}:\n    case {'t': t}: t['k'] = h",
    "mapped": "list(map(T.__setitem__, ['k'], [h]))",
    "method of the class": "dict.__setitem__(T, 'k', h)",
    "method in a function": "put = T.update\ndef go(): put(k=h)\ngo()",
    "alias in a function": "q = T\ndef go(): q['k'] = h\ngo()",
    "passed on": "def q(): return T\ndef r(): return q()\nr()['k'] = h",
    "instance that keeps it": (
        "class C:\n    def __init__(self): self.t = T\n"
        "    def put(self, f): self.t['k'] = f\nC().put(h)"
    ),
    "descriptor": (
        "class D:\n    def __set_name__(self, owner, name): T[name] = h\nclass U:\n    k = D()"
    ),
    "namespace": "def go(): globals()['T']['k'] = h\ngo()",
}

READ = {
    "loop": "import lib\nfor each in lib.table:\n    print(each)",
    "printed": "import lib\nprint(lib.table, len(lib.table))",
    "function": "import lib\ndef go(): return lib.table.get('k'), [*lib.table]\ngo()",
    "copied": "import lib\nmine = dict(lib.table)\nmine['k'] = h",
    "called": "import lib\nlib.registry()",
    "none": "import lib\nif lib.table.get('k') is None:\n    print('none')",
    "partial": "import lib, functools\nshow = functools.partial(print, lib.table)\nshow()",
    "own, after a star": (
        "from lib import *\ntable = {}\ntable['k'] = h\ndef go(): table['z'] = 1\ngo()"
    ),
    "compared": "import lib\nif lib.table == {}:\n    print('empty')",
    "star": "from lib import *\nprint(sorted(table))",
    "other name": "import lib\nclass C:\n    table = {}\nC.table['k'] = h",
    "other module": "import lib, spelled\nspelled.table = {}\nspelled.table['k'] = h",
    "told": "import lib\nprint(getattr(lib, 'table'), vars(lib)['table'])",
}


def given(other: str, target: str, folder: Path) -> str:
    """What the target gives in its slice, where ``other.py`` has that too."""
    return called(f"{LIB}{other}\n", target, folder)


def called(files: str, target: str, folder: Path) -> str:
    """What a function of ``app`` gives in its slice."""
    repo, tree = folder / "repo", folder / "tree"
    write_files(files, repo)
    program = open_program(repo, cache=None)
    write_tree(render(program, slice_symbols(program, [f"app:{target}"])).files, tree)
    code = f"import sys; sys.path.insert(0, {str(tree)!r}); import app; print(app.{target}())"
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", code], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or done.stderr


@pytest.mark.parametrize("way", TABLE)
def test_a_table_is_filled(way: str, tmp_path: Path) -> None:
    assert given(TABLE[way], "look", tmp_path) == "5"


@pytest.mark.parametrize("way", BOX)
def test_an_instance_is_filled(way: str, tmp_path: Path) -> None:
    assert given(BOX[way], "look_in_box", tmp_path) == "5"


@pytest.mark.parametrize("way", REPLACED)
def test_what_replaces_an_instance_is_what_others_have(way: str, tmp_path: Path) -> None:
    special = """
import lib
class Special(lib.Handler):
    tag = "special"
    def run(self): return self.before() + super().run()
    def before(self): return "very "
"""
    assert given(special + REPLACED[way], "run", tmp_path) == "very special"


@pytest.mark.parametrize(
    ("target", "statement"),
    [
        ("look_in_registry", "r = registry()\nr.table['k'] = h"),
        ("look_in_registry", "registry().table['k'] = h"),
        ("look_in_section", "s = section('s')\ns['k'] = h"),
        ("look_in_section", "section('s')['k'] = h"),
        ("look_in_section", "def go(): section('s')['k'] = h\ngo()"),
    ],
)
def test_what_a_function_passes_on(target: str, statement: str, tmp_path: Path) -> None:
    assert given(f"from lib import registry, section\n{statement}", target, tmp_path) == "5"


@pytest.mark.parametrize("way", HERE)
def test_a_table_is_filled_in_its_module(way: str, tmp_path: Path) -> None:
    files = f"""
# --- app.py
def h(): return 5
T = {{}}
{HERE[way]}
def look(): return T["k"]()
"""
    assert called(files, "look", tmp_path) == "5"


def test_what_a_cached_function_gives_is_one_object(tmp_path: Path) -> None:
    files = """
# --- app.py
import functools
@functools.cache
def table(): return {}
@functools.lru_cache
def title(name): return name.title()
def h(): return 5
table()["k"] = h
print(title("a").upper())
def look(): return table()["k"](), title("b")
"""
    assert called(files, "look", tmp_path) == "(5, 'B')"


@pytest.mark.parametrize("way", READ)
def test_who_reads_is_not_needed(way: str, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    write_files(f"{LIB}{READ[way]}\n", repo)
    assert slice_ids(repo, "app:look") == {"app:look", "lib:table"}


NAMED = """
# --- pk/__init__.py
from .target import go
from .special import is_special
# --- pk/named.py
class Named:
    reserved = {}
    def kind(self): return "named"
# --- pk/special.py
from .named import Named
table = {"a": 1}
def is_special(named: Named): return named in table
Named.reserved |= table
Named.kind = is_special
# --- pk/target.py
from .named import Named
"""


def test_what_another_module_changes_of_a_class_waits_for_who_asks_for_it(tmp_path: Path) -> None:
    """Its import names the class only in an annotation: neither had another reason."""
    write_files(f"{NAMED}def go(x): return isinstance(x, Named)\n", tmp_path)
    assert slice_ids(tmp_path, "pk.target:go") == {"pk.target:go", "pk.named:Named"}


@pytest.mark.parametrize(
    "read",
    [
        "Named.reserved",
        "Named().reserved",
        "type('Below', (Named,), {}).reserved",
        "{**vars(Named)}['reserved']",
        "[getattr(Named, each) for each in dir(Named) if each[0] == 'r'][0]",
        "getattr(Named, str(name))",
    ],
)
def test_who_asks_for_it_has_what_another_module_made_of_it(read: str, tmp_path: Path) -> None:
    files = f"{NAMED}def go(name): return {read}\n"
    assert answer(files, "pk.target:go", "m.go('reserved')", tmp_path) == "{'a': 1}"


TRANSLATED = """
# --- words.py
from gettext import NullTranslations
translators: dict[str, NullTranslations] = {}
steps: dict[str, list[str]] = {}
class Later:
    def __init__(self, message): self.message = message
def translator_of(name):
    return translators.get(name, NullTranslations())
def translation(name):
    def gettext(message):
        if name not in translators:
            return Later(message)
        return translator_of(name).gettext(message)
    return gettext
def steps_of(name):
    return steps.setdefault(name, [])
def steps_called(name):
    return steps_of(name)
# --- other.py
from words import translation, steps_called
__ = translation("x")
def progress(text):
    def wrap(function): return function
    return wrap
@progress(__("writing"))
def write(): return 1
steps_called("x").append("write")
# --- app.py
import other
from words import translation, steps_called
__ = translation("x")
def words(): return __("a").message
def run(): return steps_called("x")
"""


def test_who_gets_a_text_of_a_table_does_not_fill_it(tmp_path: Path) -> None:
    assert answer(TRANSLATED, "app:words", "m.words()", tmp_path) == "a"
    assert not any(each.startswith("other:") for each in slice_ids(tmp_path / "repo", "app:words"))


def test_who_gets_a_list_of_a_table_may_fill_it(tmp_path: Path) -> None:
    assert answer(TRANSLATED, "app:run", "m.run()", tmp_path) == "['write']"
