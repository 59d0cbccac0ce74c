r"""AdaCoder's Debug Specialist: code repaired by rule, without a model (algorithm 3).

>>> print(repaired("def f(x):\n  if x:\n  return 1"))
def f(x):
    if x:
        return 1
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Final

from depslice.solvers.execution.outcome import Failure
from depslice.solvers.methods.adacoder.standard_names import import_of
from depslice.solvers.syntax import syntax_error

_STEP: Final = 4
_NAME: Final = re.compile(r"name '(\w+)' is not defined")
_TOP: Final = re.compile(
    r"(?:async\s+def|def|class|import|from|if|for|while|with|try|except|finally|else|elif|@|#"
    r"|[A-Za-z_][\w.\[\]]*(?:\s*:[^=]*)?\s*=[^=])"
)


def repaired(code: str) -> str:
    """``code`` after the rules for its form; code that compiles stays as it is."""
    rules: tuple[Callable[[str], str], ...] = (
        with_even_indentation,
        with_indented_blocks,
        without_stray_blocks,
        without_truncated_end,
    )
    for rule in rules:
        if compiles(code):
            break
        code = rule(code)
    return code


def compiles(code: str) -> bool:
    """Whether it is Python."""
    return syntax_error(code) is None


def without_stray_blocks(code: str) -> str:
    """Without what stands at top level and is no statement: fences, prompts, words about it."""
    lines = code.expandtabs(_STEP).splitlines()
    return "\n".join(line for line, keep in zip(lines, _belonging(lines), strict=True) if keep)


def _belonging(lines: list[str]) -> Iterator[bool]:
    """Whether each line belongs to a statement: it starts one, or is indented below one."""
    inside = False
    for line in lines:
        if line.strip() and not line[0].isspace() and line[0] not in ")]}":
            inside = bool(_TOP.match(line)) or (compiles(line) and not line.strip().isidentifier())
        yield inside


def with_even_indentation(code: str) -> str:
    """Each indentation as a multiple of four: as many steps as there are blocks around it.

    What all lines are indented by is no block.
    """
    found = []
    widths = [0]
    code = textwrap.dedent(code.expandtabs(_STEP))
    for line in code.splitlines():
        text = line.lstrip()
        if text:
            width = len(line) - len(text)
            while width < widths[-1]:
                widths.pop()
            if width > widths[-1]:
                widths.append(width)
        found.append(" " * _STEP * (len(widths) - 1) + text if text else "")
    return "\n".join(found)


def with_indented_blocks(code: str) -> str:
    """With each line after a colon indented, where it is not."""
    found: list[str] = []
    opened = None  # the depth of the last line, if that ends with a colon
    for line in code.splitlines():
        if not line.strip():
            found.append(line)
            continue
        text = line.lstrip()
        depth = len(line) - len(text)
        if opened is not None and depth <= opened:
            depth = opened + _STEP
        found.append(" " * depth + text)
        opened = depth if text.partition("#")[0].rstrip().endswith(":") else None
    return "\n".join(found)


def without_truncated_end(code: str) -> str:
    """Without last lines, while it does not compile and more than one function is left."""
    lines = code.splitlines()
    while not compiles("\n".join(lines)) and _functions(lines) > 1:
        lines.pop()
    return "\n".join(lines)


def _functions(lines: list[str]) -> int:
    return sum(bool(re.match(r"\s*(?:async\s+)?def\b", line)) for line in lines)


def imported(code: str, failure: Failure | None) -> str | None:
    """``code`` with the import that a ``NameError`` asks for; ``None`` where there is none."""
    if failure is None or failure.type != "NameError":
        return None
    missing = _NAME.search(failure.message)
    line = import_of(missing.group(1)) if missing else None
    lines = code.splitlines()
    if line is None or line in lines:
        return None
    # Imports from the future come first (language reference, 7.11.1), and no line can go between.
    futures = [n for n, each in enumerate(lines, 1) if each.startswith("from __future__ import")]
    first = futures[-1] if futures else 0
    return "\n".join([*lines[:first], line, *lines[first:]])
