"""Addresses that are told of events: signed, known by a key, tried again, given up, and told again when asked."""

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

from mnemon.app import Mnemon
from mnemon.reports.delivery import webhook
from mnemon.reports.delivery.delivering import DELIVER
from mnemon.reports.delivery.errors import DeliveryRefused
from mnemon.reports.delivery.recipients import fits
from mnemon.reports.delivery.webhook import find_receiver, signature
from mnemon.work.worker import Worker
from tests.api.conftest import Person
from tests.mail.conftest import Imported
from tests.patience import PATIENCE
from tests.reports.conftest import Settle, use

SAMPLE = Path(__file__).parents[2] / "examples" / "list" / "tern-dev.mbox"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "SECONDS", PATIENCE)


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
        # Only the call that will get no answer is cut short: a slow machine answers the others in its own time.
        webhook.SECONDS = 1.0 if self.answers[0] == "hang" else PATIENCE
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
    await settled()
    served = HttpServer([500, 302, "hang", 204])
    async with listening(served) as port:
        use(mnemon, monkeypatch, webhook_private=True)
        added = await client.post(
            "/v1/webhooks", json={"url": f"http://127.0.0.1:{port}/hook?a=1", "name": "chat", "secret": "s3cret" * 4}
        )
        assert (added.status_code, added.json()["secret"]) == (201, "s3cret" * 4)
        asked = (await client.post("/v1/reports", json={"kind": "consensus"})).json()
        await settled()
    assert len(served.requests) == 4, "what was published before it was added is not sent"
    assert len({headers["idempotency-key"] for headers, _ in served.requests}) == 1
    for headers, body in served.requests:
        signed = signature("s3cret" * 4, int(headers["mnemon-timestamp"]), body)
        assert headers["mnemon-signature"] == f"v1={signed}"
    sent = orjson.loads(served.requests[-1][1])
    published = (await types_in(mnemon, tenant, "report.published"))[-1]
    assert (sent["event_type"], sent["event_id"]) == ("ReportPublished", published.id)
    assert sent["data"]["report_id"] == asked["report_id"]
    assert sent["data"]["delivery_channels"] == ["webhook"]
    assert sent["content_markdown"].startswith("# Consensus report")
    assert not await types_in(mnemon, tenant, "report.delivery_failed")
    [shown] = (await client.get("/v1/webhooks")).json()["items"]
    assert (shown["webhook"], shown["sent"], shown["dead"]) == ("chat", 1, 0)
    assert "secret" not in shown
    [delivery] = (await client.get("/v1/webhooks/chat/deliveries")).json()["items"]
    assert (delivery["state"], delivery["event_id"]) == ("sent", published.id)
    assert delivery["attempts"] >= 4


async def test_a_receiver_that_is_gone_ends_the_delivery_which_can_be_done_again(
    worker: Worker, imported: Imported, settled: Settle, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon,
    tenant: UUID, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    client.headers.update(admin.headers)
    await imported(SAMPLE)
    served = HttpServer([410, 200])
    async with listening(served) as port:
        use(mnemon, monkeypatch, webhook_private=True)
        where = {"url": f"http://127.0.0.1:{port}/", "name": "chat", "report_kinds": ["consensus"]}
        await client.post("/v1/webhooks", json=where)
        await client.post("/v1/reports", json={"kind": "consensus"})
        await settled()
        [failed] = await types_in(mnemon, tenant, "report.delivery_failed")
        assert (failed.data["delivery_channel"], failed.data["retry_count"]) == ("webhook", 1)
        [dead] = (await client.get("/v1/webhooks/chat/deliveries", params={"dead": True})).json()["items"]
        assert (dead["state"], dead["error_code"]) == ("dead", "DELIVERY_REFUSED")
        again = await client.post("/v1/webhooks/chat/replay")
        assert (again.status_code, again.json()["replayed"]) == (202, 1)
        await settled()
        assert (await client.post("/v1/webhooks/chat/replay")).json()["replayed"] == 0
    assert len(served.requests) == 2
    [done] = (await client.get("/v1/jobs", params={"kind": DELIVER.name})).json()["items"]
    assert done["status"] == "DONE"


async def test_a_webhook_is_told_of_any_type_of_its_own_tenant_until_it_is_removed(
    worker: Worker, settled: Settle, client: httpx.AsyncClient, admin: Person, user: Person, mnemon: Mnemon,
    tenant: UUID, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    client.headers.update(admin.headers)
    served = HttpServer([200])
    async with listening(served) as port:
        url = f"http://127.0.0.1:{port}/hook"
        refused = await client.post("/v1/webhooks", json={"url": url})
        assert (refused.status_code, "MNEMON_WEBHOOK_PRIVATE" in refused.json()["error"]) == (422, True)
        use(mnemon, monkeypatch, webhook_private=True)
        added = (await client.post("/v1/webhooks", json={"url": url, "name": "all", "event_types": ["#"]})).json()
        assert len(added["secret"]) > 30
        again = await client.post("/v1/webhooks", json={"url": url, "name": "all"})
        assert again.status_code == 409
        assert (await client.get("/v1/webhooks", headers=user.headers)).status_code == 403
        tried = (await client.post("/v1/webhooks/all/test")).json()
        assert tried["status"] == 200
        await client.post("/v1/webhooks", json={"url": url, "name": "none", "event_types": ["report.*"]})
        await settled()
        assert (await client.delete("/v1/webhooks/all")).json()["removed"]
        await client.delete("/v1/webhooks/none")
        await settled()
    trial, told = (orjson.loads(body) for _, body in served.requests)
    assert (trial["routing_key"], trial["event_id"]) == ("webhook.test", tried["event_id"])
    assert (told["event_type"], told["data"]["way"]) == ("RecipientAdded", "webhook")
    assert "place" not in told["data"], "personal fields stay inside"
    assert len(served.requests) == 2, "nobody is left to be told that they were removed"
    async with mnemon.database.transaction(tenant) as tx:
        rows = await (
            await tx.execute("SELECT FROM mnemon.subscriptions WHERE subscription_id = 'recipients'")
        ).fetchall()
    assert not rows, "the next one begins anew"


async def test_where_a_webhook_is_and_its_secret_stand_nowhere_in_the_open(
    client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.headers.update(admin.headers)
    use(mnemon, monkeypatch, webhook_private=True)
    where = {"url": "http://127.0.0.1:9/T0K3N", "name": "chat", "secret": "s3cret" * 4}
    assert (await client.post("/v1/webhooks", json=where)).status_code == 201
    async with mnemon.database.transaction(tenant) as tx:
        rows = await (await tx.execute("SELECT r::text AS row, sealed FROM mnemon.recipients r")).fetchall()
    kept = "".join(row["row"] for row in rows).encode() + b"".join(row["sealed"] for row in rows)
    assert rows and b"T0K3N" not in kept and b"s3cret" not in kept


@pytest.mark.parametrize(
    ("pattern", "fitting", "other"),
    [
        ("#", "report.published", None),
        ("report.*", "report.published", "report.delivery.failed"),
        ("archive.#", "archive.ingestion.failed", "archives.x"),
        ("*.failed", "chunks.failed", "archive.ingestion.failed"),
        ("#.failed", "archive.ingestion.failed", "failed.x"),
        ("report.published", "report.published", "report.published.x"),
    ],
)  # fmt: skip
def test_types_are_named_as_brokers_name_them(pattern: str, fitting: str, other: str | None) -> None:
    assert fits(pattern, fitting)
    assert other is None or not fits(pattern, other)


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/", "http://[::1]/", "http://10.0.0.7/", "http://169.254.169.254/latest", "http://localhost/",
     "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/", "file:///etc/passwd", "http://user@127.0.0.1/"],
)  # fmt: skip
async def test_nobody_is_sent_into_networks_of_our_own_unasked(url: str) -> None:
    with pytest.raises(DeliveryRefused):
        await find_receiver(url, private=False)
