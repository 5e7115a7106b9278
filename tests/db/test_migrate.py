"""Migrations apply once, in order, by one process, and never silently differ."""

import asyncio
import re

import psycopg
import pytest

from mnemon.db.database import Database
from mnemon.db.external import ExternalServer
from mnemon.db.migrate import Migration, Schema, SchemaState, migrate, packaged_schema, schema_state
from mnemon.errors import HomeOutdated, MigrationFailed

FIRST = Migration(1, "first", "CREATE TABLE mnemon.first (n int)")
SECOND = Migration(2, "second", "CREATE TABLE mnemon.second (n int)")
BROKEN = Migration(2, "broken", "CREATE TABLE mnemon.half (n int); SELECT 1/0")
INTERRUPTED = Migration(2, "interrupted", "SELECT pg_terminate_backend(pg_backend_pid())")
OLD_RECORD = """
CREATE SCHEMA mnemon;
CREATE TABLE mnemon.migrations (
    step integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz DEFAULT now());
INSERT INTO mnemon.migrations (step, name, checksum) VALUES (1, 'foundation', 'as it was')
"""


def schema(*steps: Migration) -> Schema:
    return Schema(steps)


def test_no_rule_stands_on_an_escape_that_postgresql_18_reads_otherwise() -> None:
    """A server that was upgraded would have another rule than one that was made anew, and verify would say so."""
    steps = packaged_schema().steps
    text = re.compile(r"E'[^']*\\v")
    assert [step.step for step in steps if text.search(step.text)] == [7]
    [made_anew] = [step for step in steps if "DROP CONSTRAINT a_quote_has_at_most_25_words" in step.text]
    assert r"E' \t\r\n\f\x0B'" in made_anew.text


async def test_a_step_may_use_the_settings_of_the_extension_in_a_new_session(empty_server: ExternalServer) -> None:
    body = "CREATE FUNCTION mnemon.near() RETURNS int LANGUAGE sql SET hnsw.ef_search = 100 AS 'SELECT 1'"
    async with Database(empty_server) as opened, opened.owner() as owner:
        assert await migrate(owner, schema(Migration(1, "near", body))) == SchemaState(1, 1)


async def test_ten_processes_at_once_apply_each_step_once(empty_server: ExternalServer) -> None:
    async with Database(empty_server) as opened:

        async def start() -> SchemaState:
            async with opened.owner() as owner:
                return await migrate(owner, schema(FIRST, SECOND))

        assert set(await asyncio.gather(*(start() for _ in range(10)))) == {SchemaState(2, 2)}
        async with opened.owner() as owner:
            applied = await (await owner.execute("SELECT step FROM mnemon.migrations ORDER BY step")).fetchall()
    assert [row["step"] for row in applied] == [1, 2]


async def test_a_failing_step_leaves_nothing_behind_and_names_itself(empty_server: ExternalServer) -> None:
    async with Database(empty_server) as opened, opened.owner() as owner:
        with pytest.raises(MigrationFailed, match=r"Step 2 \(broken\).*division by zero"):
            await migrate(owner, schema(FIRST, BROKEN))
        assert await schema_state(owner, schema(FIRST, SECOND)) == SchemaState(0, 2)
        half = await (await owner.execute("SELECT to_regclass('mnemon.half') AS half")).fetchone()
        assert half == {"half": None}
        assert await migrate(owner, schema(FIRST, SECOND)) == SchemaState(2, 2)


async def test_a_step_with_changed_contents_is_refused(empty_server: ExternalServer) -> None:
    async with Database(empty_server) as opened, opened.owner() as owner:
        await migrate(owner, schema(FIRST))
        with pytest.raises(MigrationFailed, match=r"Step 1 \(first\) was applied with other contents"):
            await migrate(owner, schema(Migration(1, "first", "CREATE TABLE mnemon.first (n bigint)"), SECOND))


async def test_an_older_program_refuses_a_newer_database(empty_server: ExternalServer) -> None:
    async with Database(empty_server) as opened, opened.owner() as owner:
        await migrate(owner, schema(FIRST, SECOND))
        with pytest.raises(MigrationFailed, match="at step 2, this program knows 1"):
            await migrate(owner, schema(FIRST))


async def test_an_empty_database_reports_that_it_is_behind(empty_server: ExternalServer) -> None:
    async with Database(empty_server) as opened, opened.owner() as owner:
        state = await schema_state(owner)
    assert state.applied == 0
    assert not state.current


async def test_an_interrupted_upgrade_leaves_nothing_half_done(empty_server: ExternalServer) -> None:
    async with Database(empty_server) as opened:
        with pytest.raises((MigrationFailed, psycopg.OperationalError)):
            async with opened.owner() as owner:
                await migrate(owner, schema(FIRST, INTERRUPTED))
        async with opened.owner() as owner:
            assert await schema_state(owner, schema(FIRST, SECOND)) == SchemaState(0, 2)
            assert await migrate(owner, schema(FIRST, SECOND)) == SchemaState(2, 2)


async def test_a_home_of_an_earlier_development_version_is_refused_with_what_to_do(
    empty_server: ExternalServer,
) -> None:
    async with Database(empty_server) as opened, opened.owner() as owner:
        await owner.execute(OLD_RECORD)
        for asked in (migrate, schema_state):
            with pytest.raises(HomeOutdated, match=r"cannot be upgraded: start with an empty home \(MNEMON_HOME\)"):
                await asked(owner)
        row = await (await owner.execute("SELECT to_regclass('mnemon.tenants') AS made")).fetchone()
    assert row == {"made": None}
