"""Jobs over REST: a tenant sees its own, its administrators control them."""

from uuid import UUID

import httpx
import pytest
from pydantic import BaseModel

from mnemon.app import Mnemon
from mnemon.identity.roles import Role
from mnemon.ids import new_uuid
from mnemon.work.enqueue import enqueue, enqueue_many
from mnemon.work.kinds import JobKind

from .conftest import Person, person


class Page(BaseModel):
    number: int


READ = JobKind("test.api.read", Page, attempts=4)
SPEC_FIELDS = {
    "job_id", "status", "attempts", "max_attempts", "next_run_at", "locked_by", "locked_at", "last_error_code",
    "last_error_message", "created_at", "updated_at",
}  # fmt: skip


async def add(mnemon: Mnemon, tenant: UUID, count: int = 1) -> list[str]:
    async with mnemon.database.transaction(tenant) as tx:
        return [str(job) for job in await enqueue_many(tx, READ, [Page(number=number) for number in range(count)])]


async def test_a_job_shows_its_fields_payload_and_history(
    client: httpx.AsyncClient, mnemon: Mnemon, user: Person, tenant: UUID
) -> None:
    (job,) = await add(mnemon, tenant)
    answer = (await client.get(f"/v1/jobs/{job}", headers=user.headers)).json()
    assert answer.keys() >= SPEC_FIELDS
    assert (answer["status"], answer["attempts"], answer["max_attempts"]) == ("PENDING", 0, 4)
    assert (answer["kind"], answer["payload"], answer["errors"]) == ("test.api.read", {"number": 0}, [])
    assert (await client.get(f"/api/jobs/{job}", headers=user.headers)).json() == answer


async def test_pages_join_without_gap_or_repeat_and_filter(
    client: httpx.AsyncClient, mnemon: Mnemon, user: Person, admin: Person, tenant: UUID
) -> None:
    jobs = await add(mnemon, tenant, 7)
    await client.post(f"/v1/jobs/{jobs[0]}/cancel", headers=admin.headers)
    seen, cursor = [], None
    while True:
        params = {"limit": 3} | ({"cursor": cursor} if cursor else {})
        page = (await client.get("/v1/jobs", params=params, headers=user.headers)).json()
        seen += [one["job_id"] for one in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == sorted(jobs, reverse=True)
    failed = (await client.get("/v1/jobs", params={"status": "FAILED"}, headers=user.headers)).json()
    assert [one["job_id"] for one in failed["items"]] == [jobs[0]]
    assert (await client.get("/v1/jobs", params={"kind": "none"}, headers=user.headers)).json()["items"] == []
    for wrong in ({"status": "LOST"}, {"cursor": "!!"}, {"cursor": "NQ"}):
        assert (await client.get("/v1/jobs", params=wrong, headers=user.headers)).status_code == 422


async def test_an_administrator_cancels_and_retries(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, tenant: UUID
) -> None:
    (job,) = await add(mnemon, tenant)
    cancelled = (await client.post(f"/v1/jobs/{job}/cancel", headers=admin.headers)).json()
    assert (cancelled["status"], cancelled["last_error_code"], cancelled["next_run_at"]) == (
        "FAILED",
        "CANCELLED",
        None,
    )
    again = await client.post(f"/v1/jobs/{job}/cancel", headers=admin.headers)
    assert (again.status_code, again.json()["error_code"]) == (409, "JOB_NOT_CANCELLABLE")
    retried = (await client.post(f"/v1/jobs/{job}/retry", headers=admin.headers)).json()
    assert (retried["status"], retried["attempts"]) == ("PENDING", 0)


async def test_a_retry_beside_an_unfinished_twin_is_refused(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, tenant: UUID
) -> None:
    async with mnemon.database.transaction(tenant) as tx:
        first = await enqueue(tx, READ, Page(number=1), dedupe_key="one")
        await tx.execute("SELECT mnemon.cancel_job(%s)", (first.job_id,))
        await enqueue(tx, READ, Page(number=1), dedupe_key="one")
    answer = await client.post(f"/v1/jobs/{first.job_id}/retry", headers=admin.headers)
    assert (answer.status_code, answer.json()["error_code"]) == (409, "JOB_NOT_RETRIABLE")


@pytest.mark.parametrize("control", ["retry", "cancel"])
async def test_others_may_not_control_jobs(
    client: httpx.AsyncClient, mnemon: Mnemon, user: Person, tenant: UUID, other_tenant: UUID, control: str
) -> None:
    (job,) = await add(mnemon, tenant)
    stranger = await person(mnemon, other_tenant, Role.ADMIN)
    assert (await client.post(f"/v1/jobs/{job}/{control}", headers=user.headers)).status_code == 403
    assert (await client.post(f"/v1/jobs/{job}/{control}", headers=stranger.headers)).status_code == 404
    assert (await client.get(f"/v1/jobs/{job}", headers=stranger.headers)).status_code == 404
    assert (await client.get("/v1/jobs", headers=stranger.headers)).json()["items"] == []
    assert (await client.get(f"/v1/jobs/{new_uuid()}", headers=user.headers)).status_code == 404


async def test_stats_count_the_tenants_own_jobs(
    client: httpx.AsyncClient, mnemon: Mnemon, user: Person, tenant: UUID, other_tenant: UUID
) -> None:
    await add(mnemon, tenant, 3)
    await add(mnemon, other_tenant, 5)
    stats = (await client.get("/v1/jobs/stats", headers=user.headers)).json()
    (kind,) = stats["kinds"]
    assert (kind["kind"], kind["waiting"], kind["running"], kind["dead"]) == ("test.api.read", 3, 0, 0)
    assert kind["oldest_waiting_seconds"] >= 0
    assert stats["workers_alive"] >= 0
