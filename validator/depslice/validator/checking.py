"""Whether a slice does what the original does: ``depslice slice --check``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from depslice.callgraph.model import Symbol, SymbolKind
from depslice.callgraph.program import Program
from depslice.slicer.model import RenderedFile, Slice
from depslice.slicer.render import render_tree
from depslice.validator.calls import Outcome, Recorded, Replay, replay
from depslice.validator.workspace import Workspace

NOTHING_TO_CALL: Final = "neither a function nor a class with methods: name what uses it"
_ALIKE: Final = 120  # characters that texts may have in common before these are left out
_TOLD: Final = 600  # characters of each side


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A call that gives something else on the slice, each side in words.

    What is long and begins alike is told from shortly before it differs.
    """

    call: int
    target: str
    original: str
    sliced: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsteady:
    """A call that the original does not answer twice alike, each time in words.

    ``is_unbuilt``: its arguments cannot be made again at all.
    """

    call: int
    target: str
    first: str
    again: str
    is_unbuilt: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A definition that static analysis missed and the check showed to be needed."""

    symbol: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What a check found.

    ``imports``: modules of the slice; ``import_errors`` those that do not import, where
    the original's do. ``recorded`` calls, of which ``steady`` ones could be compared, and
    ``same`` gave the same; the arguments of ``unbuilt`` ones cannot be made in the slice's
    process. ``not_in_slice``: definitions that the calls executed in the
    original and that the slice has not; ``from_arguments`` of them are left out, since
    they came with the arguments. ``never_executed``: functions of the slice that never
    ran. ``observed``: what a repair has added. ``unsteady``: calls that could not be compared,
    since the original does not give the same twice.
    """

    targets: tuple[str, ...]
    imports: int
    import_errors: Mapping[str, str]
    recorded: int
    steady: int
    same: int
    differences: tuple[Difference, ...]
    not_in_slice: tuple[str, ...]
    from_arguments: tuple[str, ...]
    never_executed: tuple[str, ...]
    unbuilt: int = 0
    not_recorded: Mapping[str, str] = field(default_factory=dict)
    observed: tuple[Observed, ...] = ()
    hint: str = ""  # what to do where no call was recorded
    calls_ended: str = ""  # what ended the script that was to make the calls, before its end
    unsteady: tuple[Unsteady, ...] = ()

    @property
    def passes(self) -> bool:
        """Everything imports, and every call that could be compared gave the same."""
        return not self.import_errors and self.same == self.steady

    @property
    def proven(self) -> bool:
        """It passes, and there were calls to compare."""
        return self.passes and self.steady > 0


def _from_where_they_part(first: str, second: str) -> tuple[str, str]:
    """Both texts, without most of what they begin with both."""
    shorter = min(len(first), len(second))
    same = next((at for at in range(shorter) if first[at] != second[at]), shorter)
    if same <= _ALIKE:
        return first[:_TOLD], second[:_TOLD]
    start = first.rfind(" ", 0, same - _ALIKE // 2) + 1 or same - _ALIKE // 2
    if same == len(first) == len(second):
        alike = f"… (the first {same:,} characters of it are the same, what differs is behind them)"
        return alike, alike
    return f"… {first[start:]}"[:_TOLD], f"… {second[start:]}"[:_TOLD]


def _unsteady(first: Outcome, second: Replay) -> Unsteady:
    again = second.outcomes.get(first.call)
    text = f"no answer: {second.ended}" if again is None else again.text
    before, after = _from_where_they_part(first.text, text)
    return Unsteady(
        call=first.call,
        target=first.target,
        first=before,
        again=after,
        is_unbuilt=first.stage == "arguments",
    )


class Check:
    """The calls of some targets, with what the original makes of them; checks slices.

    ``outcomes`` are those of the steady calls: their answers follow from their arguments,
    not from what the process has done before.
    """

    def __init__(self, space: Workspace, program: Program, recorded: Recorded) -> None:
        """Replay the calls on the original, forwards and backwards."""
        self.space = space
        self.program = program
        self.recorded = recorded
        self._import_errors: dict[str, str] = {}
        self._tried: set[str] = set()
        modules = sorted({symbol.id.partition(":")[0] for symbol in recorded.targets})
        self.outcomes: dict[int, Outcome] = {}
        self.unsteady: tuple[Unsteady, ...] = ()
        if recorded.numbers:
            first = self._on_original(modules)
            second = self._on_original(modules, again=True)
            self.outcomes = {
                call: outcome
                for call, outcome in first.outcomes.items()
                if outcome.stage == "call"
                and call in second.outcomes
                and second.outcomes[call].digest == outcome.digest
            }
            self.unsteady = tuple(
                _unsteady(outcome, second)
                for call, outcome in first.outcomes.items()
                if call not in self.outcomes
            )

    def _on_original(self, modules: Sequence[str], *, again: bool = False) -> Replay:
        return replay(
            self.space,
            self.program,
            self.recorded,
            self.space.original(),
            modules,
            lend=not again,
            backwards=again,
        )

    def of(self, found: Slice) -> CheckReport:
        """Check a slice of the targets, or of some of them."""
        return self.report(found, self.replay_of(found))

    def replay_of(self, found: Slice) -> Replay:
        """Replay on the slice's ``tree`` rendering."""
        modules = dict.fromkeys(cut.module for cut in found.cuts)
        return self.replayed(render_tree(found), list(modules), found.targets)

    def replayed(
        self, files: Sequence[RenderedFile], modules: Sequence[str], targets: Iterable[str]
    ) -> Replay:
        """Replay on a tree of these files the calls of ``targets``."""
        wanted = self.recorded.functions_of(targets)
        symbols = [symbol for symbol in self.recorded.targets if symbol.id in wanted]
        with self.space.tree(files) as tree:
            return replay(self.space, self.program, self.recorded, tree, modules, targets=symbols)

    def expected(self, targets: Iterable[str]) -> dict[int, Outcome]:
        """The steady calls of these targets, as the original answers them."""
        wanted = self.recorded.functions_of(targets)
        return {n: outcome for n, outcome in self.outcomes.items() if outcome.target in wanted}

    def same(self, done: Replay, targets: Iterable[str]) -> bool:
        """Whether every steady call gave the same, however the rest went."""
        return not any(True for _ in self.differences(done, targets))

    def differences(self, done: Replay, targets: Iterable[str]) -> Iterable[Difference]:
        """The steady calls that gave something else."""
        for number, original in self.expected(targets).items():
            outcome = done.outcomes.get(number)
            if outcome is not None and outcome.stage == "arguments":
                continue
            if outcome is None or outcome.digest != original.digest:
                text = outcome.text if outcome is not None else f"no answer: {done.ended}"
                before, after = _from_where_they_part(original.text, text)
                yield Difference(call=number, target=original.target, original=before, sliced=after)

    def report(self, found: Slice, done: Replay) -> CheckReport:
        """What a replay of the slice's tree shows."""
        expected = self.expected(found.targets)
        differences = tuple(self.differences(done, found.targets))
        items = {item.symbol.id: item.symbol for item in found.items}
        ran = set(self.ids(done.imported))
        brought: set[str] = set()
        original = str(self.space.original().folder)
        for outcome in done.outcomes.values():
            foreign = {each for each in outcome.executed if each[0].startswith(original)}
            brought.update(self.ids(foreign))
            ran.update(self.ids(outcome.executed - foreign))
        executed = {i for outcome in expected.values() for i in self.ids(outcome.executed)}
        failed = self._faults(done.imports)
        functions = self.recorded.functions_of(found.targets)
        unsteady = tuple(each for each in self.unsteady if each.target in functions)
        unbuilt = sum(
            number in done.outcomes and done.outcomes[number].stage == "arguments"
            for number in expected
        )
        numbers = self.recorded.numbers
        return CheckReport(
            targets=found.targets,
            imports=len({cut.module for cut in found.cuts}),
            import_errors=failed,
            recorded=sum(numbers.get(function, 0) for function in functions),
            steady=len(expected) - unbuilt,
            same=len(expected) - unbuilt - len(differences),
            unbuilt=unbuilt + sum(each.is_unbuilt for each in unsteady),
            differences=differences,
            unsteady=unsteady,
            hint=self.recorded.hint,
            calls_ended=self._calls_ended(),
            not_in_slice=tuple(sorted(executed - items.keys() - brought)),
            from_arguments=tuple(sorted((brought & executed) - items.keys())),
            never_executed=tuple(sorted(self._idle(items.values(), ran))),
            not_recorded={
                target: self._why_not(target)
                for target in found.targets
                if not any(map(numbers.get, self.recorded.functions_of([target])))
            },
        )

    def _calls_ended(self) -> str:
        """Why not all calls of the script that the user has named may have been recorded."""
        caller = self.recorded.caller
        why = self.recorded.incomplete if caller not in ("", "test") else ""
        return f"{caller}: {why}" if why else ""

    def _why_not(self, target: str) -> str:
        functions = self.recorded.functions_of([target])
        if not functions:
            return NOTHING_TO_CALL
        for function in sorted(functions & self.recorded.failures.keys()):
            return self.recorded.failures[function]
        caller, more = self.recorded.caller, self.recorded.incomplete
        if not caller:
            return f"the repository has no tests{more and f': {more}'}"
        who = "no test calls" if caller == "test" else f"{caller} does not call"
        nobody = f"{who} it" if target in functions else f"{who} a method of it"
        return f"{nobody}, but {more}" if more else nobody

    def _idle(self, symbols: Iterable[Symbol], ran: set[str]) -> Iterable[str]:
        for symbol in symbols:
            if symbol.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD) and symbol.id not in ran:
                yield symbol.id

    def _faults(self, errors: Mapping[str, str]) -> dict[str, str]:
        """Of the modules that do not import, those that do in the original."""
        untried = [name for name in errors if name not in self._tried]
        if untried:
            done = replay(
                self.space, self.program, self.recorded, self.space.original(), untried, targets=()
            )
            self._tried.update(untried)
            self._import_errors.update(done.imports)
        return {name: why for name, why in errors.items() if name not in self._import_errors}

    def ids(self, executed: Iterable[tuple[str, str]]) -> set[str]:
        """The definitions of the repository that these code objects belong to."""
        found = set()
        for path, qualname in executed:
            symbol = self.symbol_of(path, qualname)
            if symbol is not None:
                found.add(symbol)
        return found

    def symbol_of(self, path: str, qualname: str) -> str | None:
        """The id of what holds the code ``qualname`` of the file at ``path`` in some tree."""
        place = Path(path)
        outer = qualname.partition(".<locals>")[0]
        for folder in (self.space.original().folder, *place.parents):
            if folder.is_relative_to(self.space.folder) and place.is_relative_to(folder):
                file = self.program.by_path.get(place.relative_to(folder).as_posix())
                if file is None:
                    continue
                module = self.program.module(file.module)
                if module is not None:
                    name = f"{file.module}:{outer}"
                    return name if name in self.program.symbol_table(module) else None
        return None
