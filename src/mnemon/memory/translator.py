"""The translator: makes memory objects of the items that other programs hand in as `memory.item.*` events.

Delivery is at least once; each change carries a key made of its item event, so a repeat is found and left out. What
was changed later in the log than the item stays as it is.
"""

from collections.abc import Awaitable
from uuid import UUID

from mnemon.log.errors import SubjectErased
from mnemon.log.events import MAIN, Actor, Event
from mnemon.log.read.pattern import Pattern
from mnemon.log.read.streams import Filter
from mnemon.log.store import EventLog
from mnemon.log.subscribe.delivery import Delivery
from mnemon.log.subscribe.subscriptions import Subscription
from mnemon.memory.changing.change_events import Author
from mnemon.memory.changing.changes import Changed, Changes
from mnemon.memory.errors import DuplicateChange, SubjectDiffers
from mnemon.memory.events import ITEM_DELETED, ITEM_UPSERTED
from mnemon.memory.objects import MARKDOWN, MemoryObject, Place, name_of
from mnemon.memory.personal import is_erased
from mnemon.memory.reading import Reading
from mnemon.telemetry import counter

SUBSCRIPTION = "memory-translator"
CHANNEL = "translator"
WANTED = Subscription(SUBSCRIPTION, "translator", pattern=Pattern(types=[ITEM_UPSERTED.type, ITEM_DELETED.type]))
TRANSLATED = counter("mnemon_memory_translated_items_total", "Items that became changes of memory objects.")


class Translator:
    """Follows the items of every tenant, in order."""

    def __init__(self, log: EventLog, reading: Reading, changes: Changes) -> None:
        self._log = log
        self._reading = reading
        self._changes = changes
        self._subscribed: set[UUID] = set()

    async def catch_up(self, tenant: UUID) -> None:
        """Translate what is there now."""
        if tenant not in self._subscribed:
            await self._log.subscriptions.add(tenant, WANTED)
            self._subscribed.add(tenant)
        await Delivery(self._log, tenant, SUBSCRIPTION, self.translate).catch_up()

    async def translate(self, event: Event) -> None:
        data = event.data
        place = Place(UUID(data["world_id"]) if "world_id" in data else event.tenant_id, data.get("branch", MAIN))
        emo_id = object_of_item(place, data["item_id"])
        _, seen = await self._reading.find(event.tenant_id, place, emo_id)
        if seen is not None and await self._is_newer(seen, event):
            return
        if seen is not None:
            _refuse_other_subject(seen, event)
        if event.type == ITEM_DELETED.type:
            if seen is not None and not seen.deleted:
                reason = data.get("reason", "")
                author = _author(event, "deleted")
                await _once(self._changes.delete(event.tenant_id, place, author, emo_id, reason=reason))
            return
        if is_erased(data["content"]):
            return
        if seen is None:
            await self._create(event, place, emo_id)
            return
        if seen.deleted:
            await _once(self._changes.restore(event.tenant_id, place, _author(event, "restored"), emo_id))
        await _once(
            self._changes.update(
                event.tenant_id,
                place,
                _author(event, "upserted"),
                emo_id,
                content=data["content"],
                tags=data.get("tags", ()),
                rationale=data.get("reason"),
            )
        )

    async def _is_newer(self, seen: MemoryObject, event: Event) -> bool:
        """Whether the object was last changed by something that stands later in the log than the item."""
        if seen.sequence < event.sequence:
            return False
        here = Filter(from_sequence=seen.sequence, to_sequence=seen.sequence)
        [last] = (await self._log.read_page(event.tenant_id, wanted=here, limit=1)).events
        if last.caused_by is None or last.envelope["source"]["channel"] != CHANNEL:
            return True
        return (await self._log.read_event(event.tenant_id, last.caused_by)).sequence > event.sequence

    async def _create(self, event: Event, place: Place, emo_id: UUID) -> None:
        data = event.data
        source = data.get("source", {})
        await _once(
            self._changes.create(
                event.tenant_id,
                place,
                _author(event, "upserted"),
                emo_id=emo_id,
                content=data["content"],
                emo_type=data.get("emo_type", "note"),
                mime_type=data.get("mime_type", MARKDOWN),
                tags=data.get("tags", ()),
                source_kind=source.get("kind"),
                source_uri=source.get("uri"),
                rationale=data.get("reason"),
                subject_id=data.get("subject_id"),
            )
        )


def _refuse_other_subject(seen: MemoryObject, event: Event) -> None:
    """An object is about one person from its beginning: another's text in it would not be erased with them."""
    named = event.data.get("subject_id")
    if named is not None and named != seen.subject_id:
        raise SubjectDiffers(
            f"The item {event.data['item_id']} is about {named}, and the object {seen.emo_id} that it was kept as is "
            f"about {seen.subject_id or 'nobody'}: hand it in under another item_id.",
            emo_id=str(seen.emo_id),
        )


def object_of_item(place: Place, item_id: str) -> UUID:
    """An item whose id is a UUID keeps it; any other gets one made of its name."""
    try:
        return UUID(item_id)
    except ValueError:
        return name_of(place.world_id, "item", item_id)


def _author(event: Event, part: str) -> Author:
    """Who handed the item in is who changes the object."""
    actor = event.envelope["actor"]
    return Author(
        Actor(actor["type"], actor["id"]),
        CHANNEL,
        key=f"{event.id}:{part}",
        caused_by=event.id,
        correlation_id=event.correlation_id,
    )


async def _once(change: Awaitable[Changed]) -> None:
    try:
        done = await change
    except (DuplicateChange, SubjectErased):
        # Done before; or about a person who was erased meanwhile, and of whom nothing is to be kept.
        return
    if done.appended is not None:
        TRANSLATED.inc()
