"""Three PostgreSQL nodes under Patroni with etcd, on the loopback of this machine: the binaries that Mnemon installs.

Patroni goes into an environment of its own, since nothing of Mnemon needs it; etcd is Debian's package etcd-server.
Neither runs as root: nodes belong to the user of the embedded server.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import psycopg
from local_services import free_port, wait_for_port

from mnemon.db import cluster as files
from mnemon.db.cluster import EXTENSION, ROLES_AND_DATABASE

# Of the system, since PostgreSQL's user must be able to run it.
PYTHON = "/usr/bin/python3"
PATRONI = Path("/var/lib/mnemon/patroni-4.1.5") if os.geteuid() == 0 else Path.home() / ".cache" / "patroni-4.1.5"
REQUIRED = ("patroni[etcd3]==4.1.5", "psycopg[binary]==3.3.8")
NODES = ("one", "two", "three")
SETTINGS = """
scope: mnemon
name: {name}
restapi:
  listen: 127.0.0.1:{rest}
  connect_address: 127.0.0.1:{rest}
etcd3:
  host: 127.0.0.1:{etcd}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 2
    retry_timeout: 3
    maximum_lag_on_failover: 104857600
    synchronous_mode: {synchronous}
    postgresql:
      use_pg_rewind: true
      parameters:
        max_connections: 200
        max_locks_per_transaction: 512
        wal_keep_size: 1GB
        jit: 'off'
        timezone: UTC
  initdb:
  - encoding: UTF8
  - locale-provider: builtin
  - locale: C.UTF-8
  - data-checksums
postgresql:
  listen: 127.0.0.1:{port}
  connect_address: 127.0.0.1:{port}
  data_dir: {folder}/data
  bin_dir: {binaries}
  pgpass: {folder}/pgpass
  authentication:
    superuser: {{username: postgres, password: postgres}}
    replication: {{username: replicator, password: replicator}}
    rewind: {{username: rewinder, password: rewinder}}
  parameters:
    unix_socket_directories: ''
  pg_hba:
  - host all all 127.0.0.1/32 trust
  - host replication all 127.0.0.1/32 trust
"""


class Missing(Exception):
    """What the cluster needs and this machine does not have."""


def install_patroni() -> None:
    if shutil.which("etcd") is None:
        raise Missing("etcd: install Debian's package etcd-server")
    if (PATRONI / "patroni").exists():
        return
    PATRONI.parent.mkdir(parents=True, exist_ok=True)
    draft = PATRONI.with_name(f"{PATRONI.name}.{os.getpid()}")
    # Of our own environment, for the system's Python, which may have none.
    pip = [sys.executable, "-m", "pip", "--python", PYTHON, "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*pip, "--target", str(draft), *REQUIRED], capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"Patroni cannot be installed: {done.stderr.strip()[-500:]}")
    draft.rename(PATRONI)


class Node:
    """One PostgreSQL and the Patroni that keeps it."""

    def __init__(self, name: str, folder: Path, binaries: Path, user: str | None, etcd: int, synchronous: bool) -> None:
        self.name, self.folder, self.user = name, folder, user
        self.port, self.rest = free_port(), free_port()
        folder.mkdir()
        (folder / "patroni.yml").write_text(
            SETTINGS.format(
                name=name,
                folder=folder,
                binaries=binaries,
                etcd=etcd,
                port=self.port,
                rest=self.rest,
                synchronous=str(synchronous).lower(),
            )
        )
        if user:
            for one in (folder, folder / "patroni.yml"):
                shutil.chown(one, user, user)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with (self.folder / "patroni.log").open("ab") as log:
            self._process = subprocess.Popen(
                [PYTHON, "-m", "patroni", str(self.folder / "patroni.yml")], stdout=log, stderr=log, user=self.user,
                env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(PATRONI), "HOME": str(self.folder), "LANG": "C.UTF-8"},
                start_new_session=True, cwd=self.folder,
            )  # fmt: skip

    def kill(self) -> None:
        """As if its machine died: Patroni and PostgreSQL, without a word to anyone."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for one in self._server_processes():
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)

    def cut_off(self) -> None:
        """As if the line to the standbys hung: nothing more is sent to them. It ends with a kill only."""
        for one in self._server_processes():
            with suppress(FileNotFoundError, ProcessLookupError):
                if b"walsender" in Path(f"/proc/{one}/cmdline").read_bytes():
                    os.kill(one, signal.SIGSTOP)

    def _server_processes(self) -> list[int]:
        """The postmaster and its children, which would outlive it by a moment."""
        try:
            postmaster = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
            children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        except (FileNotFoundError, ProcessLookupError, ValueError):
            return []
        return [postmaster, *map(int, children)]

    @property
    def state(self) -> dict:
        """What Patroni says of it."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.rest}/patroni", timeout=2) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as failure:
            return json.load(failure)
        except OSError:
            return {}


class PatroniCluster:
    """Open with `with PatroniCluster(folder, synchronous=True) as cluster`."""

    def __init__(self, folder: Path, synchronous: bool) -> None:
        install_patroni()
        self._folder, self.synchronous = folder, synchronous
        place = files.locate(folder / "unused")
        user = place.account.pw_name if place.account else None
        folder.chmod(0o755)
        self._etcd_port = free_port()
        self.nodes = [Node(one, folder / one, place.binaries, user, self._etcd_port, synchronous) for one in NODES]

    def __enter__(self) -> "PatroniCluster":
        peer = f"http://127.0.0.1:{free_port()}"
        client = f"http://127.0.0.1:{self._etcd_port}"
        self._etcd = subprocess.Popen(
            ["etcd", "--data-dir", str(self._folder / "etcd"), "--listen-client-urls", client,
             "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
             "--initial-cluster", f"default={peer}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_for_port(self._etcd_port, "etcd")
        for node in self.nodes:
            node.start()
        self.wait_until_whole()
        leader = f"host=127.0.0.1 port={self.leader.port} user=postgres"
        for database, script in (("postgres", ROLES_AND_DATABASE), ("mnemon", EXTENSION)):
            with psycopg.connect(leader, dbname=database, autocommit=True) as superuser:
                for statement in filter(str.strip, script.split(";")):
                    superuser.execute(statement)
        return self

    def __exit__(self, *failure: object) -> None:
        for node in self.nodes:
            node.kill()
        self._etcd.kill()
        self._etcd.wait()

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        return f"postgresql://mnemon_owner@{hosts}/mnemon?connect_timeout=3"

    @property
    def leader(self) -> Node | None:
        return next((one for one in self.nodes if one.state.get("role") in ("primary", "master")), None)

    def wait_until_whole(self, patience: float = 240) -> None:
        """A leader and two that stream from it, one of them synchronously where that is asked for, and known to Patroni
        as that: until it is on record whose commits wait for whom, nobody may take over."""
        deadline = time.monotonic() + patience
        while not self._is_whole():
            assert time.monotonic() < deadline, f"the cluster is not whole: {[one.state for one in self.nodes]}"
            time.sleep(0.3)

    def _is_whole(self) -> bool:
        leader = self.leader
        standbys = (leader.state.get("replication") or []) if leader else []
        # Those that are still being made stream too, by another name.
        streaming = [one for one in standbys if one.get("state") == "streaming" and one["application_name"] in NODES]
        sync = [one.get("sync_state") in ("sync", "quorum") for one in streaming]
        on_record = any(one.state.get("sync_standby") for one in self.nodes)
        return len(streaming) == len(NODES) - 1 and (not self.synchronous or (any(sync) and on_record))
