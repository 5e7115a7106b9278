"""What can go wrong with a job, and whether another attempt helps."""

from mnemon.errors import Conflict, MnemonError


class JobPostponed(MnemonError):
    """Not a failure: the job asks to run again after `seconds`, and this attempt does not count."""

    code = "JOB_POSTPONED"
    retry = True

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The job asked to wait {seconds:g} s.", seconds=seconds)

    @property
    def seconds(self) -> float:
        """From the details, which are all that comes back from a subprocess."""
        return float(self.details["seconds"])


class LeaseLost(MnemonError):
    """Another worker has the job now, or it was cancelled; nothing of this attempt may be written."""

    code = "LEASE_LOST"
    status = 409


class InvalidPayload(MnemonError):
    """The payload does not have the form that the kind declares, or is too large."""

    code = "INVALID_PAYLOAD"
    status = 422


class TimeLimitExceeded(MnemonError):
    """The job, or its subprocess, ran longer than its kind allows."""

    code = "TIME_LIMIT"
    retry = True


class MemoryLimitExceeded(MnemonError):
    """The subprocess needed more memory than its kind allows; the same input would need it again."""

    code = "MEMORY_LIMIT"


class ProcessorTimeExceeded(MnemonError):
    """The subprocess used up the processor time that it may; the same input would need it again."""

    code = "PROCESSOR_TIME"


class ProcessDied(MnemonError):
    """The subprocess of a job ended without an answer."""

    code = "PROCESS_DIED"
    retry = True


class JobNotRetriable(Conflict):
    """The job is running or done, or an unfinished job with the same dedupe key exists."""

    code = "JOB_NOT_RETRIABLE"


class JobNotCancellable(Conflict):
    """The job has already ended."""

    code = "JOB_NOT_CANCELLABLE"


class SubprocessFailed(MnemonError):
    """The function in a subprocess raised an error that is not one of Mnemon's own."""

    code = "SUBPROCESS_FAILED"
    retry = True
