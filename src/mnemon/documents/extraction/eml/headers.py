"""The headers of a mail, decoded whatever state they are in."""

import re
from datetime import UTC, datetime
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime

from mnemon.documents.extraction.decoding import decode
from mnemon.documents.extraction.hygiene import one_line

ADDRESS = re.compile(r"(?<![^\s<>,;\"'])[^\s<>,;\"']+@[^\s<>,;\"']+")
LONE_BYTE = re.compile("[\udc80-\udcff]")
# "anna at example.org (Anna Berg)", as public archives write it.
HIDDEN_ADDRESS = re.compile(
    r"(?<![^\s<>()])(?P<user>[^\s<>()]+) at (?P<host>[^\s<>()]+\.[^\s<>()]+)(?: \((?P<name>[^()]*)\))?"
)
LONGEST = 20_000
Address = tuple[str, str]


def header(message: Message, name: str) -> str | None:
    """One header as a clean line; words in any encoding, or in none that exists, are read as far as they can be."""
    found = _raw(message, name)
    return one_line(decoded(found[0]), LONGEST) if found else None


def addresses(message: Message, *names: str) -> list[Address]:
    """Names and addresses in these headers; the name is empty where none is given."""
    found: list[Address] = []
    for name in names:
        for raw in _raw(message, name):
            text = re.sub(r"\s+", " ", raw)
            found += _parsed(text) or _searched(text)
    return found


def _raw(message: Message, name: str) -> list[str]:
    """As they stand in the file: bytes that are no ASCII come as lone surrogates."""
    return [str(value)[:LONGEST] for key, value in message.raw_items() if key.lower() == name.lower()]


def _parsed(text: str) -> list[Address]:
    try:
        pairs = getaddresses([text])
    except (ValueError, IndexError, TypeError):
        return []
    return [(one_line(decoded(name)) or "", address) for name, address in pairs if "@" in address]


def _searched(text: str) -> list[Address]:
    hidden = HIDDEN_ADDRESS.finditer(text)
    return [("", address) for address in ADDRESS.findall(text)] or [
        (one_line(decoded(one["name"] or "")) or "", f"{one['user']}@{one['host']}") for one in hidden
    ]


def decoded(raw: str) -> str:
    """Encoded words decoded, raw bytes read as text of a guessed encoding."""
    if "=?" not in raw:
        return _repaired(raw)
    try:
        parts = decode_header(LONE_BYTE.sub(lambda byte: f"={ord(byte[0]) - 0xDC00:02X}", raw))
    except Exception:
        # Whatever a malformed encoded word raises (binascii, value and lookup errors), the raw text is still there.
        return _repaired(raw)
    return "".join(decode(part, charset) if isinstance(part, bytes) else _repaired(part) for part, charset in parts)


def _repaired(text: str) -> str:
    return decode(text.encode("utf-8", "surrogateescape")) if LONE_BYTE.search(text) else text


def sent_at(message: Message) -> datetime | None:
    """When it was sent by its own word, else when the last server took it; with its time zone."""
    candidates = [header(message, "Date")]
    received = header(message, "Received")
    if received and ";" in received:
        candidates.append(received.rsplit(";", 1)[1])
    for words in candidates:
        try:
            moment = parsedate_to_datetime(words or "")
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None
