"""Searches among many events go through their indexes, as the application role."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.documents.access import Reader
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.search.query import event_search
from tests.conftest import _new_database, _way_into, make_tenant

FILL = """
INSERT INTO mnemon.semantic_events
       (tenant_id, event_id, doc_version_id, doc_id, extraction_id, position, category, narrative, subject_type,
        subject_ref, actors, happened_at, origin, confidence, status, linked, due, active, known_since,
        known_until, created_at, terms, lookup)
SELECT %(tenant)s, 'evt_' || md5(%(tenant)s::text || n), md5(%(tenant)s::text || n)::uuid, gen_random_uuid(),
       gen_random_uuid(), n,
       (ARRAY['Decision', 'Commitment'])[1 + n %% 2], 'word' || n, 'object', 'thing', '[]',
       now() - n * interval '1 hour', 'stated', 0.9,
       CASE WHEN n %% 50 = 1 THEN 'done' ELSE 'open' END, n %% 50 = 1, now()::date, n %% 10 > 0,
       now() - n * interval '1 hour',
       CASE WHEN n %% 10 = 0 THEN now() END, now(), terms,
       mnemon.event_lookup(%(tenant)s, terms, ARRAY['person' || n], terms)
  FROM generate_series(1, 5000) AS n, to_tsvector('english', 'word' || n) AS terms
"""
REVISIONS = """
INSERT INTO mnemon.document_revisions
       (tenant_id, doc_version_id, doc_id, version_number, content_hash, text_hash, extractor, media_type, size_bytes,
        char_count, is_active, served, created_at)
SELECT tenant_id, doc_version_id, doc_id, 1, position::text, '', 'test', 'text/plain', 1, 1, active,
       tstzmultirange(tstzrange(happened_at, known_until)), happened_at
  FROM mnemon.semantic_events WHERE tenant_id = %(tenant)s
"""
NAME_PEOPLE = """
UPDATE mnemon.semantic_events
   SET actors = jsonb_build_array(jsonb_build_object('ref', 'person' || position, 'role', 'owner')),
       lookup = lookup || mnemon.term_key(tenant_id, 'actor person' || position) || mnemon.term_key(tenant_id, 'thing')
 WHERE tenant_id = %s
"""
SEEN = "SELECT seq_scan, idx_scan FROM pg_stat_xact_user_tables WHERE relname = 'semantic_events'"
FIND = "SELECT event_id FROM mnemon.find_semantic_events(%s::jsonb, NULL, 10001)"


@pytest.fixture(scope="module")
async def database(server: EmbeddedServer, migrated: str) -> AsyncIterator[Database]:
    """Of this module's own: so many rows would be in everybody's way."""
    with _new_database(server, like=migrated) as name:
        async with Database(_way_into(server, name)) as opened:
            yield opened


@pytest.fixture(scope="module")
async def tenant(database: Database) -> UUID:
    """With thousands of events, which no test here changes."""
    made = await make_tenant(database)
    async with database.owner() as owner:
        await owner.execute(FILL, {"tenant": made})
        await owner.execute(REVISIONS, {"tenant": made})
        await owner.execute(NAME_PEOPLE, (made,))
        await owner.execute("VACUUM ANALYZE mnemon.semantic_events, mnemon.document_revisions")
    return made


@pytest.mark.parametrize(
    "wanted",
    [
        '{"query": "word77", "limit": 20}',
        '{"category": "Decision", "limit": 20}',
        '{"limit": 20}',
        '{"actor": "person5", "limit": 20}',
        '{"category": "Commitment", "status": "open", "limit": 20}',
        '{"category": "Commitment", "status": "done", "limit": 20}',
        '{"category": "Commitment", "due_before": "2999-01-01", "limit": 20}',
        '{"subject": "word5", "limit": 20}',
        '{"query": "word77", "actor": "person77", "limit": 20}',
        '{"query": "word76", "category": "Decision", "status": "open", "limit": 20}',
        '{"query": "word70", "past": true, "limit": 20}',
        '{"known_at": "2999-01-01", "as_of": "2999-01-01", "limit": 20}',
        '{"past": true, "limit": 20}',
        '{"as_of": "2999-01-01", "limit": 20}',
        '{"as_of": "2999-01-01", "status": "open", "limit": 20}',
        '{"known_at": "2999-01-01", "limit": 20}',
        '{"known_at": "2999-01-01", "status": "open", "limit": 20}',
        '{"known_at": "2999-01-01", "query": "word77", "limit": 20}',
        '{"after_time": "2999-01-01", "after_id": "evt_", "limit": 20}',
    ],
)
async def test_a_search_reads_no_table_from_end_to_end(database: Database, tenant: UUID, wanted: str) -> None:
    async with database.transaction(tenant) as tx:
        before = await (await tx.execute(SEEN)).fetchone()
        rows = await (await tx.execute(FIND, (wanted,))).fetchall()
        after = await (await tx.execute(SEEN)).fetchone()
    assert rows
    assert before is not None
    assert after is not None
    assert after["seq_scan"] == before["seq_scan"]
    assert after["idx_scan"] > before["idx_scan"]


@pytest.mark.parametrize(
    ("view", "wanted"),
    [
        ("find_open_commitments(%s::jsonb, 1001)", '{"limit": 20}'),
        ("find_open_commitments(%s::jsonb, 1001)", '{"limit": 20, "due_before": "2999-01-01"}'),
        ("find_open_commitments(%s::jsonb, 1001)", '{"limit": 20, "owner": "person5"}'),
        ("find_people_topics(%s::jsonb, 5000)", '{"limit": 20, "person": "person6"}'),
        ("find_people_topics(%s::jsonb, 5000)", '{"limit": 20, "person": "person6", "topic": "thing"}'),
        ("find_people_topics(%s::jsonb, 5000)", '{"limit": 20, "topic": "word7"}'),
        ("find_people_topics(%s::jsonb, 100)", '{"limit": 20}'),
    ],
)
async def test_a_view_reads_no_more_than_it_needs(database: Database, tenant: UUID, view: str, wanted: str) -> None:
    async with database.transaction(tenant) as tx:
        before = await (await tx.execute(SEEN)).fetchone()
        rows = await (await tx.execute("SELECT * FROM mnemon." + view, (wanted,))).fetchall()
        after = await (await tx.execute(SEEN)).fetchone()
    assert rows
    assert before is not None
    assert after is not None
    assert after["seq_scan"] == before["seq_scan"]


@pytest.mark.usefixtures("tenant")
async def test_another_tenants_words_are_not_found(mnemon: Mnemon, other_tenant: UUID, reader: Reader) -> None:
    found = await event_search(mnemon.database, other_tenant, reader, EventFilters(query="word77"))
    assert found["total"] == 0
