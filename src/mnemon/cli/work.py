"""`mnemon work`: a worker process."""

from typing import Annotated

import typer

from mnemon.app import open_mnemon, sealing_log, worker_of
from mnemon.cli.context import on_its_own, run_async
from mnemon.cli.process import start_over, stop_on_signals
from mnemon.settings import Settings, load_settings
from mnemon.telemetry import configure_logging
from mnemon.work.kinds import kinds_named


@on_its_own("It is a worker: a process of this machine.")
def work(
    slots: Annotated[
        int | None, typer.Option(help="Jobs to run at once, instead of MNEMON_WORKER_SLOTS.", min=1, max=256)
    ] = None,
    kinds: Annotated[
        str | None, typer.Option(help="Only these kinds, separated by commas. Without this: all.", metavar="A,B")
    ] = None,
) -> None:
    """Run jobs until Ctrl-C; a second Ctrl-C stops hard.

    The first signal gives running jobs back at once, so that another worker can start them.

    Example: mnemon work --slots 8 --kinds work.clean_up
    """
    given = {} if slots is None else {"worker_slots": slots}
    settings = load_settings(**given)
    configure_logging(settings.log_level, settings.log_format)
    run_async(_work(settings, kinds.split(",") if kinds else None))


async def _work(settings: Settings, kinds: list[str] | None) -> None:
    async with open_mnemon(settings) as mnemon:
        chosen = kinds_named(kinds) if kinds else None
        worker = worker_of(mnemon, chosen, on_stuck=start_over)
        stop_on_signals(worker.stop)
        async with sealing_log(mnemon), mnemon.projector, mnemon.memory.follower():
            await worker.run()
