"""Reports that go to an HTTP address: signed, known by a key, tried again, given up, and done again when asked."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import orjson
import pytest
from pydantic import SecretStr

from mnemon.app import Mnemon
from mnemon.reports import webhook
from mnemon.reports.webhook import WEBHOOK, WebhookRefused, find_receiver, signature
from mnemon.work.worker import Worker
from tests.api.conftest import Person
from tests.mail.conftest import Imported
from tests.reports.conftest import Settle, use

SAMPLE = Path(__file__).parents[2] / "examples" / "list" / "tern-dev.mbox"


@dataclass
class HttpServer:
    """Answers in turn what it is told, the last for ever; "hang" never answers."""

    answers: list[int | str]
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:]) if name}
        self.requests.append((headers, await reader.readexactly(int(headers["content-length"]))))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer == "hang":
            await reader.read()
        else:
            writer.write(f"HTTP/1.1 {answer} X\r\nContent-Length: 0\r\nLocation: http://127.0.0.1:1/\r\n\r\n".encode())
        writer.close()


@asynccontextmanager
async def listening(served: HttpServer) -> AsyncIterator[int]:
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def types_in(mnemon: Mnemon, tenant: UUID, kind: str) -> list[Any]:
    return [one async for one in mnemon.log.scan(tenant) if one.type == kind]


async def test_a_report_is_sent_signed_again_after_failures_and_known_by_its_key(
    worker: Worker, imported: Imported, settled: Settle, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon,
    tenant: UUID, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    client.headers.update(admin.headers)
    await imported(SAMPLE)
    monkeypatch.setattr(webhook, "SECONDS", 1.0)
    served = HttpServer([500, 302, "hang", 204])
    async with listening(served) as port:
        use(
            mnemon, monkeypatch, webhook_url=f"http://127.0.0.1:{port}/hook?a=1", webhook_secret=SecretStr("s3cret"),
            webhook_tenant=admin.tenant_slug, webhook_private=True,
        )  # fmt: skip
        asked = (await client.post("/v1/reports", json={"kind": "consensus"})).json()
        await settled()
    assert len(served.requests) == 4
    assert len({headers["idempotency-key"] for headers, _ in served.requests}) == 1
    for headers, body in served.requests:
        signed = signature("s3cret", int(headers["mnemon-timestamp"]), body)
        assert headers["mnemon-signature"] == f"v1={signed}"
    sent = orjson.loads(served.requests[-1][1])
    [published] = await types_in(mnemon, tenant, "report.published")
    assert (sent["event_type"], sent["event_id"]) == ("ReportPublished", published.id)
    assert sent["data"]["report_id"] == asked["report_id"]
    assert sent["data"]["delivery_channels"] == ["webhook"]
    assert sent["content_markdown"].startswith("# Consensus report")
    assert not await types_in(mnemon, tenant, "report.delivery_failed")


async def test_a_receiver_that_is_gone_ends_the_delivery_which_can_be_done_again(
    worker: Worker, imported: Imported, settled: Settle, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon,
    tenant: UUID, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    client.headers.update(admin.headers)
    await imported(SAMPLE)
    served = HttpServer([410, 200])
    async with listening(served) as port:
        use(
            mnemon, monkeypatch, webhook_url=f"http://127.0.0.1:{port}/", webhook_tenant=admin.tenant_slug,
            webhook_private=True,
        )  # fmt: skip
        await client.post("/v1/reports", json={"kind": "consensus"})
        await settled()
        [failed] = await types_in(mnemon, tenant, "report.delivery_failed")
        assert (failed.data["delivery_channel"], failed.data["retry_count"]) == ("webhook", 1)
        [dead] = (await client.get("/v1/jobs", params={"kind": WEBHOOK.name})).json()["items"]
        assert (dead["status"], dead["last_error_code"]) == ("FAILED", "WEBHOOK_REFUSED")
        await client.post(f"/v1/jobs/{dead['job_id']}/retry")
        await settled()
    assert len(served.requests) == 2
    [done] = (await client.get("/v1/jobs", params={"kind": WEBHOOK.name})).json()["items"]
    assert done["status"] == "DONE"


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/", "http://[::1]/", "http://10.0.0.7/", "http://169.254.169.254/latest", "http://localhost/",
     "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/", "file:///etc/passwd", "http://user@127.0.0.1/"],
)  # fmt: skip
async def test_nobody_is_sent_into_networks_of_our_own_unasked(url: str) -> None:
    with pytest.raises(WebhookRefused):
        await find_receiver(url, private=False)
