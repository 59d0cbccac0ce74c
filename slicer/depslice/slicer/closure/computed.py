"""Names that code computes: ``getattr(x, "on_" + kind)``, ``globals()[name]``.

Analysis knows at most how such a name begins and ends, and whose it is. Members of a class
are matched by that; names of the whole module by the strings that the slice spells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.containers import absolute
from depslice.callgraph.engine.facts import Fact
from depslice.callgraph.engine.library import IMPORTING
from depslice.callgraph.engine.parts import reads
from depslice.callgraph.engine.values import Class
from depslice.callgraph.model import ReferenceKind
from depslice.callgraph.templates import fields_of, words_of_data
from depslice.slicer.closure.classes import Classes
from depslice.slicer.closure.growth import Followed, Growth
from depslice.slicer.closure.model import Demand
from depslice.slicer.closure.names import Names
from depslice.slicer.closure.open_values import OpenValues, Use
from depslice.slicer.closure.testing import Test, Tests
from depslice.slicer.pieces import NAMED, start_of, strings_of

_NAME: Final = r"[A-Za-z_]\w*"
_DOTTED: Final = re.compile(rf"{_NAME}(\.{_NAME})+|{_NAME}(\.{_NAME})*:{_NAME}(\.{_NAME})*")
_RELATIVE: Final = re.compile(rf"\.+{_NAME}([.:]{_NAME})*")
_ENTRY_POINT: Final = re.compile(rf"[\w.-]+\s*=\s*({_NAME}(?:\.{_NAME})*:{_NAME}(?:\.{_NAME})*)")
_ATTRIBUTE: Final = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\.([A-Za-z_]\w*)")
_READ: Final = re.compile(rf"\.({_NAME})\b")
_IMPORT_FROM: Final = re.compile(rf"(?m)^[ \t]*from ({_NAME}(?:\.{_NAME})*) import (.+)$")
_IMPORT: Final = re.compile(rf"(?m)^[ \t]*import ({_NAME}(?:\.{_NAME})*)")
_AS_MODULE: Final = "-m"  # `[sys.executable, "-m", "pkg.tool"]`
_RUN_MODULE: Final = frozenset({"run_module", "run_module_as_main", "_run_module_as_main"})
_RUN_FILE: Final = frozenset(
    {"SourceFileLoader", "load_source", "run_path", "spec_from_file_location"}
)
"""What runs a module, all of it, by its name, and a file by its path."""
_OF_MODULES: Final = (".loadTestsFromModule", "doctest.DocTestSuite", "doctest.testmod")
_OF_NAMES: Final = (".loadTestsFromName", ".loadTestsFromNames")
"""What goes through all that a module has, which it is passed, or told the name of."""
_PYTHON: Final = "sys.executable"
_STARTING: Final = ("asyncio.", "multiprocessing.", "os.", "subprocess.")
"""Where functions stand that start a process."""
_OF_PACKAGE: Final = "__init__.py"
_FILE: Final = re.compile(r"(?:[\w.-]+/)*[A-Za-z_]\w*\.py")
_TELLING_NOTHING: Final = frozenset({"", "_"})
"""What so many names start with that it says nothing of which is meant."""
_RUNNING_TEXT: Final = frozenset({"builtins.exec", "builtins.eval"})


class ComputedNames:
    """What computed names may name; every one of them is unresolved too."""

    def __init__(
        self, growth: Growth, classes: Classes, names: Names, open_values: OpenValues
    ) -> None:
        self._growth = growth
        self._classes = classes
        self._names = names
        self._open_values = open_values
        self._tests = Tests(growth)
        self._by_string: dict[str, Demand] = {}  # modules whose names strings may spell
        self._spelled: dict[str, None] = {}
        self._in_fields: dict[str, None] = {}  # that fields of templates read
        self._attributes: dict[str, None] = {}  # names that are read of something
        self._accessed: dict[tuple[int, f.Access, str], None] = {}
        self._read = 0  # how many of the followed units
        self._in_text: dict[tuple[str, str], Demand] = {}  # module, name: of `alias.name` in texts
        self._imported: dict[tuple[str, str], Followed] = {}  # module, name: by texts like code
        self._read_of_any: dict[str, Followed] = {}  # by texts like code, of whatever object
        self._told_of_any: set[str] = set()
        self._runs_text = False
        self._apart: dict[tuple[str, str], Followed] = {}  # module, name: of two texts of a unit
        self._in_data: dict[str, Followed] = {}  # what texts have that may be data
        self._relative: dict[tuple[str, str], Followed] = {}  # package, a text with leading dots
        self._imports = False  # modules by names
        self._runs_files = False
        self._files: dict[str, Followed] = {}  # texts that may be paths of such
        self._modules: set[int] = set()  # that texts spell
        self._handed: list[tuple[Followed, int]] = []  # to what goes through a module
        self._gone_through: dict[str, None] = {}

    def follow(self, at: Followed, fact: Fact) -> None:
        """Follow a fact of kind ``DYNAMIC``, which ``at`` states."""
        _, owner, prefix, suffix, pos, value = fact
        rule = "dynamic-attribute"
        demand = Demand.of(at.item, at.module, ReferenceKind.READ, rule, pos, certain=False)
        anything = not prefix and not suffix
        if prefix + suffix in _TELLING_NOTHING:
            demand = demand.guessed()
        if isinstance(owner, Class):
            if anything:
                self._growth.note_unresolved(at.item, owner.id, rule, pos)
                exact = self._growth.engine.values[value][2]
                self._classes.want_all(owner, "dir", demand, below=not exact)
            self._classes.want_matching(owner, prefix, suffix, demand)
            engine = self._growth.engine
            if engine.values[value][0] == "I":
                names = engine.unknown if anything else engine.single(("N", prefix, suffix))
                self._open_values.ask_by_names(owner, names, demand)
        elif owner is None:
            self._growth.note_unresolved(at.item, f"{prefix}…{suffix}", rule, pos)
            if anything:
                self._open_values.note("spelled", value, "read", demand)
            else:
                self._open_values.note("matching", value, (prefix, suffix), demand)
        else:
            self._growth.note_unresolved(at.item, owner, rule, pos)
            if owner == at.module.name and anything:
                self._by_string.setdefault(owner, demand)
            elif anything and not self._lists(at, owner):
                self._names.want_public(owner, demand)

    def _lists(self, at: Followed, owner: str) -> bool:
        """Whether ``at`` has the names from the module itself: ``for k in dir(m): getattr(m, k)``."""
        listed = (fact[1] for fact in at.function.facts if fact[0] == f.LISTED)
        return any(self._growth.engine.values[each][:2] == ("M", owner) for each in listed)

    def _want_passing(self, owner: str, tests: tuple[Test, ...], demand: Demand) -> None:
        module = self._growth.program.module(owner) if tests else None
        if module is not None:
            for name in self._tests.passing(module, tests):
                self._names.want_name(module, name, demand)

    def match_strings(self) -> bool:
        """Want the names of modules that strings of the slice spell; whether any is new.

        Those that spell a module too (``"app.handlers.File"``) are looked up by whoever
        gets them, as do two that stand together (``add("app.handlers", "File")``) where the slice
        imports modules by names, and what stands in a text of data or is relative; others where the slice
        computes names of that module. Of modules that code lists (``dir(settings)``) those count
        as well that are read of whatever object: the one that got them.
        """
        before = len(self._names.wanted) + len(self._accessed)
        for function, followed in tuple(islice(self._growth.followed.items(), self._read, None)):
            self._read += 1
            self._note_apart(followed)
            for text in strings_of(function.unit.ops):
                self._spelled.setdefault(text)
                for name in _read_by_fields(text):
                    self._in_fields.setdefault(name)
                    self._spelled.setdefault(name)
                entry = _ENTRY_POINT.fullmatch(text)
                if entry is not None:
                    self._want_dotted(entry[1], followed)
                self._note_path(text, followed)
                for word in words_of_data(text):
                    self._spelled.setdefault(word)
                    self._in_data.setdefault(word, followed)
                self._note_attributes(text, followed)
                self._note_imports(text, followed)
                self._note_read(text, followed)
            for piece in _pieces_of(function.unit.ops):
                self._note_read(piece, followed)
            outside = {fact[1] for fact in followed.seen if fact[0] == f.EXTERNAL}
            self._run_whole(followed, outside)
            self._runs_text |= not outside.isdisjoint(_RUNNING_TEXT)
            self._imports |= not outside.isdisjoint(IMPORTING)
            self._spelled.update(dict.fromkeys(self._names_given(followed)))
            ops = function.unit.ops
            self._attributes.update(dict.fromkeys(op[3] for op in ops if op[0] == s.ATTR))
        while self._imports and self._in_data:
            self._note_path(*self._in_data.popitem())
        while self._imports and self._relative:
            (package, text), followed = self._relative.popitem()
            self._note_path(absolute(text, package) or "", followed)
        while self._imports and self._apart:
            (owner, name), followed = self._apart.popitem()
            self._want_dotted(f"{owner}.{name}", followed)
        while self._imported and self._runs_text:
            self._import_by_text(*self._imported.popitem())
        while self._read_of_any and self._runs_text:
            name, followed = self._read_of_any.popitem()
            self._open_values.ask_unknown(name, self._named_in_text(followed))
        for (owner, name), demand in self._in_text.items() if self._runs_text else ():
            module = self._growth.program.module(owner)
            if module is not None and name in module.summary.scope:
                self._names.want_name(module, name, demand)
        for owner, demand in self._by_string.items():
            module = self._growth.program.module(owner)
            if module is not None:
                for name in self._growth.program.names_in(module):
                    if name in self._spelled:
                        self._names.want_name(module, name, demand)
        for owner, demand in self._open_values.listed.items():
            module = self._growth.program.module(owner)
            if module is not None:
                for name in self._growth.program.names_in(module):
                    if name in self._spelled or name in self._attributes:
                        self._names.want_name(module, name, demand)
        for (owner, tests), demand in self._open_values.tested.items():
            self._want_passing(owner, tests, demand)
        for (value, how), demand in tuple(self._open_values.spelled.items()):
            for name in self._attributes_of(value):
                access = value, how, name
                spelled = name in self._spelled or name == "__getattr__"
                if spelled and access not in self._accessed:
                    self._accessed[access] = None
                    self._open_values.note(how, value, name, demand)
        for value, demand in tuple(self._open_values.filled.items()):
            for name in self._in_fields:
                if (value, "read", name) not in self._accessed:
                    self._accessed[value, "read", name] = None
                    use: Use = "protocol" if name == "__getitem__" else "read"
                    self._open_values.note(use, value, name, demand)
        for (value, how, made_of), demand in tuple(self._open_values.made.items()):
            for name in self._attributes_of(value):
                access = value, how, name
                if access not in self._accessed and _may_be_made(name, made_of):
                    self._accessed[access] = None
                    self._open_values.note(how, value, name, demand)
        imported = self._open_values.import_spelled(self._modules)
        imported = self._keep_handed() or imported
        return imported or len(self._names.wanted) + len(self._accessed) > before

    def _note_path(self, text: str, at: Followed) -> None:
        """Note what a text names that is a dotted path.

        One that begins with a dot (``add_directive("tween", ".tweens.add_tween")``) starts from
        the package that it is written in.
        """
        if _RELATIVE.fullmatch(text):
            self._relative.setdefault((at.module.package, text), at)
        if _DOTTED.fullmatch(text):
            self._spelled.update(dict.fromkeys(re.split("[.:]", text)))
            self._want_dotted(text, at)
            if self._growth.program.is_module(text):
                self._modules |= self._growth.engine.module_value(text)

    def _run_whole(self, at: Followed, outside: AbstractSet[str]) -> None:
        """Keep all of a module that code runs by its name, or by the path of its file.

        ``runpy.run_module("pkg.tool")``, ``[sys.executable, "-m", "pkg.tool"]``,
        ``spec_from_file_location("tool", folder / "tool.py")``: nothing names what it is run for.
        ``outside``: what the code uses of code outside the repository.
        """
        ops = at.function.unit.ops
        texts = set(strings_of(ops))
        named = {op[NAMED[op[0]]] for op in ops if op[0] in NAMED}
        program = self._growth.program
        runs = _PYTHON in outside or any(each.startswith(_STARTING) for each in outside)
        if (_AS_MODULE in texts and runs) or not named.isdisjoint(_RUN_MODULE):
            for text in sorted(texts):
                for name in (text, f"{text}.__main__"):
                    if program.is_module(name):
                        self._keep_whole(name, at)
        if any(each.endswith(_OF_MODULES) for each in outside):
            self._handed += [(at, value) for value in self._handed_by(at)]
        if any(each.endswith(_OF_NAMES) for each in outside):
            for text in sorted(filter(program.is_module, texts)):
                self._keep_whole(text, at)
        runs_files = _PYTHON in outside or not named.isdisjoint(_RUN_FILE)
        self._runs_files |= runs_files
        for text in sorted(texts):
            # Who looks for packages has `"__init__.py"`, too: it is run where it stands, if at all.
            if _FILE.fullmatch(text) and (runs_files or text != _OF_PACKAGE):
                self._files[text] = at
        while self._runs_files and self._files:
            text, spelling = self._files.popitem()
            for name in self._files_named(text, spelling):
                self._keep_whole(name, spelling)

    def _handed_by(self, at: Followed) -> Iterator[int]:
        """What code passes to others that is a module, or may be one."""
        engine = self._growth.engine
        registers = at.function.registers
        given = (each for op in at.function.unit.ops if op[0] == s.CALL for each in reads(op)[1:])
        for register in dict.fromkeys(given):
            for value in sorted(registers[register]):
                if engine.values[value][0] in ("M", "P"):
                    yield value

    def _keep_handed(self) -> bool:
        """Keep the modules that are passed so; whether there are more than before."""
        before = len(self._gone_through)
        for at, value in self._handed:
            for each in sorted(self._open_values.known(value)):
                kind = self._growth.engine.values[each]
                if kind[0] == "M" and kind[1] not in self._gone_through:
                    self._gone_through[kind[1]] = None
                    self._keep_whole(kind[1], at)
        return len(self._gone_through) > before

    def _keep_whole(self, name: str, at: Followed) -> None:
        module = self._growth.program.module(name)
        if module is not None and module is not at.module:
            kind, rule = ReferenceKind.IMPORT, "run-by-name"
            demand = Demand.of(at.item, at.module, kind, rule, start_of(at.piece), certain=False)
            self._names.keep_whole(module, demand)

    def _files_named(self, text: str, at: Followed) -> Iterator[str]:
        """The modules whose file has that path, or that end of one: those nearest to ``at``."""
        paths = self._growth.program.by_path
        own = self._growth.program.files[at.module.name].path.rpartition("/")[0]
        while own:
            if f"{own}/{text}" in paths:
                yield paths[f"{own}/{text}"].module
                return
            own = own.rpartition("/")[0]
        for path, file in paths.items():
            if path == text or path.endswith(f"/{text}"):
                yield file.module

    def _attributes_of(self, value: int) -> Iterator[str]:
        """What definitions bind of a module, a class, or an instance; those below included."""
        tag, owner, *rest = self._growth.engine.values[value]
        if tag == "M":
            module = self._growth.program.module(owner)
            yield from self._growth.program.names_in(module) if module is not None else ()
            return
        engine = self._growth.engine
        of_type = () if tag == "I" else engine.metaclasses_of(owner)
        for class_ in (*engine.mro(owner), *(() if rest[0] else owner.below()), *of_type):
            yield from class_.info.members

    def _names_given(self, at: Followed) -> Iterator[str]:
        """What becomes a text though it is none in the code: keywords, members of enums."""
        piece, ops = at.piece, at.function.unit.ops
        for op in ops:
            if op[0] == s.CALL:
                yield from (name for name, _ in op[4])
        if piece.owner >= 0 and piece.kind == "assign":
            owner = self._growth.engine.class_(at.module, piece.owner)
            if any(base.startswith("enum.") for base in self._growth.engine.external_bases(owner)):
                yield from piece.binds

    def _note_attributes(self, text: str, at: Followed) -> None:
        """Note what a text, which may be code, reads of a module that has a name there."""
        scope = at.module.summary.scope
        for alias, name in _ATTRIBUTE.findall(text) if "." in text else ():
            for value in (
                self._growth.engine.name_values(at.module, alias, None) if alias in scope else ()
            ):
                kind = self._growth.engine.values[value]
                if kind[0] == "M":
                    for read in ((kind[1], name), (at.module.name, alias)):
                        self._in_text.setdefault(read, self._named_in_text(at))

    def _note_read(self, text: str, at: Followed) -> None:
        """Note what a text reads, should it be code: of an object that nobody knows.

        ``exec(f"def get(self): return self.{name}.get_value()", names)``.
        """
        for name in _READ.findall(text) if "." in text else ():
            if name not in self._told_of_any:
                self._told_of_any.add(name)
                self._read_of_any[name] = at

    def _note_imports(self, text: str, at: Followed) -> None:
        """Note what a text imports, should it be code: ``exec("from pkg.settings import *", names)``."""
        if "import " not in text:
            return
        for owner, names in _IMPORT_FROM.findall(text):
            for name in re.findall(rf"\*|(?<!as )\b{_NAME}", names):
                self._imported.setdefault((owner, name), at)
        for owner in _IMPORT.findall(text):
            self._imported.setdefault((owner, "*"), at)

    def _import_by_text(self, imported: tuple[str, str], at: Followed) -> None:
        """Keep what code in a text imports: all of a module where it takes all, or the module."""
        owner, name = imported
        module = self._growth.program.module(owner)
        if name == "*":
            self._keep_whole(owner, at)
        elif module is not None and name in module.summary.scope:
            self._names.want_name(module, name, self._named_in_text(at))
        else:
            self._keep_whole(f"{owner}.{name}", at)

    def _note_apart(self, at: Followed) -> None:
        """Note where a call, or a tuple, has a module as one text, and a name of it as another."""
        ops = at.function.unit.ops
        spelled = {op[1]: op[2] for op in ops if op[0] == s.STRING}
        if not any("." in text for text in spelled.values()):
            return
        for op in ops:
            if op[0] in (s.CALL, s.SEQUENCE):
                texts = [spelled[register] for register in reads(op) if register in spelled]
                for text in texts if len(texts) > 1 else ():
                    module = self._growth.program.module(text) if "." in text else None
                    if module is not None:
                        names = (name for name in texts if name in module.summary.scope)
                        self._apart.update({(text, name): at for name in names})

    def _named_in_text(self, at: Followed) -> Demand:
        kind, rule = ReferenceKind.READ, "named-in-text"
        return Demand.of(at.item, at.module, kind, rule, start_of(at.piece), certain=False)

    def _want_dotted(self, text: str, at: Followed) -> None:
        """Keep what a text names: ``pkg.mod.Name``, ``pkg.mod:Class.method``."""
        owner, _, name = text.replace(":", ".").rpartition(".")
        rest: list[str] = []
        while owner and not self._growth.program.is_module(owner):
            rest.insert(0, name)
            owner, _, name = owner.rpartition(".")
        module = self._growth.program.module(owner) if owner else None
        if module is not None and name in module.summary.scope:
            demand = self._named_in_text(at).guessed()
            self._names.want_name(module, name, demand)
            engine = self._growth.engine
            values = engine.name_values(module, name, None)
            classes = engine.classes_in(values)
            made = () if rest else [engine.intern(("I", class_, True)) for class_ in classes]
            self._open_values.hand(values.union(made), demand, "others")
            for class_ in classes if rest else ():
                self._classes.want_found(class_, rest[0], demand)


def _read_by_fields(text: str) -> Iterator[str]:
    """The attributes that the fields of a text read, if it is a template for ``str.format``."""
    for field in fields_of(text) if "{" in text and "}" in text else ():
        for is_attribute, name in field.rest if not isinstance(field, str) else ():
            yield name if is_attribute else "__getitem__"


def _pieces_of(ops: Iterable[s.Op]) -> Iterator[str]:
    """The pieces of f-strings, and of other texts that are put together."""
    for op in ops:
        if op[0] == s.TEXT:
            yield from (piece for piece in op[2] if isinstance(piece, str))


def _may_be_made(name: str, definition: str) -> bool:
    """Whether ``name`` may be a part of that of a definition, in whatever case.

    ``f.__name__``, ``f.__name__[3:].lower()``, ``f.__name__.strip("_")``.
    """
    return name[:2] != "__" and name.casefold() in definition.casefold()
