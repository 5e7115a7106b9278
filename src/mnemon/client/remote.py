"""Calls by address: any declared operation as the request that the table of addresses says it is."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Collection, Mapping
from email.message import Message
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote, unquote

import httpx2
import orjson
from pydantic import BaseModel, SecretStr

from mnemon.client.failures import ServerRefused, ServerUnreachable, failure_of
from mnemon.errors import InvalidRequest
from mnemon.operations import Input, Operation

In = TypeVar("In", bound=Input)
Out = TypeVar("Out", bound=BaseModel)

TRIES = 3
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 30.0
# Nothing came of these: the same request may be sent again.
NOT_DONE = frozenset({429, 503})
IN_PATH = re.compile(r"{(\w+)(?::\w+)?}")


@cache
def addresses() -> Mapping[str, Mapping[str, Any]]:
    """Written from the routes by `make reference`."""
    told: dict[str, Any] = json.loads(files("mnemon.client").joinpath("addresses.json").read_text())
    return told


class RemoteCalls:
    """A server at an address, with a person's token."""

    def __init__(
        self, url: str, token: str | None = None, *, transport: httpx2.AsyncBaseTransport | None = None,
        seconds: float = 60,
    ) -> None:  # fmt: skip
        self.url = url.rstrip("/")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        limits = httpx2.Timeout(seconds, connect=10)
        # Certificates take a while to load, and an address without TLS has none to check.
        self._http = httpx2.AsyncClient(
            base_url=self.url,
            headers=headers,
            timeout=limits,
            transport=transport,
            verify=self.url.startswith("https:"),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def call(self, operation: Operation[In, Out], asked: In) -> Out:
        """What the operation answers there; a failure is raised as the error that it is at home."""
        told = addresses().get(operation.name)
        if told is None:
            raise InvalidRequest(f"{operation.name} has no route: it works only on the server's own machine.")
        path, how = request_of(told, plain_values(asked))
        has_key = any(name.lower() == "idempotency-key" for name in how["headers"])
        again = operation.read_only or operation.idempotent or has_key
        answer = await self.send(told["method"], path, again=again, **how)
        if told.get("empty"):
            return operation.output.model_construct(**asked.model_dump())
        if told.get("presented"):
            return as_presented(operation, answer)
        # What is computed there, or newer than this client, is left out.
        return operation.output.model_validate_json(answer.content, extra="ignore")

    async def send(
        self, method: str, path: str, *, again: bool, taken: Collection[int] = (), **how: Any
    ) -> httpx2.Response:
        """Sent again where nothing can have come of it, or where a repeat changes nothing."""
        for attempt in range(1, TRIES + 1):
            try:
                answer = await self._http.request(method, path, **how)
            except httpx2.ConnectError as failure:
                problem: Exception = failure
            except httpx2.TransportError as failure:
                if not again:
                    raise ServerUnreachable(f"{self.url} broke off: {failure or type(failure).__name__}.") from None
                problem = failure
            else:
                if answer.is_success or answer.status_code in taken:
                    return answer
                if answer.status_code not in NOT_DONE or attempt == TRIES:
                    raise failure_of(answer)
                await asyncio.sleep(_pause(answer, attempt))
                continue
            if attempt < TRIES:
                await asyncio.sleep(FIRST_PAUSE * 2**attempt)
        said = str(problem) or type(problem).__name__
        raise ServerUnreachable(f"{self.url} cannot be reached: {said}. Is the server running there?")

    async def upload(self, file: Path, fields: Mapping[str, Any]) -> dict[str, Any]:
        """One file, as the upload route takes it. The same file again is known by its content or its source."""
        given = {name: value for name, value in fields.items() if value is not None}
        form = {name: ",".join(value) if isinstance(value, list | tuple) else value for name, value in given.items()}
        with file.open("rb") as stream:
            how: dict[str, Any] = {"files": {"file": (file.name, stream)}, "data": form}
            answer = await self.send("POST", "/v1/ingest", again=False, **how)
        taken: dict[str, Any] = answer.json()
        return taken

    async def streamed(self, method: str, path: str, **how: Any) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Server-sent events: each one's name and data."""
        try:
            async with self._http.stream(method, path, timeout=None, **how) as answer:
                if not answer.is_success:
                    await answer.aread()
                    raise failure_of(answer)
                async for message in messages_of(answer.aiter_lines()):
                    yield message
        except httpx2.TransportError as failure:
            raise ServerUnreachable(f"{self.url} broke off: {failure or type(failure).__name__}.") from None


def request_of(told: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The path, and the rest of the request, for what is asked."""
    left = dict(values)

    def taken(place: str) -> dict[str, Any]:
        return {shown: left.pop(name) for name, shown in told.get(f"in_{place}", {}).items() if name in left}

    in_path = taken("path")
    path = IN_PATH.sub(lambda found: quote(str(in_path.get(found[1], "")), safe=""), told["path"])
    query = {name: _in_query(value) for name, value in taken("query").items() if value is not None}
    header = {name: str(value) for name, value in taken("header").items() if value is not None}
    body = taken("body")
    if left:
        names = " and no ".join(f"`{name}`" for name in sorted(left))
        raise InvalidRequest(f"A server takes no {names}: leave it out, or run this on the server's own machine.")
    how: dict[str, Any] = {"params": query, "headers": header}
    if "in_body" in told:
        how |= {"content": orjson.dumps(body)}
        header["Content-Type"] = "application/json"
    return path, how


def plain_values(asked: Input) -> dict[str, Any]:
    """What was set, as JSON has it. The server is who a secret is for; anyone else sees stars."""
    set_values = asked.model_dump(by_alias=True, exclude_unset=True)
    values: dict[str, Any] = orjson.loads(orjson.dumps(set_values, default=_revealed))
    return values


def _revealed(value: Any) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


def as_presented(operation: Operation[Any, Out], answer: httpx2.Response) -> Out:
    """Where a route shows another form than the operation's own: the fields that can be told from it."""
    fields = list(operation.output.model_fields)
    kind = answer.headers.get("content-type", "").partition(";")[0]
    if kind != "application/json":
        if "text" in fields:
            return operation.output.model_construct(text=answer.text)
        raise ServerRefused(f"{operation.name} answers with {kind}: it cannot be read by address.")
    shown = answer.json()
    if isinstance(shown, list):
        return operation.output.model_validate({fields[0]: shown}, extra="ignore")
    return operation.output.model_validate(shown, extra="ignore")


def filename_of(answer: httpx2.Response) -> str:
    """What a download is called; never a path, whatever the server says."""
    told = Message()
    told["content-disposition"] = answer.headers.get("content-disposition", "attachment")
    return Path(unquote(told.get_filename() or "download")).name or "download"


async def messages_of(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    name, data = "message", ""
    async for line in lines:
        if line.startswith("event:"):
            name = line.removeprefix("event:").strip()
        elif line.startswith("data:"):
            data += line.removeprefix("data:").strip()
        elif not line and data:
            yield name, orjson.loads(data)
            name, data = "message", ""


def _in_query(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return [str(one) for one in value] if isinstance(value, list) else str(value)


def _pause(answer: httpx2.Response, attempt: int) -> float:
    told = answer.headers.get("retry-after", "")
    asked = float(told) if told.isdecimal() else FIRST_PAUSE * 2**attempt
    return min(asked, LONGEST_PAUSE)
