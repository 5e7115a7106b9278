"""What comes again by the clock: the schedules of all rooms."""

from mnemon.documents.jobs import document_schedules
from mnemon.mail.jobs import mail_schedules
from mnemon.reports.jobs import report_schedules
from mnemon.semantics.jobs import semantic_schedules
from mnemon.settings import Settings
from mnemon.verification.jobs import verification_schedules
from mnemon.work.log_jobs import log_schedules
from mnemon.work.model_jobs import model_schedules
from mnemon.work.schedule import Schedule
from mnemon.work.upkeep import upkeep_schedules


def schedules_of(settings: Settings) -> list[Schedule]:
    """What comes again by the clock, whichever worker sees to it."""
    return [
        *upkeep_schedules(settings),
        *log_schedules(settings),
        *model_schedules(settings),
        *document_schedules(settings),
        *semantic_schedules(settings),
        *verification_schedules(settings),
        *mail_schedules(settings),
        *report_schedules(settings),
    ]
