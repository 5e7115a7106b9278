"""Chunks follow the structure of a text, keep within their size, and hold all of it exactly once."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemon.documents.extraction.eml.extract import extract_eml
from mnemon.documents.extraction.limits import DEFAULT_LIMITS
from mnemon.documents.extraction.markdown import extract_markdown
from mnemon.documents.extraction.plain import extract_plain
from mnemon.documents.ingest.chunking import chunk
from mnemon.documents.ingest.content import Chunk, Details, Extraction, Page
from mnemon.documents.ingest.embedded_text import text_to_embed
from mnemon.documents.ingest.sizes import DEFAULT_SIZES, ChunkSizes
from mnemon.documents.structure.structure import Block
from mnemon.settings import Settings
from tests.documents.invariants import check_chunks, count

SENTENCE = "The committee decided to move the release of the second part to the first week of March. "


def chunks_of(markdown: str) -> list[Chunk]:
    return check_chunks(extract_markdown(markdown.encode(), DEFAULT_LIMITS))


def test_a_long_section_becomes_chunks_of_the_wanted_size() -> None:
    paragraphs = [SENTENCE * 4 for _ in range(60)]
    chunks = chunks_of("# Minutes\n\n" + "\n\n".join(paragraphs))
    assert len(chunks) > 5
    assert all(140 <= one.tokens <= 200 for one in chunks)
    assert all(one.text.endswith("March.") for one in chunks)
    assert {tuple(one.headings) for one in chunks} == {("Minutes",)}


def test_sections_do_not_meet_in_a_chunk_and_keep_their_path() -> None:
    chunks = chunks_of("# Plan\n\n## Goals\n\nGrow.\n\n## Risks\n\nRain.\n\n### Storms\n\nWind.\n\n# Annex\n\nEnd.")
    assert [(one.headings, one.text) for one in chunks] == [
        (("Plan", "Goals"), "# Plan\n\n## Goals\n\nGrow."),
        (("Plan", "Risks"), "## Risks\n\nRain."),
        (("Plan", "Risks", "Storms"), "### Storms\n\nWind."),
        (("Annex",), "# Annex\n\nEnd."),
    ]


def test_a_table_that_fits_stays_whole_even_over_the_usual_size() -> None:
    table = "| name | task |\n|---|---|\n" + "\n".join(f"| Person {n} | writes part {n} |" for n in range(22))
    assert 160 < count(table) < 210
    chunks = chunks_of(f"# Tasks\n\n{SENTENCE * 7}\n\n{table}\n\n{SENTENCE * 7}")
    assert any(table in one.text for one in chunks)


def test_a_table_that_does_not_fit_is_parted_between_rows() -> None:
    table = "| name | task |\n|---|---|\n" + "\n".join(f"| Person {n} | writes part {n} |" for n in range(300))
    chunks = chunks_of(table)
    assert len(chunks) > 4
    assert all(one.text.startswith("|") and one.text.endswith("|") for one in chunks)


def test_a_list_stays_whole_and_with_the_line_that_announces_it() -> None:
    items = "\n".join(f"- item number {n} is to be done soon" for n in range(15))
    chunks = chunks_of(f"{SENTENCE * 9}\n\nTo be done:\n\n{items}")
    assert any(f"To be done:\n\n{items}" in one.text for one in chunks)


def test_a_sentence_longer_than_a_chunk_is_parted_between_words() -> None:
    chunks = chunks_of("word and " * 3000)
    assert len(chunks) > 5
    assert all(one.text.split()[-1] in ("word", "and") for one in chunks)


def test_a_giant_word_is_parted_although_a_tokenizer_calls_it_one_token() -> None:
    chunks = chunks_of("A" * 100_000)
    assert len(chunks) > 10
    assert max(len(one.text) for one in chunks) <= DEFAULT_SIZES.cap * 10


def talk(*lines: tuple[str, str]) -> Extraction:
    text, blocks = "", []
    for speaker, said in lines:
        start = len(text)
        text += f"{speaker}: {said.strip()}"
        blocks.append(Block("message", start, len(text), speaker=speaker))
        text += "\n"
    return Extraction(text, blocks, Details(), "txt/1")


def test_each_turn_of_a_talk_is_a_chunk_and_a_long_one_several() -> None:
    chunks = check_chunks(talk(("Anna", "Shall we start? " * 120), ("Ben", "Yes."), ("Anna", "Good.")))
    assert len(chunks) > 4
    assert [(one.speaker, one.text) for one in chunks[-2:]] == [("Ben", "Ben: Yes."), ("Anna", "Anna: Good.")]
    assert {one.speaker for one in chunks[:-2]} == {"Anna"}


def test_chunks_say_on_which_pages_they_stand() -> None:
    text = SENTENCE * 40
    third = len(text) // 3
    pages = [Page(n + 1, n * third, (n + 1) * third, 595, 842) for n in range(3)]
    chunks = chunk(Extraction(text, [], Details(), "pdf/1", pages), count)
    assert chunks[0].first_page == 1
    assert chunks[-1].last_page == 3
    assert all(one.first_page <= one.last_page for one in chunks)


CHAT = """Chat of the rowing club

8 May 2026, 13:56

Anna: Hi Ben, did the new boat come?
Ben: Not yet. They say Thursday.

## Session 2 (14 May 2026)

Ben: It came this morning.
It is red.
Anna: Lovely!
"""


def test_turns_know_the_day_of_their_session_and_a_line_without_a_name_goes_on_with_its_turn() -> None:
    chunks = check_chunks(extract_plain(CHAT.encode(), DEFAULT_LIMITS))
    turns = [(one.speaker, str(one.said_on), one.text.split("\n\n")[-1]) for one in chunks if one.speaker]
    assert turns == [
        ("Anna", "2026-05-08", "Anna: Hi Ben, did the new boat come?"),
        ("Ben", "2026-05-08", "Ben: Not yet. They say Thursday."),
        ("Ben", "2026-05-14", "Ben: It came this morning.\nIt is red."),
        ("Anna", "2026-05-14", "Anna: Lovely!"),
    ]
    assert "Session 2 (14 May 2026)" in chunks[-1].headings[-1]


@pytest.mark.parametrize(
    "lines",
    [
        ["[2026-05-08 13:56] Anna: Did it come?", "[2026-05-08 13:57] Ben: No.", "[2026-05-09 08:00] Ben: Now it did."],
        ["Anna (1:56 pm on 8 May, 2026): Did it come?", "Ben (8 May 2026): No.", "Ben (9 May, 2026): Now it did."],
        ["2026-05-08T13:56:00Z Anna: Did it come?", "2026-05-08T13:57Z Ben: No.", "2026-05-09T08:00Z Ben: Now it did."],
    ],
)  # fmt: skip
def test_a_stamp_gives_its_turn_a_day_and_no_words_to_embed(lines) -> None:
    chunks = check_chunks(extract_plain("\n".join(lines).encode(), DEFAULT_LIMITS))
    assert [(one.speaker, str(one.said_on)) for one in chunks] == [
        ("Anna", "2026-05-08"), ("Ben", "2026-05-08"), ("Ben", "2026-05-09")
    ]  # fmt: skip
    assert text_to_embed(chunks[0].headings, chunks[0].text, chunks[0].speaker) == "Anna: Did it come?"


def test_talk_in_a_document_is_parted_by_turn_too() -> None:
    minutes = (
        "# Board\n\nThe board met in the hall.\n\n**Anna:** I think we should buy it.\n**Ben:** I am not for it.\n"
    )
    chunks = chunks_of(minutes + "\n**Anna:** Then we vote.\n\n# Votes\n\nThree for it, one against it.\n")
    assert [(one.speaker, one.text.split("\n\n")[-1]) for one in chunks] == [
        (None, "The board met in the hall."),
        ("Anna", "**Anna:** I think we should buy it."),
        ("Ben", "**Ben:** I am not for it."),
        ("Anna", "**Anna:** Then we vote."),
        (None, "Three for it, one against it."),
    ]


def test_what_a_mail_quotes_is_not_in_one_chunk_with_what_its_sender_writes() -> None:
    mail = (
        "From: Anna Berg <anna@example.org>\nTo: ben@example.org\nSubject: Boat\nDate: 8 May 2026 13:56:00 +0000\n\n"
        "I agree with you.\n\nOn Thursday, Ben Roth <ben@example.org> wrote:\n> We should buy the red boat.\n"
    )
    chunks = check_chunks(extract_eml(mail.encode(), DEFAULT_LIMITS))
    assert [one.speaker for one in chunks] == ["Anna Berg", "Ben Roth"]
    assert "red boat" in chunks[1].text


def test_sizes_are_settings() -> None:
    extraction = extract_markdown(("# Plan\n\n" + SENTENCE * 40 + "\n\n# End\n\nDone.").encode(), DEFAULT_LIMITS)
    small, large = (chunk(extraction, count, ChunkSizes(target=target)) for target in (90, 900))
    assert max(one.tokens for one in small) <= 120 < 600 < max(one.tokens for one in large)
    whole = chunk(extraction, count, ChunkSizes(single_piece=1200))
    assert [one.text for one in whole] == [extraction.text.strip()]
    overlapping = chunk(extraction, count, ChunkSizes(target=90, overlap=40))
    shared = [one.end - other.start for one, other in pairwise(overlapping) if one.headings == other.headings]
    assert all(0 < each <= 40 * 10 for each in shared)


CHARACTERS = st.characters(codec="utf-8") | st.sampled_from(list("  \n\n.!?。#-|>` aA1"))
WORDS = st.lists(st.text(CHARACTERS, min_size=1, max_size=60), min_size=1, max_size=60)


@settings(max_examples=300, deadline=None)
@given(WORDS, st.integers(1, 30), st.sampled_from(["", " ", "\n", "\n\n", ". "]))
def test_any_text_is_held_once_and_exactly(words, times, between) -> None:
    chunks_of(between.join(words * times))


@pytest.mark.parametrize("part", ["\n", "a ", "- a\n", "# a\n\n", "| a |\n", "。", "ย", "a\u0301", "x" * 50 + " "])
def test_a_monotonous_text_of_any_kind_is_parted(part) -> None:
    chunks_of(part * 3000)


def test_sizes_of_chunks_come_from_the_settings_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in (
        ("CHUNK_TARGET_TOKENS", "90"),
        ("SINGLE_PIECE_MAX_TOKENS", "1200"),
        ("CHUNK_OVERLAP_TOKENS", "60"),
    ):
        monkeypatch.setenv(name, value)
    assert ChunkSizes.of(Settings(home=tmp_path)) == ChunkSizes(target=90, single_piece=1200, overlap=45)
