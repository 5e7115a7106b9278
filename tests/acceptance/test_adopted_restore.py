"""A log that was brought back to an earlier moment goes on once its owner has said so, and only then."""

import shutil
from pathlib import Path
from uuid import UUID

import pytest
from tests.acceptance.test_gateways_without_disks import (
    ADA,
    JOINED,
    Machines,
    joined,
    machines,
    main_of,
    store,
    store_address,
)

from mnemon.app import Mnemon
from mnemon.db.backup import backup, restore
from mnemon.db.backup_keys import BackupKeys
from mnemon.log.errors import CheckpointRefused
from mnemon.log.proof.checkpoint_files import FOLDER, RESTORED, CheckpointFiles
from mnemon.log.proof.restored import GoingOn
from mnemon.log.types.builtin import RESTORE_ADOPTED
from mnemon.shared_home import Home

__all__ = ["machines", "store", "store_address"]


class BroughtBack:
    """A database that was restored to a moment before its last two checkpoints."""

    def __init__(self, machines: Machines, shared: bool) -> None:
        self.machines, self._shared = machines, shared
        self.home: Home = machines.shared("one") if shared else machines.folder / "one"
        self.more = {} if shared else {"home_store": None}

    async def made(self, folder: Path, rotated: bool = False) -> UUID:
        async with self.machines.started("one", **self.more) as (one,):
            tenant = await main_of(one)
            await one.log.register_type(tenant, JOINED, ADA)
            await self.grown(one, tenant, "m-1")
            await backup(self.machines.server, folder / "kept.backup", BackupKeys(self.home))
            for name in ("m-2", "m-3"):
                await self.grown(one, tenant, name)
            if rotated:
                await one.integrity.rotate_key()
        await restore(self.machines.server, folder / "kept.backup", BackupKeys(self.home), replace=True)
        return tenant

    @staticmethod
    async def grown(mnemon: Mnemon, tenant: UUID, name: str) -> None:
        await mnemon.log.append(tenant, [joined(name)])
        await mnemon.integrity.seal_all()
        await mnemon.integrity.checkpoint(tenant)


@pytest.fixture(params=["folder", "bucket"])
def brought(request: pytest.FixtureRequest, machines: Machines) -> BroughtBack:
    return BroughtBack(machines, request.param == "bucket")


async def faults(mnemon: Mnemon, tenant: UUID) -> list[str]:
    return [one.kind for one in (await mnemon.integrity.verify(tenant)).faults]


@pytest.mark.parametrize("grew_meanwhile", [False, True])
async def test_a_log_that_was_brought_back_goes_on_when_its_owner_says_so(
    brought: BroughtBack, tmp_path: Path, grew_meanwhile: bool
) -> None:
    tenant = await brought.made(tmp_path)
    async with brought.machines.started("one", **brought.more) as (one,):
        if grew_meanwhile:
            await one.log.append(tenant, [joined(f"n-{number}") for number in range(9)])
        assert await faults(one, tenant) != [], "it looks as if somebody had cut it, until it is said"
        with pytest.raises(CheckpointRefused):
            await one.integrity.checkpoint(tenant)
        [beyond] = await one.integrity.adopt_restore(tenant)
        assert beyond.legal_entity == "main" and len(beyond.lost) >= 2
        assert await faults(one, tenant) == []
        [said] = [one async for one in one.log.scan(tenant) if one.type == RESTORE_ADOPTED.type]
        assert said.data["attested"] == beyond.furthest.sequence and said.data["digest"] == beyond.furthest.digest
        assert await one.integrity.adopt_restore(tenant) == [], "once"
        await brought.grown(one, tenant, "m-4")
        assert await faults(one, tenant) == []
        # What was signed is not deleted: whoever has a receipt of it can still show that there was more.
        assert _kept_aside(brought, tenant) >= 2


async def test_a_log_from_before_a_change_of_the_signing_key_goes_on_with_the_new_one(
    brought: BroughtBack, tmp_path: Path
) -> None:
    tenant = await brought.made(tmp_path, rotated=True)
    async with brought.machines.started("one", **brought.more) as (one,):
        with pytest.raises(CheckpointRefused):
            await one.integrity.checkpoint(tenant)
        await one.integrity.adopt_restore(tenant)
        assert await faults(one, tenant) == []
        await brought.grown(one, tenant, "m-4")
        assert await faults(one, tenant) == []
        newest = one.integrity.checkpoints.newest(tenant).kept
        assert newest is not None and newest.public_key == one.integrity.public_key


async def test_a_restored_log_that_had_been_signed_to_its_end_since_the_backup_is_whole(
    brought: BroughtBack, tmp_path: Path
) -> None:
    """More was signed than its database tells of, and nothing is left to sign."""
    file, machines = tmp_path / "kept.backup", brought.machines
    async with machines.started("one", **brought.more) as (one,):
        tenant = await main_of(one)
        await one.log.register_type(tenant, JOINED, ADA)
        await brought.grown(one, tenant, "m-1")
        await one.log.append(tenant, [joined("m-2")])
        await backup(machines.server, file, BackupKeys(brought.home))
        await one.integrity.checkpoint(tenant)
        await one.integrity.rotate_key()
    await restore(machines.server, file, BackupKeys(brought.home), replace=True)
    async with machines.started("one", **brought.more) as (one,):
        restored = CheckpointFiles(machines.folder / "one", RESTORED)
        assert all(found.signed for found in await GoingOn(one.database, one.integrity, restored).done())
        assert await faults(one, tenant) == []


async def test_a_log_that_is_restored_twice_in_a_new_home_is_whole(machines: Machines, tmp_path: Path) -> None:
    """The database of the backup tells of a seal that only the old home has."""
    brought, file = BroughtBack(machines, False), tmp_path / "kept.backup"
    old, home = machines.folder / "one", machines.folder / "two"
    async with machines.started("one", **brought.more) as (one,):
        tenant = await main_of(one)
        await one.log.register_type(tenant, JOINED, ADA)
        await brought.grown(one, tenant, "m-1")
        await one.log.append(tenant, [joined("m-2")])
        await one.integrity.seal_all()
        await backup(machines.server, file, BackupKeys(old), {FOLDER: old / FOLDER})
    shutil.copytree(old / "keys", home / "keys")
    for _ in range(2):
        await restore(machines.server, file, BackupKeys(home), {FOLDER: home / RESTORED}, replace=True)
        async with machines.started("two", **brought.more) as (one,):
            restored = CheckpointFiles(home, RESTORED)
            assert all(found.signed for found in await GoingOn(one.database, one.integrity, restored).done())
            assert await faults(one, tenant) == []


async def test_checkpoints_that_cannot_be_read_are_told_and_not_set_aside(machines: Machines, tmp_path: Path) -> None:
    brought = BroughtBack(machines, False)
    tenant = await brought.made(tmp_path)
    [file] = (machines.folder / "one" / "checkpoints" / str(tenant)).glob("*.jsonl")
    damaged = b"{}\n" + file.read_bytes()
    file.write_bytes(damaged)
    async with brought.machines.started("one", **brought.more) as (one,):
        with pytest.raises(CheckpointRefused, match="cannot be read"):
            await one.integrity.adopt_restore(tenant)
    assert file.read_bytes() == damaged


async def test_whoever_adopts_a_later_backup_may_be_gone_at_any_moment(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkpoints of the other history are set aside, those of the backup not yet in their place."""
    brought = BroughtBack(machines, False)
    home, keys = machines.folder / "one", BackupKeys(machines.folder / "one")
    packed, beside = {FOLDER: home / FOLDER}, {FOLDER: home / RESTORED}
    later = tmp_path / "later.backup"
    async with machines.started("one", **brought.more) as (one,):
        tenant = await main_of(one)
        await one.log.register_type(tenant, JOINED, ADA)
        await brought.grown(one, tenant, "m-1")
        await backup(machines.server, tmp_path / "earlier.backup", keys)
        for name in ("m-2", "m-3"):
            await brought.grown(one, tenant, name)
        await backup(machines.server, later, keys, packed)
    await restore(machines.server, tmp_path / "earlier.backup", keys, replace=True)
    async with machines.started("one", **brought.more) as (one,):
        await one.integrity.adopt_restore(tenant)
        await brought.grown(one, tenant, "n-2")
    await restore(machines.server, later, keys, beside, replace=True)
    async with machines.started("one", **brought.more) as (one,):
        [ended] = [
            found
            for found in await GoingOn(one.database, one.integrity, CheckpointFiles(home, RESTORED)).done()
            if found.tenant == tenant
        ]
        assert ended.attested and not ended.signed
        with monkeypatch.context() as dying:
            dying.setattr(CheckpointFiles, "add", _gone)
            with pytest.raises(ProcessLookupError):
                await one.integrity.adopt_restore(tenant)
        assert await faults(one, tenant) != []
        await one.integrity.adopt_restore(tenant)
        await brought.grown(one, tenant, "m-4")
        assert await faults(one, tenant) == []
    assert not (home / RESTORED).exists()


def _gone(*what: object) -> None:
    raise ProcessLookupError("killed")


def _kept_aside(brought: BroughtBack, tenant: UUID) -> int:
    if isinstance(brought.home, Path):
        return sum(
            len(file.read_text().splitlines())
            for file in (brought.home / "checkpoints" / str(tenant)).glob("set-aside/*.jsonl")
        )
    keys = [one.key for page in brought.home.bucket.pages(f"checkpoints/{tenant}/") for one in page]
    return len([key for key in keys if "/set-aside/" in key])
