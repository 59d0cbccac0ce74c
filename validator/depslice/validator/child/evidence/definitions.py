"""A target as a syntax tree, and as code that can take the place of the function's own.

A function is exchanged by its ``__code__``: decorators, imports and registries that hold
it go on holding it. Of a nested function it is the outermost one that is exchanged, since
only that exists before it is called: the *root*.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any

Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_NO_LINE = "__class__"  # the only free variable of a function that is not nested


class NoDefinition(LookupError):
    """The target is not in the source, or not a function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A function in its module. ``top`` is the statement of the module that holds ``root``."""

    qualname: str
    root_qualname: str
    node: Function
    root: Function
    top: ast.stmt
    futures: tuple[ast.stmt, ...]
    path: str
    free: bool = False  # whether the root refers to its class, as `super()` does

    @property
    def span(self) -> tuple[int, int]:
        """First and last line of the body: what is before it runs when it is defined."""
        return self.node.body[0].lineno, self.node.end_lineno or self.node.lineno

    @property
    def receiver(self) -> str | None:
        """The parameter that stands for the instance or class, of a method."""
        decorators = {d.id for d in self.node.decorator_list if isinstance(d, ast.Name)}
        owner = self.qualname.rpartition(".")[0]
        if not owner or owner.endswith("<locals>") or "staticmethod" in decorators:
            return None
        names = parameters(self.node)
        return names[0] if names else None

    def code(self) -> CodeType:
        """The root's code as the tree is now.

        :raises SyntaxError: the tree is not a program (any more).
        """
        found = _compiled(self)
        if self.free and not found.co_freevars:
            body = self.root.body
            # Read but never executed: a function keeps the closure it was made with.
            body.insert(0, _reads(_NO_LINE, body[0]))
            try:
                found = _compiled(self)
            finally:
                del body[0]
        return found


def _reads(name: str, near: ast.stmt) -> ast.stmt:
    read = ast.If(
        test=ast.Constant(value=0),
        body=[ast.Expr(value=ast.Name(id=name, ctx=ast.Load()))],
        orelse=[],
    )
    return ast.fix_missing_locations(ast.copy_location(read, near))


def _compiled(definition: Definition) -> CodeType:
    module = ast.Module(body=[*definition.futures, definition.top], type_ignores=[])
    code = compile(module, definition.path, "exec", dont_inherit=True)
    line = first_line(definition.root)
    for each in _codes(code):
        if each.co_qualname == definition.root_qualname and each.co_firstlineno == line:
            return each
    raise NoDefinition(definition.root_qualname)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def first_line(node: Function) -> int:
    """Where the function starts for its code object: at its first decorator."""
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def parameters(node: Function) -> list[str]:
    """The names that positional arguments go to."""
    return [each.arg for each in (*node.args.posonlyargs, *node.args.args)]


def find_definition(
    source: str, qualname: str, path: str, line: int = 0, *, roots: Collection[int] = ()
) -> Definition:
    """The function ``qualname`` of ``source``; of several, the one at ``line``, or the last.

    But for those that declare only (``@overload``), and, where the first lines of ``roots`` that
    were made are known, those in others. ``path`` is the file name that its code gets.

    :raises NoDefinition: there is none.
    :raises SyntaxError: ``source`` is not Python, as this interpreter knows it.
    """
    tree = ast.parse(source, path)
    names = [part for part in qualname.split(".") if part != "<locals>"]
    chains = [chain for chain in _chains(tree.body, names) if isinstance(chain[-1], Function)]
    chains = [chain for chain in chains if not _declares_only(chain[-1])] or chains
    if roots:
        chains = [chain for chain in chains if first_line(_root_of(chain)) in roots]
    if not chains:
        raise NoDefinition(f"no function {qualname} in {path}")
    chain = next((c for c in chains if _starts_at(c[-1], line)), chains[-1])
    depth = next(number for number, each in enumerate(chain) if isinstance(each, Function))
    node, root = chain[-1], chain[depth]
    assert isinstance(node, Function)
    assert isinstance(root, Function)
    futures = (s for s in tree.body if isinstance(s, ast.ImportFrom) and s.module == "__future__")
    found = Definition(
        qualname=qualname,
        root_qualname=".".join(names[: depth + 1]),
        node=node,
        root=root,
        top=next(s for s in tree.body if any(n is chain[0] for n in ast.walk(s))),
        futures=tuple(futures),
        path=path,
    )
    return replace(found, free=bool(found.code().co_freevars))


def _root_of(chain: Sequence[ast.AST]) -> Function:
    return next(each for each in chain if isinstance(each, Function))


def _declares_only(node: ast.AST) -> bool:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return any(ast.unparse(each).rpartition(".")[2] == "overload" for each in decorators)


def _starts_at(node: ast.AST, line: int) -> bool:
    return isinstance(node, Function) and line in (node.lineno, first_line(node))


def _chains(body: Sequence[ast.stmt], names: Sequence[str]) -> Iterator[list[ast.AST]]:
    """The ways from a scope down to a definition, through ``if``, ``try`` and ``with``."""
    for each in _in_scope(body):
        if getattr(each, "name", None) == names[0]:
            if len(names) == 1:
                yield [each]
            else:
                inner: Any = each
                yield from ([each, *rest] for rest in _chains(inner.body, names[1:]))


def _in_scope(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    for each in body:
        if isinstance(each, _SCOPE):
            yield each
        else:
            yield from _in_scope(list(ast.iter_child_nodes(each)))


def meaning(code: CodeType) -> tuple[Any, ...]:
    """What makes two code objects do the same: everything but where they stand."""
    constants = tuple(
        meaning(each) if isinstance(each, CodeType) else (type(each), repr(each))
        for each in code.co_consts
    )
    return (
        code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars,
        code.co_cellvars, code.co_flags, code.co_argcount, code.co_exceptiontable,
    )  # fmt: skip
