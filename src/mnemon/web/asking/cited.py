"""The sources of an answer as a page numbers them: of documents and of memory alike, each with where it opens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from mnemon.ask.citations import Citation, MemoryCitation
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


def cited_sentences(sentences: Sequence[ProvenSentence]) -> list[CitedSentence]:
    """Numbered from 1 on, in the order in which they are read."""
    number, shown = 0, []
    for sentence in sentences:
        sources = [*_numbered(number, sentence)]
        number += len(sources)
        shown.append(CitedSentence(_one_line(sentence.note), _one_line(sentence.text), sources))
    return shown


def _numbered(last: int, sentence: ProvenSentence) -> Iterator[CitedSource]:
    number = last
    for one in sentence.citations:
        number += 1
        yield _of_document(number, one)
    for memory in sentence.remembered:
        number += 1
        yield _of_memory(number, memory)


def _of_document(number: int, one: Citation) -> CitedSource:
    page = f"page {one.first_page}" if one.first_page else ""
    # What the title says already is not said again.
    heading = next((name for name in one.headings[-1:] if name != one.title), "")
    day = _day(one.said_on or one.written_at)
    day = "" if day in one.title else day
    parts = (f"version {one.version_number}", page, heading, one.speaker or "", day)
    place = query_of(version=one.doc_version_id, start=one.start, end=one.end)
    return CitedSource(
        number, one.title, " · ".join(filter(None, parts)), _one_line(one.quote),
        f"/documents/{one.doc_id}{place}#cited", f"/evidence/{one.doc_version_id}/{one.start}-{one.end}",
    )  # fmt: skip


def _of_memory(number: int, one: MemoryCitation) -> CitedSource:
    branch = one.branch if one.branch != "main" else None
    place = query_of(as_of=f"v{one.emo_version}", start=one.start, end=one.end, branch=branch)
    address = f"/memory/{one.emo_id}{place}#cited"
    where = " · ".join((f"{one.emo_type}, version {one.emo_version}", _day(one.updated_at)))
    return CitedSource(number, "Memory", where, _one_line(one.quote), address, address)


def _day(moment: date | None) -> str:
    return f"{moment:%-d %B %Y}" if moment else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
