"""A tenant moves to another database while it is written to: nothing is lost, and nobody is told something wrong."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from tests.api.conftest import Person, gateway, person, token_for
from tests.api.test_events import DECISION_TYPE, decision
from tests.conftest import make_tenant
from tests.patience import PATIENCE

from mnemon.app import Mnemon
from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer
from mnemon.db.tenant_copy import MoveRefused, TenantCopy
from mnemon.db.tenant_tables import tenant_tables
from mnemon.identity.roles import CredentialScope, Role
from mnemon.identity.tenant_moves import move_tenant, moves
from mnemon.log.privacy.wrapping_keys import KeyRing
from mnemon.settings import Settings
from mnemon.web.site import create_site

URL = "https://two.example.org"
OBJECTS = "/v1/memory/objects"


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


def as_superuser(server: EmbeddedServer, own: ExternalServer) -> ExternalServer:
    """Who may copy rows as they are."""
    dbname = conninfo_to_dict(own.owner_conninfo)["dbname"]
    return ExternalServer(make_conninfo(server.cluster.conninfo("postgres"), dbname=dbname), own.app_conninfo)


@pytest.fixture
async def sides(
    server: EmbeddedServer, own_server: ExternalServer, second_server: ExternalServer, ring: KeyRing, tmp_path: Path
) -> AsyncIterator[Sides]:
    settings = Settings(home=tmp_path, embedder="none")
    async with AsyncExitStack() as stack:

        async def installed(own: ExternalServer) -> Installation:
            database = await stack.enter_async_context(Database(as_superuser(server, own)))
            mnemon = await stack.enter_async_context(gateway(settings, database, ring))
            transport = httpx.ASGITransport(create_site(mnemon), raise_app_exceptions=False)
            client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8787")
            return Installation(mnemon, await stack.enter_async_context(client))

        here, there = await installed(own_server), await installed(second_server)
        # Somebody lives there already: partitions are numbered, and the wrapping key is known.
        neighbour = await make_tenant(there.mnemon.database)
        lives_there = await person(there.mnemon, neighbour, Role.ADMIN)
        for path, body in (("/v1/event-types", DECISION_TYPE), ("/v1/events", {"events": [decision("D-1")]})):
            told = await there.client.post(path, json=body, headers=lives_there.headers)
            assert told.status_code == 201, told.text
        tenant = await make_tenant(here.mnemon.database)
        for number in range(2):
            await person(here.mnemon, await make_tenant(here.mnemon.database), Role.ADMIN, f"{number}@example.org")
        admin = await person(here.mnemon, tenant, Role.ADMIN)
        token = await token_for(here.mnemon, tenant, admin, CredentialScope.WRITE)
        yield Sides(here, there, tenant, admin, token)


@dataclass
class Writer:
    """Somebody who writes and reads all the time, goes where they are told, and notes what was acknowledged."""

    sides: Sides
    name: str
    noted: list[str] = field(default_factory=list)
    told_to_wait: int = 0
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    wrong: list[str] = field(default_factory=list)

    async def run(self, stop: asyncio.Event) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            made = await self._ask("POST", "/v1/events", {"events": [decision(f"{self.name}-{number}")]}, 201)
            self.noted.append(made["events"][0]["id"])
            await self._ask("GET", f"/v1/events/{self.noted[-1]}", None, 200)
            note = {"content": f"{self.name} saw number {number}."}
            await self._ask("POST", OBJECTS, note, 201)

    async def _ask(self, method: str, path: str, body: Any, expected: int) -> Any:
        while True:
            side = self.sides.there if self.moved.is_set() else self.sides.here
            answer = await side.client.request(method, path, json=body, headers=self.sides.admin.headers)
            if answer.status_code == expected:
                return answer.json()
            code = answer.json().get("error_code")
            if code == "TENANT_MOVING":
                assert answer.status_code == 503
                self.told_to_wait += 1
                await asyncio.sleep(0.01)
            elif code == "TENANT_MOVED":
                assert answer.status_code == 421 and answer.json()["details"]["url"] == URL
                self.moved.set()
            else:
                self.wrong.append(answer.text)
                raise AssertionError(answer.text)


async def test_a_tenant_moves_while_it_is_written_to(sides: Sides) -> None:
    headers = sides.admin.headers
    registered = await sides.here.client.post("/v1/event-types", json=DECISION_TYPE, headers=headers)
    assert registered.status_code == 201, registered.text
    stop, writers = asyncio.Event(), [Writer(sides, name) for name in ("ana", "ben", "cy")]
    tasks = [asyncio.create_task(one.run(stop)) for one in writers]
    await _until(lambda: all(len(one.noted) >= 5 for one in writers), tasks)
    moved = await sides.move()
    assert moved.rounds >= 2 and moved.rows > 0
    before = [len(one.noted) for one in writers]
    await _until(lambda: all(len(one.noted) > count + 3 for one, count in zip(writers, before, strict=True)), tasks)
    stop.set()
    await asyncio.gather(*tasks)

    acknowledged = [event for one in writers for event in one.noted]
    events = sides.there.mnemon.log
    kept = [one async for one in _every(events, sides.tenant)]
    assert [one.sequence for one in kept] == list(range(1, len(kept) + 1)), "no gap"
    assert set(acknowledged) <= {str(one.id) for one in kept} and len(set(acknowledged)) == len(acknowledged)
    assert (await sides.there.mnemon.integrity.verify(sides.tenant)).faults == []

    assert await _rows(sides.here, sides.tenant) == {}, "nothing is kept here"
    assert [(one["slug"], one["state"]) for one in await moves(sides.here.mnemon.database)] == [(sides.slug, "moved")]
    assert await moves(sides.there.mnemon.database) == []
    for credential in (sides.admin.session, sides.token):
        answer = await sides.here.client.get("/v1/events", headers={"Authorization": f"Bearer {credential}"})
        assert (answer.status_code, answer.json()["error_code"]) == (421, "TENANT_MOVED"), answer.text
        there = await sides.there.client.get("/v1/events", headers={"Authorization": f"Bearer {credential}"})
        assert there.status_code == 200, there.text
    with pytest.raises(MoveRefused, match=URL):
        await sides.move()


async def test_a_copy_that_is_not_the_same_moves_nothing(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    async def differs(self: TenantCopy, tables: Any) -> list[str]:
        return ["documents"]

    monkeypatch.setattr(TenantCopy, "differing", differs)
    with pytest.raises(MoveRefused, match="documents"):
        await sides.move()
    monkeypatch.undo()
    headers = sides.admin.headers
    assert (await sides.here.client.get("/v1/events", headers=headers)).status_code == 200
    assert (await sides.there.client.get("/v1/events", headers=headers)).status_code != 200
    assert (await sides.move()).url == URL
    assert (await sides.there.client.get("/v1/events", headers=headers)).status_code == 200


async def test_a_move_that_broke_off_after_the_opening_is_ended_by_the_next(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def dies(*given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mnemon.identity.tenant_moves._Move.leave", dies)
    with pytest.raises(KeyboardInterrupt):
        await sides.move()
    headers = sides.admin.headers
    closed = await sides.here.client.get("/v1/events", headers=headers)
    assert (closed.status_code, closed.json()["error_code"]) == (503, "TENANT_MOVING"), "never open in both"
    assert (await sides.there.client.get("/v1/events", headers=headers)).status_code == 200
    monkeypatch.undo()
    await sides.move()
    assert (await sides.here.client.get("/v1/events", headers=headers)).status_code == 421


async def test_a_move_that_broke_off_while_it_was_cleared_here_is_ended_by_the_next(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is forgotten there must not be found here for ever."""

    async def dies(*given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mnemon.identity.tenant_moves._clear", dies)
    with pytest.raises(KeyboardInterrupt):
        await sides.move()
    assert await _rows(sides.here, sides.tenant) != {}
    monkeypatch.undo()
    await sides.move()
    assert await _rows(sides.here, sides.tenant) == {}
    assert (await sides.there.client.get("/v1/events", headers=sides.admin.headers)).status_code == 200


async def test_another_tenant_of_the_name_of_one_that_has_moved_is_not_cleared_away(sides: Sides) -> None:
    await sides.move()
    async with sides.here.mnemon.database.owner() as owner:
        await owner.execute(
            "INSERT INTO mnemon.tenants (tenant_id, slug, name) VALUES (gen_random_uuid(), %s, 'New')", (sides.slug,)
        )
    with pytest.raises(MoveRefused, match="has moved to"):
        await sides.move()
    async with sides.here.mnemon.database.owner() as owner:
        rows = await owner.execute("SELECT FROM mnemon.tenants WHERE slug = %s", (sides.slug,))
        assert await rows.fetchone() is not None


async def test_what_nobody_there_names_any_more_wraps_nothing_that_arrives(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other side rotates its keys while rows are copied, and retires the one that people here are wrapped with."""
    headers = sides.admin.headers
    for path, body in (("/v1/event-types", DECISION_TYPE), ("/v1/events", {"events": [decision("D-2")]})):
        assert (await sides.here.client.post(path, json=body, headers=headers)).status_code == 201
    bring_over, rounds = TenantCopy.bring_over, 0

    async def rotates_there(self: TenantCopy, tables: Any) -> int:
        nonlocal rounds
        rounds += 1
        if rounds == 2:
            await sides.there.mnemon.privacy.rotate()
        return await bring_over(self, tables)

    monkeypatch.setattr(TenantCopy, "bring_over", rotates_there)
    with pytest.raises(MoveRefused, match="never used"):
        await sides.move()
    monkeypatch.undo()
    assert (await sides.here.client.get("/v1/events", headers=headers)).status_code == 200, "it is open here again"


async def test_what_must_be_ready_is_asked_while_the_tenant_is_open_and_not_once_it_is_there(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    async def ready(tenant: Any) -> None:
        nonlocal asked
        asked += 1
        async with sides.here.mnemon.database.transaction(tenant.tenant_id):
            pass

    async def dies(*given: Any) -> None:
        raise KeyboardInterrupt

    async def move() -> None:
        here = sides.here.mnemon.database
        await move_tenant(here, sides.slug, sides.to, URL, lambda words: None, ready)

    async with sides.here.mnemon.database.owner() as owner:
        closed = (
            "INSERT INTO mnemon.tenant_moves (tenant_id, slug, state, url) VALUES (%s, %s, 'closed', 'https://two')"
        )
        await owner.execute(closed, (sides.tenant, sides.slug))
    monkeypatch.setattr("mnemon.identity.tenant_moves._Move.leave", dies)
    with pytest.raises(KeyboardInterrupt):
        await move()
    monkeypatch.undo()
    await move()
    assert asked == 1


async def test_whoever_may_not_copy_is_told_what_to_grant(sides: Sides, second_server: ExternalServer) -> None:
    with pytest.raises(MoveRefused, match="GRANT SET ON PARAMETER session_replication_role TO mnemon_owner"):
        await move_tenant(sides.here.mnemon.database, sides.slug, second_server, URL, lambda words: None)
    with pytest.raises(MoveRefused, match="the database that the tenant is in"):
        here = sides.here.mnemon.database
        await move_tenant(here, sides.slug, here.server, URL, lambda words: None)  # type: ignore[arg-type]


async def _until(condition: Any, tasks: list[asyncio.Task[None]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            for task in tasks:
                if task.done():
                    task.result()
            await asyncio.sleep(0.01)


async def _every(events: Any, tenant: UUID) -> AsyncIterator[Any]:
    cursor = None
    while True:
        page = await events.read_page(tenant, limit=200, cursor=cursor)
        for one in page.events:
            yield one
        if page.next_cursor is None:
            return
        cursor = page.next_cursor


async def _rows(side: Installation, tenant: UUID) -> dict[str, int]:
    found = {}
    async with side.mnemon.database.owner() as owner:
        for table in await tenant_tables(owner):
            statement = psycopg.sql.SQL("SELECT count(*) AS n FROM {} WHERE tenant_id = %s").format(table.relation)
            row = await (await owner.execute(statement, (tenant,))).fetchone()
            if row and row["n"]:
                found[table.name] = row["n"]
    return found
