"""Live lenses: folded when they are asked for, from the last snapshot and the events since."""

from uuid import UUID

from mnemon.log.project.lens import FoldState, LiveLens
from mnemon.log.project.snapshots import Snapshots
from mnemon.log.read.pattern import find_next
from mnemon.log.store import EventLog

BATCH = 1000


class LiveStates:
    """Reads live lenses."""

    def __init__(self, events: EventLog) -> None:
        self._events = events
        self._snapshots = Snapshots(events.database)

    async def read(self, tenant: UUID, lens: LiveLens) -> FoldState:
        """The fold of everything that is committed now; saved for the next reader once enough has been added."""
        epoch = await self._snapshots.epoch(tenant)
        snapshot = await self._snapshots.load(tenant, lens.name, version=lens.version)
        state = snapshot.state if snapshot else lens.initial()
        positions = dict(snapshot.positions) if snapshot else {}
        passed = 0
        for partition in await self._events.list_partitions(tenant):
            if not lens.pattern.wants_partition(partition.legal_entity):
                continue
            start = position = positions.get(partition.partition_id, 0)
            while position < partition.sequence:
                found = await find_next(
                    self._events.reader, tenant, lens.pattern, (partition.partition_id, partition.legal_entity),
                    after=position, head=partition.sequence, limit=BATCH,
                )  # fmt: skip
                for event in found.events:
                    state = lens.fold(state, event)
                position = found.searched_to
            positions[partition.partition_id] = position
            passed += position - start
        if passed >= lens.snapshot_every:
            await self._snapshots.save(
                tenant, lens.name, state, positions, epoch=epoch, version=lens.version,
                events=sum(positions.values()), personal=lens.personal,
            )  # fmt: skip
        return state
