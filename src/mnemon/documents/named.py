"""Which document a person means: by its title, its file's name or the beginning of its id."""

from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.documents.access import Reader, read_as
from mnemon.errors import InvalidRequest, NotFound

MOST_SHOWN = 8
# One that is meant exactly comes before those that only have the words in their title.
MEANT = """
WITH known AS (
    SELECT d.doc_id, d.title, v.original_filename, d.created_at,
           CASE WHEN lower(d.title) = lower(%(name)s) OR lower(v.original_filename) = lower(%(name)s)
                  OR starts_with(d.doc_id::text, lower(%(name)s)) AND length(%(name)s) >= 4 THEN 1
                WHEN d.title ILIKE %(like)s OR v.original_filename ILIKE %(like)s THEN 2 END AS fit
      FROM mnemon.documents d
      LEFT JOIN LATERAL (
           SELECT original_filename FROM mnemon.document_revisions o
            WHERE o.tenant_id = d.tenant_id AND o.doc_id = d.doc_id
            ORDER BY o.is_active DESC, o.version_number DESC LIMIT 1) AS v ON true
     WHERE d.tenant_id = mnemon.current_tenant() AND d.purged_at IS NULL
       AND (d.readers IS NULL OR mnemon.may_read(d.readers)))
SELECT doc_id, title, original_filename FROM known
 WHERE fit = (SELECT min(fit) FROM known) ORDER BY created_at DESC, doc_id LIMIT 100
"""


async def document_named(tx: Connection, reader: Reader, name: str) -> UUID:
    """The one that fits, or a refusal that lists those that could be meant."""
    try:
        return UUID(name)
    except ValueError:
        pass
    await read_as(tx, reader)
    like = "%" + name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    found = await (await tx.execute(MEANT, {"name": name, "like": like})).fetchall()
    if not found:
        raise NotFound(f"No document is called {name!r}: `mnemon documents list` shows them.", name=name)
    if len(found) > 1:
        shown = [_shown(one) for one in found[:MOST_SHOWN]]
        more = f" and {len(found) - MOST_SHOWN} more" if len(found) > MOST_SHOWN else ""
        raise InvalidRequest(f"{name!r} may mean {len(found)} documents: {'; '.join(shown)}{more}.", name=name)
    return UUID(str(found[0]["doc_id"]))


def _shown(one: dict[str, Any]) -> str:
    """By its file too: documents of one title differ in that."""
    file = one["original_filename"]
    apart = f"{file}, {one['doc_id']}" if file and file != one["title"] else one["doc_id"]
    return f"{one['title']} ({apart})"
