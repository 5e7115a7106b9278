"""Claims about what a chat program writes into its export by itself: it is nobody's words."""

import pytest

from mnemon.ask.quoting.statements import statements_in
from mnemon.documents.extraction.chats.whatsapp import whatsapp_blocks
from mnemon.documents.structure.lines import lines_of
from mnemon.documents.structure.reading import read_structure
from mnemon.documents.structure.structure import Hints
from tests.semantics.reading import events

CHAT = Hints("chat")
ANDROID = """03/02/2026, 18:40 - Messages and calls are end-to-end encrypted. No one outside of this chat can read them.
03/02/2026, 18:40 - Ines created group "Choir"
03/02/2026, 18:41 - Ines added Tom
03/02/2026, 18:41 - Ines changed the subject from "Choir" to "Choir: the tour"
03/02/2026, 18:42 - Ines: We decided to sing in Leeds.
03/02/2026, 18:43 - Tom: I will book the coach by Friday.
03/02/2026, 18:44 - Tom: <Media omitted>
03/02/2026, 18:45 - Ines: You deleted this message
03/02/2026, 18:46 - Tom: IMG-20260203-WA0001.jpg (file attached)
The coach is broken.
03/02/2026, 18:50 - Kofi left
"""
IPHONE = """[03.02.26, 18:40:01] Chor: \u200eNachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.
[03.02.26, 18:40:05] Ines: \u200eInes hat die Gruppe „Chor“ erstellt
[03.02.26, 18:41:05] Ines hat Tom hinzugefügt
[03.02.26, 18:42:05] Ines: Wir haben beschlossen, in Leeds zu singen.
[03.02.26, 18:43:05] Tom: \u200e<Medien ausgeschlossen>
[03.02.26, 18:44:05] Ines: \u200eDiese Nachricht wurde gelöscht.
[03.02.26, 18:45:05] Tom: Ich buche bis Freitag den Bus.
"""
SAID = {
    ANDROID: [
        ("Ines", "We decided to sing in Leeds."),
        ("Tom", "I will book the coach by Friday."),
        ("Tom", "The coach is broken."),
    ],
    IPHONE: [("Ines", "Wir haben beschlossen, in Leeds zu singen."), ("Tom", "Ich buche bis Freitag den Bus.")],
}


@pytest.mark.parametrize("export", SAID)
@pytest.mark.parametrize("marked", [True, False])
def test_only_what_people_said_is_part_of_a_chat(export: str, marked: bool) -> None:
    blocks = whatsapp_blocks(lines_of(export)) if marked else None
    parts = read_structure(export, blocks, CHAT).parts
    assert [(part.speaker, export[part.start : part.end]) for part in parts] == SAID[export]


@pytest.mark.parametrize("export", SAID)
def test_nothing_else_of_it_can_be_quoted(export: str) -> None:
    assert [(one.speaker, one.text) for one in statements_in(export, 0)] == SAID[export]


@pytest.mark.parametrize("export", SAID)
def test_the_group_takes_no_part(export: str) -> None:
    assert {block.speaker for block in whatsapp_blocks(lines_of(export))} == {"Ines", "Tom", None}


async def test_a_notice_is_no_event() -> None:
    found = [event.evidence[0].quote for event in await events(ANDROID, "chat")]
    assert found == [words for _, words in SAID[ANDROID]]


def test_who_writes_that_somebody_left_says_it() -> None:
    text = "03/02/2026, 18:42 - Ines: Tom left\n03/02/2026, 18:43 - Tom: Our chat is end-to-end encrypted\n"
    parts = read_structure(text, whatsapp_blocks(lines_of(text)), CHAT).parts
    assert [part.speaker for part in parts] == ["Ines", "Tom"]


def test_a_log_of_work_has_stamps_and_no_notices() -> None:
    text = "[2026-02-03 18:40] Restarted the pump.\n[2026-02-03 18:55] The pump is broken again.\n"
    assert [one.text for one in statements_in(text, 0)] and read_structure(text).parts
