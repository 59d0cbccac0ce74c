"""What the user sees when something goes wrong: a line or two, never a traceback."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable

import click

from depslice.callgraph.errors import AmbiguousTarget, DepsliceError, UnknownTarget

_BROKEN_PIPE = 141  # what a shell reports of a process that SIGPIPE ended
_COULD_NOT_TELL = 3
_LACKS = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN),
}
_COPYING = re.compile(rf"\[Errno (?:{'|'.join(map(str, sorted(_LACKS)))})\]")
_NO_TEMPORARY = "No usable temporary directory"  # as tempfile says it
_LACK_HINT = (
    "make room for temporary files (TMPDIR names their folder), or raise the limit (ulimit -a)"
)


class OutputError(DepsliceError):
    """The result cannot be written where it was asked for."""

    slug = "output"


class ReaderGone(Exception):
    """Nobody reads standard output any more. (Click has its own idea of a BrokenPipeError.)"""


class Finished(Exception):
    """A command is done, with an exit code that is not 0. ``code`` is the code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def guarded(command: Callable[[], object]) -> int:
    """Run ``command``; the exit code. What it raises becomes lines on standard error.

    With ``DEPSLICE_DEBUG=1`` unexpected exceptions pass through, for a debugger.
    """
    try:
        outcome = command()
        if sys.stdout is not None:
            sys.stdout.flush()
    except Finished as finished:
        return finished.code
    except DepsliceError as error:
        candidates = error.candidates if isinstance(error, UnknownTarget) else ()
        label = "one of" if isinstance(error, AmbiguousTarget) else "nearest"
        _say_error(error.message, label=label, candidates=candidates, hint=error.hint)
        return error.exit_code
    except click.NoSuchOption as error:
        _say_error(_no_option(error), hint=_where_options_are(error))
        return 2
    except click.UsageError as error:
        asked = error.ctx.command_path if error.ctx is not None else "depslice"
        _say_error(_lowered(error.format_message()), hint=f"see {asked} --help")
        return 2
    except click.ClickException as error:
        _say_error(_lowered(error.format_message()))
        return 2
    except (click.Abort, KeyboardInterrupt):
        raise KeyboardInterrupt from None
    except (BrokenPipeError, ReaderGone):
        _let_go_of_output()
        return _BROKEN_PIPE
    except Exception as error:
        if os.environ.get("DEPSLICE_DEBUG") == "1":
            raise
        if isinstance(error, OSError) and _is_of_echo(error):
            _say_error(f"cannot write to standard output: {_what(error)}")
            _let_go_of_output()
            return OutputError.exit_code
        if isinstance(error, OSError) and _is_a_lack(error):
            _say_error(f"the machine lacks something: {_what(error)}", hint=_LACK_HINT)
        else:
            _say_crash(error)
        return _COULD_NOT_TELL
    # Click returns the code of `ctx.exit()`, and of `--help`, instead of raising.
    return outcome if isinstance(outcome, int) else 0


def _is_of_echo(error: OSError) -> bool:
    """Whether Click could not write a text of its own, `--help`: its errors do not say where to."""
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    frame = innermost.tb_frame if innermost is not None else None
    return (
        frame is not None
        and frame.f_globals.get("__name__") == click.utils.__name__
        and frame.f_code.co_name == click.echo.__name__
    )


def _is_a_lack(error: OSError) -> bool:
    """Whether there is not enough of something, which is no fault of depslice.

    Who copies a folder gets all that failed as one error, whose numbers stand in its text.
    """
    if _COPYING.search(str(error)) is not None:
        return True
    return error.errno in _LACKS or _NO_TEMPORARY in str(error)


def _what(error: OSError) -> str:
    copying = _COPYING.search(str(error)) if error.strerror is None else None
    if copying is not None:
        return os.strerror(int(re.sub(r"\D", "", copying[0]))).lower()
    where = f": {error.filename}" if error.filename else ""
    return f"{error.strerror or error}".lower() + where


def _say_error(
    message: str, *, label: str = "", candidates: tuple[str, ...] = (), hint: str = ""
) -> None:
    lines = [f"depslice: error: {_one_line(message)}"]
    if len(candidates) == 1:
        lines.append(f"  {label}: {candidates[0]}")
    elif candidates:
        lines += [f"  {label}:", *(f"    {candidate}" for candidate in candidates)]
    if hint:
        lines.append(f"  hint: {_one_line(hint)}")
    _write(lines)


def _say_crash(error: BaseException) -> None:
    cause = _one_line(f"{type(error).__name__}: {error}")[:200]
    _write(
        [
            f"depslice: internal error: {cause}",
            f"  hint: please report this with {_written_traceback(error)}",
        ]
    )


def _written_traceback(error: BaseException) -> str:
    import tempfile
    import traceback

    # A RecursionError's own traceback has thousands of lines that say the same.
    text = "".join(traceback.format_exception(error, limit=-60))
    header = f"depslice {' '.join(sys.argv[1:])}\nPython {sys.version}\n\n"
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", prefix="depslice-", suffix=".txt", delete=False, errors="replace"
        ) as file:
            file.write(header + text)
    except OSError:
        return "the output of the same command with DEPSLICE_DEBUG=1"
    return file.name


def _let_go_of_output() -> None:
    """Nobody reads it: the interpreter must not try to flush it again when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except OSError:
                os.dup2(nowhere, stream.fileno())


def _write(lines: list[str]) -> None:
    if sys.stderr is None:
        return
    try:
        sys.stderr.write("\n".join(lines) + "\n")
        sys.stderr.flush()
    except OSError:
        pass  # nobody listens; the exit code still tells


def _no_option(error: click.NoSuchOption) -> str:
    """Of options with a like name, Click lists all, by the alphabet."""
    from depslice.cli.defaults import did_you_mean

    near = did_you_mean(error.option_name, error.possibilities or ())
    return f"no option {error.option_name}{near}"


def _where_options_are(error: click.NoSuchOption) -> str:
    """Where to look; of an option before a command, that it may be one of the command's."""
    asked = error.ctx.command_path if error.ctx is not None else "depslice"
    if error.ctx is not None and isinstance(error.ctx.command, click.Group):
        behind = f"{asked} COMMAND {error.option_name}"
        return f"options of a command stand behind its name ({behind}); see {asked} --help"
    return f"see {asked} --help"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:].rstrip(".")


__all__ = ["Finished", "OutputError", "ReaderGone", "guarded"]
