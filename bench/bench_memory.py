"""Memory objects at 100,000: create, update, get, semantic and graph queries, replay, branches; and mem0 beside it.

The objects are loaded in batches through the log. Vectors of the first few thousand are the embedder's own; those of
the others are copies of these with noise, so that the index holds as many, as close together as real ones (embedding
100,000 texts would take the better part of an hour and measure the embedder). Times are those of one caller, one call
at a time.

The peer is mem0's open-source package with inference off, on pgvector in the same server, with the same embedder:
the best-known memory for agents, and the one that can be run without a language model. Both remember the same
sentences one after the other until all can be recalled, then answer the same questions with the ten nearest, in turn.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import numpy as np
import psycopg
import structlog
from memory_workload import questions, sentences
from psycopg import sql
from psycopg.conninfo import make_conninfo

from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer
from mnemon.db.migrate import migrate
from mnemon.ids import new_time_ordered_uuid, new_uuid
from mnemon.log.events import Actor
from mnemon.log.project.projector import Projector
from mnemon.log.store import EventLog
from mnemon.memory.changing.change_events import Author, event_of
from mnemon.memory.determinism import text_hash
from mnemon.memory.gateway import Memory
from mnemon.memory.lens import LENS
from mnemon.memory.objects import Place
from mnemon.memory.vectors import RELATION
from mnemon.models.active import ModelInUse
from mnemon.models.local import LocalEmbedder
from mnemon.models.vector_index import ensure_vector_index
from mnemon.models.vectors import as_vector

QUICK = bool(os.environ.get("QUICK"))
OBJECTS = 3_000 if QUICK else 100_000
REAL = 300 if QUICK else 3_000
CALLS = 100 if QUICK else 500
PEER_TEXTS = 100 if QUICK else 1_000
PEER_QUESTIONS = 50 if QUICK else 300
BATCH = 500
PEERS = Path(__file__).parent.parent / ".make" / "memory-peers"
REQUIRED = ("mem0ai==2.2.1", "psycopg[binary,pool]==3.3.8")
BENCH = Author(Actor("human", "bench"))


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(30))
    install_peers()
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o755)
        embedded = EmbeddedServer(home / "server", linger_seconds=0)
        embedded.ensure_running()
        try:
            results = asyncio.run(measure(embedded, home))
        finally:
            embedded.release()
    print(json.dumps({"bench": "memory", "results": results}))


async def measure(embedded: EmbeddedServer, home: Path) -> dict[str, float]:
    embedder = LocalEmbedder(home)
    results: dict[str, float] = {}
    async with Database(own_database(embedded, "bench_memory"), pool_size=8) as database:
        async with database.owner() as owner:
            await migrate(owner)
        tenant = await make_tenant(database)
        async with EventLog(database) as log:
            memory = open_memory(log, embedder)
            place = memory.place(tenant)
            # While there is nothing yet; otherwise the first read would make the whole lens anew.
            await memory.prepare(tenant)
            ids = await load(memory, tenant, place)
            await fill_vectors(database, tenant, embedder)
            await settle(database)
            results |= await single_calls(memory, tenant, place, ids)
            results |= await branches(memory, tenant, place)
            results |= await replay(memory, tenant)
    results |= await beside_the_peer(embedded, home, embedder)
    await embedder.close()
    return {key: round(value, 3) for key, value in results.items()}


def open_memory(log: EventLog, embedder: LocalEmbedder) -> Memory:
    projector = Projector(log)
    projector.add(LENS)
    return Memory(log, projector, lambda: embedder)


async def load(memory: Memory, tenant: UUID, place: Place) -> list[UUID]:
    """A tree of derivations, two children each, so that there is a graph to walk."""
    ids = [new_time_ordered_uuid() for _ in range(OBJECTS)]
    texts = sentences(OBJECTS)
    started = time.perf_counter()
    for start in range(0, OBJECTS, BATCH):
        events = []
        for number in range(start, min(start + BATCH, OBJECTS)):
            data = {
                "emo_type": "note",
                "content": texts[number],
                "source": {"kind": "user"},
                "tags": [f"t{number % 20}"],
            }
            if number:
                data["parents"] = [{"emo_id": str(ids[(number - 1) // 2]), "rel": "derived"}]
            events.append(event_of(tenant, place, BENCH, ids[number], None, "created", data, None))
        await memory.log.append(tenant, events)
    rate = OBJECTS / (time.perf_counter() - started)
    print(f"{OBJECTS:,} objects loaded in batches of {BATCH}: {rate:,.0f}/s")
    return ids


async def fill_vectors(database: Database, tenant: UUID, embedder: LocalEmbedder) -> None:
    texts = sentences(OBJECTS)
    real = await embedder.embed(texts[:REAL])
    noise = np.random.default_rng(3)
    async with database.owner() as owner:
        async with owner.cursor().copy(
            f"COPY {RELATION} (tenant_id, text_hash, model_id, embedding) FROM STDIN"
        ) as copy:
            for number, text in enumerate(texts):
                vector = real[number % REAL]
                if number >= REAL:
                    vector = vector + noise.normal(scale=0.02, size=vector.shape).astype("f4")
                    vector /= np.linalg.norm(vector)
                await copy.write_row((tenant, text_hash(text), embedder.model_id, as_vector(vector)))
        await owner.execute("DELETE FROM mnemon.memory_pending_texts")
        await owner.execute(
            "INSERT INTO mnemon.embedding_models (tenant_id, relation, model_id, dimension, state) "
            "VALUES (%s, %s, %s, 384, 'active')",
            (tenant, RELATION, embedder.model_id),
        )
        await owner.execute("SET maintenance_work_mem = '1GB'")
        await ensure_vector_index(owner, RELATION, ModelInUse(embedder.model_id, 384))


async def settle(database: Database) -> None:
    async with database.owner() as owner:
        await owner.execute("VACUUM ANALYZE")


async def single_calls(memory: Memory, tenant: UUID, place: Place, ids: list[UUID]) -> dict[str, float]:
    pick = iter(np.random.default_rng(5).integers(0, len(ids), size=CALLS * 10))

    def any_object() -> UUID:
        return ids[int(next(pick))]

    asked = iter(questions(CALLS * 3))
    fresh = iter(sentences(CALLS * 3, seed=13))
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "create": lambda: memory.changes.create(tenant, place, BENCH, content="New: " + next(fresh)),
        "update": lambda: memory.changes.update(tenant, place, BENCH, any_object(), content="Changed: " + next(fresh)),
        "get": lambda: memory.reading.get(tenant, place, any_object()),
        "semantic": lambda: memory.semantic.similar_objects(tenant, place, next(asked)),
        "search": lambda: memory.search.search(tenant, place, next(asked)),
        "graph": lambda: memory.graph.neighbourhood(tenant, place, any_object(), depth=2),
    }
    found = {name: await timed(call) for name, call in calls.items()}
    print(f"\n{'one call at a time':<22}{'p50 ms':>9}{'p95 ms':>9}")
    for name, times in found.items():
        print(f"{name:<22}{statistics.median(times):>9.2f}{p95(times):>9.2f}")
    return {
        "create_p95_ms": p95(found["create"]),
        "update_p95_ms": p95(found["update"]),
        "get_p95_ms": p95(found["get"]),
        "semantic_p95_ms_100k": p95(found["semantic"]),
        "search_p95_ms_100k": p95(found["search"]),
        "graph_p95_ms_100k": p95(found["graph"]),
    }


async def timed(call: Callable[[], Awaitable[object]]) -> list[float]:
    for _ in range(5):
        await call()
    times = []
    for _ in range(CALLS):
        started = time.perf_counter()
        await call()
        times.append((time.perf_counter() - started) * 1000)
    return times


def p95(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]


async def branches(memory: Memory, tenant: UUID, place: Place) -> dict[str, float]:
    """A branch of a full world beside one of an empty world."""
    took = {}
    for name, world in (("empty", new_uuid()), ("full", place.world_id)):
        times = []
        for number in range(20):
            started = time.perf_counter()
            await memory.branches.create(tenant, Place(world, f"b{number}"), BENCH)
            times.append((time.perf_counter() - started) * 1000)
        took[name] = statistics.median(times)
    print(f"\na branch of an empty world {took['empty']:.1f} ms, of one with {OBJECTS:,} objects {took['full']:.1f} ms")
    return {"branch_ms": took["full"], "branch_full_to_empty": took["full"] / took["empty"]}


async def replay(memory: Memory, tenant: UUID) -> dict[str, float]:
    started = time.perf_counter()
    report = await memory.replay.verify(tenant)
    assert report.same, report.differences
    rate = report.objects / report.seconds
    took = time.perf_counter() - started
    print(f"replay {rate:,.0f} objects/s; with the comparison of {report.rows:,} rows {took:.1f} s")
    return {"replay_objects_per_s": rate}


async def beside_the_peer(embedded: EmbeddedServer, home: Path, embedder: LocalEmbedder) -> dict[str, float]:
    with opened_peer(own_database(embedded, "bench_mem0").owner_conninfo, home) as peer:
        peer_remembered = float(said_by(peer))
        async with Database(own_database(embedded, "bench_memory_peer"), pool_size=8) as database:
            async with database.owner() as owner:
                await migrate(owner)
            tenant = await make_tenant(database)
            async with EventLog(database) as log:
                memory = open_memory(log, embedder)
                place = memory.place(tenant)
                remembered = await remember(memory, tenant, place)
                ours, theirs = await recall_in_turn(memory, tenant, place, peer)
    print(f"\n{'':<10}{'remember/s':>12}{'recall p50 ms':>15}{'p95':>8}")
    for name, took, recalls in (("mnemon", remembered, ours), ("mem0", peer_remembered, theirs)):
        print(f"{name:<10}{PEER_TEXTS / took:>12,.0f}{statistics.median(recalls):>15.1f}{p95(recalls):>8.1f}")
    return {
        "vs_peer_remember": peer_remembered / remembered,
        "vs_peer_recall": sum(theirs) / sum(ours),
        "vs_peer_recall_p50": statistics.median(theirs) / statistics.median(ours),
    }


async def remember(memory: Memory, tenant: UUID, place: Place) -> float:
    """Seconds until all texts can be recalled."""
    started = time.perf_counter()
    async with memory.follower():
        for text in sentences(PEER_TEXTS):
            await memory.changes.create(tenant, place, BENCH, content=text)
        while (await memory.vectors.status(tenant)).behind:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return time.perf_counter() - started


async def recall_in_turn(
    memory: Memory, tenant: UUID, place: Place, peer: "subprocess.Popen[str]"
) -> tuple[list[float], list[float]]:
    """Milliseconds of each question, ours and the peer's: one after the other, and each first every other time, so that
    both meet the same machine. What the first question loads is not counted."""
    ours: list[float] = []
    theirs: list[float] = []
    first, *asked = questions(PEER_QUESTIONS + 1)
    await memory.semantic.similar_objects(tenant, place, first, 10)
    asked_of(peer, first)
    for number, question in enumerate(asked):
        if number % 2:
            theirs.append(asked_of(peer, question))
        begun = time.perf_counter()
        near = await memory.semantic.similar_objects(tenant, place, question, 10)
        ours.append((time.perf_counter() - begun) * 1000)
        assert len(near) == 10
        if not number % 2:
            theirs.append(asked_of(peer, question))
    return ours, theirs


@contextmanager
def opened_peer(conninfo: str, home: Path) -> "Iterator[subprocess.Popen[str]]":
    """With its own packages first, and ours, for the embedder, behind them."""
    source = Path(__file__).parent.parent / "src"
    with (
        (home / "peer.log").open("w") as log,
        subprocess.Popen(
            [PEERS / "bin" / "python", Path(__file__).parent / "memory_peer.py", conninfo, home, str(PEER_TEXTS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
            env=os.environ | {"PYTHONPATH": str(source)},
        ) as peer,
    ):  # fmt: skip
        try:
            yield peer
        except EOFError as failure:
            raise SystemExit(f"mem0 failed: {(home / 'peer.log').read_text()[-2000:]}") from failure
        finally:
            peer.stdin.close()


def asked_of(peer: "subprocess.Popen[str]", question: str) -> float:
    peer.stdin.write(json.dumps(question) + "\n")
    peer.stdin.flush()
    return float(said_by(peer)) * 1000


def said_by(peer: "subprocess.Popen[str]") -> str:
    line = peer.stdout.readline()
    if not line:
        raise EOFError
    return line


def install_peers() -> None:
    """Into a virtual environment of their own; its path file lets it find the packages that our embedder needs."""
    if not (PEERS / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", PEERS], check=True)
    have = subprocess.run([PEERS / "bin" / "pip", "freeze"], check=True, capture_output=True, text=True).stdout
    if any(one.partition("[")[0].partition("==")[0] not in have for one in REQUIRED):
        subprocess.run([PEERS / "bin" / "pip", "install", "--quiet", *REQUIRED], check=True)
    ours = next(path for path in sys.path if path.endswith("site-packages"))
    [site] = (PEERS / "lib").glob("python*/site-packages")
    (site / "mnemon_site.pth").write_text(ours + "\n")


def own_database(embedded: EmbeddedServer, name: str) -> ExternalServer:
    with psycopg.connect(embedded.cluster.conninfo("postgres"), autocommit=True) as superuser:
        superuser.execute(sql.SQL("CREATE DATABASE {} OWNER mnemon_owner").format(sql.Identifier(name)))
    with psycopg.connect(
        make_conninfo(embedded.cluster.conninfo("postgres"), dbname=name), autocommit=True
    ) as superuser:
        superuser.execute("CREATE EXTENSION vector")
    return ExternalServer(
        make_conninfo(embedded.owner_conninfo, dbname=name), make_conninfo(embedded.app_conninfo, dbname=name)
    )


async def make_tenant(database: Database) -> UUID:
    tenant = new_uuid()
    async with database.owner() as owner:
        await owner.execute(
            "INSERT INTO mnemon.tenants (tenant_id, slug, name) VALUES (%s, %s, 'Bench')", (tenant, f"t-{tenant.hex}")
        )
    return tenant


if __name__ == "__main__":
    main()
