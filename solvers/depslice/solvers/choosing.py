"""Solvers by name, with options: ``codetree:budget=6,critic=no``.

Loading one runs its code, a plug-in's too. So nothing here loads anything but
:func:`load_solver`, and the runner calls that in a process of its own.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Literal, Self, get_args, get_origin, get_type_hints

from depslice.callgraph.errors import DepsliceError
from depslice.solvers.bench import Solver

GROUP: Final = "depslice.solvers"
_METHODS: Final = "depslice.solvers.methods"
BUILT_IN: Final[Mapping[str, str]] = {
    "adacoder": f"{_METHODS}.adacoder:AdaCoder",
    "codetree": f"{_METHODS}.codetree:CodeTree",
    "codetree-bfs": f"{_METHODS}.codetree.variants:breadth_first",
    "codetree-dfs": f"{_METHODS}.codetree.variants:depth_first",
    "cot": f"{_METHODS}.cot:ChainOfThought",
    "direct": f"{_METHODS}.direct:Direct",
    "reflexion": f"{_METHODS}.reflexion:Reflexion",
    "resample": f"{_METHODS}.resample:Resample",
    "selfrepair": f"{_METHODS}.selfrepair:SelfRepair",
    "strategy-list": f"{_METHODS}.codetree.variants:strategy_list",
}


class SolverError(DepsliceError):
    """There is no such solver, it cannot be loaded, or not with these options."""

    slug = "solver"
    exit_code = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverSpec:
    """A solver as a user asks for it: its name, and its options as text."""

    name: str
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, text: str) -> Self:
        """The spec that ``NAME`` or ``NAME:KEY=VALUE,KEY=VALUE`` means.

        :raises SolverError: it is something else, or there is no such solver.
        """
        name, _, rest = text.partition(":")
        options = []
        for part in filter(None, rest.split(",")):
            key, given, value = part.partition("=")
            if not given:
                raise SolverError(f"an option of a solver is KEY=VALUE, not {part!r}")
            options.append((key.strip().replace("-", "_"), value.strip()))
        twice = sorted({key for key, _ in options if [k for k, _ in options].count(key) > 1})
        if twice:
            raise SolverError(f"{text!r} has {twice[0]!r} more than once")
        known = solver_names()
        if name not in known:
            raise SolverError(
                f"no solver is called {name!r}", hint=f"there are: {', '.join(known)}"
            )
        return cls(name=name, options=tuple(sorted(options)))

    def __str__(self) -> str:
        options = ",".join(f"{key}={value}" for key, value in self.options)
        return f"{self.name}:{options}" if options else self.name


def solver_names() -> tuple[str, ...]:
    """Built-in ones and those of plug-ins, by name; none is loaded."""
    return tuple(sorted({*BUILT_IN, *(point.name for point in entry_points(group=GROUP))}))


def plugin_of(name: str) -> EntryPoint | None:
    """The entry point of a solver that is not built in."""
    if name in BUILT_IN:
        return None
    return next((point for point in entry_points(group=GROUP) if point.name == name), None)


def load_solver(spec: SolverSpec) -> Solver:
    """Load a solver; this runs its code.

    :raises SolverError: it cannot be loaded, or not with these options.
    """
    value = BUILT_IN.get(spec.name)
    point = EntryPoint(spec.name, value, GROUP) if value else plugin_of(spec.name)
    if point is None:
        raise SolverError(f"no solver is called {spec.name!r}")
    try:
        factory = point.load()
        solver = factory(**_options(factory, spec))
    except SolverError:
        raise
    except Exception as error:
        raise SolverError(f"the solver {spec} cannot be made: {error}") from error
    if not callable(getattr(solver, "solve", None)):
        raise SolverError(f"{point.value} ({spec.name!r}) makes no solver: it has no solve()")
    made: Solver = solver
    return made


def _options(factory: Callable[..., Any], spec: SolverSpec) -> dict[str, Any]:
    """The options as the types of the factory's parameters."""
    parameters = inspect.signature(factory).parameters
    made = factory.func if isinstance(factory, partial) else factory
    hints = get_type_hints(made.__init__ if inspect.isclass(made) else made)
    found = {}
    for key, text in spec.options:
        if key not in parameters:
            hint = f"it has: {', '.join(parameters)}" if parameters else "it has none"
            raise SolverError(f"{spec.name} has no option {key!r}", hint=hint)
        try:
            found[key] = _value(text, hints.get(key, str))
        except ValueError:
            raise SolverError(f"{spec.name}: {key}={text} is no {_told(hints[key])}") from None
    return found


_YES, _NO = ("yes", "true", "on", "1"), ("no", "false", "off", "0")


def _value(text: str, kind: Any) -> Any:
    """``text`` as a value of a type.

    :raises ValueError: it is none.
    """
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise ValueError
        return text
    choices = [each for each in get_args(kind) if each is not type(None)] or [kind]
    kind = choices[0]
    if kind is bool:
        if text.lower() not in (*_YES, *_NO):
            raise ValueError
        return text.lower() in _YES
    if kind in {int, float}:
        number = kind(text)
        if not 0 <= number < math.inf:  # which is no number either
            raise ValueError
        return number
    return text


def _told(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(get_args(kind))
    return {bool: "yes or no", int: "whole number", float: "number"}.get(kind, "number")
