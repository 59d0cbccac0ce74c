"""Values that a display puts into a container and the next statements put others in place of.

::

    table = {"a": first, "b": second}
    table["a"] = third  # nobody has seen `first` there

A dead store (Aho et al., *Compilers*, 8.5): between the two no code runs that could read the
container, and nobody goes on after an error: no block of a ``try`` or ``with`` is looked at. So
only statements count that run nothing: bindings of names, constants, functions
and displays of them to names, items of the container, and ``table.update({…})``.

So are names that the next statements of a module or function bind again, or that a class body does, and members that a module replaces right behind it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

_Path: TypeAlias = "tuple[str, ...]"
_INERT: Final = (ast.Name, ast.Constant)
_SPECIAL: Final = frozenset({"__call__", "__init__"})
"""Special methods that nothing but calls asks for, which look for what is put on the class."""


def overwritten(body: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    """The values of displays and of stores in ``body`` that are overwritten unseen."""
    fresh: dict[str, dict[_Path, ast.expr]] = {}  # container -> what stands where, itself at ()
    for node in body:
        kind = type(node)
        if kind is ast.Assign or kind is ast.AnnAssign:
            target, value = _assigned(node)
            if kind is ast.AnnAssign and not _is_inert(node.annotation):  # type: ignore[attr-defined]
                fresh.clear()
            if target is None or value is None or not _is_inert(value):
                fresh.clear()
            elif type(target) is ast.Name:
                fresh.pop(target.id, None)
                if _is_told(value):
                    fresh[target.id] = dict(_stored(value, ()))
            else:
                yield from _store(fresh, target, [((), value)])
        elif fresh and kind is ast.Expr:
            update = _update(node.value)  # type: ignore[attr-defined]
            if update is None:
                fresh.clear()
            else:
                yield from _store(fresh, *update)
        elif fresh and not _defines(node):
            fresh.clear()


def replaced_unseen(body: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    """What a module or function binds to a name that the next statements bind again, unseen.

    No code runs in between, so nobody reads it, whoever has the name: a function called later, too.
    """
    for index, node in enumerate(body):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                for each in body[index + 1 :]:
                    if not _is_quiet(each) or _evaluates(each, name):
                        break
                    if binds_surely(each, name):
                        yield value
                        break


def _is_quiet(node: ast.stmt) -> bool:
    """Whether it just binds names, also to a class that is made without running code of others."""
    if isinstance(node, ast.ClassDef):
        return not node.bases and _is_plain_class(node)
    return _binds_names(node, _is_inert)


def _evaluates(node: ast.AST, name: str) -> bool:
    """Whether a statement reads a name when it runs: a function's body does not run then."""
    if type(node) is ast.Name:
        return node.id == name and type(node.ctx) is not ast.Store
    inside: list[ast.AST] = []
    if isinstance(node, ast.Lambda):
        inside = [node.body]
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        inside = [*node.body]
    return any(_evaluates(each, name) for each in ast.iter_child_nodes(node) if each not in inside)


def rebound_unseen(body: Sequence[ast.stmt], name: str, places: Sequence[int]) -> set[int]:
    """Which of the statements that bind a name of a class body the last of them replaces unseen.

    ``places``: where they stand, the last one at the end. Who decorates a function may keep it.
    """
    gone: set[int] = set()
    for place in range(places[-1], places[0] - 1, -1):
        node = body[place]
        if place in places[:-1]:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.decorator_list:
                break
            gone.add(place)
        if not _binds_names(node, _is_inert) or _reads(node, name):
            break
    return gone


def binds_surely(node: ast.stmt, name: str) -> bool:
    """Whether a statement binds the name whenever it has run: a type without a value does not."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return node.name == name
        case ast.Assign(targets=targets):
            return any(type(target) is ast.Name and target.id == name for target in targets)
        case ast.AnnAssign(target=ast.Name(id=bound), value=ast.expr()):
            return bound == name
    return False


def replaced_members(
    body: Sequence[ast.stmt], index: int, is_bound: Callable[[str], bool]
) -> Iterator[str]:
    """The attributes of a class that a module replaces unseen, by functions it has defined.

    Making the class runs nobody's code: no bases, no decorators, and what has a ``__set_name__`` is
    no member; nor do the stores in the class, and the definitions in between, also of classes that
    just extend it. ``is_bound``: whether a name that a statement has defined before still is.
    """
    made = body[index]
    assert isinstance(made, ast.ClassDef)
    if made.bases or not _is_plain_class(made):
        return
    for place in range(index + 1, len(body)):
        match body[place]:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id=holder), attr=attribute)],
                value=ast.Name(id=given),
            ):
                if holder != made.name or not is_bound(given):
                    return
                if attribute.startswith("__") and attribute not in _SPECIAL:
                    return
                if not any(_defines(node) and binds_surely(node, given) for node in body[:place]):
                    return
                yield attribute
            case ast.ClassDef(name=name, bases=[ast.Name(id=base)]) as below if (
                base == made.name != name and _is_plain_class(below)
            ):
                if any(binds_surely(node, "__init_subclass__") for node in made.body):
                    return
            case node if not _defines(node) or binds_surely(node, made.name) or _reads(node):
                return  # a name that is none raises


def _is_plain_class(node: ast.ClassDef) -> bool:
    """Whether making a class runs no code but that of its bases, and of their metaclass."""
    if node.decorator_list or node.keywords or getattr(node, "type_params", []):
        return False
    return all(_binds_names(each, _is_no_descriptor) for each in node.body)


def _binds_names(node: ast.stmt, is_fit: Callable[[ast.expr], bool]) -> bool:
    """Whether a statement just binds names to functions or fit values, or does nothing."""
    match node:
        case ast.Expr(value=value):
            return type(value) is ast.Constant
        case ast.Assign(targets=targets, value=value):
            return is_fit(value) and all(type(target) is ast.Name for target in targets)
        case ast.AnnAssign(target=ast.Name(), annotation=annotation, value=value):
            return _is_inert(annotation) and (value is None or is_fit(value))
    return _defines(node)


def _is_no_descriptor(node: ast.expr) -> bool:
    return type(node) is not ast.Name and _is_inert(node)


def _reads(node: ast.stmt, name: str | None = None) -> bool:
    """Whether a statement, or a lambda in it, reads the name, or any; the body of a function cannot."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        parts: list[ast.AST] = [*node.decorator_list, node.args]
        parts += filter(None, [node.returns])
    else:
        parts = [node]
    return any(
        type(each) is ast.Name and name in (None, each.id) and type(each.ctx) is ast.Load
        for part in parts
        for each in ast.walk(part)
    )


def _store(
    fresh: dict[str, dict[_Path, ast.expr]],
    target: ast.expr,
    entries: Iterable[tuple[_Path, ast.expr]],
) -> Iterator[ast.expr]:
    """Note what is stored below ``target``; what was there before."""
    path: list[str] = []
    while type(target) is ast.Subscript:
        key = _key(target.slice)
        if key is None:
            fresh.clear()
            return
        path.append(key)
        target = target.value
    stored = fresh.get(target.id) if type(target) is ast.Name else None
    if stored is None:
        fresh.clear()
        return
    base = tuple(reversed(path))
    for below, value in entries:
        place = base + below
        holder = stored.get(place[:-1])
        # What would fail, or is an item of who knows what, may run anything.
        if not (type(holder) is ast.Dict or (type(holder) is ast.List and place in stored)):
            fresh.clear()
            return
        if below and type(holder) is not ast.Dict:
            fresh.clear()
            return
        # (Below what is not stored itself nothing is: tables have thousands of places.)
        covered = (
            [each for each in stored if each[: len(place)] == place] if place in stored else []
        )
        for each in covered:
            before = stored.pop(each)
            if not _is_told(before):
                yield before
        stored.update(_stored(value, place))


def _stored(value: ast.expr, path: _Path) -> Iterator[tuple[_Path, ast.expr]]:
    """What stands where in a display, itself included."""
    yield path, value
    if type(value) is ast.Dict and _is_told(value):
        for key, each in zip(value.keys, value.values, strict=True):
            assert key is not None
            yield from _stored(each, (*path, str(_key(key))))
    elif type(value) is ast.List and _is_told(value):
        for index, each in enumerate(value.elts):
            yield from _stored(each, (*path, _spelt(index)))


def _is_told(node: ast.expr) -> bool:
    """Whether it is a display of which it is known what stands where."""
    if type(node) is ast.Dict:
        return all(key is not None and _key(key) is not None for key in node.keys)
    return type(node) is ast.List and all(type(each) is not ast.Starred for each in node.elts)


def _update(node: ast.expr) -> tuple[ast.expr, list[tuple[_Path, ast.expr]]] | None:
    """``table.update({…})``: the container, and what is stored in it."""
    if type(node) is not ast.Call or type(node.func) is not ast.Attribute:
        return None
    given = [each.value for each in node.keywords] + node.args
    if node.func.attr != "update" or len(node.args) > 1 or not all(map(_is_inert, given)):
        return None
    entries: list[tuple[_Path, ast.expr]] = []
    for argument in node.args:
        if type(argument) is not ast.Dict or not _is_told(argument):
            return None
        entries += [
            ((str(_key(key)),), value)
            for key, value in zip(argument.keys, argument.values, strict=True)
            if key is not None
        ]
    if any(each.arg is None for each in node.keywords):
        return None
    entries += [((_spelt(each.arg or ""),), each.value) for each in node.keywords]
    return node.func.value, entries


def _assigned(node: ast.stmt) -> tuple[ast.expr | None, ast.expr | None]:
    if type(node) is ast.AnnAssign:
        return node.target, node.value
    assert type(node) is ast.Assign
    return (node.targets[0] if len(node.targets) == 1 else None), node.value


def _key(node: ast.expr) -> str | None:
    """A constant key, so that equal ones are the same (``1 == True`` is none that is met)."""
    if type(node) is ast.Constant and type(node.value) in (str, int):
        return _spelt(node.value)  # type: ignore[arg-type]
    return None


def _spelt(key: str | int) -> str:
    """A text is in quotes, and a number is no decimal one: those cannot be as long as they may be."""
    return repr(key) if isinstance(key, str) else f"{key:#x}"


def _is_inert(node: ast.expr) -> bool:
    """Whether evaluating it runs no code of anyone."""
    if type(node) is ast.Dict:
        keys = [key for key in node.keys if key is not None]
        return (
            len(keys) == len(node.keys)
            and all(type(key) is ast.Constant for key in keys)
            and all(map(_is_inert, node.values))
        )
    if type(node) in (ast.List, ast.Tuple):
        for each in node.elts:  # type: ignore[attr-defined]
            if type(each) is not ast.Constant and not _is_inert(each):  # tables are full of those
                return False
        return True
    if type(node) is ast.Lambda:
        return all(map(_is_inert, _defaults(node.args)))
    return isinstance(node, _INERT)


def _defines(node: ast.stmt) -> bool:
    """Whether it just defines a function."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return type(node) is ast.Pass
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    arguments += filter(None, [node.args.vararg, node.args.kwarg])
    types = [node.returns, *(each.annotation for each in arguments)]
    evaluated = [*_defaults(node.args), *filter(None, types)]
    return not node.decorator_list and all(map(_is_inert, evaluated))


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *filter(None, arguments.kw_defaults)]
