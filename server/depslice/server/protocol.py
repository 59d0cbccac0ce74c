"""The Model Context Protocol: tools, a resource and a prompt around a desk.

The only module that knows the SDK. Importing it costs about a second, so that nothing
imports it but who is about to serve.
"""

from __future__ import annotations

import difflib
import ipaddress
import os
import socket
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import asdict
from typing import Annotated, Any, Final, Literal, TypeVar

import anyio
import anyio.to_thread
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import (
    ResourceError,
    ResourceNotFoundError,
    ToolError,
    UnexpectedToolError,
)
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, ValidationError

from depslice.callgraph.errors import DepsliceError, OptionError, UnknownTarget
from depslice.callgraph.model import Certainty
from depslice.server import questions
from depslice.server.answers import (
    Answer,
    CallsAnswer,
    ExplanationAnswer,
    SliceAnswer,
    StatsAnswer,
    SymbolsAnswer,
)
from depslice.server.desk import Desk
from depslice.server.session import GraphQuestion, Question, Session, Tell
from depslice.server.wording import client_hint, worded, worded_error
from depslice.slicer.model import GUESSES

_HEARTBEAT_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 0.05
_SHUTDOWN_SECONDS: Final = 2
_READ_ONLY: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_INSTRUCTIONS: Final = """\
Answers about one Python repository, which is read and never run. slice_function gives a
function with every definition it needs, and nothing else: ask for it before changing or
testing a function. Targets are pkg.mod:Class.method, a dotted name, path/to/file.py:LINE or
the end of a name; find_symbol tells which there are. Files may change between calls: answers
are made from the files as they are, and name earlier ones that no longer hold."""

_SYMBOLS: Final = 20
_CALLS: Final = 100
_SHOWN: Final = 60

AnswerT = TypeVar("AnswerT", bound=Answer)

Target = Annotated[
    str,
    Field(
        min_length=1,
        max_length=500,
        description="pkg.mod:Class.method, a dotted name, path/to/file.py:LINE or :name, "
        "or the end of a name that only one symbol has",
    ),
]
WholeClasses = Annotated[
    bool, Field(strict=True, description="keep all members of classes that are needed at all")
]


def serve_stdio(desk: Desk, *, name: str, version: str) -> None:
    """Serve on standard input and output, until the input ends or nobody reads the answers."""
    try:
        build_server(desk, name=name, version=version).run("stdio")
    except* BrokenPipeError:
        raise BrokenPipeError from None  # alone, as any command meets it


def serve_http(
    desk: Desk, *, name: str, version: str, host: str, port: int, announce: Callable[[str], None]
) -> None:
    """Serve streamable HTTP at ``/mcp``, until interrupted; ``announce`` is told the URL.

    Port 0 is any that is free.

    :raises OptionError: ``host`` is not this machine's loopback, or the port is taken.
    """
    address = _loopback(host)
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    try:
        listening = socket.create_server((str(address), port), family=family)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OptionError(f"cannot listen on {host} port {port}: {reason}") from None
    spelt = f"[{address}]" if address.version == 6 else str(address)
    # A page in the user's browser must not reach the server under a name of its own.
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{spelt}:*", "localhost:*"],
        allowed_origins=[f"http://{spelt}:*", "http://localhost:*"],
    )
    app = build_server(desk, name=name, version=version).streamable_http_app(
        host=str(address), transport_security=security
    )
    config = uvicorn.Config(
        app, log_level="warning", timeout_graceful_shutdown=_SHUTDOWN_SECONDS, ws="none"
    )
    with listening:
        announce(f"http://{spelt}:{listening.getsockname()[1]}/mcp")
        anyio.run(lambda: uvicorn.Server(config).serve(sockets=[listening]))


def _loopback(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        address = None
    if address is None or not address.is_loopback:
        raise OptionError(f"{host} is not a loopback address: 127.0.0.1, ::1 or localhost")
    return address


def build_server(desk: Desk, *, name: str, version: str) -> MCPServer[Any]:
    """The server with its tools, its resource and its prompt."""
    server = _Server(
        name="depslice",
        title=f"depslice: {name}",
        instructions=_INSTRUCTIONS,
        version=version,
        log_level="CRITICAL",
    )
    _add_tools(server, desk)
    _add_slices(server, desk)
    return server


class _Server(MCPServer[Any]):
    """Says in one way what is wrong with a call, and survives whatever that is."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> Any:
        """As the SDK's, with our errors."""
        known = {tool.name: tool.input_schema["properties"] for tool in await self.list_tools()}
        unknown = _unknown("tool", name, arguments, known)
        if unknown is not None:
            return _refused(unknown)
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError as error:
            if os.environ.get("DEPSLICE_DEBUG") == "1":
                raise
            return _refused(_Internal(_one_line(error.__cause__ or error)))
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                return _refused(OptionError(_misfit(error.__cause__)))
            return _refused(OptionError(_one_line(error)))

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: Context[Any, Any] | None = None,
    ) -> Any:
        """As the SDK's, which calls what is wrong with a question a fault of the server."""
        takes = {each.name: each.arguments or [] for each in await self.list_prompts()}
        names = {each: [argument.name for argument in takes[each]] for each in takes}
        given = arguments or {}
        unknown = _unknown("prompt", name, given, names)
        if unknown is not None:
            raise _invalid(unknown)
        for argument in takes[name]:
            if argument.required and argument.name not in given:
                raise _invalid(OptionError(f"{name} needs the argument {argument.name!r}"))
        return await super().get_prompt(name, arguments, context)


def _unknown(
    kind: str, name: str, given: Mapping[str, object], known: Mapping[str, Collection[str]]
) -> _Misnamed | None:
    """What is wrong with the ``name`` of what is asked or of an argument of it, if anything is."""
    if name not in known:
        return _misnamed(f"no {kind} is called", name, known)
    for argument in sorted(given.keys() - known[name]):
        return _misnamed(f"{name} takes no argument", argument, known[name])
    return None


def _misnamed(what: str, name: str, known: Collection[str]) -> _Misnamed:
    shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"  # whatever was sent comes back
    near = difflib.get_close_matches(shown, known, n=1) or list(known)
    return _Misnamed(f"{what} {shown!r}", candidates=tuple(near))


def _invalid(error: DepsliceError) -> MCPError:
    return MCPError(INVALID_PARAMS, _printable(worded_error(error)))


class _Misnamed(UnknownTarget):
    """There is no such tool, prompt or argument: no fault of a target, but of the question."""

    slug = "option"


class _Internal(DepsliceError):
    slug = "internal"
    exit_code = 3

    def __init__(self, cause: str) -> None:
        super().__init__(f"internal error: {cause}", hint="please report this")


# --- tools


def _add_tools(server: MCPServer[Any], desk: Desk) -> None:
    async def find_symbol(
        query: Target,
        ctx: Context[Any, Any],
        limit: Annotated[int, Field(strict=True, ge=1, le=100)] = _SYMBOLS,
    ) -> Annotated[CallToolResult, SymbolsAnswer]:
        """Which definitions of the repository a name, a dotted name or a place means."""
        return await _asked(
            desk,
            ctx,
            Question(
                label=_label("find_symbol", query, limit=None if limit == _SYMBOLS else limit),
                key=("find_symbol", query, limit),
                answer=lambda program: questions.find_symbols(program, query, limit=limit),
            ),
        )

    async def slice_function(
        target: Target,
        ctx: Context[Any, Any],
        depth: Annotated[
            int | None,
            Field(strict=True, ge=0, le=1000, description="at most so many references away"),
        ] = None,
        budget: Annotated[
            int | None,
            Field(
                strict=True,
                ge=1,
                le=200_000,
                description="at most so many tokens: farthest definitions become signatures, "
                "then names, then are left out; the target never is",
            ),
        ] = None,
        certainty: Annotated[
            Literal["definite", "likely", "possible"],
            Field(
                description="follow references at least so certain: likely (no guesses) and "
                "definite (no callbacks or overrides either) give less, and something may be missing"
            ),
        ] = "possible",
        guesses: Annotated[
            int | None,
            Field(
                strict=True,
                ge=0,
                le=1000,
                description="follow so many guesses in a row (which method of a receiver nobody "
                "knows is meant); null: any number, in large packages far more",
            ),
        ] = GUESSES,
        format: Annotated[  # noqa: A002 - the word users know
            Literal["bundle", "module"],
            Field(description="bundle: the files, cut, in one text. module: one file that runs"),
        ] = "bundle",
        strategy: Annotated[
            Literal["sliced", "naive", "full"],
            Field(description="the slice, the target alone, or its file and those it imports"),
        ] = "sliced",
        usages: Annotated[
            int,
            Field(strict=True, ge=0, le=20, description="add so many callers and tests of it"),
        ] = 0,
        whole_classes: WholeClasses = False,
    ) -> Annotated[CallToolResult, SliceAnswer]:
        """The code of a function, method, class or variable with every definition of the
        repository that it needs, directly or not, and nothing else.
        """
        options = questions.SliceOptions(
            depth=depth,
            budget=budget,
            certainty=certainty,
            guesses=guesses,
            format=format,
            strategy=strategy,
            usages=usages,
            whole_classes=whole_classes,
        )
        return await _asked(desk, ctx, _slice_question(target, options))

    async def slice_stats(
        target: Target, ctx: Context[Any, Any], whole_classes: WholeClasses = False
    ) -> Annotated[CallToolResult, StatsAnswer]:
        """How large the slice of a target is: definitions, distances, tokens, what is open."""
        return await _asked(
            desk,
            ctx,
            Question(
                label=_label("slice_stats", target, whole_classes=whole_classes),
                key=("slice_stats", target, whole_classes),
                answer=lambda program: questions.slice_stats(
                    program, target, whole_classes=whole_classes
                ),
            ),
        )

    async def explain_slice(
        target: Target,
        symbol: Target,
        ctx: Context[Any, Any],
        whole_classes: WholeClasses = False,
    ) -> Annotated[CallToolResult, ExplanationAnswer]:
        """Why a symbol is in the slice of a target: the chain of references, with their lines."""
        return await _asked(
            desk,
            ctx,
            Question(
                label=_label("explain_slice", target, symbol, whole_classes=whole_classes),
                key=("explain_slice", target, symbol, whole_classes),
                answer=lambda program: questions.explain_slice(
                    program, target, symbol, whole_classes=whole_classes
                ),
            ),
        )

    async def call_graph(
        target: Target,
        ctx: Context[Any, Any],
        direction: Literal["callees", "callers", "both"] = "callees",
        depth: Annotated[int, Field(strict=True, ge=1, le=100)] = 1,
        limit: Annotated[
            int,
            Field(strict=True, ge=1, le=2000, description="at most so many calls, nearest first"),
        ] = _CALLS,
        certainty: Annotated[
            Literal["definite", "likely", "possible"],
            Field(description="at least so certain; possible: also what is one of many"),
        ] = "likely",
        allow_stale: Annotated[
            bool,
            Field(
                strict=True,
                description="when files have changed, answer at once from the last graph, and "
                "name them, instead of making the graph of the whole repository anew",
            ),
        ] = False,
    ) -> Annotated[CallToolResult, CallsAnswer]:
        """What a definition calls, or what calls it, within some steps."""
        question = GraphQuestion(
            label=_label(
                "call_graph",
                target,
                direction,
                depth=None if depth == 1 else depth,
                limit=None if limit == _CALLS else limit,
                certainty=None if certainty == "likely" else certainty,
            ),
            key=("call_graph", target, direction, depth, limit, certainty),
            answer=lambda program, graph: questions.calls_around(
                program,
                graph,
                target,
                direction=direction,
                depth=depth,
                limit=limit,
                least=Certainty(certainty),
            ),
        )
        return await _result(
            desk, ctx, lambda s, tell: s.ask_graph(question, tell=tell, allow_stale=allow_stale)
        )

    for tool in (find_symbol, slice_function, call_graph, explain_slice, slice_stats):
        description = " ".join((tool.__doc__ or "").split())
        server.add_tool(
            tool, description=description, annotations=_READ_ONLY, structured_output=True
        )


def _add_slices(server: MCPServer[Any], desk: Desk) -> None:
    # Where a target leads is decided by `questions.named_symbol`, with a better message.
    unchecked = ResourceSecurity(exempt_params={"target"})

    @server.resource(
        "slice://{+target}",
        name="slice",
        title="Dependency slice",
        description="The slice of a target as one text of code; what is cut is told at its end",
        mime_type="text/x-python",
        security=unchecked,
    )
    async def read_slice(target: str, ctx: Context[Any, Any]) -> str:
        question = _slice_question(target, questions.SliceOptions())
        try:
            answer = await _answered(desk, ctx, lambda session, _: session.ask(question))
        except UnknownTarget as error:
            raise ResourceNotFoundError(_printable(worded_error(error))) from None
        except DepsliceError as error:
            raise ResourceError(_printable(worded_error(error))) from None
        return _commented(answer)

    @server.prompt(
        name="work_on_function",
        title="Work on a function with its dependencies at hand",
        description="A task about a function, with its dependency slice as context",
    )
    async def work_on_function(
        target: str, ctx: Context[Any, Any], task: str = "Explain what it does."
    ) -> str:
        question = _slice_question(target, questions.SliceOptions())
        try:
            answer = await _answered(desk, ctx, lambda session, _: session.ask(question))
        except DepsliceError as error:
            raise _invalid(error) from None
        return (
            f"{task}\n\nIt is about `{answer.target}`. Below is its dependency slice: each"
            " definition of the repository that it needs, under the paths of their files."
            f"\n\n```python\n{_commented(answer)}```\n"
        )


def _slice_question(target: str, options: questions.SliceOptions) -> Question[SliceAnswer]:
    usual = asdict(questions.SliceOptions())
    chosen = {name: value for name, value in asdict(options).items() if value != usual[name]}
    return Question(
        label=_label("slice_function", target, **chosen),
        key=("slice_function", target, options),
        answer=lambda program: questions.slice_function(program, target, options),
    )


def _label(tool: str, *named: str, **chosen: object) -> str:
    """How an answer is called later: its tool and its arguments, those that are as usual left out.

    >>> _label("slice_function", "a:f", budget=500, format="module")
    'slice_function a:f budget=500 format=module'
    """
    options = (
        f"{name}={str(value).lower() if value is True else value}"
        for name, value in chosen.items()
        if value is not None and value is not False
    )
    return " ".join((tool, *named, *options))


def _commented(answer: SliceAnswer) -> str:
    text, *notes = worded(answer)
    return text + "".join(f"# {line}\n" for note in notes for line in note.splitlines())


# --- from the desk to the client


async def _asked(desk: Desk, ctx: Context[Any, Any], question: Question[AnswerT]) -> CallToolResult:
    return await _result(desk, ctx, lambda session, _: session.ask(question))


async def _result(
    desk: Desk, ctx: Context[Any, Any], work: Callable[[Session, Tell], Answer]
) -> CallToolResult:
    try:
        answer = await _answered(desk, ctx, work)
    except DepsliceError as error:
        return _refused(error)
    return CallToolResult(
        content=[TextContent(type="text", text=text) for text in worded(answer)],
        structured_content=asdict(answer),
    )


async def _answered(
    desk: Desk, ctx: Context[Any, Any], work: Callable[[Session, Tell], AnswerT]
) -> AnswerT:
    """Do ``work`` at the desk, and tell the client meanwhile that it goes on."""
    stage = _Stage()
    future = desk.ask(lambda session: work(session, stage.tell))

    def wait() -> None:
        with suppress(CancelledError):
            future.exception()  # raised below, outside of the group

    async with anyio.create_task_group() as group:
        group.start_soon(stage.report, ctx)
        try:
            await anyio.to_thread.run_sync(wait, abandon_on_cancel=True)
        finally:
            desk.take_back(future)
            group.cancel_scope.cancel()
    return future.result()


class _Stage:
    """How far a question is: told by the desk, reported by the event loop.

    Progress counts seconds, since how many there will be is not known.
    """

    def __init__(self) -> None:
        self._message = "waiting"
        self._started = time.monotonic()

    def tell(self, what: str, done: int, total: int) -> None:
        self._message = f"{what} {done}/{total}" if total else what

    async def report(self, ctx: Context[Any, Any]) -> None:
        said, said_at = "", 0.0
        while True:
            now = time.monotonic()
            message = self._message
            if message != said or now - said_at >= _HEARTBEAT_SECONDS:
                said, said_at = message, now
                await ctx.report_progress(round(now - self._started, 3), None, message)
            await anyio.sleep(_LOOK_SECONDS)


def _refused(error: DepsliceError) -> CallToolResult:
    candidates = error.candidates if isinstance(error, UnknownTarget) else ()
    document = {
        "slug": error.slug,
        "message": _printable(error.message),
        "candidates": list(candidates),
        "hint": client_hint(error),
    }
    return CallToolResult(
        content=[TextContent(type="text", text=_printable(worded_error(error)))],
        structured_content={"error": document},
        is_error=True,
    )


def _misfit(error: ValidationError) -> str:
    """The first thing that is wrong with the arguments, in one line."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    given = _printable(repr(first["input"]))
    shown = given if len(given) <= 80 else f"{given[:77]}..."
    return f"{where}: {first['msg'].lower()} (given: {shown})"


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _printable(text: str) -> str:
    # JSON lets a lone surrogate in; UTF-8 does not let it out.
    return text.encode("utf-8", "backslashreplace").decode()
