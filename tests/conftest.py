"""Fixtures that every suite shares: one real embedded server, a migrated database, a tenant per test."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from argon2 import PasswordHasher
from hypothesis import HealthCheck
from hypothesis import settings as generation
from psycopg import sql
from psycopg.conninfo import make_conninfo

from mnemon.db import cluster as files
from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer
from mnemon.db.migrate import migrate
from mnemon.identity import passwords
from mnemon.ids import new_uuid
from mnemon.log.privacy.wrapping_keys import FileKeys, KeyRing
from mnemon.settings import Settings, described_settings
from tests.leftovers import MADE, end_tenants, remember_tenant
from tests.logs import log_plainly
from tests.pooler import POOLED, behind, pooler
from tests.quick_folder import new_quick_folder

# What is written need not outlive this machine's next power cut; suites about crashes make servers of their own.
NO_WAIT_FOR_THE_DISK = "fsync = off\nfull_page_writes = off\n"
MakeHome = Callable[[Path], Path]
# A password's hash costs a fifth of a second of two cores by intent; tests/identity looks at that intent.
LEAST_WORK = {"time_cost": 1, "memory_cost": 8, "parallelism": 1}

log_plainly()

# Without it every process that a test starts would compile all of Mnemon again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A generated example may take as long as the machine does.
generation.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
generation.load_profile("patient")

SETTING_NAMES = frozenset(name for setting in described_settings() for name in setting.names)


@pytest.fixture(scope="session")
def open_folder() -> Iterator[Path]:
    """A folder that the server's user can enter, unlike pytest's own."""
    folder = new_quick_folder()
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def new_folder(parent: Path, name: str) -> Path:
    """One that no earlier set-up has used: a process may come back to a module that it had left half-way."""
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=parent))
    folder.chmod(0o755)
    return folder


@pytest.fixture
def home(open_folder: Path) -> Iterator[Path]:
    """An empty MNEMON_HOME of the test's own."""
    folder = Path(tempfile.mkdtemp(dir=open_folder))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def served_home(home: Path, make_home: MakeHome) -> Path:
    """The same with an embedded server's files in it, for tests that are not about how these are made."""
    return make_home(home)


@pytest.fixture(autouse=True, scope="session")
def costly_hasher() -> Iterator[PasswordHasher]:
    """The product's own; people of tests have passwords that are hashed with less work."""
    own = passwords._hasher
    passwords._hasher = PasswordHasher(**LEAST_WORK)
    yield own
    passwords._hasher = own


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests do not see the settings of the person who runs them."""
    for name in (*SETTING_NAMES, "MNEMON_SERVER", "MNEMON_SERVER_TOKEN"):
        # Set first, so that what a command sets in this process is gone after the test too.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setitem(Settings.model_config, "env_file", "no-such.env")


@pytest.fixture(autouse=True, scope="module")
def tenants_of_the_module() -> Iterator[None]:
    first = len(MADE)
    yield
    end_tenants(first)


@pytest.fixture(autouse=True)
def tenants_of_the_test(tenants_of_the_module: None) -> Iterator[None]:
    """What a test leaves to do is not for the workers of others."""
    first = len(MADE)
    yield
    end_tenants(first)


@pytest.fixture(scope="session")
def new_cluster(open_folder: Path) -> Path:
    """The files of an embedded server that was never started: a copy costs a tenth of what making one does."""
    made = files.locate(open_folder / "new")
    files.create(made)
    with (made.data / "postgresql.conf").open("a") as configuration:
        configuration.write(NO_WAIT_FOR_THE_DISK)
    return made.data


@pytest.fixture(scope="session")
def make_home(new_cluster: Path) -> MakeHome:
    """Put an embedded server's files into a home where the tests are not about how these are made."""

    def make(home: Path) -> Path:
        place = files.locate(home)
        subprocess.run(["cp", "-a", new_cluster, place.data], check=True)
        return home

    return make


@pytest.fixture(scope="session")
def server(open_folder: Path, make_home: MakeHome) -> Iterator[EmbeddedServer]:
    """The embedded server that the whole run shares."""
    embedded = EmbeddedServer(make_home(open_folder / "shared"), linger_seconds=0)
    embedded.ensure_running()
    yield embedded
    embedded.release()


@pytest.fixture(scope="session")
def pooler_address(server: EmbeddedServer, open_folder: Path) -> Iterator[str | None]:
    """Where the run goes through PgBouncer."""
    if not POOLED:
        yield None
        return
    with pooler(server, open_folder, connections=5) as address:
        yield address


@pytest.fixture(scope="session")
async def database(server: EmbeddedServer, pooler_address: str | None) -> AsyncIterator[Database]:
    """A migrated database, opened as the application role and shared by the whole run."""
    async with Database(behind(pooler_address, server) if pooler_address else server) as opened:
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
    remember_tenant(database, tenant_id)
    return tenant_id


@pytest.fixture
def empty_server(server: EmbeddedServer) -> Iterator[ExternalServer]:
    """A database of the test's own with no schema in it, for migrations and damage."""
    with _new_database(server) as name:
        _as_superuser(server, sql.SQL("CREATE EXTENSION vector"), name)
        yield _way_into(server, name)


@pytest.fixture(scope="session")
async def migrated(server: EmbeddedServer) -> str:
    """The database that `own_database` copies. Nobody stays connected to it, or it could not be copied.

    It goes with the server's files: at the end of the run the server may be on its way down already.
    """
    name = _create_database(server)
    _as_superuser(server, sql.SQL("CREATE EXTENSION vector"), name)
    async with Database(_way_into(server, name)) as opened, opened.owner() as owner:
        await migrate(owner)
    return name


@pytest.fixture
def own_server(server: EmbeddedServer, migrated: str, pooler_address: str | None) -> Iterator[ExternalServer]:
    """A migrated database of the test's own, that nobody is connected to."""
    with _new_database(server, like=migrated) as name:
        way = _way_into(server, name)
        yield behind(pooler_address, way, name) if pooler_address else way


@pytest.fixture
def second_server(server: EmbeddedServer, migrated: str) -> Iterator[ExternalServer]:
    """Another one, for what goes from one database to another."""
    with _new_database(server, like=migrated) as name:
        yield _way_into(server, name)


@pytest.fixture
def third_server(server: EmbeddedServer, migrated: str) -> Iterator[ExternalServer]:
    """And one that it should not go to."""
    with _new_database(server, like=migrated) as name:
        yield _way_into(server, name)


@pytest.fixture
async def own_database(own_server: ExternalServer) -> AsyncIterator[Database]:
    """The same, opened."""
    async with Database(own_server) as opened:
        yield opened


def _create_database(server: EmbeddedServer, like: str = "template1") -> str:
    name = f"test_{new_uuid().hex}"
    create = sql.SQL("CREATE DATABASE {} OWNER mnemon_owner TEMPLATE {} STRATEGY FILE_COPY")
    _as_superuser(server, create.format(sql.Identifier(name), sql.Identifier(like)))
    return name


@contextmanager
def _new_database(server: EmbeddedServer, like: str = "template1") -> Iterator[str]:
    name = _create_database(server, like)
    yield name
    _as_superuser(server, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _way_into(server: EmbeddedServer, dbname: str) -> ExternalServer:
    return ExternalServer(
        make_conninfo(server.owner_conninfo, dbname=dbname), make_conninfo(server.app_conninfo, dbname=dbname)
    )


def _as_superuser(server: EmbeddedServer, statement: sql.Composable, dbname: str = "mnemon") -> None:
    with psycopg.connect(
        make_conninfo(server.cluster.conninfo("postgres"), dbname=dbname), autocommit=True
    ) as superuser:
        superuser.execute(statement)
