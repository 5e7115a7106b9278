"""What a search is limited to, and which revisions that leaves."""

from typing import Any
from uuid import UUID

from mnemon.ask.inputs import PassageFilters
from mnemon.db.database import Connection
from mnemon.documents.artifact_names import document_of_uid
from mnemon.documents.extraction.kinds import MEDIA_TYPES

# People say docx, md or eml, and know no media type.
KINDS: dict[str, str] = {str(kind): media_type for kind, media_type in MEDIA_TYPES.items()}

# A person is found as author, participant or speaker, by the whole name or by one word of it, in any case.
REVISIONS = """
SELECT v.doc_version_id
FROM mnemon.document_revisions AS v
JOIN mnemon.documents AS d ON d.tenant_id = v.tenant_id AND d.doc_id = v.doc_id
WHERE v.tenant_id = mnemon.current_tenant() AND v.purged_at IS NULL AND mnemon.may_read(v.readers)
  AND CASE
      WHEN %(doc_version_id)s::uuid IS NOT NULL THEN v.doc_version_id = %(doc_version_id)s
      WHEN %(as_of)s::timestamptz IS NOT NULL
          THEN v.served @> %(as_of)s
      ELSE v.is_active END
  AND (%(doc_id)s::uuid IS NULL OR v.doc_id = %(doc_id)s)
  AND (%(named)s::uuid IS NULL OR v.doc_id = %(named)s)
  AND (%(source)s::text IS NULL OR d.source_type = %(source)s OR starts_with(d.source_uri, %(source)s))
  AND (%(artifact_type)s::text IS NULL OR d.document_type = %(artifact_type)s)
  AND (%(media_type)s::text IS NULL OR %(media_type)s IN (v.media_type, split_part(v.media_type, '/', 2)))
  AND (%(tag)s::text IS NULL OR %(tag)s = ANY (d.tags))
  AND (%(from_date)s::timestamptz IS NULL OR coalesce(v.written_at, v.created_at) >= %(from_date)s)
  AND (%(to_date)s::timestamptz IS NULL OR coalesce(v.written_at, v.created_at) <= %(to_date)s)
  AND (%(person)s::text IS NULL
      OR EXISTS (SELECT FROM unnest(v.authors || v.participants) AS name
                 WHERE lower(%(person)s) = lower(name)
                    OR lower(%(person)s) = ANY (regexp_split_to_array(lower(name), '\\W+')))
      OR v.doc_version_id = ANY (ARRAY(
          SELECT s.doc_version_id FROM mnemon.revision_speakers AS s
          WHERE s.tenant_id = mnemon.current_tenant()
            AND s.name_key = mnemon.term_key(mnemon.current_tenant(), lower(%(person)s)))))
"""


EVERYTHING = PassageFilters()


async def revisions_of(tx: Connection, filters: PassageFilters) -> list[UUID] | None:
    """Those of the revisions to search that the reader may see; None when nothing is filtered and the active ones are
    meant."""
    if not filters.applied():
        return None
    values: dict[str, Any] = {name: getattr(filters, name) for name in PassageFilters.model_fields} | {"named": None}
    values["media_type"] = KINDS.get(filters.media_type or "", filters.media_type)
    if filters.artifact_uid is not None:
        values["named"] = await document_of_uid(tx, filters.artifact_uid)
    rows = await (await tx.execute(REVISIONS, values)).fetchall()
    return [row["doc_version_id"] for row in rows]
