"""What is known of a message once it was read."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from mnemon.mail.message.ids import message_key
from mnemon.mail.spans.labels import LabelledSpan

# Where the time of a message was taken from.
DateSource = Literal["date", "received", "separator", "none"]


@dataclass(frozen=True, slots=True)
class MailAddress:
    """A person as a header gives them. The address is in small letters; either may be empty."""

    name: str
    email: str


@dataclass(frozen=True, slots=True)
class MailAttachment:
    """What came with a message; of a text the text too."""

    name: str
    media_type: str
    size: int
    digest: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class DraftMention:
    """A document of the IETF that a message speaks of: `text[start:end]`; -1 where it stands in the subject."""

    # "draft-ietf-quic-transport-34" or "rfc9000".
    name: str
    start: int
    end: int

    @property
    def document(self) -> str:
        """Without the version: every revision of a draft is one document."""
        head, _, version = self.name.rpartition("-")
        return head if self.name.startswith("draft-") and len(version) == 2 and version.isdigit() else self.name

    @property
    def version(self) -> str | None:
        return self.name.rpartition("-")[2] if self.document != self.name else None

    @property
    def url(self) -> str:
        return f"https://datatracker.ietf.org/doc/{self.document}/" + (f"{self.version}/" if self.version else "")


@dataclass(frozen=True, slots=True)
class MailMessage:
    """A message. `text` is its decoded body, in which the spans, mentions and all evidence count their offsets."""

    # With angle brackets; made of the content where the message has none, or none that can be used.
    message_id: str
    in_reply_to: str | None
    # Oldest first, each once, never the message itself.
    references: tuple[str, ...]
    subject: str
    sender: MailAddress
    to: tuple[MailAddress, ...]
    cc: tuple[MailAddress, ...]
    date: datetime | None
    date_source: DateSource
    list_id: str | None
    text: str
    spans: tuple[LabelledSpan, ...]
    # Whether the text was made from HTML, since the message has no other.
    from_html: bool = False
    attachments: tuple[MailAttachment, ...] = ()
    mentions: tuple[DraftMention, ...] = ()
    # Other headers that tell something: "list-post", "x-mailer", "reply-to" and their like.
    headers: dict[str, str] = field(default_factory=dict)
    has_own_id: bool = True
    # What was wrong with it, in words.
    defects: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Its name in whatever archive it stands; a date that was only guessed is no part of it."""
        return message_key(self.message_id, self.own_date, self.sender.email, self.subject)

    @property
    def own_date(self) -> datetime | None:
        return self.date if self.date_source == "date" else None

    @property
    def draft_mentions(self) -> tuple[str, ...]:
        """Names of the drafts and RFCs that it speaks of, each once, in order."""
        return tuple(dict.fromkeys(one.name for one in self.mentions))
