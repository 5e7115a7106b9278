"""Backup and restore: PostgreSQL's own dump, the files that its rows need, and a manifest that proves both."""

import asyncio
import shutil
import subprocess
import tarfile
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from psycopg import sql

from mnemon import __version__
from mnemon.db.backup_file import (
    BLOCK,
    DUMP,
    FORMAT,
    Manifest,
    new_archive,
    pack_manifest,
    publish,
    read_manifest,
    sha256,
    unpack_dump,
)
from mnemon.db.database import Connection, Server, connect
from mnemon.db.kept_files import Folders, pack_files, put_in_place, staged_files
from mnemon.db.migrate import packaged_migrations, schema_state
from mnemon.db.programs import environment_for, program
from mnemon.db.suitability import make_suitable
from mnemon.errors import BackupFailed

NO_FOLDERS: Folders = {}
# A backup without this table is from before upgrades were possible.
FUNCTIONS = "functions"

TABLES = """
SELECT relname AS name FROM pg_class
 WHERE relnamespace = to_regnamespace('mnemon') AND relkind = 'r' ORDER BY relname
"""
# Independent of the rows' order, so that it need not sort them.
FINGERPRINT = (
    "SELECT count(*)::text || ':' || coalesce(sum(hashtextextended(t::text, 0)), 0)::text AS mark FROM {} AS t"
)
# Rows are compared as text, whose form depends on these.
TEXT_FORM = "SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO'; SET LOCAL intervalstyle = 'postgres'"
SET_ASIDE = b"""
DO $$ BEGIN
    IF to_regnamespace('mnemon') IS NOT NULL THEN ALTER SCHEMA mnemon RENAME TO mnemon_replaced; END IF;
END $$;
"""
# Functions that set pgvector's parameters can be made only where its library has been loaded.
LOAD_VECTOR = b"DO $$ BEGIN PERFORM '[1]'::vector; END $$;\n"
DROP_REPLACED = b"DROP SCHEMA IF EXISTS mnemon_replaced CASCADE;\n"
MAJOR = "SELECT current_setting('server_version_num')::int / 10000 AS major"
HAS_TENANTS = "SELECT EXISTS (SELECT FROM mnemon.tenants) AS any"
OTHERS = """
SELECT count(*) AS others FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


async def backup(server: Server, file: Path, folders: Folders = NO_FOLDERS) -> Manifest:
    """Write one consistent moment of the database, and the files that it needs, to a new file of its owner's only.

    The files are read after the rows: what the rows name is there, moved on, or was purged meanwhile.
    """
    if not file.parent.is_dir():
        raise BackupFailed(f"There is no folder {file.parent}: make it first.", file=str(file))
    try:
        if file.exists():
            raise BackupFailed(f"{file} exists already: choose another name.", file=str(file))
        # A folder of our own beside the file: in /tmp, say, someone could have put a link where the dump goes.
        with tempfile.TemporaryDirectory(prefix=".mnemon-backup-", dir=file.parent) as folder:
            return await _write(server, file, Path(folder), folders)
    except OSError as failure:
        raise BackupFailed(f"{file} cannot be written: {failure.strerror or failure}.", file=str(file)) from failure


async def _write(server: Server, file: Path, folder: Path, folders: Folders) -> Manifest:
    draft, dump = folder / "backup.tar", folder / DUMP
    async with await connect(server, server.owner_conninfo) as owner, owner.transaction():
        await owner.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        await owner.execute(TEXT_FORM)
        state = await schema_state(owner)
        if not state.applied:
            raise BackupFailed("This database holds no Mnemon schema: there is nothing to back up.")
        major = await _major(owner)
        await _dump(server, owner, dump)
        tables = await _fingerprints(owner)
    digest = await asyncio.to_thread(sha256, dump)
    taken = datetime.now(UTC).isoformat(timespec="seconds")
    with new_archive(draft) as archive:
        await asyncio.to_thread(archive.add, dump, DUMP)
        kept = await asyncio.to_thread(pack_files, archive, folders)
        manifest = Manifest(
            FORMAT, __version__, major, state.applied, taken, digest, tables, kept.files, kept.size, kept.sha256
        )
        pack_manifest(archive, manifest)
    publish(draft, file)
    return manifest


async def restore(server: Server, file: Path, folders: Folders = NO_FOLDERS, *, replace: bool = False) -> Manifest:
    """Put a backup's rows in place of this database's, in one transaction that also checks them.

    Its files come first: without their rows they are left-overs that the sweep removes, the rows without them a loss.
    """
    manifest = await asyncio.to_thread(read_manifest, file)
    async with await connect(server, server.owner_conninfo) as owner:
        await make_suitable(owner)
        major = await _major(owner)
        if manifest.server_major > major:
            raise BackupFailed(
                f"The backup is of PostgreSQL {manifest.server_major}; this server is {major}: use a newer one."
            )
        await _check_target(owner, manifest, replace)
    try:
        await asyncio.to_thread(_put_back, server, file, folders, major, manifest)
    except (OSError, tarfile.TarError) as failure:
        raise BackupFailed(f"{file} cannot be restored: {failure}", file=str(file)) from failure
    return manifest


def _put_back(server: Server, file: Path, folders: Folders, major: int, manifest: Manifest) -> None:
    # The dump not beside the backup, which may stand on a disk that cannot be written.
    with (
        tempfile.TemporaryDirectory(prefix="mnemon-restore-") as folder,
        staged_files(file, folders, manifest.kept) as staged,
    ):
        dump = Path(folder) / DUMP
        unpack_dump(file, manifest, dump)
        put_in_place(staged)
        _load(server.owner_conninfo, major, manifest, dump)


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
    others = await (await owner.execute(OTHERS)).fetchone()
    if others and others["others"]:
        raise BackupFailed(
            f"{others['others']} other connections use this database: stop `mnemon serve` and `mnemon work` first."
        )
    state = await schema_state(owner)
    if state.applied and not replace:
        row = await (await owner.execute(HAS_TENANTS)).fetchone()
        if row and row["any"]:
            raise BackupFailed("This database is not empty: give --replace to put the backup in place of all it holds.")


async def _dump(server: Server, owner: Connection, dump: Path) -> None:
    """Dump the very moment that the open transaction sees."""
    exported = await (await owner.execute("SELECT pg_export_snapshot() AS name")).fetchone()
    assert exported is not None
    command = [
        program("pg_dump", await _major(owner)), "--format=custom", "--schema=mnemon", "--no-owner",
        f"--snapshot={exported['name']}", f"--file={dump}",
    ]  # fmt: skip
    dump.touch(mode=0o600)
    await asyncio.to_thread(_run, command, environment_for(server.owner_conninfo))


async def _fingerprints(owner: Connection) -> dict[str, str]:
    marks = {}
    for table in await (await owner.execute(TABLES)).fetchall():
        query = sql.SQL(FINGERPRINT).format(sql.Identifier("mnemon", table["name"]))
        row = await (await owner.execute(query)).fetchone()
        assert row is not None
        marks[table["name"]] = row["mark"]
    return marks


def _load(conninfo: str, major: int, manifest: Manifest, dump: Path) -> None:
    """One psql, one transaction: set the old schema aside, load, compare every table, drop the old one."""
    read: list[str | Path] = [program("pg_restore", major), "--no-owner", "--file=-", dump]
    write: list[str | Path] = [
        program("psql", major),
        "--quiet",
        "--no-psqlrc",
        "--single-transaction",
        "--set=ON_ERROR_STOP=1",
    ]
    # What they complain of goes to files: a full pipe that nobody reads would stop both.
    with (
        tempfile.TemporaryFile() as unreadable,
        tempfile.TemporaryFile() as refused,
        subprocess.Popen(read, stdout=subprocess.PIPE, stderr=unreadable) as reader,
        subprocess.Popen(
            write, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=refused, env=environment_for(conninfo)
        ) as loader,
    ):
        assert reader.stdout and loader.stdin
        try:
            loader.stdin.write(SET_ASIDE + LOAD_VECTOR)
            shutil.copyfileobj(reader.stdout, loader.stdin, BLOCK)
            if reader.wait():
                loader.kill()
                raise BackupFailed(f"The backup cannot be read: {_complaint(unreadable)}")
            loader.stdin.write(_comparison(manifest).encode() + DROP_REPLACED)
            loader.stdin.close()
        except BrokenPipeError:
            reader.kill()
        if loader.wait():
            raise BackupFailed(f"The restore failed and was undone: {_complaint(refused)}")


def _complaint(output: IO[bytes]) -> str:
    output.seek(0)
    said = output.read().decode(errors="replace")
    return next((line for line in said.splitlines() if "ERROR" in line), said.strip()[-500:])


def _comparison(manifest: Manifest) -> str:
    """SQL that fails, and so undoes the restore, unless every table has the rows it had."""
    checks = []
    for name, mark in manifest.tables.items():
        query = sql.SQL(FINGERPRINT).format(sql.Identifier("mnemon", name)).as_string()
        message = sql.Literal(f"the rows of {name} differ from the backup's manifest").as_string()
        checks.append(
            f"IF ({query}) <> {sql.Literal(mark).as_string()} THEN RAISE EXCEPTION USING MESSAGE = {message}; END IF;"
        )
    return f"{TEXT_FORM}; DO $check$ BEGIN\n" + "\n".join(checks) + "\nEND $check$;\n"


async def _major(owner: Connection) -> int:
    row = await (await owner.execute(MAJOR)).fetchone()
    assert row is not None
    return int(row["major"])


def _run(command: list[Any], environment: dict[str, str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise BackupFailed(f"{Path(command[0]).name} failed: {done.stderr.strip()}")
