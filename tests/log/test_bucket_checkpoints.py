"""Checkpoints in a bucket: none is written over another's, and what was kept is found with few requests."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import UUID

import pytest
from pydantic import SecretStr

from mnemon.buckets import ObjectChanged
from mnemon.db.database import Database
from mnemon.log.errors import CheckpointRefused
from mnemon.log.proof import checkpoint_packs
from mnemon.log.proof.bucket_checkpoints import BucketCheckpoints
from mnemon.log.proof.checkpoint import Checkpoint
from mnemon.log.proof.integrity import Integrity
from mnemon.log.proof.signing_keys import SharedSigningKeys
from mnemon.log.store import EventLog
from mnemon.settings import Settings
from mnemon.shared_home import SharedHome, home_of
from tests.log import offline
from tests.log.conftest import order_placed
from tests.object_store import ObjectStore, store, store_address

__all__ = ["store", "store_address"]

SECRET = "b25lIHNlY3JldCBvZiBhbGwgdGhlc2UgZ2F0ZXdheXM="


@pytest.fixture
async def database(own_database: Database) -> Database:
    """A round of seals goes over every tenant that there is, and the shared database has those of all tests."""
    return own_database


@pytest.fixture
def shared(store: ObjectStore, tmp_path: Path) -> SharedHome:
    home = home_of(Settings(home=tmp_path, home_store=store.place, home_store_secret=SecretStr(SECRET)))
    assert isinstance(home, SharedHome)
    return home


@pytest.fixture
def integrity(database: Database, log: EventLog, shared: SharedHome) -> Integrity:
    return Integrity(database, log.reader, shared)


async def signed(integrity: Integrity, log: EventLog, tenant: UUID, times: int) -> BucketCheckpoints:
    for number in range(times):
        await log.append(tenant, [order_placed(f"A-{number}")])
        await integrity.checkpoint(tenant)
    assert isinstance(integrity.checkpoints, BucketCheckpoints)
    return integrity.checkpoints


async def test_a_number_is_given_once(integrity: Integrity, log: EventLog, tenant: UUID, shared: SharedHome) -> None:
    """As a gateway would that came back after it had lost its turn, and does not know."""
    kept = await signed(integrity, log, tenant, 2)
    first, second = kept.list(tenant)
    stale = BucketCheckpoints(shared.bucket)
    stale.add(tenant, "main", second, 2)
    with pytest.raises(ObjectChanged, match="signed checkpoint 2 of main"):
        stale.add(tenant, "main", first, 2)
    assert kept.list(tenant) == [first, second]


async def test_an_older_seal_does_not_take_the_place_of_a_newer_one(
    integrity: Integrity, log: EventLog, tenant: UUID, shared: SharedHome
) -> None:
    kept = await signed(integrity, log, tenant, 1)
    stale, before = BucketCheckpoints(shared.bucket), kept.newest(tenant)
    for number in range(2):
        await log.append(tenant, [order_placed(f"B-{number}")])
        newer = await integrity.signer.sign_seal(tenant)
        assert before.kept is not None
        with pytest.raises(ObjectChanged):
            stale.put_seal(tenant, "main", before.kept, before.mark)
        before = kept.newest(tenant)
        assert before.seal == newer
    assert (await integrity.verify(tenant)).faults == []


async def test_a_crossing_with_another_gateway_stops_nobody_elses_seal(
    integrity: Integrity, log: EventLog, tenant: UUID, other_tenant: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    await log.append(tenant, [order_placed("A-1")])
    await log.append(other_tenant, [order_placed("B-1")])
    sign = integrity.signer.sign_seal
    crossed: list[UUID] = []

    async def crossing(whose: UUID, legal_entity: str) -> object:
        if not crossed:
            crossed.append(whose)
            raise ObjectChanged("Somebody else wrote it.")
        return await sign(whose, legal_entity)

    monkeypatch.setattr(integrity.signer, "sign_seal", crossing)
    assert await integrity.seal_all() >= 1
    assert await integrity.seal_all() == 1, "the next round seals what was crossed"


async def test_signing_asks_for_as_much_after_many_checkpoints_as_after_few(
    integrity: Integrity, log: EventLog, tenant: UUID, shared: SharedHome
) -> None:
    async def requests(sign: Callable[[UUID], Awaitable[Checkpoint]]) -> int:
        before = shared.bucket.requests
        await log.append(tenant, [order_placed("C")])
        await sign(tenant)
        return shared.bucket.requests - before

    await signed(integrity, log, tenant, 1)
    found = []
    for sign in (integrity.signer.sign, integrity.signer.sign_seal) * 2:
        found.append(await requests(sign))
        await signed(integrity, log, tenant, 15)
    assert found == [7, 6, 7, 6]


async def test_the_last_is_told_without_reading_all(
    integrity: Integrity, log: EventLog, tenant: UUID, shared: SharedHome
) -> None:
    kept = await signed(integrity, log, tenant, 15)
    made, before = kept.list(tenant), shared.bucket.requests
    assert BucketCheckpoints(shared.bucket).since(tenant, "main", 14) == (15, made[-1:])
    assert kept.since(tenant, "main", 10**9) == (15, [])
    assert shared.bucket.requests - before == 3


async def test_a_receipt_is_by_the_first_checkpoint_that_covers_its_event(
    integrity: Integrity, log: EventLog, tenant: UUID, store: ObjectStore, shared: SharedHome
) -> None:
    kept = await signed(integrity, log, tenant, 9)
    made = kept.list(tenant)
    for sequence in range(1, made[-1].sequence + 1):
        assert kept.covering(tenant, "main", sequence) == next(one for one in made if one.sequence >= sequence)
    assert kept.covering(tenant, "main", made[-1].sequence + 1) is None
    new = SharedSigningKeys(shared).rotate()
    await integrity.checkpoint(tenant)
    found = kept.covering(tenant, "main", 1)
    assert found is not None and found.public_key == new
    for key in [one["Key"] for one in store.client().list_objects_v2(Bucket=store.bucket)["Contents"]][3:9]:
        store.remove(key)
    with pytest.raises(CheckpointRefused, match="run verify"):
        kept.covering(tenant, "main", 1)


async def test_all_are_read_in_packs_that_nobody_has_to_believe(
    integrity: Integrity,
    log: EventLog,
    tenant: UUID,
    store: ObjectStore,
    shared: SharedHome,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checkpoint_packs, "PACK", 5)
    made = (await signed(integrity, log, tenant, 12)).list(tenant)
    within = f"here/checkpoints/{tenant}/{b'main'.hex()}/"
    pack, single = f"{within}packs/00001.jsonl", f"{within}kept/99999992-7.json"

    def listed() -> tuple[list[Checkpoint], int]:
        fresh, before = BucketCheckpoints(shared.bucket), shared.bucket.requests
        return fresh.list(tenant), shared.bucket.requests - before

    assert listed() == (made, 1 + 2 * (1 + 5 + 1) + 2), "who finds no pack reads each, and writes it"
    assert listed() == (made, 1 + 2 + 2), "a listing, two packs, and the two that are in none yet"
    client = store.client()
    content = client.get_object(Bucket=store.bucket, Key=pack)["Body"].read()
    store.put(pack, content.replace(b"statement", b"Statement"))
    assert listed() == (made, 1 + 2 + 2 + 5 + 1), "what was changed there is passed over, and written again"
    assert listed() == (made, 1 + 2 + 2)

    original = client.get_object(Bucket=store.bucket, Key=single)["Body"].read()
    store.put(single, original.replace(b'"frontier":["', b'"frontier":["00'))
    assert BucketCheckpoints(shared.bucket).list(tenant)[6] != made[6], "no pack hides that one was changed"
    store.remove(single)
    assert BucketCheckpoints(shared.bucket).list(tenant) == [*made[:6], *made[7:]], "or that one is gone"


async def test_an_auditor_checks_what_lies_in_the_bucket_without_mnemon(
    integrity: Integrity, log: EventLog, tenant: UUID, store: ObjectStore, tmp_path: Path
) -> None:
    made = (await signed(integrity, log, tenant, 3)).list(tenant)
    client, within = store.client(), f"here/checkpoints/{tenant}/"
    found = [one["Key"] for one in client.list_objects_v2(Bucket=store.bucket, Prefix=within)["Contents"]]
    objects = [client.get_object(Bucket=store.bucket, Key=key)["Body"].read() for key in sorted(found, reverse=True)]
    (tmp_path / "checkpoints.jsonl").write_bytes(b"".join(objects))
    assert offline.run("checkpoints", tmp_path / "checkpoints.jsonl", "--key", made[0].public_key) == (0, "all holds\n")


async def test_what_is_not_ours_in_the_bucket_is_passed_over(
    integrity: Integrity, log: EventLog, tenant: UUID, store: ObjectStore, shared: SharedHome
) -> None:
    kept = await signed(integrity, log, tenant, 2)
    store.put(f"here/checkpoints/{tenant}/{b'main'.hex()}/kept/00000000-notes.txt", "hello")
    store.put("here/checkpoints/README", "hello")
    store.put("here/checkpoints/no-tenant/x", "hello")
    assert list(kept.tenants()) == [tenant] and list(kept.legal_entities(tenant)) == ["main"]
    await signed(integrity, log, tenant, 1)
    assert kept.count(tenant) == 3
    assert (await integrity.verify(tenant)).faults == []


async def test_an_emptied_checkpoint_is_not_taken_for_none(
    integrity: Integrity, log: EventLog, tenant: UUID, store: ObjectStore
) -> None:
    """Who signed on from nothing would not look whether the log still is the one that was signed."""
    await signed(integrity, log, tenant, 2)
    within = f"here/checkpoints/{tenant}/{b'main'.hex()}/kept/"
    store.put(f"{within}99999997-2.json", b"")
    await log.append(tenant, [order_placed("D")])
    for sign in (integrity.signer.sign, integrity.signer.sign_seal):
        with pytest.raises(CheckpointRefused, match="cannot be read"):
            await sign(tenant)
    assert "cannot be read" in (await integrity.verify(tenant)).faults[0].message
