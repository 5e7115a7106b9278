"""Canonical texts: what is printable is left as it is, the quick way and the long way alike."""

import sys
import unicodedata

from mnemon.documents.extraction.hygiene import INVISIBLE, LINE_ENDS, SPACES, SURROGATES, clean


def the_long_way(text: str) -> str:
    text = LINE_ENDS.sub("\n", text)
    text = SPACES.sub(" ", SURROGATES.sub("\ufffd", text))
    return unicodedata.normalize("NFC", INVISIBLE.sub("", text))


def test_every_character_is_cleaned_as_if_it_were_looked_at() -> None:
    for code in range(sys.maxunicode + 1):
        text = f"a{chr(code)}\n\tb"
        assert clean(text) == the_long_way(text), hex(code)
