"""Names that mean something to every reader of stubs."""

from __future__ import annotations

import sys
from typing import Final

VERSION: Final = (3, 11)
"""The Python that stubs are read for: the oldest one that depslice supports."""

STANDARD_MODULES: Final = frozenset(sys.stdlib_module_names) | {
    "_typeshed",
    "builtins",
    "typing_extensions",
}

TYPING_ALIASES: Final = {
    "List": "builtins.list",
    "Dict": "builtins.dict",
    "Set": "builtins.set",
    "FrozenSet": "builtins.frozenset",
    "Tuple": "builtins.tuple",
    "Type": "builtins.type",
    "Deque": "collections.deque",
    "DefaultDict": "collections.defaultdict",
    "OrderedDict": "collections.OrderedDict",
    "Counter": "collections.Counter",
    "ChainMap": "collections.ChainMap",
}
"""Names of :mod:`typing` that are other names of classes, which its stub cannot say."""

PUBLIC_NAMES: Final = {
    "_blake2.blake2b": "hashlib.blake2b",
    "_blake2.blake2s": "hashlib.blake2s",
    "_frozen_importlib.ModuleSpec": "importlib.machinery.ModuleSpec",
    "_thread.LockType": "threading.Lock",
    "_thread._ExceptHookArgs": "threading.ExceptHookArgs",
    "_thread._local": "threading.local",
    "_weakrefset.WeakSet": "weakref.WeakSet",
}
"""What code calls the classes of private modules that no module of the same name exports."""

EVERYWHERE: Final = frozenset(
    {
        "abc",
        "bisect",
        "collections",
        "collections.abc",
        "concurrent.futures",
        "contextlib",
        "copy",
        "dataclasses",
        "datetime",
        "decimal",
        "enum",
        "functools",
        "hashlib",
        "heapq",
        "hmac",
        "html",
        "http",
        "io",
        "itertools",
        "json",
        "keyword",
        "logging",
        "logging.config",
        "math",
        "numbers",
        "operator",
        "os",
        "os.path",
        "pathlib",
        "queue",
        "random",
        "re",
        "secrets",
        "shutil",
        "statistics",
        "string",
        "struct",
        "tempfile",
        "textwrap",
        "threading",
        "tokenize",
        "traceback",
        "types",
        "urllib.parse",
        "uuid",
        "warnings",
        "weakref",
    }
)
"""Standard modules that no build and no supported version lacks, and that have lost no name that
a stub of any date declares without a condition.
"""
