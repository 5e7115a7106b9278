"""What a move that was given up has left in the database that the tenant never came to."""

from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import Database, connect
from mnemon.db.tenant_copy import prepare_connection
from mnemon.db.tenant_tables import tenant_tables
from mnemon.errors import NotFound
from mnemon.identity.tenant_moves import clear_rows, copying_conninfo, take_turns

COPY_OF = "SELECT tenant_id, url, partitions FROM mnemon.tenant_moves WHERE slug = %s AND state = 'arriving'"
# One that was on its way back is where it went to, as before.
STILL_ELSEWHERE = "UPDATE mnemon.tenant_moves SET state = 'moved', changed_at = now() WHERE tenant_id = %s"
NEVER_HERE = "DELETE FROM mnemon.tenant_moves WHERE tenant_id = %s"


@dataclass(frozen=True)
class CopyDiscarded:
    """Whose copy it was."""

    tenant_id: UUID
    slug: str


async def discard_copy(database: Database, slug: str) -> CopyDiscarded:
    """Remove it: who is forgotten where the tenant is must not be found here. Where the other database is not sure
    whether the tenant has opened here, it is told as before that it has not."""
    async with await connect(database.server, copying_conninfo(database)) as here:
        await take_turns(here)
        await prepare_connection(here)
        copy = await (await here.execute(COPY_OF, (slug,))).fetchone()
        if copy is None:
            raise NotFound(f"Nothing of a tenant {slug!r} that never arrived is in this database.")
        await clear_rows(here, copy["tenant_id"], await tenant_tables(here), copy["partitions"].values())
        await here.execute(STILL_ELSEWHERE if copy["url"] else NEVER_HERE, (copy["tenant_id"],))
    return CopyDiscarded(copy["tenant_id"], slug)
