"""Mail that is fetched by IMAP and by rsync: only what is new travels, and what goes wrong is told."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from mnemon.documents.intake.files import Files
from mnemon.mail.errors import SourceRefused, SourceUnreachable
from mnemon.mail.sources import remote
from mnemon.mail.sources.files import look_at_folder
from mnemon.mail.sources.imap import look_at_imap
from mnemon.mail.sources.kinds import Brought
from mnemon.mail.sources.mirror import hollow_out
from mnemon.mail.storing.packs import Packs
from tests.mail.conftest import message, write_mbox
from tests.mail.imap_server import ImapFolder, imap_server
from tests.mail.web_server import WebArchive, web_server

TENANT = uuid4()


@pytest.fixture
def packs(tmp_path: Path) -> Packs:
    return Packs(Files(tmp_path / "uploads", tmp_path / "blobs", 1_000_000_000))


@pytest.fixture
def folder() -> ImapFolder:
    return ImapFolder(mails={n: message(n, f"Text {n}.\n").as_bytes() for n in (3, 4, 9)})


@pytest.fixture
def port(folder: ImapFolder) -> Iterator[int]:
    with imap_server(folder) as port:
        yield port


def look(
    packs: Packs, port: int, cursor: dict[str, object], password: str = "a password", box: str = "Lists/quic"
) -> Brought:
    place = f"imap://list%40example.org@127.0.0.1:{port}/{box}"
    return look_at_imap(packs, TENANT, place, cursor, password)


def kept(packs: Packs, found: Brought) -> list[bytes]:
    return [one.content for archive in found.archives  # type: ignore[union-attr]
            for one in packs.ranges(TENANT, archive.kept.archive_id)]  # fmt: skip


def test_imap_goes_on_where_it_ended(packs: Packs, folder: ImapFolder, port: int) -> None:
    first = look(packs, port, {})
    assert kept(packs, first) == [folder.mails[uid] for uid in (3, 4, 9)]
    assert first.cursor == {"validity": "1", "uid": 9}
    assert not look(packs, port, first.cursor).archives, "nothing new, though `10:*` names the last message"
    folder.mails[12] = message(12, "New.\n").as_bytes()
    folder.fetched.clear()
    then = look(packs, port, first.cursor)
    assert (folder.fetched, kept(packs, then), then.cursor["uid"]) == ([12], [folder.mails[12]], 12)
    folder.validity = 2
    assert len(kept(packs, look(packs, port, then.cursor))) == 4, "the folder was made anew"


def test_imap_says_what_is_wrong(packs: Packs, port: int) -> None:
    with pytest.raises(SourceRefused, match="refused"):
        look(packs, port, {}, password="another")
    with pytest.raises(SourceRefused, match="no folder 'Nowhere'"):
        look(packs, port, {}, box="Nowhere")
    with pytest.raises(SourceRefused, match="imaps://user@host/folder"):
        look_at_imap(packs, TENANT, "imap://127.0.0.1/x", {}, "x")


def test_a_server_that_is_gone_is_tried_again(packs: Packs, folder: ImapFolder) -> None:
    with imap_server(folder) as gone:
        pass
    with pytest.raises(SourceUnreachable, match="did not answer"):
        look(packs, gone, {})


def test_a_mailbox_that_breaks_off_is_tried_again_and_loses_nothing(packs: Packs, folder: ImapFolder) -> None:
    folder.mails = {n: message(n, f"Text {n}.\n").as_bytes() for n in range(1, 131)}
    for how in ("break off", "refuse"):
        folder.at_fetch_of, folder.then = 101, how
        with imap_server(folder) as port, pytest.raises(SourceUnreachable):
            look(packs, port, {})
    folder.at_search, folder.at_fetch_of = "refuse", None
    with imap_server(folder) as port, pytest.raises(SourceUnreachable, match="SEARCH"):
        look(packs, port, {})
    assert not list(packs.files.blobs.rglob("*/.*")), "what was fetched by then is not kept"
    folder.at_search = ""
    with imap_server(folder) as port:
        assert len(kept(packs, look(packs, port, {}))) == 130


def test_folders_and_passwords_beyond_ascii(packs: Packs, folder: ImapFolder, port: int) -> None:
    folder.name, folder.password = "Entw&APw-rfe &- mehr", "ein Paßwort"
    found = look(packs, port, {}, password="ein Paßwort", box="Entw%C3%BCrfe%20%26%20mehr")
    assert len(kept(packs, found)) == 3
    with pytest.raises(SourceRefused, match="imaps://user@host/folder"):
        look(packs, port, {}, box="a%0D%0Ab")


@pytest.fixture
def archive(tmp_path: Path) -> WebArchive:
    mails = [message(n, f"Text {n}.\n" * 50) for n in range(1, 6)]
    return WebArchive(write_mbox(tmp_path / "a.mbox", mails).read_bytes())


def test_a_download_that_breaks_off_is_not_taken_for_the_archive(
    packs: Packs, archive: WebArchive, tmp_path: Path
) -> None:
    with web_server(archive) as url:
        for archive.ends in ("early", "early, in chunks", "before it begins"):
            with pytest.raises(SourceUnreachable):
                remote.look_at_web(packs, TENANT, url, {}, tmp_path / "beside")
        assert not packs.files.blobs.exists()
        archive.ends = "well"
        assert len(kept(packs, remote.look_at_web(packs, TENANT, url, {}, tmp_path / "beside"))) == 5


def test_an_archive_on_the_web_that_has_grown_is_read_from_its_old_end(
    packs: Packs, archive: WebArchive, tmp_path: Path
) -> None:
    beside = tmp_path / "beside"
    with web_server(archive) as url:
        first = remote.look_at_web(packs, TENANT, url, {}, beside)
        archive.content += write_mbox(tmp_path / "b.mbox", [message(9, "New.\n")]).read_bytes()
        (beside / "left by a look that was killed").write_text("words")
        then = remote.look_at_web(packs, TENANT, url, first.cursor, beside)
        assert [one.continues for one in then.archives] == [first.archives[0].kept.archive_id]
        assert [b"New." in one for one in kept(packs, then)] == [True]
        archive.content = archive.content[2000:]
        shrunk = remote.look_at_web(packs, TENANT, url, then.cursor, beside)
        assert [one.continues for one in shrunk.archives] == [None], "another archive: read from its beginning"
        assert not list(beside.iterdir())


def test_an_address_is_sent_as_browsers_do(packs: Packs, archive: WebArchive, tmp_path: Path) -> None:
    with web_server(archive) as url:
        for name in ("a b.mbox", "Entwürfe.mbox", "a%20b.mbox"):
            remote.look_at_web(packs, TENANT, f"{url}/{name}", {}, tmp_path / "beside")
    assert [one.rsplit("/")[-1] for one in archive.asked] == ["a%20b.mbox", "Entw%C3%BCrfe.mbox", "a%20b.mbox"]
    for wrong in ("http://127.0.0.1:port/a.mbox", "http:///a.mbox"):
        with pytest.raises(SourceRefused):
            remote.look_at_web(packs, TENANT, wrong, {}, tmp_path / "beside")


def test_what_rsync_brought_is_not_kept_twice(packs: Packs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("rsync") is None:
        pytest.skip("rsync is not installed (Debian: apt-get install rsync), so nothing is fetched by it")
    there, beside, shell = tmp_path / "there", tmp_path / "beside", tmp_path / "shell"
    there.mkdir()
    shell.write_text('#!/bin/sh\nshift\nexec "$@"\n')
    shell.chmod(0o755)
    monkeypatch.setenv("RSYNC_RSH", str(shell))
    place = f"list.example.org:{there}/"
    write_mbox(there / "2024-01.mbox", [message(1, "One.\n")])
    first = remote.look_by_rsync(packs, TENANT, place, {}, beside)
    hollow_out(beside, first.cursor)
    assert not (beside / "2024-01.mbox").read_bytes().strip(b"\0")
    assert not remote.look_by_rsync(packs, TENANT, place, first.cursor, beside).archives
    write_mbox(there / "2024-01.mbox", [message(2, "Two.\n")])
    then = remote.look_by_rsync(packs, TENANT, place, first.cursor, beside)
    assert [b"Two." in one for one in kept(packs, then)] == [True], "only what was added"
    hollow_out(beside, then.cursor)
    again = remote.look_by_rsync(packs, TENANT, place, {}, beside)
    [whole] = again.archives
    assert whole.kept.kept == (there / "2024-01.mbox").stat().st_size, "with an older cursor, all of it comes again"


def test_a_mail_that_was_still_being_written_is_read_again(packs: Packs, tmp_path: Path) -> None:
    whole = message(1, "The whole text.\n" * 20).as_bytes()
    mail = tmp_path / "mails" / "1.eml"
    mail.parent.mkdir()
    mail.write_bytes(whole[:300])
    first = look_at_folder(packs, TENANT, mail.parent, {}, "mails")
    mail.write_bytes(whole)
    then = look_at_folder(packs, TENANT, mail.parent, first.cursor, "mails")
    assert kept(packs, then) == [whole]
    assert not look_at_folder(packs, TENANT, mail.parent, then.cursor, "mails").archives


def test_rsync_brings_what_is_new(packs: Packs, tmp_path: Path) -> None:
    program = shutil.which("rsync")
    if program is None:
        pytest.skip("rsync is not installed (Debian: apt-get install rsync), so nothing is fetched by it")
    there, beside = tmp_path / "there", tmp_path / "beside"
    there.mkdir()
    write_mbox(there / "2024-01.mbox", [message(1, "One.\n")])
    # As rsync asks a remote machine: over a shell, which here is this machine's own.
    shell = tmp_path / "shell"
    shell.write_text('#!/bin/sh\nshift\nexec "$@"\n')
    shell.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RSYNC_RSH", str(shell))
        place = f"list.example.org:{there}/"
        first = remote.look_by_rsync(packs, TENANT, place, {}, beside)
        assert [b"One." in one for one in kept(packs, first)] == [True]
        assert not remote.look_by_rsync(packs, TENANT, place, first.cursor, beside).archives
        write_mbox(there / "2024-02.mbox", [message(2, "Two.\n")])
        then = remote.look_by_rsync(packs, TENANT, place, first.cursor, beside)
        assert [b"Two." in one for one in kept(packs, then)] == [True]
        with pytest.raises(SourceUnreachable, match="failed"):
            remote.look_by_rsync(packs, TENANT, f"list.example.org:{there}/none/", {}, tmp_path / "other")


def test_without_rsync_the_remedy_is_told(packs: Packs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(SourceRefused, match="rsync is not installed"):
        remote.look_by_rsync(packs, TENANT, "rsync://example.org/x/", {}, tmp_path / "x")
    assert not (tmp_path / "x").exists()
