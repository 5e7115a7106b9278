"""Use of the embedded server by one process: take part in its locks, and see that a keeper is at work."""

import contextlib
import fcntl
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import BinaryIO

from mnemon.db import cluster as files
from mnemon.db import keeper
from mnemon.errors import DatabaseUnavailable

OWNER_ROLE = "mnemon_owner"
APP_ROLE = "mnemon_app"
START_LIMIT = 60.0
# How long a server may be without a keeper while somebody uses it.
WATCH_PAUSE = 1.0
KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


class EmbeddedServer:
    """A process's share in the embedded server of one home folder."""

    def __init__(self, home: Path, linger_seconds: float) -> None:
        self._home = home
        self._linger = linger_seconds
        self._thread = threading.Lock()
        self._share: BinaryIO | None = None
        self._released = threading.Event()
        self._watching: threading.Thread | None = None
        try:
            self.cluster = files.locate(home)
        except PermissionError as refusal:
            raise DatabaseUnavailable(
                f"The folder {refusal.filename or home} is not writable: set MNEMON_HOME to one of your own."
            ) from None
        except (files.ClusterFailed, OSError) as failure:
            raise DatabaseUnavailable(str(failure), home=str(home)) from failure

    @property
    def owner_conninfo(self) -> str:
        return self.cluster.conninfo(OWNER_ROLE)

    @property
    def app_conninfo(self) -> str:
        return self.cluster.conninfo(APP_ROLE)

    def ensure_running(self, limit: float = START_LIMIT + 30) -> None:
        """Return once the server answers, having started its keeper if there was none. Blocking."""
        with self._thread:
            self._refuse_if_released()
            try:
                self._take_share()
            except PermissionError:
                raise DatabaseUnavailable(
                    f"The embedded server in {self.cluster.folder} belongs to another user: "
                    "set MNEMON_HOME to a folder of your own."
                ) from None
            deadline = time.monotonic() + limit
            while True:
                self._refuse_if_released()
                self._start_keeper_if_none()
                if files.is_ready(self.cluster):
                    self._watch_from_now_on()
                    return
                if time.monotonic() > deadline:
                    raise DatabaseUnavailable(
                        f"The embedded server in {self.cluster.folder} did not answer in {limit:.0f} s; "
                        f"its logs are in {self.cluster.data / 'log'}.",
                        home=str(self._home),
                    )
                time.sleep(0.05)

    def release(self) -> None:
        """Say that this process no longer needs the server.

        For good: a connection that a thread is still trying to open may not start the server again behind our back.
        """
        self._released.set()
        with self._thread:
            if self._share is not None:
                self._share.close()
                self._share = None

    def _watch_from_now_on(self) -> None:
        if self._watching is None:
            self._watching = threading.Thread(target=self._watch, name="embedded-server", daemon=True)
            self._watching.start()

    def _watch(self) -> None:
        """Replace a keeper that was killed, also while nobody here connects: without one the server would stay down
        when it dies next, and up when its last user goes."""
        while not self._released.wait(WATCH_PAUSE):
            # Whoever connects is told why none can start.
            with self._thread, contextlib.suppress(DatabaseUnavailable, OSError):
                # A home that was removed is not made again.
                if not self._released.is_set() and self.cluster.exists():
                    self._start_keeper_if_none()

    def _refuse_if_released(self) -> None:
        if self._released.is_set():
            raise DatabaseUnavailable("This process has closed its database.", home=str(self._home))

    def _take_share(self) -> None:
        if self._share is None:
            share = files.open_private(self.cluster.folder / keeper.USERS_LOCK)
            fcntl.flock(share, fcntl.LOCK_SH)
            self._share = share

    def _start_keeper_if_none(self) -> None:
        with files.open_private(self.cluster.folder / keeper.KEEPER_LOCK) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            # The lock belongs to the open file, not to us: the keeper inherits it as its standard input.
            self._spawn_keeper(lock)

    def _spawn_keeper(self, lock: BinaryIO) -> None:
        command = [sys.executable, "-m", "mnemon.db.keeper", str(self._home), str(self._linger), str(START_LIMIT)]
        with files.open_private(self.cluster.folder / "keeper.log") as log:
            starter = subprocess.Popen(
                command, stdin=lock, stdout=subprocess.PIPE, stderr=log, cwd="/", env=_plain_environment()
            )
        said, _ = starter.communicate()
        if said != keeper.READY:
            reason = said.decode(errors="replace") or f"see {self.cluster.folder / 'keeper.log'}"
            raise DatabaseUnavailable(f"The embedded server cannot start: {reason}", home=str(self._home))


def _plain_environment() -> dict[str, str]:
    """The keeper and the server need no secret of ours, and outlive us: they get only what finds programs and words."""
    return {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
