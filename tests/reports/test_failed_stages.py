"""Stages that fail for good tell so in the log, with how often they were tried."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.mail.consensus.job import THREADS_WERE_READ
from mnemon.mail.storing import passages
from mnemon.mail.storing.passages import PASSAGES
from mnemon.reports import jobs
from mnemon.work.kinds import Backoff
from mnemon.work.worker import Worker
from tests.mail.conftest import Imported
from tests.reports.conftest import SENDING
from tests.work.conftest import Eventually, running

SAMPLE = Path(__file__).parents[2] / "examples" / "list" / "tern-dev.mbox"


async def _fails(*_: Any, **__: Any) -> None:
    raise RuntimeError("It broke.")


@pytest.mark.parametrize(
    ("module", "name", "kind", "told"),
    [
        (passages, "embed_passages", PASSAGES, "chunks.failed"),
        (jobs, "request_summary", THREADS_WERE_READ, "orchestration.failed"),
    ],
)  # fmt: skip
async def test_a_stage_that_fails_for_good_is_told_with_its_attempts(
    mnemon: Mnemon, imported: Imported, tenant: UUID, eventually: Eventually, monkeypatch: pytest.MonkeyPatch,
    module: Any, name: str, kind: Any, told: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(module, name, _fails)
    monkeypatch.setattr(kind, "backoff", Backoff(0, 0))

    async def failures() -> list[Any]:
        return [one async for one in mnemon.log.scan(tenant) if one.type == told]

    kinds = [*SENDING, *([kind] if kind not in SENDING else [])]
    async with running(Worker(mnemon.database, kinds, context=mnemon, poll=0.1)):
        await imported(SAMPLE)
        [failed, *_] = await eventually(failures)
    assert failed.data["retry_count"] == kind.max_attempts
    assert failed.data["error_message"]
    if told == "chunks.failed":
        assert failed.data["message_keys"] and failed.correlation_id
