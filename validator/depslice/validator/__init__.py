"""Proof by execution: slices are run beside their original and compared.

The only component that runs code of analysed repositories, always in other processes.
"""

from __future__ import annotations

from depslice.validator.calls import Recorded, record
from depslice.validator.checking import Check, CheckReport, Difference, Observed
from depslice.validator.repairing import repair
from depslice.validator.running import (
    CheckUnavailable,
    Ended,
    Job,
    Limits,
    ProcessRunner,
    Runner,
)
from depslice.validator.workspace import Workspace, open_workspace

__all__ = [
    "Check",
    "CheckReport",
    "CheckUnavailable",
    "Difference",
    "Ended",
    "Job",
    "Limits",
    "Observed",
    "ProcessRunner",
    "Recorded",
    "Runner",
    "Workspace",
    "open_workspace",
    "record",
    "repair",
]
