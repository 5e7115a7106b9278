"""The log against a simple model: whatever happens in whatever order, it holds what it acknowledged, in order, once."""

import asyncio
import importlib.util
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.log.conftest import CLERK, joined, noted, open_private

from mnemon.db.database import Connection, Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.errors import NotFound
from mnemon.ids import new_uuid
from mnemon.log.errors import ArchiveRefused, KeyConflict, NothingToAttest, SubjectErased, VersionConflict
from mnemon.log.events import Actor, Appended, EntityReference, Event, NewEvent, Scope
from mnemon.log.moments import now
from mnemon.log.privacy.wrapping_keys import KeyRing
from mnemon.log.project.lens import Lens, Tables
from mnemon.log.project.projector import Projector
from mnemon.log.proof.handover import rotate_signing_key
from mnemon.log.proof.integrity import Integrity
from mnemon.log.read.pattern import Pattern

REDACTED = "[REDACTED]"
OPERATOR = Actor("system", "operator")
THINGS = st.sampled_from(["a", "b", "c"])
PARTITIONS = st.sampled_from(["main", "DE"])
KEYS = st.one_of(st.none(), st.sampled_from(["k1", "k2", "k3", "k4"]))
PEOPLE = st.sampled_from(["p1", "p2"])
LENSES = st.sampled_from(["words-inline", "words-async"])

TABLE = """
CREATE TABLE IF NOT EXISTS mnemon.{name} (
    tenant_id uuid NOT NULL, legal_entity text NOT NULL, sequence bigint NOT NULL, word text NOT NULL,
    times integer NOT NULL, PRIMARY KEY (tenant_id, legal_entity, sequence));
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_policies WHERE tablename = '{name}') THEN
        CALL mnemon.isolate_by_tenant('mnemon.{name}');
    END IF;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.{name} TO mnemon_app;
"""
TABLES = {"words-inline": "test_words_inline", "words-async": "test_words_async"}


@dataclass
class Entry:
    """An event as the model knows it. Events of the log's own doing have no word."""

    word: str | None
    things: tuple[str, ...] = ()
    person: str | None = None
    archived: bool = False
    event_id: str = ""


@dataclass
class ModelPartition:
    """What a partition should hold."""

    entries: list[Entry] = field(default_factory=list)
    keys: dict[str, tuple[int, str, tuple[str, ...]]] = field(default_factory=dict)
    projected: int = 0

    def version(self, thing: str) -> int:
        return sum(thing in entry.things for entry in self.entries)

    @property
    def words(self) -> dict[int, str]:
        return {n: one.word for n, one in enumerate(self.entries, 1) if one.word is not None}


@dataclass(frozen=True)
class Plan:
    """One event as a test draws it. `expects` is how far off the expected version is; None expects nothing."""

    text: str
    things: tuple[str, ...]
    key: str | None
    expects: int | None


PLANS = st.builds(
    Plan,
    text=st.sampled_from(["x", "y"]),
    things=st.lists(THINGS, max_size=3, unique=True).map(tuple),
    key=KEYS,
    expects=st.sampled_from([None, None, 0, 0, 1, -1]),
)


def word_of(event: Event) -> str | None:
    return {"shop.order.noted": event.data.get("text"), "shop.customer.joined": event.data.get("name")}.get(event.type)


def words_lens(name: str, lifecycle: Any) -> Lens:
    """Counts as well as copies, so that an event that is applied twice or not at all shows."""

    async def apply(connection: Connection, events: Sequence[Event], tables: Tables) -> None:
        for event in events:
            await connection.execute(
                f"INSERT INTO {tables[TABLES[name]]} AS t (tenant_id, legal_entity, sequence, word, times) "
                "VALUES (%s, %s, %s, %s, 1) ON CONFLICT (tenant_id, legal_entity, sequence) "
                "DO UPDATE SET times = t.times + 1",
                (event.tenant_id, event.legal_entity, event.sequence, word_of(event)),
            )

    pattern = Pattern(types=["shop.order.noted", "shop.customer.joined"])
    return Lens(name=name, tables=(f"mnemon.{TABLES[name]}",), apply=apply, pattern=pattern, lifecycle=lifecycle)


class LogMachine(RuleBasedStateMachine):
    """Everything that can happen to a log, over two partitions of a new tenant."""

    def __init__(self, runner: asyncio.Runner, database: Database, ring: KeyRing, folder: Path) -> None:
        super().__init__()
        self.runner = runner
        self.database = database
        self.ring = ring
        self.home = Path(tempfile.mkdtemp(dir=folder))
        self.model = {"main": ModelPartition(), "DE": ModelPartition()}
        self.erased: set[str] = set()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)

    @initialize()
    def start(self) -> None:
        self.tenant: UUID = new_uuid()
        self.open()
        self.run(self.projector.catch_up(self.tenant))

    def open(self) -> None:
        self.privacy = open_private(self.database, self.ring, self.home / "archive")
        self.log = self.privacy.log
        self.integrity = Integrity(self.database, self.log.reader, self.home)
        self.projector = Projector(self.log)
        self.projector.add(words_lens("words-inline", "inline"))
        self.projector.add(words_lens("words-async", "async"))
        self.privacy.erasures.on_erased.append(self.projector.on_erased)
        self.privacy.redactions.on_redacted.append(self.projector.on_redacted)
        self.privacy.archive.coverage.append(self.projector.coverage)

    @rule()
    def restart(self) -> None:
        """A new process knows nothing of what the old one remembered."""
        self.run(self.privacy.close())
        self.open()

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
            thing = conflict.details["entity_id"]
            assert conflict.details["actual"] != conflict.details["expected"]
            assert any(plan.expects is not None and thing in plan.things for plan in plans)
            assert self._first_mismatch(model, plans) == (thing, conflict.details["actual"])
        else:
            assert len(set(keys)) == len(keys)
            assert not any(self._contradicts(model, plan) for plan in plans)
            assert self._first_mismatch(model, plans) is None
            self._take(model, plans, appended)

    @rule(name=PARTITIONS, plans=st.lists(PLANS, min_size=2, max_size=5))
    def append_at_once(self, name: str, plans: list[Plan]) -> None:
        """Each caller on its own; the ones that are told yes are in the log, in the order of their sequences."""
        model = self.model[name]
        plans = [Plan(plan.text, plan.things, None, None) for plan in plans]
        events = self._events(name, plans)

        async def work() -> list[list[Appended]]:
            return await asyncio.gather(*(self.log.append(self.tenant, [event]) for event in events))

        results = [appended for [appended] in self.run(work())]
        for plan, appended in sorted(zip(plans, results, strict=True), key=lambda pair: pair[1].sequence):
            self._take(model, [plan], [appended])

    @rule(name=PARTITIONS, person=PEOPLE, amount=st.integers(1, 2))
    def join(self, name: str, person: str, amount: int) -> None:
        """Tell something about a person; refused once they are erased."""
        events = [joined(person, f"Name of {person}", scope=Scope(name)) for _ in range(amount)]
        try:
            appended = self.run(self.log.append(self.tenant, events))
        except SubjectErased:
            assert person in self.erased
            return
        assert person not in self.erased
        for one in appended:
            self.model[name].entries.append(Entry(f"Name of {person}", (), person, event_id=one.id))
            assert one.sequence == len(self.model[name].entries)

    @rule(person=st.one_of(PEOPLE, st.just(CLERK.id)))
    def erase(self, person: str) -> None:
        """Two people forget a third; to do it again changes nothing."""
        known = any(self._tells_of(entry, person) for model in self.model.values() for entry in model.entries)
        try:
            asked = self.run(
                self.privacy.erasures.request(self.tenant, person, reason="subject_request", requested_by="u-7")
            )
        except NotFound:
            assert not known
            return
        assert known
        done = self.run(self.privacy.erasures.approve(self.tenant, asked.erasure_id, approved_by="u-8"))
        assert done.status == "completed"
        if person not in self.erased:
            # Asked for and erased; then the lenses are rebuilt; then completed.
            self._own_events("main", 2)
            self._note_projected()
            self._own_events("main", 1)
        self.erased.add(person)
        for model in self.model.values():
            for entry in model.entries:
                if entry.person == person and entry.word is not None:
                    entry.word = REDACTED

    @rule(name=PARTITIONS)
    def archive(self, name: str) -> None:
        """Refused while a lens still needs the payloads."""
        model = self.model[name]
        covered = bool(model.entries) and model.projected == len(model.entries)
        try:
            moved = self.run(self.privacy.archive.archive(self.tenant, now(), actor=OPERATOR, legal_entity=name))
        except ArchiveRefused:
            assert not covered
            return
        # A partition may be there without events: the first append to it was refused.
        assert covered or not (model.entries or moved)
        kept = [number for number, entry in enumerate(model.entries, 1) if not entry.archived]
        assert [n for one in moved for n in range(one.first_sequence, one.last_sequence + 1)] == kept
        for entry in model.entries:
            entry.archived = True
        self._own_events(name, len(moved))

    @rule(name=PARTITIONS)
    def restore(self, name: str) -> None:
        model = self.model[name]
        if not model.entries:
            return
        moved = self.run(self.privacy.archive.restore(self.tenant, actor=OPERATOR, legal_entity=name))
        back = {n for one in moved for n in range(one.first_sequence, one.last_sequence + 1)}
        assert back == {number for number, entry in enumerate(model.entries, 1) if entry.archived}
        for entry in model.entries:
            entry.archived = False
        self._own_events(name, len(moved))

    @precondition(lambda self: any(self._redactable(name) for name in self.model))
    @rule(data=st.data())
    def redact(self, data: st.DataObject) -> None:
        """Take the text out of a note; it must not be in the archive."""
        name = data.draw(st.sampled_from([name for name in self.model if self._redactable(name)]))
        entry = data.draw(st.sampled_from(self._redactable(name)))
        try:
            attesting = self.run(
                self.privacy.redactions.redact(
                    self.tenant, entry.event_id, ["/data/text"],
                    reason="legacy_data", requested_by="u-7", approved_by="u-8",
                )
            )  # fmt: skip
        except ArchiveRefused:
            assert entry.archived
            return
        assert not entry.archived
        assert bool(attesting) == (entry.word != REDACTED)
        entry.word = REDACTED
        self._own_events(name, 1 if attesting else 0)
        self._note_projected()

    @rule()
    def catch_up(self) -> None:
        self.run(self.projector.catch_up(self.tenant))
        self._note_projected()

    @rule(lens=LENSES, from_snapshot=st.booleans())
    def rebuild(self, lens: str, from_snapshot: bool) -> None:
        before = self.run(self.projector.state_hash(self.tenant, lens))
        behind = any(model.projected < len(model.entries) for model in self.model.values())
        rebuilt = self.run(self.projector.rebuild(self.tenant, lens, from_snapshot=from_snapshot))
        if lens == "words-async":
            self._note_projected()
        if lens == "words-inline" or not behind:
            assert rebuilt.state_hash == before

    @rule(name=PARTITIONS, rotate=st.booleans())
    def checkpoint(self, name: str, rotate: bool) -> None:
        if rotate:
            rotate_signing_key(self.home)
        try:
            signed = self.run(self.integrity.checkpoint(self.tenant, name))
        except NothingToAttest:
            assert not self.model[name].entries
        else:
            assert signed.sequence == len(self.model[name].entries)

    @invariant()
    def the_log_equals_the_model(self) -> None:
        clerk = REDACTED if CLERK.id in self.erased else CLERK.name
        for name, model in self.model.items():
            stored: list[Event] = self.run(self._stored(name))
            assert [event.sequence for event in stored] == list(range(1, len(model.entries) + 1))
            moments = [event.recorded_at for event in stored]
            assert moments == sorted(moments)
            for event, entry in zip(stored, model.entries, strict=True):
                assert word_of(event) == entry.word
                assert (entry.word is None) == event.type.startswith(("privacy.", "log."))
                if entry.word is not None:
                    assert event.payload["actor"]["name"] == clerk
                if entry.things:
                    assert tuple(one.entity_id for one in event.entities) == entry.things

    @invariant()
    def an_inline_lens_equals_the_fold(self) -> None:
        assert self.run(self._rows("words-inline")) == {name: model.words for name, model in self.model.items()}

    def teardown(self) -> None:
        if not hasattr(self, "log"):
            return
        try:
            self.catch_up()
            assert self.run(self._rows("words-async")) == {name: model.words for name, model in self.model.items()}
            for name, model in self.model.items():
                if model.entries:
                    self._check_proof(name, model)
                for thing in "abc":
                    version = self.run(self.log.entity_version(self.tenant, "thing", thing, legal_entity=name))
                    assert version == model.version(thing)
        finally:
            self.run(self.privacy.close())
            shutil.rmtree(self.home)

    def _check_proof(self, name: str, model: ModelPartition) -> None:
        """Mnemon and the verifier that shares no code with it both find the log intact, and all of it."""
        report = self.run(self.integrity.verify(self.tenant, name))
        assert report.intact, report.faults
        assert report.checked == len(model.entries)
        lines = self.run(self._exported(name))
        checkpoints = [one.as_json() for one in self.integrity.checkpoints.list(self.tenant, name)]
        notes = VERIFIER.Notes()
        if checkpoints:
            assert list(VERIFIER.check_checkpoints(checkpoints, checkpoints[-1]["public_key"])) == []
        assert list(VERIFIER.check_export(iter(lines), checkpoints, notes)) == []
        assert (len(lines) - 1, notes.absent) == (len(model.entries), [])
        redacted = [n for n, entry in enumerate(model.entries, 1) if entry.word == REDACTED and entry.person is None]
        assert notes.redacted == redacted

    async def _stored(self, name: str) -> list[Event]:
        return [event async for event in self.log.scan(self.tenant, legal_entity=name)]

    async def _exported(self, name: str) -> list[dict[str, Any]]:
        text = b"".join([line async for line in self.integrity.export(self.tenant, name)])
        return [json.loads(line) for line in text.splitlines()]

    async def _rows(self, lens: str) -> dict[str, dict[int, str]]:
        async with self.database.transaction(self.tenant) as tx:
            rows = await (await tx.execute(f"SELECT * FROM mnemon.{TABLES[lens]} ORDER BY sequence")).fetchall()
        assert {row["times"] for row in rows} <= {1}
        found: dict[str, dict[int, str]] = {name: {} for name in self.model}
        for row in rows:
            found[row["legal_entity"]][row["sequence"]] = row["word"]
        return found

    def _own_events(self, name: str, count: int) -> None:
        """The log recorded so many events of its own."""
        self.model[name].entries += [Entry(None) for _ in range(count)]

    def _note_projected(self) -> None:
        for model in self.model.values():
            model.projected = len(model.entries)

    def _redactable(self, name: str) -> list[Entry]:
        return [one for one in self.model[name].entries if one.word is not None and one.person is None]

    def _tells_of(self, entry: Entry, person: str) -> bool:
        return entry.word is not None and (entry.person == person or person == CLERK.id)

    def _events(self, name: str, plans: list[Plan]) -> list[NewEvent]:
        earlier: Counter[str] = Counter()
        events = []
        for plan in plans:
            expected = {
                ("thing", thing): max(0, self.model[name].version(thing) + earlier[thing] + plan.expects)
                for thing in plan.things
                if plan.expects is not None
            }
            events.append(
                noted(
                    plan.text,
                    scope=Scope(name),
                    entities=[EntityReference("thing", thing) for thing in plan.things],
                    idempotency_key=plan.key,
                    expected_versions=expected,
                )
            )
            earlier.update(plan.things)
        return events

    def _contradicts(self, model: ModelPartition, plan: Plan) -> bool:
        """A key stands for one event of the tenant: for no other content, and in no other partition."""
        other = plan.key in model.keys and model.keys[plan.key][1:] != (plan.text, plan.things)
        return other or any(plan.key in one.keys for one in self.model.values() if one is not model)

    def _first_mismatch(self, model: ModelPartition, plans: list[Plan]) -> tuple[str, int] | None:
        """The first expectation that fails, given that events found by their key are not counted again."""
        added: Counter[str] = Counter()
        assumed: Counter[str] = Counter()
        for plan in plans:
            fresh = plan.key is None or plan.key not in model.keys
            for thing in plan.things:
                actual = model.version(thing) + added[thing]
                expected = model.version(thing) + assumed[thing] + (plan.expects or 0)
                if fresh and plan.expects is not None and max(0, expected) != actual:
                    return thing, actual
            assumed.update(plan.things)
            if fresh:
                added.update(plan.things)
        return None

    def _take(self, model: ModelPartition, plans: list[Plan], appended: list[Appended]) -> None:
        for plan, result in zip(plans, appended, strict=True):
            if plan.key in model.keys:
                assert result.duplicate
                assert model.keys[plan.key] == (result.sequence, plan.text, plan.things)
                continue
            assert not result.duplicate
            model.entries.append(Entry(plan.text, plan.things, event_id=result.id))
            assert result.sequence == len(model.entries)
            if plan.key:
                model.keys[plan.key] = (result.sequence, plan.text, plan.things)


def load_verifier() -> ModuleType:
    program = Path(__file__).parents[2] / "verify" / "mnemon_verify.py"
    spec = importlib.util.spec_from_file_location("mnemon_verify", program)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


VERIFIER = load_verifier()


async def make_tables(database: Database, statement: str) -> None:
    async with database.owner() as owner:
        for name in TABLES.values():
            await owner.execute(statement.format(name=name))


def run_machine(server: EmbeddedServer, ring: KeyRing, folder: Path, examples: int, steps: int) -> None:
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    # No shrinking: with a database behind every step it takes minutes, and the steps can be read as they are.
    phases = (Phase.explicit, Phase.reuse, Phase.generate)
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=quiet,
        phases=phases,
    )
    with asyncio.Runner() as runner:
        database = runner.run(Database(server).__aenter__())
        try:
            runner.run(make_tables(database, TABLE))
            run_state_machine_as_test(lambda: LogMachine(runner, database, ring, folder), settings=chosen)
        finally:
            runner.run(make_tables(database, "DROP TABLE IF EXISTS mnemon.{name}"))
            runner.run(database._pool.close())


def test_the_log_follows_the_model(server: EmbeddedServer, database: Database, ring: KeyRing, tmp_path: Path) -> None:
    run_machine(server, ring, tmp_path, examples=20, steps=12)


@pytest.mark.slow
def test_the_log_follows_the_model_for_long(
    server: EmbeddedServer, database: Database, ring: KeyRing, tmp_path: Path
) -> None:
    run_machine(server, ring, tmp_path, examples=120, steps=30)
