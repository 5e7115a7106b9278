"""Retention: documents whose time is over are purged, by a job that comes again every hour."""

from typing import Protocol, cast
from uuid import UUID

from mnemon.documents.purge import Purged
from mnemon.log.events import SYSTEM, Actor
from mnemon.telemetry import counter, logger
from mnemon.work.job import Job
from mnemon.work.kinds import JobKind, NoPayload

MOST = 500
TENANTS = "SELECT tenant_id FROM mnemon.tenants_with_expired_documents() AS tenant_id"
# Resolved: it promised something, was read, and nothing that it promised is open any more.
EXPIRED = """
SELECT d.doc_id FROM mnemon.documents d
 WHERE d.tenant_id = mnemon.current_tenant() AND d.retention_policy <> 'forever' AND d.purged_at IS NULL
   AND mnemon.is_expired(d)
 ORDER BY d.doc_id LIMIT %s
"""

EXPIRATIONS = counter("mnemon_documents_expired_total", "Documents purged because their time was over.")

log = logger(__name__)


class RetentionContext(Protocol):
    """The running Mnemon, as far as it is needed."""

    async def purge_document(self, tenant: UUID, actor: Actor, doc_id: UUID) -> Purged: ...


EXPIRE = JobKind("semantics.expire", NoPayload, attempts=5, time_limit=3600)


@EXPIRE.handler
async def expire(job: Job[NoPayload]) -> None:
    """Of all tenants. Each purge stands by itself: what a crash leaves undone is found again."""
    async with job.database.session() as session:
        tenants = [row["tenant_id"] for row in await (await session.execute(TENANTS)).fetchall()]
    failures = [failure for tenant in tenants for failure in await _expire_of(job, tenant)]
    if failures:
        # The others are gone; these are tried again.
        raise failures[0]


async def _expire_of(job: Job[NoPayload], tenant: UUID) -> list[Exception]:
    """Purge what is over; what cannot be purged keeps no other waiting, and is told."""
    context = cast(RetentionContext, job.context)
    async with job.database.transaction(tenant) as tx:
        expired = [row["doc_id"] for row in await (await tx.execute(EXPIRED, (MOST,))).fetchall()]
    failures: list[Exception] = []
    for doc_id in expired:
        try:
            await context.purge_document(tenant, SYSTEM, doc_id)
        except Exception as failure:
            failures.append(failure)
            log.error(
                "document_not_expired", tenant_id=tenant, doc_id=doc_id, error=f"{type(failure).__name__}: {failure}"
            )
            continue
        EXPIRATIONS.inc()
        log.info("document_expired", tenant_id=tenant, doc_id=doc_id)
    return failures
