"""What tests show of names, attributes and texts where they hold: new registers for the same places."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import TypeAlias

from depslice.callgraph import summary as s
from depslice.callgraph.lowering.frame import Environment, Frame, Listed
from depslice.callgraph.lowering.syntax import operands, text_of
from depslice.callgraph.summary import Op, Register, pack

Shown: TypeAlias = tuple[str, ast.expr, bool | int]
"""A name, the classes that a test asks it for, and what that shows, as ``s.NARROW`` has it."""
_LISTING = frozenset({"getmembers", "list", "sorted", "tuple"})
"""Functions that give what is listed, or all of it as another list."""
_SAME_TYPE = (ast.Is, ast.Eq, ast.In)
_OTHER_TYPE = (ast.IsNot, ast.NotEq, ast.NotIn)
_NEAR = 64  # operations among which a loop's iterable is looked for


class Narrowing:
    """Narrows the places of the current frame; what is tested its subclass lowers."""

    frame: Frame
    rebound: frozenset[str]  # names that functions of the file may rebind which others have

    def __init__(self) -> None:
        self.tested: dict[ast.expr, Register] = {}  # what `isinstance` is given

    # Implemented by the lowering of expressions.
    def expression(self, node: ast.expr) -> Register:
        """Lower ``node``; the register that holds its value."""
        raise NotImplementedError

    def narrow(self, test: ast.expr, *, positive: bool) -> None:
        """Assume ``test`` (or its negation) for the names it speaks of (PEP 484, ``isinstance``)."""
        kind = type(test)
        if kind is ast.UnaryOp and type(test.op) is ast.Not:  # type: ignore[attr-defined]
            self.narrow(test.operand, positive=not positive)  # type: ignore[attr-defined]
        elif kind is ast.BoolOp:
            conjunction = type(test.op) is ast.And  # type: ignore[attr-defined]
            if conjunction == positive:
                for value in test.values:  # type: ignore[attr-defined]
                    self.narrow(value, positive=positive)
            elif all(map(_may_narrow, test.values)):  # type: ignore[attr-defined]
                self._narrow_by_one(test.values, positive=positive)  # type: ignore[attr-defined]
        elif (shown := _class_test(test, positive=positive)) is not None:
            named, classes, how = shown
            self._narrow_name(named, classes, positive=how)
        elif kind is ast.Call:
            match test:
                case ast.Call(
                    func=ast.Name(id="isinstance"),
                    args=[ast.Attribute() as attribute, classes],
                    keywords=[],
                ):
                    self._narrow_attribute(attribute, classes, positive=positive)
                case ast.Call(
                    func=ast.Attribute(
                        value=ast.Name(id=name), attr="startswith" | "endswith" as end
                    ),
                    args=[ast.Constant() | ast.Tuple() as given],
                ) if name in self.frame.env:
                    texts = tuple(map(text_of, getattr(given, "elts", (given,))))
                    if texts and all(0 < len(text) <= s.LONGEST_NAME for text in texts):
                        at_start = end == "startswith"
                        ends = tuple((text, "") if at_start else ("", text) for text in texts)
                        self._narrow_text(name, ends, test, positive=positive)
        elif kind is ast.Compare:
            match test:
                case ast.Compare(
                    left=ast.Subscript(value=ast.Name(id=name), slice=ast.Slice(step=None) as part),
                    ops=[ast.Eq() | ast.NotEq() as equal],
                    comparators=[ast.Constant(value=str(text))],
                ) if name in self.frame.env and 0 < len(text) <= s.LONGEST_NAME:
                    compared = _ends_compared(part, text)
                    if compared is not None:  # `name[:5] == "test_"`
                        same = isinstance(equal, ast.Eq) == positive
                        self._narrow_text(name, (compared,), test, positive=same)

    def pair(self, target: ast.expr, iterable: Register) -> None:
        """Remember which variable of a loop has the names that go with what the other has.

        ``for name, value in vars(x).items()``, and ``… in inspect.getmembers(x)``.
        """
        match target:
            case ast.Tuple(elts=[ast.Name(id=name), ast.Name(id=value)]):
                listed = self._listed(iterable)
                env = self.frame.env
                if listed is not None and name in env and value in env:
                    self.frame.paired[env[name]] = value, listed, frozenset([env[value]])

    def _listed(self, iterable: Register) -> Listed | None:
        """What has the items that are iterated, and the functions that list them.

        They are listed in place, or as a list of their own. What these functions are, and whether
        it has ``items`` as a namespace has, its values tell.
        """
        by: list[Register] = []
        while (op := self._near(iterable)) is not None and op[0] == s.CALL:
            function = self._near(op[2])
            spelled = "" if function is None else function[2 if function[0] == s.GLOBAL else 3]
            if function is not None and function[0] == s.ATTR and spelled == "items" and not op[3]:
                return int(function[2]), tuple(by)
            if not op[3] or spelled not in _LISTING:
                return None
            by.append(op[2])
            iterable = op[3][0]
            if spelled == "getmembers":
                return iterable, tuple(by)
        return None

    def _near(self, register: Register) -> Op | None:
        """The call, or the name that is read, whose result a register holds."""
        for op in islice(reversed(self.frame.ops), _NEAR):
            if op[0] in (s.CALL, s.ATTR, s.GLOBAL) and op[1] == register:
                return op
        return None

    def _narrow_text(
        self, name: str, ends: tuple[tuple[str, str], ...], test: ast.expr, *, positive: bool
    ) -> None:
        """A text has one of these starts, or ends, or has none; what goes with it is less too."""
        frame = self.frame
        names = frame.env[name]
        beside = frame.paired.get(names)
        if positive:
            narrowed = [frame.new() for _ in ends]
            for register, each in zip(narrowed, ends, strict=True):
                frame.ops.append((s.NARROW_TEXT, register, names, *each))
            names = narrowed[0] if len(narrowed) == 1 else frame.phi(narrowed)
            frame.env = {**frame.env, name: names}
        if beside is None:
            return
        value, (listed, by), held = beside
        current = frame.env.get(value)
        if current is not None and current in held:
            register = frame.new()
            pos = pack(test.lineno, test.col_offset)
            others = None if positive else ends
            frame.ops.append((s.AMONG, register, current, names, listed, by, others, pos))
            frame.env = {**frame.env, value: register}
            frame.paired[names] = value, (listed, by), held | {register}

    def _narrow_by_one(self, tests: list[ast.expr], *, positive: bool) -> None:
        """One of ``tests`` holds (or does not), nobody knows which: names all of them speak of.

        ``x is None or isinstance(x, A)``, or behind ``if x is not None and not isinstance(x, A):
        raise``. What only some of them speak of may be anything.
        """
        frame = self.frame
        before, known = frame.env, len(frame.ops)
        ends: list[Environment] = []
        spoken: set[str] | None = None
        for test in tests:
            start = frame.env  # of the tests before, none holds
            none = _none_test(test, positive=positive)
            if none in start:
                frame.env = {**start, none: s.NONE}
            else:
                self.narrow(test, positive=positive)
            end = frame.env
            ends.append(end)
            names = {name for name, register in end.items() if register != start.get(name)}
            spoken = names if spoken is None else spoken & names
            if not spoken:
                del frame.ops[known:]
                frame.env = before
                return
            frame.env = start
            self.narrow(test, positive=not positive)
        assert spoken is not None
        joined = {name: frame.phi([end[name] for end in ends]) for name in sorted(spoken)}
        frame.env = {**before, **joined}
        frame.shown.update(dict.fromkeys(joined.values(), frame.turns))

    def _narrow_name(self, node: ast.Name, classes: ast.expr, *, positive: bool | int) -> None:
        frame = self.frame
        name = node.id
        current = frame.env.get(name)
        if current is not None:
            self._narrow_place(name, current, classes, positive=positive)
        elif name not in frame.locals and name not in self.rebound:
            current = self._lowered(node)
            frame.places = True
            self._narrow_place(f".{name}", current, classes, positive=positive)

    def _narrow_attribute(self, node: ast.Attribute, classes: ast.expr, *, positive: bool) -> None:
        """Of ``a.b`` as of a name, where the function stores none such.

        Behind whatever may run other code, that holds where no other does either: a φ says so.
        """
        frame = self.frame
        place = self._place(node) if frame.is_function else None
        if place is not None and not frame.may_store(frozenset(place.split(".")[1:])):
            shown = frame.env.get(place, s.UNBOUND)  # by another test of the same statement
            current = shown if frame.shown.get(shown) == frame.turns else self._lowered(node)
            frame.places = True
            self._narrow_place(place, current, classes, positive=positive)

    def _lowered(self, node: ast.expr) -> Register:
        """The register of what ``isinstance`` was given, or of ``node`` lowered now."""
        known = self.tested.get(node)
        return self.expression(node) if known is None else known

    def _narrow_place(
        self, place: str, current: Register, classes: ast.expr, *, positive: bool | int
    ) -> None:
        if isinstance(classes, ast.Call):
            return
        frame = self.frame
        if isinstance(classes, ast.BinOp):  # `A | B` asks for each, as `(A, B)` does (PEP 604)
            classes = ast.Tuple(elts=list(operands(classes)), ctx=ast.Load())
        types = self._lowered(classes)
        register = frame.new()
        frame.ops.append((s.NARROW, register, current, types, positive))
        frame.env = {**frame.env, place: register}
        frame.shown[register] = frame.turns

    def _place(self, node: ast.Attribute) -> str | None:
        """How ``env`` calls the place of ``a.b.c``: by what holds ``a`` now.

        ``None`` where another function may have ``a`` hold something else.
        """
        names: list[str] = []
        inner: ast.expr = node
        while type(inner) is ast.Attribute:
            names.append(inner.attr)
            inner = inner.value
        if type(inner) is not ast.Name or inner.id in self.rebound:
            return None
        root = self.frame.env.get(inner.id)
        names.append(f".{inner.id}" if root is None else str(root))
        return ".".join(reversed(names))


def classes_shown(test: ast.expr | None, *, positive: bool) -> Iterator[Shown]:
    """What ``test``, if there is one, shows of names where it holds, or does not."""
    match test:
        case None:
            return
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from classes_shown(operand, positive=not positive)
        case ast.BoolOp(op=operator, values=values):
            if isinstance(operator, ast.And) == positive:
                for value in values:
                    yield from classes_shown(value, positive=positive)
        case _:
            shown = _class_test(test, positive=positive)
            if shown is not None:
                named, classes, how = shown
                yield named.id, classes, how


def _class_test(test: ast.expr, *, positive: bool) -> tuple[ast.Name, ast.expr, bool | int] | None:
    """The name of which ``test`` asks the class, those it asks for, and what it shows."""
    match test:
        case ast.Call(
            func=ast.Name(id="isinstance"),
            args=[ast.Name() | ast.NamedExpr() as tested, classes],
            keywords=[],
        ):
            named = tested.target if isinstance(tested, ast.NamedExpr) else tested
            return named, classes, positive
        case ast.Call(
            func=ast.Name(id="issubclass"), args=[ast.Name() as tested, classes], keywords=[]
        ) if positive:
            return tested, classes, s.SUBCLASS
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="type"), args=[ast.Name() as tested], keywords=[]),
            ops=[operator],
            comparators=[classes],
        ) if isinstance(operator, _SAME_TYPE + _OTHER_TYPE):
            same = isinstance(operator, _SAME_TYPE) == positive
            return tested, classes, s.EXACT if same else s.NOT_EXACT
    return None


def _may_narrow(test: ast.expr) -> bool:
    """Whether ``Narrowing.narrow`` may learn anything from a test."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _may_narrow(operand)
        case ast.BoolOp(values=values):
            return any(map(_may_narrow, values))
        case ast.Call(func=ast.Name(id="isinstance")):
            return True
        case ast.Call(func=ast.Attribute(attr="startswith" | "endswith")):
            return True
    return isinstance(test, ast.Compare)


def _ends_compared(part: ast.Slice, text: str) -> tuple[str, str] | None:
    """How what is sliced begins and ends if that ``part`` of it is ``text``; None: not told."""
    match part:
        case ast.Slice(lower=None | ast.Constant(0), upper=ast.Constant(count)):
            return (text, "") if count == len(text) else None
        case ast.Slice(lower=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(count)), upper=None):
            return ("", text) if count == len(text) else None
    return None


def _none_test(test: ast.expr, *, positive: bool) -> str:
    """The name that is ``None`` where ``test`` holds (or does not); "" if it is no such test."""
    match test:
        case ast.Compare(
            left=ast.Name(id=name),
            ops=[ast.Is() | ast.IsNot() as op],
            comparators=[ast.Constant(None)],
        ) if isinstance(op, ast.Is) == positive:
            return name
    return ""
