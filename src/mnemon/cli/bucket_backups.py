"""Backups in a bucket: written here first and sent whole, fetched whole before they are read."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from mnemon.buckets import BucketAddress, ObjectBucket
from mnemon.errors import BackupFailed

SCHEME = "s3://"


def place_of(name: str, store: str | None) -> str:
    """A name alone is one in the bucket that the settings have for backups; whatever has a slash is meant as it is."""
    if store is None or "/" in name:
        return name
    address, question, options = store.partition("?")
    return f"{address.rstrip('/')}/{name}{question}{options}"


@contextmanager
def backup_to(place: str) -> Iterator[Path]:
    """A file to write the backup to; once it is there, it goes to the bucket if the place is one."""
    if not place.startswith(SCHEME):
        yield Path(place).absolute()
        return
    bucket, key = _named(place)
    if bucket.state(key) is not None:
        raise BackupFailed(f"{place} is there already: give another name.")
    with tempfile.TemporaryDirectory(prefix="mnemon-backup-") as folder:
        file = Path(folder) / "backup"
        yield file
        bucket.write_file(key, file)


@contextmanager
def backup_from(place: str) -> Iterator[Path]:
    if not place.startswith(SCHEME):
        yield Path(place).absolute()
        return
    bucket, key = _named(place)
    with tempfile.TemporaryDirectory(prefix="mnemon-backup-") as folder:
        file = Path(folder) / "backup"
        with file.open("wb") as output:
            bucket.read(key, output.write)
        yield file


def _named(place: str) -> tuple[ObjectBucket, str]:
    address = BucketAddress.parse(place, "The place of the backup")
    key = address.prefix.rstrip("/")
    if not key:
        raise BackupFailed(f"{place} names no object: give s3://bucket/name.backup.")
    return ObjectBucket(replace(address, prefix="")), key
