"""Whether a text is Python."""

from __future__ import annotations

import warnings


def syntax_error(text: str) -> Exception | None:
    """Why ``text`` cannot be compiled; ``None`` if it can.

    More than its grammar is looked at: a ``return`` outside a function parses.

    >>> print(syntax_error("return 1"))
    'return' outside function (<text>, line 1)
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<text>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return error
    return None
