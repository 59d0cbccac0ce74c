"""Random programs of several modules beside their slices: do they give the same?

    python benchmarks/random_programs.py FIRST LAST [--show]

For each seed a program is made whose modules bind the same few names, builtins among them, in all
ways that bind a name: definitions, classes and what stands in their bodies, ``with``, loops,
``match``, ``:=``, stars, aliases, ``global``, stores on modules, tables filled by decorators; and
that call functions while modules are still running. What ``app.run()`` gives is compared in the
original, in the tree slice and in the one file, unless the rendering tells that it is another.

Programs that cannot be imported are left out. Prints the seeds that differ; the exit status is
1 if there are any.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols
from depslice.slicer.render import write_tree

_NAMES: Final = (
    *("alpha", "beta", "gamma", "delta", "item", "Kind", "Node", "table", "size", "name", "_hid"),
    *("max", "input", "len"),
)
_MODULES: Final = ("pkg.one", "pkg.two", "three", "app")
_KEYS: Final = "pqr"
_DEEPEST: Final = 2
_SECONDS: Final = 20
_IMPORTS: Final = "from base import REG, LOG, show, mix, attempt, reg, wrap, hold"
_BASE: Final = '''
import functools
import types

REG = {}
LOG = []


def show(x, deep=0):
    """Plain values: what they say must not depend on where objects lie, or files."""
    if isinstance(x, (int, str, type(None))):
        return x
    if deep > 3:
        return "deep"
    if isinstance(x, (list, tuple)):
        return tuple(show(y, deep + 1) for y in x)
    if isinstance(x, dict):
        return {k: show(v, deep + 1) for k, v in x.items()}
    if isinstance(x, type):
        return "class " + x.__name__
    if isinstance(x, types.ModuleType):
        return "module"
    if callable(x) and hasattr(x, "__name__"):
        return "function " + x.__name__
    return "object " + type(x).__name__


def mix(*values):
    number = 7
    for value in values:
        for letter in repr(show(value)):
            number = (number * 31 + ord(letter)) % 100003
    return number


def attempt(function):
    try:
        return show(function())
    except RecursionError:
        return "!RecursionError"
    except ImportError:
        return "!ImportError"
    except Exception as error:
        return "!" + type(error).__name__


def reg(key):
    def deco(function):
        REG[key] = function
        return function

    return deco


def wrap(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return ("w", function(*args, **kwargs))

    return inner


class hold:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self.value

    def __exit__(self, *error):
        return False
'''
_RUN: Final = """
import importlib
import sys

sys.path.insert(0, sys.argv[1])
sys.setrecursionlimit(300)
print(importlib.import_module(sys.argv[2]).run())
"""


@dataclass
class _Made:
    """A module so far: its lines, and what its names are."""

    name: str
    earlier: list[_Made]
    lines: list[str] = field(default_factory=lambda: [_IMPORTS])
    values: dict[str, None] = field(default_factory=dict)
    functions: dict[str, int] = field(default_factory=dict)  # with the number of parameters
    classes: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)
    modules: dict[str, _Made] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return [*self.values, *self.functions, *self.classes]

    def forget(self, name: str) -> None:
        for names in (self.values, self.functions, self.classes, self.modules):
            names.pop(name, None)  # type: ignore[attr-defined]

    def bind_value(self, *names: str) -> None:
        for name in names:
            self.forget(name)
            self.values[name] = None

    def take(self, other: _Made, name: str, bound: str) -> None:
        """``from other import name as bound``."""
        self.forget(bound)
        if name in other.values:
            self.values[bound] = None
        elif name in other.functions:
            self.functions[bound] = other.functions[name]
        elif name in other.classes:
            self.classes[bound] = other.classes[name]

    def take_all(self, other: _Made) -> None:
        for name in other.names:
            if not name.startswith("_"):
                self.take(other, name, name)


class Programs:
    """Makes the program of a seed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311 - programs, no secrets

    def make(self) -> dict[str, str]:
        """Paths and texts. Modules import those made before; ``app`` has ``run``."""
        made: list[_Made] = []
        for name in _MODULES:
            module = _Made(name, list(made))
            for other in made[-2:]:
                self._import_first(module, other)
            for _ in range(self._chance.randint(3, 9)):
                self._statement(module)
            made.append(module)
        app = made[-1]
        app.lines += ["def run():", "    out = []"]
        for _ in range(self._chance.randint(2, 5)):
            app.lines.append(f"    out.append(attempt(lambda: {self._value(app)}))")
        app.lines.append("    return out")
        files = {f"{each.name.replace('.', '/')}.py": "\n".join(each.lines) for each in made}
        files["pkg/__init__.py"] = self._one(["", "from .one import *", "from . import one"])
        return {**files, "base.py": _BASE}

    def _import_first(self, module: _Made, other: _Made) -> None:
        which = self._chance.random()
        if which < 0.35:
            alias = f"mod_{other.name.replace('.', '_')}"
            module.lines.append(f"import {other.name} as {alias}")
            module.modules[alias] = other
        elif which < 0.55:
            module.lines.append(f"from {other.name} import *")
            module.take_all(other)

    def _one(self, choices: list[str]) -> str:
        return self._chance.choice(choices)

    def _name(self) -> str:
        return self._chance.choice(_NAMES)

    # --- expressions

    def _value(self, module: _Made, local: tuple[str, ...] = (), deep: int = 0) -> str:
        """An expression, which may fail: names are perhaps unbound, calls perhaps wrong."""
        known = [*module.names, *local]
        kinds = [self._constant, self._called, self._of_class, self._of_module, self._held]
        if deep > _DEEPEST or self._chance.random() < 0.12:
            return self._constant(module, local, deep)
        if known and self._chance.random() < 0.3:
            return self._one(known)
        if self._chance.random() < 0.05:
            return self._name()
        return self._chance.choice(kinds)(module, local, deep + 1)

    def _constant(self, module: _Made, local: tuple[str, ...], deep: int) -> str:
        return self._one([str(self._chance.randint(0, 9)), repr(self._one(list("abcxyz")) * 2)])

    def _called(self, module: _Made, local: tuple[str, ...], deep: int) -> str:
        if not module.functions:
            return self._constant(module, local, deep)
        function = self._one(list(module.functions))
        given = [self._value(module, local, deep) for _ in range(module.functions[function])]
        return f"{function}({', '.join(given)})"

    def _of_class(self, module: _Made, local: tuple[str, ...], deep: int) -> str:
        if not module.classes:
            return self._constant(module, local, deep)
        name = self._one(list(module.classes))
        attributes, methods = module.classes[name]
        ways = [f"{name}()"]
        if methods:
            ways.append(f"{name}().{self._one(methods)}({self._value(module, local, deep)})")
        if attributes:
            attribute = self._one(attributes)
            ways += [f"{name}.{attribute}", f"getattr({name}, {attribute!r}, 0)"]
        return self._one(ways)

    def _of_module(self, module: _Made, local: tuple[str, ...], deep: int) -> str:
        if not module.modules:
            return self._constant(module, local, deep)
        alias = self._one(list(module.modules))
        other = module.modules[alias]
        ways = [f"{alias}.{name}" for name in (*other.values, *other.classes)]
        for name, count in other.functions.items():
            given = [self._value(module, local, deep) for _ in range(count)]
            ways.append(f"{alias}.{name}({', '.join(given)})")
        return self._one(ways) if ways else "0"

    def _held(self, module: _Made, local: tuple[str, ...], deep: int) -> str:
        """What holds or combines other expressions, and binds names of its own."""
        name = self._name()
        first, second = (self._value(module, local, deep) for _ in range(2))
        inner = self._value(module, (*local, name), deep)
        return self._one(
            [
                f"mix({first}, {second})",
                f"[mix({name}, {inner}) for {name} in ({first}, 2)]",
                f"(lambda {name}: mix({name}, {inner}))({first})",
                f"({first}, {second})",
                f"({first} if {second} else {self._value(module, local, deep)})",
                f"REG.get({self._one(list(_KEYS))!r}, show)({first})",
                f"str(show({first}))",
                f"globals().get({self._one(list(module.values) or ['REG'])!r}, 0)",
            ]
        )

    def _safe(self, module: _Made, local: tuple[str, ...] = (), deep: int = 1) -> str:
        """An expression of the module scope, or of a class body that has bound ``local``."""
        value = self._value(module, local, deep)
        if value[0] in "0123456789'" or (value.isidentifier() and self._chance.random() < 0.2):
            return value
        given = ", ".join(f"{name}={name}" for name in dict.fromkeys(local))
        return f"attempt(lambda {given}: {value})" if given else f"attempt(lambda: {value})"

    # --- statements

    def _statement(self, module: _Made) -> None:
        kinds = [self._define] * 6 + [self._class] * 3 + [self._bind] * 9
        kinds += [self._change] * 2 + [self._import] * 3
        self._chance.choice(kinds)(module, self._name())

    def _define(self, module: _Made, name: str) -> None:
        which = self._chance.random()
        if which < 0.12:
            module.lines.append(f"@reg({self._one(list(_KEYS))!r})")
        elif which < 0.2:
            module.lines.append("@wrap")
        parameters = self._chance.sample(_NAMES, self._chance.randint(0, 2))
        written = list(parameters)
        if parameters and self._chance.random() < 0.3:
            written[-1] = f"{parameters[-1]}={self._safe(module)}"
        module.lines.append(f"def {name}({', '.join(written)}):")
        module.lines += [f"    {line}" for line in self._body(module, parameters)]
        module.forget(name)
        module.functions[name] = len(parameters)

    def _body(self, module: _Made, parameters: list[str]) -> Iterator[str]:
        local = tuple(parameters)
        if module.values and parameters and self._chance.random() < 0.2:
            # What sets a variable gives nothing: of counters a slice has the calls that it keeps.
            changed = self._one(list(module.values))
            if changed not in parameters:
                yield from (f"global {changed}", f"{changed} = mix({parameters[0]}, 1)", "return 0")
                return
        for _ in range(self._chance.randint(0, 3)):
            name = self._name()
            which = self._chance.random()
            value = self._value(module, local, 1)
            if which < 0.3:
                yield f"{name} = {value}"
            elif which < 0.45:
                yield f"for {name} in ({value}, 3): LOG.append(show({name}))"
            elif which < 0.6 and module.earlier:
                other = self._chance.choice(module.earlier)
                if not other.names:
                    continue
                yield f"from {other.name} import {self._one(other.names)} as {name}"
            else:
                inner = self._value(module, (*local, "z"), 1)
                yield f"def {name}(z=0): return mix(z, {inner})"
            local = (*local, name)
        yield f"return {self._value(module, local)}"

    def _class(self, module: _Made, name: str) -> None:
        attributes: list[str] = []
        methods: list[str] = []
        header = f"class {name}:"
        if module.classes and self._chance.random() < 0.4:
            base = self._one(list(module.classes))
            header = f"class {name}({base}):"
            attributes += module.classes[base][0]
            methods += module.classes[base][1]
        module.lines.append(header)
        bound: tuple[str, ...] = ()
        for _ in range(self._chance.randint(1, 3)):
            member = self._name()
            value = self._safe(module, bound, 2)
            lines = [
                f"{member} = {value}",
                f"with hold({value}) as {member}: x{member} = {member}",
                f"for {member} in ({value}, 4): y{member} = {member}",
                f"z{member} = [{member} for {member} in (1, {value})]",
            ]
            if self._chance.random() < 0.4:
                module.lines.append(f"    def {member}(self, given=1):")
                module.lines += [f"        {line}" for line in self._body(module, ["given"])]
                methods.append(member)
                continue
            line = self._one(lines)
            module.lines.append(f"    {line}")
            if line[0] != "z":
                bound = (*bound, member)
                attributes.append(member)
        module.forget(name)
        module.classes[name] = (
            list(dict.fromkeys(attributes)),
            [each for each in dict.fromkeys(methods) if each not in attributes],
        )

    def _bind(self, module: _Made, name: str) -> None:
        value, other = self._safe(module), self._safe(module)
        ways: list[tuple[list[str], tuple[str, ...]]] = [
            ([f"{name} = {value}"], (name,)),
            ([f"with hold({value}) as {name}: w{name} = mix({name})"], (name, f"w{name}")),
            ([f"for {name} in ({value}, {other}): LOG.append(show({name}))"], (name,)),
            (
                ["try:", f"    {name} = {value}", "except ValueError:", f"    {name} = {other}"],
                (name,),
            ),
            (
                [f"if {value}:", f"    {name} = {other}", "else:", f"    {name} = {value}"],
                (name,),
            ),
            (
                [f"match {value}, 1:", f"    case [{name}, _]:", f"        v{name} = mix({name})"],
                (name, f"v{name}"),
            ),
            ([f"LOG.append(({name} := {value}))"], (name,)),
        ]
        lines, names = self._chance.choice(ways)
        module.lines += lines
        module.bind_value(*names)

    def _change(self, module: _Made, name: str) -> None:
        value = self._safe(module)
        other = self._chance.choice(list(module.modules.values()) or [module])
        if module.values and self._chance.random() < 0.5:
            changed = self._one(list(module.values))
            module.lines.append(f"{changed} = mix({changed}, {value})")
        elif module.modules and other.values:
            alias = next(each for each, held in module.modules.items() if held is other)
            module.lines.append(f"{alias}.{self._one(list(other.values))} = {value}")

    def _import(self, module: _Made, name: str) -> None:
        if not module.earlier:
            return
        other = self._chance.choice(module.earlier)
        which = self._chance.random()
        if which < 0.4 and other.names:
            taken = self._one(other.names)
            bound = taken if self._chance.random() < 0.5 else name
            module.lines.append(f"from {other.name} import {taken} as {bound}")
            module.take(other, taken, bound)
        elif which < 0.7:
            module.lines.append(f"from {other.name} import *")
            module.take_all(other)
        else:
            package, _, last = other.name.rpartition(".")
            bound = f"mod_{name}"
            module.lines.append(
                f"from {package} import {last} as {bound}"
                if package
                else f"import {last} as {bound}"
            )
            module.forget(bound)
            module.modules[bound] = other


def difference(files: Mapping[str, str]) -> str | None:
    """What the slices of ``app.run`` give otherwise; empty: nothing, ``None``: it does not run."""
    with tempfile.TemporaryDirectory(prefix="depslice-random-") as folder:
        original, tree, one = (Path(folder, name) for name in ("original", "tree", "one"))
        for path, text in files.items():
            file = original / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n", encoding="utf-8")
        wanted = _given(original, "app")
        if wanted.startswith("!"):
            return None
        program = open_program(original, cache=None)
        found = slice_symbols(program, ["app:run"])
        write_tree(render(program, found).files, tree)
        flat = render(program, found, format="module")
        one.mkdir()
        (one / "flat.py").write_text(flat.files[0].text, encoding="utf-8")
        results = {"tree": _given(tree, "app"), "one file": _given(one, "flat")}
        if flat.diagnostics:
            del results["one file"]
        return "".join(
            f"\n    {form}: {given} instead of {wanted}"
            for form, given in results.items()
            if given != wanted
        )


def _given(folder: Path, module: str) -> str:
    command = [sys.executable, "-S", "-B", "-c", _RUN, str(folder), module]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
            env={"PYTHONHASHSEED": "0"},
        )
    except subprocess.TimeoutExpired:
        return "!no end"
    if done.returncode:
        return "!" + (done.stderr.strip().splitlines() or ["killed"])[-1]
    return done.stdout.strip()


def main() -> int:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--show", action="store_true", help="the programs that differ, too")
    options = parser.parse_args()
    ran = differing = 0
    for seed in range(options.first, options.last):
        files = Programs(seed).make()
        found = difference(files)
        ran += found is not None
        if found:
            differing += 1
            print(f"seed {seed}{found}", flush=True)
            for path, text in files.items() if options.show else ():
                print(f"# --- {path}\n{text}")
    print(f"{ran} programs of {options.last - options.first} run, {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
