"""What runs beside a door: a worker, news of jobs, the bus, seals, and the end of runs that nobody works at."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import Any

import psycopg

from mnemon.app import Mnemon
from mnemon.bus.carrier import BusCarrier
from mnemon.bus.choose import bus_carrier
from mnemon.bus.publishing import BusPublisher
from mnemon.bus.receiving import receive_for_ever
from mnemon.documents.guard import guarding
from mnemon.documents.sources.watching import watching
from mnemon.errors import MnemonError
from mnemon.identity.tenants import tenant_by_slug
from mnemon.log.proof.sealing import sealing
from mnemon.log.proof.witnesses import witnessed
from mnemon.reports.delivery.following import RecipientFollower
from mnemon.schedules import schedules_of
from mnemon.tasks import end
from mnemon.telemetry import logger
from mnemon.work.kinds import JobKind, declared_kinds
from mnemon.work.transports.announcing import Announcer, announcing
from mnemon.work.transports.choose import announcing_transport, taking_transport
from mnemon.work.transports.transport import Transport
from mnemon.work.worker import Worker

# How often a tenant that is not here is looked for.
LOOK_SECONDS = 30.0

log = logger(__name__)


def worker_of(
    mnemon: Mnemon,
    kinds: Sequence[JobKind[Any]] | None = None,
    on_stuck: Callable[[], None] | None = None,
    transport: Transport | None = None,
) -> Worker:
    """A worker for all declared kinds, or for these. Every worker keeps the schedules of the system. Without a
    transport it claims from the table, whatever the settings say: the row is the truth either way."""
    settings = mnemon.settings
    return Worker(
        mnemon.database,
        declared_kinds() if kinds is None else kinds,
        settings.worker_slots,
        schedules=schedules_of(settings),
        lease=settings.worker_lease_seconds,
        poll=settings.worker_poll_ms / 1000,
        context=mnemon,
        name=settings.worker_id,
        on_stuck=on_stuck,
        transport=transport,
    )


@asynccontextmanager
async def working_inside(mnemon: Mnemon, on_stuck: Callable[[], None] | None = None) -> AsyncIterator[None]:
    """A worker in this process, unless the settings leave the jobs to others; those are told of them."""
    if not mnemon.settings.worker_inside or mnemon.settings.transport == "http":
        async with announcing_jobs(mnemon):
            yield
        return
    worker = worker_of(mnemon, on_stuck=on_stuck, transport=taking_transport(mnemon.settings))
    async with announcing_jobs(mnemon), mnemon.projector, mnemon.memory.follower(), RecipientFollower(mnemon.log):
        task = asyncio.create_task(worker.run())
        try:
            yield
        finally:
            worker.stop()
            await task


@asynccontextmanager
async def announcing_jobs(mnemon: Mnemon) -> AsyncIterator[None]:
    """Beside a server or worker: tells the transport, where the settings name one, of jobs that are due."""
    settings = mnemon.settings
    transport = announcing_transport(settings)
    if transport is None:
        yield
        return
    announcer = Announcer(
        mnemon.database.server, transport, [kind.name for kind in declared_kinds()],
        outstanding=settings.transport_window, again=settings.transport_again_seconds,
        poll=settings.worker_poll_ms / 1000,
    )  # fmt: skip
    try:
        async with announcing(announcer):
            yield
    finally:
        await transport.close()


@asynccontextmanager
async def on_the_bus(mnemon: Mnemon) -> AsyncIterator[None]:
    """Beside a server or worker: the log goes to the broker that the settings name, and envelopes come from it."""
    carrier = bus_carrier(mnemon.settings)
    if carrier is None:
        yield
        return
    publisher = BusPublisher(mnemon.log, carrier, personal=mnemon.settings.bus_personal)
    tasks = [asyncio.create_task(publisher.run())]
    if queue := mnemon.settings.bus_inbound_queue:
        tasks.append(asyncio.create_task(_receive(mnemon, carrier, queue)))
    try:
        yield
    finally:
        for task in tasks:
            await end(task)
        await carrier.close()


async def _receive(mnemon: Mnemon, carrier: BusCarrier, queue: str) -> None:
    """For one tenant. Where it is not here, or not any more, the server serves the others, and says so."""
    told = False
    while True:
        try:
            tenant = await tenant_by_slug(mnemon.database, mnemon.settings.bus_inbound_tenant)
        except (psycopg.Error, MnemonError, OSError) as failure:
            if not told:
                log.warning("envelopes_have_no_tenant", error=str(failure))
            told = True
            await asyncio.sleep(LOOK_SECONDS)
        else:
            await receive_for_ever(mnemon.log, carrier, queue, tenant.tenant_id, mnemon.settings.request_max_bytes)


@asynccontextmanager
async def sealing_log(mnemon: Mnemon) -> AsyncIterator[None]:
    """Beside a server or worker: signs the newest events every few seconds of activity, and tells the witnesses."""
    settings = mnemon.settings
    async with (
        witnessed(mnemon.witnesses, settings.log_witness_seconds),
        sealing(mnemon.integrity, settings.log_seal_seconds),
    ):
        yield


def guarding_runs(mnemon: Mnemon) -> AbstractAsyncContextManager[None]:
    """Beside the server: ends runs that say running though no worker is left."""
    return guarding(mnemon.database, timedelta(minutes=mnemon.settings.crash_guard_running_stale_min))


def watching_folders(mnemon: Mnemon) -> AbstractAsyncContextManager[None]:
    """Beside the server: folders that the settings name are followed."""
    return watching(mnemon)
