"""The models' own jobs, by the clock. Moving vectors is tested with the models."""

from datetime import timedelta
from types import SimpleNamespace

from mnemon.ids import new_uuid
from mnemon.models.calls import DatabaseRecorder, ModelCall
from mnemon.models.language import Prompt, Usage
from mnemon.settings import Settings
from mnemon.work.enqueue import enqueue
from mnemon.work.model_jobs import FORGET_CALLS, CallAge, model_schedules


async def test_records_of_calls_go_after_their_time_in_all_tenants(
    database, tenant, other_tenant, run_worker, job_reaches
) -> None:
    kept = {}
    for owner in (tenant, other_tenant):
        calls = [
            ModelCall(owner, new_uuid(), Prompt("p", 1, "", "x"), "m", "answered", None, 1, Usage(), 0.1) for _ in "ab"
        ]
        for call in calls:
            await DatabaseRecorder(database).record(call)
        async with database.owner() as connection:
            await connection.execute(
                "UPDATE mnemon.model_calls SET called_at = now() - %s WHERE call_id = %s",
                (timedelta(days=8), calls[0].call_id),
            )
        kept[owner] = calls[1].call_id
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, FORGET_CALLS, CallAge(days=7))
    await run_worker(FORGET_CALLS, context=SimpleNamespace(model_calls=DatabaseRecorder(database)))
    row = await job_reaches(job.job_id, "DONE")
    assert row["result"] == {"deleted": 2}
    for owner, call_id in kept.items():
        async with database.transaction(owner) as tx:
            rows = await (await tx.execute("SELECT call_id FROM mnemon.model_calls")).fetchall()
        assert [one["call_id"] for one in rows] == [call_id]


def test_the_schedule_carries_the_setting() -> None:
    schedules = {one.name: one for one in model_schedules(Settings(model_call_keep_days=3))}
    assert schedules["models.forget_calls"].payload == CallAge(days=3)
    assert "models.find_old_vectors" in schedules
