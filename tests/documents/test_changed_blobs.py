"""A stored file that is not what its name says is not served, not read, and gets its content back on an upload."""

from pathlib import Path
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.documents.errors import FileChanged
from tests.api.conftest import Person

from .conftest import Ingested, Upload

TEXT = "We decided to ship on Friday."


@pytest.fixture
async def blob(mnemon: Mnemon, ingested: Ingested) -> Path:
    await ingested(TEXT)
    [blob] = (mnemon.files.blobs).glob("*/??/*")
    return blob


async def test_a_changed_file_is_not_served_until_it_is_uploaded_again(
    mnemon: Mnemon, client: httpx.AsyncClient, user: Person, blob: Path, upload: Upload
) -> None:
    [document] = (await client.get("/v1/documents", headers=user.headers)).json()["items"]
    address = f"/v1/documents/{document['doc_id']}/download"
    assert (await client.get(address, headers=user.headers)).text == TEXT
    blob.write_text(TEXT.replace("Friday", "Monday"))
    refused = await client.get(address, headers=user.headers)
    assert (refused.status_code, refused.json()["error_code"]) == (409, "FILE_CHANGED")
    assert (await upload(TEXT)).json()["status"] == "skipped"
    assert blob.read_text() == TEXT
    assert (await client.get(address, headers=user.headers)).text == TEXT


async def test_a_changed_file_is_not_read_again(mnemon: Mnemon, blob: Path) -> None:
    blob.write_text("something else")
    with pytest.raises(FileChanged, match="was changed since it was taken in"):
        mnemon.files.intact_blob(UUID(blob.parents[1].name), f"sha256:{blob.name}", "missing")
