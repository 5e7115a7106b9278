"""Links that no rule of wording finds: judged by what two events share, and what ties them is told."""

from dataclasses import replace
from datetime import UTC, date, datetime

import numpy as np

from mnemon.semantics.link.cue_words import REVERSES
from mnemon.semantics.link.days import days_named
from mnemon.semantics.link.doubts import nothing_in_common
from mnemon.semantics.link.pairs import as_written
from mnemon.semantics.link.placed import EventLink, Placed, told_at
from mnemon.semantics.link.supersession import link_events
from mnemon.semantics.semantic_event import Category, Evidence, InvolvedActor, SemanticEvent, Subject


def said(
    name: str, category: Category, quote: str, day: int, document: str, owner: str | None = None, subject: str = ""
) -> Placed:
    actors = (InvolvedActor(owner, "owner" if category is Category.COMMITMENT else "contributor"),) if owner else ()
    at = datetime(2026, 3, day, tzinfo=UTC)
    event = SemanticEvent(
        name, category, quote, Subject(subject or quote), actors, (Evidence(0, len(quote), quote),), 0.9, at,
        date(2026, 3, 20),
    )  # fmt: skip
    return Placed(event, at, document, document)


def links(*placed: Placed) -> list[EventLink]:
    return link_events(placed)


def test_a_report_in_other_words_keeps_the_promise() -> None:
    promise = said("p", Category.COMMITMENT, "Kwabena bestellt den Kran bis 19. Juni", 1, "a", "Kwabena Asante", "Kran")
    report = said("r", Category.EXECUTION, "Kran ist bestellt, Firma Brakel", 4, "b", "Kwabena Asante", "Kran")
    (link,) = links(promise, report)
    assert (link.kind, link.later, link.earlier) == ("fulfils", "r", "p")
    assert "same owner" in link.reason or "same work" in link.reason


def test_a_reversal_in_other_words_replaces_the_decision() -> None:
    first = said("d", Category.DECISION, "Das Programmheft wird gestrichen", 1, "a", "Regula Wyss", "Programmheft")
    second = said("e", Category.DECISION, "Das Programmheft gibt es nun doch", 5, "b", "Regula Wyss", "Programmheft")
    (link,) = links(first, second)
    assert (link.kind, link.later, link.earlier) == ("supersedes", "e", "d")
    assert '"' in link.reason


def test_another_number_is_another_thing() -> None:
    first = said("d", Category.DECISION, "Wir haben beschlossen, Tor 31 neu zu bauen", 1, "a", subject="Tor 31")
    second = said("e", Category.DECISION, "Wir haben nun beschlossen, Tor 57 neu zu bauen", 5, "b", subject="Tor 57")
    assert links(first, second) == []


def test_another_verb_keeps_no_promise() -> None:
    promise = said("p", Category.COMMITMENT, "Carla will book the venue by Thursday", 1, "a", "Carla Silva", "venue")
    report = said("r", Category.EXECUTION, "Carla visited the venue", 4, "b", "Carla Silva", "venue")
    assert links(promise, report) == []


def test_a_slight_word_ties_nothing() -> None:
    first = said("d", Category.DECISION, "We agreed to send text messages only for changes", 1, "a", "Ana Lopez")
    second = said("e", Category.DECISION, "The harbour office is now open only on Mondays", 5, "b", "Ana Lopez")
    assert links(first, second) == []


def test_a_promise_that_is_moved_replaces_the_promise() -> None:
    first = said("p", Category.COMMITMENT, "I'll repaint the ferry ramp on Tuesday", 2, "a", "Ana Lopez", "ferry ramp")
    moved = said(
        "q", Category.COMMITMENT, "I'll repaint the ferry ramp on Friday instead", 3, "b", "Ana Lopez", "ferry ramp"
    )
    assert [(link.kind, link.later, link.earlier) for link in links(first, moved)] == [("supersedes", "q", "p")]


def test_in_a_chat_the_nearest_of_several_is_turned_round() -> None:
    lines = [
        said("a", Category.DECISION, "ok we take the blue awning for the kiosk", 2, "chat", subject="awning"),
        said("b", Category.DECISION, "and the kiosk opens at nine on Sundays", 2, "chat", subject="kiosk"),
        said("c", Category.DECISION, "scrap that, no awning for the kiosk after all", 2, "chat", subject="awning"),
    ]
    placed = [
        replace(one, event=replace(one.event, evidence=(Evidence(at * 60, at * 60 + 5, one.event.narrative),)))
        for at, one in enumerate(lines)
    ]
    told = [link for link in links(*placed) if link.kind == "supersedes" and not link.suggested]
    assert [(link.later, link.earlier) for link in told] == [("c", "a")]


def test_days_are_the_same_however_they_are_written() -> None:
    assert days_named("from 9 November to the 12th of Nov") == {(9, 11), (12, 11)}
    assert days_named("statt am 9.11. erst Nov 12th") == {(9, 11), (12, 11)}
    assert days_named("version 3.10 at 9.30") == frozenset()


def test_a_push_to_a_repository_turns_nothing_round() -> None:
    assert REVERSES.search("every repository is scanned for secrets before a push is accepted") is None
    assert REVERSES.search("we push the launch back to May")
    assert REVERSES.search("the audit was pushed to June")


def test_what_takes_place_is_not_held_in_place_of_something() -> None:
    assert REVERSES.search("Die Jugend trainiert dienstags statt montags.")
    assert not REVERSES.search("Das Trainingslager findet vom 3. bis 9. August statt.")
    assert not REVERSES.search("Das Lager findet am 3. August statt und kostet 90 Euro.")


def test_one_sentence_that_is_a_decision_and_a_change_replaces_nothing_by_itself() -> None:
    quote = "Ab 1. Juni trainiert die Jugend dienstags statt montags."
    decided = said("d", Category.DECISION, quote, 1, "a", subject="Training der Jugend")
    changed = said("c", Category.CHANGE, quote, 1, "a", subject="Training der Jugend")
    assert links(decided, changed) == []


def test_two_promises_of_one_person_in_one_document_both_stand() -> None:
    for early, late in (
        (
            "Greta takes the early shift on the first two Sundays",
            "Greta promised to write the Sunday shift plan by Friday",
        ),
        ("Ana opens the harbour office on Mondays now", "Ana will now print the Monday harbour list by Friday"),
        ("Ana übernimmt montags das Hafenbüro", "Ana schreibt jetzt bis Freitag den Plan für das Hafenbüro montags"),
    ):
        owner = early.split()[0]
        first = said("p", Category.COMMITMENT, early, 2, "notes", owner)
        second = said("q", Category.COMMITMENT, late, 2, "notes", owner)
        second = replace(second, event=replace(second.event, evidence=(Evidence(80, 80 + len(late), late),)))
        first, second = (replace(one, vector=np.array([1.0, 0.0], np.float32)) for one in (first, second))
        assert [link for link in links(first, second) if link.kind == "supersedes" and not link.suggested] == []


def test_a_shift_of_work_turns_nothing_round() -> None:
    assert REVERSES.search("the Sunday shift plan") is None
    assert REVERSES.search("we shift the delivery to Monday") and REVERSES.search("it was shifted to May")


def test_what_replaced_something_may_be_replaced_itself() -> None:
    first = said("a", Category.DECISION, "We use MySQL for the shop", 1, "a", subject="shop database")
    second = said(
        "b", Category.DECISION, "We use Postgres instead of MySQL for the shop", 3, "b", subject="shop database"
    )
    third = said("c", Category.DECISION, "We go back to MySQL for the shop after all", 9, "c", subject="shop database")
    told = {(link.later, link.earlier) for link in links(first, second, third)}
    assert told == {("b", "a"), ("c", "b")}


def test_a_day_or_a_number_alone_names_nothing_that_is_replaced() -> None:
    fare = said("a", Category.DECISION, "Route 5 is split in two from October", 1, "a", subject="route 5")
    rent = said("b", Category.DECISION, "The rent is 400 from October, not 350", 5, "b", subject="rent")
    limit = said("c", Category.CHANGE, "humidity limit is 80 from tonight", 6, "c", subject="humidity limit")
    reminder = said("d", Category.DECISION, "Reminders go off for all customers tonight", 2, "d", subject="Reminders")
    assert not [link for link in links(fare, reminder, rent, limit) if not link.suggested]


def test_one_word_of_another_text_is_not_the_same_work() -> None:
    promise = said(
        "p", Category.COMMITMENT, "Frau Kocak meldet die Pumpe beim Hersteller", 1, "a", "Frau Kocak", "pump"
    )
    report = said("r", Category.EXECUTION, "The new pump is in!", 4, "b", "Ada Berg", "new pump")
    assert not [link for link in links(promise, report) if not link.suggested]


def test_what_is_to_come_was_said_before_it_came() -> None:
    written = datetime(2026, 3, 5, tzinfo=UTC)
    plan = replace(
        said("a", Category.CHANGE, "From 1 April we open at nine", 5, "a").event, event_time=written.replace(month=4)
    )
    assert told_at(plan, written) == written
    assert told_at(replace(plan, event_time=written.replace(day=2)), written) == written.replace(day=2)


def test_a_number_in_common_ties_nothing_and_a_day_does() -> None:
    promise = said(
        "p", Category.COMMITMENT, "todo: red book copies to insurance by thurs 12 nov", 1, "a", subject="book"
    )
    report = said("r", Category.EXECUTION, "first aid course on 5 dec, 12 places, 9 taken", 1, "a", subject="course")
    assert nothing_in_common(report, promise)
    term = said("t", Category.CHANGE, "This agreement runs from 1 January 2027 until 31 December 2028.", 1, "b")
    price = said("d", Category.DECISION, "The price is fixed until 30 June 2027.", 1, "b")
    assert nothing_in_common(term, price)
    held = said("h", Category.DECISION, "We agreed to hold the tournament on Saturday 27 June 2026.", 1, "c")
    moved = said("m", Category.CHANGE, "Moved from 27 June to Saturday 4 July 2026.", 5, "c")
    assert not nothing_in_common(moved, held)


def test_a_reason_names_words_as_they_are_written() -> None:
    assert as_written("Jonas will finish the moves by 6 March.", "jona") == "Jonas"
    assert as_written("Jonas will finish the moves by 6 March.", "tide") == "tide"
