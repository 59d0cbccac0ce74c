"""The builders that come with depslice: templates of their names, through the common door."""

from __future__ import annotations

from collections.abc import Callable

from depslice.callgraph.errors import OptionError
from depslice.prompts.building import BuilderSettings
from depslice.prompts.model import Message, Subject
from depslice.prompts.templates import TemplateBuilder


def _template(name: str) -> Callable[[BuilderSettings], TemplateBuilder]:
    return lambda settings: TemplateBuilder(name, settings.templates)


class RepairBuilder(TemplateBuilder):
    """Goes on where the first round ended, so that its messages are read from a cache."""

    def __init__(self, settings: BuilderSettings) -> None:
        super().__init__("repair", settings.templates)
        self._first = TemplateBuilder("equivalence", settings.templates)

    def build(self, subject: Subject) -> tuple[Message, ...]:
        """The messages of the first round (of an equivalence harness, if none are given), and two."""
        feedback = subject.feedback
        if feedback is None or not feedback.reasons:
            raise OptionError(
                "there is nothing to repair: no harness, or no verdict that rejects it",
                hint="on the command line: --harness FILE --verdict FILE",
            )
        opening = feedback.opening or self._first.build(subject)
        return (*opening, *super().build(subject))


repair = RepairBuilder
equivalence = _template("equivalence")
output_prediction = _template("output-prediction")
refine = _template("refine")
direct = _template("direct")
chain_of_thought = _template("chain-of-thought")
