"""Rotation of the key-encryption key: every person stays readable, whenever it is killed."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from itertools import permutations
from pathlib import Path
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.log.errors import SealBroken
from mnemon.log.privacy import rotation
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.subjects import context_of
from mnemon.log.privacy.wrapping_keys import FileKeys, KeyRing, LocalKey
from tests.patience import PATIENCE

from .conftest import joined, open_private

TENANT = UUID(int=7)
PEOPLE = 40
ROTATE_AND_DIE = """
import asyncio, os, signal, sys
from pathlib import Path
from mnemon.db.database import Database
from mnemon.db.external import ExternalServer
from mnemon.log.privacy import rotation
from mnemon.log.privacy.wrapping_keys import FileKeys, KeyRing

owner, app, home, most = sys.argv[1:]
rotation.BATCH = 10
rotation.NEXT = rotation.NEXT.replace("LIMIT 500", "LIMIT 10")

def die(done, total):
    if done >= int(most):
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    async with Database(ExternalServer(owner, app)) as database:
        await rotation.rotate(database, KeyRing(FileKeys(Path(home))), discard=True, progress=die)

asyncio.run(main())
"""


async def filled(database: Database, home: Path, archive: Path) -> Privacy:
    privacy = open_private(database, KeyRing(FileKeys(home)), archive)
    await privacy.log.append(TENANT, [joined(f"c-{n}", f"Name {n}") for n in range(PEOPLE)])
    return privacy


async def names(database: Database, home: Path, archive: Path) -> list[object]:
    """As a process reads them that remembers nothing."""
    fresh = open_private(database, KeyRing(FileKeys(home)), archive)
    read = [event.data["name"] async for event in fresh.log.scan(TENANT) if event.type == "shop.customer.joined"]
    await fresh.close()
    return read


async def payloads(database: Database) -> list[str]:
    async with database.owner() as owner:
        rows = await (await owner.execute("SELECT payload FROM mnemon.event_payloads ORDER BY sequence")).fetchall()
    return [row["payload"] for row in rows]


async def test_a_rotation_wraps_every_key_anew_and_touches_no_event(
    own_database: Database, home: Path, tmp_path: Path
) -> None:
    privacy = await filled(own_database, home, tmp_path)
    before = await payloads(own_database)
    steps: list[tuple[int, int]] = []
    done = await privacy.rotate(progress=lambda count, total: steps.append((count, total)))
    assert done.rewrapped == PEOPLE + 1
    assert steps == [(PEOPLE + 1, PEOPLE + 1)]
    assert await payloads(own_database) == before
    assert await names(own_database, home, tmp_path) == [f"Name {n}" for n in range(PEOPLE)]
    assert len(list((home / "keys").glob("*.key"))) == 2
    await privacy.close()


async def test_discarded_keys_are_gone_and_nothing_needs_them(
    own_database: Database, home: Path, tmp_path: Path
) -> None:
    privacy = await filled(own_database, home, tmp_path)
    old = await FileKeys(home).current()
    assert old is not None
    done = await privacy.rotate(discard=True)
    assert done.retired == done.discarded == [old.key_id]
    assert len(list((home / "keys").glob("*.key"))) == 1
    assert await names(own_database, home, tmp_path) == [f"Name {n}" for n in range(PEOPLE)]
    await privacy.close()


async def test_a_running_process_follows_a_rotation_by_another(
    own_database: Database, home: Path, tmp_path: Path
) -> None:
    running = await filled(own_database, home, tmp_path)
    await rotation.rotate(own_database, KeyRing(FileKeys(home)), discard=True)
    await running.log.append(TENANT, [joined("new", "Newcomer")])
    running.keys.forget_all()
    assert (await names(own_database, home, tmp_path))[-1] == "Newcomer"
    async with own_database.owner() as owner:
        used = await (await owner.execute("SELECT DISTINCT key_id FROM mnemon.subject_keys")).fetchall()
    assert len(used) == 1
    await running.close()


@pytest.mark.parametrize("rewrapped", [10, 30, PEOPLE + 1])
async def test_a_killed_rotation_loses_nobody_and_the_next_one_finishes_it(
    own_database: Database, home: Path, tmp_path: Path, rewrapped: int
) -> None:
    privacy = await filled(own_database, home, tmp_path)
    await privacy.close()
    server = own_database.server
    words = [
        sys.executable,
        "-c",
        ROTATE_AND_DIE,
        server.owner_conninfo,
        server.app_conninfo,
        str(home),
        str(rewrapped),
    ]
    died = await asyncio.to_thread(subprocess.run, words, env=os.environ, timeout=PATIENCE, capture_output=True)
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert await names(own_database, home, tmp_path) == [f"Name {n}" for n in range(PEOPLE)]
    assert len(list((home / "keys").glob("*.key"))) == 2
    done = await rotation.rotate(own_database, KeyRing(FileKeys(home)), discard=True)
    # What was half done is finished with the same key; what was through, but for its end, is a rotation of its own.
    assert done.rewrapped == (PEOPLE + 1 - rewrapped or PEOPLE + 1)
    assert len(done.discarded) == (1 if rewrapped <= PEOPLE else 2)
    assert len(list((home / "keys").glob("*.key"))) == 1
    assert await names(own_database, home, tmp_path) == [f"Name {n}" for n in range(PEOPLE)]


async def test_erased_people_stay_erased_through_a_rotation(own_database: Database, home: Path, tmp_path: Path) -> None:
    privacy = await filled(own_database, home, tmp_path)
    asked = await privacy.erasures.request(TENANT, "c-3", reason="subject_request", requested_by="u-1")
    await privacy.erasures.approve(TENANT, asked.erasure_id, approved_by="u-2")
    assert (await privacy.rotate(discard=True)).rewrapped == PEOPLE
    assert (await names(own_database, home, tmp_path))[3] == REDACTED
    await privacy.close()


async def wrapped_keys(database: Database, subject: str) -> list[bytes]:
    """What a backup of this moment holds of a person's key."""
    async with database.owner() as owner:
        found = await owner.execute(
            "SELECT wrapped_key FROM mnemon.subject_keys"
            " WHERE tenant_id = %s AND subject_id = %s AND wrapped_key IS NOT NULL",
            (TENANT, subject),
        )
        return [bytes(row["wrapped_key"]) for row in await found.fetchall()]


async def opened_by_any_file(home: Path, subject: str, copies: list[bytes]) -> int:
    """How many copies of a person's key the files in the home folder open, whatever they are called."""
    opened = 0
    for file in (home / "keys").iterdir():
        if "privacy" in file.name:
            key = LocalKey.from_base64(file.read_text(), file.name)
            for copy in copies:
                with suppress(SealBroken):
                    await key.unwrap(copy, context_of(TENANT, subject))
                    opened += 1
    return opened


# Every order in which a rotation or two and an erasure can come before the last `--discard`.
@pytest.mark.parametrize(
    "steps", sorted({*permutations(("rotate", "rotate", "erase")), *permutations(("discard", "rotate", "erase"))})
)
async def test_after_a_discard_no_backup_brings_an_erased_person_back(
    own_database: Database, home: Path, tmp_path: Path, steps: tuple[str, ...]
) -> None:
    privacy = await filled(own_database, home, tmp_path)
    backups: list[bytes] = []
    for step in (*steps, "discard"):
        backups += await wrapped_keys(own_database, "c-3")
        if step == "erase":
            asked = await privacy.erasures.request(TENANT, "c-3", reason="subject_request", requested_by="u-1")
            await privacy.erasures.approve(TENANT, asked.erasure_id, approved_by="u-2")
        else:
            await privacy.rotate(discard=step == "discard")
    assert backups
    assert await opened_by_any_file(home, "c-3", backups) == 0
    assert await names(own_database, home, tmp_path) == [REDACTED if n == 3 else f"Name {n}" for n in range(PEOPLE)]
    await privacy.close()


async def test_a_discard_finds_what_a_killed_process_left_in_the_folder(
    own_database: Database, home: Path, tmp_path: Path
) -> None:
    privacy = await filled(own_database, home, tmp_path)
    [file] = (home / "keys").glob("privacy-*.key")
    os.link(file, file.with_name(f".{file.name}.123.abcd"))
    await privacy.rotate(discard=True)
    left = [one.name for one in (home / "keys").iterdir() if "privacy" in one.name]
    assert left == ["privacy-0002.key"]
    await privacy.close()
