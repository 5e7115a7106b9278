"""Writes a report: Markdown, an HTML page, one for print, or words alone. What people wrote is never markup."""

import re
from collections.abc import Sequence
from html import escape

from mnemon.reports.report import MailReport, ReportCitation, ReportFormat, ReportLine
from mnemon.reports.telling import quoted, told

STYLE = "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}blockquote{margin:.3rem 0 .8rem 1rem;padding-left:.8rem;border-left:3px solid #999;white-space:pre-line}ol{font-size:.85em}"  # noqa: E501
NO_SUBJECT = "(no subject)"
NOTHING = "Nothing was discussed here."
PRINT = "@page{size:A4;margin:2cm}body{font:11pt/1.4 Georgia,serif;max-width:none;margin:0}section{break-inside:avoid}"


# What would hide or turn around what is read: control characters, and marks that override the direction of writing.
UNSEEN = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]")
MARKS = re.compile(r"[\\`*_\[\]<>#|~&]")
# At the beginning of a line these would be a list, a rule, or make a heading of the line before.
LEADING = re.compile(r"^(?:([-+])(?=\s|$)|([-=])(?=[-=\s]*$)|(\d{1,9})([.)])(?=\s|$))")
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def write_report(report: MailReport, form: ReportFormat) -> str:
    if form == "text":
        return _words(report)
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
        lines += [f"## {_plain(section.heading) or NO_SUBJECT}", ""]
        for line in section.lines:
            marks = "".join(f"[^{number}]" for number in _numbers(line, cited))
            lines.append(f"- {_plain(told(line))}{marks}")
            lines += [f"  > {_plain(words)}" for words in quoted(line).split("\n") if words.strip()]
        lines.append("")
    if not report.sections:
        lines += [NOTHING, ""]
    lines += [f"[^{number}]: {_plain(_place(one))}" for number, one in enumerate(cited, 1)]
    return "\n".join(lines).rstrip() + "\n"


def _words(report: MailReport) -> str:
    """For whoever reads it on a terminal: nothing is escaped, and nothing that is quoted is changed."""
    cited = report.citations
    lines = [_seen(report.title), ""]
    for section in report.sections:
        lines += [_seen(section.heading) or NO_SUBJECT, ""]
        for line in section.lines:
            marks = "".join(f" [{number}]" for number in _numbers(line, cited))
            lines.append(f"- {_seen(told(line))}{marks}")
            lines += [f"    {_seen(words)}" for words in quoted(line).split("\n") if words.strip()]
        lines.append("")
    if not report.sections:
        lines += [NOTHING, ""]
    lines += [f"[{number}] {_seen(_place(one))}" for number, one in enumerate(cited, 1)]
    return "\n".join(lines).rstrip() + "\n"


def _seen(words: str) -> str:
    return " ".join(UNSEEN.sub("", words).split())


def _plain(words: str) -> str:
    """So that what somebody wrote stays words: no link, no heading, no markup of theirs."""
    text = MARKS.sub(r"\\\g<0>", _seen(words))
    return LEADING.sub(lambda one: f"{one[3]}\\{one[4]}" if one[3] else f"\\{one[0]}", text)


def _text(words: str) -> str:
    return escape(UNSEEN.sub("", words))


def _html(report: MailReport, for_print: bool) -> str:
    cited = report.citations
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{_text(report.title)}</title>',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        f"<style>{STYLE}{PRINT if for_print else ''}</style></head><body>",
        f"<h1>{_text(report.title)}</h1>",
    ]
    for section in report.sections:
        parts.append(f"<section><h2>{_text(section.heading) or NO_SUBJECT}</h2><ul>")
        for line in section.lines:
            marks = "".join(f'<sup><a href="#c{one}">{one}</a></sup>' for one in _numbers(line, cited))
            words = quoted(line)
            quote = f"<blockquote>{_text(words)}</blockquote>" if words else ""
            parts.append(f"<li>{_text(told(line))}{marks}{quote}</li>")
        parts.append("</ul></section>")
    if not report.sections:
        parts.append(f"<p>{NOTHING}</p>")
    parts.append("<ol>")
    parts += [f'<li id="c{number}">{_text(_place(one))}</li>' for number, one in enumerate(cited, 1)]
    return "\n".join([*parts, "</ol></body></html>", ""])
