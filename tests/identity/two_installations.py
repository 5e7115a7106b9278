"""Two installations, each with a database and a gateway, and a tenant that goes from one to the other."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mnemon.app import Mnemon
from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer
from mnemon.db.tenant_tables import tenant_tables
from mnemon.identity.roles import CredentialScope, Role
from mnemon.identity.tenant_moves import move_tenant
from mnemon.log.privacy.wrapping_keys import KeyRing
from mnemon.settings import Settings
from mnemon.web.site import create_site
from tests.api.conftest import Person, gateway, person, token_for
from tests.api.test_events import DECISION_TYPE, decision
from tests.conftest import make_tenant

URL = "https://two.example.org"
BACK = "https://one.example.org"
THIRD = "https://three.example.org"


@dataclass
class Installation:
    """One database and its gateway."""

    mnemon: Mnemon
    client: httpx.AsyncClient


@dataclass
class Sides:
    """Two of them; the tenant and its people begin in the first."""

    here: Installation
    there: Installation
    tenant: UUID
    admin: Person
    token: str

    @property
    def slug(self) -> str:
        return f"t-{self.tenant.hex}"

    @property
    def to(self) -> ExternalServer:
        return self.there.mnemon.database.server  # type: ignore[return-value]

    async def move(self) -> Any:
        return await move_tenant(self.here.mnemon.database, self.slug, self.to, URL, lambda words: None)

    async def move_back(self) -> Any:
        back: Any = self.here.mnemon.database.server
        return await move_tenant(self.there.mnemon.database, self.slug, back, BACK, lambda words: None)

    async def written(self, side: Installation, *events: dict[str, Any]) -> list[str]:
        """The ids of these events, recorded on that side."""
        told = [await side.client.post("/v1/events", json={"events": [e]}, headers=self.admin.headers) for e in events]
        assert {one.status_code for one in told} == {201}, [one.text for one in told]
        return [one["id"] for answer in told for one in answer.json()["events"]]

    async def read(self, side: Installation) -> list[str]:
        asked = {"limit": 200, "legal_entity": "*", "type": DECISION_TYPE["type"]}
        told = await side.client.get("/v1/events", params=asked, headers=self.admin.headers)
        assert told.status_code == 200, told.text
        return [one["id"] for one in told.json()["events"]]

    async def written_decisions(self, *numbers: str) -> list[str]:
        """Where the tenant begins."""
        await self.knows_decisions()
        return await self.written(self.here, *(decision(one) for one in numbers))

    async def knows_decisions(self) -> None:
        told = await self.here.client.post("/v1/event-types", json=DECISION_TYPE, headers=self.admin.headers)
        assert told.status_code == 201, told.text


def as_superuser(server: EmbeddedServer, own: ExternalServer) -> ExternalServer:
    """Who may copy rows as they are."""
    dbname = conninfo_to_dict(own.owner_conninfo)["dbname"]
    return ExternalServer(make_conninfo(server.cluster.conninfo("postgres"), dbname=dbname), own.app_conninfo)


@asynccontextmanager
async def installed(
    server: EmbeddedServer, own: ExternalServer, ring: KeyRing, folder: Path, lived_in: bool
) -> AsyncIterator[Installation]:
    settings = Settings(home=folder, embedder="none")
    async with Database(as_superuser(server, own)) as database, gateway(settings, database, ring) as mnemon:
        transport = httpx.ASGITransport(create_site(mnemon), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8787") as client:
            if lived_in:
                await _lives_in(mnemon, client)
            yield Installation(mnemon, client)


async def _lives_in(mnemon: Mnemon, client: httpx.AsyncClient) -> None:
    """Somebody, so that partitions are numbered and the wrapping key is known."""
    neighbour = await person(mnemon, await make_tenant(mnemon.database), Role.ADMIN)
    for path, body in (("/v1/event-types", DECISION_TYPE), ("/v1/events", {"events": [decision("D-1")]})):
        told = await client.post(path, json=body, headers=neighbour.headers)
        assert told.status_code == 201, told.text


@pytest.fixture
async def sides(
    server: EmbeddedServer, own_server: ExternalServer, second_server: ExternalServer, ring: KeyRing, tmp_path: Path
) -> AsyncIterator[Sides]:
    async with (
        installed(server, own_server, ring, tmp_path, lived_in=False) as here,
        installed(server, second_server, ring, tmp_path, lived_in=True) as there,
    ):
        tenant = await make_tenant(here.mnemon.database)
        for number in range(2):
            await person(here.mnemon, await make_tenant(here.mnemon.database), Role.ADMIN, f"{number}@example.org")
        admin = await person(here.mnemon, tenant, Role.ADMIN)
        token = await token_for(here.mnemon, tenant, admin, CredentialScope.WRITE)
        yield Sides(here, there, tenant, admin, token)


@pytest.fixture
async def third(
    sides: Sides, server: EmbeddedServer, third_server: ExternalServer, ring: KeyRing, tmp_path: Path
) -> AsyncIterator[Sides]:
    """The same tenant, beside an installation that it does not belong to."""
    async with installed(server, third_server, ring, tmp_path, lived_in=True) as elsewhere:
        yield replace(sides, there=elsewhere)


async def dies(*given: Any) -> None:
    raise KeyboardInterrupt


async def end_sessions(sides: Sides, *connections: Any) -> None:
    pids = [one.info.backend_pid for one in connections]
    async with sides.here.mnemon.database.owner() as owner:
        # Of one server: each waits until it is gone.
        await owner.execute("SELECT pg_terminate_backend(pid, 10000) FROM unnest(%s::int[]) AS pid", (pids,))


async def rows_of(side: Installation, tenant: UUID) -> dict[str, int]:
    found = {}
    async with side.mnemon.database.owner() as owner:
        for table in await tenant_tables(owner):
            statement = psycopg.sql.SQL("SELECT count(*) AS n FROM {} WHERE tenant_id = %s").format(table.relation)
            row = await (await owner.execute(statement, (tenant,))).fetchone()
            if row and row["n"]:
                found[table.name] = row["n"]
    return found
