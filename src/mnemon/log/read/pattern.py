"""Patterns: which events a subscriber wants, and the bounded walk along a partition that finds the next of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import UUID

from mnemon.errors import InvalidRequest
from mnemon.log.events import Event
from mnemon.log.read.reader import LogReader
from mnemon.log.read.select import COLUMNS
from mnemon.log.read.streams import LABELS

# How far one look goes. A subscriber to rare events thus never holds a snapshot for long, and its cursor moves on.
SCAN_WINDOW = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """All parts that are given must fit; within a part, any of its values. An empty part leaves nothing out.

    `scopes` names division, region, site or custom scopes; all of them must fit.
    """

    types: Sequence[str] = ()
    entities: Sequence[tuple[str, str]] = ()
    legal_entities: Sequence[str] = ()
    scopes: Mapping[str, str] = field(default_factory=dict)
    modules: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "event_types": list(self.types),
            "entities": [{"entity_type": kind, "entity_id": name} for kind, name in self.entities],
            "legal_entities": list(self.legal_entities),
            "scopes": dict(self.scopes),
            "modules": list(self.modules),
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """Read what `as_json` wrote, or what a client sent in that form; null and absent mean everything."""
        try:
            return cls(
                types=_texts(given.get("event_types")),
                entities=tuple((str(one["entity_type"]), str(one["entity_id"])) for one in given.get("entities") or ()),
                legal_entities=_texts(given.get("legal_entities")),
                scopes={str(name): str(value) for name, value in (given.get("scopes") or {}).items()},
                modules=_texts(given.get("modules")),
            )
        except (KeyError, TypeError, AttributeError) as failure:
            raise InvalidRequest(f"The pattern is malformed: {failure}.") from None

    def wants_partition(self, legal_entity: str) -> bool:
        return not self.legal_entities or legal_entity in self.legal_entities

    def fits(self, event: Event) -> bool:
        """The same question as the SQL below answers, for an event at hand."""
        return (
            self.wants_partition(event.legal_entity)
            and (not self.types or event.type in self.types)
            and (not self.modules or event.module in self.modules)
            and (not self.entities or any((one.entity_type, one.entity_id) in self.entities for one in event.entities))
            and (not self.scopes or self._fits_scope(event.envelope["scope"]))
        )

    def _fits_scope(self, scope: Mapping[str, Any]) -> bool:
        custom = scope.get("custom_scopes") or {}
        return all((scope if name in LABELS else custom).get(name) == value for name, value in self.scopes.items())


ALL_EVENTS = Pattern()


@dataclass(frozen=True, slots=True)
class FoundEvents:
    """The next events of a partition that fit, and how far it has been searched."""

    events: Sequence[Event]
    searched_to: int


async def find_next(
    reader: LogReader, tenant: UUID, pattern: Pattern, partition: tuple[int, str], *, after: int, head: int, limit: int
) -> FoundEvents:
    """Up to `limit` events beyond `after` that fit. `head` is a sequence that is known to be committed."""
    partition_id, legal_entity = partition
    last = min(head, after + SCAN_WINDOW)
    if after >= last:
        return FoundEvents([], after)
    statement, values = _select(pattern)
    values |= {"tenant": tenant, "partition": partition_id, "partitions": [partition_id]}
    values |= {"after": after, "last": last, "limit": limit}
    async with reader.transaction(tenant) as connection:
        events = await reader.fetch_in(connection, tenant, {partition_id: legal_entity}, statement, values)
    searched_to = events[-1].sequence if len(events) == limit else last
    return FoundEvents(await reader.open(tenant, events), searched_to)


async def event_at(reader: LogReader, tenant: UUID, partition: tuple[int, str], sequence: int) -> Event:
    """The event at a sequence that is known to be committed."""
    found = await find_next(reader, tenant, ALL_EVENTS, partition, after=sequence - 1, head=sequence, limit=1)
    return found.events[0]


def _select(pattern: Pattern) -> tuple[str, dict[str, Any]]:
    """Each condition is a lookup by primary key for the event at hand, so the walk stays in order."""
    conditions: list[str] = []
    values: dict[str, Any] = {}
    if pattern.types:
        conditions.append("e.type = ANY(%(types)s)")
        values["types"] = list(pattern.types)
    if pattern.modules:
        conditions.append("split_part(e.type, '.', 1) = ANY(%(modules)s)")
        values["modules"] = list(pattern.modules)
    if pattern.entities:
        conditions.append(
            "EXISTS (SELECT FROM unnest(%(kinds)s::text[], %(names)s::text[]) AS one (kind, name),"
            " mnemon.event_entities s"
            " WHERE s.tenant_id = %(tenant)s AND s.partition_id = %(partition)s AND s.entity_id = one.name"
            " AND s.entity_type = one.kind AND s.sequence = e.sequence)"
        )
        values |= {"kinds": [kind for kind, _ in pattern.entities], "names": [name for _, name in pattern.entities]}
    for number, (scope, value) in enumerate(sorted(pattern.scopes.items())):
        conditions.append(
            "EXISTS (SELECT FROM mnemon.event_labels s"
            " WHERE s.tenant_id = %(tenant)s AND s.partition_id = %(partition)s"
            f" AND s.kind = %(scope{number})s AND s.value = %(value{number})s AND s.sequence = e.sequence)"
        )
        values |= {f"scope{number}": scope if scope in LABELS else f"scope.{scope}", f"value{number}": value}
    narrowed = "".join(f" AND {condition}" for condition in conditions)
    statement = f"""
        SELECT {COLUMNS} FROM mnemon.events e
         WHERE e.tenant_id = %(tenant)s AND e.partition_id = %(partition)s
           AND e.sequence > %(after)s AND e.sequence <= %(last)s{narrowed}
         ORDER BY e.sequence LIMIT %(limit)s
    """
    return statement, values


def _texts(given: Any) -> tuple[str, ...]:
    if isinstance(given, str):
        raise TypeError(f"{given!r} should be a list")
    return tuple(str(one) for one in given or ())
