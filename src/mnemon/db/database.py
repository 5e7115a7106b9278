"""The one way to the database: a pool of connections as the application role, and transactions of one tenant."""

import asyncio
import json
import select
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol, Self
from uuid import UUID

import psycopg
from psycopg import AsyncConnection
from psycopg.abc import PQGen
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from mnemon.db.driver import Result, VectorDumper, eagerly
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer, external_server, replica_conninfo
from mnemon.db.leave import leave_to_lag
from mnemon.db.replica import POSITION, Replica
from mnemon.errors import DatabaseUnavailable, TenantMoved, TenantMoving
from mnemon.settings import Settings
from mnemon.telemetry import logger

Connection = AsyncConnection[DictRow]

SET_TENANT = "SELECT mnemon.enter_tenant(%s)"
# What `enter_tenant` says of a tenant that moves, or has moved, to another database.
NOT_OPEN_HERE = "MN002"
CONNECT_PATIENCE = 30.0
CHECKOUT_PATIENCE = 20.0
# The pool doubles its pause with each refusal, so that after a long outage everyone would wait as long again: it soon
# gives up instead, and begins anew.
RECONNECT_PATIENCE = 2.0
# A connection may rest for long before it is needed again: a firewall that forgot it meanwhile is found out.
KEEPALIVE_SECONDS = 60

log = logger(__name__)

psycopg.adapters.register_dumper("numpy.ndarray", VectorDumper)


class Server(Protocol):
    """Where the database is."""

    @property
    def owner_conninfo(self) -> str: ...
    @property
    def app_conninfo(self) -> str: ...
    def ensure_running(self) -> None: ...
    def release(self) -> None: ...


def server_for(settings: Settings) -> Server:
    if settings.database_url is None:
        return EmbeddedServer(settings.home, settings.database_linger_seconds)
    app_url = settings.database_app_url
    pooler_url = settings.database_pooler_url
    return external_server(
        settings.database_url.get_secret_value(),
        app_url.get_secret_value() if app_url else None,
        pooler_url.get_secret_value() if pooler_url else None,
    )


def replica_for(settings: Settings) -> Replica | None:
    if settings.database_replica_url is None:
        return None
    conninfo = replica_conninfo(settings.database_replica_url.get_secret_value())
    return Replica(conninfo, settings.database_replica_seconds, settings.database_pool_size)


class _LatestFirst(deque[Connection]):
    """The connections at rest. The one that came back last is handed out again: its server process has plans and
    catalogue at hand, where in turn each of several would need to find them by itself."""

    append = deque.appendleft


class Database:
    """Open with `async with Database(server, pool_size) as database`."""

    def __init__(self, server: Server, pool_size: int = 10, replica: Replica | None = None) -> None:
        self.server = server
        self._replica = replica
        pooler = server.pooler_conninfo if isinstance(server, ExternalServer) else None
        # Behind a pooler the next transaction may be on another connection of the server, which knows no statement
        # that was prepared on the last.
        kept: dict[str, int | None] = {"keepalives_idle": KEEPALIVE_SECONDS}
        if pooler:
            kept["prepare_threshold"] = None
        self._pool = AsyncConnectionPool(
            pooler or server.app_conninfo,
            connection_class=_connection_class(server),
            kwargs={"row_factory": dict_row, "application_name": "mnemon", **kept},
            min_size=1,
            max_size=pool_size,
            timeout=CHECKOUT_PATIENCE,
            reconnect_timeout=RECONNECT_PATIENCE,
            reconnect_failed=_try_again,
            check=_check_if_stale,
            open=False,
        )
        self._pool._pool = _LatestFirst()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.close()

    async def close(self) -> None:
        if self._replica is not None:
            await self._replica.close()
        await self._pool.close()
        await asyncio.to_thread(self.server.release)

    @asynccontextmanager
    async def transaction(self, tenant: UUID) -> AsyncIterator[Connection]:
        """A transaction that sees and changes the rows of this tenant only, whatever its SQL says."""
        async with self.session() as connection, connection.transaction():
            await connection.execute(SET_TENANT, (str(tenant),))
            yield connection

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Connection]:
        """A connection with no tenant: it sees no tenant's rows, only what is granted to everyone. It leads to the
        replica, where there is one, for whoever may be behind."""
        leave = leave_to_lag()
        if leave is not None and self._replica is not None and self._replica.may_be_read(self._position):
            leave.used = True
            async with self._replica.connection() as connection:
                yield connection
            return
        if self._pool.closed:
            # Not before its first use: until the first migration there may be no application role to connect as.
            await self._pool.open()
        try:
            async with self._pool.connection() as connection:
                yield connection
        except PoolTimeout as failure:
            raise DatabaseUnavailable(f"No database connection was free within {CHECKOUT_PATIENCE:.0f} s.") from failure
        except psycopg.Error as failure:
            if failure.sqlstate == NOT_OPEN_HERE:
                raise _not_open(failure) from failure
            raise

    async def _position(self) -> tuple[str, int]:
        """How far the database has come, for whoever compares a replica with it."""
        async with self.session() as session:
            row = await (await session.execute(POSITION)).fetchone()
        assert row is not None
        return str(row["place"]), int(row["timeline"])

    @asynccontextmanager
    async def owner(self) -> AsyncIterator[Connection]:
        """A connection of its own as the schema's owner: for migrations and operators, never for requests."""
        async with await connect(self.server, self.server.owner_conninfo) as connection:
            yield connection


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """The database alone, as it is: for what looks at or mends the schema, or builds upon it."""
    try:
        async with Database(server_for(settings), settings.database_pool_size, replica_for(settings)) as database:
            yield database
    except psycopg.OperationalError as failure:
        raise DatabaseUnavailable(f"The database does not answer: {str(failure).strip()}") from failure


async def connect(server: Server, conninfo: str) -> Connection:
    """One connection in autocommit mode, outside any pool; starts the embedded server if it is down."""
    return await _connection_class(server).connect(
        conninfo, autocommit=True, row_factory=dict_row, application_name="mnemon"
    )


async def _try_again(pool: AsyncConnectionPool[Any]) -> None:
    """For whoever waits already: the next to ask would do it too."""
    await pool.check()


async def _check_if_stale(connection: AsyncConnection[Any]) -> None:
    """Find out before use that the server went away, at no cost while it is there.

    An idle connection has nothing to say. If its socket holds something, that may be the server's parting
    message, and only then is a round trip worth it.
    """
    idle = select.poll()
    idle.register(connection.fileno(), select.POLLIN)
    if idle.poll(0):
        await AsyncConnectionPool.check_connection(connection)


def _connection_class(server: Server) -> type[Connection]:
    class SelfStartingConnection(AsyncConnection[DictRow]):
        """Connects, and if nobody answers sees to it that a server is there."""

        @classmethod
        async def connect(cls, conninfo: str = "", **keywords: Any) -> Self:
            deadline = asyncio.get_running_loop().time() + CONNECT_PATIENCE
            while True:
                await asyncio.to_thread(server.ensure_running)
                try:
                    return await super().connect(conninfo, **keywords)
                except psycopg.OperationalError as failure:
                    if not _may_pass(server, failure) or asyncio.get_running_loop().time() > deadline:
                        raise
                    await asyncio.sleep(0.05)

        async def wait(self, gen: PQGen[Result], *how: Any, **options: Any) -> Result:
            return await super().wait(eagerly(gen, self.pgconn.socket), *how, **options)

    return SelfStartingConnection


def _not_open(failure: psycopg.Error) -> TenantMoving | TenantMoved:
    told = json.loads(failure.diag.message_detail or "{}")
    if told.get("state") == "moved":
        url = str(told["url"])
        return TenantMoved(f"This tenant has moved: send the request to {url}", url=url)
    return TenantMoving("This tenant is moving to another database: try again in a moment.")


def _may_pass(server: Server, failure: psycopg.OperationalError) -> bool:
    """An embedded server that starts, recovers or was just killed will answer soon, and so will the next primary where
    there are several hosts; anyone else's error is final."""
    comes_back = isinstance(server, EmbeddedServer) or (isinstance(server, ExternalServer) and server.fails_over)
    return comes_back and failure.sqlstate in (None, "57P03")


@asynccontextmanager
async def autocommitting(connection: Connection) -> AsyncIterator[None]:
    """Within, each statement commits by itself; afterwards the connection is as the pool lent it."""
    await connection.set_autocommit(True)
    try:
        yield
    finally:
        if not connection.closed:
            await connection.set_autocommit(False)
