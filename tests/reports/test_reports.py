"""Reports: every line cites words that stand where it says, in each form, and nothing else is told."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from mnemon.mail.consensus.outputs import ConsensusShown, ObjectionShown, StatementShown, VoteShown
from mnemon.reports.checking import only_proven
from mnemon.reports.drafting import draft_report
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
    against = {"state": "open", "resolved": False, "settled_by": None, "answered_in": []}
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
    assert [line.told.partition(",")[0] for line in lines] == [
        "Mixed: views stand against each other (confidence 0.90). 1 unresolved.",
        "Votes. +1: Ana (binding).",
        "Unresolved objection",
        "In favour",
    ]
    assert all(line.citations for line in lines)
    assert all(not line.quoted or line.quoted in [one.quote for one in line.citations] for line in lines)


def test_a_line_without_proof_that_holds_is_dropped_and_counted() -> None:
    made = draft_report("thread", "Report", [thread()])
    true = {one for one in made.citations if one.name != "Ben"}
    checked = only_proven(made, true)
    told = [line.told for section in checked.sections for line in section.lines]
    assert checked.dropped == 1
    assert not any("objection" in line for line in told)
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


def test_an_empty_report_says_so() -> None:
    silent = thread().model_copy(update={"votes": [], "statements": [], "objections": []})
    made = draft_report("weekly", "Weekly report", [silent])
    assert "Nothing was discussed here." in write_report(made, "markdown")
    assert "Nothing was discussed here." in write_report(replace(made, title="x"), "html")
