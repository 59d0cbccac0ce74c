"""AdaCoder (Zhu et al. 2025): code first, and a plan only after a failure."""

from __future__ import annotations

from depslice.solvers.methods.adacoder.adacoder import AdaCoder

__all__ = ["AdaCoder"]
