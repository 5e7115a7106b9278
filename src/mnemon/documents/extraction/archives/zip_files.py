"""ZIP: all files in it that can be read, each below its name; the export of a Slack workspace channel by channel."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import orjson

from mnemon.documents.extraction.chats.messages import Conversation, write_conversations
from mnemon.documents.extraction.chats.slack import is_slack, slack_conversation, slack_users
from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.extract import FileExtractor, extractor_of
from mnemon.documents.extraction.kinds import EXTENSIONS, FileKind
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.package import Package
from mnemon.documents.extraction.sniff import agrees
from mnemon.documents.extraction.writing import TextWriter
from mnemon.documents.ingest.content import Details, Extraction

VERSION = "zip/1"
_SLACK_DAY = re.compile(r"(?:.*/)?([^/]+)/\d{4}-\d{2}-\d{2}\.json$")
DEEPEST_HEADING = 9


def extract_zip(content: bytes, limits: Limits) -> Extraction:
    package = Package(content, limits, "zip archive")
    writer = TextWriter(limits)
    if talks := list(_slack(package)):
        details = write_conversations(writer, talks)
        return Extraction(writer.text, writer.blocks, details, VERSION)
    left_out = [name for name in _names(package) if not _write_member(writer, package, name, limits)]
    if not writer.length:
        raise ExtractionFailed("The zip archive holds no file that can be read.", reason="empty")
    more = {"left_out": ", ".join(left_out)} if left_out else {}
    return Extraction(writer.text, writer.blocks, Details(more=more), VERSION)


def _names(package: Package) -> list[str]:
    """In their order; hidden files, and what a Mac adds to each, are nobody's text."""
    return sorted(
        name for name in package.names if not any(part.startswith((".", "__MACOSX")) for part in name.split("/"))
    )


def _write_member(writer: TextWriter, package: Package, name: str, limits: Limits) -> bool:
    kind = EXTENSIONS.get(posixpath.splitext(name)[1].lower())
    if kind is None or kind == "zip":
        return False
    content = package.content(name)
    found = _read(kind, extractor_of(kind), content, limits) if content else None
    if found is None or not found.text.strip():
        return False
    writer.block("heading", name, 1)
    deeper = (
        replace(block, level=min(block.level + 1, DEEPEST_HEADING)) if block.kind == "heading" else block
        for block in found.blocks
    )
    writer.verbatim(found.text, deeper)
    return True


def _read(kind: FileKind, extractor: FileExtractor, content: bytes, limits: Limits) -> Extraction | None:
    """One damaged file does not spoil the others; what asks for too much ends all."""
    if not agrees(kind, content):
        return None
    try:
        return extractor(content, limits)
    except MemoryError:
        raise
    except ExtractionFailed as failure:
        if failure.reason in ("damaged", "empty", "encrypted", "no_text_layer", "no_recogniser"):
            return None
        raise
    except Exception:
        return None


def _slack(package: Package) -> Iterator[Conversation]:
    """Channels with all their days; nothing where it is no export of Slack."""
    days = [(found[1], name) for name in sorted(package.names) if (found := _SLACK_DAY.match(name))]
    users = slack_users(_json(package, "users.json")) if days else {}
    channels: dict[str, list[Any]] = {}
    for channel, name in days:
        data = _json(package, name)
        if is_slack(data):
            channels.setdefault(channel, []).extend(data)
    for channel, messages in channels.items():
        yield slack_conversation(messages, f"#{channel}", users)


def _json(package: Package, name: str) -> Any:
    try:
        return orjson.loads(package.content(name) or b"[]")
    except orjson.JSONDecodeError:
        return []
