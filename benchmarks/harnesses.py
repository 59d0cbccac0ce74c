"""What the generators that need no model reach on real packages: ``docs/harnesses.md``.

    python benchmarks/harnesses.py FOLDER… --run-python PATH [--sample N] [--into FOLDER]

Each FOLDER is an unpacked source distribution with its tests; PATH a Python that has
pytest and what the tests need. Of the functions that the tests execute a sample is drawn
by a fixed seed. Every generator is asked for each, but ``hypothesis``, the slowest, only
where the harnesses of the others were not accepted. The run may be ended at any time: the
next one goes on, and ``--table`` writes the page from what is there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

GENERATORS = ("replay", "insitu", "hypothesis")
MUTANTS = "20"
DOCUMENT = Path(__file__).parents[1] / "docs" / "harnesses.md"
MARK = "<!-- measured -->"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--run-python", required=True)
    parser.add_argument("--sample", type=int, default=4)
    parser.add_argument("--into", type=Path, default=Path("harnesses-measured"))
    parser.add_argument("--table", action="store_true", help="only write the page")
    options = parser.parse_args()
    if not options.table:
        for folder in options.folders:
            measure(folder, options)
    found = {
        each.name: read(options.into / each.name / "measured.jsonl") for each in options.folders
    }
    text = page({name: lines for name, lines in found.items() if lines})
    before = DOCUMENT.read_text(encoding="utf-8").partition(MARK)[0]
    DOCUMENT.write_text(f"{before}{MARK}\n\n{text}", encoding="utf-8")


def measure(folder: Path, options: argparse.Namespace) -> None:
    """Run the command twice: the generators that go by tests, then the other for the rest."""
    into = options.into / folder.name
    into.mkdir(parents=True, exist_ok=True)
    first = into / "first.jsonl"
    command = [
        sys.executable, "-m", "depslice.cli", "harness", str(folder), "--into", str(into),
        "--run-python", options.run_python, "--mutants", MUTANTS, "--format", "jsonl", "-q",
    ]  # fmt: skip
    drawn = ["--all", "--called", "--sample", str(options.sample), "--every"]
    with first.open("wb") as file:
        subprocess.run([*command, *drawn, *named("replay", "insitu")], stdout=file, check=False)
    lines = read(first)
    accepted = {each["target"] for each in lines if each["verdict"] == "accepted"}
    left = sorted({each["target"] for each in lines} - accepted)
    rest = into / "rest.jsonl"
    rest.write_bytes(b"")
    if left:
        with rest.open("wb") as file:
            subprocess.run([*command, *left, *named("hypothesis")], stdout=file, check=False)
    (into / "measured.jsonl").write_bytes(first.read_bytes() + rest.read_bytes())


def named(*generators: str) -> list[str]:
    """Options that name generators."""
    return [word for name in generators for word in ("--generator", name)]


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of JSON; none if it is not there."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# --- the page


def page(found: dict[str, list[dict[str, Any]]]) -> str:
    """The measured part of the page."""
    everything = [each for lines in found.values() for each in lines]
    parts = ["## By package", "", *by_package(found), ""]
    parts += ["## By generator", "", *by_generator(everything), ""]
    parts += ["## What stopped the rest", "", *causes(everything), ""]
    return "\n".join(parts)


def by_package(found: dict[str, list[dict[str, Any]]]) -> list[str]:
    """A row for each package, and for all."""
    rows = []
    for name, lines in found.items():
        rows.append((name, *counts(lines)))
    rows.append(("all", *counts([each for lines in found.values() for each in lines])))
    return table(
        ("package", "functions", "self-equivalent", "", "fully gated", "", "seconds"), rows
    )


def counts(lines: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """What a row of packages has."""
    targets = {each["target"] for each in lines}
    valid = {each["target"] for each in lines if each["self_equivalent"]}
    accepted = {each["target"] for each in lines if each["verdict"] == "accepted"}
    seconds = sum(each["seconds"] for each in lines)
    return (
        str(len(targets)),
        str(len(valid)), share(len(valid), len(targets)),
        str(len(accepted)), share(len(accepted), len(targets)),
        f"{seconds:.0f}",
    )  # fmt: skip


def by_generator(lines: Sequence[dict[str, Any]]) -> list[str]:
    """A row for each generator."""
    rows = []
    for name in GENERATORS:
        own = [each for each in lines if each["generator"] == name]
        valid = sum(each["self_equivalent"] for each in own)
        accepted = sum(each["verdict"] == "accepted" for each in own)
        rows.append((
            name, str(len(own)), str(valid), share(valid, len(own)), str(accepted),
            share(accepted, len(own)), mean(each["branch_coverage"] for each in own),
            mean(each["mutation_score"] for each in own), mean_number(own, "rounds"),
            mean_number(own, "seconds"),
        ))  # fmt: skip
    return table(
        ("generator", "asked", "self-equivalent", "", "fully gated", "", "coverage", "mutants",
         "rounds", "seconds each"),
        rows,
    )  # fmt: skip


def causes(lines: Sequence[dict[str, Any]]) -> list[str]:
    """The first reason of each that was not accepted."""
    counted: dict[str, Counter[str]] = {name: Counter() for name in GENERATORS}
    for each in lines:
        if each["verdict"] != "accepted":
            slugs = [reason["slug"] for reason in each["reasons"]] or [each["verdict"]]
            counted[each["generator"]][slugs[0].partition("-returns-")[0]] += 1
    names = sorted({cause for counter in counted.values() for cause in counter})
    rows = [(name, *(str(counted[g][name] or "") for g in GENERATORS)) for name in names]
    return table(("first reason", *GENERATORS), rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows)]


def share(part: int, whole: int) -> str:
    """A percentage."""
    return f"{part / whole:.0%}" if whole else "-"


def mean(values: Iterable[float | None]) -> str:
    """The mean of shares that were measured."""
    found = [each for each in values if each is not None]
    return f"{sum(found) / len(found):.0%}" if found else "-"


def mean_number(lines: Sequence[dict[str, Any]], key: str) -> str:
    """The mean of a number."""
    return f"{sum(each[key] for each in lines) / len(lines):.1f}" if lines else "-"


if __name__ == "__main__":
    main()
