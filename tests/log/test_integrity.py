"""Integrity: whatever a superuser does to the log, verification finds it and says where."""

import asyncio
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.log.errors import CheckpointRefused, EventNotFound, NothingToAttest
from mnemon.log.events import EntityReference, Scope
from mnemon.log.proof import chain
from mnemon.log.proof.checkpoint import Checkpoint
from mnemon.log.proof.checkpoint_files import FOLDER, RESTORED, CheckpointFiles
from mnemon.log.proof.integrity import Integrity
from mnemon.log.proof.merkle import EMPTY_ROOT, Frontier, leaf, node, path_ranges, root_from_path, subtrees
from mnemon.log.proof.restored import GoingOn
from mnemon.log.proof.verify import ChainReport
from mnemon.log.store import EventLog

from .conftest import noted

Superuser = psycopg.Connection[dict[str, Any]]


@pytest.fixture
def integrity(log: EventLog, database: Database, home: Path) -> Integrity:
    return Integrity(database, log.reader, home)


@pytest.fixture
async def filled(log: EventLog, tenant: UUID) -> AsyncIterator[UUID]:
    """Twenty events, with entities and tags; each expects its entity to be as the one before left it."""
    for number in range(4):
        await log.append(
            tenant,
            [
                noted(f"{number}-{n}", entities=[EntityReference("order", str(n))], tags=["t"],
                      correlation_id=f"p{n}", expected_versions={("order", str(n)): number})
                for n in range(5)
            ],
        )  # fmt: skip
    yield tenant


@contextmanager
def superuser(server: EmbeddedServer, database: str = "mnemon") -> Iterator[Superuser]:
    """Someone who owns the machine: no role, policy or trigger holds them."""
    conninfo = make_conninfo(server.cluster.conninfo("postgres"), dbname=database)
    with psycopg.connect(conninfo, row_factory=dict_row) as connection:
        connection.execute("SET session_replication_role = replica")
        yield connection


def chain_again(connection: Superuser, tenant: UUID, start: int) -> None:
    """What a patient forger does: recompute every hash from a place on, head included."""
    rows = connection.execute(
        "SELECT * FROM mnemon.events WHERE tenant_id = %s AND sequence >= %s ORDER BY sequence", (tenant, start)
    ).fetchall()
    previous = rows[0]["previous_hash"]
    for row in rows:
        own = chain.link(
            previous, row["sequence"], row["recorded_at"], chain.digest(row["envelope"].encode()), row["payload_digest"]
        )
        connection.execute(
            "UPDATE mnemon.events SET previous_hash = %s, hash = %s WHERE tenant_id = %s AND sequence = %s",
            (previous, own, tenant, row["sequence"]),
        )
        previous = own
    connection.execute("UPDATE mnemon.partitions SET hash = %s WHERE tenant_id = %s", (previous, tenant))


def found(report: ChainReport) -> set[tuple[int, str]]:
    return {(fault.sequence, fault.kind) for fault in report.faults}


async def test_an_untouched_log_is_intact(integrity: Integrity, filled: UUID) -> None:
    report = await integrity.verify(filled)
    assert report.intact
    assert (report.checked, report.total) == (20, 20)
    await integrity.checkpoint(filled)
    assert (await integrity.verify(filled)).intact


COLUMN_EDITS = [
    ("events", "envelope = replace(envelope, 'shop.order.noted', 'shop.order.voided')", "hash"),
    ("events", "recorded_at = recorded_at + interval '1 microsecond'", "hash"),
    ("events", "payload_digest = sha256('x')", "payload"),
    ("events", "previous_hash = sha256('x')", "link"),
    ("events", "hash = sha256('x')", "hash"),
    ("events", "id = '7' || substr(id, 2)", "columns"),
    ("events", "type = 'shop.order.voided'", "columns"),
    ("events", "occurred_at = occurred_at - interval '1 day'", "columns"),
    ("events", "effective_date = effective_date - 1", "columns"),
    ("events", "actor_id = 'someone-else'", "columns"),
    ("events", "correlation_id = 'elsewhere'", "columns"),
    ("events", "caused_by = 'nothing'", "columns"),
    ("event_payloads", "payload = replace(payload, '2-1', '9-9')", "payload"),
    ("event_entities", "entity_id = 'another'", "stream"),
    ("event_entities", "version = version + 1", "version"),
    ("event_labels", "value = 'hidden'", "stream"),
]


class TestTampering:
    @pytest.mark.parametrize(("table", "edit", "kind"), COLUMN_EDITS)
    async def test_an_edit_of_any_column_is_located(
        self, integrity: Integrity, filled: UUID, server: EmbeddedServer, table: str, edit: str, kind: str
    ) -> None:
        with superuser(server) as connection:
            changed = connection.execute(
                f"UPDATE mnemon.{table} SET {edit} WHERE tenant_id = %s AND sequence = 12", (filled,)
            )
            assert changed.rowcount == 1
        assert (12, kind) in found(await integrity.verify(filled))

    async def test_two_swapped_payloads_are_located(
        self, integrity: Integrity, filled: UUID, server: EmbeddedServer
    ) -> None:
        with superuser(server) as connection:
            connection.execute(
                """UPDATE mnemon.event_payloads p SET payload = o.payload FROM mnemon.event_payloads o
                    WHERE p.tenant_id = %s AND o.tenant_id = p.tenant_id AND p.sequence IN (3, 7)
                      AND o.sequence = 10 - p.sequence""",
                (filled,),
            )
        assert found(await integrity.verify(filled)) == {(3, "payload"), (7, "payload")}

    async def test_two_swapped_events_are_located(
        self, integrity: Integrity, filled: UUID, server: EmbeddedServer
    ) -> None:
        with superuser(server) as connection:
            for step in ("3 THEN -7 WHEN 7 THEN -3", "-3 THEN 3 WHEN -7 THEN 7"):
                for table in ("events", "event_payloads"):
                    connection.execute(
                        f"UPDATE mnemon.{table} SET sequence = CASE sequence WHEN {step} ELSE sequence END "
                        "WHERE tenant_id = %s",
                        (filled,),
                    )
        kinds = found(await integrity.verify(filled))
        assert {(3, "hash"), (3, "link"), (4, "link"), (7, "hash"), (7, "link"), (8, "link")} <= kinds
        assert min(sequence for sequence, _ in kinds) == 3

    async def test_a_deleted_event_is_located(self, integrity: Integrity, filled: UUID, server: EmbeddedServer) -> None:
        with superuser(server) as connection:
            connection.execute("DELETE FROM mnemon.events WHERE tenant_id = %s AND sequence = 9", (filled,))
        report = await integrity.verify(filled)
        assert (9, "missing") in found(report)
        assert "event 9 is missing" in report.faults[0].message

    async def test_an_event_hidden_from_a_stream_is_located(
        self, integrity: Integrity, filled: UUID, server: EmbeddedServer
    ) -> None:
        with superuser(server) as connection:
            connection.execute("DELETE FROM mnemon.event_entities WHERE tenant_id = %s AND sequence = 9", (filled,))
            connection.execute("DELETE FROM mnemon.event_labels WHERE tenant_id = %s AND sequence = 11", (filled,))
        assert {(9, "stream"), (11, "stream"), (14, "version")} <= found(await integrity.verify(filled))

    async def test_an_inserted_event_is_located(
        self, integrity: Integrity, filled: UUID, server: EmbeddedServer
    ) -> None:
        with superuser(server) as connection:
            connection.execute(
                """INSERT INTO mnemon.events
                   SELECT tenant_id, partition_id, 21, '7' || substr(id, 2), type, occurred_at, effective_date,
                          recorded_at, actor_id, correlation_id, caused_by, envelope, payload_digest, hash,
                          sha256('forged')
                     FROM mnemon.events WHERE tenant_id = %s AND sequence = 20""",
                (filled,),
            )
        assert found(await integrity.verify(filled)) == {(21, "head")}
        with superuser(server) as connection:
            connection.execute(
                "UPDATE mnemon.partitions SET sequence = 21, hash = sha256('forged') WHERE tenant_id = %s", (filled,)
            )
        assert {(21, "hash"), (21, "columns"), (21, "stream")} <= found(await integrity.verify(filled))

    async def test_a_cut_tail_is_found_by_its_checkpoint(
        self, integrity: Integrity, filled: UUID, server: EmbeddedServer
    ) -> None:
        await integrity.checkpoint(filled)
        with superuser(server) as connection:
            for table in ("events", "event_payloads", "event_entities", "event_labels"):
                connection.execute(f"DELETE FROM mnemon.{table} WHERE tenant_id = %s AND sequence > 15", (filled,))
            connection.execute(
                """UPDATE mnemon.partitions p SET sequence = 15, hash = e.hash FROM mnemon.events e
                    WHERE p.tenant_id = %s AND e.tenant_id = p.tenant_id AND e.sequence = 15""",
                (filled,),
            )
        report = await integrity.verify(filled)
        assert found(report) == {(16, "truncated")}
        assert "attests 20 events; the log ends at 15" in report.faults[0].message
        with pytest.raises(CheckpointRefused, match="ends at 15, but a checkpoint attests 20"):
            await integrity.checkpoint(filled)
        with pytest.raises(CheckpointRefused, match="nobody brought it back"):
            await integrity.adopt_restore(filled)

    async def test_a_cut_log_that_grew_again_was_not_brought_back(
        self, integrity: Integrity, log: EventLog, tenant: UUID, server: EmbeddedServer
    ) -> None:
        """Its own record names the seal of the event that is gone."""
        await log.append(tenant, [noted() for _ in range(4)])
        await integrity.checkpoint(tenant)
        await log.append(tenant, [noted()])
        await integrity.seal_all()
        with superuser(server) as connection:
            for table in ("events", "event_payloads", "event_entities", "event_labels"):
                connection.execute(f"DELETE FROM mnemon.{table} WHERE tenant_id = %s AND sequence > 4", (tenant,))
            connection.execute(
                """UPDATE mnemon.partitions p SET sequence = 4, hash = e.hash FROM mnemon.events e
                    WHERE p.tenant_id = %s AND e.tenant_id = p.tenant_id AND e.sequence = 4""",
                (tenant,),
            )
        await log.append(tenant, [noted()])
        signed = integrity.checkpoints.newest(tenant).seal
        assert signed is not None
        with pytest.raises(CheckpointRefused, match=r"signed up to 5, .*nobody brought it back"):
            await integrity.adopt_restore(tenant)
        assert integrity.checkpoints.newest(tenant).seal == signed

    async def test_checkpoints_beside_a_restore_that_nobody_signed_stand_for_nothing(
        self, integrity: Integrity, filled: UUID, server: EmbeddedServer, home: Path
    ) -> None:
        """Whoever has the database can write there what they like: the home's own are not exchanged for forged ones."""
        await integrity.checkpoint(filled)
        [own] = integrity.checkpoints.list(filled)
        says = orjson.loads(own.statement) | {"signed_at": "2026-01-01T00:00:00.000000Z"}
        forged = replace(own, statement=orjson.dumps(says, option=orjson.OPT_SORT_KEYS).decode())
        beside = CheckpointFiles(home, RESTORED)
        beside.file_of(filled, "main").parent.mkdir(parents=True)
        beside.add(filled, "main", forged)
        with superuser(server) as connection:
            for table in ("checkpoints", "seals"):
                connection.execute(
                    f"UPDATE mnemon.{table} SET digest = decode(%s, 'hex') WHERE tenant_id = %s",
                    (forged.digest, filled),
                )
        await integrity.adopt_restore(filled)
        assert integrity.checkpoints.list(filled)[:1] == [own]
        assert (20, "checkpoint") in found(await integrity.verify(filled))

    async def test_a_restore_signs_no_backup_of_a_log_that_was_cut_before(
        self, integrity: Integrity, database: Database, filled: UUID, server: EmbeddedServer, home: Path
    ) -> None:
        """Whoever cut it took its records away too; the backup has the checkpoints, and the new home has none."""
        await integrity.checkpoint(filled)
        folder = home / FOLDER / str(filled)
        (home / RESTORED).mkdir()
        folder.rename(home / RESTORED / folder.name)
        with superuser(server) as connection:
            for table in ("events", "event_payloads", "event_entities", "event_labels"):
                connection.execute(f"DELETE FROM mnemon.{table} WHERE tenant_id = %s AND sequence > 15", (filled,))
            for table in ("checkpoints", "seals"):
                connection.execute(f"DELETE FROM mnemon.{table} WHERE tenant_id = %s", (filled,))
            connection.execute(
                """UPDATE mnemon.partitions p SET sequence = 15, hash = e.hash FROM mnemon.events e
                    WHERE p.tenant_id = %s AND e.tenant_id = p.tenant_id AND e.sequence = 15""",
                (filled,),
            )
        every = await GoingOn(database, integrity, CheckpointFiles(home, RESTORED)).done()
        [one] = [one for one in every if one.tenant == filled]
        assert (one.signed, one.attested, one.beyond) == (False, 20, 5)
        assert (16, "truncated") in found(await integrity.verify(filled))

    async def test_a_chain_computed_again_is_found_by_its_checkpoints(
        self, integrity: Integrity, log: EventLog, filled: UUID, server: EmbeddedServer
    ) -> None:
        await integrity.checkpoint(filled)
        await log.append(filled, [noted(), noted(), noted()])
        await integrity.checkpoint(filled)
        await log.append(filled, [noted()])
        with superuser(server) as connection:
            connection.execute(
                """UPDATE mnemon.events SET envelope = replace(envelope, 'u-1', 'u-2'), actor_id = 'u-2'
                    WHERE tenant_id = %s AND sequence = 22""",
                (filled,),
            )
            chain_again(connection, filled, 22)
        report = await integrity.verify(filled)
        assert found(report) == {(21, "rewritten")}
        assert "Between events 21 and 23" in report.faults[0].message
        with pytest.raises(CheckpointRefused, match="Event 23 is not the one"):
            await integrity.checkpoint(filled)
        with pytest.raises(CheckpointRefused, match="nobody brought it back"):
            await integrity.adopt_restore(filled)

    async def test_a_swapped_pair_with_a_new_chain_is_found_by_the_root(
        self, integrity: Integrity, filled: UUID, server: EmbeddedServer
    ) -> None:
        await integrity.checkpoint(filled)
        with superuser(server) as connection:
            connection.execute(
                "UPDATE mnemon.events SET recorded_at = recorded_at - interval '1 day' WHERE tenant_id = %s", (filled,)
            )
            chain_again(connection, filled, 1)
        assert (1, "rewritten") in found(await integrity.verify(filled))


class TestCheckpoints:
    async def test_a_checkpoint_attests_head_count_and_root(
        self, integrity: Integrity, log: EventLog, filled: UUID
    ) -> None:
        made = await integrity.checkpoint(filled)
        [partition] = await log.list_partitions(filled)
        tree = Frontier()
        async for event in log.scan(filled):
            tree.add(event.hash)
        assert (made.sequence, made.head, made.root) == (20, partition.hash, tree.root())
        assert made.says["count"] == "20"

    async def test_nothing_new_is_nothing_to_sign(self, integrity: Integrity, filled: UUID, tenant: UUID) -> None:
        assert await integrity.checkpoint(filled) == await integrity.checkpoint(filled)
        assert len(integrity.checkpoints.list(filled)) == 1
        with pytest.raises(NothingToAttest, match="has no events yet"):
            await integrity.checkpoint(filled, "nowhere")

    async def test_signers_at_once_make_one_chain(self, integrity: Integrity, log: EventLog, filled: UUID) -> None:
        async def grow_and_sign() -> None:
            await log.append(filled, [noted()])
            await integrity.checkpoint(filled)

        await asyncio.gather(*(grow_and_sign() for _ in range(4)))
        await integrity.checkpoint(filled)
        assert (await integrity.verify(filled)).intact
        assert integrity.checkpoints.list(filled)[-1].sequence == 24

    async def test_the_key_is_the_owners_alone(self, integrity: Integrity, filled: UUID, home: Path) -> None:
        first = await integrity.checkpoint(filled)
        key = home / "keys" / "checkpoint.key"
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
        assert (home / "keys" / "checkpoint.pub").read_text().strip() == first.public_key

    async def test_a_line_cut_short_by_a_crash_is_no_checkpoint(
        self, integrity: Integrity, log: EventLog, filled: UUID
    ) -> None:
        await integrity.checkpoint(filled)
        file = integrity.checkpoints.file_of(filled, "main")
        with file.open("ab") as opened:
            opened.write(b'{"statement":"{')
        await log.append(filled, [noted()])
        await integrity.checkpoint(filled)
        assert [one.sequence for one in integrity.checkpoints.list(filled)] == [20, 21]

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (lambda lines: lines[1:], "the checkpoint before it is missing"),
            (lambda lines: [lines[0].replace(b'\\"count\\":\\"20', b'\\"count\\":\\"19'), lines[1]], "signature"),
            (lambda lines: [lines[0], lines[1], lines[0]], "it goes back"),
        ],
    )
    async def test_a_changed_checkpoint_file_is_noticed(
        self,
        integrity: Integrity,
        log: EventLog,
        filled: UUID,
        change: Callable[[list[bytes]], list[bytes]],
        reason: str,
    ) -> None:
        await integrity.checkpoint(filled)
        await log.append(filled, [noted()])
        await integrity.checkpoint(filled)
        file = integrity.checkpoints.file_of(filled, "main")
        file.write_bytes(b"".join(line + b"\n" for line in change(file.read_bytes().splitlines())))
        report = await integrity.verify(filled)
        assert any(fault.kind == "checkpoint" and reason in fault.message for fault in report.faults)

    async def test_checkpoint_all_covers_every_partition(
        self, integrity: Integrity, log: EventLog, filled: UUID
    ) -> None:
        await log.append(filled, [noted(scope=Scope("DE"))])
        made = [one for one in await integrity.checkpoint_all() if one.says["tenant_id"] == str(filled)]
        assert sorted(one.says["legal_entity"] for one in made) == ["DE", "main"]


class TestVerifying:
    async def test_since_the_last_checkpoint_only_the_rest_is_read(
        self, integrity: Integrity, log: EventLog, filled: UUID, server: EmbeddedServer
    ) -> None:
        with pytest.raises(NothingToAttest, match="no checkpoint yet"):
            await integrity.verify(filled, since_checkpoint=True)
        await integrity.checkpoint(filled)
        await log.append(filled, [noted(), noted()])
        report = await integrity.verify(filled, since_checkpoint=True)
        assert (report.intact, report.checked) == (True, 2)
        with superuser(server) as connection:
            connection.execute("DELETE FROM mnemon.events WHERE tenant_id = %s AND sequence = 21", (filled,))
        assert (21, "missing") in found(await integrity.verify(filled, since_checkpoint=True))

    async def test_it_resumes_where_it_stopped_and_tells_how_far_it_is(
        self, integrity: Integrity, log: EventLog, filled: UUID
    ) -> None:
        first = await integrity.verify(filled)
        await log.append(filled, [noted()])
        told: list[tuple[int, int]] = []
        report = await integrity.verify(
            filled, resume=first.position, progress=lambda one: told.append((one.position.sequence, one.total))
        )
        assert (report.intact, report.checked) == (True, 1)
        assert told == [(21, 21)]


class TestReceipts:
    async def test_every_event_has_a_receipt_that_holds(
        self, integrity: Integrity, log: EventLog, filled: UUID
    ) -> None:
        made = await integrity.checkpoint(filled)
        async for event in log.scan(filled):
            receipt = await integrity.receipt(filled, event.id)
            assert root_from_path(event.hash, event.sequence - 1, 20, receipt.proven.path) == made.root

    async def test_receipts_use_the_kept_subtrees_of_a_long_log(
        self, integrity: Integrity, log: EventLog, database: Database, tenant: UUID
    ) -> None:
        await log.append(tenant, [noted(str(n)) for n in range(700)])
        await integrity.checkpoint(tenant)
        async with database.transaction(tenant) as connection:
            rows = await (await connection.execute("SELECT level, place FROM mnemon.merkle_nodes")).fetchall()
        assert {(row["level"], row["place"]) for row in rows} == {(8, 0), (8, 1), (9, 0)}
        for sequence in (1, 256, 257, 512, 513, 700):
            async for event in log.scan(tenant, after=sequence - 1, to=sequence):
                assert (await integrity.receipt(tenant, event.id)).proven.event.sequence == sequence

    async def test_an_event_younger_than_the_last_checkpoint_has_none_yet(
        self, integrity: Integrity, log: EventLog, filled: UUID, other_tenant: UUID
    ) -> None:
        await integrity.checkpoint(filled)
        [late] = await log.append(filled, [noted()])
        with pytest.raises(NothingToAttest, match="sign one first"):
            await integrity.receipt(filled, late.id)
        with pytest.raises(EventNotFound):
            await integrity.receipt(other_tenant, late.id)

    async def test_a_tampered_log_gives_no_receipt(
        self, integrity: Integrity, log: EventLog, filled: UUID, server: EmbeddedServer
    ) -> None:
        await integrity.checkpoint(filled)
        with superuser(server) as connection:
            connection.execute(
                "UPDATE mnemon.events SET hash = sha256('x') WHERE tenant_id = %s AND sequence = 2", (filled,)
            )
        first = (await log.read_page(filled, limit=1)).events[0]
        with pytest.raises(CheckpointRefused, match="no longer leads to the checkpoint"):
            await integrity.receipt(filled, first.id)


def naive_root(leaves: list[bytes]) -> bytes:
    """RFC 6962, section 2.1, word for word."""
    if not leaves:
        return EMPTY_ROOT
    if len(leaves) == 1:
        return leaf(leaves[0])
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return node(naive_root(leaves[:split]), naive_root(leaves[split:]))


class TestMerkle:
    @given(st.integers(0, 70))
    def test_a_growing_tree_has_the_root_of_the_definition(self, count: int) -> None:
        leaves = [bytes([number]) * 32 for number in range(count)]
        tree = Frontier()
        for one in leaves:
            tree.add(one)
        assert tree.root() == naive_root(leaves)
        assert len(tree.roots) == count.bit_count()

    @given(st.integers(1, 70), st.data())
    def test_a_path_leads_to_the_root_and_no_other_leaf_does(self, count: int, data: st.DataObject) -> None:
        place = data.draw(st.integers(0, count - 1))
        leaves = [bytes([number]) * 32 for number in range(count)]
        path = [naive_root(leaves[start:end]) for start, end in path_ranges(place, count)]
        assert root_from_path(leaves[place], place, count, path) == naive_root(leaves)
        assert root_from_path(b"x" * 32, place, count, path) != naive_root(leaves)
        assert root_from_path(leaves[place], place, count, [*path, b"x" * 32]) is None
        for start, end in path_ranges(place, count):
            covered = [n for level, at in subtrees(start, end) for n in range(at << level, (at + 1) << level)]
            assert covered == list(range(start, end))


def test_a_checkpoint_survives_its_file_form() -> None:
    one = Checkpoint('{"sequence":"3"}', "aa", "bb", (b"\x01" * 32,))
    assert Checkpoint.from_json(one.as_json()) == one


@pytest.mark.parametrize("name", ["main", "nowhere"])
async def test_a_partition_without_events_is_not_called_intact(integrity: Integrity, tenant: UUID, name: str) -> None:
    with pytest.raises(NothingToAttest, match=name):
        await integrity.verify(tenant, name)
