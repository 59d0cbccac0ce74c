"""The definitions of a function: a name may have several, of which one runs.

::

    @overload
    def size(x: int) -> int: ...        # declares only
    def size(x): return len(str(x))     # runs

    if os.name == "nt":
        def home(): return "C:"         # one of these two runs,
    else:
        def home(): return "~"          # and nobody knows which without running it

    @property
    def name(self): return self._name   # one that is read,
    @name.setter
    def name(self, value): ...          # and another that is written
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from depslice.callgraph.lowering import parsed_deeply

if TYPE_CHECKING:
    from depslice.callgraph.program import Program

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Definitions:
    """``chosen``, which stands in the class, function or module ``owner``.

    ``others`` may run in its place: they stand in other branches, of several in one suite the last.
    Of two branches that both may run, only where nothing but the name keeps them; none in a function,
    each call of which makes its own. ``same`` are all that bind the name, of a property in the same
    way: with those that another in their suite replaces, in the order of the file.
    """

    chosen: Function
    owner: ast.AST
    others: tuple[Function, ...]
    same: tuple[Function, ...]


class _Defined(NamedTuple):
    """``branches``: the statements around it in its scope, each with the suite that it stands in.

    ``local``: it, or a class that it stands in, is made by calls of a function.
    """

    node: Function
    owner: ast.AST
    suite: Sequence[ast.stmt]
    branches: dict[ast.stmt, Sequence[ast.stmt]]
    local: bool


_KEPT_BY_NAME: Final = frozenset(
    {"cached_property", "classmethod", "deleter", "getter", "property", "setter", "staticmethod"}
)
"""Decorators that put a function nowhere else."""


def definitions_of(tree: ast.Module, qualname: str, line: int | None = None) -> Definitions | None:
    """The function ``qualname``: the definition at ``line``, or the last; None: there is none.

    Where there is another, it is none that only declares, nor one that writes a property.
    """
    wanted = qualname.replace(".<locals>", "").split(".")
    every = list(_named(tree.body, wanted, tree))
    every = [each for each in every if not _declares_only(each.node)] or every
    if not every:
        return None
    read = [each for each in every if not accessor(each.node)] or every
    chosen = next((each for each in every if _is_at(each.node, line)), read[-1])
    same = [each for each in every if accessor(each.node) == accessor(chosen.node)]
    if chosen.local:
        same = [each for each in same if each.suite is chosen.suite]
    others = {
        id(each.suite): each.node
        for each in same
        if each.suite is not chosen.suite and _replaces(each, chosen)
    }
    return Definitions(
        chosen=chosen.node,
        owner=chosen.owner,
        others=tuple(others.values()),
        same=tuple(each.node for each in same),
    )


def tree_of(program: Program, module: str) -> ast.Module | None:
    """The syntax of a module of the repository, as far as this Python reads it."""
    found = program.module(module)
    try:
        return None if found is None else parsed_deeply(program.text(found))
    except (SyntaxError, ValueError, RecursionError):
        return None


def first_line(node: Function | ast.ClassDef) -> int:
    """Where a definition starts: at its first decorator."""
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def accessor(node: Function) -> str:
    """What of a property a function is: ``setter``, ``deleter``, or empty, as of all others."""
    for each in node.decorator_list:
        match each:
            case ast.Attribute(value=ast.Name(id=name), attr="setter" | "deleter" as kind):
                if name == node.name:
                    return kind
    return ""


def _is_at(node: Function, line: int | None) -> bool:
    return line is not None and first_line(node) <= line <= node.lineno


def _declares_only(node: Function) -> bool:
    names = (ast.unparse(each).rpartition(".")[2] for each in node.decorator_list)
    return "overload" in names


def _replaces(one: _Defined, other: _Defined) -> bool:
    """Whether only one of two definitions is there when the module has run."""
    for around, suite in one.branches.items():
        branch = other.branches.get(around)
        if (
            branch is not None
            and branch is not suite
            and not isinstance(around, (ast.For, ast.While))
        ):
            return True
    decorators = [*one.node.decorator_list, *other.node.decorator_list]
    return all(ast.unparse(each).rpartition(".")[2] in _KEPT_BY_NAME for each in decorators)


def _named(
    suite: Sequence[ast.stmt],
    wanted: Sequence[str],
    owner: ast.AST,
    branches: Mapping[ast.stmt, Sequence[ast.stmt]] = MappingProxyType({}),
    *,
    local: bool = False,
) -> Iterator[_Defined]:
    """Definitions in a scope, within its conditions and loops too."""
    name, *rest = wanted
    for node in suite:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for inner in _suites(node):
                around = {**branches, node: inner}
                yield from _named(inner, wanted, owner, around, local=local)
        elif node.name == name and rest:
            inside = local or not isinstance(node, ast.ClassDef)
            yield from _named(node.body, rest, node, local=inside)
        elif node.name == name and not isinstance(node, ast.ClassDef):
            yield _Defined(node, owner, suite, dict(branches), local)


def _suites(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for _, value in ast.iter_fields(node):
        if isinstance(value, list) and value:
            if isinstance(value[0], ast.stmt):
                yield value
            elif isinstance(value[0], (ast.excepthandler, ast.match_case)):
                for each in value:
                    yield from _suites(each)
