"""The statements of a function, and the simple ones of any scope, to operations."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from depslice.callgraph import summary as s
from depslice.callgraph.lowering.annotations import calls_in, type_expression, type_names
from depslice.callgraph.lowering.expressions import BINARY_DUNDERS, ExpressionLowering
from depslice.callgraph.lowering.frame import Environment, Frame
from depslice.callgraph.lowering.names import bound_names
from depslice.callgraph.lowering.standing import Occupant
from depslice.callgraph.lowering.syntax import (
    Definition,
    breaks,
    import_entries,
    known_truth,
    made_each_time,
    may_swallow,
    operands,
    root_name,
    yields,
)
from depslice.callgraph.summary import Register, TypeExpr, pack

_CHANGING = frozenset(
    {"add", "append", "appendleft", "clear", "extend", "insert", "remove", "update"}
)

_COMPOUND = frozenset(
    {
        *(ast.AsyncFor, ast.AsyncWith, ast.For, ast.Match, ast.Try, ast.TryStar, ast.While),
        ast.With,
    }
)
"""Statements with blocks that may run in part, more than once, or not at all."""


class StatementLowering(ExpressionLowering):
    """Lowers statements into the current frame; definitions are its subclass's."""

    def __init__(self, *, future_annotations: bool, walrus: Sequence[int]) -> None:
        super().__init__()
        self.future_annotations = future_annotations
        self.walrus_lines = walrus  # ascending
        self.captures: list[tuple[Frame, str]] = []
        self.stores_by_name = False  # a constant may be something else when it is read
        self.changing: frozenset[str] = frozenset()  # names that `+=` and the like may change
        self.rebound: frozenset[str] = frozenset()

    # Implemented by the lowering of definitions.
    def define(self, node: Definition) -> Register:
        """Lower a function or class that a function defines."""
        raise NotImplementedError

    def block(self, body: list[ast.stmt]) -> bool:
        """Lower ``body``; whether control leaves it before its end."""
        frame = self.frame
        guards = frame.guards
        leaves = False
        known, lists = dict(frame.line.places), dict(frame.line.lists)
        for index, node in enumerate(body):
            if self.statement(node):
                leaves = True
                if index + 1 < len(body) and yields(body[index + 1 :]):
                    frame.flags |= s.GENERATOR
                break  # what follows a jump is dead
        frame.guards = guards
        frame.line.places, frame.line.lists = known, lists
        return leaves

    def dead_block(self, body: list[ast.stmt]) -> bool:
        """Of a block that never runs nothing but the imports, which tell what something is."""
        for node in body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self.statement(node)
        if yields(body):
            self.frame.flags |= s.GENERATOR
        return True

    def _typing_block(self, body: list[ast.stmt]) -> bool:
        """Of a block that type checkers alone run what tells them what something is."""
        if yields(body):
            self.frame.flags |= s.GENERATOR
        return self.block([node for node in body if not isinstance(node, ast.Expr)])

    def statement(self, node: ast.stmt) -> bool:
        """Lower one statement of a function (or a simple one of any scope)."""
        kind = type(node)
        if kind is ast.Expr:
            if type(node.value) is not ast.Constant:  # type: ignore[attr-defined]
                self._call_statement(node.value)  # type: ignore[attr-defined]
            return False
        if kind is ast.Assign:
            value = self._constant_value(node.value, node.targets)  # type: ignore[attr-defined]
            value = s.UNBOUND if node.value in self.unseen else value  # type: ignore[attr-defined]
            for target in node.targets:  # type: ignore[attr-defined]
                self.assign(target, value)
            if type(node.value) is ast.List:  # type: ignore[attr-defined]
                match node.targets:  # type: ignore[attr-defined]
                    case [ast.Name(id=name)]:
                        self.note_list(name, value)
            return False
        if kind is ast.If:
            left = self._if(node)  # type: ignore[arg-type]
            self.frame.line.clear()
            return left
        if kind is ast.Return:
            value = s.NONE if node.value is None else self.expression(node.value)  # type: ignore[attr-defined]
            guards = self.frame.guards
            self.frame.ops.append((s.RETURN, value, guards) if guards else (s.RETURN, value))
            return True
        if kind in _COMPOUND:
            self.frame.line.clear()
            left = self._other(node)
            self.frame.line.clear()
            return left
        return self._other(node)

    def _other(self, node: ast.stmt) -> bool:
        match node:
            case ast.For() | ast.AsyncFor():
                self._loop(node)
            case ast.While():
                return self._while(node)
            case ast.With() | ast.AsyncWith():
                return self._with(node)
            case ast.Try() | ast.TryStar():
                return self._try(node)
            case ast.Raise(exc=exc, cause=cause):
                if exc is not None:
                    value = self.expression(exc)
                    self.frame.ops.append((s.RAISE, value, pack(node.lineno, node.col_offset)))
                if cause is not None:
                    self.expression(cause)
                return True
            case ast.Continue() | ast.Break():
                return True
            case ast.AugAssign():
                self._augmented(node)
            case ast.AnnAssign():
                self._annotated(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._bind_name(node.name, self.define(node))
            case ast.Import() | ast.ImportFrom():
                self._local_import(node)
            case ast.Assert(test=test, msg=msg):
                self._test(test)
                if msg is not None:
                    self.frame.line.lists.clear()
                    said = self.expression(msg)
                    pos = pack(msg.lineno, msg.col_offset)
                    self.frame.ops.append((s.FORMAT_VALUE, said, s.BY_ERROR, pos))
                self.narrow(test, positive=True)
            case ast.Delete(targets=targets):
                self._delete(targets)
            case ast.Match():
                self._match(node)
            case _:
                alias, aliased = getattr(node, "name", None), getattr(node, "value", None)
                if isinstance(alias, ast.Name) and isinstance(aliased, ast.expr):  # `type X = …`
                    self._annotation(aliased, eager=False)
                    self._bind_name(alias.id, self.expression(aliased))
        return False

    def _test(self, test: ast.expr) -> None:
        value = self.expression(test)
        if value >= 0:
            self.test_truth(value, test)

    def _if(self, node: ast.If) -> bool:
        # `elif` chains nest in `orelse`; walk them in a loop, deep ones are real.
        frame = self.frame
        ends: list[dict[str, Register]] = []
        current: ast.If = node
        outer = frame.guards
        shown: tuple[tuple[int, str, bool], ...] = ()  # by the branches that have left
        while True:
            self._test(current.test)
            before = frame.env
            frame.env = dict(before)
            self.narrow(current.test, positive=True)
            guard = self._guard(current.test)
            guards = frame.guards
            if guard is not None:
                frame.guards = (*guards, guard)
            holds = known_truth(current.test)
            typing = holds is None and known_truth(current.test, self.flags) is False
            block = self.dead_block if holds is False else self.block
            if not (self._typing_block if typing else block)(current.body):
                ends.append(frame.env)
            if guard is not None:
                opposite = (*guard[:2], not guard[2])
                frame.guards = (*guards, opposite)
                if not ends:
                    shown = (*shown, opposite)
            frame.env = dict(before)
            self.narrow(current.test, positive=False)
            orelse = current.orelse
            if holds is not True and len(orelse) == 1 and type(orelse[0]) is ast.If:
                current = orelse[0]
                continue
            if not (self.dead_block if holds is True else self.block)(orelse):
                ends.append(frame.env)
            elif guard is not None and current is node:
                shown = (guard,)
            break
        frame.guards = (*outer, *shown)
        if not ends:
            frame.env = dict(before)
            return True
        frame.env = ends[0]
        for end in ends[1:]:
            frame.merge(frame.env, end)
        return False

    def _guard(self, test: ast.expr) -> tuple[int, str, bool] | None:
        """What ``test`` shows of a parameter when it holds: given (not ``None``), callable."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self._guard(operand)
                return None if inner is None else (*inner[:2], not inner[2])
            case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[ast.Constant(None)]):
                if not isinstance(op, ast.Is | ast.IsNot):
                    return None
                shown = ("given", isinstance(op, ast.IsNot))
            case ast.Name(id=name):
                shown = ("given", True)
            case ast.Call(func=ast.Name(id="callable"), args=[ast.Name(id=name)], keywords=[]):
                shown = ("callable", True)
            case _:
                return None
        register = self.frame.env.get(name, -1)
        return (register, *shown) if 0 <= register < self.frame.parameters else None

    def _loop_target(self, node: ast.For | ast.AsyncFor) -> None:
        iterable = self.expression(node.iter)
        frame = self.frame
        item = frame.new()
        pos = pack(node.iter.lineno, node.iter.col_offset)
        frame.ops.append((s.ITER, item, iterable, pos, isinstance(node, ast.AsyncFor)))
        self.note_texts(node.iter, item)
        self.assign(node.target, item)

    def _loop_heads(self, body: list[ast.stmt]) -> list[tuple[str, list[Register], int]]:
        """Open a φ for every name the loop rebinds: (name, its sources, history length)."""
        frame = self.frame
        frame.flags |= s.HAS_LOOP
        frame.turns += 1
        frame.loops += 1
        heads: list[tuple[str, list[Register], int]] = []
        for name in sorted(bound_names(body, walrus=self.walrus_lines).local & frame.locals):
            before = frame.env.get(name)
            sources = [] if before is None else [before]
            frame.env[name] = frame.phi(sources)
            heads.append((name, sources, len(frame.history.get(name, ()))))
        return heads

    def _close_loop(
        self, heads: list[tuple[str, list[Register], int]], env: dict[str, Register]
    ) -> None:
        frame = self.frame
        for name, sources, seen in heads:
            sources.extend(frame.history.get(name, ())[seen:])
        frame.env = dict(env)  # what tests in the loop have shown may not hold behind it
        frame.turns += 1
        frame.loops -= 1

    def _loop(self, node: ast.For | ast.AsyncFor) -> None:
        iterable = self.expression(node.iter)
        frame = self.frame
        frame.env = dict(frame.env)
        item = frame.new()
        pos = pack(node.iter.lineno, node.iter.col_offset)
        heads = self._loop_heads([*node.body, ast.Assign(targets=[node.target], value=node.iter)])
        head_env = dict(frame.env)
        frame.ops.append((s.ITER, item, iterable, pos, isinstance(node, ast.AsyncFor)))
        self.note_texts(node.iter, item)
        self.assign(node.target, item)
        self.pair(node.target, iterable)
        self.block(node.body)
        self._close_loop(heads, head_env)
        self._loop_else(node)

    def _while(self, node: ast.While) -> bool:
        """Lower a loop; whether nothing runs behind it."""
        holds = known_truth(node.test)
        if holds is False:
            self._test(node.test)
            self.dead_block(node.body)
            return self.block(node.orelse)
        frame = self.frame
        frame.env = dict(frame.env)
        heads = self._loop_heads([*node.body, ast.Expr(value=node.test)])
        head_env = dict(frame.env)
        self._test(node.test)
        self.narrow(node.test, positive=True)
        self.block(node.body)
        self._close_loop(heads, head_env)
        if holds and not breaks(node.body):
            return True
        self._loop_else(node)
        return False

    def _loop_else(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        """The ``else`` of a loop, which ``break`` does not run."""
        frame = self.frame
        broken = dict(frame.env) if breaks(node.body) else None
        if isinstance(node, ast.While):
            self.narrow(node.test, positive=False)
        left = self.block(node.orelse)
        if broken is not None:
            if left:
                frame.env = broken
            else:
                frame.merge(broken, frame.env)

    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        self._enter_items(node)
        frame = self.frame
        before, seen = dict(frame.env), self._versions()
        left = self.block(node.body)
        frame.turns += 1
        if not may_swallow(node, left=left):
            return left
        interrupted = self._interrupted(before, seen)
        if left:
            frame.env = interrupted
        else:
            frame.merge(interrupted, frame.env)
        return False

    def _versions(self) -> dict[str, int]:
        return {name: len(versions) for name, versions in self.frame.history.items()}

    def _interrupted(self, before: Environment, seen: dict[str, int]) -> Environment:
        """What names hold where a block may have ended anywhere: what they held, or were given."""
        frame = self.frame
        found = dict(before)
        for name, versions in frame.history.items():
            fresh = versions[seen.get(name, 0) :]
            if fresh and name in frame.locals:
                known = [found[name]] if name in found else []
                found[name] = frame.phi([*known, *fresh])
        return found

    def _enter_items(self, node: ast.With | ast.AsyncWith) -> None:
        frame = self.frame
        for item in node.items:
            manager = self.expression(item.context_expr)
            register = frame.new()
            pos = pack(item.context_expr.lineno, item.context_expr.col_offset)
            frame.ops.append((s.ENTER, register, manager, pos, isinstance(node, ast.AsyncWith)))
            frame.turns += 1
            if item.optional_vars is not None:
                self.assign(item.optional_vars, register)

    def _handler(self, handler: ast.ExceptHandler, *, grouped: bool) -> None:
        if handler.type is None:
            return
        value = self.expression(handler.type)
        if handler.name:
            frame = self.frame
            register = frame.new()
            shown = s.GROUPED if grouped else True
            frame.ops.append((s.NARROW, register, s.UNBOUND, value, shown))
            self._bind_name(handler.name, register)

    def _try(self, node: ast.Try | ast.TryStar) -> bool:
        frame = self.frame
        before, seen = dict(frame.env), self._versions()
        left = self.block(node.body)
        body_end = frame.env
        entry = self._interrupted(before, seen) if node.handlers else before
        ends: list[Environment] = []
        for handler in node.handlers:
            frame.env = dict(entry)
            self._handler(handler, grouped=type(node) is ast.TryStar)
            if not self.block(handler.body):
                ends.append(frame.env)
        if not left:
            frame.env = body_end
            if not self.block(node.orelse):
                ends.insert(0, frame.env)
        frame.env = ends[0] if ends else dict(entry)
        for end in ends[1:]:
            frame.merge(frame.env, end)
        if not node.finalbody:
            return not ends
        after = frame.env
        at_last = self._interrupted(before, seen)  # it runs however the rest ends
        frame.env = dict(at_last)
        final_left = self.block(node.finalbody)
        if ends:  # and what follows, only where that ends well
            rebound = {n: r for n, r in frame.env.items() if r != at_last.get(n)}
            gone = at_last.keys() - frame.env.keys()
            frame.env = {n: r for n, r in {**after, **rebound}.items() if n not in gone}
        return final_left or not ends

    def _match(self, node: ast.Match) -> None:
        frame = self.frame
        subject = self.expression(node.subject)
        before = frame.env
        ends: list[dict[str, Register]] = [dict(before)]
        for case_ in node.cases:
            frame.env = dict(before)
            matched = self._pattern(case_.pattern, subject)
            if (
                isinstance(node.subject, ast.Name)
                and matched != subject
                and node.subject.id in frame.env
            ):
                frame.env[node.subject.id] = matched
            if case_.guard is not None:
                self._test(case_.guard)
            if not self.block(case_.body):
                ends.append(frame.env)
        frame.env = ends[0]
        for end in ends[1:]:
            frame.merge(frame.env, end)

    def _pattern(self, pattern: ast.pattern, subject: Register) -> Register:
        """Lower a pattern (PEP 634); the register of the subject when it matched."""
        frame = self.frame
        pos = pack(pattern.lineno, pattern.col_offset)
        match pattern:
            case ast.MatchValue(value=value):
                right = self.expression(value)
                frame.ops.append((s.COMPARE, subject, right, "__eq__", pos))
            case ast.MatchAs(pattern=inner, name=name):
                if inner is not None:
                    subject = self._pattern(inner, subject)
                if name is not None:
                    self._bind_name(name, subject)
            case ast.MatchStar(name=name):
                if name is not None:
                    self._bind_name(name, subject)
            case ast.MatchOr(patterns=patterns):
                return frame.phi([self._pattern(option, subject) for option in patterns])
            case ast.MatchSequence(patterns=patterns):
                for element, register in self.unpacked(patterns, subject):
                    self._pattern(element, register)
            case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
                taken: list[tuple[str | None, Register, Register]] = []
                for key, value_pattern in zip(keys, patterns, strict=True):
                    register = frame.new()
                    place = self.expression(key)
                    frame.ops.append((s.SUB, register, subject, place, pos))
                    self._pattern(value_pattern, register)
                    taken.append((None, place, s.UNBOUND))
                asked = (*(["get"] if keys else ()), *(["keys"] if rest is not None else ()))
                for method in asked:  # 8.6.4.8
                    frame.ops.append((s.FORMAT_VALUE, subject, method, pos))
                if rest is not None:
                    register = frame.new()
                    frame.ops.append((s.MAPPING, register, tuple(taken), (subject,), (0,)))
                    self._bind_name(rest, register)
            case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=values):
                types = self.expression(cls)
                matched = frame.new()
                frame.ops.append((s.CLASS_MATCH, matched, subject, types, pos))
                if patterns:
                    args = frame.new()
                    frame.ops.append((s.ATTR, args, types, "__match_args__", pos))
                for index, element in enumerate(patterns):
                    register = frame.new()
                    frame.ops.append((s.MATCH_ARG, register, matched, types, index, pos))
                    self._pattern(element, register)
                for name, value_pattern in zip(names, values, strict=True):
                    register = frame.new()
                    frame.ops.append((s.ATTR, register, matched, name, pos))
                    self._pattern(value_pattern, register)
                return matched
        return subject

    def _local_import(self, node: ast.Import | ast.ImportFrom) -> None:
        frame = self.frame
        pos = pack(node.lineno, node.col_offset)
        for bound, level, module, name in import_entries(node):
            if bound == "*":
                self.dynamic.append((pos, "star-import"))
                continue
            register = frame.new()
            frame.ops.append((s.IMPORT, register, level, module, name, pos))
            self._bind_name(bound, register)

    def _delete(self, targets: list[ast.expr]) -> None:
        for target in targets:
            if isinstance(target, ast.Subscript):
                obj, key = self.expression(target.value), self.expression(target.slice)
                pos = pack(target.lineno, target.col_offset)
                self.frame.ops.append((s.DELETE_SUB, obj, key, pos))
                self._note_write(target)
            elif isinstance(target, ast.Attribute):
                obj = self.expression(target.value)
                pos = pack(target.lineno, target.col_offset)
                self.frame.ops.append((s.DELETE_ATTR, obj, target.attr, pos))
                self._note_write(target)
                self.frame.line.forget(target.attr)
            elif isinstance(target, ast.Name):
                if self.frame.is_function:
                    self.frame.env.pop(target.id, None)
                else:
                    self.load(target.id, pack(target.lineno, target.col_offset))
            elif isinstance(target, ast.Tuple | ast.List):
                self._delete(target.elts)

    def _annotation(self, node: ast.expr, *, eager: bool | None) -> TypeExpr:
        found = type_expression(node)
        if any(True for _ in type_names(found)):
            pos = pack(node.lineno, node.col_offset)
            self.frame.ops.append((s.ANNOTATION, found, pos, eager))
        for call in calls_in(node) if eager else ():  # `Annotated[int, Gt(1)]`
            self.expression(call)
        return found

    def _augmented(self, node: ast.AugAssign) -> None:
        target = node.target
        frame = self.frame
        pos = pack(node.lineno, node.col_offset)
        current = self.expression(target)
        value = self.expression(node.value)
        result = frame.new()
        name = BINARY_DUNDERS[type(node.op)]
        frame.ops.append((s.BINARY, result, current, value, "i" + name, pos))
        if isinstance(target, ast.Name):
            self._bind_name(target.id, result)
        else:
            self.assign(target, result)

    def _constant_value(self, node: ast.expr, targets: list[ast.expr]) -> Register:
        """What is assigned; of a module's or class's number, which one, if it stays that."""
        if self.frame.is_function or self.stores_by_name:
            return self.expression(node)
        if any(type(each) is not ast.Name or each.id in self.changing for each in targets):
            return self.expression(node)
        return self.told(node)

    def _annotated(self, node: ast.AnnAssign) -> None:
        frame = self.frame
        eager = not self.future_annotations and not frame.is_function
        declared = self._annotation(node.annotation, eager=eager)
        value = None if node.value is None else self._constant_value(node.value, [node.target])
        if declared[-1] == "TypeAlias" and node.value is not None:
            # Linters do not follow `X: "TypeAlias" = "…"`.
            unseen = isinstance(node.annotation, ast.Constant)
            self._annotation(node.value, eager=None if unseen else False)
        register = frame.new()
        frame.ops.append((s.DECLARE, register, declared, value))
        if isinstance(node.target, ast.Name) and value is None and frame.is_function:
            frame.set_local(node.target.id, register)
            return
        self.assign(node.target, register)

    # --- stores

    def assign(self, target: ast.expr, value: Register) -> None:
        """Lower the binding of an assignment target."""
        match target:
            case ast.Name(id=name):
                self._bind_name(name, value)
            case ast.Attribute(value=obj, attr=attr):
                receiver = self.written(obj)
                frame = self.frame
                end = target.end_lineno or target.lineno
                column = max((target.end_col_offset or 0) - len(attr.encode()), 0)
                frame.ops.append((s.SETATTR, receiver, attr, value, pack(end, column)))
                frame.turns += 1
                self._stand(obj, attr, value)
                if receiver == 0 and frame.first_param:
                    frame.self_stores.add(attr)
                else:
                    frame.stores.add(attr)
                self._note_write(target)
            case ast.Subscript(value=obj, slice=key):
                receiver, index = self.written(obj), self.told(key)
                pos = pack(target.lineno, target.col_offset)
                self.frame.ops.append((s.SETSUB, receiver, index, value, pos))
                self._note_write(target)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for element, register in self.unpacked(elements, value):
                    self.assign(element, register)
            case ast.Starred(value=inner):
                self.assign(inner, value)

    def _stand(self, obj: ast.expr, attr: str, value: Register) -> None:
        """From here on it is known what stands in ``obj.attr``, which has been stored just now."""
        frame = self.frame
        frame.line.forget(attr)
        if type(obj) is not ast.Name or obj.id in self.rebound or obj.id in frame.rebound:
            return
        index = len(frame.ops) - 1
        source: Register | tuple[int, int] = value
        if not frame.is_function:
            if frame.class_scope is not None or frame.parent is not None:
                return
            source = frame.unit, index
            frame.stored_for.append(index)
        holder = self._holder_of(obj.id)
        frame.line.places[obj.id, attr] = Occupant(source, holder, index + 1)

    def _bind_name(self, name: str, value: Register) -> None:
        frame = self.frame
        if not frame.is_function:
            frame.line.unbind(name)
            frame.ops.append((s.BIND, name, value))
        elif name in frame.globals:
            frame.ops.append((s.SETGLOBAL, name, value))
            frame.globals_written.add(name)
        elif name in frame.nonlocals:
            owner = frame.owner_of(name)
            if owner is not None:
                frame.ops.append((s.SETFREE, owner.unit, name, value))
                owner.rebound.add(name)
                owner.show(name)
                self.captures.append((owner, name))
        else:
            frame.set_local(name, value)

    def _note_write(self, target: ast.expr) -> None:
        """A store through a module-scope name changes that module's state."""
        frame = self.frame
        root = root_name(target)
        if root is not None and frame.is_function and self._is_global(root):
            frame.globals_written.add(root)

    def _call_statement(self, value: ast.expr) -> None:
        """``X.append(…)`` whose result nobody wants changes ``X`` rather than reads it."""
        start = len(self.frame.ops)
        self.expression(value)
        if not self.frame.is_function:
            return
        self._note_call(value)
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if (
                attr in _CHANGING
            ):
                op = self.frame.ops[start] if len(self.frame.ops) > start else None
                if op is not None and op[0] == s.GLOBAL and op[2] == name:
                    self.frame.ops[start] = (*op[:4], -op[4])

    def _note_call(self, value: ast.expr) -> None:
        if isinstance(value, ast.Await):
            value = value.value
        for made in made_each_time(value):
            self._note_call(made)
        roots = [root_name(operand) for operand in operands(value)]
        self.frame.globals_written.update(r for r in roots if r is not None and self._is_global(r))
        if not isinstance(value, ast.Call):
            return
        root = None
        if isinstance(value.func, ast.Attribute):
            root = root_name(value.func)
        elif isinstance(value.func, ast.Name) and value.func.id in ("setattr", "delattr"):
            root = root_name(value.args[0]) if value.args else None
        elif isinstance(value.func, ast.Call):  # `X.register("x")(f)`
            self._note_call(value.func)
        if root is not None and self._is_global(root):
            self.frame.globals_written.add(root)

    def _is_global(self, name: str) -> bool:
        frame = self.frame
        if name in frame.globals:
            return True
        return name not in frame.locals and name not in frame.inner and frame.owner_of(name) is None
