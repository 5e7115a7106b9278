"""What was asked before in a conversation, read from the log: only the asker's own, and no word of what was purged."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from mnemon.ask.conversing.following import AskedBefore, in_full
from mnemon.db.database import Connection, Database
from mnemon.documents.access import Reader, read_as
from mnemon.log.events import Actor
from mnemon.log.read.streams import Stream
from mnemon.log.store import EventLog

CONVERSATION = "conversation"
# So many questions back a follow-up may lean on.
FURTHEST_BACK = 6

# What the asker may still read; a purged revision has no text.
QUOTED = """
SELECT substr(t.text, wanted.first + 1, wanted.last - wanted.first) AS quote, c.speaker
FROM unnest(%s::uuid[], %s::integer[], %s::integer[]) WITH ORDINALITY AS wanted (revision, first, last, place)
JOIN mnemon.document_revisions AS r
  ON r.tenant_id = mnemon.current_tenant() AND r.doc_version_id = wanted.revision AND r.purged_at IS NULL
JOIN mnemon.revision_texts AS t ON t.tenant_id = r.tenant_id AND t.doc_version_id = r.doc_version_id
LEFT JOIN LATERAL (
    SELECT speaker FROM mnemon.chunks
     WHERE tenant_id = r.tenant_id AND doc_version_id = r.doc_version_id
       AND start_offset <= wanted.first AND end_offset > wanted.first AND speaker IS NOT NULL
     ORDER BY start_offset DESC LIMIT 1
) AS c ON true
WHERE mnemon.may_read(r.readers)
ORDER BY wanted.place
"""


@dataclass(frozen=True)
class AskedNow:
    """A question as it was written and in full, and the conversation that it is part of."""

    question: str
    full: str
    conversation_id: str | None = None

    def understood(self) -> dict[str, str]:
        """What to tell of it where it was not asked as it was written."""
        return {"asked_as": self.full} if self.full.rstrip("?") != self.question.rstrip("? ") else {}


async def asked_now(
    events: EventLog, database: Database, tenant: UUID, actor: Actor, question: str, conversation_id: str | None
) -> AskedNow:
    """The question in full, by what was asked before it in its conversation."""
    if conversation_id is None:
        return AskedNow(question, question)
    stream = Stream.of_entity(CONVERSATION, str(entity_of(actor, conversation_id)))
    page = await events.read_page(tenant, stream, direction="backward", limit=FURTHEST_BACK, tolerant=True)
    earlier = [event.data for event in reversed(page.events) if isinstance(event.data.get("question"), str)]
    before: AskedBefore | None = None
    async with database.transaction(tenant) as tx:
        await read_as(tx, Reader.of(actor))
        for told in earlier:
            full = in_full(told["question"], before) if before else None
            before = await _answered(tx, full or told["question"], told["evidence"])
    full = in_full(question, before) if before else None
    return AskedNow(question, full or question, conversation_id)


def entity_of(actor: Actor, conversation_id: str) -> UUID:
    """The same name is another conversation for everybody else; the name itself is not shown by it."""
    return uuid5(NAMESPACE_URL, f"mnemon:conversation:{actor.id}:{conversation_id}")


async def _answered(tx: Connection, question: str, spans: Sequence[dict[str, Any]]) -> AskedBefore:
    values = [one["doc_version_id"] for one in spans], [one["start"] for one in spans], [one["end"] for one in spans]
    rows = await (await tx.execute(QUOTED, values)).fetchall()
    return AskedBefore(
        question, [row["quote"] for row in rows], [row["speaker"] for row in rows if row["speaker"]]
    )  # fmt: skip
