"""What of a text can be quoted by itself, and what goes on with the line before it."""

from mnemon.ask.proven import ProvenSentence, told_together
from mnemon.ask.quoting.statements import statements_in

STAND_UP = """# Stand-up 3 November 2026
- Aoife: fixed the flaky login test
- Lena: proposes to move to Postgres 17
Decision: we stay on Postgres 16 until the spring.
Tunde will write to the vendor by Thursday.
"""
WRAPPED = """- a long item that somebody has wrapped at some width of his editor as most people
do when they write minutes by hand
- one that is indented where
  it goes on
- a short one
"""
TALK = """Anna: I looked at it
and it is broken.
Decision: we drop it
Ben: fine
Anna: then that is that
"""


def said(text: str) -> list[str]:
    return [one.text for one in statements_in(text, 0)]


def test_what_stands_below_a_list_is_none_of_its_last_item() -> None:
    assert said(STAND_UP) == [
        "Aoife: fixed the flaky login test",
        "Lena: proposes to move to Postgres 17",
        "Decision: we stay on Postgres 16 until the spring.",
        "Tunde will write to the vendor by Thursday.",
    ]


def test_an_item_goes_on_where_it_is_wrapped_or_indented() -> None:
    assert [one.replace("\n", " ") for one in said(WRAPPED)] == [
        "a long item that somebody has wrapped at some width of his editor as most people do when they write minutes "
        "by hand",
        "one that is indented where   it goes on",
        "a short one",
    ]


def test_a_labelled_line_below_somebodys_words_begins_anew() -> None:
    assert "Decision: we drop it" in said(TALK)


def test_what_ends_without_a_stop_does_not_run_into_the_next_sentence() -> None:
    told = [ProvenSentence(words, (), (), "answer", "") for words in ("Ana: looks at it", "It broke.", "It is back.")]
    assert told_together(told) == "Ana: looks at it\nIt broke. It is back."


def test_a_name_alone_above_a_list_speaks_and_is_no_part_of_what_stands_before_it() -> None:
    text = "Stand-up\n\nIngrid\n- crane is booked\n- the mast is bare\nOluwaseun\n- rope is here\n"
    assert [(one.speaker, one.text) for one in statements_in(text, 0) if one.kind == "item"] == [
        ("Ingrid", "crane is booked"), ("Ingrid", "the mast is bare"), ("Oluwaseun", "rope is here"),
    ]  # fmt: skip
