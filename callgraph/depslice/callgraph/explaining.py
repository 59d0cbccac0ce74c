"""Why the graph has an edge: the sites, and what the values there can be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from depslice.callgraph.collecting import Collected, calls_of, source_symbol, symbol_of
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.parts import reads
from depslice.callgraph.engine.values import binds_other
from depslice.callgraph.importing import RULE, asked_by_imports
from depslice.callgraph.model import Certainty, Site
from depslice.callgraph.summary import unpack

if TYPE_CHECKING:
    from depslice.callgraph.engine.values import Function
    from depslice.callgraph.program import Program

_MOST_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """One site of a call.

    ``rule`` found it; ``alternatives`` are all that the site can call, sorted ids;
    ``values`` says for each operand (callee or receiver first, then arguments) what it can be.
    """

    path: str
    site: Site
    rule: str
    certainty: Certainty
    alternatives: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]


def explain_call(program: Program, caller: str, callee: str) -> list[Derivation]:
    """How the call from ``caller`` to ``callee`` (symbol ids) was found, by site.

    Empty when own analysis has no such call. Evaluates the whole program, as
    :func:`~depslice.callgraph.references.build_graph` does.
    """
    modules = program.load_all()
    engine = Engine(program, whole=True)
    engine.run(engine.all_functions(modules))
    collected = Collected(program, engine)
    asked: list[Function] = []
    for module in modules:
        for unit in module.summary.units:
            function = engine.function(module, unit.index)
            collected.add(function)
            if source_symbol(function) == caller:
                asked.append(function)
    collected.pack()
    found: list[Derivation] = []
    for function in asked:
        for index, calls in calls_of(collected, function):
            alternatives = tuple(sorted({call.target for call in calls}))
            for call in calls:
                if call.target == callee:
                    line, column = unpack(call.position)
                    found.append(
                        Derivation(
                            path=function.module.file.path,
                            site=Site(line=line, column=column),
                            rule=call.rule,
                            certainty=call.certainty,
                            alternatives=alternatives,
                            values=tuple(_operands(engine, function, index)),
                        )
                    )
    for module in modules:
        for each in asked_by_imports(program, module):
            if (symbol_of(module, each.unit), each.target) == (caller, callee):
                line, column = unpack(each.position)
                found.append(
                    Derivation(
                        path=module.file.path,
                        site=Site(line=line, column=column),
                        rule=RULE,
                        certainty=each.certainty,
                        alternatives=(callee,),
                        values=(),
                    )
                )
    unique = {(d.site, d.rule): d for d in found}
    return [unique[key] for key in sorted(unique)]


def _operands(engine: Engine, function: Function, index: int) -> Iterator[tuple[str, ...]]:
    if index < 0:
        return
    for register in reads(function.unit.ops[index]):
        values = sorted({describe(engine.values[v], engine) for v in function.registers[register]})
        if len(values) > _MOST_SHOWN:
            values = [*values[:_MOST_SHOWN], f"and {len(values) - _MOST_SHOWN} more"]
        yield tuple(values)


def describe(value: tuple[Any, ...], engine: Engine) -> str:
    """An abstract value in words: see the table in :mod:`depslice.callgraph.engine.values`."""
    tag = value[0]
    if tag == "F":
        return f"function {value[1].id}"
    if tag == "B":
        return f"method {value[1].id} of {describe(engine.values[value[2]], engine)}"
    if tag == "C":
        return f"class {value[1].id}" + ("" if value[2] else " or a subclass")
    if tag == "I":
        return f"instance of {value[1].id}" + ("" if value[2] else " or of a subclass")
    if tag == "M":
        return f"module {value[1]}"
    if tag == "X":
        return f"outside: {value[1]}"
    if tag in ("XI", "G"):
        return f"outside: instance of {value[1]}"
    if tag in ("S", "N"):
        return "a string"
    if tag == "K":
        return f"a {value[1]} made in {value[2].id if value[2] else 'a call'}"
    if tag == "KM":
        return f"{value[2]} of {describe(engine.values[value[1]], engine)}"
    if tag == "P":
        name = value[1].unit.params[value[2]][0]
        return f"whatever is passed as {name!r} of {value[1].id}"
    if tag == "SU":
        return f"super() of {value[1].id}"
    if binds_other(value):
        return "a method of what is no function"
    if tag == "PT":
        return "a functools.partial" if value[2] or value[3] else "a static method"
    if tag == "L":
        return "more functions than are followed"
    return "unknown" if tag == "U" else "something else"
