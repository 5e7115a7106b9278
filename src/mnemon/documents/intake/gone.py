"""Files that were taken in from a folder and are there no more."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.documents.intake.file_address import file_at

FROM_FOLDER = """
SELECT d.doc_id, d.title, split_part(d.source_uri, '#of=', 1) AS source_uri
  FROM mnemon.documents d
  JOIN mnemon.document_revisions v ON v.tenant_id = d.tenant_id AND v.doc_id = d.doc_id AND v.is_active
 WHERE d.tenant_id = mnemon.current_tenant() AND starts_with(d.source_uri, %s)
   AND (d.readers IS NULL OR mnemon.may_read(d.readers))
 ORDER BY d.source_uri
"""


@dataclass(frozen=True, slots=True)
class GoneFile:
    """A document that is still served although its file is gone."""

    doc_id: UUID
    title: str
    path: Path


async def gone_files(tx: Connection, folders: Sequence[Path]) -> list[GoneFile]:
    """Of the documents that came from within the folders, those whose file does not exist any more."""
    found: dict[UUID, GoneFile] = {}
    for folder in folders:
        prefix = folder.resolve().as_uri().rstrip("/") + "/"
        for row in await (await tx.execute(FROM_FOLDER, (prefix,))).fetchall():
            path = file_at(row["source_uri"])
            if path and not path.exists():
                found[row["doc_id"]] = GoneFile(row["doc_id"], row["title"], path)
    return list(found.values())
