"""One run of a harness on one candidate, in a process forked for it."""

from __future__ import annotations

import ast
import base64
import builtins
import gc
import marshal
import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from ..comparing import Tolerance
from ..describing import text_of
from ..harness.altering import Altering
from ..harness.clock import shifted
from ..harness.comparisons import NOTED, noting
from ..harness.context import Context, shown_context
from ..harness.draws import draw_alike
from ..harness.in_situ import InSitu, Sides
from ..harness.state import values_of
from ..harness.subjects import Subject, callable_of, shown
from ..harness.suites import NeedsPytest, PlainSuite, PytestSuite, Result, Suite
from ..harness.tampering import watch
from ..harness.transcript import Transcript
from ..harness.worlds import World, Worlds
from ..portable import Home
from .arcs import Measurement
from .probing import Inputs, probe

MODULE = "depslice_harness"  # the name under which a harness is imported


class Roots(NamedTuple):
    """The functions that a definition has made: the candidate's are exchanged."""

    candidate: list[FunctionType]
    reference: list[FunctionType]


def find_roots(worlds: Worlds, target: dict[str, Any]) -> Roots:
    """Import the target's module in both worlds; its functions, wherever they are held.

    Raises what the import raises.
    """
    worlds.import_in_both(target["module"])
    gc.unfreeze()  # what is frozen is not listed
    found = Roots(*(_made(worlds, world, target) for world in (worlds.other, worlds.home)))
    gc.freeze()  # forks share what is there
    return found


def _made(worlds: Worlds, world: World, target: dict[str, Any]) -> list[FunctionType]:
    names = vars(worlds.module(world, target["module"]))
    found = [
        each
        for each in gc.get_objects()
        if type(each) is FunctionType
        and each.__globals__ is names
        and each.__code__.co_qualname == target["root"]
    ]
    # Of several definitions of one name, the one at this line.
    here = [each for each in found if each.__code__.co_firstlineno == target["line"]]
    return here or found


class Trial:
    """What is to be done, as the order of :mod:`.warm` says.

    Without ``roots`` nothing of the repository was imported yet: the run does that itself.
    """

    def __init__(
        self,
        order: dict[str, Any],
        files: dict[str, Any],
        worlds: Worlds,
        roots: Roots | None,
        measured: Measurement | None,
    ) -> None:
        self.order = order
        self.files = files
        self.worlds = worlds
        self._roots = roots
        self.measured = measured
        self.target = order["target"]
        self.folders = tuple(order["folders"])
        self.harness = self.data = ""

    @property
    def _files(self) -> tuple[str, str]:
        """What is measured."""
        return self.order["measure"], self.harness

    def run(self) -> dict[str, Any]:
        """Run the tests that are asked for; what came of them."""
        if self._roots is None:
            try:
                self._roots = find_roots(self.worlds, self.target)
            except BaseException as error:  # noqa: BLE001 - modules may raise anything
                return {"ended": "import", "why": text_of(error)}
        return self._run(self._roots)

    def _run(self, roots: Roots) -> dict[str, Any]:
        self.roots = roots
        # Another run works in another folder: that is no difference.
        self.folders = (*self.order["folders"], os.environ["TMPDIR"])
        self.harness, self.data = _placed(self.files)
        self._install()
        candidate, reference = self._subjects()
        measured = self.measured
        tolerance = Tolerance(*self.order["tolerance"])
        file = os.path.basename(self.target["path"])
        transcript = Transcript(self.folders, tolerance, file) if self.order["record"] else None
        context = Context(
            candidate,
            reference,
            tolerance=tolerance,
            folders=self.folders,
            transcript=transcript,
            data=self.data,
            home=Home(self.worlds.names, self.folders[0]),
            situ=self._situ(candidate, measured),
        )
        sides = {"candidate": shown(candidate), "reference": shown(reference)}
        given = {**sides, "context": shown_context(context, **sides)}
        # Of a wrong candidate it is only asked whether it passes.
        judged = self.measured or self.order["probe"] or self.order["judge"]
        inputs = Inputs()
        if self.order["probe"]:
            candidate.heard = inputs.hear
        if self.order["alter"]:
            candidate.altering = Altering()
        if transcript is not None:
            candidate.told = transcript.tell
            setattr(builtins, NOTED, transcript.note)
        with shifted(self.order["clock"]) as all_clocks:
            tampering: Callable[[], list[str]] = watch(self.harness) if judged else list
            if measured:
                measured.start()
            try:
                started = measured.test if measured else _nothing
                results = self._results(given, transcript.start if transcript else started)
            finally:
                arcs = measured.stop(self._files) if measured else {}
        found: dict[str, Any] = {
            "results": [list(each) for each in results],
            "calls": [candidate.calls, reference.calls],
            "comparisons": context.comparisons,
            "arcs": {"" if path == self.harness else path: each for path, each in arcs.items()},
            "tampering": tampering(),
            "all_clocks": all_clocks,
            "told_apart": {str(n): why for n, why in self.situ.told_apart.items()},
        }
        if transcript is not None:
            candidate.told = None
            found["transcript"] = transcript.entries
        if candidate.altering is not None:
            found["altered"] = [candidate.altering.altered, candidate.altering.clear]
        if self.order["probe"]:
            candidate.heard = None
            constants = self.order["constants"]
            probed = probe(inputs.calls, constants, candidate, reference, self.folders)
            found["probed"] = list(probed)
        return found

    def _install(self) -> None:
        code = self.order["code"]
        if code is not None:
            for each in self.roots.candidate:
                each.__code__ = _loaded(code)
        if self.order["measure"] is not None:
            # Coverage leaves out code that says it is from another file than its module.
            for each in self.roots.reference:
                each.__code__ = _elsewhere(each.__code__)

    def _subjects(self) -> tuple[Subject, Subject]:
        found = []
        for world in (self.worlds.other, self.worlds.home):
            module = self.worlds.module(world, self.target["module"])
            assert module is not None
            absent = self.order["absent"] and world is self.worlds.other
            function = None if absent else callable_of(module, self.target["qualname"])
            name = self.target["qualname"].rpartition(".")[2]
            subject = Subject(self.worlds, world, function, name)
            subject.watched = partial(values_of, vars(module), self.target["variables"])
            found.append(subject)
        return found[0], found[1]

    def _situ(self, candidate: Subject, measured: Measurement | None) -> InSitu:
        codes = [each.__code__ for each in self.roots.candidate]
        code = None if self.order["absent"] else (codes or self._own_codes())[0]

        def heard(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            if candidate.heard is not None:
                candidate.heard(args, kwargs)

        rivals = [None if each is None else _loaded(each) for each in self.order["rivals"]]
        self.situ = InSitu(
            Sides(self.roots.reference, code, rivals),
            self.folders[0],
            Tolerance(*self.order["tolerance"]),
            own=self.worlds.names,
            heard=heard,
            measured=partial(measured.so_far, self._files) if measured is not None else None,
            ran=measured.add if measured is not None else _nothing,
            variables=self.target["variables"],
        )
        return self.situ

    def _own_codes(self) -> list[CodeType | None]:
        return [*(each.__code__ for each in self.roots.reference), None]

    def _results(self, given: dict[str, Any], started: Callable[[str], None]) -> list[Result]:
        try:
            suite: Suite = self._suite()
        except BaseException as error:  # noqa: BLE001 - the harness's own code has run
            return [Result("(import)", "failed", text_of(error), 0.0)]
        # Two runs that are recorded get the same calls: their transcripts are compared.
        draw_alike(seeded=self.order["record"])
        only = self.order["tests"]
        return suite.run(
            given,
            only=None if only is None else frozenset(only),
            shuffle=self.order["shuffle"],
            started=started,
        )

    def _suite(self) -> Suite:
        path = self.harness
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if self.order["record"]:
            text = ast.unparse(noting(text, path))
            with open(path, "w", encoding="utf-8") as file:  # pytest would read it
                file.write(text)
        module = ModuleType(MODULE)
        module.__file__ = path
        sys.modules[MODULE] = module
        exec(compile(text, path, "exec", dont_inherit=True), vars(module))  # noqa: S102 - in its sandbox
        try:
            return PlainSuite(module)
        except NeedsPytest:
            return PytestSuite(path)


def _loaded(code: str) -> CodeType:
    found: CodeType = marshal.loads(base64.b64decode(code))  # our supervisor's
    return found


def _elsewhere(code: CodeType) -> CodeType:
    constants = tuple(_elsewhere(c) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_filename=f"{code.co_filename}-reference", co_consts=constants)


def _nothing(_: object) -> None:
    return None


def _placed(files: dict[str, Any]) -> tuple[str, str]:
    """The harness and the folder of its data, written anew: an earlier run may know the old."""
    folder = tempfile.mkdtemp(prefix="run-", dir=os.path.dirname(os.getcwd()))
    harness, data = os.path.join(folder, "harness", files["name"]), os.path.join(folder, "data")
    os.mkdir(os.path.dirname(harness))
    os.mkdir(data)
    with open(harness, "w", encoding="utf-8") as file:
        file.write(files["text"])
    for name, content in files["data"].items():
        with open(os.path.join(data, name), "wb") as written:
            written.write(base64.b64decode(content))
    return harness, data


def in_folder_of_its_own() -> None:
    """Work, and write temporary files, in a new folder."""
    folder = tempfile.mkdtemp(prefix="run-")
    os.chdir(folder)
    os.environ.update(TMPDIR=folder, HOME=folder)
    tempfile.tempdir = None
