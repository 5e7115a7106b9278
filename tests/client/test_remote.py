"""Calls by address: the same operations, answers and errors as at home; retried where that is safe."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest

from mnemon.app import Mnemon
from mnemon.ask import operations as asking
from mnemon.ask.inputs import Question
from mnemon.cli.adding.gone import find_gone_at
from mnemon.client import remote
from mnemon.client.calls import AsyncMnemonClient
from mnemon.client.failures import ServerRefused, ServerUnreachable
from mnemon.client.remote import RemoteCalls, addresses, filename_of, request_of
from mnemon.documents import operations as documents
from mnemon.documents.inputs import DocumentAsked
from mnemon.doors import declared_operations
from mnemon.errors import InvalidRequest, NotAllowed, NotAuthenticated, NotFound
from mnemon.identity.roles import CredentialScope
from mnemon.log_operations import erasures, event_types
from mnemon.settings import Settings
from mnemon.web.site import create_site
from tests.api.conftest import Person, admin, caller_address, client, mnemon, token_for, user
from tests.api.conftest import settings as api_settings
from tests.documents.sample_chunks import put

__all__ = ["admin", "api_settings", "caller_address", "client", "mnemon", "user"]
PASSAGES = ["The board approved the budget of 40,000 euros on 3 May.", "The violin concert was moved to June."]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, login_failures=5, embedder="none")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "FIRST_PAUSE", 0.0)


def calls(mnemon: Mnemon, token: str | None) -> RemoteCalls:
    return RemoteCalls("http://127.0.0.1:8787", token, transport=httpx2.ASGITransport(create_site(mnemon)))


@pytest.fixture
async def memory(mnemon: Mnemon, tenant: UUID, admin: Person) -> AsyncIterator[AsyncMnemonClient]:
    token = await token_for(mnemon, tenant, admin, CredentialScope.WRITE)
    async with AsyncMnemonClient(calls(mnemon, token)) as opened:
        yield opened


async def test_what_is_kept_asked_and_found_by_address(memory: AsyncMnemonClient, mnemon: Mnemon, tenant: UUID) -> None:
    await put(mnemon.database, tenant, PASSAGES, title="Minutes", tags=["board"])
    answer = await memory.ask("When did the board approve the budget?")
    assert "3 May" in answer.text and answer.citations[0].quote in PASSAGES[0]
    assert [name async for name, _ in memory.ask_in_steps("When did the board approve the budget?")][-1] == "done"
    assert (await memory.search("violin concert", tag="board"))[0].text == PASSAGES[1]
    kept = await memory.remember("Refunds need the treasurer.", tags=["finance"])
    assert [one.emo_id for one in await memory.recall("treasurer refunds")] == [kept.emo_id]
    await memory.forget(kept.emo_id)
    assert await memory.recall("treasurer refunds") == []


async def test_a_repeated_call_with_a_key_does_nothing_twice(memory: AsyncMnemonClient) -> None:
    first = await memory.remember("The gate is green.", key="gate")
    again = await memory.remember("The gate is green.", key="gate")
    assert first.emo_id == again.emo_id


async def test_events_are_appended_and_followed_once_each(memory: AsyncMnemonClient) -> None:
    declared = {"type": "shop.sale.made", "data_schema": {"type": "object"}}
    await memory.call(event_types.register, event_types.register.input.model_validate(declared))
    await memory.append([{"type": "shop.sale.made", "data": {"n": n}} for n in range(3)], key="three")
    await memory.append([{"type": "shop.sale.made", "data": {"n": n}} for n in range(3)], key="three")
    seen: list[int] = []
    async for event in memory.subscribe("till", event_types=["shop.sale.made"]):
        seen.append(event["data"]["n"])
        if len(seen) == 2:
            break
    async for event in memory.subscribe("till"):
        seen.append(event["data"]["n"])
        if event["data"]["n"] == 2:
            break
    assert seen == [0, 1, 1, 2], "the second was not acknowledged before the first reader left"


async def test_an_upload_by_address_is_a_document_with_versions(memory: AsyncMnemonClient, tmp_path: Path) -> None:
    file = tmp_path / "note.md"
    file.write_text("The gate is blue.")
    first = await memory.add(file, title="Gate", wait=False)
    file.write_text("The gate is red.")
    second = await memory.add(file, wait=False)
    assert (first.doc_id, first.status, second.status) == (second.doc_id, "queued", "queued")
    assert first.content_hash != second.content_hash


async def test_a_folder_added_again_at_a_server_tells_what_is_gone(
    mnemon: Mnemon, tenant: UUID, admin: Person, tmp_path: Path
) -> None:
    token = await token_for(mnemon, tenant, admin, CredentialScope.WRITE)
    kept, gone = tmp_path / "kept.txt", tmp_path / "gone before.txt"
    kept.write_text("The gate is blue.")
    for file in (kept, gone, Path("/elsewhere/other.txt")):
        doc_id, _ = await put(mnemon.database, tenant, ["The gate is blue."], title=file.name, source="file")
        async with mnemon.database.transaction(tenant) as tx:
            await tx.execute("UPDATE mnemon.documents SET source_uri = %s WHERE doc_id = %s", (file.as_uri(), doc_id))
    async with calls(mnemon, token) as server:
        [found] = await find_gone_at(server, [tmp_path], deactivates=False)
        assert (found.path, found.title, found.deactivated) == (gone, "gone before.txt", False)
        assert await find_gone_at(server, [], deactivates=True) == []
        await find_gone_at(server, [tmp_path], deactivates=True)
        assert await find_gone_at(server, [tmp_path], deactivates=False) == []


async def test_failures_are_the_errors_that_they_are_at_home(
    mnemon: Mnemon, tenant: UUID, user: Person, memory: AsyncMnemonClient
) -> None:
    with pytest.raises(NotFound, match="no document"):
        await memory.call(documents.get, DocumentAsked(doc_id=UUID(int=7)))
    token = await token_for(mnemon, tenant, user, CredentialScope.READ)
    async with calls(mnemon, token) as reader:
        with pytest.raises(NotAllowed):
            await reader.call(erasures.people, erasures.PrivacyPageAsked())
    async with calls(mnemon, "mnm_nothing") as stranger:
        with pytest.raises(NotAuthenticated):
            await stranger.call(asking.ask, Question(question="Who?"))


class Shaky(httpx2.AsyncBaseTransport):
    """Answers what it is told to, in turn."""

    def __init__(self, *answers: httpx2.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx2.Request] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def shaky(*answers: httpx2.Response | Exception) -> tuple[RemoteCalls, Shaky]:
    transport = Shaky(*answers)
    return RemoteCalls("http://nowhere.test", "t", transport=transport), transport


async def test_a_read_is_sent_again_and_a_write_is_not() -> None:
    good = httpx2.Response(200, json={"items": [], "total": 0, "page": 1, "limit": 20})
    asked = documents.list_documents.input()
    reading, sent = shaky(httpx2.ReadError("gone"), httpx2.Response(503, json={}, headers={"Retry-After": "0"}), good)
    assert (await reading.call(documents.list_documents, asked)).total == 0
    assert len(sent.requests) == 3
    writing, sent = shaky(httpx2.ReadError("gone"), good)
    with pytest.raises(ServerUnreachable, match="broke off"):
        await writing.call(documents.deactivate, DocumentAsked(doc_id=UUID(int=7)))
    assert len(sent.requests) == 1
    nobody, sent = shaky(*[httpx2.ConnectError("refused")] * 3)
    with pytest.raises(ServerUnreachable, match="Is the server running there"):
        await nobody.call(documents.list_documents, asked)


async def test_what_is_not_mnemon_is_said_so() -> None:
    other, _ = shaky(httpx2.Response(502, text="<html>Bad gateway</html>"))
    with pytest.raises(ServerRefused, match="not by Mnemon"):
        await other.call(documents.list_documents, documents.list_documents.input())


def test_every_operation_with_a_route_has_an_address_for_every_field() -> None:
    """What a route does not offer is refused, and never left out in silence."""
    known = addresses()
    for operation in declared_operations():
        if operation.name in known and "rest" not in operation.absent:
            told: Any = known[operation.name]
            placed = {name for key, fields in told.items() if key.startswith("in_") for name in fields}
            assert placed <= operation.input.model_fields.keys(), operation.name
    with pytest.raises(InvalidRequest, match="takes no `user`: leave it out"):
        request_of(known["tokens.add"], {"name": "x", "user": "ana@example.org"})


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ('attachment; filename="../../etc/passwd"', "passwd"),
        ("attachment; filename*=utf-8''gr%C3%B6%C3%9Fe.md", "größe.md"),
        ("attachment", "download"),
    ],
)
def test_a_download_is_named_by_a_name_and_never_by_a_path(told: str, name: str) -> None:
    assert filename_of(httpx2.Response(200, headers={"content-disposition": told})) == name
