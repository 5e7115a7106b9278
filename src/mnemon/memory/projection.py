"""Projection: turns changes and the states before them into the rows of the lens."""

from collections import defaultdict
from typing import Any

from mnemon.log.moments import written
from mnemon.memory.determinism import content_hash, object_hash, text_hash
from mnemon.memory.errors import CompactionRefused
from mnemon.memory.fold import Change, Key, as_json, fold
from mnemon.memory.graphs.relations import Edge, difference, edges_of, links_of_row, texts_of
from mnemon.memory.objects import STILL, MemoryObject
from mnemon.memory.personal import is_erased

ObjectRow = dict[str, Any]


class Projection:
    """The rows that a run of changes gives. `states` holds each object as its branch sees it before the first."""

    def __init__(self, states: dict[Key, MemoryObject]) -> None:
        self._states = states
        self._rows: dict[str, list[ObjectRow]] = defaultdict(list)
        self._current: dict[Key, ObjectRow] = {}
        # Rows that this run has opened and that may be closed in it again.
        self._open: dict[tuple[Any, ...], ObjectRow] = {}

    @property
    def rows(self) -> dict[str, list[ObjectRow]]:
        found = {name: rows for name, rows in self._rows.items() if rows}
        if self._current:
            found["emo_current"] = list(self._current.values())
        return found

    def add(self, change: Change) -> None:
        if change.operation == "snapshot.compacted":
            self._compact(change)
            return
        key = change.key
        seen = self._states.get(key)
        after = self._states[key] = fold(seen, change)
        own = seen if seen is not None and seen.place == change.place else None
        row = self._current[key] = as_json(after) | _hashes(after)
        self._write_history(change, difference(seen, after, change.data.get("content_diff")), own, row)
        self._write_links(change, own, after)
        self._write_texts(change, own, after)
        self._write_graph(change, own, after)
        if change.operation == "shared":
            scope = {"readers": row["readers"], "writers": row["writers"]}
            self._rows["shared"].append({"world_id": key[0], "emo_id": key[2]} | scope)
        if change.operation == "restored" and own is not None:
            row = _key(key) | {"closed_at": own.sequence, "since": change.sequence}
            self._rows["reopened"].append(row)

    def _compact(self, change: Change) -> None:
        """The snapshot must be exactly what is there: in a replay as when it was made."""
        key = change.key
        state = self._states.get(key)
        if state is None or fold(state, change) != state:
            raise CompactionRefused(
                f"The snapshot of {change.emo_id} is not its present state: compact it anew.", emo_id=str(change.emo_id)
            )
        for version in change.data["compacted_versions"]:
            self._rows["compacted"].append(_key(key) | {"emo_version": version, "change_id": change.data["change_id"]})

    def _write_history(self, change: Change, diff: ObjectRow, own: MemoryObject | None, current: ObjectRow) -> None:
        key = change.key
        row = current | {
            "since": change.sequence,
            "until": STILL,
            "change_id": change.data["change_id"],
            "operation_type": change.operation,
            "idempotency_key": change.data["idempotency_key"],
            "diff": diff,
            "rationale": change.data.get("rationale"),
        }
        if own is not None:
            self._close(("version", key), "closed", _key(key), change.sequence)
        self._opened(("version", key), "emo_history", row)

    def _write_links(self, change: Change, own: MemoryObject | None, after: MemoryObject) -> None:
        if own is not None and (own.parents, own.links) == (after.parents, after.links):
            return
        key = change.key
        before, now = links_of_row(own), links_of_row(after)
        for link_id in before.keys() - now.keys():
            added = self._open.pop(("link", key, link_id), None)
            if added is not None:
                self._rows["emo_links"].remove(added)
            else:
                self._rows["unlinked"].append(_key(key) | {"link_id": str(link_id)})
        for link_id in now.keys() - before.keys():
            row = _key(key) | {"link_id": str(link_id), "created_at": written(change.recorded_at)} | now[link_id]
            self._opened(("link", key, link_id), "emo_links", row)

    def _write_texts(self, change: Change, own: MemoryObject | None, after: MemoryObject) -> None:
        key = change.key
        before, now = texts_of(own), texts_of(after)
        for text in before.keys() - {text for text in now if now[text] == before.get(text)}:
            self._close(("text", key, text), "closed_texts", _key(key) | _named(text), change.sequence)
        for text, digest in now.items():
            if before.get(text) != digest:
                self._open_text(change, text, digest)
        rationale = change.data.get("rationale")
        if after.deleted:
            self._close_all("text", key, "rationale", "closed_texts", {"kind": "rationale"}, change.sequence)
        elif rationale and rationale.strip() and not is_erased(rationale):
            self._open_text(change, ("rationale", str(after.emo_version)), text_hash(rationale))

    def _open_text(self, change: Change, text: tuple[str, str], digest: bytes) -> None:
        key = change.key
        row = _key(key) | _named(text) | _holding(change) | {
            "emo_version": change.data["emo_version"],
            "text_hash": "\\x" + digest.hex(),
        }  # fmt: skip
        self._opened(("text", key, text), "emo_texts", row)

    def _write_graph(self, change: Change, own: MemoryObject | None, after: MemoryObject) -> None:
        key = change.key
        node = _key(key) | _holding(change) | {
            "graph": change.place.graph,
            "emo_type": after.emo_type,
            "emo_version": after.emo_version,
            "deleted": after.deleted,
            "tags": list(after.tags),
        }  # fmt: skip
        if ("node", key) in self._open:
            self._open.pop(("node", key))["until"] = change.sequence
        self._opened(("node", key), "emo_graph_nodes", node)
        before, now = edges_of(own), edges_of(after)
        for edge in before:
            if edge not in now:
                gone = _key(key) | {"edge_id": str(edge.edge_id(after.emo_id))}
                self._close(("edge", key, edge), "closed_edges", gone, change.sequence)
        for edge in now:
            if edge not in before:
                self._open_edge(change, edge)
        if after.deleted:
            self._close_all("edge", key, "EXPLAINED_BY", "closed_edges", {"kind": "EXPLAINED_BY"}, change.sequence)
        elif change.data.get("rationale"):
            version = {"emo_version": after.emo_version}
            explained = Edge(
                "EXPLAINED_BY", after.emo_id, target=f"change:{change.data['change_id']}", properties=version
            )
            self._open_edge(change, explained)

    def _open_edge(self, change: Change, edge: Edge) -> None:
        key = change.key
        row = {
            "world_id": key[0],
            "branch": key[1],
            "edge_id": str(edge.edge_id(change.emo_id)),
            "graph": change.place.graph,
            "owner_id": key[2],
            "kind": edge.kind,
            "source_id": str(edge.source_id),
            "target_id": str(edge.target_id) if edge.target_id else None,
            "target": edge.target,
            "properties": dict(edge.properties),
        } | _holding(change)
        self._opened(("edge", key, edge), "emo_graph_edges", row)

    def _opened(self, name: tuple[Any, ...], table: str, row: ObjectRow) -> None:
        self._open[name] = row
        self._rows[table].append(row)

    def _close(self, name: tuple[Any, ...], closing: str, row: ObjectRow, sequence: int) -> None:
        """End what holds: the row that this run has opened, or the one that is in the table."""
        if name in self._open:
            self._open.pop(name)["until"] = sequence
        else:
            self._rows[closing].append(row | {"until": sequence})

    def _close_all(self, what: str, key: Key, kind: str, closing: str, row: ObjectRow, sequence: int) -> None:
        for name in [one for one in self._open if one[0] == what and one[1] == key and _kind(one[2]) == kind]:
            self._open.pop(name)["until"] = sequence
        self._rows[closing].append(_key(key) | row | {"until": sequence})


def branch_row(change: Change, before: ObjectRow | None) -> ObjectRow:
    """The row of a branch after an event about it."""
    if change.operation == "branch.created":
        return {
            "world_id": change.data["world_id"],
            "branch": change.data["branch"],
            "parent": change.data["parent"],
            "fork_sequence": change.data.get("fork_sequence", change.sequence),
            "status": "open",
            "purpose": change.data.get("purpose", ""),
            "needs_person": change.data.get("needs_person", False),
            "created_by": change.actor_id,
            "created_at": written(change.recorded_at),
        }
    assert before is not None
    status = {"branch.merged": "merged", "branch.abandoned": "abandoned"}[change.operation]
    return before | {"status": status, "closed_by": change.actor_id, "closed_at": written(change.recorded_at)}


def _hashes(one: MemoryObject) -> ObjectRow:
    own = content_hash(one.content)
    return {"content_hash": own, "determinism_hash": object_hash(one, own)}


def _key(key: Key) -> ObjectRow:
    world_id, branch, emo_id = key
    return {"world_id": world_id, "branch": branch, "emo_id": emo_id}


def _named(text: tuple[str, str]) -> ObjectRow:
    return {"kind": text[0], "name": text[1]}


def _holding(change: Change) -> ObjectRow:
    return {"since": change.sequence, "until": STILL}


def _kind(name: Any) -> str:
    return name.kind if isinstance(name, Edge) else str(name[0])
