"""The statements of a text that can be quoted: sentences, rows, items, turns, each with what it leans on."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from mnemon.ask.quoting.outlines import aligned_rows, bold_title, cells_of, comment_heads
from mnemon.documents.structure.entries import WEEKDAY, only_day
from mnemon.documents.structure.headings import heading_title
from mnemon.documents.structure.lines import (
    FENCE,
    RULE,
    UNDERLINE,
    Line,
    is_wrapped,
    item_mark,
    lines_of,
    listed_lines,
    widths_of,
)
from mnemon.documents.structure.mail import attribution_at, is_attribution, is_sign_off, is_signature, quoted_depth
from mnemon.documents.structure.name_heads import name_heads
from mnemon.documents.structure.notices import notices_in
from mnemon.documents.structure.sentences import sentences, trimmed
from mnemon.documents.structure.tables import is_ruler
from mnemon.documents.structure.talk import talk_blocks, turn_on

# Quoted whole up to here: their sentences lean on each other.
WHOLE_ITEM = 240
WHOLE_TURN = 160
# Characters after a question that a reply may still be to.
MORE_THAN_ASKED = 60

_HEADING = re.compile(r" {0,3}#{1,6}\s+\S")
_MAIL_FIELD = re.compile(
    r"(?:From|To|Cc|Bcc|Date|Sent|Subject|Reply-To|Message-ID|In-Reply-To|Von|An|Betreff|Datum|Gesendet|Content-\w+):\s",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"(?:Subject|Betreff):\s*(?:(?:Re|Aw|Fwd|Wg):\s*)*(?P<words>.*)", re.IGNORECASE)
_FRONT = re.compile(r"---\s*$")
_MARKS = re.compile(r"[\s>*_#`~|]*")
_WHOLE_NAME = re.compile(r"[^\W\d_a-z][\w.'’-]+(?: [^\W\d_a-z][\w.'’-]*)+")
# Who signs, below a sign-off: few words, and no sentence.
_SIGNED = re.compile(r"\W*(?:[^\W\d][^\s|]*\s*){1,6}(?<![.!?:…])\s*")
_TALLEST_SIGNATURE = 5
_LABELLED = re.compile(r"[^\W\d_a-z][^\W\d_]{2,20}(?: [^\W\d_]{2,20})?:\s+\S")
_ASKS = re.compile(r"\?[*_\"'”)]*(?=\s|$)")
# Of a title without marks of its own: it stands below those that have some.
_BELOW_MARKED = 9
# What is much shorter than the lines below it, and does not end as a sentence does, is the title over them.
_NARROWEST, _TITLE_SHARE = 40, 0.6
_OPENS = re.compile(r"\s*[\"“„(]?[^\W\d_a-zäöüß]")
_LABEL = re.compile(r"[^\W\d][^:.!?\n|]{1,50}:\s*$")


@dataclass(frozen=True, slots=True)
class Statement:
    """`[start, end)` of the revision's text, and what it leans on: its headings, the lead or question before it, its
    table's head, the statement before and after."""

    start: int
    end: int
    text: str
    kind: str = "sentence"
    speaker: str | None = None
    headings: tuple[str, ...] = ()
    lead: str = ""
    columns: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    # What stands before the one before.
    earlier: str = ""
    # The last question that somebody else asked at most two turns before, and how many turns that is.
    asked: str = ""
    asked_ago: int = 0
    quoted: bool = False
    # Number of the paragraph, list or turn that it belongs to, and its place in it.
    group: int = 0
    place: int = 0
    # Whether the box before it is ticked; None without a box.
    done: bool | None = None


@dataclass
class _State:
    headings: list[str]
    level: list[int]
    speaker: str | None = None
    columns: tuple[str, ...] = ()
    lead: str = ""
    subject: str = ""
    in_code: bool = False
    group: int = 0
    open: list[Line] = field(default_factory=list)
    # What is open is an item, whose box is ticked or not; whether the one before was an item too.
    item: bool = False
    done: bool | None = None
    in_list: bool = False
    # How deep the line is quoted, whose words are quoted at each depth, and lines of an attribution that are to come.
    depth: int = 0
    writers: dict[int, str | None] = field(default_factory=dict)
    attribution: int = 0
    # Lines below a sign-off that may still name who signs.
    signed: int = 0

    @property
    def said_by(self) -> str | None:
        """What is quoted was said by whoever is quoted, and where nobody tells who that is, by nobody known."""
        return self.writers.get(self.depth) if self.depth else self.speaker


def statements_in(
    text: str, offset: int, headings: Sequence[str] = (), speaker: str | None = None, *, from_start: bool = False
) -> list[Statement]:
    """Of `text`, which stands at `offset` in its revision, below these headings."""
    lines = lines_of(text)
    talk = {block.start for block in talk_blocks(lines) if block.kind == "message"} or _named_turns(lines)
    reader = _Reader(text, offset, lines, talk | comment_heads(lines), headings, speaker)
    return _connected(list(reader.read(from_start)))


class _Reader:
    """Goes down the lines and remembers what holds for the next one."""

    def __init__(
        self, text: str, offset: int, lines: list[Line], talk: set[int], headings: Sequence[str], speaker: str | None
    ) -> None:
        self.text, self.offset, self.lines, self.talk = text, offset, lines, talk
        self.known = {_plain(one) for one in headings}
        self.state = _State(list(headings), [0] * len(headings), speaker)
        self.own_speaker = speaker
        self.notices = notices_in(lines)
        self.named = name_heads(lines, ())
        self.widths = widths_of(lines)
        self.listed = listed_lines(lines, self.widths)
        self.aligned = aligned_rows(lines)

    def read(self, from_start: bool) -> Iterator[Statement]:
        skip = self._front_matter() if from_start else 0
        for number, line in enumerate(self.lines[skip:], skip):
            yield from self._line(number, line)
        yield from self._close()

    def _front_matter(self) -> int:
        if not self.lines or not _FRONT.match(self.lines[0].text):
            return 0
        for number, line in enumerate(self.lines[1:40], 1):
            if _FRONT.match(line.text):
                return number + 1
        return 0

    def _line(self, number: int, line: Line) -> Iterator[Statement]:
        state, words = self.state, line.text
        if line.blank:
            yield from self._close()
            state.columns = ()
            return
        yield from self._quote(number, words)
        if state.attribution:
            state.attribution -= 1
            return
        bare = quoted_depth(words)[1].strip() if state.depth else words.strip()
        if not bare:
            yield from self._close()
            return
        if FENCE.match(words):
            yield from self._close()
            state.in_code = not state.in_code
            return
        if state.in_code:
            yield from self._whole(line, "code")
            return
        if is_ruler(words) or UNDERLINE.match(words) or RULE.match(words) or _FRONT.match(words):
            if UNDERLINE.match(words) and len(state.open) == 1:
                self._enter(state.open.pop().text, 1)
            yield from self._close()
            return
        if _HEADING.match(words) or _plain(words) in self.known:
            yield from self._close()
            self._enter(
                heading_title(words), len(words) - len(words.lstrip("# ")) if "#" in words[:7] else _BELOW_MARKED
            )
            return
        if (title := bold_title(bare)) and line.start not in self.talk and line.start not in self.named:
            yield from self._close()
            self._enter(title, _BELOW_MARKED)
            return
        signs = is_sign_off(bare) or is_signature(words) or (bare == state.said_by and not state.open)
        plain = bare.replace("**", "")
        if _MAIL_FIELD.match(plain) or is_attribution(bare) or signs:
            yield from self._close()
            if subject := _SUBJECT.match(plain):
                state.subject = subject["words"]
            state.signed = _TALLEST_SIGNATURE if signs else 0
            return
        if notice := self.notices.get(line.start):
            yield from self._close()
            state.speaker, state.lead = notice.sender, ""
            return
        yield from self._words(number, line)

    def _words(self, number: int, line: Line) -> Iterator[Statement]:
        """A line that says something: of whom, as a row, an item, or on with what is open."""
        state, words = self.state, line.text
        turn = turn_on(words)
        if turn and (line.start in self.talk or turn.sure or turn.speaker == self.own_speaker):
            yield from self._close()
            state.speaker, state.lead = turn.speaker, ""
            if words[turn.begin :].strip():
                state.open = [Line(line.start + turn.begin, line.end, words[turn.begin :])]
            return
        if name := self.named.get(line.start):
            yield from self._close()
            state.speaker, state.lead = name, ""
            return
        if self._is_row(line):
            yield from self._close()
            yield from self._row(number, line)
            return
        mark = item_mark(words)
        if mark:
            yield from self._close()
            state.open, state.item = [Line(line.start + mark.end(), line.end, words[mark.end() :])], True
            box = mark.groupdict().get("box")
            state.done = None if box is None else box != " "
            return
        if state.signed and _SIGNED.fullmatch(words):
            state.signed -= 1
            return
        state.signed = 0
        if _LABEL.fullmatch(words) and not state.open:
            state.lead = words.strip()
            return
        if self._is_over(number):
            state.lead, state.open = state.open[0].text.strip(), []
        if state.open and not self._goes_on(number, line):
            yield from self._close()
        state.open.append(line)

    def _is_over(self, number: int) -> bool:
        """A day, or a title without marks, on a line of its own right above words is none of them: "TOP 2 Essen"."""
        state = self.state
        if len(state.open) != 1 or state.item or state.depth or state.said_by or self.talk or number in self.listed:
            return False
        above, width = state.open[0].text.strip(), self.widths[number]
        day = only_day(above)
        if day and not any(map(str.isalnum, WEEKDAY.sub("", above[: day.start] + above[day.end :]))):
            return True
        short = width >= _NARROWEST and len(above) <= _TITLE_SHARE * width and above[-1:].isalnum()
        begins = _OPENS.match(self.lines[number].text) is not None
        return short and begins and not is_wrapped(self.lines, number, width)

    def _goes_on(self, number: int, line: Line) -> bool:
        """Below an item only what is indented or wrapped does; "Decision: …" below anybody's words begins anew, and so
        does each line of a note that begins large."""
        if self.state.item and not line.text[:1].isspace():
            return is_wrapped(self.lines, number, self.widths[number])
        anew = number in self.listed and not line.text.lstrip()[:1].islower()
        return not (anew or _LABELLED.match(line.text)) or is_wrapped(
            self.lines, number, self.widths[number], number in self.listed
        )

    def _quote(self, number: int, words: str) -> Iterator[Statement]:
        """Where a quotation begins, ends or is told to come: whose words follow."""
        state = self.state
        depth, _ = quoted_depth(words)
        if depth != state.depth:
            yield from self._close()
            state.depth = depth
        near = [quoted_depth(one.text) for one in self.lines[number : number + 3]]
        told = attribution_at([said for own, said in near if own == depth]) if not state.attribution else None
        if told and (depth or self._quotes_more(number + told[0], depth)):
            yield from self._close()
            deeper = self._quotes_more(number + told[0], depth)
            state.attribution, state.writers[depth + 1 if deeper else depth] = told

    def _quotes_more(self, number: int, depth: int) -> bool:
        below = next((one for one in self.lines[number:] if not one.blank), None)
        return below is not None and quoted_depth(below.text)[0] > depth

    def _is_row(self, line: Line) -> bool:
        bare = line.text.strip()
        barred = (bare.startswith("|") and bare.count("|") > 1) or bare.count("\t") >= 1 or bare.count(" | ") >= 1
        return barred or line.start in self.aligned

    def _row(self, number: int, line: Line) -> Iterator[Statement]:
        cells = cells_of(line.text)
        if not self.state.columns and self._heads_table(number, cells):
            self.state.columns = tuple(cells)
            self.state.group += 1
            return
        yield from self._whole(line, "row", self.state.columns)

    def _heads_table(self, number: int, cells: Sequence[str]) -> bool:
        """A ruler below, or a first row without numbers."""
        below = self.lines[number + 1].text if number + 1 < len(self.lines) else ""
        before = self.lines[number - 1] if number else None
        if is_ruler(below):
            return True
        return (before is None or before.blank) and not any(any(letter.isdigit() for letter in one) for one in cells)

    def _enter(self, words: str, level: int) -> None:
        state = self.state
        while state.level and state.level[-1] >= level and state.level[-1] > 0:
            state.level.pop()
            state.headings.pop()
        if words.strip() and _plain(words) not in {_plain(one) for one in state.headings}:
            state.headings.append(words.strip())
            state.level.append(level)
        state.lead, state.columns = "", ()
        if not self.talk:
            state.speaker = self.own_speaker

    def _whole(self, line: Line, kind: str, columns: tuple[str, ...] = ()) -> Iterator[Statement]:
        start = line.start + len(_MARKS.match(line.text)[0])  # type: ignore[index]
        end = line.start + len(line.text.rstrip().rstrip("|").rstrip())
        if start < end:
            yield self._statement(start, end, kind, columns=columns)

    def _close(self) -> Iterator[Statement]:
        state, opened, item, done = self.state, self.state.open, self.state.item, self.state.done
        state.open, state.item, state.done = [], False, None
        span = trimmed(self.text, opened[0].start, opened[-1].end) if opened else None
        if span is None:
            return
        if not (item and state.in_list):
            state.group += 1
        state.in_list = item
        words = self.text[span[0] : span[1]]
        quoted = state.depth > 0
        short = WHOLE_ITEM if item else WHOLE_TURN
        whole = len(words) <= short and (item or state.said_by is not None)
        parts = [span] if whole else sentences(self.text, *span)
        for place, (start, end) in enumerate(parts):
            marks = _MARKS.match(self.text, start, end)
            begin = start + (len(marks[0]) if marks and not self.text[start:end].startswith("**") else 0)
            if begin < end:
                kind = "item" if item else "sentence"
                yield self._statement(begin, end, kind, place=place, quoted=quoted, done=done)
        if words.endswith(":") and not item:
            state.lead = words
        elif not item:
            state.lead = ""

    def _statement(self, start: int, end: int, kind: str, **more: object) -> Statement:
        state = self.state
        headings = (*state.headings, *([state.subject] if state.subject else []))
        return Statement(
            self.offset + start, self.offset + end, self.text[start:end], kind, state.said_by, headings, state.lead,
            group=state.group, **more,  # type: ignore[arg-type]
        )  # fmt: skip


def _named_turns(lines: Sequence[Line]) -> set[int]:
    """Two lines or more that begin with a whole name and a colon are talk too, however few they are."""
    turns = [(line, turn) for line in lines if (turn := turn_on(line.text)) and _WHOLE_NAME.fullmatch(turn.speaker)]
    full = sum(not line.blank for line in lines)
    return {line.start for line, _ in turns} if len(turns) > 1 and len(turns) * 2 >= full - 1 else set()


def _connected(found: list[Statement]) -> list[Statement]:
    """Each with the statements around it, and the question that it may reply to."""
    connected = []
    asked, asker, ago, turn_of = "", None, 9, None
    for number, one in enumerate(found):
        turn = (one.speaker, one.group)
        if turn != turn_of:
            ago, turn_of = ago + 1, turn
        near = asked and ago <= (2 if one.speaker else 1) and (one.speaker is None or one.speaker != asker)
        connected.append(
            replace(
                one,
                before=found[number - 1].text if number else "",
                after=found[number + 1].text if number + 1 < len(found) else "",
                earlier=found[number - 2].text if number > 1 else "",
                asked=asked if near else "",
                asked_ago=ago if near else 0,
            )
        )
        if question := _asked_in(one.text):
            asked, asker, ago = question, one.speaker, 0
    return connected


def _asked_in(text: str) -> str:
    """Up to its question, also where a few words follow that: "Who brings cake? It is Ada's birthday"."""
    found = [one.end() for one in _ASKS.finditer(text)]
    return text[: found[-1]].rstrip() if found and len(text) - found[-1] <= MORE_THAN_ASKED else ""


def _plain(words: str) -> str:
    return " ".join(words.strip(" #*_:=\t").lower().split())
