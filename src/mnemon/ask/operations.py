"""What a user may ask of documents, declared once for REST, MCP, the command line and the web."""

from typing import TYPE_CHECKING, Protocol

from mnemon.ask.citations import OpenedEvidence, open_evidence
from mnemon.ask.inputs import EvidenceAsked, PassageSearch, Question
from mnemon.ask.outputs import Answered, PassagesFound, answered
from mnemon.ask.proving.filed import AnswerFile, AnswerFileAsked
from mnemon.ask.replaced import with_replaced
from mnemon.documents.errors import ArtifactNotFound
from mnemon.errors import NotFound
from mnemon.identity.roles import Action
from mnemon.operations import Caller, operation

if TYPE_CHECKING:
    from mnemon.ask.answer import Asking
    from mnemon.ask.search import Searcher
    from mnemon.db.database import Database
    from mnemon.log.proof.integrity import Integrity
    from mnemon.log.store import EventLog


# Memory objects that a search shows.
RECALLED = 5


class Parts(Protocol):
    """What these operations need of Mnemon."""

    @property
    def database(self) -> "Database": ...

    @property
    def searcher(self) -> "Searcher": ...

    @property
    def asking(self) -> "Asking": ...


class FilingParts(Protocol):
    """What the file of an answer is made from."""

    @property
    def database(self) -> "Database": ...

    @property
    def log(self) -> "EventLog": ...

    @property
    def integrity(self) -> "Integrity": ...


@operation(
    "documents.search", Action.QUERY, read_only=True, may_lag=True, errors=(ArtifactNotFound,),
    example={"query": "who approved the budget", "person": "Ada Byron", "from_date": "2026-01-01"},
)  # fmt: skip
async def search(mnemon: Parts, caller: Caller, asked: PassageSearch) -> PassagesFound:
    """Find passages of documents by words and meaning, best first; and what memory says, beside them."""
    from mnemon.documents.access import Reader, read_as

    first = asked.offset == 0 and not asked.applied()
    reader = Reader.of(caller.actor)
    remembered = await mnemon.asking.recall(caller.tenant_id, asked.query, RECALLED, reader) if first else ()
    found = await mnemon.searcher.search(
        caller.tenant_id, asked.query, asked, limit=asked.limit, offset=asked.offset, explain=asked.explain,
        reader=reader,
    )  # fmt: skip
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, reader)
        hits = await with_replaced(tx, found.hits)
    return PassagesFound(
        items=hits, remembered=list(remembered), total=found.total, next_offset=found.next_offset,
        mode=found.mode, lexical_only=found.lexical_only, reranked=found.reranked, filters=found.filters.applied(),
    )  # fmt: skip


@operation(
    "documents.ask", Action.QUERY, read_only=True, errors=(ArtifactNotFound,),
    example={"question": "When does the contract end?"},
)  # fmt: skip
async def ask(mnemon: Parts, caller: Caller, asked: Question) -> Answered:
    """Answer a question from the documents, with the quotes that prove each sentence; or refuse and say why."""
    return answered(await mnemon.asking.ask(caller.tenant_id, caller.actor, asked.question, asked))


@operation(
    "documents.answer_file", Action.QUERY, read_only=True, errors=(NotFound,),
    example={"query_id": "01890a5d-ac96-774b-bcce-b302099a8057", "form": "html"},
    absent={"mcp": "An agent has the answer; a file that proves it is for people."},
)  # fmt: skip
async def answer_file(mnemon: FilingParts, caller: Caller, asked: AnswerFileAsked) -> AnswerFile:
    """An answer of yours as one file that proves itself: JSON, or a page to print with the JSON inside."""
    from mnemon.ask.proving.answer_file import make_answer_file

    return await make_answer_file(mnemon, caller, asked.query_id)


@operation(
    "documents.evidence", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound,),
    example={"doc_version_id": "01890a5d-ac96-774b-bcce-b302099a8057", "start": 10, "end": 42},
    absent={"mcp": "The resource mnemon://artifact/…#start-end opens the same span."},
)  # fmt: skip
async def evidence(mnemon: Parts, caller: Caller, asked: EvidenceAsked) -> OpenedEvidence:
    """Open a citation: the exact span of the exact version."""
    from mnemon.documents.access import Reader, open_revision_as

    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await open_revision_as(tx, Reader.of(caller.actor), asked.doc_version_id)
        return await open_evidence(tx, asked.doc_version_id, asked.start, asked.end)
