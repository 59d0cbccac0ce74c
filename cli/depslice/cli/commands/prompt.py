"""``depslice prompt``: what a language model would be asked about a function."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depslice.callgraph.counting import counted
from depslice.cli.failures import OutputError
from depslice.cli.notes import Notes
from depslice.cli.opening import chosen_tokenizer, find_targets, opened
from depslice.cli.options import (
    Command,
    Output,
    Repository,
    format_option,
    output_options,
    repository_options,
    target_argument,
    tokenizer_option,
)
from depslice.cli.prompting import PromptOptions, prompt_options
from depslice.cli.results import json_text, make_folder, write_result

if TYPE_CHECKING:
    from depslice.prompts import Feedback, Prompt

PROMPT_SCHEMA = "depslice.prompt/1"


@click.command(
    cls=Command,
    examples=(
        "depslice prompt . package.module:function",
        "depslice prompt . function --builder direct --format json",
    ),
)
@repository_options
@target_argument()
@prompt_options(builder="equivalence")
@format_option(
    "text",
    "json",
    "files",
    help="json: messages as chat endpoints take them. files: a file for each message (-o FOLDER).",
)
@click.option(
    "--harness",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="For the builder repair: the harness to repair.",
)
@click.option(
    "--verdict",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="For the builder repair: the verdict on it (depslice validate --format json).",
)
@tokenizer_option(default=None)
@output_options
def prompt(
    *,
    repository: Repository,
    target: str,
    prompting: PromptOptions,
    format_: str,
    harness: Path | None,
    verdict: Path | None,
    tokenizer: str | None,
    output: Output,
) -> None:
    """Show the messages that a prompt builder writes about TARGET. Nothing is sent.

    What does not depend on TARGET comes first: providers charge less for a beginning that
    they have just read.
    """
    from depslice.callgraph import find_symbol
    from depslice.prompts import build_prompt, subject_of

    if (harness is None) != (verdict is None):
        raise click.UsageError("--harness and --verdict go together")
    if format_ == "files" and output.path is None:
        raise click.UsageError("--format files needs a folder: -o FOLDER")
    notes = Notes(output)
    tokenizer = chosen_tokenizer(tokenizer, notes)
    builder = prompting.open_builder()
    feedback = _feedback(harness, verdict) if harness and verdict else None
    with opened(repository, notes) as program:
        [found] = find_targets(program, [target])
        subject = subject_of(
            program,
            find_symbol(program, found),
            strategy=prompting.strategy,
            limit=prompting.limit,
            tokenizer=tokenizer,
            hide_target=builder.hides_target,
            feedback=feedback,
        )
        built = build_prompt(builder, subject, tokenizer=tokenizer)
    if format_ == "files":
        _write_files(built, found, output)
    else:
        write_result(output, _text(built) if format_ == "text" else json_text(_json(built, found)))
    notes.say(
        f"{counted(built.tokens, 'token')} ({built.tokenizer}); builder {built.builder}"
        f" {built.version}, strategy {built.strategy}, digest {built.digest[:12]}"
    )


def _text(built: Prompt) -> str:
    return "\n".join(f"=== {each.role}\n{each.content}\n" for each in built.messages)


def _json(built: Prompt, target: str) -> dict[str, Any]:
    document = asdict(built)
    messages = document.pop("messages")
    return {"schema": PROMPT_SCHEMA, "target": target, **document, "messages": list(messages)}


def _write_files(built: Prompt, target: str, output: Output) -> None:
    """``1-system.txt``, ``2-user.txt``, …, and ``prompt.json`` with all but their texts."""
    assert output.path is not None  # looked at before anything is read
    folder = Path(output.path)
    about = _json(built, target)
    names = [f"{number}-{each.role}.txt" for number, each in enumerate(built.messages, 1)]
    about["messages"] = names
    texts = dict(zip(names, (each.content + "\n" for each in built.messages), strict=True))
    texts["prompt.json"] = json_text(about)
    try:
        if folder.is_dir() and os.listdir(folder):
            raise OutputError(f"{folder} is not empty", hint="name a folder that does not exist")
        make_folder(folder)
        for name, text in texts.items():
            (folder / name).write_bytes(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise OutputError(f"cannot write to {folder}: {(error.strerror or '').lower()}") from None


def _feedback(harness: Path, verdict: Path) -> Feedback:
    from depslice.prompts import Feedback

    try:
        document = json.loads(verdict.read_text(encoding="utf-8"))
        evidence = document.get("evidence") or {}
        mutants = evidence.get("mutants") or {}
        return Feedback(
            answer=harness.read_text(encoding="utf-8"),
            reasons=tuple(f"{each['slug']}: {each['message']}" for each in document["reasons"]),
            uncovered=tuple(
                f"line {a} to line {b}" for a, b in evidence.get("branches_missed") or ()
            ),
            survivors=tuple(str(each["diff"]) for each in mutants.get("survived") or ()),
        )
    except OSError as error:
        raise click.UsageError(
            f"cannot read {error.filename}: {(error.strerror or str(error)).lower()}"
        ) from None
    except (AttributeError, ValueError, KeyError, TypeError):
        raise click.UsageError(
            f"{verdict} is no verdict that rejects a harness: one document, as"
            " `depslice validate --format json` writes it of one HARNESS"
        ) from None
