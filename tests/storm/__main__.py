"""`python -m tests.storm --minutes 5`: the storm, a table of what happened, and one line of JSON."""

import argparse
import asyncio
import contextlib
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.storm.chronicle import Chronicle
from tests.storm.clients import Client, Ledger
from tests.storm.hostile import MANY, Hostile
from tests.storm.reckoning import Reckoning, reckon
from tests.storm.stage import PATIENCE, Stage
from tests.storm.weather import Weather

LEAST_ACKED = 5
# How many of the longest waits are written to the folder of the logs; one of them is printed.
LONGEST_TOLD = 5


@dataclass
class Outcome:
    """What happened, and what is wrong in the end."""

    figures: dict[str, Any]
    faults: dict[str, int]
    wrong: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    # Of the longest waits, each with what happened meanwhile.
    stories: list[list[str]] = field(default_factory=list)


async def storm(
    minutes: float,
    *,
    seed: int = 1,
    writers: int = 3,
    pause: float = 3.0,
    only: Sequence[str] = (),
    many: int = MANY,
    keep: Path | None = None,
) -> Outcome:
    """For so long, and until enough was acknowledged to judge; with `only`, until these faults have happened. What the
    processes said is copied to the folder `keep`."""
    folder = Path(tempfile.mkdtemp(prefix="mnemon-storm-"))
    folder.chmod(0o755)
    stage = Stage(folder)
    try:
        return await _storm(stage, minutes, writers, many, lambda: Weather(stage, seed, pause, only))
    finally:
        stage.stop()
        stage.clear()
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            for said in folder.glob("*.out"):
                shutil.copy(said, keep)
        shutil.rmtree(folder, ignore_errors=True)


async def _storm(stage: Stage, minutes: float, writers: int, many: int, brew: Callable[[], Weather]) -> Outcome:
    victim, attacker = await stage.people("victim", "hostile")
    stage.restart_dead()
    await stage.up()
    weather = brew()
    ledger = Ledger(chronicle=stage.chronicle)
    watching = asyncio.create_task(stage.chronicle.watch(stage.folder, stage.home, stage.pids))
    client = Client(stage.url, victim.headers, ledger)
    hostile = Hostile(stage.url, attacker.headers, ledger, many)
    await client.register()
    work = [client.write_on(f"w{number}") for number in range(writers)] + [client.upload_on("u")]
    tasks = [asyncio.create_task(one) for one in [*work, *(attack() for attack in hostile.attacks()), weather.rage()]]
    await asyncio.wait(tasks, timeout=minutes * 60, return_when=asyncio.FIRST_COMPLETED)
    # A slow machine gets longer, for a while, before there is nothing to judge.
    late = time.monotonic() + PATIENCE
    while not (ledger.acked >= LEAST_ACKED and ledger.chronicle.waits and not weather.left):
        if time.monotonic() > late or any(task.done() for task in tasks):
            break
        await asyncio.wait(tasks, timeout=0.5, return_when=asyncio.FIRST_COMPLETED)
    watching.cancel()
    client.ending = hostile.ending = weather.ending = True
    failures = [one for one in await asyncio.gather(*tasks, return_exceptions=True) if isinstance(one, BaseException)]
    await client.http.aclose()
    await hostile.http.aclose()
    stage.clock.write_text("+0")
    with contextlib.suppress(FileNotFoundError):
        (stage.home / "ballast").unlink()
    stage.restart_dead()
    await stage.up()
    result = await reckon(stage, victim, [attacker.tenant], ledger, PATIENCE)
    return _outcome(ledger, hostile, weather, result, failures)


def _outcome(
    ledger: Ledger, hostile: Hostile, weather: Weather, result: Reckoning, failures: list[BaseException]
) -> Outcome:
    spread = ledger.chronicle.spread()
    figures = {
        "kills": weather.kills,
        "acked": ledger.acked,
        "lost": len(result.lost),
        "doubled": len(result.doubled),
        "stuck": len(result.stuck),
        "leaked": len(hostile.leaks),
        "tampers": result.tampers,
        "tampers_caught": result.tampers - len(result.unnoticed),
        "worst_other_tenant_wait_s": spread["worst"],
        "p95_other_tenant_wait_s": spread["p95"],
        "p50_other_tenant_wait_s": spread["p50"],
        "other_tenant_waits": len(ledger.chronicle.waits),
        "first_start_s": round(weather.stage.started_in, 2),
        "no_processor_share": _share_without_processor(ledger.chronicle),
        "longest_without_server_s": ledger.chronicle.longest_without_server(),
    }
    wrong = [
        *result.lost,
        *result.doubled,
        *result.stuck,
        *hostile.leaks,
        *ledger.unread,
        *ledger.surprises,
        *result.broken,
        *map(repr, failures),
    ]
    wrong += [f"the tamper with {name} went unnoticed" for name in result.unnoticed]
    absent = [] if weather.stage.own_disk else ["full disk (no right to mount a small disk)"]
    absent += [] if weather.stage.clock_library else ["clock jumps (libfaketime is not installed)"]
    faults = {**weather.done, **ledger.refused, "hostile requests": hostile.requests}
    stories = [
        [f"A file waited for {one.seconds:.1f} s:", *ledger.chronicle.story(one)]
        for one in ledger.chronicle.longest(LONGEST_TOLD)
    ]
    return Outcome(figures, faults, wrong, absent, stories)


def _share_without_processor(chronicle: Chronicle) -> float:
    """Of the time of server and worker, how much they were ready to go on and other work had the processors."""
    if not chronicle.lines:
        return 0.0
    since, until = chronicle.lines[0][0], chronicle.lines[-1][0]
    stood = chronicle.stood_in_line(since, until)
    return round(sum(stood.values()) / max(len(stood) * (until - since), 1.0), 3)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make storm", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--pause", type=float, default=3.0, help="Seconds between two faults, about.")
    parser.add_argument("--keep", type=Path, help="A folder for what the processes said.")
    asked = parser.parse_args()
    print(f"Seed {asked.seed}, {asked.minutes:g} minutes")
    outcome = asyncio.run(storm(asked.minutes, seed=asked.seed, pause=asked.pause, keep=asked.keep))
    for name, number in sorted(outcome.faults.items()):
        print(f"  {name:32}{number:>8}")
    for name, number in outcome.figures.items():
        print(f"  {name:32}{number:>8}")
    for line in outcome.stories[0] if outcome.stories else ():
        print(f"  {line}")
    if asked.keep is not None:
        (asked.keep / "waits.txt").write_text("\n\n".join("\n".join(one) for one in outcome.stories) + "\n")
    for one in outcome.absent:
        print(f"  not tried: {one}")
    for one in outcome.wrong[:20]:
        print(f"  WRONG: {one}")
    print(json.dumps({"bench": "storm", "results": outcome.figures}))
    return 1 if outcome.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
