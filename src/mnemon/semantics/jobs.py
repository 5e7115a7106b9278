"""What a worker does for semantic events: the kinds of jobs, and what comes again by the clock."""

from mnemon.semantics.extraction_job import EXTRACT
from mnemon.work.schedule import Schedule

KINDS = (EXTRACT,)


def semantic_schedules() -> list[Schedule]:
    return []
