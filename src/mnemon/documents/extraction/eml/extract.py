"""Mails: who wrote what to whom and when, the text with its quotations, and the names of what is attached."""

from email import message_from_bytes
from email.message import Message
from email.policy import compat32

from mnemon.documents.extraction.eml.headers import Address, addresses, header, sent_at
from mnemon.documents.extraction.eml.parts import Attachment, Forwarded, TextPart, parts_of
from mnemon.documents.extraction.html.extract import write_page
from mnemon.documents.extraction.html.tree import parse
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.writing import TextWriter
from mnemon.documents.ingest.content import Details, Extraction
from mnemon.documents.structure.lines import lines_of
from mnemon.documents.structure.mail import mail_blocks

VERSION = "eml/1"

SHOWN = ("From", "To", "Cc", "Date", "Subject")
KEPT = ("Message-ID", "In-Reply-To", "References", "List-Id", "From", "To", "Cc", "Subject")
DEEPEST = 5


def extract_eml(content: bytes, limits: Limits) -> Extraction:
    # The newer policies raise on malformed headers; this one gives them as they are, to be decoded with care.
    message = message_from_bytes(content, policy=compat32)
    writer = TextWriter(limits)
    attachments = write_mail(message, writer, limits)
    return Extraction(writer.text, writer.blocks, details_of(message, attachments), VERSION)


def write_mail(message: Message, writer: TextWriter, limits: Limits, depth: int = 0) -> list[Attachment]:
    """Write headers and text of a mail, and give what is attached to it."""
    shown = [f"{name}: {words}" for name in SHOWN if (words := header(message, name))]
    writer.block("header", "\n".join(shown))
    senders = addresses(message, "From", "Sender")
    sender = _name(senders[0]) if senders else None
    attachments: list[Attachment] = []
    for part in parts_of(message):
        match part:
            case TextPart(text, True):
                write_page(parse(text), writer, mail=True, speaker=sender)
            case TextPart(text, _, flowed):
                plain = _unflowed(text) if flowed else text
                writer.verbatim(plain, mail_blocks(lines_of(plain), sender))
            case Forwarded(inner) if depth < DEEPEST:
                attachments += _write_forwarded(inner, writer, limits, depth)
            case Attachment():
                attachments.append(part)
    return attachments


def _write_forwarded(message: Message, writer: TextWriter, limits: Limits, depth: int) -> list[Attachment]:
    """A mail inside a mail is quoted whole, in the name of its writer."""
    inner = TextWriter(limits)
    attachments = write_mail(message, inner, limits, depth + 1)
    senders = addresses(message, "From")
    writer.block("quote", inner.text, speaker=_name(senders[0]) if senders else None)
    return attachments


def _unflowed(text: str) -> str:
    """Lines that end in a space go on in the next one, as `format=flowed` has it; quotations stay as they are."""
    lines: list[str] = []
    open_line = False
    for line in text.split("\n"):
        quoted = line.startswith(">")
        words = line[1:] if line.startswith(" ") and not quoted else line
        if open_line and not quoted:
            lines[-1] += words
        else:
            lines.append(words)
        open_line = words.endswith(" ") and not quoted and words != "-- "
    return "\n".join(lines)


def details_of(message: Message, attachments: list[Attachment]) -> Details:
    more = {name.lower().replace("-", "_"): words for name in KEPT if (words := header(message, name))}
    if attachments:
        more["attachments"] = "\n".join(f"{one.name} ({one.media_type}, {one.size} bytes)" for one in attachments)
    people = dict.fromkeys(_name(one) for one in addresses(message, "From", "To", "Cc"))
    return Details(
        title=more.get("subject"),
        authors=[_name(one) for one in addresses(message, "From")],
        participants=list(people),
        written_at=sent_at(message),
        language=header(message, "Content-Language"),
        more=more,
    )


def _name(address: Address) -> str:
    return address[0] or address[1]
