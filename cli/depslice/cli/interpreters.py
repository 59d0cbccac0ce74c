"""Which Python runs a repository's code, when the user does not say."""

from __future__ import annotations

import os
import sys

_ENVIRONMENTS = (".venv", "venv")


def python_of(path: str) -> str:
    """The interpreter of the repository's own environment, or the one that runs depslice."""
    for name in _ENVIRONMENTS:
        found = os.path.join(path, name, "bin", "python")
        if os.path.exists(found):
            return os.path.abspath(found)
    return sys.executable
