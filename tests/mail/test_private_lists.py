"""Private lists: who may not read one sees nothing of it on any door; who may sees it beside what is for everyone."""

from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.identity.roles import Role, user_actor_id
from mnemon.ids import new_uuid
from mnemon.log.read.streams import Stream
from mnemon.mail import inputs, operations
from mnemon.mail.sources.looking import enqueue_look
from mnemon.operations import Caller
from mnemon.work.worker import Worker
from tests.api.conftest import TESTER, Person, person
from tests.mail.conftest import Imported, message, write_mbox
from tests.work.conftest import Eventually

SECRET = "The merger with Harbour Ltd is agreed, keep the codeword quartz to yourselves."


@pytest.fixture
async def other(mnemon: Mnemon, tenant: UUID) -> Person:
    return await person(mnemon, tenant, Role.USER, "other@example.org")


@pytest.fixture
async def lists(
    mnemon: Mnemon, tenant: UUID, user: Person, mail_worker: Worker, imported: Imported, small_list: Path,
    tmp_path: Path, eventually: Eventually,
) -> None:  # fmt: skip
    """A list for everyone; and one for `user` alone, which answers the first, holds a copy of it and a vote."""
    await imported(small_list, "open")
    mails = [message(1, "Shall we ship draft-ietf-quic-transport-34?\n", secret="x")]
    mails += [message(41, f"{SECRET}\n", to=1), message(42, "[VOTE] quartz\n\nPlease vote.\n", subject="[VOTE] Quartz")]
    mails += [message(43, "+1 from me\n", subject="[VOTE] Quartz", to=42)]
    place = write_mbox(tmp_path / "board.mbox", mails)
    asked = inputs.ImportAsked(location=str(place), name="board", readers=[user.email])
    await operations.import_mail(mnemon, Caller(tenant, TESTER), asked)

    async def all_done() -> bool:
        async with mnemon.database.transaction(tenant) as tx:
            rows = await (await tx.execute("SELECT status FROM mnemon.jobs WHERE kind LIKE 'mail.%'")).fetchall()
            read = await (await tx.execute("SELECT count(*) AS c FROM mnemon.mail_consensus")).fetchone()
        assert all(row["status"] != "FAILED" for row in rows)
        return all(row["status"] == "DONE" for row in rows) and bool(read and read["c"] == 5)

    await eventually(all_done)


async def asked_for(client: httpx.AsyncClient, who: Person, path: str, **params: Any) -> httpx.Response:
    return await client.get(f"/v1{path}", params=params, headers=who.headers)


@pytest.mark.usefixtures("lists")
async def test_nothing_of_a_private_list_is_shown_to_others(
    client: httpx.AsyncClient, user: Person, other: Person
) -> None:
    pages = ("/threads", "/messages", "/mail/archives", "/mail/imports")
    for path in pages:
        mine = (await asked_for(client, user, path)).json()["items"]
        theirs = (await asked_for(client, other, path)).json()["items"]
        assert len(mine) > len(theirs) > 0, path
        assert "uartz" not in str(theirs) and "board" not in str(theirs), path
    for path in ("/threads/<42@example.org>", "/messages/<41@example.org>", "/threads/<42@example.org>/consensus"):
        assert (await asked_for(client, user, path)).status_code == 200, path
        assert (await asked_for(client, other, path)).status_code == 404, path
    for who, found in ((user, True), (other, False)):
        log = await asked_for(client, who, "/events", type="archive.ingested")
        assert log.status_code == 200 and ("board" in log.text) == found, log.text
        looks = await asked_for(client, who, "/jobs", kind="mail.look")
        assert looks.status_code == 200 and bool(looks.json()["items"]) == found, looks.text
        searched = await asked_for(client, who, "/search", query="Harbour merger")
        assert searched.status_code == 200 and ("quartz" in searched.text) == found, searched.text
        answered = await client.post("/v1/ask", json={"question": "What is agreed with Harbour?"}, headers=who.headers)
        assert answered.status_code == 200 and ("quartz" in answered.text) == found, answered.text


@pytest.mark.usefixtures("lists")
async def test_lists_of_different_readers_do_not_mix(client: httpx.AsyncClient, user: Person, other: Person) -> None:
    """The public thread stays as it was: a private answer to it, and a private copy of it, are apart."""
    shown = (await asked_for(client, other, "/threads/<1@example.org>")).json()
    assert shown["message_count"] == 5 and "<41@example.org>" not in str(shown)
    mine = (await asked_for(client, user, "/threads/<41@example.org>")).json()
    assert {one["message_id"] for one in mine["messages"]} == {"<1@example.org>", "<41@example.org>"}
    assert mine["thread_key"] != shown["thread_key"]
    voted = (await asked_for(client, user, "/threads/<42@example.org>/consensus")).json()
    assert voted["tally"] == {"+1": 1}


@pytest.mark.usefixtures("lists")
async def test_an_administrator_removes_no_private_source_and_puts_its_name_in_no_event(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, admin: Person
) -> None:
    hidden = await client.delete("/v1/mail/sources/board", headers=admin.headers)
    absent = await client.delete("/v1/mail/sources/nothing", headers=admin.headers)
    assert (hidden.status_code, absent.status_code) == (404, 404)
    assert hidden.text.replace("board", "nothing") == absent.text, "as if it were not there"
    async with mnemon.database.transaction(tenant) as tx:
        found = await tx.execute("UPDATE mnemon.mail_threads SET list_name = 'board' WHERE readers IS NOT NULL")
    assert found.rowcount
    asked = await client.post("/v1/reports", json={"kind": "consensus", "list_name": "board"}, headers=admin.headers)
    assert asked.status_code == 404, asked.text
    assert "board" not in (await client.get("/v1/events", headers=admin.headers)).text
    done = await operations.remove_source(mnemon, Caller(tenant, TESTER), inputs.SourceAsked(name="board"))
    assert done.removed, "whoever sits at the machine may"


async def test_a_source_that_is_refused_by_now_is_not_looked_at(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, admin: Person, mail_worker: Worker, eventually: Eventually
) -> None:
    """Added over REST before mailboxes and inner hosts were refused there; at the machine both may be added."""
    places = {"box": ("imap", "imap://ann@127.0.0.1:1/INBOX"), "inner": ("http", "http://127.0.0.1:1/x.mbox")}
    for name, (kind, location) in places.items():
        values = {"id": new_uuid(), "name": name, "type": kind, "location": location, "every": None, "scope": "org"}
        async with mnemon.database.transaction(tenant) as tx:
            values |= {"by": user_actor_id(admin.user_id), "readers": None}
            await tx.execute(operations.ADD_SOURCE, values)
            await enqueue_look(tx, values["id"], None)

    async def refused() -> bool:
        found = (await client.get("/v1/mail/sources", headers=admin.headers)).json()["items"]
        return all("at the machine alone" in (one["last_error"] or "") for one in found)

    await eventually(refused)


async def test_who_may_read_is_told_clearly(mnemon: Mnemon, tenant: UUID, user: Person, small_list: Path) -> None:
    operator = Caller(tenant, TESTER)
    for wrong in ({"visibility_scope": "custom"}, {"readers": ["nobody@example.org"]}, {"readers": ["Nobody"]}):
        asked = inputs.ImportAsked(location=str(small_list), name="x", **wrong)  # type: ignore[arg-type]
        with pytest.raises(Exception, match="read"):
            await operations.import_mail(mnemon, operator, asked)
    mine = inputs.ImportAsked(location=str(small_list), name="mine", readers=[user_actor_id(user.user_id)])
    await operations.import_mail(mnemon, operator, mine)
    [source] = (await operations.sources(mnemon, operator, inputs.SourcesAsked())).items
    assert source.visibility_scope == "custom" and user_actor_id(user.user_id) in (source.readers or ())


@pytest.mark.usefixtures("lists")
async def test_the_log_tells_no_name_and_no_place_of_a_private_source(mnemon: Mnemon, tenant: UUID) -> None:
    page = await mnemon.log.read_page(tenant, Stream.of_type("source.added"))
    [private] = [event.data for event in page.events if event.data.get("name") != "open"]
    assert (private["kind"], private.keys()) == ("mail file", {"subject", "kind", "seal"})
