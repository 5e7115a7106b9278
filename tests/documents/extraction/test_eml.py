"""A mail becomes its headers, its text with quotations told apart, and the names of what is attached."""

from datetime import datetime, timedelta, timezone
from email.message import EmailMessage

import pytest

from mnemon.documents.extraction.eml.extract import extract_eml
from mnemon.documents.extraction.limits import DEFAULT_LIMITS
from mnemon.documents.ingest.content import Extraction

REPLY = """Hello Ben,

the release moves to March.

On Mon, 2 Mar 2026 at 10:32, Ben Ito <ben@example.org> wrote:
> When do we ship?
>
> Ben

--\x20
Anna
"""


def mail(body: str = REPLY, **headers: str) -> EmailMessage:
    message = EmailMessage()
    defaults = {
        "From": "Anna Berg <anna@example.org>",
        "To": "Ben Ito <ben@example.org>, cleo@example.org",
        "Date": "Mon, 02 Mar 2026 11:00:00 +0100",
        "Subject": "Release – März",
        "Message-ID": "<1@example.org>",
    }
    for name, value in (defaults | headers).items():
        message[name] = value
    message.set_content(body)
    return message


def read(message: EmailMessage | bytes) -> Extraction:
    return extract_eml(message if isinstance(message, bytes) else message.as_bytes(), DEFAULT_LIMITS)


def blocks(extraction: Extraction) -> list[tuple[str, str | None, str]]:
    return [(one.kind, one.speaker, extraction.text[one.start : one.end]) for one in extraction.blocks]


def test_headers_text_and_quotation_are_told_apart() -> None:
    assert blocks(read(mail())) == [
        (
            "header",
            None,
            "From: Anna Berg <anna@example.org>\nTo: Ben Ito <ben@example.org>, cleo@example.org\n"
            "Date: Mon, 02 Mar 2026 11:00:00 +0100\nSubject: Release – März",
        ),
        ("paragraph", "Anna Berg", "Hello Ben,"),
        ("paragraph", "Anna Berg", "the release moves to March."),
        (
            "quote",
            "Ben Ito",
            "On Mon, 2 Mar 2026 at 10:32, Ben Ito <ben@example.org> wrote:\n> When do we ship?\n>\n> Ben",
        ),
        ("paragraph", "Anna Berg", "-- \nAnna"),
    ]


def test_who_wrote_to_whom_and_when_is_kept() -> None:
    details = read(mail()).details
    assert details.title == "Release – März"
    assert details.authors == ["Anna Berg"]
    assert details.participants == ["Anna Berg", "Ben Ito", "cleo@example.org"]
    assert details.written_at == datetime(2026, 3, 2, 11, tzinfo=timezone(timedelta(hours=1)))
    assert details.written_at.utcoffset() == timedelta(hours=1)
    assert details.more["message_id"] == "<1@example.org>"


def test_outlook_quotations_reach_to_the_end_and_name_their_writer() -> None:
    body = "Fine.\n\n-----Original Message-----\nFrom: Ben Ito [mailto:ben@example.org]\nSent: Monday\n\nWhen?\n"
    *_, (kind, speaker, words) = blocks(read(mail(body)))
    assert (kind, speaker) == ("quote", "Ben Ito")
    assert words.endswith("When?")


def test_headers_told_within_a_text_are_no_quotation() -> None:
    body = "What I sent:\nMessage-ID: <2@example.org>\nFrom: Anna <anna@example.org>\nTo: Ben\n\nAnd more.\n"
    assert "quote" not in {kind for kind, _, _ in blocks(read(mail(body)))}


def test_html_is_read_only_where_there_is_no_plain_text_worth_it() -> None:
    both = mail("The plain text of this mail.")
    both.add_alternative("<p>The rich text.</p>", subtype="html")
    assert "plain text" in read(both).text
    assert "rich text" not in read(both).text
    stand_in = mail("Turn on HTML.")
    stand_in.add_alternative(f"<p>{'The rich text. ' * 30}</p><style>p {{}}</style>", subtype="html")
    assert "The rich text." in read(stand_in).text
    only = mail()
    only.set_content("<table><tr><td><p>Only rich.</p></td></tr></table>", subtype="html")
    assert read(only).text.endswith("Only rich.")


def test_attachments_are_named_and_forwarded_mails_quoted() -> None:
    message = mail("See below.")
    message.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="Vertrag März.pdf")
    message.add_attachment(mail("The inner text.", Subject="Inner", From="Cleo <cleo@example.org>"))
    found = read(message)
    assert found.details.more["attachments"].startswith("Vertrag März.pdf (application/pdf,")
    kind, speaker, words = blocks(found)[-1]
    assert (kind, speaker) == ("quote", "Cleo")
    assert "Subject: Inner" in words
    assert "The inner text." in words


def test_flowed_lines_are_joined() -> None:
    raw = b"From: a@example.org\nContent-Type: text/plain; format=flowed\n\nOne sentence \nover lines.\nNext.\n"
    assert read(raw).text.endswith("One sentence over lines.\nNext.")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"Subject: Fr\xf6sche\n\nbody", "Subject: Frösche\n\nbody"),
        (b"Subject: =?iso-8859-1?Q?Fr\xf6sche?=\n\nbody", "Subject: Frösche\n\nbody"),
        (b"Subject: =?no-such?Q?a=F6?=\n\nbody", "Subject: aö\n\nbody"),
        (b"Subject: =?utf-8?B?broken\n\nbody", "Subject: =?utf-8?B?broken\n\nbody"),
        (b"From: anna at example.org (Anna Berg)\n\nbody", "From: anna at example.org (Anna Berg)\n\nbody"),
        (b"Content-Type: text/plain; charset=no-such\n\nGr\xfc\xdfe", "Grüße"),
        (b"Content-Type: multipart/mixed\n\nno border", "no border"),
        (b"Content-Type: multipart/mixed; boundary=x\n\n--x\n\npart\n", "part"),
        (b"Content-Transfer-Encoding: base64\n\n!!!", "!!!"),
        (b"Date: nonsense\nSubject: a\n\nb", "Date: nonsense\nSubject: a\n\nb"),
        (b"From nobody Mon Mar  2 2026\nSubject: a\n\nb", "Subject: a\n\nb"),
    ],
)
def test_malformed_mails_lose_nothing(raw, expected) -> None:
    assert read(raw).text == expected


def test_an_obfuscated_sender_is_known_by_name() -> None:
    assert read(b"From: anna at example.org (Anna Berg)\n\nbody").details.authors == ["Anna Berg"]
