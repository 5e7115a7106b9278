"""Chroma on given vectors, run by bench_ingest.py with a Python that has it.

`chroma_peer.py VECTORS QUESTIONS NUMBER`: both are .npy files. Prints one JSON object: the milliseconds of each query,
the rows that each found, and the seconds that loading took.
"""

import json
import sys
import tempfile
import time

import chromadb
import numpy as np
from chromadb.config import Settings

BATCH = 2_000


def main(vectors_file: str, questions_file: str, number: int) -> None:
    vectors, questions = np.load(vectors_file), np.load(questions_file)
    with tempfile.TemporaryDirectory() as folder:
        client = chromadb.PersistentClient(folder, Settings(anonymized_telemetry=False))
        space = {"hnsw": {"space": "cosine", "ef_search": 100}}
        collection = client.create_collection("passages", configuration=space, embedding_function=None)
        began = time.perf_counter()
        for at in range(0, len(vectors), BATCH):
            batch = vectors[at : at + BATCH]
            collection.add(ids=[str(at + row) for row in range(len(batch))], embeddings=batch)
        loaded = time.perf_counter() - began
        milliseconds, found = [], []
        for question in questions:
            began = time.perf_counter()
            answer = collection.query(query_embeddings=[question], n_results=number, include=["distances"])
            milliseconds.append((time.perf_counter() - began) * 1000)
            found.append([int(one) for one in answer["ids"][0]])
    print(json.dumps({"milliseconds": milliseconds, "found": found, "loaded": loaded}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
