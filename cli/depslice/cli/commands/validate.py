"""``depslice validate``: what test harnesses are worth, by running them in a sandbox."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depslice.cli.failures import Finished
from depslice.cli.gating import gate_options
from depslice.cli.interpreters import Interpreter, python_options
from depslice.cli.notes import Notes
from depslice.cli.opening import opened
from depslice.cli.options import (
    Command,
    Output,
    Repository,
    complete_target,
    output_options,
    repository_options,
)
from depslice.cli.results import Write, json_text, result_stream
from depslice.cli.sandboxing import sandbox_of, sandbox_options

if TYPE_CHECKING:
    from depslice.callgraph import Program
    from depslice.validator.validation import Gates, Harness, Verdict

_CODES = {"rejected": 1, "inconclusive": 3}


@click.command(
    "validate",
    cls=Command,
    short_help="Say what each HARNESS is worth, by running it.",
    examples=(
        "depslice validate . harness.py",
        "depslice validate . harnesses/ --results verdicts.jsonl",
    ),
)
@repository_options
@click.argument("harnesses", nargs=-1, required=True, type=click.Path(), metavar="HARNESS...")
@click.option(
    "--target",
    metavar="TARGET",
    shell_complete=complete_target,
    help="What they test, whatever they say themselves.",
)
@gate_options
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="json: a document for one HARNESS, else a line for each.",
)
@click.option(
    "--results",
    type=click.Path(),
    metavar="FILE",
    help="Keep verdicts there as lines of JSON; those it holds already are not found again.",
)
@python_options
@sandbox_options
@output_options
def validate(
    *,
    repository: Repository,
    harnesses: tuple[str, ...],
    target: str | None,
    format_: str,
    results: str | None,
    interpreter: Interpreter,
    sandbox: str | None,
    unsafe_no_sandbox: bool,
    output: Output,
    **gates: Any,
) -> None:
    """Say what each HARNESS is worth: accepted, rejected, or why that cannot be told.

    A HARNESS is a file of test functions that take `candidate` and `reference`, or
    `context`; a folder stands for the Python files in it. They run in a sandbox: on the
    original, on mutants of TARGET, and on candidates that are known to be wrong.
    """
    from depslice.validator.scratch import remove_left_behind
    from depslice.validator.validation import Gates, validate_all

    notes = Notes(output)
    wanted = Gates(**gates)
    started = time.monotonic()
    with opened(repository, notes) as program:
        paths = _files(harnesses)
        told = _Telling(format_, many=len(paths) > 1, notes=notes)
        known = _Known(results, program, wanted, interpreter)
        readable, broken = _read(paths, program, target)
        new = [each for each in readable if known.document(each) is None]
        remove_left_behind()  # a killed run's folders, also when nothing is left to run
        runs_in = sandbox_of(sandbox, unsafe=unsafe_no_sandbox, notes=notes) if new else None
        with result_stream(output) as write, notes.progress("validating", slow=True) as progress:
            for harness, verdict in broken:
                told.verdict(write, harness, verdict)
            for harness in readable:
                document = known.document(harness)
                if document is not None:
                    told.known(write, harness, document)
            verdicts: Iterator[tuple[Harness, Verdict]] = iter(())
            if runs_in is not None:
                progress(0, len(new), new[0].name if new else "")
                verdicts = validate_all(
                    program,
                    new,
                    sandbox=runs_in,
                    python=interpreter.chosen(repository, program, runs_in, notes),
                    gates=wanted,
                    workers=repository.workers,
                    whole_folder=os.path.isdir(repository.path),
                )
            for number, (harness, verdict) in enumerate(verdicts, 1):
                known.add(harness, told.verdict(write, harness, verdict))
                progress(number, len(new), new[number].name if number < len(new) else "")
    if len(paths) > 1:
        counted = ", ".join(f"{number:,} {word}" for word, number in sorted(told.counts.items()))
        notes.say(f"{counted}; {time.monotonic() - started:.1f} s")
    for word, code in _CODES.items():
        if told.counts[word]:
            raise Finished(code)


class _Telling:
    """Writes verdicts, and counts them."""

    def __init__(self, format_: str, *, many: bool, notes: Notes) -> None:
        self.format = format_
        self.many = many
        self.notes = notes
        self.counts: Counter[str] = Counter()

    def verdict(self, write: Write, harness: Harness, verdict: Verdict) -> dict[str, Any]:
        """Write a verdict; its document."""
        from depslice.validator.validation import verdict_document
        from depslice.validator.validation.telling import verdict_lines

        document = verdict_document(harness.name, harness.target, harness.digest, verdict)
        self.counts[document["verdict"]] += 1
        if self.format == "json":
            self._json(write, document)
        else:
            lines = verdict_lines(harness, verdict, everything=self.notes.tells_all)
            write("\n".join(lines) + "\n")
        return document

    def known(self, write: Write, harness: Harness, document: Mapping[str, Any]) -> None:
        """Write a verdict that was found before."""
        self.counts[str(document.get("verdict"))] += 1
        if self.format == "json":
            self._json(write, {k: v for k, v in document.items() if k != "key"})
        else:
            write(f"{document.get('verdict'):<12}  {harness.name}  {harness.target}  (known)\n")

    def _json(self, write: Write, document: Mapping[str, Any]) -> None:
        write(json_text(document, indent=None if self.many else 2))


class _Known:
    """The verdicts that ``--results`` holds; none without it."""

    def __init__(
        self, path: str | None, program: Program, gates: Gates, interpreter: Interpreter
    ) -> None:
        from depslice.validator.validation.ledger import Ledger
        from depslice.validator.validation.verdict import SCHEMA

        self.ledger = Ledger(Path(path), SCHEMA) if path else None
        self.program = program
        self.gates = gates
        self.python = "made" if interpreter.make else interpreter.path or ""

    def document(self, harness: Harness) -> Mapping[str, Any] | None:
        """The verdict on a harness, if it is there; what says nothing of the kind is found anew."""
        found = self.ledger.get(self._key(harness)) if self.ledger else None
        return (
            found
            if found is not None and found.get("verdict") in ("accepted", "rejected")
            else None
        )

    def add(self, harness: Harness, document: Mapping[str, Any]) -> None:
        """Keep a verdict, unless it may be another one next time."""
        if self.ledger and document["verdict"] != "inconclusive":
            self.ledger.add(self._key(harness), document)

    def _key(self, harness: Harness) -> str:
        from depslice.validator.validation.ledger import key_of

        return key_of(harness, self.program, self.gates, self.python)


def _files(harnesses: Sequence[str]) -> list[Path]:
    """The files that are named, and those in folders that are."""
    found: list[Path] = []
    for name in harnesses:
        path = Path(name)
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*.py") if p.name != "conftest.py")
            if not inside:
                raise click.UsageError(f"there are no Python files in {name}")
            found += inside
        elif path.exists():
            found.append(path)
        else:
            raise click.UsageError(f"no such file or directory: {name}")
    return list(dict.fromkeys(found))


def _read(
    paths: Sequence[Path], program: Program, target: str | None
) -> tuple[list[Harness], list[tuple[Harness, Verdict]]]:
    """Harnesses, and files that are none, each with the verdict that it gets for that."""
    from depslice.callgraph.errors import DepsliceError
    from depslice.callgraph.targets import find_symbol
    from depslice.validator.validation import Harness, not_a_harness, read_harness

    if target is not None:
        target = find_symbol(program, target).id  # a misspelt one is nobody's verdict
    found: list[Harness] = []
    broken: list[tuple[Harness, Verdict]] = []
    for path in paths:
        try:
            found.append(read_harness(path, program, target))
        except DepsliceError as error:
            nothing = Harness(name=str(path), text="", target=target or "", path="", line=0)
            broken.append((nothing, not_a_harness(error)))
    return found, broken
