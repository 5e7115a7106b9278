"""Workers and enqueuers of procrastinate and PgQueuer, run by bench_work.py with a Python that has them.

`work_peers.py PEER install|enqueue|work CONNINFO NUMBER`: `work` prints "ready" and runs jobs until it is killed,
with NUMBER jobs at once; `enqueue` adds NUMBER jobs in one transaction and prints the moment of its commit.
"""

import asyncio
import contextlib
import logging
import sys
import time


async def procrastinate(action: str, conninfo: str, number: int) -> None:
    import procrastinate

    # It warns of an app in the main module, which here is the only one.
    logging.disable(logging.WARNING)
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=conninfo))

    @app.task(name="nothing")
    async def nothing() -> None: ...

    async with app.open_async():
        if action == "install":
            await app.schema_manager.apply_schema_async()
        elif action == "enqueue":
            await nothing.batch_defer_async(*({} for _ in range(number)))
            print(time.time(), flush=True)
        else:
            print("ready", flush=True)
            await app.run_worker_async(concurrency=number, install_signal_handlers=False)


async def pgqueuer(action: str, conninfo: str, number: int) -> None:
    import asyncpg
    from pgqueuer import PgQueuer
    from pgqueuer.db import AsyncpgDriver
    from pgqueuer.queries import Queries

    settings = dict(part.split("=", 1) for part in conninfo.replace("'", "").split())
    connection = await asyncpg.connect(
        host=settings["host"], port=int(settings["port"]), user=settings["user"], database=settings["dbname"]
    )
    driver = AsyncpgDriver(connection)
    if action == "install":
        await Queries(driver).install()
    elif action == "enqueue":
        await Queries(driver).enqueue(["nothing"] * number, [None] * number, [0] * number)
        print(time.time(), flush=True)
    else:
        queue = PgQueuer(driver)

        @queue.entrypoint("nothing")
        async def nothing(job: object) -> None: ...

        print("ready", flush=True)
        await queue.run(batch_size=number)


if __name__ == "__main__":
    peer, action, conninfo, number = sys.argv[1:]
    if peer == "pgqueuer":
        # PgQueuer's own command runs on uvloop where that is installed.
        with contextlib.suppress(ImportError):
            import uvloop

            uvloop.install()
    asyncio.run({"procrastinate": procrastinate, "pgqueuer": pgqueuer}[peer](action, conninfo, int(number)))
