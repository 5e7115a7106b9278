"""Claims about replay: whatever is done to artifacts, and in whatever order, the log gives the same rows again."""

import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.documents.access import Reader
from mnemon.documents.activation import deactivate, reactivate
from mnemon.errors import MnemonError
from mnemon.semantics.artifacts import Ingested, NewArtifact, ingest_artifact
from mnemon.semantics.extract.status import event_reextract
from mnemon.semantics.lens import SEMANTICS
from tests.documents.conftest import rows
from tests.semantics.conftest import ADA

Done = Callable[[], Awaitable[None]]
TEXTS = [
    "We decided to use MySQL for the event store.",
    "We decided to use Postgres instead of MySQL for the event store.",
    "We decided to use Oracle instead of Postgres for the event store.",
    "Ada Byron will send the budget by 9 March 2026.",
    "Ada Byron will send the budget by 16 March 2026.",
    "Ada Byron sent the budget.",
]
STATUSES = "SELECT event_id, status, active, readers FROM mnemon.semantic_events ORDER BY event_id"


@pytest.mark.parametrize("seed", range(12))
async def test_replay_gives_the_same_rows_whatever_was_done(
    mnemon: Mnemon, tenant: UUID, reader: Reader, all_done: Done, seed: int
) -> None:
    chosen = random.Random(seed)
    known: dict[str, Ingested] = {}

    async def take() -> None:
        source = f"page-{chosen.randrange(4)}"
        text = "\n\n".join(chosen.sample(TEXTS, chosen.randint(1, 3)))
        month, scope = chosen.randint(1, 6), chosen.choice(["org", "me", "custom"])
        terms: dict[str, Any] = {"readers": ("user:ben",)} if scope == "custom" else {}
        new = NewArtifact(
            artifact_type="note", source_system="test", content=text, source_id=source, visibility_scope=scope,
            ts=datetime(2026, month, 2, tzinfo=UTC), **terms,
        )  # fmt: skip
        known[source] = await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)

    async def some(act: Callable[[Ingested], Awaitable[Any]]) -> None:
        if known:
            try:
                await act(known[chosen.choice(sorted(known))])
            except MnemonError:
                """Gone, or out of service already."""

    async def purge() -> None:
        await some(lambda one: mnemon.purge_document(tenant, ADA, one.doc_id))

    async def take_out() -> None:
        await some(lambda one: deactivate(mnemon.log, tenant, ADA, one.doc_id))

    async def put_back() -> None:
        await some(lambda one: reactivate(mnemon.log, tenant, ADA, one.doc_id, one.doc_version_id))

    async def again() -> None:
        await some(lambda one: event_reextract(mnemon.database, tenant, reader, one.artifact_uid, force=True))

    for _ in range(14):
        step = chosen.choices([take, take_out, put_back, again, purge, all_done], [6, 1, 1, 2, 1, 4])[0]
        await step()
    await all_done()

    before = await rows(mnemon, tenant, STATUSES)
    hashed = await mnemon.projector.state_hash(tenant, SEMANTICS.name)
    rebuilt = await mnemon.projector.rebuild(tenant, SEMANTICS.name)
    assert await rows(mnemon, tenant, STATUSES) == before
    assert rebuilt.state_hash == hashed


@pytest.mark.parametrize("seed", range(6))
async def test_the_order_of_reading_does_not_change_what_became_of_anything(
    mnemon: Mnemon, tenant: UUID, all_done: Done, seed: int
) -> None:
    dated = list(enumerate(TEXTS, 1))
    random.Random(seed).shuffle(dated)
    for month, text in dated:
        new = NewArtifact(
            artifact_type="note", source_system="test", content=text, source_id=text, visibility_scope="org",
            ts=datetime(2026, month, 2, tzinfo=UTC),
        )  # fmt: skip
        await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)
        await all_done()
    became = await rows(mnemon, tenant, "SELECT narrative, status FROM mnemon.semantic_events")
    assert {row["narrative"].rstrip("."): row["status"] for row in became} == {
        TEXTS[0].rstrip("."): "superseded",
        TEXTS[1].rstrip("."): "superseded",
        TEXTS[2].rstrip("."): "open",
        TEXTS[3].rstrip("."): "superseded",
        TEXTS[4].rstrip("."): "done",
        TEXTS[5].rstrip("."): "open",
    }
