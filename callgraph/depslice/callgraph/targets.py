"""Which symbol a user means: every way of naming a target, and the nearest names when none fits."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NoReturn

from depslice.callgraph.arguments import check_program, check_text
from depslice.callgraph.errors import AmbiguousTarget, UnknownTarget
from depslice.callgraph.model import Diagnostic, Severity, Symbol, SymbolKind
from depslice.callgraph.project import INCLUDABLE, SourceFile, left_out_for, read_file, script_at

if TYPE_CHECKING:
    from depslice.callgraph.program import Module, Program
    from depslice.callgraph.project import LeftOut

_NEAREST: Final = 5
_LISTED: Final = 20
_CLOSE_NAMES: Final = 12
# How alike two names must be to suggest one for the other; difflib's own default.
_ALIKE: Final = 0.6
_DEFINED: Final = re.compile(rb"(?m)^[ \t]*(?:async[ \t]+def|def|class)[ \t]+([A-Za-z_]\w*)")
_COLUMN: Final = re.compile(r"(:[0-9]+):[0-9]*$")
# A text is repeated in what is said of it as far as somebody would read it.
_READ: Final = 200
# More digits than any line number has; `int` refuses thousands of them.
_LONGEST_NUMBER: Final = 18
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def find_symbol(program: Program, text: str) -> Symbol:
    """The symbol that ``text`` names.

    ============================  =======================================================
    ``pkg.mod:Class.method``      a symbol id; ``.<locals>`` may be left out
    ``pkg.mod.Class.method``      a dotted name, re-exports followed: ``pkg.Class``
    ``path/to/file.py:Class.m``   a path from the repository's root, or from the working
                                  directory; the end of a path where only one file has it
    ``path/to/file.py:LINE``      the innermost definition that holds the line
    ``path/to/file.py``, ``pkg``  a module
    ``method``, ``Class.method``  the end of a name, where only one symbol has it
    ============================  =======================================================

    ``file.py::Class::method``, ``file.py:LINE:COLUMN`` and ``f()``, as other tools print them, are
    the same as ``file.py:Class.method``, ``file.py:LINE`` and ``f``.

    Of these each comes before those below it. Only the modules that the text can
    mean are loaded; for the last kind, those that contain the name.

    :raises UnknownTarget: nothing has that name; ``candidates`` are the nearest ids.
        Also when it lies in a file that is left out, or cannot be analysed.
    :raises AmbiguousTarget: several symbols have it; ``candidates`` are their ids.
    :raises OptionError: ``program`` is none, or ``text`` no text.
    """
    check_program(program)
    check_text("text", text)
    return _Search(program, text.strip()).run()


@dataclass(frozen=True, slots=True)
class Spelled:
    """A symbol, and the names of module scopes that stand for it in what a user wrote.

    ``names`` are re-exports, ``pkg:Name`` and, if that leads through another, ``pkg.sub:Name``;
    there are none where the text names the place of the definition.
    """

    symbol: Symbol
    names: tuple[str, ...] = ()


def find_spelled(program: Program, text: str) -> Spelled:
    """As :func:`find_symbol`, with the re-exports by which ``text`` names the symbol."""
    search = _Search(program, text.strip())
    symbol = search.run()
    return Spelled(symbol, tuple(dict.fromkeys(search.names)))


class _Search:
    """One call of :func:`find_symbol`; ``names`` are the re-exports that led to the symbol."""

    def __init__(self, program: Program, text: str) -> None:
        self.names: list[str] = []
        self._program = program
        self._text = _plain(text)
        self._module: Module | None = None  # whose symbols are the likely candidates

    def run(self) -> Symbol:
        if not self._text:
            raise UnknownTarget("the target is empty")
        found = self.find()
        return found if found is not None else self._fail()

    def find(self) -> Symbol | None:
        """The symbol; ``None`` when there is none, or an exception that says more."""
        head, colon, tail = self._text.partition(":")
        found = self._in_file(head, tail, has_colon=bool(colon))
        if found is None and colon:
            found = self._after_colon(head, tail)
        if found is None and not colon:
            found = self._dotted()
        if found is None:
            found = self._by_ending()
        return found

    # --- files

    def _in_file(self, head: str, tail: str, *, has_colon: bool) -> Symbol | None:
        file = self._file(head)
        if file is None:
            return None
        module = self._loaded(file)
        if not has_colon:
            return self._member(module, [])
        if tail.isdecimal():
            if len(tail) > _LONGEST_NUMBER:
                raise UnknownTarget(f"{module.file.path} has no line {_shown(tail)}")
            return self._at_line(module, int(tail))
        return self._member(module, _parts(tail))

    def _file(self, head: str) -> SourceFile | None:
        """The file that a path names; ``None`` where ``head`` is no path."""
        by_path = self._program.by_path
        if head in by_path:
            return by_path[head]
        if head in self._program.files or not (
            head.endswith(".py") or "/" in head or os.sep in head
        ):
            return None
        root = str(self._program.project.root)
        # From the root first; with the name of a package that is looked at alone in front, as its
        # modules have it; then from where the user is, who may have let the shell complete it.
        for above in (root, os.path.dirname(root), os.getcwd()):
            absolute = os.path.join(above, head)
            path = os.path.relpath(os.path.normpath(absolute), root).replace(os.sep, "/")
            for known in (path, f"{path}/__init__.py"):
                if known in by_path:
                    return by_path[known]
            self._refuse_left_out(path)
        wanted = "/" + head.removeprefix("./")
        matches = [path for path in by_path if f"/{path}".endswith(wanted)]
        if len(matches) == 1:
            return by_path[matches[0]]
        if matches:
            _raise_ambiguous(head, matches, "files")
        self._refuse_script(head)
        import difflib

        nearest = difflib.get_close_matches(head, list(by_path), n=_NEAREST, cutoff=_ALIKE)
        raise UnknownTarget(f"no file {_shown(head)} is analysed", candidates=tuple(nearest))

    def _refuse_script(self, head: str) -> None:
        path = os.path.normpath(head).replace(os.sep, "/")
        if script_at(self._program.project, path):
            raise UnknownTarget(
                f"{path} is not analysed: its name does not end in .py",
                hint=f"bring it in with --include '/{path}'",
            )

    def _refuse_left_out(self, path: str) -> None:
        for left in self._program.project.left_out:
            if path == left.path or path.startswith(f"{left.path}/"):
                _raise_left_out(path, left)

    def _loaded(self, file: SourceFile) -> Module:
        module = self._program.module(file.module)
        if module is None:
            raise UnknownTarget(
                f"{file.path} cannot be analysed{self._cause(file)}", hint=self._newer(file)
            )
        self._module = self._module or module  # the most specific is tried first
        return module

    def _newer(self, file: SourceFile) -> str:
        """What to do if it is not the file that is wrong."""
        wrong = [
            found.message
            for found in self._program.diagnostics
            if found.path == file.path and found.slug == "syntax-error"
        ]
        if not wrong:
            return ""
        if any("Python 2" in message for message in wrong):
            return "Python 2 is not read; slice a copy that is converted (futurize, modernize)"
        version = "{}.{}".format(*sys.version_info)
        return f"read as Python {version}; for newer syntax run depslice with a newer Python"

    def _cause(self, file: SourceFile) -> str:
        for found in self._program.diagnostics:
            if found.path == file.path and _costs_the_file(found):
                line = "" if found.span is None else f" on line {found.span.start}"
                return f": {found.message}{line} ({found.slug})"
        return ""

    def _at_line(self, module: Module, line: int) -> Symbol:
        path = module.file.path
        if not 1 <= line < module.summary.lines:  # the line after the last line end counts there
            count = len(self._program.text(module).removesuffix("\n").split("\n"))
            if not 1 <= line <= count:
                raise UnknownTarget(f"{path} has {count} lines, no line {line}")
        table = self._program.symbol_table(module)
        # A lambda belongs to the definition that holds it.
        named = [s for s in table.values() if s.qualname and "<lambda>" not in s.qualname]
        holding = [s for s in named if s.span.start <= line <= s.span.end]
        if holding:
            return min(
                holding,
                key=lambda s: (
                    s.span.end - s.span.start,
                    s.kind is SymbolKind.VARIABLE,
                    -s.qualname.count("."),
                    s.id,
                ),
            )
        if any(piece.start <= line <= piece.end for piece in module.summary.pieces):
            return table[module.name]
        nearest = sorted(
            named, key=lambda s: (min(abs(s.span.start - line), abs(s.span.end - line)), s.id)
        )
        raise UnknownTarget(
            f"no definition on line {line} of {path}",
            candidates=tuple(s.id for s in nearest[:2]),
        )

    # --- modules

    def _after_colon(self, head: str, tail: str) -> Symbol | None:
        file = self._program.files.get(head)
        if file is None:
            return None
        return self._member(self._loaded(file), _parts(tail))

    def _dotted(self) -> Symbol | None:
        """The longest leading part that is a module, then the names in it."""
        parts = _parts(self._text)
        # No module has more parts than the deepest: a text may have tens of thousands.
        deepest = max((name.count(".") + 1 for name in self._program.files), default=0)
        for length in range(min(len(parts), deepest), 0, -1):
            file = self._program.files.get(".".join(parts[:length]))
            if file is None:
                continue
            found = self._member(self._loaded(file), parts[length:])
            if found is not None:
                return found
        return None

    def _member(self, module: Module, parts: Sequence[str]) -> Symbol | None:
        """The symbol that ``module.a.b`` is, imports followed; ``None`` when there is none."""
        table = self._program.symbol_table(module)
        if not parts:
            return table[module.name]
        qualname = ".".join(parts)
        exact = table.get(f"{module.name}:{qualname}")
        if exact is not None:
            return exact
        loose = [s for s in table.values() if _loose(s.qualname) == _loose(qualname)]
        if len(loose) > 1:
            _raise_ambiguous(self._text, [s.id for s in loose], "symbols")
        if loose:
            return loose[0]
        for definition in self._program.definitions(module.name, parts[0]):
            behind = len(self.names)
            found = self._behind(definition, parts)
            if found is not None:
                self.names.insert(behind, f"{module.name}:{parts[0]}")
                return found
        return None

    def _behind(self, definition: str, parts: Sequence[str]) -> Symbol | None:
        """What the rest of ``parts`` is in what the first of them was imported from."""
        name, colon, qualname = definition.partition(":")
        module = self._program.module(name)
        # A module's `__getattr__` stands for names that nobody knows.
        if module is None or (qualname == "__getattr__" and parts[0] != qualname):
            return None
        table = self._program.symbol_table(module)
        if colon:
            return table.get(".".join([definition, *parts[1:]]))
        return self._member(module, parts[1:]) if parts[1:] else table[name]

    # --- anywhere

    def _by_ending(self) -> Symbol | None:
        wanted = _loose(self._text.replace(":", "."))
        if not wanted.rpartition(".")[2].isidentifier():
            return None
        matches: dict[str, Symbol] = {}
        for module in self._mentioning(wanted.split(".")):
            for symbol in self._program.symbol_table(module).values():
                if symbol.qualname and self._ends_with(symbol, wanted):
                    matches[symbol.id] = symbol
        if len(matches) > 1:
            _raise_ambiguous(self._text, list(matches), "symbols")
        if matches:
            return next(iter(matches.values()))
        modules = [name for name in self._program.files if name.endswith(f".{wanted}")]
        if len(modules) > 1:
            _raise_ambiguous(self._text, modules, "modules")
        for name in modules:
            return self._member(self._loaded(self._program.files[name]), [])
        return None

    def _ends_with(self, symbol: Symbol, wanted: str) -> bool:
        qualname = _loose(symbol.qualname)
        if ":" in self._text:  # the module's part and the symbol's are both given
            head, _, tail = self._text.partition(":")
            return qualname == _loose(tail) and f".{symbol.module}".endswith(f".{head}")
        return f".{symbol.module}.{qualname}".endswith(f".{wanted}")

    def _mentioning(self, names: Sequence[str]) -> Iterator[Module]:
        """The modules that hold all of ``names``: a search costs less than loading them all.

        Names may also stand in the module's own name, the last one apart; and where the
        module's part is given, it must be the end of it.
        """
        head, colon, _ = self._text.partition(":")
        # Other names may be spelt in other ways (PEP 3131, NFKC) and in any encoding.
        searchable = [name for name in dict.fromkeys(names) if name.isascii()]
        for file in self._program.project.files:
            if colon and not f".{file.module}".endswith(f".{head}"):
                continue
            parts = set(file.module.split("."))
            inside = [n.encode() for n in searchable if n == names[-1] or n not in parts]
            if inside:
                data = _bytes(self._program, file)
                if not all(name in data for name in inside):
                    continue
            module = self._program.module(file.module)
            if module is not None:
                yield module

    # --- failing well

    def _fail(self) -> NoReturn:
        named = self._text.partition(":")[0]
        if named not in self._program.files:
            self._refuse_script(named)
        left = left_out_for(self._program.project, named) if named != self._text else None
        if left is not None:
            _raise_left_out(left.path, left)
        inherited = self._inherited()
        if inherited:
            raise UnknownTarget(
                f"{self._text} is inherited, and has no code of its own",
                candidates=(inherited,),
                hint=f"name it where it is defined: {inherited}",
            )
        candidates = self._nearest()
        where = f" in {self._module.file.path}" if self._module is not None else ""
        hint = "" if candidates else "see what there is with: depslice functions REPO"
        raise UnknownTarget(
            f"no symbol is called {_shown(self._text)!r}{where}",
            candidates=tuple(candidates),
            hint=self._unreadable() or hint,
        )

    def _inherited(self) -> str:
        """The member that the class before the last dot has from a base; empty if none."""
        from depslice.callgraph.engine.core import Engine  # costs, and only who fails pays

        holder, _, name = self._text.rpartition(".")
        if not holder or not name.isidentifier():
            return ""
        try:
            found = _Search(self._program, holder).find()
        except UnknownTarget:
            return ""
        if found is None or found.kind is not SymbolKind.CLASS:
            return ""
        module = self._program.module(found.module)
        assert module is not None
        engine = Engine(self._program, whole=False)
        for info in module.summary.classes:
            if info.qualname == found.qualname:
                owner = engine.find_member(engine.class_(module, info.index), name)
                if owner is not None and f"{owner.id}.{name}" in self._program.symbol_table(
                    owner.module
                ):
                    return f"{owner.id}.{name}"
        return ""

    def _unreadable(self) -> str:
        """A file that the search met and that cannot be analysed may well be the reason."""
        broken = [file for file in self._program.project.files if self._cause(file)]
        if not broken:
            return ""
        more = f", nor can {len(broken) - 1} more" if len(broken) > 1 else ""
        return f"{broken[0].path} cannot be analysed{self._cause(broken[0])}{more}"

    def _nearest(self) -> list[str]:
        """Those of that very name first: of a base, of another class, of the module of a class."""
        found: list[str] = []
        names_given = _IDENTIFIER.findall(self._text)
        last = names_given[-1] if names_given else ""
        if self._module is not None:
            names = self._program.symbol_table(self._module)
            tail = self._text.partition(":")[2]
            tail = tail or self._text.removeprefix(f"{self._module.name}.")
            found = [*_called(last, _closest(tail, _called(last, names))), *_closest(tail, names)]
        if len(dict.fromkeys(found)) < _NEAREST:
            elsewhere = self._defining_names_like(last) if last else []
            same = _called(last, elsewhere)
            same = [*_closest(self._text, same), *same]
            found = [*_called(last, found), *same, *found, *_closest(self._text, elsewhere)]
        return list(dict.fromkeys(found))[:_NEAREST]

    def _defining_names_like(self, name: str) -> list[str]:
        """Ids whose last part is close to ``name``. Reads all files, and loads a few."""
        defined: dict[str, list[SourceFile]] = {}
        for file in self._program.project.files:
            for match in set(_DEFINED.findall(_bytes(self._program, file))):
                defined.setdefault(match.decode(), []).append(file)
        import difflib

        close = difflib.get_close_matches(name, sorted(defined), n=_CLOSE_NAMES, cutoff=_ALIKE)
        modules = {m.rpartition(".")[2]: m for m in reversed(self._program.files)}
        ids = [modules[m] for m in difflib.get_close_matches(name, modules, cutoff=_ALIKE)]
        for similar in close:
            for file in defined[similar][:_CLOSE_NAMES]:
                module = self._program.module(file.module)
                if module is None:
                    continue
                table = self._program.symbol_table(module)
                ids += [i for i, s in table.items() if s.qualname.rpartition(".")[2] == similar]
        return ids


def _called(name: str, ids: Iterable[str]) -> list[str]:
    """Those of ``ids`` whose last part is ``name``."""
    return [each for each in ids if re.split(r"[.:]", each)[-1] == name]


def _closest(text: str, ids: Iterable[str]) -> list[str]:
    """The few of ``ids`` that are most like ``text``, in whole or by their last parts."""
    import difflib

    scored: list[tuple[float, int, str]] = []
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(_loose(text.replace(":", ".")).lower())
    for identifier in ids:
        qualname = _loose(identifier.partition(":")[2])
        if "<lambda>" in qualname:
            continue
        spellings = {qualname or identifier, qualname.rpartition(".")[2]}
        if "." in text or ":" in text:
            spellings.add(_loose(identifier).replace(":", "."))
        best = 0.0
        for spelling in spellings - {""}:
            matcher.set_seq1(spelling.lower())
            if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
                best = max(best, matcher.ratio())
        if best >= _ALIKE:
            scored.append((-best, qualname.count("."), identifier))
    return [identifier for _, _, identifier in sorted(scored)[:_NEAREST]]


def _raise_left_out(path: str, left: LeftOut) -> NoReturn:
    raise UnknownTarget(
        f"{path} is left out of the analysis ({left.reason})",
        hint=f"bring it back with --include '/{left.path}'" if left.reason in INCLUDABLE else "",
    )


def _raise_ambiguous(text: str, candidates: Sequence[str], what: str) -> NoReturn:
    listed = tuple(sorted(candidates)[:_LISTED])
    more = len(candidates) - len(listed)
    raise AmbiguousTarget(
        f"{text!r} may be any of {len(candidates)} {what}",
        candidates=listed,
        hint="name one of them in full" + (f" ({more} more are not shown)" if more else ""),
    )


def _costs_the_file(found: Diagnostic) -> bool:
    """Whether its file is not analysed for it; of other warnings it is all the same."""
    return found.severity is Severity.ERROR or found.slug == "file-too-large"


def _plain(text: str) -> str:
    """As other tools spell it: ``:f`` of whatever module, a call, pytest's ``::``, a column."""
    text = text.removeprefix(":").removesuffix("()")
    head, colons, tail = text.partition("::")
    if colons:
        text = f"{head}:{tail.replace('::', '.')}"
    return _COLUMN.sub(r"\1", text)


def _parts(dotted: str) -> list[str]:
    """``outer.<locals>.inner`` -> ``["outer", "<locals>", "inner"]``; empty parts are dropped."""
    return [part for part in dotted.split(".") if part]


def _loose(qualname: str) -> str:
    return qualname.replace(".<locals>", "")


def _shown(text: str) -> str:
    """Its beginning and its end, where it is longer than anybody reads."""
    half = _READ // 2
    return text if len(text) <= _READ else f"{text[:half]}…{text[-half:]}"


def _bytes(program: Program, file: SourceFile) -> bytes:
    try:
        return read_file(program.project, file)
    except OSError:
        return b""


__all__ = ["Spelled", "find_spelled", "find_symbol"]
