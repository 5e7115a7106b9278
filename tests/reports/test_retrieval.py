"""Passages of mail by words, by thread and as proof of a summary, with what the specification has beside each."""

from pathlib import Path

import httpx

from mnemon.app import Mnemon
from mnemon.work.worker import Worker
from tests.api.conftest import Person
from tests.mail.conftest import Imported
from tests.reports.conftest import Settle

SAMPLE = Path(__file__).parents[2] / "examples" / "list" / "tern-dev.mbox"


async def test_passages_are_found_with_message_and_thread_listed_by_thread_and_prove_a_summary(
    worker: Worker, imported: Imported, settled: Settle, client: httpx.AsyncClient, user: Person, admin: Person,
    mnemon: Mnemon,
) -> None:  # fmt: skip
    await imported(SAMPLE)
    await settled()
    client.headers.update(user.headers)
    found = (await client.get("/v1/mail/search", params={"query": "size the cache tenth"})).json()
    first = found["items"][0]
    assert first["thread"] == "How do you size the cache?"
    assert first["passage"]["text"] in first["message"]
    assert (first["sender"]["name"], first["passage"]["embedding_generated"]) == ("Olu Adeyemi", False)
    narrowed = {"query": "tenth of what is read", "person": "Sven Dahl", "thread": first["passage"]["message_id"]}
    others = (await client.get("/v1/mail/search", params=narrowed)).json()["items"]
    assert {one["sender"]["name"] for one in others} == {"Sven Dahl"}
    for nothing in ({"since": "2030-01-01"}, {"list_name": "other.example.org"}, {"draft": "rfc9999"}):
        assert (await client.get("/v1/mail/search", params={"query": "cache"} | nothing)).json()["items"] == []

    where = f"/v1/threads/{first['passage']['message_key']}/passages"
    assert (await client.get(where)).status_code == 404, "a message is no thread"
    where = "/v1/threads/%3Ck3.0@lists.example.org%3E/passages"
    page = (await client.get(where, params={"limit": 3, "vectors": True})).json()
    rest = (await client.get(where, params={"limit": 3, "cursor": page["next_cursor"]})).json()
    listed = [one["message_id"] for one in page["items"] + rest["items"]]
    assert listed == [f"<k3.{number}@lists.example.org>" for number in range(4)]
    assert page["items"][0]["chunk_id"] == first["passage"]["chunk_id"]
    assert page["items"][0]["embedding"] is None, "there is no model here"

    await client.post("/v1/reports", json={"kind": "consensus"}, headers=admin.headers)
    await settled()
    [summary] = (await client.get("/v1/summaries", params={"kind": "consensus"})).json()["items"]
    proof = (await client.get(f"/v1/summaries/{summary['summary_id']}/citations")).json()
    assert proof["holds"] and proof["gone"] == 0
    assert all(one["valid"] and one["chunk_id"] for one in proof["citations"])
    gone = proof["citations"][0]["message_key"]
    doc_id = (await client.get(f"/v1/messages/{gone}")).json()["doc_id"]
    purged = await client.post(f"/v1/documents/{doc_id}/purge", headers=admin.headers)
    assert purged.is_success, purged.text
    left = (await client.get(f"/v1/summaries/{summary['summary_id']}/citations")).json()
    assert left["holds"] and left["gone"] > 0
    assert gone not in {one["message_key"] for one in left["citations"]}
