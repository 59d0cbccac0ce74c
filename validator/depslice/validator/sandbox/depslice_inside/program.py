"""The program of a job: forked, within the limits that the kernel keeps.

It gets ``/dev/null``, two pipes for its output and, when it is ours, two for the message
channel, as descriptors 0 to 4; no other one is open in it.
"""

from __future__ import annotations

# `signal` would import `enum`, and `resource` has all of its limits in C.
import _signal as signal  # type: ignore[import-not-found]
import os
import resource

from .order import Order

_OUT_OF_THE_WAY = 32  # a number above all descriptors that the supervisor has by then


class Program:
    """A program that is being started, and this end of its pipes."""

    def __init__(self, order: Order) -> None:
        pipes = [os.pipe() for _ in range(5 if order.channel else 3)]
        (self.output, out), (self.errors, err), (self._failed, failed_end) = pipes[:3]
        given = [os.open(os.devnull, os.O_RDONLY), out, err]
        self.messages = self.into = -1
        if order.channel:
            (given_read, self.into), (self.messages, given_write) = pipes[3:]
            given += [given_read, given_write]
        self.pid = os.fork()
        if not self.pid:
            _become(order, given, failed_end)
        for descriptor in (*given, failed_end):
            os.close(descriptor)

    def why_not_started(self) -> str:
        """Wait until it runs, which is nothing; or why it does not."""
        with open(self._failed, "rb") as file:
            return file.read().decode("utf-8", "replace")


def _become(order: Order, given: list[int], failed: int) -> None:
    """In the fork: become the program. Never returns."""
    try:
        os.setsid()
        # First out of the way of the numbers that they will have, then to them.
        high = [
            os.dup2(descriptor, _OUT_OF_THE_WAY + number, inheritable=False)
            for number, descriptor in enumerate((*given, failed))
        ]
        for number, descriptor in enumerate(high[:-1]):
            os.dup2(descriptor, number)
        os.dup2(high[-1], len(given), inheritable=False)
        os.closerange(len(given) + 1, 1 << 16)
        failed = len(given)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        _limit(order.limits)
        os.chdir(order.folder)
        places = {"HOME": order.folder, "TMPDIR": order.folder}
        os.execve(order.argv[0], order.argv, places | order.environment)
    except OSError as error:
        os.write(failed, f"{order.argv[0]}: {error.strerror}".encode())
    except BaseException as error:  # noqa: BLE001 - told to the host, whatever it is
        os.write(failed, f"{order.argv[0]}: {error!r}".encode())
    finally:
        os._exit(127)


def _limit(limits: dict[str, float]) -> None:
    """Set the limits that the kernel keeps, on this process and all that it starts."""
    most = {
        resource.RLIMIT_AS: 2 * limits["memory_bytes"] + (1 << 30),
        resource.RLIMIT_NOFILE: limits["open_files"],
        resource.RLIMIT_FSIZE: limits["file_bytes"],
        resource.RLIMIT_CORE: 0,
        # Processes of all the user are counted: those of this sandbox, where it has a user
        # namespace; the supervisor is one of them.
        resource.RLIMIT_NPROC: limits["processes"] + 1,
    }
    for name in ("RLIMIT_MSGQUEUE", "RLIMIT_MEMLOCK"):
        if hasattr(resource, name):
            most[getattr(resource, name)] = 1 << 16
    for kind, value in most.items():
        hard = resource.getrlimit(kind)[1]
        number = int(value) if hard == resource.RLIM_INFINITY else min(int(value), hard)
        resource.setrlimit(kind, (number, number))
    seconds = int(limits["cpu_seconds"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
