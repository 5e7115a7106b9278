"""The documents lens is what the log says: dropped and rebuilt, it comes out the same, to the hash."""

from uuid import UUID

import httpx

from mnemon.app import Mnemon
from tests.api.conftest import Person
from tests.documents.conftest import Ingested, rows
from tests.documents.test_runs import NO_TEXT

MAIL = """From: Ada <ada@example.org>
To: Ben <ben@example.org>
Subject: Lunch
Date: Mon, 2 Mar 2026 12:00:00 +0000

At one?
"""


async def test_a_rebuild_gives_the_same_rows_whatever_happened(
    ingested: Ingested, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID
) -> None:
    source = "file:///policy.txt"
    policy = await ingested("Trains only.", "policy.txt", source_uri=source, title="Policy", tags="a,b")
    await ingested("Buses too.", "policy.txt", source_uri=source)
    await client.post(f"/v1/documents/{policy['doc_id']}/reactivate?version=1", headers=admin.headers)
    await ingested(NO_TEXT)
    gone = await ingested("To be purged.", "gone.md", title="Gone")
    await client.post(f"/v1/documents/{gone['doc_id']}/purge", headers=admin.headers)
    await ingested("To be purged.", "back.md")
    off = await ingested("To be switched off.")
    await client.post(f"/v1/documents/{off['doc_id']}/deactivate", headers=admin.headers)
    await ingested(MAIL, "lunch.eml")
    before = await mnemon.projector.state_hash(tenant, "documents")
    everything = await _everything(mnemon, tenant)
    assert len(everything) == 12

    async with mnemon.database.transaction(tenant) as tx:
        await tx.execute("DELETE FROM mnemon.document_revisions")
        await tx.execute("UPDATE mnemon.documents SET title = 'tampered with', tags = '{}'")
    assert await mnemon.projector.state_hash(tenant, "documents") != before
    rebuilt = await mnemon.projector.rebuild(tenant, "documents")
    assert await _everything(mnemon, tenant) == everything
    assert rebuilt.state_hash == before == await mnemon.projector.state_hash(tenant, "documents")


async def _everything(mnemon: Mnemon, tenant: UUID) -> list[dict[str, object]]:
    documents = await rows(mnemon, tenant, "SELECT * FROM mnemon.documents ORDER BY doc_id")
    return documents + await rows(mnemon, tenant, "SELECT * FROM mnemon.document_revisions ORDER BY doc_version_id")


async def test_front_matter_names_and_tags_a_document_that_nobody_named(
    ingested: Ingested, client: httpx.AsyncClient, user: Person
) -> None:
    note = "---\ntitle: Launch plan\ntags: [board, '#kestrel']\n---\nWe launch in May with [[Ada|her]].\n"
    plain = await ingested(note, "launch.md")
    named = await ingested(note.replace("May", "June"), "june.md", title="June", tags="own")
    found = {
        one["doc_id"]: (one["title"], one["tags"])
        for one in (await client.get("/v1/documents", headers=user.headers)).json()["items"]
    }
    assert found == {plain["doc_id"]: ("Launch plan", ["board", "kestrel"]), named["doc_id"]: ("June", ["own"])}


async def test_a_heading_names_the_document_and_a_new_heading_names_it_anew(
    ingested: Ingested, client: httpx.AsyncClient, user: Person, mnemon: Mnemon, tenant: UUID
) -> None:
    source = "file:///plan.md"
    plan = await ingested("# Plan for May\n\nWe launch.\n", "plan.md", source_uri=source)
    titles = [(await client.get(f"/v1/documents/{plan['doc_id']}", headers=user.headers)).json()["title"]]
    await ingested("# Plan for June\n\nWe launch later.\n", "plan.md", source_uri=source)
    titles.append((await client.get(f"/v1/documents/{plan['doc_id']}", headers=user.headers)).json()["title"])
    assert titles == ["Plan for May", "Plan for June"]
    before = await mnemon.projector.state_hash(tenant, "documents")
    assert (await mnemon.projector.rebuild(tenant, "documents")).state_hash == before
