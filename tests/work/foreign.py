"""Functions that a subprocess imports by name: well-behaved and otherwise."""

import asyncio
import contextlib
import ctypes
import importlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from pydantic import BaseModel

from mnemon.errors import NotFound
from mnemon.work.errors import JobPostponed, LeaseLost
from mnemon.work.isolate import run_isolated
from mnemon.work.job import Job
from mnemon.work.kinds import Backoff, Isolation, JobKind


class Text(BaseModel):
    text: str
    note: str = ""


class Count(BaseModel):
    letters: int
    process: int


def count(request: Text) -> Count:
    print("a library that prints")  # noqa: T201
    os.write(1, b"even past Python")
    return Count(letters=len(request.text), process=os.getpid())


def leak(request: Text) -> Count:
    hoard = []
    while True:
        hoard.append(bytearray(16 << 20))


def hang(request: Text) -> Count:
    """Hangs with a child of its own, after leaving both process ids where it was told."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(request.text).write_text(f"{os.getpid()} {child.pid}")
    while True:
        time.sleep(1)


def crash(request: Text) -> Count:
    os.kill(os.getpid(), signal.SIGSEGV)
    raise AssertionError


def leave(request: Text) -> Count:
    os._exit(3)


def miss(request: Text) -> Count:
    raise NotFound(f"No {request.text}.", name=request.text)


def stumble(request: Text) -> Count:
    raise ValueError("stumbled")


def lie(request: Text) -> Count:
    return {"letters": "many"}


def secrets(request: Text) -> dict[str, str]:
    return dict(os.environ)


def parent(request: Text) -> int:
    return os.getppid()


def niceness(request: Text) -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


LEFT_BEHIND: list[str] = []


def remember(request: Text) -> list[str]:
    """What earlier calls left in this process: variables, modules' state, files, the environment."""
    seen = [*LEFT_BEHIND, os.environ.get("LEFT_BEHIND", ""), getattr(sys, "left_behind", "")]
    LEFT_BEHIND.append(request.text)
    sys.left_behind = os.environ["LEFT_BEHIND"] = request.text
    os.chdir("/")
    return [one for one in seen if one]


def reach_out(request: Text) -> str:
    """Ask for the network, and for the memory of the process that will fork the next reader."""
    for attempt in (lambda: socket.create_connection(("127.0.0.1", int(request.text)), 5), _trace_parent):
        with contextlib.suppress(PermissionError):
            attempt()
            return "reached"
    return "refused"


def _trace_parent() -> None:
    attach = 16
    if ctypes.CDLL(None, use_errno=True).ptrace(attach, os.getppid(), None, None):
        raise PermissionError(ctypes.get_errno())


def open_places(request: Text) -> list[int]:
    return sorted(int(one.name) for one in Path("/proc/self/fd").iterdir() if one.exists())


def kill_parent(request: Text) -> Count:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)
    raise AssertionError


def spin(request: Text) -> Count:
    while True:
        pass


def forge(request: Text) -> Count:
    """What a process that a hostile file has taken over may answer: an error of no form, wherever the answer goes."""
    for place in range(3, 16):
        with contextlib.suppress(OSError):
            os.write(place, request.text.encode())
    os._exit(0)


ISOLATED = JobKind("test.isolated", Text, attempts=2, time_limit=600, backoff=Backoff(0, 0), isolation=Isolation(512))


@ISOLATED.handler
async def run(job: Job[Text]) -> None:
    if job.payload.text == "die" and job.attempt == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if job.payload.text == "wait" and not Path(job.payload.note).exists():
        Path(job.payload.note).touch()
        raise JobPostponed(0)
    if job.payload.text == "leak":
        leak(job.payload)
    with job.stage("think"):
        pass
    async with job.transaction() as tx:
        await job.finish(tx, {"process": os.getpid()})
    if job.payload.text == "twice":
        try:
            async with job.transaction() as tx:
                await job.finish(tx, {"process": 0})
        except LeaseLost:
            return
        raise AssertionError("finished twice")


if __name__ == "__main__":
    # A worker whose reader hangs.
    foreign = importlib.import_module("foreign")
    asyncio.run(run_isolated(foreign.hang, foreign.Text(text=sys.argv[1])))
