"""A part of an archive as it will be stored: its messages as texts to be filed, its copies, its defects."""

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson

from mnemon.documents.intake.filing import FiledText, document_id
from mnemon.documents.structure.structure import BlockKind
from mnemon.mail.archives.ranges import ArchivedMessage, ArchiveRange
from mnemon.mail.message.ids import copy_key, named_for
from mnemon.mail.message.message import MailAddress, MailMessage
from mnemon.mail.message.reading import read_archived
from mnemon.mail.spans.labels import LabelledSpan, SpanLabel
from mnemon.mail.spans.written import written_spans

EXTRACTOR = "mail/1"
MEDIA_TYPE = "message/rfc822"
SOURCE_TYPE = "mail"
# Enough that the log's lock and the commit cost little, few enough that a crash costs little.
MOST_MESSAGES = 500
MOST_LETTERS = 4_000_000
MOST_PEOPLE, MOST_NAMED = 100, 100
LONGEST = 10**8 - 1
# Tabs, line ends, form feeds and the marks of Japanese are in mail; other controls are not.
NO_MAIL = bytes(one for one in range(32) if one not in b"\t\n\r\f\x1b")

# What is somebody else's, or stands around what was said, is read by nobody as said here.
BLOCKS: dict[SpanLabel, BlockKind] = {
    "new": "paragraph", "quote": "quote", "forwarded": "quote", "code": "code", "ballot": "code",
    "attribution": "header", "signature": "header", "footer": "header",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class StoredCopy:
    """Where a message stands in its archive."""

    message_key: str
    copy_key: str
    offset: int
    length: int
    digest: str


@dataclass(slots=True)
class MailBatch:
    """What a part of an archive holds. `position` is where the next part begins."""

    position: int
    # How many messages the log takes at once, if that is fewer than are stored at once.
    most: int
    is_last: bool = False
    # The best copy of each message by its key, with what says which one is best.
    messages: dict[str, tuple[str, MailMessage, int]] = field(default_factory=dict)
    copies: list[StoredCopy] = field(default_factory=list)
    defects: list[tuple[int, int, str]] = field(default_factory=list)
    letters: int = 0
    seconds: float = 0.0

    @property
    def is_full(self) -> bool:
        return len(self.copies) + len(self.defects) >= min(MOST_MESSAGES, self.most) or self.letters >= MOST_LETTERS

    def add(self, ranged: ArchiveRange, archive: str, audience: str) -> None:
        self.position = ranged.offset + ranged.length
        if not isinstance(ranged, ArchivedMessage):
            self.defects.append((ranged.offset, ranged.length, ranged.reason))
            return
        message = read_archived(ranged)
        key = named_for(audience, message.key)
        choice = choice_of(message, ranged)
        named = copy_key(archive, message.message_id, message.own_date, message.sender.email, message.subject)
        digest = hashlib.sha256(ranged.content).hexdigest()
        self.copies.append(StoredCopy(key, named, ranged.offset, ranged.length, digest))
        self.letters += len(message.text)
        if key not in self.messages or choice < self.messages[key][0]:
            self.messages[key] = choice, message, ranged.length


def choice_of(message: MailMessage, ranged: ArchivedMessage) -> str:
    """The least of these is the copy that a message is read from. An archive that hides addresses comes last, bytes
    that no mail has come after those without; a longer text comes before one that was cut off, as the last of an
    archive that was still being written."""
    hides = b" at " in ranged.separator
    told = [message.text, message.in_reply_to or "", *message.references, message.list_id or "", str(message.date)]
    told += [one.email for one in (*message.to, *message.cc)]
    damaged = len(ranged.content.translate(None, NO_MAIL)) < len(ranged.content)
    shortness = LONGEST - min(len(message.text), LONGEST)
    digest = hashlib.sha256("|".join(told).encode("utf-8", "replace")).hexdigest()
    return f"{int(hides)}{int(damaged)}{shortness:08}{digest[:16]}"


def read_batch(
    ranges: Iterator[ArchiveRange], archive: str, position: int, audience: str = "", most: int = MOST_MESSAGES
) -> MailBatch:
    """The next part of an archive, as large as is stored at once."""
    started = time.perf_counter()
    batch = MailBatch(position, most)
    for ranged in ranges:
        batch.add(ranged, archive, audience)
        # What has no bytes of its own ends no part: whoever goes on from there would meet it again.
        if batch.is_full and ranged.length:
            break
    else:
        batch.is_last = True
    batch.seconds = time.perf_counter() - started
    return batch


def filed_text(
    tenant: UUID, key: str, message: MailMessage, choice: str, size: int, list_name: str, number: int
) -> FiledText:
    """The message as a document: its text, labelled, and in `kept` all that the lens of mail wants to know."""
    address = f"mail:{key}"
    sender = message.sender.name or message.sender.email
    people = [message.sender, *message.to, *message.cc]
    return FiledText(
        doc_id=document_id(tenant, address),
        text=message.text,
        blocks=_blocks(message.spans, sender),
        title=message.subject or "(no subject)",
        source_uri=address,
        source_id=message.message_id,
        media_type=MEDIA_TYPE,
        extractor=EXTRACTOR,
        size=size,
        written_at=message.date,
        authors=[sender] if sender else [],
        participants=list(dict.fromkeys(one.name or one.email for one in people[:MOST_PEOPLE])),
        details={"title": message.subject, "message_id": message.message_id, "list": list_name},
        kept=_kept(message, choice, list_name),
        filed_as=key,
        number=number,
    )


def _blocks(spans: Sequence[LabelledSpan], sender: str) -> bytes:
    """`Block` for `Block` as JSON; written by hand, since there are ten of them in each of very many messages."""
    speaker = orjson.dumps(sender).decode()
    written = [
        f'{{"kind":"{BLOCKS[label]}","start":{start},"end":{end},"level":{depth},'
        f'"speaker":{speaker if label == "new" else "null"}}}'
        for label, start, end, depth in spans
    ]
    return f"[{','.join(written)}]".encode()


def _kept(message: MailMessage, choice: str, list_name: str) -> dict[str, Any]:
    return {
        "choice": choice,
        "message_id": message.message_id,
        "in_reply_to": message.in_reply_to,
        "references": list(message.references),
        "list_name": list_name,
        "subject": message.subject,
        "from": _pair(message.sender),
        "to": [_pair(one) for one in message.to[:MOST_PEOPLE]],
        "cc": [_pair(one) for one in message.cc[:MOST_PEOPLE]],
        "date": message.date.isoformat() if message.date else None,
        "date_source": message.date_source,
        "spans": written_spans(message.spans),
        "draft_mentions": list(message.draft_mentions[:MOST_NAMED]),
        "attachments": [
            {"name": one.name, "media_type": one.media_type, "size": one.size, "digest": one.digest}
            for one in message.attachments
        ],
        "headers": message.headers,
        "defects": list(message.defects),
    }


def _pair(person: MailAddress) -> list[str]:
    return [person.name, person.email]
