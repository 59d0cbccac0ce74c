"""Options of commands that ask a language model: which one, how, and for how much."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depslice.callgraph.counting import counted
from depslice.cli.notes import Notes
from depslice.cli.numbers import Number, Whole
from depslice.cli.options import with_options

if TYPE_CHECKING:
    from depslice.llm import Caps, ModelSettings, OpenModel, Options, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """A model, how it is reached, how it samples, and what it may cost in the whole run."""

    model: str | None
    base_url: str
    key_variable: str
    temperature: float | None
    max_tokens: int
    seed: int | None
    samples: int
    answers: str
    completions: Path | None
    concurrency: int | None
    requests_per_minute: int | None
    tokens_per_minute: int | None
    max_dollars: float | None
    max_total_tokens: int | None
    max_calls: int | None
    task_dollars: float | None
    task_tokens: int | None
    task_calls: int | None
    price: str | None
    threads: int
    context: int
    dry_run: bool

    @property
    def spec(self) -> str:
        """The model that was named.

        :raises click.UsageError: none was.
        """
        if not self.model:
            raise click.UsageError("--model is needed: openai:NAME, anthropic:NAME, local:PATH")
        return self.model

    def settings(self, notes: Notes, *, use_cache: bool) -> ModelSettings:
        """As :func:`depslice.llm.open_model` takes them; what is asked again stands in ``notes``."""
        from depslice.llm import Caps, Mode, ModelSettings, Pace
        from depslice.llm.prices import parse_price

        if not use_cache and self.answers != "use":
            raise click.UsageError(f"--no-cache and --{self.answers} exclude each other")
        return ModelSettings(
            base_url=self.base_url,
            key_variable=self.key_variable,
            price=parse_price(self.price) if self.price else None,
            mode=Mode(self.answers) if use_cache else Mode.OFF,
            completions=self.completions,
            threads=self.threads,
            context=self.context,
            dry=self.dry_run,
            say=notes.say,
            pace=Pace(
                concurrency=self.concurrency,
                requests_per_minute=self.requests_per_minute,
                tokens_per_minute=self.tokens_per_minute,
            ),
            caps=Caps(dollars=self.max_dollars, tokens=self.max_total_tokens, calls=self.max_calls),
        )

    def task_caps(self) -> Caps:
        """What one function may cost."""
        from depslice.llm import Caps

        return Caps(dollars=self.task_dollars, tokens=self.task_tokens, calls=self.task_calls)

    def open(self, notes: Notes, *, use_cache: bool) -> OpenModel:
        """The model; nothing is sent yet."""
        from depslice.llm import open_model

        return open_model(self.spec, self.settings(notes, use_cache=use_cache))

    def options(self) -> Options:
        """How it samples."""
        from depslice.llm import Options

        return Options(temperature=self.temperature, max_tokens=self.max_tokens, seed=self.seed)


def say_usage(say: Callable[[str], None], what: str, usage: Usage) -> None:
    """Tokens, calls and dollars on one line."""
    dollars = "price unknown" if usage.dollars is None else f"${usage.dollars:.4f}"
    say(
        f"{what}: {counted(usage.calls, 'call')}, {counted(usage.input_tokens, 'token')} in"
        f" ({usage.cached_tokens:,} cached), {usage.output_tokens:,} out, {dollars}"
    )


_POSITIVE = Whole(min=1)
_OPTIONS = (
    click.option(
        "--model",
        metavar="NAME",
        help="openai:NAME, anthropic:NAME, local:PATH.gguf, or NAME with --base-url.",
    ),
    click.option(
        "--base-url",
        default="",
        metavar="URL",
        help="An endpoint that speaks the protocol of OpenAI (anthropic:NAME: of Anthropic).",
    ),
    click.option(
        "--key-variable",
        default="",
        metavar="NAME",
        help="The environment variable that holds the key."
        "  [default: OPENAI_API_KEY, ANTHROPIC_API_KEY; with --base-url DEPSLICE_API_KEY]",
    ),
    click.option(
        "--temperature",
        type=Number(0, 2),
        default=0.0,
        show_default=True,
        metavar="N",
        help="How far answers may vary.",
    ),
    click.option(
        "--default-temperature",
        is_flag=True,
        help="Send no temperature: for models that refuse one.",
    ),
    click.option(
        "--max-tokens",
        type=_POSITIVE,
        default=2048,
        show_default=True,
        metavar="N",
        help="For each answer. What is longer is cut off: no docstring and no harness; of a solver"
        " it is graded as it is.",
    ),
    click.option(
        "--sampling-seed",
        "seed_",
        type=Whole(),
        metavar="N",
        help="For answers that vary, where the model knows seeds.",
    ),
    click.option(
        "--samples",
        type=_POSITIVE,
        default=1,
        show_default=True,
        metavar="N",
        help="Answers to each prompt, the best of which is kept; attempts at each problem.",
    ),
    click.option(
        "--replay",
        "answers",
        flag_value="replay",
        help="Take answers from the recorded ones alone; one that is not there is an error.",
    ),
    click.option(
        "--refresh", "answers", flag_value="refresh", help="Ask again for what is recorded."
    ),
    click.option(
        "--completions",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="FOLDER",
        help="Where answers are recorded.  [default: in depslice's cache folder]",
    ),
    click.option(
        "--concurrency",
        type=_POSITIVE,
        metavar="N",
        help="Requests at once.  [default: 4; 1 for a local model]",
    ),
    click.option("--requests-per-minute", type=_POSITIVE, metavar="N", help="At most."),
    click.option("--tokens-per-minute", type=_POSITIVE, metavar="N", help="At most."),
    click.option(
        "--max-dollars",
        type=Number(min=0),
        metavar="N",
        help="Ask no more when so much is spent.",
    ),
    click.option(
        "--max-total-tokens",
        type=_POSITIVE,
        metavar="N",
        help="Ask no more after so many, input and output.",
    ),
    click.option("--max-calls", type=_POSITIVE, metavar="N", help="Ask no more after so many."),
    click.option(
        "--task-dollars",
        type=Number(min=0),
        metavar="N",
        help="As --max-dollars, for each function.",
    ),
    click.option(
        "--task-tokens", type=_POSITIVE, metavar="N", help="At most, for each function or attempt."
    ),
    click.option(
        "--task-calls", type=_POSITIVE, metavar="N", help="At most, for each function or attempt."
    ),
    click.option(
        "--price",
        metavar="IN/OUT[/CACHED]",
        help="Dollars for a million tokens.  [default: the list price]",
    ),
    click.option(
        "--threads",
        type=_POSITIVE,
        default=1,
        show_default=True,
        metavar="N",
        help="Of a local model.",
    ),
    click.option(
        "--context",
        type=_POSITIVE,
        default=12288,
        show_default=True,
        metavar="TOKENS",
        help="Of a local model: prompt and answer together.",
    ),
    click.option(
        "--dry-run", is_flag=True, help="Say what it would take at most, and ask nothing."
    ),
)


def model_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options; the command gets ``asking``."""

    @functools.wraps(function)
    def packed(**given: Any) -> None:
        mine = {
            name: given.pop(name) for name in ModelOptions.__dataclass_fields__ if name != "seed"
        }
        mine["answers"] = mine["answers"] or "use"
        mine["seed"] = given.pop("seed_")
        if given.pop("default_temperature"):
            mine["temperature"] = None
        function(asking=ModelOptions(**mine), **given)

    return with_options(packed, _OPTIONS)
