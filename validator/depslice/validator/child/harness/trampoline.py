"""Code that passes a function's arguments on, and looks like the function's own code.

Signature, kind (generator, coroutine) and free variables are those of the original: what
asks a function about itself is not to see a difference.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from types import CodeType
from typing import Any

_HOOK = "depslice: the hook"
_BODIES = {
    "plain": "    return {call}",
    "generator": "    return (yield from {call})",
    "coroutine": "    return await {call}",
    "async generator": "    async for _depslice_each in {call}:\n        yield _depslice_each",
}


def trampoline(code: CodeType, hook: Callable[..., Any]) -> CodeType:
    """Code for a function that has ``code``; it calls ``hook`` with the arguments."""
    made = _compiled(code)
    constants = tuple(hook if each == _HOOK else each for each in made.co_consts)
    return made.replace(
        co_consts=constants,
        co_filename=code.co_filename + "-hooked",  # of another file, so that nobody measures it
        co_firstlineno=code.co_firstlineno,
        co_qualname=code.co_qualname,
    )


def _compiled(code: CodeType) -> CodeType:
    parameters, call = _parameters(code)
    name = code.co_name if code.co_name.isidentifier() else "function"
    asynchronous = _kind(code) in ("coroutine", "async generator")
    lines = ["def around():"]
    lines += [f"  {each} = None" for each in code.co_freevars]
    lines.append(f"  {'async ' * asynchronous}def {name}({parameters}):")
    # Never executed: a function keeps the closure it was made with.
    lines += [f"    if 0: {each}" for each in code.co_freevars]
    lines.append(_BODIES[_kind(code)].format(call=f"({_HOOK!r})({call})"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a text is called, until the hook takes its place
        module = compile("\n".join(lines), "(trampoline)", "exec", dont_inherit=True)
    around = next(each for each in module.co_consts if isinstance(each, CodeType))
    return next(each for each in around.co_consts if isinstance(each, CodeType))


def _kind(code: CodeType) -> str:
    if code.co_flags & inspect.CO_ASYNC_GENERATOR:
        return "async generator"
    if code.co_flags & inspect.CO_COROUTINE:
        return "coroutine"
    return "generator" if code.co_flags & inspect.CO_GENERATOR else "plain"


def _parameters(code: CodeType) -> tuple[str, str]:
    """The parameters as they are declared, without defaults, and as they are passed on."""
    names = list(code.co_varnames)
    plain, only = code.co_argcount, code.co_kwonlyargcount
    declared = names[:plain]
    passed = list(declared)
    if code.co_posonlyargcount:
        declared.insert(code.co_posonlyargcount, "/")
    rest = plain + only
    star = ""
    if code.co_flags & inspect.CO_VARARGS:
        star = f"*{names[rest]}"
        passed.append(star)
        rest += 1
    if star or only:
        declared.append(star or "*")
    for name in names[plain : plain + only]:
        declared.append(name)
        passed.append(f"{name}={name}")
    if code.co_flags & inspect.CO_VARKEYWORDS:
        declared.append(f"**{names[rest]}")
        passed.append(f"**{names[rest]}")
    return ", ".join(declared), ", ".join(passed)
