"""Resolvers besides depslice's own: adapters that say which definitions calls reach.

Nothing outside this package knows jedi or PyCG.
"""

from __future__ import annotations

from depslice.callgraph.resolvers.protocol import (
    CallSite,
    Resolver,
    ResolveRequest,
    ResolverFile,
    ResolverResult,
    load_resolvers,
    resolver_names,
)

__all__ = [
    "CallSite",
    "ResolveRequest",
    "Resolver",
    "ResolverFile",
    "ResolverResult",
    "load_resolvers",
    "resolver_names",
]
