"""What the reader of stances is shown of a message: whole sentences, and what stands around it."""

import pytest

from mnemon.mail.consensus.said import SaidSentence, sentences_of
from mnemon.mail.consensus.situation import Situation, situation_of
from mnemon.mail.consensus.windows import ALONE, END, SITUATED, stance_windows
from mnemon.mail.spans.labelling import label_text
from mnemon.models.tokens import ModelTokenizer
from mnemon.models.weights import find_weights
from tests.mail.consensus.discussions import discussion


def said(text: str) -> list[str]:
    return [" ".join(one.words.split()) for one in sentences_of(text, label_text(text))]


@pytest.fixture(scope="module")
def tokenizer() -> ModelTokenizer:
    return ModelTokenizer(find_weights().tokenizer)


def test_a_line_break_within_a_sentence_does_not_part_it() -> None:
    text = (
        "The bias estimator of section 6 is only unbiased for Poisson arrivals. Real\n"
        "traffic is nothing of the sort. Anyone who bills customers by this number\n"
        "will be wrong by up to a factor of two. It was given to us by the people of\n"
        "Bergen."
    )
    assert said(text) == [
        "The bias estimator of section 6 is only unbiased for Poisson arrivals.",
        "Real traffic is nothing of the sort.",
        "Anyone who bills customers by this number will be wrong by up to a factor of two.",
        "It was given to us by the people of Bergen.",
    ]


def test_lines_that_their_writer_ended_stand_for_themselves() -> None:
    text = (
        "+1 (binding)\nChecked the lock fix under load, with the settings that we use for the nightly runs.\n"
        "Tag: v2.14.0-rc2\nReviewer: Marama Teepa\n- checksums and signatures are fine\n- built from source"
    )
    assert said(text) == [
        "+1 (binding)",
        "Checked the lock fix under load, with the settings that we use for the nightly runs.",
        "Tag: v2.14.0-rc2",
        "Reviewer: Marama Teepa",
        "- checksums and signatures are fine",
        "- built from source",
    ]


def test_a_message_is_read_with_what_it_answers_and_what_its_sender_wrote_before() -> None:
    talk = discussion(
        "Thursdays",
        ("anna", "The hall offers us Thursdays."),
        ("ben", "Thursday is bad for me."),
        ("anna", "What if we began at 7.45?"),
        ("ben", "That would solve it."),
    )
    first, second, third, last = (situation_of(one, talk) for one in talk.messages)
    assert first == Situation("Thursdays", is_opener=True)
    assert (second.answered, second.answered_by) == ("The hall offers us Thursdays.", "caller")
    assert (third.answered, third.answered_by, third.earlier) == (
        "Thursday is bad for me.",
        "member",
        "The hall offers us Thursdays.",
    )
    assert (last.answered, last.answered_by, last.earlier) == (
        "What if we began at 7.45?",
        "caller",
        "Thursday is bad for me.",
    )


def test_a_quotation_above_stands_for_what_is_answered(tokenizer: ModelTokenizer) -> None:
    words = "That would solve it."
    situation = Situation("Thursdays", answered="What if we began at 7.45?", answered_by="caller")
    [own] = stance_windows([SaidSentence(0, len(words), words)], situation, tokenizer, SITUATED)
    [quoted] = stance_windows([SaidSentence(0, len(words), words, "At 7.45?")], situation, tokenizer, SITUATED)
    shown = tokenizer.ids("caller: What if we began at 7.45?")
    assert list(own.ids[own.ids.index(END) + 1 :][: len(shown)]) == shown
    assert list(quoted.ids[quoted.ids.index(END) + 1 :][:4]) == tokenizer.ids("At 7.45?")[:4]


def test_of_long_texts_around_it_the_beginning_and_the_end_are_shown(tokenizer: ModelTokenizer) -> None:
    words = "That would solve it."
    answered = " ".join(f"number {place}" for place in range(5_000))
    [window] = stance_windows(
        [SaidSentence(0, len(words), words)], Situation("x", answered=answered), tokenizer, SITUATED
    )
    shown = window.ids[window.ids.index(END) + 1 :]
    assert shown.index(END) <= SITUATED.most_answered + 3
    assert list(shown[shown.index(END) - 2 : shown.index(END)]) == tokenizer.ids("number 4999")[-2:]
    assert len(window.ids) < 256


def test_the_reader_that_reads_alone_is_shown_nothing_else(tokenizer: ModelTokenizer) -> None:
    words = "That would solve it."
    said_now = [SaidSentence(0, len(words), words)]
    around = Situation("Thursdays", answered="What if we began at 7.45?", earlier="Thursday is bad for me.")
    assert list(stance_windows(said_now, around, tokenizer, ALONE)) == list(
        stance_windows(said_now, Situation("Thursdays"), tokenizer, ALONE)
    )
