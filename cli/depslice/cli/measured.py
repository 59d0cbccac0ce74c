"""A tradeoff as a table for people."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from depslice.callgraph.counting import counted

if TYPE_CHECKING:
    from depslice.slicer.tradeoff import Point, Tradeoff

_BAR = 24
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_NAMED = 3


def tradeoff_text(found: Tradeoff) -> str:
    """The rows of each axis under its name.

    ::

        shop.api:quote: 31 definitions, 896 tokens (o200k_base)

                         tokens                             shown  lost
        depth
          0                  70  █▉                             1  30 left out
          1                 286  ███████▋                       7  24 left out

    A bar is as long as the row has tokens. After what is lost stand the nearest
    definitions that the row below it on its axis still has.
    """
    lines = [
        f"{found.target}: {counted(found.items, 'definition')}, {counted(found.tokens, 'token')} ({found.tokenizer})",
        "",
        f"{'':<16}{'tokens':>10}  {'':<{_BAR}}  {'shown':>7}  lost",
    ]
    most = max((point.tokens for point in found.points), default=1) or 1
    for axis in dict.fromkeys(point.axis for point in found.points):
        lines.append(axis)
        points = found.along(axis)
        for point, richer in pairwise((*points, None)):
            assert point is not None
            value = f"{point.value:,}" if isinstance(point.value, int) else point.value
            lines.append(
                f"  {value:<14}{point.tokens:>10,}  {_bar(point.tokens / most):<{_BAR}}"
                f"  {point.items:>7,}  {_lost(point, richer)}".rstrip()
            )
    return "\n".join(lines) + "\n"


def _bar(share: float) -> str:
    eighths = max(1, round(share * _BAR * 8))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _lost(point: Point, richer: Point | None) -> str:
    """How much is lost, and the nearest of what the next row gives back.

    A row may have more tokens than its budget, if the target alone has: that is said first.
    """
    from depslice.slicer import Form

    is_over = point.axis == "budget" and point.tokens > int(point.value)
    parts = ["over the budget"] if is_over else []
    parts += [
        f"{number:,} {one if number == 1 else many}"
        for number, one, many in (
            (point.in_form(Form.SIGNATURE), "as a signature", "as signatures"),
            (point.in_form(Form.NAME), "as a name", "as names"),
            (point.left_out, "left out", "left out"),
        )
        if number
    ]
    if not parts:
        return ""
    if point.axis not in ("depth", "budget") or richer is None:
        return ", ".join(parts)
    still = {(loss.symbol, loss.form) for loss in richer.lost}
    gained = [loss.symbol for loss in point.lost if (loss.symbol, loss.form) not in still]
    if not gained:
        return ", ".join(parts)
    more = ", …" if len(gained) > _NAMED else ""
    return f"{', '.join(parts)}; next: {', '.join(gained[:_NAMED])}{more}"
