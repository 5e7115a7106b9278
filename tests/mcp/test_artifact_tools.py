"""Claims about the tools on artifacts: taken in, read, found, re-read and destroyed, by whom they belong to."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast
from uuid import UUID

import pytest
from mcp.server.mcpserver import Context

from mnemon.app import Mnemon
from mnemon.identity.roles import Principal, Role
from mnemon.ids import new_uuid
from mnemon.mcp import artifact_tools
from mnemon.mcp.artifact_names import names_of
from mnemon.mcp.caller import AgentCaller
from tests.mcp.conftest import Agent, content, reading, refusal
from tests.semantics.conftest import Work

Done = Callable[[], Awaitable[None]]
MINUTES = "Date: 2026-03-02\n\nDecisions\n- We decided to use MySQL for event storage.\n"
LATER = "Date: 2026-04-02\n\nDecisions\n- We decided to use Postgres instead of MySQL for event storage.\n"
NEW: dict[str, Any] = {
    "artifact_type": "doc",
    "source_system": "drive",
    "source_id": "minutes-1",
    "content": MINUTES,
    "title": "Minutes",
    "visibility_scope": "org",
}
INGESTED = {
    "artifact_id", "artifact_uid", "revision_id", "is_chunked", "num_chunks", "stored_ids", "job_id", "job_status",
}  # fmt: skip
JOB = {
    "job_id", "artifact_uid", "revision_id", "status", "attempts", "max_attempts", "created_at", "updated_at",
    "locked_by", "last_error_code", "last_error_message", "next_run_at",
}  # fmt: skip


async def test_an_artifact_is_taken_in_read_and_revised(agent: Agent, all_done: Done) -> None:
    async with agent() as client:
        first = content(await client.call_tool("artifact_ingest", NEW))
        assert set(first) >= INGESTED
        assert (first["status"], first["job_status"]) == ("new", "PENDING")
        again = content(await client.call_tool("artifact_ingest", NEW))
        assert (again["status"], again["job_status"], again["revision_id"]) == (
            "unchanged", "N/A", first["revision_id"],
        )  # fmt: skip
        second = content(await client.call_tool("artifact_ingest", {**NEW, "content": LATER}))
        assert second["status"] == "new_revision" and second["artifact_uid"] == first["artifact_uid"]
        await all_done()
        read = content(await client.call_tool("artifact_get", {"artifact_uid": first["artifact_uid"]}))
        assert (read["content"], read["is_latest"], read["next_start_char"]) == (LATER, True, None)
        assert [one["revision_id"] for one in read["revisions"]] == [second["revision_id"], first["revision_id"]]
        assert (
            [one["chunk_count"] for one in read["revisions"]] == [second["num_chunks"], first["num_chunks"]] == [0, 0]
        )
        old = {"artifact_uid": first["artifact_uid"], "revision_id": first["revision_id"], "max_chars": 10}
        part = content(await client.call_tool("artifact_get", old))
        assert (part["content"], part["next_start_char"], part["is_latest"]) == (MINUTES[:10], 10, False)
        rest = content(await client.call_tool("artifact_get", {**old, "start_char": 10, "max_chars": 1000}))
        assert MINUTES[:10] + rest["content"] == MINUTES


async def test_a_call_may_wait_for_the_events_and_hears_of_progress(agent: Agent, work: Work) -> None:
    await work()
    heard: list[float] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with agent() as client:
        taken = content(
            await client.call_tool("artifact_ingest", {**NEW, "wait_seconds": 100}, progress_callback=listen)
        )
        assert taken["job_status"] == "DONE"
        job = content(await client.call_tool("job_status", {"artifact_uid": taken["artifact_uid"]}))
        found = content(await client.call_tool("event_search", {"artifact_uid": taken["artifact_uid"]}))
    assert heard == sorted(heard) and heard[-1] == 2
    assert set(job) == JOB and job["status"] == "DONE" and job["job_id"] == taken["job_id"]
    assert "MySQL" in found["events"][0]["evidence"][0]["quote"]


async def test_a_long_wait_gives_signs_of_life(agent: Agent, work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifact_tools, "LOOK_AGAIN", 0.05)
    monkeypatch.setattr(artifact_tools, "TELL_AGAIN", 0.0)
    heard: list[float] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)
        if len(heard) == 5:
            await work()

    async with agent() as client:
        unread = await client.call_tool("artifact_ingest", {**NEW, "source_id": "unread", "wait_seconds": 1})
        assert content(unread)["job_status"] == "PENDING", "nobody reads events here yet"
        waited = await client.call_tool("artifact_ingest", {**NEW, "wait_seconds": 100}, progress_callback=listen)
    assert content(waited)["job_status"] == "DONE"
    assert len(heard) > 4 and heard == sorted(set(heard)), "each report says more than the one before"


async def test_events_are_read_anew_only_when_forced(agent: Agent, all_done: Done) -> None:
    async with agent() as client:
        taken = content(await client.call_tool("artifact_ingest", NEW))
        named = {"artifact_uid": taken["artifact_uid"]}
        waiting = content(await client.call_tool("event_reextract", named))
        assert waiting["status"] == "PENDING" and waiting["job_id"] == taken["job_id"]
        await all_done()
        done = content(await client.call_tool("event_reextract", named))
        forced = content(await client.call_tool("event_reextract", {**named, "force": True}))
        assert (done["status"], forced["status"]) == ("DONE", "PENDING")
        before = content(await client.call_tool("event_search", named))["total"]
        assert before >= 1, "the old events stay until the new ones are there"
        await all_done()
        assert content(await client.call_tool("event_search", named))["total"] == before


async def test_passages_of_one_artifact_are_searched(agent: Agent, all_done: Done) -> None:
    async with agent() as client:
        taken = content(await client.call_tool("artifact_ingest", NEW))
        other = {**NEW, "source_id": "minutes-2", "content": "Event storage costs money."}
        await client.call_tool("artifact_ingest", other)
        await all_done()
        asked = {"query": "event storage", "artifact_uid": taken["artifact_uid"]}
        found = content(await client.call_tool("artifact_search", asked))
        every = content(await client.call_tool("artifact_search", {"query": "event storage"}))
        of_type = {"query": "event storage", "artifact_type": "doc"}
        assert content(await client.call_tool("artifact_search", of_type))["passages"] == every["passages"]
        of_type["artifact_type"] = "email"
        assert content(await client.call_tool("artifact_search", of_type))["passages"] == []
    assert {one["artifact_uid"] for one in found["passages"]} == {taken["artifact_uid"]}
    assert len({one["artifact_uid"] for one in every["passages"]}) == 2


async def test_what_is_for_one_person_is_hidden_from_the_others(
    agent: Agent, person: Principal, all_done: Done
) -> None:
    colleague = replace(person, user_id=new_uuid())
    async with agent() as client:
        taken = content(await client.call_tool("artifact_ingest", {**NEW, "visibility_scope": "me"}))
        await all_done()
        [event] = content(await client.call_tool("event_search", {"category": "Decision"}))["events"]
    named = {"artifact_uid": taken["artifact_uid"]}
    async with agent(colleague) as client:
        assert content(await client.call_tool("event_search", {}))["events"] == []
        assert content(await client.call_tool("search", {"query": "event storage"}))["passages"] == []
        answer = content(await client.call_tool("ask", {"question": "What did we decide to use for event storage?"}))
        assert answer["outcome"] == "refused" and "MySQL" not in str(answer)
        assert content(await client.call_tool("hybrid_search", {"query": "event storage"}))["results"] == []
        for tool in ("artifact_get", "event_list_for_revision", "job_status", "event_reextract"):
            assert refusal(await client.call_tool(tool, named))["error_code"] == "ARTIFACT_NOT_FOUND", tool
        gone = await client.call_tool("artifact_delete", {**named, "confirm": True})
        assert refusal(gone)["error_code"] == "ARTIFACT_NOT_FOUND"
        within = {"query": "event storage", **named}
        assert refusal(await client.call_tool("artifact_search", within))["error_code"] == "ARTIFACT_NOT_FOUND"
        assert (
            refusal(await client.call_tool("event_get", {"event_id": event["event_id"]}))["error_code"] == "NOT_FOUND"
        )
        for uri in (event["uri"], event["evidence"][0]["uri"]):
            with pytest.raises(Exception, match="not found"):
                await client.read_resource(uri)


async def test_what_is_said_of_an_artifact_holds(agent: Agent, person: Principal, all_done: Done) -> None:
    colleague = replace(person, user_id=new_uuid())
    said = {
        "content": "We decided to use MySQL for event storage.", "visibility_scope": "custom",
        "readers": [f"user:{colleague.user_id}"], "ts": "2026-02-03", "source_url": "https://drive.example/1",
    }  # fmt: skip
    async with agent() as client:
        taken = content(await client.call_tool("artifact_ingest", NEW | said))
        await all_done()
    async with agent(colleague) as client:
        read = content(await client.call_tool("artifact_get", {"artifact_uid": taken["artifact_uid"]}))
        [event] = content(await client.call_tool("event_search", {}))["events"]
    assert (read["source_url"], read["visibility_scope"]) == (said["source_url"], "custom")
    assert read["revisions"][0]["source_ts"] == event["happened_at"] == "2026-02-03T00:00:00Z"


async def test_a_passage_gets_a_name_for_its_readers_alone(agent: Agent, mnemon: Mnemon, person: Principal) -> None:
    async with agent() as client:
        await client.call_tool("artifact_ingest", {**NEW, "visibility_scope": "me"})
    async with mnemon.database.transaction(person.tenant_id) as tx:
        rows = await (await tx.execute("SELECT doc_version_id FROM mnemon.document_revisions")).fetchall()
    revisions = [row["doc_version_id"] for row in rows]
    named = [
        len(await names_of(AgentCaller.known(mnemon, one, cast(Context[Any, Any], None)), revisions))
        for one in (person, replace(person, user_id=new_uuid()))
    ]
    assert named == [1, 0], "whatever a search let through"


async def test_an_artifact_is_destroyed_by_its_owner_after_a_confirmation(
    agent: Agent, person: Principal, all_done: Done
) -> None:
    owner = replace(person, role=Role.USER)
    async with agent(owner) as client:
        taken = content(await client.call_tool("artifact_ingest", NEW))
        await all_done()
        named = {"artifact_uid": taken["artifact_uid"]}
        assert refusal(await client.call_tool("artifact_delete", named))["error_code"] == "CONFIRMATION_NEEDED"
        async with agent(replace(owner, user_id=new_uuid())) as colleague:
            denied = await colleague.call_tool("artifact_delete", {**named, "confirm": True})
            assert refusal(denied)["error_code"] == "NOT_ALLOWED"
        gone = content(await client.call_tool("artifact_delete", {**named, "confirm": True}))
        assert gone == {**named, "deleted": True, "revisions": 1}
        assert content(await client.call_tool("event_search", {}))["events"] == []
        assert refusal(await client.call_tool("artifact_get", named))["error_code"] == "ARTIFACT_NOT_FOUND"


async def test_a_token_that_may_only_read_takes_in_and_destroys_nothing(agent: Agent, person: Principal) -> None:
    async with agent() as client:
        taken = content(await client.call_tool("artifact_ingest", NEW))
    named = {"artifact_uid": taken["artifact_uid"]}
    async with agent(reading(person)) as client:
        for tool, arguments in (
            ("artifact_ingest", NEW),
            ("artifact_delete", {**named, "confirm": True}),
            ("event_reextract", {**named, "force": True}),
        ):
            assert refusal(await client.call_tool(tool, arguments))["error_code"] == "NOT_ALLOWED", tool
        assert content(await client.call_tool("artifact_get", named))["content"] == MINUTES


async def test_another_tenant_has_its_own_artifact_of_the_same_source(
    agent: Agent, person: Principal, other_tenant: UUID
) -> None:
    async with agent() as client:
        ours = content(await client.call_tool("artifact_ingest", NEW))
    async with agent(replace(person, tenant_id=other_tenant)) as stranger:
        named = {"artifact_uid": ours["artifact_uid"]}
        for tool in ("artifact_get", "job_status", "event_list_for_revision"):
            assert refusal(await stranger.call_tool(tool, named))["error_code"] == "ARTIFACT_NOT_FOUND", tool
        theirs = content(await stranger.call_tool("artifact_ingest", {**NEW, "content": LATER}))
        assert theirs["status"] == "new" and theirs["artifact_uid"] == ours["artifact_uid"]
    async with agent() as client:
        assert content(await client.call_tool("artifact_get", named))["content"] == MINUTES


async def test_what_is_optional_may_be_null(agent: Agent) -> None:
    optional = ("source_id", "source_url", "title", "author", "participants", "ts", "readers", "retain_until")
    async with agent() as client:
        taken = await client.call_tool("artifact_ingest", NEW | dict.fromkeys(optional))
        assert content(taken)["status"] == "new"
        await client.call_tool("memory_store", {"content": "Nothing else.", "tags": None, "facets": None})
        found = content(await client.call_tool("recall", {"query": "nothing else", "tags": None}))
    assert [one["content"] for one in found["memories"]] == ["Nothing else."]


@pytest.mark.parametrize(
    "change",
    [
        {"artifact_type": "poem"},
        {"visibility_scope": "world"},
        {"visibility_scope": "custom"},
        {"retention_policy": "custom"},
        {"content": "   "},
        {"ts": "some day"},
        {"wait_seconds": 101},
    ],
)
async def test_what_is_wrong_with_an_artifact_is_said(agent: Agent, change: dict[str, Any]) -> None:
    async with agent() as client:
        error = refusal(await client.call_tool("artifact_ingest", NEW | change))
    assert error["error_code"] == "VALIDATION_ERROR"
