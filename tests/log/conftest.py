"""What the log's suites share: a log over the test database, and types of a small shop to fill it with."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.log.events import Actor, EntityReference, NewEvent
from mnemon.log.privacy import privacy_events
from mnemon.log.privacy.archive_store import DirectoryStore
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.wrapping_keys import FileKeys, KeyRing
from mnemon.log.store import EventLog
from mnemon.log.types.builtin import PERIOD_CHANGED, TYPE_REGISTERED
from mnemon.log.types.event_type import BusinessKey, EntityRequirement, EventType, PersonalField
from mnemon.log.types.registry import Registry
from mnemon.log.types.state_rules import StateRule
from tests.conftest import make_tenant

CLERK = Actor("human", "u-1", "Ada Clerk", ip_address="192.0.2.7")

ORDER_PLACED = EventType(
    type="shop.order.placed",
    data_schema={
        "type": "object",
        "required": ["number", "amount"],
        "properties": {
            "number": {"type": "string"},
            "amount": {"type": "number", "minimum": 0},
            "due": {"type": "string", "format": "date"},
        },
    },
    required_entities=(EntityRequirement("order", "subject"),),
    state=(
        StateRule(
            entity_type="order",
            set={"status": "placed", "number": "$.number"},
            add={"amount": "$.amount"},
            append={"numbers": "$.number"},
        ),
    ),
    examples=({"number": "A-1", "amount": 10},),
)
ORDER_NOTED = EventType(type="shop.order.noted", data_schema={"type": "object"})
INVOICE_SUBMITTED = EventType(
    type="ap.invoice.submitted",
    data_schema={
        "type": "object",
        "required": ["vendor_id", "invoice_number"],
        "properties": {"vendor_id": {"type": "string"}, "invoice_number": {"type": "string"}},
    },
    required_dimensions=("department",),
    business_key=BusinessKey(("vendor_id", "invoice_number")),
)
CUSTOMER_JOINED = EventType(
    type="shop.customer.joined",
    data_schema={
        "type": "object",
        "required": ["customer_id"],
        "properties": {"customer_id": {"type": "string"}, "plan": {"type": "string"}},
    },
    personal_fields=(
        PersonalField("name", "name", subject_path="customer_id"),
        PersonalField("$.contact.email", "contact", subject_path="customer_id"),
        PersonalField("family[*].name", "name", subject_path="family[*].person_id"),
        PersonalField("note", "free_text", subject_role="referrer"),
    ),
    state=(StateRule(entity_type="customer", set={"name": "$.name", "plan": "$.plan"}),),
)
SHOP = (
    TYPE_REGISTERED,
    PERIOD_CHANGED,
    ORDER_PLACED,
    ORDER_NOTED,
    INVOICE_SUBMITTED,
    CUSTOMER_JOINED,
    *privacy_events.ALL,
)


def order_placed(number: str = "A-1", **overrides: Any) -> NewEvent:
    given: dict[str, Any] = {
        "type": "shop.order.placed",
        "data": {"number": number, "amount": 10},
        "actor": CLERK,
        "entities": [EntityReference("order", number)],
    }
    return NewEvent(**given | overrides)


def noted(text: str = "", **overrides: Any) -> NewEvent:
    return NewEvent(**{"type": "shop.order.noted", "data": {"text": text}, "actor": CLERK} | overrides)


def invoice_submitted(number: str = "INV-1", **overrides: Any) -> NewEvent:
    given: dict[str, Any] = {
        "type": "ap.invoice.submitted",
        "data": {"vendor_id": "V-1", "invoice_number": number},
        "actor": CLERK,
        "dimensions": {"department": "ENG"},
    }
    return NewEvent(**given | overrides)


def joined(customer_id: str = "c-1", name: str = "Ada Lovelace", **overrides: Any) -> NewEvent:
    given: dict[str, Any] = {
        "type": "shop.customer.joined",
        "data": {"customer_id": customer_id, "name": name, "contact": {"email": f"{customer_id}@example.org"}},
        "actor": CLERK,
        "entities": [EntityReference("customer", customer_id)],
    }
    return NewEvent(**given | overrides)


@pytest.fixture
async def privacy(database: Database, ring: KeyRing, tmp_path: Path) -> AsyncIterator[Privacy]:
    """A sealed log over the test database, with an archive of the test's own."""
    opened = open_private(database, ring, tmp_path / "archive")
    yield opened
    await opened.close()


@pytest.fixture
async def own_privacy(own_database: Database, tmp_path: Path) -> AsyncIterator[Privacy]:
    """The same over a database of the test's own: what reads every table would read all that was ever tested."""
    opened = open_private(own_database, KeyRing(FileKeys(tmp_path)), tmp_path / "archive")
    yield opened
    await opened.close()


@pytest.fixture
async def own_tenant(own_database: Database) -> UUID:
    return await make_tenant(own_database)


def open_private(database: Database, ring: KeyRing, archive: Path, **options: Any) -> Privacy:
    """The same, as another process would have it."""
    return Privacy(
        database, ring, DirectoryStore(archive), registry=Registry(database, SHOP), **{"listening": False} | options
    )


@pytest.fixture
async def log(database: Database) -> AsyncIterator[EventLog]:
    async with EventLog(database, registry=Registry(database, SHOP)) as opened:
        yield opened


@pytest.fixture
def fresh_log(database: Database) -> Callable[[], EventLog]:
    """A log that remembers nothing, as another process would have."""
    return lambda: EventLog(database, registry=Registry(database, SHOP))
