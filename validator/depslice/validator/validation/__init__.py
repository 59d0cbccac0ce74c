"""What a test harness is worth: evidence from the sandbox, weighed by gates.

>>> with open_session(program, sandbox=choose_sandbox(), python=sys.executable) as session:
...     verdict = session.validate(read_harness(Path("harness.py"), program))
>>> match verdict:
...     case Accepted(evidence=evidence): ...
...     case Rejected(reasons=reasons): ...
...     case Inconclusive(cause=cause): ...
"""

from __future__ import annotations

from depslice.validator.validation.evidence import (
    Control,
    Evidence,
    Mutant,
    Mutants,
    Run,
    TestResult,
)
from depslice.validator.validation.gates import Gates, judge
from depslice.validator.validation.harness import (
    FORMAT,
    Harness,
    HarnessError,
    parse_harness,
    read_harness,
)
from depslice.validator.validation.session import Session, open_session, validate_all
from depslice.validator.validation.verdict import (
    SCHEMA,
    Accepted,
    Inconclusive,
    Reason,
    Rejected,
    Verdict,
    not_a_harness,
    verdict_document,
)

__all__ = [
    "FORMAT",
    "SCHEMA",
    "Accepted",
    "Control",
    "Evidence",
    "Gates",
    "Harness",
    "HarnessError",
    "Inconclusive",
    "Mutant",
    "Mutants",
    "Reason",
    "Rejected",
    "Run",
    "Session",
    "TestResult",
    "Verdict",
    "judge",
    "not_a_harness",
    "open_session",
    "parse_harness",
    "read_harness",
    "validate_all",
    "verdict_document",
]
