"""Options of commands that write prompts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depslice.cli.numbers import Whole
from depslice.cli.options import complete_names

if TYPE_CHECKING:
    from depslice.prompts import PromptBuilder


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptOptions:
    """Who writes the prompt, and how much context is in it (tokens)."""

    builder: str
    strategy: str
    limit: int
    templates: Path | None

    def open_builder(self) -> PromptBuilder:
        """The builder that was named."""
        from depslice.prompts import BuilderSettings, open_builder

        return open_builder(self.builder, BuilderSettings(templates=self.templates))


def _builders() -> tuple[str, ...]:
    from depslice.prompts.building import builder_names

    return builder_names()


def prompt_options(*, builder: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options; the command gets ``prompting``. ``builder`` is the default one."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @click.option(
            "--builder",
            default=builder,
            show_default=True,
            metavar="NAME",
            shell_complete=complete_names(_builders),
            help="Who writes it: equivalence, output-prediction, repair, refine, direct,"
            " chain-of-thought, a plug-in, or NAME.j2 in the folder of --templates.",
        )
        @click.option(
            "--strategy",
            type=click.Choice(["sliced", "usages", "full", "naive"]),
            default="sliced",
            show_default=True,
            help="The context: its slice, with callers and tests too, its file and those that"
            " it imports, or TARGET alone.",
        )
        @click.option(
            "--limit",
            type=Whole(min=1),
            default=6000,
            show_default=True,
            metavar="TOKENS",
            help="Context at most.",
        )
        @click.option(
            "--templates",
            type=click.Path(exists=True, file_okay=False, path_type=Path),
            metavar="FOLDER",
            help="Templates of your own, which stand in for those of their names.",
        )
        @functools.wraps(function)
        def packed(
            *, builder: str, strategy: str, limit: int, templates: Path | None, **rest: Any
        ) -> None:
            options = PromptOptions(
                builder=builder, strategy=strategy, limit=limit, templates=templates
            )
            function(prompting=options, **rest)

        return packed

    return decorate
