"""Uploads and blobs in a bucket, so that no machine owns them; the folders here are a copy that may be lost."""

import contextlib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from mnemon.bucket_versions import remove_below, remove_earlier, remove_for_good
from mnemon.buckets import ObjectBucket, ObjectGone
from mnemon.documents.intake.files import HASH, PACKS, Files, Incoming, Received, uuid_or_none
from mnemon.ids import new_uuid

UPLOAD = re.compile(r"uploads/([0-9a-f-]{36})/([0-9a-f-]{36})/.+")
BLOB = re.compile(r"blobs/([0-9a-f-]{36})/[0-9a-f]{2}/([0-9a-f]{64})")

# How the note beside a copy of a shared file ends.
NOTE = ".etag"


class BucketIncoming(Incoming):
    """Complete once the bucket has it: a worker on another machine reads it from there."""

    def __init__(self, path: Path, run_id: UUID, filename: str, limit: int, bucket: ObjectBucket, key: str) -> None:
        super().__init__(path, run_id, filename, limit)
        self._place = path
        self._bucket = bucket
        self._key = key

    def complete(self, last: bytes = b"") -> Received:
        received = super().complete(last)
        self._bucket.write_file(self._key, self._place)
        return received


@dataclass(frozen=True)
class BucketFiles(Files):
    """The same files, kept in a bucket under the same names."""

    bucket: ObjectBucket

    def incoming(self, tenant: UUID, path: Path, run_id: UUID, name: str) -> Incoming:
        key = f"uploads/{tenant}/{run_id}/{path.name}"
        return BucketIncoming(path, run_id, name, self.largest, self.bucket, key)

    def upload(self, tenant: UUID, run_id: UUID) -> Path | None:
        here = super().upload(tenant, run_id)
        if here is not None:
            return here
        for page in self.bucket.pages(f"uploads/{tenant}/{run_id}/"):
            for one in page:
                return self._fetch(one.key, self.upload_folder(tenant, run_id) / one.key.rpartition("/")[2])
        return None

    def discard_upload(self, tenant: UUID, run_id: UUID) -> None:
        super().discard_upload(tenant, run_id)
        remove_below(self.bucket, f"uploads/{tenant}/{run_id}/")

    def keep(self, tenant: UUID, upload: Path, content_hash: str) -> Path:
        blob = super().keep(tenant, upload, content_hash)
        known = self.bucket.state(_key(tenant, blob))
        if known is None or known.size != blob.stat().st_size:
            self.bucket.write_file(_key(tenant, blob), blob)
        return blob

    def fetched_blob(self, tenant: UUID, content_hash: str) -> Path:
        blob = self.blob(tenant, content_hash)
        if not blob.exists():
            with contextlib.suppress(ObjectGone):
                self._fetch(_key(tenant, blob), blob)
        return blob

    def discard_blob(self, tenant: UUID, content_hash: str) -> None:
        super().discard_blob(tenant, content_hash)
        remove_for_good(self.bucket, _key(tenant, self.blob(tenant, content_hash)))

    def share(self, kept: Path) -> None:
        """What it was before is gone with this: a mail that was purged must not be left in an earlier version."""
        self.bucket.write_file(self._shared_key(kept), kept)
        remove_earlier(self.bucket, self._shared_key(kept))
        self._note(kept)

    def shared(self, kept: Path) -> Path:
        """A copy is good while the bucket has the same: a purge on another machine changes bytes and no length."""
        known = self.bucket.state(self._shared_key(kept))
        if known is None and _noted(kept):
            # It was there: somebody discarded it, and the copy goes too.
            super().discard_shared(kept)
            _note_of(kept).unlink(missing_ok=True)
        elif known is None and kept.exists():
            # Kept here before there was a bucket.
            self.share(kept)
        elif known is not None and not (kept.exists() and _noted(kept) == known.etag):
            self._fetch(self._shared_key(kept), kept)
            self._note(kept, known.etag)
        elif known is not None:
            # Asked for now: the sweep leaves it here for another while.
            _note_of(kept).touch()
        return kept

    def discard_shared(self, kept: Path) -> None:
        super().discard_shared(kept)
        _note_of(kept).unlink(missing_ok=True)
        remove_for_good(self.bucket, self._shared_key(kept))

    def _shared_key(self, kept: Path) -> str:
        return f"blobs/{kept.relative_to(self.blobs).as_posix()}"

    def _note(self, kept: Path, etag: str | None = None) -> None:
        state = None if etag else self.bucket.state(self._shared_key(kept))
        _note_of(kept).write_text(etag or (state.etag if state else ""))

    def tenants_with_copies(self) -> list[UUID]:
        folders = sorted(self.blobs.iterdir()) if self.blobs.is_dir() else []
        return [tenant for folder in folders if (tenant := uuid_or_none(folder.name))]

    def unshared_blobs(self, tenant: UUID) -> list[str]:
        here = {content for _, content, _ in super().blobs_of(tenant)}
        return sorted(here - {content for _, content, _ in self.blobs_of(tenant)}) if here else []

    def share_blob(self, tenant: UUID, content_hash: str) -> None:
        blob = self.blob(tenant, content_hash)
        self.bucket.write_file(_key(tenant, blob), blob)

    def share_packs(self, tenant: UUID) -> None:
        for kept in (self.blobs / str(tenant) / PACKS).glob("[!.]*"):
            if not _noted(kept):
                self.shared(kept)

    def uploads_of_tenants(self) -> Iterator[tuple[UUID, UUID, float]]:
        for page in self.bucket.pages("uploads/"):
            for one in page:
                if found := UPLOAD.fullmatch(one.key):
                    yield UUID(found[1]), UUID(found[2]), one.modified.timestamp()

    def blobs_of_tenants(self) -> Iterator[tuple[UUID, str, float]]:
        yield from self._blobs("blobs/")

    def blobs_of(self, tenant: UUID) -> Iterator[tuple[UUID, str, float]]:
        yield from self._blobs(f"blobs/{tenant}/")

    def _blobs(self, below: str) -> Iterator[tuple[UUID, str, float]]:
        for page in self.bucket.pages(below):
            for one in page:
                if found := BLOB.fullmatch(one.key):
                    yield UUID(found[1]), f"sha256:{found[2]}", one.modified.timestamp()

    def discard_parts(self, before: float, spared: Collection[UUID] = ()) -> None:
        """Copies that were not asked for in a while go too: the bucket has them."""
        super().discard_parts(before)
        kept = {str(tenant) for tenant in spared}
        for copy in self.blobs.glob("*/??/*") if self.blobs.is_dir() else ():
            is_copy = HASH.fullmatch(f"sha256:{copy.name}") and copy.parts[-3] not in kept
            if is_copy and copy.stat().st_ctime < before:
                copy.unlink(missing_ok=True)
        # Only what is noted is in the bucket for sure.
        for note in self.blobs.glob(f"*/*/*{NOTE}") if self.blobs.is_dir() else ():
            if note.stat().st_mtime < before:
                note.with_name(note.name[1:].removesuffix(NOTE)).unlink(missing_ok=True)
                note.unlink(missing_ok=True)

    def _fetch(self, key: str, target: Path) -> Path:
        """Complete under a name of its own, then renamed. What it holds is checked by whoever reads it."""
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.{new_uuid().hex}")
        try:
            with part.open("xb") as writing:
                self.bucket.read(key, writing.write)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        return target


def _key(tenant: UUID, blob: Path) -> str:
    return f"blobs/{tenant}/{blob.name[:2]}/{blob.name}"


def _note_of(kept: Path) -> Path:
    """Beside a copy: which state of the bucket's object it is."""
    return kept.with_name(f".{kept.name}{NOTE}")


def _noted(kept: Path) -> str:
    note = _note_of(kept)
    return note.read_text() if note.exists() else ""
