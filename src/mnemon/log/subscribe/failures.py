"""Failures of subscribers: counted on the subscription, where the circuit breaks, and described without names."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.events import Event
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.log.types.paths import values_at
from mnemon.log.types.registry import Registry

HIDDEN = "[personal]"
LONGEST_ERROR = 1000

# broken: when too many failed in a row, at once for a partition that cannot go on, or again after a failed probe.
COUNT = """
UPDATE mnemon.subscriptions s
   SET error_count = error_count + 1, failures_in_a_row = failures_in_a_row + 1,
       last_error = %(error)s, last_error_at = now(), last_error_partition = %(partition)s,
       last_error_sequence = %(sequence)s, status = next.status,
       probe_at = CASE WHEN next.status = 'broken'
                       THEN clock_timestamp() + %(pause)s * least(power(2, s.trips), 10) END,
       trips = s.trips + CASE WHEN next.status = 'broken' THEN 1 ELSE 0 END, updated_at = now()
  FROM (SELECT CASE WHEN status = 'paused' THEN 'paused'
                    WHEN status = 'broken' OR %(stuck)s OR failures_in_a_row + 1 >= %(limit)s THEN 'broken'
                    ELSE 'active' END AS status
          FROM mnemon.subscriptions WHERE tenant_id = %(tenant)s AND subscription_id = %(subscription)s) AS next
 WHERE s.tenant_id = %(tenant)s AND s.subscription_id = %(subscription)s
RETURNING s.status
"""
RECOVER = """
UPDATE mnemon.subscriptions
   SET failures_in_a_row = 0, trips = 0, probe_at = NULL,
       status = CASE WHEN status = 'broken' THEN 'active' ELSE status END, updated_at = now()
 WHERE tenant_id = %s AND subscription_id = %s AND (failures_in_a_row > 0 OR status = 'broken')
"""

SCRUB = """
UPDATE mnemon.parked_events k SET error = '[REDACTED]'
  FROM mnemon.event_subjects s
 WHERE k.tenant_id = %(tenant)s AND s.tenant_id = %(tenant)s AND s.subject_id = %(subject)s
   AND s.partition_id = k.partition_id AND s.sequence = k.sequence AND k.error IS NOT NULL
"""
SCRUB_LAST = """
UPDATE mnemon.subscriptions u SET last_error = '[REDACTED]'
  FROM mnemon.event_subjects s
 WHERE u.tenant_id = %(tenant)s AND s.tenant_id = %(tenant)s AND s.subject_id = %(subject)s
   AND s.partition_id = u.last_error_partition AND s.sequence = u.last_error_sequence
"""


SCRUB_EVENT = """
UPDATE mnemon.parked_events SET error = '[REDACTED]'
 WHERE tenant_id = %s AND partition_id = %s AND sequence = %s AND error IS NOT NULL
"""
SCRUB_LAST_OF_EVENT = """
UPDATE mnemon.subscriptions SET last_error = '[REDACTED]'
 WHERE tenant_id = %s AND last_error_partition = %s AND last_error_sequence = %s
"""


async def count_in(
    connection: Connection,
    tenant: UUID,
    subscription_id: str,
    event: Event,
    error: str,
    limits: DeliveryLimits,
    *,
    stuck: bool = False,
) -> str:
    """Count a failure; returns the subscription's status after it."""
    values: dict[str, Any] = {
        "tenant": tenant, "subscription": subscription_id, "error": error, "partition": event.partition_id,
        "sequence": event.sequence, "limit": limits.breaker_failures, "stuck": stuck,
        "pause": timedelta(seconds=limits.breaker_seconds),
    }  # fmt: skip
    row = await (await connection.execute(COUNT, values)).fetchone()
    return str(row["status"]) if row else "paused"


async def recover_in(connection: Connection, tenant: UUID, subscription_id: str) -> None:
    """An event was handled: the circuit is whole."""
    await connection.execute(RECOVER, (tenant, subscription_id))


async def scrub_in(connection: Connection, tenant: UUID, subject_id: str) -> None:
    """Take the error texts of a person's events away, lest the person stands in them in some other form."""
    for statement in (SCRUB, SCRUB_LAST):
        await connection.execute(statement, {"tenant": tenant, "subject": subject_id})


async def scrub_event_in(connection: Connection, tenant: UUID, partition_id: int, sequence: int) -> None:
    """The same for one event, whose payload something was taken out of."""
    for statement in (SCRUB_EVENT, SCRUB_LAST_OF_EVENT):
        await connection.execute(statement, (tenant, partition_id, sequence))


def describe(registry: Registry, event: Event, failure: BaseException) -> str:
    """What went wrong, with the event's personal values hidden: the text outlives the erasure of a person."""
    text = f"{type(failure).__name__}: {failure}" if str(failure) else type(failure).__name__
    return hide_personal(registry, event, text)


def hide_personal(registry: Registry, event: Event, text: str) -> str:
    for value in sorted(_personal_values(registry, event), key=len, reverse=True):
        text = text.replace(value, HIDDEN)
    return text[:LONGEST_ERROR]


def _personal_values(registry: Registry, event: Event) -> set[str]:
    known = registry.known(event.tenant_id, event.type, event.schema_version)
    paths = known.personal_paths if known else ()
    found = [value for path in paths for value in values_at(event.payload.get("data", {}), path)]
    return {text for value in [*found, event.payload.get("actor", {})] for text in _texts(value)}


def _texts(value: Any) -> list[str]:
    """Every text in a value that is long enough to tell something."""
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [str(value)] if value is not None and not isinstance(value, bool) and len(str(value)) > 1 else []
