"""Backup and restore: PostgreSQL's own dump, the files that its rows need, and a manifest that proves both."""

import asyncio
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from psycopg import sql

from mnemon import __version__
from mnemon.db.backup_file import (
    BLOCK,
    DUMP,
    FORMAT,
    ROWS,
    Manifest,
    Spool,
    new_archive,
    open_archive,
    pack_manifest,
    publish,
    read_manifest,
)
from mnemon.db.backup_keys import BackupKeys
from mnemon.db.database import Connection, Server, connect
from mnemon.db.kept_files import Folders, pack_files, put_in_place, staged_files
from mnemon.db.migrate import packaged_migrations, schema_state
from mnemon.db.programs import environment_for, program
from mnemon.db.restore_script import FINGERPRINT, TEXT_FORM, RestoreScript
from mnemon.db.suitability import make_suitable
from mnemon.errors import BackupFailed

NO_FOLDERS: Folders = {}
# A backup without this table is from before upgrades were possible.
FUNCTIONS = "functions"
# From here on pg_dump could take the planner's statistics along, which hold values of rows that are left out.
KNOWS_STATISTICS = 18

TABLES = """
SELECT relname AS name FROM pg_class
 WHERE relnamespace = to_regnamespace('mnemon') AND relkind = 'r' ORDER BY relname
"""
MAJOR = "SELECT current_setting('server_version_num')::int / 10000 AS major"
HAS_TENANTS = "SELECT EXISTS (SELECT FROM mnemon.tenants) AS any"
OTHERS = """
SELECT count(*) AS others FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
# Together three seconds.
LEAVING_TRIES = 30
LEAVING_PAUSE = 0.1


@dataclass(frozen=True)
class Extent:
    """What of the tables goes into a backup: all, less what the log gives again and a backup is not to tell.

    `left_out` tables are empty in it, and the statements `afterwards`, the last of a restore, have them made anew; of
    those `in_part` a query gives the rows that stay.
    """

    left_out: Sequence[str] = ()
    afterwards: Sequence[str] = ()
    in_part: Mapping[str, str] = field(default_factory=dict)


EVERYTHING = Extent()


async def backup(
    server: Server, file: Path, keys: BackupKeys, folders: Folders = NO_FOLDERS, extent: Extent = EVERYTHING
) -> Manifest:
    """Write one consistent moment of the database, and the files that it needs, to a new file, encrypted and signed.

    The files are read after the rows: what the rows name is there, moved on, or was purged meanwhile.
    """
    if not file.parent.is_dir():
        raise BackupFailed(f"There is no folder {file.parent}: make it first.", file=str(file))
    try:
        if file.exists():
            raise BackupFailed(f"{file} exists already: choose another name.", file=str(file))
        # A folder of our own beside the file: in /tmp, say, someone could have put a link where the dump goes.
        with tempfile.TemporaryDirectory(prefix=".mnemon-backup-", dir=file.parent) as folder:
            return await _write(server, file, Path(folder), keys, folders, extent)
    except OSError as failure:
        raise BackupFailed(f"{file} cannot be written: {failure.strerror or failure}.", file=str(file)) from failure


async def _write(
    server: Server, file: Path, folder: Path, keys: BackupKeys, folders: Folders, extent: Extent
) -> Manifest:
    draft, dump = folder / "backup", Spool(folder / DUMP)
    parts = {table: Spool(folder / f"{table}.rows") for table in extent.in_part}
    async with await connect(server, server.owner_conninfo) as owner, owner.transaction():
        await owner.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        await owner.execute(TEXT_FORM)
        state = await schema_state(owner)
        if not state.applied:
            raise BackupFailed("This database holds no Mnemon schema: there is nothing to back up.")
        major = await _major(owner)
        await _dump(server, owner, major, dump, extent)
        for table, spool in parts.items():
            await _copy(owner, extent.in_part[table], spool)
        tables = await _fingerprints(owner, extent)
    taken = datetime.now(UTC).isoformat(timespec="seconds")
    with new_archive(draft, keys) as archive:
        await asyncio.to_thread(dump.pack, archive, DUMP)
        for table, spool in parts.items():
            await asyncio.to_thread(spool.pack, archive, ROWS + table)
        kept = await asyncio.to_thread(pack_files, archive, folders)
        manifest = Manifest(
            FORMAT, __version__, major, state.applied, taken, dump.sha256, tables, kept.files, kept.size, kept.sha256,
            list(extent.left_out), list(extent.afterwards), {table: spool.sha256 for table, spool in parts.items()},
        )  # fmt: skip
        pack_manifest(archive, manifest)
    publish(draft, file)
    return manifest


async def restore(
    server: Server,
    file: Path,
    keys: BackupKeys,
    folders: Folders = NO_FOLDERS,
    *,
    replace: bool = False,
    unsigned: bool = False,
    reopen: bool = False,
) -> Manifest:
    """Put a backup's rows in place of this database's, in one transaction that also checks them. `reopen` also tenants
    that have moved to another database since.

    Its files come first: without their rows they are left-overs that the sweep removes, the rows without them a loss.
    """
    try:
        with open_archive(file, keys, unsigned=unsigned) as archive:
            return await _restore(server, archive, folders, replace, reopen)
    except (OSError, tarfile.TarError) as failure:
        raise BackupFailed(f"{file} cannot be restored: {failure}", file=str(file)) from failure


async def _restore(server: Server, archive: tarfile.TarFile, folders: Folders, replace: bool, reopen: bool) -> Manifest:
    manifest = await asyncio.to_thread(read_manifest, archive)
    async with await connect(server, server.owner_conninfo) as owner:
        await make_suitable(owner)
        major = await _major(owner)
        if manifest.server_major > major:
            raise BackupFailed(
                f"The backup is of PostgreSQL {manifest.server_major}; this server is {major}: use a newer one."
            )
        await _check_target(owner, manifest, replace)
    script = RestoreScript(server.owner_conninfo, major, manifest, archive, reopen=reopen)
    await asyncio.to_thread(_put_back, archive, folders, manifest, script)
    return manifest


def _put_back(archive: tarfile.TarFile, folders: Folders, manifest: Manifest, script: RestoreScript) -> None:
    with staged_files(archive, folders, manifest.kept) as staged:
        put_in_place(staged)
        script.run()


async def _others(owner: Connection) -> int:
    """How many stay connected. Whoever has hung up is still counted until the server notices."""
    for _ in range(LEAVING_TRIES):
        row = await (await owner.execute(OTHERS)).fetchone()
        others: int = row["others"] if row else 0
        if not others:
            break
        await asyncio.sleep(LEAVING_PAUSE)
    return others


async def _check_target(owner: Connection, manifest: Manifest, replace: bool) -> None:
    latest = len(packaged_migrations())
    if FUNCTIONS not in manifest.tables:
        raise BackupFailed(
            "The backup was made by an earlier development version of Mnemon and cannot be restored: "
            "start with an empty home (MNEMON_HOME) or database and add the documents again."
        )
    if manifest.step > latest:
        raise BackupFailed(
            f"The backup is at step {manifest.step}, this program knows {latest}: run the newer program."
        )
    if others := await _others(owner):
        raise BackupFailed(
            f"{others} other connections use this database: stop `mnemon serve` and `mnemon work` first."
        )
    if not replace and await holds_tenants(owner):
        raise BackupFailed("This database is not empty: give --replace to put the backup in place of all it holds.")


async def holds_tenants(owner: Connection) -> bool:
    """Whether there is anything that a restore would replace."""
    if not (await schema_state(owner)).applied:
        return False
    row = await (await owner.execute(HAS_TENANTS)).fetchone()
    return bool(row and row["any"])


async def _dump(server: Server, owner: Connection, major: int, spool: Spool, extent: Extent) -> None:
    """Dump the very moment that the open transaction sees."""
    exported = await (await owner.execute("SELECT pg_export_snapshot() AS name")).fetchone()
    assert exported is not None
    command = [
        program("pg_dump", major), "--format=custom", "--schema=mnemon", "--no-owner",
        f"--snapshot={exported['name']}", *(f"--exclude-table-data=mnemon.{table}" for table in _reduced(extent)),
        *(["--no-statistics"] if major >= KNOWS_STATISTICS else []),
    ]  # fmt: skip
    await asyncio.to_thread(_run, command, environment_for(server.owner_conninfo), spool)


async def _copy(owner: Connection, query: str, spool: Spool) -> None:
    with spool.writing() as output:
        async with owner.cursor().copy(f"COPY ({query}) TO STDOUT".encode()) as rows:
            async for block in rows:
                output.write(bytes(block))


async def _fingerprints(owner: Connection, extent: Extent) -> dict[str, str]:
    marks = {}
    for table in await (await owner.execute(TABLES)).fetchall():
        name = table["name"]
        if name in extent.left_out:
            continue
        source: sql.Composable = sql.Identifier("mnemon", name)
        if name in extent.in_part:
            source = sql.SQL("({})").format(sql.SQL(extent.in_part[name]))
        row = await (await owner.execute(sql.SQL(FINGERPRINT).format(source))).fetchone()
        assert row is not None
        marks[name] = row["mark"]
    return marks


def _reduced(extent: Extent) -> Sequence[str]:
    return [*extent.left_out, *extent.in_part]


async def _major(owner: Connection) -> int:
    row = await (await owner.execute(MAJOR)).fetchone()
    assert row is not None
    return int(row["major"])


def _run(command: list[Any], environment: dict[str, str], spool: Spool) -> None:
    """A program's output into the spool, never plain onto a disk."""
    with (
        tempfile.TemporaryFile() as complaints,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=complaints, env=environment) as running,
        spool.writing() as output,
    ):
        assert running.stdout
        try:
            while block := running.stdout.read(BLOCK):
                output.write(block)
        except BaseException:
            running.kill()
            raise
        if running.wait():
            complaints.seek(0)
            said = complaints.read().decode(errors="replace").strip()
            raise BackupFailed(f"{Path(command[0]).name} failed: {said}")
