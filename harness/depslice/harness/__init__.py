"""Generators of test harnesses, behind one protocol; see :mod:`depslice.harness.model`."""

from __future__ import annotations

from depslice.harness.choosing import GROUP, generator_names, open_generator
from depslice.harness.model import (
    Assessment,
    Attempt,
    Declined,
    Draft,
    GeneratorFactory,
    GeneratorUnavailable,
    HarnessGenerator,
    RecordedCall,
    Settings,
    Task,
)

__all__ = [
    "GROUP",
    "Assessment",
    "Attempt",
    "Declined",
    "Draft",
    "GeneratorFactory",
    "GeneratorUnavailable",
    "HarnessGenerator",
    "RecordedCall",
    "Settings",
    "Task",
    "generator_names",
    "open_generator",
]
