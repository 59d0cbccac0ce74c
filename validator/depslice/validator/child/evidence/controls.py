"""Candidates of which the answer is known beforehand.

A harness that lets one of the wrong ones pass, or fails on the rewritten one, does not
compare what the functions do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from .definitions import Definition, Function, parameters

_CONSTANTS: Final = ("None", "True", "0", "1", "''", "[]")
_LOOKS_AT_ITSELF: Final = {"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A body for the target, and whether a harness must let it pass.

    ``body`` is ``None`` for a candidate that defines nothing.
    """

    name: str
    passes: bool
    body: tuple[ast.stmt, ...] | None

    @contextmanager
    def applied(self, definition: Definition) -> Iterator[None]:
        """The definition's tree with this body, for a while."""
        node = definition.node
        old = node.body
        if self.body is not None:
            node.body = [_placed(each, old[0]) for each in self.body]
        try:
            yield
        finally:
            node.body = old


def _placed(statement: ast.stmt, near: ast.stmt) -> ast.stmt:
    """A statement that was made anew gets a line; those of the source keep theirs."""
    if hasattr(statement, "depslice_new"):
        for each in ast.walk(statement):
            ast.copy_location(each, near)
    return statement


def controls(definition: Definition, module: str) -> list[Control]:
    """The controls of a target.

    ``stub`` raises; ``returns-…`` are constants, ``identity`` gives an argument back;
    ``empty`` defines nothing; ``alias`` asks the original for the answer: in a copy of
    its own it finds itself. ``rewritten`` does what the original does, by other bytecode:
    a harness that looks at code instead of behaviour fails on it.
    """
    node = definition.node
    wrong = {"stub": "raise NotImplementedError"}
    wrong |= {f"returns-{_word(text)}": f"return {text}" for text in _CONSTANTS}
    given = _first_argument(definition)
    if given:
        wrong["identity"] = f"return {given}"
    if "<locals>" not in definition.qualname:
        wrong["alias"] = _asks_the_original(definition, module)
    found = [
        Control(name=name, passes=False, body=_body(node, text)) for name, text in wrong.items()
    ]
    found.append(Control(name="empty", passes=False, body=None))
    if not _looks_at_itself(node):
        rewritten = (*_new("__depslice = None"), *node.body)
        found.append(Control(name="rewritten", passes=True, body=rewritten))
    return found


def _word(text: str) -> str:
    return {"''": "empty-text", "[]": "empty-list"}.get(text, text)


def _body(node: Function, text: str) -> tuple[ast.stmt, ...]:
    body = _new(text)
    if _is_generator(node):
        if isinstance(node, ast.AsyncFunctionDef):  # which may not return a value
            body = [s if not isinstance(s, ast.Return) else _new("return")[0] for s in body]
        body += _new("yield")
    return tuple(body)


def _new(text: str) -> list[ast.stmt]:
    function = ast.parse(f"def f():\n {text}").body[0]
    assert isinstance(function, ast.FunctionDef)
    for each in function.body:
        each.depslice_new = True  # type: ignore[attr-defined]
    return function.body


def _first_argument(definition: Definition) -> str:
    names = parameters(definition.node)
    own = [name for name in names if name != definition.receiver]
    return next(iter([*own, *names]), "")


def _asks_the_original(definition: Definition, module: str) -> str:
    names = parameters(definition.node)
    own = [name for name in names if name != definition.receiver]
    own += [each.arg + "=" + each.arg for each in definition.node.args.kwonlyargs]
    if definition.receiver:
        own.insert(0, definition.receiver)
    parts = definition.qualname.split(".")
    path = "".join(f".{part}" for part in parts)
    arguments = ", ".join(own)
    return f"import importlib; return importlib.import_module({module!r}){path}({arguments})"


def _is_generator(node: Function) -> bool:
    todo: list[ast.AST] = list(node.body)
    while todo:
        each = todo.pop()
        if isinstance(each, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            todo.extend(ast.iter_child_nodes(each))
    return False


def _looks_at_itself(node: Function) -> bool:
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    names |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    return bool(names & _LOOKS_AT_ITSELF)
