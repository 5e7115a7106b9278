"""`mnemon mcp`: the MCP server on standard input and output, as desktop clients start it."""

from enum import StrEnum
from typing import Annotated

import typer

from mnemon.app import Mnemon, open_mnemon, working_inside
from mnemon.cli.context import run_async
from mnemon.identity.bootstrap import administrator_without_login
from mnemon.identity.roles import Principal
from mnemon.identity.tokens import principal_of_token
from mnemon.settings import Settings, load_settings
from mnemon.telemetry import configure_logging


class Profile(StrEnum):
    CORE = "core"
    FULL = "full"


def mcp(
    token: Annotated[
        str | None,
        typer.Option(envvar="MNEMON_TOKEN", help="An access token; its tenant and scope hold. Unset: the first admin."),
    ] = None,
    tools: Annotated[Profile | None, typer.Option(help="Which tools to offer, instead of MNEMON_MCP_TOOLS.")] = None,
) -> None:
    """Serve agents over standard input and output.

    Example, in the settings of an MCP client: {"command": "mnemon", "args": ["mcp"]}
    """
    settings = load_settings(**({"mcp_tools": tools.value} if tools else {}))
    # The log goes to standard error: standard output belongs to the protocol.
    configure_logging("WARNING" if settings.log_level == "INFO" else settings.log_level, settings.log_format)
    run_async(_serve(settings, token))


async def _serve(settings: Settings, token: str | None) -> None:
    from mnemon.mcp.server import create_server

    async with open_mnemon(settings) as mnemon, working_inside(mnemon):
        await create_server(mnemon, local=await _caller(mnemon, token)).run_stdio_async()


async def _caller(mnemon: Mnemon, token: str | None) -> Principal:
    """Whoever starts this program owns the home folder, unless they hand over a token that may do less."""
    if token:
        return await principal_of_token(mnemon.database, token)
    return await administrator_without_login(mnemon.database)
