"""Proof by execution: slices are run beside their original and compared.

The only component that runs code of analysed repositories, always in other processes.
"""

from __future__ import annotations

from depslice.validator.calls import Recorded, record
from depslice.validator.checking import Check, CheckReport, Difference, Observed
from depslice.validator.repairing import repair
from depslice.validator.workspace import (
    CheckUnavailable,
    Workspace,
    check_limits,
    open_workspace,
)

__all__ = [
    "Check",
    "CheckReport",
    "CheckUnavailable",
    "Difference",
    "Observed",
    "Recorded",
    "Workspace",
    "check_limits",
    "open_workspace",
    "record",
    "repair",
]
