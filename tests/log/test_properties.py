"""The log against a simple model: whatever callers do, it holds what it acknowledged, in order, once."""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.ids import new_uuid
from mnemon.log.errors import KeyConflict, VersionConflict
from mnemon.log.events import Appended, EntityReference, NewEvent, Scope
from mnemon.log.registry import Registry
from mnemon.log.store import EventLog
from mnemon.log.verify import verify

from .conftest import SHOP, noted

ENTITIES = st.sampled_from(["a", "b", "c"])
PARTITIONS = st.sampled_from(["main", "DE"])
KEYS = st.one_of(st.none(), st.sampled_from(["k1", "k2", "k3", "k4"]))


@dataclass
class ModelPartition:
    """What a partition should hold."""

    events: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    keys: dict[str, tuple[int, str, tuple[str, ...]]] = field(default_factory=dict)

    def version(self, entity: str) -> int:
        return sum(entity in entities for _, entities in self.events)


@dataclass(frozen=True)
class Plan:
    """One event as a test draws it. `expects` is how far off the expected version is; None expects nothing."""

    text: str
    entities: tuple[str, ...]
    key: str | None
    expects: int | None


PLANS = st.builds(
    Plan,
    text=st.sampled_from(["x", "y"]),
    entities=st.lists(ENTITIES, max_size=3, unique=True).map(tuple),
    key=KEYS,
    expects=st.sampled_from([None, None, 0, 0, 1, -1]),
)


class LogMachine(RuleBasedStateMachine):
    """Appends, conflicts, retries and restarts in any order, over two partitions of a new tenant."""

    def __init__(self, runner: asyncio.Runner, database: Database) -> None:
        super().__init__()
        self.runner = runner
        self.database = database
        self.model = {"main": ModelPartition(), "DE": ModelPartition()}

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)

    @initialize()
    def start(self) -> None:
        self.tenant: UUID = new_uuid()
        self.restart()

    @rule()
    def restart(self) -> None:
        """A new process knows nothing of what the old one remembered."""
        self.log = EventLog(self.database, registry=Registry(self.database, SHOP))

    @rule(name=PARTITIONS, plans=st.lists(PLANS, min_size=1, max_size=4))
    def append(self, name: str, plans: list[Plan]) -> None:
        model = self.model[name]
        events = self._events(name, plans)
        keys = [plan.key for plan in plans if plan.key]
        try:
            appended = self.run(self.log.append(self.tenant, events))
        except KeyConflict:
            assert len(set(keys)) < len(keys) or any(self._contradicts(model, plan) for plan in plans)
        except VersionConflict as conflict:
            entity = conflict.details["entity_id"]
            assert conflict.details["actual"] != conflict.details["expected"]
            assert any(plan.expects is not None and entity in plan.entities for plan in plans)
            assert self._first_mismatch(model, plans) == (entity, conflict.details["actual"])
        else:
            assert len(set(keys)) == len(keys)
            assert self._first_mismatch(model, plans) is None
            self._take(model, plans, appended)

    @rule(name=PARTITIONS, plans=st.lists(PLANS, min_size=2, max_size=5))
    def append_at_once(self, name: str, plans: list[Plan]) -> None:
        """Each caller on its own; the ones that are told yes are in the log, in the order of their sequences."""
        model = self.model[name]
        plans = [Plan(plan.text, plan.entities, None, None) for plan in plans]
        events = self._events(name, plans)

        async def work() -> list[list[Appended]]:
            return await asyncio.gather(*(self.log.append(self.tenant, [event]) for event in events))

        results = [appended for [appended] in self.run(work())]
        for plan, appended in sorted(zip(plans, results, strict=True), key=lambda pair: pair[1].sequence):
            self._take(model, [plan], [appended])

    @invariant()
    def the_log_equals_the_model(self) -> None:
        for name, model in self.model.items():
            stored = self.run(self._stored(name))
            assert [event.sequence for event in stored] == list(range(1, len(model.events) + 1))
            found = [(event.data["text"], tuple(one.entity_id for one in event.entities)) for event in stored]
            assert found == model.events

    def teardown(self) -> None:
        if not hasattr(self, "log"):
            return
        for name, model in self.model.items():
            report = self.run(verify(self.log.reader, self.tenant, name))
            assert report.intact, report.faults
            for entity in "abc":
                version = self.run(self.log.entity_version(self.tenant, "thing", entity, legal_entity=name))
                assert version == model.version(entity)
        self.run(self.log.close())

    async def _stored(self, name: str) -> list[Any]:
        return [event async for event in self.log.scan(self.tenant, legal_entity=name)]

    def _events(self, name: str, plans: list[Plan]) -> list[NewEvent]:
        earlier: Counter[str] = Counter()
        events = []
        for plan in plans:
            expected = {
                ("thing", entity): max(0, self.model[name].version(entity) + earlier[entity] + plan.expects)
                for entity in plan.entities
                if plan.expects is not None
            }
            events.append(
                noted(
                    plan.text,
                    scope=Scope(name),
                    entities=[EntityReference("thing", entity) for entity in plan.entities],
                    idempotency_key=plan.key,
                    expected_versions=expected,
                )
            )
            earlier.update(plan.entities)
        return events

    def _contradicts(self, model: ModelPartition, plan: Plan) -> bool:
        return plan.key in model.keys and model.keys[plan.key][1:] != (plan.text, plan.entities)

    def _first_mismatch(self, model: ModelPartition, plans: list[Plan]) -> tuple[str, int] | None:
        """The first expectation that fails, given that events found by their key are not counted again."""
        added: Counter[str] = Counter()
        assumed: Counter[str] = Counter()
        for plan in plans:
            fresh = plan.key is None or plan.key not in model.keys
            for entity in plan.entities:
                actual = model.version(entity) + added[entity]
                expected = model.version(entity) + assumed[entity] + (plan.expects or 0)
                if fresh and plan.expects is not None and max(0, expected) != actual:
                    return entity, actual
            assumed.update(plan.entities)
            if fresh:
                added.update(plan.entities)
        return None

    def _take(self, model: ModelPartition, plans: list[Plan], appended: list[Appended]) -> None:
        for plan, result in zip(plans, appended, strict=True):
            if plan.key in model.keys:
                assert result.duplicate
                assert model.keys[plan.key] == (result.sequence, plan.text, plan.entities)
                continue
            assert not result.duplicate
            model.events.append((plan.text, plan.entities))
            assert result.sequence == len(model.events)
            if plan.key:
                model.keys[plan.key] = (result.sequence, plan.text, plan.entities)


def run_machine(server: EmbeddedServer, examples: int, steps: int) -> None:
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    chosen = settings(max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=quiet)
    with asyncio.Runner() as runner:
        database = runner.run(Database(server).__aenter__())
        try:
            run_state_machine_as_test(lambda: LogMachine(runner, database), settings=chosen)
        finally:
            runner.run(database._pool.close())


def test_the_log_follows_the_model(server: EmbeddedServer, database: Database) -> None:
    run_machine(server, examples=20, steps=10)


@pytest.mark.slow
def test_the_log_follows_the_model_for_long(server: EmbeddedServer, database: Database) -> None:
    run_machine(server, examples=60, steps=25)
