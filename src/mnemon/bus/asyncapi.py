"""The AsyncAPI document: every envelope that Mnemon sends, made from the registry of event types."""

from collections.abc import Iterable
from typing import Any

from mnemon.bus.envelope import CATALOGUE, name_of_type
from mnemon.bus.schemas import envelope_schema
from mnemon.log.types.event_type import EventType

ABOUT = (
    "Events of the log as they leave Mnemon. Each comes at least once; within a legal entity they come in the order of "
    "their sequence. A receiver that knows an event_id ignores it. Personal fields are there only where whoever set up "
    "the receiver wanted them."
)


def asyncapi_document(version: str, declarations: Iterable[EventType]) -> dict[str, Any]:
    """One channel for each type, by its routing key; of a type with several versions the newest is described."""
    newest = {one.type: one for one in sorted(declarations, key=lambda one: (one.type, one.schema_version))}
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "Mnemon", "version": version, "description": ABOUT},
        "defaultContentType": "application/json",
        "channels": {one.type: _channel(one) for one in newest.values()},
        "operations": {f"send.{key}": _sending(key) for key in newest},
        "components": {"messages": {name_of_type(one.type): _message(one) for one in newest.values()}},
    }


def _channel(declaration: EventType) -> dict[str, Any]:
    name = name_of_type(declaration.type)
    return {
        "address": declaration.type,
        "messages": {name: {"$ref": f"#/components/messages/{name}"}},
    }


def _sending(key: str) -> dict[str, Any]:
    place = f"#/channels/{key}"
    return {
        "action": "send",
        "channel": {"$ref": place},
        "messages": [{"$ref": f"{place}/messages/{name_of_type(key)}"}],
    }


def _message(declaration: EventType) -> dict[str, Any]:
    tags = [{"name": declaration.module}, *([{"name": "catalogue"}] if declaration.type in CATALOGUE else [])]
    return {
        "name": name_of_type(declaration.type),
        "summary": declaration.description,
        "tags": tags,
        "contentType": "application/json",
        "correlationId": {"location": "$message.payload#/correlation_id"},
        "payload": {
            "schemaFormat": "application/schema+json;version=draft-2020-12",
            "schema": envelope_schema(declaration),
        },
    }
