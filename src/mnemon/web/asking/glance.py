"""What the first page shows before anything is asked: lately decided, due next, lately read."""

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from mnemon.app import Mnemon
from mnemon.documents.access import read_as
from mnemon.documents.library import Document
from mnemon.documents.listing import newest_documents
from mnemon.mail.reading import threads_of
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.search.query import event_search
from mnemon.semantics.search.views import open_commitments
from mnemon.semantics.shapes import Shape
from mnemon.web.rendering import Visitor

EACH = 4
# So many decisions are looked at for those that are facts, and so many documents for those that are not one thread.
LOOKED_AT = 50
OF_ONE_DOCUMENT = 2
MAIL = "email"
# How mail names a message that it answers or hands on.
ANSWERED = re.compile(r"^(?:(?:re|aw|fwd?|wg)\s*:\s*)+", re.IGNORECASE)


@dataclass(frozen=True)
class Glance:
    """A few of each; empty where nothing is stored."""

    documents: list[Document]
    decided: list[Shape]
    # What lies ahead; where nothing does, what is overdue or has no date.
    due: list[Shape]
    ahead: bool
    overdue: int = 0


async def glance(mnemon: Mnemon, visitor: Visitor) -> Glance:
    async with mnemon.database.transaction(visitor.tenant_id) as tx:
        await read_as(tx, visitor.reader)
        newest = await newest_documents(tx, LOOKED_AT)
        threads = await threads_of(tx, [one.doc_id for one in newest if one.document_type == MAIL])
    documents = of_each_thread(newest, threads)[:EACH]
    if not documents:
        return Glance([], [], [], True)
    database, tenant, reader = mnemon.database, visitor.tenant_id, visitor.reader
    today = datetime.now(UTC).date()
    ahead = (await open_commitments(database, tenant, reader, due_from=today, limit=EACH, counted=EACH))["commitments"]
    due = ahead or (await open_commitments(database, tenant, reader, limit=EACH, counted=EACH))["commitments"]
    late = await open_commitments(database, tenant, reader, overdue=True, today=today, limit=1)
    return Glance(documents, await _decided(mnemon, visitor), due, bool(ahead), late["total"])


def of_each_thread(documents: Sequence[Document], threads: Mapping[UUID, str]) -> list[Document]:
    """The newest of each thread of mail, and whatever is no mail. Mail that is on no list belongs to what answers it
    by its subject; two letters of one subject that nobody answered are two."""
    loose = [one for one in documents if one.document_type == MAIL and one.doc_id not in threads]
    answered = {_subject(one) for one in loose if ANSWERED.match(one.title)}
    first: dict[Hashable, Document] = {}
    for one in documents:
        is_loose = one.document_type == MAIL and _subject(one) in answered
        alone = _subject(one) if is_loose else one.doc_id
        first.setdefault(threads.get(one.doc_id, alone), one)
    return list(first.values())


def _subject(mail: Document) -> str:
    return ANSWERED.sub("", mail.title).casefold()


async def _decided(mnemon: Mnemon, visitor: Visitor) -> list[Shape]:
    """Facts alone, no suggestions. Nobody reads here how many there are: they are not counted."""
    asked = EventFilters(category="Decision", status="open")
    found = await event_search(
        mnemon.database, visitor.tenant_id, visitor.reader, asked, limit=LOOKED_AT, counted=EACH,
        include_evidence=False,
    )  # fmt: skip
    return of_several([one for one in found["events"] if not one["suggestion"]])[:EACH]


def of_several(found: Sequence[Shape]) -> list[Shape]:
    """Two of each document before any third: one set of rules must not fill the list."""
    seen: Counter[str] = Counter()
    first: list[Shape] = []
    rest: list[Shape] = []
    for one in found:
        seen[one["artifact_uid"]] += 1
        (first if seen[one["artifact_uid"]] <= OF_ONE_DOCUMENT else rest).append(one)
    return first + rest
