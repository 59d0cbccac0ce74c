r"""Code out of what a model says.

>>> said = "Sure:\n```python\ndef add(a, b):\n    return a + b\n```\nIt adds."
>>> print(code_of(said, Problem(id="", specification="", entry_point="add")))
def add(a, b):
    return a + b
"""

from __future__ import annotations

import re
from typing import Final

from depslice.solvers.problem import Problem
from depslice.solvers.syntax import syntax_error

# Fences are as CommonMark has them (4.5). A block that was cut off has no end.
_BLOCK: Final = re.compile(
    r"^([ \t]*)(`{3,}|~{3,})[^\n`]*\n(.*?)(?:^(?:\1)? {0,3}\2|\Z)", re.DOTALL | re.MULTILINE
)


def code_of(text: str, problem: Problem) -> str:
    """The answer in ``text``: the block that defines the entry point, the last if there are several.

    Without such a block it is the last block, and without blocks all of the text. Where
    that is the body of the function alone, the specification comes before it. A block that is
    indented as a whole, as in a list, loses the indentation of its fence (CommonMark, 4.5).
    Where there is no code, it is empty: then a specification is no answer either.
    """
    blocks = [_outdented(block.rstrip("\n"), margin) for margin, _, block in _BLOCK.findall(text)]
    header = re.compile(
        rf"^[ \t]*(?:(?:(?:async[ \t]+)?def|class)[ \t]+{problem.entry_point}\b"
        rf"|{problem.entry_point}[ \t]*(?::[^=\n]*)?=(?!=))",
        re.MULTILINE,
    )
    found = [(header.search(block), block) for block in blocks]
    at_top = [block for match, block in found if match and not match[0][0].isspace()]
    defining = at_top or [block for match, block in found if match]
    code = (defining or blocks or [text.strip("\n")])[-1]
    if not code.strip():
        return ""
    if not header.search(code) and syntax_error(f"{problem.specification}\n{code}") is None:
        return f"{problem.specification}\n{code}"
    return code


def _outdented(block: str, margin: str) -> str:
    lines = block.split("\n")
    if not margin or any(line.strip() and not line.startswith(margin) for line in lines):
        return block
    return "\n".join(line[len(margin) :] for line in lines)
