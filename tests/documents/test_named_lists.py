"""A name that stands alone above a list tells whose its items are; a topic there does not."""

import pytest

from mnemon.documents.structure.reading import read_structure
from mnemon.documents.structure.structure import Hints


def listed(text: str, *people: str) -> dict[str, str | None]:
    parts = read_structure(text, hints=Hints("doc", people)).parts
    return {text[part.start : part.end]: part.listed_for for part in parts if part.kind == "item"}


@pytest.mark.parametrize(
    "text",
    [
        "Stand-up Tuesday\n\nIngrid\n- crane is booked\n- will paint the mast\nOluwaseun\n- rope is here\n",
        "Morgenrunde\n\nIngrid:\n* crane is booked\n* will paint the mast\n\nOluwaseun:\n* rope is here\n",
        "What we do\n\n**Ingrid**\n\n- crane is booked\n- will paint the mast\n\n**Oluwaseun**\n\n- I got the rope\n",
        "Yard\n\n@ingrid\n- crane is booked\n- will paint the mast\n@oluwaseun (phone)\n- done with the rope\n",
    ],
)
def test_whoever_is_named_above_a_list_has_its_items(text: str) -> None:
    found = listed(text)
    assert {name.lower() for name in found.values() if name} == {"ingrid", "oluwaseun"}
    assert (found["will paint the mast"] or "").lower() == "ingrid"


def test_names_that_are_known_need_no_other_sign() -> None:
    text = "Yard\n\nIngrid Dahl\n- the crane\nOluwaseun Bello\n- the rope\n"
    assert set(listed(text, "Ingrid Dahl", "Oluwaseun Bello").values()) == {"Ingrid Dahl", "Oluwaseun Bello"}
    assert set(listed(text).values()) == {None}


@pytest.mark.parametrize(
    "text",
    [
        "The house\n\nKitchen\n- oven is new\n- tiles\nGarden\n- fence\n- shed\n",
        "Stand-up\n\nDecisions\n- we sell the hut\nRisks\n- the roof leaks\n",
        "Stand-up\n\nIngrid\n- will paint the mast\n",
    ],
)
def test_a_topic_above_a_list_is_nobody(text: str) -> None:
    assert set(listed(text).values()) == {None}


def test_what_follows_under_another_heading_is_not_theirs() -> None:
    text = "Stand-up\n\nIngrid\n- crane is booked\nOluwaseun\n- rope is here\n\nACTIONS\n\n- call the harbour\n"
    assert listed(text)["call the harbour"] is None
