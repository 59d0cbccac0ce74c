"""A model's endpoint in this process: real HTTP, with answers that a test has written."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the endpoint sends; ``cut`` breaks the connection so many bytes early."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int = 0


@dataclass(slots=True)
class Asked:
    """A request that came in."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass(slots=True)
class FakeProvider:
    """Where it is, and what it was asked."""

    url: str
    asked: list[Asked] = field(default_factory=list)


Script = Sequence[Reply] | Callable[[Asked], Reply]


def chat(text: str | None, *, reason: str = "stop", tokens: tuple[int, int] = (10, 5)) -> Reply:
    """A chat completion as OpenAI sends it."""
    choice = {
        "index": 0,
        "finish_reason": reason,
        "message": {"role": "assistant", "content": text},
    }
    usage = {
        "prompt_tokens": tokens[0],
        "completion_tokens": tokens[1],
        "total_tokens": sum(tokens),
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    document = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return as_json({**document, "choices": [choice], "usage": usage})


def message(text: str, *, reason: str = "end_turn") -> Reply:
    """A message as Anthropic sends it."""
    usage = {
        "input_tokens": 6,
        "output_tokens": 5,
        "cache_read_input_tokens": 4,
        "cache_creation_input_tokens": 0,
    }
    document = {"id": "m", "type": "message", "role": "assistant", "model": "m"}
    content = [{"type": "text", "text": text}]
    return as_json({**document, "content": content, "stop_reason": reason, "usage": usage})


def failure(status: int, said: str = "no", **headers: str) -> Reply:
    """An error as both send it. ``retry_after`` becomes the header ``retry-after``."""
    body = {"type": "error", "error": {"type": "some_error", "message": said}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return as_json(body, status=status, headers=named)


def as_json(document: object, **rest: Any) -> Reply:
    """A reply with a JSON body."""
    headers = {"content-type": "application/json", **rest.pop("headers", {})}
    return Reply(body=json.dumps(document).encode(), headers=headers, **rest)


@contextmanager
def serving(script: Script) -> Iterator[FakeProvider]:
    """Serve ``script``: replies one after the other (the last one again), or a function."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            asked = Asked(path=self.path, headers=dict(self.headers), body=json.loads(raw))
            with lock:
                provider.asked.append(asked)
                number = len(provider.asked) - 1
            reply = script(asked) if callable(script) else script[min(number, len(script) - 1)]
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(reply.body)))
            with suppress(ConnectionError):  # whoever asked was interrupted
                self.end_headers()
                self.wfile.write(reply.body[: len(reply.body) - reply.cut])
            if reply.cut:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider = FakeProvider(url=f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
