"""Semantic events at one million: every kind of search, the answer to an ingest, the reading of a long document.

The million is loaded by `event_workload`, whose first lines say what is in it. Searches are the product's own, one
caller at a time, evidence and the query's embedding included, by a reader who may see all and by one who may not.
"""

import asyncio
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog
from event_workload import START, Workload, load

from mnemon.app import Mnemon, open_mnemon
from mnemon.documents.access import Reader
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.identity.tenants import tenant_by_slug
from mnemon.log.events import Actor
from mnemon.semantics.artifacts import NewArtifact, ingest_artifact
from mnemon.semantics.extract.extractor import extract_revision
from mnemon.semantics.extract.source import read_source
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.rules.engine import RulesExtractor
from mnemon.semantics.search.query import event_search
from mnemon.semantics.search.views import open_commitments, people_topics
from mnemon.semantics.semantic_event import Category
from mnemon.settings import Settings

QUICK = bool(os.environ.get("QUICK"))
EVENTS = 50_000 if QUICK else 1_000_000
SEARCHES = 8 if QUICK else 40
INGESTS = 40 if QUICK else 300
ADA = Actor("human", "user:ada")
# A page of a report: about 500 words, with a decision and a promise on every page.
PAGE = (
    "The committee went through the figures of quarter {n} line by line and found them in good order. " * 24
    + "\n\nWe decided to move archive {n} to Oslo. Ada Byron will send report {n} by 9 March 2026.\n\n"
)
Said = dict[str, Any]


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    # The server may still be writing its last checkpoint.
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o755)
        results = asyncio.run(measure(home))
    print(json.dumps({"bench": "events", "results": results}))


async def measure(home: Path) -> dict[str, float]:
    results: dict[str, float] = {}
    async with open_mnemon(Settings(home=home)) as mnemon:
        tenant = (await tenant_by_slug(mnemon.database, DEFAULT_SLUG)).tenant_id
        results |= await ingests(mnemon, tenant)
        results |= await long_document(mnemon, tenant)
        await load(mnemon, tenant, Workload(EVENTS))
        results |= await searches(mnemon, tenant)
        await views(mnemon, tenant)
    return {key: round(value, 3) for key, value in results.items()}


async def ingests(mnemon: Mnemon, tenant: UUID) -> dict[str, float]:
    """Until the caller has its answer; most short, every tenth of twenty pages."""
    times: dict[str, list[float]] = {"a page": [], "20 pages": []}
    for number in range(INGESTS):
        pages = 20 if number % 10 == 9 else 1
        content = "".join(PAGE.format(n=number * 100 + page) for page in range(pages))
        new = NewArtifact(artifact_type="doc", source_system="bench", content=content)
        began = time.perf_counter()
        await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)
        times["a page" if pages == 1 else "20 pages"].append(time.perf_counter() - began)
    for name, taken in times.items():
        show(f"ingest of {name}", taken)
    every = [one for taken in times.values() for one in taken]
    show("ingest acknowledged", every)
    return {"ingest_ack_p95_ms": p95(every)}


async def long_document(mnemon: Mnemon, tenant: UUID) -> dict[str, float]:
    content = "".join(PAGE.format(n=page) for page in range(100))
    new = NewArtifact(artifact_type="doc", source_system="bench", content=content)
    taken = await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)
    source = await read_source(mnemon.database, tenant, taken.doc_version_id, mnemon.settings)
    began, used = time.perf_counter(), time.process_time()
    found = await extract_revision(RulesExtractor(), source.revision, source.chunks)
    seconds, processor = time.perf_counter() - began, time.process_time() - used
    print(f"100 pages: {len(found.events)} events in {seconds:.2f} s, {processor:.2f} s of a processor")
    return {"extract_100_pages_s": seconds}


def kinds_of_search(chance: random.Random, workload: Workload, said: Said) -> dict[str, EventFilters]:
    """Every filter that the tools offer, alone and in the company that it usually keeps."""
    words = said["narrative"].rstrip(".").split()
    at = START + (datetime.now(START.tzinfo) - START) * chance.random()
    month = {"time_from": said["happened_at"], "time_to": said["happened_at"] + timedelta(days=30)}
    one, category = chance.choice(words), chance.choice(list(Category)).value
    return {
        "latest": EventFilters(),
        "two words": EventFilters(query=" ".join(chance.sample(words, 2))),
        "a sentence": EventFilters(query=said["narrative"]),
        "common word": EventFilters(query=chance.choice(("plan", "risk", "decided", "database", "Ada"))),
        "two common words": EventFilters(query=chance.choice(("risk fails", "slow plan", "decided risk"))),
        "rare word": EventFilters(query=chance.choice(workload.words)),
        "words that nobody said": EventFilters(query="zeppelin moratorium"),
        "a question": EventFilters(query=f"what did we decide about the {said['subject_ref']}?"),
        "word, category": EventFilters(query=one, category=category),
        "word, month": EventFilters(query=one, **month),
        "word, person": EventFilters(query=one, actor=said["person"]),
        "word, known at": EventFilters(query=one, known_at=at),
        "category": EventFilters(category=category),
        "month": EventFilters(**month),
        "category, month": EventFilters(category=category, **month),
        "person": EventFilters(actor=said["person"]),
        "given name": EventFilters(actor=said["person"].split()[0]),
        "subject": EventFilters(subject=said["subject_ref"]),
        "person, subject": EventFilters(actor=said["person"], subject=said["subject_ref"]),
        "artifact": EventFilters(artifact_uid=said["artifact_uid"]),
        "open commitments": EventFilters(category="Commitment", status="open"),
        "done commitments": EventFilters(category="Commitment", status="done"),
        "superseded": EventFilters(status="superseded"),
        "person, open": EventFilters(actor=said["person"], category="Commitment", status="open"),
        "due before": EventFilters(category="Commitment", status="open", due_before=said["happened_at"].date()),
        "as of": EventFilters(as_of=at),
        "as of, open": EventFilters(as_of=at, category="Commitment", status="open"),
        "as of, done": EventFilters(as_of=at, category="Commitment", status="done"),
        "known at": EventFilters(known_at=at),
        "known at, superseded": EventFilters(known_at=at, status="superseded"),
        "both clocks": EventFilters(as_of=at, known_at=at, category="Decision"),
        "all revisions, word": EventFilters(query=one, all_revisions=True),
    }  # fmt: skip


async def searches(mnemon: Mnemon, tenant: UUID) -> dict[str, float]:
    """All kinds in turn; of those with a second page, that one too."""
    chance, workload = random.Random(11), Workload(EVENTS)
    sample = await sampled(mnemon, tenant)
    times: dict[str, list[float]] = {}

    async def timed(name: str, reader: Reader, filters: EventFilters, cursor: str | None = None) -> str | None:
        began = time.perf_counter()
        page = await event_search(mnemon.database, tenant, reader, filters, cursor=cursor, embedder=mnemon.embedder)
        times.setdefault(name, []).append(time.perf_counter() - began)
        following: str | None = page["next_cursor"]
        return following

    await event_search(mnemon.database, tenant, Reader.of(ADA), EventFilters(query="warm"), embedder=mnemon.embedder)
    for number in range(SEARCHES):
        reader = Reader.of(ADA) if number % 2 else Reader("user:stranger")
        for name, filters in kinds_of_search(chance, workload, chance.choice(sample)).items():
            if following := await timed(name, reader, filters):
                await timed("the next page", reader, filters, following)
    for name, taken in times.items():
        show(name, taken)
    every = [one for taken in times.values() for one in taken]
    show("all searches", every)
    return {"event_search_p95_ms_1m": p95(every)}


async def views(mnemon: Mnemon, tenant: UUID) -> None:
    reader = Reader.of(ADA)
    calls: dict[str, Callable[[], Any]] = {
        "open commitments": lambda: open_commitments(mnemon.database, tenant, reader),
        "one owner's": lambda: open_commitments(mnemon.database, tenant, reader, owner="Ada Byron"),
        "a person's topics": lambda: people_topics(mnemon.database, tenant, reader, person="Ada Byron"),
        "people and topics": lambda: people_topics(mnemon.database, tenant, reader),
    }
    for name, call in calls.items():
        times = []
        for _ in range(3):
            began = time.perf_counter()
            await call()
            times.append(time.perf_counter() - began)
        show(f"view: {name}", times)


async def sampled(mnemon: Mnemon, tenant: UUID) -> list[Said]:
    statement = """SELECT narrative, actors -> 0 ->> 'ref' AS person, happened_at, subject_ref,
              'uid_' || left(replace(doc_id::text, '-', ''), 16) AS artifact_uid
         FROM mnemon.semantic_events e
        WHERE e.tenant_id = %s ORDER BY md5(event_id) LIMIT 500"""
    async with mnemon.database.transaction(tenant) as tx:
        return await (await tx.execute(statement, (tenant,))).fetchall()


def show(name: str, times: list[float]) -> None:
    middle = statistics.median(times) * 1000
    print(
        f"{name:28} n={len(times):4}  p50 {middle:8.2f} ms  p95 {p95(times):8.2f} ms  max {max(times) * 1000:8.2f} ms"
    )


def p95(times: list[float]) -> float:
    return sorted(times)[max(0, round(len(times) * 0.95) - 1)] * 1000


if __name__ == "__main__":
    main()
