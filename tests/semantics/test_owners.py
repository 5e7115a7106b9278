"""Who owes what is promised and until when, given the words that say it, in English and German."""

from datetime import UTC, datetime

import pytest

from mnemon.semantics.extract.revision import Revision, SourceType
from mnemon.semantics.learned.fields import candidate_of
from mnemon.semantics.learned.owner_signs import may_own
from mnemon.semantics.learned.proposals import Proposal
from mnemon.semantics.rules.actors import Cast
from mnemon.semantics.rules.mood import plain
from mnemon.semantics.semantic_event import Candidate, Category

PEOPLE = ("Wanjiru Kamau", "Jakub Nowak", "Priya Raman", "Doris Blum")
THURSDAY = datetime(2026, 3, 5, 10, tzinfo=UTC)


def owed(text: str, quote: str, kind: SourceType = "note", sender: str | None = None) -> tuple[set[str], str | None]:
    """Owners and due day of the commitment that the quote states."""
    revision = Revision("rev", text, kind, THURSDAY, "UTC", "", sender, PEOPLE)
    start = text.index(quote)
    units, cast = revision.layout.units, Cast(revision)
    place = max(at for at, unit in enumerate(units) if unit.start <= start)
    for unit in units[:place]:
        cast.hear(plain(unit.text))
    found = candidate_of(
        revision, Proposal(Category.COMMITMENT, start, start + len(quote), place, None, ()), cast, None
    )
    assert isinstance(found, Candidate)
    return {each.ref for each in found.actors if each.role == "owner"}, found.due.isoformat() if found.due else None


@pytest.mark.parametrize(
    ("text", "quote", "owner", "due"),
    [
        ("- Wanjiru: saw the bank. will send a list tmrw", "will send a list tmrw", "Wanjiru Kamau", "2026-03-06"),
        ("Glass for case 10: Jakub, by 3/18", None, "Jakub Nowak", "2026-03-18"),
        ("Labels proofread (Priya, 17 March)", None, "Priya Raman", "2026-03-17"),
        ("Mount for the tunic – Wangari, 18.3.", None, "Wangari", "2026-03-18"),
        ("Kabel tauschen: Thabiso, bis Montag", None, "Thabiso", "2026-03-09"),
        ("Hand-over of the keys: Xolani, before 6 pm 26/6", None, "Xolani", "2026-06-26"),
        ("Schlüssel abholen (Ngaire, nächste Woche)", None, "Ngaire", "2026-03-15"),
        ("Hatice: fixed the pump. Paints the hall next wk.", "Paints the hall next wk.", "Hatice", "2026-03-15"),
        ("Tunde, sorg bitte dafür, dass alles bis Ostern steht.", None, "Tunde", "2026-04-05"),
        ("Priya, could you call them before noon?", None, "Priya Raman", "2026-03-05"),
        ("@priya bitte bis Montag gegenlesen", None, "Priya Raman", "2026-03-09"),
        ("Frau Blum holt bis Ende April Angebote ein", None, "Doris Blum", "2026-04-30"),
        ("Den Plan macht Jakub bis KW 12", None, "Jakub Nowak", "2026-03-22"),
        ("Teamleitungen haben für Pausen zu sorgen", None, "Teamleitungen", None),
        ("Each party shall keep the terms confidential", None, "party", None),
        ("Hall to be measured by P. Raman 30 March", None, "Priya Raman", "2026-03-30"),
    ],
)
def test_owner_and_due_day(text: str, quote: str | None, owner: str, due: str | None) -> None:
    assert owed(f"{text}.\n", quote or text) == ({owner}, due)


@pytest.mark.parametrize(
    ("text", "quote", "owner"),
    [
        # A thing that is done, brought or mended owes nothing.
        ("Ein neues Aggregat baut Frau Kowal bis Pfingsten ein.", None, "Frau Kowal"),
        ("Den Schlüssel bringt Jakub am Montag.", None, "Jakub Nowak"),
        ("Türsteuerung neu aufspielen, macht Fa. Tramtronic am 18.03.", None, "Tramtronic"),
        # First letters of those who take part, as speakers and as labels.
        ("WK: I collect the keys.\nJN: Good.\nWK: Fine.\nJN: Bye.", "I collect the keys", "Wanjiru Kamau"),
        # The head of the text says who holds the office.
        (
            "Present: Mr Jakub Nowak (engineer to the board), Mrs Priya Raman (clerk)\n\n"
            "The engineer to place the order by 31 March.",
            "The engineer to place the order by 31 March.",
            "Jakub Nowak",
        ),
        (
            "In attendance: W. Kamau, company secretary.\n\nThe secretary shall have the contract ready by 9 April.",
            "The secretary shall have the contract ready by 9 April.",
            "Wanjiru Kamau",
        ),
    ],
)  # fmt: skip
def test_things_own_nothing_and_letters_and_offices_are_people(text: str, quote: str | None, owner: str) -> None:
    assert owed(f"{text}\n", quote or text)[0] == {owner}


@pytest.mark.parametrize("name", ["the fifth", "fifth", "30th", "end", "thirtieth", "12"])
def test_a_number_or_an_end_owns_nothing(name: str) -> None:
    assert not may_own(name.removeprefix("the "))


@pytest.mark.parametrize(
    "text", ["I will send the list by Friday.", "Ich schicke die Liste.", "You will have it by Friday."]
)
def test_a_pronoun_is_nobodys_name(text: str) -> None:
    assert owed(text, text)[0] == set()


def test_who_is_told_to_send_it_owes_it() -> None:
    text = (
        "Priya Raman: Der Plan fehlt.\nJakub Nowak: Welcher?\nPriya Raman: Der alte.\n"
        "Jakub Nowak: Schick mir den neuen bis Montag.\n"
    )
    assert owed(text, "Schick mir den neuen bis Montag.", "transcript") == ({"Priya Raman"}, "2026-03-09")


def test_who_speaks_owes_what_you_will_have() -> None:
    text = "Hi Priya,\n\nyou'll have their comments by Wednesday.\n"
    assert owed(text, "you'll have their comments by Wednesday", "email", "Jakub Nowak") == (
        {"Jakub Nowak"},
        "2026-03-11",
    )


def test_in_a_chat_i_am_who_writes() -> None:
    text = "[08:55] *jakub*: the till shows crowns again\n[09:06] *priya*: ich nehm das, PR heut Nachmittag\n"
    assert owed(text, "ich nehm das, PR heut Nachmittag", "chat") == ({"Priya Raman"}, "2026-03-05")


def test_a_sheet_has_owner_and_day_on_lines_of_their_own() -> None:
    text = "Aufgaben\n  Aufgabe: Statik nachreichen\n  Wer: Jakub Nowak\n  Bis: 08.05.2026\n"
    text += "  Aufgabe: Farbe wählen\n  Wer: offen\n"
    assert owed(text, "Statik nachreichen") == ({"Jakub Nowak"}, "2026-05-08")
    assert owed(text, "Farbe wählen")[1] is None


def test_a_party_is_called_by_its_whole_name() -> None:
    text = 'Made between Lakeside Playhouse Inc. (the "House") and the Story Circle (the "Circle").\n\n'
    text += "The House shall repair the loop before 12 October.\n"
    assert owed(text, "The House shall repair the loop before 12 October")[0] == {"Lakeside Playhouse Inc."}


def test_then_is_the_day_just_named() -> None:
    text = "I'll pick up the posts on Saturday. Priya, would you call them before then?"
    assert owed(text, "Priya, would you call them before then?") == ({"Priya Raman"}, "2026-03-07")


@pytest.mark.parametrize(
    ("text", "quote", "owner"),
    [
        ("Dear all,\n\nit leaks. Mateo and I will check the attic.\n", "Mateo and I will check the attic", "Mateo"),
        ("Actions\n- Check insurance [Fatou, 12 June]\n", "Check insurance [Fatou, 12 June]", "Fatou"),
        ("Actions\n- Kitchen rota -> Piotr\n", "Kitchen rota -> Piotr", "Piotr"),
        ("Offene Punkte\n- Kellerschlüssel -> Fatou\n", "Kellerschlüssel -> Fatou", "Fatou"),
        ("Actions\n- Rotate the keys. Owner: Ifeoma, due 23 October\n", "Rotate the keys", "Ifeoma"),
        (
            'Between Halvorsen Tugs AS (the "Owner") and Bay Port (the "Charterer").\n\nFuel is to be supplied by the '
            "Charterer. Upon redelivery, the Owner shall inspect the hull.\n",
            "Fuel is to be supplied by the Charterer",
            "Bay Port",
        ),
        (
            'Between Halvorsen Tugs AS (the "Owner") and Bay Port (the "Charterer").\n\nFuel is to be supplied by the '
            "Charterer. Upon redelivery, the Owner shall inspect the hull.\n",
            "Upon redelivery, the Owner shall inspect the hull.",
            "Halvorsen Tugs AS",
        ),
        ("Hamish: and then Pilar, can you proof it?\nOdalys: sure.\n", "and then Pilar, can you proof it?", "Pilar"),
        ("Soraya: blocked; Ivar gets the key today\n", "Ivar gets the key today", "Ivar"),
        ("Statusbericht\nVerfasser: Yusuf Thalmann\n\nNächste Woche befrage ich die Fahrer.\n",
         "Nächste Woche befrage ich die Fahrer.", "Yusuf Thalmann"),
        ("Das ist gut. Bis Freitag reicht Linnea die Zahlen nach.\n", "Bis Freitag reicht Linnea die Zahlen nach.",
         "Linnea"),
        ("Das ist offen. Um den Schlüssel kümmert sich Tomás.\n", "Um den Schlüssel kümmert sich Tomás.", "Tomás"),
        ("Der Kuchenverkauf wird von Frau Adeyemi organisiert, wie im letzten Jahr.\n",
         "Der Kuchenverkauf wird von Frau Adeyemi organisiert", "Frau Adeyemi"),
    ],
)  # fmt: skip
def test_owners_wherever_a_clause_names_them(text: str, quote: str, owner: str) -> None:
    owners, _ = owed(text, quote, "doc")
    assert owner in owners


LEASE = (
    "Zwischen Doris Blum, Kiel – nachfolgend „Vermieterin“ genannt – und der Kranz & Töchter OHG, nachfolgend"
    " „Mieterin“.\n\n"
)
LOAN = "Lender: Wanjiru Kamau, 12 Mill Lane\nBorrower: Jakub Nowak\n\n"


@pytest.mark.parametrize(
    ("text", "quote", "owner"),
    [
        (LEASE, "Die Vermieterin streicht das Lager bis zum 4. Mai 2026.", "Doris Blum"),
        (LEASE, "Die Mieterin zahlt die Miete bis zum 3. Werktag.", "Kranz & Töchter OHG"),
        (LOAN, "The Borrower shall return the boat by 9 May 2026.", "Jakub Nowak"),
        ("Made between Priya Raman as Seller and Doris Blum as Buyer.\n\n", "The Seller shall clear the yard.",
         "Priya Raman"),
    ],
)  # fmt: skip
def test_parties_of_a_contract_however_it_names_them(text: str, quote: str, owner: str) -> None:
    assert owed(f"{text}{quote}\n", quote, "contract")[0] == {owner}


THREAD = """Re: boiler

[1] Wanjiru Kamau, Mon 2 March 2026, 09:10
Hi Jakub,
the boiler is cold again. Could you ring the fitter by noon?
W.

[2] Jakub Nowak, Mon 2 March 2026, 10:02
Rang him. I'll let the landlord know tonight.
Jakub
"""


def test_in_a_thread_i_and_you_are_those_of_the_message() -> None:
    assert owed(THREAD, "Could you ring the fitter by noon?", "email", "Doris Blum")[0] == {"Jakub Nowak"}
    assert owed(THREAD, "I'll let the landlord know tonight.", "email", "Doris Blum")[0] == {"Jakub Nowak"}


def test_who_is_greeted_in_german_is_asked() -> None:
    text = (
        "Sehr geehrte Frau Blum,\n\nbitte senden Sie mir den Plan bis Montag.\n\nMit freundlichen Grüßen\nJakub Nowak\n"
    )
    assert owed(text, "bitte senden Sie mir den Plan bis Montag.", "email", "Jakub Nowak")[0] == {"Doris Blum"}


def test_not_tom_but_ada() -> None:
    assert owed(
        "Die Schulung hält nicht Frau Blum, sondern Jakub Nowak.\n",
        "Die Schulung hält nicht Frau Blum, sondern Jakub Nowak.",
    )[0] == {"Jakub Nowak"}


@pytest.mark.parametrize(
    "line",
    [
        "Ready to ship the draft by Friday.",
        "Set to close the deal by 8 May.",
        "Planned to print the flyers by 12 May.",
        "Ready for review by Thursday: login page",
    ],
)
def test_what_a_clipped_line_opens_with_is_nobody(line: str) -> None:
    text = f"Stand-up\n\n- {line}\n- Ahmed to paint the shed by 12 May.\n"
    assert owed(text, line)[0] == set()
    assert owed(text, "Ahmed to paint the shed by 12 May.")[0] == {"Ahmed"}


@pytest.mark.parametrize(
    ("head", "clause", "owner"),
    [
        (
            "Present: Ada Lindqvist (Works Manager), Tom Reyes",
            "The Works Manager is to sign the order",
            "Ada Lindqvist",
        ),
        ("In the room: Tom Reyes, Treasurer Ada Lindqvist", "The Treasurer will pay the bill", "Ada Lindqvist"),
        (
            "Schriftführung: Ada Lindqvist\nAnwesend: Tom Reyes",
            "Die Schriftführerin schickt die Liste",
            "Ada Lindqvist",
        ),
        ("Anwesend: Ada Lindqvist, Vorstand; Tom Reyes", "Der Vorstand prüft die Liste", "Vorstand"),
    ],
)
def test_an_office_is_whoever_the_head_names_beside_it(head: str, clause: str, owner: str) -> None:
    people = ("Ada Lindqvist", "Tom Reyes")
    text = f"Minutes\n{head}\n\nThe hall is cold. {clause}.\n"
    revision = Revision("rev", text, "note", THURSDAY, "UTC", "", None, people)
    start = text.index(clause)
    place = max(at for at, unit in enumerate(revision.layout.units) if unit.start <= start)
    proposal = Proposal(Category.COMMITMENT, start, start + len(clause), place, None, ())
    found = candidate_of(revision, proposal, Cast(revision), None)
    assert found is not None
    assert {each.ref for each in found.actors if each.role == "owner"} == {owner}


def test_first_letters_in_a_column_are_whoever_has_them() -> None:
    text = "| What | Who | Due |\n|---|---|---|\n| Paint the door | PR | 20 March |\n| Order glue | QQ | 20 March |\n"
    assert owed(text, "Paint the door | PR | 20 March") == ({"Priya Raman"}, "2026-03-20")
    assert owed(text, "Order glue | QQ | 20 March") == ({"QQ"}, "2026-03-20")


@pytest.mark.parametrize(
    ("people", "text", "quote", "owner"),
    [
        (("Ana Flores", "Ana Whitfield"), "Ana F can you get ten crates by noon?", None, "Ana Flores"),
        (
            ("Ruaridh Sinclair", "Morag Sinclair"),
            "R. Sinclair is to change the bank mandate.",
            None,
            "Ruaridh Sinclair",
        ),
        (("Tom Reyes", "Bea Lund"), "tom can you relabel shelf F before Monday?", None, "Tom Reyes"),
        (("Jericho Mapa", "Analyn Cruz"), "J writes down the dropped calls until Friday", None, "Jericho Mapa"),
        (
            ("Nkechi Umeh", "Ben Boyle"),
            "The responsible vet is Nkechi Umeh. Her deputy is Ben Boyle.\n\nThe responsible vet shall check it.",
            "The responsible vet shall check it.",
            "Nkechi Umeh",
        ),
        (
            ("Phuong Tran", "Ewa Lis"),
            "Als Vorsitzende wird Phuong Tran gewählt.\n\nDie neue Vorsitzende holt bis Montag die Schlüssel ab.",
            "Die neue Vorsitzende holt bis Montag die Schlüssel ab.",
            "Phuong Tran",
        ),
        (
            ("Mele Havea", "Colleen Wu"),
            "Mele Havea has succeeded Colleen Wu as tower captain.\n\nThe captain shall have it repaired by May.",
            "The captain shall have it repaired by May.",
            "Mele Havea",
        ),
        (
            ("Reef Network", "Sable Charters Ltd"),
            'between Sable Charters Ltd ("Owner") and Reef Network ("Charterer")\n\nThe Charterer shall name divers.',
            "The Charterer shall name divers.",
            "Reef Network",
        ),
    ],
)
def test_whoever_a_short_form_or_an_office_means(
    people: tuple[str, ...], text: str, quote: str | None, owner: str
) -> None:
    revision = Revision("rev", text, "note", THURSDAY, "UTC", "", None, people)
    start = text.index(quote or text)
    place = max(at for at, unit in enumerate(revision.layout.units) if unit.start <= start)
    proposal = Proposal(Category.COMMITMENT, start, start + len(quote or text), place, None, ())
    found = candidate_of(revision, proposal, Cast(revision), None)
    assert found and {each.ref for each in found.actors if each.role == "owner"} == {owner}


def test_what_is_handed_on_is_owed_by_the_last() -> None:
    text = "| what | who | when |\n|---|---|---|\n| call the ministry | Jakub → Priya | 30 March |\n"
    assert owed(text, "call the ministry")[0] == {"Priya Raman"}


def test_what_you_get_is_owed_by_who_answers() -> None:
    asked = "Priya Raman 09:10\nIch brauche das Muster.\n\n"
    text = f"{asked}Jakub Nowak 09:11\nkriegst du Montag\n\nPriya Raman 09:12\ndanke\n"
    assert owed(text, "kriegst du Montag", "chat")[0] == {"Jakub Nowak"}


@pytest.mark.parametrize("nobody", ["tbd", "TBC", "", "open", "offen", "niemand", "-"])
def test_a_row_that_names_nobody_is_owed_by_nobody(nobody: str) -> None:
    text = (
        "Author: Priya Raman\n\n| what | who | by |\n|---|---|---|\n| order the lamp | Priya | 15 March |\n"
        f"| train the night shift | {nobody} | 20 March |\n"
    )
    assert owed(text, "train the night shift")[0] == set()
    assert owed(text, "order the lamp")[0] == {"Priya Raman"}


@pytest.mark.parametrize(
    "address", ["pumps-dev@example.org", "all@example.org", "vorstand@verein.example", "x@lists.example"]
)
def test_the_address_of_a_list_owes_nothing(address: str) -> None:
    revision = Revision("rev", "Please vote until Friday 13 March.", "email", THURSDAY, "UTC", "", "Ada Berg",
                        ("Ada Berg", address))  # fmt: skip
    found = candidate_of(revision, Proposal(Category.COMMITMENT, 0, 34, 0, None, ()), Cast(revision), None)
    assert found and address not in {each.ref for each in found.actors if each.role == "owner"}


def test_an_address_of_one_person_may_owe() -> None:
    revision = Revision("rev", "Please vote until Friday 13 March.", "email", THURSDAY, "UTC", "", "Ada Berg",
                        ("Ada Berg", "jakub.nowak@example.org"))  # fmt: skip
    found = candidate_of(revision, Proposal(Category.COMMITMENT, 0, 34, 0, None, ()), Cast(revision), None)
    assert found and "jakub.nowak@example.org" in {each.ref for each in found.actors if each.role == "owner"}


def test_items_below_a_name_are_owed_by_it() -> None:
    text = "Stand-up\n\nIngrid\n- will ask Harbour Lights for a lamp until 27 March\nOle\n- todo: rope by 12 March\n"
    assert owed(text, "will ask Harbour Lights for a lamp until 27 March")[0] == {"Ingrid"}
    assert owed(text, "rope by 12 March")[0] == {"Ole"}


STAND_UP = (
    "stand-up mon 2 march\n\nWanjiru\n - list is out\nJakub\n - will ask Stadtwerke for a contract\n"
    "Priya\n - todo: book copies\n"
)


@pytest.mark.parametrize(
    ("text", "quote", "owner"),
    [
        (STAND_UP, "will ask Stadtwerke for a contract", {"Jakub Nowak"}),
        (STAND_UP, "book copies", {"Priya Raman"}),
        ("what | who | by\n--- | --- | ---\nbook the hall | Priya | 5 May\ntrain the shift | tbd | tbd\n",
         "train the shift | tbd | tbd", set()),
    ],
)  # fmt: skip
def test_whose_items_stand_below_a_name_and_whose_row_nobody_has_taken(text: str, quote: str, owner: set[str]) -> None:
    assert owed(text, quote)[0] == owner


def test_a_list_of_people_owes_nothing() -> None:
    assert not may_own("pumps-dev@firm.example") and not may_own("all@firm.example")
    assert may_own("ada.berg@firm.example")


def test_a_german_noun_before_the_sentence_owes_nothing() -> None:
    text = "Was passiert bei einer Panne? Die Kulanz entscheidet der Vortag.\nRufen Sie uns an.\n"
    assert owed(text, "Rufen Sie uns an", sender=None)[0] <= set(PEOPLE)


def test_one_person_has_one_name_in_every_case_and_line() -> None:
    text = "Begehung mit Herrn Mbeki.\nMbeki bestellt bis Freitag 400 Kisten. Frau\nNwosu prüft bis Montag die Bänke.\n"
    assert owed(text, "Mbeki bestellt bis Freitag 400 Kisten")[0] == {"Herr Mbeki"}
    assert owed(text, "Frau\nNwosu prüft bis Montag die Bänke")[0] == {"Frau Nwosu"}


def test_so_many_evenings_a_week_is_no_day() -> None:
    text = "The Contractor shall clean the rooms five evenings a week, Monday to Friday, after 19:00.\n"
    assert owed(text, text.strip())[1] is None


def test_who_says_let_us_owes_it_and_not_what_is_done() -> None:
    text = "Ada Nkosi: The hall is free on 3 July.\nBen Ruiz: Let's book Sonnhof for 3 July.\nAda Nkosi: Fine.\n"
    assert owed(text, "Let's book Sonnhof for 3 July.", "chat")[0] == {"Ben Ruiz"}


def test_what_must_be_done_to_a_thing_is_not_owed_by_the_thing() -> None:
    text = "Flights need the approval of the managing director.\n\nReceipts must be handed in within 30 days."
    assert owed(text, "Receipts must be handed in within 30 days.", "doc")[0] == set()
    assert owed("Receipts must be handed in by Priya.", "Receipts must be handed in by Priya.")[0] == {"Priya Raman"}
