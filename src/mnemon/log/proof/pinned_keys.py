"""Pinned keys: which keys may sign a tenant's checkpoints, by the log and by the database, and what contradicts them.

The first key is pinned when the tenant is added, or at its first checkpoint. Each later one is announced by the one
before it, and that announcement is an event of the tenant's log.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from uuid import UUID

from psycopg.types.json import Json

from mnemon.db.database import Connection
from mnemon.log.errors import CheckpointRefused
from mnemon.log.events import SYSTEM, EntityReference, Event, NewEvent
from mnemon.log.proof.handover import Handover
from mnemon.log.read.reader import LogReader
from mnemon.log.read.streams import Stream
from mnemon.log.store import EventLog
from mnemon.log.types.builtin import KEY_PINNED

PINNED = "SELECT number, public_key, handover FROM mnemon.signing_keys WHERE tenant_id = %s ORDER BY number"
PIN = """
INSERT INTO mnemon.signing_keys (tenant_id, number, public_key, handover) VALUES (%s, %s, %s, %s)
ON CONFLICT DO NOTHING
"""
# The field of an event's data that names the key; identity adds the type of the event that begins a tenant's log.
FIELD = "signing_key"
PINNING_TYPES = {KEY_PINNED.type}


@dataclass(frozen=True, slots=True)
class PinnedKey:
    """A key, and what the one before it signed to announce it; `sequence` of the event that says so, if one does."""

    public_key: str
    handover: Handover | None
    sequence: int = 0


async def pinned_in(connection: Connection, tenant: UUID) -> list[PinnedKey]:
    """By the database."""
    rows = await (await connection.execute(PINNED, (tenant,))).fetchall()
    return [PinnedKey(row["public_key"], _handover(row["handover"])) for row in rows]


async def pin_in(connection: Connection, tenant: UUID, public_key: str, announced: Sequence[Handover]) -> None:
    """Pin the first key of a tenant, or those that the last one leads to; refuse any other."""
    known = await pinned_in(connection, tenant)
    if not known:
        await connection.execute(PIN, (tenant, 1, public_key, None))
        return
    number, last = len(known), known[-1].public_key
    for one in announced:
        if one.public_key == last != public_key and one.holds:
            number, last = number + 1, one.next_key
            await connection.execute(PIN, (tenant, number, last, Json(one.as_json())))
    if last != public_key:
        raise CheckpointRefused(
            f"This home signs with the key {public_key}, but {last} is pinned and announced no other: put the folder "
            "`keys` of the home back, share the home of the other gateway by MNEMON_HOME_STORE, or take the new key in "
            "with `mnemon log adopt-key`.",
            public_key=public_key,
        )


async def adopt_in(connection: Connection, tenant: UUID, public_key: str) -> bool:
    """Pin a key that no other announced, on the word of whoever owns the machine; False if it is the last already."""
    known = await pinned_in(connection, tenant)
    if known and known[-1].public_key == public_key:
        return False
    await connection.execute(PIN, (tenant, len(known) + 1, public_key, None))
    return True


async def pinned_by_log(reader: LogReader, tenant: UUID) -> list[PinnedKey]:
    """By the log, in its order."""
    events: list[Event] = []
    for name in sorted(PINNING_TYPES):
        events += (await reader.page(tenant, Stream.of_type(name), limit=1000)).events
    told = sorted((one for one in events if one.data.get(FIELD)), key=lambda one: one.sequence)
    return [PinnedKey(one.data[FIELD], _handover(one.data.get("handover")), one.sequence) for one in told]


async def announce(log: EventLog, tenant: UUID) -> int:
    """Record in the tenant's log each pinned key that it does not name yet; how many."""
    async with log.database.transaction(tenant) as connection:
        known = await pinned_in(connection, tenant)
    said = {one.public_key for one in await pinned_by_log(log.reader, tenant)}
    missing = [one for one in known if one.public_key not in said]
    if missing:
        await log.append(tenant, [_event(one) for one in missing])
    return len(missing)


def key_faults(
    by_log: Sequence[PinnedKey], by_database: Sequence[PinnedKey], signers: Iterable[str], told: str | None = None
) -> Iterator[tuple[int, str]]:
    """What is wrong with a tenant's keys, as (sequence, reason). `told` is a key known by another way than these."""
    for before, one in pairwise(by_log):
        if not _leads(before, one) and told not in {later.public_key for later in by_log[by_log.index(one) :]}:
            yield one.sequence, f"The key {one.public_key} took the place of {before.public_key} without its word."
    said, kept = [one.public_key for one in by_log], [one.public_key for one in by_database]
    if kept[: len(said)] != said:
        yield 0, "The keys that the database has pinned are not those that the log names."
    for before, one in pairwise(by_database):
        if one.public_key not in said and not _leads(before, one):
            yield 0, f"The key {one.public_key} is pinned in the database without the word of the one before it."
    trusted = {*said, *kept}
    if told is not None and trusted and told not in trusted:
        yield 0, f"The key that you were told, {told}, is none of those that are pinned."
    for signer in sorted(set(signers) - trusted if trusted else ()):
        yield 0, f"Checkpoints were signed with {signer}, which is not pinned."


def leads_to(known: Sequence[PinnedKey], announced: Iterable[Handover], public_key: str) -> bool:
    """Whether this key is pinned last, or will be at the next checkpoint by the word of those before it."""
    last = known[-1].public_key if known else public_key
    for one in announced:
        if one.public_key == last != public_key and one.holds:
            last = one.next_key
    return last == public_key


def _leads(before: PinnedKey, one: PinnedKey) -> bool:
    word = one.handover
    if word is None or not word.holds:
        return False
    return word.public_key == before.public_key and word.next_key == one.public_key


def _event(one: PinnedKey) -> NewEvent:
    data: dict[str, object] = {FIELD: one.public_key}
    if one.handover is not None:
        data["handover"] = asdict(one.handover)
    return NewEvent(
        type=KEY_PINNED.type, data=data, actor=SYSTEM, entities=[EntityReference("signing_key", one.public_key)]
    )


def _handover(said: dict[str, str] | None) -> Handover | None:
    return Handover(**said) if said else None
