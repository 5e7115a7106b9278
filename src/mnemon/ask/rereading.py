"""The best passages of a search, read together with the question and put in order anew."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from mnemon.ask.hits import PassageHit
from mnemon.ask.learned.cross_encoder import CrossEncoder, learned
from mnemon.db.database import Connection
from mnemon.documents.ingest.embedded_text import text_to_embed

if TYPE_CHECKING:
    from mnemon.ask.search import Ranked

# The part of the score that says what the reading gave.
JUDGED = "judged"
# So many are read: more take longer and bring little.
REREAD = 20

BEFORE = """
SELECT wanted.place, c.heading_path, c.speaker, c.text
FROM unnest(%s::uuid[], %s::integer[]) WITH ORDINALITY AS wanted (revision, ordinal, place)
JOIN mnemon.chunks AS c
  ON c.tenant_id = mnemon.current_tenant() AND c.doc_version_id = wanted.revision AND c.ordinal = wanted.ordinal - 1
"""
ReadPassages = Sequence[tuple[str, str]]


async def passages_to_read(tx: Connection, hits: Sequence[PassageHit]) -> ReadPassages:
    """Each as it was embedded, with the passage before it."""
    values: tuple[list[UUID], list[int]] = ([hit.doc_version_id for hit in hits], [hit.ordinal for hit in hits])
    rows = await (await tx.execute(BEFORE, values)).fetchall()
    before = {row["place"]: text_to_embed(row["heading_path"], row["text"], row["speaker"]) for row in rows}
    return [
        (text_to_embed(hit.headings, hit.text, hit.speaker), before.get(place, "")) for place, hit in enumerate(hits, 1)
    ]


async def read_together(encoder: CrossEncoder, ranked: "Ranked", passages: ReadPassages) -> "Ranked":
    """The first of the order, as many as there are passages, in the order that their reading and all else give."""
    if len(passages) < 2:
        return ranked
    logits = await encoder.judge(ranked.asked.question, passages)
    if logits is None:
        return ranked
    rows = np.array(ranked.order[: len(passages)])
    place = np.sum([share[rows] for share in ranked.shares.values()], axis=0)
    spread = float(place.std())
    deviation = float(logits.std())
    adds = (
        learned("ranker")["weight"] * spread * (logits - logits.mean()) / deviation if deviation > 1e-9 else 0 * logits
    )
    best = rows[np.argsort(-(place + adds), kind="stable")]
    share, part = np.zeros(len(ranked.score)), np.zeros(len(ranked.score))
    share[rows], part[rows] = adds, logits
    # What stands above another is taken to be as relevant: the scores stay where they were.
    score = ranked.score.copy()
    score[best] = np.sort(ranked.score[rows])[::-1]
    return replace(
        ranked,
        order=[*(int(row) for row in best), *ranked.order[len(passages) :]],
        score=score,
        shares=ranked.shares | {JUDGED: share},
        parts=ranked.parts | {JUDGED: part},
    )
