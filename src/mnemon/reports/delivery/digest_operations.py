"""What an administrator may do with digests, declared once for all doors."""

import asyncio
from datetime import UTC, datetime
from typing import Any

from mnemon.errors import Conflict, InvalidRequest, NotFound
from mnemon.identity.roles import Action
from mnemon.ids import new_ulid
from mnemon.operations import Caller, operation
from mnemon.reports.delivery import inputs, outputs
from mnemon.reports.delivery.errors import DeliveryRefused, Undelivered
from mnemon.reports.delivery.letters import post_letter, trial_letter
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
from mnemon.reports.delivery.recipients import Recipient, name_of_address

ANNA = {"address": "anna@example.org"}


@operation("digests.list", Action.MANAGE_SOURCES, read_only=True, example={}, absent=NOT_FOR_AGENTS)
async def digests(mnemon: DeliveryParts, caller: Caller, asked: inputs.DigestsAsked) -> outputs.DigestList:
    """List the addresses that reports are mailed to."""
    found = await all_recipients(mnemon, caller, "e-mail")
    return outputs.DigestList(items=[outputs.DigestShown(**_digest(one), **counts) for one, counts in found])


@operation(
    "digests.add", Action.MANAGE_SOURCES, errors=(Conflict, InvalidRequest), absent=NOT_FOR_AGENTS,
    example={**ANNA, "report_kinds": ["weekly"]},
)  # fmt: skip
async def add_digest(mnemon: DeliveryParts, caller: Caller, asked: inputs.NewDigest) -> outputs.DigestShown:
    """Mail reports of these kinds to an address, from now on."""
    if mnemon.settings.smtp_url is None:
        raise InvalidRequest("There is no mail server to send by: set MNEMON_SMTP_URL first.", field="address")
    values = {
        "way": "e-mail", "name": name_of_address(asked.address), "event_types": ["report.published"],
        "report_kinds": asked.report_kinds,
    }  # fmt: skip
    recipient = await added_recipient(mnemon, caller, values, asked.address, None, asked.address)
    return outputs.DigestShown(**_digest(recipient), **NONE)


@operation(
    "digests.remove", Action.MANAGE_SOURCES, destructive=True, errors=(NotFound,), example=ANNA, absent=NOT_FOR_AGENTS
)
async def remove_digest(mnemon: DeliveryParts, caller: Caller, asked: inputs.DigestAsked) -> outputs.RecipientRemoved:
    """Mail nothing more to an address."""
    return await removed_recipient(mnemon, caller, "e-mail", name_of_address(asked.address), asked.address)


@operation(
    "digests.test", Action.MANAGE_SOURCES, errors=(NotFound, InvalidRequest, DeliveryRefused, Undelivered),
    example=ANNA, absent=NOT_FOR_AGENTS,
)  # fmt: skip
async def test_digest(mnemon: DeliveryParts, caller: Caller, asked: inputs.DigestAsked) -> outputs.TrialMade:
    """Write to an address now, to see whether the mail server takes it."""
    one = await one_recipient(mnemon, caller, "e-mail", name_of_address(asked.address), asked.address)
    settings, trial = mnemon.settings, new_ulid()
    if settings.smtp_url is None:
        raise InvalidRequest("There is no mail server to send by: set MNEMON_SMTP_URL first.", field="address")
    letter = trial_letter(trial, datetime.now(UTC), settings.smtp_from, one.place)
    await asyncio.to_thread(post_letter, settings.smtp_url.get_secret_value(), letter)
    return outputs.TrialMade(name=asked.address, event_id=trial, status=None)


@operation("digests.replay", Action.MANAGE_SOURCES, errors=(NotFound,), example=ANNA, absent=NOT_FOR_AGENTS)
async def replay_digest(mnemon: DeliveryParts, caller: Caller, asked: inputs.DigestAsked) -> outputs.ReplayBegun:
    """Send reports again that an address never got, under the same Message-IDs."""
    return await replayed(mnemon, caller, "e-mail", name_of_address(asked.address), asked.address, None)


def _digest(one: Recipient) -> dict[str, Any]:
    return {"address": one.place, "report_kinds": list(one.report_kinds), "created_at": one.created_at}
