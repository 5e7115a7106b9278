"""A tenant's million semantic events, loaded in minutes: the rows that the product's own path would have written.

Events and evidence go through the lens's own statements, so that words, names and keys are what it stores; documents,
revisions and vectors are copied in. Indexes are left out while rows come in, and built afterwards from their own
definitions. What the texts say is drawn from lists with a long tail: a few subjects, people and words are in
every tenth event, most in a handful. Each vector is the real model's for its subject, with noise of its own.
"""

import asyncio
import random
import struct
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

import numpy as np
from psycopg.types.json import Jsonb

from mnemon.app import Mnemon
from mnemon.db.database import Connection
from mnemon.models.active import ModelInUse, model_to_write
from mnemon.models.embedder import Embedder
from mnemon.semantics import lens_sql
from mnemon.semantics.lens import SEMANTICS
from mnemon.semantics.search.event_vectors import VECTORS
from mnemon.semantics.semantic_event import Evidence, evidence_id

PER_DOCUMENT = 50
# Every tenth document has an earlier revision, every tenth is for its owner alone.
EARLIER = PRIVATE = 10
START = datetime(2020, 1, 1, 9, tzinfo=UTC)
CONNECTIONS = 2
PORTION = 100
TABLES = {table.removeprefix("mnemon."): table for table in SEMANTICS.tables}


def listed(words: str) -> list[str]:
    return words.split()


GIVEN = listed(
    """Ada Ben Carla Dmitri Elif Farid Greta Hana Igor Jun Katja Liam Mara Nils Olga Pablo Quentin Rosa Sven Tara Uma
    Viktor Wanda Xenia Yusuf Zoe Aiko Bruno Chiara Diego Emma Felix Gita Hugo Ines Jonas Kofi Lena Milan Nora"""
)
FAMILY = listed(
    """Byron Okafor Silva Ivanov Demir Haddad Lindqvist Sato Petrov Tanaka Weber Murphy Costa Holm Kuznetsova Ruiz
    Dubois Bianchi Berg Nair Rao Novak Kowalska Popov Celik Fischer Suzuki Moreau Russo Garcia Smith Keller Patel
    Leroy Santos Vogel Mensah Braun Horvat Larsen Jensen Walker Adler Baker Cooper Dyer Eriksen Foster Grant Hunter"""
)
THINGS = listed(
    """billing export migration dashboard invoice pipeline search contract warehouse login payroll forecast rollout
    mailing archive scanner checkout survey backup license onboarding firewall catalogue reminder webhook template
    inventory tariff audit prototype cache glossary ledger calendar gateway brochure sensor tracker portal playbook
    budget roadmap newsletter permit turbine elevator greenhouse shuttle canteen vendor pricing database"""
)
SORTS = listed(
    """quarterly mobile internal regional legacy annual customer nightly partner public shared weekly European
    staging draft printed seasonal technical financial northern automated temporary premium hourly physical central
    remote interim annotated encrypted parallel monthly bilingual compact modular federal standby archived indoor
    maritime strategic reviewed offline combined external"""
)
PATTERNS = {
    "Commitment": "{person} will finish the {subject} and {words} by {day}.",
    "Execution": "{person} delivered the {subject} with {words}.",
    "Decision": "We decided to keep the {subject} for {words}.",
    "Collaboration": "{person} and {other} went through the {subject} and {words}.",
    "QualityRisk": "There is a risk that the {subject} fails because of {words}.",
    "Feedback": "{person} said that the {subject} feels slow with {words}.",
    "Change": "The {subject} was moved from {words} to the new plan.",
    "Stakeholder": "{person} is responsible for the {subject} and {words}.",
}


@dataclass(frozen=True)
class Document:
    """One revision: the latest of its document, or an earlier one."""

    number: int
    earlier: bool

    @property
    def doc_id(self) -> UUID:
        return uuid5(NAMESPACE_OID, f"document {self.number}")

    @property
    def revision(self) -> UUID:
        return uuid5(self.doc_id, "first" if self.earlier else "latest")

    @property
    def readers(self) -> list[str] | None:
        return ["user:ada"] if self.number % PRIVATE == 0 else None

    @property
    def ingested_at(self) -> datetime:
        return START + timedelta(minutes=150 * self.number) - timedelta(days=30 if self.earlier else 0)


@dataclass(frozen=True)
class Workload:
    """What is to be loaded, from a seed: the same events every time."""

    events: int

    @property
    def documents(self) -> list[Document]:
        latest = [Document(number, False) for number in range(1, self.events // PER_DOCUMENT + 1)]
        return [*latest, *(Document(one.number, True) for one in latest if one.number % EARLIER == 5)]

    @cached_property
    def words(self) -> list[str]:
        """Rare words of the tail, as pronounceable as product names."""
        chance = random.Random(7)
        return ["".join(chance.choice(part) for part in ("bdfgklmnprstvz", "aeiou") * 3) for _ in range(20_000)]

    @cached_property
    def subjects(self) -> list[str]:
        """Every sort of every thing; neighbours in the list differ in both."""
        pairs = [f"{sort} {thing}" for sort in SORTS for thing in THINGS]
        random.Random(8).shuffle(pairs)
        return pairs

    @cached_property
    def people(self) -> list[str]:
        names = [f"{given} {family}" for given in GIVEN for family in FAMILY]
        random.Random(9).shuffle(names)
        return names

    def events_of(self, document: Document) -> list[dict[str, Any]]:
        chance = random.Random(document.revision.int)
        subjects = [self.subjects[place] for place in self.subjects_of(document)]
        return [self._event(document, position, subject, chance) for position, subject in enumerate(subjects)]

    def subjects_of(self, document: Document) -> np.ndarray[Any, Any]:
        """The place of each event's subject in the list."""
        chance = np.random.default_rng(document.revision.int)
        return (len(self.subjects) ** chance.random(PER_DOCUMENT)).astype(int) - 1

    def _event(self, document: Document, position: int, subject: str, chance: random.Random) -> dict[str, Any]:
        category = list(PATTERNS)[position % len(PATTERNS)]
        person, other = tailed(self.people, chance), tailed(self.people, chance)
        day = document.ingested_at + timedelta(days=chance.randrange(90))
        words = " ".join(tailed(self.words, chance) for _ in range(4))
        said = PATTERNS[category].format(person=person, other=other, subject=subject, words=words, day=day.date())
        said_at = document.ingested_at - timedelta(minutes=PER_DOCUMENT - position)
        event_id = f"evt_{uuid5(document.revision, str(position)).hex}"
        evidence = Evidence(position * 200, position * 200 + len(said), said)
        return {
            "event_id": event_id, "position": position, "category": category, "narrative": said,
            "subject": {"type": "object", "ref": subject}, "actors": [{"ref": person, "role": "owner"}],
            "event_time": None, "happened_at": said_at.isoformat(),
            "due": day.date().isoformat() if category == "Commitment" else None,
            "kind": "promise" if category == "Commitment" else None,
            "origin": "stated", "confidence": chance.choice((0.6, 0.7, 0.8, 0.9)),
            "evidence": [{"evidence_id": evidence_id(event_id, evidence), "start_char": evidence.start,
                          "end_char": evidence.end, "quote": said, "chunk": None}],
        }  # fmt: skip


def tailed(values: Sequence[str], chance: random.Random) -> str:
    """One of the values; the chance of each falls with its place."""
    return values[int(len(values) ** chance.random()) - 1]


async def load(mnemon: Mnemon, tenant: UUID, workload: Workload, *, vectors: bool = True) -> None:
    """All rows, then all indexes, then what the planner wants to know."""
    began = time.perf_counter()
    async with mnemon.database.owner() as owner, without_indexes(owner):
        await _copy_documents(owner, tenant, workload.documents)
        shares = [workload.documents[share::CONNECTIONS] for share in range(CONNECTIONS)]
        await asyncio.gather(*(_load_events(mnemon, tenant, workload, share) for share in shares))
        for statement in (LINKS, DONE):
            await owner.execute(statement, {"tenant": tenant})
        if vectors and mnemon.embedder.source != "none":
            await _copy_vectors(mnemon, owner, tenant, workload)
        print(f"  rows after {time.perf_counter() - began:.0f} s")
    async with mnemon.database.owner() as owner:
        await owner.execute("ANALYZE " + ", ".join((*SEMANTICS.tables, VECTORS)))
    print(f"{workload.events:,} events loaded in {time.perf_counter() - began:.0f} s")


@asynccontextmanager
async def without_indexes(owner: Connection) -> AsyncIterator[None]:
    """Drops what is no primary key; afterwards builds the same again, with the memory that a bulk load deserves."""
    rows = await (await owner.execute(INDEXES, ([*TABLES, VECTORS.removeprefix("mnemon.")],))).fetchall()
    for row in rows:
        await owner.execute(f"DROP INDEX mnemon.{row['indexname']}")
    yield
    await owner.execute("SET maintenance_work_mem = '2GB'")
    await owner.execute("SET max_parallel_maintenance_workers = 2")
    for row in rows:
        began = time.perf_counter()
        await owner.execute(row["indexdef"])
        print(f"  {row['indexname']} built in {time.perf_counter() - began:.1f} s")


INDEXES = """
SELECT indexname, indexdef FROM pg_indexes
 WHERE schemaname = 'mnemon' AND tablename = ANY(%s) AND indexname NOT LIKE '%%_pkey' ORDER BY indexname
"""
DOCUMENTS = """COPY mnemon.documents (tenant_id, doc_id, source_type, source_uri, title, owner, visibility_scope,
    readers, created_at) FROM STDIN"""
REVISIONS = """COPY mnemon.document_revisions (tenant_id, doc_version_id, doc_id, version_number, content_hash,
    text_hash, extractor, media_type, size_bytes, char_count, token_count, chunk_count, is_active, served,
    readers, created_at) FROM STDIN"""


async def _copy_documents(owner: Connection, tenant: UUID, documents: list[Document]) -> None:
    async with owner.cursor() as cursor, cursor.copy(DOCUMENTS) as copy:
        for one in documents:
            if not one.earlier:
                await copy.write_row(
                    (tenant, one.doc_id, "bench", f"bench://{one.doc_id}", f"Minutes {one.number}", "user:ada",
                     "me" if one.readers else "org", one.readers, one.ingested_at)
                )  # fmt: skip
    async with owner.cursor() as cursor, cursor.copy(REVISIONS) as copy:
        for one in documents:
            until = f'"{(one.ingested_at + timedelta(days=30)).isoformat()}"' if one.earlier else ""
            served = f'{{["{one.ingested_at.isoformat()}",{until})}}'
            number = 1 if one.earlier or one.number % EARLIER != 5 else 2
            await copy.write_row(
                (tenant, one.revision, one.doc_id, number, f"sha256:{one.revision.hex}", "", "bench", "text/plain", 1,
                 1, 2_500, 6, not one.earlier, served, one.readers, one.ingested_at)
            )  # fmt: skip


async def _load_events(mnemon: Mnemon, tenant: UUID, workload: Workload, documents: list[Document]) -> None:
    """With the lens's statements, many documents to a transaction."""
    async with mnemon.database.owner() as owner:
        for first in range(0, len(documents), PORTION):
            async with owner.transaction(), owner.pipeline():
                for document in documents[first : first + PORTION]:
                    values = {
                        "tenant": tenant, "doc_version_id": document.revision, "at": document.ingested_at,
                        "extraction_id": uuid5(document.revision, "extraction"),
                        "events": Jsonb(workload.events_of(document)),
                    }  # fmt: skip
                    for statement in (lens_sql.ADD_EVENTS, lens_sql.ADD_EVIDENCE):
                        await owner.execute(statement.format(**TABLES), values)


# In every third document a promise was kept, and in every third a decision made anew.
LINKS = """
INSERT INTO mnemon.event_links (tenant_id, later, earlier, doc_version_id, kind, reason, linked_at)
SELECT later.tenant_id, later.event_id, earlier.event_id, later.doc_version_id,
       CASE later.position WHEN 41 THEN 'fulfils' ELSE 'supersedes' END, 'the same work', later.created_at
  FROM mnemon.semantic_events later
  JOIN mnemon.semantic_events earlier
    ON earlier.tenant_id = later.tenant_id AND earlier.doc_version_id = later.doc_version_id
   AND earlier.position = CASE later.position WHEN 41 THEN 0 ELSE 2 END
 WHERE later.tenant_id = %(tenant)s AND later.position IN (41, 42) AND hashtext(later.doc_id::text) %% 3 = 0
"""
DONE = """
UPDATE mnemon.semantic_events e SET linked = true, status = CASE l.kind WHEN 'fulfils' THEN 'done' ELSE 'superseded' END
  FROM mnemon.event_links l WHERE l.tenant_id = %(tenant)s AND e.tenant_id = l.tenant_id AND e.event_id = l.earlier
"""


async def _copy_vectors(mnemon: Mnemon, owner: Connection, tenant: UUID, workload: Workload) -> None:
    embedder = mnemon.embedder
    near = await _subject_vectors(embedder, workload.subjects)
    async with mnemon.database.transaction(tenant) as tx:
        await model_to_write(tx, VECTORS, ModelInUse(embedder.model_id, near.shape[1]))
    statement = f"COPY {VECTORS} (tenant_id, event_id, model_id, embedding) FROM STDIN (FORMAT binary)"
    async with owner.cursor() as cursor, cursor.copy(statement) as copy:
        await copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
        for block in _vector_blocks(tenant, embedder.model_id, near, workload):
            await copy.write(block)
        await copy.write(struct.pack(">h", -1))


async def _subject_vectors(embedder: Embedder, subjects: Sequence[str]) -> np.ndarray[Any, Any]:
    """Of the first thousand, which most events are about; the others lie between two of those."""
    known = np.asarray(await embedder.embed([f"the {subject}" for subject in subjects[:1_000]]), dtype=np.float32)
    chance = np.random.default_rng(10)
    pairs = chance.integers(0, len(known), (max(0, len(subjects) - len(known)), 2))
    return np.concatenate([known, known[pairs[:, 0]] + known[pairs[:, 1]]])


def _vector_blocks(tenant: UUID, model_id: str, near: np.ndarray[Any, Any], workload: Workload) -> Iterator[bytes]:
    """Rows of one length each, in the server's binary form."""
    size = near.shape[1]
    row = np.dtype([
        ("columns", ">i2"), ("tenant_length", ">i4"), ("tenant", "V16"), ("event_length", ">i4"), ("event", "S36"),
        ("model_length", ">i4"), ("model", f"S{len(model_id)}"), ("vector_length", ">i4"), ("size", ">i2"),
        ("unused", ">i2"), ("vector", ">f4", (size,)),
    ])  # fmt: skip
    chance = np.random.default_rng(11)
    for document in workload.documents:
        block = np.zeros(PER_DOCUMENT, row)
        block["columns"], block["tenant_length"], block["event_length"] = 4, 16, 36
        block["tenant"] = np.void(tenant.bytes)
        block["event"] = [f"evt_{uuid5(document.revision, str(place)).hex}".encode() for place in range(PER_DOCUMENT)]
        block["model_length"], block["model"] = len(model_id), model_id.encode()
        block["vector_length"], block["size"] = 4 + 4 * size, size
        vectors = near[workload.subjects_of(document)] + chance.normal(0, 0.5 / size**0.5, (PER_DOCUMENT, size))
        block["vector"] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        yield block.tobytes()
