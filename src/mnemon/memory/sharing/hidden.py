"""Which objects are not for a reader."""

from collections.abc import Iterable
from uuid import UUID

from mnemon.db.database import Connection

HIDDEN = """
SELECT DISTINCT c.emo_id FROM mnemon.emo_current c
 WHERE c.tenant_id = mnemon.current_tenant() AND c.world_id = %s AND c.readers IS NOT NULL
   AND (%s::uuid[] IS NULL OR c.emo_id = ANY (%s)) AND NOT mnemon.may_read(c.readers)
"""
ABOUT = """
SELECT DISTINCT c.emo_id FROM mnemon.emo_current c
 WHERE c.tenant_id = mnemon.current_tenant() AND c.subject_id = %s AND c.readers IS NOT NULL
   AND NOT mnemon.may_read(c.readers)
"""
OF_OTHERS = """
SELECT emo_version FROM mnemon.emo_current
 WHERE tenant_id = mnemon.current_tenant() AND world_id = %s AND emo_id = %s AND owner IS DISTINCT FROM %s LIMIT 1
"""


async def hidden_objects(connection: Connection, world: UUID, ids: Iterable[UUID] | None = None) -> set[UUID]:
    """Those of a world, or of these, that the reader of the transaction may not see."""
    asked = None if ids is None else list(ids)
    rows = await (await connection.execute(HIDDEN, (world, asked, asked))).fetchall()
    return {row["emo_id"] for row in rows}


async def hidden_about(connection: Connection, subject_id: str) -> set[UUID]:
    """Those about a person, in any world, that the reader of the transaction may not see."""
    rows = await (await connection.execute(ABOUT, (subject_id,))).fetchall()
    return {row["emo_id"] for row in rows}


async def version_of_others(connection: Connection, world: UUID, emo_id: UUID, owner: str | None) -> int | None:
    """The version of an object of this id that belongs to someone else, in whichever branch."""
    row = await (await connection.execute(OF_OTHERS, (world, emo_id, owner))).fetchone()
    return row["emo_version"] if row else None
