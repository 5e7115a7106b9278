"""The benches that kill processes, in their short form: what they promise holds, whatever the machine's speed."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "bench"


def results_of(name: str, **environment: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(BENCH / f"bench_{name}.py")], env=os.environ | {"QUICK": "1"} | environment,
        capture_output=True, text=True,
    )  # fmt: skip
    if "needs what is not here" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])["results"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["postgres", "http", "nats", "sqs"])
def test_workers_and_brokers_die_and_every_job_is_done_once(transport: str) -> None:
    found = results_of("transports", TRANSPORTS=transport)
    assert found["doubled"] == found["lost"] == 0
    assert found[f"{transport}_jobs_per_s"] > 0


@pytest.mark.slow
def test_a_primary_that_dies_takes_nothing_acknowledged_along() -> None:
    found = results_of("failover", MODES="synchronous")
    assert found["synchronous_acknowledged"] > 0 and found["synchronous_uploads"] > 0
    assert found["synchronous_lost"] == found["synchronous_uploads_lost"] == 0
    assert found["synchronous_intact"] == found["synchronous_followed_all"] == 1


@pytest.mark.slow
def test_a_worker_that_lists_many_keys_dies_and_the_next_goes_on_in_flat_memory() -> None:
    found = results_of("listing")
    assert found["listing_attempts"] == 2
    assert found["listing_requests"] <= found["listing_pages"] + 3, "hardly a page was listed twice"
    assert found["listing_most_mb"] <= found["listing_early_mb"] + 40
