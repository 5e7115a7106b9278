"""Where things come from and go to: sources of documents and mail, and recipients, held against their events.

Rows from before events told digests have none to be held against. The first verification after the upgrade notes what
they are, in its own event, and the next ones compare with that: of a tenant that is younger, none is taken on trust.
"""

from dataclasses import dataclass, field

from mnemon.documents.sources import events as sources
from mnemon.log.read.streams import Filter, Stream
from mnemon.reports.delivery import happenings as recipients
from mnemon.verification.findings import CheckReport, VerifyTask

ROWS = """
SELECT 'source ' || source_id AS place, mnemon.source_seal(s) AS seal
  FROM mnemon.document_sources s WHERE tenant_id = %(tenant)s
 UNION ALL
SELECT 'source ' || source_id, mnemon.mail_source_seal(s) FROM mnemon.mail_sources s WHERE tenant_id = %(tenant)s
 UNION ALL
SELECT 'recipient ' || recipient_id, mnemon.recipient_seal(r) FROM mnemon.recipients r WHERE tenant_id = %(tenant)s
"""
# A look sets the next one from now on. The clock of the database may be a little behind its own rows.
PUT_OFF = """
SELECT 'source ' || source_id AS place, next_sync_at::text AS until FROM mnemon.document_sources
 WHERE tenant_id = %(tenant)s AND NOT paused AND every_minutes IS NOT NULL
   AND (next_sync_at <= now() + make_interval(mins => every_minutes) + interval '2 minutes') IS NOT TRUE
 UNION ALL
SELECT 'source ' || source_id, next_check_at::text FROM mnemon.mail_sources
 WHERE tenant_id = %(tenant)s AND NOT paused AND every_minutes IS NOT NULL
   AND (next_check_at <= now() + make_interval(mins => every_minutes) + interval '2 minutes') IS NOT TRUE
"""
FIRST_STEP = 38
UPGRADED = "SELECT applied_at FROM mnemon.migrations WHERE step = %s"
PAGE = 1000
KINDS = {sources.ENTITY: sources.ALL_TYPES, recipients.ENTITY: recipients.ALL_TYPES}
REMOVED = {sources.REMOVED.type, recipients.REMOVED.type}


@dataclass
class _Places:
    """What the log says there is: each place with the digest of its row, which old events do not tell."""

    there: dict[str, str | None] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)


async def check_places(task: VerifyTask, report: CheckReport) -> None:
    rows, told = await _rows(task), await _told(task)
    trusted = await _trusted(task, rows)
    report.checked += len(rows)
    if found := _differences(rows, told, trusted):
        # Someone may have changed a place between the two looks; what was changed behind our back stays so.
        again = _differences(await _rows(task), told := await _told(task), trusted)
        found = {place: what for place, what in found.items() if place in again}
    for place, what in found.items():
        report.find(place, what)
    async with task.parts.database.transaction(task.tenant) as tx:
        for row in await (await tx.execute(PUT_OFF, {"tenant": task.tenant})).fetchall():
            report.find(row["place"], f"The next look at this source is put off to {row['until'] or 'never'}.")
    report.remembered = {
        place: seal for place, seal in trusted.items() if place not in told.removed and not told.there.get(place)
    }


def _differences(rows: dict[str, str], told: _Places, trusted: dict[str, str]) -> dict[str, str]:
    found = {}
    for place in sorted(rows.keys() | told.there.keys() | (trusted.keys() - told.removed)):
        seal = told.there.get(place) or trusted.get(place)
        kind = place.partition(" ")[0]
        if place not in rows:
            found[place] = f"The row of this {kind} is gone."
        elif seal is None:
            found[place] = f"No event tells that this {kind} was added."
        elif seal != rows[place]:
            found[place] = f"The row of this {kind} is not as its last event left it."
    return found


async def _rows(task: VerifyTask) -> dict[str, str]:
    async with task.parts.database.transaction(task.tenant) as tx:
        found = await (await tx.execute(ROWS, {"tenant": task.tenant})).fetchall()
    return {row["place"]: row["seal"] for row in found}


async def _told(task: VerifyTask) -> _Places:
    told = _Places()
    for kind, types in KINDS.items():
        wanted, cursor = Filter(types=[one.type for one in types]), None
        while True:
            page = await task.parts.log.read_page(task.tenant, Stream.of_tag(kind), wanted, cursor=cursor, limit=PAGE)
            for event in page.events:
                place = event.data["subject"].replace(":", " ", 1)
                if event.type in REMOVED:
                    told.there.pop(place, None)
                    told.removed.add(place)
                else:
                    told.there[place] = event.data.get("seal")
            cursor = page.next_cursor
            if cursor is None:
                break
    return told


async def _trusted(task: VerifyTask, rows: dict[str, str]) -> dict[str, str]:
    """What the last verification noted; of an older tenant the first one notes what is there."""
    if "places" in task.before:
        return dict(task.before["places"])
    first = await task.parts.log.read_page(task.tenant, limit=1)
    async with task.parts.database.owner() as owner:
        upgraded = await (await owner.execute(UPGRADED, (FIRST_STEP,))).fetchone()
    if upgraded is None or not first.events or first.events[0].recorded_at > upgraded["applied_at"]:
        return {}
    return rows
