"""Labels the text of a message, line by line: marks first, then what stands around them."""

from collections.abc import Sequence

from mnemon.mail.spans import patterns as like
from mnemon.mail.spans.endings import label_endings
from mnemon.mail.spans.labels import LabelledSpan, SpanLabel
from mnemon.mail.spans.lines import MailLine, MailLines

# A quotation's line that was broken by a mail program is no longer than this, the line before it no shorter.
BROKEN, FULL = 45, 60
HEADER_LINES = 8


def label_text(text: str, marked: Sequence[LabelledSpan] = ()) -> tuple[LabelledSpan, ...]:
    """Spans that cover the text from end to end. `marked` is what the form of the message says already."""
    if not text:
        return ()
    lines = MailLines(text)
    _take_marked(lines, marked)
    _label_quotes(lines)
    _label_old_mail(lines)
    _label_attributions(lines)
    _label_code(lines)
    label_endings(lines)
    _label_ballots(lines)
    _label_blank(lines)
    return _merged(lines, len(text))


def _take_marked(lines: MailLines, marked: Sequence[LabelledSpan]) -> None:
    at = 0
    for span in sorted(marked, key=lambda one: one.start):
        while at < len(lines) and lines[at].start + len(lines[at].text) <= span.start:
            at += 1
        place = at
        while place < len(lines) and lines[place].start < span.end:
            lines[place].mark(span.label, span.depth)
            place += 1


def _label_quotes(lines: MailLines) -> None:
    for number in lines.quoted:
        line = lines[number]
        if line.label is None and (found := like.QUOTED.match(line.text)):
            line.mark("quote", found["marks"].count(">"))
    for number in lines.own if lines.quoted else ():
        line = lines[number]
        if len(line.text) > BROKEN or line.label is not None or not 0 < number < len(lines) - 1:
            continue
        before, after = lines[number - 1], lines[number + 1]
        is_rest = before.label == "quote" == after.label and before.depth == after.depth
        if is_rest and len(before.text) >= FULL and not line.text[0].isupper():
            line.mark("quote", before.depth)


def _label_old_mail(lines: MailLines) -> None:
    """From the line that announces an older mail on, all that bears no label of its own belongs to it."""
    for number in lines.that_may_be(like.OLD_MAIL_LINES):
        text = lines[number].text
        if like.FORWARDED.match(text) and _announces(lines, number):
            _mark_rest(lines, number, "forwarded")
            return
        if like.ORIGINAL.match(text) or _is_header_block(lines, number):
            first = number
            while number < len(lines) and number - first <= HEADER_LINES and _belongs_to_header(lines[number]):
                lines[number].mark("attribution")
                number += 1
            _mark_rest(lines, number, "quote")
            return


def _announces(lines: MailLines, number: int) -> bool:
    """A sentence may speak of a forwarded message; the line that announces one has headers below it, or dashes."""
    return lines[number].text.lstrip()[:2] in ("--", "__", "==") or any(
        like.HEADER_FROM.match(one.text) for one in lines[number + 1 : number + 4]
    )


def _mark_rest(lines: MailLines, number: int, label: SpanLabel) -> None:
    for line in lines[number:]:
        if line.label is None:
            line.mark(label, 1 if label == "quote" else 0)


def _is_header_block(lines: MailLines, number: int) -> bool:
    """`From:` and another header below it, after a blank line or a rule."""
    if not like.HEADER_FROM.match(lines[number].text) or number + 1 == len(lines):
        return False
    before = lines[number - 1].text if number else ""
    return like.HEADER_NEXT.match(lines[number + 1].text) is not None and not before.strip(" \t_-=*>")


def _belongs_to_header(line: MailLine) -> bool:
    shown = like.HEADER_FROM.match(line.text) or like.HEADER_NEXT.match(line.text) or like.ORIGINAL.match(line.text)
    return shown is not None or (not line.blank and line.text[:1] in " \t")


def _label_attributions(lines: MailLines) -> None:
    last_quote = -1
    for number, line in enumerate(lines):
        if line.label != "quote":
            continue
        if last_quote < number - 1 or number == 0:
            before = lines.full_before(number)
            if before is not None and lines[before].label is None:
                _mark_attribution(lines, before)
        last_quote = number
    for number in lines.that_may_be(like.OPENING_LINES):
        if number > last_quote and _begins_unmarked(lines, number):
            return


def _mark_attribution(lines: MailLines, last: int) -> None:
    """The line above a quotation, with up to two lines before it that it takes to say who wrote."""
    if not lines[last].short:
        return
    if like.OTHER_ATTRIBUTION.match(lines[last].text) or like.IN_ARTICLE.match(lines[last].text):
        lines[last].mark("attribution")
        return
    for height in (3, 2, 1):
        block = lines[max(last - height + 1, 0) : last + 1]
        whole = all(one.label is None and not one.blank and one.short for one in block)
        if whole and _is_attribution([one.text for one in block]):
            for one in block:
                one.mark("attribution")
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
        block = lines[number : number + height]
        if any(one.blank or one.label is not None or not one.short for one in block):
            return False
        if _is_dated("\n".join(one.text for one in block)):
            if lines.full_after(number + height - 1) is None:
                return False
            for one in block:
                one.mark("attribution")
            _mark_rest(lines, number + height, "quote")
            return True
    return False


def _label_code(lines: MailLines) -> None:
    for number in lines.that_may_be(like.CODE_LINES):
        text = lines[number].text
        if like.FENCE.match(text):
            _label_fenced(lines, number)
        elif _begins_diff(lines, number):
            while number < len(lines) and lines[number].label is None and _goes_on(lines[number]):
                lines[number].mark("code")
                number += 1
        elif like.DIFF_STAT.match(text):
            lines[number].mark("code")


def _label_fenced(lines: MailLines, number: int) -> None:
    """Up to the closing fence; one that is never closed is just a line."""
    end = number + 1
    while end < len(lines) and lines[end].label is None and not like.FENCE.match(lines[end].text):
        end += 1
    if end < len(lines) and lines[end].label is None:
        for line in lines[number : end + 1]:
            line.mark("code")


def _begins_diff(lines: MailLines, number: int) -> bool:
    text = lines[number].text
    if not like.DIFF_BEGIN.match(text):
        return False
    if text.startswith("--- "):
        return number + 1 < len(lines) and lines[number + 1].text.startswith("+++ ")
    return any(
        one.text.startswith(("@@ ", "--- ", "+++ ", "index ", "=====")) for one in lines[number + 1 : number + 8]
    )


def _goes_on(line: MailLine) -> bool:
    return not like.DASHES.match(line.text) and like.DIFF_LINE.match(line.text) is not None


def _label_ballots(lines: MailLines) -> None:
    for number in lines.that_may_be(like.BALLOT_LINES):
        if like.BALLOT.match(lines[number].text):
            lines[number].mark("ballot")


def _label_blank(lines: MailLines) -> None:
    """What is left is new. Blank lines belong to what is before them, the first ones to what comes."""
    label: SpanLabel | None = None
    depth = 0
    for line in lines:
        if line.label is not None:
            label, depth = line.label, line.depth
        elif not line.blank:
            line.label = label = "new"
            depth = 0
        elif label is not None:
            line.label, line.depth = label, depth
    first = next((one for one in lines if one.label is not None), None)
    for line in lines:
        if line.label is not None:
            break
        line.mark(first.label or "new" if first else "new", first.depth if first else 0)


def _merged(lines: MailLines, length: int) -> tuple[LabelledSpan, ...]:
    spans: list[LabelledSpan] = []
    label, depth, start = lines[0].label or "new", lines[0].depth, 0
    for line in lines[1:]:
        if line.label != label or line.depth != depth:
            spans.append(LabelledSpan(label, start, line.start, depth))
            label, depth, start = line.label or "new", line.depth, line.start
    spans.append(LabelledSpan(label, start, length, depth))
    return tuple(spans)
