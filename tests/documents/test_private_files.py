"""A private file is known to its readers alone: its run, its jobs, its id and that there is one at all."""

from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.identity.roles import Role
from mnemon.ids import new_uuid
from mnemon.semantics.jobs import KINDS as SEMANTIC_KINDS
from tests.api.conftest import Person, person
from tests.documents.conftest import Ingested, rows

TEXT = "Decision: We will buy the zeppelin factory in Friedrichshafen."


@pytest.fixture
async def private(ingested: Ingested) -> dict[str, str]:
    return await ingested(TEXT, "plan.txt", visibility_scope="me")


async def test_its_run_is_there_for_its_owner_and_not_for_an_administrator(
    private: dict[str, str], client: httpx.AsyncClient, user: Person, admin: Person
) -> None:
    path = f"/v1/ingestion-runs/{private['run_id']}"
    assert (await client.get(path, headers=user.headers)).status_code == 200
    assert (await client.get("/v1/ingestion-runs", headers=user.headers)).json()["total"] == 1
    unknown = await client.get(f"/v1/ingestion-runs/{new_uuid()}", headers=admin.headers)
    hidden = await client.get(path, headers=admin.headers)
    assert hidden.status_code == unknown.status_code == 404
    listed = await client.get("/v1/ingestion-runs", headers=admin.headers)
    assert (listed.json()["items"], listed.json()["total"]) == ([], 0)
    of_document = await client.get("/v1/ingestion-runs", params={"doc_id": private["doc_id"]}, headers=admin.headers)
    assert of_document.json()["total"] == 0
    assert (await client.post(f"{path}/retry", headers=admin.headers)).status_code == 404
    assert (await client.post(f"{path}/retry", headers=user.headers)).status_code == 409, "it has not failed"


async def test_its_jobs_are_shown_to_its_owner_alone(
    private: dict[str, str], client: httpx.AsyncClient, user: Person, admin: Person, mnemon: Mnemon, tenant: UUID
) -> None:
    jobs = [str(row["job_id"]) for row in await rows(mnemon, tenant, "SELECT job_id FROM mnemon.jobs")]
    assert len(jobs) == 2, "one read it, one will read its events"
    assert {one["job_id"] for one in (await client.get("/v1/jobs", headers=user.headers)).json()["items"]} == {*jobs}
    assert (await client.get("/v1/jobs", headers=admin.headers)).json()["items"] == []
    counted = (await client.get("/v1/jobs/stats", headers=admin.headers)).json()["kinds"]
    assert not {kind.name for kind in SEMANTIC_KINDS} & {one["kind"] for one in counted}
    for job in jobs:
        assert (await client.get(f"/v1/jobs/{job}", headers=user.headers)).status_code == 200
        assert (await client.get(f"/v1/jobs/{job}", headers=admin.headers)).status_code == 404
        for control in ("retry", "cancel"):
            answer = await client.post(f"/v1/jobs/{job}/{control}", headers=admin.headers)
            assert answer.status_code == 404, "a refusal would say that there is one"


async def test_an_administrators_repairs_do_not_tell_whether_it_exists(
    private: dict[str, str], client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID
) -> None:
    owner = await person(mnemon, tenant, Role.ADMIN, "owner@example.org")
    for method, path in (
        ("POST", "/v1/documents/{}/rebuild"),
        ("POST", "/v1/documents/{}/deactivate"),
        ("POST", "/v1/documents/{}/reactivate"),
        ("POST", "/v1/documents/{}/purge"),
    ):
        hidden = await client.request(method, path.format(private["doc_id"]), headers=owner.headers)
        unknown = await client.request(method, path.format(new_uuid()), headers=owner.headers)
        assert hidden.status_code == unknown.status_code, (method, path, hidden.text)
        assert hidden.status_code == 404, hidden.text
    assert len(await rows(mnemon, tenant, "SELECT FROM mnemon.ingestion_runs")) == 1
