"""The consensus lens: the last reading of each thread. Replay takes what was recorded and calls no model."""

from collections.abc import Sequence

import orjson

from mnemon.db.database import Connection
from mnemon.log.events import Event
from mnemon.log.project.lens import Lens, Tables
from mnemon.log.read.pattern import Pattern
from mnemon.mail.consensus.objections import UNRESOLVED
from mnemon.mail.consensus.recorded import CONSENSUS_READ

PUT = """
INSERT INTO {mail_consensus}
       (tenant_id, thread_key, digest, consensus_type, confidence, unresolved, read_by, found, event_id, read_at)
VALUES (%(tenant)s, %(thread_key)s, %(digest)s, %(consensus_type)s, %(confidence)s, %(unresolved)s, %(read_by)s,
        %(found)s::text::jsonb, %(event_id)s, %(at)s)
ON CONFLICT (tenant_id, thread_key) DO UPDATE
   SET digest = excluded.digest, consensus_type = excluded.consensus_type, confidence = excluded.confidence,
       unresolved = excluded.unresolved, read_by = excluded.read_by, found = excluded.found,
       event_id = excluded.event_id, read_at = excluded.read_at
"""
FOUND = ("votes", "statements", "objections", "conclusion")
TOLD = ("thread_key", "digest", "consensus_type", "confidence", "read_by")


async def apply(connection: Connection, events: Sequence[Event], tables: Tables) -> None:
    for event in events:
        data = event.data
        found = {name: data[name] for name in FOUND}
        values = {name: data[name] for name in TOLD} | {
            "tenant": event.tenant_id,
            "unresolved": sum(one["state"] in UNRESOLVED for one in data["objections"]),
            "found": orjson.dumps(found).decode(),
            "event_id": event.id,
            "at": event.recorded_at,
        }
        await connection.execute(PUT.format(**tables), values)


MAIL_CONSENSUS = Lens(
    name="mail_consensus",
    tables=("mnemon.mail_consensus",),
    apply=apply,
    lifecycle="inline",
    pattern=Pattern(types=(CONSENSUS_READ.type,)),
    personal=False,
)
