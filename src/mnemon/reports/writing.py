"""Writes a report: Markdown, an HTML page, or one for print."""

from collections.abc import Sequence
from html import escape

from mnemon.reports.report import MailReport, ReportCitation, ReportFormat, ReportLine

STYLE = "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}blockquote{margin:.3rem 0 .8rem 1rem;padding-left:.8rem;border-left:3px solid #999;white-space:pre-line}ol{font-size:.85em}"  # noqa: E501
PRINT = "@page{size:A4;margin:2cm}body{font:11pt/1.4 Georgia,serif;max-width:none;margin:0}section{break-inside:avoid}"


def write_report(report: MailReport, form: ReportFormat) -> str:
    return _markdown(report) if form == "markdown" else _html(report, form == "print")


def _numbers(line: ReportLine, cited: Sequence[ReportCitation]) -> list[int]:
    return [cited.index(one) + 1 for one in line.citations]


def _place(one: ReportCitation) -> str:
    when = f", {one.date.date().isoformat()}" if one.date else ""
    return f"{one.name}{when}, {one.message_id}, {one.start}-{one.end}"


def _markdown(report: MailReport) -> str:
    cited = report.citations
    lines = [f"# {_plain(report.title)}", ""]
    for section in report.sections:
        lines += [f"## {_plain(section.heading)}", ""]
        for line in section.lines:
            marks = "".join(f"[^{number}]" for number in _numbers(line, cited))
            lines.append(f"- {_plain(line.told)}{marks}")
            lines += [f"  > {_plain(words)}" for words in line.quoted.split("\n") if words.strip()]
        lines.append("")
    if not report.sections:
        lines += ["Nothing was discussed here.", ""]
    lines += [f"[^{number}]: {_plain(_place(one))}" for number, one in enumerate(cited, 1)]
    return "\n".join(lines).rstrip() + "\n"


def _plain(words: str) -> str:
    """So that what somebody wrote stays words: no link, no heading, no markup of theirs."""
    text = " ".join(words.split())
    for mark in "\\`*_[]<>#|":
        text = text.replace(mark, f"\\{mark}")
    return text


def _html(report: MailReport, for_print: bool) -> str:
    cited = report.citations
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(report.title)}</title>',
        f"<style>{STYLE}{PRINT if for_print else ''}</style></head><body>",
        f"<h1>{escape(report.title)}</h1>",
    ]
    for section in report.sections:
        parts.append(f"<section><h2>{escape(section.heading)}</h2><ul>")
        for line in section.lines:
            marks = "".join(f'<sup><a href="#c{one}">{one}</a></sup>' for one in _numbers(line, cited))
            quote = f"<blockquote>{escape(line.quoted)}</blockquote>" if line.quoted else ""
            parts.append(f"<li>{escape(line.told)}{marks}{quote}</li>")
        parts.append("</ul></section>")
    if not report.sections:
        parts.append("<p>Nothing was discussed here.</p>")
    parts.append("<ol>")
    parts += [f'<li id="c{number}">{escape(_place(one))}</li>' for number, one in enumerate(cited, 1)]
    return "\n".join([*parts, "</ol></body></html>", ""])
