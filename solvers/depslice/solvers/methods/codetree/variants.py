"""The variants of the paper's tables, by their names there; all are the same search."""

from __future__ import annotations

from functools import partial
from typing import Final

from depslice.solvers.methods.codetree.search import CodeTree

breadth_first: Final = partial(CodeTree, critic=False, search="bfs", depth=3, width=3)
"""CodeTree-BFS with d = 3, w = 3; the paper's other sizes are ``depth=`` and ``width=``."""

depth_first: Final = partial(CodeTree, critic=False, search="dfs", depth=3, width=3)
"""CodeTree-DFS."""

strategy_list: Final = partial(CodeTree, critic=False, search="bfs", depth=1, width=20)
"""Strategy List: strategies alone, each implemented once."""
