"""Runs the steps of a build one by one, with a way to the registry.

    python -I -S -c "import sys; sys.path.insert(0, sys.argv[1]); from depslice_inside import
    building; building.main(sys.argv[2])" FOLDER DOOR

It has the message channel. A message ``{"argv": [...], "environment": {...}}`` is a step;
the answer is ``{"code": N}``. What steps say goes to standard output. DOOR is a Unix socket
that an HTTP proxy listens on, or empty; steps reach it at a port of the loopback interface.
"""

from __future__ import annotations

import os
import socket
import subprocess
import threading

from .channel import Channel

_SECONDS = 600.0


def main(door: str) -> None:
    """Run what is asked for, until there is no more."""
    channel = Channel()
    proxy = {}
    if door:
        address = f"http://127.0.0.1:{open_forwarder(door)}"
        proxy = dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"), address)
    for step in iter(channel.receive, None):
        try:
            done = subprocess.run(
                step["argv"],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.STDOUT,
                env=dict(os.environ) | proxy | step["environment"],
                check=False,
            )
        except OSError as error:
            channel.send({"code": 127, "error": str(error)})
        else:
            channel.send({"code": done.returncode})


def open_forwarder(door: str) -> int:
    """Listen on a port of the loopback interface; whatever comes goes to ``door``."""
    server = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=_serve, args=(server, door), daemon=True).start()
    return int(server.getsockname()[1])


def _serve(server: socket.socket, door: str) -> None:
    while True:
        client, _ = server.accept()
        threading.Thread(target=_forward, args=(client, door), daemon=True).start()


def _forward(client: socket.socket, door: str) -> None:
    remote = socket.socket(socket.AF_UNIX)
    try:
        remote.connect(door)
        back = threading.Thread(target=_pass_on, args=(remote, client), daemon=True)
        back.start()
        _pass_on(client, remote)
        back.join(_SECONDS)
    except OSError:
        pass
    finally:
        client.close()
        remote.close()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
