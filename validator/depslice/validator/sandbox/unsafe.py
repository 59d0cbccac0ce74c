"""No sandbox: processes of the user with limits, for those who ask for it by name."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from depslice.validator.sandbox.model import Availability, Job, Outcome, SandboxUnavailable
from depslice.validator.sandbox.supervised import Launch, Supervised, check_job, supervisor_argv

GIVEN_UP: Final = (
    "the code can read and change whatever you can, use the network, signal your processes,"
    " and leave processes behind; only limits of time and memory, and of single files, hold"
)
"""What a user of ``--unsafe-no-sandbox`` gives up."""


class UnsafeSandbox:
    """Runs jobs with the rights of the user; see :data:`GIVEN_UP`."""

    name = "unsafe"
    isolates = False

    def availability(self) -> Availability:
        """Wherever there are process limits."""
        if sys.platform == "win32":
            return Availability(ok=False, reason="Windows has no process limits", remedy="use WSL")
        return Availability(ok=True, reason=GIVEN_UP)

    def start(self, job: Job) -> Supervised:
        """See :meth:`Sandbox.start`."""
        check_job(job)
        if sys.platform == "win32":
            raise SandboxUnavailable("running code needs process limits, which Windows has not")
        folder = Path(tempfile.mkdtemp(prefix="depslice-unsafe-")).resolve()
        launch = Launch(
            argv=supervisor_argv(),
            folder=str(folder),
            isolated=False,
            environment={},
            close=lambda: shutil.rmtree(folder, ignore_errors=True),
        )
        return Supervised(job, launch)

    def run(self, job: Job) -> Outcome:
        """See :meth:`Sandbox.run`."""
        with self.start(job) as running:
            running.finish()
            return running.wait()
