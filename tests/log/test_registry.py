"""The type registry: what may be declared, how types evolve, and how old data reaches new readers."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.errors import InvalidRequest
from mnemon.log.errors import InvalidEvent, TypeDeprecated, TypeIncompatible, TypeNotRegistered
from mnemon.log.events import NewEvent
from mnemon.log.read.streams import Stream
from mnemon.log.store import EventLog
from mnemon.log.types.event_type import (
    BusinessKey,
    DataMigration,
    EntityRequirement,
    EventType,
    PersonalField,
    built_in_types,
    declare,
)
from mnemon.log.types.registry import Registry

from .conftest import CLERK

VISIT = EventType(
    type="clinic.visit.booked",
    data_schema={
        "type": "object",
        "required": ["room"],
        "properties": {"room": {"type": "string"}, "floor": {"type": "integer"}},
        "additionalProperties": False,
    },
    examples=({"room": "4a"},),
)


def with_properties(declared: EventType, required: list[str], **properties: Any) -> EventType:
    schema = {"type": "object", "required": required, "properties": properties, "additionalProperties": False}
    return replace(declared, data_schema=schema)


def visit(**data: Any) -> NewEvent:
    return NewEvent(type="clinic.visit.booked", data=data, actor=CLERK)


async def test_a_tenant_uses_a_type_once_it_is_registered(log: EventLog, tenant: UUID, other_tenant: UUID) -> None:
    await log.register_type(tenant, VISIT, CLERK)
    [appended] = await log.append(tenant, [visit(room="4a")])
    assert (await log.read_event(tenant, appended.id)).type == "clinic.visit.booked"
    with pytest.raises(TypeNotRegistered):
        await log.append(other_tenant, [visit(room="4a")])


async def test_a_registration_is_an_event_and_a_repeat_is_not(log: EventLog, tenant: UUID) -> None:
    await log.register_type(tenant, VISIT, CLERK)
    await log.register_type(tenant, VISIT, CLERK)
    page = await log.read_page(tenant, Stream.of_entity("event_type", "clinic.visit.booked"))
    [event] = page.events
    assert event.actor_id == "u-1"
    assert EventType.from_json(event.data["declaration"]) == VISIT


async def test_another_process_finds_new_types_and_new_fields(
    log: EventLog, fresh_log: Callable[[], EventLog], tenant: UUID
) -> None:
    other = fresh_log()
    await log.register_type(tenant, VISIT, CLERK)
    await other.append(tenant, [visit(room="4a")])
    wider = with_properties(
        VISIT, ["room"], room={"type": "string"}, floor={"type": "integer"}, bed={"type": "integer"}
    )
    await log.register_type(tenant, wider, CLERK)
    await other.append(tenant, [visit(room="4a", bed=2)])


async def test_every_part_of_a_declaration_survives_the_round_trip() -> None:
    full = replace(
        VISIT,
        module="clinic",
        description="A visit was booked.",
        required_dimensions=("ward",),
        optional_dimensions=("doctor",),
        required_entities=(EntityRequirement("patient", "subject", "one_or_more"),),
        personal_fields=(PersonalField("name", "identity", subject_role="subject"),
                         PersonalField("contact.mail", "contact", subject_path="patient_id")),
        retention_class="regulatory",
        minimum_retention_years=7,
        business_key=BusinessKey(("room",)),
        upcast=DataMigration({"place": "room"}, {"floor": 0}),
    )  # fmt: skip
    assert EventType.from_json(full.as_json()) == full


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        (replace(VISIT, data_schema={"type": "objekt"}), "schema of clinic.visit.booked is not valid"),
        (replace(VISIT, data_schema={"$ref": "http://192.0.2.1/schema"}), "schema of clinic.visit.booked is not valid"),
        (replace(VISIT, examples=({"room": 4},)), "Example 1 of clinic.visit.booked does not fit"),
        (replace(VISIT, business_key=BusinessKey(("a b",))), "'a b' is not a path"),
        (
            replace(
                VISIT,
                business_key=BusinessKey(("room",)),
                personal_fields=(PersonalField("room", "place", subject_role="subject"),),
            ),
            "room is personal and cannot be part of a business key",
        ),
    ],
)
async def test_a_wrong_declaration_is_refused(log: EventLog, tenant: UUID, declared: EventType, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        await log.register_type(tenant, declared, CLERK)


def test_names_personal_fields_and_declarations_are_checked() -> None:
    for name in ("Clinic.visit", "visit", "clinic..x", "clinic.visit;drop"):
        with pytest.raises(InvalidRequest, match="is not an event type"):
            EventType(type=name, data_schema={})
    with pytest.raises(InvalidRequest, match="whose is it"):
        PersonalField("name", "identity")
    with pytest.raises(InvalidRequest, match="incomplete or malformed"):
        EventType.from_json({"type": "clinic.visit.booked"})


async def test_a_built_in_type_cannot_be_declared_again(log: EventLog, tenant: UUID) -> None:
    with pytest.raises(TypeIncompatible, match="is built in"):
        await log.register_type(tenant, EventType(type="shop.order.placed", data_schema={}), CLERK)


ROOM = {"type": "string"}
FLOOR = {"type": "integer"}


class TestEvolution:
    async def test_an_optional_field_needs_no_new_version(self, log: EventLog, tenant: UUID) -> None:
        await log.register_type(tenant, VISIT, CLERK)
        with pytest.raises(InvalidEvent):
            await log.append(tenant, [visit(room="4a", note="x")])
        wider = with_properties(VISIT, ["room"], room=ROOM, floor=FLOOR, note={"type": "string"})
        await log.register_type(tenant, wider, CLERK)
        await log.append(tenant, [visit(room="4a", note="x")])

    @pytest.mark.parametrize(
        ("changed", "reason"),
        [
            (with_properties(VISIT, ["room", "floor"], room=ROOM, floor=FLOOR), "data.floor becomes required"),
            (with_properties(VISIT, ["room"], room=ROOM), "data.floor goes away"),
            (with_properties(VISIT, ["room"], room=FLOOR, floor=FLOOR), "type of data.room changes"),
            (with_properties(VISIT, [], room=ROOM, floor=FLOOR), "data.room is no longer required"),
            (replace(VISIT, required_dimensions=("ward",)), "dimension ward becomes required"),
            (replace(VISIT, required_entities=(EntityRequirement("patient", "subject"),)), "a patient in the role"),
            (replace(VISIT, business_key=BusinessKey(("room",))), "business key changes"),
        ],
    )
    async def test_an_incompatible_change_without_a_new_version_is_refused_with_the_reason(
        self, log: EventLog, tenant: UUID, changed: EventType, reason: str
    ) -> None:
        await log.register_type(tenant, VISIT, CLERK)
        with pytest.raises(TypeIncompatible, match=reason) as refused:
            await log.register_type(tenant, replace(changed, examples=()), CLERK)
        assert "register it as version 2" in refused.value.message

    async def test_versions_come_one_after_the_other(self, log: EventLog, tenant: UUID) -> None:
        with pytest.raises(TypeIncompatible, match="is at version 0: the next one is 1, not 2"):
            await log.register_type(tenant, replace(VISIT, schema_version=2), CLERK)

    @pytest.mark.parametrize(
        ("changed", "reason"),
        [
            (with_properties(VISIT, ["room", "floor"], room=ROOM, floor=FLOOR), "floor becomes required and old"),
            (with_properties(VISIT, ["room"], room=ROOM), "floor goes away and nothing says"),
            (with_properties(VISIT, ["room"], room=FLOOR, floor=FLOOR), "room changes its type from string to integer"),
            (
                replace(
                    with_properties(VISIT, ["room", "bed"], room=ROOM, bed=FLOOR),
                    upcast=DataMigration({"floor": "level"}),
                ),
                "bed becomes required and the migration gives it no value",
            ),
            (
                replace(
                    with_properties(VISIT, ["room", "bed"], room=ROOM, bed=FLOOR),
                    upcast=DataMigration({}, {"bed": "x"}),
                ),
                "example 1 of version 1, migrated, does not fit",
            ),
        ],
    )
    async def test_a_new_version_needs_a_way_from_the_old_one(
        self, log: EventLog, tenant: UUID, changed: EventType, reason: str
    ) -> None:
        await log.register_type(tenant, VISIT, CLERK)
        with pytest.raises(TypeIncompatible, match=reason):
            await log.register_type(tenant, replace(changed, schema_version=2, examples=()), CLERK)

    async def test_old_events_are_lifted_on_read_and_stay_as_they_were(self, log: EventLog, tenant: UUID) -> None:
        await log.register_type(tenant, VISIT, CLERK)
        [old] = await log.append(tenant, [visit(room="4a", floor=2)])
        second = with_properties(VISIT, ["place", "floor"], place=ROOM, floor=FLOOR)
        renamed = DataMigration({"room": "place"}, {"floor": 0})
        await log.register_type(tenant, replace(second, schema_version=2, examples=(), upcast=renamed), CLERK)
        third = with_properties(VISIT, ["place", "floor", "bed"], place=ROOM, floor=FLOOR, bed=FLOOR)
        await log.register_type(
            tenant, replace(third, schema_version=3, examples=(), upcast=DataMigration({}, {"bed": 1})), CLERK
        )
        event = await log.read_event(tenant, old.id)
        assert event.data == {"place": "4a", "floor": 2, "bed": 1}
        assert (event.schema_version, event.data_version) == (1, 3)
        assert event.payload["data"] == {"room": "4a", "floor": 2}
        with pytest.raises(InvalidEvent):
            await log.append(tenant, [visit(room="4a")])
        await log.append(tenant, [replace(visit(room="4a"), schema_version=1)])

    async def test_two_registrations_at_once_are_checked_against_each_other(
        self, fresh_log: Callable[[], EventLog], tenant: UUID
    ) -> None:
        text = with_properties(VISIT, ["room"], room=ROOM)
        number = replace(with_properties(VISIT, ["room"], room=FLOOR), examples=())
        results = await asyncio.gather(
            *(fresh_log().register_type(tenant, one, CLERK) for one in (text, number)), return_exceptions=True
        )
        assert sum(isinstance(one, TypeIncompatible) for one in results) == 1


async def test_upcasters_in_code_are_composed_and_bear_erased_fields(database: Database, tenant: UUID) -> None:
    def split_name(data: dict[str, Any]) -> dict[str, Any]:
        first, _, last = data.pop("name", "").partition(" ")
        return {**data, "first": first, "last": last}

    first = EventType(type="crm.person.met", data_schema={"type": "object"})
    second = replace(first, schema_version=2, upcast=split_name)
    third = replace(first, schema_version=3, upcast=DataMigration(defaults={"met_at": "unknown"}))
    registry = Registry(database, [first, second, third])
    lifted = registry.lifter(tenant)("crm.person.met", 1, {"name": "Ada Lovelace"})
    assert lifted == (3, {"first": "Ada", "last": "Lovelace", "met_at": "unknown"})
    erased = registry.lifter(tenant)("crm.person.met", 1, {"name": "[REDACTED]"})
    assert erased == (3, {"first": "[REDACTED]", "last": "", "met_at": "unknown"})


def test_a_type_in_code_is_declared_once() -> None:
    import mnemon.log.types.builtin as builtin

    assert builtin.PERIOD_CHANGED in built_in_types()
    assert declare(builtin.PERIOD_CHANGED) is builtin.PERIOD_CHANGED
    with pytest.raises(InvalidRequest, match="declared twice"):
        declare(replace(builtin.PERIOD_CHANGED, description="something else"))


async def test_a_rename_that_would_overwrite_is_refused(log: EventLog, tenant: UUID) -> None:
    await log.register_type(tenant, VISIT, CLERK)
    both = with_properties(replace(VISIT, schema_version=2, examples=()), ["room"], room={"type": "string"})
    for renames in ({"floor": "room"}, {"room": "place", "floor": "place"}):
        with pytest.raises(TypeIncompatible, match=r"overwritten|two fields"):
            await log.register_type(tenant, replace(both, upcast=DataMigration(renames)), CLERK)


async def test_a_declared_transformation_restructures_old_data(log: EventLog, tenant: UUID) -> None:
    await log.register_type(tenant, VISIT, CLERK)
    [old] = await log.append(tenant, [visit(room="4a", floor=2)])
    place = {"type": "object", "required": ["room"], "properties": {"room": {"type": "string"}, "floor": {}}}
    shape = with_properties(replace(VISIT, schema_version=2, examples=()), ["place"], place=place, note={})
    wrong = DataMigration(transform={"place": {"floor": "$.floor"}})
    with pytest.raises(TypeIncompatible, match="migrated, does not fit"):
        await log.register_type(tenant, replace(shape, upcast=wrong), CLERK)
    right = DataMigration(
        defaults={"note": "-"}, transform={"place": {"room": "$.room", "floor": "$.floor", "price": "$.price"}}
    )
    await log.register_type(tenant, replace(shape, upcast=right), CLERK)
    event = await log.read_event(tenant, old.id)
    assert (event.data, event.data_version) == ({"place": {"room": "4a", "floor": 2}, "note": "-"}, 2)
    assert event.payload["data"] == {"room": "4a", "floor": 2}


async def test_data_that_does_not_fit_once_migrated_is_read_as_it_was_recorded(log: EventLog, tenant: UUID) -> None:
    await log.register_type(tenant, VISIT, CLERK)
    [low, high] = await log.append(tenant, [visit(room="4a", floor=2), visit(room="99", floor=40)])
    few = with_properties(
        replace(VISIT, schema_version=2, examples=()), ["room", "level"],
        room={"type": "string"}, level={"type": "integer", "maximum": 10},
    )  # fmt: skip
    migration = DataMigration({"floor": "level"}, {"level": 0})
    await log.register_type(tenant, replace(few, upcast=migration), CLERK)
    read = {event.sequence: event for event in (await log.read_page(tenant)).events}
    assert (read[low.sequence].data, read[low.sequence].data_version) == ({"room": "4a", "level": 2}, 2)
    assert (read[high.sequence].data, read[high.sequence].data_version) == ({"room": "99", "floor": 40}, 1)


async def test_a_deprecated_type_takes_no_new_events_and_is_read_as_before(log: EventLog, tenant: UUID) -> None:
    await log.register_type(tenant, VISIT, CLERK)
    [old] = await log.append(tenant, [visit(room="4a")])
    later = replace(VISIT, deprecated_at=datetime.now(UTC) + timedelta(days=30))
    await log.register_type(tenant, later, CLERK)
    await log.append(tenant, [visit(room="4b")])
    await log.register_type(tenant, replace(VISIT, deprecated_at=datetime.now(UTC)), CLERK)
    with pytest.raises(TypeDeprecated, match="deprecated since"):
        await log.append(tenant, [visit(room="4c")])
    assert (await log.read_event(tenant, old.id)).data == {"room": "4a"}
    [listed] = [one for one in await log.registry.list(tenant) if one.type == VISIT.type]
    assert listed.deprecated_at is not None
