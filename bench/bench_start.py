"""How long `mnemon serve` takes from the command to its first answer, beside the database's own start."""

import contextlib
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib import request

from mnemon.db import cluster as files

ROUNDS = 3 if os.environ.get("QUICK") else 10


def main() -> None:
    home = Path(tempfile.mkdtemp(prefix="mnemon-bench-"))
    home.chmod(0o755)
    try:
        first = serve_once(home)
        starts, bare = [], []
        for _ in range(ROUNDS):
            starts.append(serve_once(home))
            bare.append(postgres_once(home))
        report(first, statistics.median(starts), max(starts), statistics.median(bare))
    finally:
        shutil.rmtree(home, ignore_errors=True)


def serve_once(home: Path) -> float:
    """Seconds until /ready answers 200, on a home whose database is down."""
    environment = os.environ | {
        "MNEMON_HOME": str(home),
        "MNEMON_DATABASE_LINGER_SECONDS": "0",
        "PYTHONUNBUFFERED": "1",
    }
    began = time.perf_counter()
    server = subprocess.Popen(
        [sys.executable, "-m", "mnemon", "serve", "--port", "0"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert server.stdout
    url = re.search(r"http://\S+:\d+", server.stdout.readline())
    assert url is not None
    while True:
        with contextlib.suppress(OSError), request.urlopen(f"{url[0]}/ready", timeout=5) as answer:
            assert answer.status == 200
            break
    taken = time.perf_counter() - began
    server.send_signal(signal.SIGINT)
    server.communicate(timeout=30)
    wait_until_down(home)
    return taken


def postgres_once(home: Path) -> float:
    """Seconds that the same cluster takes to start alone: the floor."""
    cluster = files.locate(home)
    began = time.perf_counter()
    process = files.start(cluster)
    while not files.is_ready(cluster):
        time.sleep(0.005)
    taken = time.perf_counter() - began
    files.stop(process.pid)
    process.wait()
    return taken


def wait_until_down(home: Path) -> None:
    cluster = files.locate(home)
    while files.running_postmaster(cluster) is not None:
        time.sleep(0.05)


def report(first: float, start: float, worst: float, bare: float) -> None:
    print(f"mnemon serve, first start (initdb, migrations)   {first:6.2f} s")
    print(f"mnemon serve, existing home, median of {ROUNDS:2}        {start:6.2f} s   worst {worst:.2f} s")
    print(f"bare PostgreSQL start of the same cluster        {bare:6.2f} s")
    results = {
        "first_start_s": round(first, 3),
        "serve_start_s": round(start, 3),
        "serve_start_worst_s": round(worst, 3),
        "vs_bare_postgres": round(start / bare, 2),
    }
    print(json.dumps({"bench": "start", "results": results}))


if __name__ == "__main__":
    main()
