"""Clients of the tenant that has to be served: they write, read and upload, and note what was acknowledged."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx

from mnemon.documents.errors import UploadNotStored
from mnemon.ids import new_uuid
from tests.storm.chronicle import Chronicle, Wait
from tests.storm.history import History, Read, Write

TYPE = {
    "type": "storm.unit.counted",
    "data_schema": {"type": "object", "required": ["unit"], "properties": {"unit": {"type": "string"}}},
    "required_entity_refs": [{"entity_type": "counter", "role": "subject"}],
}
KEYS = ("one", "two", "three")
SEEN = ("status", "stage", "attempts", "error_code", "error")


@dataclass
class Ledger:
    history: History = field(default_factory=History)
    uploads: dict[str, tuple[str, float]] = field(default_factory=dict)
    chronicle: Chronicle = field(default_factory=Chronicle)
    unread: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    # What nobody foresaw: a fault of ours, whatever was killed.
    surprises: list[str] = field(default_factory=list)

    @property
    def acked(self) -> int:
        return len(self.history.writes) + len(self.uploads)


class Client:
    """Asks until it is answered, as a program with a retry loop does."""

    def __init__(self, url: str, headers: dict[str, str], ledger: Ledger) -> None:
        self.http = httpx.AsyncClient(base_url=url, headers=headers, timeout=20)
        self.ledger = ledger
        self.ending = False

    async def register(self) -> None:
        answer = await self.http.post("/v1/event-types", json=TYPE)
        answer.raise_for_status()

    async def write_on(self, name: str) -> None:
        number = 0
        while not self.ending:
            number += 1
            await self._write(KEYS[number % len(KEYS)], f"{name}-{number}")

    async def _write(self, key: str, unit: str) -> None:
        """One change, asked for until there is an answer; the same request each time, so that it counts once."""
        version = await self._version(key)
        if version is None:
            return
        event = {"type": TYPE["type"], "data": {"unit": unit},
                 "entities": [{"entity_type": "counter", "entity_id": key}],
                 "expected_versions": [{"entity_type": "counter", "entity_id": key, "version": version}]}  # fmt: skip
        asked = time.monotonic()
        while not self.ending:
            answer = await self._ask("POST", "/v1/events", json={"events": [event]}, headers={"Idempotency-Key": unit})
            if answer is None:
                continue
            if answer.status_code == 409:  # another was faster
                return
            answer.raise_for_status()
            (told,) = answer.json()["events"]
            self.ledger.history.writes.append(
                Write(key, unit, version + 1, int(told["sequence"]), asked, time.monotonic())
            )
            return

    async def _version(self, key: str) -> int | None:
        asked = time.monotonic()
        answer = await self._ask("GET", "/v1/entity-version", params={"entity_type": "counter", "entity_id": key})
        if answer is None or answer.status_code != 200:
            return None
        version = int(answer.json()["version"])
        self.ledger.history.reads.append(Read(key, version, asked, time.monotonic()))
        return version

    async def upload_on(self, name: str) -> None:
        number = 0
        while not self.ending:
            number += 1
            word = f"storm{name}{number}x{new_uuid().hex[:8]}"
            note = f"The committee agreed on {word} for the north gate.".encode()
            answer = await self._ask("POST", "/v1/ingest", files={"file": (f"{word}.txt", note)})
            if answer is not None and answer.status_code == 202:
                run = answer.json()["run_id"]
                self.ledger.uploads[run] = (word, time.monotonic())
                await self._follow(run)
            await asyncio.sleep(0.2)

    async def _follow(self, run: str) -> None:
        """Until it has ended: the wait that a user has, however long. Of one that lasts when the storm ends, what it
        has been so far; who waits for ever is told as stuck."""
        word, began = self.ledger.uploads[run]
        status = seen = "queued"
        while not self.ending and status not in ("succeeded", "failed"):
            answer = await self._ask("GET", f"/v1/ingestion-runs/{run}")
            now = "no answer" if answer is None else f"HTTP {answer.status_code}"
            if answer is not None and answer.status_code == 200:
                told = answer.json()
                status = told["status"]
                self.ledger.chronicle.jobs[run] = told["job_id"]
                now = " ".join(f"{name}={told[name]}" for name in SEEN if told[name] is not None)
            if seen != (seen := now):
                self.ledger.chronicle.note(f"its client sees {now}", run)
            await asyncio.sleep(0.1)
        self.ledger.chronicle.waits.append(Wait(run, began, time.monotonic() - began))
        if status == "succeeded":
            await self._find(word)

    async def _find(self, word: str) -> None:
        """Who was told that a file is read can find it."""
        answer = await self._ask("GET", "/v1/search", params={"query": word})
        if answer is not None and answer.status_code == 200 and word not in str(answer.json()["items"]):
            self.ledger.unread.append(f"{word} was read and is not found")

    async def _ask(self, method: str, path: str, **given: Any) -> httpx.Response | None:
        try:
            answer = await self.http.request(method, path, **given)
            if answer.status_code not in (429, 500, 502, 503, 507):
                return answer
            self._note_refusal(f"{method} {path}", answer)
        except httpx.HTTPError as failure:
            self.ledger.refused[f"victim had {type(failure).__name__}"] += 1
        await asyncio.sleep(0.1)
        return None

    def _note_refusal(self, asked: str, answer: httpx.Response) -> None:
        code = answer.json()["error_code"] if answer.headers.get("content-type") == "application/json" else ""
        self.ledger.refused[f"victim was told {answer.status_code} {code}".rstrip()] += 1
        # A full disk is told as UPLOAD_NOT_STORED. What has no code of its own nobody foresaw.
        if answer.status_code == 500 and code != UploadNotStored.code:
            self.ledger.surprises.append(f"{asked} was answered {answer.text[:500]}")
