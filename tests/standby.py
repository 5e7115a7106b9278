"""Copies of an embedded server by the programs that it is installed with: a streaming standby, a base backup."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mnemon.db import cluster as files
from mnemon.db.cluster import Cluster
from mnemon.db.embedded import EmbeddedServer
from tests.patience import until


def as_its_user(cluster: Cluster) -> dict[str, Any]:
    """PostgreSQL does not run as root."""
    return {"user": cluster.account.pw_name, "group": cluster.account.pw_name} if cluster.account else {}


def base_backup(server: EmbeddedServer, home: Path, *options: str) -> Cluster:
    """A copy of a running server's files in a home of its own, not started."""
    copy = files.locate(home)
    source = server.cluster
    done = subprocess.run(
        [copy.binaries / "pg_basebackup", "-D", copy.data, "-h", source.sockets, "-U", "postgres", "-c", "fast",
         "-X", "stream", *options],
        capture_output=True, text=True, cwd="/", **as_its_user(copy),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return copy


@contextmanager
def started(cluster: Cluster) -> Iterator[Cluster]:
    postmaster = files.start(cluster)
    try:
        until(lambda: is_up(cluster) or postmaster.poll() is not None, "the copy is up")
        assert postmaster.poll() is None, (cluster.folder / "start.log").read_text()
        yield cluster
    finally:
        files.stop(postmaster.pid)
        postmaster.wait()


def is_up(cluster: Cluster) -> bool:
    """A standby says so in its lock file in words of its own."""
    try:
        lines = (cluster.data / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) >= 8 and lines[7].strip() in ("ready", "standby")
