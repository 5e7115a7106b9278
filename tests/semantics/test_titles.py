"""Claims about what an artifact is called: as its owner says, also where the content is known already."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.documents.lens import DOCUMENTS
from mnemon.log.events import Actor
from mnemon.semantics.artifacts import Ingested, NewArtifact, ingest_artifact
from mnemon.semantics.lens import SEMANTICS
from tests.documents.conftest import rows
from tests.semantics.conftest import ADA, BEN

Take = Callable[..., Awaitable[Ingested]]
FIRST, SECOND = "We decided to use MySQL.", "We decided to use Postgres."


@pytest.fixture
def take(mnemon: Mnemon, tenant: UUID) -> Take:
    async def ingest(content: str, title: str | None = None, actor: Actor = ADA, **fields: Any) -> Ingested:
        new = NewArtifact(
            artifact_type="note", source_system="test", source_id="page", content=content, title=title,
            **{"visibility_scope": "org"} | fields,
        )  # fmt: skip
        return await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, actor, new)

    return ingest


async def title_of(mnemon: Mnemon, tenant: UUID) -> str:
    [row] = await rows(mnemon, tenant, "SELECT title FROM mnemon.documents")
    title: str = row["title"]
    return title


async def test_an_owner_changes_the_title_also_where_the_content_is_the_same(
    mnemon: Mnemon, tenant: UUID, take: Take
) -> None:
    await take(FIRST, "Databases")
    assert (await take(FIRST, "Which database")).status == "unchanged"
    assert await title_of(mnemon, tenant) == "Which database"
    await take(FIRST)
    await take(FIRST, "Ben's title", BEN)
    assert await title_of(mnemon, tenant) == "Which database"


@pytest.mark.parametrize(
    ("first", "said", "title"),
    [("Old", None, "Old"), ("Old", "Said now", "Said now"), (None, None, "note from test")],
)
async def test_a_restored_revision_brings_its_title_unless_its_owner_says_another(
    mnemon: Mnemon, tenant: UUID, take: Take, first: str | None, said: str | None, title: str
) -> None:
    await take(FIRST, first)
    await take(SECOND, "New")
    assert (await take(FIRST, said)).status == "restored"
    assert await title_of(mnemon, tenant) == title


async def test_a_rebuild_and_a_purge_know_the_new_title(mnemon: Mnemon, tenant: UUID, take: Take) -> None:
    taken = await take(FIRST, "Databases")
    await take(FIRST, "Which database")
    for lens in (DOCUMENTS, SEMANTICS):
        before = await mnemon.projector.state_hash(tenant, lens.name)
        assert (await mnemon.projector.rebuild(tenant, lens.name)).state_hash == before
    assert await title_of(mnemon, tenant) == "Which database"

    await mnemon.purge_document(tenant, ADA, taken.doc_id)
    before = await mnemon.projector.state_hash(tenant, DOCUMENTS.name)
    assert (await mnemon.projector.rebuild(tenant, DOCUMENTS.name)).state_hash == before
    assert await rows(mnemon, tenant, "SELECT title FROM mnemon.documents") == [{"title": "[REDACTED]"}]
