"""The events that the log's benchmark writes: an order of about a kilobyte with two entities."""

import random

import orjson

from mnemon.log.events import Actor, EntityReference, NewEvent, Scope
from mnemon.log.types.event_type import EventType, declare

CUSTOMERS = 5_000

ORDER = declare(
    EventType(
        type="bench.order.placed",
        data_schema={
            "type": "object",
            "required": ["number", "customer", "lines"],
            "properties": {
                "number": {"type": "string", "maxLength": 40},
                "customer": {"type": "string"},
                "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
                "lines": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "object",
                        "required": ["line", "amount"],
                        "properties": {
                            "line": {"type": "integer"},
                            "amount": {"type": "number"},
                            "text": {"type": "string"},
                        },
                    },
                },
            },
        },
    )
)
# As the doors make it: who acts is an id. A name is personal, and would be sealed.
CLERK = Actor("human", "clerk-7")
NAMED_CLERK = Actor("human", "clerk-7", "A. Clerk")
MAIN, LONG = Scope(), Scope("long")


def order_data(number: int) -> dict[str, object]:
    lines = [
        {"line": line, "amount": line * 12.5, "text": f"item {line} of order {number} " + "x" * 60} for line in range(9)
    ]
    return {"number": f"ORD-{number}", "customer": f"C-{number % CUSTOMERS}", "currency": "EUR", "lines": lines}


def order(number: int, scope: Scope, actor: Actor = CLERK) -> NewEvent:
    customer = f"C-{random.randrange(CUSTOMERS)}"
    return NewEvent(
        type=ORDER.type,
        data=order_data(number),
        actor=actor,
        scope=scope,
        entities=[EntityReference("order", f"ORD-{number}"), EntityReference("customer", customer, "buyer")],
        correlation_id=f"process-{number // 3}",
    )


class Orders:
    """Numbers every order, so that no two are the same."""

    def __init__(self) -> None:
        self.number = 0

    def take(self, count: int, scope: Scope = MAIN, actor: Actor = CLERK) -> list[NewEvent]:
        self.number += count
        return [order(number, scope, actor) for number in range(self.number - count, self.number)]


DATA_BYTES = len(orjson.dumps(order_data(123_456)))
