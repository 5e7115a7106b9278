"""The keeper: a small process that holds the embedded server up while anyone uses it, and stops it after.

Two lock files in the cluster's folder decide everything, and the kernel drops both when a process dies:
`keeper.lock` is held by the one keeper, `users.lock` is shared by every process that uses the database.
The server itself is no one's hostage: if the keeper is killed the server goes on, and the next process
that looks finds `keeper.lock` free and starts a new keeper, which adopts the running server.
"""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from mnemon.db import cluster as files
from mnemon.db.cluster import Cluster, ClusterFailed

USERS_LOCK = "users.lock"
KEEPER_LOCK = "keeper.lock"
READY = b"ready\n"
PULSE = 0.2
MISCONFIGURED = "contains errors"


def main() -> None:
    """`python -m mnemon.db.keeper HOME LINGER START_LIMIT`, with the locked keeper.lock as standard input."""
    home, linger, start_limit = Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        cluster = files.locate(home)
        keeper = Keeper(cluster, start_limit)
        keeper.bring_up()
    except (ClusterFailed, OSError) as failure:
        os.write(1, str(failure).encode())
        os._exit(1)
    os.write(1, READY)
    os.close(1)
    os.open(os.devnull, os.O_WRONLY)
    keeper.watch(linger)


class Keeper:
    """Brings one server up and watches over it."""

    def __init__(self, cluster: Cluster, start_limit: float) -> None:
        self.cluster = cluster
        self.start_limit = start_limit
        self.child: subprocess.Popen[bytes] | None = None
        self._said = ""

    def bring_up(self) -> None:
        """Adopt a running server, or make and start one; return when it takes sessions."""
        if not self.cluster.exists():
            files.create(self.cluster)
        deadline = time.monotonic() + self.start_limit
        while not files.is_ready(self.cluster):
            if time.monotonic() > deadline:
                raise ClusterFailed(
                    f"The embedded server did not start in {self.start_limit:.0f} s: {self._last_words()}"
                )
            # After a kill -9 the old server's children may hold its memory for a moment: try until they are gone.
            if self._is_gone() and files.running_postmaster(self.cluster) is None:
                self.child = files.start(self.cluster)
            time.sleep(0.02)

    def watch(self, linger: float) -> None:
        """Restart the server if it dies; stop it when nobody has used it for `linger` seconds."""
        unused_since: float | None = None
        postmaster = files.running_postmaster(self.cluster)
        with files.open_private(self.cluster.folder / USERS_LOCK) as users:
            while True:
                time.sleep(PULSE)
                if not self.cluster.exists():
                    # Its data was removed: without this the server would go on for a minute before it noticed.
                    if postmaster is not None:
                        files.stop(postmaster)
                    os._exit(0)
                if self.child is not None:
                    self.child.poll()
                postmaster = files.running_postmaster(self.cluster)
                if postmaster is None:
                    self._bring_up_again()
                if not _taken_alone(users.fileno()):
                    unused_since = None
                elif unused_since is None or time.monotonic() - unused_since < linger:
                    unused_since = unused_since or time.monotonic()
                    fcntl.flock(users, fcntl.LOCK_UN)
                else:
                    # Held alone: a newcomer waits here until the server is down, then starts it afresh.
                    self.shut_down()
                    os._exit(0)

    def shut_down(self) -> None:
        pid = files.running_postmaster(self.cluster)
        if pid is not None:
            files.stop(pid)

    def _bring_up_again(self) -> None:
        with contextlib.suppress(ClusterFailed, OSError):
            self.bring_up()

    def _is_gone(self) -> bool:
        """Whether there is no child; what it said when it ended is kept, since the next one writes over it."""
        if self.child is None:
            return True
        if self.child.poll() is None:
            return False
        self._said = _end_of(self.cluster.folder / "start.log")
        if MISCONFIGURED in self._said:
            # No waiting mends this, and whoever wrote it wants to know at once.
            raise ClusterFailed(f"Its configuration is wrong: {self._said}")
        return True

    def _last_words(self) -> str:
        logs = sorted((self.cluster.data / "log").glob("*.log"))[-1:]
        return " ".join([self._said, *map(_end_of, logs)]).strip()


def _end_of(file: Path) -> str:
    return file.read_text(errors="replace")[-400:].strip() if file.exists() else ""


def _taken_alone(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


if __name__ == "__main__":
    main()
