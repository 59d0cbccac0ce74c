"""Stub modules by name, read when first asked for, and remembered in the user's cache."""

from __future__ import annotations

import marshal
import re
from typing import TYPE_CHECKING, Any, Final

from depslice.callgraph.engine.mro import linearise
from depslice.callgraph.source import UndecodableSource, content_digest, decode_source
from depslice.callgraph.stubs import declarations as d
from depslice.callgraph.stubs.names import EVERYWHERE, PUBLIC_NAMES, TYPING_ALIASES
from depslice.callgraph.stubs.outline import Import, Outline, listed_names, outline_of
from depslice.callgraph.stubs.places import ModuleFiles, StubFolder, bundled_folders
from depslice.callgraph.summary import T_ATTR, T_NAME, T_SUBSCRIPT, TypeExpr

if TYPE_CHECKING:
    from depslice.callgraph.cache import Cache

_KIND: Final = "stub-1"
_LONGEST_CHAIN: Final = 3


class StubModule:
    """One stub file: its outline, and those declarations that were asked for so far."""

    __slots__ = (
        "declared",
        "is_changed",
        "is_listed",
        "is_package",
        "key",
        "listed_names",
        "name",
        "outline",
        "package",
        "path",
        "text",
    )

    def __init__(
        self, name: str, path: str, key: str, outline: Outline, *, is_package: bool
    ) -> None:
        self.name = name
        self.path = path
        self.key = key
        self.outline = outline
        self.is_package = is_package
        self.package = name if is_package else name.rpartition(".")[0]
        self.declared: dict[str, d.Declaration | None] = {}
        self.is_changed = False
        self.is_listed = False
        self.listed_names: frozenset[str] | None = None
        self.text: str | None = None

    def declaration(self, name: str) -> d.Declaration | None:
        """What the module itself declares ``name`` to be."""
        try:
            return self.declared[name]
        except KeyError:
            pass
        places = self.outline.places.get(name)
        found = None
        if places is not None:
            text = self._text()
            texts = [text[start:end] for start, end, _ in places]
            try:
                found = d.read_declaration(texts, name)
            except (SyntaxError, ValueError, RecursionError):
                found = None
            self.is_changed = True
        self.declared[name] = found
        return found

    def imports_submodule(self, name: str) -> bool:
        """Whether the package itself imports its module ``name``.

        Where it does, its stub has a relative import; absolute ones may be there for a type.
        """
        imports = self.outline.imports.values()
        modules = {source.partition(".")[0] for level, source, _ in imports if level == 1}
        modules |= {source.partition(".")[0] for level, source in self.outline.stars if level == 1}
        return name in modules or (1, "", name) in imports

    def listed(self) -> frozenset[str] | None:
        """What ``__all__`` lists; ``None`` where there is none, or it is computed."""
        if not self.is_listed:
            self.is_listed = True
            if "__all__" in self.outline.places:
                self.listed_names = listed_names(self._text())
        return self.listed_names

    def may_give(self, name: str) -> bool:
        """Whether a star of the module gives ``name``, if the module has it."""
        listed = self.listed()
        return listed is None or name in listed

    def exports(self, name: str) -> bool:
        """Whether an import of ``name`` is there for others too."""
        if not self.path.endswith(".pyi"):
            return True
        return re.search(rf"\b{name}\s+as\s+{name}\b", self._text()) is not None

    def _text(self) -> str:
        if self.text is None:
            try:
                with open(self.path, "rb") as file:
                    self.text = decode_source(file.read())
            except (OSError, UndecodableSource):
                self.text = ""
        return self.text

    def dump(self) -> bytes:
        """For the cache."""
        known = {name: found for name, found in self.declared.items() if found is not None}
        plain: Any = (self.outline.dump(), known)
        return marshal.dumps(plain)


# Stub modules of this process, by path and key: they depend on nothing else, and a process
# that opens many programs reads each once.
_READ: Final[dict[tuple[str, str], StubModule]] = {}


class Definition:
    """A name of a stub module, imports followed to where it is declared.

    ``declaration`` is ``None`` for a module. ``dotted`` is its public name: a class that a
    private module declares goes by the public one that exports it (``io.TextIOWrapper``).
    """

    __slots__ = ("declaration", "dotted", "module", "name")

    def __init__(
        self, module: StubModule, name: str, declaration: d.Declaration | None, dotted: str
    ) -> None:
        self.module = module
        self.name = name
        self.declaration = declaration
        self.dotted = dotted

    def __repr__(self) -> str:
        return f"<{self.dotted}>"


class StubClass:
    """A class of a stub; ``bases`` are types to be read in ``module``."""

    __slots__ = (
        "bases",
        "dotted",
        "is_protocol",
        "members",
        "module",
        "mro_cache",
        "parameters",
        "parents",
    )

    def __init__(self, definition: Definition) -> None:
        assert definition.declaration is not None
        _, parameters, bases, members, is_protocol = definition.declaration
        self.dotted = definition.dotted
        self.module = definition.module
        self.parameters: tuple[str, ...] = parameters
        self.bases: tuple[TypeExpr, ...] = bases
        self.members: dict[str, d.Declaration] = members
        self.is_protocol: bool = is_protocol
        self.parents: list[tuple[StubClass, TypeExpr]] = []
        self.mro_cache: tuple[StubClass, ...] | None = None

    def __repr__(self) -> str:
        return f"<class {self.dotted}>"


class Stubs:
    """Declarations of code outside the repo, by dotted name."""

    def __init__(self, folders: tuple[StubFolder, ...] | None = None) -> None:
        self._folders = bundled_folders() if folders is None else folders
        self._files = ModuleFiles(self._folders)
        self._cache: Cache | None = None
        self._modules: dict[str, StubModule | None] = {}
        self._names: dict[tuple[str, str], Definition | None] = {}
        self._dotted: dict[str, Definition | None] = {}
        self._classes: dict[str, StubClass | None] = {}

    @property
    def identity(self) -> str:
        """What the declarations come from: part of the key of every result made with them."""
        return "/".join(dict.fromkeys(folder.identity for folder in self._folders))

    # --- modules

    def module(self, name: str) -> StubModule | None:
        """The stub module ``name``."""
        try:
            return self._modules[name]
        except KeyError:
            found = self._modules[name] = self._load(name)
            return found

    def is_everywhere(self, module: str, name: str | None) -> bool:
        """Whether every Python has the standard ``module``, and ``name`` in it.

        A name that the stub declares for some versions or systems only is not.
        """
        if module not in EVERYWHERE:
            return False
        declaring = self.module(module)
        if name is None or declaring is None:
            return name is None
        places = declaring.outline.places.get(name, ())
        return bool(places) and not any(is_indented for _, _, is_indented in places)

    def _load(self, name: str) -> StubModule | None:
        place = self._files.find(name)
        if place is None:
            return None
        path, is_package = place
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            return None
        key = f"{name}:{content_digest(data)}"
        read = _READ.get((path, key))
        if read is not None:
            return read
        module = self._read(name, path, key, data, is_package=is_package)
        if module is not None:
            _READ[path, key] = module
        return module

    def _read(
        self, name: str, path: str, key: str, data: bytes, *, is_package: bool
    ) -> StubModule | None:
        blob = None if self._cache is None else self._cache.get(_KIND, key)
        if blob is not None:
            plain, declared = marshal.loads(blob)
            module = StubModule(name, path, key, Outline.load(plain), is_package=is_package)
            module.declared.update(declared)
            return module
        try:
            text = decode_source(data)
            outline = outline_of(text)
        except (SyntaxError, UndecodableSource, ValueError, RecursionError):
            return None
        module = StubModule(name, path, key, outline, is_package=is_package)
        module.text = text
        module.is_changed = True
        return module

    def save(self) -> None:
        """Hand what was read to the cache. Later runs parse nothing of it again."""
        if self._cache is None:
            return
        changed = [m for m in self._modules.values() if m is not None and m.is_changed]
        self._cache.put_many(_KIND, [(module.key, module.dump()) for module in changed])
        for module in changed:
            module.is_changed = False

    def remember_in(self, cache: Cache | None) -> None:
        """Look in ``cache`` for what was read before, and put there what is read."""
        self._cache = cache

    # --- names

    def find(self, dotted: str) -> Definition | None:
        """What a dotted name stands for: ``re.compile``, ``os.path.join``; ``None`` if unknown."""
        try:
            return self._dotted[dotted]
        except KeyError:
            self._dotted[dotted] = None
            found = self._dotted[dotted] = self._find(dotted)
            return found

    def _find(self, dotted: str) -> Definition | None:
        head, _, name = dotted.rpartition(".")
        module = self.module(dotted)
        if module is not None:
            return Definition(module, "", None, dotted)
        if not head:
            return None
        outer = self.find(head)
        return None if outer is None else self.member(outer, name)

    def gives_all(self, module: str, name: str) -> bool:
        """Whether ``from module import *`` binds ``name``.

        What ``__all__`` lists, else what is public: declared, imported in a source file, or
        imported in a stub under its own name (``from a import b as b``, PEP 484).
        """
        return self._gives_all(self.module(module), name, set())

    def _gives_all(self, module: StubModule | None, name: str, seen: set[str]) -> bool:
        if module is None or module.name in seen:
            return False
        seen.add(module.name)
        listed = module.listed()
        if listed is not None:
            return name in listed
        if name.startswith("_"):
            return False
        outline = module.outline
        if name in outline.places or (name in outline.imports and module.exports(name)):
            return True
        return any(
            self._gives_all(self.module(_absolute(module, level, target)), name, seen)
            for level, target in outline.stars
        )

    def member(self, outer: Definition, name: str) -> Definition | None:
        """``outer.name`` for a module or a class."""
        if outer.declaration is None:
            return self.name_in(outer.module, name)
        if outer.declaration[0] == d.CLASS:
            class_ = self.class_of(outer)
            for candidate in self.mro(class_):
                found = candidate.members.get(name)
                if found is not None:
                    dotted = f"{candidate.dotted}.{name}"
                    return Definition(candidate.module, name, found, dotted)
        return None

    def name_in(self, module: StubModule, name: str) -> Definition | None:
        """What ``name`` stands for in ``module``, builtins included."""
        key = (module.name, name)
        try:
            return self._names[key]
        except KeyError:
            self._names[key] = None  # a cycle of imports settles nothing
            found = self._names[key] = self._name_in(module, name)
            return found

    def _name_in(self, module: StubModule, name: str) -> Definition | None:
        if module.name in ("typing", "typing_extensions") and name in TYPING_ALIASES:
            return self.find(TYPING_ALIASES[name])
        declaration = module.declaration(name)
        if declaration is not None:
            return self._declared(module, name, declaration)
        imported = module.outline.imports.get(name)
        if imported is not None:
            return self._imported(module, imported)
        for level, target in module.outline.stars:
            source = self.module(_absolute(module, level, target))
            if source is not None and source is not module and not name.startswith("__"):
                found = self._exported(source, name)
                if found is not None and source.may_give(name):
                    return found
        if module.is_package:
            inner = self.module(f"{module.name}.{name}")
            if inner is not None:
                return Definition(inner, "", None, inner.name)
        builtins = self.module("builtins")
        if builtins is None or module is builtins:
            return None
        return self._exported(builtins, name)

    def _exported(self, module: StubModule, name: str) -> Definition | None:
        outline = module.outline
        if name in outline.places or name in outline.imports:
            return self.name_in(module, name)
        if outline.stars and module.name != "builtins":
            found = self.name_in(module, name)
            return None if found is None or found.module.name == "builtins" else found
        return None

    def _imported(self, module: StubModule, imported: Import) -> Definition | None:
        level, target, item = imported
        absolute = _absolute(module, level, target)
        if item is not None:
            source = self.module(absolute)
            if source is not None and not (source is module and source.is_package):
                found = self.name_in(source, item)
                if found is not None:
                    return found
            absolute = f"{absolute}.{item}"
        inner = self.module(absolute)
        return None if inner is None else Definition(inner, "", None, absolute)

    def _declared(
        self, module: StubModule, name: str, declaration: d.Declaration
    ) -> Definition | None:
        if declaration[0] == d.ALIAS and not declaration[2]:
            # `List = list`, `_path = path`: another name of the same thing.
            expression = declaration[1]
            if expression[0] in (T_NAME, T_ATTR) and expression[-1] != name:
                found = self.resolve(module, expression)
                if found is not None:
                    return found
        return Definition(module, name, declaration, self._public_name(module, name))

    def _public_name(self, module: StubModule, name: str) -> str:
        """``io.TextIOWrapper`` for what ``_io`` declares and ``io`` exports.

        Likewise a package that exports what one of its modules declares names it.
        """
        known = PUBLIC_NAMES.get(f"{module.name}.{name}")
        if known is not None:
            return known
        package, _, last = module.name.rpartition(".")
        if name.startswith("_"):
            return f"{module.name}.{name}"
        public = [f"{package}.{last[1:]}".strip(".")] if last.startswith("_") else []
        for candidate in (*public, package):
            exporter = self.module(candidate) if candidate else None
            if exporter is not None and self._leads_to(exporter, name, module, 0):
                return f"{candidate}.{name}"
        return f"{module.name}.{name}"

    def _leads_to(self, exporter: StubModule, name: str, module: StubModule, depth: int) -> bool:
        """Whether ``exporter`` has ``name`` from ``module``, by imports of it or of all names."""
        outline = exporter.outline
        imported = outline.imports.get(name)
        if imported is not None:
            level, target, item = imported
            targets = [_absolute(exporter, level, target)] if item == name else []
        elif name in outline.places:
            return False
        else:
            stars = [_absolute(exporter, level, target) for level, target in outline.stars]
            given = {star: self.module(star) for star in stars}
            targets = [star for star, one in given.items() if one is None or one.may_give(name)]
        if module.name in targets:
            return True
        sources = [self.module(target) for target in targets] if depth < _LONGEST_CHAIN else []
        return any(s is not None and self._leads_to(s, name, module, depth + 1) for s in sources)

    def resolve(self, module: StubModule, expression: TypeExpr) -> Definition | None:
        """What a name or a dotted name in a type of ``module`` stands for."""
        if expression[0] == T_NAME:
            return self.name_in(module, expression[1])
        if expression[0] == T_ATTR:
            outer = self.resolve(module, expression[1])
            return None if outer is None else self.member(outer, expression[2])
        return None

    # --- classes

    def class_named(self, dotted: str) -> StubClass | None:
        """The class of a dotted name."""
        try:
            return self._classes[dotted]
        except KeyError:
            found = self.find(dotted)
            class_ = (
                self.class_of(found)
                if found is not None
                and found.declaration is not None
                and found.declaration[0] == d.CLASS
                else None
            )
            self._classes[dotted] = class_
            return class_

    def class_of(self, definition: Definition) -> StubClass:
        """The class that ``definition`` is."""
        found = self._classes.get(definition.dotted)
        if found is None:
            found = self._classes[definition.dotted] = StubClass(definition)
            self._link(found)
        return found

    def _link(self, class_: StubClass) -> None:
        for base in class_.bases:
            name = base[1] if base[0] == T_SUBSCRIPT else base
            found = self.resolve(class_.module, name)
            if found is None or found.declaration is None or found.declaration[0] != d.CLASS:
                continue
            class_.parents.append((self.class_of(found), base))
        if not class_.parameters:
            names = dict.fromkeys(
                name for base in class_.bases for name in self._type_variables(class_.module, base)
            )
            class_.parameters = tuple(names)

    def _type_variables(self, module: StubModule, expression: TypeExpr) -> list[str]:
        if expression[0] != T_SUBSCRIPT:
            return []
        found: list[str] = []
        for argument in expression[2]:
            if argument[0] == T_NAME:
                what = self.name_in(module, argument[1])
                if what is not None and what.declaration and what.declaration[0] == d.TYPE_VARIABLE:
                    found.append(argument[1])
            elif argument[0] == T_SUBSCRIPT:
                found.extend(self._type_variables(module, argument))
        return found

    def mro(self, class_: StubClass) -> tuple[StubClass, ...]:
        """The linearisation of a stub's class, ``object`` last."""
        if class_.mro_cache is None:
            order = linearise(class_, _parents)
            root = self.class_named("builtins.object")
            class_.mro_cache = order if root is None or root in order else (*order, root)
        return class_.mro_cache


def _parents(class_: StubClass) -> list[StubClass]:
    return [parent for parent, _ in class_.parents]


def _absolute(module: StubModule, level: int, target: str) -> str:
    if level == 0:
        return target
    package = module.package
    for _ in range(level - 1):
        package = package.rpartition(".")[0]
    return f"{package}.{target}".strip(".") if target else package
