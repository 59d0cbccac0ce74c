"""The only network that a build has: a door to the registry, which opens to nobody else.

Inside the sandbox there is no network but a loopback interface of its own. A forwarder
there takes what a client of HTTPS proxies says to a Unix socket, and here each request to
connect is looked at: hosts of the registry are let through, to their TLS port; the client
checks their certificates itself. Names are looked up here, so none can be asked for.
"""

from __future__ import annotations

import contextlib
import re
import selectors
import socket
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

DEFAULT_HOSTS: Final = ("pypi.org", "files.pythonhosted.org")
_CONNECT: Final = re.compile(rb"CONNECT ([A-Za-z0-9.-]+):(\d+) HTTP/1\.[01]\r\n")
_HEAD_MOST: Final = 1 << 14
_SECONDS: Final = 60.0
INDEX_VARIABLES: Final = (
    "UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS",
    "SSL_CERT_FILE",
)  # fmt: skip
"""Settings of uv's that say where packages come from; builds get these and no others."""


def index_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The :data:`INDEX_VARIABLES` that are set."""
    return {name: environment[name] for name in INDEX_VARIABLES if environment.get(name)}


def index_places(settings: Mapping[str, str]) -> tuple[frozenset[tuple[str, int]], list[Path]]:
    """Hosts with their ports that builds may talk to, and local folders they may read."""
    hosts = {(name, 443) for name in DEFAULT_HOSTS}
    folders = []
    for value in settings.values():
        for each in re.split(r"[\s,]+", value):
            place = each.partition("=")[2] if re.match(r"[\w-]+=", each) else each
            url = urlsplit(place)
            if url.scheme == "https" and url.hostname:
                hosts.add((url.hostname, url.port or 443))
            elif url.scheme == "file" or place.startswith("/"):
                folders.append(Path(url.path))
    return frozenset(hosts), [folder for folder in folders if folder.exists()]


@contextlib.contextmanager
def registry_door(path: Path, hosts: frozenset[tuple[str, int]]) -> Iterator[list[str]]:
    """Serve on a Unix socket at ``path``; gives a list of what was refused."""
    refused: list[str] = []
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        path.chmod(0o666)
        server.listen(128)
        threading.Thread(target=_serve, args=(server, hosts, refused), daemon=True).start()
        try:
            yield refused
        finally:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            path.unlink(missing_ok=True)


def _serve(server: socket.socket, hosts: frozenset[tuple[str, int]], refused: list[str]) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_answer, args=(client, hosts, refused), daemon=True).start()


def _answer(client: socket.socket, hosts: frozenset[tuple[str, int]], refused: list[str]) -> None:
    with client:
        client.settimeout(_SECONDS)
        try:
            asked = _read_head(client)
            if asked not in hosts:
                refused.append(f"{asked[0]}:{asked[1]}" if asked else "not a request to connect")
                client.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")
                return
            try:
                remote = socket.create_connection(asked, _SECONDS)
            except OSError:
                client.sendall(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")
                return
            with remote:
                client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                join(client, remote)
        except OSError:
            return


def _read_head(client: socket.socket) -> tuple[str, int] | None:
    head = bytearray()
    while b"\r\n\r\n" not in head:
        data = client.recv(4096)
        if not data or len(head) > _HEAD_MOST:
            return None
        head += data
    found = _CONNECT.match(head)
    return (found[1].decode().lower(), int(found[2])) if found else None


def join(first: socket.socket, second: socket.socket) -> None:
    """Pass on what each says to the other, until one of them ends."""
    with selectors.DefaultSelector() as selector:
        selector.register(first, selectors.EVENT_READ, second)
        selector.register(second, selectors.EVENT_READ, first)
        while events := selector.select(_SECONDS):
            for key, _ in events:
                assert isinstance(key.fileobj, socket.socket)
                data = key.fileobj.recv(1 << 16)
                if not data:
                    return
                key.data.sendall(data)
