"""Solvers compared on one HTML page: no script, nothing fetched, all text escaped."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from depslice.solvers.running.record import Attempt
from depslice.solvers.scoring import Score
from depslice.solvers.telling import COLUMNS, score_row

_Scale = Callable[[float], float]

_PLOT, _HEIGHT = 606, 440
_LEFT, _TOP, _BOTTOM = 64, 24, 52
_RIGHT = _LEFT + _PLOT
_LINE, _LETTER = 17, 7.5  # the height of a label, and the width of a letter of it
_DECADE = 150  # of the plot's width for 1, 2 and 5; of less for 1 alone
_COLOURS: Final = ("#1f6feb", "#bc4c00", "#1a7f37", "#8250df", "#bf3989", "#57606a", "#9a6700")
_STYLE: Final = """
:root { color-scheme: light dark; --text: #1f2328; --page: #fff; --line: #d0d7de; --head: #f6f8fa;
  --axis: #57606a; --grid: #eaeef2; --yes: #dafbe1; --no: #ffebe9; --over: #fff8c5 }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --page: #0d1117; --line: #30363d;
  --head: #161b22; --axis: #8b949e; --grid: #21262d; --yes: #12361f; --no: #4b1a1d; --over: #453509 }
  svg g { filter: brightness(1.5) } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color: var(--text);
  background: var(--page) }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { border: 1px solid var(--line); padding: .25rem .5rem; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left } thead th { background: var(--head) }
.wide { overflow-x: auto } svg text { font: 13px system-ui, sans-serif; fill: var(--text) }
.axis { stroke: var(--axis) } .grid { stroke: var(--grid) }
.yes { background: var(--yes) } .no { background: var(--no) } .over { background: var(--over) }
@media (max-width: 40rem) { body { margin: 1rem } }
"""


def comparison_page(scores: Sequence[Score], attempts: Iterable[Attempt]) -> str:
    """pass@1 against tokens for each solver, all figures, and what each made of each problem."""
    models = ", ".join(sorted({score.model for score in scores})) or "no model"
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            (
                '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'
                " style-src 'unsafe-inline'\">"
            ),
            f"<title>Solvers compared</title><style>{_STYLE}</style></head><body>",
            "<h1>Solvers compared</h1>",
            (
                f"<p>Model: {_safe(models)}. Bars show 95 % bootstrap intervals over problems."
                " <i>Overfitted</i>: passes the visible tests and fails the hidden ones.</p>"
            ),
            _chart(scores),
            "<h2>Figures</h2>",
            _table(scores),
            "<h2>Problem by problem</h2>",
            (
                '<p><span class="yes">passed</span>, <span class="over">overfitted</span>,'
                ' <span class="no">failed</span>; of several attempts, how many passed.</p>'
            ),
            _matrix(list(attempts)),
            "</body></html>\n",
        )
    )


def _safe(text: str) -> str:
    return html.escape(text)


def _label(score: Score) -> str:
    oracle = "oracle" if score.oracle else ""
    return " · ".join(filter(None, (score.solver, score.strategy, oracle)))


# --- the chart


def _chart(scores: Sequence[Score]) -> str:
    shown = [score for score in scores if 1 in score.pass_at]
    tokens = [score.tokens / score.problems for score in shown]
    if not shown or not max(tokens):
        return ""
    low = 10 ** math.floor(math.log10(max(min(tokens), 1)))
    high = 10 ** math.ceil(math.log10(max(tokens) * 1.01))
    bottom = max(_HEIGHT - _BOTTOM, _TOP + _LINE * (len(shown) - 1))
    longest = max(len(f"{_label(score)} 100%") for score in shown)
    width, height = round(_RIGHT + 20 + longest * _LETTER), bottom + _BOTTOM

    def x(value: float) -> float:
        return _LEFT + _PLOT * math.log(max(value, low) / low) / math.log(high / low)

    def y(value: float) -> float:
        return _TOP + (1 - value) * (bottom - _TOP)

    parts = [
        (
            f'<div class="wide"><svg viewBox="0 0 {width} {height}" width="{width}"'
            f' height="{height}" role="img" aria-label="pass@1 against tokens for each problem">'
        ),
        *_axes(low, high, x, y),
    ]
    labels = _apart([y(score.pass_at[1].value) for score in shown], bottom)
    for number, (score, used, label) in enumerate(zip(shown, tokens, labels, strict=True)):
        found, colour = score.pass_at[1], _COLOURS[number % len(_COLOURS)]
        parts.append(
            f'<g stroke="{colour}" fill="{colour}">'
            f"<title>{_safe(_label(score))}: {found.value:.1%}, {used:,.0f} tokens</title>"
            f'<line x1="{x(used):.1f}" x2="{x(used):.1f}"'
            f' y1="{y(found.low):.1f}" y2="{y(found.high):.1f}" stroke-width="2"/>'
            f'<circle cx="{x(used):.1f}" cy="{y(found.value):.1f}" r="5"/>'
            f'<line x1="{x(used) + 7:.1f}" y1="{y(found.value):.1f}" x2="{_RIGHT + 6}"'
            f' y2="{label - 4:.1f}" stroke-opacity=".25"/></g>'
            f'<text x="{_RIGHT + 10}" y="{label:.1f}">{_safe(_label(score))}'
            f" {found.value:.0%}</text>"
        )
    return "".join((*parts, "</svg></div>"))


def _axes(low: float, high: float, x: _Scale, y: _Scale) -> Iterator[str]:
    for share in (0, 0.25, 0.5, 0.75, 1):
        yield (
            f'<line class="grid" x1="{_LEFT}" x2="{_RIGHT}"'
            f' y1="{y(share):.1f}" y2="{y(share):.1f}"/>'
            f'<text x="{_LEFT - 8}" y="{y(share) + 4:.1f}" text-anchor="end">{share:.0%}</text>'
        )
    value = low
    while value <= high:
        for factor in (1, 2, 5) if x(10 * low) - x(low) >= _DECADE else (1,):
            tick = factor * value
            if tick <= high:
                yield (
                    f'<line class="grid" y1="{_TOP}" y2="{y(0)}"'
                    f' x1="{x(tick):.1f}" x2="{x(tick):.1f}"/>'
                    f'<text x="{x(tick):.1f}" y="{y(0) + 18}"'
                    f' text-anchor="middle">{tick:,.0f}</text>'
                )
        value *= 10
    middle = (_LEFT + _RIGHT) / 2
    yield f'<line class="axis" x1="{_LEFT}" x2="{_RIGHT}" y1="{y(0)}" y2="{y(0)}"/>'
    yield f'<line class="axis" x1="{_LEFT}" x2="{_LEFT}" y1="{y(0)}" y2="{y(1)}"/>'
    yield (
        f'<text x="{middle}" y="{y(0) + 40}" text-anchor="middle">'
        "tokens for each problem, in and out</text>"
        f'<text transform="translate(16 {(y(0) + y(1)) / 2}) rotate(-90)"'
        ' text-anchor="middle">pass@1</text>'
    )


def _apart(heights: Sequence[float], bottom: float) -> list[float]:
    """Places for labels near ``heights``, none on another, nor below ``bottom``."""
    places = dict.fromkeys(range(len(heights)), 0.0)
    order = sorted(places, key=lambda n: heights[n])
    last = -math.inf
    for number in order:
        last = places[number] = max(heights[number] + 4, last + _LINE)
    last = bottom + 4 + _LINE
    for number in reversed(order):
        last = places[number] = min(places[number], last - _LINE)
    return list(places.values())


# --- tables


def _table(scores: Sequence[Score]) -> str:
    rows = "".join(_row(score_row(score), "td") for score in scores)
    return (
        f'<div class="wide"><table><thead>{_row(COLUMNS, "th")}</thead><tbody>{rows}</tbody>'
        "</table></div>"
    )


def _row(cells: Iterable[str], kind: str) -> str:
    return f"<tr>{''.join(f'<{kind}>{_safe(cell)}</{kind}>' for cell in cells)}</tr>"


def _matrix(attempts: Sequence[Attempt]) -> str:
    columns = list(dict.fromkeys((a.solver, a.strategy, a.model) for a in attempts))
    cells: dict[tuple[str, tuple[str, str, str]], list[Attempt]] = {}
    for each in attempts:
        place = (each.problem, (each.solver, each.strategy, each.model))
        cells.setdefault(place, []).append(each)
    head = _row(("problem", *(" · ".join(filter(None, c[:2])) for c in columns)), "th")
    rows = "".join(
        f"<tr><td>{_safe(problem)}</td>"
        + "".join(_cell(cells.get((problem, column), [])) for column in columns)
        + "</tr>"
        for problem in dict.fromkeys(each.problem for each in attempts)
    )
    return f'<div class="wide"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>'


def _cell(attempts: Sequence[Attempt]) -> str:
    if not attempts:
        return "<td></td>"
    passed = sum(each.passed for each in attempts)
    over = any(each.visible_passed and not each.passed for each in attempts)
    kind = "yes" if passed == len(attempts) else "over" if over else "no"
    tokens = sum(a.usage.input_tokens + a.usage.output_tokens for a in attempts)
    count = f"{passed}/{len(attempts)}, " if len(attempts) > 1 else ""
    return f'<td class="{kind}" title="{_safe(attempts[0].why)}">{count}{tokens:,} tokens</td>'
