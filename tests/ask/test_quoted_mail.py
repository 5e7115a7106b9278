"""Claims about mail that quotes other mail: words are cited under whoever wrote them."""

from collections.abc import Awaitable, Callable
from uuid import UUID

from mnemon.app import Mnemon
from mnemon.ask.quoting.statements import statements_in
from tests.semantics.conftest import ADA, Added, added, all_done, settings, work
from tests.work.conftest import eventually

__all__ = ["added", "all_done", "eventually", "settings", "work"]
Done = Callable[[], Awaitable[None]]

REPLY = """I think we should wait.

On Mon, 4 May 2026 at 10:00, Anna Berg <anna@example.org> wrote:
> The hall costs 400 EUR a day.
>
> On Sun, 3 May 2026, Tom Reed wrote:
>> I would rent the barn for 250 EUR.

The deposit is 90 EUR.

> The tents cost 80 EUR.

On Tue, 5 May 2026 at 11:00,
Mira Okoye <mira@example.org> wrote:
> The flyers cost 30 EUR.
"""
MAIL = f"""From: Jonas Weber <jonas@example.org>
To: anna@example.org
Date: Wed, 6 May 2026 09:00:00 +0000
Subject: Summer fair
Message-ID: <fair@example.org>
Content-Type: text/plain; charset=utf-8

{REPLY}"""


SIGNED = """Herr Okonkwo übernimmt ab sofort die Bestellungen.

Mit freundlichen Grüßen

Dr. Henrike Blaschke
Hotel Seeblick

Wir sehen uns am Montag bei der Begehung des Hotels.
"""


def test_who_signs_says_nothing_by_the_name() -> None:
    said = [one.text for one in statements_in(SIGNED, 0)]
    assert said == [
        "Herr Okonkwo übernimmt ab sofort die Bestellungen.",
        "Wir sehen uns am Montag bei der Begehung des Hotels.",
    ]


def test_each_statement_is_of_whoever_wrote_it() -> None:
    found = {one.text: one.speaker for one in statements_in(REPLY, 0, (), "Jonas Weber")}
    assert found == {
        "I think we should wait.": "Jonas Weber",
        "The hall costs 400 EUR a day.": "Anna Berg",
        "I would rent the barn for 250 EUR.": "Tom Reed",
        "The deposit is 90 EUR.": "Jonas Weber",
        "The tents cost 80 EUR.": "Anna Berg",
        "The flyers cost 30 EUR.": "Mira Okoye",
    }


def test_a_quotation_that_nobody_signs_is_not_the_repliers() -> None:
    [asked, own] = statements_in("> Do we rent the barn?\n\nWe do.\n", 0, (), "Jonas Weber")
    assert (asked.speaker, own.speaker) == (None, "Jonas Weber")


async def test_a_quoted_part_is_cited_under_its_writer(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added(MAIL, "fair.eml")
    await all_done()
    for question, writer in (
        ("How much does the hall cost?", "Anna Berg"),
        ("What would the barn cost?", "Tom Reed"),
        ("How high is the deposit?", "Jonas Weber"),
    ):
        answer = await mnemon.asking.ask(tenant, ADA, question)
        assert answer.citations[0].speaker == writer, (question, answer.text)
