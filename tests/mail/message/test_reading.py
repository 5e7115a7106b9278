"""A message is read whatever state it is in, and its copies are known to be one."""

import random
from datetime import UTC, datetime

import pytest

from mnemon.mail.archives.mbox import split_archive
from mnemon.mail.archives.opening import ArchiveStream
from mnemon.mail.archives.ranges import ArchivedMessage
from mnemon.mail.message.headers import read_headers
from mnemon.mail.message.message import MailAddress
from mnemon.mail.message.reading import read_archived, read_message
from tests.mail.eval_data import FOLDER, needs_mail

PLAIN = b"""\
Received: from b by c; Mon, 02 Jan 2023 10:00:05 +0000
Received: from a by b; Mon, 02 Jan 2023 10:00:01 +0000
From: =?utf-8?q?Herv=C3=A9?= BOUTEMY <Herve@Example.org>
To: dev@maven.example, "Berg, Anna" <anna@example.org>
Cc: ben@example.org
Subject: Re: [VOTE] Release =?iso-8859-1?q?=FCber?=
 1.0
Message-ID: <1@example.org>
In-Reply-To: <0@example.org>
References: <root@example.org>
 <0@example.org>
List-Id: "Maven Developers" <dev.maven.example>
Date: Mon, 02 Jan 2023 11:00:00 +0100

+1, see draft-ietf-quic-transport-34 and RFC 9000.
"""


def test_the_fields_of_a_message() -> None:
    message = read_message(PLAIN)
    assert message.sender == MailAddress("Hervé BOUTEMY", "herve@example.org")
    assert message.to == (MailAddress("", "dev@maven.example"), MailAddress("Berg, Anna", "anna@example.org"))
    assert [one.email for one in message.cc] == ["ben@example.org"]
    assert message.subject == "Re: [VOTE] Release über 1.0"
    assert message.message_id == "<1@example.org>"
    assert message.in_reply_to == "<0@example.org>"
    assert message.references == ("<root@example.org>", "<0@example.org>")
    assert (message.date, message.date_source) == (datetime(2023, 1, 2, 10, tzinfo=UTC), "date")
    assert message.list_id == "dev.maven.example"
    assert message.draft_mentions == ("draft-ietf-quic-transport-34", "rfc9000")
    draft, rfc = message.mentions
    assert message.text[draft.start : draft.end] == draft.name
    assert (draft.document, draft.version) == ("draft-ietf-quic-transport", "34")
    assert rfc.url == "https://datatracker.ietf.org/doc/rfc9000/"
    assert not message.defects


def test_a_date_is_taken_from_date_then_received_then_the_separator() -> None:
    undated = PLAIN.replace(b"Date: Mon, 02 Jan 2023 11:00:00 +0100\n", b"Date: whenever\n")
    assert read_message(undated).date == datetime(2023, 1, 2, 10, 0, 1, tzinfo=UTC)
    bare = b"\n".join(line for line in undated.split(b"\n") if not line.startswith(b"Received"))
    stamped = read_message(bare, b"From a at b.example  Sat Jul 19 02:18:24 2008")
    assert (stamped.date, stamped.date_source) == (datetime(2008, 7, 19, 2, 18, 24, tzinfo=UTC), "separator")
    assert read_message(bare, b"From mboxrd@z Thu Jan  1 00:00:00 1970").date is None
    # What way a copy came does not make it another message.
    assert read_message(undated).key == stamped.key


def test_an_address_that_an_archive_hides() -> None:
    message = read_message(b"From: brett at python.org (Brett Cannon)\nSubject: x\n\nHello\n")
    assert message.sender == MailAddress("Brett Cannon", "brett@python.org")


def test_copies_without_an_id_are_one_message() -> None:
    content = b"From: a@b.example\nSubject: x\nDate: Mon, 02 Jan 2023 11:00:00 +0100\n\nHello\n"
    first, second = read_message(content), read_message(b"Received: from here\n" + content)
    assert first.message_id == second.message_id
    assert not first.has_own_id
    assert first.key == second.key
    assert read_message(content.replace(b"Hello", b"Hullo")).key != first.key


def test_the_same_id_on_another_message_is_another_message() -> None:
    assert read_message(PLAIN).key != read_message(PLAIN.replace(b"ber?=", b"nter?=")).key


MULTIPART = b"""\
From: a@b.example
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="xx"

--xx
Content-Type: multipart/alternative; boundary=yy

--yy
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: base64

R3LDvMOfZSBhdXMgS8O2bG4u

--yy
Content-Type: text/html

<p>Gr&uuml;&szlig;e aus K&ouml;ln.</p>
--yy--
--xx
Content-Type: text/x-patch; name="fix.patch"
Content-Disposition: attachment; filename*=utf-8''f%C3%BCr.patch

--- a
+++ b
--xx
Content-Type: application/pdf; name=a.pdf
Content-Transfer-Encoding: base64

JVBERg==
--xx--
"""


def test_the_plain_text_is_read_and_attachments_are_told() -> None:
    message = read_message(MULTIPART)
    assert message.text == "Grüße aus Köln."
    patch, pdf = message.attachments
    assert (patch.name, patch.media_type, patch.text) == ("für.patch", "text/x-patch", "--- a\n+++ b")
    assert (pdf.name, pdf.size, pdf.text) == ("a.pdf", 4, None)


def test_html_alone_becomes_text_and_its_blockquotes_are_quoted() -> None:
    page = b"<p>Agreed.</p><blockquote><p>Shall we ship?</p></blockquote>"
    message = read_message(b"From: a@b.example\nContent-Type: text/html\n\n" + page)
    assert message.from_html
    assert [(one.label, message.text[one.start : one.end].strip()) for one in message.spans] == [
        ("new", "Agreed."),
        ("quote", "Shall we ship?"),
    ]


def test_a_mail_within_a_mail_is_forwarded() -> None:
    content = (
        b"From: a@b.example\nContent-Type: multipart/mixed; boundary=z\n\n--z\n\nSee below.\n--z\n"
        b"Content-Type: message/rfc822\n\nFrom: c@d.example\nSubject: Old\n\nThe old text.\n--z--\n"
    )
    message = read_message(content)
    assert [one.label for one in message.spans] == ["new", "forwarded"]
    assert "From: c@d.example" in message.text
    assert message.text.endswith("The old text.")


@pytest.mark.parametrize(
    ("charset", "body", "text"),
    [
        (b"koi8-r", "Привет".encode("koi8-r"), "Привет"),
        (b"iso-2022-jp", "こんにちは".encode("iso-2022-jp"), "こんにちは"),
        (b"no-such-charset", "Grüße".encode(), "Grüße"),
        (b"us-ascii", "Grüße".encode("latin-1"), "Grüße"),
    ],
)
def test_charsets_that_are_told_or_not(charset: bytes, body: bytes, text: str) -> None:
    head = b"From: a@b.example\nContent-Type: text/plain; charset=" + charset + b"\n\n"
    assert read_message(head + body).text == text


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"Hello, no headers here.\n",
        b"Subject: x\nThis is the body already.\n",
        b"Content-Type: multipart/mixed; boundary=a\n\nno parts\n",
        b"Content-Type: multipart/mixed; boundary=a\n\n--a\n\ntext\n",
        b"Content-Transfer-Encoding: base64\n\n!!!not base64\n",
        b"Subject: =?utf-8?b?broken\nFrom: <<<>>>@\nTo: ((((\nDate: 99 Foo 99999 99:99\n\nx",
        b"A:" * 200_000,
        b"Subject: x\n" * 5_000 + b"\nbody",
        b"Content-Type: " + b"multipart/mixed;boundary=a\n\n--a\nContent-Type: " * 200,
        b"\xff\xfe\x00" * 100,
    ],
)
def test_whatever_the_bytes_are_there_is_a_message(content: bytes) -> None:
    message = read_message(content)
    assert message.message_id
    assert "".join(message.text[one.start : one.end] for one in message.spans) == message.text


def test_a_body_without_a_blank_line_is_not_lost() -> None:
    message = read_message(b"Subject: x\nFrom: a@b.example\nThis is the body already.\nMore of it.\n")
    assert message.text == "This is the body already.\nMore of it."
    assert message.defects


def test_null_bytes_in_headers_are_left_out() -> None:
    """No database takes one: the whole archive would be lost for it."""
    message = read_message(
        PLAIN.replace(b"example.org>", b"ex\0ample.org>").replace(b"maven.example>", b"mav\0en.example>")
    )
    assert (message.message_id, message.list_id) == ("<1@example.org>", "dev.maven.example")
    assert message.references == ("<root@example.org>", "<0@example.org>")
    assert message.sender.email == "herve@example.org"


def test_damaged_messages_never_raise() -> None:
    chance = random.Random(11)
    for content in (PLAIN, MULTIPART):
        for _ in range(400):
            damaged = bytearray(content)
            for _ in range(chance.randrange(1, 20)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            message = read_message(bytes(damaged[: chance.randrange(1, len(damaged))]))
            message.text.encode()
            assert "\0" not in message.text + message.subject + message.message_id


@needs_mail
def test_malformed_mail_of_others_is_read() -> None:
    for file in sorted((FOLDER / "malformed").iterdir()):
        message = read_message(file.read_bytes())
        message.text.encode()
        assert "".join(message.text[one.start : one.end] for one in message.spans) == message.text


@needs_mail
def test_three_copies_of_a_month_are_one_month() -> None:
    keys: list[set[str]] = []
    for file in sorted((FOLDER / "maven-dev").glob("*.mbox")):
        with ArchiveStream(file) as stream:
            found = [one for one in split_archive(stream) if isinstance(one, ArchivedMessage)]
        keys.append({read_archived(one).key for one in found})
    assert [len(one) for one in keys] == [317, 317, 317]
    assert len(set.union(*keys)) == 317


def test_of_repeated_headers_the_first_is_read_and_all_are_listed() -> None:
    headers, _ = read_headers(b"To: a@example.org\nSubject: one\nTO: b@example.org\n c@example.org\nsubject: two\n\n")
    assert headers.text("subject") == "one"
    assert headers.every("to") == ["a@example.org", "b@example.org c@example.org"]
    assert "to" in headers and "cc" not in headers and headers.every("cc") == []


def test_a_first_line_that_goes_on_with_nothing_is_no_header() -> None:
    headers, _ = read_headers(b" folded\nSubject: one\n\nText\n")
    assert headers.text("subject") == "one"
