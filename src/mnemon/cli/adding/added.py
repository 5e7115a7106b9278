"""What came of files that were added, and Ctrl-C meanwhile."""

import asyncio
import signal
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

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
