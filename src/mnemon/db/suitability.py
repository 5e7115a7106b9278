"""Whether a PostgreSQL server has what Mnemon needs, and the statement that adds what is missing."""

import contextlib

import psycopg
from psycopg import sql

from mnemon.db.database import Connection
from mnemon.db.embedded import APP_ROLE
from mnemon.errors import DatabaseUnsuitable

OLDEST_VERSION = 150000

FACTS = """
SELECT current_setting('server_version_num')::int AS version,
       current_database() AS database,
       current_setting('server_encoding') = 'UTF8' AS is_utf8,
       current_user AS owner,
       has_database_privilege(current_database(), 'CREATE') AS may_create_schema,
       EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') AS vector_available,
       EXISTS (SELECT FROM pg_extension WHERE extname = 'vector') AS vector_installed,
       (SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user) AS may_create_role
"""
# Where functions that run as the owner look names up. Databases older than PostgreSQL 15 let everyone create in public.
OPEN_SCHEMA = """
SELECT nspname AS name FROM pg_namespace
 WHERE nspname IN ('public', 'mnemon') AND has_schema_privilege(%s, oid, 'CREATE')
"""
APP_ROLE_FACTS = """
SELECT rolsuper OR rolbypassrls AS bypasses, pg_has_role(current_user, oid, 'MEMBER') AS is_member
  FROM pg_roles WHERE rolname = %s
"""


USED_ROLE_FACTS = """
SELECT rolname AS name,
       rolsuper OR rolbypassrls OR EXISTS (
           SELECT FROM pg_class
            WHERE relnamespace = to_regnamespace('mnemon') AND pg_has_role(pg_roles.oid, relowner, 'USAGE')
       ) AS bypasses
  FROM pg_roles WHERE rolname = current_user
"""


async def check_used_role(application: Connection) -> None:
    """Refuse a connection for requests whose role row-level security does not bind, whatever the role is called."""
    role = await (await application.execute(USED_ROLE_FACTS)).fetchone()
    assert role is not None
    if role["bypasses"]:
        raise DatabaseUnsuitable(
            f"The role {role['name']} is not bound by row-level security, so tenants would see each other: "
            f"let MNEMON_DATABASE_APP_URL log in as {APP_ROLE}, or unset it.",
            role=role["name"],
        )


async def make_suitable(owner: Connection) -> None:
    """Add the extension and the application role where the owner may; otherwise say what a person must do."""
    facts = await (await owner.execute(FACTS)).fetchone()
    assert facts is not None
    if facts["version"] < OLDEST_VERSION:
        raise DatabaseUnsuitable(
            f"This server is PostgreSQL {facts['version'] // 10000}; Mnemon needs 15 or newer.",
            version=facts["version"],
        )
    if not facts["is_utf8"]:
        raise DatabaseUnsuitable(
            "This database does not store text as UTF-8: "
            "make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0."
        )
    if not facts["may_create_schema"]:
        raise _missing(
            f"The role {facts['owner']} may not create a schema in the database {facts['database']}.",
            sql.SQL("GRANT CREATE ON DATABASE {} TO {}").format(
                sql.Identifier(facts["database"]), sql.Identifier(facts["owner"])
            ),
        )
    if not facts["vector_installed"]:
        await _add_vector(owner, facts["vector_available"])
    await _add_app_role(owner, facts["owner"], facts["may_create_role"])
    await _refuse_open_schemas(owner)


async def _add_vector(owner: Connection, available: bool) -> None:
    if not available:
        raise DatabaseUnsuitable(
            "This server lacks the extension pgvector: install the package postgresql-NN-pgvector on it, "
            "or see github.com/pgvector/pgvector.",
            extension="vector",
        )
    try:
        await owner.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except psycopg.errors.InsufficientPrivilege:
        raise _missing(
            "The extension vector is not yet in this database.", sql.SQL("CREATE EXTENSION vector")
        ) from None


async def _add_app_role(owner: Connection, name: str, may_create_role: bool) -> None:
    role = await (await owner.execute(APP_ROLE_FACTS, (APP_ROLE,))).fetchone()
    if role is None:
        create = sql.SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS").format(sql.Identifier(APP_ROLE))
        if not may_create_role:
            raise _missing(f"The role {APP_ROLE} does not exist and {name} may not create it.", create)
        # Another database of this server may be making the same role at this moment.
        with contextlib.suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            await owner.execute(create)
        role = await (await owner.execute(APP_ROLE_FACTS, (APP_ROLE,))).fetchone()
        assert role is not None
    if role["bypasses"]:
        raise _missing(
            f"The role {APP_ROLE} can bypass row-level security.",
            sql.SQL("ALTER ROLE {} NOSUPERUSER NOBYPASSRLS").format(sql.Identifier(APP_ROLE)),
        )
    if not role["is_member"]:
        grant = sql.SQL("GRANT {} TO {}").format(sql.Identifier(APP_ROLE), sql.Identifier(name))
        try:
            await owner.execute(grant)
        except psycopg.errors.InsufficientPrivilege:
            raise _missing(f"The role {name} is not a member of {APP_ROLE}.", grant) from None


async def _refuse_open_schemas(owner: Connection) -> None:
    for row in await (await owner.execute(OPEN_SCHEMA, (APP_ROLE,))).fetchall():
        schema = sql.Identifier(row["name"])
        raise _missing(
            f"The role {APP_ROLE} may create functions in the schema {row['name']}, which the owner's functions trust.",
            sql.SQL("REVOKE CREATE ON SCHEMA {} FROM PUBLIC, {}").format(schema, sql.Identifier(APP_ROLE)),
        )


def _missing(what: str, remedy: sql.Composable) -> DatabaseUnsuitable:
    statement = remedy.as_string()
    return DatabaseUnsuitable(f"{what} As an administrator of the server run: {statement};", remedy=statement)
