"""Whether anything about a person can still be read: an administrator looks for words in all of the tenant's tables."""

from typing import Annotated

from pydantic import Field

from mnemon.identity.roles import Action
from mnemon.log.privacy.scan import SHORTEST
from mnemon.log_operations.erasures import SubjectId
from mnemon.log_operations.fields import NO_TOOLS, Parts
from mnemon.operations import Caller, Input, Output, operation

PersonalWord = Annotated[str, Field(min_length=SHORTEST, max_length=200)]


class ScanWanted(Input):
    """Who, and words that only speak of them."""

    subject_id: SubjectId
    words: list[PersonalWord] = Field(
        [], max_length=20,
        description="A name, an address, a number. What the log can still read of the person is looked for too.",
    )  # fmt: skip


class ScanFinding(Output):
    """A place where one of the words stands. The word itself is not repeated."""

    place: str = Field(description="Table and column.")
    times: int


class ScanReport(Output):
    """What was looked at, and what was found."""

    clean: bool = Field(description="All was looked at for at least one word, and none was found.")
    words: int = Field(description="How many were looked for.")
    columns: list[str] = Field(description="Every place that was looked at.")
    findings: list[ScanFinding]
    unread: list[str] = Field(description="Tables that were left out since the time was up; the command has no limit.")


@operation(
    "privacy.scan", Action.MANAGE_PRIVACY, read_only=True,
    example={"subject_id": "customer-17", "words": ["Eve Adams", "eve@example.org"]},
    absent={**NO_TOOLS, "command": "`mnemon privacy scan` looks further: at every table and file of the machine."},
)  # fmt: skip
async def scan(mnemon: Parts, caller: Caller, asked: ScanWanted) -> ScanReport:
    """Look for plain text about a person in all that this tenant keeps: it proves that an erasure left none.

    It tells places and numbers, also in what others keep to themselves, and never a word.
    """
    found = await mnemon.privacy.scan_own(caller.tenant_id, asked.subject_id, asked.words)
    return ScanReport(
        clean=found.clean and bool(found.words) and not found.unread, words=found.words, columns=found.columns,
        findings=[ScanFinding(place=one.place, times=one.times) for one in found.findings], unread=found.unread,
    )  # fmt: skip
