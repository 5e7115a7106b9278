"""The characters of a canonical text: NFC, line feeds only, nothing invisible but what carries meaning.

Offsets count code points of the text as it is after this. What a reader cannot see and would never type into a search
(controls, soft hyphens, zero-width spaces, bidirectional overrides) goes; what changes a word (zero-width joiners,
case, accents, full-width forms) stays. Every kind of space becomes the plain one, so that "10 km" is found however it
was set.
"""

import re
import unicodedata

LINE_ENDS = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
SURROGATES = re.compile("[\ud800-\udfff]")
SPACES = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"
    "\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)


def clean(text: str) -> str:
    """The canonical form of a text; cleaning it again changes nothing."""
    if not _is_plain(text):
        # Most often these alone are in the way, and each is replaced in a hundredth of the time that looking takes.
        eased = text.replace("\r\n", "\n").replace("\xa0", " ").replace("\u202f", " ")
        text = eased if _is_plain(eased) else _cleaned(text)
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _is_plain(text: str) -> bool:
    """Whether nothing is to be changed: all of that counts as not printable."""
    return text.replace("\n", "").replace("\t", "").isprintable()


def _cleaned(text: str) -> str:
    text = LINE_ENDS.sub("\n", text)
    text = SPACES.sub(" ", SURROGATES.sub("\ufffd", text))
    return INVISIBLE.sub("", text)


def one_line(text: str | None, longest: int = 500) -> str | None:
    """A title or name from a file's own details: one clean line, or nothing."""
    words = " ".join(clean(text).split()) if text else ""
    return words[:longest] or None
