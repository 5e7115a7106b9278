"""The time that a question takes among many passages: those of `make bench-ingest`, stored and asked alike."""

from bench_ingest import DATA, QUESTIONS, Shelf, timed
from corpus import make_corpus
from passages import add_tenant, own_database
from vector_cache import CachedEmbedder

from mnemon.ask.answer import Asking
from mnemon.ask.search import Searcher
from mnemon.log.events import SYSTEM
from mnemon.log.store import EventLog
from mnemon.models.active import ModelInUse
from mnemon.models.choose import open_embedder
from mnemon.models.language import NoLanguageModel
from mnemon.search.ranking import Ranking
from mnemon.settings import load_settings


async def ask_p95(quick: bool) -> float:
    """Milliseconds, without a language model, the question embedded each time."""
    many = 4_000 if quick else 100_000
    embedder = open_embedder(load_settings())
    cached = CachedEmbedder(embedder)
    corpus = await make_corpus(DATA, cached, many, QUESTIONS)
    async with own_database() as database, EventLog(database) as log:
        model = ModelInUse(embedder.model_id, corpus.vectors.shape[1])
        shelf = Shelf(database, await add_tenant(database), corpus, model)
        asking = Asking(Searcher(database, lambda _: embedder, Ranking()), log, NoLanguageModel())

        async def ask(question: str) -> None:
            await asking.ask(shelf.tenant, SYSTEM, question)

        await shelf.load_in_bulk(0, many)
        await shelf.settle()
        times = await timed(ask, corpus.questions)
    await cached.close()
    return round(times.p95, 1)
