"""The parts of a message: one text to be read, and what is attached. Nothing of it is trusted, nothing raises."""

import base64
import binascii
import hashlib
import quopri
import re
from dataclasses import dataclass, field
from email.message import Message

from mnemon.documents.extraction.decoding import decode
from mnemon.documents.extraction.eml.headers import decoded
from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.html.extract import write_page
from mnemon.documents.extraction.html.tree import parse
from mnemon.documents.extraction.hygiene import one_line
from mnemon.documents.extraction.limits import DEFAULT_LIMITS
from mnemon.documents.extraction.writing import TextWriter
from mnemon.mail.message.headers import MailHeaders, read_headers
from mnemon.mail.message.message import MailAttachment

DEEPEST = 12
MOST_PARTS = 500
LONGEST_TEXT = 4_000_000
LONGEST_ATTACHED_TEXT = 200_000
MOST_ATTACHMENTS = 100
# Shorter than this part of its HTML twin, a plain text only says "please turn on HTML".
EMPTY_TWIN, SHORT_STAND_IN = 0.1, 400
PARAMETER = re.compile(r';\s*([\w*-]{1,50})\s*=\s*("(?:[^"\\]|\\.){0,500}"|[^;\s]{1,500})', re.ASCII)
CONTROLS = bytes([*range(9), 11, 12, *range(14, 32), 127])
NO_BASE64 = re.compile(rb"[^A-Za-z0-9+/]")


@dataclass(slots=True)
class MailText:
    """A text that is shown. `quotes` are ranges that its HTML marks as quoted; `forwarded`, that it is another's."""

    text: str
    is_html: bool = False
    quotes: list[tuple[int, int]] = field(default_factory=list)
    forwarded: bool = False


@dataclass(slots=True)
class MailContent:
    """What a message holds, in order."""

    pieces: list[MailText] = field(default_factory=list)
    attachments: list[MailAttachment] = field(default_factory=list)
    defects: list[str] = field(default_factory=list)
    parts: int = 0
    # What is attached, byte for byte, where somebody wants it: an import only lists it.
    attached: list[bytes] | None = None


@dataclass(frozen=True, slots=True)
class _Part:
    headers: MailHeaders
    body: bytes
    media_type: str
    parameters: dict[str, str]

    @property
    def disposition(self) -> str:
        return self.headers.raw("content-disposition").lstrip().lower()

    def decoded(self) -> bytes:
        return _transfer_decoded(self.body, self.headers.raw("content-transfer-encoding").strip().lower())

    def text(self) -> str:
        content = self.decoded()[: LONGEST_TEXT * 4]
        if content.isascii() and _is_plain(content):
            # Most mail: nothing in it needs to be looked at twice.
            return content.replace(b"\r\n", b"\n").decode("ascii")[:LONGEST_TEXT]
        return decode(content, self.parameters.get("charset"))[:LONGEST_TEXT]


def _is_plain(content: bytes) -> bool:
    """Whether nothing but letters, tabs and whole line ends stands in it; counted, since searching takes ten times."""
    returns = content.count(b"\r")
    return len(content.translate(None, CONTROLS)) == len(content) and returns == (returns and content.count(b"\r\n"))


def read_content(headers: MailHeaders, body: bytes) -> MailContent:
    content = MailContent()
    _read(_part(headers, body), content, 0)
    return content


def attachments_in(headers: MailHeaders, body: bytes) -> list[tuple[MailAttachment, bytes]]:
    """What is attached, in the order in which it is listed, with its bytes."""
    content = MailContent(attached=[])
    _read(_part(headers, body), content, 0)
    return list(zip(content.attachments, content.attached or (), strict=True))


def _part(headers: MailHeaders, body: bytes, default: str = "text/plain") -> _Part:
    raw = headers.raw("content-type")
    kind = raw.partition(";")[0].strip().lower()
    parameters = {name.lower(): _unquoted(value) for name, value in PARAMETER.findall(raw)}
    return _Part(headers, body, kind if "/" in kind else default, parameters)


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value[:1] == '"' else value


def _read(part: _Part, content: MailContent, depth: int) -> None:
    content.parts += 1
    if content.parts > MOST_PARTS or depth > DEEPEST:
        if "too many parts" not in content.defects:
            content.defects.append("too many parts")
        return
    if part.media_type.startswith("multipart/"):
        _read_multipart(part, content, depth)
    elif part.media_type == "message/rfc822" and not part.disposition.startswith("attachment"):
        _read_forwarded(part, content, depth)
    else:
        _read_leaf(part, content)


def _read_multipart(part: _Part, content: MailContent, depth: int) -> None:
    default = "message/rfc822" if part.media_type == "multipart/digest" else "text/plain"
    children = [_part(*_split_head(raw), default) for raw in _between_boundaries(part, content)]
    if not children:
        content.defects.append("a multipart without its parts")
        content.pieces.append(MailText(part.text()))
        return
    if part.media_type == "multipart/alternative":
        children = _chosen(children)
    elif part.media_type == "multipart/signed":
        children = [one for one in children if not one.media_type.endswith("-signature")] or children
    for child in children:
        _read(child, content, depth + 1)


def _split_head(raw: bytes) -> tuple[MailHeaders, bytes]:
    if raw[:1] in (b"\n", b"\r"):
        return MailHeaders([], []), raw.lstrip(b"\r\n")
    headers, body = read_headers(raw)
    return headers, raw[body:]


def _between_boundaries(part: _Part, content: MailContent) -> list[bytes]:
    boundary = part.parameters.get("boundary", "").strip().encode("latin-1", "replace")
    if not boundary:
        return []
    line = re.compile(rb"^--" + re.escape(boundary) + rb"(--)?[ \t]*\r?$\n?", re.MULTILINE)
    pieces: list[bytes] = []
    start: int | None = None
    for found in line.finditer(part.body):
        if start is not None:
            pieces.append(_without_line_end(part.body[start : found.start()]))
        start = None if found[1] else found.end()
        if len(pieces) > MOST_PARTS:
            return pieces
    if start is not None and start < len(part.body):
        content.defects.append("a multipart without its end")
        pieces.append(part.body[start:])
    return pieces


def _without_line_end(raw: bytes) -> bytes:
    return raw[:-2] if raw.endswith(b"\r\n") else raw.removesuffix(b"\n")


def _chosen(forms: list[_Part]) -> list[_Part]:
    """The plain text, unless it only stands in for another form; what is no text is kept beside it."""
    plain = [one for one in forms if one.media_type == "text/plain"]
    rich = [one for one in forms if one.media_type == "text/html" or one.media_type.startswith("multipart/")]
    others = [one for one in forms if not one.media_type.startswith(("text/", "multipart/"))]
    if rich and (not plain or _is_stand_in(plain[0], rich[-1])):
        return [rich[-1], *others]
    return [*plain[:1], *others] if plain else forms


def _is_stand_in(plain: _Part, rich: _Part) -> bool:
    words = len(plain.text().strip())
    if rich.media_type != "text/html" or words > SHORT_STAND_IN:
        return False
    return words < EMPTY_TWIN * parse(rich.text()).letters[-1] or words == 0


def _read_forwarded(part: _Part, content: MailContent, depth: int) -> None:
    """A mail within a mail is told with the headers that say whose it is."""
    headers, body = _split_head(part.decoded())
    inner = MailContent(parts=content.parts, attached=content.attached)
    _read(_part(headers, body), inner, depth + 1)
    content.parts = inner.parts
    shown = [f"{name}: {words}" for name in ("From", "Date", "Subject") if (words := headers.text(name.lower()))]
    text = "\n\n".join(filter(None, ["\n".join(shown), *(one.text.strip() for one in inner.pieces)]))
    if text:
        content.pieces.append(MailText(text, forwarded=True))
    content.attachments += inner.attachments
    content.defects += inner.defects


def _read_leaf(part: _Part, content: MailContent) -> None:
    name = _filename(part)
    is_text = part.media_type in ("text/plain", "text/html") or part.media_type.partition("/")[0] not in (
        "application", "image", "audio", "video", "font", "model", "message", "text",
    )  # fmt: skip
    if part.disposition.startswith("attachment") or (name and part.media_type != "text/plain") or not is_text:
        if len(content.attachments) < MOST_ATTACHMENTS:
            content.attachments.append(_attachment(part, name))
            if content.attached is not None:
                content.attached.append(part.decoded())
        return
    content.pieces.append(_html(part.text()) if part.media_type == "text/html" else MailText(part.text()))


def _html(page: str) -> MailText:
    """What a reader of the page sees; blockquotes are what it quotes."""
    writer = TextWriter(DEFAULT_LIMITS)
    try:
        write_page(parse(page), writer, mail=True)
    except (ExtractionFailed, RecursionError, ValueError):
        return MailText(re.sub(r"<[^<>]{0,2000}>", " ", page)[:LONGEST_TEXT], is_html=True)
    return MailText(writer.text, True, [(one.start, one.end) for one in writer.blocks if one.kind == "quote"])


def _attachment(part: _Part, name: str | None) -> MailAttachment:
    content = part.decoded()
    kept = part.media_type.startswith("text/") and len(content) <= LONGEST_ATTACHED_TEXT
    text = decode(content, part.parameters.get("charset")) if kept else None
    digest = hashlib.sha256(content).hexdigest()
    return MailAttachment(name or "unnamed", part.media_type[:100], len(content), f"sha256:{digest}", text)


def _filename(part: _Part) -> str | None:
    disposition, kind = part.headers.raw("content-disposition"), part.headers.raw("content-type")
    if "name" not in disposition and "name" not in kind:
        return None
    holder = Message()
    try:
        holder["Content-Disposition"] = disposition[:2000] or "inline"
        holder["Content-Type"] = kind[:2000]
        name = holder.get_filename()
        return one_line(decoded(name), 255) if name else None
    except Exception:
        # The parser of the standard library raises many things on foreign parameters.
        return None


def _transfer_decoded(body: bytes, encoding: str) -> bytes:
    if encoding == "base64":
        letters = NO_BASE64.sub(b"", body)
        if len(letters) % 4 == 1:
            letters = letters[:-1]
        try:
            return base64.b64decode(letters + b"=" * (-len(letters) % 4))
        except (binascii.Error, ValueError):
            return body
    if encoding == "quoted-printable":
        try:
            return quopri.decodestring(body)
        except (binascii.Error, ValueError):
            return body
    return body
