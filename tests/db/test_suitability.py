"""A server that lacks something is refused with the statement that adds it."""

from collections.abc import AsyncIterator
from dataclasses import replace

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer, external_server
from mnemon.db.migrate import migrate
from mnemon.db.suitability import check_used_role, make_suitable
from mnemon.errors import BadSettings, DatabaseUnavailable, DatabaseUnsuitable
from mnemon.settings import Settings

PLAIN_ROLE = "test_plain_owner"


def as_superuser(server: EmbeddedServer, *statements: str, dbname: str = "postgres") -> None:
    conninfo = make_conninfo(server.cluster.conninfo("postgres"), dbname=dbname)
    with psycopg.connect(conninfo, autocommit=True) as superuser:
        for statement in statements:
            superuser.execute(sql.SQL(statement))  # type: ignore[arg-type]


@pytest.fixture
async def bare(server: EmbeddedServer) -> AsyncIterator[ExternalServer]:
    """A database whose owner may do nothing special, with nothing prepared."""
    as_superuser(
        server,
        f"CREATE ROLE {PLAIN_ROLE} LOGIN",
        "CREATE DATABASE test_bare",
        f"GRANT CONNECT ON DATABASE test_bare TO {PLAIN_ROLE}",
    )
    url = make_conninfo(server.cluster.conninfo(PLAIN_ROLE), dbname="test_bare")
    yield external_server(url, None)
    as_superuser(
        server, "DROP DATABASE test_bare WITH (FORCE)", f"DROP OWNED BY {PLAIN_ROLE}", f"DROP ROLE {PLAIN_ROLE}"
    )


async def refusal(server: ExternalServer) -> str:
    async with Database(server, 1) as database, database.owner() as owner:
        with pytest.raises(DatabaseUnsuitable) as refused:
            await make_suitable(owner)
    return refused.value.message


async def test_each_missing_thing_is_named_with_its_remedy_until_nothing_is_missing(
    server: EmbeddedServer, bare: ExternalServer
) -> None:
    assert 'GRANT CREATE ON DATABASE "test_bare"' in await refusal(bare)
    as_superuser(server, f"GRANT CREATE ON DATABASE test_bare TO {PLAIN_ROLE}")
    assert "CREATE EXTENSION vector;" in await refusal(bare)
    as_superuser(server, "CREATE EXTENSION vector", dbname="test_bare")
    assert f'GRANT "mnemon_app" TO "{PLAIN_ROLE}"' in await refusal(bare)
    as_superuser(server, f"GRANT mnemon_app TO {PLAIN_ROLE}")
    async with Database(bare, 1) as database:
        async with database.owner() as owner:
            state = await migrate(owner)
        async with database.session() as session:
            who = await (await session.execute("SELECT current_user, session_user")).fetchone()
    assert state.current
    assert who == {"current_user": "mnemon_app", "session_user": PLAIN_ROLE}


async def test_the_application_role_cannot_be_left_by_reset_role(empty_server: ExternalServer) -> None:
    server = external_server(empty_server.owner_conninfo, None)
    async with Database(server, 1) as database, database.session() as session:
        await session.execute("RESET ROLE")
        who = await (await session.execute("SELECT current_user")).fetchone()
    assert who == {"current_user": "mnemon_app"}


async def test_a_bypassing_application_role_is_refused(server: EmbeddedServer, empty_server: ExternalServer) -> None:
    as_superuser(server, "ALTER ROLE mnemon_app BYPASSRLS")
    try:
        assert 'ALTER ROLE "mnemon_app" NOSUPERUSER NOBYPASSRLS' in await refusal(empty_server)
    finally:
        as_superuser(server, "ALTER ROLE mnemon_app NOBYPASSRLS")


async def test_an_old_server_and_a_missing_extension_are_named() -> None:
    class Answer:
        """A connection that reports other facts than any server here has."""

        def __init__(self, **facts: object) -> None:
            self.facts = {"database": "d", "owner": "o", "may_create_schema": True, "is_utf8": True, **facts}

        async def execute(self, *_: object) -> "Answer":
            return self

        async def fetchone(self) -> dict[str, object]:
            return self.facts

    with pytest.raises(DatabaseUnsuitable, match="PostgreSQL 14; Mnemon needs 15 or newer"):
        await make_suitable(Answer(version=140011))  # type: ignore[arg-type]
    with pytest.raises(DatabaseUnsuitable, match="lacks the extension pgvector"):
        await make_suitable(Answer(version=150000, vector_installed=False, vector_available=False))  # type: ignore[arg-type]


async def test_an_unreachable_server_is_named_without_its_password() -> None:
    from mnemon.app import open_mnemon

    settings = Settings(database_url="postgresql://someone:hunter2secret@127.0.0.1:9/nothing")  # type: ignore[arg-type]
    with pytest.raises(DatabaseUnavailable, match="does not answer") as refused:
        async with open_mnemon(settings):
            pass
    assert "hunter2secret" not in refused.value.message


def test_a_malformed_url_is_refused_without_repeating_it() -> None:
    with pytest.raises(BadSettings, match="MNEMON_DATABASE_URL is not a PostgreSQL address") as refused:
        external_server("postgresql://a:hunter2secret@[broken", None)
    assert "hunter2secret" not in refused.value.message


def test_a_separate_application_login_is_used_as_given() -> None:
    server = external_server("host=a user=owner", "host=a user=app")
    assert server == replace(server, app_conninfo="host=a user=app")


@pytest.mark.parametrize("role", ["mnemon_owner", "postgres"])
async def test_an_application_login_that_row_level_security_does_not_bind_is_refused(
    server: EmbeddedServer, own_database: Database, role: str
) -> None:
    dbname = conninfo_to_dict(own_database.server.owner_conninfo)["dbname"]
    conninfo = make_conninfo(server.cluster.conninfo(role), dbname=dbname)
    unbound = ExternalServer(own_database.server.owner_conninfo, conninfo)
    async with Database(unbound, 1) as database, database.session() as session:
        with pytest.raises(DatabaseUnsuitable, match=f"The role {role} is not bound"):
            await check_used_role(session)
    async with own_database.session() as session:
        await check_used_role(session)


async def test_a_database_that_is_not_utf8_is_refused(server: EmbeddedServer) -> None:
    as_superuser(
        server, "CREATE DATABASE test_ascii ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0"
    )
    url = make_conninfo(server.cluster.conninfo("postgres"), dbname="test_ascii")
    try:
        assert "UTF-8" in await refusal(external_server(url, None))
    finally:
        as_superuser(server, "DROP DATABASE test_ascii WITH (FORCE)")
