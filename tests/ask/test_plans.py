"""Searches of the application role go through the indexes, however large the table and however small the tenant."""

import re
from uuid import UUID

import numpy as np
import pytest

from mnemon.ask.candidates import EXHAUSTIVE
from mnemon.ask.filters import REVISIONS, revisions_of
from mnemon.ask.inputs import PassageFilters
from mnemon.db.database import Database
from mnemon.documents.ingest.chunk_store import PASSAGE
from mnemon.models.embedder import Vectors
from mnemon.models.vector_index import ensure_vector_index, index_name
from tests.conftest import make_tenant
from tests.documents.sample_chunks import MODEL, put, put_document

from .conftest import TopicEmbedder, searcher_of

pytestmark = pytest.mark.slow

BIG, DOCUMENTS = 6_000, 20
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")


async def fill(database: Database, tenant: UUID) -> None:
    """A tenant with thousands of passages, each with common words, one rare one, and a vector of its own."""
    random = np.random.default_rng(7)
    each = BIG // DOCUMENTS
    for document in range(DOCUMENTS):
        vectors = random.normal(size=(each, MODEL.dimension)).astype("f4")
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        passages = [
            f"{WORDS[number % 10]} {WORDS[number // 10 % 10]} common words rare{document}x{number // 3}."
            for number in range(each)
        ]
        async with database.transaction(tenant) as tx:
            await put_document(tx, tenant, passages, vectors)
    async with database.owner() as owner:
        await ensure_vector_index(owner, "mnemon.chunk_vectors", MODEL)
        await owner.execute("ANALYZE mnemon.chunks, mnemon.chunk_terms, mnemon.chunk_vectors")


async def index_use(database: Database, name: str) -> int:
    async with database.owner() as owner:
        await owner.execute("SELECT pg_stat_force_next_flush()")
        row = await (
            await owner.execute("SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = %s", (name,))
        ).fetchone()
    assert row is not None
    return int(row["idx_scan"])


async def scans_of(database: Database, relation: str) -> int:
    async with database.owner() as owner:
        row = await (
            await owner.execute(
                "SELECT seq_scan FROM pg_stat_user_tables WHERE schemaname = 'mnemon' AND relname = %s", (relation,)
            )
        ).fetchone()
    assert row is not None
    return int(row["seq_scan"])


async def search_and_flush(database: Database, tenant: UUID, question: str) -> int:
    """Search as the application role, and have the server count what it used."""
    searcher = searcher_of(database, TopicEmbedder())
    asked = await searcher.questions.prepare(tenant, PASSAGE, question)
    async with database.transaction(tenant) as tx:
        row = await (await tx.execute("SELECT current_user AS who")).fetchone()
        assert row == {"who": "mnemon_app"}
        ranked = await searcher.rank(tx, asked, wanted=50)
        await tx.execute("SELECT pg_stat_force_next_flush()")
    return len(ranked.order)


async def test_a_big_table_is_searched_by_its_indexes_and_a_small_tenant_gets_its_full_top(
    own_database: Database,
) -> None:
    big, small = await make_tenant(own_database), await make_tenant(own_database)
    await fill(own_database, big)
    passages = [f"The budget of ferret {number}." for number in range(40)]
    await put(own_database, small, passages, await TopicEmbedder().embed(passages))
    assert BIG > EXHAUSTIVE
    lexical, dense = "chunk_terms_today", index_name("mnemon.chunk_vectors", MODEL)
    before = await index_use(own_database, lexical), await index_use(own_database, dense)
    scans = await scans_of(own_database, "chunk_terms"), await scans_of(own_database, "chunk_vectors")
    assert await search_and_flush(own_database, big, "alpha rare3x7 money") >= 50
    assert await index_use(own_database, lexical) > before[0]
    assert await index_use(own_database, dense) > before[1]

    assert await search_and_flush(own_database, small, "cash") == 40
    assert await search_and_flush(own_database, small, "budget of a ferret") == 40
    assert scans == (await scans_of(own_database, "chunk_terms"), await scans_of(own_database, "chunk_vectors"))


async def test_a_filtered_search_of_a_big_tenant_gets_its_full_top(own_database: Database) -> None:
    big = await make_tenant(own_database)
    await fill(own_database, big)
    # Relevant by meaning alone, and hundreds of others are nearer.
    passages = [f"Something of the sort, number {number}." for number in range(30)]
    vectors = near(TopicEmbedder().vector("money animal"), 0.6, len(passages))
    await put(own_database, big, passages, vectors, tags=["one"])
    searcher = searcher_of(own_database, TopicEmbedder())
    found = await searcher.search(big, "money animal", PassageFilters(tag="one"), limit=50)
    assert sorted(hit.text for hit in found.hits) == sorted(passages)


def near(vector: Vectors, similarity: float, count: int) -> Vectors:
    """Vectors of length 1 that are all as similar to one, in directions of their own."""
    aside = np.random.default_rng(8).normal(size=(count, len(vector)))
    aside -= np.outer(aside @ vector, vector)
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    found: Vectors = (similarity * vector + np.sqrt(1 - similarity**2) * aside).astype("f4")
    return found


async def test_the_filter_for_a_person_reads_no_chunks(own_database: Database) -> None:
    big = await make_tenant(own_database)
    for document in range(200):
        passages = [f"Turn {number}." for number in range(30)]
        await put(own_database, big, passages, speaker=f"Speaker {document}", title=f"Talk {document}")
    async with own_database.owner() as owner:
        await owner.execute("ANALYZE mnemon.document_revisions, mnemon.chunk_terms, mnemon.revision_speakers")
    values = vars(PassageFilters(person="Speaker 7")) | {"named": None}
    async with own_database.transaction(big) as tx:
        found = await (await tx.execute("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + REVISIONS, values)).fetchall()
        assert len(await revisions_of(tx, PassageFilters(person="speaker 7")) or ()) == 1
    plan = "\n".join(row["QUERY PLAN"] for row in found)
    assert "chunk" not in plan, plan
    assert re.search(r"revision_speakers_pkey on revision_speakers.*rows=1(\.00)? ", plan), plan


async def test_a_question_of_common_words_scores_a_bounded_number_of_chunks(own_database: Database) -> None:
    big = await make_tenant(own_database)
    await fill(own_database, big)
    found = await searcher_of(own_database, None).search(big, "common words", limit=20, explain=True)
    assert len(found.hits) == 20
    assert all(re.search("common words", hit.text) for hit in found.hits)
