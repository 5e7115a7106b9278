"""What commands share: settings from the environment, an open Mnemon, one event loop per command."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from mnemon.errors import InvalidRequest, MnemonError, NotAuthenticated
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.settings import Settings, load_settings

if TYPE_CHECKING:
    from mnemon.app import Mnemon
    from mnemon.client.remote import RemoteCalls

Result = TypeVar("Result")

Command = Callable[..., None]
# Of the line that runs, where --server named one, for the commands that it suggests.
SERVER_OF_COMMAND: ContextVar[str | None] = ContextVar("server_of_command", default=None)


class OnlyAtHome(MnemonError):
    """The command needs the server's own machine; it does nothing by address."""

    code = "ONLY_AT_HOME"
    status = 422


def on_its_own(why: str) -> Callable[[Command], Command]:
    """Marks a command that is no operation of a user, but of whoever sits at the machine: why no other door has it."""

    def mark(command: Command) -> Command:
        command.on_its_own = why  # type: ignore[attr-defined]
        return command

    return mark


def server_named() -> str:
    """What a suggested command needs so that it means the same server: nothing where the shell says it already."""
    named = SERVER_OF_COMMAND.get()
    return f" --server {named}" if named else ""


def run_async(work: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run(work)


def settings_for_command(**overrides: Any) -> Settings:
    """Quiet unless something is wrong: a command prints its result, not its log."""
    # Loads what writes logs, which a command that asks a server does without.
    from mnemon.telemetry import configure_logging

    settings = load_settings(**{name: value for name, value in overrides.items() if value is not None})
    configure_logging("WARNING" if settings.log_level == "INFO" else settings.log_level, settings.log_format)
    return settings


def settings_at_home() -> Settings:
    """For what works on a home of this machine: whoever means a server is told so, before anything is touched here."""
    return at_home(settings_for_command())


def at_home(settings: Settings) -> Settings:
    """The same settings, if they mean no server."""
    if settings.server:
        raise OnlyAtHome(
            f"This command works on a home of this machine, and --server or MNEMON_SERVER names {settings.server}: run "
            "it there, or leave that out."
        )
    return settings


@asynccontextmanager
async def opened() -> AsyncIterator["Mnemon"]:
    # Loads every capability, which `--help` and `mnemon settings` do without.
    from mnemon.app import open_mnemon

    async with open_mnemon(settings_at_home()) as mnemon:
        yield mnemon


@asynccontextmanager
async def tenant_of(slug: str) -> AsyncIterator[tuple["Mnemon", UUID]]:
    """An open Mnemon, and the id of the tenant of this short name."""
    from mnemon.identity.tenants import tenant_by_slug

    async with opened() as mnemon:
        yield mnemon, (await tenant_by_slug(mnemon.database, slug)).tenant_id


@asynccontextmanager
async def server_calls(tenant: str | None = None) -> AsyncIterator["RemoteCalls | None"]:
    """The server that MNEMON_SERVER names, or None: then the command opens the home of this machine."""
    settings = load_settings()
    if not settings.server:
        yield None
        return
    if tenant not in (None, DEFAULT_SLUG):
        raise InvalidRequest("--tenant is for a home of this machine: at a server the token says whose tenant it is.")
    from mnemon.client.remote import RemoteCalls
    from mnemon.client.servers import address_of, token_for

    url = address_of(settings.server)
    token = token_for(settings, url)
    if token is None:
        raise NotAuthenticated(f"No token for {url} is known: `mnemon login {url}` asks for one.")
    async with RemoteCalls(url, token) as calls:
        yield calls
