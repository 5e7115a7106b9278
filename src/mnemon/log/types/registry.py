"""The type registry: finds the declaration of an event type, checks data against it, lifts old data to new versions."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

import jsonschema_rs
import orjson

from mnemon.db.database import Connection, Database
from mnemon.errors import InvalidRequest
from mnemon.log.errors import TypeIncompatible, TypeNotRegistered, TypeReserved
from mnemon.log.events import Lift
from mnemon.log.types.compatibility import changes_needing_a_type, changes_needing_a_version
from mnemon.log.types.event_type import EventType, built_in_types
from mnemon.log.types.paths import steps_of
from mnemon.log.types.schema_work import check_schema_work
from mnemon.telemetry import counter

DECLARED = """
SELECT DISTINCT ON (type, schema_version) declaration::text AS declaration, revision
  FROM mnemon.event_types
 WHERE tenant_id = %s
 ORDER BY type, schema_version, revision DESC
"""
RECORD = """
INSERT INTO mnemon.event_types (tenant_id, type, schema_version, revision, declaration, registered_by)
SELECT %(tenant)s, %(type)s, %(version)s, coalesce(max(revision), 0) + 1, %(declaration)s, %(by)s
  FROM mnemon.event_types WHERE tenant_id = %(tenant)s AND type = %(type)s AND schema_version = %(version)s
"""


NOT_LIFTED = counter(
    "mnemon_event_migrations_refused", "Events whose data does not fit the next version of their type.", ["type"]
)
# No names of tenants' types among the metrics.
OTHERS = "others"
# What is told of data that does not fit: a sender who reads it has enough to mend.
MOST_VIOLATIONS, LONGEST_VIOLATION = 100, 1_000
# What stands in the place of a value whose person was erased: see `mnemon.log.privacy.crypto_seal`.
ERASED = "[REDACTED]"


class CompiledType:
    """A declaration, ready to check events."""

    def __init__(self, declaration: EventType, *, built_in: bool = False) -> None:
        self.declaration = declaration
        self.built_in = built_in
        self.required_dimensions = frozenset(declaration.required_dimensions)
        self.business_key = declaration.business_key
        self.personal_paths = tuple(one.path for one in declaration.personal_fields)
        try:
            # Schemas come from tenants: nothing is fetched, and patterns run in linear time.
            self._validator = jsonschema_rs.Draft202012Validator(
                dict(declaration.data_schema),
                validate_formats=True,
                offline=True,
                pattern_options=jsonschema_rs.RegexOptions(),
            )
        except ValueError as failure:
            reason = str(failure).partition("\n")[0]
            raise InvalidRequest(f"The schema of {declaration.type} is not valid: {reason}.") from None
        self.is_valid = self._validator.is_valid

    def violations(self, data: Any) -> list[str]:
        return [_violation(error) for error in islice(self._validator.iter_errors(data), MOST_VIOLATIONS)]

    def fits_migrated(self, data: Any) -> bool:
        """Whether data of an earlier version fits this one. What was erased fits everywhere."""
        if self.is_valid(data):
            return True
        return all(_is_erased(data, error.instance_path) for error in self._validator.iter_errors(data))


class Registry:
    """All types that a tenant can use: those in code, and its own."""

    def __init__(self, database: Database, built_in: Iterable[EventType] | None = None) -> None:
        self._database = database
        self._built_in = _compile(built_in_types() if built_in is None else built_in, built_in=True)
        self._built_in_lift = any(version > 1 for _, version in self._built_in)
        self._tenants: dict[UUID, dict[tuple[str, int], CompiledType]] = {}
        # By the text of each declaration, so that one that has not changed is compiled once.
        self._compiled: dict[UUID, dict[str, CompiledType]] = {}
        self._newest: dict[UUID | None, dict[str, int]] = {None: _newest(self._built_in)}

    def known(self, tenant: UUID, name: str, version: int | None) -> CompiledType | None:
        """What this process knows without asking the database."""
        own = self._tenants.get(tenant, {})
        if version is None:
            version = self._newest[None].get(name) or self._newest.get(tenant, {}).get(name)
            if version is None:
                return None
        return self._built_in.get((name, version)) or own.get((name, version))

    async def find(self, tenant: UUID, name: str, version: int | None = None) -> CompiledType:
        """The declaration of a type, the newest version unless told; asks the database about unknown ones."""
        found = self.known(tenant, name, version)
        if found is None:
            await self.refresh(tenant)
            found = self.known(tenant, name, version)
        if found is None:
            which = f"version {version} of {name!r}" if version else repr(name)
            raise TypeNotRegistered(
                f"The event type {which} is not registered: register it, then send the event again.",
                type=name,
                schema_version=version,
            )
        return found

    def is_built_in(self, name: str) -> bool:
        return name in self._newest[None]

    def refuse_built_in(self, names: Iterable[str]) -> None:
        """For what comes from outside: a client must not be able to make the log say that Mnemon did something."""
        for name in names:
            if (
                self.is_built_in(name)
                and not self._built_in[name, self._newest[None][name]].declaration.open_to_callers
            ):
                raise TypeReserved(
                    f"Events of the type {name} are recorded by Mnemon alone: use a type of your own.", type=name
                )

    async def refresh(self, tenant: UUID, connection: Connection | None = None) -> None:
        """Read what the tenant has declared, here or in another process."""
        if connection is None:
            async with self._database.transaction(tenant) as connection:
                await self.refresh(tenant, connection)
            return
        rows = await (await connection.execute(DECLARED, (tenant,))).fetchall()
        before = self._compiled.get(tenant, {})
        self._compiled[tenant] = {
            text: before.get(text) or CompiledType(EventType.from_json(orjson.loads(text)))
            for text in (row["declaration"] for row in rows)
        }
        self._tenants[tenant] = {
            (one.declaration.type, one.declaration.schema_version): one for one in self._compiled[tenant].values()
        }
        self._newest[tenant] = _newest(self._tenants[tenant])

    async def know(self, tenant: UUID, connection: Connection) -> None:
        """Have the tenant's types at hand, as of some time in the life of this process."""
        if tenant not in self._tenants:
            await self.refresh(tenant, connection)

    async def list(self, tenant: UUID, connection: Connection | None = None) -> Sequence[EventType]:
        """Every version of every type, by name."""
        await self.refresh(tenant, connection)
        everything = self._built_in | self._tenants[tenant]
        return [everything[key].declaration for key in sorted(everything)]

    async def check_in(self, connection: Connection, tenant: UUID, proposed: EventType) -> bool:
        """Refuse a declaration that is wrong or breaks what was promised; False if it is already there as it is."""
        _check_declaration(proposed)
        name, version = proposed.type, proposed.schema_version
        if self.is_built_in(name):
            raise TypeIncompatible(f"{name} is built in and cannot be declared again: choose another name.", type=name)
        await self.refresh(tenant, connection)
        newest = self._newest[tenant].get(name, 0)
        if not 1 <= version <= newest + 1:
            raise TypeIncompatible(
                f"{name} is at version {newest}: the next one is {newest + 1}, not {version}.", type=name
            )
        present = self._tenants[tenant].get((name, version))
        if present is not None:
            if present.declaration == proposed:
                return False
            reasons = changes_needing_a_version(present.declaration, proposed)
            _refuse(reasons, proposed, f"register it as version {newest + 1}")
        elif newest:
            previous = self._tenants[tenant][name, newest].declaration
            _refuse(changes_needing_a_type(previous, proposed), proposed, "give a migration, or declare a new type")
            _check_migration(previous, proposed)
        return True

    async def record_in(self, connection: Connection, tenant: UUID, accepted: EventType, by: str) -> None:
        """Keep an accepted declaration; other processes see it once the transaction commits."""
        values = {
            "tenant": tenant,
            "type": accepted.type,
            "version": accepted.schema_version,
            "declaration": orjson.dumps(accepted.as_json()).decode(),
            "by": by,
        }
        await connection.execute(RECORD, values)

    def lifter(self, tenant: UUID) -> Lift | None:
        """What lifts data step by step to the newest version that this process knows; None while all are first ones."""
        built_in, own = self._built_in, self._tenants.get(tenant, {})
        if not self._built_in_lift and not any(version > 1 for _, version in own):
            # Then a reader of data need not look into envelopes at all.
            return None

        def lift(name: str, version: int, data: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            while (following := built_in.get((name, version + 1)) or own.get((name, version + 1))) is not None:
                if following.declaration.upcast is not None:
                    try:
                        lifted = following.declaration.upcast(dict(data))
                    except InvalidRequest:
                        lifted = None
                    if lifted is None or not following.fits_migrated(lifted):
                        # As it was recorded is better than as nobody promised it.
                        NOT_LIFTED.labels(name if following.built_in else OTHERS).inc()
                        return version, data
                    data = lifted
                version += 1
            return version, data

        return lift


def _compile(declarations: Iterable[EventType], *, built_in: bool = False) -> dict[tuple[str, int], CompiledType]:
    return {(one.type, one.schema_version): CompiledType(one, built_in=built_in) for one in declarations}


def _newest(compiled: Iterable[tuple[str, int]]) -> dict[str, int]:
    newest: dict[str, int] = {}
    for name, version in compiled:
        newest[name] = max(version, newest.get(name, 0))
    return newest


def _is_erased(data: Any, path: Sequence[str | int]) -> bool:
    for step in path:
        data = data[step]
    return bool(data == ERASED)


def _violation(error: jsonschema_rs.ValidationError) -> str:
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
    return f"data{where}: {error.message}"[:LONGEST_VIOLATION]


def _check_declaration(proposed: EventType) -> None:
    # First: to compile such a schema can take as long as to use it.
    check_schema_work(proposed.data_schema, proposed.type)
    compiled = CompiledType(proposed)
    for number, example in enumerate(proposed.examples, 1):
        if problems := compiled.violations(example):
            raise InvalidRequest(
                f"Example {number} of {proposed.type} does not fit its schema: {problems[0]}.", violations=problems
            )
    for path in _paths(proposed):
        steps_of(path)
    for rule in proposed.state:
        rule.check(proposed.data_schema.get("properties", {}))
    if proposed.business_key and (shared := set(proposed.business_key.paths) & set(compiled.personal_paths)):
        raise InvalidRequest(f"{min(shared)} is personal and cannot be part of a business key: it must be erasable.")


def _paths(proposed: EventType) -> Iterator[str]:
    yield from proposed.business_key.paths if proposed.business_key else ()
    for one in proposed.personal_fields:
        yield one.path
        if one.subject_path:
            yield one.subject_path


def _check_migration(previous: EventType, proposed: EventType) -> None:
    """The examples of the old version prove that its data can be lifted."""
    compiled = CompiledType(proposed)
    for number, example in enumerate(previous.examples, 1):
        lifted = proposed.upcast(dict(example)) if proposed.upcast else dict(example)
        if problems := compiled.violations(lifted):
            _refuse([f"example {number} of version {previous.schema_version}, migrated, does not fit: {problems[0]}"],
                    proposed, "correct the migration")  # fmt: skip


def _refuse(reasons: Sequence[str], proposed: EventType, remedy: str) -> None:
    if reasons:
        raise TypeIncompatible(
            f"Version {proposed.schema_version} of {proposed.type} is not compatible: {'; '.join(reasons)}. "
            f"Instead {remedy}.",
            type=proposed.type,
            reasons=list(reasons),
        )
