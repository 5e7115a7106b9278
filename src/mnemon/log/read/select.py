"""The SQL that reads a stream: a walk along the B-tree that holds it in order. Every value is a parameter."""

from dataclasses import dataclass
from typing import Any

from mnemon.errors import InvalidRequest
from mnemon.log.read.streams import LABELS, Direction, Filter, Stream

# The payload is looked up row by row; as a join, the planner may choose to go through all payloads before the page.
COLUMNS = """
    e.partition_id, e.sequence, e.recorded_at, e.previous_hash, e.hash, e.payload_digest, e.envelope,
    (SELECT p.payload FROM mnemon.event_payloads p
      WHERE p.tenant_id = %(tenant)s AND p.partition_id = ANY(%(partitions)s)
        AND p.partition_id = e.partition_id AND p.sequence = e.sequence)
"""

# OFFSET 0 keeps it a lookup per row of the side table, whose order and limit thus hold.
_EVENT_BESIDE = """CROSS JOIN LATERAL (
    SELECT * FROM mnemon.events e
     WHERE e.tenant_id = %(tenant)s AND e.partition_id = %(partition)s AND e.sequence = s.sequence OFFSET 0) e"""
_EVENT_COLUMNS = {"type": "type", "correlation": "correlation_id", "actor": "actor_id"}
_BOUNDS = {
    "from_sequence": "{walk}.sequence >= %(from_sequence)s",
    "to_sequence": "{walk}.sequence <= %(to_sequence)s",
    "occurred_from": "e.occurred_at >= %(occurred_from)s",
    "occurred_to": "e.occurred_at <= %(occurred_to)s",
    "effective_from": "e.effective_date >= %(effective_from)s",
    "effective_to": "e.effective_date <= %(effective_to)s",
    "recorded_from": "e.recorded_at >= %(recorded_from)s",
    "recorded_to": "e.recorded_at <= %(recorded_to)s",
}


@dataclass(frozen=True, slots=True)
class Selection:
    """A statement and its values, less those of `tenant`, `partition` and `partitions`."""

    statement: str
    values: dict[str, Any]


def select_stream(stream: Stream, wanted: Filter, *, direction: Direction, start: int | None, limit: int) -> Selection:
    """Up to `limit` events of a stream beyond the sequence `start`."""
    walk, origin, conditions, values = _walk(stream)
    backward = direction == "backward"
    if start is not None:
        conditions.append(f"{walk}.sequence {'<' if backward else '>'} %(start)s")
        values["start"] = start
    _narrow(wanted, walk, conditions, values)
    where = " AND ".join(conditions)
    order = f"{walk}.sequence {'DESC' if backward else 'ASC'}"
    statement = f"SELECT {COLUMNS} FROM {origin} WHERE {where} ORDER BY {order} LIMIT %(limit)s"
    return Selection(statement, values | {"limit": limit})


def _walk(stream: Stream) -> tuple[str, str, list[str], dict[str, Any]]:
    """The alias whose sequence is walked along, the FROM clause, and what picks the stream out of it."""
    if stream.kind == "scope":
        return "e", "mnemon.events e", _within("e"), {}
    if stream.kind in _EVENT_COLUMNS:
        condition = f"e.{_EVENT_COLUMNS[stream.kind]} = %(stream)s"
        return "e", "mnemon.events e", [*_within("e"), condition], {"stream": stream.value}
    if stream.kind == "entity":
        conditions = [*_within("s"), "s.entity_id = %(stream)s"]
        values = {"stream": stream.value}
        if stream.entity_type is not None:
            conditions.append("s.entity_type = %(entity_type)s")
            values["entity_type"] = stream.entity_type
        return "s", f"mnemon.event_entities s {_EVENT_BESIDE}", conditions, values
    if stream.kind in LABELS or stream.kind.startswith("scope."):
        conditions = [*_within("s"), "s.kind = %(label)s", "s.value = %(stream)s"]
        values = {"label": stream.kind, "stream": stream.value}
        return "s", f"mnemon.event_labels s {_EVENT_BESIDE}", conditions, values
    raise InvalidRequest(f"{stream.kind!r} is not a stream: use entity, scope, type, correlation, actor or tag.")


def _within(alias: str) -> list[str]:
    return [f"{alias}.tenant_id = %(tenant)s", f"{alias}.partition_id = %(partition)s"]


def _narrow(wanted: Filter, walk: str, conditions: list[str], values: dict[str, Any]) -> None:
    for name, condition in _BOUNDS.items():
        value = getattr(wanted, name)
        if value is not None:
            conditions.append(condition.format(walk=walk))
            values[name] = value
    if wanted.types:
        conditions.append("e.type = ANY(%(types)s)")
        values["types"] = list(wanted.types)
    if wanted.as_of is not None:
        last = "%(as_of)s" if isinstance(wanted.as_of, int) else "(SELECT mnemon.sequence_at(%(partition)s, %(as_of)s))"
        conditions.append(f"{walk}.sequence <= {last}")
        values["as_of"] = wanted.as_of
    for number, (name, value) in enumerate(sorted(wanted.dimensions.items())):
        conditions.append(f"e.envelope::json #>> ARRAY['dimensions', %(dimension{number})s] = %(value{number})s")
        values |= {f"dimension{number}": name, f"value{number}": value}
