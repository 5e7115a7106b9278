"""What a worker does for mail: the kinds of jobs, and what comes again by the clock."""

from mnemon.mail.consensus.job import READ_CONSENSUS
from mnemon.mail.sources.looking import LOOK, LOOK_DUE, mail_schedules
from mnemon.mail.storing.attachments import ATTACHMENTS
from mnemon.mail.storing.blanking import BLANK
from mnemon.mail.storing.failures import RECORD_MAIL_FAILURE
from mnemon.mail.storing.importing import IMPORT_JOB
from mnemon.mail.storing.passages import PASSAGES
from mnemon.mail.storing.purging import finish_blanking

KINDS = (IMPORT_JOB, PASSAGES, ATTACHMENTS, READ_CONSENSUS, RECORD_MAIL_FAILURE, BLANK, LOOK, LOOK_DUE)

__all__ = ["KINDS", "finish_blanking", "mail_schedules"]
