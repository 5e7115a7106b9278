"""Whose a document is, who may read it and how long it is kept: as its owner says, whoever adds to it."""

from datetime import UTC, datetime
from typing import Any

from mnemon.documents.access import Reader
from mnemon.documents.intake.origin import Origin
from mnemon.errors import InvalidRequest, NotAllowed
from mnemon.log.events import Actor

# A document that is there already, as the intake reads it.
Known = dict[str, Any]

TERMS = ("sensitivity", "visibility_scope", "owner", "readers", "retention_policy", "retain_until")


def person_behind(actor: Actor) -> str:
    """Who owns what they send, be it through a token of theirs."""
    name = Reader.of(actor).name
    assert name is not None
    return name


def is_theirs(actor: Actor, known: Known) -> bool:
    return Reader.of(actor).is_among([known["owner"]])


def readers_of(origin: Origin, owner: str) -> list[str] | None:
    """None for everyone of the tenant. A team is whom the sender lists, or else everyone."""
    scope = origin.visibility_scope
    if scope in (None, "org") or (scope == "team" and not origin.readers):
        return None
    return sorted({owner, *(() if scope == "me" else origin.readers)})


def terms_of(origin: Origin, actor: Actor, known: Known | None) -> dict[str, Any]:
    """As its owner says now, or else as it was. Somebody else's new revision leaves it all alone."""
    me = person_behind(actor)
    mine = known is None or is_theirs(actor, known)
    terms = {name: known[name] for name in TERMS} if known else DEFAULTS | {"owner": me}
    if mine and origin.sensitivity is not None:
        terms["sensitivity"] = origin.sensitivity
    if mine and origin.visibility_scope is not None:
        readers = readers_of(origin, me)
        if readers is not None:
            readers = sorted({*readers, terms["owner"]})
        terms |= {"visibility_scope": origin.visibility_scope, "readers": readers}
    if mine and origin.retention_policy is not None:
        terms |= {"retention_policy": origin.retention_policy, "retain_until": origin.retain_until}
    return terms | {"retain_until": _written(terms["retain_until"])}


# What everyone of the tenant may read, for ever.
DEFAULTS: dict[str, Any] = {
    "sensitivity": "normal", "visibility_scope": "org", "readers": None, "retention_policy": "forever",
    "retain_until": None,
}  # fmt: skip


def says_otherwise(terms: dict[str, Any], known: Known) -> bool:
    """Whether these terms are other than those that hold."""
    holding = known | {"retain_until": _written(known["retain_until"])}
    return any(holding[name] != value for name, value in terms.items())


def refuse_over(origin: Origin, known: Known | None) -> None:
    """A time that is over would have the document purged within the hour; only what holds already may be said again."""
    until = origin.retain_until
    if until is None or until > datetime.now(UTC) or (known is not None and known["retain_until"] == until):
        return
    raise InvalidRequest(
        f"retain_until {until.isoformat()} is over, so the document would be purged at once: give a time to come, "
        "or delete the document.",
        field="retain_until",
    )


def refuse_wider(origin: Origin, actor: Actor, known: Known) -> None:
    """Nobody's words reach more readers than they named: who reads a document is for its owner to choose."""
    me = person_behind(actor)
    named = readers_of(origin, me)
    if is_theirs(actor, known) or named is None:
        return
    if known["readers"] is None or not {*known["readers"]} <= {*named}:
        whom = "everyone here" if known["readers"] is None else "more people than you name"
        raise NotAllowed(
            f"The document of this source belongs to {known['owner']} and is read by {whom}: "
            "say visibility_scope org to add a revision for them all, or give another source_id.",
            field="visibility_scope",
        )


def _written(value: datetime | None) -> str | None:
    return value.astimezone(UTC).isoformat() if value else None
