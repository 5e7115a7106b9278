"""Ways in which people put things: the category each one states, and those that state nothing."""

from datetime import date

import pytest

from mnemon.semantics.extract.revision import SourceType
from tests.semantics.reading import events, the_event

STATED: list[tuple[str, str, SourceType]] = [
    ("Decision", "We went with the blue paint after all.", "email"),
    ("Decision", "oak it is then", "chat"),
    ("Decision", "Rejected: it doubles the cost.", "doc"),
    ("Decision", "Ben and Carla agree to close the bridge.", "doc"),
    ("Decision", "Carla is not going to sign the extension.", "email"),
    ("Decision", "Let's not touch the importer before the audit.", "email"),
    ("Decision", "The decision to close the Leeds office is revoked.", "doc"),
    ("Decision", "Finance (Carla Silva) approved the loan.", "doc"),
    ("Decision", "It was proposed by Mr Chandra and RESOLVED that a new gate be ordered.", "doc"),
    ("Decision", "Agreed to add a fourth person to the rota.", "note"),
    ("Decision", "we drop the old template", "chat"),
    ("Decision", "A grant to the cricket club was deferred.", "doc"),
    ("Commitment", "The clerk to place the order by the end of the month.", "doc"),
    ("Commitment", "The clerk was asked to write to the council.", "doc"),
    ("Execution", "The seat map went into production on Tuesday.", "doc"),
    ("Execution", "The converter is done and deployed.", "chat"),
    ("QualityRisk", "Concern: nobody backs up Carla on the exporter.", "note"),
    ("QualityRisk", "The filter was set to 30 days by mistake.", "doc"),
    ("QualityRisk", "The provider still hasn't delivered the test cards.", "doc"),
    ("QualityRisk", "The gate does not close properly.", "doc"),
    ("Feedback", "The crew finds the new screen far too bright.", "doc"),
    ("Feedback", "Two residents had written to complain about speeding.", "doc"),
    ("Stakeholder", "Carla Silva is taking over this ticket from me.", "doc"),
    ("Stakeholder", "Her tasks go to Carla until we have a replacement.", "doc"),
    ("Commitment", "I'd like you to send me the keys by Friday.", "email"),
    ("Commitment", "The roof leaks again, so please order new tiles.", "email"),
    ("Commitment", "Carla can you pay the deposit before Monday please", "chat"),
    ("Commitment", "@Carla Silva please update the list today", "chat"),
    ("Commitment", "Carla paints the fence until 6 June.", "doc"),
    ("Commitment", "Until Friday every manager must send me a list.", "doc"),
    ("Commitment", "I can have it ready by the 19th.", "email"),
    ("Execution", "The annex was handed over to the city on 3 March.", "doc"),
    ("Execution", "flyers are printed!", "chat"),
    ("QualityRisk", "The load exceeds the permitted limit by two tons.", "doc"),
    ("QualityRisk", "The cause was a worn cable in the lift.", "doc"),
    ("QualityRisk", "we're blocked on the lease", "chat"),
    ("Feedback", "Two of the bakers complained that the dough is dry.", "doc"),
    ("Feedback", "Patients keep telling us the form is too small to read.", "doc"),
    ("Feedback", "The people from assembly are not happy with the new benches.", "doc"),
    ("Change", "We raised the ticket price to 12.", "email"),
    ("Change", "The opening was planned for 3 May, now it is 10 May.", "email"),
    ("Change", "The notice period was shortened from 12 months to 90 days.", "doc"),
    ("Stakeholder", "Carla Silva replaces Ben Okafor as lead engineer.", "doc"),
    ("Stakeholder", "Carla will step in for him until June.", "email"),
    ("Stakeholder", "Carla Silva is our new safety officer.", "email"),
    ("Collaboration", "Carla reviewed the draft with the mobile team on 3 March.", "doc"),
]


@pytest.mark.parametrize(("category", "text", "source_type"), STATED, ids=[text for _, text, _ in STATED])
async def test_said_this_way_it_is_found(category: str, text: str, source_type: SourceType) -> None:
    event = await the_event(text, source_type, people=("Ben Okafor", "Carla Silva"), sender="Ben Okafor")
    assert event.category == category


@pytest.mark.parametrize(
    "text",
    [
        "We won't make it before the rain.",
        "We will not know before June.",
        "Carla will not be in the office on Thursday.",
        "Let's not forget the neighbours.",
        "Let's not argue about colours.",
        "Yes it is",
        "A client must not retry more than three times.",
        "Did Carla paint the fence before 6 June?",
        "If Carla paints the fence by 6 June, we can open.",
        "Newer versions complain about that.",
        "Carla asked whether the site office may stay until autumn.",
    ],
)
async def test_said_this_way_it_is_no_event(text: str) -> None:
    for source_type in ("email", "doc"):
        assert not await events(text, source_type, people=("Ben Okafor", "Carla Silva"), sender="Ben Okafor")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("item", "owners", "due"),
    [
        ("- [ ] Add the certificates to the list (Carla, due 18 March)", ["Carla Silva"], date(2025, 3, 18)),
        ("- [ ] Rewrite the runbook: Ben Okafor, by end of March", ["Ben Okafor"], date(2025, 3, 31)),
        ("- [ ] Send a letter to the tenants - owner: Customer Care, tbd", ["Customer Care"], None),
        ("- [ ] Check the wiring (Carla and Ben)", ["Ben Okafor", "Carla Silva"], None),
        ("- [ ] Check the wiring (all floors)", [], None),
    ],
)
async def test_an_open_box_is_a_task_of_whom_it_names_last(item: str, owners: list[str], due: date | None) -> None:
    event = await the_event(f"What comes now\n\n{item}\n", people=("Ben Okafor", "Carla Silva"))
    assert event.category == "Commitment"
    assert sorted(actor.ref for actor in event.actors if actor.role == "owner") == owners
    assert event.due == due


async def test_you_is_who_is_greeted_in_a_mail_to_many() -> None:
    people = ("Ben Okafor", "Carla Silva", "Dmitri Orlov")
    event = await the_event("Hi Carla,\n\nplease send me the plan.\n", "email", people=people, sender="Ben Okafor")
    assert [actor.ref for actor in event.actors] == ["Carla Silva"]
    assert event.subject.ref == "plan"
    text = "Hi all,\n\nplease send me the plan.\n"
    assert not (await the_event(text, "email", people=people, sender="Ben Okafor")).actors


async def test_those_who_complain_are_named_whatever_they_are_called() -> None:
    assert [each.ref for each in (await the_event("Three merchants told us they were late.")).actors] == ["merchants"]


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("The supplier pushed the delivery from 12 May to 26 May.", "delivery"),
        ("The pool limit went from 50 to 200.", "pool limit"),
        ("Please copy him on the order.", "order"),
        ("The board approved a budget of 40,000 euros.", "budget of 40,000 euros"),
        ("| Risk | Measure |\n|---|---|\n| Groundwater enters the shaft | pump |\n", "Groundwater enters the shaft"),
    ],
)
async def test_a_subject_is_what_it_is_about(text: str, subject: str) -> None:
    assert (await the_event(text)).subject.ref == subject


async def test_initials_at_the_head_of_an_item_are_the_one_person_whom_they_fit() -> None:
    people = ("Priya Nair", "Duncan Hale")
    event = await the_event("Notes\n\n- D: send the training budget until end of month\n", "note", people=people)
    assert [actor.ref for actor in event.actors] == ["Duncan Hale"]
    assert not await events("Notes\n\n- Q: send the training budget\n", "note", people=people)
    assert not await events("Notes\n\n- D: send the training budget\n", "note", people=(*people, "Dora Lind"))


async def test_a_comma_parts_two_statements_with_subjects_of_their_own() -> None:
    done, promised = await events("I opened a case with the vendor, they promised an answer by Friday.")
    assert (done.category, promised.category) == ("Execution", "Commitment")
    assert [actor.ref for actor in promised.actors] == ["vendor"]
    assert len(await events("Since Monday, we have tested the pump.")) == 1
