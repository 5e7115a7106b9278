"""`mnemon verify` over a long log: how long it takes and how much memory, all of it and as each night does."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from mnemon.app import Mnemon, open_mnemon
from mnemon.identity.tenants import tenant_by_slug
from mnemon.log.events import Actor, EntityReference, NewEvent
from mnemon.log.types.event_type import EventType, PersonalField
from mnemon.memory.changing.change_events import Author
from mnemon.memory.gateway import Memory
from mnemon.settings import Settings
from mnemon.telemetry import configure_logging

QUICK = bool(os.environ.get("QUICK"))
# One event in so many is a memory object, so that a lens has something to replay.
EVENTS = int(os.environ.get("EVENTS") or (20_000 if QUICK else 1_000_000))
OBJECTS = max(EVENTS // 500, 10)
BATCH, TOGETHER = 500, 8
CLERK = Actor("human", "clerk-7")
ORDER = EventType(
    type="shop.order.placed",
    data_schema={"type": "object", "required": ["number"], "properties": {"number": {"type": "string"}}},
    personal_fields=(PersonalField("name", "name", subject_path="customer"),),
)


def order(number: int) -> NewEvent:
    customer = f"C-{number % 1000}"
    data = {"number": f"ORD-{number}", "text": "x" * 300} | ({} if number % 10 else {"customer": customer, "name": "A"})
    return NewEvent(
        type=ORDER.type, data=data, actor=CLERK, tags=["orders"],
        entities=[EntityReference("order", f"ORD-{number}"), EntityReference("customer", customer, "buyer")],
    )  # fmt: skip


async def fill(home: Path) -> float:
    """How long it took; a checkpoint for each hundredth part, as a schedule would have signed them."""
    async with open_mnemon(Settings(home=home, embedder="none", database_linger_seconds=0)) as mnemon:
        tenant = (await tenant_by_slug(mnemon.database, "main")).tenant_id
        await mnemon.log.register_type(tenant, ORDER, CLERK)
        begun = time.perf_counter()
        for start in range(0, EVENTS, BATCH * TOGETHER):
            await append_together(mnemon, tenant, start)
            if start % (EVENTS // 100 or 1) < BATCH * TOGETHER:
                await mnemon.integrity.checkpoint(tenant)
        for number in range(OBJECTS):
            content = f"Order {number} is to be sent by ship."
            await mnemon.memory.changes.create(tenant, Memory.place(tenant), Author(CLERK), content=content)
        await mnemon.integrity.checkpoint_all()
        return time.perf_counter() - begun


async def append_together(mnemon: Mnemon, tenant: UUID, start: int) -> None:
    batches = range(start, min(start + BATCH * TOGETHER, EVENTS), BATCH)
    made = [[order(n) for n in range(first, min(first + BATCH, EVENTS))] for first in batches]
    await asyncio.gather(*(mnemon.log.append(tenant, events) for events in made))


@dataclass(frozen=True)
class Verified:
    """How long it took, by the clock and of a processor's time, without the database's own; and what it says."""

    seconds: float
    processor_s: float
    peak_mb: float
    says: dict[str, Any]


def verified(home: Path, *options: str) -> Verified:
    environment = os.environ | {"MNEMON_HOME": str(home), "MNEMON_EMBEDDER": "none", "MNEMON_LOG_LEVEL": "ERROR"}
    begun = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "mnemon", "verify", "--json", *options], env=environment, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"mnemon verify ended with {process.returncode}: {said.decode()[-2000:]}")
    spent = used.ru_utime + used.ru_stime
    says = json.loads(said)["tenants"]["main"]
    return Verified(time.perf_counter() - begun, spent, used.ru_maxrss / 1024, says)


def main() -> None:
    configure_logging("ERROR")
    folder = Path(tempfile.mkdtemp(prefix="mnemon-bench-"))
    folder.chmod(0o755)
    try:
        filled = asyncio.run(fill(folder))
        whole = verified(folder)
        nightly = verified(folder, "--new")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    results = {
        "events": EVENTS, "objects": OBJECTS, "fill_s": round(filled, 1),
        "verify_s": round(whole.seconds, 1), "verify_processor_s": round(whole.processor_s, 1),
        "verify_peak_mb": round(whole.peak_mb), "verify_events_per_s": round(EVENTS / whole.seconds),
        **{f"{name}_s": round(part["seconds"], 2) for name, part in whole.says["parts"].items()},
        "nightly_s": round(nightly.seconds, 1), "nightly_processor_s": round(nightly.processor_s, 1),
        "nightly_peak_mb": round(nightly.peak_mb),
    }  # fmt: skip
    for name, figure in results.items():
        print(f"  {name:<24}{figure:>12,}")
    print(json.dumps({"bench": "verify", "results": results}))


if __name__ == "__main__":
    main()
