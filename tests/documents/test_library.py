"""Documents as people find, read and download them, and what an administrator may do to them."""

from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.documents.artifact_names import revision_name
from mnemon.documents.filed_rows import NO_FILE
from mnemon.identity.roles import Role
from mnemon.ids import new_uuid
from tests.api.conftest import Person, person
from tests.documents.conftest import Ingested, RunReaches, Upload, files_below, rows
from tests.documents.test_runs import events_of

TEXT = "# Travel\n\nWe take the train 🚄.\n\n## Hotels\n\nAt most 120 euros a night."


async def listed(client: httpx.AsyncClient, someone: Person, **params: str | int) -> list[str]:
    answer = (await client.get("/v1/documents", params=params, headers=someone.headers)).json()
    assert answer["total"] == len(answer["items"])
    return [one["title"] for one in answer["items"]]


async def test_documents_are_found_by_title_name_tag_and_status(
    ingested: Ingested, upload: Upload, client: httpx.AsyncClient, user: Person, admin: Person
) -> None:
    await ingested("one", "plan.txt", title="The 100% plan", tags="board")
    second = await ingested("two", "minutes_2026.txt", title="Minutes")
    assert await listed(client, user) == ["Minutes", "The 100% plan"]
    assert await listed(client, user, search="100%") == ["The 100% plan"]
    assert await listed(client, user, search="MINUTES_2") == ["Minutes"]
    assert await listed(client, user, search="_______________") == []
    assert await listed(client, user, search="board") == await listed(client, user, tag="board") == ["The 100% plan"]
    await client.post(f"/v1/documents/{second['doc_id']}/deactivate", headers=admin.headers)
    assert await listed(client, user) == ["The 100% plan"]
    assert await listed(client, user, status="inactive") == ["Minutes"]
    assert await listed(client, user, all="true") == ["Minutes", "The 100% plan"]
    page = (await client.get("/v1/documents?limit=1&page=2&all=true", headers=user.headers)).json()
    assert ([one["title"] for one in page["items"]], page["total"]) == (["The 100% plan"], 2)
    # Last: a worker reads it before long.
    await upload("three", "unread.txt")
    assert await listed(client, user, status="unread") == ["unread.txt"]


async def test_the_text_its_parts_and_its_chunks_agree(
    ingested: Ingested, client: httpx.AsyncClient, user: Person
) -> None:
    run = await ingested(TEXT, "travel.md")
    address = f"/v1/documents/{run['doc_id']}"
    whole = (await client.get(f"{address}/text", headers=user.headers)).json()
    text = whole["text"]
    assert "train 🚄" in text and whole["char_count"] == len(text) == whole["end"]
    part = (await client.get(f"{address}/text?start=3&end=17", headers=user.headers)).json()
    assert (part["text"], part["start"], part["end"]) == (text[3:17], 3, 17)
    beyond = (await client.get(f"{address}/text?start=99999", headers=user.headers)).json()
    assert beyond["text"] == ""
    chunks = (await client.get(f"{address}/chunks", headers=user.headers)).json()
    assert chunks["total"] == len(chunks["items"]) >= 1
    for chunk in chunks["items"]:
        assert text[chunk["start_offset"] : chunk["end_offset"]] == chunk["text"]
    structure = (await client.get(f"{address}/structure", headers=user.headers)).json()
    headings = [one for one in structure["blocks"] if one["kind"] == "heading"]
    assert ["Travel" in text[one["start"] : one["end"]] for one in headings] == [True, False]


async def test_an_old_version_still_opens_the_same_words(
    ingested: Ingested, client: httpx.AsyncClient, user: Person
) -> None:
    source = "file:///policy.txt"
    first = await ingested("Trains only.", "policy.txt", source_uri=source)
    await ingested("Buses too.", "policy.txt", source_uri=source)
    address = f"/v1/documents/{first['doc_id']}"
    for version in ("1", first["doc_version_id"]):
        old = (await client.get(f"{address}/text", params={"version": version}, headers=user.headers)).json()
        assert old["text"].strip() == "Trains only."
    file = await client.get(f"{address}/download", params={"version": "1"}, headers=user.headers)
    assert file.text == "Trains only."
    for wrong, status in (("9", 404), (str(new_uuid()), 404), ("latest", 422)):
        answer = await client.get(f"{address}/text", params={"version": wrong}, headers=user.headers)
        assert answer.status_code == status


async def test_a_download_is_the_same_bytes_and_never_runs_in_a_browser(
    ingested: Ingested, client: httpx.AsyncClient, user: Person
) -> None:
    page = "<html><body><script>alert(1)</script><p>Protokoll der Sitzung</p></body></html>"
    run = await ingested(page, 'Größe "neu".txt')
    answer = await client.get(f"/v1/documents/{run['doc_id']}/download", headers=user.headers)
    assert answer.content == page.encode()
    disposition = answer.headers["content-disposition"]
    assert disposition.startswith("attachment;") and "filename*=utf-8''Gr%C3%B6%C3%9Fe%20%22neu%22.txt" in disposition
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]


async def test_deactivation_hides_a_document_and_deletes_nothing(
    ingested: Ingested, client: httpx.AsyncClient, user: Person, admin: Person, mnemon: Mnemon, tenant: UUID
) -> None:
    run = await ingested(TEXT, "travel.md")
    address = f"/v1/documents/{run['doc_id']}"
    assert (await client.post(f"{address}/deactivate", headers=user.headers)).status_code == 403
    off = (await client.post(f"{address}/deactivate", headers=admin.headers)).json()
    assert (off["status"], off["is_active"]) == ("inactive", False)
    assert [row["active"] for row in await rows(mnemon, tenant, "SELECT DISTINCT active FROM mnemon.chunks")] == [False]
    assert len(files_below(mnemon.files.blobs)) == 1
    assert (await client.get(f"{address}/text", headers=user.headers)).status_code == 200
    again = await client.post(f"{address}/deactivate", headers=admin.headers)
    assert (again.status_code, again.json()["error_code"]) == (409, "NO_SUCH_VERSION_STATE")
    on = (await client.post(f"{address}/reactivate", headers=admin.headers)).json()
    assert (on["status"], on["is_active"]) == ("active", True)
    assert [row["active"] for row in await rows(mnemon, tenant, "SELECT DISTINCT active FROM mnemon.chunks")] == [True]
    assert await events_of(mnemon, tenant, run["doc_id"]) == ["accepted", "ingested", "deactivated", "reactivated"]


async def test_an_older_version_can_be_served_again(
    ingested: Ingested, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID
) -> None:
    source = "file:///policy.txt"
    first = await ingested("Trains only.", "policy.txt", source_uri=source)
    await ingested("Buses too.", "policy.txt", source_uri=source)
    on = await client.post(f"/v1/documents/{first['doc_id']}/reactivate?version=1", headers=admin.headers)
    assert (on.json()["version_number"], on.json()["is_active"]) == (1, True)
    (active,) = await rows(mnemon, tenant, "SELECT DISTINCT doc_version_id FROM mnemon.chunks WHERE active")
    assert str(active["doc_version_id"]) == first["doc_version_id"]


@pytest.mark.parametrize("version", ["1", 1])
async def test_a_version_named_in_the_body_is_the_one_that_is_served(
    ingested: Ingested, client: httpx.AsyncClient, admin: Person, version: str | int
) -> None:
    source = "file:///policy.txt"
    first = await ingested("Trains only.", "policy.txt", source_uri=source)
    for text in ("Buses too.", "And ships."):
        await ingested(text, "policy.txt", source_uri=source)
    path = f"/v1/documents/{first['doc_id']}/reactivate"
    on = await client.post(path, json={"version": version}, headers=admin.headers)
    assert (on.json()["version_number"], on.json()["is_active"]) == (1, True)
    both = await client.post(f"{path}?version=2", json={"version": "3"}, headers=admin.headers)
    assert (both.status_code, "say one" in both.json()["error"]) == (422, True)
    assert (await client.post(path, json={"verison": "2"}, headers=admin.headers)).status_code == 422


async def test_a_file_that_is_sent_again_may_change_its_title(
    ingested: Ingested, upload: Upload, client: httpx.AsyncClient, user: Person, admin: Person
) -> None:
    first = await ingested(TEXT, "travel.md", title="Draft")
    path = f"/v1/documents/{first['doc_id']}"
    again = await upload(TEXT, "travel.md", title="Travel policy")
    assert again.json()["doc_id"] == first["doc_id"]
    assert (await client.get(path, headers=user.headers)).json()["title"] == "Travel policy"
    await upload(TEXT, "another name.md")
    assert (await client.get(path, headers=user.headers)).json()["title"] == "Travel policy", "a name is no title"
    by_another = {"files": {"file": ("travel.md", TEXT.encode())}, "data": {"title": "Mine"}}
    await client.post("/v1/ingest", **by_another, headers=admin.headers)
    assert (await client.get(path, headers=user.headers)).json()["title"] == "Travel policy", "it is the owner's"


async def test_what_was_served_at_any_moment_is_known_for_ever(
    ingested: Ingested, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID
) -> None:
    source = "file:///policy.txt"
    first = await ingested("Trains only.", "policy.txt", source_uri=source)
    await ingested("Buses too.", "policy.txt", source_uri=source)
    address = f"/v1/documents/{first['doc_id']}"
    await client.post(f"{address}/reactivate?version=1", headers=admin.headers)
    await client.post(f"{address}/deactivate", headers=admin.headers)
    await client.post(f"{address}/reactivate?version=2", headers=admin.headers)
    spans = await rows(
        mnemon,
        tenant,
        "SELECT version_number, lower(span) AS start, upper(span) AS stop "
        "FROM mnemon.document_revisions, unnest(served) AS span ORDER BY 2",
    )
    assert [one["version_number"] for one in spans] == [1, 2, 1, 2]
    assert [one["stop"] for one in spans[:2]] == [one["start"] for one in spans[1:3]]
    assert spans[2]["stop"] < spans[3]["start"] and spans[3]["stop"] is None


async def test_a_rebuild_makes_the_same_content_again(
    ingested: Ingested, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID, run_reaches: RunReaches
) -> None:
    run = await ingested(TEXT, "travel.md")
    everything = "SELECT chunk_id, text, active FROM mnemon.chunks ORDER BY ordinal"
    before = await rows(mnemon, tenant, everything)
    async with mnemon.database.transaction(tenant) as tx:
        await tx.execute("DELETE FROM mnemon.revision_texts")
        await tx.execute("UPDATE mnemon.chunks SET heading_path = '{damaged}'")
    queued = await client.post(f"/v1/documents/{run['doc_id']}/rebuild", headers=admin.headers)
    assert queued.status_code == 202
    done = await run_reaches(queued.json()["run_id"], "succeeded", "failed")
    assert (done["status"], done["doc_version_id"], done["run_type"]) == (
        "succeeded",
        run["doc_version_id"],
        "rebuild",
    )
    assert await rows(mnemon, tenant, everything) == before
    assert await rows(mnemon, tenant, "SELECT 1 FROM mnemon.chunks WHERE heading_path = '{damaged}'") == []
    text = (await client.get(f"/v1/documents/{run['doc_id']}/text", headers=admin.headers)).json()["text"]
    assert "Hotels" in text
    assert await events_of(mnemon, tenant, run["doc_id"]) == ["accepted", "ingested", "rebuilt"]
    assert len(files_below(mnemon.files.blobs)) == 1


async def test_a_file_that_was_changed_is_not_read_again(
    ingested: Ingested, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon
) -> None:
    run = await ingested(TEXT, "travel.md")
    (blob,) = files_below(mnemon.files.blobs)
    blob.write_text("Something else entirely.")
    refused = await client.post(f"/v1/documents/{run['doc_id']}/rebuild", headers=admin.headers)
    assert (refused.status_code, refused.json()["error_code"]) == (409, "FILE_CHANGED")
    text = (await client.get(f"/v1/documents/{run['doc_id']}/text", headers=admin.headers)).json()["text"]
    assert "Hotels" in text


async def test_the_same_extractor_may_not_change_a_text_that_was_quoted(
    ingested: Ingested,
    client: httpx.AsyncClient,
    admin: Person,
    mnemon: Mnemon,
    run_reaches: RunReaches,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = await ingested(TEXT, "travel.md")
    (blob,) = files_below(mnemon.files.blobs)
    blob.write_text("Something else entirely.")
    # As if the extractor itself had come to read the same bytes otherwise.
    monkeypatch.setattr(type(mnemon.files), "is_intact", lambda *_: True)
    queued = (await client.post(f"/v1/documents/{run['doc_id']}/rebuild", headers=admin.headers)).json()
    failed = await run_reaches(queued["run_id"], "succeeded", "failed")
    assert failed["error_code"] == "TEXT_DIFFERS"
    text = (await client.get(f"/v1/documents/{run['doc_id']}/text", headers=admin.headers)).json()["text"]
    assert "Hotels" in text


@pytest.mark.parametrize("act", ["deactivate", "reactivate", "rebuild", "purge"])
async def test_only_administrators_of_the_tenant_may_change_documents(
    ingested: Ingested, client: httpx.AsyncClient, user: Person, mnemon: Mnemon, other_tenant: UUID, act: str
) -> None:
    run = await ingested(TEXT, "travel.md")
    stranger = await person(mnemon, other_tenant, Role.ADMIN)
    address = f"/v1/documents/{run['doc_id']}"
    assert (await client.post(f"{address}/{act}", headers=user.headers)).status_code == 403
    assert (await client.post(f"{address}/{act}", headers=stranger.headers)).status_code == 404
    for part in ("", "/versions", "/text", "/chunks", "/structure", "/download"):
        assert (await client.get(address + part, headers=stranger.headers)).status_code == 404
        assert (await client.get(address.replace("/v1", "/api") + part, headers=user.headers)).status_code == 200


def test_a_text_without_a_file_has_a_revision_by_its_own_hash() -> None:
    by_text = revision_name(NO_FILE + "sha256:" + "ab" * 32)
    assert by_text == revision_name("sha256:" + "ab" * 32) == "rev_" + "ab" * 8
    assert revision_name("[REDACTED]") == "rev_purged"
