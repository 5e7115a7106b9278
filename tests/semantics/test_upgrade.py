"""A claim about a database that an earlier version filled: it tells what became of events as a new one would."""

from mnemon.db.database import Connection, Database
from mnemon.db.external import ExternalServer
from mnemon.db.migrate import migrate, packaged_migrations
from mnemon.ids import new_uuid

# The last step of the version before statuses went by what came first and by who may read it.
BEFORE = 24
EVENT = """
INSERT INTO mnemon.semantic_events (tenant_id, event_id, doc_version_id, doc_id, extraction_id, position, category,
       narrative, subject_type, subject_ref, actors, happened_at, origin, confidence, status, active, readers,
       known_since, created_at, terms, lookup)
VALUES (%(tenant)s, %(event)s, %(one)s, %(one)s, %(one)s, 0, 'Commitment', 'n', 'object', 's', '[]', %(at)s, 'stated',
        0.9, %(status)s, true, %(readers)s::text[], %(at)s, %(at)s, '', '{}')
"""
LINK = """
INSERT INTO mnemon.event_links (tenant_id, later, earlier, doc_version_id, kind, reason, linked_at)
VALUES (%s, %s, %s, %s, %s, 'test', now())
"""


async def _old_rows(owner: Connection) -> None:
    tenant = new_uuid()
    events = [
        ("told", "done", None, "2026-03-01"), ("hidden", "done", None, "2026-03-01"),
        ("first", "open", None, "2026-03-02"), ("last", "open", None, "2026-03-03"),
        ("private", "open", ["user:ada"], "2026-03-02"),
    ]  # fmt: skip
    for event, status, readers, at in events:
        values = {"tenant": tenant, "event": event, "one": new_uuid(), "status": status, "readers": readers, "at": at}
        await owner.execute(EVENT, values)
    for later, earlier, kind in (
        ("first", "told", "supersedes"), ("last", "told", "fulfils"), ("private", "hidden", "fulfils"),
    ):  # fmt: skip
        await owner.execute(LINK, (tenant, later, earlier, new_uuid(), kind))


async def test_statuses_of_an_earlier_version_are_told_anew(empty_server: ExternalServer) -> None:
    """By what came first, and not by what the event's readers may not read."""
    async with Database(empty_server) as opened, opened.owner() as owner:
        await migrate(owner, packaged_migrations()[:BEFORE])
        await _old_rows(owner)
        await migrate(owner, packaged_migrations())
        rows = await (await owner.execute("SELECT event_id, status, linked FROM mnemon.semantic_events")).fetchall()
    assert {row["event_id"]: (row["status"], row["linked"]) for row in rows} == {
        "told": ("superseded", True), "hidden": ("open", True),
        "first": ("open", False), "last": ("open", False), "private": ("open", False),
    }  # fmt: skip
