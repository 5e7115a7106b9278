"""Event types: what a kind of event must look like, and the ones that Mnemon's own code declares."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, Self

from mnemon.errors import InvalidRequest
from mnemon.log.types.paths import steps_of
from mnemon.log.types.state_rules import StateRule
from mnemon.log.types.transformation import paths_in, transformed

Cardinality = Literal["one", "one_or_more"]
RetentionClass = Literal["standard", "regulatory", "pii_subject"]
Upcaster = Callable[[dict[str, Any]], dict[str, Any]]

NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*){1,5}")


@dataclass(frozen=True, slots=True)
class EntityRequirement:
    """An entity that every event of the type must name."""

    entity_type: str
    role: str
    cardinality: Cardinality = "one"


@dataclass(frozen=True, slots=True)
class PersonalField:
    """A field that tells something about a person, its class, and whose it is: a path or an entity's role says.

    An `optional_subject` may be absent: the value is then nobody's and stays plain. Otherwise such an event is refused.
    """

    path: str
    pii_class: str
    subject_path: str | None = None
    subject_role: str | None = None
    optional_subject: bool = False

    def __post_init__(self) -> None:
        steps_of(self.path)
        if (self.subject_path is None) == (self.subject_role is None):
            raise InvalidRequest(
                f"The personal field {self.path!r} needs either subject_path or subject_role: whose is it?"
            )


@dataclass(frozen=True, slots=True)
class BusinessKey:
    """The fields that make an event a duplicate of another; for ever, or within a window."""

    paths: tuple[str, ...]
    window: timedelta | None = None


@dataclass(frozen=True, slots=True)
class DataMigration:
    """How data of the previous version becomes data of this one, said without code."""

    renames: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    # The new data as a template, in which a text like `$.customer.name` stands for what was there.
    transform: Mapping[str, Any] | None = None

    def __call__(self, data: dict[str, Any]) -> dict[str, Any]:
        if self.transform is not None:
            return {**self.defaults, **transformed(data, self.transform)}
        renamed = {self.renames.get(name, name): value for name, value in data.items()}
        if len(renamed) < len(data):
            raise InvalidRequest("The migration would put one value over another.")
        return {**self.defaults, **renamed}

    def as_json(self) -> dict[str, Any]:
        said: dict[str, Any] = {"renames": dict(self.renames), "defaults": dict(self.defaults)}
        return said if self.transform is None else said | {"transform": dict(self.transform)}

    def problems(self, names: Collection[str]) -> list[str]:
        """What is wrong with it for data of these fields."""
        if self.transform is not None and self.renames:
            return ["it has renames and a transform: say one"]
        for path in paths_in(self.transform):
            steps_of(path)
        targets = list(self.renames.values())
        twice = sorted({one for one in targets if targets.count(one) > 1})
        over = sorted({one for one in targets if one in names and one not in self.renames})
        return [f"two fields become {one}" for one in twice] + [f"{one} would be overwritten" for one in over]


@dataclass(frozen=True, kw_only=True)
class EventType:
    """One version of one kind of event."""

    type: str
    data_schema: Mapping[str, Any]
    schema_version: int = 1
    module: str = ""
    description: str = ""
    required_dimensions: tuple[str, ...] = ()
    optional_dimensions: tuple[str, ...] = ()
    required_entities: tuple[EntityRequirement, ...] = ()
    personal_fields: tuple[PersonalField, ...] = ()
    retention_class: RetentionClass = "standard"
    minimum_retention_years: int | None = None
    business_key: BusinessKey | None = None
    # What events of the type do to the state of the entities they name.
    state: tuple[StateRule, ...] = ()
    examples: tuple[Mapping[str, Any], ...] = ()
    upcast: Upcaster | None = None
    bound_to_periods: bool = True
    # From when on no new events of it are taken; those that are there stay, and are read as before.
    deprecated_at: datetime | None = None
    # A built-in type that callers record themselves; all others are recorded by Mnemon alone.
    open_to_callers: bool = False

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.type):
            raise InvalidRequest(
                f"{self.type!r} is not an event type: write lower-case words joined by dots, like ap.invoice.paid.",
                type=self.type,
            )
        if not self.module:
            object.__setattr__(self, "module", self.type.partition(".")[0])

    def as_json(self) -> dict[str, Any]:
        """The declaration as REST, the registry's table and its event hold it."""
        return {
            "type": self.type,
            "schema_version": self.schema_version,
            "module": self.module,
            "description": self.description,
            "data_schema": dict(self.data_schema),
            "required_dimensions": list(self.required_dimensions),
            "optional_dimensions": list(self.optional_dimensions),
            "required_entity_refs": [
                {"entity_type": one.entity_type, "role": one.role, "cardinality": one.cardinality}
                for one in self.required_entities
            ],
            "pii_fields": [_personal_as_json(one) for one in self.personal_fields],
            "retention_class": self.retention_class,
            "minimum_retention_years": self.minimum_retention_years,
            "business_key": _key_as_json(self.business_key),
            "state": [one.as_json() for one in self.state],
            "examples": [dict(example) for example in self.examples],
            "deprecated_at": self.deprecated_at.isoformat() if self.deprecated_at else None,
            "migration": self.upcast.as_json() if isinstance(self.upcast, DataMigration) else None,
        }

    @classmethod
    def from_json(cls, declared: Mapping[str, Any]) -> Self:
        """Read a declaration that `as_json` wrote, or that a client sent in the same form."""
        try:
            return cls._read(declared)
        except (KeyError, TypeError, AttributeError) as failure:
            raise InvalidRequest(f"The type declaration is incomplete or malformed: {failure}.") from None

    @classmethod
    def _read(cls, declared: Mapping[str, Any]) -> Self:
        key, migration = declared.get("business_key"), declared.get("migration")
        return cls(
            type=declared["type"],
            data_schema=declared["data_schema"],
            schema_version=declared.get("schema_version", 1),
            module=declared.get("module") or "",
            description=declared.get("description") or "",
            required_dimensions=tuple(declared.get("required_dimensions", ())),
            optional_dimensions=tuple(declared.get("optional_dimensions", ())),
            required_entities=tuple(EntityRequirement(**one) for one in declared.get("required_entity_refs", ())),
            personal_fields=tuple(_personal_from_json(one) for one in declared.get("pii_fields", ())),
            retention_class=declared.get("retention_class", "standard"),
            minimum_retention_years=declared.get("minimum_retention_years"),
            business_key=_key_from_json(key) if key else None,
            state=tuple(StateRule.from_json(one) for one in declared.get("state", ())),
            examples=tuple(declared.get("examples", ())),
            upcast=DataMigration(**migration) if migration else None,
            deprecated_at=_moment(declared.get("deprecated_at")),
        )


def _moment(value: Any) -> datetime | None:
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def _personal_as_json(one: PersonalField) -> dict[str, Any]:
    whose = {"subject_path": one.subject_path} if one.subject_path else {"subject_role": one.subject_role}
    optional = {"optional_subject": True} if one.optional_subject else {}
    return {"field_path": one.path, "pii_class": one.pii_class, **whose, **optional}


def _personal_from_json(one: Mapping[str, Any]) -> PersonalField:
    return PersonalField(
        one["field_path"], one["pii_class"], one.get("subject_path"), one.get("subject_role"),
        one.get("optional_subject", False),
    )  # fmt: skip


def _key_as_json(key: BusinessKey | None) -> dict[str, Any] | None:
    if key is None:
        return None
    return {"paths": list(key.paths), "window_seconds": key.window.total_seconds() if key.window else None}


def _key_from_json(key: Mapping[str, Any]) -> BusinessKey:
    seconds = key.get("window_seconds")
    return BusinessKey(tuple(key["paths"]), timedelta(seconds=seconds) if seconds else None)


_built_in: dict[tuple[str, int], EventType] = {}


def declare(event_type: EventType) -> EventType:
    """Make a type known to every tenant. Called at import, next to the capability that owns the type."""
    key = (event_type.type, event_type.schema_version)
    if _built_in.setdefault(key, event_type) != event_type:
        raise InvalidRequest(f"{key[0]} version {key[1]} is declared twice, differently.", type=key[0])
    return event_type


def is_built_in(event_type: EventType) -> bool:
    return (event_type.type, event_type.schema_version) in _built_in


def built_in_types() -> Sequence[EventType]:
    return tuple(_built_in[key] for key in sorted(_built_in))
