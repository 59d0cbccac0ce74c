"""A model file served by a process of our own, for as long as it is needed."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Final

from depslice.llm.port import Completion, ModelUnavailable
from depslice.llm.prices import FREE
from depslice.llm.providers.endpoint import Endpoint
from depslice.llm.providers.openai_source import OpenAISource
from depslice.llm.request import Request

_SERVER: Final = Path(__file__).with_name("llama_server.py")
_SAMPLE: Final = 1 << 20
_MAGIC: Final = b"GGUF"
_STARTING: Final = 300.0


def local_name(path: Path) -> str:
    """``local:FILE#DIGEST``: a model is known by its content, wherever its file lies.

    The digest is that of size, first and last mebibyte: names, shapes and some weights.

    :raises ModelUnavailable: there is no such file, or it is no GGUF.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_SAMPLE)
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _SAMPLE))
            tail = file.read()
    except OSError as error:
        raise ModelUnavailable(f"{path}: {(error.strerror or str(error)).lower()}") from None
    if not head.startswith(_MAGIC):
        raise ModelUnavailable(f"{path} is no GGUF file")
    digest = hashlib.sha256(head + tail + str(size).encode()).hexdigest()
    return f"local:{path.name}#{digest[:12]}"


class LocalSource:
    """Starts the server when the first request comes, and ends it in :meth:`close`.

    The server also ends when this process does, however that happens: it reads from a pipe
    that only this process writes to.
    """

    def __init__(
        self, name: str, path: Path, *, threads: int, context: int, slots: int, timeout: float
    ) -> None:
        self.name = name
        self._path = path
        self._settings = {"threads": threads, "context": context * slots, "slots": slots}
        self._timeout = timeout
        self._starting = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._source: OpenAISource | None = None

    def ask(self, request: Request) -> Completion:
        """See :class:`~depslice.llm.request.Source`.

        :raises ModelUnavailable: it does not start, or has ended.
        """
        with self._starting:
            if self._process is not None and self._process.poll() is not None:
                raise ModelUnavailable(f"{self.name}: its server has ended (out of memory?)")
            source = self._source = self._source or self._start()
        return source.ask(request)

    def close(self) -> None:
        """End the server."""
        if self._source is not None:
            self._source.close()
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            atexit.unregister(self.close)

    def _start(self) -> OpenAISource:
        if find_spec("xllamacpp") is None:
            raise ModelUnavailable(
                "local models need the package xllamacpp, which is not installed",
                hint="pip install 'depslice[local]'",
            )
        key = secrets.token_urlsafe()
        with tempfile.TemporaryFile() as log:
            self._process = _spawn(log)
            atexit.register(self.close)
            url = _hand_over(
                self._process, {"model": str(self._path), "key": key, **self._settings}
            )
            if not url:
                self.close()
                log.seek(0)
                raise ModelUnavailable(f"{self.name} does not start: {_last_line(log)}")
        endpoint = Endpoint(url=f"{url}/v1", model=self.name, key=key, timeout=self._timeout)
        return OpenAISource(self.name, endpoint, FREE)


def _spawn(log: IO[bytes]) -> subprocess.Popen[bytes]:
    # -P: the folder of the script has modules of names that others have too.
    return subprocess.Popen(
        [sys.executable, "-P", str(_SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
    )


def _hand_over(process: subprocess.Popen[bytes], settings: dict[str, Any]) -> str:
    """Say what to serve; the address that comes back, or nothing."""
    assert process.stdin is not None
    assert process.stdout is not None
    watch = threading.Timer(_STARTING, process.kill)
    watch.start()
    try:
        process.stdin.write(json.dumps(settings).encode() + b"\n")
        process.stdin.flush()
        return process.stdout.readline().decode().strip()
    except OSError:
        return ""
    finally:
        watch.cancel()


def _last_line(log: IO[bytes]) -> str:
    lines = log.read().decode(errors="replace").strip().splitlines()
    failures = [line for line in lines if "error" in line.lower()] or lines or ["it says nothing"]
    return failures[-1].strip()[:300]
