"""What a user may ask of passages in mail, declared once for all doors: by meaning, by thread, and as proof."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Protocol
from uuid import UUID

from pydantic import Field

from mnemon.ask.inputs import FURTHEST, PassageFilters
from mnemon.db.database import Connection, Database
from mnemon.documents.access import Reader, read_as
from mnemon.documents.ingest.revision_texts import read_text
from mnemon.errors import NotFound
from mnemon.identity.roles import Action
from mnemon.inputs import Cursor, FirstMoment, LastMoment, Maybe, from_cursor, to_cursor
from mnemon.log.store import EventLog
from mnemon.mail.inputs import Name
from mnemon.mail.message.ids import chunk_key
from mnemon.mail.outputs import MailPerson
from mnemon.mail.reading import addresses_of, one_thread
from mnemon.mail.spans.normalized import new_text
from mnemon.mail.spans.written import read_spans
from mnemon.operations import Caller, Door, Input, Output, operation
from mnemon.reports import library
from mnemon.reports.checking import STANDS
from mnemon.reports.retrieval.passages import OF_THREAD, MailPassage, passages_by_id, shown_passage

if TYPE_CHECKING:
    from mnemon.ask.search import Searcher

# The passage that a quote begins in.
CHUNKS_OF = """
SELECT c.doc_version_id, c.ordinal, c.start_offset, c.end_offset FROM mnemon.chunks c
 WHERE c.tenant_id = mnemon.current_tenant() AND c.doc_version_id = ANY(%s) ORDER BY c.ordinal
"""
AT_ONCE = 100
FOR_PROGRAMS: Mapping[Door, str] = {
    "mcp": "mail_search finds passages; few tools leave room for the others.",
    "web": "The page of a thread has its messages.",
}
ON_THE_PAGE: Mapping[Door, str] = {"mcp": "An agent opens citations one by one.", "web": "Every citation is a link."}
Thread = Annotated[str, Field(min_length=1, max_length=600)]
OF_ONE_THREAD = "Its id or key, or the Message-ID of any message in it."


class MailSearch(Input):
    """What is looked for in mail."""

    query: str = Field(min_length=1, max_length=2000, description="Plain words, as a person would say them.")
    list_name: Maybe[Name] = Field(None, description="The list, as its List-Id or its source names it.")
    person: Maybe[Name] = Field(None, description="Who wrote: an address, or a full name in any spelling.")
    since: Maybe[FirstMoment] = Field(None, description="Not before this.")
    until: Maybe[LastMoment] = Field(None, description="Not after this.")
    draft: Maybe[Name] = Field(None, description="What the message speaks of: a draft (any version) or an RFC.")
    thread: Maybe[Thread] = Field(None, description="Of this thread alone.")
    limit: Annotated[int, Field(ge=1, le=100)] = Field(10, description="Most passages.")


class FoundMail(Output):
    """A passage with its message and its thread."""

    score: float
    passage: MailPassage
    message: str = Field(description="What the message says itself (body_normalized).")
    thread: str | None = Field(description="The thread's subject.")
    sender: MailPerson


class MailFound(Output):
    items: list[FoundMail]
    lexical_only: str | None = Field(description="Why meaning took no part, where it did not.")


class ThreadPassages(Input):
    """The passages of one thread."""

    thread: Thread = Field(description=OF_ONE_THREAD)
    vectors: bool = Field(False, description="With the vector of each.")
    limit: Annotated[int, Field(ge=1, le=200)] = Field(100, description="How many at most.")
    cursor: Cursor = None


class PassagePage(Output):
    items: list[MailPassage]
    next_cursor: str | None


class CitationsAsked(Input):
    """One summary."""

    summary_id: UUID = Field(description="The summary.")


class CheckedCitation(Output):
    """A quote, the passage that it begins in, and whether it stands there."""

    message_id: str
    message_key: str
    chunk_id: str | None = Field(description="Nothing where the message has no passages yet.")
    quote: str
    start_offset: int
    end_offset: int
    valid: bool


class CheckedCitations(Output):
    """`gone` lines cited messages that were forgotten, and are no longer told."""

    holds: bool
    citations: list[CheckedCitation]
    gone: int


class RetrievalParts(Protocol):
    """What these operations need of Mnemon."""

    @property
    def database(self) -> Database: ...
    @property
    def log(self) -> EventLog: ...
    @property
    def searcher(self) -> "Searcher": ...


@operation(
    "mail.search", Action.QUERY, read_only=True, may_lag=True, errors=(NotFound,),
    example={"query": "connection migration", "since": "2023-10-01", "draft": "draft-ietf-quic-transport"},
    absent={"web": "Search has mail among all else, and the page of messages its filters."},
)  # fmt: skip
async def search(mnemon: RetrievalParts, caller: Caller, asked: MailSearch) -> MailFound:
    """Find passages of mail by words and meaning, best first, each with its message and its thread."""
    reader = Reader.of(caller.actor)
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, reader)
        thread = (await one_thread(tx, asked.thread)).thread_key if asked.thread else None
        people = await addresses_of(tx, asked.person)
    filters = PassageFilters(source="mail", from_date=asked.since, to_date=asked.until)
    items: list[FoundMail] = []
    for offset in range(0, FURTHEST, AT_ONCE):
        found = await mnemon.searcher.search(
            caller.tenant_id, asked.query, filters, limit=AT_ONCE, offset=offset, reader=reader
        )
        async with mnemon.database.transaction(caller.tenant_id) as tx:
            await read_as(tx, reader)
            rows = await passages_by_id(tx, [one.chunk_id for one in found.hits])
            for hit in found.hits:
                row = rows.get(hit.chunk_id)
                if row is not None and len(items) < asked.limit and _is_wanted(row, asked, thread, people):
                    items.append(await _found(tx, hit.score, row))
        if len(items) >= asked.limit or found.next_offset is None:
            break
    return MailFound(items=items, lexical_only=found.lexical_only)


def _is_wanted(row: dict[str, Any], asked: MailSearch, thread: str | None, people: list[str] | None) -> bool:
    if (asked.list_name and row["list_name"] != asked.list_name) or (thread and row["thread_key"] != thread):
        return False
    if people is not None and not {row["sender_email"], row["sender_key"]} & set(people):
        return False
    draft = "".join((asked.draft or "").lower().split())
    return not draft or any(
        one == draft or (one.startswith(f"{draft}-") and one[len(draft) + 1 :].isdigit())
        for one in row["draft_mentions"]
    )


async def _found(tx: Connection, score: float, row: dict[str, Any]) -> FoundMail:
    text = (await read_text(tx, row["doc_version_id"])).text
    return FoundMail(
        score=score, passage=shown_passage(row), thread=row["thread_subject"],
        message=new_text(text, read_spans(row["spans"])),
        sender=MailPerson(name=row["sender_name"], email=row["sender_email"]),
    )  # fmt: skip


@operation(
    "mail.passages", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound,), absent=FOR_PROGRAMS,
    example={"thread": "<20231015120000.XYZ789@example.com>", "vectors": True},
)  # fmt: skip
async def passages(mnemon: RetrievalParts, caller: Caller, asked: ThreadPassages) -> PassagePage:
    """All passages of a thread in the order of its messages, with their vectors if wanted."""
    after, _, rest = (from_cursor(asked.cursor) or "").partition("|")
    key, _, ordinal = rest.partition("|")
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, Reader.of(caller.actor))
        values = {
            "thread": (await one_thread(tx, asked.thread)).thread_key, "vectors": asked.vectors, "after": after or None,
            "key": key, "ordinal": int(ordinal) if ordinal.isdigit() else 0, "limit": asked.limit + 1,
        }  # fmt: skip
        rows = await (await tx.execute(OF_THREAD, values)).fetchall()
    items = [shown_passage(row, asked.vectors) for row in rows[: asked.limit]]
    return PassagePage(items=items, next_cursor=_next(rows[asked.limit - 1]) if len(rows) > asked.limit else None)


def _next(row: dict[str, Any]) -> str:
    moment = row["date"].isoformat() if row["date"] else "infinity"
    return to_cursor(f"{moment}|{row['message_key']}|{row['ordinal']}")


@operation(
    "reports.citations", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound,), absent=ON_THE_PAGE,
    example={"summary_id": "3f2b8a4e-6c1d-4e0f-9a7b-1c2d3e4f5a6b"},
)  # fmt: skip
async def citations(mnemon: RetrievalParts, caller: Caller, asked: CitationsAsked) -> CheckedCitations:
    """Check every citation of a stored summary against its message, and name the passage that it stands in."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, Reader.of(caller.actor))
        row = await library.find_stored(tx, library.ONE_SUMMARY, asked.summary_id)
        report = await library.read_stored(mnemon.log, tx, caller.tenant_id, row)
        cited = report.citations
        values = {
            "places": list(range(len(cited))), "revisions": [one.doc_version_id for one in cited],
            "firsts": [one.start for one in cited], "lasts": [one.end for one in cited],
            "quotes": [one.quote for one in cited],
        }  # fmt: skip
        standing = {one["place"] for one in await (await tx.execute(STANDS, values)).fetchall() if one["stands"]}
        chunks = await (await tx.execute(CHUNKS_OF, (values["revisions"],))).fetchall()
    checked = []
    for place, one in enumerate(cited):
        within = [
            each["ordinal"]
            for each in chunks
            if each["doc_version_id"] == one.doc_version_id and each["start_offset"] <= one.start < each["end_offset"]
        ]
        checked.append(
            CheckedCitation(
                message_id=one.message_id, message_key=one.message_key, quote=one.quote, start_offset=one.start,
                chunk_id=chunk_key(one.message_key, within[0]) if within else None, end_offset=one.end,
                valid=place in standing,
            )
        )  # fmt: skip
    return CheckedCitations(
        holds=all(one.valid for one in checked), citations=checked, gone=report.dropped - row["dropped"]
    )
