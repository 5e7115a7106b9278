"""The current text of every function and view: found beside the rooms that call them, and put into the database."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import pairwise

import psycopg

from mnemon import __version__
from mnemon.db.database import Connection
from mnemon.db.embedded import APP_ROLE
from mnemon.errors import MigrationFailed

HEAD = re.compile(r"^CREATE OR REPLACE (FUNCTION|PROCEDURE|VIEW) mnemon\.(\w+)", re.MULTILINE)
COMMENT = re.compile(r"--[^\n]*")
NAMED = re.compile(r"mnemon\.(\w+)|\b(\w+)\(")

CREATE_RECORD = """
CREATE TABLE IF NOT EXISTS mnemon.functions (
    name       text PRIMARY KEY,
    digest     text NOT NULL,
    -- The program that wrote the text: an older one does not put its own in place of it.
    version    integer[] NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
"""
RECORDED = "SELECT name, digest, version FROM mnemon.functions"
RECORD = "INSERT INTO mnemon.functions (name, digest, version) VALUES (%s, %s, %s)"
FORGET = "DELETE FROM mnemon.functions WHERE name = ANY (%s)"
PRESENT = """
SELECT 'ROUTINE' AS kind, oid::regprocedure::text AS written, proname AS name FROM pg_proc
 WHERE pronamespace = 'mnemon'::regnamespace AND proname = ANY (%(names)s)
UNION ALL
SELECT 'VIEW', oid::regclass::text, relname FROM pg_class
 WHERE relnamespace = 'mnemon'::regnamespace AND relkind = 'v' AND relname = ANY (%(names)s)
"""


@dataclass(frozen=True)
class Definition:
    """One function, procedure or view: `log/append/functions/append_events.sql` defines `mnemon.append_events`."""

    name: str
    room: str
    text: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def is_view(self) -> bool:
        return "CREATE OR REPLACE VIEW" in self.text

    @cached_property
    def names(self) -> frozenset[str]:
        """What its statements name, be it a function or not."""
        return names_in(self.text) - {self.name}


@dataclass(frozen=True)
class Present:
    """A function or view in the database, as PostgreSQL writes it in a statement."""

    kind: str
    written: str
    name: str


def program_version() -> list[int]:
    return [int(number) for number in re.findall(r"\d+", __version__)]


def names_in(text: str) -> frozenset[str]:
    """What a text calls, or writes as `mnemon.name`."""
    return frozenset(found[0] or found[1] for found in NAMED.findall(COMMENT.sub("", text)))


@cache
def packaged_definitions() -> tuple[Definition, ...]:
    """What this program ships: every `functions/NAME.sql` of every room, by name."""
    found = sorted(_definitions_in(resources.files("mnemon"), ""), key=lambda one: one.name)
    for one, following in pairwise(found):
        if one.name == following.name:
            raise MigrationFailed(f"The function {one.name} is defined in {one.room} and in {following.room}.")
    return tuple(found)


def in_order(definitions: Sequence[Definition]) -> tuple[Definition, ...]:
    """Each after those that it names, so that a body which PostgreSQL reads at once finds what it calls."""
    known = {one.name: one for one in definitions}
    ordered: dict[str, Definition] = {}

    def place(one: Definition, waiting: frozenset[str]) -> None:
        for name in sorted((one.names & known.keys()) - waiting - ordered.keys()):
            place(known[name], waiting | {name})
        ordered.setdefault(one.name, one)

    for one in definitions:
        place(one, frozenset({one.name}))
    return tuple(ordered.values())


def needed_by(text: str, definitions: Sequence[Definition]) -> set[str]:
    """The functions that a text names, with all that these name in turn."""
    known = {one.name: one for one in definitions}
    needed: set[str] = set()
    fresh = names_in(text) & known.keys()
    while fresh:
        needed |= fresh
        fresh = frozenset(name for one in fresh for name in known[one].names & known.keys()) - needed
    return needed


async def outdated(owner: Connection, definitions: Sequence[Definition]) -> set[str]:
    """Names whose text in the database is not the one that this program ships, or that it does not ship any more."""
    recorded = await (await owner.execute(RECORDED)).fetchall()
    newest: list[int] = max((row["version"] for row in recorded), default=[])
    if newest > program_version():
        number = ".".join(map(str, newest))
        raise MigrationFailed(
            f"The functions of this database are of Mnemon {number}, this program is {__version__}: "
            "run the newer program.",
            version=number,
        )
    there = {row["name"]: row["digest"] for row in recorded}
    shipped = {one.name: one.digest for one in definitions}
    return {name for name in there.keys() | shipped.keys() if there.get(name) != shipped.get(name)}


async def drop_unneeded(owner: Connection, names: Iterable[str]) -> set[str]:
    """Drop what nothing in the schema depends on; returns the names that stay until their texts take their place."""
    waiting = await _present(owner, names)
    while waiting:
        kept = [one for one in waiting if not await _dropped(owner, one)]
        if len(kept) == len(waiting):
            break
        waiting = kept
    return {one.name for one in waiting}


async def create(owner: Connection, definition: Definition) -> None:
    try:
        await owner.execute(definition.text)
    except psycopg.Error as failure:
        where = f"{definition.room}/functions/{definition.name}.sql"
        raise MigrationFailed(f"{where} failed and everything was undone: {failure}", name=definition.name) from failure


async def replace(owner: Connection, definition: Definition) -> None:
    """Put a text in place of a function that the schema depends on. What it does not grant is not granted any more."""
    before = await _present(owner, [definition.name])
    for one in before:
        await owner.execute(f"REVOKE ALL ON ROUTINE {one.written} FROM {APP_ROLE}")
        await owner.execute(f"GRANT EXECUTE ON ROUTINE {one.written} TO PUBLIC")
    await create(owner, definition)
    if len(await _present(owner, [definition.name])) > len(before):  # the same name with other arguments
        await remove(owner, before)


async def remove_all(owner: Connection, names: Iterable[str]) -> None:
    await remove(owner, await _present(owner, names))


async def remove(owner: Connection, unshipped: Sequence[Present]) -> None:
    """Drop what this program does not ship any more; refuse where the schema still needs it."""
    for one in unshipped:
        if not await _dropped(owner, one):
            raise MigrationFailed(f"{one.written} has no text any more, but the schema still depends on it.")


async def record(owner: Connection, definitions: Sequence[Definition], changed: set[str]) -> None:
    """Write down which texts the database has now."""
    await owner.execute(FORGET, (list(changed),))
    rows = [(one.name, one.digest, program_version()) for one in definitions if one.name in changed]
    async with owner.cursor() as cursor:
        await cursor.executemany(RECORD, rows)


def _definitions_in(folder: Traversable, room: str) -> Iterator[Definition]:
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.name.startswith(("_", ".")):
            yield from _definitions_in(entry, f"{room}/{entry.name}" if room else entry.name)
        elif room.endswith("/functions") and entry.name.endswith(".sql"):
            yield _definition(
                entry.name.removesuffix(".sql"), room.removesuffix("/functions"), entry.read_text("utf-8")
            )


def _definition(name: str, room: str, text: str) -> Definition:
    if [found[1] for found in HEAD.findall(text)] != [name]:
        raise MigrationFailed(f"{room}/functions/{name}.sql should define mnemon.{name} and nothing else.")
    return Definition(name, room, text)


async def _present(owner: Connection, names: Iterable[str]) -> list[Present]:
    rows = await (await owner.execute(PRESENT, {"names": list(names)})).fetchall()
    return [Present(**row) for row in rows]


async def _dropped(owner: Connection, one: Present) -> bool:
    try:
        async with owner.transaction():
            await owner.execute(f"DROP {one.kind} {one.written}")
    except psycopg.errors.DependentObjectsStillExist:
        return False
    return True
