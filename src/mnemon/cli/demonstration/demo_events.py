"""The demo's part about semantic events: what was decided, replaced and promised in the files, with the words."""

import asyncio
from typing import Any

from mnemon.cli.demonstration.demo_stage import LONGEST_WAIT, POLL_SECONDS, DemoClient, result, step
from mnemon.cli.output import counted, one_line

SHOWN = 3


async def read_events(caller: DemoClient) -> None:
    step("Read out", "what was decided and promised, with the words that prove it and no model")
    await _until_extracted(caller)
    every = await caller.get("/v1/semantic-events", limit=1)
    result(f"{counted(every['total'], 'event')} in the files, each with its quote", events=every["total"])
    replaced = await caller.get("/v1/semantic-events", status="superseded", category="Decision", limit=SHOWN)
    for event in replaced["events"]:
        whole = await caller.get(f"/v1/semantic-events/{event['event_id']}")
        result(f"replaced: “{_quote(event)}” ({_why_replaced(whole)})", superseded=whole)
    promised = await caller.get("/v1/semantic-events/commitments")
    # The latest of those with a date: the corpus is of the past.
    for one in [each for each in promised["commitments"] if each["due"]][-SHOWN:]:
        late = f", {-one['days_left']} days late" if one["overdue"] else ""
        owners = ", ".join(one["owners"]) or "nobody named"
        result(f"open: {owners}, due {one['due']}{late}: “{_quote(one)}”", commitment=one)


def _why_replaced(event: dict[str, Any]) -> str:
    """Of all that ties it to others, what took its place."""
    return next(
        str(link["reason"])
        for link in event["links"]
        if link["kind"] == "supersedes" and link["earlier"] == event["event_id"] and not link["suggested"]
    )


def _quote(event: dict[str, list[dict[str, str]]]) -> str:
    return one_line(event["evidence"][0]["quote"])


async def _until_extracted(caller: DemoClient) -> None:
    async with asyncio.timeout(LONGEST_WAIT):
        while True:
            stats = await caller.get("/v1/jobs/stats")
            waiting = [kind for kind in stats["kinds"] if kind["kind"] == "semantics.extract"]
            if not any(kind["waiting"] + kind["delayed"] + kind["running"] for kind in waiting):
                return
            await asyncio.sleep(POLL_SECONDS)
