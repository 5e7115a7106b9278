"""Calls on this machine: the home is opened, and files are read here where no worker reads them."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import BaseModel

from mnemon.documents.intake.upload import upload
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.identity.tenants import tenant_by_slug
from mnemon.log.events import PROGRAM
from mnemon.operations import Caller, Input, Operation, as_json, read_input
from mnemon.settings import Settings
from mnemon.telemetry import warn_alone_unless_configured

if TYPE_CHECKING:
    from mnemon.app import Mnemon

In = TypeVar("In", bound=Input)
Out = TypeVar("Out", bound=BaseModel)


class EmbeddedCalls:
    """A home of this machine, open for as long as the client is."""

    def __init__(self, settings: Settings, tenant: str = DEFAULT_SLUG) -> None:
        self._settings = settings
        self._tenant = tenant
        self._opened = AsyncExitStack()
        self._mnemon: Mnemon | None = None
        self._caller: Caller | None = None

    async def __aenter__(self) -> Self:
        from mnemon.app import open_mnemon
        from mnemon.client.reading import being_read
        from mnemon.identity.at_home import seated

        warn_alone_unless_configured()
        async with AsyncExitStack() as opening:
            self._mnemon = await opening.enter_async_context(open_mnemon(self._settings))
            tenant = await tenant_by_slug(self._mnemon.database, self._tenant)
            actor = await seated(self._mnemon.database, tenant.tenant_id, PROGRAM)
            self._caller = Caller(tenant.tenant_id, actor, channel="library")
            await opening.enter_async_context(being_read(self._mnemon))
            self._opened = opening.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._opened.aclose()

    @property
    def parts(self) -> tuple["Mnemon", Caller]:
        if self._mnemon is None or self._caller is None:
            raise RuntimeError("Use it in `with connect(...) as memory:`; it is not open.")
        return self._mnemon, self._caller

    async def call(self, operation: Operation[In, Out], asked: In) -> Out:
        mnemon, caller = self.parts
        return await operation(mnemon, caller, asked)

    async def upload(self, file: Path, fields: Mapping[str, Any]) -> dict[str, Any]:
        mnemon, caller = self.parts
        given = {name: value for name, value in fields.items() if value is not None}
        received = await asyncio.to_thread(mnemon.files.take_copy, caller.tenant_id, file)
        asked = read_input(upload, given).model_copy(update={"file": received})
        return as_json(await upload(mnemon, caller, asked))

    async def answer_steps(self, asked: Any) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        mnemon, caller = self.parts
        async for step in mnemon.asking.stream(caller.tenant_id, caller.actor, asked.question, asked):
            yield step
