"""System calls that are refused inside: a seccomp filter, as bubblewrap takes it.

The namespaces already contain a program. What is refused here would get around the
*limits* (memory that belongs to no process), reach the supervisor (its limits, its
descriptors), or offer the kernel's least tried corners to code nobody vetted. A call that
is refused fails with EPERM; one of another architecture ends the program, because its
numbers mean other calls.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Mapping
from functools import cache
from typing import Final

# Numbers by architecture: x86_64, aarch64 (Linux, arch/x86/entry/syscalls/syscall_64.tbl and
# include/uapi/asm-generic/unistd.h).
_REFUSED: Final[Mapping[str, tuple[int, int]]] = {
    # Memory that no process owns, so that no limit counts it.
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    # Other processes: memory, descriptors.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    # Namespaces and mounts.
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    # Large parts of the kernel that a test harness has no use for.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "quotactl": (179, 60),
    "acct": (163, 89),
    "fanotify_init": (300, 262),
    "swapon": (167, 224),
    "kexec_load": (246, 104),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "reboot": (169, 142),
    "syslog": (103, 116),
    "vhangup": (153, 58),
}
_WHICH, _WHO = 16, 24  # places of the first two arguments in struct seccomp_data
# What a process may do to itself, but not to others: they would be the supervisor, which
# keeps the limits. With the arguments that mean the caller, by their low halves.
_OF_ONESELF: Final[Mapping[str, tuple[int, int, Mapping[int, int]]]] = {
    "prlimit64": (302, 261, {_WHICH: 0}),  # which is setrlimit, of oneself
    "sched_setparam": (142, 118, {_WHICH: 0}),
    "sched_setscheduler": (144, 119, {_WHICH: 0}),
    "sched_setaffinity": (203, 122, {_WHICH: 0}),
    "sched_setattr": (314, 274, {_WHICH: 0}),
    "migrate_pages": (256, 238, {_WHICH: 0}),
    "move_pages": (279, 239, {_WHICH: 0}),
    "setpriority": (141, 140, {_WHICH: 0, _WHO: 0}),  # not of a group or of all of the user
    "ioprio_set": (251, 30, {_WHICH: 1, _WHO: 0}),
}
_MACHINES: Final = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_X32: Final = 0x4000_0000

# Classic BPF (linux/bpf_common.h) over struct seccomp_data (linux/seccomp.h).
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE = 0, 4
_ALLOW, _KILL, _FAIL = 0x7FFF_0000, 0x8000_0000, 0x0005_0000 | errno.EPERM


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def filters(machine: str) -> bool:
    """Whether there is a filter for ``machine``."""
    return machine in _MACHINES


@cache
def filter_program(machine: str = platform.machine()) -> bytes:
    """The filter for ``machine``; one that allows everything where numbers are not known."""
    if not filters(machine):
        return _step(_RETURN, _ALLOW)
    column, architecture = _MACHINES[machine]
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_IF_EQUAL, architecture, yes=1),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        _step(_IF_AT_LEAST, _X32, no=1),
        _step(_RETURN, _KILL),
    ]
    for numbers in _REFUSED.values():
        steps += [_step(_IF_EQUAL, numbers[column], no=1), _step(_RETURN, _FAIL)]
    for first, second, arguments in _OF_ONESELF.values():
        steps += _allowed_with((first, second)[column], arguments)
    steps.append(_step(_RETURN, _ALLOW))
    return b"".join(steps)


def _allowed_with(number: int, arguments: Mapping[int, int]) -> list[bytes]:
    """Allow a call with these arguments alone; for another call nothing changes."""
    steps = [_step(_IF_EQUAL, number, no=2 * len(arguments) + 2)]
    for left, (place, value) in enumerate(reversed(list(arguments.items()))):
        steps[1:1] = [_step(_LOAD, place), _step(_IF_EQUAL, value, no=2 * left + 1)]
    return [*steps, _step(_RETURN, _ALLOW), _step(_RETURN, _FAIL)]
