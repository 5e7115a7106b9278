"""The processes of the storm: a server and workers with a home of their own, killed and started again."""

import asyncio
import contextlib
import ctypes
import os
import random
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import httpx

from mnemon.app import open_mnemon
from mnemon.db.cluster import locate, running_postmaster
from mnemon.identity.roles import Role
from mnemon.identity.tenants import add_tenant
from mnemon.log.events import Actor
from mnemon.settings import Settings
from tests.api.conftest import person
from tests.storm.chronicle import Chronicle

FAKETIME = (
    Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"),
    Path("/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1"),
)
DISK_MB = 700
# Of a machine ten times slower than ours.
PATIENCE = 900.0
LEASE_SECONDS = "6"
SETTER_UP = Actor("system", "operator:storm")


@dataclass(frozen=True)
class Somebody:
    """A tenant, and the headers of its administrator."""

    tenant: UUID
    headers: dict[str, str]


@dataclass
class Stage:
    """Where it happens."""

    folder: Path
    workers: int = 1
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    own_disk: bool = False
    port: int = 0
    stopping: bool = False
    # How long the server took from its first start until it was ready.
    started_in: float = 0.0
    chronicle: Chronicle = field(default_factory=Chronicle)

    def __post_init__(self) -> None:
        self.home = self.folder / "home"
        self.home.mkdir()
        self.own_disk = _mount(self.home)
        self.home.chmod(0o755)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.clock = self.folder / "clock"
        self.clock.write_text("+0")
        self.clock_library = next((one for one in FAKETIME if one.exists()), None)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def environment(self, name: str) -> dict[str, str]:
        plain = {name: value for name, value in os.environ.items() if not name.startswith("MNEMON_")}
        plain |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "MNEMON_HOME": str(self.home)}
        plain |= {"MNEMON_EMBEDDER": "none", "MNEMON_WORKER_LEASE_SECONDS": LEASE_SECONDS}
        # What became of each job is in the worker's log; the server's would tell of every hostile request.
        plain |= {"MNEMON_LOG_LEVEL": "ERROR" if name == "server" else "INFO"}
        plain |= {"MNEMON_WORKER_INSIDE": "false", "MNEMON_JWT_EXPIRY_HOURS": "8760", "MNEMON_HEADER_SECONDS": "2"}
        # Below what the hostile tenant asks for, so that it is refused, and above what a client does.
        plain |= {"MNEMON_QUOTA_SEARCHES": "600", "MNEMON_QUOTA_UPLOADS": "120"}
        if self.clock_library:
            plain |= {"LD_PRELOAD": str(self.clock_library), "FAKETIME_TIMESTAMP_FILE": str(self.clock)}
            # Read anew each second: at every look at the clock it would slow everything down a hundredfold.
            plain |= {"FAKETIME_CACHE_DURATION": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        return plain

    def start(self, name: str) -> None:
        words = ["serve", "--port", str(self.port), "--json"] if name == "server" else ["work"]
        self.chronicle.note(f"{name} is started")
        with (self.folder / f"{name}.out").open("ab") as out:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", "mnemon", *words], env=self.environment(name), stdout=out, stderr=out
            )

    async def up(self, patience: float = PATIENCE) -> None:
        """Until the server answers that it is ready."""
        began = time.monotonic()
        deadline = began + patience
        async with httpx.AsyncClient(base_url=self.url, timeout=5) as client:
            while time.monotonic() < deadline:
                with contextlib.suppress(httpx.HTTPError):
                    if (await client.get("/ready")).status_code == 200:
                        self.started_in = self.started_in or time.monotonic() - began
                        return
                self.restart_dead()
                await asyncio.sleep(0.2)
        raise RuntimeError(f"The server is not ready after {patience:g} s: {self.said('server')[-2000:]}")

    def said(self, name: str) -> str:
        return (self.folder / f"{name}.out").read_text(errors="replace")

    def restart_dead(self) -> None:
        for name in self.names:
            process = self.processes.get(name)
            if not self.stopping and (process is None or process.poll() is not None):
                if process is not None and process.returncode != -signal.SIGKILL:
                    self.chronicle.note(f"{name} had ended with {process.returncode}")
                self.start(name)

    @property
    def names(self) -> list[str]:
        return ["server", *(f"worker-{number}" for number in range(self.workers))]

    def pids(self) -> dict[str, int]:
        return {name: process.pid for name, process in self.processes.items()}

    def kill(self, name: str) -> None:
        self.processes[name].kill()
        self.processes[name].wait()

    def postgres_processes(self) -> dict[int, str]:
        """Every process of the database, by what it is."""
        postmaster = running_postmaster(locate(self.home))
        if postmaster is None:
            return {}
        found = {postmaster: "postmaster"}
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError, IndexError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == postmaster:
                    words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    found[int(entry.name)] = words.partition(":")[2].strip().split("(")[0].strip() or "backend"
        return found

    def keeper(self) -> int | None:
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if b"mnemon.db.keeper" in words and str(self.home).encode() in words:
                    return int(entry.name)
        return None

    async def people(self, *names: str) -> list[Somebody]:
        """An administrator for each of some new tenants, before anything else runs."""
        settings = Settings(home=self.home, embedder="none", jwt_expiry_hours=8_760, database_linger_seconds=0)
        found = []
        async with open_mnemon(settings) as mnemon:
            for name in names:
                async with mnemon.database.owner() as owner, owner.transaction():
                    tenant, _ = await add_tenant(mnemon.log, owner, SETTER_UP, name, name)
                made = await person(mnemon, tenant.tenant_id, Role.ADMIN, f"someone@{name}.example")
                found.append(Somebody(tenant.tenant_id, made.headers))
        return found

    def stop(self) -> None:
        self.stopping = True
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(30)
            process.kill()

    def clear(self) -> None:
        """After the database is down: it goes when nobody uses it."""
        deadline = time.monotonic() + 60
        while running_postmaster(locate(self.home)) and time.monotonic() < deadline:
            time.sleep(0.2)
        if self.own_disk:
            subprocess.run(["umount", "-l", str(self.home)], check=False)


def _mount(home: Path) -> bool:
    """A small disk of its own, so that it can be full; needs a right that not everyone has."""
    library = ctypes.CDLL(None, use_errno=True)
    size = f"size={DISK_MB}m".encode()
    return bool(library.mount(b"tmpfs", str(home).encode(), b"tmpfs", 0, size) == 0)


def stopped_for(pids: list[int], seconds: float) -> "asyncio.Task[None]":
    """Processes that write to the disk stand still for a while, as behind a slow one."""

    async def pause() -> None:
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            if number == signal.SIGSTOP:
                await asyncio.sleep(seconds)

    return asyncio.create_task(pause())


def pick(choice: random.Random, found: dict[int, str]) -> tuple[int, str]:
    """A kind of process first, so that the many backends are not all that ever dies."""
    kind = choice.choice(sorted(set(found.values())))
    return choice.choice([pid for pid, name in found.items() if name == kind]), kind
