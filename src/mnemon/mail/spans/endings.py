"""What stands at the end of what somebody wrote: signatures, closing words with a name, footers of lists."""

from mnemon.mail.spans import patterns as like
from mnemon.mail.spans.labels import SpanLabel
from mnemon.mail.spans.lines import MailLines

LONGEST_SIGNATURE = 15
LONGEST_FOOTER = 12
LONGEST_NAME, NAME_LINES = 40, 3


def label_endings(lines: MailLines) -> None:
    _label_keys(lines)
    for number in lines.that_may_be(like.ENDING_LINES):
        text = lines.texts[number]
        if like.BARE_FOOTER.match(text) or (like.RULE.match(text) and _is_footer(lines, number)):
            _mark(lines, number, _block_end(lines, number, LONGEST_FOOTER), "footer")
        elif like.DASHES.match(text) and _is_signature(lines, number):
            _mark(lines, number, _signature_end(lines, number), "signature")
        elif like.SENT_FROM.match(text) or like.TILDE_NAME.match(text):
            lines.mark(number, "signature")
        elif end := (like.SIGN_OFF.match(text) and _named_end(lines, number)) or (
            like.CLOSING.match(text) and _card_end(lines, number)
        ):
            _mark(lines, number, end, "signature")


def _label_keys(lines: MailLines) -> None:
    """What a signing program wrapped around the text."""
    inside = False
    for number, text in enumerate(lines.texts) if "-----BEGIN PGP" in lines.text else ():
        if lines.labels[number] is not None:
            continue
        if like.PGP_BEGIN.match(text):
            inside = True
        if inside or like.PGP_MESSAGE.match(text):
            lines.mark(number, "signature")
        if inside and like.PGP_END.match(text):
            inside = False


def _mark(lines: MailLines, start: int, end: int, label: SpanLabel) -> None:
    for number in range(start, end):
        if lines.labels[number] is None:
            lines.mark(number, label)


def _is_footer(lines: MailLines, number: int) -> bool:
    """A rule with the list's own words below it."""
    end = _block_end(lines, number, 6)
    return any(like.LIST_INFO.search(one[: like.LONGEST_LINE]) for one in lines.texts[number + 1 : end])


def _block_end(lines: MailLines, number: int, most: int) -> int:
    """The line after this block: up to what has a label, or is too far away."""
    end = number + 1
    while end < len(lines) and end - number <= most and lines.labels[end] is None:
        if end > number + 1 and like.RULE.match(lines.texts[end]):
            break
        end += 1
    return end


def _is_signature(lines: MailLines, number: int) -> bool:
    """Few lines, then the end, another's words or another rule. More lines than that were meant to be read."""
    full = len(_full(lines, number + 1, _signature_end(lines, number)))
    return 0 < full <= LONGEST_SIGNATURE or (full == 0 and lines.full_after(number) is None)


def _signature_end(lines: MailLines, number: int) -> int:
    end = number + 1
    while end < len(lines) and lines.labels[end] is None and not like.RULE.match(lines.texts[end]):
        end += 1
    return end


def _full(lines: MailLines, start: int, end: int) -> list[int]:
    """Numbers of the lines among these that are not blank."""
    return [number for number in range(start, end) if not lines.is_blank(number)]


def _named_end(lines: MailLines, number: int) -> int | None:
    """After closing words: a name of few short lines, and then nothing more of the sender's."""
    at, names = number + 1, 0
    if at < len(lines) and lines.is_blank(at):
        at += 1
    while at < len(lines) and not lines.is_blank(at) and lines.labels[at] is None and names <= NAME_LINES:
        text = lines.texts[at]
        if len(text) > LONGEST_NAME or text.rstrip().endswith((".", "?", "!", ":")) or like.RULE.match(text):
            break
        names += 1
        at += 1
    if not 1 <= names <= NAME_LINES:
        return None
    following = at if at < len(lines) and not lines.is_blank(at) else lines.full_after(at)
    ends = following is None or lines.labels[following] is not None or like.RULE.match(lines.texts[following])
    return at if ends else None


def _card_end(lines: MailLines, number: int) -> int | None:
    """After closing words: few lines to the end of what the sender wrote, two of them like those of a visiting card."""
    end = _signature_end(lines, number)
    full = _full(lines, number + 1, end)
    cards = sum(lines.is_short(one) and like.CARD.search(lines.texts[one]) is not None for one in full)
    return end if cards >= 2 and len(full) <= LONGEST_SIGNATURE else None
