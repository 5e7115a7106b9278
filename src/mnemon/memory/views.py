"""Views: which rows a branch shows, now or as of an earlier sequence.

A branch holds only what was changed in it. Everything else it sees in its parent, as that was at the fork, and so on to
the trunk. A view is that line of branches, nearest first, each with the last sequence that it is seen up to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.events import MAIN
from mnemon.log.project.lens import Tables
from mnemon.memory.errors import BranchClosed, BranchNotFound
from mnemon.memory.fold import from_json
from mnemon.memory.objects import STILL, MemoryObject, Place

REAL: Tables = {
    name: f"mnemon.{name}"
    for name in (
        "emo_branches", "emo_current", "emo_history", "emo_links", "emo_texts", "emo_graph_nodes", "emo_graph_edges",
    )
}  # fmt: skip

# Of a row of history, what makes the object.
OBJECT = """
    h.world_id, h.branch, h.emo_id, h.emo_version, h.since AS sequence, h.emo_type, h.base_version, h.mime_type,
    h.content, h.tags, h.facets, h.parents, h.links, h.subject_id, h.source_kind, h.source_uri, h.vector_meta,
    h.created_at, h.updated_at, h.updated_by, h.deleted, h.deleted_at, h.deletion_reason,
    h.owner, h.agent_id, h.session_id, h.readers, h.writers
"""
# And what tells of the change: all but what the database made of the row for searching.
COLUMNS = f"""{OBJECT},
    h.tenant_id, h.since, h.until, h.change_id, h.operation_type, h.idempotency_key, h.diff, h.rationale,
    h.content_hash, h.determinism_hash, h.compacted_by
"""
LINE = """
WITH RECURSIVE line AS (
    SELECT b.branch, b.parent, b.fork_sequence, b.status, 1 AS level FROM {emo_branches} b
     WHERE b.tenant_id = %(tenant)s AND b.world_id = %(world)s AND b.branch = %(branch)s
    UNION ALL
    SELECT b.branch, b.parent, b.fork_sequence, b.status, line.level + 1
      FROM line JOIN {emo_branches} b
        ON b.tenant_id = %(tenant)s AND b.world_id = %(world)s AND b.branch = line.parent)
SELECT branch, parent, fork_sequence, status FROM line ORDER BY level
"""
# The nearest branch that has the object decides, even if it has it as deleted.
SHOWN_OF_ONE = """
    SELECT h.* FROM unnest(%(branches)s::text[], %(bounds)s::bigint[]) WITH ORDINALITY AS line (branch, bound, level)
     CROSS JOIN LATERAL (
        SELECT {columns} FROM {emo_history} h
         WHERE h.tenant_id = %(tenant)s AND h.world_id = %(world)s AND h.branch = line.branch
           AND h.emo_id = {emo_id} AND h.since <= line.bound
         ORDER BY h.emo_version DESC LIMIT 1) h
     ORDER BY line.level LIMIT 1
"""
RESOLVE = "SELECT found.* FROM unnest(%(ids)s::uuid[]) AS wanted (emo_id) CROSS JOIN LATERAL ({one}) AS found"
# The same as a set: rows of a table with branch, emo_id (here named by `owner`), since and until.
SHOWN = """
    EXISTS (SELECT FROM unnest(%(branches)s::text[], %(bounds)s::bigint[]) WITH ORDINALITY
                        AS line (branch, bound, level)
             WHERE {row}.branch = line.branch AND {row}.since <= line.bound AND {row}.until > line.bound
               AND NOT EXISTS (
                   SELECT FROM unnest(%(branches)s::text[], %(bounds)s::bigint[]) WITH ORDINALITY
                               AS nearer (branch, bound, level)
                     JOIN mnemon.emo_history closer ON closer.branch = nearer.branch AND closer.since <= nearer.bound
                    WHERE nearer.level < line.level AND closer.tenant_id = %(tenant)s AND closer.world_id = %(world)s
                      AND closer.emo_id = {row}.{owner}))
"""
SHOWN_NOW = "{row}.branch = %(branch)s AND {row}.until = 9223372036854775807"


@dataclass(frozen=True, slots=True)
class View:
    """What a place shows, as of a sequence or now."""

    tenant: UUID
    place: Place
    line: tuple[tuple[str, int], ...]
    status: str = "open"
    as_of: int | None = None

    @property
    def values(self) -> dict[str, Any]:
        return {
            "tenant": self.tenant,
            "world": self.place.world_id,
            "branch": self.place.branch,
            "branches": [branch for branch, _ in self.line],
            "bounds": [bound for _, bound in self.line],
        }

    def shows(self, row: str, owner: str = "emo_id") -> str:
        """The condition for a row of a lens table, with `values`; simpler, and quicker, for what a trunk shows now."""
        if len(self.line) == 1 and self.as_of is None:
            return SHOWN_NOW.format(row=row)
        return SHOWN.format(row=row, owner=owner)

    def refuse_changes_if_closed(self) -> None:
        if self.status != "open":
            raise BranchClosed(
                f"The branch {self.place.branch} is {self.status}: make a new one.", branch=self.place.branch
            )


async def view_in(
    connection: Connection, tenant: UUID, place: Place, as_of: int | None = None, tables: Tables = REAL
) -> View:
    last = STILL - 1 if as_of is None else min(as_of, STILL - 1)
    if place.branch == MAIN:
        return View(tenant, place, ((MAIN, last),), as_of=as_of)
    values = {"tenant": tenant, "world": place.world_id, "branch": place.branch}
    rows = await (await connection.execute(LINE.format(**tables), values)).fetchall()
    if not rows:
        where = "" if place.world_id == tenant else f" in the world {place.world_id}"
        raise BranchNotFound(f"There is no branch {place.branch!r}{where}: create it first.", branch=place.branch)
    line, bound = [], last
    for row in rows:
        line.append((row["branch"], bound))
        bound = min(bound, row["fork_sequence"])
    line.append((rows[-1]["parent"], bound))
    return View(tenant, place, tuple(line), rows[0]["status"], as_of)


async def find_in(
    connection: Connection, view: View, ids: Sequence[UUID], tables: Tables = REAL, columns: str = COLUMNS
) -> dict[UUID, dict[str, Any]]:
    """The rows of history that the view shows of these objects, deleted ones included."""
    if not ids:
        return {}
    values = view.values | {"ids": list(ids)}
    one = SHOWN_OF_ONE.format(columns=columns, emo_id="wanted.emo_id", **tables)
    rows = await (await connection.execute(RESOLVE.format(one=one), values)).fetchall()
    return {row["emo_id"]: row for row in rows}


def object_of(row: dict[str, Any]) -> MemoryObject:
    """From a row of history, with its content at hand."""
    return from_json(row)


SEQUENCE_AT = """
SELECT mnemon.sequence_at(p.partition_id, %s) AS sequence FROM mnemon.partitions p
 WHERE p.tenant_id = %s AND p.legal_entity = %s
"""


async def sequence_at(connection: Connection, tenant: UUID, moment: datetime) -> int:
    """The last sequence recorded by a moment."""
    row = await (await connection.execute(SEQUENCE_AT, (moment, tenant, MAIN))).fetchone()
    return int(row["sequence"]) if row else 0
