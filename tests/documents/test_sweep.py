"""The sweep removes files that nobody needs, and none that somebody does."""

import os
import time
from pathlib import Path
from uuid import UUID

from mnemon.app import Mnemon
from mnemon.documents.intake.files import Files
from mnemon.documents.intake.sweep import SWEEP, Ages, sweep_blobs, sweep_uploads
from mnemon.documents.jobs import document_schedules
from mnemon.ids import new_uuid
from mnemon.settings import Settings
from tests.documents.conftest import Ingested, Upload, files_below
from tests.documents.test_runs import NO_TEXT
from tests.work.conftest import Eventually

AGES = Ages(orphan_hours=24, failed_hours=7 * 24)
HOUR = 3600


def aged(folder: Path, hours: float) -> None:
    """Make a folder and what is in it look older."""
    then = time.time() - hours * HOUR
    for one in (folder, *folder.iterdir()):
        os.utime(one, (then, then))


def orphan(files: Files, tenant: UUID, hours: float) -> UUID:
    incoming = files.receive(tenant, "lost.txt")
    incoming.write(b"lost")
    received = incoming.complete()
    aged(received.path.parent, hours)
    return received.run_id


async def test_an_upload_without_a_run_goes_when_it_is_old(mnemon: Mnemon, tenant: UUID) -> None:
    old, young = orphan(mnemon.files, tenant, 25), orphan(mnemon.files, tenant, 23)
    await sweep_uploads(mnemon.database, mnemon.files, AGES)
    assert mnemon.files.upload(tenant, old) is None
    assert mnemon.files.upload(tenant, young) is not None


async def test_the_file_of_a_queued_run_stays_however_old(upload: Upload, mnemon: Mnemon, tenant: UUID) -> None:
    told = (await upload("Some text.")).json()
    aged(mnemon.files.upload_folder(tenant, UUID(told["run_id"])), 1000)
    await sweep_uploads(mnemon.database, mnemon.files, AGES)
    assert len(files_below(mnemon.files.uploads)) == 1


async def test_the_file_of_a_failed_run_stays_for_its_time(ingested: Ingested, mnemon: Mnemon, tenant: UUID) -> None:
    failed = await ingested(NO_TEXT)
    await sweep_uploads(mnemon.database, mnemon.files, AGES)
    assert len(files_below(mnemon.files.uploads)) == 1
    async with mnemon.database.owner() as owner:
        await owner.execute(
            "UPDATE mnemon.ingestion_runs SET finished_at = now() - interval '7 days 1 minute' WHERE run_id = %s",
            (failed["run_id"],),
        )
    await sweep_uploads(mnemon.database, mnemon.files, AGES)
    assert files_below(mnemon.files.uploads) == []


async def test_what_a_crash_left_after_success_goes_at_once(
    ingested: Ingested, mnemon: Mnemon, tenant: UUID, eventually: Eventually
) -> None:
    done = await ingested("Some text.")
    folder = mnemon.files.upload_folder(tenant, UUID(done["run_id"]))

    async def taken_away() -> bool:
        """By the worker, after the run has ended."""
        return not folder.exists()

    await eventually(taken_away)
    folder.mkdir(parents=True)
    (folder / "file.txt").write_text("Some text.")
    await sweep_uploads(mnemon.database, mnemon.files, AGES)
    assert not folder.exists()


async def test_only_a_blob_that_no_version_has_goes(ingested: Ingested, mnemon: Mnemon, tenant: UUID) -> None:
    await ingested("Some text.")
    lost = mnemon.files.take_copy(tenant, files_below(mnemon.files.blobs)[0])
    lost.path.write_text("of a run that died before its commit")
    content = "sha256:" + "ab" * 32
    mnemon.files.keep(tenant, lost.path, content)
    assert await sweep_blobs(mnemon.database, mnemon.files, orphan_hours=24) == 0
    assert await sweep_blobs(mnemon.database, mnemon.files, orphan_hours=0) == 1
    assert [blob.read_text() for blob in files_below(mnemon.files.blobs)] == ["Some text."]


async def test_foreign_files_in_the_folders_are_left_alone(mnemon: Mnemon, tenant: UUID) -> None:
    stray = mnemon.files.uploads / "not-a-tenant" / "not-a-run"
    stray.mkdir(parents=True)
    (stray / "notes.txt").write_text("mine")
    blob = mnemon.files.blobs / str(new_uuid()) / "ab" / "not-a-hash"
    blob.parent.mkdir(parents=True)
    blob.write_text("mine")
    await sweep_uploads(mnemon.database, mnemon.files, Ages(orphan_hours=0, failed_hours=0))
    await sweep_blobs(mnemon.database, mnemon.files, orphan_hours=0)
    assert (stray / "notes.txt").exists() and blob.exists()


async def test_files_of_tenants_that_are_elsewhere_are_left_alone(mnemon: Mnemon, tenant: UUID) -> None:
    """Two installations share a bucket, so that tenants move between them."""
    moved, unknown, own = new_uuid(), new_uuid(), tenant
    async with mnemon.database.owner() as owner:
        await owner.execute(
            "INSERT INTO mnemon.tenant_moves (tenant_id, slug, state, url) VALUES (%s, 'left', 'moved', 'https://two')",
            (moved,),
        )
    for one in (moved, unknown, own):
        lost = mnemon.files.take_copy(one, Path(__file__))
        mnemon.files.keep(one, lost.path, "sha256:" + "ab" * 32)
        orphan(mnemon.files, one, 25)
    await sweep_uploads(mnemon.database, mnemon.files, AGES)
    await sweep_blobs(mnemon.database, mnemon.files, orphan_hours=0)
    kept = {moved, unknown}
    assert {one for one, _, _ in mnemon.files.blobs_of_tenants()} == kept
    assert {one for one, _, age in mnemon.files.uploads_of_tenants()} >= kept
    async with mnemon.database.owner() as owner:
        await owner.execute("DELETE FROM mnemon.tenant_moves WHERE tenant_id = %s", (moved,))


def test_the_sweep_comes_by_the_clock_with_the_ages_of_the_settings() -> None:
    schedules = document_schedules(Settings(upload_cleanup_ttl_hours=5, upload_failed_ttl_days=2))
    (schedule,) = (one for one in schedules if one.kind is SWEEP)
    assert (schedule.kind, schedule.payload) == (SWEEP, Ages(orphan_hours=5, failed_hours=48))
