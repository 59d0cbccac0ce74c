"""``depslice refine``: a docstring that suffices to write the function again."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from depslice.callgraph.counting import counted
from depslice.cli.interpreters import Interpreter, python_options
from depslice.cli.making import Site, refuse_no_files
from depslice.cli.modelling import ModelOptions, model_options, say_usage
from depslice.cli.notes import Notes
from depslice.cli.numbers import Whole
from depslice.cli.opening import opened
from depslice.cli.options import (
    Command,
    Output,
    Repository,
    format_option,
    output_options,
    repository_options,
    target_argument,
    tests_options,
)
from depslice.cli.prompting import PromptOptions, prompt_options
from depslice.cli.results import json_text, write_result
from depslice.cli.sandboxing import sandbox_of, sandbox_options

if TYPE_CHECKING:
    from depslice.callgraph.model import Symbol
    from depslice.dataset.refining import Refinement
    from depslice.prompts import Prompt
    from depslice.validator import Workspace

REFINE_SCHEMA = "depslice.refine/1"


@click.command(
    cls=Command,
    examples=(
        "depslice refine . package.module:function --model openai:NAME",
        "depslice refine . function --model local:model.gguf --examples 5",
    ),
)
@repository_options
@target_argument()
@click.option(
    "--examples",
    "number",
    type=Whole(min=1, max=50),
    metavar="N",
    help="Show the model so many of the calls that REPO's tests make, and try the examples that it"
    " gives: runs the tests and TARGET in the sandbox.",
)
@prompt_options(builder="refine")
@model_options
@tests_options
@python_options
@sandbox_options
@format_option("text", "json")
@output_options
def refine(
    *,
    repository: Repository,
    target: str,
    number: int | None,
    prompting: PromptOptions,
    asking: ModelOptions,
    tests: tuple[str, ...],
    test_seconds: int,
    interpreter: Interpreter,
    sandbox: str | None,
    unsafe_no_sandbox: bool,
    format_: str,
    output: Output,
) -> None:
    """Have a model write the specification of TARGET, as a docstring.

    Its examples are tried with --examples. Nobody checks the rest: read it before you use
    it.
    """
    from depslice.callgraph import find_symbol
    from depslice.dataset.refining import refine as refine_
    from depslice.llm.expecting import expected_usage
    from depslice.prompts import build_prompt, subject_of

    if asking.samples != 1:
        raise click.UsageError("refine takes one sample: nothing tells which is best")
    notes = Notes(output)
    builder = prompting.open_builder()
    with ExitStack() as stack:
        # First: without a key or a file of weights, nothing has to be read or run.
        model = stack.enter_context(asking.open(notes, use_cache=repository.use_cache))
        program = stack.enter_context(opened(repository, notes))
        symbol = find_symbol(program, target)
        trial = None
        refuse_no_files(program, tests)
        if number is not None:
            runs_in = sandbox_of(sandbox, unsafe=unsafe_no_sandbox, notes=notes)
            python = interpreter.chosen(repository, program, runs_in, notes)
            site = Site(
                program=program, repository=repository, sandbox=runs_in, python=python, notes=notes
            )
            space = stack.enter_context(site.workspace(test_seconds))
            trial = _Trial(site=site, space=space, target=symbol)
        shown = trial.examples(tests, number) if trial and number else []
        subject = subject_of(
            program,
            symbol,
            strategy=prompting.strategy,
            limit=prompting.limit,
            hide_target=builder.hides_target,
            examples=tuple(shown),
        )
        prompt = build_prompt(builder, subject)
        if asking.dry_run:
            most = expected_usage(prompt.messages, model.price, options=asking.options())
            say_usage(notes.tell, "at most", most)
            return
        with notes.steps(symbol.id, slow=True) as step:
            step(f"asking {model.name}")
            refined = refine_(model, prompt, options=asking.options())
        document = _document(symbol, model.name, prompt, refined)
        if trial:
            document["examples"] = {"shown": shown} | trial.of(refined.text)
    write_result(output, json_text(document) if format_ == "json" else refined.text)
    say_usage(notes.say, model.name, refined.usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    """Examples of a function, by running it."""

    site: Site
    space: Workspace
    target: Symbol

    def examples(self, tests: tuple[str, ...], number: int) -> list[str]:
        """Calls that the tests make, as text."""
        from depslice.dataset.examples import examples

        recording = self.site.recording(self.space, [self.target], tests)
        calls = recording.calls.get(self.target.id, ())
        found = examples(self.space, self.site.program, self.target.id, calls, most=number)
        self.site.notes.say(f"shown as examples: {counted(len(found), 'call')}")
        return [each.text for each in found]

    def of(self, text: str) -> dict[str, Any]:
        """How many of the examples in ``text`` could be tried, and those that are wrong."""
        from depslice.dataset.claims import broken_claims, claims_of

        notes, target = self.site.notes, self.target
        claims = claims_of(text, target.qualname)
        with notes.steps(target.id) as step:
            step(f"trying {counted(len(claims), 'example')}")
            broken, tried = broken_claims(self.space, self.site.program, target.id, claims)
        notes.say(f"{tried - len(broken):,} of {tried:,} examples that were tried are right")
        for each in broken:
            notes.tell(f"wrong: {each.claim.text}; observed: {each.observed}")
        wrong = [{"said": each.claim.text, "observed": each.observed} for each in broken]
        return {"tried": tried, "wrong": wrong}


def _document(target: Symbol, model: str, prompt: Prompt, refined: Refinement) -> dict[str, Any]:
    return {
        "schema": REFINE_SCHEMA,
        "target": target.id,
        "model": model,
        "builder": prompt.builder,
        "version": prompt.version,
        "strategy": prompt.strategy,
        "prompt": prompt.digest,
        "specification": refined.text,
        "usage": asdict(refined.usage),
    }
