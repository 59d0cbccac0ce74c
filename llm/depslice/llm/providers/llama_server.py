"""A program, never imported: serves a model file over HTTP on this machine (xllamacpp).

Reads one line of JSON (``model``, ``key``, ``threads``, ``context``, ``slots``), writes one
line with its address, and ends when its standard input does, or its parent.
"""

import json
import os
import select
import signal
import sys


def main() -> None:
    parent = os.getppid()
    # An interrupt of the terminal is for the parent. It decides, and closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settings = json.loads(sys.stdin.buffer.readline())

    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = settings["model"]
    parameters.n_ctx = settings["context"]
    parameters.n_parallel = settings["slots"]
    parameters.cpuparams.n_threads = settings["threads"]
    parameters.cpuparams_batch.n_threads = settings["threads"]
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0  # a free one
    parameters.api_keys = [settings["key"]]
    parameters.ui = False
    server = xllamacpp.Server(parameters)
    sys.stdout.write(server.listening_address + "\n")
    sys.stdout.flush()
    while os.getppid() == parent:
        readable, _, _ = select.select([sys.stdin.buffer], [], [], 1.0)
        if readable and not os.read(sys.stdin.fileno(), 1):
            break
    # The server's threads would finish what they are at.
    os._exit(0)


if __name__ == "__main__":
    main()
