"""People in headers: names and addresses, also where an archive hides them as "user at host"."""

import re
from email.utils import getaddresses
from functools import lru_cache

from mnemon.mail.message.headers import MailHeaders
from mnemon.mail.message.message import MailAddress

MOST_ADDRESSES = 500
LONGEST = 300
# Longer lines are read anew each time.
OFTEN = 1_000
SIMPLE = re.compile(r'\s*"?([^"<>@,;:()\\=]{0,200}?)"?\s*<([^<>@\s,;]{1,100}@[^<>@\s,;]{1,200})>\s*')
BARE = re.compile(r"\s*([^<>@\s,;:()\"]{1,100}@[^<>@\s,;:()\"]{1,200})\s*")
# "anna at example.org (Anna Berg)", as pipermail writes it; "anna@example.org (Anna Berg)", as old programs do.
HIDDEN = re.compile(r"\s*<?([^\s<>()@,;]{1,100})(?: at |@)([^\s<>()@,;]{1,200})>?(?:\s*\(([^\n]{0,200})\))?\s*")
NAMED_HIDDEN = re.compile(r'\s*"?([^"<>@,;:()]{1,200}?)"?\s*<([^\s<>()@,;]{1,100}) at ([^\s<>()@,;]{1,200})>\s*')
LISTED = re.compile(
    r'\s*(?:(?:"([^"\\]{0,200})"|([^"<>@,;:()\\]{0,200}?))\s*<([^<>@\s,;]{1,100}@[^<>@\s,;]{1,200})>'
    r'|([^<>@\s,;:()"]{1,100}@[^<>@\s,;:()"]{1,200}))\s*(?:,\s*|\Z)'
)
ANYWHERE = re.compile(r"[^\s<>()@,;:\"'\[\]]{1,100}@[^\s<>()@,;:\"'\[\]]{1,200}")


def addresses_in(headers: MailHeaders, name: str) -> tuple[MailAddress, ...]:
    """Everyone whom these headers name, once each, in order."""
    texts = list(headers.texts(name))
    if len(texts) == 1 and len(texts[0]) <= OFTEN:
        return _often(texts[0])
    found: dict[MailAddress, None] = {}
    for text in texts:
        found |= dict.fromkeys(_addresses(text) if len(text) > OFTEN else _often(text))
    return tuple(found)[:MOST_ADDRESSES]


def sender_of(headers: MailHeaders) -> MailAddress:
    """Who wrote it: From, else Sender, Reply-To or the envelope; both parts empty where nobody is named."""
    for name in ("from", "sender", "reply-to", "return-path"):
        named = addresses_in(headers, name)
        if named:
            return named[0]
    return MailAddress(headers.text("from", LONGEST), "")


@lru_cache(maxsize=2_000)
def _often(text: str) -> tuple[MailAddress, ...]:
    """The same people write to the same people: on a list most such lines were read before."""
    return tuple(dict.fromkeys(_addresses(text)))


def _addresses(text: str) -> list[MailAddress]:
    if match := SIMPLE.fullmatch(text):
        return [_address(match[1], match[2])]
    if match := BARE.fullmatch(text):
        return [_address("", match[1])]
    if match := HIDDEN.fullmatch(text):
        return [_address(match[3] or "", f"{match[1]}@{match[2]}")]
    if match := NAMED_HIDDEN.fullmatch(text):
        return [_address(match[1], f"{match[2]}@{match[3]}")]
    if listed := _listed(text):
        return listed
    try:
        pairs = getaddresses([text])
    except Exception:
        # Whatever a malformed list raises, the addresses that can be seen in it are still there.
        pairs = []
    good = [_address(name, address) for name, address in pairs if "@" in address]
    return good or [_address("", one) for one in ANYWHERE.findall(text)]


def _listed(text: str) -> list[MailAddress]:
    """A list as nearly all programs write it; nothing where it is written otherwise."""
    found: list[MailAddress] = []
    at = 0
    while at < len(text) and len(found) < MOST_ADDRESSES:
        match = LISTED.match(text, at)
        if match is None:
            return []
        found.append(_address(match[1] or match[2] or "", match[3] or match[4]))
        at = match.end()
    return found


def _address(name: str, address: str) -> MailAddress:
    # What comes here is a clean line already.
    shown = name.strip(" \"'")[:LONGEST]
    return MailAddress(shown if shown.lower() != address.lower() else "", address.strip("<>\"' ").lower()[:LONGEST])
