"""What may be said about a semantic event: each verb's own rules, and when it is said already."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from mnemon.documents.ingest.revision_texts import read_text
from mnemon.errors import Conflict, InvalidRequest, NotFound
from mnemon.log.events import NewEvent
from mnemon.operations import Caller
from mnemon.semantics.corrections import inputs
from mnemon.semantics.corrections.carry import evidence_data
from mnemon.semantics.corrections.correct import Judge, NewCorrection, SpokenOf, undone_event
from mnemon.semantics.corrections.fold import STANDS_AS, SaidCorrection, corrected
from mnemon.semantics.extract.verify import find_evidence
from mnemon.semantics.semantic_event import Category, Evidence, event_id

# How far from the event's own quotes the words of a part may stand: a quote is cut after 25 words.
REACH = 300


def to_mark(asked: inputs.EventVerdict) -> Judge:
    async def judge(about: SpokenOf) -> NewCorrection | None:
        verdict, event = asked.verdict, about.event
        if verdict == "confirm" and "confirmed" in event["correction"] and event["stood"] != "dismissed":
            return None
        if verdict in STANDS_AS and verdict != "restore" and event["stood"] == STANDS_AS[verdict]:
            return None
        if verdict == "restore":
            return _restored(about)
        if verdict != "dismiss":
            _refuse_dismissed(event)
        if verdict == "done" and event["category"] != Category.COMMITMENT:
            raise InvalidRequest(f"verdict: only a commitment can be done, and this is a {event['category']}.")
        return NewCorrection(verdict)

    return judge


def to_edit(asked: inputs.EventEdit) -> Judge:
    words: dict[str, Any] = {
        name: value for name in ("category", "owner", "due", "subject") if (value := getattr(asked, name)) is not None
    }
    for name in asked.clear:
        if name in words:
            raise InvalidRequest(f"{name}: it is given and cleared at once: say one.")
        words[name] = None
    if asked.due:
        words["due"] = asked.due.isoformat()
    if not words:
        raise InvalidRequest("Nothing is changed: give category, owner, due, subject or clear.")

    async def judge(about: SpokenOf) -> NewCorrection | None:
        event = about.event
        _refuse_dismissed(event)
        category = words.get("category", event["category"])
        if words.get("due") and category != Category.COMMITMENT:
            raise InvalidRequest(f"due: only a commitment has a due date, and this is a {category}.")
        said = [SaidCorrection(one["action"], one["said"], one["said_by"], one["said_at"]) for one in about.live]
        now = corrected(event["as_read"], said)
        last = event["happened_at"]
        then = corrected(event["as_read"], [*said, SaidCorrection("edit", words, "", last)])
        fields = ("category", "subject_ref", "actors", "due")
        if all(getattr(now, name) == getattr(then, name) for name in fields):
            return None
        return NewCorrection("edit", words)

    return judge


def to_merge(asked: inputs.EventMerge) -> Judge:
    if asked.event_id in asked.merged:
        raise InvalidRequest(f"merged: {asked.event_id} is the event itself.")

    async def judge(about: SpokenOf) -> NewCorrection | None:
        event, *others = about.events
        _refuse_dismissed(event)
        left = [one for one in others if one["merged_into"] != event["event_id"]]
        for one in left:
            _refuse_dismissed(one)
            if one["doc_version_id"] != event["doc_version_id"]:
                raise InvalidRequest(
                    f"merged: {one['event_id']} stands in another text. Only events of one revision can be merged; "
                    "link them, or dismiss one."
                )
        return NewCorrection("merge", others=[one["event_id"] for one in left]) if left else None

    return judge


def to_split(asked: inputs.EventSplit) -> Judge:
    async def judge(about: SpokenOf) -> NewCorrection | None:
        event = about.event
        _refuse_dismissed(event)
        text = (await read_text(about.tx, event["doc_version_id"])).text
        own = about.evidence[event["event_id"]]
        found = [_part(text, quote, own) for quote in asked.quotes]
        for one, other in combinations(found, 2):
            if one.start < other.end and other.start < one.end:
                raise InvalidRequest(f"quotes: {one.quote!r} and {other.quote!r} share words: each has its own.")
        [row] = await (await about.tx.execute(PASSAGE, (event["event_id"],))).fetchall()
        parts = [_part_data(event, one, row["chunk"]) for one in found]
        for existing in await (await about.tx.execute(EXISTING, ([part["event_id"] for part in parts],))).fetchall():
            raise Conflict(
                f"quotes: {existing['quote']!r} is the event {existing['event_id']} already: split off the others."
            )
        return NewCorrection("split", parts=parts)

    return judge


def to_link(asked: inputs.EventTie) -> Judge:
    _refuse_itself(asked)

    async def judge(about: SpokenOf) -> NewCorrection | None:
        later, earlier = about.events
        _refuse_dismissed(later)
        _refuse_dismissed(earlier)
        if asked.kind == "fulfils" and earlier["category"] != Category.COMMITMENT:
            raise InvalidRequest(
                f"kind: only a commitment is fulfilled, and {asked.earlier} is a {earlier['category']}."
            )
        last = _last_word(about, asked.earlier)
        if last is not None and last["action"] == "link" and last["said"].get("kind") == asked.kind:
            return None
        return NewCorrection("link", {"kind": asked.kind}, [asked.earlier])

    return judge


def to_unlink(asked: inputs.EventPair) -> Judge:
    _refuse_itself(asked)

    async def judge(about: SpokenOf) -> NewCorrection | None:
        last = _last_word(about, asked.earlier)
        if last is not None and last["action"] == "unlink":
            return None
        linked = await (await about.tx.execute(LINKED, (asked.event_id, asked.earlier))).fetchone()
        if linked is None:
            raise NotFound(f"No link leads from {asked.event_id} to {asked.earlier}.", event_id=asked.event_id)
        return NewCorrection("unlink", others=[asked.earlier])

    return judge


PASSAGE = """
SELECT chunk FROM mnemon.event_evidence
 WHERE tenant_id = mnemon.current_tenant() AND event_id = %s ORDER BY start_char LIMIT 1
"""
EXISTING = """
SELECT event_id, quote FROM mnemon.event_evidence
 WHERE tenant_id = mnemon.current_tenant() AND event_id = ANY(%s) ORDER BY start_char LIMIT 1
"""
LINKED = """
SELECT FROM mnemon.event_links
 WHERE tenant_id = mnemon.current_tenant() AND later = %s AND earlier = %s AND NOT dismissed LIMIT 1
"""
DROP_VECTORS = """
DELETE FROM mnemon.semantic_event_vectors v USING mnemon.event_corrections c
 WHERE v.tenant_id = mnemon.current_tenant() AND c.tenant_id = v.tenant_id AND c.event_id = v.event_id
   AND c.correction_id = %s AND c.action = 'part'
"""


def to_undo(caller: Caller, asked: inputs.Undoing) -> Judge:
    async def judge(about: SpokenOf) -> NewEvent | None:
        event = about.event
        if asked.correction_id is None:
            if not about.live:
                raise Conflict(f"Nothing that was said of {asked.event_id} is left to take back.")
            last = about.live[-1]
        else:
            named = [one for one in about.said if one["correction_id"] == asked.correction_id]
            if not named:
                raise NotFound(f"{asked.event_id} has no correction {asked.correction_id}.", event_id=asked.event_id)
            last = named[0]
            if last["undone_at"] is not None:
                return None
        # Those that were split off go with it, and then nothing leads to their vectors any more.
        await about.tx.execute(DROP_VECTORS, (last["correction_id"],))
        return undone_event(caller, event["doc_id"], event["doc_version_id"], event["event_id"], last["correction_id"])

    return judge


def _restored(about: SpokenOf) -> NewCorrection | None:
    event = about.event
    if event["stood"] != "dismissed":
        return None
    if event["merged_into"]:
        raise Conflict(f"{event['event_id']} was merged into {event['merged_into']}: undo that.")
    if any(one["action"] == "split" for one in about.live):
        raise Conflict(f"{event['event_id']} was split: undo that.")
    return NewCorrection("restore")


def _refuse_dismissed(event: dict[str, Any]) -> None:
    if event["stood"] == "dismissed":
        raise Conflict(
            f"{event['event_id']} was dismissed: restore it, or undo that, first.", event_id=event["event_id"]
        )


def _refuse_itself(asked: inputs.EventPair) -> None:
    if asked.event_id == asked.earlier:
        raise InvalidRequest("earlier: an event cannot be linked to itself.")


def _last_word(about: SpokenOf, earlier: str) -> dict[str, Any] | None:
    said = [one for one in about.live if one["action"] in ("link", "unlink") and one["other_id"] == earlier]
    return said[-1] if said else None


def _part(text: str, quote: str, own: Sequence[dict[str, Any]]) -> Evidence:
    for one in own:
        found = find_evidence(text, quote, one["start_char"])
        if found and found.start >= one["start_char"] - REACH and found.end <= one["end_char"] + REACH:
            return found
    raise InvalidRequest(f"quotes: {quote!r} does not stand at the place of the event: copy the exact words.")


def _part_data(event: dict[str, Any], part: Evidence, passage: int | None) -> dict[str, Any]:
    """A statement of its own, with the fields of the event that it was read in; whoever splits it edits them."""
    read = event["as_read"]
    name = event_id(str(event["doc_version_id"]), Category(read["category"]), [part])
    return {
        "event_id": name,
        "category": read["category"],
        "narrative": " ".join(part.quote.split()),
        "subject": {"type": read["subject_type"], "ref": read["subject_ref"]},
        "actors": read["actors"],
        "event_time": event["event_time"].isoformat() if event["event_time"] else None,
        "happened_at": event["happened_at"].isoformat(),
        "undated": event["undated"],
        "topic": event["topic"],
        "due": read["due"],
        "kind": read["kind"],
        "origin": event["origin"],
        "confidence": read["confidence"],
        "vouched_for": True,
        "evidence": [evidence_data(name, part, passage)],
    }
