"""What happened when: the faults, the processes, what a client saw of its file and what the worker said of its job."""

import asyncio
import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

LOOKED_EVERY = 0.2
# Below this the disk counts as full.
LITTLE_ROOM = 20 << 20
# What a worker says that is about everyone.
ABOUT_ALL = frozenset({"worker_started", "worker_stopped", "worker_stuck", "database_lost", "database_back"})
TOLD = ("kind", "status", "attempt", "duration_ms", "queue_wait_ms", "error_code", "error", "by", "locked_by")
BEFORE_SECONDS = 10.0
LONGEST_NOTE = 200
READY = "the server is ready"
SHARES = {"p50": 0.5, "p95": 0.95, "worst": 1.0}


@dataclass(frozen=True)
class Happening:
    at: float
    what: str
    # The run or job that it is about, or everyone.
    about: str | None = None


@dataclass(frozen=True)
class Wait:
    """Of one file, from its acknowledgement to its end."""

    run: str
    began: float
    seconds: float


@dataclass
class Chronicle:
    """By a clock of its own, that never jumps: what processes write into their logs has the time of theirs."""

    happenings: list[Happening] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    jobs: dict[str, str] = field(default_factory=dict)
    # When which process had stood in line for a processor since the last look, and for how long.
    lines: list[tuple[float, str, float]] = field(default_factory=list)
    _stood: dict[int, float] = field(default_factory=dict)

    def note(self, what: str, about: str | None = None) -> None:
        self.happenings.append(Happening(time.monotonic(), what, about))

    def spread(self) -> dict[str, float]:
        """How long files waited: half of them at most so long, nineteen of twenty, and all."""
        seconds = sorted(one.seconds for one in self.waits)
        at = {name: int(share * len(seconds)) for name, share in SHARES.items()}
        return {name: round(seconds[min(place, len(seconds) - 1)], 2) if seconds else 0.0 for name, place in at.items()}

    def longest(self, most: int) -> list[Wait]:
        return sorted(self.waits, key=lambda one: -one.seconds)[:most]

    def longest_without_server(self) -> float:
        """From a fault, or the start of a server, until it said that it is ready."""
        longest, since = 0.0, None
        for one in self.happenings:
            if one.what == READY and since is not None:
                longest, since = max(longest, one.at - since), None
            elif since is None and (one.what.startswith("FAULT") or one.what == "server is started"):
                since = one.at
        return round(longest, 2)

    def story(self, wait: Wait) -> list[str]:
        """Everything that was about this file or about everyone, in the seconds before and while it waited."""
        mine = {None, wait.run, self.jobs.get(wait.run)}
        until = wait.began + wait.seconds
        told = [
            f"{one.at - wait.began:+8.1f} s  {one.what}"
            for one in self.happenings
            if one.about in mine and wait.began - BEFORE_SECONDS <= one.at <= until + 1
        ]
        stood = self.stood_in_line(wait.began, until)
        return told + [f"meanwhile {name} stood in line for a processor for {s:.1f} s" for name, s in stood.items()]

    def stood_in_line(self, since: float, until: float) -> dict[str, float]:
        """How long each process was ready to go on and had no processor."""
        found: dict[str, float] = {}
        for at, name, seconds in self.lines:
            if since <= at <= until:
                found[name] = found.get(name, 0.0) + seconds
        return found

    def look_at_lines(self, processes: Mapping[str, int]) -> None:
        for name, pid in processes.items():
            with contextlib.suppress(OSError, ValueError, IndexError):
                stood = int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
                self.lines.append((time.monotonic(), name, stood - self._stood.get(pid, 0.0)))
                self._stood[pid] = stood

    async def watch(self, folder: Path, home: Path, processes: Callable[[], Mapping[str, int]]) -> None:
        """Read along in the logs of the processes, and look at the disk; until cancelled."""
        places: dict[Path, int] = {}
        full = False
        while True:
            self.read_along(folder, places)
            self.look_at_lines(processes())
            with contextlib.suppress(OSError):
                state = os.statvfs(home)
                if full != (full := state.f_bavail * state.f_frsize < LITTLE_ROOM):
                    self.note("the disk is full" if full else "the disk has room")
            await asyncio.sleep(LOOKED_EVERY)

    def read_along(self, folder: Path, places: dict[Path, int]) -> None:
        """Note what was said since the last look, whose ends are in `places`."""
        for file in sorted(folder.glob("*.out")):
            places[file] = self._read_on(file, places.get(file, 0))

    def _read_on(self, file: Path, place: int) -> int:
        with file.open("rb") as opened:
            opened.seek(place)
            said = opened.read()
        whole = said.rfind(b"\n") + 1
        for line in said[:whole].splitlines():
            with contextlib.suppress(ValueError):
                self._note_said(file.stem, json.loads(line))
        return place + whole

    def _note_said(self, who: str, line: object) -> None:
        if not isinstance(line, dict) or "event" not in line:
            return
        told = " ".join(f"{name}={line[name]}" for name in TOLD if line.get(name) is not None)
        about = line.get("job_id")
        if about is not None or line["event"] in ABOUT_ALL or line.get("level") in ("error", "critical"):
            self.note(" ".join(f"{who} says {line['event']} {told}".split())[:LONGEST_NOTE], about)
