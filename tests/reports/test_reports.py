"""Reports: every line cites words that stand where it says, in each form, and nothing else is told."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from selectolax.lexbor import LexborHTMLParser as HTMLParser

from mnemon.mail.consensus.outputs import ConsensusShown, ObjectionShown, StatementShown, VoteShown
from mnemon.mail.spans.labels import LabelledSpan
from mnemon.reports.checking import only_proven
from mnemon.reports.drafting import draft_report
from mnemon.reports.quoting import whole_sentences
from mnemon.reports.telling import quoted, told
from mnemon.reports.writing import write_report

REVISION = UUID(int=7)
WHEN = datetime(2026, 3, 2, tzinfo=UTC)


def said(name: str, quote: str, start: int = 0) -> dict[str, object]:
    return {
        "message_id": f"<{name}@example.org>", "message_key": "a" * 16, "doc_version_id": REVISION, "name": name,
        "email": f"{name}@example.org", "date": WHEN, "start": start, "end": start + len(quote), "quote": quote,
    }  # fmt: skip


def thread() -> ConsensusShown:
    vote = {"value": "+1", "binding": True, "kind": "value", "changed": False}
    against = {"state": "open", "resolved": False, "found_by": "formula", "settled_by": None, "answered_in": []}
    return ConsensusShown(
        thread_id="<1@example.org>", thread_key="b" * 16, list_name="list", subject="[VOTE] *2.0*",
        has_consensus=False, consensus_type="mixed", confidence=0.9, conclusion=None, tally={"+1": 1},
        votes=[VoteShown(**said("Ana", "+1 (binding)"), **vote)],
        objections=[ObjectionShown(**said("Ben", "I object to <b>this</b>.\nIt breaks."), **against)],
        unresolved=1,
        statements=[
            StatementShown(**said("Ana", "+1 (binding)"), stance="support", confidence=0.98, found_by="vote"),
            StatementShown(**said("Cy", "I like it.", 4), stance="support", confidence=0.8, found_by="formula"),
        ],
        read_by="formulas", read_at=WHEN, is_current=True,
    )  # fmt: skip


def test_every_line_has_a_citation_and_every_quote_is_cited() -> None:
    made = draft_report("thread", "Report", [thread()])
    lines = [line for section in made.sections for line in section.lines]
    assert [told(line) for line in lines] == [
        "Views stand against each other; nobody has concluded it (confidence 0.90). One objection is unresolved.",
        "Votes. +1: Ana (binding).",
        "Objection by Ben, 2 March 2026, unresolved:",
        "In favour: Cy, 2 March 2026:",
    ]
    assert all(line.citations for line in lines)
    assert all(not quoted(line) or quoted(line) in [one.quote for one in line.citations] for line in lines)


def test_what_only_reads_as_an_objection_is_told_so() -> None:
    read = thread().objections[0].model_copy(update={"found_by": "learned"})
    [section] = draft_report("thread", "Report", [thread().model_copy(update={"objections": [read]})]).sections
    [line] = [line for line in section.lines if line.says == "objection"]
    assert told(line) == "What reads as an objection by Ben, 2 March 2026, unresolved:"


def test_a_line_without_proof_that_holds_is_dropped_and_counted() -> None:
    made = draft_report("thread", "Report", [thread()])
    true = {one for one in made.citations if one.name != "Ben"}
    checked = only_proven(made, true)
    lines = [told(line) for section in checked.sections for line in section.lines]
    assert checked.dropped == 1
    assert not any("Objection" in line for line in lines)
    assert only_proven(made, set()).sections == ()


def test_what_somebody_wrote_stays_words_in_each_form() -> None:
    made = draft_report("consensus", "Report", [thread()])
    markdown = write_report(made, "markdown")
    assert "## \\[VOTE\\] \\*2.0\\*" in markdown
    assert "  > I object to \\<b\\>this\\</b\\>." in markdown
    page = write_report(made, "html")
    assert "I object to &lt;b&gt;this&lt;/b&gt;." in page
    assert "@page" in write_report(made, "print")
    assert "@page" not in page


def test_words_alone_are_neither_escaped_nor_changed() -> None:
    words = write_report(draft_report("consensus", "Report", [thread()]), "text")
    assert "\n[VOTE] *2.0*\n" in words
    assert "\n    I object to <b>this</b>.\n" in words
    assert "\\" not in words


def test_an_empty_report_says_so() -> None:
    silent = thread().model_copy(update={"votes": [], "statements": [], "objections": []})
    made = draft_report("weekly", "Weekly report", [silent])
    assert "Nothing was discussed here." in write_report(made, "markdown")
    assert "Nothing was discussed here." in write_report(replace(made, title="x"), "html")


HOSTILE = (
    "<script>alert(1)</script>", "![x](javascript:alert(1))", "[click](http://evil.example)", "# Heading", "---", "===",
    "1. item", "- item", "```", "| a | b |", "&lt;b&gt;", "[^1]: gone", "<!-- ", "a\u202eb", "**bold** __x__ ~~y~~",
)  # fmt: skip


def test_hostile_words_are_words_in_every_place_and_form() -> None:
    """Read back by a renderer of Markdown that knows HTML, what was written comes out as text and as nothing else."""
    for words in HOSTILE:
        against = ObjectionShown(
            **said("Ben", words), state="open", resolved=False, found_by="formula", settled_by=None, answered_in=[]
        )  # fmt: skip
        named = StatementShown(**said(words, "Well."), stance="support", confidence=1, found_by="formula")
        hostile = thread().model_copy(update={"subject": words, "objections": [against], "statements": [named]})
        made = draft_report("thread", words, [hostile])
        for form in ("html", "print"):
            page = write_report(made, form)
            tree = HTMLParser(page)
            assert {node.tag for node in tree.root.traverse()} <= OURS, words
            assert all(not link.attributes["href"].startswith(("http", "java")) for link in tree.css("a"))
            assert "\u202e" not in page
        assert "\u202e" not in write_report(made, "text")
        markdown = write_report(made, "markdown")
        assert [line[:2] for line in markdown.split("\n") if line.startswith("#")] == ["# ", "##"], words
        body = markdown.partition("\n[^1]:")[0]
        for line in body.split("\n"):
            bare = re.sub(r"\\[^1-9\s]", "", re.sub(r"\[\^\d+\]", "", line)).removeprefix("  > ").lstrip("#")
            assert not re.search(r"[<`\[\]*_|~]", bare), line
            assert not re.match(r"^(?:---|===|\d+[.)] )", bare.strip()), line


OURS = {"html", "head", "meta", "title", "style", "body", "h1", "section", "h2", "ul", "li", "sup", "a", "blockquote",
        "ol", "-text", "_text", "-doctype", "!doctype", "-undef"}  # fmt: skip


def test_a_quote_is_widened_to_its_sentences_and_its_reason_and_no_further() -> None:
    text = "> quoted\nHello. I object.\nIt breaks\nus. More of it.\n\nAnother matter.\n"
    spans = (LabelledSpan("quote", 0, 9, 1), LabelledSpan("new", 9, len(text)))
    start = text.index("object")
    first, last = whole_sentences(text, spans, start, start + 6)
    assert text[first:last] == "I object.\nIt breaks\nus. More of it.\n\nAnother matter."
    vote = "-1 (binding)\n\nThere is no NOTICE file, and without it we cannot ship.\n\nSven"
    whole = (LabelledSpan("new", 0, len(vote)),)
    first, last = whole_sentences(vote, whole, 0, 12)
    assert vote[first:last] == "-1 (binding)\n\nThere is no NOTICE file, and without it we cannot ship."
    assert whole_sentences(text, spans, 2, 8) == (2, 8), "what is quoted from others is left alone"
    endless = "a" * 5_000
    assert whole_sentences(endless, (LabelledSpan("new", 0, 5_000),), 2_000, 2_010) == (2_000, 2_010)
