"""The head of the flat file: imports from outside, and what stands in for modules."""

from __future__ import annotations

from depslice.slicer.render.flatten_imports import Phase, from_lines, import_lines
from depslice.slicer.render.flatten_names import Entity
from depslice.slicer.render.flatten_plan import FlatPlan
from depslice.slicer.render.flatten_scopes import Place
from depslice.slicer.render.flatten_spelled import fills_namespaces


def head_text(plan: FlatPlan) -> str:
    """The lines before the first statement of a module; empty when none are needed."""
    return _Head(plan).text()


class _Head:
    def __init__(self, plan: FlatPlan) -> None:
        self._plan = plan

    def text(self) -> str:
        lines: list[str] = []
        futures = {
            alias.name
            for source in self._plan.sources
            for statement in source.scopes.imports
            if statement.future
            for alias in statement.node.names
            if alias.name != "annotations" or not self._plan.spelled_lazy
        }
        if futures:
            lines += [f"from __future__ import {', '.join(sorted(futures))}", ""]
        lines += [f"from {one} import *  # noqa: F403" for one in self._stars()]
        lines += self._import_block(Phase.ALWAYS)
        lines += self._optional_imports()
        guarded = self._import_block(Phase.TYPING, indent="    ")
        if guarded:
            test = self._plan.require("typing", "TYPE_CHECKING")
            lines += ["", f"if {test.flat}:", *guarded]
        if self._renamed():
            lines += ["", "", *_NAMED.format(named=self._plan.named.flat).splitlines()]
        if self._plan.standins:
            lines += ["", "", *self._view_lines()]
        return "\n".join(lines)

    def _stars(self) -> list[str]:
        """The modules of star imports, in the order in which the last of each runs: it wins."""
        modules = dict.fromkeys(unit.module for unit in self._plan.order.units)
        found: dict[str, None] = {}
        for module in dict.fromkeys((*modules, *self._plan.imports)):
            for one in self._plan.imports[module]:
                if one.star:
                    found.pop(one.star, None)
                    found[one.star] = None
        return list(found)

    def _renamed(self) -> bool:
        """Whether a function or class has another name here."""
        return any(
            use.place is Place.DEFINITION
            and meaning.entity.flat not in ("", use.name)
            and self._plan.live(source, use.unit)
            for source in self._plan.sources
            for use, meaning in self._plan.meanings[source.module]
        )

    def _import_block(self, phase: Phase, *, indent: str = "") -> list[str]:
        plain: list[str] = []
        used: dict[str, list[Entity]] = {}
        unused: dict[str, list[Entity]] = {}
        for entity, external in self._plan.externals.items():
            referenced = bool(self._plan.references[entity])
            if entity.name is None:
                for line in import_lines(entity, external, phase):
                    noqa = "" if referenced or "# noqa" in line else "  # noqa: F401"
                    plain.append(f"{indent}{line}{noqa}")
            elif external.phase is phase:
                group = used if referenced else unused
                group.setdefault(entity.module, []).append(entity)
        return [
            *sorted(set(plain)),
            *from_lines(used, indent=indent),
            *(f"{line}  # noqa: F401" for line in from_lines(unused, indent=indent, width=10**6)),
        ]

    def _optional_imports(self) -> list[str]:
        """Imports that only modules need which functions import, each in a ``try``."""
        lines: list[str] = []
        eager = self._named_by_definitions()
        for entity, external in sorted(self._plan.externals.items(), key=lambda one: one[0].flat):
            found = import_lines(entity, external, Phase.IF_INSTALLED)
            if entity.name is not None and external.phase is Phase.IF_INSTALLED:
                found = from_lines({entity.module: [entity]}, width=10**6)
            if not found:
                continue
            noqa = "" if self._plan.references[entity] else "  # noqa: F401"
            dotted = entity.module if entity.name is None else f"{entity.module}.{entity.name}"
            fallback = f"{entity.flat} = None"
            if entity in eager:
                fallback = f'{entity.flat} = {self._plan.absent.flat}("{dotted}")'
            if external.phase is not Phase.IF_INSTALLED:
                fallback = "pass"
            lines += [
                "",
                "try:",
                *(f"    {line}{'' if '# noqa' in line else noqa}" for line in found),
                "except ImportError:  # only some functions need it",
                f"    {fallback}",
            ]
        absent = self._plan.absent.flat
        if any(f" = {absent}(" in line for line in lines):
            return ["", "", *_ABSENT.format(absent=absent).splitlines(), "", *lines]
        return lines

    def _named_by_definitions(self) -> set[Entity]:
        """What is named when the file itself runs: by a base, a decorator, a constant.

        By a function too which is named there, as it may be called.
        """
        within: dict[Entity, set[Entity]] = {}  # a definition -> what it names when it is called
        found: set[Entity] = set()
        for source in self._plan.sources:
            uses = [
                (use, meaning.entity)
                for use, meaning in self._plan.meanings[source.module]
                if self._plan.live(source, use.unit)
            ]
            made = {use.unit: entity for use, entity in uses if use.place is Place.DEFINITION}
            for use, entity in uses:
                if use.place is Place.DEFINITION:
                    continue
                if use.eager or use.unit not in made:
                    found.add(entity)
                else:
                    within.setdefault(made[use.unit], set()).add(entity)
        waiting = [*found]
        while waiting:
            further = within.pop(waiting.pop(), set()) - found
            found |= further
            waiting += further
        return found

    def _fills_namespaces(self) -> bool:
        """Whether something may be put into what ``vars(module)`` gives."""
        return any(fills_namespaces(source.scopes) for source in self._plan.sources)

    def _view_lines(self) -> list[str]:
        types = self._plan.require("types", None).flat
        hooked = any("__getattr__" in members for members in self._plan.standins.values())
        listing = any("__dir__" in members for members in self._plan.standins.values())
        making = {module for module in self._plan.standins if self._plan.makes_names(module)}
        lines = _VIEW.format(
            view=self._plan.view.flat,
            types=types,
            hook=_VIEW_HOOK if hooked else "",
            listing=_VIEW_LISTING if listing else "",
            **(_VIEW_FILLED if self._fills_namespaces() else _VIEW_READ),
            **(_VIEW_MAKING if making else _VIEW_PLAIN),
        ).splitlines()
        lines += ["", ""]
        for module, members in sorted(self._plan.standins.items()):
            flat = self._plan.program.module_entity(module).flat
            table = [f'"{name}": "{entity.flat}"' for name, entity in sorted(members.items())]
            makes = ", makes=True" if module in making else ""
            line = f'{flat} = {self._plan.view.flat}("{module}", {{{", ".join(table)}}}{makes})'
            if len(line) <= 100:
                lines.append(line)
            else:
                lines.append(f"{flat} = {self._plan.view.flat}(")
                lines += [f'    "{module}",', "    {", *(f"        {one}," for one in table)]
                lines += ["    },", *(["    makes=True,"] if makes else []), ")"]
        return lines


_NAMED = '''def {named}(name):
    """Let a definition that had to be renamed here keep its own name inside."""

    def rename(definition):
        definition.__name__ = definition.__qualname__ = name
        return definition

    return rename'''

_ABSENT = '''class {absent}:
    """What is not installed: definitions may name and extend it, who uses it is told."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)
        return {absent}(f"{{self._name}}.{{name}}")

    def _tell_functions(self):
        frame = __import__("sys")._getframe(2)
        while __name__ != "__main__" and frame and frame.f_code.co_name != "<module>":
            frame = frame.f_back  # a helper, while this file is imported
        if not frame or frame.f_code.co_flags & 1 or frame.f_globals is not globals():
            raise ImportError(f"{{self._name}} is not installed")

    def __call__(self, *args, **kwargs):
        self._tell_functions()
        if len(args) == 1 and not kwargs and callable(args[0]):  # as a decorator
            return args[0]
        return self

    def __mro_entries__(self, bases):
        return ()

    def __getitem__(self, key):
        return self

    __or__ = __and__ = __add__ = __sub__ = __mul__ = __truediv__ = __mod__ = __pow__ = __getitem__
    __ror__ = __rand__ = __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rmod__ = __getitem__

    def __neg__(self):
        return self

    __pos__ = __invert__ = __enter__ = __neg__

    def __exit__(self, *error):
        return None

    def __iter__(self):
        self._tell_functions()
        return iter(())

    def __bool__(self):
        return False

    def __lt__(self, other):
        return False

    __le__ = __gt__ = __ge__ = __instancecheck__ = __subclasscheck__ = __lt__'''

_VIEW_HOOK = """
        if "__getattr__" in self._members and name not in self._members:
            return globals()[self._members["__getattr__"]](name)"""

_VIEW_LISTING = """
        if "__dir__" in self._members:
            return globals()[self._members["__dir__"]]()"""

_VIEW_PLAIN = {"parameter": "", "kept": "", "flat": "self._members[name]"}

# Of modules that make names when they run, which have them under these names in this file.
_VIEW_MAKING = {
    "parameter": ", makes=False",
    "kept": '\n        super().__setattr__("_makes", makes)',
    "flat": "self._members.get(name, name) if self._makes else self._members[name]",
}

_VIEW_READ = {"opened": "", "closed": "", "names": ""}

# Of programs that put something into what `vars(module)` gives.
_VIEW_FILLED = {
    "opened": "self._Names(self, ",
    "closed": ")",
    "names": """

    class _Names(dict):
        def __init__(self, module, names):
            super().__init__(names)
            self._module = module

        def __setitem__(self, name, value):
            super().__setitem__(name, value)
            setattr(self._module, name, value)

        def __delitem__(self, name):
            super().__delitem__(name)
            delattr(self._module, name)

        def pop(self, name, *default):
            found = super().pop(name, *default)
            if name in self._module.__dict__:
                delattr(self._module, name)
            return found

        def setdefault(self, name, default=None):
            if name not in self:
                self[name] = default
            return self[name]

        def update(self, *given, **named):
            for name, value in dict(*given, **named).items():
                self[name] = value""",
}

_VIEW = '''class {view}({types}.ModuleType):
    """A module of the original code, whose members are globals of this file."""

    def __init__(self, name, members{parameter}):
        super().__init__(name)
        super().__setattr__("_members", members){kept}

    def __getattr__(self, name):{hook}
        try:
            return globals()[{flat}]
        except KeyError:
            message = f"module {{self.__name__!r}} has no attribute {{name!r}}"
            raise AttributeError(message) from None

    def __setattr__(self, name, value):
        if name in self._members:
            globals()[self._members[name]] = value
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name):
        if name in self._members:
            del globals()[self._members[name]]
        else:
            super().__delattr__(name)

    @property
    def __dict__(self):
        found = globals()
        return {opened}{{name: found[flat] for name, flat in self._members.items() if flat in found}}{closed}

    def __dir__(self):{listing}
        return sorted(set(super().__dir__()).union(self.__dict__)){names}'''
