"""Sentences are found as a reader would part them, at exact offsets."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemon.documents.structure import sentences as sentence_room
from mnemon.documents.structure.sentences import SPECIAL, sentences


def parted(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["We ship on Monday.", "Anna writes the notes.", "Agreed?", "Yes!"],
        ["Dr. Smith met Mr. J. R. Jones at 3.30 p.m. in St. Gallen.", "They agreed."],
        ["The price rose by 3.5 percent to 1.200 euros.", "Nobody objected."],
        ["Bring notes, e.g. the minutes, i.e. the draft.", "Then we decide."],
        ["See https://example.org/a.b?c=d.e for more.", "It is short."],
        ['He said "We are done."', "She left."],
        ["“Really?” he asked.", "“Yes.”", "It was late."],
        ["Well... maybe not.", "So...", "The end."],
        ["Er sagte: „Wir gehen.“", "Dann ging er, z. B. heim."],
        ["The U.S. economy grew.", "The E.U. followed."],
        ["See Fig. 3 and No. 7 on p. 12.", "Then sign."],
        ["Am 3. März beginnt es.", "Danach z.B. die Feier."],
        ["Acme Inc. and Beta Ltd. merged.", "We wait."],
        ["It costs 5.", "Then it costs 6."],
        ["## 2. Models are compared.", "We wait."],
        ["会議は終わりました。", "次は月曜日です！", "良いですか？"],
        ["यह पहला है।", "यह दूसरा है।"],
    ],
)
def test_sentences_end_where_a_reader_ends_them(expected) -> None:
    joined = "".join(expected) if expected[0][-1] in "。！？" else " ".join(expected)
    assert parted(joined) == expected


def test_list_items_and_blank_lines_part_sentences_without_a_full_stop() -> None:
    assert parted("To do\n- call Anna\n- write to Ben\n\nNext meeting") == [
        "To do", "- call Anna", "- write to Ben", "Next meeting",
    ]  # fmt: skip
    assert parted("1. Approve the plan. 2. Send it.") == ["1. Approve the plan.", "2. Send it."]


def test_a_wrapped_line_does_not_end_a_sentence() -> None:
    assert parted("The board has decided\nto go ahead. It is\nfinal.") == [
        "The board has decided\nto go ahead.", "It is\nfinal.",
    ]  # fmt: skip


def test_only_the_asked_part_is_parted() -> None:
    text = "One. Two. Three."
    assert [text[a:b] for a, b in sentences(text, 5, 9)] == ["Two."]


@given(st.text(alphabet=st.characters(codec="utf-8") | st.sampled_from(list(" \n.!?。…-1aA\"'")), max_size=300))
def test_sentences_hold_all_that_is_not_white_space_once_and_in_order(text) -> None:
    spans = sentences(text)
    inside = "".join(text[start:end] for start, end in spans)
    assert "".join(inside.split()) == "".join(text.split())
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)


ODD_WORDS = (*sorted(SPECIAL), "word", "iv", "xvi", "A", "B", "12", "Z.B", "(cf", "\n", "May")


@given(st.lists(st.sampled_from(ODD_WORDS)))
def test_a_quick_look_at_a_word_comes_to_the_same_end(words) -> None:
    text = "".join(f"{word}. Then " if number % 2 else f"{word} " for number, word in enumerate(words))
    quick = sentences(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence_room, "_is_ordinary", lambda window: False)
        assert sentences(text) == quick
