"""Moving a tenant to another database: copied while it is used, closed for the last part, opened there."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import sql
from psycopg.types.json import Jsonb

from mnemon.db.database import Connection, Database, connect
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer
from mnemon.db.tenant_copy import MoveRefused, TenantCopy, prepare_connection, same_tables
from mnemon.db.tenant_tables import TenantTable
from mnemon.errors import NotFound
from mnemon.identity.tenants import Tenant, tenant_by_slug
from mnemon.ids import new_uuid
from mnemon.log.privacy.repeated_erasures import NOTE_ALL_ANEW

# Rows of these bring a tenant to life: workers, followers and the clock would begin. They come last, all at once.
LIFE = frozenset(
    {"tenants", "partitions", "jobs", "subscriptions", "subscription_cursors", "parked_events", "lens_states"}
)
ROUNDS = 5
FEW_ROWS = 1_000
PATIENCE = 60.0

PARTITIONS = "SELECT partition_id, legal_entity FROM mnemon.partitions WHERE tenant_id = %s ORDER BY partition_id"
NUMBERED = "SELECT state, partitions FROM mnemon.tenant_moves WHERE tenant_id = %s"
# One after the other, as `open_partition` makes them.
IN_TURN = "SELECT pg_advisory_xact_lock(hashtextextended('partitions', 0))"
NEXT_NUMBER = "SELECT nextval(pg_get_serial_sequence('mnemon.partitions', 'partition_id'))::integer AS number"
# Of a number that is older than others nobody asks whether its tables are known: see `know_partitions`.
LIST_ANEW = "SELECT mnemon.list_partitions_anew('event_payloads'), mnemon.list_partitions_anew('events')"
# One that comes back is where it went to until it has arrived: url and tokens stay.
ARRIVING = """
INSERT INTO mnemon.tenant_moves (tenant_id, slug, state, url, partitions) VALUES (%s, %s, 'arriving', '', %s)
ON CONFLICT (tenant_id) DO UPDATE SET state = 'arriving', partitions = excluded.partitions, changed_at = now()
"""
# Whoever remembers keys of people forgets them: they may have been destroyed while the tenant was elsewhere.
FORGET_KEYS = "SELECT pg_notify('mnemon_privacy', json_build_object('tenant', %s::text, 'subject', NULL)::text)"
ARRIVED = "DELETE FROM mnemon.tenant_moves WHERE tenant_id = %s"
# What earlier attempts began there is of no use to this one; what arrived by one is whose it was to end.
EXPECTED = """
WITH earlier AS (DELETE FROM mnemon.tenant_arrivals WHERE tenant_id = %(tenant)s AND NOT arrived)
INSERT INTO mnemon.tenant_arrivals (tenant_id, move_id) VALUES (%(tenant)s, %(move)s)
"""
OPENED_BY = """
UPDATE mnemon.tenant_arrivals SET arrived = true, changed_at = now() WHERE tenant_id = %s AND move_id = %s
"""
ENDED = "DELETE FROM mnemon.tenant_arrivals WHERE tenant_id = %s AND move_id = %s"
KNOWN_THERE = "SELECT arrived FROM mnemon.tenant_arrivals WHERE tenant_id = %s AND move_id = %s"
HAS_ARRIVED = "SELECT FROM mnemon.tenants WHERE tenant_id = %s"
IS_THERE = "SELECT FROM mnemon.tenants WHERE tenant_id = %s OR slug = %s"
STATE = """
INSERT INTO mnemon.tenant_moves (tenant_id, slug, state, url, move_id) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (tenant_id)
DO UPDATE SET state = excluded.state, url = excluded.url, move_id = excluded.move_id, changed_at = now()
"""
MOVED = """
UPDATE mnemon.tenant_moves
   SET state = 'moved', url = %s, changed_at = now(),
       tokens = ARRAY(SELECT secret_hash FROM mnemon.access_tokens t WHERE t.tenant_id = tenant_moves.tenant_id),
       partitions = (SELECT coalesce(jsonb_object_agg(legal_entity, partition_id), '{}') FROM mnemon.partitions p
                      WHERE p.tenant_id = tenant_moves.tenant_id)
 WHERE tenant_id = %s
"""
REOPENED = "DELETE FROM mnemon.tenant_moves WHERE tenant_id = %s AND state IN ('leaving', 'closed')"
# For as long as this session lives: `tenants_away` looks for it.
MOVED_BY_US = "SELECT pg_advisory_lock(hashtextextended('mnemon move of ' || %s, 0))"
EVERYBODY_OUT = "SELECT pg_try_advisory_xact_lock(hashtextextended('mnemon tenant ' || %s, 0)) AS out"
MISSING_KEYS = """
SELECT DISTINCT key_id FROM mnemon.subject_keys WHERE tenant_id = %s AND key_id IS NOT NULL
"""
# Locked, so that no rotation there retires one before what it wraps has arrived.
KNOWN_KEYS = "SELECT key_id FROM mnemon.wrapping_keys FOR KEY SHARE"
DIRECTORY = "SELECT tenant_id, slug, state, url, changed_at FROM mnemon.tenant_moves ORDER BY slug"
MINE = "SELECT pg_try_advisory_lock(%s) AS got"
ONE_AT_A_TIME = "SELECT pg_try_advisory_lock(hashtextextended('mnemon move', 0)) AS got"
ATTACHED = "SELECT inhdetachpending AS pending FROM pg_inherits WHERE inhrelid = to_regclass(%s)"
OPEN_MOVE = "SELECT tenant_id, state, url, move_id FROM mnemon.tenant_moves WHERE slug = %s"

Tell = Callable[[str], None]
# What has to be done before anything is copied, while the tenant is open here.
MoveReady = Callable[[Tenant], Awaitable[object]]


@dataclass(frozen=True)
class TenantMove:
    """What came of it."""

    tenant_id: UUID
    slug: str
    url: str
    rows: int
    rounds: int
    tables: int
    # How long requests were told to try again.
    closed_seconds: float


async def move_tenant(
    database: Database, slug: str, to: ExternalServer, url: str, tell: Tell, ready: MoveReady | None = None
) -> TenantMove:
    """Move it. What was begun and broke off is gone on with when this is called again."""
    tenant, earlier = await _leaving(database, slug, url)
    async with _both_sides(database, to) as (here, there):
        tables = await same_tables(here, there)
        await here.execute(MOVED_BY_US, (str(tenant.tenant_id),))
        if earlier is not None and await _is_open_there(there, earlier, url):
            # It broke off when the tenant was open there already, or while it was cleared away here.
            return await _Move(tenant, here, there, url, tell, earlier.move_id).leave(tables, 0, 0, 0.0)
        move = _Move(tenant, here, there, url, tell, new_uuid())
        try:
            await move.begin()
            if ready is not None:
                await ready(tenant)
            return await move.through(tables)
        except BaseException:
            # From `opening` on only the other database knows where the tenant is: the next attempt asks it.
            await here.execute(REOPENED, (tenant.tenant_id,))
            raise


@dataclass(frozen=True)
class _Earlier:
    """How far an attempt came that broke off; its id, unless an earlier version made it."""

    tenant_id: UUID
    slug: str
    state: str
    move_id: UUID | None


async def _is_open_there(there: Connection, earlier: _Earlier, url: str) -> bool:
    """Only the database that was being opened knows: another one, also with a copy of the tenant, is refused."""
    if earlier.state != "opening":
        return earlier.state == "moved"
    if earlier.move_id is None:
        return await (await there.execute(HAS_ARRIVED, (earlier.tenant_id,))).fetchone() is not None
    row = await (await there.execute(KNOWN_THERE, (earlier.tenant_id, earlier.move_id))).fetchone()
    if row is None:
        raise MoveRefused(
            f"An earlier move of the tenant {earlier.slug!r} to {url} broke off while it was opened there, in another "
            "database than this one: name that database again.",
            slug=earlier.slug, url=url,
        )  # fmt: skip
    return bool(row["arrived"])


class _Move:
    def __init__(
        self, tenant: Tenant, here: Connection, there: Connection, url: str, tell: Tell, move_id: UUID | None
    ) -> None:
        self._tenant, self._here, self._there = tenant, here, there
        self._url, self._tell, self._id = url, tell, move_id

    async def begin(self) -> None:
        """Here first: until then, what the other database knows of the last attempt may be needed."""
        await self._say("leaving")
        await _check(self._here, self._there, self._tenant)
        await self._there.execute(EXPECTED, {"tenant": self._tenant.tenant_id, "move": self._id})

    async def through(self, tables: list[TenantTable]) -> TenantMove:
        quiet = [one for one in tables if one.name not in LIFE]
        sent, rounds = 0, 0
        while rounds < ROUNDS:
            copied = (await (await self._copy()).bring_over(quiet)).rows
            sent, rounds = sent + copied, rounds + 1
            self._tell(f"Round {rounds}: {copied:,} rows copied.")
            if copied <= FEW_ROWS and rounds > 1:
                break
        began = asyncio.get_running_loop().time()
        await self._close()
        sent += await self._open_there(tables)
        closed = asyncio.get_running_loop().time() - began
        self._tell(f"Open there; closed for {closed:.1f} s. Every table has the same hashes.")
        return await self.leave(tables, sent, rounds, closed)

    async def leave(self, tables: list[TenantTable], sent: int, rounds: int, closed: float) -> TenantMove:
        """Tell whoever comes where the tenant is, and keep nothing of it."""
        tenant = self._tenant
        await self._here.execute(MOVED, (self._url, tenant.tenant_id))
        found = await (await self._here.execute(PARTITIONS, (tenant.tenant_id,))).fetchall()
        await clear_rows(self._here, tenant.tenant_id, tables, [one["partition_id"] for one in found])
        await self._there.execute(ENDED, (tenant.tenant_id, self._id))
        return TenantMove(tenant.tenant_id, tenant.slug, self._url, sent, rounds, len(tables), round(closed, 2))

    async def _copy(self) -> TenantCopy:
        numbers = await _numbers(self._here, self._there, self._tenant)
        return TenantCopy(self._tenant.tenant_id, self._here, self._there, numbers)

    async def _close(self) -> None:
        """Nobody comes in any more, and whoever is inside has left."""
        await self._say("closed")
        async with asyncio.timeout(PATIENCE):
            while not await self._is_empty():  # noqa: ASYNC110  transactions of other processes end without a word
                await asyncio.sleep(0.02)

    async def _say(self, state: str) -> None:
        await self._here.execute(STATE, (self._tenant.tenant_id, self._tenant.slug, state, self._url, self._id))

    async def _is_empty(self) -> bool:
        row = await (await self._here.execute(EVERYBODY_OUT, (str(self._tenant.tenant_id),))).fetchone()
        return bool(row and row["out"])

    async def _open_there(self, tables: list[TenantTable]) -> int:
        """What is left, what brings it to life, and the proof that all is the same: in one transaction there, over one
        moment here. Should whoever moves it be gone before `opening` is said, nobody opens it there."""
        copy = await self._copy()
        async with self._there.transaction():
            async with self._here.transaction():
                await self._here.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                sent = await copy.bring_over(tables)
                # Again: either side may have rotated its keys while rows were copied.
                await _check_keys(self._here, self._there, self._tenant)
                # What was the same before was compared in these very transactions.
                if apart := await copy.differing(sent.tables):
                    raise MoveRefused(
                        f"The copy is not the same in {', '.join(apart)}: nothing was moved.", tables=apart
                    )
            await self._there.execute(NOTE_ALL_ANEW)
            await self._there.execute(ARRIVED, (self._tenant.tenant_id,))
            await self._there.execute(OPENED_BY, (self._tenant.tenant_id, self._id))
            await self._there.execute(FORGET_KEYS, (str(self._tenant.tenant_id),))
            await self._say("opening")
        return sent.rows


async def _leaving(database: Database, slug: str, url: str) -> tuple[Tenant, _Earlier | None]:
    """The tenant, and how far an earlier attempt came. One that moved is here only if clearing it away broke off; while
    only the other database knows whether it is open there, no third one may be asked."""
    async with database.owner() as owner:
        row = await (await owner.execute(OPEN_MOVE, (slug,))).fetchone()
    try:
        tenant = await tenant_by_slug(database, slug)
    except NotFound:
        tenant = None
    if row is not None and row["state"] == "moved" and (tenant is None or tenant.tenant_id != row["tenant_id"]):
        raise MoveRefused(f"The tenant {slug!r} has moved to {row['url']} already.", slug=slug)
    if row is not None and row["state"] in ("opening", "moved") and row["url"] != url:
        raise MoveRefused(
            f"An earlier move of the tenant {slug!r} to {row['url']} broke off, and it may be open there: end that one "
            f"first, with the same database and --url {row['url']}.",
            slug=slug, url=row["url"],
        )  # fmt: skip
    earlier = _Earlier(row["tenant_id"], slug, row["state"], row["move_id"]) if row is not None else None
    return tenant or await tenant_by_slug(database, slug), earlier


async def _check(here: Connection, there: Connection, tenant: Tenant) -> None:
    if await (await there.execute(IS_THERE, (tenant.tenant_id, tenant.slug))).fetchone() is not None:
        raise MoveRefused(f"There is a tenant {tenant.slug!r} in that database already.", slug=tenant.slug)
    await _check_keys(here, there, tenant)


async def _check_keys(here: Connection, there: Connection, tenant: Tenant) -> None:
    """No foreign key tells, where rows are copied as they are; and what nobody there names may be destroyed."""
    used = {row["key_id"] for row in await (await here.execute(MISSING_KEYS, (tenant.tenant_id,))).fetchall()}
    known = {row["key_id"] for row in await (await there.execute(KNOWN_KEYS)).fetchall()}
    if used - known:
        raise MoveRefused(
            "Keys of people are wrapped with keys that the other installation has never used: give it the same "
            "wrapping keys, and record an event with a personal field there, before a tenant moves.",
            keys=sorted(used - known),
        )


async def _numbers(here: Connection, there: Connection, tenant: Tenant) -> dict[int, int]:
    """Which partition there is for which here; new ones get their tables. A tenant that comes back has the numbers that
    it had, as processes there may remember them."""
    row = await (await there.execute(NUMBERED, (tenant.tenant_id,))).fetchone()
    had: dict[str, int] = dict(row["partitions"]) if row else {}
    numbers = had if row and row["state"] == "arriving" else {}
    found = await (await here.execute(PARTITIONS, (tenant.tenant_id,))).fetchall()
    async with there.transaction():
        await there.execute(IN_TURN)
        for one in found:
            if (name := one["legal_entity"]) not in numbers:
                numbers[name] = await _add_partition(there, had.get(name))
        await there.execute(ARRIVING, (tenant.tenant_id, tenant.slug, Jsonb(numbers)))
    await there.execute(LIST_ANEW)
    return {one["partition_id"]: numbers[one["legal_entity"]] for one in found}


async def _add_partition(there: Connection, number: int | None) -> int:
    if number is None:
        row = await (await there.execute(NEXT_NUMBER)).fetchone()
        assert row is not None
        number = int(row["number"])
    for parent in ("events", "event_payloads"):
        await there.execute("CALL mnemon.add_partition(%s, %s)", (parent, number))
    return number


async def clear_rows(here: Connection, tenant: UUID, tables: list[TenantTable], numbers: Iterable[int]) -> None:
    """What is elsewhere is no longer kept here: who is forgotten there must not be found here."""
    for number in numbers:
        for parent in ("events", "event_payloads"):
            child = f"{parent}_{number}"
            # Without holding up those who read and write the partitions of others.
            attached = await (await here.execute(ATTACHED, (f"mnemon.{child}",))).fetchone()
            if attached is not None:
                # An attempt that broke off may have left it half detached.
                how = "FINALIZE" if attached["pending"] else "CONCURRENTLY"
                detach = sql.SQL(f"ALTER TABLE {{}} DETACH PARTITION {{}} {how}")
                await here.execute(detach.format(sql.Identifier("mnemon", parent), sql.Identifier("mnemon", child)))
            await here.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier("mnemon", child)))
    async with here.transaction():
        for table in tables:
            await here.execute(sql.SQL("DELETE FROM {} WHERE tenant_id = %s").format(table.relation), (tenant,))


@asynccontextmanager
async def _both_sides(database: Database, to: ExternalServer) -> AsyncIterator[tuple[Connection, Connection]]:
    async with (
        await connect(database.server, copying_conninfo(database)) as here,
        await connect(to, to.owner_conninfo) as there,
    ):
        if await _same_place(here, there):
            raise MoveRefused("That is the database that the tenant is in.")
        await take_turns(here, there)
        await prepare_connection(here)
        await prepare_connection(there)
        yield here, there


def copying_conninfo(database: Database) -> str:
    """The embedded server's own superuser, where it is that: its owner role may not copy rows as they are."""
    server = database.server
    return server.cluster.conninfo("postgres") if isinstance(server, EmbeddedServer) else server.owner_conninfo


async def _same_place(here: Connection, there: Connection) -> bool:
    """By a lock that only one session of a database can hold."""
    own = secrets.randbits(62)
    await here.execute(MINE, (own,))
    row = await (await there.execute(MINE, (own,))).fetchone()
    return not (row and row["got"])


async def take_turns(*sides: Connection) -> None:
    """One move at a time from or to a database, for as long as these sessions live."""
    for one in sides:
        row = await (await one.execute(ONE_AT_A_TIME)).fetchone()
        if not (row and row["got"]):
            raise MoveRefused("Another move from or to one of the two databases is under way: try again later.")


async def moves(database: Database) -> list[dict[str, Any]]:
    """The directory: tenants that are elsewhere, or on their way."""
    async with database.owner() as owner:
        return await (await owner.execute(DIRECTORY)).fetchall()
