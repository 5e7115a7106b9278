"""Gateways on machines of their own share one database and one bucket; none of them owns anything."""

import asyncio
import base64
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import UUID

import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from pydantic import SecretStr
from structlog.testing import capture_logs
from tests.object_store import ObjectStore, object_server, store, store_address
from werkzeug.serving import make_server

from mnemon.app import Mnemon, open_mnemon
from mnemon.buckets import BucketUnavailable
from mnemon.db.backup import backup, restore
from mnemon.db.backup_keys import BackupKeys
from mnemon.db.external import ExternalServer
from mnemon.errors import BackupFailed, BadSettings, Conflict
from mnemon.ids import new_uuid
from mnemon.keyfile import KeyFolder
from mnemon.log.errors import CheckpointRefused, ErasureNotListed, KeyUnavailable, SubjectErased
from mnemon.log.events import Actor, NewEvent
from mnemon.log.home_sharing import share_home
from mnemon.log.privacy import wrapping_keys
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.log.privacy.erasure_list import ErasureList
from mnemon.log.proof.signing import PRIVATE_NAME
from mnemon.log.types.event_type import EventType, PersonalField
from mnemon.settings import Settings
from mnemon.shared_home import KeyBucket, SharedHome, home_of
from mnemon.verification.run import last_verified, verify_everything

__all__ = ["store", "store_address"]

ADA = Actor("human", "u-1")
SECRET = base64.b64encode(b"one secret of all these gateways").decode()
JOINED = EventType(
    type="club.member.joined",
    data_schema={"type": "object", "properties": {"member": {"type": "string"}}},
    personal_fields=(PersonalField("name", "name", subject_path="member"),),
)


def joined(member: str, name: str = "Somebody") -> NewEvent:
    return NewEvent(type=JOINED.type, data={"member": member, "name": name}, actor=ADA)


class Machines:
    """One database, one bucket, and machines that come and go with their disks."""

    def __init__(self, server: ExternalServer, store: ObjectStore, folder: Path) -> None:
        self.server, self.store, self.folder = server, store, folder

    def settings(self, name: str, **changed: object) -> Settings:
        given: dict[str, object] = {
            "home": self.folder / name, "embedder": "none", "worker_inside": False,
            "database_url": SecretStr(self.server.owner_conninfo),
            "database_app_url": SecretStr(self.server.app_conninfo),
            "home_store": self.store.place, "home_store_secret": SecretStr(SECRET),
            "blob_store": self.store.place, "archive_store": self.store.place.replace("/here", "/archive"),
        }  # fmt: skip
        return Settings(**given | changed)  # type: ignore[arg-type]

    def shared(self, name: str) -> SharedHome:
        home = home_of(self.settings(name))
        assert isinstance(home, SharedHome)
        return home

    @asynccontextmanager
    async def started(self, *names: str, **changed: object) -> AsyncIterator[list[Mnemon]]:
        async with AsyncExitStack() as stack:
            yield [await stack.enter_async_context(open_mnemon(self.settings(name, **changed))) for name in names]

    def objects(self, within: str = "") -> list[str]:
        found = self.store.client().list_objects_v2(Bucket=self.store.bucket, Prefix=f"here/{within}")
        return [one["Key"] for one in found.get("Contents", ())]


@pytest.fixture
def machines(own_server: ExternalServer, store: ObjectStore, tmp_path: Path) -> Machines:
    return Machines(own_server, store, tmp_path)


@pytest.fixture
def careless_store() -> Iterator[str]:
    """The same buckets behind a server that heeds no conditions: it overwrites whatever is there."""
    whole = DomainDispatcherApplication(create_backend_app)

    def careless(environment: dict[str, Any], start: Any) -> Any:
        environment.pop("HTTP_IF_NONE_MATCH", None), environment.pop("HTTP_IF_MATCH", None)
        return whole(environment, start)

    server = make_server("127.0.0.1", 0, careless, threaded=True)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()


def versions_of(store: ObjectStore, within: str) -> list[str]:
    found = store.client().list_object_versions(Bucket=store.bucket, Prefix=f"here/{within}")
    return [one["VersionId"] for one in found.get("Versions", ())]


async def main_of(mnemon: Mnemon) -> UUID:
    async with mnemon.database.owner() as owner:
        row = await (await owner.execute("SELECT tenant_id FROM mnemon.tenants WHERE slug = 'main'")).fetchone()
    assert row is not None
    return UUID(str(row["tenant_id"]))


async def test_two_gateways_sign_one_chain_and_a_third_goes_on_when_one_is_lost(machines: Machines) -> None:
    async with machines.started("one", "two") as (one, two):
        tenant = await main_of(one)
        assert one.log.signing_key == two.log.signing_key
        await one.log.register_type(tenant, JOINED, ADA)
        for number, gateway in enumerate([one, two, one, two]):
            await gateway.log.append(tenant, [joined(f"m-{number}", f"Name {number}")])
            await gateway.integrity.checkpoint(tenant)
        for gateway in (one, two):
            await gateway.log.append(tenant, [joined("late")])
            await gateway.integrity.seal_all()
            report = await gateway.integrity.verify(tenant)
            assert report.faults == [] and report.sealed == report.total
        kept = two.integrity.checkpoints.list(tenant)
        assert len(kept) == 4 and {made.public_key for made in kept} == {one.log.signing_key}
        names = [event.data["name"] async for event in two.log.scan(tenant) if event.type == JOINED.type]
        assert names[:4] == [f"Name {number}" for number in range(4)], "either reads what the other wrote of people"
        assert (await verify_everything(two, tenant)).intact
        key = one.log.signing_key
    shutil.rmtree(machines.folder / "one", ignore_errors=True)

    async with machines.started("third") as (third,):
        assert third.log.signing_key == key
        assert (await verify_everything(third, tenant, complete=False)).intact
        [event] = await third.log.append(tenant, [joined("m-0", "Name again")])
        made = await third.integrity.checkpoint(tenant)
        assert third.integrity.checkpoints.count(tenant) == 5
        receipt = await third.integrity.receipt(tenant, event.id)
        assert receipt.checkpoint == made
        assert (await third.integrity.verify(tenant)).faults == []
        assert (await third.readiness())["disk"].ok, "an empty home is one to write to"
    own = [file.name for file in (machines.folder / "third").rglob("*") if file.is_file()]
    assert not [name for name in own if name.endswith((".key", ".jsonl", ".seal"))], "no gateway owns a disk"


@pytest.mark.parametrize("store_has_conditions", [True, False])
async def test_gateways_that_sign_at_the_same_moment_do_not_fork(
    machines: Machines, store_has_conditions: bool, careless_store: str
) -> None:
    if not store_has_conditions:
        machines.store = ObjectStore(careless_store, machines.store.bucket)
    async with machines.started("one", "two") as gateways:
        tenant = await main_of(gateways[0])
        await gateways[0].log.register_type(tenant, JOINED, ADA)

        async def busy(gateway: Mnemon, number: int) -> None:
            for turn in range(5):
                await gateway.log.append(tenant, [joined(f"m-{number}-{turn}")])
                await (gateway.integrity.checkpoint(tenant) if turn % 2 else gateway.integrity.seal_all())

        await asyncio.gather(*(busy(gateway, number) for number, gateway in enumerate(gateways * 2)))
        for gateway in gateways:
            await gateway.integrity.checkpoint(tenant)
            assert (await gateway.integrity.verify(tenant)).faults == []


async def test_a_gateway_that_dies_between_bucket_and_database_leaves_no_gap(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with machines.started("one", "two") as (one, two):
        tenant = await main_of(one)
        await one.log.register_type(tenant, JOINED, ADA)
        await one.integrity.checkpoint(tenant)
        await one.log.append(tenant, [joined("m-1")])
        keep = one.integrity.checkpoints.add

        def keep_and_die(*values: Any) -> None:
            keep(*values)
            raise ConnectionError

        monkeypatch.setattr(one.integrity.checkpoints, "add", keep_and_die)
        with pytest.raises(ConnectionError):
            await one.integrity.checkpoint(tenant)
        assert (await two.integrity.verify(tenant)).faults == [], "what is kept may be ahead by one"
        await two.log.append(tenant, [joined("m-2")])
        await two.integrity.checkpoint(tenant)
        assert two.integrity.checkpoints.count(tenant) == 3
        assert (await two.integrity.verify(tenant)).faults == []


async def test_nothing_secret_lies_plain_in_the_bucket(machines: Machines) -> None:
    async with machines.started("one") as (one,):
        tenant = await main_of(one)
        await one.log.register_type(tenant, JOINED, ADA)
        await one.log.append(tenant, [joined("m-1")])
        await one.integrity.checkpoint(tenant)
        BackupKeys(machines.shared("one")).renew()
        asked = await one.privacy.erasures.request(tenant, "m-1", reason="subject_request", requested_by="u-1")
        await one.privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-2")
    plain_places = ("/checkpoints/", "/databases/")
    secret = [key for key in machines.objects() if not any(place in key for place in plain_places)]
    names = {key.split("/", 1)[1] for key in secret}
    assert names >= {
        "keys/checkpoint-0001.key", "keys/privacy-0001.key", "keys/backup-0001.key", "keys/session.key",
        "erasures/00000000.jsonl", "erasures/00000001.jsonl",
    }  # fmt: skip
    client = machines.store.client()
    for key in secret:
        content = client.get_object(Bucket=machines.store.bucket, Key=key)["Body"].read()
        assert content.startswith(b"mnemon/sealed/1 ")
        for plain in (b"PRIVATE KEY", b"m-1", str(tenant).encode()):
            assert plain not in content


async def test_who_destroys_old_keys_leaves_those_of_another_database_that_shares_the_home(
    machines: Machines, second_server: ExternalServer, store: ObjectStore, tmp_path: Path
) -> None:
    """Two installations between which tenants move."""
    others = Machines(second_server, store, tmp_path / "others")
    keep = {"Status": "Enabled"}
    store.client().put_bucket_versioning(Bucket=store.bucket, VersioningConfiguration=keep)

    async def can_read(there: Machines) -> bool:
        async with there.started("afresh") as (mnemon,):
            tenant = await main_of(mnemon)
            return [one.data["name"] async for one in mnemon.log.scan(tenant) if one.type == JOINED.type] == ["Ada"]

    async with machines.started("one") as (one,), others.started("two") as (two,):
        for gateway in (one, two):
            tenant = await main_of(gateway)
            await gateway.log.register_type(tenant, JOINED, ADA)
            await gateway.log.append(tenant, [joined("m-1", "Ada")])
        for _ in range(2):
            done = await one.privacy.rotate(discard=True)
            assert not done.discarded and not done.backup_keys_discarded and len(done.shared_with) == 1
        assert await can_read(machines) and await can_read(others)
        assert not (await two.privacy.rotate()).shared_with
        assert not (await one.privacy.rotate(discard=True)).discarded, "backups of the other are wrapped with the first"
        await two.privacy.note_own_keys()
        assert not (await one.privacy.rotate(discard=True)).discarded, "that it is opened again does not change that"
        assert len((await two.privacy.rotate(discard=True)).discarded) == 4
        assert await can_read(machines) and await can_read(others)
        [other] = await one.privacy.other_databases()
        store.put(f"here/databases/{other}", '{"keys": ')
        assert not (await one.privacy.rotate(discard=True)).discarded, "nobody knows what a torn note says"
        await two.privacy.note_own_keys()
        before = versions_of(store, "databases/")
        await one.privacy.note_own_keys()
        assert versions_of(store, "databases/") == before, "what is no news is not written again"
        assert await one.privacy.other_databases() and await two.privacy.other_databases()
    assert await can_read(machines) and await can_read(others)


async def test_a_change_of_the_signing_key_is_known_to_both_and_said_by_the_old_one(machines: Machines) -> None:
    async with machines.started("one", "two") as (one, two):
        tenant = await main_of(one)
        await one.log.register_type(tenant, JOINED, ADA)
        await two.integrity.checkpoint(tenant)
        before = machines.shared("one").keys.read("checkpoint-0001.key")
        new = await one.integrity.rotate_key()
        await two.log.append(tenant, [joined("m-1")])
        assert (await two.integrity.checkpoint(tenant)).public_key == new == two.integrity.public_key
        for gateway in (one, two):
            assert (await gateway.integrity.verify(tenant)).faults == []
        said = [event.data async for event in two.log.scan(tenant) if event.type == "log.key.pinned"]
        assert said[-1]["signing_key"] == new and said[-1]["handover"]["public_key"] == one.log.signing_key
        assert before is not None and "here/keys/checkpoint-0001.key" not in machines.objects("keys/")


async def test_who_is_forgotten_by_one_is_forgotten_by_all(machines: Machines, tmp_path: Path) -> None:
    async with machines.started("one", "two") as (one, two):
        tenant = await main_of(one)
        await one.log.register_type(tenant, JOINED, ADA)
        await two.log.append(tenant, [joined("m-1", "Gone Soon")])
        await backup(machines.server, tmp_path / "kept.backup", BackupKeys(machines.shared("two")))
        asked = await one.privacy.erasures.request(tenant, "m-1", reason="subject_request", requested_by="u-1")
        await one.privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-2")
    # The machine that restores has neither made the backup nor heard of the erasure.
    await restore(machines.server, tmp_path / "kept.backup", BackupKeys(machines.shared("third")), replace=True)
    async with machines.started("third") as (third,):
        assert third.erasures_repeated == 1
        with pytest.raises(SubjectErased):
            await third.log.append(tenant, [joined("m-1", "Back Again")])
        names = [event.data["name"] async for event in third.log.scan(tenant) if event.type == JOINED.type]
        assert names == [REDACTED]


async def test_a_line_that_is_taken_out_of_the_erasure_list_is_written_again(machines: Machines) -> None:
    async with machines.started("one") as (one,):
        tenant = await main_of(one)
        await one.log.register_type(tenant, JOINED, ADA)
        await one.log.append(tenant, [joined(f"m-{number}") for number in range(3)])
        for number in range(3):
            await erase(one, tenant, f"m-{number}")
    async with machines.started("one"):
        pass
    machines.store.remove("here/erasures/00000002.jsonl")
    with capture_logs() as lines:
        async with machines.started("two"):
            pass
    assert [line["holes"] for line in lines if line["event"] == "privacy.erasure_list_shortened"] == [1]
    assert {one.subject_id for one in ErasureList(machines.shared("new")).entries()} == {"m-0", "m-1", "m-2"}
    with capture_logs() as lines:
        async with machines.started("two"):
            pass
    assert not [line for line in lines if line["event"] == "privacy.erasure_list_shortened"]


async def test_who_is_forgotten_at_the_same_moment_is_on_the_list_of_a_store_without_conditions(
    machines: Machines, careless_store: str
) -> None:
    machines.store = ObjectStore(careless_store, machines.store.bucket)
    async with machines.started("one", "two") as gateways:
        tenants = [await main_of(gateways[0]), new_uuid()]
        async with gateways[0].database.owner() as owner:
            await owner.execute("INSERT INTO mnemon.tenants VALUES (%s, 'other', 'Other')", (tenants[1],))
        for tenant in tenants:
            await gateways[0].log.register_type(tenant, JOINED, ADA)
            await gateways[0].log.append(tenant, [joined(f"m-{number}") for number in range(8)])
        places = [(tenant, f"m-{number}") for number in range(8) for tenant in tenants]
        pairs = zip(gateways * 8, places, strict=True)
        await asyncio.gather(*(erase(gateway, *place) for gateway, place in pairs))
    listed = ErasureList(machines.shared("new")).entries()
    assert {(one.tenant_id, one.subject_id) for one in listed} == {*places}


async def erase(gateway: Mnemon, tenant: UUID, subject: str) -> None:
    asked = await gateway.privacy.erasures.request(tenant, subject, reason="subject_request", requested_by="u-1")
    await gateway.privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-2")


async def test_while_the_bucket_is_away_events_are_written_and_read_and_nothing_is_signed(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wrapping_keys, "SURE_SECONDS", 0.0)
    with ExitStack() as bucket:
        machines.store = ObjectStore(bucket.enter_context(object_server()), machines.store.bucket)
        async with machines.started("one") as (one,):
            tenant = await main_of(one)
            await one.log.register_type(tenant, JOINED, ADA)
            await one.log.append(tenant, [joined("m-1", "Ada")])
            asked = await one.privacy.erasures.request(tenant, "m-1", reason="subject_request", requested_by="u-1")
            bucket.close()
            one.privacy.keys.forget_all()
            await one.log.append(tenant, [joined("m-2", "Grace")])
            names = [event.data["name"] async for event in one.log.scan(tenant) if event.type == JOINED.type]
            assert names == ["Ada", "Grace"]
            with pytest.raises(BucketUnavailable):
                await one.integrity.checkpoint(tenant)
            with pytest.raises(BucketUnavailable):
                await verify_everything(one, tenant)
            assert await last_verified(one, tenant) is None, "an outage is no finding"
            with pytest.raises(ErasureNotListed, match="nobody was erased"):
                await one.privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-2")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("last removed", "it was signed, but"),
        ("middle removed", "another one stands in its place"),
        ("altered", "cannot be read|signature does not fit|stands in its place"),
        ("seal removed", "its file is missing or an older one"),
        ("older seal", "its file is missing or an older one"),
    ],
)
async def test_a_checkpoint_that_is_missing_or_changed_in_the_bucket_is_found_by_any_gateway(
    machines: Machines, change: str, says: str
) -> None:
    async with machines.started("one") as (one,):
        tenant = await main_of(one)
        await one.log.register_type(tenant, JOINED, ADA)
        for number in range(3):
            await one.log.append(tenant, [joined(f"m-{number}")])
            await one.integrity.checkpoint(tenant)
        seals = []
        for number in range(2):
            await one.log.append(tenant, [joined(f"after-{number}")])
            await one.integrity.seal_all()
            seal = next(key for key in machines.objects("checkpoints/") if key.endswith("seal.json"))
            seals.append(content_of(machines, seal))
    newest, middle, _ = [key for key in machines.objects("checkpoints/") if "/kept/" in key]
    if change == "altered":
        machines.store.put(middle, content_of(machines, middle).replace(b"statement", b"Statement"))
    elif change == "older seal":
        machines.store.put(seal, seals[0])
    else:
        machines.store.remove({"last removed": newest, "middle removed": middle, "seal removed": seal}[change])
    async with machines.started("two") as (two,):
        report = await verify_everything(two, tenant, complete=False)
        messages = [one.message for one in report.findings]
        assert [message for message in messages if any(part in message for part in says.split("|"))], messages
        if change == "last removed":
            with pytest.raises(CheckpointRefused, match="has 2 checkpoints where 3 were signed"):
                await two.integrity.checkpoint(tenant)


def content_of(machines: Machines, key: str) -> bytes:
    content: bytes = machines.store.client().get_object(Bucket=machines.store.bucket, Key=key)["Body"].read()
    return content


async def test_a_missing_or_wrong_secret_is_refused_at_the_start(machines: Machines) -> None:
    async with machines.started("one"):
        pass
    with pytest.raises(BadSettings, match="needs MNEMON_HOME_STORE_SECRET"):
        async with machines.started("two", home_store_secret=None):
            pass
    other = base64.b64encode(b"x" * 32).decode()
    with pytest.raises(BadSettings, match=r"MNEMON_HOME_STORE_SECRET is another than .* give this gateway the secret"):
        async with machines.started("two", home_store_secret=SecretStr(other)):
            pass
    with pytest.raises(BadSettings, match="MNEMON_HOME_STORE_SECRET holds 5 bytes"):
        async with machines.started("two", home_store_secret=SecretStr("c2hvcnQ=")):
            pass


async def test_gateways_that_share_nothing_are_told_how_to(machines: Machines) -> None:
    """Each with a home of its own, on one database: what one has the other is refused, with the remedy."""
    async with machines.started("one", "two", home_store=None) as (one, two):
        tenant = await main_of(one)
        await one.log.register_type(tenant, JOINED, ADA)
        await one.log.append(tenant, [joined("m-1")])
        await one.integrity.checkpoint(tenant)
        with pytest.raises(CheckpointRefused, match="MNEMON_HOME_STORE"):
            await two.integrity.checkpoint(tenant)
        with pytest.raises(KeyUnavailable, match="MNEMON_HOME_STORE"):
            await two.log.append(tenant, [joined("m-2")])


async def test_a_home_that_was_used_alone_is_brought_to_the_bucket(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with machines.started("old", home_store=None) as (old,):
        tenant = await main_of(old)
        await old.log.register_type(tenant, JOINED, ADA)
        await old.log.append(tenant, [joined("m-1", "Ada"), joined("m-2", "Gone Soon")])
        await old.integrity.checkpoint(tenant)
        await old.integrity.rotate_key()
        asked = await old.privacy.erasures.request(tenant, "m-2", reason="subject_request", requested_by="u-1")
        await old.privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-2")
        await old.integrity.checkpoint(tenant)
        await old.log.append(tenant, [joined("m-3")])
        await old.integrity.seal_all()
        key = old.integrity.public_key
    with pytest.raises(BadSettings, match="`mnemon home share`"):
        async with machines.started("old"):
            pass
    with monkeypatch.context() as dying:
        dying.setattr(KeyFolder, "remove", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            share_home(machines.shared("old"))
    again = share_home(machines.shared("old"))
    assert (again.erasures, again.checkpoints) == (0, 3), "what was cut short can be done again"
    with pytest.raises(BadSettings, match="has no keys to share"):
        share_home(machines.shared("old"))
    shutil.rmtree(machines.folder / "old")
    async with machines.started("new", "other") as (new, other):
        assert new.erasures_repeated == 0 and new.integrity.public_key == key
        names = [event.data["name"] async for event in new.log.scan(tenant) if event.type == JOINED.type]
        assert names == ["Ada", REDACTED, "Somebody"]
        await other.log.append(tenant, [joined("m-4")])
        await other.integrity.checkpoint(tenant)
        assert (await verify_everything(new, tenant)).intact


async def test_after_sharing_and_a_discard_the_old_home_opens_no_backup_either(
    machines: Machines, tmp_path: Path
) -> None:
    async with machines.started("old", home_store=None) as (old,):
        tenant = await main_of(old)
        await old.log.register_type(tenant, JOINED, ADA)
        await old.log.append(tenant, [joined("m-1", "Gone Soon")])
        await backup(machines.server, tmp_path / "kept.backup", BackupKeys(machines.folder / "old"))
    share_home(machines.shared("old"))
    # What is in the folder now is all that the old home has to open the backup with.
    left = KeyFolder(machines.folder / "old").names()
    assert not [name for name in left if name.startswith(("privacy-", "backup-", "session")) or name == PRIVATE_NAME]
    async with machines.started("new") as (new,):
        await erase(new, tenant, "m-1")
        await new.privacy.rotate(discard=True)
    for home in (machines.folder / "old", machines.shared("new")):
        with pytest.raises(BackupFailed, match="is encrypted for the key"):
            await restore(machines.server, tmp_path / "kept.backup", BackupKeys(home), replace=True, unsigned=True)


async def test_keys_that_the_bucket_does_not_give_back_stay_in_the_home(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with machines.started("old", home_store=None):
        pass
    before = KeyFolder(machines.folder / "old").names()
    write = KeyBucket.write_once
    monkeypatch.setattr(
        KeyBucket, "write_once", lambda place, name, text: name == "session.key" or write(place, name, text)
    )
    with pytest.raises(BadSettings, match="the keys stay in"):
        share_home(machines.shared("old"))
    assert KeyFolder(machines.folder / "old").names() == before


async def test_the_keys_of_another_home_are_not_overwritten(machines: Machines) -> None:
    async with machines.started("one"):
        pass
    async with machines.started("stranger", home_store=None):
        pass
    before = {key: content_of(machines, key) for key in machines.objects("keys/")}
    with pytest.raises(Conflict, match="has another"):
        share_home(machines.shared("stranger"))
    assert {key: content_of(machines, key) for key in machines.objects("keys/")} == before
