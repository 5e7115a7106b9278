"""A source is followed: what changes there changes here, and nothing else does."""

import asyncio
import errno
import os
import random
import shutil
import string
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.buckets import BucketRefused, ObjectBucket, ObjectGone
from mnemon.documents.sources import operations
from mnemon.documents.sources.bucket_place import BucketPlace
from mnemon.documents.sources.folder_place import FolderPlace
from mnemon.documents.sources.inputs import NewSource
from mnemon.documents.sources.syncing import FEW
from mnemon.identity.roles import Role
from mnemon.operations import Caller
from tests.api.conftest import TESTER, Person, person
from tests.documents.conftest import rows
from tests.documents.sources.conftest import Listed, Look
from tests.object_store import KEYS, REGION, ObjectStore
from tests.work.conftest import Eventually


class Place:
    """A folder or a bucket, changed in the same way."""

    def __init__(self, folder: Path, store: ObjectStore | None) -> None:
        self.folder, self.store = folder, store

    @property
    def told(self) -> dict[str, Any]:
        if self.store is None:
            return {"location": str(self.folder)}
        keys = {"access_key": KEYS[0], "secret_key": KEYS[1]}
        return {"location": f"s3://{self.store.bucket}/docs/", "endpoint": self.store.endpoint, "region": REGION} | keys

    def put(self, name: str, text: str) -> None:
        if self.store is not None:
            self.store.put(f"docs/{name}", text)
        else:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text)

    def remove(self, name: str) -> None:
        if self.store is not None:
            self.store.remove(f"docs/{name}")
        else:
            (self.folder / name).unlink()


@pytest.fixture(params=["s3", "folder"])
def place(request: pytest.FixtureRequest, folder: Path) -> Place:
    return Place(folder, request.getfixturevalue("store") if request.param == "s3" else None)


async def add(client: httpx.AsyncClient, person: Person, **told: Any) -> httpx.Response:
    return await client.post("/v1/sources", json={"name": "policies", **told}, headers=person.headers)


def found(sync: dict[str, Any]) -> dict[str, int]:
    assert sync["status"] == "succeeded", sync
    return {name: count for name, count in sync["counts"].items() if count and name != "requests"}


async def test_what_changes_there_changes_here_and_nothing_else_does(
    place: Place, client: httpx.AsyncClient, admin: Person, look: Look, listed: Listed
) -> None:
    for name in ("travel.md", "a-b.txt", "a/b.txt", "a/c.txt"):
        place.put(name, f"What {name} says.")
    place.put("picture.bin", "no text")
    place.put("drafts/later.txt", "not yet")
    answer = await add(client, admin, **place.told, exclude=["**/drafts/**"], tags=["policy"])
    assert answer.status_code == 201, answer.text
    assert "secret" not in answer.text
    assert found(await look(begin=False)) == {"listed": 6, "ignored": 2, "new": 4}
    first = await listed()
    assert set(first) == {"travel.md", "a-b.txt", "b.txt", "c.txt"}
    assert {one["source_type"] for one in first.values()} == {"s3" if place.store else "folder"}
    assert first["travel.md"]["tags"] == ["policy"]

    assert found(await look()) == {"listed": 6, "ignored": 2, "unchanged": 4}, "a second look touches nothing"

    place.put("travel.md", "Travel is booked by everyone now.")
    place.remove("a/b.txt")
    place.put("new.txt", "A new rule.")
    counts = {"listed": 6, "ignored": 2, "changed": 1, "deactivated": 1, "new": 1, "unchanged": 2}
    assert found(await look()) == counts
    second = await listed()
    assert set(second) == {"travel.md", "a-b.txt", "c.txt", "new.txt"}
    assert second["travel.md"]["doc_id"] == first["travel.md"]["doc_id"], "the same document"
    assert second["travel.md"]["version_number"] == 2

    place.put("a/b.txt", "What a/b.txt says.")
    assert found(await look())["restored"] == 1
    assert (await listed())["b.txt"]["doc_id"] == first["b.txt"]["doc_id"]
    shown = (await client.get("/v1/sources/policies", headers=admin.headers)).json()
    assert shown["objects"] == {"active": 5} and shown["last_sync"]["status"] == "succeeded"


async def test_what_cannot_be_taken_in_is_noted_and_the_rest_goes_on(
    place: Place, client: httpx.AsyncClient, admin: Person, look: Look, listed: Listed
) -> None:
    place.put("empty.txt", "")
    place.put("large.txt", "x" * (2 << 20))
    place.put("good.txt", "This one can be read.")
    await add(client, admin, **place.told)
    assert found(await look(begin=False)) == {"listed": 3, "refused": 2, "new": 1}
    assert set(await listed()) == {"good.txt"}
    refused = await client.get("/v1/sources/policies/objects?status=refused", headers=admin.headers)
    assert [one["key"].rpartition("/")[2] for one in refused.json()["items"]] == ["empty.txt", "large.txt"]
    assert "is empty" in refused.json()["items"][0]["error"]
    assert found(await look()) == {"listed": 3, "unchanged": 3}, "the same bytes are not fetched again"


async def test_keys_are_sealed_shown_to_nobody_and_go_with_the_source(
    store: ObjectStore, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID, look: Look
) -> None:
    store.put("docs/one.txt", "One.")
    await add(client, admin, **Place(Path(), store).told)
    assert found(await look(begin=False)) == {"listed": 1, "new": 1}
    [row] = await rows(mnemon, tenant, "SELECT * FROM mnemon.document_sources")
    assert row["access"] == "keys" and KEYS[1].encode() not in row["sealed_keys"]
    for words in (f'"{KEYS[1]}"', KEYS[1]):
        assert words not in (await client.get("/v1/events?limit=200", headers=admin.headers)).text
    moved = row["sealed_keys"]
    other = {"access_key": "other", "secret_key": "another"}
    changed = await client.patch("/v1/sources/policies", json=other, headers=admin.headers)
    assert changed.status_code == 200
    assert (await rows(mnemon, tenant, "SELECT sealed_keys FROM mnemon.document_sources"))[0]["sealed_keys"] != moved
    assert (await client.delete("/v1/sources/policies", headers=admin.headers)).status_code == 200
    assert await rows(mnemon, tenant, "SELECT FROM mnemon.source_objects") == []
    assert len((await client.get("/v1/documents", headers=admin.headers)).json()["items"]) == 1, "documents stay"


async def test_one_look_at_a_time_and_whoever_asks_shares_it(
    folder: Path, client: httpx.AsyncClient, admin: Person
) -> None:
    begun = (await add(client, admin, location=str(folder))).json()["last_sync"]["sync_id"]
    again = await client.post("/v1/sources/policies/sync", headers=admin.headers)
    assert again.json() == {"sync_id": begun, "source": "policies", "begun": False}


async def test_of_many_who_ask_at_once_one_begins_a_look(
    folder: Path, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID
) -> None:
    await add(client, admin, location=str(folder))
    async with mnemon.database.owner() as owner:
        await owner.execute("DELETE FROM mnemon.source_syncs WHERE tenant_id = %s", (tenant,))
        await owner.execute("DELETE FROM mnemon.jobs WHERE tenant_id = %s", (tenant,))
    asked = [client.post("/v1/sources/policies/sync", headers=admin.headers) for _ in range(10)]
    answers = [answer.json() for answer in await asyncio.gather(*asked)]
    assert [one["begun"] for one in answers].count(True) == 1
    assert len({one["sync_id"] for one in answers}) == 1


async def test_a_look_goes_on_where_the_last_attempt_ended(
    folder: Path, client: httpx.AsyncClient, admin: Person, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemon.documents.sources.folder_place.PAGE", 2)
    for number in range(5):
        (folder / f"{number}.txt").write_text(f"Number {number}.")
    from mnemon.documents.sources.folder_place import FolderPlace

    read, begun = FolderPlace.pages, []

    def pages(self: FolderPlace, after: str) -> Any:
        begun.append(after)
        for number, page in enumerate(read(self, after)):
            if len(begun) == 1 and number == 1:
                raise ConnectionError("the disk went away")
            yield page

    monkeypatch.setattr(FolderPlace, "pages", pages)
    await add(client, admin, location=str(folder))
    assert found(await look(begin=False))["new"] == 5
    assert begun == ["", "1.txt"]


async def test_a_place_that_is_not_there_is_not_taken_for_an_empty_one(
    folder: Path, client: httpx.AsyncClient, admin: Person, look: Look, listed: Listed
) -> None:
    (folder / "kept.txt").write_text("Kept.")
    await add(client, admin, location=str(folder))
    await look(begin=False)
    shutil.move(folder, folder.with_name("elsewhere"))
    sync = await look()
    assert sync["status"] == "failed" and "no folder of this machine" in sync["error"]
    assert set(await listed()) == {"kept.txt"}


async def test_a_place_that_is_suddenly_empty_takes_nothing_out_of_service_unless_that_is_right(
    place: Place, client: httpx.AsyncClient, admin: Person, look: Look, listed: Listed
) -> None:
    names = [f"{number:02}.txt" for number in range(FEW + 1)]
    for name in names:
        place.put(name, f"What {name} says.")
    await add(client, admin, **place.told)
    await look(begin=False)
    for name in names:
        place.remove(name)
    sync = await look()
    assert (sync["status"], sync["error_code"]) == ("failed", "PLACE_EMPTY")
    assert "mnemon sources sync policies --emptied" in sync["error"]
    assert set(await listed()) == set(names)

    asked = await client.post("/v1/sources/policies/sync", json={"emptied": True}, headers=admin.headers)
    assert asked.status_code == 202
    assert found(await look(begin=False)) == {"deactivated": len(names)}
    assert await listed() == {}


async def test_a_file_that_may_not_be_read_now_is_tried_again_though_it_does_not_change(
    place: Place, client: httpx.AsyncClient, admin: Person, look: Look, listed: Listed, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.put("kept.txt", "Kept.")
    place.put("closed.txt", "Closed.")
    with monkeypatch.context() as closed:
        read, opened = ObjectBucket.read, os.open

        def refused(bucket: ObjectBucket, key: str, write: Any) -> None:
            if key.endswith("closed.txt"):
                raise BucketRefused("AccessDenied")
            read(bucket, key, write)

        def denied(name: str, *how: Any, **where: Any) -> int:
            if str(name).endswith("closed.txt"):
                raise PermissionError(errno.EACCES, "Permission denied")
            return opened(name, *how, **where)

        closed.setattr(ObjectBucket, "read", refused)
        closed.setattr("mnemon.documents.sources.folder_place.os.open", denied)
        await add(client, admin, **place.told)
        assert found(await look(begin=False)) == {"listed": 2, "failed": 1, "new": 1}
    assert found(await look()) == {"listed": 2, "new": 1, "unchanged": 1}
    assert set(await listed()) == {"kept.txt", "closed.txt"}


async def test_a_store_that_lists_in_no_order_is_not_compared(
    place: Place, client: httpx.AsyncClient, admin: Person, look: Look, listed: Listed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is there would be taken for gone."""
    for name in ("1.txt", "2.txt", "3.txt"):
        place.put(name, name)
    await add(client, admin, **place.told)
    await look(begin=False)
    for one in (BucketPlace, FolderPlace):

        def turned(self: Any, after: str, pages: Any = one.pages) -> Any:
            return ([*reversed(page)] for page in pages(self, after))

        monkeypatch.setattr(one, "pages", turned)
    sync = await look()
    assert (sync["status"], sync["error_code"]) == ("failed", "PLACE_REFUSED") and "order" in sync["error"]
    assert set(await listed()) == {"1.txt", "2.txt", "3.txt"}


async def test_a_purged_document_does_not_come_back_with_the_next_look(
    folder: Path, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID, look: Look, listed: Listed
) -> None:
    (folder / "private-name.txt").write_text("Something private.")
    await add(client, admin, location=str(folder))
    await look(begin=False)
    [document] = (await listed()).values()
    await mnemon.purge_document(tenant, TESTER, UUID(document["doc_id"]))
    assert found(await look()) == {"listed": 1, "ignored": 1}
    assert await listed(every=True) == {} or "private-name.txt" not in await listed(every=True)
    kept = await rows(mnemon, tenant, "SELECT object_key FROM mnemon.source_objects")
    assert "private" not in str(kept)


async def test_buckets_of_one_name_in_two_stores_are_not_taken_for_each_other(
    store: ObjectStore, client: httpx.AsyncClient, admin: Person
) -> None:
    assert (await add(client, admin, **Place(Path(), store).told)).status_code == 201
    place = {"location": f"s3://{store.bucket}/other/", "name": "other"}
    refused = await client.post("/v1/sources", json=place, headers=admin.headers)
    assert refused.status_code == 409 and "another store" in refused.text
    same = place | {"endpoint": f"{store.endpoint}/"}
    assert (await client.post("/v1/sources", json=same, headers=admin.headers)).status_code == 201


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ({"location": "/etc"}, "PLACE_REFUSED"),
        ({"location": "https://example.org/bucket"}, "PLACE_REFUSED"),
        ({"location": "s3://bucket", "endpoint": "http://169.254.169.254"}, "PLACE_REFUSED"),
        ({"location": "s3://bucket", "access_key": "alone"}, "INVALID_REQUEST"),
        ({"location": "s3://bucket", "server_keys": True}, "NOT_ALLOWED"),
    ],
)
async def test_only_places_that_the_settings_open_are_followed(
    client: httpx.AsyncClient, admin: Person, store_address: str, told: dict[str, Any], code: str
) -> None:
    answer = await add(client, admin, **told)
    assert answer.json()["error_code"] == code, answer.text


async def test_a_folder_is_followed_for_the_tenant_that_the_setting_names(
    folder: Path, tmp_path: Path, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID,
    other_tenant: UUID, look: Look, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    stranger = await person(mnemon, other_tenant, Role.ADMIN, "stranger@example.org")
    of_main = tmp_path / "of-main"
    of_main.mkdir()
    for who, place in ((stranger, folder), (stranger, of_main), (admin, of_main)):
        refused = await add(client, who, location=str(place))
        assert (refused.status_code, refused.json()["error_code"]) == (422, "PLACE_REFUSED"), refused.text
    assert "none" in (await add(client, stranger, location=str(folder))).text, "nobody is told of others' folders"
    assert (await add(client, admin, location=str(folder))).status_code == 201
    told = NewSource(name="by-hand", location=str(of_main))
    await operations.add(mnemon, Caller(tenant, TESTER), told)
    assert (await look("by-hand", begin=False))["status"] == "succeeded", "whoever sits at the machine may"
    assert (await look())["status"] == "succeeded"
    monkeypatch.setattr(mnemon, "settings", mnemon.settings.model_copy(update={"source_folders": ()}))
    closed = await look()
    assert closed["status"] == "failed" and "MNEMON_SOURCE_FOLDERS" in closed["error"]


def test_a_link_put_there_at_the_last_moment_leads_nowhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = folder.with_name("outside")
    for place in (outside, folder / "inner"):
        place.mkdir()
        (place / "notes.txt").write_text(f"in {place.name}")
    opened, read = os.open, list[bytes]()

    def swap_first(*given: Any, **more: Any) -> int:
        monkeypatch.setattr(os, "open", opened)
        shutil.rmtree(folder / "inner")
        (folder / "inner").symlink_to(outside)
        return opened(*given, **more)

    place = FolderPlace(folder)
    [page] = place.pages("")
    assert [one.key for one in page] == ["inner/notes.txt"]
    place.read("inner/notes.txt", read.append)
    assert read == [b"in inner"]
    monkeypatch.setattr(os, "open", swap_first)
    with pytest.raises(ObjectGone):
        place.read("inner/notes.txt", read.append)
    assert read == [b"in inner"] and list(place.pages("")) == [[]]


def test_what_a_file_system_keeps_at_the_top_of_a_disk_is_left_alone(folder: Path) -> None:
    for name in ("lost+found/1", "$RECYCLE.BIN/2", "reports/lost+found/3.txt", "kept.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    found = [one.key for page in FolderPlace(folder).pages("") for one in page]
    assert found == ["kept.txt", "reports/lost+found/3.txt"]


def test_names_with_wide_spaces_and_joined_letters_are_files_like_others(folder: Path) -> None:
    """A screenshot of a Mac has a narrow space before AM, Japanese names a wide one, and many emoji are joined."""
    names = ["at 9.41\u202fAM.txt", "\u8b70\u4e8b\u9332\u30003\u6708.txt", "\U0001f469\u200d\U0001f4bb.txt"]
    for name in (*names, "line\nbreak.txt", "turned\u202e.txt"):
        (folder / name).write_text("A note.")
    found = [one.key for page in FolderPlace(folder).pages("") for one in page]
    assert found == sorted(names, key=str.encode)


async def test_a_path_that_is_too_long_does_not_fail_the_look_at_the_others(
    folder: Path, client: httpx.AsyncClient, admin: Person, look: Look, listed: Listed
) -> None:
    chance = random.Random(7)
    deep = folder
    for _ in range(14):
        deep = deep / "".join(chance.choices(string.ascii_letters + string.digits, k=240))
        deep.mkdir()
    (deep / "deep.txt").write_text("Deep.")
    (folder / "near.txt").write_text("Near.")
    await add(client, admin, location=str(folder))
    assert found(await look(begin=False)) == {"listed": 1, "new": 1}
    assert set(await listed()) == {"near.txt"}


@pytest.mark.parametrize("place", ["\0", "a\0b", "~nobody-of-that-name/notes", "x" * 5_000])
async def test_what_can_be_no_folder_is_refused(client: httpx.AsyncClient, admin: Person, place: str) -> None:
    assert (await add(client, admin, location=place)).status_code == 422


async def test_sources_are_the_administrators(client: httpx.AsyncClient, user: Person, folder: Path) -> None:
    assert (await add(client, user, location=str(folder))).status_code == 403


async def test_a_bucket_of_a_million_is_listed_page_by_page(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mnemon.buckets import BucketAddress

    monkeypatch.setattr("mnemon.buckets.PAGE", 3)
    keys = ["ä.txt", "a.txt", "a/b.txt", "a-b.txt", "B.txt", "z z.txt", "100%.txt"]
    for key in keys:
        store.put(key, key)
    bucket = ObjectBucket(BucketAddress(store.bucket, "", store.endpoint, REGION))
    pages = [[one.key for one in page] for page in bucket.pages()]
    assert [len(page) for page in pages] == [3, 3, 1]
    assert [key for page in pages for key in page] == sorted(keys, key=str.encode)
    assert bucket.requests == 3
    assert [one.key for page in bucket.pages(after="a-b.txt") for one in page] == sorted(keys, key=str.encode)[3:]


async def test_a_schedule_begins_a_look_when_its_time_has_come(
    folder: Path, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID, look: Look,
    eventually: Eventually,
) -> None:  # fmt: skip
    from mnemon.documents.sources.syncing import SYNC_DUE
    from mnemon.work.enqueue import enqueue
    from mnemon.work.kinds import NoPayload

    await add(client, admin, location=str(folder), every_minutes=5)
    await look(begin=False)
    (folder / "later.txt").write_text("Later.")
    async with mnemon.database.transaction(tenant) as tx:
        await tx.execute("UPDATE mnemon.document_sources SET next_sync_at = now() - interval '1 second'")
        await enqueue(tx, SYNC_DUE, NoPayload())

    async def two() -> bool:
        syncs = (await client.get("/v1/sources/policies/syncs", headers=admin.headers)).json()["items"]
        return len(syncs) == 2

    await eventually(two)
    assert found(await look(begin=False)) == {"listed": 1, "new": 1}


@pytest.mark.slow
async def test_of_many_objects_exactly_those_that_changed_are_touched(
    store: ObjectStore, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID, look: Look,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The small form of `make bench-sync`, in pages of 20, and with every document read."""
    monkeypatch.setattr("mnemon.buckets.PAGE", 20)
    place = Place(Path(), store)
    names = [f"{number % 7}/{number:03}.md" for number in range(90)]
    for name in names:
        place.put(name, f"Rule {name} holds.")
    await add(client, admin, **place.told)
    assert found(await look(begin=False)) == {"listed": 90, "new": 90}

    async def state() -> dict[str, Any]:
        known = await rows(mnemon, tenant, "SELECT object_key, synced_at, doc_id FROM mnemon.source_objects")
        versions = await rows(mnemon, tenant, "SELECT doc_id, version_number, is_active FROM mnemon.document_revisions")
        return {
            one["object_key"].removeprefix("docs/"): (
                one["synced_at"],
                sorted((it["version_number"], it["is_active"]) for it in versions if it["doc_id"] == one["doc_id"]),
            )
            for one in known
        }

    before, changed, removed = await state(), set(names[3::10]), set(names[6::18])
    for name in changed:
        place.put(name, f"Rule {name} holds no longer.")
    for name in removed:
        place.remove(name)
    expected = {"listed": 85, "changed": 9, "deactivated": 5, "unchanged": 76}
    assert found(await look()) == expected
    after = await state()
    assert {name for name in names if before[name] != after[name]} == changed | removed
    assert {name for name in names if after[name][1] == [(1, False), (2, True)]} == changed
    assert {name for name in names if after[name][1] == [(1, False)]} == removed
    assert found(await look()) == {"listed": 85, "unchanged": 85}
    assert await state() == after
