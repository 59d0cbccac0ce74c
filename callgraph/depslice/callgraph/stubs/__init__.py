"""Declarations of code outside the repo: type stubs and annotated packages, only read.

>>> Stubs().find("re.compile")                          # doctest: +SKIP
<re.compile>
"""

from depslice.callgraph.stubs.places import (
    StubFolder,
    bundled_folders,
    environment_folders,
    typeshed_folders,
)
from depslice.callgraph.stubs.store import Definition, StubClass, StubModule, Stubs

__all__ = [
    "Definition",
    "StubClass",
    "StubFolder",
    "StubModule",
    "Stubs",
    "bundled_folders",
    "environment_folders",
    "typeshed_folders",
]
