"""The run that reads a file: what it is told of the file, and the job that moves it."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mnemon.db.database import Connection
from mnemon.documents.extraction.kinds import MEDIA_TYPES, FileKind
from mnemon.documents.ingest.job import INGEST, RunToRead
from mnemon.documents.intake.origin import RunType
from mnemon.documents.intake.terms import person_behind
from mnemon.log.events import Actor
from mnemon.work.enqueue import enqueue

ADD_RUN = """
INSERT INTO mnemon.ingestion_runs (tenant_id, run_id, doc_id, run_type, initiated_by, config)
VALUES (mnemon.current_tenant(), %s, %s, %s, %s, %s)
"""


async def add_run(
    tx: Connection, run_id: UUID, doc_id: UUID, run_type: RunType, actor: Actor, config: dict[str, Any],
    readers: Sequence[str] | None, priority: int = 0,
) -> None:  # fmt: skip
    """`readers` are the document's: nobody else hears of the run."""
    await tx.execute(ADD_RUN, (run_id, doc_id, run_type, actor.id, Jsonb(config)))
    await enqueue(tx, INGEST, RunToRead(run_id=run_id), priority=priority, readers=readers)


def run_config(
    source_type: str, source_uri: str, upload_uri: str, title: str, tags: list[str], filename: str, kind: FileKind,
    size: int, content_hash: str, actor: Actor,
) -> dict[str, Any]:  # fmt: skip
    """What a run is told of its file, and those who follow it."""
    return {
        "source_type": source_type,
        "source_uri": source_uri,
        "upload_uri": upload_uri,
        "title": title,
        "tags": tags,
        "original_filename": filename,
        "kind": kind,
        "content_type": MEDIA_TYPES[kind],
        "file_size_bytes": size,
        "content_hash": content_hash,
        "created_by_user_id": user_behind(actor),
    }


def user_behind(actor: Actor) -> str | None:
    """The user behind an actor, be it themselves or a token of theirs."""
    whom = person_behind(actor)
    return whom.removeprefix("user:") if whom.startswith("user:") else None
