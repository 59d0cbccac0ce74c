"""Distributions for imports that nobody declared."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from depslice.validator.environment.undeclared import read_mapping
from depslice.validator.environment.uv import Uv
from depslice.validator.scratch import scratch_folder

_SOURCE: Final = "pipreqs==0.5.0"  # its file of imports and distributions, not its code
_FILE: Final = "pipreqs/mapping"


def known_distributions(root: Path, uv: Uv) -> Mapping[str, str]:
    """Import to distribution, as pipreqs has it: fetched once, one file of text is kept in ``root``.

    Without network, and never fetched before: nothing.
    """
    kept = root / f"{_SOURCE}.txt"
    if not kept.is_file() and uv.network:
        with scratch_folder() as place:
            text = uv.fetched(place, _SOURCE, _FILE)
        if text is None:
            return {}
        making = kept.with_suffix(f".{os.getpid()}")
        making.write_bytes(text)
        making.replace(kept)
    if not kept.is_file():
        return {}
    return read_mapping(kept.read_text(encoding="utf-8", errors="replace"))
