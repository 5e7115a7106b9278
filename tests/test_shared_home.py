"""What gateways share in a bucket is encrypted, bound to its name, and written once."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from pydantic import SecretStr

from mnemon.buckets import BucketAddress, BucketUnavailable, ObjectBucket, ObjectChanged
from mnemon.db.backup_keys import BackupKeys
from mnemon.errors import BadSettings
from mnemon.identity.secrets import kept_key
from mnemon.ids import new_uuid
from mnemon.log.privacy.erasure_list import ErasureList, ListedErasure
from mnemon.log.privacy.wrapping_keys import FileKeys
from mnemon.log.proof.signing import public_hex, signing_key
from mnemon.log.proof.signing_keys import SharedSigningKeys
from mnemon.settings import Settings
from mnemon.shared_home import SharedHome, home_of
from tests.object_store import ObjectStore, store, store_address

__all__ = ["store", "store_address"]

SECRET = "b25lIHNlY3JldCBvZiBhbGwgdGhlc2UgZ2F0ZXdheXM="


def home_in(store: ObjectStore, folder: Path) -> SharedHome:
    home = home_of(Settings(home=folder, home_store=store.place, home_store_secret=SecretStr(SECRET)))
    assert isinstance(home, SharedHome)
    return home


@pytest.fixture
def home(store: ObjectStore, tmp_path: Path) -> SharedHome:
    return home_in(store, tmp_path / "one")


@pytest.fixture
def other(store: ObjectStore, tmp_path: Path) -> SharedHome:
    """Another machine's."""
    return home_in(store, tmp_path / "other")


def test_the_first_to_write_a_key_is_the_one_whose_key_counts(home: SharedHome, other: SharedHome) -> None:
    assert home.keys.write_once("a.key", "first") and not other.keys.write_once("a.key", "second")
    assert home.keys.read("a.key") == other.keys.read("a.key") == "first"
    assert kept_key(home, "session.key") == kept_key(other, "session.key")
    other.keys.remove("a.key")
    assert other.keys.names() == ["session.key"] and other.keys.read("a.key") is None


def test_a_home_with_keys_of_its_own_makes_no_others_in_an_empty_bucket(home: SharedHome, other: SharedHome) -> None:
    signing_key(home.folder)
    with pytest.raises(BadSettings, match="`mnemon home share`"):
        BackupKeys(home).renew()
    assert home.keys.names() == []
    BackupKeys(other).renew()
    assert BackupKeys(home).signer() == BackupKeys(other).signer(), "it joins those who have begun"


def test_gateways_that_make_a_backup_key_at_once_get_the_two_halves_of_one(
    home: SharedHome, other: SharedHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = home.keys.write_once

    def late(name: str, text: str) -> bool:
        """The other gateway has come as far between the private half and the public one."""
        if name.endswith(".pub"):
            monkeypatch.setattr(home.keys, "write_once", write)
            with monkeypatch.context() as before:
                before.setattr(other.keys, "names", list)
                BackupKeys(other).renew()
        return write(name, text)

    monkeypatch.setattr(home.keys, "write_once", late)
    made = BackupKeys(home).renew()
    assert other.keys.names() == ["backup-0001.key", "backup-0001.pub"]
    enclosed = BackupKeys(other).enclose(b"k" * 32)
    assert BackupKeys(home).disclose(enclosed) == b"k" * 32
    assert BackupKeys(home).discard_older() == [] and BackupKeys(home).renew() != made


def test_what_could_not_be_read_is_no_empty_key(home: SharedHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home.keys, "read", lambda name: None)
    with pytest.raises(BadSettings, match=r"session\.key is empty or was taken away"):
        kept_key(home, "session.key")


async def test_a_bucket_that_is_away_is_waited_for_once_by_who_has_the_keys(
    home: SharedHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = FileKeys(home)
    made, asked = await keys.renew(), []

    def away() -> list[str]:
        asked.append(1)
        raise BucketUnavailable("It hangs.")

    with monkeypatch.context() as outage:
        outage.setattr(home.keys, "names", away)
        assert [await keys.current() for _ in range(3)] == [made] * 3 and len(asked) == 1
        with pytest.raises(BucketUnavailable):
            keys.discard_all_but([])
        with pytest.raises(BucketUnavailable):
            await keys.renew()
    home.keys.write_once("privacy-0000.key", "a" * 43 + "=\n")
    assert len(keys.discard_all_but([made.key_id])) == 1, "also one that this process has not read"
    assert home.keys.names() == ["privacy-0001.key"]


def test_erasures_of_all_gateways_are_on_one_list(home: SharedHome, other: SharedHome, store: ObjectStore) -> None:
    one, two = ErasureList(home), ErasureList(other)
    tenant, at = new_uuid(), datetime(2026, 11, 16, 9, 30, tzinfo=UTC)
    erasures = [ListedErasure(tenant, f"p-{number}", 1, at) for number in range(4)]
    for listed, some in ((one, erasures[:1]), (two, erasures[1:3]), (one, erasures[3:])):
        before = listed.size
        listed.add(some)
        assert list(listed.entries(before)) == some
    assert one.list_id() == two.list_id() and list(two.entries()) == erasures
    assert (one.size, two.size) == (3, 3)
    store.put("here/erasures/notes of an operator.txt", "not ours")
    assert (one.size, list(ErasureList(other).entries())) == (3, erasures)
    store.remove("here/erasures/00000003.jsonl")
    assert (one.size, two.size) == (2, 2), "a list that was shortened is shorter"
    store.put("here/erasures/00000003.jsonl", '{"tenant_id": "forged"}')
    with pytest.raises(BadSettings, match="not what Mnemon wrote"):
        list(ErasureList(home).entries())


def test_a_key_that_was_changed_or_moved_is_refused(home: SharedHome, other: SharedHome, store: ObjectStore) -> None:
    home.keys.write_once("a.key", "one")
    home.keys.write_once("b.key", "another")
    client = store.client()
    content = client.get_object(Bucket=store.bucket, Key="here/keys/a.key")["Body"].read()
    store.put("here/keys/b.key", content)
    store.put("here/keys/a.key", content[:-1] + bytes([content[-1] ^ 1]))
    store.put("here/keys/c.key", "plain")
    for name, why in (("a.key", "was changed"), ("b.key", "moved there"), ("c.key", "not what Mnemon wrote")):
        with pytest.raises(BadSettings, match=f"keys/{name} .*{why}.*put back its copy"):
            other.keys.read(name)


def test_a_rotation_goes_on_wherever_it_was_cut_short(
    home: SharedHome, other: SharedHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys, write = SharedSigningKeys(home), home.keys.write_once
    first = public_hex(keys.current())

    def die_at(name: str) -> None:
        def write_or_die(one: str, text: str) -> bool:
            if one == name:
                raise ConnectionError
            return write(one, text)

        monkeypatch.setattr(home.keys, "write_once", write_or_die)
        with pytest.raises(ConnectionError):
            keys.rotate()
        monkeypatch.setattr(home.keys, "write_once", write)

    for name in ("checkpoint-0002.key", "checkpoint-0002.handover"):
        die_at(name)
        assert public_hex(SharedSigningKeys(other).current()) == first, "until the word is there"
    new = SharedSigningKeys(other).rotate()
    assert public_hex(keys.current()) == new
    [word] = keys.handovers()
    assert word.holds and (word.public_key, word.next_key) == (first, new)
    third = keys.rotate()
    assert [one.next_key for one in SharedSigningKeys(other).handovers()] == [new, third]
    assert [name for name in other.keys.names() if name.endswith(".key")] == ["checkpoint-0003.key"]


def test_a_destroyed_key_is_gone_from_a_bucket_that_keeps_versions(home: SharedHome, store: ObjectStore) -> None:
    client = store.client()
    client.put_bucket_versioning(Bucket=store.bucket, VersioningConfiguration={"Status": "Enabled"})
    first = SharedSigningKeys(home).rotate()
    for name in ("privacy-0001.key", "privacy-0001.keys"):
        home.keys.write_once(name, "secret")
    client.delete_object(Bucket=store.bucket, Key="here/keys/privacy-0001.key")
    home.keys.remove("privacy-0001.key")
    found = client.list_object_versions(Bucket=store.bucket)
    kept = [one["Key"] for one in (*found["Versions"], *found.get("DeleteMarkers", ()))]
    assert sorted(kept) == [
        f"here/keys/{name}" for name in ("checkpoint-0002.handover", "checkpoint-0002.key", "privacy-0001.keys")
    ]
    assert public_hex(SharedSigningKeys(home).current()) == first


def test_a_signing_key_that_was_removed_is_not_replaced_in_silence(
    home: SharedHome, other: SharedHome, store: ObjectStore
) -> None:
    SharedSigningKeys(home).rotate()
    store.remove("here/keys/checkpoint-0002.key")
    with pytest.raises(BadSettings, match="put back its copy"):
        SharedSigningKeys(other).current()


class Unconditional(BaseHTTPRequestHandler):
    """A store as some are: it says that it knows no conditions, and takes everything else."""

    taken: list[str]

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        conditional = "If-None-Match" in self.headers
        body = b"<Error><Code>NotImplemented</Code><Message>no conditions</Message></Error>" if conditional else b""
        if not conditional:
            self.taken.append(self.path)
        self.send_response(501 if conditional else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def unconditional() -> Iterator[str]:
    Unconditional.taken = []
    server = HTTPServer(("127.0.0.1", 0), Unconditional)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_store_that_knows_no_conditions_is_written_without(store: ObjectStore, unconditional: str) -> None:
    ObjectBucket(BucketAddress("bucket", "", unconditional)).write_if("a", b"content")
    assert Unconditional.taken == ["/bucket/a"]
    bucket = ObjectBucket(BucketAddress.parse(store.place, "a test"))
    bucket.write_if("a", b"content")
    with pytest.raises(ObjectChanged):
        bucket.write_if("a", b"other")
    _, mark = bucket.fetch("a")
    bucket.write_if("a", b"second", mark)
    with pytest.raises(ObjectChanged):
        bucket.write_if("a", b"third", mark)
    bucket.remove("a")
    with pytest.raises(ObjectChanged, match="removed"):
        bucket.write_if("a", b"third", mark)
