"""Which document a person means: by its title, its file's name or the beginning of its id."""

from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.documents.access import Reader, read_as
from mnemon.documents.intake.file_address import file_at
from mnemon.errors import InvalidRequest, NotFound

MOST_SHOWN = 8
# One that is meant exactly comes before those that only have the words in their title.
MEANT = """
WITH known AS (
    SELECT d.doc_id, d.title, d.source_uri, v.original_filename, d.created_at, coalesce(v.is_active, true) AS served,
           CASE WHEN lower(d.title) = lower(%(name)s) OR lower(v.original_filename) = lower(%(name)s)
                  OR starts_with(d.doc_id::text, lower(%(name)s)) AND length(%(name)s) >= 4 THEN 1
                WHEN d.title ILIKE %(like)s OR v.original_filename ILIKE %(like)s THEN 2 END AS fit
      FROM mnemon.documents d
      LEFT JOIN LATERAL (
           SELECT original_filename, is_active FROM mnemon.document_revisions o
            WHERE o.tenant_id = d.tenant_id AND o.doc_id = d.doc_id
            ORDER BY o.is_active DESC, o.version_number DESC LIMIT 1) AS v ON true
     WHERE d.tenant_id = mnemon.current_tenant() AND d.purged_at IS NULL
       AND (d.readers IS NULL OR mnemon.may_read(d.readers)))
SELECT doc_id, title, source_uri, original_filename, served FROM known
 WHERE fit = (SELECT min(fit) FROM known) ORDER BY served DESC, created_at DESC, doc_id LIMIT 100
"""


async def document_named(tx: Connection, reader: Reader, name: str) -> UUID:
    """The one that fits, or a refusal that lists those that could be meant."""
    try:
        return UUID(name)
    except ValueError:
        pass
    await read_as(tx, reader)
    like = "%" + name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    fitting = await (await tx.execute(MEANT, {"name": name, "like": like})).fetchall()
    # What is out of service is meant where nothing that is served fits.
    found = [one for one in fitting if one["served"]] or fitting
    if not found:
        raise NotFound(f"No document is called {name!r}: `mnemon documents list` shows them.", name=name)
    if len(found) > 1:
        shown = [_shown(one) for one in found[:MOST_SHOWN]]
        more = f" and {len(found) - MOST_SHOWN} more" if len(found) > MOST_SHOWN else ""
        raise InvalidRequest(
            f"{name!r} may mean {len(found)} documents: {'; '.join(shown)}{more}. Give the id of one.", name=name
        )
    return UUID(str(found[0]["doc_id"]))


def _shown(one: dict[str, Any]) -> str:
    """By its file too, with its folder: documents of one title differ in that."""
    file, place = one["original_filename"], file_at(one["source_uri"])
    named = str(place) if place else file if file != one["title"] else None
    return f"{one['title']} ({', '.join(filter(None, (named, str(one['doc_id']))))})"
