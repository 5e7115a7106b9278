"""Private lists: who may not read one sees nothing of it on any door; who may sees it beside what is for everyone."""

from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.identity.roles import Role, user_actor_id
from mnemon.mail import inputs, operations
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
