"""The whole site on one port: the REST API and the pages, as `mnemon serve` runs them."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from mnemon.api.connections import connection_limits, guarded_protocol
from mnemon.api.server import create_api
from mnemon.app import Mnemon
from mnemon.errors import BadSettings
from mnemon.mcp.http import PATH, add_mcp
from mnemon.settings import Settings
from mnemon.web.failure_pages import add_failure_pages
from mnemon.web.pages import add_pages


def create_site(mnemon: Mnemon) -> FastAPI:
    site = create_api(mnemon, apart=frozenset({PATH}))
    add_pages(site)
    add_mcp(site, mnemon)
    add_failure_pages(site)
    return site


class SiteServer(uvicorn.Server):
    """Leaves the process's signals alone: whoever runs the server has more to close than the server itself."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        self.should_exit = True


def site_server(mnemon: Mnemon) -> SiteServer:
    """Ready to serve; requests in progress may finish when it is told to stop."""
    return SiteServer(
        uvicorn.Config(
            create_site(mnemon),
            http=guarded_protocol(connection_limits(mnemon.settings)),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=mnemon.settings.shutdown_seconds,
        )
    )


def internal_server(api: FastAPI) -> SiteServer:
    """For a worker that takes jobs by HTTP."""
    return SiteServer(uvicorn.Config(api, log_config=None, access_log=False, server_header=False, lifespan="off"))


def listening_socket(settings: Settings) -> socket.socket:
    """Bound before anything starts, so that a port in use is the first thing one hears of."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host, settings.port), family=family, backlog=2048)
        # Connections inherit it. Else the body of an answer waits 40 ms for the client to acknowledge its head: asyncio
        # sets this only for sockets that name their protocol, and those that are accepted do not.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as failure:
        raise BadSettings(
            f"Cannot listen on {settings.host} port {settings.port}: {failure.strerror}. Choose another with --port.",
            host=settings.host,
            port=settings.port,
        ) from None
