"""The generator: rounds of prompts, and what is told as a draft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from depslice.harness.llm.checking import Reason, static_reasons
from depslice.harness.llm.extracting import NoCode, extract_code
from depslice.harness.model import (
    Attempt,
    Declined,
    Draft,
    GeneratorUnavailable,
    Settings,
    Task,
)
from depslice.llm import Completion, Model, ModelError, OpenModel, Usage, open_model
from depslice.llm.expecting import expected_usage
from depslice.llm.port import (
    BadReply,
    CapReached,
    ModelUnavailable,
    RateLimited,
    Unauthorized,
)
from depslice.prompts import (
    BuilderSettings,
    Feedback,
    Message,
    Prompt,
    build_prompt,
    open_builder,
    subject_of,
)

_TRIES: Final = 2  # of a round, as long as no answer passes the static checks
_SURVIVORS: Final = 3  # that a model is shown
_UNCOVERED: Final = 8
_FAILURES: Final = 4
_TRIED: Final = 2  # repairs that failed
_PATIENCE: Final = 3  # tasks in a row, each with all its retries
_PREDICTION: Final = "output-prediction"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """A completion that was looked at: ``text`` is its code, ``reasons`` why it is of no use."""

    completion: Completion
    text: str
    reasons: tuple[Reason, ...]


class LlmGenerator:
    """See the package.

    A model that is out of reach, refuses, or may not be asked any more costs the task at hand.
    After a wrong key, a cap, or several tasks in a row that it was out of reach for, nothing is
    asked again.
    """

    name = "llm"
    needs_calls = False
    rounds = 4

    def __init__(self, settings: Settings, model: OpenModel | None = None) -> None:
        """``model`` stands in for the one of the settings.

        :raises GeneratorUnavailable: no model is named.
        """
        if model is None and not settings.model:
            raise GeneratorUnavailable(
                "the generator 'llm' needs a model",
                hint="--model openai:NAME, anthropic:NAME or local:PATH.gguf",
            )
        self._settings = settings
        self._run: OpenModel = model or open_model(settings.model, settings.models)
        own = BuilderSettings(templates=settings.templates)
        self._builder = open_builder(settings.builder or "equivalence", own)
        self._repair = open_builder("repair", own)
        self._ended: ModelError | None = None
        self._away = 0  # tasks in a row
        self._models: dict[str, Model] = {}

    def close(self) -> None:
        """End what the model has started: connections, a local server."""
        self._run.close()

    def draft(self, task: Task, attempts: Sequence[Attempt]) -> Sequence[Draft] | Declined:
        """See :class:`depslice.harness.HarnessGenerator`."""
        if self._ended is not None:
            return _declined(self._ended, Usage())
        return _Round(self, task, attempts).run()

    def prompt(self, task: Task, feedback: Feedback | None = None) -> Prompt:
        """The messages for a first round, or with ``feedback`` for a further one."""
        subject = subject_of(
            task.program,
            task.target,
            strategy=self._settings.strategy,
            limit=self._settings.limit,
            feedback=feedback,
        )
        return build_prompt(self._repair if feedback else self._builder, subject)

    def expected(self, task: Task) -> Usage:
        """What the first prompt for ``task`` takes at most; nothing is asked."""
        return expected_usage(
            self.prompt(task).messages,
            self._run.price,
            n=self._settings.samples,
            options=self._settings.sampling,
        )

    def ask(self, task: Task, messages: Sequence[Message]) -> list[Completion]:
        """Answers, by the settings and within the caps of the task.

        :raises ModelError: there are none.
        """
        target = task.target.id
        if target not in self._models:  # caps of a task hold for all its rounds
            self._models[target] = self._run.for_task(self._settings.task_caps)
        model = self._models[target]
        try:
            with task.waiting():
                completions = model.complete(
                    messages, n=self._settings.samples, options=self._settings.sampling
                )
        except ModelError as error:
            if self._is_the_end(error):
                self._ended = error
            raise
        self._away = 0
        return completions

    def _is_the_end(self, error: ModelError) -> bool:
        """Whether the next task would meet with the same, after as long a wait perhaps."""
        match error:
            case Unauthorized():
                return True
            case CapReached():
                return self._run.ledger.is_full
            case ModelUnavailable() | RateLimited():
                self._away += 1
                return self._away >= _PATIENCE
            case _:
                return False

    @property
    def model_name(self) -> str:
        """Which model it asks."""
        return self._run.name

    @property
    def is_equivalence(self) -> bool:
        """Whether harnesses compare with the reference."""
        return self._builder.name != _PREDICTION


class _Round:
    """Answers to one prompt; to a second one if all that the first gave is plainly wrong."""

    def __init__(self, generator: LlmGenerator, task: Task, attempts: Sequence[Attempt]) -> None:
        self.generator = generator
        self.task = task
        self.opening = generator.prompt(task).messages
        self.feedback = _feedback(task, attempts, self.opening)
        self.known = {attempt.draft.text.strip() for attempt in attempts}
        self.usage = Usage()

    def run(self) -> Sequence[Draft] | Declined:
        """Drafts that passed the static checks."""
        answers: list[_Answer] = []
        for _ in range(_TRIES):
            prompt = self.generator.prompt(self.task, self.feedback)
            try:
                completions = self.generator.ask(self.task, prompt.messages)
            except ModelError as error:
                return _declined(error, self.usage)
            for each in completions:
                self.usage += each.usage
            answers = [self._looked_at(each) for each in completions]
            good = [each for each in answers if not each.reasons]
            if good:
                return self._drafts(good, prompt)
            worst = answers[0]
            self.feedback = Feedback(
                answer=worst.text or worst.completion.text[-2000:],
                reasons=tuple(message for _, message in worst.reasons),
                opening=self.opening,
            )
        slug, message = answers[0].reasons[0]
        return Declined(
            slug=slug,
            message=message,
            tokens=_tokens(self.usage),
            dollars=self.usage.dollars,
        )

    def _looked_at(self, completion: Completion) -> _Answer:
        text, reasons = "", _not_whole(completion)
        if not reasons:
            found = extract_code(completion.text)
            if isinstance(found, NoCode):
                reasons = ((found.slug, found.message),)
            else:
                text = found
                reasons = static_reasons(
                    text,
                    self.task.program,
                    self.task.target,
                    equivalence=self.generator.is_equivalence,
                )
                if text.strip() in self.known:  # what comes of it is known
                    reasons = (("repeated", "this is an earlier answer again: change it"),)
        return _Answer(completion=completion, text=text, reasons=reasons)

    def _drafts(self, answers: Sequence[_Answer], prompt: Prompt) -> list[Draft]:
        """Each text once. All that the round took is told with the first of them."""
        drafts = []
        for number, text in enumerate(dict.fromkeys(answer.text for answer in answers)):
            usage = self.usage if number == 0 else Usage()
            drafts.append(
                Draft(
                    text=text if text.endswith("\n") else text + "\n",
                    provenance={
                        "model": self.generator.model_name,
                        "builder": prompt.builder,
                        "version": prompt.version,
                        "strategy": prompt.strategy,
                        "prompt": prompt.digest,
                        "prompt_tokens": prompt.tokens,
                        "usage": asdict(usage),
                    },
                    tokens=_tokens(usage),
                    dollars=usage.dollars,
                )
            )
        return drafts


def _not_whole(completion: Completion) -> tuple[Reason, ...]:
    match completion.finish_reason:
        case "stop" | "other":
            return ()
        case "length":
            return (("truncated", "the answer was cut off: write a shorter file"),)
        case "refused":
            return (("refused", "the model refuses to answer"),)


def _feedback(
    task: Task, attempts: Sequence[Attempt], opening: tuple[Message, ...]
) -> Feedback | None:
    """What is to be better than the best attempt so far; what was tried since."""
    if not attempts:
        return None
    best = max(attempts, key=_rank)
    later = attempts[attempts.index(best) + 1 :]
    found = best.assessment
    return Feedback(
        answer=best.draft.text,
        reasons=_reasons(best),
        tried=tuple(Feedback(answer=a.draft.text, reasons=_reasons(a)) for a in later[-_TRIED:]),
        uncovered=tuple(_lines(task, found.uncovered[:_UNCOVERED])),
        survivors=found.survivors[:_SURVIVORS],
        opening=opening,
    )


def _reasons(attempt: Attempt) -> tuple[str, ...]:
    found = attempt.assessment
    reasons = [f"{slug}: {message}" for slug, message in found.reasons]
    return (*reasons, *found.failures[:_FAILURES])


def _rank(attempt: Attempt) -> tuple[bool, float, float]:
    found = attempt.assessment
    passes = not any(slug == "fails-on-original" for slug, _ in found.reasons)
    return passes, found.mutation_score or 0.0, found.branch_coverage or 0.0


def _lines(task: Task, arcs: Sequence[tuple[int, int]]) -> list[str]:
    """Branches that did not run, as the lines of code that they lead to."""
    module = task.program.module(task.target.module)
    lines = task.program.text(module).split("\n") if module is not None else []

    def shown(line: int) -> str:
        return f"{line}: {lines[line - 1].strip()}" if 0 < line <= len(lines) else "the end"

    return [f"from {shown(source)}  to {shown(to)}" for source, to in arcs]


def _declined(error: ModelError, usage: Usage) -> Declined:
    return Declined(
        slug=error.slug,
        message=error.message,
        tokens=_tokens(usage),
        dollars=usage.dollars,
        passing=not isinstance(error, BadReply),
    )


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens
