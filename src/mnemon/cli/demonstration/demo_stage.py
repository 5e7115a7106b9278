"""What the parts of the demo share: a caller over HTTP, and how steps and results are told."""

import asyncio
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mnemon.cli.output import console

NARROWEST, WIDEST = 40, 100
POLL_SECONDS = 0.2
# A busy machine may take its time; a run that never ends would be a fault.
LONGEST_WAIT = 240.0


class DemoClient:
    """Talks to the running server over HTTP, as any program would."""

    def __init__(self, url: str) -> None:
        import httpx2

        self.url = url
        # A proxy for the outside world is no way to this machine.
        self._client = httpx2.AsyncClient(base_url=url, timeout=30, trust_env=False)
        self._credential: dict[str, str] = {}

    def log_in(self, credential: str) -> None:
        self._credential = {"Authorization": f"Bearer {credential}"}

    async def get(self, path: str, **query: Any) -> Any:
        return (await self._client.get(path, params=query, headers=self._credential)).json()

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        return (await self._client.post(path, json=body, headers=self._credential)).json()

    async def upload(self, paths: Sequence[Path], **fields: str) -> Any:
        parts = [("file", (path.name, await asyncio.to_thread(path.read_bytes))) for path in paths]
        return (await self._client.post("/v1/ingest", files=parts, data=fields, headers=self._credential)).json()

    async def until_read(self) -> dict[str, Any]:
        """Wait until no run is queued or running; all runs, newest first."""
        end = time.monotonic() + LONGEST_WAIT
        while True:
            runs: dict[str, Any] = await self.get("/v1/ingestion-runs", limit=200)
            if all(run["status"] in ("succeeded", "failed") for run in runs["items"]):
                return runs
            if time.monotonic() > end:
                raise TimeoutError(f"The files were not read within {LONGEST_WAIT:g} s.")
            await asyncio.sleep(POLL_SECONDS)

    async def close(self) -> None:
        await self._client.aclose()


@dataclass
class Transcript:
    """What has been told so far: printed as it happens, or kept for one JSON document at the end."""

    quiet: bool = False
    steps: list[dict[str, Any]] = field(default_factory=list)


told = Transcript()


def step(title: str, rest: str) -> None:
    told.steps.append({"step": f"{title} {rest}", "results": []})
    if told.quiet:
        return
    lines = _wrapped(f"{title} {rest}", "", "  ")
    console.print(f"\n[bold]{title}[/]{lines[0][len(title) :]}", emoji=False)
    _print(lines[1:])


def result(text: str, **facts: Any) -> None:
    """One thing that came of the step; `facts` are for programs that read the JSON."""
    told.steps[-1]["results"].append({"text": text, **facts} if facts else text)
    if not told.quiet:
        _print(_wrapped(text, "  → ", "    "))


def _wrapped(text: str, first: str, others: str) -> list[str]:
    width = max(NARROWEST, min(WIDEST, console.width))
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=others, break_long_words=False, break_on_hyphens=False
    )


def _print(lines: Sequence[str]) -> None:
    for line in lines:
        console.print(line, markup=False, emoji=False)
