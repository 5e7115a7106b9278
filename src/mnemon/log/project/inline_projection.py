"""Projecting inline: a lens as the writer of the log calls it, in the transaction of the append."""

from collections.abc import Sequence
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.events import Event
from mnemon.log.project.lens import Lens, lock_key
from mnemon.log.project.lens_states import has_nothing_in, record_in, version_in
from mnemon.log.project.partition_projection import WRITE_LOCK
from mnemon.log.store import EventLog


class InlineProjection:
    """One lens, written with the events that it wants."""

    def __init__(self, events: EventLog, lens: Lens) -> None:
        self._events = events
        self._lens = lens
        self.types = frozenset(lens.pattern.types) or None
        # Tenants of which it is known what version the rows are of, or that they have to be made anew.
        self._begun: set[UUID] = set()

    async def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        wanted = [event for event in events if self._lens.pattern.fits(event)]
        if not wanted:
            return
        tenant = wanted[0].tenant_id
        await connection.execute(WRITE_LOCK, (lock_key(self._lens.name, tenant),))
        if tenant not in self._begun:
            await self._begin(connection, tenant, wanted[0])
        # Data in the newest version of its type, as a rebuild would see it.
        lift = self._events.registry.lifter(tenant)
        await self._lens.apply(connection, [event.lifted_by(lift) for event in wanted], self._lens.real_tables)

    async def _begin(self, connection: Connection, tenant: UUID, first: Event) -> None:
        """Record the version with a tenant's first rows, so that they are not made anew at the next start."""
        if await version_in(connection, tenant, self._lens.name) is None and await has_nothing_in(
            connection, tenant, self._lens, before=first
        ):
            # Not known yet: the transaction may be rolled back.
            await record_in(connection, tenant, self._lens)
        else:
            self._begun.add(tenant)
