"""A backup is one moment of the database; a restore is all of it, proven, or nothing."""

import asyncio
import io
import stat
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from mnemon.db import backup as backing
from mnemon.db.backup import backup, restore
from mnemon.db.backup_file import new_archive, open_archive
from mnemon.db.backup_keys import BackupKeys
from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer, external_server
from mnemon.db.migrate import migrate, schema_state
from mnemon.errors import BackupFailed
from mnemon.identity.roles import Role
from mnemon.identity.users import add_user
from mnemon.ids import new_uuid
from mnemon.log.events import SYSTEM
from mnemon.log.store import EventLog


@pytest.fixture
def keys(home: Path) -> BackupKeys:
    return BackupKeys(home)


async def prepare(server: ExternalServer, emails: list[str]) -> UUID:
    """A migrated database with one tenant and these users, and nobody connected to it."""
    tenant = new_uuid()
    async with Database(server, 1) as database:
        async with database.owner() as owner:
            await migrate(owner)
            await owner.execute("INSERT INTO mnemon.tenants VALUES (%s, 'kept', 'Kept — čuvaj 🗝')", (tenant,))
        for email in emails:
            async with EventLog(database) as log, log.transaction(tenant) as transaction:
                await add_user(transaction, SYSTEM, email, Role.USER, name="Žofia\n'quoted'\t\\N")
    return tenant


async def contents(server: ExternalServer) -> dict[str, list[tuple[object, ...]]]:
    async with await psycopg.AsyncConnection.connect(server.owner_conninfo) as owner:
        return {
            table: await (await owner.execute(f"SELECT * FROM mnemon.{table} ORDER BY 1, 2")).fetchall()  # type: ignore[arg-type]
            for table in ("tenants", "users", "events", "event_payloads", "event_entities", "partitions", "migrations")
        }


async def test_a_restored_database_has_every_row_and_works_as_before(
    own_server: ExternalServer, tmp_path: Path, keys: BackupKeys
) -> None:
    tenant = await prepare(own_server, ["a@x.org", "b@x.org"])
    before = await contents(own_server)
    file = tmp_path / "kept.backup"
    await backup(own_server, file, keys)
    async with Database(own_server, 1) as database, EventLog(database) as log, log.transaction(tenant) as transaction:
        await add_user(transaction, SYSTEM, "later@x.org", Role.USER)
    manifest = await restore(own_server, file, keys, replace=True)
    assert await contents(own_server) == before
    assert manifest.tables["users"].startswith("2:")
    async with Database(own_server, 1) as database:
        async with database.owner() as owner:
            assert (await schema_state(owner)).current
        async with database.transaction(tenant) as tx:
            assert len(await (await tx.execute("SELECT FROM mnemon.users")).fetchall()) == 2
        async with database.session() as session:
            assert await (await session.execute("SELECT FROM mnemon.users")).fetchall() == []


async def test_a_backup_restores_into_an_empty_database(
    empty_server: ExternalServer, own_server: ExternalServer, tmp_path: Path, keys: BackupKeys
) -> None:
    file = tmp_path / "own.backup"
    manifest = await backup(own_server, file, keys)
    await restore(empty_server, file, keys)
    assert len(await contents(empty_server)) == 7
    assert set(manifest.tables) >= {"tenants", "users", "migrations"}


async def test_a_backup_is_private_and_never_overwrites(
    own_server: ExternalServer, tmp_path: Path, keys: BackupKeys
) -> None:
    await prepare(own_server, [])
    file = tmp_path / "kept.backup"
    await backup(own_server, file, keys)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with pytest.raises(BackupFailed, match="exists already"):
        await backup(own_server, file, keys)
    with pytest.raises(BackupFailed, match="There is no folder"):
        await backup(own_server, tmp_path / "nowhere" / "x", keys)
    assert [path.name for path in tmp_path.iterdir()] == ["kept.backup"]


async def test_a_database_in_use_or_not_empty_is_not_replaced(
    own_server: ExternalServer, tmp_path: Path, keys: BackupKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    await prepare(own_server, ["a@x.org"])
    file = tmp_path / "kept.backup"
    await backup(own_server, file, keys)
    with pytest.raises(BackupFailed, match="not empty: give --replace"):
        await restore(own_server, file, keys)
    monkeypatch.setattr(backing, "LEAVING_PAUSE", 0)
    async with await psycopg.AsyncConnection.connect(own_server.app_conninfo):
        with pytest.raises(BackupFailed, match="1 other connections use this database"):
            await restore(own_server, file, keys, replace=True)


async def test_a_tenant_that_has_moved_elsewhere_since_is_opened_here_only_when_told(
    own_server: ExternalServer, tmp_path: Path, keys: BackupKeys
) -> None:
    tenant = await prepare(own_server, ["a@x.org"])
    before, later = tmp_path / "before.backup", tmp_path / "later.backup"
    await backup(own_server, before, keys)

    async def execute(statement: str, *values: object) -> None:
        async with await psycopg.AsyncConnection.connect(own_server.owner_conninfo, autocommit=True) as owner:
            await owner.execute(statement, values)  # type: ignore[arg-type]

    moved = "INSERT INTO mnemon.tenant_moves (tenant_id, slug, state, url) VALUES (%s, 'kept', 'moved', 'https://two')"
    await execute(moved, tenant)
    with pytest.raises(BackupFailed, match=r"kept to https://two.*open here too"):
        await restore(own_server, before, keys, replace=True)
    await execute("UPDATE mnemon.tenant_moves SET changed_at = now() - interval '1 hour'")
    await backup(own_server, later, keys)
    await restore(own_server, later, keys, replace=True)
    await execute("UPDATE mnemon.tenant_moves SET changed_at = now()")
    await restore(own_server, before, keys, replace=True, reopen=True)


@pytest.mark.parametrize("state", ["opening", "moved", "arriving"])
async def test_a_tenant_that_left_while_the_backup_was_made_is_not_opened_here(
    own_server: ExternalServer, tmp_path: Path, keys: BackupKeys, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """Or was on its way back, from where it is still in use."""
    tenant, file, dump = await prepare(own_server, ["a@x.org"]), tmp_path / "kept.backup", backing._dump
    left = """
    INSERT INTO mnemon.tenant_moves (tenant_id, slug, state, url, changed_at)
    VALUES (%s, 'kept', %s, 'https://two', now() - interval '1 minute')
    """  # The dump goes on for a minute after.

    async def leaves(*given: Any) -> None:
        async with await psycopg.AsyncConnection.connect(own_server.owner_conninfo, autocommit=True) as owner:
            await owner.execute(left, (tenant, state))
        await dump(*given)

    monkeypatch.setattr(backing, "_dump", leaves)
    await backup(own_server, file, keys)
    with pytest.raises(BackupFailed, match=r"kept to https://two.*open here too"):
        await restore(own_server, file, keys, replace=True)


@pytest.mark.parametrize("reopen", [False, True])
async def test_a_tenant_that_has_come_back_since_is_not_dropped(
    own_server: ExternalServer, tmp_path: Path, keys: BackupKeys, reopen: bool
) -> None:
    """By a backup of a time when it was elsewhere: that other database has let go of it."""
    tenant, file = await prepare(own_server, ["a@x.org"]), tmp_path / "kept.backup"
    for statement in (
        "INSERT INTO mnemon.tenant_moves (tenant_id, slug, state, url) VALUES (%s, 'kept', 'moved', 'https://two')",
        "DELETE FROM mnemon.tenant_moves WHERE tenant_id = %s",
    ):
        async with await psycopg.AsyncConnection.connect(own_server.owner_conninfo, autocommit=True) as owner:
            await owner.execute(statement, (tenant,))
        if not file.exists():
            await backup(own_server, file, keys)
    before = await contents(own_server)
    with pytest.raises(BackupFailed, match=r"have come back since \(kept\)"):
        await restore(own_server, file, keys, replace=True, reopen=reopen)
    assert await contents(own_server) == before


async def test_a_restore_waits_for_who_is_on_the_way_out(
    own_server: ExternalServer, tmp_path: Path, keys: BackupKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    await prepare(own_server, ["a@x.org"])
    file = tmp_path / "kept.backup"
    await backup(own_server, file, keys)
    leaving = await psycopg.AsyncConnection.connect(own_server.app_conninfo)
    pause = asyncio.sleep

    async def leaves(seconds: float) -> None:
        await leaving.close()
        await pause(seconds)

    monkeypatch.setattr(backing.asyncio, "sleep", leaves)
    await restore(own_server, file, keys, replace=True)
    assert leaving.closed


async def test_a_restore_that_would_differ_from_its_manifest_changes_nothing(
    own_server: ExternalServer, tmp_path: Path, keys: BackupKeys
) -> None:
    await prepare(own_server, ["a@x.org"])
    file, forged = tmp_path / "kept.backup", tmp_path / "forged.backup"
    await backup(own_server, file, keys)
    before = await contents(own_server)
    rewrite(file, forged, keys, lambda manifest: manifest["tables"].update(users="1:42"))
    with pytest.raises(BackupFailed, match="the rows of users differ"):
        await restore(own_server, forged, keys, replace=True)
    assert await contents(own_server) == before


async def test_a_damaged_or_foreign_file_is_refused(
    own_server: ExternalServer, tmp_path: Path, keys: BackupKeys
) -> None:
    await prepare(own_server, [])
    file, damaged = tmp_path / "kept.backup", tmp_path / "damaged.backup"
    await backup(own_server, file, keys)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    with pytest.raises(BackupFailed, match="damaged"):
        await restore(own_server, damaged, keys, replace=True)
    (tmp_path / "other").write_text("hello")
    with pytest.raises(BackupFailed, match="is not a backup"):
        await restore(own_server, tmp_path / "other", keys)
    with pytest.raises(BackupFailed, match="There is no file"):
        await restore(own_server, tmp_path / "absent", keys)
    older = tmp_path / "older.backup"
    rewrite(file, older, keys, lambda manifest: manifest["tables"].pop("functions"))
    with pytest.raises(BackupFailed, match="earlier development version of Mnemon and cannot be restored"):
        await restore(own_server, older, keys, replace=True)
    newer = tmp_path / "newer.backup"
    rewrite(file, newer, keys, lambda manifest: manifest.update(step=999))
    with pytest.raises(BackupFailed, match="run the newer program"):
        await restore(own_server, newer, keys, replace=True)


def rewrite(source: Path, target: Path, keys: BackupKeys, change: object) -> None:
    """Copy a backup with another manifest, as one who has the keys could."""
    with open_archive(source, keys) as old, new_archive(target, keys) as new:
        for member in old.getmembers():
            stream = old.extractfile(member)
            assert stream
            content = stream.read()
            if member.name == "manifest.json":
                manifest = orjson.loads(content)
                change(manifest)  # type: ignore[operator]
                content = orjson.dumps(manifest)
                member.size = len(content)
            new.addfile(member, io.BytesIO(content))


async def test_a_backup_restores_into_a_database_that_was_never_prepared(
    own_server: ExternalServer, server: EmbeddedServer, tmp_path: Path, keys: BackupKeys
) -> None:
    file = tmp_path / "kept.backup"
    await backup(own_server, file, keys)
    conninfo = server.cluster.conninfo("postgres")
    with psycopg.connect(conninfo, autocommit=True) as superuser:
        superuser.execute("CREATE DATABASE test_unprepared")
        try:
            await restore(external_server(make_conninfo(conninfo, dbname="test_unprepared"), None), file, keys)
            with psycopg.connect(make_conninfo(conninfo, dbname="test_unprepared")) as restored:
                found = restored.execute("SELECT FROM pg_extension WHERE extname = 'vector'").fetchall()
        finally:
            superuser.execute("DROP DATABASE test_unprepared WITH (FORCE)")
    assert len(found) == 1


async def test_a_place_that_cannot_be_written_is_named(own_server: ExternalServer, keys: BackupKeys) -> None:
    await prepare(own_server, [])
    with pytest.raises(BackupFailed, match=r"/proc/kept\.backup cannot be written"):
        await backup(own_server, Path("/proc/kept.backup"), keys)
