"""From what a model says to the code in it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Final

_MOST_CHARACTERS: Final = 100_000
_FENCE: Final = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]*)[^\n]*\n(?P<code>.*?)"
    r"(?:^(?P=fence)[`~]*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_PYTHON: Final = frozenset({"", "py", "python", "python3", "py3", "pytest"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NoCode:
    """There is none that can be used: a slug that stays, and a sentence for the model."""

    slug: str
    message: str


def extract_code(text: str) -> str | NoCode:
    r"""The Python file that an answer holds.

    >>> extract_code("Here:\n```python\ndef test_f(): pass\n```\nDone.")
    'def test_f(): pass\n'

    Of several blocks those with tests count: joined if they have no name in common, for
    these are parts of one file; otherwise the last one, which corrects those before.
    """
    if len(text) > _MOST_CHARACTERS:
        return NoCode(slug="too-long", message=f"the answer has {len(text):,} characters")
    blocks = [(m["language"].lower(), m["code"]) for m in _FENCE.finditer(text)]
    python = [code for language, code in blocks if language in _PYTHON and code.strip()]
    if python:
        return _chosen(python)
    others = sorted({language for language, _ in blocks if language not in _PYTHON})
    if others:
        return NoCode(
            slug="other-language",
            message=f"the answer is written in {', '.join(others)}, not in Python",
        )
    if not blocks and _tests(text):
        return text.strip() + "\n"
    if not text.strip():
        return NoCode(slug="empty", message="the answer is empty")
    return NoCode(slug="no-code", message="the answer has no block of Python code")


def _chosen(blocks: list[str]) -> str:
    if len(blocks) == 1:
        return blocks[0]
    tested = [(code, _tests(code)) for code in blocks]
    with_tests = [(code, names) for code, names in tested if names]
    if not with_tests:
        return blocks[-1]
    names = [name for _, found in with_tests for name in found]
    joined = "\n\n".join(code for code, _ in with_tests)
    if len(set(names)) == len(names) and _tests(joined):
        return joined
    return with_tests[-1][0]


def _tests(code: str) -> list[str]:
    """The names of its test functions; none if it is not Python."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.name.startswith("test")
    ]
