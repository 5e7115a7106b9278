"""What one test leaves to do is not done by the workers of another."""

from uuid import UUID

from mnemon.db.database import Database
from mnemon.work.enqueue import enqueue
from mnemon.work.job import Job
from mnemon.work.worker import Worker
from tests import leftovers
from tests.conftest import make_tenant
from tests.work.conftest import Eventually, MakeKind, Note, running


async def test_a_worker_of_a_test_does_the_jobs_of_that_test_alone(
    database: Database, tenant: UUID, make_kind: MakeKind, eventually: Eventually
) -> None:
    kind, done = make_kind(), []

    @kind.handler
    async def note(job: Job[Note]) -> None:
        done.append(job.payload.text)

    over = len(leftovers.MADE)
    other = await make_tenant(database)
    for owner, text in ((other, "of a test that is over"), (tenant, "of this one")):
        async with database.transaction(owner) as tx:
            await enqueue(tx, kind, Note(text=text))
    leftovers.end_tenants(over)
    async with running(Worker(database, [kind], poll=0.1)):

        async def all_is_done() -> bool:
            statement = "SELECT FROM mnemon.jobs WHERE kind = %s AND status IN ('PENDING', 'PROCESSING')"
            async with database.owner() as rows:
                return await (await rows.execute(statement, (kind.name,))).fetchone() is None

        await eventually(all_is_done)
    assert done == ["of this one"]
