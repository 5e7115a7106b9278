"""Folders of mail: each file is one message, under a name that stays."""

from pathlib import Path

from mnemon.mail.archives.folders import archive_files, kind_of_folder, mail_files, read_mail_file
from mnemon.mail.archives.ranges import ArchiveDefect, ArchivedMessage

MAIL = b"From: anna@example.org\n\nHello.\n"


def test_a_maildir_keeps_names_when_mails_are_read(tmp_path: Path) -> None:
    (tmp_path / "cur").mkdir()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "1.a").write_bytes(MAIL)
    (tmp_path / "cur" / "2.b:2,S").write_bytes(MAIL)
    assert kind_of_folder(tmp_path) == "maildir"
    assert [one.name for one in mail_files(tmp_path)] == ["1.a", "2.b"]
    (tmp_path / "new" / "1.a").rename(tmp_path / "cur" / "1.a:2,RS")
    assert [one.name for one in mail_files(tmp_path)] == ["1.a", "2.b"]


def test_a_folder_of_single_mails_and_one_of_archives(tmp_path: Path) -> None:
    (tmp_path / "b.eml").write_bytes(MAIL)
    (tmp_path / "a.eml").write_bytes(b" \n")
    (tmp_path / "notes.pdf").write_bytes(b"%PDF")
    assert kind_of_folder(tmp_path) == "eml-folder"
    blank, mail = (read_mail_file(one, 100) for one in mail_files(tmp_path))
    assert isinstance(blank, ArchiveDefect)
    assert isinstance(mail, ArchivedMessage)
    assert (mail.offset, mail.content) == (100, MAIL)
    archives = tmp_path / "quic"
    archives.mkdir()
    (archives / "2023-10.mbox").write_bytes(MAIL)
    assert kind_of_folder(archives) == "archives"
    assert archive_files(archives) == [archives / "2023-10.mbox"]
