"""What is wrong with a harness can often be seen before it runs."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from typing import Final

from depslice.callgraph.errors import DepsliceError
from depslice.callgraph.model import Symbol
from depslice.callgraph.program import Program
from depslice.callgraph.targets import find_symbol

_GIVEN: Final = frozenset({"candidate", "reference"})
_NOT_CALLED: Final = {
    "candidate": "no test takes `candidate` as a parameter and calls it",
    "reference": "no test takes `reference` as a parameter and calls it: write"
    " `assert candidate(...) == reference(...)`, with no expected value of your own",
}
_ALWAYS_THERE: Final = frozenset({"pytest", "hypothesis", "numpy", "pandas"})
_COMPARING: Final = frozenset({"check", "check_with", "in_situ"})
_CHECKS: Final = _COMPARING | {"same"}
_RAISES: Final = frozenset({"raises", "warns", "fail", "approx"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef

Reason = tuple[str, str]
"""A slug that stays, and a sentence for the model."""


def static_reasons(
    text: str, program: Program, target: Symbol, *, equivalence: bool = True
) -> tuple[Reason, ...]:
    """Why a harness for ``target`` cannot be worth anything; empty: nothing is seen.

    ``equivalence``: it has to use the reference as well; otherwise, where outputs are to be
    predicted, it must not.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f"line {error.lineno}: " if isinstance(error, SyntaxError) else ""
        why = error.msg if isinstance(error, SyntaxError) else str(error)
        return (("syntax", f"it is not Python: {where}{why}"),)
    return tuple(
        dict.fromkeys(
            (
                *_imports(tree, program),
                *_tests(tree, equivalence=equivalence),
                *_redefinitions(tree, target),
                *_imported_target(tree, program, target),
            )
        )
    )


def _imports(tree: ast.Module, program: Program) -> Iterator[Reason]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for each in names:
                    yield from _missing_module(program, each.name)
            case ast.ImportFrom(level=level) if level:
                yield "relative-import", f"line {node.lineno}: a harness is in no package"
            case ast.ImportFrom(module=str(module), names=names):
                missing = list(_missing_module(program, module))
                yield from missing
                if not missing:
                    yield from _missing_names(program, module, [each.name for each in names])
            case _:
                pass


def _missing_module(program: Program, name: str) -> Iterator[Reason]:
    if program.module(name) is not None or _is_package(program, name):
        return
    top = name.partition(".")[0]
    inside = _is_package(program, top) or program.module(top) is not None
    if inside or not _is_known_outside(program, top):
        yield "unresolved-import", f"there is no module {name}"


def _missing_names(program: Program, module: str, names: list[str]) -> Iterator[Reason]:
    found = program.module(module)
    if found is None:
        return
    defined = _names(program.text(found))
    if defined is None:
        return
    for name in names:
        inner = f"{module}.{name}"
        if (
            name not in defined
            and program.module(inner) is None
            and not _is_package(program, inner)
        ):
            yield "unresolved-import", f"the module {module} has no {name}"


def _is_package(program: Program, name: str) -> bool:
    return any(file.module.startswith(f"{name}.") for file in program.project.files)


def _is_known_outside(program: Program, top: str) -> bool:
    """Part of Python or of tests, or something that the repository imports as well."""
    if top in sys.stdlib_module_names or top in _ALWAYS_THERE:
        return True
    imported = re.compile(rf"^\s*(?:import|from)\s+{re.escape(top)}\b", re.MULTILINE)
    modules = (program.module(file.module) for file in program.project.files)
    return any(imported.search(program.text(each)) for each in modules if each is not None)


def _names(text: str) -> set[str] | None:
    """The names that a module may have; None: it makes them as it runs."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    found: set[str] = set()
    for node in _outside_functions(tree):
        match node:
            case ast.FunctionDef(name="__getattr__"):
                return None
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(node.name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                if any(each.name == "*" for each in names):
                    return None
                found |= {each.asname or each.name.partition(".")[0] for each in names}
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.Call(func=ast.Name(id="globals")):
                return None
            case _:
                pass
    return found


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield from _outside_functions(child)


def _tests(tree: ast.Module, *, equivalence: bool) -> Iterator[Reason]:
    tests = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _Function) and node.name.startswith("test")
    ]
    if not tests:
        yield "no-tests", "it has no function whose name starts with test"
        return
    used: set[str] = set()
    for test in tests:
        used |= _uses(test)
        if not _asserts(test):
            yield "no-assertions", f"{test.name} asserts nothing"
    for name in sorted(_GIVEN if equivalence else {"candidate"}):
        if name not in used:
            yield f"{name}-not-called", _NOT_CALLED[name]
    if not equivalence:
        yield from _asking_the_reference(tree)


def _asking_the_reference(tree: ast.Module) -> Iterator[Reason]:
    for node in ast.walk(tree):
        if isinstance(node, _Function) and "reference" in _uses(node):
            yield (
                "reference-called",
                f"{node.name} asks `reference`: write each expected value yourself, as a literal",
            )


def _uses(function: _Function) -> set[str]:
    """Which of the two a function can call: those that it takes, and reads."""
    taken = function.args
    arguments = {each.arg for each in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)}
    used = arguments & _read(function) & _GIVEN
    if "context" in arguments:
        members = {attribute for name, attribute in _members(function) if name == "context"}
        used |= _GIVEN if members & _COMPARING else members & _GIVEN
    return used


def _read(tree: ast.AST) -> set[str]:
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _members(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """What is read of what: of ``a.b.c`` both ``("a.b", "c")`` and ``("a", "b")``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield ast.unparse(node.value), node.attr


def _asserts(test: _Function) -> bool:
    """Whether it has an assertion, or calls what may: a check, `raises`, a function of its own."""
    if any(isinstance(node, ast.Assert) for node in ast.walk(test)):
        return True
    return any(
        name in _CHECKS | _RAISES or name.startswith(("assert", "check", "compare", "_"))
        for name in _called(test)
    )


def _called(test: _Function) -> Iterator[str]:
    for node in ast.walk(test):
        match node:
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                yield name
            case _:
                pass


def _redefinitions(tree: ast.Module, target: Symbol) -> Iterator[Reason]:
    simple = target.qualname.rpartition(".")[2]
    in_class = "." in target.qualname
    for node in ast.walk(tree):
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ) if name in _GIVEN or (name == simple and not in_class):
                yield "redefines", f"line {node.lineno} defines `{name}`, which is given"
            case ast.Name(id=name, ctx=ast.Store()) if name in _GIVEN:
                yield "redefines", f"line {node.lineno} assigns `{name}`, which is given"
            case ast.alias(name=name, asname=asname) if (asname or name) in _GIVEN:
                yield "redefines", f"it imports `{asname or name}`, which is given"
            case ast.Assign(value=ast.Name(id=name)) if name in _GIVEN:
                yield "alias", f"line {node.lineno} gives `{name}` another name: call it as it is"
            case _:
                pass


def _imported_target(tree: ast.Module, program: Program, target: Symbol) -> Iterator[Reason]:
    """The target that is imported, perhaps by another name or by a re-export, and used.

    A method is used by its class, which a harness may need to make instances.
    """
    if "." in target.qualname:
        return
    name, read, members = target.qualname, _read(tree), set(_members(tree))
    used: set[str] = set()
    for bound, origin in _bindings(tree):
        if bound in read:
            used.add(origin)
        if (bound, name) in members:
            used.add(f"{origin}.{name}")
    if any(each.endswith(f".{name}") and _is_target(program, each, target) for each in used):
        yield "imports-target", f"it imports `{name}`: call `candidate` instead"


def _bindings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names that imports bind, each with the dotted name of what it stands for."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((each.asname or each.name, each.name) for each in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from ((e.asname or e.name, f"{module}.{e.name}") for e in names)
            case _:
                pass


def _is_target(program: Program, dotted: str, target: Symbol) -> bool:
    try:
        return find_symbol(program, dotted).id == target.id
    except DepsliceError:
        return False
