"""Lists of documents: all of a kind, or those with words in their names, newest first, with their number."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from mnemon.db.database import Connection
from mnemon.documents.library import COLUMNS, DOCUMENTS, STATUS, WITH_REVISION, Document
from mnemon.documents.states import DocumentStatus

# What a list shows unless asked otherwise: one that was never read would look broken.
ALL = (DocumentStatus.ACTIVE, DocumentStatus.INACTIVE, DocumentStatus.PURGED)

NEWEST = f"""
  FROM (SELECT * FROM mnemon.documents WHERE tenant_id = mnemon.current_tenant()
         ORDER BY created_at DESC, doc_id LIMIT 1000) AS d {WITH_REVISION}
"""
# What most lists ask for, in a form whose size the planner can tell.
ACTIVE_ONES = """
  FROM mnemon.documents d
  JOIN mnemon.document_revisions v ON v.tenant_id = d.tenant_id AND v.doc_id = d.doc_id AND v.is_active
 WHERE d.tenant_id = mnemon.current_tenant()
"""
NAMED = "SELECT doc_id, by_title FROM mnemon.documents_named(%s, %s, %s)"
# Of a name that is in more documents than this only a page is looked for, newest first; nobody leafs through them all.
MOST_NAMED = 1_000
# One letter has no key, and is in most names.
SHORTEST_KEY = 2
# The planner cannot tell that such a name is in many documents: to read and sort all of them looks cheap to it.
WALK = """
SELECT set_config('enable_sort', %(planned)s, true), set_config('enable_hashjoin', %(planned)s, true),
       set_config('enable_mergejoin', %(planned)s, true)
"""
IN_STATUS = f" AND {STATUS} = ANY(%(statuses)s)"
WANTED = """
   AND (%(search)s::text IS NULL OR d.title ILIKE %(search)s OR v.original_filename ILIKE %(search)s
        OR array_to_string(d.tags, ' ') ILIKE %(search)s)
   AND (%(tag)s::text IS NULL OR %(tag)s = ANY(d.tags))
   AND (%(source_type)s::text IS NULL OR d.source_type = %(source_type)s)
   AND (d.readers IS NULL OR mnemon.may_read(d.readers))
"""
AMONG = " AND d.doc_id = ANY(%(among)s::uuid[])"
ORDER = "ORDER BY d.created_at DESC, d.doc_id LIMIT %(limit)s OFFSET %(offset)s"
PAGE = f"SELECT {COLUMNS} {DOCUMENTS} {IN_STATUS} {WANTED} {ORDER}"
COUNT = f"SELECT count(*) AS total {DOCUMENTS} {IN_STATUS} {WANTED}"
ACTIVE_PAGE = f"SELECT {COLUMNS} {ACTIVE_ONES} {WANTED} {ORDER}"
ACTIVE_COUNT = f"SELECT count(*) AS total {ACTIVE_ONES} {WANTED}"
# By a name, among those that may have it.
NAMED_PAGE = f"SELECT {COLUMNS} {DOCUMENTS} {IN_STATUS} {WANTED} {AMONG} {ORDER}"
NEAR_PAGE = f"SELECT {COLUMNS} {NEWEST} {IN_STATUS} {WANTED} {ORDER}"
NAMED_COUNT = f"SELECT count(*) AS total {DOCUMENTS} {IN_STATUS} {WANTED} {AMONG}"
# Of what is in very many, up to a bound.
SOME_COUNT = f"SELECT count(*) AS total FROM (SELECT {DOCUMENTS} {IN_STATUS} {WANTED} LIMIT %(most)s) AS bounded"
# All that are served, from the index of those alone, less the few that are not for the reader: who may read a document
# is copied to its revisions.
SERVED_COUNT = """
SELECT (SELECT count(*) FROM mnemon.document_revisions WHERE tenant_id = mnemon.current_tenant() AND is_active)
     - (SELECT count(*) FROM mnemon.document_revisions
         WHERE tenant_id = mnemon.current_tenant() AND is_active AND readers IS NOT NULL
           AND NOT mnemon.may_read(readers)) AS total
"""
# All but those that were never read: those with a revision, and those that were purged before they had one.
KNOWN_COUNT = """
SELECT (SELECT count(*) FROM (
           SELECT DISTINCT doc_id FROM mnemon.document_revisions WHERE tenant_id = mnemon.current_tenant()) AS read)
     - (SELECT count(DISTINCT doc_id) FROM mnemon.document_revisions
         WHERE tenant_id = mnemon.current_tenant() AND readers IS NOT NULL AND NOT mnemon.may_read(readers))
     + (SELECT count(*) FROM mnemon.documents d
         WHERE d.tenant_id = mnemon.current_tenant() AND d.purged_at IS NOT NULL
           AND (d.readers IS NULL OR mnemon.may_read(d.readers))
           AND NOT EXISTS (SELECT FROM mnemon.document_revisions o
                            WHERE o.tenant_id = d.tenant_id AND o.doc_id = d.doc_id)) AS total
"""


@dataclass(frozen=True)
class ListedDocuments:
    """A page of documents, and how many there are in all."""

    documents: list[Document]
    total: int
    # False where a search stopped counting.
    total_is_exact: bool = True


async def list_documents(
    tx: Connection,
    *,
    page: int = 1,
    limit: int = 20,
    search: str | None = None,
    statuses: tuple[DocumentStatus, ...] = (DocumentStatus.ACTIVE,),
    tag: str | None = None,
    source_type: str | None = None,
) -> ListedDocuments:
    """Newest first. `search` looks in titles, file names and tags."""
    values = {
        "statuses": list(statuses),
        "search": f"%{_escaped(search)}%" if search else None,
        "tag": tag,
        "source_type": source_type,
        "limit": limit,
        "offset": (page - 1) * limit,
    }
    active_only = tuple(statuses) == (DocumentStatus.ACTIVE,)
    page_of, count_of = (ACTIVE_PAGE, ACTIVE_COUNT) if active_only else (PAGE, COUNT)
    if search:
        return await _list_named(tx, search, values, page_of)
    if not (tag or source_type):
        count_of = SERVED_COUNT if active_only else KNOWN_COUNT if tuple(statuses) == ALL else COUNT
    return ListedDocuments(await _documents(tx, page_of, values), await _total(tx, count_of, values))


async def _list_named(tx: Connection, search: str, values: dict[str, Any], page_of: str) -> ListedDocuments:
    """Few are looked up by the letters of their names. Of very many only this page is looked for, and not all are
    counted."""
    some = await _named(tx, search)
    values |= {"among": some.documents, "most": MOST_NAMED + 1}
    if not some.has_more:
        return ListedDocuments(await _documents(tx, NAMED_PAGE, values), await _total(tx, NAMED_COUNT, values))
    found = await _page_of_many(tx, search, values, page_of)
    reached = values["offset"] + len(found)
    if len(found) < values["limit"] and (found or not values["offset"]):
        return ListedDocuments(found, reached)
    least = await _total(tx, NAMED_COUNT if some.documents else SOME_COUNT, values)
    return ListedDocuments(found, max(min(least, MOST_NAMED), reached), total_is_exact=False)


async def _page_of_many(tx: Connection, search: str, values: dict[str, Any], page_of: str) -> list[Document]:
    """First among the newest documents, then among the newest with these letters, then by walking back through all."""
    found = await _documents(tx, NEAR_PAGE, values)
    if len(found) < values["limit"] <= MOST_NAMED - values["offset"]:
        newest = await _named(tx, search, newest=True)
        if newest.documents and not newest.more_files:
            found = await _documents(tx, NAMED_PAGE, values | {"among": newest.documents})
    if len(found) < values["limit"]:
        await tx.execute(WALK, {"planned": "off"})
        found = await _documents(tx, page_of, values)
        await tx.execute(WALK, {"planned": "on"})
    return found


@dataclass(frozen=True)
class _Named:
    """Documents that may be called so, and whether there are more by their titles, or by their files."""

    documents: list[UUID]
    more_titles: bool
    more_files: bool

    @property
    def has_more(self) -> bool:
        return self.more_titles or self.more_files


async def _named(tx: Connection, search: str, *, newest: bool = False) -> _Named:
    if len(search) < SHORTEST_KEY:
        return _Named([], more_titles=True, more_files=True)
    rows = await (await tx.execute(NAMED, (search, MOST_NAMED + 1, newest))).fetchall()
    titles, files = ([row["doc_id"] for row in rows if row["by_title"] is by] for by in (True, False))
    return _Named(list(dict.fromkeys([*titles, *files])), len(titles) > MOST_NAMED, len(files) > MOST_NAMED)


async def _documents(tx: Connection, statement: str, values: dict[str, Any]) -> list[Document]:
    return await (await tx.cursor(row_factory=class_row(Document)).execute(statement, values)).fetchall()


async def _total(tx: Connection, statement: str, values: dict[str, Any]) -> int:
    row = await (await tx.execute(statement, values)).fetchone()
    assert row is not None
    return int(row["total"])


async def newest_documents(tx: Connection, limit: int) -> list[Document]:
    """Those that are served, without counting how many there are."""
    values = {"search": None, "tag": None, "source_type": None, "limit": limit, "offset": 0}
    return await _documents(tx, ACTIVE_PAGE, values)


def _escaped(words: str) -> str:
    return words.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
