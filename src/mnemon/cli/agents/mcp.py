"""`mnemon mcp`: the MCP server on standard input and output, as desktop clients start it."""

import asyncio
import contextlib
import os
import sys
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from mnemon.app import Mnemon, open_mnemon
from mnemon.beside import working_inside
from mnemon.cli.context import run_async
from mnemon.cli.process import stop_on_signals
from mnemon.client.remote import RemoteCalls
from mnemon.client.servers import address_of, token_for
from mnemon.errors import InvalidRequest, NotAuthenticated
from mnemon.identity.bootstrap import administrator_without_login
from mnemon.identity.operations import account
from mnemon.identity.roles import Principal
from mnemon.identity.tokens import principal_of_token
from mnemon.settings import Settings, load_settings
from mnemon.telemetry import configure_logging


class Profile(StrEnum):
    CORE = "core"
    FULL = "full"


TokenFile = Annotated[
    Path | None,
    typer.Option(
        help="File with an access token, whose tenant and scope hold, instead of MNEMON_TOKEN. Unset: the first admin.",
        metavar="FILE",
    ),
]
Tools = Annotated[Profile | None, typer.Option(help="Which tools to offer, instead of MNEMON_MCP_TOOLS.")]


def mcp(token_file: Path | None, tools: Profile | None) -> None:
    """Serve agents over standard input and output."""
    settings = load_settings(**({"mcp_tools": tools.value} if tools else {}))
    # The log goes to standard error: standard output belongs to the protocol.
    configure_logging("WARNING" if settings.log_level == "INFO" else settings.log_level, settings.log_format)
    with contextlib.suppress(asyncio.CancelledError):
        if settings.server:
            run_async(_pass_on(settings, _token(token_file), tools))
        else:
            run_async(_serve(settings, _token(token_file)))


def _token(file: Path | None) -> str | None:
    """Never from an argument: those stand in the shell's history and in the process list."""
    if file is None:
        return os.environ.get("MNEMON_TOKEN") or None
    try:
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as failure:
        raise InvalidRequest(f"{file} cannot be read: {failure}.", file=str(file)) from None
    if not token:
        raise InvalidRequest(f"{file} is empty: write an access token into it.", file=str(file))
    return token


async def _pass_on(settings: Settings, token: str | None, tools: Profile | None) -> None:
    """To the server that MNEMON_SERVER names, as whoever logged in there."""
    from mnemon.mcp.bridge import bridge_stdio

    if tools:
        raise InvalidRequest("--tools is for a home of this machine: at a server its MNEMON_MCP_TOOLS says.")
    url = address_of(settings.server or "")
    known = token or token_for(settings, url)
    if known is None:
        raise NotAuthenticated(f"No token for {url} is known: `mnemon login {url}` asks for one.")
    async with RemoteCalls(url, known) as calls:
        await calls.call(account.me, account.OwnAccountAsked())
    passing = asyncio.create_task(bridge_stdio(url, known))
    await _ended_or_stopped(passing)
    _leave(passing)


async def _serve(settings: Settings, token: str | None) -> None:
    from mnemon.mcp.server import create_server
    from mnemon.mcp.stdio import serve_stdio

    starting = asyncio.current_task()
    assert starting is not None
    stop_on_signals(starting.cancel)
    async with open_mnemon(settings) as mnemon, working_inside(mnemon):
        prove = partial(_caller, mnemon, token)
        await prove()
        serving = asyncio.create_task(serve_stdio(create_server(mnemon, local=prove)))
        await _ended_or_stopped(serving)
    _leave(serving)


def _leave(serving: asyncio.Task[None]) -> None:
    if serving.done():
        _raise_unless_client_left(serving)
    else:
        # A thread waits for a line on standard input, which nothing but the client can end.
        sys.stderr.flush()
        os._exit(0)


async def _ended_or_stopped(serving: asyncio.Task[None]) -> None:
    """Until the client closes standard input, or a signal comes."""
    stopped = asyncio.Event()
    stop_on_signals(stopped.set)
    stopping = asyncio.create_task(stopped.wait())
    await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()


def _raise_unless_client_left(serving: asyncio.Task[None]) -> None:
    try:
        serving.result()
    except* BrokenPipeError:
        pass


async def _caller(mnemon: Mnemon, token: str | None) -> Principal:
    """Whoever starts this program owns the home folder, unless they hand over a token that may do less. Proven for
    each call, since a token may be revoked meanwhile."""
    if token:
        return await principal_of_token(mnemon.database, token)
    return await administrator_without_login(mnemon.database)
