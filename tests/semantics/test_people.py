"""Who counts as a person: not everything with a capital letter, and not what stands beside one."""

import pytest

from mnemon.semantics.rules.agents import agent_in
from mnemon.semantics.rules.people import People
from mnemon.semantics.rules.word_lists import words
from mnemon.semantics.semantic_event import Category
from tests.semantics.reading import events, the_event


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Ada met with Ben and Berlin on Tuesday.", ["Ada", "Ben"]),
        ("Alice and Berlin discussed the lease.", ["Alice"]),
        ("Alice finished the clients for Python and Go.", ["Alice"]),
        ("Alice sent the report to Ben and Paris.", ["Alice", "Ben"]),
        ("Alice translated the brochure from German and French.", ["Alice"]),
        ("Alice moved the archive from Oslo and Bergen to Zlínov. The hall in Zlínov is dry.", ["Alice"]),
        ("Alice met with Zdravka and Ben on Tuesday. Later Zdravka left.", ["Alice", "Zdravka", "Ben"]),
    ],
)
async def test_places_and_languages_beside_a_name_are_not_people(text: str, people: list[str]) -> None:
    event = await the_event(text)
    assert sorted(actor.ref for actor in event.actors) == sorted(people)


def test_a_place_is_a_person_where_the_document_says_so() -> None:
    assert People.known_from("Lima will call.", ["Lima"]).is_person("Lima")
    assert not People.known_from("We flew to Lima and back.", []).is_person("Lima")
    assert People.known_from("I met Jack London there.", []).is_known("Jack London")
    assert People.known_from("We called Florence and Georgia.", []).is_person("Georgia")


# From five continents, none of them on any list.
NAMES = words(
    """Wanjiru Chukwuemeka Ingvild Saoirse Abdulrahman Friedhelm Nomvula Oluwaseun Torbjørn Caoimhe Yusuf Gisela
    Thandiwe Kiprono Adaeze Siobhán Mthunzi Haruki Tamsin Xiulan Ngozi Eirik Zeynep Aroha Itzel Kaimana Mei-Ling
    Hans Ines James Nils"""
)


@pytest.mark.parametrize("name", sorted(NAMES))
async def test_anyone_can_promise_whatever_their_name(name: str) -> None:
    event = await the_event(f"{name} will order the new batteries by 3 December 2026.")
    assert (event.category, [actor.ref for actor in event.actors]) == (Category.COMMITMENT, [name])


@pytest.mark.parametrize(
    "text",
    [
        "Deployment will start on Monday.",
        "Traffic will drop by Monday.",
        "Maintenance will take the whole morning by then.",
        "Gdynia will close in May.",
    ],
)
async def test_a_thing_at_the_head_of_a_sentence_promises_nothing(text: str) -> None:
    assert await events(text) == ()


async def test_a_firm_promises_as_a_firm() -> None:
    event = await the_event("Acme Gmb will deliver the pumps by Friday.")
    assert [actor.ref for actor in event.actors] == ["Acme Gmb"]
    assert not People.known_from("The pumps come from Acme Gmb.", []).is_known("Acme Gmb")


async def test_who_begins_a_sentence_did_the_work_when_it_has_an_object() -> None:
    event = await the_event("Wanjiru sent the invoice.")
    assert (event.category, [actor.ref for actor in event.actors]) == (Category.EXECUTION, ["Wanjiru"])
    assert [actor.ref for event in await events("Invoice sent.", "note") for actor in event.actors] == []


@pytest.mark.parametrize("called", ["Ms Kamau", "Wanjiru", "W. Kamau", "Kamau", "Frau Kamau"])
async def test_a_title_or_an_initial_with_the_last_name_is_the_person_whom_the_document_knows(called: str) -> None:
    event = await the_event(
        f"{called} will order the new batteries by Friday.", people=("Wanjiru Kamau", "Eirik Solbakken")
    )
    assert [actor.ref for actor in event.actors] == ["Wanjiru Kamau"]


async def test_a_title_is_no_part_of_a_whole_name() -> None:
    text = "Present: Dr. Amira Farouk (chair), Prof. Dr. Leif Aas\n\nAmira will order the chairs by 3 March 2026.\n"
    event = await the_event(text)
    assert [actor.ref for actor in event.actors] == ["Amira Farouk"]
    assert People.known_from("", ["Prof. Dr. Leif Aas", "Dr. Weiss"]).names == ("Leif Aas", "Dr. Weiss")


@pytest.mark.parametrize(
    "text",
    [
        "Agreed to try it until the end of June.",
        "We decided to move the summer party to the yard.",
        "It was decided that Gasthof Sonne is the place.",
    ],
)
async def test_what_was_agreed_a_celebration_and_an_inn_are_nobody(text: str) -> None:
    assert [actor.ref for event in await events(f"# Minutes\n\n{text}\n") for actor in event.actors] == []


def test_the_parties_of_a_contract_are_somebody() -> None:
    assert agent_in("the other party", People(())).kind == "group"
    assert agent_in("the summer party", People(())).kind == "thing"
