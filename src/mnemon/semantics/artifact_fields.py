"""What a sender says of an artifact: checked, and turned into who may read it and how long it is kept."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from mnemon.documents.ingest.dating import in_calendar
from mnemon.documents.intake.receive import CONTROL
from mnemon.documents.readers import Reader
from mnemon.errors import InvalidRequest, NotAllowed
from mnemon.log.events import Actor

TYPES = ("email", "doc", "chat", "transcript", "note")
SENSITIVITIES = ("normal", "sensitive", "highly_sensitive")
SCOPES = ("me", "team", "org", "custom")
RETENTIONS = ("forever", "1y", "until_resolved", "custom")
LONGEST_CONTENT = 5_000_000
LONGEST_NAME = 500
MOST_PEOPLE = 200


@dataclass(frozen=True, kw_only=True)
class NewArtifact:
    """A text with its origin. Who may read it is decided when it is read."""

    artifact_type: str
    source_system: str
    content: str
    source_id: str | None = None
    source_url: str | None = None
    title: str | None = None
    author: str | None = None
    participants: tuple[str, ...] = ()
    ts: datetime | None = None
    sensitivity: str = "normal"
    visibility_scope: str = "me"
    # E-mail addresses, or actor ids such as `user:…`: the members of a team, or whoever a custom scope names.
    readers: tuple[str, ...] = ()
    retention_policy: str = "forever"
    retain_until: datetime | None = None


def checked(new: NewArtifact) -> NewArtifact:
    """The same, in plain form; or an error that names the field and what it may be."""
    _one_of("artifact_type", new.artifact_type, TYPES)
    _one_of("sensitivity", new.sensitivity, SENSITIVITIES)
    _one_of("visibility_scope", new.visibility_scope, SCOPES)
    _one_of("retention_policy", new.retention_policy, RETENTIONS)
    if not new.content.strip():
        raise InvalidRequest("content is empty: there is nothing to read.", field="content")
    if len(new.content) > LONGEST_CONTENT:
        raise InvalidRequest(
            f"content has {len(new.content)} characters, more than {LONGEST_CONTENT}: upload it as a file.",
            field="content",
        )
    if not new.source_system.strip():
        raise InvalidRequest("source_system is empty: say where the artifact comes from.", field="source_system")
    for name in ("source_system", "source_id", "source_url", "title", "author"):
        _short(name, getattr(new, name))
    for name in ("participants", "readers"):
        if len(getattr(new, name)) > MOST_PEOPLE:
            raise InvalidRequest(f"{name} has more than {MOST_PEOPLE} entries.", field=name)
        for one in getattr(new, name):
            _short(name, one)
    if new.visibility_scope == "custom" and not new.readers:
        raise InvalidRequest("visibility_scope custom needs readers: name who may read it.", field="readers")
    if new.visibility_scope in ("me", "org") and new.readers:
        raise InvalidRequest(
            f"readers go with visibility_scope custom or team, not with {new.visibility_scope}: say which you mean.",
            field="readers",
        )
    if (new.retention_policy == "custom") != (new.retain_until is not None):
        raise InvalidRequest("retain_until goes with retention_policy custom, and only with it.", field="retain_until")
    return replace(
        new, source_id=new.source_id or None, ts=_aware("ts", new.ts),
        retain_until=_aware("retain_until", new.retain_until),
    )  # fmt: skip


def readers_of(new: NewArtifact, owner: str) -> list[str] | None:
    """None for everyone of the tenant. A team is whom the sender lists, or else everyone."""
    if new.visibility_scope == "org" or (new.visibility_scope == "team" and not new.readers):
        return None
    listed = () if new.visibility_scope == "me" else new.readers
    return sorted({owner, *listed})


def terms_of(new: NewArtifact, actor: Actor, known: dict[str, Any] | None) -> dict[str, Any]:
    """Who may read it and how long it is kept: as its owner says. Somebody else's new revision leaves that alone."""
    me = Reader.of(actor).name
    if known is not None and known["owner"] != me:
        kept = {
            name: known[name] for name in ("sensitivity", "visibility_scope", "owner", "readers", "retention_policy")
        }
        return kept | {"retain_until": _written(known["retain_until"])}
    assert me is not None
    return {
        "sensitivity": new.sensitivity,
        "visibility_scope": new.visibility_scope,
        "owner": me,
        "readers": readers_of(new, me),
        "retention_policy": new.retention_policy,
        "retain_until": _written(new.retain_until),
    }


def title_of(new: NewArtifact, actor: Actor, known: dict[str, Any]) -> str:
    """Of a content that is known: what its owner calls it now, or else what it was called when it was the latest."""
    if new.title and known["owner"] == Reader.of(actor).name:
        return new.title
    title: str = known["title"] if known["is_active"] else known["title_then"] or untitled(new)
    return title


def untitled(new: NewArtifact) -> str:
    """What an artifact is called that neither its sender nor its text gives a title."""
    return f"{new.artifact_type} from {new.source_system}"


def refuse_stranger(actor: Actor, known: dict[str, Any]) -> None:
    """Who may not read an artifact may not add to it either: the new text would be taken for the owner's."""
    if known["readers"] is not None and Reader.of(actor).name not in known["readers"]:
        raise NotAllowed("An artifact of this source exists and is not yours to read: give another source_id.")


def refuse_over(new: NewArtifact, known: dict[str, Any] | None) -> None:
    """A time that is over would have the artifact purged within the hour; only what holds already may be said again."""
    until = new.retain_until
    if until is None or until > datetime.now(UTC) or (known is not None and known["retain_until"] == until):
        return
    raise InvalidRequest(
        f"retain_until {until.isoformat()} is over, so the artifact would be purged at once: give a time to come, "
        "or delete the artifact.",
        field="retain_until",
    )


def refuse_wider(new: NewArtifact, actor: Actor, known: dict[str, Any]) -> None:
    """Nobody's words reach more readers than they named: who reads an artifact is for its owner to choose."""
    me = Reader.of(actor).name
    assert me is not None
    named = readers_of(new, me)
    if known["owner"] == me or named is None:
        return
    if known["readers"] is None or not {*known["readers"]} <= {*named}:
        whom = "everyone here" if known["readers"] is None else "more people than you name"
        raise NotAllowed(
            f"The artifact of this source belongs to {known['owner']} and is read by {whom}: "
            "say visibility_scope org to add a revision for them all, or give another source_id.",
            field="visibility_scope",
        )


def says_otherwise(terms: dict[str, Any], known: dict[str, Any]) -> bool:
    """Whether these terms are other than those that hold."""
    holding = known | {"retain_until": _written(known["retain_until"])}
    return any(holding[name] != value for name, value in terms.items())


def _one_of(field: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InvalidRequest(f"Invalid {field}: {value}. Must be one of: {', '.join(known)}", field=field)


def _short(field: str, value: str | None) -> None:
    if value is None:
        return
    if len(value) > LONGEST_NAME or "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InvalidRequest(f"{field} has at most {LONGEST_NAME} characters, all of them whole.", field=field)
    if CONTROL.search(value):
        raise InvalidRequest(f"{field} is one line, without control characters.", field=field)


def _aware(field: str, value: datetime | None) -> datetime | None:
    """A time without a zone is universal time."""
    if value is None or value.tzinfo is None:
        return value.replace(tzinfo=UTC) if value else None
    if not in_calendar(value):
        raise InvalidRequest(
            f"{field} {value.isoformat()} is outside the years 1 to 9999 in universal time.", field=field
        )
    return value


def _written(value: datetime | None) -> str | None:
    return value.astimezone(UTC).isoformat() if value else None
