"""Subtitles (SRT, WebVTT): who says what from which second on; cues of one speaker become one turn."""

import html
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from mnemon.documents.extraction.decoding import decode
from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.writing import TextWriter
from mnemon.documents.ingest.content import Details, Extraction
from mnemon.documents.structure.talk import turn_on

VERSION = "subtitles/1"

_TIMES = re.compile(r"\s*((?:\d{1,3}:)?\d{1,2}:\d{2})[.,]\d{1,3}\s+-->\s+(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>\n]{1,100})>")
_MARK = re.compile(r"</?[a-zA-Z][^<>\n]{0,100}>|<\d[\d:.]*>|\{\\[^{}\n]{1,50}\}")
_NEW_SPEAKER = re.compile(r"(?:>>+|[-–])\s*")
_ENDS = re.compile(r"[.!?…][\"'”’)]*$")
# A turn is written on for so long; then the next cue begins another of the same speaker.
LONGEST_TURN, LONGEST_UNNAMED = 1_500, 400


@dataclass(frozen=True, slots=True)
class SubtitleCue:
    """What is shown from this time on."""

    at: str
    text: str
    speaker: str | None = None


def extract_subtitles(content: bytes, limits: Limits) -> Extraction:
    text = decode(content)
    limits.check_characters(len(text))
    cues = list(_named(list(_cues(text))))
    if not cues:
        raise ExtractionFailed("The file has no subtitles: no line tells when a text is shown.", reason="damaged")
    writer = TextWriter(limits)
    for cue in _turns(cues):
        named = f"{cue.speaker}: " if cue.speaker else ""
        writer.block("message" if cue.speaker else "paragraph", f"[{cue.at}] {named}{cue.text}", speaker=cue.speaker)
    speakers = dict.fromkeys(cue.speaker for cue in cues if cue.speaker)
    return Extraction(writer.text, writer.blocks, Details(participants=list(speakers)), VERSION)


def _cues(text: str) -> Iterator[SubtitleCue]:
    at, shown = "", list[str]()
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if times := _TIMES.match(line):
            at, shown = _clock(times[1]), []
        elif at and line.strip():
            shown.append(line)
        if at and (not line.strip() or number == len(lines) - 1):
            yield from _spoken(at, shown)
            at = ""


def _clock(time: str) -> str:
    parts = [int(part) for part in time.split(":")]
    hours, minutes, seconds = parts if len(parts) == 3 else (0, *parts)
    return f"{hours:02}:{minutes:02}:{seconds:02}"


def _spoken(at: str, shown: list[str]) -> Iterator[SubtitleCue]:
    """One for each voice that the cue marks."""
    text = "\n".join(shown)
    starts = [*_VOICE.finditer(text)]
    before = _plain(text[: starts[0].start()] if starts else text)
    if before:
        yield SubtitleCue(at, before)
    for number, voice in enumerate(starts):
        until = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        if words := _plain(text[voice.end() : until]):
            yield SubtitleCue(at, words, " ".join(html.unescape(voice[1]).split()))


def _plain(text: str) -> str:
    return " ".join(html.unescape(_MARK.sub("", text)).split())


def _named(cues: list[SubtitleCue]) -> Iterator[SubtitleCue]:
    """Where the words begin with a name, as `Anna: …` does again and again."""
    if any(cue.speaker for cue in cues):
        yield from cues
        return
    bare = [replace(cue, text=_NEW_SPEAKER.sub("", cue.text, count=1)) for cue in cues]
    turns = [turn_on(cue.text) for cue in bare]
    often = Counter(turn.speaker for turn in turns if turn and not turn.stamp)
    for cue, turn in zip(bare, turns, strict=True):
        if turn and not turn.stamp and often[turn.speaker] > 1:
            yield SubtitleCue(cue.at, cue.text[turn.begin :], turn.speaker)
        else:
            yield cue


def _turns(cues: list[SubtitleCue]) -> Iterator[SubtitleCue]:
    """Cues are cut to fit the screen: what one person says on is one turn."""
    named = any(cue.speaker for cue in cues)
    held: SubtitleCue | None = None
    for cue in cues:
        if held and _goes_on(held, cue, named):
            if not held.text.endswith(cue.text):
                held = replace(held, text=f"{held.text} {cue.text}")
        else:
            yield from [held] if held and held.text else []
            held = cue
    yield from [held] if held and held.text else []


def _goes_on(held: SubtitleCue, cue: SubtitleCue, named: bool) -> bool:
    if not named:
        return len(held.text) < LONGEST_UNNAMED and not (
            _ENDS.search(held.text) and len(held.text) > LONGEST_UNNAMED // 2
        )
    # Without a name, who spoke last speaks on.
    return cue.speaker in (None, held.speaker) and len(held.text) < LONGEST_TURN
