"""What commands share: settings from the environment, an open Mnemon, one event loop per command."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from mnemon.identity.tenants import tenant_by_slug
from mnemon.log.events import Actor
from mnemon.settings import Settings, load_settings
from mnemon.telemetry import configure_logging

if TYPE_CHECKING:
    from mnemon.app import Mnemon

Result = TypeVar("Result")

# Whoever runs the command owns the machine; that is who the record names.
OPERATOR = Actor("system", "operator:cli")

Command = Callable[..., None]


def on_its_own(why: str) -> Callable[[Command], Command]:
    """Marks a command that is no operation of a user, but of whoever sits at the machine: why no other door has it."""

    def mark(command: Command) -> Command:
        command.on_its_own = why  # type: ignore[attr-defined]
        return command

    return mark


def run_async(work: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run(work)


def settings_for_command(**overrides: Any) -> Settings:
    """Quiet unless something is wrong: a command prints its result, not its log."""
    settings = load_settings(**{name: value for name, value in overrides.items() if value is not None})
    configure_logging("WARNING" if settings.log_level == "INFO" else settings.log_level, settings.log_format)
    return settings


@asynccontextmanager
async def opened() -> AsyncIterator["Mnemon"]:
    # Loads every capability, which `--help` and `mnemon settings` do without.
    from mnemon.app import open_mnemon

    async with open_mnemon(settings_for_command()) as mnemon:
        yield mnemon


@asynccontextmanager
async def tenant_of(slug: str) -> AsyncIterator[tuple["Mnemon", UUID]]:
    """An open Mnemon, and the id of the tenant of this short name."""
    async with opened() as mnemon:
        yield mnemon, (await tenant_by_slug(mnemon.database, slug)).tenant_id
