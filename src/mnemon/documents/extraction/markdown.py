"""Markdown: the text stays as it is; headings, lists, tables, code and quotes are recognised in it."""

import re
from collections.abc import Iterator

from mnemon.documents.extraction.dates import moment
from mnemon.documents.extraction.decoding import decode
from mnemon.documents.extraction.hygiene import one_line
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.ingest.content import Details, Extraction
from mnemon.documents.ingest.titles import OWN_TITLE
from mnemon.documents.structure.dates import midnight
from mnemon.documents.structure.headings import heading_title
from mnemon.documents.structure.lines import BULLET, QUOTED, Line, after, block_of, lines_of
from mnemon.documents.structure.preamble import read_preamble
from mnemon.documents.structure.structure import Block, BlockKind

VERSION = "md/2"

ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)")
SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
TABLE_RULE = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
# "[[Note]]", "[[Note#Part|shown]]" and "![[picture.png]]", as Obsidian writes them.
WIKI_LINK = re.compile(r"!?\[\[([^\[\]|\n]{1,200})(?:\|([^\[\]\n]{1,200}))?\]\]")
FRONT_FIELD = re.compile(r"([A-Za-z_][\w -]*):[ \t]*(.*)$")

PEOPLE = ("participants", "attendees", "people", "persons", "with", "teilnehmer", "beteiligte", "anwesend")

# The kind of a block, the line after it, and its level if it is a heading.
FoundBlock = tuple[BlockKind, int, int]


def extract_markdown(content: bytes, limits: Limits) -> Extraction:
    text = _links_as_words(decode(content))
    limits.check_characters(len(text))
    lines = lines_of(text)
    front = _front_matter(lines)
    blocks = [*block_of("header", lines[:front]), *markdown_blocks(lines[front:])]
    return Extraction(text, blocks, _details(text, lines[1 : max(front - 1, 1)], blocks), VERSION)


def _links_as_words(text: str) -> str:
    """Links between notes as they are read: what they show, else what they name. Code stays as it is."""
    if "[[" not in text:
        return text
    lines, fence = text.split("\n"), ""
    for number, line in enumerate(lines):
        found = FENCE.match(line)
        if found and (not fence or found[1].startswith(fence)):
            fence = "" if fence else found[1]
        elif not fence and "[[" in line and "`" not in line:
            lines[number] = WIKI_LINK.sub(lambda link: (link[2] or link[1].replace("#", " ")).strip(), line)
    return "\n".join(lines)


def markdown_blocks(lines: list[Line]) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        if lines[at].blank:
            at += 1
            continue
        kind, until, level = _next_block(lines, at)
        yield from block_of(kind, lines[at:until], level)
        at = until


def _next_block(lines: list[Line], at: int) -> FoundBlock:
    line = lines[at].text
    if heading := ATX.match(line):
        return "heading", at + 1, len(heading[1])
    if fence := FENCE.match(line):
        return "code", _after_fence(lines, at, fence[1]), 0
    if RULE.match(line):
        return "paragraph", at + 1, 0
    if BULLET.match(line):
        return "list", _after_list(lines, at), 0
    if QUOTED.match(line):
        return "quote", after(lines, at, lambda one: not one.blank), 0
    if "|" in line and at + 1 < len(lines) and _is_table_rule(lines[at + 1].text):
        return "table", after(lines, at, lambda one: "|" in one.text), 0
    if lines[at].indent >= 4:
        return "code", after(lines, at, lambda one: not one.blank and one.indent >= 4), 0
    return _paragraph_or_setext(lines, at)


def _is_table_rule(line: str) -> bool:
    # The pattern takes quadratic time on a long line; no table is that wide.
    return "|" in line and len(line) < 5_000 and bool(TABLE_RULE.match(line))


def _paragraph_or_setext(lines: list[Line], at: int) -> FoundBlock:
    until = at + 1
    while until < len(lines) and not lines[until].blank:
        text = lines[until].text
        if underline := SETEXT.match(text):
            return "heading", until + 1, 1 if underline[1][0] == "=" else 2
        if ATX.match(text) or FENCE.match(text) or RULE.match(text) or BULLET.match(text) or QUOTED.match(text):
            break
        until += 1
    return "paragraph", until, 0


def _after_fence(lines: list[Line], at: int, fence: str) -> int:
    for until in range(at + 1, len(lines)):
        text = lines[until].text.strip()
        if text.startswith(fence) and not text.strip(fence[0]):
            return until + 1
    return len(lines)


def _after_list(lines: list[Line], at: int) -> int:
    """Items and what is indented below them; a blank line ends the list unless an item or an indent follows."""
    at += 1
    while at < len(lines):
        line = lines[at]
        if line.blank:
            following = after(lines, at, lambda one: one.blank)
            if following == len(lines) or not (BULLET.match(lines[following].text) or lines[following].indent >= 2):
                return at
            at = following - 1
        elif ATX.match(line.text) or RULE.match(line.text) or (FENCE.match(line.text) and not line.indent):
            return at
        at += 1
    return at


def _front_matter(lines: list[Line]) -> int:
    """How many lines at the top are front matter between two lines of three hyphens."""
    if not lines or lines[0].text.rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:200], 1):
        if line.text.rstrip() in ("---", "..."):
            return number + 1
    return 0


def _details(text: str, front: list[Line], blocks: list[Block]) -> Details:
    fields, preamble = _fields(front), read_preamble(text)
    title = one_line(fields.pop("title", None) or fields.pop("titel", None))
    named = {OWN_TITLE: title, "front_tags": fields.get("tags") or fields.get("tag")}
    people = next((said for name in PEOPLE if (said := fields.pop(name, ""))), "")
    heading = next((text[block.start : block.end] for block in blocks if block.kind == "heading"), None)
    return Details(
        title=title or one_line(heading and heading_title(heading)),
        authors=_names(fields.pop("authors", "") or fields.pop("author", "") or fields.pop("autor", "")),
        participants=_names(people) or list(preamble.present),
        written_at=moment(fields.get("date") or fields.get("datum")) or midnight(preamble.written_on),
        language=one_line(fields.pop("lang", None) or fields.pop("language", None)),
        more=fields | {name: value for name, value in named.items() if value},
    )


def _fields(front: list[Line]) -> dict[str, str]:
    """`name: value` lines; the items of a list below a name are joined by commas."""
    fields: dict[str, str] = {}
    name = ""
    for line in front:
        if field := FRONT_FIELD.match(line.text):
            name = field[1].strip().lower()
            fields[name] = field[2].strip().strip("\"'")
        elif name and line.text.lstrip().startswith("- "):
            item = line.text.strip()[2:].strip().strip("\"'")
            fields[name] = f"{fields[name]}, {item}" if fields[name] else item
    return fields


def _names(value: str) -> list[str]:
    return [name for part in value.strip("[]").split(",") if (name := part.strip().strip("\"'"))]
