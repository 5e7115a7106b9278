"""What is attached to mail becomes documents of its own, for the same readers, and goes with its message."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.log.events import SYSTEM
from tests.mail.conftest import Imported, message, write_mbox
from tests.work.conftest import Eventually

pytestmark = pytest.mark.usefixtures("mail_worker")
DOCUMENTS = """
SELECT d.doc_id, d.title, d.source_uri, d.readers, d.purged_at FROM mnemon.documents d
 WHERE d.source_type <> 'mail' ORDER BY d.source_uri
"""


async def test_attachments_are_handed_to_the_intake_and_purged_with_their_message(
    mnemon: Mnemon, tenant: UUID, imported: Imported, tmp_path: Path, eventually: Eventually
) -> None:
    mail = message(1, "The figures are attached.\n")
    mail.add_attachment("Quartz is mined in Lyon.\n", filename="report.txt")
    mail.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="logo.png")
    mail.add_attachment(b"# Plan\n\nFrom here to there.\n", maintype="text", subtype="markdown", filename="plan.md")
    await imported(write_mbox(tmp_path / "x.mbox", [mail, message(2, "Nothing.\n", to=1)]))

    async def documents() -> list[dict[str, Any]]:
        async with mnemon.database.transaction(tenant) as tx:
            return await (await tx.execute(DOCUMENTS)).fetchall()

    async def both() -> list[dict[str, Any]] | None:
        found = await documents()
        return found if len(found) == 2 else None

    found = await eventually(both)
    assert [one["title"] for one in found] == ["report.txt", "plan.md"]
    async with mnemon.database.transaction(tenant) as tx:
        rows = await (await tx.execute("SELECT doc_id, message_key, attachments FROM mnemon.mail_messages")).fetchall()
    [shown] = [row for row in rows if row["attachments"]]
    assert [one["name"] for one in shown["attachments"]] == ["report.txt", "logo.png", "plan.md"]
    assert {one["source_uri"].rpartition("/")[0] for one in found} == {f"mail://{shown['message_key']}"}
    await mnemon.purge_document(tenant, SYSTEM, shown["doc_id"])
    assert all(one["purged_at"] for one in await documents())
