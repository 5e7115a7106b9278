"""Recording what a caller sends: who did it, what they may say about it, and which types are theirs to use.

The credential decides. Type and id of the actor, and the tenant, come from it alone; a request that names others is
refused rather than corrected. What else a caller says of itself (a display name, a session of its own) is kept as said.
Only an administrator may say that it acts for someone else, at which level of trust, or with whose approval, and the
approver must be another administrator of the tenant.
"""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from mnemon.errors import NotAllowed
from mnemon.identity.roles import Principal, Role, user_actor_id
from mnemon.log.append.incoming import IncomingActor, IncomingEvent, with_key
from mnemon.log.events import Actor, Appended, Delegator
from mnemon.log.store import EventLog

IS_ADMIN = "SELECT FROM mnemon.users WHERE 'user:' || user_id = %s AND role = 'admin' AND disabled_at IS NULL"


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
    for approver in {event.approved_by for event in events if event.approved_by is not None}:
        await check_approver(log, principal, approver)
    made = [event.as_new_event(actor_of(principal, event.actor, address), channel=channel) for event in events]
    return await log.append(principal.tenant_id, with_key(made, idempotency_key) if idempotency_key else made)


def actor_of(principal: Principal, claimed: IncomingActor | None, address: str | None = None) -> Actor:
    """The credential's actor, with what the caller may add."""
    actor = principal.actor
    if actor.type == "human" and address:
        actor = replace(actor, ip_address=address)
    if claimed is None:
        return actor
    for field, said, known in (("type", claimed.type, actor.type), ("id", claimed.id, actor.id)):
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
        name=claimed.name,
        session_id=claimed.session_id,
        trust_level=claimed.trust_level,
        on_behalf_of=Delegator(whom.type, whom.id, whom.name) if whom else actor.on_behalf_of,
    )


def refuse_other_tenant(principal: Principal, named: UUID | None) -> None:
    if named is not None and named != principal.tenant_id:
        raise NotAllowed(
            f"The tenant comes from the credential, not from the request: leave out {named}.", tenant_id=str(named)
        )


async def check_approver(log: EventLog, principal: Principal, approver: str) -> None:
    """Refuse an approval by nobody, by oneself, or claimed by someone who is no administrator."""
    if principal.role is not Role.ADMIN:
        raise NotAllowed("Only an administrator may record that something was approved: ask one.")
    if approver == user_actor_id(principal.user_id):
        raise NotAllowed("Nobody approves their own act: name another administrator.", approved_by=approver)
    async with log.database.transaction(principal.tenant_id) as tx:
        found = await (await tx.execute(IS_ADMIN, (approver,))).fetchone()
    if found is None:
        raise NotAllowed(
            f"{approver!r} is not an administrator of this tenant: name one as user:ID, with the ID that "
            "`mnemon user list --json` shows.",
            approved_by=approver,
        )
