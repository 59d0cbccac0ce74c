r"""Running code nobody vetted: in a process that cannot reach the machine it runs on.

>>> sandbox = choose_sandbox()
>>> python = Path("/usr/bin/python3")
>>> sandbox.run(Job(argv=(str(python), "-c", "print(6 * 7)"))).stdout
b'42\n'
"""

from __future__ import annotations

from depslice.validator.sandbox.bubblewrap import SYSTEM_FOLDERS
from depslice.validator.sandbox.choosing import all_sandboxes, choose_sandbox
from depslice.validator.sandbox.interpreters import PYTHON_ENVIRONMENT, interpreter_folders
from depslice.validator.sandbox.lasting import Lasting, end_soon
from depslice.validator.sandbox.model import (
    Availability,
    Ending,
    Job,
    Limits,
    Message,
    Outcome,
    Running,
    Sandbox,
    SandboxUnavailable,
)
from depslice.validator.sandbox.supervised import INSIDE
from depslice.validator.sandbox.unsafe import GIVEN_UP

__all__ = [
    "GIVEN_UP",
    "INSIDE",
    "PYTHON_ENVIRONMENT",
    "SYSTEM_FOLDERS",
    "Availability",
    "Ending",
    "Job",
    "Lasting",
    "Limits",
    "Message",
    "Outcome",
    "Running",
    "Sandbox",
    "SandboxUnavailable",
    "all_sandboxes",
    "choose_sandbox",
    "end_soon",
    "interpreter_folders",
]
