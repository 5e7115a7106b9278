"""How long `mnemon serve` takes to start, what `mnemon ask` costs there, and how large the default install is."""

import contextlib
import json
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib import request

from install_size import default_install

from mnemon.db import cluster as files

ROUNDS = 3 if os.environ.get("QUICK") else 10
NOTE = "The board approved the budget of 40,000 euros on 3 May 2026."
QUESTION = "When was the budget approved?"


def main() -> None:
    home = Path(tempfile.mkdtemp(prefix="mnemon-bench-"))
    home.chmod(0o755)
    try:
        first = serve_once(home)
        starts, bare = [], []
        for _ in range(ROUNDS):
            starts.append(serve_once(home))
            bare.append(postgres_once(home))
        asking = ask_often(home)
        report(first, statistics.median(starts), max(starts), statistics.median(bare), statistics.median(asking))
    finally:
        shutil.rmtree(home, ignore_errors=True)


def serve_once(home: Path) -> float:
    """Seconds until /ready answers 200, on a home whose database is down."""
    began = time.perf_counter()
    with serving(home):
        return time.perf_counter() - began


@contextlib.contextmanager
def serving(home: Path) -> Iterator[str]:
    """The address of a server that is ready."""
    server = subprocess.Popen(
        [sys.executable, "-m", "mnemon", "serve", "--port", "0"],
        env=environment_of(home), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert server.stdout
    url = re.search(r"http://\S+:\d+", server.stdout.readline())
    assert url is not None
    while True:
        with contextlib.suppress(OSError), request.urlopen(f"{url[0]}/ready", timeout=5) as answer:
            assert answer.status == 200
            break
    yield url[0]
    server.send_signal(signal.SIGINT)
    server.communicate(timeout=30)
    wait_until_down(home)


def environment_of(home: Path) -> dict[str, str]:
    own = {"MNEMON_HOME": str(home), "MNEMON_DATABASE_LINGER_SECONDS": "0", "PYTHONUNBUFFERED": "1"}
    return os.environ | own


def ask_often(home: Path) -> list[float]:
    """Processor seconds of each `mnemon ask` at a running server, all of its process and no more."""
    note = home / "note.md"
    note.write_text(NOTE)
    with serving(home) as url:
        mnemon(home, "add", str(note))
        token = json.loads(mnemon(home, "token", "add", "bench", "--scope", "read", "--json"))["secret"]
        return [asked_once(home, url, token) for _ in range(ROUNDS)]


def asked_once(home: Path, url: str, token: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = mnemon(home, "--server", url, "ask", QUESTION, MNEMON_SERVER_TOKEN=token)
    assert "3 May 2026" in said, said
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def mnemon(home: Path, *words: str, **beside: str) -> str:
    command = [sys.executable, "-m", "mnemon", *words]
    return subprocess.run(command, env=environment_of(home) | beside, check=True, capture_output=True, text=True).stdout


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


def report(first: float, start: float, worst: float, bare: float, asking: float) -> None:
    install = default_install()
    print(f"mnemon serve, first start (initdb, migrations)   {first:6.2f} s")
    print(f"mnemon serve, existing home, median of {ROUNDS:2}        {start:6.2f} s   worst {worst:.2f} s")
    print(f"bare PostgreSQL start of the same cluster        {bare:6.2f} s")
    print(f"mnemon ask at that server, processor time        {asking:6.2f} s   median of {ROUNDS}")
    print(f"default install, {install.packages} packages                    {install.megabytes:6.0f} MB")
    for name, size in install.largest(8):
        print(f"  {name:<30} {size / 1e6:6.0f} MB")
    results = {
        "first_start_s": round(first, 3),
        "serve_start_s": round(start, 3),
        "serve_start_worst_s": round(worst, 3),
        "vs_bare_postgres": round(start / bare, 2),
        "ask_cpu_s": round(asking, 3),
        "install_mb": round(install.megabytes),
        "install_packages": install.packages,
    }
    print(json.dumps({"bench": "start", "results": results}))


if __name__ == "__main__":
    main()
