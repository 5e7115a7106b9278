"""Events as callers see them: what they hand in, what they get back, what they read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload
from uuid import UUID

import orjson

from mnemon.log.moments import read_moment, written

ActorType = Literal["human", "agent", "system", "external", "import"]
ACTOR_TYPES: frozenset[str] = frozenset({"human", "agent", "system", "external", "import"})
MAIN = "main"

Value = TypeVar("Value")

Lift = Callable[[str, int, dict[str, Any]], tuple[int, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Delegator:
    """On whose behalf an actor acts."""

    type: str
    id: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did it. The id is a pseudonym; name and address are personal and live in the payload."""

    type: ActorType
    id: str
    name: str | None = None
    on_behalf_of: Delegator | None = None
    session_id: str | None = None
    trust_level: str | None = None
    ip_address: str | None = None
    # Whose eyes it has, the first of them as owner of what it keeps, where that is not its own id. Not recorded.
    reads_as: tuple[str, ...] = ()

    @property
    def person_id(self) -> str:
        """Whose words it says: an agent says those of whoever it acts for."""
        behalf = self.on_behalf_of
        return behalf.id if self.type == "agent" and behalf is not None else self.id


SYSTEM = Actor("system", "mnemon", "Mnemon")
# Whoever runs a command, or a program on a home, owns the machine; that is who the record names.
OPERATOR = Actor("system", "operator:cli")
PROGRAM = Actor("system", "program")


@dataclass(frozen=True, slots=True)
class EntityReference:
    """An entity that an event is about, and the part it plays in it."""

    entity_type: str
    entity_id: str
    role: str = "subject"


@dataclass(frozen=True, slots=True)
class Scope:
    """Where in the organisation it happened. The tenant is never part of it: that comes from the credential."""

    legal_entity: str = MAIN
    division: str | None = None
    region: str | None = None
    site: str | None = None
    custom_scopes: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_plain(self) -> bool:
        """Nothing but a legal entity is named."""
        return not (self.division or self.region or self.site or self.custom_scopes)


@dataclass(frozen=True, slots=True)
class Source:
    """Which system and channel an event came through."""

    system: str = "mnemon"
    channel: str = "api"
    reference: str | None = None


PLAIN_SCOPE = Scope()
PLAIN_SOURCE = Source()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """A fact that a caller asks the log to record. What is left out gets the obvious value."""

    type: str
    data: Mapping[str, Any]
    actor: Actor = SYSTEM
    entities: Sequence[EntityReference] = ()
    scope: Scope = PLAIN_SCOPE
    dimensions: Mapping[str, str] = field(default_factory=dict)
    tags: Sequence[str] = ()
    schema_version: int | None = None
    occurred_at: datetime | None = None
    effective_date: date | None = None
    correlation_id: str | None = None
    caused_by: str | None = None
    intent_id: str | None = None
    source: Source = PLAIN_SOURCE
    rules_evaluated: Sequence[Mapping[str, Any]] = ()
    idempotency_key: str | None = None
    # How many events came under one key, where it is a whole request's.
    sent_with: int = 0
    expected_versions: Mapping[tuple[str, str], int] = field(default_factory=dict)
    approved_by: str | None = None
    id: str | None = None


class Appended(NamedTuple):
    """What the log says about an event it holds; `duplicate` if it held it before this call."""

    id: str
    sequence: int
    recorded_at: datetime
    previous_hash: bytes
    hash: bytes
    duplicate: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "sequence": str(self.sequence),
            "recorded_at": written(self.recorded_at),
            "checksum": self.hash.hex(),
            "duplicate": self.duplicate,
        }


class lazy(Generic[Value]):  # noqa: N801  used as a decorator
    """A value that is worked out when first looked at, and then kept in the instance, which answers by itself.

    Like functools.cached_property, without its lock per access.
    """

    def __init__(self, work_out: Callable[[Any], Value]) -> None:
        self._work_out = work_out
        self._name = work_out.__name__
        self.__doc__ = work_out.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> "lazy[Value]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> "Value | lazy[Value]":
        if instance is None:
            return self
        value = self._work_out(instance)
        instance.__dict__[self._name] = value
        return value


@dataclass(frozen=True, init=False)
class Event:
    """A recorded event. Its text is decoded when it is first looked at, so that a reader pays for what it uses."""

    tenant_id: UUID
    legal_entity: str
    partition_id: int
    sequence: int
    recorded_at: datetime
    previous_hash: bytes
    hash: bytes
    payload_digest: bytes
    envelope_text: str
    payload_text: str | None
    lift: Lift | None = field(default=None, compare=False, repr=False)

    def __init__(
        self, tenant_id: UUID, legal_entity: str, partition_id: int, sequence: int, recorded_at: datetime,
        previous_hash: bytes, hash: bytes, payload_digest: bytes, envelope_text: str, payload_text: str | None,  # noqa: A002
        lift: Lift | None = None,
    ) -> None:  # fmt: skip
        # A frozen dataclass sets its fields one by one, which takes twice as long, for every event of a replay.
        self.__dict__.update(
            tenant_id=tenant_id, legal_entity=legal_entity, partition_id=partition_id, sequence=sequence,
            recorded_at=recorded_at, previous_hash=previous_hash, hash=hash, payload_digest=payload_digest,
            envelope_text=envelope_text, payload_text=payload_text, lift=lift,
        )  # fmt: skip

    @lazy
    def envelope(self) -> dict[str, Any]:
        """The attested fields, exactly as hashed."""
        decoded: dict[str, Any] = orjson.loads(self.envelope_text)
        return decoded

    @lazy
    def payload(self) -> dict[str, Any]:
        """Data and personal fields of the actor; empty when it is kept elsewhere."""
        decoded: dict[str, Any] = orjson.loads(self.payload_text) if self.payload_text is not None else {}
        return decoded

    def lifted_by(self, lift: Lift | None) -> "Event":
        """The same event with its data in a newer version. What was decoded already is not decoded again."""
        lifted = object.__new__(Event)
        lifted.__dict__.update(self.__dict__, lift=lift)
        lifted.__dict__.pop("_lifted", None)
        return lifted

    @property
    def id(self) -> str:
        return str(self.envelope["id"])

    @lazy
    def type(self) -> str:
        return str(self.envelope["type"])

    @property
    def module(self) -> str:
        return self.type.partition(".")[0]

    @property
    def schema_version(self) -> int:
        return int(self.envelope["schema_version"])

    @property
    def data(self) -> dict[str, Any]:
        """The data in the newest version of the type; `payload` has it as recorded."""
        recorded: dict[str, Any] = self.payload.get("data", {})
        return recorded if self.lift is None else self._lifted[1]

    @property
    def data_version(self) -> int:
        return self.schema_version if self.lift is None else self._lifted[0]

    @lazy
    def _lifted(self) -> tuple[int, dict[str, Any]]:
        assert self.lift is not None
        return self.lift(self.type, self.schema_version, self.payload.get("data", {}))

    @property
    def occurred_at(self) -> datetime:
        return read_moment(self.envelope["occurred_at"])

    @property
    def effective_date(self) -> date:
        return date.fromisoformat(self.envelope["effective_date"])

    @lazy
    def actor_id(self) -> str:
        return str(self.envelope["actor"]["id"])

    @property
    def correlation_id(self) -> str:
        return str(self.envelope["correlation_id"])

    @property
    def caused_by(self) -> str | None:
        cause: str | None = self.envelope.get("caused_by")
        return cause

    @property
    def tags(self) -> list[str]:
        return list(self.envelope.get("tags", ()))

    @property
    def dimensions(self) -> dict[str, str]:
        return dict(self.envelope.get("dimensions", {}))

    @lazy
    def entities(self) -> tuple[EntityReference, ...]:
        return tuple(EntityReference(**reference) for reference in self.envelope.get("entities", ()))

    def as_json(self) -> dict[str, Any]:
        """The event as REST, exports and command line show it; a sequence is a string there."""
        actor = self.envelope["actor"] | self.payload.get("actor", {})
        if delegator := self.envelope["actor"].get("on_behalf_of"):
            actor["on_behalf_of"] = delegator | self.payload.get("actor", {}).get("on_behalf_of", {})
        return {
            "id": self.id,
            "sequence": str(self.sequence),
            "type": self.type,
            "schema_version": self.schema_version,
            "occurred_at": self.envelope["occurred_at"],
            "recorded_at": written(self.recorded_at),
            "effective_date": self.envelope["effective_date"],
            "scope": self.envelope["scope"],
            "actor": actor,
            "caused_by": self.caused_by,
            "intent_id": self.envelope.get("intent_id"),
            "correlation_id": self.correlation_id,
            "data": self.data,
            "dimensions": self.dimensions,
            "entities": self.envelope.get("entities", []),
            "metadata": {
                "rules_evaluated": self.payload.get("rules_evaluated", []),
                "checksum": self.hash.hex(),
                "previous_checksum": self.previous_hash.hex(),
                "tags": self.tags,
                "source": self.envelope["source"],
                "approved_by": self.envelope.get("approved_by"),
            },
        }
