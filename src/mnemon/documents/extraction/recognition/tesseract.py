"""Tesseract: pictures in, the lines that it recognises out, with their places."""

import csv
import io
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from functools import cache

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.hygiene import clean

PROGRAM = "tesseract"
HOW_TO_GET_IT = "install Tesseract (on Debian the package tesseract-ocr)"
# Under this name a text says, beside its other details, what recognised it.
RECOGNISED = "recognised"
# Rows of its table: a whole picture, a line, a word.
PICTURE, LINE, WORD = "1", "4", "5"
LAST_WORDS = 300


@dataclass(frozen=True, slots=True)
class RecognisedWord:
    """A word with its place, in pixels from the upper left corner."""

    text: str
    left: int
    top: int
    width: int
    height: int

    @property
    def right(self) -> int:
        return self.left + self.width

    @property
    def bottom(self) -> int:
        return self.top + self.height


@dataclass(frozen=True, slots=True)
class RecognisedLine:
    """The words of a line, and which paragraph it is of."""

    paragraph: tuple[str, str]
    words: list[RecognisedWord] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RecognisedPicture:
    """One picture of a file, line by line."""

    width: int
    height: int
    lines: list[RecognisedLine] = field(default_factory=list)


def is_installed() -> bool:
    return shutil.which(PROGRAM) is not None


@cache
def recogniser(languages: str) -> str:
    """What recognises, as it is told beside the text and in the name of the extractor: `tesseract 5.3.0 eng`."""
    said = _run(["--version"], b"").decode(errors="replace").split()
    return f"{PROGRAM} {said[1] if len(said) > 1 else '?'} {languages}"


def recognise(picture: bytes, languages: str) -> list[RecognisedPicture]:
    """The pictures of a file in any form that Tesseract reads; several where it has several pages."""
    table = _run(["stdin", "stdout", "-l", languages, "tsv"], picture).decode(errors="replace")
    rows = csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE)
    found: list[RecognisedPicture] = []
    for row in rows:
        left, top, width, height = (int(row[name]) for name in ("left", "top", "width", "height"))
        if row["level"] == PICTURE:
            found.append(RecognisedPicture(width, height))
        elif row["level"] == LINE:
            found[-1].lines.append(RecognisedLine((row["block_num"], row["par_num"])))
        elif row["level"] == WORD and (text := clean(row["text"] or "").strip()):
            found[-1].lines[-1].words.append(RecognisedWord(text, left, top, width, height))
    return found


def _run(arguments: list[str], given: bytes) -> bytes:
    """One thread: so the same picture gives the same words, and a file keeps to its share of the machine."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise ExtractionFailed(f"Its text must be recognised: {HOW_TO_GET_IT}.", reason="no_recogniser")
    environment = os.environ | {"OMP_THREAD_LIMIT": "1"}
    done = subprocess.run([program, *arguments], input=given, capture_output=True, env=environment, check=False)
    if done.returncode == 0:
        return done.stdout
    words = done.stderr.decode(errors="replace").strip()[-LAST_WORDS:]
    if "language" in words.lower() or "traineddata" in words:
        raise ExtractionFailed(
            f"Tesseract lacks a language of MNEMON_OCR_LANGUAGES ({words}): install it (on Debian tesseract-ocr-deu "
            "and its like), or name others.",
            reason="no_recogniser",
        )
    raise ExtractionFailed(f"Tesseract cannot read the picture: {words or done.returncode}", reason="damaged")
