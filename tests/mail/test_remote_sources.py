"""Mail that is fetched by IMAP and by rsync: only what is new travels, and what goes wrong is told."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from mnemon.documents.intake.files import Files
from mnemon.mail.errors import SourceRefused, SourceUnreachable
from mnemon.mail.sources import remote
from mnemon.mail.sources.kinds import Brought
from mnemon.mail.storing.packs import Packs
from tests.mail.conftest import message, write_mbox
from tests.mail.imap_server import ImapFolder, imap_server

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
    return remote.look_at_imap(packs, TENANT, place, cursor, password)


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
        remote.look_at_imap(packs, TENANT, "imap://127.0.0.1/x", {}, "x")


def test_a_server_that_is_gone_is_tried_again(packs: Packs, folder: ImapFolder) -> None:
    with imap_server(folder) as gone:
        pass
    with pytest.raises(SourceUnreachable, match="did not answer"):
        look(packs, gone, {})


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
