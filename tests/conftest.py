"""Fixtures that every suite shares: one real embedded server, a migrated database, a tenant per test."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer
from mnemon.db.migrate import migrate
from mnemon.ids import new_uuid
from mnemon.log.privacy.wrapping_keys import FileKeys, KeyRing
from mnemon.settings import Settings, described_settings

SETTING_NAMES = frozenset(name for setting in described_settings() for name in setting.names)


@pytest.fixture(scope="session")
def open_folder() -> Iterator[Path]:
    """A folder that the server's user can enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="mnemon-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def home(open_folder: Path) -> Iterator[Path]:
    """An empty MNEMON_HOME of the test's own."""
    folder = Path(tempfile.mkdtemp(dir=open_folder))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests do not see the settings of the person who runs them."""
    for name in SETTING_NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setitem(Settings.model_config, "env_file", "no-such.env")


@pytest.fixture(scope="session")
def server(open_folder: Path) -> Iterator[EmbeddedServer]:
    """The embedded server that the whole run shares."""
    embedded = EmbeddedServer(open_folder / "shared", linger_seconds=0)
    embedded.ensure_running()
    yield embedded
    embedded.release()


@pytest.fixture(scope="session")
async def database(server: EmbeddedServer) -> AsyncIterator[Database]:
    """A migrated database, opened as the application role and shared by the whole run."""
    async with Database(server) as opened:
        async with opened.owner() as owner:
            await migrate(owner)
        yield opened


@pytest.fixture(scope="session")
def ring(open_folder: Path) -> KeyRing:
    """The key-encryption keys of the shared database: one database has one set of them."""
    return KeyRing(FileKeys(open_folder / "shared"))


@pytest.fixture
async def tenant(database: Database) -> UUID:
    """A new tenant with nothing in it."""
    return await make_tenant(database)


@pytest.fixture
async def other_tenant(database: Database) -> UUID:
    return await make_tenant(database)


async def make_tenant(database: Database) -> UUID:
    tenant_id = new_uuid()
    async with database.owner() as owner:
        await owner.execute(
            "INSERT INTO mnemon.tenants (tenant_id, slug, name) VALUES (%s, %s, 'A test')",
            (tenant_id, f"t-{tenant_id.hex}"),
        )
    return tenant_id


@pytest.fixture
async def empty_server(server: EmbeddedServer) -> AsyncIterator[ExternalServer]:
    """A database of the test's own with no schema in it, for migrations and damage."""
    name = f"test_{new_uuid().hex}"
    _as_superuser(server, sql.SQL("CREATE DATABASE {} OWNER mnemon_owner").format(sql.Identifier(name)))
    _as_superuser(server, sql.SQL("CREATE EXTENSION vector"), dbname=name)
    yield ExternalServer(
        make_conninfo(server.owner_conninfo, dbname=name), make_conninfo(server.app_conninfo, dbname=name)
    )
    _as_superuser(server, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
async def own_database(empty_server: ExternalServer) -> AsyncIterator[Database]:
    """A migrated database of the test's own."""
    async with Database(empty_server) as opened:
        async with opened.owner() as owner:
            await migrate(owner)
        yield opened


def _as_superuser(server: EmbeddedServer, statement: sql.Composable, dbname: str = "mnemon") -> None:
    with psycopg.connect(
        make_conninfo(server.cluster.conninfo("postgres"), dbname=dbname), autocommit=True
    ) as superuser:
        superuser.execute(statement)
