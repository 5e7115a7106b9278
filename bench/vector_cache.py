"""Vectors of texts that a benchmark has embedded before, kept under `.make/`."""

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mnemon.models.embedder import Embedder, Purpose, Vectors

FOLDER = Path(__file__).parent.parent / ".make"
BATCH = 256


class CachedEmbedder:
    """The product's embedder; a text that it has seen in any earlier run costs a lookup."""

    source = "cache"

    def __init__(self, embedder: Embedder, folder: Path = FOLDER) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._embedder = embedder
        self._store = sqlite3.connect(folder / "bench-vectors.sqlite", isolation_level=None, timeout=60)
        self._store.execute("PRAGMA journal_mode = wal")
        self._store.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)")

    @property
    def model_id(self) -> str:
        return self._embedder.model_id

    @property
    def dimension(self) -> int | None:
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str], purpose: Purpose = "bulk") -> Vectors:
        """Shortest first, so that the texts of one batch are about equally long."""
        known: dict[str, Vectors] = {}
        missing = []
        for text in dict.fromkeys(texts):
            row = self._store.execute("SELECT vector FROM vectors WHERE key = ?", (self._key(text),)).fetchone()
            if row:
                known[text] = np.frombuffer(row[0], dtype=np.float32)
            else:
                missing.append(text)
        missing.sort(key=len)
        for at in range(0, len(missing), BATCH):
            batch = missing[at : at + BATCH]
            known |= zip(batch, await self._embedder.embed(batch, purpose), strict=True)
            self._keep({text: known[text] for text in batch})
        return np.stack([known[text] for text in texts])

    async def close(self) -> None:
        self._store.close()
        await self._embedder.close()

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.model_id}\0{text}".encode()).digest()

    def _keep(self, vectors: dict[str, Vectors]) -> None:
        self._store.execute("BEGIN")
        self._store.executemany(
            "INSERT OR IGNORE INTO vectors VALUES (?, ?)",
            [(self._key(text), vector.astype(np.float32).tobytes()) for text, vector in vectors.items()],
        )
        self._store.execute("COMMIT")
