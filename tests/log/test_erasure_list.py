"""What is forgotten stays forgotten, in whatever order keys are rotated, people erased, backups made and restored."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from typing import LiteralString
from uuid import UUID

import pytest

from mnemon.db.backup import backup, restore
from mnemon.db.backup_keys import BackupKeys
from mnemon.db.database import Database
from mnemon.db.external import ExternalServer
from mnemon.errors import BackupFailed
from mnemon.ids import new_uuid
from mnemon.log.errors import ErasureNotListed, SubjectErased
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.log.privacy.erasure_list import ErasureList, ListedErasure
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.repeated_erasures import note_before_restore
from mnemon.log.privacy.wrapping_keys import FileKeys, KeyRing
from mnemon.log.proof.integrity import Integrity

from .conftest import joined, open_private

GONE, STAYS = "c-3", "c-4"
STEPS = ("backup", "erase", "rotate", "discard", "restore")
ORDERS = [order for order in permutations(STEPS) if order.index("backup") < order.index("restore")]
# Those in which something is at stake come with every run, the others with the long suites.
SHORT = {
    ("backup", "erase", "restore", "rotate", "discard"),
    ("backup", "rotate", "erase", "restore", "discard"),
    ("rotate", "backup", "erase", "restore", "discard"),
    ("backup", "erase", "rotate", "discard", "restore"),
    ("erase", "rotate", "backup", "discard", "restore"),
    ("discard", "backup", "restore", "erase", "rotate"),
}


class Machine:
    """A home and a database that is opened anew for each step, as commands do."""

    def __init__(self, server: ExternalServer, home: Path) -> None:
        self.server, self.home = server, home
        self.keys, self.listed = BackupKeys(home), ErasureList(home)
        self.tenant = new_uuid()

    @asynccontextmanager
    async def started(self) -> AsyncIterator[Privacy]:
        """As a process starts: what the list has is done before anything is served."""
        async with Database(self.server, 2) as database:
            async with database.owner() as owner:
                await owner.execute(
                    "INSERT INTO mnemon.tenants VALUES (%s, 'kept', 'Kept') ON CONFLICT DO NOTHING", (self.tenant,)
                )
            ring = KeyRing(FileKeys(self.home))
            privacy = open_private(database, ring, self.home, backup_keys=self.keys, erasure_list=self.listed)
            try:
                await privacy.repeat_erasures()
                yield privacy
            finally:
                await privacy.close()

    async def erase(self, subject: str) -> None:
        async with self.started() as privacy:
            asked = await privacy.erasures.request(self.tenant, subject, reason="subject_request", requested_by="u-1")
            await privacy.erasures.approve(self.tenant, asked.erasure_id, approved_by="u-2")

    async def restore(self, file: Path) -> None:
        async with Database(self.server, 1) as database, database.owner() as owner:
            await note_before_restore(owner, self.listed)
        await restore(self.server, file, self.keys, replace=True)

    async def execute(self, statement: LiteralString, *values: object) -> None:
        async with Database(self.server, 1) as database, database.owner() as owner:
            await owner.execute(statement, values)

    async def names(self) -> dict[str, object]:
        async with self.started() as privacy:
            events = [event async for event in privacy.log.scan(self.tenant) if event.type == "shop.customer.joined"]
        return {event.data["customer_id"]: event.data["name"] for event in events}


@pytest.fixture
async def machine(own_server: ExternalServer, home: Path) -> Machine:
    made = Machine(own_server, home)
    async with made.started() as privacy:
        await privacy.log.append(made.tenant, [joined(GONE, "Gone Soon"), joined(STAYS, "Stays Here")])
    return made


@pytest.mark.parametrize(
    "steps", [pytest.param(one, marks=[] if one in SHORT else pytest.mark.slow, id="-".join(one)) for one in ORDERS]
)
async def test_in_every_order_the_erased_stay_erased_and_the_others_readable(
    machine: Machine, tmp_path: Path, steps: tuple[str, ...]
) -> None:
    file, erased = tmp_path / "kept.backup", False
    for step in steps:
        if step == "backup":
            await backup(machine.server, file, machine.keys)
        elif step == "erase":
            await machine.erase(GONE)
            erased = True
        elif step == "restore":
            # A discard after the backup has destroyed it wholly; the database is then as it was.
            refused = steps.index("backup") < steps.index("discard") < steps.index("restore")
            with pytest.raises(BackupFailed, match="which is not in") if refused else nullcontext():
                await machine.restore(file)
        else:
            async with machine.started() as privacy:
                await privacy.rotate(discard=step == "discard")
        assert await machine.names() == {GONE: REDACTED if erased else "Gone Soon", STAYS: "Stays Here"}
    async with machine.started() as privacy:
        report = await Integrity(privacy.log.database, privacy.log.reader, machine.home).verify(machine.tenant)
        assert report.faults == []
        if erased:
            with pytest.raises(SubjectErased):
                await privacy.log.append(machine.tenant, [joined(GONE, "Back Again")])


async def test_a_restored_database_says_that_an_erasure_was_repeated(machine: Machine, tmp_path: Path) -> None:
    await backup(machine.server, tmp_path / "kept.backup", machine.keys)
    await machine.erase(GONE)
    await machine.restore(tmp_path / "kept.backup")
    told: list[tuple[UUID, list[str]]] = []

    async def hook(tenant: UUID, subjects: object, affected: object) -> list[str]:
        told.append((tenant, list(subjects)))  # type: ignore[call-overload]
        if len(told) == 1:
            raise ConnectionError
        return []

    async with Database(machine.server, 2) as database:
        privacy = open_private(database, KeyRing(FileKeys(machine.home)), machine.home, erasure_list=machine.listed)
        privacy.erasures.on_erased.append(hook)
        # What was interrupted is finished by the next start.
        with pytest.raises(ConnectionError):
            await privacy.repeat_erasures()
        assert await privacy.repeat_erasures() == 0
        assert await privacy.repeat_erasures() == 0
        assert told == [(machine.tenant, [GONE])] * 2
        types = [event.type async for event in privacy.log.scan(machine.tenant)]
        assert types.count("privacy.erasure.repeated") == 1
        await privacy.close()


async def test_a_person_unknown_to_the_backup_does_not_come_back_as_someone_new(
    machine: Machine, tmp_path: Path
) -> None:
    await backup(machine.server, tmp_path / "kept.backup", machine.keys)
    async with machine.started() as privacy:
        await privacy.log.append(machine.tenant, [joined("late", "Came Late")])
    await machine.erase("late")
    await machine.restore(tmp_path / "kept.backup")
    async with machine.started() as privacy:
        with pytest.raises(SubjectErased):
            await privacy.log.append(machine.tenant, [joined("late", "Came Late")])


async def test_a_process_that_died_before_it_could_commit_leaves_the_erasure_to_the_next(machine: Machine) -> None:
    """The line is there, the destruction is not: it was approved, and is done at the next start."""
    machine.listed.add([ListedErasure(machine.tenant, GONE, 1, datetime.now(UTC))])
    assert await machine.names() == {GONE: REDACTED, STAYS: "Stays Here"}


@pytest.mark.parametrize("state", ["opening", "moved"])
async def test_who_was_erased_while_their_tenant_is_elsewhere_keeps_nobody_from_starting(
    machine: Machine, state: str
) -> None:
    """And is erased here as soon as the tenant is open again."""
    machine.listed.add([ListedErasure(machine.tenant, GONE, 1, datetime.now(UTC))])
    await machine.execute(
        "INSERT INTO mnemon.tenant_moves (tenant_id, slug, state, url) VALUES (%s, 'kept', %s, 'https://two')",
        machine.tenant, state,
    )  # fmt: skip
    for _ in range(2):
        async with machine.started():
            pass
    await machine.execute("DELETE FROM mnemon.tenant_moves WHERE tenant_id = %s", machine.tenant)
    assert await machine.names() == {GONE: REDACTED, STAYS: "Stays Here"}


async def test_an_erasure_that_cannot_be_listed_is_not_done(machine: Machine) -> None:
    async with machine.started() as privacy:
        asked = await privacy.erasures.request(machine.tenant, GONE, reason="subject_request", requested_by="u-1")
        kept = Path(machine.listed.where).rename(machine.home / "away")
        Path(machine.listed.where).mkdir()
        with pytest.raises(ErasureNotListed, match="nobody was erased"):
            await privacy.erasures.approve(machine.tenant, asked.erasure_id, approved_by="u-2")
        Path(machine.listed.where).rmdir()
        kept.rename(Path(machine.listed.where))
        assert (await privacy.erasures.get(machine.tenant, asked.erasure_id)).status == "requested"
    assert (await machine.names())[GONE] == "Gone Soon"


async def test_a_home_learns_of_the_erasures_of_another(machine: Machine, tmp_path: Path) -> None:
    """Two servers on one database, each with its own keys folder: either may be the one that restores."""
    await machine.erase(GONE)
    other = ErasureList(tmp_path)
    async with Database(machine.server, 1) as database, database.owner() as owner:
        await note_before_restore(owner, other)
    assert [(one.tenant_id, one.subject_id, one.generation) for one in other.entries()] == [(machine.tenant, GONE, 1)]


async def test_a_restore_begins_no_list_where_one_was_lost(machine: Machine) -> None:
    """A new database knows nobody who was erased: a list that it began would let every backup bring people back."""
    Path(machine.listed.where).unlink()
    async with Database(machine.server, 1) as database, database.owner() as owner:
        await note_before_restore(owner, machine.listed)
    assert not machine.listed.exists()


def test_half_a_line_is_passed_over_and_the_next_one_is_whole(tmp_path: Path) -> None:
    listed, tenant = ErasureList(tmp_path), new_uuid()
    at = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)
    listed.add([ListedErasure(tenant, "a", 1, at)])
    with Path(listed.where).open("a") as output:
        output.write('{"tenant_id": "01')
    listed.add([ListedErasure(tenant, "b", 2, at)])
    assert [one.subject_id for one in listed.entries()] == ["a", "b"]
    assert Path(listed.where).stat().st_mode & 0o777 == 0o600
