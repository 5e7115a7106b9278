"""Writes the messages of a chat as turns that the reading of structure knows: stamp, speaker, words."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from mnemon.documents.extraction.hygiene import clean, one_line
from mnemon.documents.extraction.writing import TextWriter
from mnemon.documents.ingest.content import Details

LONGEST_NAME = 100
MOST_SPEAKERS = 1_000


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """What one person sent at once; nothing is told of when, or by whom, where the export does not say."""

    speaker: str | None
    text: str
    sent_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of one channel or talk, in order."""

    name: str | None
    messages: list[ChatMessage]


def write_conversations(writer: TextWriter, conversations: Iterable[Conversation]) -> Details:
    """Write them below their names, and tell of who talks and since when."""
    speakers: dict[str, None] = {}
    first: datetime | None = None
    names = []
    for conversation in conversations:
        if not any(message.text.strip() for message in conversation.messages):
            continue
        if conversation.name:
            names.append(conversation.name)
            writer.block("heading", conversation.name, 1)
        for message in conversation.messages:
            speaker = one_line(message.speaker, LONGEST_NAME)
            if speaker and len(speakers) < MOST_SPEAKERS:
                speakers[speaker] = None
            first = min(filter(None, (first, message.sent_at)), default=None)
            _write(writer, message, speaker)
    title = one_line(names[0]) if len(names) == 1 else None
    return Details(title=title, participants=list(speakers), written_at=first)


def _write(writer: TextWriter, message: ChatMessage, speaker: str | None) -> None:
    """A blank line would end the turn: paragraphs of one message stand on lines below each other."""
    words = "\n".join(line.strip() for line in clean(message.text).split("\n") if line.strip())
    if not words:
        return
    stamp = f"[{message.sent_at:%Y-%m-%d %H:%M}] " if message.sent_at else ""
    named = f"{speaker}: " if speaker else ""
    writer.block("message" if speaker else "paragraph", f"{stamp}{named}{words}", speaker=speaker)


def moment_of(seconds: object) -> datetime | None:
    """A moment as exports count it, in seconds since 1970, also in a text."""
    try:
        return datetime.fromtimestamp(float(str(seconds)), UTC)
    except (ValueError, OverflowError, OSError):
        return None
