"""The state of a discussion, by formulas alone: what a chair concludes stands above what is counted."""

from collections.abc import Sequence

import pytest

from mnemon.mail.consensus.conclusions import concludes
from mnemon.mail.consensus.judging import Consensus, judge_discussion
from mnemon.mail.consensus.reader import FormulaReader, JudgedSentence
from mnemon.mail.consensus.said import SaidSentence
from mnemon.mail.consensus.situation import Situation
from tests.mail.consensus.discussions import discussion

CALL = ("Chair", "This starts a last call on draft-berg-tide-03.")


def judged(*said: tuple[str, str], subject: str = "Last call: draft-berg-tide-03") -> Consensus:
    return judge_discussion(discussion(subject, CALL, *said), FormulaReader())


def test_support_without_an_objection_is_agreement() -> None:
    found = judged(("Ana", "I support publication."), ("Ben", "Agreed."))
    assert (found.type, found.supporters, found.unresolved) == ("agreement", ["ana", "ben"], ())


def test_one_open_objection_outweighs_no_number_of_supporters() -> None:
    found = judged(
        ("Ana", "I support publication."), ("Ben", "Agreed."), ("Cy", "LGTM"), ("Dee", "I object to section 4.")
    )
    assert found.type == "mixed"
    assert [one.statement.quote for one in found.unresolved] == ["I object to section 4."]


def test_a_withdrawn_objection_is_resolved_by_the_words_that_withdraw_it() -> None:
    found = judged(
        ("Ana", "I support publication."),
        ("Dee", "I object to section 4."),
        ("Chair", "New text is in -04."),
        ("Dee", "That resolves my concern, thanks."),
    )
    assert found.type == "agreement"
    assert [one.state for one in found.objections] == ["withdrawn"]
    assert found.objections[0].settled_by is not None
    assert found.objections[0].settled_by.quote == "That resolves my concern, thanks."


def test_an_objection_that_was_only_answered_is_still_unresolved_and_one_that_was_met_is_not() -> None:
    answered = judged(("Dee", "I object to section 4."), ("Ana", "Section 4 is from the charter. I support it."))
    assert [one.state for one in answered.unresolved] == ["answered"]
    met = judged(("Dee", "I object to section 4."), ("Ana", "I have removed it. I support the rest."))
    assert [one.state for one in met.objections] == ["met"]
    assert met.unresolved == ()


@pytest.mark.parametrize(
    "answer",
    [
        "Nothing needs to be fixed here.",
        "It has not been changed and will not be.",
        "Section 4 should be removed, I agree.",
        "Why should that be changed?",
    ],
)
def test_a_change_that_is_denied_or_wished_for_meets_no_objection(answer: str) -> None:
    found = judged(("Ana", "I support publication."), ("Dee", "I object to section 4."), ("Eve", answer))
    assert [one.state for one in found.objections] == ["answered"]
    assert found.type == "mixed"


def test_who_would_agree_on_a_condition_still_objects_until_it_is_met() -> None:
    said = (
        ("Ana", "I support publication."),
        ("Dee", "I object to section 4."),
        ("Chair", "It is from the charter."),
        ("Dee", "I would support this if the table goes."),
    )
    assert judged(*said).type == "mixed"
    assert [one.state for one in judged(*said).unresolved] == ["open"]
    assert judged(*said, ("Chair", "I have removed the table.")).unresolved == ()


def test_agreement_with_another_about_something_withdraws_no_objection() -> None:
    first = (("Dee", "I object to section 4."), ("Ana", "I support publication."))
    found = judged(*first, ("Ben", "The figure is upside down."), ("Dee", "Good catch."))
    assert [one.state for one in found.unresolved] == ["answered"]
    found = judged(first[0], ("Chair", "Section 4 says so in -04."), ("Dee", "Works for me."))
    assert [one.state for one in found.objections] == ["withdrawn"]


def test_an_objection_is_not_outweighed_by_other_words_of_its_own_mail() -> None:
    found = judged(("Ana", "I support publication."), ("Dee", "I object to section 4. I agree with the rest."))
    assert (found.type, len(found.unresolved)) == ("mixed", 1)


def test_who_takes_back_a_vote_in_favour_is_counted_for_nothing() -> None:
    ballot = ("Rosa", "[ ] +1 release\n[ ] -1 do not release\n")
    told = discussion("[VOTE] 2.0", ballot, ("Ana", "+1"), ("Ben", "+1"), ("Ana", "I take back my +1, the tests fail."))
    found = judge_discussion(told, FormulaReader())
    assert (found.type, found.supporters, found.tally()) == ("mixed", ["ben"], {"+1": 1})


@pytest.mark.parametrize(
    ("words", "concluded"),
    [
        ("The vote has not passed.", "failed"),
        ("The vote did not succeed.", "failed"),
        ("Der Antrag wurde nicht angenommen.", "failed"),
        ("There is no clear support for this.", "no_consensus"),
        ("I don't believe there is rough consensus to publish.", "no_consensus"),
        ("The vote has not yet passed.", None),
        ("As I did not hear any -1 the vote passes.", "passed"),
        ("The vote, with not a single -1, passes.", "passed"),
        ("Es gab keine Einwände, der Antrag ist damit angenommen.", "passed"),
    ],
)
def test_a_conclusion_that_is_denied_is_another_one(words: str, concluded: str | None) -> None:
    assert concludes(words) == concluded


def test_objections_alone_are_dissent_and_silence_is_none() -> None:
    assert judged(("Dee", "I object to section 4.")).type == "dissent"
    assert judged(("Dee", "The page moved to another server.")).type == "none"


def test_a_chairs_conclusion_overrides_and_keeps_the_open_objection() -> None:
    found = judged(
        ("Dee", "I object to section 4."),
        ("Ana", "I support publication."),
        ("Chair", "The chairs see rough consensus to publish, with Dee in the rough."),
    )
    assert found.conclusion is not None
    assert (found.type, found.conclusion.concluded) == ("mixed", "passed")
    assert len(found.unresolved) == 1


def test_only_who_may_concludes() -> None:
    found = judged(("Ana", "I support it."), ("Eve", "The chairs see no consensus to publish."))
    assert found.conclusion is None


def test_a_vote_that_passed_never_reads_as_dissent() -> None:
    ballot = ("Rosa", "Vote on 2.0.\n\n[ ] +1 release\n[ ] -1 do not release, because\n")
    found = judge_discussion(
        discussion(
            "[VOTE] Release 2.0",
            ballot,
            ("Ana", "-1"),
            ("Ben", "-1 (non-binding)"),
            ("Cy", "+1 (binding)"),
            ("Rosa", "Subject: [RESULT] [VOTE] Release 2.0\nThe vote has passed.\n\n+1: Cy, Dee, Eve\n-1: Ana, Ben\n"),
        ),
        FormulaReader(),
    )
    assert (found.type, found.tally()) == ("mixed", {"-1": 2, "+1": 1})


def test_a_cancelled_vote_is_known_by_its_tag() -> None:
    found = judge_discussion(
        discussion(
            "[VOTE] Release 2.0",
            ("Rosa", "[ ] +1 release\n[ ] -1 do not release\n"),
            ("Ana", "-1, it does not start"),
            ("Rosa", "Subject: [CANCELED] [VOTE] Release 2.0\nAn issue was found with Java 9."),
        ),
        FormulaReader(),
    )
    assert found.conclusion is not None
    assert (found.type, found.conclusion.concluded) == ("dissent", "cancelled")


def test_every_statement_stands_where_it_says() -> None:
    told = discussion("Plan", CALL, ("Ana", "> I object.\n\nI agree with the plan.\nSee you.\n-- \nAna, I object"))
    found = judge_discussion(told, FormulaReader())
    assert [one.quote for one in found.statements] == ["I agree with the plan."]
    for one in found.statements:
        assert told.by_id[one.message_id].text[one.start : one.end] == one.quote


class Gloomy(FormulaReader):
    """Takes every sentence for an objection."""

    def judge(self, said: Sequence[SaidSentence], situation: Situation) -> list[JudgedSentence]:
        return [JudgedSentence(one, "object", 0.9, False, {}) for one in said]


def test_a_sentence_that_only_sounds_like_an_objection_beside_a_vote_is_none() -> None:
    ballot = ("Rosa", "[ ] +1 release\n[ ] -1 do not release\n")
    told = discussion("[VOTE] 2.0", ballot, ("Ana", "+1\n\nNo time to test it this week."), ("Ben", "It is late."))
    assert [one.statement.speaker for one in judge_discussion(told, Gloomy()).objections] == ["ben"]


def test_who_defends_a_proposal_of_their_own_does_not_object_to_it() -> None:
    said = (("Rosa", "Use one file."), ("Ana", "Two are better."), ("Rosa", "Two are slower by a third."))
    assert [one.statement.speaker for one in judge_discussion(discussion("One file", *said), Gloomy()).objections] == [
        "ana"
    ]


def test_who_corrects_somebody_that_asks_for_help_does_not_object() -> None:
    said = (("Olu", "The manual says a tenth."), ("Sven", "It is a tenth of what is read, not of what is stored."))
    for asks in ("How do you size the cache?", "Why does the build fail?", "[tern] What is a segment?"):
        assert judge_discussion(discussion(asks, *said), Gloomy()).objections == ()
    for proposes in ("Drop Python 3.9?", "What should we call it?", "Which identifier for cells?"):
        assert judge_discussion(discussion(proposes, *said), Gloomy()).objections
    plain = discussion("How do you size the cache?", said[0], ("Sven", "I object to that manual."))
    assert judge_discussion(plain, FormulaReader()).objections, "who says so in plain words does"
