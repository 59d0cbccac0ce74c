"""Expressions to operations."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias, TypeVar

from depslice.callgraph import summary as s
from depslice.callgraph.lowering.annotations import type_expression
from depslice.callgraph.lowering.frame import ClassScope, Environment, Frame
from depslice.callgraph.lowering.narrowing import Narrowing
from depslice.callgraph.lowering.standing import LONGEST, Elements, Line, between, changed
from depslice.callgraph.lowering.syntax import known_truth, names_taken, text_of
from depslice.callgraph.summary import Op, Position, Register, pack
from depslice.callgraph.templates import Field, conversions_of, fields_of, words_of_data

BINARY_DUNDERS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "matmul",
    ast.Div: "truediv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.BitAnd: "and",
    ast.FloorDiv: "floordiv",
}
COMPARE_DUNDERS: dict[type[ast.cmpop], str] = {
    ast.Eq: "__eq__",
    ast.NotEq: "__ne__",
    ast.Lt: "__lt__",
    ast.LtE: "__le__",
    ast.Gt: "__gt__",
    ast.GtE: "__ge__",
}
UNARY_DUNDERS: dict[type[ast.unaryop], str] = {
    ast.UAdd: "__pos__",
    ast.USub: "__neg__",
    ast.Invert: "__invert__",
}
_CONSTANTS: dict[type, Register] = {
    type(None): s.NONE,
    int: s.INT,
    str: s.STR,
    bytes: s.BYTES,
    float: s.FLOAT,
    bool: s.BOOL,
}
# Generic forms of `typing` and of the classes PEP 585 made subscriptable: a string among
# their arguments is a forward reference, wherever it stands.
_TYPING_FORMS = frozenset(
    [
        "AbstractSet",
        "Annotated",
        "AnyStr",
        "AsyncContextManager",
        "AsyncGenerator",
        "AsyncIterable",
        "AsyncIterator",
        "Awaitable",
        "Callable",
        "ChainMap",
        "ClassVar",
        "Collection",
        "Concatenate",
        "Container",
        "ContextManager",
        "Coroutine",
        "Counter",
        "DefaultDict",
        "Deque",
        "Dict",
        "Final",
        "FrozenSet",
        "Generator",
        "Generic",
        "Hashable",
        "InitVar",
        "ItemsView",
        "Iterable",
        "Iterator",
        "KeysView",
        "List",
        "Mapping",
        "MappingView",
        "Match",
        "MutableMapping",
        "MutableSequence",
        "MutableSet",
        "NotRequired",
        "Optional",
        "OrderedDict",
        "Pattern",
        "Protocol",
        "ReadOnly",
        "Required",
        "Reversible",
        "Sequence",
        "Set",
        "Sized",
        "Tuple",
        "Type",
        "TypeAlias",
        "TypeGuard",
        "TypeIs",
        "Union",
        "Unpack",
        "ValuesView",
        "defaultdict",
        "deque",
        "dict",
        "frozenset",
        "list",
        "set",
        "tuple",
        "type",
    ]
)
_DYNAMIC = frozenset({"exec", "eval", "globals", "locals", "vars", "__import__"})
_STARRED = (ast.Starred, ast.MatchStar)
_BLANK = re.compile(r"\s")
_CALLING = re.compile(r"\.[A-Za-z_]\w*\(")
"""Code in a text: a piece of an f-string that has a blank is kept for the sake of that alone."""
_BY_NAME = frozenset({"getattr", "setattr", "delattr", "hasattr"})
_QUIET = frozenset({"callable", "hasattr", "id", "isinstance", "issubclass", "len", "type"})
"""Builtins whose calls rebind nothing worth asking for."""
_ACCESSES = {"setattr": "write", "delattr": "delete"}
_OF_NAMESPACES = frozenset({"__delattr__", "__dict__", "__setattr__", "delattr", "setattr"})
_STORING = _DYNAMIC | {"__builtins__", "delattr", "setattr"}
"""Names of what stores under any name, if somebody gets it who calls it under another one."""
_LONGEST_CODE = 2000
_LARGEST_KEY = 1 << 32  # longer numbers are data
_LONGEST_NAMING = 4000

_Target = TypeVar("_Target", ast.expr, ast.pattern)

Assumed: TypeAlias = dict[str, tuple[tuple[tuple[int, ...] | None, ast.expr, bool | int], ...]]
"""What blocks of the module assume of its names: how they were bound, and what was shown of that."""
CAUGHT = 6
"""What stands there for what a handler catches: nothing but its classes is known of that."""


def _patched(call: ast.Call) -> Iterator[str]:
    """The name that ``mock.patch("package.module.name", …)`` or ``patch.object(x, "name", …)`` stores."""
    match call:
        case (
            ast.Call(func=ast.Attribute(attr="object"), args=[_, ast.Constant(value=str(text)), *_])
            | ast.Call(
                func=ast.Attribute(attr="patch") | ast.Name(id="patch"),
                args=[ast.Constant(value=str(text)), *_],
            )
        ):
            yield text.rpartition(".")[2]


class ExpressionLowering(Narrowing):
    """Lowers expressions into the current frame; statements are its subclass's."""

    line: Line  # of the module's statements
    module_versions: dict[str, tuple[int, ...]]
    stars: list[int]  # the star imports so far: any name may come by them
    dynamic: list[tuple[Position, str]]

    def __init__(self) -> None:
        super().__init__()
        self.constant_texts: frozenset[str] = frozenset()  # names of the module
        self.flags: frozenset[str] = frozenset()  # that only type checkers take for true
        self.unseen: set[ast.expr] = set()  # values overwritten where nobody can have read them
        self.assumed: Assumed = {}
        self._lower: dict[type, Callable[[Any], Register]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
            ast.Constant: self._constant,
            ast.Subscript: self._subscript,
            ast.BinOp: self._binary,
            ast.BoolOp: self._boolean,
            ast.Compare: self._compare,
            ast.UnaryOp: self._unary,
            ast.IfExp: self._conditional,
            ast.Tuple: self._sequence,
            ast.List: self._sequence,
            ast.Set: self._sequence,
            ast.Dict: self._mapping,
            ast.JoinedStr: self._formatted,
            ast.FormattedValue: self._formatted_value,
            ast.ListComp: self._comprehension,
            ast.SetComp: self._comprehension,
            ast.GeneratorExp: self._comprehension,
            ast.DictComp: self._dict_comprehension,
            ast.Lambda: self.lower_lambda,
            ast.NamedExpr: self._walrus,
            ast.Await: self._await,
            ast.Yield: self._yield,
            ast.YieldFrom: self._yield_from,
            ast.Starred: self._starred,
            ast.Slice: self._slice,
        }

    def expression(self, node: ast.expr) -> Register:
        """Lower ``node``; the register that holds its value."""
        return self._lower.get(type(node), self._unknown)(node)

    # Implemented by the statement lowering.
    def lower_lambda(self, node: ast.Lambda) -> Register:
        """Lower a lambda: a unit of its own."""
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Register) -> None:
        """Bind ``target`` to ``value``."""
        raise NotImplementedError

    def _unknown(self, _node: ast.expr) -> Register:
        return s.OPAQUE

    # --- names

    def _name(self, node: ast.Name) -> Register:
        line = self.frame.line
        if line.lists or line.inside:
            line.read(node.id)
        if node.id in _STORING:
            self.frame.flags |= s.STORES_ANY  # who has it may call it
        return self.load(node.id, node.lineno << 12 | min(node.col_offset, 4095))

    def load(self, name: str, pos: Position) -> Register:
        """The value of ``name`` here, by the scope rules of the language reference, 4.2.2."""
        frame = self.frame
        register = frame.env.get(name)
        if register is not None:
            if name not in frame.rebound:
                return register
            own = frame.new()
            frame.ops.append((s.FREE, own, frame.unit, name, pos))
            return frame.phi([register, own])
        if frame.is_function:
            if name in frame.locals:
                return s.UNBOUND
            if name == "__class__" and frame.class_scope is not None:
                register = frame.new()
                frame.ops.append((s.THIS_CLASS, register, frame.class_scope.index, pos))
                return register
            versions = None
        else:
            scope = frame.class_scope
            if scope is not None and name in scope.versions:
                register = frame.new()
                frame.ops.append(
                    (s.CLASSVAR, register, scope.index, name, scope.versions[name], pos)
                )
                return register
            versions = self.module_versions.get(name, tuple(self.stars) or None)
        if frame.parent is not None and name not in frame.globals:
            owner = frame.owner_of(name)
            if owner is not None:
                owner.line.share(name)
                register = frame.new()
                frame.ops.append((s.FREE, register, owner.unit, name, pos))
                return frame.env.get(f".{name}", register) if frame.places else register
            if not frame.is_function and self._inside_function(frame):
                versions = None
        register = frame.new()
        frame.ops.append((s.GLOBAL, register, name, versions, pos))
        if name in ("__name__", "__package__") or name in self.constant_texts:
            frame.texts.add(register)
        if name in self.assumed and not frame.is_function and f".{name}" not in frame.env:
            return self._as_assumed(name, versions, register)
        return frame.env.get(f".{name}", register) if frame.places else register

    def _as_assumed(
        self, name: str, versions: tuple[int, ...] | None, register: Register
    ) -> Register:
        """What tests around the statement have shown of a name of the module, bound as then."""
        frame = self.frame
        tests, self.assumed = self.assumed, {}
        for then, classes, how in tests[name]:
            if then == versions:
                narrowed = frame.new()
                types = self.expression(classes)
                tested = s.UNBOUND if how in (CAUGHT, s.GROUPED) else register
                shown = True if how == CAUGHT else how
                frame.ops.append((s.NARROW, narrowed, tested, types, shown))
                register = narrowed
        self.assumed = tests
        return register

    @staticmethod
    def _inside_function(frame: Frame) -> bool:
        parent = frame.parent
        while parent is not None:
            if parent.is_function:
                return True
            parent = parent.parent
        return False

    def written(self, node: ast.expr) -> Register:
        """The object a store or a mutating call statement changes.

        A plain name is marked (its position is negative): changing what it names is not
        reading it, so whoever else fills the same registry does not matter here.
        """
        places, self.frame.places = self.frame.places, False
        assumed, self.assumed = self.assumed, {}
        register = self.expression(node)
        self.assumed = assumed
        ops = self.frame.ops
        if (
            type(node) is ast.Name and ops and ops[-1][0] == s.GLOBAL and ops[-1][1] == register
        ) or (
            type(node) is ast.Attribute and ops and ops[-1][0] == s.ATTR and ops[-1][3] == node.attr
        ):
            op = ops[-1]
            ops[-1] = (*op[:4], -op[4])
        self.frame.places = places
        return self._as_shown(node, register)

    def _constant(self, node: ast.Constant) -> Register:
        value = node.value
        if type(value) is str and (
            0 < len(value) <= s.LONGEST_NAME or (len(value) <= _LONGEST_NAMING and _names(value))
        ):
            frame = self.frame
            register = frame.new()
            frame.ops.append((s.STRING, register, value))
            frame.texts.add(register)
            return register
        return _CONSTANTS.get(type(value), s.OPAQUE)

    def _attribute(self, node: ast.Attribute) -> Register:
        value = self._lower.get(type(node.value), self._unknown)(node.value)
        frame = self.frame
        register = frame.registers
        frame.registers = register + 1
        end = node.end_lineno or node.lineno
        column = max((node.end_col_offset or 0) - len(node.attr.encode()), 0)
        frame.ops.append((s.ATTR, register, value, node.attr, end << 12 | min(column, 4095)))
        if node.attr == "__name__" and type(node.value) is ast.Name:
            frame.texts.add(register)  # known of modules only, which keep it
        if node.attr in _OF_NAMESPACES:
            frame.flags |= s.STORES_ANY
            frame.line.clear()
        elif frame.line.places and type(node.value) is ast.Name:
            self._note_standing(node.value.id, node.attr)
        return self._as_shown(node, register) if frame.places else register

    def _as_shown(self, node: ast.expr, register: Register) -> Register:
        """What tests have shown of a place, where ``register`` holds what is there."""
        frame = self.frame
        if not frame.places:
            return register
        if type(node) is ast.Name:
            return register if node.id in frame.env else frame.env.get(f".{node.id}", register)
        place = self._place(node) if type(node) is ast.Attribute else None
        shown = None if place is None else frame.env.get(place)
        if place is None or shown is None:
            return register
        if frame.shown.get(shown) == frame.turns:
            return shown
        return frame.phi([shown, register], tuple(place.split(".")[1:]))

    def _note_standing(self, name: str, attribute: str) -> None:
        """Note what the attribute that was read just now has, if it is known."""
        frame = self.frame
        known = frame.line.places.get((name, attribute))
        if known is None or known.holder != self._holder_of(name):
            return
        index = len(frame.ops) - 1
        touched = between(known, frame.ops, index)
        if touched is not None:
            frame.standing[index] = known.source, touched

    def _holder_of(self, name: str) -> Register | tuple[int, ...] | None:
        """What ``name`` is bound to here: another one, if it is bound anew."""
        frame = self.frame
        local = frame.env.get(name)  # of the module's statements, what a comprehension binds
        return local if local is not None or frame.is_function else self.module_versions.get(name)

    # --- calls

    def _call(self, node: ast.Call) -> Register:
        func = node.func
        frame = self.frame
        if type(func) is ast.Name:
            name = func.id
            if name == "super" and not node.args and frame.class_scope is not None:
                return self._zero_argument_super(node)
            if name in _DYNAMIC:
                frame.line.clear()
                frame.flags |= s.USES_LOCALS
                if name in ("exec", "eval"):
                    self.dynamic.append((pack(node.lineno, node.col_offset), name))
                    made = self._constant_code(node)
                    if made is not None:
                        return made
        held = self._held_list(func.value) if type(func) is ast.Attribute else None
        flags = frame.flags
        callee = self._lower.get(type(func), self._unknown)(func)
        if type(func) is ast.Name:
            frame.flags = flags  # it is just called
        self._hold_on(held, func.value if type(func) is ast.Attribute else func)
        args: list[Register] = []
        stars: list[Register] = []
        before: list[int] = []  # how many arguments stand before each star
        by_name = type(func) is ast.Name and func.id in _BY_NAME
        for argument in node.args:
            if type(argument) is ast.Starred:
                before.append(len(args))
                stars.append(self.expression(argument.value))
            elif by_name and len(args) == 1 and type(argument) is ast.BinOp:
                args.append(self._summed_name(argument))
            else:
                args.append(self.told(argument))
        keywords: list[tuple[str, Register]] = []
        double: list[Register] = []
        for keyword in node.keywords:
            value = self.told(keyword.value)
            if keyword.arg is None:
                double.append(value)
            else:
                keywords.append((keyword.arg, value))
        frame = self.frame
        register = frame.new()
        pos = (node.lineno << 12) | min(node.col_offset, 4095)
        if type(func) is ast.Attribute:
            end = func.end_lineno or func.lineno
            column = max((func.end_col_offset or 0) - len(func.attr.encode()), 0)
            pos = end << 12 | min(column, 4095)
        spread = (tuple(stars), tuple(double), tuple(before)) if stars or double else None
        frame.ops.append((s.CALL, register, callee, tuple(args), tuple(keywords), spread, pos))
        if held is not None:
            self._change_list(held, node, () if spread or keywords else args)
        if frame.line.places:
            self._forget_named(node)
        if by_name and func.id == "setattr":  # type: ignore[attr-defined]
            names = [*map(text_of, node.args[1:2])]
            frame.stores.update(filter(None, names))
            if not all(names) or not names:
                frame.flags |= s.STORES_ANY
                frame.line.clear()
        elif type(func) is ast.Attribute and func.attr == "__setattr__":
            # With its receiver, or by `super()` without.
            frame.stores.update(filter(None, map(text_of, node.args[-2:-1])))
        else:
            frame.stores.update(_patched(node))
        if type(func) is not ast.Name or func.id not in _QUIET:
            frame.turns += 1
        elif func.id == "isinstance":
            self.tested.update(zip(node.args, args, strict=False))
        if by_name and len(args) > 1 and not stars and args[1] not in frame.texts:
            access = _ACCESSES.get(func.id, "read")  # type: ignore[attr-defined]
            made, register = register, frame.new()
            frame.ops.append((s.BY_NAME, register, made, args[0], args[1], access, pos))
        filled = self._filled_literal(node, () if stars else args)
        return register if filled is None else filled

    def _held_list(self, node: ast.expr) -> Elements | None:
        """What stands where in the list that a name alone has."""
        if type(node) is not ast.Name:
            return None
        held = self.frame.line.lists.get(node.id)
        return held if held is not None and held.holder == self._holder_of(node.id) else None

    def _hold_on(self, held: Elements | None, node: ast.expr) -> None:
        """The name has been read to ask the list for something, which gives it to nobody."""
        line = self.frame.line
        if held is not None and type(node) is ast.Name and not line.inside:
            line.lists[node.id] = held

    def _change_list(self, held: Elements, call: ast.Call, args: Sequence[Register]) -> None:
        """A method of the list has been called just now."""
        frame = self.frame
        func = call.func
        assert isinstance(func, ast.Attribute)
        assert isinstance(func.value, ast.Name)
        lists, name = frame.line.lists, func.value.id
        if lists.pop(name, None) is not held:  # an argument has it too
            return
        if call.keywords or len(args) != len(call.args):
            return  # of `sort(key=f)` and `insert(*given)` nothing is known
        found = changed(held, func.attr, [*map(_number, call.args)], args)
        if found is None:
            return
        lists[name], taken = found
        if taken is not None:
            frame.line.note_element(name, len(frame.ops) - 1, taken)

    def note_list(self, name: str, value: Register) -> None:
        """A name has been bound just now to a list that a display has made."""
        frame = self.frame
        if not frame.is_function or frame.env.get(name) != value:
            return  # what a module has others may reach
        if name in self.rebound or name in frame.line.shared or frame.line.inside:
            return
        op = next((op for op in islice(reversed(frame.ops), 2) if op[0] == s.SEQUENCE), None)
        if op is None or op[1] != value or op[4] or op[5] or len(op[3]) > LONGEST:
            return
        frame.line.lists[name] = Elements(tuple(op[3]), value)

    def _forget_named(self, call: ast.Call) -> None:
        """What is called may store an attribute whose name it is told."""
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            text = text_of(argument)
            if text:
                self.frame.line.forget(text.rpartition(".")[2])  # `patch("main.box.handler")`

    def note_texts(self, iterable: ast.expr, item: Register) -> None:
        """Whether the elements of what is iterated are texts that stand there."""
        match iterable:
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                if all(text_of(each) for each in elements):
                    self.frame.texts.add(item)

    def _summed_name(self, node: ast.BinOp) -> Register:
        """A name for ``getattr``: whatever is added up there, with a literal, is a text."""
        summands: list[ast.expr] = []
        left: ast.expr = node
        while type(left) is ast.BinOp and type(left.op) is ast.Add:
            summands.append(left.right)
            left = left.left
        summands.append(left)
        made = self.expression(node)
        if made in self.frame.texts or not any(map(text_of, summands)):
            return made
        return self._text([self._summand(each) for each in reversed(summands)], made)

    def _summand(self, node: ast.expr) -> str | Register:
        """A literal, or the parameter that callers pass a part of a name for."""
        register = self.frame.env.get(node.id, s.STR) if type(node) is ast.Name else s.STR
        return text_of(node) or (register if self.frame.may_name(register) else s.STR)

    def _filled_literal(self, node: ast.Call, args: Sequence[Register]) -> Register | None:
        """What ``"…".format(…)`` and ``"…".join((…))`` give, as far as literals tell.

        ``args``: what is passed by position.
        """
        match node.func:
            case ast.Attribute(value=ast.Constant(value=str(text)), attr="format"):
                return self._text([_shown(part, args) for part in fields_of(text)])
            case ast.Attribute(value=ast.Constant(value=str(text)), attr="join"):
                pass
            case _:
                return None
        match node.args:
            case [ast.Tuple(elts=[_, *_] as elements) | ast.List(elts=[_, *_] as elements)]:
                op = self.frame.ops[-2]  # what `join` is called with, before the call
                if op[0] != s.SEQUENCE or op[1] != args[0] or op[4]:
                    return None
                pieces: list[str | Register] = []
                alike = op[3] * len(elements) if op[5] else op[3]  # one stands for all
                for element, register in zip(elements, alike, strict=True):
                    pieces += [text, text_of(element) or register]
                return self._text(pieces[1:])
        return None

    def _constant_code(self, node: ast.Call) -> Register | None:
        """``exec`` or ``eval`` of a text that stands there: what its expressions do."""
        match node.args:
            case [ast.Constant(value=str(text))] | [
                ast.Constant(value=str(text)),
                ast.Call(func=ast.Name(id="globals"), args=[]),
            ] if not node.keywords and len(text) < _LONGEST_CODE:
                pass
            case _:
                return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                body = ast.parse(text.strip()).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        if not all(isinstance(statement, ast.Expr) for statement in body):
            for name in names_taken(body):
                self.load(name, pack(node.lineno, node.col_offset))
            return None
        self.expression(node.func)
        frame = self.frame
        called = frame.new()
        pos = pack(node.lineno, node.col_offset)
        made = s.OPAQUE
        for statement in body:
            for child in ast.walk(statement):
                if isinstance(child, ast.expr):
                    child.lineno, child.col_offset = node.lineno, node.col_offset
                    child.end_lineno, child.end_col_offset = node.end_lineno, node.end_col_offset
            assert isinstance(statement, ast.Expr)
            made = self.expression(statement.value)
        assert isinstance(node.func, ast.Name)
        callee = self.load(node.func.id, pos)
        frame.ops.append((s.CALL, called, callee, (), (), None, pos))
        return made

    def _zero_argument_super(self, node: ast.Call) -> Register:
        frame: Frame | None = self.frame
        method: Frame | None = None
        while frame is not None and frame.is_function:
            method = frame
            if frame.parent is None or not frame.parent.is_function:
                break
            frame = frame.parent
        scope: ClassScope | None = self.frame.class_scope
        register = self.frame.new()
        pos = pack(node.lineno, node.col_offset)
        first = s.UNBOUND
        if method is not None and method.first_param:
            first = 0 if method is self.frame else self.load(method.first_param, pos)
        index = scope.index if scope is not None else -1
        self.frame.ops.append((s.SUPER, register, index, first, pos))
        return register

    # --- operators

    def _subscript(self, node: ast.Subscript) -> Register:
        held = self._held_list(node.value)
        value = self.expression(node.value)
        self._hold_on(held, node.value)
        key = self.told(node.slice)
        frame = self.frame
        if _is_typing_form(node.value) and _holds_text(node.slice):
            # `Alias = Union["Later", int]`: forward references outside an annotation.
            pos = pack(node.lineno, node.col_offset)
            frame.ops.append((s.ANNOTATION, type_expression(node), pos, False))
        register = frame.new()
        frame.ops.append((s.SUB, register, value, key, pack(node.lineno, node.col_offset)))
        place = None if held is None else _number(node.slice)
        if held and place is not None and -len(held.sources) <= place < len(held.sources):
            assert isinstance(node.value, ast.Name)
            frame.line.note_element(node.value.id, len(frame.ops) - 1, held.sources[place])
        return register

    def told(self, node: ast.expr) -> Register:
        """An expression that may be a key, or become one: of a constant number it is told which."""
        number = _number(node)
        return self.expression(node) if number is None else self._told("builtins.int", str(number))

    def _told(self, dotted: str, text: str) -> Register:
        register = self.frame.new()
        self.frame.ops.append((s.TOLD, register, dotted, text))
        return register

    def _slice(self, node: ast.Slice) -> Register:
        bounds = [0 if part is None else _number(part) for part in (node.lower, node.upper)]
        if node.step is None and None not in bounds:
            upper = "" if node.upper is None else bounds[1]
            return self._told("builtins.slice", f"{bounds[0]}:{upper}")
        for part in (node.lower, node.upper, node.step):
            if part is None:
                continue
            bound = self.expression(part)
            if bound >= 0:
                pos = pack(part.lineno, part.col_offset)
                self.frame.ops.append((s.UNARY, self.frame.new(), bound, "__index__", pos))
        return s.SLICE

    def _binary(self, node: ast.BinOp) -> Register:
        # Long chains (`a + b + c + …`) lean left: descend without recursion.
        chain: list[ast.BinOp] = []
        left: ast.expr = node
        while type(left) is ast.BinOp:
            chain.append(left)
            left = left.left
        value = self.expression(left)
        prefix = left.value if type(left) is ast.Constant and type(left.value) is str else None
        for operation in reversed(chain):
            if prefix is not None and type(operation.op) is ast.Mod:
                value = self._filled(operation, prefix)
            else:
                right = self.expression(operation.right)
                value = self._binary_step(operation, value, right, prefix)
            prefix = None
        return value

    def _binary_step(
        self, node: ast.BinOp, left: Register, right: Register, prefix: str | None
    ) -> Register:
        kind = type(node.op)
        frame = self.frame
        if kind is ast.Add and (prefix is not None or left in frame.texts):
            pos = pack(node.lineno, node.col_offset)
            added = None if right < -1 or right in frame.texts else right
            return self._text([prefix or left, text_of(node.right) or right], added, pos)
        if left < -1 and right < -1:
            return left
        register = frame.new()
        frame.ops.append(
            (
                s.BINARY,
                register,
                left,
                right,
                BINARY_DUNDERS[kind],
                pack(node.lineno, node.col_offset),
            )
        )
        return register

    def _filled(self, node: ast.BinOp, template: str) -> Register:
        """A literal template for ``%``, and what it shows: of a tuple each element by itself."""
        frame, pos = self.frame, pack(node.lineno, node.col_offset)
        right = node.right
        elements: list[Register] | None = None
        whole = s.NONE
        if type(right) is ast.Tuple and not any(type(e) is ast.Starred for e in right.elts):
            elements = [self.expression(element) for element in right.elts]
        else:
            whole = self.expression(right)
        parts = tuple(conversions_of(template))
        by_whole = (  # a tuple, perhaps
            whole >= 0
            and len(template) <= _LONGEST_NAMING
            and all(isinstance(part, str) or part.key is None for part in parts)
        )
        if by_whole:
            left, filled = frame.new(), frame.new()
            frame.ops.append((s.STRING, left, template))
            frame.ops.append((s.BINARY, filled, left, whole, "mod", pos))
        waiting = iter(elements or ())
        shown: dict[tuple[Register, str], None] = {}
        pieces: list[str | Register] = []
        for part in parts:
            if isinstance(part, str):
                pieces.append(part)
                continue
            if part.key is not None and elements is None:
                named, value = frame.new(), frame.new()
                frame.ops.append((s.STRING, named, part.key[: s.LONGEST_NAME]))
                frame.ops.append((s.SUB, value, whole, named, pos))
            else:
                value = whole if elements is None else next(waiting, s.NONE)
            if part.dunders and not by_whole:
                shown[value, part.dunders[0]] = None
            pieces.append(value if part.plain else s.STR)
        for value, dunder in shown:
            if value >= 0:  # not a constant
                frame.ops.append((s.FORMAT_VALUE, value, dunder, pos))
        return self._text(pieces)

    def _text(
        self,
        pieces: Sequence[str | Register],
        added: Register | None = None,
        pos: Position = 0,
    ) -> Register:
        """A text that is put together of others, those that stand in the code and any.

        ``added``: what a sum at ``pos`` adds, which may be no text; without ``pos``, the sum.
        """
        frame = self.frame
        joined: list[str | Register] = []
        for piece in pieces:
            if isinstance(piece, str) and joined and isinstance(joined[-1], str):
                joined[-1] += piece
            elif isinstance(piece, str) or piece in frame.texts or frame.may_name(piece):
                joined.append(piece)
            else:
                joined.append(s.STR)
        texts = [piece for piece in joined if isinstance(piece, str)]
        known = not any(map(_BLANK.search, texts))  # a text for people is no name
        if not known and len(texts) < len(joined):
            code = (piece for piece in texts if len(piece) <= s.LONGEST_NAME)
            frame.ops += [(s.STRING, frame.new(), each) for each in code if _CALLING.search(each)]
        register = frame.new()
        if joined and len(texts) == len(joined) and len(texts[0]) <= s.LONGEST_NAME:
            frame.ops.append((s.STRING, register, texts[0]))
        elif added is not None or (known and any(piece != s.STR for piece in joined)):
            shown = tuple(joined) if known else (s.STR,)
            frame.ops.append((s.TEXT, register, shown, -1 if added is None else added, pos))
        else:
            return s.STR
        if added is None:
            frame.texts.add(register)
        return register

    def _boolean(self, node: ast.BoolOp) -> Register:
        frame = self.frame
        registers: list[Register] = []
        saved, bound = frame.env, len(frame.walrus)
        last = len(node.values) - 1
        deciding = isinstance(node.op, ast.Or)
        lists: dict[str, Elements] = {}
        for index, value in enumerate(node.values):
            register = self.expression(value)
            if not index:
                lists = dict(frame.line.lists)
            registers.append(register)
            if known_truth(value) is deciding:
                break  # the others never run
            if not index:  # what the others bind may not be bound
                saved, bound = frame.env, len(frame.walrus)
            if index < last:
                registers[-1] = self.test_truth(register, value)
                if type(node.op) is ast.And:
                    self.narrow(value, positive=True)
                else:
                    self.narrow(value, positive=False)
        self._restore_narrowed(saved, bound)
        frame.line.both(frame.line.lists, lists)
        return frame.phi(registers)

    def _restore_narrowed(self, saved: Environment, bound: int) -> None:
        """Forget what narrowing learned, but keep what `:=` may have bound since (PEP 572).

        ``bound``: how many had been bound before.
        """
        frame = self.frame
        frame.env = saved
        sources: dict[str, list[Register]] = {}
        for name, register in frame.walrus[bound:]:
            if name not in sources:
                sources[name] = [saved[name]] if name in saved else []
            sources[name].append(register)
        if sources:
            joined = {name: frame.phi(each) for name, each in sources.items()}
            frame.env = {**saved, **joined}

    def test_truth(self, register: Register, node: ast.expr) -> Register:
        """``node`` is a test; what it gives, which of a comparison is just true or false."""
        ops = self.frame.ops
        if ops and ops[-1][0] == s.COMPARED and ops[-1][1] == register:
            ops[-1] = (s.COMPARE, *ops[-1][2:])
            return s.BOOL
        ops.append((s.TRUTH, register, pack(node.lineno, node.col_offset)))
        return register

    def _compare(self, node: ast.Compare) -> Register:
        if len(node.ops) > 1:
            self.frame.line.lists.clear()  # not all of them may be evaluated
        left = self.expression(node.left)
        for operator, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.expression(comparator)
            kind = type(operator)
            pos = pack(node.lineno, node.col_offset)
            if kind is ast.In or kind is ast.NotIn:
                self.frame.ops.append((s.CONTAINS, right, left, pos))
            elif kind in COMPARE_DUNDERS and (left >= -1 or right >= -1):
                if len(node.ops) == 1:
                    register = self.frame.new()
                    dunder = COMPARE_DUNDERS[kind]
                    self.frame.ops.append((s.COMPARED, register, left, right, dunder, pos))
                    return register
                self.frame.ops.append((s.COMPARE, left, right, COMPARE_DUNDERS[kind], pos))
            left = right
        return s.BOOL

    def _unary(self, node: ast.UnaryOp) -> Register:
        value = self.expression(node.operand)
        if type(node.op) is ast.Not:
            self.test_truth(value, node)
            return s.BOOL
        pos = pack(node.lineno, node.col_offset)
        if value < -1:
            return value
        register = self.frame.new()
        self.frame.ops.append((s.UNARY, register, value, UNARY_DUNDERS[type(node.op)], pos))
        return register

    def _conditional(self, node: ast.IfExp) -> Register:
        test = self.expression(node.test)
        frame = self.frame
        self.test_truth(test, node)
        holds = known_truth(node.test)
        if holds is not None:
            return self.expression(node.body if holds else node.orelse)
        saved, bound = dict(frame.env), len(frame.walrus)
        self.narrow(node.test, positive=True)
        lists = dict(frame.line.lists)
        body = self.expression(node.body)
        frame.env = dict(saved)
        self.narrow(node.test, positive=False)
        behind, frame.line.lists = frame.line.lists, dict(lists)
        orelse = self.expression(node.orelse)
        frame.line.both(frame.line.lists, behind)
        frame.line.both(frame.line.lists, lists)
        self._restore_narrowed(saved, bound)
        return frame.phi([body, orelse])

    # --- displays

    def _sequence(self, node: ast.Tuple | ast.List | ast.Set) -> Register:
        elements: list[Register] = []
        starred: list[Register] = []
        is_table = len(node.elts) > s.LONGEST_TABLE
        rows: dict[tuple[type, ...], Register] = {}
        for element in node.elts:
            if type(element) is ast.Starred:
                starred.append(self.expression(element.value))
            elif is_table and type(element) is ast.Tuple:
                elements.append(self._row(element, rows))
            else:
                elements.append(self._held(element))
        frame = self.frame
        register = frame.new()
        kind = type(node).__name__.lower()
        many = False
        if kind != "tuple" and len(elements) > 1 and all(element < -1 for element in elements):
            elements, many = elements[:1], True
        frame.ops.append((s.SEQUENCE, register, kind, tuple(elements), tuple(starred), many))
        return register

    def _row(self, node: ast.Tuple, known: dict[tuple[type, ...], Register]) -> Register:
        """A tuple in a table; of constants that are no texts, it is one ``known`` that is like it.

        For the engine these are one value: a table of numbers has thousands of them.
        """
        kinds = tuple([type(e.value) if type(e) is ast.Constant else str for e in node.elts])
        register = known.get(kinds)
        if register is None:
            register = self.expression(node)
            if kinds and str not in kinds:
                known[kinds] = register
        return s.UNBOUND if node in self.unseen else register

    def _held(self, node: ast.expr) -> Register:
        """An expression whose value is put into a container, if anyone will see it there."""
        register = self.expression(node)
        return s.UNBOUND if node in self.unseen else register

    def _mapping(self, node: ast.Dict) -> Register:
        items: list[tuple[str | None, Register, Register]] = []
        unpacked: list[Register] = []
        before: list[int] = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                unpacked.append(self.expression(value))
                before.append(len(items))
                continue
            text = None
            if type(key) is ast.Constant:
                text = _key_text(key.value)
                key_register = _CONSTANTS.get(type(key.value), s.OPAQUE)
            else:
                key_register = self.expression(key)
            items.append((text, key_register, self._held(value)))
        frame = self.frame
        register = frame.new()
        if len(items) > s.LONGEST_TABLE and all(k < -1 and v < -1 for _, k, v in items):
            items = [(None, key, value) for _, key, value in items[:1]]  # a table of constants
        frame.ops.append((s.MAPPING, register, tuple(items), tuple(unpacked), tuple(before)))
        return register

    def _formatted(self, node: ast.JoinedStr) -> Register:
        pieces: list[str | Register] = []
        for value in node.values:
            if type(value) is ast.FormattedValue:
                shown = self._formatted_value(value)
                plain = value.format_spec is None and value.conversion in (-1, 115)
                pieces.append(shown if plain else s.STR)
            else:
                pieces.append(text_of(value))
        return self._text(pieces)

    def _formatted_value(self, node: ast.FormattedValue) -> Register:
        """What a field of an f-string shows; itself, as text is shown."""
        value = self.expression(node.value)
        dunder = {114: "__repr__", 97: "__repr__", 115: "__str__"}.get(
            node.conversion, "__format__"
        )
        self.frame.ops.append((s.FORMAT_VALUE, value, dunder, pack(node.lineno, node.col_offset)))
        if node.format_spec is not None:
            self.expression(node.format_spec)
        return value

    # --- comprehensions: their own scope (language reference 6.2.4), lowered in place

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Register:
        saved = self._enter_comprehension(node.generators)
        element = self.expression(node.elt)
        self._leave_comprehension(saved)
        frame = self.frame
        register = frame.new()
        kind = {ast.ListComp: "list", ast.SetComp: "set"}.get(type(node), "generator")
        frame.ops.append((s.SEQUENCE, register, kind, (element,), (), True))
        return register

    def _dict_comprehension(self, node: ast.DictComp) -> Register:
        saved = self._enter_comprehension(node.generators)
        key = self.expression(node.key)
        value = self.expression(node.value)
        self._leave_comprehension(saved)
        frame = self.frame
        register = frame.new()
        frame.ops.append((s.MAPPING, register, ((None, key, value),), (), ()))
        return register

    def _enter_comprehension(self, generators: list[ast.comprehension]) -> tuple[Environment, int]:
        frame = self.frame
        saved = frame.env, len(frame.walrus)
        frame.turns += 1
        frame.line.inside += 1
        frame.line.lists.clear()
        for generator in generators:
            iterable = self.expression(generator.iter)
            frame.env = dict(frame.env)
            pos = pack(generator.iter.lineno, generator.iter.col_offset)
            item = frame.new()
            frame.ops.append((s.ITER, item, iterable, pos, bool(generator.is_async)))
            self.note_texts(generator.iter, item)
            self._bind_comprehension(generator.target, item)
            self.pair(generator.target, iterable)
            for test in generator.ifs:
                register = self.expression(test)
                self.test_truth(register, test)
                self.narrow(test, positive=True)
        return saved

    def _bind_comprehension(self, target: ast.expr, value: Register) -> None:
        frame = self.frame
        match target:
            case ast.Name(id=name):
                frame.env[name] = value
                frame.inner.add(name)  # a nested lambda may capture it
                frame.history.setdefault(name, []).append(value)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for element, register in self.unpacked(elements, value):
                    self._bind_comprehension(element, register)
            case ast.Starred(value=inner):
                self._bind_comprehension(inner, value)
            case _:
                self.assign(target, value)

    def unpacked(
        self, targets: Sequence[_Target], value: Register
    ) -> Iterator[tuple[_Target, Register]]:
        """What each of ``targets`` gets of ``value``: behind a star, places count from the end."""
        frame = self.frame
        count = len(targets)
        stars = [i for i, each in enumerate(targets) if isinstance(each, _STARRED)]
        star = stars[0] if stars else count
        for index, target in enumerate(targets):
            register = frame.new()
            if index == star:
                between = star, count - star - 1
                frame.ops.append((s.SEQUENCE, register, "list", (), (value,), between))
            else:
                place = index if index < star else index - count
                pos = pack(target.lineno, target.col_offset)
                frame.ops.append((s.ITEM, register, value, place, pos))
            yield target, register

    def _leave_comprehension(self, saved: tuple[Environment, int]) -> None:
        self._restore_narrowed(*saved)
        self.frame.line.inside -= 1

    # --- the rest

    def _walrus(self, node: ast.NamedExpr) -> Register:
        value = self.expression(node.value)
        self.assign(node.target, value)
        if self.frame.env.get(node.target.id) == value:
            self.frame.walrus.append((node.target.id, value))
        return value

    def _await(self, node: ast.Await) -> Register:
        return self._emit_value(s.AWAIT, node.value, node)

    def _yield(self, node: ast.Yield) -> Register:
        value = s.NONE if node.value is None else self.expression(node.value)
        self.frame.flags |= s.GENERATOR
        register = self.frame.new()
        self.frame.ops.append((s.YIELD, register, value))
        self.frame.turns += 1
        return register

    def _yield_from(self, node: ast.YieldFrom) -> Register:
        self.frame.flags |= s.GENERATOR
        return self._emit_value(s.YIELD_FROM, node.value, node)

    def _starred(self, node: ast.Starred) -> Register:
        return self.expression(node.value)

    def _emit_value(self, opcode: int, value: ast.expr, node: ast.expr) -> Register:
        source = self.expression(value)
        register = self.frame.new()
        op: Op = (opcode, register, source, pack(node.lineno, node.col_offset))
        self.frame.ops.append(op)
        self.frame.turns += 1
        return register


def _is_typing_form(node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _TYPING_FORMS
    return False


def _holds_text(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str()):
            return True
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return any(_holds_text(element) for element in elements)
        case ast.Subscript(value=value, slice=key):
            return _is_typing_form(value) and _holds_text(key)
        case ast.BinOp(left=left, right=right):
            return _holds_text(left) or _holds_text(right)
    return False


def _shown(part: str | Field, args: Sequence[Register]) -> str | Register:
    """What a part of a literal for ``str.format`` gives: some text, where nothing more is known."""
    if isinstance(part, str):
        return part
    place = part.first
    if part.plain and not part.rest and isinstance(place, int) and place < len(args):
        return args[place]
    return s.STR


def _number(node: ast.expr) -> int | None:
    """Which number a constant, or a negative one, is."""
    negative = type(node) is ast.UnaryOp and type(node.op) is ast.USub
    number = node.operand if negative else node  # type: ignore[attr-defined]
    if type(number) is not ast.Constant or type(number.value) is not int:
        return None
    if abs(number.value) >= _LARGEST_KEY:
        return None
    return -number.value if negative else number.value


def _key_text(value: object) -> str | None:
    if type(value) is str and len(value) <= s.LONGEST_NAME:
        return value
    if isinstance(value, int):  # `True` is the key 1
        return s.number_key(int(value)) if abs(value) < _LARGEST_KEY else None
    if type(value) is bytes or value is None:
        return repr(value)[: s.LONGEST_NAME]
    return None


def _names(text: str) -> bool:
    """Whether it is a template for ``str.format``, or data, that names something."""
    return (
        "{" in text
        and any(
            isinstance(part, Field) and (isinstance(part.first, str) or part.rest)
            for part in fields_of(text)
        )
    ) or any(not word.isidentifier() for word in words_of_data(text))
