"""What the parts of the demo share: a caller over HTTP, and how steps and results are told."""

import asyncio
from dataclasses import dataclass, field
from typing import Any
from urllib import error, request

import orjson

from mnemon.cli.output import console


class Caller:
    """Talks to the running server over HTTP, as any program would."""

    def __init__(self, url: str) -> None:
        self.url = url
        # A proxy for the outside world is no way to this machine.
        self._open = request.build_opener(request.ProxyHandler({})).open

    async def get(self, path: str, credential: str | None = None) -> Any:
        return await asyncio.to_thread(self._call, "GET", path, None, credential)

    async def post(self, path: str, body: dict[str, Any], credential: str | None = None) -> Any:
        return await asyncio.to_thread(self._call, "POST", path, body, credential)

    def _call(self, method: str, path: str, body: dict[str, Any] | None, credential: str | None) -> Any:
        headers = {"Content-Type": "application/json"}
        if credential:
            headers["Authorization"] = f"Bearer {credential}"
        data = orjson.dumps(body) if body is not None else None
        asked = request.Request(self.url + path, data, headers, method=method)  # noqa: S310  our own loopback address
        try:
            with self._open(asked, timeout=20) as answer:
                return orjson.loads(answer.read())
        except error.HTTPError as refusal:
            return orjson.loads(refusal.read())


@dataclass
class Transcript:
    """What has been told so far: printed as it happens, or kept for one JSON document at the end."""

    quiet: bool = False
    steps: list[dict[str, Any]] = field(default_factory=list)


told = Transcript()


def step(title: str, rest: str) -> None:
    told.steps.append({"step": f"{title} {rest}", "results": []})
    if not told.quiet:
        console.print(f"[bold]{title}[/] {rest}")


def result(text: str) -> None:
    told.steps[-1]["results"].append(text)
    if not told.quiet:
        console.print(f"  → {text}", markup=False)
