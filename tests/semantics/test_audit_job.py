"""The nightly check: it comes by the clock, and what it finds is on the job, in the metrics and in the log."""

from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from mnemon.app import Mnemon
from mnemon.errors import BadSettings
from mnemon.semantics import audit_job
from mnemon.semantics.artifacts import NewArtifact, ingest_artifact
from mnemon.semantics.audit_job import CHECK_EVIDENCE
from mnemon.semantics.jobs import semantic_schedules
from mnemon.settings import Settings
from mnemon.telemetry import REGISTRY
from mnemon.work.enqueue import enqueue
from mnemon.work.kinds import NoPayload
from tests.documents.conftest import rows
from tests.semantics.conftest import ADA

Done = Callable[[], Awaitable[None]]
RESULT = "SELECT status, result FROM mnemon.jobs WHERE kind = %s ORDER BY created_at DESC, job_id DESC LIMIT 1"
TAMPER = "UPDATE mnemon.event_evidence SET quote = replace(quote, 'Postgres', 'Mongo-db')"


def counted(name: str) -> float:
    return REGISTRY.get_sample_value(f"{name}_total") or 0.0


async def check(mnemon: Mnemon, tenant: UUID, all_done: Done) -> dict[str, object]:
    async with mnemon.database.transaction(tenant) as tx:
        await enqueue(tx, CHECK_EVIDENCE, NoPayload())
    await all_done()
    [job] = await rows(mnemon, tenant, RESULT, CHECK_EVIDENCE.name)
    assert job["status"] == "DONE"
    result: dict[str, object] = job["result"]
    return result


async def test_the_check_tells_what_holds_and_what_was_tampered_with(
    mnemon: Mnemon, tenant: UUID, all_done: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = NewArtifact(artifact_type="note", source_system="test", content="We decided to use Postgres.")
    taken = await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)
    await all_done()
    checked = counted("mnemon_evidence_checked")
    assert await check(mnemon, tenant, all_done) == {
        "revisions": 1, "events": 1, "quotes": 1, "broken_quotes": 0, "broken": [], "holds": True,
    }  # fmt: skip
    assert counted("mnemon_evidence_checked") == checked + 1

    async with mnemon.database.transaction(tenant) as tx:
        await tx.execute(TAMPER)
    broken = counted("mnemon_broken_evidence")
    with capture_logs() as lines:
        monkeypatch.setattr(audit_job, "log", audit_job.logger("test"))
        found = await check(mnemon, tenant, all_done)
    assert (found["holds"], found["broken_quotes"]) == (False, 1)
    assert str(taken.doc_version_id) in str(found["broken"])
    assert counted("mnemon_broken_evidence") == broken + 1
    [line] = [line for line in lines if line["event"] == "evidence_broken"]
    assert (line["log_level"], line["broken"], line["tenant_id"]) == ("error", 1, tenant)
    assert "Mongo" not in str(line)


def test_the_clock_asks_for_a_check_of_every_tenant_unless_it_is_switched_off() -> None:
    [nightly] = [one for one in semantic_schedules(Settings()) if one.kind is CHECK_EVIDENCE]
    assert nightly.every_tenant
    [weekly] = [
        one for one in semantic_schedules(Settings(evidence_check_schedule="5 4 * * 0")) if one.kind is CHECK_EVIDENCE
    ]
    assert weekly.cron == "5 4 * * 0"
    switched_off = semantic_schedules(Settings(evidence_check_schedule="off"))
    assert CHECK_EVIDENCE not in {one.kind for one in switched_off}
    with pytest.raises(BadSettings, match="MNEMON_EVIDENCE_CHECK_SCHEDULE"):
        semantic_schedules(Settings(evidence_check_schedule="every night"))
