"""Files texts that were read already, hundreds in one transaction: for rooms that bring whole collections.

Each becomes a document whose content is its text: there is no file of its own, no run of its own, and one event. Its
chunks and vectors are made later, by `documents.chunk_filed`. Who files a text decides its id (`document_id`), so that
the same text is the same document however often it comes.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID, uuid5

from mnemon.db.database import Connection
from mnemon.documents import events as happened
from mnemon.documents.ingest.recording import revision_id_of
from mnemon.documents.ingest.structured import MOST, cut
from mnemon.documents.intake.terms import DEFAULTS, person_behind
from mnemon.log.append.arrays import EncodedTextArray, TextArray
from mnemon.log.events import Actor, EntityReference, NewEvent

STORE_TEXTS = """
INSERT INTO mnemon.revision_texts (tenant_id, doc_version_id, text, blocks)
SELECT mnemon.current_tenant(), revision::uuid, text, blocks::jsonb
  FROM unnest(%s, %s, %s) AS given (revision, text, blocks)
ON CONFLICT (tenant_id, doc_version_id) DO NOTHING
"""


@dataclass(frozen=True)
class FiledText:
    """A text with what is known of it. `kept` is what the room that files it wants to find in the log again."""

    doc_id: UUID
    text: str
    # As JSON, as they are stored: a list of what `Block` has.
    blocks: bytes
    title: str
    source_uri: str
    source_id: str | None
    media_type: str
    extractor: str
    size: int
    filed_as: str
    written_at: datetime | None = None
    authors: Sequence[str] = ()
    participants: Sequence[str] = ()
    details: Mapping[str, str] = field(default_factory=dict)
    kept: Mapping[str, Any] = field(default_factory=dict)
    # Above 1 where it takes the place of a text that was filed before.
    number: int = 1

    @cached_property
    def encoded(self) -> bytes:
        return self.text.encode()

    @cached_property
    def text_hash(self) -> str:
        return "sha256:" + hashlib.sha256(self.encoded).hexdigest()

    @cached_property
    def revision_id(self) -> UUID:
        return revision_id_of(self.doc_id, self.text_hash, self.extractor)


def document_id(tenant: UUID, source_uri: str) -> UUID:
    """The document that a text with this address is, now and always."""
    return uuid5(tenant, source_uri)


async def store_filed_texts(tx: Connection, texts: Sequence[FiledText]) -> None:
    """Keep the texts themselves; the events that say so are appended with them."""
    # Side by side and as bytes: in JSON each letter would be looked at three times more.
    columns = (
        TextArray([str(one.revision_id) for one in texts]),
        EncodedTextArray([one.encoded for one in texts]),
        EncodedTextArray([one.blocks for one in texts]),
    )
    await tx.execute(STORE_TEXTS, columns)


def filed_event(
    text: FiledText, actor: Actor, run_id: UUID, source_type: str, source_system: str, caused_by: str | None = None,
    readers: Sequence[str] | None = None,
) -> NewEvent:  # fmt: skip
    """Everyone of the tenant may read it as long as it is not purged, or these alone."""
    owner = person_behind(actor)
    terms = DEFAULTS if readers is None else DEFAULTS | {"visibility_scope": "custom", "readers": list(readers)}
    if readers is not None and owner not in readers:
        # The system files for others, and what is for few has an owner who may read it.
        owner = readers[0]
    about = {
        "source_uri": text.source_uri,
        "title": cut(text.title) or text.source_uri,
        "tags": [],
        "source_id": cut(text.source_id) if text.source_id else None,
        "source_url": None,
        "text_hash": text.text_hash,
        "written_at": text.written_at.isoformat() if text.written_at else None,
        "authors": [cut(name) for name in text.authors[:MOST]],
        "participants": [cut(name) for name in text.participants[:MOST]],
        "details": {name: cut(value) for name, value in text.details.items()},
        "kept": dict(text.kept),
    }
    data: dict[str, Any] = {
        "subject": happened.subject_of(text.doc_id),
        "run_id": str(run_id),
        "doc_version_id": str(text.revision_id),
        "version_number": text.number,
        "source_type": source_type,
        "filed_as": text.filed_as,
        "extractor": text.extractor,
        "media_type": text.media_type,
        "size_bytes": text.size,
        "char_count": len(text.text),
        "document_type": "email",
        "source_system": source_system,
        "owner": owner,
        "about": about,
    }
    return NewEvent(
        type=happened.FILED.type,
        data=data | terms,
        actor=actor,
        entities=[EntityReference(happened.ENTITY, str(text.doc_id))],
        correlation_id=str(run_id),
        caused_by=caused_by,
    )
