"""Whoever is forgotten leaves no account behind, and nothing that they said through their tokens."""

from pathlib import Path
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.ask.query_log import ASKED, ENTITY
from mnemon.identity.roles import CredentialScope
from mnemon.identity.users import user_by_id
from mnemon.log.events import Actor, EntityReference, NewEvent
from mnemon.log.privacy.erasure import Erasure
from mnemon.log.privacy.erasure_list import ErasureList, ListedErasure
from mnemon.log.privacy.repeated_erasures import repeat_erasures
from mnemon.log.read.streams import Stream
from mnemon.verification.findings import CheckReport, VerifyTask
from mnemon.verification.people import check_people

from .conftest import Person, token_for

QUESTION = "Who told the quokka?"


@pytest.fixture(autouse=True)
def tied(mnemon: Mnemon) -> None:
    mnemon.tie_lenses_to_privacy()


async def ask(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    answer = await client.post("/v1/ask", json={"question": QUESTION, "conversation_id": "narwhal"}, headers=headers)
    assert answer.status_code == 200, answer.text


async def by_token(mnemon: Mnemon, tenant: UUID, user: Person) -> dict[str, str]:
    return {"Authorization": f"Bearer {await token_for(mnemon, tenant, user, CredentialScope.WRITE)}"}


async def erase(mnemon: Mnemon, tenant: UUID, subject: str) -> Erasure:
    asked = await mnemon.privacy.erasures.request(tenant, subject, reason="subject_request", requested_by="user:a")
    return await mnemon.privacy.erasures.approve(tenant, asked.erasure_id, approved_by="user:b")


async def questions(mnemon: Mnemon, tenant: UUID) -> list[str]:
    page = await mnemon.log.read_page(tenant, Stream.of_type(ASKED.type), limit=100)
    return [event.data["question"] for event in page.events]


async def findings(mnemon: Mnemon, tenant: UUID) -> list[str]:
    report = CheckReport("people")
    await check_people(VerifyTask(mnemon, tenant), report)  # type: ignore[arg-type]
    return [f"{one.where}: {one.message}" for one in report.findings if one.where != "tenant"]


async def test_what_was_asked_by_a_token_is_its_owners(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, user: Person
) -> None:
    await ask(client, await by_token(mnemon, tenant, user))
    held = (await client.get("/v1/privacy/file", headers=user.headers)).json()
    assert ("/data/question", QUESTION) in [(one["field"], one["value"]) for one in held["values"]]
    await erase(mnemon, tenant, f"user:{user.user_id}")
    assert await questions(mnemon, tenant) == ["[REDACTED]"]


async def test_what_was_sealed_under_a_tokens_name_goes_with_its_owner(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, user: Person, admin: Person
) -> None:
    """The name of the token, and questions of earlier versions."""
    headers = await by_token(mnemon, tenant, user)
    declared = {"type": "crm.note", "data_schema": {"type": "object"}}
    await client.post("/v1/event-types", json=declared, headers=admin.headers)
    sent = {"events": [{"type": "crm.note", "data": {"text": "hello"}}]}
    assert (await client.post("/v1/events", json=sent, headers=headers)).status_code == 201
    page = await mnemon.log.read_page(tenant, Stream.of_type("crm.note"))
    token = page.events[0].actor_id
    old = {
        "subject": token, "question": QUESTION, "outcome": "refused", "mode": "lexical", "strength": 0.0,
        "evidence": [], "near_misses": [], "dropped": 0,
    }  # fmt: skip
    await mnemon.log.append(tenant, [_asked(token, old)])
    subject = f"user:{user.user_id}"
    assert QUESTION in [one.value async for one in mnemon.privacy.data_of(tenant, subject)]
    await erase(mnemon, tenant, subject)
    assert await questions(mnemon, tenant) == ["[REDACTED]"]
    assert [one.value async for one in mnemon.privacy.data_of(tenant, subject)] == []
    done = {one.subject_id: one.status for one in await mnemon.privacy.erasures.page(tenant, 10)}
    assert done == {subject: "completed", token: "completed"}
    name = (await mnemon.log.read_page(tenant, Stream.of_type("crm.note"))).events[0].payload["actor"]["name"]
    assert name == "[REDACTED]"


@pytest.mark.parametrize("who_asked", ["user:c", "user:b"])
async def test_an_open_erasure_of_a_token_is_not_in_the_way_of_its_owners(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, user: Person, who_asked: str
) -> None:
    """It has another reason, and the second time who approves the owner's had asked for it."""
    await by_token(mnemon, tenant, user)
    async with mnemon.database.transaction(tenant) as tx:
        row = await (await tx.execute("SELECT token_id FROM mnemon.access_tokens")).fetchone()
    assert row is not None
    subject, token = f"user:{user.user_id}", f"token:{row['token_id']}"
    await ask(client, user.headers)
    old = {
        "subject": token, "question": QUESTION, "outcome": "refused", "mode": "lexical", "strength": 0.0,
        "evidence": [], "near_misses": [], "dropped": 0,
    }  # fmt: skip
    await mnemon.log.append(tenant, [_asked(token, old)])
    assert await questions(mnemon, tenant) == [QUESTION, QUESTION]
    await mnemon.privacy.erasures.request(tenant, token, reason="token_was_lost", requested_by=who_asked)
    assert (await erase(mnemon, tenant, subject)).status == "completed"
    assert await questions(mnemon, tenant) == ["[REDACTED]", "[REDACTED]"]
    assert [one.value async for one in mnemon.privacy.data_of(tenant, subject)] == []
    done = [one for one in await mnemon.privacy.erasures.page(tenant, 10) if one.status != "declined"]
    assert {one.subject_id: one.status for one in done} == {subject: "completed", token: "completed"}
    async with mnemon.database.transaction(tenant) as tx:
        assert (await user_by_id(tx, user.user_id)).email == f"{user.user_id}@erased.invalid"


def _asked(token: str, data: dict[str, object]) -> NewEvent:
    return NewEvent(type=ASKED.type, data=data, actor=Actor("agent", token), entities=[EntityReference(ENTITY, "q-1")])


async def test_an_account_is_emptied_and_closed(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, user: Person
) -> None:
    """Also one of which the log holds nothing yet."""
    headers = await by_token(mnemon, tenant, user)
    erasure = await erase(mnemon, tenant, f"user:{user.user_id}")
    assert erasure.status == "completed"
    async with mnemon.database.transaction(tenant) as tx:
        account = await user_by_id(tx, user.user_id)
        rows = await (await tx.execute("SELECT name, revoked_at FROM mnemon.access_tokens")).fetchall()
    assert (account.name, account.email) == ("[REDACTED]", f"{user.user_id}@erased.invalid")
    assert account.disabled_at is not None and not account.has_password
    assert [row["name"] for row in rows] == ["[REDACTED]"] and rows[0]["revoked_at"] is not None
    for one in (headers, user.headers):
        assert (await client.get("/v1/me", headers=one)).status_code == 401
    assert await findings(mnemon, tenant) == []


async def test_a_restored_account_is_closed_again(mnemon: Mnemon, tenant: UUID, user: Person, tmp_path: Path) -> None:
    """The backup is older than the first event about them: there is no key to know them by."""
    listed = ErasureList(tmp_path)
    async with mnemon.database.owner() as owner:
        moment = await (await owner.execute("SELECT now() AS now")).fetchone()
    assert moment is not None
    listed.add([ListedErasure(tenant, f"user:{user.user_id}", 1, moment["now"])])
    await repeat_erasures(mnemon.database, mnemon.log, listed, mnemon.privacy.erasures.on_erased)
    async with mnemon.database.transaction(tenant) as tx:
        assert (await user_by_id(tx, user.user_id)).email == f"{user.user_id}@erased.invalid"
    assert await findings(mnemon, tenant) == []


async def test_whoever_only_outlived_a_term_goes_on(mnemon: Mnemon, tenant: UUID, user: Person) -> None:
    erasures, subject = mnemon.privacy.erasures, f"user:{user.user_id}"
    asked = await erasures.request(tenant, subject, reason="retention_expired", requested_by="mnemon:retention")
    await erasures.approve(tenant, asked.erasure_id, approved_by="mnemon:schedule")
    async with mnemon.database.transaction(tenant) as tx:
        assert (await user_by_id(tx, user.user_id)).email == user.email
