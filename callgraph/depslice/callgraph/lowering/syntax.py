"""What a statement says of itself: questions that its syntax alone answers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from depslice.callgraph.lowering.annotations import type_expression
from depslice.callgraph.summary import TypeExpr

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_FOR_CHECKERS = frozenset({"TYPE_CHECKING", "MYPY"})
_TYPING = frozenset({"t", "te", "tp", "ty", "T", "typing", "typing_extensions", "_t", "_typing"})
_EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_NOTHING = frozenset({"NoReturn", "Never"})


def import_entries(
    node: ast.Import | ast.ImportFrom,
) -> tuple[tuple[str, int, str, str | None], ...]:
    """``(bound name, level, module, name or None)`` for each alias.

    ``import a.b`` binds ``a`` to the package ``a`` but imports ``a.b`` too; its entry
    is ``("a", 0, "a.b", None)``. ``import a.b as c`` binds ``a.b`` itself: ``("c", -1,
    "a.b", None)``.
    """
    if isinstance(node, ast.Import):
        return tuple(
            [
                (a.asname or a.name.partition(".")[0], -1 if a.asname else 0, a.name, None)
                for a in node.names
            ]
        )
    return tuple([(a.asname or a.name, node.level, node.module or "", a.name) for a in node.names])


def operands(node: ast.expr) -> Iterator[ast.expr]:
    """The operands of a chain of binary operators; nothing for another expression."""
    if isinstance(node, ast.BinOp):
        for side in (node.left, node.right):
            if isinstance(side, ast.BinOp):
                yield from operands(side)
            else:
                yield side


def made_each_time(node: ast.expr) -> tuple[ast.expr, ...]:
    """What a comprehension makes for each element; nothing for another expression."""
    match node:
        case ast.ListComp(elt=made) | ast.SetComp(elt=made) | ast.GeneratorExp(elt=made):
            return (made,)
        case ast.DictComp(key=key, value=value):
            return (key, value)
        case ast.Call(args=arguments):  # `any(… for …)`
            return tuple(each.elt for each in arguments if isinstance(each, ast.GeneratorExp))
    return ()


def root_name(node: ast.expr) -> str | None:
    """The name that a chain of attributes, subscripts and calls starts from; of ``vars(x)``, x."""
    while True:
        if isinstance(node, ast.Attribute | ast.Subscript | ast.Starred | ast.NamedExpr):
            node = node.value
        elif isinstance(node, ast.Call):
            of = isinstance(node.func, ast.Name) and node.func.id == "vars" and node.args
            node = node.args[0] if of else node.func
        else:
            break
    return node.id if isinstance(node, ast.Name) else None


def string_list(value: ast.expr) -> tuple[str, ...] | None:
    """The strings of a display, or of a sum of displays; ``None`` if it holds anything else."""
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        found = [
            e.value for e in value.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)
        ]
        return tuple(found) if len(found) == len(value.elts) else None
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        left, right = string_list(value.left), string_list(value.right)
        return None if left is None or right is None else left + right
    return None


def declared_type(arg: ast.arg) -> TypeExpr | None:
    """What a parameter is annotated with."""
    return None if arg.annotation is None else type_expression(arg.annotation)


def all_arguments(args: ast.arguments) -> list[ast.arg]:
    """Every parameter, ``*args`` and ``**kwargs`` last."""
    found = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    if args.vararg is not None:
        found.append(args.vararg)
    if args.kwarg is not None:
        found.append(args.kwarg)
    return found


def known_truth(test: ast.expr | None, flags: frozenset[str] = frozenset()) -> bool | None:
    """Whether a test surely holds when the code runs, or surely does not, by what it spells.

    A constant, or two that are compared, with whatever is asked beside it; and ``flags``, the names that only type checkers
    take for true (``TYPE_CHECKING``, PEP 484, also as a member of ``typing``).
    """
    match test:
        case ast.Name(id=name) if name in flags:
            return False
        case ast.Attribute(attr=attribute, value=ast.Name(id=name)) if name in _TYPING:
            return False if attribute == "TYPE_CHECKING" and flags else None
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            opposite = known_truth(operand, flags)
            return None if opposite is None else not opposite
        case ast.Compare(
            left=ast.Constant(value=left), ops=[compared], comparators=[ast.Constant(value=right)]
        ):
            return _compared(left, compared, right)
        case ast.BoolOp(op=operator, values=values):
            known = [known_truth(value, flags) for value in values]
            deciding = isinstance(operator, ast.Or)
            if deciding in known:
                return deciding
            return None if None in known else not deciding
    return None


def _compared(left: object, compared: ast.cmpop, right: object) -> bool | None:
    """Whether two constants compare so: numbers, or texts. What else they do is not asked."""
    if not any(isinstance(left, kind) and isinstance(right, kind) for kind in (int, str)):
        return None
    match compared:
        case ast.Eq():
            return left == right
        case ast.NotEq():
            return left != right
        case ast.Lt():
            return left < right  # type: ignore[operator,no-any-return] # both are of one kind
        case ast.Gt():
            return left > right  # type: ignore[operator,no-any-return] # both are of one kind
        case ast.LtE():
            return left <= right  # type: ignore[operator,no-any-return] # both are of one kind
        case ast.GtE():
            return left >= right  # type: ignore[operator,no-any-return] # both are of one kind
    return None


def flags_of_checkers(body: list[ast.stmt]) -> frozenset[str]:
    """The names of a module that only type checkers take for true.

    Not those that it binds to something that may hold, but for ``TYPE_CHECKING = False``.
    """
    found: set[str] = set()
    for node in body:
        for each in ast.walk(node) if isinstance(node, ast.If | ast.Try) else (node,):
            match each:
                case ast.Assign(targets=targets, value=value):
                    bound = targets
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    bound = [target]
                case _:
                    continue
            if not (isinstance(value, ast.Constant) and not value.value):
                found.update(name.id for name in bound if isinstance(name, ast.Name))
    return _FOR_CHECKERS - found


def yields(body: list[ast.stmt]) -> bool:
    """Whether a function with that in it is a generator, even if it never runs (6.2.9)."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, Definition | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
    return False


def asks_for_main(test: ast.expr | None) -> bool:
    """Whether a test holds in a script alone (language reference, 10.1: ``__main__``)."""
    match test:
        case (
            ast.Compare(
                left=ast.Name(id="__name__"),
                ops=[ast.Eq()],
                comparators=[ast.Constant(value="__main__")],
            )
            | ast.Compare(
                left=ast.Constant(value="__main__"),
                ops=[ast.Eq()],
                comparators=[ast.Name(id="__name__")],
            )
        ):
            return True
        case ast.BoolOp(op=ast.And(), values=values):
            return any(map(asks_for_main, values))
    return False


def is_overload(decorator: ast.expr) -> bool:
    """Whether a decorator is ``typing.overload`` by its name."""
    match decorator:
        case ast.Name(id="overload") | ast.Attribute(attr="overload"):
            return True
    return False


def is_unimplemented(body: list[ast.stmt]) -> bool:
    """Whether a method is left to subclasses (library reference, ``NotImplementedError``)."""
    match body[1:] if has_docstring(body) else body:
        case [ast.Raise(exc=ast.Call(func=ast.Name(id=name)) | ast.Name(id=name))]:
            return name == "NotImplementedError"
    return False


def never_returns(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a call ends in an error, by what is declared, or by the last statement."""
    declared = function.returns
    match declared:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=name):
            if name in _NOTHING:
                return True
    if not isinstance(function.body[-1], ast.Raise):
        return False
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)):
            return False
        if not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))
    return True


def has_docstring(body: list[ast.stmt]) -> bool:
    """Whether a body begins with a string that stands alone."""
    return (
        bool(body)
        and isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    )


def ends_in_jump(body: list[ast.stmt]) -> bool:
    """Whether a block ends in ``return``, ``raise``, ``continue`` or ``break``."""
    return bool(body) and isinstance(body[-1], _EXITS)


def may_swallow(node: ast.With | ast.AsyncWith, *, left: bool) -> bool:
    """``with suppress(…): return x`` may go on behind the block; not ``with open(…)``.

    ``left``: whether the block ends in a jump. Who writes something behind that takes it that the
    manager swallows, be it no call (``with self.guard:``).
    """
    managers = [item.context_expr for item in node.items]
    return any(
        not (isinstance(each.func, ast.Name) and each.func.id == "open")
        if isinstance(each, ast.Call)
        else left
        for each in managers
    )


def names_taken(body: list[ast.stmt]) -> list[str]:
    """The names that ``body`` loads and binds nowhere, neither in a scope inside, in order."""
    loaded: dict[str, None] = {}
    bound: set[str] = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                loaded.setdefault(node.id)
            elif isinstance(node, ast.Name):
                bound.add(node.id)
            elif isinstance(node, Definition):
                bound.add(node.name)
            elif isinstance(node, ast.arg):
                bound.add(node.arg)
            elif isinstance(node, ast.alias):
                bound.add(node.asname or node.name.partition(".")[0])
    return [name for name in loaded if name not in bound]


def constant_texts(body: list[ast.stmt]) -> frozenset[str]:
    """The names that one assignment of a module binds to a text, and nothing else that it runs."""
    texts: set[str] = set()
    others: set[str] = set()
    for node in body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str()))
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=str()))
            ):
                (others if name in texts else texts).add(name)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                others.add(node.name)
            case ast.Assign(targets=targets):
                others.update(name for target in targets for name in _names_bound(target))
            case ast.Expr():
                pass
            case _:
                others.update(_names_bound(node))
    return frozenset(texts - others)


def _names_bound(node: ast.AST) -> Iterator[str]:
    """The names that are bound or deleted somewhere in ``node``."""
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and not isinstance(child.ctx, ast.Load):
            yield child.id
        elif isinstance(child, Definition):
            yield child.name
        elif isinstance(child, ast.alias):
            yield child.asname or child.name.partition(".")[0]
        elif isinstance(child, ast.ExceptHandler) and child.name is not None:
            yield child.name


def breaks(body: list[ast.stmt]) -> bool:
    """Whether a loop with that body may be left by ``break`` (language reference, 7.9)."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            waiting.extend(node.orelse)  # its own are for itself
        elif isinstance(node, ast.If | ast.With | ast.AsyncWith | ast.Try | ast.TryStar):
            waiting.extend(ast.iter_child_nodes(node))
        elif isinstance(node, ast.ExceptHandler):
            waiting.extend(node.body)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                waiting.extend(case.body)
    return False


def text_of(node: ast.expr) -> str:
    """The text that a constant is; "" if it is none."""
    if type(node) is ast.Constant and type(node.value) is str:
        return node.value
    return ""
