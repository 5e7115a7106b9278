"""What came of files that were added, and Ctrl-C meanwhile."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from mnemon.documents.inputs import DocumentAsked
from mnemon.documents.intake.folders import FoundFile
from mnemon.documents.intake.upload import FileTaken
from mnemon.documents.operations import get
from mnemon.documents.states import RunStatus

POLL_SECONDS = 0.2


@dataclass
class Added:
    """What came of one file."""

    path: Path
    status: str
    # As a person knows it: within the folder that was given.
    name: str = ""
    title: str | None = None
    doc_id: UUID | None = None
    run_id: UUID | None = None
    error_code: str | None = None
    reason: str | None = None
    # Of a document that was here before, and which one once it is read.
    new_version: bool = False
    version: int | None = None


def added_as(found: FoundFile, taken: FileTaken) -> Added:
    return Added(
        found.path, taken.status, found.name, taken.title, taken.doc_id, taken.run_id, reason=taken.reason,
        new_version=taken.dedup_result == "new_version",
    )  # fmt: skip


async def count_versions(call: Callable[[Any, Any], Awaitable[Any]], added: Sequence[Added]) -> None:
    """Of files that were read as new versions: which ones they are."""
    for one in added:
        if one.new_version and one.doc_id is not None and one.status == RunStatus.SUCCEEDED:
            document = await call(get, DocumentAsked(doc_id=one.doc_id))
            one.version = document.version_number


class Interrupted:
    """Ctrl-C: finish the file at hand, then stop; what was taken in stays queued. A second one ends at once."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._ask)

    def _ask(self) -> None:
        self.asked.set()
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)

    @property
    def wanted(self) -> bool:
        return self.asked.is_set()

    async def pause(self, seconds: float = POLL_SECONDS) -> None:
        """A moment, or until it is wanted."""
        try:
            await asyncio.wait_for(self.asked.wait(), seconds)
        except TimeoutError:
            return
