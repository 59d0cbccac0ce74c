"""From the parts that recorded processes have written to one :class:`Trace`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from depslice.callgraph.model import Symbol, SymbolKind
from depslice.callgraph.tracing.session import Session
from depslice.callgraph.tracing.trace import (
    CallSite,
    DynamicCall,
    Through,
    Trace,
    TraceError,
    UnmappedCode,
    nearest,
)

if TYPE_CHECKING:
    from depslice.callgraph.program import Program

_OPTIMIZED = 1  # CO_OPTIMIZED: a function, not the body of a class or module
_INLINE: Final = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_THROUGH: Final = {
    "-": Through.NOTHING,
    "c": Through.C,
    "l": Through.LIBRARY,
    "f": Through.FOREIGN,
}
_LAMBDA_LINE = re.compile(r"(?<=<lambda>)@\d+")


def gather(session: Session, program: Program, *, command: Sequence[str], exit_code: int) -> Trace:
    """Merge what the processes of ``session`` have recorded, and find the symbols of it.

    A code object belongs to the symbol of its file with the same qualified name, of
    several the one that starts nearest; a comprehension to the definition around it.

    :raises TraceError: no process was recorded.
    """
    seen = _Seen(_Symbols(program, session.paths))
    parts = sorted(session.folder.glob("*.part"))
    for part in parts:
        seen.add(part.read_text(encoding="utf-8", errors="surrogateescape"))
    if not parts:
        raise TraceError(
            "the command started no Python that could be recorded",
            hint="one that ignores PYTHONPATH (-I, -E, -S) or is older than 3.11 is not recorded",
        )
    return Trace(
        command=tuple(command),
        exit_code=exit_code,
        pythons=tuple(sorted(seen.pythons)),
        processes=len(parts),
        calls=tuple(seen.calls[key].as_call(*key) for key in sorted(seen.calls)),
        executed=tuple(sorted(seen.executed)),
        lines={path: tuple(sorted(seen.lines[path])) for path in sorted(seen.lines)},
        unmapped=tuple(sorted(seen.unmapped)),
    )


class _Symbols:
    """Finds the symbol of a code object."""

    def __init__(self, program: Program, paths: Sequence[str]) -> None:
        self._program = program
        self._paths = paths
        self._by_file: dict[int, dict[str, list[Symbol]]] = {}

    def path(self, file: int) -> str:
        return self._paths[file]

    def find(self, file: int, line: int, flags: int, qualname: str) -> str | None:
        """The id of the symbol that the code object belongs to, if there is one."""
        name = _definition(qualname)
        found = self._named(file).get(name, ())
        # A variable may have a function's name; it has no code.
        fitting = [s for s in found if (s.kind is SymbolKind.CLASS) is not bool(flags & _OPTIMIZED)]
        if _is_inline(qualname) or not name:
            fitting = list(found)
        return min(fitting, key=lambda s: (abs(s.span.start - line), s.id)).id if fitting else None

    def _named(self, file: int) -> dict[str, list[Symbol]]:
        table = self._by_file.get(file)
        if table is None:
            table = self._by_file[file] = {}
            source = self._program.by_path.get(self._paths[file])
            module = None if source is None else self._program.module(source.module)
            if module is not None:
                for symbol in self._program.symbol_table(module).values():
                    if symbol.kind is not SymbolKind.VARIABLE:
                        name = _LAMBDA_LINE.sub("", symbol.qualname)
                        table.setdefault(name, []).append(symbol)
        return table


def _definition(qualname: str) -> str:
    """The definition that code belongs to: ``C.f.<locals>.<listcomp>`` -> ``C.f``."""
    scopes = [
        ".".join(name for name in scope.split(".") if name not in _INLINE)
        for scope in qualname.split(".<locals>.")
    ]
    name = ".<locals>.".join(scope for scope in scopes if scope)
    return "" if name == "<module>" else name.removeprefix("<module>.")


def _is_inline(qualname: str) -> bool:
    return qualname.rpartition(".")[2] in _INLINE


@dataclass(slots=True)
class _Edge:
    """A call under construction."""

    through: Through = Through.FOREIGN
    resumed: bool = True
    sites: dict[Through, set[CallSite]] = field(default_factory=dict)

    def add(self, site: CallSite, through: Through, *, resumed: bool) -> None:
        self.through = nearest(self.through, through)
        self.resumed = self.resumed and resumed
        if site.line:
            self.sites.setdefault(through, set()).add(site)

    def as_call(self, caller: str, callee: str) -> DynamicCall:
        # The sites of the nearest way: the others do not show the call as such.
        return DynamicCall(
            caller=caller,
            callee=callee,
            sites=tuple(sorted(self.sites.get(self.through, ()))),
            through=self.through,
            resumed=self.resumed,
        )


class _Seen:
    """What the parts that were read have in common."""

    def __init__(self, symbols: _Symbols) -> None:
        self._symbols = symbols
        self.pythons: set[str] = set()
        self.calls: dict[tuple[str, str], _Edge] = {}
        self.executed: set[str] = set()
        self.lines: dict[str, set[int]] = {}
        self.unmapped: set[UnmappedCode] = set()

    def add(self, part: str) -> None:
        codes: dict[str, str | None] = {}
        lines = part.split("\n")
        lines.pop()  # what follows the last line end: nothing, or a line cut off
        for line in lines:
            kind, *values = line.split(" ")
            match kind:
                case "c":
                    codes[values[0]] = self._code(values)
                case "e":
                    self._edge(codes, values)
                case "l":
                    self._line(int(values[0]), int(values[1]))
                case "v":
                    self.pythons.add(values[0])
                case _:
                    pass

    def _code(self, values: Sequence[str]) -> str | None:
        file, first_line, flags = map(int, values[1:4])
        qualname = values[4]
        found = self._symbols.find(file, first_line, flags, qualname)
        if found is None:
            path = self._symbols.path(file)
            self.unmapped.add(UnmappedCode(path=path, line=first_line, qualname=qualname))
        else:
            self.executed.add(found)
        return found

    def _edge(self, codes: dict[str, str | None], values: Iterable[str]) -> None:
        first, second, line, column, end_line, end_column, through, resumed = values
        caller, callee = codes.get(first), codes.get(second)
        if caller is None or callee is None:
            return
        site = CallSite(
            line=int(line), column=int(column), end_line=int(end_line), end_column=int(end_column)
        )
        edge = self.calls.setdefault((caller, callee), _Edge())
        edge.add(site, _THROUGH[through], resumed=resumed == "1")

    def _line(self, file: int, line: int) -> None:
        if line:
            self.lines.setdefault(self._symbols.path(file), set()).add(line)
