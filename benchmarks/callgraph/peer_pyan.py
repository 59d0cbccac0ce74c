"""Run by the Python that has pyan3: prints the pairs of dotted names that pyan connects.

python peer_pyan.py ROOT
"""

import json
import os
import sys

from pyan.analyzer import CallGraphVisitor  # type: ignore[import-not-found]

root = os.path.abspath(sys.argv[1])
files = sorted(
    os.path.join(folder, name)
    for folder, _, names in os.walk(root)
    for name in names
    if name.endswith(".py")
)
has_init = os.path.exists(os.path.join(root, "__init__.py"))
visitor = CallGraphVisitor(files, root=os.path.dirname(root) if has_init else root)
pairs = sorted(
    {
        (user.get_name(), used.get_name())
        for user, every in visitor.uses_edges.items()
        for used in every
        if used.namespace is not None
    }
)
json.dump(pairs, sys.stdout)
