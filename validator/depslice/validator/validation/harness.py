"""A harness as a file: what it says of itself, read without running it.

::

    HARNESS_FORMAT = 1
    TARGET = "shapes.core:Square.area"
    TOLERANCE = {"relative": 1e-9}      # none by default

    def test_area(candidate, reference):
        ...

All three are optional: plain test functions that take ``candidate`` and ``reference`` (or
``context``) are a harness, with a target that is named beside it. See ``docs/harness.md``.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from depslice.callgraph.errors import DepsliceError
from depslice.callgraph.model import SymbolKind
from depslice.callgraph.program import Program
from depslice.callgraph.targets import find_symbol
from depslice.validator.validation.variables import changeable

FORMAT: Final = 1
_MOST_BYTES: Final = 4 << 20
_FUNCTIONS: Final = (SymbolKind.FUNCTION, SymbolKind.METHOD)


class HarnessError(DepsliceError):
    """A file that is no harness, or of a format that is not known here."""

    slug = "harness"
    exit_code = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """Test functions for a target.

    ``target`` is a symbol id, ``path`` and ``line`` where it is defined; ``tolerance`` the
    relative and absolute difference that floats may have, ``files`` the data files beside it,
    by name, ``variables`` those of the target's module that its functions may change.
    """

    name: str
    text: str
    target: str
    path: str
    line: int
    tolerance: tuple[float, float] = (0.0, 0.0)
    files: Mapping[str, bytes] = field(default_factory=dict)
    variables: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of the text, and of the data files if there are any."""
        found = hashlib.sha256(self.text.encode("utf-8", "surrogatepass"))
        for name, data in sorted(self.files.items()):
            found.update(f"\0{name}\0{len(data)}\0".encode())
            found.update(data)
        return found.hexdigest()


def data_folder(path: Path) -> Path:
    """Where the data files of the harness at ``path`` are."""
    return path.with_name(f"{path.stem}.data")


def is_whole(path: Path) -> bool:
    """Whether a harness is there, with its data files if it loads any."""
    try:
        needs_data = "context.load(" in path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return not needs_data or data_folder(path).is_dir()


def read_harness(path: Path, program: Program, target: str | None = None) -> Harness:
    """The harness in a file; see :func:`parse_harness`.

    :raises HarnessError: it cannot be read.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise HarnessError(f"{path} is larger than {_MOST_BYTES >> 20} MiB")
        text = path.read_bytes().decode("utf-8")
        files = _read_files(data_folder(path))
    except OSError as error:
        raise HarnessError(f"cannot read {path}: {(error.strerror or '').lower()}") from None
    except UnicodeDecodeError:
        raise HarnessError(f"{path} is not UTF-8") from None
    return replace(parse_harness(text, program, name=str(path), target=target), files=files)


def _read_files(folder: Path) -> dict[str, bytes]:
    if not folder.is_dir():
        return {}
    found = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    if sum(map(len, found.values())) > _MOST_BYTES:
        raise HarnessError(f"the files in {folder} are larger than {_MOST_BYTES >> 20} MiB")
    return found


def why_not_python(error: Exception) -> str:
    """What a parser has against a text, and in which line."""
    if not isinstance(error, SyntaxError):
        return str(error)
    return f"line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)


def parse_harness(
    text: str, program: Program, *, name: str = "harness.py", target: str | None = None
) -> Harness:
    """What a harness says of itself; ``target`` wins over its own ``TARGET``.

    :raises HarnessError: it is not Python, says nonsense, or names no target.
    :raises DepsliceError: the target is not a function of the program.
    """
    try:
        said = _said(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError) as error:
        raise HarnessError(f"{name} is not Python: {why_not_python(error)}") from None
    if said.get("HARNESS_FORMAT", FORMAT) != FORMAT:
        raise HarnessError(f"{name} has format {said['HARNESS_FORMAT']!r}; {FORMAT} is known here")
    named = target or said.get("TARGET")
    if not isinstance(named, str):
        raise HarnessError(
            f"{name} does not name its target",
            hint='give --target, or write TARGET = "package.module:function" in it',
        )
    symbol = find_symbol(program, named)
    if symbol.kind not in _FUNCTIONS:
        raise HarnessError(f"{symbol.id} is a {symbol.kind.value}, not a function")
    return Harness(
        name=name,
        text=text,
        target=symbol.id,
        path=symbol.path,
        line=symbol.span.start,
        tolerance=_tolerance(said.get("TOLERANCE", {}), name),
        variables=_variables(program, symbol.id),
    )


def _variables(program: Program, target: str) -> tuple[str, ...]:
    module = program.module(target.partition(":")[0])
    return () if module is None else changeable(program.text(module))


def _said(tree: ast.Module) -> dict[str, object]:
    """The constants with literal values that the module assigns."""
    found: dict[str, object] = {}
    for each in tree.body:
        match each:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if name in ("HARNESS_FORMAT", "TARGET", "TOLERANCE"):
                try:
                    found[name] = ast.literal_eval(value)
                except (ValueError, TypeError, RecursionError, MemoryError):
                    raise HarnessError(f"{name} is no literal (line {each.lineno})") from None
            case _:
                pass
    return found


def _tolerance(value: object, name: str) -> tuple[float, float]:
    match value:
        case dict() if value.keys() <= {"relative", "absolute"}:
            numbers = [value.get(key, 0.0) for key in ("relative", "absolute")]
            if all(isinstance(n, (int, float)) and 0 <= n < 1 for n in numbers):
                return float(numbers[0]), float(numbers[1])
        case _:
            pass
    raise HarnessError(
        f'{name}: TOLERANCE must be like {{"relative": 1e-9, "absolute": 0.0}}, below 1'
    )
