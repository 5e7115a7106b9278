"""An archive becomes documents, threads and events; again, in any order, or after a kill, it comes to the same."""

import gzip
import itertools
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.bus.envelope import CATALOGUE, outward
from mnemon.db.database import Connection
from mnemon.documents.ingest import filed
from mnemon.documents.ingest.chunk_store import share_of, store_chunks
from mnemon.documents.ingest.revision_texts import read_text
from mnemon.log.errors import TransactionConflict
from mnemon.log.events import Event
from mnemon.log.types.event_type import built_in_types
from mnemon.mail.check import check_mail
from mnemon.mail.jobs import KINDS
from mnemon.mail.spans.written import read_spans
from mnemon.mail.storing import batch, importing, recording
from mnemon.work.worker import Worker
from tests.conftest import make_tenant
from tests.mail.conftest import Imported, State, mail_state, message, write_mbox
from tests.mail.eval_data import FOLDER, needs_mail
from tests.work.conftest import Eventually, running

pytestmark = pytest.mark.usefixtures("mail_worker")


async def test_messages_are_documents_in_threads(
    mnemon: Mnemon, tenant: UUID, imported: Imported, state: State, small_list: Path
) -> None:
    done = await imported(small_list)
    assert done["status"] == "succeeded", done["error"]
    assert done["counts"] == {"messages": 9, "new": 9, "copies": 0, "defects": 0}
    found = await state()
    assert {one["subject"]: one["message_count"] for one in found["mail_threads"]} == {
        "Plan": 5, "Other": 2, "Re: Gone": 2,
    }  # fmt: skip
    [ghostly] = [one for one in found["mail_threads"] if one["ghost_count"]]
    assert ghostly["thread_id"] == "<77@example.org>"
    [first] = [one for one in found["mail_messages"] if one["message_id"] == "<1@example.org>"]
    async with mnemon.database.transaction(tenant) as tx:
        text = await read_text(tx, first["doc_version_id"])
    assert text.text == "Shall we ship draft-ietf-quic-transport-34?"
    [answer] = [one for one in found["mail_messages"] if one["message_id"] == "<2@example.org>"]
    assert [one.label for one in read_spans(answer["spans"])] == ["quote", "new"]


async def test_each_stage_is_an_event_of_the_catalogue(
    mnemon: Mnemon, tenant: UUID, imported: Imported, small_list: Path, eventually: Eventually
) -> None:
    done = await imported(small_list)

    async def cut() -> list[dict[str, Any]]:
        page = await mnemon.log.read_trace(tenant, str(done["import_id"]))
        told = [sent(one) for one in page.events if one.type in CATALOGUE]
        return told if any(one["event_type"] == "ChunksPrepared" for one in told) else []

    told = await eventually(cut)
    # What is cut and what is told of threads are jobs side by side: either may be the first.
    stages = ("ArchiveIngested", "JSONParsed", "ChunksPrepared")
    assert [one["event_type"] for one in told if one["event_type"] in stages] == list(stages)
    ingested, parsed = told[:2]
    assert parsed["causation_id"] == ingested["event_id"]
    assert parsed["correlation_id"] == ingested["correlation_id"] == str(done["import_id"])
    assert parsed["data"]["message_count"] == len(parsed["data"]["message_keys"]) == 9
    assert ingested["data"]["source_name"] == "list"


async def test_passages_of_many_messages_lock_their_counts_in_one_order(
    monkeypatch: pytest.MonkeyPatch, imported: Imported, small_list: Path, eventually: Eventually
) -> None:
    """Two jobs that locked shares of the counts in different orders would stop each other."""
    stored: list[UUID] = []

    async def noting(tx: Connection, *, doc_id: UUID, **given: Any) -> None:
        await store_chunks(tx, doc_id=doc_id, **given)
        stored.append(doc_id)

    monkeypatch.setattr(filed, "store_chunks", noting)
    await imported(small_list)

    async def all_stored() -> bool:
        return len(stored) == 9

    await eventually(all_stored)
    shares = [share_of(one) for one in stored]
    assert shares == sorted(shares)
    assert len(set(shares)) > 1


async def test_the_same_archive_again_changes_nothing(imported: Imported, state: State, small_list: Path) -> None:
    await imported(small_list)
    before = await state()
    again = await imported(small_list)
    assert (again["status"], again["counts"]) == ("succeeded", {})
    assert await state() == before


@pytest.mark.parametrize("at_once", [1, 3, 1000])
async def test_a_lens_that_is_made_anew_is_the_same(
    at_once: int, mnemon: Mnemon, tenant: UUID, imported: Imported, state: State, small_list: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """However many events are read at once: messages and what ties them into threads may be read apart. Of each
    message the copy that came later is the better one."""
    worse = tmp_path / "worse.mbox"
    worse.write_bytes(small_list.read_bytes().replace(b"MAILER-DAEMON", b"x at y.example"))
    await imported(worse)
    await imported(small_list)
    monkeypatch.setattr("mnemon.log.project.rebuild.BATCH", at_once)
    before = await state()
    await mnemon.projector.rebuild(tenant, "mail")
    assert await state() == before


async def test_copies_in_any_order_come_to_the_same(mnemon: Mnemon, tmp_path: Path, eventually: Eventually) -> None:
    """One archive knows more headers, one hides addresses, one has another text; parts of them overlap."""
    mails = [message(n, f"Text {n}.\n", to=n - 1 if n % 3 else None) for n in range(1, 13)]
    whole = write_mbox(tmp_path / "a.mbox", mails)
    other = tmp_path / "b.mbox"
    other.write_bytes(
        whole.read_bytes().replace(b"Text 3.", b">From here\nText 3.").replace(b"MAILER-DAEMON", b"x at y.example")
    )
    part = write_mbox(tmp_path / "c.mbox", [*mails[6:], message(20, "New.\n", to=12)])
    states = []
    for order in itertools.islice(itertools.permutations([whole, other, part]), 0, 6, 2):
        tenant = await make_tenant(mnemon.database)
        for archive in order:
            await _imported(mnemon, tenant, archive, eventually)
        found = await mail_state(mnemon, tenant)
        states.append(_without_ids(found))
    assert states[0] == states[1] == states[2]
    assert len(states[0]["mail_messages"]) == 13


def _without_ids(found: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Documents are called otherwise in each tenant."""
    gone = {"doc_id", "doc_version_id"}
    kept = {name: [{key: row[key] for key in row if key not in gone} for row in rows] for name, rows in found.items()}
    kept["texts"].sort(key=lambda row: str(row["text"]))
    return kept


async def _imported(mnemon: Mnemon, tenant: UUID, archive: Path, eventually: Eventually) -> None:
    received = mnemon.files.take_copy(tenant, archive)
    async with mnemon.database.transaction(tenant) as tx:
        await importing.add_import(tx, received.run_id, "list", "file", "x", importing.SYSTEM)

    async def ended() -> bool:
        async with mnemon.database.transaction(tenant) as tx:
            found = await tx.execute("SELECT status FROM mnemon.mail_imports WHERE import_id = %s", (received.run_id,))
            row = await found.fetchone()
        return row is not None and row["status"] == "succeeded"

    await eventually(ended)


@pytest.mark.parametrize("stage", ["keep", "settle", "first batch", "second batch", "end"])
async def test_an_import_that_dies_goes_on_to_the_same_end(
    stage: str, mnemon: Mnemon, imported: Imported, state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    eventually: Eventually,
) -> None:  # fmt: skip
    """Whatever it was doing is undone; what it had recorded stays."""
    monkeypatch.setattr(batch, "MOST_MESSAGES", 4)
    archive = write_mbox(
        tmp_path / "x.mbox", [message(n, f"Text {n}.\n", to=n - 1 if n > 1 else None) for n in range(1, 15)]
    )
    other = await make_tenant(mnemon.database)
    await _imported(mnemon, other, archive, eventually)
    undisturbed = _without_ids(await mail_state(mnemon, other))
    _die_at(stage, monkeypatch)
    done = await imported(archive)
    assert (done["status"], done["attempts"] > 1) == ("succeeded", True)
    assert _without_ids(await state()) == undisturbed
    assert done["counts"]["messages"] == 14


def _die_at(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {"count": 0}

    def dying(real: Any, at: int, after: bool = False) -> Any:
        async def call(*given: Any, **named: Any) -> Any:
            seen["count"] += 1
            if seen["count"] == at and not after:
                raise TransactionConflict("died")
            result = await real(*given, **named)
            if seen["count"] == at:
                raise TransactionConflict("died")
            return result

        return call

    if stage == "keep":
        real = importing._keep

        def keep(*given: Any) -> Any:
            seen["count"] += 1
            kept = real(*given)
            if seen["count"] == 1:
                raise TransactionConflict("died")
            return kept

        monkeypatch.setattr(importing, "_keep", keep)
    elif stage == "settle":
        monkeypatch.setattr(importing, "_settle", dying(importing._settle, 1, after=True))
    else:
        at = {"first batch": 1, "second batch": 2, "end": 4}[stage]
        monkeypatch.setattr(importing, "record_batch", dying(recording.record_batch, at, after=True))


async def test_what_cannot_be_read_is_recorded_as_failed(
    mnemon: Mnemon, tenant: UUID, imported: Imported, small_list: Path, monkeypatch: pytest.MonkeyPatch,
    eventually: Eventually,
) -> None:  # fmt: skip
    async def broken(*_: Any) -> Any:
        raise TransactionConflict("no way")

    monkeypatch.setattr(importing, "record_batch", broken)
    done = await imported(small_list)
    assert (done["status"], "no way" in done["error"]) == ("failed", True)

    async def told() -> list[dict[str, Any]]:
        page = await mnemon.log.read_trace(tenant, str(done["import_id"]))
        return [sent(one) for one in page.events if one.type == "parsing.failed"]

    [failed] = await eventually(told)
    assert failed["data"]["retry_count"] == done["attempts"]
    assert "no way" in failed["data"]["error_message"]


async def test_a_purged_message_is_gone_everywhere_and_stays_gone(
    mnemon: Mnemon, tenant: UUID, imported: Imported, state: State, tmp_path: Path, eventually: Eventually
) -> None:
    secret = "Wintergreen is the word"
    mails = [message(1, "Open.\n"), message(2, f"{secret}\n", to=1)]
    mails.append(message(3, "Answer.\n", to=2, References="<1@example.org> <2@example.org>"))
    archive = write_mbox(tmp_path / "x.mbox", mails)
    await imported(archive)
    [row] = [one for one in (await state())["mail_messages"] if one["message_id"] == "<2@example.org>"]
    await mnemon.purge_document(tenant, importing.SYSTEM, row["doc_id"])
    kept = [one.read_bytes() for one in mnemon.files.blobs.rglob("*") if one.is_file()]
    assert not any(secret.encode() in one for one in kept)
    assert any(b"Answer." in one for one in kept), "its neighbours stay"
    after = await state()
    [gone] = [one for one in after["mail_messages"] if one["doc_id"] == row["doc_id"]]
    assert (gone["message_id"], gone["subject"], gone["sender_email"]) == (None, "", "")
    assert secret not in str(after)
    [thread] = after["mail_threads"]
    assert (thread["message_count"], thread["ghost_count"]) == (2, 1)
    await mnemon.projector.rebuild(tenant, "mail")
    assert await state() == after
    # Another copy of it, in another archive, does not bring it back.
    await imported(write_mbox(tmp_path / "y.mbox", [*mails, message(4, "More.\n", to=3)]))
    after = await state()
    assert secret not in str(after)
    assert [one["message_count"] for one in after["mail_threads"]] == [3]

    async def is_blank() -> bool:
        kept = [one.read_bytes() for one in mnemon.files.blobs.rglob("*") if one.is_file()]
        return not any(secret.encode() in one for one in kept)

    await eventually(is_blank)
    # Nor does the same archive from another place, not even where its bytes had been lost.
    await imported(archive, "elsewhere")
    assert await is_blank()
    for pack in mnemon.files.blobs.rglob("packs/*"):
        pack.unlink()
    await imported(archive, "elsewhere")
    await imported(tmp_path / "y.mbox", "elsewhere")
    await eventually(is_blank)
    checked = await check_mail(mnemon.database, mnemon.files, tenant, repair=False)
    assert not [one for one in checked.checks if one.found and one.check != "messages have their passages"]
    await mnemon.projector.rebuild(tenant, "mail")
    assert await state() == after


async def test_another_tenant_sees_none_of_it(mnemon: Mnemon, imported: Imported, small_list: Path) -> None:
    await imported(small_list)
    other = await mail_state(mnemon, await make_tenant(mnemon.database))
    assert not any(other.values())


async def test_threads_that_become_one_are_recorded(
    mnemon: Mnemon, tenant: UUID, imported: Imported, state: State, tmp_path: Path
) -> None:
    await imported(write_mbox(tmp_path / "a.mbox", [message(2, "Two.\n", to=1), message(4, "Four.\n", to=3)]))
    before = {one["thread_id"]: one["thread_key"] for one in (await state())["mail_threads"]}
    done = await imported(write_mbox(tmp_path / "b.mbox", [message(3, "Three.\n", to=2)]))
    [thread] = (await state())["mail_threads"]
    assert thread["message_count"] == 3
    page = await mnemon.log.read_trace(tenant, str(done["import_id"]))
    [changed] = [one for one in page.events if one.type == "mail.threads.changed"]
    assert changed.data["merged"] == [[before["<3@example.org>"], thread["thread_key"]]]


@needs_mail
async def test_all_malformed_mail_is_stored_or_reported(imported: Imported, state: State, tmp_path: Path) -> None:
    files = sorted((FOLDER / "malformed").iterdir())
    for file in files[::6]:
        done = await imported(file)
        assert done["status"] == "succeeded", (file.name, done["error"])
    found = await state()
    assert len(found["mail_copies"]) + len(found["mail_defects"]) >= len(files[::6])


async def test_a_message_that_was_cut_off_gives_way_to_its_whole_text(
    imported: Imported, state: State, tmp_path: Path
) -> None:
    """The last one of an archive that was still being written, whichever is read first."""
    whole = [write_mbox(tmp_path / f"{n}.mbox", [message(n, f"One. Two of {n}. Three.\n")]) for n in range(10)]
    for number, archive in enumerate(whole):
        cut = tmp_path / f"cut{number}.mbox"
        cut.write_bytes(archive.read_bytes()[:-10])
        for one in (cut, archive) if number % 2 else (archive, cut):
            await imported(one)
        if number > 5:
            cut.write_bytes(archive.read_bytes() + bytes(range(256)) * 4)
            await imported(cut)
    texts = sorted(one["text"] for one in (await state())["texts"])
    assert texts == [f"One. Two of {n}. Three." for n in range(10)]


async def test_a_damaged_archive_keeps_what_can_be_unpacked_and_reports_the_rest(
    imported: Imported, state: State, small_list: Path, tmp_path: Path
) -> None:
    plain = small_list.read_bytes()
    archive = tmp_path / "list.mbox.gz"
    archive.write_bytes(gzip.compress(plain)[:-10])
    done = await imported(archive)
    assert (done["status"], done["counts"]["defects"]) == ("succeeded", 1)
    found = await state()
    assert {one["byte_offset"] for one in found["mail_copies"]} >= {0}
    [defect] = found["mail_defects"]
    assert (defect["byte_length"], defect["byte_offset"] <= len(plain)) == (0, True)
    assert "compressed data ends in damage" in defect["reason"]
    await imported(archive)
    assert await state() == found


async def test_a_worker_that_is_stopped_leaves_the_import_to_the_next(
    mnemon: Mnemon, tenant: UUID, small_list: Path, state: State, eventually: Eventually, mail_worker: Worker
) -> None:
    mail_worker.stop()
    received = mnemon.files.take_copy(tenant, small_list)
    async with mnemon.database.transaction(tenant) as tx:
        await importing.add_import(tx, received.run_id, "list", "file", "x", importing.SYSTEM)
    async with running(Worker(mnemon.database, KINDS, context=mnemon, poll=0.1)):

        async def there() -> bool:
            return len((await state())["mail_messages"]) == 9

        await eventually(there)


def sent(event: Event) -> dict[str, Any]:
    """As it leaves, with what it says of people."""
    [declaration] = [one for one in built_in_types() if one.type == event.type]
    return outward(event, declaration, personal=True)
