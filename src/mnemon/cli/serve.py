"""`mnemon serve`: the web page, the REST API and the workers in one process."""

import contextlib
import socket
from typing import Annotated

import typer
import uvicorn
from fastapi import FastAPI

from mnemon.api.server import create_api
from mnemon.app import Mnemon, open_mnemon
from mnemon.cli.context import run_async
from mnemon.cli.output import console
from mnemon.errors import BadSettings
from mnemon.settings import Settings, load_settings
from mnemon.telemetry import configure_logging
from mnemon.web.pages import add_pages


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on, instead of MNEMON_HOST.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on, instead of MNEMON_PORT. 0 picks one.")] = None,
) -> None:
    """Run the server until Ctrl-C.

    Example: mnemon serve --port 9000
    """
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = load_settings(**given)
    configure_logging(settings.log_level, settings.log_format)
    with contextlib.suppress(KeyboardInterrupt), listening_socket(settings) as listener:
        chosen = settings.model_copy(update={"port": listener.getsockname()[1]})
        run_async(_serve(chosen, listener))


async def _serve(settings: Settings, listener: socket.socket) -> None:
    async with open_mnemon(settings) as mnemon:
        _greet(mnemon)
        await uvicorn.Server(server_config(mnemon)).serve(sockets=[listener])


def create_site(mnemon: Mnemon) -> FastAPI:
    """Everything that one port answers."""
    site = create_api(mnemon)
    add_pages(site)
    return site


def server_config(mnemon: Mnemon) -> uvicorn.Config:
    return uvicorn.Config(
        create_site(mnemon),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=mnemon.settings.shutdown_seconds,
    )


def listening_socket(settings: Settings) -> socket.socket:
    """Bound before anything starts, so that a port in use is the first thing one hears of."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as failure:
        raise BadSettings(
            f"Cannot listen on {settings.host} port {settings.port}: {failure.strerror}. Choose another with --port.",
            host=settings.host,
            port=settings.port,
        ) from None


def _greet(mnemon: Mnemon) -> None:
    console.print(f"[bold]Mnemon[/] is at [link]{mnemon.url}[/]. Ctrl-C stops it.")
    if not mnemon.settings.auth_enabled:
        console.print("Authentication is off: everyone on this machine is the administrator.")
    elif mnemon.first_start:
        console.print(
            f"First start. Log in once, within a day, at\n  {mnemon.login_url(mnemon.first_start.link_secret)}"
        )
    else:
        console.print("A new login link: [bold]mnemon user link admin@localhost[/]")
