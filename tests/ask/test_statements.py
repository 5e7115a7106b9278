"""What of a text can be quoted by itself, and what goes on with the line before it."""

from mnemon.ask.proven import ProvenSentence, told_together
from mnemon.ask.quoting.clean import clean_words
from mnemon.ask.quoting.statements import statements_in

STAND_UP = """# Stand-up 3 November 2026
- Aoife: fixed the flaky login test
- Lena: proposes to move to Postgres 17
Decision: we stay on Postgres 16 until the spring.
Tunde will write to the vendor by Thursday.
"""
WRAPPED = """- a long item that somebody has wrapped at some width of his editor as most people
do when they write minutes by hand
- one that is indented where
  it goes on
- a short one
"""
TALK = """Anna: I looked at it
and it is broken.
Decision: we drop it
Ben: fine
Anna: then that is that
"""


def said(text: str) -> list[str]:
    return [one.text for one in statements_in(text, 0)]


def test_what_stands_below_a_list_is_none_of_its_last_item() -> None:
    assert said(STAND_UP) == [
        "Aoife: fixed the flaky login test",
        "Lena: proposes to move to Postgres 17",
        "Decision: we stay on Postgres 16 until the spring.",
        "Tunde will write to the vendor by Thursday.",
    ]


def test_an_item_goes_on_where_it_is_wrapped_or_indented() -> None:
    assert [one.replace("\n", " ") for one in said(WRAPPED)] == [
        "a long item that somebody has wrapped at some width of his editor as most people do when they write minutes "
        "by hand",
        "one that is indented where   it goes on",
        "a short one",
    ]


def test_a_labelled_line_below_somebodys_words_begins_anew() -> None:
    assert "Decision: we drop it" in said(TALK)


NOTE = """Note on tools (Femi, updated 2 April 2026)

Ladder 1-3: behind the stage in the grey box
Ladder 4: Siri has it since February, promised to bring it back by Friday 10 April
Ladder 5: BROKEN. Carpenter Olsen, tel. 030 555 0144, asked for 312 EUR for new rungs
The code of the shed is not written here, ask Noor.
Spare lamp of the cellar: in the drawer of Femi
"""


def test_each_line_of_a_note_is_a_statement_of_its_own() -> None:
    assert said(NOTE) == [
        "Note on tools (Femi, updated 2 April 2026)",
        "Ladder 1-3: behind the stage in the grey box",
        "Ladder 4: Siri has it since February, promised to bring it back by Friday 10 April",
        "Ladder 5: BROKEN.",
        "Carpenter Olsen, tel. 030 555 0144, asked for 312 EUR for new rungs",
        "The code of the shed is not written here, ask Noor.",
        "Spare lamp of the cellar: in the drawer of Femi",
    ]
    assert said("Milk 3 litres\nBread 2 loaves\nEggs 12") == ["Milk 3 litres", "Bread 2 loaves", "Eggs 12"]


def test_what_is_wrapped_by_hand_is_no_note() -> None:
    text = (
        "Wir haben am Montag die Pumpe geprüft.\nDer Lieferant hat uns für kommende Woche einen neuen\n"
        "Termin genannt.\nDanach sehen wir weiter.\n"
    )
    assert [one.replace("\n", " ") for one in said(text)] == [
        "Wir haben am Montag die Pumpe geprüft.",
        "Der Lieferant hat uns für kommende Woche einen neuen Termin genannt.",
        "Danach sehen wir weiter.",
    ]


def test_what_ends_without_a_stop_does_not_run_into_the_next_sentence() -> None:
    told = [ProvenSentence(words, (), (), "answer", "") for words in ("Ana: looks at it", "It broke.", "It is back.")]
    assert told_together(told) == "Ana: looks at it\nIt broke. It is back."


def test_a_name_alone_above_a_list_speaks_and_is_no_part_of_what_stands_before_it() -> None:
    text = "Stand-up\n\nIngrid\n- crane is booked\n- the mast is bare\nOluwaseun\n- rope is here\n"
    assert [(one.speaker, one.text) for one in statements_in(text, 0) if one.kind == "item"] == [
        ("Ingrid", "crane is booked"), ("Ingrid", "the mast is bare"), ("Oluwaseun", "rope is here"),
    ]  # fmt: skip


QUOTED = """Dear Ms Roth,

thank you for your offer of Monday.

Kind regards
Ida Sand

> On Thu, 22 Oct 2026 at 09:10, Ole Brandt <ole@brandt.example> wrote:
>
> Dear Ida,
>
> The lease ends on 31 January. We can
> prolong it by two years.
>
> Ole Brandt
> Brandt Estates
>
>> On Tue, 1 Sep 2026 at 14:45, Ida Sand wrote:
>>
>> Which notice do you ask for?
"""


def test_a_quoted_mail_is_told_without_its_attribution_and_signature() -> None:
    quoted = [(one.speaker, one.text.replace("\n> ", " ")) for one in statements_in(QUOTED, 0) if one.quoted]
    assert quoted == [
        ("Ole Brandt", "The lease ends on 31 January. We can prolong it by two years."),
        ("Ida Sand", "Which notice do you ask for?"),
    ]


def test_a_reply_follows_a_question_though_a_few_words_come_after_that() -> None:
    talk = "Ana: Who brings cake on Friday? It is Ben's birthday\nCem: I bring some. Apple\n"
    assert [one.asked.endswith("Who brings cake on Friday?") for one in statements_in(talk, 0)][-1]


def test_cells_that_name_their_columns_are_told_with_semicolons() -> None:
    assert clean_words("Item: Rope | Price: 4 EUR | Owner: Ida") == "Item: Rope; Price: 4 EUR; Owner: Ida"
    assert clean_words("We chose | of two | signs") == "We chose | of two | signs"


BOLD = """**2. Heat in hall 3**
On 11 June it was 34 degrees.
**Budget: 4,000 EUR**
**Everything stays as it is.**

*Tuesday*

The fans have come.
"""
COMMENTS = """TICKET FAC-2280

24 Nov 17:40 – Tariq Benson
Customers complain about seats F7 to F12.

25 Nov 08:10 – Magda Kowalczyk
I have ordered seat covers.
"""
CHAT = """**Ludo Vantreight (graphics)** 14:40 – Do I show the old map?
**Marguerite Tully** 14:44 – No, grey it
"""
ALIGNED = """Containers that are under way:

Container   Fruit       Boxes   Vessel
BWF-071     cherries    1,980   Costa Serena
BWF-073     grapes      2,160   Andes Trader
"""
LETTERS = """---
**From:** Kwabena Asare-Lund
**Subject:** Re: Costumes

Fifty metres will do.
"""


def test_a_line_in_bold_is_the_title_of_what_stands_below_it_unless_it_says_something() -> None:
    assert [(one.headings, one.text) for one in statements_in(BOLD, 0)] == [
        (("2. Heat in hall 3",), "On 11 June it was 34 degrees."),
        (("2. Heat in hall 3",), "**Budget: 4,000 EUR**"),
        (("2. Heat in hall 3",), "**Everything stays as it is.**"),
        (("Tuesday",), "The fans have come."),
    ]


def test_a_comment_is_said_by_whoever_its_head_names() -> None:
    said_by = [(one.speaker, one.text) for one in statements_in(COMMENTS, 0)]
    assert said_by[1:] == [
        ("Tariq Benson", "Customers complain about seats F7 to F12."),
        ("Magda Kowalczyk", "I have ordered seat covers."),
    ]


def test_a_name_in_bold_before_the_clock_begins_a_turn() -> None:
    found = statements_in(CHAT, 0)
    assert [(one.speaker, one.text) for one in found] == [
        ("Ludo Vantreight (graphics)", "Do I show the old map?"),
        ("Marguerite Tully", "No, grey it"),
    ]
    assert found[1].asked == "Do I show the old map?"


def test_a_row_whose_cells_stand_apart_names_its_columns() -> None:
    row = statements_in(ALIGNED, 0)[-1]
    assert (row.kind, clean_words(row.text, row.columns)) == (
        "row", "Container: BWF-073; Fruit: grapes; Boxes: 2,160; Vessel: Andes Trader",
    )  # fmt: skip


def test_fields_of_a_mail_in_bold_are_nobodys_words() -> None:
    found = statements_in(LETTERS, 0)
    assert [(one.headings, one.text) for one in found] == [(("Costumes",), "Fifty metres will do.")]


def test_a_day_or_a_title_on_its_own_line_is_none_of_the_words_below() -> None:
    text = (
        "18.02.2026\nWolters hat abgesagt, kein Fahrer.\n\nTOP 1 Sommerfest\n"
        "Das Fest soll am 27. Juni stattfinden. Herr Pham kümmert sich um den Grill."
    )
    assert said(text)[:2] == ["Wolters hat abgesagt, kein Fahrer.", "Das Fest soll am 27. Juni stattfinden."]
