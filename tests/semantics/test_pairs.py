"""Links that no rule of wording finds: judged by what two events share, and what ties them is told."""

from datetime import UTC, date, datetime

from mnemon.semantics.link.placed import EventLink, Placed
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
