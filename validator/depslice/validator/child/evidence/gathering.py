"""The evidence on one harness, step by step: runs, branches, controls, mutants.

Each step asks a warm process (:data:`Ask`) for runs and reads its answers as a stranger's.
Nothing is decided here: what the evidence is worth is said by depslice, outside.
"""

from __future__ import annotations

import ast
import base64
import marshal
import os
import time
import tokenize
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import compress
from types import CodeType
from typing import Any

from ..comparing import Tolerance
from ..harness.transcript import Entries, notes_differ, transcripts_differ, varying_notes
from . import answers
from .arcs import branches, lines_of
from .assertions import assertion_lines, only_in_situ, reached
from .controls import Control, controls
from .definitions import Definition, NoDefinition, find_definition, first_line, meaning
from .mutating import Mutation, difference_text, mutations
from .rivals import Rival, mixed

Ask = Callable[[int, dict[str, Any]], dict[str, Any]]  # hash seed and order to answer

_CLOCK_STEP = 400 * 86400 + 5 * 3600 + 37 * 60  # another year, season, weekday and hour
_ENOUGH_INPUTS = 100  # on which a fault shows no difference, to be called none
_MOST_PROBED = 40
_MUTANT_FACTOR, _MUTANT_SECONDS = 5.0, 0.3
_MANY_FACTOR = 10.0  # for many candidates in one run
_MAKING_TEXTS = ("text(", "characters(", "from_regex(", "from_type(")  # of Hypothesis
_HARNESS = ""  # among files that were measured
_MUTANTS_FACTOR = 15.0  # for all mutants, of the seconds for one run
_WALL_FACTOR = 10.0  # between computing and waiting for a machine that is busy, or for nothing


class Unusable(Exception):
    """Nothing can be said about the harness; the first argument tells why."""


@dataclass(slots=True)
class Gathering:
    """The work on one harness; ``job`` is as the supervisor was given it."""

    job: dict[str, Any]
    ask: Ask
    scratch: str
    definition: Definition = field(init=False)
    source: str = field(init=False)
    base: dict[str, Any] = field(init=False)
    evidence: dict[str, Any] = field(default_factory=dict)
    _tests: dict[int, set[str]] | None = None

    def gather(self) -> dict[str, Any]:
        """The evidence; as much of it as makes sense.

        :raises Unusable: the target or the harness cannot be run at all.
        """
        started = time.perf_counter()
        self._place()
        self._run_often()
        self._cover()
        if self._sound():
            self.evidence["original_differs"] = self._differs_from_itself()
            self._try_wrong_candidates()
        self.evidence["seconds"]["all"] = round(time.perf_counter() - started, 3)
        return self.evidence

    def record(self) -> dict[str, Any]:
        """One run with a transcript: what the target does, or how it differs from ``expected``.

        In what the harness compares, numbers of the job's ``varying`` are left out.

        :raises Unusable: as :meth:`gather`.
        """
        self._place()
        self._import(0)
        answer = self.ask(0, self._order(None, record=True))
        ended = str(answer.get("ended"))
        if ended == "import":
            raise Unusable("import", str(answer.get("why", ""))[:500])
        failed = [
            f"{name}: {why}"
            for name, status, why, _ in answers.results(answer)
            if status == "failed"
        ]
        entries = answers.entries(answer)
        found: dict[str, Any] = {"ended": ended, "failed": failed[:5]}
        expected = self.job["expected"]
        if expected is None:
            return found | {"transcript": entries}
        tolerance, theirs = Tolerance(*self.job["tolerance"]), answers.words(expected)
        return found | {
            "difference": transcripts_differ(theirs, entries, tolerance, name=self._name())
            or notes_differ(theirs, entries, tolerance, self.job["varying"]),
            "varying": varying_notes(theirs, entries),
        }

    def imports(self) -> dict[str, Any]:
        """How long importing the target's module takes, and what comes from outside with it.

        :raises Unusable: as :meth:`gather`.
        """
        self._place()
        return self._import(0)

    # --- what is run

    def _place(self) -> None:
        """Find the target, and what of the harness can be seen without running it."""
        target = self.job["target"]
        path = os.path.join(self.job["folder"], target["path"])
        self.source = _text(path)
        try:
            assertion_lines(self.job["text"])
        except SyntaxError as error:
            raise Unusable("harness", f"it is not Python: {error}") from None
        try:
            self.definition = find_definition(self.source, target["qualname"], path, target["line"])
        except (NoDefinition, SyntaxError, ValueError) as error:
            raise Unusable("target", str(error)) from None

    def _order(self, code: CodeType | None, **changes: Any) -> dict[str, Any]:
        target = self.job["target"]
        return {
            "target": {
                "module": target["module"],
                "path": target["path"],
                "qualname": target["qualname"],
                "root": self.definition.root_qualname,
                "line": first_line(self.definition.root),
                "variables": target["variables"],
            },
            "folders": [self.job["folder"]],
            "tools": _tools(self.job["text"]),
            "tolerance": self.job["tolerance"],
            "code": _encoded(code),
            "rivals": [],
            "absent": False,
            "only_import": False,
            "tests": None,
            "shuffle": 0,
            "clock": 0,
            "measure": None,
            "probe": False,
            "record": False,
            "fresh": False,
            "alter": False,
            "judge": False,
            "outside": self.job.get("outside", []),
            "constants": [],
            "seconds": self.job["seconds"],
            "cpu_seconds": None,
        } | changes

    # --- runs on the original

    def _import(self, seed: int) -> dict[str, Any]:
        """Have the module imported, before anything of the harness runs.

        The seconds that it took, and ``outside``: what was imported from outside the repository.
        """
        answer = self.ask(seed, self._order(None, only_import=True))
        match answer.get("ended"):
            case "imported":
                self._take_what_runs({int(line) for line in answer["lines"]})
                names = [str(name) for name in answer["outside"]]
                return {"outside": names, "seconds": float(answer["seconds"])}
            case "lost":
                raise Unusable("import", "the process that imports it ended, or hangs")
            case _:
                raise Unusable("import", str(answer.get("why", ""))[:500])

    def _take_what_runs(self, lines: set[int]) -> None:
        """Of definitions in several branches, the one that was made when the module was imported."""
        if lines and first_line(self.definition.root) not in lines:
            target, path = self.job["target"], self.definition.path
            try:
                self.definition = find_definition(
                    self.source, target["qualname"], path, target["line"], roots=lines
                )
            except NoDefinition:
                why = "what the module has of this name when imported is not in its source"
                raise Unusable("target", why) from None

    def _run_often(self) -> None:
        runs = []
        for number in range(self.job["runs"]):
            self._import(number)
            answer = self.ask(
                number,
                self._order(
                    self.definition.code(),
                    shuffle=number,
                    clock=number * _CLOCK_STEP,
                    measure=self.definition.path,
                ),
            )
            if not number:
                self.base = answer
            runs.append(answers.run_document(number, number * _CLOCK_STEP, answer))
            if runs[-1]["ended"] == "time":
                break  # the harness is no good, and the others would take as long
        self.evidence |= {
            "tests": [
                {"name": name, "status": status, "why": why, "seconds": round(seconds, 4)}
                for name, status, why, seconds in answers.results(self.base)
            ],
            "runs": runs,
            "deterministic": len({answers.statuses(run) for run in runs}) <= 1,
            "calls": dict(zip(("candidate", "reference"), answers.calls(self.base), strict=True)),
            "tampering": answers.tampering(self.base),
            "seconds": {"run": round(float(self.base.get("seconds", 0)), 4)},
        }
        for run in runs:
            del run["statuses"]

    def _differs_from_itself(self) -> str:
        """How the original differs from itself where it is a candidate; empty: it does not.

        As candidates are compared: in two processes, of which one imports the repository anew,
        by what all calls did. Chance, the clock and processes that differ may not show there,
        whatever the harness asserts.
        """
        outside = self._import(0)["outside"]
        seconds = self.job["seconds"] + self.job["import_seconds"]
        told: list[Entries] = []
        for changes in ({"fresh": True, "outside": outside}, {}):
            answer = self.ask(0, self._order(None, record=True, seconds=seconds, **changes))
            passes, why = answers.passes(answer)
            if not passes:
                return f"it does not pass: {why}"
            told.append(answers.entries(answer))
        tolerance, name = Tolerance(*self.job["tolerance"]), self._name()
        return transcripts_differ(told[0], told[1], tolerance, name=name, between=", then ") or ""

    def _name(self) -> str:
        """What the harness calls the target, without where it stands."""
        return str(self.job["target"]["qualname"]).rpartition(".")[2]

    def _sound(self) -> bool:
        """Whether tests pass on the original: only then a failing one says anything.

        Where there are none, each wrong candidate passes, and nothing is learnt from it.
        """
        return all(
            run["ended"] == "result" and run["passed"] and not run["failed"]
            for run in self.evidence["runs"]
        )

    def _arcs(self, path: str) -> dict[str, list[Any]]:
        found = self.base.get("arcs")
        return found.get(path) or {} if isinstance(found, dict) else {}

    def _cover(self) -> None:
        arcs = [arc for each in self._arcs(self.definition.path).values() for arc in each]
        found = branches(self.source, arcs, self.definition.span, self.scratch)
        written = assertion_lines(self.job["text"])
        ran = lines_of(arc for each in self._arcs(_HARNESS).values() for arc in each)
        self.evidence |= {
            "branches": {"hit": len(found["hit"]), "missed": found["missed"]},
            "lines": {"hit": len(found["lines_hit"]), "missed": found["lines_missed"]},
            "assertions": {"written": len(written), "reached": reached(written, ran)},
        }

    # --- wrong candidates

    def _try_wrong_candidates(self) -> None:
        """Controls and mutants, all in one go: in which order, nobody is to know."""
        started = time.perf_counter()
        made = self._controls()
        mutants, same = self._mutants()
        chosen = _spread(mutants, self.job["mutants"])
        covering = [self._covering(mutation) for mutation, _ in chosen]
        told = self._told_apart([code for _, code in (*made, *chosen)])
        if told is not None:
            ends = [(n not in told, told.get(n, "")) for n in range(len(made) + len(chosen))]
            altered = None
        else:
            rivals = [Rival(code=code, absent=each.body is None) for each, code in made]
            rivals += [
                Rival(code=code, tests=tests)
                for (_, code), tests in zip(chosen, covering, strict=True)
            ]
            *found, altered = self._answers([*rivals, Rival(alter=True)], must=len(made))
            tried = [each is not None for each in found[len(made) :]]
            chosen, covering = list(compress(chosen, tried)), list(compress(covering, tried))
            ends = [answers.passes(each) for each in found if each is not None]
        self.evidence["controls"] = self._judged(made, ends[: len(made)], altered)
        self._count_killed(chosen, covering, [passes for passes, _ in ends[len(made) :]])
        self.evidence["mutants"] |= {"made": len(mutants) + same, "same_bytecode": same}
        self.evidence["seconds"]["mutants"] = round(time.perf_counter() - started, 3)

    def _answers(self, rivals: Sequence[Rival], *, must: int) -> list[dict[str, Any] | None]:
        """What came of each; those that no test reaches pass without being run.

        ``None``: not tried. Only mutants that come late, those behind the first ``must``, where
        each takes long.
        """
        found: list[dict[str, Any] | None] = [{"ended": "result"}] * len(rivals)
        until = time.monotonic() + self.job["seconds"] * _MUTANTS_FACTOR
        for number, rival in mixed(rivals, self.definition.code()):
            if rival.tests == ():
                continue
            if number is not None and must <= number < len(rivals) - 1 and time.monotonic() > until:
                found[number] = None
                continue
            changes = {"absent": rival.absent, "alter": rival.alter, "judge": rival.judge}
            tests = None if rival.tests is None else list(rival.tests)
            order = self._order(rival.code, tests=tests, **changes, **self._limits())
            answer = self.ask(0, order)
            if number is None:
                self._once_more(answer)
            else:
                found[number] = answer
        return found

    def _once_more(self, answer: dict[str, Any]) -> None:
        """The original again, when the harness could not know that it was."""
        noticed = answers.tampering(answer)
        self.evidence["tampering"] = list(dict.fromkeys([*self.evidence["tampering"], *noticed]))
        passes, _ = answers.passes(answer)
        if not passes:
            document = answers.run_document(0, 0, answer)
            del document["statuses"]
            self.evidence["runs"].append(document)
            self.evidence["deterministic"] = False

    def _told_apart(self, codes: Sequence[CodeType | None]) -> dict[int, str] | None:
        """Of candidates by number, how the harness tells those apart that it does.

        All in one run, for a harness that compares in situ; ``None`` for another one.
        """
        if not codes or not only_in_situ(self.job["text"]):
            return None
        seconds = self.job["seconds"] * _MANY_FACTOR
        rivals = [_encoded(code) for code in codes]
        answer = self.ask(0, self._order(None, rivals=rivals, seconds=seconds))
        match answer:
            case {"ended": "result", "told_apart": dict() as found}:
                return {int(n): str(why) for n, why in found.items() if str(n).isdecimal()}
            case _:
                return None

    def _limits(self) -> dict[str, float]:
        """Seconds for a candidate that may not end: several times what the original takes."""
        own = sum(seconds for _, _, _, seconds in answers.results(self.base))
        limit = float(min(self.job["seconds"], own * _MUTANT_FACTOR + _MUTANT_SECONDS))
        return {"cpu_seconds": limit, "seconds": limit * _WALL_FACTOR}

    def _controls(self) -> list[tuple[Control, CodeType | None]]:
        found = []
        for each in controls(self.definition, self.job["target"]["module"]):
            code = self._code(each.applied(self.definition)) if each.body is not None else None
            if each.body is None or code is not None:
                found.append((each, code))
        return found

    def _judged(
        self,
        made: Sequence[tuple[Control, CodeType | None]],
        ends: Sequence[tuple[bool, str]],
        altered: dict[str, Any] | None,
    ) -> list[dict[str, Any]]:
        found = []
        for (each, code), (passes, why) in zip(made, ends, strict=True):
            applies = passes == each.passes or not self._same_as_original(each, code)
            found.append(_control_document(each.name, each.passes, passes, applies, why))
        if altered is not None:
            passes, why = answers.passes(altered)
            applies = not passes or answers.clearly_altered(altered)
            found.append(_control_document("other-values", False, passes, applies, why))
        return found

    def _same_as_original(self, control: Control, code: CodeType | None) -> bool:
        """Whether a control that should fail is no wrong candidate at all: the target does that."""
        if control.passes or code is None:
            return False
        return meaning(code) == meaning(self.definition.code()) or bool(self._indistinct(code))

    def _indistinct(self, code: CodeType) -> int:
        """On how many inputs, if on enough, a candidate does as the original; else 0."""
        constants = _constants(self.definition.node)
        answer = self.ask(0, self._order(code, probe=True, constants=constants, seconds=10.0))
        if answer.get("tampering"):
            return 0
        match answer.get("probed"):
            case [int(inputs), False] if inputs >= _ENOUGH_INPUTS:
                return inputs
            case _:
                return 0

    def _code(self, applied: AbstractContextManager[None]) -> CodeType | None:
        """The root's code while a change holds; ``None`` when that is no program."""
        with applied:
            try:
                return self.definition.code()
            except (SyntaxError, ValueError, NoDefinition):
                return None

    # --- mutants

    def _covering(self, mutation: Mutation) -> tuple[str, ...]:
        """The tests that execute a line of it."""
        if self._tests is None:
            self._tests = self._tests_by_line()
        return tuple(sorted({t for n in _lines(mutation) for t in self._tests.get(n, ())}))

    def _count_killed(
        self,
        chosen: Sequence[tuple[Mutation, CodeType]],
        covering: Sequence[tuple[str, ...]],
        passing: Sequence[bool],
    ) -> None:
        survived = [
            (mutation, code, bool(tests))
            for (mutation, code), tests, passes in zip(chosen, covering, passing, strict=True)
            if passes
        ]
        left, equivalent = self._sift(survived)
        self.evidence["mutants"] = {
            "tested": len(chosen),
            "killed": len(chosen) - len(survived),
            "survived": left,
            "equivalent": equivalent,
        }

    def _mutants(self) -> tuple[list[tuple[Mutation, CodeType]], int]:
        """Mutants that are programs, each meaning once; how many mean what the original does."""
        original = meaning(self.definition.code())
        seen = set()
        made, same = [], 0
        for mutation in mutations(self.definition.node):
            code = self._code(mutation.applied())
            if code is None:
                continue
            means = meaning(code)
            if means == original:
                same += 1
            elif means not in seen:
                seen.add(means)
                made.append((mutation, code))
        return made, same

    def _tests_by_line(self) -> dict[int, set[str]]:
        found: dict[int, set[str]] = {}
        for test, arcs in self._arcs(self.definition.path).items():
            for line in lines_of(arcs):
                found.setdefault(line, set()).add(test)
        return found

    def _sift(
        self, survived: Sequence[tuple[Mutation, CodeType, bool]]
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Survivors, and apart those that no input tells from the original."""
        left, equivalent = [], []
        for number, (mutation, code, covered) in enumerate(survived):
            document = {
                "kind": mutation.kind,
                "line": mutation.line,
                "diff": difference_text(self.definition, mutation),
            }
            # What no test executes, no neighbour of its inputs is likely to reach either.
            inputs = self._indistinct(code) if covered and number < _MOST_PROBED else 0
            if inputs:
                equivalent.append(document | {"inputs": inputs})
            else:
                left.append(document | {"covered": covered})
        return left, equivalent


def _control_document(
    name: str, should_pass: bool, passes: bool, applies: bool, why: str
) -> dict[str, Any]:
    return {
        "name": name,
        "expected": "passes" if should_pass else "fails",
        "outcome": "passes" if passes else "fails",
        "applies": applies,
        "why": why[:200],
    }


def _tools(text: str) -> list[str]:
    """What a harness of this text will want to be there before processes are forked."""
    found = [name for name in ("pytest", "hypothesis") if name in text]
    if "hypothesis" in found and any(each in text for each in _MAKING_TEXTS):
        found.append("texts")
    return found


def _encoded(code: CodeType | None) -> str | None:
    return None if code is None else base64.b64encode(marshal.dumps(code)).decode()


def _lines(mutation: Mutation) -> Iterable[int]:
    return range(mutation.lines[0], mutation.lines[1] + 1)


def _spread(
    made: Sequence[tuple[Mutation, CodeType]], most: int
) -> Sequence[tuple[Mutation, CodeType]]:
    """At most so many, from everywhere in the function."""
    if len(made) <= most:
        return made
    return [made[number * len(made) // most] for number in range(most)]


def _text(path: str) -> str:
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        raise Unusable("target", f"{path}: {error}") from None


def _constants(node: ast.AST) -> list[Any]:
    """Numbers and texts of a function: where its behaviour may change."""
    found = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    return [v for v in found if type(v) in (int, float, str) and len(str(v)) < 200][:50]
