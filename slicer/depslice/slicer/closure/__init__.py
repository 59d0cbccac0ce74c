"""The backward slice: everything of the repo that the targets need to be defined and to run.

A worklist over the pieces of modules (R2E, section 2 and appendix A, taken to where the slice
can be executed). What a piece refers to is in the facts of its units
(:mod:`depslice.callgraph.engine.facts`), which do not depend on the slice, but for variables that
kept code of another module rebinds; what does depend on it is decided here. Each module has one
idea:

* ``model``: the result, with a reason for everything in it;
* ``growth``: what keeping a piece means, and the worklist; shared by all below;
* ``classes`` (and ``records``): which classes are live, which of their members can run;
* ``builders``: what builds a variable; ``changing`` and what it asks: whether code changes one;
* ``names``: bindings of names, and the imports by which they travel;
* ``importing``, ``circles`` (and ``import_order``): modules that must run, in which order;
* ``open_values`` (and ``origins``): what is done with values that only callers know;
* ``computed``: names that code computes;
* ``following``: from facts to demands on the above;
* ``growing``: all of it put together, and the rounds.
"""

from __future__ import annotations

from depslice.slicer.closure.growing import grow_closure
from depslice.slicer.closure.model import Closure, Demand, PieceKey

__all__ = ["Closure", "Demand", "PieceKey", "grow_closure"]
