"""Plain text stays as it is, in any encoding; its headings, lists, tables and turns of talk are found in it."""

from datetime import UTC, datetime

import pytest

from mnemon.documents.extraction.limits import DEFAULT_LIMITS
from mnemon.documents.extraction.plain import extract_plain
from mnemon.documents.ingest.content import Extraction
from mnemon.documents.structure.lines import lines_of
from mnemon.documents.structure.plain_blocks import plain_blocks

MINUTES = """Board meeting
=============

Date: 2 March 2026
Present: Anna Berg, Ben Ito and Cleo Roy

DECISIONS

The release moves to March. Anna tells
the customers.

1. Budget

The hall costs more:

- first offer
  with breakfast
- second offer

Name\tTask
Anna\twrites
Ben\tbooks

> Less is more.

Next steps:

1. Call the hall.
2. Write the notes.
"""


def read(text: str | bytes) -> Extraction:
    return extract_plain(text.encode() if isinstance(text, str) else text, DEFAULT_LIMITS)


def blocks(extraction: Extraction) -> list[tuple[str, str]]:
    return [(block.kind, extraction.text[block.start : block.end]) for block in extraction.blocks]


def test_minutes_keep_their_text_and_show_their_structure() -> None:
    found = read(MINUTES)
    assert found.text == MINUTES
    assert blocks(found) == [
        ("heading", "Board meeting\n============="),
        ("paragraph", "Date: 2 March 2026\nPresent: Anna Berg, Ben Ito and Cleo Roy"),
        ("heading", "DECISIONS"),
        ("paragraph", "The release moves to March. Anna tells\nthe customers."),
        ("heading", "1. Budget"),
        ("paragraph", "The hall costs more:"),
        ("list", "- first offer\n  with breakfast\n- second offer"),
        ("table", "Name\tTask\nAnna\twrites\nBen\tbooks"),
        ("quote", "> Less is more."),
        ("heading", "Next steps:"),
        ("list", "1. Call the hall.\n2. Write the notes."),
    ]
    assert found.details.title == "Board meeting"
    assert found.details.participants == ["Anna Berg", "Ben Ito", "Cleo Roy"]
    assert found.details.written_at == datetime(2026, 3, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    "talk",
    [
        "10:32 Anna: Shall we start?\n10:33 Ben Ito: Yes.\nI am ready.\n10:34 Anna: Good.",
        "Anna: Shall we start?\nBen Ito: Yes.\nI am ready.\nAnna: Good.\nBen Ito: Go.\nAnna: Fine.",
        "[10:32] <Anna> Shall we start?\n[10:33] <Ben_Ito> Yes.\n[10:34] <Anna> Good.",
        "Anna [2026-03-02 10:32]\nShall we start?\n\nBen Ito [2026-03-02 10:33]\nYes.\nI am ready.\n\n"
        "Anna [2026-03-02 10:34]\nGood.",
        "[02/03/2026, 10:32:15] Anna: Shall we start?\n[02/03/2026, 10:33:01] Ben Ito: Yes.",
        "02/03/2026, 10:32 - Anna: Shall we start?\n02/03/2026, 10:33 - Ben Ito: Yes.",
        "Anna  10:32 AM\nShall we start?\nBen Ito  10:33 AM\nYes.",
        "10:32:01 From Anna to Everyone: Shall we start?\n10:33:07 From Ben Ito to Everyone: Yes.",
    ],
)
def test_talk_is_told_turn_by_turn_with_its_speakers(talk) -> None:
    found = read(talk)
    assert {block.kind for block in found.blocks} == {"message"}
    first, second = found.blocks[:2]
    assert first.speaker == "Anna"
    assert "Shall we start?" in found.text[first.start : first.end]
    assert second.speaker in ("Ben Ito", "Ben_Ito")
    assert "Yes." in found.text[second.start : second.end]
    assert list(found.details.participants)[:1] == ["Anna"]


def test_minutes_with_labels_are_not_talk() -> None:
    text = "Date: today\nPresent: Anna\nDecision: go\nAction: write\nDecision: stop\nAction: call\nNote: none"
    assert {block.kind for block in read(text).blocks} == {"paragraph"}


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("utf-8-sig", "Grüße"),
        ("utf-16", "Grüße aus Köln"),
        ("utf-16-le", "Greetings from Köln to all of you"),
        ("utf-16-be", "Greetings from Köln to all of you"),
        ("utf-32", "Grüße"),
        ("cp1252", "Die Hasen und die Frösche"),
        ("cp1252", "“Smart quotes” — and a café’s menu costs €5"),
        ("cp1250", "Zażółć gęślą jaźń, spotkanie zarządu"),
        ("cp1250", "Příliš žluťoučký kůň"),
        ("cp1250", "Az árvíztűrő tükörfúrógép ülése"),
        ("cp1251", "Решение комиссии: перенести выпуск"),
        ("koi8_r", "Решение комиссии: перенести выпуск"),
        ("cp1253", "Απόφαση της επιτροπής"),
        ("cp1255", "החלטת הוועדה היא להמשיך"),
        ("cp1256", "قررت اللجنة نقل الإصدار"),
        ("shift_jis", "会議の決定事項：来週の月曜日に発売します。"),
        ("euc_jp", "会議の決定事項を書きます"),
        ("iso2022_jp", "会議の決定事項を書きます"),
        ("gb18030", "会议决定：下周一发布产品"),
        ("big5", "會議決定：下週一發布產品"),
        ("euc_kr", "회의 결정: 다음 주 월요일에 출시합니다"),
    ],
)
def test_text_in_any_encoding_is_read_from_a_few_words(encoding, words) -> None:
    text = f"Minutes of the meeting\n\n{words}\n"
    assert read(text.encode(encoding)).text == text
    assert read((words * 3).encode(encoding)).text == words * 3


def test_line_ends_and_invisible_characters_are_made_plain() -> None:
    assert read("a\r\nb\rc\u2028d\x00e\u00adf\u200bg\u202eh 10\u00a0km").text == "a\nb\nc\ndefgh 10 km"
    assert read("Zoe\u0301 and ﬁ and \u200d").text == "Zoé and ﬁ and \u200d"


STATUTE = """Satzung des Seglerheim e. V.

§ 1 Name
Der Verein heißt Seglerheim e. V. und hat seinen Sitz in Flensburg.

§ 2 Beitrag

Der Jahresbeitrag beträgt 180 Euro; für Jugendliche gilt nach
§ 3 Absatz 2 der Ordnung
ein Beitrag von 60 Euro.
"""


def test_a_line_with_a_paragraph_sign_heads_what_stands_below_it() -> None:
    blocks = [(one.kind, STATUTE[one.start : one.end]) for one in plain_blocks(lines_of(STATUTE))]
    headings = [text for kind, text in blocks if kind == "heading"]
    assert headings[-2:] == ["§ 1 Name", "§ 2 Beitrag"]
    assert ("paragraph", "Der Verein heißt Seglerheim e. V. und hat seinen Sitz in Flensburg.") in blocks
    assert blocks[-1][1].endswith("§ 3 Absatz 2 der Ordnung\nein Beitrag von 60 Euro.")
