"""Integrity over REST: verifications run as jobs, receipts prove single events, tampering is reported."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.errors import BadSettings
from mnemon.identity.roles import Role
from mnemon.log.privacy.wrapping_keys import KeyRing
from mnemon.log.proof.export import FORMAT
from mnemon.log.proof.integrity import Integrity
from mnemon.log.proof.verify import ChainReport
from mnemon.settings import Settings
from mnemon.work.log_jobs import CHECKPOINT, VERIFY, log_schedules
from mnemon.work.worker import Worker
from tests.patience import PATIENCE

from ..conftest import make_tenant
from .conftest import Person, gateway, person


@pytest.fixture
async def worker(mnemon: Mnemon) -> AsyncIterator[None]:
    running = Worker(mnemon.database, [VERIFY, CHECKPOINT], poll=0.1, context=mnemon)
    task = asyncio.create_task(running.run())
    yield
    running.stop()
    await asyncio.wait_for(task, PATIENCE)


async def verified(client: httpx.AsyncClient, who: Person, **wanted: Any) -> dict[str, Any]:
    started = await client.post("/v1/integrity/verifications", json=wanted, headers=who.headers)
    assert started.status_code == 202, started.text
    path = f"/v1/integrity/verifications/{started.json()['job_id']}"
    async with asyncio.timeout(PATIENCE):
        while (run := (await client.get(path, headers=who.headers)).json())["status"] in ("PENDING", "PROCESSING"):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert run["status"] == "DONE", run
    report: dict[str, Any] = run["report"]
    return report


async def checkpoint(client: httpx.AsyncClient, who: Person) -> httpx.Response:
    return await client.post("/v1/integrity/checkpoints", json={}, headers=who.headers)


async def newest(client: httpx.AsyncClient, who: Person) -> str:
    page = (await client.get("/v1/events?direction=backward&limit=1", headers=who.headers)).json()
    return str(page["events"][0]["id"])


async def test_a_verification_reports_what_was_checked(
    client: httpx.AsyncClient, admin: Person, user: Person, worker: None
) -> None:
    report = await verified(client, admin)
    assert (report["intact"], report["checked"], report["total"], report["faults"]) == (True, "2", "2", [])
    await checkpoint(client, admin)
    since = await verified(client, admin, since_checkpoint=True)
    assert (since["intact"], since["checked"], since["position"]["sequence"]) == (True, "0", "2")


async def test_a_verification_says_how_far_it_is_while_it_runs(
    client: httpx.AsyncClient, admin: Person, user: Person, worker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, whole = asyncio.Event(), Integrity.verify

    async def held_back(*given: Any, **options: Any) -> ChainReport:
        report = await whole(*given, **options)
        await held.wait()
        return report

    monkeypatch.setattr(Integrity, "verify", held_back)
    started = (await client.post("/v1/integrity/verifications", json={}, headers=admin.headers)).json()
    assert started["progress"] is None
    path = f"/v1/integrity/verifications/{started['job_id']}"
    async with asyncio.timeout(PATIENCE):
        while not (run := (await client.get(path, headers=user.headers)).json())["progress"]:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert (run["status"], run["report"]) == ("PROCESSING", None)
    assert run["progress"] == {"checked": "2", "sequence": "2", "total": "2", "faults": "0"}
    held.set()
    async with asyncio.timeout(PATIENCE):
        while (run := (await client.get(path, headers=user.headers)).json())["status"] == "PROCESSING":  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert run["report"]["intact"] is True


async def test_a_verification_finds_what_a_superuser_changed(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, user: Person, tenant: UUID, worker: None,
    server: EmbeddedServer,
) -> None:  # fmt: skip
    import psycopg

    with psycopg.connect(server.cluster.conninfo("postgres"), dbname="mnemon", autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute(
            "UPDATE mnemon.events SET actor_id = 'nobody' WHERE tenant_id = %s AND sequence = 2", (tenant,)
        )
    report = await verified(client, admin)
    assert report["intact"] is False
    assert [(one["sequence"], one["kind"]) for one in report["faults"]] == [("2", "columns")]


async def test_a_receipt_needs_a_checkpoint_that_covers_its_event(client: httpx.AsyncClient, admin: Person) -> None:
    event_id = await newest(client, admin)
    early = await client.get(f"/v1/events/{event_id}/receipt", headers=admin.headers)
    assert (early.status_code, early.json()["error_code"]) == (404, "NOTHING_TO_ATTEST")
    signed = await checkpoint(client, admin)
    assert signed.status_code == 201
    receipt = (await client.get(f"/v1/events/{event_id}/receipt", headers=admin.headers)).json()
    assert receipt["checkpoint"] == signed.json()
    assert receipt["event"]["sequence"] == "1"
    listed = (await client.get("/v1/integrity/checkpoints", headers=admin.headers)).json()
    assert listed == {"checkpoints": [signed.json()], "total": 1}
    await client.post("/v1/tokens", json={"name": "one more event"}, headers=admin.headers)
    again = await checkpoint(client, admin)
    last = (await client.get("/v1/integrity/checkpoints?limit=1", headers=admin.headers)).json()
    assert last == {"checkpoints": [again.json()], "total": 2}


async def test_an_export_has_a_line_per_event(client: httpx.AsyncClient, admin: Person, user: Person) -> None:
    export = await client.get("/v1/integrity/export", headers=user.headers)
    assert export.headers["content-type"].startswith("application/x-ndjson")
    lines = export.text.splitlines()
    assert FORMAT in lines[0]
    assert len(lines) == 3


async def test_another_tenants_verifications_and_checkpoints_do_not_exist_here(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, other_tenant: UUID
) -> None:
    stranger = await person(mnemon, other_tenant, Role.ADMIN, "stranger@example.org")
    started = (await client.post("/v1/integrity/verifications", json={}, headers=stranger.headers)).json()
    absent = await client.get(f"/v1/integrity/verifications/{started['job_id']}", headers=admin.headers)
    assert (absent.status_code, absent.json()["error_code"]) == (404, "NOT_FOUND")
    await checkpoint(client, stranger)
    assert (await client.get("/v1/integrity/checkpoints", headers=admin.headers)).json()["total"] == 0


async def test_the_same_question_twice_is_one_run(client: httpx.AsyncClient, admin: Person) -> None:
    first, second = [
        (await client.post("/v1/integrity/verifications", json={}, headers=admin.headers)).json() for _ in range(2)
    ]
    assert first["job_id"] == second["job_id"]


async def test_the_clock_signs_every_partition(settings: Settings, own_database: Database, ring: KeyRing) -> None:
    tenants = {await make_tenant(own_database) for _ in range(3)}
    async with gateway(settings, own_database, ring) as mnemon:
        for tenant in tenants:
            await person(mnemon, tenant, Role.ADMIN)
        signed = await mnemon.integrity.checkpoint_all()
    assert {UUID(str(one.says["tenant_id"])) for one in signed} >= tenants


def test_a_bad_schedule_is_a_bad_setting(tmp_path: Path) -> None:
    assert log_schedules(Settings(home=tmp_path))
    with pytest.raises(BadSettings, match="MNEMON_LOG_CHECKPOINT_SCHEDULE"):
        log_schedules(Settings(home=tmp_path, log_checkpoint_schedule="hourly"))
