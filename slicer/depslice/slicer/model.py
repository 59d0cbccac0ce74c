"""The values of slicing: slices, their items, and rendered contexts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from depslice.callgraph.model import (
    Certainty,
    Diagnostic,
    ReferenceKind,
    Site,
    Symbol,
    Unresolved,
)
from depslice.slicer.cut import FileCut, Form

GUESSES: Final = 1
"""So many guesses in a row are followed where nothing else is said."""


class Strategy(StrEnum):
    """How much context a prompt gets."""

    NAIVE = "naive"  # the target alone
    SLICED = "sliced"  # its dependency slice
    FULL = "full"  # its file and the files that imports


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One link of a reason chain: ``source`` refers to ``target`` in ``path`` at ``site``."""

    source: str
    target: str
    kind: ReferenceKind
    certainty: Certainty
    evidence: str
    path: str
    site: Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A definition of the slice.

    ``reason`` is the shortest chain of references from a target to it, empty
    for a target; ``distance`` is its length. ``text_span`` lines are those of
    ``symbol``. ``form`` is how much of it is rendered.
    """

    symbol: Symbol
    reason: tuple[Step, ...]
    distance: int
    form: Form = Form.FULL

    @property
    def is_target(self) -> bool:
        """Whether the caller asked for this definition."""
        return not self.reason


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ExternalImport:
    """A module outside the repo that the slice imports, and the names it takes from it.

    ``module`` is the dotted name as imported; ``names`` is empty for ``import module``.
    """

    module: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Omitted:
    """A definition that the options kept out of the slice, and which option did.

    What only such definitions would bring is not looked for.
    """

    symbol: str
    why: str  # "depth", "certainty", "guesses", "budget"
    distance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """What one or more targets depend on (R2E, section 2 and appendix A).

    ``items`` are ordered by distance, then by id; ``cuts`` are the files in
    dependency order: a file stands after those its module-level code needs,
    as far as import cycles allow. ``spelled`` are the re-exports by which the
    targets were asked for, as ``pkg:Name``: they are in the slice too.
    ``late`` are modules that functions import and that do something with what
    is here when they run; the slice ``without_late`` lacks what they do.
    """

    targets: tuple[str, ...]
    items: tuple[Item, ...]
    externals: tuple[ExternalImport, ...]
    unresolved: tuple[Unresolved, ...]
    omitted: tuple[Omitted, ...]
    cuts: tuple[FileCut, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    spelled: tuple[str, ...] = ()
    without_late: Slice | None = None
    late: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """In short: with all its parts and their code it would fill a screen, or ten."""
        omitted = f", {len(self.omitted)} omitted" if self.omitted else ""
        return f"<Slice of {', '.join(self.targets)}: {len(self.items)} items{omitted}>"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class RenderedFile:
    """One file of a rendering; ``path`` is relative, with ``/``.

    ``line_end`` is what ends its lines where it is written under its path, as in the
    repository; those of ``text`` end with a line feed.
    """

    path: str
    text: str
    line_end: str = "\n"

    def data(self) -> bytes:
        """What is written: UTF-8."""
        return self.text.replace("\n", self.line_end).encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A rendered slice: its files, its size, and a digest of its bytes (SHA-256, hex).

    ``tokens`` are those of all that is shown; of ``json``, those of the code in it.
    ``diagnostics`` tell what this form of it lacks.
    """

    strategy: str
    files: tuple[RenderedFile, ...]
    tokens: int
    tokenizer: str
    digest: str
    diagnostics: tuple[Diagnostic, ...] = ()

    def __repr__(self) -> str:
        files = ", ".join(file.path for file in self.files[:3]) + (", …" if self.files[3:] else "")
        return f"<Context {self.strategy}: {self.tokens} tokens ({self.tokenizer}) in {files}>"
