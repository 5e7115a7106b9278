"""The questions of training/questions with their documents, taken in by a real Mnemon as files, as users do it."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from vector_cache import CachedEmbedder

from mnemon.app import Mnemon, open_mnemon
from mnemon.beside import working_inside
from mnemon.documents.ingest.revision_texts import read_text
from mnemon.documents.intake.origin_fields import UploadFields
from mnemon.documents.intake.upload import upload
from mnemon.log.events import OPERATOR
from mnemon.operations import Caller
from mnemon.settings import Settings

HERE = Path(__file__).parent
PLACES = ("corpus", "library", "conversations")
UNFINISHED = """
SELECT count(*) AS n FROM mnemon.jobs
 WHERE tenant_id = mnemon.current_tenant() AND status IN ('PENDING', 'PROCESSING') AND kind <> 'documents.purge_files'
"""
ACTIVE = """
SELECT doc_id, doc_version_id FROM mnemon.document_revisions
 WHERE tenant_id = mnemon.current_tenant() AND is_active
"""

Span = tuple[int, int]


@dataclass(frozen=True)
class GoldQuestion:
    """A question with the words that answer it: all of `quotes`, or one of `alternatives`."""

    name: str
    document: str
    split: str
    text: str
    kind: str
    answer: str | None
    quotes: Sequence[str]
    alternatives: Sequence[str]
    standing: bool
    unanswerable: str | None
    # What held before, of a standing question.
    replaced: str | None = None


@dataclass(frozen=True)
class StoredDocument:
    doc_id: UUID
    doc_version_id: UUID
    text: str

    def spans(self, quote: str) -> list[Span]:
        """Everywhere that these words stand."""
        found, at = [], self.text.find(quote)
        while at >= 0:
            found.append((at, at + len(quote)))
            at = self.text.find(quote, at + 1)
        return found


@dataclass(frozen=True)
class Library:
    """An open Mnemon with the documents of the questions."""

    mnemon: Mnemon
    tenant: UUID
    documents: dict[str, StoredDocument]


def document_of(stem: str) -> Path:
    return next(path for place in PLACES if (path := HERE / place / f"{stem}.txt").exists())


def load_questions(splits: Iterable[str]) -> list[GoldQuestion]:
    wanted, found = set(splits), []
    for path in sorted((HERE / "questions").glob("*.jsonl")):
        split = json.loads(document_of(path.stem).with_suffix(".json").read_text())["split"]
        if split not in wanted:
            continue
        for line in path.read_text().splitlines():
            one = json.loads(line)
            found.append(
                GoldQuestion(
                    one["id"], path.stem, split, one["question"], one["kind"], one["answer"], tuple(one["quotes"]),
                    tuple(one.get("alternatives", ())), "standing" in one, one.get("unanswerable"),
                    one.get("replaced"),
                )
            )  # fmt: skip
    return found


@asynccontextmanager
async def open_library(home: Path, questions: Sequence[GoldQuestion], **settings: Any) -> AsyncIterator[Library]:
    """With the documents of the questions."""
    files = [document_of(stem) for stem in sorted({one.document for one in questions})]
    async with open_files(home, files, **settings) as library:
        yield library


@asynccontextmanager
async def open_files(home: Path, files: Iterable[Path], **settings: Any) -> AsyncIterator[Library]:
    """Documents that this home has already are not taken in again."""
    async with open_mnemon(Settings(home=home, log_level="ERROR", worker_inside=True, **settings)) as mnemon:
        # What was embedded once is not embedded again: figures of time are measured elsewhere.
        vars(mnemon)["embedder"] = CachedEmbedder(mnemon.embedder)
        async with mnemon.database.owner() as owner:
            row = await (await owner.execute("SELECT tenant_id FROM mnemon.tenants LIMIT 1")).fetchone()
        assert row is not None
        caller = Caller(row["tenant_id"], OPERATOR)
        named = {}
        for path in files:
            named[path.stem] = await _take_in(mnemon, caller, path)
        async with working_inside(mnemon):
            await _until_read(mnemon, caller.tenant_id)
        yield Library(mnemon, caller.tenant_id, await _stored(mnemon, caller.tenant_id, named))


async def _take_in(mnemon: Mnemon, caller: Caller, path: Path) -> UUID:
    received = mnemon.files.take_copy(caller.tenant_id, path)
    taken = await upload(mnemon, caller, UploadFields(file=received, source_uri=path.resolve().as_uri()))
    assert taken.doc_id is not None, f"{path}: {taken.reason}"
    return taken.doc_id


async def _until_read(mnemon: Mnemon, tenant: UUID) -> None:
    while True:
        async with mnemon.database.transaction(tenant) as tx:
            row = await (await tx.execute(UNFINISHED)).fetchone()
        if row is not None and row["n"] == 0:
            return
        await asyncio.sleep(0.2)


async def _stored(mnemon: Mnemon, tenant: UUID, named: dict[str, UUID]) -> dict[str, StoredDocument]:
    async with mnemon.database.transaction(tenant) as tx:
        rows = await (await tx.execute(ACTIVE)).fetchall()
        active = {row["doc_id"]: row["doc_version_id"] for row in rows}
        return {
            stem: StoredDocument(doc_id, active[doc_id], (await read_text(tx, active[doc_id])).text)
            for stem, doc_id in named.items()
        }


def is_quoted(question: GoldQuestion, document: StoredDocument, cited: Sequence[tuple[UUID, int, int]]) -> bool:
    """Whether the citations hold the gold words: half of each quote at least, or of one alternative."""
    own = [(start, end) for revision, start, end in cited if revision == document.doc_version_id]

    def held(quote: str) -> bool:
        return any(_shared(span, own) * 2 >= len(quote) for span in document.spans(quote))

    return all(held(quote) for quote in question.quotes) or any(held(quote) for quote in question.alternatives)


def _shared(span: Span, cited: Sequence[Span]) -> int:
    covered: set[int] = set()
    for start, end in cited:
        covered.update(range(max(span[0], start), min(span[1], end)))
    return len(covered)
