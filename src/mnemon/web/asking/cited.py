"""The sources of an answer as a page numbers them: of documents and of memory alike, each with where it opens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mnemon.ask.citations import Citation, MemoryCitation
from mnemon.ask.frames import Frames, is_told
from mnemon.ask.proven import ProvenSentence
from mnemon.web.rendering import query_of


@dataclass(frozen=True)
class CitedSource:
    """One number of an answer: the quote, what it is from, and the addresses that open it."""

    number: int
    title: str
    where: str
    quote: str
    # Opens the source with the words marked.
    address: str
    # The same for ever, short enough to be copied.
    lasting: str


@dataclass(frozen=True)
class CitedSentence:
    """A sentence of an answer, with its numbers; `note` is what we say of it, the rest is what was said."""

    note: str
    said: str
    sources: Sequence[CitedSource]

    @property
    def told(self) -> str:
        return f"{self.note} {self.said}" if self.note else self.said


def cited_sentences(sentences: Sequence[ProvenSentence], frames: Frames) -> list[CitedSentence]:
    """Numbered from 1 on, in the order in which they are read."""
    number, shown = 0, []
    for sentence in sentences:
        sources = [*_numbered(number, sentence, frames)]
        number += len(sources)
        shown.append(CitedSentence(_one_line(sentence.note), _one_line(sentence.text), sources))
    return shown


def _numbered(last: int, sentence: ProvenSentence, frames: Frames) -> Iterator[CitedSource]:
    number = last
    for one in sentence.citations:
        number += 1
        yield _of_document(number, one, frames)
    for memory in sentence.remembered:
        number += 1
        yield _of_memory(number, memory, frames)


def _of_document(number: int, one: Citation, frames: Frames) -> CitedSource:
    page = frames.say("page", number=one.first_page) if one.first_page else ""
    # What the title says already is not said again.
    heading = next((name for name in one.headings[-1:] if name != one.title), "")
    said = one.said_on or one.written_at
    day = frames.day(said) if said and not is_told(said, one.title) else ""
    parts = (frames.say("version", number=one.version_number), page, heading, one.speaker or "", day)
    place = query_of(version=one.doc_version_id, start=one.start, end=one.end)
    return CitedSource(
        number, one.title, " · ".join(filter(None, parts)), _one_line(one.quote),
        f"/documents/{one.doc_id}{place}#cited", f"/evidence/{one.doc_version_id}/{one.start}-{one.end}",
    )  # fmt: skip


def _of_memory(number: int, one: MemoryCitation, frames: Frames) -> CitedSource:
    branch = one.branch if one.branch != "main" else None
    place = query_of(as_of=f"v{one.emo_version}", start=one.start, end=one.end, branch=branch)
    address = f"/memory/{one.emo_id}{place}#cited"
    where = " · ".join((one.emo_type, frames.say("version", number=one.emo_version), frames.day(one.updated_at)))
    return CitedSource(number, frames.say("memory").capitalize(), where, _one_line(one.quote), address, address)


def _one_line(text: str) -> str:
    return " ".join(text.split())
