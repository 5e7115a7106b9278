"""A running Mnemon behind an HTTP client, and people of both roles in a tenant of the test's own."""

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.db.database import Database
from mnemon.identity.roles import CredentialScope, Principal, Role
from mnemon.identity.sessions import Sessions
from mnemon.identity.tokens import add_token
from mnemon.identity.users import add_user
from mnemon.log.append.requests import AppendLimits
from mnemon.log.events import Actor
from mnemon.log.privacy.archive_store import DirectoryStore
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.wrapping_keys import KeyRing
from mnemon.readiness import check_database, check_migrations
from mnemon.settings import Settings
from tests.pooler import POOLED, TakingTurns
from tests.sites import site_of

KEY = "a-key-for-tests-that-is-long-enough-to-sign-with"
PASSWORD = "correct horse battery"
TESTER = Actor("system", "test")


@dataclass
class Person:
    """Someone with a session, and how they send it."""

    user_id: UUID
    email: str
    session: str
    tenant_slug: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.session}"}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, login_failures=5)


@asynccontextmanager
async def gateway(settings: Settings, database: Database, ring: KeyRing) -> AsyncIterator[Mnemon]:
    privacy = Privacy(database, ring, DirectoryStore(settings.home / "archive"), limits=AppendLimits.of(settings))
    whole = Mnemon(settings, database, privacy, Sessions(database, KEY, timedelta(hours=1)))
    whole.checks["database"] = lambda: check_database(database)
    whole.checks["migrations"] = lambda: check_migrations(database)
    yield whole
    await privacy.close()


@pytest.fixture
async def mnemon(settings: Settings, database: Database, ring: KeyRing) -> AsyncIterator[Mnemon]:
    async with gateway(settings, database, ring) as made:
        yield made


@pytest.fixture
def caller_address() -> str:
    """An address of the test's own: failed logins are counted by address, across tests too."""
    return f"198.51.{secrets.randbelow(256)}.{secrets.randbelow(256)}"


@pytest.fixture
async def client(
    mnemon: Mnemon, database: Database, ring: KeyRing, caller_address: str
) -> AsyncIterator[httpx.AsyncClient]:
    def door(of: Mnemon) -> httpx.AsyncBaseTransport:
        site = stack.enter_context(site_of(of))
        return httpx.ASGITransport(site, raise_app_exceptions=False, client=(caller_address, 40000))

    async with AsyncExitStack() as stack:
        transport = door(mnemon)
        if POOLED:
            second = await stack.enter_async_context(gateway(mnemon.settings, database, ring))
            transport = TakingTurns([transport, door(second)])
        yield await stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8787"))


async def person(mnemon: Mnemon, tenant: UUID, role: Role, email: str | None = None) -> Person:
    address = email or f"{role}@example.org"
    async with mnemon.log.transaction(tenant) as transaction:
        user = await add_user(transaction, TESTER, address, role, password=PASSWORD)
    session = mnemon.sessions.issue(Principal(tenant, user.user_id, role))
    return Person(user.user_id, address, session.token, f"t-{tenant.hex}")


@pytest.fixture
async def admin(mnemon: Mnemon, tenant: UUID) -> Person:
    return await person(mnemon, tenant, Role.ADMIN)


@pytest.fixture
async def user(mnemon: Mnemon, tenant: UUID) -> Person:
    return await person(mnemon, tenant, Role.USER)


async def token_for(mnemon: Mnemon, tenant: UUID, owner: Person, scope: CredentialScope) -> str:
    async with mnemon.log.transaction(tenant) as transaction:
        made = await add_token(transaction, TESTER, owner.user_id, f"a {scope} token", scope)
    return made.secret
