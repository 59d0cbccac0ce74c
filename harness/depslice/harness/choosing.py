"""Generators by name: built-in ones and those of plug-ins come through the same door."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Final

from depslice.callgraph.plugins import lacking
from depslice.harness.model import GeneratorUnavailable, HarnessGenerator, Settings

GROUP: Final = "depslice.harness_generators"
# As in pyproject.toml, for a depslice that runs from its sources.
_BUILT_IN: Final = (
    EntryPoint("hypothesis", "depslice.harness.hypothesis:HypothesisGenerator", GROUP),
    EntryPoint("insitu", "depslice.harness.insitu:InsituGenerator", GROUP),
    EntryPoint("llm", "depslice.harness.llm:LlmGenerator", GROUP),
    EntryPoint("replay", "depslice.harness.replay:ReplayGenerator", GROUP),
)


def generator_names() -> tuple[str, ...]:
    """The names of all generators that are installed; none is loaded."""
    return tuple(sorted(_points()))


def open_generator(name: str, settings: Settings | None = None) -> HarnessGenerator:
    """The generator called ``name``.

    :raises GeneratorUnavailable: there is none, it fails to load, or is something else.
    """
    found = _points()
    if name not in found:
        raise GeneratorUnavailable(
            f"no generator is called {name!r}", hint=f"there are: {', '.join(generator_names())}"
        )
    return _opened(found[name], settings or Settings())


def _points() -> dict[str, EntryPoint]:
    return {point.name: point for point in (*entry_points(group=GROUP), *_BUILT_IN)}


def _opened(point: EntryPoint, settings: Settings) -> HarnessGenerator:
    try:
        generator: HarnessGenerator = point.load()(settings)
    except GeneratorUnavailable:
        raise
    except Exception as error:
        raise GeneratorUnavailable(
            f"the generator {point.name!r} ({point.value}) fails to load:"
            f" {type(error).__name__}: {error}"
        ) from error
    lacks = lacking(generator, "draft", {"name": str, "needs_calls": bool, "rounds": int})
    if lacks:
        raise GeneratorUnavailable(f"the generator {point.name!r} ({point.value}) {lacks}")
    return generator
