"""What a worker does for documents: the kinds of jobs, and what comes again by the clock."""

from mnemon.documents.failures import RECORD_FAILURE
from mnemon.documents.ingest.job import INGEST
from mnemon.documents.intake.sweep import SWEEP, Ages
from mnemon.documents.purge import PURGE_FILES
from mnemon.documents.sources.syncing import SYNC, SYNC_DUE
from mnemon.settings import Settings
from mnemon.work.schedule import Schedule

KINDS = (INGEST, RECORD_FAILURE, PURGE_FILES, SWEEP, SYNC, SYNC_DUE)


def document_schedules(settings: Settings) -> list[Schedule]:
    ages = Ages(orphan_hours=settings.upload_cleanup_ttl_hours, failed_hours=24 * settings.upload_failed_ttl_days)
    return [
        Schedule("documents.sweep", SWEEP, "23 * * * *", payload=ages),
        Schedule("documents.sync_due", SYNC_DUE, "*/5 * * * *", every_tenant=True),
    ]
