"""The generator that asks a model: what is taken out of answers, and what is seen without running."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from depslice.callgraph import open_program
from depslice.callgraph.targets import find_symbol
from depslice.harness import (
    Assessment,
    Attempt,
    Declined,
    Draft,
    GeneratorUnavailable,
    Settings,
    Task,
    open_generator,
)
from depslice.harness.llm import LlmGenerator
from depslice.harness.llm.checking import static_reasons
from depslice.harness.llm.extracting import NoCode, extract_code
from depslice.llm import Caps, Completion, OpenModel
from depslice.llm.caps import Capped, Ledger
from depslice.llm.port import BadReply, ModelUnavailable, RateLimited, Unauthorized
from depslice.llm.prices import FREE
from depslice.llm.request import Request
from scripted import Reply, ScriptedModel, said

SOURCE = '''
import json


class Box:
    def __init__(self, size):
        self.size = size

    def grow(self, by):
        return Box(self.size + by)


def clamp(x, low, high):
    """Within limits."""
    if low > high:
        raise ValueError("limits")
    if x < low:
        return low
    return min(x, high)
'''
REEXPORTS = "from shapes import clamp\n\n\ndef grow(x):\n    return x\n"
GOOD = """
def test_clamp(candidate, reference):
    for x in (-1, 0, 5):
        assert candidate(x, 0, 3) == reference(x, 0, 3)
"""


def block(code: str, language: str = "python") -> str:
    return f"Here it is:\n```{language}\n{dedent(code).strip()}\n```\nHope it helps.\n"


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return task_of(tmp_path, "clamp")


def task_of(folder: Path, target: str) -> Task:
    (folder / "repo").mkdir(exist_ok=True)
    (folder / "repo" / "shapes.py").write_text(SOURCE, encoding="utf-8")
    (folder / "repo" / "everything.py").write_text(REEXPORTS, encoding="utf-8")
    program = open_program(str(folder / "repo"))
    return Task(program=program, target=find_symbol(program, target))


# Extraction.


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (block(GOOD), GOOD),
        (block(GOOD, ""), GOOD),
        (block(GOOD, "Python3"), GOOD),
        (GOOD, GOOD),  # no fences at all
        ("~~~py\n" + GOOD + "~~~\n", GOOD),
        ("```python\n" + GOOD, GOOD),  # a fence that nobody closes
        # A block without tests says how to run it; the other one counts.
        (block("pip install pytest", "bash") + block(GOOD), GOOD),
        (block("from shapes import clamp") + block(GOOD), GOOD),
        # The second one corrects the first.
        (block("def test_clamp(candidate):\n    pass") + block(GOOD), GOOD),
    ],
)
def test_code_is_found(answer: str, code: str) -> None:
    found = extract_code(answer)
    assert isinstance(found, str)
    assert found.strip() == code.strip()


def test_parts_of_one_file_are_joined() -> None:
    found = extract_code(
        block("def test_a(candidate): pass") + block("def test_b(candidate): pass")
    )
    assert isinstance(found, str)
    assert "test_a" in found
    assert "test_b" in found


@pytest.mark.parametrize(
    ("answer", "slug"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("I am sorry, I cannot do that.", "no-code"),
        (block("it('clamps', () => {})", "javascript"), "other-language"),
        ("x" * 400_000, "too-long"),
    ],
)
def test_no_code(answer: str, slug: str) -> None:
    found = extract_code(answer)
    assert isinstance(found, NoCode)
    assert found.slug == slug


# Static checks.

_HEAD = "def test_it(candidate, reference):\n"


@pytest.mark.parametrize(
    ("text", "slugs"),
    [
        (GOOD, []),
        ("def test_it(context):\n    context.check(1, 2, 3)", []),
        (f"import pytest\nimport json\nfrom shapes import Box\n{GOOD}", []),
        (f"{_HEAD}    for f in (candidate, reference):\n        assert f(1, 0, 2) == 1", []),
        ("def test_it(candidate, reference:\n", ["syntax"]),
        ("const x = 1;", ["syntax"]),
        ("x = 1", ["no-tests"]),
        (f"from your_module import thing\n{GOOD}", ["unresolved-import"]),
        (f"from shapes import Circle\n{GOOD}", ["unresolved-import"]),
        (f"import shapes.more\n{GOOD}", ["unresolved-import"]),
        (f"from .shapes import Box\n{GOOD}", ["relative-import"]),
        (f"{_HEAD}    assert candidate(1, 0, 2) == 1", ["reference-not-called"]),
        (f"{_HEAD}    assert reference(1, 0, 2) == 1", ["candidate-not-called"]),
        # Not its parameters: whatever these names are, the validator does not give them.
        (
            "def test_it():\n    assert candidate(1, 0, 2) == reference(1, 0, 2)",
            ["candidate-not-called", "reference-not-called"],
        ),
        (f"{_HEAD}    candidate(1, 0, 2)\n    reference(1, 0, 2)", ["no-assertions"]),
        (f"def reference(x, low, high):\n    return x\n{GOOD}", ["redefines"]),
        (f"def clamp(x, low, high):\n    return x\n{GOOD}", ["redefines"]),
        (f"from shapes import Box as candidate\n{GOOD}", ["redefines"]),
        (f"candidate = reference = None\n{GOOD}", ["redefines", "redefines"]),
        (f"{_HEAD}    f = reference\n    assert candidate(1, 0, 2) == f(1, 0, 2)", ["alias"]),
        (
            f"from shapes import clamp\n{_HEAD}    assert clamp(candidate(1, 0, 2), reference(1), 9)",
            ["imports-target"],
        ),
        (f"from shapes import clamp\n{GOOD}", []),  # not used
        (
            f"import shapes\n{_HEAD}    assert shapes.clamp(candidate(1), reference(1), 9)",
            ["imports-target"],
        ),
        (
            f"from everything import clamp as f\n{_HEAD}    assert f(candidate(1), reference(1))",
            ["imports-target"],
        ),
        (f"from everything import grow\n{_HEAD}    assert grow(candidate(1), reference(1))", []),
        ("def test_it(context):\n    assert context.candidate(1) == context.reference(1)", []),
        ("def test_it(*, candidate, reference):\n    assert candidate(1) == reference(1)", []),
    ],
)
def test_static_checks(task: Task, text: str, slugs: list[str]) -> None:
    found = static_reasons(text, task.program, task.target)
    assert [slug for slug, _ in found] == slugs


def test_output_prediction_needs_no_reference(task: Task) -> None:
    text = "def test_it(candidate):\n    assert candidate(1, 0, 2) == 1"
    assert not static_reasons(text, task.program, task.target, equivalence=False)


@pytest.mark.parametrize(
    "text",
    [
        f"{_HEAD}    assert candidate(1, 0, 2) == reference(1, 0, 2)",
        (
            f"{_HEAD}    expected = [reference(n, 0, 2) for n in (1, 3)]\n"
            "    assert [candidate(n, 0, 2) for n in (1, 3)] == expected"
        ),
        (
            "import pytest\n\n@pytest.fixture\ndef expected(reference):\n    return reference(1, 0, 2)\n\n"
            "def test_it(candidate, expected):\n    assert candidate(1, 0, 2) == expected"
        ),
        "def test_it(candidate, context):\n    assert candidate(1) == context.reference(1)",
        "def test_it(context):\n    context.check(1, 0, 2)",
    ],
)
def test_a_predicted_output_is_not_the_references(task: Task, text: str) -> None:
    [(slug, message)] = static_reasons(text, task.program, task.target, equivalence=False)
    assert slug == "reference-called"
    assert "write each expected value yourself" in message


def test_a_predicted_output_is_not_the_targets(task: Task) -> None:
    text = (
        "import everything\n\ndef test_it(candidate):\n"
        "    assert candidate(1, 0, 2) == everything.clamp(1, 0, 2)"
    )
    found = static_reasons(text, task.program, task.target, equivalence=False)
    assert [slug for slug, _ in found] == ["imports-target"]


def test_the_class_of_a_method_may_be_imported(tmp_path: Path) -> None:
    task = task_of(tmp_path, "Box.grow")
    text = (
        f"from shapes import Box\n{_HEAD}"
        "    assert candidate(Box(1), 2).size == reference(Box(1), 2).size"
    )
    assert not static_reasons(text, task.program, task.target)


# Rounds.


class _Single:
    """A scripted model as what the layers wrap."""

    def __init__(self, model: ScriptedModel) -> None:
        self.name = model.name
        self._model = model

    def ask(self, request: Request) -> Completion:
        [answer] = self._model.complete(request.messages)
        return answer


Make = Callable[..., tuple[LlmGenerator, ScriptedModel]]


@pytest.fixture
def make() -> Make:
    def made(
        *replies: Reply, caps: Caps | None = None, **settings: object
    ) -> tuple[LlmGenerator, ScriptedModel]:
        model = ScriptedModel(list(replies))
        ledger = Ledger(caps or Caps(), scope="run")
        source = Capped(_Single(model), ledger, FREE, replayed=False)
        opened = OpenModel(source, price=FREE, ledger=ledger, concurrency=1)
        return LlmGenerator(Settings(**settings), opened), model  # type: ignore[arg-type]

    return made


def drafts(found: Sequence[Draft] | Declined) -> list[Draft]:
    assert not isinstance(found, Declined), found
    return list(found)


def test_a_good_answer_is_a_draft(task: Task, make: Make) -> None:
    generator, model = make(block(GOOD))
    [draft] = drafts(generator.draft(task, ()))
    assert draft.text.strip() == GOOD.strip()
    assert draft.tokens > 0
    assert draft.provenance["model"] == "scripted"
    assert draft.provenance["builder"] == "equivalence"
    assert draft.provenance["strategy"] == "sliced"
    [asked] = model.asked
    assert asked[0].role == "system"
    assert "clamp" not in asked[0].content.replace("`clamp(x, low, high)`", "").replace("test_", "")
    assert "def clamp(x, low, high):" in asked[1].content


def test_what_is_plainly_wrong_is_asked_for_again(task: Task, make: Make) -> None:
    wrong = block(f"from your_module import it\n{GOOD}")
    generator, model = make(wrong, block(GOOD))
    [draft] = drafts(generator.draft(task, ()))
    assert "your_module" not in draft.text
    again = model.asked[1]
    assert again[: len(model.asked[0])] == model.asked[0]  # the beginning stays the same
    assert "there is no module your_module" in again[-1].content
    assert again[-2].role == "assistant"
    assert draft.tokens > len(wrong)  # both answers are paid for


@pytest.mark.parametrize(
    ("reply", "slug"),
    [
        ("", "empty"),
        ("no", "no-code"),
        (said(block(GOOD), finish_reason="length"), "truncated"),
        (said("", finish_reason="refused"), "refused"),
        (block("console.log(1)", "js"), "other-language"),
        (block("x = 1"), "no-tests"),
        (BadReply("garbage"), "model-bad-reply"),
    ],
)
def test_no_harness(task: Task, make: Make, reply: Reply, slug: str) -> None:
    generator, _ = make(reply, reply)
    found = generator.draft(task, ())
    assert isinstance(found, Declined)
    assert (found.slug, found.passing) == (slug, False)


def test_a_model_that_is_down_costs_one_task(task: Task, make: Make) -> None:
    generator, _ = make(ModelUnavailable("down"), RateLimited("slow down"), block(GOOD))
    for slug in ("model-unavailable", "model-rate-limited"):
        found = generator.draft(task, ())
        assert isinstance(found, Declined)
        assert (found.slug, found.passing) == (slug, True)
    assert drafts(generator.draft(task, ()))


def test_a_model_that_stays_away_is_not_asked_for_ever(task: Task, make: Make) -> None:
    away = ModelUnavailable("down")
    generator, model = make(away, away, block(GOOD), away, RateLimited("slow down"), away)
    found = [generator.draft(task, ()) for _ in range(9)]
    assert [isinstance(each, Declined) for each in found] == [True, True, False] + [True] * 6
    assert all(each.passing for each in found if isinstance(each, Declined))
    assert len(model.asked) == 6  # three in a row, and then no more


def test_after_a_wrong_key_nothing_is_asked(task: Task, make: Make) -> None:
    generator, model = make(Unauthorized("401"))
    for _ in range(3):
        found = generator.draft(task, ())
        assert isinstance(found, Declined)
        assert found.passing
    assert len(model.asked) == 1


def test_caps_of_the_run_and_of_a_task(tmp_path: Path, make: Make) -> None:
    first, second = task_of(tmp_path, "clamp"), task_of(tmp_path, "Box.grow")
    generator, model = make("no", "no", "no", "no", task_caps=Caps(calls=1))
    for task in (first, second):
        found = generator.draft(task, ())
        assert isinstance(found, Declined)
        assert found.slug == "cap-reached"
        assert "task" in found.message
    assert len(model.asked) == 2
    generator, model = make("no", "no", caps=Caps(calls=1))
    for task in (first, second):
        assert isinstance(generator.draft(task, ()), Declined)
    assert len(model.asked) == 1


def test_several_samples_each_once(task: Task, make: Make) -> None:
    other = GOOD.replace("test_clamp", "test_other")
    generator, _ = make(block(GOOD), "no", block(other), block(GOOD), samples=4)
    found = drafts(generator.draft(task, ()))
    assert [draft.text.strip() for draft in found] == [GOOD.strip(), other.strip()]
    assert found[1].tokens == 0


def test_a_repair_says_what_is_missing(task: Task, make: Make) -> None:
    generator, model = make(block(f"{GOOD}# better"))
    worse = Attempt(
        draft=Draft(text="worse"),
        assessment=Assessment(verdict="rejected", reasons=(("fails-on-original", "1 of 1"),)),
    )
    better = Attempt(
        draft=Draft(text=GOOD),
        assessment=Assessment(
            verdict="rejected",
            reasons=(("coverage", "half of it"),),
            branch_coverage=0.5,
            uncovered=((15, 16),),
            survivors=("-    if x < low:\n+    if x <= low:",),
            failures=("test_x: boom",),
        ),
    )
    drafts(generator.draft(task, (better, worse)))
    [asked] = model.asked
    assert [message.role for message in asked] == ["system", "user", "assistant", "user"]
    assert "for x in (-1, 0, 5)" in asked[2].content
    for told in ("coverage: half of it", 'raise ValueError("limits")', "x <= low", "boom"):
        assert told in asked[3].content


WEAK = Attempt(
    draft=Draft(text="weak"),
    assessment=Assessment(verdict="rejected", reasons=(("coverage", "half"),), branch_coverage=0.5),
)


def test_a_repair_that_failed_is_told(task: Task, make: Make) -> None:
    """Else the question, and so the recorded answer, were the same again."""
    failed = [
        Attempt(
            draft=Draft(text=f"failed = {number}"),
            assessment=Assessment(
                verdict="rejected", reasons=(("fails-on-original", f"by {number}"),)
            ),
        )
        for number in range(2)
    ]
    generator, model = make(*[block(f"{GOOD}# {number}") for number in range(3)])
    for tried in ([], failed[:1], failed):
        drafts(generator.draft(task, (WEAK, *tried)))
    assert len({asked[3].content for asked in model.asked}) == 3
    for number in range(2):
        assert f"failed = {number}" in model.asked[2][3].content
        assert f"fails-on-original: by {number}" in model.asked[2][3].content


def test_an_answer_that_was_tried_is_not_tried_again(task: Task, make: Make) -> None:
    tried = replace(WEAK, draft=Draft(text=GOOD))
    generator, model = make(block(GOOD), block(GOOD))
    found = generator.draft(task, (tried,))
    assert isinstance(found, Declined)
    assert found.slug == "repeated"
    assert "earlier answer again" in model.asked[1][-1].content


def test_it_needs_a_model() -> None:
    with pytest.raises(GeneratorUnavailable, match="needs a model"):
        open_generator("llm")
