"""Functions and views have one current text each, and an upgraded database equals a fresh one."""

import re
import subprocess
from pathlib import Path

import pytest

from mnemon.db.database import Connection, Database
from mnemon.db.definitions import Definition, in_order, packaged_definitions
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer
from mnemon.db.migrate import Migration, Schema, SchemaState, migrate, packaged_schema, schema_state
from mnemon.errors import MigrationFailed

SHELVES = """
CREATE TABLE mnemon.shelves (tenant_id uuid NOT NULL, name text NOT NULL, old text);
CALL mnemon.isolate_by_tenant('mnemon.shelves');
CREATE INDEX shelves_by_key ON mnemon.shelves (mnemon.shelf_key(name));
CREATE TRIGGER shelves_keep BEFORE DELETE ON mnemon.shelves FOR EACH ROW EXECUTE FUNCTION mnemon.keep_shelf();
"""
BETTER_SHELVES = "ALTER TABLE mnemon.shelves DROP COLUMN old, ADD COLUMN colour text"

KEEP = "CREATE OR REPLACE FUNCTION mnemon.keep_shelf() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN {}; END $$;"
# Read by PostgreSQL at once, so that it comes after `shelf_word`, and the index after it.
KEY = (
    "CREATE OR REPLACE FUNCTION mnemon.shelf_key(name text) RETURNS text LANGUAGE sql IMMUTABLE"
    " RETURN mnemon.shelf_word(name) || '';"
)
WORD = "CREATE OR REPLACE FUNCTION mnemon.shelf_word(name text) RETURNS text LANGUAGE sql IMMUTABLE RETURN lower({});"
ALL_OLD = """
CREATE OR REPLACE FUNCTION mnemon.all_shelves(tenant uuid) RETURNS TABLE (name text, old text) LANGUAGE sql
BEGIN ATOMIC SELECT s.name, s.old FROM mnemon.shelves s; END;
GRANT EXECUTE ON FUNCTION mnemon.all_shelves TO mnemon_app;
"""
ALL_NEW = """
CREATE OR REPLACE FUNCTION mnemon.all_shelves(tenant uuid, most integer) RETURNS TABLE (name text, colour text)
LANGUAGE sql BEGIN ATOMIC SELECT s.name, s.colour FROM mnemon.shelves s LIMIT most; END;
"""
VIEW = "CREATE OR REPLACE VIEW mnemon.shelf_names AS SELECT {}, name FROM mnemon.shelves;"
PRIVATE = "REVOKE EXECUTE ON FUNCTION mnemon.keep_shelf FROM PUBLIC;"
GONE = "CREATE OR REPLACE FUNCTION mnemon.gone() RETURNS int LANGUAGE sql RETURN 1;"

# Made by use, not by migrations: partitions, and the index over each model's vectors.
PARTITIONS = "--exclude-table=mnemon.event*_[0-9]*"
OBJECT = "\n--\n-- Name: "


def shelf_schema(new: bool) -> Schema:
    """The shipped schema with a small room added, as one program ships it, and as the next one does."""
    texts = {
        "keep_shelf": KEEP.format("NULL") if new else KEEP.format("OLD") + PRIVATE,
        "shelf_word": WORD.format("btrim(name)") if new else WORD.format("name"),
        "shelf_key": KEY,
        "all_shelves": ALL_NEW if new else ALL_OLD,
        "shelf_names": VIEW.format("colour" if new else "old"),
    } | ({} if new else {"gone": GONE})
    shipped = packaged_schema()
    last = len(shipped.steps)
    steps = (Migration(last + 1, "shelves", SHELVES), Migration(last + 2, "better_shelves", BETTER_SHELVES))
    added = tuple(Definition(name, "shelves", text) for name, text in texts.items())
    return Schema(shipped.steps + steps[: 2 if new else 1], shipped.definitions + added)


def schema_of(server: ExternalServer, binaries: Path) -> str:
    """The schema as PostgreSQL itself writes it, less the random keys that pg_dump puts around it."""
    dump = subprocess.run(
        [binaries / "pg_dump", "--schema-only", "--schema=mnemon", PARTITIONS, server.owner_conninfo],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    return "\n".join(line for line in dump.splitlines() if not line.startswith(("\\restrict", "\\unrestrict")))


async def test_an_upgraded_database_equals_a_fresh_one(server: EmbeddedServer, empty_server: ExternalServer) -> None:
    new, binaries = shelf_schema(new=True), server.cluster.binaries
    async with Database(empty_server) as opened:
        async with opened.owner() as owner:
            await migrate(owner, packaged_schema())
            await migrate(owner, shelf_schema(new=False))
            behind = await schema_state(owner, new)
            assert (behind.current, behind.outdated) == (False, 5)
            assert (await migrate(owner, new)).current
            assert await schema_state(owner, new) == SchemaState(len(new.steps), len(new.steps))
        upgraded = schema_of(empty_server, binaries)
        async with opened.owner() as owner:
            await owner.execute("DROP SCHEMA mnemon CASCADE")
            await migrate(owner, new)
        assert upgraded == schema_of(empty_server, binaries)
    assert "mnemon.all_shelves(tenant uuid, most integer)" in upgraded
    assert "mnemon.gone" not in upgraded


async def test_only_changed_texts_are_applied_again(own_database: Database) -> None:
    oids = """
    SELECT array_agg(oid || ' ' || xmin ORDER BY oid) AS state FROM pg_proc
     WHERE pronamespace = 'mnemon'::regnamespace
    """
    async with own_database.owner() as owner:
        before = await (await owner.execute(oids)).fetchone()
        await migrate(owner)
        assert await (await owner.execute(oids)).fetchone() == before


async def test_a_failing_text_undoes_the_steps_before_it_and_names_its_file(own_database: Database) -> None:
    shipped = packaged_schema()
    step = Migration(len(shipped.steps) + 1, "more", "CREATE TABLE mnemon.more (n int)")
    broken = Definition(
        "broken", "ask", "CREATE OR REPLACE FUNCTION mnemon.broken() RETURNS int LANGUAGE sql RETURN x;"
    )
    async with own_database.owner() as owner:
        with pytest.raises(
            MigrationFailed, match=r"ask/functions/broken\.sql failed and everything was undone: column"
        ):
            await migrate(owner, Schema((*shipped.steps, step), (*shipped.definitions, broken)))
        row = await (await owner.execute("SELECT to_regclass('mnemon.more') AS made")).fetchone()
        assert row == {"made": None}
        assert (await schema_state(owner)).current


async def test_a_text_that_is_gone_while_the_schema_needs_it_is_refused(own_database: Database) -> None:
    shipped = packaged_schema()
    fewer = tuple(one for one in shipped.definitions if one.name != "current_tenant")
    async with own_database.owner() as owner:
        with pytest.raises(MigrationFailed, match=r"current_tenant\(\) has no text any more, but the schema still"):
            await migrate(owner, Schema(shipped.steps, fewer))
        assert (await schema_state(owner)).current


async def test_an_older_program_does_not_put_its_functions_in_place_of_newer_ones(own_database: Database) -> None:
    async with own_database.owner() as owner:
        await owner.execute("UPDATE mnemon.functions SET version = '{99,1}' WHERE name = 'append_events'")
        with pytest.raises(MigrationFailed, match=r"of Mnemon 99\.1, this program is .*: run the newer program"):
            await migrate(owner)


async def test_every_text_that_steps_need_is_sound_too(own_database: Database) -> None:
    """They are made before the tables that they speak of, so PostgreSQL reads their bodies only now."""
    async with own_database.owner() as owner:
        for one in in_order(packaged_definitions()):
            await owner.execute(one.text)


async def test_every_definer_function_pins_its_search_path(own_database: Database) -> None:
    async with own_database.owner() as owner:
        unpinned = await _names(
            owner, "prosecdef AND NOT coalesce(array_to_string(proconfig, ' '), '') LIKE '%search_path=%pg_temp%'"
        )
        open_to_all = await _names(owner, "prosecdef AND has_function_privilege('public', oid, 'EXECUTE')")
    assert unpinned == []
    assert open_to_all == []


async def _names(owner: Connection, condition: str) -> list[str]:
    query = f"SELECT proname FROM pg_proc WHERE pronamespace = 'mnemon'::regnamespace AND {condition}"
    return [row["proname"] for row in await (await owner.execute(query)).fetchall()]


@pytest.mark.parametrize("one", packaged_definitions(), ids=lambda one: one.name)
def test_a_text_opens_with_what_it_is_for(one: Definition) -> None:
    assert re.match(r"-- [A-Z0-9`]", one.text)
    assert all(len(line) <= 120 for line in one.text.splitlines())


async def test_one_name_means_one_thing(own_database: Database) -> None:
    both = """
    SELECT proname FROM pg_proc JOIN pg_class ON relname = proname AND relnamespace = pronamespace
     WHERE pronamespace = 'mnemon'::regnamespace
    UNION ALL
    SELECT proname FROM pg_proc WHERE pronamespace = 'mnemon'::regnamespace GROUP BY 1 HAVING count(*) > 1
    """
    async with own_database.owner() as owner:
        assert await (await owner.execute(both)).fetchall() == []
