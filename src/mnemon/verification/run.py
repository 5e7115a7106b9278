"""All checks of one tenant, and the record of the result: an event, a row for `/ready`, metrics."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from mnemon.buckets import BucketUnavailable
from mnemon.errors import DatabaseUnavailable
from mnemon.ids import new_uuid
from mnemon.log.events import SYSTEM, Actor, EntityReference, Event, NewEvent
from mnemon.log.moments import now
from mnemon.log.read.streams import Stream
from mnemon.telemetry import counter, gauge, logger
from mnemon.verification.chains import check_chains, check_witnesses
from mnemon.verification.content import check_content
from mnemon.verification.derived import check_lenses, check_snapshots
from mnemon.verification.events import VERIFIED
from mnemon.verification.findings import NIGHTS, CheckReport, Portion, Verifiable, VerifyFinding, VerifyTask
from mnemon.verification.guards import check_guards
from mnemon.verification.home_keys import check_home_keys
from mnemon.verification.log_rows import check_log_rows
from mnemon.verification.people import check_people
from mnemon.verification.places import check_places

TenantCheck = Callable[[VerifyTask, CheckReport], Awaitable[None]]
CHECKS: Mapping[str, TenantCheck] = {
    "guards": check_guards,
    "log": check_chains,
    "witnesses": check_witnesses,
    "log_rows": check_log_rows,
    "lenses": check_lenses,
    "snapshots": check_snapshots,
    "people": check_people,
    "places": check_places,
    "content": check_content,
    "keys": check_home_keys,
}
# Tells nothing of what is there.
AWAY = (psycopg.OperationalError, DatabaseUnavailable, BucketUnavailable)
# What the event tells of each finding; the rest is in the answer and in the job's result.
RECORDED_FINDINGS = 20

RESULT = """
INSERT INTO mnemon.verification_results (tenant_id, verified_at, complete_at, findings, event_id)
VALUES (%(tenant)s, %(at)s, %(complete_at)s, %(findings)s, %(event)s)
ON CONFLICT (tenant_id) DO UPDATE
   SET verified_at = excluded.verified_at, findings = excluded.findings, event_id = excluded.event_id,
       complete_at = coalesce(excluded.complete_at, verification_results.complete_at)
"""

FINDINGS = gauge(
    "mnemon_verification_findings", "What the last verifications of all tenants found, in this process.", ["part"]
)
VERIFICATIONS = counter("mnemon_verifications_total", "Verifications by how they ended.", ["outcome"])

log = logger(__name__)

# What was found in this process: an intact tenant must not hide another's findings, and the metric names no tenant.
_found: dict[UUID, dict[str, int]] = {}

CheckProgress = Callable[[str], None]


@dataclass(frozen=True)
class VerificationReport:
    """What a verification looked at and found."""

    tenant: UUID
    complete: bool
    checks: Sequence[CheckReport]
    verified_at: datetime
    event_id: str | None = None

    @property
    def findings(self) -> list[VerifyFinding]:
        return [finding for one in self.checks for finding in one.findings]

    @property
    def intact(self) -> bool:
        return not self.findings

    def as_json(self) -> dict[str, Any]:
        return {
            "intact": self.intact,
            "complete": self.complete,
            "verified_at": self.verified_at.isoformat(),
            "event_id": self.event_id,
            "parts": {
                one.part: {"checked": one.checked, "findings": len(one.findings), "seconds": round(one.seconds, 3)}
                for one in self.checks
            },
            "findings": [one.as_json() for one in self.findings],
        }


async def verify_everything(
    parts: Verifiable,
    tenant: UUID,
    *,
    complete: bool = True,
    actor: Actor = SYSTEM,
    progress: CheckProgress | None = None,
    record: bool = True,
) -> VerificationReport:
    """Check all that belongs to a tenant, and the guards; everything, or what is new and a part of the old."""
    last = await _before(parts, tenant)
    portion = None if complete or last is None else Portion(now().toordinal() % NIGHTS, last.recorded_at)
    task = VerifyTask(parts, tenant, portion, last.data if last else {})
    checks = []
    for part, check in CHECKS.items():
        if progress is not None:
            progress(part)
        report = CheckReport(part)
        await _run(check, task, report)
        checks.append(report.done())
    made = VerificationReport(tenant, portion is None, checks, now())
    return await _recorded(parts, made, task.before, actor) if record else made


async def _run(check: TenantCheck, task: VerifyTask, report: CheckReport) -> None:
    """What was changed may be so that nothing can read it: that is a finding too, and the other checks go on.

    A database or a bucket that is away tells nothing of what is in it.
    """
    try:
        await check(task, report)
    except AWAY:
        raise
    except Exception as failure:
        log.error("verification.stopped", part=report.part, error=type(failure).__name__)
        report.find(report.part, f"This check could not be brought to an end: {type(failure).__name__}: {failure}")


async def _before(parts: Verifiable, tenant: UUID) -> Event | None:
    """What the last verification recorded. Where that cannot be read, as its payload is gone, everything is looked at,
    and the checks tell of it."""
    try:
        return await last_verified(parts, tenant)
    except AWAY:
        raise
    except Exception as failure:
        log.error("verification.last_unreadable", error=type(failure).__name__)
        return None


async def last_verified(parts: Verifiable, tenant: UUID) -> Event | None:
    """The event of the last verification of this tenant."""
    page = await parts.log.read_page(tenant, Stream.of_type(VERIFIED.type), direction="backward", limit=1)
    return page.events[0] if page.events else None


async def _recorded(
    parts: Verifiable, made: VerificationReport, before: Mapping[str, Any], actor: Actor
) -> VerificationReport:
    """In one transaction: the event, and the row that `/ready` looks at."""
    async with parts.log.transaction(made.tenant) as transaction:
        [appended] = await transaction.append([_event(made, before, actor)])
        await transaction.connection.execute(
            RESULT,
            {
                "tenant": made.tenant,
                "at": made.verified_at,
                "complete_at": made.verified_at if made.complete else None,
                "findings": len(made.findings),
                "event": appended.id,
            },
        )
    _found[made.tenant] = {one.part: len(one.findings) for one in made.checks}
    for part in _found[made.tenant]:
        FINDINGS.labels(part).set(sum(one.get(part, 0) for one in _found.values()))
    VERIFICATIONS.labels("intact" if made.intact else "changed").inc()
    for finding in made.findings[:10]:
        log.error("verification.finding", tenant_id=str(made.tenant), **finding.as_json())
    return VerificationReport(made.tenant, made.complete, made.checks, made.verified_at, appended.id)


def _event(made: VerificationReport, before: Mapping[str, Any], actor: Actor) -> NewEvent:
    """Heads and lenses that were found changed are not what the next one should compare with."""
    checks = {one.part: one for one in made.checks}
    remembered = {
        "heads": checks["log"].remembered if not checks["log"].findings else before.get("heads", {}),
        "lenses": checks["lenses"].remembered,
        "keys": checks["keys"].remembered or before.get("keys", {}),
    }
    if any(one.where == "places" for one in checks["places"].findings):  # it came to no end
        remembered |= {"places": before["places"]} if "places" in before else {}
    else:
        remembered["places"] = checks["places"].remembered
    data = {
        "intact": made.intact,
        "complete": made.complete,
        "findings": len(made.findings),
        "parts": {one.part: {"checked": one.checked, "findings": len(one.findings)} for one in made.checks},
        "found": [one.as_json() for one in made.findings[:RECORDED_FINDINGS]],
        **remembered,
    }
    return NewEvent(
        type=VERIFIED.type, data=data, actor=actor, entities=[EntityReference("verification", str(new_uuid()))]
    )
