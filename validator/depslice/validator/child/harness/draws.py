"""Hypothesis draws the same in every process, whatever code stands beside the harness.

It mixes constants of all local modules into what it draws: a candidate of another text
would be called with other arguments than the original. And a harness that fixes no seed
would call the two with whatever chance gives each.
"""

from __future__ import annotations

import sys
from typing import Any

_PROVIDERS = "hypothesis.internal.conjecture.providers"


def draw_alike(*, seeded: bool) -> None:
    """Let Hypothesis, if it was imported, know no constants of modules.

    ``seeded``: nor choose a seed by chance, where a test has none of its own.
    """
    providers: Any = sys.modules.get(_PROVIDERS)
    core: Any = sys.modules.get("hypothesis.core")
    if hasattr(providers, "_get_local_constants"):  # older ones have no such constants
        providers._get_local_constants = lambda: providers._local_constants  # noqa: SLF001 - no setting says it
    if seeded and core is not None:
        core.global_force_seed = 0
