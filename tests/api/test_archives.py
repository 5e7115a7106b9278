"""The archive over REST: payloads move as jobs, reading goes on, and only administrators may."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.identity.roles import Role
from mnemon.work.log_jobs import ARCHIVE, RESTORE
from mnemon.work.worker import Worker
from tests.patience import PATIENCE

from .conftest import Person, person

# Later than any day on which a run ends that begins today.
LATER = str((datetime.now(UTC) + timedelta(days=3)).date())


@pytest.fixture
async def worker(mnemon: Mnemon) -> AsyncIterator[None]:
    running = Worker(mnemon.database, [ARCHIVE, RESTORE], poll=0.1, context=mnemon)
    task = asyncio.create_task(running.run())
    yield
    running.stop()
    await asyncio.wait_for(task, PATIENCE)


async def moved(client: httpx.AsyncClient, who: Person, path: str, **wanted: str) -> dict[str, Any]:
    started = await client.post(path, json=wanted, headers=who.headers)
    assert started.status_code == 202, started.text
    where = f"/v1/archives/jobs/{started.json()['job_id']}"
    async with asyncio.timeout(PATIENCE):
        while (run := (await client.get(where, headers=who.headers)).json())["status"] in ("PENDING", "PROCESSING"):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return dict(run)


async def test_payloads_move_to_the_archive_and_back(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, tenant: UUID, worker: None
) -> None:
    before = (await client.get("/v1/events", headers=admin.headers)).json()["events"]
    done = await moved(client, admin, "/v1/archives", before=LATER)
    assert (done["status"], done["result"]["payloads"]) == ("DONE", len(before)), done
    [stored] = (await client.get("/v1/archives", headers=admin.headers)).json()
    assert done["result"]["objects"] == [stored["object_key"]]
    async with mnemon.database.transaction(tenant) as tx:
        kept = await (await tx.execute("SELECT count(payload) AS n FROM mnemon.event_payloads")).fetchone()
    assert kept == {"n": 1}
    after = (await client.get("/v1/events", headers=admin.headers)).json()["events"]
    assert after[: len(before)] == before
    assert after[-1]["type"] == "log.payloads.archived"
    assert after[-1]["actor"]["id"] == f"user:{admin.user_id}"
    back = await moved(client, admin, "/v1/archives/restorations", first_sequence="1")
    assert (back["status"], back["result"]["payloads"]) == ("DONE", len(before))
    assert (await client.get("/v1/archives", headers=admin.headers)).json() == []


async def test_archives_of_every_legal_entity_are_listed(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, tenant: UUID, worker: None
) -> None:
    declared = {"type": "shop.sale.made", "data_schema": {"type": "object"}}
    assert (await client.post("/v1/event-types", json=declared, headers=admin.headers)).status_code == 201
    for name in ("de", "fr"):
        sent = {"events": [{"type": "shop.sale.made", "data": {}, "scope": {"legal_entity": name}}]}
        assert (await client.post("/v1/events", json=sent, headers=admin.headers)).status_code == 201
        assert (await moved(client, admin, "/v1/archives", before=LATER, legal_entity=name))["status"] == "DONE"
    every = (await client.get("/v1/archives", headers=admin.headers)).json()
    assert [one["legal_entity"] for one in every] == ["de", "fr"]
    one = (await client.get("/v1/archives?legal_entity=fr", headers=admin.headers)).json()
    assert [one["legal_entity"] for one in one] == ["fr"]


async def test_a_refusal_says_why(client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, worker: None) -> None:
    async def nothing_covered(*_: object) -> int:
        return 0

    mnemon.privacy.archive.coverage.append(nothing_covered)
    refused = await moved(client, admin, "/v1/archives", before=LATER)
    assert (refused["status"], refused["error_code"]) == ("FAILED", "ARCHIVE_REFUSED")
    assert "snapshots cover only 0" in refused["error"]
    unknown = await moved(client, admin, "/v1/archives", before=LATER, legal_entity="nowhere")
    assert unknown["error_code"] == "ARCHIVE_REFUSED"


async def test_only_administrators_of_the_tenant_archive(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, user: Person, other_tenant: UUID
) -> None:
    for path, body in (("/v1/archives", {"before": LATER}), ("/v1/archives/restorations", {})):
        assert (await client.post(path, json=body, headers=user.headers)).status_code == 403
    started = (await client.post("/v1/archives", json={"before": LATER}, headers=admin.headers)).json()
    stranger = await person(mnemon, other_tenant, Role.ADMIN, "stranger@example.org")
    absent = await client.get(f"/v1/archives/jobs/{started['job_id']}", headers=stranger.headers)
    assert absent.status_code == 404


@pytest.mark.parametrize("body", [{}, {"before": "soon"}, {"before": "2025-01-01", "extra": 1}])
async def test_a_malformed_request_is_refused(client: httpx.AsyncClient, admin: Person, body: dict[str, Any]) -> None:
    assert (await client.post("/v1/archives", json=body, headers=admin.headers)).status_code == 422
