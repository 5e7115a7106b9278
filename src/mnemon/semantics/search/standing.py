"""Where listed events stand: the revision that says them, and the events that they ended or that ended them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from mnemon.db.database import Database
from mnemon.documents.access import Reader, read_as
from mnemon.semantics.shapes import Shape, event_shape, read_events, read_evidence, read_links

# What an event becomes by a link of this kind that leads to it.
ENDS_AS = {"supersedes": "superseded", "fulfils": "done"}

StandingRow = dict[str, Any]


@dataclass(frozen=True)
class Tied:
    """The other end of a link, with its own proof."""

    kind: str
    reason: str
    doc_version_id: UUID
    event: Shape


@dataclass(frozen=True)
class Standing:
    """`ended` are the earlier events that it superseded or fulfilled, `ended_by` the later ones that did it to this,
    `perhaps` those of which that is not sure: a person is asked."""

    doc_id: UUID
    doc_version_id: UUID
    # Whether the revision that says it is the one in service.
    is_latest: bool
    ended: Sequence[Tied]
    ended_by: Sequence[Tied]
    perhaps: Sequence[Tied]


async def standing_of(
    database: Database, tenant: UUID, reader: Reader, events: Sequence[Shape], *, as_of: datetime | None = None
) -> dict[str, Standing]:
    """By event id, for events as a search shows them; without those that are gone by now."""
    ids = [event["event_id"] for event in events]
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        links = await read_links(tx, ids)
        ends = {link[end] for each in links.values() for link in each for end in ("later", "earlier")}
        rows = {row["event_id"]: row for row in await read_events(tx, [*ids, *sorted(ends.difference(ids))])}
        evidence = await read_evidence(tx, [rows[one] for one in sorted(ends) if one in rows])
    tied = {one: event_shape(rows[one]) | {"evidence": evidence[one]} for one in evidence}
    return {
        event["event_id"]: _standing(event, links[event["event_id"]], rows, tied, as_of)
        for event in events
        if event["event_id"] in rows
    }


def _standing(
    event: Shape, links: Sequence[Shape], rows: dict[str, StandingRow], tied: dict[str, Shape], as_of: datetime | None
) -> Standing:
    def other(link: Shape, end: str) -> Tied:
        named = link[end]
        return Tied(link["kind"], link["reason"], rows[named]["doc_version_id"], tied[named])

    own = rows[event["event_id"]]
    shown = [link for link in links if link["later"] in tied and link["earlier"] in tied]
    ended = [
        other(link, "earlier")
        for link in shown
        if link["later"] == event["event_id"] and link["kind"] in ENDS_AS and not link["suggested"]
    ]
    ended_by = [
        other(link, "later")
        for link in shown
        if link["earlier"] == event["event_id"] and _counts(link, event, rows[link["later"]], as_of)
    ]
    perhaps = [
        other(link, "later")
        for link in shown
        if link["earlier"] == event["event_id"] and event["status"] == "open" and _may_end(link, rows[link["later"]])
    ]
    return Standing(
        own["doc_id"], own["doc_version_id"], own["is_latest"], _once(ended), _once(ended_by), _once(perhaps)
    )


def _may_end(link: Shape, later: StandingRow) -> bool:
    return bool(link["suggested"] and link["kind"] in ENDS_AS and later["is_latest"] and later["status"] != "dismissed")


def _counts(link: Shape, event: Shape, later: StandingRow, as_of: datetime | None) -> bool:
    """Whether this link made the event what its status says: one from a text that was withdrawn did not."""
    if link["suggested"] or ENDS_AS.get(link["kind"]) != event["status"]:
        return False
    return bool(later["happened_at"] <= as_of if as_of else later["is_latest"])


def _once(tied: Sequence[Tied]) -> list[Tied]:
    """Each statement once: several revisions of a document may say the same."""
    return list({(one.kind, one.event["artifact_uid"], one.event["narrative"]): one for one in tied}.values())
