"""One repository, asked many times while its files change: answers that are true when given.

A question is answered from a program of its own. Before, the files are looked at; after,
those it has read are looked at again, and when one has changed meanwhile the question is
asked anew. So each answer is what the files held at one moment between question and answer.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from depslice.callgraph import build_graph
from depslice.callgraph.errors import DepsliceError, SourceChanged
from depslice.callgraph.program import Program
from depslice.callgraph.workspace import Change, Workspace
from depslice.server.answers import Answer, Cut

if TYPE_CHECKING:
    from depslice.callgraph.graph import ReferenceGraph

_TRIES: Final = 8
_REMEMBERED: Final = 256
_NAMED: Final = 10

AnswerT = TypeVar("AnswerT", bound=Answer)
Tell = Callable[[str, int, int], None]
"""Is told of long work: what is done, how much of it, of how much (0: not known)."""


class RepositoryBusy(DepsliceError):
    """Files change so fast that no answer holds for all of them."""

    slug = "repository-busy"
    exit_code = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Generic[AnswerT]):
    """What is asked: ``label`` for people, ``key`` the same for the same question."""

    label: str
    key: tuple[object, ...]
    answer: Callable[[Program], AnswerT]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphQuestion(Generic[AnswerT]):
    """As :class:`Question`; the answer is made from the calls of the whole program, too."""

    label: str
    key: tuple[object, ...]
    answer: Callable[[Program, ReferenceGraph], AnswerT]


@dataclass(slots=True, kw_only=True)
class _Given:
    """An answer, what it was made from, and whether it still holds."""

    label: str
    answer: Answer
    read: frozenset[str]  # paths
    imported: frozenset[str]  # last names of all that those files import
    is_repeatable: bool = True  # it would be the same again
    is_outdated: bool = False  # a change since may have made it wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class _Graph:
    calls: ReferenceGraph
    digests: dict[str, str]  # by path


class Session:
    """Questions to ``workspace``, one after another. Not for several threads at once."""

    def __init__(self, workspace: Workspace, *, workers: int | None = None) -> None:
        self._workspace = workspace
        self._workers = workers
        self._given: OrderedDict[tuple[object, ...], _Given] = OrderedDict()
        self._graph: _Graph | None = None

    def ask(self, question: Question[AnswerT]) -> AnswerT:
        """The answer, for the files as they are now.

        :raises DepsliceError: what the question raises, such as UnknownTarget.
        :raises RepositoryBusy: files change faster than it can be answered.
        """
        moved: tuple[str, ...] = ()
        for _ in range(_TRIES):
            self._notice(self._workspace.refresh())
            given = self._given.get(question.key)
            if given is not None and given.is_repeatable:
                self._given.move_to_end(question.key)
                # The key holds the question's kind, and each kind has one type of answer.
                answer: AnswerT = given.answer  # type: ignore[assignment]
                return self._dated(answer)
            program = self._workspace.program()
            error: Exception | None = None
            try:
                answer = question.answer(program)
            except Exception as raised:  # noqa: BLE001 - of a half-changed repository, perhaps
                error = raised
            moved = self._workspace.settle(program)
            if moved or isinstance(error, SourceChanged):
                continue
            if error is not None:
                self._given.pop(question.key, None)
                raise error
            self._remember(question, program, answer)
            return self._dated(answer)
        raise _busy(moved)

    def ask_graph(
        self,
        question: GraphQuestion[AnswerT],
        *,
        tell: Tell,
        allow_stale: bool = False,
    ) -> AnswerT:
        """As :meth:`ask`, of the call graph of the whole repository.

        The graph is made anew when a file has changed, which takes its time. With
        ``allow_stale`` the last one serves, and the answer names the files that differ.

        :raises DepsliceError: what the question raises, such as UnknownTarget.
        :raises RepositoryBusy: files change faster than the graph can be made.
        """
        moved: tuple[str, ...] = ()
        for _ in range(_TRIES):
            self._notice(self._workspace.refresh())
            program = self._workspace.program()
            program.load_all(
                workers=self._workers,
                progress=lambda done, total: tell("reading files", done, total),
            )
            digests = _digests(program)
            graph = self._graph
            if graph is None or (graph.digests != digests and not allow_stale):
                tell("making the call graph", 0, 0)
                graph = _Graph(calls=build_graph(program).call_graph(), digests=digests)
            moved = self._workspace.settle(program)
            if moved and not allow_stale:
                continue
            self._graph = graph
            answer = question.answer(program, graph.calls)
            self._remember(question, program, answer, is_repeatable=False)
            both = graph.digests.keys() | digests.keys()
            differing = {p for p in both if graph.digests.get(p) != digests.get(p)}
            stale = sorted({*differing, *moved})
            cut = answer.cut
            if len(stale) > _NAMED:
                why = f"at most {_NAMED} are named"
                cut = (*cut, Cut(what="stale_files", shown=_NAMED, total=len(stale), why=why))
            return self._dated(replace(answer, stale_files=tuple(stale[:_NAMED]), cut=cut))
        raise _busy(moved)

    def close(self) -> None:
        """Save what there is to save."""
        self._workspace.close()

    # --- what still holds

    def _notice(self, change: Change) -> None:
        """Mark the answers that ``change`` concerns."""
        if not change:
            return
        touched = {*change.changed, *change.removed}
        come = {_last_name(path) for path in change.added}
        for given in self._given.values():
            # Any new file may be what a name means; most often it is not.
            given.is_repeatable &= not (change.added or touched & given.read)
            given.is_outdated |= bool(touched & given.read or come & given.imported)

    def _remember(
        self,
        question: Question[AnswerT] | GraphQuestion[AnswerT],
        program: Program,
        answer: AnswerT,
        *,
        is_repeatable: bool = True,
    ) -> None:
        self._given[question.key] = _Given(
            label=question.label,
            answer=answer,
            read=frozenset(program.files[name].path for name in program.digests),
            imported=_imported_names(program),
            is_repeatable=is_repeatable,
        )
        self._given.move_to_end(question.key)
        while len(self._given) > _REMEMBERED:
            self._given.popitem(last=False)

    def _dated(self, answer: AnswerT) -> AnswerT:
        outdated = [given.label for given in reversed(self._given.values()) if given.is_outdated]
        cut = answer.cut
        if len(outdated) > _NAMED:
            why = f"the latest {_NAMED} are named"
            cut = (*cut, Cut(what="outdated", shown=_NAMED, total=len(outdated), why=why))
        return replace(
            answer,
            revision=self._workspace.revision,
            outdated=tuple(outdated[:_NAMED]),
            cut=cut,
        )


def _busy(moved: tuple[str, ...]) -> RepositoryBusy:
    named = ", ".join(moved[:_NAMED]) or "files"
    return RepositoryBusy(f"{named} keep changing while the question is answered; ask again")


def _digests(program: Program) -> dict[str, str]:
    return {program.files[name].path: digest for name, digest in program.digests.items()}


def _imported_names(program: Program) -> frozenset[str]:
    names: set[str] = set()
    for name in program.digests:
        module = program.module(name)
        for piece in module.summary.pieces if module is not None else ():
            for _, _, target, item in piece.imports:
                names.update(target.split("."))
                names.add(item or "")
    return frozenset(names)


def _last_name(path: str) -> str:
    """``a/b.py`` -> ``b``, ``a/b/__init__.py`` -> ``b``."""
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    return parts[-1]
