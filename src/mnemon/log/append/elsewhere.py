"""What other partitions of the tenant hold already: ids and idempotency keys are the tenant's, not a partition's."""

from collections.abc import Sequence
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.errors import Conflict
from mnemon.log.append.keys import key_conflict
from mnemon.log.append.requests import Request
from mnemon.log.partitions import Partitions

# Ids that callers chose are few. Those of one tenant take turns until their commit, so that two partitions that are
# given the same one at the same time do not both take it.
IN_TURN = "SELECT pg_advisory_xact_lock(hashtextextended('given ids of ' || %s, 0))"
IDS = "SELECT id FROM mnemon.events WHERE tenant_id = %s AND partition_id = ANY(%s) AND id = ANY(%s)"
KEYS = """
SELECT k.key, e.id FROM mnemon.event_keys k
  JOIN mnemon.events e ON e.tenant_id = k.tenant_id AND e.partition_id = k.partition_id AND e.sequence = k.sequence
 WHERE k.tenant_id = %s AND k.partition_id = ANY(%s) AND k.key = ANY(%s) AND k.expires_at > now()
"""


def gives_ids(requests: Sequence[Request]) -> bool:
    return any(one.event.id is not None for request in requests for one in request.events)


def has_keys(requests: Sequence[Request]) -> bool:
    return any(one.event.idempotency_key is not None for request in requests for one in request.events)


async def refuse_taken_elsewhere(
    connection: Connection, tenant: UUID, partition_id: int, partitions: Partitions, requests: Sequence[Request]
) -> None:
    """Settle with a refusal who uses an id, or a key, that an event of another legal entity has."""
    if gives_ids(requests):
        await connection.execute(IN_TURN, (str(tenant),))
    # In their turn: whoever was before may have made theirs just now.
    names = await partitions.names_in(connection, tenant, None)
    others = [number for number in names if number != partition_id]
    if not others:
        return
    given = [one.event.id for request in requests for one in request.events if one.event.id is not None]
    rows = await (await connection.execute(IDS, (tenant, others, given))).fetchall() if given else []
    taken = {row["id"] for row in rows}
    keys = [
        key.digest for request in requests for one in request.events for key in one.keys if one.event.idempotency_key
    ]
    rows = await (await connection.execute(KEYS, (tenant, others, keys))).fetchall() if keys else []
    used = {bytes(row["key"]): row["id"] for row in rows}
    for request in requests:
        _refuse(request, taken, used)


def _refuse(request: Request, taken: set[str], used: dict[bytes, str]) -> None:
    for one in request.events:
        if one.event.id in taken:
            request.failure = Conflict(
                f"An event with the id {one.event.id} is already in the log, of another legal entity: leave the id "
                "out, or use a new one.",
                id=one.event.id,
            )
        for key in one.keys:
            if one.event.idempotency_key and key.digest in used and request.failure is None:
                request.failure = key_conflict(key, used[key.digest])
