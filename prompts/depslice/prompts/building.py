"""Builders of prompts: the protocol, and how they are found."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Final, Protocol, get_args

from depslice.callgraph.errors import DepsliceError
from depslice.callgraph.plugins import lacking
from depslice.prompts.model import Message, Prompt, Role, Subject
from depslice.prompts.templates import TemplateBuilder, check_folder, has_template
from depslice.slicer.tokens import ESTIMATE, find_tokenizer

GROUP: Final = "depslice.prompt_builders"
# As in pyproject.toml, for a depslice that runs from its sources.
_BUILT_IN: Final = tuple(
    EntryPoint(name, f"depslice.prompts.built_in:{name.replace('-', '_')}", GROUP)
    for name in (
        "chain-of-thought",
        "direct",
        "equivalence",
        "output-prediction",
        "refine",
        "repair",
    )
)


class BuilderUnavailable(DepsliceError):
    """No builder has that name, or it does not work."""

    slug = "prompt-builder"


class PromptBuilder(Protocol):
    """Writes messages about a subject. Found through entry points of :data:`GROUP`.

    ``version`` changes when the same subject gives other messages. ``hides_target``: the
    context is to show the target in outline only, because its body is what is asked for.
    """

    @property
    def name(self) -> str:
        """What ``--builder`` takes."""
        ...

    @property
    def version(self) -> str:
        """Which of its versions it is."""
        ...

    @property
    def hides_target(self) -> bool:
        """Whether it must not be shown the body of the target."""
        ...

    def build(self, subject: Subject) -> tuple[Message, ...]:
        """The messages: what does not depend on the subject first.

        Providers charge less for a beginning that they have just read.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BuilderSettings:
    """What builders are made with. ``templates``: a folder of the user's, looked into first."""

    templates: Path | None = None


BuilderFactory = Callable[[BuilderSettings], PromptBuilder]
"""What an entry point names."""


def builder_names() -> tuple[str, ...]:
    """The names of all builders that are installed; none is loaded."""
    return tuple(sorted(_points()))


def open_builder(name: str, settings: BuilderSettings | None = None) -> PromptBuilder:
    """The builder called ``name``: an installed one, or a template of the user's folder.

    :raises BuilderUnavailable: there is none, or it fails to load.
    :raises TemplateError: the user's folder has no template, or the one that is asked for is none.
    """
    settings = settings or BuilderSettings()
    if settings.templates is not None:
        check_folder(settings.templates)
    point = _points().get(name)
    if point is None:
        if settings.templates is not None and has_template(name, settings.templates):
            return TemplateBuilder(name, settings.templates)
        raise BuilderUnavailable(
            f"no prompt builder is called {name!r}",
            hint=f"there are: {', '.join(builder_names())}",
        )
    try:
        builder: PromptBuilder = point.load()(settings)
    except DepsliceError:
        raise
    except Exception as error:
        raise BuilderUnavailable(
            f"the prompt builder {name!r} ({point.value}) fails to load:"
            f" {type(error).__name__}: {error}"
        ) from error
    lacks = lacking(builder, "build", {"name": str, "version": str, "hides_target": bool})
    if lacks:
        raise BuilderUnavailable(f"the prompt builder {name!r} ({point.value}) {lacks}")
    return builder


def build_prompt(builder: PromptBuilder, subject: Subject, *, tokenizer: str = ESTIMATE) -> Prompt:
    """The prompt that ``builder`` writes about ``subject``.

    :raises BuilderUnavailable: it fails.
    """
    try:
        messages = _built(builder, subject)
    except DepsliceError:
        raise
    except Exception as error:
        raise BuilderUnavailable(
            f"the prompt builder {builder.name!r} fails: {type(error).__name__}: {error}"
        ) from error
    return prompt_of(
        messages,
        builder=builder.name,
        version=builder.version,
        strategy=subject.strategy,
        tokenizer=tokenizer,
    )


def _built(builder: PromptBuilder, subject: Subject) -> tuple[Message, ...]:
    """What it builds; raises ``TypeError`` for what are no messages."""
    found = builder.build(subject)
    messages = tuple(found)
    if not messages or not all(isinstance(each, Message) for each in messages):
        said = f"of {type(messages[0]).__name__}" if messages else "of nothing"
        raise TypeError(f"it gives {type(found).__name__} {said}, not messages")
    for each in messages:
        if each.role not in get_args(Role) or not isinstance(each.content, str):
            said = f"{each.role!r} and {type(each.content).__name__}"
            raise TypeError(f"it gives a message of {said}, not of a role and a text")
    return messages


def prompt_of(
    messages: tuple[Message, ...], *, builder: str, version: str, strategy: str, tokenizer: str
) -> Prompt:
    """Messages as a prompt: counted, with their digest."""
    count = find_tokenizer(tokenizer).count
    plain = json.dumps([[each.role, each.content] for each in messages])
    return Prompt(
        messages=messages,
        builder=builder,
        version=version,
        strategy=strategy,
        tokens=sum(count(each.content) for each in messages),
        tokenizer=tokenizer,
        digest=hashlib.sha256(plain.encode()).hexdigest(),
    )


def _points() -> dict[str, EntryPoint]:
    return {point.name: point for point in (*_BUILT_IN, *entry_points(group=GROUP))}
