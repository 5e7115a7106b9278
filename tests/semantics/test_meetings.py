"""Real meetings through the whole stored path: every quote in the tables stands in the stored text."""

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.semantics.artifacts import NewArtifact, ingest_artifact
from mnemon.semantics.audit import verify_evidence
from tests.documents.conftest import rows
from tests.semantics.conftest import ADA

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from meeting_texts import meeting_texts  # noqa: E402

FOLDER = Path(os.environ.get("MNEMON_EVAL_DATA") or ROOT.parent / "shared" / "eval") / "explainmeetsum"
MEETINGS = 6
STORED = """
SELECT g.start_char, g.end_char, g.quote, t.text
  FROM mnemon.event_evidence g
  JOIN mnemon.revision_texts t ON t.tenant_id = g.tenant_id AND t.doc_version_id = g.doc_version_id
 WHERE g.tenant_id = mnemon.current_tenant()
"""


@pytest.mark.slow
@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no meetings in {FOLDER}: set MNEMON_EVAL_DATA to the folder above")
async def test_every_stored_quote_of_a_meeting_is_its_text_at_that_place(
    mnemon: Mnemon, tenant: UUID, all_done: Callable[[], Awaitable[None]]
) -> None:
    for number, text in enumerate(meeting_texts(FOLDER, MEETINGS)):
        new = NewArtifact(artifact_type="transcript", source_system="meetings", source_id=str(number), content=text)
        await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)
    await all_done()

    stored = await rows(mnemon, tenant, STORED)
    assert len(stored) > 10 * MEETINGS
    assert all(row["text"][row["start_char"] : row["end_char"]] == row["quote"] for row in stored)
    audited = await verify_evidence(mnemon.database, tenant)
    assert (audited.quotes, audited.broken) == (len(stored), [])
