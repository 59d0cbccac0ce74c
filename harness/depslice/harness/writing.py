"""Text of harnesses in the validator's format (``docs/harness.md``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_WIDTH = 96


def harness_text(target: str, says: str, imports: Iterable[str], parts: Sequence[str]) -> str:
    """A harness for ``target``: docstring, imports, and ``parts`` (top-level statements)."""
    lines = [f'"""{says}"""', "", "from __future__ import annotations", ""]
    wanted = sorted(set(imports))
    if wanted:
        lines += [*wanted, ""]
    lines += ["HARNESS_FORMAT = 1", f"TARGET = {target!r}"]
    return "\n".join(lines) + "\n" + "".join(f"\n\n{part}\n" for part in parts)


def call_lines(head: str, arguments: str, tail: str, indent: int) -> str:
    """A call, on one line if it fits there."""
    space = " " * indent
    one = f"{space}{head}{arguments}{tail}"
    if len(one) <= _WIDTH or not arguments:
        return one
    return f"{space}{head}\n{space}    {arguments}\n{space}{tail}"
