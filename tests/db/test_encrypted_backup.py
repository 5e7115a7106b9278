"""A backup is encrypted and signed: it tells nothing without the keys, and nothing that was done to it goes unseen."""

import base64
import io
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.db.test_backup import contents, prepare

from mnemon.db.backup import backup, restore
from mnemon.db.backup_file import SIGNATURE, new_archive, open_archive, read_manifest
from mnemon.db.backup_keys import BackupKeys
from mnemon.db.encrypted_file import PIECE, TAG, EncryptedReader, EncryptedWriter
from mnemon.db.external import ExternalServer
from mnemon.errors import BackupFailed

KEY = bytes(range(32))
SIZES = (0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 5)


@pytest.fixture
def keys(home: Path) -> BackupKeys:
    return BackupKeys(home)


def encrypted(content: bytes, bound_to: bytes = b"") -> bytes:
    output = io.BytesIO()
    writer = EncryptedWriter(output, KEY, bound_to)
    # In steps that meet no border.
    for start in range(0, len(content), 40_001):
        writer.write(content[start : start + 40_001])
    writer.close()
    return output.getvalue()


def decrypted(closed: bytes, bound_to: bytes = b"") -> bytes:
    return io.BufferedReader(EncryptedReader(io.BytesIO(closed), KEY, bound_to), PIECE).read()


@pytest.mark.parametrize("size", SIZES)
def test_what_was_encrypted_comes_back(size: int) -> None:
    content = os.urandom(size)
    assert decrypted(encrypted(content)) == content


def test_any_place_can_be_read_alone() -> None:
    content = os.urandom(3 * PIECE + 5)
    reader = io.BufferedReader(EncryptedReader(io.BytesIO(encrypted(content)), KEY), PIECE)
    for place in (2 * PIECE - 3, 0, 3 * PIECE, len(content) - 1):
        reader.seek(place)
        assert reader.read(10) == content[place : place + 10]


def swapped(closed: bytes) -> bytes:
    step = PIECE + TAG
    return closed[step : 2 * step] + closed[:step] + closed[2 * step :]


TAMPERS: dict[str, Callable[[bytes], bytes]] = {
    "a changed byte": lambda closed: closed[:-40] + bytes([closed[-40] ^ 1]) + closed[-39:],
    "two pieces swapped": swapped,
    "the last piece gone": lambda closed: closed[: 3 * (PIECE + TAG)],
    "cut within a piece": lambda closed: closed[:-7],
    "a piece twice": lambda closed: closed[: PIECE + TAG] + closed,
    "nothing left": lambda closed: b"",
}


@pytest.mark.parametrize("tamper", TAMPERS.values(), ids=list(TAMPERS))
def test_a_stream_that_was_changed_moved_or_cut_does_not_open(tamper: Callable[[bytes], bytes]) -> None:
    with pytest.raises(BackupFailed, match="damaged"):
        decrypted(tamper(encrypted(os.urandom(3 * PIECE + 5))))


def test_a_stream_of_another_file_does_not_open() -> None:
    with pytest.raises(BackupFailed, match="damaged"):
        decrypted(encrypted(b"one", b"this header"), b"that header")


async def test_a_backup_shows_nothing_of_what_it_holds(
    own_server: ExternalServer, tmp_path: Path, keys: BackupKeys
) -> None:
    await prepare(own_server, ["zebulon.quokka@x.org"])
    folder = tmp_path / "blobs"
    folder.mkdir()
    (folder / "note").write_bytes(b"marmalade " * 50)
    await backup(own_server, tmp_path / "kept.backup", keys, {"blobs": folder})
    content = (tmp_path / "kept.backup").read_bytes()
    for word in (b"zebulon", b"marmalade", b"PGDMP", b"manifest.json", b"ustar"):
        assert word not in content.lower() and word.upper() not in content
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "a changed byte": lambda content: content[:5000] + bytes([content[5000] ^ 1]) + content[5001:],
    "a changed first line": lambda content: content.replace(b'"once":"', b'"once":"0', 1),
    "another format in the first line": lambda content: content.replace(b"mnemon-backup 3", b"mnemon-backup 4", 1),
    "cut short": lambda content: content[:-1000],
    "no signature": lambda content: content[:-SIGNATURE],
    "another signature": lambda content: content[:-SIGNATURE] + os.urandom(SIGNATURE),
    "something added": lambda content: content + b"\0",
    "empty": lambda content: b"",
}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, BackupKeys]]:
    folder = tmp_path_factory.mktemp("original")
    keys = BackupKeys(folder)
    with new_archive(folder / "kept.backup", keys) as archive:
        member = tarfile.TarInfo("database.dump")
        member.size = 100_000
        archive.addfile(member, io.BytesIO(os.urandom(member.size)))
    yield folder / "kept.backup", keys


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=list(DAMAGES))
async def test_a_backup_that_was_changed_or_cut_is_refused_before_anything_is_written(
    original: tuple[Path, BackupKeys], tmp_path: Path, empty_server: ExternalServer, damage: Callable[[bytes], bytes]
) -> None:
    file, keys = original
    (tmp_path / "damaged").write_bytes(damage(file.read_bytes()))
    with pytest.raises(BackupFailed, match=r"damaged|not a backup"):
        await restore(empty_server, tmp_path / "damaged", keys)


async def test_a_backup_of_another_home_is_refused(
    original: tuple[Path, BackupKeys], tmp_path: Path, empty_server: ExternalServer
) -> None:
    file, _ = original
    other = BackupKeys(tmp_path / "other")
    other.signer()
    with pytest.raises(BackupFailed, match="signed by another home"):
        await restore(empty_server, file, other)
    with pytest.raises(BackupFailed, match="put back the copy of `keys`"):
        await restore(empty_server, file, other, unsigned=True)


async def test_a_forger_who_knows_the_public_key_alone_is_refused(
    own_server: ExternalServer, tmp_path: Path, keys: BackupKeys
) -> None:
    """Anyone may encrypt for us; only this home signs."""
    await prepare(own_server, [])
    await backup(own_server, tmp_path / "ours.backup", keys)
    forger = BackupKeys(tmp_path / "forger")
    (tmp_path / "forger" / "keys").mkdir(parents=True)
    [public] = Path(keys.where).glob("*.pub")
    (tmp_path / "forger" / "keys" / public.name).write_bytes(public.read_bytes())
    await backup(own_server, tmp_path / "forged.backup", forger)
    with pytest.raises(BackupFailed, match="signed by another home"):
        await restore(own_server, tmp_path / "forged.backup", keys, replace=True)


async def test_a_plain_backup_of_an_earlier_version_is_taken_only_when_told(
    own_server: ExternalServer, tmp_path: Path, keys: BackupKeys
) -> None:
    await prepare(own_server, ["a@x.org"])
    before = await contents(own_server)
    file, plain = tmp_path / "kept.backup", tmp_path / "plain.backup"
    await backup(own_server, file, keys)
    with open_archive(file, keys) as old, tarfile.open(plain, "w") as new:
        assert read_manifest(old).format == 3
        for member in old.getmembers():
            new.addfile(member, old.extractfile(member))
    with pytest.raises(BackupFailed, match=r"neither encrypted nor signed.* give --unsigned"):
        await restore(own_server, plain, keys, replace=True)
    await restore(own_server, plain, keys, replace=True, unsigned=True)
    assert await contents(own_server) == before


async def test_a_backup_can_be_written_where_the_private_key_is_kept_elsewhere(
    own_server: ExternalServer, tmp_path: Path, keys: BackupKeys
) -> None:
    await prepare(own_server, [])
    keys.renew()
    [private] = Path(keys.where).glob("backup-0*.key")
    secret = private.read_text()
    private.unlink()
    await backup(own_server, tmp_path / "kept.backup", keys)
    with pytest.raises(BackupFailed, match="which is not in"):
        await restore(own_server, tmp_path / "kept.backup", keys, replace=True)
    private.write_text(secret)
    await restore(own_server, tmp_path / "kept.backup", keys, replace=True)


async def test_after_a_discard_no_earlier_backup_can_be_read(
    own_server: ExternalServer, tmp_path: Path, keys: BackupKeys
) -> None:
    await prepare(own_server, [])
    await backup(own_server, tmp_path / "old.backup", keys)
    keys.renew()
    await backup(own_server, tmp_path / "new.backup", keys)
    with open_archive(tmp_path / "old.backup", keys) as archive:
        assert read_manifest(archive).format == 3
    assert len(keys.discard_older()) == 1
    with pytest.raises(BackupFailed, match="which is not in"):
        await restore(own_server, tmp_path / "old.backup", keys, replace=True, unsigned=True)
    await restore(own_server, tmp_path / "new.backup", keys, replace=True)
    assert {path.stat().st_mode & 0o777 for path in Path(keys.where).glob("*.key")} == {0o600}
    assert all(len(base64.b64decode(path.read_text())) == 32 for path in Path(keys.where).iterdir())
