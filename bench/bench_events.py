"""Semantic events at one million: every kind of search, the answer to an ingest, the reading of a long document.

The million is written straight into the lens tables, with words drawn from a Zipf-like list, so that some are in a
hundred thousand events and most in few. Searches are the product's own, evidence included, one caller at a time.
"""

import asyncio
import json
import os
import random
import statistics
import tempfile
import time
from pathlib import Path
from uuid import UUID

import structlog

from mnemon.app import Mnemon, open_mnemon
from mnemon.documents.readers import Reader
from mnemon.identity.tenants import DEFAULT_SLUG, tenant_by_slug
from mnemon.log.events import Actor
from mnemon.semantics.artifact_fields import NewArtifact
from mnemon.semantics.artifacts import ingest_artifact
from mnemon.semantics.extractor import extract_revision
from mnemon.semantics.query import EventFilters, event_search
from mnemon.semantics.rules import RulesExtractor
from mnemon.semantics.source import read_source
from mnemon.settings import Settings

QUICK = bool(os.environ.get("QUICK"))
EVENTS = 50_000 if QUICK else 1_000_000
PER_DOCUMENT = 50
SEARCHES = 100 if QUICK else 500
INGESTS = 40 if QUICK else 300
WORDS = 20_000
ADA = Actor("human", "user:ada")
CATEGORIES = (
    "Commitment",
    "Execution",
    "Decision",
    "Collaboration",
    "QualityRisk",
    "Feedback",
    "Change",
    "Stakeholder",
)
# A page of a report: about 500 words, with a decision and a promise on every page.
PAGE = (
    "The committee went through the figures of quarter {n} line by line and found them in good order. " * 24
    + "\n\nWe decided to move archive {n} to Oslo. Ada Byron will send report {n} by 9 March 2026.\n\n"
)


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-") as folder:
        home = Path(folder)
        home.chmod(0o755)
        results = asyncio.run(measure(home))
    print(json.dumps({"bench": "events", "results": results}))


async def measure(home: Path) -> dict[str, float]:
    results: dict[str, float] = {}
    async with open_mnemon(Settings(home=home, embedder="none")) as mnemon:
        tenant = (await tenant_by_slug(mnemon.database, DEFAULT_SLUG)).tenant_id
        results |= await ingests(mnemon, tenant)
        results |= await long_document(mnemon, tenant)
        await fill(mnemon, tenant)
        results |= await searches(mnemon, tenant)
    return {key: round(value, 3) for key, value in results.items()}


async def ingests(mnemon: Mnemon, tenant: UUID) -> dict[str, float]:
    """Until the caller has its answer; most short, every tenth of twenty pages."""
    times = []
    for number in range(INGESTS):
        pages = 20 if number % 10 == 9 else 1
        content = "".join(PAGE.format(n=number * 100 + page) for page in range(pages))
        new = NewArtifact(artifact_type="doc", source_system="bench", content=content)
        began = time.perf_counter()
        await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)
        times.append(time.perf_counter() - began)
    show("ingest acknowledged", times)
    return {"ingest_ack_p95_ms": p95(times)}


async def long_document(mnemon: Mnemon, tenant: UUID) -> dict[str, float]:
    content = "".join(PAGE.format(n=page) for page in range(100))
    new = NewArtifact(artifact_type="doc", source_system="bench", content=content)
    taken = await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)
    source = await read_source(mnemon.database, tenant, taken.doc_version_id, None)
    began = time.perf_counter()
    found = await extract_revision(RulesExtractor(), source.revision, source.chunks)
    seconds = time.perf_counter() - began
    print(f"100 pages: {len(found.events)} events in {seconds:.2f} s")
    return {"extract_100_pages_s": seconds}


async def fill(mnemon: Mnemon, tenant: UUID) -> None:
    """The lens's own rows, written by the owner in portions."""
    began = time.perf_counter()
    chance = random.Random(7)
    async with mnemon.database.owner() as owner:
        await owner.execute("CREATE TEMPORARY TABLE words (number integer PRIMARY KEY, word text)")
        async with owner.cursor() as cursor, cursor.copy("COPY words FROM STDIN") as copy:
            for number in range(WORDS):
                await copy.write_row((number, "".join(chance.choices("abcdefghiklmnoprstuvz", k=7))))
        portion = 1_000
        for first in range(1, EVENTS // PER_DOCUMENT + 1, portion):
            last = min(first + portion - 1, EVENTS // PER_DOCUMENT)
            for statement in (ARTIFACTS, REVISIONS, FILL_EVENTS, EVIDENCE):
                await owner.execute(statement, {"tenant": tenant, "first": first, "last": last, "per": PER_DOCUMENT})
        await owner.execute("ANALYZE mnemon.semantic_events, mnemon.event_evidence, mnemon.artifacts")
    print(f"{EVENTS:,} events written in {time.perf_counter() - began:.0f} s")


ARTIFACTS = """
INSERT INTO mnemon.artifacts
       (tenant_id, doc_id, artifact_uid, artifact_type, source_system, title, owner, visibility_scope, readers,
        created_at)
SELECT %(tenant)s, md5('d' || n)::uuid, 'uid_bench' || n, 'doc', 'bench', 'Document ' || n, 'user:ada',
       CASE WHEN n %% 10 = 0 THEN 'me' ELSE 'org' END, CASE WHEN n %% 10 = 0 THEN ARRAY['user:ada'] END, now()
  FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
REVISIONS = """
INSERT INTO mnemon.artifact_revisions
       (tenant_id, doc_version_id, doc_id, revision_id, version_number, token_count, chunk_count, is_latest, served,
        readers, ingested_at, extracted_at)
SELECT %(tenant)s, md5('v' || n)::uuid, md5('d' || n)::uuid, 'rev_' || left(md5('v' || n), 16), 1, 100, 1, true,
       tstzmultirange(tstzrange(now(), NULL)), CASE WHEN n %% 10 = 0 THEN ARRAY['user:ada'] END, now(), now()
  FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
FILL_EVENTS = """
INSERT INTO mnemon.semantic_events
       (tenant_id, event_id, doc_version_id, doc_id, extraction_id, position, category, narrative, subject_type,
        subject_ref, actors, event_time, happened_at, due, origin, confidence, active, readers, created_at, terms,
        lookup)
SELECT %(tenant)s, 'evt_' || md5(n || '-' || k), md5('v' || n)::uuid, md5('d' || n)::uuid, md5('x' || n)::uuid, k,
       (ARRAY['Commitment', 'Execution', 'Decision', 'Collaboration', 'QualityRisk', 'Feedback', 'Change',
              'Stakeholder'])[1 + (n * 7 + k) %% 8],
       said.text, 'object', said.subject, jsonb_build_array(jsonb_build_object('ref', said.person, 'role', 'owner')),
       NULL, timestamptz '2020-01-01' + (n * 50 + k) * interval '3 minutes', NULL, 'stated', 0.8, true,
       CASE WHEN n %% 10 = 0 THEN ARRAY['user:ada'] END, now(), said.terms,
       mnemon.event_lookup(%(tenant)s, said.terms, ARRAY[said.person], to_tsvector('english', said.subject))
  FROM generate_series(%(first)s::int, %(last)s::int) AS n, generate_series(1, %(per)s::int) AS k,
       LATERAL (SELECT string_agg(w.word, ' ' ORDER BY w.number) AS text, min(w.word) AS subject,
                       'person' || (n * 31 + k) %% 5000 AS person,
                       to_tsvector('english', string_agg(w.word, ' ')) AS terms
                  FROM (SELECT DISTINCT floor(20000 ^ ((hashint8(n::bigint * 1000003 + k * 1009 + place)
                                        & 1073741823) / 1073741824.0))::int AS number
                          FROM generate_series(1, 12) AS place) AS drawn
                  JOIN words w ON w.number = drawn.number) AS said
"""
EVIDENCE = """
INSERT INTO mnemon.event_evidence (tenant_id, event_id, evidence_id, doc_version_id, start_char, end_char, quote)
SELECT e.tenant_id, e.event_id, 'evi_' || md5(e.event_id), e.doc_version_id, e.position * 200,
       e.position * 200 + length(e.narrative), e.narrative
  FROM mnemon.semantic_events e
 WHERE e.tenant_id = %(tenant)s AND e.doc_version_id IN (
       SELECT md5('v' || n)::uuid FROM generate_series(%(first)s::int, %(last)s::int) AS n)
"""


async def searches(mnemon: Mnemon, tenant: UUID) -> dict[str, float]:
    """Of six kinds in turn: rare and common words, category with words, time, person, and no filter at all."""
    chance = random.Random(11)
    sample = await sampled(mnemon, tenant)
    times: dict[str, list[float]] = {}
    for reader in (Reader.of(ADA), Reader("user:stranger")):
        for number in range(SEARCHES // 2):
            said = chance.choice(sample)
            words = said["narrative"].split()
            kinds = {
                "two words": EventFilters(query=" ".join(chance.sample(words, min(2, len(words))))),
                "one common word": EventFilters(query=words[0]),
                "words and category": EventFilters(query=chance.choice(words), category=chance.choice(CATEGORIES)),
                "category": EventFilters(category=chance.choice(CATEGORIES)),
                "time": EventFilters(time_from=said["happened_at"], category="Decision"),
                "person": EventFilters(actor=said["person"]),
                "latest": EventFilters(),
            }
            name = list(kinds)[number % len(kinds)]
            began = time.perf_counter()
            await event_search(mnemon.database, tenant, reader, kinds[name])
            times.setdefault(name, []).append(time.perf_counter() - began)
    for name, taken in times.items():
        show(name, taken)
    every = [one for taken in times.values() for one in taken]
    show("all searches", every)
    return {"event_search_p95_ms_1m": p95(every)}


async def sampled(mnemon: Mnemon, tenant: UUID) -> list[dict[str, object]]:
    statement = """SELECT narrative, actors -> 0 ->> 'ref' AS person, happened_at FROM mnemon.semantic_events
        WHERE tenant_id = %s ORDER BY md5(event_id) LIMIT 500"""
    async with mnemon.database.transaction(tenant) as tx:
        return await (await tx.execute(statement, (tenant,))).fetchall()


def show(name: str, times: list[float]) -> None:
    middle = statistics.median(times) * 1000
    print(
        f"{name:24} n={len(times):4}  p50 {middle:8.2f} ms  p95 {p95(times):8.2f} ms  max {max(times) * 1000:8.2f} ms"
    )


def p95(times: list[float]) -> float:
    return sorted(times)[max(0, round(len(times) * 0.95) - 1)] * 1000


if __name__ == "__main__":
    main()
