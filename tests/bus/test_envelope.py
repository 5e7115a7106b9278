"""What leaves the log has the specification's envelope, fits its schema, and tells nothing personal unasked."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import jsonschema_rs
import orjson
import pytest

from mnemon.bus.asyncapi import asyncapi_document
from mnemon.bus.envelope import CATALOGUE, name_of_type, outward
from mnemon.bus.schemas import envelope_schema
from mnemon.doors import load_every_room
from mnemon.log.events import Event
from mnemon.log.types.event_type import EventType, PersonalField, built_in_types
from mnemon.log.types.paths import values_at

load_every_room()
TYPES = {f"{one.type} {one.schema_version}": one for one in built_in_types()}


def event_of(declaration: EventType, data: Any) -> Event:
    envelope = {
        "id": "01JD0000000000000000000000", "type": declaration.type, "correlation_id": "all-of-it",
        "schema_version": declaration.schema_version, "caused_by": None,
    }  # fmt: skip
    when = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
    texts = orjson.dumps(envelope).decode(), orjson.dumps({"data": data}).decode()
    return Event(UUID(int=1), "main", 1, 7, when, b"", b"", b"", *texts)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("personal", [False, True])
def test_every_declared_event_fits_the_schema_of_its_envelope(name: str, personal: bool) -> None:
    declaration = TYPES[name]
    fits = jsonschema_rs.validator_for(envelope_schema(declaration))
    for example in declaration.examples:
        sent = outward(event_of(declaration, example), declaration, personal=personal)
        assert [one.message for one in fits.iter_errors(sent)] == []


def test_the_envelope_is_the_specification_s_with_what_it_belongs_to() -> None:
    declaration = TYPES["archive.ingested 1"]
    sent = outward(event_of(declaration, declaration.examples[0]), declaration)
    assert sent["event_type"] == "ArchiveIngested"
    assert (sent["version"], sent["timestamp"]) == ("1.0", "2026-03-01T09:30:00.000000Z")
    assert (sent["correlation_id"], sent["causation_id"]) == ("all-of-it", None)
    assert sent["position"] == {"tenant_id": str(UUID(int=1)), "legal_entity": "main", "sequence": "7"}
    assert "subject" not in sent["data"]
    assert sent["data"]["archive_id"] == declaration.examples[0]["archive_id"]


def test_what_is_personal_stays_inside_unless_it_is_allowed_out() -> None:
    declaration = TYPES["archive.ingested 1"]
    event = event_of(declaration, declaration.examples[0])
    assert "source_url" not in outward(event, declaration)["data"]
    assert outward(event, declaration, personal=True)["data"]["source_url"].startswith("rsync://")


def test_the_words_of_memory_objects_stay_inside_as_a_broker_knows_no_readers() -> None:
    declaration = TYPES["emo.created 1"]
    data = {
        "emo_id": str(UUID(int=2)), "emo_version": 1, "world_id": str(UUID(int=1)), "branch": "main",
        "idempotency_key": "k", "change_id": str(UUID(int=3)), "content": "The marmot budget is secret",
        "rationale": "marmots", "facets": {"animal": "marmot"}, "scope": {"readers": ["user:1"]},
    }  # fmt: skip
    sent = outward(event_of(declaration, data), declaration)
    assert "marmot" not in orjson.dumps(sent).decode()
    assert sent["data"]["emo_id"] == data["emo_id"]
    for one in (sent, outward(event_of(declaration, data), declaration, personal=True)):
        assert jsonschema_rs.validator_for(envelope_schema(declaration)).is_valid(one)


def test_personal_fields_in_lists_and_below_others_stay_inside_too() -> None:
    fields = tuple(PersonalField(path, "free_text", subject_role="subject") for path in ("$.lines[*].name", "a.b"))
    declaration = replace(TYPES["archive.ingested 1"], type="shop.order.placed", personal_fields=fields)
    data = {"lines": [{"name": "Ana", "sku": 1}, {"sku": 2}], "a": {"b": "secret", "c": 1}, "subject": "kept"}
    sent = outward(event_of(declaration, data), declaration)["data"]
    assert sent == {"lines": [{"sku": 1}, {"sku": 2}], "a": {"c": 1}, "subject": "kept"}
    assert not list(values_at(sent, "lines[*].name"))


def test_a_type_outside_the_catalogue_is_named_the_same_way() -> None:
    assert name_of_type("report.delivery_failed") == "ReportDeliveryFailed"
    assert name_of_type("mail.threads.changed") == "MailThreadsChanged"


def test_the_document_names_every_type_and_every_reference_leads_somewhere() -> None:
    made = asyncapi_document("1.0", built_in_types())
    assert set(made["channels"]) == {one.type for one in built_in_types()}
    names = [name_of_type(key) for key in made["channels"]]
    assert len(names) == len(set(names)), "two types with one name"
    for place in _references(made):
        node = made
        for step in place.removeprefix("#/").split("/"):
            node = node[step]
    declared = {one.type for one in built_in_types()}
    assert {"archive.ingested", "json.parsed"} <= declared & set(CATALOGUE)
    for message in made["components"]["messages"].values():
        jsonschema_rs.meta.validate(message["payload"]["schema"])


def _references(node: Any) -> list[str]:
    if isinstance(node, dict):
        own = [node["$ref"]] if isinstance(node.get("$ref"), str) and node["$ref"].startswith("#/c") else []
        return own + [one for value in node.values() for one in _references(value)]
    return [one for item in node for one in _references(item)] if isinstance(node, list) else []
