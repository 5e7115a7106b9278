"""The nightly check: every stored quote of a tenant against its text, by the clock."""

from typing import Any

from mnemon.errors import BadSettings
from mnemon.semantics.audit import verify_evidence
from mnemon.settings import Settings
from mnemon.telemetry import logger
from mnemon.work.job import Job
from mnemon.work.kinds import JobKind, NoPayload
from mnemon.work.schedule import Schedule

OFF = "off"

log = logger(__name__)

# Some thousand quotes per second: six hours are enough for fifty million.
CHECK_EVIDENCE = JobKind("semantics.check_evidence", NoPayload, attempts=3, time_limit=6 * 3600, at_once=1)


@CHECK_EVIDENCE.handler
async def check_evidence(job: Job[NoPayload]) -> dict[str, Any]:
    """The same check as `mnemon events verify`; what it found stays on the job."""
    audited = await verify_evidence(job.database, job.tenant_id)
    found = {"revisions": audited.revisions, "events": audited.events, "quotes": audited.quotes}
    if audited.holds:
        log.info("evidence_holds", tenant_id=job.tenant_id, **found)
    else:
        log.error("evidence_broken", tenant_id=job.tenant_id, broken=audited.broken_quotes, **found)
    return audited.as_json()


def audit_schedules(settings: Settings) -> list[Schedule]:
    """One check for each tenant, or none where the setting turns it off."""
    if settings.evidence_check_schedule == OFF:
        return []
    try:
        rule = settings.evidence_check_schedule
        return [Schedule("semantics.check_evidence", CHECK_EVIDENCE, rule, every_tenant=True)]
    except ValueError as failure:
        raise BadSettings(f"MNEMON_EVIDENCE_CHECK_SCHEDULE: {failure}") from None
