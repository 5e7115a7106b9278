"""Changing the signing key: old checkpoints hold, new ones are trusted by whoever knows an old key, forged ones not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mnemon.db.database import Database
from mnemon.log.proof import handover
from mnemon.log.proof.handover import handovers, keys_after, rotate_signing_key
from mnemon.log.proof.integrity import Integrity
from mnemon.log.proof.signing import public_hex, signing_key
from mnemon.log.store import EventLog

from .conftest import noted
from .offline import run


@pytest.fixture
def integrity(log: EventLog, database: Database, home: Path) -> Integrity:
    return Integrity(database, log.reader, home)


def files(integrity: Integrity, tenant: UUID) -> Path:
    return integrity.checkpoints.file_of(tenant, "main")


async def test_old_and_new_checkpoints_hold_for_whoever_knows_any_of_the_keys(
    log: EventLog, integrity: Integrity, tenant: UUID, home: Path
) -> None:
    [event] = await log.append(tenant, [noted("1")])
    keys = [(await integrity.checkpoint(tenant)).public_key]
    for n in range(2):
        keys.append(rotate_signing_key(home))
        await log.append(tenant, [noted(str(n))])
        assert (await integrity.checkpoint(tenant)).public_key == keys[-1]
    assert len(set(keys)) == 3
    assert (await integrity.verify(tenant)).intact
    receipt, export = home / "receipt.json", home / "export.jsonl"
    receipt.write_text(json.dumps((await integrity.receipt(tenant, event.id)).as_json()))
    export.write_bytes(b"".join([line async for line in integrity.export(tenant)]))
    for key in keys:
        assert run("checkpoints", files(integrity, tenant), "--key", key) == (0, "all holds\n")
        assert run("receipt", receipt, "--key", key) == (0, "all holds\n")
        assert run("export", export, "--checkpoints", files(integrity, tenant), "--key", key) == (0, "all holds\n")


async def test_an_idle_partition_is_signed_again_with_the_new_key(
    log: EventLog, integrity: Integrity, tenant: UUID, home: Path
) -> None:
    await log.append(tenant, [noted()])
    old = await integrity.checkpoint(tenant)
    assert (await integrity.checkpoint(tenant)).statement == old.statement
    new = rotate_signing_key(home)
    again = await integrity.checkpoint(tenant)
    assert (again.sequence, again.root, again.public_key) == (old.sequence, old.root, new)
    assert (await integrity.checkpoint(tenant)).statement == again.statement
    assert (await integrity.verify(tenant)).intact
    assert run("checkpoints", files(integrity, tenant), "--key", new) == (0, "all holds\n")


async def test_a_partition_that_began_after_the_change_is_trusted_with_the_old_key(
    log: EventLog, integrity: Integrity, tenant: UUID, home: Path
) -> None:
    old = public_hex(signing_key(home))
    rotate_signing_key(home)
    await log.append(tenant, [noted()])
    await integrity.checkpoint(tenant)
    assert run("checkpoints", files(integrity, tenant), "--key", old) == (0, "all holds\n")


@pytest.mark.parametrize("died_before", ["_write", "sync_folder"])
async def test_a_change_that_was_killed_goes_on(
    log: EventLog, integrity: Integrity, tenant: UUID, home: Path, monkeypatch: pytest.MonkeyPatch, died_before: str
) -> None:
    await log.append(tenant, [noted()])
    old = (await integrity.checkpoint(tenant)).public_key

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(handover, died_before, die)
        with pytest.raises(KeyboardInterrupt):
            rotate_signing_key(home)
    await log.append(tenant, [noted()])
    assert (await integrity.checkpoint(tenant)).public_key == old
    new = rotate_signing_key(home)
    assert len(handovers(home)) == 1
    await integrity.checkpoint(tenant)
    assert (await integrity.verify(tenant)).intact
    assert run("checkpoints", files(integrity, tenant), "--key", old) == (0, "all holds\n")
    assert run("checkpoints", files(integrity, tenant), "--key", new) == (0, "all holds\n")


def resigned(line: dict[str, Any], key: Ed25519PrivateKey) -> None:
    line.update(public_key=public_hex(key), signature=key.sign(line["statement"].encode()).hex())


MALLORY = Ed25519PrivateKey.from_private_bytes(b"m" * 32)


def announced_by_a_stranger(line: dict[str, Any]) -> None:
    resigned(line, MALLORY)
    statement = json.dumps({"format": "mnemon/key/1", "next_key": public_hex(MALLORY)})
    signature = MALLORY.sign(statement.encode()).hex()
    line["keys"] = [{"statement": statement, "public_key": public_hex(MALLORY), "signature": signature}]


def announced_in_the_old_keys_name(line: dict[str, Any]) -> None:
    old = line["keys"][0]["public_key"]
    announced_by_a_stranger(line)
    line["keys"][0]["public_key"] = old


@pytest.mark.parametrize(
    "forge",
    [
        lambda line: line.pop("keys"),
        lambda line: resigned(line, MALLORY),
        announced_by_a_stranger,
        announced_in_the_old_keys_name,
    ],
)
async def test_a_key_that_no_trusted_key_announced_is_refused(
    log: EventLog, integrity: Integrity, tenant: UUID, home: Path, forge: Callable[[dict[str, Any]], object]
) -> None:
    [event] = await log.append(tenant, [noted()])
    old = (await integrity.checkpoint(tenant)).public_key
    rotate_signing_key(home)
    await integrity.checkpoint(tenant)
    receipt = (await integrity.receipt(tenant, event.id)).as_json()
    forge(receipt["checkpoint"])
    (home / "receipt.json").write_text(json.dumps(receipt))
    assert "another key" in run("receipt", home / "receipt.json", "--key", old)[1]
    lines = [json.loads(line) for line in files(integrity, tenant).read_text().splitlines()]
    forge(lines[-1])
    files(integrity, tenant).write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "another key" in run("checkpoints", files(integrity, tenant), "--key", old)[1]
    faults = (await integrity.verify(tenant)).faults
    assert {one.kind for one in faults} <= {"checkpoint", "key"}
    assert "another key" in next(one.message for one in faults if one.kind == "checkpoint")


async def test_the_old_key_signs_nothing_after_the_new_one(
    log: EventLog, integrity: Integrity, tenant: UUID, home: Path
) -> None:
    """Whoever kept a copy of the old key cannot go on with it."""
    await log.append(tenant, [noted()])
    stolen = signing_key(home)
    await integrity.checkpoint(tenant)
    rotate_signing_key(home)
    await integrity.checkpoint(tenant)
    await log.append(tenant, [noted()])
    await integrity.checkpoint(tenant)
    lines = [json.loads(line) for line in files(integrity, tenant).read_text().splitlines()]
    resigned(lines[-1], stolen)
    files(integrity, tenant).write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "another key" in run("checkpoints", files(integrity, tenant), "--key", public_hex(stolen))[1]
    assert not (await integrity.verify(tenant)).intact


def test_trust_goes_forward_only(home: Path) -> None:
    old = public_hex(signing_key(home))
    new = rotate_signing_key(home)
    assert keys_after(old, handovers(home)) == {old, new}
    assert keys_after(new, handovers(home)) == {new}


async def test_one_key_attests_a_place_once(log: EventLog, integrity: Integrity, tenant: UUID, home: Path) -> None:
    await log.append(tenant, [noted()])
    made = await integrity.checkpoint(tenant)
    statement = json.dumps(made.says | {"previous": made.digest})
    again = made.as_json() | {"statement": statement}
    resigned(again, signing_key(home))
    with files(integrity, tenant).open("a") as file:
        file.write(json.dumps(again) + "\n")
    assert [one.message for one in (await integrity.verify(tenant)).faults] == ["Of the checkpoint at 1, it goes back."]
    assert run("checkpoints", files(integrity, tenant), "--key", made.public_key) == (
        1,
        "checkpoint at 1: it goes back\n",
    )
