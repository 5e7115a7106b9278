"""Every change of identity is an event of the log: with its actor, without names, and only if the change stands."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.errors import Conflict
from mnemon.identity.changes import recent_changes
from mnemon.identity.events import ALL
from mnemon.identity.login import add_login_link
from mnemon.identity.roles import CredentialScope, Principal, Role
from mnemon.identity.tenants import add_tenant
from mnemon.identity.tokens import add_token, revoke_token
from mnemon.identity.users import add_user, change_user
from mnemon.ids import new_uuid
from mnemon.log.events import Actor
from mnemon.log.read.streams import Stream
from mnemon.log.store import EventLog

OPERATOR = Actor("system", "operator:test")
# No operator gives an approval, logs somebody out or forgets them: the tests of these doors look for their events.
BY_TWO_OR_BY_ONESELF = {
    "identity.approval.requested", "identity.approval.given", "identity.approval.declined",
    "identity.session.ended", "identity.user.erased",
}  # fmt: skip


@pytest.fixture
async def log(database: Database) -> AsyncIterator[EventLog]:
    async with EventLog(database) as opened:
        yield opened


async def kinds(log: EventLog, tenant: UUID) -> list[str]:
    page = await recent_changes(log, tenant, 100)
    return [event.type for event in reversed(page.events)]


async def test_every_kind_of_change_is_recorded_with_ids_and_without_names(log: EventLog) -> None:
    slug = f"t-{new_uuid().hex}"
    async with log.database.owner() as owner, owner.transaction():
        tenant, transaction = await add_tenant(log, owner, OPERATOR, slug, "Acme Secret Ltd")
        user = await add_user(transaction, OPERATOR, "zofia@example.org", Role.ADMIN, name="Zofia Nowak")
        other = await add_user(transaction, OPERATOR, "ben@example.org", Role.ADMIN)
        await add_login_link(transaction, OPERATOR, user.user_id)
    async with log.transaction(tenant.tenant_id) as transaction:
        made = await add_token(transaction, OPERATOR, user.user_id, "Zofia's laptop", CredentialScope.READ)
        await revoke_token(transaction, OPERATOR, made.token_id)
        await change_user(transaction, OPERATOR, other.user_id, name="Benjamin")
        await change_user(transaction, OPERATOR, other.user_id, role=Role.USER)
        await change_user(transaction, OPERATOR, other.user_id, password="a good password")
        await change_user(transaction, OPERATOR, other.user_id, disabled=True)
        await change_user(transaction, OPERATOR, other.user_id, disabled=False)
    assert set(await kinds(log, tenant.tenant_id)) == {one.type for one in ALL} - BY_TWO_OR_BY_ONESELF
    written = ""
    async for event in log.scan(tenant.tenant_id):
        assert event.actor_id == "operator:test"
        written += event.envelope_text + (event.payload_text or "")
    for plain in ("zofia", "nowak", "ben@", "benjamin", "secret", "laptop", slug):
        assert plain not in written.lower()
    of_user = await log.read_page(tenant.tenant_id, Stream.of_entity("user", str(user.user_id)))
    assert [event.type for event in of_user.events] == [
        "identity.user.added", "identity.link.added", "identity.token.added", "identity.token.revoked",
    ]  # fmt: skip


async def test_a_change_that_fails_is_not_recorded(log: EventLog, tenant: UUID) -> None:
    with pytest.raises(ZeroDivisionError):
        async with log.transaction(tenant) as transaction:
            await add_user(transaction, OPERATOR, "a@example.org", Role.USER)
            raise ZeroDivisionError
    assert await kinds(log, tenant) == []
    async with log.transaction(tenant) as transaction:
        await add_user(transaction, OPERATOR, "a@example.org", Role.USER)
    with pytest.raises(Conflict):
        async with log.transaction(tenant) as transaction:
            await add_user(transaction, OPERATOR, "A@example.org", Role.USER)
    assert await kinds(log, tenant) == ["identity.user.added"]


def test_a_token_is_an_agent_that_acts_for_its_owner(tenant: UUID) -> None:
    user_id, token_id = new_uuid(), new_uuid()
    assert Principal(tenant, user_id, Role.USER).actor == Actor("human", f"user:{user_id}")
    agent = Principal(tenant, user_id, Role.USER, CredentialScope.WRITE, token_id).actor
    assert (agent.type, agent.id) == ("agent", f"token:{token_id}")
    assert agent.on_behalf_of is not None
    assert agent.on_behalf_of.id == f"user:{user_id}"
