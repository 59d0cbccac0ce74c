"""What must be imported though no kept name asks for it.

A module object that is named must have been imported by somebody; so must a module that is
kept for what it does when it runs. The chain of imports by which the package itself reaches
such a module is kept, no further than needed. ``import a.b`` and ``import a.c`` both bind
``a``: which of them is needed shows only when all uses of ``a`` are known.
"""

from __future__ import annotations

import builtins

from depslice.callgraph.model import ReferenceKind
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Piece
from depslice.slicer.closure.growth import Growth
from depslice.slicer.closure.model import Demand, ModuleImport
from depslice.slicer.closure.names import Names
from depslice.slicer.pieces import runs_on_import, start_of
from depslice.slicer.wiring import imported_modules, is_dotted_import, with_packages


class Importing:
    """Keeps imports for the sake of the modules that they make run."""

    def __init__(self, growth: Growth, names: Names) -> None:
        self._growth = growth
        self._closure = growth.closure
        self._program = growth.program
        self._names = names
        self._uses: dict[str, set[str]] = {}  # module -> dotted names that its code uses
        self._bound_by_stars: set[tuple[str, int, str]] = set()  # module, its star, name
        self._for_effect: set[tuple[str, int, str]] = set()  # imports asked for, kept or not

    def note_use(self, module: Module, dotted: str) -> None:
        """Code of ``module`` uses something of that dotted name."""
        self._uses.setdefault(module.name, set()).add(dotted)

    def want_module(self, module: Module, name: str, demand: Demand) -> None:
        """A module object is named: it must be there, and be imported by someone."""
        self._growth.keep_module(name)
        self.note_use(module, name)
        parent, _, _ = name.rpartition(".")
        package = self._program.module(parent) if parent else None
        if package is None or package is module:
            return
        # `package.last` is bound by whoever imports the submodule: keep the package's own import.
        for piece in package.summary.pieces:
            if piece.kind != "import" or not runs_on_import(piece):
                continue
            for bound, level, target, item in piece.imports:
                if name in imported_modules(self._program, package, level, target, item):
                    absolute = self._program.import_target(package, level, target)
                    if name in (absolute, f"{absolute}.{item}"):
                        self._growth.import_alias(package, piece, bound, demand)
                        return
        # Nobody in sight imports it: the package may do when it is asked (PEP 562).
        if "__getattr__" in package.summary.scope and not self._imports(module, name):
            self._names.want_name(package, "__getattr__", demand)

    def _imports(self, module: Module, name: str) -> bool:
        """Whether ``module`` imports the module ``name`` itself."""
        return any(
            name in imported_modules(self._program, module, level, target, item)
            for piece in module.summary.pieces
            if runs_on_import(piece)
            for _, level, target, item in piece.imports
        )

    # --- modules that must run

    def connect_effects(self) -> bool:
        """Have the modules that are kept for their effects imported; whether that asks for more."""
        closure = self._growth.run_by_roots()
        reached = self._reached()
        changed = False
        for name in tuple(self._growth.effects):
            current = name
            while current not in reached:
                edge = closure.get(current)
                if edge is None:
                    break
                importer, index, bound, _ = edge
                kept = bound in self._closure.aliases.get((importer, index), {})
                kept = kept or (importer, index) in self._closure.runs
                kept = kept or (not bound and (importer, index) in self._closure.kept)
                # Options may leave the import out (a depth): asked for once.
                if not kept and (importer, index, bound) not in self._for_effect:
                    self._for_effect.add((importer, index, bound))
                    changed = True
                    self.import_for_effect(importer, index, bound)
                current = importer
        return changed or self._growth.is_pending

    def bind_by_all_stars(self, module: Module, name: str) -> bool:
        """Have each star of ``module`` that gives ``name`` bind it; whether one did not before.

        The last one decides what it stands for; the first, when it is there.
        """
        new = False
        demand = Demand.of(
            self._growth.first_item(), module, ReferenceKind.IMPORT, "side-effect import"
        )
        for index in module.summary.stars:
            piece = module.summary.pieces[index]
            for bound, level, target, _ in piece.imports:
                source = self._program.module(self._program.import_target(module, level, target))
                if bound != "*" or source is None or source is module:
                    continue
                kept = self._closure.stars.get((module.name, index), {})
                asked = module.name, index, name
                if name in kept or asked in self._bound_by_stars:
                    continue
                if name in self._program.star_names(source):
                    self._bound_by_stars.add(asked)  # whether that star is kept for it, or not
                    self._names.bind_by_star(module, piece, source, name, demand)
                    new = True
        return new

    def keep_stars_whole(self, name: str) -> bool:
        """Have the stars of a module, and those of it, give what is there, as they are written.

        In a circle a star gives what the other module has so far, and nobody misses the rest: a
        list of names would ask for that. Whether it is new.
        """
        asking = self._program.module(name)
        new = False
        for module in self._growth.running() if asking is not None else ():
            for index in module.summary.stars:
                [(_, level, target, _), *_] = module.summary.pieces[index].imports
                source = self._program.module(self._program.import_target(module, level, target))
                kept = self._closure.aliases.setdefault((module.name, index), {})
                listed = self._closure.stars.get((module.name, index), {})
                if (
                    source is not None
                    and asking in (module, source)
                    and listed
                    and "*" not in kept
                    and "__all__" not in source.summary.scope
                ):
                    kept["*"] = None
                    new = True
                    for each in tuple(listed) if module is not asking else ():
                        self.bind_by_all_stars(module, each)
        return new

    def import_for_effect(self, importer: str, index: int, bound: str) -> None:
        """Keep an alias of an import for the modules that it runs."""
        module = self._program.module(importer)
        assert module is not None
        piece = module.summary.pieces[index]
        demand = Demand.of(
            self._growth.first_item(),
            module,
            ReferenceKind.IMPORT,
            "side-effect import",
            start_of(piece),
        )
        if not bound:  # `import_module(…)`, or a function that imports
            self._growth.keep(module, piece, demand)
            return
        if bound == "*" and self._import_kept_by_star(module, piece, demand):
            return
        alone = self._module_alone(module, piece, bound)
        if alone is None:
            if bound == "*":
                self._import_star(module, piece, demand)
            else:  # nobody uses the name: of a class no more than its statement
                self._names.import_alias(module, piece, bound, demand, value=False)
            return
        self._growth.keep_module(alone.module)
        self._growth.keep_import(module, piece, demand)
        self._closure.runs[importer, index] = alone

    def _module_alone(self, module: Module, piece: Piece, bound: str) -> ModuleImport | None:
        """What can be imported instead of a name of it: ``from . import b`` for ``from .b import f``.

        The name would bring what it stands for. ``None``: it is there anyway, it is a module
        itself, or what is bound instead would hide something.
        """
        if self._closure.aliases.get((module.name, piece.index)):
            return None  # runs it already, or asks for a module in it
        for alias, level, target, item in piece.imports:
            absolute = self._program.import_target(module, level, target)
            source = self._program.module(absolute)
            if alias != bound or item is None or not target or source is None or source is module:
                continue
            if item != "*" and (
                item not in source.summary.scope or f"{absolute}.{item}" in self._program.files
            ):
                continue
            if item in self._growth.kept_names(source):
                continue
            if level == 0:
                top = target.partition(".")[0]
                found = ModuleImport(absolute, top, 0, target, None)
            else:  # how the folder is called from outside is not known here
                package, _, last = target.rpartition(".")
                found = ModuleImport(absolute, last, level, package, last)
            parent = self._program.module(absolute.rpartition(".")[0])
            own = f"{module.name}.{found.bound}"  # a submodule that its package would lose
            if not (
                hasattr(builtins, found.bound)
                or (own in self._program.files and own != absolute)
                or self._program.may_have(module, found.bound)
                or (
                    level > 0 and parent is not None and self._program.may_have(parent, found.bound)
                )
            ):
                return found
        return None

    def _import_kept_by_star(self, module: Module, piece: Piece, demand: Demand) -> bool:
        """Import something by name that a star gives: without ``__all__`` it gives too much."""
        for _, level, target, _ in piece.imports:
            source = self._program.module(self._program.import_target(module, level, target))
            for name in sorted(self._growth.kept_names(source)) if source is not None else ():
                found = self._program.star_source(module, name)
                if found is not None and found[1] == piece.index:
                    self._names.want_star(module, piece, name, demand, value=False)
                    return True
        return False

    def _import_star(self, module: Module, piece: Piece, demand: Demand) -> None:
        for _, level, target, _ in piece.imports:
            self._growth.keep_module(self._program.import_target(module, level, target))
        self._growth.keep_import(module, piece, demand)
        self._closure.aliases.setdefault((module.name, piece.index), {})["*"] = None

    def _reached(self) -> set[str]:
        """The modules that the kept imports make run, starting from the targets'."""
        found: set[str] = set()
        stack = [package for root in self._growth.roots for package in with_packages(root)]
        kept: dict[str, list[tuple[int, str]]] = {}
        for (name, index), bounds in (*self._closure.aliases.items(), *self._closure.stars.items()):
            kept.setdefault(name, []).extend((index, bound) for bound in bounds)
        run: dict[str, list[str]] = {}
        for (name, _), alone in self._closure.runs.items():
            run.setdefault(name, []).extend(with_packages(alone.module))
        while stack:
            name = stack.pop()
            if name in found:
                continue
            found.add(name)
            stack.extend(run.get(name, ()))
            module = self._program.module(name)
            if module is None:
                continue
            for index, wanted in kept.get(name, ()):
                piece = module.summary.pieces[index]
                if not runs_on_import(piece):
                    continue
                for bound, level, target, item in piece.imports:
                    if bound in (wanted, "*"):
                        stack.extend(imported_modules(self._program, module, level, target, item))
        return found

    # --- dotted imports

    def settle_dotted_imports(self) -> None:
        """Of the imports that bind the same package, keep those whose module is used."""
        for (name, index), bounds in tuple(self._closure.aliases.items()):
            module = self._program.module(name)
            assert module is not None
            piece = module.summary.pieces[index]
            for bound in tuple(bounds):
                if is_dotted_import(piece, bound):
                    self._keep_used_siblings(module, piece, bound)
        for (name, index), bounds in self._closure.aliases.items():
            module = self._program.module(name)
            assert module is not None
            for bound in bounds:
                self._import_submodules(module, module.summary.pieces[index], bound)

    def _import_submodules(self, module: Module, piece: Piece, bound: str) -> None:
        """``import collections`` and ``collections.abc``, which code outside the slice has loaded."""
        for alias, level, target, item in piece.imports:
            package = target if level < 0 else target.partition(".")[0]
            if alias != bound or item is not None or self._program.is_module(package):
                continue
            used = sorted(self._uses.get(module.name, ()))
            found = [self._submodule_used(package, dotted) for dotted in used]
            names = [name for name in dict.fromkeys(found) if name is not None]
            for name in names:
                loaded = self._loaded_by(module)
                if not any(other.startswith(f"{name}.") for other in (*names, *loaded)) and (
                    name not in loaded
                ):
                    by_name = self._closure.submodules.setdefault((module.name, piece.index), {})
                    by_name.setdefault(bound, {})[name] = None

    def _loaded_by(self, module: Module) -> set[str]:
        """The modules outside the repo, and names in them, that kept imports of ``module`` name."""
        found: set[str] = set()
        for index, piece in enumerate(module.summary.pieces):
            key = (module.name, index)
            wanted = self._closure.aliases.get(key, ()) if piece.kind == "import" else ()
            for bound, level, target, item in piece.imports if wanted else ():
                if bound in wanted and level <= 0:
                    found.add(target if item is None else f"{target}.{item}")
            for modules in self._closure.submodules.get(key, {}).values():
                found.update(modules)
        return found

    def _submodule_used(self, package: str, dotted: str) -> str | None:
        """The innermost module of an outside ``package`` that is used, if that does not load it."""
        found = None
        stubs = self._program.stubs
        while dotted.startswith(f"{package}.") and "." in dotted[len(package) :]:
            package = ".".join(dotted.split(".")[: package.count(".") + 2])
            parent = stubs.module(package.rpartition(".")[0])
            if parent is None or not parent.is_package or stubs.module(package) is None:
                break
            if not parent.imports_submodule(package.rpartition(".")[2]):
                found = package
        return found

    def _keep_used_siblings(self, module: Module, piece: Piece, bound: str) -> None:
        used = self._uses.get(module.name, set())
        for index in module.summary.scope.get(bound, ()):
            sibling = module.summary.pieces[index]
            dotted = is_dotted_import(sibling, bound)
            if index != piece.index and any(_is_used(target, used) for target in dotted):
                first = self._growth.first_item()
                demand = Demand.of(first, module, ReferenceKind.IMPORT, "module")
                self._growth.import_alias(module, sibling, bound, demand)


def _is_used(dotted: str, used: set[str]) -> bool:
    """Whether the module, or something in it, is among the dotted names ``used``."""
    return any(name == dotted or name.startswith(dotted + ".") for name in used)
