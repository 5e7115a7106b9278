"""A Mnemon that may follow folders and a store, with a worker that looks and reads."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.documents.sources.syncing import SYNC
from mnemon.settings import Settings
from mnemon.work.kinds import Backoff
from mnemon.work.worker import Worker
from tests.api.conftest import Person, admin, caller_address, client, mnemon, user
from tests.documents.conftest import KINDS, quick_retries
from tests.object_store import store, store_address
from tests.work.conftest import Eventually, eventually, running

__all__ = [
    "admin", "caller_address", "client", "eventually", "mnemon", "quick_retries", "store", "store_address", "user",
]  # fmt: skip

Look = Callable[..., Awaitable[dict[str, Any]]]
Listed = Callable[..., Awaitable[dict[str, dict[str, Any]]]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    opened = tmp_path / "opened" / "policies"
    opened.mkdir(parents=True)
    return opened


@pytest.fixture
def settings(tmp_path: Path, folder: Path, store_address: str, tenant: UUID) -> Settings:
    opened = (f"t-{tenant.hex}={folder.parent}", str(tmp_path / "of-main"))
    return Settings(
        home=tmp_path / "home", embedder="none", upload_max_size_mb=1, source_folders=opened,
        source_s3_endpoints=(store_address,),
    )  # fmt: skip


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SYNC, "backoff", Backoff(0, 0))


@pytest.fixture
async def at_work(mnemon: Mnemon) -> AsyncIterator[Worker]:
    async with running(Worker(mnemon.database, KINDS, 8, context=mnemon, poll=0.1)) as worker:
        yield worker


@pytest.fixture
def look(client: httpx.AsyncClient, admin: Person, at_work: Worker, eventually: Eventually) -> Look:
    """Look at a source and wait until that, and every run that it began, has ended; what it found."""

    async def through(name: str = "policies", begin: bool = True) -> dict[str, Any]:
        if begin:
            assert (await client.post(f"/v1/sources/{name}/sync", headers=admin.headers)).status_code == 202

        async def ended() -> dict[str, Any] | None:
            [sync] = (await client.get(f"/v1/sources/{name}/syncs?limit=1", headers=admin.headers)).json()["items"]
            return sync if sync["status"] in ("succeeded", "failed") else None

        async def read() -> bool:
            runs = (await client.get("/v1/ingestion-runs?limit=100", headers=admin.headers)).json()["items"]
            return all(one["status"] in ("succeeded", "failed") for one in runs)

        sync = await eventually(ended)
        await eventually(read)
        return dict(sync)

    return through


@pytest.fixture
def listed(client: httpx.AsyncClient, admin: Person) -> Listed:
    """Documents by the address that they came from."""

    async def documents(every: bool = False) -> dict[str, dict[str, Any]]:
        answer = await client.get(f"/v1/documents?limit=100{'&all=true' if every else ''}", headers=admin.headers)
        return {one["title"]: one for one in answer.json()["items"]}

    return documents
