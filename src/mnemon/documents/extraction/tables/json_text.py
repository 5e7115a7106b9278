"""JSON: exports of chats as talk; lists of records as tables; anything else value by value."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from mnemon.documents.extraction.chats.exports import conversations_in
from mnemon.documents.extraction.chats.messages import write_conversations
from mnemon.documents.extraction.decoding import decode
from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.tables.rows import MOST_COLUMNS, write_rows
from mnemon.documents.extraction.writing import TextWriter
from mnemon.documents.ingest.content import Details, Extraction

VERSION = "json/1"

DEEPEST = 6
# Told in one word each.
_PLAIN: dict[Any, str] = {None: "", True: "yes", False: "no"}


def extract_json(content: bytes, limits: Limits) -> Extraction:
    text = decode(content)
    limits.check_characters(len(text))
    data = _parsed(text)
    writer = TextWriter(limits)
    talks = conversations_in(data, limits)
    details = write_conversations(writer, talks) if talks else Details()
    if not talks:
        write_value(writer, data)
    return Extraction(writer.text, writer.blocks, details, VERSION)


def _parsed(text: str) -> Any:
    """One value, or one in each line."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2 or not all(line.lstrip()[0] in "{[" for line in lines):
            raise ExtractionFailed(f"The file is damaged JSON: {error}.", reason="damaged") from None
    try:
        return [orjson.loads(line) for line in lines]
    except orjson.JSONDecodeError as error:
        raise ExtractionFailed(f"A line of the file is damaged JSON: {error}.", reason="damaged") from None


def write_value(writer: TextWriter, value: Any, level: int = 1) -> None:
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        write_rows(writer, _table(value))
    elif isinstance(value, dict) and level < DEEPEST:
        plain = {name: one for name, one in value.items() if not _is_table(one)}
        for name, told in _leaves(plain):
            writer.block("record", f"{name}: {told}")
        for name, one in value.items():
            if _is_table(one):
                writer.block("heading", name, level)
                write_value(writer, one, level + 1)
    else:
        for name, told in _leaves(value):
            writer.block("record", f"{name}: {told}" if name else told)


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(one, dict) for one in value)


def _table(records: list[dict[str, Any]]) -> Iterator[list[str]]:
    """The names of all fields, then what each record has of them."""
    rows = [dict(_leaves(record)) for record in records]
    names = list(dict.fromkeys(name for row in rows for name in row))[:MOST_COLUMNS]
    yield names
    for row in rows:
        yield [row.get(name, "") for name in names]


def _leaves(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and depth < DEEPEST:
        for name, one in value.items():
            yield from _leaves(one, f"{path}.{name}" if path else name, depth + 1)
    elif isinstance(value, list) and depth < DEEPEST and not any(isinstance(one, dict | list) for one in value):
        if words := ", ".join(filter(None, map(_told, value))):
            yield path, words
    elif isinstance(value, list) and depth < DEEPEST:
        for number, one in enumerate(value, 1):
            yield from _leaves(one, f"{path}.{number}" if path else str(number), depth + 1)
    elif words := _told(value):
        yield path, words


def _told(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return _PLAIN[value]
    return value if isinstance(value, str) else orjson.dumps(value).decode()
