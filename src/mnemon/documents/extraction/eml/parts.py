"""The parts of a mail: texts to be read, and attachments to be named."""

from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message

from mnemon.documents.extraction.decoding import decode
from mnemon.documents.extraction.eml.headers import decoded
from mnemon.documents.extraction.html.tree import parse
from mnemon.documents.extraction.hygiene import one_line

MOST_PARTS = 2_000
# Shorter than this part of its HTML twin, a plain text only says "please turn on HTML".
EMPTY_TWIN = 0.1


@dataclass(frozen=True, slots=True)
class TextPart:
    text: str
    is_html: bool = False
    flowed: bool = False


@dataclass(frozen=True, slots=True)
class Attachment:
    name: str
    media_type: str
    size: int


@dataclass(frozen=True, slots=True)
class Forwarded:
    message: Message


MailPart = TextPart | Attachment | Forwarded


def parts_of(message: Message) -> Iterator[MailPart]:
    """In order; of alternative forms of one text only the best."""
    waiting: list[Message] = [message]
    count = 0
    while waiting and count < MOST_PARTS:
        part = waiting.pop()
        count += 1
        inside = part.get_payload()
        if part.get_content_maintype() == "message" and isinstance(inside, list) and inside:
            yield from (Forwarded(one) for one in inside if isinstance(one, Message))
        elif isinstance(inside, list):
            children = [one for one in inside if isinstance(one, Message)]
            is_choice = part.get_content_subtype() == "alternative"
            waiting.extend(reversed(_chosen(children) if is_choice else children))
        else:
            yield _leaf(part)


def _chosen(forms: list[Message]) -> list[Message]:
    """Plain text before HTML, unless it is only a stand-in for it; what is neither is kept beside it."""
    plain = [one for one in forms if one.get_content_type() == "text/plain"]
    rich = next((one for one in forms if one.get_content_type() == "text/html" or one.is_multipart()), None)
    others = [one for one in forms if one.get_content_maintype() not in ("text", "multipart")]
    if rich is not None and (not plain or _is_stand_in(plain[0], rich)):
        plain = [rich]
    return [*plain, *others] or forms


def _is_stand_in(plain: Message, rich: Message) -> bool:
    words = len(_text(plain).strip())
    if rich.is_multipart():
        rich = next((one for one in rich.walk() if one.get_content_type() == "text/html"), rich)
    if rich.is_multipart() or words > 400:
        return False
    return words < EMPTY_TWIN * parse(_text(rich)).letters[-1]


def _leaf(part: Message) -> MailPart:
    name = _filename(part)
    kind = part.get_content_type()
    # A multipart without its border is read as the text that it is.
    is_text = part.get_content_maintype() in ("text", "multipart", "message")
    if _is_attached(part) or not is_text or (name and kind not in ("text/plain", "text/html")):
        return Attachment(name or "unnamed", kind, len(str(part.get_payload() or "")))
    flowed = str(part.get_param("format", "")).lower() == "flowed"
    return TextPart(_text(part), kind == "text/html", flowed)


def _is_attached(part: Message) -> bool:
    return str(part.get("Content-Disposition", "")).strip().lower().startswith("attachment")


def _filename(part: Message) -> str | None:
    try:
        name = part.get_filename()
    except (ValueError, LookupError, TypeError):
        return None
    return one_line(decoded(name), 255) if name else None


def _text(part: Message) -> str:
    raw = part.get_payload()
    try:
        content = part.get_payload(decode=True)
    except (ValueError, LookupError, AssertionError):
        content = None
    if not isinstance(content, bytes) or (not content and raw):
        content = str(raw or "").encode("utf-8", "surrogateescape")
    return decode(content, _charset(part))


def _charset(part: Message) -> str | None:
    try:
        return part.get_content_charset()
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
