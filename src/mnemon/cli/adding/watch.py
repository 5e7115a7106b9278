"""`mnemon add --watch`: looks at folders again and again, and takes in what has changed there."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from uuid import UUID

from mnemon.cli.adding.added import Added, Interrupted
from mnemon.cli.adding.gone import Gone
from mnemon.documents.intake.folders import FoundFile, find_files

LOOK_SECONDS = 1.0

LEFT_OUT = (0, 0)
# When a file was last written, and how long it is: what a look at the folder costs nothing to know.
FileState = tuple[int, int]


class WatchedFiles:
    """Knows each file by its state when it was last taken in. One that is still being written is waited for: its state
    has to be the same at two looks, one after the other."""

    def __init__(self, found: Sequence[FoundFile]) -> None:
        self._taken = _states(found)
        self._before = dict(self._taken)

    def changed(self, found: Sequence[FoundFile]) -> list[FoundFile]:
        """Those to take in now."""
        now = _states(found)
        ready = [
            one
            for one in found
            if (state := now.get(one.path)) and state == self._before.get(one.path) != self._taken.get(one.path)
        ]
        self._before = now
        self._taken = {path: state for path, state in self._taken.items() if path in now}
        self._taken |= {one.path: now[one.path] for one in ready}
        return ready


def _states(found: Sequence[FoundFile]) -> dict[Path, FileState]:
    """Of files that are read at all; one may vanish between two looks. What is left out is told once, whatever it
    becomes."""
    states = {}
    for one in found:
        try:
            state = one.path.stat()
        except OSError:
            continue
        if one.reason is not None:
            states[one.path] = LEFT_OUT
        elif state.st_size:
            states[one.path] = (state.st_mtime_ns, state.st_size)
    return states


async def follow(
    places: Sequence[Path],
    watched: WatchedFiles,
    take: Callable[[list[FoundFile]], Awaitable[list[Added]]],
    missing: Callable[[], Awaitable[list[Gone]]],
    tell: Callable[[list[Added], list[Gone]], None],
    interrupted: Interrupted,
) -> None:
    """Until Ctrl-C. What is gone is told once."""
    told: set[UUID] = {one.doc_id for one in await missing()}
    while not interrupted.wanted:
        await interrupted.pause(LOOK_SECONDS)
        found = await asyncio.to_thread(lambda: list(find_files(places)))
        added = await take(ready) if (ready := watched.changed(found)) else []
        gone = await missing()
        fresh = [one for one in gone if one.doc_id not in told]
        told = {one.doc_id for one in gone}
        if added or fresh:
            tell(added, fresh)
