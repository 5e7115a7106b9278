"""What speaks against a change: its key was used before, its id is taken, or what it relates to is not there."""

from collections.abc import Sequence
from uuid import UUID

from mnemon.errors import InvalidRequest
from mnemon.log.store import EventLog
from mnemon.memory.changing.change_events import Author, change_id_of, duplicate, shared_change_id_of
from mnemon.memory.objects import Link, Parent, Place
from mnemon.memory.reading import Reading
from mnemon.memory.sharing.hidden import version_of_others

CHANGE_MADE = """
SELECT emo_id, emo_version FROM mnemon.emo_history
 WHERE tenant_id = %(tenant)s AND world_id = %(world)s AND branch = %(branch)s
   AND (change_id = ANY(%(own)s)
        OR (change_id = %(shared)s OR idempotency_key = %(key)s) AND (readers IS NULL OR owner = ANY(%(owners)s)))
 LIMIT 1
"""


class ChangeChecks:
    """Asked before a change is appended."""

    def __init__(self, log: EventLog, reading: Reading) -> None:
        self._log = log
        self._reading = reading

    async def refuse_repeat(self, tenant: UUID, place: Place, author: Author) -> None:
        """A key that was used before stands for what it made."""
        if author.key is None:
            return
        async with self._log.database.transaction(tenant) as connection:
            values = {"tenant": tenant, "world": place.world_id, "branch": place.branch}
            owners = list(author.reader.names)
            values |= {"own": [change_id_of(tenant, place, author, one) for one in owners], "key": author.key}
            values |= {"shared": shared_change_id_of(tenant, place, author), "owners": owners}
            row = await (await connection.execute(CHANGE_MADE, values)).fetchone()
        if row is not None:
            raise duplicate(row["emo_id"], row["emo_version"])

    async def refuse_taken(self, tenant: UUID, place: Place, emo_id: UUID, owner: str | None) -> None:
        view, there = await self._reading.find(tenant, place, emo_id)
        view.refuse_changes_if_closed()
        if there is not None:
            raise duplicate(emo_id, there.emo_version)
        # Whom it is shared with holds in every branch: whoever took the id of another's object could share that.
        async with self._log.database.transaction(tenant) as connection:
            taken = await version_of_others(connection, place.world_id, emo_id, owner)
        if taken is not None:
            raise duplicate(emo_id, taken)

    async def refuse_targets(
        self, tenant: UUID, place: Place, author: Author, emo_id: UUID, parents: Sequence[Parent], links: Sequence[Link]
    ) -> None:
        """Relations lead to objects that the branch shows, and never to the object itself."""
        targets = [one.emo_id for one in parents] + [UUID(one.ref) for one in links if one.kind == "emo"]
        if emo_id in targets:
            raise InvalidRequest(f"{emo_id} cannot be related to itself.", emo_id=str(emo_id))
        for target in targets:
            _, found = await self._reading.find(tenant, place, target)
            if found is None or found.deleted or not found.scope.is_for(author.reader):
                raise InvalidRequest(
                    f"{target} is no object of the branch {place.branch}: relate to one that is.", emo_id=str(target)
                )
