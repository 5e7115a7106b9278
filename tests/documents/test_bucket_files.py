"""A bucket has uploads, blobs, archived payloads and backups, and no machine owns them."""

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.bucket_versions import remove_below, remove_earlier, remove_for_good
from mnemon.buckets import BucketAddress, BucketRefused, ObjectBucket, ObjectVersion
from mnemon.cli.bucket_backups import backup_from, backup_to, place_of
from mnemon.documents.intake.choose_files import files_for
from mnemon.documents.intake.files import Files
from mnemon.documents.intake.sweep import Ages, sweep
from mnemon.documents.purge import purge
from mnemon.errors import BackupFailed, NotFound
from mnemon.ids import new_uuid
from mnemon.log.errors import ArchiveDamaged
from mnemon.log.events import Actor
from mnemon.log.privacy.archive_store import archive_store_for
from mnemon.mail.archives.ranges import ArchivedMessage
from mnemon.mail.storing.packs import Packs
from mnemon.settings import Settings
from tests.documents.conftest import Ingested, files_below
from tests.object_store import ObjectStore, store, store_address
from tests.work.conftest import Eventually

__all__ = ["store", "store_address"]


def files_of(home: Path, store: ObjectStore) -> Files:
    return files_for(Settings(home=home, blob_store=store.place))


async def test_another_machine_reads_what_this_one_took_in(store: ObjectStore, tenant: UUID, tmp_path: Path) -> None:
    here, there = files_of(tmp_path / "here", store), files_of(tmp_path / "there", store)
    incoming = here.receive(tenant, "policy.txt")
    incoming.write(b"Travel is ")
    received = incoming.complete(b"booked.")
    found = there.upload(tenant, received.run_id)
    assert found is not None and found.read_bytes() == b"Travel is booked."

    there.keep(tenant, found, received.content_hash)
    there.discard_upload(tenant, received.run_id)
    assert files_of(tmp_path / "third", store).upload(tenant, received.run_id) is None
    blob = files_of(tmp_path / "fourth", store).intact_blob(tenant, received.content_hash, "missing")
    assert blob.read_bytes() == b"Travel is booked."
    assert [content for _, content, _ in here.blobs_of(tenant)] == [received.content_hash]

    there.discard_blob(tenant, received.content_hash)
    assert not files_of(tmp_path / "fifth", store).fetched_blob(tenant, received.content_hash).exists()
    assert list(here.blobs_of_tenants()) == []


async def test_a_document_goes_through_a_bucket(
    store: ObjectStore, mnemon: Mnemon, ingested: Ingested, tenant: UUID, eventually: Eventually
) -> None:
    mnemon.files = files_for(mnemon.settings.model_copy(update={"blob_store": store.place}))
    run = await ingested("Everyone books travel on their own.")
    assert run["status"] == "succeeded"

    async def only_the_blob() -> bool:
        keys = [one["Key"] for one in store.client().list_objects_v2(Bucket=store.bucket)["Contents"]]
        return [key.split("/")[:3] for key in keys] == [["here", "blobs", str(tenant)]]

    await eventually(only_the_blob)
    [(_, content, _)] = mnemon.files.blobs_of(tenant)
    for copy in files_below(mnemon.files.blobs):
        copy.unlink()
    assert mnemon.files.intact_blob(tenant, content, "missing").read_text().startswith("Everyone")


async def test_what_was_kept_before_there_was_a_bucket_is_brought_there_before_copies_are_removed(
    store: ObjectStore, mnemon: Mnemon, ingested: Ingested, tenant: UUID, tmp_path: Path
) -> None:
    run = await ingested("Everyone books travel on their own.")
    [(_, content, _)] = mnemon.files.blobs_of(tenant)
    purged = "sha256:" + "ab" * 32
    mnemon.files.keep(tenant, mnemon.files.take_copy(tenant, Path(__file__)).path, purged)
    shared = files_for(mnemon.settings.model_copy(update={"blob_store": store.place}))
    at_once: Any = SimpleNamespace(
        database=mnemon.database, context=SimpleNamespace(files=shared), payload=Ages(orphan_hours=0, failed_hours=0)
    )
    await sweep(at_once)
    assert files_below(shared.blobs) == [], "copies that were not asked for in a while are removed"
    assert [one for _, one, _ in shared.blobs_of(tenant)] == [content], "and what was purged elsewhere stays gone"
    fresh = files_of(tmp_path / "another-machine", store)
    assert fresh.intact_blob(tenant, content, "missing").read_text().startswith("Everyone")
    assert run["status"] == "succeeded"


def versions(store: ObjectStore) -> list[str]:
    """Everything that the bucket still has, marks of what was deleted included."""
    found = store.client().list_object_versions(Bucket=store.bucket)
    return [one["Key"] for one in (*found.get("Versions", ()), *found.get("DeleteMarkers", ()))]


async def test_what_is_purged_is_gone_from_a_bucket_that_keeps_versions(
    store: ObjectStore, mnemon: Mnemon, ingested: Ingested, tenant: UUID, eventually: Eventually, tmp_path: Path
) -> None:
    client = store.client()
    client.put_bucket_versioning(Bucket=store.bucket, VersioningConfiguration={"Status": "Enabled"})
    mnemon.files = files_for(mnemon.settings.model_copy(update={"blob_store": store.place}))
    run = await ingested("Nobody may know of the second well.")

    async def only_the_blob() -> bool:
        return [key.split("/")[1] for key in versions(store)] == ["blobs"]

    await eventually(only_the_blob)
    [key] = versions(store)
    # As if it had been deleted and put back by hand: earlier versions, and a mark, are left.
    client.delete_object(Bucket=store.bucket, Key=key)
    client.put_object(Bucket=store.bucket, Key=key, Body=b"Nobody may know of the second well.")
    await purge(mnemon.log, mnemon.files, tenant, Actor("human", "u-1"), run["doc_id"])
    assert versions(store) == []

    archive = archive_store_for(Settings(home=tmp_path, archive_store=store.place))
    await archive.put("a/one", b"payloads")
    await archive.delete("a/one")
    packs = Packs(files_of(tmp_path, store))
    kept = packs.keep_mails(tenant, iter([ArchivedMessage(0, 6, b"secret")]), "eml")
    assert kept is not None
    packs.blank(tenant, kept.archive_id, [(0, 6)])
    for one in client.list_object_versions(Bucket=store.bucket)["Versions"]:
        content = client.get_object(Bucket=store.bucket, Key=one["Key"], VersionId=one["VersionId"])["Body"].read()
        assert b"secret" not in content
    packs.discard(tenant, kept.archive_id)
    assert versions(store) == []


@pytest.mark.parametrize("kept", [True, False])
def test_where_versions_may_be_left_the_store_is_asked_whether_it_keeps_any(
    store: ObjectStore, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kept:
        keep = {"Status": "Enabled"}
        store.client().put_bucket_versioning(Bucket=store.bucket, VersioningConfiguration=keep)
    bucket = ObjectBucket(BucketAddress.parse(store.place, "here"))
    bucket.write("a/one", b"content")

    def denied(within: str) -> list[ObjectVersion]:
        raise BucketRefused("No.", store_says="AccessDenied")

    monkeypatch.setattr(bucket, "versions", denied)
    for remove in (remove_for_good, remove_below, remove_earlier):
        if kept:
            with pytest.raises(BucketRefused, match="s3:DeleteObjectVersion"):
                remove(bucket, "a/one")
        else:
            remove(bucket, "a/one")
    assert bucket.state("a/one") is None, "what can be done is done"


async def test_archived_payloads_are_in_a_bucket(store: ObjectStore, tmp_path: Path) -> None:
    archive = archive_store_for(Settings(home=tmp_path, archive_store=store.place))
    await archive.put("a/one", b"payloads")
    assert await archive.get("a/one") == b"payloads"
    assert [key async for key in archive.keys()] == ["a/one"]  # noqa: SIM118  a store is no dict
    await archive.delete("a/one")
    await archive.delete("a/one")
    with pytest.raises(ArchiveDamaged):
        await archive.get("a/one")


def test_a_bucket_that_is_not_there_says_so(store: ObjectStore) -> None:
    with pytest.raises(BucketRefused, match="NoSuchBucket"):
        list(ObjectBucket(BucketAddress("no-such-bucket", "", store.endpoint)).pages())


def test_a_backup_goes_to_a_bucket_and_comes_back(store: ObjectStore) -> None:
    place = store.place.replace("/here", "/monday.backup")
    with backup_to(place) as file:
        file.write_bytes(b"rows and files")
    with backup_from(place) as file:
        assert file.read_bytes() == b"rows and files"
    with pytest.raises(BackupFailed, match="already"), backup_to(place):
        pass
    with backup_to("monday.backup") as here:
        assert here == Path("monday.backup").absolute()


def test_a_name_alone_is_one_in_the_bucket_that_the_settings_have_for_backups(store: ObjectStore) -> None:
    setting = store.place.replace("/here", "/backups")
    with backup_to(place_of("monday.backup", setting)) as file:
        file.write_bytes(b"of a setting")
    keys = [one["Key"] for one in store.client().list_objects_v2(Bucket=store.bucket)["Contents"]]
    assert keys == ["backups/monday.backup"]
    with backup_from(place_of("monday.backup", setting)) as file:
        assert file.read_bytes() == b"of a setting"
    for meant in ("./monday.backup", "/backups/monday.backup", "s3://other/monday.backup"):
        assert place_of(meant, setting) == meant
    assert place_of("monday.backup", None) == "monday.backup"


def test_packs_of_mails_are_in_the_bucket_and_blanked_for_every_machine(
    store: ObjectStore, tenant: UUID, tmp_path: Path
) -> None:
    here, there = (Packs(files_of(tmp_path / name, store)) for name in ("here", "there"))
    mails = [ArchivedMessage(0, 6, b"secret"), ArchivedMessage(6, 5, b"other")]
    kept = here.keep_mails(tenant, iter(mails), "eml")
    assert kept is not None
    assert [one.content for one in there.ranges(tenant, kept.archive_id)] == [b"secret", b"other"]  # type: ignore[union-attr]
    here.blank(tenant, kept.archive_id, [(0, 6)])
    # The copy there is of the same length, and no longer what the bucket has.
    assert there.read(tenant, kept.archive_id, 0, 11) == b"     \nother"
    fresh = Packs(files_of(tmp_path / "third", store))
    assert fresh.read(tenant, kept.archive_id, 0, 11) == b"     \nother"
    fresh.files.discard_parts(time.time() + 1)
    assert files_below(fresh.files.blobs) == []
    assert fresh.read(tenant, kept.archive_id, 6, 5) == b"other"
    fresh.discard(tenant, kept.archive_id)
    with pytest.raises(NotFound):
        here.read(tenant, kept.archive_id, 0, 1)


def test_a_pack_that_was_kept_before_there_was_a_bucket_is_brought_there(
    store: ObjectStore, tenant: UUID, tmp_path: Path
) -> None:
    home = tmp_path / "old"
    kept = Packs(Files.of(Settings(home=home))).keep_mails(tenant, iter([ArchivedMessage(0, 3, b"old")]), "eml")
    assert kept is not None
    assert Packs(files_of(home, store)).read(tenant, kept.archive_id, 0, 3) == b"old"
    assert Packs(files_of(tmp_path / "new", store)).read(tenant, kept.archive_id, 0, 3) == b"old"


async def test_the_only_files_of_another_installation_on_the_same_disk_stay(
    store: ObjectStore, mnemon: Mnemon, tenant: UUID
) -> None:
    """It has no bucket yet, and is not asked by the sweep of the one that has."""
    unknown, moved, shared = new_uuid(), new_uuid(), new_uuid()
    bucket = files_for(mnemon.settings.model_copy(update={"blob_store": store.place}))
    async with mnemon.database.owner() as owner:
        for one in (moved, shared):
            await owner.execute(
                "INSERT INTO mnemon.tenant_moves (tenant_id, slug, state, url) VALUES (%s, %s, 'moved', 'https://two')",
                (one, f"left-{one}"),
            )
    content = "sha256:" + "ab" * 32
    for one in (unknown, moved):
        mnemon.files.keep(one, mnemon.files.take_copy(one, Path(__file__)).path, content)
    bucket.keep(shared, bucket.take_copy(shared, Path(__file__)).path, content)
    at_once: Any = SimpleNamespace(
        database=mnemon.database, context=SimpleNamespace(files=bucket), payload=Ages(orphan_hours=0, failed_hours=0)
    )
    await sweep(at_once)
    here = {one for one, _, _ in mnemon.files.blobs_of_tenants()}
    assert here == {unknown, moved}, "a copy of what is in the bucket goes"
    assert [one for one, _, _ in bucket.blobs_of_tenants()] == [shared]
    async with mnemon.database.owner() as owner:
        await owner.execute("DELETE FROM mnemon.tenant_moves WHERE tenant_id = ANY(%s)", ([moved, shared],))
