"""A large corpus with real words and realistic vectors, made of the evaluation's meetings."""

import gzip
import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from passages import Passage
from vector_cache import CachedEmbedder

from mnemon.models.embedder import Vectors

SHORTEST, LONGEST = 4, 12
# A tenth of a vector's length over all its numbers.
NOISE = 0.005


@dataclass(frozen=True)
class Corpus:
    """Passages of two stretches of sentences each; a passage's vector is the mean of its sentences', slightly moved.

    So neighbours in meaning are neighbours in space, as in a real corpus and unlike random vectors. Two stretches, from
    anywhere, because 100,000 cut from 35,000 sentences would otherwise be copies of each other.
    """

    passages: list[Passage]
    vectors: Vectors
    questions: list[str]


async def make_corpus(data: Path, embedder: CachedEmbedder, size: int, questions: int) -> Corpus:
    meetings = defaultdict(list)
    with gzip.open(data / "explainmeetsum" / "sentences.jsonl.gz", "rt") as file:
        for line in file:
            sentence = json.loads(line)
            meetings[sentence["meeting"]].append(sentence["text"])
    texts = [text for sentences in meetings.values() for text in sentences]
    embedded = await embedder.embed(texts)
    at, vectors_of = 0, {}
    for meeting, sentences in meetings.items():
        vectors_of[meeting] = embedded[at : at + len(sentences)]
        at += len(sentences)
    random = np.random.default_rng(11)
    names = sorted(name for name, sentences in meetings.items() if len(sentences) > LONGEST)
    passages, vectors = [], np.empty((size, embedded.shape[1]), np.float32)
    for number in range(size):
        texts, parts = [], []
        for _ in range(2):
            meeting = names[random.integers(len(names))]
            length = int(random.integers(SHORTEST, LONGEST + 1))
            first = int(random.integers(len(meetings[meeting]) - length))
            texts += meetings[meeting][first : first + length]
            parts.append(vectors_of[meeting][first : first + length])
        passages.append(Passage(str(number), " ".join(texts)))
        vectors[number] = np.concatenate(parts).mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors += random.normal(scale=NOISE, size=vectors.shape).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    with gzip.open(data / "explainmeetsum" / "claims.jsonl.gz", "rt") as file:
        claims = [json.loads(line)["text"] for line in file]
    return Corpus(passages, vectors, claims[:: max(1, len(claims) // questions)][:questions])
