"""One reading of a text: its parts, with who says them and when, for every format, stored with the revision."""

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemon.documents.extraction.limits import DEFAULT_LIMITS
from mnemon.documents.extraction.plain import extract_plain
from mnemon.documents.ingest.structured import with_structure
from mnemon.documents.structure import stored
from mnemon.documents.structure.calendar_words import NO_YEAR
from mnemon.documents.structure.reading import read_structure
from mnemon.documents.structure.sections import Section, section_of
from mnemon.documents.structure.stored import dump_structure, load_structure, structure_of
from mnemon.documents.structure.structure import Block, Hints, StructurePart, TextKind

MINUTES = """Board meeting, 2 March 2026

Present: Anna Berg, Ben Ito

DECISIONS

The release moves to April. Anna tells the customers.

Actions:
- [x] Ben: book the hall
- [ ] write the notes

| Task | Owner | Due |
|------|-------|-----|
| Call the hall | Ben | 9 March |

Remarks: none so far.
"""


def parts(text: str, kind: TextKind = "doc", *people: str) -> list[StructurePart]:
    return list(read_structure(text, hints=Hints(kind, people)).parts)


def told(text: str, kind: TextKind = "doc", *people: str) -> list[tuple[str, str | None, str]]:
    return [(part.kind, part.speaker, text[part.start : part.end]) for part in parts(text, kind, *people)]


def test_minutes_are_read_into_headings_sentences_items_and_rows() -> None:
    found = parts(MINUTES)
    assert [(part.kind, MINUTES[part.start : part.end]) for part in found] == [
        ("lead", "Board meeting, 2 March 2026"),
        ("heading", "DECISIONS"),
        ("paragraph", "The release moves to April. Anna tells the customers."),
        ("heading", "Actions:"),
        ("item", "Ben: book the hall"),
        ("item", "write the notes"),
        ("row", "Call the hall | Ben | 9 March"),
        ("paragraph", "Remarks: none so far."),
    ]
    assert [MINUTES[start:end] for start, end in found[2].sentences] == [
        "The release moves to April.", "Anna tells the customers.",
    ]  # fmt: skip
    assert [part.ticked for part in found if part.kind == "item"] == [True, False]
    assert found[6].cells == {"task": "Call the hall", "owner": "Ben", "due": "9 March"}
    value = found[7].value
    assert value is not None
    assert MINUTES[value:].strip() == "none so far."
    preamble = read_structure(MINUTES).preamble
    assert (preamble.present, preamble.written_on) == (("Anna Berg", "Ben Ito"), date(2026, 3, 2))


@pytest.mark.parametrize(
    ("line", "other", "day"),
    [
        ("10:32 Anna: hello there", "10:33 Ben: yes", None),
        ("[02/03/2026, 10:32:15] Anna: hello there", "[14/03/2026, 10:33:01] Ben: yes", date(2026, 3, 2)),
        ("[2026-03-02 10:32] <Anna> hello there", "[2026-03-02 10:33] <Ben> yes", date(2026, 3, 2)),
        ("10:32:01 From Anna to Everyone: hello there", "10:33:07 From Ben to Everyone: yes", None),
        ("Anna (10:32): hello there", "Ben (10:33): yes", None),
        ("**Anna** 10:32 – hello there", "**Ben** 10:33 – yes", None),
        ("**Anna** 10:32: hello there", "**Ben** 10:33: yes", None),
        ("Anna  10:32 AM\nhello there", "Ben  10:33 AM\nyes", None),
        ("Anna [2026-03-02 10:32] hello there", "Ben [2026-03-02 10:33] yes", date(2026, 3, 2)),
    ],
)
def test_the_words_of_a_turn_stand_apart_from_who_says_them_and_when(line: str, other: str, day: date | None) -> None:
    text = f"{line}\n{other}\n"
    first, second = parts(text, "chat")
    assert (first.speaker, text[first.start : first.end], first.day) == ("Anna", "hello there", day)
    assert (second.speaker, text[second.start : second.end]) == ("Ben", "yes")


def test_a_directorys_names_are_turned_round() -> None:
    text = "[10:02] Clarke, Rob: any news?\n[10:05] de Vries, Anna Maria: not yet, but soon\n[10:06] Clarke, Rob: ok\n"
    assert [(one.speaker, text[one.start : one.end]) for one in parts(text, "chat")] == [
        ("Rob Clarke", "any news?"), ("Anna Maria de Vries", "not yet, but soon"), ("Rob Clarke", "ok"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["Wanjiku", "Chidi Okeke", "Sigrún", "Niamh", "Yusuf", "Jürgen", "小林"])
def test_no_list_of_names_is_needed_to_know_a_speaker(name: str) -> None:
    text = f"{name}: the door is open.\nMaureen: I close it.\n{name}: thanks for that.\nMaureen: done.\n"
    assert [speaker for _, speaker, _ in told(text)] == [name, "Maureen", name, "Maureen"]


def test_a_label_that_the_text_also_writes_small_is_nobody() -> None:
    text = "Costs: 40 per day.\nThe costs are known.\nCosts: 20 per night.\n"
    assert {speaker for _, speaker, _ in told(text)} == {None}


def test_older_mail_and_quoted_lines_are_parts_of_their_own() -> None:
    text = (
        "Hi Ben,\n\nI take the door.\n\nOn 2 March 2026, Ben wrote:\n> Who takes the door?\n\nBest regards\nAnna\n\n"
        "-----Original Message-----\nFrom: Ben\nSomebody has to.\n"
    )
    found = told(text, "email")
    assert ("paragraph", None, "I take the door.") in found
    assert [words for kind, _, words in found if kind == "quote"] == [
        "On 2 March 2026, Ben wrote:\n> Who takes the door?",
        "-----Original Message-----\nFrom: Ben\nSomebody has to.",
    ]


def test_what_a_format_marks_is_not_guessed_again() -> None:
    """A heading is one however long it is; a quoted block of a mail and code are nobody's statements."""
    text = "We decided that the old harbour office of the town will be closed\n\nIt is sold.\n\nx = 1\n\nI agree."
    starts = [text.index(words) for words in ("We", "It", "x =", "I agree")]
    ends = [text.index("\n\n", start) if start != starts[-1] else len(text) for start in starts]
    kinds = ("heading", "paragraph", "code", "quote")
    blocks = [Block(kind, start, end) for kind, start, end in zip(kinds, starts, ends, strict=True)]  # type: ignore[arg-type]
    found = read_structure(text, blocks, Hints("email")).parts
    assert [(part.kind, text[part.start : part.end]) for part in found] == [
        ("heading", text[: ends[0]]), ("paragraph", "It is sold."), ("quote", "I agree."),
    ]  # fmt: skip


@given(
    st.lists(
        st.sampled_from([*MINUTES.split("\n"), "10:32 Anna: hello.", "> so", "```", "---", "-- ", "Ann: I do", "\t|"])
        | st.text(max_size=12),
        max_size=30,
    ).map("\n".join),
    st.sampled_from(["doc", "chat", "email"]),
)
def test_parts_are_in_order_and_come_back_from_the_store_as_they_were(text: str, kind: TextKind) -> None:
    found = read_structure(text, hints=Hints(kind, ("Anna Berg",)))
    assert all(0 <= part.start < part.end <= len(text) for part in found.parts)
    assert all(one.end <= other.start for one, other in pairwise(found.parts))
    for part in found.parts:
        inside = "".join(text[start:end] for start, end in part.sentences)
        assert not part.sentences or "".join(inside.split()) == "".join(text[part.start : part.end].split())
    assert read_structure(text, hints=Hints(kind, ("Anna Berg",))) == found
    assert load_structure(dump_structure(found)) == found


def test_what_was_stored_holds_for_the_hints_and_the_version_that_it_was_read_with() -> None:
    text = "Ann: I paint the door\n"
    as_chat, as_doc = Hints("chat", ("Ann",)), Hints("doc")
    kept = dump_structure(read_structure(text, (), as_chat))
    assert structure_of(text, (), kept, as_chat) == load_structure(kept)
    assert structure_of(text, (), kept, as_doc) == read_structure(text, (), as_doc)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "_OPENING", '{"version":99,')
        assert load_structure(kept) is None
        assert structure_of(text, (), kept, as_chat) == read_structure(text, (), as_chat)


def test_names_that_only_the_sender_told_are_not_stored_with_the_text() -> None:
    extraction = with_structure(extract_plain(b"We paint the door.\n", DEFAULT_LIMITS), "chat")
    assert load_structure(extraction.structure) is not None
    read = read_structure("We paint the door.\n", hints=Hints("chat", ("Zaphod Beeblebrox",)))
    assert "Zaphod" not in repr(load_structure(dump_structure(read)))


def days(text: str, kind: TextKind = "note") -> list[tuple[str | None, date | None, str]]:
    return [(part.speaker, part.day, text[part.start : part.end]) for part in parts(text, kind)]


def test_comments_of_a_ticket_have_their_writer_and_day() -> None:
    text = "Gate 5\n\nComment 1 – K. Asante, 11.06.2026 09:10\nAsked three firms.\n\n"
    text += "**mika-l** commented 15 June 2026\nThe road is too soft.\n"
    found = days(text)
    assert ("K. Asante", date(2026, 6, 11), "Asked three firms.") in found
    assert ("mika-l", date(2026, 6, 15), "The road is too soft.") in found


@pytest.mark.parametrize("year", ["99999999999999999999", "0", "２０２６"])
def test_a_mail_with_an_impossible_date_is_read_without_it(year: str) -> None:
    text = f"From: Ada <ada@example.org>\nDate: Mon, 2 Mar {year} 10:00:00 +0000\nSubject: Tea\n\nWe like tea.\n"
    assert "We like tea." in [text[part.start : part.end] for part in parts(text, "email")]


def test_a_log_has_the_day_of_each_entry() -> None:
    text = "Bench log\n16 Apr 2026\n- skids printed\n20 Apr 2026\n- 20 landings, all clean\n"
    assert [day for _, day, words in days(text) if "printed" in words or "clean" in words] == [
        date(2026, 4, 16),
        date(2026, 4, 20),
    ]


def test_a_day_without_its_year_waits_for_the_day_of_writing() -> None:
    found = days("Log\n11.02.  flour is in\n12.02.  same again\n")
    assert [day.month for _, day, words in found if day and words.startswith(("flour", "same"))] == [2, 2]
    assert {day.year for _, day, _ in found if day} == {NO_YEAR}


def test_short_lines_are_lines_and_wrapped_ones_are_one() -> None:
    short = "Pump: runs again\nRoof: still leaks\nHall: painted\n"
    assert len(parts(short)) == 3
    wrapped = (
        "The board looked at the offers for the new roof and found that\n"
        "none of them says how long the work would take in the winter.\n"
    )
    assert len(parts(wrapped)) == 1


def test_answers_between_quoted_questions_are_the_writers() -> None:
    text = "Ben,\n\n>> Who pays?\nWe split it.\n\n>> Who digs?\nMy cousin does.\n"
    assert ("paragraph", None, "We split it.") in told(text, "email")


def test_a_label_in_a_mail_speaks_for_nobody() -> None:
    text = "Where we are: we found nine of them.\nWhere we are: we look for two.\n"
    assert {speaker for _, speaker, _ in told(text, "email")} == {None}


@pytest.mark.parametrize("label", ["proposal", "Suggestion", "vorschlag", "Antrag"])
def test_what_a_sentence_is_speaks_for_nobody(label: str) -> None:
    assert {speaker for _, speaker, _ in told(f"Hello,\n\n{label}: we sell the hut.\n\nOle\n", "email")} == {None}


@pytest.mark.parametrize(
    ("heading", "section"),
    [
        ("Decisions on the roof", Section.DECISIONS),
        ("Open risks from the audit", Section.RISKS),
        ("Offene Aufgaben aus der Sitzung", Section.ACTIONS),
        ("Beschlüsse", Section.DECISIONS),
        ("Projektrisiken", Section.RISKS),
        ("Risk assessment", None),
        ("Decision: we paint the door", None),
    ],
)
def test_a_heading_counts_by_its_head_noun(heading: str, section: Section | None) -> None:
    assert section_of(heading) is section


def test_a_date_where_a_wrapped_line_begins_is_no_day_of_a_log() -> None:
    """ "in writing by / 24 April." goes on; what follows it was not written on that day."""
    text = (
        "# Weekly meeting, 20 April 2026\n\n"
        "The board's word is that the penalty is waived if we are live by 20 May. Rafael has that in writing by\n"
        "24 April.\n\n- Priya to sign the contract by 22 April.\n"
    )
    assert {part.day for part in read_structure(text).parts} <= {None, date(2026, 4, 20)}
    diary = "Diary of the pump house\n\n12 May 2026\nThe pump was repaired.\n\n13 May 2026\nIt runs.\n"
    assert {part.day for part in read_structure(diary).parts} >= {date(2026, 5, 12), date(2026, 5, 13)}


THREADS = [
    (
        "From: Ines Marchetti\nTo: the crew\nDate: Mon, 4 May 2026 08:10\n\nThe hull is dry.\n\n----\n"
        "From: Pat Okoro\nDate: Wed, 6 May 2026 17:02\n\nThe mast is up.\n",
        "The hull is dry.",
        "The mast is up.",
    ),
    (
        "Verlauf\n\nVon: Ines Marchetti, Mo 04.05.2026, 08:10\nDer Rumpf ist trocken.\n\n"
        "Von: Pat Okoro, Mi 06.05.2026, 17:02\nDer Mast steht.\n",
        "Der Rumpf ist trocken.",
        "Der Mast steht.",
    ),
    (
        "Issue 7\n\n---\n**ines-m** commented on May 4, 2026\n\nThe hull is dry.\n\n---\n"
        "**pat-o** commented on May 6, 2026\n\nThe mast is up.\n",
        "The hull is dry.",
        "The mast is up.",
    ),
    (
        "Yard diary\n\nMon 4 May 2026. Rain, four on site.\nThe hull is dry.\n\n"
        "Wed 6 May 2026. Fine.\nThe mast is up.\n",
        "The hull is dry.",
        "The mast is up.",
    ),
]


@pytest.mark.parametrize(("text", "first", "second"), THREADS)
def test_each_message_of_a_thread_and_each_day_of_a_diary_has_its_own_day(text: str, first: str, second: str) -> None:
    told_on = {words: day for _, day, words in days(text)}
    assert (told_on[first], told_on[second]) == (date(2026, 5, 4), date(2026, 5, 6))


def test_days_that_do_not_come_in_turn_are_no_diary() -> None:
    text = "Offers\n\n9 June 2026, Kessler: 400.\n2 May 2026, Brandt: 380.\n7 July 2026, Osei: 390.\nWe took Brandt.\n"
    assert {day for _, day, words in days(text) if words == "We took Brandt."} == {None}


CHATS = [
    "Ana Flores [7:15 AM, Wed Dec 2]\nRow C has a cough.\n\nKeisha Brown [7:18 AM]\nRow C is closed.\n\n"
    "Ana Flores [11:50 AM, Thu Dec 3]\nTen crates are in the barn.\n\nKeisha Brown [11:52 AM]\nGood.\n",
    "**Ana Flores** 08:12, 2. Dez.\nRow C has a cough.\n\n**Keisha Brown** 08:20\nRow C is closed.\n\n"
    "**Ana Flores** 09:02, 3. Dez.\nTen crates are in the barn.\n\n**Keisha Brown** 09:05\nGood.\n",
    "#kennels\n\nWednesday, December 2\n\nAna Flores 07:15\nRow C has a cough.\nKeisha Brown 07:18\n"
    "Row C is closed.\n\n"
    "Thursday, December 3\n\nAna Flores 11:50\nTen crates are in the barn.\nKeisha Brown 11:52\nGood.\n",
]


@pytest.mark.parametrize("text", CHATS)
def test_a_chat_that_tells_no_year_has_the_day_of_each_message(text: str) -> None:
    said = {text[part.start : part.end]: (part.speaker, part.day) for part in parts(text, "chat")}
    assert said["Row C is closed."] == ("Keisha Brown", date(NO_YEAR, 12, 2))
    assert said["Ten crates are in the barn."] == ("Ana Flores", date(NO_YEAR, 12, 3))


def test_a_weekday_before_a_date_speaks_for_nobody() -> None:
    first = "Von: Ada Berg\nMo, 29.6.2026, 8:30\n\nDer Fisch ist gut.\n\n"
    text = f"{first}Von: Ben Ito\nMi, 1.7.2026, 9:02\n\nTauschen geht.\n"
    assert not {"Mo", "Mi"} & {part.speaker for part in parts(text, "email")}


def test_where_every_message_has_its_hour_a_label_inside_one_is_nobody() -> None:
    text = (
        "Keisha Brown 9:30 AM\nLaredo: we take them after all.\n\nAna Flores 9:31 AM\nTen or eleven?\n\n"
        "Keisha Brown 9:32 AM\nEleven.\n\nAna Flores 9:33 AM\nFine.\n"
    )
    assert {part.speaker for part in parts(text, "chat")} == {"Keisha Brown", "Ana Flores"}


def test_who_stands_in_brackets_beside_a_shift_wrote_its_entry() -> None:
    first = "Übergabebuch\n\nDi 11.08., Spätdienst (Ruslan)\n- Obst bestellt.\n\n"
    text = f"{first}Mi 12.08., Frühdienst (Nam)\n- Kundendienst angerufen.\n"
    told = parts(text, "note", "Nam Vo", "Ruslan Tsoi")
    assert {part.speaker for part in told if part.kind == "item"} == {"Ruslan", "Nam"}


def test_a_log_by_the_hour_has_the_day_of_each_entry() -> None:
    text = "Log\n\n22 Sept 0800  Left Horta.\n23 Sept 1430  Jars to be relabelled by tomorrow night.\n"
    assert {part.day for part in parts(text) if "Jars" in text[part.start : part.end]} == {date(NO_YEAR, 9, 23)}


def test_the_sign_of_a_signature_ends_a_mail_and_parts_the_mails_of_a_thread() -> None:
    first = "From: Ada Berg\nTo: Ben Ito\nDate: Mon, 2 Mar 2026\n\nThe boat leaks.\n\n--\n\n"
    thread = first + "From: Ben Ito\nTo: Ada Berg\nDate: Tue, 3 Mar 2026\n\nI caulk it on Friday.\n"
    assert "I caulk it on Friday." in [thread[one.start : one.end] for one in parts(thread, "email")]
    signed = "The boat leaks.\n\n--\nAda Berg\nFrom the yard with love\n"
    assert [signed[one.start : one.end] for one in parts(signed, "email")] == ["The boat leaks."]


def test_what_stands_between_equal_signs_is_a_heading() -> None:
    text = "== Decided at the members' evening, 29 October ==\n\nThe press stays in the cellar.\n"
    assert parts(text)[0].kind in ("heading", "lead")
    plain = "a == b and b == c, so a == c.\n"
    assert [one.kind for one in parts(plain)] == ["paragraph"]


def test_the_short_form_of_a_firm_ends_no_sentence() -> None:
    text = "Die Steuerung spielt Fa. Tramtronic am Montag auf.\n"
    (paragraph,) = parts(text)
    assert len(paragraph.sentences) == 1


def test_a_text_may_be_wrapped_wider_than_most() -> None:
    wide = (
        "We want five paying harbours at the end of the year. Hiring another engineer depends on Marstal: if Marstal "
        "signs before\nthe autumn, Ines will open the position in September.\n"
    )
    assert len(parts(wide)) == 1
    lines = (
        "A message of somebody who writes one line for each thing and who ends it with no stop, however long it "
        "may have been"
        "\n"
        "The next one of these messages\n"
    )
    assert len(parts(lines)) == 2


@pytest.mark.parametrize(
    ("told", "present"),
    [
        ("Wanjiru, Declan, Halima. Siosaia joined by phone.", ("Wanjiru", "Declan", "Halima", "Siosaia")),
        ("Dr. Kim Lee, J. Smith", ("Dr. Kim Lee", "J. Smith")),
        ("Ada and Ben. Cem and Dara were late.", ("Ada", "Ben", "Cem", "Dara")),
    ],
)
def test_a_list_of_those_present_ends_with_its_sentence(told: str, present: tuple[str, ...]) -> None:
    assert read_structure(f"# Minutes\n\nPresent: {told}\n").preamble.present == present


def test_days_of_the_week_say_nothing() -> None:
    text = "## Opening hours\nSaturdays: we'll open at 6:30 from April on.\nMontags: wir bleiben zu.\n"
    assert {part.speaker for part in read_structure(text).parts} == {None}
