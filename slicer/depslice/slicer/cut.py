"""What to keep of one source file: the plan that the renderers carry out.

A statement is named by its path in the syntax tree, as :mod:`ast` spells it:
``("body", 3)`` is the fourth statement of the module, ``("body", 3, "body", 0)``
the first statement of the class or compound statement that stands there,
``("body", 2, "handlers", 0, "body", 1)`` the second of an except handler,
``("body", 2, "cases", 0, "body", 0)`` the first of a match case. ``elif`` is,
as in :mod:`ast`, an ``If`` alone in ``orelse``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

StatementPath = tuple[str | int, ...]


class Form(StrEnum):
    """How much of an item is shown."""

    FULL = "full"
    SIGNATURE = "signature"  # header, decorators and docstring; the body is `...`
    NAME = "name"  # just enough to bind the name


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What a name bound by an import statement stands for.

    ``module`` is the dotted repo module; ``name`` the name in it, or ``None``
    when the import binds the module object itself. For code outside the repo
    both are ``None``; ``outside`` is the module out there that gives the name, where
    a module of the repo has it by a star.
    """

    module: str | None = None
    name: str | None = None
    outside: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCut:
    """What of one file belongs to a slice.

    * ``keep``: paths of the kept statements. A function definition or a simple
      statement is kept whole. A class or a compound statement (``if``, ``try``,
      ``with``, ``for``, ``while``, ``match``) keeps its header and those of its
      children that are in ``keep``; its ancestors are always in ``keep`` too.
    * ``aliases``: for a kept import statement, the *bound* names to keep
      (``import a.b as c`` binds ``c``, ``import a.b`` binds ``a``, ``from x
      import y`` binds ``y``). ``"*"`` stands for a star import kept as it is.
      A statement not listed keeps all.
    * ``stars``: for a star import that is replaced by the names it provides:
      path -> the names to import explicitly.
    * ``reexports``: bound names that nothing in the cut file reads, but which
      another file or the import itself needs (a re-export, an import for its
      side effects, a feature test in ``try``): path -> names. Renderers mark
      them so that linters do not call them unused.
    * ``runs``: for an import statement of which no name is kept, but which has to run a
      module all the same: path -> the statement that does (``import module``).
    * ``submodules``: for an import statement, modules outside the repo that it has to import
      too, by the bound name of their package: path -> name -> modules.
    * ``links``: for every import-bound name of the module scope, what it is.
    * ``overriding``: names that the module binds, and that a star import from outside the repo
      binds anew behind that: name -> the module out there.
    * ``modules``: for modules that the file imports by a name that another one has, or none: what
      they are called (of several source roots, or beside a script).
    * ``line_end``: what ends the lines of the file; those of ``text`` end with a line feed.
    * ``undocumented``: kept classes that are shown without their docstring.
    * ``forms``: how kept statements are shown, if not all are in ``full``. One without
      an entry is shown as what it stands in.
    """

    path: str
    module: str
    is_package: bool
    text: str
    keep: frozenset[StatementPath]
    aliases: Mapping[StatementPath, frozenset[str]] = field(default_factory=dict)
    stars: Mapping[StatementPath, frozenset[str]] = field(default_factory=dict)
    reexports: Mapping[StatementPath, frozenset[str]] = field(default_factory=dict)
    runs: Mapping[StatementPath, str] = field(default_factory=dict)
    submodules: Mapping[StatementPath, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    links: Mapping[str, Link] = field(default_factory=dict)
    overriding: Mapping[str, str] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)
    undocumented: frozenset[StatementPath] = frozenset()
    forms: Mapping[StatementPath, Form] = field(default_factory=dict)
    line_end: str = "\n"
