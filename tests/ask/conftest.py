"""A searcher over the shared database, and an embedder whose vectors a test can predict."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

from mnemon.ask.search import Searcher
from mnemon.db.database import Database
from mnemon.models.embedder import Purpose, Vectors
from mnemon.search.ranking import Ranking
from tests.api.conftest import admin, caller_address, client, mnemon, settings, user
from tests.documents.sample_chunks import MODEL

__all__ = ["admin", "caller_address", "client", "mnemon", "settings", "user"]


class TopicEmbedder:
    """A text's vector counts its words of eight topics: texts about the same topic are near, whatever else they say."""

    model_id = MODEL.model_id
    dimension = MODEL.dimension
    source = "test"
    topics: ClassVar = ("money", "animal", "travel", "food", "law", "music", "weather", "health")
    words: ClassVar = {
        "budget": 0, "money": 0, "cash": 0, "ferret": 1, "animal": 1, "pet": 1, "train": 2, "journey": 2, "soup": 3,
        "dinner": 3, "contract": 4, "lawyer": 4, "violin": 5, "rain": 6, "doctor": 7,
    }  # fmt: skip

    async def embed(self, texts: Sequence[str], purpose: Purpose = "bulk") -> Vectors:
        return np.stack([self.vector(text) for text in texts])

    def vector(self, text: str) -> Vectors:
        found = np.full(len(self.topics), 0.01, dtype=np.float32)
        for word in text.lower().replace(".", " ").replace("?", " ").split():
            if word in self.words:
                found[self.words[word]] += 1
        vector: Vectors = found / np.linalg.norm(found)
        return vector

    async def close(self) -> None:
        pass


@pytest.fixture
def embedder() -> TopicEmbedder:
    return TopicEmbedder()


@pytest.fixture
def searcher(database: Database, embedder: TopicEmbedder) -> Searcher:
    return searcher_of(database, embedder)


def searcher_of(database: Database, embedder: TopicEmbedder | None, **ranking: Any) -> Searcher:
    return Searcher(database, lambda model_id: embedder if model_id == MODEL.model_id else None, Ranking(**ranking))
