"""`mnemon work` and `mnemon jobs`, as processes."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.ids import new_uuid
from mnemon.work.enqueue import enqueue
from mnemon.work.upkeep import CRASH_GUARD, Patience
from tests.brokers import free_port
from tests.patience import PATIENCE

from ..conftest import SETTING_NAMES, MakeHome, new_folder
from .conftest import mnemon

KINDS = (
    "documents.ingest, documents.purge_files, documents.record_failure, documents.sweep, log.archive, log.checkpoint, "
    "log.forget_keys, log.note_erasures, log.restore, log.retention, log.verify, models.embed_missing, "
    "models.embed_part, models.find_old_vectors, models.forget_calls, models.reembed, "
    "semantics.check_evidence, semantics.expire, semantics.extract, work.clean_up, work.crash_guard"
)


@pytest.fixture(scope="module")
def environment(open_folder: Path, make_home: MakeHome) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if name not in SETTING_NAMES}
    home = {"MNEMON_HOME": str(make_home(new_folder(open_folder, "work-cli"))), "MNEMON_DATABASE_LINGER_SECONDS": "2"}
    return plain | home | {"COLUMNS": "200", "MNEMON_WORKER_POLL_MS": "100", "MNEMON_LOG_FORMAT": "json"}


def result(environment: dict[str, str], *words: str) -> Any:
    done = mnemon(environment, *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def worker(environment: dict[str, str]) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    started = []

    def start(*words: str, **more: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "mnemon", "work", *words]
        process = subprocess.Popen(command, env=environment | more, stderr=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def add_job(environment: dict[str, str]) -> str:
    server = EmbeddedServer(Path(environment["MNEMON_HOME"]), 2)

    async def add() -> str:
        async with Database(server) as database, database.transaction(new_uuid()) as tx:
            return str((await enqueue(tx, CRASH_GUARD, Patience(hours=1))).job_id)

    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(add())
    finally:
        loop.close()


def lines_until(process: subprocess.Popen[str], event: str) -> list[dict[str, Any]]:
    """The log lines of a process up to the first one of this event."""
    lines = []
    assert process.stderr is not None
    for text in process.stderr:
        lines.append(json.loads(text))
        if lines[-1]["event"] == event:
            return lines
    raise AssertionError(f"no {event} in {lines}")


def test_a_job_goes_from_list_to_done_and_is_logged_in_one_line(
    environment: dict[str, str], worker: Callable[..., subprocess.Popen[str]]
) -> None:
    assert result(environment, "jobs", "list", "--status", "PENDING", "--kind", "work.crash_guard") == []
    job = add_job(environment)
    (listed,) = result(environment, "jobs", "list", "--status", "PENDING", "--kind", "work.crash_guard")
    assert listed["job_id"] == job
    assert result(environment, "jobs", "cancel", job)["last_error_code"] == "CANCELLED"
    assert mnemon(environment, "jobs", "cancel", job).stderr.endswith("it has ended already.\n")
    assert "will run as soon as" in mnemon(environment, "jobs", "retry", job).stdout
    process = worker("--slots", "2", "--kinds", "work.crash_guard")
    ended = lines_until(process, "job_ended")[-1]
    assert (ended["job_id"], ended["kind"], ended["status"], ended["attempt"]) == (job, "work.crash_guard", "done", 1)
    assert ended.keys() >= {"tenant_id", "duration_ms", "queue_wait_ms", "stages", "ts"}
    assert "DONE" in mnemon(environment, "jobs", "show", job).stdout
    stats = result(environment, "jobs", "stats")
    (alive,) = [one for one in stats["workers"] if one["process_id"] == process.pid]
    assert (alive["slots"], alive["kinds"], alive["alive"]) == (2, ["work.crash_guard"], True)


def test_a_worker_stops_at_the_first_signal_and_its_register_entry_says_so(
    environment: dict[str, str], worker: Callable[..., subprocess.Popen[str]]
) -> None:
    process = worker()
    lines_until(process, "worker_started")
    process.send_signal(signal.SIGTERM)
    lines_until(process, "worker_stopped")
    assert process.wait(PATIENCE) == 0
    workers = result(environment, "jobs", "stats")["workers"]
    assert [(one["alive"], one["stopped"]) for one in workers if one["process_id"] == process.pid] == [(False, True)]


def test_a_worker_has_the_name_that_the_setting_gives(
    environment: dict[str, str], worker: Callable[..., subprocess.Popen[str]]
) -> None:
    job = add_job(environment)
    process = worker("--kinds", "work.crash_guard", WORKER_ID="event-worker-1")
    lines_until(process, "job_ended")
    assert result(environment, "jobs", "show", job)["locked_by"] == "event-worker-1"
    workers = {one["worker_id"]: one["alive"] for one in result(environment, "jobs", "stats")["workers"]}
    assert workers["event-worker-1"]


def test_vectors_are_looked_for_at_once_when_asked(environment: dict[str, str]) -> None:
    assert mnemon(environment, "models", "vectors").stdout.strip() == "No vectors."
    first = result(environment, "models", "reembed")["job_id"]
    assert result(environment, "models", "reembed")["job_id"] == first
    assert result(environment, "jobs", "show", first)["kind"] == "models.find_old_vectors"


def test_unknown_kinds_and_jobs_are_errors_with_a_remedy(environment: dict[str, str]) -> None:
    unknown = mnemon(environment, "work", "--kinds", "nope")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    said, _, known = unknown.stderr.strip().removesuffix(".").partition("; known are: ")
    assert said == "Error: No job kind is named nope"
    # Other tests of this process may have declared kinds of their own.
    assert set(KINDS.split(", ")) <= set(known.split(", "))
    assert mnemon(environment, "jobs", "show", str(new_uuid())).stderr.startswith("Error: There is no job")


def test_a_worker_tells_its_metrics_where_the_settings_want_it(
    environment: dict[str, str], worker: Callable[..., subprocess.Popen[str]]
) -> None:
    port = free_port()
    assert result(environment, "jobs", "list", "--status", "PENDING", "--kind", "work.crash_guard") == []
    add_job(environment)
    process = worker("--kinds", "work.crash_guard", MNEMON_WORKER_METRICS_PORT=str(port))
    lines_until(process, "job_ended")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE) as answer:
        told = answer.read().decode()
    assert 'mnemon_job_outcomes_total{kind="work.crash_guard",outcome="done"} 1.0' in told
    second = worker(MNEMON_WORKER_METRICS_PORT=str(port))
    assert second.wait(timeout=PATIENCE) != 0
    assert second.stderr is not None and f"127.0.0.1:{port} cannot be listened on" in second.stderr.read()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=PATIENCE) == 0
