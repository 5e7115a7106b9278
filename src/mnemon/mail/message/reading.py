"""Reads one message from its bytes. Never raises, whatever they are."""

import re

from mnemon.documents.extraction.hygiene import one_line
from mnemon.mail.archives.ranges import ArchivedMessage, Escaping
from mnemon.mail.message.addresses import addresses_in, sender_of
from mnemon.mail.message.dates import date_of
from mnemon.mail.message.headers import MailHeaders, read_headers
from mnemon.mail.message.ids import id_in, ids_in, made_up_id
from mnemon.mail.message.mentions import mentions_in
from mnemon.mail.message.message import MailMessage
from mnemon.mail.message.mime import MailContent, MailText, read_content
from mnemon.mail.spans.labelling import label_text
from mnemon.mail.spans.labels import LabelledSpan

ESCAPED = {"mboxrd": re.compile(rb"^>(>*From )", re.MULTILINE), "mboxo": re.compile(rb"^>(From )", re.MULTILINE)}
LIST_ID = re.compile(r"<([^<>\s]{1,200})>")
KEPT_HEADERS = (
    "list-id", "list-post", "list-archive", "archived-at", "reply-to", "x-mailer", "user-agent", "sender",
    "organization", "x-mailman-version", "precedence", "content-language", "auto-submitted",
)  # fmt: skip
LONGEST_SUBJECT = 500


def read_archived(ranged: ArchivedMessage) -> MailMessage:
    """The message that a range of an archive holds."""
    return read_message(ranged.content, ranged.separator, ranged.escaping)


def unescaped(content: bytes, escaping: Escaping) -> bytes:
    """As it was sent: without the marks before lines that look like the next message."""
    return ESCAPED[escaping].sub(rb"\1", content) if escaping != "none" and b">From " in content else content


def read_message(content: bytes, separator: bytes = b"", escaping: Escaping = "none") -> MailMessage:
    content = unescaped(content, escaping)
    headers, body = read_headers(content)
    found = read_content(headers, content[body:])
    text, marked = _joined(found)
    subject = one_line(headers.text("subject"), LONGEST_SUBJECT) or ""
    date, date_source = date_of(headers, separator)
    sender = sender_of(headers)
    own_id = id_in(headers.raw("message-id"))
    message_id = own_id or made_up_id(date if date_source == "date" else None, sender.email, subject, text)
    parent, references = _ancestors(headers, message_id)
    return MailMessage(
        message_id=message_id,
        in_reply_to=parent,
        references=references,
        subject=subject,
        sender=sender,
        to=addresses_in(headers, "to"),
        cc=addresses_in(headers, "cc"),
        date=date,
        date_source=date_source,
        list_id=_list_id(headers),
        text=text,
        spans=label_text(text, marked),
        from_html=any(one.is_html for one in found.pieces),
        attachments=tuple(found.attachments),
        mentions=mentions_in(text, subject),
        headers={name: words for name in KEPT_HEADERS if (words := headers.text(name, 300))},
        has_own_id=own_id is not None,
        defects=tuple(dict.fromkeys([*headers.defects, *found.defects])),
    )


def _joined(found: MailContent) -> tuple[str, list[LabelledSpan]]:
    """One text of all pieces, with a blank line between them, and what their form says of them."""
    texts: list[str] = []
    marked: list[LabelledSpan] = []
    at = 0
    for piece in found.pieces:
        text = piece.text.rstrip()
        if not text.strip():
            continue
        if texts:
            at += 2
        marked += _marked(piece, text, at)
        texts.append(text)
        at += len(text)
    return "\n\n".join(texts), marked


def _marked(piece: MailText, text: str, at: int) -> list[LabelledSpan]:
    if piece.forwarded:
        return [LabelledSpan("forwarded", at, at + len(text))]
    return [LabelledSpan("quote", at + start, at + min(end, len(text)), 1) for start, end in piece.quotes]


def _ancestors(headers: MailHeaders, own: str) -> tuple[str | None, tuple[str, ...]]:
    """Whom it answers, and the line of messages before that."""
    replied = [one for one in ids_in(headers.raw("in-reply-to")) if one != own]
    references = [one for one in ids_in(headers.raw("references")) if one != own]
    parent = replied[0] if replied else (references[-1] if references else None)
    return parent, tuple(references)


def _list_id(headers: MailHeaders) -> str | None:
    """The name of the list as the list gives it: dev.maven.apache.org."""
    named = LIST_ID.search(headers.raw("list-id"))
    if named:
        return named[1].lower()
    for header in ("x-mailing-list", "list-post", "x-been-there", "x-beenthere"):
        found = re.search(r"([\w.+-]{1,100})@([\w.-]{1,200})", headers.raw(header)[:500])
        if found:
            return f"{found[1]}.{found[2]}".lower()
    return None
