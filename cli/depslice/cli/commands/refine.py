"""``depslice refine``: a docstring that suffices to write the function again."""

from __future__ import annotations

from dataclasses import asdict

import click

from depslice.cli.modelling import ModelOptions, model_options, say_usage
from depslice.cli.notes import Notes
from depslice.cli.opening import find_targets, opened
from depslice.cli.options import (
    Command,
    Output,
    Repository,
    format_option,
    output_options,
    repository_options,
)
from depslice.cli.prompting import PromptOptions, prompt_options
from depslice.cli.results import json_text, write_result

REFINE_SCHEMA = "depslice.refine/1"


@click.command(cls=Command)
@repository_options
@click.argument("target", metavar="TARGET")
@prompt_options(builder="refine")
@model_options
@format_option("text", "json")
@output_options
def refine(
    *,
    repository: Repository,
    target: str,
    prompting: PromptOptions,
    asking: ModelOptions,
    format_: str,
    output: Output,
) -> None:
    """Have a model write the specification of TARGET, as a docstring.

    Nobody checks that it is true: read it before you use it.
    """
    from depslice.callgraph import find_symbol
    from depslice.dataset.refining import refine as refine_
    from depslice.llm.expecting import expected_usage
    from depslice.prompts import build_prompt, subject_of

    if asking.samples != 1:
        raise click.UsageError("refine takes one sample: nothing tells which is best")
    notes = Notes(output)
    builder = prompting.open_builder()
    with opened(repository, notes) as program:
        [found] = find_targets(program, [target])
        subject = subject_of(
            program,
            find_symbol(program, found),
            strategy=prompting.strategy,
            limit=prompting.limit,
            hide_target=builder.hides_target,
        )
        prompt = build_prompt(builder, subject)
    with asking.open(use_cache=repository.use_cache) as model:
        if asking.dry_run:
            most = expected_usage(prompt.messages, model.price, options=asking.options())
            say_usage(notes, "at most", most)
            return
        refined = refine_(model, prompt, options=asking.options())
    document = {
        "schema": REFINE_SCHEMA,
        "target": found,
        "model": model.name,
        "builder": prompt.builder,
        "version": prompt.version,
        "strategy": prompt.strategy,
        "prompt": prompt.digest,
        "specification": refined.text,
        "usage": asdict(refined.usage),
    }
    write_result(output, json_text(document) if format_ == "json" else refined.text)
    say_usage(notes, model.name, refined.usage)
