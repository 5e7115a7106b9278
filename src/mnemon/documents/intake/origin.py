"""What a sender says of what they send: its source, its names, who may read it and how long it is kept."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from mnemon.documents.errors import UnfitField
from mnemon.documents.ingest.dating import in_calendar
from mnemon.errors import InvalidRequest

TYPES = ("email", "doc", "chat", "transcript", "note")
SENSITIVITIES = ("normal", "sensitive", "highly_sensitive")
SCOPES = ("me", "team", "org", "custom")
RETENTIONS = ("forever", "1y", "until_resolved", "custom")
LONGEST_TITLE = 500
LONGEST_NAME = 500
# A little less than a row takes: see own_address.
LONGEST_URI = 1_900
LONGEST_TAG = 100
MOST_TAGS = 50
MOST_PEOPLE = 200
UPLOAD = "upload"
# Came with its origin instead of as a file.
TEXT = "artifact"
TOOLS_SAY = {"document_type": "artifact_type", "written_at": "ts"}
# Addresses that are made here: a file under a text's address would be a revision that its readers never allowed.
OWN_SCHEMES = ("upload://", "artifact://", "purged:")
# They would break lines, colour terminals, or turn the letters after them around.
CONTROL = re.compile(r"[\x01-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

RunType = Literal["manual_upload", "s3_sync", "rebuild"]


@dataclass(frozen=True, kw_only=True)
class Origin:
    """None leaves what is known as it is; of a new document it is read from the content, or everyone may read it."""

    title: str | None = None
    tags: Sequence[str] | None = None
    # Unset: the content itself is the identity, so that another content is another document.
    source_uri: str | None = None
    # The document that this is a new version of, wherever it came from.
    new_version_of: UUID | None = None
    source_type: str = UPLOAD
    run_type: RunType = "manual_upload"
    document_type: str | None = None
    # The system that it comes from, its id there, and where it can be opened.
    source_system: str | None = None
    source_id: str | None = None
    source_url: str | None = None
    author: str | None = None
    participants: tuple[str, ...] = ()
    written_at: datetime | None = None
    sensitivity: str | None = None
    visibility_scope: str | None = None
    # E-mail addresses, or actor ids such as `user:…`: the members of a team, or whoever a custom scope names.
    readers: tuple[str, ...] = ()
    retention_policy: str | None = None
    retain_until: datetime | None = None

    def shown(self, field: str) -> str:
        """What its sender calls a field: the tools that send texts have names of their own."""
        return TOOLS_SAY.get(field, field) if self.source_type == TEXT else field

    @property
    def told(self) -> dict[str, object]:
        """What it says of the text itself, for the run that will read it."""
        given = {
            "title": self.title,
            "author": self.author,
            "participants": list(self.participants) or None,
            "written_at": self.written_at.isoformat() if self.written_at else None,
        }
        return {name: value for name, value in given.items() if value}


def checked_origin(origin: Origin) -> Origin:
    """The same, in plain form; or an error that names the field and what it may be."""
    # A text has no address of its sender's; whatever has one is checked as a file, also if it claims to be a text.
    if origin.source_type != TEXT or origin.source_uri is not None:
        _check_file(origin)
    for name, known in (
        ("document_type", TYPES), ("sensitivity", SENSITIVITIES), ("visibility_scope", SCOPES),
        ("retention_policy", RETENTIONS),
    ):  # fmt: skip
        value = getattr(origin, name)
        if value is not None and value not in known:
            shown = origin.shown(name)
            raise InvalidRequest(f"Invalid {shown}: {value}. Must be one of: {', '.join(known)}", field=shown)
    for name in ("source_system", "source_id", "source_url", "title", "author"):
        _check_line(name, getattr(origin, name))
    for name in ("participants", "readers"):
        if len(getattr(origin, name)) > MOST_PEOPLE:
            raise InvalidRequest(f"{name} has more than {MOST_PEOPLE} entries.", field=name)
        for one in getattr(origin, name):
            _check_line(name, one)
    return _with_terms(origin)


def _with_terms(origin: Origin) -> Origin:
    """Who is listed, or a date that is given, says which scope and which policy are meant."""
    scope = origin.visibility_scope or ("custom" if origin.readers else None)
    policy = origin.retention_policy or ("custom" if origin.retain_until else None)
    if scope == "custom" and not origin.readers:
        raise InvalidRequest("visibility_scope custom needs readers: name who may read it.", field="readers")
    if scope in ("me", "org") and origin.readers:
        raise InvalidRequest(
            f"readers go with visibility_scope custom or team, not with {scope}: say which you mean.", field="readers"
        )
    if (policy == "custom") != (origin.retain_until is not None):
        raise InvalidRequest("retain_until goes with retention_policy custom, and only with it.", field="retain_until")
    return replace(
        origin, source_id=origin.source_id or None, visibility_scope=scope, retention_policy=policy,
        written_at=_aware(origin.shown("written_at"), origin.written_at),
        retain_until=_aware("retain_until", origin.retain_until),
    )  # fmt: skip


def _check_file(origin: Origin) -> None:
    """What is said of a file, in the words of the upload form."""
    title, tags, uri = origin.title, origin.tags, origin.source_uri
    if title is not None and not 1 <= len(title.strip()) <= LONGEST_TITLE:
        raise UnfitField(f"A title has 1 to {LONGEST_TITLE} characters, this one {len(title)}.", field="title")
    if uri is not None and (len(uri.encode(errors="replace")) > LONGEST_URI or "://" not in uri or CONTROL.search(uri)):
        raise UnfitField(
            f"A source_uri looks like scheme://path, has at most {LONGEST_URI} bytes and no control characters.",
            field="source_uri",
        )
    if uri is not None and origin.new_version_of is not None:
        raise UnfitField("new_version_of names the document: leave source_uri out.", field="source_uri")
    if uri is not None and uri.startswith(OWN_SCHEMES):
        raise UnfitField("A source_uri of upload:// or artifact:// is made here: leave it out.", field="source_uri")
    if tags is not None and (len(tags) > MOST_TAGS or not all(1 <= len(tag) <= LONGEST_TAG for tag in tags)):
        raise UnfitField(f"At most {MOST_TAGS} tags, of 1 to {LONGEST_TAG} characters each.", field="tags")
    if any(CONTROL.search(text) for text in (title, *(tags or ())) if text):
        raise UnfitField("Titles and tags are one line each, without control characters.")
    if any(_is_damaged(text) for text in (title, uri, *(tags or ())) if text is not None):
        raise InvalidRequest("Text has no zero bytes and no halves of characters.")


def _check_line(field: str, value: str | None) -> None:
    if value is None:
        return
    if len(value) > LONGEST_NAME or _is_damaged(value):
        raise InvalidRequest(f"{field} has at most {LONGEST_NAME} characters, all of them whole.", field=field)
    if CONTROL.search(value):
        raise InvalidRequest(f"{field} is one line, without control characters.", field=field)


def _is_damaged(text: str) -> bool:
    return "\x00" in text or (not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text))


def _aware(field: str, value: datetime | None) -> datetime | None:
    """A time without a zone is universal time."""
    if value is None or value.tzinfo is None:
        return value.replace(tzinfo=UTC) if value else None
    if not in_calendar(value):
        raise InvalidRequest(
            f"{field} {value.isoformat()} is outside the years 1 to 9999 in universal time.", field=field
        )
    return value
