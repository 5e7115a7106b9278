"""Claims about files whose first line says what they are about."""

from uuid import UUID

from mnemon.app import Mnemon
from mnemon.ask.quoting.surroundings import opening_of
from tests.semantics.conftest import ADA, Added, added, all_done, settings, work
from tests.work.conftest import eventually

from .test_table_rows import Done

__all__ = ["added", "all_done", "eventually", "settings", "work"]

LEASE = """RENTAL AGREEMENT - Storage unit 14, Kettle Yard
Between Brightwater Storage Ltd (the "Landlord") and Olumide Fashola (the "Tenant").

1. Term. The agreement begins on 1 March 2026 and runs for 24 months.
2. Rent. The rent is 185 pounds per month, due on the third working day.
3. Use. No food, fuel or animals may be stored.
"""


async def test_what_the_first_line_names_need_not_be_said_again(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added(LEASE, "lease.txt")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "How much is the rent for unit 14?")
    assert answer.outcome == "answered"
    assert "185 pounds" in answer.sentences[0].text


def test_the_first_line_that_says_something_opens_a_text() -> None:
    assert opening_of("\n---\n# Lease of unit 14 #\r\nMore") == "Lease of unit 14"
    assert opening_of(" \n") == ""
