"""Buckets as they are in the world: odd names, keys that are taken away half-way, no bucket any more."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.documents.sources.bucket_place import BucketPlace
from tests.api.conftest import Person
from tests.documents.conftest import rows
from tests.documents.sources.conftest import Listed, Look
from tests.documents.sources.test_sources import Place, add, found
from tests.object_store import ObjectStore
from tests.patience import PATIENCE
from tests.work.conftest import Eventually

ODD = [
    " leading and trailing .txt", "100%.txt", "%2e%2e%2fup.txt", "a+b c&d=e;f.txt", "a?b#c.txt", "a//b.txt",
    "/lead.txt", "back\\slash.txt", "BIG.TXT", "e\u0301.txt", "\u00e9.txt", "emoji \U0001f40c.txt",
    "it's \"quoted\" <b>.txt", "at 9.41\u202fAM.txt", "\u8b70\u4e8b\u9332\u30003\u6708.txt",
    "\U0001f469\u200d\U0001f4bb.txt", "$(touch here).txt", "x" * 900 + ".txt", "\U0001f40c.txt",
]  # fmt: skip


@pytest.fixture
def strict(store: ObjectStore) -> Iterator[ObjectStore]:
    """After so many requests as a test says, the store knows nobody's keys any more."""
    yield store
    keys_hold_for(store, "inf")


def keys_hold_for(store: ObjectStore, requests: str) -> None:
    httpx.post(f"{store.endpoint}/moto-api/reset-auth", content=requests.encode()).raise_for_status()


async def test_a_name_that_no_line_can_show_is_refused_with_its_reason(
    store: ObjectStore, client: httpx.AsyncClient, admin: Person, look: Look
) -> None:
    place = Place(Path(), store)
    for name in ("tab\t.txt", "turned\u202e.txt"):
        place.put(name, "Nobody can read its name.")
    await add(client, admin, **place.told)
    assert found(await look(begin=False)) == {"listed": 2, "refused": 2}
    known = (await client.get("/v1/sources/policies/objects", headers=admin.headers)).json()["items"]
    assert all("control characters" in one["error"] for one in known)


async def test_names_that_no_file_system_would_like_are_followed_as_they_are(
    store: ObjectStore, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID, look: Look,
    listed: Listed, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("mnemon.buckets.PAGE", 4)
    place = Place(Path(), store)
    for name in ODD:
        place.put(name, f"What {name} says.")
    await add(client, admin, **place.told)
    assert found(await look(begin=False)) == {"listed": len(ODD), "new": len(ODD)}
    known = await rows(mnemon, tenant, "SELECT source_uri FROM mnemon.documents")
    assert {one["source_uri"] for one in known} == {f"s3://{store.bucket}/docs/{name}" for name in ODD}
    assert found(await look()) == {"listed": len(ODD), "unchanged": len(ODD)}
    for name in ODD[::2]:
        place.remove(name)
    gone = len(ODD[::2])
    assert found(await look()) == {"listed": len(ODD) - gone, "unchanged": len(ODD) - gone, "deactivated": gone}


async def test_another_etag_of_the_same_content_is_no_other_version(
    store: ObjectStore, client: httpx.AsyncClient, admin: Person, look: Look, listed: Listed
) -> None:
    """An object that was copied onto itself, or sent in parts."""
    place = Place(Path(), store)
    place.put("rule.txt", "Travel is booked by the office.")
    await add(client, admin, **place.told)
    await look(begin=False)
    boto, key = store.client(), {"Bucket": store.bucket, "Key": "docs/rule.txt"}
    upload = boto.create_multipart_upload(**key)["UploadId"]
    part = boto.upload_part(**key, UploadId=upload, PartNumber=1, Body=b"Travel is booked by the office.")
    boto.complete_multipart_upload(
        **key, UploadId=upload, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
    )
    look_at_it = await look()
    assert found(look_at_it) == {"listed": 1, "unchanged": 1}
    assert look_at_it["counts"]["requests"] == 2, "it was fetched to be compared"
    assert [one["version_number"] for one in (await listed()).values()] == [1]
    assert (await look())["counts"]["requests"] == 1, "and its new mark is known from then on"


async def test_keys_that_are_taken_away_half_way_take_nothing_out_of_service(
    strict: ObjectStore, client: httpx.AsyncClient, admin: Person, look: Look, listed: Listed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("mnemon.buckets.PAGE", 2)
    place = Place(Path(), strict)
    for number in range(8):
        place.put(f"{number}.txt", f"Number {number}.")
    await add(client, admin, **place.told)
    assert found(await look(begin=False))["new"] == 8
    place.put("3.txt", "Number three.")
    keys_hold_for(strict, "2")
    sync = await look()
    assert (sync["status"], sync["error_code"]) == ("failed", "BUCKET_REFUSED"), sync
    assert "Check the bucket's name and the keys" in sync["error"]
    assert len(await listed()) == 8
    keys_hold_for(strict, "inf")
    assert found(await look()) == {"listed": 8, "changed": 1, "unchanged": 7}


async def test_objects_that_these_keys_may_not_read_are_tried_again_with_better_ones(
    strict: ObjectStore, client: httpx.AsyncClient, admin: Person, look: Look, listed: Listed
) -> None:
    place = Place(Path(), strict)
    for number in range(4):
        place.put(f"{number}.txt", f"Number {number}.")
    keys_hold_for(strict, "1")
    await add(client, admin, **place.told)
    assert found(await look(begin=False)) == {"listed": 4, "failed": 4}
    keys_hold_for(strict, "inf")
    assert found(await look()) == {"listed": 4, "new": 4}


async def test_a_bucket_that_is_gone_takes_nothing_out_of_service(
    store: ObjectStore, client: httpx.AsyncClient, admin: Person, look: Look, listed: Listed
) -> None:
    place = Place(Path(), store)
    place.put("rule.txt", "Travel is booked by the office.")
    await add(client, admin, **place.told)
    await look(begin=False)
    place.remove("rule.txt")
    store.client().delete_bucket(Bucket=store.bucket)
    sync = await look()
    assert (sync["status"], sync["error_code"]) == ("failed", "BUCKET_REFUSED"), sync
    assert set(await listed()) == {"rule.txt"}


async def test_a_source_that_is_removed_while_it_is_looked_at_ends_its_look(
    store: ObjectStore, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID, look: Look,
    eventually: Eventually, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    place, read, asked, go_on = Place(Path(), store), BucketPlace.read, asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    place.put("rule.txt", "Travel is booked by the office.")

    def waits(self: BucketPlace, key: str, write: object) -> None:
        loop.call_soon_threadsafe(asked.set)
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result()
        read(self, key, write)  # type: ignore[arg-type]

    monkeypatch.setattr(BucketPlace, "read", waits)
    await add(client, admin, **place.told)
    await asyncio.wait_for(asked.wait(), PATIENCE)
    assert (await client.delete("/v1/sources/policies", headers=admin.headers)).status_code == 200
    go_on.set()

    async def ended() -> bool:
        jobs = await rows(mnemon, tenant, "SELECT status FROM mnemon.jobs WHERE kind = 'documents.sync'")
        return [one["status"] for one in jobs] in (["FAILED"], ["CANCELLED"], ["DONE"])

    await eventually(ended)
    assert await rows(mnemon, tenant, "SELECT FROM mnemon.source_objects") == []
