"""`mnemon work`: a worker process."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from typing import Annotated

import typer
from prometheus_client import start_http_server

from mnemon.app import Mnemon, open_mnemon
from mnemon.beside import announcing_jobs, on_the_bus, sealing_log, worker_of
from mnemon.cli.context import at_home, on_its_own, run_async
from mnemon.cli.process import settle_memory, start_over, stop_on_signals
from mnemon.errors import BadSettings
from mnemon.reports.delivery.following import RecipientFollower
from mnemon.settings import Settings, load_settings
from mnemon.telemetry import REGISTRY, configure_logging
from mnemon.tracing import tracing
from mnemon.work.kinds import kinds_named
from mnemon.work.model_jobs import GROUP as EMBEDDING
from mnemon.work.transports.choose import internal_token, taking_transport
from mnemon.work.transports.http_transport import HttpReceiver


@on_its_own("It is a worker: a process of this machine.")
def work(
    slots: Annotated[
        int | None, typer.Option(help="Jobs to run at once, instead of MNEMON_WORKER_SLOTS.", min=1, max=256)
    ] = None,
    kinds: Annotated[
        str | None,
        typer.Option(
            help="Only these kinds, separated by commas; `embed` for those that make vectors. Without this: all.",
            metavar="A,B",
        ),
    ] = None,
) -> None:
    """Run jobs until Ctrl-C; a second Ctrl-C stops hard.

    The first signal gives running jobs back at once, so that another worker can start them. With --kinds it claims from
    the table, whatever MNEMON_TRANSPORT says: messages are for workers that do everything. With --kinds embed it makes
    vectors and nothing else: the database's URL is all it needs, and it may come and go as it likes.

    Example: mnemon work --slots 8 --kinds embed
    """
    given = {} if slots is None else {"worker_slots": slots}
    settings = at_home(load_settings(**given))
    configure_logging(settings.log_level, settings.log_format)
    with tracing(settings.trace_endpoint, "mnemon-work"):
        run_async(_work(settings, kinds.split(",") if kinds else None))


async def _work(settings: Settings, kinds: list[str] | None) -> None:
    with _telling_metrics(settings):
        async with open_mnemon(settings) as mnemon:
            await _run(mnemon, settings, kinds)


async def _run(mnemon: Mnemon, settings: Settings, kinds: list[str] | None) -> None:
    chosen = kinds_named(kinds) if kinds else None
    transport = None if chosen else taking_transport(settings)
    worker = worker_of(mnemon, chosen, on_stuck=start_over, transport=transport)
    stop_on_signals(worker.stop)
    settle_memory()
    only_embeds = chosen is not None and {kind.group for kind in chosen} == {EMBEDDING}
    async with nullcontext() if only_embeds else _beside(mnemon):
        if isinstance(transport, HttpReceiver):
            async with _listening(settings, transport):
                await worker.run()
        else:
            await worker.run()
        if transport is not None:
            await transport.close()


@asynccontextmanager
async def _beside(mnemon: Mnemon) -> AsyncIterator[None]:
    """What every worker does for the log; it takes the keys of the home, which one that only embeds does not have."""
    async with (
        sealing_log(mnemon),
        mnemon.projector,
        mnemon.memory.follower(),
        RecipientFollower(mnemon.log),
        announcing_jobs(mnemon),
        on_the_bus(mnemon),
    ):
        yield


@asynccontextmanager
async def _listening(settings: Settings, receiver: HttpReceiver) -> AsyncIterator[None]:
    """For jobs that come by HTTP."""
    # The web framework takes a while to load, which only such a worker should pay for.
    from mnemon.api.internal import create_internal_api
    from mnemon.web.site import internal_server, listening_socket

    place = settings.model_copy(update={"host": settings.internal_host, "port": settings.internal_port})
    with listening_socket(place) as listener:
        server = internal_server(create_internal_api(receiver, internal_token(settings)))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield
        finally:
            server.stop()
            await serving


@contextmanager
def _telling_metrics(settings: Settings) -> Iterator[None]:
    """Beside a worker, where the settings want it: what `mnemon serve` says at its own address."""
    if settings.worker_metrics_port is None:
        yield
        return
    place = settings.internal_host, settings.worker_metrics_port
    try:
        server, thread = start_http_server(place[1], place[0], registry=REGISTRY)
    except OSError as failure:
        raise BadSettings(
            f"MNEMON_WORKER_METRICS_PORT: {place[0]}:{place[1]} cannot be listened on ({failure.strerror}); give each "
            "worker of a machine a port of its own.",
            variable="MNEMON_WORKER_METRICS_PORT",
        ) from None
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
