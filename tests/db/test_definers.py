"""Functions that run as the owner touch nothing that their caller made: the rule, and the attack that broke it."""

import re
from uuid import UUID

import psycopg
import pytest

from mnemon.db.database import Connection, Database
from mnemon.db.migrate import migrate
from mnemon.errors import DatabaseUnsuitable
from mnemon.memory.lens import LENS

# What a definer's names may be looked up in; the caller's temporary schema comes last, for names that nobody else has.
TRUSTED_SCHEMAS = {"mnemon", "public", "pg_catalog"}
DEFINERS = """
SELECT p.proname AS name, p.prosrc AS body, pg_get_userbyid(p.proowner) AS owner,
       coalesce((SELECT substr(s, 13) FROM unnest(p.proconfig) s WHERE s LIKE 'search_path=%%'), '') AS path,
       has_function_privilege('public', p.oid, 'EXECUTE') AS for_everyone,
       ARRAY(SELECT format_type(t.oid, NULL) FROM unnest(p.proargtypes) a JOIN pg_type t ON t.oid = a
              WHERE t.typtype = 'p' OR t.typnamespace <> 'pg_catalog'::regnamespace AND t.typname <> 'vector'
                 OR t.typname LIKE 'reg%%' OR t.typname = 'refcursor') AS open_arguments
  FROM pg_proc p WHERE p.prosecdef AND p.pronamespace <> 'pg_catalog'::regnamespace
"""
CALLED = "SELECT proname AS name, prosrc AS body FROM pg_proc WHERE pronamespace = 'mnemon'::regnamespace"
# Where the application role may make things that a search path would find.
OPEN_SCHEMAS = """
SELECT nspname AS name FROM pg_namespace
 WHERE nspname = ANY (%s) AND has_schema_privilege('mnemon_app', oid, 'CREATE')
"""
# A value of the caller's that is read as the name of a relation, type or function, or as SQL.
TOUCHES = re.compile(
    r"pg_temp|pg_my_temp_schema|to_reg\w+\s*\(|\bEXECUTE\s+(?!format\s*\()[\w$]|"
    r"\bEXECUTE\s+format\s*\(\s*(?:'|\$q\$)[^']*%(?:\d\$)?s|(?<!')::reg\w+",
    re.IGNORECASE,
)
# Each of these puts only words of its own, or columns that the catalogue names, where `%s` stands.
READ_BY_EYE = {"near_events", "nearest_chunks", "search_memory_vectors", "add_partition",
               "add_memory_rows", "remove_memory_rows"}  # fmt: skip


async def faults_in(connection: Connection) -> dict[str, set[str]]:
    """What breaks the rule, by the function that does."""
    faults: dict[str, set[str]] = {}
    bodies: dict[str, str] = {}
    for row in await (await connection.execute(CALLED)).fetchall():
        bodies[row["name"]] = bodies.get(row["name"], "") + row["body"]
    for row in await (await connection.execute(DEFINERS)).fetchall():
        *schemas, last = [part.strip().strip('"') for part in row["path"].split(",")]
        found = set()
        if last != "pg_temp" or not schemas or not set(schemas) <= TRUSTED_SCHEMAS:
            found.add(f"search_path is {row['path'] or 'not pinned'}")
        if row["owner"] != "mnemon_owner":
            found.add(f"belongs to {row['owner']}")
        if row["for_everyone"]:
            found.add("may be called by everyone")
        if row["open_arguments"]:
            found.add(f"takes {', '.join(row['open_arguments'])}")
        for name in {row["name"]} | _called_by(row["body"], bodies):
            if name not in READ_BY_EYE and TOUCHES.search(bodies.get(name, row["body"])):
                found.add(f"{name} names what a caller may have made")
        if found:
            faults[row["name"]] = found
    return faults


def _called_by(body: str, bodies: dict[str, str]) -> set[str]:
    """The functions of ours that a body calls, and those that these call: all of them run as the owner then."""
    called: set[str] = set()
    fresh = {body}
    while fresh:
        named = {name for text in fresh for name in re.findall(r"\b(\w+)\s*\(", text)} & bodies.keys() - called
        called |= named
        fresh = {bodies[name] for name in named}
    return called


async def test_no_definer_touches_what_its_caller_made(database: Database) -> None:
    async with database.owner() as owner:
        assert len(await (await owner.execute(DEFINERS)).fetchall()) > 50
        assert await faults_in(owner) == {}


async def test_the_application_role_can_make_nothing_where_definers_look(database: Database) -> None:
    async with database.owner() as owner:
        open_schemas = await (await owner.execute(OPEN_SCHEMAS, (list(TRUSTED_SCHEMAS),))).fetchall()
    assert open_schemas == []


@pytest.mark.parametrize(
    ("head", "body", "fault"),
    [
        ("f() RETURNS int LANGUAGE sql SECURITY DEFINER", "SELECT 1", "search_path is not pinned"),
        ("f() RETURNS int LANGUAGE sql SECURITY DEFINER SET search_path = pg_temp, mnemon", "SELECT 1", "search_path"),
        ("f() RETURNS int LANGUAGE sql SECURITY DEFINER SET search_path = mnemon, other, pg_temp", "SELECT 1", "other"),
        ("f(relation regclass) RETURNS int LANGUAGE sql SECURITY DEFINER SET search_path = mnemon, pg_temp",
         "SELECT 1", "takes regclass"),
        ("f(anything anyelement) RETURNS int LANGUAGE sql SECURITY DEFINER SET search_path = mnemon, pg_temp",
         "SELECT 1", "takes anyelement"),
        ("f(name text) RETURNS oid LANGUAGE sql SECURITY DEFINER SET search_path = mnemon, pg_temp",
         "SELECT to_regclass(name)::oid", "names what a caller may have made"),
        ("f() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, pg_temp",
         "BEGIN PERFORM count(*) FROM pg_temp.t; END", "names what a caller may have made"),
        ("f(text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, pg_temp",
         "BEGIN EXECUTE $1; PERFORM 1; EXECUTE statement; END", "names what a caller may have made"),
        # It is harmless as it is; called by a definer it would read the caller's tables as the owner.
        ("f() RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = mnemon, pg_temp",
         "SELECT mnemon.exchange_memory()", "exchange_memory names what a caller may have made"),
    ],
)  # fmt: skip
async def test_the_rule_finds_a_definer_that_breaks_it(database: Database, head: str, body: str, fault: str) -> None:
    async with database.owner() as owner, owner.transaction(force_rollback=True):
        await owner.execute(f"CREATE FUNCTION mnemon.{head} AS $body${body}$body$")
        found = await faults_in(owner)
    assert found.keys() == {"f"}
    assert any(fault in one for one in found["f"])


# PostgreSQL works out a constant index expression when it plans a read of the table, as whoever reads.
ATTACK = """
CREATE FUNCTION pg_temp.deed() RETURNS text LANGUAGE plpgsql AS
    $$ BEGIN PERFORM set_config('attack.ran_as', current_user, false); RETURN current_user; END $$;
CREATE FUNCTION pg_temp.bait() RETURNS text IMMUTABLE LANGUAGE plpgsql AS
    $$ BEGIN RETURN (SELECT pg_temp.deed()); END $$;
"""


async def test_an_index_on_a_copy_never_runs_as_the_owner(database: Database, tenant: UUID) -> None:
    async with database.transaction(tenant) as connection:
        await connection.execute(ATTACK)
        for name, table in LENS.real_tables.items():
            await connection.execute(f"CREATE TEMPORARY TABLE {name} (LIKE {table} INCLUDING ALL EXCLUDING GENERATED)")
            await connection.execute(f"CREATE INDEX ON pg_temp.{name} ((pg_temp.bait()))")
        await connection.execute("SELECT set_config('attack.ran_as', 'nobody', false)")
        await connection.execute(f"SELECT {LENS.exchange}()")
        ran = await (await connection.execute("SELECT current_setting('attack.ran_as') AS who")).fetchone()
    assert ran == {"who": "mnemon_app"}


@pytest.mark.parametrize("name", ["events", "access_tokens", "pg_authid", "EMO_CURRENT", None])
async def test_a_rebuild_writes_no_table_but_those_of_the_lens(
    database: Database, tenant: UUID, name: str | None
) -> None:
    for function in ("add_memory_rows", "remove_memory_rows"):
        with pytest.raises(psycopg.errors.UndefinedTable):
            async with database.transaction(tenant) as connection:
                await connection.execute(f"SELECT mnemon.{function}(%s, '[]')", (name,))


async def test_a_rebuild_writes_no_rows_of_another_tenant(database: Database, tenant: UUID, other_tenant: UUID) -> None:
    row = [{"tenant_id": str(other_tenant), "world_id": str(other_tenant), "branch": "away", "parent": "main",
            "fork_sequence": 1, "status": "open", "purpose": "", "needs_person": False, "created_by": "x",
            "created_at": "2026-01-01T00:00:00Z"}]  # fmt: skip
    count = "SELECT count(*) AS n FROM mnemon.emo_branches WHERE tenant_id = %s"
    for function, who, left in [("add", tenant, 0), ("add", other_tenant, 1), ("remove", tenant, 1)]:
        async with database.transaction(who) as connection:
            await connection.execute(
                f"SELECT mnemon.{function}_memory_rows('emo_branches', %s)", (psycopg.types.json.Jsonb(row),)
            )
        async with database.owner() as owner:
            assert await (await owner.execute(count, (other_tenant,))).fetchone() == {"n": left}


async def test_a_database_where_everyone_may_create_in_public_is_refused(own_database: Database) -> None:
    async with own_database.owner() as owner:
        await owner.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
        with pytest.raises(DatabaseUnsuitable, match="REVOKE CREATE ON SCHEMA"):
            await migrate(owner)
