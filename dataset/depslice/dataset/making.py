"""Generate, validate, repair: until a harness is accepted or nobody knows better.

A manifest has a line for each function and generator that is done. A run that was killed
goes on behind its last line; what is in flight is lost, nothing else.

Functions are worked on side by side. What takes the time is to validate, in a sandbox for
each worker, and to wait for a model; generators, and the program that they read, are used by
one thread at a time.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from depslice.callgraph.awaiting import results_of
from depslice.callgraph.errors import DepsliceError
from depslice.callgraph.model import Symbol
from depslice.dataset.assessing import assessment_of, rank, self_equivalent
from depslice.dataset.model import SCHEMA, Made, made_document, parse_made, total_dollars
from depslice.dataset.recorded import Recording
from depslice.harness import (
    Attempt,
    Declined,
    Draft,
    GeneratorUnavailable,
    HarnessGenerator,
    Settings,
    Task,
)
from depslice.llm import ModelSettings
from depslice.validator.validation import (
    Inconclusive,
    Session,
    Verdict,
    not_a_harness,
    parse_harness,
)
from depslice.validator.validation.harness import data_folder, is_whole
from depslice.validator.validation.ledger import Ledger, LedgerError
from depslice.validator.validation.verdict import JUDGED

_FORMAT: Final = 1
_NOT_IN_NAMES: Final = re.compile(r"[^\w.-]", re.ASCII)  # of files, wherever they may go
_LONGEST_NAME: Final = 200  # bytes; files of harnesses have ends of their own


Progress = Callable[[int, int, str], None]
"""Told how many functions are done, of how many, and which one is at hand, with the step."""


class _Interrupted(BaseException):
    """Nobody waits for the rest: nothing more is asked, validated or kept."""


@dataclass(slots=True, kw_only=True)
class Maker:
    """Makes harnesses for functions of one program.

    ``folder`` gets the harnesses and ``manifest.jsonl``. ``rounds``: at most so many drafts are
    validated for a function and generator. Without ``every``, the generators that come
    after one whose harness was accepted are not asked. ``workers``: functions worked on side
    by side; the first worker has ``session``, the others open one each. ``alone`` is held by
    whoever asks the program or a generator: makers that share a program share it.
    """

    session: Session
    generators: Sequence[HarnessGenerator]
    recording: Recording
    folder: Path
    settings: Settings = field(default_factory=Settings)
    rounds: int = 4
    every: bool = False
    workers: int = 1
    _ledger: Ledger = field(init=False)
    alone: threading.Lock = field(default_factory=threading.Lock)
    _steps: dict[str, str] = field(init=False, default_factory=dict)  # by target, oldest first
    _tell: Callable[[], None] = field(init=False, default=lambda: None)
    _interrupted: threading.Event = field(init=False, default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._ledger = Ledger(self.folder / "manifest.jsonl", SCHEMA)

    def make(self, targets: Sequence[Symbol], *, progress: Progress) -> Iterator[Made]:
        """Harnesses in the order of ``targets``; those of earlier runs come too.

        :raises GeneratorUnavailable: a generator says that it will never work.
        :raises SandboxUnavailable: no sandbox can be started.
        """
        progress(0, len(targets), "")
        number = min(self.workers, len(targets))
        if number > 1:
            yield from self._side_by_side(targets, number, progress)
        else:
            yield from self._in_turn(targets, progress)

    @contextmanager
    def released(self) -> Iterator[None]:
        """For one that holds ``alone``, and waits for something outside of this process."""
        self.go_on()
        self.alone.release()
        try:
            yield
        finally:
            self.alone.acquire()

    def go_on(self) -> None:
        """Asked before each step of a worker.

        :raises _Interrupted: the run was.
        """
        if self._interrupted.is_set():
            raise _Interrupted

    def begin(self, target: Symbol, step: str) -> None:
        """Note what is done for ``target`` now, which may take long."""
        self._steps[target.id] = step
        self._tell()

    def _at_hand(self) -> str:
        """The target that has been worked on for longest, and with what."""
        steps = [*self._steps.copy().items()]
        more = f", and {len(steps) - 1} more" if len(steps) > 1 else ""
        return f"{steps[0][0]} ({steps[0][1]}){more}" if steps else ""

    def _tell_of(self, progress: Progress, done: int, total: int) -> None:
        progress(done, total, self._at_hand())

    def _in_turn(self, targets: Sequence[Symbol], progress: Progress) -> Iterator[Made]:
        for done, target in enumerate(targets):
            self._tell = partial(self._tell_of, progress, done, len(targets))
            yield from self._all_of(target, self.session)
            progress(done + 1, len(targets), "")

    def _side_by_side(
        self, targets: Sequence[Symbol], number: int, progress: Progress
    ) -> Iterator[Made]:
        """What comes of them in their order; those that are done are counted in any."""
        done: list[None] = []
        sessions = [self.session]
        own = threading.local()
        with ExitStack() as stack:
            ground, gates = self.session.ground, self.session.gates
            for _ in range(number - 1):
                another = Session(ground=ground, gates=gates)
                sessions.append(stack.enter_context(closing(another)))

            def begin() -> None:
                own.session = sessions.pop()

            def work(target: Symbol) -> list[Made]:
                made = list(self._all_of(target, own.session))
                done.append(None)
                return made

            def tell() -> None:
                progress(len(done), len(targets), self._at_hand())

            pool = ThreadPoolExecutor(number, initializer=begin)
            try:
                for made in results_of([pool.submit(work, t) for t in targets], meanwhile=tell):
                    yield from made
                    tell()
            except KeyboardInterrupt:
                # An answer of a model, or a validation, may take minutes. Both are lost.
                self._interrupted.set()
                raise
            finally:
                pool.shutdown(wait=not self._interrupted.is_set(), cancel_futures=True)

    def _all_of(self, target: Symbol, session: Session) -> Iterator[Made]:
        for generator in self.generators:
            made = self._made(target, generator, session)
            yield made
            if made.verdict == "accepted" and not self.every:
                break
        self._steps.pop(target.id, None)

    def _made(self, target: Symbol, generator: HarnessGenerator, session: Session) -> Made:
        with self.alone:
            key = self._key(target, generator)
            known = self._ledger.get(key)
        earlier = None if known is None else parse_made(known)
        if earlier is not None and self._is_there(earlier):
            return earlier
        started = time.monotonic()
        loop = _Loop(self, target, generator, session)
        made = replace(loop.run(), seconds=time.monotonic() - started)
        self.go_on()
        if made.verdict != "inconclusive" and not loop.passing:  # it may be another next time
            with self.alone:
                self._ledger.add(key, made_document(made))
        return made

    def _is_there(self, made: Made) -> bool:
        """Whether the files of a harness that an earlier run made are still where they were."""
        return not made.harness or is_whole(self.folder / made.harness)

    def _key(self, target: Symbol, generator: HarnessGenerator) -> str:
        """What the outcome depends on."""
        program = self.session.ground.program
        module = program.module(target.id.partition(":")[0])
        calls = self.recording.calls.get(target.id, ())
        base_url = self.settings.models.base_url
        parts = (
            (_FORMAT, JUDGED),
            target.id,
            program.text(module) if module is not None else "",
            generator.name,
            self.rounds,
            asdict(replace(self.settings, models=ModelSettings(base_url=base_url))),
            asdict(self.session.gates),
            [(c.test, c.number, c.arguments, hashlib.sha256(c.data).digest()) for c in calls],
        )
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


class _Loop:
    """One function and one generator."""

    def __init__(
        self, maker: Maker, target: Symbol, generator: HarnessGenerator, session: Session
    ) -> None:
        self.maker = maker
        self.generator = generator
        self.session = session
        self.task = Task(
            program=session.ground.program,
            target=target,
            calls=maker.recording.calls.get(target.id, ()),
            not_recorded=maker.recording.why_not(target.id),
            waiting=maker.released,
        )
        self.attempts: list[Attempt] = []
        self.best: tuple[Draft, Verdict] | None = None
        self.tokens = 0
        self.dollars: float | None = 0.0
        self.passing = False

    def run(self) -> Made:
        """Rounds, and the best of what they gave."""
        for number in range(1, min(self.maker.rounds, self.generator.rounds) + 1):
            which = f"{self.generator.name}, draft {number}"
            self.maker.begin(self.task.target, which)
            drafts = self._drafts()
            self._spend([drafts] if isinstance(drafts, Declined) else drafts)
            if isinstance(drafts, Declined):
                self.passing = drafts.passing
                if self.best is None:
                    verdict = "inconclusive" if drafts.passing else "declined"
                    return self._told(verdict, ((drafts.slug, drafts.message),))
                break
            for draft in drafts:
                self.maker.go_on()
                self.maker.begin(self.task.target, f"{which}: validating")
                self._try(draft)
            if self.best is not None and rank(self.best[1])[0]:
                break
        return self._kept()

    def _spend(self, drafts: Sequence[Draft | Declined]) -> None:
        self.tokens += sum(each.tokens for each in drafts)
        self.dollars = total_dollars([self.dollars, *(each.dollars for each in drafts)])

    def _drafts(self) -> Sequence[Draft] | Declined:
        try:
            with self.maker.alone:
                return _checked(self.generator.draft(self.task, tuple(self.attempts)))
        except GeneratorUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - a plug-in is foreign code; the run goes on
            return Declined(slug="generator-failed", message=f"{type(error).__name__}: {error}")

    def _try(self, draft: Draft) -> None:
        verdict = self._verdict(draft)
        self.attempts.append(Attempt(draft=draft, assessment=assessment_of(verdict)))
        if self.best is None or rank(verdict) > rank(self.best[1]):
            self.best = draft, verdict

    def _verdict(self, draft: Draft) -> Verdict:
        program, target = self.task.program, self.task.target.id
        try:
            with self.maker.alone:
                harness = parse_harness(draft.text, program, target=target)
        except DepsliceError as error:
            return not_a_harness(error)
        return self.session.validate(replace(harness, files=dict(draft.files)))

    def _kept(self) -> Made:
        assert self.best is not None
        draft, verdict = self.best
        found = assessment_of(verdict)
        return replace(
            self._told(found.verdict, found.reasons),
            self_equivalent=self_equivalent(verdict),
            branch_coverage=found.branch_coverage,
            mutation_score=found.mutation_score,
            harness="" if isinstance(verdict, Inconclusive) else self._write(draft),
            provenance=draft.provenance,
        )

    def _told(self, verdict: str, reasons: tuple[tuple[str, str], ...]) -> Made:
        return Made(
            target=self.task.target.id,
            generator=self.generator.name,
            strategy=self.maker.settings.strategy if self.tokens else "",
            verdict=verdict,
            reasons=reasons,
            rounds=len(self.attempts),
            tokens=self.tokens,
            dollars=self.dollars,
        )

    def _label(self) -> str:
        """What is in a file's name: harnesses of other runs, made otherwise, stand beside it."""
        if not self.tokens:
            return self.generator.name
        predicted = "" if self.session.gates.equivalence else "outputs"
        label = (self.generator.name, predicted, self.maker.settings.strategy)
        return "-".join(filter(None, label))

    def _write(self, draft: Draft) -> str:
        """The harness as files; its name relative to the folder.

        :raises LedgerError: there is no room, or no right to write there.
        """
        try:
            return self._written(draft).as_posix()
        except OSError as error:
            raise LedgerError.of(self.maker.folder, error) from None

    def _written(self, draft: Draft) -> Path:
        module, _, qualname = self.task.target.id.partition(":")
        name = qualname.replace("<locals>.", "").replace("<", "").replace(">", "")
        # A plug-in may be called anything.
        label = _NOT_IN_NAMES.sub("_", self._label())
        if len(f"{name}.{label}".encode()) > _LONGEST_NAME:
            digest = hashlib.sha256(f"{name}.{label}".encode()).hexdigest()[:12]
            name, label = f"{name[:30]}-{digest}", label[:20]
        relative = Path(*module.split("."), f"{name}.{label}.py")
        path = self.maker.folder / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        for file, data in draft.files.items():
            folder = data_folder(path)
            folder.mkdir(exist_ok=True)
            (folder / Path(file).name).write_bytes(data)
        path.write_text(draft.text, encoding="utf-8")
        return relative


def _checked(found: object) -> Sequence[Draft] | Declined:
    """What a generator gives, if it is what it has to be; raises ``TypeError`` if not."""
    match found:
        case Declined():
            return found
        case []:
            raise TypeError("it gives no draft, and does not say why")
        case [*each]:
            drafts = [draft for draft in each if isinstance(draft, Draft)]
            if len(drafts) < len(each):
                raise TypeError(f"it gives {type(found).__name__} of what are no drafts")
            for draft in drafts:
                _check(draft)
            return drafts
        case _:
            raise TypeError(f"it gives {type(found).__name__}, not drafts")


def _check(draft: Draft) -> None:
    """Raise ``TypeError`` where what is in it is something else: a plug-in has no types."""
    text: object = draft.text
    files: Mapping[Any, Any] = draft.files
    if not isinstance(text, str):
        raise TypeError(f"it gives a draft whose text is {type(text).__name__}")
    if not all(isinstance(n, str) and isinstance(data, bytes) for n, data in files.items()):
        raise TypeError("it gives a draft whose files are not bytes by name")
    json.dumps(dict(draft.provenance))
