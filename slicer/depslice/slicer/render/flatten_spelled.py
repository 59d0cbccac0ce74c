"""Texts that name what the flat file calls otherwise, or has no module of.

``"X" in globals()`` is told of the name that ``X`` has there, and so is a text that is computed
(``globals()[kind + "_done"]``), by a table. Where code has its globals otherwise, and something of them
has another name, that is said. A text that names a module of the slice
(``import_module("pkg.mod")``, ``sys.modules["pkg." + name]``) cannot be: there is no such module
beside the file. That is said.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from depslice.callgraph.engine.library import ASKING_NAMESPACES
from depslice.callgraph.model import Diagnostic, Severity, Symbol
from depslice.callgraph.templates import words_of_data
from depslice.slicer.model import Slice
from depslice.slicer.render.flatten_scopes import ModuleScopes

NAMED_MODULE: Final = "module-named-by-text"
RENAMED: Final = "renamed-in-one-file"
REPLACED: Final = "module-replaced"
STARS_MET: Final = "stars-met"
RUN_LATE: Final = "run-late"
_BY_KEY: Final = frozenset({"get", "pop", "setdefault", "__getitem__", "__contains__"})
_IMPORTING: Final = frozenset(
    {"__import__", "find_spec", "import_module", "import_string", "locate", "resolve_name"}
    | {"run_module", "run_path", "spec_from_file_location", "SourceFileLoader", "executable"}
    | {"dictConfig", "fileConfig", "files", "loadTestsFromName", "loadTestsFromNames", "patch"}
)
_LEVEL: Final = 4  # arguments of `__import__` after the name, of which the last is the level
_SHOWN: Final = 3
_READING: Final = frozenset({"copy", "items", "keys", "values", *_BY_KEY} - {"setdefault", "pop"})


def keys_of_globals(scopes: ModuleScopes) -> Iterator[tuple[ast.expr, str | None]]:
    """The keys by which a module looks up its own globals, and the texts of those that are literal."""
    if "globals" not in scopes.text or any(map(_is_another_globals, ast.walk(scopes.tree))):
        return
    inside = _inside_texts(scopes.tree)
    for node in ast.walk(scopes.tree):
        key = _key_of_globals(node)
        if key is None or id(key) in inside:
            continue
        if not isinstance(key, ast.Constant):
            yield key, None
        elif isinstance(key.value, str):
            yield key, key.value


def _inside_texts(tree: ast.Module) -> set[int]:
    """What stands in f-strings: before Python 3.12 it has no position of its own."""
    return {
        id(each)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for value in node.values
        for each in ast.walk(value)
    }


def asks_unseen(scopes: ModuleScopes) -> bool:
    """Whether a module gets at its own names by computed texts otherwise than by ``globals()[key]``.

    It keeps ``globals()``, hands it on, goes over it, or has ``sys.modules[__name__]``.
    """
    if "globals" not in scopes.text and "modules" not in scopes.text:
        return False
    if any(map(_is_another_globals, ast.walk(scopes.tree))):
        return False
    seen = {id(key) for key, _ in keys_of_globals(scopes)}
    spaces = {
        id(space)
        for node in ast.walk(scopes.tree)
        if id(_key_of_globals(node)) in seen
        for space in ast.iter_child_nodes(_holder_of_globals(node))
    }
    for node in ast.walk(scopes.tree):
        match node:
            case ast.Call(func=ast.Name(id="globals"), args=[], keywords=[]):
                if id(node) not in spaces:
                    return True
            case ast.Subscript(value=ast.Attribute(attr="modules"), slice=ast.Name(id="__name__")):
                return True
    return False


def makes_names(scopes: ModuleScopes) -> bool:
    """Whether a module may bind names of its own that nothing spells: ``globals().update(…)``.

    What is done with ``globals()`` (of the module scope, also ``vars()`` and ``locals()``) but to read
    it, with ``sys.modules[__name__]`` by ``setattr`` or under another name, and ``exec(code)``.
    """
    if not any(
        word in scopes.text for word in ("globals(", "vars(", "locals(", "modules", "exec(")
    ):
        return False
    inside = {
        id(each)
        for node in ast.walk(scopes.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda)
        for each in ast.walk(node)
    }
    spaces: set[int] = set()
    for node in ast.walk(scopes.tree):
        match node:
            case ast.Call(func=ast.Name(id="globals" | "vars" | "locals" as space_of), args=[]):
                if space_of == "globals" or id(node) not in inside:
                    spaces.add(id(node))
            case ast.Call(func=ast.Name(id="exec"), args=[_]) if id(node) not in inside:
                return True
            case (
                ast.Call(func=ast.Name(id="setattr"), args=[module, *_])
                | ast.Assign(value=module)
                | ast.Attribute(value=module, attr="__dict__" | "__setattr__")
            ) if _is_this_module(module):
                return True
    return not spaces <= _only_read(scopes.tree)


def fills_namespaces(scopes: ModuleScopes) -> bool:
    """Whether code does more with ``vars(x)`` or ``x.__dict__`` than to read it."""
    if not any(word in scopes.text for word in ("__dict__", "vars(")):
        return False
    spaces: set[int] = set()
    for node in ast.walk(scopes.tree):
        match node:
            case ast.Attribute(attr="__dict__") | ast.Call(func=ast.Name(id="vars"), args=[_, *_]):
                spaces.add(id(node))
    return not spaces <= _only_read(scopes.tree)


def _only_read(tree: ast.AST) -> set[int]:
    """Expressions, by identity, of which a key is read, or a copy is made."""
    read: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=space, ctx=ast.Load()):
                read.add(id(space))
            case ast.Compare(comparators=[space]):
                read.add(id(space))
            case ast.Attribute(value=space, attr=attr) if attr in _READING:
                read.add(id(space))
            case ast.Call(func=ast.Name(id=name), args=args) if name in ASKING_NAMESPACES:
                read.update(map(id, args))
    return read


def replaces_itself(scopes: ModuleScopes) -> bool:
    """Whether a module puts something in its own place, or makes itself of another class."""
    if "modules" not in scopes.text:
        return False
    assigned = [
        (target, node.value)
        for node in ast.walk(scopes.tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
    ]
    itself = {
        target.id
        for target, value in assigned
        if isinstance(target, ast.Name) and _is_this_module(value)
    }
    for target, _ in assigned:
        match target:
            case ast.Attribute(value=ast.Name(id=name), attr="__class__") if name in itself:
                return True
            case ast.Attribute(value=module, attr="__class__") | module if _is_this_module(module):
                return True
    return False


def module_replaced(module: str, path: str) -> Diagnostic:
    """What is said of a module that is something else than its names, for those who import it."""
    return Diagnostic(
        slug=REPLACED,
        severity=Severity.WARNING,
        message=f"{module} puts something else in its own place (sys.modules[__name__]), and in the one"
        " file that is the place of all: names may be missing; --format tree keeps the modules apart",
        path=path,
    )


def runs_late(modules: Sequence[str], path: str) -> Diagnostic:
    """What is said of modules that do something with what is there when functions import them."""
    named = ", ".join(modules[:_SHOWN]) + (", …" if len(modules) > _SHOWN else "")
    return Diagnostic(
        slug=RUN_LATE,
        severity=Severity.WARNING,
        message=f"functions import {named}, which change something of the slice when they run (they enter"
        " themselves in a table, set a variable): not so in the one file; --format tree has them",
        path=path,
    )


def stars_met(name: str, stars: Iterable[str], path: str, *others: str) -> Diagnostic:
    """What is said of a name that modules have of different stars from outside."""
    return Diagnostic(
        slug=STARS_MET,
        severity=Severity.WARNING,
        message=f"{name} may be another one in {', '.join(others)}, by stars of"
        f" {' and '.join(dict.fromkeys(stars))}, and the one file has only that of the last;"
        " --format tree keeps the modules apart",
        path=path,
    )


def _is_this_module(node: ast.AST) -> bool:
    match node:
        case ast.Subscript(
            value=ast.Attribute(attr="modules") | ast.Name(id="modules"),
            slice=ast.Name(id="__name__"),
        ):
            return True
    return False


def _holder_of_globals(node: ast.AST) -> ast.AST:
    return node.func if isinstance(node, ast.Call) else node


def renamed_unseen(path: str, renamed: Collection[str]) -> Diagnostic:
    """What is said of a file that looks for its names by texts, some of which are others here."""
    return Diagnostic(
        slug=RENAMED,
        severity=Severity.WARNING,
        message=f"{_some_of(renamed)} has another name in the one file, where this code looks up names of"
        " its module by texts: it may find something else; --format tree keeps the names",
        path=path,
    )


def target_renamed(target: Symbol, name: str) -> Diagnostic:
    """What is said of a target that has another name in the flat file than in its module."""
    own = target.qualname.partition(".")[0]
    return Diagnostic(
        slug=RENAMED,
        severity=Severity.WARNING,
        message=f"the target {target.module}:{own} is called {name!r} in the one file, where"
        f" {own!r} means something else; --format tree keeps the names",
        path=target.path,
    )


def _some_of(texts: Collection[str]) -> str:
    """The first few of ``texts``, and how many more there are."""
    shown = ", ".join(repr(text) for text in sorted(texts)[:_SHOWN])
    return f"{shown} and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else shown


def _is_another_globals(node: ast.AST) -> bool:
    """Whether it binds that name somewhere in the module, so that the builtin may not be meant."""
    match node:
        case (
            ast.arg(arg="globals")
            | ast.Name(id="globals", ctx=ast.Store())
            | ast.FunctionDef(name="globals")
            | ast.alias(asname="globals")
            | ast.alias(name="globals", asname=None)
        ):
            return True
    return False


def _key_of_globals(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[space]):
            pass
        case ast.Subscript(value=space, slice=key):
            pass
        case ast.Call(func=ast.Attribute(value=space, attr=attr), args=[key, *_]) if (
            attr in _BY_KEY
        ):
            pass
        case _:
            return None
    match space:
        case ast.Call(func=ast.Name(id="globals"), args=[], keywords=[]):
            return key
    return None


def modules_named_by_texts(found: Slice, flat: str) -> Iterator[Diagnostic]:
    """Texts of a slice that name a module of it, where its code imports modules by names.

    ``flat``: the one file. Few slices import so, and it tells without cutting all files again.
    """
    from depslice.slicer.render.cutting import cut_file

    if not any(name in flat for name in (*_IMPORTING, "sys.modules")):
        return
    modules = {cut.module for cut in found.cuts}
    alone = {cut.module for cut in found.cuts if cut.path.rpartition("/")[2] == f"{cut.module}.py"}
    files = {cut.path.rpartition("/")[2] for cut in found.cuts} | {cut.path for cut in found.cuts}
    packages = {module.removesuffix(".__main__") for module in modules}
    alone |= {name for name in packages if "." not in name and f"{name}.__main__" in modules}
    trees = [(cut, ast.parse(cut_file(cut))) for cut in found.cuts]
    nodes = [node for _, tree in trees for node in ast.walk(tree)]
    enters = any(map(_enters_module, nodes))
    if not enters and not any(map(_imports_by_name, nodes)):
        return
    for cut, tree in trees:
        texts = _texts(tree)
        named = {
            text
            for text in texts | _words(texts)
            if _names_one(text, modules) or text in alone or text in files
        }
        named |= {text for text in _passed(tree) if any(m.startswith(f"{text}.") for m in modules)}
        if any(isinstance(n, ast.Attribute) and n.attr == "__path__" for n in ast.walk(tree)):
            named.add(cut.module)
        named |= {text for text in _relative(tree) if any(m.endswith(f".{text}") for m in modules)}
        if any(map(_is_of_itself, ast.walk(tree))):
            named.add(cut.module)
        made = (f"{cut.module}{text}" for text in _made_of_own_name(tree))
        named |= {text for text in made if _names_one(text, modules)}
        if enters:  # here, or a function does that is told the name
            itself = any(map(_enters_module, ast.walk(tree)))
            texts = _texts(tree) if itself else _passed(tree)
            named |= {text for text in texts if _is_imported(text, flat)}
        if named:
            yield Diagnostic(
                slug=NAMED_MODULE,
                severity=Severity.WARNING,
                message=f"{_some_of(named)} names a module that is part of the one file here: imported"
                " by that name it is not found; --format tree keeps the modules apart",
                path=cut.path,
            )


def _texts(tree: ast.Module) -> set[str]:
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {value for value in constants if isinstance(value, str)}


def _words(texts: set[str]) -> set[str]:
    """What texts that are data have of dotted paths."""
    return {word for text in texts for word in words_of_data(text) if not word.isidentifier()}


def _passed(tree: ast.Module) -> set[str]:
    """The texts that calls are given first."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args)
    given = [call.args[0] for call in calls]
    values = [node.value for node in given if isinstance(node, ast.Constant)]
    return {value for value in values if isinstance(value, str)}


def _is_imported(name: str, flat: str) -> bool:
    """Whether ``flat`` imports a module of that name, or something of it."""
    return re.search(rf"^\s*(import|from) {re.escape(name)}\b", flat, re.MULTILINE) is not None


def _enters_module(node: ast.AST) -> bool:
    """Whether something is put into ``sys.modules``, but in the place of the module itself."""
    match node:
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id="sys"), attr="modules"), ctx=ast.Store()
        ):
            return not _is_this_module(node)
        case ast.Attribute(
            value=ast.Attribute(value=ast.Name(id="sys"), attr="modules"),
            attr="update" | "setdefault",
        ):
            return True
    return False


def _is_of_itself(node: ast.AST) -> bool:
    """Whether a module is imported by a name that is made of the name of the module itself.

    ``__import__(__name__, …)``, ``import_module(f"{__package__}.{name}")``, ``sys.modules[…]``, or
    by one that starts from its package: ``import_module("." + name, …)``, ``import_module(name, __name__)``.
    """
    match node:
        case ast.Subscript(value=space, slice=key) if _imports_by_name(node):
            given = [] if _is_this_module(node) or isinstance(space, ast.Name) else [key]
        case ast.Call(func=ast.Attribute(attr="iter_modules" | "walk_packages"), args=args):
            given = args[1:]  # what the names start with
        case ast.Call(func=func, args=args, keywords=keywords) if _imports_by_name(func):
            given = [*args[:2], *(k.value for k in keywords if k.arg in ("name", "package"))]
        case _:
            return False
    return any(_starts_here(each) for each in given)


def _made_of_own_name(tree: ast.Module) -> Iterator[str]:
    """What code puts behind the name of its module: ``__name__ + ".words"``."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.BinOp(
                    left=ast.Name(id="__name__" | "__package__"),
                    right=ast.Constant(value=str(text)),
                )
                | ast.JoinedStr(
                    values=[
                        ast.FormattedValue(value=ast.Name(id="__name__" | "__package__")),
                        ast.Constant(value=str(text)),
                    ]
                )
            ):
                yield text


def _starts_here(name: ast.expr) -> bool:
    """Whether a name is made of that of this module, or is a relative one that is put together."""
    named = {each.id for each in ast.walk(name) if isinstance(each, ast.Name)}
    named |= {each.attr for each in ast.walk(name) if isinstance(each, ast.Attribute)}
    if not named.isdisjoint(("__name__", "__package__", "__module__")):
        return True
    match name:
        case (
            ast.BinOp(left=ast.Constant(value=str(start)))
            | ast.JoinedStr(values=[ast.Constant(value=str(start)), *_])
            | ast.Call(func=ast.Attribute(value=ast.Constant(value=str(start)), attr="format"))
        ):
            return start.startswith(".")
    return False


def _imports_by_name(node: ast.AST) -> bool:
    match node:
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id="sys"), attr="modules")):
            return not _is_this_module(node)
        case ast.Attribute(
            value=ast.Attribute(value=ast.Name(id="sys"), attr="modules"), attr="get"
        ):
            return True
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return name in _IMPORTING


def _relative(tree: ast.Module) -> Iterator[str]:
    """What calls of ``__import__`` with a level, or ``import_module(".name", …)``, name."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=func, args=[ast.Constant(value=str(text)), *others]) if (
                _imports_by_name(func)
            ):
                by_level = len(others) >= _LEVEL or any(k.arg == "level" for k in node.keywords)
                if by_level or text.startswith("."):
                    yield text.lstrip(".")


def _names_one(text: str, modules: Collection[str]) -> bool:
    """Whether it is the dotted name of a module of a package, or of something in one, or in that.

    Or what such names start with: ``"pkg." + name``.
    """
    if text.endswith("."):
        return any(module.startswith(text) for module in modules)
    path = text.rpartition("=")[2].strip().replace(":", ".")  # `name = pkg.mod:function`
    if "." not in path or not all(part.isidentifier() for part in path.split(".")):
        return False
    around = path.rpartition(".")[0]
    return any(each in modules for each in (path, around, around.rpartition(".")[0]))
