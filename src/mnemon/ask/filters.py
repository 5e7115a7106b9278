"""What a search is limited to, and which revisions that leaves."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.documents.extraction.sniff import MEDIA_TYPES

# People say docx, md or eml, and know no media type.
KINDS: dict[str, str] = {str(kind): media_type for kind, media_type in MEDIA_TYPES.items()}

# A person is found as author, participant or speaker, by the whole name or by one word of it, in any case.
REVISIONS = """
SELECT v.doc_version_id
FROM mnemon.document_revisions AS v
JOIN mnemon.documents AS d ON d.tenant_id = v.tenant_id AND d.doc_id = v.doc_id
WHERE v.tenant_id = mnemon.current_tenant() AND v.purged_at IS NULL
  AND CASE
      WHEN %(revision)s::uuid IS NOT NULL THEN v.doc_version_id = %(revision)s
      WHEN %(as_of)s::timestamptz IS NOT NULL
          THEN v.served @> %(as_of)s
      ELSE v.is_active END
  AND (%(document)s::uuid IS NULL OR v.doc_id = %(document)s)
  AND (%(source)s::text IS NULL OR d.source_type = %(source)s OR starts_with(d.source_uri, %(source)s))
  AND (%(artifact_type)s::text IS NULL OR d.document_type = %(artifact_type)s)
  AND (%(media_type)s::text IS NULL OR %(media_type)s IN (v.media_type, split_part(v.media_type, '/', 2)))
  AND (%(tag)s::text IS NULL OR %(tag)s = ANY (d.tags))
  AND (%(written_from)s::timestamptz IS NULL OR coalesce(v.written_at, v.created_at) >= %(written_from)s)
  AND (%(written_to)s::timestamptz IS NULL OR coalesce(v.written_at, v.created_at) <= %(written_to)s)
  AND (%(person)s::text IS NULL
      OR EXISTS (SELECT FROM unnest(v.authors || v.participants) AS name
                 WHERE lower(%(person)s) = lower(name)
                    OR lower(%(person)s) = ANY (regexp_split_to_array(lower(name), '\\W+')))
      OR v.doc_version_id = ANY (ARRAY(
          SELECT s.doc_version_id FROM mnemon.revision_speakers AS s
          WHERE s.tenant_id = mnemon.current_tenant()
            AND s.name_key = mnemon.term_key(mnemon.current_tenant(), lower(%(person)s)))))
"""


@dataclass(frozen=True)
class Filters:
    """Every one that is set must hold. Without `revision` and `as_of`, only active revisions are searched."""

    document: UUID | None = None
    revision: UUID | None = None
    source: str | None = None
    # email, doc, chat, transcript or note
    artifact_type: str | None = None
    media_type: str | None = None
    tag: str | None = None
    person: str | None = None
    written_from: datetime | None = None
    written_to: datetime | None = None
    as_of: datetime | None = None

    def applied(self) -> dict[str, str]:
        """Those that are set, as a person reads them."""
        return {name: str(value) for name, value in vars(self).items() if value is not None}


EVERYTHING = Filters()


async def revisions_of(tx: Connection, filters: Filters) -> list[UUID] | None:
    """The revisions to search; None when nothing is filtered and the active ones are meant."""
    if not filters.applied():
        return None
    values = vars(filters) | {"media_type": KINDS.get(filters.media_type or "", filters.media_type)}
    rows = await (await tx.execute(REVISIONS, values)).fetchall()
    return [row["doc_version_id"] for row in rows]
