"""The ``bundle`` rendering: one text to read, for prompts."""

from __future__ import annotations

from collections.abc import Sequence

from depslice.slicer.model import RenderedFile


def render_bundle(files: Sequence[RenderedFile]) -> str:
    r"""Return the files one after another, each under its path.

    Files without text (packages that are only there to be importable) are left
    out. The order is kept.

    >>> render_bundle([RenderedFile(path="a.py", text="A = 1\n"),
    ...                RenderedFile(path="b.py", text="import a\n")])
    '# a.py\nA = 1\n\n# b.py\nimport a\n'
    """
    return "\n".join(
        f"# {_one_line(file.path)}\n{file.text.rstrip()}\n" for file in files if file.text.strip()
    )


def _one_line(path: str) -> str:
    """The path, which may hold anything but ``/`` and NUL, as one line of a comment."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in path)
