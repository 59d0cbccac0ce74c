"""Abstract evaluation: which values reach which names, and so what refers to what.

:class:`~depslice.callgraph.engine.core.Engine` evaluates units (function bodies
and module-level pieces) over sets of abstract values until nothing changes. What
a unit's evaluation *reads* (return values, attributes, variables) are cells; a
unit is evaluated again when a cell it has read grows. What it *finds* are facts
(:mod:`depslice.callgraph.engine.facts`), kept from its last evaluation.
"""
