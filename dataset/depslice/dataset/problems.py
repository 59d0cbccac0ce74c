"""Harnesses as problems for solvers: a line of JSON names both, and the calls that are shown.

The form is that of :mod:`depslice.solvers.loading.repository`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from depslice.dataset.model import Made
from depslice.validator.outcomes import Observed


def problem_document(
    made: Made, shown: Sequence[Observed], *, repository: Path, harnesses: Path, file: Path
) -> dict[str, Any]:
    """The problem of a harness that was accepted, as a line of ``file``.

    Paths are relative to ``file``. ``shown`` are calls that a solver may see; of the harness
    in the folder ``harnesses`` it sees nothing.
    """
    folder = file.absolute().parent
    return {
        "task_id": made.target,
        "repo": os.path.relpath(repository.absolute(), folder),
        "harness": os.path.relpath((harnesses / made.harness).absolute(), folder),
        "visible": [
            {"text": f"assert {each.call} == {each.value}", "setup": "\n".join(each.imports)}
            for each in shown
        ],
    }
