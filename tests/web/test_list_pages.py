"""Claims about the pages of mailing lists: what a thread came to stands beside the words that say so."""

import re
from collections.abc import Iterable
from html import unescape
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.mail.consensus.threads import is_reading
from mnemon.mail.spans.labels import LabelledSpan
from mnemon.web.lists import message_text
from mnemon.web.lists.message_text import StanceMark, parts_of
from mnemon.work.worker import Worker
from tests.api.conftest import Person
from tests.mail.conftest import (
    Imported,
    admin,
    caller_address,
    client,
    eventually,
    imported,
    mail_worker,
    message,
    mnemon,
    quick_retries,
    settings,
    user,
    write_mbox,
)
from tests.work.conftest import Eventually

__all__ = [
    "admin", "caller_address", "client", "eventually", "imported", "mail_worker", "mnemon", "quick_retries",
    "settings", "user",
]  # fmt: skip
SAMPLE = Path(__file__).parents[2] / "examples" / "list" / "tern-dev.mbox"
OWN = {"Origin": "http://127.0.0.1:8787"}
ATTACK = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@pytest.fixture
async def read_list(
    mail_worker: Worker, imported: Imported, mnemon: Mnemon, tenant: UUID, eventually: Eventually
) -> Imported:
    """Import an archive and have its threads read."""

    async def take(archive: Path, source: str = "list") -> object:
        row = await imported(archive, source)

        async def read() -> bool:
            return not await is_reading(mnemon.database, tenant)

        await eventually(read)
        return row

    return take  # type: ignore[return-value]


async def see(client: httpx.AsyncClient, whose: Person, path: str, status: int = 200) -> str:
    answer = await client.get(path, headers=whose.headers)
    assert answer.status_code == status, answer.text
    return answer.text


async def test_a_list_from_its_threads_to_the_words_of_an_objection(
    client: httpx.AsyncClient, user: Person, admin: Person, read_list: Imported
) -> None:
    assert "No mail is here yet" in await see(client, user, "/lists")
    await read_list(SAMPLE)
    page = await see(client, user, "/lists")
    row = re.search(r"<tr>(?:(?!</tr>).)*Last call: draft-tern-telemetry-01.*?</tr>", page, re.DOTALL)
    assert row
    assert "mixed" in row[0]
    agreed = await see(client, user, "/lists?consensus=agreement")
    assert "[VOTE] Release Tern 2.4.0 (rc1)" in agreed
    assert "draft-tern-telemetry-01" not in agreed
    assert "No thread fits" in await see(client, user, "/lists?list_name=nowhere")
    assert 'role="alert"' in await see(client, user, "/lists?since=yesterday", 422)

    [place] = re.findall(r'<a href="(/lists/threads/[0-9a-f]+)">Last call: draft-tern-telemetry-01', page)
    thread = await see(client, user, place)
    anchor = re.findall(r'<a class="stance object" href="#(s-[0-9a-f]+-\d+)"', thread)[0]
    marked = re.search(rf'<mark class="said object" id="{anchor}" title="objects">(.*?)</mark>', thread, re.DOTALL)
    assert marked
    assert re.search(r'<li class="open">.*?not withdrawn', thread, re.DOTALL)
    quoted = [unescape(one) for one in re.findall(r'<li class="(?:open|settled)">.*?“(.*?)”', thread, re.DOTALL)]
    assert " ".join(unescape(marked[1]).split()) in quoted
    assert re.search(r'<details class="fold quote"><summary>\d+ lines? quoted', thread)
    assert 'class="depth-1"' in thread

    vote = await see(client, user, re.findall(r'<a href="(/lists/threads/[0-9a-f]+)">\[VOTE\] Release', agreed)[0])
    assert 'aria-label="5 × +1, 1 × 0"' in vote or 'aria-label="1 × 0, 5 × +1"' in vote
    assert "concluded: <strong>passed</strong>" in vote
    opened = re.findall(r'href="(/evidence/[^"]+)"', vote)[0]
    assert (await client.get(opened, headers=user.headers)).status_code == 303

    messages = await see(client, user, "/lists/messages?person=mei@example.net")
    one = await see(client, user, re.findall(r'href="(/lists/messages/[0-9a-f]+)"', messages)[0])
    assert "Message-ID" in one
    assert "Its thread" in one


async def test_a_report_is_read_proven_and_taken_away(
    client: httpx.AsyncClient, user: Person, read_list: Imported
) -> None:
    await read_list(SAMPLE)
    page = await see(client, user, "/lists/report")
    assert re.search(r'<a class="cite" href="/evidence/[0-9a-f-]+/\d+-\d+" title="“[^"]+”"', page)
    assert "[^1]" not in page
    assert '<option value="mixed">mixed</option>' in page
    file = await client.get("/lists/report/file?form=html", headers=user.headers)
    assert file.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert "<!doctype html>" in file.text
    refused = await see(client, user, "/lists/report?kind=thread", 422)
    assert "needs a thread" in refused


async def test_the_form_of_a_report_offers_what_can_be_answered(
    client: httpx.AsyncClient, user: Person, read_list: Imported
) -> None:
    await read_list(SAMPLE)
    of_all = await see(client, user, "/lists/report")
    [choice] = re.findall(r'<select name="kind">.*?</select>', of_all, re.DOTALL)
    kinds = re.findall(r'<option value="([\w-]+)"', choice)
    assert kinds == ["weekly", "consensus", "draft-focused"]
    for kind in kinds:
        await see(client, user, f"/lists/report?kind={kind}&draft=draft-tern-wire")

    key = re.findall(r'href="/lists/threads/([0-9a-f]+)"', await see(client, user, "/lists"))[0]
    of_one = await see(client, user, f"/lists/report?kind=thread&thread={key}")
    assert 'name="kind"' in of_one and '<select name="kind">' not in of_one
    sent = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)">', of_one))
    assert sent == {"thread": key, "kind": "thread"}
    await see(client, user, f"/lists/report?kind={sent['kind']}&thread={sent['thread']}")


async def test_the_first_page_shows_a_thread_of_mail_once(
    client: httpx.AsyncClient, user: Person, read_list: Imported, tmp_path: Path
) -> None:
    mails = [
        message(1, "Shall we go?\n"), message(2, "We shall.\n", to=1), message(3, "Another plan altogether.\n"),
    ]  # fmt: skip
    await read_list(write_mbox(tmp_path / "a.mbox", mails))
    shown = (await see(client, user, "/")).partition('id="glance"')[2]
    assert len(re.findall(r'href="/documents/[0-9a-f-]+"><span>(?:Re: )?Plan</span>', shown)) == 2


async def test_sources_are_for_administrators_and_archives_for_everyone(
    client: httpx.AsyncClient, user: Person, admin: Person, read_list: Imported, tmp_path: Path
) -> None:
    await read_list(write_mbox(tmp_path / "a.mbox", [message(1, "Shall we?\n")]), source="board")
    page = await see(client, user, "/lists/sources")
    assert "board" in page
    assert 'name="location"' not in page
    archive = await see(client, user, re.findall(r'href="(/lists/archives/[0-9a-f]{16})"', page)[0])
    assert "Every byte of it belongs to a message." in archive
    assert "board" in await see(client, user, "/lists/imports")
    given = {"location": "/etc/passwd", "name": "mine"}
    assert (await client.post("/lists/sources", data=given, headers=user.headers | OWN)).status_code == 403
    refused = await client.post("/lists/sources", data=given, headers=admin.headers | OWN)
    assert refused.status_code == 403
    assert 'role="alert"' in refused.text
    assert 'value="/etc/passwd"' in refused.text
    place = {"location": "https://someone:secret@lists.invalid/a.mbox", "name": "far", "every_minutes": "60"}
    assert (await client.post("/lists/sources", data=place, headers=admin.headers | OWN)).status_code == 303
    page = await see(client, admin, "/lists/sources")
    assert "far" in page
    checked = await client.post("/lists/check", headers=admin.headers | OWN)
    assert "Everything agrees" in checked.text
    gone = await client.post("/lists/sources/remove", data={"name": "far"}, headers=admin.headers | OWN)
    assert gone.status_code == 303
    assert "far" not in re.findall(r"<strong>(.*?)</strong>", await see(client, admin, "/lists/sources"))


async def test_administrators_say_who_is_told_and_see_how_it_fares(
    client: httpx.AsyncClient, user: Person, admin: Person, read_list: Imported
) -> None:
    await see(client, user, "/lists/recipients", 403)
    own = admin.headers | OWN
    refused = await client.post("/lists/webhooks", data={"url": "http://127.0.0.1:9/"}, headers=own)
    assert refused.status_code == 422 and "MNEMON_WEBHOOK_PRIVATE" in refused.text
    given = {"url": "http://192.0.2.1/hook", "name": "chat", "event_types": "report.* archive.#"}
    assert "in a network of your own" in (await client.post("/lists/webhooks", data=given, headers=own)).text
    added = await client.post("/lists/webhooks", data=given | {"url": "http://93.184.215.14/hook"}, headers=own)
    assert re.search(r"shown this once: <code>[\w-]{30,}</code>", added.text)
    assert "report.*, archive.#" in added.text
    assert "Nothing was sent there yet." in await see(client, admin, "/lists/webhooks/chat")
    without = await client.post("/lists/digests", data={"address": "ana@example.org"}, headers=own)
    assert without.status_code == 422 and "MNEMON_SMTP_URL" in without.text
    gone = await client.post("/lists/webhooks/remove", data={"webhook": "chat"}, headers=own)
    assert "chat is told no more." in gone.text and "No address is called yet." in gone.text


async def test_hostile_mail_is_shown_as_words(
    client: httpx.AsyncClient, admin: Person, read_list: Imported, tmp_path: Path
) -> None:
    mails = [
        message(1, f"I object to {ATTACK}.\n\n> {ATTACK}\n", subject=ATTACK, sender=f'"{ATTACK}" <a@example.org>'),
        message(2, f"+1 {ATTACK}\n\n-- \n{ATTACK}\n", subject=ATTACK, to=1),
    ]
    await read_list(write_mbox(tmp_path / "evil.mbox", mails), source=ATTACK)
    listed = await see(client, admin, "/lists")
    thread = re.findall(r'href="(/lists/threads/[0-9a-f]+)"', listed)[0]
    one = re.findall(r'href="(/lists/messages/[0-9a-f]+)"', await see(client, admin, "/lists/messages"))[0]
    archive = re.findall(r'href="(/lists/archives/[0-9a-f]+)"', await see(client, admin, "/lists/sources"))[0]
    key = thread.rpartition("/")[2]
    for path in (
        "/lists", thread, "/lists/messages", one, "/lists/sources", "/lists/imports", archive,
        f"/lists/report?kind=thread&thread={key}",
    ):  # fmt: skip
        page = await see(client, admin, path)
        assert "<img src=x" not in page, path
        assert "<script>alert" not in page, path
        assert "&lt;img src=x" in page or "&amp;lt;img" in page, path
        assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=\"|\sstyle=\"|javascript:", page), path


def test_every_word_of_a_message_is_shown_once_and_a_stance_is_never_folded() -> None:
    text = "Hi.\n> old words\n> I object.\nI agree fully.\n-- \nAda\n"
    spans = [
        LabelledSpan("new", 0, 4), LabelledSpan("quote", 4, 28, 1), LabelledSpan("new", 28, 43),
        LabelledSpan("signature", 43, len(text)),
    ]  # fmt: skip
    start = text.index("I agree")
    mark = StanceMark(start, start + 14, "support", "supports", "s-1")
    parts = parts_of(text, spans, [mark])
    assert [(part.label, part.folded) for part in parts] == [
        ("new", ""), ("quote", "quoted"), ("new", ""), ("signature", "of signature"),
    ]  # fmt: skip
    assert "\n".join("".join(piece.text for piece in part.pieces) for part in parts).split() == text.split()
    [marked] = [piece.text for part in parts for piece in part.pieces if piece.mark]
    assert marked == "I agree fully."
    inside = StanceMark(text.index("I object"), text.index("I object") + 9, "object", "objects", "s-2")
    assert [part.folded for part in parts_of(text, spans, [inside])][1] == ""


def test_lines_that_were_broken_for_their_width_flow_and_others_stay() -> None:
    text = (
        "This starts a last call on the draft: nodes would report counters once a\nday unless it is switched off.\n\n"
        "These were looked at, and all of them are as they should be, I think:\nfoo.c\nbar.c\n\n"
        "- a point of a list that is long enough to be broken over two lines\n  and is set in\n\nAda\nBerlin\n"
    )
    [part] = parts_of(text, [LabelledSpan("new", 0, len(text))], [])
    [piece] = part.pieces
    assert "once a day unless it is switched off.\n\nThese were" in piece.text
    for kept in ("I think:\nfoo.c\nbar.c", "two lines\n  and", "Ada\nBerlin"):
        assert kept in piece.text, kept
    quoted = [LabelledSpan("code", 0, len(text))]
    assert parts_of(text, quoted, [])[0].pieces[0].text == text.rstrip()


async def test_a_long_thread_is_read_page_by_page_and_past_the_last_is_the_last(
    client: httpx.AsyncClient, user: Person, read_list: Imported, tmp_path: Path
) -> None:
    mails = [message(1, "Shall we?"), *(message(n, f"Word number {n}.", to=1) for n in range(2, 121))]
    await read_list(write_mbox(tmp_path / "long.mbox", mails))
    [thread] = set(re.findall(r'href="(/lists/threads/[0-9a-f]+)"', await see(client, user, "/lists")))
    pages = [await see(client, user, f"{thread}?page={number}") for number in (1, 2, 3, 99)]
    told = [re.search(r"Messages (\d+) to (\d+) of 120", page) for page in pages]
    assert [one and one.groups() for one in told] == [("1", "50"), ("51", "100"), ("101", "120"), ("101", "120")]
    shown = [set(re.findall(r"Word number (\d+)\.", page)) for page in pages]
    assert [len(one) for one in shown] == [49, 50, 20, 20]
    assert len(shown[0] | shown[1] | shown[2]) == 119


def test_a_mail_that_was_answered_line_by_line_is_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    flowing = message_text._flowing

    def counted(text: str, places: Iterable[tuple[int, int]]) -> str:
        asked.append(len(text))
        return flowing(text, places)

    monkeypatch.setattr(message_text, "_flowing", counted)
    text = "> a question\nan answer\n" * 300
    spans = [
        LabelledSpan(label, start + at, start + at + length, depth)
        for start in range(0, len(text), 23)
        for label, at, length, depth in (("quote", 0, 13, 1), ("new", 13, 10, 0))
    ]
    parts = parts_of(text, spans)
    assert len(parts) == 600
    assert asked == [len(text)]
    assert "\n".join("".join(piece.text for piece in part.pieces) for part in parts).split() == text.split()
