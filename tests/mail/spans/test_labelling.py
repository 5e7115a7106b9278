"""Spans say what each part of a mail is; nothing is taken out, and the way back is exact."""

import pytest

from mnemon.mail.message.reading import read_message
from mnemon.mail.spans.labelling import label_text
from mnemon.mail.spans.normalized import new_text
from tests.mail.eval_data import FOLDER, needs_mail


def labelled(text: str) -> list[tuple[str, int, str]]:
    spans = label_text(text)
    assert "".join(text[one.start : one.end] for one in spans) == text
    return [(one.label, one.depth, text[one.start : one.end].strip()) for one in spans]


def new_of(text: str) -> str:
    return new_text(text, label_text(text))


def test_an_answer_between_the_lines() -> None:
    text = "Hi,\n\nOn Mon, 2 Jan 2023, Anna wrote:\n> > Ship it?\n> No.\n\nWhy not?\n\n-- \nBen\n"
    assert labelled(text) == [
        ("new", 0, "Hi,"),
        ("attribution", 0, "On Mon, 2 Jan 2023, Anna wrote:"),
        ("quote", 2, "> > Ship it?"),
        ("quote", 1, "> No."),
        ("new", 0, "Why not?"),
        ("signature", 0, "-- \nBen"),
    ]


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("Yes.\n\nAm 02.01.2023 um 10:00 schrieb Anna Berg:\n> Gut?\n", "Yes."),
        ("Yes.\n\nOn Fri, Jul 17, 2026 at 3:55 AM Job <job@b.example>\nwrote:\n\n> Hi,\n", "Yes."),
        ("Yes.\n\nOn Fri, Jul 17, 2026, Job wrote:\n\nHi,\nall of this is old.\n", "Yes."),
        ("Yes.\n\n-----Original Message-----\nFrom: A\nSent: today\n\nOld.\n", "Yes."),
        ("Yes.\n\nFrom: A <a@b.example>\nSent: Monday\nTo: B\nSubject: x\n\nOld.\n", "Yes."),
        ("Yes.\n_______________________________________________\nQUIC mailing list\nquic@ietf.example\n", "Yes."),
        ("+1\n\n---------------------------------\nTo unsubscribe, e-mail: x@y.example\n", "+1"),
        ("Done.\n\nBest regards,\nAnna Berg\n", "Done."),
        ("Done.\n\nSent from my phone\n", "Done."),
        ("First.\n\n--\nThis is a rule.\n" + "And a long story.\n" * 30, None),
        ("From: me and others, we think\nthat it is good.\n", None),
        ("He said that Anna wrote:\nnothing at all.\n", None),
    ],
)
def test_what_is_new(text: str, new: str | None) -> None:
    assert new_of(text) == (text.strip() if new is None else new)


def test_a_ballot_is_no_vote_and_a_diff_is_no_prose() -> None:
    text = "Please vote:\n\n[ ] +1 release it\n[ ] 0\n[ ] -1 do not, because\n\nThe change:\n\ndiff --git a/x b/x\n"
    text += "index 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"
    assert [(label, words[:7]) for label, _, words in labelled(text)] == [
        ("new", "Please "),
        ("ballot", "[ ] +1 "),
        ("new", "The cha"),
        ("code", "diff --"),
    ]


def test_the_new_text_is_what_stands_between_quotes() -> None:
    assert new_of("One.\n> old\nTwo three.\n> old\nFour.") == "One.\nTwo three.\nFour."


@pytest.mark.parametrize("unit", ["> ", "-", "On 1 wrote", "[ ] ", "a:\n", ">\n\n", "--\n", "_", "From: a\n", "```\n"])
def test_a_text_without_end_is_labelled_in_linear_time(unit: str) -> None:
    # A pattern that looks back over all of it would not come to an end today.
    labelled(unit * (200_000 // len(unit)))


@needs_mail
def test_new_text_of_mails_that_others_labelled() -> None:
    for file in sorted((FOLDER / "quote-gold").glob("*.eml")):
        message = read_message(file.read_bytes())
        found = "".join(new_text(message.text, message.spans).split())
        gold = "".join((FOLDER / "quote-gold" / "expected" / f"{file.stem}.txt").read_text(encoding="utf-8").split())
        assert 0.9 * len(gold) < len(found) < 1.1 * len(gold) + 60, file.name
