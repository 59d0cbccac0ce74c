"""Local models faster: llama.cpp, built for the processor of this machine.

    python benchmarks/native_llama.py FOLDER
    PYTHONPATH=FOLDER python benchmarks/strategies.py --model local:FILE.gguf --concurrency 8 …

The wheel of ``xllamacpp`` runs on any processor of the last ten years, and so leaves out what
newer ones do for numbers of 8 bits. This fetches the sources of the very version that is
installed, builds their ``llama-server`` (CMake, a C++ compiler; ten minutes on two cores), and
writes a module of the name ``xllamacpp`` beside it, with the part of the wheel's that depslice
uses. What a model answers is the same but for rounding.

``NATIVE_THREADS`` is the number of threads, 1 without it; ``NATIVE_ARGUMENTS`` is given to the
server. Several answers at a time (``--concurrency``) cost little more than one: the kernels take
rows of a matrix by fours. On processors without AVX-512, 16 at a time and
``NATIVE_ARGUMENTS=--no-repack`` do best: the kernels that this leaves take rows by sixteens.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Final

OPTIONS: Final = (
    *("-DCMAKE_BUILD_TYPE=Release", "-DGGML_NATIVE=ON", "-DBUILD_SHARED_LIBS=OFF"),
    *("-DLLAMA_CURL=OFF", "-DLLAMA_OPENSSL=OFF"),
    *("-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF"),
)
STAND_IN: Final = '''\
"""Stands in for the wheel; written by depslice's benchmarks/native_llama.py."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from types import SimpleNamespace

_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "llama-server")


class CommonParams(SimpleNamespace):
    def __init__(self):
        empty = SimpleNamespace
        super().__init__(model=empty(), cpuparams=empty(), cpuparams_batch=empty())


def _end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Server:
    def __init__(self, parameters):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        threads = os.environ.get("NATIVE_THREADS") or str(parameters.cpuparams.n_threads)
        command = [
            *(_PROGRAM, "--model", parameters.model.path, "--ctx-size", str(parameters.n_ctx)),
            *("--parallel", str(parameters.n_parallel), "--threads", threads),
            *("--threads-batch", threads, "--host", "127.0.0.1", "--port", str(port), "--no-webui"),
            *os.environ.get("NATIVE_ARGUMENTS", "").split(),
        ]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            env={**os.environ, "LLAMA_API_KEY": parameters.api_keys[0]},
            preexec_fn=_end_with_parent,
        )
        self.listening_address = f"http://127.0.0.1:{port}"
        while self.process.poll() is None:
            try:
                urllib.request.urlopen(self.listening_address + "/health", timeout=5).close()
            except OSError:
                time.sleep(0.3)
            else:
                return
        raise SystemExit("error: llama-server has ended")
'''


def main() -> None:
    """Fetch, build, and write the module."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "llama-server"
    if not program.exists():
        shutil.copy2(build(fetch(folder / "sources")), program)
    (folder / "xllamacpp.py").write_text(STAND_IN, encoding="utf-8")
    print(f"PYTHONPATH={folder}")


def fetch(folder: Path) -> Path:
    """The unpacked sources of llama.cpp, of the version that is installed."""
    if not folder.exists():
        named = f"xllamacpp=={version('xllamacpp')}"
        with tempfile.TemporaryDirectory() as place:
            command = [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
                *("--no-binary", "xllamacpp", "--dest", place, named),
            ]
            subprocess.run(command, check=True)
            [archive] = Path(place).glob("*.tar.gz")
            with tarfile.open(archive) as opened:
                opened.extractall(folder, filter="data")
    [found_folder] = folder.glob("*/thirdparty/llama.cpp")
    return found_folder


def build(sources: Path) -> Path:
    """The server's program."""
    into = sources / "build-native"
    subprocess.run(["cmake", "-S", str(sources), "-B", str(into), *OPTIONS], check=True)
    command = ["cmake", "--build", str(into), "--target", "llama-server", "--parallel"]
    subprocess.run(command, check=True)
    return into / "bin" / "llama-server"


if __name__ == "__main__":
    main()
