"""Layout is read from how texts are written: who speaks, on which day, and what a heading covers."""

from datetime import UTC, date, datetime

import pytest

from mnemon.documents.structure.reading import read_structure
from mnemon.documents.structure.sections import Section
from mnemon.documents.structure.structure import Hints, TextKind
from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.rules.layout import Unit, layout_of
from tests.semantics.reading import events, the_event


def units(text: str, source_type: TextKind = "doc", *participants: str) -> tuple[Unit, ...]:
    return layout_of(text, read_structure(text, hints=Hints(source_type, participants))).units


def test_a_transcript_may_put_the_time_before_the_speaker_on_a_line_of_its_own() -> None:
    text = (
        "00:00:03 Dr. Amara Osei\nGood morning.\n\n00:00:11 Zoë Müller\nHello.\n\n00:00:20 Dr. Amara Osei\nLet's go.\n"
    )
    found = units(text, "transcript", "Dr. Amara Osei", "Zoë Müller")
    assert [(unit.speaker, unit.text) for unit in found] == [
        ("Dr. Amara Osei", "Good morning."),
        ("Zoë Müller", "Hello."),
        ("Dr. Amara Osei", "Let's go."),
    ]


def test_an_agenda_has_times_and_no_speakers() -> None:
    assert all(
        unit.speaker is None for unit in units("Agenda\n\n09:00 Opening\nWelcome.\n\n12:30 Lunch\nIn the hall.\n")
    )


def test_every_line_of_a_chat_is_a_message_of_its_own() -> None:
    found = units("Ann Lee  10:02 AM\nthe build is red\nwe're blocked on that\nBen Roy  10:05 AM\nlooking\n", "chat")
    assert [(unit.speaker, unit.text) for unit in found] == [
        ("Ann Lee", "the build is red"),
        ("Ann Lee", "we're blocked on that"),
        ("Ben Roy", "looking"),
    ]


@pytest.mark.parametrize(
    ("stamps", "day"),
    [
        (("[14/05/2026, 17:02]", "[15/05/2026, 08:00]"), date(2026, 5, 14)),
        (("[5/4/2026, 17:02]", "[5/14/2026, 08:00]"), date(2026, 5, 4)),
        (("[05.04.2026 17:02]", "[06.04.2026 17:02]"), date(2026, 4, 5)),
        (("2026-05-14 17:02", "2026-05-15 08:00"), date(2026, 5, 14)),
        (("17:02", "17:05"), None),
    ],
)
def test_stamps_say_on_which_day_something_was_said(stamps: tuple[str, str], day: date | None) -> None:
    first, second = stamps
    assert units(f"{first} Ann: hello there\n{second} Ben: good morning\n", "chat")[0].day == day


def test_a_line_with_a_day_holds_for_what_follows() -> None:
    found = units("--- Monday, 2 March 2026 ---\nAnn: hi\nBen: hello\n3 March 2026\nAnn: again\n", "chat", "Ann", "Ben")
    assert [unit.day for unit in found] == [date(2026, 3, 2), date(2026, 3, 2), date(2026, 3, 3)]


async def test_tonight_is_the_night_on_which_it_was_said() -> None:
    text = "[03/03/2025, 17:02] Ann: I'll order the tent tonight\n[05/03/2025, 08:00] Ben: good morning all\n"
    assert (await the_event(text, "chat")).due == date(2025, 3, 3)


def test_a_few_words_above_a_paragraph_are_its_heading() -> None:
    found = units(
        "Report\n\nSummary\nBetween six and seven all payments failed.\n\nWhat went wrong\n- The alarm was off.\n"
    )
    assert [(unit.heading, unit.text) for unit in found] == [
        ("Summary", "Between six and seven all payments failed."),
        ("What went wrong", "The alarm was off."),
    ]
    assert found[1].section is Section.RISKS


def test_a_numbered_title_between_blank_lines_is_a_heading_and_a_loose_list_is_none() -> None:
    found = units("RFC\n\n6. Decision\n\nThe draft is accepted.\n\n7. Open questions\n\n- Who pays?\n")
    assert (found[0].heading, found[0].section) == ("6. Decision", Section.DECISIONS)
    assert found[1].heading == "7. Open questions"
    loose = units("Tasks\n\n1. Paint the door\n\n2. Oil the hinge\n\n3. Call Ben\n\nAll three are easy.\n")
    assert [unit.text for unit in loose] == ["Paint the door", "Oil the hinge", "Call Ben", "All three are easy."]


def test_each_line_of_a_timeline_stands_alone() -> None:
    found = units("Timeline\n06:10  First failed payments\n06:24  The alarm rings\n07:20 - Ben restarts the gateway\n")
    assert [unit.text for unit in found] == ["First failed payments", "The alarm rings", "Ben restarts the gateway"]


async def test_a_decision_under_its_heading_may_hold_a_condition() -> None:
    event = await the_event("Decision: we ship without the importer if the test fails.")
    assert event.category == "Decision"
    assert not await events("We ship without the importer if the test fails.")


@pytest.mark.parametrize(
    ("line", "category", "quote"),
    [
        ("- Decision: Dogs may always come along.", "Decision", "Dogs may always come along."),
        ("- **Decision:** The gate may stay open.", "Decision", "The gate may stay open."),
        ("1. Beschluss: Gäste dürfen im Hof parken.", "Decision", "Gäste dürfen im Hof parken."),
        ("* Risk: the barrier could freeze", "QualityRisk", "the barrier could freeze"),
    ],
)
async def test_an_item_that_names_its_kind_counts_as_a_line_does(line: str, category: str, quote: str) -> None:
    event = await the_event(f"# Yard\n\n- The yard is wide.\n{line}\n- The fence is green.\n")
    assert (event.category, event.evidence[0].quote) == (category, quote)


def test_headings_may_carry_an_items_number_or_say_of_when() -> None:
    assert units("Minutes\n\n13/26 Playground\nThe clerk reported on the swing.\n")[0].heading == "13/26 Playground"
    assert units("Status\n\nDecisions of the week\n- No printed tickets.\n")[0].section is Section.DECISIONS


@pytest.mark.parametrize(
    ("text", "speakers", "day"),
    [
        (
            "[05/10, 07:55] Dr Mensah: Morning\n[10/10, 07:58] Nurse Gwen: fridge alarm\n",
            ["Dr Mensah", "Nurse Gwen"],
            10,
        ),
        ("tom 2026-10-05 09:12\nI'll do it\n\nana 2026-10-10 10:00\ndeployed\n", ["tom", "ana"], 10),
        (
            "Luka Horvat commented on 5 October 2026\nI'll do it.\n\nAma Serwaa commented on 10 October 2026\nDone.\n",
            ["Luka Horvat", "Ama Serwaa"],
            10,
        ),
    ],
)
def test_a_stamp_is_no_part_of_a_name_and_gives_the_day(text: str, speakers: list[str], day: int) -> None:
    said = Revision("rev", text, "chat", datetime(2026, 10, 12, tzinfo=UTC)).layout.units
    assert [unit.speaker for unit in said] == speakers
    assert said[-1].day == date(2026, 10, day)


MINUTES = (
    "# Club minutes\n\n## 10 March 2026\n\nWe agreed on the fee.\n\n## 12 May 2026\n\n- Ada will paint the hall.\n"
)


def test_minutes_of_several_meetings_have_the_day_of_each() -> None:
    revision = Revision("rev", MINUTES, "note", datetime(2026, 3, 10, 12, tzinfo=UTC))
    assert [unit.day for unit in revision.layout.units] == [date(2026, 3, 10), date(2026, 5, 12)]


def test_a_plan_of_days_to_come_was_written_on_one_day() -> None:
    text = "Plan of the tour, 10 March 2026\n\n12 May 2026\nArrive at the hall.\n\n14 May 2026\nSing.\n"
    revision = Revision("rev", text, "note", datetime(2026, 3, 10, 12, tzinfo=UTC))
    assert {unit.day for unit in revision.layout.units} <= {None, date(2026, 3, 10)}
    typed_up = Revision("rev", MINUTES, "note", datetime(2026, 4, 1, 12, tzinfo=UTC))
    assert typed_up.layout.units[-1].day is None


def test_what_is_said_at_one_stand_up_after_another_has_the_day_above_it() -> None:
    log = (
        "stand-up notes\n\n== Tue 10 Nov 2026 ==\nOwen: cleaned the rig.\nGrace: run 44 is through.\n\n"
        "== Wed 11 Nov ==\nOwen: Hereford done.\nGrace: half way.\nOwen: on it.\nGrace: fine.\n"
    )
    revision = Revision("rev", log, "note", datetime(2026, 11, 10, 12, tzinfo=UTC))
    days = {unit.text: unit.day for unit in revision.layout.units}
    assert days["run 44 is through."] in (None, revision.today)
    assert days["Hereford done."] == date(2026, 11, 11)


def test_a_name_above_items_says_whose_they_are_and_a_topic_does_not() -> None:
    found = units(
        "stand-up 9 nov\n\nAdaeze\n - invitations went out\nTomasz\n - will ask the bank\n\nNext one on Monday.\n"
    )
    assert [unit.speaker for unit in found] == ["Adaeze", "Tomasz", None]
    topics = units("House rules\n\nKitchen\n - clean it\nHall\n - lock it\n")
    assert {unit.speaker for unit in topics} == {None}
