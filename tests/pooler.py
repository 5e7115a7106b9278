"""PgBouncer in transaction mode before the tests' own server, and gateways that take turns behind one address."""

import getpass
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import httpx
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer
from tests.brokers import free_port, reachable
from tests.patience import until

# Suites that ask for the shared database go through a pooler, and their requests to two gateways, where this is set.
POOLED = bool(os.environ.get("MNEMON_TEST_POOLED"))


@contextmanager
def pooler(server: EmbeddedServer, folder: Path, connections: int = 2) -> Iterator[str]:
    """The address of a pooler with this many connections for everyone, to whichever database is named."""
    program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
    if not Path(program).exists():
        pytest.skip("no pgbouncer: install Debian's package pgbouncer")
    told, port = conninfo_to_dict(server.app_conninfo), free_port()
    own = Path(tempfile.mkdtemp(prefix="pooler-", dir=folder))
    (own / "users.txt").write_text(f'"{told["user"]}" ""\n')
    (own / "pgbouncer.ini").write_text(
        f"[databases]\n* = host={told['host']} port={told.get('port', 5432)}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = trust\n"
        f"auth_file = {own}/users.txt\npool_mode = transaction\ndefault_pool_size = {connections}\n"
        f"max_client_conn = 500\nlogfile = {own}/log\npidfile = {own}/pid\n"
    )
    # As whoever may use the server's socket: it does not run as root.
    owner = Path(str(told["host"])).owner()
    for one in (own, *own.iterdir()):
        shutil.chown(one, owner)
    as_user = ["-u", owner] if getpass.getuser() == "root" else []
    process = subprocess.Popen([program, *as_user, "-q", str(own / "pgbouncer.ini")])
    try:
        until(lambda: reachable(port) or process.poll() is not None, "the pooler")
        yield f"postgresql://{told['user']}@127.0.0.1:{port}/{told['dbname']}"
    finally:
        process.terminate()
        process.wait()


def behind(address: str, server: EmbeddedServer | ExternalServer, dbname: str | None = None) -> ExternalServer:
    """The same server, with transactions of requests through the pooler."""
    through = make_conninfo(address, dbname=dbname) if dbname else address
    return ExternalServer(server.owner_conninfo, server.app_conninfo, through)


class TakingTurns(httpx.AsyncBaseTransport):
    """Requests go to one gateway after the other."""

    def __init__(self, gateways: list[httpx.AsyncBaseTransport]) -> None:
        self._gateways = cycle(gateways)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await next(self._gateways).handle_async_request(request)
