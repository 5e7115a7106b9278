"""Who counts as a person: not everything with a capital letter, and not what stands beside one."""

import pytest

from mnemon.semantics.rules.people import People, given_names, places_and_languages
from tests.semantics.reading import the_event


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


def test_no_given_name_is_listed_as_a_place() -> None:
    assert not given_names() & places_and_languages()
