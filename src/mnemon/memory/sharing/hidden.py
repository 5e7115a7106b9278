"""Which objects are not for a reader."""

from collections.abc import Iterable
from uuid import UUID

from mnemon.db.database import Connection

HIDDEN = """
SELECT DISTINCT c.emo_id FROM mnemon.emo_current c
 WHERE c.tenant_id = mnemon.current_tenant() AND c.world_id = %s AND c.readers IS NOT NULL
   AND (%s::uuid[] IS NULL OR c.emo_id = ANY (%s)) AND NOT mnemon.may_read(c.readers)
"""


async def hidden_objects(connection: Connection, world: UUID, ids: Iterable[UUID] | None = None) -> set[UUID]:
    """Those of a world, or of these, that the reader of the transaction may not see."""
    asked = None if ids is None else list(ids)
    rows = await (await connection.execute(HIDDEN, (world, asked, asked))).fetchall()
    return {row["emo_id"] for row in rows}
