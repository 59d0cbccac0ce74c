"""CodeTree (Li et al. 2024): agents search a tree of programs."""

from __future__ import annotations

from depslice.solvers.methods.codetree.search import CodeTree

__all__ = ["CodeTree"]
