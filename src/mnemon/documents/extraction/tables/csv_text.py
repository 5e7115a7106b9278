"""CSV and TSV, whatever they are parted by: each row is told with its headings."""

import csv
import io
from collections import Counter
from collections.abc import Iterator

from mnemon.documents.extraction.decoding import decode
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.tables.rows import write_rows
from mnemon.documents.extraction.writing import TextWriter
from mnemon.documents.ingest.content import Details, Extraction

VERSION = "csv/1"

DELIMITERS = "\t;,|"
SAMPLE_LINES = 50
# Excel writes it into the first line.
NAMED_DELIMITER = "sep="


def extract_csv(content: bytes, limits: Limits) -> Extraction:
    text = decode(content)
    limits.check_characters(len(text))
    writer = TextWriter(limits)
    write_rows(writer, rows_of(text, limits))
    return Extraction(writer.text, writer.blocks, Details(), VERSION)


def rows_of(text: str, limits: Limits) -> Iterator[list[str]]:
    delimiter = _delimiter(text)
    if text[: len(NAMED_DELIMITER)].lower() == NAMED_DELIMITER:
        text = text.partition("\n")[2]
    # A cell that is never closed takes in all that follows: no more than the text itself.
    csv.field_size_limit(limits.characters + 1)
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _delimiter(text: str) -> str:
    """What most rows have equally often, in the first lines; a comma where nothing does."""
    first = text.partition("\n")[0]
    if first.lower().startswith(NAMED_DELIMITER) and len(first.strip()) == len(NAMED_DELIMITER) + 1:
        return first.strip()[-1]
    lines = [line for line in text.split("\n", SAMPLE_LINES)[:SAMPLE_LINES] if line.strip()]
    best = max(DELIMITERS, key=lambda one: _agreement(lines, one))
    return best if _agreement(lines, best) else ","


def _agreement(lines: list[str], delimiter: str) -> int:
    counts = Counter(found for line in lines if (found := _outside_quotes(line).count(delimiter)))
    return max(counts.values(), default=0)


def _outside_quotes(line: str) -> str:
    return "".join(line.split('"')[::2])
