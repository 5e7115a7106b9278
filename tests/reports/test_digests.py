"""Reports that leave by mail: a job for each address, that waits, gives up and can be done again."""

import asyncio
import email
import email.policy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from pydantic import SecretStr

from mnemon.app import Mnemon
from mnemon.reports.delivery.delivering import DELIVER
from mnemon.work.worker import Worker
from tests.api.conftest import Person
from tests.mail.conftest import Imported
from tests.reports.conftest import Settle, use

SAMPLE = Path(__file__).parents[2] / "examples" / "list" / "tern-dev.mbox"
WEEK = {"kind": "weekly", "until": "2026-03-08"}


@dataclass
class MailServer:
    """Speaks as much SMTP as a sender needs, refuses whom it is told to, and keeps what it got."""

    refuse: str = "\0"
    answer: bytes = b"550 no such person"
    mails: list[tuple[str, EmailMessage]] = field(default_factory=list)
    tries: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = ""
        writer.write(b"220 here\r\n")
        while line := await reader.readline():
            word = line[:4].upper()
            if word == b"RCPT":
                self.tries += 1
                address = line.decode().partition("<")[2].partition(">")[0]
                writer.write(self.answer + b"\r\n" if self.refuse in address else b"250 ok\r\n")
            elif word == b"DATA":
                writer.write(b"354 go on\r\n")
                body = (await reader.readuntil(b"\r\n.\r\n"))[:-5].replace(b"\r\n..", b"\r\n.")
                mail = email.message_from_bytes(body, policy=email.policy.default)
                self.mails.append((address, mail))
                writer.write(b"250 taken\r\n")
            elif word == b"QUIT":
                writer.write(b"221 bye\r\n")
                break
            else:
                writer.write(b"250 ok\r\n")
        writer.close()


@asynccontextmanager
async def listening(served: MailServer) -> AsyncIterator[int]:
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def types_in(mnemon: Mnemon, tenant: UUID, kind: str) -> list[Any]:
    return [one async for one in mnemon.log.scan(tenant) if one.type == kind]


async def test_a_weekly_report_goes_to_each_address_and_one_that_is_refused_holds_up_no_other(
    worker: Worker, imported: Imported, settled: Settle, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon,
    tenant: UUID, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    client.headers.update(admin.headers)
    await imported(SAMPLE)
    await settled()
    served = MailServer(refuse="nobody")
    async with listening(served) as port:
        url = SecretStr(f"smtp://127.0.0.1:{port}")
        use(mnemon, monkeypatch, smtp_url=url, smtp_from="mnemon@example.org")
        for address in ("ana@example.org", "nobody@example.org"):
            assert (await client.post("/v1/digests", json={"address": address})).status_code == 201
        asked = (await client.post("/v1/reports", json=WEEK)).json()
        await settled()
        await client.post("/v1/reports", json={"kind": "consensus"})
        await settled()
    [(address, mail)] = served.mails
    assert (address, mail["Subject"], mail["To"]) == ("ana@example.org", "Weekly report", "ana@example.org")
    assert mail["List-Unsubscribe"] == "<mailto:mnemon@example.org?subject=unsubscribe>"
    plain, html = mail.get_body(("plain",)), mail.get_body(("html",))
    assert plain is not None and html is not None
    assert "Objection by Priya Iyer, 5 March 2026, withdrawn:" in plain.get_content()
    assert "To get no more, write to mnemon@example.org." in plain.get_content()
    assert "<blockquote>I object to section 4.2" in html.get_content()
    stored = (await client.get(f"/v1/reports/{asked['report_id']}")).json()
    assert stored["delivery_channels"] == ["e-mail"]
    [failed] = await types_in(mnemon, tenant, "report.delivery_failed")
    assert (failed.data["report_id"], failed.data["delivery_channel"]) == (asked["report_id"], "e-mail")
    assert failed.data["retry_count"] == 1, "a refusal for good is not tried again"
    assert "nobody@" not in str(failed.payload)


async def test_a_server_that_asks_to_come_again_is_asked_again_until_the_attempts_are_used_up(
    worker: Worker, imported: Imported, settled: Settle, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon,
    tenant: UUID, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    client.headers.update(admin.headers)
    await imported(SAMPLE)
    served = MailServer(refuse="ana", answer=b"450 later")
    async with listening(served) as port:
        use(mnemon, monkeypatch, smtp_url=SecretStr(f"smtp://127.0.0.1:{port}"))
        await client.post("/v1/digests", json={"address": "ana@example.org"})
        await client.post("/v1/reports", json=WEEK)
        await settled()
    assert served.tries == DELIVER.max_attempts
    [failed] = await types_in(mnemon, tenant, "report.delivery_failed")
    assert failed.data["retry_count"] == DELIVER.max_attempts


async def test_an_address_is_tried_refused_twice_and_removed(
    client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.headers.update(admin.headers)
    ana = {"address": "ana@example.org"}
    without = await client.post("/v1/digests", json=ana)
    assert without.status_code == 422 and "MNEMON_SMTP_URL" in without.json()["error"]
    served = MailServer()
    async with listening(served) as port:
        use(mnemon, monkeypatch, smtp_url=SecretStr(f"smtp://127.0.0.1:{port}"))
        assert (await client.post("/v1/digests", json=ana)).json()["report_kinds"] == ["weekly"]
        assert (await client.post("/v1/digests", json={"address": "Ana@Example.org"})).status_code == 409
        assert (await client.post("/v1/digests/ana@example.org/test")).status_code == 200
        assert [one["address"] for one in (await client.get("/v1/digests")).json()["items"]] == ["ana@example.org"]
        assert (await client.delete("/v1/digests/ana@example.org")).json()["removed"]
        assert (await client.post("/v1/digests/ana@example.org/test")).status_code == 404
    [(address, mail)] = served.mails
    assert (address, mail["Subject"]) == ("ana@example.org", "Mnemon can write to you")
