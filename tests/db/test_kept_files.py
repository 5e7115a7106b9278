"""Files are packed into a backup as they are; one that is not what its name says is told of."""

import hashlib
import io
import tarfile
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from mnemon.db.kept_files import pack_files


@pytest.mark.parametrize(("content", "told"), [(b"as it came in", []), (b"changed", ["backup_file_was_changed"])])
def test_a_file_that_was_changed_is_told_of_and_kept(tmp_path: Path, content: bytes, told: list[str]) -> None:
    name = hashlib.sha256(b"as it came in").hexdigest()
    (tmp_path / name).write_bytes(content)
    (tmp_path / "notes.md").write_bytes(b"named by a person")
    with capture_logs() as logs, tarfile.open(fileobj=io.BytesIO(), mode="w") as archive:
        kept = pack_files(archive, {"blobs": tmp_path})
    assert kept.files == 2
    assert [one["event"] for one in logs] == told
    assert all(one["file"] == f"files/blobs/{name}" for one in logs)
