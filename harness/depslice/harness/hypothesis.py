"""``hypothesis``: arguments that are made up, for functions that no test reaches, too.

What they may be is taken, in this order, from recorded calls (real values and values near
to them), examples in docstrings, annotations, and defaults. Receivers are made by their
constructors. The harness uses Hypothesis, with a fixed seed.
"""

from __future__ import annotations

import ast
import doctest
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Final, NamedTuple, TypeVar

from depslice.callgraph.definitions import definitions_of, tree_of
from depslice.callgraph.program import Program
from depslice.harness.model import (
    Attempt,
    Declined,
    Draft,
    GeneratorUnavailable,
    RecordedCall,
    Settings,
    Task,
)
from depslice.harness.writing import call_lines, harness_text

_EXAMPLES: Final = (60, 300)  # in the first round and in the second
_MOST_EXPLICIT: Final = 12
_DEEPEST: Final = 3
_ANYTHING: Final = "st.one_of(st.none(), st.integers(-3, 12), st.text(max_size=6), st.lists(st.integers(0, 9), max_size=4))"
_BASIC: Final = {
    "int": "st.one_of(st.integers(-3, 12), st.integers())",
    "float": "st.floats(allow_nan=False)",
    "str": "st.text(max_size=12)",
    "bytes": "st.binary(max_size=12)",
    "bool": "st.booleans()",
    "None": "st.none()",
    "complex": "st.complex_numbers(allow_nan=False)",
    "object": "st.integers(-3, 12)",
    "datetime": "st.datetimes()",
    "date": "st.dates()",
    "timedelta": "st.timedeltas()",
    "Decimal": "st.decimals(allow_nan=False, allow_infinity=False)",
    "Fraction": "st.fractions()",
}
_LISTS: Final = {"list", "List", "Sequence", "Iterable", "Collection", "MutableSequence"}
_SETS: Final = {"set", "Set", "AbstractSet", "MutableSet"}
_MAPPINGS: Final = {"dict", "Dict", "Mapping", "MutableMapping"}
_ENUMS: Final = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Kind = TypeVar("_Kind", bound=ast.stmt)


_MADE_UP: Final = """\
CALLS = st.tuples(
    {positional},
    {keywords},
)"""
# What `*args` and `**kwargs` take comes after what has a name.
_WITH_MORE: Final = "st.builds(lambda named, more: (*named, *more), {named}, {more})"
_WITH_MORE_KEYWORDS: Final = "st.builds(lambda named, more: {{**more, **named}}, {named}, {more})"
_MORE: Final = 3
_KEYWORDS: Final = ("one", "two", "three")
_TEST: Final = """\
@seed({seed})
@settings(
    max_examples={examples},
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(call=CALLS)
def test_made_up(context, call):
    context.check_with(lambda: {made})"""
_COPIED: Final = "copy.deepcopy(call)"
# What has nothing in it yet may not know how to be copied: its `__getattr__` asks for a field.
_WITH_A_NEW_ONE: Final = "((_new(), *copy.deepcopy(call[0])), copy.deepcopy(call[1]))"
_NEW: Final = "def _new():\n    return {name}.__new__({name})"


class Unknown(Exception):
    """Nothing is known of what a parameter may be."""


class HypothesisGenerator:
    """See the module. A second round draws more, if the first came to its end."""

    name = "hypothesis"
    needs_calls = False
    rounds = 2

    def __init__(self, settings: Settings) -> None:
        if find_spec("hypothesis") is None:
            raise GeneratorUnavailable(
                "Hypothesis is not installed", hint="pip install 'depslice[harness]'"
            )
        self._seed = settings.seed

    def draft(self, task: Task, attempts: Sequence[Attempt]) -> Sequence[Draft] | Declined:
        """See :class:`depslice.harness.HarnessGenerator`."""
        if attempts and attempts[-1].assessment.fails:
            return Declined(slug="nothing-left", message="the target differs from itself")
        try:
            signature = _signature(task)
            return [_draft(task, signature, _EXAMPLES[len(attempts)], self._seed)]
        except Unknown as error:
            return Declined(slug="unknown-arguments", message=str(error))


class _Class(NamedTuple):
    """A class at the top of a module."""

    module: str
    node: ast.ClassDef


class _Names:
    """What names of modules stand for, imports followed."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._trees: dict[str, ast.Module | None] = {}

    def tree(self, module: str) -> ast.Module | None:
        """The syntax of a module of the repository, if it can be read."""
        if module not in self._trees:
            self._trees[module] = tree_of(self._program, module)
        return self._trees[module]

    def named(self, module: str, name: str) -> _Class | None:
        """The class that ``name`` is in a module."""
        for place, node in self._statements(module, name, ast.ClassDef):
            if node.name == name.rpartition(".")[2]:
                return _Class(place, node)
        return None

    def alias(self, module: str, name: str) -> tuple[str, ast.expr] | None:
        """What a module assigns to ``name``, and the module where that stands."""
        for place, node in self._statements(module, name, ast.stmt):
            match node:
                case ast.Assign(targets=[ast.Name(id=bound)], value=value) if bound == name:
                    return place, value
                case ast.AnnAssign(target=ast.Name(id=bound), value=ast.expr() as value):
                    if bound == name:
                        return place, value
        return None

    def _statements(self, module: str, name: str, kind: type[_Kind]) -> Iterator[tuple[str, _Kind]]:
        meant = self._program.definitions(module, name)
        for place in dict.fromkeys([*(each.partition(":")[0] for each in meant), module]):
            tree = self.tree(place)
            for node in _within(tree.body) if tree is not None else ():
                if isinstance(node, kind):
                    yield place, node


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signature:
    """A target in its module: where it stands, and what it is called with."""

    node: _Function
    owner: _Class | None
    names: _Names
    module: str
    receiver: str = ""  # '', 'instance', 'class' or 'class-passed'


def _signature(task: Task) -> _Signature:
    module, _, qualname = task.target.id.partition(":")
    names = _Names(task.program)
    tree = names.tree(module)
    if tree is None:
        raise Unknown(f"{module} cannot be read")
    outer = qualname.partition(".<locals>")[0]
    found = definitions_of(tree, outer, task.target.span.start)
    if found is None:
        raise Unknown(f"{outer} is not in {module}")
    owner = _Class(module, found.owner) if isinstance(found.owner, ast.ClassDef) else None
    return _Signature(
        node=found.chosen,
        owner=owner,
        names=names,
        module=module,
        receiver=_receiver(found.chosen, found.owner),
    )


def _within(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The statements of a scope, through ``if`` and ``try``."""
    for each in body:
        yield each
        if isinstance(each, (ast.If, ast.Try, ast.With, ast.ExceptHandler)):
            yield from _within(list(ast.iter_child_nodes(each)))


def _receiver(node: _Function, owner: ast.AST) -> str:
    decorators = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
    if not isinstance(owner, ast.ClassDef) or "staticmethod" in decorators:
        return ""
    if "classmethod" in decorators:
        return "class"
    return "class-passed" if node.name == "__new__" else "instance"


def _draft(task: Task, signature: _Signature, examples: int, seed: int) -> Draft:
    known = [call for call in task.calls if call.arguments is not None]
    chosen = sorted(known, key=lambda each: -each.arcs)[:_MOST_EXPLICIT]
    writer = _Writer(signature, _seen(chosen))
    strategies = writer.call()
    imports = [
        "from hypothesis import HealthCheck, Phase, given, seed, settings",
        "from hypothesis import strategies as st",
    ]
    imports += [line for call in chosen for line in call.imports]
    imports += [f"import {module}" for module in writer.modules]
    parts = []
    for number, call in enumerate(chosen, 1):
        body = call_lines("context.check(", call.arguments or "", ")", 4)
        parts.append(f"def test_recorded_{number}(context):\n{body}")
    positional, keywords = strategies
    parts += [_MADE_UP.format(positional=positional, keywords=keywords)]
    made = _COPIED
    if writer.new:
        parts.insert(0, _NEW.format(name=writer.new))
        made = _WITH_A_NEW_ONE
    parts += [_TEST.format(seed=seed, examples=examples, made=made)]
    imports.append("import copy")
    says = f"Made-up calls of {task.target.id}. Written by depslice (hypothesis)."
    return Draft(
        text=harness_text(task.target.id, says, imports, parts),
        provenance={"recorded": len(chosen), "examples": examples, "from": writer.sources()},
    )


def _seen(calls: Sequence[RecordedCall]) -> dict[object, list[ast.expr]]:
    """Literal arguments of recorded calls, by position or keyword."""
    found: dict[object, list[ast.expr]] = {}
    for each in calls:
        try:
            call = ast.parse(f"f({each.arguments})", mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            continue
        if isinstance(call, ast.Call):
            for number, value in enumerate(call.args):
                found.setdefault(number, []).append(value)
            for keyword in call.keywords:
                if keyword.arg:
                    found.setdefault(keyword.arg, []).append(keyword.value)
    return found


@dataclass(slots=True)
class _Writer:
    """Writes strategies, as source."""

    signature: _Signature
    seen: Mapping[object, Sequence[ast.expr]]
    modules: set[str] = field(default_factory=set)
    used: list[str] = field(default_factory=list)
    new: str = ""  # the class of whose instances the target is the constructor

    def sources(self) -> list[str]:
        """Where the strategies were taken from."""
        return sorted(set(self.used))

    def call(self) -> tuple[str, str]:
        """Strategies for positional arguments, and for keywords.

        :raises Unknown: see there.
        """
        args = self.signature.node.args
        plain = [*args.posonlyargs, *args.args]
        defaults: list[ast.expr | None] = [None] * (len(plain) - len(args.defaults))
        defaults += args.defaults
        positional = []
        start = 0
        if self.signature.receiver == "instance":
            positional += self._receiver()
            plain, defaults = plain[1:], defaults[1:]
            start = 1
        elif self.signature.receiver == "class":
            plain, defaults = plain[1:], defaults[1:]
        elif self.signature.receiver == "class-passed":
            assert self.signature.owner is not None
            positional.append(f"st.just({self._class_name(self.signature.owner)})")
            plain, defaults = plain[1:], defaults[1:]
            start = 1
        for number, (each, default) in enumerate(zip(plain, defaults, strict=True), start):
            positional.append(self._parameter(each, default, number))
        keywords: list[str] = []
        optional: list[str] = []
        for each, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            text = f"{each.arg!r}: {self._parameter(each, default, each.arg)}"
            (keywords if default is None else optional).append(text)
        tail = f", optional={{{', '.join(optional)}}}" if optional else ""
        given = f"st.tuples({''.join(f'{each}, ' for each in positional)})"
        named = f"st.fixed_dictionaries({{{', '.join(keywords)}}}{tail})"
        if args.vararg is not None:
            more = self._more(args.vararg, _behind(self.seen, start + len(plain)))
            given = _WITH_MORE.format(named=given, more=f"st.lists({more}, max_size={_MORE})")
        if args.kwarg is not None:
            own = {each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
            others = [name for name in self.seen if isinstance(name, str) and name not in own]
            more = self._more(args.kwarg, others)
            keys = _sampled(others or [name for name in _KEYWORDS if name not in own])
            more = f"st.dictionaries({keys}, {more}, max_size={_MORE})"
            named = _WITH_MORE_KEYWORDS.format(named=named, more=more)
        return given, named

    def _more(self, parameter: ast.arg, places: Sequence[object]) -> str:
        """What ``*args`` or ``**kwargs`` may take, one at a time."""
        known = None if parameter.annotation is None else self._known(parameter.annotation)
        options = [text for text in (self._recorded(*places), known) if text]
        if not options:
            self.used.append("nothing")
            return _ANYTHING
        return options[0] if len(options) == 1 else f"st.one_of({', '.join(options)})"

    def _class_name(self, owner: _Class) -> str:
        tree = self.signature.names.tree(owner.module)
        tops = [n for n in _within(tree.body) if isinstance(n, ast.ClassDef)] if tree else []
        if owner.node not in tops:
            raise Unknown(f"{owner.node.name} is not at the top of its module")
        self.modules.add(owner.module)
        return f"{owner.module}.{owner.node.name}"

    def _receiver(self) -> list[str]:
        """Instances, recorded or made by the constructor; what is constructed is made anew."""
        owner = self.signature.owner
        recorded = self._recorded(0)
        if recorded:
            return [recorded]
        assert owner is not None
        if "type" in (lines := self._lines(owner)):
            return [self._classes_of(owner)]
        if self.signature.node.name == "__init__" and not lines & _ENUMS:
            self.new = self._class_name(owner)
            return []
        return [self._instances(owner, 0)]

    def _lines(self, owner: _Class) -> set[str]:
        """The names of all bases of a class that are not the repository's."""
        found: set[str] = set()
        todo, seen = [owner], {owner}
        while todo:
            each = todo.pop()
            for base in each.node.bases:
                name = ast.unparse(base)
                known = self.signature.names.named(each.module, name)
                if known is None:
                    found.add(name.rpartition(".")[2])
                elif known not in seen:
                    seen.add(known)
                    todo.append(known)
        return found

    def _beside(self, owner: _Class) -> Iterator[_Class]:
        """The classes of the same module."""
        tree = self.signature.names.tree(owner.module)
        for each in _within(tree.body) if tree is not None else ():
            if isinstance(each, ast.ClassDef):
                yield _Class(owner.module, each)

    def _concrete(self, owner: _Class) -> _Class:
        """The class itself, or one that extends it and has the methods it leaves open."""
        lacks = {
            each.name for each in owner.node.body if isinstance(each, _Function) and _is_open(each)
        }
        for each in self._beside(owner) if lacks else ():
            bases = {ast.unparse(base) for base in each.node.bases}
            has = {f.name for f in each.node.body if isinstance(f, _Function) and not _is_open(f)}
            if owner.node.name in bases and lacks <= has:
                return each
        return owner

    def _classes_of(self, metaclass: _Class) -> str:
        """The classes of its module that a metaclass has made."""
        made = [
            self._class_name(each)
            for each in self._beside(metaclass)
            if any(
                keyword.arg == "metaclass" and ast.unparse(keyword.value) == metaclass.node.name
                for keyword in each.node.keywords
            )
        ]
        if not made:
            raise Unknown(f"no class of {metaclass.module} has the metaclass {metaclass.node.name}")
        self.used.append("classes")
        return f"st.sampled_from([{', '.join(made)}])"

    def _instances(self, owner: _Class, depth: int) -> str:
        if depth > _DEEPEST:
            raise Unknown(f"{owner.node.name} is made of too much")
        owner = self._concrete(owner)
        name = self._class_name(owner)
        if self._lines(owner) & _ENUMS:
            return f"st.sampled_from({name})"
        module, fields = self._fields(owner, frozenset())
        self.used.append("constructors")
        given = [f"{each.arg}={self._annotated(each, depth + 1, module)}" for each in fields]
        return f"st.builds({', '.join([name, *given])})"

    def _fields(self, owner: _Class, below: frozenset[str]) -> tuple[str, list[ast.arg]]:
        """What the constructor cannot do without, and the module of the class that has it."""
        node = owner.node
        for each in node.body:
            if isinstance(each, ast.FunctionDef) and each.name == "__init__":
                args = each.args
                plain = [*args.posonlyargs, *args.args][1:]
                needed = plain[: max(0, len(plain) - len(args.defaults))]
                only = zip(args.kwonlyargs, args.kw_defaults, strict=True)
                return owner.module, [*needed, *(a for a, default in only if default is None)]
        if any("dataclass" in ast.unparse(d) for d in node.decorator_list):
            return owner.module, [
                ast.arg(arg=each.target.id, annotation=each.annotation)
                for each in node.body
                if isinstance(each, ast.AnnAssign)
                and isinstance(each.target, ast.Name)
                and each.value is None
                and "ClassVar" not in ast.unparse(each.annotation)
            ]
        below |= {f"{owner.module}.{node.name}"}
        for base in node.bases:
            known = self.signature.names.named(owner.module, ast.unparse(base))
            if known is not None and f"{known.module}.{known.node.name}" not in below:
                return self._fields(known, below)
        return owner.module, []

    def _annotated(self, parameter: ast.arg, depth: int, module: str) -> str:
        if parameter.annotation is None:
            self.used.append("nothing")
            return _ANYTHING
        return self._of_annotation(parameter.annotation, depth, module)

    def _parameter(self, parameter: ast.arg, default: ast.expr | None, place: object) -> str:
        options = [
            text
            for text in (
                self._recorded(place),
                self._examples(parameter.arg, place),
                None if parameter.annotation is None else self._known(parameter.annotation),
                self._default(default),
            )
            if text
        ]
        if not options:
            self.used.append("nothing")
            return _ANYTHING
        return options[0] if len(options) == 1 else f"st.one_of({', '.join(options)})"

    def _known(self, annotation: ast.expr) -> str | None:
        try:
            return self._of_annotation(annotation, 0, self.signature.module)
        except Unknown:
            return None

    def _default(self, default: ast.expr | None) -> str | None:
        if default is None:
            return None
        try:
            value = ast.literal_eval(default)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None
        self.used.append("defaults")
        near = _BASIC.get(type(value).__name__)
        return f"st.one_of(st.just({value!r}), {near})" if near else f"st.just({value!r})"

    def _recorded(self, *places: object) -> str | None:
        """Values of recorded calls, and their neighbours."""
        seen = [each for place in places for each in self.seen.get(place, ())]
        texts = dict.fromkeys(map(ast.unparse, seen))
        if not texts:
            return None
        self.used.append("recorded")
        found = f"st.sampled_from([{', '.join(texts)}])"
        near = {kind for text in texts if (kind := _literal_kind(text)) in _NEAR}
        return " | ".join(
            [found, *(_NEAR[kind].format(values=_only(texts, kind)) for kind in sorted(near))]
        )

    def _examples(self, name: str, place: object) -> str | None:
        """Literal arguments of calls in docstrings."""
        values: dict[str, None] = {}
        node = self.signature.node
        for text in (ast.get_docstring(node, clean=True),):
            for call in _documented_calls(text or "", node.name):
                at = (
                    place - (self.signature.receiver == "instance")
                    if isinstance(place, int)
                    else None
                )
                given = [k.value for k in call.keywords if k.arg == name]
                if at is not None and 0 <= at < len(call.args):
                    given.append(call.args[at])
                for value in given:
                    if _literal_kind(ast.unparse(value)) is not None:
                        values[ast.unparse(value)] = None
        if not values:
            return None
        self.used.append("docstring")
        return f"st.sampled_from([{', '.join(values)}])"

    def _of_annotation(self, annotation: ast.expr, depth: int, module: str) -> str:
        """What an annotation of ``module`` stands for.

        :raises Unknown: nobody knows.
        """
        if depth > _DEEPEST:
            raise Unknown("annotations are nested too deep")
        match annotation:
            case ast.Constant(value=None):
                return _BASIC["None"]
            case ast.Constant(value=str(text)):
                return self._of_annotation(_parsed(text), depth, module)
            case ast.BinOp(op=ast.BitOr(), left=left, right=right):
                return self._either((left, right), depth, module)
            case ast.Name() | ast.Attribute():
                return self._of_name(ast.unparse(annotation).rpartition(".")[2], depth, module)
            case ast.Subscript(value=value, slice=inner):
                items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                return self._of_generic(ast.unparse(value).rpartition(".")[2], items, depth, module)
            case _:
                raise Unknown(f"nothing is known of {ast.unparse(annotation)}")

    def _either(self, options: Sequence[ast.expr], depth: int, module: str) -> str:
        found = []
        for each in options:
            try:
                found.append(self._of_annotation(each, depth, module))
            except Unknown:
                continue
        if not found:
            raise Unknown("nothing is known of any of these types")
        return f"st.one_of({', '.join(found)})"

    def _of_name(self, name: str, depth: int, module: str) -> str:
        self.used.append("annotations")
        if name in _BASIC:
            return _BASIC[name]
        if name in _LISTS | {"tuple", "Tuple"}:
            return "st.lists(st.integers(-3, 12), max_size=5)"
        if name in _MAPPINGS:
            return "st.dictionaries(st.text(max_size=4), st.integers(-3, 12), max_size=4)"
        if name in _SETS:
            return "st.sets(st.integers(-3, 12), max_size=5)"
        if name == "Any":
            return _ANYTHING
        known = self.signature.names.named(module, name)
        if known is None:
            alias = self.signature.names.alias(module, name)
            if alias is None:
                raise Unknown(f"nothing is known of {name}")
            place, value = alias
            return self._of_annotation(value, depth + 1, place)
        return self._instances(known, depth + 1)

    def _of_generic(self, name: str, items: Sequence[ast.expr], depth: int, module: str) -> str:
        deeper = depth + 1
        match name:
            case "Optional":
                return f"st.none() | {self._of_annotation(items[0], deeper, module)}"
            case "Union":
                return self._either(items, deeper, module)
            case "Literal":
                return f"st.sampled_from([{', '.join(map(ast.unparse, items))}])"
            case "Annotated" | "Final" | "ClassVar":
                return self._of_annotation(items[0], deeper, module)
            case "tuple" | "Tuple" if len(items) == 2 and ast.unparse(items[1]) == "...":
                inner = self._of_annotation(items[0], deeper, module)
                return f"st.lists({inner}, max_size=5).map(tuple)"
            case "tuple" | "Tuple":
                inner = ", ".join(self._of_annotation(each, deeper, module) for each in items)
                return f"st.tuples({inner})"
            case _ if name in _LISTS:
                return f"st.lists({self._of_annotation(items[0], deeper, module)}, max_size=5)"
            case _ if name in _SETS:
                return f"st.sets({self._of_annotation(items[0], deeper, module)}, max_size=5)"
            case _ if name in _MAPPINGS and len(items) == 2:
                key, value = (self._of_annotation(each, deeper, module) for each in items)
                return f"st.dictionaries({key}, {value}, max_size=4)"
            case _:
                raise Unknown(f"nothing is known of {name}")


_NEAR: Final = {
    "int": "st.builds(lambda a, b: a + b, st.sampled_from([{values}]), st.integers(-2, 2))",
    "float": "st.builds(lambda a, b: a * b, st.sampled_from([{values}]), st.sampled_from([-1.0, 0.5, 2.0]))",
    "str": "st.builds(lambda a, b, c: (a + b)[c:], st.sampled_from([{values}]), st.sampled_from([{values}, '']), st.integers(-9, 3))",
    "list": "st.builds(lambda a, b, c: (a + b)[c:], st.sampled_from([{values}]), st.sampled_from([{values}, []]), st.integers(-3, 2))",
}


def _is_open(function: _Function) -> bool:
    return any("abstract" in ast.unparse(each) for each in function.decorator_list)


def _sampled(names: Sequence[str]) -> str:
    return f"st.sampled_from([{', '.join(map(repr, names))}])"


def _behind(seen: Mapping[object, Sequence[ast.expr]], start: int) -> list[int]:
    """The places of recorded arguments from ``start`` on."""
    return sorted(place for place in seen if isinstance(place, int) and place >= start)


def _literal_kind(text: str) -> str | None:
    try:
        return type(ast.literal_eval(text)).__name__
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _only(texts: Sequence[str] | Mapping[str, None], kind: str) -> str:
    return ", ".join(each for each in texts if _literal_kind(each) == kind)


def _documented_calls(text: str, name: str) -> Iterator[ast.Call]:
    try:
        examples = doctest.DocTestParser().get_examples(text)
    except ValueError:
        return
    for each in examples:
        try:
            tree = ast.parse(each.source)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == name:
                yield node


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        raise Unknown(f"{text!r} is no annotation") from None
