"""`mnemon serve`: the web page, the REST API and the workers in one process."""

import asyncio
import contextlib
import socket
from typing import Annotated

import typer

from mnemon.app import Mnemon, open_mnemon
from mnemon.beside import guarding_runs, on_the_bus, sealing_log, watching_folders, working_inside
from mnemon.cli.context import on_its_own, run_async
from mnemon.cli.output import Json, console, show
from mnemon.cli.process import settle_memory, start_over, stop_on_signals
from mnemon.identity.bootstrap import link_until_first_login
from mnemon.serving import telling_address
from mnemon.settings import Settings, load_settings
from mnemon.telemetry import configure_logging
from mnemon.tracing import tracing


@on_its_own("It is the server that the other doors stand in.")
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on, instead of MNEMON_HOST.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on, instead of MNEMON_PORT. 0 picks one.")] = None,
    worker: Annotated[
        bool | None, typer.Option(help="Run jobs in this process too, instead of MNEMON_WORKER_INSIDE.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run the server until Ctrl-C; a second Ctrl-C stops hard.

    The first signal lets requests in progress finish and gives running jobs back.

    Example: mnemon serve --port 9000
    """
    # The web framework takes a while to load, which no other command should pay for.
    from mnemon.web.site import listening_socket

    given = {
        name: value for name, value in (("host", host), ("port", port), ("worker_inside", worker)) if value is not None
    }
    settings = load_settings(**given)
    configure_logging(settings.log_level, settings.log_format)
    with contextlib.suppress(asyncio.CancelledError), listening_socket(settings) as listener:
        chosen = settings.model_copy(update={"port": listener.getsockname()[1]})
        with tracing(settings.trace_endpoint, "mnemon-serve"):
            run_async(_serve(chosen, listener, as_json))


async def _serve(settings: Settings, listener: socket.socket, as_json: bool) -> None:
    from mnemon.web.site import site_server

    starting = asyncio.current_task()
    assert starting is not None
    stop_on_signals(starting.cancel)
    async with (
        open_mnemon(settings) as mnemon,
        sealing_log(mnemon),
        working_inside(mnemon, on_stuck=start_over),
        guarding_runs(mnemon),
        on_the_bus(mnemon),
        watching_folders(mnemon),
    ):
        server = site_server(mnemon)
        stop_on_signals(server.stop)
        settle_memory()
        with telling_address(settings.home, settings.listening_url):
            secret = await _way_in(mnemon)
            greeting = {
                "url": mnemon.url,
                "login_url": mnemon.login_url(secret) if secret else None,
                "signing_key": mnemon.log.signing_key,
            }
            show(greeting, as_json, lambda: _greet(mnemon, secret))
            await server.serve(sockets=[listener])


async def _way_in(mnemon: Mnemon) -> str | None:
    if mnemon.first_start:
        return mnemon.first_start.link_secret
    return await link_until_first_login(mnemon.log) if mnemon.settings.auth_enabled else None


def _greet(mnemon: Mnemon, secret: str | None) -> None:
    console.print(f"[bold]Mnemon[/] is at [link]{mnemon.url}[/]. Ctrl-C stops it.")
    if not mnemon.settings.auth_enabled:
        console.print("Authentication is off: everyone on this machine is the administrator.")
    elif secret:
        console.print(f"First start. Log in once, within a day, at\n  {mnemon.login_url(secret)}")
    if secret:
        console.print(
            "Checkpoints of the log are signed with this key; note it where nobody who can change this machine can:\n"
            f"  {mnemon.log.signing_key}"
        )
    elif mnemon.settings.auth_enabled:
        console.print("A new login link: [bold]mnemon user link admin@localhost[/]")
