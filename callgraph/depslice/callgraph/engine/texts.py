"""Texts that are put together: templates and what they show, what is known of the result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.partials import PartialCalls
from depslice.callgraph.engine.values import EMPTY, MODULES_IN, OPEN, Value, Values
from depslice.callgraph.summary import Position
from depslice.callgraph.templates import conversions_of, fields_of

_MOST_TEXTS: Final = 8
_NAMED: Final = OPEN | {"C", "I"}


class Texts(PartialCalls):
    """``"…".format(…)``, ``"…" % …`` and sums of strings: what they read, and what they give."""

    def protocol(self, values: Values, dunders: Sequence[str], pos: Position) -> Values:
        """Implemented by the protocol part."""
        raise NotImplementedError

    def subscript(self, receivers: Values, keys: Values, pos: Position) -> Values:
        """Implemented by the container part."""
        raise NotImplementedError

    def global_names(self, module_name: str, keys: Values, pos: Position) -> Values:
        """Implemented by the naming part."""
        raise NotImplementedError

    def told_by_callers(self, keys: Values) -> Iterable[int]:
        """Implemented by the container part."""
        raise NotImplementedError

    def joined_text(self, pieces: Sequence[str | Values]) -> frozenset[int]:
        """The texts that ``pieces`` give one after the other: which, or how they start and end.

        Values that are no known text are some text: who puts them in shows them first.
        """
        heads, whole = self._ends(pieces, start=True)
        if whole:
            if max(map(len, heads)) <= s.LONGEST_NAME:
                return self.shared({self.intern(("S", text)) for text in heads})
            heads, tails = [_common_start(heads)], [""]
        else:
            tails, _ = self._ends(pieces, start=False)
        if len(heads) * len(tails) > _MOST_TEXTS:
            heads, tails = [_common_start(heads)], [_common_end(tails)]
        found: set[int] = set()
        for head in heads:
            for tail in tails:
                found |= self._with_ends(head, tail)
        for piece in pieces:  # `f"{package.__name__}.{name}"`
            if not isinstance(piece, str):
                found |= {v for v in piece if self.values[v][::2] == ("R", MODULES_IN)}
        return self.shared(found)

    def _with_ends(self, head: str, tail: str) -> frozenset[int]:
        """A text that starts and ends so."""
        if not head and not tail:
            return self.constants[s.STR]
        return self.single(("N", head[: s.LONGEST_NAME], tail[-s.LONGEST_NAME :]))

    def _ends(self, pieces: Sequence[str | Values], *, start: bool) -> tuple[list[str], bool]:
        """How the text of ``pieces`` may start, or end, and whether that is all of it."""
        ends = [""]
        for piece in pieces if start else reversed(pieces):
            parts, whole = self._ends_of(piece, start=start)
            if len(ends) * len(parts) > _MOST_TEXTS:
                parts, whole = [_common_start(parts) if start else _common_end(parts)], False
            ends = [end + part if start else part + end for end in ends for part in parts]
            if not whole:
                return ends, False
        return ends, True

    def _ends_of(self, piece: str | Values, *, start: bool) -> tuple[list[str], bool]:
        """The same of one piece."""
        if isinstance(piece, str):
            return [piece], True
        kinds = [self.values[value] for value in sorted(self.told_by_callers(piece))]
        if kinds and all(kind[0] == "S" for kind in kinds):
            return [kind[1] for kind in kinds], True
        if not kinds or any(kind[0] not in ("S", "N") for kind in kinds):
            return [""], False
        known = [kind[1] if kind[0] == "S" else kind[1 if start else 2] for kind in kinds]
        return [_common_start(known) if start else _common_end(known)], False

    def parts_of_text(self, text: Value, name: str, call: Call) -> Values:
        """``"engine.start".split(".")``: the parts of a text that is known, if all of it is.

        Of ``partition`` and of ``rsplit(".", 1)``, too; which of them is where is not told.
        """
        separators = [self.values[value] for value in call.argument(0, "sep")]
        known = text[0] == "S" and len(separators) == 1 and separators[0][0] == "S"
        if not known or not separators[0][1]:
            return EMPTY
        limits: list[tuple[int, ...]] = [()]
        if "split" in name and call.argument(1, "maxsplit"):
            limits.append((1,))  # any other gives what these two do, or parts between
        parts = {
            part
            for limit in limits
            for part in getattr(text[1], name)(separators[0][1], *limit)
            if part and part != separators[0][1]
        }
        return EMPTY.union(*(self.single(("S", part)) for part in sorted(parts)))

    def only_namespaces(self, values: Values) -> frozenset[int]:
        """Those of ``values`` that are namespaces: of modules, and of objects."""
        return frozenset(v for v in values if self.values[v][0] in ("NS", "ND"))

    def read_namespaces(self, spaces: Values, pos: Position) -> None:
        """Any of their names may be read."""
        for space in spaces:
            kind = self.values[space]
            if kind[0] == "NS":
                self.global_names(kind[1], EMPTY, pos)
            else:
                self.names_in(self.only(kind[1]), pos, inherited=False)

    def fill_fields(self, template: Value, call: Call, *, mapped: bool) -> None:
        """``"{0.name} {key[x]!r}".format(…)`` reads attributes and items (Format String Syntax)."""
        spaces = self.only_namespaces(call.spread)
        if template[0] != "S":
            self.read_namespaces(spaces, call.pos)
            self.fill_unknown_fields(call, mapped=mapped, is_text=True)
            return
        for field in fields_of(template[1]):
            if isinstance(field, str):
                continue
            if mapped:
                values = self.subscript(
                    call.argument(0, ""), self.single(("S", field.first)), call.pos
                )
            elif isinstance(field.first, int):
                given = field.first < len(call.args)
                values = call.args[field.first] if given else call.spread - spaces
            elif field.first not in call.keywords:
                values = call.spread - spaces
                if spaces:
                    key = self.single(("S", field.first))
                    values = values | self.subscript(spaces, key, call.pos)
            else:
                values = call.keywords[field.first]
            for is_attribute, name in field.rest:
                if is_attribute:
                    values = self.load_attribute(values, name, call.pos)
                else:
                    values = self.subscript(values, self.single(("S", name)), call.pos)
            self.protocol(values, field.dunders, call.pos)

    def fill_unknown_fields(self, call: Call, *, mapped: bool, is_text: bool) -> None:
        """``template.format(…)`` of a text nobody knows reads what fields of other texts name.

        ``format_map`` asks for any key. What only callers know is asked where the template
        surely ``is_text``: ``formatter.format(record)`` may be anything.
        """
        if self.whole:
            return
        given: Values = EMPTY.union(*call.args, *call.keywords.values(), call.spread)
        if mapped:
            given = self._under_any_key(given, call.pos, is_text=is_text)
        shown = frozenset(v for v in given if is_text or self.values[v][0] not in OPEN)
        self.protocol(shown, ("__format__", "__str__", "__repr__"), call.pos)
        for value in sorted(shown - self.unknown):
            if self.values[value][0] in _NAMED:
                how = "fill" if self.values[value][0] in OPEN else "read"
                self.facts.append((f.BY_NAME, value, how, call.pos))

    def _under_any_key(self, mappings: Values, pos: Position, *, is_text: bool = False) -> Values:
        """What mappings of the slice give for a key that a text nobody knows has."""
        asked = frozenset(
            value
            for value in mappings
            for kind in (self.values[value],)
            if kind[0] == "K"
            or (is_text and kind[0] in OPEN)
            or (kind[0] == "ND" and self.values[kind[1]][0] == "C")
            or (kind[0] == "I" and self.find_member(kind[1], "__getitem__") is not None)
        )
        return self.subscript(asked, self.constants[s.STR], pos) if asked else EMPTY

    def fill_template(
        self,
        templates: Values,
        places: Sequence[Values],
        rest: Values,
        mapping: Values,
        pos: Position,
    ) -> None:
        """A template for ``%`` shows the values of ``places`` and then ``rest``, or of keys."""
        texts: list[str] = [kind[1] for v in templates if (kind := self.values[v])[0] == "S"]
        for text in texts:
            waiting = iter(places)
            for part in conversions_of(text):
                if isinstance(part, str):
                    continue
                if part.key is None:
                    values = next(waiting, rest)
                else:
                    values = self.subscript(mapping, self.single(("S", part.key)), pos)
                self.protocol(values, part.dunders, pos)
        if len(texts) < len(templates):  # one that nobody knows
            for values in (*places, rest):
                self.protocol(values, ("__str__", "__repr__"), pos)
                if not self.whole:
                    self.protocol(values, ("__repr__",), pos)
            held = EMPTY if self.whole else self._under_any_key(mapping, pos)
            self.protocol(held, ("__str__", "__repr__"), pos)
            self.protocol(held, ("__repr__",), pos)


def _common_start(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return first[: sum(1 for _ in same)]


def _common_end(texts: Sequence[str]) -> str:
    return _common_start([text[::-1] for text in texts])[::-1]
