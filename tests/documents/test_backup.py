"""A backup holds what was acknowledged: the files of every version, and those that still wait to be read."""

import io
import tarfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import httpx
import orjson
import pytest

from mnemon.app import Mnemon
from mnemon.db import backup as backing
from mnemon.db.backup import backup, restore
from mnemon.db.backup_file import FORMAT, new_archive, open_archive, read_manifest
from mnemon.db.backup_keys import BackupKeys
from mnemon.db.database import Database
from mnemon.db.external import ExternalServer
from mnemon.db.kept_files import Folders, pack_files
from mnemon.documents.intake.files import Files
from mnemon.errors import BackupFailed
from mnemon.identity.sessions import Sessions
from mnemon.log.events import SYSTEM
from mnemon.log.privacy.archive_store import DirectoryStore
from mnemon.log.privacy.erasure_list import ErasureList
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.wrapping_keys import KeyRing
from mnemon.settings import Settings
from tests.api.conftest import Person
from tests.work.conftest import Eventually

from .conftest import Ingested, files_below

BEFORE = "The board approved the budget of 40,000 euros."
QUEUED = "This one waits: nobody has read it yet."


@pytest.fixture
def database(own_database: Database) -> Database:
    """What others have left in the shared one would be in every backup."""
    return own_database


@pytest.fixture
def keys(home: Path) -> BackupKeys:
    return BackupKeys(home)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Files:
    """The folders of another machine."""
    home = tmp_path / "elsewhere"
    return Files(home / "uploads", home / "blobs", 1 << 20)


@pytest.fixture
async def taken(mnemon: Mnemon, ingested: Ingested, eventually: Eventually, tmp_path: Path, keys: BackupKeys) -> Path:
    """A backup with one file that was read, and one that was not."""
    await ingested(BEFORE)

    async def moved_on() -> bool:
        return not files_below(mnemon.files.uploads)

    await eventually(moved_on)
    received = mnemon.files.receive(next(iter(mnemon.files.blobs_of_tenants()))[0], "later.txt")
    received.write(QUEUED.encode())
    received.complete()
    file = tmp_path / "kept.backup"
    manifest = await backup(mnemon.database.server, file, keys, mnemon.files.folders)
    assert manifest.files == 2
    return file


def contents(files: Files) -> dict[str, bytes]:
    return {
        f"{name}/{path.relative_to(folder)}": path.read_bytes()
        for name, folder in files.folders.items()
        for path in files_below(folder)
    }


async def test_a_restore_brings_every_file_back(
    mnemon: Mnemon, taken: Path, empty_server: ExternalServer, elsewhere: Files, keys: BackupKeys
) -> None:
    await restore(empty_server, taken, keys, elsewhere.folders)
    assert contents(elsewhere) == contents(mnemon.files)
    assert sorted(contents(elsewhere).values()) == sorted([BEFORE.encode(), QUEUED.encode()])
    assert not list(elsewhere.blobs.glob(".*"))
    assert {path.stat().st_mode & 0o777 for path in files_below(elsewhere.blobs)} == {0o600}


async def test_a_restored_version_is_downloaded_again(
    mnemon: Mnemon,
    client: httpx.AsyncClient,
    user: Person,
    taken: Path,
    empty_server: ExternalServer,
    elsewhere: Files,
    keys: BackupKeys,
) -> None:
    await restore(empty_server, taken, keys, elsewhere.folders)
    listed = (await client.get("/v1/documents", headers=user.headers)).json()["items"]
    version = (await client.get(f"/v1/documents/{listed[0]['doc_id']}/versions", headers=user.headers)).json()[0]
    tenant = next(iter(elsewhere.blobs_of_tenants()))[0]
    assert elsewhere.blob(tenant, version["content_hash"]).read_text() == BEFORE


async def test_a_file_that_becomes_a_blob_during_the_backup_is_in_it(
    mnemon: Mnemon, taken: Path, empty_server: ExternalServer, elsewhere: Files, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, keys: BackupKeys,
) -> None:  # fmt: skip
    """The rows are read before the files: a run that ends in between moves its file on."""
    [waiting] = files_below(mnemon.files.uploads)
    tenant = next(iter(mnemon.files.blobs_of_tenants()))[0]
    pack = pack_files

    def moved_on(archive: tarfile.TarFile, folders: Folders) -> object:
        mnemon.files.keep(tenant, waiting, "sha256:" + "0" * 64)
        waiting.unlink()
        return pack(archive, folders)

    monkeypatch.setattr(backing, "pack_files", moved_on)
    file = tmp_path / "moved.backup"
    await backup(mnemon.database.server, file, keys, mnemon.files.folders)
    await restore(empty_server, file, keys, elsewhere.folders)
    assert QUEUED.encode() in contents(elsewhere).values()


def rewrite(source: Path, target: Path, keys: BackupKeys, change: Callable[[tarfile.TarInfo, bytes], bytes]) -> Path:
    """As one who has the keys could."""
    with open_archive(source, keys) as old, new_archive(target, keys) as new:
        for member in old.getmembers():
            stream = old.extractfile(member)
            assert stream
            content = change(member, stream.read())
            member.size, member.pax_headers = len(content), {}
            new.addfile(member, io.BytesIO(content))
    return target


def another_byte(member: tarfile.TarInfo, content: bytes) -> bytes:
    return content.replace(b"40,000", b"90,000") if "/blobs/" in member.name else content


def way_out(member: tarfile.TarInfo, content: bytes) -> bytes:
    if "/blobs/" in member.name:
        member.name = "files/blobs/../../../escaped"
    return content


def one_less(member: tarfile.TarInfo, content: bytes) -> bytes:
    if member.name != "manifest.json":
        return content
    manifest = orjson.loads(content)
    return orjson.dumps(manifest | {"files": manifest["files"] + 1})


@pytest.mark.parametrize(
    ("change", "why"),
    [(another_byte, "its files do not match"), (way_out, "has no place here"), (one_less, "its files do not match")],
)
async def test_a_backup_with_other_files_is_refused_and_nothing_is_written(
    taken: Path, empty_server: ExternalServer, elsewhere: Files, tmp_path: Path,
    change: Callable[[tarfile.TarInfo, bytes], bytes], why: str, keys: BackupKeys,
) -> None:  # fmt: skip
    forged = rewrite(taken, tmp_path / "forged.backup", keys, change)
    with pytest.raises(BackupFailed, match=why):
        await restore(empty_server, forged, keys, elsewhere.folders)
    assert contents(elsewhere) == {}
    assert not list(tmp_path.rglob("escaped"))
    with open_archive(forged, keys) as archive:
        assert read_manifest(archive).format == FORMAT


@asynccontextmanager
async def on_another_machine(
    server: ExternalServer, settings: Settings, ring: KeyRing, listed: ErasureList
) -> AsyncIterator[Mnemon]:
    async with Database(server) as database:
        store = DirectoryStore(settings.home / "archive")
        privacy = Privacy(database, ring, store, listening=False, erasure_list=listed)
        whole = Mnemon(settings, database, privacy, Sessions(database, "k" * 32, timedelta(hours=1)))
        whole.tie_lenses_to_privacy()
        try:
            yield whole
        finally:
            await privacy.close()


async def test_a_document_purged_since_the_backup_is_purged_again(
    taken: Path, empty_server: ExternalServer, elsewhere: Files, keys: BackupKeys, settings: Settings, ring: KeyRing,
    tmp_path: Path,
) -> None:  # fmt: skip
    listed = ErasureList(tmp_path)
    await restore(empty_server, taken, keys, elsewhere.folders)
    tenant = next(iter(elsewhere.blobs_of_tenants()))[0]
    async with on_another_machine(empty_server, settings, ring, listed) as mnemon:
        async with mnemon.database.transaction(tenant) as tx:
            rows = await tx.execute("SELECT doc_id FROM mnemon.documents WHERE tenant_id = %s", (tenant,))
            [doc_id] = [row["doc_id"] for row in await rows.fetchall()]
        await mnemon.purge_document(tenant, SYSTEM, doc_id)
        assert [one.subject_id for one in listed.entries()] == [f"document:{doc_id}"]
    await restore(empty_server, taken, keys, elsewhere.folders, replace=True)
    async with on_another_machine(empty_server, settings, ring, listed) as mnemon:
        assert await texts_of(mnemon, tenant) == [BEFORE]
        assert await mnemon.privacy.repeat_erasures() == 1
        assert await texts_of(mnemon, tenant) == []


async def texts_of(mnemon: Mnemon, tenant: UUID) -> list[str]:
    async with mnemon.database.transaction(tenant) as tx:
        rows = await (await tx.execute("SELECT text FROM mnemon.chunks")).fetchall()
    return [row["text"].strip() for row in rows]
