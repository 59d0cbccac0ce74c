"""What a run really calls, and how the static call graph compares with it.

The recorder runs inside the traced program (``depslice trace``); all else here reads
what it has left, and runs nothing.
"""

from __future__ import annotations

from depslice.callgraph.tracing.gathering import gather
from depslice.callgraph.tracing.session import Session, recording_session
from depslice.callgraph.tracing.trace import (
    DynamicCall,
    Through,
    Trace,
    UnmappedCode,
    read_trace,
    trace_document,
)

__all__ = [
    "DynamicCall",
    "Session",
    "Through",
    "Trace",
    "UnmappedCode",
    "gather",
    "read_trace",
    "recording_session",
    "trace_document",
]
