"""Migrations: numbered SQL files, each applied once, in order, by one process at a time."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import psycopg

from mnemon.db.database import Connection
from mnemon.db.suitability import make_suitable
from mnemon.errors import MigrationFailed

# Any constant will do; this one spells "mnemon" in ASCII.
LOCK_KEY = 0x6D6E656D6F6E
# A session knows the extension's own settings only once it has used it, and functions of later steps set some.
USE_VECTORS = "SELECT '[0]'::vector"

CREATE_RECORD = """
CREATE SCHEMA IF NOT EXISTS mnemon;
CREATE TABLE IF NOT EXISTS mnemon.migrations (
    step       integer PRIMARY KEY,
    name       text NOT NULL,
    checksum   text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
"""
RECORD_EXISTS = "SELECT to_regclass('mnemon.migrations') IS NOT NULL AS exists"
APPLIED = "SELECT step, name, checksum, applied_at FROM mnemon.migrations ORDER BY step"
RECORD = "INSERT INTO mnemon.migrations (step, name, checksum) VALUES (%s, %s, %s)"


@dataclass(frozen=True)
class Migration:
    """One step: `0003_jobs.sql` is step 3, named jobs."""

    step: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class SchemaState:
    """How far a database is behind this program."""

    applied: int
    latest: int

    @property
    def current(self) -> bool:
        return self.applied == self.latest


def packaged_migrations() -> tuple[Migration, ...]:
    """The steps that this program ships, which must be numbered 1, 2, 3 …"""
    files = sorted((resources.files("mnemon.db") / "migrations").iterdir(), key=lambda file: file.name)
    steps = [file for file in files if file.name.endswith(".sql")]
    migrations = []
    for expected, file in enumerate(steps, 1):
        number, _, name = file.name.removesuffix(".sql").partition("_")
        if int(number) != expected:
            raise MigrationFailed(f"Migration {file.name} should be number {expected:04}.")
        migrations.append(Migration(expected, name, file.read_text(encoding="utf-8")))
    return tuple(migrations)


async def migrate(owner: Connection, migrations: Sequence[Migration] | None = None) -> SchemaState:
    """Bring the schema up to date; processes that come second wait, then find nothing to do."""
    steps = packaged_migrations() if migrations is None else migrations
    await owner.execute("SELECT pg_advisory_lock(%s)", (LOCK_KEY,))
    try:
        await make_suitable(owner)
        await owner.execute(USE_VECTORS)
        await owner.execute(CREATE_RECORD)
        done = await _check_history(owner, steps)
        for migration in steps[done:]:
            await _apply(owner, migration)
        return SchemaState(len(steps), len(steps))
    finally:
        await owner.execute("SELECT pg_advisory_unlock(%s)", (LOCK_KEY,))


async def schema_state(owner: Connection, migrations: Sequence[Migration] | None = None) -> SchemaState:
    """How many steps this database has, without changing it."""
    steps = packaged_migrations() if migrations is None else migrations
    exists = await (await owner.execute(RECORD_EXISTS)).fetchone()
    if exists is None or not exists["exists"]:
        return SchemaState(0, len(steps))
    return SchemaState(await _check_history(owner, steps), len(steps))


async def _check_history(owner: Connection, steps: Sequence[Migration]) -> int:
    """Return how many steps are applied, or refuse a history that this program does not share."""
    applied = await (await owner.execute(APPLIED)).fetchall()
    if len(applied) > len(steps):
        raise MigrationFailed(
            f"This database is at step {len(applied)}, this program knows {len(steps)}: run the newer program.",
            applied=len(applied),
            latest=len(steps),
        )
    for row, migration in zip(applied, steps, strict=False):
        if row["checksum"] != migration.checksum:
            raise MigrationFailed(
                f"Step {row['step']} ({row['name']}) was applied with other contents than this program ships: "
                "run the program that applied it, or restore a backup.",
                step=row["step"],
            )
    return len(applied)


async def _apply(owner: Connection, migration: Migration) -> None:
    try:
        async with owner.transaction():
            await owner.execute(migration.text)
            await owner.execute(RECORD, (migration.step, migration.name, migration.checksum))
    except psycopg.Error as failure:
        raise MigrationFailed(
            f"Step {migration.step} ({migration.name}) failed and was undone: {failure}", step=migration.step
        ) from failure
