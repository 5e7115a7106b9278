"""Chunks follow the structure of a text, keep within their size, and hold all of it exactly once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemon.documents.extraction.limits import DEFAULT_LIMITS
from mnemon.documents.extraction.markdown import extract_markdown
from mnemon.documents.ingest.chunking import HARD_CAP, chunk
from mnemon.documents.ingest.content import Chunk, Details, Extraction, Page
from mnemon.documents.structure.structure import Block
from tests.documents.invariants import check_chunks, count

SENTENCE = "The committee decided to move the release of the second part to the first week of March. "


def chunks_of(markdown: str) -> list[Chunk]:
    return check_chunks(extract_markdown(markdown.encode(), DEFAULT_LIMITS))


def test_a_long_section_becomes_chunks_of_the_wanted_size() -> None:
    paragraphs = [SENTENCE * 4 for _ in range(60)]
    chunks = chunks_of("# Minutes\n\n" + "\n\n".join(paragraphs))
    assert len(chunks) > 5
    assert all(350 <= one.tokens <= 500 for one in chunks)
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
    table = "| name | task |\n|---|---|\n" + "\n".join(f"| Person {n} | writes part {n} |" for n in range(70))
    assert 500 < count(table) < 700
    chunks = chunks_of(f"# Tasks\n\n{SENTENCE * 12}\n\n{table}\n\n{SENTENCE * 12}")
    assert any(table in one.text for one in chunks)


def test_a_table_that_does_not_fit_is_parted_between_rows() -> None:
    table = "| name | task |\n|---|---|\n" + "\n".join(f"| Person {n} | writes part {n} |" for n in range(300))
    chunks = chunks_of(table)
    assert len(chunks) > 4
    assert all(one.text.startswith("|") and one.text.endswith("|") for one in chunks)


def test_a_list_stays_whole_and_with_the_line_that_announces_it() -> None:
    items = "\n".join(f"- item number {n} is to be done soon" for n in range(30))
    chunks = chunks_of(f"{SENTENCE * 18}\n\nTo be done:\n\n{items}")
    assert any(f"To be done:\n\n{items}" in one.text for one in chunks)


def test_a_sentence_longer_than_a_chunk_is_parted_between_words() -> None:
    chunks = chunks_of("word and " * 3000)
    assert len(chunks) > 5
    assert all(one.text.split()[-1] in ("word", "and") for one in chunks)


def test_a_giant_word_is_parted_although_a_tokenizer_calls_it_one_token() -> None:
    chunks = chunks_of("A" * 100_000)
    assert len(chunks) > 10
    assert max(len(one.text) for one in chunks) <= HARD_CAP * 10


def test_turns_of_a_talk_are_grouped_and_a_chunk_of_one_speaker_names_him() -> None:
    lines = [("Anna", "Shall we start? " * 120), ("Anna", "I think so. " * 70), ("Ben", "Yes."), ("Anna", "Good.")]
    text, blocks = "", []
    for speaker, said in lines:
        start = len(text)
        text += f"{speaker}: {said.strip()}"
        blocks.append(Block("message", start, len(text), speaker=speaker))
        text += "\n"
    extraction = Extraction(text, blocks, Details(), "txt/1")
    chunks = check_chunks(extraction)
    assert chunks[0].speaker == "Anna"
    assert chunks[-1].speaker is None
    assert "Ben: Yes.\nAnna: Good." in chunks[-1].text


def test_chunks_say_on_which_pages_they_stand() -> None:
    text = SENTENCE * 40
    third = len(text) // 3
    pages = [Page(n + 1, n * third, (n + 1) * third, 595, 842) for n in range(3)]
    chunks = chunk(Extraction(text, [], Details(), "pdf/1", pages), count)
    assert chunks[0].first_page == 1
    assert chunks[-1].last_page == 3
    assert all(one.first_page <= one.last_page for one in chunks)


CHARACTERS = st.characters(codec="utf-8") | st.sampled_from(list("  \n\n.!?。#-|>` aA1"))
WORDS = st.lists(st.text(CHARACTERS, min_size=1, max_size=60), min_size=1, max_size=60)


@settings(max_examples=300, deadline=None)
@given(WORDS, st.integers(1, 30), st.sampled_from(["", " ", "\n", "\n\n", ". "]))
def test_any_text_is_held_once_and_exactly(words, times, between) -> None:
    chunks_of(between.join(words * times))


@pytest.mark.parametrize("part", ["\n", "a ", "- a\n", "# a\n\n", "| a |\n", "。", "ย", "a\u0301", "x" * 50 + " "])
def test_a_monotonous_text_of_any_kind_is_parted(part) -> None:
    chunks_of(part * 3000)
