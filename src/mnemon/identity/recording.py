"""Recording what a caller sends: who did it, what they may say about it, and which types are theirs to use.

The credential decides. Type and id of the actor, and the tenant, come from it alone; a request that names others is
refused rather than corrected. What else a caller says of itself (a session of its own) is kept as said.
Only an administrator may say that it acts for someone else, or at which level of trust. Whose approval an event has is
taken from an approval that another administrator gave with a credential of their own.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from uuid import UUID

from mnemon.errors import NotAllowed
from mnemon.identity.approvals import ApprovedAct, use_approval
from mnemon.identity.roles import Principal, Role, user_actor_id
from mnemon.log.append.incoming import IncomingActor, IncomingEvent, with_key
from mnemon.log.events import Actor, Appended, Delegator
from mnemon.log.store import EventLog

COVERED = """
SELECT FROM mnemon.periods
 WHERE tenant_id = mnemon.current_tenant() AND legal_entity = %s AND name = %s AND %s BETWEEN starts_on AND ends_on
"""


async def record_events(
    log: EventLog,
    principal: Principal,
    events: Sequence[IncomingEvent],
    *,
    idempotency_key: str | None = None,
    address: str | None = None,
    channel: str = "api",
) -> list[Appended]:
    """Append events on behalf of a caller: all of them, or none and the reason."""
    log.registry.refuse_built_in(event.type for event in events)
    for event in events:
        refuse_other_tenant(principal, event.scope.tenant_id)
    approvers = await _approvers(log, principal, events)
    made = [
        event.as_new_event(
            actor_of(principal, event.actor, address), channel=channel,
            approved_by=approvers[event.approval_id] if event.approval_id else None,
        )
        for event in events
    ]  # fmt: skip
    return await log.append(principal.tenant_id, with_key(made, idempotency_key) if idempotency_key else made)


def actor_of(principal: Principal, claimed: IncomingActor | None, address: str | None = None) -> Actor:
    """The credential's actor, with what the caller may add."""
    actor = _named(principal)
    if actor.type == "human" and address:
        actor = replace(actor, ip_address=address)
    if claimed is None:
        return actor
    known_name = actor.name or claimed.name
    agreeing = (("type", claimed.type, actor.type), ("id", claimed.id, actor.id), ("name", claimed.name, known_name))
    for field, said, known in agreeing:
        if said is not None and said != known:
            raise NotAllowed(
                f"The actor's {field} comes from the credential and is {known!r}, not {said!r}: leave it out. "
                "An administrator may name in on_behalf_of whom they act for."
            )
    if (claimed.on_behalf_of or claimed.trust_level) and principal.role is not Role.ADMIN:
        raise NotAllowed("Only an administrator may say on whose behalf, or with which trust level, an event is sent.")
    whom = claimed.on_behalf_of
    return replace(
        actor,
        name=known_name,
        session_id=claimed.session_id,
        trust_level=claimed.trust_level,
        on_behalf_of=Delegator(whom.type, whom.id, whom.name) if whom else actor.on_behalf_of,
    )


def _effective_date(event: IncomingEvent) -> date:
    """As the log will have it."""
    return event.effective_date or (event.occurred_at or datetime.now(UTC)).astimezone(UTC).date()


def _named(principal: Principal) -> Actor:
    """With the names that the credential has; they are sealed under the key of whom they name."""
    actor = principal.actor
    if principal.token_id is None or actor.on_behalf_of is None:
        return replace(actor, name=principal.name)
    owner = replace(actor.on_behalf_of, name=principal.name)
    return replace(actor, name=principal.token_name, on_behalf_of=owner)


def refuse_other_tenant(principal: Principal, named: UUID | None) -> None:
    if named is not None and named != principal.tenant_id:
        raise NotAllowed(
            f"The tenant comes from the credential, not from the request: leave out {named}.", tenant_id=str(named)
        )


async def _approvers(log: EventLog, principal: Principal, events: Sequence[IncomingEvent]) -> dict[UUID, str]:
    """Who gave the approvals that events name; refuses one that does not cover the event's date."""
    named = [event for event in events if event.approval_id is not None]
    found: dict[UUID, str] = {}
    if not named:
        return found
    person = user_actor_id(principal.user_id)
    async with log.database.transaction(principal.tenant_id) as tx:
        for event in named:
            assert event.approval_id is not None
            approval = await use_approval(
                tx, event.approval_id, person, ApprovedAct.APPEND_EVENTS, event.scope.legal_entity, once=False
            )
            values = (approval.legal_entity, approval.period, _effective_date(event))
            if await (await tx.execute(COVERED, values)).fetchone() is None or approval.decided_by is None:
                raise NotAllowed(
                    f"The approval {event.approval_id} is for dates in the period {approval.period}: give an "
                    "effective_date within it.",
                    approval_id=str(event.approval_id),
                )
            found[event.approval_id] = approval.decided_by
    return found
