"""Settings of workers and jobs."""

from pydantic import BaseModel

from mnemon.settings.part import setting


class WorkSettings(BaseModel):
    """Workers and jobs."""

    worker_slots: int = setting(
        3, "Jobs that one worker runs at once.", "WORKER_SLOTS", "WORKER_MAX_CONCURRENT_JOBS", ge=1, le=256
    )
    worker_metrics_port: int | None = setting(
        None,
        "Port at which `mnemon work` tells its metrics, at MNEMON_INTERNAL_HOST, as `mnemon serve` does at `/metrics`. "
        "Unset: none.",
        ge=1,
        le=65_535,
    )
    worker_inside: bool = setting(
        True, "`mnemon serve` runs a worker of its own; `false` leaves all jobs to `mnemon work`."
    )
    worker_poll_ms: int = setting(
        1_000,
        "How often an idle worker looks for jobs that no notification announced.",
        "WORKER_POLL_MS",
        "POLL_INTERVAL_MS",
        ge=50,
        le=60_000,
    )
    worker_lease_seconds: int = setting(
        30,
        "How long a job stays with a worker that no longer answers. Heartbeats come three times as often.",
        ge=3,
        le=3_600,
    )
    worker_id: str | None = setting(
        None,
        "Name of the worker in the register, on its jobs and in the log; no two alive may share one. "
        "Unset: host, process and a random part.",
        "WORKER_ID",
        min_length=1,
        max_length=200,
    )
    job_attempts: int = setting(
        5,
        "Attempts of a job whose kind sets no number of its own.",
        "JOB_ATTEMPTS",
        "EVENT_MAX_ATTEMPTS",
        ge=1,
        le=1_000,
    )
    job_keep_days: int = setting(7, "How long jobs that succeeded are kept.", ge=1, le=3_650)
    job_keep_failed_days: int = setting(30, "How long jobs that failed are kept.", ge=1, le=3_650)
    model_call_keep_days: int = setting(
        90, "How long the record of a call to the language model is kept.", ge=1, le=36_500
    )
    crash_guard_hours: int = setting(
        1,
        "A job that was due for this long while no worker offered its kind is ended, with the reason.",
        "CRASH_GUARD_HOURS",
        "CRASH_GUARD_QUEUED_TTL_HOURS",
        ge=1,
        le=8_760,
    )
    crash_guard_running_stale_min: int = setting(
        15,
        "A run whose worker was silent for this many minutes, while the server was up and no other worker came, ends "
        "as failed. 0: it waits for a worker.",
        "CRASH_GUARD_RUNNING_STALE_MIN",
        ge=0,
        le=10_080,
    )
