"""Scanning: looks for given words everywhere that Mnemon keeps anything, and lists where it looked."""

import base64
import gzip
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, LiteralString
from uuid import UUID

import orjson
import psycopg
from psycopg import sql

from mnemon.db.database import Connection, Database
from mnemon.log.privacy.archive_store import ArchiveStore

# Shorter words are found everywhere by chance, and prove nothing.
SHORTEST = 4
BLOCK = 1 << 20
MOST_EXAMPLES = 5

# Tables of our own with every column that can hold text in any form: partitions, lenses, snapshots, dead letters and
# queues too. Numbers, dates, ids and vectors cannot spell a name.
COLUMNS = """
SELECT n.nspname AS schema, c.relname AS relation, a.attname AS column, t.typname = 'bytea' AS binary
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type t ON t.oid = a.atttypid
 WHERE c.relkind IN ('r', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
   AND n.nspname NOT LIKE 'pg_temp%' AND has_table_privilege(c.oid, 'SELECT')
   AND t.typcategory NOT IN ('B', 'D', 'N', 'T')
   AND t.typname NOT IN ('uuid', 'vector', 'halfvec', 'sparsevec', 'bit', 'oid', 'regclass', 'xid', 'pg_lsn')
 ORDER BY n.nspname, c.relname, a.attnum
"""
# What the application's role reads of one tenant: tables with a rule about tenants, whole ones and not their parts.
OWN_COLUMNS = """
SELECT n.nspname AS schema, c.relname AS relation, a.attname AS column, t.typname = 'bytea' AS binary
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'mnemon'
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type t ON t.oid = a.atttypid
 WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relrowsecurity
   AND has_table_privilege(c.oid, 'SELECT') AND t.typcategory NOT IN ('B', 'D', 'N', 'T')
   AND t.typname NOT IN ('uuid', 'vector', 'halfvec', 'sparsevec')
 ORDER BY c.relname, a.attnum
"""
STATISTICS = """
SELECT schemaname || '.' || tablename || '.' || attname AS place FROM pg_stats
 WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
   AND concat(most_common_vals, histogram_bounds) ILIKE ANY(%(like)s)
"""


IN_BYTES = sql.SQL("EXISTS (SELECT FROM unnest(%(bytes)s::bytea[]) AS b WHERE position(b IN {value}) > 0)")
IN_TEXT = sql.SQL("{value}::text ILIKE ANY(%(like)s)")
COUNT = sql.SQL(
    "count(*) FILTER (WHERE {found}) AS {times}, "
    "(array_agg(ctid::text) FILTER (WHERE {found}))[1:%(most)s] AS {examples}"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A place where one of the words stands. The word itself is not repeated."""

    place: str
    times: int
    examples: Sequence[str]


@dataclass
class Scan:
    """What a scan looked at, and what it found."""

    words: int
    skipped: int = 0
    columns: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    # Tables for which there was no time.
    unread: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not self.findings


async def scan(
    database: Database,
    words: Iterable[str],
    *,
    store: ArchiveStore | None = None,
    folders: Sequence[Path] = (),
) -> Scan:
    """Look for words, in any case and in the spellings that JSON, base64 and hexadecimal text give them."""
    result, spellings = _begin(words)
    if not spellings:
        return result
    async with database.owner() as owner:
        await _scan_tables(owner, spellings, result)
    needles = [spelling.lower().encode() for spelling in spellings]
    if store is not None:
        async for key in store.keys():
            _scan_bytes(f"archive {key}", _pieces_of(await store.get(key)), needles, result)
    for folder in folders:
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            _scan_bytes(str(file), _pieces_in(file), needles, result)
    return result


async def scan_own(database: Database, tenant: UUID, words: Iterable[str], seconds: float) -> Scan:
    """The same in one tenant's rows alone, as the application's role, for so long."""
    result, spellings = _begin(words)
    if not spellings:
        return result
    ends = time.monotonic() + seconds
    async with database.transaction(tenant) as connection:
        tables = await _tables(connection, OWN_COLUMNS)
        for table, columns in tables.items():
            left = int((ends - time.monotonic()) * 1000)
            try:
                async with connection.transaction():
                    await connection.execute("SELECT set_config('statement_timeout', %s, true)", (str(max(left, 1)),))
                    await _scan_table(connection, table, columns, _values(spellings), result)
            except psycopg.errors.QueryCanceled:
                result.unread.append(".".join(table))
    return result


def _begin(words: Iterable[str]) -> tuple[Scan, list[str]]:
    given = sorted(set(words))
    long_enough = [word for word in given if len(word) >= SHORTEST]
    spellings = sorted({spelling for word in long_enough for spelling in _spellings(word)})
    return Scan(len(long_enough), len(given) - len(long_enough)), spellings


def _spellings(word: str) -> Iterator[str]:
    yield word
    yield orjson.dumps(word).decode()[1:-1]
    yield word.encode("ascii", "backslashreplace").decode().replace("\\x", "\\u00")
    yield word.encode().hex()
    # Base64 has three forms of a text within a longer one; the characters that depend on its neighbours are cut off.
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + word.encode()).decode().rstrip("=")
        core = encoded[(offset * 8 + 5) // 6 : (offset + len(word.encode())) * 8 // 6]
        if len(core) >= SHORTEST:
            yield core


async def _scan_tables(owner: Connection, spellings: Sequence[str], result: Scan) -> None:
    values = _values(spellings)
    for table, columns in (await _tables(owner, COLUMNS)).items():
        await _scan_table(owner, table, columns, values, result)
    for row in await (await owner.execute(STATISTICS, values)).fetchall():
        result.findings.append(Finding(f"planner statistics of {row['place']}", 1, []))


def _values(spellings: Sequence[str]) -> dict[str, Any]:
    return {
        "like": [f"%{_escaped(one)}%" for one in spellings],
        "bytes": [one.encode() for one in spellings],
        "most": MOST_EXAMPLES,
    }


async def _tables(connection: Connection, statement: LiteralString) -> dict[tuple[str, str], list[dict[str, Any]]]:
    tables: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for column in await (await connection.execute(statement)).fetchall():
        tables.setdefault((column["schema"], column["relation"]), []).append(column)
    return tables


async def _scan_table(
    connection: Connection, table: tuple[str, str], columns: Sequence[dict[str, Any]], values: dict[str, Any],
    result: Scan,
) -> None:  # fmt: skip
    row = await (await connection.execute(_search(table, columns), values)).fetchone()
    assert row is not None
    for number, column in enumerate(columns):
        place = ".".join((*table, column["column"]))
        result.columns.append(place)
        if row[f"times{number}"]:
            result.findings.append(Finding(place, row[f"times{number}"], row[f"examples{number}"]))


def _search(table: tuple[str, str], columns: Sequence[dict[str, Any]]) -> sql.Composed:
    """One pass over a table for all its columns. Rows are named by physical addresses, which say nothing."""
    counts = []
    for number, column in enumerate(columns):
        found = (IN_BYTES if column["binary"] else IN_TEXT).format(value=sql.Identifier(column["column"]))
        counts.append(COUNT.format(found=found, times=sql.Identifier(f"times{number}"),
                                   examples=sql.Identifier(f"examples{number}")))  # fmt: skip
    return sql.SQL("SELECT {} FROM {}").format(sql.SQL(", ").join(counts), sql.Identifier(*table))


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _scan_bytes(place: str, pieces: Iterator[bytes], needles: Sequence[bytes], result: Scan) -> None:
    """Pieces overlap by the longest needle, so that none is missed at a border."""
    result.files.append(place)
    keep = max(map(len, needles)) - 1
    tail, times = b"", 0
    for piece in pieces:
        window = tail + piece.lower()
        times += sum(window.count(needle) for needle in needles)
        tail = window[-keep:] if keep else b""
    if times:
        result.findings.append(Finding(place, times, []))


def _pieces_of(content: bytes) -> Iterator[bytes]:
    yield content
    if content[:2] == b"\x1f\x8b":
        try:
            yield gzip.decompress(content)
        except (OSError, EOFError, zlib.error):
            return


def _pieces_in(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        start = stream.read(2)
        stream.seek(0)
        if start == b"\x1f\x8b":
            yield from _pieces_of(stream.read())
            return
        while block := stream.read(BLOCK):
            yield block
