"""Results in few words, for agents with the short list of tools: the text, and one line that says where it stands.

A source is named as `uid_…#start-end`, which the tool `open` takes.
"""

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from mnemon.ask.frames import frames_of

if TYPE_CHECKING:
    from mnemon.mcp.memories import MemoryOut
    from mnemon.mcp.passages import AnswerOut, Passage, Proof
    from mnemon.mcp.semantic_events import EventShown


def passages(found: Sequence["Passage"], next_offset: int | None) -> str:
    lines = [_passage(one) for one in found] or ["Nothing found."]
    more = [f"More: offset {next_offset}."] if next_offset is not None else []
    return "\n\n".join([*lines, *more])


def answer(given: "AnswerOut") -> str:
    if given.refusal is not None:
        frames, words = frames_of(given.language), given.refusal.unknown_words
        unknown = f" {frames.say('no_passage_has', words=', '.join(words))}" if words else ""
        near = [frames.say("nearest_one", snippet=one) for one in given.refusal.nearest]
        return "\n".join([f"{frames.say('no_answer')} {given.refusal.message}{unknown}", *near])
    said = []
    for sentence in given.sentences:
        quotes = [f"> {_quoted(one, sentence.text)}{_proof(one)}" for one in sentence.proofs]
        note = f"{sentence.note} " if sentence.note else ""
        said.append("\n".join([f"{note}{sentence.text}", *quotes]))
    return "\n".join(said)


def events(found: Sequence["EventShown"], next_cursor: str | None) -> str:
    lines = [_event(one) for one in found] or ["No such event."]
    return "\n\n".join([*lines, *([f"More: cursor {next_cursor}"] if next_cursor else [])])


def memories(found: Sequence["MemoryOut"], next_cursor: str | None = None) -> str:
    lines = [_memory(one) for one in found] or ["Nothing of that was remembered."]
    return "\n\n".join([*lines, *([f"More: cursor {next_cursor}"] if next_cursor else [])])


def source_name(artifact_uid: str, revision_id: str | None, start: int, end: int) -> str:
    """A revision is named only where it is not the latest."""
    return f"{artifact_uid}{f'@{revision_id}' if revision_id else ''}#{start}-{end}"


def _passage(one: "Passage") -> str:
    # A document is often called as its first heading: once is enough.
    heading = [head for head in one.headings[-1:] if head != one.title]
    where = [one.title, *heading, f"p. {one.first_page}" if one.first_page else "", one.speaker or ""]
    source = source_name(one.artifact_uid, None if one.is_latest else one.revision_id, one.start_char, one.end_char)
    said = f"{', '.join(filter(None, where))}{_day(one.said_on or one.written_at)} [{source}]"
    old = [] if one.is_latest else ["An earlier version of the document: a newer one replaced it."]
    gone = [f"Replaced{_day(part.on)}: “{part.quote}”, now: {part.by}" for part in one.replaced]
    return "\n".join([said, one.text, *old, *gone])


def _proof(one: "Proof") -> str:
    speaker = f", {one.speaker}" if one.speaker else ""
    source = source_name(one.artifact_uid, one.revision_id, one.start_char, one.end_char)
    return f"{one.title}{speaker}{_day(one.said_on or one.written_at)} [{source}]"


def _quoted(one: "Proof", sentence: str) -> str:
    """The words, unless the sentence is these words."""
    plain = " ".join(one.quote.split())
    return "" if plain in sentence else f"“{plain}” "


def _event(one: "EventShown") -> str:
    state = [one.category, one.status or "", f"due {one.due}" if one.due else ""]
    people = ", ".join(actor.ref for actor in one.actors)
    said = f"{', '.join(filter(None, state))}{_day(one.happened_at) or ', day unknown'}: {one.narrative}"
    by = [f"By {people}."] if people else []
    quotes = [
        f"> {'' if ' '.join(proof.quote.split()) in one.narrative else f'“{proof.quote}” '}{one.title or ''} "
        f"[{source_name(one.artifact_uid, one.revision_id, proof.start_char, proof.end_char)}]"
        for proof in one.evidence[:1]
    ]
    now = [f"Replaced{_day(one.replaced_by.happened_at)} by: {one.replaced_by.narrative}"] if one.replaced_by else []
    return "\n".join([said, *by, *quotes, *now])


def _memory(one: "MemoryOut") -> str:
    tags = f" ({', '.join(one.tags)})" if one.tags else ""
    cut = " …" if one.truncated else ""
    return f"{one.content}{cut}{tags}{_day(one.updated_at)} [{one.memory_id}]"


def _day(moment: date | None) -> str:
    return f" {moment:%Y-%m-%d}" if moment else ""
