"""Markdown as safe HTML: the text's own words, escaped, with the cited ones marked where they stand in the source."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup, escape

MARKDOWN = "text/markdown"
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(?=\S)")
QUOTE = re.compile(r" {0,3}> ?")
DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
INLINE = re.compile(
    r"""(?P<escaped>\\[!-/:-@\[-`{-~])
    |(?P<code>(?P<ticks>`{1,4})(?!`)(?P<said>[^\n]{1,400}?)(?<!`)(?P=ticks)(?!`))
    |!?\[(?P<label>[^\[\]\n]{1,400})\]\((?P<target>[^()\s]{1,1000})(?:[ ]"[^"\n]{0,200}")?\)
    |<(?P<auto>https?://[^<>\s]{1,1000})>
    |(?P<bare>(?<![\w/])https?://[^\s<>()\[\]"']{1,1000}(?<![.,;:!?]))
    |\*\*(?=\S)(?P<strong>[^\n]{0,400}?\S)\*\*(?!\*)
    |(?<!\w)__(?=\S)(?P<strong2>[^\n]{0,400}?\S)__(?!\w)
    |\*(?=[^\s*])(?P<em>[^\n*]{0,400}?[^\s*])\*(?!\*)
    |(?<!\w)_(?=[^\s_])(?P<em2>[^\n_]{0,400}?[^\s_])_(?!\w)
    |~~(?=\S)(?P<gone>[^\n]{0,400}?\S)~~""",
    re.VERBOSE,
)
SIGNS = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+(?=\S)|```\w*|\|?[ \t]*:?-{3,}[-:| \t]*$)|\*\*|__|`", re.MULTILINE
)
# A heading above its text, which on one line would run into it.
HEADED = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(.*?\w)[ \t]*$(?=\s*\S)", re.MULTILINE)
LINKED = re.compile(r"!?\[([^\[\]\n]{1,400})\]\([^()\s]{1,1000}\)")
TAGS = {"strong": "strong", "strong2": "strong", "em": "em", "em2": "em", "gone": "del"}
SAFE_TARGET = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
# Beyond this a text is shown as it is written: nobody means so many.
DEEPEST, MOST_CELLS = 12, 100
WRAPPED = 60


@dataclass(frozen=True)
class _Words:
    """Words, and where each of their characters stands in the source."""

    text: str
    places: Sequence[int]

    def part(self, start: int, end: int) -> "_Words":
        return _Words(self.text[start:end], self.places[start:end])


def render_markdown(text: str, first: int = 0, last: int | None = None, start: int = -1, end: int = -1) -> Markup:
    """`text[first:last]` as HTML; what of it lies in `[start, end)` is marked. Offsets are the text's own."""
    stop = len(text) if last is None else last
    lines, place = [], first
    for line in text[first:stop].splitlines(keepends=True):
        lines.append(_Words(line.rstrip("\r\n"), range(place, place + len(line.rstrip("\r\n")))))
        place += len(line)
    return Markup("").join(_Page(start, end).blocks(lines))


def plain_words(text: str) -> str:
    """A passage of Markdown on one line, without the signs that say how it looks."""
    bare = SIGNS.sub("", HEADED.sub(r"\1:", text))
    return " ".join(LINKED.sub(r"\1", bare).replace("|", " ").split())


class _Page:
    """One rendering: it knows what is marked and whether a mark has been set."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end
        self.cited = False

    def blocks(self, lines: Sequence[_Words], depth: int = 0) -> Iterator[Markup]:
        at = 0
        while at < len(lines):
            at, shown = self._block(lines, at, depth)
            yield shown

    def _block(self, lines: Sequence[_Words], at: int, depth: int) -> tuple[int, Markup]:
        line = lines[at].text
        if not line.strip():
            return at + 1, Markup("\n")
        if at == 0 and depth == 0 and line.strip() == "---" and (last := _closing(lines)):
            return last + 1, self._verbatim(lines[1:last])
        if fence := FENCE.match(line):
            return self._fenced(lines, at, fence[1])
        if heading := HEADING.match(line):
            level = min(len(heading[1]) + 1, 6)
            return at + 1, Markup("<h%d>%s</h%d>\n") % (level, self.inline(lines[at].part(*heading.span(2))), level)
        if RULE.match(line):
            return at + 1, Markup("<hr>\n")
        if at + 1 < len(lines) and _begins_table(line, lines[at + 1].text):
            return self._table(lines, at)
        if depth < DEEPEST and QUOTE.match(line):
            return self._quoted(lines, at, depth)
        if depth < DEEPEST and ITEM.match(line):
            return self._list(lines, at, depth)
        return self._paragraph(lines, at)

    def _fenced(self, lines: Sequence[_Words], at: int, fence: str) -> tuple[int, Markup]:
        last = at + 1
        while last < len(lines) and not lines[last].text.strip().startswith(fence):
            last += 1
        told = lines[at].part(lines[at].text.index(fence) + len(fence), len(lines[at].text))
        language = Markup("<small>%s</small>") % self.words(told) if told.text.strip() else Markup("")
        return last + 1, language + self._verbatim(lines[at + 1 : last])

    def _verbatim(self, lines: Sequence[_Words]) -> Markup:
        return Markup("<pre><code>%s</code></pre>\n") % Markup("\n").join(self.words(one) for one in lines)

    def _table(self, lines: Sequence[_Words], at: int) -> tuple[int, Markup]:
        last = at + 2
        while last < len(lines) and 0 < lines[last].text.count("|") <= MOST_CELLS:
            last += 1
        head = self._row(lines[at], "th")
        rows = Markup("").join(self._row(one, "td") for one in lines[at + 2 : last])
        return last, Markup("<table><thead>%s</thead><tbody>%s</tbody></table>\n") % (head, rows)

    def _row(self, line: _Words, tag: str) -> Markup:
        cells = [line.part(*span) for span in _cells(line.text)]
        inner = (Markup("<%s>%s</%s>") % (tag, self.inline(one), tag) for one in cells)
        return Markup("<tr>%s</tr>") % Markup("").join(inner)

    def _quoted(self, lines: Sequence[_Words], at: int, depth: int) -> tuple[int, Markup]:
        inside, last = [], at
        while last < len(lines) and (sign := QUOTE.match(lines[last].text)):
            inside.append(lines[last].part(sign.end(), len(lines[last].text)))
            last += 1
        inner = Markup("").join(self.blocks(inside, depth + 1))
        return last, Markup('<blockquote dir="auto">%s</blockquote>\n') % inner

    def _list(self, lines: Sequence[_Words], at: int, depth: int) -> tuple[int, Markup]:
        """Items that begin as far in as the first; what stands further in is a part of its item."""
        first = ITEM.match(lines[at].text)
        assert first is not None
        indent, numbered = len(first[1].expandtabs(4)), first[2][0].isdigit()
        items: list[list[_Words]] = []
        while at < len(lines):
            line = lines[at]
            sign = ITEM.match(line.text)
            inward = len(line.text.expandtabs(4)) - len(line.text.expandtabs(4).lstrip())
            if sign and inward <= indent + 1 and sign[2][0].isdigit() == numbered and not RULE.match(line.text):
                items.append([line.part(sign.end(), len(line.text))])
            elif line.text.strip() and (inward > indent or not _begins_block(line.text)) and items:
                if not items[-1][-1].text.strip() and inward <= indent:
                    break
                items[-1].append(line.part(min(len(line.text) - len(line.text.lstrip()), indent + 4), len(line.text)))
            elif not line.text.strip() and at + 1 < len(lines) and _goes_on(lines[at + 1].text, indent):
                items[-1].append(line)
            else:
                break
            at += 1
        tag = "ol" if numbered else "ul"
        begin = int(first[2][:-1]) if numbered else 1
        number = Markup(' start="%d"') % begin if begin != 1 else Markup("")
        inner = Markup("").join(Markup("<li>%s</li>\n") % self._item(one, depth) for one in items)
        return at, Markup('<%s%s dir="auto">\n%s</%s>\n') % (tag, number, inner, tag)

    def _item(self, lines: Sequence[_Words], depth: int) -> Markup:
        """Plain words without the tags of a paragraph, so that lists stay close."""
        last = 1
        while last < len(lines) and lines[last].text.strip() and not _begins_block(lines[last].text):
            last += 1
        said = self.inline(_joined(lines[:last]))
        return said + Markup("").join(self.blocks(lines[last:], depth + 1))

    def _paragraph(self, lines: Sequence[_Words], at: int) -> tuple[int, Markup]:
        last = at + 1
        while last < len(lines) and lines[last].text.strip() and not _begins_block(lines[last].text):
            last += 1
        return last, Markup("<p>%s</p>\n") % self.inline(_joined(lines[at:last]))

    def inline(self, words: _Words, depth: int = 0) -> Markup:
        shown, end = Markup(""), 0
        for match in INLINE.finditer(words.text):
            shown += self.words(words.part(end, match.start())) + self._styled(words, match, depth)
            end = match.end()
        return shown + self.words(words.part(end, len(words.text)))

    def _styled(self, words: _Words, match: re.Match[str], depth: int) -> Markup:
        if match["escaped"]:
            return self.words(words.part(match.start() + 1, match.end()))
        if match["code"]:
            return Markup("<code>%s</code>") % self.words(words.part(*match.span("said")))
        for name in ("auto", "bare"):
            if match[name]:
                return self._link(match[name], self.words(words.part(*match.span(name))))
        if match["label"]:
            return self._link(match["target"], self._inner(words.part(*match.span("label")), depth))
        name = next(one for one in TAGS if match[one])
        tag = TAGS[name]
        return Markup("<%s>%s</%s>") % (tag, self._inner(words.part(*match.span(name)), depth), tag)

    def _inner(self, words: _Words, depth: int) -> Markup:
        return self.inline(words, depth + 1) if depth < DEEPEST else self.words(words)

    def _link(self, target: str, shown: Markup) -> Markup:
        """Only what leads to a page or a mailbox: nothing that a browser would run."""
        if not SAFE_TARGET.match(target):
            return shown
        return Markup('<a href="%s" rel="noopener noreferrer nofollow">%s</a>') % (target, shown)

    def words(self, words: _Words) -> Markup:
        """Escaped, with the cited ones marked."""
        shown, at = Markup(""), 0
        places = words.places
        while at < len(words.text):
            inside = self.start <= places[at] < self.end
            last = at + 1
            while last < len(words.text) and (self.start <= places[last] < self.end) == inside:
                last += 1
            said = escape(words.text[at:last])
            shown += self._mark(said) if inside and said.strip() else said
            at = last
        return shown

    def _mark(self, said: Markup) -> Markup:
        name = Markup("") if self.cited else Markup(' id="cited"')
        self.cited = True
        return Markup("<mark%s>%s</mark>") % (name, said)


def _closing(lines: Sequence[_Words]) -> int:
    """Where what a file says about itself, between two lines of dashes, ends; 0 where there is none."""
    return next((at for at, line in enumerate(lines[:60]) if at and line.text.strip() in ("---", "...")), 0)


def _joined(lines: Sequence[_Words]) -> _Words:
    """As one paragraph: a long line was wrapped by an editor and flows on, a short one was ended by its writer."""
    texts: list[str] = []
    places: list[int] = []
    for line in lines:
        said = line.part(len(line.text) - len(line.text.lstrip()), len(line.text))
        if texts and said.places:
            # The break between two lines is marked where the words around it are.
            places.append(said.places[0] - 1)
            texts.append(" " if len(texts[-1]) >= WRAPPED else "\n")
        texts.append(said.text)
        places += said.places
    return _Words("".join(texts), places)


def _begins_table(line: str, below: str) -> bool:
    return 0 < line.count("|") <= MOST_CELLS and "-" in below and DELIMITER.match(below) is not None


def _begins_block(line: str) -> bool:
    return bool(HEADING.match(line) or FENCE.match(line) or RULE.match(line) or QUOTE.match(line) or ITEM.match(line))


def _goes_on(line: str, indent: int) -> bool:
    inward = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
    return bool(line.strip()) and (inward > indent or (inward == indent and bool(ITEM.match(line))))


def _cells(line: str) -> list[tuple[int, int]]:
    """Where the words of each cell stand. A bar after a backslash divides nothing."""
    bars = [found.start() for found in re.finditer(r"(?<!\\)\|", line)]
    edges = [-1, *bars, len(line)]
    spans = [(left + 1, right) for left, right in pairwise(edges)]
    if spans and not line[slice(*spans[0])].strip():
        spans = spans[1:]
    if spans and not line[slice(*spans[-1])].strip():
        spans = spans[:-1]
    return [_trimmed(line, left, right) for left, right in spans]


def _trimmed(line: str, left: int, right: int) -> tuple[int, int]:
    said = line[left:right]
    return left + len(said) - len(said.lstrip()), right - (len(said) - len(said.rstrip()))
