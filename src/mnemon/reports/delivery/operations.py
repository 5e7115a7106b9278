"""What an administrator may do with webhooks, declared once for all doors."""

import secrets
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from mnemon.errors import Conflict, InvalidRequest, NotFound
from mnemon.identity.roles import Action
from mnemon.ids import new_ulid
from mnemon.inputs import from_cursor, page_of
from mnemon.log.moments import written
from mnemon.operations import Caller, operation
from mnemon.reports.delivery import inputs, outputs
from mnemon.reports.delivery.errors import DeliveryRefused, Undelivered
from mnemon.reports.delivery.managing import (
    NONE,
    NOT_FOR_AGENTS,
    DeliveryParts,
    added_recipient,
    all_recipients,
    one_recipient,
    removed_recipient,
    replayed,
)
from mnemon.reports.delivery.recipients import Recipient, row_by_name
from mnemon.reports.delivery.webhook import call_webhook, find_receiver

DELIVERIES = """
SELECT d.job_id, d.event_id, d.event_type, j.status, j.attempts, j.next_run_at, j.last_error_code,
       j.last_error_message, d.created_at
  FROM mnemon.deliveries d JOIN mnemon.jobs j ON j.tenant_id = d.tenant_id AND j.job_id = d.job_id
 WHERE d.tenant_id = mnemon.current_tenant() AND d.recipient_id = %(recipient)s
   AND (NOT %(dead)s OR j.status = 'FAILED') AND (%(before)s::uuid IS NULL OR d.job_id < %(before)s::uuid)
 ORDER BY d.job_id DESC LIMIT %(limit)s
"""
STATES = {"PENDING": "waiting", "PROCESSING": "running", "DONE": "sent"}
CHAT = {"webhook": "chat"}


@operation("webhooks.list", Action.MANAGE_SOURCES, read_only=True, example={}, absent=NOT_FOR_AGENTS)
async def webhooks(mnemon: DeliveryParts, caller: Caller, asked: inputs.WebhooksAsked) -> outputs.WebhookList:
    """List the addresses that are called when something happens, and how their deliveries fare."""
    found = await all_recipients(mnemon, caller, "webhook")
    return outputs.WebhookList(items=[outputs.WebhookShown(**_webhook(one), **counts) for one, counts in found])


@operation(
    "webhooks.add", Action.MANAGE_SOURCES, errors=(Conflict, InvalidRequest),
    absent=NOT_FOR_AGENTS,
    example={"url": "https://chat.example.org/hooks/7", "name": "chat", "event_types": ["report.*"]},
)  # fmt: skip
async def add_webhook(mnemon: DeliveryParts, caller: Caller, asked: inputs.NewWebhook) -> outputs.WebhookAdded:
    """Call an address whenever an event of these types is recorded, from now on.

    Each delivery is signed with the secret and carries the event's id as its key. What is not taken comes again, later
    each time; after the eighth time it is dead, and replay does it again.
    """
    try:
        await find_receiver(asked.url, mnemon.settings.webhook_private)
    except (DeliveryRefused, Undelivered) as refusal:
        raise InvalidRequest(refusal.message, field="url") from None
    name = asked.name or urlsplit(asked.url).hostname or "webhook"
    secret = asked.secret.get_secret_value() if asked.secret else secrets.token_urlsafe(32)
    values = {"way": "webhook", "name": name, "event_types": asked.event_types, "report_kinds": asked.report_kinds}
    recipient = await added_recipient(mnemon, caller, values, asked.url, secret, name)
    return outputs.WebhookAdded(**_webhook(recipient), **NONE, secret=secret)


@operation(
    "webhooks.remove", Action.MANAGE_SOURCES, destructive=True, errors=(NotFound,), example=CHAT, absent=NOT_FOR_AGENTS
)
async def remove_webhook(mnemon: DeliveryParts, caller: Caller, asked: inputs.WebhookAsked) -> outputs.RecipientRemoved:
    """Call an address no more. What it was not told yet is not sent."""
    return await removed_recipient(mnemon, caller, "webhook", asked.webhook, asked.webhook)


@operation(
    "webhooks.test", Action.MANAGE_SOURCES, errors=(NotFound, DeliveryRefused, Undelivered), example=CHAT,
    absent=NOT_FOR_AGENTS,
)  # fmt: skip
async def test_webhook(mnemon: DeliveryParts, caller: Caller, asked: inputs.WebhookAsked) -> outputs.TrialMade:
    """Call an address now, with an event that never happened (`webhook.test`), and say what it answered."""
    one = await one_recipient(mnemon, caller, "webhook", asked.webhook, asked.webhook)
    event_id = new_ulid()
    envelope = {
        "event_type": "WebhookTest", "event_id": event_id, "timestamp": written(datetime.now(UTC)), "version": "1.0",
        "routing_key": "webhook.test", "correlation_id": None, "causation_id": None,
        "data": {"webhook": asked.webhook},
    }  # fmt: skip
    private = mnemon.settings.webhook_private
    status = await call_webhook(one.place, one.secret, envelope, private=private)
    return outputs.TrialMade(name=asked.webhook, event_id=event_id, status=status)


@operation(
    "webhooks.deliveries", Action.MANAGE_SOURCES, read_only=True, errors=(NotFound,), absent=NOT_FOR_AGENTS,
    example={**CHAT, "dead": True},
)  # fmt: skip
async def deliveries(mnemon: DeliveryParts, caller: Caller, asked: inputs.DeliveriesAsked) -> outputs.DeliveryPage:
    """What a webhook was told or will be told again, newest first."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        row = await row_by_name(tx, "webhook", asked.webhook, asked.webhook)
        before = _job_id(from_cursor(asked.cursor))
        values = {
            "recipient": row["recipient_id"], "dead": asked.dead, "before": before, "limit": asked.limit + 1,
        }  # fmt: skip
        rows = await (await tx.execute(DELIVERIES, values)).fetchall()
    return outputs.DeliveryPage(**page_of([_delivery(one) for one in rows], asked.limit, lambda one: one.job_id))


@operation(
    "webhooks.replay", Action.MANAGE_SOURCES, errors=(NotFound,), example=CHAT, absent=NOT_FOR_AGENTS,
)  # fmt: skip
async def replay_webhook(mnemon: DeliveryParts, caller: Caller, asked: inputs.RedeliveryAsked) -> outputs.ReplayBegun:
    """Make deliveries again that were given up, with the same keys, each with all its attempts."""
    return await replayed(mnemon, caller, "webhook", asked.webhook, asked.webhook, asked.job_id)


def _job_id(given: str | None) -> UUID | None:
    try:
        return UUID(given) if given else None
    except ValueError:
        raise InvalidRequest("cursor: it is not one of this list's pages.", field="cursor") from None


def _webhook(one: Recipient) -> dict[str, Any]:
    return {
        "webhook": one.name, "url": one.place, "event_types": list(one.event_types),
        "report_kinds": list(one.report_kinds), "created_at": one.created_at,
    }  # fmt: skip


def _delivery(row: dict[str, Any]) -> outputs.DeliveryShown:
    state = STATES.get(row["status"], "dead")
    return outputs.DeliveryShown(
        job_id=row["job_id"], event_id=row["event_id"], event_type=row["event_type"], state=state,
        attempts=row["attempts"], next_try_at=row["next_run_at"] if state == "waiting" else None,
        error_code=row["last_error_code"], error=row["last_error_message"], created_at=row["created_at"],
    )  # fmt: skip
