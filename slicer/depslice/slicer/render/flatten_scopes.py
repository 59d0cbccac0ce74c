"""Where every name of one module is bound and used, with positions.

Follows the Python language reference, section 4.2 ("Naming and binding"): which
block binds a name, what class blocks hide, where comprehensions, ``global``,
``nonlocal``, walrus targets and pattern captures bind. It works on :mod:`ast`
alone with an explicit stack, so that deep nesting cannot exhaust Python's.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

Position = tuple[int, int]
"""A 1-based line and a 0-based UTF-8 byte column, as :mod:`ast` reports them."""


class ScopeKind(Enum):
    """Which rules of name lookup a block follows."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    COMPREHENSION = "comprehension"
    TYPE_PARAMETERS = "type parameters"


@dataclass(slots=True, eq=False)
class Scope:
    """A block: the names it binds, and where (the end of the first binding statement).

    ``bound`` has every name bound otherwise than by an import; ``imports`` has
    the import aliases per bound name. A name can be in both.
    """

    kind: ScopeKind
    parent: Scope | None
    node: ast.AST
    bound: dict[str, Position] = field(default_factory=dict)
    imports: dict[str, list[ImportedName]] = field(default_factory=dict)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)

    def bind(self, name: str, position: Position) -> None:
        """Record a binding that is not an import."""
        self.bound[name] = min(self.bound.get(name, position), position)

    def first_binding(self, name: str) -> Position:
        """Where ``name`` is first bound; it must be bound here."""
        places = [(one.node.end_lineno or 0, 0) for one in self.imports.get(name, ())]
        if name in self.bound:
            places.append(self.bound[name])
        return min(places)

    def binds(self, name: str) -> bool:
        """Whether ``name`` belongs to this block."""
        return name in self.bound or name in self.imports


class Place(Enum):
    """What kind of source text a use of a name is."""

    NAME = "name"
    DEFINITION = "definition"  # the name after `def` or `class`
    HANDLER = "handler"  # `except E as name`
    CAPTURE = "capture"  # a capture of a match pattern
    DECLARATION = "declaration"  # `global name`


@dataclass(slots=True, eq=False)
class Use:
    """One occurrence of a name, with the attributes read off it (``a.b.c``: ``b``, ``c``).

    ``eager`` uses are evaluated when the module runs; the others belong to the
    body of ``owner``, the outermost function around them (``f``, ``C.method``).
    """

    name: str
    node: ast.AST
    scope: Scope
    place: Place
    unit: int
    eager: bool
    owner: str
    called: bool
    inherits: bool  # a base class
    stores: bool
    chain: tuple[ast.Attribute, ...] = ()
    dotted: bool = False  # must stay dotted: `m.X: int = 1`, `case m.X:`
    fstring: ast.JoinedStr | None = None

    @property
    def start(self) -> Position:
        """Where the statement or expression that holds the name starts."""
        return self.node.lineno, self.node.col_offset  # type: ignore[attr-defined]


@dataclass(slots=True, eq=False)
class ImportedName:
    """One alias of an import statement and the name that it binds."""

    node: ast.alias
    statement: ImportStatement
    bound: str


@dataclass(slots=True, eq=False)
class ImportStatement:
    """An import, where it stands, and the statements it stands among (``suite``)."""

    node: ast.Import | ast.ImportFrom
    scope: Scope
    unit: int
    suite: list[ast.stmt]
    typing_only: bool  # under a module-level `if TYPE_CHECKING:`
    direct: bool  # a top-level statement, or directly under that `if`
    guarded: bool  # inside a module-level `if` or `try`, with its lines to itself
    eager: bool
    owner: str
    names: list[ImportedName] = field(default_factory=list)

    @property
    def star(self) -> bool:
        """Whether it is ``from m import *``."""
        return any(one.name == "*" for one in self.node.names)

    @property
    def future(self) -> bool:
        """Whether it is ``from __future__ import ...``."""
        return isinstance(self.node, ast.ImportFrom) and self.node.module == "__future__"


@dataclass(slots=True, eq=False)
class ModuleScopes:
    """The blocks, imports and name uses of one module, in source order by unit.

    A *unit* is the index of a top-level statement. ``rebound`` has the module's
    names that a function rebinds through ``global``, ``deleted`` those that a
    ``del`` statement names. ``runtime_names`` has the ids of the ``__name__``
    nodes that ask for the name the code runs under (``== "__main__"``,
    ``sys.modules[__name__]``) rather than for that of the module. ``annotations``
    has those that Python evaluates or keeps, of functions and of what modules and
    classes bind; ``lazy_annotations``: as texts (``from __future__ import annotations``).
    """

    text: str
    tree: ast.Module
    scope: Scope
    uses: list[Use]
    imports: list[ImportStatement]
    rebound: frozenset[str]
    deleted: frozenset[str]
    runtime_names: frozenset[int]
    annotations: tuple[ast.expr, ...]
    lazy_annotations: bool


def read_scopes(text: str) -> ModuleScopes:
    """Analyse the source of a module.

    Raises :class:`SyntaxError` when ``text`` does not parse.
    """
    tree = ast.parse(text)
    walker = _Walker(tree, text)
    walker.run()
    rebound = _settle_declarations(walker.scopes)
    return ModuleScopes(
        text=text,
        tree=tree,
        scope=walker.scopes[0],
        uses=walker.uses,
        imports=walker.imports,
        rebound=frozenset(rebound),
        deleted=frozenset(walker.deleted),
        runtime_names=frozenset(walker.runtime_names),
        annotations=tuple(walker.annotations),
        lazy_annotations=walker.lazy_annotations,
    )


def lookup(scope: Scope, name: str, position: Position) -> Scope:
    """The block that ``name``, read at ``position`` in ``scope``, belongs to.

    The module's block when no other binds it, whether or not that one does.
    """
    current = scope
    visible = True  # a class block is visible only to the code directly in it
    while current.parent is not None:
        if name in current.global_names:
            break
        if current.kind is ScopeKind.CLASS:
            if visible and current.binds(name):
                if position >= current.first_binding(name):
                    return current
                break  # LOAD_NAME: read before the class binds it, so a global
        elif current.binds(name):
            return current
        visible = visible and current.kind is ScopeKind.TYPE_PARAMETERS
        current = current.parent
    while current.parent is not None:
        current = current.parent
    return current


def local_names(scope: Scope) -> Iterator[Scope]:
    """The blocks inside the module whose bindings hide a global from code in ``scope``."""
    current: Scope | None = scope
    visible = True
    while current is not None and current.parent is not None:
        if visible or current.kind is not ScopeKind.CLASS:
            yield current
        visible = visible and current.kind is ScopeKind.TYPE_PARAMETERS
        current = current.parent


def _settle_declarations(scopes: list[Scope]) -> set[str]:
    """Move what ``global`` and ``nonlocal`` redirect to the block it belongs to."""
    module = scopes[0]
    rebound: set[str] = set()
    for scope in scopes[1:]:
        for name in scope.global_names:
            if scope.binds(name):
                rebound.add(name)
            _move(name, scope, module)
        for name in scope.nonlocal_names:
            outer = scope.parent
            while outer is not None and (
                outer.kind not in (ScopeKind.FUNCTION, ScopeKind.TYPE_PARAMETERS)
                or not outer.binds(name)
            ):
                outer = outer.parent
            if outer is not None and outer is not module:
                _move(name, scope, outer)
                outer.bind(name, outer.first_binding(name))
    return rebound


def _move(name: str, scope: Scope, target: Scope) -> None:
    position = scope.bound.pop(name, None)
    if position is not None:
        target.bind(name, position)
    if name in scope.imports:
        target.imports.setdefault(name, []).extend(scope.imports.pop(name))


@dataclass(frozen=True, slots=True)
class _Context:
    """What the walker knows on the way down to a node."""

    scope: Scope
    unit: int
    eager: bool = True
    owner: str = ""
    path: str = ""  # the classes around, while no function is
    bind_end: Position = (0, 0)
    annotation: bool = False
    called: bool = False
    inherits: bool = False
    dotted: bool = False
    typing_only: bool = False
    top: bool = False
    fstring: ast.JoinedStr | None = None


_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
# Outside annotations, subscripts of these still hold types, perhaps as strings.
_TYPE_FORMS = frozenset(
    {
        "Awaitable",
        "Callable",
        "ClassVar",
        "Coroutine",
        "Dict",
        "Final",
        "FrozenSet",
        "Generator",
        "Iterable",
        "Iterator",
        "List",
        "Mapping",
        "MutableMapping",
        "Optional",
        "Sequence",
        "Set",
        "Tuple",
        "Type",
        "Union",
        "frozenset",
        "list",
        "set",
        "tuple",
        "type",
    }
)
_STRING_TYPED = frozenset({"cast", "TypeVar", "ForwardRef", "NewType"})


class _Walker:
    def __init__(self, tree: ast.Module, text: str) -> None:
        self._lines = text.encode().split(b"\n")
        self.scopes = [Scope(ScopeKind.MODULE, None, tree)]
        self.uses: list[Use] = []
        self.imports: list[ImportStatement] = []
        self.deleted: set[str] = set()
        self.runtime_names: set[int] = set()
        self.annotations: list[ast.expr] = []
        self._stack: list[tuple[ast.AST, _Context]] = []
        self._suites: dict[int, list[ast.stmt]] = {}
        self.lazy_annotations = any(
            isinstance(one, ast.ImportFrom)
            and one.module == "__future__"
            and any(alias.name == "annotations" for alias in one.names)
            for one in tree.body
        )
        self._tree = tree

    def run(self) -> None:
        for unit, statement in enumerate(self._tree.body):
            self._suites[id(statement)] = self._tree.body
            self._push(statement, _Context(self.scopes[0], unit, top=True))
            while self._stack:
                node, context = self._stack.pop()
                visit = _VISITORS.get(type(node))
                if visit is None:
                    self._children(node, context)
                else:
                    visit(self, node, context)
        self.imports.sort(key=lambda one: (one.node.lineno, one.node.col_offset))

    def _push(self, node: ast.AST | None, context: _Context) -> None:
        if node is not None:
            self._stack.append((node, context))

    def _suite(self, body: list[ast.stmt], context: _Context) -> None:
        for statement in body:
            self._suites[id(statement)] = body
            self._stack.append((statement, context))

    def _children(self, node: ast.AST, context: _Context) -> None:
        """Walk on; every statement that is not a block of its own passes here."""
        if isinstance(node, ast.stmt) and context.scope.kind is not ScopeKind.FUNCTION:
            context = replace(
                context,
                bind_end=(node.end_lineno or 0, node.end_col_offset or 0),
                top=False,
            )
        elif context.called:
            context = replace(context, called=False)
        for _, value in ast.iter_fields(node):
            if isinstance(value, list):
                if value and isinstance(value[0], ast.stmt):
                    self._suite(value, context)
                else:
                    for one in value:
                        if isinstance(one, ast.AST):
                            self._stack.append((one, context))
            elif isinstance(value, ast.AST):
                self._stack.append((value, context))

    def _open(self, kind: ScopeKind, parent: Scope, node: ast.AST) -> Scope:
        scope = Scope(kind, parent, node)
        self.scopes.append(scope)
        return scope

    def _use(
        self,
        name: str,
        node: ast.AST,
        context: _Context,
        place: Place,
        *,
        stores: bool,
        chain: tuple[ast.Attribute, ...] = (),
        called: bool = False,
    ) -> None:
        self.uses.append(
            Use(
                name=name,
                node=node,
                scope=context.scope,
                place=place,
                unit=context.unit,
                eager=context.eager and not context.typing_only,
                owner=context.owner,
                called=called or context.called,
                inherits=context.inherits,
                stores=stores,
                chain=chain,
                dotted=context.dotted,
                fstring=context.fstring,
            )
        )

    # Definitions

    def function(self, node: _FunctionNode, context: _Context) -> None:
        end = (node.end_lineno or 0, node.end_col_offset or 0)
        context.scope.bind(node.name, end)
        self._use(node.name, node, context, Place.DEFINITION, stores=True)
        outer = replace(context, bind_end=end, top=False)
        for decorator in node.decorator_list:
            self._push(decorator, replace(outer, called=True))
        header = self._type_parameters(node, outer)
        self._arguments(node.args, values=outer, annotations=header)
        if node.returns is not None:
            self._annotation(node.returns, header)
        inner = self._function_body(node, header, node.name)
        for argument in _all_arguments(node.args):
            inner.scope.bind(argument.arg, (0, 0))
        self._suite(node.body, inner)

    def lambda_(self, node: ast.Lambda, context: _Context) -> None:
        self._arguments(node.args, values=context, annotations=context)
        inner = self._function_body(node, context, "<lambda>")
        for argument in _all_arguments(node.args):
            inner.scope.bind(argument.arg, (0, 0))
        self._push(node.body, inner)

    def _function_body(self, node: ast.AST, context: _Context, name: str) -> _Context:
        return replace(
            context,
            scope=self._open(ScopeKind.FUNCTION, context.scope, node),
            eager=False,
            owner=context.owner or context.path + name,
            annotation=False,
            called=False,
            top=False,
        )

    def class_(self, node: ast.ClassDef, context: _Context) -> None:
        end = (node.end_lineno or 0, node.end_col_offset or 0)
        context.scope.bind(node.name, end)
        self._use(node.name, node, context, Place.DEFINITION, stores=True)
        outer = replace(context, bind_end=end, top=False)
        for decorator in node.decorator_list:
            self._push(decorator, replace(outer, called=True))
        header = self._type_parameters(node, outer)
        for base in node.bases:
            self._push(base, replace(header, inherits=True))
        for keyword in node.keywords:
            self._push(keyword, header)
        inner = replace(
            header,
            scope=self._open(ScopeKind.CLASS, header.scope, node),
            path=f"{context.path}{node.name}.",
        )
        self._suite(node.body, inner)

    def _type_parameters(self, node: ast.AST, context: _Context) -> _Context:
        parameters: list[ast.AST] = getattr(node, "type_params", [])
        if not parameters:
            return context
        scope = self._open(ScopeKind.TYPE_PARAMETERS, context.scope, node)
        inner = replace(context, scope=scope)
        for parameter in parameters:
            scope.bind(parameter.name, (0, 0))  # type: ignore[attr-defined]
            self._children(parameter, replace(inner, eager=False))
        return inner

    def type_alias(self, node: ast.AST, context: _Context) -> None:
        end = (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        outer = replace(context, bind_end=end, top=False)
        self._push(node.name, outer)  # type: ignore[attr-defined]
        header = self._type_parameters(node, outer)
        self._push(node.value, replace(header, eager=False))  # type: ignore[attr-defined]

    def _arguments(
        self, arguments: ast.arguments, *, values: _Context, annotations: _Context
    ) -> None:
        for default in (*arguments.defaults, *arguments.kw_defaults):
            self._push(default, values)
        for argument in _all_arguments(arguments):
            if argument.annotation is not None:
                self._annotation(argument.annotation, annotations)

    def _annotation(self, node: ast.expr, context: _Context) -> None:
        eager = context.eager and not self.lazy_annotations
        self.annotations.append(node)
        self._push(node, replace(context, annotation=True, eager=eager))

    # Statements

    def annotated(self, node: ast.AnnAssign, context: _Context) -> None:
        end = (node.end_lineno or 0, node.end_col_offset or 0)
        inner = replace(context, bind_end=end, top=False)
        self._push(node.target, replace(inner, dotted=True))
        self._annotation(node.annotation, inner)
        if context.scope.kind is ScopeKind.FUNCTION:
            self.annotations.pop()  # of a local variable nothing is evaluated
        alias = _last_name(node.annotation) == "TypeAlias"
        self._push(node.value, replace(inner, annotation=alias))

    def loop(self, node: ast.For | ast.AsyncFor, context: _Context) -> None:
        inner = _after(node.iter, context)
        self._push(node.target, inner)
        self._push(node.iter, inner)
        self._suite(node.body, inner)
        self._suite(node.orelse, inner)

    def while_(self, node: ast.While, context: _Context) -> None:
        inner = _after(node.test, context)
        self._push(node.test, inner)
        self._suite(node.body, inner)
        self._suite(node.orelse, inner)

    def with_(self, node: ast.With | ast.AsyncWith, context: _Context) -> None:
        inner = context
        for item in node.items:
            inner = _after(item.context_expr, context)
            self._push(item.context_expr, inner)
            self._push(item.optional_vars, inner)
        self._suite(node.body, inner)

    def match(self, node: ast.Match, context: _Context) -> None:
        inner = _after(node.subject, context)
        self._push(node.subject, inner)
        for case in node.cases:
            self._push(case.pattern, inner)
            self._push(case.guard, inner)
            self._suite(case.body, inner)

    def if_(self, node: ast.If, context: _Context) -> None:
        inner = _after(node.test, context)
        self._push(node.test, inner)
        if context.top and is_type_checking(node.test):
            self._suite(node.body, replace(inner, typing_only=True))
        else:
            self._suite(node.body, inner)
        self._suite(node.orelse, inner)

    def handler(self, node: ast.ExceptHandler, context: _Context) -> None:
        if node.name is not None:
            start = node.body[0]
            context.scope.bind(node.name, (start.lineno, start.col_offset))
            self._use(node.name, node, context, Place.HANDLER, stores=True)
        self._push(node.type, context)
        self._suite(node.body, context)

    def global_(self, node: ast.Global, context: _Context) -> None:
        if context.scope.parent is not None:
            context.scope.global_names.update(node.names)
        for name in node.names:
            self._use(name, node, context, Place.DECLARATION, stores=False)

    def nonlocal_(self, node: ast.Nonlocal, context: _Context) -> None:
        context.scope.nonlocal_names.update(node.names)

    def import_(self, node: ast.Import | ast.ImportFrom, context: _Context) -> None:
        suite = self._suites[id(node)]
        direct = context.top or (context.typing_only and suite is self._typing_suite(context.unit))
        statement = ImportStatement(
            node=node,
            scope=context.scope,
            unit=context.unit,
            suite=suite,
            typing_only=context.typing_only,
            direct=direct,
            guarded=not direct
            and not context.typing_only
            and context.scope.parent is None
            and self._alone(node),
            eager=context.eager,
            owner=context.owner,
        )
        self.imports.append(statement)
        if statement.star or statement.future:
            return
        for alias in node.names:
            bound = alias.asname or alias.name
            if isinstance(node, ast.Import):
                bound = alias.asname or alias.name.partition(".")[0]
            name = ImportedName(alias, statement, bound)
            statement.names.append(name)
            context.scope.imports.setdefault(bound, []).append(name)

    def _alone(self, node: ast.stmt) -> bool:
        before = self._lines[node.lineno - 1][: node.col_offset]
        after = self._lines[(node.end_lineno or 0) - 1][node.end_col_offset :].strip()
        return not before.strip() and (not after or after.startswith(b"#"))

    def _typing_suite(self, unit: int) -> list[ast.stmt]:
        statement = self._tree.body[unit]
        return statement.body if isinstance(statement, ast.If) else []

    # Expressions

    def name(self, node: ast.Name, context: _Context, *, called: bool = False) -> None:
        stores = not isinstance(node.ctx, ast.Load)
        if stores:
            context.scope.bind(node.id, context.bind_end)
        if isinstance(node.ctx, ast.Del) and context.scope.parent is None:
            self.deleted.add(node.id)
        self._use(node.id, node, context, Place.NAME, stores=stores, called=called)

    def attribute(self, node: ast.Attribute, context: _Context, *, called: bool = False) -> None:
        chain = [node]
        base = node.value
        while isinstance(base, ast.Attribute):
            chain.append(base)
            base = base.value
        if not isinstance(base, ast.Name):
            if context.called or context.dotted:
                context = replace(context, called=False, dotted=False)
            self._push(base, context)
            return
        stores = not isinstance(node.ctx, ast.Load)
        self._use(
            base.id,
            base,
            context,
            Place.NAME,
            stores=stores,
            chain=tuple(reversed(chain)),
            called=called,
        )

    def call(self, node: ast.Call, context: _Context) -> None:
        inner = context
        if context.called or context.annotation:
            inner = replace(context, called=False, annotation=False)
        if isinstance(node.func, ast.Name):
            self.name(node.func, inner, called=True)
        elif isinstance(node.func, ast.Attribute):
            self.attribute(node.func, inner, called=True)
        else:
            self._push(node.func, inner)
        typed = _last_name(node.func) in _STRING_TYPED
        for index, argument in enumerate(node.args):
            quoted = typed and index == 0 and isinstance(argument, ast.Constant)
            self._push(argument, replace(inner, annotation=True) if quoted else inner)
        for keyword in node.keywords:
            quoted = typed and keyword.arg == "bound"
            self._push(keyword.value, replace(inner, annotation=True) if quoted else inner)

    def subscript(self, node: ast.Subscript, context: _Context) -> None:
        inner = replace(context, called=False, dotted=False)
        self._push(node.value, inner)
        if _last_name(node.value) == "modules":
            self.runtime_names.add(id(node.slice))
        name = _last_name(node.value)
        if not context.annotation:
            # `dict["key"]` is an item of a variable with an unfortunate name.
            typed = name in _TYPE_FORMS or (name == "dict" and isinstance(node.slice, ast.Tuple))
            self._push(node.slice, replace(inner, annotation=typed))
            return
        plain = replace(inner, annotation=False)
        if name == "Literal":
            self._push(node.slice, plain)
        elif name == "Annotated" and isinstance(node.slice, ast.Tuple):
            for index, one in enumerate(node.slice.elts):
                self._push(one, plain if index else inner)
        else:
            self._push(node.slice, inner)

    def constant(self, node: ast.Constant, context: _Context) -> None:
        """A string in an annotation is parsed, and its names get real positions."""
        if not context.annotation or not isinstance(node.value, str):
            return
        if context.fstring is not None or node.lineno != node.end_lineno:
            return
        width = (node.end_col_offset or 0) - node.col_offset
        extra = width - len(node.value.encode())
        # A plain literal: two or six quote bytes, perhaps a `u`, no escapes.
        if extra not in (2, 3, 6, 7) or "\\" in node.value:
            return
        prefix = 1 if extra in (3, 7) else 0
        try:
            parsed = ast.parse(node.value, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        shift = node.col_offset + prefix + (extra - prefix) // 2
        for one in ast.walk(parsed):
            if isinstance(one, ast.expr):
                one.lineno = one.end_lineno = node.lineno
                one.col_offset += shift
                one.end_col_offset = (one.end_col_offset or 0) + shift
        self._push(parsed, replace(context, eager=False))

    def compare(self, node: ast.Compare, context: _Context) -> None:
        sides = [node.left, *node.comparators]
        if any(isinstance(one, ast.Constant) and one.value == "__main__" for one in sides):
            self.runtime_names.update(map(id, sides))
        self._children(node, context)

    def walrus(self, node: ast.NamedExpr, context: _Context) -> None:
        scope = context.scope
        while scope.kind is ScopeKind.COMPREHENSION and scope.parent is not None:
            scope = scope.parent
        self._push(node.value, context)
        self._push(node.target, replace(_after(node.value, context), scope=scope))

    def comprehension(self, node: ast.AST, context: _Context) -> None:
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        inner = replace(
            context,
            scope=self._open(ScopeKind.COMPREHENSION, context.scope, node),
            bind_end=(0, 0),
            called=False,
        )
        self._push(generators[0].iter, replace(context, called=False))
        for index, generator in enumerate(generators):
            self._push(generator.target, inner)
            if index:
                self._push(generator.iter, inner)
            for condition in generator.ifs:
                self._push(condition, inner)
        for part in ("elt", "key", "value"):
            self._push(getattr(node, part, None), inner)

    def joined(self, node: ast.JoinedStr, context: _Context) -> None:
        self._children(node, replace(context, fstring=context.fstring or node))

    # Patterns

    def capture(self, node: ast.MatchAs | ast.MatchStar, context: _Context) -> None:
        if node.name is not None:
            context.scope.bind(node.name, context.bind_end)
            self._use(node.name, node, context, Place.CAPTURE, stores=True)
        self._children(node, context)

    def match_value(self, node: ast.MatchValue, context: _Context) -> None:
        """A value pattern: with its dots gone it would be a capture."""
        self._push(node.value, replace(context, dotted=isinstance(node.value, ast.Attribute)))

    def capture_rest(self, node: ast.MatchMapping, context: _Context) -> None:
        if node.rest is not None:
            context.scope.bind(node.rest, context.bind_end)
            self._use(node.rest, node, context, Place.CAPTURE, stores=True)
        for key in node.keys:
            self._push(key, replace(context, dotted=isinstance(key, ast.Attribute)))
        for pattern in node.patterns:
            self._push(pattern, context)


_VISITORS: dict[type[ast.AST], Callable[[_Walker, Any, _Context], None]] = {
    ast.FunctionDef: _Walker.function,
    ast.AsyncFunctionDef: _Walker.function,
    ast.Lambda: _Walker.lambda_,
    ast.ClassDef: _Walker.class_,
    ast.AnnAssign: _Walker.annotated,
    ast.For: _Walker.loop,
    ast.AsyncFor: _Walker.loop,
    ast.While: _Walker.while_,
    ast.With: _Walker.with_,
    ast.AsyncWith: _Walker.with_,
    ast.Match: _Walker.match,
    ast.If: _Walker.if_,
    ast.ExceptHandler: _Walker.handler,
    ast.Global: _Walker.global_,
    ast.Nonlocal: _Walker.nonlocal_,
    ast.Import: _Walker.import_,
    ast.ImportFrom: _Walker.import_,
    ast.Name: _Walker.name,
    ast.Attribute: _Walker.attribute,
    ast.Call: _Walker.call,
    ast.Subscript: _Walker.subscript,
    ast.Constant: _Walker.constant,
    ast.Compare: _Walker.compare,
    ast.NamedExpr: _Walker.walrus,
    ast.ListComp: _Walker.comprehension,
    ast.SetComp: _Walker.comprehension,
    ast.DictComp: _Walker.comprehension,
    ast.GeneratorExp: _Walker.comprehension,
    ast.JoinedStr: _Walker.joined,
    ast.MatchValue: _Walker.match_value,
    ast.MatchAs: _Walker.capture,
    ast.MatchStar: _Walker.capture,
    ast.MatchMapping: _Walker.capture_rest,
}
if hasattr(ast, "TypeAlias"):
    _VISITORS[ast.TypeAlias] = _Walker.type_alias


def is_type_checking(test: ast.expr) -> bool:
    """Whether an ``if`` test is ``TYPE_CHECKING`` or ``typing.TYPE_CHECKING``."""
    return _last_name(test) == "TYPE_CHECKING"


def _after(header: ast.expr, context: _Context) -> _Context:
    """What is known in the suites of a statement, whose names are bound once ``header`` has run."""
    end = (header.end_lineno or 0, header.end_col_offset or 0)
    return replace(context, bind_end=end, top=False)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    if arguments.vararg is not None:
        every.append(arguments.vararg)
    if arguments.kwarg is not None:
        every.append(arguments.kwarg)
    return every
