"""Jobs about the log: verify a partition for whoever asked; sign checkpoints and drop old keys by the clock."""

from typing import Any

from pydantic import BaseModel

from mnemon.errors import BadSettings
from mnemon.log.events import MAIN
from mnemon.log.integrity import Integrity
from mnemon.log.keys import forget_expired_keys
from mnemon.settings import Settings
from mnemon.work.job import Job
from mnemon.work.kinds import Kind, NoPayload
from mnemon.work.schedule import Schedule


class Verification(BaseModel):
    """Which partition, and from where."""

    legal_entity: str = MAIN
    since_checkpoint: bool = False


# Fifty thousand events per second and more: six hours are enough for a thousand million.
VERIFY = Kind("log.verify", Verification, attempts=3, time_limit=6 * 3600, at_once=2)
FORGET_KEYS = Kind("log.forget_keys", NoPayload, attempts=3, time_limit=3600, at_once=1)
CHECKPOINT = Kind("log.checkpoint", NoPayload, attempts=3, time_limit=3600, at_once=1)


@VERIFY.handler
async def verify_partition(job: Job[Verification]) -> dict[str, Any]:
    wanted = job.payload
    report = await _integrity(job).verify(job.tenant_id, wanted.legal_entity, since_checkpoint=wanted.since_checkpoint)
    return {"legal_entity": wanted.legal_entity} | report.as_json()


@CHECKPOINT.handler
async def sign_checkpoints(job: Job[NoPayload]) -> dict[str, int]:
    return {"partitions": len(await _integrity(job).checkpoint_all())}


@FORGET_KEYS.handler
async def forget_old_keys(job: Job[NoPayload]) -> dict[str, int]:
    return {"forgotten": await forget_expired_keys(job.database)}


def _integrity(job: Job[Any]) -> Integrity:
    integrity: Integrity = job.context.integrity
    return integrity


def log_schedules(settings: Settings) -> list[Schedule]:
    try:
        return [
            Schedule("log.checkpoint", CHECKPOINT, settings.log_checkpoint_schedule),
            Schedule("log.forget_keys", FORGET_KEYS, "41 * * * *"),
        ]
    except ValueError as failure:
        raise BadSettings(f"MNEMON_LOG_CHECKPOINT_SCHEDULE: {failure}") from None
