"""The envelope: every attested field of an event that is known before it is appended, but its data."""

from collections.abc import Iterator
from datetime import date
from typing import Any

import orjson

from mnemon.log.errors import InvalidEvent
from mnemon.log.events import PLAIN_SOURCE, Actor, NewEvent, Scope, Source
from mnemon.log.privacy.seal import EventDraft, canonical


def envelope_of(
    tenant: str, made: EventDraft, occurred_at: str, effective_date: date, correlation_id: str
) -> dict[str, Any]:
    """Every attested field that is known before the append, less what is not there."""
    event = made.event
    envelope: dict[str, Any] = {
        "id": made.id,
        "type": event.type,
        "schema_version": made.declaration.schema_version,
        "occurred_at": occurred_at,
        "effective_date": effective_date.isoformat(),
        "correlation_id": correlation_id,
        "scope": _scope(tenant, event.scope),
        "actor": _actor(event.actor),
        "source": _PLAIN_SOURCE if event.source is PLAIN_SOURCE else _source(event.source),
    }
    if event.caused_by:
        envelope["caused_by"] = event.caused_by
    if event.intent_id:
        envelope["intent_id"] = event.intent_id
    if event.approved_by:
        envelope["approved_by"] = event.approved_by
    if event.dimensions:
        envelope["dimensions"] = event.dimensions
    if event.tags:
        envelope["tags"] = sorted(set(event.tags))
    if event.entities:
        envelope["entities"] = [
            {"entity_type": one.entity_type, "entity_id": one.entity_id, "role": one.role} for one in event.entities
        ]
    if event.expected_versions:
        envelope["expected_versions"] = [
            {"entity_type": kind, "entity_id": entity, "version": version}
            for (kind, entity), version in event.expected_versions.items()
        ]
    return envelope


def _scope(tenant: str, scope: Scope) -> dict[str, Any]:
    if scope.is_plain:
        return {"tenant_id": tenant, "legal_entity": scope.legal_entity}
    return _present(tenant_id=tenant, legal_entity=scope.legal_entity, division=scope.division,
                    region=scope.region, site=scope.site, custom_scopes=scope.custom_scopes)  # fmt: skip


_PLAIN_SOURCE = {"system": PLAIN_SOURCE.system, "channel": PLAIN_SOURCE.channel}


def _source(source: Source) -> dict[str, Any]:
    return _present(system=source.system, channel=source.channel, reference=source.reference)


def _actor(actor: Actor) -> dict[str, Any]:
    """Without what tells who it is in person."""
    if not (actor.session_id or actor.trust_level or actor.on_behalf_of):
        return {"type": actor.type, "id": actor.id}
    delegator = actor.on_behalf_of
    return _present(type=actor.type, id=actor.id, session_id=actor.session_id, trust_level=actor.trust_level,
                    on_behalf_of=delegator and {"type": delegator.type, "id": delegator.id})  # fmt: skip


def person_of(actor: Actor) -> dict[str, Any]:
    """What `_actor` leaves out."""
    if not (actor.name or actor.ip_address or actor.on_behalf_of):
        return {}
    delegator = actor.on_behalf_of
    return _present(name=actor.name, ip_address=actor.ip_address,
                    on_behalf_of=delegator and delegator.name and {"name": delegator.name})  # fmt: skip


def _present(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


def labels_of(event: NewEvent) -> tuple[tuple[str, str], ...]:
    """What the event's streams beside those of its entities are named by."""
    if not event.tags and not event.intent_id and event.scope.is_plain:
        return ()
    return tuple(_labels(event))


def _labels(event: NewEvent) -> Iterator[tuple[str, str]]:
    for tag in sorted(set(event.tags)):
        yield "tag", tag
    scope = event.scope
    for kind, value in (("division", scope.division), ("region", scope.region), ("site", scope.site),
                        ("intent", event.intent_id)):  # fmt: skip
        if value:
            yield kind, value
    for name, value in scope.custom_scopes.items():
        yield f"scope.{name}", value


def encoded(document: Any, event: NewEvent) -> bytes:
    """Refuse what has no JSON form, and the null character, which PostgreSQL cannot index."""
    try:
        text = canonical(document)
    except orjson.JSONEncodeError as failure:
        raise InvalidEvent(f"The event {event.type} cannot be written as JSON: {failure}.", type=event.type) from None
    if b"\\u0000" in text:
        raise InvalidEvent(f"The event {event.type} has a null character outside its data.", type=event.type)
    return text
