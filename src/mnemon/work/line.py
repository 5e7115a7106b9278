"""A line to the database: one connection outside the pool, for a worker's own short statements."""

import asyncio
import contextlib
from typing import Any

import psycopg

from mnemon.db.database import Connection, Server, connect


class WorkerLine:
    """Connects when first used, and again after the server went away. One statement, one transaction, one round trip.

    Jobs that use up the pool cannot keep their worker from claiming, finishing and rescuing.
    """

    def __init__(self, server: Server, *, wait_for_disk: bool = True) -> None:
        self._server = server
        self._wait_for_disk = wait_for_disk
        self._connection: Connection | None = None
        self._turn = asyncio.Lock()

    async def fetch(self, statement: str, values: Any = None) -> list[dict[str, Any]]:
        async with self._turn:
            if self._connection is None:
                self._connection = await self._connect()
            try:
                return await (await self._connection.execute(statement, values)).fetchall()
            except psycopg.OperationalError:
                await self._hang_up()
                raise

    async def _connect(self) -> Connection:
        connection = await connect(self._server, self._server.app_conninfo)
        if not self._wait_for_disk:
            await connection.execute("SET synchronous_commit = off")
        return connection

    async def close(self) -> None:
        async with self._turn:
            await self._hang_up()

    async def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(psycopg.Error):
                await connection.close()
