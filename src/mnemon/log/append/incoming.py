"""Events and types as clients write them in JSON: the form, and its way into the log's own."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, field_validator

from mnemon.errors import InvalidRequest
from mnemon.log.events import MAIN, Actor, EntityReference, NewEvent, Scope, Source
from mnemon.log.types.event_type import Cardinality, EventType, RetentionClass
from mnemon.problems import plain_problem

# Streams are B-trees, whose keys have a limit in bytes: these stay below it in any script.
Word = Annotated[str, Field(min_length=1, max_length=100)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
EntityId = Annotated[str, Field(min_length=1, max_length=400)]
LegalEntity = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]{1,100}$")]

DECISION: dict[str, Any] = {
    "type": "board.decision.taken",
    "occurred_at": "2026-03-02T15:10:00+01:00",
    "correlation_id": "hosting-2026",
    "data": {"title": "Move the archive to Frankfurt", "outcome": "approved", "votes": {"for": 4, "against": 1}},
    "entities": [{"entity_type": "decision", "entity_id": "D-17"}],
    "tags": ["hosting"],
}
DECISION_TYPE: dict[str, Any] = {
    "type": "board.decision.taken",
    "schema_version": 1,
    "description": "The board decided something.",
    "data_schema": {
        "type": "object",
        "required": ["title", "outcome"],
        "properties": {
            "title": {"type": "string"},
            "outcome": {"enum": ["approved", "rejected", "postponed"]},
            "votes": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
    },
    "required_entity_refs": [{"entity_type": "decision", "role": "subject", "cardinality": "one"}],
    "state": [{"entity_type": "decision", "set": {"title": "$.title", "outcome": "$.outcome"}, "count": ["meetings"]}],
    "examples": [{"title": "Move the archive to Frankfurt", "outcome": "approved"}],
}


class IncomingForm(BaseModel):
    """What we do not know we refuse: a misspelt field must not vanish."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def read(cls, document: Any) -> Self:
        """The document, or the first thing that is wrong with it."""
        try:
            return cls.model_validate(document)
        except ValidationError as failure:
            problems = [
                {"field": ".".join(str(step) for step in one["loc"]) or "event", "problem": plain_problem(one)}
                for one in failure.errors()
            ]
            first = problems[0]
            raise InvalidRequest(f"{first['field']}: {first['problem']}", problems=problems) from None


class IncomingDelegator(IncomingForm):
    type: Word
    id: Name
    name: Name | None = None


class IncomingActor(IncomingForm):
    """What a caller says about who acts. Type and id come from the credential; given here, they must agree."""

    type: Word | None = None
    id: Name | None = None
    name: Name | None = None
    session_id: Name | None = None
    trust_level: Word | None = Field(None, description="Administrators only.")
    on_behalf_of: IncomingDelegator | None = Field(None, description="Administrators only.")


class IncomingEntity(IncomingForm):
    entity_type: Word
    entity_id: EntityId
    role: Word = "subject"


class IncomingScope(IncomingForm):
    tenant_id: UUID | None = Field(None, description="Not needed; if given, it must be the credential's tenant.")
    legal_entity: LegalEntity = MAIN
    division: Name | None = None
    region: Name | None = None
    site: Name | None = None
    custom_scopes: dict[Word, Name] = Field(default_factory=dict, max_length=50)


class IncomingSource(IncomingForm):
    system: Word = "mnemon"
    channel: Word = "api"
    reference: Name | None = None


class ExpectedVersion(IncomingForm):
    """The event is recorded only if the entity has had just this many events before it."""

    entity_type: Word
    entity_id: EntityId
    version: int = Field(ge=0, le=2**31 - 1)


class IncomingEvent(IncomingForm):
    """A fact to record. What is left out gets the obvious value."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [DECISION]})

    type: Name
    data: dict[str, Any]
    schema_version: int | None = Field(None, ge=1, le=2**31 - 1, description="The newest unless given.")
    occurred_at: AwareDatetime | None = Field(None, description="When it happened, with its time zone; else now.")
    effective_date: date | None = Field(None, description="The business date; else the day it happened, in UTC.")
    scope: IncomingScope = Field(default_factory=IncomingScope)
    actor: IncomingActor | None = None
    caused_by: Name | None = Field(None, description="Id of the event that led to this one.")
    intent_id: Name | None = None
    correlation_id: Name | None = Field(None, description="Groups the events of one business process.")
    dimensions: dict[Word, Name] = Field(default_factory=dict, max_length=100)
    entities: list[IncomingEntity] = Field(default_factory=list, max_length=1000)
    tags: list[Name] = Field(default_factory=list, max_length=100)
    source: IncomingSource | None = None
    rules_evaluated: list[dict[str, Any]] = Field(default_factory=list, max_length=1000)
    expected_versions: list[ExpectedVersion] = Field(default_factory=list, max_length=1000)
    idempotency_key: Name | None = Field(None, description="Makes a repeated request give the first one's result.")
    approval_id: UUID | None = Field(
        None,
        description="An approval of events.append, given by another administrator: for a date in a soft-closed period.",
    )
    id: str | None = Field(None, description="A ULID; made here unless given.")

    @field_validator("data", "rules_evaluated")
    @classmethod
    def _is_json(cls, value: Any) -> Any:
        """Python reads NaN and Infinity, which JSON does not have and the log would turn into null."""
        waiting = [value]
        while waiting:
            node = waiting.pop()
            if isinstance(node, float) and not math.isfinite(node):
                raise ValueError(f"{node} is not a number in JSON")
            if isinstance(node, dict | list):
                waiting += node.values() if isinstance(node, dict) else node
        return value

    def as_new_event(self, actor: Actor, *, channel: str, approved_by: str | None = None) -> NewEvent:
        """The event as done by this actor, whatever the client says about one."""
        source = self.source or IncomingSource(channel=channel)
        scope = self.scope
        return NewEvent(
            type=self.type,
            data=self.data,
            actor=actor,
            entities=[EntityReference(one.entity_type, one.entity_id, one.role) for one in self.entities],
            scope=Scope(scope.legal_entity, scope.division, scope.region, scope.site, scope.custom_scopes),
            dimensions=self.dimensions,
            tags=self.tags,
            schema_version=self.schema_version,
            occurred_at=self.occurred_at,
            effective_date=self.effective_date,
            correlation_id=self.correlation_id,
            caused_by=self.caused_by,
            intent_id=self.intent_id,
            source=Source(source.system, source.channel, source.reference),
            rules_evaluated=self.rules_evaluated,
            idempotency_key=self.idempotency_key,
            expected_versions={(one.entity_type, one.entity_id): one.version for one in self.expected_versions},
            approved_by=approved_by,
            id=self.id,
        )


class IncomingRequirement(IncomingForm):
    entity_type: Word
    role: Word
    cardinality: Cardinality = "one"


class IncomingPersonalField(IncomingForm):
    """Exactly one of `subject_path` and `subject_role` says whose it is."""

    field_path: Name
    pii_class: Word
    subject_path: Name | None = None
    subject_role: Word | None = None
    optional_subject: bool = Field(False, description="Where an event names nobody, the value is nobody's: plain.")


class IncomingKey(IncomingForm):
    paths: list[Name] = Field(min_length=1, max_length=20)
    window_seconds: float | None = Field(None, gt=0, description="For ever unless given.")


class IncomingMigration(IncomingForm):
    renames: dict[Name, Name] = Field(default_factory=dict, description="Old names and the new ones.")
    defaults: dict[Name, Any] = Field(default_factory=dict, description="Values of fields that old data lacks.")
    transform: dict[Name, Any] | None = Field(
        None, description="The new data as a template: texts like `$.customer.name` or `$.lines[*].price` are paths."
    )


class IncomingStateRule(IncomingForm):
    """What an event does to the state of an entity that it names. A source is a path like `$.status`, or a value."""

    entity_type: Word
    role: Word | None = Field(None, description="Only for entities in this role.")
    set: dict[Word, Any] = Field(default_factory=dict, description="Names that get the source's value.")
    remove: list[Word] = Field(default_factory=list, description="Names that are taken away.")
    add: dict[Word, Name] = Field(default_factory=dict, description="Names that numbers at a path are added to.")
    count: list[Word] = Field(default_factory=list, description="Names that count events.")
    append: dict[Word, Any] = Field(default_factory=dict, description="Lists that get the source's values.")


class IncomingType(IncomingForm):
    """What events of a type must look like."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [DECISION_TYPE]})

    type: Name = Field(description="Lower-case words with dots between them; the first is the module.")
    data_schema: dict[str, Any] = Field(description="JSON Schema 2020-12 of the event's data.")
    schema_version: int = Field(1, ge=1, le=2**31 - 1, description="One more for an incompatible change.")
    module: Word | None = Field(None, description="The first word of the type unless given.")
    description: str = Field("", max_length=2000, description="What it means, in a sentence.")
    required_dimensions: list[Word] = Field(default_factory=list, description="Dimensions that an event must have.")
    optional_dimensions: list[Word] = Field(default_factory=list, description="Dimensions that it may have.")
    required_entity_refs: list[IncomingRequirement] = Field(
        default_factory=list, description="Entities that an event must name."
    )
    pii_fields: list[IncomingPersonalField] = Field(
        default_factory=list, description="Fields about a person, which are kept under a key of theirs."
    )
    retention_class: RetentionClass = Field("standard", description="How long its events are kept.")
    minimum_retention_years: int | None = Field(None, ge=0, le=1000, description="No shorter than this.")
    business_key: IncomingKey | None = Field(None, description="What makes two events the same fact.")
    state: list[IncomingStateRule] = Field(
        default_factory=list, max_length=20, description="What events do to the state of the entities they name."
    )
    examples: list[dict[str, Any]] = Field(default_factory=list, max_length=100, description="Data that fits.")
    deprecated_at: AwareDatetime | None = Field(None, description="From when on no new events of it are taken.")
    migration: IncomingMigration | None = Field(None, description="How data of the previous version becomes this one.")

    def as_event_type(self) -> EventType:
        return EventType.from_json(self.model_dump())


def with_key(events: Sequence[NewEvent], key: str) -> list[NewEvent]:
    """One key for a whole request: each event gets its own, so that a repeated batch is recognised event by event."""
    if any(event.idempotency_key is not None for event in events):
        raise InvalidRequest("Give an idempotency key for the request or for its events, not for both.")
    return [
        replace(event, idempotency_key=key if place == 0 else f"{key}/{place}", sent_with=len(events))
        for place, event in enumerate(events)
    ]
