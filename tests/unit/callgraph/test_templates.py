"""Templates fall into the text they give as it is and what they show, in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from depslice.callgraph.templates import Conversion, Field, conversions_of, fields_of

TEXT = st.text(alphabet="ab_ %{}(s", max_size=5)
VALUE = st.text(alphabet="xy", max_size=3)
PARTS = st.lists(st.tuples(TEXT, VALUE, st.booleans()), max_size=4)


@given(PARTS, TEXT)
def test_text_and_plain_conversions_make_what_percent_gives(
    parts: list[tuple[str, str, bool]], end: str
) -> None:
    template = "".join(
        text.replace("%", "%%") + ("%s" if plain else "%5s") for text, _, plain in parts
    ) + end.replace("%", "%%")
    values = tuple(value for _, value, _ in parts)
    waiting = iter(parts)
    made = []
    for part in conversions_of(template):
        if isinstance(part, str):
            made.append(part)
            continue
        _, value, plain = next(waiting)
        assert part.plain == plain
        made.append(value if plain else f"{value:>5}")
    assert "".join(made) == template % values


@given(PARTS, TEXT)
def test_text_and_plain_fields_make_what_format_gives(
    parts: list[tuple[str, str, bool]], end: str
) -> None:
    def literal(text: str) -> str:
        return text.replace("{", "{{").replace("}", "}}")

    template = "".join(
        literal(text) + ("{}" if plain else "{:>5}") for text, _, plain in parts
    ) + literal(end)
    values = [value for _, value, _ in parts]
    made = []
    for part in fields_of(template):
        if isinstance(part, str):
            made.append(part)
            continue
        assert isinstance(part.first, int)
        value = values[part.first]
        assert part.plain == parts[part.first][2]
        made.append(value if part.plain else f"{value:>5}")
    assert "".join(made) == template.format(*values)


def test_fields_in_specifications_count_too() -> None:
    fields = [part for part in fields_of("{:{}}{}") if isinstance(part, Field)]
    assert [(field.first, field.plain) for field in fields] == [(0, False), (1, False), (2, True)]


def test_keys_and_widths_of_conversions() -> None:
    found = [part for part in conversions_of("%(a)s%*d%(b)r") if isinstance(part, Conversion)]
    assert [(each.key, each.plain) for each in found] == [
        ("a", True),
        (None, False),
        (None, False),
        ("b", False),
    ]


def test_what_is_malformed_gives_nothing() -> None:
    assert list(fields_of("{0")) == []
    assert list(fields_of("}")) == []
