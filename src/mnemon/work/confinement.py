"""Limits that a process takes upon itself and that the kernel enforces, even on code that never returns to Python."""

import contextlib
import ctypes
import math
import os
import platform
import resource
import signal
import struct

# Options of prctl.
DIE_WITH_PARENT, USE_FILTER, NO_NEW_PRIVILEGES = 1, 22, 38
FILTER_MODE = 2
# The caller's own limit comes first; this one is for a process whose caller is gone.
GRACE_SECONDS = 5.0
# As bulk embedding: whoever waits for an answer of the server comes first.
NICENESS = 10

# By machine: its number in the kernel's audit, and the numbers of socket, ptrace, process_vm_readv, process_vm_writev,
# io_uring_setup and pidfd_getfd. Without these a process reaches no network and no other process's memory or files.
REFUSED_CALLS = {
    "x86_64": (0xC000003E, (41, 101, 310, 311, 425, 438)),
    "aarch64": (0xC00000B7, (198, 117, 270, 271, 425, 438)),
}
# Numbers from here on are x86's second set of the same calls.
SECOND_SET = 0x40000000
LOAD, IF_EQUAL, IF_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 1  # EPERM


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def confine(memory_mb: int, seconds: float, network: bool, cpu_seconds: float | None = None) -> None:
    """Of this process and all that it starts: so much memory each, so much time, no network unless allowed.

    Who uses up `cpu_seconds` of processor time is ended by SIGXCPU: however idle the machine, it would need them again.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    most = memory_mb << 20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    longest = math.ceil(cpu_seconds or (seconds + GRACE_SECONDS) * (os.cpu_count() or 1))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (longest, longest + 1))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS)
    os.setpriority(os.PRIO_PROCESS, 0, max(NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))
    if not network:
        _refuse_calls()


def _refuse_calls() -> None:
    """A filter of system calls, for good. Where the kernel has none (macOS, a strange machine) the rest must do."""
    audit, numbers = REFUSED_CALLS.get(platform.machine(), (0, ()))
    if not numbers or platform.system() != "Linux":
        return
    # Offsets count from the next instruction: the last one refuses, the one before it allows.
    left = len(numbers)
    steps = [
        (LOAD, 0, 0, 4),
        (IF_EQUAL, 0, left + 3, audit),
        (LOAD, 0, 0, 0),
        (IF_AT_LEAST, left + 1, 0, SECOND_SET),
        *((IF_EQUAL, left - at, 0, number) for at, number in enumerate(numbers)),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE),
    ]
    text = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = _Program(len(steps), ctypes.addressof(text))
    with contextlib.suppress(OSError, AttributeError):
        prctl = ctypes.CDLL(None).prctl
        prctl(NO_NEW_PRIVILEGES, *map(ctypes.c_ulong, (1, 0, 0, 0)))
        prctl(USE_FILTER, ctypes.c_ulong(FILTER_MODE), ctypes.byref(program))
