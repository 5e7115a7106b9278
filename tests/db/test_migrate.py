"""Migrations apply once, in order, by one process, and never silently differ."""

import asyncio
import re
import subprocess
from pathlib import Path

import pytest

from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer
from mnemon.db.migrate import Migration, SchemaState, migrate, packaged_migrations, schema_state
from mnemon.errors import MigrationFailed

FIRST = Migration(1, "first", "CREATE TABLE mnemon.first (n int)")
SECOND = Migration(2, "second", "CREATE TABLE mnemon.second (n int)")
BROKEN = Migration(2, "broken", "CREATE TABLE mnemon.half (n int); SELECT 1/0")
# Made by use, not by migrations: partitions, and the index over each model's vectors.
PARTITIONS = "--exclude-table=mnemon.event*_[0-9]*"
VECTOR_INDEX = re.compile(r"\w+_near_[0-9a-f]{10}; Type: INDEX;")
OBJECT = "\n--\n-- Name: "


def schema_of(server: ExternalServer, binaries: Path) -> str:
    """The schema as PostgreSQL itself writes it, less the random keys that pg_dump puts around it."""
    dump = subprocess.run(
        [binaries / "pg_dump", "--schema-only", "--schema=mnemon", PARTITIONS, server.owner_conninfo],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    objects = OBJECT.join(one for one in dump.split(OBJECT) if not VECTOR_INDEX.match(one))
    return "\n".join(line for line in objects.splitlines() if not line.startswith(("\\restrict", "\\unrestrict")))


async def test_a_database_upgraded_step_by_step_equals_a_fresh_one(
    server: EmbeddedServer, empty_server: ExternalServer, database: Database
) -> None:
    steps = packaged_migrations()
    for count in range(1, len(steps) + 1):
        # Each program that brings a step opens a session of its own, which has used nothing yet.
        async with Database(empty_server) as opened, opened.owner() as owner:
            assert await migrate(owner, steps[:count]) == SchemaState(count, count)
    fresh = ExternalServer(server.owner_conninfo, server.app_conninfo)
    assert schema_of(empty_server, server.cluster.binaries) == schema_of(fresh, server.cluster.binaries)


async def test_a_step_may_use_the_settings_of_the_extension_in_a_new_session(empty_server: ExternalServer) -> None:
    body = "CREATE FUNCTION mnemon.near() RETURNS int LANGUAGE sql SET hnsw.ef_search = 100 AS 'SELECT 1'"
    async with Database(empty_server) as opened, opened.owner() as owner:
        assert await migrate(owner, [Migration(1, "near", body)]) == SchemaState(1, 1)


async def test_ten_processes_at_once_apply_each_step_once(empty_server: ExternalServer) -> None:
    async with Database(empty_server) as opened:

        async def start() -> SchemaState:
            async with opened.owner() as owner:
                return await migrate(owner, [FIRST, SECOND])

        assert set(await asyncio.gather(*(start() for _ in range(10)))) == {SchemaState(2, 2)}
        async with opened.owner() as owner:
            applied = await (await owner.execute("SELECT step FROM mnemon.migrations ORDER BY step")).fetchall()
    assert [row["step"] for row in applied] == [1, 2]


async def test_a_failing_step_leaves_nothing_behind_and_names_itself(empty_server: ExternalServer) -> None:
    async with Database(empty_server) as opened, opened.owner() as owner:
        with pytest.raises(MigrationFailed, match=r"Step 2 \(broken\).*division by zero"):
            await migrate(owner, [FIRST, BROKEN])
        assert await schema_state(owner, [FIRST, SECOND]) == SchemaState(1, 2)
        half = await (await owner.execute("SELECT to_regclass('mnemon.half') AS half")).fetchone()
        assert half == {"half": None}
        assert await migrate(owner, [FIRST, SECOND]) == SchemaState(2, 2)


async def test_a_step_with_changed_contents_is_refused(empty_server: ExternalServer) -> None:
    async with Database(empty_server) as opened, opened.owner() as owner:
        await migrate(owner, [FIRST])
        with pytest.raises(MigrationFailed, match=r"Step 1 \(first\) was applied with other contents"):
            await migrate(owner, [Migration(1, "first", "CREATE TABLE mnemon.first (n bigint)"), SECOND])


async def test_an_older_program_refuses_a_newer_database(empty_server: ExternalServer) -> None:
    async with Database(empty_server) as opened, opened.owner() as owner:
        await migrate(owner, [FIRST, SECOND])
        with pytest.raises(MigrationFailed, match="at step 2, this program knows 1"):
            await migrate(owner, [FIRST])


async def test_an_empty_database_reports_that_it_is_behind(empty_server: ExternalServer) -> None:
    async with Database(empty_server) as opened, opened.owner() as owner:
        state = await schema_state(owner)
    assert state.applied == 0
    assert not state.current
