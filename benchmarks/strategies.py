"""Contexts for a model that writes tests, as R2E compares them (its Table 1).

    python benchmarks/strategies.py --model openai:NAME [--functions 24] [--into FOLDER]

A sample of functions, half of which depend on their own file alone (*in-file*) and half on
others too (*out-file*); for each, tests that compare with the original and tests that predict
outputs; each from the function alone (*naive*), with its file (*full*), with its slice
(*sliced*), and with callers and tests beside that (*usages*). Eight harnesses a function, all
validated in the sandbox.

A verdict is a line of ``--results``, written when it is known, and answers of the model are
kept in ``--into``: ended at any moment, the same command goes on. Function after function is
finished, in-file and out-file in turn, so what there is can always be compared. ``--report``
asks nothing and writes ``docs/strategies.md`` from what is there.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import itertools
import json
import os
import random
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent))

from corpus import Unreachable, corpus_folder, fetch, select
from strategies_page import BUILDERS, CONTEXTS, PLACES, page

from depslice.callgraph import Program, list_functions, open_program
from depslice.callgraph.errors import DepsliceError
from depslice.callgraph.model import Symbol
from depslice.dataset.making import Maker
from depslice.dataset.model import Made, made_document
from depslice.dataset.recorded import Recording
from depslice.harness import Settings
from depslice.harness.llm import LlmGenerator
from depslice.llm import Caps, ModelSettings, OpenModel, Options, Pace, Usage, open_model
from depslice.llm.prices import Price, parse_price
from depslice.prompts.subjects import LIMIT
from depslice.slicer import slice_symbols
from depslice.validator.calls import is_test_module
from depslice.validator.sandbox import choose_sandbox
from depslice.validator.validation import Gates, Session, open_session

REPO: Final = Path(__file__).resolve().parents[1]
PACKAGES: Final = ("boltons", "click", "humanize", "lark", "more-itertools", "toolz")
PASSING: Final = frozenset(
    {
        "model-unavailable", "model-unauthorized", "model-rate-limited", "cap-reached",
        "cache-miss", "sandbox",
    }
)  # fmt: skip
"""Reasons that say nothing about a harness: the run ends, and a later one asks again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A function of the sample."""

    package: str
    version: str
    place: str
    program: Program
    target: Symbol
    alone: threading.Lock
    """Held by whoever asks the program."""


def main() -> None:
    """The command line; see the module's docstring."""
    options = _arguments()
    if not options.report:
        try:
            measure(options)
        except DepsliceError as error:
            raise SystemExit(f"strategies: {error.message}") from None
        except Unreachable as error:
            raise SystemExit(f"strategies: no corpus: {error}") from None
    lines = Results(options.results).lines
    name = os.path.relpath(options.results.resolve(), options.page.resolve().parent)
    text = page(lines, results=name, wanted=options.functions)
    options.page.write_text(text, encoding="utf-8")
    print(options.page)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", help="as for `depslice harness`")
    parser.add_argument("--base-url", default="")
    parser.add_argument("--price", type=parse_price, metavar="IN/OUT[/CACHED]")
    parser.add_argument("--max-dollars", type=float)
    parser.add_argument("--max-tokens", type=int, default=1024, help="of an answer")
    parser.add_argument("--limit", type=int, default=LIMIT, help="tokens of context")
    parser.add_argument("--rounds", type=int, default=1, help="more than 1: with repairs")
    parser.add_argument("--mutants", type=int, default=50)
    parser.add_argument("--functions", type=int, default=24, help="of all packages together")
    parser.add_argument("--concurrency", type=int, default=1, help="harnesses made side by side")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--packages", default=",".join(PACKAGES), help="of the corpus")
    parser.add_argument("--folder", type=Path, action="append", help="code of your own instead")
    parser.add_argument("--run-python", default=sys.executable, help="has what they import")
    parser.add_argument("--into", type=Path, default=Path("strategies-measured"))
    results = REPO / "benchmarks" / "results" / "strategies.jsonl"
    parser.add_argument("--results", type=Path, default=results)
    parser.add_argument("--page", type=Path, default=REPO / "docs" / "strategies.md")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    options = parser.parse_args()
    counts = ("functions", "rounds", "max_tokens", "limit", "concurrency")
    for name in counts:
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} is 1 at least")
    if not options.report and not options.model:
        parser.error("--model is needed, or --report")
    return options


# --- the sample


def sample(options: argparse.Namespace) -> list[Subject]:
    """The functions, in-file and out-file in turn, and the packages in turn within these."""
    each = -(-options.functions // (len(PLACES) * len(list(_folders(options)))))
    columns: dict[str, list[list[Subject]]] = {place: [] for place in PLACES}
    for name, version, folder in _folders(options):
        found = _drawn(name, version, folder, each=each, seed=options.seed)
        for place in PLACES:
            columns[place].append(found[place])
    turns = [
        [one for turn in itertools.zip_longest(*columns[place]) for one in turn if one is not None]
        for place in PLACES
    ]
    both = (one for pair in itertools.zip_longest(*turns) for one in pair if one is not None)
    return list(itertools.islice(both, options.functions))


def _folders(options: argparse.Namespace) -> Iterator[tuple[str, str, Path]]:
    if options.folder:
        for folder in options.folder:
            yield folder.name, "", folder
        return
    packages = select(options.packages.split(","))
    for package, folder in zip(packages, fetch(packages, corpus_folder()), strict=True):
        yield package.name, package.version, folder


def _drawn(
    name: str, version: str, folder: Path, *, each: int, seed: int
) -> dict[str, list[Subject]]:
    """So many functions of each place, as far as the package has them."""
    program = open_program(folder)
    symbols = sorted(list_functions(program, workers=1), key=_id)
    random.Random(seed).shuffle(symbols)  # noqa: S311 - a sample, not a secret
    alone = threading.Lock()
    found: dict[str, list[Subject]] = {place: [] for place in PLACES}
    for symbol in symbols:
        if all(len(drawn) == each for drawn in found.values()):
            break
        if not _is_wanted(program, symbol):
            continue
        files = {item.symbol.path for item in slice_symbols(program, [symbol.id]).items}
        place = PLACES[len(files) > 1]
        if len(found[place]) < each:
            found[place].append(
                Subject(
                    package=name,
                    version=version,
                    place=place,
                    program=program,
                    target=symbol,
                    alone=alone,
                )
            )
    return found


def _id(symbol: Symbol) -> str:
    return symbol.id


def _is_wanted(program: Program, symbol: Symbol) -> bool:
    """Whether there is something to compare: it says what it does, takes and returns something."""
    if "<" in symbol.id or is_test_module(symbol.module):
        return False
    module = program.module(symbol.module)
    tree = ast.parse(program.text(module)) if module is not None else ast.Module([], [])
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and _starts(node) == symbol.span.start:
            arguments = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
            returns = any(isinstance(n, ast.Return) and n.value for n in ast.walk(node))
            return bool(ast.get_docstring(node) and returns and arguments - {"self", "cls"})
    return False


def _starts(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


# --- the measurement


class Results:
    """Lines of a file, by what they depend on; the last one of a cell counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]  # a run that was killed may leave part of a line
        if whole != text:
            path.write_text(whole, encoding="utf-8")
        self._lock = threading.Lock()
        self._found = {_cell(each): each for each in map(json.loads, whole.splitlines())}

    @property
    def lines(self) -> list[dict[str, Any]]:
        """All of them."""
        return list(self._found.values())

    def has(self, about: dict[str, Any]) -> bool:
        """Whether the cell is done. What came to no verdict is tried again."""
        found = self._found.get(_cell(about))
        return found is not None and found["verdict"] != "inconclusive"

    def add(self, line: dict[str, Any]) -> None:
        """Write it, at once."""
        with self._lock:
            self._found[_cell(line)] = line
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


def _cell(line: dict[str, Any]) -> str:
    names = ("model", "package", "version", "target", "builder", "strategy", "settings")
    return json.dumps([line[name] for name in names], sort_keys=True)


class Meter:
    """CPU time, shared evenly among the harnesses that are being made at the time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read = cpu_seconds()
        self._taken: dict[int, float] = {}

    @contextmanager
    def measuring(self, taken: dict[str, Any]) -> Iterator[None]:
        """Put ``cpu`` and ``seconds`` into ``taken``."""
        me, started = id(taken), time.monotonic()
        with self._lock:
            self._share()
            self._taken[me] = 0.0
        try:
            yield
        finally:
            with self._lock:
                self._share()
                taken["cpu"] = round(self._taken.pop(me), 2)
            taken["seconds"] = round(time.monotonic() - started, 2)

    def _share(self) -> None:
        now = cpu_seconds()
        for each in self._taken:
            self._taken[each] += (now - self._read) / len(self._taken)
        self._read = now


def measure(options: argparse.Namespace) -> None:
    """Make what is missing.

    :raises DepsliceError: the model, a folder or the sandbox cannot be opened.
    :raises Unreachable: the packages are not here, and cannot be fetched.
    """
    results = Results(options.results)
    price: Price | None = options.price
    settings = ModelSettings(
        base_url=options.base_url,
        price=price,
        completions=options.into / "completions",
        caps=Caps(dollars=options.max_dollars),
        pace=Pace(concurrency=options.concurrency),
    )
    with open_model(options.model, settings) as model:
        subjects = sample(options)
        cells = [
            Cell(subject, builder, strategy, f"{number}/{len(subjects)}", options)
            for number, subject in enumerate(subjects, 1)
            for builder in BUILDERS
            for strategy in CONTEXTS
        ]
        missing = [each for each in cells if not results.has(each.about(model.name))]
        _side_by_side(missing, Run(model=model, results=results), options.concurrency)


def _side_by_side(cells: Sequence[Cell], run: Run, number: int) -> None:
    """Make them in their order; after one that ends the run, those that are begun."""

    def make(cell: Cell) -> None:
        if run.ended.is_set():
            return
        try:
            cell.make(run)
        except BaseException:
            run.ended.set()
            raise

    with ThreadPoolExecutor(number) as pool:
        making = [pool.submit(make, each) for each in cells]
        try:
            wait(making, return_when=FIRST_EXCEPTION)
        finally:
            run.ended.set()
    for done in making:
        done.result()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What cells share. ``ended``: no further one is to be begun."""

    model: OpenModel
    results: Results
    meter: Meter = field(default_factory=Meter)
    ended: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class Cell:
    """One harness that is asked for."""

    subject: Subject
    builder: str
    strategy: str
    number: str
    options: argparse.Namespace

    def about(self, model: str) -> dict[str, Any]:
        """What the harness depends on, and where the function is."""
        return {
            "model": model,
            "package": self.subject.package,
            "version": self.subject.version,
            "target": self.subject.target.id,
            "place": self.subject.place,
            "builder": self.builder,
            "strategy": self.strategy,
            "settings": {
                "limit": self.options.limit,
                "max_tokens": self.options.max_tokens,
                "rounds": self.options.rounds,
                "mutants": self.options.mutants,
            },
        }

    def make(self, run: Run) -> None:
        """Write its line. No answer is asked for twice."""
        print(self.number, self.builder, self.strategy, self.subject.target.id, file=sys.stderr)
        options, taken = self.options, dict[str, Any]()
        gates = Gates(mutants=options.mutants, equivalence=self.builder == "equivalence")
        with (
            run.meter.measuring(taken),
            open_session(
                self.subject.program,
                sandbox=choose_sandbox(),
                python=options.run_python,
                gates=gates,
            ) as session,
        ):
            made = self._made(run.model, session, taken)
        if made.reasons and made.reasons[0][0] in PASSING:
            raise SystemExit(f"strategies: {made.reasons[0][1]}; the same command goes on")
        run.results.add(made_document(made) | taken | self.about(run.model.name))

    def _made(self, model: OpenModel, session: Session, taken: dict[str, Any]) -> Made:
        counted = model.for_task(Caps())  # its ledger knows what the cell takes, replayed or not
        settings = Settings(
            model=self.options.model,
            builder=self.builder,
            strategy=self.strategy,
            limit=self.options.limit,
            sampling=Options(max_tokens=self.options.max_tokens),
        )
        folder = self.options.into.joinpath(
            "harnesses", self.subject.package, self.builder, self.strategy,
            hashlib.sha256(self.subject.target.id.encode()).hexdigest()[:12],
        )  # fmt: skip
        (folder / "manifest.jsonl").unlink(missing_ok=True)  # the lines of the results say more
        maker = Maker(
            session=session,
            generators=[LlmGenerator(settings, counted)],
            recording=Recording(calls={}, failures={}),
            folder=folder,
            rounds=self.options.rounds,
            settings=settings,
            alone=self.subject.alone,
        )
        [made] = maker.make([self.subject.target], progress=lambda *_: None)
        spent: Usage = counted.ledger.spent
        taken["usage"] = asdict(spent)
        taken["harness"] = (
            (folder / made.harness).read_text(encoding="utf-8") if made.harness else None
        )
        return made


def cpu_seconds() -> float:
    """CPU time of this process and all that it has started, a local model among them."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        pid = int(stat.parent.name)
        parents[pid] = int(fields[1])
        ticks[pid] = sum(map(int, fields[11:15]))  # its own, and of children that have ended
    if not ticks:  # no Linux
        return sum(os.times()[:4])
    mine, new = {os.getpid()}, {os.getpid()}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new} - mine
        mine |= new
    return sum(ticks.get(pid, 0) for pid in mine) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
