"""What can be quoted as an answer: whole turns of a talk, sentences, and of a mail what its writer says."""

from mnemon.ask.units import MAIL, subject_of, units_of

CHAT = """#operations, 9 April 2026

[16:31] Aoife Byrne: one of our keys is public. forwarding the mail now
[16:33] Priya Raman: looking
[16:36] Jonas Weber: oh no. that was me 🙈
"""
MAIL_TEXT = """From: Jonas Weber <jonas@example.org>
Date: Mon, 4 May 2026 11:30:45 +0200
Subject: Re: No releases on Fridays

On Mon, 4 May 2026 at 10:02, Tomas Lindqvist wrote:
> three of the last five faults came from a Friday. I propose
> that we stop.

-1 for now. We need every day.
"""


def said(passage: str, media_type: str = "text/plain") -> list[str]:
    return [passage[unit.start : unit.end] for unit in units_of(passage, media_type)]


def test_the_turns_of_a_talk_are_told_apart_with_their_speakers() -> None:
    assert said(CHAT) == [
        "#operations, 9 April 2026",
        "[16:31] Aoife Byrne: one of our keys is public. forwarding the mail now",
        "[16:33] Priya Raman: looking",
        "[16:36] Jonas Weber: oh no. that was me 🙈",
    ]
    assert [unit.speaker for unit in units_of(CHAT, "text/plain")] == [
        None,
        "Aoife Byrne",
        "Priya Raman",
        "Jonas Weber",
    ]


def test_a_long_turn_is_parted_into_its_sentences() -> None:
    sentence = "This goes on and on and on without an end in sight."
    long = f"[16:31] Ada Bell: {' '.join([sentence] * 8)}\n[16:32] Ben Carr: stop"
    assert said(long)[0] == f"[16:31] Ada Bell: {sentence}"
    assert said(long)[1:8] == [sentence] * 7


def test_the_headers_of_a_mail_answer_nothing_and_its_quotations_are_told_apart() -> None:
    units = units_of(MAIL_TEXT, MAIL)
    own = [MAIL_TEXT[unit.start : unit.end] for unit in units if not unit.quoted]
    repeated = " ".join(MAIL_TEXT[unit.start : unit.end] for unit in units if unit.quoted)
    assert own == ["-1 for now.", "We need every day."]
    assert repeated.startswith("On Mon, 4 May 2026") and repeated.endswith("that we stop.")
    assert subject_of(MAIL_TEXT) == "Re: No releases on Fridays"
    assert subject_of(CHAT) == ""


def test_a_later_part_of_a_mail_has_no_headers_to_lose() -> None:
    assert said("From here on we agree. From: is a word.", MAIL) == ["From here on we agree.", "From: is a word."]
