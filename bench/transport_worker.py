"""A worker process of bench_transports: `transport_worker.py HOME TRANSPORT ADDRESS PORT`, until it is killed.

Each job's one effect is a row, written in the transaction that finishes the job: two rows would be a job done twice.
"""

import asyncio
import contextlib
import logging
import sys
from pathlib import Path

import structlog
from pydantic import BaseModel

from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.settings import Settings
from mnemon.work.job import Job
from mnemon.work.kinds import Backoff, JobKind
from mnemon.work.transports.choose import taking_transport
from mnemon.work.transports.http_transport import HttpReceiver
from mnemon.work.worker import Worker

# Long enough for a kill to meet jobs that run, short enough that the lease of a dead worker ends soon.
LEASE = 3.0
SLOTS = 4
TOKEN = "0123456789abcdef0123456789abcdef"
ADD_EFFECT = "INSERT INTO mnemon.bench_effects (job_id) VALUES (%s)"


class Effect(BaseModel):
    milliseconds: int = 0


EFFECT = JobKind("bench.effect", Effect, attempts=100, time_limit=60, backoff=Backoff(0.1, 1.0))


@EFFECT.handler
async def effect(job: Job[Effect]) -> None:
    await asyncio.sleep(job.payload.milliseconds / 1000)
    async with job.transaction() as tx:
        await tx.execute(ADD_EFFECT, (job.job_id,))
        await job.finish(tx)


def settings_of(home: Path, transport: str, address: str, worker_urls: tuple[str, ...] = ()) -> Settings:
    told = {"home": home, "transport": transport, "internal_auth_token": TOKEN, "worker_urls": worker_urls}
    if transport == "nats":
        told["nats_url"] = address
    if transport == "sqs":
        told |= {"sqs_queue_url": address, "sqs_region": "eu-central-1", "sqs_endpoint": address.rsplit("/", 2)[0]}
    return Settings(**told)


async def main(home: Path, name: str, address: str, port: int) -> None:
    transport = taking_transport(settings_of(home, name, address))
    async with Database(EmbeddedServer(home, linger_seconds=0), pool_size=3) as database:
        worker = Worker(database, [EFFECT], SLOTS, lease=LEASE, poll=0.5, transport=transport)
        async with contextlib.AsyncExitStack() as stack:
            if isinstance(transport, HttpReceiver):
                await listen(stack, transport, port)
            print("ready", flush=True)
            await worker.run()


async def listen(stack: contextlib.AsyncExitStack, receiver: HttpReceiver, port: int) -> None:
    from mnemon.api.internal import create_internal_api
    from mnemon.web.site import internal_server, listening_socket

    listener = stack.enter_context(listening_socket(Settings(port=port)))
    serving = asyncio.create_task(internal_server(create_internal_api(receiver, TOKEN)).serve(sockets=[listener]))
    stack.callback(serving.cancel)


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    logging.disable(logging.ERROR)
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])))
