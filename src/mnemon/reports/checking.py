"""Reads every place that a report cites again: a line whose words do not stand there is dropped and counted."""

from dataclasses import replace

from mnemon.db.database import Connection
from mnemon.reports.report import MailReport, ReportCitation

STANDS = """
SELECT asked.place, substr(t.text, asked.first + 1, asked.last - asked.first) = asked.quote AS stands
  FROM unnest(%(places)s::int[], %(revisions)s::uuid[], %(firsts)s::int[], %(lasts)s::int[], %(quotes)s::text[])
       AS asked (place, revision, first, last, quote)
  JOIN mnemon.revision_texts t ON t.tenant_id = mnemon.current_tenant() AND t.doc_version_id = asked.revision
"""


async def proven(tx: Connection, report: MailReport) -> MailReport:
    """The report with the lines alone that have proof, and all of it true."""
    cited = report.citations
    values = {
        "places": list(range(len(cited))),
        "revisions": [one.doc_version_id for one in cited],
        "firsts": [one.start for one in cited],
        "lasts": [one.end for one in cited],
        "quotes": [one.quote for one in cited],
    }
    rows = await (await tx.execute(STANDS, values)).fetchall()
    return only_proven(report, {cited[row["place"]] for row in rows if row["stands"]})


def only_proven(report: MailReport, true: set[ReportCitation]) -> MailReport:
    sections, dropped = [], report.dropped
    for section in report.sections:
        kept = tuple(line for line in section.lines if line.citations and true.issuperset(line.citations))
        dropped += len(section.lines) - len(kept)
        if kept:
            sections.append(replace(section, lines=kept))
    return replace(report, sections=tuple(sections), dropped=dropped)
