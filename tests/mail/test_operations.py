"""Mail at the doors: what was imported is listed, filtered and shown; sources are looked at again."""

import functools
import http.server
import io
import os
import threading
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from http.client import HTTPMessage
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.log.read.streams import Stream
from mnemon.mail import inputs, operations, outputs
from mnemon.mail.errors import SourceRefused
from mnemon.mail.sources.looking import LOOK
from mnemon.mail.sources.reach import SameHost
from mnemon.operations import Caller
from mnemon.work.kinds import Backoff
from tests.api.conftest import TESTER, Person
from tests.mail.conftest import Imported, State, message, write_mbox
from tests.work.conftest import Eventually

pytestmark = pytest.mark.usefixtures("mail_worker")
Looked = Callable[..., Awaitable[outputs.SourceShown]]


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LOOK, "backoff", Backoff(0, 0))


@pytest.fixture
def looked(mnemon: Mnemon, tenant: UUID, eventually: Eventually) -> Looked:
    """Import from a place and wait until all that it began has ended; the source."""
    operator = Caller(tenant, TESTER)

    async def run(location: str | Path, name: str = "here", every_minutes: int | None = None) -> outputs.SourceShown:
        asked = inputs.ImportAsked(location=str(location), name=name, every_minutes=every_minutes)
        begun = await operations.import_mail(mnemon, operator, asked)

        async def ended() -> bool:
            async with mnemon.database.transaction(tenant) as tx:
                found = await tx.execute("SELECT status FROM mnemon.jobs WHERE job_id = %s", (begun.job_id,))
                job = await found.fetchone()
            imports = (await operations.imports(mnemon, operator, inputs.MailImportsAsked())).items
            return bool(job and job["status"] in ("DONE", "FAILED")) and all(
                one.status in ("succeeded", "failed") for one in imports
            )

        await eventually(ended)
        return (await operations.sources(mnemon, operator, inputs.SourcesAsked())).items[0]

    return run


async def get(client: httpx.AsyncClient, user: Person, path: str, **params: Any) -> Any:
    answer = await client.get(f"/v1{path}", params=params, headers=user.headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_messages_threads_and_archives_over_rest(
    client: httpx.AsyncClient, user: Person, imported: Imported, small_list: Path
) -> None:
    await imported(small_list, "quic")
    threads = (await get(client, user, "/threads"))["items"]
    assert {one["subject"] for one in threads} == {"Plan", "Other", "Re: Gone"}
    [about] = (await get(client, user, "/threads", draft="draft-ietf-quic-transport"))["items"]
    assert (about["subject"], about["draft_mentions"]) == ("Plan", ["draft-ietf-quic-transport-34"])
    assert not (await get(client, user, "/threads", draft="draft-ietf"))["items"]
    whole = await get(client, user, f"/threads/{about['thread_id']}")
    assert [one["depth"] for one in whole["messages"]] == [0, 1, 1, 1, 1]
    answer = whole["messages"][1]
    same = await get(client, user, f"/threads/{answer['message_id']}")
    assert same["thread_id"] == about["thread_id"], "any message leads to its thread"
    shown = await get(client, user, f"/messages/{answer['message_key']}")
    assert shown["from"] == answer["from"]
    assert shown["body_normalized"].startswith("Answer")
    assert "".join(shown["body_raw"][one["start"] : one["end"]] for one in shown["spans"]) == shown["body_raw"]
    [copy] = shown["copies"]
    archive = await get(client, user, f"/mail/archives/{copy['archive_id']}")
    assert (archive["status"], archive["message_count"], archive["source"]) == ("processed", 9, "quic")


async def test_filters_and_pages(client: httpx.AsyncClient, user: Person, imported: Imported, small_list: Path) -> None:
    await imported(small_list)
    mine = (await get(client, user, "/messages", person="DAHL, Cleo"))["items"]
    assert {one["from"]["email"] for one in mine} == {"p2@example.org"}
    assert len((await get(client, user, "/messages", list_name="list.lists.example.org"))["items"]) == 9
    assert not (await get(client, user, "/messages", list_name="other"))["items"]
    late = (await get(client, user, "/messages", since="2024-01-08"))["items"]
    assert {one["message_id"] for one in late} == {"<8@example.org>", "<9@example.org>", "<7@example.org>"}
    seen: list[str] = []
    page = await get(client, user, "/messages", limit=4)
    while True:
        seen += [one["message_key"] for one in page["items"]]
        if not page.get("next_cursor"):
            break
        page = await get(client, user, "/messages", limit=4, cursor=page["next_cursor"])
    assert len(seen) == len(set(seen)) == 9
    missing = await client.get("/v1/threads/nothing", headers=user.headers)
    assert missing.status_code == 404


async def test_a_server_reads_no_files_for_a_stranger(
    client: httpx.AsyncClient, admin: Person, user: Person, small_list: Path
) -> None:
    body = {"location": str(small_list)}
    refused = await client.post("/v1/mail/archives", json=body, headers=admin.headers)
    assert refused.status_code == 403, refused.text
    assert (await client.post("/v1/mail/archives", json=body, headers=user.headers)).status_code == 403
    box = {"location": "imap://list@mail.example.org/INBOX"}
    password = await client.post("/v1/mail/archives", json=box, headers=admin.headers)
    assert (password.status_code, "password" in password.text) == (403, True)
    for near in (
        "http://127.0.0.1:9/a.mbox",
        "http://[::1]/a.mbox",
        "rsync://10.0.0.7/lists/",
        "me@192.168.1.4::lists/",
    ):
        inner = await client.post("/v1/mail/archives", json={"location": near}, headers=admin.headers)
        assert (inner.status_code, "network" in inner.text) == (403, True), near
    odd = await client.post("/v1/mail/archives", json={"location": "gopher://x/y"}, headers=admin.headers)
    assert odd.status_code == 422


async def test_a_file_that_grows_is_read_from_where_it_ended(looked: Looked, state: State, tmp_path: Path) -> None:
    mails = [message(n, f"Text {n}.\n", to=n - 1 if n > 1 else None) for n in range(1, 6)]
    archive = write_mbox(tmp_path / "grows.mbox", mails[:3])
    first = archive.stat().st_size
    assert (await looked(archive)).status == "ok"
    assert (await looked(archive)).status == "ok"
    assert len((await state())["mail_archives"]) == 1, "unchanged, so it was not read"
    write_mbox(archive, mails[3:])
    await looked(archive)
    found = await state()
    assert len(found["mail_messages"]) == 5
    assert sorted(one["message_count"] for one in found["mail_archives"]) == [2, 3]
    grown = max(found["mail_copies"], key=lambda one: one["byte_offset"])
    assert grown["byte_offset"] >= first
    assert [one["message_count"] for one in found["mail_threads"]] == [5]


async def test_folders_of_mail(looked: Looked, state: State, tmp_path: Path) -> None:
    folder = tmp_path / "box"
    (folder / "cur").mkdir(parents=True)
    (folder / "new").mkdir()
    (folder / "new" / "1").write_bytes(bytes(message(1, "One.\n")))
    await looked(folder)
    (folder / "new" / "1").rename(folder / "cur" / "1:2,S")
    (folder / "new" / "2").write_bytes(bytes(message(2, "Two.\n", to=1)))
    await looked(folder)
    found = await state()
    assert len(found["mail_messages"]) == len(found["mail_copies"]) == 2
    months = tmp_path / "months"
    months.mkdir()
    write_mbox(months / "01.mbox", [message(3, "Three.\n", to=2)])
    write_mbox(months / "02.mbox", [message(4, "Four.\n", to=3)])
    await looked(months, "months")
    assert [one["message_count"] for one in (await state())["mail_threads"]] == [4]


async def test_files_may_be_called_by_any_bytes(looked: Looked, state: State, tmp_path: Path) -> None:
    mail, folder, archives = message(1, "Hello.\n").as_bytes(), tmp_path / "mails", tmp_path / "archives"
    folder.mkdir()
    archives.mkdir()
    for name in (b"gr\xfc\xdfe.eml", b"two\nlines.eml"):
        Path(os.fsdecode(bytes(folder) + b"/" + name)).write_bytes(mail)
    Path(os.fsdecode(bytes(folder) + b"/l\xe4er\n0 1 2.eml")).write_bytes(b"\n")
    Path(os.fsdecode(bytes(archives) + b"/M\xe4rz.mbox")).write_bytes(b"From a Mon Jan  1 10:00:00 2024\n" + mail)
    assert (await looked(folder)).status == "ok"
    assert (await looked(archives, "months")).status == "ok"
    found = await state()
    assert [one["message_id"] for one in found["mail_messages"]] == ["<1@example.org>"]
    assert [one["reason"] for one in found["mail_defects"]] == ["blank: l\ufffder 0 1 2.eml holds nothing"]


async def test_a_source_that_is_gone_says_so(looked: Looked, mnemon: Mnemon, tenant: UUID, tmp_path: Path) -> None:
    with pytest.raises(SourceRefused, match="There is nothing at"):
        await looked(tmp_path / "nothing.mbox")
    source = await looked(tmp_path / "nothing.mbox", every_minutes=30)
    assert source.status == "failing"
    assert "no file" in (source.last_error or "")
    page = await mnemon.log.read_page(tenant, Stream.of_type("archive.ingestion.failed"))
    assert [one.data["error_type"] for one in page.events if one.type == "archive.ingestion.failed"] == [
        "SOURCE_REFUSED"
    ]


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    folder = tmp_path / "web"
    folder.mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()
    thread.join()
    server.server_close()


async def test_an_archive_on_the_web(looked: Looked, state: State, web: tuple[str, Path]) -> None:
    address, folder = web
    write_mbox(folder / "a.mbox", [message(1, "One.\n")])
    await looked(f"{address}/a.mbox")
    await looked(f"{address}/a.mbox")
    assert len((await state())["mail_archives"]) == 1
    source = await looked(f"{address}/none.mbox", "zz")
    assert source.name == "here"


def test_a_server_leads_only_to_its_own_pages() -> None:
    asked = urllib.request.Request("http://lists.example.org/a.mbox")
    follow = functools.partial(SameHost().redirect_request, asked, io.BytesIO(), 302, "Found", HTTPMessage())
    followed = follow("https://lists.example.org/b.mbox")
    assert followed is not None and followed.full_url == "https://lists.example.org/b.mbox"
    with pytest.raises(SourceRefused, match="leads to"):
        follow("http://169.254.169.254/latest/meta-data")


async def test_sources_whose_time_has_come_are_looked_at(
    mnemon: Mnemon, tenant: UUID, state: State, small_list: Path, eventually: Eventually
) -> None:
    operator = Caller(tenant, TESTER)
    asked = inputs.ImportAsked(location=str(small_list), name="timed", every_minutes=30)
    await operations.import_mail(mnemon, operator, asked)

    async def looked_at() -> bool:
        [source] = (await operations.sources(mnemon, operator, inputs.SourcesAsked())).items
        return source.last_checked_at is not None and source.next_check_at is not None

    await eventually(looked_at)
    await operations.remove_source(mnemon, operator, inputs.SourceAsked(name="timed"))
    assert not (await operations.sources(mnemon, operator, inputs.SourcesAsked())).items


async def test_a_check_finds_and_mends(
    mnemon: Mnemon, tenant: UUID, imported: Imported, small_list: Path, eventually: Eventually
) -> None:
    await imported(small_list)
    operator = Caller(tenant, TESTER)

    async def whole() -> bool:
        return (await operations.check(mnemon, operator, inputs.CheckAsked())).holds

    await eventually(whole)
    [pack] = [one for one in mnemon.files.blobs.rglob("packs/*") if one.is_file()]
    content = pack.read_bytes()
    pack.write_bytes(content.replace(b"Another thing", b"Another think"))
    broken = await operations.check(mnemon, operator, inputs.CheckAsked())
    assert [one.check for one in broken.checks if one.found] == ["archives hold what was read"]
    pack.write_bytes(content)
    assert await whole()
