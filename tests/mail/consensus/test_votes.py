"""Votes: what is cast counts, what is quoted, listed or spoken of does not."""

import pytest

from mnemon.mail.consensus.votes import standing_votes, votes_of
from tests.mail.consensus.discussions import discussion

CALL = "Please vote on releasing 2.0.\n\n[ ] +1 release\n[ ] 0 no opinion\n[ ] -1 do not release, because\n"


def cast(*said: tuple[str, str]) -> dict[str, tuple[str, bool | None, str]]:
    votes = standing_votes(votes_of(discussion("[VOTE] Release 2.0", ("Rosa", CALL), *said)))
    return {vote.name: (vote.value, vote.binding, vote.kind) for vote in votes}


@pytest.mark.parametrize(
    ("words", "value", "binding"),
    [
        ("+1", "+1", None),
        ("+1 (binding)", "+1", True),
        ("+1 (non-binding), built it on arm64.", "+1", False),
        ("Awesome! +1", "+1", None),
        ("Here is my +1 (binding).", "+1", True),
        ("-1, the tarball holds a key.", "-1", None),
        ("-0 (nb): could have waited", "-0", False),
        ("+0.5 since I only read the diff", "+0.5", None),
        ("0 - on holiday", "0", None),
        ("I'm at 0 now.", "0", None),
        ("*+1*", "+1", None),
        ("That's a -1 from me.", "-1", None),
        ("+1000", "+1", None),
    ],
)
def test_a_value_that_is_cast_counts(words: str, value: str, binding: bool | None) -> None:
    assert cast(("Ana", words)) == {"Ana": (value, binding, "value")}


@pytest.mark.parametrize(
    "words",
    [
        "We still need a +1 from somebody.",
        "Only two +1 so far.",
        "I assume I can translate this to a +1...",
        "The call returns -1 on failure.",
        "It moves the clock by +1 hour.",
        "If there is no -1 by Friday I go ahead.",
        "I would be +1 if the tests passed.",
        "> +1\n\nThanks for testing.",
        "> [X] +1 release\n\nNoted.",
        "[ ] +1 release\n[ ] 0 no opinion\n[ ] -1 do not release",
        "+1 release\n0 no opinion\n-1 do not release",
    ],
)
def test_what_is_spoken_of_quoted_or_only_listed_is_no_vote(words: str) -> None:
    assert cast(("Ana", words)) == {}


def test_a_ticked_ballot_is_a_vote_and_an_unticked_one_is_not() -> None:
    ballot = "[X] +1 release\n[ ] 0 no opinion\n[ ] -1 do not release, because\n"
    assert cast(("Ana", ballot)) == {"Ana": ("+1", None, "ballot")}


def test_the_last_vote_of_a_person_stands_and_the_first_is_kept_as_changed() -> None:
    found = votes_of(
        discussion("[VOTE] 2.0", ("Rosa", CALL), ("Ana", "-1, no licence"), ("Ana", "I retract the -1, make it +1."))
    )
    assert [(vote.value, vote.changed) for vote in found] == [("-1", True), ("+1", False)]


def test_a_vote_that_was_taken_back_does_not_stand() -> None:
    assert cast(("Ana", "+1"), ("Ana", "I take back my +1 until that is out.")) == {}


def test_approval_without_a_value_is_marked_as_implicit() -> None:
    assert cast(("Ana", "Non binding but it works well for me on Java 9.")) == {"Ana": ("+1", False, "implicit")}
    assert cast(("Ana", "Would it work for me on Java 9?")) == {}


def test_words_are_votes_only_where_words_were_asked_for() -> None:
    call = ("Rosa", "Please vote by reply: yes, no or abstain.")
    found = votes_of(discussion("Vote: new name", call, ("Ana", "Yes."), ("Ben", "No. Too long."), ("Cy", "Abstain")))
    assert [(vote.name, vote.value, vote.kind) for vote in found] == [
        ("Ana", "+1", "word"),
        ("Ben", "-1", "word"),
        ("Cy", "0", "word"),
    ]
    assert cast(("Ana", "Yes. I saw that too.")) == {}


def test_the_words_of_a_vote_stand_where_it_says() -> None:
    told = discussion("[VOTE] 2.0", ("Rosa", CALL), ("Ana", "> please vote\n\nHi all,\n\n+1 (binding), thanks!"))
    for vote in votes_of(told):
        assert told.by_id[vote.message_id].text[vote.start : vote.end] == vote.quote
