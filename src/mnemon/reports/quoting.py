"""Widens what is quoted to whole sentences, so that an objection comes with its reason."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from mnemon.db.database import Connection
from mnemon.mail.spans.labels import LabelledSpan
from mnemon.mail.spans.written import read_spans
from mnemon.reports.report import MailReport, ReportCitation, ReportLine
from mnemon.reports.telling import QUOTED

TEXTS = """
SELECT m.message_key, m.doc_version_id, m.spans, t.text FROM mnemon.mail_messages m
  JOIN mnemon.revision_texts t ON t.tenant_id = m.tenant_id AND t.doc_version_id = m.doc_version_id
 WHERE m.tenant_id = mnemon.current_tenant() AND m.message_key = ANY(%s) AND m.purged_at IS NULL
   AND mnemon.may_read(m.readers)
"""
# A quote that is shorter says too little to be understood alone; one that is longer is cut where a sentence ends.
SHORTEST, LONGEST = 40, 400
STOP = re.compile(r"[.!?][\"'”’)\]]*(?=\s|$)|\n[ \t]*\n")
PARAGRAPH = re.compile(r"\n[ \t]*\n")
MessageWords = tuple[str, tuple[LabelledSpan, ...]]


async def widened(tx: Connection, report: MailReport) -> MailReport:
    """The report with its quotes as whole sentences."""
    keys = [one.message_key for one in report.citations]
    rows = await (await tx.execute(TEXTS, (keys,))).fetchall()
    return widen_quotes(report, {row["message_key"]: (row["text"], read_spans(row["spans"])) for row in rows})


def widen_quotes(report: MailReport, words: Mapping[str, MessageWords]) -> MailReport:
    sections = (
        replace(section, lines=tuple(_line(line, words) for line in section.lines)) for section in report.sections
    )
    return replace(report, sections=tuple(sections))


def _line(line: ReportLine, words: Mapping[str, MessageWords]) -> ReportLine:
    if line.says not in QUOTED:
        return line
    return replace(line, citations=tuple(_citation(one, words) for one in line.citations))


def _citation(one: ReportCitation, words: Mapping[str, MessageWords]) -> ReportCitation:
    found = words.get(one.message_key)
    if found is None:
        return one
    text, spans = found
    start, end = whole_sentences(text, spans, one.start, one.end)
    return replace(one, start=start, end=end, quote=text[start:end])


def whole_sentences(text: str, spans: Iterable[LabelledSpan], start: int, end: int) -> tuple[int, int]:
    """From where its sentence begins to where one ends, within what the message says itself."""
    own = next((one for one in spans if one.label == "new" and one.start <= start < one.end), None)
    if own is None or end > own.end:
        return start, end
    # What stands far away is not looked at: a text may be one sentence of a million letters.
    before = max(own.start, start - LONGEST)
    stops = [one.end() for one in STOP.finditer(text, before, start)]
    first = stops[-1] if stops else (before if before == own.start else start)
    limit = max(end, min(own.end, start + LONGEST))
    while first < start and text[first].isspace():
        first += 1
    last = _end(text, first, end, limit, limit == own.end)
    while last > end and text[last - 1].isspace():
        last -= 1
    return first, last


def _end(text: str, start: int, end: int, limit: int, is_whole: bool) -> int:
    """Where the paragraph ends, or the next where it says next to nothing, such as `-1 (binding)`; where that is too
    far away, the end of the last sentence before the limit."""
    ends = [one.start() for one in PARAGRAPH.finditer(text, end, limit)] + ([limit] if is_whole else [])
    enough = [one for one in ends if one - start >= SHORTEST]
    if enough or (ends and is_whole):
        return enough[0] if enough else ends[-1]
    stops = [one.end() for one in STOP.finditer(text, end, limit)]
    return stops[-1] if stops else end
