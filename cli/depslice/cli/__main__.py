"""``python -m depslice.cli``: the same as the command ``depslice``."""

from __future__ import annotations

import os
import sys

# `-m` puts the working directory first on the import path. That may be the repository
# to analyse, whose `json.py` must not be taken for the standard library's.
if not sys.flags.safe_path and sys.path and os.path.realpath(sys.path[0]) == os.getcwd():
    del sys.path[0]

from depslice.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
