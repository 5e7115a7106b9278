"""Where a quote stands, told of the quote and not of its passage: page, headings and line."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from mnemon.db.database import Connection
from mnemon.documents.structure.headings import heading_title

# The line is counted in the database, which has the text at hand.
PLACES = """
SELECT wanted.place, t.pages,
       1 + length(left(t.text, wanted.first)) - length(replace(left(t.text, wanted.first), chr(10), '')) AS line,
       ARRAY(SELECT jsonb_build_array(one -> 'level', substr(t.text, (one ->> 'start')::integer + 1,
                                      least((one ->> 'end')::integer - (one ->> 'start')::integer, 200)))
               FROM jsonb_array_elements(t.blocks) AS one
              WHERE one ->> 'kind' = 'heading' AND (one ->> 'start')::integer <= wanted.first
              ORDER BY (one ->> 'start')::integer) AS headings
FROM unnest(%(revisions)s::uuid[], %(starts)s::integer[]) WITH ORDINALITY AS wanted (revision, first, place)
JOIN mnemon.revision_texts AS t
  ON t.tenant_id = mnemon.current_tenant() AND t.doc_version_id = wanted.revision
ORDER BY wanted.place
"""


@dataclass(frozen=True)
class QuotePlace:
    """`line` of the text, from 1; `page` where the source has pages; the headings that the quote stands below."""

    line: int
    headings: tuple[str, ...]
    page: int | None


async def read_places(tx: Connection, spans: Sequence[tuple[UUID, int]]) -> list[QuotePlace | None]:
    """Of each revision and offset; None where the text is gone."""
    values = {"revisions": [revision for revision, _ in spans], "starts": [start for _, start in spans]}
    rows = await (await tx.execute(PLACES, values)).fetchall()
    found: list[QuotePlace | None] = [None] * len(spans)
    for row in rows:
        at = row["place"] - 1
        found[at] = QuotePlace(row["line"], _path(row["headings"]), _page(row["pages"], spans[at][1]))
    return found


def _path(headings: Sequence[Any]) -> tuple[str, ...]:
    """The open headings: each closes those of its level and below."""
    path: list[tuple[int, str]] = []
    for level, words in headings:
        path = [one for one in path if one[0] < max(level or 1, 1)]
        path.append((max(level or 1, 1), heading_title(words)))
    return tuple(words for _, words in path)


def _page(pages: bytes | None, start: int) -> int | None:
    if not pages:
        return None
    for page in orjson.loads(zlib.decompress(pages)):
        if page["start"] <= start < page["end"]:
            number: int = page["number"]
            return number
    return None
