"""mem0 remembering and recalling the same sentences, run by bench_memory.py with a Python that has it.

`memory_peer.py CONNINFO HOME TEXTS` prints the seconds of remembering, then for each question that it reads, a line of
JSON, the seconds of recalling. Inference is off, so no language model is called; the vectors come from our embedder,
and lie in pgvector on the same server, in mem0's own table.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

os.environ["MEM0_TELEMETRY"] = "False"
os.environ.setdefault("OPENAI_API_KEY", "unused")

from mem0 import Memory
from memory_workload import sentences

from mnemon.models.local import LocalEmbedder


class SameEmbedder:
    """Our embedder in the form that mem0 calls."""

    def __init__(self, home: Path) -> None:
        self._embedder = LocalEmbedder(home)
        self._loop = asyncio.new_event_loop()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        purpose = "query" if memory_action == "search" else "bulk"
        return self._loop.run_until_complete(self._embedder.embed([text], purpose))[0].tolist()

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]

    def close(self) -> None:
        self._loop.run_until_complete(self._embedder.close())
        self._loop.close()


def main(conninfo: str, home: Path, texts: int) -> None:
    config = {
        "vector_store": {
            "provider": "pgvector",
            "config": {"connection_string": conninfo, "embedding_model_dims": 384, "collection_name": "mem0_bench"},
        },
        "history_db_path": str(home / "mem0_history.db"),
    }
    memory = Memory.from_config(config)
    embedder = SameEmbedder(home)
    memory.embedding_model = embedder
    embedder.embed("warm up")
    started = time.perf_counter()
    for text in sentences(texts):
        memory.add(text, user_id="bench", infer=False)
    remembered = time.perf_counter() - started
    print(remembered, flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        begun = time.perf_counter()
        found = memory.search(question, filters={"user_id": "bench"}, top_k=10)
        took = time.perf_counter() - begun
        assert found["results"], "nothing was found"
        print(took, flush=True)
    embedder.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
