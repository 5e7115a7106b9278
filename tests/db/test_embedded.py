"""The embedded server: started on demand, shared, and not brought down by anyone's death."""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.patience import PATIENCE, until

from mnemon.db import cluster as files
from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.migrate import migrate
from mnemon.errors import DatabaseUnavailable

# Opens the database as so many commands would, and says what it found.
STARTER = """
import asyncio, sys
from mnemon.app import open_mnemon
from mnemon.settings import load_settings

async def main():
    async with open_mnemon(load_settings()) as mnemon:
        print(mnemon.first_start is not None, flush=True)
        sys.stdin.readline()

asyncio.run(main())
"""


def keeper_of(server: EmbeddedServer) -> int | None:
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = process.read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if b"mnemon.db.keeper" in words and os.fsencode(server._home) in words:
            return int(process.parent.name)
    return None


@pytest.fixture
def private(served_home: Path) -> Iterator[EmbeddedServer]:
    """A server of the test's own, for killing."""
    server = EmbeddedServer(served_home, linger_seconds=0)
    server.ensure_running()
    yield server
    server.release()
    until(lambda: files.running_postmaster(server.cluster) is None)


def test_five_processes_on_an_empty_home_share_one_server_and_one_first_start(home: Path) -> None:
    environment = os.environ | {"MNEMON_HOME": str(home), "MNEMON_DATABASE_LINGER_SECONDS": "0"}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", STARTER], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(5)
    ]
    answers = [process.stdout.readline().strip() for process in processes if process.stdout]

    def one_postmaster() -> bool:
        # A child of it that was just forked has no name of its own yet.
        found = subprocess.run(["pgrep", "-f", f"postgres -D {home}"], capture_output=True, text=True)
        return len(found.stdout.split()) == 1

    until(one_postmaster, "a single postmaster")
    for process in processes:
        process.communicate("\n", timeout=PATIENCE)
    assert sorted(answers) == ["False"] * 4 + ["True"]
    assert [process.returncode for process in processes] == [0] * 5


async def test_killing_the_keeper_disturbs_nobody_and_the_next_one_adopts_the_server(private: EmbeddedServer) -> None:
    async with Database(private) as database:
        async with database.session() as session:
            await session.execute("SELECT 1")
            postmaster, keeper = files.running_postmaster(private.cluster), keeper_of(private)
            assert keeper is not None
            os.kill(keeper, signal.SIGKILL)
            await session.execute("SELECT 1")
        await asyncio.to_thread(until, lambda: keeper_of(private) not in (None, keeper), "another keeper")
        assert files.running_postmaster(private.cluster) == postmaster


@pytest.mark.parametrize("also_the_server", [False, True], ids=["keeper", "postmaster and keeper"])
def test_a_killed_keeper_is_replaced_though_nobody_connects(private: EmbeddedServer, also_the_server: bool) -> None:
    postmaster, keeper = files.running_postmaster(private.cluster), keeper_of(private)
    assert postmaster is not None and keeper is not None
    for victim in [postmaster, keeper] if also_the_server else [keeper]:
        os.kill(victim, signal.SIGKILL)
    until(lambda: keeper_of(private) not in (None, keeper), "another keeper")
    until(lambda: files.is_ready(private.cluster), "a server that answers")
    assert (files.running_postmaster(private.cluster) != postmaster) == also_the_server


def test_the_server_stops_though_its_keeper_was_killed_before_its_last_user(private: EmbeddedServer) -> None:
    first = keeper_of(private)
    assert first is not None
    os.kill(first, signal.SIGKILL)
    until(lambda: keeper_of(private) not in (None, first), "another keeper")
    private.release()
    until(lambda: files.running_postmaster(private.cluster) is None, "the end of the server")


def test_a_process_that_ends_while_it_is_looked_at_is_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(path: Path, *how: object, **options: object) -> str:
        raise ProcessLookupError(f"[Errno 3] No such process: {path}")  # As /proc says it of what has just ended.

    monkeypatch.setattr(Path, "read_text", ended)
    assert not files.is_postgres(os.getpid())


@pytest.mark.parametrize("also_the_keeper", [False, True], ids=["postmaster", "postmaster and keeper"])
async def test_nothing_acknowledged_is_lost_when_the_server_is_killed(
    private: EmbeddedServer, also_the_keeper: bool
) -> None:
    async with Database(private) as database:
        async with database.owner() as owner:
            await owner.execute("CREATE TABLE public.acknowledged (n int PRIMARY KEY)")
            await owner.execute("GRANT ALL ON public.acknowledged TO mnemon_app")
        acknowledged = []
        for number in range(60):
            if number in (20, 40):
                # Connections that outlived the last kill may have served until now.
                until(lambda: files.running_postmaster(private.cluster) is not None, "the next server")
                postmaster, keeper = files.running_postmaster(private.cluster), keeper_of(private)
                assert postmaster is not None
                # A keeper that was killed is replaced within a moment, which may be later than this.
                for victim in [postmaster, keeper] if also_the_keeper and keeper else [postmaster]:
                    os.kill(victim, signal.SIGKILL)
            try:
                async with database.session() as session:
                    await session.execute("INSERT INTO public.acknowledged VALUES (%s)", (number,))
            except psycopg.OperationalError:
                continue  # Not acknowledged; what follows finds the server again by itself.
            acknowledged.append(number)
        rows = await _read(database)
    assert set(acknowledged) <= {row["n"] for row in rows}
    assert len(acknowledged) >= 55


async def _read(database: Database) -> list[dict[str, int]]:
    """A connection that outlived the killed postmaster is ended by its backend as soon as that notices."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with contextlib.suppress(psycopg.OperationalError):
                async with database.session() as session:
                    return await (await session.execute("SELECT n FROM public.acknowledged")).fetchall()


def test_the_server_stops_when_its_last_user_is_gone_even_by_kill(served_home: Path) -> None:
    environment = os.environ | {"MNEMON_HOME": str(served_home), "MNEMON_DATABASE_LINGER_SECONDS": "0"}
    process = subprocess.Popen(
        [sys.executable, "-c", STARTER], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout and process.stdin
    assert process.stdout.readline() == "True\n"
    cluster = files.locate(served_home)
    assert files.running_postmaster(cluster)
    process.kill()
    process.communicate()
    until(lambda: files.running_postmaster(cluster) is None)


def test_a_home_that_the_servers_user_cannot_enter_still_works(open_folder: Path) -> None:
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    server = EmbeddedServer(closed / "deeper" / "home", linger_seconds=0)
    server.ensure_running()
    with psycopg.connect(server.app_conninfo) as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("mnemon_app",)
    server.release()
    until(lambda: files.running_postmaster(server.cluster) is None)
    shutil.rmtree(server.cluster.folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's server runs as another user")
def test_a_closed_home_keeps_its_data_when_it_moves_and_loses_it_when_it_is_removed(open_folder: Path) -> None:
    closed = open_folder / "moving"
    closed.mkdir(mode=0o700)
    kept = files.locate(closed / "home").folder
    (closed / "home").rename(closed / "moved")
    assert files.locate(closed / "moved").folder == kept
    shutil.rmtree(closed / "moved")
    anew = files.locate(closed / "moved").folder
    assert anew != kept
    for folder in (kept, anew):
        shutil.rmtree(folder)


def test_a_very_long_home_still_has_room_for_its_socket(home: Path) -> None:
    server = EmbeddedServer(home / ("long-" * 30) / "home", linger_seconds=0)
    server.ensure_running()
    with psycopg.connect(server.app_conninfo) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    server.release()
    until(lambda: files.running_postmaster(server.cluster) is None)
    shutil.rmtree(server.cluster.sockets)


def test_any_folder_name_will_do_for_a_home(home: Path) -> None:
    server = EmbeddedServer(home / 'o\'brien, back\\slash, "quote", $HOME; # ključ 🗝', linger_seconds=0)
    server.ensure_running()
    with psycopg.connect(server.app_conninfo) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    server.release()
    until(lambda: files.running_postmaster(server.cluster) is None)
    shutil.rmtree(server.cluster.sockets, ignore_errors=True)


def test_the_server_of_another_home_is_not_taken_for_ones_own(home: Path, server: EmbeddedServer) -> None:
    cluster = files.locate(home)
    cluster.data.mkdir()
    # As after a crash, once the dead postmaster's number was given to another home's postmaster.
    shutil.copy(server.cluster.data / "postmaster.pid", cluster.data)
    assert files.running_postmaster(server.cluster)
    assert files.running_postmaster(cluster) is None
    assert not files.is_ready(cluster)


def test_a_link_in_the_sockets_place_is_refused_and_what_it_points_to_left_alone(home: Path) -> None:
    cluster = files.locate(home / ("long-" * 30))
    target = home / "not-ours"
    target.mkdir(mode=0o755)
    before = target.stat()
    cluster.sockets.symlink_to(target)
    try:
        with pytest.raises(files.ClusterFailed, match="belongs to someone else"):
            files.start(cluster)
    finally:
        cluster.sockets.unlink()
    after = target.stat()
    assert (after.st_uid, after.st_mode) == (before.st_uid, before.st_mode)


def test_a_removed_home_takes_its_server_along(served_home: Path) -> None:
    server = EmbeddedServer(served_home, linger_seconds=60)
    server.ensure_running()
    postmaster = files.running_postmaster(server.cluster)
    assert postmaster is not None
    shutil.rmtree(server.cluster.folder, ignore_errors=True)  # The server removes files of its own meanwhile.
    until(lambda: not files.is_postgres(postmaster))
    server.release()


def test_a_half_made_cluster_is_made_again(home: Path) -> None:
    cluster = files.locate(home)
    (cluster.folder / "data.draft").mkdir()
    (cluster.folder / "data.draft" / "PG_VERSION").write_text("18")
    server = EmbeddedServer(home, linger_seconds=0)
    server.ensure_running()
    server.release()
    until(lambda: files.running_postmaster(cluster) is None)


def test_a_cluster_that_cannot_start_says_why_at_once(served_home: Path) -> None:
    server = EmbeddedServer(served_home, linger_seconds=0)
    with (server.cluster.data / "postgresql.conf").open("a") as configuration:
        configuration.write("shared_buffers = nonsense\n")
    try:
        with pytest.raises(DatabaseUnavailable, match=r"configuration is wrong: .*shared_buffers"):
            server.ensure_running()
    finally:
        server.release()


def test_whoever_comes_late_does_not_start_the_server_of_a_closed_database(home: Path) -> None:
    server = EmbeddedServer(home, linger_seconds=0)
    server.release()
    with pytest.raises(DatabaseUnavailable, match="closed"):
        server.ensure_running()
    assert not server.cluster.exists()
    assert server._share is None


async def test_a_connection_in_the_making_leaves_no_share_behind(served_home: Path) -> None:
    server = EmbeddedServer(served_home, linger_seconds=0)
    async with Database(server) as database:
        # As if the database were closed while a thread looks whether the server is up.
        with server._thread:
            closing = asyncio.create_task(database.close())
            await asyncio.sleep(0.05)
            connecting = asyncio.create_task(database.owner().__aenter__())
            await asyncio.sleep(0.05)
        await closing
        with contextlib.suppress(DatabaseUnavailable, psycopg.OperationalError):
            await (await connecting).close()
    assert server._share is None
    until(lambda: files.running_postmaster(server.cluster) is None)


async def test_the_shared_server_is_migrated_as_the_owner_and_used_as_the_application(database: Database) -> None:
    async with database.owner() as owner:
        await migrate(owner)
        who = await (
            await owner.execute("SELECT current_user, rolsuper FROM pg_roles WHERE rolname = current_user")
        ).fetchone()
    assert who == {"current_user": "mnemon_owner", "rolsuper": False}
    async with database.session() as session:
        app = await (
            await session.execute(
                "SELECT current_user, rolsuper, rolbypassrls, rolcreaterole FROM pg_roles WHERE rolname = current_user"
            )
        ).fetchone()
    assert app == {"current_user": "mnemon_app", "rolsuper": False, "rolbypassrls": False, "rolcreaterole": False}


def test_the_server_sees_no_secret_of_ours_and_its_locks_are_private(
    served_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JWT_SECRET", "a secret by a name of the specifications")
    server = EmbeddedServer(served_home, linger_seconds=0)
    server.ensure_running()
    postmaster = files.running_postmaster(server.cluster)
    assert b"JWT_SECRET" not in Path(f"/proc/{postmaster}/environ").read_bytes()
    for name in ("keeper.lock", "users.lock", "keeper.log", "start.log"):
        assert (server.cluster.folder / name).stat().st_mode & 0o777 == 0o600
    server.release()
    until(lambda: files.running_postmaster(server.cluster) is None)


def test_programs_below_a_closed_folder_are_copied_with_their_libraries(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "ROOTS_PLACE", open_folder / "roots")
    copied = files._reachable_copy(files.shipped_binaries())
    assert copied.is_relative_to(open_folder / "roots")
    assert files._reachable_copy(files.shipped_binaries()) == copied
    account = files.locate(open_folder / "shared").account
    who = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if account else {}
    for name in ("initdb", "postgres", "pg_dump", "pg_restore", "psql"):
        done = subprocess.run([copied / name, "--version"], capture_output=True, text=True, cwd="/", **who)
        assert done.returncode == 0, done.stderr
    shutil.rmtree(open_folder / "roots")
