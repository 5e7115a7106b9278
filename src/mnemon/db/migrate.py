"""Migrations: numbered steps applied once, and functions applied when their text changed, by one process at a time."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import psycopg

from mnemon.db import definitions as functions
from mnemon.db.database import Connection
from mnemon.db.definitions import Definition, packaged_definitions
from mnemon.db.suitability import make_suitable
from mnemon.errors import HomeOutdated, MigrationFailed

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
RECORDS_EXIST = """
SELECT to_regclass('mnemon.migrations') IS NOT NULL AS steps, to_regclass('mnemon.functions') IS NOT NULL AS functions
"""
# Functions that steps need come before the tables that their own bodies speak of.
TRUST_BODIES = "SET LOCAL check_function_bodies = off"
CHECK_BODIES = "SET LOCAL check_function_bodies = on"
APPLIED = "SELECT step, name, checksum, applied_at FROM mnemon.migrations ORDER BY step"
RECORD = "INSERT INTO mnemon.migrations (step, name, checksum) VALUES (%s, %s, %s)"


@dataclass(frozen=True)
class Migration:
    """One step: `0003_log.sql` is step 3, named log."""

    step: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class SchemaState:
    """How far a database is behind this program: steps applied, steps in all, functions with another text."""

    applied: int
    latest: int
    outdated: int = 0

    @property
    def current(self) -> bool:
        return self.applied == self.latest and not self.outdated


@dataclass(frozen=True)
class Schema:
    """What a program ships: steps that change tables, and the current text of each function and view."""

    steps: tuple[Migration, ...]
    definitions: tuple[Definition, ...] = ()


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


def packaged_schema() -> Schema:
    return Schema(packaged_migrations(), packaged_definitions())


async def migrate(owner: Connection, schema: Schema | None = None) -> SchemaState:
    """Bring the schema up to date, all or nothing; processes that come second wait, then find nothing to do."""
    wanted = schema or packaged_schema()
    await owner.execute("SELECT pg_advisory_lock(%s)", (LOCK_KEY,))
    try:
        await make_suitable(owner)
        await owner.execute(USE_VECTORS)
        await _refuse_outdated_home(owner)
        async with owner.transaction():
            await upgrade(owner, wanted)
        return SchemaState(len(wanted.steps), len(wanted.steps))
    finally:
        await owner.execute("SELECT pg_advisory_unlock(%s)", (LOCK_KEY,))


async def schema_state(owner: Connection, schema: Schema | None = None) -> SchemaState:
    """How far this database is, without changing it."""
    wanted = schema or packaged_schema()
    if not await _refuse_outdated_home(owner):
        return SchemaState(0, len(wanted.steps), len(wanted.definitions))
    outdated = await functions.outdated(owner, wanted.definitions)
    return SchemaState(await _check_history(owner, wanted.steps), len(wanted.steps), len(outdated))


async def upgrade(owner: Connection, wanted: Schema) -> None:
    """Drop what can go, make what the steps name, run the steps, make the rest: docs/decisions/0033 says why.

    In the transaction of a caller who has seen to the rest.
    """
    await owner.execute(CREATE_RECORD)
    await owner.execute(functions.CREATE_RECORD)
    steps = wanted.steps[await _check_history(owner, wanted.steps) :]
    changed = await functions.outdated(owner, wanted.definitions)
    if not steps and not changed:
        return
    if steps:  # a view would keep a step from changing the columns that it shows
        changed |= {one.name for one in wanted.definitions if one.is_view}
    needed = functions.needed_by("\n".join(step.text for step in wanted.steps), wanted.definitions)
    kept = await functions.drop_unneeded(owner, changed)
    ordered = [one for one in functions.in_order(wanted.definitions) if one.name in changed]
    await owner.execute(TRUST_BODIES)
    for one in ordered:
        if one.name in needed:
            await (functions.replace if one.name in kept else functions.create)(owner, one)
    for step in steps:
        await _apply(owner, step)
    await owner.execute(CHECK_BODIES)
    for one in ordered:
        if one.name not in needed:
            await (functions.replace if one.name in kept else functions.create)(owner, one)
    await functions.remove_all(owner, changed - {one.name for one in ordered})
    await functions.record(owner, wanted.definitions, changed)


async def _refuse_outdated_home(owner: Connection) -> bool:
    """Whether there is a schema; one from before functions had texts of their own cannot be upgraded."""
    exist = await (await owner.execute(RECORDS_EXIST)).fetchone()
    assert exist is not None
    if exist["steps"] and not exist["functions"]:
        raise HomeOutdated(
            "This database was made by an earlier development version of Mnemon and cannot be upgraded: "
            "start with an empty home (MNEMON_HOME) or database and add the documents again."
        )
    return bool(exist["steps"])


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
        await owner.execute(migration.text)
        await owner.execute(RECORD, (migration.step, migration.name, migration.checksum))
    except psycopg.Error as failure:
        raise MigrationFailed(
            f"Step {migration.step} ({migration.name}) failed and everything was undone: {failure}", step=migration.step
        ) from failure
