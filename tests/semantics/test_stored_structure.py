"""Extraction reads the structure that was stored with the revision, whichever way the text came in."""

from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.documents.ingest.revision_texts import read_text
from mnemon.documents.structure import stored
from mnemon.documents.structure.stored import load_structure
from mnemon.semantics.artifacts import NewArtifact, ingest_artifact
from mnemon.semantics.extract.source import read_source
from tests.documents.conftest import rows
from tests.semantics.conftest import ADA, Added

Done = Callable[[], Awaitable[None]]
CHAT = "[02/03/2026, 10:32] Wanjiku: I will order the batteries\n[14/03/2026, 09:01] Ann: thanks\n"


@pytest.mark.parametrize("way", ["text", "file"])
async def test_what_was_stored_is_what_is_read(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "text":
        new = NewArtifact(artifact_type="chat", source_system="test", content=CHAT, participants=("Zaphod",))
        await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)
    else:
        await added(CHAT, "chat.txt")
    await all_done()
    (row,) = await rows(mnemon, tenant, "SELECT doc_version_id FROM mnemon.document_revisions")
    async with mnemon.database.transaction(tenant) as tx:
        kept = load_structure((await read_text(tx, row["doc_version_id"])).stored)
    assert kept is not None
    assert [(part.speaker, CHAT[part.start : part.end]) for part in kept.parts] == [
        ("Wanjiku", "I will order the batteries"),
        ("Ann", "thanks"),
    ]
    monkeypatch.setattr(stored, "read_structure", lambda *_: pytest.fail("it was read once, when it was stored"))
    source = await read_source(mnemon.database, tenant, row["doc_version_id"], mnemon.settings)
    assert source.revision.structure == kept
    (event,) = await rows(mnemon, tenant, "SELECT actors FROM mnemon.semantic_events")
    assert "Wanjiku" in str(event["actors"])
