"""What a worker does for semantic events: the kinds of jobs, and what comes again by the clock."""

from mnemon.documents.ingest.extract_job import EXTRACT
from mnemon.semantics.audit_job import CHECK_EVIDENCE, audit_schedules
from mnemon.semantics.extract.job import REFINE  # Also gives EXTRACT its handler.
from mnemon.semantics.retention import EXPIRE
from mnemon.settings import Settings
from mnemon.work.schedule import Schedule

KINDS = (EXTRACT, REFINE, EXPIRE, CHECK_EVIDENCE)


def semantic_schedules(settings: Settings) -> list[Schedule]:
    return [
        Schedule("semantics.expire", EXPIRE, "41 * * * *"),
        *audit_schedules(settings),
    ]
