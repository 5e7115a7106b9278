"""Names that the same message, copy or archive always gets, whoever reads it and however often."""

import hashlib
import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

LONGEST_ID = 500
IN_BRACKETS = re.compile(r"<[^<>\s]{1,500}>")
# A References header of a thread without end: the first and the last of it are enough to place a message.
MOST_REFERENCES = 200


def audience_of(readers: Sequence[str] | None) -> str:
    """Whom an archive is for, as a part of names: empty for everyone of the tenant.

    What is for few has names of its own, so that nothing of it meets what others read: no copy, no thread.
    """
    return "" if readers is None else hashlib.sha256("|".join(sorted(readers)).encode()).hexdigest()[:16]


def named_for(audience: str, name: str) -> str:
    """A name of a message, thread or archive as this audience has it."""
    return hashlib.sha256(f"{audience}|{name}".encode("utf-8", "replace")).hexdigest()[:16] if audience else name


def archive_id(file_hash: str, audience: str = "") -> str:
    """Of the archive whose file has this SHA-256."""
    return named_for(audience, file_hash.removeprefix("sha256:")[:16])


def message_key(message_id: str, date: datetime | None, sender: str, subject: str) -> str:
    """Of a message, in whatever archive it stands: copies of it have the same."""
    return copy_key("", message_id, date, sender, subject)


def copy_key(archive: str, message_id: str, date: datetime | None, sender: str, subject: str) -> str:
    """Of a message in one archive, as the specification names its messages."""
    parts = (archive, message_id, date.isoformat() if date else "", sender.lower(), subject)
    return hashlib.sha256("|".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def chunk_key(message: str, index: int) -> str:
    """Of a passage of a message, as the specification names its chunks."""
    return hashlib.sha256(f"{message}|{index}".encode()).hexdigest()[:16]


@lru_cache(maxsize=10_000)
def thread_key(root_message_id: str, audience: str = "") -> str:
    """Of a thread, where its root's id would be too long or tell too much."""
    return named_for(audience, hashlib.sha256(root_message_id.encode("utf-8", "replace")).hexdigest()[:16])


def made_up_id(date: datetime | None, sender: str, subject: str, text: str) -> str:
    """For a message that has no id: told by what it says, so that its copies agree whatever way they came."""
    said = "|".join((date.isoformat() if date else "", sender, subject, " ".join(text.split())))
    return f"<{hashlib.sha256(said.encode('utf-8', 'replace')).hexdigest()[:32]}@no-message-id.invalid>"


def ids_in(text: str) -> list[str]:
    """Message ids in a header, in order, each once."""
    found = list(dict.fromkeys(IN_BRACKETS.findall(text))) if text else []
    half = MOST_REFERENCES // 2
    return found if len(found) <= MOST_REFERENCES else [*found[:half], *found[-half:]]


def id_in(text: str) -> str | None:
    """The id that a Message-ID header gives, also without its brackets."""
    found = ids_in(text)
    if found:
        return found[0]
    bare = text.strip(" \t<>")
    is_id = bool(bare) and len(bare) <= LONGEST_ID and not any(letter.isspace() for letter in bare)
    return f"<{bare}>" if is_id and "@" in bare else None
