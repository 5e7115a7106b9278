"""Labels the text of a message, line by line: marks first, then what stands around them."""

from collections.abc import Sequence

from mnemon.mail.spans import patterns as like
from mnemon.mail.spans.endings import label_endings
from mnemon.mail.spans.labels import LabelledSpan, SpanLabel
from mnemon.mail.spans.lines import MailLines

# A quotation's line that was broken by a mail program is no longer than this, the line before it no shorter.
BROKEN, FULL = 45, 60
HEADER_LINES = 8
# How deep the marks at the beginning of a line quote; there are few of them that are used. 0 where they are no marks.
_depths: dict[str, int] = {}
LONGEST_MARKS, MOST_MARKS = 12, 1_000


def label_text(text: str, marked: Sequence[LabelledSpan] = ()) -> tuple[LabelledSpan, ...]:
    """Spans that cover the text from end to end. `marked` is what the form of the message says already."""
    if not text:
        return ()
    lines = MailLines(text)
    if marked:
        _take_marked(lines, marked)
    _label_quotes(lines)
    _label_old_mail(lines)
    _label_attributions(lines)
    _label_code(lines)
    label_endings(lines)
    _label_ballots(lines)
    return _merged(lines)


def _take_marked(lines: MailLines, marked: Sequence[LabelledSpan]) -> None:
    starts = [0]
    for words in lines.texts:
        starts.append(starts[-1] + len(words) + 1)
    at = 0
    for span in sorted(marked, key=lambda one: one.start):
        while at < len(lines) and starts[at] + len(lines.texts[at]) <= span.start:
            at += 1
        place = at
        while place < len(lines) and starts[place] < span.end:
            lines.mark(place, span.label, span.depth)
            place += 1


def _label_quotes(lines: MailLines) -> None:
    texts, labels, depths = lines.texts, lines.labels, lines.depths
    for number in lines.quoted:
        words = texts[number]
        marks = words[: len(words) - len(words.lstrip("> \t"))]
        depth = _depths.get(marks)
        if depth is None:
            depth = _depth_of(marks)
        if depth and labels[number] is None:
            labels[number], depths[number] = "quote", depth
    for number in lines.own if lines.quoted else ():
        words = texts[number]
        if len(words) > BROKEN or labels[number] is not None or not 0 < number < len(texts) - 1:
            continue
        is_rest = labels[number - 1] == "quote" == labels[number + 1] and depths[number - 1] == depths[number + 1]
        if is_rest and len(texts[number - 1]) >= FULL and not words[0].isupper():
            labels[number], depths[number] = "quote", depths[number - 1]


def _depth_of(marks: str) -> int:
    found = like.QUOTED.match(marks)
    depth = found["marks"].count(">") if found else 0
    if len(marks) <= LONGEST_MARKS and len(_depths) < MOST_MARKS:
        _depths[marks] = depth
    return depth


def _label_old_mail(lines: MailLines) -> None:
    """From the line that announces an older mail on, all that bears no label of its own belongs to it."""
    for number in lines.that_may_be(like.OLD_MAIL_LINES):
        text = lines.texts[number]
        if like.FORWARDED.match(text) and _announces(lines, number):
            _mark_rest(lines, number, "forwarded")
            return
        if like.ORIGINAL.match(text) or _is_header_block(lines, number):
            first = number
            while number < len(lines) and number - first <= HEADER_LINES and _belongs_to_header(lines, number):
                lines.mark(number, "attribution")
                number += 1
            _mark_rest(lines, number, "quote")
            return


def _announces(lines: MailLines, number: int) -> bool:
    """A sentence may speak of a forwarded message; the line that announces one has headers below it, or dashes."""
    return lines.texts[number].lstrip()[:2] in ("--", "__", "==") or any(
        like.HEADER_FROM.match(one) for one in lines.texts[number + 1 : number + 4]
    )


def _mark_rest(lines: MailLines, number: int, label: SpanLabel) -> None:
    for place in range(number, len(lines)):
        if lines.labels[place] is None:
            lines.mark(place, label, 1 if label == "quote" else 0)


def _is_header_block(lines: MailLines, number: int) -> bool:
    """`From:` and another header below it, after a blank line or a rule."""
    if not like.HEADER_FROM.match(lines.texts[number]) or number + 1 == len(lines):
        return False
    before = lines.texts[number - 1] if number else ""
    return like.HEADER_NEXT.match(lines.texts[number + 1]) is not None and not before.strip(" \t_-=*>")


def _belongs_to_header(lines: MailLines, number: int) -> bool:
    text = lines.texts[number]
    shown = like.HEADER_FROM.match(text) or like.HEADER_NEXT.match(text) or like.ORIGINAL.match(text)
    return shown is not None or (not lines.is_blank(number) and text[:1] in " \t")


def _label_attributions(lines: MailLines) -> None:
    last_quote = -1
    for number, label in enumerate(lines.labels):
        if label != "quote":
            continue
        if last_quote < number - 1 or number == 0:
            before = lines.full_before(number)
            if before is not None and lines.labels[before] is None:
                _mark_attribution(lines, before)
        last_quote = number
    for number in lines.that_may_be(like.OPENING_LINES):
        if number > last_quote and _begins_unmarked(lines, number):
            return


def _mark_attribution(lines: MailLines, last: int) -> None:
    """The line above a quotation, with up to two lines before it that it takes to say who wrote."""
    words = lines.texts[last]
    if not lines.is_short(last) or not (words.rstrip().endswith(like.COLONS) or words.lstrip().startswith("In ")):
        return
    if like.OTHER_ATTRIBUTION.match(words) or like.IN_ARTICLE.match(words):
        lines.mark(last, "attribution")
        return
    for height in (3, 2, 1):
        block = range(max(last - height + 1, 0), last + 1)
        whole = all(lines.labels[one] is None and not lines.is_blank(one) and lines.is_short(one) for one in block)
        if whole and _is_attribution(lines.texts[block.start : block.stop]):
            for one in block:
                lines.mark(one, "attribution")
            return


def _is_attribution(words: list[str]) -> bool:
    if _is_dated("\n".join(words)):
        return True
    # A name that leaves no room for the verb.
    goes_over = len(words) == 2 and len(words[1].split()) == 1
    return (len(words) == 1 or goes_over) and _tells_who_wrote(words[-1])


def _tells_who_wrote(words: str) -> bool:
    return words.rstrip().endswith(like.COLONS) and like.WROTE.search(words) is not None


def _is_dated(words: str) -> bool:
    """With a date too it is sure enough to begin a quotation that bears no marks."""
    opening = like.OPENING.match(words)
    return opening is not None and like.DIGIT.search(words) is not None and _tells_who_wrote(words)


def _begins_unmarked(lines: MailLines, number: int) -> bool:
    """A dated attribution whose quotation bears no marks: all below it is quoted."""
    for height in (1, 2, 3):
        block = range(number, min(number + height, len(lines)))
        if any(lines.is_blank(one) or lines.labels[one] is not None or not lines.is_short(one) for one in block):
            return False
        if _is_dated("\n".join(lines.texts[block.start : block.stop])):
            if lines.full_after(number + height - 1) is None:
                return False
            for one in block:
                lines.mark(one, "attribution")
            _mark_rest(lines, number + height, "quote")
            return True
    return False


def _label_code(lines: MailLines) -> None:
    for number in lines.that_may_be(like.CODE_LINES):
        text = lines.texts[number]
        if like.FENCE.match(text):
            _label_fenced(lines, number)
        elif _begins_diff(lines, number):
            while number < len(lines) and lines.labels[number] is None and _goes_on(lines.texts[number]):
                lines.mark(number, "code")
                number += 1
        elif like.DIFF_STAT.match(text):
            lines.mark(number, "code")


def _label_fenced(lines: MailLines, number: int) -> None:
    """Up to the closing fence; one that is never closed is just a line."""
    end = number + 1
    while end < len(lines) and lines.labels[end] is None and not like.FENCE.match(lines.texts[end]):
        end += 1
    if end < len(lines) and lines.labels[end] is None:
        for one in range(number, end + 1):
            lines.mark(one, "code")


def _begins_diff(lines: MailLines, number: int) -> bool:
    text = lines.texts[number]
    if not like.DIFF_BEGIN.match(text):
        return False
    if text.startswith("--- "):
        return number + 1 < len(lines) and lines.texts[number + 1].startswith("+++ ")
    return any(
        one.startswith(("@@ ", "--- ", "+++ ", "index ", "=====")) for one in lines.texts[number + 1 : number + 8]
    )


def _goes_on(text: str) -> bool:
    return not like.DASHES.match(text) and like.DIFF_LINE.match(text) is not None


def _label_ballots(lines: MailLines) -> None:
    for number in lines.that_may_be(like.BALLOT_LINES):
        if like.BALLOT.match(lines.texts[number]):
            lines.mark(number, "ballot")


def _merged(lines: MailLines) -> tuple[LabelledSpan, ...]:
    """What is left is new. Blank lines belong to what is before them, the first ones to what comes."""
    spans: list[LabelledSpan] = []
    label: SpanLabel | None = None
    depth = start = at = 0
    for words, own, deep in zip(lines.texts, lines.labels, lines.depths, strict=True):
        if own is not None or (words and not words.isspace()):
            own = own or "new"
            if label is not None and (own != label or deep != depth):
                spans.append(LabelledSpan(label, start, at, depth))
                start = at
            label, depth = own, deep
        at += len(words) + 1
    spans.append(LabelledSpan(label or "new", start, at - 1, depth))
    return tuple(spans)
