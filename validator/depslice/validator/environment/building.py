"""Environments: one for each state of what a repository declares, made once and kept.

An environment lives in the cache folder under the digest of everything that it is made of:
the declarations, the files that a build reads, the imports nobody declared, the
interpreter. Who makes one holds the lock of its name, so that two processes make it once; it
counts from the moment its record is written, so that one that was killed on the way is
made anew.

Building runs build scripts of third parties. All of it happens in the sandbox, on a copy
of the sources, with the registry as its only network.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from depslice.callgraph.cache import cache_directory
from depslice.callgraph.locking import held
from depslice.callgraph.project import Project
from depslice.validator.copying import copy_folder
from depslice.validator.environment.declared import TEST_GROUPS
from depslice.validator.environment.failing import failure
from depslice.validator.environment.guessing import known_distributions
from depslice.validator.environment.installed import (
    forget_editable,
    installed_lines,
    keep_generated,
    site_packages,
    top_levels,
)
from depslice.validator.environment.model import Cause, Environment, EnvironmentFailed
from depslice.validator.environment.planning import NOT_COPIED, Plan, make_plan
from depslice.validator.environment.record import read_record, write_record
from depslice.validator.environment.uv import Steps, Uv, find_uv
from depslice.validator.sandbox import Ending, Outcome, Sandbox
from depslice.validator.scratch import scratch_folder


def make_environment(
    project: Project,
    sandbox: Sandbox,
    *,
    python: Path | None = None,
    extras: Sequence[str] = (),
    tests: bool = False,
    network: bool = True,
    cache: Path | None = None,
) -> Environment:
    """The environment of ``project``: found, or made now in ``sandbox``.

    ``python`` is the interpreter; without it, one that the project wants. ``tests``: its tests
    are to run there, by pytest, with what they import and what is declared for them. Without
    ``network`` nothing is fetched. ``cache`` is the folder that environments are kept in.

    :raises EnvironmentFailed: it cannot be made, with the cause and the log.
    """
    root = (cache or cache_directory()).absolute() / "environments"
    plan = make_plan(project, python, tuple(extras), tests=tests)
    with ExitStack() as stack:
        try:
            root.mkdir(parents=True, exist_ok=True)
            stack.enter_context(held(root / f"{plan.key}.lock"))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            why = f"environments cannot be kept in {root}: {reason}"
            raise EnvironmentFailed(Cause.FOLDER, why) from None
        found = read_record(root / plan.key)
        if found is not None:
            return found
        shutil.rmtree(root / plan.key, ignore_errors=True)
        uv = Uv(
            program=find_uv(),
            plan=plan,
            sandbox=sandbox,
            folder=root / plan.key,
            network=network,
        )
        return _Build(plan, root, uv).run()


@dataclass(slots=True)
class _Build:
    """One build; what is installed grows from step to step."""

    plan: Plan
    root: Path
    uv: Uv
    guessed: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return self.uv.folder

    def run(self) -> Environment:
        """Make it.

        :raises EnvironmentFailed: it cannot be made.
        """
        self.folder.mkdir()
        try:
            self._copy_sources()
            (self.folder / "tmp").mkdir()
            with scratch_folder() as place:
                self._install(place)
            self._keep_what_was_generated()
            return self._write_record()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def _copy_sources(self) -> None:
        try:
            root = self.plan.project.root
            copy_folder(root, self.folder / "source", without=NOT_COPIED)
        except OSError as error:
            raise EnvironmentFailed(Cause.METADATA, f"cannot copy the sources: {error}") from None
        text = "\n".join(self.plan.declared.constraints)
        self.uv.constraints.write_text(text, encoding="utf-8")

    def _install(self, place: Path) -> None:
        with self.uv.started(place) as steps:
            failed = self._steps(steps)
            outcome = steps.end()
        log = self._write_log(outcome, steps.refused)
        if failed is not None or outcome.ending is not Ending.EXITED:
            raise failure(outcome, failed or "", steps.refused, log)

    def _steps(self, steps: Steps) -> str | None:
        """Do all steps; what was being done when one failed, or ``None``."""
        if not steps.venv():
            return "making the environment"
        declared = self.plan.declared
        source = str(self.folder / "source")
        extras = f"[{','.join(self.plan.extras)}]" if self.plan.extras else ""
        if declared.installable and not steps.install("--editable", f"{source}{extras}"):
            return "installing the project"
        for name in declared.requirements:
            if not steps.install("--requirement", f"{source}/{name}"):
                return f"installing {name}"
        if self.plan.for_tests is not None and not self._install_for_tests(steps):
            return "installing pytest"
        self._install_undeclared(steps)
        return None

    def _install_for_tests(self, steps: Steps) -> bool:
        """What is declared for tests, as far as it can be had; whether pytest is there."""
        if self.plan.declared.installable:
            self._install_extras(steps)
        wanted = self.plan.for_tests or ()
        if wanted and not steps.install(*wanted):
            for each in wanted:  # one tool of the developers may be nobody else's
                steps.install(each)
        return steps.install("pytest")

    def _install_extras(self, steps: Steps) -> None:
        """Extras for tests; only the installer knows them all, and passes over those not there."""
        source = str(self.folder / "source")
        if not steps.install("--editable", f"{source}[{','.join(TEST_GROUPS)}]"):
            for name in TEST_GROUPS:
                steps.install("--editable", f"{source}[{name}]")

    def _install_undeclared(self, steps: Steps) -> None:
        """Imports that nothing installed so far gives: the distributions that have them."""
        missing = sorted(set(self.plan.imports) - top_levels(self.uv.venv))
        if not missing:
            return
        known = known_distributions(self.root, self.uv)
        for name in missing:
            distribution = known.get(name, name)
            if steps.install(distribution) and name in top_levels(self.uv.venv):
                self.guessed[name] = distribution
            else:
                self.unknown.append(name)

    def _write_log(self, outcome: Outcome, refused: Sequence[str]) -> Path:
        log = self.folder.with_suffix(".log")
        notes = [f"refused: {each}\n" for each in dict.fromkeys(refused)]
        notes.append(f"ended: {outcome.ending} {outcome.detail}\n")
        log.write_bytes(outcome.stdout + outcome.stderr + "".join(notes).encode())
        return log

    def _keep_what_was_generated(self) -> None:
        """Take the sources out of the environment, but for files that the build has added."""
        forget_editable(site_packages(self.uv.venv))
        generated = self.folder / "generated"
        generated.mkdir()
        keep_generated(self.folder / "source", Path(self.plan.project.root), generated)
        for done_with in ("source", "tmp"):
            shutil.rmtree(self.folder / done_with, ignore_errors=True)

    def _write_record(self) -> Environment:
        return write_record(
            self.folder,
            {
                "installed": installed_lines(site_packages(self.uv.venv)),
                "guessed": sorted(self.guessed.items()),
                "unknown": sorted(self.unknown),
                "interpreter": str(self.plan.interpreter.path),
            },
        )
