"""Flattening a slice that spans several modules into one runnable file.

The statements of all modules stand in the order in which importing the modules
would run them; imports between them are gone, and every name that they bound
is spelled as the definition it stood for. The stages, in order: what each name
is (:mod:`flatten_scopes`, :mod:`flatten_names`), what becomes of each import
(:mod:`flatten_imports`), the order (:mod:`flatten_order`), one name for each
thing (:mod:`flatten_plan`, :mod:`flatten_naming`), and then the text
(:mod:`flatten_head`, :mod:`flatten_body`). What is not a changed name or import
is copied byte for byte.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from depslice.callgraph.model import Diagnostic
from depslice.slicer.cut import FileCut
from depslice.slicer.model import Slice
from depslice.slicer.render.flatten_body import body_regions
from depslice.slicer.render.flatten_head import head_text
from depslice.slicer.render.flatten_names import Program, Source
from depslice.slicer.render.flatten_plan import Distances, FlatPlan
from depslice.slicer.render.flatten_scopes import read_scopes
from depslice.slicer.render.flatten_spelled import (
    asks_unseen,
    module_replaced,
    modules_named_by_texts,
    renamed_unseen,
    replaces_itself,
    runs_late,
    stars_met,
    target_renamed,
)


def flatten_slice(sliced: Slice) -> str:
    r"""Return one Python file that does what the cut modules of ``sliced`` do.

    For ``pkg/b.py`` (``def scale(x): return x * 2``) and ``pkg/a.py``
    (``from .b import scale as s`` and ``def run(x): return s(x)``)::

        # --- pkg/b.py

        def scale(x): return x * 2


        # --- pkg/a.py

        def run(x): return scale(x)

    * Imports from outside the slice are collected at the top, those under
      ``if TYPE_CHECKING`` in one such block; guarded ones (``try``, ``if``) stay
      where they are, and the same guarded import of several modules stands once.
      A repo name that the slice lacks counts as outside it, by its absolute name.
    * Of two things with one name the target keeps it, or else a class (metaclasses
      read names), or else what is nearest to a target; the other is called
      ``name_module``. No reference is captured by a local name.
    * ``m.X = 1`` on a module of the slice becomes ``global X`` and ``X = 1``.
      Where a module object is itself a value (``getattr(m, name)``), a stand-in
      takes its place: an object of type :class:`types.ModuleType` that reads and
      writes this file's globals.
    * What a module makes by a text (``globals()[name] = x``) has that name here, and
      nothing else gets it.
    * What modules do that functions import is not done (it is told): all of the file
      runs at once, and they may import it on a condition.
    * What only modules import that functions import in their turn is imported in
      a ``try``: a package that is not installed then fails where it is used.
    * A module that is only imported under a condition (``if``, ``try``) stands
      there, in place of the import.
    * ``__name__`` becomes the name of the module it stood in, except in
      ``__name__ == "__main__"`` and ``sys.modules[__name__]``. ``__all__`` goes
      unless something reads it, or asks a module that it is given for it. Where only
      some modules with annotations have ``from __future__ import annotations``, theirs
      are spelled as strings.
    * Functions and classes that had to be renamed keep their ``__name__``, by way
      of an innermost decorator.

    Raises :class:`SyntaxError` when the text of a cut does not parse.
    """
    return flatten_and_tell(sliced)[0]


def flatten_and_tell(sliced: Slice) -> tuple[str, list[Diagnostic]]:
    """:func:`flatten_slice`, and what is told of code that looks for names which it lacks."""
    from depslice.slicer.render.cutting import cut_file

    late = sliced.late
    # In one file all runs at once, also what a function imports on a condition, or never.
    sliced = sliced.without_late or sliced
    plan = _plan([(cut, cut_file(cut)) for cut in sliced.cuts], distances(sliced))
    text = _text(plan)
    told = list(_targets_renamed(plan, sliced))
    if late:
        told.append(runs_late(late, plan.sources[0].cut.path))
    told += [
        renamed_unseen(source.cut.path, renamed)
        for source in plan.sources
        if asks_unseen(source.scopes) and (renamed := plan.renamed_in(source))
    ]
    told += [
        module_replaced(source.module, source.cut.path)
        for source in plan.sources
        if len(plan.sources) > 1 and replaces_itself(source.scopes)
    ]
    told += _stars_meeting(plan)
    return text, [*told, *modules_named_by_texts(sliced, text)]


def _targets_renamed(plan: FlatPlan, sliced: Slice) -> Iterator[Diagnostic]:
    """What is told of targets whose name another definition has, which comes first."""
    told: set[tuple[str, str]] = set()
    for target in (item.symbol for item in sliced.items if item.is_target):
        key = target.module, target.qualname.partition(".")[0]
        entity = plan.program.resolve(*key) if all(key) else None
        if entity is not None and entity.flat not in ("", key[1]) and key not in told:
            told.add(key)
            yield target_renamed(target, entity.flat)


def _stars_meeting(plan: FlatPlan) -> Iterator[Diagnostic]:
    """What is told of names that modules have of different stars, of which one file has the last."""
    given: dict[str, dict[tuple[str, ...], str]] = {}
    for entity in plan.program.entities():
        source = plan.program.sources.get(entity.module)
        if entity.made and plan.references[entity] and source is not None and source.outer_stars:
            given.setdefault(entity.flat, {}).setdefault(source.outer_stars, source.cut.path)
    for name, by_stars in sorted(given.items()):
        if len(by_stars) > 1:
            yield stars_met(
                name, [star for stars in by_stars for star in stars], *by_stars.values()
            )


def distances(sliced: Slice) -> Distances:
    """The distance of every top-level definition with an item; targets have 0."""
    found: Distances = {}
    for item in sliced.items:
        key = item.symbol.module, item.symbol.qualname.partition(".")[0]
        found[key] = min(found.get(key, item.distance), item.distance)
    for target in sliced.targets:
        module, _, qualname = target.partition(":")
        found[module, qualname.partition(".")[0]] = 0
    return found


def _plan(texts: list[tuple[FileCut, str]], distances: Distances) -> FlatPlan:
    sources = [
        Source(cut, read_scopes(text.replace("\r\n", "\n").lstrip("\ufeff")), index)
        for index, (cut, text) in enumerate(texts)
    ]
    if any("__doc__" in source.scopes.text for source in sources):
        for source in sources:
            _bind_docstring(source)
    roots = [module for (module, _), distance in distances.items() if not distance]
    return FlatPlan(Program(sources, roots), roots, distances)


def _text(plan: FlatPlan) -> str:
    parts = [head_text(plan), *body_regions(plan)]
    return "\n\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def _bind_docstring(source: Source) -> None:
    """Make ``__doc__`` a variable of the module, which its code or another may read."""
    if _has_docstring(source.scopes.tree):
        source.scopes.scope.bind("__doc__", (0, 0))


def _has_docstring(tree: ast.Module) -> bool:
    return ast.get_docstring(tree, clean=False) is not None
