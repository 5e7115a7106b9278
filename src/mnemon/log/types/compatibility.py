"""Whether a type may change as proposed: a version only grows, and the next one needs a way to it."""

from collections.abc import Iterator, Mapping
from typing import Any

from mnemon.log.types.event_type import DataMigration, EventType

ANNOTATIONS = frozenset({"$comment", "$id", "$schema", "default", "deprecated", "description", "examples", "title"})
NOT_THERE = object()


def changes_needing_a_version(old: EventType, new: EventType) -> list[str]:
    """What forbids replacing a declaration under the same version; empty if old events and readers still fit."""
    reasons = list(_schema_changes(old.data_schema, new.data_schema, "data"))
    dimensions = sorted(set(new.required_dimensions) - set(old.required_dimensions))
    reasons += [f"dimension {name} becomes required" for name in dimensions]
    reasons += [
        f"a {entity.entity_type} in the role {entity.role} becomes required"
        for entity in new.required_entities
        if entity not in old.required_entities
    ]
    lost = set(old.personal_fields) - set(new.personal_fields)
    reasons += [f"{path} is no longer declared as personal" for path in sorted(one.path for one in lost)]
    if old.business_key != new.business_key:
        reasons.append("the business key changes")
    return reasons


def changes_needing_a_type(old: EventType, new: EventType) -> list[str]:
    """What forbids `new` as the next version of `old`: fields that change meaning, or old data with no way forward."""
    reasons = [
        f"{name} changes its type from {before} to {after}"
        for name, before, after in _retyped(old.data_schema, new.data_schema)
        if new.upcast is None or (isinstance(new.upcast, DataMigration) and new.upcast.transform is None)
    ]
    if new.upcast is None:
        required = set(new.data_schema.get("required", ())) - set(old.data_schema.get("required", ()))
        reasons += [f"{name} becomes required and old events have no value for it" for name in sorted(required)]
        gone = set(_properties(old.data_schema)) - set(_properties(new.data_schema))
        reasons += [f"{name} goes away and nothing says what becomes of it" for name in sorted(gone)]
    elif isinstance(new.upcast, DataMigration):
        reasons += [f"the migration is wrong: {one}" for one in new.upcast.problems(_properties(old.data_schema))]
        given = set(new.upcast.defaults) | set(new.upcast.renames.values()) | set(new.upcast.transform or ())
        required = set(new.data_schema.get("required", ())) - set(old.data_schema.get("required", ())) - given
        reasons += [f"{name} becomes required and the migration gives it no value" for name in sorted(required)]
    return reasons


def _schema_changes(old: Any, new: Any, where: str) -> Iterator[str]:
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        if old != new:
            yield f"{where} changes"
        return
    for keyword in sorted((set(old) | set(new)) - ANNOTATIONS):
        before, after = old.get(keyword, NOT_THERE), new.get(keyword, NOT_THERE)
        if before == after:
            continue
        if keyword == "properties":
            yield from _property_changes(_properties(old), _properties(new), where)
        elif keyword == "items" and NOT_THERE not in (before, after):
            yield from _schema_changes(before, after, f"{where}[*]")
        elif keyword == "required":
            yield from _required_changes(old, new, where)
        else:
            yield f"{keyword} of {where} changes"


def _property_changes(old: Mapping[str, Any], new: Mapping[str, Any], where: str) -> Iterator[str]:
    for name in sorted(set(old) - set(new)):
        yield f"{where}.{name} goes away"
    for name in sorted(set(old) & set(new)):
        yield from _schema_changes(old[name], new[name], f"{where}.{name}")


def _required_changes(old: Mapping[str, Any], new: Mapping[str, Any], where: str) -> Iterator[str]:
    before, after = set(old.get("required", ())), set(new.get("required", ()))
    for name in sorted(after - before):
        yield f"{where}.{name} becomes required"
    for name in sorted(before - after):
        yield f"{where}.{name} is no longer required"


def _retyped(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    before, after = _properties(old), _properties(new)
    for name in sorted(set(before) & set(after)):
        one, other = before[name], after[name]
        if isinstance(one, Mapping) and isinstance(other, Mapping) and one.get("type") != other.get("type"):
            yield name, one.get("type", "anything"), other.get("type", "anything")


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties", {})
    return properties if isinstance(properties, Mapping) else {}
