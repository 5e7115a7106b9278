"""Key-encryption keys: from files, from the environment, from AWS KMS, and what happens without them."""

import base64
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import boto3
import pytest
from moto.server import ThreadedMotoServer
from pydantic import SecretStr

from mnemon.db.database import Database
from mnemon.errors import BadSettings
from mnemon.log.errors import KeyUnavailable, SealBroken
from mnemon.log.privacy.rotation import rotate
from mnemon.log.privacy.wrapping_keys import FileKeys, GivenKeys, KeyRing
from mnemon.settings import Settings

from .conftest import joined, open_private


def fresh() -> str:
    return base64.b64encode(os.urandom(32)).decode()


async def test_a_key_file_is_made_once_and_only_its_owner_reads_it(home: Path) -> None:
    keys = FileKeys(home)
    assert await keys.current() is None
    made = await keys.renew()
    [file] = (home / "keys").glob("*.key")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = await FileKeys(home).current()
    assert again is not None
    assert again.key_id == made.key_id
    assert await again.unwrap(await made.wrap(b"secret", b"row"), b"row") == b"secret"


async def test_a_wrapped_key_is_of_no_use_in_another_row(home: Path) -> None:
    made = await FileKeys(home).renew()
    with pytest.raises(SealBroken):
        await made.unwrap(await made.wrap(b"secret", b"row 1"), b"row 2")


async def test_a_renewed_file_key_leaves_the_earlier_one_readable_until_it_is_discarded(home: Path) -> None:
    keys = FileKeys(home)
    first = await keys.renew()
    second = await keys.renew()
    current = await keys.current()
    assert current is not None
    assert current.key_id == second.key_id
    assert await keys.find(first.key_id) is not None
    assert keys.discard_all_but({second.key_id}) == [first.key_id]
    assert await FileKeys(home).find(first.key_id) is None
    assert keys.discard_all_but({second.key_id}) == []


async def test_what_another_database_may_need_is_not_discarded(home: Path) -> None:
    keys = FileKeys(home)
    ids = [(await keys.renew()).key_id for _ in range(4)]
    newest = {ids[3]}
    assert keys.discard_all_but(newest, [[], newest]) == [], "nobody knows which are its"
    assert keys.discard_all_but(newest, [["arn:of-another-source"]]) == []
    assert keys.discard_all_but(newest, [[ids[1]], newest]) == [ids[0]], "nor those that it takes next"
    assert keys.discard_all_but(newest, [newest]) == ids[1:3]


@pytest.mark.parametrize(
    ("given", "complaint"), [("not base64!", "is not base64"), (base64.b64encode(b"short").decode(), "holds 5 bytes")]
)
def test_a_wrong_key_in_the_environment_is_named_with_its_remedy(given: str, complaint: str) -> None:
    with pytest.raises(BadSettings, match=complaint) as refusal:
        GivenKeys(given)
    assert "openssl rand" in refusal.value.message
    assert given not in refusal.value.message


@pytest.mark.parametrize(("source", "missing"), [("env", "MNEMON_KEK:"), ("kms", "MNEMON_KEK_KMS_KEY")])
def test_a_source_without_its_key_stops_the_start(home: Path, source: str, missing: str) -> None:
    with pytest.raises(BadSettings, match=missing):
        KeyRing.of(Settings(home=home, kek_source=source))  # type: ignore[arg-type]


def test_the_environment_is_read_by_its_documented_names(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMON_KEK_SOURCE", "env")
    monkeypatch.setenv("MNEMON_KEK", fresh())
    assert isinstance(KeyRing.of(Settings(home=home)).chosen, GivenKeys)


async def test_a_change_of_source_is_a_rotation(own_database: Database, home: Path, tmp_path: Path) -> None:
    tenant = UUID(int=7)
    privacy = open_private(own_database, KeyRing.of(Settings(home=home)), tmp_path)
    await privacy.log.append(tenant, [joined()])
    await privacy.close()
    moved = Settings(home=home, kek_source="env", kek=SecretStr(fresh()))
    done = await rotate(own_database, KeyRing.of(moved), discard=True)
    assert done.rewrapped == 2
    assert len(done.discarded) == 1
    assert list((home / "keys").glob("*.key")) == []
    after = open_private(own_database, KeyRing.of(moved), tmp_path)
    assert (await after.log.read_page(tenant)).events[0].data["name"] == "Ada Lovelace"
    await after.close()


async def test_another_key_in_the_environment_without_the_old_one_is_refused(
    own_database: Database, home: Path, tmp_path: Path
) -> None:
    tenant, first, second = UUID(int=7), fresh(), fresh()
    privacy = open_private(own_database, KeyRing(GivenKeys(first)), tmp_path)
    await privacy.log.append(tenant, [joined()])
    await privacy.close()
    swapped = open_private(own_database, KeyRing(GivenKeys(second)), tmp_path)
    with pytest.raises(KeyUnavailable, match="MNEMON_KEK_PREVIOUS"):
        await swapped.log.append(tenant, [joined("c-2")])
    with pytest.raises(KeyUnavailable):
        await rotate(own_database, swapped.ring)
    await swapped.close()
    both = open_private(own_database, KeyRing(GivenKeys(second, [first])), tmp_path)
    await both.log.append(tenant, [joined("c-2")])
    assert (await both.rotate()).rewrapped == 2
    assert [event.data["customer_id"] for event in (await both.log.read_page(tenant)).events] == ["c-1", "c-2"]
    await both.close()


@pytest.fixture(scope="module")
def kms_endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def amazon(kms_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    return kms_endpoint


async def test_aws_kms_wraps_unwraps_and_rotates_by_alias(
    own_database: Database, home: Path, amazon: str, tmp_path: Path
) -> None:
    client = boto3.client("kms", endpoint_url=amazon)
    first = client.create_key()["KeyMetadata"]
    client.create_alias(AliasName="alias/mnemon", TargetKeyId=first["KeyId"])
    settings = Settings(home=home, kek_source="kms", kek_kms_key="alias/mnemon", kek_kms_endpoint=amazon)
    tenant = UUID(int=7)
    privacy = open_private(own_database, KeyRing.of(settings), tmp_path)
    await privacy.log.append(tenant, [joined()])
    async with own_database.owner() as owner:
        ids = await (await owner.execute("SELECT DISTINCT key_id FROM mnemon.subject_keys")).fetchall()
    assert [row["key_id"] for row in ids] == [first["Arn"]]
    assert list(home.rglob("*.key")) == []

    second = client.create_key()["KeyMetadata"]
    client.update_alias(AliasName="alias/mnemon", TargetKeyId=second["KeyId"])
    done = await privacy.rotate()
    assert (done.key_id, done.rewrapped) == (second["Arn"], 2)
    client.disable_key(KeyId=first["KeyId"])
    privacy.keys.forget_all()
    assert (await privacy.log.read_page(tenant)).events[0].data["name"] == "Ada Lovelace"
    await privacy.close()


async def test_kms_refuses_a_wrapped_key_of_another_row(home: Path, amazon: str) -> None:
    key = boto3.client("kms", endpoint_url=amazon).create_key()["KeyMetadata"]["Arn"]
    ring = KeyRing.of(Settings(home=home, kek_source="kms", kek_kms_key=key, kek_kms_endpoint=amazon))
    wrapper = await ring.find(key)
    wrapped = await wrapper.wrap(b"secret", b"row 1")
    assert await wrapper.unwrap(wrapped, b"row 1") == b"secret"
    with pytest.raises(SealBroken):
        await wrapper.unwrap(wrapped, b"row 2")


async def test_a_kms_key_that_does_not_exist_is_a_clear_error(home: Path, amazon: str) -> None:
    settings = Settings(home=home, kek_source="kms", kek_kms_key="alias/absent", kek_kms_endpoint=amazon)
    with pytest.raises(KeyUnavailable, match="alias/absent"):
        await KeyRing.of(settings).current()


async def test_a_kms_that_does_not_answer_is_a_clear_error(home: Path, amazon: str) -> None:
    settings = Settings(home=home, kek_source="kms", kek_kms_key="alias/x", kek_kms_endpoint="http://127.0.0.1:9")
    with pytest.raises(KeyUnavailable, match="AWS KMS refused describe_key"):
        await KeyRing.of(settings).current()
